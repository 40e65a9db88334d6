/* graph/equation.c - prints a node as the equation that a person would write: for people, not read back. */
#include "expr/equation.h"
#include "inside.h"

static void write_node(Writer *w, const EinNode *n) {
  if (n)
    write_name(w, n->name, "%", n->id);
  else
    buf_char(w->out, '?');
}

static void write_operand(void *ctx, Buf *out, int64_t slot) {
  const EinNode *n = ctx;
  Writer w = {.out = out};
  bool known = n->kind == EIN_VERTEX && n->sum && slot >= 0 && slot < n->sum->n_slot;
  write_node(&w, known ? n->input[slot] : NULL);
}

static void write_shape(Writer *w, const EinNode *n) {
  write_node(w, n);
  write_list(w, n->rank, n->dim);
}

static void write_left(Writer *w, const EinNode *n) {
  write_node(w, n);
  for (uint32_t k = 0, l = 0; k < n->rank; k++) {
    uint32_t m = n->merge[k];
    buf_str(w->out, k ? "," : "[");
    if (m != 1) buf_char(w->out, '(');
    for (uint32_t j = 0; j < m && l < n->sum->n_out; j++, l++) {
      if (j) buf_char(w->out, ' ');
      write_name(w, n->label[l], "l", l);
    }
    if (m != 1) buf_char(w->out, ')');
  }
  buf_str(w->out, n->rank ? "] = " : " = ");
}

static void write_vertex(Writer *w, const EinNode *n) {
  write_left(w, n);
  write_right(w, n->sum, n->label);
}

static void write_repeat(Writer *w, const EinNode *n) {
  buf_str(w->out, "repeat ");
  write_name(w, n->body->turn, "t", n->body->depth);
  buf_str(w->out, " < ");
  if (n->body->turns)
    write_expr(w, n->body->turns);
  else
    write_node(w, n->body->bound);
  if (!n->body->stop) return;
  buf_str(w->out, " until ");
  write_node(w, n->body->stop);
}

static void write_result(Writer *w, const EinNode *n) {
  write_shape(w, n);
  buf_str(w->out, n->kind == EIN_FINAL   ? " = final of "
                  : n->kind == EIN_STACK ? " = stack of "
                                         : " = turns of ");
  write_node(w, n->repeat);
}

void graph_equation(Buf *out, const EinNode *n) {
  ExprNames names = node_names(n);
  names.read = write_operand;
  Writer w = equation_writer(out, names);
  switch (n->kind) {
  case EIN_VERTEX: write_vertex(&w, n); break;
  case EIN_REPEAT: write_repeat(&w, n); break;
  case EIN_INPUT:
  case EIN_STATE:
    buf_printf(out, "%s ", node_word(n));
    write_shape(&w, n);
    break;
  case EIN_FINAL:
  case EIN_STACK:
  case EIN_TURNS: write_result(&w, n); break;
  }
}
