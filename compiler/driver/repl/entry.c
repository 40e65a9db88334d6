/* driver/repl/entry.c - makes entries of a sheet from a parsed statement: its text, the names it defines, those it
 * uses. The parser's memory ends with the query, so entries have copies of all that they keep. */
#include <string.h>

#include "sheet.h"

typedef struct Walk {        /* names met so far */
  Arena *arena;
  VEC(Used) used;
  Texts labels;              /* those that occur only in brackets, or with a size */
  const AstStmt *stmt;       /* its own names, such as a def's parameters, are not counted */
} Walk;

static bool is_own(const AstStmt *s, Str name) {
  if (s->kind == STMT_REPEAT && s->name.s == name) return true;
  for (uint32_t i = 0; i < s->params.len; i++)
    if (s->params.at[i].s == name) return true;
  for (uint32_t i = 0; s->kind == STMT_DEF && i < s->items.len; i++)
    if (s->items.at[i].e && s->items.at[i].e->name.s == name) return true;
  for (uint32_t i = 0; s->adjoint && i < s->adjoint->items.len; i++)
    if (ast_above(s->adjoint, i).s == name || ast_result_name(s->adjoint, i).s == name) return true;
  if (s->adjoint && is_own(s->adjoint, name)) return true;
  for (uint32_t i = 0; i < s->body.len; i++)
    if (s->body.at[i]->name.s == name || (s->body.at[i]->kind == STMT_REPEAT && is_own(s->body.at[i], name)))
      return true;
  return false;
}

static void use_add(Walk *w, Str name, bool bare) {
  if (!name || is_own(w->stmt, name)) return;
  for (uint32_t i = 0; i < w->used.len; i++)
    if (strcmp(w->used.at[i].name, name->s) == 0) {
      w->used.at[i].bare &= bare;
      return;
    }
  vec_push(w->arena, w->used, ((Used){arena_printf(w->arena, "%s", name->s), name_hash(name->s), bare}));
}

static void walk_items(Walk *w, const AstItems *items);

/* Left-deep chains are as long as a file allows; the parser bounds other nesting. */
static void walk(Walk *w, const Ast *e) {
  for (; e; e = e->a) {
    if (e->kind == AST_NAME) use_add(w, e->name.s, true);
    if (e->kind == AST_INDEX || e->kind == AST_CALL || e->kind == AST_GRAD) use_add(w, e->name.s, false);
    walk_items(w, &e->items);
    walk(w, e->b);
    walk(w, e->c);
    walk(w, e->where);
    for (uint32_t i = 0; i < e->args.len; i++) walk(w, e->args.at[i]);
  }
}

static void label_add(Walk *w, Str name) {
  if (name) vec_push(w->arena, w->labels, name->s);
}

static void walk_items(Walk *w, const AstItems *items) {
  for (uint32_t i = 0; i < items->len; i++) {
    label_add(w, items->at[i].name.s);
    if (items->at[i].e && items->at[i].e->kind == AST_NAME) label_add(w, items->at[i].e->name.s);
    walk(w, items->at[i].e);
    walk_items(w, &items->at[i].part);
  }
}

static void walk_stmt(Walk *w, const AstStmt *s) {
  walk_items(w, &s->items);
  walk(w, s->e);
  walk(w, s->until);
  walk(w, s->range);
  for (uint32_t i = 0; i < s->body.len; i++) walk_stmt(w, s->body.at[i]);
  if (s->adjoint) walk_stmt(w, s->adjoint);
}

/* A name that is never in brackets is no label: perhaps its tensor's indices were forgotten. */
static Used *walk_end(Walk *w, uint32_t *n) {
  for (uint32_t i = 0; i < w->used.len; i++) {
    bool label = false;
    for (uint32_t k = 0; k < w->labels.len && !label; k++) label = strcmp(w->labels.at[k], w->used.at[i].name) == 0;
    w->used.at[i].bare &= label;
  }
  *n = w->used.len;
  return w->used.at;
}

Used *names_used(Arena *a, const AstStmt *s, uint32_t *n) {
  Walk w = {.arena = a, .stmt = s};
  walk_stmt(&w, s);
  return walk_end(&w, n);
}

/* ---- entries ----------------------------------------------------------------------------------- */

static Entry *entry_new(const char *file, uint32_t line) {
  Arena *a = arena_new();
  return MAKE(a, Entry, .arena = a, .file = arena_printf(a, "%s", file), .line = line, .folder = ".");
}

static void names_set(Entry *e, const Texts *names) {
  e->n_names = names->len;
  e->name = NEW_ARRAY(e->arena, const char *, names->len + 1);
  e->hash = NEW_ARRAY(e->arena, uint32_t, names->len + 1);
  e->value = NEW_ARRAY(e->arena, Kept, names->len + 1);
  e->output = NEW_ARRAY(e->arena, bool, names->len + 1);
  e->outline = NEW_ARRAY(e->arena, Entry *, names->len + 1);
  for (uint32_t i = 0; i < names->len; i++) {
    e->name[i] = arena_printf(e->arena, "%s", names->at[i]);
    e->hash[i] = name_hash(names->at[i]);
  }
}

static bool is_stack(const AstStmt *s, Str turn) {
  for (uint32_t i = 0; i < s->items.len; i++)
    if (s->items.at[i].e && s->items.at[i].e->kind == AST_NAME && s->items.at[i].e->name.s == turn) return true;
  return false;
}

/* The names that a repeat defines: its counter, its states, and what its body stacks. */
static void repeat_names(Arena *a, const AstStmt *s, Texts *names) {
  vec_push(a, *names, s->name.s->s);
  vec_each_of(const AstStmt, b, s->body) {
    if (b->kind == STMT_STATE || (b->kind == STMT_EQUATION && is_stack(b, s->name.s)))
      vec_push(a, *names, b->name.s->s);
  }
}

static Entry *entry_whole(const AstStmt *s, const Texts *names, const char *file, uint32_t line) {
  Entry *e = entry_new(file, line);
  e->kind = s->kind;
  e->text = span_text(e->arena, s->span);
  e->rank = s->items.len;
  names_set(e, names);
  for (uint32_t i = 0; i < e->n_names; i++) e->output[i] = s->output;
  e->used = names_used(e->arena, s, &e->n_used);
  return e;
}

/* One of several declarations in a statement, as its own statement. */
static Entry *entry_declared(const AstStmt *s, const AstDecl *d, const char *file, uint32_t line) {
  Entry *e = entry_new(file, line);
  Walk w = {.arena = e->arena, .stmt = s};
  const char *name = d->name.s->s;
  Texts one = {&name, 1, 1};
  const char *word = s->kind == STMT_DIM ? "dim" : s->kind == STMT_PARAM ? "param" : "input";
  Buf b = buf_new(e->arena);
  buf_printf(&b, "%s %s", word, span_text(e->arena, d->span));
  if (s->dtype >= 0) buf_printf(&b, " : %s", dtype_name((DType)s->dtype));
  if (s->e) buf_printf(&b, " = %s", span_text(e->arena, s->e->span));
  e->kind = s->kind;
  e->text = s->decls.len == 1 ? span_text(e->arena, s->span) : b.s;
  e->rank = d->items.len;
  e->open_size = s->kind == STMT_DIM && !d->e;
  e->has_default = s->kind != STMT_DIM && s->e;
  names_set(e, &one);
  walk_items(&w, &d->items);
  walk(&w, d->e);
  walk(&w, s->e);
  e->used = walk_end(&w, &e->n_used);
  return e;
}

Entries entries_of(Arena *a, const AstStmt *s, const char *file, const char *folder, uint32_t line) {
  Entries all = {0};
  Texts names = {0};
  bool declares = s->kind == STMT_DIM || s->kind == STMT_INPUT || s->kind == STMT_PARAM;
  for (uint32_t i = 0; declares && i < s->decls.len; i++)
    vec_push(a, all, entry_declared(s, &s->decls.at[i], file, line));
  if (declares || s->behind) return all; /* behind: part of the entry of the equation with which it is written */
  if (s->kind == STMT_REPEAT) repeat_names(a, s, &names);
  else if (s->name.s && s->kind != STMT_USE)
    for (const AstStmt *x = s; x; x = x->also) vec_push(a, names, x->name.s->s);
  Entry *e = entry_whole(s, &names, file, line);
  if (s->kind == STMT_USE && s->text) e->module = arena_printf(e->arena, "%s", s->text->s);
  e->folder = arena_printf(e->arena, "%s", folder);
  vec_push(a, all, e);
  return all;
}

Entry *entry_input(const char *name, uint32_t rank, const char *declaration, const char *file, uint32_t line) {
  Entry *e = entry_new(file, line);
  Texts one = {&name, 1, 1};
  e->kind = STMT_INPUT;
  e->rank = rank;
  e->text = arena_printf(e->arena, "%s", declaration);
  names_set(e, &one);
  return e;
}

void entry_outline(Entry *e, uint32_t which, const char *declaration, const Texts *dims) {
  Entry *o = entry_input(e->name[which], e->rank, declaration, e->file, e->line);
  o->outlines = true;
  o->used = NEW_ARRAY(o->arena, Used, dims->len + 1);
  for (uint32_t i = 0; i < dims->len; i++)
    o->used[o->n_used++] = (Used){arena_printf(o->arena, "%s", dims->at[i]), name_hash(dims->at[i]), false};
  e->outline[which] = o;
}

Entry *entry_again(const Entry *old) {
  Entry *e = entry_new(old->file, old->line);
  Texts names = {old->name, old->n_names, old->n_names};
  e->kind = old->kind;
  e->text = arena_printf(e->arena, "%s", old->text);
  e->rank = old->rank;
  e->open_size = old->open_size;
  e->has_default = old->has_default;
  names_set(e, &names);
  memcpy(e->output, old->output, e->n_names * sizeof *e->output);
  e->n_used = old->n_used;
  e->used = NEW_ARRAY(e->arena, Used, e->n_used + 1);
  for (uint32_t i = 0; i < e->n_used; i++) {
    e->used[i] = old->used[i];
    e->used[i].name = arena_printf(e->arena, "%s", old->used[i].name);
  }
  return e;
}
