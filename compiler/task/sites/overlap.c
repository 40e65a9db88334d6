/* task/sites/overlap.c - moves go on while kernels run. In: a mesh's graph with its lifetimes. Out: the same tasks, moves as early as their operand is
 * there, and under way as long as nobody wants what they bring, or changes what they take.
 *
 * First what moves of inputs bring comes as late as can be, for the inputs are there in any case: that is the least of memory. Then
 * all of it lengthens lives, and none of it may raise the peak: of each site that is looked at, no step comes to have more than the
 * fullest had before. So where memory is tight moves stay where they are. A move goes up past as many kernels as it takes to hide it, and no
 * further: moves for later would be in the way of those for now. */
#include <string.h>

#include "task/inside.h"
#include "site.h"

enum { LOOKS = 16, RANK = 256 };
static const double HIDING = 1000; /* operations that hide a byte: more than common machines do while one comes in */

typedef struct Look {        /* a site */
  int64_t *bytes;            /* by buffer; 0: the caller's, and what is not there */
  int64_t *step;             /* by step: bytes that are alive, */
  int64_t *staged;           /*   those that a move works in, */
  int64_t most;              /*   and what all of it may be */
} Look;

typedef struct Overlap {
  TaskGraph *t;
  Look look[LOOKS];
  uint32_t n_look;
} Overlap;

/* ---- memory ------------------------------------------------------------------------------------------------------------ */

static void steps_fill(const TaskGraph *t, Look *l) {
  memset(l->step, 0, (t->n_steps + 1) * sizeof *l->step);
  for (uint32_t i = 0; i < t->buffers.len; i++)
    for (uint32_t s = t->buffers.at[i].first; l->bytes[i] && s <= t->buffers.at[i].last; s++) l->step[s] += l->bytes[i];
}

static void look_make(TaskGraph *t, const Stagings *moves, const uint32_t *at, Look *l) {
  int64_t shape[RANK];
  *l = (Look){NEW_ARRAY(t->arena, int64_t, t->buffers.len + 1), NEW_ARRAY(t->arena, int64_t, t->n_steps + 2), NEW_ARRAY(t->arena, int64_t, t->n_steps + 2), 0};
  for (uint32_t i = 0; i < t->buffers.len; i++) {
    const TaskBuffer *b = &t->buffers.at[i];
    if (b->space == BUF_WORK && !mul_ok(task_shape(t, b, at, shape), dtype_size(b->dtype), &l->bytes[i])) l->bytes[i] = INT64_MAX >> 20;
  }
  steps_fill(t, l);
  for (uint32_t i = 0; i < moves->len; i++) l->staged[staging_move(moves->at[i])->step] = staging_at(moves->at[i], at);
  for (uint32_t s = 0; s < t->n_steps; s++)
    if (l->step[s] + l->staged[s] > l->most) l->most = l->step[s] + l->staged[s];
}

static void looks_make(Overlap *o) {
  int64_t sites = mesh_sites(&o->t->mesh);
  uint32_t at[MESH_AXES + 1];
  Stagings moves = stagings_of(o->t->arena, o->t);
  o->n_look = sites < LOOKS ? (uint32_t)sites : LOOKS;
  for (uint32_t i = 0; i < o->n_look; i++) {
    mesh_place(&o->t->mesh, o->n_look < 2 ? 0 : (int64_t)i * (sites - 1) / (o->n_look - 1), at);
    look_make(o->t, &moves, at, &o->look[i]);
  }
}

static int64_t both(const Look *l, const Task *m, uint32_t buffer, uint32_t place) {
  return l->bytes[buffer] + (task_moves_places(m) ? l->bytes[place] : 0);
}

static bool has_room(const Overlap *o, const Task *m, uint32_t buffer, uint32_t place, uint32_t first, uint32_t last) {
  for (const Look *l = o->look; l < o->look + o->n_look; l++)
    for (uint32_t s = first; s <= last; s++)
      if (l->step[s] + l->staged[s] + both(l, m, buffer, place) > l->most) return false;
  return true;
}

/* The same for what the move itself works in, were it done at step s, where what it brings is not counted yet. */
static bool has_room_at(const Overlap *o, const Task *m, uint32_t s) {
  for (const Look *l = o->look; l < o->look + o->n_look; l++)
    if (l->step[s] + l->staged[m->step] + both(l, m, m->buffer, m->place_to) > l->most) return false;
  return true;
}

static void room_take(Overlap *o, const Task *m, uint32_t buffer, uint32_t place, uint32_t first, uint32_t last) {
  for (Look *l = o->look; l < o->look + o->n_look; l++)
    for (uint32_t s = first; s <= last; s++) l->step[s] += both(l, m, buffer, place);
}

/* ---- as late as can be ---------------------------------------------------------------------------------------------- */

static void sink(const TaskGraph *t, Tasks *list, uint32_t i) {
  Task *m = list->at[i];
  uint32_t to = i;
  while (to + 1 < list->len && !move_hinders(t, m, list->at[to + 1])) to++;
  if (to + 1 == list->len) return;
  memmove(list->at + i, list->at + i + 1, (to - i) * sizeof *list->at);
  list->at[to] = m;
}

static void sink_all(const TaskGraph *t, Tasks *list) {
  for (uint32_t i = list->len; i-- > 0;) {
    Task *k = list->at[i];
    if (k->kind == TASK_REPEAT) sink_all(t, &k->body);
    if (k->kind == TASK_MOVE && t->buffers.at[k->from].space == BUF_INPUT && !task_moves_places(k)) sink(t, list, i);
  }
}

/* ---- earlier -------------------------------------------------------------------------------------------------------------- */

static double size_of(const TaskGraph *t, uint32_t buffer) {
  const TaskBuffer *b = &t->buffers.at[buffer];
  double n = (double)dtype_size(b->dtype);
  for (uint32_t d = 0; d < b->rank; d++) n *= (double)task_size_guess(t, b->dim[d]);
  return n;
}

/* Points that its kernels compute, at the first site. */
static double work_of(const TaskGraph *t, const Task *k) {
  double all = 0;
  for (uint32_t i = 0; i < k->stages.len; i++) {
    const TaskStage *s = &k->stages.at[i];
    double n = 1;
    for (uint32_t l = 0; l < s->sum->n_out + s->sum->n_red; l++) n *= (double)task_size_guess(t, s->bound[l]);
    all += n;
  }
  for (uint32_t i = 0; i < k->body.len; i++) all += work_of(t, k->body.at[i]);
  return all;
}

/* Of the list's tasks from `to` to `from`, the last becomes the first. */
static void rotate(Overlap *o, Tasks *list, uint32_t to, uint32_t from) {
  Task *m = list->at[from];
  uint32_t first = list->at[to]->step, n = m->step - first;
  for (Look *l = o->look; l < o->look + o->n_look; l++) {
    int64_t now = l->step[first], own = l->staged[m->step];
    memmove(l->step + first + 1, l->step + first, n * sizeof *l->step);
    memmove(l->staged + first + 1, l->staged + first, n * sizeof *l->staged);
    l->step[first] = now;
    l->staged[first] = own;
  }
  room_take(o, m, m->buffer, m->place_to, first, m->step);
  memmove(list->at + to + 1, list->at + to, (from - to) * sizeof *list->at);
  list->at[to] = m;
  task_number(o->t);
}

static void raise(Overlap *o, Tasks *list, uint32_t i) {
  const Task *m = list->at[i];
  double work = 0, enough = HIDING * size_of(o->t, m->buffer);
  uint32_t to = i;
  for (uint32_t j = i; j-- > 0 && work < enough;) {
    const Task *k = list->at[j];
    double w = work_of(o->t, k);
    if (move_hinders(o->t, m, k) || k->unless != m->unless || !has_room(o, m, m->buffer, m->place_to, k->step, k->end)) break;
    work += w;
    if (w > 0 && has_room_at(o, m, k->step)) to = j;
  }
  if (to < i) rotate(o, list, to, i);
}

static void raise_all(Overlap *o, Tasks *list) {
  for (uint32_t i = 0; i < list->len; i++) {
    if (list->at[i]->kind == TASK_REPEAT) raise_all(o, &list->at[i]->body);
    if (list->at[i]->kind == TASK_MOVE) raise(o, list, i);
  }
}

/* ---- longer -------------------------------------------------------------------------------------------------------------- */

/* The move may go on to step `last`: then what it takes is kept so long. */
static bool keeps(Overlap *o, const Task *m, uint32_t last) {
  TaskBuffer *from = &o->t->buffers.at[m->from];
  if (from->space != BUF_WORK || from->last >= last) return true;
  if (!has_room(o, m, m->from, m->place_from, from->last + 1, last)) return false;
  room_take(o, m, m->from, m->place_from, from->last + 1, last);
  from->last = last;
  return true;
}

static void lengthen(Overlap *o, const Tasks *list, uint32_t i) {
  Task *m = list->at[i];
  for (uint32_t j = i + 1; j < list->len; j++) {
    const Task *k = list->at[j];
    if (move_hinders(o->t, m, k) || k->unless != m->unless) return;
    if (work_of(o->t, k) <= 0) continue;
    if (!keeps(o, m, k->end)) return;
    m->end = k->end;
  }
}

static void lengthen_all(Overlap *o, const Tasks *list) {
  for (uint32_t i = 0; i < list->len; i++) {
    if (list->at[i]->kind == TASK_REPEAT) lengthen_all(o, &list->at[i]->body);
    if (list->at[i]->kind == TASK_MOVE) lengthen(o, list, i);
  }
}

void task_overlap(TaskGraph *t) {
  Overlap o = {.t = t};
  if (!t->mesh.n) return;
  sink_all(t, &t->tasks);
  task_lifetimes(t);
  looks_make(&o);
  raise_all(&o, &t->tasks);
  task_lifetimes(t);
  for (uint32_t i = 0; i < o.n_look; i++) steps_fill(t, &o.look[i]);
  lengthen_all(&o, &t->tasks);
  task_lives(t);
}
