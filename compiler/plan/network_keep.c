/* plan/network_keep.c - classes, tables and eliminations kept by content, so that what is alike is done once. */
#include <string.h>

#include "network_inside.h"

typedef struct Link { struct Link *next; void *what; } Link;

static Link **chain(Network *n, Interned *in, uint32_t hash) {
  const void *key = (const void *)((uintptr_t)hash * 2 + 1);
  Link **head = map_find(&in->by_hash, key);
  if (!head) {
    if (!in->by_hash.arena) in->by_hash = map_new(n->arena);
    head = NEW(n->arena, Link *);
    map_put(&in->by_hash, key, head);
  }
  return head;
}

static void link_add(Network *n, Link **head, void *what) {
  Link *l = NEW(n->arena, Link);
  *l = (Link){*head, what};
  *head = l;
}

/* ---- classes ---------------------------------------------------------------------------------------- */

const Classes *classes_of(Network *n, uint32_t values, const uint32_t *of) {
  uint32_t most = 0, k = 0;
  for (uint32_t v = 0; v < values; v++) most = of[v] > most ? of[v] : most;
  uint32_t *number = NEW_ARRAY(n->arena, uint32_t, most + 1), *to = NEW_ARRAY(n->arena, uint32_t, values);
  uint32_t *first = NEW_ARRAY(n->arena, uint32_t, values);
  for (uint32_t v = 0; v < values; v++) {
    if (!number[of[v]]) first[k] = v, number[of[v]] = ++k;
    to[v] = number[of[v]] - 1;
  }
  Link **head = chain(n, &n->classes, hash_bytes(to, values * sizeof *to, values));
  for (Link *l = *head; l; l = l->next) {
    const Classes *c = l->what;
    if (c->values == values && memcmp(c->of, to, values * sizeof *to) == 0) return c;
  }
  Classes *c = NEW(n->arena, Classes);
  *c = (Classes){n->classes.n++, values, k, to, first};
  link_add(n, head, c);
  return c;
}

const Classes *classes_one(Network *n, uint32_t values) {
  return classes_of(n, values, NEW_ARRAY(n->arena, uint32_t, values));
}

const Classes *classes_meet(Network *n, const Classes *a, const Classes *b) {
  if (a == b || b->n == 1) return a;
  if (a->n == 1) return b;
  uint32_t room = 16, k = 0, *of = NEW_ARRAY(n->arena, uint32_t, a->values);
  while (room < 2 * a->values) room *= 2;
  uint32_t *slot = NEW_ARRAY(n->arena, uint32_t, room);
  for (uint32_t v = 0; v < a->values; v++) {
    uint32_t i = hash_mix(hash_mix(7, a->of[v]), b->of[v]) & (room - 1);
    while (slot[i] && (a->of[slot[i] - 1] != a->of[v] || b->of[slot[i] - 1] != b->of[v])) i = (i + 1) & (room - 1);
    if (!slot[i]) slot[i] = v + 1, of[v] = k++;
    else of[v] = of[slot[i] - 1];
  }
  return classes_of(n, a->values, of);
}

/* ---- tables ------------------------------------------------------------------------------------------ */

const Table *table_of(Network *n, size_t len, double *at, double *low) {
  *low = at[0];
  for (size_t i = 1; i < len; i++) *low = at[i] < *low ? at[i] : *low;
  for (size_t i = 0; i < len; i++) at[i] -= *low;
  Link **head = chain(n, &n->tables, hash_bytes(at, len * sizeof *at, (uint32_t)len));
  for (Link *l = *head; l; l = l->next) {
    const Table *t = l->what;
    if (t->n == len && memcmp(t->at, at, len * sizeof *at) == 0) return t;
  }
  Table *t = NEW(n->arena, Table);
  *t = (Table){n->tables.n++, len, at};
  link_add(n, head, t);
  return t;
}

/* ---- eliminations --------------------------------------------------------------------------------------- */

Done *done_find(Network *n, uint32_t len, const uint64_t *key) {
  Link **head = chain(n, &n->done, hash_bytes(key, len * sizeof *key, len));
  for (Link *l = *head; l; l = l->next) {
    Done *d = l->what;
    if (d->len == len && memcmp(d->key, key, len * sizeof *key) == 0) return d;
  }
  Done *d = NEW(n->arena, Done);
  *d = (Done){.len = len, .key = key};
  link_add(n, head, d);
  return d;
}
