/* tests/algebra/test_eval.c - the evaluator of programs over relations: each operation on blocks against plain loops
 * over the whole, and the bytes that moves cost against what is worked out by hand. */
#include <math.h>

#include "eval_help.h"

enum { MOST = 400 };

static void fill(int64_t *x, int64_t n, int64_t t) {
  for (int64_t k = 0; k < n; k++) x[k] = (7 * k + 3 * t) % 11 - 5;
}

/* Z[i,j] = sum[k] X[i,k] * Y[k,j], all n x n. */
static void product(int64_t n, const int64_t *x, const int64_t *y, int64_t *z) {
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < n; j++) {
      z[i * n + j] = 0;
      for (int64_t k = 0; k < n; k++) z[i * n + j] += x[i * n + k] * y[k * n + j];
    }
}

static const EinSum *product_sum(World *w) {
  const Expr *a = get(w, DT_I64, 0, 2, I64S(0, 2)), *b = get(w, DT_I64, 1, 2, I64S(2, 1));
  return sum_of(w, 2, 1, 2, RED_SUM, DT_I64, op2(w, OP_MUL, a, b));
}

static AlgNode *input(World *w, const char *s, uint32_t n_key, const int64_t *frontier, uint32_t rank,
    const RelDim *dim, const char *place) {
  Relation t = relation(w, DT_I64, n_key, frontier, rank, dim);
  Placement p = at(place);
  return alg_input(w->p, name(w, s), &t, &p);
}

/* ---- Tra ----------------------------------------------------------------------------------------------- */

static void test_square(int64_t n, int64_t d) {
  World w = world_new(0, NULL);
  int64_t x[MOST], z[MOST];
  fill(x, n * n, 1);
  product(n, x, x, z);
  AlgNode *a = input(&w, "A", 2, I64S(d, d), 2, DIMS(cut(&w, n, 0, d), cut(&w, n, 1, d)), "");
  AlgNode *j = join(&w, NULL, product_sum(&w), OPERANDS({a, ON(0, 2), false}, {a, ON(2, 1), false}),
      DIMS(cut(&w, n, 0, d), cut(&w, n, 1, d), cut(&w, n, 2, d)), 3, I64S(d, d, d), NULL);
  AlgNode *s = alg_aggregate(w.p, w.p->top, j, 2, (const uint32_t[]){0, 1}, RED_SUM, NULL);
  output(&w, "Z", s, 2, I64S(n, n));
  give(&w, "A", DT_I64, 2, I64S(n, n), x);
  OK(run(&w) && same_i64(&w.run.output[0], n * n, z), "A*A, %lld x %lld in %lld x %lld blocks", (long long)n,
      (long long)n, (long long)d, (long long)d);
  OK_INT((int64_t)w.run.calls[j->id], d * d * d, "  calls of the kernel");
  OK_INT((int64_t)w.run.calls[s->id], d * d, "  blocks of the result");
  /* after the join: its parts, and A still, as that goes behind it; after the aggregation parts and result */
  OK_INT(w.run.most_live, 8 * n * n * (d + 1), "  most bytes at one time");
  arena_free(w.arena);
}

/* Z[i] = X[i,i] + Y[i,i]: blocks off the diagonal are filtered out, those on it get a key of one dimension. */
static void test_diagonal(bool sure) {
  World w = world_new(0, NULL);
  int64_t x[25], y[25], z[5];
  fill(x, 25, 1), fill(y, 25, 2);
  for (int64_t i = 0; i < 5; i++) z[i] = x[6 * i] + y[6 * i];
  const RelDim block[] = {cut(&w, 5, 0, 2), cut(&w, 5, 1, 2)}, both[] = {cut(&w, 5, 0, 2), cut(&w, 5, 0, 2)};
  AlgNode *a = input(&w, "X", 2, I64S(2, 2), 2, block, ""), *b = input(&w, "Y", 2, I64S(2, 2), 2, block, "");
  const Expr *body = op2(&w, OP_ADD, get(&w, DT_I64, 0, 2, I64S(0, 1)), get(&w, DT_I64, 1, 2, I64S(0, 1)));
  AlgNode *s = join(&w, NULL, sum_of(&w, 2, 0, 2, RED_NONE, DT_I64, body),
      OPERANDS({a, ON(0, 1), false}, {b, ON(0, 1), false}), block, 2, I64S(2, 2), NULL);
  AlgNode *f = alg_filter(w.p, w.p->top, s, op2(&w, sure ? OP_EQ : OP_LT, var(&w, 0), var(&w, 1)));
  const Expr *key[] = {var(&w, 0)};
  AlgNode *d = alg_rekey(w.p, w.p->top, f, 1, key, I64S(2), names_of(&w, 1), both);
  d->type.holes = false;
  AlgNode *o = join(&w, NULL, sum_of(&w, 1, 0, 1, RED_NONE, DT_I64, get(&w, DT_I64, 0, 2, I64S(0, 0))),
      OPERANDS({d, ON(0), false}), block, 1, I64S(2), NULL);
  output(&w, "Z", o, 1, I64S(5));
  give(&w, "X", DT_I64, 2, I64S(5, 5), x), give(&w, "Y", DT_I64, 2, I64S(5, 5), y);
  if (!sure) {
    fails(
        &w, "has an array over [0..2, 2..5] at {i = 0}, where its type says [0..2, 0..2]", "a block off the diagonal");
    return;
  }
  OK(run(&w) && same_i64(&w.run.output[0], 5, z), "diag(X + Y) by filter and rekey");
  OK_INT((int64_t)w.run.calls[f->id], 2, "  tuples that stay");
  arena_free(w.arena);
}

/* Cut, put in the other order, laid side by side again. */
static void test_tile(int64_t n, int64_t d) {
  World w = world_new(0, NULL);
  int64_t x[MOST];
  fill(x, n * 3, 1);
  AlgNode *a = input(&w, "X", 0, NULL, 2, DIMS(whole(&w, n), whole(&w, 3)), "");
  AlgNode *t = alg_tile(w.p, w.p->top, a, 1, &d, names_of(&w, 1), DIMS(cut(&w, n, 0, d), whole(&w, 3)));
  const Expr *key[] = {op2(&w, OP_SUB, num(&w, d - 1), var(&w, 0))};
  RelDim back[] = {rel_cut(w.x, n, key[0], d), whole(&w, 3)};
  AlgNode *k = alg_rekey(w.p, w.p->top, t, 1, key, &d, names_of(&w, 1), back);
  AlgNode *c = alg_concat(w.p, w.p->top, k, 0, NULL, DIMS(whole(&w, n), whole(&w, 3)));
  output(&w, "Z", c, 2, I64S(n, 3)), output(&w, "K", k, 2, I64S(n, 3));
  give(&w, "X", DT_I64, 2, I64S(n, 3), x);
  if (d > n) t->type.holes = k->type.holes = true;
  OK(run(&w) && same_i64(&w.run.output[0], n * 3, x), "%lld rows in %lld tiles, rekeyed, laid side by side",
      (long long)n, (long long)d);
  OK(w.ok && same_i64(&w.run.output[1], n * 3, x), "  and an output in blocks");
  OK_INT((int64_t)w.run.calls[t->id], d < n ? d : n, "  pieces that have elements");
  arena_free(w.arena);
}

/* Z[i] = X[i - 1] + X[i + 1], 0 outside, on overlapping tiles. `halo`: how far they overlap; 1 is enough. */
static void test_halo(int64_t halo, bool lazy) {
  World w = world_new(0, NULL);
  int64_t x[10], z[10];
  fill(x, 10, 1);
  for (int64_t i = 0; i < 10; i++) z[i] = (i > 0 ? x[i - 1] : 0) + (i < 9 ? x[i + 1] : 0);
  AlgNode *a = input(&w, "X", 0, NULL, 1, DIMS(whole(&w, 10)), "");
  RelDim c = cut(&w, 10, 0, 3);
  RelDim wide = span(op2(&w, OP_MAX, op2(&w, OP_SUB, c.low, num(&w, halo)), num(&w, 0)),
      op2(&w, OP_MIN, op2(&w, OP_ADD, c.high, num(&w, halo)), num(&w, 10)));
  AlgNode *t = alg_tile(w.p, w.p->top, a, 1, I64S(3), names_of(&w, 1), &wide);
  t->type.dim = arena_copy(w.arena, &wide, sizeof wide);
  const Expr *i = var(&w, 0), *before = op2(&w, OP_SUB, i, num(&w, 1)), *after = op2(&w, OP_ADD, i, num(&w, 1));
  const Expr *l = expr_read(w.x, DT_I64, 0, 1, &before), *r = expr_read(w.x, DT_I64, 0, 1, &after);
  if (lazy)
    l = expr_select(w.x, op2(&w, OP_GT, i, num(&w, 0)), l, num(&w, 0)),
    r = expr_select(w.x, op2(&w, OP_LT, i, num(&w, 9)), r, num(&w, 0));
  AlgNode *s = join(&w, NULL, sum_of(&w, 1, 0, 1, RED_NONE, DT_I64, op2(&w, OP_ADD, l, r)), OPERANDS({t, ON(0), false}),
      &c, 1, I64S(3), NULL);
  output(&w, "Z", s, 1, I64S(10));
  give(&w, "X", DT_I64, 1, I64S(10), x);
  if (halo < 1) {
    fails(&w, "join %2 (X) reads X[3]: index 3 is outside of the block, which has 0..3 in dimension 1, at i = 2",
        "a read past a block without halo");
  } else if (!lazy) {
    fails(&w, "reads X[-1]: index -1 is outside of the block", "a read that nothing holds back");
  } else {
    OK(run(&w) && same_i64(&w.run.output[0], 10, z), "halos: X[i - 1] + X[i + 1]");
    arena_free(w.arena);
  }
}

/* Z[i] = argmax[j,k] X[i,j,k] with j and k cut; `mixed`: the parts come in another order than their places. */
static void test_argmax(bool mixed, Reducer red, const double *x, const char *what) {
  World w = world_new(0, NULL);
  int64_t want[2];
  for (int64_t i = 0; i < 2; i++) {
    int64_t best = 0;
    for (int64_t p = 1; p < 12; p++) {
      double v = x[12 * i + p], b = x[12 * i + best];
      if (!isnan(b) && (isnan(v) || (red == RED_ARGMAX ? v > b : v < b))) best = p;
    }
    want[i] = best;
  }
  const RelDim block[] = {whole(&w, 2), cut(&w, 4, 0, 3), cut(&w, 3, 1, 2)};
  Relation t = relation(&w, DT_F64, 2, I64S(3, 2), 3, block);
  AlgNode *a = alg_input(w.p, name(&w, "X"), &t, NULL);
  AlgNode *j = join(&w, NULL, sum_of(&w, 1, 2, 1, red, DT_F64, get(&w, DT_F64, 0, 3, I64S(0, 1, 2))),
      OPERANDS({a, ON(0, 1), false}), block, 2, I64S(3, 2), NULL);
  const Expr *key[] = {op2(&w, OP_SUB, num(&w, 2), var(&w, 0)), var(&w, 1)};
  if (mixed) j = alg_rekey(w.p, w.p->top, j, 2, key, I64S(3, 2), names_of(&w, 2), block);
  AlgNode *s = alg_aggregate(w.p, w.p->top, j, 0, NULL, red, NULL);
  AlgNode *z = alg_transform(w.p, w.p->top, s, 1, &(AlgFn){.kind = FN_PLACE});
  output(&w, "Z", z, 1, I64S(2));
  give(&w, "X", DT_F64, 3, I64S(2, 4, 3), x);
  OK(run(&w) && same_i64(&w.run.output[0], 2, want), "argmax over cut labels, %s%s", what,
      mixed ? ", parts in another order" : "");
  OK_INT((int64_t)w.run.calls[a->id], 6, "  blocks");
  arena_free(w.arena);
}

static void test_argmaxes(void) {
  static const double ties[24] = {1, 5, 5, 5, 0, 5, 5, 3, 1, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1, 0};
  double nans[24];
  for (int k = 0; k < 24; k++) nans[k] = k % 5 == 3 ? (double)NAN : ties[k];
  for (int t = 0; t < 2; t++) {
    test_argmax(t, RED_ARGMAX, ties, "ties");
    test_argmax(t, RED_ARGMIN, ties, "the least");
    test_argmax(t, RED_ARGMAX, nans, "NaN");
    test_argmax(t, RED_ARGMIN, nans, "the least of NaN");
  }
}

/* Over nothing at some keys alone: no part, until there is one; where there is none at all there is no place. */
static void test_argmax_nothing(bool nothing) {
  World w = world_new(0, NULL);
  int64_t x[6] = {3, 1, 4, 1, 5, 9}, want = 4;
  RelDim c = cut(&w, 6, 0, 3);
  AlgNode *a = input(&w, "X", 1, I64S(3), 1, &c, "");
  EinSum s = *sum_of(&w, 0, 1, 1, RED_ARGMAX, DT_I64, get(&w, DT_I64, 0, 1, I64S(0)));
  s.where = op2(&w, OP_EQ, var(&w, 0), num(&w, nothing ? 7 : 4));
  AlgNode *j = join(&w, NULL, &s, OPERANDS({a, ON(0), false}), &c, 1, I64S(3), NULL);
  AlgNode *g = alg_aggregate(w.p, w.p->top, j, 0, NULL, RED_ARGMAX, NULL);
  output(&w, "Z", alg_transform(w.p, w.p->top, g, 1, &(AlgFn){.kind = FN_PLACE}), 0, NULL);
  give(&w, "X", DT_I64, 1, I64S(6), x);
  if (nothing) {
    fails(&w, "has the place of nothing", "argmax over nothing");
    return;
  }
  OK(run(&w) && same_i64(&w.run.output[0], 1, &want), "argmax over nothing in some blocks");
  arena_free(w.arena);
}

/* A monoid of the user's: #0 + #1 + #0 * #1, which is (1 + #0)(1 + #1) - 1. */
static void test_monoid(void) {
  World w = world_new(0, NULL);
  int64_t x[7] = {1, 2, -4, 3, 1, 0, -3}, want = 1;
  for (int k = 0; k < 7; k++) want *= 1 + x[k];
  want--;
  const Expr *a = expr_param(w.x, DT_I64, 0), *b = expr_param(w.x, DT_I64, 1);
  Monoid m = {name(&w, "grow"), DT_I64, op2(&w, OP_ADD, op2(&w, OP_ADD, a, b), op2(&w, OP_MUL, a, b)), num(&w, 0)};
  RelDim c = cut(&w, 7, 0, 3);
  AlgNode *in = input(&w, "X", 1, I64S(3), 1, &c, "");
  EinSum s = *sum_of(&w, 0, 1, 1, RED_MONOID, DT_I64, get(&w, DT_I64, 0, 1, I64S(0)));
  s.monoid = &m;
  AlgNode *j = join(&w, NULL, &s, OPERANDS({in, ON(0), false}), &c, 1, I64S(3), NULL);
  output(&w, "Z", alg_aggregate(w.p, w.p->top, j, 0, NULL, RED_MONOID, &m), 0, NULL);
  give(&w, "X", DT_I64, 1, I64S(7), x);
  OK(run(&w) && same_i64(&w.run.output[0], 1, &want), "a monoid");
  arena_free(w.arena);
}

/* Each reducer on each kind of dtype, cut in three, and over nothing. */
static void test_reducers(void) {
  static const struct { Reducer red; int64_t want, empty;
  } all[] = {{RED_SUM, 12, 0}, {RED_PROD, -60, 1}, {RED_MAX, 5, INT64_MIN}, {RED_MIN, -1, INT64_MAX},
      {RED_FMAX, 5, INT64_MIN}, {RED_FMIN, -1, INT64_MAX}};
  int64_t x[5] = {3, 4, -1, 5, 1}, got[2];
  for (size_t k = 0; k < COUNT(all); k++) {
    for (int empty = 0; empty < 2; empty++) {
      World w = world_new(0, NULL);
      RelDim c = cut(&w, 5, 0, 3);
      AlgNode *in = input(&w, "X", 1, I64S(3), 1, &c, "");
      EinSum s = *sum_of(&w, 0, 1, 1, all[k].red, DT_I64, get(&w, DT_I64, 0, 1, I64S(0)));
      if (empty) s.where = expr_bool(w.x, false);
      AlgNode *j = join(&w, NULL, &s, OPERANDS({in, ON(0), false}), &c, 1, I64S(3), NULL);
      output(&w, "Z", alg_aggregate(w.p, w.p->top, j, 0, NULL, all[k].red, NULL), 0, NULL);
      give(&w, "X", DT_I64, 1, I64S(5), x);
      got[empty] = run(&w) ? *(const int64_t *)w.run.output[0].data : 77;
      arena_free(w.arena);
    }
    OK_INT(got[0], all[k].want, "%s of cut integers", reducer_info[all[k].red].name);
    OK_INT(got[1], all[k].empty, "  over nothing");
  }
}

/* Floats, in a narrow dtype, with casts behind. */
static void test_floats(void) {
  World w = world_new(0, NULL);
  uint16_t one[9];
  for (int k = 0; k < 9; k++) one[k] = 0x3c00; /* 1.0 as f16 */
  RelDim c = cut(&w, 9, 0, 2);
  Relation t = relation(&w, DT_F16, 1, I64S(2), 1, &c);
  AlgNode *in = alg_input(w.p, name(&w, "X"), &t, NULL);
  const Expr *body = expr_cast(w.x, DT_F32, get(&w, DT_F16, 0, 1, I64S(0)));
  AlgNode *j =
      join(&w, NULL, sum_of(&w, 0, 1, 1, RED_SUM, DT_F32, body), OPERANDS({in, ON(0), false}), &c, 1, I64S(2), NULL);
  AlgNode *s = alg_aggregate(w.p, w.p->top, j, 0, NULL, RED_SUM, NULL);
  output(&w, "Z", alg_transform(w.p, w.p->top, s, 1, &(AlgFn){.kind = FN_CAST, .to = DT_F16}), 0, NULL);
  give(&w, "X", DT_F16, 1, I64S(9), one);
  OK(run(&w) && w.run.output[0].dtype == DT_F16 && *(const uint16_t *)w.run.output[0].data == 0x4880,
      "nine ones in f16 are 9");
  arena_free(w.arena);
}

/* Rows of any length are one after the other: D[i] = X[i] but at one place; Z[i] = D[i], there -7; S and M, the sum of
 * D and where it is most, look at that place under no condition if they are careless. */
static void test_rows(int64_t n, int64_t bad, bool careless) {
  World w = world_new(0, NULL);
  int64_t x[MOST], z[MOST], sum = 0, most = -1;
  fill(x, n, 2);
  for (int64_t i = 0; i < n; i++) {
    z[i] = i == bad ? -7 : x[i];
    if (i != bad) sum += x[i];
    if (i != bad && (most < 0 || x[i] > x[most])) most = i;
  }
  RelDim c = whole(&w, n);
  const Expr *has = op2(&w, OP_NE, var(&w, 0), num(&w, bad)), *read = get(&w, DT_I64, 0, 1, I64S(0));
  EinSum s = *sum_of(&w, 1, 0, 1, RED_NONE, DT_I64, read), add = *sum_of(&w, 0, 1, 1, RED_SUM, DT_I64, read);
  s.domain = has;
  if (!careless) add.where = has;
  EinSum arg = add;
  arg.reducer = RED_ARGMAX;
  AlgNode *d = join(&w, NULL, &s, OPERANDS({input(&w, "X", 0, NULL, 1, &c, ""), NULL, false}), &c, 0, NULL, NULL);
  AlgNode *o = join(&w, NULL, sum_of(&w, 1, 0, 1, RED_NONE, DT_I64, expr_select(w.x, has, read, num(&w, -7))),
      OPERANDS({d, NULL, false}), &c, 0, NULL, NULL);
  AlgNode *m = join(&w, NULL, &arg, OPERANDS({d, NULL, false}), &c, 0, NULL, NULL);
  output(&w, "Z", o, 1, I64S(n)),
      output(&w, "S", join(&w, NULL, &add, OPERANDS({d, NULL, false}), &c, 0, NULL, NULL), 0, NULL);
  output(&w, "M", alg_transform(w.p, w.p->top, m, 1, &(AlgFn){.kind = FN_PLACE}), 0, NULL);
  give(&w, "X", DT_I64, 1, I64S(n), x);
  const char *at =
      arena_printf(w.arena, "reads X[%lld], which has no value, at i = %lld", (long long)bad, (long long)bad);
  if (careless) {
    fails(&w, at, "an element without value, within a row");
    return;
  }
  bool ok = run(&w) && same_i64(&w.run.output[0], n, z) && same_i64(&w.run.output[1], 1, &sum) &&
      (most < 0 || same_i64(&w.run.output[2], 1, &most));
  OK(ok || (most < 0 && strstr(w.why, "the place of nothing")), "rows of %lld, without %lld", (long long)n,
      (long long)bad);
  arena_free(w.arena);
}

/* D[i] = X[i] where i % 3 > 0; Z[i] = D[i] where that has a value, else -7. `careless`: reads it everywhere. */
static void test_domain(bool careless) {
  World w = world_new(0, NULL);
  int64_t x[8], z[8];
  fill(x, 8, 1);
  for (int64_t i = 0; i < 8; i++) z[i] = i % 3 ? x[i] : -7;
  RelDim c = cut(&w, 8, 0, 3);
  AlgNode *in = input(&w, "X", 1, I64S(3), 1, &c, "");
  const Expr *has = op2(&w, OP_GT, op2(&w, OP_MOD, var(&w, 0), num(&w, 3)), num(&w, 0)),
             *read = get(&w, DT_I64, 0, 1, I64S(0));
  EinSum s = *sum_of(&w, 1, 0, 1, RED_NONE, DT_I64, read);
  s.domain = has;
  AlgNode *d = join(&w, NULL, &s, OPERANDS({in, ON(0), false}), &c, 1, I64S(3), NULL);
  const Expr *body = careless ? read : expr_select(w.x, has, read, num(&w, -7));
  AlgNode *o =
      join(&w, NULL, sum_of(&w, 1, 0, 1, RED_NONE, DT_I64, body), OPERANDS({d, ON(0), false}), &c, 1, I64S(3), NULL);
  output(&w, "Z", o, 1, I64S(8)), output(&w, "D", d, 1, I64S(8));
  give(&w, "X", DT_I64, 1, I64S(8), x);
  if (careless) {
    fails(&w, "reads X[0], which has no value, at i = 0", "an element without value");
    return;
  }
  OK(run(&w) && same_i64(&w.run.output[0], 8, z), "a domain, and reads where it has values");
  const uint8_t *mask = w.ok ? w.run.output[1].has : NULL;
  bool same = mask != NULL;
  for (int64_t i = 0; same && i < 8; i++) same = mask[i] == (i % 3 > 0);
  OK(same, "  the output's mask");
  arena_free(w.arena);
}

/* A tuple that a filter took away is an array without values to a join whose kernel need not look. */
static void test_holes(bool look) {
  World w = world_new(0, NULL);
  int64_t x[8], z[8];
  fill(x, 8, 1);
  for (int64_t i = 0; i < 8; i++) z[i] = i < 4 ? x[i] : 0;
  RelDim c = cut(&w, 8, 0, 2);
  AlgNode *in = input(&w, "X", 1, I64S(2), 1, &c, "");
  AlgNode *f = alg_filter(w.p, w.p->top, in, op2(&w, OP_EQ, var(&w, 0), num(&w, 0)));
  const Expr *read = get(&w, DT_I64, 0, 1, I64S(0));
  if (!look) read = expr_select(w.x, op2(&w, OP_LT, var(&w, 0), num(&w, 4)), read, num(&w, 0));
  AlgNode *o =
      join(&w, NULL, sum_of(&w, 1, 0, 1, RED_NONE, DT_I64, read), OPERANDS({f, ON(0), false}), &c, 1, I64S(2), NULL);
  output(&w, "Z", o, 1, I64S(8));
  give(&w, "X", DT_I64, 1, I64S(8), x);
  if (look) {
    fails(&w, "reads X[4], of which there is no tuple, at i = 4", "a tuple that is not there");
    return;
  }
  OK(run(&w) && same_i64(&w.run.output[0], 8, z), "a join with a relation that has holes");
  arena_free(w.arena);
}

/* Where what is wanted has no tuple none is made; `sure`: it does not say that it has holes. */
static void test_wanted(bool sure) {
  World w = world_new(0, NULL);
  int64_t x[8], z[4];
  fill(x, 8, 1);
  for (int64_t i = 0; i < 4; i++) z[i] = 2 * x[i + 4];
  RelDim c = cut(&w, 8, 0, 2);
  AlgNode *in = input(&w, "X", 1, I64S(2), 1, &c, "");
  AlgNode *f = alg_filter(w.p, w.p->top, in, op2(&w, OP_EQ, var(&w, 0), num(&w, 1)));
  const Expr *body = op2(&w, OP_ADD, get(&w, DT_I64, 0, 1, I64S(0)), get(&w, DT_I64, 1, 1, I64S(0)));
  AlgNode *o = join(&w, NULL, sum_of(&w, 1, 0, 2, RED_NONE, DT_I64, body),
      OPERANDS({in, ON(0), true}, {f, ON(0), true}), &c, 1, I64S(2), NULL);
  OK(o->type.holes && o->operand[0].wanted, "a join of what has holes has holes, where that is wanted");
  if (sure) o->type.holes = false;
  AlgNode *r = alg_rekey(w.p, w.p->top, o, 0, NULL, NULL, NULL, DIMS(span(num(&w, 4), num(&w, 8))));
  const Expr *shifted[] = {op2(&w, OP_ADD, var(&w, 0), num(&w, 4))};
  RelDim four = whole(&w, 4);
  output(&w, "Z",
      join(&w, NULL, sum_of(&w, 1, 0, 1, RED_NONE, DT_I64, expr_read(w.x, DT_I64, 0, 1, shifted)),
          OPERANDS({r, NULL, false}), &four, 0, NULL, NULL),
      1, I64S(4));
  give(&w, "X", DT_I64, 1, I64S(8), x);
  if (sure) {
    fails(&w, "has no tuple at {i = 0}", "what is said to have no holes");
    return;
  }
  OK(run(&w) && same_i64(&w.run.output[0], 4, z), "a join of what is wanted");
  OK_INT((int64_t)w.run.calls[o->id], 1, "  makes one tuple of two");
  arena_free(w.arena);
}

/* Merged dimensions lie as they did. */
static void test_merge(void) {
  World w = world_new(0, NULL);
  int64_t x[24];
  fill(x, 24, 1);
  AlgNode *a = input(&w, "X", 1, I64S(2), 3, DIMS(cut(&w, 4, 0, 2), whole(&w, 3), whole(&w, 2)), "");
  AlgFn f = {.kind = FN_MERGE, .n = 2, .merge = (const uint8_t[]){2, 1}};
  output(&w, "Z", alg_transform(w.p, w.p->top, a, 1, &f), 2, I64S(12, 2));
  give(&w, "X", DT_I64, 3, I64S(4, 3, 2), x);
  OK(run(&w) && same_i64(&w.run.output[0], 24, x), "dimensions merged");
  arena_free(w.arena);
}

/* A ring rotated by two: blocks are cut where it ends, shifted to where they are laid. */
static void test_shift(void) {
  World w = world_new(0, NULL);
  int64_t x[5], z[5];
  fill(x, 5, 1);
  AlgNode *a = input(&w, "X", 1, I64S(2), 1, DIMS(cut(&w, 5, 0, 2)), "");
  const Expr *lap = op2(&w, OP_MUL, num(&w, 5), var(&w, 2));
  RelDim block = cut(&w, 5, 1, 2),
         piece = {op2(&w, OP_SUB, op2(&w, OP_ADD, block.low, num(&w, 2)), lap),
             op2(&w, OP_SUB, op2(&w, OP_ADD, block.high, num(&w, 2)), lap)};
  Str key[] = {strings_printf(w.strings, "k"), strings_printf(w.strings, "lap")};
  AlgNode *y = alg_tile(w.p, w.p->top, a, 2, I64S(2, 2), key, &piece);
  y->type.holes = true;
  y = alg_transform(w.p, w.p->top, y, 1, &(AlgFn){.kind = FN_SHIFT, .by = 5, .key = 2});
  RelDim own = cut(&w, 5, 0, 2),
         whole_one = {op2(&w, OP_ADD, own.low, num(&w, 2)), op2(&w, OP_ADD, own.high, num(&w, 2))};
  y = alg_concat(w.p, w.p->top, y, 1, (const uint32_t[]){1}, &whole_one);
  y->type.holes = false;
  const Expr *at = op2(&w, OP_ADD, var(&w, 0), num(&w, 2));
  AlgNode *j = join(&w, NULL, sum_of(&w, 1, 0, 1, RED_NONE, DT_I64, expr_read(w.x, DT_I64, 0, 1, &at)),
      OPERANDS({y, ON(0), false}), &own, 1, I64S(2), NULL);
  output(&w, "Z", j, 1, I64S(5));
  give(&w, "X", DT_I64, 1, I64S(5), x);
  for (int i = 0; i < 5; i++) z[i] = x[(i + 2) % 5];
  OK(run(&w) && same_i64(&w.run.output[0], 5, z), "a ring rotated by two");
  arena_free(w.arena);
}

/* A chain of a hundred thousand additions, and one of 60 doublings of one expression: neither deep nor long to run. */
static void test_deep(void) {
  World w = world_new(0, NULL);
  int64_t x[2] = {1, 2}, z[2];
  RelDim c = whole(&w, 2);
  AlgNode *in = input(&w, "X", 0, NULL, 1, &c, "");
  const Expr *read = get(&w, DT_I64, 0, 1, I64S(0)), *chain = read, *twice = read;
  for (int k = 0; k < 100000; k++) chain = op2(&w, OP_SUB, chain, num(&w, 3));
  for (int k = 0; k < 60; k++) twice = op2(&w, OP_ADD, twice, twice);
  for (int i = 0; i < 2; i++) z[i] = x[i] - 300000 + x[i] * ((int64_t)1 << 60);
  AlgNode *o = join(&w, NULL, sum_of(&w, 1, 0, 1, RED_NONE, DT_I64, op2(&w, OP_ADD, chain, twice)),
      OPERANDS({in, NULL, false}), &c, 0, NULL, NULL);
  output(&w, "Z", o, 1, I64S(2));
  give(&w, "X", DT_I64, 1, I64S(2), x);
  OK(run(&w) && same_i64(&w.run.output[0], 2, z), "a deep expression, and one with much that is shared");
  arena_free(w.arena);
}

/* ---- Ia: products on meshes, their bytes by hand ------------------------------------------------------------ */

static void check_product(
    World *w, int64_t n, AlgNode *z, const AlgNode *const *move, const int64_t *bytes, const char *what) {
  int64_t x[MOST], y[MOST], want[MOST];
  fill(x, n * n, 1), fill(y, n * n, 2), product(n, x, y, want);
  output(w, "Z", z, 2, I64S(n, n));
  give(w, "A", DT_I64, 2, I64S(n, n), x), give(w, "B", DT_I64, 2, I64S(n, n), y);
  OK(run(w) && same_i64(&w->run.output[0], n * n, want), "%s, %lld sites, n = %lld", what,
      (long long)mesh_sites(&w->p->mesh), (long long)n);
  double all = 0;
  for (uint32_t k = 0; k < w->p->n_nodes; k++) all += w->run.moved[k];
  for (int k = 0; k < 2 && move[k]; k++) {
    OK_INT((int64_t)w->run.moved[move[k]->id], bytes[k], "  bytes received");
    all -= (double)bytes[k];
  }
  OK_INT((int64_t)all, 0, "  and no others");
  arena_free(w->arena);
}

/* B goes to all: each of p sites gets what it has not, (p - 1) n*n elements in all. */
static void test_bmm(int64_t n, int64_t p) {
  World w = world_new(1, (const uint32_t[]){(uint32_t)p});
  Placement all = at("*");
  AlgNode *a = input(&w, "A", 1, &p, 2, DIMS(cut(&w, n, 0, p), whole(&w, n)), "0");
  AlgNode *b = input(&w, "B", 1, &p, 2, DIMS(cut(&w, n, 0, p), whole(&w, n)), "0");
  AlgNode *m = alg_move(w.p, w.p->top, b, &all);
  AlgNode *j = join(&w, NULL, product_sum(&w), OPERANDS({a, ON(0), false}, {m, ON(1), false}),
      DIMS(cut(&w, n, 0, p), whole(&w, n), cut(&w, n, 1, p)), 2, I64S(p, p), NULL);
  AlgNode *z = alg_aggregate(w.p, w.p->top, j, 1, (const uint32_t[]){0}, RED_SUM, NULL);
  OK(alg_is_broadcast(w.p, m) && j->at.on[0] == 0 && z->at.on[0] == 0, "broadcast based: all that is joined is local");
  check_product(&w, n, z, (const AlgNode *const[]){m, NULL}, I64S((p - 1) * n * n * 8), "BMM");
}

/* Both cut along k: each site has a part of all of the result; of the p - 1 others' parts each site gets its rows. */
static void test_cmm(int64_t n, int64_t p) {
  World w = world_new(1, (const uint32_t[]){(uint32_t)p});
  Placement rows = at("0");
  AlgNode *a = input(&w, "A", 1, &p, 2, DIMS(whole(&w, n), cut(&w, n, 0, p)), "0");
  AlgNode *b = input(&w, "B", 1, &p, 2, DIMS(cut(&w, n, 0, p), whole(&w, n)), "0");
  AlgNode *j = join(&w, NULL, product_sum(&w), OPERANDS({a, ON(0), false}, {b, ON(0), false}),
      DIMS(whole(&w, n), whole(&w, n), cut(&w, n, 0, p)), 1, &p, NULL);
  AlgNode *part = alg_aggregate(w.p, w.p->top, j, 0, NULL, RED_SUM, NULL);
  AlgNode *t = alg_tile(w.p, w.p->top, part, 1, &p, names_of(&w, 1), DIMS(cut(&w, n, 0, p), whole(&w, n)));
  AlgNode *m = alg_move(w.p, w.p->top, t, &rows);
  AlgNode *z = alg_aggregate(w.p, w.p->top, m, 1, (const uint32_t[]){0}, RED_SUM, NULL);
  OK(part->at.on[0] == PLACE_PART && z->at.on[0] == 0, "cross product based: parts, then rows");
  check_product(&w, n, z, (const AlgNode *const[]){m, NULL}, I64S((p - 1) * n * n * 8), "CMM");
}

/* A grid: rows of A go along the second axis, columns of B along the first. */
static void test_rmm(int64_t n, int64_t p, int64_t q) {
  World w = world_new(2, (const uint32_t[]){(uint32_t)p, (uint32_t)q});
  Placement rows = at("0 *"), columns = at("* 1");
  const RelDim grid[] = {cut(&w, n, 0, p), cut(&w, n, 1, q), whole(&w, n)};
  AlgNode *a = input(&w, "A", 2, I64S(p, q), 2, grid, "0 1"), *b = input(&w, "B", 2, I64S(p, q), 2, grid, "0 1");
  AlgNode *ma = alg_move(w.p, w.p->top, a, &rows), *mb = alg_move(w.p, w.p->top, b, &columns);
  AlgNode *ra = alg_concat(w.p, w.p->top, ma, 1, (const uint32_t[]){0}, DIMS(cut(&w, n, 0, p), whole(&w, n)));
  AlgNode *cb = alg_concat(w.p, w.p->top, mb, 1, (const uint32_t[]){1}, DIMS(whole(&w, n), cut(&w, n, 0, q)));
  AlgNode *z =
      join(&w, NULL, product_sum(&w), OPERANDS({ra, ON(0), false}, {cb, ON(1), false}), grid, 2, I64S(p, q), NULL);
  OK(z->at.on[0] == 0 && z->at.on[1] == 1, "replication based: a grid");
  check_product(&w, n, z, (const AlgNode *const[]){ma, mb}, I64S((q - 1) * n * n * 8, (p - 1) * n * n * 8), "RMM");
}

/* On three axes: i, j and k are cut; the parts along the third are reduced to all. */
static void test_reduce_all(int64_t n) {
  World w = world_new(2, (const uint32_t[]){2, 3});
  Placement all = at("0 *");
  AlgNode *a = input(&w, "A", 2, I64S(2, 3), 2, DIMS(cut(&w, n, 0, 2), cut(&w, n, 1, 3)), "0 1");
  AlgNode *b = input(&w, "B", 1, I64S(3), 2, DIMS(cut(&w, n, 0, 3), whole(&w, n)), "* 0");
  AlgNode *j = join(&w, NULL, product_sum(&w), OPERANDS({a, ON(0, 1), false}, {b, ON(1), false}),
      DIMS(cut(&w, n, 0, 2), whole(&w, n), cut(&w, n, 1, 3)), 2, I64S(2, 3), NULL);
  AlgNode *s = alg_aggregate(w.p, w.p->top, j, 1, (const uint32_t[]){0}, RED_SUM, NULL);
  AlgNode *m = alg_move(w.p, w.p->top, s, &all);
  AlgNode *z = alg_aggregate(w.p, w.p->top, m, 1, (const uint32_t[]){0}, RED_SUM, NULL);
  OK(s->at.on[0] == 0 && s->at.on[1] == PLACE_PART && z->at.on[1] == PLACE_ALL, "parts along one axis of two");
  /* 6 sites, 2 parts of n*n/2 each */
  check_product(&w, n, z, (const AlgNode *const[]){m, NULL}, I64S(3 * 2 * n * n * 8), "parts sent to all");
}

/* Z[i] = sum[k,l] X[i,k,l], k and l cut along an axis each: parts along both, which are reduced along one after the
 * other. */
static void test_two_steps(int64_t n) {
  World w = world_new(2, (const uint32_t[]){2, 3});
  int64_t x[MOST], z[MOST];
  Placement shares = at("0 +"), all = at("0 *");
  fill(x, n * 30, 1);
  for (int64_t i = 0; i < n; i++) {
    z[i] = 0;
    for (int64_t k = 0; k < 30; k++) z[i] += x[30 * i + k];
  }
  const RelDim block[] = {whole(&w, n), cut(&w, 5, 0, 2), cut(&w, 6, 1, 3)};
  AlgNode *in = input(&w, "X", 2, I64S(2, 3), 3, block, "0 1");
  AlgNode *j = join(&w, NULL, sum_of(&w, 1, 2, 1, RED_SUM, DT_I64, get(&w, DT_I64, 0, 3, I64S(0, 1, 2))),
      OPERANDS({in, ON(0, 1), false}), block, 2, I64S(2, 3), NULL);
  AlgNode *parts = alg_aggregate(w.p, w.p->top, j, 0, NULL, RED_SUM, NULL);
  AlgNode *t = alg_tile(w.p, w.p->top, parts, 1, I64S(2), names_of(&w, 1), DIMS(cut(&w, n, 0, 2)));
  AlgNode *first = alg_move(w.p, w.p->top, t, &shares);
  AlgNode *less = alg_aggregate(w.p, w.p->top, first, 1, (const uint32_t[]){0}, RED_SUM, NULL);
  AlgNode *second = alg_move(w.p, w.p->top, less, &all);
  AlgNode *s = alg_aggregate(w.p, w.p->top, second, 1, (const uint32_t[]){0}, RED_SUM, NULL);
  output(&w, "Z", s, 1, I64S(n));
  give(&w, "X", DT_I64, 3, I64S(n, 5, 6), x);
  OK(run(&w) && same_i64(&w.run.output[0], n, z), "parts along two axes, reduced in two steps");
  OK_INT(
      (int64_t)w.run.moved[first->id], 3 * n * 8, "  bytes along the first axis: each of three pairs changes halves");
  OK_INT((int64_t)w.run.moved[second->id], 2 * 3 * n * 8,
      "  and along the second: each of 6 sites gets two parts of its half");
  OK_INT((int64_t)w.run.calls[second->id], 18, "  tuples then, three a site");
  arena_free(w.arena);
}

/* What a rekey gives one key at several sites are parts there: moved together, none is taken for a copy of another. */
static void test_rekeyed_parts(void) {
  World w = world_new(1, (const uint32_t[]){3});
  int64_t x[3] = {1, 1, 5}, want = 7;
  Placement all = at("*");
  RelDim one = cut(&w, 3, 0, 3);
  AlgNode *in = input(&w, "X", 1, I64S(3), 1, &one, "0");
  AlgNode *j = join(&w, NULL, sum_of(&w, 0, 1, 1, RED_SUM, DT_I64, get(&w, DT_I64, 0, 1, I64S(0))),
      OPERANDS({in, ON(0), false}), &one, 1, I64S(3), NULL);
  AlgNode *k = alg_rekey(w.p, w.p->top, j, 0, NULL, NULL, NULL, NULL);
  AlgNode *m = alg_move(w.p, w.p->top, k, &all);
  output(&w, "Z", alg_aggregate(w.p, w.p->top, m, 0, NULL, RED_SUM, NULL), 0, NULL);
  give(&w, "X", DT_I64, 1, I64S(3), x);
  OK(k->at.on[0] == PLACE_PART && run(&w) && same_i64(&w.run.output[0], 1, &want), "a rekey that leaves parts");
  OK_INT((int64_t)w.run.moved[m->id], 3 * 2 * 8, "  all of which move");
  arena_free(w.arena);
}

/* More blocks than sites, and fewer. */
static void test_other_frontiers(int64_t blocks, int64_t sites) {
  World w = world_new(1, (const uint32_t[]){(uint32_t)sites});
  int64_t x[12], bytes = 0;
  Placement all = at("*"), one = at("0");
  fill(x, 12, 1);
  AlgNode *a = input(&w, "X", 1, &blocks, 1, DIMS(cut(&w, 12, 0, blocks)), "0");
  AlgNode *m = alg_move(w.p, w.p->top, a, &all), *back = alg_move(w.p, w.p->top, m, &one);
  output(&w, "Y", m, 1, I64S(12)), output(&w, "Z", back, 1, I64S(12));
  give(&w, "X", DT_I64, 1, I64S(12), x);
  OK(run(&w) && same_i64(&w.run.output[0], 12, x) && same_i64(&w.run.output[1], 12, x), "%lld blocks on %lld sites",
      (long long)blocks, (long long)sites);
  bytes = (sites - 1) * 12 * 8;
  OK_INT((int64_t)w.run.moved[m->id], bytes, "  bytes to all");
  OK_INT((int64_t)w.run.moved[back->id], 0, "  and none back: the copies are dropped");
  arena_free(w.arena);
}

/* ---- repeats ----------------------------------------------------------------------------------------------- */

/* x = x + t each turn, cut over the sites; stop after turn `last`; x is stacked behind its first dimension. */
static void test_repeat(int64_t bound, int64_t last) {
  World w = world_new(1, (const uint32_t[]){2});
  int64_t x[4] = {1, 2, 3, 4}, z[4], stack[20], made = 0;
  memset(stack, 0, sizeof stack);
  memcpy(z, x, sizeof x);
  for (bool stop = false; made < bound && !stop; made++) {
    for (int i = 0; i < 4; i++) z[i] += made, stack[5 * i + made] = z[i];
    stop = made == last;
  }
  RelDim c = cut(&w, 4, 0, 2);
  AlgNode *in = input(&w, "X", 1, I64S(2), 1, &c, "0"), *turns = input(&w, "N", 0, NULL, 0, NULL, "*");
  AlgNode *s = repeat_new(&w, in, turns, 5);
  AlgRegion *g = s->region;
  const Expr *t = expr_turn(w.x, 0), *read = get(&w, DT_I64, 0, 1, I64S(0));
  AlgNode *next = join(&w, g, sum_of(&w, 1, 0, 1, RED_NONE, DT_I64, op2(&w, OP_ADD, read, t)),
      OPERANDS({s, ON(0), false}), &c, 1, I64S(2), NULL);
  EinSum at_last = *sum_of(&w, 0, 0, 0, RED_NONE, DT_BOOL, op2(&w, OP_EQ, t, num(&w, last)));
  g->stop = join(&w, g, &at_last, NULL, NULL, 0, NULL, NULL);
  vec_push(w.arena, g->states, ((AlgState){s, in, next}));
  vec_push(w.arena, g->stacks, ((AlgStack){name(&w, "xs"), next, 1}));
  AlgNode *result[3];
  for (int k = 0; k < 3; k++) result[k] = repeat_result(&w, (AlgKind)(ALG_FINAL + k), s->repeat, in);
  result[1]->type = relation(&w, DT_I64, 1, I64S(2), 2, DIMS(c, whole(&w, 5)));
  result[2]->type = relation(&w, DT_I64, 0, NULL, 0, NULL);
  result[2]->at = at("*");
  output(&w, "Z", result[0], 1, I64S(4)), output(&w, "S", result[1], 2, I64S(4, 5)),
      output(&w, "T", result[2], 0, NULL);
  give(&w, "X", DT_I64, 1, I64S(4), x), give(&w, "N", DT_I64, 0, NULL, &bound);
  OK(run(&w) && same_i64(&w.run.output[0], 4, z), "a repeat, %lld turns: the state", (long long)made);
  OK(w.ok && same_i64(&w.run.output[1], 20, stack), "  the stack");
  OK(w.ok && same_i64(&w.run.output[2], 1, &made), "  the turns");
  OK_INT((int64_t)w.run.calls[next->id], made * 2, "  tuples a turn and site");
  arena_free(w.arena);
}

int main(void) {
  test_square(4, 2);
  test_square(5, 3);
  test_square(3, 1);
  test_diagonal(true);
  test_diagonal(false);
  test_tile(8, 4);
  test_tile(7, 3);
  test_tile(2, 4);
  for (int64_t halo = 0; halo < 3; halo++) test_halo(halo, true);
  test_halo(1, false);
  test_argmaxes();
  test_argmax_nothing(false);
  test_argmax_nothing(true);
  test_monoid();
  test_reducers();
  test_floats();
  test_domain(false);
  test_domain(true);
  for (int64_t k = 0; k < 7; k++) {
    int64_t n = I64S(1, 3, 31, 32, 33, 64, 100)[k];
    test_rows(n, 0, false), test_rows(n, n / 2, false), test_rows(n, n - 1, false), test_rows(n, n - 1, true),
        test_rows(n, n, false);
  }
  test_holes(false);
  test_holes(true);
  test_wanted(false);
  test_wanted(true);
  test_merge();
  test_shift();
  test_deep();
  for (int64_t n = 6; n < 13; n += 5) {
    for (int64_t p = 1; p < 5; p++) test_bmm(n, p), test_cmm(n, p);
    test_rmm(n, 2, 2), test_rmm(n, 2, 3), test_rmm(n, 3, 1), test_rmm(n, 1, 2);
  }
  test_reduce_all(12);
  test_two_steps(12);
  test_two_steps(7);
  test_rekeyed_parts();
  test_other_frontiers(6, 2);
  test_other_frontiers(2, 4);
  test_other_frontiers(5, 3);
  test_repeat(5, 2);
  test_repeat(3, 9);
  test_repeat(0, 0);
  return DONE();
}
