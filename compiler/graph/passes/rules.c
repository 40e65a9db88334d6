/* graph/passes/rules.c - the laws of scalar operations that change no answer, as a table of patterns, and the code
 * that applies them from the leaves up.
 *
 * The sign of a zero and the bits of a NaN are not part of an answer (language.md, "What is part of an answer"); but
 * NaN and infinity propagate: x * 0 and x - x are 0 for integers only. An argument that a rule drops is no longer
 * computed, so it must not be able to fail. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rebuild.h"

/* The dtype of the first argument. HALVES: c is a power of two whose inverse is exact; LABELS: integers, and nothing
 * is read; OF_INTS, OF_FLOATS: the dtype of its own first argument. */
typedef enum { ANY, INTS, FLOATS, BOOLS, HALVES, LABELS, OF_INTS, OF_FLOATS } Side;

/* In patterns x y z match anything, c d literals, and 0 1 2 -1 inf true false themselves, in any dtype; commutative
 * operations match in either order. In results, numbers have the dtype of the whole; inv(c) is 1/c. */
static const struct { const char *from; Side side; const char *to; } rules[] = {
  /* arithmetic */
  {"add(x, 0)", ANY, "x"},
  {"sub(x, 0)", ANY, "x"},
  {"sub(0, x)", ANY, "neg(x)"},
  {"sub(x, x)", INTS, "0"},
  {"mul(x, 1)", ANY, "x"},
  {"mul(x, 0)", INTS, "0"},
  {"mul(x, -1)", ANY, "neg(x)"},
  {"div(x, 1)", FLOATS, "x"},
  {"div(x, -1)", FLOATS, "neg(x)"},
  {"div(x, c)", HALVES, "mul(x, inv(c))"},
  {"idiv(x, 1)", INTS, "x"},
  {"idiv(x, 0)", INTS, "0"},
  {"mod(x, 1)", INTS, "0"},
  {"mod(x, 0)", INTS, "0"},
  {"pow(x, 0)", ANY, "1"},
  {"pow(x, 1)", ANY, "x"},
  {"pow(x, 2)", ANY, "mul(x, x)"},
  {"pow(x, -1)", FLOATS, "div(1, x)"},
  {"add(add(x, c), d)", INTS, "add(x, add(c, d))"},
  {"add(sub(x, c), d)", INTS, "add(x, sub(d, c))"},
  {"sub(add(x, c), d)", INTS, "add(x, sub(c, d))"},
  {"mul(mul(x, c), d)", INTS, "mul(x, mul(c, d))"},
  {"neg(neg(x))", ANY, "x"},
  {"neg(sub(x, y))", ANY, "sub(y, x)"},
  {"add(x, neg(y))", ANY, "sub(x, y)"},
  {"sub(x, neg(y))", ANY, "add(x, y)"},
  {"mul(neg(x), neg(y))", ANY, "mul(x, y)"},
  {"div(neg(x), neg(y))", FLOATS, "div(x, y)"},
  {"abs(neg(x))", ANY, "abs(x)"},
  {"abs(abs(x))", ANY, "abs(x)"},
  {"sign(sign(x))", ANY, "sign(x)"},
  {"floor(floor(x))", ANY, "floor(x)"},
  {"ceil(ceil(x))", ANY, "ceil(x)"},
  {"trunc(trunc(x))", ANY, "trunc(x)"},
  {"round(round(x))", ANY, "round(x)"},
  {"max(x, x)", ANY, "x"},
  {"min(x, x)", ANY, "x"},
  {"fmax(x, x)", ANY, "x"},
  {"fmin(x, x)", ANY, "x"},
  {"max(x, neg(x))", FLOATS, "abs(x)"},
  {"max(sub(x, y), sub(y, x))", FLOATS, "abs(sub(x, y))"},
  {"sub(max(x, y), min(x, y))", FLOATS, "abs(sub(x, y))"},
  {"max(x, -inf)", FLOATS, "x"},
  {"min(x, inf)", FLOATS, "x"},

  /* comparisons: a float may be NaN, which is unequal to itself */
  {"eq(x, x)", INTS, "true"},
  {"le(x, x)", INTS, "true"},
  {"ge(x, x)", INTS, "true"},
  {"ne(x, x)", INTS, "false"},
  {"lt(x, x)", INTS, "false"},
  {"gt(x, x)", INTS, "false"},
  {"le(abs(x), y)", LABELS, "and(le(x, y), le(neg(x), y))"}, /* so that each bounds a loop */
  {"lt(abs(x), y)", LABELS, "and(lt(x, y), lt(neg(x), y))"},
  {"ge(x, abs(y))", LABELS, "and(ge(x, y), ge(x, neg(y)))"},
  {"gt(x, abs(y))", LABELS, "and(gt(x, y), gt(x, neg(y)))"},
  {"eq(x, x)", BOOLS, "true"},
  {"ne(x, x)", BOOLS, "false"},
  {"eq(x, true)", BOOLS, "x"},
  {"ne(x, false)", BOOLS, "x"},
  {"eq(x, false)", BOOLS, "not(x)"},
  {"ne(x, true)", BOOLS, "not(x)"},
  {"not(eq(x, y))", ANY, "ne(x, y)"},
  {"not(ne(x, y))", ANY, "eq(x, y)"},
  {"not(lt(x, y))", OF_INTS, "ge(x, y)"},
  {"not(le(x, y))", OF_INTS, "gt(x, y)"},
  {"not(gt(x, y))", OF_INTS, "le(x, y)"},
  {"not(ge(x, y))", OF_INTS, "lt(x, y)"},

  /* logic */
  {"not(not(x))", ANY, "x"},
  {"and(x, x)", ANY, "x"},
  {"or(x, x)", ANY, "x"},
  {"and(x, not(x))", ANY, "false"},
  {"or(x, not(x))", ANY, "true"},
  {"select(true, x, y)", ANY, "x"},
  {"select(false, x, y)", ANY, "y"},
  {"select(x, y, y)", ANY, "y"},
  {"select(not(x), y, z)", ANY, "select(x, z, y)"},
  {"select(ne(x, y), z, u)", ANY, "select(eq(x, y), u, z)"},
  {"select(x, true, false)", ANY, "x"},
  {"select(x, false, true)", ANY, "not(x)"},
  {"select(lt(x, 0), neg(x), x)", OF_FLOATS, "abs(x)"},
  {"select(le(x, 0), neg(x), x)", OF_FLOATS, "abs(x)"},
  {"select(gt(x, 0), x, neg(x))", OF_FLOATS, "abs(x)"},
  {"select(ge(x, 0), x, neg(x))", OF_FLOATS, "abs(x)"},
  {"select(lt(x, y), sub(y, x), sub(x, y))", OF_FLOATS, "abs(sub(x, y))"},
  {"select(gt(x, y), sub(x, y), sub(y, x))", OF_FLOATS, "abs(sub(x, y))"},
  {"select(le(x, y), sub(y, x), sub(x, y))", OF_FLOATS, "abs(sub(x, y))"},
  {"select(ge(x, y), sub(x, y), sub(y, x))", OF_FLOATS, "abs(sub(x, y))"},
  {"select(x, select(x, y, u), z)", ANY, "select(x, y, z)"},
  {"select(x, y, select(x, u, z))", ANY, "select(x, y, z)"},
};

typedef enum { PAT_ANY, PAT_LITERAL, PAT_NUMBER, PAT_BOOL, PAT_OP, PAT_INVERSE } PatKind;
typedef struct Pat {
  PatKind kind;
  Op op;
  uint32_t n;
  int var;                   /* PAT_ANY, PAT_LITERAL, PAT_INVERSE */
  double number;             /* PAT_NUMBER, PAT_BOOL */
  struct Pat *arg[3];
} Pat;

enum { VARS = 26, FUEL = 64, CHOICES_MOST = 8, FACTORS_MOST = 8 };
typedef struct Law {
  const Pat *from, *to;
  Side side;
  unsigned dropped;          /* bits of the variables that the result lacks */
  struct Law *next;
} Law;

struct Rules {
  Arena *arena;
  Exprs *p;
  Law *by_op[OPS];
  Map done;                  /* an expression to its result */
  int fuel;                  /* of the current expression: a limit, in case two rules ever undo each other */
  uint32_t *count;
  const Expr *bound[VARS];
};

/* ---- the table, read ------------------------------------------------------------------------- */

static Pat *pat_read(Arena *a, const char **s) {
  Pat *p = NEW(a, Pat);
  size_t n = strcspn(*s, "(), ");
  const char *w = *s;
  *s += n;
  if (**s == '(') {
    p->kind = PAT_OP;
    bool known = op_find(w, n, &p->op);
    do {
      *s += 1 + (**s == ',');
      BUG_UNLESS(p->n < 3);
      p->arg[p->n++] = pat_read(a, s);
    } while (**s == ',');
    ++*s;
    if (known) return p;
    BUG_UNLESS(n == 3 && memcmp(w, "inv", 3) == 0);
    p->kind = PAT_INVERSE;
    p->var = p->arg[0]->var;
  } else if (n == 1 && *w >= 'a' && *w <= 'z') {
    p->kind = *w < 'u' ? PAT_LITERAL : PAT_ANY;
    p->var = *w - 'a';
  } else if (n >= 4 && (*w == 't' || (*w == 'f'))) {
    p->kind = PAT_BOOL;
    p->number = *w == 't';
  } else {
    p->kind = PAT_NUMBER;
    p->number = w[n - 1] == 'f' ? (*w == '-' ? -(double)INFINITY : (double)INFINITY) : strtod(w, NULL);
  }
  return p;
}

static unsigned pat_vars(const Pat *p) {
  unsigned vars = 0;
  if (p->kind == PAT_ANY || p->kind == PAT_LITERAL) vars = 1u << p->var;
  for (uint32_t i = 0; i < p->n; i++) vars |= pat_vars(p->arg[i]);
  return vars;
}

Rules *rules_new(Arena *a, Exprs *p) {
  Rules *r = MAKE(a, Rules, .arena = a, .p = p, .done = map_new(a));
  for (uint32_t i = COUNT(rules); i-- > 0;) {
    Law *l = NEW(a, Law);
    const char *from = rules[i].from, *to = rules[i].to;
    l->from = pat_read(a, &from);
    l->to = pat_read(a, &to);
    l->side = rules[i].side;
    l->dropped = pat_vars(l->from) & ~pat_vars(l->to);
    l->next = r->by_op[l->from->op];
    r->by_op[l->from->op] = l;
  }
  return r;
}

/* ---- matching -------------------------------------------------------------------------------- */

static bool is_literal(const Expr *e) {
  return e->kind == EX_INT || e->kind == EX_REAL;
}

static bool is_number(const Expr *e, double v) {
  return e->kind == EX_REAL ? e->f == v : e->kind == EX_INT && e->dtype != DT_BOOL && (double)e->i == v;
}

static bool match(Rules *r, const Pat *p, const Expr *e);

static bool match_args(Rules *r, const Pat *p, const Expr *e, bool swapped) {
  const Expr *before[VARS];
  memcpy(before, r->bound, sizeof before);
  for (uint32_t i = 0; i < p->n; i++) {
    if (match(r, p->arg[i], e->arg[swapped ? 1 - i : i])) continue;
    memcpy(r->bound, before, sizeof before);
    return false;
  }
  return true;
}

static bool match(Rules *r, const Pat *p, const Expr *e) {
  switch (p->kind) {
  case PAT_LITERAL:
  case PAT_ANY:
    if (p->kind == PAT_LITERAL && !is_literal(e)) return false;
    if (r->bound[p->var]) return r->bound[p->var] == e;
    r->bound[p->var] = e;
    return true;
  case PAT_NUMBER: return is_number(e, p->number);
  case PAT_BOOL: return e->kind == EX_INT && e->dtype == DT_BOOL && (double)e->i == p->number;
  case PAT_OP:
    if (e->kind != EX_OP || e->op != p->op || e->n != p->n) return false;
    if (match_args(r, p, e, false)) return true;
    return e->n == 2 && (op_info[e->op].laws & LAW_COMMUTATIVE) && match_args(r, p, e, true);
  case PAT_INVERSE: break;
  }
  return false;
}

/* Whether it is a power of two whose inverse is one too, exact in the dtype and not subnormal. */
static bool halves(const Expr *c) {
  int k;
  if (!c || c->kind != EX_REAL || !isfinite(c->f) || fabs(frexp(c->f, &k)) != 0.5) return false;
  int most = c->dtype == DT_F64 ? 1000 : c->dtype == DT_F16 ? 14 : 120;
  return k > -most && k < most;
}

static bool side_holds(const Rules *r, Side side, const Expr *e) {
  DType t = (DType)e->arg[0]->dtype;
  switch (side) {
  case ANY: return true;
  case INTS: return dtype_is_int(t);
  case FLOATS: return dtype_is_float(t);
  case BOOLS: return t == DT_BOOL;
  case OF_INTS: return dtype_is_int((DType)e->arg[0]->arg[0]->dtype);
  case OF_FLOATS: return dtype_is_float((DType)e->arg[0]->arg[0]->dtype);
  case LABELS: return dtype_is_int(t) && !(e->has & HAS_READ);
  case HALVES: return halves(r->bound['c' - 'a']);
  }
  return false;
}

/* ---- results --------------------------------------------------------------------------------- */

static const Expr *settle(Rules *r, const Expr *e);

static const Expr *pat_build(Rules *r, const Pat *p, const Expr *const *bound, DType t) {
  const Expr *arg[3];
  switch (p->kind) {
  case PAT_ANY:
  case PAT_LITERAL: return bound[p->var];
  case PAT_BOOL: return expr_bool(r->p, p->number != 0);
  case PAT_NUMBER:
    return dtype_is_float(t) ? expr_real(r->p, t, p->number) : expr_int(r->p, t, (int64_t)p->number);
  case PAT_INVERSE: return expr_real(r->p, t, 1 / bound[p->var]->f);
  case PAT_OP: break;
  }
  for (uint32_t i = 0; i < p->n; i++) arg[i] = pat_build(r, p->arg[i], bound, t);
  return settle(r, expr_op(r->p, p->op, p->n, arg));
}

static bool may_drop(Rules *r, unsigned vars) {
  for (int v = 0; v < VARS; v++)
    if ((vars >> v & 1) && expr_can_fail(r->bound[v])) return false;
  return true;
}

static const Expr *by_table(Rules *r, const Expr *e) {
  for (const Law *l = r->by_op[e->op]; l; l = l->next) {
    memset(r->bound, 0, sizeof r->bound);
    if (!match(r, l->from, e) || !side_holds(r, l->side, e) || !may_drop(r, l->dropped)) continue;
    const Expr *bound[VARS];
    memcpy(bound, r->bound, sizeof bound);
    return pat_build(r, l->to, bound, (DType)e->dtype);
  }
  return NULL;
}

/* Folds an expression whose arguments are all literals, if the language defines the value. */
static const Expr *fold(Rules *r, const Expr *e) {
  Value v[3];
  OpRule rule = op_info[e->op].rule;
  if (rule == RULE_RANDOM || rule == RULE_INDEX || rule == RULE_CAST || rule == RULE_EXTERN) return NULL;
  for (uint32_t i = 0; i < e->n; i++) {
    if (!is_literal(e->arg[i])) return NULL;
    v[i] = (Value){.dtype = (DType)e->arg[i]->dtype, .i = e->arg[i]->i};
    if (e->arg[i]->kind == EX_REAL) v[i].f = e->arg[i]->f;
  }
  Value x = op_value((Op)e->op, (DType)e->dtype, e->n, v);
  return dtype_is_float(x.dtype) ? expr_real(r->p, x.dtype, x.f) : expr_int(r->p, x.dtype, x.i);
}

/* Whether every value of a is a value of b. */
static bool dtype_within(DType a, DType b) {
  static const int digits[DTYPES] = {53, 24, 11, 8, 63, 31, 15, 7, 8, 1};
  if (a == b) return true;
  if (dtype_is_float(a)) return dtype_is_float(b) && (b == DT_F64 || (b == DT_F32 && a != DT_F64));
  if (dtype_is_float(b)) return digits[a] <= digits[b]; /* f16 goes up to 65504, which has 16 digits */
  if (b == DT_U8) return a == DT_BOOL;
  return digits[a] <= digits[b] && b != DT_BOOL;
}

/* The inner of two conversions is dropped if it loses nothing, or if both truncate integers. But a float is
 * converted to an integer by clamping, an integer by its low bits. */
static const Expr *two_casts(Rules *r, const Expr *e) {
  const Expr *in = e->arg[0];
  if (in->kind != EX_OP || in->op != OP_CAST) return NULL;
  DType from = (DType)in->arg[0]->dtype, by = (DType)in->dtype, to = (DType)e->dtype;
  bool cut = dtype_is_int(from) && dtype_is_int(by) && dtype_is_int(to) && dtype_size(to) <= dtype_size(by);
  bool bounded = dtype_is_float(by) && !dtype_is_float(from) && dtype_is_int(to) && !dtype_within(from, to);
  return cut || (dtype_within(from, by) && !bounded) ? expr_cast(r->p, to, in->arg[0]) : NULL;
}

static bool is_few_factors(const Expr *e) {
  for (int k = 0; k <= FACTORS_MOST; k++)
    if (is_number(e, k)) return true;
  return false;
}

bool exponent_is_chosen(const Expr *e) {
  uint32_t n = 0;
  for (; is_op(e, OP_SELECT) && is_few_factors(e->arg[1]); e = e->arg[2]) n++;
  return n && n < CHOICES_MOST && is_few_factors(e) && !(e->has & HAS_READ);
}

/* x ^ (if p then 2 else 4) is if p then x * x else x ^ 4: powers with few factors need no logarithm. */
static const Expr *power_chosen(Rules *r, const Expr *e) {
  const Expr *of = is_op(e->arg[1], OP_CAST) ? e->arg[1]->arg[0] : e->arg[1], *choice[CHOICES_MOST], *made = NULL;
  DType t = (DType)e->dtype;
  uint32_t n = 0;
  if (!dtype_is_float(t) || !exponent_is_chosen(of)) return NULL;
  for (; is_op(of, OP_SELECT); of = of->arg[2]) choice[n++] = of;
  for (uint32_t k = n + 1; k-- > 0;) {
    const Expr *to = k < n ? choice[k]->arg[1] : of;
    double factors = to->kind == EX_REAL ? to->f : (double)to->i;
    const Expr *power = settle(r, expr_op2(r->p, OP_POW, e->arg[0], expr_real(r->p, t, factors)));
    made = k < n ? settle(r, expr_select(r->p, choice[k]->arg[0], power, made)) : power;
  }
  return made;
}

static const Expr *once(Rules *r, const Expr *e) {
  if (e->kind != EX_OP) return NULL;
  if (e->op == OP_CAST) return two_casts(r, e);
  const Expr *to = fold(r, e);
  if (!to && e->op == OP_POW) to = power_chosen(r, e);
  if (!to) to = by_table(r, e);
  return to ? to : float_compared(r->p, e);
}

static const Expr *settle(Rules *r, const Expr *e) {
  for (const Expr *to; r->fuel > 0 && (to = once(r, e)) != NULL; e = to) {
    r->fuel--;
    ++*r->count;
  }
  return e;
}

/* ---- the walk -------------------------------------------------------------------------------- */

const Expr *rules_apply(Rules *r, const Expr *top, uint32_t *count) {
  VEC(const Expr *) stack = {0};
  vec_push(r->arena, stack, top);
  r->count = count;
  while (stack.len) {
    const Expr *e = vec_last(stack), *few[8];
    uint32_t before = stack.len;
    if (map_find(&r->done, e)) {
      stack.len--;
      continue;
    }
    for (uint32_t i = e->n; i-- > 0;)
      if (!map_find(&r->done, e->arg[i])) vec_push(r->arena, stack, e->arg[i]);
    if (stack.len > before) continue;
    const Expr **arg = e->n <= COUNT(few) ? few : NEW_ARRAY(r->arena, const Expr *, e->n);
    for (uint32_t i = 0; i < e->n; i++) arg[i] = map_find(&r->done, e->arg[i]);
    r->fuel = FUEL;
    map_put(&r->done, e, (void *)(uintptr_t)settle(r, expr_with(r->p, e, arg)));
    stack.len--;
  }
  return map_find(&r->done, top);
}

/* ---- expressions that can fail --------------------------------------------------------------- */

/* Whether it is an index that was not proved before: it reads, or is one of a random permutation. */
static bool index_hard(const Expr *e) {
  if (e->has & HAS_READ) return true;
  if (e->kind != EX_OP) return false;
  OpRule rule = op_info[e->op].rule;
  if (rule == RULE_INDEX || rule == RULE_RANDOM || rule == RULE_REAL || rule == RULE_TEST || rule == RULE_EXTERN)
    return true;
  return false;
}

bool expr_can_fail(const Expr *top) {
  if (!(top->has & HAS_READ)) return false;
  Arena *a = arena_new();
  Map seen = map_new(a);
  VEC(const Expr *) stack = {0};
  VEC(const Expr *) index = {0};
  bool hard = false;
  vec_push(a, stack, top);
  while (stack.len && !hard) {
    const Expr *e = vec_pop(stack);
    if (!(e->has & HAS_READ) || map_find(&seen, e)) continue;
    map_put(&seen, e, a);
    for (uint32_t i = 0; i < e->n; i++) {
      vec_push(a, stack, e->arg[i]);
      if (e->kind == EX_READ) vec_push(a, index, e->arg[i]);
    }
  }
  while (index.len && !hard) {
    const Expr *e = vec_pop(index);
    if (index_hard(e)) hard = true;
    if (map_find(&seen, e)) continue;
    map_put(&seen, e, a);
    for (uint32_t i = 0; i < e->n; i++) vec_push(a, index, e->arg[i]);
  }
  arena_free(a);
  return hard;
}
