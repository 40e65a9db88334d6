/* driver/distance.c - how far two arrays of one dtype and shape are apart: absolutely, by the largest magnitude, and in
 * units of the last place. */
#include <math.h>
#include <string.h>

#include "driver.h"
#include "native.h"

/* The bits of a float as a number that grows with it: neighbours are 1 apart, and both zeros are 0. */
static int64_t place_in_order(const EvalArray *x, int64_t k) {
  int size = dtype_size(x->dtype), shift = 64 - 8 * size;
  const char *at = (const char *)x->data + k * size;
  uint16_t h = 0;
  uint32_t w = 0;
  uint64_t d = 0;
  if (size == 2) memcpy(&h, at, sizeof h), d = h;
  else if (size == 4) memcpy(&w, at, sizeof w), d = w;
  else memcpy(&d, at, sizeof d);
  uint64_t low = d & (UINT64_MAX >> shift >> 1);
  return d >> (8 * size - 1) ? -(int64_t)low : (int64_t)low;
}

static double ulps(const EvalArray *a, const EvalArray *b, int64_t k) {
  return fabs((double)place_in_order(a, k) - (double)place_in_order(b, k));
}

static void differs(Distance *d, int64_t k) {
  if (!d->wrong++) d->first = k;
}

static void compare_real(Distance *d, const EvalArray *got, const EvalArray *want, int64_t k) {
  double g = eval_real(got, k), w = eval_real(want, k);
  if (isnan(g) || isnan(w)) {
    if (!isnan(g) != !isnan(w)) differs(d, k);
    return;
  }
  if (g == w) return;
  if (isinf(g) || isinf(w)) {
    differs(d, k);
    return;
  }
  d->abs = fmax(d->abs, fabs(g - w));
  d->ulp = fmax(d->ulp, ulps(got, want, k));
  if (fabs(g - w) > d->bound * (d->most > 0 ? d->most : 1)) differs(d, k);
}

static double most_of(const EvalArray *x) {
  double most = 0;
  for (int64_t k = 0; k < x->count; k++) {
    double v = x->has && !x->has[k] ? 0 : fabs(eval_real(x, k));
    if (isfinite(v)) most = fmax(most, v);
  }
  return most;
}

double distance_bound(DType t) {
  switch (t) {
  case DT_F64: return 1e-10;
  case DT_F32: return 1e-4;
  case DT_F16: return 1e-2;
  case DT_BF16: return 4e-2;
  default: return 0;
  }
}

Distance distance(const EvalArray *got, const EvalArray *want, double bound) {
  Distance d = {.bound = bound, .first = -1};
  bool real = dtype_is_float(want->dtype);
  if (real) d.most = most_of(want);
  for (int64_t k = 0; k < want->count; k++) {
    if (want->has && !want->has[k]) continue;
    if (real) compare_real(&d, got, want, k);
    else if (eval_int(got, k) != eval_int(want, k)) differs(&d, k);
  }
  d.rel = d.most > 0 ? d.abs / d.most : d.abs;
  return d;
}
