/* task/sites/ia_box.c - converts keys and placements to coordinates. */
#include "ia_box.h"

#include "expr/sum/law.h"

static const Expr *number(const TaskGraph *t, int64_t n) { return expr_int(t->exprs, DT_I64, n); }
static const Expr *op2(const TaskGraph *t, Op o, const Expr *a, const Expr *b) { return expr_op2(t->exprs, o, a, b); }

/* floor((e*f + n - 1) / n) */
static const Expr *up(const TaskGraph *t, const Expr *e, int64_t f, int64_t n) {
  const Expr *top = op2(t, OP_ADD, op2(t, OP_MUL, e, number(t, f)), number(t, n - 1));
  return op2(t, OP_IDIV, top, number(t, n));
}

/* Its number among the sites along the axes that cut key dimension k. */
static const Expr *site_number(const TaskGraph *t, const Placement *at, uint32_t k, int64_t *n) {
  const Expr *e = number(t, 0);
  *n = 1;
  for (uint32_t a = 0; a < t->mesh.n; a++) {
    if (at->on[a] != (int)k) continue;
    e = op2(t, OP_ADD, op2(t, OP_MUL, e, number(t, t->mesh.size[a])), expr_dim(t->exprs, task_axis(t, a)));
    *n *= t->mesh.size[a];
  }
  return e;
}

IaKeys ia_keys(const TaskGraph *t, const Relation *r, const Placement *at) {
  IaKeys k = {
      NEW_ARRAY(t->arena, const Expr *, r->n_key + 1), NEW_ARRAY(t->arena, const Expr *, r->n_key + 1), NULL, false};
  for (uint32_t i = 0; i < r->n_key; i++) {
    int64_t n, f = r->frontier[i];
    const Expr *site = site_number(t, at, i, &n), *first = up(t, site, f, n), *has = NULL;
    k.low[i] = k.high[i] = first;
    if (f == n) k.low[i] = k.high[i] = site;
    if (f > n)
      k.several = true, k.high[i] = op2(t, OP_SUB, up(t, op2(t, OP_ADD, site, number(t, 1)), f, n), number(t, 1));
    if (f >= n) continue;
    has = op2(t, OP_EQ, op2(t, OP_IDIV, op2(t, OP_MUL, first, number(t, n)), number(t, f)), site);
    k.when = expr_and(t->exprs, k.when, f == 1 ? op2(t, OP_EQ, site, number(t, 0)) : has);
    k.low[i] = k.high[i] = f == 1 ? number(t, 0) : op2(t, OP_MIN, first, number(t, f - 1));
  }
  return k;
}

RelDim ia_range(const TaskGraph *t, const RelDim *d, uint32_t n_key, const IaKeys *k) {
  return (RelDim){extent_normal(t->exprs, expr_relabel(t->exprs, d->low, n_key, k->low)),
                  extent_normal(t->exprs, expr_relabel(t->exprs, d->high, n_key, k->high))};
}

IaBox ia_box(const TaskGraph *t, const Relation *r, const Placement *at) {
  IaKeys k = ia_keys(t, r, at);
  IaBox b = {NEW_ARRAY(t->arena, const Expr *, r->rank + 1), NEW_ARRAY(t->arena, const Expr *, r->rank + 1), k.when};
  for (uint32_t d = 0; d < r->rank; d++) {
    RelDim x = ia_range(t, &r->dim[d], r->n_key, &k);
    b.low[d] = x.low;
    b.dim[d] = extent_normal(t->exprs, op2(t, OP_SUB, x.high, x.low));
  }
  return b;
}

/* ---- which axis cuts what --------------------------------------------------------------------------------- */

static int32_t cut_by(const Relation *r, uint32_t key) {
  for (uint32_t d = 0; d < r->rank; d++) {
    bool *used = (bool[REL_KEYS]){0};
    expr_labels(r->dim[d].low, r->n_key, used);
    expr_labels(r->dim[d].high, r->n_key, used);
    if (used[key]) return (int32_t)d;
  }
  return -1;
}

bool ia_copies(IaCopies c, uint32_t key) { return key < 64 && c >> key & 1; }

/* Whether a new key depends only on keys, of the operand and of its tile, that distinguish copies. */
static bool is_of_copies(const AlgNode *n, const Expr *key, IaCopies before) {
  bool *used = (bool[REL_KEYS]){0}, all = true;
  uint32_t count = n->operand[0].node->type.n_key + n->n_piece;
  expr_labels(key, count, used);
  for (uint32_t k = 0; k < count; k++) all &= !used[k] || ia_copies(before, k);
  return all;
}

static bool piece_looks_at(const AlgNode *n, uint32_t key) {
  for (uint32_t d = 0; d < n->operand[0].node->type.rank; d++)
    if (expr_has_label(n->piece[d].low, key) || expr_has_label(n->piece[d].high, key)) return true;
  return false;
}

static IaCopies copies_mapped(const AlgNode *n, IaCopies operand) {
  uint32_t had = n->operand[0].node->type.n_key;
  IaCopies before = operand, after = 0;
  for (uint32_t k = 0; n->n_piece && k < had; k++)
    if (ia_copies(before, k) && piece_looks_at(n, k)) before &= ~((IaCopies)1 << k);
  for (uint32_t k = had; k < had + n->n_piece && k < 64; k++)
    if (!piece_looks_at(n, k)) before |= (IaCopies)1 << k;
  for (uint32_t k = 0; k < n->n_fn; k++)
    if (n->fn[k].kind == FN_SHIFT && n->fn[k].key < 64) before &= ~((IaCopies)1 << n->fn[k].key);
  if (!n->rekey) return before;
  for (uint32_t k = 0; k < n->type.n_key && k < 64; k++)
    if (is_of_copies(n, n->rekey[k], before)) after |= (IaCopies)1 << k;
  return after;
}

IaCopies ia_copies_of(const AlgNode *n, IaCopies operand) {
  IaCopies after = 0;
  switch (n->kind) {
  case ALG_MAP: return copies_mapped(n, operand);
  case ALG_MOVE: return operand;
  case ALG_AGGREGATE:
    for (uint32_t k = 0; k < n->n_group && k < 64; k++)
      if (ia_copies(operand, n->group[k])) after |= (IaCopies)1 << k;
    return after;
  case ALG_INPUT:
  case ALG_JOIN:
  case ALG_FETCH:
  case ALG_FILTER:
  case ALG_REPEAT:
  case ALG_STATE:
  case ALG_FINAL:
  case ALG_STACK:
  case ALG_TURNS: break;
  }
  return 0;
}

Placement ia_placement(const TaskGraph *t, const Relation *r, const Placement *at, IaCopies copies) {
  Placement p = *at;
  for (uint32_t a = 0; a < t->mesh.n; a++) {
    if (at->on[a] < 0) continue;
    uint32_t k = (uint32_t)at->on[a];
    int32_t d = cut_by(r, k);
    p.on[a] = (int8_t)(r->frontier[k] == 1 ? (int32_t)PLACE_SOME
            : d >= 0                       ? d
                                           : (int32_t)(ia_copies(copies, k) ? PLACE_ALL : PLACE_PART));
  }
  return p;
}

/* ---- runs of keys --------------------------------------------------------------------------------------------- */

/* Whether dimension d depends on key k alone, and both ends of its blocks increase with it. */
static bool rises(const Relation *r, uint32_t d, uint32_t k) {
  int64_t key[REL_KEYS] = {0}, before[2] = {INT64_MIN, INT64_MIN}, now[2];
  bool *used = (bool[REL_KEYS]){0};
  expr_labels(r->dim[d].low, r->n_key, used);
  expr_labels(r->dim[d].high, r->n_key, used);
  for (uint32_t j = 0; j < r->n_key; j++)
    if (used[j] && j != k) return false;
  for (; key[k] < r->frontier[k]; key[k]++) {
    rel_ranges(1, &r->dim[d], r->n_key, key, &now[0], &now[1]);
    if (now[0] < before[0] || now[1] < before[1]) return false;
    before[0] = now[0], before[1] = now[1];
  }
  return true;
}

bool ia_is_box(const Relation *r, const IaKeys *k, const Mesh *m, const Placement *at, IaCopies copies, bool parts) {
  for (uint32_t i = 0; k->several && i < r->n_key; i++) {
    int64_t n = i > INT8_MAX ? 1 : placement_count(m, at, (int8_t)i);
    int32_t d = cut_by(r, i);
    if (r->frontier[i] <= n || (d < 0 && (parts || ia_copies(copies, i)))) continue;
    if (d < 0 || !rises(r, (uint32_t)d, i)) return false;
  }
  return true;
}
