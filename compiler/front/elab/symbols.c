/* front/elab/symbols.c - names: one namespace for dims, tensors, defs and monoids, visible from their definition on. */
#include "elab.h"

#include <ctype.h>
#include <string.h>

static Symbol *table_find(const SymTable *t, Str name, uint32_t before) {
  for (; t; t = t->parent) {
    Symbol *s = map_find(&t->map, name);
    while (s && s->order >= before) s = s->older;
    if (s) return s;
  }
  return NULL;
}

Symbol *symbol_find(Elab *x, Str name, uint32_t before_order) {
  Symbol *y = table_find(x->around.syms, name, before_order);
  return y ? y : map_find(&x->lost, name);
}

bool name_is_builtin(Str name) {
  Op op;
  Reducer r;
  if (op_find(name->s, name->len, &op))
    return (op_info[op].laws & LAW_FUNCTION) || op_info[op].rule == RULE_RANDOM ||
           (op_info[op].rule == RULE_INDEX && !(op_info[op].laws & LAW_LOOP));
  return reducer_find(name->s, name->len, &r) && r != RED_NONE && r != RED_MONOID;
}

static bool in_name(char c) { return c == '_' || c == '\'' || c < 0 || isalnum((unsigned char)c); }

/* `x = x + 1`: the name occurs in what follows on its line. */
static bool reads_itself(AstName name) {
  const char *s = name.span.src ? name.span.src->bytes + name.span.end : "";
  size_t n = name.s->len, line = strcspn(s, "\n#");
  for (size_t i = 1; n && i + n <= line; i++)
    if (!in_name(s[i - 1]) && !in_name(s[i + n]) && memcmp(s + i, name.s->s, n) == 0) return true;
  return false;
}

Symbol *symbol_add(Elab *x, SymKind kind, AstName name) {
  Symbol *s = NEW(x->arena, Symbol);
  *s = (Symbol){.kind = kind, .name = name.s, .span = name.span, .order = x->order++, .state = -1, .quiet = x->module};
  Symbol *old = table_find(x->around.syms, name.s, UINT32_MAX);
  if (old && !(old->turns && kind == SYM_TURN)) {
    Diag *d = diag_add(x->diags, D_E050, name.span, "%s is defined twice", name.s->s);
    diag_at(x->diags, d, old->span, "first defined here");
    if (old->block && old->block == x->around.block && kind == SYM_TENSOR)
      diag_hint(x->diags, d, "what a state becomes is its next: `next %s = ...`", name.s->s);
    else if (kind == SYM_TENSOR && old->kind == SYM_TENSOR && reads_itself(name))
      diag_hint(x->diags, d,
          "`=` defines a name once: choose another, or for what changes over time a `state` of a `repeat`");
    else diag_hint(x->diags, d, "`=` defines a name once; choose another name for the second");
    s->quiet = true;
  } else if (name_is_builtin(name.s)) {
    Diag *d = diag_add(x->diags, D_E051, name.span, "%s is the name of a built-in function", name.s->s);
    diag_hint(x->diags, d, "choose another name, such as `%s_`", name.s->s);
  }
  Symbol *here = map_find(&x->around.syms->map, name.s);
  s->older = here && here->older ? here->older : here; /* the first one: those in between were reported */
  map_put(&x->around.syms->map, name.s, s);
  vec_push(x->arena, x->around.syms->all, s);
  return s;
}

typedef struct Near { Str name; const char *best; uint32_t distance; } Near;

/* Equal except for case: nothing is nearer. */
static bool same_letters(const Near *n, const char *s, size_t len) {
  size_t i = 0;
  while (i < len && len == n->name->len && char_lower(s[i]) == char_lower(n->name->s[i])) i++;
  return len && i == len;
}

static void near_try(Near *n, const char *s, size_t len) {
  if (n->distance && same_letters(n, s, len)) n->best = s, n->distance = 0;
  uint32_t d = str_distance(n->name->s, n->name->len, s, (uint32_t)len, n->distance);
  if (d && d < n->distance && d < len) n->best = s, n->distance = d;
}

/* Comparing with all names for each of a hundred thousand errors would take far too long, and nobody reads so many. */
static bool too_many(const Elab *x) { return x->diags->errors > 200; }

/* NULL if nothing is near. */
static const char *nearest_name(Elab *x, Str name, const Frame *f) {
  if (too_many(x)) return NULL;
  Near n = {name, NULL, name->len < 3 ? 2 : name->len / 3 + 1};
  for (uint32_t i = 0; f && i < f->locals.len; i++) near_try(&n, f->locals.at[i].name->s, f->locals.at[i].name->len);
  for (const SymTable *t = x->around.syms; t; t = t->parent)
    for (uint32_t i = 0; i < t->all.len && i < 5000; i++) near_try(&n, t->all.at[i]->name->s, t->all.at[i]->name->len);
  for (int op = 0; op < OPS; op++)
    if (op_info[op].laws & LAW_FUNCTION) near_try(&n, op_info[op].name, strlen(op_info[op].name));
  for (int r = RED_NONE + 1; r < RED_MONOID; r++) near_try(&n, reducer_info[r].name, strlen(reducer_info[r].name));
  return n.best;
}

/* ---- what messages say about places ------------------------------------------------------------- */

const char *source_text(Elab *x, Span s) {
  enum { MOST = 50 };
  if (!s.src || s.end - s.at > MOST || memchr(s.src->bytes + s.at, '\n', s.end - s.at)) return "...";
  return arena_printf(x->arena, "%.*s", (int)(s.end - s.at), s.src->bytes + s.at);
}

bool span_holds(Span all, Span one) { return all.src == one.src && all.at <= one.at && one.end <= all.end; }

typedef struct Found { Span name, stmt, block; } Found; /* block: the innermost enclosing repeat, or nowhere */

static bool defined_by(const AstStmt *s, Str name, Found *f) {
  f->stmt = s->span;
  f->name = s->name.span;
  for (uint32_t i = 0; i < s->decls.len; i++)
    if (s->kind != STMT_OUTPUT && s->decls.at[i].name.s == name) {
      f->name = s->decls.at[i].name.span;
      f->stmt = s->decls.at[i].span;
      return true;
    }
  return s->name.s == name && s->kind != STMT_USE && s->kind != STMT_NEXT && s->kind != STMT_REPEAT;
}

/* Where the program defines a name, visible or not. The parser bounds how deep blocks nest. */
static bool defined_in(AstStmt *const *stmt, uint32_t n, Str name, Span block, Found *f) {
  for (uint32_t i = 0; i < n; i++) {
    f->block = block;
    if (defined_by(stmt[i], name, f)) return true;
    if (stmt[i]->kind == STMT_REPEAT && defined_in(stmt[i]->body.at, stmt[i]->body.len, name, stmt[i]->span, f))
      return true;
  }
  return false;
}

static bool reads_name(const Ast *e, Str name) {
  for (; e; e = e->a) { /* a long chain of operators goes to the left */
    if ((e->kind == AST_NAME || e->kind == AST_INDEX) && e->name.s == name) return true;
    vec_each(const AstItem, it, e->items)
      if (reads_name(it->e, name)) return true;
    vec_each_of(const Ast, arg, e->args)
      if (reads_name(arg, name)) return true;
    if (reads_name(e->b, name) || reads_name(e->c, name) || reads_name(e->where, name)) return true;
  }
  return false;
}

enum { CIRCLE_MOST = 64 };   /* equations looked at */

typedef struct Circle {
  const AstFile *file;
  Str goal;
  uint32_t n;
  const AstStmt *seen[CIRCLE_MOST];
} Circle;

/* Whether the equation is computed from the goal, perhaps through other equations. */
static bool leads_back(Circle *c, const AstStmt *s) {
  for (uint32_t i = 0; i < c->n; i++)
    if (c->seen[i] == s) return false;
  if (s->kind != STMT_EQUATION || c->n == CIRCLE_MOST) return false;
  c->seen[c->n++] = s;
  if (reads_name(s->e, c->goal)) return true;
  vec_each_of(const AstStmt, t, c->file->stmts)
    if (reads_name(s->e, t->name.s) && leads_back(c, t)) return true;
  return false;
}

/* The name that the equation with this use defines, if what is used is itself computed from it; else NULL. */
static Str circle_of(const AstFile *file, AstName name) {
  const AstStmt *user = NULL, *made = NULL;
  vec_each_of(const AstStmt, s, file->stmts) {
    if (s->kind != STMT_EQUATION) continue;
    if (span_holds(s->span, name.span)) user = s;
    if (s->name.s == name.s) made = s;
  }
  return user && made && leads_back(&(Circle){.file = file, .goal = user->name.s}, made) ? user->name.s : NULL;
}

static bool diag_out_of_sight(Elab *x, Diag *d, AstName name) {
  const AstFile *file = x->program->file;
  Found f = {0};
  if (too_many(x) || !defined_in(file->stmts.at, file->stmts.len, name.s, (Span){0}, &f)) return false;
  if (span_holds(f.stmt, name.span)) {
    diag_hint(x->diags, d, "%s is what is being defined; what changes over time is a `state` of a `repeat`", name.s->s);
  } else if (!f.block.src || f.name.at > name.span.at) {
    Str back = f.block.src ? NULL : circle_of(file, name);
    diag_at(x->diags, d, f.name, "defined here, after its use");
    if (back)
      diag_hint(x->diags, d,
                "%s is computed from %s, so neither can come first; what changes over time is a `state` of a `repeat`",
                name.s->s, back->s);
    else if (!f.block.src) diag_hint(x->diags, d, "move this above its use");
  } else if (span_holds(f.block, name.span)) {
    diag_at(x->diags, d, f.name, "computed in every turn");
    diag_hint(x->diags, d, "a state's first value is computed before the block");
  } else {
    diag_at(x->diags, d, f.name, "known in its repeat block only");
    diag_hint(x->diags, d, "what is expected after the block is a `state`, or stacked: `L[t] = %s`", name.s->s);
  }
  return true;
}

bool diag_unknown(Elab *x, Diag *d, AstName name, const Frame *f) {
  const Symbol *y = symbol_find(x, name.s, UINT32_MAX);
  if (y && f && f->def == y->stmt) {
    diag_hint(x->diags, d, "a def cannot use itself; `repeat` iterates");
    return true;
  }
  if (y) {
    diag_at(x->diags, d, y->span, f ? "defined here, after the def that uses it" : "defined here");
    return true;
  }
  if (diag_out_of_sight(x, d, name)) return true;
  const char *near = nearest_name(x, name.s, f);
  if (!(near && strlen(near) == name.s->len && same_letters(&(Near){.name = name.s}, near, name.s->len)) &&
      hint_name(x, d, name))
    return true;
  if (near) diag_hint(x->diags, d, "did you mean `%s`?", near);
  return near != NULL;
}

/* A mistake inside a def of another file is shown at the program's call of it. */
void diag_called(Elab *x, Diag *d, const Frame *f) {
  if (!f) return;
  while (f->parent) f = f->parent;
  DiagSpan was = d->spans.at[0];
  const Source *own = x->program->file->src;
  if (!was.span.src || was.span.src == own || f->call.src != own) {
    diag_at(x->diags, d, f->call, "called here");
    return;
  }
  d->spans.at[0] = (DiagSpan){f->call, NULL};
  diag_at(x->diags, d, was.span, "%s", was.note ? was.note : "in this def");
}

void warn_unused(Elab *x, const SymTable *t) {
  vec_each_of(const Symbol, s, t->all) {
    if (s->used || s->output || s->quiet || s->name->s[0] == '_' || s->kind == SYM_TURN) continue;
    Diag *d = diag_add(x->diags, D_W001, s->span, "%s is never used", s->name->s);
    if (s->kind == SYM_TENSOR && s->node && s->node->kind == EIN_VERTEX && !t->parent)
      diag_hint(x->diags, d, "write `output %s` if it is a result, or delete it", s->name->s);
  }
}
