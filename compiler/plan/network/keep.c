/* plan/network/keep.c - classes, tables and eliminations, kept by content, so that equal ones are computed once. */
#include "inside.h"

/* ---- classes ---------------------------------------------------------------------------------------- */

const Classes *classes_of(Network *n, uint32_t values, const uint32_t *of) {
  Arena *a = arena_new();
  uint32_t most = 0, k = 0;
  for (uint32_t v = 0; v < values; v++) most = of[v] > most ? of[v] : most;
  uint32_t *number = NEW_ARRAY(a, uint32_t, most + 1), *to = NEW_ARRAY(a, uint32_t, values),
           *first = NEW_ARRAY(a, uint32_t, values);
  for (uint32_t v = 0; v < values; v++) {
    if (!number[of[v]]) first[k] = v, number[of[v]] = ++k;
    to[v] = number[of[v]] - 1;
  }
  MemoEntry *e = memo_get(&n->classes, to, values * sizeof *to);
  if (!e->value) {
    Classes *c = MAKE(n->arena, Classes, n->first_id + n->classes.len, values, k, e->key, arena_copy(n->arena,
        first, k * sizeof *first));
    e->value = c;
  }
  arena_free(a);
  return e->value;
}

const Classes *classes_one(Network *n, uint32_t values) {
  return classes_of(n, values, NEW_ARRAY(n->arena, uint32_t, values));
}

const Classes *classes_meet(Network *n, const Classes *a, const Classes *b) {
  if (a == b || b->n == 1) return a;
  if (a->n == 1) return b;
  Arena *work = arena_new();
  uint32_t room = 16, k = 0, *of = NEW_ARRAY(work, uint32_t, a->values);
  while (room < 2 * a->values) room *= 2;
  uint32_t *slot = NEW_ARRAY(work, uint32_t, room);
  for (uint32_t v = 0; v < a->values; v++) {
    uint32_t i = hash_mix(hash_mix(7, a->of[v]), b->of[v]) & (room - 1);
    while (slot[i] && (a->of[slot[i] - 1] != a->of[v] || b->of[slot[i] - 1] != b->of[v])) i = (i + 1) & (room - 1);
    if (!slot[i]) slot[i] = v + 1, of[v] = k++;
    else of[v] = of[slot[i] - 1];
  }
  const Classes *both = classes_of(n, a->values, of);
  arena_free(work);
  return both;
}

/* ---- tables ------------------------------------------------------------------------------------------ */

const Table *table_of(Network *n, size_t len, double *at, double *low) {
  *low = at[0];
  for (size_t i = 1; i < len; i++) *low = at[i] < *low ? at[i] : *low;
  for (size_t i = 0; i < len; i++) at[i] -= *low;
  MemoEntry *e = memo_get(&n->tables, at, len * sizeof *at);
  if (!e->value) {
    Table *t = MAKE(n->arena, Table, n->first_id + n->tables.len, len, e->key);
    e->value = t;
  }
  return e->value;
}

/* ---- eliminations --------------------------------------------------------------------------------------- */

Done *done_find(Network *n, uint32_t len, const uint64_t *key) {
  MemoEntry *e = memo_get(&n->done, key, len * sizeof *key);
  if (!e->value) e->value = NEW(n->arena, Done);
  return e->value;
}
