/* algebra/text/equal.c - whether two programs agree in all fields. They may come from different pools and tables.
 * Scratch (mark) and an EinSum's hash are not part of a program, and a repeat has no type. */
#include "expr/region/law.h"
#include "text.h"

typedef struct Equal {
  Same q;
  const Algebra *g;
  const AlgNode *n;          /* the current node, for the complaint */
} Equal;

static void say_where(void *ctx, Buf *out) {
  const Equal *q = ctx;
  if (q->n) buf_printf(out, "%s %%%u: ", alg_word(q->g, q->n), q->n->id);
}

static bool same_ref(Equal *q, const char *what, const AlgNode *a, const AlgNode *b) {
  return eq_ref(&q->q, what, algebra_face.node(a), algebra_face.node(b));
}

/* ---- types -------------------------------------------------------------------------------------------- */

static bool eq_ranges(Equal *q, const char *what, uint32_t n, const RelDim *a, const RelDim *b) {
  if (!n) return true;
  if (!a || !b) return a == b || differ(&q->q, "%s is there in one only", what);
  for (uint32_t d = 0; d < n; d++)
    if (!eq_expr(&q->q, what, a[d].low, b[d].low) || !eq_expr(&q->q, what, a[d].high, b[d].high)) return false;
  return true;
}

static bool eq_keys(Equal *q, uint32_t n, const Str *a, const Str *b, const int64_t *f, const int64_t *g) {
  for (uint32_t k = 0; k < n; k++)
    if (!eq_str(&q->q, "a key's name", a[k], b[k]) || !eq_int(&q->q, "a frontier", f[k], g[k])) return false;
  return true;
}

static bool eq_type(Equal *q, const Relation *a, const Relation *b) {
  return eq_int(&q->q, "the dtype", a->dtype, b->dtype) && eq_int(&q->q, "`places`", a->places, b->places) &&
      eq_int(&q->q, "`holes`", a->holes, b->holes) && eq_int(&q->q, "the number of keys", a->n_key, b->n_key) &&
      eq_keys(q, a->n_key, a->key, b->key, a->frontier, b->frontier) && eq_int(&q->q, "the rank", a->rank, b->rank) &&
      eq_ranges(q, "the box", a->rank, a->dim, b->dim);
}

static bool eq_placement(Equal *q, const Placement *a, const Placement *b) {
  for (uint32_t k = 0; q->g->placed && k < q->g->mesh.n; k++)
    if (!eq_int(&q->q, "the placement", a->on[k], b->on[k])) return false;
  return true;
}

/* ---- nodes ---------------------------------------------------------------------------------------------- */

static bool eq_operands(Equal *q, const AlgNode *a, const AlgNode *b) {
  if (!eq_int(&q->q, "the number of operands", a->n_operand, b->n_operand)) return false;
  for (uint32_t i = 0; i < a->n_operand; i++) {
    const AlgOperand *x = &a->operand[i], *y = &b->operand[i];
    if (!same_ref(q, "an operand", x->node, y->node) ||
        !eq_int(&q->q, "whether an operand is wanted", x->wanted, y->wanted))
      return false;
    for (uint32_t k = 0; alg_has_kernel(a) && !alg_is_table(a, i) && x->node && k < x->node->type.n_key; k++)
      if (!eq_int(&q->q, "an operand's key", x->on[k], y->on[k])) return false;
  }
  return true;
}

static bool eq_join(Equal *q, const AlgNode *a, const AlgNode *b) {
  if (!eq_sum(&q->q, a->sum, b->sum) || !eq_int(&q->q, "the number of panels", a->panels, b->panels) ||
      !eq_int(&q->q, "the label of panels", a->panel, b->panel))
    return false;
  uint32_t labels = a->sum->n_out + a->sum->n_red;
  for (uint32_t l = 0; l < labels; l++)
    if (!eq_str(&q->q, "a label's name", a->label[l], b->label[l])) return false;
  return eq_ranges(q, "a label's range", labels, a->range, b->range);
}

static bool eq_group(Equal *q, const AlgNode *a, const AlgNode *b) {
  if (!eq_int(&q->q, "the number of keys that stay", a->n_group, b->n_group)) return false;
  for (uint32_t k = 0; k < a->n_group; k++)
    if (!eq_int(&q->q, "a key that stays", a->group[k], b->group[k])) return false;
  return eq_int(&q->q, "the reducer", a->reducer, b->reducer) && eq_monoid(&q->q, a->monoid, b->monoid);
}

static bool eq_map(Equal *q, const AlgNode *a, const AlgNode *b) {
  if (!eq_int(&q->q, "whether there are pieces", a->piece != NULL, b->piece != NULL) ||
      !eq_int(&q->q, "the number of new keys", a->n_piece, b->n_piece) ||
      !eq_keys(q, a->n_piece, a->key, b->key, a->frontier, b->frontier) ||
      !eq_int(&q->q, "whether there are new keys", a->rekey != NULL, b->rekey != NULL))
    return false;
  if (a->piece && !eq_ranges(q, "a piece", alg_of(a)->type.rank, a->piece, b->piece)) return false;
  return !a->rekey || eq_exprs(&q->q, "a new key", a->type.n_key, a->rekey, b->rekey);
}

static bool eq_fns(Equal *q, const AlgNode *a, const AlgNode *b) {
  if (!eq_int(&q->q, "the number of functions", a->n_fn, b->n_fn)) return false;
  for (uint32_t i = 0; i < a->n_fn; i++) {
    const AlgFn *f = &a->fn[i], *g = &b->fn[i];
    if (!eq_int(&q->q, "a function", f->kind, g->kind)) return false;
    if (f->kind == FN_CAST && !eq_int(&q->q, "what is cast to", f->to, g->to)) return false;
    if (f->kind == FN_SHIFT &&
        (!eq_int(&q->q, "the dimension that is shifted", f->n, g->n) || !eq_int(&q->q, "how far", f->by, g->by) ||
            !eq_int(&q->q, "by which key", f->key, g->key)))
      return false;
    if (f->kind != FN_MERGE) continue;
    if (!eq_int(&q->q, "the rank merged to", f->n, g->n)) return false;
    for (uint32_t k = 0; k < f->n; k++)
      if (!eq_int(&q->q, "the merge", f->merge[k], g->merge[k])) return false;
  }
  return true;
}

static bool eq_node(void *ctx, const void *left, const void *right) {
  Equal *q = ctx;
  const AlgNode *a = left, *b = right;
  bool ok = eq_int(&q->q, "the kind", a->kind, b->kind) && eq_operands(q, a, b);
  if (ok && a->kind != ALG_REPEAT)
    ok = eq_type(q, &a->type, &b->type) && eq_placement(q, &a->at, &b->at) && eq_fns(q, a, b);
  if (ok && alg_has_kernel(a)) ok = eq_join(q, a, b);
  if (ok && a->kind == ALG_AGGREGATE) ok = eq_group(q, a, b);
  if (ok && a->kind == ALG_MAP) ok = eq_map(q, a, b);
  if (ok && a->kind == ALG_FILTER) ok = eq_expr(&q->q, "what is kept", a->keep, b->keep);
  return ok;
}

static void put_at(void *ctx, const void *node) {
  ((Equal *)ctx)->n = node;
}

/* ---- the program -------------------------------------------------------------------------------------------- */

static bool eq_heads(Equal *q, const Algebra *a, const Algebra *b) {
  if (!eq_int(&q->q, "whether it is placed", a->placed, b->placed)) return false;
  if (a->placed && !eq_int(&q->q, "the number of axes", a->mesh.n, b->mesh.n)) return false;
  for (uint32_t k = 0; a->placed && k < a->mesh.n; k++)
    if (!eq_int(&q->q, "the size of an axis", a->mesh.size[k], b->mesh.size[k])) return false;
  if (!eq_int(&q->q, "the room for parts", a->room, b->room)) return false;
  return eq_externs(&q->q, a->exprs, b->exprs) && eq_monoids(&q->q, &a->monoids, &b->monoids);
}

static bool eq_output(Equal *q, const AlgOutput *a, const AlgOutput *b) {
  if (!eq_str(&q->q, "an output's name", a->name, b->name) || !same_ref(q, "an output", a->node, b->node) ||
      !eq_int(&q->q, "an output's rank", a->rank, b->rank))
    return false;
  for (uint32_t d = 0; d < a->rank; d++)
    if (!eq_int(&q->q, "an output's extent", a->extent[d], b->extent[d])) return false;
  return true;
}

static bool eq_feet(Equal *q, const Algebra *a, const Algebra *b) {
  if (!eq_int(&q->q, "the number of inputs", a->inputs.len, b->inputs.len) ||
      !eq_int(&q->q, "the number of outputs", a->outputs.len, b->outputs.len) ||
      !eq_int(&q->q, "the number of asserts", a->asserts.len, b->asserts.len))
    return false;
  for (uint32_t i = 0; i < a->inputs.len; i++)
    if (!same_ref(q, "an input", a->inputs.at[i], b->inputs.at[i])) return false;
  for (uint32_t i = 0; i < a->outputs.len; i++)
    if (!eq_output(q, &a->outputs.at[i], &b->outputs.at[i])) return false;
  for (uint32_t i = 0; i < a->asserts.len; i++) {
    const AlgAssert *x = &a->asserts.at[i], *y = &b->asserts.at[i];
    if (!same_ref(q, "an assert", x->node, y->node) || !eq_str(&q->q, "an assert's text", x->text, y->text) ||
        !eq_place(&q->q, x->place, y->place))
      return false;
  }
  return true;
}

bool algebra_equal(const Algebra *a, const Algebra *b, Buf *why) {
  Equal q = {.q = {.arena = arena_new(), .why = why, .same_pool = a->exprs == b->exprs}, .g = a};
  RegionSame r = {&q.q, &algebra_face, &q, a->exprs, b->exprs, eq_node, put_at};
  q.q.ctx = &q;
  q.q.where = say_where;
  bool ok = eq_int(&q.q, "the number of ids", a->n_nodes, b->n_nodes) && eq_heads(&q, a, b) &&
      eq_region(&r, a->top, b->top) && eq_feet(&q, a, b);
  arena_free(q.q.arena);
  return ok;
}
