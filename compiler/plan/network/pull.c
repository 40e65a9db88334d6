/* plan/network/pull.c - the least entries of a table of two variables, by class of one of them. */
#include <math.h>

#include "inside.h"

static double less(double x, double y) {
  return x < y ? x : y;
}

/* Four at a time, to break the dependence chain. */
static double row_least(uint32_t n, const double *c, const double *other) {
  double p = INFINITY, q = INFINITY, r = INFINITY, s = INFINITY;
  uint32_t j = 0;
  for (; j + 4 <= n; j += 4) {
    p = less(c[j] - other[j], p);
    q = less(c[j + 1] - other[j + 1], q);
    r = less(c[j + 2] - other[j + 2], r);
    s = less(c[j + 3] - other[j + 3], s);
  }
  for (; j < n; j++) p = less(c[j] - other[j], p);
  return less(less(p, q), less(r, s));
}

/* For each class of side 0, the minimum of the entries less what side 1 got. */
static void pull_rows(const Factor *f, const double *other, double *out) {
  const double *c = f->table->at;
  uint32_t n = f->side[1].by->n;
  for (uint32_t i = 0; i < f->side[0].by->n; i++, c += n) out[i] = row_least(n, c, other);
}

static void pull_columns(const Factor *f, const double *other, double *restrict out) {
  const double *c = f->table->at;
  uint32_t n = f->side[1].by->n;
  for (uint32_t j = 0; j < n; j++) out[j] = INFINITY;
  for (uint32_t i = 0; i < f->side[0].by->n; i++, c += n) {
    double of = other[i];
    uint32_t j = 0;
    if (isinf(of)) continue; /* out */
    for (; j + 4 <= n; j += 4) {
      out[j] = less(c[j] - of, out[j]);
      out[j + 1] = less(c[j + 1] - of, out[j + 1]);
      out[j + 2] = less(c[j + 2] - of, out[j + 2]);
      out[j + 3] = less(c[j + 3] - of, out[j + 3]);
    }
    for (; j < n; j++) out[j] = less(c[j] - of, out[j]);
  }
}

void factor_pull(const Factor *f, uint32_t side, const double *other, double *out) {
  if (side) pull_columns(f, other, out);
  else pull_rows(f, other, out);
}
