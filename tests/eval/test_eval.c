/* tests/eval/test_eval.c - graph_eval: maps, reads, domains, shapes, inputs, checks, asserts, randomness. */
#include "eval_test.h"

static void test_maps(void) {
  Trial t = trial();
  give(&t, "X", DT_F32, SHAPE(2, 3), VALUES(1, 2, 3, 4, 5, 6));
  try(&t, "input %0 X[2, 3] : f32\n"
          "vertex %1 Z[j:3, i:2] : f32 = (%0[i, j] * 2.0:f32)\n"
          "vertex %2 D[i:2] : f32 = %0[i, i]\n"
          "vertex %3 S[] : f32 = %0[1, 2]\n"
          "vertex %4 L[i:2, j:3] : i64 = ((10 * i) + j)\n"
          "vertex %5 E[i:0, j:3] : i64 = j\n"
          "vertex %6 A[i:2, j:3] : f32 = select(((i == 1) and (j < 2)), %0[i, (j + 1)], -1.0:f32)\n"
          "output Z = %1\noutput D = %2\noutput S = %3\noutput L = %4\noutput E = %5\noutput A = %6\n");
  gives(&t, 0, VALUES(2, 8, 4, 10, 6, 12), "a transposed map");
  gives(&t, 1, VALUES(1, 5), "a diagonal");
  gives(&t, 2, VALUES(6), "a scalar");
  gives(&t, 3, VALUES(0, 1, 2, 10, 11, 12), "labels as numbers");
  gives(&t, 4, NOTHING, "no points");
  gives(&t, 5, VALUES(-1, -1, -1, 5, 6, -1), "select reads only where it must");
  OK(t.eval.output[0].rank == 2 && t.eval.output[0].shape[0] == 3, "its shape");
  trial_end(&t);
}

static void test_merge(void) {
  Trial t = trial();
  give(&t, "O", DT_I32, SHAPE(2, 2, 3), VALUES(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11));
  size(&t, "H", 2);
  try(&t, "dim H\n"
          "input %0 O[2, $H, 3] : i32\n"
          "vertex %1 Y[s:2, (d:3 h:$H)] : i32 = %0[s, h, d]\n"
          "vertex %2 B[s:2, h:$H, d:3] : i32 = %1[s, ((d * $H) + h)]\n"
          "output Y = %1\noutput B = %2\n");
  gives(&t, 0, VALUES(0, 3, 1, 4, 2, 5, 6, 9, 7, 10, 8, 11), "merged labels are row-major");
  OK(t.eval.output[0].rank == 2 && t.eval.output[0].shape[1] == 6, "shape of a merge");
  gives(&t, 1, VALUES(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11), "a split");
  trial_end(&t);
}

static void test_domains(void) {
  const char *text = "input %0 X[4] : f64\n"
                     "vertex %1 P[i:4] : f64 = %0[(i - 1)] domain (1 <= i)\n"
                     "vertex %2 Q[i:4] : f64 = select((2 <= i), %1[i], 9.0)\n"
                     "vertex %3 R[i:4] : f64 = %1[i] @\"f.ein\":7:3\n";
  Trial t = trial();
  give(&t, "X", DT_F64, SHAPE(4), VALUES(1, 2, 3, 4));
  try(&t, arena_printf(t.arena, "%soutput P = %%1\noutput Q = %%2\n", text));
  gives(&t, 0, VALUES(NAN, 1, 2, 3), "a domain");
  gives(&t, 1, VALUES(9, 9, 2, 3), "reads where there are values");
  OK(t.eval.output[0].has && !t.eval.output[1].has, "has");
  try(&t, arena_printf(t.arena, "%soutput R = %%3\n", text));
  fails(&t, EVAL_RANGE, "R reads P[0]|no value|i = 0|f.ein:7:3", "a read of what has no value");
  OK(t.place.line == 7 && t.place.column == 3, "place");
  try(&t, "input %0 X[4] : f64\n"
          "vertex %1 W[i:4] : f64 = %0[i] domain (i < 4)\n"
          "output W = %1\n");
  OK(t.status == EVAL_OK && !t.eval.output[0].has, "a domain that holds everywhere leaves no mask");
  trial_end(&t);
}

static void test_range(void) {
  const char *text = "input %0 X[2, 5] : f32\ninput %1 K[3] : i64\n"
                     "vertex %2 Z[s:2, t:3] : f32 = %0[s, %1[t]] @\"a.ein\":3:1\noutput Z = %2\n";
  Trial t = trial();
  give(&t, "X", DT_F32, SHAPE(2, 5), VALUES(0, 1, 2, 3, 4, 5, 6, 7, 8, 9));
  EvalArray *k = give(&t, "K", DT_I64, SHAPE(3), VALUES(4, 0, 2));
  try(&t, text);
  gives(&t, 0, VALUES(4, 0, 2, 9, 5, 7), "a gather");
  ((int64_t *)k->data)[2] = 5;
  try(&t, text);
  fails(&t, EVAL_RANGE, "Z reads X[0, 5]|index 5|dimension 2|size is 5|s = 0, t = 2|a.ein:3:1", "beyond the end");
  ((int64_t *)k->data)[1] = -1;
  try(&t, text);
  fails(&t, EVAL_RANGE, "X[0, -1]|index -1|t = 1", "negative indices are out of range");
  try(&t, "input %0 X[2, 5] : f32\ninput %1 K[3] : i64\n"
          "vertex %2 Z[] : f32 = sum:f32[t:3 where (%0[0, %1[t]] < 2.0:f32)] 1.0:f32\noutput Z = %2\n");
  fails(&t, EVAL_RANGE, "X[0, -1]|t = 1", "in a predicate");
  try(&t, "input %0 X[2, 5] : f32\ninput %1 K[3] : i64\n"
          "vertex %2 Z[] : f32 = sum:f32[t:3 where ((0 <= %1[t]) and (%1[t] < 5))] %0[1, %1[t]]\noutput Z = %2\n");
  gives(&t, 0, VALUES(9), "a predicate keeps reads inside");
  trial_end(&t);
}

static void test_inputs(void) {
  const char *text = "dim N\ninput %0 X[$N, 3] : f32\nvertex %1 Z[i:$N] : f32 = %0[i, 2]\noutput Z = %1\n";
  Trial t = trial();
  try(&t, text);
  fails(&t, EVAL_MISSING, "size|N", "a dim is missing");
  size(&t, "N", 2);
  try(&t, text);
  fails(&t, EVAL_MISSING, "X|not given", "an input is missing");
  EvalArray *x = give(&t, "X", DT_F32, SHAPE(2, 3), VALUES(1, 2, 3, 4, 5, 6));
  try(&t, text);
  gives(&t, 0, VALUES(3, 6), "an input");
  x->shape[0] = 3;
  try(&t, text);
  fails(&t, EVAL_SHAPE, "dimension 1 of input X|N = 2|3", "wrong shape");
  x->shape[0] = 2;
  x->dtype = DT_I32;
  try(&t, text);
  fails(&t, EVAL_SHAPE, "X|f32|i32", "wrong dtype");
  x->dtype = DT_F32;
  x->rank = 1;
  try(&t, text);
  fails(&t, EVAL_SHAPE, "X|[2, 3]|[2]", "wrong rank");
  x->rank = 2;
  t.dim[0].value = -1;
  try(&t, text);
  fails(&t, EVAL_SHAPE, "N|-1", "a negative dim");
  trial_end(&t);

  t = trial();
  size(&t, "N", 0);
  give(&t, "X", DT_F32, SHAPE(0, 3), NOTHING);
  try(&t, text);
  gives(&t, 0, NOTHING, "an empty input without data");
  trial_end(&t);
}

static void test_fallback(void) {
  const char *text = "vertex %0 F[i:3] : f32 = f32((i * i))\n"
                     "vertex %1 G[i:3] : f32 = %0[(i + 1)]\n"
                     "input %2 X[3] : f32 default %0\n"
                     "input %3 Y[3] : f32 default %1\n"
                     "vertex %4 Z[i:3] : f32 = (%2[i] + %3[i])\n"
                     "output Z = %4\noutput X = %2\n";
  Trial t = trial();
  give(&t, "Y", DT_F32, SHAPE(3), VALUES(10, 20, 30));
  try(&t, text);
  gives(&t, 0, VALUES(10, 21, 34), "a default, and one that would fail and is not wanted");
  gives(&t, 1, VALUES(0, 1, 4), "the input itself");
  t.eval.n_input = 0;
  try(&t, text);
  fails(&t, EVAL_RANGE, "G reads F[3]", "a default that fails");
  trial_end(&t);
}

static void test_sizes(void) {
  Trial t = trial();
  size(&t, "N", (int64_t)1 << 40);
  try(&t, "dim N\nvertex %0 Z[i:$N, j:$N] : f32 = 0.0:f32\noutput Z = %0\n");
  fails(&t, EVAL_SHAPE, "Z", "a count that wraps");
  try(&t, "dim N\nvertex %0 Z[i:(($N * $N) * 16)] : f32 = 0.0:f32\noutput Z = %0\n");
  fails(&t, EVAL_SHAPE, "Z|64 bits", "an extent that wraps");
  try(&t, "dim N\nvertex %0 Z[i:(3 - $N)] : f32 = 0.0:f32\noutput Z = %0\n");
  fails(&t, EVAL_SHAPE, "Z|less than 0", "a negative extent");
  try(&t, "dim N\nvertex %0 Z[i:$N] : f32 = 0.0:f32\noutput Z = %0\n");
  fails(&t, EVAL_MEMORY, "Z|[1099511627776]", "too large a tensor");
  try(&t, "dim N\nvertex %0 Z[i:$N, k:0, j:$N, l:$N] : f32 = 0.0:f32\noutput Z = %0\n");
  gives(&t, 0, NOTHING, "large and empty");
  t.eval.max_bytes = 12;
  try(&t, "vertex %0 Y[i:3] : f32 = 1.0:f32\nvertex %1 Z[i:4] : f32 = 1.0:f32\noutput Y = %0\n");
  gives(&t, 0, VALUES(1, 1, 1), "max_bytes fits; nobody wants Z");
  try(&t, "vertex %1 Z[i:4] : f32 = 1.0:f32\noutput Z = %1\n");
  fails(&t, EVAL_MEMORY, "Z|16|12", "max_bytes");
  t.eval.max_live = 20; /* Y goes when Z is there, so three at a time are too many and two are not */
  try(&t,
      "vertex %0 Y[i:2] : f32 = 1.0:f32\nvertex %1 Z[i:2] : f32 = %0[i]\nvertex %2 U[i:2] : f32 = %1[i]\n"
      "output U = %2\n");
  gives(&t, 0, VALUES(1, 1), "max_live fits");
  try(&t, "vertex %0 Y[i:2] : f32 = 1.0:f32\nvertex %1 Z[i:2] : f32 = %0[i]\nvertex %2 U[i:2] : f32 = (%0[i] + %1[i])\n"
          "output U = %2\n");
  fails(&t, EVAL_MEMORY, "U|8|16|20", "max_live");
  trial_end(&t);
}

static void test_checks(void) {
  const char *text = "dim N\nvertex %0 Z[] : i64 = $N\noutput Z = %0\n"
                     "check ((%N % 2) == 0) \"N is even\" @\"c.ein\":2:5\n";
  Trial t = trial();
  char *s = arena_printf(t.arena, "%s", text);
  *strstr(s, "%N") = '$';
  size(&t, "N", 4);
  try(&t, s);
  gives(&t, 0, VALUES(4), "a check that holds");
  t.dim[0].value = 5;
  try(&t, s);
  fails(&t, EVAL_SHAPE, "N is even|c.ein:2:5", "a check that fails");
  trial_end(&t);
}

static void test_asserts(void) {
  const char *text = "input %0 K[] : i64\n"
                     "vertex %1 X[i:4] : i64 = i\n"
                     "vertex %2 Z[] : i64 = %1[%0[]]\n"
                     "vertex %3 a[] : bool = (%0[] < 4)\n"
                     "vertex %4 b[] : bool = (%1[0] <= %0[])\n"
                     "vertex %5 c[] : bool = (%0[] != 7)\n"
                     "output Z = %2\n"
                     "assert %3 \"K below 4\" @\"a.ein\":9:1\nassert %4 \"K not negative\"\nassert %5 \"K is not 7\"\n";
  Trial t = trial();
  EvalArray *k = give(&t, "K", DT_I64, SCALAR, VALUES(2));
  try(&t, text);
  gives(&t, 0, VALUES(2), "asserts that hold");
  *(int64_t *)k->data = 4;
  try(&t, text);
  fails(&t, EVAL_ASSERT, "K below 4|a.ein:9:1", "an assert comes before what it guards");
  OK(!strstr(t.error, "more"), "one alone");
  *(int64_t *)k->data = 7;
  try(&t, text);
  fails(&t, EVAL_ASSERT, "K below 4|1 more", "several");
  trial_end(&t);
}

static void test_random(void) {
  Trial t = trial();
  try(&t, "vertex %0 U[i:3, j:5] : f32 = uniform(7, ((i * 5) + j))\n"
          "vertex %1 G[i:4] : f32 = normal(-3, i)\n"
          "vertex %2 P[h:6] : i64 = permutation(1, h, 6)\n"
          "vertex %3 I[h:6] : i64 = %2[inverse_permutation(1, h, 6)]\n"
          "output U = %0\noutput G = %1\noutput P = %2\noutput I = %3\n");
  bool ok = t.status == EVAL_OK;
  for (int k = 0; ok && k < 15; k++) ok = ((float *)t.eval.output[0].data)[k] == ein_uniform(7, k);
  for (int k = 0; ok && k < 4; k++) ok = ((float *)t.eval.output[1].data)[k] == ein_normal(-3, k);
  for (int k = 0; ok && k < 6; k++) ok = ((int64_t *)t.eval.output[2].data)[k] == ein_permutation(1, k, 6);
  OK(ok, "uniform, normal and permutation are the runtime's");
  gives(&t, 3, VALUES(0, 1, 2, 3, 4, 5), "inverse_permutation");
  trial_end(&t);
}

static int asked;
static bool ask(void *ctx) {
  asked++;
  return --*(int *)ctx > 0;
}

static void test_stop(void) {
  Trial t = trial();
  int left = 1000;
  t.eval.keep_going = ask;
  t.eval.ctx = &left;
  const char *text = "vertex %0 Z[] : i64 = sum:i64[i:1000000] 1\noutput Z = %0\n";
  try(&t, text);
  gives(&t, 0, VALUES(1000000), "it goes on while it may");
  OK(asked >= 10 && asked <= 20, "asked now and then");
  left = 3;
  try(&t, text);
  fails(&t, EVAL_STOPPED, "stopped", "stopped");
  trial_end(&t);
}

/* A long chain of selects over two shared reads: neither time nor stack may grow with its depth. */
static void test_deep(void) {
  Trial t = trial();
  Exprs *p = exprs_new(t.arena);
  EinGraph *g = graph_new(t.arena, t.strings, p);
  const Expr *four = expr_int(p, DT_I64, 4), *i = expr_label(p, 0);
  EinNode *x = graph_input(g, str_from(t.strings, "X"), DT_I64, 1, &four, false);
  const Expr *e = expr_read(p, DT_I64, 0, 1, &i);
  for (int k = 0; k < 20000; k++) {
    const Expr *c = expr_op2(p, OP_LT, e, expr_int(p, DT_I64, k));
    e = expr_select(
        p, c, expr_op2(p, OP_ADD, e, expr_int(p, DT_I64, 1)), expr_op2(p, OP_SUB, e, expr_int(p, DT_I64, 1)));
  }
  EinSum s = {.n_out = 1, .n_slot = 1, .reducer = RED_NONE, .acc = DT_I64, .dtype = DT_I64, .body = e};
  Str label = str_from(t.strings, "i");
  EinNode *z = graph_vertex(g, g->top, &s, &four, &label, 1, NULL, &x);
  vec_push(t.arena, g->outputs, ((EinOutput){str_from(t.strings, "Z"), z}));
  give(&t, "X", DT_I64, SHAPE(4), VALUES(0, 1, 10, 30000));
  try_graph(&t, g);
  double want[4] = {0, 1, 10, 30000};
  for (int n = 0; n < 4; n++)
    for (int k = 0; k < 20000; k++) want[n] += want[n] < k ? 1 : -1;
  gives(&t, 0, 4, want, "20000 selects, each with three uses of the one below");
  trial_end(&t);
}

int main(void) {
  test_maps();
  test_merge();
  test_domains();
  test_range();
  test_inputs();
  test_fallback();
  test_sizes();
  test_checks();
  test_asserts();
  test_random();
  test_stop();
  test_deep();
  return DONE();
}
