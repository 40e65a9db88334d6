/* graph/passes/wide/wide.c - orders of contraction for many operands and labels: trees, found greedily; see wide.h. */
#include "wide.h"

#include <math.h>

/* ---- trees ----------------------------------------------------------------------------------- */

double wide_step_ops(const WideNode *x) {
  return x->space * (x->space > x->points * (1 + 1e-9) ? 2 : 1);
}

/* A label is reduced where all operands that have it are below. */
static bool is_over(const WideProblem *p, WideLabel l) {
  return l.below == p->users[l.label] && !p->keep[l.label];
}

static const WideLabel *labels_end(const WideLabels *l) {
  return l->len ? l->at + l->len : l->at;
}

/* What two nodes make, and the points of the step. Returns the result's points. `out` NULL: only these are needed. */
static double wide_join(
    Arena *a, const WideProblem *p, const WideNode *x, const WideNode *y, WideLabels *out, double *space) {
  const WideLabel *at = x->out.at, *bt = y->out.at, *a_end = labels_end(&x->out), *b_end = labels_end(&y->out);
  double points = 1;
  *space = 1;
  if (out) out->len = 0;
  while (at < a_end || bt < b_end) {
    WideLabel l;
    if (bt == b_end || (at < a_end && at->label < bt->label)) l = *at++;
    else if (at == a_end || bt->label < at->label) l = *bt++;
    else l = (WideLabel){at->label, at->below + bt->below}, at++, bt++;
    *space *= p->size[l.label];
    if (is_over(p, l)) continue;
    points *= p->size[l.label];
    if (out) vec_push(a, *out, l);
  }
  return points;
}

WideTree wide_leaves(Arena *a, const WideProblem *p) {
  static const WideNode nothing = {0};
  WideTree t = {.n = 2 * p->n - 1, .root = 2 * p->n - 2, .node = NEW_ARRAY(a, WideNode, 2 * p->n)};
  for (uint32_t i = 0; i < p->n; i++) {
    WideNode *x = &t.node[i], own = {.out = {p->operand[i].at, p->operand[i].len, p->operand[i].len}};
    x->points = wide_join(a, p, &own, &nothing, &x->out, &x->space);
  }
  return t;
}

void wide_step(Arena *a, const WideProblem *p, WideTree *t, uint32_t i, uint32_t left, uint32_t right) {
  WideNode *x = &t->node[i];
  x->left = left;
  x->right = right;
  x->points = wide_join(a, p, &t->node[left], &t->node[right], &x->out, &x->space);
}

void wide_count(const WideProblem *p, WideTree *t) {
  t->ops = t->cost = 0;
  for (uint32_t i = 0; i < t->n; i++) {
    const WideNode *x = &t->node[i];
    bool reduced = x->space > x->points * (1 + 1e-9);
    if (i >= p->n) t->ops += wide_step_ops(x);
    else if (reduced) t->ops += x->space;
    if (i != t->root && (i >= p->n || reduced)) t->cost += (double)WIDE_STORE * x->points;
  }
  t->cost += t->ops;
}

void wide_steps(Arena *scratch, const WideProblem *p, const WideTree *t, uint32_t *steps) {
  VEC(uint32_t) stack = {0};
  uint32_t n = p->n - 1;
  vec_push(scratch, stack, t->root);
  while (stack.len) { /* in reverse: each before its parts */
    uint32_t i = vec_pop(stack);
    if (i < p->n) continue;
    steps[--n] = i;
    vec_push(scratch, stack, t->node[i].left);
    vec_push(scratch, stack, t->node[i].right);
  }
}

/* ---- greedy search --------------------------------------------------------------------------- */

enum { TRIES = 48, MENDED = 6, NEAR = 8 };

typedef struct Pair { double score, space; uint32_t x, y; } Pair;
typedef VEC(uint32_t) Nodes;

typedef struct Greedy {
  Arena *arena;
  const WideProblem *p;
  WideTree t;
  VEC(Pair) heap;
  Nodes *users;              /* by label: nodes that have it, or had it */
  bool *gone;                /* by node */
  uint32_t *met;             /* by node: the last one that it was paired with */
  uint32_t left;             /* nodes that are not gone */
  double weight, noise;      /* the weight of the two parts' points against the result's; of chance */
  uint64_t seed;
  int64_t work;
} Greedy;

static double dice(Greedy *g) {
  g->seed = g->seed * 6364136223846793005u + 1442695040888963407u;
  return (double)(g->seed >> 40) / 16777216.0;
}

static bool is_before(const Pair *a, const Pair *b) {
  if (a->score < b->score || a->score > b->score) return a->score < b->score;
  if (a->space < b->space || a->space > b->space) return a->space < b->space;
  return a->x != b->x ? a->x < b->x : a->y < b->y;
}

static void heap_push(Greedy *g, Pair q) {
  vec_push(g->arena, g->heap, q);
  uint32_t i = g->heap.len - 1;
  for (; i && is_before(&q, &g->heap.at[(i - 1) / 2]); i = (i - 1) / 2) g->heap.at[i] = g->heap.at[(i - 1) / 2];
  g->heap.at[i] = q;
}

static Pair heap_pop(Greedy *g) {
  Pair top = g->heap.at[0], q = vec_pop(g->heap);
  uint32_t i = 0, n = g->heap.len;
  for (uint32_t k = 1; k < n; i = k, k = 2 * k + 1) {
    if (k + 1 < n && is_before(&g->heap.at[k + 1], &g->heap.at[k])) k++;
    if (!is_before(&g->heap.at[k], &q)) break;
    g->heap.at[i] = g->heap.at[k];
  }
  if (n) g->heap.at[i] = q;
  return top;
}

/* Lower is better: the growth in elements. Sizes beyond the range of doubles come last. */
static void pair_push(Greedy *g, uint32_t x, uint32_t y) {
  const WideNode *a = &g->t.node[x], *b = &g->t.node[y];
  Pair q = {.x = x, .y = y};
  double points = wide_join(NULL, g->p, a, b, NULL, &q.space), parts = g->weight * (a->points + b->points);
  q.score = isinf(points) ? points : points - parts;
  if (g->noise > 0 && !isinf(q.score)) q.score += fabs(q.score) * g->noise * dice(g);
  g->work += 8 + a->out.len + b->out.len;
  heap_push(g, q);
}

/* Pairs it with the latest nodes that share a label; with a limited number of those that share the same. */
static void node_add(Greedy *g, uint32_t i) {
  const WideLabels *out = &g->t.node[i].out;
  for (uint32_t k = 0; k < out->len; k++) {
    Nodes *users = &g->users[out->at[k].label];
    uint32_t n = 0;
    for (uint32_t j = 0; j < users->len; j++)
      if (!g->gone[users->at[j]]) users->at[n++] = users->at[j];
    g->work += users->len;
    users->len = n;
    for (uint32_t j = n > NEAR ? n - NEAR : 0; j < n; j++) {
      uint32_t other = users->at[j];
      if (g->met[other] != i + 1) pair_push(g, other, i);
      g->met[other] = i + 1;
    }
    vec_push(g->arena, *users, i);
  }
}

static void put_together(Greedy *g, uint32_t made, uint32_t x, uint32_t y) {
  g->gone[x] = g->gone[y] = true;
  wide_step(g->arena, g->p, &g->t, made, x, y);
  g->left--;
}

/* Combines what shares no labels, the smallest two first. */
static void rest_together(Greedy *g, uint32_t made) {
  g->heap.len = 0;
  for (uint32_t i = 0; i < made; i++)
    if (!g->gone[i]) heap_push(g, (Pair){.score = g->t.node[i].points, .x = i});
  for (; g->left > 1; made++) {
    Pair a = heap_pop(g), b = heap_pop(g);
    put_together(g, made, a.x, b.x);
    heap_push(g, (Pair){.score = g->t.node[made].points, .x = made});
  }
}

static void greedy_begin(Greedy *g) {
  const WideProblem *p = g->p;
  g->t = wide_leaves(g->arena, p);
  g->users = NEW_ARRAY(g->arena, Nodes, p->n_label + 1);
  g->gone = NEW_ARRAY(g->arena, bool, 2 * p->n);
  g->met = NEW_ARRAY(g->arena, uint32_t, 2 * p->n);
  g->left = p->n;
}

static WideTree greedy_tree(Greedy *g) {
  const WideProblem *p = g->p;
  uint32_t made = p->n;
  greedy_begin(g);
  for (uint32_t i = 0; i < p->n; i++) node_add(g, i);
  while (g->heap.len && g->left > 1) {
    Pair q = heap_pop(g);
    if (g->gone[q.x] || g->gone[q.y]) continue;
    put_together(g, made, q.x, q.y);
    node_add(g, made++);
  }
  rest_together(g, made);
  wide_count(p, &g->t);
  return g->t;
}

/* ---- by sweeps ------------------------------------------------------------------------------- */

/* Of the operands that share a label with node x, the one whose product with x is smallest; ties: the first written. */
static uint32_t sweep_next(Greedy *g, uint32_t x, uint32_t stamp) {
  const WideLabels *out = &g->t.node[x].out;
  uint32_t best = UINT32_MAX;
  double least = 0, space;
  for (uint32_t k = 0; k < out->len; k++) {
    const Nodes *users = &g->users[out->at[k].label];
    for (uint32_t j = 0; j < users->len; j++) {
      uint32_t y = users->at[j];
      if (g->gone[y] || g->met[y] == stamp) continue;
      g->met[y] = stamp;
      double points = wide_join(NULL, g->p, &g->t.node[x], &g->t.node[y], NULL, &space);
      g->work += 8 + out->len;
      if (best == UINT32_MAX || points < least || (points <= least && y < best)) best = y, least = points;
    }
    g->work += users->len;
  }
  return best;
}

/* Adds one operand after the other, beginning with `start`: a front that sweeps over the network. */
static WideTree sweep_tree(Greedy *g, uint32_t start) {
  const WideProblem *p = g->p;
  uint32_t made = p->n, x = start, y;
  greedy_begin(g);
  for (uint32_t i = 0; i < p->n; i++)
    for (uint32_t k = 0; k < g->t.node[i].out.len; k++) vec_push(g->arena, g->users[g->t.node[i].out.at[k].label], i);
  g->gone[x] = true;
  while ((y = sweep_next(g, x, made)) != UINT32_MAX) {
    put_together(g, made, x, y);
    g->gone[x = made++] = true;
  }
  g->gone[x] = false;
  rest_together(g, made);
  wide_count(p, &g->t);
  return g->t;
}

/* ---- the best -------------------------------------------------------------------------------- */

static WideTree tree_copy(Arena *a, const WideProblem *p, const WideTree *from) {
  Arena *scratch = arena_new();
  uint32_t *steps = NEW_ARRAY(scratch, uint32_t, p->n);
  WideTree t = wide_leaves(a, p);
  wide_steps(scratch, p, from, steps);
  for (uint32_t k = 0; k + 1 < p->n; k++)
    wide_step(a, p, &t, steps[k], from->node[steps[k]].left, from->node[steps[k]].right);
  t.root = from->root;
  wide_count(p, &t);
  arena_free(scratch);
  return t;
}

/* The best so far, in order. */
typedef struct Bests { uint32_t n; WideTree tree[MENDED]; } Bests;

static void bests_add(Arena *a, const WideProblem *p, Bests *b, const WideTree *t) {
  uint32_t at = b->n;
  while (at && t->cost < b->tree[at - 1].cost) at--;
  if (at == MENDED) return;
  if (b->n < MENDED) b->n++;
  for (uint32_t k = b->n - 1; k > at; k--) b->tree[k] = b->tree[k - 1];
  b->tree[at] = tree_copy(a, p, t);
}

static void greedy_trees(Arena *a, const WideProblem *p, int64_t *budget, Bests *b) {
  static const double weights[] = {1, 1, 0.5, 2}, noises[] = {0, 0.05, 0.2, 0.5, 1, 2};
  uint64_t seed = 0x9E3779B97F4A7C15u;
  int64_t most = *budget / 3;
  for (uint32_t k = 0; k < TRIES && (!k || most > 0); k++) {
    Greedy g = {.arena = arena_new(),
        .p = p,
        .seed = seed,
        .weight = weights[k % COUNT(weights)],
        .noise = noises[k % COUNT(noises)]};
    WideTree t =
        k % 4 == 3 ? sweep_tree(&g, k < 8 ? (k / 4) * (p->n - 1) : (uint32_t)(dice(&g) * p->n)) : greedy_tree(&g);
    bests_add(a, p, b, &t);
    seed = g.seed + k;
    most -= g.work;
    *budget -= g.work;
    arena_free(g.arena);
  }
}

WideTree wide_best(Arena *a, const WideProblem *p, int64_t *budget) {
  WideTree best;
  Bests b = {0};
  BUG_UNLESS(p->n >= 2 && p->n <= WIDE_OPERANDS);
  if (wide_chain(a, p, budget, &best)) return best;
  greedy_trees(a, p, budget, &b);
  best = b.tree[0];
  for (uint32_t k = 0; k < b.n; k++) {
    int64_t share = *budget / (2 * (b.n - k)), rest = *budget - share;
    while (share > 0 && wide_mend(a, p, 8, &share, &b.tree[k])) {}
    *budget = rest + share;
    if (b.tree[k].cost < best.cost) best = b.tree[k];
  }
  for (uint32_t part = 10; part <= WIDE_PART; part += 2)
    while (*budget > 0 && wide_mend(a, p, part, budget, &best)) {}
  return best;
}
