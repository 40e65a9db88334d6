/* plan/network/tighten.c - rules out values that no best choice has, without tables of more than two variables.
 *
 * A cost of two variables can be redistributed: what all entries of a row share belongs to the row's value. In this
 * way costs go from pairs to variables, and on to other pairs, one variable after the other, there and back, and no
 * cost falls below 0. The sum of any choice stays the same. What all values of a variable share is taken off and
 * added to a lower bound, which rises. (This is block ascent on the dual of the linear relaxation.) A value that
 * then costs more than the difference between the sum of a known choice and the bound is in no better choice. */
#include <math.h>
#include <string.h>

#include "inside.h"

enum {
  PASSES = 60,
  PASSES_RING = 60
};

#define RING_SLOW 1e-4         /* a share of the bound: below this gain per pass the ring is finished; */
#define RING_ENOUGH 1.05       /* this much more than enough will be enough for the whole */

typedef struct Share { double *to[2]; } Share; /* of a factor: by side, by class, what it gave to the variable */

struct Tighten {
  Network *n;
  Share *share;              /* by factor */
  double **own;              /* by variable, by value: its costs less what was taken off; infinite: ruled out */
  double *sum;               /* of the current variable, by value: with what its factors gave */
  double *low;               /* of one of its factors, by class */
  double taken;              /* the bound, without the network's constant */
  uint32_t *value;           /* the best choice so far, and */
  double best;               /*   its sum; */
  double above;              /* that, or what is enough, without the constant */
  uint32_t *choice;          /* that of this pass */
  bool none;                 /* some variable has no value left */
  bool begun;                /* it starts from equal layers, if there are any */
};

static const Factor *factor_of(const Tighten *t, uint32_t x, uint32_t i, uint32_t *side) {
  const Factor *f = &t->n->factors.at[t->n->variables.at[x].factors.at[i]];
  *side = f->side[1].variable == x;
  return f;
}

static Share *share_of(const Tighten *t, uint32_t x, uint32_t i) {
  return &t->share[t->n->variables.at[x].factors.at[i]];
}

/* ---- one variable ----------------------------------------------------------------------------------- */

/* Gathers in the variable all that its factors can give, and takes off the minimum over its values. */
static void gather(Tighten *t, uint32_t x) {
  const Variable *v = &t->n->variables.at[x];
  double least = INFINITY;
  uint32_t side;
  for (uint32_t j = 0; j < v->n; j++) t->sum[j] = t->own[x][j];
  for (uint32_t i = 0; i < v->factors.len; i++) {
    const Factor *f = factor_of(t, x, i, &side);
    Share *s = share_of(t, x, i);
    factor_pull(f, side, s->to[1 - side], s->to[side]);
    t->n->work += (double)f->table->n;
    for (uint32_t j = 0; j < v->n; j++) t->sum[j] += s->to[side][f->side[side].by->of[j]];
  }
  for (uint32_t j = 0; j < v->n; j++) least = t->sum[j] < least ? t->sum[j] : least;
  t->none |= isinf(least);
  if (isinf(least)) return;
  for (uint32_t j = 0; j < v->n; j++) t->own[x][j] -= least, t->sum[j] -= least;
  t->taken += least;
}

static void drop(Tighten *t, uint32_t x) {
  double most = t->above - t->taken + 1e-9 * (fabs(t->above) + 1);
  for (uint32_t j = 0; j < t->n->variables.at[x].n; j++)
    if (t->sum[j] > most) t->own[x][j] = t->sum[j] = INFINITY;
}

static bool comes_later(uint32_t y, uint32_t x, bool back) {
  return back ? y < x : y > x;
}

/* Passes the variable's costs on, in equal shares, to the factors of later variables. */
static void give(Tighten *t, uint32_t x, bool back) {
  const Variable *v = &t->n->variables.at[x];
  uint32_t side, later = 0;
  for (uint32_t i = 0; i < v->factors.len; i++) {
    const Factor *f = factor_of(t, x, i, &side);
    later += comes_later(f->side[1 - side].variable, x, back);
  }
  uint32_t shares = later > v->factors.len - later ? later : v->factors.len - later;
  for (uint32_t i = 0; i < v->factors.len; i++) {
    const Factor *f = factor_of(t, x, i, &side);
    const Classes *by = f->side[side].by;
    bool on = comes_later(f->side[1 - side].variable, x, back);
    double *to = share_of(t, x, i)->to[side];
    for (uint32_t c = 0; c < by->n; c++) t->low[c] = INFINITY;
    for (uint32_t j = 0; j < v->n; j++)
      t->low[by->of[j]] = t->sum[j] < t->low[by->of[j]] ? t->sum[j] : t->low[by->of[j]];
    for (uint32_t c = 0; c < by->n; c++) to[c] = isinf(t->low[c]) ? -INFINITY : on ? to[c] - t->low[c] / shares : to[c];
  }
}

/* ---- choices ------------------------------------------------------------------------------------------- */

/* Chooses the best value, given those chosen in this pass; for other variables, what their factors gave counts. */
static void choose(Tighten *t, uint32_t x, bool back) {
  const Variable *v = &t->n->variables.at[x];
  double least = INFINITY;
  for (uint32_t j = 0; j < v->n; j++) {
    double sum = t->own[x][j];
    for (uint32_t i = 0; i < v->factors.len; i++) {
      uint32_t side;
      const Factor *f = factor_of(t, x, i, &side);
      const Side *other = &f->side[1 - side];
      uint32_t c = f->side[side].by->of[j];
      if (comes_later(other->variable, x, back)) {
        sum += share_of(t, x, i)->to[side][c];
        continue;
      }
      uint32_t d = other->by->of[t->choice[other->variable]];
      sum += f->table->at[c * f->side[side].stride + d * other->stride];
    }
    if (sum < least) least = sum, t->choice[x] = j;
  }
}

static void pass(Tighten *t, bool back) {
  uint32_t len = t->n->variables.len;
  for (uint32_t i = 0; i < len; i++) {
    uint32_t x = back ? len - 1 - i : i;
    gather(t, x);
    if (t->none) return;
    drop(t, x);
    if (t->value) choose(t, x, back);
    give(t, x, back);
  }
  if (!t->value) return;
  network_improve(t->n, t->choice);
  double sum = network_sum(t->n, t->choice);
  if (sum >= t->best) return;
  t->best = sum;
  t->above = fmin(t->above, sum - t->n->constant);
  for (uint32_t x = 0; x < len; x++) t->value[x] = t->choice[x];
}

bool **values_all(Arena *a, const Network *n) {
  bool **left = NEW_ARRAY(a, bool *, n->variables.len + 1);
  for (uint32_t v = 0; v < n->variables.len; v++) {
    left[v] = NEW_ARRAY(a, bool, n->variables.at[v].n);
    for (uint32_t j = 0; j < n->variables.at[v].n; j++) left[v][j] = true;
  }
  return left;
}

Tighten *tighten_new(Network *n, Arena *work, bool **left) {
  uint32_t most = 1, len = n->variables.len;
  Tighten *t = NEW(work, Tighten);
  t->n = n;
  t->share = NEW_ARRAY(work, Share, n->said + 1);
  t->own = NEW_ARRAY(work, double *, len + 1);
  t->choice = NEW_ARRAY(work, uint32_t, len + 1);
  for (uint32_t i = 0; i < n->said; i++)
    for (uint32_t k = 0; k < 2; k++) t->share[i].to[k] = NEW_ARRAY(work, double, n->factors.at[i].side[k].by->n);
  for (uint32_t x = 0; x < len; x++) {
    const Variable *v = &n->variables.at[x];
    double least = INFINITY;
    for (uint32_t j = 0; j < v->n; j++)
      least = left[x][j] && n->own_said.at[x][j] < least ? n->own_said.at[x][j] : least;
    t->own[x] = NEW_ARRAY(work, double, v->n);
    for (uint32_t j = 0; j < v->n; j++) t->own[x][j] = left[x][j] ? n->own_said.at[x][j] - least : INFINITY;
    t->taken += least;
    most = v->n > most ? v->n : most;
  }
  t->sum = NEW_ARRAY(work, double, most);
  t->low = NEW_ARRAY(work, double, most);
  return t;
}

Tighten *tighten_move(const Tighten *t, Network *m, uint32_t **to) {
  uint32_t len = m->variables.len, most = 1;
  Arena *a = m->arena;
  Tighten *u = MAKE(a, Tighten, .n = m, .taken = t->taken, .begun = true);
  u->share = NEW_ARRAY(a, Share, m->said + 1);
  u->own = NEW_ARRAY(a, double *, len + 1);
  u->choice = NEW_ARRAY(a, uint32_t, len + 1);
  for (uint32_t x = 0; x < len; x++) {
    u->own[x] = NEW_ARRAY(a, double, m->variables.at[x].n);
    for (uint32_t j = 0; j < m->variables.at[x].n; j++) u->own[x][j] = t->own[x][to[x][j]];
    most = m->variables.at[x].n > most ? m->variables.at[x].n : most;
  }
  for (uint32_t i = 0; i < m->said; i++) {
    const Factor *f = &m->factors.at[i], *was = &t->n->factors.at[i];
    double low = m->low.at[i] - t->n->low.at[i]; /* its table no longer has it, so side 0 has not got it */
    for (uint32_t k = 0; k < 2; k++) {
      u->share[i].to[k] = NEW_ARRAY(a, double, f->side[k].by->n);
      for (uint32_t c = 0; c < f->side[k].by->n; c++)
        u->share[i].to[k][c] =
            t->share[i].to[k][was->side[k].by->of[to[f->side[k].variable][f->side[k].by->first[c]]]] - (k ? 0 : low);
    }
    for (uint32_t j = 0; j < m->variables.at[f->side[0].variable].n; j++) u->own[f->side[0].variable][j] += low;
    u->taken -= low;
  }
  u->sum = NEW_ARRAY(a, double, most);
  u->low = NEW_ARRAY(a, double, most);
  return u;
}

/* ---- what repeats --------------------------------------------------------------------------------------- */

/* Finds the shares of a ring of one period, which takes little work. */
static Tighten *ring_tighten(Arena *a, Network *m, double budget, double enough) {
  Tighten *t = tighten_new(m, a, values_all(a, m));
  for (uint32_t k = 0; k < PASSES_RING && m->work < budget; k++) {
    double before = t->taken;
    for (uint32_t i = 0; i < m->variables.len; i++) {
      uint32_t x = k % 2 ? m->variables.len - 1 - i : i;
      gather(t, x);
      give(t, x, k % 2);
    }
    if ((k > 4 && t->taken - before < RING_SLOW * fabs(t->taken)) || t->taken > RING_ENOUGH * enough) break;
  }
  return t;
}

static bool ring_owns(const Network *ring, const Repeat *r, uint32_t x, uint32_t factor) {
  const Factor *f = &ring->factors.at[factor];
  return f->side[f->side[0].variable >= r->period].variable == x;
}

/* Copies the shares of each factor of x from the matching factor of the ring. They leave no pair below 0 there, and
 * so do not here. */
static void shares_take(Tighten *t, uint32_t x, const Tighten *ring, const Repeat *r, uint32_t like) {
  const Variable *v = &t->n->variables.at[x], *w = &ring->n->variables.at[like];
  uint32_t j = 0;
  for (uint32_t i = 0; i < v->factors.len; i++) {
    const Factor *f = &t->n->factors.at[v->factors.at[i]];
    if (repeat_owner(t->n, r->hub, f) != x) continue;
    while (!ring_owns(ring->n, r, like, w->factors.at[j])) j++;
    const Share *s = &ring->share[w->factors.at[j++]];
    for (uint32_t k = 0; k < 2; k++)
      for (uint32_t c = 0; c < f->side[k].by->n; c++) t->share[v->factors.at[i]].to[k][c] = s->to[k][c];
  }
}

/* Takes off the minimum over a variable's values, with what its factors gave. */
static void settle(Tighten *t, uint32_t x) {
  const Variable *v = &t->n->variables.at[x];
  double least = INFINITY;
  uint32_t side;
  for (uint32_t j = 0; j < v->n; j++) {
    double sum = t->own[x][j];
    for (uint32_t i = 0; i < v->factors.len; i++) {
      const Factor *f = factor_of(t, x, i, &side);
      sum += share_of(t, x, i)->to[side][f->side[side].by->of[j]];
    }
    least = fmin(least, sum);
  }
  for (uint32_t j = 0; j < v->n; j++) t->own[x][j] -= least;
  t->taken += least;
}

/* Undoes all shares and all that was taken off; ruled-out values stay out. */
static void restart(Tighten *t) {
  for (uint32_t i = 0; i < t->n->said; i++)
    for (uint32_t k = 0; k < 2; k++) memset(t->share[i].to[k], 0, t->n->factors.at[i].side[k].by->n * sizeof(double));
  for (uint32_t x = 0; x < t->n->variables.len; x++)
    for (uint32_t j = 0; j < t->n->variables.at[x].n; j++)
      t->own[x][j] = isinf(t->own[x][j]) ? INFINITY : t->n->own_said.at[x][j];
  t->taken = 0;
}

/* Equal layers restart with the shares that one of them has among its like. */
static void begin(Tighten *t, double budget, double enough) {
  t->begun = true;
  Repeat r = repeat_find(t->n);
  if (!r.len) return;
  Arena *a = arena_new();
  Network *m = repeat_ring(a, t->n, &r);
  if (m) {
    Tighten *ring = ring_tighten(a, m, budget - t->n->work, enough / (r.len / r.period));
    t->n->work += m->work;
    restart(t);
    for (uint32_t i = 0; i < r.len; i++) shares_take(t, r.start + i, ring, &r, i % r.period);
    for (uint32_t x = 0; x < t->n->variables.len; x++) settle(t, x);
  }
  arena_free(a);
}

/* ---- cases (branch.c) ----------------------------------------------------------------------------------- */

Tighten *tighten_copy(const Tighten *t, Arena *a) {
  uint32_t len = t->n->variables.len;
  Tighten *u = arena_copy(a, t, sizeof *u);
  u->share = NEW_ARRAY(a, Share, t->n->said + 1);
  u->own = NEW_ARRAY(a, double *, len + 1);
  for (uint32_t i = 0; i < t->n->said; i++)
    for (uint32_t k = 0; k < 2; k++)
      u->share[i].to[k] = arena_copy(a, t->share[i].to[k], t->n->factors.at[i].side[k].by->n * sizeof(double));
  for (uint32_t x = 0; x < len; x++) u->own[x] = arena_copy(a, t->own[x], t->n->variables.at[x].n * sizeof(double));
  return u;
}

void tighten_remove(Tighten *t, uint32_t x, uint32_t value) {
  t->own[x][value] = INFINITY;
}

void tighten_left(const Tighten *t, uint32_t x, bool *left) {
  for (uint32_t j = 0; j < t->n->variables.at[x].n; j++) left[j] = !isinf(t->own[x][j]);
}

double tighten_pass(Tighten *t, bool back, double enough, double *best, uint32_t *value) {
  t->value = value;
  t->best = value ? *best : INFINITY;
  t->above = fmin(t->best, enough) - t->n->constant;
  t->begun = true;
  pass(t, back);
  if (value) *best = t->best;
  return t->none ? INFINITY : t->n->constant + t->taken;
}

static bool few_left(const Tighten *t) {
  double all = 0, left = 0;
  for (uint32_t x = 0; x < t->n->variables.len; x++) {
    all += t->n->variables.at[x].n;
    for (uint32_t j = 0; j < t->n->variables.at[x].n; j++) left += !isinf(t->own[x][j]);
  }
  return left < NETWORK_SHRINK * all;
}

double network_tighten(Tighten *t, double budget, double enough, double *best, uint32_t *value, bool **left) {
  const Network *n = t->n;
  t->value = value;
  t->best = best ? *best : INFINITY;
  t->above = fmin(t->best, enough) - n->constant;
  if (!t->begun) begin(t, budget, enough);
  for (uint32_t k = 0; k < PASSES && n->work < budget && n->constant + t->taken < enough; k++) {
    double before = t->taken, gap = t->above - t->taken;
    pass(t, k % 2);
    if (best) *best = t->best;
    if (t->none) return fmin(t->best, enough);
    bool slow = k > 4 && t->taken - before < 1e-3 * (t->above - t->taken);
    if (slow || n->constant + t->taken >= enough || t->above - t->taken <= 1e-9 * (fabs(t->above) + 1) || gap <= 0 ||
        few_left(t))
      break;
  }
  for (uint32_t x = 0; x < n->variables.len; x++)
    for (uint32_t j = 0; j < n->variables.at[x].n; j++) left[x][j] = !isinf(t->own[x][j]);
  return n->constant + t->taken;
}
