/* task/sites/panels.c - splits a kernel into panels of one of its labels: one slice of the label after the other.
 *
 * In: a mesh's list, and kernels of one stage, each with a label and a number of panels. Out: each kernel is
 * replaced by that many, in order, and
 *
 *   an operand that a move brings for this kernel alone, and that has the label, is moved slice by slice, so that
 *   only a slice of it is in memory;
 *   a result that only a move takes, if the label is one of its own, likewise; each slice that arrives is stored
 *   where it belongs, or what a map makes of it that alone reads it: so sums of parts in f32 become f16 slice by slice;
 *   an operand that a move brings for this kernel alone, and that has not the label, comes before the first panel;
 *   if it exceeds the room that the plan states, in as many slices, each stored where it belongs, so little is packed.
 *
 * The total that moves is the same, to the byte. Everything else is as before: other operands are there as a whole.
 * Panel t of n points are those from floor(n*t/P) to below floor(n*(t+1)/P): so each site cuts its own block. The
 * panels of a reduced label are reduced one by one, and the results combined in the order of panels, in the
 * accumulator's dtype: ((p0 + p1) + p2) + ... */
#include "ia_door.h"
#include "expr/sum/law.h"
#include "site.h"
#include "task/inside.h"

enum { RANK = 256, SITES_MOST = 4096 };  /* with more sites than this no result is moved in panels */

typedef struct Panels {
  const IaDoor *door;
  TaskGraph *t;
  Arena *arena;
  Tasks *list;               /* the list of the kernel, and */
  uint32_t at;               /*   its index there */
  const Task *kernel;
  const TaskStage *s;
  uint32_t label, n;
  Task **moves;              /* by slot: the move that brings the operand in panels, or NULL; */
  uint32_t *along;           /* and the operand's dimension that the label indexes, */
  const Task **before;       /* and the move of its previous panel; NULL: none yet */
  Task *result;              /* the move that takes the result in panels, or NULL; */
  uint32_t axis;             /*   and the result's dimension; */
  Tasks maps;                /*   maps that each slice of it goes through, as one stage */
  TaskStage map;
  Task **whole;              /* by slot: the move that brings all of the operand in slices, or NULL */
  uint32_t sum;              /* for a reduced label: the buffer in which panels are combined */
  uint32_t now;              /* the panel being made */
  Tasks out;
} Panels;

typedef struct Slice { const Expr *from, *n; } Slice; /* of the label: its first point, and the number of points */

static const Expr *op2(const Panels *p, Op o, const Expr *a, const Expr *b) { return expr_op2(p->t->exprs, o, a, b); }
static const Expr *number(const Panels *p, int64_t n) { return expr_int(p->t->exprs, DT_I64, n); }
static const Expr *normal(const Panels *p, const Expr *e) { return extent_normal(p->t->exprs, e); }

static Slice slice_of(const Panels *p, const Expr *all, uint32_t t) {
  const Expr *end[2];
  for (uint32_t k = 0; k < 2; k++)
    end[k] = normal(p, op2(p, OP_IDIV, op2(p, OP_MUL, all, number(p, t + k)), number(p, p->n)));
  return (Slice){end[0], normal(p, op2(p, OP_SUB, end[1], end[0]))};
}

static bool is_reduced(const Panels *p) { return p->label >= p->s->sum->n_out; }

/* ---- what goes in panels -------------------------------------------------------------------------------------- */

/* The only other task of the list that uses the buffer, if it is a move of plain elements; NULL: none, or others. */
static Task *only_move(const Panels *p, uint32_t buffer) {
  Task *move = NULL;
  if (p->t->buffers.at[buffer].space != BUF_WORK) return NULL;
  vec_each_of(Task, k, *p->list) {
    if (k == p->kernel || !task_touches(p->t, k, buffer)) continue;
    if (move || k->kind != TASK_MOVE || k->wrap || task_moves_places(k)) return NULL;
    move = k;
  }
  return move;
}

static uint32_t position(const Panels *p, const Task *k) {
  uint32_t i = 0;
  while (p->list->at[i] != k) i++;
  return i;
}

/* Whether the slot is read at the label itself along one dimension, and has the label nowhere else. */
static bool goes_along(const Panels *p, uint32_t slot, uint32_t *along) {
  const EinSum *sum = p->s->sum;
  const Expr *top[] = {sum->body, sum->where, sum->domain},
             **read = NEW_ARRAY(p->arena, const Expr *, sum->n_slot + 1);
  bool some = false;
  expr_slot_reads(p->arena, COUNT(top), top, read);
  for (uint32_t d = 0; read[slot] && d < read[slot]->n; d++) {
    const Expr *at = read[slot]->arg[d];
    if (!expr_has_label(at, p->label)) {
      if (at->has & HAS_READ) return false;
      continue;
    }
    if (at->kind != EX_LABEL || some) return false;
    some = true;
    *along = d;
  }
  return some;
}

/* The move brings exactly what the label indexes, and its operand is still there when the kernel is done. */
static Task *operand_move(const Panels *p, uint32_t slot, uint32_t *d) {
  uint32_t buffer = p->s->slot[slot].index;
  Task *m = only_move(p, buffer);
  if (!m || m->buffer != buffer || m->reducer != RED_NONE || !goes_along(p, slot, d)) return NULL;
  if (p->t->buffers.at[buffer].dim[*d] != p->s->bound[p->label]) return NULL;
  for (uint32_t i = position(p, m) + 1; i < p->at; i++)
    if (task_writes(p->t, p->list->at[i], m->from)) return NULL;
  return position(p, m) < p->at ? m : NULL;
}

/* A buffer that is read with several index lists moves in panels if all of them have the label. */
static void operands_find(Panels *p) {
  uint32_t n = p->s->sum->n_slot;
  p->moves = NEW_ARRAY(p->arena, Task *, n + 1);
  p->along = NEW_ARRAY(p->arena, uint32_t, n + 1);
  p->before = NEW_ARRAY(p->arena, const Task *, n + 1);
  for (uint32_t i = 0; i < n; i++) p->moves[i] = operand_move(p, i, &p->along[i]);
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t j = 0; j < n; j++)
      if (p->s->slot[i].index == p->s->slot[j].index && (!p->moves[j] || p->along[i] != p->along[j]))
        p->moves[i] = NULL;
}

/* The dimension of a buffer that is cut into slices: the first that has so many places; -1: none. */
static int32_t axis_sliced(const Panels *p, uint32_t buffer) {
  const TaskBuffer *b = &p->t->buffers.at[buffer];
  for (uint32_t d = 0; d < b->rank; d++)
    if (task_size_guess(p->t, b->dim[d]) >= (int64_t)p->n) return (int32_t)d;
  return -1;
}

/* Slices take a copy more, and moves in slices hide less: so only if the room is small. */
static void wholes_find(Panels *p) {
  uint32_t n = p->s->sum->n_slot;
  p->whole = NEW_ARRAY(p->arena, Task *, n + 1);
  for (uint32_t i = 0; i < n && p->t->room; i++) {
    uint32_t b = p->s->slot[i].index;
    if (task_buffer_bytes(p->t, b) <= (double)p->t->room) continue;
    Task *m = p->moves[i] ? NULL : only_move(p, b);
    if (!m || m->buffer != b || m->reducer != RED_NONE || position(p, m) > p->at || axis_sliced(p, b) < 0) continue;
    if (p->t->buffers.at[b].rank <= p->s->sum->n_out + p->s->sum->n_red) p->whole[i] = m;
  }
}

/* Whether each site's part of the result is within its own block along the dimension: then it comes from sites with
 * the same block there, whose panels are the same. */
static bool stays_within(const Panels *p, const Task *m) {
  int64_t low[2][RANK], high[2][RANK], sites = mesh_sites(&p->t->mesh);
  const TaskBuffer *from = &p->t->buffers.at[m->from], *to = &p->t->buffers.at[m->buffer];
  uint32_t at[MESH_AXES + 1];
  for (int64_t s = 0; s < sites && sites <= SITES_MOST; s++) {
    mesh_place(&p->t->mesh, s, at);
    if (task_box(p->t, to, at, low[0], high[0]) == 0) continue;
    task_box(p->t, from, at, low[1], high[1]);
    if (low[0][p->axis] < low[1][p->axis] || high[0][p->axis] > high[1][p->axis]) return false;
  }
  return sites <= SITES_MOST;
}

static bool is_gone(const Panels *p, const Task *k) {
  bool gone = k == p->result;
  for (uint32_t i = 0; i < p->maps.len; i++) gone |= k == p->maps.at[i];
  for (uint32_t i = 0; i < p->s->sum->n_slot; i++) gone |= k == p->moves[i];
  return gone;
}

static bool has_panels(const Panels *p, const Task *k) {
  for (uint32_t i = 0; i < p->door->panels.len; i++)
    if (p->door->panels.at[i].kernel == k) return true;
  return false;
}

/* The kernel that makes another tensor of a buffer, element by element, and alone reads it; NULL: there is none, or it
 * has panels of its own, or not all else that it reads is there when the first panel is made. */
static Task *map_of(const Panels *p, uint32_t buffer) {
  uint32_t rank = p->t->buffers.at[buffer].rank, *label = NEW_ARRAY(p->arena, uint32_t, rank + 1);
  Task *map = NULL;
  if (p->t->buffers.at[buffer].space != BUF_WORK) return NULL;
  vec_each_of(Task, k, *p->list) {
    if (is_gone(p, k) || !task_touches(p->t, k, buffer)) continue;
    if (map || k->kind != TASK_KERNEL || k->stages.len != 1 || k->unless >= 0) return NULL;
    map = k;
  }
  const TaskStage *s = map ? &map->stages.at[0] : NULL;
  if (!s || has_panels(p, map) || task_call(map)) return NULL;
  if (s->sum->reducer != RED_NONE || s->sum->domain || !stage_is_plain(s)) return NULL;
  if (s->sum->n_out != rank || stage_may_fail(p->t, s) || position(p, map) < position(p, p->result)) return NULL;
  if (!buffers_alike(&p->t->buffers.at[buffer], &p->t->buffers.at[s->buffer])) return NULL;
  if (!stage_reads_at_labels(p->t, s, buffer, rank, NULL, label)) return NULL;
  for (uint32_t d = 0; d < rank; d++)
    if (label[d] != d) return NULL;
  for (uint32_t i = p->at; i < position(p, map); i++)
    if (!is_gone(p, p->list->at[i]) && !task_may_pass(p->t, map, p->list->at[i])) return NULL;
  return map;
}

/* A map, and those behind it, such as the copy to an output. */
static void maps_find(Panels *p) {
  uint32_t buffer = p->result->buffer;
  for (Task *k; (k = map_of(p, buffer)); buffer = (uint32_t)p->map.buffer) {
    TaskStage s = k->stages.at[0];
    if (p->maps.len) stage_inline(p->t, &s, buffer, &p->map);
    p->map = s;
    vec_push(p->arena, p->maps, k);
  }
}

static void result_find(Panels *p) {
  p->axis = p->label;
  Task *m = is_reduced(p) || !stage_is_plain(p->s) ? NULL : only_move(p, (uint32_t)p->s->buffer);
  if (!m || m->from != (uint32_t)p->s->buffer || position(p, m) < p->at || !stays_within(p, m)) return;
  for (uint32_t i = p->at + 1; i < position(p, m); i++)
    if (task_touches(p->t, p->list->at[i], m->buffer)) return;
  p->result = m;
  maps_find(p);
}

/* ---- one panel --------------------------------------------------------------------------------------------------- */

static Task *task_add(Panels *p, TaskKind kind, Place place, Str name) {
  Task *k = MAKE(p->arena, Task, .kind = kind, .place = place, .name = name, .unless = -1, .stop = -1, .turns = -1);
  k->node = k->panel_of = p->kernel->node;
  k->panel = p->now;
  vec_push(p->arena, p->out, k);
  return k;
}

/* A buffer like another, except for its dtype and one dimension. */
static uint32_t buffer_like(Panels *p, uint32_t like, DType t, uint32_t d, const Expr *low, const Expr *n) {
  TaskBuffer b = p->t->buffers.at[like];
  b.id = p->t->buffers.len;
  b.space = BUF_WORK;
  b.argument = 0;
  b.dtype = t;
  if (low) {
    const Expr **lows = arena_copy(p->arena, b.low, b.rank * sizeof *lows),
               **dims = arena_copy(p->arena, b.dim, b.rank * sizeof *dims);
    lows[d] = low;
    dims[d] = n;
    b.low = lows;
    b.dim = dims;
  }
  vec_push(p->arena, p->t->buffers, b);
  return b.id;
}

/* A move like another, between other buffers. */
static void move_add(Panels *p, const Task *m, uint32_t from, uint32_t to) {
  Task *k = task_add(p, TASK_MOVE, m->place, m->name);
  *k = *m;
  k->panel_of = p->kernel->node;
  k->panel = p->now;
  k->from = from;
  k->buffer = to;
  k->move = move_kind(p->t, k);
}

static uint32_t operand_panel(Panels *p, uint32_t slot, Slice x) {
  const Task *m = p->moves[slot];
  uint32_t d = p->along[slot];
  const Expr *low = normal(p, op2(p, OP_ADD, p->t->buffers.at[m->buffer].low[d], x.from));
  uint32_t b = buffer_like(p, m->buffer, p->t->buffers.at[m->buffer].dtype, d, low, x.n);
  move_add(p, m, m->from, b);
  vec_last(p->out)->before = p->before[slot];
  p->before[slot] = vec_last(p->out);
  return b;
}

typedef struct Sliced { const Panels *p; const Expr *from; } Sliced;

/* Converts points of the label's block to those of the panel. */
static const Expr *leaf_sliced(void *env, Exprs *x, const Expr *leaf) {
  const Sliced *s = env;
  if (leaf->kind == EX_LABEL && leaf->i == s->p->label) return op2(s->p, OP_ADD, leaf, s->from);
  if (leaf->kind != EX_READ || !s->p->moves[leaf->i]) return leaf;
  const Expr **index = NEW_ARRAY(exprs_arena(x), const Expr *, leaf->n + 1);
  for (uint32_t d = 0; d < leaf->n; d++)
    index[d] = d == s->p->along[leaf->i] ? expr_label(x, s->p->label) : leaf->arg[d];
  return expr_read(x, (DType)leaf->dtype, leaf->i, leaf->n, index);
}

static const Expr *sliced(const Panels *p, const Expr *e, Slice x) {
  Sliced s = {p, x.from};
  return e ? expr_map(p->t->exprs, e, leaf_sliced, &s) : NULL;
}

/* The stage over the panel, with its operands; the caller sets where it is stored. */
static TaskStage stage_panel(Panels *p, Slice x, DType dtype) {
  EinSum sum = *p->s->sum;
  TaskStage s = *p->s;
  TaskSlot *slot = arena_copy(p->arena, s.slot, sum.n_slot * sizeof *slot);
  const Expr **bound = arena_copy(p->arena, s.bound, (sum.n_out + sum.n_red) * sizeof *bound);
  bound[p->label] = x.n;
  s.bound = bound;
  for (uint32_t i = 0; i < sum.n_slot; i++) {
    uint32_t same = 0;
    while (p->s->slot[same].index != p->s->slot[i].index) same++;
    if (p->moves[i]) slot[i].index = same < i ? slot[same].index : operand_panel(p, i, x);
  }
  sum.dtype = dtype;
  sum.body = sliced(p, sum.body, x);
  sum.where = sliced(p, sum.where, x);
  sum.domain = sliced(p, sum.domain, x);
  stage_canonical(p->t, &s, &sum, slot, sum.n_slot);
  return s;
}

/* ---- a reduced label --------------------------------------------------------------------------------------------- */

static const Expr *leaf_param(void *env, Exprs *x, const Expr *leaf) {
  const Expr *const *value = env;
  (void)x;
  return leaf->kind == EX_PARAM ? value[leaf->i] : leaf;
}

static const Expr *combined(const Panels *p, const Expr *a, const Expr *b) {
  const EinSum *sum = p->s->sum;
  const Expr *value[] = {a, b};
  if (sum->reducer == RED_MONOID) return expr_map(p->t->exprs, sum->monoid->combine, leaf_param, value);
  return op2(p, reducer_info[sum->reducer].combine, a, b);
}

enum { BEHIND = 2 };         /* slots: the value so far, and the panel's; then those that the domain reads */

static const Expr *leaf_behind(void *env, Exprs *x, const Expr *leaf) {
  (void)env;
  return leaf->kind == EX_READ ? expr_read(x, (DType)leaf->dtype, leaf->i + BEHIND, leaf->n, leaf->arg) : leaf;
}

/* A stage after the panel's that combines its value with the value so far. */
static TaskStage stage_combine(Panels *p, uint32_t to) {
  Exprs *x = p->t->exprs;
  const EinSum *of = p->s->sum;
  DType acc = of->acc;
  TaskStage s = *p->s;
  TaskSlot *slot = NEW_ARRAY(p->arena, TaskSlot, of->n_slot + BEHIND);
  EinSum sum = {.n_out = of->n_out, .acc = acc, .dtype = p->t->buffers.at[to].dtype};
  slot[0] = (TaskSlot){false, p->sum};
  slot[1] = (TaskSlot){true, 0};
  for (uint32_t i = 0; i < of->n_slot; i++) slot[BEHIND + i] = p->s->slot[i];
  if (of->domain) sum.domain = expr_map(x, of->domain, leaf_behind, NULL);
  const Expr **at = exprs_labels(p->arena, x, of->n_out);
  sum.body = combined(p, expr_read(x, acc, 0, of->n_out, s.at), expr_read(x, acc, 1, of->n_out, at));
  s.buffer = (int32_t)to;
  stage_canonical(p->t, &s, &sum, slot, of->n_slot + BEHIND);
  return s;
}

static void reduced_panel(Panels *p, uint32_t t) {
  Slice x = slice_of(p, p->s->bound[p->label], t);
  TaskStage s = stage_panel(p, x, p->s->sum->acc);
  uint32_t to = t + 1 < p->n ? p->sum : (uint32_t)p->s->buffer;
  Task *k = task_add(p, TASK_KERNEL, p->kernel->place, p->kernel->name);
  if (t == 0) {
    s.buffer = (int32_t)p->sum;
    vec_push(p->arena, k->stages, s);
    return;
  }
  s.buffer = -1;
  s.n_at = 0;
  s.at = NULL;
  k->n_outer = s.sum->n_out;
  vec_push(p->arena, k->stages, s);
  vec_push(p->arena, k->stages, stage_combine(p, to));
}

/* ---- a label of the result --------------------------------------------------------------------------------------- */

/* Stores what the panel brings where it belongs: in the result's home, or in an operand. */
static void slice_lay(Panels *p, const Task *m, uint32_t from) {
  Exprs *x = p->t->exprs;
  const TaskBuffer *a = &p->t->buffers.at[from], *b = &p->t->buffers.at[m->buffer];
  const Expr **index = NEW_ARRAY(p->arena, const Expr *, a->rank + 1),
             **at = NEW_ARRAY(p->arena, const Expr *, a->rank + 1);
  TaskStage s = {.name = m->name,
      .place = m->place,
      .bound = a->dim,
      .label = p->s->label,
      .buffer = (int32_t)m->buffer,
      .n_at = a->rank,
      .at = at};
  EinSum sum = {.n_out = a->rank, .acc = a->dtype, .dtype = a->dtype};
  for (uint32_t d = 0; d < a->rank; d++) at[d] = index[d] = expr_label(x, d);
  at[p->axis] = op2(p, OP_ADD, index[p->axis], normal(p, op2(p, OP_SUB, a->low[p->axis], b->low[p->axis])));
  sum.body = expr_read(x, a->dtype, 0, a->rank, index);
  TaskSlot slot = {false, from};
  stage_canonical(p->t, &s, &sum, &slot, 1);
  Task *k = task_add(p, TASK_KERNEL, m->place, m->name);
  k->node = m->node;
  vec_push(p->arena, k->stages, s);
}

typedef struct Mapped { const TaskStage *s; uint32_t buffer, axis; const Expr *from; } Mapped;

/* Converts points of the map to those of a slice. */
static const Expr *leaf_mapped(void *env, Exprs *x, const Expr *leaf) {
  const Mapped *m = env;
  if (leaf->kind == EX_LABEL && leaf->i == m->axis) return expr_op2(x, OP_ADD, leaf, m->from);
  if (!stage_read_is(m->s, leaf, m->buffer)) return leaf;
  return expr_read(x, (DType)leaf->dtype, leaf->i, leaf->n, exprs_labels(exprs_arena(x), x, leaf->n));
}

/* Stores what the maps make of a slice that the panel brings. */
static void slice_map(Panels *p, uint32_t from) {
  const TaskBuffer *a = &p->t->buffers.at[from], *b = &p->t->buffers.at[p->result->buffer];
  TaskStage s = p->map;
  EinSum sum = *s.sum;
  Mapped m = {.s = &p->map, .buffer = b->id, .axis = p->axis};
  m.from = normal(p, op2(p, OP_SUB, a->low[p->axis], b->low[p->axis]));
  const Expr **bound = arena_copy(p->arena, s.bound, sum.n_out * sizeof *bound),
             **at = arena_copy(p->arena, s.at, s.n_at * sizeof *at);
  TaskSlot *slot = arena_copy(p->arena, s.slot, sum.n_slot * sizeof *slot);
  for (uint32_t i = 0; i < sum.n_slot; i++)
    if (slot[i].index == b->id) slot[i].index = from;
  bound[p->axis] = a->dim[p->axis];
  at[p->axis] = op2(p, OP_ADD, at[p->axis], m.from);
  s.bound = bound;
  s.at = at;
  sum.body = expr_map(p->t->exprs, sum.body, leaf_mapped, &m);
  stage_canonical(p->t, &s, &sum, slot, sum.n_slot);
  const Task *of = vec_last(p->maps);
  Task *k = task_add(p, TASK_KERNEL, of->place, of->name);
  k->node = of->node;
  vec_push(p->arena, k->stages, s);
}

static void result_move(Panels *p, uint32_t part) {
  const Task *m = p->result;
  const TaskBuffer *from = &p->t->buffers.at[m->from], *slice = &p->t->buffers.at[part],
                   *home = &p->t->buffers.at[m->buffer];
  uint32_t d = p->axis;
  const Expr *low = slice->low[d], *n = slice->dim[d];
  if (from->low[d] != home->low[d] || from->dim[d] != home->dim[d]) {
    const Expr *end = op2(p, OP_MIN, op2(p, OP_ADD, low, n), op2(p, OP_ADD, home->low[d], home->dim[d]));
    low = normal(p, op2(p, OP_MAX, low, home->low[d]));
    n = normal(p, op2(p, OP_MAX, op2(p, OP_SUB, end, low), number(p, 0)));
    low = normal(p, op2(p, OP_MIN, low, op2(p, OP_ADD, home->low[d], home->dim[d])));
  }
  uint32_t to = buffer_like(p, m->buffer, home->dtype, d, low, n);
  move_add(p, m, part, to);
  if (p->maps.len) slice_map(p, to);
  else slice_lay(p, m, to);
}

static void whole_move(Panels *p, const Task *m) {
  const TaskBuffer b = p->t->buffers.at[m->buffer];
  uint32_t d = p->axis = (uint32_t)axis_sliced(p, m->buffer);
  for (uint32_t t = 0; t < p->n; t++) {
    Slice x = slice_of(p, b.dim[d], t);
    uint32_t to = buffer_like(p, m->buffer, b.dtype, d, normal(p, op2(p, OP_ADD, b.low[d], x.from)), x.n);
    p->now = t;
    move_add(p, m, m->from, to);
    slice_lay(p, m, to);
  }
  p->axis = p->label;
}

static void output_panel(Panels *p, uint32_t t) {
  Slice x = slice_of(p, p->s->bound[p->label], t);
  uint32_t whole = (uint32_t)p->s->buffer;
  TaskStage s = stage_panel(p, x, p->s->sum->dtype);
  if (p->result) {
    const TaskBuffer *b = &p->t->buffers.at[whole];
    const Expr *low = normal(p, op2(p, OP_ADD, b->low[p->axis], x.from));
    s.buffer = (int32_t)buffer_like(p, whole, b->dtype, p->axis, low, x.n);
  } else {
    const Expr **at = NEW_ARRAY(p->arena, const Expr *, s.n_at + 1);
    for (uint32_t k = 0; k < s.n_at; k++) at[k] = sliced(p, s.at[k], x);
    s.at = at;
  }
  Task *k = task_add(p, TASK_KERNEL, p->kernel->place, p->kernel->name);
  vec_push(p->arena, k->stages, s);
  if (p->result) result_move(p, (uint32_t)s.buffer);
}

/* ---- the list ---------------------------------------------------------------------------------------------------- */

static bool is_whole(const Panels *p, const Task *k) {
  bool whole = false;
  for (uint32_t i = 0; i < p->s->sum->n_slot; i++) whole |= k == p->whole[i];
  return whole;
}

static void list_make(Panels *p) {
  const TaskBuffer *b = &p->t->buffers.at[p->s->buffer];
  p->sum = b->dtype == p->s->sum->acc ? b->id : 0;
  if (is_reduced(p) && b->dtype != p->s->sum->acc) p->sum = buffer_like(p, b->id, p->s->sum->acc, 0, NULL, NULL);
  vec_each_of(Task, k, *p->list) {
    if (is_whole(p, k)) whole_move(p, k);
    else if (k != p->kernel && !is_gone(p, k)) vec_push(p->arena, p->out, k);
    for (uint32_t t = 0; k == p->kernel && t < p->n; t++) {
      p->now = t;
      if (is_reduced(p)) reduced_panel(p, t);
      else output_panel(p, t);
    }
  }
  *p->list = p->out;
}

void door_panels(IaDoor *m, const IaPanels *x) {
  Panels p = {.door = m,
      .t = m->t,
      .arena = m->arena,
      .list = x->list,
      .kernel = x->kernel,
      .s = &x->kernel->stages.at[0],
      .label = x->label,
      .n = x->n};
  p.at = position(&p, p.kernel);
  operands_find(&p);
  wholes_find(&p);
  result_find(&p);
  list_make(&p);
}
