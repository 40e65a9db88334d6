/* plan/decomp/viable.c - lists the partition vectors: the ordered factorisations of p over a vertex's labels. */
#include "plan/partition.h"

typedef struct Viable {
  Arena *arena;
  const PartVertex *v;
  const uint32_t *pin;
  int64_t n;                 /* the wanted product, and */
  VEC(uint32_t) divisor;     /*   its divisors, in order */
  const int64_t *room;       /* by label: the most that it and the labels after it can take, at most p */
  uint32_t *d;               /* the vector under construction */
  bool one;                  /* one is enough */
  uint32_t found;
  VEC(uint32_t) all;
} Viable;

static int64_t most_of(const PartVertex *v, const uint32_t *pin, uint32_t l) {
  return !pin || !pin[l] ? v->most[l] : pin[l] <= v->most[l] ? pin[l] : 0;
}

static int64_t *rooms(Arena *a, const PartVertex *v, int64_t p, const uint32_t *pin) {
  int64_t *room = NEW_ARRAY(a, int64_t, v->n_label + 1);
  room[v->n_label] = 1;
  for (uint32_t l = v->n_label; l-- > 0;) {
    int64_t all;
    room[l] = mul_ok(room[l + 1], most_of(v, pin, l), &all) && all < p ? all : p;
  }
  return room;
}

static void divisors(Viable *x) {
  VEC(uint32_t) large = {0};
  for (int64_t c = 1; c * c <= x->n; c++) {
    if (x->n % c) continue;
    vec_push(x->arena, x->divisor, (uint32_t)c);
    if (c * c != x->n) vec_push(x->arena, large, (uint32_t)(x->n / c));
  }
  while (large.len) vec_push(x->arena, x->divisor, vec_pop(large));
}

/* Lists all counts of the labels from `l` on whose product is `left`. */
static void choose(Viable *x, uint32_t l, int64_t left) {
  if (x->one && x->found) return;
  if (l == x->v->n_label) {
    x->found += left == 1;
    for (uint32_t k = 0; left == 1 && k < l; k++) vec_push(x->arena, x->all, x->d[k]);
    return;
  }
  for (uint32_t i = 0; i < x->divisor.len; i++) {
    int64_t c = x->divisor.at[i];
    if (c > most_of(x->v, x->pin, l) || c > left) return;
    if ((x->pin && x->pin[l] && c != x->pin[l]) || left % c || left / c > x->room[l + 1]) continue;
    x->d[l] = (uint32_t)c;
    choose(x, l + 1, left / c);
  }
}

static Viable choose_all(Arena *a, const PartVertex *v, const uint32_t *pin, const int64_t *room, int64_t n, bool one) {
  Viable x = {
      .arena = a, .v = v, .pin = pin, .n = n, .room = room, .one = one, .d = NEW_ARRAY(a, uint32_t, v->n_label + 1)};
  divisors(&x);
  if (n <= room[0]) choose(&x, 0, n);
  return x;
}

int64_t part_calls(const PartVertex *v, int64_t p, const uint32_t *pin) {
  Arena *a = arena_new();
  const int64_t *room = rooms(a, v, p, pin);
  int64_t n = p < room[0] ? p : room[0];
  while (n > 0 && !choose_all(a, v, pin, room, n, true).found) n--;
  arena_free(a);
  return n;
}

PartVectors part_viable(Arena *a, const PartVertex *v, int64_t p, const uint32_t *pin) {
  Viable x = choose_all(a, v, pin, rooms(a, v, p, pin), part_calls(v, p, pin), false);
  vec_push(a, x.all, 0); /* so that a vector of no labels has an address too */
  return (PartVectors){x.found, v->n_label, x.all.at};
}

/* Label by label: in how many ways the product so far equals each divisor. */
double part_ways(const PartVertex *v, int64_t p, const uint32_t *pin) {
  Arena *a = arena_new();
  int64_t calls = part_calls(v, p, pin);
  Viable x = {.arena = a, .v = v, .pin = pin, .n = calls};
  if (calls) divisors(&x);
  uint32_t n = x.divisor.len;
  double *ways = NEW_ARRAY(a, double, n + 1);
  ways[0] = 1;
  for (uint32_t l = 0; l < v->n_label; l++)
    for (uint32_t i = n; i-- > 0;) { /* larger ones first, since they are computed from smaller ones */
      double sum = 0;
      for (uint32_t j = 0; j <= i; j++) {
        int64_t count = x.divisor.at[i] / x.divisor.at[j];
        bool fits = x.divisor.at[i] % x.divisor.at[j] == 0 && count <= most_of(v, pin, l) &&
            !(pin && pin[l] && count != pin[l]);
        sum += fits ? ways[j] : 0;
      }
      ways[i] = sum;
    }
  double all = n ? ways[n - 1] : 0;
  arena_free(a);
  return all;
}
