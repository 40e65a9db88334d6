/* tests/algebra/test_eval_wrong.c - programs over relations that are not sound, or not given what they need: each is
 * refused by the evaluator, in words that name the node. The types are spoiled by hand where the builders would not
 * make them. */
#include "eval_help.h"

static const int64_t zeros[64];

static AlgNode *input(World *w, const char *s, uint32_t n_key, const int64_t *frontier, uint32_t rank,
    const RelDim *dim, const char *place) {
  Relation t = relation(w, DT_I64, n_key, frontier, rank, dim);
  Placement p = at(place);
  return alg_input(w->p, name(w, s), &t, &p);
}

/* X, of 6 elements in 3 blocks. */
static World world_cut(uint32_t n_axis, uint32_t sites, AlgNode **x, RelDim *c) {
  World w = world_new(n_axis, &sites);
  *c = cut(&w, 6, 0, 3);
  *x = input(&w, "X", 1, I64S(3), 1, c, n_axis ? "0" : "");
  give(&w, "X", DT_I64, 1, I64S(6), zeros);
  return w;
}

static AlgNode *copied(World *w, AlgNode *x, RelDim c) {
  return join(w, NULL, sum_of(w, 1, 0, 1, RED_NONE, DT_I64, get(w, DT_I64, 0, 1, I64S(0))), OPERANDS({x, ON(0), false}),
      &c, 1, I64S(3), NULL);
}

/* ---- what is given ---------------------------------------------------------------------------------------- */

static void test_inputs(void) {
  AlgNode *x;
  RelDim c;
  World w = world_cut(0, 0, &x, &c);
  output(&w, "Z", x, 1, I64S(6));
  w.given.len = 0;
  fails(&w, "input %0 (X) is not given", "a missing input");
  w = world_cut(0, 0, &x, &c);
  output(&w, "Z", x, 1, I64S(6));
  w.given.at[0].array.shape[0] = 5;
  fails(&w, "input %0 (X) has 6 in dimension 1, given is 5", "an input of another size");
  w = world_cut(0, 0, &x, &c);
  output(&w, "Z", x, 1, I64S(6));
  w.given.at[0].array.dtype = DT_F64;
  fails(&w, "input %0 (X) is i64 of rank 1, given is f64 of rank 1", "an input of another dtype");
  w = world_cut(1, 3, &x, &c);
  x->at = at("+");
  output(&w, "Z", x, 1, I64S(6));
  fails(&w, "comes in parts", "an input in parts");
}

static void test_sizes(void) {
  AlgNode *x;
  RelDim c;
  World w = world_cut(0, 0, &x, &c);
  output(&w, "Z", copied(&w, x, c), 1, I64S(6));
  w.run.max_elements = 1;
  fails(&w, "join %1 (X) makes an array of more than 1 elements", "a large array");
  w = world_new(3, (const uint32_t[]){100, 100, 100});
  fails(&w, "sites are more than can be gone through", "a large mesh");
  w = world_new(0, NULL);
  c = cut(&w, 6, 0, 1 << 30);
  output(&w, "Z", input(&w, "X", 1, I64S(1 << 30), 1, &c, ""), 1, I64S(6));
  fails(&w, "has more keys than can be gone through", "a large frontier");
}

/* ---- keys --------------------------------------------------------------------------------------------------- */

static void rekey_fails(const Expr *to(World *w), const char *text, const char *what) {
  AlgNode *x;
  RelDim c;
  World w = world_cut(0, 0, &x, &c);
  const Expr *key = to(&w);
  output(&w, "Z", alg_rekey(w.p, w.p->top, x, 1, &key, I64S(3), names_of(&w, 1), &c), 1, I64S(6));
  fails(&w, text, what);
}

static const Expr *key_next(World *w) { return op2(w, OP_MOD, op2(w, OP_ADD, var(w, 0), num(w, 1)), num(w, 3)); }
static const Expr *key_least(World *w) { return op2(w, OP_MIN, var(w, 0), num(w, 1)); }

/* Pieces of one size, so that only their keys are in question. */
static void test_twice(void) {
  World w = world_new(0, NULL);
  RelDim all = whole(&w, 2);
  const Expr *none = num(&w, 0);
  AlgNode *t = alg_tile(w.p, w.p->top, input(&w, "X", 0, NULL, 1, &all, ""), 1, I64S(2), names_of(&w, 1), &all);
  output(&w, "Z", alg_rekey(w.p, w.p->top, t, 1, &none, I64S(1), names_of(&w, 1), &all), 1, I64S(2));
  give(&w, "X", DT_I64, 1, I64S(2), zeros);
  fails(&w, "map %2 (X) has two tuples at {i = 0}", "a rekey to one key");
}

static void test_keys(void) {
  test_twice();
  rekey_fails(key_next, "map %1 (X) has an array over [0..2] at {i = 1}, where its type says [2..4]",
      "a rekey to others' places");
  rekey_fails(key_least, "map %1 (X) has an array over [4..6] at {i = 1}, where its type says [2..4]",
      "a rekey that takes two together");
  AlgNode *x;
  RelDim c;
  World w = world_cut(0, 0, &x, &c);
  AlgNode *f = alg_filter(w.p, w.p->top, x, op2(&w, OP_NE, var(&w, 0), num(&w, 1)));
  f->type.holes = false;
  output(&w, "Z", f, 1, I64S(6));
  fails(&w, "filter %1 (X) has no tuple at {i = 1} at site 0", "a filter said to leave no holes");
  w = world_cut(0, 0, &x, &c);
  f = alg_filter(w.p, w.p->top, x, op2(&w, OP_NE, var(&w, 0), num(&w, 1)));
  output(&w, "Z", f, 1, I64S(6));
  fails(&w, "filter %1 (X) has not all of the output Z: element 2 is missing", "an output with a hole");
  w = world_cut(0, 0, &x, &c);
  const Expr *up = op2(&w, OP_ADD, var(&w, 0), num(&w, 1));
  output(&w, "Z",
      alg_rekey(w.p, w.p->top, x, 1, &up, I64S(3), names_of(&w, 1),
          (const RelDim[]){rel_cut(w.x, 6, op2(&w, OP_SUB, var(&w, 0), num(&w, 1)), 3)}),
      1, I64S(6));
  fails(&w, "map %1 (X) has a key i = 3, and the frontier is 3", "a key behind the frontier");
}

/* ---- sites ---------------------------------------------------------------------------------------------------- */

static void test_sites(void) {
  AlgNode *x, *y;
  RelDim c;
  Placement all = at("*"), parts = at("+");
  World w = world_cut(1, 3, &x, &c);
  output(&w, "Z",
      join(&w, NULL, sum_of(&w, 1, 0, 1, RED_NONE, DT_I64, get(&w, DT_I64, 0, 1, I64S(0))), OPERANDS({x, ON(0), false}),
          &c, 1, I64S(3), &all),
      1, I64S(6));
  fails(&w, "join %1 (X) has no tuple at {i = 0} at site 1", "a join of what does not meet");
  w = world_cut(1, 3, &x, &c);
  y = alg_filter(w.p, w.p->top, x, expr_bool(w.x, true));
  y->at = all;
  y->type.holes = false;
  output(&w, "Z", y, 1, I64S(6));
  fails(&w, "filter %1 (X) has no tuple at {i = 0} at site 1", "copies that are not there");
  w = world_cut(1, 3, &x, &c);
  y = alg_filter(w.p, w.p->top, alg_move(w.p, w.p->top, x, &all), expr_bool(w.x, true));
  y->at = at("0");
  output(&w, "Z", y, 1, I64S(6));
  fails(&w, "filter %2 (X) has a tuple at {i = 1} at site 0, where it is not to be", "tuples where they are not to be");
  w = world_cut(1, 3, &x, &c);
  output(&w, "Z", alg_move(w.p, w.p->top, x, &parts), 1, I64S(6));
  fails(&w, "move %1 (X) makes parts, which a move cannot", "a move to parts");
  w = world_cut(1, 3, &x, &c);
  y = join(&w, NULL, sum_of(&w, 1, 0, 1, RED_NONE, DT_I64, get(&w, DT_I64, 0, 1, I64S(0))), OPERANDS({x, ON(0), false}),
      &c, 1, I64S(3), &parts);
  output(&w, "Z", y, 1, I64S(6));
  fails(&w, "join %1 (X) makes parts, which a join cannot", "a join to parts");
}

/* S = sum[i] X[i] in parts, at `place` of three sites; then perhaps moved to all. */
static AlgNode *parts_of(World *w, AlgNode *x, RelDim c, bool moved) {
  Placement all = at("*");
  AlgNode *j = join(w, NULL, sum_of(w, 0, 1, 1, RED_SUM, DT_I64, get(w, DT_I64, 0, 1, I64S(0))),
      OPERANDS({x, ON(0), false}), &c, 1, I64S(3), NULL);
  AlgNode *s = alg_aggregate(w->p, w->p->top, j, 0, NULL, RED_SUM, NULL);
  return moved ? alg_move(w->p, w->p->top, s, &all) : s;
}

static void test_parts(void) {
  AlgNode *x;
  RelDim c;
  World w = world_cut(1, 3, &x, &c);
  output(&w, "Z", parts_of(&w, x, c, false), 0, NULL);
  fails(&w, "aggregate %2 (X) is not aggregated, and is the output Z", "an output in parts");
  w = world_cut(1, 3, &x, &c);
  output(&w, "Z", parts_of(&w, x, c, true), 0, NULL);
  fails(&w, "move %3 (X) is not aggregated, and is the output Z: there are parts", "an output in parts at each site");
  for (int moved = 0; moved < 2; moved++) {
    w = world_cut(1, 3, &x, &c);
    AlgNode *s = parts_of(&w, x, c, moved);
    Placement all = at("*");
    output(&w, "Z",
        join(&w, NULL, sum_of(&w, 0, 0, 1, RED_NONE, DT_I64, get(&w, DT_I64, 0, 0, NULL)), OPERANDS({s, NULL, false}),
            NULL, 0, NULL, &all),
        0, NULL);
    fails(&w, moved ? "joins parts: X has several tuples" : "joins parts: X is not aggregated", "a join of parts");
  }
}

static void test_disagree(void) {
  for (int bound = 0; bound < 2; bound++) {
    World w = world_new(1, (const uint32_t[]){2});
    int64_t two[2] = {1, 2};
    AlgNode *x = input(&w, "X", 1, I64S(2), 1, DIMS(span(var(&w, 0), op2(&w, OP_ADD, var(&w, 0), num(&w, 1)))), "0");
    const Expr *here = var(&w, 0);
    RelDim c = x->type.dim[0];
    AlgNode *s = join(&w, NULL, sum_of(&w, 0, 1, 1, RED_SUM, DT_I64, expr_read(w.x, DT_I64, 0, 1, &here)),
        OPERANDS({x, ON(0), false}), &c, 1, I64S(2), NULL);
    AlgNode *one = alg_rekey(w.p, w.p->top, s, 0, NULL, NULL, NULL, NULL);
    one->at = at("*");
    give(&w, "X", DT_I64, 1, I64S(2), two);
    if (bound) vec_push(w.arena, w.p->asserts, ((AlgAssert){one, name(&w, "yes"), {0}}));
    else output(&w, "Z", one, 0, NULL);
    fails(&w, bound ? "on which sites disagree" : "differs between sites or blocks of the output Z",
        "copies that are not alike");
  }
}

/* ---- arrays ---------------------------------------------------------------------------------------------------- */

static void concat_fails(int64_t low, const char *text, const char *what) {
  World w = world_new(0, NULL);
  AlgNode *x = input(&w, "X", 0, NULL, 1, DIMS(whole(&w, 6)), "");
  const Expr *from = op2(&w, OP_MUL, var(&w, 0), num(&w, low));
  RelDim piece = span(from, op2(&w, OP_ADD, from, num(&w, 3)));
  AlgNode *t = alg_tile(w.p, w.p->top, x, 1, I64S(2), names_of(&w, 1), &piece);
  RelDim *dim = NEW(w.arena, RelDim);
  *dim = span(from, op2(&w, OP_MIN, op2(&w, OP_ADD, from, num(&w, 3)), num(&w, 6)));
  t->type.dim = dim;
  output(&w, "Z", alg_concat(w.p, w.p->top, t, 0, NULL, DIMS(whole(&w, 6))), 1, I64S(6));
  give(&w, "X", DT_I64, 1, I64S(6), zeros);
  fails(&w, text, what);
}

static void test_arrays(void) {
  concat_fails(4, "concat %2 (X) lays arrays side by side that do not abut", "a gap");
  concat_fails(2, "concat %2 (X) lays arrays side by side that overlap", "an overlap");
  AlgNode *x;
  RelDim c;
  World w = world_cut(0, 0, &x, &c);
  output(&w, "Z", alg_aggregate(w.p, w.p->top, copied(&w, x, c), 0, NULL, RED_SUM, NULL), 1, I64S(6));
  fails(&w, "aggregate %2 (X) aggregates arrays that are not over one box", "a sum of blocks of other places");
  w = world_cut(0, 0, &x, &c);
  output(&w, "Z", x, 1, I64S(5));
  fails(&w, "input %0 (X) does not lie in the output Z at {i = 2}", "an output that is too small");
  w = world_cut(0, 0, &x, &c);
  output(&w, "Z", x, 1, I64S(7));
  fails(&w, "input %0 (X) has not all of the output Z: element 6 is missing", "an output that is too large");
  w = world_cut(0, 0, &x, &c);
  output(&w, "Z", x, 2, I64S(6, 1));
  fails(&w, "input %0 (X) is not what the output Z is", "an output of another rank");
}

/* Where a domain looks, there must be something. */
static void test_domain(void) {
  AlgNode *x;
  RelDim c;
  World w = world_cut(0, 0, &x, &c);
  EinSum s = *sum_of(&w, 1, 1, 1, RED_SUM, DT_I64, get(&w, DT_I64, 0, 1, I64S(1)));
  RelDim range[] = {whole(&w, 1), c};
  const Expr *here = op2(&w, OP_ADD, var(&w, 0), num(&w, 2));
  s.domain = op2(&w, OP_GE, expr_read(w.x, DT_I64, 1, 1, &here), num(&w, 0));
  s.n_slot = 2;
  AlgNode *only = alg_filter(w.p, w.p->top, x, op2(&w, OP_EQ, var(&w, 0), num(&w, 1)));
  AlgNode *j = join(&w, NULL, &s, OPERANDS({x, ON(0), false}, {only, ON(0), false}), range, 1, I64S(3), NULL);
  output(&w, "Z", alg_aggregate(w.p, w.p->top, j, 0, NULL, RED_SUM, NULL), 1, I64S(1));
  fails(&w, "join %2 (X) reads X[2], of which there is no tuple, at i = 0, j = 0", "a domain that asks a hole");
}

/* Dimensions behind the first that are not whole do not lie together. */
static void test_merge(void) {
  World w = world_new(0, NULL);
  AlgNode *x = input(&w, "X", 1, I64S(2), 2, DIMS(whole(&w, 2), cut(&w, 4, 0, 2)), "");
  AlgNode *f = alg_filter(w.p, w.p->top, x, op2(&w, OP_EQ, var(&w, 0), num(&w, 1)));
  AlgNode *m = alg_transform(w.p, w.p->top, f, 1, &(AlgFn){.kind = FN_CAST, .to = DT_I64});
  m->fn = &(AlgFn){.kind = FN_MERGE, .n = 1, .merge = (const uint8_t[]){2}};
  output(&w, "Z", m, 1, I64S(8));
  give(&w, "X", DT_I64, 2, I64S(2, 4), zeros);
  fails(&w, "map %2 (X) merges what does not lie together", "a merge of what is cut inside");
}

static void test_shift(void) {
  AlgNode *x;
  RelDim c;
  World w = world_cut(0, 0, &x, &c);
  AlgNode *m = alg_transform(w.p, w.p->top, copied(&w, x, c), 1, &(AlgFn){.kind = FN_SHIFT, .by = 4});
  output(&w, "Z", m, 1, I64S(6));
  m->fn = &(AlgFn){.kind = FN_SHIFT, .by = 4, .key = 1};
  fails(&w, "shifts by a key that there is not", "a shift by no key");
  w = world_cut(0, 0, &x, &c);
  m = alg_transform(w.p, w.p->top, copied(&w, x, c), 1, &(AlgFn){.kind = FN_SHIFT, .by = INT64_MAX / 2});
  output(&w, "Z", m, 1, I64S(6));
  m->fn = &(AlgFn){.kind = FN_SHIFT, .by = INT64_MAX};
  fails(&w, "shifts an array too far", "a shift to where no place is");
}

static void test_places(void) {
  AlgNode *x;
  RelDim c;
  World w = world_cut(0, 0, &x, &c);
  AlgNode *j = join(&w, NULL, sum_of(&w, 0, 1, 1, RED_ARGMAX, DT_I64, get(&w, DT_I64, 0, 1, I64S(0))),
      OPERANDS({x, ON(0), false}), &c, 1, I64S(3), NULL);
  output(&w, "Z", alg_aggregate(w.p, w.p->top, j, 0, NULL, RED_SUM, NULL), 0, NULL);
  fails(&w, "aggregate %2 (X) aggregates places by sum", "a sum of places");
  w = world_cut(0, 0, &x, &c);
  output(
      &w, "Z", alg_aggregate(w.p, w.p->top, copied(&w, x, c), 1, (const uint32_t[]){0}, RED_ARGMAX, NULL), 1, I64S(6));
  fails(&w, "aggregates values without places by argmax", "argmax of values without places");
  w = world_cut(0, 0, &x, &c);
  output(&w, "Z", alg_transform(w.p, w.p->top, x, 1, &(AlgFn){.kind = FN_PLACE}), 1, I64S(6));
  fails(&w, "map %1 (X) has no places to take", "places that are not there");
}

/* ---- expressions, asserts, repeats --------------------------------------------------------------------------------
 */

static void test_expressions(void) {
  AlgNode *x;
  RelDim c;
  World w = world_cut(0, 0, &x, &c);
  const Expr *body = op2(&w, OP_ADD, get(&w, DT_I64, 0, 1, I64S(0)), expr_dim(w.x, name(&w, "N")));
  output(&w, "Z",
      join(&w, NULL, sum_of(&w, 1, 0, 1, RED_NONE, DT_I64, body), OPERANDS({x, ON(0), false}), &c, 1, I64S(3), NULL), 1,
      I64S(6));
  fails(&w, "join %1 (X) has an open size", "an open size");
  w = world_cut(0, 0, &x, &c);
  body = get(&w, DT_F64, 0, 1, I64S(0));
  output(&w, "Z",
      join(&w, NULL, sum_of(&w, 1, 0, 1, RED_NONE, DT_F64, body), OPERANDS({x, ON(0), false}), &c, 1, I64S(3), NULL), 1,
      I64S(6));
  fails(&w, "join %1 (X) reads X as what it is not", "a read of another dtype");
  for (int early = 0; early < 2; early++) { /* asserts come first */
    w = world_cut(0, 0, &x, &c);
    EinSum s =
        *sum_of(&w, 0, 1, 1, RED_ALL, DT_BOOL, op2(&w, OP_GT, get(&w, DT_I64, 0, 1, I64S(0)), num(&w, early ? 0 : -1)));
    AlgNode *j = join(&w, NULL, &s, OPERANDS({x, ON(0), false}), &c, 1, I64S(3), NULL);
    AlgNode *ok = alg_aggregate(w.p, w.p->top, j, 0, NULL, RED_ALL, NULL);
    vec_push(w.arena, w.p->asserts, ((AlgAssert){ok, name(&w, "all are positive"), {0}}));
    const Expr *wide = op2(&w, OP_ADD, var(&w, 0), num(&w, 1));
    output(&w, "Z",
        join(&w, NULL, sum_of(&w, 1, 0, 1, RED_NONE, DT_I64, expr_read(w.x, DT_I64, 0, 1, &wide)),
            OPERANDS({x, ON(0), false}), &c, 1, I64S(3), NULL),
        1, I64S(6));
    fails(&w, early ? "assertion failed: all are positive" : "outside of the block", "what fails behind an assert");
  }
}

/* x = f(x), stacked; `turns`: what is said of them. */
static void repeat_fails(int64_t turns, bool grows, const char *text, const char *what) {
  World w = world_new(0, NULL);
  int64_t bound = 3;
  RelDim c = cut(&w, 4, 0, 2), other = cut(&w, 5, 0, 2);
  AlgNode *in = input(&w, "X", 1, I64S(2), 1, &c, ""), *n = input(&w, "N", 0, NULL, 0, NULL, "");
  AlgNode *s = repeat_new(&w, in, n, turns);
  AlgRegion *g = s->region;
  AlgNode *next =
      join(&w, g, sum_of(&w, 1, 0, 0, RED_NONE, DT_I64, num(&w, 1)), NULL, grows ? &other : &c, 1, I64S(2), NULL);
  vec_push(w.arena, g->states, ((AlgState){s, in, next}));
  vec_push(w.arena, g->stacks, ((AlgStack){name(&w, "xs"), next, 0}));
  output(&w, "Z", repeat_result(&w, ALG_FINAL, s->repeat, in), 1, I64S(4));
  give(&w, "X", DT_I64, 1, I64S(4), zeros), give(&w, "N", DT_I64, 0, NULL, &bound);
  fails(&w, text, what);
}

static void test_repeats(void) {
  repeat_fails(-1, false, "stacks xs, and how many turns there are is open", "a stack of open length");
  repeat_fails(2, false, "makes turn 2, and xs has room for 2", "a turn too many");
  repeat_fails(
      3, true, "state %3 (x) has an array over [2..5] at {i = 1}, where its type says [2..4]", "a state that grows");
}

int main(void) {
  test_inputs();
  test_sizes();
  test_keys();
  test_sites();
  test_parts();
  test_disagree();
  test_arrays();
  test_domain();
  test_merge();
  test_shift();
  test_places();
  test_expressions();
  test_repeats();
  return DONE();
}
