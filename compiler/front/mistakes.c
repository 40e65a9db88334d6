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
  bool over;             /* the file ends */
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

/* A place is shown where the program stands, not in the empty lines at the end of the file. */
static Span place(const Scene *s) {
  Token t = s->t.kind == TOK_EOF && s->last.end ? s->last : s->t;
  return span_at(s->p, t.at, t.end);
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

/* ---- looking ahead --------------------------------------------------------------------------- */

enum { SHOWN = 60, NEAR = 100 }; /* bytes in a message, tokens looked at */

static void no_fault(void *env, Fault f, uint32_t at, uint32_t end) {
  (void)env, (void)f, (void)at, (void)end;
}

static void no_comment(void *env, uint32_t at, uint32_t end) {
  (void)env, (void)at, (void)end;
}

Scanner scan_quietly(const Parse *p) {
  Scanner s = p->scan;
  s.fault = no_fault;
  s.comment = no_comment;
  return s;
}

/* The text from at to end without blanks around it; NULL if it is long or empty. */
static const char *piece(const Parse *p, uint32_t at, uint32_t end) {
  const char *s = p->src->bytes;
  while (at < end && (s[at] == ' ' || s[at] == '\t')) at++;
  while (at < end && (s[end - 1] == ' ' || s[end - 1] == '\t')) end--;
  if (at >= end || end - at > SHOWN || memchr(s + at, '\n', end - at)) return NULL;
  return arena_printf(p->arena, "%.*s", (int)(end - at), s + at);
}

/* Where the operand ends that begins with the token at hand, with its brackets; 0: not on this line. */
static uint32_t operand_end(const Parse *p, Token t) {
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

/* Where the statement's part on this line ends, seen from the token at hand; 0: far away. */
static uint32_t line_rest(const Parse *p, Token t) {
  Scanner s = scan_quietly(p);
  for (int i = 0; i < NEAR; i++) {
    Token n = scan(&s);
    if (s.newline || n.kind == TOK_EOF || n.kind == TOK_SEMI || n.kind == TOK_RC) return t.end;
    t = n;
  }
  return 0;
}

/* Does this line go on with the token, outside of brackets? */
static bool line_has(const Parse *p, int kind, int before) {
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

/* Is the innermost bracket closed on this line? Looks no further than some hundred tokens. */
static bool closed_ahead(const Parse *p) {
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

/* Where the innermost bracket is closed on this line, behind the token at hand; 0: it is not. */
static uint32_t bracket_end(const Parse *p) {
  Scanner s = scan_quietly(p);
  for (int i = 0, depth = 1; i < NEAR; i++) {
    Token t = scan(&s);
    if (s.newline || t.kind == TOK_EOF) return 0;
    depth += (t.kind == TOK_LP || t.kind == TOK_LB) - (t.kind == TOK_RP || t.kind == TOK_RB);
    if (depth == 0) return t.end;
  }
  return 0;
}

/* What stands behind the next `=` of this line. */
static const char *value_ahead(const Parse *p) {
  Scanner s = scan_quietly(p);
  for (int i = 0; i < NEAR; i++) {
    Token t = scan(&s);
    if (s.newline || t.kind == TOK_EOF) return NULL;
    if (t.kind != TOK_ASSIGN) continue;
    Parse at = *p;
    at.scan = s;
    return piece(p, t.end, line_rest(&at, t));
  }
  return NULL;
}

/* The token behind the pair of brackets that comes next, or the next one if none does. */
static Token behind_brackets(const Parse *p) {
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

/* Takes whole groups of tokens out of ok and puts a word for each into w. */
static void want_groups(Wanted *w, bool *ok) {
  bool statement = ok[TOK_DIM], step = ok[TOK_NEXT],
       expression = ok[TOK_INT], infix = ok[TOK_STAR];
  if (statement) want(w, "a statement");
  if (step) want(w, "an equation");
  if (expression) want(w, ok[TOK_NOT] ? "an expression" : "an operand");
  if (infix) want(w, "an operator");
  if (infix && !expression) ok[TOK_LP] = ok[TOK_LB] = false; /* of a call or an index: too much to say */
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
  Diag *g;
  if (s->t.kind == TOK_EOF)
    g = say(s, D_E001, "the file ends behind this, expected %s", expected(s));
  else if (s->t.kind == TOK_NEWLINE && s->t.at == s->t.end)
    g = say(s, D_E001, "the line ends too early, expected %s", expected(s));
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
  if (s->t.kind == TOK_DTYPE && s->ok[TOK_COLON]) {
    diag_hint(s->p->diags, g, "a dtype stands behind a colon: `: %.*s`", (int)(s->t.end - s->t.at), text_of(s->p, s->t));
    return ANSWER_INSERT + TOK_COLON;
  }
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
    diag_at(p->diags, g, span_at(p, p->last.end, p->last.end), "the file ends");
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

/* A statement that cannot stand in the block, and is indented as what the block belongs to. */
static bool left_block(const Scene *s, const Open *o) {
  const Parse *p = s->p;
  return p->newline && (s->start || s->last.kind == TOK_NEWLINE) && token_facts(s->t.kind) & HEADS &&
         s->t.at - p->scan.line_start <= o->indent && o->deeper;
}

/* The statement ends only because a `}` comes that closes nothing, of which more is said at once. */
static int extra_brace(const Scene *s) {
  bool brace = s->t.kind == TOK_NEWLINE && s->p->held.kind == TOK_RC && !s->p->open.len;
  return brace && s->t.at == s->t.end ? TOK_BAD : PASS;
}

static int unclosed(const Scene *s) {
  Parse *p = s->p;
  if (!s->in) return PASS;
  const Open *o = &vec_last(p->open);
  if (s->in == TOK_LC && (s->over ? s->start : left_block(s, o))) {
    complain_unclosed(p, o, s->t);
    return ANSWER_CLOSE;
  }
  if (!s->over) {
    if (s->in == TOK_LC || !p->newline) return PASS;
    bool out = s->t.at - p->scan.line_start <= p->stmt_indent && token_facts(s->t.kind) & BEGINS;
    if (!out && !(token_facts(s->t.kind) & HEADS)) return PASS;
  }
  complain_unclosed(p, o, s->t);
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

/* `sum[i] x[i] where p` */
static void hint_where(const Scene *s, Diag *g) {
  const Parse *p = s->p;
  Span r = p->reach;
  const char *q = piece(p, s->t.end, line_rest(p, s->t));
  const char *head = r.src ? piece(p, p->reducer_word.at, r.end - 1) : NULL, *body = r.src ? piece(p, r.end, s->t.at) : NULL;
  if (head && body && q)
    diag_hint(p->diags, g, "a predicate stands in the reducer's brackets: `%s%s %s] %s`", head,
              strstr(head, " where ") ? " and" : " where", q, body);
  else
    diag_hint(p->diags, g, "a predicate stands in a reducer, `sum[i where p] e`; `if p then a else b` chooses");
}

static int where_behind(const Scene *s) {
  if (s->t.kind != TOK_WHERE || s->ok[TOK_WHERE]) return PASS;
  const Parse *p = s->p;
  if (s->in == TOK_LB && !p->assigned && (p->stmt_first.kind == TOK_ID || p->stmt_first.kind == TOK_OUTPUT)) {
    Diag *g = say(s, D_E001, "`where` cannot stand on the left: an equation defines all elements");
    uint32_t close = bracket_end(p);
    const char *x = piece(p, p->open.len == 1 ? vec_last(p->open).operand.at : s->t.at, s->t.at);
    const char *q = close ? piece(p, s->t.end, close - 1) : NULL, *e = close ? value_ahead(p) : NULL;
    if (x && q) diag_hint(p->diags, g, "choose on the right: `%s] = if %s then %s else 0`", x, q, e ? e : "...");
    else diag_hint(p->diags, g, "choose on the right: `Y[i] = if p then a else b`");
    return TOK_BAD;
  }
  if (!ends_operand(s) || !s->ok[TOK_STAR]) return PASS;
  Diag *g = say_unexpected(s);
  hint_where(s, g);
  return TOK_BAD;
}

/* `X[i where p]`: only a call or a reducer takes a predicate. */
static int where_in_read(const Scene *s) {
  const Parse *p = s->p;
  if (s->last.kind != TOK_RB || p->closed != OPEN_PLAIN || !p->shut.where || s->ok[TOK_STAR] || !s->ok[TOK_LP]) return PASS;
  uint32_t at = p->shut.where - 1;
  const char *x = piece(p, p->operand.at, at), *q = piece(p, at + 5, s->last.at);
  Diag *g = diag_add(p->diags, D_E001, span_at(p, at, at + 5), "`where` cannot stand in a read");
  if (x && q) diag_hint(p->diags, g, "`if` chooses: `if %s then %s] else 0`", q, x);
  diag_hint(p->diags, g, "a reducer leaves points out: `sum[i where p] e`");
  return TOK_BAD;
}

/* Once for each word, however often it stands for a name. */
static Diag *say_misnamed(const Scene *s, Token t) {
  if (misnamed(s->p, t, true)) return NULL;
  return diag_add(s->p->diags, D_E017, span_at(s->p, t.at, t.end), "%s is a word of the language and cannot name anything",
                  shown(s->p, t));
}

static int word_names(const Scene *s, Token t, int answer) {
  Diag *g = say_misnamed(s, t);
  if (g && token_facts(t.kind) & WORD && (unsigned char)*text_of(s->p, t) < 0x80)
    diag_hint(s->p->diags, g, "another name is needed here, such as `%.*s_`", (int)(t.end - t.at), text_of(s->p, t));
  return answer;
}

/* `input f32 X[i:4]` */
static int dtype_first(const Scene *s) {
  if (s->t.kind != TOK_DTYPE || !s->ok[TOK_ID] || s->in || token_facts(s->last.kind) & ENDS) return PASS;
  Scanner ahead = scan_quietly(s->p);
  Token name = scan(&ahead);
  if (name.kind != TOK_ID || ahead.newline) return PASS;
  Diag *g = say(s, D_E017, "%s is a word of the language and cannot name anything", shown(s->p, s->t));
  Parse p = *s->p;
  p.scan = ahead;
  const char *x = piece(s->p, name.at, operand_end(&p, name));
  diag_hint(s->p->diags, g, "a dtype stands behind a colon: `%s%.*s`", x ? arena_printf(p.arena, "%s : ", x) : ": ",
            (int)(s->t.end - s->t.at), text_of(s->p, s->t));
  return ANSWER_DROP;
}

static int keyword_as_name(const Scene *s) {
  int k = s->t.kind;
  if (!(token_facts(k) & WORD)) return PASS;
  if (s->start && s->ok[TOK_ID]) {
    int then = behind_brackets(s->p).kind;
    return then == TOK_ASSIGN ? word_names(s, s->t, TOK_ID) : PASS;
  }
  if (!s->ok[TOK_ID]) return PASS;
  if (s->p->newline && token_facts(k) & HEADS) return PASS;
  bool listed = s->in == TOK_LB && (s->last.kind == TOK_LB || s->last.kind == TOK_COMMA);
  if (is_connective(k) && s->ok[TOK_INT] && !listed) return PASS;
  Scanner ahead = scan_quietly(s->p);
  if (scan(&ahead).kind == TOK_ID && !ahead.newline && !misnamed(s->p, s->t, false)) {
    Diag *g = say(s, D_E017, "%s is a word of the language and cannot stand here", shown(s->p, s->t));
    diag_hint(s->p->diags, g, "leave it out");
    return ANSWER_DROP;
  }
  return word_names(s, s->t, TOK_ID);
}

/* `state = 3`, `input[i] = 3`: the word was taken for the beginning of such a statement. */
static int keyword_defined(const Scene *s) {
  if (s->p->stmt_tokens != 1 || !(token_facts(s->last.kind) & HEADS)) return PASS;
  if (s->t.kind != TOK_ASSIGN && s->t.kind != TOK_LB) return PASS;
  return word_names(s, s->last, TOK_BAD);
}

/* Between brackets the grammar takes `max` and `pi` as the beginning of an expression. */
static bool word_is_name(const Scene *s, bool item, bool known) {
  Scanner ahead = scan_quietly(s->p);
  int k = s->t.kind, next = scan(&ahead).kind;
  bool line = ahead.newline, typed = next == TOK_COLON && scan(&ahead).kind == TOK_DTYPE;
  bool left = !s->p->assigned && (s->p->stmt_first.kind == TOK_ID || s->p->stmt_first.kind == TOK_OUTPUT);
  bool binds = item && (left || vec_last(s->p->open).of != OPEN_PLAIN);
  if (item && (next == TOK_RB || next == TOK_COMMA || next == TOK_WHERE)) return k != TOK_CONST || known || binds;
  if (item && (next == TOK_COLON || next == TOK_ASSIGN)) return k != TOK_REDUCER || !typed;
  if (!known) return false;
  if (k == TOK_DTYPE) return next != TOK_LP;
  if (k == TOK_CONST) return next == TOK_LB;
  if (next == TOK_LB && k == TOK_REDUCER && !line) return !begins_operand(behind_brackets(s->p).kind);
  return next != TOK_LP && next != TOK_LB && next != TOK_COLON;
}

int complain_word(Parse *p, Token t) {
  if (t.kind != TOK_REDUCER && t.kind != TOK_COUNT && t.kind != TOK_DTYPE && t.kind != TOK_CONST) return t.kind;
  Scene s = {.p = p, .t = t, .last = p->last};
  bool item = p->open.len && vec_last(p->open).kind == TOK_LB && (p->last.kind == TOK_LB || p->last.kind == TOK_COMMA);
  bool known = p->diags->errors && misnamed(p, t, false);
  if ((!item && !known) || !grammar_accepts(p->grammar, TOK_ID)) return t.kind;
  return word_is_name(&s, item, known) ? word_names(&s, t, TOK_ID) : t.kind;
}

static int wrong_place(const Scene *s) {
  if (!s->start || !(token_facts(s->t.kind) & HEADS)) return PASS;
  const char *word = shown(s->p, s->t);
  bool step = s->t.kind == TOK_STATE || s->t.kind == TOK_NEXT;
  if (s->ok[TOK_DIM]) {
    Diag *g = say(s, D_E022, "%s stands outside of any `repeat`", word);
    diag_hint(s->p->diags, g, "`repeat t < T { state x = ...; next x = ... }`");
  } else if (s->ok[TOK_NEXT]) {
    Diag *g = say(s, D_E022, "%s cannot stand in a `repeat`, which holds equations, states, nexts and loops", word);
    diag_hint(s->p->diags, g, "%s", s->t.kind == TOK_OUTPUT ? "an output is said behind the block: `output x`"
                                                            : "move it out of the block");
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

/* `X[i] * 2`, `2 * x`: an expression where a statement is wanted. */
static int bare_expression(const Scene *s) {
  const Parse *p = s->p;
  if (s->start && s->ok[TOK_DIM] && (begins_operand(s->t.kind) || s->t.kind == TOK_MINUS || s->t.kind == TOK_PLUS)) {
    Diag *g = say(s, D_E001, "unexpected %s, expected a statement", shown(p, s->t));
    const char *e = piece(p, s->t.at, line_rest(p, s->t));
    diag_hint(p->diags, g, "give the value a name: `output y = %s`", e ? e : "...");
    return TOK_BAD;
  }
  bool operator = token_facts(s->t.kind) & BINARY || s->t.kind == TOK_MINUS || s->t.kind == TOK_LP;
  if (!operator || !s->ok[TOK_ASSIGN] || p->assigned || p->open.len || p->stmt_first.kind != TOK_ID) return PASS;
  if (s->t.kind == TOK_EQ) return PASS;
  Diag *g = say_unexpected(s);
  bool arrow = line_has(p, TOK_SLIP, TOK_EOF);
  const char *e = arrow ? NULL : piece(p, p->stmt_first.at, line_rest(p, s->t));
  diag_hint(p->diags, g, "an equation says first what it defines: `%s%s`", arrow ? "Z[i,k] = sum[j] A[i,j] * B[j,k]" : "output y = ",
            arrow ? "" : e ? e : "...");
  return TOK_BAD;
}

/* ---- something missing ----------------------------------------------------------------------- */

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
  return ANSWER_INSERT + TOK_COMMA;
}

/* What is known about a name when two operands meet. */
typedef enum { CALLED, READ, UNKNOWN } Callee;

static Callee callee(const Parse *p, Token name) {
  enum { FAR = 1000 };
  Op op;
  const char *text = text_of(p, name);
  bool known = op_find(text, name.end - name.at, &op);
  if (known && (op_info[op].laws & LAW_FUNCTION || op_info[op].rule == RULE_RANDOM)) return CALLED;
  Str s = str_of(p->strings, text, name.end - name.at);
  for (uint32_t i = p->file->stmts.len, k = 0; i-- > 0 && k < FAR; k++) {
    const AstStmt *d = p->file->stmts.at[i];
    if (d->name.s == s && d->kind != STMT_USE) return d->kind == STMT_DEF || d->kind == STMT_MONOID ? CALLED : READ;
    for (uint32_t j = 0; j < d->decls.len && j < FAR; j++)
      if (d->decls.at[j].name.s == s) return READ;
  }
  return name.end - name.at > 2 && !p->open.len && p->stmt_first.kind != TOK_DEF ? UNKNOWN : READ;
}

static void hint_two_operands(const Scene *s, Diag *g) {
  const Parse *p = s->p;
  uint32_t end = operand_end(p, s->t);
  bool named = p->operand.kind == TOK_ID && (s->last.kind == TOK_ID || s->last.kind == TOK_RB);
  Callee how = named ? callee(p, p->operand) : READ;
  const char *a = piece(p, p->operand.at, s->last.end), *b = end ? piece(p, s->t.at, end) : NULL;
  if (!a || !b) a = "f", b = "x";
  if (how == CALLED) diag_hint(p->diags, g, "functions, defs and monoids are called with parentheses: `%s(%s)`", a, b);
  else if (*b != '(') diag_hint(p->diags, g, "is an operator missing, as in `%s * %s`?", a, b);
  if (how == UNKNOWN && *b != '(') diag_hint(p->diags, g, "or is it a call, `%s(%s)`?", a, b);
}

/* `X[i] // the data`: a division by words. */
static int slashes(const Scene *s) {
  const Parse *p = s->p;
  Token t = s->t.kind == TOK_IDIV ? s->t : p->slashes;
  uint32_t line = p->scan.line_start;
  bool star = s->t.kind == TOK_STAR && s->last.kind == TOK_SLASH && s->last.end == s->t.at;
  if (star) t = s->last;
  if (!star && (!t.kind || t.at < line)) return PASS;
  if (!star && s->t.kind != TOK_IDIV && !(ends_operand(s) && begins_operand(s->t.kind))) return PASS;
  Diag *g = diag_add(p->diags, D_E001, span_at(p, t.at, star ? s->t.end : t.end), "unexpected `%s`, which begins no comment",
                     star ? "/*" : "//");
  diag_hint(p->diags, g, "a comment begins with `#`");
  return s->t.kind == TOK_IDIV && !(p->open.len && closed_ahead(p)) ? ANSWER_LINE : TOK_BAD;
}

/* A `then` or `else` that the line does not bring any more. */
static int missing_branch(const Scene *s) {
  int k = s->ok[TOK_THEN] ? TOK_THEN : TOK_ELSE;
  if (!s->ok[k] || !ends_operand(s) || !begins_operand(s->t.kind)) return PASS;
  if (line_has(s->p, k, k == TOK_THEN ? TOK_ELSE : TOK_THEN)) return PASS;
  Diag *g = say_unexpected(s);
  uint32_t end = operand_end(s->p, s->t);
  const char *x = end ? piece(s->p, s->t.at, end) : NULL;
  const char *word = k == TOK_THEN ? "then" : "else";
  diag_hint(s->p->diags, g, "is `%s` missing before it, as in `%s %s`?", word, word, x ? x : "...");
  return ANSWER_INSERT + k;
}

/* `dim N 4`, `dim N = 3 M = 4`, `input X[3] Y[4]` */
static int missing_in_list(const Scene *s) {
  const Parse *p = s->p;
  int k = p->stmt_first.kind;
  bool list = k == TOK_DIM || k == TOK_INPUT || k == TOK_PARAM || k == TOK_OUTPUT;
  if (!list || p->open.len || !ends_operand(s)) return PASS;
  int n = (int)(s->last.end - s->last.at), m = (int)(s->t.end - s->t.at);
  if (k == TOK_DIM && (s->t.kind == TOK_INT || s->t.kind == TOK_LP) && s->last.kind == TOK_ID && s->ok[TOK_ASSIGN]) {
    Diag *g = say_unexpected(s);
    if (n + m < SHOWN)
      diag_hint(p->diags, g, "is `=` missing, as in `%.*s = %.*s`?", n, text_of(p, s->last), m, text_of(p, s->t));
    return ANSWER_INSERT + TOK_ASSIGN;
  }
  if (s->t.kind != TOK_ID || !s->ok[TOK_COMMA]) return PASS;
  Diag *g = say_unexpected(s);
  const char *a = piece(p, s->last.kind == TOK_RB ? p->operand.at : s->last.at, s->last.end);
  diag_hint(p->diags, g, "the names in a list are parted by commas: `%s, %.*s`", a ? a : "...", m < SHOWN ? m : 0,
            text_of(p, s->t));
  return ANSWER_INSERT + TOK_COMMA;
}

/* `Y[i] 2 * X[i]` */
static int missing_equals(const Scene *s) {
  const Parse *p = s->p;
  if (!s->ok[TOK_ASSIGN] || p->assigned || p->open.len || !ends_operand(s) || !begins_operand(s->t.kind)) return PASS;
  if (p->stmt_first.kind == TOK_INPUT || p->stmt_first.kind == TOK_PARAM) return PASS;
  Diag *g = say_unexpected(s);
  const char *a = piece(p, s->last.kind == TOK_RB ? p->operand.at : s->last.at, s->last.end);
  const char *b = piece(p, s->t.at, line_rest(p, s->t));
  if (a) diag_hint(p->diags, g, "is `=` missing, as in `%s = %s`?", a, b ? b : "...");
  return TOK_BAD;
}

/* `def half x = x / 2` */
static int def_parameters(const Scene *s) {
  const Parse *p = s->p;
  bool named = p->stmt_tokens == 2 || (s->last.kind == TOK_RB && p->shut.operand.at == p->operand.at);
  if (p->stmt_first.kind != TOK_DEF || p->open.len || !named || p->assigned || !s->ok[TOK_LP]) return PASS;
  if (s->t.kind != TOK_ID && s->t.kind != TOK_ASSIGN) return PASS;
  Buf list = buf_new(p->arena);
  Scanner ahead = scan_quietly(p);
  Token t = s->t;
  for (int i = 0; t.kind == TOK_ID && i < 10; t = scan(&ahead), i++)
    buf_printf(&list, "%s%.*s", i ? ", " : "", (int)(t.end - t.at < SHOWN ? t.end - t.at : SHOWN), text_of(p, t));
  const char *head = piece(p, p->stmt_first.at, s->last.end);
  Diag *g = say_unexpected(s);
  diag_hint(p->diags, g, "parameters stand in parentheses: `%s(%s) = ...`", head ? head : "def f", list.len ? list.s : "x");
  return TOK_BAD;
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
  if (s->t.kind != TOK_IF && s->t.kind != TOK_NOT) hint_two_operands(s, g);
  return TOK_BAD;
}

/* `2 * +x` */
static int unary_plus(const Scene *s) {
  if (s->t.kind != TOK_PLUS || !s->ok[TOK_INT]) return PASS;
  const Parse *p = s->p;
  Scanner ahead = scan_quietly(p);
  Token t = scan(&ahead);
  if (ahead.newline || (!begins_operand(t.kind) && t.kind != TOK_MINUS)) return PASS;
  Parse at = *p;
  at.scan = ahead;
  uint32_t end = t.kind == TOK_MINUS ? 0 : operand_end(&at, t);
  const char *x = end ? piece(p, t.at, end) : NULL;
  Diag *g = say(s, D_E001, "there is no sign `+`");
  diag_hint(p->diags, g, x ? "leave it out: `%s`" : "leave it out", x ? x : "");
  return ANSWER_DROP;
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

static const char *name_alone(const Scene *s) {
  const Parse *p = s->p;
  const char *name = piece(p, p->stmt_first.at, p->stmt_first.end), *left = piece(p, p->stmt_first.at, s->last.end);
  if (!name || !left) return NULL;
  return arena_printf(p->arena, "`output %s` makes a result of it; `%s = ...` defines it", name, left);
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
  else if (p->stmt_first.kind == TOK_ID && s->ok[TOK_ASSIGN] && !p->assigned && !p->open.len)
    hint = name_alone(s);
  else if (p->stmt_first.kind == TOK_OUTPUT && p->stmt_tokens > 2 && !p->assigned)
    hint = "`output Z` makes a result of what is defined already; `output Z[i] = e` defines it too";
  bool block = p->stmt_first.kind == TOK_REPEAT && s->ok[TOK_LC] && p->newline &&
               p->held.at - p->scan.line_start > p->stmt_indent;
  if (block) hint = "a block begins with `{`";
  Diag *g = say_unexpected(s);
  if (hint) diag_hint(p->diags, g, "%s", hint);
  return block ? ANSWER_INSERT + TOK_LC : TOK_BAD;
}

static int def_without_value(const Scene *s) {
  if (s->t.kind != TOK_RC || s->in != TOK_LC || !s->ok[TOK_INT] || !s->start) return PASS;
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
  bool block = p->open.len && vec_last(p->open).first == TOK_DEF; /* whose value it may be */
  Diag *g = diag_add(p->diags, D_E015, span_at(p, t.at, t.end),
                     "a line begins with `%c` behind a complete expression", c);
  diag_at(p->diags, g, span_at(p, p->last.at, p->last.end), "complete here");
  diag_hint(p->diags, g, "to go on with it, put the `%c` at the end of the line above", c);
  if (!block) return;
  const char *e = piece(p, c == '+' ? t.end : t.at, line_rest(p, t));
  if (c == '-') diag_hint(p->diags, g, "to begin a new expression, put it in parentheses: `(%s)`", e ? e : "-x");
  else diag_hint(p->diags, g, "to begin a new expression, leave the `+` out: `%s`", e ? e : "x");
  p->hurt = p->open.len;
}

int complain_unexpected(Parse *p, Token t) {
  typedef int Rule(const Scene *);
  static Rule *const rules[] = {
      extra_brace,     unclosed,         empty_brackets,  second_brackets,  slashes,         equals,
      where_first,     where_behind,     where_in_read,   keyword_defined,  dtype_first,
      keyword_as_name, wrong_place,      foreign,         loop_head,        bare_expression,
      unary_plus,      bare_reducer,     missing_bracket, missing_comma,    def_parameters,
      missing_in_list, missing_equals,   missing_branch,  missing_operator, def_without_value,
      def_goes_on,     statement_over,   slice,           anything_else,
  };
  Scene s = {.p = p, .t = t, .last = p->last, .start = p->stmt_tokens == 0};
  s.in = p->open.len ? vec_last(p->open).kind : 0;
  s.over = t.kind == TOK_EOF || (t.kind == TOK_NEWLINE && p->held.kind == TOK_EOF);
  for (int k = 0; k < TOK_RESYNC; k++) s.ok[k] = grammar_accepts(p->grammar, k);
  for (size_t i = 0;; i++) {
    int answer = rules[i](&s);
    if (answer != PASS) return answer;
  }
}
