/* graph/passes/contract/order.c - orders of contraction: see order.h. */
#include "order.h"

#include <math.h>
#include <string.h>

enum { NOT_YET = UINT32_MAX >> 1 };

double order_points(const OrderProblem *p, uint64_t labels) {
  double points = 1;
  for (uint32_t k = 0; labels; k++, labels >>= 1)
    if (labels & 1) points *= p->size[k];
  return points;
}

/* ---- a tree's cost --------------------------------------------------------------------------- */

/* The labels of `labels` that others still need. */
static uint64_t kept(const OrderProblem *p, uint64_t labels, uint64_t others) {
  return labels & (others | p->keep);
}

/* Operations per point. An operand's own labels are reduced at once. */
static double leaf_ops(uint64_t labels, uint64_t out) { return labels == out ? 0 : 1; }
static double step_ops(uint64_t space, uint64_t out) { return space == out ? 1 : 2; }

/* The operands and results of steps. */
typedef struct Part {
  uint64_t labels;
  double points;             /* of these */
  const uint8_t *axis;
  bool made;                 /* it was stored, */
  bool map;                  /* unless it is inlined into a step over the same points */
} Part;

/* Lists the axes that are in `of`, once each; then the labels of it that are no axis. Returns their number. */
static uint32_t axes_among(const uint8_t *axis, uint32_t n, uint64_t of, uint8_t *to) {
  uint32_t at = 0;
  for (uint32_t k = 0; k < n; k++) {
    uint64_t bit = (uint64_t)1 << axis[k];
    if (of & bit) to[at++] = axis[k];
    of &= ~bit;
  }
  for (uint32_t k = 0; of; k++, of >>= 1)
    if (of & 1) to[at++] = (uint8_t)k;
  return at;
}

static bool is_larger(const Part *x, const Part *y) {
  return x->points >= y->points;
}

/* The other's labels go where the last reduced label of the larger one was; if none is reduced, before the last
 * labels that both have. */
static void axes_join(const Part *x, const Part *y, uint64_t out, uint8_t *to) {
  if (!is_larger(x, y)) {
    const Part *z = x;
    x = y, y = z;
  }
  uint32_t n = labels_count(x->labels), m = labels_count(y->labels), at = NOT_YET, stay;
  uint8_t mine[ORDER_LABELS], others[ORDER_LABELS];
  for (uint32_t k = 0, before = 0; k < n; k++) {
    if (out >> x->axis[k] & 1) before++;
    else at = before;
  }
  stay = axes_among(x->axis, n, x->labels & out, mine);
  if (at == NOT_YET)
    for (at = stay; at && y->labels >> mine[at - 1] & 1;) at--;
  uint32_t own = axes_among(y->axis, m, out & ~x->labels, others);
  memcpy(to, mine, at);
  memcpy(to + at, others, own);
  memcpy(to + at + own, mine + at, stay - at);
}

/* What is copied of a large operand to read it: nothing if it is read in order, by rows along the reduced labels,
 * because these are its last and the other operand stays in a near cache. Otherwise blocks of it are copied, or are as
 * slow; the closer the reduced labels are to the end, the less. false: nothing. */
static bool copies(const OrderProblem *p, const Part *large, const Part *small, uint64_t out, OrderTerm *t) {
  uint32_t n = labels_count(large->labels), first = 0;
  if (!(small->labels & out & ~large->labels)) return false; /* each element is used once */
  while (first < n && out >> large->axis[first] & 1) first++;
  *t = (OrderTerm){.weight = p->copy, .points = large->labels};
  for (uint32_t k = first; k < n; k++) t->block |= (uint64_t)1 << large->axis[k];
  if (!(t->block & out)) t->beyond = small->labels;
  return true;
}

enum { STEP_TERMS = 4 };

/* The avoidable memory traffic, by the weights. Returns the number of terms. */
static uint32_t step_terms(const OrderProblem *p, const Part *x, const Part *y, uint64_t space, uint64_t out, bool root,
                           OrderTerm to[STEP_TERMS]) {
  const Part *part[] = {is_larger(x, y) ? x : y, is_larger(x, y) ? y : x};
  uint32_t n = 0;
  if (p->store <= 0 && p->copy <= 0) return 0;
  for (int k = 0; k < 2; k++)
    if (part[k]->made && !(part[k]->map && part[k]->labels == space))
      to[n++] = (OrderTerm){.weight = p->store, .points = part[k]->labels};
  if (space != out && copies(p, part[0], part[1], out, &to[n])) n++;
  uint64_t have = out & (x->labels | y->labels);
  if (root && have) { /* the root's labels come first, in their order */
    uint8_t axis[ORDER_LABELS];
    axes_join(x, y, have, axis);
    if (have >> axis[labels_count(have) - 1] >> 1) to[n++] = (OrderTerm){.weight = p->copy, .points = out};
  }
  return n;
}

static double term_cost(const OrderProblem *p, const OrderTerm *t) {
  if (t->beyond && order_points(p, t->beyond) <= (double)ORDER_NEAR) return 0;
  double share = t->block ? 0.5 + 0.5 * fmin(1, order_points(p, t->block) / (double)ORDER_NEAR) : 1;
  return t->weight * share * order_points(p, t->points);
}

static double step_moves(const OrderProblem *p, const Part *x, const Part *y, uint64_t space, uint64_t out, bool root) {
  OrderTerm t[STEP_TERMS];
  double all = 0;
  uint32_t n = step_terms(p, x, y, space, out, root, t);
  for (uint32_t k = 0; k < n; k++) all += term_cost(p, &t[k]);
  return all;
}

/* to: gets all terms of the cost; NULL: nobody wants them. */
static uint32_t tree_finish(const OrderProblem *p, OrderTree *t, OrderTerm *to) {
  uint32_t n = 0;
  uint64_t all[2 * ORDER_OPERANDS];
  Part part[2 * ORDER_OPERANDS];
  t->n = 2 * p->n - 1;
  t->ops = t->largest = t->cost = 0;
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
    part[i] = (Part){x->labels, order_points(p, x->labels), x->axis, !leaf || x->space != x->labels || p->made >> i & 1,
                     !leaf && x->space == x->labels};
    if (leaf) axes_among(p->axis[i], labels_count(x->space), x->labels, x->axis);
    else axes_join(&part[x->left], &part[x->right], x->labels, x->axis);
    double ops = leaf ? leaf_ops(x->space, x->labels) : step_ops(x->space, x->labels);
    t->ops += ops * order_points(p, x->space);
    if (!leaf) t->cost += step_moves(p, &part[x->left], &part[x->right], x->space, x->labels, root);
    if (to && ops > 0) to[n++] = (OrderTerm){.weight = ops, .points = x->space};
    if (to && !leaf) n += step_terms(p, &part[x->left], &part[x->right], x->space, x->labels, root, to + n);
    if (!root && (!leaf || x->space != x->labels) && part[i].points > t->largest) t->largest = part[i].points;
  }
  t->cost += t->ops;
  return n;
}

void order_finish(const OrderProblem *p, OrderTree *t) { tree_finish(p, t, NULL); }

uint32_t order_terms(const OrderProblem *p, OrderTree *t, OrderTerm *to) { return tree_finish(p, t, to); }

/* ---- exact search: subsets of operands ------------------------------------------------------- */

typedef struct Best {
  double cost, largest, points;
  uint32_t left;
  uint64_t labels;
  bool made, map;
  uint8_t axis[ORDER_LABELS];
} Best;

uint64_t order_union(const OrderProblem *p, uint32_t set) {
  uint64_t labels = 0;
  for (uint32_t k = 0; k < p->n; k++)
    if (set >> k & 1) labels |= p->operand[k];
  return labels;
}

static Part part_of(const Best *b) { return (Part){b->labels, b->points, b->axis, b->made, b->map}; }

static void best_split(const OrderProblem *p, Best *best, uint32_t set, bool whole) {
  Best *b = &best[set];
  uint32_t low = set & (0 - set), rest = set ^ low;
  b->cost = (double)INFINITY;
  b->made = true;
  for (uint32_t sub = rest;; sub = (sub - 1) & rest) { /* the part with the lowest operand, except the whole set */
    uint32_t left = low | (rest & ~sub), right = sub;
    if (!right) break;
    Part x = part_of(&best[left]), y = part_of(&best[right]);
    uint64_t space = x.labels | y.labels | (whole ? p->last : 0);
    double cost = best[left].cost + best[right].cost + step_ops(space, b->labels) * order_points(p, space);
    if (cost > b->cost) continue;
    cost += step_moves(p, &x, &y, space, b->labels, whole);
    double largest = fmax(best[left].largest, best[right].largest);
    if (!whole) largest = fmax(largest, b->points);
    if (cost > b->cost || (cost == b->cost && largest >= b->largest)) continue;
    b->cost = cost;
    b->largest = largest;
    b->left = left;
    b->map = space == b->labels;
    axes_join(&x, &y, b->labels, b->axis);
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
    b->labels = set == all ? p->out : kept(p, order_union(p, set), order_union(p, all ^ set));
    b->points = order_points(p, b->labels);
    if (set & (set - 1)) {
      best_split(p, best, set, set == all);
    } else {
      uint32_t k = 0;
      while (!(set >> k & 1)) k++;
      uint64_t labels = p->operand[k];
      b->cost = leaf_ops(labels, b->labels) * order_points(p, labels);
      b->largest = labels == b->labels ? 0 : b->points;
      b->made = labels != b->labels || p->made >> k & 1;
      axes_among(p->axis[k], labels_count(labels), b->labels, b->axis);
    }
  }
  tree_of(p, best, all, t, &n);
  arena_free(a);
  order_finish(p, t);
}

/* ---- greedy search --------------------------------------------------------------------------- */

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
  uint8_t users[ORDER_LABELS]; /* by label: the number of parts that have it */
  uint64_t seed;
  int try;
} Greedy;

static void count_users(Greedy *g, uint64_t labels, int by) {
  for (uint32_t k = 0; k < ORDER_LABELS; k++)
    if (labels >> k & 1) g->users[k] = (uint8_t)(g->users[k] + by);
}

/* The labels of the product of x and y. */
static uint64_t pair_out(const Greedy *g, uint32_t x, uint32_t y) {
  uint64_t a = g->live[x].labels, b = g->live[y].labels, others = 0;
  for (uint32_t k = 0; (a | b) >> k; k++)
    if (g->users[k] > (a >> k & 1) + (b >> k & 1)) others |= (uint64_t)1 << k;
  return kept(g->p, a | b, others);
}

/* Lower is better: the growth in elements, or in operations; with a little noise in all but the first tries. */
static double pair_score(Greedy *g, uint32_t x, uint32_t y) {
  uint64_t a = g->live[x].labels, b = g->live[y].labels;
  double score = order_points(g->p, a | b);
  if (g->try % 3 != 1)
    score = order_points(g->p, pair_out(g, x, y)) - order_points(g->p, a) - order_points(g->p, b);
  if (g->try > 1) score += fabs(score) * (double)(dice(&g->seed) % 1000) / 1000.0;
  return score;
}

/* With many operands only those that share a label are considered, and neighbours, so that there always is a pair. */
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
  order_finish(g->p, t);
}

/* ---- improvement ----------------------------------------------------------------------------- */

enum { MEND = 8, MEND_WORK = 6561, ROUNDS = 12 };

/* Copies node i of `from` and all nodes below it, children first; returns the copy's number. */
static uint32_t copy_below(const OrderProblem *p, const OrderTree *from, uint32_t i, OrderTree *to, uint32_t *n) {
  if (i < p->n) return i;
  uint32_t left = copy_below(p, from, from->node[i].left, to, n); /* ORDER_OPERANDS deep at most */
  uint32_t right = copy_below(p, from, from->node[i].right, to, n);
  to->node[*n] = (OrderNode){.left = left, .right = right};
  return (*n)++;
}

/* The part of a tree at its root: steps, and the subtrees below them. */
typedef struct Crown { uint32_t n, n_steps, below[MEND], step[MEND]; } Crown;

static void crown_step(const OrderTree *t, Crown *c, uint32_t i) {
  c->step[c->n_steps++] = i;
  c->below[c->n++] = t->node[i].left;
  c->below[c->n++] = t->node[i].right;
}

/* Collects the most expensive steps below i. */
static Crown crown_of(const OrderProblem *p, const OrderTree *t, uint32_t i) {
  Crown c = {0};
  crown_step(t, &c, i);
  while (c.n < MEND) {
    uint32_t most = MEND;
    double ops = -1;
    for (uint32_t k = 0; k < c.n; k++) {
      const OrderNode *x = &t->node[c.below[k]];
      if (c.below[k] < p->n || step_ops(x->space, x->labels) * order_points(p, x->space) <= ops) continue;
      ops = step_ops(x->space, x->labels) * order_points(p, x->space);
      most = k;
    }
    if (most == MEND) break;
    uint32_t down = c.below[most];
    c.below[most] = c.below[--c.n];
    crown_step(t, &c, down);
  }
  return c;
}

/* The order of the crown as a problem of its own. */
static OrderProblem crown_problem(const OrderProblem *p, const OrderTree *t, const Crown *c, uint32_t i) {
  OrderProblem part = {
      .n = c->n, .out = t->node[i].labels, .keep = t->node[i].labels, .store = p->store, .copy = p->copy};
  if (i + 1 == t->n) part.keep = p->keep, part.last = p->last;
  memcpy(part.size, p->size, sizeof part.size);
  for (uint32_t k = 0; k < c->n; k++) {
    uint32_t below = c->below[k];
    part.operand[k] = t->node[below].labels;
    memcpy(part.axis[k], t->node[below].axis, sizeof part.axis[k]);
    if (below >= p->n || t->node[below].space != t->node[below].labels || p->made >> below & 1)
      part.made |= (uint64_t)1 << k;
  }
  return part;
}

/* Puts the crown of step i into its best order; false: it has that already. */
static bool mend_step(const OrderProblem *p, OrderTree *t, uint32_t i) {
  Crown c = crown_of(p, t, i);
  if (c.n < 3) return false;
  OrderProblem part = crown_problem(p, t, &c, i);
  OrderTree best = {0}, other = *t, mended = {0};
  order_exact(&part, &best);
  uint32_t to[2 * MEND], n = p->n; /* the crown's nodes: the subtrees below, then its steps, the last of them i */
  for (uint32_t k = 0; k < c.n; k++) to[k] = c.below[k];
  for (uint32_t k = 0; k < c.n_steps; k++) to[c.n + k] = c.step[c.n_steps - 1 - k];
  for (uint32_t k = c.n; k < best.n; k++)
    other.node[to[k]] = (OrderNode){.left = to[best.node[k].left], .right = to[best.node[k].right]};
  copy_below(p, &other, t->n - 1, &mended, &n);
  order_finish(p, &mended);
  if (!(mended.cost < t->cost * (1 - 1e-12))) return false;
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

/* Greedy trees, each improved by putting parts of up to MEND operands into their best order. */
static void order_greedy(const OrderProblem *p, int64_t *budget, OrderTree *out) {
  Greedy g = {.p = p, .seed = 0x9E3779B97F4A7C15u};
  for (; g.try < TRIES && (g.try < 2 || *budget > 0); g.try++) {
    OrderTree t = {0};
    greedy_tree(&g, &t);
    *budget -= 4 * (int64_t)p->n * p->n * p->n;
    if (g.try < TRIES / 3) mend(p, budget, &t);
    if (g.try && (t.cost > out->cost || (t.cost == out->cost && t.largest >= out->largest))) continue;
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
