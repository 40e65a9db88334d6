/* front/groups.c - rewrites a def that is called over groups, `variance[(y x)](u)` or `variance[y,x](u)`, and the
 * call, to an equivalent def with a label for each part: a reducer over the def's label becomes one over the group,
 * the label as a number its row-major place, size(label) the product. Parts are called `label.part`, which no program
 * can contain. If this is impossible, the group is substituted for the label. */
#include "front/ast.h"

#include <string.h>

typedef struct Groups {
  Arena *arena;
  Strings *strings;
  const AstStmt *def;
  VEC(AstItems) parts; /* for each label of the def: its parts, ITEM_EXPR each; none if no group was given */
  AstName wrong;
} Groups;

static Ast *copy(Groups *g, const Ast *a);

/* The parts that replace a label of the def; NULL: none do. */
static const AstItems *parts_of(const Groups *g, Str name) {
  for (uint32_t i = 0; name && i < g->parts.len; i++)
    if (g->parts.at[i].len && g->def->items.at[i].e->name.s == name) return &g->parts.at[i];
  return NULL;
}

static Ast *node(Groups *g, AstKind kind, Span span) {
  return MAKE(g->arena, Ast, .kind = kind, .span = span, .op_span = span, .acc = -1, .depth = 1);
}

static Ast *binary(Groups *g, Op op, Ast *a, Ast *b) {
  Ast *c = node(g, AST_BINARY, a->span);
  c->op = (uint8_t)op, c->a = a, c->b = b;
  return c;
}

static Ast *size_of(Groups *g, const AstItem *part) {
  Ast *a = node(g, AST_SIZE, part->span);
  a->name = part->e->name;
  return a;
}

/* size(j), or j as a number, if j is a group. */
static Ast *number(Groups *g, const AstItems *parts, bool size) {
  Ast *all = NULL;
  for (uint32_t i = 0; i < parts->len; i++) {
    Ast *n = size_of(g, &parts->at[i]);
    all = all ? binary(g, OP_MUL, all, n) : size ? n : parts->at[i].e;
    if (!size && i) all = binary(g, OP_ADD, all, parts->at[i].e);
  }
  Ast *p = node(g, AST_PAREN, all->span);
  p->a = all;
  return p;
}

static void item_copy(Groups *g, const AstItem *it, bool flat, AstItems *out) {
  const AstItems *parts = it->kind == ITEM_EXPR && it->e->kind == AST_NAME ? parts_of(g, it->e->name.s) : NULL;
  if (parts && !flat) {
    vec_push(g->arena, *out, ((AstItem){.kind = ITEM_GROUP, .span = it->span, .part = *parts}));
  } else if (parts) {
    for (uint32_t k = 0; k < parts->len; k++) vec_push(g->arena, *out, parts->at[k]);
  } else {
    if ((it->kind == ITEM_BIND || it->kind == ITEM_SIZED) && parts_of(g, it->name.s)) g->wrong = it->name;
    AstItem to = *it;
    to.part = (AstItems){0};
    for (uint32_t k = 0; k < it->part.len; k++) item_copy(g, &it->part.at[k], true, &to.part);
    to.e = copy(g, it->e);
    vec_push(g->arena, *out, to);
  }
}

/* Random numbers take labels and no groups, but also count row by row. */
static bool takes_no_groups(const Ast *a) {
  Op op;
  return a->kind == AST_CALL && op_find(a->name.s->s, a->name.s->len, &op);
}

static Ast *copy_node(Groups *g, const Ast *a) {
  const AstItems *parts = a->kind == AST_NAME || a->kind == AST_SIZE ? parts_of(g, a->name.s) : NULL;
  if (parts) return number(g, parts, a->kind == AST_SIZE);
  if (a->kind == AST_LIST && parts_of(g, a->name.s)) g->wrong = a->name;
  Ast *to = arena_copy(g->arena, a, sizeof *to);
  to->b = copy(g, a->b);
  to->c = copy(g, a->c);
  to->where = copy(g, a->where);
  to->items = (AstItems){0};
  for (uint32_t i = 0; i < a->items.len; i++) item_copy(g, &a->items.at[i], takes_no_groups(a), &to->items);
  memset(&to->args, 0, sizeof to->args);
  for (uint32_t i = 0; i < a->args.len; i++) vec_push(g->arena, to->args, copy(g, a->args.at[i]));
  return to;
}

/* Left-deep chains are long, so a loop walks `a`. */
static Ast *copy(Groups *g, const Ast *a) {
  Ast *first = NULL, **at = &first;
  for (; a; a = a->a) {
    *at = copy_node(g, a);
    if (a->kind == AST_NAME || a->kind == AST_SIZE) break;
    at = &(*at)->a;
  }
  return first;
}

static AstItems parts_new(Groups *g, Str label, const AstItem *it) {
  AstItems parts = {0};
  for (uint32_t k = 0; it->kind == ITEM_GROUP && k < it->part.len; k++) {
    Str name = ast_item_label(&it->part.at[k]);
    if (!name) continue; /* reported where the call's labels are read */
    Ast *e = node(g, AST_NAME, it->part.at[k].span);
    e->name = (AstName){strings_printf(g->strings, "%s.%s", label->s, name->s), it->part.at[k].span};
    vec_push(g->arena, parts, ((AstItem){.kind = ITEM_EXPR, .span = e->span, .e = e}));
  }
  return parts;
}

static AstStmt *stmt_copy(Groups *g, const AstStmt *s) {
  AstStmt *to = arena_copy(g->arena, s, sizeof *to);
  to->e = copy(g, s->e);
  return to;
}

static AstStmt *block_copy(Groups *g, const AstStmt *s) {
  AstStmt *to = stmt_copy(g, s);
  memset(&to->body, 0, sizeof to->body);
  for (uint32_t i = 0; i < s->body.len; i++) vec_push(g->arena, to->body, stmt_copy(g, s->body.at[i]));
  return to;
}

/* Several labels, or groups, for a def's only label: one group of all of them. */
static AstItems joined(Groups *g, const Ast *call) {
  const AstItems *given = &call->items;
  AstItem all = {.kind = ITEM_GROUP, .span = call->span};
  vec_each(const AstItem, it, *given) {
    if (it->kind != ITEM_GROUP) vec_push(g->arena, all.part, *it);
    for (uint32_t k = 0; k < it->part.len; k++) vec_push(g->arena, all.part, it->part.at[k]);
  }
  AstItems one = {0};
  return vec_push(g->arena, one, all), one;
}

AstOfGroups ast_of_groups(Arena *arena, Strings *strings, const AstStmt *def, const Ast *call) {
  AstOfGroups out = {.def = def, .call = call};
  bool any = call->items.len > def->items.len;
  vec_each(const AstItem, it, call->items) any |= it->kind == ITEM_GROUP;
  if (!any) return out;
  Groups g = {.arena = arena, .strings = strings, .def = def};
  AstItems given = call->items.len > def->items.len ? joined(&g, call) : call->items, mine = {0}, theirs = {0};
  for (uint32_t i = 0; i < given.len; i++) {
    const AstItem *it = &given.at[i], *label = &def->items.at[i];
    AstItems parts = parts_new(&g, label->e->name.s, it);
    vec_push(arena, g.parts, parts);
    for (uint32_t k = 0; k < parts.len; k++) vec_push(arena, mine, parts.at[k]);
    for (uint32_t k = 0; k < it->part.len; k++) vec_push(arena, theirs, it->part.at[k]);
    if (parts.len) continue;
    vec_push(arena, mine, *label);
    vec_push(arena, theirs, *it);
  }
  AstStmt *d = block_copy(&g, def);
  d->items = mine;
  if (def->adjoint) d->adjoint = block_copy(&g, def->adjoint);
  Ast *c = arena_copy(arena, call, sizeof *c);
  c->items = theirs;
  return (AstOfGroups){.def = d, .call = c, .wrong = g.wrong};
}

Ast *ast_copy(Arena *arena, Strings *strings, const Ast *a) {
  Groups none = {.arena = arena, .strings = strings};
  return copy(&none, a);
}
