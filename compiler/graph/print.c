/* graph/print.c - prints an EinGraph as text, one line per node, in the order of computation; regions are indented
 * blocks. What graph.c derives (shapes of vertices and of a repeat's results) is not printed. The grammar is in
 * docs/languages-inside.md. */
#include "expr/region/text.h"
#include "inside.h"

typedef struct Printer {
  SumPrinter p;
  Buf *out;
  const EinGraph *g;
  const EinNode *n; /* the current vertex */
} Printer;

static void read_text(void *ctx, Buf *out, int64_t slot) {
  const EinNode *n = ((const Printer *)ctx)->n;
  bool known = n && slot < n->sum->n_slot && n->input[slot];
  buf_printf(out, "%%%lld", known ? (long long)n->input[slot]->id : -1);
}

/* ---- pieces of lines ------------------------------------------------------------------------- */

static void put_ref(Printer *p, const char *before, const EinNode *n) {
  print_ref(p->out, before, graph_face.node(n));
}

static void print_shape(Printer *p, const EinNode *n) {
  print_exprs(&p->p, n->rank, n->dim);
  buf_printf(p->out, " : %s", dtype_name(n->dtype));
}

static void print_out_labels(Printer *p) {
  uint32_t l = 0;
  buf_char(p->out, '[');
  for (uint32_t k = 0; k < p->n->rank; k++) {
    uint32_t m = p->n->merge[k];
    if (k) buf_str(p->out, ", ");
    if (m != 1) buf_char(p->out, '(');
    for (uint32_t j = 0; j < m && l < p->n->sum->n_out; j++, l++) {
      if (j) buf_char(p->out, ' ');
      print_label(&p->p, l);
    }
    if (m != 1) buf_char(p->out, ')');
  }
  buf_char(p->out, ']');
}

/* ---- lines ----------------------------------------------------------------------------------- */

static void print_vertex(Printer *p, const EinNode *n) {
  p->n = n;
  print_sum_of(&p->p, n->sum, n->label, n->bound);
  print_out_labels(p);
  print_sum(&p->p);
  print_sum_of(&p->p, NULL, NULL, NULL);
  p->n = NULL;
}

static void print_result(Printer *p, const EinNode *n) {
  put_ref(p, n->name ? " = " : "= ", n->repeat);
  if (n->kind != EIN_TURNS) buf_printf(p->out, ".%u", n->index);
}

static void print_tensor(Printer *p, const EinNode *n) {
  if (n->name) word_print(p->out, n->name);
  if (n->kind == EIN_VERTEX) {
    print_vertex(p, n);
  } else if (n->kind == EIN_INPUT || n->kind == EIN_STATE) {
    print_shape(p, n);
    if (n->kind == EIN_STATE)
      put_ref(p, " = ",
              n->index < n->region->states.len ? n->region->states.at[n->index].init : NULL);
    else if (n->fallback)
      put_ref(p, " default ", n->fallback);
  } else {
    print_result(p, n);
  }
  print_end(&p->p, n->place);
}

static const char *word_of(void *ctx, const void *node) {
  (void)ctx;
  return node_word(node);
}

static void print_line(void *ctx, const void *node) {
  print_tensor(ctx, node);
}

static void print_head(Printer *p) {
  buf_str(p->out, "eingraph 1\n");
  print_dims(&p->p, &p->g->dims);
  print_externs(&p->p, p->g->exprs);
  print_monoids(&p->p, &p->g->monoids);
}

static void print_foot(Printer *p) {
  for (uint32_t i = 0; i < p->g->outputs.len; i++) {
    buf_str(p->out, "output ");
    word_print(p->out, p->g->outputs.at[i].name);
    put_ref(p, " = ", p->g->outputs.at[i].node);
    buf_char(p->out, '\n');
  }
  for (uint32_t i = 0; i < p->g->asserts.len; i++) {
    put_ref(p, "assert ", p->g->asserts.at[i].node);
    print_string(&p->p, p->g->asserts.at[i].text);
    print_end(&p->p, p->g->asserts.at[i].place);
  }
  print_checks(&p->p, &p->g->checks);
}

void graph_print(Buf *out, const EinGraph *g) {
  Printer p = {.out = out, .g = g};
  RegionPrinter r = {&p.p, g->exprs, &graph_face, &p, word_of, print_line};
  p.p = sum_printer(out, &p, read_text);
  print_head(&p);
  if (region_ids(&graph_face, g->exprs, g->top) != g->n_nodes) buf_printf(out, "ids %u\n", g->n_nodes);
  print_nodes(&r, g->top);
  print_foot(&p);
}
