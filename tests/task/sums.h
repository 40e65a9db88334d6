/* tests/task/sums.h - memory and moves of a TaskGraph for several sites, summed in the simplest way: what plans and
 * site_eval say is compared with it. */
#ifndef TASK_SUMS_H
#define TASK_SUMS_H

#include "expr/sum/law.h"
#include "task/inside.h"
#include "task/sites/site.h"

/* The most bytes needed at once at any step: the caller's buffers always, work from its first step to its last.
 * staged: also a move's working memory, from its step to its end. */
static inline int64_t task_peak(const TaskGraph *t, const uint32_t *at, bool staged) {
  int64_t *step = NEW_ARRAY(t->arena, int64_t, t->n_steps + 2), shape[256], always = 0, now = 0, most = 0;
  vec_each(const TaskBuffer, b, t->buffers) {
    int64_t bytes;
    if (!mul_ok(task_shape(t, b, at, shape), dtype_size(b->dtype), &bytes)) return INT64_MAX;
    if (b->space != BUF_WORK) always += bytes;
    else step[b->first] += bytes, step[b->last + 1] -= bytes;
  }
  Stagings moves = staged ? stagings_of(t->arena, t) : (Stagings){0};
  for (uint32_t i = 0; i < moves.len; i++) {
    int64_t bytes = staging_at(moves.at[i], at);
    step[staging_move(moves.at[i])->step] += bytes, step[staging_move(moves.at[i])->end + 1] -= bytes;
  }
  for (uint32_t i = 0; i < t->n_steps; i++) {
    now += step[i];
    if (now > most) most = now;
  }
  return always + most;
}

/* The same of the busiest site, with the working memory of moves. */
static inline int64_t task_peak_most(const TaskGraph *t) {
  int64_t *step = NEW_ARRAY(t->arena, int64_t, t->n_steps + 2), most = step[0];
  task_steps_bytes(t, step);
  for (uint32_t s = 0; s < t->n_steps || s == 0; s++) most = step[s] > most ? step[s] : most;
  return most;
}

/* The literal number that is stored in the buffer; 1: something else is stored. */
static inline int64_t number_in(const Tasks *list, uint32_t buffer) {
  int64_t n = 1;
  for (uint32_t i = 0; i < list->len; i++) {
    const Task *k = list->at[i];
    const TaskStage *s = k->kind == TASK_KERNEL ? &vec_last(k->stages) : NULL;
    if (s && s->buffer == (int32_t)buffer && s->sum->body->kind == EX_INT)
      n = s->sum->body->i > 0 ? s->sum->body->i : 0;
    if (k->kind == TASK_REPEAT && n == 1) n = number_in(&k->body, buffer);
  }
  return n;
}

static inline double list_received(const TaskGraph *t, const Tasks *list) {
  double n = 0;
  uint32_t q[MESH_AXES + 1];
  vec_each_of(const Task, k, *list) {
    for (int64_t s = 0; (k->kind == TASK_MOVE || k->kind == TASK_FETCH) && s < mesh_sites(&t->mesh); s++) {
      mesh_place(&t->mesh, s, q);
      n += k->kind == TASK_MOVE ? move_received(t, k, q) : fetch_received(t, k, q);
    }
    if (k->kind == TASK_REPEAT) n += (double)number_in(&t->tasks, k->buffer) * list_received(t, &k->body);
  }
  return n;
}

/* Bytes that all sites receive in all executions; an unknown number of turns counts as one. */
static inline double task_received(const TaskGraph *t) {
  return list_received(t, &t->tasks);
}

#endif
