/* driver/plan/memory.c - ein plan for many sites: the memory of a site. In: a plan. Out: the peak memory of its
 * tasks, at the busiest site, and what their kernels pack beside that; and under a limit, a plan whose tasks keep it. */
#include "algebra/from_graph.h"
#include "loop/loop.h"
#include "plan/placing/fit.h"
#include "task/sites/from_ia.h"
#include "task/sites/site.h"
#include "sites.h"

/* ---- of one plan ------------------------------------------------------------------------------------------- */

typedef struct Named { Str file, name; uint32_t line, column; } Named; /* how a task names its tensor; no padding */

static MemoEntry *named(Memo *m, Str name, Place at) {
  Named key = {at.file, name, at.line, at.column};
  return memo_get(m, (const char *)&key, sizeof key);
}

typedef struct Measuring {
  const PlaceGraph *g;
  Memo tensors;              /* by name and place: 1 + the last tensor of that name, */
  const uint32_t *before;    /* and by tensor, the one before it */
  const int64_t *step;
  SitesMemory *out;
} Measuring;

/* If a program has the equations of one line several times, they share the maximum. */
static void tensor_has(Measuring *x, Str name, Place at, int64_t bytes) {
  uint32_t i = (uint32_t)(uintptr_t)named(&x->tensors, name, at)->value;
  if (!i) return;
  if ((double)bytes > x->out->bytes) x->out->bytes = (double)bytes, x->out->at = (int32_t)i - 1;
  for (; i; i = x->before[i - 1])
    if ((double)bytes > x->out->by[i - 1]) x->out->by[i - 1] = (double)bytes;
}

static void list_measure(Measuring *x, const Tasks *list) {
  vec_each_of(const Task, k, *list) {
    for (uint32_t s = k->stages.len; s-- > 0;)
      tensor_has(x, k->stages.at[s].name, k->stages.at[s].place, x->step[k->step]);
    if (!task_has_stages(k)) tensor_has(x, k->name, k->place, x->step[k->step]);
    list_measure(x, &k->body);
  }
}

static void tensors_name(Arena *a, Measuring *x) {
  uint32_t *before = NEW_ARRAY(a, uint32_t, x->g->tensors.len + 1);
  Map first = map_new(a); /* a state's first value counts as the state */
  x->tensors = memo_new(a);
  for (uint32_t i = 0; i < x->g->tensors.len; i++) {
    const EinNode *n = x->g->tensors.at[i].node;
    if (n->kind == EIN_STATE) map_put(&first, n->region->states.at[n->index].init, (void *)(uintptr_t)n->name);
  }
  for (uint32_t i = 0; i < x->g->tensors.len; i++) {
    const EinNode *n = x->g->tensors.at[i].node;
    Str state = map_find(&first, n);
    MemoEntry *e = named(&x->tensors, state ? state : n->name, n->place);
    before[i] = (uint32_t)(uintptr_t)e->value;
    e->value = (void *)((uintptr_t)i + 1);
  }
  x->before = before;
}

/* An estimate without a list of tasks: what is at home, operands as fetched, and results on their way. */
static void memory_guess(const Sites *p, const Placing *x, SitesMemory *out) {
  double *by = NEW_ARRAY(p->s->arena, double, (size_t)p->lives->steps * PHASES);
  SiteMemory most = placing_memory(p->places, p->lives, x, by);
  out->bytes = most.bytes;
  out->at = most.step < p->g->vertices.len ? (int32_t)most.step : -1;
  for (uint32_t i = 0; i < p->g->vertices.len; i++)
    for (size_t k = (size_t)i * PHASES; k < ((size_t)i + 1) * PHASES; k++)
      out->by[i] = by[k] > out->by[i] ? by[k] : out->by[i];
}

static TaskGraph *tasks_of(const Sites *p, const Placing *placing, Arena *work, Buf *why) {
  Cutting c = cutting_of_placing(work, p->places, placing);
  c.memory = (int64_t)p->asked.memory;
  const Algebra *ia = p->keys ? ia_from_tra(work, p->keys, &c) : ia_from_graph(work, p->j.graph, &c);
  return task_from_ia(work, ia, why);
}

SitesMemory memory_of(const Sites *p, const Placing *placing) {
  SitesMemory out = {.at = -1, .by = NEW_ARRAY(p->s->arena, double, p->places->tensors.len + 1)};
  Arena *work = arena_new();
  Buf why = buf_new(work);
  TaskGraph *t = tasks_of(p, placing, work, &why);
  if (t) {
    Measuring x = {.g = p->places, .out = &out};
    int64_t *step = NEW_ARRAY(work, int64_t, t->n_steps + 2);
    task_steps_bytes(t, step);
    tensors_name(work, &x);
    x.step = step;
    list_measure(&x, &t->tasks);
    for (uint32_t s = 0; s < t->n_steps || s == 0; s++)
      if ((double)step[s] > out.bytes) out.bytes = (double)step[s], out.at = -1;
  } else {
    out.guessed = arena_printf(p->s->arena, "%s", why.s);
    memory_guess(p, placing, &out);
  }
  arena_free(work);
  return out;
}

/* ---- what kernels pack ---------------------------------------------------------------------------------- */

static int64_t most_of(const TaskGraph *t, const int64_t *step) {
  int64_t most = 0;
  for (uint32_t s = 0; s < t->n_steps || s == 0; s++) most = step[s] > most ? step[s] : most;
  return most;
}

/* The peak with the buffers that kernels share, except those for machines of one kind of registers. */
static int64_t peak_without(TaskGraph *t, const LoopHalf *half, LoopHalf without, int64_t *step) {
  for (uint32_t i = 0; i < t->buffers.len; i++)
    if (half[i] == without) t->buffers.at[i].when = expr_bool(t->exprs, false);
  task_steps_bytes(t, step);
  for (uint32_t i = 0; i < t->buffers.len; i++)
    if (half[i] == without) t->buffers.at[i].when = NULL;
  return most_of(t, step);
}

/* The same on the machine on which that is more. */
static int64_t peak_of_loops(const LoopProgram *lp, int64_t *step) {
  const LoopHalf *half = loop_halves(lp->arena, lp);
  int64_t a = peak_without(lp->tasks, half, HALF_WIDE, step), b = peak_without(lp->tasks, half, HALF_NARROW, step);
  return a > b ? a : b;
}

/* What each thread keeps for its kernels' own arrays. */
static int64_t scratch_of(const LoopProgram *lp) {
  LoopSizes sizes = loop_scratches(lp);
  int64_t most = 0;
  for (uint32_t i = 0; i < sizes.len; i++) {
    int64_t bytes = task_most(lp->tasks, sizes.at[i]);
    if (bytes > most) most = bytes;
  }
  return most;
}

/* Of the tasks, which it changes: buffers that kernels share, and what each thread keeps. A library has loops for both
 * kinds of registers, and so has what is planned for one. */
static double packed_of(const Sites *p, TaskGraph *t, int64_t *step) {
  LoopTarget target;
  int threads;
  double worth;
  task_steps_bytes(t, step);
  int64_t peak = most_of(t, step);
  if (peak > INT64_MAX / 2) return 0;
  if (loop_target(p->s, p->asked.loops, &target, &worth) || threads_wanted(p->s, p->asked.loops, &threads)) return 0;
  target_ask(p->s, p->asked.loops, t, &target);
  if (p->asked.loops->command == CMD_PLAN) target.both = true;
  const LoopProgram *lp = loop_from_task(t, &target);
  return (double)(peak_of_loops(lp, step) - peak) + (double)scratch_of(lp) * (threads ? threads : 1);
}

double memory_packed(const Sites *p, const Placing *placing) {
  Arena *work = arena_new();
  Buf why = buf_new(work);
  TaskGraph *t = p->asked.devices ? NULL : tasks_of(p, placing, work, &why);
  double bytes = t ? packed_of(p, t, NEW_ARRAY(work, int64_t, t->n_steps + 2)) : 0;
  arena_free(work);
  return bytes;
}

/* ---- panels ------------------------------------------------------------------------------------------------------ */

/* The vertex that the tasks of these panels compute; -1: none of its name. */
static int32_t vertex_of(Measuring *x, const Tasks *list, uint32_t panel_of) {
  vec_each_of(const Task, k, *list) {
    int32_t found = k->kind == TASK_REPEAT ? vertex_of(x, &k->body, panel_of) : -1;
    if (k->panel_of == panel_of && k->stages.len)
      found = (int32_t)(uintptr_t)named(&x->tensors, k->stages.at[0].name, k->stages.at[0].place)->value - 1;
    if (found >= 0) return found;
  }
  return -1;
}

/* The vertex's reads of the tensor that the task moves, as in PlacePanels. */
static uint64_t reads_of(Measuring *x, uint32_t vertex, const Task *k) {
  uint64_t reads = 0;
  for (uint32_t r = 0; r < x->g->part->vertices.at[vertex].reads.len; r++) {
    const EinNode *n = x->g->tensors.at[x->g->tensor[vertex][r]].node;
    if (named(&x->tensors, n->name, n->place) == named(&x->tensors, k->name, k->place))
      reads |= (uint64_t)1 << (r < 63 ? r : 63);
  }
  return reads;
}

static void apart_find(Measuring *x, const TaskGraph *t, const Tasks *list, PlacePanels *panels) {
  vec_each_of(const Task, k, *list) {
    if (k->kind == TASK_REPEAT) apart_find(x, t, &k->body, panels);
    if (k->kind != TASK_MOVE || !k->before || k->end > k->step) continue;
    for (int32_t v = vertex_of(x, &t->tasks, k->panel_of); v >= 0; v = (int32_t)x->before[v] - 1)
      if ((uint32_t)v < x->g->part->vertices.len) panels[v].apart |= reads_of(x, (uint32_t)v, k);
  }
}

/* Tells which panels have no room for the next one beside them, as the tasks are under the limit. */
static void panels_tell(const Sites *p, Placing *placing) {
  uint32_t n = p->g->vertices.len;
  if (!placing->panels || p->asked.memory <= 0) return;
  Arena *work = arena_new();
  Buf why = buf_new(work);
  TaskGraph *t = tasks_of(p, placing, work, &why);
  PlacePanels *panels = arena_copy(p->s->arena, placing->panels, (n + 1) * sizeof *panels);
  Measuring x = {.g = p->places};
  tensors_name(work, &x);
  if (t) apart_find(&x, t, &t->tasks, panels);
  placing->panels = panels;
  if (p->asked.in_seconds) placing_count(p->places, placing);
  arena_free(work);
}

/* ---- under a limit -------------------------------------------------------------------------------------------- */

#define PANELS_WORK 4e4        /* equations and panels to measure: for the plan, and as many for all before it */
#define ROOM_SHARE 64.0        /* parts need no less room than this share of the least memory */

/* Parts come in rounds if there is no room for them at once; a plan's file may state the room. */
static bool room_stated(const Sites *p) { return p->places->room != 0; }

/* A small share of what any plan takes, in a power of two; so large plans have no tiny slices. */
static int64_t room_little(const Sites *p, const Placing *x) {
  double share = memory_least(p->places, mesh_sites(&x->mesh)) / ROOM_SHARE;
  int64_t room = MOVE_LEAST;
  while (room < MOVE_SLICE && 2 * (double)room <= share) room *= 2;
  return room;
}

/* With the least room for parts, unless that takes more memory: in panels it may be what counts. */
static void room_least(const Sites *p, Placing *x, SitesMemory *peak) {
  Placing little = *x;
  if (room_stated(p)) return;
  little.room = room_little(p, x);
  SitesMemory now = memory_of(p, &little);
  if (now.bytes <= peak->bytes) *x = little, *peak = now;
}

/* With the usual room, if that takes no more. */
static void room_usual(const Sites *p, Placing *x, SitesMemory *peak) {
  Placing usual = *x;
  if (room_stated(p) || !x->room) return;
  usual.room = 0;
  SitesMemory now = memory_of(p, &usual);
  if (now.bytes <= peak->bytes) *x = usual, *peak = now;
}

/* The most room for parts that the limit allows: a power of two, or all that is of use. */
static void room_widen(const Sites *p, Placing *x, SitesMemory *peak) {
  int64_t low = x->room, high = MOVE_ROOM;
  if (!low || room_stated(p)) return;
  while (low < high) {
    Placing now = *x;
    int64_t middle = low;
    for (int64_t between = low; between < high; between *= 4) middle *= 2;
    now.room = middle == MOVE_ROOM ? 0 : middle;
    SitesMemory bytes = memory_of(p, &now);
    if (bytes.bytes > p->asked.memory) {
      high = middle / 2;
      continue;
    }
    *x = now;
    *peak = bytes;
    low = middle;
  }
}

/* To find what a plan needs, whatever the limit. p: these sites, with so little memory that nothing is brought early;
 * work: what is left for panels. */
typedef struct Needs { Sites p; double limit, work; } Needs;

/* As it is; with the least room for parts; and also in panels, in which it takes as little as possible. Each is tried
 * while those before are over the limit, and stays in x. */
static SitesMemory needed(Needs *n, Placing *x) {
  SitesMemory peak = memory_of(&n->p, x);
  if (peak.bytes > n->limit) room_least(&n->p, x, &peak);
  if (peak.bytes > n->limit && n->work > 0) panels_fit(&n->p, x, 0, n->limit, &n->work, &peak);
  return peak;
}

/* In few panels, with much room for parts: x has what keeps the limit, was what it had before. */
static void lighten(Sites *p, Placing *x, const Placing *was) {
  double work = PANELS_WORK;
  Placing few = *was;
  SitesMemory peak = memory_of(p, &few);
  if (peak.bytes > p->asked.memory) room_least(p, &few, &peak);
  if (peak.bytes > p->asked.memory) panels_fit(p, &few, p->asked.memory, p->asked.memory, &work, &peak);
  if (peak.bytes <= p->asked.memory) *x = few;
  work = PANELS_WORK;
  p->fit.peak = memory_of(p, x);
  if (p->fit.peak.bytes <= p->asked.memory && x->panels != was->panels) panels_thin(p, x, &work, &p->fit.peak);
  if (p->fit.peak.bytes <= p->asked.memory) room_widen(p, x, &p->fit.peak);
}

/* Whether the plan can keep the limit; then it does, and p->fit.peak is its memory. Else that is the least that was
 * found so far. */
static bool kept(Sites *p, Needs *n, Placing *x) {
  Placing now = *x;
  SitesMemory needs = needed(n, &now);
  if (p->fit.peak.by == NULL || needs.bytes < p->fit.peak.bytes) p->fit.peak = needs;
  if (needs.bytes > p->asked.memory) return false;
  SitesMemory least = p->fit.peak;
  lighten(p, &now, x);
  if (p->fit.peak.bytes > p->asked.memory) return p->fit.peak = least, false;
  *x = now;
  if (p->asked.in_seconds) placing_count(p->places, x);
  return true;
}

static Needs needs_of(const Sites *p) {
  Needs n = {*p, p->asked.memory, PANELS_WORK};
  n.p.asked.memory = 1;
  return n;
}

/* The first plan, in the order of their cost, that keeps the limit; NULL: none does, and p->fit.peak is the least
 * found. What is tried before a plan does not depend on the limit, so a plan needs the same under all limits. */
static Placing *placing_under(Sites *p, const PartVectors *only, Needs *n, Placing *unbound) {
  if (kept(p, n, p->placing)) return p->placing;
  if (p->exactly) return NULL;
  PlaceFits all = placing_fits(p->s->arena, p->places, p->lives, p->sites, only, p->asked.budget, unbound);
  for (uint32_t i = 0; i < all.len; i++)
    if (all.at[i].placing != unbound && kept(p, n, all.at[i].placing)) return all.at[i].placing;
  return NULL;
}

static const char *peak_at(const Sites *p, Arena *a) { /* ", at T" */
  int32_t at = p->fit.peak.at;
  return at < 0 ? "" : arena_printf(a, ", at %s", tensor_called(p, a, (uint32_t)at));
}

static Leave unfit(Sites *p, double least) {
  Arena *a = p->s->arena;
  const char *none = least > 0 ? arena_printf(a, "; none has less than %s", bytes_of(a, least)) : "";
  p->fit.binds = p->fit.peak.at < 0 ? 0 : (uint32_t)p->fit.peak.at + 1;
  p->fit.unfit = arena_printf(a,
      "no plan was found in which a site has no more than %s (%.0f bytes); the least that was found is %s (%.0f "
      "bytes)%s%s",
      bytes_of(a, p->asked.memory), p->asked.memory, bytes_of(a, p->fit.peak.bytes), p->fit.peak.bytes, peak_at(p, a),
      none);
  return p->asked.held || p->asked.lean ? LEAVE_PROGRAM : fail(p->s, LEAVE_PROGRAM, "%s", p->fit.unfit);
}

/* Where nothing fits, devices spill: the plan of the least cost, in the panels in which that takes the least. */
static void spill(Sites *p, const Placing *unbound) {
  Needs n = needs_of(p);
  p->placing = arena_copy(p->s->arena, unbound, sizeof *unbound);
  needed(&n, p->placing);
  p->fit.peak = memory_of(p, p->placing);
  room_usual(p, p->placing, &p->fit.peak);
  if (p->asked.in_seconds) placing_count(p->places, p->placing);
}

static Leave fit(Sites *p, const PartVectors *only) {
  double least = memory_least(p->places, p->places->fixed->mesh ? mesh_sites(p->places->fixed->mesh) : p->sites);
  p->fit.peak = memory_of(p, p->placing);
  if (p->asked.memory <= 0 || p->fit.peak.bytes <= p->asked.memory) return LEAVE_OK;
  Placing *unbound = arena_copy(p->s->arena, p->placing, sizeof *unbound);
  Needs n = needs_of(p);
  Placing *x = placing_under(p, only, &n, unbound);
  if (!x && p->asked.devices) return spill(p, unbound), LEAVE_OK;
  if (!x) return unfit(p, least);
  if (x == p->placing) return LEAVE_OK; /* the same amount moves as before, so nothing costs less */
  x->bound = unbound->bound;
  x->narrow = unbound->narrow;
  p->fit.unlimited = unbound;
  p->placing = x;
  return LEAVE_OK;
}

Leave memory_fit(Sites *p, const PartVectors *only) {
  Leave leave = fit(p, only);
  if (leave == LEAVE_OK) panels_tell(p, p->placing);
  return leave;
}

/* ---- reports ---------------------------------------------------------------------------------------------------- */

bool memory_spills(const Sites *p) {
  return p->asked.devices && p->asked.memory > 0 && p->fit.peak.bytes > p->asked.memory;
}

const char *memory_most(const Sites *p, Arena *a) {
  const char *limit = p->asked.memory > 0 ? arena_printf(a, ", of %s", bytes_of(a, p->asked.memory)) : "";
  const char *packed = p->fit.packed > 0
      ? arena_printf(a, ", and %s for what kernels pack", bytes_of(a, p->fit.packed))
      : "";
  const char *guessed = p->fit.peak.guessed ? ", estimated, for the plan cannot be one list of tasks yet" : "";
  return arena_printf(a, "%s%s%s%s", limit, peak_at(p, a), packed, guessed);
}
