/* algebra/rule_join.c - joins that results of rules are made with. */
#include "rule_fns.h"

#include "../expr/prove.h"

bool join_at(RuleMatch *m, const RuleValue *v, RuleValue *out) {
  AlgNode *x = out->node = rule_draft(m, v[0].node);
  x->at = v[1].at;
  for (uint32_t a = 0; a < m->p->mesh.n; a++)
    if (x->at.on[a] >= 0 && (uint32_t)x->at.on[a] >= x->type.n_key) return false;
  return placement_whole(&m->p->mesh, &v[1].at);
}

bool join_settled(RuleMatch *m, const RuleValue *v, RuleValue *out) {
  AlgNode *x = out->node = rule_draft(m, v[0].node);
  AlgNode **each = m->each[v[1].slot];
  for (uint32_t k = 0; k < x->n_operand; k++) x->operand[k].node = each[k];
  return alg_join_place(m->p, x, &x->at);
}

/* ---- a map into a join ------------------------------------------------------------------------------------------- */

/* Boxes of the result are cut into the tile's. */
static bool join_tiled(RuleMatch *m, AlgNode *x, const AlgNode *f) {
  RelDim *range = arena_copy(m->p->arena, x->range, (x->sum->n_out + x->sum->n_red) * sizeof *range);
  AlgNode of = *x;
  for (uint32_t k = 0; k < x->n_fn; k++)
    if (x->fn[k].kind != FN_CAST) return false;
  AlgNode *tiled = alg_tile(m->p, &m->scratch, &of, f->n_piece, f->frontier, f->key, f->piece);
  for (uint32_t d = 0; d < x->sum->n_out; d++) range[d] = tiled->type.dim[d];
  x->range = range;
  x->type = tiled->type;
  return true;
}

/* Labels of the result's keys as they were: what they are now. Each key goes to one place, or has but one value and goes. */
static bool keys_permuted(RuleMatch *m, const AlgNode *x, const AlgNode *f, int32_t *to) {
  const Expr *const *key = f->rekey;
  for (uint32_t k = 0; k < x->type.n_key; k++) to[k] = -1;
  for (uint32_t k = 0; k < f->type.n_key; k++) {
    if (key[k]->kind == EX_INT && f->type.frontier[k] == 1) continue;
    if (key[k]->kind != EX_LABEL || to[key[k]->i] >= 0) return false;
    to[key[k]->i] = (int32_t)k;
  }
  for (uint32_t k = 0; k < x->type.n_key; k++) {
    if (to[k] < 0 && x->type.frontier[k] != 1) return false;
    for (uint32_t a = 0; to[k] < 0 && a < m->p->mesh.n; a++)
      if (x->at.on[a] == (int32_t)k) return false;
  }
  return true;
}

static void join_readdress(RuleMatch *m, AlgNode *x, const int32_t *to) {
  Arena *a = m->p->arena;
  Exprs *e = m->p->exprs;
  uint32_t labels = x->sum->n_out + x->sum->n_red;
  const Expr **now = NEW_ARRAY(a, const Expr *, x->type.n_key + 1);
  RelDim *range = NEW_ARRAY(a, RelDim, labels + 1);
  for (uint32_t k = 0; k < x->type.n_key; k++) now[k] = to[k] < 0 ? expr_int(e, DT_I64, 0) : expr_label(e, to[k]);
  for (uint32_t d = 0; d < labels; d++) {
    range[d].low = expr_normal(e, expr_relabel(e, x->range[d].low, x->type.n_key, now));
    range[d].high = expr_normal(e, expr_relabel(e, x->range[d].high, x->type.n_key, now));
  }
  for (uint32_t i = 0; i < x->n_operand; i++) {
    uint32_t n = x->operand[i].node->type.n_key;
    int32_t *on = NEW_ARRAY(a, int32_t, n + 1);
    for (uint32_t k = 0; k < n; k++) on[k] = x->operand[i].on[k] < 0 ? -1 : to[x->operand[i].on[k]];
    x->operand[i].on = on;
  }
  for (uint32_t k = 0; k < m->p->mesh.n; k++)
    if (x->at.on[k] >= 0) x->at.on[k] = (int8_t)to[x->at.on[k]];
  x->range = range;
}

bool join_then(RuleMatch *m, const RuleValue *v, RuleValue *out) {
  const AlgNode *f = v[1].node;
  AlgNode *x = out->node = rule_draft(m, v[0].node);
  if (f->n_piece && !join_tiled(m, x, f)) return false;
  if (f->rekey) {
    int32_t *to = NEW_ARRAY(m->p->arena, int32_t, x->type.n_key + 1);
    if (!keys_permuted(m, x, f, to)) return false;
    join_readdress(m, x, to);
  }
  AlgNode *y = out->node = with_functions(m, x, f);
  y->type.n_key = f->type.n_key;
  y->type.frontier = f->type.frontier;
  y->type.key = f->type.key;
  y->type.holes = f->type.holes;
  return true;
}

/* ---- a kernel in fewer bits --------------------------------------------------------------------------------------- */

typedef struct Narrow { Exprs *p; DType from, to; uint32_t left; } Narrow;

/* NULL: something in it is not so in fewer bits, or it is too large to say. */
static const Expr *expr_narrow(Narrow *n, const Expr *e, uint32_t depth) {
  const Expr *arg[2];
  if (!n->left || !depth || e->dtype != n->from) return NULL;
  n->left--;
  if (e->kind == EX_INT) return expr_int(n->p, n->to, e->i);
  for (uint32_t k = 0; e->kind == EX_READ && k < e->n; k++)
    if (e->arg[k]->has & HAS_READ) return NULL;
  if (e->kind == EX_READ) return expr_read(n->p, n->to, e->i, e->n, e->arg);
  if (e->kind != EX_OP || (e->op != OP_ADD && e->op != OP_SUB && e->op != OP_MUL && e->op != OP_NEG)) return NULL;
  for (uint32_t k = 0; k < e->n; k++)
    if (!(arg[k] = expr_narrow(n, e->arg[k], depth - 1))) return NULL;
  return expr_op(n->p, (Op)e->op, e->n, arg);
}

static bool sum_narrows(const EinSum *s) {
  if (s->reducer != RED_NONE && s->reducer != RED_SUM && s->reducer != RED_PROD) return false;
  return !(s->where && s->where->has & HAS_READ) && !(s->domain && s->domain->has & HAS_READ);
}

bool join_narrow(RuleMatch *m, const RuleValue *v, RuleValue *out) {
  AlgNode *x = out->node = rule_draft(m, v[0].node);
  const AlgNode *f = v[1].node;
  EinSum *s = arena_copy(m->p->arena, x->sum, sizeof *s);
  if (f->rekey || f->n_piece || f->n_fn != 1 || f->fn[0].kind != FN_CAST || x->n_fn || !sum_narrows(s)) return false;
  Narrow n = {m->p->exprs, s->acc, f->fn[0].to, 1000};
  s->body = expr_narrow(&n, s->body, 100);
  s->acc = s->dtype = n.to;
  x->sum = s;
  return s->body;
}
