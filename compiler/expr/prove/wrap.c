/* expr/prove/wrap.c - handles sums that wrap around. The prover's integers are unbounded, a machine's have 64 bits:
 * nothing follows for `P[i] + j` from `P[i] >= 0 and P[i] + j < n` if P[i] may be 2^63 - 1. In: facts and a goal.
 * Out: the same, where each sum, product, negation or abs of data that may exceed 64 bits is replaced by an unknown,
 * one for equal polynomials; so statements about the whole expression still hold, and no others.
 *
 * The facts themselves bound the data: `P[i] < n` bounds P[i] from above, so `P[i] + j` does not wrap, and what that
 * is compared with may give more bounds. If a sum that may wrap lies between two bounds, its data part is as small,
 * as far as 64 bits can tell, and other sums of the same data do not wrap either. Sizes and indices alone are not
 * handled here (in_range.c). */
#include "expr/pool.h"
#include "proof.h"

enum { MOST_ROUNDS = 16, MOST_COMPARED = 64 };

static const int64_t MOST_SIZE = (int64_t)1 << 40; /* for a symbolic size, a label below one, a turn */
static const int64_t UNKNOWN = (int64_t)1 << 40;   /* the first slot of reads that represent unknowns */

typedef struct Span { int64_t lo, hi; bool data; } Span; /* data: an end depends on data, or is unknown */
static const Span ANY = {INT64_MIN, INT64_MAX, true};

typedef struct Tame {
  Arena *arena;
  Exprs *p;
  const Facts *f;
  Map span;   /* for this round: Expr -> Span */
  Map bound;  /* bounds by the facts, of data and unknowns: Expr -> Span */
  Map of;     /* an unknown -> what it is of */
  Walk *done; /* this round's results */
  bool grew, any;
} Tame;

static bool is_i64(const Expr *e) { return e->kind == EX_OP && e->dtype == DT_I64; }
static bool is_poly(const Expr *e) { return is_i64(e) && (e->op == OP_ADD || e->op == OP_SUB || e->op == OP_MUL); }

/* ---- spans ----------------------------------------------------------------------------------- */

static Span narrowed(const Tame *t, const Expr *e, Span s) {
  const Span *b = map_find(&t->bound, e);
  if (b && b->lo > s.lo) s.lo = b->lo;
  if (b && b->hi < s.hi) s.hi = b->hi;
  return s;
}

static Span span_get(const Tame *t, const Expr *e) {
  const Span *s = map_find(&t->span, e);
  return e->kind == EX_INT ? (Span){e->i, e->i, false} : s ? *s : narrowed(t, e, ANY);
}

static Span hull(Span a, Span b) {
  return (Span){a.lo < b.lo ? a.lo : b.lo, a.hi > b.hi ? a.hi : b.hi, a.data || b.data};
}

static bool span_add(Span a, Span b, Span *out) {
  out->data = a.data || b.data;
  return add_ok(a.lo, b.lo, &out->lo) && add_ok(a.hi, b.hi, &out->hi);
}

static bool span_mul(Span a, Span b, Span *out) {
  int64_t x[4];
  Span r = {0, 0, a.data || b.data};
  if (!mul_ok(a.lo, b.lo, &x[0]) || !mul_ok(a.lo, b.hi, &x[1]) || !mul_ok(a.hi, b.lo, &x[2]) ||
      !mul_ok(a.hi, b.hi, &x[3]))
    return false;
  r.lo = r.hi = x[0];
  for (int i = 1; i < 4; i++) r = hull(r, (Span){x[i], x[i], false});
  *out = r;
  return true;
}

/* The span of c*m; false: it may overflow. `data` is right in any case. */
static bool term_span(const Tame *t, Term x, Span *out) {
  const Expr *atom[MOST_DEGREE];
  uint32_t n = x.m ? monomial_atoms(x.m, atom) : 0;
  bool fits = x.c != INT64_MIN && (n || !x.m), data = !fits;
  *out = (Span){x.c, x.c, false};
  for (uint32_t i = 0; i < n; i++) {
    Span s = span_get(t, atom[i]);
    data = data || s.data;
    fits = fits && span_mul(*out, s, out);
  }
  out->data = data;
  return fits;
}

typedef enum { TERMS_ALL, TERMS_DATA, TERMS_SIZES } Which;

static bool poly_span(const Tame *t, const Expr *e, Which which, Span *out) {
  bool fits = true, data = false;
  *out = (Span){0, 0, false};
  for (const Expr *rest = e; rest;) {
    Span s;
    bool ok = term_span(t, term_next(&rest), &s);
    if (which != TERMS_ALL && s.data != (which == TERMS_DATA)) continue;
    data = data || s.data;
    fits = fits && ok && span_add(*out, s, out);
  }
  out->data = data;
  return fits;
}

static Span span_int(DType d) {
  if (d == DT_I64 || dtype_is_float(d)) return ANY;
  if (d == DT_BOOL || d == DT_U8) return (Span){0, d == DT_U8 ? UINT8_MAX : 1, true};
  int64_t half = (int64_t)1 << (8 * dtype_size(d) - 1);
  return (Span){-half, half - 1, true};
}

static Span span_below(const Expr *extent) {
  if (!extent) return ANY;
  if (extent->kind != EX_INT) return (Span){0, MOST_SIZE, false};
  return (Span){0, extent->i > 0 ? extent->i - 1 : 0, false};
}

static Span span_quotient(Span a, Span b) {
  if (b.lo > 0 && b.lo == b.hi) return (Span){floor_div(a.lo, b.lo), floor_div(a.hi, b.lo), a.data};
  if (a.lo >= 0 && b.lo >= 0) return (Span){0, a.hi, a.data || b.data};
  return (Span){INT64_MIN, INT64_MAX, a.data || b.data};
}

static Span span_op(const Tame *t, const Expr *e) {
  Span a = span_get(t, e->arg[0]), b = e->n > 1 ? span_get(t, e->arg[1]) : a;
  switch (e->op) {
  case OP_CAST: return span_int((DType)e->arg[0]->dtype);
  case OP_MAX: case OP_FMAX: return (Span){a.lo > b.lo ? a.lo : b.lo, a.hi > b.hi ? a.hi : b.hi, a.data || b.data};
  case OP_MIN: case OP_FMIN: return (Span){a.lo < b.lo ? a.lo : b.lo, a.hi < b.hi ? a.hi : b.hi, a.data || b.data};
  case OP_SELECT: return hull(b, span_get(t, e->arg[2]));
  case OP_IDIV: return span_quotient(a, b);
  case OP_MOD:
    return b.lo >= 0 ? (Span){0, b.hi > 0 ? b.hi - 1 : 0, a.data || b.data}
                     : (Span){INT64_MIN, INT64_MAX, a.data || b.data};
  case OP_NEG: return (Span){-a.hi, -a.lo, a.data};
  case OP_ABS: return (Span){0, a.hi > -a.lo ? a.hi : -a.lo, a.data};
  default: return ANY;
  }
}

static Span span_leaf(const Tame *t, const Expr *e) {
  uint64_t k = (uint64_t)e->i;
  switch ((ExprKind)e->kind) {
  case EX_DIM: return (Span){0, MOST_SIZE, false};
  case EX_LABEL: return k < t->f->n_label ? span_below(t->f->label[k]) : ANY;
  case EX_TURN: return (Span){0, MOST_SIZE, false};
  default: return ANY;
  }
}

/* ---- what may wrap becomes an unknown ---------------------------------------------------------- */

static const Expr *unknown_of(Tame *t, const Expr *e) {
  const Expr *u = expr_read(t->p, DT_I64, UNKNOWN + e->id, 0, NULL);
  map_put(&t->of, u, (void *)(uintptr_t)e);
  t->any = true;
  return u;
}

/* Splits a polynomial into its data part, as one atom or (true) the negation of one, and the rest. */
static bool data_atom(Tame *t, const Expr *e, const Expr **atom, const Expr **others) {
  Exprs *p = t->p;
  const Expr *zero = expr_int(p, DT_I64, 0), *data = zero;
  *others = zero;
  for (const Expr *rest = e; rest;) {
    Term x = term_next(&rest);
    Span s;
    term_span(t, x, &s);
    const Expr *c = expr_int(p, DT_I64, x.c), *m = x.m ? expr_op2(p, OP_MUL, c, x.m) : c,
               **to = s.data ? &data : others;
    *to = expr_op2(p, OP_ADD, *to, m);
  }
  data = expr_normal(p, data);
  *others = expr_normal(p, *others);
  const Expr *rest = data;
  bool minus = term_next(&rest).c < 0;
  if (minus) data = expr_normal(p, expr_op2(p, OP_SUB, zero, data));
  *atom = is_poly(data) ? unknown_of(t, data) : data;
  return minus;
}

/* The span of -x, where x is not the least number. */
static Span span_minus(Span s) {
  return (Span){s.hi == INT64_MAX ? INT64_MIN : -s.hi, s.lo == INT64_MIN ? INT64_MAX : -s.lo, s.data};
}

static void span_put(Tame *t, const Expr *e, Span s) {
  map_put(&t->span, e, arena_copy(t->arena, &s, sizeof s));
}

/* Its atoms are tame. */
static const Expr *poly_tamed(Tame *t, const Expr *e) {
  Span s, d, o;
  const Expr *data, *others;
  if (!is_poly(e)) return e;
  if (poly_span(t, e, TERMS_ALL, &s)) {
    span_put(t, e, narrowed(t, e, s));
    return e;
  }
  if (!s.data) { /* sizes and indices stay as they are */
    span_put(t, e, (Span){INT64_MIN, INT64_MAX, false});
    return e;
  }
  if (!poly_span(t, e, TERMS_SIZES, &o)) return unknown_of(t, e);
  bool minus = data_atom(t, e, &data, &others);
  d = span_get(t, data);
  if (d.lo == INT64_MIN || !span_add(minus ? span_minus(d) : d, o, &s)) return unknown_of(t, e);
  const Expr *sum = expr_normal(t->p, expr_op2(t->p, minus ? OP_SUB : OP_ADD, others, data));
  span_put(t, sum, s);
  return sum;
}

static const Expr *result(const Tame *t, const Expr *e) {
  const Expr *to = walk_find(t->done, e);
  return to ? to : e;
}

static const Expr *poly_rebuilt(Tame *t, const Expr *e) {
  Exprs *p = t->p;
  const Expr *sum = expr_int(p, DT_I64, 0), *atom[MOST_DEGREE];
  bool same = true;
  for (const Expr *rest = e; rest;) {
    Term x = term_next(&rest);
    uint32_t n = x.m ? monomial_atoms(x.m, atom) : 0;
    const Expr *m = expr_int(p, DT_I64, x.c);
    if (x.m && !n) return unknown_of(t, e);
    for (uint32_t i = 0; i < n; i++) {
      same = same && result(t, atom[i]) == atom[i];
      m = expr_op2(p, OP_MUL, m, result(t, atom[i]));
    }
    sum = expr_op2(p, OP_ADD, sum, m);
  }
  return poly_tamed(t, same ? e : expr_normal(p, sum));
}

static const Expr *op_rebuilt(Tame *t, const Expr *e) {
  const Expr *few[8], **arg = e->n <= COUNT(few) ? few : NEW_ARRAY(t->arena, const Expr *, e->n);
  for (uint32_t k = 0; k < e->n; k++) arg[k] = result(t, e->arg[k]);
  const Expr *to = expr_with(t->p, e, arg);
  if (!is_i64(to)) return to;
  Span a = span_get(t, to->arg[0]);
  if ((to->op == OP_ABS || to->op == OP_NEG) && a.lo == INT64_MIN) return a.data ? unknown_of(t, to) : to;
  span_put(t, to, narrowed(t, to, span_op(t, to)));
  return to;
}

/* Pushes what must be tamed before e; false: nothing. */
static bool push_parts(Tame *t, const Expr *e) {
  Walk *w = t->done;
  const Expr *atom[MOST_DEGREE];
  uint32_t before = w->stack.len;
  if (!is_poly(e)) {
    for (uint32_t k = e->n; k-- > 0;)
      if (!walk_find(w, e->arg[k])) vec_push(t->p->arena, w->stack, e->arg[k]);
    return w->stack.len > before;
  }
  for (const Expr *rest = e; rest;) {
    Term x = term_next(&rest);
    uint32_t n = x.m ? monomial_atoms(x.m, atom) : 0;
    for (uint32_t i = 0; i < n; i++)
      if (!walk_find(w, atom[i])) vec_push(t->p->arena, w->stack, atom[i]);
  }
  return w->stack.len > before;
}

static const Expr *tamed(Tame *t, const Expr *top) {
  Walk *w = t->done;
  vec_push(t->p->arena, w->stack, top);
  while (w->stack.len) {
    const Expr *e = vec_last(w->stack), *normal = e->dtype == DT_I64 ? expr_normal(t->p, e) : e, *to;
    if (!walk_find(w, e)) {
      if (normal != e && !walk_find(w, normal)) {
        vec_push(t->p->arena, w->stack, normal);
        continue;
      }
      if (normal != e) {
        to = result(t, normal);
      } else if (e->kind != EX_OP) {
        to = e;
        if (e->dtype == DT_I64 && e->kind != EX_INT) span_put(t, e, narrowed(t, e, span_leaf(t, e)));
      } else {
        if (push_parts(t, e)) continue;
        to = is_poly(e) ? poly_rebuilt(t, e) : op_rebuilt(t, e);
      }
      walk_put(t->p, w, e, to);
    }
    w->stack.len--;
  }
  return result(t, top);
}

/* ---- what facts say of data -------------------------------------------------------------------- */

static void bound_add(Tame *t, const Expr *e, Span s) {
  Span *old = map_find(&t->bound, e);
  if (!old) {
    old = arena_copy(t->arena, &ANY, sizeof ANY);
    map_put(&t->bound, e, old);
  }
  if (s.lo > old->lo) old->lo = s.lo, t->grew = true;
  if (s.hi < old->hi) old->hi = s.hi, t->grew = true;
}

/* For a sum between two bounds: its data part equals, in 64 bits, the sum less the rest. */
static void bound_data(Tame *t, const Expr *unknown) {
  const Expr *e = map_find(&t->of, unknown), *data, *others;
  const Span *b = map_find(&t->bound, unknown);
  Span o, minus, s;
  if (!e || !b || !is_poly(e) || !poly_span(t, e, TERMS_SIZES, &o) || o.lo == INT64_MIN) return;
  minus = (Span){-o.hi, -o.lo, false};
  bool contrary = data_atom(t, e, &data, &others);
  if (data == unknown || b->lo == INT64_MIN || !span_add(*b, minus, &s) || s.lo == INT64_MIN) return;
  bound_add(t, data, contrary ? span_minus(s) : s);
}

/* e lies in `all` and does not wrap, so each of its terms lies in what the others leave. */
static void bound_by(Tame *t, const Expr *e, Span all) {
  for (const Expr *rest = e; rest;) {
    Term x = term_next(&rest);
    const Expr *atom[MOST_DEGREE];
    Span others = {0, 0, false}, s;
    bool fits = x.m && x.c && x.c != INT64_MIN && monomial_atoms(x.m, atom) == 1 && span_get(t, atom[0]).data;
    for (const Expr *more = e; more && fits;) {
      Term y = term_next(&more);
      if (y.m != x.m) fits = term_span(t, y, &s) && span_add(others, s, &others);
    }
    if (!fits || others.lo == INT64_MIN) continue;
    int64_t lo, hi;
    bool low = all.lo != INT64_MIN && sub_ok(all.lo, others.hi, &lo) && lo != INT64_MIN;
    bool high = all.hi != INT64_MAX && sub_ok(all.hi, others.lo, &hi) && hi != INT64_MIN;
    Span b = ANY;
    if (low && x.c > 0) b.lo = -floor_div(-lo, x.c);
    if (low && x.c < 0) b.hi = floor_div(-lo, -x.c);
    if (high && x.c > 0) b.hi = floor_div(hi, x.c);
    if (high && x.c < 0) b.lo = -floor_div(hi, -x.c);
    bound_add(t, atom[0], b);
    bound_data(t, atom[0]);
  }
}

/* a + k <= b */
static void compared(Tame *t, const Expr *a, int64_t k, const Expr *b) {
  Span x = span_get(t, a), y = span_get(t, b);
  int64_t most, least;
  if (sub_ok(y.hi, k, &most)) bound_by(t, a, (Span){INT64_MIN, most, true});
  if (add_ok(x.lo, k, &least)) bound_by(t, b, (Span){least, INT64_MAX, true});
}

static void literal_said(Tame *t, const Expr *e, bool not) {
  if (e->kind != EX_OP || op_info[e->op].rule != RULE_COMPARE || !dtype_is_int((DType)e->arg[0]->dtype)) return;
  const Expr *a = tamed(t, expr_cast(t->p, DT_I64, e->arg[0])), *b = tamed(t, expr_cast(t->p, DT_I64, e->arg[1]));
  switch (not ? op_contrary((Op)e->op) : (Op)e->op) {
  case OP_LT: compared(t, a, 1, b); break;
  case OP_LE: compared(t, a, 0, b); break;
  case OP_GT: compared(t, b, 1, a); break;
  case OP_GE: compared(t, b, 0, a); break;
  case OP_EQ: compared(t, a, 0, b), compared(t, b, 0, a); break;
  default: break;
  }
}

typedef struct Said { const Expr *e; bool not; } Said;

static void said(Tame *t, const Expr *top, bool top_not) {
  VEC(Said) todo = {0};
  uint32_t met = 0;
  vec_push(t->arena, todo, ((Said){top, top_not}));
  while (todo.len && met++ < MOST_COMPARED) {
    Said s = vec_pop(todo);
    if (s.e->kind == EX_OP && s.e->op == OP_NOT)
      vec_push(t->arena, todo, ((Said){s.e->arg[0], !s.not}));
    else if (s.e->kind == EX_OP && s.e->op == (s.not ? OP_OR : OP_AND))
      for (uint32_t k = 0; k < 2; k++) vec_push(t->arena, todo, ((Said){s.e->arg[k], s.not}));
    else
      literal_said(t, s.e, s.not);
  }
}

/* ---- entry point ------------------------------------------------------------------------------- */

static bool any_data(const Facts *f, const Expr *goal) {
  unsigned has = goal->has, drawn = goal->drawn;
  for (uint32_t i = 0; i < f->n_hold; i++) has |= f->hold[i]->has, drawn |= f->hold[i]->drawn;
  return drawn || has & (HAS_READ | HAS_PARAM);
}

bool without_wraps(Exprs *p, const Facts *f, const Expr *goal, bool fails, const Expr **hold, const Expr **goal_out) {
  *goal_out = goal;
  for (uint32_t i = 0; i < f->n_hold; i++) hold[i] = f->hold[i];
  if (!any_data(f, goal)) return false;
  Arena *a = arena_new();
  Tame t = {.arena = a, .p = p, .f = f, .bound = map_new(a), .of = map_new(a)};
  for (int round = 0; round < MOST_ROUNDS; round++) {
    t.span = map_new(a);
    t.grew = t.any = false;
    t.done = walk_take(p);
    for (uint32_t i = 0; i < f->n_hold; i++) hold[i] = tamed(&t, f->hold[i]);
    *goal_out = tamed(&t, goal);
    for (uint32_t i = 0; t.any && i < f->n_hold; i++) said(&t, f->hold[i], false);
    if (t.any && fails) said(&t, goal, true);
    walk_give(p, t.done);
    if (!t.any || !t.grew) break;
  }
  arena_free(a);
  return t.any;
}
