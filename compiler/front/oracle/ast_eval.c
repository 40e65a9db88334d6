/* front/oracle/ast_eval.c - the AST evaluator's expressions: computes the value of each at each point, by plain
 * recursion.
 *
 * A value carries its dtype, whether it is weak, and whether it exists (rule 9). With `typing` set the same
 * recursion reads no data and returns a value of the right type: this gives the dtypes of the branch not taken and
 * of a reducer's accumulator. */
#include "ast_eval_scope.h"
#include "ein_rt.h"

AstVal ast_val(DType t, uint8_t weak, uint8_t none) {
  return (AstVal){.v = {.dtype = t}, .weak = weak, .none = none};
}

static AstVal val_int(DType t, int64_t i, uint8_t weak) {
  AstVal x = ast_val(t, weak, VALUE_HERE);
  x.v.i = i;
  return x;
}

static AstAt narrow(AstAt at) {
  at.wide = -1;
  return at;
}

AstVal ast_type_only(AstRun *r, const Ast *e, AstAt at) {
  at.typing = true;
  return ast_eval_at(r, e, narrow(at));
}

/* ---- types ----------------------------------------------------------------------------------- */

/* A typed number joined with a weak one. */
static DType meet_weak(DType t, AstVal w) {
  if (dtype_is_float(t)) return t;
  if (dtype_is_float(w.v.dtype)) return DT_F64;
  if (t == DT_BOOL || w.weak == WEAK_SIZE) return DT_I64;
  return t;
}

/* The joint dtype of a and b; weak if both are. Two bools stay bool. */
AstVal ast_meet(AstVal a, AstVal b) {
  if (a.weak && b.weak)
    return ast_val(dtype_is_float(a.v.dtype) || dtype_is_float(b.v.dtype) ? DT_F64 : DT_I64,
               ast_worse(a.weak, b.weak), 0);
  if (a.weak) return ast_val(meet_weak(b.v.dtype, a), 0, 0);
  if (b.weak) return ast_val(meet_weak(a.v.dtype, b), 0, 0);
  if (a.v.dtype == b.v.dtype) return ast_val(a.v.dtype, 0, 0);
  return ast_val(dtype_join(a.v.dtype, b.v.dtype), 0, 0);
}

AstVal ast_coerce(AstRun *r, AstVal x, DType t, Span at) {
  bool literal = x.weak == WEAK_LITERAL && !dtype_is_float(x.v.dtype) && dtype_is_int(t);
  if (literal && !x.none && !dtype_holds(t, x.v.i))
    ast_fail(r, at, "%lld does not fit in %s", (long long)x.v.i, dtype_name(t));
  x.v = value_cast(x.v, t);
  x.weak = WEAK_NOT;
  return x;
}

/* What is read under a reducer is first widened to its accumulator's dtype, never narrowed. */
AstVal ast_widened(AstVal x, AstAt at) {
  if (at.wide < 0 || x.weak || dtype_join(x.v.dtype, (DType)at.wide) != (DType)at.wide) return x;
  x.v = value_cast(x.v, (DType)at.wide);
  return x;
}

DType ast_typed(AstVal x) {
  if (!x.weak) return x.v.dtype;
  return dtype_is_float(x.v.dtype) ? DT_F64 : DT_I64;
}

DType ast_number(DType t) {
  return t == DT_BOOL ? DT_I64 : t;
}

static bool integral(AstVal x) {
  return !dtype_is_float(x.v.dtype);
}

/* ---- operations ------------------------------------------------------------------------------ */

/* The dtype in which op takes its arguments, given their joint dtype. */
static DType wanted(AstRun *r, Op op, DType t, Span at) {
  switch (op_info[op].rule) {
  case RULE_LOGIC:
    if (t != DT_BOOL) ast_fail(r, at, "%s is of bools", op_info[op].name);
    return DT_BOOL;
  case RULE_REAL:
  case RULE_TEST: return dtype_is_float(t) ? t : DT_F64;
  case RULE_COMPARE: return t;
  default: return ast_number(t);
  }
}

static AstVal apply(AstRun *r, Op op, uint32_t n, const AstVal *x, Span at) {
  AstVal type = x[0];
  bool compare = op_info[op].rule == RULE_COMPARE, exact = compare;
  uint8_t none = x[0].none;
  for (uint32_t i = 1; i < n; i++) type = ast_meet(type, x[i]), none = ast_worse(none, x[i].none);
  for (uint32_t i = 0; i < n; i++) exact = exact && integral(x[i]);
  DType t = exact ? DT_I64 : wanted(r, op, type.v.dtype, at);
  DType result = compare || op_info[op].rule == RULE_TEST ? DT_BOOL : t;
  if (op == OP_POW && !dtype_is_float(t) && x[1].weak == WEAK_LITERAL && x[1].v.i < 0)
    ast_fail(r, at, "a negative exponent on integers");
  AstVal out = ast_val(result, result == DT_BOOL ? WEAK_NOT : type.weak, none);
  Value arg[3];
  for (uint32_t i = 0; i < n && i < 3; i++)
    arg[i] = exact ? value_cast(x[i].v, t) : ast_coerce(r, x[i], t, at).v;
  if (!none && !r->why) out.v = op_value(op, result, n, arg);
  return out;
}

static AstVal logic(AstRun *r, const Ast *e, AstAt at) {
  AstVal a = ast_eval_at(r, e->a, narrow(at));
  bool decided = !at.typing && !a.none && (a.v.i != 0) == (e->op == OP_OR);
  if (a.v.dtype != DT_BOOL) ast_fail(r, e->a->span, "%s is of bools", op_info[e->op].name);
  if (decided || a.none) return a;
  AstVal b = ast_eval_at(r, e->b, narrow(at));
  if (b.v.dtype != DT_BOOL) ast_fail(r, e->b->span, "%s is of bools", op_info[e->op].name);
  return b;
}

static AstVal binary(AstRun *r, const Ast *e, AstAt at) {
  Op op = (Op)e->op;
  if (op == OP_AND || op == OP_OR) return logic(r, e, at);
  if (op_info[op].rule == RULE_COMPARE) at = narrow(at);
  /* these three differ between integers and floats, so reads stay integers under them */
  bool split = op == OP_IDIV || op == OP_MOD || op == OP_POW;
  if (split && at.wide >= 0 && dtype_is_float((DType)at.wide) && integral(ast_type_only(r, e, at)))
    at = narrow(at);
  AstVal x[2] = {ast_eval_at(r, e->a, at), ast_eval_at(r, e->b, at)};
  return apply(r, op, 2, x, e->span);
}

static AstVal unary(AstRun *r, const Ast *e, Op op, AstAt at) {
  AstVal x = ast_eval_at(r, e->a, op == OP_NOT ? narrow(at) : at);
  return apply(r, op, 1, &x, e->span);
}

/* One of two, in their joint dtype. */
static AstVal choose(AstRun *r, AstVal a, AstVal b, bool first, Span at) {
  AstVal type = ast_meet(a, b), x = ast_coerce(r, a, type.v.dtype, at),
         y = ast_coerce(r, b, type.v.dtype, at);
  AstVal out = first ? x : y;
  out.weak = type.weak ? WEAK_SIZE : WEAK_NOT;
  return out;
}

static AstVal conditional(AstRun *r, const Ast *e, AstAt at) {
  AstVal c = ast_eval_at(r, e->a, narrow(at));
  if (c.v.dtype != DT_BOOL) ast_fail(r, e->a->span, "a condition is a bool");
  AstAt then = at, other = at;
  then.typing = at.typing || c.none || !c.v.i;
  other.typing = at.typing || c.none || c.v.i;
  AstVal a = ast_eval_at(r, e->b, then), b = ast_eval_at(r, e->c, other);
  AstVal out = choose(r, a, b, c.v.i, e->span);
  out.none = ast_worse(out.none, c.none);
  return out;
}

static AstVal or_else(AstRun *r, const Ast *e, AstAt at) {
  AstVal a = ast_eval_at(r, e->a, at);
  AstAt other = at;
  other.typing = at.typing || !a.none;
  AstVal b = ast_eval_at(r, e->b, other);
  return choose(r, a, b, !a.none, e->span);
}

/* ---- labels, reads --------------------------------------------------------------------------- */

static bool point_find(const AstPoint *point, const AstLabel *l, int64_t *out) {
  for (; l; l = l->outer)
    for (const AstPoint *p = point; p; p = p->up)
      if (ast_label_within(p->label, l)) {
        *out = p->value;
        return true;
      }
  return false;
}

static AstVal label_value(AstRun *r, AstLabel *l, AstAt at, Span span) {
  AstVal x = val_int(DT_I64, 0, WEAK_SIZE);
  if (!at.typing && !point_find(at.point, l, &x.v.i))
    ast_fail(r, span, "label %s is neither on the left nor reduced", l->name->s);
  return x;
}

/* An index or another whole number that must be neither weak nor wide; typing returns 0. */
static AstVal eval_index(AstRun *r, const Ast *e, AstAt at) {
  AstVal x = ast_eval_at(r, e, narrow(at));
  if (!dtype_is_int(x.v.dtype))
    ast_fail(r, e->span, "an index is an integer, not %s", dtype_name(x.v.dtype));
  return x;
}

static AstLabel *label_find(AstRun *r, AstScope *s, AstName name) {
  AstKnown *k = ast_scope_find(r, s, name.s);
  if (!k || !k->label)
    ast_fail(r, name.span, "label %s is neither on the left nor reduced", name.s->s);
  return k ? k->label : NULL;
}

/* The value of a label in a group or a list of labels; row-major continues from what came before. */
static AstVal row_major(AstRun *r, const AstItems *items, AstAt at, int64_t *size) {
  AstVal x = val_int(DT_I64, 0, WEAK_SIZE);
  *size = 1;
  for (uint32_t i = 0; i < items->len && !r->why; i++) {
    const AstItem *it = &items->at[i];
    AstName name;
    if (!ast_item_name(it, &name)) ast_fail(r, it->span, "a label is expected here");
    AstLabel *l = r->why ? NULL : label_find(r, at.scope, name);
    if (!l || r->why) break;
    int64_t n = ast_label_size(r, l, it->span);
    x.v.i = x.v.i * n + label_value(r, l, at, it->span).v.i;
    if (!mul_ok(*size, n, size)) ast_fail(r, it->span, "too large");
  }
  return x;
}

static AstVal item_index(AstRun *r, const AstItem *it, AstAt at, int64_t extent) {
  int64_t size;
  AstVal x;
  AstName name;
  switch (it->kind) {
  case ITEM_EXPR: return eval_index(r, it->e, at);
  case ITEM_GROUP:
    x = row_major(r, &it->part, at, &size);
    if (!r->why && size != extent)
      ast_fail(r, it->span, "the group is %lld but the axis %lld", (long long)size,
               (long long)extent);
    return x;
  case ITEM_SIZED:
    (void)ast_item_name(it, &name);
    AstLabel *l = label_find(r, at.scope, name);
    return l ? label_value(r, l, at, it->span) : ast_val(DT_I64, 0, 0);
  case ITEM_BIND: break;
  }
  ast_fail(r, it->span, "only a parameter or a parenthesised expression has labels to substitute");
  return ast_val(DT_I64, 0, 0);
}

static AstVal read_tensor(AstRun *r, const AstTensor *t, const Ast *e, AstAt at) {
  AstVal out = ast_val(t->dtype, 0, VALUE_HERE);
  int64_t flat = 0;
  if (t->rank != e->items.len)
    ast_fail(r, e->span, "%s has %u axes, not %u", t->name->s, t->rank, e->items.len);
  if (at.typing || r->why) return ast_widened(out, at);
  for (uint32_t k = 0; k < t->rank && !r->why; k++) {
    AstVal i = item_index(r, &e->items.at[k], at, t->shape[k]);
    bool inside = i.v.i >= 0 && i.v.i < t->shape[k];
    out.none = ast_worse(out.none, ast_worse(i.none, inside ? VALUE_HERE : VALUE_OUTSIDE));
    if (!out.none) flat = flat * t->shape[k] + i.v.i;
  }
  if (!out.none && !r->why) out.v = t->at[flat];
  return ast_widened(out, at);
}

/* ---- predicates that travel, closures, substitution ------------------------------------------ */

typedef VEC(const AstPred *) Preds;

static bool bears_on(AstRun *r, const AstPred *p, const Ast *e, AstScope *s) {
  for (uint32_t i = 0; i < p->labels.len; i++) {
    AstLabel *l = ast_label_here(r, s, p->labels.at[i]);
    int64_t extent;
    if (!ast_label_free(r, l, e, s, &extent)) return false;
  }
  return true;
}

static const Preds *checks_of(AstRun *r, const Ast *e, AstScope *s) {
  Preds *list = map_find(&s->checks, e);
  if (list) return list;
  list = arena_alloc(r->arena, sizeof *list);
  for (const AstPred *p = s->preds; p; p = p->next)
    if (bears_on(r, p, e, s)) vec_push(r->arena, *list, p);
  map_put(&s->checks, e, list);
  return list;
}

/* Whether a predicate that is passed along holds; where one of its labels has no value yet, it is undecided. */
uint8_t ast_pred_holds(AstRun *r, const AstPred *p, const AstPoint *point) {
  int64_t v;
  for (uint32_t i = 0; i < p->labels.len; i++)
    if (!point_find(point, p->labels.at[i], &v)) return VALUE_HERE;
  AstVal x = ast_eval_at(r, p->p, (AstAt){p->scope, point, false, -1});
  if (x.v.dtype != DT_BOOL) ast_fail(r, p->p->span, "a predicate is a bool");
  return x.none ? x.none : x.v.i ? VALUE_HERE : VALUE_EXCLUDED;
}

/* Evaluates a def's body, one of its local equations, an argument or a substituted expression as a whole: it has a
 * value only where each predicate over labels that are free in it holds (rule 11). */
static AstVal eval_whole(AstRun *r, const Ast *e, AstAt at) {
  uint8_t none = VALUE_HERE;
  if (!at.typing && at.scope->preds) {
    const Preds *list = checks_of(r, e, at.scope);
    for (uint32_t i = 0; i < list->len; i++)
      none = ast_worse(none, ast_pred_holds(r, list->at[i], at.point));
  }
  at.typing = at.typing || none;
  AstVal x = ast_eval_at(r, e, at);
  x.none = ast_worse(x.none, none);
  return x;
}

static AstVal closure_value(AstRun *r, AstClosure *c, AstAt at) {
  if (!c->e || (at.typing && c->typed)) return ast_widened(c->val, at);
  AstVal x = eval_whole(r, c->e, (AstAt){c->scope, at.point, at.typing, -1});
  if (c->dtype >= 0) x = ast_coerce(r, x, (DType)c->dtype, c->e->span);
  if (at.typing) c->val = x, c->typed = true;
  return ast_widened(x, at);
}

typedef struct Move { /* a substitution: which labels, and the range of each */
  VEC(AstLabel *) label;
  VEC(int64_t) extent;
} Move;

/* The argument's own extent bounds the read; that of a local or a parenthesised expression is found inside it. */
static void move_label(AstRun *r, Move *m, const AstItem *it, AstLabel *l, const AstClosure *c,
                       const Ast *a, AstScope *s) {
  int64_t extent = -1;
  bool has = false;
  if (c && c->argument) {
    AstLabel *own = ast_label_behind(r, c->scope, l);
    if (own) has = ast_label_free(r, own, c->e, c->scope, &extent), l = own;
  } else {
    has = ast_label_free(r, l, a, s, &extent);
  }
  if (!has) ast_fail(r, it->span, "there is no label %s to substitute", it->name.s->s);
  if (!r->why && extent < 0) extent = ast_label_size(r, l, it->span);
  for (uint32_t i = 0; i < m->label.len; i++)
    if (m->label.at[i] == l) ast_fail(r, it->span, "label %s is substituted twice", it->name.s->s);
  vec_push(r->arena, m->label, l);
  vec_push(r->arena, m->extent, extent);
}

static const Move *move_of(AstRun *r, const Ast *e, AstClosure *c, AstScope *s) {
  Move *m = map_find(&s->moves, e);
  if (m) return m;
  m = NEW(r->arena, Move);
  for (uint32_t i = 0; i < e->items.len && !r->why; i++) {
    const AstItem *it = &e->items.at[i];
    AstLabel *l = NULL;
    if (it->kind == ITEM_BIND)
      l = label_find(r, s, it->name);
    else
      ast_fail(r, it->span, "a parameter has labels to substitute, not axes");
    if (!l || r->why) break;
    move_label(r, m, it, l, c, c ? c->e : e->a, c ? c->scope : s);
  }
  map_put(&s->moves, e, m);
  return m;
}

/* Gives label k and those after it their new values, all evaluated at `at`; then evaluates the expression. */
static AstVal move_from(AstRun *r, const Ast *e, AstClosure *c, const Move *m, uint32_t k, AstAt at,
                        const AstPoint *point) {
  AstAt there = at;
  there.point = point;
  if (k == e->items.len) {
    if (c) return closure_value(r, c, there);
    there.scope = ast_scope_of_subst(r, at.scope, e);
    return eval_whole(r, e->a, there);
  }
  AstVal i = eval_index(r, e->items.at[k].e, at);
  bool inside = at.typing || (i.v.i >= 0 && i.v.i < m->extent.at[k]);
  uint8_t none = ast_worse(i.none, inside ? VALUE_HERE : VALUE_OUTSIDE);
  AstPoint p = {point, m->label.at[k], i.v.i};
  if (none) at.typing = true;
  AstVal x = move_from(r, e, c, m, k + 1, at, &p);
  x.none = ast_worse(x.none, none);
  return x;
}

static AstVal substitute(AstRun *r, const Ast *e, AstClosure *c, AstAt at) {
  AstScope *s = c ? at.scope : ast_scope_of_subst(r, at.scope, e);
  const Move *m = move_of(r, e, c, s);
  if (r->why) return ast_val(DT_I64, 0, 0);
  return move_from(r, e, c, m, 0, at, at.point);
}

static AstVal index_value(AstRun *r, const Ast *e, AstAt at) {
  AstKnown *k = ast_scope_find(r, at.scope, e->name.s);
  AstGlobal *g = ast_global_find(r, at.scope, e->name.s);
  if (k && k->closure) return substitute(r, e, k->closure, at);
  if (g && g->tensor) return read_tensor(r, g->tensor, e, at);
  ast_fail(r, e->span, "%s is no tensor that is known here", e->name.s->s);
  return ast_val(DT_I64, 0, 0);
}

static AstVal name_value(AstRun *r, const Ast *e, AstAt at) {
  AstKnown *k = ast_scope_find(r, at.scope, e->name.s);
  if (k && k->closure) return closure_value(r, k->closure, at);
  if (k) return label_value(r, k->label, at, e->span);
  AstGlobal *g = ast_global_find(r, at.scope, e->name.s);
  if (g && g->tensor) return read_tensor(r, g->tensor, e, at);
  if (g && !g->def && !g->monoid && !g->external) return val_int(DT_I64, g->size, WEAK_SIZE);
  ast_fail(r, e->span, "%s is neither a label on the left or reduced nor anything else known here",
           e->name.s->s);
  return ast_val(DT_I64, 0, 0);
}

/* ---- calls ----------------------------------------------------------------------------------- */

static AstVal call_def(AstRun *r, const Ast *e, const AstGlobal *g, AstAt at) {
  AstScope *c = ast_scope_of_call(r, at.scope, e, g);
  if (r->why) return ast_val(DT_I64, 0, 0);
  at.scope = c->body;
  return eval_whole(r, ast_result(c->def, e), at);
}

static AstVal call_random(AstRun *r, const Ast *e, Op op, AstAt at) {
  bool real = op == OP_UNIFORM || op == OP_NORMAL;
  AstVal out = ast_val(real ? DT_F32 : DT_I64, 0, 0);
  int64_t size;
  if (e->args.len != 1 || e->where || (!real && e->items.len != 1))
    ast_fail(r, e->span, "%s is written with labels and one seed", op_info[op].name);
  if (r->why) return out;
  AstVal seed = eval_index(r, e->args.at[0], at);
  out.none = seed.none;
  if (at.typing || seed.none) return ast_widened(out, at);
  int64_t k = row_major(r, &e->items, at, &size).v.i;
  switch (op) {
  case OP_UNIFORM: out.v.f = (double)ein_uniform(seed.v.i, k); break;
  case OP_NORMAL: out.v.f = (double)ein_normal(seed.v.i, k); break;
  case OP_PERMUTE: out.v.i = ein_permutation(seed.v.i, k, size); break;
  default: out.v.i = ein_inverse_permutation(seed.v.i, k, size);
  }
  return ast_widened(out, at);
}

static AstVal call_function(AstRun *r, const Ast *e, Op op, AstAt at) {
  AstVal x[3];
  if (e->bracketed || e->args.len != (uint32_t)op_info[op].arity || e->args.len > 3) {
    ast_fail(r, e->span, "%s takes %d arguments and no labels", op_info[op].name,
             op_info[op].arity);
    return ast_val(DT_I64, 0, 0);
  }
  if (op_info[op].rule == RULE_TEST) at = narrow(at);
  for (uint32_t i = 0; i < e->args.len; i++) x[i] = ast_eval_at(r, e->args.at[i], at);
  return apply(r, op, e->args.len, x, e->span);
}

static AstVal call_external(AstRun *r, const Ast *e, const AstStmt *st, AstAt at) {
  const Extern *x = r->e->exprs ? extern_find(r->e->exprs, st->name.s) : NULL;
  AstVal out = ast_val(x ? x->dtype : DT_F64, 0, 0);
  CallCell arg[EXTERN_ARGS], made = {.i = 0};
  if (!x || !x->call || e->bracketed || e->args.len != x->n) {
    ast_fail(r, e->span, "%s is no C function that can be called like this", st->name.s->s);
    return out;
  }
  for (uint32_t i = 0; i < x->n; i++) {
    AstVal v = ast_eval_at(r, e->args.at[i], narrow(at));
    out.none = i ? ast_worse(out.none, v.none) : v.none;
    v = ast_coerce(r, v, x->arg[i], e->args.at[i]->span);
    if (dtype_is_float(x->arg[i])) arg[i].f = v.v.f;
    else arg[i].i = v.v.i;
  }
  if (at.typing || out.none || r->why) return ast_widened(out, at);
  x->call(arg, &made);
  out.v.f = made.f;
  return ast_widened(out, at);
}

static AstVal call(AstRun *r, const Ast *e, AstAt at) {
  AstGlobal *g = ast_global_find(r, at.scope, e->name.s);
  Op op;
  if (g && g->def) return call_def(r, e, g, at);
  if (g && g->external) return call_external(r, e, g->external, at);
  if (g && g->monoid && e->bracketed && e->args.len == 1 && g->monoid->parts == 1) return ast_reduce(r, e, g, at);
  if (g && g->monoid && e->bracketed && e->args.len == g->monoid->parts && e->results == g->monoid->parts)
    return ast_reduce_tuple(r, e, g, at);
  if (!g && op_find(e->name.s->s, e->name.s->len, &op)) {
    if (op_info[op].rule == RULE_RANDOM || op_info[op].rule == RULE_INDEX)
      return call_random(r, e, op, at);
    if (op_info[op].laws & LAW_FUNCTION) return call_function(r, e, op, at);
  }
  ast_fail(r, e->span, "no function or def is called %s like this", e->name.s->s);
  return ast_val(DT_I64, 0, 0);
}

/* ---- expressions ----------------------------------------------------------------------------- */

static AstVal real(double f) {
  AstVal x = ast_val(DT_F64, WEAK_LITERAL, 0);
  x.v.f = f;
  return x;
}

static AstVal size_value(AstRun *r, const Ast *e, AstAt at) {
  AstLabel *l = label_find(r, at.scope, e->name);
  return val_int(DT_I64, l && !r->why ? ast_label_size(r, l, e->span) : 0, WEAK_SIZE);
}

static AstVal list_value(AstRun *r, const Ast *e, AstAt at) {
  AstLabel *l = label_find(r, at.scope, e->name);
  int64_t k = l && !r->why ? label_value(r, l, at, e->span).v.i : 0;
  AstVal out = ast_val(DT_I64, 0, 0);
  for (uint32_t i = 0; i < e->args.len && !r->why; i++) {
    AstAt in = at;
    in.typing = at.typing || i != k;
    AstVal x = ast_eval_at(r, e->args.at[i], in);
    out = i ? choose(r, out, x, i != k, e->span) : x;
  }
  return out;
}

static AstVal cast(AstRun *r, const Ast *e, AstAt at) {
  AstVal x = ast_eval_at(r, e->a, narrow(at));
  x.v = value_cast(x.v, e->dtype);
  x.weak = WEAK_NOT;
  return ast_widened(x, at);
}

static AstVal eval_kind(AstRun *r, const Ast *e, AstAt at) {
  switch (e->kind) {
  case AST_INT: return val_int(DT_I64, e->i, WEAK_LITERAL);
  case AST_REAL:
  case AST_CONST: return real(e->f);
  case AST_BOOL: return val_int(DT_BOOL, e->i != 0, WEAK_NOT);
  case AST_NAME: return name_value(r, e, at);
  case AST_INDEX: return index_value(r, e, at);
  case AST_SUBST: return substitute(r, e, NULL, at);
  case AST_NEG: return unary(r, e, OP_NEG, at);
  case AST_NOT: return unary(r, e, OP_NOT, at);
  case AST_BINARY: return binary(r, e, at);
  case AST_OR_ELSE: return or_else(r, e, at);
  case AST_IF: return conditional(r, e, at);
  case AST_REDUCE: return ast_reduce(r, e, NULL, at);
  case AST_CALL: return call(r, e, at);
  case AST_CAST: return cast(r, e, at);
  case AST_SIZE: return size_value(r, e, at);
  case AST_LIST: return list_value(r, e, at);
  case AST_PAREN: return ast_eval_at(r, e->a, at);
  case AST_RESULTS: bug("several results, and none is taken");
  case AST_GRAD: ast_fail(r, e->span, "the AST evaluator does no grad"); break;
  }
  return ast_val(DT_I64, 0, 0);
}

AstVal ast_eval_at(AstRun *r, const Ast *e, AstAt at) {
  if (!ast_enter(r, e)) return ast_val(DT_I64, 0, 0);
  AstVal x = eval_kind(r, e, at);
  r->depth--;
  return x;
}

AstVal ast_value(AstRun *r, const Ast *e, AstScope *s, const AstPoint *point, bool typing) {
  return ast_eval_at(r, e, (AstAt){s, point, typing, -1});
}

int64_t ast_size_value(AstRun *r, const Ast *e, AstScope *s) {
  AstVal x = ast_eval_at(r, e, (AstAt){s, NULL, false, -1});
  if (!r->why && (!dtype_is_int(x.v.dtype) || x.none || x.v.i < 0))
    ast_fail(r, e->span, "a size is a whole number, 0 or more");
  return r->why ? 0 : x.v.i;
}
