/* tests/graph/test_wide.c - orders of contraction for networks: against the best of all trees where these can be tried
 * out, the textbook for chains, and rules that hold for any order. */
#include <math.h>

#include "../../compiler/ein.h"
#include "graph/passes/wide/wide.h"
#include "tap.h"

static uint32_t dice(uint32_t n) {
  static uint64_t seed = 1;
  seed = seed * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(seed >> 33) % n;
}

typedef struct Made { WideProblem p; WideLabels *operand; double *size; uint32_t *users; bool *keep; } Made;

static Made made_new(Arena *a, uint32_t n, uint32_t labels) {
  Made m = {.operand = NEW_ARRAY(a, WideLabels, n), .size = NEW_ARRAY(a, double, labels),
            .users = NEW_ARRAY(a, uint32_t, labels), .keep = NEW_ARRAY(a, bool, labels)};
  m.p = (WideProblem){n, labels, m.operand, m.size, m.users, m.keep};
  return m;
}

/* Labels come in order. */
static void has(Arena *a, Made *m, uint32_t operand, uint32_t label) {
  vec_push(a, m->operand[operand], ((WideLabel){label, 1}));
  m->users[label]++;
}

/* ---- the best of all, by subsets ----------------------------------------------------------------- */

static double points_of(const Made *m, uint32_t labels) {
  double points = 1;
  for (uint32_t l = 0; l < m->p.n_label; l++)
    if (labels >> l & 1) points *= m->size[l];
  return points;
}

static uint32_t labels_of(const Made *m, uint32_t set) {
  uint32_t labels = 0;
  for (uint32_t i = 0; i < m->p.n; i++)
    for (uint32_t k = 0; set >> i & 1 && k < m->operand[i].len; k++) labels |= 1u << m->operand[i].at[k].label;
  return labels;
}

static double best_of_all(Arena *a, const Made *m) {
  uint32_t all = (1u << m->p.n) - 1, keep = 0;
  double *best = NEW_ARRAY(a, double, all + 1);
  uint32_t *out = NEW_ARRAY(a, uint32_t, all + 1);
  for (uint32_t l = 0; l < m->p.n_label; l++) keep |= m->keep[l] ? 1u << l : 0;
  for (uint32_t set = 1; set <= all; set++) {
    uint32_t has_labels = labels_of(m, set);
    out[set] = has_labels & (keep | labels_of(m, all ^ set));
    double store = set == all ? 0 : (double)WIDE_STORE * points_of(m, out[set]);
    if (!(set & (set - 1))) { /* an operand's own labels are reduced */
      bool own = points_of(m, out[set]) < points_of(m, has_labels);
      best[set] = own ? points_of(m, has_labels) + store : 0;
      continue;
    }
    best[set] = (double)INFINITY;
    for (uint32_t left = (set - 1) & set; left; left = (left - 1) & set) {
      double space = points_of(m, out[left] | out[set ^ left]);
      best[set] =
          fmin(best[set], best[left] + best[set ^ left] + store + space * (space > points_of(m, out[set]) ? 2 : 1));
    }
  }
  return best[all];
}

static Made random_network(Arena *a, uint32_t n, uint32_t labels) {
  Made m = made_new(a, n, labels);
  for (uint32_t l = 0; l < labels; l++) {
    m.size[l] = 1 + dice(9);
    m.keep[l] = dice(5) == 0;
  }
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t l = 0; l < labels; l++)
      if (dice(labels) < 3) has(a, &m, i, l);
  return m;
}

/* Up to WIDE_PART operands, so that a tree is one part: then mending gives the best. */
static void try_small(void) {
  uint32_t below = 0, above = 0, unlike = 0;
  for (uint32_t k = 0; k < TRIES(300); k++) {
    Arena *a = arena_new();
    Made m = random_network(a, 2 + dice(8), 3 + dice(10));
    int64_t budget = 100000000;
    double best = best_of_all(a, &m);
    WideTree t = wide_best(a, &m.p, &budget), again = t;
    wide_count(&m.p, &again);
    below += t.cost < best * (1 - 1e-9);
    above += t.cost > best * (1 + 1e-9);
    unlike += fabs(again.cost - t.cost) > 1e-9 * t.cost;
    arena_free(a);
  }
  OK_INT(below, 0, "no order costs less than the best of all");
  OK_INT(above, 0, "those of few operands cost no more");
  OK_INT(unlike, 0, "what they cost is said");
}

/* ---- chains ------------------------------------------------------------------------------------------ */

/* The textbook's, for matrices with size[i] rows and size[i + 1] columns. */
static double textbook(Arena *a, const double *size, uint32_t n) {
  double *best = NEW_ARRAY(a, double, (size_t)n * n);
  for (uint32_t len = 2; len <= n; len++)
    for (uint32_t i = 0; i + len <= n; i++) {
      uint32_t j = i + len - 1;
      double least = (double)INFINITY, made = len < n ? (double)WIDE_STORE * size[i] * size[j + 1] : 0;
      for (uint32_t k = i; k < j; k++)
        least = fmin(least, best[i * n + k] + best[(k + 1) * n + j] + 2 * size[i] * size[k + 1] * size[j + 1]);
      best[i * n + j] = least + made;
    }
  return best[n - 1];
}

/* Its matrices in any order, and the labels at its ends are kept. */
static void try_chains(void) {
  uint32_t wrong = 0;
  for (uint32_t k = 0; k < 8; k++) {
    Arena *a = arena_new();
    uint32_t n = k < 7 ? 20 + 20 * k : TRIES(900), *at = NEW_ARRAY(a, uint32_t, n);
    Made m = made_new(a, n, n + 1);
    int64_t budget = 400000000;
    for (uint32_t i = 0; i <= n; i++) m.size[i] = 2 + dice(60);
    m.keep[0] = m.keep[n] = true;
    for (uint32_t i = 0; i < n; i++) at[i] = i;
    for (uint32_t i = n; i-- > 1;) {
      uint32_t j = dice(i + 1), x = at[i];
      at[i] = at[j], at[j] = x;
    }
    for (uint32_t l = 0; l <= n; l++) {
      if (l) has(a, &m, at[l - 1], l);
      if (l < n) has(a, &m, at[l], l);
    }
    WideTree t = wide_best(a, &m.p, &budget);
    double best = textbook(a, m.size, n);
    wrong += fabs(t.cost - best) > 1e-9 * best;
    arena_free(a);
  }
  OK_INT(wrong, 0, "chains of up to 900 matrices: the best order");
}

/* ---- trees and grids ----------------------------------------------------------------------------------- */

/* Trees whose nodes have three neighbours at most, all sizes 2. */
static void try_trees(void) {
  uint32_t wrong = 0;
  for (uint32_t k = 0; k < TRIES(15); k++) {
    Arena *a = arena_new();
    uint32_t n = 13, degree[13] = {0};
    Made m = made_new(a, n, n - 1);
    int64_t budget = 100000000;
    for (uint32_t i = 1; i < n; i++) {
      uint32_t j = dice(i);
      while (degree[j] == 3) j = dice(i);
      degree[i]++, degree[j]++;
      m.size[i - 1] = 2;
      has(a, &m, j, i - 1);
      has(a, &m, i, i - 1);
    }
    WideTree t = wide_best(a, &m.p, &budget);
    wrong += t.cost > best_of_all(a, &m);
    arena_free(a);
  }
  OK_INT(wrong, 0, "trees of 13 tensors: the best order");
}

/* A front of `side` labels goes over a square: so many times 2 * 2^(side + 2) operations and less, without what is
 * stored. */
static void try_grids(void) {
  for (uint32_t side = 6; side <= 18; side += 6) {
    Arena *a = arena_new();
    uint32_t n = side * side;
    Made m = made_new(a, n, 2 * n);
    int64_t budget = 100000000;
    for (uint32_t i = 0; i < n; i++) {
      m.size[2 * i] = m.size[2 * i + 1] = 2;
      if (i >= side) has(a, &m, i, 2 * (i - side));
      if (i % side) has(a, &m, i, 2 * (i - 1) + 1);
      if (i + side < n) has(a, &m, i, 2 * i);
      if ((i + 1) % side) has(a, &m, i, 2 * i + 1);
    }
    WideTree t = wide_best(a, &m.p, &budget);
    double front = (double)n * pow(2, side + 3);
    OK(t.ops < front, "a square of %u by %u takes %.3g operations, of %.3g", side, side, t.ops, front);
    arena_free(a);
  }
}

int main(void) {
  try_small();
  try_chains();
  try_trees();
  try_grids();
  return DONE();
}
