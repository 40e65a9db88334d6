/* algebra/rules/reinfer.c - recomputes placements after a move has changed, and drops unread nodes. */
#include "algebra/rules/inside.h"

/* ---- parts --------------------------------------------------------------------------------------------------- */

/* The unfinished aggregation. NULL: tuples are whole, but a rekey has lost where they are. */
static const AlgNode *pending(const AlgNode *n) {
  while (n->kind == ALG_MOVE || n->kind == ALG_FILTER || n->kind == ALG_MAP) n = n->operand[0].node;
  return n->kind == ALG_AGGREGATE ? n : NULL;
}

static bool aggregate_fits(const Algebra *p, const AlgNode *n, Buf *why) {
  const AlgNode *of = alg_in_parts(p, n->operand[0].node) ? pending(n->operand[0].node) : NULL;
  if (of && (of->reducer != n->reducer || of->monoid != n->monoid || of->n_fn))
    return buf_printf(why, "parts would go through the aggregation %%%u, which is another", n->id), false;
  if (alg_in_parts(p, n) && (n->n_fn || n->reducer == RED_NONE))
    return buf_printf(why, "%%%u would be left in parts", n->id), false;
  return true;
}

/* Only the shape of parts may change: a function of the parts is not that of the whole. */
static bool map_fits(const Algebra *p, const AlgNode *n, Buf *why) {
  bool changes = false;
  for (uint32_t k = 0; k < n->n_fn; k++) changes = changes || n->fn[k].kind != FN_MERGE;
  if (!changes || !alg_in_parts(p, n->operand[0].node)) return true;
  return buf_printf(why, "parts would go through the functions of %%%u", n->id), false;
}

static bool move_fits(const Algebra *p, const AlgNode *n, Buf *why) {
  for (uint32_t a = 0; a < p->mesh.n; a++)
    if (n->at.on[a] == PLACE_PART && n->operand[0].node->at.on[a] != PLACE_PART)
      return buf_printf(why, "%%%u would make parts of what is whole", n->id), false;
  return true;
}

bool alg_fits(const Algebra *p, const AlgNode *n, Buf *why) {
  if (n->kind == ALG_AGGREGATE) return aggregate_fits(p, n, why);
  if (n->kind == ALG_MAP) return map_fits(p, n, why);
  if (n->kind == ALG_MOVE) return move_fits(p, n, why);
  if (n->kind == ALG_FILTER) return true;
  for (uint32_t k = 0; k < n->n_operand; k++)
    if (alg_in_parts(p, n->operand[k].node))
      return buf_printf(why, "an operand of %%%u would be in parts", n->id), false;
  return true;
}

/* ---- where things are -------------------------------------------------------------------------------------------- */

typedef struct Refit {
  Algebra *p;
  Buf *why;
  VEC(AlgNode *) met;        /* nodes with `mark`: their old placement */
} Refit;

static bool everywhere(const Mesh *m, const Placement *x) {
  for (uint32_t a = 0; a < m->n; a++)
    if (x->on[a] != PLACE_ALL) return false;
  return true;
}

static void refit_meet(Refit *r, AlgNode *n, const Placement *was) {
  n->mark = arena_copy(r->p->arena, was, sizeof *was);
  vec_push(r->p->arena, r->met, n);
}

static bool map_place(const Algebra *p, AlgNode *n, Placement *at) {
  const AlgNode *of = n->operand[0].node;
  RuleValue through = {.sort = SORT_MAP, .node = n};
  if (!n->rekey) return *at = of->at, true;
  if (placement_equal(&p->mesh, &of->at, of->mark)) return true;
  return place_image(p, &through, &of->at, at);
}

static void group_place(const Algebra *p, const AlgNode *n, Placement *at) {
  RuleValue through = {.sort = SORT_GROUP, .n = n->n_group, .group = n->group};
  *at = n->operand[0].node->at;
  for (uint32_t a = 0; a < p->mesh.n; a++) {
    int32_t key = at->on[a] < 0 ? at->on[a] : group_place_of(&through, at->on[a]);
    at->on[a] = (int8_t)(at->on[a] >= 0 && key < 0 ? PLACE_PART : key);
  }
}

/* Finds a node's placement after one of its operands was moved; false: it has none. */
static bool node_place(const Refit *r, AlgNode *n, Placement *at) {
  switch ((int)n->kind) {
    case ALG_FILTER: return *at = n->operand[0].node->at, true;
    case ALG_MAP: return map_place(r->p, n, at);
    case ALG_AGGREGATE: return group_place(r->p, n, at), true;
    case ALG_FETCH: return alg_join_meets(r->p, n);
    case ALG_JOIN: return alg_join_meets(r->p, n) || alg_join_place(r->p, n, at);
    case ALG_STATE: return *at = n->repeat->body->states.at[n->index].init->at, true;
    case ALG_FINAL: return *at = n->repeat->body->states.at[n->index].node->at, true;
    case ALG_STACK: return *at = n->repeat->body->stacks.at[n->index].node->at, true;
    default: return true;
  }
}

static bool node_met(const AlgNode *n) {
  bool met = false;
  for (uint32_t k = 0; k < n->n_operand; k++) met = met || n->operand[k].node->mark;
  if (n->kind == ALG_STATE) met = n->repeat->body->states.at[n->index].init->mark;
  if (n->kind == ALG_FINAL) met = n->repeat->body->states.at[n->index].node->mark;
  if (n->kind == ALG_STACK) met = n->repeat->body->stacks.at[n->index].node->mark;
  return met;
}

static bool node_refit(Refit *r, AlgNode *n) {
  Placement at = n->at, was = n->at;
  if (n->mark || !node_met(n)) return true;
  if (!node_place(r, n, &at)) return buf_printf(r->why, "%%%u would be nowhere", n->id), false;
  bool passes = n->kind == ALG_FILTER || n->kind == ALG_MAP || n->kind == ALG_MOVE; /* parts, if there are some now */
  n->at = at;
  if (passes || !placement_equal(&r->p->mesh, &at, &was)) refit_meet(r, n, &was);
  return alg_fits(r->p, n, r->why);
}

/* Checks a value that is read other than as an operand. */
static bool read_fits(Refit *r, const AlgNode *n, bool scalar, const char *what) {
  if (!n || !n->mark) return true;
  if (!alg_in_parts(r->p, n) && (!scalar || everywhere(&r->p->mesh, &n->at))) return true;
  return buf_printf(r->why, "%s would be %s", what, scalar ? "at some sites only" : "in parts"), false;
}

static bool region_refit(Refit *r, AlgRegion *x);

static bool repeat_refit(Refit *r, AlgNode *n) {
  AlgRegion *x = n->body;
  if (!read_fits(r, x->bound, true, "a bound") || !region_refit(r, x) || !read_fits(r, x->stop, true, "a stop"))
    return false;
  vec_each(const AlgState, s, x->states) {
    if (!placement_equal(&r->p->mesh, &s->node->at, &s->next->at))
      return buf_str(r->why, "a state would wander"), false;
    if (!read_fits(r, s->next, false, "a state")) return false;
  }
  for (uint32_t k = 0; k < x->stacks.len; k++)
    if (!read_fits(r, x->stacks.at[k].node, false, "a stack")) return false;
  return true;
}

static bool region_refit(Refit *r, AlgRegion *x) {
  for (uint32_t k = 0; k < x->nodes.len; k++)
    if (!(x->nodes.at[k]->kind == ALG_REPEAT ? repeat_refit(r, x->nodes.at[k]) : node_refit(r, x->nodes.at[k])))
      return false;
  return true;
}

static bool program_refit(Refit *r) {
  if (!region_refit(r, r->p->top)) return false;
  for (uint32_t k = 0; k < r->p->outputs.len; k++)
    if (!read_fits(r, r->p->outputs.at[k].node, false, "an output")) return false;
  for (uint32_t k = 0; k < r->p->asserts.len; k++)
    if (!read_fits(r, r->p->asserts.at[k].node, true, "an assert")) return false;
  return true;
}

static void marks_clear(AlgRegion *x) {
  for (uint32_t k = 0; k < x->nodes.len; k++) {
    x->nodes.at[k]->mark = NULL;
    if (x->nodes.at[k]->kind == ALG_REPEAT) marks_clear(x->nodes.at[k]->body);
  }
}

bool algebra_reinfer(Algebra *p, AlgNode *changed, const Placement *was, Buf *why) {
  Refit r = {.p = p, .why = why};
  marks_clear(p->top);
  refit_meet(&r, changed, was);
  bool ok = program_refit(&r);
  vec_each_of(AlgNode, n, r.met) {
    if (!ok && n != changed) n->at = *(const Placement *)n->mark;
    n->mark = NULL;
  }
  return ok;
}

/* ---- unread nodes ------------------------------------------------------------------------------------------------ */

typedef struct Sweep { Algebra *p; bool idle; VEC(AlgNode *) todo; } Sweep;

static AlgNode *behind_moves(const Algebra *p, AlgNode *n) {
  while (n->kind == ALG_MOVE && placement_equal(&p->mesh, &n->at, &n->operand[0].node->at)) n = n->operand[0].node;
  return n;
}

/* Handles a use of a node: marks it as alive, and bypasses an idle move. */
static void sweep_read(Sweep *s, AlgNode **at) {
  if (!*at) return;
  AlgNode *n = *at = s->idle ? behind_moves(s->p, *at) : *at;
  if (n->mark) return;
  n->mark = n;
  vec_push(s->p->arena, s->todo, n);
}

static void sweep_repeat(Sweep *s, AlgNode *repeat) {
  AlgRegion *x = repeat->body;
  if (repeat->mark) return;
  repeat->mark = repeat;
  sweep_read(s, &x->bound);
  sweep_read(s, &x->stop);
  for (uint32_t k = 0; k < x->states.len; k++) {
    sweep_read(s, &x->states.at[k].init);
    sweep_read(s, &x->states.at[k].node);
    sweep_read(s, &x->states.at[k].next);
  }
  for (uint32_t k = 0; k < x->stacks.len; k++) sweep_read(s, &x->stacks.at[k].node);
}

static void sweep_region(Algebra *p, AlgRegion *x) {
  uint32_t n = 0;
  vec_each_of(AlgNode, node, x->nodes) {
    if (!node->mark) continue;
    node->mark = NULL;
    x->nodes.at[n++] = node;
    node->id = p->n_nodes++;
    if (node->kind == ALG_REPEAT) sweep_region(p, node->body);
  }
  x->nodes.len = n;
}

void algebra_sweep(Algebra *p, bool idle) {
  Sweep s = {.p = p, .idle = idle};
  marks_clear(p->top);
  for (uint32_t k = 0; k < p->inputs.len; k++) sweep_read(&s, &p->inputs.at[k]);
  for (uint32_t k = 0; k < p->outputs.len; k++) sweep_read(&s, &p->outputs.at[k].node);
  for (uint32_t k = 0; k < p->asserts.len; k++) sweep_read(&s, &p->asserts.at[k].node);
  while (s.todo.len) {
    AlgNode *n = vec_pop(s.todo);
    for (uint32_t k = 0; k < n->n_operand; k++) sweep_read(&s, &n->operand[k].node);
    if (n->repeat) sweep_repeat(&s, n->repeat);
    for (AlgRegion *r = n->region; r && r->repeat; r = r->parent) sweep_repeat(&s, r->repeat);
  }
  p->n_nodes = 0;
  sweep_region(p, p->top);
}
