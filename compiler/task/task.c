/* task/task.c - creates an empty TaskGraph, and answers questions of its texts. */
#include "inside.h"

#include "expr/sum/law.h"
#include "task/text/text.h"

TaskGraph *task_new(Arena *a, Strings *t, Exprs *p) {
  return MAKE(a, TaskGraph, .arena = a, .strings = t, .exprs = p);
}

const char *task_word(const Task *k) {
  switch (k->kind) {
  case TASK_KERNEL: return "kernel";
  case TASK_REPEAT: return "repeat";
  case TASK_ZERO: return "zero";
  case TASK_DEFAULT: return "default";
  case TASK_ASSERT: return "assert";
  case TASK_MOVE: return "move";
  case TASK_FETCH: return "fetch";
  }
  return "task";
}

static const char *const move_word[TASK_MOVES] = {
    [MOVE_EXCHANGE] = "exchange",   [MOVE_ALL_GATHER] = "all_gather",         [MOVE_GATHER] = "gather",
    [MOVE_BROADCAST] = "broadcast", [MOVE_SCATTER] = "scatter",               [MOVE_ALL_TO_ALL] = "all_to_all",
    [MOVE_ALL_REDUCE] = "all_reduce", [MOVE_REDUCE_SCATTER] = "reduce_scatter", [MOVE_REDUCE] = "reduce",
};

const char *task_move_word(TaskMove m) {
  return (unsigned)m < TASK_MOVES ? move_word[m] : "move";
}

bool task_is_continued(const Task *k) {
  for (uint32_t i = 0; i < k->stages.len; i++)
    if (k->stages.at[i].sum->n_out != k->n_outer || (i > 0 && k->stages.at[i].sum->reducer != RED_NONE)) return false;
  return k->stages.len > 1 && k->stages.at[0].sum->reducer != RED_NONE;
}

bool task_moves_places(const Task *k) {
  return k->kind == TASK_MOVE && reducer_is_arg(k->reducer);
}

static bool list_touches(const TaskGraph *t, const Tasks *list, uint32_t buffer, bool write) {
  for (uint32_t i = 0; i < list->len; i++)
    if (write ? task_writes(t, list->at[i], buffer) : task_touches(t, list->at[i], buffer)) return true;
  return false;
}

bool task_exchanges(const Task *k, uint32_t buffer) {
  for (uint32_t i = 0; i < k->exchange.len; i++)
    if (k->exchange.at[i].now == buffer || k->exchange.at[i].next == buffer) return true;
  return false;
}

bool task_writes(const TaskGraph *t, const Task *k, uint32_t buffer) {
  bool met = k->turns == (int64_t)buffer || task_exchanges(k, buffer) || list_touches(t, &k->body, buffer, true);
  for (uint32_t i = 0; i < k->stages.len; i++) met |= k->stages.at[i].buffer == (int64_t)buffer;
  if (k->kind == TASK_ZERO || k->kind == TASK_MOVE) met |= k->buffer == buffer;
  if (k->kind == TASK_DEFAULT) met |= t->inputs.at[k->argument].buffer == buffer;
  return met || (task_moves_places(k) && k->place_to == buffer);
}

bool task_touches(const TaskGraph *t, const Task *k, uint32_t buffer) {
  bool met = task_writes(t, k, buffer) || task_reads(k, buffer) || k->stop == (int64_t)buffer ||
      list_touches(t, &k->body, buffer, false);
  if (!task_has_stages(k)) met |= k->buffer == buffer;
  return met || (k->kind == TASK_MOVE && k->from == buffer) || (task_moves_places(k) && k->place_from == buffer);
}

bool task_may_pass(const TaskGraph *t, const Task *kernel, const Task *x) {
  vec_each(const TaskStage, s, kernel->stages) {
    for (uint32_t j = 0; j < s->sum->n_slot; j++)
      if (!s->slot[j].kept && task_writes(t, x, s->slot[j].index)) return false;
    if (s->buffer >= 0 && task_touches(t, x, (uint32_t)s->buffer)) return false;
  }
  return true;
}

uint32_t tasks_touching(const TaskGraph *t, const Tasks *list, uint32_t buffer) {
  uint32_t n = 0;
  vec_each_of(const Task, k, *list) {
    if (k->kind == TASK_REPEAT && task_touches(t, k, buffer)) {
      n += tasks_touching(t, &k->body, buffer);
      n += k->buffer == buffer || k->stop == (int64_t)buffer || k->turns == (int64_t)buffer;
      for (uint32_t e = 0; e < k->exchange.len; e++)
        n += k->exchange.at[e].now == buffer || k->exchange.at[e].next == buffer;
    } else n += task_touches(t, k, buffer);
  }
  return n;
}

Str task_axis(const TaskGraph *t, uint32_t axis) {
  return strings_printf(t->strings, "at%u", axis);
}

uint32_t task_steps(const Tasks *list) {
  if (!list->len) return 0;
  const Task *k = vec_last(*list);
  return (k->kind == TASK_REPEAT ? k->end : k->step) + 1;
}

uint64_t task_operand(const TaskSlot *s) {
  return (uint64_t)s->kept << 32 | s->index;
}

static uint64_t operand_of(void *ctx, uint32_t slot) {
  return task_operand(&((const TaskSlot *)ctx)[slot]);
}

TaskSlot *task_canonical_slots(Arena *a, Exprs *p, EinSum *s, const TaskSlot *slot) {
  const uint32_t *from = sum_canonical_slots(a, p, s, operand_of, (void *)(uintptr_t)slot);
  TaskSlot *to = NEW_ARRAY(a, TaskSlot, s->n_slot);
  for (uint32_t i = 0; i < s->n_slot; i++) to[i] = slot[from[i]];
  return to;
}

/* ---- sizes that are not known yet ---------------------------------------------------------------- */

static bool dim_known(void *ctx, Str name, int64_t *out) {
  const TaskGraph *t = ctx;
  for (uint32_t i = 0; i < t->dims.len; i++) {
    const Dim *d = &t->dims.at[i];
    if (d->name != name || (!d->known && i >= t->mesh.n)) continue;
    *out = d->known ? d->value : 0; /* the first site */
    return true;
  }
  return false;
}

int64_t task_size_guess(const TaskGraph *t, const Expr *e) {
  int64_t size = expr_size_guess(e, dim_known, (void *)(uintptr_t)t);
  return size || e->kind == EX_INT ? size : 1;
}

double task_buffer_bytes(const TaskGraph *t, uint32_t buffer) {
  const TaskBuffer *b = &t->buffers.at[buffer];
  double n = (double)dtype_size(b->dtype);
  for (uint32_t d = 0; d < b->rank; d++) n *= (double)task_size_guess(t, b->dim[d]);
  return n;
}

bool task_fetched(const Tasks *list, uint32_t buffer) {
  vec_each_of(const Task, k, *list) {
    if (k->kind == TASK_FETCH && vec_last(k->stages).buffer == (int64_t)buffer) return true;
    if (task_fetched(&k->body, buffer)) return true;
  }
  return false;
}

/* ---- the buffers of tasks ------------------------------------------------------------------------- */

/* buffer: -1: there is none. */
static void use_perhaps(int32_t *buffer, bool write, TaskUse *f, void *env) {
  if (*buffer >= 0) f(env, (uint32_t *)buffer, write);
}

void task_uses(Task *k, TaskUse *f, void *env) {
  vec_each(TaskStage, s, k->stages) {
    for (uint32_t j = 0; j < s->sum->n_slot; j++)
      if (!s->slot[j].kept) f(env, &s->slot[j].index, false);
    use_perhaps(&s->buffer, true, f, env);
  }
  if (!task_has_stages(k)) f(env, &k->buffer, k->kind == TASK_ZERO || k->kind == TASK_MOVE);
  if (k->kind == TASK_MOVE) f(env, &k->from, false);
  if (task_moves_places(k)) {
    f(env, &k->place_from, false);
    f(env, &k->place_to, true);
  }
  use_perhaps(&k->turns, true, f, env);
  vec_each(TaskExchange, x, k->exchange) {
    f(env, &x->now, true);
    f(env, &x->next, true);
  }
  use_perhaps(&k->stop, false, f, env);
}

static void use_mark(void *env, uint32_t *buffer, bool write) {
  bool *used = env;
  (void)write;
  used[*buffer] = true;
}

void task_buffers_used(const Tasks *list, bool *used) {
  vec_each_of(Task, k, *list) {
    task_uses(k, use_mark, used);
    task_buffers_used(&k->body, used);
  }
}
