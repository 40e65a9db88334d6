/* algebra/rules/fetch.c - "gather by request": requests from a table what a join reads at indices from data, and
 * makes the join that reads the answers. Like from_graph_read.c, but for an existing join. */
#include "fns.h"

#include "expr/prove/prove.h"

typedef struct Asks {        /* labels and keys of the answers, among the join's */
  const Expr *read;          /* what the join reads */
  uint32_t n_label, n_key;
  const Expr **label, **key; /* by label or key of the join: its expression in the answers; NULL: not there */
  const Expr **at;           /* by label of the answers: the join's */
  int32_t *on;               /* by key: the join's */
} Asks;

static void asks_labels(RuleMatch *m, const AlgNode *j, Asks *q, bool *key) {
  uint32_t n = j->sum->n_out + j->sum->n_red;
  bool *used = NEW_ARRAY(m->p->arena, bool, n + 1);
  for (uint32_t k = 0; k < q->read->n; k++) expr_labels(q->read->arg[k], n, used);
  for (uint32_t l = 0; l < n; l++) {
    if (!used[l]) continue;
    q->label[l] = expr_label(m->p->exprs, q->n_label);
    q->at[q->n_label++] = expr_label(m->p->exprs, l);
    expr_labels(j->range[l].low, j->type.n_key, key);
    expr_labels(j->range[l].high, j->type.n_key, key);
  }
}

/* The keys are those on which its labels' ranges or its indices depend. False: the table is read at several indices,
 * or not all of these keys exist. */
static bool asks_of(RuleMatch *m, const AlgNode *j, Asks *q) {
  Arena *a = m->p->arena;
  uint32_t n = j->sum->n_out + j->sum->n_red + 1, keys = j->type.n_key;
  const AlgOperand *index = &j->operand[0];
  bool several, *used = NEW_ARRAY(a, bool, keys + 1);
  *q = (Asks){.read = join_second_read(m, j->sum, &several),
      .label = NEW_ARRAY(a, const Expr *, n),
      .at = NEW_ARRAY(a, const Expr *, n)};
  q->key = NEW_ARRAY(a, const Expr *, keys + 1), q->on = NEW_ARRAY(a, int32_t, keys + 1);
  if (several || !q->read || index->node->type.holes) return false;
  asks_labels(m, j, q, used);
  for (uint32_t k = 0; k < index->node->type.n_key; k++)
    if (index->on[k] >= 0) used[index->on[k]] = true;
  for (uint32_t k = 0; k < keys; k++) {
    if (!used[k]) continue;
    q->key[k] = expr_label(m->p->exprs, q->n_key);
    q->on[q->n_key++] = (int32_t)k;
  }
  return true;
}

/* Sets the answers' labels and keys, and their placement: with the join. */
static void asked_type(RuleMatch *m, const AlgNode *j, const Asks *q, AlgNode *x) {
  Exprs *e = m->p->exprs;
  int64_t *frontier = NEW_ARRAY(m->p->arena, int64_t, q->n_key + 1);
  Str *key = NEW_ARRAY(m->p->arena, Str, q->n_key + 1), *label = NEW_ARRAY(m->p->arena, Str, q->n_label + 1);
  RelDim *range = NEW_ARRAY(m->p->arena, RelDim, q->n_label + 1);
  for (uint32_t l = 0; l < q->n_label; l++) {
    const RelDim *was = &j->range[q->at[l]->i];
    label[l] = j->label[q->at[l]->i];
    range[l].low = expr_normal(e, expr_relabel(e, was->low, j->type.n_key, q->key));
    range[l].high = expr_normal(e, expr_relabel(e, was->high, j->type.n_key, q->key));
  }
  for (uint32_t k = 0; k < q->n_key; k++) frontier[k] = j->type.frontier[q->on[k]], key[k] = j->type.key[q->on[k]];
  x->label = label, x->range = range;
  x->type.n_key = q->n_key, x->type.frontier = frontier, x->type.key = key;
  for (uint32_t a = 0; a < m->p->mesh.n; a++)
    x->at.on[a] = j->at.on[a] >= 0 && q->key[j->at.on[a]] ? (int8_t)q->key[j->at.on[a]]->i : PLACE_ALL;
}

bool join_asked(RuleMatch *m, const RuleValue *v, RuleValue *out) {
  const AlgNode *j = v[0].node;
  AlgNode *x = out->node = rule_draft(m, j);
  EinSum *s = NEW(m->p->arena, EinSum);
  Asks q;
  if (!asks_of(m, j, &q)) return false;
  const Expr **index = NEW_ARRAY(m->p->arena, const Expr *, q.read->n + 1);
  for (uint32_t k = 0; k < q.read->n; k++)
    index[k] = expr_relabel(m->p->exprs, q.read->arg[k], j->sum->n_out + j->sum->n_red, q.label);
  *s = (EinSum){.n_out = q.n_label, .body = expr_read(m->p->exprs, (DType)q.read->dtype, 1, q.read->n, index)};
  x->sum = s;
  x->n_fn = 0;
  asked_type(m, j, &q, x);
  const AlgOperand *was = &j->operand[0];
  int32_t *on = NEW_ARRAY(m->p->arena, int32_t, was->node->type.n_key + 1);
  for (uint32_t k = 0; k < was->node->type.n_key; k++) on[k] = was->on[k] < 0 ? -1 : (int32_t)q.key[was->on[k]]->i;
  x->operand[0] = (AlgOperand){.node = was->node, .on = on};
  x->operand[1].wanted = false;
  return true;
}

static const Expr *answer_read(void *env, Exprs *p, const Expr *leaf) {
  const Asks *q = env;
  return leaf == q->read ? expr_read(p, (DType)leaf->dtype, 1, q->n_label, q->at) : leaf;
}

bool join_answered(RuleMatch *m, const RuleValue *v, RuleValue *out) {
  AlgNode *x = out->node = rule_draft(m, v[0].node);
  EinSum *s = arena_copy(m->p->arena, x->sum, sizeof *s);
  Asks q;
  if (!asks_of(m, v[0].node, &q)) return false;
  sum_map(m->p->exprs, s, answer_read, &q);
  x->sum = s;
  x->operand[1].on = q.on;
  x->operand[1].wanted = false;
  return true;
}
