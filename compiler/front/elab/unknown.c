/* front/elab/unknown.c - hints for undefined names that a reader may know: a constant or a function of another
 * language, with the program's own operands in the hint; a def of a module that is not used; a transpose or labels
 * written as on paper; a loop variable outside its loop. Each function returns whether it had something to say. */
#include "elab.h"
#include "front/foreign.h"

#include <string.h>

/* ---- names -------------------------------------------------------------------------------------- */

bool hint_constant(Elab *x, Diag *d, Str name) {
  const char *hint = foreign_constant(name->s, name->len);
  if (hint) diag_hint(x->diags, d, "%s", hint);
  return hint != NULL;
}

/* `True` is reported at once: as a label, it would be a number next to bools. */
bool complain_truth(Elab *x, AstName name) {
  const char *hint = foreign_constant(name.s->s, name.s->len);
  if (!hint || (!strstr(hint, "`true`") && !strstr(hint, "`false`"))) return false;
  Diag *d = diag_add(x->diags, D_E070, name.span, "%s is not defined", name.s->s);
  diag_hint(x->diags, d, "%s", hint);
  return true;
}

static const Symbol *tensor_named(Elab *x, const char *name, size_t n, uint32_t rank) {
  const Symbol *y = n ? symbol_find(x, str_of(x->strings, name, n), UINT32_MAX) : NULL;
  return y && y->kind == SYM_TENSOR && y->node && y->node->rank == rank ? y : NULL;
}

/* "B[j, i] = A[i, j]" */
static const char *transpose_equation(Elab *x, const Symbol *y) {
  const char *form = shape_form(x, y), *open = strchr(form, '['), *comma = strchr(form, ','), *second = comma + 2;
  return arena_printf(x->arena, "%s[%.*s, %.*s] = %s", strcmp(y->name->s, "B") ? "B" : "C", (int)strcspn(second, "]"),
      second, (int)(comma - open - 1), open + 1, form);
}

/* `A'`, `Aᵀ`, `A_T`; `A[i,j]^T` */
static bool hint_transpose(Elab *x, Diag *d, AstName name) {
  static const char *const tails[] = {"'", "\xE1\xB5\x80", "_T", "_t", "T"};
  const char *s = name.s->s;
  size_t n = name.s->len;
  for (size_t i = 0; i < COUNT(tails); i++) {
    size_t m = strlen(tails[i]);
    const Symbol *y = n > m && strcmp(s + n - m, tails[i]) == 0 ? tensor_named(x, s, n - m, 2) : NULL;
    if (!y) continue;
    diag_hint(x->diags, d, "a transpose is an equation: `%s`", transpose_equation(x, y));
    return true;
  }
  bool power = name.span.src && name.span.at && name.span.src->bytes[name.span.at - 1] == '^';
  if (power && strcmp(s, "T") == 0) diag_hint(x->diags, d, "a transpose is an equation: `B[j,i] = A[i,j]`");
  return power && strcmp(s, "T") == 0;
}

/* `X_ij` for `X[i,j]` */
static bool hint_subscript(Elab *x, Diag *d, AstName name) {
  const char *s = name.s->s, *line = strchr(s, '_');
  if (!line || !line[1] || strlen(line + 1) > 6) return false;
  const char *all = line + 1;
  uint32_t n = (uint32_t)strlen(all);
  const Symbol *one = tensor_named(x, s, (size_t)(line - s), 1),
               *y = one ? one : tensor_named(x, s, (size_t)(line - s), n);
  if (!y || strspn(all, "abcdefghijklmnopqrstuvwxyz") != n) return false;
  Buf b = buf_new(x->arena);
  for (uint32_t i = 0; i < n; i++) buf_printf(&b, "%s%c", i && !one ? "," : "", all[i]);
  diag_hint(x->diags, d, "labels stand in square brackets: `%s[%s]`", y->name->s, b.s);
  return true;
}

/* `X[i] // word`, which is a quotient here. */
static bool hint_comment(Elab *x, Diag *d, AstName name) {
  const Source *src = name.span.src;
  uint32_t at = src ? name.span.at : 0;
  while (at && src->bytes[at - 1] == ' ') at--;
  bool divides = at > 1 && src->bytes[at - 1] == '/' && src->bytes[at - 2] == '/';
  if (divides) diag_hint(x->diags, d, "`//` divides; a comment begins with `#`");
  return divides;
}

/* `A^T` and `A^-1` of a matrix without its labels. */
bool hint_matrix_power(Elab *x, Diag *d, const Symbol *y, Span name) {
  const char *s = name.src && y->node->rank == 2 ? name.src->bytes + name.end : "";
  s += strspn(s, " ");
  if (*s++ != '^') return false;
  s += strspn(s, " (");
  if (*s == 'T') diag_hint(x->diags, d, "a transpose is an equation: `%s`", transpose_equation(x, y));
  else if (*s == '-')
    diag_hint(x->diags, d, "nothing inverts matrices: give the inverse as an `input`, or solve by steps in a `repeat`");
  return *s == 'T' || *s == '-';
}

/* `dy/dx`, of a tensor or number x */
static bool hint_derivative(Elab *x, Diag *d, AstName name) {
  const char *s = name.s->s;
  Str by = *s == 'd' && s[1] ? str_of(x->strings, s + 1, name.s->len - 1) : NULL;
  const Symbol *y = by ? symbol_find(x, by, UINT32_MAX) : NULL;
  if (!y || y->kind != SYM_TENSOR || !y->node || !dtype_is_float(y->node->dtype)) return false;
  diag_hint(x->diags, d, "a derivative is `grad(loss, %s)`", y->node->rank ? shape_form(x, y) : y->name->s);
  return true;
}

bool hint_name(Elab *x, Diag *d, AstName name) {
  return hint_derivative(x, d, name) || hint_comment(x, d, name) || hint_constant(x, d, name.s) ||
      hint_transpose(x, d, name) || hint_subscript(x, d, name);
}

/* Whether `at` is inside a repeat with this loop variable. Statements come in order, so at most one contains it. */
static bool turn_in(AstStmt *const *stmt, uint32_t n, Str name, Span at) {
  uint32_t low = 0, high = n;
  while (high - low > 1) {
    uint32_t middle = (low + high) / 2;
    if (stmt[middle]->span.at <= at.at) low = middle;
    else high = middle;
  }
  if (!n) return false;
  const AstStmt *s = stmt[low];
  if (s->kind != STMT_REPEAT || s->span.src != at.src || at.at < s->span.at || at.end > s->span.end) return false;
  return s->name.s == name || turn_in(s->body.at, s->body.len, name, at);
}

/* `state x = t`: the loop's variable before its turns begin. */
bool hint_turn(Elab *x, Diag *d, Str name, Span at) {
  const AstFile *file = x->program->file;
  if (!turn_in(file->stmts.at, file->stmts.len, name, at)) return false;
  diag_hint(x->diags, d, "%s counts turns, and this is computed before the first, in which it is 0: write `0` for it",
      name->s);
  return true;
}

/* ---- calls -------------------------------------------------------------------------------------- */

static bool is_plain(const Ast *a) {
  return a->kind == AST_INT || a->kind == AST_REAL || a->kind == AST_BOOL || a->kind == AST_CONST ||
      a->kind == AST_NAME || a->kind == AST_INDEX || a->kind == AST_CALL || a->kind == AST_PAREN ||
      a->kind == AST_SUBST;
}

static const Symbol *tensor_of(Elab *x, const Ast *a) {
  const Symbol *y = a->kind == AST_NAME || a->kind == AST_INDEX ? symbol_find(x, a->name.s, UINT32_MAX) : NULL;
  return y && y->kind == SYM_TENSOR && y->node ? y : NULL;
}

/* The text as it can be used in a product; NULL: too long. */
static const char *argument_text(Elab *x, const Ast *a) {
  const Symbol *y = a->kind == AST_NAME ? tensor_of(x, a) : NULL;
  if (y && y->node->rank) return shape_form(x, y);
  const char *text = source_text(x, a->span);
  if (strcmp(text, "...") == 0) return NULL;
  return is_plain(a) ? text : arena_printf(x->arena, "(%s)", text);
}

static Str label_at(const Ast *a, uint32_t k) {
  return a->kind == AST_INDEX && k < a->items.len ? ast_item_label(&a->items.at[k]) : NULL;
}

/* The last label that both reads have. */
static Str label_shared(const Ast *a, const Ast *b) {
  Str last = NULL;
  for (uint32_t i = 0; a->kind == AST_INDEX && i < a->items.len; i++)
    for (uint32_t k = 0; b->kind == AST_INDEX && k < b->items.len; k++)
      if (label_at(a, i) && label_at(a, i) == label_at(b, k)) last = label_at(a, i);
  return last;
}

/* `matmul(A, B)` written out. */
static const char *product_text(Elab *x, const Ast *call) {
  static const char *const left[] = {"k", "i,k", "b,i,k"}, *const right[] = {"k", "k,j", "b,k,j"};
  if (call->args.len != 2) return NULL;
  const Ast *a = call->args.at[0], *b = call->args.at[1];
  Str shared = label_shared(a, b);
  if (shared)
    return arena_printf(x->arena, "sum[%s] %s * %s", shared->s, source_text(x, a->span), source_text(x, b->span));
  const Symbol *y = tensor_of(x, a), *z = tensor_of(x, b);
  if (a->kind != AST_NAME || b->kind != AST_NAME || !y || !z || !y->node->rank || !z->node->rank) return NULL;
  if (y->node->rank > COUNT(left) || z->node->rank > COUNT(right)) return NULL;
  return arena_printf(
      x->arena, "sum[k] %s[%s] * %s[%s]", y->name->s, left[y->node->rank - 1], z->name->s, right[z->node->rank - 1]);
}

static bool hint_module(Elab *x, Diag *d, const Ast *call) {
  const char *module;
  const AstStmt *def = module_find(x->front, call->name.s, &module);
  if (!def) return false;
  uint32_t labels = def->kind == STMT_DEF ? def->items.len : call->items.len,
           args = def->kind == STMT_DEF ? def->params.len : 1;
  diag_hint(x->diags, d, "it is a %s of the module %s: write `use %s` above", def->kind == STMT_DEF ? "def" : "monoid",
      module, module);
  if (labels != call->items.len || args != call->args.len)
    diag_hint(x->diags, d, "its form is `%s`", call_form(x, def));
  return true;
}

bool hint_foreign(Elab *x, Diag *d, const Ast *call) {
  const char *form = foreign_function(call->name.s->s, call->name.s->len), *arg[FOREIGN_ARGS] = {0};
  if (!form) return false;
  if (strstr(form, "$*")) arg[0] = product_text(x, call);
  else
    for (uint32_t i = 0; i < call->args.len && i < FOREIGN_LABELS; i++) arg[i] = argument_text(x, call->args.at[i]);
  for (uint32_t k = 0; k < 2; k++) {
    Str label = call->args.len ? label_at(call->args.at[0], k) : NULL;
    arg[FOREIGN_LABELS + k] = label ? label->s : NULL;
  }
  diag_hint(x->diags, d, "%s", foreign_fill(x->arena, form, arg));
  return true;
}

bool hint_call(Elab *x, Diag *d, const Ast *call) {
  bool module = hint_module(x, d, call);
  return hint_foreign(x, d, call) || module;
}

/* ---- the size of a label ---------------------------------------------------------------------- */

static bool size_among(Elab *x, const AstItems *items, Str label, const char **size) {
  vec_each(const AstItem, item, *items) {
    if (item->kind != ITEM_SIZED || item->name.s != label || !item->e) continue;
    const char *text = source_text(x, item->e->span);
    if (*size && strcmp(*size, text) != 0) return false;
    *size = text;
  }
  return true;
}

static bool size_in_statement(Elab *x, const AstStmt *s, Str label, const char **size) {
  if (s->kind == STMT_DEF) return true;
  bool one = size_among(x, &s->items, label, size);
  for (uint32_t k = 0; k < s->decls.len; k++) one = one && size_among(x, &s->decls.at[k].items, label, size);
  for (uint32_t k = 0; k < s->body.len; k++) one = one && size_in_statement(x, s->body.at[k], label, size);
  return one;
}

/* For labels on the left, which is where a reader looks. */
const char *size_elsewhere(Elab *x, Str label) {
  const AstFile *file = x->program->file;
  const char *size = NULL;
  vec_each_of(const AstStmt, s, file->stmts)
    if (!size_in_statement(x, s, label, &size)) return NULL;
  return size;
}
