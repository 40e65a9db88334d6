/* front/parse/mistakes.c - complaints where no token fits. In: the token that cannot come next, with the grammar in
 * the state before it; out: one complaint, and what to take in the token's place so that one mistake makes one
 * message. The rules are tried in order, special ones first; the last one lists everything that could have come.
 * This file has the order, brackets, and the helpers of rules; words are in mistakes_words.c, calls in
 * mistakes_calls.c, missing things in mistakes_missing.c, near misses in mistakes_near.c. */
#include "front/foreign.h"
#include "mistakes.h"

#include <string.h>

const char *token_text(const Parse *p, Token t) {
  return p->src->bytes + t.at;
}

const char *token_copy(const Parse *p, Token t) {
  return arena_printf(p->arena, "%.*s", (int)(t.end - t.at), token_text(p, t));
}

bool token_is(const Parse *p, Token t, const char *word) {
  size_t n = strlen(word);
  return t.end - t.at == n && memcmp(token_text(p, t), word, n) == 0;
}

const char *token_shown(const Parse *p, Token t) {
  uint32_t n = t.end - t.at;
  if (t.kind == TOK_EOF || (t.kind == TOK_NEWLINE && !n && p->at.held.kind == TOK_EOF))
    return "the end of the file";
  if (!n) return token_name(t.kind);
  return arena_printf(p->arena, "`%.*s%s`", (int)(n < 40 ? n : 40), token_text(p, t),
                      n > 40 ? "..." : "");
}

/* A place is shown at the program's text, not in empty lines at the end of the file. */
Span scene_place(const Scene *s) {
  Token t = s->t.kind == TOK_EOF && s->last.end ? s->last : s->t;
  return span_at(s->p, t.at, t.end);
}

bool begins_operand(int kind) {
  return kind == TOK_ID || kind == TOK_INT || kind == TOK_REAL || kind == TOK_CONST ||
         kind == TOK_DTYPE || kind == TOK_REDUCER || kind == TOK_COUNT || kind == TOK_LP ||
         kind == TOK_IF || kind == TOK_NOT;
}

bool ends_operand(const Scene *s) {
  int k = s->last.kind;
  return k == TOK_ID || k == TOK_INT || k == TOK_REAL || k == TOK_CONST || k == TOK_RP ||
         (k == TOK_RB && s->p->at.closed != OPEN_REDUCER);
}

/* ---- looking ahead --------------------------------------------------------------------------- */

Scanner scan_quietly(const Parse *p) {
  Scanner s = p->scan;
  s.fault = NULL;
  s.comment = NULL;
  return s;
}

/* The text from at to end without surrounding blanks; NULL if it is long or empty. */
const char *source_piece(const Parse *p, uint32_t at, uint32_t end) {
  const char *s = p->src->bytes;
  while (at < end && (s[at] == ' ' || s[at] == '\t')) at++;
  while (at < end && (s[end - 1] == ' ' || s[end - 1] == '\t')) end--;
  if (at >= end || end - at > SHOWN || memchr(s + at, '\n', end - at)) return NULL;
  return arena_printf(p->arena, "%.*s", (int)(end - at), s + at);
}

/* The end of the operand that begins with the current token, including its brackets; 0: not on this line. */
uint32_t operand_end(const Parse *p, Token t) {
  Scanner s = scan_quietly(p);
  bool reducer = t.kind == TOK_REDUCER;
  int depth = t.kind == TOK_LP;
  uint32_t end = t.end;
  for (int i = 0; i < NEAR; i++) {
    Token was = t;
    t = scan(&s);
    bool opens = t.kind == TOK_LP || t.kind == TOK_LB, line = s.newline || t.kind == TOK_EOF;
    if (!depth && (line || !opens || t.at != end)) {
      if (line || !reducer || was.kind != TOK_RB || !begins_operand(t.kind)) return end;
      reducer = t.kind == TOK_REDUCER;
    }
    if (line) return 0;
    depth += opens - (t.kind == TOK_RP || t.kind == TOK_RB);
    end = t.end;
  }
  return 0;
}

/* The end of the statement's part on this line, from the current token on; 0: far away. */
uint32_t line_rest(const Parse *p, Token t) {
  Scanner s = scan_quietly(p);
  for (int i = 0; i < NEAR; i++) {
    Token n = scan(&s);
    if (s.newline || n.kind == TOK_EOF || n.kind == TOK_SEMI || n.kind == TOK_RC) return t.end;
    t = n;
  }
  return 0;
}

/* Whether this line continues with the token, outside brackets. */
bool line_has(const Parse *p, int kind, int before) {
  Scanner s = scan_quietly(p);
  for (int i = 0, depth = 0; i < NEAR; i++) {
    Token t = scan(&s);
    if (s.newline || t.kind == TOK_EOF || t.kind == TOK_SEMI) return false;
    depth += (t.kind == TOK_LP || t.kind == TOK_LB) - (t.kind == TOK_RP || t.kind == TOK_RB);
    if (depth == 0 && t.kind == kind) return true;
    if (depth == 0 && t.kind == before) return false;
  }
  return false;
}

/* Whether the innermost bracket is closed on this line. Looks only some hundred tokens ahead. */
bool bracket_closed(const Parse *p) {
  enum { FAR = 500 };
  Scanner s = scan_quietly(p);
  int depth = 1;
  for (int i = 0; i < FAR; i++) {
    Token t = scan(&s);
    if (t.kind == TOK_EOF || s.newline) return false;
    if (t.kind == TOK_LP || t.kind == TOK_LB) depth++;
    if ((t.kind == TOK_RP || t.kind == TOK_RB) && --depth == 0) return true;
  }
  return true;
}

/* Where the innermost bracket is closed on this line, after the current token; 0: it is not. */
uint32_t bracket_end(const Parse *p) {
  Scanner s = scan_quietly(p);
  for (int i = 0, depth = 1; i < NEAR; i++) {
    Token t = scan(&s);
    if (s.newline || t.kind == TOK_EOF) return 0;
    depth += (t.kind == TOK_LP || t.kind == TOK_LB) - (t.kind == TOK_RP || t.kind == TOK_RB);
    if (depth == 0) return t.end;
  }
  return 0;
}

/* The text after the next `=` of this line. */
const char *value_ahead(const Parse *p) {
  Scanner s = scan_quietly(p);
  for (int i = 0; i < NEAR; i++) {
    Token t = scan(&s);
    if (s.newline || t.kind == TOK_EOF) return NULL;
    if (t.kind != TOK_ASSIGN) continue;
    Parse at = *p;
    at.scan = s;
    return source_piece(p, t.end, line_rest(&at, t));
  }
  return NULL;
}

/* The token after the next pair of brackets, or the next one if there is none. */
Token token_behind_brackets(const Parse *p) {
  Scanner s = scan_quietly(p);
  Token t = scan(&s);
  if (t.kind != TOK_LB) return t;
  for (int i = 0, depth = 1; i < NEAR && depth && t.kind != TOK_EOF; i++) {
    t = scan(&s);
    depth += (t.kind == TOK_LB) - (t.kind == TOK_RB);
  }
  t = scan(&s);
  if (s.newline) t.kind = TOK_NEWLINE;
  return t;
}

/* ---- what was expected ----------------------------------------------------------------------- */

typedef struct Wanted { const char *at[TOKEN_KINDS + 4]; int n; } Wanted;

static void want(Wanted *w, const char *name) {
  for (int i = 0; i < w->n; i++)
    if (strcmp(w->at[i], name) == 0) return;
  w->at[w->n++] = name;
}

/* Removes whole groups of tokens from ok and adds a word for each to w. */
static void want_groups(Wanted *w, bool *ok) {
  bool statement = ok[TOK_DIM], step = ok[TOK_NEXT],
       expression = ok[TOK_INT], infix = ok[TOK_STAR];
  if (statement) want(w, "a statement");
  if (step) want(w, "an equation");
  if (expression) want(w, ok[TOK_NOT] ? "an expression" : "an operand");
  if (infix) want(w, "an operator");
  ok[TOK_FROM] = ok[TOK_TO] = ok[TOK_EXTERN] = false; /* never alone, and seldom what was meant */
  if (expression) ok[TOK_LB] = false; /* a list: an expression, too */
  if (infix && !expression) ok[TOK_LP] = ok[TOK_LB] = false; /* for a call or an index: too much to list */
  for (int k = 0; k < TOKEN_KINDS; k++) {
    bool heads = statement && (token_facts(k) & HEADS || k == TOK_ID);
    bool operand = expression && (begins_operand(k) || k == TOK_MINUS);
    bool binary = infix && (token_facts(k) & BINARY || k == TOK_MINUS);
    if (heads || operand || binary || (step && k == TOK_ID)) ok[k] = false;
  }
}

static const char *expected(const Scene *s) {
  Wanted w = {.n = 0};
  bool ok[TOKEN_KINDS];
  memcpy(ok, s->ok, sizeof ok);
  int first = s->p->stmt.first.kind;
  bool listed = first == TOK_DIM || first == TOK_INPUT || first == TOK_PARAM || first == TOK_OUTPUT;
  if (!listed && ok[TOK_ASSIGN]) ok[TOK_COMMA] = false; /* another left side: seldom what was meant */
  want_groups(&w, ok);
  for (int k = TOK_NEWLINE + 1; k < TOK_RESYNC; k++)
    if (ok[k]) want(&w, token_name(k));
  if (ok[TOK_NEWLINE]) want(&w, token_name(TOK_NEWLINE));
  Buf b = buf_new(s->p->arena);
  for (int i = 0; i < w.n; i++)
    buf_printf(&b, "%s%s", i == 0 ? "" : i == w.n - 1 ? " or " : ", ", w.at[i]);
  return b.s;
}

/* The line above may lack its end, so that this one was read as its continuation. */
void hint_joined(const Scene *s, Diag *g) {
  const Parse *p = s->p;
  bool begins = p->at.newline && p->stmt.tokens && s->t.kind != TOK_NEWLINE && s->in != TOK_LP &&
                s->in != TOK_LB;
  Token end = begins ? s->last : p->stmt.joined;
  bool stands = end.end > end.at; /* what the prompt inserts before an expression has no position */
  if (s->t.kind != TOK_EOF && end.kind && stands && end.end - end.at < 40)
    diag_hint(p->diags, g, "this line goes on from the one above, which ends with `%.*s`",
              (int)(end.end - end.at), token_text(p, end));
}

Diag *scene_unexpected(const Scene *s) {
  Diag *g;
  if (s->t.kind == TOK_EOF)
    g = scene_say(s, D_E001, "the file ends behind this, expected %s", expected(s));
  else if (s->t.kind == TOK_NEWLINE && s->t.at == s->t.end)
    g = scene_say(s, D_E001, "the line ends too early, expected %s", expected(s));
  else
    g = scene_say(s, D_E001, "unexpected %s, expected %s", token_shown(s->p, s->t), expected(s));
  hint_joined(s, g);
  return g;
}

int scene_refuse(const Scene *s, const char *hint, ...) {
  va_list ap;
  va_start(ap, hint);
  const char *text = arena_vprintf(s->p->arena, hint, ap);
  va_end(ap);
  diag_hint(s->p->diags, scene_unexpected(s), "%s", text);
  return TOK_BAD;
}

int scene_tell(const Scene *s, DiagCode code, const char *what, const char *hint, ...) {
  va_list ap;
  va_start(ap, hint);
  const char *text = arena_vprintf(s->p->arena, hint, ap);
  va_end(ap);
  diag_hint(s->p->diags, scene_say(s, code, "%s", what), "%s", text);
  return TOK_BAD;
}

/* `: float32` */
static void hint_dtype(const Scene *s, Diag *g) {
  bool wanted = s->t.kind == TOK_ID && s->ok[TOK_DTYPE] && s->last.kind == TOK_COLON;
  const char *ours = wanted ? foreign_dtype(token_text(s->p, s->t), s->t.end - s->t.at) : NULL;
  if (ours) diag_hint(s->p->diags, g, "%s", ours);
  else if (wanted) diag_hint(s->p->diags, g, "the dtypes are f64, f32, f16, bf16, i64, i32, i16, i8, u8 and bool");
}

static int anything_else(const Scene *s) {
  Diag *g = scene_unexpected(s);
  bool block = s->t.kind == TOK_LC && s->last.kind == TOK_ASSIGN;
  if (block && s->p->stmt.first.kind == TOK_DEF)
    diag_hint(s->p->diags, g, "a def has `=` or a block: `def f(x) { y = 2 * x; y + 1 }`");
  else if (block && s->ok[TOK_INT]) diag_hint(s->p->diags, g, "a list of values is in square brackets: `[1, 2, 1]`");
  Token f = s->in == TOK_LP ? vec_last(s->p->open).operand : (Token){0}; /* einsum("ij->ji", X) */
  const char *ours = f.kind == TOK_ID ? foreign_function(token_text(s->p, f), f.end - f.at) : NULL;
  static const char *const none[FOREIGN_ARGS] = {0};
  const char *text = token_text(s->p, s->t);
  if (s->t.kind == TOK_STRING && s->t.end - s->t.at == 3 && text[1] > 0)
    diag_hint(s->p->diags, g, "a letter is a number: write `%d`", text[1]);
  else if (s->t.kind == TOK_STRING && s->p->stmt.first.kind == TOK_INPUT)
    diag_hint(s->p->diags, g, "a file is given to a run: `ein run x.ein X=x.npy`");
  else if (s->t.kind == TOK_STRING)
    diag_hint(s->p->diags, g, "%s",
        ours ? foreign_fill(s->p->arena, ours, none)
             : "strings stand behind `use`, `assert`, `from`, `to` and `extern` only");
  hint_dtype(s, g);
  if (s->t.kind == TOK_COLON && s->p->stmt.first.kind == TOK_DIM && s->last.kind == TOK_ID)
    diag_hint(s->p->diags, g, "a size is given by `=`: `dim %.*s = 8`", (int)(s->last.end - s->last.at),
        token_text(s->p, s->last));
  if (s->t.kind == TOK_COLON && s->p->stmt.first.kind == TOK_DEF)
    diag_hint(s->p->diags, g, "a def is written `def f(x) = e`, or with a block in `{ }`");
  if (s->t.kind == TOK_DTYPE && s->ok[TOK_COLON]) {
    diag_hint(
        s->p->diags, g, "a dtype stands behind a colon: `: %.*s`", (int)(s->t.end - s->t.at), token_text(s->p, s->t));
    return ANSWER_INSERT + TOK_COLON;
  }
  return TOK_BAD;
}

/* ---- brackets -------------------------------------------------------------------------------- */

const char *bracket_sign(int kind) {
  return kind == TOK_LP ? "(" : kind == TOK_LB ? "[" : "{";
}

static void complain_unclosed(Parse *p, const Open *o, Token t) {
  Diag *g = diag_add(p->diags, D_E006, span_at(p, o->at, o->at + 1), "this `%s` is never closed",
                     bracket_sign(o->kind));
  if (t.kind == TOK_EOF || (t.kind == TOK_NEWLINE && p->at.held.kind == TOK_EOF))
    diag_at(p->diags, g, span_at(p, p->at.last.end, p->at.last.end), "the file ends");
  else
    diag_at(p->diags, g, span_at(p, t.at, t.end), "the next statement begins here");
}

void complain_mismatch(Parse *p, Token t) {
  Span at = span_at(p, t.at, t.end);
  const char *c = token_text(p, t);
  if (!p->open.len) {
    diag_add(p->diags, D_E006, at, "this `%c` closes nothing", *c);
    return;
  }
  Open o = vec_last(p->open);
  if (t.kind == TOK_RC) {
    complain_unclosed(p, &o, t);
    vec_last(p->diags->all)->spans.at[1].note = "the block ends";
    return;
  }
  Diag *g = o.kind == TOK_LC ? diag_add(p->diags, D_E006, at, "this `%c` closes nothing", *c)
                             : diag_add(p->diags, D_E006, at, "`%c` where `%s` is to be closed", *c,
                                        bracket_sign(o.kind));
  if (o.kind != TOK_LC) diag_at(p->diags, g, span_at(p, o.at, o.at + 1), "opened here");
}

/* Whether it is a statement that cannot be in the block, indented like the block's own statement. */
static bool left_block(const Scene *s, const Open *o) {
  const Parse *p = s->p;
  return p->at.newline && (s->start || s->last.kind == TOK_NEWLINE) && token_facts(s->t.kind) & HEADS &&
         s->t.at - p->scan.line_start <= o->indent && o->deeper;
}

/* The statement ends only at a `}` that closes nothing, which is reported next. */
static int extra_brace(const Scene *s) {
  bool brace = s->t.kind == TOK_NEWLINE && s->p->at.held.kind == TOK_RC && !s->p->open.len;
  return brace && s->t.at == s->t.end ? TOK_BAD : PASS;
}

static int unclosed(const Scene *s) {
  Parse *p = s->p;
  if (!s->in) return PASS;
  const Open *o = &vec_last(p->open);
  if (s->in == TOK_LC && (s->over ? s->start : left_block(s, o))) {
    if (!o->assumed) complain_unclosed(p, o, s->t);
    return ANSWER_CLOSE;
  }
  if (!s->over) {
    if (s->in == TOK_LC || !p->at.newline) return PASS;
    bool out = s->t.at - p->scan.line_start <= p->stmt.indent && token_facts(s->t.kind) & BEGINS;
    if (!out && !(token_facts(s->t.kind) & HEADS)) return PASS;
  }
  complain_unclosed(p, o, s->t);
  return TOK_BAD;
}

static int empty_brackets(const Scene *s) {
  if (s->t.kind != TOK_RB || s->last.kind != TOK_LB) return PASS;
  Diag *g = scene_say(s, D_E001, "nothing between the brackets");
  const Parse *p = s->p;
  OpenKind of = p->open.len ? vec_last(p->open).of : OPEN_PLAIN;
  int n = (int)(p->at.before.end - p->at.before.at);
  const char *word = token_text(p, p->at.before);
  if (of == OPEN_REDUCER)
    diag_hint(p->diags, g, "say which labels to reduce, `%.*s[k] e`, or all of them, `%.*s(e)`", n,
              word, n, word);
  else if (of == OPEN_COUNT)
    diag_hint(p->diags, g, "say which labels to count over: `count[i where p]`");
  else if (of == OPEN_LIST)
    diag_hint(p->diags, g, "a list has at least one element: `w[k] = [1, 2, 1]`");
  else
    diag_hint(p->diags, g, "what has no labels is written without brackets: `%.*s`", n, word);
  return TOK_BAD;
}

static int second_brackets(const Scene *s) {
  if (s->t.kind == TOK_LB && s->last.kind == TOK_RB && s->p->at.closed == OPEN_LIST)
    return scene_tell(s, D_E001, "a list is read by its name", "give it one, `w[k] = [1, 2, 1]`, and read `w[k]`");
  if (s->t.kind != TOK_LB || s->last.kind != TOK_RB || s->p->at.closed != OPEN_PLAIN) return PASS;
  return scene_tell(s, D_E001, "a second pair of brackets", "all indices stand in one pair: `A[i,j]`");
}

/* ---- the rules ------------------------------------------------------------------------------- */

int complain_unexpected(Parse *p, Token t) {
  static Rule *const rules[] = {
      extra_brace,
      unclosed,
      empty_brackets,
      second_brackets,
      rule_named_argument,
      rule_parameter,
      rule_lambda,
      rule_comprehension,
      rule_range,
      rule_typed_first,
      rule_colon_branch,
      rule_colon_alone,
      rule_comment_sign,
      rule_subscript,
      rule_subscripts,
      rule_braces,
      rule_arrow_left,
      rule_comment_c,
      rule_slashes,
      rule_equals,
      rule_semicolon,
      rule_until,
      rule_default,
      rule_where_called,
      rule_where_first,
      rule_where_behind,
      rule_where_in_read,
      rule_keyword_defined,
      rule_dtype_first,
      rule_keyword_as_name,
      rule_wrong_place,
      rule_foreign,
      rule_misspelt,
      rule_foreign_operator,
      rule_choice_behind,
      rule_many_in_one,
      rule_loop_head,
      rule_round_left,
      rule_if_statement,
      rule_colon_block,
      rule_late_accumulator,
      rule_reducer_called,
      rule_bare_expression,
      rule_unary_plus,
      rule_limits,
      rule_assert,
      rule_foreign_sign,
      rule_bare_reducer,
      rule_missing_bracket,
      rule_missing_comma,
      rule_def_parameters,
      rule_stored_unquoted,
      rule_missing_in_list,
      rule_list_goes_on,
      rule_missing_equals,
      rule_missing_branch,
      rule_round_reducer,
      rule_word_in_value,
      rule_cast,
      rule_product_by_bracket,
      rule_missing_operator,
      rule_def_without_value,
      rule_def_goes_on,
      rule_statement_over,
      rule_slice,
      anything_else,
  };
  Scene s = {.p = p, .t = t, .last = p->at.last, .start = p->stmt.tokens == 0};
  s.in = p->open.len ? vec_last(p->open).kind : 0;
  s.over = t.kind == TOK_EOF || (t.kind == TOK_NEWLINE && p->at.held.kind == TOK_EOF);
  for (int k = 0; k < TOK_RESYNC; k++) s.ok[k] = grammar_accepts(p->grammar, k);
  for (size_t i = 0;; i++) {
    int answer = rules[i](&s);
    if (answer != PASS) return answer;
  }
}
