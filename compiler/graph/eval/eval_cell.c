/* graph/eval/eval_cell.c - operates on single values: the language's arithmetic in each dtype, conversions, and
 * elements of arrays. In: cells, out: cells; nothing here can fail. */
#include <math.h>

#include "eval_inside.h"

size_t cell_size(DType t) {
  switch (t) {
  case DT_F64: case DT_I64: return 8;
  case DT_F32: case DT_I32: return 4;
  case DT_F16: case DT_BF16: case DT_I16: return 2;
  default: return 1;
  }
}

/* ---- integers -------------------------------------------------------------------------------- */

int64_t int_wrap(DType t, int64_t x) {
  switch (t) {
  case DT_I32: return (int32_t)(uint32_t)(uint64_t)x;
  case DT_I16: return (int16_t)(uint16_t)(uint64_t)x;
  case DT_I8: return (int8_t)(uint8_t)(uint64_t)x;
  case DT_U8: return (uint8_t)(uint64_t)x;
  case DT_BOOL: return x != 0;
  default: return x;
  }
}

static void int_limits(DType t, int64_t *low, int64_t *high) {
  int bits = (int)cell_size(t) * 8;
  *high = t == DT_BOOL ? 1 : t == DT_U8 ? 255 : (int64_t)(UINT64_MAX >> (65 - bits));
  *low = t == DT_BOOL || t == DT_U8 ? 0 : -*high - 1;
}

int64_t int_pow(int64_t a, int64_t b) {
  if (b < 0) return 0;
  uint64_t base = (uint64_t)a, power = 1;
  for (; b; b >>= 1, base *= base)
    if (b & 1) power *= base;
  return (int64_t)power;
}

int64_t int_idiv(int64_t a, int64_t b) {
  if (b == 0) return 0;
  if (b == -1) return (int64_t)(0 - (uint64_t)a);
  int64_t q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

int64_t int_mod(int64_t a, int64_t b) {
  if (b == 0 || b == -1) return 0;
  int64_t m = a % b;
  return m != 0 && (m < 0) != (b < 0) ? m + b : m;
}

/* ---- reals ----------------------------------------------------------------------------------- */

float real_narrow(DType t, float x) {
  if (t == DT_F16) return ein_f16_to_f32(ein_f32_to_f16(x));
  if (t == DT_BF16) return ein_bf16_to_f32(ein_f32_to_bf16(x));
  return x;
}

/* Few digits: at most two thirds of those that the dtype has. */
static double shaken(double x, int digits, uint64_t *seed) {
  int exponent;
  double m = ldexp(frexp(x, &exponent), digits * 2 / 3);
  if (!isfinite(x) || m == floor(m)) return x;
  *seed = *seed * 6364136223846793005u + 1442695040888963407u;
  return x + x * ldexp((double)(int32_t)(uint32_t)(*seed >> 32), 1 - digits - 31);
}

Cell cell_shake(DType t, Cell x, uint64_t *seed) {
  if (t == DT_F64) return (Cell){.f = shaken(x.f, 53, seed)};
  int digits = t == DT_F32 ? 24 : t == DT_F16 ? 11 : 8;
  return (Cell){.s = real_narrow(t, (float)shaken((double)x.s, digits, seed))};
}

double mod_d(double a, double b) {
  double m = fmod(a, b);
  return m != 0 && (m < 0) != (b < 0) ? m + b : m;
}

float mod_s(float a, float b) {
  float m = fmodf(a, b);
  return m != 0 && (m < 0) != (b < 0) ? m + b : m;
}

double max_d(double a, double b) { return isnan(a) || a > b ? a : b; }
double min_d(double a, double b) { return isnan(a) || a < b ? a : b; }
float max_s(float a, float b) { return isnan(a) || a > b ? a : b; }
float min_s(float a, float b) { return isnan(a) || a < b ? a : b; }

/* log(exp a + exp b). The difference of equal infinities is undefined, so equal arguments are a separate case. */
double lse_d(double a, double b) {
  return a == b ? a + log(2.0) : max_d(a, b) + log1p(exp(-fabs(a - b)));
}

float lse_s(float a, float b) {
  return a == b ? a + logf(2.0f) : max_s(a, b) + log1pf(expf(-fabsf(a - b)));
}

/* ---- conversions ----------------------------------------------------------------------------- */

static int64_t int_from_real(DType to, double x) {
  int64_t low, high;
  if (to == DT_BOOL) return x != 0;
  if (isnan(x)) return 0;
  int_limits(to, &low, &high);
  if (x <= (double)low) return low;
  if (x >= (double)high + (to == DT_I64 ? 0 : 1)) return high; /* (double)INT64_MAX is 2^63 */
  return (int64_t)x;
}

/* bf16 keeps 8 bits: above 2^53 rounding to double first would round twice, so the lost bits are kept as one sticky
 * bit. f16 is infinite long before that. */
static double double_sticky(int64_t x) {
  uint64_t u = x < 0 ? 0 - (uint64_t)x : (uint64_t)x;
  if (u >> 53) u = (u >> 11 | ((u & 2047) != 0)) << 11;
  return x < 0 ? -(double)u : (double)u;
}

static float half_from_double(DType t, double x) {
  return t == DT_F16 ? ein_f16_to_f32(ein_f64_to_f16(x)) : ein_bf16_to_f32(ein_f64_to_bf16(x));
}

static Cell cast_from_double(double x, DType to) {
  switch (to) {
  case DT_F64: return (Cell){.f = x};
  case DT_F32: return (Cell){.s = (float)x};
  case DT_F16: case DT_BF16: return (Cell){.s = half_from_double(to, x)};
  default: return (Cell){.i = int_from_real(to, x)};
  }
}

Cell cell_cast(Cell x, DType from, DType to) {
  if (from == to) return x;
  switch (class_of(from)) {
  case CL_D: return cast_from_double(x.f, to);
  case CL_S: return to == DT_F32 ? x : cast_from_double((double)x.s, to);
  default: break;
  }
  switch (to) {
  case DT_F64: return (Cell){.f = (double)x.i};
  case DT_F32: return (Cell){.s = (float)x.i};
  case DT_F16: case DT_BF16: return (Cell){.s = half_from_double(to, double_sticky(x.i))};
  default: return (Cell){.i = int_wrap(to, x.i)};
  }
}

Cell cell_extreme(DType t, bool most) {
  int64_t low, high;
  switch (class_of(t)) {
  case CL_D: return (Cell){.f = most ? (double)INFINITY : -(double)INFINITY};
  case CL_S: return (Cell){.s = most ? INFINITY : -INFINITY};
  default: int_limits(t, &low, &high); return (Cell){.i = most ? high : low};
  }
}

/* ---- elements -------------------------------------------------------------------------------- */

Cell cell_load(const void *data, DType t, int64_t k) {
  switch (t) {
  case DT_F64: return (Cell){.f = ((const double *)data)[k]};
  case DT_F32: return (Cell){.s = ((const float *)data)[k]};
  case DT_F16: return (Cell){.s = ein_f16_to_f32(((const uint16_t *)data)[k])};
  case DT_BF16: return (Cell){.s = ein_bf16_to_f32(((const uint16_t *)data)[k])};
  case DT_I64: return (Cell){.i = ((const int64_t *)data)[k]};
  case DT_I32: return (Cell){.i = ((const int32_t *)data)[k]};
  case DT_I16: return (Cell){.i = ((const int16_t *)data)[k]};
  case DT_I8: return (Cell){.i = ((const int8_t *)data)[k]};
  case DT_U8: return (Cell){.i = ((const uint8_t *)data)[k]};
  default: return (Cell){.i = ((const uint8_t *)data)[k] != 0};
  }
}

void cell_store(void *data, DType t, int64_t k, Cell x) {
  switch (t) {
  case DT_F64: ((double *)data)[k] = x.f; return;
  case DT_F32: ((float *)data)[k] = x.s; return;
  case DT_F16: ((uint16_t *)data)[k] = ein_f32_to_f16(x.s); return;
  case DT_BF16: ((uint16_t *)data)[k] = ein_f32_to_bf16(x.s); return;
  case DT_I64: ((int64_t *)data)[k] = x.i; return;
  case DT_I32: ((int32_t *)data)[k] = (int32_t)x.i; return;
  case DT_I16: ((int16_t *)data)[k] = (int16_t)x.i; return;
  case DT_I8: ((int8_t *)data)[k] = (int8_t)x.i; return;
  case DT_U8: ((uint8_t *)data)[k] = (uint8_t)x.i; return;
  default: ((uint8_t *)data)[k] = x.i != 0; return;
  }
}

double eval_real(const EvalArray *a, int64_t k) {
  return cell_cast(cell_load(a->data, a->dtype, k), a->dtype, DT_F64).f;
}

int64_t eval_int(const EvalArray *a, int64_t k) {
  return cell_cast(cell_load(a->data, a->dtype, k), a->dtype, DT_I64).i;
}
