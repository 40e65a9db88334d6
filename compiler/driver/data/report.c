/* driver/data/report.c - prints an output for people: its shape with its labels, then its values. Up to FULL
 * elements are all shown; of more, the corners, and a summary. The text is the same everywhere. */
#include <math.h>
#include <string.h>

#include "driver/driver.h"

enum { FULL = 100, EDGE = 3, EDGE_ROW = 6, LINE = 90 };

/* ---- elements ------------------------------------------------------------------------------- */

/* Six digits, and something that distinguishes it from an integer. */
static void real_text(Buf *b, double v) {
  if (isnan(v) || isinf(v)) {
    buf_str(b, isnan(v) ? "nan" : v < 0 ? "-inf" : "inf");
    return;
  }
  size_t from = b->len;
  buf_printf(b, "%.6g", v == 0 ? 0.0 : v);
  if (!strpbrk(b->s + from, ".e")) buf_str(b, ".0");
}

void report_element(Buf *b, const EvalArray *x, int64_t k) {
  if (x->has && !x->has[k])
    buf_char(b, '-');
  else if (x->dtype == DT_BOOL)
    buf_str(b, eval_int(x, k) ? "true" : "false");
  else if (dtype_is_float(x->dtype))
    real_text(b, eval_real(x, k));
  else
    buf_printf(b, "%lld", (long long)eval_int(x, k));
}

void report_place(Buf *b, const EvalArray *x, int64_t k) {
  int64_t *at = NEW_ARRAY(b->arena, int64_t, x->rank + 1);
  for (uint32_t d = x->rank; d-- > 0; k /= x->shape[d]) at[d] = k % x->shape[d];
  for (uint32_t d = 0; d < x->rank; d++) buf_printf(b, "%s%lld", d ? "," : "[", (long long)at[d]);
  if (x->rank) buf_char(b, ']');
}

/* ---- rows ----------------------------------------------------------------------------------- */

typedef struct Pen {
  Buf *b;
  const EvalArray *x;
  const char *const *axis;
  int width;      /* of the widest element shown */
  bool measuring; /* only finding the width */
  int64_t edge;   /* how many at each end of the last two axes; 0: all */
} Pen;

static void cell(Pen *p, int64_t k, size_t *column) {
  Buf one = buf_new(p->b->arena);
  report_element(&one, p->x, k);
  if (p->measuring) {
    if ((int)one.len > p->width) p->width = (int)one.len;
    return;
  }
  if (*column + 2 + (size_t)p->width > LINE && *column > 2) {
    buf_str(p->b, "\n    ");
    *column = 4;
  }
  buf_printf(p->b, "  %*s", p->width, one.s);
  *column += 2 + (size_t)p->width;
}

static void row(Pen *p, int64_t base, int64_t n) {
  size_t column = 0;
  bool cut = p->edge && n > 2 * p->edge + 1;
  for (int64_t i = 0; i < n; i++) {
    if (cut && i == p->edge) {
      if (!p->measuring) buf_str(p->b, "  ...");
      i = n - p->edge;
    }
    cell(p, base + i, &column);
  }
  if (!p->measuring) buf_char(p->b, '\n');
}

static void rows(Pen *p, int64_t base, int64_t n, int64_t columns) {
  bool cut = p->edge && n > 2 * p->edge + 1;
  for (int64_t i = 0; i < n; i++) {
    if (cut && i == p->edge) {
      if (!p->measuring) buf_printf(p->b, "  ...\n");
      i = n - p->edge;
    }
    row(p, base + i * columns, columns);
  }
}

/* ---- axes ----------------------------------------------------------------------------------- */

/* The vertex whose labels name the dimensions of n: a loop's result has the labels of its source. */
static const EinNode *labelled(const EinNode *n, uint32_t *d) {
  for (;;) {
    if (n->kind == EIN_FINAL) n = n->repeat->body->states.at[n->index].init;
    else if (n->kind == EIN_STATE) n = n->region->states.at[n->index].init;
    else if (n->kind == EIN_INPUT && n->fallback) n = n->fallback;
    else if (n->kind != EIN_STACK) return n;
    else {
      const EinStack *k = &n->repeat->body->stacks.at[n->index];
      if (*d == k->axis) return n;
      *d -= *d > k->axis;
      n = k->node;
    }
  }
}

/* The labels of dimension d: "i", "(h d)", or nothing if there are none. */
static void axis_name(Buf *b, const EinNode *n, uint32_t d) {
  n = labelled(n, &d);
  if (n->kind == EIN_STACK) buf_str(b, n->repeat->body->turn->s);
  if (n->kind != EIN_VERTEX) return;
  uint32_t at = 0;
  for (uint32_t k = 0; k < d; k++) at += n->merge[k];
  if (n->merge[d] == 1) {
    if (n->label[at]) buf_str(b, n->label[at]->s);
    return;
  }
  for (uint32_t k = 0; k < n->merge[d]; k++)
    buf_printf(b, "%s%s", k ? " " : "(", n->label[at + k] ? n->label[at + k]->s : "_");
  buf_char(b, ')');
}

/* "i=0, j=2:" over the rows of a slice. */
static void slice_head(Pen *p, const int64_t *index, uint32_t n) {
  if (p->measuring) return;
  for (uint32_t d = 0; d < n; d++) {
    const char *name = p->axis[d];
    buf_printf(p->b, "%s%s=%lld", d ? ", " : "  ", *name ? name : arena_printf(p->b->arena, "axis %u", d + 1),
               (long long)index[d]);
  }
  buf_str(p->b, ":\n");
}

/* Every slice over the leading axes, or the first and the last one. */
static void slices(Pen *p) {
  const EvalArray *x = p->x;
  uint32_t lead = x->rank > 2 ? x->rank - 2 : 0;
  int64_t n = x->rank >= 2 ? x->shape[x->rank - 2] : 1, columns = x->shape[x->rank - 1], many = 1;
  int64_t *index = NEW_ARRAY(p->b->arena, int64_t, lead + 1);
  for (uint32_t d = 0; d < lead; d++) many *= x->shape[d];
  for (int64_t k = 0; k < many; k++) {
    if (p->edge && k == 1 && many > 2) {
      if (!p->measuring) buf_str(p->b, "  ...\n");
      k = many - 1;
    }
    int64_t rest = k;
    for (uint32_t d = lead; d-- > 0; rest /= x->shape[d]) index[d] = rest % x->shape[d];
    if (lead) slice_head(p, index, lead);
    rows(p, k * n * columns, n, columns);
  }
}

/* ---- the summary ---------------------------------------------------------------------------- */

static void summary_bool(Buf *b, const EvalArray *x) {
  int64_t n = 0;
  for (int64_t k = 0; k < x->count; k++) n += eval_int(x, k) != 0;
  buf_printf(b, "  true: %lld of %lld\n", (long long)n, (long long)x->count);
}

static double as_real(const EvalArray *x, int64_t k) {
  return dtype_is_float(x->dtype) ? eval_real(x, k) : (double)eval_int(x, k);
}

/* Over all elements except NaNs, which are counted. */
static void summary(Buf *b, const EvalArray *x) {
  int64_t low = -1, high = -1, nans = 0, n = 0;
  double sum = 0, lost = 0;
  for (int64_t k = 0; k < x->count; k++) {
    double v = as_real(x, k);
    if (isnan(v)) {
      nans++;
      continue;
    }
    if (low < 0 || v < as_real(x, low)) low = k;
    if (high < 0 || v > as_real(x, high)) high = k;
    double y = v - lost, t = sum + y; /* Kahan's sum */
    lost = isinf(t) ? 0 : (t - sum) - y;
    sum = t;
    n++;
  }
  buf_str(b, "  ");
  if (n) {
    buf_str(b, "min ");
    report_element(b, x, low);
    buf_str(b, "  max ");
    report_element(b, x, high);
    buf_str(b, "  mean ");
    real_text(b, sum / (double)n);
  }
  if (nans)
    buf_printf(b, "%snan: %lld of %lld", n ? "  " : "", (long long)nans, (long long)x->count);
  buf_char(b, '\n');
}

/* ---- the whole ------------------------------------------------------------------------------ */

const char *const *report_axes(Arena *a, const EinNode *n) {
  const char **axis = NEW_ARRAY(a, const char *, n->rank + 1);
  for (uint32_t d = 0; d < n->rank; d++) {
    Buf name = buf_new(a);
    axis_name(&name, n, d);
    axis[d] = name.len ? name.s : "";
  }
  return axis;
}

/* "[i:3, (h d):8]" */
static void report_shape(Buf *b, const char *const *axis, const EvalArray *x) {
  for (uint32_t d = 0; d < x->rank; d++)
    buf_printf(b, "%s%s%s%lld", d ? ", " : "[", axis[d], *axis[d] ? ":" : "", (long long)x->shape[d]);
  if (x->rank) buf_char(b, ']');
}

void report_heading(Buf *b, const char *name, const char *const *axis, const EvalArray *x) {
  buf_str(b, name);
  report_shape(b, axis, x);
  buf_printf(b, "%s%s", *name || x->rank ? " : " : "", dtype_name(x->dtype));
}

void report_value(Buf *b, const char *name, const char *const *axis, const EvalArray *x) {
  report_heading(b, name, axis, x);
  if (x->rank == 0) {
    buf_str(b, " = ");
    report_element(b, x, 0);
    buf_char(b, '\n');
    return;
  }
  buf_char(b, '\n');
  if (!x->count) return;
  Pen p = {.b = b, .x = x, .axis = axis, .measuring = true};
  if (x->count > FULL) p.edge = x->rank == 1 ? EDGE_ROW : EDGE;
  slices(&p);
  p.measuring = false;
  slices(&p);
  if (x->count <= FULL) return;
  if (x->dtype == DT_BOOL)
    summary_bool(b, x);
  else
    summary(b, x);
}

void report_output(Buf *b, const EinOutput *o, const EvalArray *x) {
  report_value(b, o->name->s, report_axes(b->arena, o->node), x);
}
