/* graph/passes/contract/sizes.c - the orders of a product whose sizes are not known. It is compiled in several, of
 * which a run takes the one that is cheapest for its sizes: the best one for medium sizes, and as long as they save
 * much, over many choices of sizes, the one that saves most beside those before it. */
#include "contract.h"

#include <math.h>

enum { OPERAND_MOST = 1 << 26 }; /* elements of an operand in a guess */
enum { SAMPLES = 48, TREES_MOST = 8, ORDERS_MOST = 4 };
#define SAVES 1.05         /* another order must save that much, in the geometric mean */

typedef struct Sample { uint32_t number, less; } Sample;

/* A size from 16 to 4096 for the dim, halved `less` times. */
static bool sample_dim(void *ctx, Str name, int64_t *out) {
  const Sample *s = ctx;
  uint32_t h = hash_mix(name->hash, s->number * 2654435761u), more = (h >> 7) % 9;
  *out = more > s->less ? (int64_t)16 << (more - s->less) : 16;
  return true;
}

/* Sample 0 is the guess. */
static double sample_size(const Sample *s, const Expr *bound) {
  double size = extent_guess(bound);
  ExprEnv env = {.dim = sample_dim, .ctx = (void *)(uintptr_t)s};
  Value v;
  if (bound->kind == EX_INT) return size;
  if (!s->number) return fmin(size, fmax(16, ldexp(size, -(int)s->less)));
  if (!expr_value(bound, &env, &v)) return size;
  return v.i > 1 ? (double)v.i : 1;
}

/* Sizes so small that operands are no larger than they may well be: nobody has a tensor of 256 to the power of five. */
static void sample_pose(const Product *x, uint32_t number, OrderProblem *o) {
  Sample s = {number, 0};
  for (;; s.less++) {
    double most = 0;
    for (uint32_t k = 0; k < x->bound.len; k++) o->size[k] = sample_size(&s, x->bound.at[k]);
    for (uint32_t i = 0; i < o->n; i++) most = fmax(most, order_points(o, o->operand[i]));
    if (most <= (double)OPERAND_MOST || s.less == 8) return;
  }
}

void sizes_guess(const Product *x, OrderProblem *o) { sample_pose(x, 0, o); }

static bool trees_alike(const OrderTree *a, const OrderTree *b) {
  if (a->n != b->n) return false;
  for (uint32_t i = 0; i < a->n; i++)
    if (a->node[i].labels != b->node[i].labels || a->node[i].space != b->node[i].space) return false;
  return true;
}

static double tree_cost(const OrderProblem *o, const OrderTree *t) {
  OrderTree copy = *t;
  order_finish(o, &copy);
  return copy.cost;
}

/* Whether sizes decide, of which some are not known; and orders can be branches, of which only one is made. */
static bool sizes_decide(const Contract *c, const Steps *p) {
  const EinNode *root = p->product->root;
  bool open = false;
  if (!root->region->repeat && graph_repeats(c->b.old)) return false;
  for (uint32_t k = 0; k < p->product->bound.len; k++) open |= p->product->bound.at[k]->kind != EX_INT;
  for (uint32_t k = 0; k < root->rank; k++)
    if (root->merge[k] != 1) return false;
  return open && c->sites <= 1 && p->n > 2 && p->n <= ORDER_SMALL && !p->whole && root->rank == root->sum->n_out &&
         root != root->region->stop;
}

/* Finds the best trees for many sizes, the first one given, and their costs. Returns their number. */
static uint32_t trees_find(Contract *c, const Steps *p, OrderTree *tree, double cost[SAMPLES][TREES_MOST]) {
  OrderProblem *o = arena_copy(c->scratch, &p->problem, sizeof p->problem);
  uint32_t n = 1;
  tree[0] = p->tree;
  for (uint32_t s = 0; s < SAMPLES; s++) {
    OrderTree t;
    bool known = false;
    sample_pose(p->product, s + 1, o);
    order_best(o, &c->budget, &t);
    for (uint32_t i = 0; i < n; i++) known |= trees_alike(&t, &tree[i]);
    if (!known && n < TREES_MOST) tree[n++] = t;
  }
  for (uint32_t s = 0; s < SAMPLES; s++) {
    sample_pose(p->product, s + 1, o);
    for (uint32_t i = 0; i < n; i++) cost[s][i] = tree_cost(o, &tree[i]);
  }
  return n;
}

/* The tree that saves most beside those before it, which cost `now`; 0: none saves much. */
static uint32_t tree_choose(uint32_t n, const double cost[SAMPLES][TREES_MOST], double *now) {
  double best = (double)SAMPLES * log(SAVES);
  uint32_t chosen = 0;
  for (uint32_t i = 1; i < n; i++) {
    double saved = 0;
    for (uint32_t s = 0; s < SAMPLES; s++) saved += log(now[s] / fmin(now[s], cost[s][i]));
    if (saved > best) best = saved, chosen = i;
  }
  for (uint32_t s = 0; s < SAMPLES; s++) now[s] = fmin(now[s], cost[s][chosen]);
  return chosen;
}

void steps_for_sizes(Contract *c, Steps *p) {
  if (!sizes_decide(c, p)) return;
  OrderTree *tree = NEW_ARRAY(c->scratch, OrderTree, TREES_MOST);
  double cost[SAMPLES][TREES_MOST], now[SAMPLES];
  uint32_t n = trees_find(c, p, tree, cost), chosen;
  const Steps **last = &p->other;
  for (uint32_t s = 0; s < SAMPLES; s++) now[s] = cost[s][0];
  for (uint32_t k = 1; k < ORDERS_MOST && (chosen = tree_choose(n, cost, now)) != 0; k++) {
    Steps *other = arena_copy(c->scratch, p, sizeof *p);
    other->other = NULL;
    other->tree = tree[chosen];
    order_finish(&other->problem, &other->tree);
    *last = other;
    last = &other->other;
  }
}

static const Expr *points_of(Exprs *x, const Product *of, const Expr *first, uint64_t labels) {
  for (uint32_t k = 0; k < of->bound.len; k++) {
    const Expr *size = expr_cast(x, DT_F64, of->bound.at[k]);
    if (labels >> k & 1) first = first ? expr_op2(x, OP_MUL, first, size) : size;
  }
  return first;
}

/* What an order costs, over dims. */
static const Expr *cost_of(Contract *c, const Steps *p) {
  Exprs *x = c->b.g->exprs;
  const Product *of = p->product;
  const Expr *all = NULL, *near = expr_real(x, DT_F64, ORDER_NEAR), *half = expr_real(x, DT_F64, 0.5);
  OrderTerm term[2 * ORDER_SMALL * ORDER_TERMS];
  OrderTree tree = p->tree;
  uint32_t n = order_terms(&p->problem, &tree, term);
  for (uint32_t i = 0; i < n; i++) {
    const OrderTerm *t = &term[i];
    const Expr *cost = points_of(x, of, expr_real(x, DT_F64, t->weight), t->points);
    if (t->block) {
      const Expr *part = expr_op2(x, OP_DIV, points_of(x, of, NULL, t->block), near);
      part = expr_op2(x, OP_MUL, half, expr_op2(x, OP_MIN, expr_real(x, DT_F64, 1), part));
      cost = expr_op2(x, OP_MUL, cost, expr_op2(x, OP_ADD, half, part));
    }
    if (t->beyond)
      cost = expr_select(x, expr_op2(x, OP_LE, points_of(x, of, NULL, t->beyond), near), expr_real(x, DT_F64, 0), cost);
    all = all ? expr_op2(x, OP_ADD, all, cost) : cost;
  }
  return all;
}

/* Chooses between two vertices of the product's shape. */
EinNode *steps_choose(Contract *c, EinRegion *r, const Steps *p, EinNode *first, EinNode *others) {
  Exprs *x = c->b.g->exprs;
  const EinNode *root = p->product->root;
  const Expr *at[ORDER_LABELS], *least = cost_of(c, p->other);
  for (const Steps *o = p->other->other; o; o = o->other) least = expr_op2(x, OP_MIN, least, cost_of(c, o));
  for (uint32_t k = 0; k < root->rank; k++) at[k] = expr_label(x, k);
  EinNode *input[2] = {first, others};
  EinSum s = {.n_out = root->rank, .n_slot = 2, .acc = root->dtype, .dtype = root->dtype};
  s.body = expr_select(x, expr_op2(x, OP_LE, cost_of(c, p), least), expr_read(x, root->dtype, 0, root->rank, at),
      expr_read(x, root->dtype, 1, root->rank, at));
  return rebuild_vertex(&c->b, r, root, &s, root->bound, root->label, input);
}
