/* task/passes/reuse.c - a kernel that computes its result element by element from a buffer with no later use stores it
 * in that buffer.
 *
 * The adjoint of a layer's relu or gelu, a product times a function of what went in, lies where that lay. On a mesh a
 * move may come between two maps: in a softmax with split rows the scores wait for their maximum, and the exponentials
 * for their sum, so there would be two buffers of this size at once. If there the result is an output that nothing
 * else uses, the other buffer lies in the output: of max(0, sum + c) the sum is made there. In: lifetimes. Out: such
 * pairs of buffers become one, and unused ones are removed; lifetimes must be recomputed. */
#include "task/inside.h"

static bool same_box(const TaskBuffer *a, const TaskBuffer *b) {
  return a->dtype == b->dtype && a->space == BUF_WORK && b->space != BUF_INPUT && buffers_alike(a, b);
}

/* Whether no other stage of the kernel uses the buffer, and this one reads it where it stores. */
static bool reads_at_itself(TaskGraph *t, const Task *k, uint32_t stage, uint32_t buffer, const uint32_t *to) {
  const TaskStage *s = &k->stages.at[stage];
  uint32_t rank = s->sum->n_out, *label = NEW_ARRAY(t->arena, uint32_t, rank + 1);
  for (uint32_t j = 0; j < k->stages.len; j++) {
    if (k->stages.at[j].buffer >= 0 && to[k->stages.at[j].buffer] == to[buffer]) return false;
    for (uint32_t m = 0; m < k->stages.at[j].sum->n_slot; m++) {
      const TaskSlot *slot = &k->stages.at[j].slot[m];
      if (!slot->kept && to[slot->index] == to[buffer] && (j != stage || slot->index != buffer)) return false;
    }
  }
  if (!stage_reads_at_labels(t, s, buffer, rank, NULL, label)) return false;
  for (uint32_t l = 0; l < rank; l++)
    if (label[l] != l) return false;
  return true;
}

/* Whether the list's kernels and moves alone use what lies in the buffer, and no move takes it from there. */
static bool made_in_list(const TaskGraph *t, const Tasks *list, uint32_t place, const uint32_t *to) {
  for (uint32_t b = 0; b < t->buffers.len; b++)
    for (uint32_t i = 0; to[b] == place && i < list->len; i++) {
      const Task *k = list->at[i];
      if (!task_touches(t, k, b)) continue;
      bool arrives = k->kind == TASK_MOVE && k->from != b && !task_moves_places(k);
      if (!arrives && (k->kind != TASK_KERNEL || task_call(k))) return false;
    }
  return true;
}

/* Whether an output is made by this task alone, outside of repeats. */
static bool made_once(const TaskGraph *t, const Task *k, uint32_t output) {
  bool outside = false;
  for (uint32_t i = 0; i < t->tasks.len; i++) outside |= t->tasks.at[i] == k;
  return outside && tasks_touching(t, &t->tasks, output) == 1;
}

/* Whether an input that is not given has its value there. */
static bool stands_for_input(const TaskGraph *t, uint32_t buffer) {
  vec_each_of(const Task, k, t->tasks)
    if (k->kind == TASK_DEFAULT && k->buffer == buffer) return true;
  return false;
}

/* Returns the buffer in which the stage's result may lie; -1: none. */
static int32_t place_find(TaskGraph *t, const Task *k, uint32_t stage, const uint32_t *to) {
  const TaskStage *s = &k->stages.at[stage];
  if (s->buffer < 0 || s->sum->reducer != RED_NONE || s->sum->domain || !stage_is_plain(s)) return -1;
  const TaskBuffer *made = &t->buffers.at[s->buffer];
  bool output = made->space == BUF_OUTPUT;
  if (!t->mesh.n && (output || stage + 1 < k->stages.len)) return -1; /* loops may make again what is kept */
  if (output ? !made_once(t, k, (uint32_t)s->buffer) : made->first != k->step) return -1;
  if (to[s->buffer] != (uint32_t)s->buffer) return -1;
  for (uint32_t m = 0; m < s->sum->n_slot; m++) {
    uint32_t b = s->slot[m].index;
    if (s->slot[m].kept || b == (uint32_t)s->buffer || t->buffers.at[to[b]].last != k->step) continue;
    if (stands_for_input(t, b) || (output && !made_in_list(t, &t->tasks, to[b], to))) continue;
    if (same_box(&t->buffers.at[to[b]], made) && reads_at_itself(t, k, stage, b, to)) return (int32_t)to[b];
  }
  return -1;
}

/* The two become one: an output if one is, else the buffer that was there first. That has the name of a copy, which is
 * what goes on: of a state, and not of its first value. Checkpoints have such names. */
static void unite(TaskGraph *t, uint32_t place, const TaskStage *s, uint32_t *to) {
  uint32_t made = (uint32_t)s->buffer;
  to[made] = place;
  t->buffers.at[place].last = t->buffers.at[made].last;
  if (s->sum->body->kind == EX_READ) t->buffers.at[place].name = t->buffers.at[made].name;
  if (t->buffers.at[made].space != BUF_OUTPUT) return;
  for (uint32_t b = 0; b < t->buffers.len; b++)
    if (to[b] == place) to[b] = made;
}

static void list_reuse(TaskGraph *t, const Tasks *list, uint32_t *to) {
  vec_each_of(const Task, k, *list) {
    list_reuse(t, &k->body, to);
    for (uint32_t s = 0; k->kind == TASK_KERNEL && !task_call(k) && k->unless < 0 && s < k->stages.len; s++) {
      int32_t place = place_find(t, k, s, to);
      if (place >= 0) unite(t, (uint32_t)place, &k->stages.at[s], to);
    }
  }
}

void task_reuse(TaskGraph *t) {
  uint32_t *to = NEW_ARRAY(t->arena, uint32_t, t->buffers.len + 1);
  for (uint32_t b = 0; b < t->buffers.len; b++) to[b] = b;
  list_reuse(t, &t->tasks, to);
  task_buffers_rename(t, &t->tasks, to);
  task_buffers_drop(t);
}
