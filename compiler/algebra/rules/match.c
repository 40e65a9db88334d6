/* algebra/rules/match.c - matches a pattern against a node and binds its variables. */
#include <string.h>

#include "inside.h"

static bool groups_equal(const RuleValue *a, const RuleValue *b) {
  return a->n == b->n && !memcmp(a->group, b->group, a->n * sizeof *a->group);
}

/* A variable that occurs twice in a pattern must match the same thing. */
static bool bind(RuleMatch *m, char letter, const RuleValue *v) {
  RuleValue *var = &m->var[(unsigned char)letter];
  if (m->in_each) return true; /* each operand has its own; no result uses it */
  if (!var->sort) return *var = *v, true;
  if (v->sort == SORT_KEEP) return var->keep == v->keep;
  if (v->sort == SORT_GROUP) return groups_equal(var, v);
  if (v->sort == SORT_PLACE) return placement_equal(&m->p->mesh, &var->at, &v->at);
  return var->node == v->node;
}

static bool bind_relation(RuleMatch *m, const RuleTerm *t, AlgNode *n) {
  RuleValue v = {.sort = SORT_RELATION, .node = n, .slot = m->operand};
  if (!m->in_each) return bind(m, t->letter, &v);
  AlgNode ***each = &m->each[(unsigned char)t->letter];
  if (!*each) *each = NEW_ARRAY(m->p->arena, AlgNode *, m->n_each + 1);
  (*each)[m->operand] = n;
  return true;
}

static RuleValue attribute_of(RuleSort sort, AlgNode *n) {
  RuleValue v = {.sort = sort, .node = n};
  if (sort == SORT_KEEP) v.keep = n->keep;
  if (sort == SORT_PLACE) v.at = n->at;
  if (sort == SORT_GROUP) v.n = n->n_group, v.group = n->group, v.node = n->operand[0].node;
  return v;
}

static bool kind_matches(RuleMatch *m, const RuleTerm *t, const AlgNode *n) {
  if (n->kind != t->op) return false;
  return !(t->bcast || t->shuf) || alg_is_broadcast(m->p, n) == t->bcast;
}

static bool match_each(RuleMatch *m, const RuleTerm *t, AlgNode *n) {
  m->in_each = true;
  m->n_each = n->n_operand;
  bool ok = true;
  for (uint32_t k = 0; ok && k < n->n_operand; k++) {
    m->operand = k;
    ok = rule_match(m, t, n->operand[k].node);
  }
  m->in_each = false;
  return ok;
}

static bool match_operands(RuleMatch *m, const RuleTerm *t, AlgNode *n) {
  uint32_t want = t->n - t->n_attr;
  if (want == 1 && t->arg[t->n_attr]->each) return match_each(m, t->arg[t->n_attr], n);
  if (want != n->n_operand) return false;
  for (uint32_t k = 0; k < want; k++) {
    if (t->op == ALG_JOIN) m->operand = k;
    if (!rule_match(m, t->arg[t->n_attr + k], n->operand[k].node)) return false;
  }
  return true;
}

bool rule_match(RuleMatch *m, const RuleTerm *t, AlgNode *n) {
  if (t->kind == TERM_VAR) return bind_relation(m, t, n);
  BUG_UNLESS(t->kind == TERM_NODE);
  if (!kind_matches(m, t, n)) return t->maybe && rule_match(m, t->arg[t->n_attr], n);
  for (uint32_t k = 0; k < t->n_attr; k++) {
    RuleValue v = attribute_of(t->arg[k]->sort, n);
    if (t->arg[k]->kind != TERM_VAR || !bind(m, t->arg[k]->letter, &v)) return false;
  }
  return match_operands(m, t, n);
}

/* ---- values ---------------------------------------------------------------------------------------------- */

static bool variable_value(RuleMatch *m, const RuleTerm *t, RuleValue *out) {
  unsigned char c = (unsigned char)t->letter;
  *out = m->var[c];
  if (t->sort == SORT_ALL) return *out = (RuleValue){.sort = SORT_ALL, .slot = c}, true;
  if (out->sort) return true;
  if (m->each[c] && m->in_each)
    return *out = (RuleValue){.sort = SORT_RELATION, .node = m->each[c][m->operand], .slot = m->operand}, true;
  const RuleGiven none = {0}, *given = m->given ? m->given : &none;
  if (t->sort == SORT_PLACE && given->to) return *out = (RuleValue){.sort = SORT_PLACE, .at = *given->to}, true;
  if (t->sort == SORT_MAP && given->pieces) return *out = attribute_of(t->sort, rule_draft(m, given->pieces)), true;
  if ((t->sort == SORT_GROUP || t->sort == SORT_REDUCER) && given->laid)
    return *out = attribute_of(t->sort, rule_draft(m, given->laid)), true;
  buf_printf(m->why, "%c is not given", t->letter);
  return false;
}

bool rule_value(RuleMatch *m, const RuleTerm *t, RuleValue *out) {
  RuleValue arg[RULE_ARGS];
  if (t->kind == TERM_VAR) return variable_value(m, t, out);
  BUG_UNLESS(t->kind == TERM_CALL && t->n <= RULE_ARGS);
  for (uint32_t k = 0; k < t->n; k++)
    if (!rule_value(m, t->arg[k], &arg[k])) return false;
  *out = (RuleValue){.sort = t->sort};
  if (t->fn->fn(m, arg, out)) return true;
  rule_print(m->why, t);
  buf_str(m->why, " has no value");
  return false;
}

bool rule_holds(RuleMatch *m, const RuleTerm *test) {
  RuleValue arg[RULE_ARGS];
  for (uint32_t k = 0; k < test->n; k++)
    if (!rule_value(m, test->arg[k], &arg[k])) return false;
  if (test->test->test(m, arg)) return true;
  rule_print(m->why, test);
  buf_str(m->why, " does not hold");
  return false;
}
