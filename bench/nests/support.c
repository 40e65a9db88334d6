/* bench/nests/support.c - what nests.py wants done faster than Python does it: numbers for inputs, and how far apart
 * two results are. The types are numbered as ein_dtype numbers them. */
#include <math.h>
#include <stdint.h>
#include <string.h>

enum { F64, F32, F16, BF16, I64, I32, I16, I8, U8, BOOL };

static float from_bf16(uint16_t half) {
  uint32_t bits = (uint32_t)half << 16;
  float v;
  memcpy(&v, &bits, sizeof v);
  return v;
}

/* To nearest, ties to even; no NaN. */
static uint16_t to_bf16(float v) {
  uint32_t bits;
  memcpy(&bits, &v, sizeof bits);
  return (uint16_t)((bits + 0x7FFFu + (bits >> 16 & 1)) >> 16);
}

static double get(const void *p, int type, int64_t i) {
  switch (type) {
  case F64: return ((const double *)p)[i];
  case F32: return (double)((const float *)p)[i];
  case F16: return (double)((const _Float16 *)p)[i];
  case BF16: return (double)from_bf16(((const uint16_t *)p)[i]);
  case I64: return (double)((const int64_t *)p)[i];
  case I32: return ((const int32_t *)p)[i];
  case I16: return ((const int16_t *)p)[i];
  case I8: return ((const int8_t *)p)[i];
  case U8: case BOOL: return ((const uint8_t *)p)[i];
  default: return NAN;
  }
}

static void put(void *p, int type, int64_t i, double v) {
  switch (type) {
  case F64: ((double *)p)[i] = v; break;
  case F32: ((float *)p)[i] = (float)v; break;
  case F16: ((_Float16 *)p)[i] = (_Float16)v; break;
  case BF16: ((uint16_t *)p)[i] = to_bf16((float)v); break;
  case I64: ((int64_t *)p)[i] = (int64_t)v; break;
  case I32: ((int32_t *)p)[i] = (int32_t)v; break;
  case I16: ((int16_t *)p)[i] = (int16_t)v; break;
  case I8: ((int8_t *)p)[i] = (int8_t)v; break;
  case U8: case BOOL: ((uint8_t *)p)[i] = (uint8_t)v; break;
  default: break;
  }
}

/* Floats from -1 to 1; integers from 0 to below - 1. */
void fill(void *p, int type, int64_t n, int64_t below, uint64_t seed) {
  uint64_t x = seed * 0x9E3779B97F4A7C15u + 1;
  for (int64_t i = 0; i < n; i++) {
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    double unit = (double)(x >> 11) * 0x1p-53;
    put(p, type, i, type <= BF16 ? 2 * unit - 1 : floor(unit * (double)below));
  }
}

/* The greatest difference over the greatest magnitude; infinite where one is a NaN and the other none. */
double differ(const void *a, const void *b, int type, int64_t n) {
  double most = 0, magnitude = 0;
  for (int64_t i = 0; i < n; i++) {
    double u = get(a, type, i), v = get(b, type, i);
    if (u == v || (isnan(u) && isnan(v))) {
      magnitude = fmax(magnitude, fabs(v));
      continue;
    }
    if (isnan(u) || isnan(v)) return INFINITY;
    most = fmax(most, fabs(u - v));
    magnitude = fmax(magnitude, fabs(v));
  }
  return most == 0 ? 0 : most / fmax(magnitude, 1e-300);
}
