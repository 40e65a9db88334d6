/* algebra/check.c - every invariant of a Tra or an Ia, as relation.h, algebra.h and docs/languages-inside.md say them. Walks the regions in
 * order, so that what is defined so far is what may be used, and follows of each relation which keys it has (keys.h). */
#include "check.h"

static void say_where(void *ctx, Buf *out) {
  const Check *c = ctx;
  const AlgNode *n = c->n;
  if (n)
    buf_printf(out, "%s %%%u%s%s", (unsigned)n->kind <= ALG_TURNS ? alg_word(c->g, n) : "node", n->id, n->name ? " " : "", n->name ? n->name->s : "");
  else
    buf_str(out, "program");
}

static void *id_key(uint32_t id) {
  return (void *)((uintptr_t)id + 1);
}

static uint32_t level(const Check *c) {
  return c->open.len - 1;
}

static bool is_name(Str s) {
  return s && s->len;
}

Info *info_of(Check *c, const AlgNode *n) {
  Info *i = map_find(&c->info, n);
  if (!i) map_put(&c->info, n, i = NEW(c->arena, Info));
  return i;
}

/* ---- references ------------------------------------------------------------------------------------------ */

static uint32_t region_level(const AlgRegion *r) {
  return r->parent ? r->depth + 1 : 0;
}

static bool is_visible(const Check *c, const AlgNode *x) {
  uint32_t k = region_level(x->region);
  return k < c->open.len && c->open.at[k] == x->region;
}

/* x is a relation that is computed before what is at hand, and may be seen from there. */
static bool check_ref(Check *c, const char *what, const AlgNode *x) {
  if (!x)
    fail(c, "%s is missing", what);
  else if (map_find(&c->nodes, id_key(x->id)) != x)
    fail(c, "%s %%%u is not defined before", what, x->id);
  else if (!alg_is_tensor(x))
    fail(c, "%s %%%u is a repeat, not a relation", what, x->id);
  else if (!is_visible(c, x))
    fail(c, "%s %%%u stands in a block that is closed", what, x->id);
  else
    return true;
  return false;
}

static bool check_operand(Check *c, const char *what, const AlgNode *x) {
  if (!check_ref(c, what, x)) return false;
  if (x->id < c->n->id) return true;
  fail(c, "%s %%%u has a larger id", what, x->id);
  return false;
}

/* Rank 0, no keys, of this dtype, and at every site. */
static void check_scalar(Check *c, const char *what, const AlgNode *n, DType t) {
  if (n->type.rank || n->type.n_key || n->type.dtype != t || n->type.places) fail(c, "%s is not one %s", what, check_dtype_name(t));
  check_whole(c, what, n);
}

/* ---- nodes ------------------------------------------------------------------------------------------------- */

static bool is_result(const AlgNode *n) {
  return n->kind == ALG_FINAL || n->kind == ALG_STACK || n->kind == ALG_TURNS;
}

static uint32_t operands_due(const AlgNode *n) {
  return n->kind == ALG_AGGREGATE || n->kind == ALG_MAP || n->kind == ALG_FILTER || n->kind == ALG_MOVE;
}

/* What only other kinds have. */
static void check_fields(Check *c, const AlgNode *n) {
  bool map = n->kind == ALG_MAP, join = n->kind == ALG_JOIN, group = n->kind == ALG_AGGREGATE, repeat = n->kind == ALG_REPEAT;
  bool part = is_result(n) || n->kind == ALG_STATE;
  if ((n->sum != NULL) != join) fail(c, "a kernel is what a join has, and only a join");
  if ((n->body != NULL) != repeat) fail(c, "a block is what a repeat has, and only a repeat");
  if (!group && (n->n_group || n->reducer != RED_NONE || n->monoid)) fail(c, "it has what only an aggregate has");
  if (!map && (n->n_piece || n->piece || n->rekey)) fail(c, "it has what only a map has");
  if (n->keep && n->kind != ALG_FILTER) fail(c, "it keeps some keys and is no filter");
  if (n->n_fn && !map && !join && !group) fail(c, "it has functions of the array");
  if ((n->repeat || n->index) && !part) fail(c, "it is of a repeat and has no part in it");
  if (n->name && !n->name->len) fail(c, "its name is empty");
  if (n->kind == ALG_MOVE && !c->g->placed) fail(c, "a Tra has no moves");
}

static bool check_operands(Check *c, const AlgNode *n) {
  bool well = true;
  if (n->kind != ALG_JOIN && n->n_operand != operands_due(n)) {
    fail(c, "it has %u operands", n->n_operand);
    return false;
  }
  for (uint32_t i = 0; n->kind != ALG_JOIN && i < n->n_operand; i++)
    if (n->operand[i].wanted) fail(c, "its operand is wanted, and it is no join");
  for (uint32_t i = 0; i < n->n_operand; i++) well = check_operand(c, "operand", n->operand[i].node) && info_of(c, n->operand[i].node)->well && well;
  return well;
}

static void check_input(Check *c, const AlgNode *n) {
  if (level(c)) fail(c, "it stands in a repeat");
  if (!is_name(n->name)) fail(c, "it has no name");
  if (c->inputs >= c->g->inputs.len || c->g->inputs.at[c->inputs] != n) fail(c, "it is not in its place in the list of inputs");
  c->inputs++;
}

static void check_state(Check *c, const AlgNode *n, const AlgRegion *r) {
  if (!r->repeat || n->repeat != r->repeat)
    fail(c, "it is not of the repeat in which it stands");
  else if (n->index >= r->states.len || r->states.at[n->index].node != n)
    fail(c, "it is not in its place in the list of states");
  check_whole(c, "state", n);
}

/* One turn's type with the turns put in at the axis. */
static void check_stack(Check *c, const AlgNode *n, const AlgRegion *b) {
  const AlgStack *s = &b->stacks.at[n->index];
  if (!s->node || s->axis > s->node->type.rank || b->turns < 0) return; /* said already */
  AlgNode one = *s->node;
  uint32_t rank = one.type.rank + 1;
  RelDim *dim = NEW_ARRAY(c->arena, RelDim, rank);
  for (uint32_t d = 0; d < rank; d++)
    dim[d] = d == s->axis ? rel_whole(c->g->exprs, b->turns) : s->node->type.dim[d < s->axis ? d : d - 1];
  one.type.rank = rank;
  one.type.dim = dim;
  info_of(c, &one)->well = info_of(c, s->node)->well;
  check_same_type(c, "what is stacked, with its turns,", n, &one);
  map_put(&c->info, &one, NULL);
}

static void check_result(Check *c, const AlgNode *n) {
  const AlgNode *of = n->repeat;
  if (!of || !map_find(&c->closed, of) || !is_visible(c, of)) {
    fail(c, "it is not of a repeat before it");
    return;
  }
  if (of->id > n->id) fail(c, "its repeat %%%u has a larger id", of->id);
  const AlgRegion *b = of->body;
  if (n->kind == ALG_TURNS) {
    check_scalar(c, "it", n, DT_I64);
    if (n->index) fail(c, "it has an index");
  } else if (n->index >= (n->kind == ALG_FINAL ? b->states.len : b->stacks.len)) {
    fail(c, "%%%u has no number %u", of->id, n->index);
  } else if (n->kind == ALG_FINAL) {
    if (b->states.at[n->index].node) check_same_type(c, "the state", n, b->states.at[n->index].node);
  } else {
    check_stack(c, n, b);
  }
}

/* ---- regions -------------------------------------------------------------------------------------------------- */

static void check_region(Check *c, const AlgRegion *r);

static void check_relation(Check *c, const AlgNode *n, const AlgRegion *r) {
  Info *i = info_of(c, n);
  bool well = check_form(c, n);
  well = check_placement(c, n) && well;
  well = check_operands(c, n) && well;
  i->keys = n->type.holes ? keys_unknown(&n->type) : keys_all(&n->type);
  i->well = well;
  if (!well) return;
  if (n->kind == ALG_INPUT) check_input(c, n);
  for (uint32_t a = 0; c->g->placed && a < c->g->mesh.n; a++) i->parts |= n->at.on[a] == PLACE_PART;
  if (n->kind == ALG_STATE) check_state(c, n, r);
  if (is_result(n)) check_result(c, n);
  check_operation(c, n, i);
  if (i->well) check_places(c, n, i);
}

static void check_node(Check *c, AlgNode *n, const AlgRegion *r) {
  c->n = n;
  if ((unsigned)n->kind > ALG_TURNS) {
    fail(c, "it has no kind");
    return;
  }
  if (map_find(&c->nodes, id_key(n->id))) fail(c, "its id is another node's too");
  if (n->id >= c->g->n_nodes) fail(c, "its id is not below %u", c->g->n_nodes);
  if (n->region != r) fail(c, "it does not stand where it says");
  check_fields(c, n);
  if (alg_is_tensor(n)) check_relation(c, n, r);
  map_put(&c->nodes, id_key(n->id), n);
  if (n->kind == ALG_REPEAT && n->body) {
    check_region(c, n->body);
    map_put(&c->closed, n, c);
  }
}

/* Before a block: what it takes from outside. */
static bool check_block_head(Check *c, const AlgRegion *r) {
  const AlgNode *n = c->n;
  if (map_find(&c->regions, r) || r->repeat != n || r->parent != vec_last(c->open) || r->depth != level(c)) {
    fail(c, "its block does not stand in it");
    return false;
  }
  if (c->open.len > ALG_DEPTH) {
    fail(c, "repeats are nested more than %d deep", ALG_DEPTH);
    return false;
  }
  map_put(&c->regions, r, c);
  if (!is_name(r->turn)) fail(c, "its loop variable has no name");
  if (check_operand(c, "the bound", r->bound)) check_scalar(c, "the bound", r->bound, DT_I64);
  if (r->turns < -1) fail(c, "its number of turns is %lld", (long long)r->turns);
  for (uint32_t i = 0; i < r->states.len; i++) {
    const AlgState *s = &r->states.at[i];
    if (!s->node || s->node->kind != ALG_STATE || s->node->region != r) {
      fail(c, "state %u is not in its block", i);
      continue;
    }
    c->n = s->node;
    if (check_operand(c, "the init", s->init)) check_whole(c, "the init", s->init);
    c->n = n;
  }
  return true;
}

static void check_states(Check *c, const AlgRegion *r, uint32_t states) {
  if (states != r->states.len) fail(c, "%u states stand in its block and %u in its list", states, r->states.len);
  for (uint32_t i = 0; i < r->states.len; i++) {
    const AlgState *s = &r->states.at[i];
    if (!check_ref(c, "a state's next", s->next) || !s->node) continue;
    check_same_type(c, "a state's next", s->node, s->next);
    check_whole(c, "a state's next", s->next);
    if (s->init && map_find(&c->nodes, id_key(s->init->id)) == s->init) check_same_type(c, "a state's init", s->node, s->init);
  }
}

/* After a block: what it hands on. */
static void check_block_foot(Check *c, const AlgRegion *r, uint32_t states) {
  check_states(c, r, states);
  for (uint32_t i = 0; i < r->stacks.len; i++) {
    const AlgStack *s = &r->stacks.at[i];
    if (!is_name(s->name)) fail(c, "stack %u has no name", i);
    if (r->turns < 0) fail(c, "it stacks and does not say over how many turns");
    if (!check_ref(c, "what is stacked,", s->node)) continue;
    check_whole(c, "what is stacked,", s->node);
    if (s->axis > s->node->type.rank) fail(c, "the axis of stack %u is beyond its rank", i);
  }
  if (!r->stop || !check_ref(c, "the stop", r->stop)) return;
  check_scalar(c, "the stop", r->stop, DT_BOOL);
  if (r->stop->region != r) fail(c, "the stop stands outside of its block");
}

static uint32_t check_nodes(Check *c, const AlgRegion *r) {
  uint32_t states = 0;
  for (uint32_t i = 0; i < r->nodes.len; i++) {
    AlgNode *n = r->nodes.at[i];
    if (n) {
      check_node(c, n, r);
      states += n->kind == ALG_STATE;
    } else {
      c->n = r->repeat;
      fail(c, "node %u of its block is missing", i);
    }
  }
  return states;
}

static void check_region(Check *c, const AlgRegion *r) {
  const AlgNode *n = c->n;
  if (!check_block_head(c, r)) return;
  vec_push(c->arena, c->open, r);
  uint32_t states = check_nodes(c, r);
  c->n = n;
  check_block_foot(c, r, states);
  c->open.len--;
}

/* ---- the program ------------------------------------------------------------------------------------------------ */

static void check_mesh(Check *c) {
  const Mesh *m = &c->g->mesh;
  if (!c->g->placed) return;
  int64_t sites = 1;
  bool well = m->n <= MESH_AXES;
  for (uint32_t a = 0; well && a < m->n; a++) well = m->size[a] && mul_ok(sites, m->size[a], &sites) && sites <= 1 << 24;
  if (!well) fail(c, "its mesh has no size, or too large a one");
}

static void check_top(Check *c) {
  const AlgRegion *r = c->g->top;
  if (r->parent || r->repeat || r->bound || r->turns != -1 || r->stop || r->turn || r->depth || r->states.len || r->stacks.len)
    fail(c, "the program itself is no repeat");
  map_put(&c->regions, r, c);
  vec_push(c->arena, c->open, r);
  check_nodes(c, r);
  c->n = NULL;
}

static void check_inputs(Check *c) {
  Map names = map_new(c->arena);
  if (c->inputs != c->g->inputs.len) fail(c, "%u inputs stand in it and %u in its list", c->inputs, c->g->inputs.len);
  for (uint32_t i = 0; i < c->g->inputs.len; i++) {
    Str s = c->g->inputs.at[i]->name;
    if (s && map_find(&names, s)) fail(c, "two inputs are called %s", s->s);
    if (s) map_put(&names, s, c);
  }
}

static void check_outputs(Check *c) {
  Map names = map_new(c->arena);
  for (uint32_t i = 0; i < c->g->outputs.len; i++) {
    const AlgOutput *o = &c->g->outputs.at[i];
    bool well = check_ref(c, "an output", o->node);
    if (well) check_whole(c, "an output", o->node);
    for (uint32_t d = 0; d < o->rank; d++)
      if (o->extent[d] < 0) fail(c, "output %u has a negative extent", i);
    if (!is_name(o->name)) {
      fail(c, "output %u has no name", i);
      continue;
    }
    if (well) check_output_boxes(c, o);
    if (map_find(&names, o->name)) fail(c, "two outputs are called %s", o->name->s);
    map_put(&names, o->name, c);
  }
}

static void check_asserts(Check *c) {
  for (uint32_t i = 0; i < c->g->asserts.len; i++) {
    const AlgNode *n = c->g->asserts.at[i].node;
    if (check_ref(c, "an assert", n)) check_scalar(c, "an assert", n, DT_BOOL);
  }
}

bool algebra_check(const Algebra *p, Buf *out) {
  Arena *a = arena_new();
  Check c = {.g = p, .arena = a};
  c.c = sum_check_new(out, a, p->exprs, &c, say_where);
  c.c.read = check_read;
  c.nodes = c.info = c.closed = c.regions = map_new(a);
  for (uint32_t i = 0; i < p->monoids.len; i++) check_monoid(&c.c, p->monoids.at[i]);
  check_mesh(&c);
  if (c.c.ok) {
    check_top(&c);
    check_inputs(&c);
    check_outputs(&c);
    check_asserts(&c);
  }
  arena_free(a);
  return c.c.ok;
}
