/* front/elab/vertex.c - a vertex under construction: its labels get numbers, its reads get slots. */
#include "elab.h"

Place place_of(Elab *x, Span s) {
  if (!s.src) return (Place){0};
  uint32_t line, column;
  source_place(x->arena, s.src, s.at, &line, &column);
  return (Place){str_from(x->strings, s.src->name), line, column};
}

/* Labels nest: a vertex made inside another one saves the values and restores them. */
Frozen labels_number(Elab *x, LabelSet out, LabelSet red) {
  Frozen f = {NEW_ARRAY(x->arena, const Expr *, out.n + red.n + 1), out, red, x->vertex.out, x->vertex.red};
  for (uint32_t i = 0; i < out.n; i++) f.was[i] = out.at[i]->value;
  for (uint32_t i = 0; i < red.n; i++) f.was[out.n + i] = red.at[i]->value;
  for (uint32_t i = 0; i < out.n; i++) out.at[i]->value = expr_label(x->exprs, i);
  for (uint32_t i = 0; i < red.n; i++) red.at[i]->value = expr_label(x->exprs, out.n + i);
  x->vertex.out = out, x->vertex.red = red;
  return f;
}

void labels_restore(Elab *x, Frozen f) {
  for (uint32_t i = f.red.n; i-- > 0;) f.red.at[i]->value = f.was[f.out.n + i];
  for (uint32_t i = f.out.n; i-- > 0;) f.out.at[i]->value = f.was[i];
  x->vertex.out = f.was_out, x->vertex.red = f.was_red;
}

const Expr *read_node(Elab *x, EinNode *n, uint32_t rank, const Expr *const *index) {
  while (x->by_id.len <= n->id) vec_push(x->arena, x->by_id, NULL);
  x->by_id.at[n->id] = n;
  return expr_read(x->exprs, n->dtype, (int64_t)n->id, rank, index);
}

const Expr *at_labels(Elab *x, const Expr *e, LabelSet labels) {
  if (!e || !labels.n) return e;
  const Expr *few[16], **to = labels.n <= 16 ? few : NEW_ARRAY(x->arena, const Expr *, labels.n);
  for (uint32_t i = 0; i < labels.n; i++) to[i] = labels.at[i]->value;
  return expr_relabel(x->exprs, e, labels.n, to);
}

Obligation *needs_at_labels(Elab *x, const Obligation *o, LabelSet labels) {
  Obligation *first = NULL, **end = &first;
  for (; o; o = o->next) {
    *end = arena_copy(x->arena, o, sizeof *o);
    (*end)->cond = at_labels(x, o->cond, labels);
    (*end)->plain = at_labels(x, o->plain, labels);
    (*end)->index = at_labels(x, o->index, labels);
    end = &(*end)->next;
    *end = NULL;
  }
  return first;
}

/* Different labels get different names: a second k becomes k~2. */
static Str label_name(Elab *x, const Str *names, uint32_t n, Str name) {
  Str s = name;
  for (uint32_t k = 2, i = 0; i < n; i++)
    if (names[i] == s) s = strings_printf(x->strings, "%s~%u", name->s, k++), i = UINT32_MAX;
  return s;
}

EinNode *vertex_new(Elab *x, EinSum *draft, const uint8_t *merge, uint32_t rank, Str name, Span span) {
  uint32_t n = x->vertex.out.n + x->vertex.red.n;
  const Expr **bound = NEW_ARRAY(x->arena, const Expr *, n + 1);
  Str *label = NEW_ARRAY(x->arena, Str, n + 1);
  for (uint32_t i = 0; i < n; i++) {
    const LabelVar *v = i < x->vertex.out.n ? x->vertex.out.at[i] : x->vertex.red.at[i - x->vertex.out.n];
    bound[i] = label_root(x->vertex.out.n > i ? x->vertex.out.at[i] : x->vertex.red.at[i - x->vertex.out.n])->extent;
    label[i] = label_name(x, label, i, v->name);
  }
  draft->n_out = x->vertex.out.n, draft->n_red = x->vertex.red.n;
  if (x->vertex.out.n > GRAPH_OUT / 2 && !x->equation.failed) {
    diag_add(x->diags, D_E095, span, "more than %d labels of one result", GRAPH_OUT / 2);
    x->equation.failed = true;
  }
  EinNode **input = graph_canonical_slots(x->graph, draft, x->by_id.at);
  EinNode *v = graph_vertex(x->graph, x->around.region, graph_sum(x->graph, draft), bound, label,
      merge ? rank : x->vertex.out.n, merge, input);
  v->name = name;
  v->place = place_of(x, span);
  return v;
}
