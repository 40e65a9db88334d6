/* front/symbols.c - names: one namespace for dims, tensors, defs and monoids, known from their definition on. */
#include "elab.h"

#include <string.h>

static Symbol *table_find(const SymTable *t, Str name, uint32_t before) {
  for (; t; t = t->parent) {
    Symbol *s = map_find(&t->map, name);
    if (s && s->order < before) return s;
  }
  return NULL;
}

Symbol *symbol_find(Elab *x, Str name, uint32_t before_order) {
  return table_find(x->syms, name, before_order);
}

bool name_is_builtin(Str name) {
  Op op;
  Reducer r;
  if (op_find(name->s, name->len, &op))
    return (op_info[op].laws & LAW_FUNCTION) || op_info[op].rule == RULE_RANDOM || op_info[op].rule == RULE_INDEX;
  return reducer_find(name->s, name->len, &r) && r != RED_NONE && r != RED_MONOID;
}

Symbol *symbol_add(Elab *x, SymKind kind, AstName name) {
  Symbol *s = NEW(x->arena, Symbol);
  *s = (Symbol){.kind = kind, .name = name.s, .span = name.span, .order = x->order++, .state = -1, .quiet = x->module};
  Symbol *old = table_find(x->syms, name.s, UINT32_MAX);
  if (old && !(old->turns && kind == SYM_TURN)) {
    Diag *d = diag_add(x->diags, D_E050, name.span, "%s is defined twice", name.s->s);
    diag_at(x->diags, d, old->span, "first defined here");
    diag_hint(x->diags, d, "`=` defines a name once; choose another name for the second");
    s->quiet = true;
  } else if (name_is_builtin(name.s)) {
    diag_add(x->diags, D_E051, name.span, "%s is the name of a built-in function", name.s->s);
  }
  map_put(&x->syms->map, name.s, s);
  vec_push(x->arena, x->syms->all, s);
  return s;
}

/* Edits (insert, delete, replace, swap) between two names, or `limit` if there are more. */
static uint32_t name_distance(const char *a, uint32_t n, const char *b, uint32_t m, uint32_t limit) {
  enum { LONG = 40 };
  uint32_t row[3][LONG + 1];
  if (n > LONG || m > LONG || (n > m ? n - m : m - n) >= limit) return limit;
  for (uint32_t j = 0; j <= m; j++) row[0][j] = j;
  for (uint32_t i = 1; i <= n; i++) {
    uint32_t *now = row[i % 3], *up = row[(i + 2) % 3], *up2 = row[(i + 1) % 3];
    now[0] = i;
    for (uint32_t j = 1; j <= m; j++) {
      uint32_t best = up[j - 1] + (a[i - 1] != b[j - 1]);
      if (up[j] + 1 < best) best = up[j] + 1;
      if (now[j - 1] + 1 < best) best = now[j - 1] + 1;
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && up2[j - 2] + 1 < best) best = up2[j - 2] + 1;
      now[j] = best;
    }
  }
  return row[n % 3][m] < limit ? row[n % 3][m] : limit;
}

typedef struct Near { Str name; const char *best; uint32_t distance; } Near;

static void near_try(Near *n, const char *s, size_t len) {
  uint32_t d = name_distance(n->name->s, n->name->len, s, (uint32_t)len, n->distance);
  if (d < n->distance && d < len) n->best = s, n->distance = d;
}

const char *nearest_name(Elab *x, Str name, const Frame *f) {
  Near n = {name, NULL, name->len < 3 ? 2 : name->len / 3 + 1};
  for (uint32_t i = 0; f && i < f->locals.len; i++) near_try(&n, f->locals.at[i].name->s, f->locals.at[i].name->len);
  for (const SymTable *t = x->syms; t; t = t->parent)
    for (uint32_t i = 0; i < t->all.len && i < 5000; i++) near_try(&n, t->all.at[i]->name->s, t->all.at[i]->name->len);
  for (int op = 0; op < OPS; op++)
    if (op_info[op].laws & LAW_FUNCTION) near_try(&n, op_info[op].name, strlen(op_info[op].name));
  return n.best;
}

void warn_unused(Elab *x, const SymTable *t) {
  for (uint32_t i = 0; i < t->all.len; i++) {
    const Symbol *s = t->all.at[i];
    if (s->used || s->output || s->quiet || s->name->s[0] == '_' || s->kind == SYM_TURN) continue;
    Diag *d = diag_add(x->diags, D_W001, s->span, "%s is never used", s->name->s);
    if (s->kind == SYM_TENSOR && s->node && s->node->kind == EIN_VERTEX)
      diag_hint(x->diags, d, "write `output %s` if it is a result, or delete it", s->name->s);
  }
}
