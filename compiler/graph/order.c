/* graph/order.c - orders of contraction: see order.h. */
#include "order.h"

#include <math.h>
#include <string.h>

double order_points(const OrderProblem *p, uint64_t labels) {
  double points = 1;
  for (uint32_t k = 0; labels; k++, labels >>= 1)
    if (labels & 1) points *= p->size[k];
  return points;
}

/* ---- a tree's cost --------------------------------------------------------------------------- */

/* What of `labels` others need still. */
static uint64_t kept(const OrderProblem *p, uint64_t labels, uint64_t others) {
  return labels & (others | p->keep);
}

/* An operand's own labels are reduced at once. */
static double leaf_ops(const OrderProblem *p, uint64_t labels, uint64_t out) {
  return labels == out ? 0 : order_points(p, labels);
}

static double step_ops(const OrderProblem *p, uint64_t space, uint64_t out) {
  return order_points(p, space) * (space == out ? 1 : 2);
}

/* Labels and costs from the operands up; left and right are given. */
static void tree_finish(const OrderProblem *p, OrderTree *t) {
  uint64_t all[2 * ORDER_OPERANDS]; /* which operands are below */
  t->n = 2 * p->n - 1;
  t->ops = t->largest = 0;
  for (uint32_t i = 0; i < t->n; i++) {
    OrderNode *x = &t->node[i];
    bool leaf = i < p->n, root = i + 1 == t->n;
    all[i] = leaf ? (uint64_t)1 << i : all[x->left] | all[x->right];
    uint64_t others = 0;
    for (uint32_t k = 0; k < p->n; k++)
      if (!(all[i] >> k & 1)) others |= p->operand[k];
    x->space = leaf ? p->operand[i] : t->node[x->left].labels | t->node[x->right].labels;
    if (root) x->space |= p->last;
    x->labels = root ? p->out : kept(p, x->space, others);
    t->ops += leaf ? leaf_ops(p, x->space, x->labels) : step_ops(p, x->space, x->labels);
    double size = order_points(p, x->labels);
    if (!root && (!leaf || x->space != x->labels) && size > t->largest) t->largest = size;
  }
}

/* ---- exactly: subsets of operands ------------------------------------------------------------ */

typedef struct Best { double ops, largest; uint32_t left; uint64_t labels; } Best;

static uint64_t union_of(const OrderProblem *p, uint32_t set) {
  uint64_t labels = 0;
  for (uint32_t k = 0; k < p->n; k++)
    if (set >> k & 1) labels |= p->operand[k];
  return labels;
}

static void best_split(const OrderProblem *p, Best *best, uint32_t set, bool whole) {
  Best *b = &best[set];
  uint32_t low = set & (0 - set), rest = set ^ low;
  double size = order_points(p, b->labels);
  b->ops = (double)INFINITY;
  for (uint32_t sub = rest;; sub = (sub - 1) & rest) { /* the part with the lowest operand, all but the whole set */
    uint32_t left = low | (rest & ~sub), right = sub;
    if (!right) break;
    uint64_t space = best[left].labels | best[right].labels | (whole ? p->last : 0);
    double ops = best[left].ops + best[right].ops + step_ops(p, space, b->labels);
    double largest = fmax(best[left].largest, best[right].largest);
    if (!whole) largest = fmax(largest, size);
    if (ops > b->ops || (ops == b->ops && largest >= b->largest)) continue;
    b->ops = ops;
    b->largest = largest;
    b->left = left;
  }
}

static uint32_t tree_of(const OrderProblem *p, const Best *best, uint32_t set, OrderTree *t, uint32_t *n) {
  if (!(set & (set - 1))) {
    uint32_t k = 0;
    while (!(set >> k & 1)) k++;
    return k;
  }
  uint32_t left = tree_of(p, best, best[set].left, t, n); /* at most ORDER_EXACT deep */
  uint32_t right = tree_of(p, best, set ^ best[set].left, t, n);
  t->node[*n] = (OrderNode){.left = left, .right = right};
  return (*n)++;
}

static void order_exact(const OrderProblem *p, OrderTree *t) {
  Arena *a = arena_new();
  uint32_t all = (1u << p->n) - 1, n = p->n;
  Best *best = NEW_ARRAY(a, Best, all + 1);
  for (uint32_t set = 1; set <= all; set++) {
    Best *b = &best[set];
    b->labels = set == all ? p->out : kept(p, union_of(p, set), union_of(p, all ^ set));
    if (set & (set - 1)) {
      best_split(p, best, set, set == all);
    } else {
      uint64_t labels = union_of(p, set);
      b->ops = leaf_ops(p, labels, b->labels);
      b->largest = labels == b->labels ? 0 : order_points(p, b->labels);
    }
  }
  tree_of(p, best, all, t, &n);
  arena_free(a);
  tree_finish(p, t);
}

/* ---- greedily -------------------------------------------------------------------------------- */

enum { TRIES = 12 };

static uint32_t dice(uint64_t *seed) {
  *seed = *seed * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(*seed >> 33);
}

typedef struct Live { uint32_t node; uint64_t labels; } Live;
typedef struct Greedy {
  const OrderProblem *p;
  uint32_t n;                /* operands that are left */
  Live live[ORDER_OPERANDS];
  uint8_t users[ORDER_LABELS]; /* of each label: in how many of them it is */
  uint64_t seed;
  int try;
} Greedy;

static void count_users(Greedy *g, uint64_t labels, int by) {
  for (uint32_t k = 0; k < ORDER_LABELS; k++)
    if (labels >> k & 1) g->users[k] = (uint8_t)(g->users[k] + by);
}

/* What comes out if x and y are put together. */
static uint64_t pair_out(const Greedy *g, uint32_t x, uint32_t y) {
  uint64_t a = g->live[x].labels, b = g->live[y].labels, others = 0;
  for (uint32_t k = 0; (a | b) >> k; k++)
    if (g->users[k] > (a >> k & 1) + (b >> k & 1)) others |= (uint64_t)1 << k;
  return kept(g->p, a | b, others);
}

/* The less the better: how much more there is to hold, or to do; with a little noise in all but the first tries. */
static double pair_score(Greedy *g, uint32_t x, uint32_t y) {
  uint64_t a = g->live[x].labels, b = g->live[y].labels;
  double score = order_points(g->p, a | b);
  if (g->try % 3 != 1)
    score = order_points(g->p, pair_out(g, x, y)) - order_points(g->p, a) - order_points(g->p, b);
  if (g->try > 1) score += fabs(score) * (double)(dice(&g->seed) % 1000) / 1000.0;
  return score;
}

/* Of many operands only those that share a label are looked at, and neighbours, so that there always is a pair. */
static void best_pair(Greedy *g, uint32_t *x, uint32_t *y) {
  double best = (double)INFINITY;
  *x = 0, *y = 1;
  for (uint32_t i = 0; i < g->n; i++)
    for (uint32_t j = i + 1; j < g->n; j++) {
      if (g->n > 16 && j > i + 1 && !(g->live[i].labels & g->live[j].labels)) continue;
      double score = pair_score(g, i, j);
      if (score < best) best = score, *x = i, *y = j;
    }
}

static void greedy_start(Greedy *g) {
  g->n = g->p->n;
  memset(g->users, 0, sizeof g->users);
  for (uint32_t i = 0; i < g->n; i++) count_users(g, g->p->operand[i], 1);
  for (uint32_t i = 0; i < g->n; i++) {
    uint64_t all = g->p->operand[i], others = 0;
    for (uint32_t k = 0; k < ORDER_LABELS; k++)
      if (g->users[k] > (all >> k & 1)) others |= (uint64_t)1 << k;
    g->live[i] = (Live){i, kept(g->p, all, others)};
  } /* an operand's own labels were counted once and are gone: nobody asks for them again */
}

static void greedy_tree(Greedy *g, OrderTree *t) {
  greedy_start(g);
  for (uint32_t made = g->p->n; g->n > 1; made++) {
    uint32_t x, y;
    best_pair(g, &x, &y);
    uint64_t out = pair_out(g, x, y);
    t->node[made] = (OrderNode){.left = g->live[x].node, .right = g->live[y].node};
    count_users(g, g->live[x].labels, -1);
    count_users(g, g->live[y].labels, -1);
    count_users(g, out, 1);
    g->live[x] = (Live){made, out};
    g->live[y] = g->live[--g->n];
  }
  tree_finish(g->p, t);
}

/* ---- mending --------------------------------------------------------------------------------- */

enum { MEND = 8, MEND_WORK = 6561, ROUNDS = 12 };

/* Node i of `from` and all below it, children first; the number of its copy. */
static uint32_t copy_below(const OrderProblem *p, const OrderTree *from, uint32_t i, OrderTree *to, uint32_t *n) {
  if (i < p->n) return i;
  uint32_t left = copy_below(p, from, from->node[i].left, to, n); /* ORDER_OPERANDS deep at most */
  uint32_t right = copy_below(p, from, from->node[i].right, to, n);
  to->node[*n] = (OrderNode){.left = left, .right = right};
  return (*n)++;
}

/* The part of a tree at its root: steps, and what hangs below them. */
typedef struct Crown { uint32_t n, n_steps, below[MEND], step[MEND]; double ops; } Crown;

static void crown_step(const OrderProblem *p, const OrderTree *t, Crown *c, uint32_t i) {
  c->step[c->n_steps++] = i;
  c->ops += step_ops(p, t->node[i].space, t->node[i].labels);
  c->below[c->n++] = t->node[i].left;
  c->below[c->n++] = t->node[i].right;
}

/* The dearest steps below i. */
static Crown crown_of(const OrderProblem *p, const OrderTree *t, uint32_t i) {
  Crown c = {0};
  crown_step(p, t, &c, i);
  while (c.n < MEND) {
    uint32_t most = MEND;
    double ops = -1;
    for (uint32_t k = 0; k < c.n; k++) {
      const OrderNode *x = &t->node[c.below[k]];
      if (c.below[k] < p->n || step_ops(p, x->space, x->labels) <= ops) continue;
      ops = step_ops(p, x->space, x->labels);
      most = k;
    }
    if (most == MEND) break;
    uint32_t down = c.below[most];
    c.below[most] = c.below[--c.n];
    crown_step(p, t, &c, down);
  }
  return c;
}

/* The crown of step i in its best order; false: it has that already. */
static bool mend_step(const OrderProblem *p, OrderTree *t, uint32_t i) {
  Crown c = crown_of(p, t, i);
  bool root = i + 1 == t->n;
  OrderProblem part = {.n = c.n, .out = t->node[i].labels, .keep = t->node[i].labels};
  OrderTree best, mended = {0};
  if (c.n < 3) return false;
  if (root) part.keep = p->keep, part.last = p->last;
  memcpy(part.size, p->size, sizeof part.size);
  for (uint32_t k = 0; k < c.n; k++) part.operand[k] = t->node[c.below[k]].labels;
  order_exact(&part, &best);
  if (!(best.ops < c.ops * (1 - 1e-12))) return false;
  uint32_t to[2 * MEND], n = p->n; /* the crown's nodes: what hangs below, then its steps, the last of them i */
  for (uint32_t k = 0; k < c.n; k++) to[k] = c.below[k];
  for (uint32_t k = 0; k < c.n_steps; k++) to[c.n + k] = c.step[c.n_steps - 1 - k];
  for (uint32_t k = c.n; k < best.n; k++)
    t->node[to[k]] = (OrderNode){.left = to[best.node[k].left], .right = to[best.node[k].right]};
  copy_below(p, t, t->n - 1, &mended, &n);
  tree_finish(p, &mended);
  *t = mended;
  return true;
}

static void mend(const OrderProblem *p, int64_t *budget, OrderTree *t) {
  bool better = true;
  for (int round = 0; round < ROUNDS && better && *budget > 0; round++) {
    better = false;
    for (uint32_t i = p->n; i < t->n && *budget > 0; i++) {
      *budget -= MEND_WORK;
      better |= mend_step(p, t, i);
    }
  }
}

/* Greedy trees, each mended by putting its parts of up to MEND operands into their best order. */
static void order_greedy(const OrderProblem *p, int64_t *budget, OrderTree *out) {
  Greedy g = {.p = p, .seed = 0x9E3779B97F4A7C15u};
  for (; g.try < TRIES && (g.try < 2 || *budget > 0); g.try++) {
    OrderTree t = {0};
    greedy_tree(&g, &t);
    *budget -= 4 * (int64_t)p->n * p->n * p->n;
    if (g.try < TRIES / 3) mend(p, budget, &t);
    if (g.try && (t.ops > out->ops || (t.ops == out->ops && t.largest >= out->largest))) continue;
    *out = t;
  }
}

void order_best(const OrderProblem *p, int64_t *budget, OrderTree *out) {
  int64_t work = 1;
  BUG_UNLESS(p->n >= 2 && p->n <= ORDER_OPERANDS);
  for (uint32_t i = 0; i < p->n && i < 20; i++) work *= 3;
  if (p->n <= ORDER_SMALL || (p->n <= ORDER_EXACT && work <= *budget)) {
    *budget -= work;
    order_exact(p, out);
  } else {
    order_greedy(p, budget, out);
  }
}
