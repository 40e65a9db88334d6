/* task/passes/results.c - keeps a state in the output that its last value is: weights that are trained, the sum of a
 * gradient over the turns of a loop that goes back. Otherwise such a tensor is in memory twice, and copied at the end.
 *
 * In: tasks whose states are in place where they can be. Out: the same, without these copies. A state of two buffers
 * stays where it is: the caller's buffer cannot be exchanged with another. */
#include "task/inside.h"

/* Whether the caller's buffer, which may have any strides, can replace this one in all tasks. */
static bool may_replace(const TaskGraph *t, const Tasks *list, uint32_t buffer) {
  vec_each_of(const Task, k, *list) {
    if (!task_touches(t, k, buffer)) continue;
    if (k->unless >= 0 || k->kind == TASK_DEFAULT || task_call(k) || task_exchanges(k, buffer)) return false;
    if (!may_replace(t, &k->body, buffer)) return false;
  }
  return true;
}

/* Whether task i copies a state to an output, when all else is done with both. */
static bool is_last_copy(const TaskGraph *t, uint32_t i) {
  const Tasks *list = &t->tasks;
  const TaskStage *s = kernel_copies(list->at[i]);
  if (!s) return false;
  uint32_t from = s->slot[0].index, to = (uint32_t)s->buffer;
  const TaskBuffer *a = &t->buffers.at[from], *b = &t->buffers.at[to];
  if (a->space != BUF_WORK || b->space != BUF_OUTPUT || a->dtype != b->dtype || !buffers_alike(a, b)) return false;
  bool of_repeat = false;
  for (uint32_t k = 0; k < list->len; k++) {
    if (k != i && task_touches(t, list->at[k], to)) return false;
    if (k > i && task_writes(t, list->at[k], from)) return false;
    of_repeat |= list->at[k]->kind == TASK_REPEAT && task_writes(t, list->at[k], from);
  }
  return of_repeat && may_replace(t, list, from);
}

void task_results(TaskGraph *t) {
  uint32_t n = 0, *to = NEW_ARRAY(t->arena, uint32_t, t->buffers.len + 1);
  bool *dropped = NEW_ARRAY(t->arena, bool, t->tasks.len + 1);
  for (uint32_t b = 0; b < t->buffers.len; b++) to[b] = b;
  for (uint32_t i = 0; i < t->tasks.len; i++) {
    if (!is_last_copy(t, i)) continue;
    const TaskStage *s = &t->tasks.at[i]->stages.at[0];
    uint32_t from = s->slot[0].index;
    dropped[i] = to[from] == from; /* a second output of the same state is copied from the first */
    if (dropped[i]) to[from] = (uint32_t)s->buffer;
  }
  task_buffers_rename(t, &t->tasks, to);
  for (uint32_t i = 0; i < t->tasks.len; i++)
    if (!dropped[i]) t->tasks.at[n++] = t->tasks.at[i];
  t->tasks.len = n;
}
