/* task/passes/coalesce.c - a state of an inner loop that begins as a tensor, and whose last value becomes that one's:
 *
 *     M = L; repeat { M changes }; L = M       becomes       repeat { L changes }
 *
 * if nobody needs the old value of L meanwhile, nor M afterwards. And a state that begins as what a kernel, or another
 * repeat, makes, and nobody needs after that.
 *
 * In: tasks whose states are in place where they can be. Out: the same, without such copies. */
#include "task/inside.h"

/* Whether the buffer is used by tasks from..to-1 of the list, or those in them, and by no others. */
static bool is_used_only(const TaskGraph *t, const Tasks *list, uint32_t from, uint32_t to, uint32_t buffer) {
  Tasks some = {.at = list->at + from, .len = to - from};
  return tasks_touching(t, &some, buffer) == tasks_touching(t, &t->tasks, buffer);
}

/* The stage of a task that copies one work buffer to another that may take its place. */
static const TaskStage *copy_in(const TaskGraph *t, const Task *k) {
  const TaskStage *s = k->unless < 0 ? kernel_copies(k) : NULL;
  if (!s) return NULL;
  const TaskBuffer *a = &t->buffers.at[s->slot[0].index], *b = &t->buffers.at[s->buffer];
  bool alike = a->space == BUF_WORK && b->space == BUF_WORK && a->dtype == b->dtype && buffers_alike(a, b);
  return alike && a != b ? s : NULL;
}

/* The place after `first` where what it copies there is copied back; 0: none. */
static uint32_t copied_back(const TaskGraph *t, const Tasks *list, uint32_t first) {
  const TaskStage *s = copy_in(t, list->at[first]);
  uint32_t from = s->slot[0].index, to = (uint32_t)s->buffer;
  for (uint32_t i = first + 1; i < list->len; i++) {
    if (!task_touches(t, list->at[i], from)) continue;
    const TaskStage *back = copy_in(t, list->at[i]);
    bool found = back && back->slot[0].index == to && back->buffer == (int32_t)from;
    return found && is_used_only(t, list, first, i + 1, to) ? i : 0;
  }
  return 0;
}

/* Whether a repeat of the list exchanges the buffer with another. */
static bool is_exchanged(const Tasks *list, uint32_t buffer) {
  vec_each_of(const Task, k, *list)
    if (k->kind == TASK_REPEAT && (task_exchanges(k, buffer) || is_exchanged(&k->body, buffer))) return true;
  return false;
}

/* Whether what is copied there is made anew and where it stays, perhaps as a state of a repeat before it, and needed by
 * nobody after it. */
static bool copied_on(const TaskGraph *t, const Tasks *list, uint32_t last) {
  const TaskStage *s = copy_in(t, list->at[last]);
  uint32_t from = s->slot[0].index, to = (uint32_t)s->buffer, first = 0;
  while (!task_touches(t, list->at[first], from)) first++;
  const Task *k = list->at[first];
  bool made = k->kind == TASK_KERNEL && k->stages.len == 1 && k->unless < 0 && !task_reads(k, from) &&
              stage_is_plain(&k->stages.at[0]) && !k->stages.at[0].sum->domain;
  bool needed = false; /* else fusion makes what is only copied where it is copied to */
  for (uint32_t i = first + 1; made && i < last; i++) {
    const Task *by = list->at[i];
    if (!task_touches(t, by, from)) continue;
    made = by->kind == TASK_KERNEL || by->kind == TASK_REPEAT; /* it stands for no input */
    needed |= !copy_in(t, by);
  }
  Tasks before = {.at = list->at, .len = last};
  return made && needed && !is_exchanged(list, from) && is_used_only(t, list, first, last + 1, from) &&
         !tasks_touching(t, &before, to);
}

/* Drops two tasks of the list, which may be one, and a buffer. */
static void drop(TaskGraph *t, Tasks *list, uint32_t i, uint32_t j, uint32_t buffer, uint32_t by) {
  uint32_t n = 0, *to = NEW_ARRAY(t->arena, uint32_t, t->buffers.len + 1);
  for (uint32_t b = 0; b < t->buffers.len; b++) to[b] = b == buffer ? by : b;
  task_buffers_rename(t, list, to);
  for (uint32_t k = 0; k < list->len; k++)
    if (k != i && k != j) list->at[n++] = list->at[k];
  list->len = n;
}

static void list_coalesce(TaskGraph *t, Tasks *list) {
  for (uint32_t i = 0; i < list->len;) {
    if (list->at[i]->kind == TASK_REPEAT) list_coalesce(t, &list->at[i]->body);
    const TaskStage *s = copy_in(t, list->at[i]);
    uint32_t from = s ? s->slot[0].index : 0, to = s ? (uint32_t)s->buffer : 0, last = s ? copied_back(t, list, i) : 0;
    if (last) drop(t, list, i, last, to, from);
    else if (s && copied_on(t, list, i)) drop(t, list, i, i, from, to);
    else i++;
  }
}

void task_coalesce(TaskGraph *t) { list_coalesce(t, &t->tasks); }
