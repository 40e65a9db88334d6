/* plan/network/repeat.c - a network that repeats, as one of equal layers does: where. */
#include <string.h>

#include "inside.h"

enum { PERIOD_MOST = 1000, TIMES = 4 };

/* Equal for variables with equal costs, which go equally far to variables with as many values. */
static uint64_t likeness(Network *n, Arena *work, Memo *seen, uint32_t x) {
  const Variable *v = &n->variables.at[x];
  double low, *own = arena_copy(work, n->own_said.at[x], v->n * sizeof *own);
  uint64_t *key = NEW_ARRAY(work, uint64_t, 3 + 4 * v->factors.len), *k = key;
  *k++ = v->n;
  *k++ = table_of(n, v->n, own, &low)->id;
  memcpy(k++, &low, sizeof low);
  for (uint32_t i = 0; i < v->factors.len; i++) {
    const Factor *f = &n->factors.at[v->factors.at[i]];
    uint32_t side = f->side[1].variable == x;
    *k++ = f->table->id;
    *k++ = f->side[0].by->id;
    *k++ = f->side[1].by->id;
    *k++ = ((uint64_t)f->side[1 - side].variable - x) * 2 + side;
  }
  MemoEntry *e = memo_get(seen, key, (size_t)(k - key) * sizeof *key);
  if (!e->value) e->value = (void *)(uintptr_t)seen->len;
  return (uintptr_t)e->value;
}

/* The longest stretch that is like what comes a period later. */
static Repeat stretch(uint32_t len, const uint64_t *like, uint32_t period) {
  Repeat best = {.period = period};
  for (uint32_t x = 0, start = 0; x + period < len; x++) {
    if (like[x] != like[x + period]) start = x + 1;
    else if (x + 1 - start + period > best.len) best.start = start, best.len = x + 1 - start + period;
  }
  return best;
}

Repeat repeat_find(Network *n) {
  Arena *work = arena_new();
  Memo seen = memo_new(work);
  uint32_t len = n->variables.len;
  uint64_t *like = NEW_ARRAY(work, uint64_t, len + 1);
  Repeat best = {0};
  for (uint32_t x = 0; x < len; x++) like[x] = likeness(n, work, &seen, x);
  for (uint32_t p = 1; p <= PERIOD_MOST && p <= len / TIMES; p++) {
    Repeat r = stretch(len, like, p);
    if (r.len >= TIMES * p && r.len > best.len) best = r;
  }
  arena_free(work);
  return best;
}

/* Two periods, the end of which goes on at the beginning. A cost of a variable and itself there is: none. */
Network *repeat_ring(Arena *a, const Network *n, const Repeat *r) {
  Network *m = network_new(a);
  uint32_t len = 2 * r->period, start = r->start + r->period;
  for (uint32_t i = 0; i < len; i++) network_cost(m, network_variable(m, n->variables.at[start + i].n), n->own_said.at[start + i]);
  for (uint32_t i = 0; i < len; i++) {
    const Variable *v = &n->variables.at[start + i];
    for (uint32_t k = 0; k < v->factors.len; k++) {
      const Factor *f = &n->factors.at[v->factors.at[k]];
      const Side *x = &f->side[0], *y = &f->side[1];
      if (x->variable != start + i) continue;
      uint32_t far = (y->variable + (n->variables.len / len + 1) * len - start) % len;
      if (far == i) return NULL;
      network_cost2(m, i, x->by->n, x->by->of, far, y->by->n, y->by->of, f->table->at);
    }
  }
  return m;
}
