/* driver/plan/memory.c - ein plan for many sites: the memory of a site. In: a plan. Out: the peak memory of its
 * tasks, at the busiest site; and under a limit, a plan whose tasks keep it. */
#include "algebra/from_graph.h"
#include "plan/placing/fit.h"
#include "task/sites/from_ia.h"
#include "task/sites/site.h"
#include "sites.h"
#include "driver/table.h"

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
  for (uint32_t i = 0; i < list->len; i++) {
    const Task *k = list->at[i];
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

SitesMemory memory_of(const Sites *p, const Placing *placing) {
  SitesMemory out = {.at = -1, .by = NEW_ARRAY(p->s->arena, double, p->places->tensors.len + 1)};
  Arena *work = arena_new();
  Cutting c = cutting_of_placing(work, p->places, placing);
  c.memory = (int64_t)p->memory;
  Buf why = buf_new(work);
  const Algebra *ia = p->keys ? ia_from_tra(work, p->keys, &c) : ia_from_graph(work, p->j.graph, &c);
  TaskGraph *t = task_from_ia(work, ia, &why);
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

/* ---- under a limit -------------------------------------------------------------------------------------------- */

static const char *tensor_name(const Sites *p, uint32_t t) {
  const PlaceTensor *x = &p->places->tensors.at[t];
  if (x->vertex >= 0) return p->g->vertices.at[x->vertex].name;
  return x->node->name ? x->node->name->s : "an input";
}

enum { LOWER = 16 };           /* how often to ask for less memory than was found */
#define PANELS_WORK 2e4        /* equations and panels to measure: for the plan, and half as many for all before it */

typedef struct Measurer { const Sites *p; double limit, least, work; } Measurer;

/* The memory with panels, as little as possible, if it is over the limit without; while there is work left. */
static double bytes_measured(void *ctx, const Placing *x) {
  Measurer *m = ctx;
  SitesMemory bytes = memory_of(m->p, x);
  Placing copy = *x;
  if (bytes.bytes > m->limit && m->work > 0) panels_fit(m->p, &copy, m->least, &m->work, &bytes);
  return bytes.bytes;
}

/* Puts the plan in panels if it is over: only what is over the limit, or, if that is not enough, everything that
 * helps. */
static bool fits_in_panels(Sites *p, Placing *x, double least) {
  const PlacePanels *was = x->panels;
  p->peak = memory_of(p, x);
  if (p->peak.bytes <= p->memory) return true;
  for (int k = 0; k < 2 && p->peak.bytes > p->memory; k++) {
    double work = PANELS_WORK;
    x->panels = was;
    if (k) p->peak = memory_of(p, x);
    panels_fit(p, x, k ? least : p->memory, &work, &p->peak);
    if (p->peak.bytes <= p->memory) panels_thin(p, x, &work, &p->peak);
  }
  return p->peak.bytes <= p->memory;
}

/* The best plan found under the limit, or the one with the least memory. */
static Placing *placing_under(Sites *p, const PartVectors *only, double limit, double least, Placing *unbound) {
  Measurer m = {p, limit, least, PANELS_WORK / 2};
  PlaceMeasure measure = {bytes_measured, &m};
  PlaceFit f = placing_fit(p->s->arena, p->places, p->lives, p->sites, only, p->budget, limit, unbound, &measure);
  return f.placing ? f.placing : f.smallest;
}

/* Takes a plan that differs from the one without the limit. */
static Leave taken(Sites *p, Placing *x, const Placing *unbound) {
  p->placing = x;
  x->bound = unbound->bound;
  x->narrow |= unbound->narrow;
  p->unlimited = unbound;
  return LEAVE_OK;
}

/* A plan under p->memory: the best one found, or else the one with the least memory. p->peak is that of the last one
 * tried; NULL: it is over. */
static Placing *placing_fits(Sites *p, const PartVectors *only, double least, Placing *unbound) {
  for (int k = least > p->memory; k < 2 && !p->exactly; k++) {
    Placing *x = placing_under(p, only, k ? least : p->memory, least, unbound);
    if (fits_in_panels(p, x, least)) return x;
  }
  return NULL;
}

/* If none fits, p->peak becomes the least that is found. What panels take depends on the limit, so the limit is
 * lowered until nothing is found: then the figure in a message can be requested, and nothing below it. */
static void least_find(Sites *p, const PartVectors *only, double least, Placing *unbound) {
  const double asked = p->memory;
  SitesMemory peak = p->peak;
  for (int k = 0; k < LOWER && peak.bytes > least; k++) {
    p->memory = peak.bytes - 1;
    if (!placing_fits(p, only, least, unbound)) break;
    peak = p->peak;
  }
  p->memory = asked;
  p->peak = peak;
}

Leave memory_fit(Sites *p, const PartVectors *only) {
  Session *s = p->s;
  Arena *a = s->arena;
  double least = memory_least(p->places, p->places->fixed->mesh ? mesh_sites(p->places->fixed->mesh) : p->sites);
  p->peak = memory_of(p, p->placing);
  if (p->memory <= 0 || p->peak.bytes <= p->memory) return LEAVE_OK;
  Placing *unbound = arena_copy(a, p->placing, sizeof *unbound);
  /* the same amount moves as before, so nothing costs less */
  if (least <= p->memory && fits_in_panels(p, p->placing, least)) return LEAVE_OK;
  Placing *fits = placing_fits(p, only, least, unbound);
  if (fits) return taken(p, fits, unbound);
  if (!p->held && !p->exactly) least_find(p, only, least, unbound);
  const char *at = p->peak.at < 0 ? "" : arena_printf(a, ", at %s", shown(a, tensor_name(p, (uint32_t)p->peak.at)));
  const char *none = least > 0 ? arena_printf(a, "; none has less than %s", bytes_of(a, least)) : "";
  p->binds = p->peak.at < 0 ? 0 : (uint32_t)p->peak.at + 1;
  p->unfit = arena_printf(a,
      "no plan was found in which a site has no more than %s (%.0f bytes); the least that was found is %s (%.0f "
      "bytes)%s%s",
      bytes_of(a, p->memory), p->memory, bytes_of(a, p->peak.bytes), p->peak.bytes, at, none);
  return p->held ? LEAVE_PROGRAM : fail(s, LEAVE_PROGRAM, "%s", p->unfit);
}

/* ---- reports ---------------------------------------------------------------------------------------------------- */

const char *memory_most(const Sites *p, Arena *a) {
  const char *limit = p->memory > 0 ? arena_printf(a, ", of %s", bytes_of(a, p->memory)) : "";
  const char *at = p->peak.at < 0 ? "" : arena_printf(a, ", at %s", shown(a, tensor_name(p, (uint32_t)p->peak.at)));
  const char *guessed = p->peak.guessed ? ", estimated, for the plan cannot be one list of tasks yet" : "";
  return arena_printf(a, "%s%s%s", limit, at, guessed);
}
