/* graph/passes/wide/wide_mend.c - puts parts of a tree into their best order. In: a tree, and the maximum number of
 * operands of a part. Out: a tree that costs no more. The subtrees below a part, and its result, stay as they are;
 * so only its own steps are counted. */
#include "wide.h"

#include <math.h>

typedef struct Crown { uint32_t n, n_steps, below[WIDE_PART], step[WIDE_PART]; } Crown; /* step: its root first */

typedef struct Mend {
  Arena *arena;
  const WideProblem *p;
  WideTree *t;
  uint32_t *mask;            /* by label: those of the crown's operands that have it; */
  bool *stays;               /*   it comes out of the crown; */
  VEC(uint32_t) met;         /*   labels that have a mask */
  double *space;             /* by set of operands: the points of all their labels, */
  double *inner;             /* of those that no other operand has and that are not in the result, */
  double *over;              /*   1 / inner, */
  double *cost;              /*   of the best order, */
  uint32_t *left;            /*   and its first part */
} Mend;

static void crown_step(const WideTree *t, Crown *c, uint32_t i) {
  c->step[c->n_steps++] = i;
  c->below[c->n++] = t->node[i].left;
  c->below[c->n++] = t->node[i].right;
}

/* Collects the most expensive steps below i. */
static Crown crown_of(const Mend *m, uint32_t i, uint32_t part) {
  const WideTree *t = m->t;
  Crown c = {0};
  crown_step(t, &c, i);
  while (c.n < part) {
    uint32_t most = part;
    double ops = -1;
    for (uint32_t k = 0; k < c.n; k++) {
      if (c.below[k] < m->p->n || t->node[c.below[k]].space <= ops) continue;
      ops = t->node[c.below[k]].space;
      most = k;
    }
    if (most == part) break;
    uint32_t down = c.below[most];
    c.below[most] = c.below[--c.n];
    crown_step(t, &c, down);
  }
  return c;
}

/* x[set] becomes the product over its subsets. */
static void products_within(double *x, uint32_t n) {
  for (uint32_t bit = 1; bit < 1u << n; bit *= 2)
    for (uint32_t set = 0; set < 1u << n; set++)
      if (set & bit) x[set] *= x[set ^ bit];
}

/* Merges labels with the same mask. False: the sizes are too large to be divided again. */
static bool tables_make(Mend *m, const Crown *c, uint32_t root) {
  const WideNode *node = m->t->node;
  uint32_t all = (1u << c->n) - 1;
  for (uint32_t set = 0; set <= all; set++) m->space[set] = m->inner[set] = 1;
  m->met.len = 0;
  for (uint32_t k = 0; k < c->n; k++) {
    const WideLabels *l = &node[c->below[k]].out;
    for (uint32_t j = 0; j < l->len; j++) {
      if (!m->mask[l->at[j].label]) vec_push(m->arena, m->met, l->at[j].label);
      m->mask[l->at[j].label] |= 1u << k;
    }
  }
  for (uint32_t j = 0; j < node[root].out.len; j++) m->stays[node[root].out.at[j].label] = true;
  for (uint32_t j = 0; j < m->met.len; j++) {
    uint32_t l = m->met.at[j];
    m->space[m->mask[l]] *= m->p->size[l];
    if (!m->stays[l]) m->inner[m->mask[l]] *= m->p->size[l];
    m->mask[l] = 0;
    m->stays[l] = false;
  }
  products_within(m->space, c->n);
  products_within(m->inner, c->n);
  double whole = m->space[all];
  for (uint32_t set = 0; set <= all / 2; set++) { /* the labels that no operand outside the set has */
    double x = m->space[set], y = m->space[all ^ set];
    m->space[all ^ set] = whole / x;
    m->space[set] = whole / y;
  }
  for (uint32_t set = 0; set <= all; set++) m->over[set] = 1 / m->inner[set];
  return whole < 1e300;
}

static void best_split(Mend *m, uint32_t set, bool whole) {
  uint32_t low = set & (0 - set), rest = set ^ low;
  double space = m->space[set], out = space * m->over[set], best = (double)INFINITY;
  for (uint32_t right = rest; right; right = (right - 1) & rest) {
    uint32_t left = set ^ right;
    double cost = m->cost[left] + m->cost[right];
    if (cost >= best) continue;
    double points = space * m->over[left] * m->over[right];
    cost += points > out * (1 + 1e-9) ? 2 * points : points;
    if (cost < best) best = cost, m->left[set] = left;
  }
  m->cost[set] = best + (whole ? 0 : (double)WIDE_STORE * out);
}

static double cost_now(const Mend *m, const Crown *c) {
  double cost = 0;
  for (uint32_t k = 0; k < c->n_steps; k++) {
    const WideNode *x = &m->t->node[c->step[k]];
    cost += wide_step_ops(x) + (k ? (double)WIDE_STORE * x->points : 0);
  }
  return cost;
}

/* Stores the set's steps in place of the old ones; returns the last. */
static uint32_t put_back(Mend *m, const Crown *c, uint32_t set, uint32_t *next) {
  uint32_t k = 0, at = *next;
  if (!(set & (set - 1))) {
    while (!(set >> k & 1)) k++;
    return c->below[k];
  }
  ++*next;
  uint32_t left = put_back(m, c, m->left[set], next); /* WIDE_PART deep at most */
  uint32_t right = put_back(m, c, set ^ m->left[set], next);
  wide_step(m->arena, m->p, m->t, c->step[at], left, right);
  return c->step[at];
}

static bool mend_step(Mend *m, uint32_t i, uint32_t part, int64_t *budget) {
  Crown c = crown_of(m, i, part);
  uint32_t all = (1u << c.n) - 1, next = 0;
  if (c.n < 3) return false;
  double now = cost_now(m, &c);
  *budget -= 100;
  if (!tables_make(m, &c, i)) return false;
  for (uint32_t set = 1; set <= all; set++) {
    if (set & (set - 1)) best_split(m, set, set == all);
    else m->cost[set] = 0;
  }
  int64_t work = 1;
  for (uint32_t k = 0; k < c.n; k++) work *= 3;
  *budget -= work / 2;
  if (!(m->cost[all] < now * (1 - 1e-9))) return false;
  put_back(m, &c, all, &next);
  return true;
}

bool wide_mend(Arena *a, const WideProblem *p, uint32_t part, int64_t *budget, WideTree *t) {
  Arena *scratch = arena_new();
  uint32_t *steps = NEW_ARRAY(scratch, uint32_t, p->n), sets = 1u << part;
  bool better = false;
  Mend m = {.arena = a, .p = p, .t = t, .mask = NEW_ARRAY(scratch, uint32_t, p->n_label + 1),
      .stays = NEW_ARRAY(scratch, bool, p->n_label + 1), .space = NEW_ARRAY(scratch, double, sets),
      .inner = NEW_ARRAY(scratch, double, sets), .over = NEW_ARRAY(scratch, double, sets),
      .cost = NEW_ARRAY(scratch, double, sets), .left = NEW_ARRAY(scratch, uint32_t, sets)};
  wide_steps(scratch, p, t, steps);
  for (uint32_t k = 0; k + 1 < p->n && *budget > 0; k++) better |= mend_step(&m, steps[k], part, budget);
  wide_count(p, t);
  arena_free(scratch);
  return better;
}
