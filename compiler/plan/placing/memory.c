/* plan/placing/memory.c - which tensors are alive at each step, and how much of them a site holds. */
#include <math.h>

#include "inside.h"
#include "windows.h"

/* ---- lives --------------------------------------------------------------------------------------------- */

typedef struct Living {
  Arena *arena;
  const PlaceGraph *g;
  Lives *l;
  Map first, last;           /* of a region: 1 + the first and last number of its vertices */
} Living;

static const EinRegion *region_of(const Living *x, uint32_t vertex) {
  return x->g->part->vertices.at[vertex].node->region;
}

static void regions_find(Living *x) {
  for (uint32_t i = 0; i < x->g->part->vertices.len; i++)
    for (const EinRegion *r = region_of(x, i); r; r = r->parent) {
      if (!map_find(&x->first, r)) map_put(&x->first, r, (void *)(uintptr_t)(i + 1));
      map_put(&x->last, r, (void *)(uintptr_t)(i + 1));
    }
}

static bool region_in(const EinRegion *r, const EinRegion *outer) {
  while (r && r != outer) r = r->parent;
  return r == outer;
}

/* The outermost region around r that is not around `other`; NULL: r is around it. */
static const EinRegion *region_apart(const EinRegion *r, const EinRegion *other) {
  const EinRegion *apart = NULL;
  for (; r && !region_in(other, r); r = r->parent) apart = r;
  return apart;
}

/* The step up to which a value computed in region `made` stays alive for its reader. A state's first value is read
 * before the turns. */
static uint32_t read_end(Living *x, uint32_t reader, uint32_t read, const EinRegion *made) {
  const PartVertex *v = &x->g->part->vertices.at[reader];
  bool state = v->node->kind == EIN_STATE;
  if (state && read == 0) return reader;
  const EinRegion *r = state ? region_of(x, reader) : region_apart(region_of(x, reader), made);
  return r ? (uint32_t)(uintptr_t)map_find(&x->last, r) - 1 : reader;
}

static void live(Living *x, uint32_t tensor, uint32_t from, uint32_t to) {
  if (to >= from) vec_push(x->arena, x->l->all, ((Life){tensor, from, to, 1, false, false}));
}

/* What is read outside the repeat that makes it: a stack's blocks exist from the first turn on. */
static void stack_lives(Living *x, uint32_t tensor, double times, const EinRegion *reader, uint32_t to) {
  const EinRegion *r = region_apart(region_of(x, tensor), reader);
  uint32_t from = r ? (uint32_t)(uintptr_t)map_find(&x->first, r) - 1 : tensor;
  if (to >= from) vec_push(x->arena, x->l->all, ((Life){tensor, from, to, times, true, false}));
}

static double kept_times(const PlaceTensor *t, const PartKept *k) {
  double elements = 1, of = t->bytes / dtype_size(t->node->dtype);
  for (uint32_t d = 0; d < k->node->rank; d++) elements *= (double)k->extent[d];
  return of > 0 ? elements / of : 0;
}

static void vertex_lives(Living *x, uint32_t i) {
  const PlaceGraph *g = x->g;
  const EinRegion *made = region_of(x, i);
  bool state = g->part->vertices.at[i].node->kind == EIN_STATE;
  uint32_t to = i, end = x->l->steps - 1;
  for (uint32_t v = 0; v < g->part->vertices.len; v++)
    for (uint32_t k = 0; k < g->part->vertices.at[v].reads.len; k++) {
      const PartRead *r = &g->part->vertices.at[v].reads.at[k];
      if (g->tensor[v][k] != i) continue;
      uint32_t until = read_end(x, v, k, made);
      if (r->node->kind == EIN_STACK) stack_lives(x, i, turns_in(&g->tensors.at[i], r), region_of(x, v), until);
      else if (until > to) to = until;
    }
  vec_each(const PartKept, o, g->part->kept) {
    if (o->vertex != (int32_t)i) continue;
    if (o->node->kind == EIN_STACK) stack_lives(x, i, kept_times(&g->tensors.at[i], o), o->node->region, end);
    else to = end;
  }
  uint32_t turns = state && made ? (uint32_t)(uintptr_t)map_find(&x->last, made) - 1 : i;
  if (state) live(x, i, i, turns);
  live(x, i, state ? i : i + 1, state && turns > to ? turns : to);
}

/* Stored all the time; and at home for its readers, if there are several. */
static void input_lives(Living *x, uint32_t tensor) {
  const PartGraph *part = x->g->part;
  uint32_t from = x->l->steps, to = 0;
  vec_push(x->arena, x->l->all, ((Life){tensor, 0, x->l->steps - 1, 1, false, true}));
  for (uint32_t i = 0; i < part->vertices.len && x->l->n_read[tensor] > 1; i++)
    for (uint32_t k = 0; k < part->vertices.at[i].reads.len; k++) {
      const Fetched *f = &x->l->fetched[i][k];
      if (x->g->tensor[i][k] != tensor) continue;
      from = f->from < from ? f->from : from;
      to = f->to > to ? f->to : to;
    }
  if (x->l->n_read[tensor] > 1) live(x, tensor, from, to);
}

static uint64_t panels_of(const PlaceGraph *g, uint32_t vertex, uint32_t read) {
  const PartVertex *v = &g->part->vertices.at[vertex];
  uint64_t labels = 0;
  if (v->node->kind != EIN_VERTEX || !v->node->sum || !sum_panels(v->node->sum)) return 0;
  for (uint32_t l = 0; l < v->n_label && l < 64; l++)
    labels |= (uint64_t)(panels_along(g, vertex, read, l) >= 0) << l;
  return labels;
}

static void fetches_find(Living *x) {
  const PartGraph *part = x->g->part;
  x->l->fetched = NEW_ARRAY(x->arena, Fetched *, part->vertices.len + 1);
  for (uint32_t i = 0; i < part->vertices.len; i++) {
    const PartVertex *v = &part->vertices.at[i];
    x->l->fetched[i] = NEW_ARRAY(x->arena, Fetched, v->reads.len + 1);
    for (uint32_t k = 0; k < v->reads.len; k++) {
      const EinRegion *r = region_apart(region_of(x, i), v->reads.at[k].node->region);
      Fetched *f = &x->l->fetched[i][k];
      *f = (Fetched){i, i, panels_of(x->g, i, k)};
      if (r)
        f->from = (uint32_t)(uintptr_t)map_find(&x->first, r) - 1,
        f->to = (uint32_t)(uintptr_t)map_find(&x->last, r) - 1;
    }
  }
}

Lives *lives_find(Arena *a, const PlaceGraph *g) {
  Living x = {.arena = a, .g = g, .l = NEW(a, Lives), .first = map_new(a), .last = map_new(a)};
  x.l->steps = g->part->vertices.len + 1;
  x.l->next_of = NEW_ARRAY(a, int32_t, g->tensors.len + 1);
  x.l->n_read = NEW_ARRAY(a, uint32_t, g->tensors.len + 1);
  for (uint32_t i = 0; i < g->part->vertices.len; i++)
    for (uint32_t k = 0; k < g->part->vertices.at[i].reads.len; k++) x.l->n_read[g->tensor[i][k]]++;
  for (uint32_t t = 0; t < g->tensors.len; t++) x.l->next_of[t] = -1;
  regions_find(&x);
  fetches_find(&x);
  for (uint32_t i = 0; i < g->part->vertices.len; i++) {
    const PartVertex *v = &g->part->vertices.at[i];
    if (v->node->kind == EIN_STATE && v->reads.len > 1 && g->tensor[i][1] != i)
      x.l->next_of[g->tensor[i][1]] = (int32_t)i;
  }
  for (uint32_t t = 0; t < g->tensors.len; t++) {
    if (g->tensors.at[t].vertex >= 0) vertex_lives(&x, t);
    else input_lives(&x, t);
  }
  return x.l;
}

/* ---- bytes ------------------------------------------------------------------------------------------------- */

double placement_bytes(const PlaceTensor *t, const Mesh *m, const Placement *p) {
  double bytes = dtype_size(t->node->dtype);
  for (uint32_t d = 0; d < t->n; d++) {
    int64_t n = placement_count(m, p, (int8_t)(d < 127 ? d : 127));
    bytes *= (double)(t->extent[d] / n + (t->extent[d] % n > 0));
  }
  return bytes;
}

double stored_bytes(const PlaceTensor *t, const Mesh *m, const Placement *home) {
  double bytes = dtype_size(t->node->dtype);
  Placement at = place_stored(m, t->n, t->most, home);
  for (uint32_t d = 0; d < t->n; d++) {
    double block = part_block(t->extent[d], placement_count(m, &at, (int8_t)(d < 127 ? d : 127)));
    bytes *= part_block((int64_t)block, placement_inner(m, &at, d));
  }
  return bytes;
}

/* Whether every axis that cuts `from` cuts the same dimension of `to`, where nothing else cuts it before. */
bool placement_within(const Mesh *m, const Placement *from, const Placement *to) {
  for (uint32_t a = 0; a < m->n; a++) {
    if (from->on[a] < 0 || m->size[a] == 1) continue;
    if (to->on[a] != from->on[a]) return false;
    for (uint32_t b = 0; b < a; b++)
      if (m->size[b] > 1 && to->on[b] == to->on[a] && from->on[b] != to->on[a]) return false;
  }
  return true;
}

double life_bytes(const PlaceGraph *g, const Life *x, const Mesh *m, const Placement *home) {
  const PlaceTensor *t = &g->tensors.at[x->tensor];
  if (x->stored) return stored_bytes(t, m, home);
  return t->vertex < 0 && placement_copies(m, home) < 2 ? 0 : placement_bytes(t, m, home);
}

/* The next value of a state overwrites the state where both have the same home. */
static bool in_place(const Lives *l, const Placing *p, uint32_t tensor) {
  int32_t state = l->next_of[tensor];
  return state >= 0 && placement_equal(&p->mesh, &p->home[tensor], &p->home[state]);
}

/* Where places are requested, there is one element for each point of the labels in the indices. */
static double asked_block(const PlaceGraph *g, const Placing *p, uint32_t vertex, uint32_t read) {
  const PartVertex *v = &g->part->vertices.at[vertex];
  const PartRead *r = &v->reads.at[read];
  Arena *a = arena_new();
  bool *used = NEW_ARRAY(a, bool, v->n_label + 1);
  double bytes = dtype_size(r->node->dtype);
  for (uint32_t k = 0; k < r->rank; k++) expr_labels(r->index[k], v->n_label, used);
  for (uint32_t l = 0; l < v->n_label; l++) {
    int64_t n = 1;
    for (uint32_t x = 0; x < p->mesh.n; x++)
      if (p->label[vertex][x] == (int64_t)l) n *= p->mesh.size[x];
    if (used[l]) bytes *= (double)(v->extent[l] / n + (v->extent[l] % n > 0));
  }
  arena_free(a);
  return bytes;
}

/* Of the copies at home of an input that has no other reader. */
static double copies_bytes(const PlaceGraph *g, const Lives *l, const Placing *p, uint32_t tensor) {
  const PlaceTensor *t = &g->tensors.at[tensor];
  if (t->vertex >= 0 || l->n_read[tensor] > 1 || placement_copies(&p->mesh, &p->home[tensor]) < 2) return 0;
  return placement_bytes(t, &p->mesh, &p->home[tensor]);
}

double fetched_bytes(const PlaceGraph *g, const Placing *p, uint32_t vertex, uint32_t read) {
  double times;
  uint32_t t = g->tensor[vertex][read];
  if (!reach_is_plain(g, vertex, read)) return windows_fetched(g, p, vertex, read);
  Placement to = placing_wanted(g, p, vertex, read, &times);
  if (placement_within(&p->mesh, &p->home[t], &to)) return 0;
  if (placing_fetches(g, p, vertex, read)) return asked_block(g, p, vertex, read);
  return turns_in(&g->tensors.at[t], &g->part->vertices.at[vertex].reads.at[read]) *
      placement_bytes(&g->tensors.at[t], &p->mesh, &to);
}

/* Of what the vertex makes, in the accumulator's dtype if it is in parts. */
static double made_bytes(const PlaceTensor *t, const Mesh *m, const Placement *made) {
  return placement_bytes(t, m, made) * (t->part / dtype_size(t->node->dtype));
}

/* Where panels of a reduced label are combined, if not in the result. */
static double combined_bytes(const PlaceGraph *g, const Placing *p, uint32_t i) {
  Placement between, made = placing_made(g, p, i, &between);
  const PlaceTensor *t = &g->tensors.at[i];
  bool parts = !placement_equal(&p->mesh, &made, &between);
  return parts || t->part <= dtype_size(t->node->dtype) ? 0 : made_bytes(t, &p->mesh, &made);
}

/* ---- panels ------------------------------------------------------------------------------------------------ */

bool panels_have_read(const Lives *l, uint32_t vertex, uint32_t read) {
  if (l->panels != PANELS_BOTH) return l->panels == PANELS_OPERANDS;
  return l->along[vertex] >= 0 && l->fetched[vertex][read].panels >> l->along[vertex] & 1;
}

bool panels_have_made(const PlaceGraph *g, const Lives *l, uint32_t vertex) {
  if (l->panels != PANELS_BOTH) return l->panels == PANELS_PARTS;
  return l->along[vertex] >= 0 && l->along[vertex] < (int32_t)g->part->vertices.at[vertex].n_out;
}

/* What a step needs besides what lives at home. */
typedef struct Step {
  const PlaceGraph *g;
  const Lives *l;
  const Placing *p;
  uint32_t vertex;
  const double *fetched;     /* by read, for this step alone */
  double made, between, home; /* the result as made, as reduced, at home */
  bool reduced, moved;
} Step;

static Step step_of(const PlaceGraph *g, const Lives *l, const Placing *p, uint32_t i, const double *fetched) {
  const PlaceTensor *t = &g->tensors.at[i];
  Placement between, made = placing_made(g, p, i, &between);
  Step s = {.g = g, .l = l, .p = p, .vertex = i, .fetched = fetched};
  s.reduced = !placement_equal(&p->mesh, &made, &between);
  s.moved = !placement_equal(&p->mesh, &between, &p->home[i]);
  s.home = in_place(l, p, i) ? 0 : placement_bytes(t, &p->mesh, &p->home[i]);
  s.between = s.moved ? placement_bytes(t, &p->mesh, &between) : s.home;
  s.made = s.reduced ? made_bytes(t, &p->mesh, &made) : s.between;
  return s;
}

/* The share of a block that is there: a panel as it is sent, and as it is received. */
static double panel_share(const Step *s, uint32_t label) {
  uint32_t count = 1;
  for (uint32_t a = 0; a < s->p->mesh.n; a++)
    if (s->p->label[s->vertex][a] == (int8_t)label) count *= s->p->mesh.size[a];
  double n = part_block(s->g->part->vertices.at[s->vertex].extent[label], count);
  double panel = ceil(n / (double)PANELS_USUAL);
  return n >= 2 * panel ? 2 * panel / n : 1;
}

/* By phase, in panels of that label, as far as they are of this kind. */
static void step_phases(const Step *s, PanelsKind kind, int32_t label, double *phase) {
  const PartVertex *v = &s->g->part->vertices.at[s->vertex];
  bool result = kind == PANELS_BOTH && label >= 0 && label < (int32_t)v->n_out;
  double share = kind == PANELS_BOTH && label >= 0 ? panel_share(s, (uint32_t)label) : 0, operands = 0;
  for (uint32_t k = 0; k < v->reads.len; k++)
    operands += s->fetched[k] * (label >= 0 && s->l->fetched[s->vertex][k].panels >> label & 1 ? share : 1);
  if (label >= (int32_t)v->n_out) operands += combined_bytes(s->g, s->p, s->vertex);
  double made = s->reduced && kind == PANELS_PARTS ? 0 : s->made * (s->reduced && result ? share : 1);
  double ready = s->reduced && result ? s->between : 0; /* what panels are reduced to, one after the other */
  phase[PHASE_KERNEL] = operands + made + ready;
  phase[PHASE_REDUCE] = s->reduced ? made + s->between : made;
  phase[PHASE_HOME] = s->moved ? s->between + s->home : s->between;
}

static double phases_most(const double *phase) {
  return fmax(phase[PHASE_KERNEL], fmax(phase[PHASE_REDUCE], phase[PHASE_HOME]));
}

/* Whether panels of the label are of use: an operand that is fetched has it, or the result, if both may come in
 * them. */
static bool is_tried(const Step *s, PanelsKind kind, uint32_t label) {
  const PartVertex *v = &s->g->part->vertices.at[s->vertex];
  bool tried = kind == PANELS_BOTH && s->reduced && label < v->n_out;
  for (uint32_t k = 0; k < v->reads.len; k++)
    tried |= s->fetched[k] > 0 && s->l->fetched[s->vertex][k].panels >> label & 1;
  return tried && v->node->sum && sum_panels(v->node->sum);
}

/* Of all labels, that with which it takes least; none, if that takes no more. phase: out. */
static int32_t step_along(const Step *s, PanelsKind kind, double *phase) {
  const PartVertex *v = &s->g->part->vertices.at[s->vertex];
  int32_t along = -1;
  step_phases(s, kind, along, phase);
  if (kind != PANELS_OPERANDS && kind != PANELS_BOTH) return along;
  for (uint32_t label = 0; label < v->n_label && label < 64; label++) {
    double now[PHASES];
    if (!is_tried(s, kind, label)) continue;
    step_phases(s, kind, (int32_t)label, now);
    double most = phases_most(now), least = phases_most(phase);
    if (most > least || (most == least && now[PHASE_KERNEL] >= phase[PHASE_KERNEL])) continue;
    for (int k = 0; k < PHASES; k++) phase[k] = now[k];
    along = (int32_t)label;
  }
  return along;
}

/* Operands that are fetched for the step alone: by read. */
static const double *fetched_once(Arena *a, const PlaceGraph *g, const Lives *l, const Placing *p, uint32_t i) {
  const PartVertex *v = &g->part->vertices.at[i];
  double *once = NEW_ARRAY(a, double, v->reads.len + 1);
  for (uint32_t k = 0; k < v->reads.len; k++)
    if (l->fetched[i][k].from == l->fetched[i][k].to)
      once[k] = fetched_bytes(g, p, i, k) + copies_bytes(g, l, p, g->tensor[i][k]);
  return once;
}

void panels_choose(const PlaceGraph *g, Lives *l, const Placing *p) {
  Arena *a = arena_new();
  for (uint32_t i = 0; i + 1 < l->steps; i++) {
    double phase[PHASES];
    l->along[i] = -1;
    if (g->part->vertices.at[i].node->kind != EIN_VERTEX) continue;
    Step s = step_of(g, l, p, i, fetched_once(a, g, l, p, i));
    l->along[i] = step_along(&s, PANELS_BOTH, phase);
  }
  arena_free(a);
}

/* ---- all steps --------------------------------------------------------------------------------------------- */

/* Operands from outside a repeat, while it runs. */
static void fetches_add(const PlaceGraph *g, const Lives *l, const Placing *p, uint32_t i, double *all) {
  for (uint32_t k = 0; k < g->part->vertices.at[i].reads.len; k++) {
    Fetched f = l->fetched[i][k];
    if (f.from == f.to) continue;
    double bytes = fetched_bytes(g, p, i, k) + copies_bytes(g, l, p, g->tensor[i][k]);
    for (size_t s = (size_t)f.from * PHASES; s < ((size_t)f.to + 1) * PHASES; s++) all[s] += bytes;
  }
}

SiteMemory placing_memory(const PlaceGraph *g, const Lives *l, const Placing *p, double *by) {
  Arena *work = arena_new();
  double *all = by ? by : NEW_ARRAY(work, double, (size_t)l->steps * PHASES);
  SiteMemory most = {0};
  for (size_t k = 0; k < (size_t)l->steps * PHASES; k++) all[k] = 0;
  vec_each(const Life, x, l->all) {
    if (!x->stack && in_place(l, p, x->tensor)) continue;
    double bytes = x->times * life_bytes(g, x, &p->mesh, &p->home[x->tensor]);
    for (size_t s = (size_t)x->from * PHASES; s < ((size_t)x->to + 1) * PHASES; s++) all[s] += bytes;
  }
  for (uint32_t i = 0; i + 1 < l->steps; i++) {
    if (g->part->vertices.at[i].node->kind != EIN_VERTEX) continue;
    double phase[PHASES];
    Step step = step_of(g, l, p, i, fetched_once(work, g, l, p, i));
    step_along(&step, l->panels, phase);
    for (int k = 0; k < PHASES; k++) all[i * PHASES + (uint32_t)k] += phase[k];
    fetches_add(g, l, p, i, all);
  }
  for (uint32_t i = 0; i < l->steps; i++) {
    for (int k = 0; k < PHASES; k++)
      if (all[i * PHASES + (uint32_t)k] > most.bytes) most = (SiteMemory){all[i * PHASES + (uint32_t)k], i, (Phase)k};
  }
  arena_free(work);
  return most;
}
