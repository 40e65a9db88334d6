/* tests/kernel/text.c - a program as text. */
#include <string.h>

#include "kernels.h"

static void labels_text(Buf *b, uint32_t n, Lab *const *lab) {
  for (uint32_t k = 0; k < n; k++) {
    Axis axis = axis_of(lab[k]->size);
    buf_printf(b, "%s%s:%s", k ? ", " : "", lab[k]->name, axis_text(b->arena, &axis));
  }
}

static void term_print(Buf *b, const Term *x);

static void read_print(Buf *b, const Term *x) {
  buf_str(b, x->tensor->name);
  for (uint32_t k = 0; k < x->n; k++) {
    buf_str(b, k ? "," : "[");
    term_print(b, x->arg[k]);
  }
  if (x->n) buf_char(b, ']');
}

/* More labels than one are a group for argmax. */
static void reduce_print(Buf *b, const Term *x) {
  bool group = !strncmp(x->text, "arg", 3) && x->n_lab > 1;
  static const char *const words[] = {"sum", "sum:f64", "prod", "max", "min", "fmax", "fmin", "any", "all", "count",
      "mean", "argmax", "argmin", "logsumexp"};
  bool monoid = true;
  for (size_t k = 0; k < COUNT(words); k++) monoid &= strcmp(words[k], x->text) != 0;
  buf_printf(b, "%s%s[%s", monoid ? "" : "(", x->text, group ? "(" : "");
  if (!group) labels_text(b, x->n_lab, x->lab);
  for (uint32_t k = 0; group && k < x->n_lab; k++) {
    Axis axis = axis_of(x->lab[k]->size);
    buf_printf(b, "%s%s:%s", k ? " " : "", x->lab[k]->name, axis_text(b->arena, &axis));
  }
  if (group) buf_char(b, ')');
  if (x->arg[1]) buf_str(b, " where "), term_print(b, x->arg[1]);
  buf_char(b, ']');
  if (x->arg[0]) buf_char(b, '('), term_print(b, x->arg[0]), buf_char(b, ')');
  if (!monoid) buf_char(b, ')');
}

static void form_print(Buf *b, const Term *x) {
  for (const char *s = x->text; *s; s++) {
    if (*s != '$') buf_char(b, *s);
    else term_print(b, x->arg[*++s - '0']);
  }
}

static void term_print(Buf *b, const Term *x) {
  switch (x->kind) {
    case TERM_TEXT: buf_str(b, x->text); return;
    case TERM_LABEL: buf_str(b, x->lab[0]->name); return;
    case TERM_READ: read_print(b, x); return;
    case TERM_FORM: form_print(b, x); return;
    case TERM_REDUCE: reduce_print(b, x); return;
  }
}

static void input_print(Buf *b, const Tensor *t) {
  buf_printf(b, "input %s", t->name);
  for (uint32_t k = 0; k < t->rank; k++) buf_printf(b, "%s%s", k ? ", " : "[", axis_text(b->arena, &t->axis[k]));
  buf_printf(b, "%s : %s\n", t->rank ? "]" : "", dtype_name(t->dtype));
}

static void equation_print(Buf *b, const Equation *q) {
  buf_printf(b, "%s%s", q->output ? "output " : "", q->to->name);
  if (q->n_left) buf_char(b, '['), labels_text(b, q->n_left, q->left), buf_char(b, ']');
  if (q->typed) buf_printf(b, " : %s", dtype_name(q->to->dtype));
  buf_str(b, " = ");
  term_print(b, q->value);
  buf_char(b, '\n');
}

static void mark(const Term *x) {
  if (x->kind == TERM_READ) x->tensor->read = true;
  for (uint32_t k = 0; k < x->n; k++)
    if (x->arg[k]) mark(x->arg[k]);
}

const char *case_text(Arena *a, const Case *c) {
  Buf b = buf_new(a);
  buf_printf(&b, "# aim: %s\n", c->aim);
  for (uint32_t k = 0; k < c->tensors.len; k++) c->tensors.at[k]->read = false;
  for (uint32_t k = 0; k < c->equations.len; k++) mark(c->equations.at[k]->value);
  for (uint32_t k = 0; k < c->sizes.len; k++)
    if (c->sizes.at[k]->open) buf_printf(&b, "dim %s\n", c->sizes.at[k]->name);
  for (uint32_t k = 0; k < c->lines.len; k++) buf_printf(&b, "%s\n", c->lines.at[k]);
  for (uint32_t k = 0; k < c->tensors.len; k++)
    if (c->tensors.at[k]->input && c->tensors.at[k]->read) input_print(&b, c->tensors.at[k]);
  for (uint32_t k = 0; k < c->equations.len; k++) equation_print(&b, c->equations.at[k]);
  return b.s;
}
