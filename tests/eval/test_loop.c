/* tests/eval/test_loop.c - graph_eval: repeats, with states, stops, stacks, nesting and what a turn sees. */
#include "eval_test.h"

static void test_states(void) {
  Trial t = trial();
  EvalArray *n = give(&t, "N", DT_I64, SCALAR, VALUES(5));
  const char *text = "input %0 N[] : i64\n"
                     "vertex %1 zero[] : i64 = 0\n"
                     "vertex %2 one[] : i64 = 1\n"
                     "repeat %3 t < %0 {\n"
                     "  state %4 a[] : i64 = %1\n"
                     "  state %5 b[] : i64 = %2\n"
                     "  vertex %6 sum[] : i64 = (%4[] + %5[])\n"
                     "next %4 = %5\n"
                     "next %5 = %6\n"
                     "}\n"
                     "final %7 a = %3.0\n"
                     "final %8 b = %3.1\n"
                     "turns %9 t = %3\n"
                     "output a = %7\noutput b = %8\noutput t = %9\n";
  try(&t, text);
  gives(&t, 0, VALUES(5), "Fibonacci: all next take effect together");
  gives(&t, 1, VALUES(8), "the other state");
  gives(&t, 2, VALUES(5), "turns made");
  *(int64_t *)n->data = 0;
  try(&t, text);
  gives(&t, 0, VALUES(0), "no turns: the initial state");
  *(int64_t *)n->data = -3;
  try(&t, text);
  gives(&t, 1, VALUES(1), "a negative bound");
  gives(&t, 2, VALUES(0), "makes no turns");
  trial_end(&t);
}

static void test_swap(void) {
  Trial t = trial();
  give(&t, "X", DT_F32, SHAPE(2), VALUES(1, 2));
  give(&t, "Y", DT_F32, SHAPE(2), VALUES(3, 4));
  try(&t, "input %0 X[2] : f32\ninput %1 Y[2] : f32\n"
          "vertex %2 n[] : i64 = 3\n"
          "repeat %3 t < %2 turns 3 {\n"
          "  state %4 p[2] : f32 = %0\n"
          "  state %5 q[2] : f32 = %1\n"
          "  state %6 r[2] : f32 = %1\n"
          "next %4 = %5\nnext %5 = %4\nnext %6 = %0\n"
          "  stack P = %4 axis 1\n"
          "  stack Q = %5 axis 0\n"
          "}\n"
          "final %7 p = %3.0\nfinal %8 r = %3.2\nstacked %9 P = %3.0\nstacked %10 Q = %3.1\n"
          "output p = %7\noutput r = %8\noutput P = %9\noutput Q = %10\n");
  gives(&t, 0, VALUES(3, 4), "states swapped three times");
  gives(&t, 1, VALUES(1, 2), "next from outside");
  gives(&t, 2, VALUES(1, 3, 1, 2, 4, 2), "old states stacked, turns last");
  gives(&t, 3, VALUES(3, 4, 1, 2, 3, 4), "turns along the first axis");
  OK(t.eval.output[2].shape[0] == 2 && t.eval.output[2].shape[1] == 3, "shape of a stack");
  trial_end(&t);
}

/* The stop is tested at the end of a turn, sees old states, and that turn's next still take effect. */
static void test_until(void) {
  Trial t = trial();
  size(&t, "T", 6);
  try(&t, "dim T\n"
          "vertex %0 zero[] : i64 = 0\nvertex %1 n[] : i64 = $T\n"
          "repeat %2 t < %1 turns $T {\n"
          "  state %3 x[] : i64 = %0\n"
          "  vertex %4 y[] : i64 = ((%3[] + @t) + 1)\n"
          "  vertex %5 hit[] : bool = (3 <= %3[])\n"
          "  vertex %6 both[k:2] : i64 = (%3[] * k)\n"
          "  vertex %7 b[] : bool = true\n"
          "next %3 = %4\n"
          "stack L = %4 axis 0\nstack K = %6 axis 1\nstack B = %7 axis 0\n"
          "until %5\n"
          "}\n"
          "final %8 x = %2.0\nstacked %9 L = %2.0\nturns %10 t = %2\nstacked %11 K = %2.1\nstacked %12 B = %2.2\n"
          "output x = %8\noutput L = %9\noutput t = %10\noutput K = %11\noutput B = %12\n");
  gives(&t, 0, VALUES(6), "the last turn's next took effect");
  gives(&t, 1, VALUES(1, 3, 6, 0, 0, 0), "turns not run are 0");
  gives(&t, 2, VALUES(3), "turns made");
  gives(&t, 3, VALUES(0, 0, 0, 0, 0, 0, 0, 1, 3, 0, 0, 0), "a stack along the second axis");
  gives(&t, 4, VALUES(1, 1, 1, 0, 0, 0), "bools are false");
  trial_end(&t);
}

static void test_nested(void) {
  Trial t = trial();
  try(&t, "vertex %0 zero[] : i64 = 0\nvertex %1 n[] : i64 = 3\n"
          "repeat %2 t < %1 turns 3 {\n"
          "  state %3 s[] : i64 = %0\n"
          "  vertex %4 m[] : i64 = (@t + 1)\n"
          "  vertex %5 start[] : i64 = (%3[] * 10)\n"
          "  repeat %6 u < %4 {\n"
          "    state %7 x[] : i64 = %5\n"
          "    vertex %8 y[] : i64 = ((%7[] + @t) + @u)\n"
          "    next %7 = %8\n"
          "  }\n"
          "  final %9 x = %6.0\n"
          "  turns %10 u = %6\n"
          "  repeat %11 v < %1 turns 3 {\n"
          "    state %12 z[] : i64 = %9\n"
          "    stack Z = %12 axis 0\n"
          "    next %12 = %10\n"
          "  }\n"
          "  stacked %13 Z = %11.0\n"
          "  next %3 = %9\n"
          "  stack S = %9 axis 0\n"
          "  stack ZZ = %13 axis 1\n"
          "}\n"
          "final %14 s = %2.0\nstacked %15 S = %2.0\nstacked %16 ZZ = %2.1\n"
          "output s = %14\noutput S = %15\noutput ZZ = %16\n");
  /* t=0: x = 0+0+0 = 0. t=1: 0, +1+0 = 1, +1+1 = 3. t=2: 30, 32, 35, 39. */
  gives(&t, 0, VALUES(39), "a loop in a loop");
  gives(&t, 1, VALUES(0, 3, 39), "its results stacked");
  gives(&t, 2, VALUES(0, 3, 39, 1, 2, 3, 1, 2, 3), "a stack of stacks");
  trial_end(&t);
}

/* K[u] = if u == t then new else K[u], and a gather from the state. */
static void test_in_place(void) {
  Trial t = trial();
  try(&t, "vertex %0 K0[u:4] : f32 = 1.0:f32\nvertex %1 n[] : i64 = 4\n"
          "repeat %2 t < %1 {\n"
          "  state %3 K[4] : f32 = %0\n"
          "  vertex %4 new[] : f32 = sum:f32[u:4 where (u <= @t)] %3[u]\n"
          "  vertex %5 K2[u:4] : f32 = select((u == @t), (%4[] + 1.0:f32), %3[u])\n"
          "  next %3 = %5\n"
          "}\n"
          "final %6 K = %2.0\noutput K = %6\n");
  gives(&t, 0, VALUES(2, 4, 8, 16), "one slice a turn");
  trial_end(&t);
}

static void test_failures(void) {
  Trial t = trial();
  try(&t, "vertex %0 X[i:3] : i64 = i\nvertex %1 n[] : i64 = 5\n"
          "repeat %2 t < %1 {\n"
          "  state %3 s[3] : i64 = %0\n"
          "  vertex %4 y[i:3] : i64 = (%3[i] + %0[@t]) @\"l.ein\":4:2\n"
          "  next %3 = %4\n"
          "}\n"
          "final %5 s = %2.0\noutput s = %5\n");
  fails(&t, EVAL_RANGE, "y reads X[3]|index 3|l.ein:4:2", "out of range in the fourth turn");
  try(&t, "vertex %0 b[] : i64 = 3 domain false\nvertex %1 z[] : i64 = 0\n"
          "repeat %2 t < %0 {\n  state %3 s[] : i64 = %1\n  next %3 = %3\n}\n"
          "final %4 s = %2.0\noutput s = %4\n");
  fails(&t, EVAL_RANGE, "b has no value", "a bound without a value");
  size(&t, "N", 2);
  try(&t, "dim N\nvertex %0 b[] : i64 = -2\nvertex %1 z[] : i64 = 0\n"
          "repeat %2 t < %0 turns (0 - $N) {\n  state %3 s[] : i64 = %1\n  next %3 = %3\n  stack L = %3 axis 0\n}\n"
          "final %4 s = %2.0\nstacked %5 L = %2.0\noutput s = %4\noutput L = %5\n");
  fails(&t, EVAL_SHAPE, "turns in L is -2", "a stack of less than no turns");
  trial_end(&t);
}

static void test_masks(void) {
  Trial t = trial();
  try(&t, "vertex %0 X[i:3] : i64 = i domain (i != 1)\nvertex %1 n[] : i64 = 2\n"
          "repeat %2 t < %1 turns 2 {\n"
          "  state %3 s[3] : i64 = %0\n"
          "  vertex %4 y[i:3] : i64 = i domain ((@t == 0) or (i < 2))\n"
          "  next %3 = %4\n"
          "  stack L = %4 axis 1\n"
          "  stack M = %3 axis 0\n"
          "}\n"
          "final %5 s = %2.0\nstacked %6 L = %2.0\nstacked %7 M = %2.1\n"
          "output s = %5\noutput L = %6\noutput M = %7\n");
  gives(&t, 0, VALUES(0, 1, NAN), "a state keeps which elements have values");
  gives(&t, 1, VALUES(0, 0, 1, 1, 2, NAN), "a stack too");
  gives(&t, 2, VALUES(0, NAN, 2, 0, 1, 2), "of states");
  trial_end(&t);
}

/* Buffers of the program's own region go after their last user; whoever comes later finds them again. */
static void test_lifetimes(void) {
  Trial t = trial();
  try(&t, "vertex %0 A[i:3] : i64 = i\n"
          "vertex %1 B[i:3] : i64 = (%0[i] + 1)\n"
          "vertex %2 n[] : i64 = 2\n"
          "vertex %3 ok[] : bool = (%1[0] == 1)\n"
          "repeat %4 t < %2 {\n"
          "  state %5 s[3] : i64 = %0\n"
          "  vertex %6 y[i:3] : i64 = (%5[i] + %1[i])\n"
          "  next %5 = %6\n"
          "}\n"
          "final %7 s = %4.0\n"
          "vertex %8 C[i:3] : i64 = (%7[i] + %1[i])\n"
          "vertex %9 D[i:3] : i64 = (%8[i] + %7[i])\n"
          "output D = %9\noutput s = %7\noutput D2 = %9\nassert %3 \"B\"\n");
  gives(&t, 0, VALUES(5, 12, 19), "a value used in a loop and after it");
  gives(&t, 1, VALUES(2, 5, 8), "a final value as output");
  gives(&t, 2, VALUES(5, 12, 19), "one tensor as two outputs");
  trial_end(&t);
}

static bool never(void *ctx) {
  (void)ctx;
  return false;
}

static void test_endless(void) {
  Trial t = trial();
  t.eval.keep_going = never;
  try(&t, "vertex %0 b[] : i64 = 9223372036854775807\nvertex %1 z[] : i64 = 0\n"
          "repeat %2 t < %0 {\n  state %3 s[] : i64 = %1\n  next %3 = %3\n}\n"
          "final %4 s = %2.0\noutput s = %4\n");
  fails(&t, EVAL_STOPPED, "stopped", "an endless loop can be stopped");
  trial_end(&t);
}

int main(void) {
  test_states();
  test_swap();
  test_until();
  test_nested();
  test_in_place();
  test_failures();
  test_masks();
  test_lifetimes();
  test_endless();
  return DONE();
}
