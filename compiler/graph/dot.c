/* graph/dot.c - an EinGraph as a picture for Graphviz: a box a node with its equation, an arrow an
 * operand with the indices with which it is read, a cluster a repeat. Dashed arrows go from turn to
 * turn. */
#include <string.h>

#include "inside.h"

typedef struct Dot {
  Buf *out;
  int depth;
} Dot;

/* Inside of a quoted string. */
static void escape(Buf *out, const char *s, size_t n) {
  for (size_t i = 0; i < n; i++) {
    if (s[i] == '"' || s[i] == '\\') buf_char(out, '\\');
    if (s[i] == '\n')
      buf_str(out, "\\n");
    else if (s[i])
      buf_char(out, s[i]);
  }
}

static void indent(Dot *d) {
  for (int i = 0; i < d->depth; i++) buf_str(d->out, "  ");
}

static void box(Dot *d, const EinNode *n) {
  static const char *const style[] = {
      [EIN_INPUT] = "shape=box, style=\"rounded,filled\", fillcolor=\"#dbe9ff\"",
      [EIN_VERTEX] = "shape=box",
      [EIN_REPEAT] = "shape=cds",
      [EIN_STATE] = "shape=box, style=\"rounded,filled\", fillcolor=\"#fff1cc\"",
      [EIN_FINAL] = "shape=box, style=rounded",
      [EIN_STACK] = "shape=box, style=rounded",
      [EIN_TURNS] = "shape=box, style=rounded",
  };
  Buf text = buf_new(d->out->arena);
  graph_equation(&text, n);
  indent(d);
  buf_printf(d->out, "n%u [label=\"", n->id);
  escape(d->out, text.s, text.len);
  if (n->kind != EIN_REPEAT) buf_printf(d->out, "\\n%s", dtype_name(n->dtype));
  buf_printf(d->out, "\", %s];\n", style[n->kind]);
}

static void arrow(Dot *d, const EinNode *from, const EinNode *to, const char *label,
                  const char *style) {
  if (!from || !to) return;
  indent(d);
  buf_printf(d->out, "n%u -> n%u [label=\"", from->id, to->id);
  escape(d->out, label, strlen(label));
  buf_printf(d->out, "\"%s%s];\n", *style ? ", " : "", style);
}

/* The index list of each read, found by a walk over what the vertex computes. */
typedef struct Edges {
  Dot *d;
  const EinNode *n;
  Map seen;
  VEC(const Expr *) stack;
} Edges;

static void read_arrow(Edges *w, const Expr *e) {
  ExprNames names = node_names(w->n);
  Buf text = buf_new(w->d->out->arena);
  for (uint32_t k = 0; k < e->n; k++) {
    if (k) buf_str(&text, ", ");
    expr_print(&text, e->arg[k], &names);
  }
  if (e->i >= 0 && e->i < w->n->sum->n_slot) arrow(w->d, w->n->input[e->i], w->n, text.s, "");
}

static void arrows_of(Edges *w, const Expr *top) {
  if (!top) return;
  vec_push(w->d->out->arena, w->stack, top);
  while (w->stack.len) {
    const Expr *e = vec_pop(w->stack);
    if (!(e->has & HAS_READ) || map_find(&w->seen, e)) continue;
    map_put(&w->seen, e, w);
    if (e->kind == EX_READ) read_arrow(w, e);
    for (uint32_t i = e->n; i-- > 0;) vec_push(w->d->out->arena, w->stack, e->arg[i]);
  }
}

static void arrows(Dot *d, const EinNode *n) {
  Edges w = {.d = d, .n = n, .seen = map_new(d->out->arena)};
  if (n->kind == EIN_VERTEX) {
    arrows_of(&w, n->sum->body);
    arrows_of(&w, n->sum->where);
    arrows_of(&w, n->sum->domain);
  }
  if (n->kind == EIN_INPUT) arrow(d, n->fallback, n, "default", "");
  if (n->kind == EIN_FINAL || n->kind == EIN_STACK || n->kind == EIN_TURNS)
    arrow(d, n->repeat, n, "", "");
}

static void region(Dot *d, const EinRegion *r);

static void cluster(Dot *d, const EinNode *n) {
  const EinRegion *r = n->body;
  indent(d);
  buf_printf(d->out, "subgraph cluster_%u {\n", n->id);
  d->depth++;
  indent(d);
  buf_str(d->out, "style=rounded; color=gray;\n");
  box(d, n);
  region(d, r);
  d->depth--;
  indent(d);
  buf_str(d->out, "}\n");
  arrow(d, r->bound, n, "bound", "");
  arrow(d, r->stop, n, "until", "style=dashed, constraint=false");
  for (uint32_t i = 0; i < r->states.len; i++) {
    arrow(d, r->states.at[i].init, r->states.at[i].node, "init", "");
    arrow(d, r->states.at[i].next, r->states.at[i].node, "next", "style=dashed, constraint=false");
  }
  for (uint32_t i = 0; i < r->stacks.len; i++)
    arrow(d, r->stacks.at[i].node, n, "stack", "style=dashed, constraint=false");
}

static void region(Dot *d, const EinRegion *r) {
  for (uint32_t i = 0; i < r->nodes.len; i++) {
    const EinNode *n = r->nodes.at[i];
    if (n->kind == EIN_REPEAT) {
      cluster(d, n);
    } else {
      box(d, n);
      arrows(d, n);
    }
  }
}

void graph_dot(Buf *out, const EinGraph *g) {
  Dot d = {.out = out, .depth = 1};
  buf_str(out, "digraph eingraph {\n  node [fontname=\"monospace\", fontsize=10];\n  edge "
               "[fontname=\"monospace\", fontsize=8];\n");
  region(&d, g->top);
  for (uint32_t i = 0; i < g->outputs.len; i++) {
    buf_printf(out, "  out%u [label=\"", i);
    escape(out, g->outputs.at[i].name->s, g->outputs.at[i].name->len);
    buf_printf(out, "\", shape=plaintext];\n  n%u -> out%u;\n", g->outputs.at[i].node->id, i);
  }
  buf_str(out, "}\n");
}
