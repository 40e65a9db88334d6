/* expr/same.c - whether two things in two texts agree. See sum/law.h. */
#include <string.h>

#include "expr/sum/law.h"

bool differ(Same *q, const char *fmt, ...) {
  if (!q->why) return false;
  if (q->where) q->where(q->ctx, q->why);
  va_list ap;
  va_start(ap, fmt);
  buf_vprintf(q->why, fmt, ap);
  va_end(ap);
  return false;
}

/* ---- small things ---------------------------------------------------------------------------- */

static const char *text(Str s) {
  return s ? s->s : "(none)";
}

bool eq_str(Same *q, const char *what, Str a, Str b) {
  return str_same(a, b) || differ(q, "%s is %s and %s", what, text(a), text(b));
}

bool eq_int(Same *q, const char *what, int64_t a, int64_t b) {
  return a == b || differ(q, "%s is %lld and %lld", what, (long long)a, (long long)b);
}

bool eq_place(Same *q, Place a, Place b) {
  return eq_str(q, "the place's file", a.file, b.file) &&
         eq_int(q, "the place's line", a.line, b.line) &&
         eq_int(q, "the place's column", a.column, b.column);
}

/* ---- expressions ----------------------------------------------------------------------------- */

static const Expr **partner(Same *q, const Expr *a) {
  if (a->id >= q->room) {
    uint32_t room = a->id + a->id / 2 + 64;
    const Expr **to = NEW_ARRAY(q->arena, const Expr *, room);
    if (q->room) memcpy(to, q->to, q->room * sizeof to[0]);
    q->to = to;
    q->room = room;
  }
  return &q->to[a->id];
}

static bool same_top(const Expr *a, const Expr *b) {
  if (a->kind != b->kind || a->dtype != b->dtype || a->op != b->op || a->n != b->n) return false;
  if (a->kind == EX_DIM) return str_same(a->name, b->name);
  if (a->kind == EX_REAL)
    return memcmp(&a->f, &b->f, sizeof a->f) == 0 || (a->f != a->f && b->f != b->f);
  /* the rest has its own line */
  if (a->kind == EX_OP && a->op == OP_EXTERN) return str_same(a->by->name, b->by->name);
  return a->kind == EX_OP || a->i == b->i;
}

static void push(Same *q, const Expr *a, const Expr *b) {
  vec_push(q->arena, q->stack, ((ExprPair){a, b}));
}

static bool same_expr(Same *q, const Expr *a, const Expr *b) {
  q->stack.len = 0;
  push(q, a, b);
  while (q->stack.len) {
    ExprPair p = vec_pop(q->stack);
    const Expr **to = partner(q, p.a);
    if (*to == p.b) continue;
    if (*to || !same_top(p.a, p.b)) return false; /* in its pool nothing else equals *to */
    *to = p.b;
    for (uint32_t i = 0; i < p.a->n; i++)
      push(q, p.a->arg[i], p.b->arg[i]);
  }
  return true;
}

bool eq_expr(Same *q, const char *what, const Expr *a, const Expr *b) {
  if (q->same_pool ? a == b : (!a && !b)) return true;
  if (!q->same_pool && a && b && same_expr(q, a, b)) return true;
  return differ(q, "%s differs", what);
}

bool eq_exprs(Same *q, const char *what, uint32_t n, const Expr *const *a,
                     const Expr *const *b) {
  for (uint32_t i = 0; i < n; i++)
    if (!eq_expr(q, what, a[i], b[i])) return false;
  return true;
}

/* ---- C functions ----------------------------------------------------------------------------- */

static bool eq_extern(Same *q, const Extern *a, const Extern *b) {
  bool ok = eq_str(q, "a C function's name", a->name, b->name) &&
      eq_str(q, "a C function's symbol", a->symbol, b->symbol) &&
      eq_str(q, "where a C function is from", a->from, b->from) && eq_int(q, "a C function's arguments", a->n, b->n) &&
      eq_int(q, "a C function's dtype", a->dtype, b->dtype) && eq_int(q, "a C function's cost", a->cost, b->cost) &&
      eq_int(q, "whether a C function is one of blocks", a->block, b->block) &&
      eq_int(q, "a C function's labels", a->n_out, b->n_out) &&
      eq_int(q, "a C function's reduced labels", a->n_red, b->n_red) && eq_place(q, a->place, b->place);
  for (uint32_t k = 0; ok && k < a->n; k++)
    ok = eq_int(q, "the dtype of a C function's argument", a->arg[k], b->arg[k]) &&
        eq_int(q, "the rank of a C function's argument", a->rank[k], b->rank[k]);
  return ok;
}

bool eq_externs(Same *q, const Exprs *a, const Exprs *b) {
  if (!eq_int(q, "the number of C functions", extern_count(a), extern_count(b))) return false;
  for (uint32_t k = 0; k < extern_count(a); k++)
    if (!eq_extern(q, extern_at(a, k), extern_at(b, k))) return false;
  return true;
}

/* ---- EinSums --------------------------------------------------------------------------------- */

bool eq_monoid(Same *q, const Monoid *a, const Monoid *b) {
  if (!a || !b) return a == b || differ(q, "the monoid is there in one only");
  return eq_str(q, "the monoid's name", a->name, b->name) &&
         eq_int(q, "the monoid's dtype", a->dtype, b->dtype) &&
         eq_expr(q, "the monoid's function", a->combine, b->combine) &&
         eq_expr(q, "the monoid's identity", a->identity, b->identity);
}

bool eq_monoids(Same *q, const Monoids *a, const Monoids *b) {
  if (!eq_int(q, "the number of monoids", a->len, b->len)) return false;
  for (uint32_t i = 0; i < a->len; i++)
    if (!eq_monoid(q, a->at[i], b->at[i])) return false;
  return true;
}

bool eq_dims(Same *q, const Dims *a, const Dims *b) {
  if (!eq_int(q, "the number of dims", a->len, b->len)) return false;
  for (uint32_t i = 0; i < a->len; i++) {
    const Dim *x = &a->at[i], *y = &b->at[i];
    if (!eq_str(q, "a dim's name", x->name, y->name) || !eq_int(q, "whether a dim is known", x->known, y->known) ||
        (x->known && !eq_int(q, "a dim's value", x->value, y->value)))
      return false;
  }
  return true;
}

bool eq_checks(Same *q, const DimChecks *a, const DimChecks *b) {
  if (!eq_int(q, "the number of checks", a->len, b->len)) return false;
  for (uint32_t i = 0; i < a->len; i++) {
    const DimCheck *x = &a->at[i], *y = &b->at[i];
    if (!eq_expr(q, "a check", x->cond, y->cond) || !eq_str(q, "a check's text", x->text, y->text) ||
        !eq_place(q, x->place, y->place))
      return false;
  }
  return true;
}

static bool eq_by(Same *q, const Extern *a, const Extern *b) {
  if (!a || !b) return a == b || differ(q, "a C function is there in one only");
  return eq_str(q, "the C function that makes it", a->name, b->name);
}

bool eq_sum(Same *q, const EinSum *a, const EinSum *b) {
  return eq_int(q, "the number of output labels", a->n_out, b->n_out) &&
         eq_int(q, "the number of reduced labels", a->n_red, b->n_red) &&
         eq_int(q, "the number of slots", a->n_slot, b->n_slot) &&
         eq_int(q, "the reducer", a->reducer, b->reducer) && eq_monoid(q, a->monoid, b->monoid) &&
         eq_int(q, "the accumulator's dtype", a->acc, b->acc) &&
         eq_int(q, "the result's dtype", a->dtype, b->dtype) &&
         eq_expr(q, "the body", a->body, b->body) && eq_expr(q, "where", a->where, b->where) &&
         eq_expr(q, "the domain", a->domain, b->domain) && eq_by(q, a->by, b->by);
}
