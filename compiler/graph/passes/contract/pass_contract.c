/* graph/passes/contract/pass_contract.c - splits products under a reducer that distributes over them (ops.def,
 * DISTRIBUTES) into steps of two operands, in the order with the fewest operations. First decides, from the last
 * vertex to the first, so that a chain of products is seen as a whole at its end; then rebuilds the graph with these
 * steps. */
#include "contract.h"

enum { CHECKS_MOST = 16 };   /* so many facts at most for the prover, which takes 64 inequalities in all */

/* ---- uses ------------------------------------------------------------------------------------ */

static void use(Contract *c, const EinNode *n) {
  if (n) c->uses[n->id]++;
}

typedef VEC(const EinNode *) Vertices;

static void uses_of_region(Contract *c, const EinRegion *r, Vertices *all) {
  vec_each_of(const EinNode, n, r->nodes) {
    if (n->kind == EIN_INPUT) use(c, n->fallback);
    if (n->kind == EIN_VERTEX) {
      vec_push(c->b.arena, *all, n);
      for (uint32_t k = 0; k < n->sum->n_slot; k++) use(c, n->input[k]);
    } else if (n->kind == EIN_REPEAT) {
      for (uint32_t k = 0; region_use(n->body, k); k++) use(c, region_use(n->body, k));
      uses_of_region(c, n->body, all); /* GRAPH_DEPTH deep at most */
    }
  }
}

/* ---- decisions ------------------------------------------------------------------------------- */

/* Applies divisors last, if possible, else as parts of factors. */
static Steps *steps_so(Contract *c, const EinNode *n, bool join) {
  Product *x = product_of(c, n, join, true);
  Steps *p = x ? steps_of(c, x) : NULL;
  if (p || (x && !x->divisor.len)) return p;
  x = product_of(c, n, join, false);
  return x ? steps_of(c, x) : NULL;
}

/* The saving, in operations and elements; *of: the total before. */
static double saved(const Steps *p, double *of) {
  if (!p) return *of = 0;
  *of = p->product->ops + p->product->held;
  return *of - p->ops - p->held;
}

/* Plans the vertex alone, or joined with what only it uses if that saves considerably more: what the user named is
 * not taken apart for nothing. */
static Steps *best_steps(Contract *c, const EinNode *n) {
  double of, all;
  Steps *alone = steps_so(c, n, false), *joined = c->budget > 0 ? steps_so(c, n, true) : NULL;
  double by_alone = saved(alone, &of), by_joined = saved(joined, &all);
  return joined && by_joined > by_alone + all / 8 ? joined : alone;
}

static void decide_vertex(Contract *c, const EinNode *n) {
  Steps *p = c->taken[n->id] ? NULL : best_steps(c, n);
  if (!p) return;
  map_put(&c->steps, n, p);
  rebuild_note(&c->b, "products ordered", n->place);
  for (uint32_t i = 0; i < p->product->joined.len; i++) {
    c->taken[p->product->joined.at[i]->id] = true;
    rebuild_note(&c->b, "vertices joined", p->product->joined.at[i]->place);
  }
}

/* ---- the pass -------------------------------------------------------------------------------- */

static bool not_taken(void *env, const EinNode *n) {
  const Contract *c = env;
  return !c->taken[n->id];
}

static EinNode *by_steps(void *env, Rebuild *b, EinRegion *r, const EinNode *n) {
  Contract *c = env;
  const Steps *p = map_find(&c->steps, n);
  return p ? steps_emit(c, r, p) : rebuild_copy(b, r, n);
}

EinGraph *graph_contract_on(Arena *a, const EinGraph *g, PassNotes *notes, int64_t sites) {
  static const RebuildRules rules = {.keep = not_taken, .vertex = by_steps};
  Contract c = {
      .b = {.arena = a, .old = g, .pass = "contract", .notes = notes}, .scratch = arena_new(), .sites = sites};
  Vertices all = {0};
  c.uses = NEW_ARRAY(a, uint32_t, g->n_nodes + 1);
  c.taken = NEW_ARRAY(a, bool, g->n_nodes + 1);
  c.steps = map_new(a);
  c.budget = 10000000 + 1000 * (int64_t)g->n_nodes;
  c.proofs = 1000 + 4 * (int64_t)g->n_nodes;
  for (uint32_t i = 0; i < g->checks.len && i < CHECKS_MOST; i++) vec_push(c.scratch, c.checks, g->checks.at[i].cond);
  uses_of_region(&c, g->top, &all);
  for (uint32_t i = 0; i < g->outputs.len; i++) use(&c, g->outputs.at[i].node);
  for (uint32_t i = 0; i < g->asserts.len; i++) use(&c, g->asserts.at[i].node);
  for (uint32_t i = all.len; i-- > 0;) decide_vertex(&c, all.at[i]);
  return rebuild_free(&c.b, a, g, &rules, &c, c.scratch);
}

EinGraph *graph_contract(Arena *a, const EinGraph *g, PassNotes *notes) {
  return graph_contract_on(a, g, notes, 1);
}
