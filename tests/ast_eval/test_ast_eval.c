/* The AST evaluator on small programs whose answers were worked out by hand. */
#include <math.h>
#include <stdlib.h>

#include "../tap.h"
#include "front/oracle/ast_eval.h"
#include "ein_rt.h"

typedef struct Run {
  Arena *arena;
  AstEval e;
  bool ok;
  const char *why;
} Run;

static bool dim_given(void *ctx, Str name, int64_t *out) {
  (void)ctx;
  if (strcmp(name->s, "GIVEN") != 0) return false;
  *out = 3;
  return true;
}

static bool input_given(void *ctx, Str name, AstTensor *t) {
  (void)ctx;
  if (strcmp(name->s, "given") != 0) return false;
  for (int64_t i = 0; i < t->count; i++) t->at[i] = (Value){.dtype = DT_I64, .i = 10 * (i + 1)};
  return true;
}

static AstFile *parse(Run *r, const char *name, const char *text) {
  Diags *d = diags_new(r->arena);
  AstFile *f =
      parse_file(r->arena, r->e.strings, source_new(r->arena, name, text, strlen(text)), d);
  Buf b = buf_new(r->arena);
  diags_text(d, &b, false);
  if (d->errors) tap_text("does not parse", b.s);
  return f;
}

static Run run_with(const char *prelude, const char *text, int64_t work) {
  Run r = {.arena = arena_new()};
  r.e = (AstEval){
      .arena = r.arena, .strings = strings_new(r.arena), .dim = dim_given, .input = input_given};
  AstFile *modules[1] = {NULL};
  if (prelude) modules[0] = parse(&r, "prelude.ein", prelude);
  r.e.modules = modules;
  r.e.n_modules = prelude != NULL;
  r.e.file = parse(&r, "test.ein", text);
  r.e.max_points = work;
  Span where;
  r.ok = ast_eval(&r.e, &r.why, &where);
  r.e.modules = NULL;
  return r;
}

static const AstTensor *tensor(const Run *r, const char *name) {
  for (uint32_t i = 0; i < r->e.tensors.len; i++)
    if (strcmp(r->e.tensors.at[i]->name->s, name) == 0) return r->e.tensors.at[i];
  return NULL;
}

static bool close_to(Value v, double want) {
  double got = dtype_is_float(v.dtype) ? v.f : (double)v.i;
  if (isnan(want) || isinf(want)) return isnan(want) ? (bool)isnan(got) : got == want;
  double slack = !dtype_is_float(v.dtype) ? 0
                 : v.dtype == DT_F64      ? 1e-12
                 : v.dtype == DT_F32      ? 1e-6
                                          : 1e-3;
  return fabs(got - want) <= slack * (1 + fabs(want));
}

/* Z, of that dtype, holds these numbers. */
static void expect(const char *name, const char *prelude, const char *text, DType t, int n,
                   const double *want) {
  Run r = run_with(prelude, text, 0);
  const AstTensor *z = tensor(&r, "Z");
  bool ok = r.ok && z && z->dtype == t && z->count == n;
  for (int i = 0; ok && i < n; i++) ok = z->at[i].dtype == t && close_to(z->at[i], want[i]);
  OK(ok, "%s", name);
  if (!ok) printf("#   %s\n", r.ok ? z ? dtype_name(z->dtype) : "no Z" : r.why);
  for (int64_t i = 0; !ok && z && i < z->count; i++)
    printf("#   %lld: %.17g\n", (long long)i,
           dtype_is_float(z->dtype) ? z->at[i].f : (double)z->at[i].i);
  arena_free(r.arena);
}

static void refused(const char *name, const char *text, const char *why) {
  Run r = run_with(NULL, text, 0);
  OK(!r.ok && strstr(r.why, why), "%s", name);
  if (r.ok || !strstr(r.why, why)) printf("#   %s\n", r.ok ? "was taken" : r.why);
  arena_free(r.arena);
}

#define COUNT_OF(...) (int)(sizeof((double[]){__VA_ARGS__}) / sizeof(double))
#define Z(name, text, t, ...) \
  expect(name, NULL, text, t, COUNT_OF(__VA_ARGS__), (double[]){__VA_ARGS__})

#define SOFTMAX "def softmax[j](x) { m = max[j] x;  e = exp(x - m);  e / (sum[j] e) }\n"
#define CONV    "def conv1d[x,r,c](u, w) = sum[r,c] u[x = x + r - size(r)//2] ?? 0 * w\n"

static void products(void) {
  Z("matmul",
    "input A[i:2,k:3] : f32 = i*3+k\ninput B[k:3,j:2] : f32 = k-j\nZ[i,j] = sum[k] A[i,k] * B[k,j]",
    DT_F32, 5, 2, 14, 2);
  Z("a broadcast label has its size on the left", "input A[i:2] : i32 = i + 1\nZ[i, x:3] = A[i]",
    DT_I32, 1, 1, 1, 2, 2, 2);
  Z("an outer sum reads as sigma does", "input A[i:3] : i64 = i\nZ[i] = A[i] + sum[i] A[i] * 2",
    DT_I64, 6, 7, 8);
  Z("call form", "input A[i:2,k:3] : f64 = i*3+k\nZ = sum(A[i,k])", DT_F64, 15);
  Z("call form, a label bound outside", "input A[i:2,k:3] : f64 = i*3+k\nZ[i] = max(A[i,k] * k)",
    DT_F64, 4, 10);
  Z("nested reducers of one name", "input A[i:3] : i64 = i + 1\nZ = sum[i] A[i] * (sum[i] A[i])",
    DT_I64, 36);
  Z("trace", "input A[i:3,j:3] : i64 = 3*i + j\nZ = sum[i] A[i,i]", DT_I64, 12);
  Z("diagonal", "input A[i:3,j:3] : i64 = 3*i + j\nZ[i] = A[i,i]", DT_I64, 0, 4, 8);
  Z("a given dim and a given input",
    "dim GIVEN, M = 2*GIVEN\ninput given[n:GIVEN] : i32\nZ[n] = given[n] + M", DT_I64, 16, 26, 36);
  Z("bare sizes", "input X[2,2] : i16 = 7\nZ[i] = X[i,0] - X[0,i] + i", DT_I64, 0, 1);
  Z("f32 where an input says nothing", "input A[i:2] = i\nZ[i] = A[i]", DT_F32, 0, 1);
  Z("a tensor's name can be a label's, if it has axes",
    "input A[A:2] : i64 = A + 1\nZ[A] = A[A] * A", DT_I64, 0, 2);
  Z("extent 0", "input X[i:0] : f32 = 1\nZ = sum[i] X[i]", DT_F32, 0);
}

static void groups(void) {
  const char *o = "input O[s:2,h:2,d:3] : i64 = 100*s + 10*h + d\n";
  char text[400];
  snprintf(text, sizeof text, "%sZ[s, (h d)] = O[s,h,d]", o);
  Z("merge", text, DT_I64, 0, 1, 2, 10, 11, 12, 100, 101, 102, 110, 111, 112);
  snprintf(text, sizeof text, "%sY[s, (h d)] = O[s,h,d]\nZ[d,h:2,s] = Y[s, (h d)]", o);
  Z("split and transpose", text, DT_I64, 0, 100, 10, 110, 1, 101, 11, 111, 2, 102, 12, 112);
  snprintf(text, sizeof text, "%sY[s, (h d)] = O[s,h,d]\nZ[s] = sum[h:2, d] Y[s, (h d)] * h", o);
  Z("split under a reducer", text, DT_I64, 33, 333);
  snprintf(text, sizeof text,
           "%sZ[s] = argmax[(h d)] (if h == 1 and d == 1 then 1000 else O[s,h,d])", o);
  Z("argmax over a group", text, DT_I64, 4, 4);
  refused("a group that does not divide", "input X[i:7] : f32 = 1\nZ[h:2, d] = X[(h d)]",
          "does not divide");
  refused("a group that disagrees", "input X[i:8] : f32 = 1\nZ[h:2, d:2] = X[(h d)]",
          "is 4 here but 2");
}

static void indices(void) {
  Z("gather",
    "input E[v:3,a:2] : i32 = 10*v + a\ninput tok[s:2] : i64 = 2 - 2*s\nZ[s,a] = E[tok[s], a]",
    DT_I32, 20, 21, 0, 1);
  Z("a gather out of range under ??",
    "input E[v:3] : i32 = v + 1\ninput t[s:3] : i64 = 2*s - 1\nZ[s] = E[t[s]] ?? 9", DT_I32, 9, 2,
    9);
  refused("a gather out of range", "input E[v:3] : i32 = v\nZ[s:4] = E[s]", "is 3 here but 4");
  refused("a gather out of range, at a point", "input E[v:3] : i32 = v\nZ[s:4] = E[s + 0]",
          "no value at place 3");
  refused("a negative index", "input E[v:3] : i32 = v\nZ[s:3] = E[s - 1]", "no value at place 0");
  Z("scatter",
    "input bin[i:4] : i64 = i % 2 * 2\ninput w[i:4] : i64 = i + 1\nZ[b:3] = sum[i where bin[i] == "
    "b] w[i]",
    DT_I64, 4, 0, 6);
  Z("a rank-0 tensor as an index", "k = 2\ninput X[i:3] : i64 = i*i\nZ = X[k]", DT_I64, 4);
  Z("quasi-affine", "input X[i:6] : i64 = i\nZ[i:12] = X[i // 2] * (i % 2)", DT_I64, 0, 0, 0, 1, 0,
    2, 0, 3, 0, 4, 0, 5);
  Z("?? binds tightest", "input X[i:3] : i64 = i + 1\nZ[i] = X[i-1] ?? 0 + X[i]", DT_I64, 1, 3, 5);
  Z("?? under a reducer", "input X[i:3] : f32 = i\nZ[i:2] = max[r:2] X[2*i+r] ?? -inf", DT_F32, 1,
    2);
  Z("?? around a reducer", "input X[i:3] : f32 = i\nZ[i:2] = (max[r:2] X[2*i+r]) ?? 7", DT_F32, 1,
    7);
  refused("a reducer skips no read", "input X[i:3] : f32 = i\nZ[i:2] = max[r:2] X[2*i+r]",
          "no value at place 1");
  Z("a predicate covers", "input X[i:3] : f32 = i\nZ[i:2] = max[r:2 where 2*i+r < 3] X[2*i+r]",
    DT_F32, 1, 2);
  Z("an if covers", "input X[i:3] : f32 = i\nZ[i:3] = if i > 0 then X[i-1] else 5", DT_F32, 5, 0,
    1);
  Z("and, or are lazy", "input X[i:3] : f32 = i\nZ[i:3] = i > 0 and X[i-1] == 1 or i < 1", DT_BOOL,
    1, 0, 1);
  refused("a label nobody binds", "input X[i:3] : f32 = i\nZ = X[i]", "neither a label");
  refused("no extent", "Z[i] = i", "how far");
  refused("extents that disagree",
          "input X[i:3] : f32 = i\ninput Y[i:4] : f32 = i\nZ[i] = X[i] * Y[i]", "3 elsewhere");
  refused("a label that is a dim", "dim i = 2\ninput X[j:2] : f32 = 1\nZ[i] = X[i]",
          "another meaning");
  refused("a label twice on the left", "input X[j:2] : f32 = 1\nZ[i,i] = X[i]", "bound twice");
}

static void reducers(void) {
  Z("argmax: the lowest index on ties", "input X[i:4] : f32 = i % 3\nZ = argmax[i] X[i]", DT_I64,
    2);
  Z("argmax: the first NaN wins",
    "input X[i:4] : f32 = if i == 1 or i == 2 then nan else i\nZ = argmax[i] X[i]", DT_I64, 1);
  Z("argmin under a predicate", "input X[i:4] : i8 = i\nZ = argmin[i where i % 2 == 1] X[i]",
    DT_I64, 1);
  refused("argmax over nothing", "input X[i:4] : i8 = i\nZ = argmax[i where i > 9] X[i]",
          "no value");
  refused("mean over nothing", "input X[i:0] : f32 = i\nZ = mean[i] X[i]", "no value");
  Z("mean over nothing under ??", "input X[i:2] : f32 = i\nZ = (mean[i where i > 9] X[i]) ?? -1",
    DT_F32, -1);
  Z("mean of integers", "input X[i:4] : i8 = 100 + i\nZ = mean[i] X[i]", DT_F64, 101.5);
  Z("mean under a predicate", "input X[i:4] : f32 = i\nZ = mean[i where i != 1] X[i]", DT_F32,
    5.0 / 3);
  Z("mean of f16 sums in f32", "input X[i:4] : f16 = 60000\nZ = mean[i] X[i]", DT_F16, 60000);
  Z("count", "input X[i:5] : f32 = i\nZ = count[i where X[i] > 1.5]", DT_I64, 3);
  Z("count of a size", "Z = count[i:5 where i % 2 == 0]", DT_I64, 3);
  Z("any, all",
    "input X[i:3] : f32 = i\nZ[k:2] = if k == 0 then any[i] (X[i] > 1) else all[i] (X[i] > 0)",
    DT_BOOL, 1, 0);
  Z("max propagates NaN, fmax does not",
    "input X[i:3] : f32 = if i == 1 then nan else i\nZ[k:2] = if k == 0 then max[i] X[i] else "
    "fmax[i] X[i]",
    DT_F32, NAN, 2);
  Z("max over nothing", "input X[i:3] : i8 = i\nZ = max[i where i > 9] X[i]", DT_I8, -128);
  Z("min over nothing", "input X[i:3] : f32 = i\nZ = min[i where i > 9] X[i]", DT_F32, INFINITY);
  Z("prod", "input X[i:4] : i8 = 10\nZ = prod[i] X[i]", DT_I64, 10000);
  Z("logsumexp", "input X[i:2] : f64 = log(1 + i)\nZ = logsumexp[i] X[i]", DT_F64, log(3));
  Z("logsumexp of -inf", "input X[i:2] : f32 = -inf\nZ = logsumexp[i] X[i]", DT_F32, -INFINITY);
  Z("a monoid",
    "monoid top(a, b) = if a > b then a else b identity -inf\ninput X[i:3] : f32 = i - 3\n"
    "Z = top[i](X[i])",
    DT_F32, -1);
  Z("a monoid of bools", "monoid odd(a, b) = a != b identity false\nZ[i:3] = odd[j:3](i * j == 2)",
    DT_BOOL, 0, 1, 1);
  Z("a monoid over nothing",
    "monoid both(a, b) = a * b identity 1\ninput X[i:3] : i8 = i\nZ = both[i where i > 5](X[i])",
    DT_I8, 1);
  Z("the lse monoid",
    "monoid lse(a, b) = if a == b then a + log(2) else max(a,b) + log1p(exp(-abs(a-b))) identity "
    "-inf\n"
    "input X[i:2,j:2] : f64 = log(1 + 2*i + j)\nZ[i] = lse[j](X[i,j])",
    DT_F64, log(3), log(7));
  Z("a monoid at two dtypes",
    "def more(x, y) { z = x; if z > y then z else y }\nmonoid top(a, b) = more(a, b) identity "
    "-inf\n"
    "input X[i:2] : i8 = i\ninput Y[i:2] : f32 = i / 2\nx = top[i](X[i])\ny = top[i](Y[i])\nZ = x "
    "+ y",
    DT_F32, 1.5);
  Z("a monoid inside a monoid",
    "monoid top(a, b) = max(a, b) identity -inf\ninput X[i:2,j:2] : f32 = i - j\n"
    "Z = top[i](-(top[j](-X[i,j])))",
    DT_F32, 0);
  Z("a monoid over tuples",
    "monoid best((v, at), (w, to)) =\n"
    "(max(v, w), if w > v or (w == v and to < at) then to else at) identity (-inf, 99)\n"
    "input X[i:2,j:3] : f32 = (j + 1) * (2 - j) + i\nv[i], Z[i] = best[j](X[i,j], j)",
    DT_I64, 0, 0);
  Z("a monoid over tuples, of which one component becomes a float",
    "monoid mean2((n, m), (k, o)) = (n + k, m + (o - m) * k / max(n + k, 1)) identity (0, 0)\n"
    "n[i:3], Z[i:3] = mean2[j:4 where j >= i](1, 2 * j)",
    DT_F64, 3, 4, 5);
}

static void types(void) {
  Z("i8 products summed in i64", "input A[i:3] : i8 = 100\nZ = sum[i] A[i] * A[i]", DT_I64, 30000);
  Z("i8 products wrap", "input A[i:1] : i8 = 100\nZ[i] = A[i] * A[i]", DT_I8, 16);
  Z("an argument is an equation: it wraps before it is widened",
    "def total[i](x) = sum[i] x\ninput A[i:2] : i8 = 100\nZ = total[i](A[i] * A[i])", DT_I64, 32);
  Z("a literal takes i8", "input A[i:2] : i8 = 127\nZ[i] = A[i] + 1", DT_I8, -128, -128);
  refused("a literal that does not fit", "input A[i:2] : i8 = 1\nZ[i] = A[i] + 128",
          "does not fit in i8");
  Z("-128 fits", "input A[i:1] : i8 = 1\nZ[i] = A[i] + -128", DT_I8, -127);
  Z("a label is i64", "input A[i:2] : i8 = 127\nZ[i] = A[i] + i", DT_I64, 127, 128);
  Z("a dim is i64, weak beside a float", "dim D = 4\ninput A[i:1] : f32 = 6\nZ[i] = A[i] / sqrt(D)",
    DT_F32, 3);
  Z("u8 with i8", "input A[i:1] : u8 = 255\ninput B[i:1] : i8 = -1\nZ[i] = A[i] + B[i]", DT_I16,
    254);
  Z("f16 with bf16", "input A[i:1] : f16 = 1\ninput B[i:1] : bf16 = 1\nZ[i] = A[i] + B[i]", DT_F32,
    2);
  Z("i64 with f16", "input A[i:1] : f16 = 1\ninput B[i:1] : i64 = 2\nZ[i] = A[i] * B[i]", DT_F16,
    2);
  Z("a weak float with an int", "input A[i:1] : i8 = 3\nZ[i] = A[i] * 0.5", DT_F64, 1.5);
  Z("/ of ints", "input A[i:2] : i32 = i\nZ[i] = A[i] / 2", DT_F64, 0, 0.5);
  Z("// and % floor", "input A[i:2] : i32 = 7 - 14*i\nZ[i] = 10 * (A[i] // 2) + A[i] % 4", DT_I32,
    33, -39);
  Z("// and % by 0", "input A[i:2] : i32 = i + 3\nZ[i] = A[i] // 0 + A[i] % 0", DT_I32, 0, 0);
  Z("a power", "input A[i:2] : i32 = i + 2\nZ[i] = A[i]^2", DT_I32, 4, 9);
  refused("a literal negative exponent", "input A[i:2] : i32 = i + 2\nZ[i] = A[i]^(-1)",
          "negative exponent");
  Z("a negative exponent", "input A[i:2] : i32 = i + 2\nZ[i] = A[i]^(A[i] - 3)", DT_I32, 0, 1);
  Z("exp of an int", "input A[i:1] : i32 = 0\nZ[i] = exp(A[i])", DT_F64, 1);
  Z("comparisons are exact",
    "input A[i:1] : i64 = 9007199254740993\ninput B[i:1] : u8 = 255\n"
    "Z[k:4] = if k == 0 then A[0] == 9007199254740992 else if k == 1 then B[0] > -1 else if k == 2 "
    "then B[0] < 300 else B[0] == -1",
    DT_BOOL, 0, 1, 1, 0);
  Z("bools add in i64", "input A[i:3] : bool = i > 0\nZ[i] = A[i] + A[i]", DT_I64, 0, 2, 2);
  Z("bools are summed in i64", "input A[i:3] : bool = i > 0\nZ = sum[i] A[i]", DT_I64, 2);
  Z("comparisons under a sum are not widened",
    "input A[i:3] : f32 = i / 2\nZ = sum[i] (A[i] > 0.25)", DT_I64, 2);
  Z("the branches of an if are joined", "input A[i:2] : f32 = 1\nZ[i] = if i == 0 then 1 else A[i]",
    DT_F32, 1, 1);
  Z("of ints too",
    "input A[i:2] : i8 = 5\ninput B[i:2] : i32 = 6\nZ[i] = if i == 0 then A[i] else B[i]", DT_I32,
    5, 6);
  Z("literals alone", "Z = 1 + 2", DT_I64, 3);
  Z("float literals alone", "Z = 1 + 0.5", DT_F64, 1.5);
  Z("a tensor is not weak", "c = 0.5\ninput A[i:1] : f32 = 2\nZ[i] = c * A[i]", DT_F64, 1);
  Z("f16 is summed in f32", "input A[i:4096] : f16 = 1\nZ = (sum[i] A[i]) / 2", DT_F16, 2048);
  Z("f16 reads are widened first", "input A[i:2] : f16 = 300\nZ = (sum[i] A[i] * A[i] / 100)",
    DT_F16, 1800);
  Z("sum:f64", "input A[i:3] : f32 = 16777216 * (1 - i) + (i - 1)^2\nZ = sum:f64[i] A[i]", DT_F64,
    1);
  Z("an equation rounds", "Z : f16 = 1 + 1e-4", DT_F16, 1);
  Z("casts",
    "input A[i:4] : f32 = if i == 0 then nan else if i == 1 then 300 else if i == 2 then -1.9 else "
    "-inf\n"
    "Z[i] = i8(A[i])",
    DT_I8, 0, 127, -1, -128);
  Z("weak operations stay weak",
    "dim D = 2\ninput A[i:1] : f32 = 1\nZ[i] = A[i] * (1 / D + i * 0.5)", DT_F32, 0.5);
  Z("0/0 of a sum of floats is not //", "input A[i:2] : i32 = i\nZ = sum[i] 0.5 * (A[i] // 0)",
    DT_F64, 0);
}

static void defs(void) {
  Z("softmax",
    SOFTMAX "input X[j:3] : f64 = log(if j == 0 then 1 else if j == 1 then 2 else 5)\nZ[j] = "
            "softmax[j](X[j])",
    DT_F64, 0.125, 0.25, 0.625);
  Z("softmax along another label",
    SOFTMAX "input X[i:2,k:2] : f64 = log(1 + 2 * i * k)\nZ[i,k] = softmax[i](X[i,k])", DT_F64, 0.5,
    0.25, 0.5, 0.75);
  expect("softmax of the prelude, names of the program in its way", SOFTMAX,
         "input m[x:2] : f64 = 0\ne = 7\nj = 3\nZ[x] = softmax[x](m[x])", DT_F64, 2,
         (double[]){0.5, 0.5});
  Z("softmax of a softmax",
    SOFTMAX "input X[j:2] : f64 = 0\nZ[j] = softmax[j](softmax[j](X[j]) + j * log(3))", DT_F64,
    0.25, 0.75);
  Z("causal softmax",
    SOFTMAX "input S[s:3,t:3] : f64 = 0\nZ[s,t] = softmax[t where t <= s](S[s,t]) ?? 0", DT_F64, 1,
    0, 0, 0.5, 0.5, 0, 1.0 / 3, 1.0 / 3, 1.0 / 3);
  Z("a reducer around a causal softmax",
    SOFTMAX "input S[s:3,t:3] : f64 = 0\ninput V[t:3] : f64 = 3 * (t + 1)\n"
            "Z[s] = sum[t] softmax[t where t <= s](S[s,t]) * V[t]",
    DT_F64, 3, 4.5, 6);
  refused("causal softmax is partial",
          SOFTMAX "input S[s:3,t:3] : f64 = 0\nZ[s,t] = softmax[t where t <= s](S[s,t])",
          "no value at place 1");
  Z("?? inside the def does not lift the predicate",
    "def f[t](x) = x ?? 5\ninput X[t:3] : i64 = t\nZ[t] = f[t where t > 0](X[t]) ?? 9", DT_I64, 9,
    1, 2);
  Z("a def that reduces its label",
    "def norm[j](x) = sum[j] x * x\ninput X[i:2,j:2] : i64 = i + j\nZ[i] = norm[j](X[i,j])", DT_I64,
    1, 5);
  Z("and under a predicate",
    "def norm[j](x) = sum[j] x * x\ninput X[i:2,j:3] : i64 = i + j\nZ[i] = norm[j where j > "
    "i](X[i,j])",
    DT_I64, 5, 9);
  Z("call form leaves the def's label alone",
    "def norm[j](x) = sum[j] x * x\ninput X[i:2,j:2] : i64 = i + j\nZ = sum(norm[j](X[i,j]))",
    DT_I64, 6);
  Z("a def in a def",
    SOFTMAX "def soft2[a](y) { s = softmax[a](y); 2 * s }\ninput X[j:2] : f64 = j * log(3)\nZ[j] = "
            "soft2[j](X[j])",
    DT_F64, 0.5, 1.5);
  Z("predicates travel into inner defs",
    SOFTMAX "def soft2[a](y) = 2 * softmax[a](y + 0)\ninput X[j:3] : f64 = j * log(3)\nZ[j] = "
            "soft2[j where j < 2](X[j]) ?? -1",
    DT_F64, 0.5, 1.5, -1);
  Z("hygiene: an argument's reducer and the def's",
    "def f[j](x) = sum[j] x + sum[k:2] (sum[j] x)\ninput X[j:2,k:3] : i64 = j + 10*k\nZ[k] = "
    "f[j](X[j,k] + (sum[k] X[j,k]))",
    DT_I64, 192, 252, 312);
  refused("a def knows only what was before it", "def f(x) = f(x)\nZ = f(1)", "no function");
  refused("labels and arguments are counted", SOFTMAX "Z = softmax(1)", "takes 1 labels");
  Z("layernorm",
    "def ln[j](x, g, b, eps) {\n mu = mean[j] x\n v = mean[j] (x - mu)^2\n (x - mu) * rsqrt(v + "
    "eps) * g + b\n}\n"
    "input X[i:2,j:2] : f64 = i + 2 * j\ninput G[j:2] : f64 = 1 + j\nZ[i,j] = ln[j](X[i,j], G[j], "
    "0.5, 0)",
    DT_F64, -0.5, 2.5, -0.5, 2.5);
  Z("a literal argument stays weak",
    "def half(x, c) = x * c\ninput X[i:2] : f32 = i\nZ[i] = half(X[i], 0.5)", DT_F32, 0, 0.5);
}

static void substitutions(void) {
  Z("conv1d",
    "def conv[x,r](u, w) = sum[r] u[x = x + r - size(r)//2] ?? 0 * w\n"
    "input U[x:4] : i64 = x + 1\ninput F[r:3] : i64 = 10^r\nZ[x:6] = conv[x,r](U[x], F[r])",
    DT_I64, 210, 321, 432, 43, 4, 0);
  Z("conv1d over channels",
    CONV "input U[n:2,x:3,c:2] : i64 = x + 1 + 10*c + 100*n\ninput F[r:3,c:2,k:1] : i64 = if r == "
         "0 then 1 + c else 0\n"
         "Z[n,x:3,k] = conv1d[x,r,c](U[n,x,c], F[r,c,k])",
    DT_I64, 0, 23, 26, 0, 323, 326);
  Z("size in an argument is the argument's own",
    "def at0[x](u) = u[x = 0]\ninput U[x:4] : i64 = 1\nZ[x:2] = at0[x](U[x] * size(x)) + size(x)",
    DT_I64, 6, 6);
  Z("a parenthesised expression", "input X[i:3] : i64 = i\nZ[i:3] = (X[i] * 10 + i)[i = 2 - i]",
    DT_I64, 22, 11, 0);
  Z("its own extent bounds it", "input X[i:3] : i64 = i\nZ[i:4] = (X[i])[i = i - 1] ?? 7", DT_I64,
    7, 0, 1, 2);
  Z("of a label that is known inside only",
    "input X[i:3] : i64 = i + 5\nZ[k:2] = (X[i] * i)[i = k + 1]", DT_I64, 6, 14);
  Z("in the call form",
    "input X[i:3] : i64 = i + 5\ninput Y[k:2] : i64 = k\nZ = sum((X[i])[i = 2] + Y[k])", DT_I64,
    15);
  Z("two at once", "input X[i:2,j:2] : i64 = 10*i + j\nZ[i:2,j:2] = (X[i,j])[i = j, j = i]", DT_I64,
    0, 10, 1, 11);
  Z("of a local equation",
    "def lag[t](x) { y = 2 * x; y - y[t = t - 1] ?? 0 }\ninput X[t:3] : i64 = t*t\nZ[t] = "
    "lag[t](X[t])",
    DT_I64, 0, 2, 6);
  Z("of a local equation that holds a reducer over the label",
    "def f[t](x) { y = x - (sum[t] x); y[t = size(t) - 1 - t] }\ninput X[t:3] : i64 = t\nZ[t:3] = "
    "f[t](X[t])",
    DT_I64, -1, -2, -3);
  Z("a parameter under a predicate, a local too",
    "def f[t](x) { y = x; 10 * (x[t = t - 1] ?? 0) + y[t = t - 1] ?? 0 }\ninput X[t:4] : i64 = "
    "t\nZ[t] = f[t where t > 1](X[t]) ?? -1",
    DT_I64, -1, -1, 10, 22);
  Z("through two defs",
    "def prev[t](x) = x[t = t - 1] ?? 0\ndef prev2[u](y) = prev[u](prev[u](y))\ninput X[i:4] : i64 "
    "= i + 1\nZ[i:4] = prev2[i](X[i])",
    DT_I64, 0, 0, 1, 2);
  Z("an affine argument",
    "def st[x,r](u, s, pad) = sum[r] u[x = s*x + r - pad] ?? 0\ninput U[x:4] : i64 = x + 1\nZ[x:2] "
    "= st[x,r:3](U[x], 2, 1)",
    DT_I64, 3, 9);
  refused("a label that is not there",
          "def f[t,s](x) = x[t = 0]\ninput X[s:3] : i64 = 1\nZ[s,t:2] = f[t,s](X[s])",
          "no label t");
}

static void random_numbers(void) {
  Run r = run_with(NULL,
                   "Z[i:2,j:3] = uniform[i,j](7)\nN[i:2,j:3] = normal[j,i](3)\nP[h:5] = "
                   "permutation[h](4)\nI[h] = inverse_permutation[h:5](4)\nQ[h] = I[P[h]]",
                   0);
  const AstTensor *z = tensor(&r, "Z"), *n = tensor(&r, "N"), *q = tensor(&r, "Q");
  OK(r.ok, "random numbers run");
  if (!r.ok) printf("#   %s\n", r.why);
  OK(z && z->dtype == DT_F32 && z->at[4].f == (double)ein_uniform(7, 4),
     "uniform by the row-major index");
  OK(n && n->at[1].f == (double)ein_normal(3, 2), "normal by the labels as written");
  bool same = q != NULL;
  for (int i = 0; same && i < 5; i++) same = q->at[i].i == i;
  OK(same, "a permutation and its inverse");
  arena_free(r.arena);
}

static void ends(void) {
  refused("repeat", "repeat t < 3 { state W = 0\n next W = W + 1 }", "repeat");
  refused("grad", "input X[i:2] : f32 = 1\nl = sum[i] X[i]\nZ[i:2] = grad(l, X[i])", "grad");
  refused("assert", "dim N = 3\nassert N == 4, \"four\"\nZ = 1", "four");
  Z("assert that holds", "dim N = 3\nassert N == 3, \"three\"\nZ = N", DT_I64, 3);
  refused("no value for a dim", "dim K\nZ = K", "no value");
  refused("too many points", "Z[i:100000, j:100000] = i + j", "too many points");
  refused("a name twice", "Z = 1\nZ = 2", "defined twice");
  Run r = run_with(NULL, "Z[i:1000] = sum[j:1000] i * j", 10000);
  OK(!r.ok && strstr(r.why, "too much work"), "work is bounded");
  OK(r.e.work < 5000, "what would take 100 times as much ends early: %lld", (long long)r.e.work);
  arena_free(r.arena);
  r = run_with(NULL, "Z[i:100] = sum[j:100 where j >= i] i * j", 100000);
  OK(r.ok && r.e.work > 50000, "points that take less and less are not too much: %lld", (long long)r.e.work);
  arena_free(r.arena);
  r = run_with(NULL, "Z[i:100] = sum[j:100 where j >= i] i * j", 50000);
  OK(!r.ok && r.e.work > 50000, "what takes little more than it may ends there: %lld", (long long)r.e.work);
  arena_free(r.arena);
  r = run_with(NULL, "input X[i:2] : f32 = 1\nY[i] = X[i]\noutput Z = 2\noutput Y", 0);
  OK(r.ok && tensor(&r, "X")->input && !tensor(&r, "X")->output && tensor(&r, "Y")->output &&
         tensor(&r, "Z")->output,
     "inputs and outputs are marked");
  arena_free(r.arena);
  char deep[3000] = "Z = ";
  for (int i = 0; i < 900; i++) strcat(deep, "(");
  strcat(deep, "1");
  for (int i = 0; i < 900; i++) strcat(deep, ")");
  Z("deep nesting", deep, DT_I64, 1);
}

int main(void) {
  products();
  groups();
  indices();
  reducers();
  types();
  defs();
  substitutions();
  random_numbers();
  ends();
  return DONE();
}
