/* SPDX-License-Identifier: MIT-0 */
/*
 * Prints a tensor as text: all of a small one; the edges of a large one, and a line that summarises the rest. See
 * ein_rt.h. `ein run`, the prompt and built programs all print tensors so.
 */
#include "ein_rt.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { FULL = 100, EDGE = 3, EDGE_ROW = 6, LINE = 90 };

/* ---- elements ---- */

static double real_at(const ein_shown *a, int64_t k) {
  switch (a->dtype) {
  case EIN_F64: return ((const double *)a->data)[k];
  case EIN_F32: return ((const float *)a->data)[k];
  case EIN_F16: return ein_f16_to_f32(((const uint16_t *)a->data)[k]);
  default: return ein_bf16_to_f32(((const uint16_t *)a->data)[k]);
  }
}

static int64_t int_at(const ein_shown *a, int64_t k) {
  switch (a->dtype) {
  case EIN_I64: return ((const int64_t *)a->data)[k];
  case EIN_I32: return ((const int32_t *)a->data)[k];
  case EIN_I16: return ((const int16_t *)a->data)[k];
  case EIN_I8: return ((const int8_t *)a->data)[k];
  default: return ((const uint8_t *)a->data)[k];
  }
}

static ein_shown_text real_text(double v) {
  ein_shown_text t = {""};
  if (isnan(v)) snprintf(t.s, sizeof t.s, "nan");
  else if (isinf(v)) snprintf(t.s, sizeof t.s, v < 0 ? "-inf" : "inf");
  else snprintf(t.s, sizeof t.s - 3, "%.6g", v == 0 ? 0.0 : v);
  if (isfinite(v) && !strpbrk(t.s, ".e")) strcat(t.s, ".0");
  return t;
}

ein_shown_text ein_show_element(const ein_shown *a, int64_t k) {
  ein_shown_text t = {"-"};
  if (a->has && !a->has[k]) return t;
  if (ein_is_float(a->dtype)) return real_text(real_at(a, k));
  if (a->dtype == EIN_BOOL) snprintf(t.s, sizeof t.s, "%s", int_at(a, k) ? "true" : "false");
  else snprintf(t.s, sizeof t.s, "%lld", (long long)int_at(a, k));
  return t;
}

/* ---- rows ---- */

typedef struct pen {
  const ein_shown *a;
  ein_show_put *put;
  void *to;
  int width, measuring; /* of the widest element shown; only finding it */
  int64_t edge;         /* entries shown at each end of the last two axes; 0: all */
} pen;

/* Names can be of any length, and are put as they are; this is for the rest. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static void
putf(const pen *p, const char *format, ...) {
  char text[160];
  va_list args;
  if (p->measuring) return;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  p->put(p->to, text);
}

static void cell(pen *p, int64_t k, int *column) {
  ein_shown_text t = ein_show_element(p->a, k);
  int n = (int)strlen(t.s);
  if (p->measuring) {
    if (n > p->width) p->width = n;
    return;
  }
  if (*column + 2 + p->width > LINE && *column > 2) {
    putf(p, "\n    ");
    *column = 4;
  }
  putf(p, "  %*s", p->width, t.s);
  *column += 2 + p->width;
}

static void row(pen *p, int64_t base, int64_t n) {
  int column = 0, cut = p->edge && n > 2 * p->edge + 1;
  for (int64_t i = 0; i < n; i++) {
    if (cut && i == p->edge) {
      putf(p, "  ...");
      i = n - p->edge;
    }
    cell(p, base + i, &column);
  }
  putf(p, "\n");
}

static void rows(pen *p, int64_t base, int64_t n, int64_t columns) {
  int cut = p->edge && n > 2 * p->edge + 1;
  for (int64_t i = 0; i < n; i++) {
    if (cut && i == p->edge) {
      putf(p, "  ...\n");
      i = n - p->edge;
    }
    row(p, base + i * columns, columns);
  }
}

static const char *label_of(const ein_shown *a, int k) {
  return a->label && a->label[k] ? a->label[k] : "";
}

/* "i=0, j=2:" before the rows of a slice. */
static void slice_head(const pen *p, int64_t k, int64_t many, int lead) {
  if (p->measuring) return;
  for (int d = 0; d < lead; d++, k %= many) {
    many /= p->a->shape[d];
    p->put(p->to, d ? ", " : "  ");
    if (*label_of(p->a, d)) p->put(p->to, label_of(p->a, d));
    else putf(p, "axis %d", d + 1);
    putf(p, "=%lld", (long long)(k / many));
  }
  putf(p, ":\n");
}

/* Every slice over the leading axes, or the first and the last one. */
static void slices(pen *p) {
  const ein_shown *a = p->a;
  int lead = a->ndim > 2 ? a->ndim - 2 : 0;
  int64_t n = a->ndim >= 2 ? a->shape[a->ndim - 2] : 1, columns = a->shape[a->ndim - 1], many = 1;
  for (int d = 0; d < lead; d++) many *= a->shape[d];
  for (int64_t k = 0; k < many; k++) {
    if (p->edge && k == 1 && many > 2) {
      putf(p, "  ...\n");
      k = many - 1;
    }
    if (lead) slice_head(p, k, many, lead);
    rows(p, k * n * columns, n, columns);
  }
}

/* ---- the summary ---- */

static void summary_bool(const pen *p) {
  int64_t n = 0;
  for (int64_t k = 0; k < p->a->count; k++) n += int_at(p->a, k) != 0;
  putf(p, "  true: %lld of %lld\n", (long long)n, (long long)p->a->count);
}

static double as_real(const ein_shown *a, int64_t k) {
  return ein_is_float(a->dtype) ? real_at(a, k) : (double)int_at(a, k);
}

/* Over all elements except NaNs, which are counted. */
static void summary(const pen *p) {
  const ein_shown *a = p->a;
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
  putf(p, "  ");
  if (n)
    putf(p, "min %s  max %s  mean %s", ein_show_element(a, low).s, ein_show_element(a, high).s,
        real_text(sum / (double)n).s);
  if (nans) putf(p, "%snan: %lld of %lld", n ? "  " : "", (long long)nans, (long long)a->count);
  putf(p, "\n");
}

/* ---- the whole ---- */

void ein_show_heading(const ein_shown *a, ein_show_put *put, void *to) {
  const pen p = {a, put, to, 0, 0, 0};
  put(to, a->name);
  for (int d = 0; d < a->ndim; d++) {
    put(to, d ? ", " : "[");
    put(to, label_of(a, d));
    putf(&p, "%s%lld", *label_of(a, d) ? ":" : "", (long long)a->shape[d]);
  }
  putf(&p, "%s%s%s", a->ndim ? "]" : "", *a->name || a->ndim ? " : " : "", ein_dtype_name(a->dtype));
}

void ein_show(const ein_shown *a, ein_show_put *put, void *to) {
  pen p = {a, put, to, 0, 0, 0};
  ein_show_heading(a, put, to);
  if (a->ndim == 0) {
    putf(&p, " = %s\n", ein_show_element(a, 0).s);
    return;
  }
  putf(&p, "\n");
  if (!a->count) return;
  if (a->count > FULL) p.edge = a->ndim == 1 ? EDGE_ROW : EDGE;
  p.measuring = 1;
  slices(&p);
  p.measuring = 0;
  slices(&p);
  if (a->count > FULL && a->dtype == EIN_BOOL) summary_bool(&p);
  else if (a->count > FULL) summary(&p);
}
