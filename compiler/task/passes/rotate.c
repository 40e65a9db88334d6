/* task/passes/rotate.c - a state that takes another's old value: `next V[i] = U[i]`, as in a wave equation, where
 * U's own next value goes to a second buffer that is exchanged with U. That buffer then holds the old U, which is
 * what V becomes: so V is exchanged with it too, and nothing is copied. In a chain, where W becomes what V was and V
 * what U was, each gets the buffer of the one before.
 *
 * In: tasks whose states are in place where they can be. Out: the same, without such copies, and with more
 * exchanges, which are made in order. */
#include "task/inside.h"

typedef struct Rotate {
  TaskGraph *t;
  Task *repeat;
  int32_t *old;              /* by buffer: where, after the exchanges so far, its state's value of this turn lies;
                              * -1: nowhere */
} Rotate;

/* Whether from task `from` on nobody uses the buffer, nor asks whether it is the last turn. */
static bool is_left_alone(const Rotate *r, uint32_t from, uint32_t buffer) {
  for (uint32_t i = from; i < r->repeat->body.len; i++)
    if (task_touches(r->t, r->repeat->body.at[i], buffer)) return false;
  return r->repeat->stop != (int64_t)buffer;
}

static uint32_t writers(const Rotate *r, uint32_t buffer) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < r->repeat->body.len; i++) n += task_writes(r->t, r->repeat->body.at[i], buffer);
  return n;
}

/* Whether it has a value when the repeat begins, as states have; *met: the repeat has been reached. */
static bool is_begun(const TaskGraph *t, const Tasks *list, const Task *repeat, uint32_t buffer, bool *met) {
  for (uint32_t i = 0; i < list->len && !*met; i++) {
    const Task *k = list->at[i];
    if (k == repeat) *met = true;
    else if (k->kind == TASK_REPEAT && is_begun(t, &k->body, repeat, buffer, met)) return true;
    else if (!*met && k->unless < 0 && task_writes(t, k, buffer)) return true;
  }
  return false;
}

static bool rotate_one(Rotate *r, uint32_t i) {
  const Task *k = r->repeat->body.at[i];
  const TaskStage *s = kernel_copies(k);
  if (!s || k->unless >= 0) return false;
  uint32_t state = (uint32_t)s->buffer, from = s->slot[0].index;
  const TaskBuffer *a = &r->t->buffers.at[state], *b = &r->t->buffers.at[from];
  int32_t old = r->old[from];
  if (old < 0 || state == (uint32_t)old || a->space != BUF_WORK || a->dtype != b->dtype || !buffers_alike(a, b))
    return false;
  if (task_exchanges(r->repeat, state)) return false; /* else its value goes to where it was */
  bool met = false;
  if (writers(r, state) != 1 || !is_left_alone(r, i + 1, state) ||
      !is_begun(r->t, &r->t->tasks, r->repeat, state, &met))
    return false;
  vec_push(r->t->arena, r->repeat->exchange, ((TaskExchange){state, (uint32_t)old}));
  r->old[state] = old;
  r->old[from] = -1; /* that is the state's now */
  for (uint32_t j = i; j + 1 < r->repeat->body.len; j++) r->repeat->body.at[j] = r->repeat->body.at[j + 1];
  r->repeat->body.len--;
  return true;
}

static void repeat_rotate(TaskGraph *t, Task *repeat) {
  Rotate r = {t, repeat, NEW_ARRAY(t->arena, int32_t, t->buffers.len + 1)};
  for (uint32_t b = 0; b < t->buffers.len; b++) r.old[b] = -1;
  for (uint32_t x = 0; x < repeat->exchange.len; x++)
    r.old[repeat->exchange.at[x].now] = (int32_t)repeat->exchange.at[x].next;
  for (uint32_t i = 0; i < repeat->body.len;) i = rotate_one(&r, i) ? 0 : i + 1;
}

static void list_rotate(TaskGraph *t, const Tasks *list) {
  for (uint32_t i = 0; i < list->len; i++) {
    if (list->at[i]->kind != TASK_REPEAT) continue;
    list_rotate(t, &list->at[i]->body);
    repeat_rotate(t, list->at[i]);
  }
}

void task_rotate(TaskGraph *t) { list_rotate(t, &t->tasks); }
