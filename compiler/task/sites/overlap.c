/* task/sites/overlap.c - overlaps moves with kernels. In: a mesh's graph with its lifetimes. Out: the same tasks;
 * each move starts as soon as its operand is ready, and stays in progress until a task uses its result or changes
 * its operand; so moves that follow one another are under way together.
 *
 * First moves of inputs come as late as possible, since inputs are always ready: this takes the least memory. All
 * other changes lengthen lives, and none may raise the peak: at each examined site no step may use more memory than
 * the fullest step did before. So where memory is tight moves stay where they are. A move goes up past as many
 * kernels as it takes to hide it, and no further, as moves for later would get in the way of those for now. But
 * moves of panels should always be hidden: the next panel arrives while the one before is processed, if a stated
 * limit of memory has room for it. */
#include <math.h>
#include <string.h>

#include "task/inside.h"
#include "site.h"

enum { LOOKS = 64, RANK = 256 }; /* sites to examine, if there are more */
static const uint32_t NONE = UINT32_MAX;
static const int64_t ENOUGH = INT64_MAX;
static const double HIDING = 1000; /* operations that hide a byte: more than common machines do while one arrives */

typedef struct Look {        /* a site */
  int64_t *bytes;            /* by buffer; 0: the caller's, or absent here */
  int64_t *step;             /* by step: live bytes, */
  int64_t *staged;           /*   the workspace of moves, */
  int64_t most;              /*   and what all of it may be; */
  int64_t ahead;             /*   the same for panels moved early */
} Look;

typedef struct Overlap {
  TaskGraph *t;
  Look look[LOOKS];
  uint32_t n_look;
} Overlap;

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static void steps_fill(const TaskGraph *t, Look *l) {
  memset(l->step, 0, (t->n_steps + 1) * sizeof *l->step);
  for (uint32_t i = 0; i < t->buffers.len; i++)
    for (uint32_t s = t->buffers.at[i].first; l->bytes[i] && s <= t->buffers.at[i].last; s++) l->step[s] += l->bytes[i];
}

static void look_make(TaskGraph *t, const Stagings *moves, const uint32_t *at, Look *l) {
  int64_t shape[RANK];
  *l = (Look){NEW_ARRAY(t->arena, int64_t, t->buffers.len + 1), NEW_ARRAY(t->arena, int64_t, t->n_steps + 2),
      NEW_ARRAY(t->arena, int64_t, t->n_steps + 2), 0, 0};
  for (uint32_t i = 0; i < t->buffers.len; i++) {
    const TaskBuffer *b = &t->buffers.at[i];
    if (b->space == BUF_WORK && !mul_ok(task_shape(t, b, at, shape), dtype_size(b->dtype), &l->bytes[i]))
      l->bytes[i] = INT64_MAX >> 20;
  }
  steps_fill(t, l);
  for (uint32_t i = 0; i < moves->len; i++) l->staged[staging_move(moves->at[i])->step] = staging_at(moves->at[i], at);
  for (uint32_t s = 0; s < t->n_steps; s++)
    if (l->step[s] + l->staged[s] > l->most) l->most = l->step[s] + l->staged[s];
}

/* If there is a limit: the limit less the caller's memory. */
static void ahead_find(const TaskGraph *t, const uint32_t *at, int64_t memory, Look *l) {
  int64_t shape[RANK];
  l->ahead = memory ? memory : ENOUGH;
  for (uint32_t i = 0; memory && i < t->buffers.len; i++) {
    const TaskBuffer *b = &t->buffers.at[i];
    if (b->space != BUF_WORK) l->ahead -= task_shape(t, b, at, shape) * dtype_size(b->dtype);
  }
  if (l->ahead < l->most) l->ahead = l->most;
}

/* Whether a site examined before takes as much of everything. */
static bool is_known(const Overlap *o, const Look *l) {
  size_t buffers = o->t->buffers.len * sizeof *l->bytes, steps = (o->t->n_steps + 1) * sizeof *l->step;
  for (const Look *k = o->look; k < o->look + o->n_look; k++)
    if (k->ahead == l->ahead && memcmp(k->bytes, l->bytes, buffers) == 0 && memcmp(k->staged, l->staged, steps) == 0)
      return true;
  return false;
}

static void looks_make(Overlap *o, int64_t memory) {
  int64_t sites = mesh_sites(&o->t->mesh), n = sites < LOOKS ? sites : LOOKS;
  uint32_t at[MESH_AXES + 1];
  Stagings moves = stagings_of(o->t->arena, o->t);
  for (int64_t i = 0; i < n; i++) {
    Look *l = &o->look[o->n_look];
    mesh_place(&o->t->mesh, n < 2 ? 0 : i * (sites - 1) / (n - 1), at);
    look_make(o->t, &moves, at, l);
    ahead_find(o->t, at, memory, l);
    o->n_look += !is_known(o, l);
  }
}

static int64_t both(const Look *l, const Task *m, uint32_t buffer, uint32_t place) {
  if (buffer == NONE) return 0;
  return l->bytes[buffer] + (task_moves_places(m) ? l->bytes[place] : 0);
}

static int64_t limit(const Look *l, const Task *m) { return m->before ? l->ahead : l->most; }

/* For a buffer, or NONE, plus the move's workspace. */
static bool has_room(const Overlap *o, const Task *m, uint32_t buffer, uint32_t place, uint32_t first, uint32_t last) {
  for (const Look *l = o->look; l < o->look + o->n_look; l++)
    for (uint32_t s = first; s <= last; s++)
      if (l->step[s] + l->staged[s] + l->staged[m->step] + both(l, m, buffer, place) > limit(l, m)) return false;
  return true;
}

/* The same for the move's own workspace if it ran at step s, before its result is counted. */
static bool has_room_at(const Overlap *o, const Task *m, uint32_t s) {
  for (const Look *l = o->look; l < o->look + o->n_look; l++)
    if (l->step[s] + l->staged[m->step] + both(l, m, m->buffer, m->place_to) > limit(l, m)) return false;
  return true;
}

static void room_take(Overlap *o, const Task *m, uint32_t buffer, uint32_t place, uint32_t first, uint32_t last) {
  for (Look *l = o->look; l < o->look + o->n_look; l++)
    for (uint32_t s = first; s <= last; s++) l->step[s] += both(l, m, buffer, place);
}

/* Counts its workspace at further steps than its own. */
static void staging_take(Overlap *o, const Task *m, uint32_t first, uint32_t last) {
  for (Look *l = o->look; l < o->look + o->n_look; l++)
    for (uint32_t s = first; s <= last; s++) l->step[s] += l->staged[m->step];
}

/* ---- as late as possible ----------------------------------------------------------------------------------------- */

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

/* ---- earlier moves ----------------------------------------------------------------------------------------------- */

/* The points that its kernels compute, at the first site. */
static double work_of(const TaskGraph *t, const Task *k) {
  double all = 0;
  vec_each(const TaskStage, s, k->stages) {
    double n = 1;
    for (uint32_t l = 0; l < s->sum->n_out + s->sum->n_red; l++) n *= (double)task_size_guess(t, s->bound[l]);
    all += n;
  }
  for (uint32_t i = 0; i < k->body.len; i++) all += work_of(t, k->body.at[i]);
  return all;
}

/* Rotates the list's tasks from `to` to `from`: the last becomes the first. */
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
  for (Look *l = o->look; l < o->look + o->n_look; l++)
    for (uint32_t s = first + 1; s <= m->step; s++) l->step[s] += l->staged[first];
  memmove(list->at + to + 1, list->at + to, (from - to) * sizeof *list->at);
  list->at[to] = m;
  task_number(o->t);
}

/* The move of a panel passes only the kernel that processes the panel before. */
static bool is_passed(const TaskGraph *t, const Task *m, const Task *k) {
  return m->before && k->kind == TASK_KERNEL && task_touches(t, k, m->before->buffer);
}

static void raise(Overlap *o, Tasks *list, uint32_t i) {
  const Task *m = list->at[i];
  double work = 0, enough = m->before ? HUGE_VAL : HIDING * task_buffer_bytes(o->t, m->buffer);
  uint32_t to = i;
  for (uint32_t j = i; j-- > 0 && work < enough;) {
    const Task *k = list->at[j];
    double w = work_of(o->t, k);
    if (move_hinders(o->t, m, k) || k->unless != m->unless || !has_room(o, m, m->buffer, m->place_to, k->step, k->end))
      break;
    work += w;
    if (w > 0 && has_room_at(o, m, k->step)) to = j;
    if (is_passed(o->t, m, k)) break;
  }
  if (to < i) rotate(o, list, to, i);
}

static void raise_all(Overlap *o, Tasks *list) {
  for (uint32_t i = 0; i < list->len; i++) {
    if (list->at[i]->kind == TASK_REPEAT) raise_all(o, &list->at[i]->body);
    if (list->at[i]->kind == TASK_MOVE) raise(o, list, i);
  }
}

/* ---- longer moves: while kernels run, and while other moves are under way ---------------------------------------- */

/* The move may last until step `last`: its operand and workspace then live as long. */
static bool keeps(Overlap *o, const Task *m, uint32_t last) {
  TaskBuffer *from = &o->t->buffers.at[m->from];
  bool more = from->space == BUF_WORK && from->last < last;
  if (!has_room(o, m, NONE, 0, m->end + 1, last) ||
      (more && !has_room(o, m, m->from, m->place_from, from->last + 1, last)))
    return false;
  staging_take(o, m, m->end + 1, last);
  if (!more) return true;
  room_take(o, m, m->from, m->place_from, from->last + 1, last);
  from->last = last;
  return true;
}

static void lengthen(Overlap *o, const Tasks *list, uint32_t i) {
  Task *m = list->at[i];
  for (uint32_t j = i + 1; j < list->len; j++) {
    const Task *k = list->at[j];
    if (move_hinders(o->t, m, k) || k->unless != m->unless) return;
    if (work_of(o->t, k) <= 0 && (k->kind != TASK_MOVE || m->before)) continue; /* panels come while kernels run */
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

void task_overlap(TaskGraph *t, int64_t memory) {
  Overlap o = {.t = t};
  if (!t->mesh.n) return;
  sink_all(t, &t->tasks);
  task_lifetimes(t);
  looks_make(&o, memory);
  raise_all(&o, &t->tasks);
  task_lifetimes(t);
  for (uint32_t i = 0; i < o.n_look; i++) steps_fill(t, &o.look[i]);
  lengthen_all(&o, &t->tasks);
  task_lives(t);
}
