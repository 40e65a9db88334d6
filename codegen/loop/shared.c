/* codegen/loop/shared.c - checks shared arrays of a device for races: between a store by one thread of a block and an
 * access by another to the same element there must be a barrier. In: a thread's statements. Out: complaints.
 *
 * Walks the statements in order and keeps the accesses since the last barrier. An index is kept as a sum of variables
 * with factors, and the range of each; if the threads' number is divided by powers of two, the variables are bits of
 * an axis of the block. Two accesses are disjoint if their ranges are, or the ranges below a digit that both have; or
 * if both have the same sum, and it differs for any two values of the variables that differ among threads: then one
 * thread makes both. A loop with a barrier inside is uniform over the block between two barriers; it is walked twice,
 * each time with a new value, so that accesses at its end meet those at its start. A remainder of its variable takes
 * turns: what it is in one turn, it is not in the next ones.
 *
 * A copy is under way from its statement on, across barriers, until its thread awaits its group: nobody touches its
 * elements meanwhile, not even its thread. Then it is a store. A loop that awaits all but n groups is walked n times
 * more. */
#include "text.h"

enum { TERMS = 24 };         /* of a sum; with more it is unknown */
enum { NEIGHBOURS = (1 << 24) - 1 }; /* of a wide access: uniform over the block */
enum { BITS = 1 << 24, BITS_MOST = 16 }; /* numbers for the bits of loop variables: so many for each, from here on */

/* var: a number of its own for each value. turn: of a remainder, how many turns it is ahead. */
typedef struct Term { uint32_t var; int64_t by, lo, hi, turn; } Term;
typedef struct Sum { bool known; int64_t rest; uint32_t n; Term term[TERMS]; } Sum;
/* lo, hi: the range of its elements. */
typedef struct Touch {
  uint32_t place;
  bool stores, warp;         /* warp: threads of a warp do it together */
  Sum at;
  int64_t lo, hi, span;      /* span: elements behind the one at `at` */
  bool flies;                /* a copy, under way */
  int64_t group;             /*   the number of its group, */
  uint32_t number;           /*   and its own, from 1 on */
  uint32_t then, other;      /* 0, or the number of the condition in whose branch it stands */
} Touch;

typedef enum { VALUE_OPEN, VALUE_BLOCK, VALUE_LOOP, VALUE_SAME, VALUE_INDEX } ValueKind;

/* What a loop variable is: along an axis of the block; of a loop that each thread runs by itself; uniform; or a sum. */
typedef struct VarValue {
  ValueKind kind;
  uint32_t number;
  int64_t lo, hi;            /* the full range: unknown */
  /* For a loop with a step: its value is first + step times a number from lo to hi; else step is 0. */
  int64_t first, step;
  uint32_t base;             /* SAME, of a loop: its value is that of this number, and `turn` */
  int64_t turn;
  Sum sum;
} VarValue;

/* A remainder of a uniform value by n. */
typedef struct Cycle { uint32_t base, number; int64_t n; } Cycle;

typedef struct Shared {
  SumCheck *c;
  const LoopKernel *k;
  Arena *arena;
  VarValue *value;              /* by loop variable */
  uint32_t next;             /* the next number for a uniform value; those below k->var.len are variables that differ */
  VEC(uint32_t) blocks;      /* variables along the block's axes */
  VEC(Touch) open;           /* accesses since the last barrier, and copies under way */
  VEC(Cycle) cycles;
  int64_t groups;            /* of copies, so far */
  uint32_t flown;            /* copies so far */
  uint32_t ifs, then, other; /* conditions so far; as in Touch */
  bool *said;                /* by place: already reported */
} Shared;

/* ---- sums -------------------------------------------------------------------------------------------- */

static Sum sum_of(Shared *h, const Expr *e);
static bool sum_range(const Sum *s, int64_t *lo, int64_t *hi);

static bool sum_term(Sum *to, Term t) {
  if (!t.by) return true;
  for (uint32_t i = 0; i < to->n; i++)
    if (to->term[i].var == t.var)
      return to->term[i].turn == t.turn && add_ok(to->term[i].by, t.by, &to->term[i].by) &&
          to->term[i].by != INT64_MIN;
  if (to->n == TERMS || t.by == INT64_MIN) return false; /* -t.by would overflow */
  to->term[to->n++] = t;
  return true;
}

/* a plus `by` times b. */
static Sum sum_add(Sum a, const Sum *b, int64_t by) {
  int64_t rest;
  a.known = a.known && b->known && mul_ok(b->rest, by, &rest) && add_ok(a.rest, rest, &a.rest);
  for (uint32_t i = 0; i < b->n && a.known; i++) {
    Term t = b->term[i];
    a.known = mul_ok(t.by, by, &t.by) && sum_term(&a, t);
  }
  return a;
}

static Sum sum_label(const Shared *h, uint32_t var) {
  const VarValue *v = &h->value[var];
  if (v->kind == VALUE_INDEX) return v->sum;
  if (v->kind == VALUE_OPEN) return (Sum){0};
  return (Sum){.known = true, .rest = v->first, .n = 1, .term = {{v->number, v->step ? v->step : 1, v->lo, v->hi, 0}}};
}

/* ---- bits ---------------------------------------------------------------------------------------------- */

/* The number of bits of a variable along an axis of the block, or of a loop that each thread runs; -1: it does not
 * take all of their values. */
static int bits_of(const VarValue *v) {
  int n = 0;
  while (n < BITS_MOST && ((int64_t)1 << n) <= v->hi) n++;
  return (v->kind == VALUE_BLOCK || (v->kind == VALUE_LOOP && !v->step)) && v->lo == 0 && v->hi == ((int64_t)1 << n) - 1
      ? n
      : -1;
}

/* The same sum, with such variables split into bits. */
static Sum sum_in_bits(const Shared *h, const Sum *a) {
  Sum out = {.known = a->known, .rest = a->rest};
  for (uint32_t i = 0; i < a->n && out.known; i++) {
    const Term *t = &a->term[i];
    int n = t->var < h->k->var.len ? bits_of(&h->value[t->var]) : -1;
    if (n < 0) out.known = sum_term(&out, *t);
    for (int bit = 0; bit < n && out.known; bit++) {
      Term one = {BITS + t->var * BITS_MOST + (uint32_t)bit, 0, 0, 1, 0};
      out.known = mul_ok(t->by, (int64_t)1 << bit, &one.by) && sum_term(&out, one);
    }
  }
  return out;
}

/* a // n or a % n: the terms that are multiples of n, or the rest, which must be below n. */
static Sum sum_cut(const Shared *h, const Sum *a, int64_t n, bool quotient) {
  Sum bits = sum_in_bits(h, a), high = {.known = bits.known}, low = {.known = bits.known};
  int64_t lo, hi;
  if (n < 1 || !bits.known) return (Sum){0};
  high.rest = bits.rest / n, low.rest = bits.rest % n;
  for (uint32_t i = 0; i < bits.n && high.known && low.known; i++) {
    Term t = bits.term[i];
    if (t.by % n) low.known = sum_term(&low, t);
    else t.by /= n, high.known = sum_term(&high, t);
  }
  if (!high.known || !sum_range(&low, &lo, &hi) || lo < 0 || hi >= n) return (Sum){0};
  return quotient ? high : low;
}

static uint32_t cycle_number(Shared *h, uint32_t base, int64_t n) {
  for (uint32_t i = 0; i < h->cycles.len; i++)
    if (h->cycles.at[i].base == base && h->cycles.at[i].n == n) return h->cycles.at[i].number;
  vec_push(h->arena, h->cycles, ((Cycle){base, h->next, n}));
  return h->next++;
}

/* a % n, where a is the variable of a loop that is uniform, or that and a number. */
static Sum sum_cycle(Shared *h, const Expr *a, int64_t n) {
  int64_t more = 0;
  if (a->kind == EX_OP && a->op == OP_ADD && a->arg[1]->kind == EX_INT) more = a->arg[1]->i, a = a->arg[0];
  else if (a->kind == EX_OP && a->op == OP_ADD && a->arg[0]->kind == EX_INT) more = a->arg[0]->i, a = a->arg[1];
  const VarValue *v = a->kind == EX_LABEL ? &h->value[a->i] : NULL;
  if (!v || v->kind != VALUE_SAME || !v->base || n < 1 || !add_ok(v->turn, more, &more)) return (Sum){0};
  int64_t turn = (more % n + n) % n;
  return (Sum){.known = true, .n = 1, .term = {{cycle_number(h, v->base, n), 1, 0, n - 1, turn}}};
}

static Sum sum_of(Shared *h, const Expr *e) {
  Sum none = {.known = true};
  if (e->kind == EX_INT) return (Sum){.known = true, .rest = e->i};
  if (e->kind == EX_LABEL) return sum_label(h, (uint32_t)e->i);
  if (e->kind != EX_OP || e->dtype != DT_I64) return (Sum){0};
  if (e->op == OP_NEG) {
    Sum a = sum_of(h, e->arg[0]);
    return sum_add(none, &a, -1);
  }
  if ((e->op == OP_IDIV || e->op == OP_MOD) && e->arg[1]->kind == EX_INT) {
    Sum cycle = e->op == OP_MOD ? sum_cycle(h, e->arg[0], e->arg[1]->i) : (Sum){0};
    if (cycle.known) return cycle;
    Sum a = sum_of(h, e->arg[0]);
    return sum_cut(h, &a, e->arg[1]->i, e->op == OP_IDIV);
  }
  if (e->op != OP_ADD && e->op != OP_SUB && e->op != OP_MUL) return (Sum){0};
  Sum a = sum_of(h, e->arg[0]), b = sum_of(h, e->arg[1]);
  if (e->op != OP_MUL) return sum_add(a, &b, e->op == OP_ADD ? 1 : -1);
  if (b.known && !b.n) return sum_add(none, &a, b.rest);
  return a.known && !a.n ? sum_add(none, &b, a.rest) : (Sum){0};
}

/* The range of the sum; false: unknown. */
static bool sum_range(const Sum *s, int64_t *lo, int64_t *hi) {
  *lo = *hi = s->rest;
  for (uint32_t i = 0; i < s->n && s->known; i++) {
    const Term *t = &s->term[i];
    int64_t a, b;
    if (t->lo == INT64_MIN || t->hi == INT64_MAX || !mul_ok(t->by, t->by < 0 ? t->hi : t->lo, &a) ||
        !mul_ok(t->by, t->by < 0 ? t->lo : t->hi, &b))
      return false;
    if (!add_ok(*lo, a, lo) || !add_ok(*hi, b, hi)) return false;
  }
  return s->known;
}

/* ---- two accesses ------------------------------------------------------------------------------------ */

static const Term *term_find(const Sum *s, uint32_t var) {
  for (uint32_t i = 0; i < s->n; i++)
    if (s->term[i].var == var) return &s->term[i];
  return NULL;
}

static bool same_sum(const Sum *a, const Sum *b) {
  if (!a->known || !b->known || a->rest != b->rest || a->n != b->n) return false;
  for (uint32_t i = 0; i < a->n; i++) {
    const Term *t = term_find(b, a->term[i].var);
    if (!t || t->by != a->term[i].by || t->turn != a->term[i].turn) return false;
  }
  return true;
}

static bool is_free(const Shared *h, uint32_t var) { return var < h->k->var.len || var >= BITS; }

/* Computes the largest difference that the variable makes in either; false: unknown. */
static bool term_reach(const Term *t, const Term *u, int64_t *out) {
  int64_t lo = t->lo < u->lo ? t->lo : u->lo, hi = t->hi > u->hi ? t->hi : u->hi;
  return lo != INT64_MIN && hi != INT64_MAX && sub_ok(hi, lo, out) && mul_ok(*out, t->by < 0 ? -t->by : t->by, out);
}

/* Whether the variable has the same single value in both sums. */
static bool is_single(const Term *t, const Sum *other) {
  const Term *u = term_find(other, t->var);
  return u && t->lo == t->hi && u->lo == t->lo && u->hi == t->hi;
}

/* Whether the terms are digits of one number: the step of each variable that differs among threads exceeds the sum of
 * all smaller ones. */
static bool is_injective(const Shared *h, const Sum *a, const Sum *b) {
  int64_t below = 0, least = 0, reach;
  for (uint32_t done = 0; done < a->n; done++) {
    const Term *next = NULL;
    for (uint32_t i = 0; i < a->n; i++) {
      const Term *t = &a->term[i];
      int64_t step = t->by < 0 ? -t->by : t->by;
      if (!is_free(h, t->var) || is_single(t, b) || step <= least) continue;
      if (!next || step < (next->by < 0 ? -next->by : next->by)) next = t;
    }
    if (!next) return true;
    for (uint32_t i = 0; i < a->n; i++)
      if (&a->term[i] != next && is_free(h, a->term[i].var) && !is_single(&a->term[i], b) &&
          (a->term[i].by == next->by || a->term[i].by == -next->by))
        return false;
    least = next->by < 0 ? -next->by : next->by;
    if (least <= below) return false;
    bool ends = term_reach(next, term_find(b, next->var), &reach) && add_ok(below, reach, &below);
    /* An unbounded term whose step is a power of two leaves the lower digits as they are. */
    if (!ends && (least & (least - 1))) return false;
    if (!ends) below = INT64_MAX;
  }
  return true;
}

/* Whether both sums determine the axis: they have it, or it has a single value, or they have all of its bits. */
static bool axis_determined(const Shared *h, uint32_t axis, const Sum *a, const Sum *b) {
  const Term *t = term_find(a, axis), *u = term_find(b, axis);
  if (t && u) return t->by || (t->lo == t->hi && u->lo == t->lo && u->hi == t->hi);
  int n = bits_of(&h->value[axis]);
  for (int bit = 0; bit < n; bit++) {
    uint32_t var = BITS + axis * BITS_MOST + (uint32_t)bit;
    t = term_find(a, var), u = term_find(b, var);
    if (!t || !u || !t->by) return false;
  }
  return n >= 0;
}

/* Whether one thread makes both accesses to an element: the sum determines all axes of the block. */
static bool one_thread(const Shared *h, const Touch *a, const Touch *b) {
  if (a->warp || b->warp || !same_sum(&a->at, &b->at) || !is_injective(h, &a->at, &b->at)) return false;
  for (uint32_t i = 0; i < h->blocks.len; i++)
    if (!axis_determined(h, h->blocks.at[i], &a->at, &b->at)) return false;
  return true;
}

/* Computes the range without the term of that variable; false: unknown. */
static bool rest_range(Sum s, uint32_t var, int64_t *lo, int64_t *hi) {
  for (uint32_t i = 0; i < s.n; i++)
    if (s.term[i].var == var) s.term[i--] = s.term[--s.n];
  return sum_range(&s, lo, hi);
}

/* Whether a digit of both, whose step exceeds everything below it in either, separates accesses that are disjoint
 * below it: if the digit differs, they are disjoint; if not, what is below separates them. A remainder that is not as
 * many turns ahead differs. */
static bool digit_apart(const Touch *a, const Touch *b) {
  int64_t la, ha, lb, hb, span;
  for (uint32_t i = 0; i < a->at.n && a->at.known && b->at.known; i++) {
    const Term *t = &a->at.term[i], *u = term_find(&b->at, t->var);
    if (!u || u->by != t->by || !rest_range(a->at, t->var, &la, &ha) || !rest_range(b->at, t->var, &lb, &hb)) continue;
    if (!add_ok(ha, a->span, &ha) || !add_ok(hb, b->span, &hb)) continue;
    if (ha >= lb && hb >= la && t->turn == u->turn) continue;
    if (sub_ok(ha > hb ? ha : hb, la < lb ? la : lb, &span) && span < (t->by < 0 ? -t->by : t->by)) return true;
  }
  return false;
}

/* Whether a thread makes one of the two accesses at most, as they are in the branches of one condition. */
static bool either(const Touch *a, const Touch *b) {
  return (a->then && a->then == b->other) || (a->other && a->other == b->then);
}

static void touch_add(Shared *h, Touch t) {
  t.then = h->then, t.other = h->other;
  for (uint32_t i = 0; i <= h->open.len && !h->said[t.place]; i++) {
    const Touch *u = i < h->open.len ? &h->open.at[i] : &t;
    bool waits = u != &t && (u->flies || t.flies);
    if (u->place != t.place || (!u->stores && !t.stores) || u->hi < t.lo || t.hi < u->lo || digit_apart(u, &t) ||
        ((!waits || either(u, &t)) && one_thread(h, u, &t)))
      continue;
    const char *name = h->k->places.at[t.place].name->s;
    if (u != &t && u->flies)
      check_fail(h->c, "an element of %s may be touched while a copy to it is under way: no await is between", name);
    else
      check_fail(h->c,
          "two threads of a block may touch one element of %s, one of them to store, and no barrier is between", name);
    h->said[t.place] = true;
  }
  vec_push(h->arena, h->open, t);
}

/* ---- statements -------------------------------------------------------------------------------------- */

/* Adds axes of the block that have a single value, so that the sum determines them. */
static Sum sum_settled(const Shared *h, Sum s) {
  for (uint32_t i = 0; i < h->blocks.len && s.known; i++) {
    const VarValue *v = &h->value[h->blocks.at[i]];
    if (v->lo == v->hi && !term_find(&s, h->blocks.at[i]) && s.n < TERMS)
      s.term[s.n++] = (Term){h->blocks.at[i], 0, v->lo, v->hi, 0};
  }
  return s;
}

static void touched(Shared *h, uint32_t place, const Expr *const *at, bool stores, int64_t wide, bool flies) {
  const LoopPlace *x = &h->k->places.at[place];
  if (x->space != SPACE_SHARED) return;
  Touch t = {.place = place, .stores = stores, .flies = flies, .group = h->groups, .at = {.known = true}};
  if (flies) t.number = ++h->flown;
  int64_t step = 1, count = 1;
  for (uint32_t k = 0; k < x->rank; k++) count *= x->dim[k]->i;
  for (uint32_t k = x->rank; k-- > 0; step *= x->dim[k]->i) {
    Sum one = sum_of(h, at[k]);
    t.at = sum_add(t.at, &one, step);
  }
  if (wide > 1 && t.at.known) t.at.known = sum_term(&t.at, (Term){NEIGHBOURS, 1, 0, wide - 1, 0});
  if (!sum_range(&t.at, &t.lo, &t.hi)) t.lo = 0, t.hi = count - 1;
  t.at = sum_settled(h, t.at);
  touch_add(h, t);
}

/* Whether the sum is uniform over a warp. Threads of a block are numbered along its first axis first, and a warp has
 * 32 consecutive ones. */
static bool is_warps(const Shared *h, const Sum *s) {
  Sum bits = sum_in_bits(h, s);
  for (uint32_t i = 0; i < bits.n && bits.known; i++) {
    uint32_t var = bits.term[i].var;
    if (!is_free(h, var)) continue;
    int64_t weight = 1;
    bool block = false;
    for (uint32_t k = 0; k < h->blocks.len && !block; k++) {
      block = var >= BITS && (var - BITS) / BITS_MOST == h->blocks.at[k];
      weight = block ? weight << (var - BITS) % BITS_MOST : weight * (h->value[h->blocks.at[k]].hi + 1);
    }
    if (var >= BITS ? !block || weight < 32 : h->value[var].kind == VALUE_BLOCK) return false;
  }
  return bits.known;
}

/* Records the access of a side of a matrix: its start is uniform over a warp, and what is read at once is aligned to
 * 16 bytes. */
static void side_touched(Shared *h, const Expr *e, int64_t points, int64_t step, int64_t deep, int64_t deep_step) {
  const LoopPlace *x = &h->k->places.at[e->i];
  Touch t = {.place = (uint32_t)e->i, .warp = true, .at = sum_of(h, e->arg[0])};
  int64_t wide = 16 / dtype_size(x->dtype);
  bool well = is_warps(h, &t.at) && sum_range(&t.at, &t.lo, &t.hi) && t.lo >= 0;
  for (uint32_t i = 0; i < t.at.n && x->small; i++) well &= t.at.term[i].by % wide == 0;
  well &= !x->small || t.at.rest % wide == 0;
  t.span = (points - 1) * step + (deep - 1) * deep_step;
  t.hi += t.span;
  if (!well || t.hi >= x->dim[0]->i)
    check_fail(h->c, "a matrix does not lie in %s as a whole, or not the same for all threads of a warp", x->name->s);
  touch_add(h, t);
}

static void matrix_walk(Shared *h, const LoopStmt *s) {
  const LoopMatrix *m = s->matrix;
  if (!loop_is_held(m)) side_touched(h, s->value, m->rows, m->row_step, m->deep, m->row_deep);
  side_touched(h, s->other_side, m->lanes, m->lane_step, m->deep, m->lane_deep);
}

static void reads_of(Shared *h, const Expr *e, int64_t wide) {
  if (!e || !(e->has & HAS_READ)) return;
  if (e->kind == EX_READ) touched(h, (uint32_t)e->i, e->arg, false, wide, false);
  for (uint32_t k = 0; k < e->n; k++) reads_of(h, e->arg[k], 0);
}

static void body_walk(Shared *h, const LoopBody *b);

/* The most groups that a statement of these leaves under way. */
static int64_t left_most(const LoopBody *b) {
  int64_t most = 0;
  vec_each_of(const LoopStmt, s, *b) {
    int64_t in = left_most(&s->body), other = left_most(&s->other), own = s->kind == LOOP_AWAIT ? s->step : 0;
    most = in > most ? in : most, most = other > most ? other : most, most = own > most ? own : most;
  }
  return most;
}

static void lasting(Shared *h, const LoopStmt *loop, const Touch *t) {
  if (!h->said[t->place])
    check_fail(h->c, "a copy to %s may be under way for more turns of the loop over %s than its awaits leave groups",
        h->k->places.at[t->place].name->s, h->k->var.at[loop->var]->s);
  h->said[t->place] = true;
}

static void loop_walk(Shared *h, const LoopStmt *s) {
  VarValue *v = &h->value[s->var];
  bool barrier = loop_has_barrier(&s->body);
  int64_t a, b, c, d;
  Sum lo = sum_of(h, s->lo), hi = sum_of(h, s->hi);
  *v = (VarValue){VALUE_LOOP, .number = s->var, .lo = INT64_MIN, .hi = INT64_MAX};
  bool known = sum_range(&lo, &a, &b) && sum_range(&hi, &c, &d) && d > a;
  if (known && a == b && s->step > 1) v->lo = 0, v->hi = (d - 1 - a) / s->step, v->first = a, v->step = s->step;
  else if (known) v->lo = a, v->hi = d - 1;
  if (!barrier) {
    body_walk(h, &s->body);
    return;
  }
  VEC(Touch) before = {0};
  const int64_t groups = h->groups, turns = 2 + left_most(&s->body);
  for (uint32_t i = 0; i < h->open.len; i++) vec_push(h->arena, before, h->open.at[i]);
  v->kind = VALUE_SAME;
  v->base = h->next++;
  const uint32_t flown = h->flown;
  uint32_t first = flown;    /* copies of the first turn have lower numbers */
  for (int64_t turn = 0; turn < turns; turn++) {
    v->number = h->next++;
    v->turn = turn * s->step;
    body_walk(h, &s->body);
    if (!turn) first = h->flown;
  }
  for (uint32_t i = 0; i < h->open.len; i++)
    if (h->open.at[i].flies && h->open.at[i].number > flown && h->open.at[i].number <= first)
      lasting(h, s, &h->open.at[i]);
  for (uint32_t i = 0; i < before.len; i++) { /* the loop may run no turns */
    before.at[i].group += h->groups - groups;
    vec_push(h->arena, h->open, before.at[i]);
  }
}

/* Narrows the range of a block's variable by a condition, if that bounds it. */
static void narrow(Shared *h, const Expr *e) {
  if (e->kind != EX_OP || e->n != 2) return;
  if (e->op == OP_AND) {
    narrow(h, e->arg[0]);
    narrow(h, e->arg[1]);
  }
  if (e->arg[0]->kind != EX_LABEL || e->arg[1]->kind != EX_INT) return;
  VarValue *v = &h->value[e->arg[0]->i];
  int64_t n = e->arg[1]->i;
  if (v->kind != VALUE_BLOCK || n < v->lo || n > v->hi) return;
  if (e->op == OP_LT && n > v->lo) v->hi = n - 1;
  if (e->op == OP_LE) v->hi = n;
  if (e->op == OP_EQ) v->lo = v->hi = n;
}

static void if_walk(Shared *h, const LoopStmt *s) {
  VarValue *was = NEW_ARRAY(h->arena, VarValue, h->blocks.len + 1);
  for (uint32_t i = 0; i < h->blocks.len; i++) was[i] = h->value[h->blocks.at[i]];
  const uint32_t number = ++h->ifs, then = h->then, other = h->other;
  narrow(h, s->cond);
  h->then = number, h->other = 0;
  body_walk(h, &s->body);
  for (uint32_t i = 0; i < h->blocks.len; i++) h->value[h->blocks.at[i]] = was[i];
  h->then = 0, h->other = number;
  body_walk(h, &s->other);
  h->then = then, h->other = other;
}

/* At a barrier, only copies stay under way. */
static void barrier_walk(Shared *h) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < h->open.len; i++)
    if (h->open.at[i].flies) h->open.at[n++] = h->open.at[i];
  h->open.len = n;
}

static void await_walk(Shared *h, int64_t left) {
  for (uint32_t i = 0; i < h->open.len; i++)
    if (h->open.at[i].group < h->groups - left) h->open.at[i].flies = false;
}

static void body_walk(Shared *h, const LoopBody *b) {
  vec_each_of(const LoopStmt, s, *b) {
    if (s->kind == LOOP_MATRIX) {
      matrix_walk(h, s);
      continue;
    }
    reads_of(h, s->lo, 0), reads_of(h, s->hi, 0), reads_of(h, s->cond, 0), reads_of(h, s->value, s->wide);
    for (uint32_t k = 0; k < s->n_at; k++) reads_of(h, s->at[k], 0);
    if (s->kind == LOOP_FOR) loop_walk(h, s);
    if (s->kind == LOOP_IF) if_walk(h, s);
    if (s->kind == LOOP_STORE || s->kind == LOOP_COPY)
      touched(h, s->place, s->at, true, s->wide, s->kind == LOOP_COPY);
    if (s->kind == LOOP_BARRIER) barrier_walk(h);
    if (s->kind == LOOP_COMMIT) h->groups++;
    if (s->kind == LOOP_AWAIT) await_walk(h, s->step);
    if (s->kind == LOOP_INDEX) {
      Sum sum = sum_of(h, s->lo);
      h->value[s->var] = sum.known ? (VarValue){.kind = VALUE_INDEX, .sum = sum}
                                   : (VarValue){VALUE_LOOP, .number = s->var, .lo = INT64_MIN, .hi = INT64_MAX};
    }
  }
}

/* ---- a launch ---------------------------------------------------------------------------------------- */

static void bounds_walk(Shared *h, const LoopBody *b, const LoopBody *threads) {
  const LoopStmt *s = vec_last(*b);
  bool block = s->bind == BIND_BLOCK;
  h->value[s->var] = block ? (VarValue){VALUE_BLOCK, .number = s->var, .hi = s->hi->i - 1}
                           : (VarValue){VALUE_SAME, .number = h->next++, .lo = INT64_MIN, .hi = INT64_MAX};
  if (block) vec_push(h->arena, h->blocks, s->var);
  if (&s->body != threads) bounds_walk(h, &s->body, threads);
}

void loop_check_shared(SumCheck *c, const LoopKernel *k, const LoopBody *launch, const LoopBody *threads) {
  Shared h = {.c = c, .k = k, .arena = arena_new(), .next = k->var.len};
  h.value = NEW_ARRAY(h.arena, VarValue, k->var.len + 1);
  h.said = NEW_ARRAY(h.arena, bool, k->places.len + 1);
  bounds_walk(&h, launch, threads);
  body_walk(&h, threads);
  arena_free(h.arena);
}
