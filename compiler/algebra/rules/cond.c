/* algebra/rules/cond.c - the conditions of rules. Where a result cannot be formed, its function has no value; these
 * conditions exclude results that would be wrong. */
#include "fns.h"

enum { KEYS_LOOKED_AT = 1 << 14 };

static bool test_identity(RuleMatch *m, const RuleValue *v) {
  (void)m;
  return !v[0].node->rekey && !v[0].node->n_piece;
}

/* ---- functions and reducers ------------------------------------------------------------------------------------ */

/* max(cast(a), cast(b)) is cast(max(a, b)) where the cast is monotone. */
static bool cast_monotone(DType from, DType to) {
  if (dtype_is_float(from)) return dtype_is_float(to);
  if (dtype_is_float(to)) return true;
  if (!dtype_is_int(from) || !dtype_is_int(to) || dtype_size(from) == 8) return from == to;
  int64_t high = from == DT_U8 ? 255 : (INT64_C(1) << (8 * dtype_size(from) - 1)) - 1;
  return dtype_holds(to, high) && dtype_holds(to, from == DT_U8 ? 0 : -high - 1);
}

static bool cast_distributes(const AlgNode *o, DType from, DType to) {
  switch (o->reducer) {
    case RED_NONE: return true;
    case RED_SUM:
    /* both wrap around */
    case RED_PROD: return dtype_is_int(from) && dtype_is_int(to) && dtype_size(to) <= dtype_size(from);
    case RED_MAX:
    case RED_MIN:
    case RED_FMAX:
    case RED_FMIN: return from != DT_BOOL && to != DT_BOOL && cast_monotone(from, to);
    default: return false;
  }
}

static bool monoid_elementwise(const AlgNode *aggregate) {
  return aggregate->reducer != RED_NONE;
}

static bool fns_distribute(const AlgNode *aggregate, DType from, uint32_t n, const AlgFn *fn) {
  for (uint32_t k = 0; k < n; k++) {
    if (fn[k].kind == FN_PLACE || fn[k].kind == FN_SHIFT || (fn[k].kind == FN_MERGE && !monoid_elementwise(aggregate)))
      return false;
    if (fn[k].kind != FN_CAST) continue;
    if (!cast_distributes(aggregate, from, fn[k].to)) return false;
    from = fn[k].to;
  }
  return true;
}

static bool test_distributes(RuleMatch *m, const RuleValue *v) {
  const AlgNode *f = v[0].node;
  (void)m;
  return !v[1].node->n_fn && fns_distribute(v[1].node, f->operand[0].node->type.dtype, f->n_fn, f->fn);
}

static bool test_elementwise(RuleMatch *m, const RuleValue *v) {
  (void)m;
  return monoid_elementwise(v[0].node);
}

static bool test_concat(RuleMatch *m, const RuleValue *v) {
  (void)m;
  return !monoid_elementwise(v[0].node) && !v[0].node->n_fn;
}

/* Whether an index is read from data. */
static bool test_gathers(RuleMatch *m, const RuleValue *v) {
  ExprNodes nodes = expr_nodes(m->p->arena, v[0].node->sum->body, 0);
  for (const Expr *x; (x = expr_node(&nodes));)
    for (uint32_t k = 0; k < x->n; k++)
      if (x->kind == EX_READ && x->i == 1 && x->arg[k]->has & HAS_READ) return true;
  return false;
}

static bool test_same(RuleMatch *m, const RuleValue *v) {
  (void)m;
  return v[0].node->reducer == v[1].node->reducer && v[0].node->monoid == v[1].node->monoid && !v[1].node->n_fn;
}

static bool test_narrows(RuleMatch *m, const RuleValue *v) {
  const AlgNode *f = v[0].node;
  DType from = f->operand[0].node->type.dtype;
  (void)m;
  if (f->n_fn != 1 || f->fn[0].kind != FN_CAST || f->operand[0].node->type.places) return false;
  return dtype_is_int(from) && dtype_is_int(f->fn[0].to) && dtype_size(f->fn[0].to) <= dtype_size(from);
}

/* Whether no piece is empty, so that each key of the tile exists. */
static bool test_full(RuleMatch *m, const RuleValue *v) {
  const AlgNode *f = v[0].node;
  if (!f->n_piece) return true;
  const Relation *t = &alg_tile(m->p, &m->scratch, f->operand[0].node, f->n_piece, f->frontier, f->key, f->piece)->type;
  int64_t *key = NEW_ARRAY(m->p->arena, int64_t, t->n_key + 1), *low = NEW_ARRAY(m->p->arena, int64_t, 2 * t->rank + 1);
  if (rel_keys(t) > (double)KEYS_LOOKED_AT) return false;
  do {
    rel_box(t, key, low, low + t->rank);
    for (uint32_t d = 0; d < t->rank; d++)
      if (low[d] >= low[t->rank + d]) return false;
  } while (rel_next_key(t->n_key, t->frontier, key));
  return true;
}

/* ---- placements -------------------------------------------------------------------------------------------------- */

static bool cut_within(const Mesh *m, const Placement *x, const RuleValue *g) {
  for (uint32_t a = 0; a < m->n; a++) {
    if (x->on[a] == PLACE_PART) return false;
    if (x->on[a] >= 0 && group_place_of(g, x->on[a]) < 0) return false;
  }
  return true;
}

static bool test_within(RuleMatch *m, const RuleValue *v) {
  return cut_within(&m->p->mesh, &v[0].at, &v[1]);
}

static bool test_partitioned(RuleMatch *m, const RuleValue *v) {
  return cut_within(&m->p->mesh, &v[0].node->at, &v[1]);
}

static bool test_unbroken(RuleMatch *m, const RuleValue *v) {
  (void)m;
  return monoid_elementwise(v[1].node) || !v[0].node->type.holes;
}

/* Each key cuts a dimension of its own, or has one value: no two blocks overlap. */
static bool test_blocks(RuleMatch *m, const RuleValue *v) {
  const Relation *t = &v[0].node->type;
  bool *cuts = NEW_ARRAY(m->p->arena, bool, t->n_key + 1);
  for (uint32_t d = 0; d < t->rank; d++) {
    uint32_t key;
    int64_t extent;
    if (rel_is_whole(&t->dim[d], &extent)) continue;
    if (!rel_is_cut(m->p->exprs, t, d, &key, &extent) || cuts[key]) return false;
    cuts[key] = true;
  }
  for (uint32_t k = 0; k < t->n_key; k++)
    if (!cuts[k] && t->frontier[k] > 1) return false;
  return !alg_in_parts(m->p, v[0].node);
}

/* The number of a join's operands that have the key of its result. */
static uint32_t holders(const AlgNode *join, int8_t key) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < join->n_operand; i++) {
    bool has = false;
    for (uint32_t k = 0; k < join->operand[i].node->type.n_key; k++) has = has || join->operand[i].on[k] == key;
    n += has;
  }
  return n;
}

static bool cut_by(RuleMatch *m, const RuleValue *v, uint32_t operands) {
  for (uint32_t a = 0; a < m->p->mesh.n; a++)
    if (v[0].at.on[a] < 0 || holders(v[1].node, v[0].at.on[a]) != operands) return false;
  return true;
}

static bool test_shared(RuleMatch *m, const RuleValue *v) {
  return cut_by(m, v, 2);
}

static bool test_apart(RuleMatch *m, const RuleValue *v) {
  return cut_by(m, v, 1);
}

const RuleTestInfo rule_tests[] = {
    {"identity", "f", test_identity, "the map leaves keys as they are"},
    {"distributes", "fo", test_distributes,
        "the map's functions may be applied before the reducer, which has none behind it"},
    {"elementwise", "o", test_elementwise, "a reducer, not a concat"},
    {"concat", "o", test_concat, "a concat without functions"},
    {"gathers", "j", test_gathers, "the second operand is read at an index that is data"},
    {"same", "oo", test_same, "one reducer, and the second has no functions"},
    {"narrows", "f", test_narrows, "one cast to an integer type that is no wider"},
    {"full", "f", test_full, "no piece is without elements"},
    {"within", "xg", test_within, "cut by keys that stay alone, no parts"},
    {"partitioned", "Rg", test_partitioned, "each group is at one site, or at copies of one"},
    {"unbroken", "Ro", test_unbroken, "no key is missing, or it is no concat"},
    {"blocks", "R", test_blocks, "no parts; each key cuts a dimension of its own, or has one value"},
    {"unbroken", "jp", test_unbroken_operands, "operands that have keys of what is kept have them all, or are wanted"},
    {"wanted", "j*", test_wanted, "each operand that is filtered is wanted"},
    {"readable", "j*", test_readable,
        "at every key the operands, without filters, have what the kernel reads; no place is taken"},
    {"shared", "xj", test_shared, "all axes cut keys that both operands have"},
    {"apart", "xj", test_apart, "all axes cut keys that one operand has"},
    {NULL, NULL, NULL, NULL},
};
