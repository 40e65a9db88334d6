/* driver/compile/declared.c - the labels that a program declares for the axes of its inputs and outputs,
 * which its library reports: a graph has lost them. In: the program; out: a list for EmitOptions. */
#include "driver/driver.h"

static Str item_name(const AstItem *it) {
  if (it->kind == ITEM_SIZED) return it->name.s;
  return it->kind == ITEM_EXPR && it->e->kind == AST_NAME ? it->e->name.s : NULL;
}

/* "(h d)"; NULL if a part has no name. */
static Str group_name(Session *s, const AstItem *it) {
  Buf b = buf_new(s->arena);
  for (uint32_t k = 0; k < it->part.len; k++) {
    Str one = item_name(&it->part.at[k]);
    if (!one) return NULL;
    buf_printf(&b, "%s%s", k ? " " : "(", one->s);
  }
  return b.len ? strings_printf(s->strings, "%s)", b.s) : NULL;
}

/* An input's bare name is a size; on the left of an equation it is a label. */
static void labels_add(Session *s, NamedAxesList *to, Str name, const AstItems *items, bool input) {
  NamedAxes d = {name, input, items->len, NEW_ARRAY(s->arena, Str, items->len + 1), NULL};
  for (uint32_t k = 0; k < items->len; k++) {
    const AstItem *it = &items->at[k];
    if (it->kind == ITEM_GROUP) d.label[k] = group_name(s, it);
    else if (!input || it->kind == ITEM_SIZED) d.label[k] = item_name(it);
  }
  vec_push(s->arena, *to, d);
}

static void statement_add(Session *s, NamedAxesList *to, const AstStmt *st) {
  switch (st->kind) {
  case STMT_INPUT:
  case STMT_PARAM:
    for (uint32_t k = 0; k < st->decls.len; k++)
      labels_add(s, to, st->decls.at[k].name.s, &st->decls.at[k].items, true);
    return;
  case STMT_EQUATION:
  case STMT_STATE: labels_add(s, to, st->name.s, &st->items, false); return;
  case STMT_REPEAT:
    for (uint32_t k = 0; k < st->body.len; k++) statement_add(s, to, st->body.at[k]); /* as deep as blocks nest */
    return;
  default: return;
  }
}

NamedAxesList axes_declared(Session *s, const Job *j) {
  NamedAxesList all = {0};
  const AstFile *f = job_file(j);
  for (uint32_t i = 0; f && i < f->stmts.len; i++) statement_add(s, &all, f->stmts.at[i]);
  return all;
}
