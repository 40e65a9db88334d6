/* SPDX-License-Identifier: MIT-0 */
/*
 * Places buffers with known lifetimes in memory: sizes and lifetimes in, offsets out. The problem is NP-hard,
 * so several greedy orders are tried, and the best result is used. Then the buffer that ended highest is placed
 * first, again and again, and some go to the end of a gap. No result is smaller than the most bytes alive at one
 * time; the search ends when it reaches that.
 */
#include "ein_run.h"

enum { EIN_LAYOUT_ALIGN = 64, EIN_LAYOUT_FEW = 2048, EIN_LAYOUT_RAISED = 24, EIN_LAYOUT_WORK = 1 << 17 };

/* The orders in which buffers are placed. In orders by time, only buffers that are alive are compared; the
 * others compare with all that are already placed. */
typedef enum {
  EIN_BY_FIRST,
  EIN_BY_LAST,                 /* from the last to the first */
  EIN_BY_SIZE,
  EIN_BY_AREA,                 /* size times lifetime */
  EIN_BY_LIFE,
  EIN_ORDERS
} ein_order;

typedef struct ein_layout_job {
  int n;
  const int64_t *bytes;
  const int *first, *last;
  int64_t *offset;
  int *at;                     /* the placed buffers by increasing offset, then the remaining ones */
  ein_order order;
  int raised[EIN_LAYOUT_RAISED], n_raised; /* placed before all others, the last one first */
  uint32_t high;               /* bit k % 32: buffer k goes to the end of its gap, not to its beginning */
  int64_t most;                /* the most bytes alive at one time; computed by BY_FIRST */
} ein_layout_job;

static int64_t ein_layout_size(const ein_layout_job *j, int k) {
  return (int64_t)(((uint64_t)j->bytes[k] + EIN_LAYOUT_ALIGN - 1) / EIN_LAYOUT_ALIGN * EIN_LAYOUT_ALIGN);
}

static double ein_layout_life(const ein_layout_job *j, int k) {
  return (double)j->last[k] - (double)j->first[k] + 1;
}

/* The sort key: smaller keys are placed first. */
static double ein_layout_key(const ein_layout_job *j, int k) {
  switch (j->order) {
  case EIN_BY_FIRST: return j->first[k];
  case EIN_BY_LAST: return -(double)j->last[k];
  case EIN_BY_AREA: return -(double)j->bytes[k] * ein_layout_life(j, k);
  case EIN_BY_LIFE: return -ein_layout_life(j, k);
  default: return 0;
  }
}

/* 0 if it is not raised. */
static int ein_layout_rank(const ein_layout_job *j, int k) {
  int i = j->n_raised;
  while (i > 0 && j->raised[i - 1] != k) i--;
  return i;
}

static int ein_layout_before(const ein_layout_job *j, int a, int b) {
  int up = j->n_raised ? ein_layout_rank(j, a) - ein_layout_rank(j, b) : 0;
  if (up) return up > 0;
  double x = ein_layout_key(j, a), y = ein_layout_key(j, b);
  if (x != y) return x < y;
  if (j->bytes[a] != j->bytes[b]) return j->bytes[a] > j->bytes[b];
  return a < b;
}

/* Heap sort by that key, in place. */
static void ein_layout_sink(ein_layout_job *j, int root, int n) {
  for (int child; (child = 2 * root + 1) < n; root = child) {
    if (child + 1 < n && ein_layout_before(j, j->at[child], j->at[child + 1])) child++;
    if (!ein_layout_before(j, j->at[root], j->at[child])) return;
    int swap = j->at[root];
    j->at[root] = j->at[child];
    j->at[child] = swap;
  }
}

static void ein_layout_sort(ein_layout_job *j) {
  for (int k = 0; k < j->n; k++) j->at[k] = k;
  for (int k = j->n / 2 - 1; k >= 0; k--) ein_layout_sink(j, k, j->n);
  for (int k = j->n - 1; k > 0; k--) {
    int swap = j->at[0];
    j->at[0] = j->at[k];
    j->at[k] = swap;
    ein_layout_sink(j, 0, k);
  }
}

/* Whether m's lifetime has ended for k and, in an order by time, for all that come after k. */
static int ein_layout_over(const ein_layout_job *j, int m, int k) {
  if (j->order == EIN_BY_FIRST) return j->last[m] < j->first[k];
  return j->order == EIN_BY_LAST && j->first[m] > j->last[k];
}

/* Returns an offset in the smallest gap that holds `size`, else the end of the live buffers; for a high buffer there is
 * a gap up to the most bytes that are alive. Drops buffers whose lifetime has ended; sets *n to how many remain. */
static int64_t ein_layout_find(const ein_layout_job *j, int k, int64_t size, int *n, int64_t *alive) {
  int64_t end = 0, best = -1, best_gap = INT64_MAX;
  int kept = 0;
  for (int i = 0; i < *n; i++) {
    int m = j->at[i];
    if (ein_layout_over(j, m, k)) continue;
    j->at[kept++] = m;
    if (j->last[m] < j->first[k] || j->last[k] < j->first[m]) continue;
    int64_t gap = j->offset[m] - end, m_size = ein_layout_size(j, m);
    if (gap >= size && gap < best_gap) best = end, best_gap = gap;
    if (j->offset[m] + m_size > end) end = j->offset[m] + m_size;
    *alive += m_size;
  }
  *n = kept;
  if (!(j->high >> k % 32 & 1)) return best >= 0 ? best : end;
  if (best >= 0) return best + best_gap - size;
  return j->most - size > end ? j->most - size : end;
}

/* Places all buffers in one order. Returns the total bytes, or -1. */
static int64_t ein_layout_try(ein_layout_job *j) {
  int64_t total = 0;
  int placed = 0;
  ein_layout_sort(j);
  for (int i = 0; i < j->n; i++) {
    int k = j->at[i];
    int64_t size = ein_layout_size(j, k), alive = size;
    j->offset[k] = 0;
    if (size == 0) continue;
    int64_t at = ein_layout_find(j, k, size, &placed, &alive);
    if (at > INT64_MAX - size) return -1;
    j->offset[k] = at;
    if (at + size > total) total = at + size;
    if (j->order == EIN_BY_FIRST && alive > j->most) j->most = alive;
    int slot = placed++;
    for (; slot > 0 && j->offset[j->at[slot - 1]] > at; slot--) j->at[slot] = j->at[slot - 1];
    j->at[slot] = k;
  }
  return total;
}

static int ein_layout_meet(const ein_layout_job *j, int a, int b) {
  return j->first[a] <= j->last[b] && j->first[b] <= j->last[a];
}

/* A buffer to place first: the one that ends where all do; or if it is first already, another that lives when it does,
 * a different one each time. -1: there is none. */
static int ein_layout_next(const ein_layout_job *j, int64_t total, uint32_t *state) {
  int top = 0, k;
  while (top < j->n && j->offset[top] + ein_layout_size(j, top) < total) top++;
  if (top == j->n) return -1;
  if (!j->n_raised || j->raised[j->n_raised - 1] != top) return top;
  *state = *state * 1664525u + 1013904223u;
  k = (int)((*state >> 8) % (uint32_t)j->n);
  for (int i = 0; i < j->n; i++, k = k + 1 == j->n ? 0 : k + 1)
    if (k != top && j->bytes[k] && ein_layout_meet(j, k, top)) return k;
  return -1;
}

static void ein_layout_raise(ein_layout_job *j, int k) {
  int i = ein_layout_rank(j, k);
  if (!i) i = j->n_raised < EIN_LAYOUT_RAISED ? ++j->n_raised : 1; /* the one that was raised first is no longer */
  for (; i < j->n_raised; i++) j->raised[i - 1] = j->raised[i];
  j->raised[j->n_raised - 1] = k;
}

/* Tries the order; leaves it in *best if it is better than *total. Returns what it takes. */
static int64_t ein_layout_better(ein_layout_job *j, ein_layout_job *best, int64_t *total) {
  int64_t now = ein_layout_try(j);
  if (now >= 0 && now < *total) *total = now, *best = *j;
  return now;
}

static void ein_layout_search(ein_layout_job *j, ein_layout_job *best, int64_t total) {
  for (int o = EIN_BY_LAST; o < (j->n <= EIN_LAYOUT_FEW ? EIN_ORDERS : EIN_BY_SIZE) && total > j->most; o++) {
    uint32_t state = 1;
    int64_t work = EIN_LAYOUT_WORK, now;
    j->order = (ein_order)o;
    j->n_raised = 0, j->high = 0;
    now = ein_layout_better(j, best, &total);
    while (o >= EIN_BY_SIZE && total > j->most && (work -= (int64_t)j->n * j->n) > 0) {
      int k = ein_layout_next(j, now, &state);
      if (k < 0) break;
      ein_layout_raise(j, k);
      j->high = state;
      now = ein_layout_better(j, best, &total);
    }
  }
}

EIN_API int64_t ein_layout(
    int n, const int64_t *bytes, const int *first, const int *last, int64_t *offset, int *order) {
  ein_layout_job j = {n, bytes, first, last, offset, order, EIN_BY_FIRST, {0}, 0, 0, 0};
  int64_t sum = 0;
  for (int k = 0; k < n; k++) { /* the sum of all sizes fits, so nothing below wraps */
    if (bytes[k] < 0 || bytes[k] > INT64_MAX - EIN_LAYOUT_ALIGN - sum) return -1;
    sum += ein_layout_size(&j, k);
  }
  int64_t total = ein_layout_try(&j);
  if (total < 0 || total == j.most) return total;
  ein_layout_job best = j;
  ein_layout_search(&j, &best, total);
  return ein_layout_try(&best);
}
