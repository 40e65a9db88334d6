/* front/oracle/ast_eval_reduce.c - the AST evaluator's reducers: folds the values of an expression over all points of
 * the reduced labels, in order. */
#include <math.h>
#include <string.h>

#include "ast_eval_scope.h"

typedef struct Fold {
  const Ast *node, *body;
  AstScope *scope;
  Reducer kind;
  const AstGlobal *monoid;
  DType acc, dtype;
  int8_t wide;
  AstTuple *tuple; /* of a monoid over tuples; its parts are in sums */
  Value sum, *sums;
  int64_t n, best;
  uint8_t none;
} Fold;

static Value constant(const char *text, DType t) {
  double x = 0;
  if (strcmp(text, "inf") == 0)
    x = INFINITY;
  else if (strcmp(text, "-inf") == 0)
    x = -INFINITY;
  else
    x = strcmp(text, "1") == 0 || strcmp(text, "true") == 0;
  return value_cast((Value){.dtype = DT_F64, .f = x}, t);
}

static Value monoid_combine(AstRun *r, const AstGlobal *g, Value a, Value b, bool typing) {
  g->at[a.dtype].operand[0]->val = (AstVal){.v = a};
  g->at[a.dtype].operand[1]->val = (AstVal){.v = b};
  AstVal x = ast_eval_at(r, g->monoid->e, (AstAt){g->at[a.dtype].scope, NULL, typing, -1});
  if (x.none) ast_fail(r, g->monoid->span, "monoid %s has no value", g->monoid->name.s->s);
  if (typing) x.v.dtype = ast_meet(x, (AstVal){.v = a}).v.dtype;
  return typing ? x.v : value_cast(x.v, a.dtype);
}

static AstTuple *tuple_of(AstRun *r, AstGlobal *g, const DType *t) {
  uint32_t n = g->monoid->parts;
  for (uint32_t i = 0; i < g->tuples.len; i++)
    if (!memcmp(g->tuples.at[i]->dtype, t, n * sizeof *t)) return g->tuples.at[i];
  AstTuple *x = MAKE(r->arena, AstTuple, arena_copy(r->arena, t, n * sizeof *t), ast_scope_new(r, NULL),
      NEW_ARRAY(r->arena, AstClosure *, 2 * n));
  x->scope->before = g->age;
  for (uint32_t i = 0; i < 2 * n; i++) {
    x->operand[i] = NEW(r->arena, AstClosure);
    x->operand[i]->dtype = -1;
    ast_scope_put(r, x->scope, g->monoid->params.at[i].s, (AstKnown){.closure = x->operand[i]});
  }
  vec_push(r->arena, g->tuples, x);
  return x;
}

/* *a becomes a combined with b; typing: only its dtypes are right. */
static void tuple_combine(AstRun *r, const Fold *f, Value *a, const Value *b, bool typing) {
  const AstStmt *m = f->monoid->monoid;
  for (uint32_t i = 0; i < m->parts; i++) {
    f->tuple->operand[i]->val = (AstVal){.v = a[i]};
    f->tuple->operand[m->parts + i]->val = (AstVal){.v = b[i]};
  }
  for (uint32_t i = 0; i < m->parts && !r->why; i++) {
    AstVal x = ast_eval_at(r, m->e->args.at[i], (AstAt){f->tuple->scope, NULL, typing, -1});
    if (x.none) ast_fail(r, m->span, "monoid %s has no value", m->name.s->s);
    a[i] = typing ? (Value){.dtype = ast_meet(x, (AstVal){.v = a[i]}).v.dtype} : value_cast(x.v, f->tuple->dtype[i]);
  }
}

/* The dtypes that the function keeps, beginning with the bodies'. */
static void tuple_types(AstRun *r, Fold *f, const Ast *e, AstAt at) {
  uint32_t n = f->monoid->monoid->parts;
  DType *t = NEW_ARRAY(r->arena, DType, n);
  f->sums = NEW_ARRAY(r->arena, Value, n);
  for (uint32_t i = 0; i < n; i++) t[i] = ast_typed(ast_type_only(r, e->args.at[i], at));
  bool same = false;
  for (uint32_t turn = 0; turn < 2 * n + 2 && !same && !r->why; turn++) {
    f->tuple = tuple_of(r, (AstGlobal *)(uintptr_t)f->monoid, t);
    for (uint32_t i = 0; i < n; i++) f->sums[i] = (Value){.dtype = t[i]};
    tuple_combine(r, f, f->sums, arena_copy(r->arena, f->sums, n * sizeof(Value)), true);
    same = true;
    for (uint32_t i = 0; i < n; i++) same &= f->sums[i].dtype == t[i], t[i] = f->sums[i].dtype;
  }
}

static void tuple_start(AstRun *r, Fold *f) {
  const AstStmt *m = f->monoid->monoid;
  for (uint32_t i = 0; i < m->parts; i++) {
    AstVal x = ast_eval_at(r, m->until->args.at[i], (AstAt){f->tuple->scope, NULL, false, -1});
    f->sums[i] = value_cast(x.v, f->tuple->dtype[i]);
  }
}

static void tuple_point(AstRun *r, Fold *f, const AstPoint *point) {
  uint32_t n = f->monoid->monoid->parts;
  Value *v = NEW_ARRAY(r->arena, Value, n);
  uint8_t none = VALUE_HERE;
  for (uint32_t i = 0; i < n; i++) {
    AstVal x = ast_eval_at(r, f->node->args.at[i], (AstAt){f->scope, point, false, -1});
    none = ast_worse(none, x.none);
    if (!x.none) v[i] = ast_coerce(r, x, f->tuple->dtype[i], f->node->span).v;
  }
  if (none == VALUE_OUTSIDE) f->none = VALUE_OUTSIDE;
  if (!none && !r->why) tuple_combine(r, f, f->sums, v, false);
}

/* Rule 8, and what "Types" says of reducers. t: the body's dtype, no longer weak. */
static void fold_types(AstRun *r, Fold *f, DType t, int8_t written) {
  bool real = dtype_is_float(t);
  DType sum = written >= 0 ? (DType)written : dtype_sum(t);
  f->wide = -1;
  switch (f->kind) {
  case RED_COUNT: f->acc = f->dtype = DT_I64; return;
  case RED_ANY:
  case RED_ALL:
    if (t != DT_BOOL) ast_fail(r, f->node->span, "any and all are of bools");
    f->acc = f->dtype = DT_BOOL;
    return;
  case RED_MONOID:
    f->acc = monoid_combine(r, f->monoid, (Value){.dtype = t}, (Value){.dtype = t}, true).dtype;
    f->dtype = f->acc;
    return;
  case RED_LSE:
    if (!real && written < 0) sum = DT_F64;
    f->dtype = written >= 0 || !real ? sum : t;
    break;
  case RED_MEAN: f->dtype = written >= 0 ? (dtype_is_float(sum) ? sum : DT_F64) : real ? t : DT_F64; break;
  case RED_SUM:
  case RED_PROD: f->dtype = written >= 0 ? sum : real ? t : DT_I64; break;
  default: /* max, min and similar keep the dtype */
    f->acc = written >= 0 ? (DType)written : ast_number(t);
    f->wide = written;
    f->dtype = f->kind == RED_ARGMAX || f->kind == RED_ARGMIN ? DT_I64 : f->acc;
    return;
  }
  f->acc = sum;
  f->wide = (int8_t)sum;
}

static void fold_start(AstRun *r, Fold *f) {
  const char *identity = reducer_info[f->kind].identity;
  f->sum = (Value){.dtype = f->acc};
  AstAt plain = {f->monoid ? f->monoid->at[f->acc].scope : NULL, NULL, false, -1};
  if (f->kind == RED_MONOID)
    f->sum = value_cast(ast_eval_at(r, f->monoid->monoid->until, plain).v, f->acc);
  else if (identity)
    f->sum = constant(identity, f->acc);
}

static bool value_isnan(Value v) {
  return dtype_is_float(v.dtype) && isnan(v.f);
}

static bool better(const Fold *f, Value v) {
  if (f->n == 0) return true;
  if (value_isnan(f->sum)) return false;
  Value pair[2] = {v, f->sum};
  return value_isnan(v) || op_value(f->kind == RED_ARGMAX ? OP_GT : OP_LT, DT_BOOL, 2, pair).i;
}

static void fold_value(AstRun *r, Fold *f, Value v, int64_t flat) {
  Value pair[2] = {f->sum, v};
  switch (f->kind) {
  case RED_COUNT: break;
  case RED_ARGMAX:
  case RED_ARGMIN:
    if (better(f, v)) f->sum = v, f->best = flat;
    break;
  case RED_MONOID: f->sum = monoid_combine(r, f->monoid, f->sum, v, false); break;
  case RED_MEAN: f->sum = op_value(OP_ADD, f->acc, 2, pair); break;
  default: f->sum = op_value(reducer_info[f->kind].combine, f->acc, 2, pair);
  }
  f->n++;
}

/* Whether a point is reduced: first tests the predicates over the reduced labels, then the reducer's own. */
static uint8_t fold_here(AstRun *r, const Fold *f, const AstPoint *point) {
  for (const AstPred *p = f->scope->preds; p; p = p->next) {
    bool ours = false;
    for (uint32_t i = 0; i < p->labels.len; i++)
      for (uint32_t k = 0; k < f->scope->labels.len; k++)
        if (ast_label_within(f->scope->labels.at[k], p->labels.at[i])) ours = true;
    uint8_t none = ours ? ast_pred_holds(r, p, point) : VALUE_HERE;
    if (none) return none;
  }
  if (!f->node->where) return VALUE_HERE;
  AstVal x = ast_eval_at(r, f->node->where, (AstAt){f->scope, point, false, -1});
  if (x.v.dtype != DT_BOOL) ast_fail(r, f->node->where->span, "a predicate is a bool");
  return x.none ? x.none : x.v.i ? VALUE_HERE : VALUE_EXCLUDED;
}

static void fold_point(AstRun *r, Fold *f, const AstPoint *point, int64_t flat) {
  AstVal x = ast_val(f->acc, 0, fold_here(r, f, point));
  if (f->tuple) {
    if (x.none == VALUE_OUTSIDE) f->none = VALUE_OUTSIDE;
    if (!x.none) tuple_point(r, f, point);
    return;
  }
  if (!x.none && f->body) x = ast_eval_at(r, f->body, (AstAt){f->scope, point, false, f->wide});
  if (x.none == VALUE_OUTSIDE) f->none = VALUE_OUTSIDE;
  if (!x.none && !r->why) fold_value(r, f, ast_coerce(r, x, f->acc, f->node->span).v, flat);
}

static void fold_over(AstRun *r, Fold *f, uint32_t k, const AstPoint *point, int64_t flat) {
  if (k == f->scope->labels.len) {
    if (ast_enter(r, f->node)) fold_point(r, f, point, flat), r->depth--;
    return;
  }
  AstLabel *l = f->scope->labels.at[k];
  int64_t n = ast_label_size(r, l, f->node->span);
  if (n && flat > INT64_MAX / n - 1) ast_fail(r, f->node->span, "too large");
  for (int64_t i = 0; i < n && !r->why && !f->none; i++)
    fold_over(r, f, k + 1, &(AstPoint){point, l, i}, flat * n + i);
}

static AstVal fold_result(const Fold *f) {
  AstVal out = ast_val(f->dtype, 0, f->none);
  bool empty =
      f->n == 0 && !reducer_info[f->kind].identity && f->kind != RED_COUNT && f->kind != RED_MONOID;
  if (empty) out.none = ast_worse(out.none, VALUE_OUTSIDE);
  if (out.none) return out;
  Value v = f->sum;
  if (f->kind == RED_COUNT) v = (Value){.dtype = DT_I64, .i = f->n};
  if (f->kind == RED_ARGMAX || f->kind == RED_ARGMIN) v = (Value){.dtype = DT_I64, .i = f->best};
  if (f->kind == RED_MEAN) {
    DType t = dtype_is_float(f->acc) ? f->acc : DT_F64;
    Value pair[2] = {value_cast(v, t), value_cast((Value){.dtype = DT_I64, .i = f->n}, t)};
    v = op_value(OP_DIV, t, 2, pair);
  }
  out.v = value_cast(v, f->dtype);
  return out;
}

static bool has_one_axis(const Ast *e, const AstScope *c) {
  return c->labels.len == 1 || (e->items.len == 1 && e->items.at[0].kind == ITEM_GROUP);
}

/* One component of a reduction of tuples. */
AstVal ast_reduce_tuple(AstRun *r, const Ast *e, const AstGlobal *monoid, AstAt at) {
  Fold f = {.node = e, .monoid = monoid, .kind = RED_MONOID, .scope = ast_scope_of_reduce(r, at.scope, e)};
  tuple_types(r, &f, e, (AstAt){f.scope, at.point, true, -1});
  if (r->why) return ast_val(DT_I64, 0, 0);
  DType t = f.tuple->dtype[e->result - 1];
  if (at.typing) return ast_widened(ast_val(t, 0, 0), at);
  tuple_start(r, &f);
  fold_over(r, &f, 0, at.point, 0);
  AstVal out = ast_val(t, 0, f.none);
  if (!f.none) out.v = f.sums[e->result - 1];
  return ast_widened(out, at);
}

AstVal ast_reduce(AstRun *r, const Ast *e, const AstGlobal *monoid, AstAt at) {
  Fold f = {.node = e, .monoid = monoid, .kind = monoid ? RED_MONOID : (Reducer)e->op,
      .scope = ast_scope_of_reduce(r, at.scope, e), .body = monoid ? e->args.at[0] : e->a};
  if ((f.kind == RED_ARGMAX || f.kind == RED_ARGMIN) && !has_one_axis(e, f.scope))
    ast_fail(r, e->span, "%s takes one label or one group", reducer_info[f.kind].name);
  DType t = f.body ? ast_typed(ast_type_only(r, f.body, (AstAt){f.scope, at.point, true, -1})) : DT_I64;
  if (r->why) return ast_val(DT_I64, 0, 0);
  fold_types(r, &f, t, monoid ? -1 : e->acc);
  if (at.typing || r->why) return ast_widened(ast_val(f.dtype, 0, 0), at);
  fold_start(r, &f);
  fold_over(r, &f, 0, at.point, 0);
  return ast_widened(fold_result(&f), at);
}
