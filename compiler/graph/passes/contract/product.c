/* graph/passes/contract/product.c - vertices as products: which vertices are products, which may be joined with
 * their operands, and which factors may be computed separately. */
#include "contract.h"

enum { INTS = 1, BOOLS = 2, FLOATS = 4, WIDE = 8 };
enum { MOST_JOINED = 48, SYMBOLIC_SIZE = 256 };

static const struct { Reducer reducer; Op op; unsigned on; } distributes[] = {
#define DISTRIBUTES(reducer, op, on) {RED_##reducer, OP_##op, on},
#include "expr/ops.def"
};

bool product_op(const EinSum *s, Op *op) {
  const Expr *body = s->body;
  DType t = s->acc;
  unsigned have = dtype_is_int(t) ? INTS : t == DT_BOOL ? BOOLS : t == DT_F64 || t == DT_F32 ? FLOATS | WIDE : FLOATS;
  for (uint32_t i = 0; i < COUNT(distributes); i++) {
    if (distributes[i].reducer != s->reducer || !(distributes[i].on & have)) continue;
    *op = distributes[i].op;
    bool divides = *op == OP_MUL && body->kind == EX_OP && body->op == OP_DIV;
    if (body->kind == EX_OP && (body->op == *op || divides)) return true;
  }
  return false;
}

/* ---- sizes ----------------------------------------------------------------------------------- */

double extent_guess(const Expr *e) {
  int64_t size = e->kind == EX_INT && e->i < 1 ? 1 : expr_size_guess(e, NULL, NULL);
  return (double)(size ? size : SYMBOLIC_SIZE);
}

double labels_points(const EinNode *n, uint64_t labels) {
  double all = 1;
  for (uint32_t k = 0; k < n->sum->n_out + n->sum->n_red && labels; k++, labels >>= 1)
    if (labels & 1) all *= extent_guess(n->bound[k]);
  return all;
}

double product_points(const Product *x, uint64_t labels) {
  double points = 1;
  for (uint32_t k = 0; k < x->bound.len; k++)
    if (labels >> k & 1) points *= extent_guess(x->bound.at[k]);
  return points;
}

/* ---- factors --------------------------------------------------------------------------------- */

typedef struct Into {        /* maps a vertex's own labels and slots to the product's */
  const Expr **label;
  uint32_t slot;
} Into;

static const Expr *into_leaf(void *env, Exprs *p, const Expr *e) {
  const Into *to = env;
  if (e->kind == EX_LABEL) return to->label[e->i];
  if (e->kind == EX_READ) return expr_read(p, (DType)e->dtype, e->i + to->slot, e->n, e->arg);
  return e;
}

static bool add_label(Contract *c, Product *x, const Expr *bound, Str name) {
  if (x->bound.len >= ORDER_LABELS) return false;
  Str own = str_apart(c->b.old->strings, x->label.len, x->label.at, name);
  vec_push(c->scratch, x->bound, bound);
  vec_push(c->scratch, x->label, own);
  return true;
}

static bool add_vertex(Contract *c, Product *x, const EinNode *n, const Expr **label, bool join);

static bool plain_merge(const EinNode *n) {
  return n->rank == n->sum->n_out; /* each merge has at least one label */
}

/* Whether the factor is a tensor that only this product uses, and a product (or a reduction) of the same kind,
 * without rounding in between. */
static bool may_join(const Contract *c, const Product *x, const Expr *e) {
  if (e->kind != EX_READ || x->joined.len >= MOST_JOINED) return false;
  const EinNode *n = x->input.at[e->i];
  const EinSum *r = x->root->sum, *s = n->sum;
  if (n->kind != EIN_VERTEX || n->region != x->root->region || c->uses[n->id] != 1 || c->taken[n->id]) return false;
  if (s->by || s->domain || s->where || s->acc != r->acc || s->dtype != r->acc || !plain_merge(n)) return false;
  bool map = s->reducer == RED_NONE && s->body->kind == EX_OP && s->body->op == x->op;
  if (!map && (s->reducer != r->reducer || !s->n_red)) return false;
  for (uint32_t k = 0; k < e->n; k++)
    if (e->arg[k]->kind != EX_LABEL || x->bound.at[e->arg[k]->i] != n->bound[k]) return false;
  return true;
}

static bool join_vertex(Contract *c, Product *x, const Expr *e) {
  const EinNode *n = x->input.at[e->i];
  uint32_t labels = n->sum->n_out + n->sum->n_red;
  const Expr **label = COPY_ARRAY(c->scratch, const Expr *, e->arg, n->sum->n_out, labels + 1);
  for (uint32_t k = n->sum->n_out; k < labels; k++) {
    label[k] = expr_label(c->b.old->exprs, x->bound.len);
    if (!add_label(c, x, n->bound[k], n->label[k])) return false;
  }
  vec_push(c->scratch, x->joined, n);
  uint64_t out = 0;
  for (uint32_t k = 0; k < n->sum->n_out; k++) out |= (uint64_t)1 << e->arg[k]->i;
  x->held += product_points(x, out);
  return add_vertex(c, x, n, label, true);
}

/* A divisor over output labels alone may be applied to the sum as well as to its terms. */
static bool is_divided(const Product *x, const Expr *e) {
  return x->divides && x->op == OP_MUL && e->kind == EX_OP && e->op == OP_DIV && !(e->arg[1]->labels & ~x->out);
}

typedef VEC(const Expr *) Factors;

/* Lists the factors of a body from left to right, and its divisors; false: too many. */
static bool factors_of(Contract *c, Product *x, const Expr *body, Factors *factors, uint32_t *divisors) {
  Factors stack = {0};
  vec_push(c->scratch, stack, body);
  while (stack.len) {
    const Expr *e = vec_pop(stack);
    if (e->kind == EX_OP && e->op == x->op) {
      vec_push(c->scratch, stack, e->arg[1]);
      vec_push(c->scratch, stack, e->arg[0]);
    } else if (is_divided(x, e)) {
      vec_push(c->scratch, x->divisor, e->arg[1]);
      vec_push(c->scratch, stack, e->arg[0]);
      ++*divisors;
    } else {
      vec_push(c->scratch, *factors, e);
    }
    if (factors->len > ORDER_OPERANDS || *divisors > ORDER_OPERANDS) return false;
  }
  return true;
}

/* Marks what is inside e, e itself only if it is no read or if `whole`. */
static void mark_inside(Contract *c, Map *inside, const Expr *top, bool whole) {
  Factors stack = {0};
  if (whole || top->kind != EX_READ)
    vec_push(c->scratch, stack, top);
  else
    for (uint32_t k = 0; k < top->n; k++) vec_push(c->scratch, stack, top->arg[k]);
  while (stack.len) {
    const Expr *e = vec_pop(stack);
    if (!(e->has & HAS_READ) || map_find(inside, e)) continue;
    map_put(inside, e, c);
    for (uint32_t k = 0; k < e->n; k++) vec_push(c->scratch, stack, e->arg[k]);
  }
}

static uint32_t times_in(const Factors *f, const Expr *e) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < f->len; i++) n += f->at[i] == e;
  return n;
}

/* Adds the vertex's factors to the product; a tensor that occurs once, and only as a factor, is replaced by its own
 * factors. */
static bool add_vertex(Contract *c, Product *x, const EinNode *n, const Expr **label, bool join) {
  Into to = {label, x->input.len};
  Factors factors = {0};
  Map inside = map_new(c->scratch);
  uint32_t divisors = 0, first = x->divisor.len;
  uint64_t all = 0;
  for (uint32_t k = 0; k < n->sum->n_slot; k++) vec_push(c->scratch, x->input, n->input[k]);
  for (uint32_t k = 0; k < n->sum->n_out + n->sum->n_red; k++) all |= label[k]->labels;
  const Expr *body = expr_map(c->b.old->exprs, n->sum->body, into_leaf, &to);
  if (!factors_of(c, x, body, &factors, &divisors)) return false;
  x->ops += product_points(x, all) * (factors.len + divisors - 1 + (n->sum->reducer != RED_NONE));
  if (join && n == x->root && x->where) mark_inside(c, &inside, x->where, true);
  for (uint32_t i = first; join && i < x->divisor.len; i++) mark_inside(c, &inside, x->divisor.at[i], true);
  for (uint32_t i = 0; join && i < factors.len; i++) mark_inside(c, &inside, factors.at[i], false);
  vec_each_of(const Expr, e, factors) {
    if (join && !map_find(&inside, e) && times_in(&factors, e) == 1 && may_join(c, x, e)) {
      if (!join_vertex(c, x, e)) return false;
    } else {
      vec_push(c->scratch, x->factor, e);
    }
    if (x->factor.len > ORDER_OPERANDS) return false;
  }
  return true;
}

/* ---- where a factor may be computed ---------------------------------------------------------- */

bool is_partial(const EinNode *n) {
  if (n->kind == EIN_STACK) return is_partial(n->repeat->body->stacks.at[n->index].node);
  return n->kind == EIN_VERTEX && n->sum->domain;
}

void facts_turns(Facts *f, const EinRegion *r, const Expr **turn) {
  f->turn = turn;
  for (; r->parent; r = r->parent) {
    turn[r->depth] = r->turns;
    if (r->depth >= f->n_turn) f->n_turn = r->depth + 1;
  }
}

Facts product_facts(const Contract *c, const Product *x, uint64_t labels, const Expr **bound, const Expr **turn) {
  Facts f = {.label = bound, .n_label = x->bound.len, .hold = c->checks.at, .n_hold = c->checks.len};
  for (uint32_t k = 0; k < x->bound.len; k++) bound[k] = labels >> k & 1 ? x->bound.at[k] : NULL;
  facts_turns(&f, x->root->region, turn);
  return f;
}

static bool in_range(Contract *c, const Product *x, const Expr *read, uint64_t labels) {
  Exprs *p = c->b.old->exprs;
  const EinNode *n = x->input.at[read->i];
  const Expr *bound[ORDER_LABELS], *turn[GRAPH_DEPTH + 1];
  Facts f = product_facts(c, x, labels, bound, turn);
  for (uint32_t k = 0; k < read->n; k++) {
    const Expr *e = read->arg[k];
    if (e->has & HAS_READ) return false;
    if (e->kind == EX_LABEL && x->bound.at[e->i] == n->dim[k]) continue;
    if ((c->proofs -= 2) < 0) return false;
    if (prove(p, &f, expr_op2(p, OP_LE, expr_int(p, DT_I64, 0), e)).verdict != PROVED) return false;
    if (prove(p, &f, expr_op2(p, OP_LT, e, n->dim[k])).verdict != PROVED) return false;
  }
  return true;
}

bool factor_total(Contract *c, const Product *x, const Expr *factor) {
  ExprNodes reads = expr_nodes(c->scratch, factor, HAS_READ);
  for (const Expr *e; (e = expr_next_read(&reads));)
    if (is_partial(x->input.at[e->i]) || !in_range(c, x, e, factor->labels)) return false;
  return true;
}

/* What is computed at each point anyway may be computed separately, if there is a point. */
static bool all_computed(const Product *x) {
  if (x->where || x->op == OP_AND || x->op == OP_OR) return false;
  for (uint32_t k = 0; k < x->bound.len; k++)
    if (x->bound.at[k]->kind != EX_INT || x->bound.at[k]->i < 1) return false;
  return true;
}

static bool reads_anywhere(Contract *c, const Product *x) {
  if (all_computed(x)) return true;
  for (uint32_t i = 0; i < x->factor.len; i++)
    if (!factor_total(c, x, x->factor.at[i])) return false;
  return true;
}

/* ---- the product ----------------------------------------------------------------------------- */

Product *product_of(Contract *c, const EinNode *n, bool join, bool divides) {
  const EinSum *s = n->sum;
  uint32_t labels = s->n_out + s->n_red;
  Op op;
  if (s->by || s->domain || labels > ORDER_LABELS || !s->n_red || !product_op(s, &op)) return NULL;
  for (uint32_t k = 0; k < labels; k++)
    if (expr_is_int(n->bound[k], 0)) return NULL;
  Product *x = NEW(c->scratch, Product);
  const Expr **label = NEW_ARRAY(c->scratch, const Expr *, labels + 1);
  x->root = n;
  x->op = op;
  x->divides = divides;
  x->out = ((uint64_t)1 << s->n_out) - 1;
  x->where = s->where;
  x->where_labels = s->where ? s->where->labels : 0;
  for (uint32_t k = 0; k < labels; k++) {
    label[k] = expr_label(c->b.old->exprs, k);
    add_label(c, x, n->bound[k], n->label[k]);
  }
  if (!add_vertex(c, x, n, label, join)) return NULL;
  x->reads_anywhere = reads_anywhere(c, x);
  return x;
}
