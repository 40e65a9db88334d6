/* SPDX-License-Identifier: MIT-0 */
/*
 * Prints a tensor as text, as `ein run` shows outputs: all of a small one; the edges of a large one, and a line
 * that summarises the rest. See program.h.
 */
#include "program.h"
#include "ein_rt.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { FULL = 100, EDGE = 3, EDGE_ROW = 6, LINE = 90 };

static double real_at(const ein_shown *a, int64_t k) {
  switch (a->about->dtype) {
  case EIN_F64: return ((const double *)a->data)[k];
  case EIN_F32: return ((const float *)a->data)[k];
  case EIN_F16: return ein_f16_to_f32(((const uint16_t *)a->data)[k]);
  default: return ein_bf16_to_f32(((const uint16_t *)a->data)[k]);
  }
}

static int64_t int_at(const ein_shown *a, int64_t k) {
  switch (a->about->dtype) {
  case EIN_I64: return ((const int64_t *)a->data)[k];
  case EIN_I32: return ((const int32_t *)a->data)[k];
  case EIN_I16: return ((const int16_t *)a->data)[k];
  case EIN_I8: return ((const int8_t *)a->data)[k];
  default: return ((const uint8_t *)a->data)[k];
  }
}

typedef struct number {
  char s[40];
} number;

static number real_text(double v) {
  number t = {""};
  if (isnan(v)) snprintf(t.s, sizeof t.s, "nan");
  else if (isinf(v)) snprintf(t.s, sizeof t.s, v < 0 ? "-inf" : "inf");
  else snprintf(t.s, sizeof t.s - 3, "%.6g", v == 0 ? 0.0 : v);
  if (isfinite(v) && !strpbrk(t.s, ".e")) strcat(t.s, ".0");
  return t;
}

static number element_text(const ein_shown *a, int64_t k) {
  number t = {""};
  if (ein_is_float(a->about->dtype)) return real_text(real_at(a, k));
  if (a->about->dtype == EIN_BOOL) snprintf(t.s, sizeof t.s, "%s", int_at(a, k) ? "true" : "false");
  else snprintf(t.s, sizeof t.s, "%lld", (long long)int_at(a, k));
  return t;
}

typedef struct pen {
  const ein_shown *a;
  int width, measuring;
  int64_t edge; /* entries shown at each end of the last two axes; 0: all */
} pen;

static void cell(pen *p, int64_t k, int *column) {
  number t = element_text(p->a, k);
  int n = (int)strlen(t.s);
  if (p->measuring) {
    if (n > p->width) p->width = n;
    return;
  }
  if (*column + 2 + p->width > LINE && *column > 2) {
    printf("\n    ");
    *column = 4;
  }
  printf("  %*s", p->width, t.s);
  *column += 2 + p->width;
}

static void row(pen *p, int64_t base, int64_t n) {
  int column = 0, cut = p->edge && n > 2 * p->edge + 1;
  for (int64_t i = 0; i < n; i++) {
    if (cut && i == p->edge) {
      if (!p->measuring) printf("  ...");
      i = n - p->edge;
    }
    cell(p, base + i, &column);
  }
  if (!p->measuring) printf("\n");
}

static void rows(pen *p, int64_t base, int64_t n, int64_t columns) {
  int cut = p->edge && n > 2 * p->edge + 1;
  for (int64_t i = 0; i < n; i++) {
    if (cut && i == p->edge) {
      if (!p->measuring) printf("  ...\n");
      i = n - p->edge;
    }
    row(p, base + i * columns, columns);
  }
}

static const char *label_of(const ein_shown *a, int k) {
  return a->axes && a->axes->label && a->axes->label[k] ? a->axes->label[k] : "";
}

/* "i=0, j=2:" before the rows of a slice. */
static void slice_head(const pen *p, int64_t k, int lead) {
  int64_t index[EIN_MAX_AXES];
  if (p->measuring) return;
  for (int d = lead; d-- > 0; k /= p->a->shape[d]) index[d] = k % p->a->shape[d];
  for (int d = 0; d < lead; d++) {
    printf("%s", d ? ", " : "  ");
    if (*label_of(p->a, d)) printf("%s=%lld", label_of(p->a, d), (long long)index[d]);
    else printf("axis %d=%lld", d + 1, (long long)index[d]);
  }
  printf(":\n");
}

static void slices(pen *p) {
  const ein_shown *a = p->a;
  int rank = a->about->ndim, lead = rank > 2 ? rank - 2 : 0;
  int64_t n = rank >= 2 ? a->shape[rank - 2] : 1, columns = a->shape[rank - 1], many = 1;
  for (int d = 0; d < lead; d++) many *= a->shape[d];
  for (int64_t k = 0; k < many; k++) {
    if (p->edge && k == 1 && many > 2) {
      if (!p->measuring) printf("  ...\n");
      k = many - 1;
    }
    if (lead) slice_head(p, k, lead);
    rows(p, k * n * columns, n, columns);
  }
}

static void summary_bool(const ein_shown *a) {
  int64_t n = 0;
  for (int64_t k = 0; k < a->count; k++) n += int_at(a, k) != 0;
  printf("  true: %lld of %lld\n", (long long)n, (long long)a->count);
}

static double as_real(const ein_shown *a, int64_t k) {
  return ein_is_float(a->about->dtype) ? real_at(a, k) : (double)int_at(a, k);
}

/* Over all values but NaNs, which are counted. */
static void summary(const ein_shown *a) {
  int64_t low = -1, high = -1, nans = 0, n = 0;
  double sum = 0, lost = 0;
  for (int64_t k = 0; k < a->count; k++) {
    double v = as_real(a, k);
    if (isnan(v)) {
      nans++;
      continue;
    }
    if (low < 0 || v < as_real(a, low)) low = k;
    if (high < 0 || v > as_real(a, high)) high = k;
    double y = v - lost, t = sum + y; /* Kahan summation */
    lost = isinf(t) ? 0 : (t - sum) - y;
    sum = t;
    n++;
  }
  printf("  ");
  if (n)
    printf("min %s  max %s  mean %s", element_text(a, low).s, element_text(a, high).s,
           real_text(sum / (double)n).s);
  if (nans) printf("%snan: %lld of %lld", n ? "  " : "", (long long)nans, (long long)a->count);
  printf("\n");
}

void ein_show(const ein_shown *a) {
  pen p = {a, 0, 1, 0};
  printf("%s", a->about->name);
  for (int d = 0; d < a->about->ndim; d++)
    printf("%s%s%s%lld", d ? ", " : "[", label_of(a, d), *label_of(a, d) ? ":" : "", (long long)a->shape[d]);
  printf("%s : %s", a->about->ndim ? "]" : "", ein_dtype_name(a->about->dtype));
  if (a->about->ndim == 0) {
    printf(" = %s\n", element_text(a, 0).s);
    return;
  }
  printf("\n");
  if (!a->count) return;
  if (a->count > FULL) p.edge = a->about->ndim == 1 ? EDGE_ROW : EDGE;
  slices(&p);
  p.measuring = 0;
  slices(&p);
  if (a->count > FULL && a->about->dtype == EIN_BOOL) summary_bool(a);
  else if (a->count > FULL) summary(a);
}
