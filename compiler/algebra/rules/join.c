/* algebra/rules/join.c - builds the joins in results of rules. */
#include "fns.h"

#include "expr/prove/prove.h"

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

/* Cuts the result's boxes into the tile's. */
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

/* Rewrites labels of the result's old keys to the new ones. Each key goes to one place, or has one value and is
 * dropped. */
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
  if (map_shifts(f) || (f->n_piece && !join_tiled(m, x, f))) return false;
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

/* ---- a kernel in fewer bits -------------------------------------------------------------------------------------- */

typedef struct Narrow { Exprs *p; DType from, to; uint32_t left; } Narrow;

/* NULL: some part differs in fewer bits, or it is too large. */
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

/* ---- reads at data: hits ----------------------------------------------------------------------------------------- */

bool join_kept(RuleMatch *m, const RuleValue *v, RuleValue *out) {
  uint32_t n = v[0].node->type.n_key, *list = NEW_ARRAY(m->p->arena, uint32_t, n + 1);
  for (uint32_t k = 0; k < n; k++) list[k] = k;
  out->n = n, out->group = list;
  return true;
}

bool join_adding(RuleMatch *m, const RuleValue *v, RuleValue *out) {
  AlgNode *x = out->node = NEW(m->p->arena, AlgNode);
  *x = (AlgNode){.kind = ALG_AGGREGATE, .reducer = RED_SUM, .n_fn = v[0].node->n_fn, .fn = v[0].node->fn};
  return true;
}

enum { ALG_RANK = 64 };

typedef struct Hits {
  RuleMatch *m;
  AlgNode *x;                /* the join that is made */
  EinSum *sum;
  const Expr *const *index;  /* of the second slot: as before, */
  const Expr *now[ALG_RANK]; /*   and as it is */
  uint32_t rank;
} Hits;

static const Expr *second_read(void *env, Exprs *p, const Expr *leaf) {
  Hits *h = env;
  if (leaf->kind != EX_READ || leaf->i != 1) return leaf;
  return expr_read(p, (DType)leaf->dtype, 1, leaf->n, h->now);
}

const Expr *join_second_read(RuleMatch *m, const EinSum *s, bool *several) {
  const Expr *top[] = {s->body, s->where, s->domain}, *read = NULL;
  *several = false;
  ExprNodes nodes = expr_nodes(m->p->arena, NULL, 0);
  for (uint32_t k = 0; k < COUNT(top); k++) expr_nodes_add(&nodes, top[k]);
  for (const Expr *x; (x = expr_node(&nodes));) {
    if (x->kind != EX_READ || x->i != 1) continue;
    *several = *several || read;
    read = x;
  }
  return *several ? NULL : read;
}

/* The keys of the concatenated blocks of the table become keys of the result; to[k]: the key with which the table's
 * key k agrees. */
static void hits_keys(Hits *h, const RuleValue *g, AlgNode *table, int32_t *to) {
  Arena *a = h->m->p->arena;
  const AlgOperand *was = &h->x->operand[1];
  uint32_t n = h->x->type.n_key, all = n;
  int64_t *frontier = NEW_ARRAY(a, int64_t, n + table->type.n_key + 1);
  Str *key = NEW_ARRAY(a, Str, n + table->type.n_key + 1);
  for (uint32_t k = 0; k < n; k++) frontier[k] = h->x->type.frontier[k], key[k] = h->x->type.key[k];
  for (uint32_t k = 0; k < table->type.n_key; k++) {
    int32_t in = group_place_of(g, k);
    to[k] = in >= 0 ? was->on[in] : (int32_t)all;
    if (in < 0) frontier[all] = table->type.frontier[k], key[all++] = table->type.key[k];
  }
  const Str *fresh = names_fresh(h->m, &h->x->type, all - n, key + n);
  for (uint32_t k = n; k < all; k++) key[k] = fresh[k - n];
  h->x->type.n_key = all, h->x->type.frontier = frontier, h->x->type.key = key;
  h->x->operand[1] = (AlgOperand){table, to, was->wanted};
}

/* Adds a label over the block for each concatenated dimension; a point counts where the index equals the label's
 * place. */
static void hits_labels(Hits *h, const AlgNode *whole, const AlgNode *table, const int32_t *to) {
  Exprs *e = h->m->p->exprs;
  Arena *a = h->m->p->arena;
  uint32_t n = h->sum->n_out + h->sum->n_red, was = n;
  RelDim *range = NEW_ARRAY(a, RelDim, n + h->rank + 1);
  Str *label = NEW_ARRAY(a, Str, n + h->rank + 1);
  const Expr **key = NEW_ARRAY(a, const Expr *, table->type.n_key + 1), *hit = NULL;
  for (uint32_t k = 0; k < n; k++) range[k] = h->x->range[k], label[k] = h->x->label[k];
  for (uint32_t k = 0; k < table->type.n_key; k++) key[k] = to[k] < 0 ? expr_int(e, DT_I64, 0) : expr_label(e, to[k]);
  for (uint32_t d = 0; d < h->rank; d++) {
    int64_t extent;
    h->now[d] = h->index[d];
    if (!rel_is_whole(&whole->type.dim[d], &extent) || rel_is_whole(&table->type.dim[d], &extent)) continue;
    range[n].low = expr_normal(e, expr_relabel(e, table->type.dim[d].low, table->type.n_key, key));
    range[n].high = expr_normal(e, expr_relabel(e, table->type.dim[d].high, table->type.n_key, key));
    label[n] = str_apart(h->m->p->strings, n, label,
        table->type.rank > 1 ? strings_printf(h->m->p->strings, "at%u", d) : str_from(h->m->p->strings, "at"));
    h->now[d] = expr_label(e, n++);
    hit = expr_and(e, hit, expr_op2(e, OP_EQ, h->index[d], h->now[d]));
  }
  h->sum->n_red += n - was;
  h->x->range = range, h->x->label = label;
  if (hit)
    h->sum->body = expr_select(
        e, hit, expr_map(e, h->sum->body, second_read, h), expr_cast(e, h->sum->acc, expr_int(e, DT_I64, 0)));
}

/* X[e] is the sum over a block's places t of X[t] where e = t: each block contributes what it has, and the sum over
 * blocks is the value. */
bool join_hits(RuleMatch *m, const RuleValue *v, RuleValue *out) {
  Hits h = {.m = m, .x = out->node = rule_draft(m, v[0].node)};
  AlgNode *table = v[2].node, *whole = v[0].node->operand[1].node;
  int32_t *to = NEW_ARRAY(m->p->arena, int32_t, table->type.n_key + 1);
  EinSum *s = h.sum = arena_copy(m->p->arena, h.x->sum, sizeof *s);
  bool several;
  const Expr *read = join_second_read(m, s, &several);
  if (several || s->domain || s->where || (s->reducer != RED_NONE && s->reducer != RED_SUM) ||
      dtype_sum(s->acc) != s->acc)
    return false;
  h.rank = table->type.rank;
  if (h.rank > ALG_RANK || whole->type.rank != h.rank || (h.rank && !read)) return false;
  if (read) h.index = read->arg;
  hits_keys(&h, &v[1], table, to);
  hits_labels(&h, whole, table, to);
  s->reducer = RED_SUM;
  h.x->sum = s;
  h.x->n_fn = 0;
  h.x->type.holes = join_holes(h.x);
  return true;
}
