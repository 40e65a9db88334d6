/* codegen/schedule/build.c - constructors for the parts of schedules: places, variables, statements. */
#include "schedule.h"

#include <stdarg.h>
#include <string.h>

/* ---- what is reported ------------------------------------------------------------------------------ */

const char *how_label(const TaskStage *st, int64_t label) { return st->label[label] ? st->label[label]->s : "points"; }

void how_add(Sched *s, const TaskStage *st, const char *fmt, ...) {
  Buf b = buf_new(s->arena);
  va_list ap;
  if (s->task->stages.len > 1 && st) buf_printf(&b, "%s: ", st->name ? st->name->s : "a value kept");
  if (s->ahead) buf_str(&b, s->ahead);
  s->ahead = NULL;
  va_start(ap, fmt);
  buf_vprintf(&b, fmt, ap);
  va_end(ap);
  Str text = str_of(s->t->strings, b.s, b.len);
  for (uint32_t i = 0; i < s->k->how.len; i++)
    if (s->k->how.at[i] == text) return; /* both versions say so */
  vec_push(s->arena, s->k->how, text);
}

/* ---- places and variables ------------------------------------------------------------------------ */

const TaskBuffer *buffer_seen(const Sched *s, uint32_t memory) {
  return memory < VIEWS ? &s->t->buffers.at[memory] : &s->views.at[memory - VIEWS].shape;
}

const Expr *const *slot_dims(const Sched *s, TaskSlot slot) {
  return slot.kept ? s->task->stages.at[slot.index].bound : buffer_seen(s, slot.index)->dim;
}

const uint32_t *buffer_axes(const Sched *s, uint32_t memory) {
  return memory < VIEWS ? NULL : s->views.at[memory - VIEWS].axes;
}

uint32_t place_of_buffer(Sched *s, uint32_t memory, bool written) {
  uint32_t *at = memory < VIEWS ? &s->of_buffer[memory] : &s->views.at[memory - VIEWS].place;
  if (*at == NOWHERE) {
    const TaskBuffer *b = buffer_seen(s, memory);
    LoopPlace p = {.space = SPACE_BUFFER, .name = c_scope_name(&s->names, b->name, "w"), .dtype = b->dtype};
    p.rank = b->rank, p.dim = b->dim, p.buffer = b->id, p.axes = buffer_axes(s, memory);
    *at = s->k->places.len;
    if (memory < VIEWS) vec_push(s->arena, s->touched, memory);
    vec_push(s->arena, s->k->places, p);
  }
  s->k->places.at[*at].written |= written;
  return *at;
}

/* The bytes of an array of constant size; 0: not constant, or too large. */
static int64_t own_bytes(DType t, uint32_t rank, const Expr *const *dim) {
  int64_t n = dtype_size(t) < 4 && dtype_is_float(t) ? 4 : dtype_size(t);
  for (uint32_t k = 0; k < rank; k++)
    if (dim[k]->kind != EX_INT || !mul_ok(n, dim[k]->i ? dim[k]->i : 1, &n) || n > LOOP_STACK) return 0;
  return n;
}

uint32_t place_own(Sched *s, Str name, const char *otherwise, DType t, uint32_t rank, const Expr *const *dim) {
  LoopPlace p = {.name = c_scope_name(&s->names, name, otherwise), .dtype = t, .rank = rank, .written = true};
  int64_t bytes = own_bytes(t, rank, dim);
  p.dim = arena_copy(s->arena, dim, rank * sizeof *dim);
  p.space = !rank || (rank == 1 && bytes && bytes <= 256) ? SPACE_REGISTER : bytes ? SPACE_STACK : SPACE_SCRATCH;
  vec_push(s->arena, s->k->places, p);
  return s->k->places.len - 1;
}

static void buffers_more(Sched *s) {
  uint32_t n = s->t->buffers.len, *of = NEW_ARRAY(s->arena, uint32_t, n + 1);
  for (uint32_t b = 0; b + 1 < n; b++) of[b] = s->of_buffer[b];
  of[n - 1] = NOWHERE;
  s->of_buffer = of;
}

uint32_t buffer_shared(Sched *s, const char *name, DType t, uint32_t rank, const Expr *const *dim) {
  TaskBuffer b = {.id = s->t->buffers.len,
      .space = BUF_WORK,
      .name = str_of(s->t->strings, name, strlen(name)),
      .place = s->task->place};
  b.dtype = t, b.rank = rank, b.dim = arena_copy(s->arena, dim, rank * sizeof *dim);
  b.first = b.last = s->task->step;
  vec_push(s->arena, s->t->buffers, b);
  buffers_more(s);
  return b.id;
}

uint32_t place_shared(Sched *s, const char *name, DType t, uint32_t rank, const Expr *const *dim) {
  return place_of_buffer(s, buffer_shared(s, name, t, rank, dim), true);
}

uint32_t var_new(Sched *s, Str name, const char *otherwise) {
  Str text = c_scope_name(&s->names, name, otherwise);
  vec_push(s->arena, s->k->var, text);
  return s->k->var.len - 1;
}

const Expr *var_read(Sched *s, uint32_t var) { return expr_label(s->x, var); }

const Expr *place_read(Sched *s, uint32_t place, uint32_t n, const Expr *const *at) {
  return expr_read(s->x, s->k->places.at[place].dtype, place, n, at);
}

const Expr *scalar_read(Sched *s, uint32_t place) { return place_read(s, place, 0, NULL); }

/* ---- statements ----------------------------------------------------------------------------------- */

static LoopStmt *stmt_add(Sched *s, LoopKind kind) {
  LoopStmt *st = NEW(s->arena, LoopStmt);
  st->kind = kind;
  vec_push(s->arena, *s->body, st);
  return st;
}

LoopStmt *for_add(Sched *s, uint32_t var, const Expr *lo, const Expr *hi, int64_t step, LoopBind bind) {
  LoopStmt *st = stmt_add(s, LOOP_FOR);
  st->var = var, st->lo = lo, st->hi = hi, st->step = step, st->bind = bind;
  return st;
}

const Expr *for_open(
    Sched *s, Str name, const char *otherwise, const Expr *lo, const Expr *hi, int64_t step, LoopBind bind) {
  uint32_t v = var_new(s, name, otherwise);
  into(s, &for_add(s, v, lo, hi, step, bind)->body);
  return var_read(s, v);
}

LoopStmt *if_add(Sched *s, const Expr *cond) {
  LoopStmt *st = stmt_add(s, LOOP_IF);
  st->cond = cond;
  return st;
}

LoopStmt *index_add(Sched *s, uint32_t var, const Expr *value) {
  LoopStmt *st = stmt_add(s, LOOP_INDEX);
  st->var = var, st->lo = value;
  return st;
}

static LoopStmt *give(Sched *s, LoopKind kind, uint32_t place, const Expr *value) {
  LoopStmt *st = stmt_add(s, kind);
  st->place = place, st->value = value;
  return st;
}

LoopStmt *let_add(Sched *s, uint32_t place, const Expr *value) { return give(s, LOOP_LET, place, value); }
LoopStmt *lead_add(Sched *s, uint32_t place, const Expr *from) { return give(s, LOOP_LEAD, place, from); }
const Expr *let_read(Sched *s, const char *name, const Expr *value) {
  uint32_t place = place_own(s, NULL, name, (DType)value->dtype, 0, NULL);
  let_add(s, place, value);
  return scalar_read(s, place);
}

LoopStmt *var_add(Sched *s, uint32_t place, const Expr *value) { return give(s, LOOP_VAR, place, value); }

LoopStmt *store_add(Sched *s, uint32_t place, uint32_t n_at, const Expr *const *at, const Expr *value) {
  LoopStmt *st = give(s, LOOP_STORE, place, value);
  st->n_at = n_at;
  st->at = arena_copy(s->arena, at, n_at * sizeof *at);
  return st;
}

uint32_t var_own(Sched *s, Str name, const char *otherwise, DType t, uint32_t rank, const Expr *const *dim,
    const Expr *value) {
  uint32_t place = place_own(s, name, otherwise, t, rank, dim);
  var_add(s, place, value);
  return place;
}

LoopStmt *lanes_add(Sched *s, uint32_t place, Op op) {
  LoopStmt *st = stmt_add(s, LOOP_LANES_OF);
  st->place = place, st->op = op;
  return st;
}

LoopStmt *transpose_add(Sched *s, uint32_t place) {
  LoopStmt *st = stmt_add(s, LOOP_TRANSPOSE);
  st->place = place;
  return st;
}

LoopStmt *matrix_add(Sched *s, uint32_t place, const LoopMatrix *m, const Expr *side, const Expr *other) {
  LoopStmt *st = stmt_add(s, LOOP_MATRIX);
  st->place = place;
  st->matrix = m;
  st->value = side, st->other_side = other;
  return st;
}

LoopStmt *barrier_add(Sched *s) { return stmt_add(s, LOOP_BARRIER); }
LoopStmt *copy_later_add(
    Sched *s, uint32_t place, uint32_t n_at, const Expr *const *at, const Expr *from, int64_t wide) {
  LoopStmt *st = store_add(s, place, n_at, at, from);
  st->kind = LOOP_COPY;
  st->wide = wide;
  return st;
}
LoopStmt *commit_add(Sched *s) { return stmt_add(s, LOOP_COMMIT); }
LoopStmt *await_add(Sched *s, int64_t left) {
  LoopStmt *st = stmt_add(s, LOOP_AWAIT);
  st->step = left;
  return st;
}
LoopStmt *library_add(Sched *s, uint32_t place, uint32_t n_at, const Expr *const *at, const Expr *value) {
  LoopStmt *st = store_add(s, place, n_at, at, value);
  st->kind = LOOP_PRODUCT;
  return st;
}

uint32_t place_block(Sched *s, const char *name, DType t, int64_t n) {
  LoopPlace p = {
      .space = SPACE_SHARED, .name = c_scope_name(&s->names, NULL, name), .dtype = t, .rank = 1, .written = true};
  const Expr *dim = ex_int(s, n);
  p.dim = arena_copy(s->arena, &dim, sizeof dim);
  vec_push(s->arena, s->k->places, p);
  var_add(s, s->k->places.len - 1, NULL);
  return s->k->places.len - 1;
}

LoopStmt *fetch_add(Sched *s, const Expr *read) {
  LoopStmt *st = stmt_add(s, LOOP_FETCH);
  st->place = (uint32_t)read->i;
  st->n_at = read->n;
  st->at = arena_copy(s->arena, read->arg, read->n * sizeof *read->arg);
  return st;
}

LoopStmt *stream_add(Sched *s, uint32_t place, uint32_t n_at, const Expr *const *at, const Expr *from,
    const Expr *count, uint32_t axes) {
  LoopStmt *st = store_add(s, place, n_at, at, from);
  st->kind = LOOP_STREAM;
  st->step = axes;
  st->hi = count;
  return st;
}

uint32_t wide_load_add(Sched *s, const Expr *first, int64_t count) {
  const Expr *dim = ex_int(s, count);
  uint32_t place = var_own(s, NULL, "wide", (DType)first->dtype, 1, &dim, NULL);
  give(s, LOOP_GROUP, place, first);
  return place;
}

void wide_store_add(Sched *s, uint32_t place, uint32_t n_at, const Expr *const *at, uint32_t array) {
  const Expr *zero = ex_int(s, 0);
  store_add(s, place, n_at, at, place_read(s, array, 1, &zero))->kind = LOOP_GROUP;
}

LoopBody *into(Sched *s, LoopBody *to) {
  LoopBody *was = s->body;
  s->body = to;
  return was;
}

/* ---- sizes ------------------------------------------------------------------------------------------ */

const Expr *ex_int(Sched *s, int64_t v) { return expr_int(s->x, DT_I64, v); }
const Expr *ex_add(Sched *s, const Expr *a, const Expr *b) { return expr_op2(s->x, OP_ADD, a, b); }
const Expr *ex_sub(Sched *s, const Expr *a, const Expr *b) { return expr_op2(s->x, OP_SUB, a, b); }
const Expr *ex_mul(Sched *s, const Expr *a, const Expr *b) { return expr_op2(s->x, OP_MUL, a, b); }
const Expr *ex_min(Sched *s, const Expr *a, const Expr *b) { return a == b ? a : expr_op2(s->x, OP_MIN, a, b); }
const Expr *ex_max(Sched *s, const Expr *a, const Expr *b) { return a == b ? a : expr_op2(s->x, OP_MAX, a, b); }

const Expr *ex_div_up(Sched *s, const Expr *a, const Expr *b) {
  if (expr_is_int(b, 1)) return a;
  return expr_op2(s->x, OP_IDIV, ex_add(s, a, ex_sub(s, b, ex_int(s, 1))), b);
}
