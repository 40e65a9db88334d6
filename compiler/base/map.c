/* base/map.c - the hash map: entries in insertion order, and an index of entry numbers over them. */
#include "base.h"

#include <string.h>

enum { SCAN = 8 }; /* up to this many entries need no index */

Map map_new(Arena *a) {
  return (Map){.arena = a};
}

static uint32_t slot_first(const Map *m, const void *key) {
  return hash_mix(0, (uint64_t)(uintptr_t)key) & (m->room - 1);
}

static struct MapEntry *entry_find(const Map *m, const void *key) {
  if (!m->room) {
    for (uint32_t i = 0; i < m->len; i++)
      if (m->at[i].key == key) return &m->at[i];
    return NULL;
  }
  for (uint32_t k = slot_first(m, key); m->slot[k]; k = (k + 1) & (m->room - 1)) {
    struct MapEntry *e = &m->at[m->slot[k] - 1];
    if (e->key == key) return e;
  }
  return NULL;
}

static void index_add(Map *m, uint32_t i) {
  uint32_t k = slot_first(m, m->at[i].key);
  while (m->slot[k]) k = (k + 1) & (m->room - 1);
  m->slot[k] = i + 1;
}

static void index_widen(Map *m) {
  m->room = m->room ? m->room * 2 : 4 * SCAN;
  BUG_UNLESS(m->room);
  m->slot = NEW_ARRAY(m->arena, uint32_t, m->room);
  for (uint32_t i = 0; i < m->len; i++) index_add(m, i);
}

void *map_find(const Map *m, const void *key) {
  const struct MapEntry *e = entry_find(m, key);
  return e ? e->val : NULL;
}

void map_put(Map *m, const void *key, void *val) {
  struct MapEntry *e = entry_find(m, key);
  if (e) {
    e->val = val;
    return;
  }
  if (m->len == m->cap) m->at = vec_grow(m->arena, m->at, sizeof m->at[0], m->len, &m->cap);
  m->at[m->len++] = (struct MapEntry){key, val};
  if (m->len <= SCAN) return;
  if (m->len > m->room / 2)
    index_widen(m);
  else
    index_add(m, m->len - 1);
}

/* ---- by content --------------------------------------------------------------------------------- */

Memo memo_new(Arena *a) {
  return (Memo){.arena = a};
}

static void memo_widen(Memo *m) {
  const MemoSlot *old = m->slot;
  uint32_t n = m->room;
  m->room = n ? n * 2 : 2 * SCAN;
  BUG_UNLESS(m->room);
  m->slot = NEW_ARRAY(m->arena, MemoSlot, m->room);
  for (uint32_t i = 0; i < n; i++) {
    uint32_t k = old[i].hash & (m->room - 1);
    if (!old[i].entry) continue;
    while (m->slot[k].entry) k = (k + 1) & (m->room - 1);
    m->slot[k] = old[i];
  }
}

MemoEntry *memo_get(Memo *m, const void *key, size_t n) {
  if (m->len >= m->room / 2) memo_widen(m);
  uint32_t hash = hash_bytes(key, n, (uint32_t)n), k = hash & (m->room - 1);
  for (MemoEntry *e; (e = m->slot[k].entry); k = (k + 1) & (m->room - 1))
    if (m->slot[k].hash == hash && e->n == n && (n == 0 || memcmp(e->key, key, n) == 0)) return e;
  MemoEntry *e = arena_alloc(m->arena, sizeof *e + n);
  *e = (MemoEntry){.key = e + 1, .n = n};
  if (n) memcpy(e + 1, key, n);
  m->slot[k] = (MemoSlot){hash, e};
  m->len++;
  return e;
}
