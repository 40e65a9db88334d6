/* graph/equal.c - are two graphs the same in all fields? They may come of different pools and
 * tables. Scratch (mark, the interning) and what hash an EinSum has are not part of a graph. */
#include "inside.h"

typedef struct Equal {
  Same q;
  const EinNode *n; /* the node at hand, for the complaint */
} Equal;

static void say_where(void *ctx, Buf *out) {
  const EinNode *n = ((const Equal *)ctx)->n;
  if (n) buf_printf(out, "%s %%%u: ", node_word(n), n->id);
}

static bool eq_ref(Equal *q, const char *what, const EinNode *a, const EinNode *b) {
  if (!a || !b) return a == b || differ(&q->q, "%s is there in one only", what);
  return eq_int(&q->q, what, a->id, b->id);
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
    if (!eq_ref(q, "an input", a->input[k], b->input[k])) return false;
  return true;
}

static bool eq_region(Equal *q, const EinRegion *a, const EinRegion *b);

static bool eq_node(Equal *q, const EinNode *a, const EinNode *b) {
  q->n = a;
  bool ok =
      eq_int(&q->q, "the id", a->id, b->id) && eq_int(&q->q, "the kind", a->kind, b->kind) &&
      eq_str(&q->q, "the name", a->name, b->name) && eq_place(&q->q, a->place, b->place) &&
      eq_int(&q->q, "the dtype", a->dtype, b->dtype) && eq_int(&q->q, "the rank", a->rank, b->rank) &&
      eq_exprs(&q->q, "the shape", a->rank, a->dim, b->dim) && eq_int(&q->q, "param", a->param, b->param) &&
      eq_ref(q, "the default", a->fallback, b->fallback) &&
      eq_ref(q, "the repeat", a->repeat, b->repeat) && eq_int(&q->q, "the index", a->index, b->index);
  if (ok && a->kind == EIN_VERTEX) ok = eq_vertex(q, a, b);
  if (ok && a->kind == EIN_REPEAT) ok = eq_region(q, a->body, b->body);
  q->n = NULL;
  return ok;
}

/* ---- regions --------------------------------------------------------------------------------- */

static bool eq_blocks(Equal *q, const EinRegion *a, const EinRegion *b) {
  if (!eq_int(&q->q, "the number of states", a->states.len, b->states.len)) return false;
  if (!eq_int(&q->q, "the number of stacks", a->stacks.len, b->stacks.len)) return false;
  for (uint32_t i = 0; i < a->states.len; i++) {
    const EinState *x = &a->states.at[i], *y = &b->states.at[i];
    if (!eq_ref(q, "a state", x->node, y->node) || !eq_ref(q, "a state's init", x->init, y->init) ||
        !eq_ref(q, "a state's next", x->next, y->next))
      return false;
  }
  for (uint32_t i = 0; i < a->stacks.len; i++) {
    const EinStack *x = &a->stacks.at[i], *y = &b->stacks.at[i];
    if (!eq_str(&q->q, "a stack's name", x->name, y->name) || !eq_ref(q, "a stack", x->node, y->node) ||
        !eq_int(&q->q, "a stack's axis", x->axis, y->axis))
      return false;
  }
  return true;
}

static bool eq_region(Equal *q, const EinRegion *a, const EinRegion *b) {
  if (!eq_int(&q->q, "the depth", a->depth, b->depth) ||
      !eq_str(&q->q, "the loop variable", a->turn, b->turn) ||
      !eq_ref(q, "the region's repeat", a->repeat, b->repeat) ||
      !eq_ref(q, "the bound", a->bound, b->bound) ||
      !eq_expr(&q->q, "the number of turns", a->turns, b->turns) ||
      !eq_ref(q, "the stop", a->stop, b->stop) || !eq_blocks(q, a, b) ||
      !eq_int(&q->q, "the number of nodes", a->nodes.len, b->nodes.len))
    return false;
  for (uint32_t i = 0; i < a->nodes.len; i++)
    if (!eq_node(q, a->nodes.at[i], b->nodes.at[i])) return false;
  return true;
}

/* ---- the graph ------------------------------------------------------------------------------- */

static bool eq_heads(Equal *q, const EinGraph *a, const EinGraph *b) {
  if (!eq_int(&q->q, "the number of dims", a->dims.len, b->dims.len)) return false;
  if (!eq_int(&q->q, "the number of monoids", a->monoids.len, b->monoids.len)) return false;
  for (uint32_t i = 0; i < a->dims.len; i++) {
    const EinDim *x = &a->dims.at[i], *y = &b->dims.at[i];
    if (!eq_str(&q->q, "a dim's name", x->name, y->name) ||
        !eq_int(&q->q, "whether a dim is known", x->known, y->known) ||
        (x->known && !eq_int(&q->q, "a dim's value", x->value, y->value)))
      return false;
  }
  for (uint32_t i = 0; i < a->monoids.len; i++)
    if (!eq_monoid(&q->q, a->monoids.at[i], b->monoids.at[i])) return false;
  return true;
}

static bool eq_outputs(Equal *q, const EinGraph *a, const EinGraph *b) {
  if (!eq_int(&q->q, "the number of inputs", a->inputs.len, b->inputs.len)) return false;
  if (!eq_int(&q->q, "the number of outputs", a->outputs.len, b->outputs.len)) return false;
  for (uint32_t i = 0; i < a->inputs.len; i++)
    if (!eq_ref(q, "an input", a->inputs.at[i], b->inputs.at[i])) return false;
  for (uint32_t i = 0; i < a->outputs.len; i++) {
    const EinOutput *x = &a->outputs.at[i], *y = &b->outputs.at[i];
    if (!eq_str(&q->q, "an output's name", x->name, y->name) ||
        !eq_ref(q, "an output", x->node, y->node))
      return false;
  }
  return true;
}

static bool eq_tests(Equal *q, const EinGraph *a, const EinGraph *b) {
  if (!eq_int(&q->q, "the number of asserts", a->asserts.len, b->asserts.len)) return false;
  if (!eq_int(&q->q, "the number of checks", a->checks.len, b->checks.len)) return false;
  for (uint32_t i = 0; i < a->asserts.len; i++) {
    const EinAssert *x = &a->asserts.at[i], *y = &b->asserts.at[i];
    if (!eq_ref(q, "an assert", x->node, y->node) ||
        !eq_str(&q->q, "an assert's text", x->text, y->text) || !eq_place(&q->q, x->place, y->place))
      return false;
  }
  for (uint32_t i = 0; i < a->checks.len; i++) {
    const EinCheck *x = &a->checks.at[i], *y = &b->checks.at[i];
    if (!eq_expr(&q->q, "a check", x->cond, y->cond) ||
        !eq_str(&q->q, "a check's text", x->text, y->text) || !eq_place(&q->q, x->place, y->place))
      return false;
  }
  return true;
}

bool graph_equal(const EinGraph *a, const EinGraph *b, Buf *why) {
  Equal q = {.q = {.arena = arena_new(), .why = why, .same_pool = a->exprs == b->exprs}};
  q.q.ctx = &q;
  q.q.where = say_where;
  bool ok = eq_int(&q.q, "the number of ids", a->n_nodes, b->n_nodes) && eq_heads(&q, a, b) &&
            eq_region(&q, a->top, b->top) && eq_outputs(&q, a, b) && eq_tests(&q, a, b);
  arena_free(q.q.arena);
  return ok;
}
