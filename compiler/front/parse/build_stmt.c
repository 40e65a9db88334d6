/* front/parse/build_stmt.c - builds statements for the grammar. In: tokens, expressions and lists; out: one AstStmt
 * per call, or a place for it in its block or file. */
#include <string.h>

#include "parse.h"

uint32_t names_none(Parse *p) {
  return p->lists.names.len;
}

uint32_t names_first(Parse *p, Token t) {
  names_add(p, t);
  return p->lists.names.len - 1;
}

void names_add(Parse *p, Token t) {
  vec_push(p->arena, p->lists.names, name_of(p, t));
}

uint32_t decls_first(Parse *p, AstDecl *d) {
  decls_add(p, d);
  return p->lists.decls.len - 1;
}

void decls_add(Parse *p, AstDecl *d) {
  vec_push(p->arena, p->lists.decls, *d);
}

/* Sizes of an input: label:size or a bare size. */
static void check_sizes(Parse *p, const AstItems *v) {
  vec_each(const AstItem, i, *v) {
    if (i->kind != ITEM_BIND && i->kind != ITEM_GROUP) continue;
    Diag *g =
        diag_add(p->diags, D_E020, i->span, "a declaration takes sizes, bare or with a label");
    diag_hint(p->diags, g, "write `X[8,N]` or `X[i:8,j:N]`");
  }
}

AstDecl *decl_of(Parse *p, Token name, Brackets *b, Ast *e) {
  AstDecl *d = MAKE(p->arena, AstDecl, .name = name_of(p, name), .e = e,
      .span = span_at(p, name.at, e ? e->span.end : b ? b->end : name.end));
  if (b) {
    d->bracketed = true;
    d->items = b->items;
    check_sizes(p, &d->items);
  }
  return d;
}

/* Elaboration refuses expressions (E077): it knows what they may have been meant for. */
static void check_left(Parse *p, const AstItems *v, const char *name) {
  vec_each(const AstItem, i, *v) {
    if (i->kind == ITEM_BIND) complain_bind(p, i, "the left of an equation");
    if (p->stmt.patched || i->kind != ITEM_EXPR || (i->e->kind != AST_INT && i->e->kind != AST_REAL)) continue;
    Diag *g =
        diag_add(p->diags, D_E020, i->span, "the left of an equation takes labels: it defines all elements at once");
    const char *index = i->e->kind == AST_INT ? arena_printf(p->arena, "%lld", (long long)i->e->i) : "0";
    if (p->stmt.first.kind == TOK_NEXT && v->len == 1)
      diag_hint(p->diags, g, "to change one element, write `next %s[i] = if i == %s then ... else %s[i]`", name, index,
          name);
    else diag_hint(p->diags, g, "one that differs is chosen on the right: `Y[i:4] = if i == %s then a else b`", index);
  }
}

AstLeft *build_left(Parse *p, Token name, Brackets *b) {
  AstLeft *l = MAKE(p->arena, AstLeft, .name = name_of(p, name), .b = b);
  if (b) check_left(p, &b->items, l->name.s->s);
  return l;
}

/* ---- statements ------------------------------------------------------------------------------ */

static AstStmt *stmt_new(Parse *p, StmtKind kind, uint32_t at) {
  return MAKE(p->arena, AstStmt, .kind = kind, .span = span_to_here(p, at), .dtype = -1);
}

static void stmt_dtype(Parse *p, AstStmt *s, Token t) {
  DType d;
  if (!t.kind) return;
  BUG_UNLESS(dtype_find(p->src->bytes + t.at, t.end - t.at, &d));
  s->dtype = (int8_t)d;
  s->dtype_span = span_at(p, t.at, t.end);
}

/* Gives a list on a right side, and the lists in it, the labels of the left: the outer one goes along the first. In a
 * declaration a bare name is a size. */
static void lists_along(Ast *e, AstName left, const AstItems *items, bool sizes, uint32_t k) {
  if (!e || e->kind != AST_LIST) return;
  const AstItem *it = k < items->len ? &items->at[k] : NULL;
  Str label = it && !(sizes && it->kind == ITEM_EXPR) ? ast_item_label(it) : NULL;
  if (label) e->name = (AstName){label, it->span};
  e->op_span = left.span;
  for (uint32_t i = 0; i < e->args.len; i++) lists_along(e->args.at[i], left, items, sizes, k + 1);
}

AstStmt *build_equation(Parse *p, StmtKind kind, Token first, AstLeft *l, Token dtype, Ast *e) {
  AstStmt *s = stmt_new(p, kind, first.kind ? first.at : l->name.span.at);
  s->output = first.kind == TOK_OUTPUT;
  s->name = l->name;
  s->bracketed = l->b != NULL;
  if (l->b) s->items = l->b->items;
  stmt_dtype(p, s, dtype);
  s->e = e;
  lists_along(e, s->name, &s->items, false, 0);
  return s;
}

AstSide *side_first(Parse *p, AstLeft *l, Token dtype) {
  return MAKE(p->arena, AstSide, .left = l, .dtype = dtype);
}

void side_add(Parse *p, AstSide *first, AstLeft *l, Token dtype) {
  while (first->next) first = first->next;
  first->next = side_first(p, l, dtype);
}

/* Each call makes a separate result: nodes are looked up by address. */
AstStmt *build_sides(Parse *p, StmtKind kind, Token first, AstSide *side, Ast *e) {
  uint32_t n = 0, k = 0, from = first.kind ? first.at : side->left->name.span.at;
  AstStmt *all = NULL, **at = &all;
  for (const AstSide *x = side; x; x = x->next) n++;
  if (e->kind != AST_CALL) {
    Diag *g = diag_add(p->diags, D_E098, e->span, "%u names are defined here by what is no call of a def", n);
    diag_hint(p->diags, g, "an equation defines one name; a def that ends with `(a, b)` gives several");
    return NULL;
  }
  for (; side; side = side->next) {
    AstStmt *s = build_equation(p, kind, first, side->left, side->dtype, k ? ast_copy(p->arena, p->strings, e) : e);
    s->span = span_to_here(p, from);
    s->behind = k > 0;
    s->e->result = ++k;
    s->e->results = n;
    *at = s;
    at = &s->also;
  }
  return all;
}

AstStmt *build_decls(Parse *p, StmtKind kind, Token first, uint32_t from, Token dtype, Ast *e) {
  AstStmt *s = stmt_new(p, kind, first.at);
  s->decls.len = s->decls.cap = p->lists.decls.len - from;
  s->decls.at = arena_copy(p->arena, p->lists.decls.at + from, sizeof(AstDecl) * s->decls.len);
  p->lists.decls.len = from;
  stmt_dtype(p, s, dtype);
  s->e = e;
  lists_along(e, s->decls.at[0].name, &s->decls.at[0].items, true, 0);
  return s;
}

static void stmt_body(AstStmt *s, const AstBlock *b) {
  s->body.at = b->stmts.at;
  s->body.len = b->stmts.len;
  s->body.cap = b->stmts.cap;
  s->block = true;
}

AstStmt *build_repeat(Parse *p, Token first, Token name, Ast *bound, Ast *until, AstBlock *body) {
  AstStmt *s = stmt_new(p, STMT_REPEAT, first.at);
  s->name = name_of(p, name);
  s->e = bound;
  s->until = until;
  stmt_body(s, body);
  return s;
}

static void stmt_params(Parse *p, AstStmt *s, uint32_t from) {
  s->params.len = s->params.cap = p->lists.names.len - from;
  if (s->params.len)
    s->params.at = arena_copy(p->arena, p->lists.names.at + from, sizeof(AstName) * s->params.len);
  p->lists.names.len = from;
}

static void stmt_labels(Parse *p, AstStmt *s, uint32_t from) {
  uint32_t n = p->lists.names.len - from;
  if (n) s->items.at = NEW_ARRAY(p->arena, AstItem, n);
  s->items.len = s->items.cap = n;
  for (uint32_t i = 0; i < n; i++) {
    Span at = p->lists.names.at[from + i].span;
    Ast *e = build_name(p, (Token){at.at, at.end, TOK_ID});
    s->items.at[i] = (AstItem){.kind = ITEM_EXPR, .span = at, .e = e};
  }
  s->bracketed = n > 0;
  p->lists.names.len = from;
}

AstStmt *build_def(Parse *p, Token first, Token name, uint32_t labels, uint32_t params,
                   AstBlock *body, Ast *e) {
  AstStmt *s = stmt_new(p, STMT_DEF, first.at);
  s->name = name_of(p, name);
  stmt_params(p, s, params);
  stmt_labels(p, s, labels);
  if (body) stmt_body(s, body);
  s->e = e;
  lists_along(e, s->name, &s->items, false, 0);
  return s;
}

AstStmt *build_adjoint(Parse *p, AstStmt *def, Token word, uint32_t items, AstBlock *body, Ast *e) {
  AstStmt *s = stmt_new(p, STMT_ADJOINT, word.at);
  s->items = brackets_of(p, items, NULL)->items;
  if (body) stmt_body(s, body);
  s->e = e;
  def->adjoint = s;
  def->span = span_to_here(p, def->span.at);
  return def;
}

AstStmt *build_monoid(
    Parse *p, Token first, Token name, uint32_t a, uint32_t b, Ast *e, Ast *identity, Ast *range) {
  AstStmt *s = stmt_new(p, STMT_MONOID, first.at);
  s->name = name_of(p, name);
  s->parts = b - a;
  stmt_params(p, s, a);
  s->e = e;
  s->until = identity;
  s->range = range;
  return s;
}

/* The text of a string: without its quotes, the second of which may be missing. */
static void stmt_text(Parse *p, AstStmt *s, Token t) {
  uint32_t at = t.at + 1, end = t.end;
  if (end > at && p->src->bytes[end - 1] == '"') end--;
  s->text = str_of(p->strings, p->src->bytes + at, end - at);
  s->text_span = span_at(p, t.at, t.end);
}

/* ---- extern def erfcx(x : f64) : f64 = "erfcx" from "faddeeva.c" cost 40 --------------------------- */

uint32_t takes_first(Parse *p, Token name, Token dtype) {
  takes_add(p, name, dtype);
  return p->lists.takes.len - 1;
}

void takes_add(Parse *p, Token name, Token dtype) {
  AstTake t = {.name = name_of(p, name), .span = span_at(p, name.at, dtype.end)};
  BUG_UNLESS(dtype_find(p->src->bytes + dtype.at, dtype.end - dtype.at, &t.dtype));
  vec_push(p->arena, p->lists.takes, t);
}

AstCost *build_cost(Parse *p, Token word, Token amount) {
  AstCost *c = NEW(p->arena, AstCost);
  const char *s = p->src->bytes + word.at;
  c->span = span_at(p, amount.at, amount.end);
  if (word.end - word.at != 4 || memcmp(s, "cost", 4) != 0) {
    int n = (int)(word.end - word.at < 40 ? word.end - word.at : 40);
    Diag *g =
        diag_add(p->diags, D_E001, span_at(p, word.at, word.end), "unexpected name `%.*s`, expected `cost`", n, s);
    diag_hint(p->diags, g, "`cost 40` says how many operations a call takes");
  }
  bool fits = int64_read(p->src->bytes + amount.at, amount.end - amount.at, &c->amount) && c->amount <= INT32_MAX;
  if (fits) return c;
  diag_add(p->diags, D_E004, c->span, "this number is too large");
  return NULL;
}

AstStmt *build_extern(
    Parse *p, Token first, Token name, uint32_t from, Token dtype, Token symbol, Token source, AstCost *cost) {
  AstStmt *s = stmt_new(p, STMT_EXTERN, first.at);
  s->name = name_of(p, name);
  s->takes.len = s->takes.cap = p->lists.takes.len - from;
  s->takes.at = arena_copy(p->arena, p->lists.takes.at + from, sizeof(AstTake) * s->takes.len);
  p->lists.takes.len = from;
  stmt_dtype(p, s, dtype);
  by_take(p, s, &(AstBy){symbol, source, cost});
  return s;
}

AstBy *build_by(Parse *p, Token symbol, Token source, AstCost *cost) {
  return MAKE(p->arena, AstBy, symbol, source, cost);
}

void by_take(Parse *p, AstStmt *s, const AstBy *by) {
  if (!by) return;
  if (by->source.kind) {
    stmt_text(p, s, by->source);
    s->source = s->text;
    s->source_span = s->text_span;
  }
  stmt_text(p, s, by->symbol);
  s->cost = by->cost;
}

AstStmt *build_use(Parse *p, Token first, Token what) {
  AstStmt *s = stmt_new(p, STMT_USE, first.at);
  if (what.kind == TOK_STRING)
    stmt_text(p, s, what);
  else
    s->name = name_of(p, what);
  return s;
}

AstStmt *build_assert(Parse *p, Token first, Ast *e, Token text) {
  AstStmt *s = stmt_new(p, STMT_ASSERT, first.at);
  s->e = e;
  stmt_text(p, s, text);
  return s;
}

/* ---- assert on 16 sites: memory <= 24 GB --------------------------------------------------------- */

uint32_t limits_first(Parse *p, AstLimit *l) {
  limits_add(p, l);
  return p->lists.limits.len - 1;
}

void limits_add(Parse *p, AstLimit *l) {
  vec_push(p->arena, p->lists.limits, *l);
}

AstLimit *build_limit(Parse *p, Token what, Token op, Token amount, Token unit) {
  AstLimit *l = MAKE(p->arena, AstLimit, .what = name_of(p, what), .op = op_of(op.kind),
      .amount_span = span_at(p, amount.at, amount.end));
  if (unit.kind) l->unit = name_of(p, unit);
  if (!double_read(p->src->bytes + amount.at, amount.end - amount.at, &l->amount))
    diag_add(p->diags, D_E004, l->amount_span, "this number is too large");
  l->span = span_at(p, what.at, unit.kind ? unit.end : amount.end);
  return l;
}

/* Words that have a meaning only here, and may be any name elsewhere. */
static void word_here(Parse *p, Token t, const char *word, const char *other) {
  const char *s = p->src->bytes + t.at;
  size_t n = t.end - t.at;
  if ((n == strlen(word) && memcmp(s, word, n) == 0) || (n == strlen(other) && memcmp(s, other, n) == 0)) return;
  Diag *g = diag_add(p->diags, D_E001, span_at(p, t.at, t.end), "unexpected name `%.*s`, expected `%s`",
      (int)(n < 40 ? n : 40), s, word);
  diag_hint(p->diags, g, "a plan is held to limits by `assert on 16 sites: bytes <= 3 GB`");
}

AstStmt *build_limits(Parse *p, Token first, Token on, Ast *sites, Token word, uint32_t from) {
  AstStmt *s = stmt_new(p, STMT_LIMITS, first.at);
  word_here(p, on, "on", "on");
  word_here(p, word, "sites", "site");
  s->e = sites;
  s->limits.len = s->limits.cap = p->lists.limits.len - from;
  s->limits.at = arena_copy(p->arena, p->lists.limits.at + from, sizeof(AstLimit) * s->limits.len);
  p->lists.limits.len = from;
  return s;
}

/* ---- destinations ---------------------------------------------------------------------------- */

AstBlock *block_new(Parse *p) {
  return NEW(p->arena, AstBlock);
}

void block_add(Parse *p, AstBlock *b, AstStmt *s) {
  for (; s; s = s->also) vec_push(p->arena, b->stmts, s);
}

void file_add(Parse *p, AstStmt *s) {
  for (; s; s = s->also) vec_push(p->arena, p->file->stmts, s);
}
