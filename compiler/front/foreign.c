/* front/foreign.c - words of other languages and systems, and their equivalents here. One table per kind of word:
 * statements, constants, functions, dtypes. */
#include "foreign.h"

#include "base/base.h"

#include <string.h>

typedef struct Foreign { const char *words, *hint; } Foreign; /* words: with a space between them */

static bool is_one_of(const char *words, const char *s, size_t len) {
  for (size_t n; *words; words += n + (words[n] == ' ')) {
    n = strcspn(words, " ");
    if (n == len && !memcmp(words, s, len)) return true;
  }
  return false;
}

static const char *foreign_find(const Foreign *all, size_t n, const char *s, size_t len) {
  for (size_t i = 0; i < n; i++)
    if (is_one_of(all[i].words, s, len)) return all[i].hint;
  return NULL;
}

const char *foreign_word(const char *s, size_t len) {
  static const Foreign words[] = {
      {"let", "an equation needs no `let`: `x = ...` defines"},
      {"var", "an equation needs no `var`: `x = ...` defines"},
      {"val", "an equation needs no `val`: `x = ...` defines"},
      {"const", "a size is `dim N = 8`, anything else an equation: `x = ...`"},
      {"tensor", "data is declared by `input X[i:8] : f32`, the rest by equations: `x[i] = ...`"},
      {"for",
       "`sum[i] ...` runs over a label, `repeat t < T { ... }` over time; an equation is for all its labels already"},
      {"while", "`repeat t < T until done { ... }` iterates"},
      {"loop do", "`repeat t < T { ... }` iterates"},
      {"return", "a def's value is the last line of its block; a program's results are its outputs: `output x`"},
      {"function func fn fun lambda", "write `def f[j](x) = ...`"},
      {"import from include using", "write `use nn` or `use \"file.ein\"`"},
      {"print", "`output x` makes a result of a tensor"},
      {"elif elseif", "write `else if`"},
      {"end endif enddo done", "an equation ends with its line, and a block with `}`"},
      {"in", "`repeat t < T { ... }` iterates; `sum[i] ...` runs over a label"},
  };
  return foreign_find(words, COUNT(words), s, len);
}

const char *foreign_constant(const char *s, size_t len) {
  static const Foreign constants[] = {
      {"true", "write `true`"},
      {"false", "write `false`"},
      {"pi", "write `pi`"},
      {"tau", "write `2 * pi`"},
      {"inf infinity infty", "write `inf`"},
      {"nan", "write `nan`"},
      {"none null nil nothing missing", "every element has a value: write `0`, or `nan`"},
      {"e", "a power of e is `exp(x)`, and e alone `exp(1)`; a label stands on the left or in a reducer"},
      {"eps epsilon", "it is a number: write `1e-6`"},
      {"end", "nothing counts from the end: with `dim N` as its size, the last element is `x[N - 1]`"},
  };
  enum { LONG = 12 };
  char small[LONG];
  if (len > LONG) return NULL;
  for (size_t i = 0; i < len; i++) small[i] = (char)(s[i] >= 'A' && s[i] <= 'Z' && len > 1 ? s[i] - 'A' + 'a' : s[i]);
  return foreign_find(constants, COUNT(constants), small, len);
}

const char *foreign_function(const char *s, size_t len) {
  static const Foreign functions[] = {
      {"d D gradient derivative backward",
       "a derivative is `grad(loss, w[i])`, of a number with respect to each element"},
      {"jacobian", "a gradient is that of a number: `grad(sum[i] v[i] * y[i], x[k])` is v times the Jacobian"},
      {"hessian", "a Hessian times v is `grad(sum[i] grad(loss, w[i]) * v[i], w[k])`"},
      {"pow power", "a power is `$1^$2`"},
      {"square sqr", "a square is `$1^2`"},
      {"reciprocal", "write `1 / $1`"},
      {"ln", "the natural logarithm is `log($1)`"},
      {"fabs absolute", "an absolute value is `abs($1)`"},
      {"sgn", "it is `sign($1)`"},
      {"neg negative", "write `-$1`"},
      {"maximum", "the larger of two is `max($1, $2)`"},
      {"minimum", "the smaller of two is `min($1, $2)`"},
      {"amax", "over a label it is `max[j] $1`"},
      {"amin", "over a label it is `min[j] $1`"},
      {"total", "over a label it is `sum[j] $1`"},
      {"add plus", "write `$1 + $2`"},
      {"subtract sub", "write `$1 - $2`"},
      {"multiply mul times", "write `$1 * $2`"},
      {"divide true_divide", "write `$1 / $2`"},
      {"div", "write `$1 / $2`; of integers, floored, `$1 // $2`"},
      {"floor_divide", "write `$1 // $2`"},
      {"mod remainder", "a remainder is `$1 % $2`"},
      {"fmod", "a remainder is `$1 % $2`, which has the sign of `$2`"},
      {"equal", "write `$1 == $2`"},
      {"not_equal", "write `$1 != $2`"},
      {"less", "write `$1 < $2`"},
      {"greater", "write `$1 > $2`"},
      {"logical_and", "write `$1 and $2`"},
      {"logical_or", "write `$1 or $2`"},
      {"logical_not", "write `not $1`"},
      {"select ifelse cond", "a choice is `if $1 then $2 else $3`"},
      {"merge", "a choice is `if $3 then $1 else $2`"},
      {"nan_to_num", "write `if isnan($1) then 0 else $1`"},
      {"isfinite", "write `abs($1) < inf`"},
      {"heaviside step", "write `if $1 < 0 then 0 else 1`"},
      {"clip", "it is `clamp($1, $2, $3)`"},
      {"average", "an average is `mean[j] $1`"},
      {"norm", "a norm is the root of a sum, `sqrt(sum[i] x[i]^2)`"},
      {"var", "it is `variance[j]($1)`"},
      {"std", "it is `stddev[j]($1)`"},
      {"log_softmax", "it is `logsoftmax[j]($1)`"},
      {"lse", "over a label it is `logsumexp[j] $1`"},
      {"layer_norm", "it is `layernorm[j](x, g, b, eps)`"},
      {"rms_norm", "it is `rmsnorm[j](x, g, eps)`"},
      {"swish", "it is `silu($1)`"},
      {"expit \xCF\x83", "it is `sigmoid($1)`"},
      {"logit", "write `log($1 / (1 - $1))`"},
      {"leaky_relu", "write `max($1, 0.01 * $1)`"},
      {"relu6", "write `clamp($1, 0, 6)`"},
      {"elu", "write `if $1 > 0 then $1 else expm1($1)`"},
      {"arccos", "it is `acos($1)`"},
      {"arcsin", "it is `asin($1)`"},
      {"arctan", "it is `atan($1)`"},
      {"arctan2", "it is `atan2($1, $2)`"},
      {"sec", "write `1 / cos($1)`"},
      {"cot", "write `1 / tan($1)`"},
      {"asinh", "write `log($1 + sqrt($1^2 + 1))`"},
      {"acosh", "write `log($1 + sqrt($1^2 - 1))`"},
      {"atanh", "write `0.5 * log((1 + $1) / (1 - $1))`"},
      {"sinc", "write `if $1 == 0 then 1 else sin(pi * $1) / (pi * $1)`"},
      {"deg2rad radians", "write `$1 * pi / 180`"},
      {"rad2deg degrees", "write `$1 * 180 / pi`"},
      {"gamma", "write `exp(lgamma($1))`"},
      {"gammaln", "it is `lgamma($1)`"},
      {"psi", "it is `digamma($1)`"},
      {"factorial", "write `exp(lgamma($1 + 1))`"},
      {"rint", "it is `round($1)`"},
      {"dot vdot inner matmul mm mv bmm einsum contract tensordot", "a product is written out: `$*`"},
      {"outer", "an outer product is an equation: `Z[i,j] = x[i] * y[j]`"},
      {"cross", "it is an equation: `Z[i:3] = x[(i + 1) % 3] * y[(i + 2) % 3] - x[(i + 2) % 3] * y[(i + 1) % 3]`"},
      {"trace tr", "a trace is `sum[i] A[i,i]`"},
      {"diag diagonal", "a diagonal is `A[i,i]`"},
      {"tril", "write `if $5 <= $4 then $1 else 0`"},
      {"triu", "write `if $5 >= $4 then $1 else 0`"},
      {"transpose", "a transpose is an equation: `B[j,i] = A[i,j]`"},
      {"permute permutedims swapaxes moveaxis", "axes stand in the order of the labels on the left: `B[j,i] = A[i,j]`"},
      {"zeros zeros_like", "a tensor of zeros is an equation: `Z[i:8] = 0`"},
      {"ones ones_like", "a tensor of ones is an equation: `Z[i:8] = 1`"},
      {"full fill", "a tensor of one value is an equation: `Z[i:8] = 1`"},
      {"arange range iota", "a label is a number: `N[i:8] = i`"},
      {"linspace", "a label is a number: `Z[i:$3] = $1 + ($2 - $1) * i / ($3 - 1)`"},
      {"meshgrid", "labels are numbers: `X[i:8,j:8] = i` and `Y[i:8,j:8] = j`"},
      {"one_hot", "write `if $1 == k then 1 else 0`, with `k:8` on the left"},
      {"delta \xCE\xB4", "write `if $1 == $2 then 1 else 0`"},
      {"concat concatenate cat hstack vstack", "it is an equation: `Z[i:7] = if i < 3 then a[i + 0] else b[i - 3]`"},
      {"stack", "it is an equation: `Z[k:2, i] = if k == 0 then a[i] else b[i]`"},
      {"pad", "it is an equation: `Z[i:8] = x[i - 2] ?? 0`"},
      {"cumsum", "it is an equation: `C[i:8] = sum[k where k <= i] x[k]`"},
      {"cumprod", "it is an equation: `C[i:8] = prod[k where k <= i] x[k]`"},
      {"cummax", "it is an equation: `C[i:8] = max[k where k <= i] x[k]`"},
      {"diff", "it is an equation: `D[i:7] = x[i + 1] - x[i + 0]`"},
      {"flip reverse", "an index runs backwards: `Z[i:8] = x[7 - i]`"},
      {"roll", "an index goes around: `Z[i:8] = x[(i + 7) % 8]`"},
      {"shift", "an index is moved: `Z[i:8] = x[i - 1] ?? 0`"},
      {"tile", "an index goes around: `Z[i:16] = x[i % 8]`"},
      {"repeat repeat_interleave", "an index stays for some places: `Z[i:16] = x[i // 2]`"},
      {"broadcast_to expand", "a label on the left alone repeats: `Z[r:8, i] = x[i]`"},
      {"expand_dims unsqueeze", "a label on the left alone makes an axis: `Z[r:1, i] = x[i]`"},
      {"squeeze", "the one place of an axis is read at 0: `Z[i] = A[i,0]`"},
      {"gather take embedding", "a gather is a read: `X[index[i], j]`"},
      {"scatter scatter_add index_add groupby segment_sum", "it is a sum: `Z[b:8] = sum[i where index[i] == b] x[i]`"},
      {"bincount", "it is a count: `Z[b:8] = count[i where index[i] == b]`"},
      {"segment_max", "it is a maximum: `Z[b:8] = max[i where index[i] == b] x[i]`"},
      {"segment_min", "it is a minimum: `Z[b:8] = min[i where index[i] == b] x[i]`"},
      {"segment_mean", "it is a mean: `Z[b:8] = (mean[i where index[i] == b] x[i]) ?? 0`"},
      {"hist", "it is a count: `H[b:8] = count[i where floor(x[i]) == b]`"},
      {"maxpool max_pool max_pool1d", "it is `maxpool1d` of the module nn: write `use nn` above"},
      {"max_pool2d", "it is `maxpool2d` of the module nn: write `use nn` above"},
      {"avgpool avg_pool avg_pool1d", "it is `avgpool1d` of the module nn: write `use nn` above"},
      {"avg_pool2d", "it is `avgpool2d` of the module nn: write `use nn` above"},
      {"conv", "it is `conv1d` of the module nn: write `use nn` above"},
      {"convolve", "it is a sum: `Z[i:6] = sum[r:3] x[i + r] * w[2 - r]`"},
      {"batch_norm", "it is `batchnorm` of the module nn: write `use nn` above"},
      {"mse_loss", "it is a mean: `mean[n] (x[n] - y[n])^2`"},
      {"fft", "it is a sum: `re[k:8] = sum[n] x[n] * cos(2 * pi * k * n / 8)`, and with `-sin` the imaginary part"},
      {"rand random", "random numbers are `uniform[i,j](seed)`"},
      {"randn", "random numbers are `normal[i,j](seed)`"},
      {"randperm", "it is `permutation[h:8](seed)`"},
      {"shuffle", "it is `permutation[h:8](seed)`, whose values are indices"},
      {"sort argsort", "there is no sort; a position is counted: `R[i] = count[k where x[k] < x[i]]`"},
      {"topk top_k",
       "a rank is counted, `R[i] = count[k where x[k] > x[i] or (x[k] == x[i] and k < i)]`, and `T[k:3] = sum[i "
       "where R[i] == k] x[i]` are the three largest"},
      {"median",
       "a rank is counted, `R[i] = count[k where x[k] < x[i] or (x[k] == x[i] and k < i)]`, and `sum[i where R[i] == "
       "4] x[i]` is the fifth smallest"},
      {"unique nonzero", "sizes do not depend on data: mark what is wanted, and count with `count[i where p]`"},
      {"count_nonzero", "it is `count[i where x[i] != 0]`"},
      {"sqdist", "a squared distance is a sum, `sum[k] (x[k] - y[k])^2`"},
      {"cdist", "a distance is the root of a sum, `sqrt(sum[k] (x[i,k] - y[j,k])^2)`"},
      {"pdist", "a distance is the root of a sum, `sqrt(sum[k] (x[i,k] - x[j,k])^2)`"},
      {"dist", "a distance is the root of a sum, `sqrt(sum[k] (x[k] - y[k])^2)`"},
      {"det svd qr eig cholesky",
       "nothing factorises matrices: what needs it is computed elsewhere, and given as an `input`"},
      {"inv", "nothing factorises matrices: give the inverse as an `input`, or solve by steps in a `repeat`"},
      {"solve", "nothing factorises matrices: solve by steps in a `repeat`"},
      {"len length numel shape", "how large a label is says `size(i)`"},
      {"reshape view", "a group splits and merges: `Y[s, (h d)] = X[s,h,d]`"},
      {"flatten ravel", "a group merges: `Y[(i j)] = X[i,j]`"},
      {"rearrange", "an equation says it: `Y[j, (i k)] = X[i,j,k]`"},
      {"reduce", "an equation says it: `Y[i] = mean[j] X[i,j]`"},
      {"eye identity", "the unit matrix is an equation: `E[i:8,j:8] = if i == j then 1 else 0`"},
      {"astype cast", "a conversion is named by its dtype: `f64($1)`"},
      {"load loadtxt read",
       "data is declared, `input X[n:8] : f32`, and given to a run: `ein run x.ein X=x.npy`"},
      {"array tensor asarray",
       "few values are listed, `w[k] = [1, 2, 1]`; data is declared, `input X[n:8] : f32`, and given to a run"},
      {"print", "`output x` makes a result of a tensor"},
  };
  return foreign_find(functions, COUNT(functions), s, len);
}

const char *foreign_reducer(const char *s, size_t len) {
  static const Foreign reducers[] = {
      {"maximum amax", "max"},
      {"minimum amin", "min"},
      {"nanmax", "fmax"},
      {"nanmin", "fmin"},
      {"average", "mean"},
      {"total", "sum"},
      {"product", "prod"},
  };
  return foreign_find(reducers, COUNT(reducers), s, len);
}

const char *foreign_fill(Arena *a, const char *hint, const char *const *arg) {
  static const char *const ours[FOREIGN_ARGS] = {"x", "y", "z", "i", "j"};
  Buf b = buf_new(a);
  for (const char *s = hint; *s; s++) {
    int k = s[0] == '$' ? s[1] == '*' ? 0 : s[1] - '1' : -1;
    if (k < 0) buf_char(&b, *s);
    else if (*++s == '*') buf_str(&b, arg[0] ? arg[0] : "sum[k] A[i,k] * B[k,j]");
    else buf_str(&b, arg[k] ? arg[k] : ours[k]);
  }
  return b.s;
}

const char *foreign_dtype(const char *s, size_t len) {
  static const Foreign dtypes[] = {
      {"float", "write `f32`, or `f64`"},
      {"float32 fp32 single", "write `f32`"},
      {"float64 fp64 double", "write `f64`"},
      {"half float16 fp16", "write `f16`"},
      {"bfloat16 bfloat", "write `bf16`"},
      {"f128 float128", "`f64` is the widest float"},
      {"f8 fp8", "`f16` and `bf16` are the narrowest floats"},
      {"int integer", "write `i64`, or `i32`"},
      {"int64 long", "write `i64`"},
      {"int32", "write `i32`"},
      {"int16 short", "write `i16`"},
      {"int8", "write `i8`"},
      {"uint8 byte", "write `u8`"},
      {"uint", "`u8` is the only one without sign; `i64` holds more"},
      {"uint16", "`u8` is the only one without sign; `i32` holds all of uint16"},
      {"u16", "`u8` is the only one without sign; `i32` holds all of u16"},
      {"uint32", "`u8` is the only one without sign; `i64` holds all of uint32"},
      {"u32", "`u8` is the only one without sign; `i64` holds all of u32"},
      {"uint64 u64", "`u8` is the only one without sign; `i64` goes up to 2^63 - 1"},
      {"i128", "`i64` is the widest integer"},
      {"boolean logical", "write `bool`"},
      {"complex complex64 complex128", "there are no complex numbers: take two tensors"},
  };
  return foreign_find(dtypes, COUNT(dtypes), s, len);
}
