/* codegen/schedule/cpu/panels/units.c - assigns the operations of a tile to execution units. A core has units that do
 * fused multiply-adds, and as many others that add and compare. A matrix product needs only the first kind. If a
 * tile's step consists of sums and comparisons, the first kind can take the sums: x + y is x * 1 + y, bit for bit, if
 * the C compiler does not know the one. Floats of which only maxima and minima are taken are compared as integers,
 * which both kinds do. If both are busy, a broadcast value shared by several vectors costs one of them a turn, but is
 * free as the memory operand of an operation: so compilers must not see that the vectors of a row share it. Intel's
 * cores with AVX-512 do all of this in the same two units, so there sums stay sums. */
#include "panels.h"

enum { /* least bytes of a vector */
  WIDE = 32,                 /*   on machines with such units, */
  LOADS = 64                 /*   and whose operations broadcast memory operands */
};

typedef struct Count {
  int sums, products;        /* operations for each kind of units */
  bool row;                  /* one of the sums has a row's value in it */
  bool others;               /* there are other operations */
} Count;

/* ---- operations of a step -------------------------------------------------------------------------------------- */

/* Whether e reads a pack of the rows, in the body. */
static bool is_row(const Panel *t, const Expr *e) {
  uint32_t first = t->p->stage->sum->n_slot;
  if (e->kind != EX_READ || e->i < first || e->i >= first + t->n_pack) return false;
  const Pack *k = &t->pack[e->i - first];
  return !k->lanes && k->place != NOWHERE;
}

static void count(const Panel *t, Map *seen, const Expr *e, Count *c) {
  if (map_find(seen, e)) return;
  map_put(seen, e, c);
  if (e->kind == EX_REAL || (e->kind == EX_READ && e->i >= t->p->stage->sum->n_slot)) return;
  if (e->kind != EX_OP || e->dtype != t->p->stage->sum->acc) {
    c->others = true;
    return;
  }
  switch ((Op)e->op) {
  case OP_ADD: case OP_SUB:
    if (is_op(e->arg[0], OP_MUL) || is_op(e->arg[1], OP_MUL)) break; /* fused already */
    c->sums++;
    c->row |= is_row(t, e->arg[0]) || is_row(t, e->arg[1]);
    break;
  case OP_MAX: case OP_MIN: c->sums++; break;
  case OP_MUL: c->products++; break;
  case OP_ABS: case OP_NEG: break;
  default: c->others = true;
  }
  for (uint32_t k = 0; k < e->n; k++) count(t, seen, e->arg[k], c);
}

static Count count_all(const Panel *t) {
  const EinSum *sum = t->p->stage->sum;
  Count c = {0};
  Map seen = map_new(t->s->arena);
  count(t, &seen, t->body, &c);
  if (sum->reducer == RED_MAX || sum->reducer == RED_MIN) c.sums++;
  else if (sum->reducer != RED_SUM) c.others = true;
  else if (!is_op(t->body, OP_MUL)) c.sums++;
  return c;
}

/* Whether e consists of maxima and minima of packs only. */
static bool is_choice(const Panel *t, const Expr *e) {
  if (e->kind == EX_READ)
    return e->i >= t->p->stage->sum->n_slot && t->pack[e->i - t->p->stage->sum->n_slot].place != NOWHERE;
  if (!is_op(e, OP_MAX) && !is_op(e, OP_MIN)) return false;
  return is_choice(t, e->arg[0]) && is_choice(t, e->arg[1]);
}

static bool is_wide(const Panel *t) {
  DType acc = t->p->stage->sum->acc;
  return (acc == DT_F32 || acc == DT_F64) && tile_vector(t->s, acc) * dtype_size(acc) >= WIDE;
}

/* ---- choice of units ---------------------------------------------------------------------------------------- */

/* Called before panels are made. Floats are compared as integers on every machine, because that decides which zero is
 * the larger. */
void pack_units_choose(Panel *t) {
  Units *u = &t->units;
  *u = (Units){.ones = NOWHERE, .vector = t->v.unit};
  for (uint32_t k = 0; k < t->n_pack; k++)
    if (t->pack[k].of->dtype != t->p->stage->sum->acc) return;
  u->order = pack_is_tame(t) && t->p->stage->sum->acc == DT_F32 && t->body->kind == EX_OP && is_choice(t, t->body);
}

/* Makes the ones by which all sums of a row's value are multiplied; in registers if each row gets a copy. */
static void ones_new(Panel *t, int64_t n) {
  Sched *s = t->s;
  Units *u = &t->units;
  DType acc = t->p->stage->sum->acc;
  const Expr *dim = ex_int(s, n), *one = expr_real(s->x, acc, 1);
  u->ones = var_own(s, NULL, "ones", acc, 1, &dim, u->copies ? one : expr_op1(s->x, OP_HIDDEN, one));
  if (u->copies) lanes_add(s, u->ones, OP_HIDDEN);
}

/* Called before tiles are made, for what follows in the block. */
void pack_units_open(Panel *t) {
  Sched *s = t->s;
  Units *u = &t->units;
  DType acc = t->p->stage->sum->acc;
  Count c = count_all(t);
  u->ones = NOWHERE, u->apart = NULL, u->copies = false, u->vector = t->v.unit;
  if (!is_wide(t) || c.others || (t->test.odd != NOWHERE && !t->test.plain && !t->zeros)) return;
  bool times = c.sums > c.products && c.row && !u->order && !s->target->units_alike;
  if (times) c.sums--, c.products++;
  int64_t vector = tile_vector(s, acc);
  bool loads = vector * dtype_size(acc) >= LOADS,
       apart = !u->order && c.row && c.sums && c.products && loads;
  if (apart && t->v.unit % vector == 0 && t->v.unit != vector) {
    u->apart = let_read(s, "apart", expr_op1(s->x, OP_HIDDEN, ex_int(s, 0)));
    u->vector = vector;
  }
  u->copies = times && loads && u->apart;
  if (times) ones_new(t, u->copies ? vector : u->apart ? t->v.unit : 1);
}

/* Copies the ones for each row. A fused operation overwrites an operand unless one comes from memory: without a copy,
 * clang loads a row's value by a separate operation, to have a register to overwrite. */
void pack_units_copy(Panel *t, int64_t from, int64_t to) {
  Sched *s = t->s;
  Units *u = &t->units;
  if (!u->copies) return;
  const Expr *dim = ex_int(s, u->vector);
  for (int64_t r = from; r < to; r++) {
    const Expr *l;
    u->own[r] = var_own(s, NULL, "one", t->p->stage->sum->acc, 1, &dim, NULL);
    LoopBody *was = pack_lanes(t, dim, &l);
    store_add(s, u->own[r], 1, &l, place_read(s, u->ones, 1, &l));
    into(s, was);
    lanes_add(s, u->own[r], OP_HIDDEN);
  }
}

/* The index of a row's value in its panel, for lanes from `lane` on. */
const Expr *pack_units_index(Panel *t, int64_t lane, const Expr *index) {
  return t->units.apart && lane ? ex_add(t->s, index, t->units.apart) : index;
}

typedef struct Rewrite {
  Panel *t;
  const Expr *const *packed;
  const Expr *one;           /* NULL: sums stay sums */
  Map done;
} Rewrite;

static bool is_rows_value(const Rewrite *w, const Expr *e) {
  for (uint32_t k = 0; k < w->t->n_pack; k++)
    if (!w->t->pack[k].lanes && w->t->pack[k].place != NOWHERE && w->packed[k] == e) return true;
  return false;
}

/* Swaps row - x, of which only the magnitude matters: an operation can subtract a memory operand, but not subtract
 * from one. */
static const Expr *difference_swapped(Rewrite *w, const Expr *e) {
  return is_op(e, OP_SUB) && is_rows_value(w, e->arg[0]) ? expr_op2(w->t->s->x, OP_SUB, e->arg[1], e->arg[0]) : e;
}

static const Expr *rewritten(Rewrite *w, const Expr *e) {
  Exprs *x = w->t->s->x;
  const Expr *made = map_find(&w->done, e), *arg[EXTERN_ARGS];
  if (e->kind != EX_OP) return e;
  if (made) return made;
  bool sum = is_op(e, OP_ADD) || is_op(e, OP_SUB), square = is_op(e, OP_MUL) && e->arg[0] == e->arg[1];
  for (uint32_t k = 0; k < e->n; k++) {
    arg[k] = !w->one && (square || is_op(e, OP_ABS)) ? difference_swapped(w, e->arg[k]) : e->arg[k];
    arg[k] = sum && w->one && is_rows_value(w, arg[k]) ? expr_op2(x, OP_MUL, arg[k], w->one) : rewritten(w, arg[k]);
  }
  made = is_op(e, OP_CAST) ? e : expr_op_like(x, e, arg);
  map_put(&w->done, e, (void *)(uintptr_t)made);
  return made;
}

const Expr *pack_units_value(
    Panel *t, const Expr *const *packed, int64_t r, int64_t lane, const Expr *l, const Expr *value) {
  const Units *u = &t->units;
  if (u->order || (u->ones == NOWHERE && !u->apart)) return value;
  Rewrite w = {.t = t, .packed = packed, .done = map_new(t->s->arena)};
  const Expr *at = u->copies ? ex_sub(t->s, l, ex_int(t->s, lane)) : u->apart ? l : ex_int(t->s, 0);
  if (u->ones != NOWHERE) w.one = place_read(t->s, u->copies ? u->own[r] : u->ones, 1, &at);
  return rewritten(&w, value);
}

/* ---- floats as integers ----------------------------------------------------------------------------------------- */

DType pack_units_type(const Panel *t, const Pack *k) { return t->units.order ? DT_I32 : (DType)k->of->dtype; }

const Expr *pack_units_put(Panel *t, const Expr *value) {
  return t->units.order ? expr_op1(t->s->x, OP_ORDER, value) : value;
}

const Expr *pack_units_get(Panel *t, const Expr *value) {
  return t->units.order && !t->test.plain ? expr_op1(t->s->x, OP_UNORDER, value) : value;
}
