/* tests/eval/test_arith.c - graph_eval's arithmetic: every operation in every dtype against the arithmetic of
 * expr/ (another implementation), at the edges; all conversions; and random expressions, with and without reads,
 * whose lazy operations must agree too. */
#include "../expr/gen.h"
#include "eval_test.h"

static Value value_of(const EvalArray *a, int64_t k) {
  Value v = {.dtype = a->dtype};
  if (dtype_is_float(a->dtype)) v.f = eval_real(a, k);
  else v.i = eval_int(a, k);
  return v;
}

static bool value_same(Value a, Value b) {
  if (a.dtype != b.dtype) return false;
  return dtype_is_float(a.dtype) ? same(a.f, b.f) : a.i == b.i;
}

static void value_text(const char *what, Value v) {
  if (dtype_is_float(v.dtype)) printf("#   %s %s %.17g\n", what, dtype_name(v.dtype), v.f);
  else printf("#   %s %s %lld\n", what, dtype_name(v.dtype), (long long)v.i);
}

static const double reals[] = {
    0,
    1,
    -1,
    2,
    3,
    0.5,
    -0.5,
    1.5,
    2.5,
    -2.5,
    0.1,
    -7.25,
    100,
    -100,
    1e-3,
    65504,
    65520,
    70000,
    -1e5,
    1e10,
    1e38,
    3.5e38,
    -1e300,
    1e-45,
    6e-8,
    3e-8,
    1e-310,
    127.9,
    128,
    -128.9,
    255.5,
    256,
    2147483647,
    2147483648.0,
    -2147483649.0,
    0x1p53,
    0x1p63,
    -0x1p63,
    0x1p64,
    0.0009765625,
    2049,
    1.00390625,
    1.01171875,
    32767.5,
    NAN,
    INFINITY,
    -INFINITY,
};
static const int64_t ints[] = {
    0,
    1,
    -1,
    2,
    3,
    5,
    -2,
    -3,
    -7,
    7,
    10,
    63,
    64,
    100,
    127,
    128,
    -128,
    -129,
    255,
    256,
    32767,
    32768,
    -32768,
    65535,
    2147483647,
    -2147483648LL,
    2147483648LL,
    4294967295LL,
    1000003,
    ((int64_t)1 << 53) + 1,
    ((int64_t)1 << 62) + ((int64_t)1 << 54) + 1,
    -((int64_t)1 << 62) - ((int64_t)1 << 54) - 1,
    0x4080000000000001,
    INT64_MAX,
    INT64_MIN,
    INT64_MIN + 1,
    INT64_MAX - 1,
};
enum { EDGES = COUNT(reals) > COUNT(ints) ? COUNT(reals) : COUNT(ints) };

/* Element k is edge value k (or k / EDGES), wrapped or rounded to d. */
static void give_edges(Trial *t, const char *name, DType d, int64_t count, int64_t div) {
  EvalArray *a = give(t, name, d, SHAPE(count), VALUES(0));
  for (int64_t k = 0; k < count; k++) {
    size_t j = (size_t)(k / div % EDGES);
    if (dtype_is_float(d)) put(a->data, d, k, reals[j % COUNT(reals)]);
    else if (d == DT_I64) ((int64_t *)a->data)[k] = ints[j % COUNT(ints)];
    else {
      int64_t x = value_cast((Value){.dtype = DT_I64, .i = ints[j % COUNT(ints)]}, d).i;
      memcpy((char *)a->data + k * dtype_size(d), &x, (size_t)dtype_size(d)); /* little-endian */
    }
  }
}

/* Z[i:count] = e, over inputs X and Y of the given dtypes. */
static void try_map(Trial *t, Exprs *p, const Expr *e, uint32_t n_in, const DType *in, int64_t count) {
  EinGraph *g = graph_new(t->arena, t->strings, p);
  const Expr *n = expr_int(p, DT_I64, count);
  EinNode *x[2];
  for (uint32_t k = 0; k < n_in; k++) x[k] = graph_input(g, str_from(t->strings, k ? "Y" : "X"), in[k], 1, &n, false);
  EinSum s = {.n_out = 1, .n_slot = n_in, .acc = (DType)e->dtype, .dtype = (DType)e->dtype, .body = e};
  EinNode **slot = graph_canonical_slots(g, &s, x);
  Str label = str_from(t->strings, "i");
  EinNode *z = graph_vertex(g, g->top, &s, &n, &label, 1, NULL, slot);
  vec_push(t->arena, g->outputs, ((EinOutput){str_from(t->strings, "Z"), z}));
  try_graph(t, g);
}

static void compare_op(Op op, DType d) {
  Trial t = trial();
  Exprs *p = exprs_new(t.arena);
  const Expr *i = expr_label(p, 0), *arg[2];
  uint32_t n = (uint32_t)op_info[op].arity;
  const char *name = arena_printf(t.arena, "%s:%s", op_info[op].name, dtype_name(d));
  DType in[2] = {d, d}, result;
  int64_t count = n == 1 ? EDGES : EDGES * EDGES;
  for (uint32_t k = 0; k < n; k++) arg[k] = expr_read(p, d, k, 1, &i);
  if (op_result(op, n, arg, &result)) {
    for (uint32_t k = 0; k < n; k++) give_edges(&t, k ? "Y" : "X", d, count, k ? EDGES : 1);
    try_map(&t, p, expr_op(p, op, n, arg), n, in, count);
    bool ok = t.status == EVAL_OK;
    for (int64_t k = 0; ok && k < count; k++) {
      Value v[2] = {value_of(&t.input[0].array, k), n > 1 ? value_of(&t.input[1].array, k) : (Value){0}};
      Value want = op_value(op, result, n, v), got = value_of(&t.eval.output[0], k);
      ok = value_same(want, got);
      if (ok) continue;
      for (uint32_t j = 0; j < n; j++) value_text("of", v[j]);
      value_text("got", got);
      value_text("want", want);
    }
    OK(ok, "%s", name);
  }
  trial_end(&t);
}

static void test_ops(void) {
  for (int op = 0; op < OPS; op++) {
    OpRule rule = op_info[op].rule;
    if (op_info[op].laws & LAW_LOOP || rule == RULE_CAST || rule == RULE_SELECT || rule == RULE_RANDOM ||
        rule == RULE_INDEX)
      continue;
    for (int d = 0; d < DTYPES; d++) compare_op((Op)op, (DType)d);
  }
}

static void test_casts(void) {
  for (int from = 0; from < DTYPES; from++) {
    for (int to = 0; to < DTYPES; to++) {
      if (from == to) continue;
      Trial t = trial();
      Exprs *p = exprs_new(t.arena);
      const Expr *i = expr_label(p, 0);
      DType in = (DType)from;
      give_edges(&t, "X", in, EDGES, 1);
      try_map(&t, p, expr_cast(p, (DType)to, expr_read(p, in, 0, 1, &i)), 1, &in, EDGES);
      bool ok = t.status == EVAL_OK;
      for (int64_t k = 0; ok && k < EDGES; k++) {
        Value x = value_of(&t.input[0].array, k), want = value_cast(x, (DType)to), got = value_of(&t.eval.output[0], k);
        ok = value_same(want, got);
        if (!ok) value_text("of", x), value_text("got", got), value_text("want", want);
      }
      OK(ok, "%s to %s", dtype_name(in), dtype_name((DType)to));
      trial_end(&t);
    }
  }
}

/* What the language says in so many words. */
static void test_said(void) {
  Trial t = trial();
  try(&t, "vertex %0 a[] : i8 = (127:i8 + i8(i64(1:i8)))\n"
          "vertex %1 b[i:4] : i64 = ((i - 2) // 2)\n"
          "vertex %2 c[i:4] : i64 = ((i - 2) % -3)\n"
          "vertex %3 d[i:2] : i64 = ((5 // i) + (7 % i))\n"
          "vertex %4 e[i:2] : i64 = ((-9223372036854775807 - i) // -1)\n"
          "vertex %5 f[i:3] : i64 = (2 ^ (i - 1))\n"
          "vertex %6 g[i:3] : i8 = i8(((f64(i) - 1.0) * 1e10))\n"
          "vertex %7 h[i:2] : i64 = i64((0.0 / f64(i)))\n"
          "vertex %8 m[i:2] : f16 = (f16(i) + 2048.0:f16)\n"
          "vertex %9 n[i:2] : bf16 = (256.0:bf16 + bf16(i))\n"
          "vertex %10 o[i:2] : u8 = (u8(i) - 1:u8)\n"
          "vertex %11 p[i:3] : f64 = ((f64(i) - 1.5) % 1.0)\n"
          "output a = %0\noutput b = %1\noutput c = %2\noutput d = %3\noutput e = %4\noutput f = %5\n"
          "output g = %6\noutput h = %7\noutput m = %8\noutput n = %9\noutput o = %10\noutput p = %11\n");
  gives(&t, 0, VALUES(-128), "i8 wraps");
  gives(&t, 1, VALUES(-1, -1, 0, 0), "// floors");
  gives(&t, 2, VALUES(-2, -1, 0, -2), "% has the divisor's sign");
  gives(&t, 3, VALUES(0, 5), "x // 0 and x % 0 are 0");
  gives(&t, 4, VALUES(0x1p63, -0x1p63), "the least integer by -1");
  gives(&t, 5, VALUES(0, 1, 2), "a negative exponent gives 0");
  gives(&t, 6, VALUES(-128, 0, 127), "float to int saturates");
  gives(&t, 7, VALUES(0, 0), "NaN to int is 0");
  gives(&t, 8, VALUES(2048, 2048), "f16 rounds to even");
  gives(&t, 9, VALUES(256, 256), "bf16 too");
  gives(&t, 10, VALUES(255, 0), "u8 wraps");
  gives(&t, 11, VALUES(0.5, 0.5, 0.5), "% of reals");
  trial_end(&t);
}

/* ---- random expressions ---------------------------------------------------------------------- */

enum { SIDE = 3, POINTS = SIDE * SIDE * SIDE * SIDE };

typedef struct Reading { const Expr *label[4]; bool reads; } Reading;

/* Turns become labels, and labels reads that give the label's value. */
static const Expr *with_reads(void *env, Exprs *p, const Expr *e) {
  const Reading *r = env;
  if (e->kind == EX_TURN) e = r->label[e->i];
  if (e->kind != EX_LABEL || !r->reads || e->i == 3) return e;
  return expr_read(p, DT_I64, 0, 1, &e);
}

static const Expr *turns_gone(void *env, Exprs *p, const Expr *e) {
  (void)p;
  const Reading *r = env;
  return e->kind == EX_TURN ? r->label[e->i] : e;
}

static bool dim_value(void *ctx, Str name, int64_t *out) {
  (void)ctx;
  *out = 3 + (name->s[1] - '0');
  return true;
}

static bool compare_random(uint64_t seed, bool reads, bool *has_value) {
  Trial t = trial();
  Gen gen = {.state = seed, .p = exprs_new(t.arena), .t = t.strings};
  Exprs *p = gen.p;
  const Expr *e = gen_expr(&gen, (DType)gen_int(&gen, 0, DTYPES - 1), (int)gen_int(&gen, 2, 9)),
             *side = expr_int(p, DT_I64, SIDE);
  Reading r = {.reads = reads};
  const Expr *bound[4];
  Str label[4];
  for (int k = 0; k < 4; k++) {
    r.label[k] = expr_label(p, k);
    bound[k] = side;
    label[k] = strings_printf(t.strings, "i%d", k);
  }
  EinGraph *g = graph_new(t.arena, t.strings, p);
  for (int k = 0; k < 3; k++) {
    Str name = strings_printf(t.strings, "D%d", k);
    vec_push(t.arena, g->dims, ((Dim){.name = name}));
    size(&t, name->s, 3 + k);
  }
  EinNode *iota = graph_input(g, str_from(t.strings, "X"), DT_I64, 1, &side, false);
  give(&t, "X", DT_I64, SHAPE(SIDE), VALUES(0, 1, 2));
  EinSum s = {.n_out = 4, .n_slot = 1, .acc = (DType)e->dtype, .dtype = (DType)e->dtype};
  s.body = expr_map(p, e, with_reads, &r);
  e = expr_map(p, e, turns_gone, &r);
  EinNode **slot = graph_canonical_slots(g, &s, &iota);
  EinNode *z = graph_vertex(g, g->top, &s, bound, label, 4, NULL, slot);
  vec_push(t.arena, g->outputs, ((EinOutput){str_from(t.strings, "Z"), z}));
  try_graph(&t, g);
  bool ok = t.status == EVAL_OK;
  for (int64_t k = 0; ok && k < POINTS; k++) {
    int64_t at[4] = {k / (SIDE * SIDE * SIDE), k / (SIDE * SIDE) % SIDE, k / SIDE % SIDE, k % SIDE};
    ExprEnv env = {.label = at, .n_label = 4, .dim = dim_value};
    Value want, got = value_of(&t.eval.output[0], k);
    if (!expr_value(e, &env, &want)) continue; /* random numbers, or nothing to compare with */
    *has_value = true;
    ok = value_same(got, want);
    if (!ok) value_text("got", got), value_text("want", want);
  }
  if (!ok) {
    Buf b = buf_new(t.arena);
    graph_print(&b, g);
    tap_text("graph", b.s);
    tap_text("error", t.error);
  }
  trial_end(&t);
  return ok;
}

static void test_random(void) {
  int failed = 0, compared = 0;
  for (uint64_t seed = 1; seed <= 3000 && failed < 3; seed++) {
    bool has_value = false;
    if (!compare_random(seed, seed & 1, &has_value)) {
      printf("# seed %llu\n", (unsigned long long)seed);
      failed++;
    }
    compared += has_value;
  }
  OK(!failed, "3000 random expressions");
  OK(compared > 1500, "of which most could be compared");
}

int main(void) {
  test_ops();
  test_casts();
  test_said();
  test_random();
  return DONE();
}
