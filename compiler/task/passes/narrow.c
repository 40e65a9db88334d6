/* task/passes/narrow.c - computes integers in lanes as narrow as their values. The language sums and counts small
 * integers in i64, of which a vector has an eighth of the lanes that it has of bytes. Where such a value is only
 * compared or cast, and its operands' range fits in 16 or 32 bits, it is computed in these:
 *
 *     i64(a) + i64(b) + i64(c) == 3     of u8     becomes     i16(a) + i16(b) + i16(c) == 3
 *
 * In: stages, after loops have been fused. Out: the same values by the same operations, none of which wraps in
 * either type. */
#include "task/inside.h"

typedef struct Narrow {
  Exprs *x;
  Arena *arena;
  Map range;                 /* by expression: a Range; absent where nothing is known */
  Map fits[2], made[2];      /* for i16, for i32: 1 if it fits, 2 if not; its replacement */
  uint32_t depth;
} Narrow;

enum { DEPTH = 400 };        /* a deeper expression stays as it is */

typedef struct Range { int64_t low, high; bool known, works; } Range; /* works: it has an operation other than casts */

static const DType narrow_type[] = {DT_I16, DT_I32};
static const Range narrow_range[] = {{INT16_MIN, INT16_MAX, true, false}, {INT32_MIN, INT32_MAX, true, false}};

static Range range_of_type(DType t) {
  switch (t) {
  case DT_BOOL: return (Range){0, 1, true, false};
  case DT_U8: return (Range){0, UINT8_MAX, true, false};
  case DT_I8: return (Range){INT8_MIN, INT8_MAX, true, false};
  case DT_I16: return (Range){INT16_MIN, INT16_MAX, true, false};
  default: return (Range){.known = false};
  }
}

/* Operands have at most 32 bits, so nothing here overflows 64. */
static Range range_op(const Expr *e, Range a, Range b) {
  Range r = {.known = true, .works = true};
  switch (e->op) {
  case OP_ADD: r.low = a.low + b.low, r.high = a.high + b.high; break;
  case OP_SUB: r.low = a.low - b.high, r.high = a.high - b.low; break;
  case OP_MUL:
    r.low = smaller(smaller(a.low * b.low, a.low * b.high), smaller(a.high * b.low, a.high * b.high));
    r.high = larger(larger(a.low * b.low, a.low * b.high), larger(a.high * b.low, a.high * b.high));
    break;
  case OP_MIN: r.low = smaller(a.low, b.low), r.high = smaller(a.high, b.high); break;
  case OP_MAX: r.low = larger(a.low, b.low), r.high = larger(a.high, b.high); break;
  default: return (Range){.known = false};
  }
  r.known = r.low >= INT32_MIN && r.high <= INT32_MAX;
  return r;
}

static Range range_of(Narrow *n, const Expr *e);

static Range range_find(Narrow *n, const Expr *e) {
  Range none = {.known = false}, own = range_of_type((DType)e->dtype);
  if (!dtype_is_int((DType)e->dtype)) return own.known && e->kind != EX_OP ? own : none;
  if (e->kind == EX_INT) return e->i >= INT32_MIN && e->i <= INT32_MAX ? (Range){e->i, e->i, true, false} : none;
  if (e->kind == EX_READ) return own;
  if (e->kind != EX_OP) return none;
  if (e->op == OP_CAST) {
    Range in = range_of_type((DType)e->arg[0]->dtype);
    if (!in.known || (own.known && (in.low < own.low || in.high > own.high))) return own;
    return in;
  }
  if (e->op == OP_SELECT) {
    Range a = range_of(n, e->arg[1]), b = range_of(n, e->arg[2]);
    return a.known && b.known ? (Range){smaller(a.low, b.low), larger(a.high, b.high), true, true} : none;
  }
  if (e->n != 2) return none;
  Range a = range_of(n, e->arg[0]), b = range_of(n, e->arg[1]);
  Range r = a.known && b.known ? range_op(e, a, b) : none;
  return own.known && (r.low < own.low || r.high > own.high) ? none : r; /* it may wrap where it is */
}

static Range range_of(Narrow *n, const Expr *e) {
  Range *kept = map_find(&n->range, e);
  if (!kept) {
    Range r = {.known = false};
    if (n->depth++ < DEPTH) r = range_find(n, e);
    n->depth--;
    kept = arena_copy(n->arena, &r, sizeof r);
    map_put(&n->range, e, kept);
  }
  return *kept;
}

/* Whether all its parts fit in the type, and can be computed in it. */
static bool fits(Narrow *n, const Expr *e, uint32_t t) {
  Range r = range_of(n, e);
  uintptr_t kept = (uintptr_t)map_find(&n->fits[t], e);
  if (!r.known || r.low < narrow_range[t].low || r.high > narrow_range[t].high) return false;
  if (e->kind != EX_OP || e->op == OP_CAST || !r.works) return true;
  if (kept) return kept == 1;
  bool all = true;
  for (uint32_t k = e->op == OP_SELECT; all && k < e->n; k++) all = fits(n, e->arg[k], t);
  map_put(&n->fits[t], e, (void *)(uintptr_t)(all ? 1 : 2));
  return all;
}

static const Expr *made(Narrow *n, const Expr *e, uint32_t t) {
  const Expr *kept = map_find(&n->made[t], e), *arg[3];
  DType type = narrow_type[t];
  if (kept) return kept;
  if (e->kind == EX_INT) kept = expr_int(n->x, type, e->i);
  else if (e->kind != EX_OP) kept = expr_cast(n->x, type, e);
  else if (e->op == OP_CAST) kept = expr_cast(n->x, type, range_of_type((DType)e->arg[0]->dtype).known ? e->arg[0] : e);
  else {
    for (uint32_t k = 0; k < e->n; k++) arg[k] = e->op == OP_SELECT && !k ? e->arg[k] : made(n, e->arg[k], t);
    kept = expr_op(n->x, (Op)e->op, e->n, arg);
  }
  map_put(&n->made[t], e, (void *)(uintptr_t)kept);
  return kept;
}

/* The narrowest type for these; 2: none, or they are as narrow, or nothing is computed. */
static uint32_t type_for(Narrow *n, uint32_t count, const Expr *const *e) {
  bool works = false;
  for (uint32_t k = 0; k < count; k++) works |= range_of(n, e[k]).works;
  for (uint32_t t = 0; works && t < COUNT(narrow_type) && dtype_size(narrow_type[t]) < dtype_size((DType)e[0]->dtype);
       t++) {
    bool all = true;
    for (uint32_t k = 0; k < count; k++) all &= fits(n, e[k], t);
    if (all) return t;
  }
  return COUNT(narrow_type);
}

/* An index stays an i64: this does not descend into reads, as a map over operations would. */
static const Expr *op_narrow(void *env, Exprs *x, const Expr *e) {
  Narrow *n = env;
  bool compares = e->kind == EX_OP && op_info[e->op].rule == RULE_COMPARE, casts = e->kind == EX_OP && e->op == OP_CAST;
  if ((!compares && !casts) || !dtype_is_int((DType)e->arg[0]->dtype) || !(e->has & HAS_READ)) return e;
  uint32_t t = type_for(n, e->n, e->arg);
  if (t == COUNT(narrow_type)) return e;
  const Expr *arg[2];
  for (uint32_t k = 0; k < e->n; k++) arg[k] = made(n, e->arg[k], t);
  return casts ? expr_cast(x, (DType)e->dtype, arg[0]) : expr_op(x, (Op)e->op, 2, arg);
}

static void stage_narrow(TaskGraph *t, TaskStage *st) {
  Narrow n = {.x = t->exprs,
      .arena = t->arena,
      .range = map_new(t->arena),
      .made = {map_new(t->arena), map_new(t->arena)},
      .fits = {map_new(t->arena), map_new(t->arena)}};
  EinSum sum = *st->sum;
  if (sum.by) return;
  sum.body = expr_map_ops(t->exprs, sum.body, op_narrow, &n);
  if (sum.body != st->sum->body) stage_canonical(t, st, &sum, st->slot, sum.n_slot);
}

void task_narrow(TaskGraph *t) { task_stages_each(t, &t->tasks, stage_narrow); }
