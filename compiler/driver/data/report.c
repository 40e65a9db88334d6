/* driver/data/report.c - prints an output for people, as built programs do (runtime/data/show.c): its shape with its
 * labels, then its values. */
#include "driver/driver.h"

void report_place(Buf *b, const EvalArray *x, int64_t k) {
  int64_t *at = NEW_ARRAY(b->arena, int64_t, x->rank + 1);
  for (uint32_t d = x->rank; d-- > 0; k /= x->shape[d]) at[d] = k % x->shape[d];
  for (uint32_t d = 0; d < x->rank; d++) buf_printf(b, "%s%lld", d ? "," : "[", (long long)at[d]);
  if (x->rank) buf_char(b, ']');
}

/* ---- axes ----------------------------------------------------------------------------------- */

/* The labels of dimension d: "i", "(h d)", or nothing if there are none. */
static void axis_name(Buf *b, const EinNode *n, uint32_t d) {
  n = graph_labelled(n, &d);
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

const char *const *report_axes(Arena *a, const EinNode *n) {
  const char **axis = NEW_ARRAY(a, const char *, n->rank + 1);
  for (uint32_t d = 0; d < n->rank; d++) {
    Buf name = buf_new(a);
    axis_name(&name, n, d);
    axis[d] = name.len ? name.s : "";
  }
  return axis;
}

/* ---- values --------------------------------------------------------------------------------- */

static ein_shown shown_of(const char *name, const char *const *axis, const EvalArray *x) {
  return (ein_shown){name, (ein_dtype)x->dtype, (int)x->rank, axis, x->shape, x->count, x->data, x->has};
}

static void put(void *to, const char *text) { buf_str(to, text); }

void report_heading(Buf *b, const char *name, const char *const *axis, const EvalArray *x) {
  const ein_shown s = shown_of(name, axis, x);
  ein_show_heading(&s, put, b);
}

void report_value(Buf *b, const char *name, const char *const *axis, const EvalArray *x) {
  const ein_shown s = shown_of(name, axis, x);
  ein_show(&s, put, b);
}

void report_element(Buf *b, const EvalArray *x, int64_t k) {
  const ein_shown s = shown_of("", NULL, x);
  buf_str(b, ein_show_element(&s, k).s);
}

void report_output(Buf *b, const EinOutput *o, const EvalArray *x) {
  report_value(b, o->name->s, report_axes(b->arena, o->node), x);
}
