/* tests/expr/test_value.c - the language's arithmetic, against tables and against wider arithmetic. */
#include <math.h>
#include <stdlib.h>

#include "../tap.h"
#include "gen.h"

static Value I(DType t, int64_t i) {
  return (Value){t, {.i = i}};
}

static Value F(DType t, double f) {
  Value v = {.dtype = t};
  v.f = f;
  return v;
}

static int64_t int2(Op op, DType t, int64_t a, int64_t b) {
  return op_value(op, t, 2, (Value[]){I(t, a), I(t, b)}).i;
}

static double real2(Op op, DType t, double a, double b) {
  return op_value(op, t, 2, (Value[]){F(t, a), F(t, b)}).f;
}

static double real1(Op op, DType t, double a) {
  return op_value(op, t, 1, (Value[]){F(t, a)}).f;
}

static void test_ints(void) {
  OK_INT(int2(OP_IDIV, DT_I64, -7, 2), -4, "// floors");
  OK_INT(int2(OP_MOD, DT_I64, -7, 2), 1, "%% has the divisor's sign");
  OK_INT(int2(OP_MOD, DT_I64, 7, -2), -1, "%% of a negative divisor");
  OK_INT(int2(OP_IDIV, DT_I64, 7, 0), 0, "x//0");
  OK_INT(int2(OP_MOD, DT_I64, 7, 0), 0, "x%%0");
  OK_INT(int2(OP_IDIV, DT_I64, INT64_MIN, -1), INT64_MIN, "the least i64 // -1");
  OK_INT(int2(OP_IDIV, DT_I8, -128, -1), -128, "the least i8 // -1");
  OK_INT(int2(OP_MOD, DT_I64, INT64_MIN, -1), 0, "the least i64 %% -1");
  OK_INT(int2(OP_POW, DT_I64, 3, 4), 81, "powers");
  OK_INT(int2(OP_POW, DT_I8, 3, 5), -13, "powers wrap");
  OK_INT(int2(OP_POW, DT_I64, 3, -1), 0, "a negative exponent");
  OK_INT(int2(OP_POW, DT_I64, 0, 0), 1, "0^0");
  OK_INT(int2(OP_POW, DT_I64, 2, INT64_MAX), 0, "a huge exponent");
  OK_INT(op_value(OP_ABS, DT_I32, 1, (Value[]){I(DT_I32, INT32_MIN)}).i, INT32_MIN, "abs wraps");
  Gen g = {.state = 5};
  int wrong = 0;
  for (int k = 0; k < 100000; k++) {
    DType t = (DType[]){DT_I64, DT_I32, DT_I16, DT_I8, DT_U8}[gen_int(&g, 0, 4)];
    Value a = value_cast(I(DT_I64, (int64_t)gen_bits(&g) >> gen_int(&g, 0, 63)), t);
    Value b = value_cast(I(DT_I64, (int64_t)gen_bits(&g) >> gen_int(&g, 0, 63)), t);
    __int128 x = a.i, y = b.i, q = y ? x / y - (x % y != 0 && (x < 0) != (y < 0)) : 0, r = y ? x - q * y : 0;
    int bits = 8 * dtype_size(t);
    __int128 want[] = {x + y, x - y, x * y, q, r, -x};
    Op op[] = {OP_ADD, OP_SUB, OP_MUL, OP_IDIV, OP_MOD};
    for (int o = 0; o < 5; o++) {
      __int128 w = want[o] & (((__int128)1 << bits) - 1);
      if (t != DT_U8 && w >> (bits - 1)) w -= (__int128)1 << bits;
      wrong += int2(op[o], t, a.i, b.i) != (int64_t)w;
    }
  }
  OK_INT(wrong, 0, "integers against 128 bits");
}

/* Every finite value of a 16-bit float, in order, from its bits. */
static int all_values(int exp_bits, int frac_bits, double *out) {
  int n = 0, bias = (1 << (exp_bits - 1)) - 1;
  for (int e = 0; e < (1 << exp_bits) - 1; e++)
    for (int f = 0; f < 1 << frac_bits; f++)
      out[n++] = ldexp(f + (e ? 1 << frac_bits : 0), (e ? e : 1) - bias - frac_bits);
  return n;
}

static double nearest(const double *v, int n, double x, double top) {
  double s = x < 0 ? -1 : 1;
  x = fabs(x);
  if (x >= top) return s * (double)INFINITY;
  int lo = 0, hi = n;
  while (hi - lo > 1) {
    int mid = (lo + hi) / 2;
    if (v[mid] <= x) lo = mid; else hi = mid;
  }
  if (lo + 1 == n) return s * v[lo];
  double down = x - v[lo], up = v[lo + 1] - x; /* exact here: close numbers, or x has few bits */
  return s * (down < up || (down == up && lo % 2 == 0) ? v[lo] : v[lo + 1]);
}

static void test_rounding(void) {
  static double half[1 << 15], brain[1 << 15];
  int n_half = all_values(5, 10, half), n_brain = all_values(8, 7, brain), wrong = 0;
  Gen g = {.state = 6};
  for (int k = 0; k + 1 < n_half; k++) {
    double mid = (half[k] + half[k + 1]) / 2;
    double x[] = {half[k], mid, nextafter(mid, 0), nextafter(mid, 1e9), -mid};
    for (int j = 0; j < 5; j++) wrong += real_round(DT_F16, x[j]) != nearest(half, n_half, x[j], 65520);
  }
  for (int k = 0; k + 1 < n_brain; k++) {
    double mid = (brain[k] + brain[k + 1]) / 2;
    double x[] = {brain[k], mid, nextafter(mid, 0), nextafter(mid, 1e39), -mid};
    for (int j = 0; j < 5; j++) wrong += real_round(DT_BF16, x[j]) != nearest(brain, n_brain, x[j], 0x1.ffp127);
  }
  OK_INT(wrong, 0, "f16 and bf16 round to nearest, ties to even");
  OK(isinf(real_round(DT_F16, 65520)) && real_round(DT_F16, 65519.99) == 65504, "f16 overflows at 65520");
  OK(isinf(real_round(DT_BF16, 0x1.ffp127)) && real_round(DT_BF16, nextafter(0x1.ffp127, 0)) == 0x1.fep127,
      "bf16 overflows");
  OK(real_round(DT_F16, 0x1p-25) == 0 && real_round(DT_F16, 0x1.8p-25) == 0x1p-24, "f16 below the least");
  OK(isnan(real_round(DT_F16, (double)NAN)) && signbit(real_round(DT_F16, -0.0)), "NaN and zero");
  for (int k = 0; k < 20000; k++) {
    int64_t i = (int64_t)gen_bits(&g) >> gen_int(&g, 0, 63);
    double exact = nearest(brain, n_brain, (double)i, (double)INFINITY);
    if ((i >> 53) == 0 || (i >> 53) == -1) wrong += value_cast(I(DT_I64, i), DT_BF16).f != exact;
  }
  OK_INT(wrong, 0, "i64 to bf16");
  OK(value_cast(I(DT_I64, ((int64_t)0x8080 << 40) + 1), DT_BF16).f == ldexp(0x81, 48), "i64 to bf16 rounds once");
  OK(value_cast(I(DT_I64, 16777217), DT_F32).f == 16777216, "i64 to f32");
  OK(value_cast(I(DT_I64, INT64_MIN), DT_F64).f == -0x1p63, "the least i64 to f64");
}

static void test_casts(void) {
  OK_INT(value_cast(F(DT_F64, 1e300), DT_I64).i, INT64_MAX, "saturates above");
  OK_INT(value_cast(F(DT_F64, -1e300), DT_I64).i, INT64_MIN, "saturates below");
  OK_INT(value_cast(F(DT_F64, (double)NAN), DT_I32).i, 0, "NaN to 0");
  OK_INT(value_cast(F(DT_F64, -2.9), DT_I8).i, -2, "truncates");
  OK_INT(value_cast(F(DT_F64, 127.9), DT_I8).i, 127, "just fits");
  OK_INT(value_cast(F(DT_F64, -1), DT_U8).i, 0, "u8 has no sign");
  OK_INT(value_cast(F(DT_F64, 255.5), DT_U8).i, 255, "u8 just fits");
  OK_INT(value_cast(F(DT_F64, 3e9), DT_I32).i, INT32_MAX, "i32 saturates");
  OK_INT(value_cast(I(DT_I64, 511), DT_U8).i, 255, "integers wrap");
  OK_INT(value_cast(I(DT_I64, 2), DT_BOOL).i, 1, "to bool");
  OK_INT(value_cast(F(DT_F32, 0.5), DT_BOOL).i, 1, "a half is true");
}

static void test_reals(void) {
  double inf = (double)INFINITY, nan = (double)NAN;
  OK(real2(OP_ADD, DT_F32, 16777216, 1) == 16777216, "f32 adds in float");
  OK(real2(OP_MUL, DT_F16, 256, 256) == inf, "f16 overflows");
  OK(real2(OP_ADD, DT_BF16, 256, 1) == 256, "bf16 rounds");
  OK(isnan(real2(OP_MAX, DT_F64, nan, 1)) && isnan(real2(OP_MIN, DT_F32, 1, nan)), "max and min let a NaN through");
  OK(real2(OP_FMAX, DT_F64, nan, 1) == 1 && real2(OP_FMIN, DT_F32, 1, nan) == 1, "fmax and fmin do not");
  OK(real2(OP_LSE, DT_F64, -inf, -inf) == -inf && real2(OP_LSE, DT_F64, inf, inf) == inf &&
          real2(OP_LSE, DT_F64, inf, -inf) == inf && real2(OP_LSE, DT_F32, -inf, 2) == 2 &&
          real2(OP_LSE, DT_F64, 1000, 1) == 1000,
      "lse2 of infinities");
  OK(fabs(real2(OP_LSE, DT_F64, 1, 2) - log(exp(1) + exp(2))) < 1e-15 && isnan(real2(OP_LSE, DT_F64, nan, 1)), "lse2");
  OK(real2(OP_MOD, DT_F64, -7, 2) == 1 && real2(OP_MOD, DT_F32, 7, -2) == -1 && real2(OP_IDIV, DT_F64, -7, 2) == -4,
      "// and %% of reals");
  OK(real1(OP_SIGN, DT_F64, -3) == -1 && real1(OP_SIGN, DT_F64, 0) == 0 && isnan(real1(OP_SIGN, DT_F64, nan)), "sign");
  OK(real1(OP_ROUND, DT_F64, 2.5) == 2 && real1(OP_ROUND, DT_F32, -3.5) == -4, "round: ties to even");
  Value a = F(DT_F64, nan), b = F(DT_F64, 1);
  OK(!op_value(OP_LE, DT_BOOL, 2, (Value[]){a, b}).i && op_value(OP_NE, DT_BOOL, 2, (Value[]){a, a}).i &&
          !op_value(OP_EQ, DT_BOOL, 2, (Value[]){a, a}).i && op_value(OP_ISNAN, DT_BOOL, 1, &a).i,
      "NaN compares with nothing");
  Value below = F(DT_F32, -inf);
  OK_INT(op_value(OP_ISINF, DT_BOOL, 1, &below).i, 1, "isinf of -inf is true, which is 1");
  OK_INT(op_value(OP_ISNAN, DT_BOOL, 1, &below).i, 0, "isnan is false of it");
  for (int op = 0; op < OPS; op++) { /* every real operation has a case */
    if (op_info[op].laws & LAW_LOOP || (op_info[op].rule != RULE_REAL && op_info[op].rule != RULE_SAME)) continue;
    for (DType t = DT_F64; t <= DT_BF16; t++) {
      Value v[2] = {F(t, 0.5), F(t, 0.25)}, r = op_value((Op)op, t, (uint32_t)op_info[op].arity, v);
      if (r.dtype != t || real_round(t, r.f) != r.f) OK(false, "%s rounds to %s", op_info[op].name, dtype_name(t));
    }
  }
}

static bool dim_of(void *ctx, Str name, int64_t *out) {
  *out = *(int64_t *)ctx;
  return name->len == 1;
}

static void test_expr(void) {
  Arena *A = arena_new();
  Strings *T = strings_new(A);
  Exprs *P = exprs_new(A);
  int64_t label[] = {5}, n = 10;
  ExprEnv env = {.label = label, .n_label = 1, .dim = dim_of, .ctx = &n};
  const Expr *i = expr_label(P, 0), *j = expr_label(P, 1), *N = expr_dim(P, str_from(T, "N")),
             *M = expr_dim(P, str_from(T, "MM"));
  Value v;
  OK(expr_value(expr_op2(P, OP_LT, i, N), &env, &v) && v.i == 1 && v.dtype == DT_BOOL, "label and dim");
  OK(!expr_value(j, &env, &v) && !expr_value(M, &env, &v), "what is missing");
  const Expr *no = expr_op2(P, OP_LT, N, i), *missing = expr_op2(P, OP_LT, j, i);
  OK(expr_value(expr_op2(P, OP_AND, no, missing), &env, &v) && !v.i, "`and` is lazy");
  OK(!expr_value(expr_op2(P, OP_OR, no, missing), &env, &v), "`or` needs the missing value");
  OK(expr_value(expr_select(P, no, j, i), &env, &v) && v.i == 5, "select is lazy");
  OK(!expr_value(expr_read(P, DT_I64, 0, 1, &i), &env, &v), "a read has no value");
  OK(!expr_value(expr_op2(P, OP_UNIFORM, i, i), &env, &v), "neither has uniform");
  const Expr *sum = expr_select(P, no, j, i);
  for (int k = 0; k < 2000; k++) sum = expr_op2(P, OP_ADD, expr_select(P, no, j, sum), i);
  OK(expr_value(sum, &env, &v) && v.i == 5 + 2000 * 5, "lazy at any depth");
  Gen g = {.state = 9, .p = P, .t = T};
  int wrong = 0, known = 0;
  int64_t at[4] = {3, -1, 2, 0}, turn[2] = {1, 7};
  ExprEnv all = {.label = at, .n_label = 4, .turn = turn, .n_turn = 2, .dim = dim_of, .ctx = &n};
  for (int k = 0; k < 5000; k++) { /* putting values in and folding agrees with evaluating */
    const Expr *e = gen_expr(&g, DT_I64, 4), *to[4];
    for (int m = 0; m < 4; m++) to[m] = expr_int(P, DT_I64, at[m]);
    Value x = {0}, y = {0};
    bool a = expr_value(e, &all, &x), b = expr_value(expr_relabel(P, e, 4, to), &all, &y);
    wrong += (a && !b) || (a && x.i != y.i);
    known += a;
  }
  OK(wrong == 0 && known > 1000, "relabelling keeps the value (%d of 5000 have one)", known);
  arena_free(A);
}

static int64_t size_of(const Expr *e) { return expr_size_guess(e, dim_of, &(int64_t){5}); }

static void test_guesses(void) {
  Arena *A = arena_new();
  Strings *T = strings_new(A);
  Exprs *P = exprs_new(A);
  const Expr *N = expr_dim(P, str_from(T, "N")), *a = expr_dim(P, str_from(T, "AA")),
             *b = expr_dim(P, str_from(T, "BB")), *one = expr_int(P, DT_I64, 1), *eight = expr_int(P, DT_I64, 8);
  const Expr *less = expr_op2(P, OP_SUB, a, b), *up = expr_op2(P, OP_IDIV, expr_op2(P, OP_ADD, a, eight), eight);
  OK_INT(size_of(N), 5, "a dim that is known");
  OK_INT(size_of(a), 256, "one that is not");
  OK_INT(size_of(expr_op2(P, OP_SUB, a, N)), 251, "both");
  OK_INT(size_of(less), 240, "a difference of two");
  OK_INT(size_of(expr_op2(P, OP_ADD, less, one)), 241, "the places of a window");
  OK_INT(size_of(expr_op2(P, OP_IDIV, b, a)), 16, "a quotient of two");
  OK_INT(size_of(expr_op2(P, OP_SUB, expr_op2(P, OP_MUL, up, eight), a)), 8, "what is left of one is little");
  OK_INT(size_of(expr_op2(P, OP_SUB, N, a)), 1, "at least 1");
  OK_INT(size_of(expr_label(P, 0)), 0, "a label is not known");
  arena_free(A);
}

int main(void) {
  test_guesses();
  test_ints();
  test_rounding();
  test_casts();
  test_reals();
  test_expr();
  return DONE();
}
