/* task/text/equal.c - whether two TaskGraphs agree in all fields. They may come from different pools and tables. An
 * EinSum's hash is not compared. */
#include "expr/sum/law.h"
#include "text.h"

typedef struct Equal {
  Same q;
  const Task *task;          /* the current task, for the complaint */
  const TaskGraph *graph;    /* the first graph; its buffers correspond to the other's */
} Equal;

static void say_where(void *ctx, Buf *out) {
  const Task *k = ((const Equal *)ctx)->task;
  if (k) buf_printf(out, "%s %u: ", task_word(k), k->step);
}

/* ---- stages ------------------------------------------------------------------------------------- */

static bool eq_slot(Same *q, const TaskSlot *a, const TaskSlot *b) {
  return eq_int(q, "whether a slot is kept", a->kept, b->kept) && eq_int(q, "a slot", a->index, b->index);
}

static bool eq_stage(Same *q, const TaskStage *a, const TaskStage *b) {
  if (!eq_sum(q, a->sum, b->sum) || !eq_str(q, "a stage's name", a->name, b->name) ||
      !eq_place(q, a->place, b->place) || !eq_int(q, "a stage's buffer", a->buffer, b->buffer) ||
      !eq_int(q, "a stage's indices", a->n_at, b->n_at))
    return false;
  uint32_t labels = a->sum->n_out + a->sum->n_red;
  if (!eq_exprs(q, "where a stage is put", a->n_at, a->at, b->at)) return false;
  if (!eq_exprs(q, "a label's bound", labels, a->bound, b->bound)) return false;
  for (uint32_t i = 0; i < labels; i++)
    if (!eq_str(q, "a label's name", a->label[i], b->label[i])) return false;
  for (uint32_t i = 0; i < a->sum->n_slot; i++)
    if (!eq_slot(q, &a->slot[i], &b->slot[i])) return false;
  return true;
}

/* ---- tasks -------------------------------------------------------------------------------------- */

static bool eq_tasks(Equal *q, const Tasks *a, const Tasks *b);

static bool eq_parts(Equal *e, const Task *a, const Task *b) {
  Same *q = &e->q;
  if (!eq_int(q, "the number of stages", a->stages.len, b->stages.len) ||
      !eq_int(q, "the number of exchanges", a->exchange.len, b->exchange.len))
    return false;
  for (uint32_t i = 0; i < a->stages.len; i++)
    if (!eq_stage(q, &a->stages.at[i], &b->stages.at[i])) return false;
  for (uint32_t i = 0; i < a->exchange.len; i++)
    if (!eq_int(q, "an exchange", a->exchange.at[i].now, b->exchange.at[i].now) ||
        !eq_int(q, "an exchange's next", a->exchange.at[i].next, b->exchange.at[i].next))
      return false;
  return eq_tasks(e, &a->body, &b->body);
}

static bool eq_placement(Same *q, const Mesh *m, const Placement *a, const Placement *b) {
  for (uint32_t i = 0; i < m->n; i++)
    if (!eq_int(q, "a placement", a->on[i], b->on[i])) return false;
  return true;
}

static bool eq_wrap(Same *q, uint32_t rank, const int64_t *a, const int64_t *b) {
  if (!eq_int(q, "whether the move wraps", a != NULL, b != NULL)) return false;
  for (uint32_t d = 0; a && d < rank; d++)
    if (!eq_int(q, "where the move wraps", a[d], b[d])) return false;
  return true;
}

static bool eq_move(Same *q, const TaskGraph *g, const Task *a, const Task *b) {
  if (a->kind != TASK_MOVE) return true;
  const Mesh *m = &g->mesh;
  uint32_t rank = a->buffer < g->buffers.len ? g->buffers.at[a->buffer].rank : 0;
  bool monoids = (a->monoid == NULL) == (b->monoid == NULL) || differ(q, "one move is by a monoid, the other is not");
  return monoids && eq_int(q, "the move", a->move, b->move) && eq_int(q, "where it comes from", a->from, b->from) &&
      eq_int(q, "the places", a->place_from, b->place_from) && eq_int(q, "where places go", a->place_to, b->place_to) &&
      eq_int(q, "the reducer", a->reducer, b->reducer) && (!a->monoid || eq_monoid(q, a->monoid, b->monoid)) &&
      eq_placement(q, m, &a->of, &b->of) && eq_placement(q, m, &a->to, &b->to) && eq_wrap(q, rank, a->wrap, b->wrap);
}

static bool eq_task(Equal *e, const Task *a, const Task *b) {
  Same *q = &e->q;
  e->task = a;
  bool ok = eq_int(q, "the kind", a->kind, b->kind) && eq_int(q, "the step", a->step, b->step) &&
            eq_int(q, "the end", a->end, b->end) && eq_int(q, "unless", a->unless, b->unless) &&
            eq_place(q, a->place, b->place) && eq_str(q, "the name", a->name, b->name) &&
            eq_int(q, "the number of outer labels", a->n_outer, b->n_outer) &&
            eq_int(q, "the buffer", a->buffer, b->buffer) && eq_int(q, "the argument", a->argument, b->argument) &&
            eq_str(q, "the loop variable", a->turn, b->turn) && eq_int(q, "the depth", a->depth, b->depth) &&
            eq_move(q, e->graph, a, b) &&
            eq_int(q, "the stop", a->stop, b->stop) && eq_int(q, "the turns", a->turns, b->turns) && eq_parts(e, a, b);
  e->task = NULL;
  return ok;
}

static bool eq_tasks(Equal *e, const Tasks *a, const Tasks *b) {
  if (!eq_int(&e->q, "the number of tasks", a->len, b->len)) return false;
  for (uint32_t i = 0; i < a->len; i++)
    if (!eq_task(e, a->at[i], b->at[i])) return false;
  return true;
}

/* ---- the head ----------------------------------------------------------------------------------- */

static bool eq_argument(Same *q, const TaskArgument *a, const TaskArgument *b) {
  return eq_str(q, "an argument's name", a->name, b->name) && eq_int(q, "an argument's buffer", a->buffer, b->buffer) &&
         eq_int(q, "param", a->param, b->param) && eq_int(q, "optional", a->optional, b->optional);
}

static bool eq_arguments(Same *q, const TaskGraph *a, const TaskGraph *b) {
  if (!eq_int(q, "the number of inputs", a->inputs.len, b->inputs.len)) return false;
  if (!eq_int(q, "the number of outputs", a->outputs.len, b->outputs.len)) return false;
  for (uint32_t i = 0; i < a->inputs.len; i++)
    if (!eq_argument(q, &a->inputs.at[i], &b->inputs.at[i])) return false;
  for (uint32_t i = 0; i < a->outputs.len; i++)
    if (!eq_argument(q, &a->outputs.at[i], &b->outputs.at[i])) return false;
  return true;
}

static bool eq_site(Same *q, const TaskBuffer *a, const TaskBuffer *b) {
  if (!eq_int(q, "whether a buffer is of a tensor", a->low != NULL, b->low != NULL) ||
      !eq_int(q, "whether a buffer is at some sites", a->when != NULL, b->when != NULL))
    return false;
  return (!a->low || eq_exprs(q, "where a buffer begins", a->rank, a->low, b->low)) &&
         (!a->when || eq_expr(q, "where a buffer is", a->when, b->when));
}

static bool eq_buffer(Same *q, const TaskBuffer *a, const TaskBuffer *b) {
  return eq_int(q, "a buffer's id", a->id, b->id) && eq_int(q, "a buffer's space", a->space, b->space) &&
         eq_str(q, "a buffer's name", a->name, b->name) && eq_place(q, a->place, b->place) &&
         eq_int(q, "a buffer's dtype", a->dtype, b->dtype) && eq_int(q, "a buffer's rank", a->rank, b->rank) &&
         eq_exprs(q, "a buffer's shape", a->rank, a->dim, b->dim) &&
         eq_site(q, a, b) && eq_int(q, "a buffer's argument", a->argument, b->argument) &&
         eq_int(q, "a buffer's first step", a->first, b->first) && eq_int(q, "a buffer's last step", a->last, b->last);
}

static bool eq_buffers(Same *q, const TaskGraph *a, const TaskGraph *b) {
  if (!eq_int(q, "the number of buffers", a->buffers.len, b->buffers.len)) return false;
  for (uint32_t i = 0; i < a->buffers.len; i++)
    if (!eq_buffer(q, &a->buffers.at[i], &b->buffers.at[i])) return false;
  return true;
}

static bool eq_mesh(Same *q, const Mesh *a, const Mesh *b) {
  if (!eq_int(q, "the mesh's axes", a->n, b->n)) return false;
  for (uint32_t i = 0; i < a->n; i++)
    if (!eq_int(q, "an axis", a->size[i], b->size[i])) return false;
  return true;
}

bool task_equal(const TaskGraph *a, const TaskGraph *b, Buf *why) {
  Equal e = {.q = {.arena = arena_new(), .why = why, .same_pool = a->exprs == b->exprs}};
  e.q.ctx = &e;
  e.q.where = say_where;
  e.graph = a;
  Same *q = &e.q;
  bool ok = eq_mesh(q, &a->mesh, &b->mesh) && eq_int(q, "the room for parts", a->room, b->room) &&
      eq_externs(q, a->exprs, b->exprs) && eq_dims(q, &a->dims, &b->dims) && eq_monoids(q, &a->monoids, &b->monoids) &&
      eq_buffers(q, a, b) && eq_checks(q, &a->checks, &b->checks) && eq_arguments(q, a, b) &&
      eq_int(q, "the number of steps", a->n_steps, b->n_steps) && eq_tasks(&e, &a->tasks, &b->tasks);
  arena_free(e.q.arena);
  return ok;
}
