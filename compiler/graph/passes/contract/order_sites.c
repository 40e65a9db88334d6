/* graph/passes/contract/order_sites.c - orders of contraction by what they move on many sites, where each label is
 * cut into the same number of blocks throughout the product.
 *
 * In: a problem and the best order on one site. Out: the order that moves least, over all grids of sites: copies of
 * operands along the cut labels that they lack, and for each step that reduces a cut label all of its parts but one.
 * Work counts too: a step that lacks a cut label is repeated along it. This is an estimate, since a plan may cut
 * each step differently; the planner plans both orders, and takes the better one. */
#include <math.h>

#include "order.h"

enum { GRID_OPERANDS = 8, GRID_WORK = 4000000, PRIMES = 32 };
#define WORK_MORE 1.5          /* times the work of the best order, over all sites, is acceptable for fewer moves */

typedef struct Split { double moved, work; uint32_t left; uint64_t labels; } Split;

typedef struct Grids {
  const OrderProblem *p;
  uint32_t n_prime, prime[PRIMES]; /* prime factors of the number of sites, with repetition, largest first */
  double cut[ORDER_LABELS];  /* for the current grid: into how many blocks a label is cut */
  uint32_t label[PRIMES];    /*   and which a prime cuts */
  uint64_t all;              /* labels of operands */
  Split *best;               /* by set of operands */
  double moved, work, limit; /* of the best order so far; the limit on work */
  int64_t left;
  OrderTree *tree;
} Grids;

static double cuts_of(const Grids *g, uint64_t labels) {
  double n = 1;
  for (uint32_t k = 0; labels; k++, labels >>= 1)
    if (labels & 1) n *= g->cut[k];
  return n;
}

/* What arrives at sites beyond one copy of the operands. */
static double copies_moved(const Grids *g) {
  double all = 0;
  for (uint32_t k = 0; k < g->p->n; k++) {
    uint64_t labels = g->p->operand[k];
    all += order_points(g->p, labels) * (cuts_of(g, g->all & ~labels) - 1);
  }
  return all;
}

/* A step's own cost: parts of its result, and operations on all sites. */
static Split step_of(const Grids *g, uint64_t space, uint64_t out) {
  double again = cuts_of(g, g->all & ~space);
  return (Split){.moved = order_points(g->p, out) * (cuts_of(g, space & ~out) - 1),
      .work = order_points(g->p, space) * (space == out ? 1 : 2) * again};
}

static void split_best(Grids *g, uint32_t set, bool whole) {
  Split *b = &g->best[set];
  uint32_t low = set & (0 - set), rest = set ^ low;
  b->moved = b->work = (double)INFINITY;
  for (uint32_t sub = rest; sub; sub = (sub - 1) & rest) {
    const Split *x = &g->best[low | (rest & ~sub)], *y = &g->best[sub];
    Split s = step_of(g, x->labels | y->labels | (whole ? g->p->last : 0), b->labels);
    double moved = x->moved + y->moved + s.moved, work = x->work + y->work + s.work;
    if (work > g->limit || moved > b->moved || (moved == b->moved && work >= b->work)) continue;
    *b = (Split){moved, work, low | (rest & ~sub), b->labels};
  }
}

static uint32_t tree_add(const Grids *g, uint32_t set, OrderTree *t, uint32_t *n) {
  if (!(set & (set - 1))) {
    uint32_t k = 0;
    while (!(set >> k & 1)) k++;
    return k;
  }
  uint32_t left = tree_add(g, g->best[set].left, t, n); /* GRID_OPERANDS deep at most */
  uint32_t right = tree_add(g, set ^ g->best[set].left, t, n);
  t->node[*n] = (OrderNode){.left = left, .right = right};
  return (*n)++;
}

/* Finds the best order for the current grid, whose operands move this much. */
static void grid_try(Grids *g, double moved) {
  const OrderProblem *p = g->p;
  uint32_t all = (1u << p->n) - 1, n = p->n;
  for (uint32_t set = 1; set <= all; set++) {
    Split *b = &g->best[set];
    uint64_t have = order_union(p, set);
    b->labels = set == all ? p->out : have & (order_union(p, all ^ set) | p->keep);
    if (set & (set - 1)) {
      split_best(g, set, set == all);
    } else {
      *b = (Split){.labels = b->labels};
      if (have != b->labels) *b = step_of(g, have, b->labels), b->labels = have & (order_union(p, all ^ set) | p->keep);
    }
  }
  moved += g->best[all].moved;
  if (!(moved < g->moved * (1 - 1e-9)) && !(moved <= g->moved * (1 + 1e-9) && g->best[all].work < g->work)) return;
  g->moved = moved;
  g->work = g->best[all].work;
  tree_add(g, all, g->tree, &n);
}

/* Tries all grids, prime by prime; equal primes go to labels in increasing order. */
static void grids_walk(Grids *g, uint32_t k) {
  const OrderProblem *p = g->p;
  double moved = copies_moved(g);
  g->left -= p->n;
  if (g->left < 0 || moved > g->moved) return;
  if (k == g->n_prime) {
    uint32_t work = 1;
    for (uint32_t i = 0; i < p->n; i++) work *= 3;
    g->left -= work;
    grid_try(g, moved);
    return;
  }
  uint32_t first = k && g->prime[k] == g->prime[k - 1] ? g->label[k - 1] : 0;
  for (uint32_t l = first; l < ORDER_LABELS; l++) {
    if (!(g->all >> l & 1) || g->cut[l] * g->prime[k] > p->size[l]) continue;
    g->label[k] = l;
    g->cut[l] *= g->prime[k];
    grids_walk(g, k + 1); /* PRIMES deep at most */
    g->cut[l] /= g->prime[k];
  }
}

static void primes_find(Grids *g, int64_t sites) {
  uint32_t found[PRIMES];
  for (int64_t d = 2; sites > 1 && g->n_prime < PRIMES; d++) {
    if (d * d > sites) d = sites;
    for (; sites % d == 0 && g->n_prime < PRIMES; sites /= d) found[g->n_prime++] = (uint32_t)d;
  }
  for (uint32_t k = 0; k < g->n_prime; k++) g->prime[k] = found[g->n_prime - 1 - k];
}

bool order_on_sites(const OrderProblem *p, int64_t sites, OrderTree *t) {
  OrderTree made = {0};
  if (p->n < 3 || p->n > GRID_OPERANDS) return false;
  Arena *a = arena_new();
  Grids g = {.p = p, .moved = (double)INFINITY, .work = (double)INFINITY, .limit = WORK_MORE * t->ops,
      .left = GRID_WORK, .tree = &made, .all = order_union(p, (1u << p->n) - 1),
      .best = NEW_ARRAY(a, Split, 1u << p->n)};
  for (uint32_t k = 0; k < ORDER_LABELS; k++) g.cut[k] = 1;
  primes_find(&g, sites);
  grids_walk(&g, 0);
  arena_free(a);
  if (g.moved == (double)INFINITY) return false;
  order_finish(p, &made);
  *t = made;
  return true;
}
