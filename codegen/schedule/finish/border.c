/* codegen/schedule/finish/border.c - splits loops that test at each element whether it is at a border. In: a kernel's
 * statements. Out: the same, where an innermost loop over v that computes
 *
 *     select(0 < u and 0 < v and v < N - 1, X[u, v - 1] + X[u, v + 1], 0)
 *
 * becomes `if 0 < u` with three loops inside: one below the interior, one over the interior, where nothing is tested,
 * and one above; the other branch is one loop in which the condition is false. Each element is computed from the same
 * values by the same operations, in the same order, so the bits are the same. An `or` describes the border, and its
 * parts are false inside. An index that wraps around has a border too: inside, (v - 1) % n is v - 1. Extents may be
 * symbolic.
 *
 * An interior of a few vectors, such as the 126 points inside a row of 128, is two loops: whole vectors from the start,
 * and at the end as many as cover the rest, which compute some elements twice. Clang handles a remainder one by one.
 *
 * Tests that cannot be decided stay: those between the borders of several conditions, on data, or on a quotient of v.
 */
#include "expr/prove/prove.h"
#include "finish.h"
#include "loop/copy.h"
#include "turn.h"

enum {
  SHORT = 64,                /* iterations that are not worth three loops: as many as are vectorised together */
  BODY_MOST = 12,            /* statements of its body */
  VECTOR = 64,               /* bytes of a vector, */
  VECTORS = 4,               /*   of which compilers take so many at a time */
  WHOLE_MOST = 16            /* at most so many times that; the rest of a longer loop is negligible */
};

typedef struct Border {
  LoopProgram *p;
  LoopKernel *k;
  Exprs *x;
  Arena *arena;              /* the pass' own */
  LoopCopy copy;
  const Expr **index;        /* by variable: its value, if it is set by `index` */
  LoopStmt *loop;            /* the current loop, */
  Along along;
  bool *stored, *read;       /*   places that it stores to, and that it reads, */
  VEC(const Expr *) asked;   /*   its whole conditions, */
  const Expr *fixed;         /*   their part that does not depend on v, as it is inside; NULL: none */
  bool one;                  /*   all conditions that have such a part have the same one */
  const Expr *low, *high;    /*   the interior: low <= v < high; NULL: unbounded */
  uint32_t lows, highs;      /*   number of comparisons that bound it; and */
  bool low_exact, high_exact; /*   beyond it, the last comparison is the opposite of what it is inside */
  bool any;                  /* some condition is decided everywhere inside */
  Map inside, below, above, outside; /* the value of each comparison or condition there */
} Border;

static void know(Border *b, Map *where, const Expr *e, bool v) {
  if (!map_find(where, e)) map_put(where, e, (void *)(uintptr_t)expr_bool(b->x, v));
}

/* ---- comparisons ---------------------------------------------------------------------------------------- */

/* Whether e does not depend on v: it consists of names, numbers, and registers that the loop does not change. */
static bool is_fixed(const void *env, const Expr *e) {
  const Border *b = env;
  if (e->kind == EX_LABEL) return e->i != (int64_t)b->loop->var;
  if (e->kind == EX_READ) return !e->n && b->k->places.at[e->i].space == SPACE_REGISTER && !b->stored[e->i];
  for (uint32_t k = 0; k < e->n; k++)
    if (!is_fixed(b, e->arg[k])) return false;
  return true;
}

static const Expr *end_of(Border *b, Op op, const Expr *a, const Expr *c) {
  return !a ? c : a == c ? a : expr_op2(b->x, op, a, c);
}

static void low_take(Border *b, const Expr *from, bool exact) {
  b->low = end_of(b, OP_MAX, b->low, from);
  b->low_exact = exact;
  b->lows++;
}

static void high_take(Border *b, const Expr *to, bool exact) {
  b->high = end_of(b, OP_MIN, b->high, to);
  b->high_exact = exact;
  b->highs++;
}

/* Takes what a comparison of v that is `truth` inside says of the interior; false: nothing that is known here. */
static bool cut_take(Border *b, const Expr *e, bool truth) {
  Turn t;
  if (!turn_find(&b->along, e, truth, &t)) return false;
  if (!t.equal && t.below) high_take(b, t.at, true);
  else if (!t.equal) low_take(b, t.at, true);
  /* An equality tells by its number which border it is: near 0, or at the end. */
  else if (t.at->kind == EX_INT && t.at->i <= SHORT) low_take(b, expr_int(b->x, DT_I64, t.at->i + 1), false);
  else high_take(b, t.at, false);
  return true;
}

/* ---- conditions ----------------------------------------------------------------------------------------- */

typedef struct Condition { Border *b; bool truth, all; const Expr *fixed; } Condition;

/* Takes the condition's parts, joined by `and` if they are true inside, by `or` if they are false. */
static void condition_part(Condition *c, const Expr *e) {
  Border *b = c->b;
  if (is_op(e, c->truth ? OP_AND : OP_OR)) {
    condition_part(c, e->arg[0]);
    condition_part(c, e->arg[1]);
  } else if (is_fixed(b, e)) {
    c->fixed = expr_and(b->x, c->fixed, c->truth ? e : expr_op1(b->x, OP_NOT, e));
    know(b, &b->inside, e, c->truth);
  } else if (map_find(&b->inside, e)) {
    return;
  } else {
    uint32_t lows = b->lows;
    if (!cut_take(b, e, c->truth)) {
      c->all = false;
      return;
    }
    know(b, &b->inside, e, c->truth);
    bool low = b->lows > lows;
    if (low) know(b, &b->above, e, c->truth);
    know(b, low ? &b->below : &b->above, e, !c->truth);
  }
}

static void condition_take(Border *b, const Expr *e) {
  Condition c = {b, !is_op(e, OP_OR), true, NULL};
  condition_part(&c, e);
  b->any |= c.all;
  if (!c.fixed) return;
  know(b, &b->outside, e, !c.truth);
  if (b->fixed && b->fixed != c.fixed) b->one = false;
  b->fixed = !b->fixed || b->fixed == c.fixed ? c.fixed : expr_and(b->x, b->fixed, c.fixed);
}

/* Whether the loop wraps around n several times, so that one lap is no interior. */
static bool is_lap(const Border *b, int64_t n) {
  const Expr *lo = b->loop->lo, *hi = b->loop->hi;
  return n <= SHORT || (lo->kind == EX_INT && hi->kind == EX_INT && (hi->i - lo->i) / 2 >= n);
}

static bool is_small(const Expr *e) { return e->kind == EX_INT && e->i > -INT32_MAX && e->i < INT32_MAX; }

/* Whether n is an axis of what the loop reads or stores. Then memory bounds it, and sums of it and of places stay in
 * 64 bits. */
static bool is_axis(const Border *b, const Expr *n) {
  for (uint32_t i = 0; i < b->k->places.len; i++) {
    const LoopPlace *p = &b->k->places.at[i];
    for (uint32_t k = 0; k < p->rank && p->space == SPACE_BUFFER && (b->stored[i] || b->read[i]); k++)
      if (p->dim[k] == n) return true;
  }
  return false;
}

static const Expr *leaf_start(void *env, Exprs *x, const Expr *leaf) {
  (void)env;
  return leaf->kind == EX_LABEL ? expr_int(x, DT_I64, 0) : leaf;
}

/* at, by as many n less as bring it near 0 where all loops begin: (v + n - 1) % n is (v - 1) % n. NULL: n is no number,
 * and how many that are is not plain. */
static const Expr *laps_drop(Border *b, const Expr *at, const Expr *n) {
  const Expr *start = expr_normal(b->x, expr_map(b->x, at, leaf_start, b));
  int64_t laps = 0;
  if (n->kind == EX_INT) {
    if (is_small(start)) laps = floor_div(start->i + n->i / 2, n->i);
    if (!laps) return at;
  } else if (!is_small(start)) {
    laps = is_small(expr_normal(b->x, expr_op2(b->x, OP_SUB, start, n))) ? 1 : -1;
    if (laps < 0 && !is_small(expr_normal(b->x, expr_op2(b->x, OP_ADD, start, n)))) return NULL;
  }
  const Expr *all = expr_op2(b->x, OP_MUL, expr_int(b->x, DT_I64, laps), n);
  return expr_normal(b->x, expr_op2(b->x, OP_SUB, at, all));
}

/* Replaces (v - 1) % n by v - 1 where that is from 0 to below n; also (v + n - 1) % n, which is the same. */
static void wrap_take(Border *b, const Expr *e) {
  const Expr *at = e->arg[0], *n = e->arg[1];
  if (e->dtype != DT_I64 || at->has & HAS_READ || !along_slope(&b->along, at) || map_find(&b->inside, e)) return;
  if (n->kind == EX_INT ? n->i < 1 || n->i > INT32_MAX || is_lap(b, n->i) : !is_fixed(b, n) || !is_axis(b, n)) return;
  at = laps_drop(b, at, n);
  if (!at || !along_slope(&b->along, at) || !cut_take(b, expr_op2(b->x, OP_LE, expr_int(b->x, DT_I64, 0), at), true) ||
      !cut_take(b, expr_op2(b->x, OP_LT, at, n), true))
    return;
  map_put(&b->inside, e, (void *)(uintptr_t)at);
  b->low_exact = b->high_exact = false;
  b->any = true;
}

/* Whether it is a choice between values of which only the chosen one is read. */
static bool chooses_read(const Expr *e) {
  return is_op(e, OP_SELECT) && !reads_memory(e->arg[0]) && (reads_memory(e->arg[1]) || reads_memory(e->arg[2]));
}

/* Whether the loop is short; a remainder of lanes, `n % 16`, is too. */
static bool is_short(const Border *b, const LoopStmt *s) {
  const Expr *hi = s->hi->kind == EX_LABEL && b->index[s->hi->i] ? b->index[s->hi->i] : s->hi;
  if (is_op(hi, OP_MOD)) hi = hi->arg[1];
  return s->lo->kind == EX_INT && hi->kind == EX_INT && hi->i - s->lo->i <= SHORT;
}

static bool is_innermost(const LoopStmt *s) {
  if (s->kind != LOOP_FOR || s->step != 1 || (s->bind != BIND_SEQ && s->bind != BIND_VECTOR)) return false;
  vec_each_of(const LoopStmt, in, s->body) {
    if (in->kind != LOOP_LET && in->kind != LOOP_STORE && in->kind != LOOP_FETCH) return false;
  }
  return true;
}

/* ---- named conditions and indices ------------------------------------------------------------------------- */

/* Substitutes named conditions and indices into each value that uses them, which shows what they are and that they are
 * in range. */
static void names_drop(Border *b, LoopStmt *s) {
  Named n = {b->x, NEW_ARRAY(b->arena, const Expr *, b->k->places.len + 1)};
  LoopBody left = {0};
  bool any = false;
  for (uint32_t i = 0; i < s->body.len; i++) {
    const LoopStmt *in = s->body.at[i];
    DType t = b->k->places.at[in->place].dtype;
    bool asks = in->kind == LOOP_LET && (t == DT_BOOL || t == DT_I64) && !(in->value->has & HAS_READ);
    if (asks) n.is[in->place] = in->value, any = true;
    else vec_push(b->p->arena, left, s->body.at[i]);
  }
  if (!any) return;
  s->body = left;
  loop_exprs(&s->body, with_named, &n);
}

static bool loop_look(Border *b, LoopStmt *s) {
  if (!is_innermost(s)) return false;
  names_drop(b, s);
  if (s->body.len > BODY_MOST) return false;
  b->stored = NEW_ARRAY(b->arena, bool, b->k->places.len + 1);
  for (uint32_t i = 0; i < s->body.len; i++) b->stored[s->body.at[i]->place] |= s->body.at[i]->kind != LOOP_FETCH;
  b->loop = s, b->along = (Along){b->x, s->var, s->lo, s->hi, is_fixed, b};
  b->fixed = b->low = b->high = NULL, b->one = true;
  b->asked.len = b->lows = b->highs = 0, b->any = false;
  b->inside = map_new(b->arena), b->below = map_new(b->arena), b->above = map_new(b->arena),
  b->outside = map_new(b->arena);
  b->read = NEW_ARRAY(b->arena, bool, b->k->places.len + 1);
  ExprNodes nodes = loop_nodes(b->arena, &s->body, HAS_READ);
  for (const Expr *e; (e = expr_node(&nodes));) {
    if (e->kind == EX_READ) b->read[e->i] = true;
    if (chooses_read(e)) vec_push(b->arena, b->asked, e->arg[0]);
  }
  for (uint32_t i = 0; i < b->asked.len; i++) condition_take(b, b->asked.at[i]);
  nodes = loop_nodes(b->arena, &s->body, HAS_LABEL);
  for (const Expr *e; (e = expr_node(&nodes));)
    if (is_op(e, OP_MOD)) wrap_take(b, e);
  bool cut = b->low || b->high;
  return b->any && (cut ? !is_short(b, s) : b->fixed != NULL);
}

/* ---- copies of the loop ---------------------------------------------------------------------------------- */

/* Copies the loop from lo to hi with what is known there; own: with names of its own. */
static void range_put(Border *b, LoopBody *to, const Expr *lo, const Expr *hi, const Map *is, bool own,
                      LoopBind bind) {
  if (lo->kind == EX_INT && hi->kind == EX_INT && lo->i >= hi->i) return;
  LoopStmt *s = loop_copy(&b->copy, b->loop, own, with_known, &(Known){b->x, is});
  s->lo = lo, s->hi = hi, s->bind = bind;
  vec_push(b->p->arena, *to, s);
}

/* Whether elements may be computed twice: the loop only stores, and reads nothing that it stores. */
static bool may_repeat(Border *b) {
  const LoopPlace *all = b->k->places.at;
  const LoopBody *body = &b->loop->body;
  bool *stores = NEW_ARRAY(b->arena, bool, b->k->places.len + 1);
  for (uint32_t i = 0; i < body->len; i++) {
    if (body->at[i]->kind == LOOP_FETCH) return false;
    if (body->at[i]->kind == LOOP_STORE) stores[body->at[i]->place] = true;
  }
  ExprNodes reads = loop_nodes(b->arena, body, HAS_READ);
  for (const Expr *e; (e = expr_next_read(&reads));)
    for (uint32_t i = 0; i < b->k->places.len; i++)
      if (stores[i] && (i == e->i || (all[i].space == SPACE_BUFFER && all[e->i].space == SPACE_BUFFER &&
                                         all[i].buffer == all[e->i].buffer)))
        return false;
  return true;
}

/* The bytes of the widest element that it stores; 0: it stores nothing. */
static int64_t bytes_stored(const Border *b) {
  int64_t most = 0;
  vec_each_of(const LoopStmt, in, b->loop->body) {
    int64_t n = in->kind == LOOP_STORE ? dtype_size(b->k->places.at[in->place].dtype) : 0;
    if (n > most) most = n;
  }
  return most;
}

/* Adds the loop over the interior, where it has few vectors as two loops over whole ones. */
static void inside_put(Border *b, LoopBody *to, const Expr *lo, const Expr *hi) {
  int64_t bytes = bytes_stored(b), n = 0;
  bool known = bytes && b->loop->bind == BIND_VECTOR && lo->kind == EX_INT && hi->kind == EX_INT;
  known = known && sub_ok(hi->i, lo->i, &n);
  int64_t one = known ? VECTOR / bytes : 1, many = VECTORS * one;
  if (known && n < many) many = one;
  int64_t rest = n % many, last = (rest + one - 1) / one * one;
  if (!rest || n < many || n > WHOLE_MOST * VECTORS * one || !may_repeat(b)) {
    range_put(b, to, lo, hi, &b->inside, false, b->loop->bind);
    return;
  }
  const Expr *end = expr_int(b->x, DT_I64, hi->i - rest), *from = expr_int(b->x, DT_I64, hi->i - last);
  range_put(b, to, lo, end, &b->inside, false, b->loop->bind);
  range_put(b, to, from, hi, &b->inside, true, b->loop->bind);
}

/* Adds the loops below, inside and above: each may be empty, and together they cover the loop, whichever end comes
 * first. */
static void ranges_put(Border *b, LoopBody *to) {
  const LoopStmt *s = b->loop;
  Map nothing = map_new(b->arena);
  const Expr *from = b->low ? expr_op2(b->x, OP_MAX, s->lo, b->low) : s->lo;
  const Expr *end = b->high ? expr_op2(b->x, OP_MIN, s->hi, b->high) : s->hi;
  bool low = b->low_exact && b->lows == 1, high = b->high_exact && b->highs == 1;
  const Map *below = low ? &b->below : &nothing, *above = high ? &b->above : &nothing;
  if (b->low) range_put(b, to, s->lo, expr_op2(b->x, OP_MIN, s->hi, b->low), below, true, low ? s->bind : BIND_SEQ);
  inside_put(b, to, from, end);
  if (b->high) range_put(b, to, expr_op2(b->x, OP_MAX, from, end), s->hi, above, true, high ? s->bind : BIND_SEQ);
}

static void loop_put(Border *b, LoopBody *to) {
  if (!b->fixed) {
    ranges_put(b, to);
    return;
  }
  Map nothing = map_new(b->arena);
  LoopStmt *s = MAKE(b->p->arena, LoopStmt, .kind = LOOP_IF, .cond = b->fixed);
  range_put(b, &s->other, b->loop->lo, b->loop->hi, b->one ? &b->outside : &nothing, true, b->loop->bind);
  ranges_put(b, &s->body);
  vec_push(b->p->arena, *to, s);
}

static void body_cut(Border *b, LoopBody *body) {
  LoopBody made = {0};
  vec_each_of(LoopStmt, s, *body) {
    if (s->kind == LOOP_INDEX) b->index[s->var] = s->lo;
    body_cut(b, &s->body);
    body_cut(b, &s->other);
    if (loop_look(b, s)) loop_put(b, &made);
    else vec_push(b->p->arena, made, s);
  }
  *body = made;
}

void finish_border(LoopProgram *p, LoopKernel *k) {
  Arena *a = arena_new();
  Border b = {.p = p, .k = k, .x = p->tasks->exprs, .arena = a, .copy = loop_copies(p, k, a)};
  b.index = NEW_ARRAY(a, const Expr *, k->var.len + 1);
  body_cut(&b, &k->body);
  arena_free(a);
}
