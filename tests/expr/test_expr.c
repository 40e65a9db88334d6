/* tests/expr/test_expr.c - the pool, rebuilding, labels, and text there and back. */
#include <stdlib.h>

#include "../tap.h"
#include "gen.h"

static Arena *A;
static Strings *T;
static Exprs *P;

/* ---- text ------------------------------------------------------------------------------------ */

static bool label_of(void *ctx, Str name, int64_t *k) {
  (void)ctx;
  if (name->s[0] == 'l' && int64_read(name->s + 1, name->len - 1, k)) return true;
  return name == str_from(T, "s'") && (*k = 77, true);
}

static bool turn_of(void *ctx, Str name, int64_t *k) {
  (void)ctx;
  return name->s[0] == 't' && int64_read(name->s + 1, name->len - 1, k);
}

static bool read_of(void *ctx, int64_t node, uint32_t n, const Expr *const *index, DType *t, int64_t *slot) {
  (void)ctx, (void)n, (void)index;
  *t = (DType)(node / 10);
  *slot = node;
  return node / 10 < DTYPES;
}

static const Expr *read_text(const char *s, size_t len, const char **error) {
  ExprReader r = {.pool = P, .strings = T, .s = s, .end = s + len, .label = label_of, .turn = turn_of,
                  .read = read_of, .param = DT_F32};
  const Expr *e = expr_read_text(&r);
  if (e && r.s != r.end) e = NULL, r.error = "text is left";
  *error = r.error;
  return e;
}

static const Expr *rd(const char *s) {
  const char *error;
  return read_text(s, strlen(s), &error);
}

static const char *pr(const Expr *e) {
  Buf b = buf_new(A);
  expr_print(&b, e, NULL);
  return b.s;
}

static bool returns(const Expr *e) {
  Buf b = buf_new(A);
  expr_print(&b, e, NULL);
  const char *error;
  const Expr *back = read_text(b.s, b.len, &error);
  if (back != e) tap_text(error ? error : "read as something else", b.s);
  return back == e;
}

static void test_text(void) {
  static const char *const same[] = {
      "3", "-3", "3:i32", "-128:i8", "255:u8", "true", "false", "1.5", "-1.5:f32", "inf", "-inf:f32", "nan:bf16",
      "1e-30", "$N", "l3", "@t1", "#0", "%7[]", "%47[l1, (l2 + 1)]", "(l1 + l2)", "(l1 <= l2)", "neg(l1)",
      "max(l1, l2)", "select((l1 < 3), l1, l2)", "f32(l1)", "((l1 // 3) % 4)", "((l1 < l2) and not((l1 == 4)))",
      "((l1 > 2) or (l1 != 2))", "-9223372036854775808", "(1.5:f16 ^ 2.0:f16)", "isnan(1.0)",
      "inverse_permutation(l1, l2, 3)", "uniform(1, l0)", "sqrt(f64($N))", "-0.0"};
  for (size_t i = 0; i < COUNT(same); i++) {
    const Expr *e = rd(same[i]);
    OK(e && strcmp(pr(e), same[i]) == 0, "text %s", same[i]);
  }
  static const char *const bad[] = {"", "(", ")", "(l1", "(l1 + )", "(l1 + l2", "l1 l2", "nosuch", "nosuch(1)", "%",
      "%7", "%7[", "%7[1", "%7[1,]", "%999[]", "$", "@", "#2", "#", "300:u8", "1.5:i32", "3:x", "1:bool", "(1 + 1.5)",
      "add(1)", "add(1, 2, 3)", "cast(1)", "f32()", "f32(1, 2)", "(true + true)", "99999999999999999999:i64", "%7[1.5]",
      "not(1)", "(1 & 2)", "-", "((l1 + l2) l3)", "-nan(", "1e", "f32", "exp(1)"};
  for (size_t i = 0; i < COUNT(bad); i++) {
    const char *error;
    const Expr *e = read_text(bad[i], strlen(bad[i]), &error);
    OK(!e && error, "refused: %s", bad[i]);
  }
  OK(rd(" ( l1\t+l2 ) ") == NULL && rd("( l1\t+l2 )") == rd("(l1 + l2)"), "spaces inside");
  OK(rd("s'") == expr_label(P, 77), "a primed label");
}

static void test_random_text(void) {
  Gen g = {.state = 1, .p = P, .t = T, .reads = true, .params = true};
  int wrong = 0, n = 0;
  for (int i = 0; i < 20000; i++, n++)
    wrong += !returns(gen_expr(&g, (DType)gen_int(&g, 0, DTYPES - 1), (int)gen_int(&g, 0, 5)));
  OK_INT(wrong, 0, "%d random expressions read back", n);
  int lost = 0;
  for (int i = 0; i < 20000; i++) { /* broken texts: an answer or an error, never a crash */
    Buf b = buf_new(A);
    expr_print(&b, gen_expr(&g, DT_F32, 3), NULL);
    for (int k = 0; k < 3; k++) b.s[gen_int(&g, 0, (int64_t)b.len - 1)] = "()[],%$@# .:+-*9ainfe"[gen_int(&g, 0, 21)];
    const char *error;
    size_t len = (size_t)gen_int(&g, 0, (int64_t)b.len);
    char *exact = malloc(len + 1);
    memcpy(exact, b.s, len);
    lost += !read_text(exact, len, &error) && !error;
    free(exact);
  }
  OK_INT(lost, 0, "broken texts say why");
}

/* ---- depth ----------------------------------------------------------------------------------- */

static const Expr *shift(void *env, Exprs *p, const Expr *leaf) {
  (void)env;
  if (leaf->kind == EX_READ) return expr_read(p, (DType)leaf->dtype, leaf->i + 1, leaf->n, leaf->arg);
  if (leaf->kind != EX_LABEL) return leaf;
  return expr_label(p, leaf->i + 1);
}

static void test_deep(void) {
  enum { N = 100000 };
  const Expr *l = expr_label(P, 0), *left = l, *right = l;
  for (int i = 0; i < N; i++) {
    left = expr_op2(P, OP_ADD, left, i % 3 ? l : expr_int(P, DT_I64, i));
    right = expr_op2(P, OP_MUL, expr_label(P, i % 5), right);
  }
  OK(returns(left) && returns(right), "a hundred thousand terms as text");
  const Expr *map = expr_map(P, left, shift, NULL);
  bool used[6] = {0};
  expr_labels(map, 6, used);
  OK(!used[0] && used[1] && !used[2], "relabelled by map");
  memset(used, 0, sizeof used);
  expr_labels(right, 6, used);
  OK(used[0] && used[4] && !used[5], "labels of a deep product");
  const Expr *to[2] = {expr_int(P, DT_I64, 1), NULL};
  OK(expr_relabel(P, left, 2, to)->kind == EX_INT, "a deep sum folds");
  int64_t at[5] = {1, 1, 1, 1, 1};
  Value v;
  ExprEnv env = {.label = at, .n_label = 5};
  int64_t want = 1;
  for (int i = 0; i < N; i++) want += i % 3 ? 1 : i;
  OK(expr_value(left, &env, &v) && v.i == want, "value of a deep sum");
  OK(expr_value(right, &env, &v) && v.i == 1, "value of a deep product");
  const Expr *shared = l;
  for (int i = 0; i < 60; i++) shared = expr_op2(P, OP_ADD, shared, shared);
  OK(expr_value(shared, &env, &v) && v.i == (int64_t)1 << 60, "shared parts are visited once");
  shared = expr_map(P, shared, shift, NULL);
  memset(used, 0, sizeof used);
  expr_labels(shared, 6, used);
  OK(used[1] && !used[0], "also by map and labels");
}

/* ---- the pool -------------------------------------------------------------------------------- */

static void test_pool(void) {
  const Expr *i = expr_label(P, 0), *j = expr_label(P, 1), *zero = expr_int(P, DT_I64, 0),
             *one = expr_int(P, DT_I64, 1);
  const Expr *t = expr_bool(P, true), *f = expr_bool(P, false), *c = expr_op2(P, OP_LT, i, j);
  OK(expr_op2(P, OP_ADD, i, j) == expr_op2(P, OP_ADD, i, j), "equal is one pointer");
  OK(expr_op2(P, OP_ADD, i, j) != expr_op2(P, OP_ADD, j, i), "order is kept");
  OK(expr_op2(P, OP_ADD, i, zero) == i && expr_op2(P, OP_ADD, zero, i) == i && expr_op2(P, OP_SUB, i, zero) == i,
      "x+0");
  OK(expr_op2(P, OP_MUL, i, one) == i && expr_op2(P, OP_MUL, one, i) == i, "x*1");
  OK(expr_op2(P, OP_MUL, i, zero) == zero && expr_op2(P, OP_MUL, zero, i) == zero, "x*0");
  OK(expr_op2(P, OP_IDIV, i, one) == i && expr_op2(P, OP_MOD, i, one) == zero, "x//1 and x%%1");
  OK(expr_op2(P, OP_AND, c, t) == c && expr_op2(P, OP_AND, f, c) == f && expr_op2(P, OP_OR, c, f) == c &&
         expr_op2(P, OP_OR, c, t) == t, "truths");
  OK(expr_select(P, t, i, j) == i && expr_select(P, f, i, j) == j, "a decided select");
  OK(expr_and(P, NULL, c) == c && expr_and(P, c, NULL) == c && !expr_and(P, NULL, NULL) && !expr_and(P, t, t),
      "`and` with nothing");
  OK(expr_op2(P, OP_IDIV, expr_int(P, DT_I64, -7), expr_int(P, DT_I64, 2)) == expr_int(P, DT_I64, -4), "literals fold");
  OK(expr_op2(P, OP_LE, one, zero) == f && expr_op1(P, OP_NOT, f) == t, "comparisons fold");
  const Expr *x = expr_real(P, DT_F32, 1), *y = expr_op2(P, OP_ADD, x, expr_real(P, DT_F32, 0));
  OK(y->kind == EX_OP, "reals are left alone");
  OK(expr_real(P, DT_F32, 0.1) == expr_real(P, DT_F32, (double)0.1f), "a literal is rounded");
  OK(expr_real(P, DT_F64, 0.0) != expr_real(P, DT_F64, -0.0), "zeros differ");
  OK(expr_real(P, DT_F64, __builtin_nan("")) == expr_real(P, DT_F64, -__builtin_nan("3")), "one NaN");
  OK(expr_cast(P, DT_I64, i) == i && expr_cast(P, DT_I8, expr_int(P, DT_I64, 200)) == expr_int(P, DT_I8, -56), "casts");
  OK(expr_cast(P, DT_F32, i)->op == OP_CAST && expr_cast(P, DT_F32, i) != expr_cast(P, DT_F16, i), "cast of a label");
  const Expr *r = expr_read(P, DT_F32, 4, 1, &i), *m = expr_map(P, r, shift, NULL);
  OK(m->i == 5 && m->arg[0] == j, "a read's arguments first, then the read");
  OK(r->has == (HAS_READ | HAS_LABEL), "what is inside is known");
  DType d;
  OK(dtype_find("bf16", 4, &d) && d == DT_BF16 && !dtype_find("bf1", 3, &d) && strcmp(dtype_name(DT_U8), "u8") == 0,
      "names");
  OK(dtype_join(DT_F16, DT_BF16) == DT_F32 && dtype_join(DT_U8, DT_I8) == DT_I16 &&
          dtype_join(DT_I32, DT_F16) == DT_F16 && dtype_join(DT_BOOL, DT_BOOL) == DT_I64 &&
          dtype_join(DT_U8, DT_I32) == DT_I32,
      "joins");
  OK(dtype_sum(DT_BF16) == DT_F32 && dtype_sum(DT_F64) == DT_F64 && dtype_sum(DT_BOOL) == DT_I64, "sums");
  OK(dtype_holds(DT_I8, -128) && !dtype_holds(DT_I8, 128) && dtype_holds(DT_U8, 255) && !dtype_holds(DT_U8, -1) &&
         dtype_holds(DT_I64, INT64_MIN) && !dtype_holds(DT_I32, (int64_t)1 << 31), "what fits");
  Op op;
  Reducer red;
  OK(op_find("lse2", 4, &op) && op == OP_LSE && !op_find("nosuch", 6, &op), "operations by name");
  OK(reducer_find("argmax", 6, &red) && red == RED_ARGMAX && !reducer_find("su", 2, &red), "reducers by name");
  for (int k = 0; k < OPS; k++)
    if (!op_info[k].name || (!op_info[k].arity && op_info[k].rule != RULE_EXTERN)) OK(false, "row %d of ops.def", k);
}

/* Text to an expression, and back to the same text; or what is said against it. */
static const char *through_text(const char *text) {
  ExprReader r = {.pool = P, .strings = T, .s = text, .end = text + strlen(text), .param = DT_F64};
  const Expr *e = expr_read_text(&r);
  Buf b = buf_new(A);
  if (!e) return r.error;
  expr_print(&b, e, NULL);
  r.s = b.s, r.end = b.s + b.len;
  return expr_read_text(&r) == e ? b.s : "another";
}

static void test_extern(void) {
  Extern x = {.name = str_of(T, "root", 4),
      .symbol = str_of(T, "cbrt", 4),
      .n = 2,
      .arg = {DT_F64, DT_I64},
      .dtype = DT_F32,
      .cost = -1};
  const Extern *a = extern_add(P, &x), *b = extern_add(P, &x);
  int part;
  OK(a == b && extern_find(P, x.name) == a && extern_count(P) == 1, "a C function is there once");
  x.cost = 7;
  b = extern_add(P, &x);
  OK(b != a && strcmp(b->name->s, "root~2") == 0 && extern_add(P, &x) == b, "another gets another name");
  OK(extern_cost(a) == EXTERN_COST && extern_cost(b) == 7, "what it costs");
  OK(strcmp(through_text("(root!(1.5, $N) + root~2!(root!(inf, 3), 4))"),
         "a C function's argument is of another dtype") == 0,
      "dtypes of arguments");
  OK(strcmp(through_text("(root!(1.5, $N) + root~2!(#0, 4))"), "(root!(1.5, $N) + root~2!(#0, 4))") == 0,
      "calls in text");
  OK(strcmp(through_text("root!(1.5)"), "a C function has too many arguments, or too few") == 0, "too few arguments");
  OK(strcmp(through_text("root!(1.5, 2, 3)"), "a C function has too many arguments, or too few") == 0,
      "too many arguments");
  OK(strcmp(through_text("none!(1.5)"), "no C function of that name is declared above") == 0, "an unknown function");
  OK(strcmp(through_text("root!"), "a C function is called: f!(x)") == 0, "not called");
  const Expr *arg[] = {expr_param(P, DT_F64, 0), expr_int(P, DT_I64, 2)}, *e = expr_call(P, a, arg);
  OK(e == expr_call(P, a, arg) && e != expr_call(P, b, arg) && expr_op_like(P, e, arg) == e, "calls are interned");
  OK((e->has & (HAS_CALL | HAS_PARAM)) == (HAS_CALL | HAS_PARAM) && e->drawn, "nothing is known of its value");
  ExprEnv env = {0};
  Value v;
  arg[0] = expr_real(P, DT_F64, 8);
  OK(!expr_value(expr_call(P, a, arg), &env, &v), "a call is not computed ahead");
  x.dtype = DT_I64;
  OK(extern_wrong(&x, &part) && part == EXTERN_DTYPE, "it gives a float");
  x.dtype = DT_F16;
  OK(extern_wrong(&x, &part) && part == EXTERN_DTYPE, "of 64 or 32 bits");
  x.dtype = DT_F64, x.arg[1] = DT_F16;
  OK(!extern_wrong(&x, &part), "halves are taken");
  x.arg[1] = DT_BOOL;
  OK(!extern_wrong(&x, &part), "bools are");
  x.symbol = str_of(T, "a b", 3);
  OK(extern_wrong(&x, &part) && part == EXTERN_SYMBOL, "no name of C");
}

int main(void) {
  A = arena_new();
  T = strings_new(A);
  P = exprs_new(A);
  test_pool();
  test_text();
  test_deep();
  test_random_text();
  test_extern();
  arena_free(A);
  return DONE();
}
