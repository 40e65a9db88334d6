/* task/lifetime.c - numbers the steps in text order and computes lifetimes: a buffer lives from its first step to
 * its last. What is made before a repeat and used in it lives to the repeat's end. The two buffers of a state live
 * as one. */
#include "inside.h"

typedef struct Life { uint32_t first, last; bool seen; } Life;

typedef struct Walk {
  TaskGraph *t;
  Life *span;               /* by buffer */
  VEC(const Task *) around;  /* the repeats that are open */
} Walk;

static uint32_t number(Tasks *list, uint32_t step) {
  vec_each_of(Task, k, *list) {
    k->step = k->end = step++;
    if (k->kind == TASK_REPEAT) {
      step = number(&k->body, step);
      k->end = step++;
    }
  }
  return step;
}

static void touch(Walk *w, uint32_t buffer, uint32_t step) {
  Life *s = &w->span[buffer];
  if (!s->seen) *s = (Life){step, step, true};
  if (step < s->first) s->first = step;
  if (step > s->last) s->last = step;
  vec_each_of(const Task, k, w->around) {
    if (s->first >= k->step) continue;
    if (k->end > s->last) s->last = k->end;
    break;
  }
}

static void touch_kernel(Walk *w, const Task *k) {
  vec_each(const TaskStage, s, k->stages) {
    for (uint32_t j = 0; j < s->sum->n_slot; j++)
      if (!s->slot[j].kept) touch(w, s->slot[j].index, k->step);
    if (s->buffer >= 0) touch(w, (uint32_t)s->buffer, k->step);
  }
}

static void touch_list(Walk *w, const Tasks *list);

static void touch_repeat(Walk *w, const Task *k) {
  touch(w, k->buffer, k->step);
  for (uint32_t i = 0; i < k->exchange.len; i++) {
    touch(w, k->exchange.at[i].now, k->step);
    touch(w, k->exchange.at[i].next, k->step);
    touch(w, k->exchange.at[i].now, k->end);
    touch(w, k->exchange.at[i].next, k->end);
  }
  vec_push(w->t->arena, w->around, k);
  touch_list(w, &k->body);
  if (k->stop >= 0) touch(w, (uint32_t)k->stop, k->end);
  w->around.len--;
  if (k->turns >= 0) touch(w, (uint32_t)k->turns, k->end);
}

static void touch_list(Walk *w, const Tasks *list) {
  vec_each_of(const Task, k, *list) {
    switch (k->kind) {
    case TASK_FETCH:
    case TASK_KERNEL: touch_kernel(w, k); break;
    case TASK_REPEAT: touch_repeat(w, k); break;
    case TASK_DEFAULT:
      touch(w, w->t->inputs.at[k->argument].buffer, k->step);
      touch(w, k->buffer, k->step);
      break;
    case TASK_ZERO:
    case TASK_ASSERT: touch(w, k->buffer, k->step); break;
    case TASK_MOVE:
      touch(w, k->from, k->step);
      touch(w, k->buffer, k->step);
      touch(w, k->from, k->end);
      touch(w, k->buffer, k->end);
      if (!task_moves_places(k)) break;
      touch(w, k->place_from, k->step), touch(w, k->place_to, k->step);
      touch(w, k->place_from, k->end), touch(w, k->place_to, k->end);
      break;
    }
  }
}

/* Unites two buffers that are exchanged: both live as long as either. */
static bool unite(Walk *w, uint32_t a, uint32_t b) {
  Life *x = &w->span[a], *y = &w->span[b], both = {0, 0, true};
  both.first = x->first < y->first ? x->first : y->first;
  both.last = x->last > y->last ? x->last : y->last;
  bool changed = x->first != both.first || x->last != both.last || y->first != both.first || y->last != both.last;
  *x = *y = both;
  return changed;
}

static bool unite_list(Walk *w, const Tasks *list) {
  bool changed = false;
  vec_each_of(const Task, k, *list) {
    for (uint32_t j = 0; j < k->exchange.len; j++)
      changed |= unite(w, k->exchange.at[j].now, k->exchange.at[j].next);
    if (k->kind == TASK_REPEAT) changed |= unite_list(w, &k->body);
    if (k->kind == TASK_DEFAULT) { /* the default's buffer lives as long as the input */
      Life *from = &w->span[w->t->inputs.at[k->argument].buffer], *to = &w->span[k->buffer];
      if (from->last > to->last) to->last = from->last, changed = true;
    }
  }
  return changed;
}

void task_number(TaskGraph *t) { t->n_steps = number(&t->tasks, 0); }

void task_lives(TaskGraph *t) {
  Walk w = {.t = t, .span = NEW_ARRAY(t->arena, Life, t->buffers.len + 1)};
  touch_list(&w, &t->tasks);
  while (unite_list(&w, &t->tasks)) continue;
  for (uint32_t b = 0; b < t->buffers.len; b++) {
    if (t->buffers.at[b].space != BUF_WORK) continue;
    t->buffers.at[b].first = w.span[b].first;
    t->buffers.at[b].last = w.span[b].last;
  }
}

void task_lifetimes(TaskGraph *t) {
  task_number(t);
  task_lives(t);
}
