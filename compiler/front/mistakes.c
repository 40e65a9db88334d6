/* front/mistakes.c - what to say where no token fits. In comes the token that cannot come next,
 * with the grammar in the state before it; out goes one complaint, and what to take in the token's
 * place so that one mistake makes one message. The rules are tried in order, special ones first;
 * the last lists all that could have come. */
#include "parse.h"

#include <string.h>

enum { PASS = -1 }; /* this rule has nothing to say */

typedef struct Scene { /* what the rules look at */
  Parse *p;
  Token t, last;
  bool ok[TOKEN_KINDS];  /* what could have come */
  int in;                /* the innermost bracket: TOK_LP, LB, LC, or 0 */
  bool start;            /* the token would begin a statement */
} Scene;

static const char *text_of(const Parse *p, Token t) {
  return p->src->bytes + t.at;
}

static const char *shown(const Parse *p, Token t) {
  uint32_t n = t.end - t.at;
  if (t.kind == TOK_EOF || (t.kind == TOK_NEWLINE && !n && p->held.kind == TOK_EOF))
    return "the end of the file";
  if (!n) return token_name(t.kind);
  return arena_printf(p->arena, "`%.*s%s`", (int)(n < 40 ? n : 40), text_of(p, t),
                      n > 40 ? "..." : "");
}

static Span place(const Scene *s) {
  return span_at(s->p, s->t.at, s->t.end);
}

EIN_PRINTF(3, 4) static Diag *say(const Scene *s, DiagCode code, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  const char *text = arena_vprintf(s->p->arena, fmt, ap);
  va_end(ap);
  return diag_add(s->p->diags, code, place(s), "%s", text);
}

static bool begins_operand(int kind) {
  return kind == TOK_ID || kind == TOK_INT || kind == TOK_REAL || kind == TOK_CONST ||
         kind == TOK_DTYPE || kind == TOK_REDUCER || kind == TOK_COUNT || kind == TOK_LP ||
         kind == TOK_IF || kind == TOK_NOT;
}

static bool ends_operand(const Scene *s) {
  int k = s->last.kind;
  return k == TOK_ID || k == TOK_INT || k == TOK_REAL || k == TOK_CONST || k == TOK_RP ||
         (k == TOK_RB && s->p->closed != OPEN_REDUCER);
}

/* ---- what was expected ----------------------------------------------------------------------- */

typedef struct Wanted { const char *at[TOKEN_KINDS + 4]; int n; } Wanted;

static void want(Wanted *w, const char *name) {
  for (int i = 0; i < w->n; i++)
    if (strcmp(w->at[i], name) == 0) return;
  w->at[w->n++] = name;
}

/* Takes whole groups of tokens out of ok and puts a word for each into w. */
static void want_groups(Wanted *w, bool *ok) {
  bool statement = ok[TOK_DIM], step = ok[TOK_NEXT],
       expression = ok[TOK_INT], infix = ok[TOK_STAR];
  if (statement) want(w, "a statement");
  if (step) want(w, "an equation");
  if (expression) want(w, ok[TOK_NOT] ? "an expression" : "an operand");
  if (infix) want(w, "an operator");
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
  want_groups(&w, ok);
  for (int k = TOK_NEWLINE + 1; k < TOK_RESYNC; k++)
    if (ok[k]) want(&w, token_name(k));
  if (ok[TOK_NEWLINE]) want(&w, token_name(TOK_NEWLINE));
  Buf b = buf_new(s->p->arena);
  for (int i = 0; i < w.n; i++)
    buf_printf(&b, "%s%s", i == 0 ? "" : i == w.n - 1 ? " or " : ", ", w.at[i]);
  return b.s;
}

/* The line above may have lacked its end, so that this one was taken for the rest of it. */
static void hint_joined(const Scene *s, Diag *g) {
  const Parse *p = s->p;
  bool begins = p->newline && p->stmt_tokens && s->t.kind != TOK_NEWLINE && s->in != TOK_LP &&
                s->in != TOK_LB;
  Token end = begins ? s->last : p->joined;
  if (end.kind && end.end - end.at < 40)
    diag_hint(p->diags, g, "this line goes on from the one above, which ends with `%.*s`",
              (int)(end.end - end.at), text_of(p, end));
}

static Diag *say_unexpected(const Scene *s) {
  bool file = s->t.kind == TOK_EOF || (s->t.kind == TOK_NEWLINE && s->p->held.kind == TOK_EOF);
  Diag *g;
  if (file || (s->t.kind == TOK_NEWLINE && s->t.at == s->t.end))
    g = say(s, D_E001, "the %s ends too early, expected %s", file ? "file" : "line", expected(s));
  else
    g = say(s, D_E001, "unexpected %s, expected %s", shown(s->p, s->t), expected(s));
  hint_joined(s, g);
  return g;
}

static int anything_else(const Scene *s) {
  Diag *g = say_unexpected(s);
  if (s->t.kind == TOK_LB && s->ok[TOK_INT])
    diag_hint(s->p->diags, g,
              "there are no lists of values: data is an `input`, or computed from labels");
  if (s->t.kind == TOK_STRING)
    diag_hint(s->p->diags, g, "strings stand behind `use` and `assert` only");
  if (s->t.kind == TOK_COLON && s->p->stmt_first.kind == TOK_DEF)
    diag_hint(s->p->diags, g, "a def is written `def f(x) = e`, or with a block in `{ }`");
  if (s->t.kind == TOK_DTYPE && s->ok[TOK_COLON])
    diag_hint(s->p->diags, g, "a dtype stands behind a colon: `X[i:8] : f32`");
  return TOK_BAD;
}

/* ---- brackets -------------------------------------------------------------------------------- */

static const char *bracket(int kind) {
  return kind == TOK_LP ? "(" : kind == TOK_LB ? "[" : "{";
}

void complain_unclosed(Parse *p, const Open *o, Token t) {
  Diag *g = diag_add(p->diags, D_E006, span_at(p, o->at, o->at + 1), "this `%s` is never closed",
                     bracket(o->kind));
  if (t.kind == TOK_EOF || (t.kind == TOK_NEWLINE && p->held.kind == TOK_EOF))
    diag_at(p->diags, g, span_at(p, t.at, t.end), "the file ends");
  else
    diag_at(p->diags, g, span_at(p, t.at, t.end), "the next statement begins here");
}

void complain_mismatch(Parse *p, Token t) {
  Span at = span_at(p, t.at, t.end);
  const char *c = text_of(p, t);
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
                                        bracket(o.kind));
  if (o.kind != TOK_LC) diag_at(p->diags, g, span_at(p, o.at, o.at + 1), "opened here");
}

static int unclosed(const Scene *s) {
  Parse *p = s->p;
  bool over = s->t.kind == TOK_EOF || (s->t.kind == TOK_NEWLINE && p->held.kind == TOK_EOF);
  if (!s->in) return PASS;
  if (!over) {
    if (s->in == TOK_LC || !p->newline) return PASS;
    bool out = s->t.at - p->scan.line_start <= p->stmt_indent && token_facts(s->t.kind) & BEGINS;
    if (!out && !(token_facts(s->t.kind) & HEADS)) return PASS;
  }
  complain_unclosed(p, &vec_last(p->open), s->t);
  return TOK_BAD;
}

static int empty_brackets(const Scene *s) {
  if (s->t.kind != TOK_RB || s->last.kind != TOK_LB) return PASS;
  Diag *g = say(s, D_E001, "nothing between the brackets");
  const Parse *p = s->p;
  OpenKind of = p->open.len ? vec_last(p->open).of : OPEN_PLAIN;
  int n = (int)(p->before.end - p->before.at);
  const char *word = text_of(p, p->before);
  if (of == OPEN_REDUCER)
    diag_hint(p->diags, g, "say which labels to reduce, `%.*s[k] e`, or all of them, `%.*s(e)`", n,
              word, n, word);
  else if (of == OPEN_COUNT)
    diag_hint(p->diags, g, "say which labels to count over: `count[i where p]`");
  else
    diag_hint(p->diags, g, "what has no labels is written without brackets: `%.*s`", n, word);
  return TOK_BAD;
}

static int second_brackets(const Scene *s) {
  if (s->t.kind != TOK_LB || s->last.kind != TOK_RB || s->p->closed != OPEN_PLAIN) return PASS;
  Diag *g = say(s, D_E001, "a second pair of brackets");
  diag_hint(s->p->diags, g, "all indices stand in one pair: `A[i,j]`");
  return TOK_BAD;
}

/* ---- = and == -------------------------------------------------------------------------------- */

static int equals(const Scene *s) {
  if (s->t.kind == TOK_EQ && s->ok[TOK_ASSIGN]) {
    Diag *g = say(s, D_E019, "`==` compares, and cannot define");
    diag_hint(s->p->diags, g, "write `=`");
    return TOK_ASSIGN;
  }
  if (s->t.kind == TOK_ASSIGN && s->ok[TOK_EQ] && !s->ok[TOK_COLON]) {
    Diag *g = say(s, D_E019, "`=` defines, and cannot compare");
    if (s->p->joined.kind && s->p->assigned) {
      hint_joined(s, g);
      return TOK_BAD;
    }
    diag_hint(s->p->diags, g, "write `==`");
    return TOK_EQ;
  }
  return PASS;
}

/* ---- words in the wrong place ---------------------------------------------------------------- */

static bool is_connective(int k) {
  return k == TOK_UNTIL || k == TOK_IDENTITY || k == TOK_WHERE || k == TOK_THEN || k == TOK_ELSE ||
         k == TOK_AND || k == TOK_OR;
}

static int where_first(const Scene *s) {
  if (s->t.kind != TOK_WHERE || s->last.kind != TOK_LB) return PASS;
  Diag *g = say(s, D_E001, "a label comes before `where`");
  diag_hint(s->p->diags, g, "write `sum[i where p] e`");
  return TOK_BAD;
}

static int keyword_as_name(const Scene *s) {
  int k = s->t.kind;
  if (!(token_facts(k) & WORD) || !s->ok[TOK_ID] || s->start) return PASS;
  if (s->p->newline && token_facts(k) & HEADS) return PASS;
  bool listed = s->in == TOK_LB && (s->last.kind == TOK_LB || s->last.kind == TOK_COMMA);
  if (is_connective(k) && s->ok[TOK_INT] && !listed) return PASS;
  Diag *g =
      say(s, D_E017, "%s is a word of the language and cannot name anything", shown(s->p, s->t));
  diag_hint(s->p->diags, g, "another name is needed here, such as `%.*s_`",
            (int)(s->t.end - s->t.at), text_of(s->p, s->t));
  return TOK_ID;
}

static int wrong_place(const Scene *s) {
  if (!s->start || !(token_facts(s->t.kind) & HEADS)) return PASS;
  const char *word = shown(s->p, s->t);
  bool step = s->t.kind == TOK_STATE || s->t.kind == TOK_NEXT;
  if (s->ok[TOK_DIM]) {
    Diag *g = say(s, D_E022, "%s stands outside of any `repeat`", word);
    diag_hint(s->p->diags, g, "`repeat t < T { state x = ...  next x = ... }`");
  } else if (s->ok[TOK_NEXT]) {
    say(s, D_E022, "%s cannot stand in a `repeat`, which holds equations, states, nexts and loops",
        word);
  } else if (s->in == TOK_LC && s->ok[TOK_INT]) {
    Diag *g = say(s, D_E022, "%s cannot stand in a def", word);
    diag_hint(s->p->diags, g,
              step ? "a def has no loops"
                   : "a def's block holds equations and ends with an expression");
  } else {
    return PASS;
  }
  return TOK_BAD;
}

static int foreign(const Scene *s) {
  const Parse *p = s->p;
  const char *hint = NULL;
  if (s->t.kind == TOK_ID) hint = foreign_word(text_of(p, s->t), s->t.end - s->t.at);
  if (hint && !s->ok[TOK_THEN] && !s->ok[TOK_ELSE] && p->stmt_first.kind != TOK_REPEAT) hint = NULL;
  if (!hint && p->stmt_tokens == 1 && p->stmt_first.kind == TOK_ID)
    hint = foreign_word(text_of(p, p->stmt_first), p->stmt_first.end - p->stmt_first.at);
  if (!hint) return PASS;
  Diag *g = say_unexpected(s);
  diag_hint(p->diags, g, "%s", hint);
  return TOK_BAD;
}

static int loop_head(const Scene *s) {
  if (s->p->stmt_first.kind != TOK_REPEAT || s->p->stmt_tokens > 2 || s->start) return PASS;
  Diag *g = say_unexpected(s);
  diag_hint(s->p->diags, g, "a loop is written `repeat t < T { ... }`; `t` counts from 0");
  return TOK_BAD;
}

static int bare_expression(const Scene *s) {
  if (!s->start || !s->ok[TOK_DIM] || !(begins_operand(s->t.kind) || s->t.kind == TOK_MINUS))
    return PASS;
  Diag *g = say(s, D_E001, "unexpected %s, expected a statement", shown(s->p, s->t));
  diag_hint(s->p->diags, g, "give the value a name: `output y = ...`");
  return TOK_BAD;
}

/* ---- something missing ----------------------------------------------------------------------- */

static void no_fault(void *env, Fault f, uint32_t at, uint32_t end) {
  (void)env, (void)f, (void)at, (void)end;
}

static void no_comment(void *env, uint32_t at, uint32_t end) {
  (void)env, (void)at, (void)end;
}

/* Is the innermost bracket closed on this line? Looks no further than some hundred tokens. */
static bool closed_ahead(const Parse *p) {
  enum { FAR = 500 };
  Scanner s = p->scan;
  s.fault = no_fault;
  s.comment = no_comment;
  int depth = 1;
  for (int i = 0; i < FAR; i++) {
    Token t = scan(&s);
    if (t.kind == TOK_EOF || s.newline) return false;
    if (t.kind == TOK_LP || t.kind == TOK_LB) depth++;
    if ((t.kind == TOK_RP || t.kind == TOK_RB) && --depth == 0) return true;
  }
  return true;
}

static int missing_bracket(const Scene *s) {
  Parse *p = s->p;
  if (s->in != TOK_LB && s->in != TOK_LP) return PASS;
  if (s->t.kind == TOK_LB || !begins_operand(s->t.kind) || !ends_operand(s) || closed_ahead(p))
    return PASS;
  Open o = vec_last(p->open);
  Diag *g = diag_add(p->diags, D_E006, span_at(p, o.at, o.at + 1), "this `%s` is not closed",
                     bracket(o.kind));
  diag_at(p->diags, g, place(s), "perhaps before this");
  return TOK_BAD;
}

static int missing_comma(const Scene *s) {
  if (!s->ok[TOK_COMMA] || s->in == TOK_LC || !s->in || !ends_operand(s)) return PASS;
  if (!begins_operand(s->t.kind) || s->t.kind == TOK_IF || s->t.kind == TOK_NOT) return PASS;
  Diag *g = say(s, D_E001, "unexpected %s: a comma or an operator is missing before it",
                shown(s->p, s->t));
  if (s->in == TOK_LB)
    diag_hint(s->p->diags, g,
              "labels are parted by commas, `[i, j]`; a group is in parentheses, `[(i j)]`");
  else
    diag_hint(s->p->diags, g, "arguments are parted by commas: `f(a, b)`");
  return TOK_COMMA;
}

static int missing_operator(const Scene *s) {
  if (!s->ok[TOK_STAR] || !ends_operand(s) || !begins_operand(s->t.kind)) return PASS;
  const Parse *p = s->p;
  if (s->last.kind == TOK_RB && p->closed == OPEN_COUNT) {
    Diag *g = say(s, D_E001, "unexpected %s: `count` takes no expression", shown(p, s->t));
    diag_hint(p->diags, g,
              "`count[i where p]` is how many `i` there are; `sum[i where p] e` adds up");
    return TOK_BAD;
  }
  Diag *g = say_unexpected(s);
  int n = (int)(s->last.end - s->last.at), m = (int)(s->t.end - s->t.at);
  if (s->ok[TOK_COMMA] && s->t.kind == TOK_ID)
    diag_hint(p->diags, g, "declarations are parted by commas: `dim N = 3, M = 4`");
  else if (n < 40 && m < 40 && s->t.kind != TOK_LP && s->t.kind != TOK_IF)
    diag_hint(p->diags, g, "is an operator missing, as in `%.*s * %.*s`?", n, text_of(p, s->last),
              m, text_of(p, s->t));
  return TOK_BAD;
}

static int bare_reducer(const Scene *s) {
  if (s->last.kind != TOK_REDUCER && s->last.kind != TOK_COUNT) return PASS;
  Diag *g = say_unexpected(s);
  int n = (int)(s->last.end - s->last.at);
  const char *word = text_of(s->p, s->last);
  if (s->last.kind == TOK_COUNT)
    diag_hint(s->p->diags, g, "write `count[i where p]`");
  else
    diag_hint(s->p->diags, g, "write `%.*s[k] e`, or `%.*s(e)` over all labels", n, word, n, word);
  return TOK_BAD;
}

static int statement_over(const Scene *s) {
  const Parse *p = s->p;
  if (s->t.kind != TOK_NEWLINE) return PASS;
  const char *hint = NULL;
  if (s->start)
    hint = "`;` parts two statements on one line; one is enough";
  else if (s->ok[TOK_ELSE])
    hint = "an `if` always has its `else`";
  else if (s->ok[TOK_THEN])
    hint = "write `if c then a else b`";
  else if (s->ok[TOK_IDENTITY])
    hint = "a monoid says what its neutral element is: `identity 0`";
  else if (p->stmt_first.kind == TOK_ASSERT && s->ok[TOK_COMMA])
    hint = "say what it means when it fails: `assert e, \"text\"`";
  else if (p->stmt_first.kind == TOK_OUTPUT && p->stmt_tokens > 2)
    hint = "`output Z` makes a result of what is defined already; `output Z[i] = e` defines it too";
  Diag *g = say_unexpected(s);
  if (hint) diag_hint(p->diags, g, "%s", hint);
  return TOK_BAD;
}

static int def_without_value(const Scene *s) {
  if (s->t.kind != TOK_RC || s->in != TOK_LC || !s->ok[TOK_INT]) return PASS;
  Diag *g = say(s, D_E001, "this def's block has no value");
  diag_hint(s->p->diags, g, "its last line is an expression: `{ m = max[j] x; exp(x - m) }`");
  return TOK_BAD;
}

static int def_goes_on(const Scene *s) {
  if (!s->ok[TOK_RC] || s->ok[TOK_ID] || s->last.kind != TOK_NEWLINE) return PASS;
  Diag *g = say(s, D_E001, "unexpected %s behind the value of a def's block", shown(s->p, s->t));
  diag_at(s->p->diags, g, span_at(s->p, s->p->before.at, s->p->before.end), "the value ends");
  diag_hint(s->p->diags, g,
            "only the last line is an expression; the lines before it are equations");
  return TOK_BAD;
}

static int slice(const Scene *s) {
  if (s->t.kind != TOK_COLON || s->in != TOK_LB) return PASS;
  Diag *g = say(s, D_E001, "unexpected `:` in an index");
  diag_hint(s->p->diags, g,
            "there are no slices: `Y[i:4] = X[i + 1]` takes four from the second on");
  return TOK_BAD;
}

void complain_sign_line(Parse *p, Token t) {
  char c = *text_of(p, t);
  Diag *g = diag_add(p->diags, D_E015, span_at(p, t.at, t.end),
                     "a line begins with `%c` behind a complete expression", c);
  diag_at(p->diags, g, span_at(p, p->last.at, p->last.end), "complete here");
  diag_hint(p->diags, g, "to go on with it, put the `%c` at the end of the line above", c);
  diag_hint(p->diags, g, "to begin a new expression, put it in parentheses: `(%cx)`", c);
}

int complain_unexpected(Parse *p, Token t) {
  typedef int Rule(const Scene *);
  static Rule *const rules[] = {
      unclosed,     empty_brackets,  second_brackets, equals,           where_first,
      wrong_place,  keyword_as_name, foreign,         loop_head,        bare_expression,
      bare_reducer, missing_bracket, missing_comma,   missing_operator, def_without_value,
      def_goes_on,  statement_over,  slice,           anything_else,
  };
  Scene s = {.p = p, .t = t, .last = p->last, .start = p->stmt_tokens == 0};
  s.in = p->open.len ? vec_last(p->open).kind : 0;
  for (int k = 0; k < TOK_RESYNC; k++) s.ok[k] = grammar_accepts(p->grammar, k);
  for (size_t i = 0;; i++) {
    int answer = rules[i](&s);
    if (answer != PASS) return answer;
  }
}
