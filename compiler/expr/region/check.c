/* expr/region/check.c - checks every invariant of regions: what may occur where, what is visible from where, and a
 * repeat's operands and results. */
#include "law.h"

#define fail(check, ...) check_fail((check)->c, __VA_ARGS__)

static void *id_key(uint32_t id) {
  return (void *)((uintptr_t)id + 1);
}

RegionCheck region_check_new(SumCheck *c, const RegionFace *face, const RegionLaws *laws, void *ctx, uint32_t n_ids) {
  RegionCheck r = {.c = c, .face = face, .laws = laws, .ctx = ctx, .n_ids = n_ids};
  r.nodes = r.closed = r.regions = r.wrong = map_new(c->arena);
  return r;
}

static RegionView region_of(const RegionCheck *c, const void *region) {
  return c->face->region(c->c->exprs, region);
}

static void put_at(RegionCheck *c, const void *node) {
  c->n = node;
  c->laws->at(c->ctx, node);
}

Span check_line(const RegionCheck *c) {
  return lines_find(c->lines, 2, (const void *const[]){c->line, c->n ? c->n : c->about});
}

static bool is_wrong(const RegionCheck *c, NodeView n) {
  return n.at && map_find(&c->wrong, n.at);
}

/* Checks the parts of a repeat's states, stacks or turns. */
static bool part_wrong(const RegionCheck *c, NodeView n, const void *body) {
  RegionView r = region_of(c, body);
  if (n.role == NODE_STACK) return n.index < r.n_stack && is_wrong(c, c->face->stack(body, n.index).node);
  if (n.role == NODE_TURNS || n.index >= r.n_state) return is_wrong(c, r.bound) || is_wrong(c, r.stop);
  StateView s = c->face->state(body, n.index);
  return (n.role == NODE_FINAL && is_wrong(c, s.node)) || is_wrong(c, s.init) || is_wrong(c, s.next);
}

bool check_follows(RegionCheck *c) {
  NodeView n = c->face->node(c->n), repeat = c->face->node(n.repeat);
  if (!n.at) return is_wrong(c, c->face->node(c->about));
  bool said = is_wrong(c, n);
  map_put(&c->wrong, n.at, c);
  for (uint32_t i = 0; !said && n.role != NODE_REPEAT && c->face->operand(n.at, i); i++)
    said = is_wrong(c, c->face->node(c->face->operand(n.at, i)));
  if (said || n.role == NODE_PLAIN) return said;
  if (n.role == NODE_REPEAT) return n.body && is_wrong(c, region_of(c, n.body).bound);
  return repeat.body && ((n.role != NODE_STATE && is_wrong(c, repeat)) || part_wrong(c, n, repeat.body));
}

uint32_t check_level(const RegionCheck *c) {
  return c->open.len - 1;
}

/* ---- references ------------------------------------------------------------------------------------------------ */

static bool is_visible(const RegionCheck *c, NodeView x) {
  RegionView r = region_of(c, x.region);
  uint32_t k = r.parent ? r.depth + 1 : 0;
  return k < c->open.len && c->open.at[k] == x.region;
}

bool check_ref(RegionCheck *c, const char *what, const void *node) {
  NodeView x = c->face->node(node);
  if (!x.at)
    fail(c, "%s is missing", what);
  else if (map_find(&c->nodes, id_key(x.id)) != x.at)
    fail(c, "%s %%%u is not defined before", what, x.id);
  else if (x.role == NODE_REPEAT)
    fail(c, "%s %%%u is a repeat, not a %s", what, x.id, c->laws->noun);
  else if (!is_visible(c, x))
    fail(c, "%s %%%u stands in a block that is closed", what, x.id);
  else
    return true;
  return false;
}

bool check_operand(RegionCheck *c, const char *what, const void *node) {
  if (!check_ref(c, what, node)) return false;
  uint32_t id = c->face->node(node).id;
  if (id < c->face->node(c->n).id) return true;
  fail(c, "%s %%%u has a larger id", what, id);
  return false;
}

static void check_whole(RegionCheck *c, const char *what, const void *node) {
  if (c->laws->whole) c->laws->whole(c->ctx, what, node);
}

/* ---- results of a repeat --------------------------------------------------------------------------------------- */

void check_state(RegionCheck *c, const void *node) {
  NodeView n = c->face->node(node);
  RegionView r = region_of(c, vec_last(c->open));
  if (!r.repeat || n.repeat != r.repeat)
    fail(c, "it is not of the repeat in which it stands");
  else if (n.index >= r.n_state || c->face->state(r.at, n.index).node.at != node)
    fail(c, "it is not in its place in the list of states");
}

static void check_stacked(RegionCheck *c, const void *node, StackView s, const Expr *turns) {
  if (!s.node.at || s.axis > c->laws->rank(s.node.at) || !turns) return; /* reported already */
  c->laws->stacked(c->ctx, node, s, turns);
}

void check_result(RegionCheck *c, const void *node) {
  NodeView n = c->face->node(node), of = c->face->node(n.repeat);
  if (!of.at || !map_find(&c->closed, of.at) || !is_visible(c, of)) {
    fail(c, "it is not of a repeat before it");
    return;
  }
  if (of.id > n.id) fail(c, "its repeat %%%u has a larger id", of.id);
  RegionView b = region_of(c, of.body);
  if (n.role == NODE_TURNS) {
    c->laws->scalar(c->ctx, "it", node, DT_I64);
    if (n.index) fail(c, "it has an index");
  } else if (n.index >= (n.role == NODE_FINAL ? b.n_state : b.n_stack)) {
    fail(c, "%%%u has no number %u", of.id, n.index);
  } else if (n.role == NODE_FINAL) {
    const void *state = c->face->state(b.at, n.index).node.at;
    if (state) c->laws->same(c->ctx, "the state", node, state);
  } else {
    check_stacked(c, node, c->face->stack(b.at, n.index), b.turns);
  }
}

/* ---- blocks ---------------------------------------------------------------------------------------------------- */

static void check_region(RegionCheck *c, const void *region);

static void check_node(RegionCheck *c, NodeView n, const void *region) {
  put_at(c, n.at);
  if (!c->laws->known(c->ctx, n.at)) return;
  bool result = n.role == NODE_STATE || n.role == NODE_FINAL || n.role == NODE_STACK || n.role == NODE_TURNS;
  if (map_find(&c->nodes, id_key(n.id))) fail(c, "its id is another node's too");
  if (n.id >= c->n_ids) fail(c, "its id is not below %u", c->n_ids);
  if (n.region != region) fail(c, "it does not stand where it says");
  if ((n.body != NULL) != (n.role == NODE_REPEAT)) fail(c, "a block is what a repeat has, and only a repeat");
  if ((n.repeat || n.index) && !result) fail(c, "it is of a repeat and has no part in it");
  if (n.name && !n.name->len) fail(c, "its name is empty");
  c->laws->node(c->ctx, n.at);
  map_put(&c->nodes, id_key(n.id), (void *)(uintptr_t)n.at);
  if (n.role == NODE_REPEAT && n.body) {
    check_region(c, n.body);
    map_put(&c->closed, n.at, c);
  }
}

static void check_init(RegionCheck *c, const RegionView *r, uint32_t i) {
  StateView s = c->face->state(r->at, i);
  if (!s.node.at || s.node.role != NODE_STATE || s.node.region != r->at) {
    fail(c, "state %u is not in its block", i);
    return;
  }
  put_at(c, s.node.at);
  if (check_operand(c, "its init", s.init.at)) check_whole(c, "its init", s.init.at);
  put_at(c, r->repeat);
}

/* Before a block: checks what it takes from outside. */
static bool check_block_head(RegionCheck *c, const RegionView *r) {
  if (map_find(&c->regions, r->at) || r->repeat != c->n || r->parent != vec_last(c->open) ||
      r->depth != check_level(c)) {
    fail(c, "its block does not stand in it");
    return false;
  }
  if (c->open.len > REGION_DEPTH) {
    fail(c, "repeats are nested more than %d deep", REGION_DEPTH);
    return false;
  }
  map_put(&c->regions, r->at, c);
  if (!is_name(r->turn)) fail(c, "its loop variable has no name");
  if (check_operand(c, "the bound", r->bound.at)) c->laws->scalar(c->ctx, "the bound", r->bound.at, DT_I64);
  if (r->turns) check_extent(c->c, "the number of turns", r->turns);
  for (uint32_t i = 0; i < r->n_state; i++) check_init(c, r, i);
  return true;
}

static void check_next(RegionCheck *c, StateView s) {
  bool init = s.init.at && map_find(&c->nodes, id_key(s.init.id)) == s.init.at;
  if (s.node.at && init) c->laws->same(c->ctx, "its init", s.node.at, s.init.at);
  c->line = line_key(LINE_NEXT, s.node.id);
  if (!check_ref(c, "its next", s.next.at) || !s.node.at) return;
  c->laws->same(c->ctx, "its next", s.node.at, s.next.at);
  check_whole(c, "its next", s.next.at);
}

static void check_states(RegionCheck *c, const RegionView *r, uint32_t states) {
  if (states != r->n_state) fail(c, "%u states stand in its block and %u in its list", states, r->n_state);
  for (uint32_t i = 0; i < r->n_state; i++) {
    StateView s = c->face->state(r->at, i);
    if (s.node.at) put_at(c, s.node.at);
    check_next(c, s);
    c->line = NULL;
    put_at(c, r->repeat);
  }
}

/* After a block: checks what it returns. */
static void check_block_foot(RegionCheck *c, const RegionView *r, uint32_t states) {
  check_states(c, r, states);
  for (uint32_t i = 0; i < r->n_stack; i++) {
    StackView s = c->face->stack(r->at, i);
    if (!is_name(s.name)) fail(c, "stack %u has no name", i);
    if (!r->turns) fail(c, "it stacks and does not say over how many turns");
    if (!check_ref(c, "what is stacked,", s.node.at)) continue;
    check_whole(c, "what is stacked,", s.node.at);
    if (s.axis > c->laws->rank(s.node.at)) fail(c, "the axis of stack %u is beyond its rank", i);
  }
  c->line = line_key(LINE_UNTIL, c->face->node(r->repeat).id);
  if (r->stop.at && check_ref(c, "the stop", r->stop.at)) {
    c->laws->scalar(c->ctx, "the stop", r->stop.at, DT_BOOL);
    if (r->stop.region != r->at) fail(c, "the stop stands outside of its block");
  }
  c->line = NULL;
}

static uint32_t check_nodes(RegionCheck *c, const RegionView *r) {
  uint32_t states = 0;
  for (uint32_t i = 0; i < r->n_node; i++) {
    NodeView n = c->face->nth(r->at, i);
    if (n.at) {
      check_node(c, n, r->at);
      states += n.role == NODE_STATE;
    } else {
      put_at(c, r->repeat);
      fail(c, "node %u of its block is missing", i);
    }
  }
  return states;
}

static void check_region(RegionCheck *c, const void *region) {
  const void *n = c->n;
  RegionView r = region_of(c, region);
  if (!check_block_head(c, &r)) return;
  vec_push(c->c->arena, c->open, region);
  uint32_t states = check_nodes(c, &r);
  put_at(c, n);
  check_block_foot(c, &r, states);
  c->open.len--;
}

void check_regions(RegionCheck *c, const void *top) {
  RegionView r = region_of(c, top);
  if (r.parent || r.repeat || r.bound.at || r.turns || r.stop.at || r.turn || r.depth || r.n_state || r.n_stack)
    fail(c, "the program itself is no repeat");
  map_put(&c->regions, top, c);
  vec_push(c->c->arena, c->open, top);
  check_nodes(c, &r);
  put_at(c, NULL);
}
