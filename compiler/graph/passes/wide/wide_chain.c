/* graph/passes/wide/wide_chain.c - chains: operands in a row, each of which shares labels only with its neighbours.
 * In: a problem. Out: its best tree among those that combine neighbours, by the textbook's dynamic program over
 * intervals; or that it is no chain. */
#include "wide.h"

#include <math.h>

enum { CHAIN_MOST = 2000 };

typedef struct Chain {
  const WideProblem *p;
  uint32_t *place;           /* by place in the row: the operand */
  double *next, *open;       /* the points of the labels that it shares with the next one, and of those that it keeps */
  double *cost;              /* by stretch */
  uint32_t *cut;
} Chain;

/* The operands with which each shares labels: at most two. False: more, or a label that three have. */
typedef struct Beside { uint32_t n, of[2]; } Beside;

static bool beside_add(Beside *b, uint32_t i) {
  if (b->n && b->of[0] == i) return true;
  if (b->n == 2) return b->of[1] == i;
  b->of[b->n++] = i;
  return true;
}

static bool besides_find(const WideProblem *p, uint32_t *first, Beside *beside) {
  for (uint32_t i = 0; i < p->n; i++)
    for (uint32_t k = 0; k < p->operand[i].len; k++) {
      uint32_t l = p->operand[i].at[k].label, j = first[l] - 1;
      if (p->users[l] > 2 || (p->users[l] > 1 && p->keep[l])) return false;
      if (!first[l]) first[l] = i + 1;
      else if (!beside_add(&beside[i], j) || !beside_add(&beside[j], i)) return false;
    }
  return true;
}

/* Walks from one end to the other; false: some are not on the way. */
static bool row_walk(const WideProblem *p, const Beside *beside, uint32_t *place) {
  uint32_t i = 0, n = 0, before = UINT32_MAX;
  while (i < p->n && beside[i].n > 1) i++;
  for (; i < p->n; n++) {
    const Beside *b = &beside[i];
    place[n] = i;
    uint32_t next = b->n && b->of[0] != before ? b->of[0] : b->n == 2 ? b->of[1] : UINT32_MAX;
    before = i;
    i = next;
  }
  return n == p->n;
}

static void sizes_find(Chain *c) {
  const WideProblem *p = c->p;
  for (uint32_t k = 0; k < p->n; k++) {
    const WideLabels *x = &p->operand[c->place[k]];
    c->next[k] = c->open[k] = 1;
    for (uint32_t j = 0; j < x->len; j++) {
      uint32_t l = x->at[j].label;
      if (p->keep[l]) c->open[k] *= p->size[l];
      if (p->users[l] == 1 || k + 1 == p->n) continue;
      const WideLabels *y = &p->operand[c->place[k + 1]];
      for (uint32_t i = 0; i < y->len; i++)
        if (y->at[i].label == l) c->next[k] *= p->size[l];
    }
  }
}

/* The points of the interval from i to j: those that it keeps, times those that it shares with its surroundings. */
static double stretch_points(const Chain *c, const double *open, uint32_t i, uint32_t j) {
  return open[j + 1] / open[i] * (i ? c->next[i - 1] : 1) * c->next[j];
}

static void stretches(Chain *c, uint32_t n) {
  Arena *a = arena_new();
  double *open = NEW_ARRAY(a, double, n + 1); /* of all before */
  open[0] = 1;
  for (uint32_t k = 0; k < n; k++) open[k + 1] = open[k] * c->open[k];
  for (uint32_t len = 1; len < n; len++)
    for (uint32_t i = 0; i + len < n; i++) {
      uint32_t j = i + len, cut = i;
      double best = (double)INFINITY, out = stretch_points(c, open, i, j);
      for (uint32_t k = i; k < j; k++) { /* i..k and k+1..j */
        double space = out * c->next[k],
               cost = c->cost[i * n + k] + c->cost[(k + 1) * n + j] + (c->next[k] > 1 ? 2 : 1) * space;
        if (cost < best) best = cost, cut = k;
      }
      c->cut[i * n + j] = cut;
      c->cost[i * n + j] = best + (len + 1 < n ? (double)WIDE_STORE * out : 0);
    }
  arena_free(a);
}

/* Adds the steps of an interval: first itself, then its parts, so that later ones come first. */
static WideTree chain_tree(Arena *a, Arena *scratch, const Chain *c, uint32_t n) {
  typedef struct Stretch { uint32_t i, j, node; } Stretch;
  WideTree t = wide_leaves(a, c->p);
  VEC(Stretch) todo = {0};
  uint32_t next = t.root;
  vec_push(scratch, todo, ((Stretch){0, n - 1, next--}));
  while (todo.len) {
    Stretch s = vec_pop(todo);
    uint32_t cut = c->cut[s.i * n + s.j];
    uint32_t left = s.i == cut ? c->place[cut] : next--;
    uint32_t right = cut + 1 == s.j ? c->place[s.j] : next--;
    t.node[s.node].left = left;
    t.node[s.node].right = right;
    if (s.i != cut) vec_push(scratch, todo, ((Stretch){s.i, cut, left}));
    if (cut + 1 != s.j) vec_push(scratch, todo, ((Stretch){cut + 1, s.j, right}));
  }
  for (uint32_t k = c->p->n; k < t.n; k++) wide_step(a, c->p, &t, k, t.node[k].left, t.node[k].right);
  wide_count(c->p, &t);
  return t;
}

bool wide_chain(Arena *a, const WideProblem *p, int64_t *budget, WideTree *out) {
  Arena *s = arena_new();
  uint32_t n = p->n;
  int64_t work = (int64_t)n * n * n / 6;
  Chain c = {
      .p = p, .place = NEW_ARRAY(s, uint32_t, n), .next = NEW_ARRAY(s, double, n), .open = NEW_ARRAY(s, double, n)};
  Beside *beside = NEW_ARRAY(s, Beside, n);
  bool is = n <= CHAIN_MOST && work <= *budget && besides_find(p, NEW_ARRAY(s, uint32_t, p->n_label + 1), beside) &&
      row_walk(p, beside, c.place);
  if (is) {
    *budget -= work;
    c.cost = NEW_ARRAY(s, double, (size_t)n * n);
    c.cut = NEW_ARRAY(s, uint32_t, (size_t)n * n);
    sizes_find(&c);
    stretches(&c, n);
    *out = chain_tree(a, s, &c, n);
  }
  arena_free(s);
  return is;
}
