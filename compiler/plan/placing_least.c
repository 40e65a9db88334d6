/* plan/placing_least.c - what a site must have at least, however a plan places tensors: a bound, for limits that none can keep. */
#include <math.h>

#include "placing_fit.h"

enum { LABELS = 6 };         /* of a vertex with more than these that can be cut, only its tensors' shares are looked at */

typedef struct Least {
  Arena *arena;
  const PlaceGraph *g;
  const Lives *l;
  int64_t sites;
  double *share;             /* by tensor: bytes of the largest block, where all sites have as little of it as can be */
  VEC(int64_t) divisor;      /* of the sites, in order */
  Memo steps;                /* by what makes vertices alike: the least for their kernels */
} Least;

/* No more blocks than sites, nor than there is room for. */
static double share_of(const Least *x, const PlaceTensor *t) {
  double blocks = 1, size = dtype_size(t->node->dtype);
  for (uint32_t d = 0; d < t->n && blocks < (double)x->sites; d++) blocks *= (double)t->most[d];
  if (blocks > (double)x->sites) blocks = (double)x->sites;
  double elements = t->bytes / size / blocks, whole = (double)(int64_t)elements;
  return size * (whole + (elements > whole * (1 + 1e-12)));
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

/* label: by dimension; NULL: its own. */
static double block_on(const Step *s, uint32_t rank, const int64_t *extent, const int32_t *label, double bytes) {
  for (uint32_t d = 0; d < rank; d++) {
    int64_t count = 1, on = label ? label[d] : (int64_t)d;
    for (uint32_t k = 0; k < s->n; k++)
      if (s->label[k] == on) count = s->count[k];
    bytes *= (double)(extent[d] / count + (extent[d] % count > 0));
  }
  return bytes;
}

/* Only reads whose operand is there besides shares of tensors: of a tensor that is read twice, the first. */
static bool counts(const Step *s, uint32_t read) {
  const PlaceGraph *g = s->x->g;
  const PartRead *r = &s->v->reads.at[read];
  uint32_t t = g->tensor[s->vertex][read];
  Fetched f = s->x->l->fetched[s->vertex][read];
  if (!r->call || r->index || r->node->kind == EIN_STACK || f.from != f.to || s->x->l->next_of[t] >= 0) return false;
  for (uint32_t d = 0; r->from >= 0 && d < r->rank; d++)
    if (r->made[d] < 0 && r->label[d] >= 0) return false;
  for (uint32_t k = 0; k < read; k++)
    if (g->tensor[s->vertex][k] == t) return false;
  return true;
}

/* What its kernels want of a tensor is fetched, or lies within what is at home; so beside the tensor's share there is the rest of it. */
static double operand(const Step *s, uint32_t read) {
  const PartRead *r = &s->v->reads.at[read];
  if (!counts(s, read)) return 0;
  double more = block_on(s, r->rank, r->extent, r->label, dtype_size(r->node->dtype)) - s->x->share[s->x->g->tensor[s->vertex][read]];
  return more > 0 ? more : 0;
}

static void step_try(Step *s) {
  bool in_place = s->x->l->next_of[s->vertex] >= 0;
  double bytes = in_place ? 0 : block_on(s, s->v->n_out, s->v->extent, NULL, dtype_size(s->v->node->dtype));
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
  uint32_t head[] = {v->n_label, v->n_out, v->reads.len, s->x->l->next_of[s->vertex] >= 0};
  buf_add(key, (const char *)head, sizeof head);
  buf_add(key, (const char *)v->extent, v->n_label * sizeof *v->extent);
  buf_add(key, (const char *)v->most, v->n_label * sizeof *v->most);
  for (uint32_t k = 0; k < v->reads.len; k++) {
    const PartRead *r = &v->reads.at[k];
    double at[] = {counts(s, k), r->rank, dtype_size(r->node->dtype), s->x->share[s->x->g->tensor[s->vertex][k]]};
    buf_add(key, (const char *)at, sizeof at);
    buf_add(key, (const char *)r->extent, r->rank * sizeof *r->extent);
    buf_add(key, (const char *)r->label, r->rank * sizeof *r->label);
  }
}

/* Operands and result, besides the shares of all tensors. */
static double step_least(Least *x, uint32_t vertex) {
  Step s = {.x = x, .v = &x->g->part->vertices.at[vertex], .vertex = vertex, .least = INFINITY};
  Buf key = buf_new(x->arena);
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
  Least x = {.arena = a, .g = g, .l = l, .sites = sites, .steps = memo_new(a)};
  double most = 0, *home = NEW_ARRAY(a, double, l->steps + 1);
  x.share = NEW_ARRAY(a, double, g->tensors.len + 1);
  divisors_find(&x);
  for (uint32_t t = 0; t < g->tensors.len; t++) x.share[t] = share_of(&x, &g->tensors.at[t]);
  for (uint32_t k = 0; k < l->all.len; k++) {
    const Life *life = &l->all.at[k];
    if (!life->stack && l->next_of[life->tensor] >= 0) continue; /* it may be in the state's place */
    for (uint32_t s = life->from; s <= life->to; s++) home[s] += life->times * x.share[life->tensor];
  }
  for (uint32_t s = 0; s < l->steps; s++) {
    bool runs = s < g->part->vertices.len && g->part->vertices.at[s].node->kind == EIN_VERTEX;
    double bytes = home[s] + (runs ? step_least(&x, s) : 0);
    most = bytes > most ? bytes : most;
  }
  arena_free(a);
  return most;
}
