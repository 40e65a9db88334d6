/* codegen/schedule/cpu/panels/units.c - which of the machine's units do the work of a tile. A core has some that multiply and add at once,
 * and as many others that add and compare. A product of matrices wants the first alone. Where a step of the tile is made of
 * sums and comparisons, the first may have the sums: x + y is x * 1 + y, to the bit, where the C compiler does not know the one.
 * Floats of which only maxima and minima are taken are compared as integers, which both kinds of units do. Where both are
 * busy, a value that is loaded for all lanes of several vectors costs a turn of one of them, but nothing where the operation that wants it
 * loads it by itself: so compilers are not to know that the vectors of a row have the same value. */
#include "panels.h"

enum { /* bytes of a vector, at least, */
  WIDE = 32,                 /*   on machines that have such units, */
  LOADS = 64                 /*   and whose operations spread what they load */
};

typedef struct Count {
  int sums, products;        /* operations of each kind of units */
  bool row;                  /* one of the sums has a row's value in it */
  bool others;               /* there is something else */
} Count;

/* ---- what a step of the tile is made of ------------------------------------------------------------------------ */

static bool is_op(const Expr *e, Op op) { return e->kind == EX_OP && e->op == op; }

/* In the body: what a pack of the rows holds. */
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
    if (is_op(e->arg[0], OP_MUL) || is_op(e->arg[1], OP_MUL)) break; /* at once */
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

/* Nothing but maxima and minima of what is packed. */
static bool is_choice(const Panel *t, const Expr *e) {
  if (e->kind == EX_READ) return e->i >= t->p->stage->sum->n_slot && t->pack[e->i - t->p->stage->sum->n_slot].place != NOWHERE;
  if (!is_op(e, OP_MAX) && !is_op(e, OP_MIN)) return false;
  return is_choice(t, e->arg[0]) && is_choice(t, e->arg[1]);
}

static bool is_wide(const Panel *t) {
  DType acc = t->p->stage->sum->acc;
  return (acc == DT_F32 || acc == DT_F64) && tile_vector(t->s, acc) * dtype_size(acc) >= WIDE;
}

/* ---- what is made of it ------------------------------------------------------------------------------------- */

/* Before panels are made. Floats are compared as integers on any machine, as that decides which zero is the more. */
void pack_units_choose(Panel *t) {
  Units *u = &t->units;
  *u = (Units){.ones = NOWHERE, .vector = t->v.unit};
  for (uint32_t k = 0; k < t->n_pack; k++)
    if (t->pack[k].of->dtype != t->p->stage->sum->acc) return;
  u->order = pack_is_tame(t) && t->p->stage->sum->acc == DT_F32 && t->body->kind == EX_OP && is_choice(t, t->body);
}

/* Before tiles are made, for what follows in the block. */
void pack_units_open(Panel *t) {
  Sched *s = t->s;
  Units *u = &t->units;
  DType acc = t->p->stage->sum->acc;
  Count c = count_all(t);
  u->ones = NOWHERE, u->apart = NULL, u->vector = t->v.unit;
  if (!is_wide(t) || c.others || (t->odd != NOWHERE && !t->plain)) return;
  if (c.sums > c.products && c.row && !u->order) {
    const Expr *dim = ex_int(s, t->v.unit);
    u->ones = place_own(s, NULL, "ones", acc, 1, &dim);
    var_add(s, u->ones, expr_op1(s->x, OP_HIDDEN, expr_real(s->x, acc, 1)));
    c.sums--, c.products++;
  }
  int64_t vector = tile_vector(s, acc);
  if (u->order || !c.row || !c.sums || !c.products || (u->ones == NOWHERE && vector * dtype_size(acc) < LOADS)) return;
  if (t->v.unit % vector || t->v.unit == vector) return;
  u->apart = let_read(s, "apart", expr_op1(s->x, OP_HIDDEN, ex_int(s, 0)));
  u->vector = vector;
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

/* row - x, of which only the size is wanted: an operation takes what it loads from what it has, and not the other way round. */
static const Expr *turned_round(Rewrite *w, const Expr *e) {
  return is_op(e, OP_SUB) && is_rows_value(w, e->arg[0]) ? expr_op2(w->t->s->x, OP_SUB, e->arg[1], e->arg[0]) : e;
}

static const Expr *rewritten(Rewrite *w, const Expr *e) {
  Exprs *x = w->t->s->x;
  const Expr *made = map_find(&w->done, e), *arg[EXTERN_ARGS];
  if (e->kind != EX_OP) return e;
  if (made) return made;
  bool sum = is_op(e, OP_ADD) || is_op(e, OP_SUB), square = is_op(e, OP_MUL) && e->arg[0] == e->arg[1];
  for (uint32_t k = 0; k < e->n; k++) {
    arg[k] = !w->one && (square || is_op(e, OP_ABS)) ? turned_round(w, e->arg[k]) : e->arg[k];
    arg[k] = sum && w->one && is_rows_value(w, arg[k]) ? expr_op2(x, OP_MUL, arg[k], w->one) : rewritten(w, arg[k]);
  }
  made = is_op(e, OP_CAST) ? e : expr_op_like(x, e, arg);
  map_put(&w->done, e, (void *)(uintptr_t)made);
  return made;
}

/* What a row takes in at lane l, where packed[k] is what pack k has there. */
const Expr *pack_units_value(Panel *t, const Expr *const *packed, const Expr *l, const Expr *value) {
  const Units *u = &t->units;
  if (u->order || (u->ones == NOWHERE && !u->apart)) return value;
  Rewrite w = {.t = t, .packed = packed, .done = map_new(t->s->arena)};
  if (u->ones != NOWHERE) w.one = place_read(t->s, u->ones, 1, &l);
  return rewritten(&w, value);
}

/* ---- floats as integers ----------------------------------------------------------------------------------------- */

DType pack_units_type(const Panel *t, const Pack *k) { return t->units.order ? DT_I32 : (DType)k->of->dtype; }

const Expr *pack_units_put(Panel *t, const Expr *value) {
  return t->units.order ? expr_op1(t->s->x, OP_ORDER, value) : value;
}

const Expr *pack_units_get(Panel *t, const Expr *value) {
  return t->units.order && !t->plain ? expr_op1(t->s->x, OP_UNORDER, value) : value;
}
