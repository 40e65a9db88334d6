/* plan/network/descend.c - improves a choice within a limit, one variable at a time. */
#include <math.h>

#include "inside.h"

enum { ROUNDS = 100 };

typedef struct Descent {
  const Network *n;
  const NetworkLimit *l;     /* NULL: there is none */
  uint32_t *value;
  double weight;
  double **field;            /* by variable, by value: its cost, given the values of the other variables */
  double work;
} Descent;

/* Sets a value and updates the fields of its neighbours. */
static void value_set(Descent *x, uint32_t variable, uint32_t to) {
  const Variable *v = &x->n->variables.at[variable];
  uint32_t was = x->value[variable];
  x->weight += limit_weight(x->l, variable, to) - limit_weight(x->l, variable, was);
  x->value[variable] = to;
  for (uint32_t i = 0; i < v->factors.len; i++) {
    const Factor *f = &x->n->factors.at[v->factors.at[i]];
    const Side *own = &f->side[f->side[1].variable == variable], *other = &f->side[f->side[0].variable == variable];
    const double *before = f->table->at + own->by->of[was] * own->stride,
                 *after = f->table->at + own->by->of[to] * own->stride;
    double *field = x->field[other->variable];
    const uint32_t *of = other->by->of;
    if (before == after) continue;
    for (uint32_t j = 0; j < other->by->values; j++)
      field[j] += after[of[j] * other->stride] - before[of[j] * other->stride];
    x->work += other->by->values;
  }
}

/* Chooses the cheapest value that keeps the total within the limit. Returns whether it is another value, which costs
 * less. */
static bool visit(Descent *x, uint32_t variable) {
  const double *field = x->field[variable];
  uint32_t best = x->value[variable];
  double rest = x->weight - limit_weight(x->l, variable, best), enough = field[best] - 1e-9 * fabs(field[best]);
  for (uint32_t j = 0; j < x->n->variables.at[variable].n; j++)
    if (field[j] < enough && limit_holds(x->l, rest + limit_weight(x->l, variable, j))) best = j, enough = field[j];
  x->work += x->n->variables.at[variable].n;
  if (best == x->value[variable]) return false;
  value_set(x, variable, best);
  return true;
}

static void fields_make(Descent *x, Arena *a) {
  x->field = NEW_ARRAY(a, double *, x->n->variables.len + 1);
  for (uint32_t v = 0; v < x->n->variables.len; v++)
    x->field[v] = arena_copy(a, x->n->own_said.at[v], x->n->variables.at[v].n * sizeof *x->field[v]);
  for (uint32_t i = 0; i < x->n->said; i++)
    for (int k = 0; k < 2; k++) {
      const Factor *f = &x->n->factors.at[i];
      const Side *own = &f->side[k], *other = &f->side[1 - k];
      const double *at = f->table->at + other->by->of[x->value[other->variable]] * other->stride;
      for (uint32_t j = 0; j < own->by->values; j++) x->field[own->variable][j] += at[own->by->of[j] * own->stride];
    }
}

NetworkAnswer network_descend(const Network *n, const NetworkLimit *l, const uint32_t *from) {
  Arena *a = arena_new();
  uint32_t len = n->variables.len;
  NetworkAnswer r = {.bound = -INFINITY, .sum = INFINITY};
  Descent x = {.n = n, .l = l && l->most > 0 ? l : NULL};
  x.value = arena_copy(n->arena, from, (len + 1) * sizeof *from);
  x.weight = limit_sum(n, x.l, from);
  fields_make(&x, a);
  bool any = limit_holds(x.l, x.weight);
  for (uint32_t k = 0; any && k < ROUNDS; k++) {
    any = false;
    for (uint32_t v = 0; v < len; v++) any |= visit(&x, v);
  }
  if (limit_holds(x.l, x.weight)) r.value = x.value, r.sum = network_sum(n, x.value);
  r.work = x.work;
  arena_free(a);
  return r;
}
