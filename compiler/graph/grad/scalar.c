/* graph/grad/scalar.c - reverse mode in one expression: from its adjoint to those of its reads, visiting each shared
 * subexpression once. */
#include <stdlib.h>

#include "inside.h"

typedef struct Part {        /* a subexpression that contains a wanted read */
  const Expr *e;
  bool met;
  bool result;               /* where its adjoint is nonzero, it is the value of the whole expression */
  Adjoint adjoint;
} Part;

typedef struct Walk {
  Arena *arena;
  Exprs *p;
  const bool *active;
  const Expr *result;        /* a read of the expression's value; NULL: there is none */
  VEC(Part) parts;
  Map number;                /* subexpression -> its number + 1; 1: nothing to follow */
  Terms *out;
} Walk;

const Expr *adjoint_value(Exprs *p, Adjoint a) {
  return a.guard ? expr_select(p, a.guard, a.value, expr_real(p, (DType)a.value->dtype, 0)) : a.value;
}

/* ---- which parts -------------------------------------------------------------------------------------- */

/* Arguments of a select's condition, of comparisons and of indices are not floats to follow. */
static bool is_followed(const Expr *e) {
  return dtype_is_float((DType)e->dtype) && (e->kind == EX_READ || e->kind == EX_OP);
}

static bool has_part(const Walk *w, const Expr *e) { return (uintptr_t)map_find(&w->number, e) > 1; }

static bool is_wanted(const Walk *w, const Expr *e) {
  if (e->kind == EX_READ) return w->active[e->i];
  for (uint32_t k = 0; k < e->n; k++)
    if (has_part(w, e->arg[k])) return true;
  return false;
}

/* Lists arguments before the expressions that use them. */
static void parts_find(Walk *w, const Expr *top) {
  VEC(const Expr *) todo = {0};
  vec_push(w->arena, todo, top);
  while (todo.len) {
    const Expr *e = vec_last(todo);
    uint32_t before = todo.len;
    if (map_find(&w->number, e) || !is_followed(e)) { (void)vec_pop(todo); continue; }
    for (uint32_t k = 0; e->kind == EX_OP && k < e->n; k++)
      if (is_followed(e->arg[k]) && !map_find(&w->number, e->arg[k])) vec_push(w->arena, todo, e->arg[k]);
    if (todo.len > before) continue;
    (void)vec_pop(todo);
    uintptr_t number = 1;
    if (is_wanted(w, e)) {
      vec_push(w->arena, w->parts, ((Part){.e = e}));
      number = w->parts.len + 1;
    }
    map_put(&w->number, e, (void *)number);
  }
}

/* ---- products that keep zeros -------------------------------------------------------------------------- */

static bool is_real(const Expr *e, double v) { return e->kind == EX_REAL && e->f == v; }

/* Whether it is a choice between numbers and choices, as in derivatives. A choice between data, such as X[i-1] ?? 0
 * beside a weight, is an ordinary factor. */
static bool is_choice(const Expr *e) {
  bool choice = e->kind == EX_OP && e->op == OP_SELECT;
  return e->kind == EX_REAL || (choice && is_choice(e->arg[1]) && is_choice(e->arg[2]));
}

static const Expr *product(Exprs *p, const Expr *v, const Expr *d) {
  return is_real(v, 1) ? d : expr_op2(p, OP_MUL, v, d);
}

/* v * d; value NULL: 0. */
static Adjoint times(Exprs *p, const Expr *v, const Expr *d) {
  if (is_real(d, 0)) return (Adjoint){0};
  if (is_real(d, 1)) return (Adjoint){NULL, v};
  bool op = d->kind == EX_OP;
  if (op && d->op == OP_SELECT) {
    Value known;
    if (expr_value(d->arg[0], &(ExprEnv){0}, &known)) return times(p, v, d->arg[known.i ? 1 : 2]);
    Adjoint a = times(p, v, d->arg[1]), b = times(p, v, d->arg[2]);
    if (!a.value && !b.value) return a;
    if (!b.value) return (Adjoint){expr_and(p, d->arg[0], a.guard), a.value};
    if (!a.value) return (Adjoint){expr_and(p, expr_op1(p, OP_NOT, d->arg[0]), b.guard), b.value};
    return (Adjoint){NULL, expr_select(p, d->arg[0], adjoint_value(p, a), adjoint_value(p, b))};
  }
  Adjoint a = !is_real(v, 1) && op && (d->op == OP_NEG || d->op == OP_DIV) ? times(p, v, d->arg[0]) : (Adjoint){0};
  if (a.value && d->op == OP_NEG) return (Adjoint){a.guard, expr_op1(p, OP_NEG, a.value)};
  if (a.value) return (Adjoint){a.guard, expr_op2(p, OP_DIV, a.value, d->arg[1])};
  return (Adjoint){NULL, product(p, v, d)};
}

/* ---- from a part to its arguments ---------------------------------------------------------------------- */

static void leave(Walk *w, const Expr *e, Adjoint a, bool result) {
  uintptr_t number = (uintptr_t)map_find(&w->number, e);
  if (number < 2 || !a.value) return;
  Part *x = &w->parts.at[number - 2];
  if (!x->met) x->adjoint = a;
  else if (x->adjoint.guard == a.guard) x->adjoint.value = expr_op2(w->p, OP_ADD, x->adjoint.value, a.value);
  else
    x->adjoint = (Adjoint){x->adjoint.guard && a.guard ? expr_op2(w->p, OP_OR, x->adjoint.guard, a.guard) : NULL,
                           expr_op2(w->p, OP_ADD, adjoint_value(w->p, x->adjoint), adjoint_value(w->p, a))};
  x->result = result && !x->met;
  x->met = true;
}

static void cast_leaves(Walk *w, const Expr *e, Adjoint a) {
  const Expr *from = e->arg[0];
  /* the result is rounded once all terms are added */
  if (from->kind == EX_READ && has_part(w, from)) vec_push(w->arena, *w->out, ((Term){from, a}));
  else leave(w, from, (Adjoint){a.guard, expr_cast(w->p, (DType)from->dtype, a.value)}, false);
}

static Op part_leaves(Walk *w, const Part *x) {
  const Expr *e = x->e;
  if (e->op == OP_CAST) return cast_leaves(w, e, x->adjoint), OPS;
  for (uint32_t k = 0; k < e->n; k++) {
    if (!has_part(w, e->arg[k])) continue;
    const Expr *d = op_derivative(w->p, (Op)e->op, k, (DType)e->dtype, e->arg, x->result && w->result ? w->result : e);
    if (!d) return (Op)e->op;
    bool factor = e->op == OP_MUL && !is_choice(d);
    Adjoint a = factor ? (Adjoint){NULL, product(w->p, x->adjoint.value, d)} : times(w->p, x->adjoint.value, d);
    if (a.value)
      leave(
          w, e->arg[k], (Adjoint){expr_and(w->p, x->adjoint.guard, a.guard), a.value}, x->result && e->op == OP_SELECT);
  }
  return OPS;
}

Op expr_adjoint(Arena *a, Exprs *p, const Expr *e, const Expr *result, Adjoint seed, const bool *active, Terms *out) {
  Walk w = {.arena = a, .p = p, .active = active, .result = result, .number = map_new(a), .out = out};
  parts_find(&w, e);
  leave(&w, e, seed, true);
  for (uint32_t i = w.parts.len; i-- > 0;) {
    Part *x = &w.parts.at[i];
    if (!x->met) continue;
    if (x->e->kind == EX_READ) {
      vec_push(a, *out, ((Term){x->e, x->adjoint}));
      continue;
    }
    Op stuck = part_leaves(&w, x);
    if (stuck != OPS) return stuck;
  }
  return OPS;
}
