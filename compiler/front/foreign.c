/* front/foreign.c - words of other languages and systems, and what is written here instead. One table a kind of word:
 * statements, functions, dtypes. */
#include "foreign.h"

#include "../base/base.h"

#include <string.h>

typedef struct Foreign { const char *word, *hint; } Foreign;

static const char *foreign_find(const Foreign *all, size_t n, const char *s, size_t len) {
  for (size_t i = 0; i < n; i++)
    if (strlen(all[i].word) == len && memcmp(all[i].word, s, len) == 0) return all[i].hint;
  return NULL;
}

const char *foreign_word(const char *s, size_t len) {
  static const Foreign words[] = {
    {"let", "an equation needs no `let`: `x = ...` defines"},
    {"var", "an equation needs no `var`: `x = ...` defines"},
    {"const", "a size is `dim N = 8`, anything else an equation: `x = ...`"},
    {"tensor", "data is declared by `input X[i:8] : f32`, the rest by equations: `x[i] = ...`"},
    {"for", "`sum[i] ...` runs over a label, `repeat t < T { ... }` over time; an equation is for all its labels already"},
    {"while", "`repeat t < T until done { ... }` iterates"},
    {"loop", "`repeat t < T { ... }` iterates"},
    {"do", "`repeat t < T { ... }` iterates"},
    {"return", "a def's value is the last line of its block"},
    {"function", "write `def f[j](x) = ...`"},
    {"func", "write `def f[j](x) = ...`"},
    {"fn", "write `def f[j](x) = ...`"},
    {"fun", "write `def f[j](x) = ...`"},
    {"lambda", "write `def f[j](x) = ...`"},
    {"import", "write `use nn` or `use \"file.ein\"`"},
    {"from", "write `use nn` or `use \"file.ein\"`"},
    {"include", "write `use nn` or `use \"file.ein\"`"},
    {"print", "`output x` makes a result of a tensor"},
    {"elif", "write `else if`"},
    {"elseif", "write `else if`"},
    {"in", "`repeat t < T { ... }` iterates; `sum[i] ...` runs over a label"},
  };
  return foreign_find(words, COUNT(words), s, len);
}

const char *foreign_function(const char *s, size_t len) {
  static const Foreign functions[] = {
    {"pow", "a power is `x^2`"},
    {"power", "a power is `x^2`"},
    {"square", "a square is `x^2`"},
    {"ln", "the natural logarithm is `log(x)`"},
    {"fabs", "an absolute value is `abs(x)`"},
    {"absolute", "an absolute value is `abs(x)`"},
    {"maximum", "the larger of two is `max(a, b)`"},
    {"minimum", "the smaller of two is `min(a, b)`"},
    {"amax", "over a label it is `max[j] X[i,j]`"},
    {"amin", "over a label it is `min[j] X[i,j]`"},
    {"add", "write `a + b`"},
    {"subtract", "write `a - b`"},
    {"multiply", "write `a * b`"},
    {"mul", "write `a * b`"},
    {"divide", "write `a / b`"},
    {"div", "write `a / b`; of integers, floored, `a // b`"},
    {"floor_divide", "write `a // b`"},
    {"mod", "a remainder is `a % b`"},
    {"fmod", "a remainder is `a % b`, which has the sign of b"},
    {"remainder", "a remainder is `a % b`"},
    {"select", "a choice is `if c then a else b`"},
    {"ifelse", "a choice is `if c then a else b`"},
    {"clip", "it is `clamp(x, lo, hi)`"},
    {"average", "an average is `mean[j] X[i,j]`"},
    {"norm", "a norm is `sqrt(sum[i] x[i] ^ 2)`"},
    {"var", "it is `variance[j](x)`"},
    {"std", "it is `stddev[j](x)`"},
    {"log_softmax", "it is `logsoftmax[j](x)`"},
    {"layer_norm", "it is `layernorm[j](x, g, b, eps)`"},
    {"swish", "it is `silu(x)`"},
    {"leaky_relu", "write `max(x, 0.01 * x)`"},
    {"arccos", "it is `acos(x)`"},
    {"arcsin", "it is `asin(x)`"},
    {"arctan", "it is `atan(x)`"},
    {"arctan2", "it is `atan2(a, b)`"},
    {"dot", "a product is written out: `sum[k] A[i,k] * B[k,j]`"},
    {"matmul", "a product is written out: `sum[k] A[i,k] * B[k,j]`"},
    {"mm", "a product is written out: `sum[k] A[i,k] * B[k,j]`"},
    {"bmm", "a product is written out: `sum[k] A[i,k] * B[k,j]`"},
    {"einsum", "a product is written out: `sum[k] A[i,k] * B[k,j]`"},
    {"tensordot", "a product is written out: `sum[k] A[i,k] * B[k,j]`"},
    {"outer", "an outer product is an equation: `Z[i,j] = x[i] * y[j]`"},
    {"trace", "a trace is `sum[i] A[i,i]`"},
    {"diag", "a diagonal is `A[i,i]`"},
    {"transpose", "a transpose is an equation: `B[j,i] = A[i,j]`"},
    {"zeros", "a tensor of zeros is an equation: `Z[i:8] = 0`"},
    {"zeros_like", "a tensor of zeros is an equation: `Z[i:8] = 0`"},
    {"ones", "a tensor of ones is an equation: `Z[i:8] = 1`"},
    {"full", "a tensor of one value is an equation: `Z[i:8] = 1`"},
    {"arange", "a label is a number: `N[i:8] = i`"},
    {"range", "a label is a number: `N[i:8] = i`"},
    {"iota", "a label is a number: `N[i:8] = i`"},
    {"one_hot", "it is an equation: `H[i,k:8] = if x[i] == k then 1 else 0`"},
    {"concat", "it is an equation: `Z[i:7] = if i < 3 then a[i + 0] else b[i - 3]`"},
    {"concatenate", "it is an equation: `Z[i:7] = if i < 3 then a[i + 0] else b[i - 3]`"},
    {"stack", "it is an equation: `Z[k:2, i] = if k == 0 then a[i] else b[i]`"},
    {"cumsum", "it is an equation: `C[i:8] = sum[k where k <= i] x[k]`"},
    {"gather", "a gather is a read: `X[index[i], j]`"},
    {"take", "a gather is a read: `X[index[i], j]`"},
    {"rand", "random numbers are `uniform[i,j](seed)`"},
    {"random", "random numbers are `uniform[i,j](seed)`"},
    {"randn", "random numbers are `normal[i,j](seed)`"},
    {"sort", "there is no sort; a position is counted: `R[i] = count[k where x[k] < x[i]]`"},
    {"argsort", "there is no sort; a position is counted: `R[i] = count[k where x[k] < x[i]]`"},
    {"len", "how large a label is says `size(i)`"},
    {"shape", "how large a label is says `size(i)`"},
    {"reshape", "a group splits and merges: `Y[s, (h d)] = X[s,h,d]`"},
    {"eye", "the unit matrix is an equation: `E[i:8,j:8] = if i == j then 1 else 0`"},
  };
  return foreign_find(functions, COUNT(functions), s, len);
}

const char *foreign_dtype(const char *s, size_t len) {
  static const Foreign dtypes[] = {
    {"float", "write `f32`, or `f64`"},
    {"float32", "write `f32`"},
    {"fp32", "write `f32`"},
    {"single", "write `f32`"},
    {"float64", "write `f64`"},
    {"fp64", "write `f64`"},
    {"double", "write `f64`"},
    {"half", "write `f16`"},
    {"float16", "write `f16`"},
    {"fp16", "write `f16`"},
    {"bfloat16", "write `bf16`"},
    {"bfloat", "write `bf16`"},
    {"f128", "`f64` is the widest float"},
    {"float128", "`f64` is the widest float"},
    {"f8", "`f16` and `bf16` are the narrowest floats"},
    {"fp8", "`f16` and `bf16` are the narrowest floats"},
    {"int", "write `i64`, or `i32`"},
    {"integer", "write `i64`, or `i32`"},
    {"int64", "write `i64`"},
    {"long", "write `i64`"},
    {"int32", "write `i32`"},
    {"int16", "write `i16`"},
    {"short", "write `i16`"},
    {"int8", "write `i8`"},
    {"uint8", "write `u8`"},
    {"byte", "write `u8`"},
    {"uint", "`u8` is the only one without sign; `i64` holds more"},
    {"uint16", "`u8` is the only one without sign; `i32` holds all of uint16"},
    {"u16", "`u8` is the only one without sign; `i32` holds all of u16"},
    {"uint32", "`u8` is the only one without sign; `i64` holds all of uint32"},
    {"u32", "`u8` is the only one without sign; `i64` holds all of u32"},
    {"uint64", "`u8` is the only one without sign; `i64` goes up to 2^63 - 1"},
    {"u64", "`u8` is the only one without sign; `i64` goes up to 2^63 - 1"},
    {"i128", "`i64` is the widest integer"},
    {"boolean", "write `bool`"},
    {"logical", "write `bool`"},
    {"complex", "there are no complex numbers: take two tensors"},
    {"complex64", "there are no complex numbers: take two tensors"},
    {"complex128", "there are no complex numbers: take two tensors"},
  };
  return foreign_find(dtypes, COUNT(dtypes), s, len);
}
