/* graph/dot.c - draws an EinGraph: a box per node with its equation, an arrow per operand with the indices of the
 * read. Dashed arrows go from turn to turn. The first part decides what to draw, for any back end; the second writes
 * Graphviz, with a cluster per repeat. */
#include "inside.h"

/* ---- what is drawn ---------------------------------------------------------------------------- */

typedef struct Drawn {
  Arena *arena;
  GraphPicture *p;
  uint32_t *box;             /* by node */
} Drawn;

static uint32_t box_add(Drawn *d, const EinNode *n) {
  Buf text = buf_new(d->arena);
  graph_equation(&text, n);
  GraphBox b = {.node = n, .text = text.s, .end = d->p->boxes.len + 1};
  d->box[n->id] = d->p->boxes.len;
  vec_push(d->arena, d->p->boxes, b);
  return b.end - 1;
}

static void arrow_add(Drawn *d, const EinNode *from, const EinNode *to, const char *label, bool dashed) {
  if (!from || !to) return;
  GraphArrow a = {d->box[from->id], d->box[to->id], label, dashed};
  vec_push(d->arena, d->p->arrows, a);
}

/* The index list of each read, found by walking the vertex's expressions. */
typedef struct Edges {
  Drawn *d;
  const EinNode *n;
  Map seen;
  VEC(const Expr *) stack;
} Edges;

static void read_arrow(Edges *w, const Expr *e) {
  ExprNames names = node_names(w->n);
  Buf text = buf_new(w->d->arena);
  for (uint32_t k = 0; k < e->n; k++) {
    if (k) buf_str(&text, ", ");
    expr_print(&text, e->arg[k], &names);
  }
  if (e->i >= 0 && e->i < w->n->sum->n_slot) arrow_add(w->d, w->n->input[e->i], w->n, text.s, false);
}

static void arrows_of(Edges *w, const Expr *top) {
  if (!top) return;
  vec_push(w->d->arena, w->stack, top);
  while (w->stack.len) {
    const Expr *e = vec_pop(w->stack);
    if (!(e->has & HAS_READ) || map_find(&w->seen, e)) continue;
    map_put(&w->seen, e, w);
    if (e->kind == EX_READ) read_arrow(w, e);
    for (uint32_t i = e->n; i-- > 0;) vec_push(w->d->arena, w->stack, e->arg[i]);
  }
}

static void arrows_find(Drawn *d, const EinNode *n) {
  Edges w = {.d = d, .n = n, .seen = map_new(d->arena)};
  if (n->kind == EIN_VERTEX) {
    arrows_of(&w, n->sum->body);
    arrows_of(&w, n->sum->where);
    arrows_of(&w, n->sum->domain);
  }
  if (n->kind == EIN_INPUT) arrow_add(d, n->fallback, n, "default", false);
  if (n->kind == EIN_FINAL || n->kind == EIN_STACK || n->kind == EIN_TURNS) arrow_add(d, n->repeat, n, "", false);
}

static void boxes_find(Drawn *d, const EinRegion *r);

static void repeat_find(Drawn *d, const EinNode *n) {
  const EinRegion *r = n->body;
  uint32_t box = box_add(d, n);
  boxes_find(d, r);
  d->p->boxes.at[box].end = d->p->boxes.len;
  arrow_add(d, r->bound, n, "bound", false);
  arrow_add(d, r->stop, n, "until", true);
  for (uint32_t i = 0; i < r->states.len; i++) {
    arrow_add(d, r->states.at[i].init, r->states.at[i].node, "init", false);
    arrow_add(d, r->states.at[i].next, r->states.at[i].node, "next", true);
  }
  for (uint32_t i = 0; i < r->stacks.len; i++) arrow_add(d, r->stacks.at[i].node, n, "stack", true);
}

static void boxes_find(Drawn *d, const EinRegion *r) {
  for (uint32_t i = 0; i < r->nodes.len; i++) {
    if (r->nodes.at[i]->kind == EIN_REPEAT) {
      repeat_find(d, r->nodes.at[i]);
    } else {
      box_add(d, r->nodes.at[i]);
      arrows_find(d, r->nodes.at[i]);
    }
  }
}

GraphPicture *graph_picture(Arena *a, const EinGraph *g) {
  Drawn d = {a, NEW(a, GraphPicture), NEW_ARRAY(a, uint32_t, g->n_nodes + 1)};
  boxes_find(&d, g->top);
  for (uint32_t i = 0; i < g->outputs.len; i++) {
    GraphBox b = {.text = g->outputs.at[i].name->s, .end = d.p->boxes.len + 1};
    GraphArrow to = {d.box[g->outputs.at[i].node->id], d.p->boxes.len, "", false};
    vec_push(a, d.p->boxes, b);
    vec_push(a, d.p->arrows, to);
  }
  return d.p;
}

/* ---- Graphviz ----------------------------------------------------------------------------------- */

typedef struct Dot {
  Buf *out;
  const GraphPicture *p;
  int depth;
} Dot;

/* Escapes text inside a quoted string. */
static void escape(Buf *out, const char *s) {
  for (; *s; s++) {
    if (*s == '"' || *s == '\\') buf_char(out, '\\');
    if (*s == '\n') buf_str(out, "\\n");
    else buf_char(out, *s);
  }
}

static void indent(Dot *d) {
  for (int i = 0; i < d->depth; i++) buf_str(d->out, "  ");
}

static void box_name(Dot *d, uint32_t i) {
  const EinNode *n = d->p->boxes.at[i].node;
  if (n) buf_printf(d->out, "n%u", n->id);
  else buf_printf(d->out, "out%u", i);
}

static void box(Dot *d, uint32_t i) {
  static const char *const style[] = {
      [EIN_INPUT] = "shape=box, style=\"rounded,filled\", fillcolor=\"#dbe9ff\"",
      [EIN_VERTEX] = "shape=box",
      [EIN_REPEAT] = "shape=cds",
      [EIN_STATE] = "shape=box, style=\"rounded,filled\", fillcolor=\"#fff1cc\"",
      [EIN_FINAL] = "shape=box, style=rounded",
      [EIN_STACK] = "shape=box, style=rounded",
      [EIN_TURNS] = "shape=box, style=rounded",
  };
  const GraphBox *b = &d->p->boxes.at[i];
  indent(d);
  box_name(d, i);
  buf_str(d->out, " [label=\"");
  escape(d->out, b->text);
  if (b->node && b->node->kind != EIN_REPEAT) buf_printf(d->out, "\\n%s", dtype_name(b->node->dtype));
  buf_printf(d->out, "\", %s];\n", b->node ? style[b->node->kind] : "shape=plaintext");
}

static void boxes(Dot *d, uint32_t from, uint32_t to) {
  for (uint32_t i = from; i < to; i = d->p->boxes.at[i].end) {
    const GraphBox *b = &d->p->boxes.at[i];
    bool repeat = b->node && b->node->kind == EIN_REPEAT;
    if (repeat) {
      indent(d);
      buf_printf(d->out, "subgraph cluster_%u {\n", b->node->id);
      d->depth++;
      indent(d);
      buf_str(d->out, "style=rounded; color=gray;\n");
    }
    box(d, i);
    boxes(d, i + 1, b->end);
    if (!repeat) continue;
    d->depth--;
    indent(d);
    buf_str(d->out, "}\n");
  }
}

static void arrow(Dot *d, const GraphArrow *a) {
  indent(d);
  box_name(d, a->from);
  buf_str(d->out, " -> ");
  box_name(d, a->to);
  buf_str(d->out, " [label=\"");
  escape(d->out, a->label);
  buf_printf(d->out, "\"%s];\n", a->dashed ? ", style=dashed, constraint=false" : "");
}

void graph_dot(Buf *out, const EinGraph *g) {
  Dot d = {out, graph_picture(out->arena, g), 1};
  buf_str(out, "digraph eingraph {\n  node [fontname=\"monospace\", fontsize=10];\n  edge "
               "[fontname=\"monospace\", fontsize=8];\n");
  boxes(&d, 0, d.p->boxes.len);
  for (uint32_t i = 0; i < d.p->arrows.len; i++) arrow(&d, &d.p->arrows.at[i]);
  buf_str(out, "}\n");
}
