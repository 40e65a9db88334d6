/* task/sites/all_reduce.c - on a mesh: parts that are combined at one place, from which the result goes to all, are
 * combined by all.
 *
 * In: `move a reduce %1 to %2`, and `move b broadcast %2 to %3` of the same sites. Out: `move a all_reduce %1 to %3`.
 * In an all-reduce each site combines a share and sends it to the others, so the same bytes are received in all, but no
 * site has to receive or send them all. Nor does anyone store %2. Before lifetimes. */
#include <string.h>

#include "site.h"
#include "task/inside.h"

/* Whether b brings to all what a combines at one place. */
static bool follows(const TaskGraph *t, const Task *a, const Task *b) {
  bool one = false;
  if (b->kind != TASK_MOVE || b->from != a->buffer || b->reducer != RED_NONE || b->wrap || b->unless != a->unless)
    return false;
  for (uint32_t i = 0; i < t->mesh.n; i++) {
    bool combined = a->of.on[i] == PLACE_PART && a->to.on[i] != PLACE_PART;
    one |= combined && a->to.on[i] == PLACE_SOME && t->mesh.size[i] > 1;
    if (b->to.on[i] != (combined ? PLACE_ALL : a->to.on[i])) return false;
  }
  return one;
}

/* Returns where the move that follows list->at[i] is; 0: nowhere. */
static uint32_t follower(const TaskGraph *t, const Tasks *list, uint32_t i) {
  const Task *a = list->at[i];
  if (a->kind != TASK_MOVE || a->reducer == RED_NONE || a->wrap || task_moves_places(a)) return 0;
  if (t->buffers.at[a->from].when || t->buffers.at[a->buffer].space != BUF_WORK) return 0;
  if (tasks_touching(t, &t->tasks, a->buffer) != 2) return 0;
  for (uint32_t k = i + 1; k < list->len; k++) {
    if (!task_touches(t, list->at[k], a->buffer)) continue;
    const Task *b = list->at[k];
    bool free = follows(t, a, b);
    for (uint32_t j = i + 1; free && j < k; j++) free = !task_touches(t, list->at[j], b->buffer);
    return free ? k : 0;
  }
  return 0;
}

static void list_merge(TaskGraph *t, Tasks *list) {
  for (uint32_t i = 0; i < list->len; i++) {
    Task *a = list->at[i], both = *a;
    if (a->kind == TASK_REPEAT) list_merge(t, &a->body);
    uint32_t k = follower(t, list, i);
    if (!k) continue;
    both.buffer = list->at[k]->buffer;
    both.to = list->at[k]->to;
    both.move = move_kind(t, &both);
    if (both.move != MOVE_ALL_REDUCE) continue;
    *a = both;
    memmove(list->at + k, list->at + k + 1, (list->len - k - 1) * sizeof *list->at);
    list->len--;
  }
}

void task_all_reduce(TaskGraph *t) {
  list_merge(t, &t->tasks);
  task_buffers_drop(t);
}
