/* algebra/rules/filter.c - turns a filter of a join into filters of its operands, and back (R1-6). */
#include "fns.h"

#include "algebra/keys.h"

static const Expr *label(RuleMatch *m, int64_t k) {
  return expr_label(m->p->exprs, k);
}

bool join_holes(const AlgNode *join) {
  bool some = false;
  for (uint32_t i = 0; i < join->n_operand; i++)
    some = some || (join->operand[i].wanted && join->operand[i].node->type.holes);
  return some;
}

/* ---- below the join ---------------------------------------------------------------------------------------- */

typedef struct Parts { VEC(const Expr *) at; } Parts;

/* Splits a predicate into its conjuncts, in order, without duplicates. */
static Parts parts_of(RuleMatch *m, const Expr *keep) {
  Arena *a = m->p->arena;
  Parts out = {{0}};
  VEC(const Expr *) todo = {0};
  Map seen = map_new(a);
  vec_push(a, todo, keep);
  while (todo.len) {
    const Expr *x = vec_pop(todo);
    bool both = x->kind == EX_OP && x->op == OP_AND;
    if (map_find(&seen, x)) continue;
    map_put(&seen, x, m);
    for (uint32_t k = both ? x->n : 0; k-- > 0;) vec_push(a, todo, x->arg[k]);
    if (!both && x != expr_bool(m->p->exprs, true)) vec_push(a, out.at, x);
  }
  return out;
}

/* Rewrites an expression over the result's keys over the operand's; NULL: the operand lacks some of them. */
static const Expr *over_operand(RuleMatch *m, const Expr *e, const AlgNode *join, uint32_t i) {
  const AlgOperand *o = &join->operand[i];
  const Expr **to = NEW_ARRAY(m->p->arena, const Expr *, join->type.n_key + 1);
  for (uint32_t k = o->node->type.n_key; k-- > 0;)
    if (o->on[k] >= 0) to[o->on[k]] = label(m, k);
  return expr_over(m->p->exprs, e, join->type.n_key, to);
}

/* The conjuncts that the operand can decide; NULL: none. */
static const Expr *operand_keep(RuleMatch *m, const Expr *keep, const AlgNode *join, uint32_t i) {
  Parts parts = parts_of(m, keep);
  const Expr *all = NULL;
  for (uint32_t k = 0; k < parts.at.len; k++) {
    const Expr *own = over_operand(m, parts.at.at[k], join, i);
    if (own) all = expr_and(m->p->exprs, all, own);
  }
  return all;
}

bool keep_part(RuleMatch *m, const RuleValue *v, RuleValue *out) {
  out->keep = operand_keep(m, v[0].keep, v[1].node, m->operand);
  if (!out->keep) out->keep = expr_bool(m->p->exprs, true);
  return true;
}

bool join_wanting(RuleMatch *m, const RuleValue *v, RuleValue *out) {
  AlgNode *x = out->node = rule_draft(m, v[0].node);
  Parts parts = parts_of(m, v[1].keep);
  for (uint32_t k = 0; k < parts.at.len; k++) {
    bool told = false;
    for (uint32_t i = 0; i < x->n_operand; i++) told = told || over_operand(m, parts.at.at[k], x, i);
    if (!told) return false;
  }
  for (uint32_t i = 0; i < x->n_operand; i++)
    if (operand_keep(m, v[1].keep, x, i)) x->operand[i].wanted = x->type.holes = true;
  return true;
}

bool test_unbroken_operands(RuleMatch *m, const RuleValue *v) {
  const AlgNode *j = v[0].node;
  for (uint32_t i = 0; i < j->n_operand; i++)
    if (j->operand[i].node->type.holes && !j->operand[i].wanted && operand_keep(m, v[1].keep, j, i)) return false;
  return true;
}

/* ---- and above it -------------------------------------------------------------------------------------------- */

/* `each`: the operands without their filters. */
static bool is_filtered(const AlgNode *join, AlgNode *const *each, uint32_t i) {
  return join->operand[i].node != each[i];
}

static const Expr **over_result(RuleMatch *m, const AlgOperand *o) {
  uint32_t n = o->node->type.n_key;
  const Expr **to = NEW_ARRAY(m->p->arena, const Expr *, n + 1);
  for (uint32_t k = 0; k < n; k++) to[k] = o->on[k] < 0 ? expr_int(m->p->exprs, DT_I64, 0) : label(m, o->on[k]);
  return to;
}

bool keep_taken(RuleMatch *m, const RuleValue *v, RuleValue *out) {
  const AlgNode *j = v[0].node;
  bool some = false;
  for (uint32_t i = 0; i < j->n_operand; i++) {
    const AlgOperand *o = &j->operand[i];
    if (!is_filtered(j, m->each[v[1].slot], i)) continue;
    some = true;
    out->keep = expr_and(
        m->p->exprs, out->keep, expr_relabel(m->p->exprs, o->node->keep, o->node->type.n_key, over_result(m, o)));
  }
  if (!out->keep) out->keep = expr_bool(m->p->exprs, true);
  return some;
}

/* An operand that has all its keys need not be wanted. */
bool join_loose(RuleMatch *m, const RuleValue *v, RuleValue *out) {
  AlgNode *x = out->node = rule_draft(m, v[0].node);
  for (uint32_t i = 0; i < x->n_operand; i++) {
    AlgOperand *o = &x->operand[i];
    if (is_filtered(v[0].node, m->each[v[1].slot], i)) o->wanted = o->wanted && m->each[v[1].slot][i]->type.holes;
    o->node = m->each[v[1].slot][i];
  }
  x->type.holes = join_holes(x);
  return true;
}

bool test_wanted(RuleMatch *m, const RuleValue *v) {
  const AlgNode *j = v[0].node;
  for (uint32_t i = 0; i < j->n_operand; i++)
    if (is_filtered(j, m->each[v[1].slot], i) && !j->operand[i].wanted) return false;
  return true;
}

/* Whether at each key every index is a label that covers exactly the operand's array. */
static bool read_is_inside(RuleMatch *m, const AlgNode *j, const Expr *read) {
  const AlgOperand *o = &j->operand[read->i];
  const Expr **to = over_result(m, o);
  KeySet keys = keys_all(&j->type);
  int64_t key[REL_KEYS + 1];
  uint32_t wrong;
  for (uint32_t d = 0; d < read->n; d++) {
    if (read->arg[d]->kind != EX_LABEL || !keys_told(&keys)) return false;
    if (!ranges_agree(m->p->exprs, &keys, 1, &j->range[read->arg[d]->i], &o->node->type.dim[d], o->node->type.n_key, to,
            &wrong, key))
      return false;
  }
  return true;
}

static bool reads_are_inside(RuleMatch *m, const AlgNode *j) {
  const Expr *const root[] = {j->sum->body, j->sum->where, j->sum->domain};
  ExprNodes nodes = expr_nodes(m->p->arena, NULL, 0);
  for (uint32_t k = 0; k < COUNT(root); k++) expr_nodes_add(&nodes, root[k]);
  for (const Expr *x; (x = expr_node(&nodes));)
    if (x->kind == EX_READ && !read_is_inside(m, j, x)) return false;
  return true;
}

bool test_readable(RuleMatch *m, const RuleValue *v) {
  const AlgNode *j = v[0].node;
  for (uint32_t i = 0; i < j->n_operand; i++)
    if (m->each[v[1].slot][i]->type.holes && !j->operand[i].wanted) return false;
  for (uint32_t k = 0; k < j->n_fn; k++)
    if (j->fn[k].kind == FN_PLACE) return false; /* an empty array has none */
  return reads_are_inside(m, j);
}
