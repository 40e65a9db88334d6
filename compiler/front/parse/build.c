/* front/parse/build.c - builds expressions for the grammar. In: tokens and subtrees; out: one node per call.
 * Complains here about what a grammar cannot express (comparisons do not chain, `size` takes a label). A rule is
 * reduced when the token after it is looked at, so every span ends with the last token taken. */
#include "parse.h"

#include <math.h>
#include <string.h>

Span span_at(const Parse *p, uint32_t at, uint32_t end) {
  return (Span){p->src, at, end};
}

Span span_to_here(const Parse *p, uint32_t at) {
  return (Span){p->src, at, p->at.last.end > at ? p->at.last.end : at};
}

static Span span_of(const Parse *p, Token t) {
  return (Span){p->src, t.at, t.end};
}

/* Short names recur often: a small cache in front of the string table. */
static Str name_text(Parse *p, Token t) {
  const char *s = p->src->bytes + t.at;
  uint32_t n = t.end - t.at;
  uint64_t key = 0;
  if (n > sizeof key) return str_of(p->strings, s, n);
  memcpy(&key, s, n);
  NameCache *c = &p->cache[(key * 0x9e3779b97f4a7c15u) >> (64 - NAME_CACHE_BITS)];
  if (c->key != key) *c = (NameCache){key, str_of(p->strings, s, n)};
  return c->str;
}

AstName name_of(Parse *p, Token t) {
  return (AstName){name_text(p, t), span_of(p, t)};
}

/* A piece of the program for a message, cut to `most` bytes. */
static const char *quoted(const Parse *p, Span s, uint32_t most) {
  uint32_t n = s.end - s.at;
  return n <= most ? arena_printf(p->arena, "%.*s", (int)n, p->src->bytes + s.at) : "...";
}

/* ---- nodes ----------------------------------------------------------------------------------- */

void complain_too_deep(Parse *p, uint32_t at, uint32_t end) {
  p->wrong.stop = true;
  Diag *g = diag_add(p->diags, D_E007, span_at(p, at, end), "this is nested more than %d deep",
                     AST_DEPTH);
  diag_hint(p->diags, g, "name parts of it by equations of their own");
}

static Ast *node_new(Parse *p, AstKind kind, uint32_t at) {
  return MAKE(p->arena, Ast, .kind = kind, .span = span_to_here(p, at), .acc = -1);
}

static void deepen(uint32_t *depth, const Ast *e) {
  if (e && e->depth > *depth) *depth = e->depth;
}

static void deepen_items(uint32_t *depth, const AstItems *v) {
  for (uint32_t i = 0; i < v->len; i++) {
    deepen(depth, v->at[i].e);
    deepen_items(depth, &v->at[i].part); /* a group holds no groups */
  }
}

/* A node whose parts are all in place. */
static Ast *node_end(Parse *p, Ast *e) {
  uint32_t depth = 0, left = 0;
  if (ast_is_chain(e) && ast_is_chain(e->a))
    left = e->a->depth;
  else
    deepen(&depth, e->a);
  deepen(&depth, e->b);
  deepen(&depth, e->c);
  deepen(&depth, e->where);
  deepen_items(&depth, &e->items);
  for (uint32_t i = 0; i < e->args.len; i++) deepen(&depth, e->args.at[i]);
  depth = depth + 1 > left ? depth + 1 : left;
  if (depth > AST_DEPTH && !p->wrong.stop) complain_too_deep(p, e->span.at, e->span.at + 1);
  e->depth = (uint16_t)(depth < UINT16_MAX ? depth : UINT16_MAX);
  return e;
}

/* ---- leaves ---------------------------------------------------------------------------------- */

static void number_too_large(Parse *p, Span s, const char *type) {
  Diag *g = diag_add(p->diags, D_E004, s, "%s is too large for %s", quoted(p, s, 40), type);
  diag_hint(p->diags, g,
            "integers go up to 9223372036854775807, floats (`1.5`, `1e3`) up to 1.7e308");
}

static void read_int(Parse *p, Ast *e, const char *s, uint32_t n) {
  static const char two_63[] = "9223372036854775808";
  if (int64_read(s, n, &e->i)) return;
  while (n > 1 && *s == '0') s++, n--;
  if (n == sizeof two_63 - 1 && memcmp(s, two_63, n) == 0) {
    e->i = INT64_MIN;
    e->big = true;
    vec_push(p->arena, p->lists.big, e);
  } else {
    number_too_large(p, e->span, "a 64-bit integer");
  }
}

Ast *build_number(Parse *p, Token t) {
  Ast *e = node_new(p, t.kind == TOK_INT ? AST_INT : AST_REAL, t.at);
  const char *s = p->src->bytes + t.at;
  if (t.kind == TOK_INT)
    read_int(p, e, s, t.end - t.at);
  else if (!double_read(s, t.end - t.at, &e->f))
    number_too_large(p, e->span, "f64"); /* reported only once if the scanner refused it already */
  return node_end(p, e);
}

Ast *build_constant(Parse *p, Token t) {
  Ast *e = node_new(p, AST_CONST, t.at);
  const char *s = p->src->bytes + t.at;
  if (*s == 't' || *s == 'f') {
    e->kind = AST_BOOL;
    e->i = *s == 't';
    return node_end(p, e);
  }
  bool is_nan = *s == 'n', is_inf = *s == 'i' || *s == '\xE2';
  e->f = is_nan ? (double)NAN : is_inf ? (double)INFINITY : 3.14159265358979323846;
  e->name = (AstName){str_from(p->strings, is_nan ? "nan" : is_inf ? "inf" : "pi"), e->span};
  return node_end(p, e);
}

Ast *build_name(Parse *p, Token name) {
  Ast *e = node_new(p, AST_NAME, name.at);
  e->span.end = name.end;
  e->name = name_of(p, name);
  return node_end(p, e);
}

/* ---- lists ----------------------------------------------------------------------------------- */

uint32_t args_none(Parse *p) {
  return p->lists.exprs.len;
}

uint32_t args_first(Parse *p, Ast *e) {
  args_add(p, e);
  return p->lists.exprs.len - 1;
}

void args_add(Parse *p, Ast *e) {
  vec_push(p->arena, p->lists.exprs, e);
}

static AstItems items_take(Parse *p, uint32_t from) {
  AstItems v = {0};
  v.len = v.cap = p->lists.items.len - from;
  if (v.len) v.at = arena_copy(p->arena, p->lists.items.at + from, sizeof(AstItem) * v.len);
  p->lists.items.len = from;
  return v;
}

static uint32_t item_push(Parse *p, AstItem i, uint32_t at) {
  i.span = i.e ? span_at(p, at, i.e->span.end) : span_to_here(p, at);
  vec_push(p->arena, p->lists.items, i);
  return p->lists.items.len - 1;
}

uint32_t item_expr(Parse *p, Ast *e) {
  return item_push(p, (AstItem){.kind = ITEM_EXPR, .e = e}, e->span.at);
}

uint32_t item_sized(Parse *p, Token name, Ast *size) {
  return item_push(p, (AstItem){.kind = ITEM_SIZED, .name = name_of(p, name), .e = size}, name.at);
}

uint32_t item_bind(Parse *p, Token name, Ast *e) {
  return item_push(p, (AstItem){.kind = ITEM_BIND, .name = name_of(p, name), .e = e}, name.at);
}

uint32_t item_group(Parse *p, Token open, uint32_t parts) {
  AstItems v = items_take(p, parts);
  return item_push(p, (AstItem){.kind = ITEM_GROUP, .part = v}, open.at);
}

Brackets *brackets_of(Parse *p, uint32_t items, Ast *where) {
  return MAKE(p->arena, Brackets, .items = items_take(p, items), .where = where, .end = p->at.last.end);
}

static void args_take(Parse *p, Ast *e, uint32_t from) {
  e->args.len = e->args.cap = p->lists.exprs.len - from;
  if (e->args.len)
    e->args.at = arena_copy(p->arena, p->lists.exprs.at + from, sizeof(Ast *) * e->args.len);
  p->lists.exprs.len = from;
}

/* ---- what may stand in which brackets -------------------------------------------------------- */

void complain_bind(Parse *p, const AstItem *i, const char *what) {
  if (p->stmt.patched) return;
  Diag *g = diag_add(p->diags, D_E020, i->span,
                     "`%s = ...` substitutes a label, which %s cannot do", i->name.s->s, what);
  diag_hint(p->diags, g, "only a read or a parenthesised expression takes it: `x[%s = ...]`",
            i->name.s->s);
}

/* Brackets that bind labels: names, name:size, groups. */
static void check_labels(Parse *p, const AstItems *v, const char *what) {
  vec_each(const AstItem, i, *v) {
    if (i->kind == ITEM_BIND) {
      complain_bind(p, i, what);
    } else if (i->kind == ITEM_EXPR && i->e->kind != AST_NAME && !p->stmt.patched) {
      Diag *g =
          diag_add(p->diags, D_E020, i->span, "`%s` is not a label, which is what %s takes here",
                   quoted(p, i->span, 40), what);
      const Ast *of = i->e->kind == AST_BINARY && op_info[i->e->op].rule == RULE_COMPARE ? i->e->a : NULL;
      bool one = of && of->kind == AST_INDEX && of->items.len == 1;
      if (one && of->items.at[0].kind == ITEM_EXPR) of = of->items.at[0].e;
      if (of && of->kind == AST_NAME && strcmp(what, "the left of an equation") != 0)
        diag_hint(p->diags, g, "a condition stands behind `where`: `[%s where %s]`", of->name.s->s,
            quoted(p, i->span, 40));
      else
        diag_hint(p->diags, g, "a label is a name, with its size if that is not known otherwise: `i` or `i:8`");
    }
  }
}

static bool all_bind(const AstItems *v) {
  for (uint32_t k = 0; k < v->len; k++)
    if (v->at[k].kind != ITEM_BIND) return false;
  return true;
}

/* Either all of them substitute, or none. */
static void check_read(Parse *p, const AstItems *v) {
  const AstItem *bind = NULL, *other = NULL;
  for (uint32_t k = 0; k < v->len; k++) *(v->at[k].kind == ITEM_BIND ? &bind : &other) = &v->at[k];
  if (!bind || !other || p->stmt.patched) return;
  Diag *g = diag_add(p->diags, D_E020, other->span,
                     "indices and substitutions do not mix in one pair of brackets");
  diag_note(p->diags, g, "an index");
  diag_at(p->diags, g, bind->span, "a substitution");
  diag_hint(p->diags, g, "labels that are not substituted stay as they are: leave `%s` out",
            quoted(p, other->span, 40));
  diag_hint(p->diags, g, "a tensor is read by an index in each place: `%s` for `%s`", quoted(p, bind->e->span, 40),
            quoted(p, bind->span, 40));
}

/* ---- reads and calls ------------------------------------------------------------------------- */

Ast *build_index(Parse *p, Token name, Brackets *b) {
  Ast *e = node_new(p, AST_INDEX, name.at);
  e->name = name_of(p, name);
  e->items = b->items;
  e->bracketed = true;
  e->span.end = b->end;
  check_read(p, &e->items);
  return node_end(p, e);
}

static bool is_word(Str s, const char *word) {
  return strcmp(s->s, word) == 0;
}

static void bad_call(Parse *p, const Ast *e, const char *what, const char *model) {
  if (p->stmt.patched) return;
  Diag *g = diag_add(p->diags, D_E021, e->span, "%s", what);
  diag_hint(p->diags, g, "write it as `%s`", model);
}

static Ast *build_size(Parse *p, Ast *e) {
  if (e->args.len != 1 || e->args.at[0]->kind != AST_NAME) {
    bad_call(p, e, "`size` takes one label and gives its extent", "size(j)");
    return e;
  }
  e->kind = AST_SIZE;
  e->name = e->args.at[0]->name;
  e->args.len = 0;
  return e;
}

static const char *bare_label(const AstItem *i) {
  return i->kind == ITEM_EXPR && i->e->kind == AST_NAME ? i->e->name.s->s : NULL;
}

/* A letter that none of the labels is, and that was not taken before. */
static char letter_free(const AstItems *v, char letter) {
  for (uint32_t i = 0; i < v->len; i++) {
    const char *label = bare_label(&v->at[i]);
    if (label && label[0] == letter && !label[1]) return letter_free(v, (char)(letter + 1));
  }
  return letter;
}

/* An element of a tensor is read from the gradient by the whole of it. */
static void check_by(Parse *p, const Ast *by) {
  const AstItem *first = NULL;
  for (uint32_t i = 0; i < by->items.len && !first; i++)
    if (by->items.at[i].kind == ITEM_EXPR && !bare_label(&by->items.at[i])) first = &by->items.at[i];
  if (!first || p->stmt.patched || by->items.len > 8) { /* no letters for more */
    check_labels(p, &by->items, "`grad`");
    return;
  }
  Diag *g = diag_add(p->diags, D_E020, first->span, "`%s` is not a label, which is what `grad` takes here",
                     quoted(p, first->span, 40));
  Buf labels = buf_new(p->arena), at = buf_new(p->arena);
  char letter = 'h';
  for (uint32_t i = 0; i < by->items.len; i++) {
    const char *label = bare_label(&by->items.at[i]);
    if (!label) letter = letter_free(&by->items, (char)(letter + 1));
    buf_printf(&labels, "%s%s", i ? "," : "", label ? label : (const char[]){letter, 0});
    buf_printf(&at, "%s%s", i ? "," : "", quoted(p, by->items.at[i].span, 40));
  }
  diag_hint(p->diags, g, "take it by all of %s, and read the element of it: `g[%s] = grad(loss, %s[%s])`, then `g[%s]`",
            by->name.s->s, labels.s, by->name.s->s, labels.s, at.s);
}

static Ast *build_grad(Parse *p, Ast *e) {
  const Ast *by = e->args.len == 2 ? e->args.at[1] : NULL;
  if (!by || (by->kind != AST_INDEX && by->kind != AST_NAME)) {
    bad_call(p, e, "`grad` takes a scalar and the tensor to differentiate by",
             "grad(loss, W[d,h])");
    return e;
  }
  check_by(p, by);
  e->kind = AST_GRAD;
  e->a = e->args.at[0];
  e->name = by->name;
  e->items = by->items;
  e->bracketed = by->bracketed;
  e->args.len = 0;
  return e;
}

Ast *build_call(Parse *p, Token name, Brackets *b, uint32_t args) {
  Ast *e = node_new(p, AST_CALL, name.at);
  e->name = name_of(p, name);
  e->op_span = e->name.span;
  args_take(p, e, args);
  if (b) {
    e->items = b->items;
    e->where = b->where;
    e->bracketed = true;
    check_labels(p, &e->items, "a function");
  } else if (is_word(e->name.s, "size")) {
    e = build_size(p, e);
  } else if (is_word(e->name.s, "grad")) {
    e = build_grad(p, e);
  }
  return node_end(p, e);
}

Ast *build_results(Parse *p, Token open, Ast *first, uint32_t others) {
  Ast *e = node_new(p, AST_RESULTS, open.at);
  args_take(p, e, others);
  vec_push(p->arena, e->args, first);
  for (uint32_t i = e->args.len - 1; i; i--) e->args.at[i] = e->args.at[i - 1];
  e->args.at[0] = first;
  return node_end(p, e);
}

Ast *build_list(Parse *p, Token open, uint32_t args) {
  Ast *e = node_new(p, AST_LIST, open.at);
  args_take(p, e, args);
  return node_end(p, e);
}

Ast *build_paren(Parse *p, Token open, Ast *a) {
  Ast *e = node_new(p, AST_PAREN, open.at);
  e->a = a;
  return node_end(p, e);
}

Ast *build_subst(Parse *p, Token open, Ast *a, Brackets *b) {
  Ast *e = node_new(p, AST_SUBST, open.at);
  e->a = a;
  e->items = b->items;
  e->span.end = b->end;
  if (!all_bind(&e->items) && !p->stmt.patched) {
    Span s = span_at(p, e->items.at[0].span.at, vec_last(e->items).span.end);
    Diag *g = diag_add(p->diags, D_E020, s,
                       "brackets behind parentheses substitute labels, they do not index");
    diag_hint(p->diags, g, "write `(...)[j = e]`, or give the expression a name by an equation");
  }
  return node_end(p, e);
}

Ast *build_cast(Parse *p, Token dtype, Ast *a) {
  Ast *e = node_new(p, AST_CAST, dtype.at);
  BUG_UNLESS(dtype_find(p->src->bytes + dtype.at, dtype.end - dtype.at, &e->dtype));
  e->op_span = span_of(p, dtype);
  e->a = a;
  return node_end(p, e);
}

/* ---- reducers -------------------------------------------------------------------------------- */

/* The node with word, reducer and accumulator; Σ is called sum. */
static Ast *reduce_new(Parse *p, Token word, Token acc) {
  Ast *e = node_new(p, AST_REDUCE, word.at);
  const char *s = p->src->bytes + word.at;
  bool sign = (unsigned char)*s >= 0x80;
  Str name = sign ? str_from(p->strings, "sum") : str_of(p->strings, s, word.end - word.at);
  Reducer r;
  DType t;
  BUG_UNLESS(reducer_find(name->s, name->len, &r));
  e->op = (uint8_t)r;
  e->op_span = span_of(p, word);
  e->name = (AstName){name, e->op_span};
  if (acc.kind) {
    BUG_UNLESS(dtype_find(p->src->bytes + acc.at, acc.end - acc.at, &t));
    e->acc = (int8_t)t;
  }
  return e;
}

Ast *build_reduce(Parse *p, Token word, Token acc, Brackets *b, Ast *body) {
  Ast *e = reduce_new(p, word, acc);
  e->items = b->items;
  e->where = b->where;
  e->bracketed = true;
  e->a = body;
  e->span.end = body ? body->span.end : b->end;
  check_labels(p, &e->items, "a reducer");
  return node_end(p, e);
}

static bool is_function_too(Reducer r) {
  return r == RED_MAX || r == RED_MIN || r == RED_FMAX || r == RED_FMIN;
}

static const char *label_of(const Ast *read, int64_t k) {
  const AstItem *it = read->kind == AST_INDEX && k >= 0 && k < read->items.len ? &read->items.at[k] : NULL;
  return it && it->kind == ITEM_EXPR && it->e->kind == AST_NAME ? it->e->name.s->s : NULL;
}

/* `sum(j, X[i,j])` and `sum(X[i,j], 1)` as they are written here; otherwise what a reducer looks like. */
static void hint_reduce_over(Parse *p, Diag *g, const char *word, const Ast *e) {
  const Ast *a = e->args.len == 2 ? e->args.at[0] : NULL, *b = a ? e->args.at[1] : NULL;
  const char *label = b && b->kind == AST_INT            ? label_of(a, b->i)
      : b && a->kind == AST_NAME && b->kind == AST_INDEX ? a->name.s->s
                                                         : NULL;
  if (label)
    diag_hint(p->diags, g, "reduce over a label: `%s[%s] %s`", word, label,
        quoted(p, (b->kind == AST_INT ? a : b)->span, 40));
  else diag_hint(p->diags, g, "reduce over a label: `%s[k] x[k]`", word);
}

/* max(a, b, c) is max(max(a, b), c). */
static Ast *nest(Parse *p, Ast *e) {
  Ast *left = e->args.at[0];
  for (uint32_t i = 1; i < e->args.len; i++) {
    Ast *call = arena_copy(p->arena, e, sizeof *e);
    call->args.at = NEW_ARRAY(p->arena, Ast *, 2);
    call->args.at[0] = left;
    call->args.at[1] = e->args.at[i];
    call->args.len = call->args.cap = 2;
    left = node_end(p, call);
  }
  return left;
}

Ast *build_reduce_call(Parse *p, Token word, Token acc, uint32_t args) {
  Ast *e = reduce_new(p, word, acc);
  args_take(p, e, args);
  Reducer r = (Reducer)e->op;
  if (e->args.len == 1) {
    e->call_form = true;
    e->a = e->args.at[0];
    e->args.len = 0;
    return node_end(p, e);
  }
  e->kind = AST_CALL;
  e->op = 0;
  if (e->args.len >= 2 && is_function_too(r) && !acc.kind) return node_end(p, nest(p, e));
  const char *w = e->name.s->s;
  Diag *g = diag_add(p->diags, D_E021, e->span, "`%s(...)` takes one argument, whose labels it reduces%s", w,
                     is_function_too(r) ? "; without a dtype it takes several, too" : "");
  hint_reduce_over(p, g, w, e);
  return node_end(p, e);
}

/* ---- operators ------------------------------------------------------------------------------- */

/* `a * not b` is confusing: `not` extends over a comparison that follows. */
static void check_not(Parse *p, Token op, const Ast *right) {
  if (p->stmt.patched || right->kind != AST_NOT || op.kind == TOK_AND || op.kind == TOK_OR || op.kind == TOK_NOT)
    return;
  Diag *g = diag_add(p->diags, D_E023, right->op_span, "`not` right of `%s` needs parentheses",
                     quoted(p, span_of(p, op), 40));
  diag_at(p->diags, g, span_of(p, op), "binds tighter than `not`");
  diag_hint(p->diags, g, "write `(not ...)` around as much as it is to negate");
}

Ast *build_prefix(Parse *p, AstKind kind, Token op, Ast *a) {
  Ast *e = node_new(p, kind, op.at);
  e->a = a;
  e->op_span = span_of(p, op);
  e->span.end = a->span.end;
  check_not(p, op, a);
  if (kind == AST_NEG && a->kind == AST_INT && a->big && p->lists.big.len && vec_last(p->lists.big) == a)
    p->lists.big.len--;
  return node_end(p, e);
}

Op op_of(int kind) {
  switch (kind) {
  case TOK_PLUS: return OP_ADD;
  case TOK_MINUS: return OP_SUB;
  case TOK_STAR: return OP_MUL;
  case TOK_SLASH: return OP_DIV;
  case TOK_IDIV: return OP_IDIV;
  case TOK_PERCENT: return OP_MOD;
  case TOK_CARET: return OP_POW;
  case TOK_EQ: return OP_EQ;
  case TOK_NE: return OP_NE;
  case TOK_LT: return OP_LT;
  case TOK_LE: return OP_LE;
  case TOK_GT: return OP_GT;
  case TOK_GE: return OP_GE;
  case TOK_AND: return OP_AND;
  case TOK_OR: return OP_OR;
  default: bug("operator %d", kind);
  }
}

static bool is_comparison(const Ast *e) {
  return e->kind == AST_BINARY && e->op >= OP_EQ && e->op <= OP_GE;
}

static void comparisons_chain(Parse *p, const Ast *e) {
  if (p->stmt.patched) return;
  const Ast *a = e->a;
  Diag *g = diag_add(p->diags, D_E008, e->op_span, "comparisons do not chain");
  diag_at(p->diags, g, a->op_span, "the first comparison");
  if (e->b->kind == AST_BOOL && (e->op == OP_EQ || e->op == OP_NE)) {
    bool holds = (e->op == OP_EQ) == (e->b->i != 0);
    diag_hint(p->diags, g, "a comparison is true or false by itself: write `%s%s%s`", holds ? "" : "not (",
        quoted(p, a->span, 80), holds ? "" : ")");
    return;
  }
  const char *x = quoted(p, a->a->span, 40), *o = quoted(p, a->op_span, 4),
             *y = quoted(p, a->b->span, 40);
  diag_hint(p->diags, g, "write `%s %s %s and %s %s %s`", x, o, y, y, quoted(p, e->op_span, 4),
            quoted(p, e->b->span, 40));
}

Ast *build_binary(Parse *p, Ast *a, Token op, Ast *b) {
  Ast *e = node_new(p, AST_BINARY, a->span.at);
  e->span.end = b->span.end;
  e->op = (uint8_t)op_of(op.kind);
  e->op_span = span_of(p, op);
  e->a = a;
  e->b = b;
  if (is_comparison(e) && is_comparison(a)) comparisons_chain(p, e);
  check_not(p, op, b);
  return node_end(p, e);
}

Ast *build_or_else(Parse *p, Ast *a, Token op, Ast *b) {
  Ast *e = node_new(p, AST_OR_ELSE, a->span.at);
  e->span.end = b->span.end;
  e->op_span = span_of(p, op);
  e->a = a;
  e->b = b;
  return node_end(p, e);
}

Ast *build_if(Parse *p, Token word, Ast *c, Ast *a, Ast *b) {
  Ast *e = node_new(p, AST_IF, word.at);
  e->span.end = b->span.end;
  e->op_span = span_of(p, word);
  e->a = c;
  e->b = a;
  e->c = b;
  return node_end(p, e);
}
