/* graph/passes/meets.c - whether the values of an f32 input are combined with f64 data, so that their rounding shows
 * in digits that the program otherwise keeps. Where f32 data are only added up in f64, they are all exact to begin
 * with. */
#include "graph/graph.h"

typedef struct Meets {
  Arena *arena;
  const EinNode *input, *at;
} Meets;

/* Whether e contains a read of the dtype, and of the input if one is given. */
static bool reads(const Meets *m, const Expr *top, DType t, const EinNode *input) {
  Map seen = map_new(m->arena);
  VEC(const Expr *) stack = {0};
  vec_push(m->arena, stack, top);
  while (stack.len) {
    const Expr *e = vec_pop(stack);
    if (!(e->has & HAS_READ) || map_find(&seen, e)) continue;
    map_put(&seen, e, m->arena);
    bool asked =
        e->kind == EX_READ && e->i >= 0 && e->i < m->at->sum->n_slot && (!input || m->at->input[e->i] == input);
    if (asked && e->dtype == t) return true;
    for (uint32_t i = 0; i < e->n && e->kind != EX_READ; i++) vec_push(m->arena, stack, e->arg[i]);
  }
  return false;
}

static bool widens(const Meets *m, const Expr *e) {
  return e->kind == EX_OP && e->op == OP_CAST && e->dtype == DT_F64 && e->arg[0]->dtype == DT_F32 &&
      reads(m, e->arg[0], DT_F32, m->input);
}

static bool op_meets(const Meets *m, const Expr *e) {
  bool wide = false, narrow = false;
  for (uint32_t i = 0; i < e->n; i++)
    if (widens(m, e->arg[i])) narrow = true;
    else wide |= e->arg[i]->dtype == DT_F64 && reads(m, e->arg[i], DT_F64, NULL);
  return wide && narrow;
}

static bool expr_meets(const Meets *m, const Expr *top) {
  ExprNodes nodes = expr_nodes(m->arena, top, HAS_READ);
  for (const Expr *e; (e = expr_node(&nodes));)
    if (e->kind == EX_OP && op_meets(m, e)) return true;
  return false;
}

static const EinNode *region_meets(Meets *m, const EinRegion *r) {
  for (uint32_t i = 0; i < r->nodes.len; i++) {
    const EinNode *n = m->at = r->nodes.at[i], *in = n->kind == EIN_REPEAT ? region_meets(m, n->body) : NULL;
    if (in) return in;
    bool here = n->kind == EIN_VERTEX &&
        (expr_meets(m, n->sum->body) || expr_meets(m, n->sum->where) || expr_meets(m, n->sum->domain));
    if (here) return n;
  }
  return NULL;
}

const EinNode *input_meets_f64(Arena *a, const EinGraph *g, const EinNode *input) {
  Meets m = {.arena = a, .input = input};
  return input->dtype == DT_F32 ? region_meets(&m, g->top) : NULL;
}
