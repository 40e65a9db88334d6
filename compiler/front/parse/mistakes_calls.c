/* front/parse/mistakes_calls.c - rules about calls, functions and brackets as other languages and papers write them:
 * named arguments, anonymous functions, comprehensions, subscripts in braces. */
#include "front/foreign.h"
#include "mistakes.h"

#include <string.h>

/* ---- arguments with names ---------------------------------------------------------------------- */

static const AstDecl *decl_find(const Parse *p, const char *name) {
  Str s = str_of(p->strings, name, strlen(name));
  for (uint32_t i = 0; i < p->file->stmts.len && i < NEAR; i++)
    for (uint32_t k = 0; k < p->file->stmts.at[i]->decls.len && k < NEAR; k++)
      if (p->file->stmts.at[i]->decls.at[k].name.s == s) return &p->file->stmts.at[i]->decls.at[k];
  return NULL;
}

/* The subject of a call: its first argument as a read, with its labels as far as they are written. */
typedef struct Read { const char *text; const char *label[8]; uint32_t n; } Read;

static bool read_declared(const Parse *p, const char *name, Read *r) {
  const AstDecl *d = decl_find(p, name);
  Buf b = buf_new(p->arena);
  buf_printf(&b, "%s[", name);
  for (r->n = 0; d && r->n < d->items.len; r->n++) {
    if (r->n == COUNT(r->label) || d->items.at[r->n].kind != ITEM_SIZED) return false;
    r->label[r->n] = d->items.at[r->n].name.s->s;
    buf_printf(&b, "%s%s", r->n ? "," : "", r->label[r->n]);
  }
  buf_str(&b, "]");
  r->text = b.s;
  return r->n > 0;
}

/* `X` or `X[i,j]` from `open` on. */
static bool read_first(const Parse *p, const Open *open, Read *r) {
  Scanner s = scan_quietly(p);
  s.at = p->src->bytes + open->at + 1;
  Token name = scan(&s), t = scan(&s);
  if (name.kind != TOK_ID) return false;
  if (t.kind == TOK_COMMA) return read_declared(p, token_copy(p, name), r);
  if (t.kind != TOK_LB) return false;
  for (r->n = 0; r->n < COUNT(r->label);) {
    Token label = scan(&s);
    t = scan(&s);
    if (label.kind != TOK_ID || (t.kind != TOK_COMMA && t.kind != TOK_RB)) return false;
    r->label[r->n++] = token_copy(p, label);
    if (t.kind == TOK_RB) break;
  }
  r->text = source_piece(p, name.at, t.end);
  return r->text && t.kind == TOK_RB;
}

static bool axis_word(const Parse *p, Token word) {
  static const char *const words[] = {"axis", "dim", "axes", "dims"};
  for (size_t i = 0; i < COUNT(words); i++)
    if (token_is(p, word, words[i])) return true;
  return false;
}

/* `axis=1`: the number after the `=`; false: another word, or no number. */
static bool axis_said(const Parse *p, Token word, Scanner ahead, int64_t *axis) {
  Token t = scan(&ahead);
  bool minus = t.kind == TOK_MINUS;
  if (minus) t = scan(&ahead);
  if (!axis_word(p, word) || t.kind != TOK_INT || !int64_read(token_text(p, t), t.end - t.at, axis)) return false;
  if (minus) *axis = -*axis;
  return true;
}

/* The text in the brackets, without `name =`; NULL: too long. */
static const char *arguments_unnamed(const Parse *p, const Open *open) {
  Scanner s = scan_quietly(p);
  s.at = p->src->bytes + open->at + 1;
  Buf b = buf_new(p->arena);
  Token was = {0};
  uint32_t from = open->at + 1;
  for (int i = 0, depth = 1; i < NEAR; i++) {
    Token t = scan(&s);
    depth += (t.kind == TOK_LP || t.kind == TOK_LB) - (t.kind == TOK_RP || t.kind == TOK_RB);
    if (s.newline || t.kind == TOK_EOF) return NULL;
    bool over = depth == 0, named = t.kind == TOK_ASSIGN && depth == 1;
    if (over || named) buf_printf(&b, "%.*s", (int)((over ? t.at : was.at) - from), p->src->bytes + from);
    if (over) return b.len < SHOWN ? b.s : NULL;
    if (named) from = t.end;
    was = t;
  }
  return NULL;
}

/* `sum(X[i,j], axis=1)`, `softmax(x, dim=-1)`, `f(x, eps=1)` */
int rule_named_argument(const Scene *s) {
  Parse *p = s->p;
  if (s->in != TOK_LP || !p->open.len) return PASS;
  const Open *open = &vec_last(p->open);
  Scanner ahead = scan_quietly(p);
  bool keyword = token_facts(s->t.kind) & WORD && (s->last.kind == TOK_COMMA || s->last.kind == TOK_LP) &&
      scan(&ahead).kind == TOK_ASSIGN;
  bool named = s->t.kind == TOK_ASSIGN && (s->last.kind == TOK_ID || s->last.kind == TOK_REDUCER) &&
      (p->at.before.kind == TOK_COMMA || p->at.before.kind == TOK_LP);
  bool called = open->operand.kind == TOK_ID || open->operand.kind == TOK_REDUCER;
  if ((!keyword && !named) || !called || p->stmt.first.kind == TOK_DEF) return PASS;
  Token word = keyword ? s->t : s->last;
  Diag *g = diag_add(
      p->diags, D_E020, span_at(p, word.at, word.end), "`%s = ...`: an argument has no name", token_copy(p, word));
  int64_t axis;
  Read r = {0};
  const char *f = token_copy(p, open->operand);
  bool label = axis_said(p, word, ahead, &axis) && read_first(p, open, &r) && axis < r.n && axis >= -(int64_t)r.n;
  const char *which = label ? r.label[axis < 0 ? axis + r.n : axis] : NULL;
  if (label && (open->operand.kind == TOK_REDUCER || foreign_reducer(f, strlen(f))))
    diag_hint(p->diags, g, "an axis is named by its label: `%s[%s] %s`",
        open->operand.kind == TOK_REDUCER ? f : foreign_reducer(f, strlen(f)), which, r.text);
  else if (label) diag_hint(p->diags, g, "an axis is named by its label: `%s[%s](%s)`", f, which, r.text);
  else if (open->operand.kind == TOK_REDUCER || (axis_word(p, word) && foreign_reducer(f, strlen(f))))
    diag_hint(p->diags, g, "an axis is named by its label, as in `%s[j] X[i,j]`",
        open->operand.kind == TOK_REDUCER ? f : foreign_reducer(f, strlen(f)));
  else if (arguments_unnamed(p, open))
    diag_hint(p->diags, g, "arguments stand in their order: `%s(%s)`", f, arguments_unnamed(p, open));
  else diag_hint(p->diags, g, "arguments stand in their order");
  return TOK_BAD;
}

/* `def f(a: f32)`, `def f(a, b=2)`, `def f(a[i])` */
int rule_parameter(const Scene *s) {
  const Parse *p = s->p;
  bool list =
      p->stmt.first.kind == TOK_DEF && s->in == TOK_LP && !p->stmt.assigned && s->last.kind == TOK_ID &&
      p->open.len == 1;
  if (!list || (s->t.kind != TOK_COLON && s->t.kind != TOK_ASSIGN && s->t.kind != TOK_LB)) return PASS;
  const char *x = token_copy(p, s->last), *head = source_piece(p, p->stmt.first.at, vec_last(p->open).at);
  const char *all = s->t.kind == TOK_LB ? source_piece(p, s->t.end, bracket_end(p) ? bracket_end(p) - 1 : 0) : NULL;
  bool bare = head && !strchr(head, '[');
  if (s->t.kind == TOK_COLON) return scene_refuse(s, "a parameter takes the dtype of its argument: `%s` alone", x);
  if (s->t.kind == TOK_ASSIGN) return scene_refuse(s, "a parameter has no default: `%s` alone", x);
  return scene_refuse(s,
      "a parameter comes with the labels of its argument; those that the def works on stand before: `%s%s(%s)`",
      head ? head : "def f", bare && all && strlen(all) < SHOWN ? arena_printf(p->arena, "[%s]", all) : "", x);
}

/* ---- functions without a name ------------------------------------------------------------------ */

/* `f = lambda x: x + 1` */
int rule_lambda(const Scene *s) {
  const Parse *p = s->p;
  if (s->last.kind != TOK_ID || !token_is(p, s->last, "lambda") || (s->t.kind != TOK_ID && s->t.kind != TOK_COLON))
    return PASS;
  Scanner ahead = scan_quietly(p);
  Token t = s->t;
  for (int i = 0; i < NEAR && t.kind != TOK_COLON && t.kind != TOK_EOF && !ahead.newline; i++) t = scan(&ahead);
  Parse at = *p;
  at.scan = ahead;
  bool whole = t.kind == TOK_COLON && p->stmt.tokens == 3 && p->stmt.first.kind == TOK_ID;
  const char *name = whole ? token_copy(p, p->stmt.first) : "f",
             *x = t.kind == TOK_COLON ? source_piece(p, s->t.at, t.at) : NULL;
  const char *body = whole ? source_piece(p, t.end, line_rest(&at, t)) : NULL;
  return scene_refuse(s, "a function is a def: `def %s(%s) = %s`", name, x ? x : "x", body ? body : "...");
}

/* ---- words of other languages within an expression --------------------------------------------- */

/* `sum(X[i,j] for j in range(4))` */
int rule_comprehension(const Scene *s) {
  const Parse *p = s->p;
  if (s->in != TOK_LP || s->t.kind != TOK_ID || !token_is(p, s->t, "for") || !ends_operand(s)) return PASS;
  Scanner ahead = scan_quietly(p);
  Token label = scan(&ahead);
  const Open *open = &vec_last(p->open);
  const char *body = source_piece(p, open->at + 1, s->t.at), *f = token_copy(p, open->operand);
  bool reducer = open->operand.kind == TOK_REDUCER;
  return scene_tell(s, D_E001, "unexpected `for`: a label runs over its size by itself", "write `%s[%s] %s`",
      reducer ? f : "sum", label.kind == TOK_ID ? token_copy(p, label) : "j", body ? body : "...");
}

/* `sum[j in 0..3] e`, `sum[j=0:3] e` */
int rule_range(const Scene *s) {
  const Parse *p = s->p;
  if (s->in != TOK_LB || vec_last(p->open).of != OPEN_REDUCER) return PASS;
  bool in = s->t.kind == TOK_ID && token_is(p, s->t, "in") && s->last.kind == TOK_ID,
       colon = s->t.kind == TOK_COLON && s->last.kind == TOK_INT;
  if (!in && !colon) return PASS;
  return scene_refuse(s,
      "a label runs from 0 to its size, which stands behind a colon: `%s[%s:8]`; others are left out by `where`",
      token_copy(p, vec_last(p->open).operand), in ? token_copy(p, s->last) : "j");
}

/* `sum[j:] e`, `real :: z`, `z[i] = x[i] : f64` */
int rule_colon_alone(const Scene *s) {
  const Parse *p = s->p;
  bool twice = s->t.kind == TOK_COLON && s->last.kind == TOK_COLON && p->stmt.tokens == 2,
       behind = s->t.kind == TOK_COLON && !p->open.len && p->stmt.assigned && ends_operand(s);
  if (s->t.kind == TOK_RB && s->in == TOK_LB && s->last.kind == TOK_COLON && p->at.before.kind == TOK_ID) {
    const char *label = token_copy(p, p->at.before);
    return scene_tell(s, D_E001, "a size is missing behind the `:`",
        "write `%s:8`, or `%s` alone where a tensor says how large it is", label, label);
  }
  if (!twice && !behind) return PASS;
  return scene_refuse(s, behind ? "a dtype stands on the left, `z[i] : f64 = ...`; a value is converted by `f64(x)`"
                                : "a dtype stands behind the name, as in `input X[i:8] : f32`");
}

/* `case x of`, `match x {`, `let a = 1 in`, `a as f64`, in place of a value. */
int rule_word_in_value(const Scene *s) {
  typedef struct Known { const char *word, *hint; bool behind; } Known;
  static const Known known[] = {
    {"case", "a choice is `if c then a else b`", false},
    {"match", "a choice is `if c then a else b`", false},
    {"switch", "a choice is `if c then a else b`", false},
    {"when", "a choice is `if c then a else b`", false},
    {"let", "a name of its own is an equation before: `a = 1`", false},
    {"as", "a conversion is named by its dtype: `f64(x)`", true},
    {"unless", "a choice is `if not c then a else b`", true},
  };
  const Parse *p = s->p;
  if (!p->stmt.assigned || !ends_operand(s)) return PASS;
  for (size_t i = 0; i < COUNT(known); i++) {
    Token t = known[i].behind ? s->t : s->last;
    if (t.kind != TOK_ID || !token_is(p, t, known[i].word) || !(known[i].behind || begins_operand(s->t.kind))) continue;
    return scene_refuse(s, "%s", known[i].hint);
  }
  return PASS;
}

/* `cast(x, f64)`, `(float)x[i]`, `(f64) x[i]` */
int rule_cast(const Scene *s) {
  const Parse *p = s->p;
  bool argument =
      s->last.kind == TOK_DTYPE && s->in == TOK_LP && (s->t.kind == TOK_RP || s->t.kind == TOK_COMMA) && s->ok[TOK_LP];
  const char *inside = p->src->bytes + p->at.operand.at;
  bool before = s->last.kind == TOK_RP && p->at.operand.kind == TOK_LP && begins_operand(s->t.kind) && s->ok[TOK_STAR];
  size_t n = before ? s->last.at - p->at.operand.at - 1 : 0;
  const char *dtype = before ? foreign_dtype(inside + 1, n) : NULL, *at = dtype ? strchr(dtype, '`') : NULL;
  if (!argument && !at) return PASS;
  if (argument) return scene_refuse(s, "a conversion is named by its dtype: `%s(x)`", token_copy(p, s->last));
  const char *x = source_piece(p, s->t.at, operand_end(p, s->t));
  return scene_refuse(
      s, "a conversion is named by its dtype: `%.*s(%s)`", (int)strcspn(at + 1, "`"), at + 1, x ? x : "x");
}

/* `float z = 3`, `int n = 4` */
int rule_typed_first(const Scene *s) {
  const Parse *p = s->p;
  if (p->stmt.tokens != 1 || p->at.newline || s->last.kind != TOK_ID || s->t.kind != TOK_ID) return PASS;
  const char *dtype = foreign_dtype(token_text(p, s->last), s->last.end - s->last.at),
             *at = dtype ? strchr(dtype, '`') : NULL;
  if (!at) return PASS;
  diag_hint(p->diags, scene_say(s, D_E001, "no statement begins with `%s`", token_copy(p, s->last)),
      "a dtype stands behind the name: `%s : %.*s = ...`", token_copy(p, s->t), (int)strcspn(at + 1, "`"), at + 1);
  return TOK_BAD;
}

/* `if c: a else: b`, `if c { a } else { b }` */
int rule_colon_branch(const Scene *s) {
  bool colon = s->t.kind == TOK_COLON;
  if ((!colon && s->t.kind != TOK_LC) || s->in == TOK_LB ||
      (!s->ok[TOK_THEN] && s->last.kind != TOK_ELSE && s->last.kind != TOK_THEN))
    return PASS;
  return scene_refuse(s, "write `if c then a else b`, without %s", colon ? "colons" : "braces");
}

/* `% of LaTeX`, `-- of Haskell`, on a line of its own */
int rule_comment_sign(const Scene *s) {
  bool dashes = s->t.kind == TOK_MINUS && s->start && s->p->src->bytes[s->t.end] == '-';
  if ((s->t.kind != TOK_PERCENT && !dashes) || !(s->p->at.newline || s->start) || s->in == TOK_LP || s->in == TOK_LB)
    return PASS;
  Diag *g = scene_say(s, D_E001, "unexpected `%s`, which begins no comment", dashes ? "--" : "%");
  diag_hint(s->p->diags, g, "a comment begins with `#`");
  return ANSWER_LINE;
}

/* ---- brackets and subscripts ------------------------------------------------------------------- */

/* "sum", for `sum_`, `Sum`, `SUM` and the signs: the reducer meant by the letters before a `_`, or by all; NULL:
 * none. */
static const char *reducer_meant(const Parse *p, Token t, size_t *n) {
  typedef struct Sign { const char *text, *word; } Sign;
  static const Sign signs[] = {{"\xCE\xA3", "sum"}, {"\xE2\x88\x91", "sum"}, {"\xCE\xA0", "prod"}};
  const char *s = token_text(p, t);
  size_t len = t.end - t.at;
  char small[16] = {0};
  Reducer r;
  for (size_t i = 0; i < COUNT(signs); i++)
    if (len >= (*n = strlen(signs[i].text)) && memcmp(s, signs[i].text, *n) == 0) return signs[i].word;
  for (*n = 0; *n < len && s[*n] != '_' && *n + 1 < sizeof small; ++*n)
    small[*n] = char_lower(s[*n]);
  return *n && reducer_find(small, *n, &r) && r != RED_NONE && r != RED_MONOID ? reducer_info[r].name : NULL;
}

static bool stands_alone(const char *text, char c) {
  for (const char *s = text; (s = strchr(s, c)); s++) {
    bool before = s > text && (s[-1] == '_' || ((s[-1] | 32) >= 'a' && (s[-1] | 32) <= 'z'));
    if (!before && s[1] != '_' && !((s[1] | 32) >= 'a' && (s[1] | 32) <= 'z')) return true;
  }
  return false;
}

/* "ij" as "i,j" where the body has both as labels. */
static const char *letters_parted(const Parse *p, const char *list, const char *body) {
  Buf b = buf_new(p->arena);
  for (const char *s = list; *s; s++) {
    if (!body || !stands_alone(body, *s)) return list;
    buf_printf(&b, "%s%c", s > list ? "," : "", *s);
  }
  return b.s;
}

static int refuse_reducer(const Scene *s, const char *word, const char *labels, const char *body) {
  return scene_refuse(s, "labels stand in square brackets: `%s[%s] %s`", word, labels, body ? body : "...");
}

/* `sum_j x[j]`, the sign and `_j`, `Sum[i] x[i]`, `sum j x[j]` */
int rule_subscript(const Scene *s) {
  const Parse *p = s->p;
  size_t n;
  Token word = s->last.kind == TOK_RB && p->at.closed == OPEN_PLAIN ? p->at.operand : s->last;
  bool sign = s->last.kind == TOK_REDUCER && s->t.kind == TOK_ID;
  const char *red =
      sign || (word.kind == TOK_ID && begins_operand(s->t.kind) && s->ok[TOK_STAR]) ? reducer_meant(p, word, &n) : NULL;
  if (!red) return PASS;
  const char *labels = token_text(p, word) + n, *body = NULL;
  size_t len = word.end - word.at - n;
  if (sign) labels = token_text(p, s->t), len = s->t.end - s->t.at;
  else body = source_piece(p, s->t.at, operand_end(p, s->t));
  if (sign) {
    Parse at = *p;
    Token next = scan(&at.scan);
    body = begins_operand(next.kind) && !at.scan.newline ? source_piece(p, next.at, operand_end(&at, next)) : NULL;
    if (!body) return PASS;
  }
  if (s->last.kind == TOK_RB && len) return PASS;
  if (s->last.kind == TOK_RB) labels = p->src->bytes + word.end + 1, len = s->last.at - word.end - 1;
  if (len && *labels == '_') labels++, len--;
  if (!len || len > SHOWN) return PASS;
  const char *list = arena_printf(p->arena, "%.*s", (int)len, labels);
  if (s->last.kind == TOK_RB) return scene_refuse(s, "write `%s[%s] %s`", red, list, body ? body : "...");
  return refuse_reducer(s, red, letters_parted(p, list, body), body);
}

/* `sum_i,j x[i,j]` */
int rule_subscripts(const Scene *s) {
  const Parse *p = s->p;
  size_t n;
  const char *red = s->t.kind == TOK_COMMA && s->last.kind == TOK_ID && !s->in ? reducer_meant(p, s->last, &n) : NULL;
  if (!red || token_text(p, s->last)[n] != '_') return PASS;
  const char *labels = token_text(p, s->last) + n + 1, *body;
  size_t len = strcspn(labels, " \n"), rest = strcspn(labels + len, "\n#");
  if (len > SHOWN || rest > SHOWN) return PASS;
  body = source_piece(p, (uint32_t)(labels + len - p->src->bytes), (uint32_t)(labels + len + rest - p->src->bytes));
  return refuse_reducer(s, red, arena_printf(p->arena, "%.*s", (int)len, labels), body);
}

/* `x_{i}`, `z{i}`, the sign of a sum and `_{j=0}^{2}` */
int rule_braces(const Scene *s) {
  const Parse *p = s->p;
  bool name = s->last.kind == TOK_ID && s->last.end == s->t.at,
       sign = name && p->at.before.kind == TOK_REDUCER && token_is(p, s->last, "_");
  if (s->t.kind != TOK_LC || s->ok[TOK_LC] || !name) return PASS;
  const char *inside = p->src->bytes + s->t.end;
  size_t n = strcspn(inside, "}\n"), m = s->last.end - s->last.at, labels = strcspn(inside, "=}\n^<"), k;
  if (inside[n] != '}' || n > SHOWN) return PASS;
  while (m && token_text(p, s->last)[m - 1] == '_') m--;
  const char *red = sign ? "sum" : reducer_meant(p, s->last, &k);
  Buf b = buf_new(p->arena);
  for (size_t i = 0, letters = strspn(inside, "abcdefghijklmnopqrstuvwxyz"); i < labels; i++)
    buf_printf(&b, "%s%c", i && letters == labels ? "," : "", inside[i]);
  if (red) return refuse_reducer(s, red, b.s, NULL);
  return scene_refuse(s, "labels stand in square brackets: `%.*s[%s]`", (int)m, token_text(p, s->last), b.s);
}

/* `2(x + 1)`, `(a)(b)`, `sin^2(x)` */
int rule_product_by_bracket(const Scene *s) {
  const Parse *p = s->p;
  if (s->t.kind != TOK_LP || !ends_operand(s) || !s->ok[TOK_STAR] || s->ok[TOK_LP]) return PASS;
  const char *a = source_piece(p, p->at.operand.at, s->last.end), *b = source_piece(p, s->t.at, operand_end(p, s->t));
  Op op;
  Diag *g = scene_unexpected(s);
  const char *before = p->src->bytes + s->last.at, *name = before;
  if (s->last.kind == TOK_INT && before > p->src->bytes && before[-1] == '^')
    for (name--; name > p->src->bytes && ((name[-1] >= 'a' && name[-1] <= 'z') || (name[-1] >= '0' && name[-1] <= '9'));
         name--) {}
  size_t n = name < before ? (size_t)(before - name) - 1 : 0;
  if (n && op_find(name, n, &op) && b)
    diag_hint(p->diags, g, "the power stands behind the call: `%.*s%s^%s`", (int)n, name, b, token_copy(p, s->last));
  else if (a && b) diag_hint(p->diags, g, "is an operator missing, as in `%s * %s`?", a, b);
  return TOK_BAD;
}

/* `z <- 3` */
int rule_arrow_left(const Scene *s) {
  const Parse *p = s->p;
  if (s->t.kind != TOK_LT || p->src->bytes[s->t.end] != '-' || p->stmt.assigned || !s->ok[TOK_ASSIGN]) return PASS;
  return scene_tell(s, D_E016, "there is no operator `<-`", "`=` defines");
}
