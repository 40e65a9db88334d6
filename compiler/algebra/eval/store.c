/* algebra/eval/store.c - stores tuples by key. */
#include "store.h"

#include <string.h>

Shelf *shelf_new(int64_t sites) {
  Arena *a = arena_new();
  return MAKE(a, Shelf, .arena = a, .users = 1, .sites = sites, .site = NEW_ARRAY(a, Store, sites));
}

int key_order(uint32_t n, const int64_t *a, const int64_t *b) {
  for (uint32_t k = 0; k < n; k++)
    if (a[k] != b[k]) return a[k] < b[k] ? -1 : 1;
  return 0;
}

static int tuple_order(uint32_t n_key, const Tuple *a, const Tuple *b) {
  int by_key = key_order(n_key, a->key, b->key);
  return by_key ? by_key : (a->part > b->part) - (a->part < b->part);
}

/* Merges sorted runs of `run` tuples pairwise. */
static void runs_merge(uint32_t n_key, const Tuple *from, Tuple *to, uint32_t n, uint32_t run) {
  for (uint32_t at = 0; at < n;) {
    uint32_t a = at, a_end = n - at < run ? n : at + run, b = a_end, b_end = n - a_end < run ? n : a_end + run;
    while (a < a_end || b < b_end) {
      bool first = b == b_end || (a < a_end && tuple_order(n_key, &from[a], &from[b]) <= 0);
      to[at++] = from[first ? a++ : b++];
    }
  }
}

static bool is_sorted(uint32_t n_key, const Tuple *t, uint32_t n) {
  for (uint32_t i = 1; i < n; i++)
    if (tuple_order(n_key, &t[i - 1], &t[i]) > 0) return false;
  return true;
}

void tuples_sort(Arena *scratch, uint32_t n_key, Tuple *t, uint32_t n) {
  if (is_sorted(n_key, t, n)) return;
  Tuple *from = t, *to = NEW_ARRAY(scratch, Tuple, n);
  for (uint32_t run = 1; run < n; run *= 2) {
    runs_merge(n_key, from, to, n, run);
    Tuple *other = from;
    from = to;
    to = other;
    if (run > UINT32_MAX / 2) break;
  }
  if (from != t) memcpy(t, from, n * sizeof *t);
}

const Tuple *store_find(const Store *s, uint32_t n_key, const int64_t *key, uint32_t *n) {
  uint32_t low = 0, high = s->tuples.len;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (key_order(n_key, s->tuples.at[middle].key, key) < 0) low = middle + 1;
    else high = middle;
  }
  *n = 0;
  while (low + *n < s->tuples.len && key_order(n_key, s->tuples.at[low + *n].key, key) == 0) ++*n;
  return *n ? &s->tuples.at[low] : NULL;
}

const Tuple *store_part(const Store *s, uint32_t n_key, const int64_t *key, int64_t part) {
  uint32_t n;
  const Tuple *t = store_find(s, n_key, key, &n);
  for (uint32_t i = 0; i < n; i++)
    if (t[i].part == part) return &t[i];
  return NULL;
}
