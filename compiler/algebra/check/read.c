/* algebra/check/read.c - whether a join's kernel reads inside its operands' blocks: compares the boxes of labels
 * with those of operands, at each key of the result. Reads that a predicate or a lazy operation may guard are left
 * to the evaluator, and so are indices that are not affine in labels. Only reads that fail unconditionally are
 * reported. */
#include "expr/prove/prove.h"
#include "check.h"

typedef struct Affine { int64_t constant, *by_label; bool known; } Affine;

typedef struct Term { const Expr *e; int64_t factor; } Term;

typedef struct Reads {
  Check *c;
  const AlgNode *n;
  const KeySet *keys;        /* the keys for which the join has a tuple */
  uint32_t labels;
  Map met;                   /* expressions */
  VEC(const Expr *) stack;
  VEC(Term) term;
} Reads;

/* ---- indices ------------------------------------------------------------------------------------------------- */

static bool term_push(Reads *r, const Expr *e, int64_t factor) {
  vec_push(r->c->arena, r->term, ((Term){e, factor}));
  return true;
}

static bool term_add(Reads *r, Affine *out, Term t) {
  const Expr *e = t.e;
  int64_t product;
  if (e->kind == EX_LABEL) return e->i < r->labels && add_ok(out->by_label[e->i], t.factor, &out->by_label[e->i]);
  if (e->kind == EX_INT) return mul_ok(e->i, t.factor, &product) && add_ok(out->constant, product, &out->constant);
  if (e->kind != EX_OP) return false;
  if (e->op == OP_NEG) return term_push(r, e->arg[0], -t.factor);
  if (e->op == OP_ADD) return term_push(r, e->arg[0], t.factor) && term_push(r, e->arg[1], t.factor);
  if (e->op == OP_SUB) return term_push(r, e->arg[0], t.factor) && term_push(r, e->arg[1], -t.factor);
  uint32_t number = e->op == OP_MUL && e->arg[1]->kind == EX_INT ? 1 : 0;
  if (e->op != OP_MUL || e->arg[number]->kind != EX_INT || !mul_ok(t.factor, e->arg[number]->i, &product) ||
      product == INT64_MIN)
    return false;
  return term_push(r, e->arg[1 - number], product);
}

/* Returns the affine form of an index; not `known` if it has none. */
static Affine affine_of(Reads *r, const Expr *e) {
  enum { MOST_TERMS = 1000 };
  Affine a = {.by_label = NEW_ARRAY(r->c->arena, int64_t, r->labels + 1), .known = true};
  uint32_t steps = 0;
  r->term.len = 0;
  term_push(r, e, 1);
  while (a.known && r->term.len) {
    Term t = r->term.at[--r->term.len];
    a.known = ++steps < MOST_TERMS && term_add(r, &a, t);
  }
  return a;
}

/* The minimum and maximum over boxes [low, high), none of them empty. */
static bool affine_range(
    const Affine *a, uint32_t n, const int64_t *low, const int64_t *high, int64_t *from, int64_t *to) {
  int64_t x, y;
  *from = *to = a->constant;
  for (uint32_t l = 0; l < n; l++) {
    int64_t f = a->by_label[l];
    if (!f) continue;
    if (!mul_ok(f, f > 0 ? low[l] : high[l] - 1, &x) || !mul_ok(f, f > 0 ? high[l] - 1 : low[l], &y)) return false;
    if (!add_ok(*from, x, from) || !add_ok(*to, y, to)) return false;
  }
  return true;
}

/* ---- one read ------------------------------------------------------------------------------------------------ */

/* Whether the index is a label that covers exactly the block's places in dimension d. */
static bool is_all_of(const Reads *r, const AlgOperand *o, uint32_t d, const Expr *index) {
  Exprs *p = r->c->g->exprs;
  const Relation *t = &o->node->type;
  if (index->kind != EX_LABEL || index->i >= r->labels) return false;
  const Expr **to = NEW_ARRAY(r->c->arena, const Expr *, t->n_key + 1);
  for (uint32_t k = 0; k < t->n_key; k++) to[k] = o->on[k] < 0 ? expr_int(p, DT_I64, 0) : expr_label(p, o->on[k]);
  const RelDim *label = &r->n->range[index->i], *dim = &t->dim[d];
  return expr_same_value(p, label->low, expr_relabel(p, dim->low, t->n_key, to)) &&
      expr_same_value(p, label->high, expr_relabel(p, dim->high, t->n_key, to));
}

static bool is_empty(uint32_t n, const int64_t *low, const int64_t *high) {
  for (uint32_t l = 0; l < n; l++)
    if (low[l] >= high[l]) return true;
  return false;
}

/* Checks at one key; false: an index outside the block was reported. */
static bool check_at(const Reads *r, uint32_t slot, uint32_t d, const Affine *a, const int64_t *key) {
  const AlgOperand *o = &r->n->operand[slot];
  const Relation *t = &o->node->type;
  int64_t low[SUM_RANK + 1], high[SUM_RANK + 1], its[REL_KEYS + 1], from, to;
  rel_ranges(r->labels, r->n->range, r->n->type.n_key, key, low, high);
  if (is_empty(r->labels, low, high) || !affine_range(a, r->labels, low, high, &from, &to)) return true;
  for (uint32_t k = 0; k < t->n_key; k++) its[k] = o->on[k] < 0 ? 0 : key[o->on[k]];
  if (!keys_has(&info_of(r->c, o->node)->keys, its)) return true;
  int64_t least = rel_value(t->dim[d].low, t->n_key, its), end = rel_value(t->dim[d].high, t->n_key, its);
  if (from >= least && to < end) return true;
  fail(r->c,
      "dimension %u of &%u is read from %lld to %lld at key %s, and the block of %%%u there goes from %lld to %lld", d,
      slot, (long long)from, (long long)to + 1, key_text(r->c, &r->n->type, key), o->node->id, (long long)least,
      (long long)end);
  return false;
}

static void check_index(Reads *r, uint32_t slot, uint32_t d, const Expr *index) {
  const AlgOperand *o = &r->n->operand[slot];
  int64_t key[REL_KEYS + 1] = {0};
  if (is_all_of(r, o, d, index) || !keys_told(r->keys) || !info_of(r->c, o->node)->keys.known) return;
  Affine a = affine_of(r, index);
  if (!a.known) return;
  for (uint64_t i = 0; keys_next(r->keys, &i, key);)
    if (!check_at(r, slot, d, &a, key)) return;
}

/* ---- a kernel ------------------------------------------------------------------------------------------------ */

/* Checks everything that e reads unconditionally. */
static void check_unguarded(Reads *r, const Expr *top) {
  vec_push(r->c->arena, r->stack, top);
  while (r->stack.len) {
    const Expr *e = r->stack.at[--r->stack.len];
    if (!(e->has & HAS_READ) || map_find(&r->met, e)) continue;
    map_put(&r->met, e, r);
    bool lazy = e->kind == EX_OP && op_info[e->op].laws & LAW_LAZY;
    for (uint32_t i = 0; i < (lazy ? 1 : e->n); i++) vec_push(r->c->arena, r->stack, e->arg[i]);
    for (uint32_t d = 0; e->kind == EX_READ && d < e->n; d++) check_index(r, (uint32_t)e->i, d, e->arg[d]);
  }
}

void check_reads(Check *c, const AlgNode *n, const KeySet *keys) {
  const EinSum *s = n->sum;
  Reads r = {.c = c, .n = n, .keys = keys, .labels = s->n_out + s->n_red, .met = map_new(c->arena)};
  const Expr *first = s->domain ? s->domain : s->where ? s->where : s->body;
  check_unguarded(&r, first);
}
