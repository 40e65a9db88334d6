/* expr/prove/fm.c - Fourier-Motzkin elimination over the integers (fm.h). */
#include "fm.h"

#include <string.h>

enum { POINT_TRIES = 400, LARGE = 62 };

void fm_new(Fm *s, uint32_t n_var) {
  s->n_var = n_var;
  s->n = 0;
  s->none = s->lossy = s->dark = false;
  s->exact = true;
}

static void row_copy(FmRow *to, const FmRow *r, uint32_t n_var) {
  to->k = r->k;
  to->tag = r->tag;
  memcpy(to->c, r->c, n_var * sizeof r->c[0]);
}

void fm_copy(Fm *to, const Fm *s) {
  fm_new(to, s->n_var);
  to->n = s->n;
  to->none = s->none;
  to->lossy = s->lossy;
  to->exact = s->exact;
  to->dark = s->dark;
  for (uint32_t i = 0; i < s->n; i++) row_copy(&to->row[i], &s->row[i], s->n_var);
}

void fm_row(FmRow *r, uint32_t n_var) {
  r->k = 0;
  r->tag = 0;
  memset(r->c, 0, n_var * sizeof r->c[0]);
}

static uint64_t gcd(uint64_t a, uint64_t b) {
  while (b) {
    uint64_t r = a % b;
    a = b;
    b = r;
  }
  return a;
}

static uint64_t size_of(int64_t a) {
  return a < 0 ? 0 - (uint64_t)a : (uint64_t)a;
}

/* Divides by the gcd of the coefficients, rounding the constant down: no integer point is lost. False: too large. */
static bool tighten(FmRow *r, uint32_t n_var, bool *constant) {
  uint64_t g = 0;
  for (uint32_t v = 0; v < n_var; v++) {
    if (size_of(r->c[v]) >> LARGE) return false;
    if (r->c[v] && g != 1) g = gcd(size_of(r->c[v]), g);
  }
  if (size_of(r->k) >> LARGE) return false;
  *constant = g == 0;
  if (g <= 1) return true;
  for (uint32_t v = 0; v < n_var; v++) r->c[v] /= (int64_t)g;
  r->k = floor_div(r->k, (int64_t)g);
  return true;
}

/* 1: the same coefficients; -1: the negated ones; 0: neither. */
static int compare(const FmRow *a, const FmRow *b, uint32_t n_var) {
  bool same = true, minus = true;
  for (uint32_t v = 0; v < n_var && (same || minus); v++) {
    same = same && a->c[v] == b->c[v];
    minus = minus && a->c[v] == -b->c[v];
  }
  return same ? 1 : minus ? -1 : 0;
}

void fm_add(Fm *s, const FmRow *from) {
  FmRow r;
  bool constant;
  if (s->none) return;
  row_copy(&r, from, s->n_var);
  if (!tighten(&r, s->n_var, &constant)) {
    s->lossy = true;
    return;
  }
  if (constant) {
    s->none = r.k < 0;
    return;
  }
  for (uint32_t i = 0; i < s->n; i++) {
    FmRow *o = &s->row[i];
    int how = compare(&r, o, s->n_var);
    if (how > 0) { /* the tighter one stays */
      if (r.k < o->k || (r.k == o->k && r.tag < o->tag)) o->k = r.k, o->tag = r.tag;
      return;
    }
    if (how < 0 && r.k + o->k < 0) {
      s->none = true;
      return;
    }
  }
  if (s->n == FM_ROWS) {
    s->lossy = true;
    return;
  }
  row_copy(&s->row[s->n++], &r, s->n_var);
}

/* Adds the negation of r: r <= -1. */
static void fm_add_not(Fm *s, const FmRow *r) {
  FmRow not;
  fm_row(&not, s->n_var);
  not.tag = r->tag;
  for (uint32_t v = 0; v < s->n_var; v++) not.c[v] = -r->c[v];
  not.k = -r->k - 1;
  fm_add(s, &not);
}

/* ---- elimination ----------------------------------------------------------------------------- */

/* b*lower + a*upper, where a = lower's coefficient of var, b = minus upper's; false on overflow. */
static bool combine(const Fm *s, uint32_t var, const FmRow *lower, const FmRow *upper, FmRow *out) {
  int64_t a = lower->c[var], b = -upper->c[var], g = (int64_t)gcd((uint64_t)a, (uint64_t)b), x, y;
  int64_t p = b / g, q = a / g;
  for (uint32_t v = 0; v < s->n_var; v++)
    if (!mul_ok(lower->c[v], p, &x) || !mul_ok(upper->c[v], q, &y) || !add_ok(x, y, &out->c[v])) return false;
  if (!mul_ok(lower->k, p, &x) || !mul_ok(upper->k, q, &y) || !add_ok(x, y, &out->k)) return false;
  out->tag = lower->tag | upper->tag;
  if (!s->dark || a == 1 || b == 1) return true;
  /* an integer certainly lies between where b*l + a*u >= (a-1)(b-1), before dividing by g */
  if (!mul_ok(a - 1, b - 1, &x) || !add_ok(x, g - 1, &x)) return false;
  return sub_ok(out->k, x / g, &out->k);
}

typedef struct Sides { /* the rows with the variable, that bound it from below and from above */
  uint32_t n_low, n_up;
  FmRow low[FM_ROWS], up[FM_ROWS];
} Sides;

static void sides_take(Fm *s, uint32_t var, Sides *t) {
  uint32_t n = 0;
  t->n_low = t->n_up = 0;
  for (uint32_t i = 0; i < s->n; i++) {
    const FmRow *r = &s->row[i];
    FmRow *to = r->c[var] > 0   ? &t->low[t->n_low++]
                : r->c[var] < 0 ? &t->up[t->n_up++]
                                : &s->row[n++];
    if (to != r) row_copy(to, r, s->n_var);
  }
  s->n = n;
}

/* Finds an equation with coefficient 1, given as two opposite rows: it replaces the variable everywhere. */
static bool equation_find(const Fm *s, uint32_t var, const Sides *t, uint32_t *low, uint32_t *up) {
  for (uint32_t i = 0; i < t->n_low; i++) {
    if (t->low[i].c[var] != 1) continue;
    for (uint32_t j = 0; j < t->n_up; j++) {
      if (t->low[i].k != -t->up[j].k || compare(&t->low[i], &t->up[j], s->n_var) >= 0) continue;
      *low = i, *up = j;
      return true;
    }
  }
  return false;
}

static void past_add(FmPast *past, uint32_t var, const Sides *t, uint32_t n_var) {
  uint32_t from = past->n_row;
  for (uint32_t i = 0; i < t->n_low + t->n_up && past->n_row < FM_PAST; i++)
    row_copy(&past->row[past->n_row++], i < t->n_low ? &t->low[i] : &t->up[i - t->n_low], n_var);
  past->step[past->n_step].var = var;
  past->step[past->n_step].from = from;
  past->step[past->n_step++].to = past->n_row;
}

/* past may be NULL. */
static void fm_eliminate(Fm *s, uint32_t var, FmPast *past) {
  if (s->none) return;
  Sides t;
  sides_take(s, var, &t);
  if (past) past_add(past, var, &t, s->n_var);
  uint32_t low = 0, up = 0;
  bool equal = equation_find(s, var, &t, &low, &up);
  for (uint32_t i = 0; i < t.n_low; i++)
    for (uint32_t j = 0; j < t.n_up && !s->none; j++) {
      FmRow r;
      if (equal && i != low && j != up) continue;
      if (t.low[i].c[var] != 1 && t.up[j].c[var] != -1) s->exact = false;
      if (combine(s, var, &t.low[i], &t.up[j], &r))
        fm_add(s, &r);
      else
        s->lossy = true;
    }
}

/* The cheapest variable to eliminate among those with gone[v] set, exact ones first; n_var: none left. */
static uint32_t fm_pick(const Fm *s, const bool *gone) {
  uint32_t best = s->n_var;
  int64_t best_cost = 0;
  for (uint32_t v = 0; v < s->n_var; v++) {
    int64_t low = 0, up = 0, rough_low = 0, rough_up = 0;
    if (gone && !gone[v]) continue;
    for (uint32_t i = 0; i < s->n; i++) {
      int64_t c = s->row[i].c[v];
      low += c > 0;
      up += c < 0;
      rough_low += c > 1;
      rough_up += c < -1;
    }
    if (low + up == 0) continue;
    int64_t cost = low * up - low - up + (rough_low && rough_up ? 10000 : 0);
    if (best < s->n_var && cost >= best_cost) continue;
    best = v;
    best_cost = cost;
  }
  return best;
}

void fm_eliminate_all(Fm *s, const bool *gone, FmPast *past) {
  for (uint32_t v; !s->none && (v = fm_pick(s, gone)) < s->n_var;) fm_eliminate(s, v, past);
}

bool fm_none(const Fm *s) {
  Fm t;
  fm_copy(&t, s);
  fm_eliminate_all(&t, NULL, NULL);
  return t.none;
}

bool fm_implies(const Fm *s, const FmRow *r) {
  Fm t;
  fm_copy(&t, s);
  fm_add_not(&t, r);
  fm_eliminate_all(&t, NULL, NULL);
  return t.none;
}

/* ---- a point --------------------------------------------------------------------------------- */

typedef struct Search {
  const FmPast *past;
  uint32_t n_var;
  int64_t *x;
  int tries;
} Search;

/* The range that the rows of a step leave for its variable, given the others; false: it is empty, or too large. */
static bool range(const Search *s, uint32_t step, int64_t *lo, int64_t *hi) {
  uint32_t var = s->past->step[step].var;
  *lo = INT64_MIN, *hi = INT64_MAX;
  for (uint32_t i = s->past->step[step].from; i < s->past->step[step].to; i++) {
    const FmRow *r = &s->past->row[i];
    int64_t rest = r->k, y, c = r->c[var];
    for (uint32_t v = 0; v < s->n_var; v++)
      if (v != var && r->c[v] && (!mul_ok(r->c[v], s->x[v], &y) || !add_ok(rest, y, &rest))) return false;
    if (rest == INT64_MIN) return false;
    int64_t bound = c > 0 ? -floor_div(rest, c) : floor_div(rest, -c); /* c*x >= -rest, -c*x <= rest */
    if (c > 0 && bound > *lo) *lo = bound;
    if (c < 0 && bound < *hi) *hi = bound;
  }
  return *lo <= *hi && *lo < (int64_t)1 << 60 && *hi > -((int64_t)1 << 60);
}

/* Undoes steps from the last on; tries a few values for each, nearest to zero first, then the far end. */
static bool point_from(Search *s, uint32_t left) {
  if (left == 0) return true;
  int64_t lo, hi;
  if (--s->tries < 0 || !range(s, left - 1, &lo, &hi)) return false;
  int64_t *x = &s->x[s->past->step[left - 1].var];
  int64_t near = lo > 0 ? lo : hi < 0 ? hi : 0, far = near == hi ? lo : hi;
  int64_t dir = near == hi ? -1 : 1, value[4] = {near, near + dir, near + 2 * dir, far};
  for (int i = 0; i < 4; i++) {
    if (value[i] < lo || value[i] > hi || (i == 3 && (far == INT64_MAX || far == INT64_MIN))) continue;
    *x = value[i];
    if (point_from(s, left - 1)) return true;
    if (s->tries < 0) return false;
  }
  return false;
}

bool fm_point(const FmPast *past, uint32_t n_var, int64_t *x) {
  memset(x, 0, n_var * sizeof x[0]);
  Search s = {past, n_var, x, POINT_TRIES};
  return past->n_row < FM_PAST && point_from(&s, past->n_step);
}
