/* plan/network/repeat.c - finds where a network repeats, as that of equal layers does. */
#include <string.h>

#include "inside.h"

enum {
  PERIOD_MOST = 1000,
  TIMES = 2,
  HUB_MOST = 12, HUB_LEAST = 8 /* costs of a variable that all layers may share */
};

static bool is_hub(const Network *n, uint32_t hub, uint32_t x) {
  return n->variables.at[x].factors.len >= hub;
}

uint32_t repeat_owner(const Network *n, uint32_t hub, const Factor *f) {
  return f->side[is_hub(n, hub, f->side[0].variable)].variable;
}

/* A hash, equal for variables with equal costs that go equally far to variables with as many values, or to the same
 * hub. */
static uint64_t likeness(Network *n, Arena *work, Memo *seen, uint32_t hub, uint32_t x) {
  const Variable *v = &n->variables.at[x];
  double low, *own = arena_copy(work, n->own_said.at[x], v->n * sizeof *own);
  uint64_t *key = NEW_ARRAY(work, uint64_t, 3 + 4 * v->factors.len), *k = key;
  *k++ = v->n;
  *k++ = table_of(n, v->n, own, &low)->id;
  memcpy(k++, &low, sizeof low);
  for (uint32_t i = 0; i < v->factors.len; i++) {
    const Factor *f = &n->factors.at[v->factors.at[i]];
    uint32_t side = f->side[1].variable == x, far = f->side[1 - side].variable;
    *k++ = f->table->id;
    *k++ = f->side[0].by->id;
    *k++ = f->side[1].by->id;
    *k++ = is_hub(n, hub, far) ? (uint64_t)far * 2 + 1 : (((uint64_t)far - x) * 2 + side) * 2;
  }
  MemoEntry *e = memo_get(seen, key, (size_t)(k - key) * sizeof *key);
  if (!e->value) e->value = (void *)(uintptr_t)seen->len;
  return (uintptr_t)e->value;
}

/* Returns the longest stretch that repeats with this period. */
static Repeat stretch(uint32_t len, const uint64_t *like, uint32_t period) {
  Repeat best = {.period = period};
  for (uint32_t x = 0, start = 0; x + period < len; x++) {
    if (like[x] != like[x + period]) start = x + 1;
    else if (x + 1 - start + period > best.len) best.start = start, best.len = x + 1 - start + period;
  }
  return best;
}

static Repeat find(Network *n, uint32_t hub) {
  Arena *work = arena_new();
  Memo seen = memo_new(work);
  uint32_t len = n->variables.len;
  uint64_t *like = NEW_ARRAY(work, uint64_t, len + 1);
  Repeat best = {0};
  for (uint32_t x = 0; x < len; x++) /* a hub is no part of a layer */
    like[x] = is_hub(n, hub, x) ? ~(uint64_t)x : likeness(n, work, &seen, hub, x);
  for (uint32_t p = 1; p <= PERIOD_MOST && p <= len / TIMES; p++) {
    Repeat r = stretch(len, like, p);
    if (r.len >= TIMES * p && r.len > best.len) best = r;
  }
  arena_free(work);
  best.hub = hub;
  return best;
}

Repeat repeat_find(Network *n) {
  Repeat best = find(n, UINT32_MAX);
  for (uint32_t hub = HUB_MOST; hub >= HUB_LEAST && !best.len; hub -= 2) best = find(n, hub);
  return best;
}

/* A hub comes after the ring, with a share of its costs. */
static uint32_t ring_place(Network *m, const Network *n, const Repeat *r, uint32_t *place, uint32_t x) {
  uint32_t len = r->period, times = r->len / r->period;
  if (!is_hub(n, r->hub, x)) return (x + (n->variables.len / len + 1) * len - r->start) % len;
  if (place[x]) return place[x];
  const Variable *v = &n->variables.at[x];
  double *own = NEW_ARRAY(m->arena, double, v->n);
  for (uint32_t k = 0; k < v->n; k++) own[k] = n->own_said.at[x][k] / times;
  place[x] = network_variable(m, v->n);
  network_cost(m, place[x], own);
  return place[x];
}

/* One period, whose end is connected to its beginning. A cost between a variable and itself is dropped. */
Network *repeat_ring(Arena *a, const Network *n, const Repeat *r) {
  Network *m = network_new(a);
  uint32_t len = r->period, start = r->start + (r->len / r->period / 2) * len,
           *place = NEW_ARRAY(a, uint32_t, n->variables.len + 1);
  for (uint32_t i = 0; i < len; i++)
    network_cost(m, network_variable(m, n->variables.at[start + i].n), n->own_said.at[start + i]);
  for (uint32_t i = 0; i < len; i++) {
    const Variable *v = &n->variables.at[start + i];
    for (uint32_t k = 0; k < v->factors.len; k++) {
      const Factor *f = &n->factors.at[v->factors.at[k]];
      uint32_t at[2];
      if (repeat_owner(n, r->hub, f) != start + i) continue;
      for (uint32_t s = 0; s < 2; s++) at[s] = ring_place(m, n, r, place, f->side[s].variable);
      if (at[0] == at[1]) return NULL;
      for (uint32_t s = 0; s < 2; s++) /* past the stretch there may be anything */
        if (m->variables.at[at[s]].n != n->variables.at[f->side[s].variable].n) return NULL;
      network_cost2(
          m, at[0], f->side[0].by->n, f->side[0].by->of, at[1], f->side[1].by->n, f->side[1].by->of, f->table->at);
    }
  }
  return m;
}
