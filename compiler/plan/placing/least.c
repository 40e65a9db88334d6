/* plan/placing/least.c - what a site must have at least, however a plan places tensors and whatever is kept inside of kernels: a bound, for limits
 * that none can keep. It is what sites have on the average, so some site has it. */
#include <math.h>

#include "fit.h"

enum { LABELS = 6 };         /* vertices with more than these that can be cut are not looked at */

typedef struct Least {
  const PlaceGraph *g;
  const Lives *l;
  int64_t sites;
  double *kept;              /* by vertex: bytes of the outputs that it is */
  Arena *arena;
  VEC(int64_t) divisor;      /* of the sites, in order */
  Memo steps;                /* by what makes vertices alike: the least for their kernels */
} Least;

/* Of a site, on the average: some has as much. */
static double share_of(const Least *x, double bytes) {
  return bytes / (double)x->sites;
}

/* ---- one vertex ------------------------------------------------------------------------------------------- */

typedef struct Step {
  const Least *x;
  const PartVertex *v;
  uint32_t vertex, n;
  uint32_t label[LABELS];    /* those that can be cut, */
  int64_t count[LABELS];     /*   and into so many blocks each */
  double least;
} Step;

/* Of a site, on the average: blocks differ by an element, and all sites have one. label: by dimension; NULL: its own. */
static double block_on(const Step *s, uint32_t rank, const int64_t *extent, const int32_t *label, double bytes) {
  for (uint32_t d = 0; d < rank; d++) {
    int64_t count = 1, on = label ? label[d] : (int64_t)d;
    for (uint32_t k = 0; k < s->n; k++)
      if (s->label[k] == on) count = s->count[k];
    bytes *= (double)extent[d] / (double)count;
  }
  return bytes;
}

/* Only inputs, for what is computed may be kept inside of a kernel; of one that is read twice, the first read. */
static bool counts(const Step *s, uint32_t read) {
  const PlaceGraph *g = s->x->g;
  const PartRead *r = &s->v->reads.at[read];
  uint32_t t = g->tensor[s->vertex][read];
  Fetched f = s->x->l->fetched[s->vertex][read];
  if (!r->call || r->index || r->node->kind != EIN_INPUT || f.from != f.to) return false;
  for (uint32_t k = 0; k < read; k++)
    if (g->tensor[s->vertex][k] == t) return false;
  return true;
}

/* What its kernels want of an input is fetched, or lies within what is stored; so beside the input's share there is the rest of it. */
static double operand(const Step *s, uint32_t read) {
  const PartRead *r = &s->v->reads.at[read];
  if (!counts(s, read)) return 0;
  double more = block_on(s, r->rank, r->extent, r->label, dtype_size(r->node->dtype)) - share_of(s->x, s->x->g->tensors.at[s->x->g->tensor[s->vertex][read]].bytes);
  return more > 0 ? more : 0;
}

/* So too what they make of an output. */
static double result(const Step *s) {
  if (s->x->kept[s->vertex] <= 0 || s->v->node->rank != s->v->n_out) return 0;
  double more = block_on(s, s->v->n_out, s->v->extent, NULL, dtype_size(s->v->node->dtype)) - share_of(s->x, s->x->kept[s->vertex]);
  return more > 0 ? more : 0;
}

static void step_try(Step *s) {
  double bytes = result(s);
  for (uint32_t k = 0; k < s->v->reads.len && bytes < s->least; k++) bytes += operand(s, k);
  if (bytes < s->least) s->least = bytes;
}

/* All counts whose product divides the sites. */
static void step_counts(Step *s, uint32_t k, int64_t left) {
  if (k == s->n) {
    step_try(s);
    return;
  }
  for (uint32_t i = 0; i < s->x->divisor.len; i++) {
    int64_t n = s->x->divisor.at[i];
    if (n > left || n > s->v->most[s->label[k]]) break;
    if (left % n) continue;
    s->count[k] = n;
    step_counts(s, k + 1, left / n);
  }
}

/* What makes two vertices alike. */
static void step_key(const Step *s, Buf *key) {
  const PartVertex *v = s->v;
  uint32_t head[] = {v->n_label, v->n_out, v->reads.len, v->node->rank};
  buf_add(key, (const char *)&s->x->kept[s->vertex], sizeof s->x->kept[0]);
  buf_add(key, (const char *)head, sizeof head);
  buf_add(key, (const char *)v->extent, v->n_label * sizeof *v->extent);
  buf_add(key, (const char *)v->most, v->n_label * sizeof *v->most);
  for (uint32_t k = 0; k < v->reads.len; k++) {
    const PartRead *r = &v->reads.at[k];
    double at[] = {counts(s, k), r->rank, dtype_size(r->node->dtype), s->x->g->tensors.at[s->x->g->tensor[s->vertex][k]].bytes};
    buf_add(key, (const char *)at, sizeof at);
    buf_add(key, (const char *)r->extent, r->rank * sizeof *r->extent);
    buf_add(key, (const char *)r->label, r->rank * sizeof *r->label);
  }
}

/* Operands and result, besides the shares of inputs and outputs. Where points are left out, some sites may have nothing to do. */
static double step_least(Least *x, uint32_t vertex) {
  Step s = {.x = x, .v = &x->g->part->vertices.at[vertex], .vertex = vertex, .least = INFINITY};
  Buf key = buf_new(x->arena);
  if (s.v->node->sum && (s.v->node->sum->where || s.v->node->sum->domain)) return 0;
  for (uint32_t l = 0; l < s.v->n_label; l++) {
    if (s.v->most[l] < 2) continue;
    if (s.n == LABELS) return 0;
    s.label[s.n++] = l;
  }
  step_key(&s, &key);
  MemoEntry *e = memo_get(&x->steps, key.s, key.len);
  double *least = e->value;
  if (least) return *least;
  step_counts(&s, 0, x->sites);
  e->value = least = NEW(x->arena, double);
  return *least = s.least;
}

/* ---- all ------------------------------------------------------------------------------------------------------ */

static void divisors_find(Least *x) {
  VEC(int64_t) large = {0};
  for (int64_t d = 1; d * d <= x->sites; d++) {
    if (x->sites % d) continue;
    vec_push(x->arena, x->divisor, d);
    if (d * d != x->sites) vec_push(x->arena, large, x->sites / d);
  }
  while (large.len) vec_push(x->arena, x->divisor, vec_pop(large));
}

double memory_least(const PlaceGraph *g, const Lives *l, int64_t sites) {
  Arena *a = arena_new();
  Least x = {.arena = a, .g = g, .l = l, .sites = sites, .kept = NEW_ARRAY(a, double, g->part->vertices.len + 1), .steps = memo_new(a)};
  double always = 0, most = 0;
  divisors_find(&x);
  for (uint32_t t = 0; t < g->tensors.len; t++)
    if (g->tensors.at[t].node->kind == EIN_INPUT) always += share_of(&x, g->tensors.at[t].bytes);
  for (uint32_t k = 0; k < g->part->kept.len; k++) {
    const PartKept *o = &g->part->kept.at[k];
    double bytes = dtype_size(o->node->dtype);
    for (uint32_t d = 0; d < o->node->rank; d++) bytes *= (double)o->extent[d];
    always += share_of(&x, bytes);
    if (o->vertex >= 0 && o->node->kind == EIN_VERTEX) x.kept[o->vertex] = bytes;
  }
  for (uint32_t i = 0; i < g->part->vertices.len; i++) {
    double bytes = g->part->vertices.at[i].node->kind == EIN_VERTEX ? step_least(&x, i) : 0;
    most = bytes > most ? bytes : most;
  }
  arena_free(a);
  return always + most;
}
