/* graph/passes/contract/steps.c - from a product to steps: which factors are applied to the sum instead of its
 * terms, the order of the others, whether this saves anything, and the vertices for it. */
#include "contract.h"

static uint64_t all_labels(const Product *x) {
  return x->bound.len == 64 ? UINT64_MAX : ((uint64_t)1 << x->bound.len) - 1;
}

/* ---- the steps -------------------------------------------------------------------------------- */

/* Whether a factor may be applied to the result instead of the terms. Each point must reduce something: over
 * nothing, 0 would become 0 / 0, and a read that a predicate guards would be out of range. For integers only the
 * second matters. */
static bool may_end(Contract *c, const Product *x) {
  const Expr *bound[ORDER_LABELS], *turn[GRAPH_DEPTH + 1];
  bool inner[ORDER_LABELS];
  Facts f = product_facts(c, x, UINT64_MAX, bound, turn);
  if (!dtype_is_float(x->root->sum->acc) && x->reads_anywhere) return true;
  if ((c->proofs -= 2) < 0) return false;
  for (uint32_t k = 0; k < x->bound.len; k++) inner[k] = !(x->out >> k & 1);
  const Expr *where = x->where ? x->where : expr_bool(c->b.old->exprs, true);
  return prove_nonempty(c->b.old->exprs, &f, inner, where).verdict == PROVED;
}

/* Whether the result can be divided where a test says that a point is reduced: the predicate is such a test, if the
 * labels that it leaves out have points. */
static bool may_end_tested(Contract *c, const Product *x) {
  uint64_t reduced = all_labels(x) & ~x->out;
  if (!x->where || !(x->where_labels & reduced)) return false;
  for (uint32_t k = 0; k < x->bound.len; k++)
    if ((reduced & ~x->where_labels) >> k & 1 && (x->bound.at[k]->kind != EX_INT || x->bound.at[k]->i < 1))
      return false;
  for (uint32_t i = 0; i < x->divisor.len; i++)
    if (!factor_total(c, x, x->divisor.at[i])) return false;
  return true;
}

/* Decides which factors are applied to the core's result. Without a predicate the order of contraction places them. */
static void share_out(Contract *c, Steps *p) {
  const Product *x = p->product;
  bool apart = (x->where || !x->reads_anywhere) && x->op != OP_AND && x->op != OP_OR && may_end(c, x);
  vec_each_of(const Expr, e, x->factor) {
    if (apart && !(e->labels & ~x->out))
      vec_push(c->scratch, p->free, e);
    else
      p->core[p->n++] = e;
  }
}

static bool has_end(const Steps *p) {
  return p->free.len || p->product->divisor.len;
}

/* The labels of a mask in the order of the body, then the others. */
static uint32_t order_labels(Arena *scratch, const Expr *body, uint64_t mask, uint32_t *order) {
  VEC(const Expr *) stack = {0};
  Map seen = map_new(scratch);
  uint32_t n = 0;
  vec_push(scratch, stack, body);
  while (stack.len && mask) {
    const Expr *x = vec_pop(stack);
    if (!(x->labels & mask) || map_find(&seen, x)) continue;
    map_put(&seen, x, stack.at);
    if (x->kind == EX_LABEL) {
      order[n++] = (uint32_t)x->i;
      mask &= ~((uint64_t)1 << x->i);
    }
    for (uint32_t i = x->n; i-- > 0;) vec_push(scratch, stack, x->arg[i]);
  }
  for (uint32_t k = 0; k < ORDER_LABELS; k++)
    if (mask >> k & 1) order[n++] = k;
  return n;
}

enum { STORE = 8, COPY = 8 };  /* the cost of storing and reading an element again, or copying it, in operations */
#define TEST 0.125             /* the cost of a test at a point: bytes are combined, many at a time */

static void pose(Arena *scratch, Steps *p) {
  const Product *x = p->product;
  OrderProblem *o = &p->problem;
  uint64_t somewhere = x->where_labels;
  o->n = p->n;
  for (uint32_t i = 0; i < p->n; i++) {
    uint32_t order[ORDER_LABELS], n = order_labels(scratch, p->core[i], p->core[i]->labels, order);
    for (uint32_t k = 0; k < n; k++) o->axis[i][k] = (uint8_t)order[k];
    somewhere |= o->operand[i] = p->core[i]->labels;
  }
  o->store = STORE, o->copy = COPY;
  o->out = has_end(p) ? x->out & somewhere : x->out;
  o->keep = o->out | x->where_labels;
  o->last = o->keep | (all_labels(x) & ~somewhere & ~x->out);
  sizes_guess(x, o);
}

/* A step that only multiplies, at the same points as its user, is inlined there. */
static bool is_inline(const OrderTree *t, uint32_t i, uint32_t parent) {
  return t->node[i].space == t->node[i].labels && t->node[parent].space == t->node[i].labels;
}

static void parents_of(const OrderTree *t, uint32_t n, uint32_t *parent) {
  for (uint32_t i = n; i < t->n; i++) parent[t->node[i].left] = parent[t->node[i].right] = i;
}

static void cost(Steps *p) {
  const Product *x = p->product;
  uint32_t parent[2 * ORDER_OPERANDS] = {0};
  uint64_t all = p->problem.last;
  for (uint32_t i = 0; i < p->n; i++) all |= p->core[i]->labels;
  p->ops = p->whole ? order_points(&p->problem, all) * p->n : p->tree.ops;
  if (!p->whole) {
    parents_of(&p->tree, p->n, parent);
    for (uint32_t i = 0; i + 1 < p->tree.n; i++) {
      const OrderNode *s = &p->tree.node[i];
      bool made = i < p->n ? s->space != s->labels : !is_inline(&p->tree, i, parent[i]);
      if (made) p->held += order_points(&p->problem, s->labels);
    }
  }
  if (p->tested) {
    p->ops += product_points(x, x->where_labels) * TEST;
    p->held += product_points(x, x->where_labels & x->out);
  }
  if (!has_end(p)) return;
  p->ops += product_points(x, x->out) * (p->free.len + x->divisor.len);
  p->held += order_points(&p->problem, p->problem.out);
}

Steps *steps_of(Contract *c, Product *x) {
  Steps *p = NEW(c->scratch, Steps);
  p->product = x;
  if (x->factor.len > ORDER_OPERANDS) return NULL;
  p->tested = x->divisor.len && !may_end(c, x);
  if (p->tested && !may_end_tested(c, x)) return NULL;
  share_out(c, p);
  p->whole = p->n < 2 || !x->reads_anywhere;
  if (!p->n || (p->whole && !has_end(p)) || (p->whole && x->joined.len)) return NULL;
  pose(c->scratch, p);
  if (!p->whole) order_best(&p->problem, &c->budget, &p->tree);
  if (!p->whole && c->sites > 1) order_on_sites(&p->problem, c->sites, &p->tree);
  cost(p);
  if (p->ops >= x->ops || p->ops + p->held >= x->ops + x->held) return NULL;
  steps_for_sizes(c, p);
  return p;
}

/* ---- the vertices ---------------------------------------------------------------------------- */

typedef struct Emit {
  Contract *c;
  EinRegion *region;
  const Steps *steps;
  const Product *product;
  VEC(EinNode *) slot;       /* the product's, then those made here */
  uint32_t made;
} Emit;

static void labels_of(uint64_t mask, uint32_t *order) {
  for (uint32_t k = 0; mask; k++, mask >>= 1)
    if (mask & 1) *order++ = k;
}

/* A read of a vertex made here, at its labels. */
static const Expr *read_made(Emit *e, EinNode *n, uint32_t rank, const uint32_t *order) {
  const Expr *index[ORDER_LABELS];
  for (uint32_t k = 0; k < rank; k++) index[k] = expr_label(e->c->b.g->exprs, order[k]);
  vec_push(e->c->b.arena, e->slot, n);
  return expr_read(e->c->b.g->exprs, n->dtype, e->slot.len - 1, rank, index);
}

/* Makes a vertex and a read of it; the last one has the root's shape, dtype and name. axis: the order of its output
 * labels, NULL: as numbered. */
static EinNode *make_vertex(
    Emit *e, const Expr *body, const Expr *where, uint64_t out, uint64_t red, const uint8_t *axis, const Expr **read) {
  EinGraph *g = e->c->b.g;
  const Product *x = e->product;
  const EinNode *root = x->root;
  const Expr *to[ORDER_LABELS] = {0}, *bound[ORDER_LABELS];
  Str label[ORDER_LABELS];
  uint32_t order[ORDER_LABELS];
  bool test = body->dtype == DT_BOOL && root->sum->acc != DT_BOOL; /* whether there is a point */
  EinSum s = {.n_out = labels_count(out), .n_red = labels_count(red), .acc = test ? DT_BOOL : root->sum->acc};
  if (axis)
    for (uint32_t k = 0; k < s.n_out; k++) order[k] = axis[k];
  else
    labels_of(out, order);
  order_labels(e->c->scratch, body, red, order + s.n_out);
  for (uint32_t k = 0; k < s.n_out + s.n_red; k++) {
    to[order[k]] = expr_label(g->exprs, k);
    bound[k] = x->bound.at[order[k]];
    label[k] = x->label.at[order[k]];
  }
  s.dtype = read ? s.acc : root->sum->dtype;
  s.reducer = test ? RED_ANY : red || where ? root->sum->reducer : RED_NONE;
  s.body = expr_relabel(g->exprs, body, x->bound.len, to);
  if (where) s.where = expr_relabel(g->exprs, where, x->bound.len, to);
  if (!read) return rebuild_vertex(&e->c->b, e->region, root, &s, bound, label, e->slot.at);
  EinNode *made = rebuild_part(&e->c->b, e->region, root, &s, bound, label, e->slot.at);
  if (root->name) made->name = strings_printf(g->strings, "%s.%u", root->name->s, ++e->made);
  *read = read_made(e, made, s.n_out, order);
  return made;
}

/* The part of the predicate over these labels; what reads stays with the last step. */
static const Expr *where_within(const Emit *e, uint64_t space) {
  const Expr *where = NULL;
  VEC(const Expr *) stack = {0};
  if (e->product->where) vec_push(e->c->scratch, stack, e->product->where);
  while (stack.len) {
    const Expr *x = vec_pop(stack);
    if (x->kind == EX_OP && x->op == OP_AND) {
      vec_push(e->c->scratch, stack, x->arg[1]);
      vec_push(e->c->scratch, stack, x->arg[0]);
    } else if (!(x->labels & ~space) && !(x->has & HAS_READ)) {
      where = expr_and(e->c->b.g->exprs, where, x);
    }
  }
  return where;
}

static const Expr *apart(Emit *e, const Expr *body, const OrderNode *s) {
  uint64_t red = s->space & ~s->labels;
  make_vertex(e, body, red ? where_within(e, s->space) : NULL, s->labels, red, s->axis, &body);
  return body;
}

/* Makes all steps but the core's last, and returns the last one's body. */
static const Expr *core_body(Emit *e) {
  const Steps *p = e->steps;
  Exprs *x = e->c->b.g->exprs;
  const OrderTree *t = &p->tree;
  const Expr *value[2 * ORDER_OPERANDS];
  uint32_t parent[2 * ORDER_OPERANDS] = {0};
  if (p->whole) {
    const Expr *body = p->core[0];
    for (uint32_t i = 1; i < p->n; i++) body = expr_op2(x, e->product->op, body, p->core[i]);
    return body;
  }
  parents_of(t, p->n, parent);
  for (uint32_t i = 0; i < t->n; i++) {
    const OrderNode *s = &t->node[i];
    bool leaf = i < p->n, root = i + 1 == t->n;
    value[i] = leaf ? p->core[i] : expr_op2(x, e->product->op, value[s->left], value[s->right]);
    bool made = leaf ? s->space != s->labels : !root && !is_inline(t, i, parent[i]);
    if (made) value[i] = apart(e, value[i], s);
  }
  return value[t->n - 1];
}

/* A sum over nothing is 0, and must stay 0 whatever factor it gets later, even an infinite one. Tests for this, if a
 * label whose size may turn out 0 is reduced before the last step; integers need no test. NULL: nothing to test. */
static const Expr *some_early(Emit *e, uint64_t late) {
  const Product *x = e->product;
  Exprs *p = e->c->b.g->exprs;
  const Expr *bound[ORDER_LABELS], *turn[GRAPH_DEPTH + 1], *all = NULL;
  if (!dtype_is_float(x->root->sum->acc)) return NULL;
  Facts f = product_facts(e->c, x, x->out | late, bound, turn); /* if these have no point, nothing can be wrong */
  for (uint32_t k = 0; k < x->bound.len; k++) {
    if ((x->out | late) >> k & 1 || x->bound.at[k]->kind == EX_INT) continue;
    const Expr *some = expr_op2(p, OP_GE, x->bound.at[k], expr_int(p, DT_I64, 1));
    bool proved = --e->c->proofs > 0 && prove(p, &f, some).verdict == PROVED;
    if (!proved) all = expr_and(p, all, some);
  }
  return all;
}

/* Tests whether a point satisfies the predicate, for each value of its output labels. */
static const Expr *some_where(Emit *e) {
  const Product *x = e->product;
  const Expr *read;
  make_vertex(e, expr_bool(e->c->b.g->exprs, true), x->where, x->where_labels & x->out, x->where_labels & ~x->out, NULL,
      &read);
  return read;
}

static EinNode *order_emit(Contract *c, EinRegion *r, const Steps *p) {
  const Product *x = p->product;
  Exprs *pool = c->b.g->exprs;
  Emit e = {.c = c, .region = r, .steps = p, .product = x};
  for (uint32_t i = 0; i < x->input.len; i++) vec_push(c->b.arena, e.slot, c->b.to[x->input.at[i]->id]);
  const Expr *body = core_body(&e);
  uint64_t out = p->problem.out, red = all_labels(x) & ~x->out;
  if (!p->whole) red = p->tree.node[p->tree.n - 1].space & ~out;
  const Expr *some = p->tested ? some_where(&e) : some_early(&e, red);
  const Expr *nothing = some ? reducer_identity(pool, x->root->sum) : NULL;
  if (!has_end(p) && some && !red && !x->where) body = expr_select(pool, some, body, nothing), some = NULL;
  if (!has_end(p) && !some) return make_vertex(&e, body, x->where, out, red, NULL, NULL);
  make_vertex(&e, body, x->where, out, red, NULL, &body);
  for (uint32_t i = 0; i < p->free.len; i++) body = expr_op2(pool, x->op, body, p->free.at[i]);
  for (uint32_t i = 0; i < x->divisor.len; i++) body = expr_op2(pool, OP_DIV, body, x->divisor.at[i]);
  if (some) body = expr_select(pool, some, body, nothing);
  return make_vertex(&e, body, NULL, x->out, 0, NULL, NULL);
}

EinNode *steps_emit(Contract *c, EinRegion *r, const Steps *p) {
  EinNode *made = order_emit(c, r, p);
  return p->other ? steps_choose(c, r, p, made, steps_emit(c, r, p->other)) : made;
}
