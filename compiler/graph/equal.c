/* graph/equal.c - whether two graphs agree in all fields. They may come from different pools and tables. Scratch
 * (mark, the interning) and an EinSum's hash are not part of a graph. */
#include "expr/region/law.h"
#include "inside.h"

typedef struct Equal {
  Same q;
  const EinNode *n; /* the current node, for the complaint */
} Equal;

static void say_where(void *ctx, Buf *out) {
  const EinNode *n = ((const Equal *)ctx)->n;
  if (n) buf_printf(out, "%s %%%u: ", node_word(n), n->id);
}

static bool same_ref(Equal *q, const char *what, const EinNode *a, const EinNode *b) {
  return eq_ref(&q->q, what, graph_face.node(a), graph_face.node(b));
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static bool eq_vertex(Equal *q, const EinNode *a, const EinNode *b) {
  if (!eq_sum(&q->q, a->sum, b->sum)) return false;
  uint32_t labels = a->sum->n_out + a->sum->n_red;
  if (!eq_exprs(&q->q, "a label's bound", labels, a->bound, b->bound)) return false;
  for (uint32_t k = 0; k < labels; k++)
    if (!eq_str(&q->q, "a label's name", a->label[k], b->label[k])) return false;
  for (uint32_t k = 0; k < a->rank; k++)
    if (!eq_int(&q->q, "the merge of labels", a->merge[k], b->merge[k])) return false;
  for (uint32_t k = 0; k < a->sum->n_slot; k++)
    if (!same_ref(q, "an input", a->input[k], b->input[k])) return false;
  return true;
}

static bool eq_node(void *ctx, const void *left, const void *right) {
  Equal *q = ctx;
  const EinNode *a = left, *b = right;
  bool ok = eq_int(&q->q, "the kind", a->kind, b->kind) && eq_int(&q->q, "the dtype", a->dtype, b->dtype) &&
            eq_int(&q->q, "the rank", a->rank, b->rank) && eq_exprs(&q->q, "the shape", a->rank, a->dim, b->dim) &&
            eq_int(&q->q, "param", a->param, b->param) && same_ref(q, "the default", a->fallback, b->fallback);
  return ok && (a->kind != EIN_VERTEX || eq_vertex(q, a, b));
}

static void put_at(void *ctx, const void *node) {
  ((Equal *)ctx)->n = node;
}

/* ---- the graph ------------------------------------------------------------------------------- */

static bool eq_outputs(Equal *q, const EinGraph *a, const EinGraph *b) {
  if (!eq_int(&q->q, "the number of inputs", a->inputs.len, b->inputs.len)) return false;
  if (!eq_int(&q->q, "the number of outputs", a->outputs.len, b->outputs.len)) return false;
  for (uint32_t i = 0; i < a->inputs.len; i++)
    if (!same_ref(q, "an input", a->inputs.at[i], b->inputs.at[i])) return false;
  for (uint32_t i = 0; i < a->outputs.len; i++) {
    const EinOutput *x = &a->outputs.at[i], *y = &b->outputs.at[i];
    if (!eq_str(&q->q, "an output's name", x->name, y->name) ||
        !same_ref(q, "an output", x->node, y->node))
      return false;
  }
  return true;
}

static bool eq_tests(Equal *q, const EinGraph *a, const EinGraph *b) {
  if (!eq_int(&q->q, "the number of asserts", a->asserts.len, b->asserts.len)) return false;
  for (uint32_t i = 0; i < a->asserts.len; i++) {
    const EinAssert *x = &a->asserts.at[i], *y = &b->asserts.at[i];
    if (!same_ref(q, "an assert", x->node, y->node) ||
        !eq_str(&q->q, "an assert's text", x->text, y->text) || !eq_place(&q->q, x->place, y->place))
      return false;
  }
  return eq_checks(&q->q, &a->checks, &b->checks);
}

bool graph_equal(const EinGraph *a, const EinGraph *b, Buf *why) {
  Equal q = {.q = {.arena = arena_new(), .why = why, .same_pool = a->exprs == b->exprs}};
  RegionSame r = {&q.q, &graph_face, &q, a->exprs, b->exprs, eq_node, put_at};
  q.q.ctx = &q;
  q.q.where = say_where;
  bool ok = eq_int(&q.q, "the number of ids", a->n_nodes, b->n_nodes) && eq_externs(&q.q, a->exprs, b->exprs) &&
            eq_dims(&q.q, &a->dims, &b->dims) && eq_monoids(&q.q, &a->monoids, &b->monoids) &&
            eq_region(&r, a->top, b->top) && eq_outputs(&q, a, b) && eq_tests(&q, a, b);
  arena_free(q.q.arena);
  return ok;
}
