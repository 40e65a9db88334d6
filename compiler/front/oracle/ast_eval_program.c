/* front/oracle/ast_eval_program.c - the AST evaluator's statements: what each defines, and tensors filled point by
 * point. */
#include "ast_eval_scope.h"

enum { MAX_AXES = 64, EARLY = 16, BEYOND = 4 };

static AstGlobal *define(AstRun *r, AstName name) {
  AstGlobal *g = NEW(r->arena, AstGlobal);
  if (map_find(&r->globals, name.s)) ast_fail(r, name.span, "%s is defined twice", name.s->s);
  g->age = r->age++;
  map_put(&r->globals, name.s, g);
  return g;
}

typedef struct Filling { /* a tensor under construction: labels in row-major order, axes that may merge several */
  AstTensor *t;
  const Ast *e;
  AstScope *scope;
  AstLabels labels;
  Span at;
  int64_t from, done;  /* the work before it; points that are filled */
} Filling;

static void fill_axis(AstRun *r, Filling *f, AstLabels labels) {
  int64_t n = 1;
  for (uint32_t i = 0; i < labels.len && !r->why; i++) {
    AstLabel *l = labels.at[i];
    vec_push(r->arena, f->labels, l);
    if (!mul_ok(n, ast_label_size(r, l, f->at), &n)) ast_fail(r, f->at, "too large");
  }
  f->t->shape[f->t->rank++] = n;
  if (n > r->limit || !mul_ok(f->t->count, n, &f->t->count) || f->t->count > r->limit)
    ast_fail(r, f->at, "too many points for the AST evaluator");
}

static void left_labels(AstRun *r, Filling *f, const AstItem *it, AstLabels *out) {
  AstName name;
  for (uint32_t i = 0; i < it->part.len; i++) left_labels(r, f, &it->part.at[i], out);
  if (it->kind == ITEM_GROUP) return;
  if (!ast_item_name(it, &name)) {
    ast_fail(r, it->span, "on the left stand labels");
    return;
  }
  AstLabel *l = ast_label_new(r, f->scope, name, f->e, f->scope);
  if (it->kind == ITEM_SIZED) l->written = ast_size_value(r, it->e, f->scope);
  vec_push(r->arena, *out, l);
}

/* Whether a tensor will take far more than the work that is left, if its other points take what those before took: so
 * what will fail fails early. Points may take more or less than others, which the factor allows for. */
static bool too_far(const AstRun *r, const Filling *f) {
  int64_t spent = r->work - f->from;
  if (spent < r->limit / EARLY) return false;
  double ahead = (double)spent / (double)f->done * (double)(f->t->count - f->done);
  return ahead > (double)BEYOND * (double)r->limit;
}

static void fill_over(AstRun *r, Filling *f, uint32_t k, const AstPoint *point, int64_t flat) {
  if (k < f->labels.len) {
    int64_t n = ast_label_size(r, f->labels.at[k], f->at);
    for (int64_t i = 0; i < n && !r->why; i++)
      fill_over(r, f, k + 1, &(AstPoint){point, f->labels.at[k], i}, flat * n + i);
    return;
  }
  AstVal x = ast_value(r, f->e, f->scope, point, false);
  if (x.none && !r->why)
    ast_fail(r, f->e->span, "%s has no value at place %lld", f->t->name->s, (long long)flat);
  if (!r->why) f->t->at[flat] = ast_coerce(r, x, f->t->dtype, f->e->span).v;
  f->done++;
  if (!r->why && too_far(r, f)) ast_fail(r, f->e->span, "too much work for the AST evaluator");
}

static AstTensor *tensor_new(AstRun *r, Str name, uint32_t rank) {
  return MAKE(r->arena, AstTensor, .name = name, .shape = NEW_ARRAY(r->arena, int64_t, rank + 1), .count = 1);
}

static void tensor_done(AstRun *r, AstName name, AstTensor *t) {
  AstGlobal *g = define(r, name);
  g->tensor = t;
  if (!r->why) vec_push(r->arena, r->e->tensors, t);
}

static void equation(AstRun *r, const AstStmt *st) {
  AstScope *s = ast_scope_new(r, NULL);
  Filling f = {.t = tensor_new(r, st->name.s, st->items.len), .e = st->e, .scope = s, .at = st->span};
  AstLabels axis[MAX_AXES] = {0};
  if (st->items.len > MAX_AXES) ast_fail(r, st->span, "too many axes");
  for (uint32_t i = 0; i < st->items.len && !r->why; i++)
    left_labels(r, &f, &st->items.at[i], &axis[i]);
  for (uint32_t i = 0; i < st->items.len && !r->why; i++) fill_axis(r, &f, axis[i]);
  if (r->why) return;
  AstVal type = ast_value(r, st->e, s, NULL, true);
  f.t->dtype = st->dtype >= 0 ? (DType)st->dtype : ast_typed(type);
  f.t->output = st->output;
  if (r->why) return;
  f.t->at = NEW_ARRAY(r->arena, Value, f.t->count);
  f.from = r->work;
  fill_over(r, &f, 0, NULL, 0);
  tensor_done(r, st->name, f.t);
}

static void declaration(AstRun *r, const AstStmt *st, const AstDecl *d) {
  AstEval *e = r->e;
  AstScope *s = ast_scope_new(r, NULL);
  Filling f = {.t = tensor_new(r, d->name.s, d->items.len), .e = st->e, .scope = s, .at = d->span, .from = r->work};
  f.t->dtype = st->dtype < 0 ? DT_F32 : (DType)st->dtype;
  f.t->input = true;
  for (uint32_t i = 0; i < d->items.len && !r->why; i++) {
    const AstItem *it = &d->items.at[i];
    AstLabels one = {0};
    AstLabel *l = ast_label_new(r, s, it->kind == ITEM_SIZED ? it->name : (AstName){0}, st->e, s);
    if (it->kind != ITEM_SIZED && it->kind != ITEM_EXPR)
      ast_fail(r, it->span, "a size is expected here");
    else
      l->written = ast_size_value(r, it->e, s);
    vec_push(r->arena, one, l);
    fill_axis(r, &f, one);
  }
  if (r->why) return;
  f.t->at = NEW_ARRAY(r->arena, Value, f.t->count);
  bool given = e->input && e->input(e->ctx, d->name.s, f.t);
  for (int64_t i = 0; given && i < f.t->count; i++) f.t->at[i] = value_cast(f.t->at[i], f.t->dtype);
  if (!given && !st->e)
    ast_fail(r, d->span, "input %s is not given and has no default", d->name.s->s);
  else if (!given)
    fill_over(r, &f, 0, NULL, 0);
  tensor_done(r, d->name, f.t);
}

static void dimension(AstRun *r, const AstDecl *d) {
  int64_t v = 0;
  AstScope *s = ast_scope_new(r, NULL);
  bool given = r->e->dim && r->e->dim(r->e->ctx, d->name.s, &v);
  if (!given && !d->e)
    ast_fail(r, d->span, "dim %s has no value", d->name.s->s);
  else if (!given)
    v = ast_size_value(r, d->e, s);
  define(r, d->name)->size = v;
}

static void monoid(AstRun *r, const AstStmt *st) {
  AstGlobal *g = define(r, st->name);
  g->monoid = st;
  if (st->params.len != 2 * st->parts) ast_fail(r, st->span, "a monoid has two parameters");
  for (int t = 0; t < DTYPES && st->parts == 1 && !r->why; t++) {
    AstScope *s = g->at[t].scope = ast_scope_new(r, NULL);
    s->before = g->age;
    for (uint32_t i = 0; i < 2; i++) {
      AstClosure *c = g->at[t].operand[i] = NEW(r->arena, AstClosure);
      c->dtype = -1;
      ast_scope_put(r, s, st->params.at[i].s, (AstKnown){.closure = c});
    }
  }
}

static void mark_output(AstRun *r, AstName name) {
  AstGlobal *g = map_find(&r->globals, name.s);
  if (g && g->tensor)
    g->tensor->output = true;
  else
    ast_fail(r, name.span, "nothing that is known here is called %s", name.s->s);
}

static void check(AstRun *r, const AstStmt *st) {
  AstVal x = ast_value(r, st->e, ast_scope_new(r, NULL), NULL, false);
  if (x.v.dtype != DT_BOOL || x.none)
    ast_fail(r, st->span, "an assert is a bool that has a value");
  else if (!x.v.i)
    ast_fail(r, st->span, "assert: %s", st->text ? st->text->s : "failed");
}

static void statement(AstRun *r, const AstStmt *st) {
  switch (st->kind) {
  case STMT_DIM:
    for (uint32_t i = 0; i < st->decls.len && !r->why; i++) dimension(r, &st->decls.at[i]);
    break;
  case STMT_INPUT:
  case STMT_PARAM:
    for (uint32_t i = 0; i < st->decls.len && !r->why; i++) declaration(r, st, &st->decls.at[i]);
    break;
  case STMT_EQUATION: equation(r, st); break;
  case STMT_OUTPUT:
    for (uint32_t i = 0; i < st->decls.len; i++) mark_output(r, st->decls.at[i].name);
    break;
  case STMT_DEF: define(r, st->name)->def = st; break;
  case STMT_MONOID: monoid(r, st); break;
  case STMT_EXTERN: define(r, st->name)->external = st; break;
  case STMT_ASSERT: check(r, st); break;
  case STMT_ADJOINT: /* within a def */
  case STMT_USE:
  case STMT_LIMITS: break; /* limits of plans, which are not made here */
  case STMT_STATE:
  case STMT_NEXT:
  case STMT_REPEAT: ast_fail(r, st->span, "the AST evaluator does no repeat");
  }
}

bool ast_eval(AstEval *e, const char **why, Span *where) {
  AstRun r = {.e = e, .arena = e->arena, .globals = map_new(e->arena)};
  r.limit = e->max_points > 0 ? e->max_points : (int64_t)1 << 26;
  for (uint32_t m = 0; m <= e->n_modules; m++) {
    const AstFile *f = m < e->n_modules ? e->modules[m] : e->file;
    if (f->broken) ast_fail(&r, (Span){.src = f->src}, "the program did not parse");
    for (uint32_t i = 0; i < f->stmts.len && !r.why; i++) statement(&r, f->stmts.at[i]);
  }
  e->work = r.work;
  *why = r.why;
  *where = r.where;
  return !r.why;
}
