/* tests/eval/test_reduce.c - graph_eval: every reducer in its dtypes, over nothing, under predicates; NaN,
 * infinities and ties; the accuracy and the fixed shape of pairwise sums. */
#include "eval_test.h"

#define INF  ((double)INFINITY)

/* Z[] = reducer:acc[j:n where j != skip] X[j], Z of dtype out. */
static void reduce(Trial *t, const char *red, DType acc, DType out, int64_t n, const double *x, int64_t skip) {
  const char *a = dtype_name(acc), *o = dtype_name(out);
  *t = trial();
  give(t, "X", acc, 1, &n, n, x);
  try(t, arena_printf(t->arena,
                      "input %%0 X[%lld] : %s\nvertex %%1 Z[] : %s = %s:%s[j:%lld where (j != %lld)] %%0[j]\n"
                      "output Z = %%1\n",
                      (long long)n, a, o, red, a, (long long)n, (long long)skip));
}

static void gives_one(const char *red, DType t, int64_t n, const double *x, int64_t skip, double want) {
  Trial r;
  bool place = red[0] == 'a' && red[1] == 'r';
  reduce(&r, red, t, place ? DT_I64 : t, n, x, skip);
  gives(&r, 0, 1, &want, arena_printf(r.arena, "%s:%s of %lld", red, dtype_name(t), (long long)n));
  trial_end(&r);
}

static void test_reals(void) {
  static const DType reals[] = {DT_F64, DT_F32, DT_F16, DT_BF16};
  for (size_t k = 0; k < COUNT(reals); k++) {
    DType t = reals[k];
    gives_one("sum", t, VALUES(1, 2, 3, 4, 5), -1, 15);
    gives_one("sum", t, VALUES(1, 2, 3, 4, 5), 1, 13);
    gives_one("sum", t, VALUES(INF, 1, -INF), -1, (double)NAN);
    gives_one("prod", t, VALUES(1, 2, 3, 4, 5), -1, 120);
    gives_one("max", t, VALUES(-5, -2, -INF), -1, -2);
    gives_one("max", t, VALUES(-5, NAN, 7), -1, (double)NAN);
    gives_one("max", t, VALUES(-5, NAN, 7), 1, 7);
    gives_one("min", t, VALUES(5, 2, INF), -1, 2);
    gives_one("min", t, VALUES(5, 2, NAN), -1, (double)NAN);
    gives_one("fmax", t, VALUES(NAN, 1, NAN, 3), -1, 3);
    gives_one("fmin", t, VALUES(NAN, 1, NAN, 3), -1, 1);
    gives_one("fmax", t, VALUES(NAN, NAN), -1, -INF);
    gives_one("argmax", t, VALUES(1, 3, 2, 3), -1, 1);
    gives_one("argmax", t, VALUES(1, 3, 2, 3), 1, 3);
    gives_one("argmin", t, VALUES(2, 1, 1, 3), -1, 1);
    gives_one("argmax", t, VALUES(1, NAN, 9, NAN), -1, 1);
    gives_one("argmin", t, VALUES(1, NAN, -9, NAN), -1, 1);
    gives_one("argmax", t, VALUES(-INF, -INF), -1, 0);
    gives_one("argmax", t, VALUES(-INF, -INF), 0, 1);
    gives_one("argmin", t, VALUES(INF, INF), -1, 0);
    gives_one("logsumexp", t, VALUES(-INF, -INF), -1, -INF);
    gives_one("logsumexp", t, VALUES(INF, 1), -1, INF);
    gives_one("logsumexp", t, VALUES(3, -INF, -INF), -1, 3);
    gives_one("logsumexp", t, VALUES(3, NAN, -INF), -1, (double)NAN);
  }
}

static void test_nothing(void) {
  static const struct { const char *red; DType t; double want; } table[] = {
    {"sum", DT_F32, 0},      {"prod", DT_F32, 1},      {"max", DT_F32, -INF},     {"min", DT_F16, INF},
    {"fmax", DT_F64, -INF},  {"fmin", DT_F64, INF},    {"logsumexp", DT_F32, -INF}, {"sum", DT_I64, 0},
    {"prod", DT_I64, 1},     {"max", DT_I8, -128},     {"min", DT_I8, 127},       {"max", DT_U8, 0},
    {"min", DT_U8, 255},     {"max", DT_I16, -32768},  {"min", DT_I16, 32767},    {"max", DT_I32, -2147483648.0},
    {"min", DT_I32, 2147483647}, {"max", DT_I64, -0x1p63}, {"min", DT_I64, 0x1p63}, {"any", DT_BOOL, 0},
    {"all", DT_BOOL, 1},
  };
  for (size_t k = 0; k < COUNT(table); k++) {
    gives_one(table[k].red, table[k].t, VALUES(1), 0, table[k].want);
    gives_one(table[k].red, table[k].t, NOTHING, 0, table[k].want);
  }
  Trial t;
  reduce(&t, "argmax", DT_F32, DT_I64, VALUES(1), 0);
  fails(&t, EVAL_RANGE, "argmax of Z over nothing", "argmax over nothing");
  trial_end(&t);
  t = trial();
  give(&t, "X", DT_F32, SHAPE(3), VALUES(5, 7, 6));
  try(&t, "input %0 X[3] : f32\n"
          "vertex %1 Z[n:4] : i64 = argmax:f32[j:3 where (j < n)] %0[j] domain (0 < n)\n"
          "output Z = %1\n");
  gives(&t, 0, VALUES(NAN, 0, 1, 1), "a domain keeps argmax from nothing");
  trial_end(&t);
}

static void test_integers(void) {
  static const DType ints[] = {DT_I64, DT_I32, DT_I16, DT_I8, DT_U8};
  for (size_t k = 0; k < COUNT(ints); k++) {
    gives_one("sum", ints[k], VALUES(1, 2, 3, 4, 5), 0, 14);
    gives_one("prod", ints[k], VALUES(1, 2, 3, 4, 5), -1, 120);
    gives_one("max", ints[k], VALUES(4, 9, 2), -1, 9);
    gives_one("fmin", ints[k], VALUES(4, 9, 2), -1, 2);
    gives_one("argmax", ints[k], VALUES(4, 9, 9), -1, 1);
    gives_one("argmin", ints[k], VALUES(4, 2, 2), -1, 1);
  }
  gives_one("sum", DT_I8, VALUES(100, 100, 100), -1, 44);
  gives_one("sum", DT_U8, VALUES(200, 100), -1, 44);
  gives_one("prod", DT_I64, VALUES(0x1p62, 2, 2), -1, 0);
  gives_one("sum", DT_I64, VALUES(0x1p62, 0x1p62), -1, -0x1p63);
  gives_one("any", DT_BOOL, VALUES(0, 0, 1), -1, 1);
  gives_one("any", DT_BOOL, VALUES(0, 0, 1), 2, 0);
  gives_one("all", DT_BOOL, VALUES(1, 0, 1), -1, 0);
  gives_one("all", DT_BOOL, VALUES(1, 0, 1), 1, 1);
}

/* The accumulator's dtype counts until the one rounding at the end. */
static void test_rounding(void) {
  Trial t = trial();
  give(&t, "X", DT_F16, SHAPE(3), VALUES(2048, 1, 1));
  try(&t, "input %0 X[3] : f16\n"
          "vertex %1 A[] : f16 = sum:f32[i:3] f32(%0[i])\n"
          "vertex %2 B[] : f16 = sum:f16[i:3] %0[i]\n"
          "vertex %3 C[] : f16 = map:f32[] (f32(%0[0]) + 1.0:f32)\n"
          "vertex %4 D[] : f32 = map:f32[] (f32(%0[0]) + 1.0:f32)\n"
          "vertex %5 E[] : bf16 = sum:f64[i:3] (f64(%0[i]) / 3.0)\n"
          "output A = %1\noutput B = %2\noutput C = %3\noutput D = %4\noutput E = %5\n");
  gives(&t, 0, VALUES(2050), "f16 summed in f32");
  gives(&t, 1, VALUES(2048), "f16 summed in f16");
  gives(&t, 2, VALUES(2048), "a map rounds once");
  gives(&t, 3, VALUES(2049), "f32 keeps it");
  gives(&t, 4, VALUES(684), "f64 to bf16");
  trial_end(&t);
}

static void test_pairwise(void) {
  Trial t = trial();
  try(&t, "vertex %0 S[] : f32 = sum:f32[i:1000000] 0.10000000149011612:f32\n"
          "vertex %1 B[] : bf16 = sum:f32[i:1000000] 0.10000000149011612:f32\n"
          "vertex %2 M[] : f32 = sum:f32[i:1000, j:1000 where (((i * 1000) + j) < 3)] f32((j + 1))\n"
          "output S = %0\noutput B = %1\noutput M = %2\n");
  double got = eval_real(&t.eval.output[0], 0), want = 1e6 * (double)0.1f;
  if (!OK(fabs(got - want) < 1e-7 * want * 3, "a million f32 tenths")) printf("# %.10g, want %.10g\n", got, want);
  gives(&t, 2, VALUES(6), "points that are skipped do not count");
  trial_end(&t);

  static const float x[7] = {1e8f, 1, -1e8f, 1, 3, 0x1p-20f, 1e7f};
  float tree = 0 + x[0] + x[1];
  tree = tree + (x[2] + x[3]);
  tree = tree + ((x[4] + x[5]) + x[6]);
  t = trial();
  EvalArray *a = give(&t, "X", DT_F32, SHAPE(7), VALUES(0));
  memcpy(a->data, x, sizeof x);
  try(&t, "input %0 X[7] : f32\nvertex %1 Z[] : f32 = sum:f32[i:7] %0[i]\noutput Z = %1\n");
  gives(&t, 0, VALUES((double)tree), "the tree is the one promised");
  trial_end(&t);
}

static void test_several(void) {
  Trial t = trial();
  give(&t, "A", DT_F64, SHAPE(2, 3), VALUES(1, 2, 3, 4, 5, 6));
  give(&t, "B", DT_F64, SHAPE(3, 2), VALUES(1, 2, 3, 4, 5, 6));
  try(&t, "input %0 A[2, 3] : f64\ninput %1 B[3, 2] : f64\n"
          "vertex %2 C[i:2, k:2] : f64 = sum:f64[j:3] (%0[i, j] * %1[j, k])\n"
          "vertex %3 P[] : i64 = argmax:f64[j:3, i:2] %0[i, j]\n"
          "vertex %4 L[] : f64 = logsumexp:f64[i:2, j:3] log(%0[i, j])\n"
          "vertex %5 N[i:2] : f64 = sum:f64[] %0[i, 1]\n"
          "vertex %6 W[i:2] : f64 = sum:f64[where (i == 1)] %0[i, 1]\n"
          "vertex %7 D[i:2] : f64 = sum:f64[j:3] %0[i, (j + (3 * (i // 1)))] domain (i < 1)\n"
          "output C = %2\noutput P = %3\noutput L = %4\noutput N = %5\noutput W = %6\noutput D = %7\n");
  gives(&t, 0, VALUES(22, 28, 49, 64), "a matrix product");
  gives(&t, 1, VALUES(5), "argmax over two labels is row-major");
  OK(fabs(eval_real(&t.eval.output[2], 0) - log(21)) < 1e-14, "logsumexp");
  gives(&t, 3, VALUES(2, 5), "a reducer over no labels");
  gives(&t, 4, VALUES(0, 5), "with a predicate");
  gives(&t, 5, VALUES(6, NAN), "nothing is reduced outside of the domain");
  trial_end(&t);
}

static void test_monoids(void) {
  static const char text[] =
      "dim N\n"
      "monoid far:f32 = select((abs(#0) < abs(#1)), #1, #0) identity 0.0:f32\n"
      "monoid sq:i32 = ((#0 + #1) + (#0 * #1)) identity 0:i32\n"
      "monoid big:i64 = max(#0, #1) identity (0 - $N)\n"
      "input %0 X[5] : f32\n"
      "vertex %1 F[] : f32 = far:f32[i:5] %0[i]\n"
      "vertex %2 G[] : f32 = far:f32[i:5 where (i < 0)] %0[i]\n"
      "vertex %3 S[] : i32 = sq:i32[i:5] i32(i)\n"
      "vertex %4 B[] : i64 = big:i64[i:5] (-10 - i)\n"
      "output F = %1\noutput G = %2\noutput S = %3\noutput B = %4\n";
  Trial t = trial();
  give(&t, "X", DT_F32, SHAPE(5), VALUES(1, 2, 3, 4, -7));
  try(&t, text);
  fails(&t, EVAL_MISSING, "N", "a monoid over a dim");
  size(&t, "N", 4);
  try(&t, text);
  gives(&t, 0, VALUES(-7), "a monoid");
  gives(&t, 1, VALUES(0), "over nothing");
  gives(&t, 2, VALUES(119), "over integers");
  gives(&t, 3, VALUES(-4), "its identity takes part");
  trial_end(&t);
}

int main(void) {
  test_reals();
  test_nothing();
  test_integers();
  test_rounding();
  test_pairwise();
  test_several();
  test_monoids();
  return DONE();
}
