/* task/sites/fetch.c - for a mesh: brings reads at indices from data into a form in which sites can request them
 * from each other.
 *
 *   fetch  E[s, d] = X[T[s] + 1, 2 * d]
 *
 * becomes a kernel that computes the requested places, one for each point (P), a fetch of whole pieces of rows at
 * these places (R), and readers that read a point of R only where its place is one of X:
 *
 *   kernel P[s] = T[s] + 1
 *   fetch  R[s, j] = X[P[s], j + low]
 *   kernel .. E[s, d] ..  reads  R[select(0 <= P[s] and P[s] < n, s, -1), 2 * d - low]
 *
 * So a place that does not exist fails where it is read, if it is, just as it would at the table; an index that
 * cannot itself be computed (T at data) becomes such a place, -1. In: the list with fetches as lowering made them.
 * Out: what check_fetch demands (check/check.c). */
#include <string.h>

#include "expr/prove/asked.h"
#include "expr/prove/prove.h"
#include "expr/prove/span.h"
#include "expr/sum/law.h"
#include "task/inside.h"
#include "site.h"

enum { RANK = 256 };

typedef struct Fetching {
  TaskGraph *t;
  Exprs *x;
  Arena *arena;
  const Task *k;             /* the fetch as it was, */
  const TaskStage *s;        /*   its stage, */
  const Expr *read;          /*   the read of its table, */
  const TaskBuffer *made;    /*   and what it makes */
  Asked asked;
  uint32_t n_point, n_index, n_slice;
  uint32_t *label;           /* by point dimension; none: there is one point */
  const Expr **to;           /* by label of the stage: its form in P; NULL: not there */
  const Expr **low;          /* by slice: its first place, */
  const Expr **extent;       /*   and how many */
  uint32_t places, result;   /* the buffers P and R */
  int64_t whole[RANK];       /* extents of the table */
} Fetching;

static const Expr *int_of(const Fetching *f, int64_t v) { return expr_int(f->x, DT_I64, v); }
static const Expr *plus(const Fetching *f, const Expr *a, const Expr *b) { return expr_op2(f->x, OP_ADD, a, b); }
static const Expr *minus(const Fetching *f, const Expr *a, const Expr *b) {
  return expr_normal(f->x, expr_op2(f->x, OP_SUB, a, b));
}

/* 0 <= e < extent */
static const Expr *within(const Fetching *f, const Expr *e, const Expr *extent) {
  return expr_and(f->x, expr_op2(f->x, OP_LE, int_of(f, 0), e), expr_op2(f->x, OP_LT, e, extent));
}

/* ---- where an index can be computed ------------------------------------------------------------------------- */

typedef struct Sure { Fetching *f; Map of; } Sure; /* by expression: the condition, or `yes` */

static const Expr *sure_of(const Sure *q, const Expr *e) {
  const Expr *known = map_find(&q->of, e);
  return known ? known : expr_bool(q->f->x, true);
}

static const Expr *sure_and(const Sure *q, const Expr *a, const Expr *b) {
  const Expr *yes = expr_bool(q->f->x, true), *all = expr_and(q->f->x, a == yes ? NULL : a, b == yes ? NULL : b);
  return all ? all : yes;
}

/* b where `c` holds, else d. */
static const Expr *sure_if(const Sure *q, const Expr *c, const Expr *b, const Expr *d) {
  return b == d ? b : expr_select(q->f->x, c, b, d);
}

static const Expr *sure_read(const Sure *q, const Expr *e) {
  const Fetching *f = q->f;
  const TaskBuffer *b = &f->t->buffers.at[f->s->slot[e->i].index];
  const Expr *all = expr_bool(f->x, true);
  for (uint32_t d = 0; d < e->n; d++) {
    const Expr *i = e->arg[d];
    bool plain = i->kind == EX_LABEL && f->s->bound[i->i] == b->dim[d];
    if (!plain) all = sure_and(q, sure_and(q, all, sure_of(q, i)), within(f, i, b->dim[d]));
  }
  return all;
}

/* Its arguments' conditions are known. */
static const Expr *sure_made(const Sure *q, const Expr *e) {
  const Expr *yes = expr_bool(q->f->x, true), *all = yes;
  if (e->kind == EX_READ) return sure_read(q, e);
  if (e->kind != EX_OP) return yes;
  if (e->op == OP_SELECT)
    return sure_and(q, sure_of(q, e->arg[0]), sure_if(q, e->arg[0], sure_of(q, e->arg[1]), sure_of(q, e->arg[2])));
  if (e->op == OP_AND) return sure_and(q, sure_of(q, e->arg[0]), sure_if(q, e->arg[0], sure_of(q, e->arg[1]), yes));
  if (e->op == OP_OR) return sure_and(q, sure_of(q, e->arg[0]), sure_if(q, e->arg[0], yes, sure_of(q, e->arg[1])));
  for (uint32_t k = 0; k < e->n; k++) all = sure_and(q, all, sure_of(q, e->arg[k]));
  return all;
}

/* The index, or -1 where one of its own reads is out of range. */
static const Expr *index_sure(Fetching *f, const Expr *index) {
  Sure q = {f, map_new(f->arena)};
  VEC(const Expr *) stack = {0};
  vec_push(f->arena, stack, index);
  while (stack.len) { /* arguments first */
    const Expr *e = vec_last(stack);
    uint32_t n = stack.len;
    for (uint32_t k = 0; k < e->n && !map_find(&q.of, e); k++)
      if (e->arg[k]->has & HAS_READ && !map_find(&q.of, e->arg[k])) vec_push(f->arena, stack, e->arg[k]);
    if (stack.len > n) continue;
    if (!map_find(&q.of, e)) map_put(&q.of, e, (void *)(uintptr_t)sure_made(&q, e));
    stack.len--;
  }
  return sure_if(&q, sure_of(&q, index), index, int_of(f, -1));
}

/* ---- what a slice goes over ------------------------------------------------------------------------------------ */

/* All points of a label. */
static SpanEnds label_ends(void *fetching, Exprs *p, int64_t label) {
  const Fetching *f = fetching;
  return (SpanEnds){int_of(f, 0), expr_op2(p, OP_SUB, f->s->bound[label], int_of(f, 1))};
}

/* The symbolic form of asked_box (expr/prove/asked.h). */
static void slices_find(Fetching *f) {
  for (uint32_t d = 0; d < f->read->n; d++) {
    SpanEnds e = {int_of(f, 0), int_of(f, f->whole[d] - 1)};
    if (f->asked.place[d]) continue;
    span_ends(f->x, f->read->arg[d], label_ends, f, &e);
    f->low[f->n_slice] = extent_normal(f->x, e.least);
    f->extent[f->n_slice++] = extent_normal(f->x, plus(f, expr_op2(f->x, OP_SUB, e.most, e.least), int_of(f, 1)));
  }
}

/* ---- P, the places ----------------------------------------------------------------------------------------------- */

static void points_find(Fetching *f) {
  uint32_t n = f->s->sum->n_out;
  f->label = NEW_ARRAY(f->arena, uint32_t, n + 1);
  f->to = NEW_ARRAY(f->arena, const Expr *, n + 1);
  for (uint32_t l = 0; l < n; l++) {
    if (!f->asked.label[l]) continue;
    f->to[l] = expr_label(f->x, f->n_point);
    f->label[f->n_point++] = l;
  }
  f->n_index = f->asked.n_place;
}

static uint32_t points_rank(const Fetching *f) { return f->n_point ? f->n_point : 1; }

static const Expr *point_bound(const Fetching *f, uint32_t k) {
  return k < f->n_point ? f->s->bound[f->label[k]] : int_of(f, 1);
}

static const Expr *point_low(const Fetching *f, uint32_t k) {
  return k < f->n_point && f->made->low ? f->made->low[f->label[k]] : int_of(f, 0);
}

static uint32_t buffer_add(
    Fetching *f, const char *what, DType dtype, uint32_t rank, const Expr **dim, const Expr **low) {
  TaskBuffer b = {.id = f->t->buffers.len, .space = BUF_WORK, .place = f->made->place, .dtype = dtype, .rank = rank,
      .dim = dim, .low = low, .when = f->made->when,
      .name = f->made->name ? strings_printf(f->t->strings, "%s%s", f->made->name->s, what) : NULL};
  vec_push(f->arena, f->t->buffers, b);
  f->made = &f->t->buffers.at[f->s->buffer];
  return b.id;
}

static Task *task_add(Fetching *f, Tasks *list, TaskKind kind) {
  Task *k = NEW(f->arena, Task);
  *k = (Task){.kind = kind, .place = f->k->place, .name = f->k->name, .unless = f->k->unless, .stop = -1, .turns = -1};
  vec_push(f->arena, *list, k);
  return k;
}

/* A stage over n labels that stores at all of them, and at `last` after them if that is not NULL. */
static TaskStage stage_over(const Fetching *f, uint32_t n, uint32_t buffer, const Expr *last) {
  TaskStage s = {.name = f->s->name, .place = f->s->place, .buffer = (int32_t)buffer, .n_at = n + (last != NULL),
      .bound = NEW_ARRAY(f->arena, const Expr *, n + 1), .label = NEW_ARRAY(f->arena, Str, n + 1),
      .at = NEW_ARRAY(f->arena, const Expr *, n + 2)};
  for (uint32_t k = 0; k < n; k++) s.at[k] = expr_label(f->x, k);
  s.at[n] = last;
  for (uint32_t k = 0; k < n; k++) s.label[k] = strings_printf(f->t->strings, "i%u", k + 1);
  return s;
}

static void stage_map(
    Fetching *f, Task *k, TaskStage *s, uint32_t n, const Expr *body, const TaskSlot *slot, uint32_t n_slot) {
  EinSum sum = {.n_out = n, .acc = (DType)body->dtype, .dtype = (DType)body->dtype, .body = body};
  stage_canonical(f->t, s, &sum, slot, n_slot);
  vec_push(f->arena, k->stages, *s);
}

/* Finds an input of indices that has what P would have; -1: there is none. */
static int32_t places_given(const Fetching *f, const Expr *index) {
  if (f->n_index != 1 || !f->n_point || index->kind != EX_READ || index->n != f->n_point) return -1;
  const TaskBuffer *b = &f->t->buffers.at[f->s->slot[index->i].index];
  bool same = b->space == BUF_INPUT && b->dtype == DT_I64;
  for (uint32_t k = 0; k < index->n; k++)
    same &= index->arg[k]->kind == EX_LABEL && index->arg[k]->i == f->label[k] && b->dim[k] == f->s->bound[f->label[k]];
  return same ? (int32_t)b->id : -1;
}

static void places_make(Fetching *f, Tasks *list) {
  uint32_t rank = points_rank(f), made = 0;
  const Expr **dim = NEW_ARRAY(f->arena, const Expr *, rank + 2), **low = NEW_ARRAY(f->arena, const Expr *, rank + 2);
  for (uint32_t d = 0; d < f->read->n; d++) {
    int32_t given = f->asked.place[d] ? places_given(f, f->read->arg[d]) : -1;
    if (given >= 0) {
      f->places = (uint32_t)given;
      return;
    }
  }
  for (uint32_t k = 0; k < rank; k++) dim[k] = point_bound(f, k), low[k] = point_low(f, k);
  dim[rank] = int_of(f, f->n_index), low[rank] = int_of(f, 0);
  f->places = buffer_add(f, ".at", DT_I64, rank + (f->n_index > 1), dim, low);
  for (uint32_t d = 0; d < f->read->n; d++) {
    if (!f->asked.place[d]) continue;
    TaskStage s = stage_over(f, rank, f->places, f->n_index > 1 ? int_of(f, made) : NULL);
    for (uint32_t k = 0; k < rank; k++) s.bound[k] = point_bound(f, k);
    const Expr *index = expr_relabel(f->x, index_sure(f, f->read->arg[d]), f->s->sum->n_out, f->to);
    stage_map(f, task_add(f, list, TASK_KERNEL), &s, rank, index, f->s->slot, f->s->sum->n_slot);
    made++;
  }
}

/* Index k of a point; `point`: its place. */
static const Expr *place_read(const Fetching *f, int64_t slot, const Expr **point, uint32_t k) {
  uint32_t rank = points_rank(f);
  point[rank] = int_of(f, k);
  return expr_read(f->x, DT_I64, slot, rank + (f->n_index > 1), point);
}

/* ---- R, the rows ------------------------------------------------------------------------------------------------- */

static void rows_make(Fetching *f, Tasks *list) {
  uint32_t points = points_rank(f), rank = points + f->n_slice, place = 0, slice = 0;
  const Expr **dim = NEW_ARRAY(f->arena, const Expr *, rank + 1), **low = NEW_ARRAY(f->arena, const Expr *, rank + 1);
  const Expr **index = NEW_ARRAY(f->arena, const Expr *, f->read->n + 1),
             **point = NEW_ARRAY(f->arena, const Expr *, points + 1);
  for (uint32_t k = 0; k < points; k++)
    point[k] = expr_label(f->x, k), dim[k] = point_bound(f, k), low[k] = point_low(f, k);
  for (uint32_t k = 0; k < f->n_slice; k++) dim[points + k] = f->extent[k], low[points + k] = f->low[k];
  f->result = buffer_add(f, "", (DType)f->read->dtype, rank, dim, low);
  for (uint32_t d = 0; d < f->read->n; d++) {
    if (f->asked.place[d]) index[d] = place_read(f, 0, point, place++);
    else index[d] = plus(f, expr_label(f->x, points + slice), f->low[slice]), slice++;
  }
  TaskStage s = stage_over(f, rank, f->result, NULL);
  for (uint32_t k = 0; k < rank; k++) s.bound[k] = dim[k];
  const TaskSlot slot[] = {{false, f->places}, {false, task_table(f->k)}};
  stage_map(f, task_add(f, list, TASK_FETCH), &s, rank, expr_read(f->x, (DType)f->read->dtype, 1, f->read->n, index),
      slot, 2);
}

/* ---- readers ----------------------------------------------------------------------------------------------------- */

typedef struct Reader { Fetching *f; const TaskStage *s; } Reader; /* R's and P's slots come after its own */

static const Expr *leaf_reader(void *env, Exprs *x, const Expr *leaf) {
  const Reader *r = env;
  Fetching *f = r->f;
  uint32_t n = r->s->sum->n_slot, points = points_rank(f), slice = 0, place = 0;
  if (leaf->kind != EX_READ || leaf->i >= n || r->s->slot[leaf->i].kept ||
      r->s->slot[leaf->i].index != (uint32_t)f->s->buffer)
    return leaf;
  const Expr **index = NEW_ARRAY(f->arena, const Expr *, points + f->n_slice + 1),
             **point = NEW_ARRAY(f->arena, const Expr *, points + 1);
  const Expr *is = NULL;
  for (uint32_t k = 0; k < points; k++) index[k] = point[k] = f->n_point ? leaf->arg[f->label[k]] : int_of(f, 0);
  for (uint32_t d = 0; d < f->read->n; d++) {
    if (f->asked.place[d]) {
      is = expr_and(x, is, within(f, place_read(f, n + 1, point, place++), int_of(f, f->whole[d])));
    } else {
      index[points + slice] = minus(f, expr_relabel(x, f->read->arg[d], f->s->sum->n_out, leaf->arg), f->low[slice]);
      slice++;
    }
  }
  index[0] = expr_select(x, is, index[0], int_of(f, -1));
  return expr_read(x, (DType)leaf->dtype, n, points + f->n_slice, index);
}

static void stage_reads_rows(Fetching *f, TaskStage *s) {
  Reader r = {f, s};
  EinSum sum = *s->sum;
  uint32_t n = sum.n_slot;
  if (!stage_reads(s, (uint32_t)f->s->buffer)) return;
  TaskSlot *slot = COPY_ARRAY(f->arena, TaskSlot, s->slot, n, n + 2);
  slot[n] = (TaskSlot){false, f->result};
  slot[n + 1] = (TaskSlot){false, f->places};
  sum_map(f->x, &sum, leaf_reader, &r);
  stage_canonical(f->t, s, &sum, slot, n + 2);
}

/* Returns whether tasks other than stages use the old result. */
static bool readers_change(Fetching *f, const Tasks *list) {
  bool others = false;
  uint32_t was = (uint32_t)f->s->buffer;
  vec_each_of(Task, k, *list) {
    if (k == f->k) continue;
    others |= readers_change(f, &k->body);
    if (k->kind == TASK_FETCH && task_table(k) == was) others = true;
    else for (uint32_t s = 0; s < k->stages.len; s++) stage_reads_rows(f, &k->stages.at[s]);
    if (!task_has_stages(k))
      others |= k->kind == TASK_REPEAT ? k->buffer == was || k->stop == (int64_t)was : task_touches(f->t, k, was);
    others |= task_exchanges(k, was);
  }
  return others;
}

/* Makes a copy with all places checked, for users other than kernels. */
static void copy_make(Fetching *f, Tasks *list) {
  uint32_t n = f->s->sum->n_out;
  TaskStage s = stage_over(f, n, (uint32_t)f->s->buffer, NULL);
  for (uint32_t k = 0; k < n; k++) s.bound[k] = f->s->bound[k], s.label[k] = f->s->label[k];
  TaskSlot slot = {false, (uint32_t)f->s->buffer};
  Task *k = task_add(f, list, TASK_KERNEL);
  stage_map(f, k, &s, n, expr_read(f->x, (DType)f->read->dtype, 0, n, s.at), &slot, 1);
  stage_reads_rows(f, &k->stages.at[0]);
}

/* ---- everything together ----------------------------------------------------------------------------------------- */

/* Blocks are contiguous along each axis, so the last site's data end where the tensor does. There may be too many
 * sites to enumerate. */
static void whole_find(Fetching *f, uint32_t table) {
  const TaskBuffer *b = &f->t->buffers.at[table];
  uint32_t last[MESH_AXES + 1] = {0};
  int64_t low[RANK];
  for (uint32_t a = 0; a < f->t->mesh.n; a++) last[a] = f->t->mesh.size[a] - 1;
  task_box(f->t, b, last, low, f->whole);
}

static void fetch_make(TaskGraph *t, const Task *k, Tasks *list) {
  const TaskStage *s = &k->stages.at[0];
  Fetching f = {.t = t,
      .x = t->exprs,
      .arena = t->arena,
      .k = k,
      .s = s,
      .read = s->sum->body,
      .made = &t->buffers.at[s->buffer]};
  BUG_UNLESS(
      stage_is_plain(s) && f.read->n < RANK && asked_of(t->arena, s->sum->n_out, f.read->n, f.read->arg, &f.asked));
  whole_find(&f, task_table(k));
  f.low = NEW_ARRAY(t->arena, const Expr *, f.read->n + 1);
  f.extent = NEW_ARRAY(t->arena, const Expr *, f.read->n + 1);
  points_find(&f);
  slices_find(&f);
  places_make(&f, list);
  rows_make(&f, list);
  if (readers_change(&f, &t->tasks)) copy_make(&f, list);
}

static bool list_fetch(TaskGraph *t, Tasks *list) {
  bool any = false;
  Tasks made = {0};
  vec_each_of(Task, k, *list) {
    any |= list_fetch(t, &k->body);
    if (k->kind != TASK_FETCH) vec_push(t->arena, made, k);
    else fetch_make(t, k, &made), any = true;
  }
  *list = made;
  return any;
}

void task_fetch(TaskGraph *t) {
  if (list_fetch(t, &t->tasks)) task_buffers_drop(t);
}
