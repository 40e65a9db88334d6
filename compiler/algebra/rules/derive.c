/* algebra/rules/derive.c - the choice of rules that lead from one Ia to another. Joins are moved to where the goal has
 * them, in order. Between joins lie chains of moves, maps, filters and aggregations; each is compared with the goal's
 * from its end, and the first difference names the rule that removes it. The engine applies the rules. */
#include "derive.h"

#include "algebra/cost.h"

typedef struct Derive {
  Algebra *p;
  const Derivation *how;
  uint32_t applied;          /* rules, so far */
} Derive;

static bool apply_given(Derive *d, const char *name, AlgNode *at, const RuleGiven *given) {
  const Rule *rule = rule_find(d->how->rules, name);
  Buf why = buf_new(d->p->arena);
  BUG_UNLESS(rule);
  if (!rule_apply(d->p, rule, at, given, &why)) return false;
  algebra_sweep(d->p, false);
  d->applied++;
  d->how->applied(d->how->ctx, rule, at);
  return true;
}

static bool apply(Derive *d, const char *name, AlgNode *at, const Placement *to) {
  return apply_given(d, name, at, &(RuleGiven){.to = to});
}

/* ---- chains ------------------------------------------------------------------------------------------------ */

enum { PASSES = 8 };         /* over a chain, at most: each lets the next see placements that have changed below */

static bool is_link(const AlgNode *n) {
  return n->kind == ALG_MOVE || n->kind == ALG_MAP || n->kind == ALG_FILTER || n->kind == ALG_AGGREGATE;
}

static AlgNode *below(const AlgNode *n) { return n->operand[0].node; }

static bool is_idle(const Derive *d, const AlgNode *n) {
  return n->kind == ALG_MOVE && placement_equal(&d->p->mesh, &n->at, &below(n)->at);
}

static bool moves_below(const AlgNode *n) {
  while (is_link(n) && n->kind != ALG_MOVE) n = below(n);
  return n->kind == ALG_MOVE;
}

/* Of a move whose goal is another operation: the rule that takes the move below its operand, if moves lie there. */
static const char *rule_below(const AlgNode *move, const AlgNode *goal) {
  if (below(move)->kind != goal->kind || !moves_below(goal)) return NULL;
  switch ((int)goal->kind) {
  case ALG_AGGREGATE: return "move below";
  case ALG_MAP: return "R2-3";
  case ALG_FILTER: return "R2-2";
  default: return NULL;
  }
}

static bool aggregates(const AlgNode *n) { return n->kind == ALG_AGGREGATE && n->reducer != RED_NONE; }

static AlgNode *behind_move(AlgNode *n) { return n->kind == ALG_MOVE ? below(n) : n; }

/* What the goal aggregates in pieces, where there are no pieces yet, or pieces of the result. */
static bool pieces_derive(Derive *d, AlgNode *n, const AlgNode *goal) {
  n = behind_move(n);
  if (n->kind == ALG_MAP && aggregates(below(n)) && aggregates(goal) && below(goal)->kind == ALG_MOVE)
    return apply(d, "reduce scatter", n, &below(goal)->at);
  if (!aggregates(n) || goal->kind != ALG_AGGREGATE || aggregates(goal) || !aggregates(behind_move(below(goal))))
    return false;
  const AlgNode *tile = behind_move(below(behind_move(below(goal))));
  return tile->n_piece && apply_given(d, "in pieces", n, &(RuleGiven){.pieces = tile, .laid = goal});
}

/* Applies a rule at a node that is not the goal's. */
static bool node_derive(Derive *d, AlgNode *n, const AlgNode *goal) {
  if (n->kind == ALG_MOVE && below(n)->kind == ALG_MOVE) return apply(d, "R2-1", n, NULL);
  if (goal->kind == ALG_MOVE) return apply(d, "move insert", n, &goal->at);
  if (pieces_derive(d, n, goal)) return true;
  if (n->kind != ALG_MOVE) return false;
  const char *rule = rule_below(n, goal);
  return (rule && apply(d, rule, n, NULL)) || apply(d, "move drop", n, NULL);
}

static bool is_goal(const Derive *d, const AlgNode *n, const AlgNode *goal) {
  if (n->kind != goal->kind || (n->kind == ALG_AGGREGATE && n->reducer != goal->reducer)) return false;
  return n->kind != ALG_MOVE || (below(n)->kind != ALG_MOVE && placement_equal(&d->p->mesh, &n->at, &goal->at));
}

/* Once down the chain. Returns whether it comes to the node where the goal's chain begins. */
static bool chain_pass(Derive *d, AlgNode *n, const AlgNode *goal) {
  for (;;) {
    while (is_idle(d, n) && goal->kind != ALG_MOVE) n = below(n);
    while (is_idle(d, goal) && n->kind != ALG_MOVE) goal = below(goal);
    if (!is_goal(d, n, goal)) {
      if (!node_derive(d, n, goal)) return false;
      continue;
    }
    if (!is_link(n)) return placement_equal(&d->p->mesh, &n->at, &goal->at);
    if (n->kind == ALG_AGGREGATE && below(n)->kind == ALG_MOVE && below(goal)->kind != ALG_MOVE)
      apply(d, "R2-4", n, NULL);
    n = below(n), goal = below(goal);
  }
}

static bool chain_derive(Derive *d, AlgNode *n, const AlgNode *goal) {
  bool ok = true;
  for (uint32_t k = 0, before = UINT32_MAX; k < PASSES && before != d->applied; k++) {
    before = d->applied;
    ok = chain_pass(d, n, goal);
  }
  return ok && placement_equal(&d->p->mesh, &n->at, &goal->at);
}

/* ---- joins ------------------------------------------------------------------------------------------------- */

static bool fetches(const AlgNode *join) {
  for (uint32_t k = 0; k < join->n_operand; k++)
    if (join->operand[k].node->kind == ALG_FETCH) return true;
  return false;
}

static bool is_placed(const Derive *d, const AlgNode *n, const AlgNode *goal) {
  bool same = placement_equal(&d->p->mesh, &n->at, &goal->at);
  for (uint32_t k = 0; same && k < n->n_operand && k < goal->n_operand; k++)
    same = placement_equal(&d->p->mesh, &n->operand[k].node->at, &goal->operand[k].node->at);
  return same;
}

static bool join_place(Derive *d, AlgNode *n, const AlgNode *goal) {
  static const char *const to[] = {"R2-6 cmm", "R2-6 rmm", "R2-6"};
  bool ok = is_placed(d, n, goal);
  for (uint32_t k = 0; k < COUNT(to) && !ok; k++) ok = apply(d, to[k], n, &goal->at);
  return ok;
}

/* Moves a join to where the goal has it. Where what follows it then would be in parts, a move comes between them. */
static AlgNode *join_placed(Derive *d, AlgNode *n, const AlgNode *goal) {
  Placement at = n->at;
  if (join_place(d, n, goal) || !apply(d, "move insert", n, &at)) return n;
  join_place(d, below(n), goal);
  return below(n);
}

static bool operand_derive(Derive *d, AlgNode *n, const AlgNode *goal) {
  bool ok = chain_derive(d, n, goal);
  for (uint32_t k = 0; goal->kind == ALG_FETCH && k < goal->n_operand; k++)
    ok = n->kind == ALG_FETCH && n->n_operand == goal->n_operand &&
        chain_derive(d, n->operand[k].node, goal->operand[k].node) && ok;
  return ok;
}

static bool join_derive(Derive *d, AlgNode **join, const AlgNode *goal) {
  AlgNode *n = *join = join_placed(d, *join, goal);
  bool ok = true;
  if (fetches(goal) && !fetches(n)) apply(d, "gather by request", n, NULL);
  if (n->n_operand != goal->n_operand) return false;
  for (uint32_t k = 0; k < n->n_operand; k++) ok = operand_derive(d, n->operand[k].node, goal->operand[k].node) && ok;
  return ok;
}

/* ---- programs ---------------------------------------------------------------------------------------------- */

typedef struct Read { const AlgNode *of; AlgNode *by; } Read;
typedef struct Found {
  VEC(AlgNode *) joins;
  VEC(AlgNode *) ends;       /* what regions and the program read */
  VEC(Read) reads;           /* by nodes */
} Found;

static void region_find(Arena *a, const AlgRegion *r, Found *f) {
  vec_each_of(AlgNode, n, r->nodes) {
    if (n->kind == ALG_REPEAT) region_find(a, n->body, f);
    if (n->kind == ALG_JOIN) vec_push(a, f->joins, n);
    for (uint32_t i = 0; i < n->n_operand; i++) vec_push(a, f->reads, ((Read){n->operand[i].node, n}));
  }
  for (uint32_t k = 0; alg_region_use(r, k); k++) vec_push(a, f->ends, alg_region_use(r, k));
}

static void program_find(Arena *a, const Algebra *p, Found *f) {
  f->joins.len = f->ends.len = f->reads.len = 0;
  region_find(a, p->top, f);
  for (uint32_t k = 0; k < p->outputs.len; k++) vec_push(a, f->ends, p->outputs.at[k].node);
  for (uint32_t k = 0; k < p->asserts.len; k++) vec_push(a, f->ends, p->asserts.at[k].node);
}

/* The end of the chain from a join on, if several read it; NULL: it is one reader's own. */
static AlgNode *shared_end(const Found *f, AlgNode *n) {
  for (;;) {
    uint32_t readers = 0;
    AlgNode *by = NULL;
    for (uint32_t k = 0; k < f->ends.len; k++) readers += f->ends.at[k] == n;
    for (uint32_t k = 0; k < f->reads.len; k++)
      if (f->reads.at[k].of == n) by = f->reads.at[k].by, readers++;
    if (readers != 1 || !by || !is_link(by)) return readers > 1 ? n : NULL;
    n = by;
  }
}

/* What several read becomes the goal's before they do, lest a rule take it apart for one of them. */
static bool shared_derive(Derive *d, Found *now, AlgNode *join, const Found *goal, AlgNode *of) {
  AlgNode *to = shared_end(goal, of);
  if (!to) return true;
  program_find(d->p->arena, d->p, now);
  AlgNode *end = shared_end(now, join);
  return end && chain_derive(d, end, to);
}

/* A rule that takes a chain apart for one of its readers leaves more moves than the goal has. */
static bool costs_same(const Algebra *p, const Algebra *goal) {
  AlgCost is = algebra_cost(p), wanted = algebra_cost(goal);
  return is.known == wanted.known && is.paper == wanted.paper && is.bytes == wanted.bytes;
}

bool algebra_derive(Algebra *p, const Algebra *goal, const Derivation *how) {
  Derive d = {.p = p, .how = how};
  Found is = {0}, to = {0}, now = {0};
  program_find(p->arena, p, &is);
  program_find(p->arena, goal, &to);
  bool same = is.joins.len == to.joins.len && is.ends.len == to.ends.len, ok = same;
  for (uint32_t k = 0; same && k < is.joins.len; k++) {
    AlgNode *join = is.joins.at[k], *wanted = to.joins.at[k];
    ok = join_derive(&d, &join, wanted) && ok;
    ok = shared_derive(&d, &now, join, &to, wanted) && ok;
  }
  for (uint32_t k = 0; same && k < is.ends.len; k++)
    ok = chain_derive(&d, is.ends.at[k], to.ends.at[k]) && ok;
  algebra_sweep(p, true);
  return ok && costs_same(p, goal);
}
