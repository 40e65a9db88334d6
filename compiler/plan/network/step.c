/* plan/network/step.c - eliminates one variable: for each choice of its neighbours' classes, takes the minimum over
 * its values of the sum of all costs that have it. */
#include "inside.h"

typedef struct Near { uint32_t variable; const Classes *by; } Near; /* a neighbour, and which of its values differ */

typedef struct Step {
  Network *n;
  Arena *arena;              /* of what ends with the step */
  uint32_t x, len;
  const uint32_t *factor;
  const Classes *by;         /* of x */
  double *own;               /* by class of x */
  uint32_t n_near, n_all;    /* neighbours of which some factor distinguishes values; with those after them of which none
                              * does */
  Near *near;
  uint32_t *level;           /* by factor: how many neighbours it waits for */
  size_t ***offset;          /* by factor, by neighbour, by class: its offset in the factor's table */
  size_t **offset_x;         /* by factor, by class of x */
  double **sum;              /* by level, by class of x: the sum of the factors that need no more neighbours */
  size_t *base;              /* by factor: the offset of the neighbours chosen so far in its table */
  double *out;
} Step;

static const Factor *factor_at(const Step *s, uint32_t i) {
  return &s->n->factors.at[s->factor[i]];
}

/* n_near: no factor distinguishes its values, or it is x. */
static uint32_t near_find(const Step *s, uint32_t variable) {
  uint32_t j = 0;
  while (j < s->n_near && s->near[j].variable != variable) j++;
  return j;
}

static void side_add(Step *s, const Side *side) {
  Network *n = s->n;
  uint32_t *place = &n->place[side->variable];
  if (side->variable == s->x) s->by = classes_meet(n, s->by, side->by);
  else if (*place) s->near[*place - 1].by = classes_meet(n, s->near[*place - 1].by, side->by);
  else s->near[s->n_all++] = (Near){side->variable, side->by}, *place = s->n_all;
}

/* Finds the neighbours in the order of the factors, each with the classes that any factor distinguishes; and x
 * likewise. */
static void sides_find(Step *s) {
  uint32_t room = 0, n_alike = 0;
  for (uint32_t i = 0; i < s->len; i++) room += factor_at(s, i)->n;
  s->near = NEW_ARRAY(s->arena, Near, room + 1);
  s->by = classes_one(s->n, s->n->variables.at[s->x].n);
  for (uint32_t i = 0; i < s->len; i++)
    for (uint32_t k = 0; k < factor_at(s, i)->n; k++) side_add(s, &factor_at(s, i)->side[k]);
  Near *alike = NEW_ARRAY(s->arena, Near, s->n_all + 1);
  for (uint32_t j = 0; j < s->n_all; j++) {
    s->n->place[s->near[j].variable] = 0;
    if (s->near[j].by->n > 1) s->near[s->n_near++] = s->near[j];
    else alike[n_alike++] = s->near[j];
  }
  for (uint32_t j = 0; j < n_alike; j++) s->near[s->n_near + j] = alike[j];
}

/* Of values that are otherwise indistinguishable only the cheapest can be chosen. */
static void own_find(Step *s, bool own) {
  const Variable *x = &s->n->variables.at[s->x];
  s->own = NEW_ARRAY(s->arena, double, s->by->n);
  for (uint32_t c = 0; own && c < s->by->n; c++) s->own[c] = x->own[s->by->first[c]];
  for (uint32_t v = 0; own && v < x->n; v++)
    if (x->own[v] < s->own[s->by->of[v]]) s->own[s->by->of[v]] = x->own[v];
}

/* ---- keys of equal steps -------------------------------------------------------------------------------- */

static uint64_t *key_find(Step *s, uint32_t *len, double *low) {
  uint32_t room = 4;
  for (uint32_t i = 0; i < s->len; i++) room += 2 + 2 * factor_at(s, i)->n;
  uint64_t *key = NEW_ARRAY(s->arena, uint64_t, room), *k = key;
  *k++ = s->by->id;
  *k++ = table_of(s->n, s->by->n, s->own, low)->id;
  *k++ = s->len;
  for (uint32_t i = 0; i < s->len; i++) {
    const Factor *f = factor_at(s, i);
    *k++ = f->table->id;
    *k++ = f->n;
    for (uint32_t j = 0; j < f->n; j++) {
      *k++ = f->side[j].variable == s->x ? UINT64_MAX : near_find(s, f->side[j].variable);
      *k++ = f->side[j].by->id;
    }
  }
  *len = (uint32_t)(k - key);
  return key;
}

/* ---- the table ------------------------------------------------------------------------------------------- */

static size_t *offsets(const Step *s, const Factor *f, uint32_t variable, const Classes *by) {
  size_t *at = NEW_ARRAY(s->arena, size_t, by->n);
  for (uint32_t k = 0; k < f->n; k++) {
    const Side *side = &f->side[k];
    for (uint32_t c = 0; side->variable == variable && c < by->n; c++)
      at[c] += side->stride * side->by->of[by->first[c]];
  }
  return at;
}

static void tables_ready(Step *s) {
  Arena *a = s->arena;
  s->level = NEW_ARRAY(a, uint32_t, s->len + 1);
  s->offset = NEW_ARRAY(a, size_t **, s->len + 1);
  s->offset_x = NEW_ARRAY(a, size_t *, s->len + 1);
  s->base = NEW_ARRAY(a, size_t, s->len + 1);
  s->sum = NEW_ARRAY(a, double *, s->n_near + 1);
  for (uint32_t j = 0; j <= s->n_near; j++) s->sum[j] = NEW_ARRAY(a, double, s->by->n);
  for (uint32_t i = 0; i < s->len; i++) {
    const Factor *f = factor_at(s, i);
    s->offset[i] = NEW_ARRAY(a, size_t *, s->n_near + 1);
    s->offset_x[i] = offsets(s, f, s->x, s->by);
    for (uint32_t j = 0; j < s->n_near; j++) s->offset[i][j] = offsets(s, f, s->near[j].variable, s->near[j].by);
    for (uint32_t k = 0; k < f->n; k++) {
      uint32_t j = near_find(s, f->side[k].variable);
      if (j < s->n_near && j + 1 > s->level[i]) s->level[i] = j + 1;
    }
  }
}

/* Adds the factors that need the first `level` neighbours and no more. */
static void level_add(Step *s, uint32_t level, const double *from) {
  double *sum = s->sum[level];
  uint32_t n = s->by->n;
  for (uint32_t c = 0; c < n; c++) sum[c] = from[c];
  for (uint32_t i = 0; i < s->len; i++) {
    if (s->level[i] != level) continue;
    const double *t = factor_at(s, i)->table->at + s->base[i];
    const size_t *at = s->offset_x[i];
    for (uint32_t c = 0; c < n; c++) sum[c] += t[at[c]];
    s->n->work += n;
  }
}

static void choose(Step *s, uint32_t level) {
  if (level == s->n_near) {
    double least = s->sum[level][0];
    for (uint32_t c = 1; c < s->by->n; c++) least = s->sum[level][c] < least ? s->sum[level][c] : least;
    s->n->work += s->by->n;
    *s->out++ = least;
    return;
  }
  for (uint32_t c = 0; c < s->near[level].by->n; c++) {
    for (uint32_t i = 0; i < s->len; i++) s->base[i] += s->offset[i][level][c];
    level_add(s, level + 1, s->sum[level]);
    choose(s, level + 1);
    for (uint32_t i = 0; i < s->len; i++) s->base[i] -= s->offset[i][level][c];
  }
}

static void table_make(Step *s, Done *d) {
  size_t len = 1;
  for (uint32_t j = 0; j < s->n_near; j++) len *= s->near[j].by->n;
  double *out = NEW_ARRAY(s->arena, double, len);
  s->out = out;
  tables_ready(s);
  level_add(s, 0, s->own);
  choose(s, 0);
  d->table = table_of(s->n, len, out, &d->low);
  d->by = NEW_ARRAY(s->n->arena, const Classes *, s->n_near + 1);
  for (uint32_t j = 0; j < s->n_near; j++) d->by[j] = s->near[j].by;
}

/* ---- the result --------------------------------------------------------------------------------------------- */

static void factor_add(Network *n, uint32_t len, const Near *near, const Table *t) {
  Factor f = {.n = len, .side = NEW_ARRAY(n->arena, Side, len), .table = t};
  size_t stride = 1;
  for (uint32_t j = len; j-- > 0;) {
    f.side[j] = (Side){near[j].variable, near[j].by, stride};
    stride *= near[j].by->n;
    vec_push(n->arena, n->variables.at[near[j].variable].factors, n->factors.len);
  }
  vec_push(n->arena, n->factors, f);
}

void step_eliminate(Network *n, uint32_t x, uint32_t len, const uint32_t *factor, bool own) {
  Step s = {.n = n, .arena = arena_new(), .x = x, .len = len, .factor = factor};
  uint32_t key_len;
  double low;
  sides_find(&s);
  own_find(&s, own);
  const uint64_t *key = key_find(&s, &key_len, &low);
  Done *d = done_find(n, key_len, key);
  if (!d->table) table_make(&s, d);
  n->constant += low + d->low;
  for (uint32_t i = 0; i < len; i++) n->factors.at[factor[i]].gone = true;
  for (uint32_t j = 0; j < s.n_all; j++) {
    Variable *y = &n->variables.at[s.near[j].variable];
    if (y->price >= 0) vec_push(n->arena, n->stale, s.near[j].variable);
    y->price = -1;
    while (y->live < y->factors.len && n->factors.at[y->factors.at[y->live]].gone) y->live++;
  }
  if (s.n_near == 1) {
    Variable *y = &n->variables.at[s.near[0].variable];
    for (uint32_t v = 0; v < y->n; v++) y->own[v] += d->table->at[d->by[0]->of[v]];
  } else if (s.n_near) factor_add(n, s.n_near, s.near, d->table);
  arena_free(s.arena);
}

/* ---- cost of a step -------------------------------------------------------------------------------------------- */

typedef struct Price { uint32_t variable; double classes; } Price;

/* At most as many classes as values, and as the product of the factors' classes. Where that is more than anyone
 * would do, an estimate from the first ones is enough. */
double step_price(const Network *n, uint32_t x) {
  Arena *a = arena_new();
  VEC(Price) all = {0};
  vec_push(a, all, ((Price){x, 1}));
  const Variable *v = &n->variables.at[x];
  double price = 1, rough = 1;
  n->place[x] = 1;
  for (uint32_t i = v->live; i < v->factors.len && rough < STEP_NEVER; i++) {
    const Factor *f = &n->factors.at[v->factors.at[i]];
    for (uint32_t k = 0; !f->gone && k < f->n; k++) {
      uint32_t *place = &n->place[f->side[k].variable];
      if (!*place) {
        vec_push(a, all, ((Price){f->side[k].variable, 1}));
        *place = all.len;
      }
      uint32_t j = *place - 1;
      double most = n->variables.at[f->side[k].variable].n, classes = all.at[j].classes * f->side[k].by->n;
      if (classes > most) classes = most;
      rough *= classes / all.at[j].classes;
      all.at[j].classes = classes;
    }
  }
  for (uint32_t j = 0; j < all.len; j++) {
    price *= all.at[j].classes;
    n->place[all.at[j].variable] = 0;
  }
  arena_free(a);
  return price;
}
