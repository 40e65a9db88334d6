/* front/parse/parse.c - the parser's driver. In: a source; out: its AstFile. Between the scanner and the grammar it
 * decides which newlines end a statement (docs/language.md, "Lines"), tracks brackets, and after a mistake finds the
 * next statement. It reads one token ahead, only after a newline. It tries every token on the grammar before the
 * grammar takes it, so a complaint knows everything that could have come. */
#include "parse.h"

#include <stdlib.h>
#include <string.h>

static bool in_round(const Parse *p) { /* newlines mean nothing there */
  return p->open.len && vec_last(p->open).kind != TOK_LC;
}

/* ---- from scanner to tokens ------------------------------------------------------------------ */

/* What belongs to a statement with a complaint gets no complaint of its own, unless it hides something. */
static bool goes_unsaid(Parse *p, Fault f) {
  if (f == FAULT_CR && p->wrong.said_return) return true;
  if (f == FAULT_CR) p->wrong.said_return = true;
  bool plain = f == FAULT_CHAR || f == FAULT_NUMBER || f == FAULT_STRING || f == FAULT_QUOTES || f == FAULT_SIGN_PRIME;
  return plain && p->wrong.skipping && !p->scan.newline;
}

static void on_fault(void *env, Fault f, uint32_t at, uint32_t end) {
  Parse *p = env;
  if (f == FAULT_STRING) p->wrong.open_string = at + 1;
  if (goes_unsaid(p, f)) return;
  complain_fault(p, f, at, end);
  if (f == FAULT_NUMBER) p->stmt.patched = true;
}

static void on_comment(void *env, uint32_t at, uint32_t end) {
  Parse *p = env;
  vec_push(p->arena, p->file->comments, span_at(p, at, end));
}

/* The next token from the scanner, or the one held back. */
static Token token_raw(Parse *p) {
  Token t = p->at.held;
  if (t.kind != TOK_BAD) {
    p->at.held.kind = TOK_BAD;
    return t;
  }
  t = scan(&p->scan);
  p->at.newline = p->scan.newline;
  uint32_t at, size;
  if (t.kind == TOK_ID && ident_flaw(p->src->bytes + t.at, t.end - t.at, &at, &size) &&
      !misnamed(p, t, true))
    complain_name(p, t, t.at + at, size);
  return t;
}

static void line_pass(Parse *p) {
  const char *end = memchr(p->scan.at, '\n', (size_t)(p->scan.end - p->scan.at));
  p->scan.at = end ? end : p->scan.end;
}

static Token newline_before(Parse *p, Token t) {
  p->at.held = t;
  return (Token){p->at.last.end, p->at.last.end, TOK_NEWLINE};
}

/* `extern "f"` begins no statement: it follows an equation. */
static bool goes_on(const Parse *p, Token t) {
  Scanner ahead = scan_quietly(p);
  return t.kind == TOK_EXTERN && scan(&ahead).kind == TOK_STRING;
}

/* The next token for the grammar: with newlines only where they end a statement. */
static Token token_next(Parse *p) {
  bool behind = p->at.held.kind != TOK_BAD; /* its newline has been handled */
  Token t = token_raw(p);
  if (t.kind == TOK_SEMI) {
    t.kind = TOK_NEWLINE;
    return t;
  }
  if (behind || !p->at.last_ends || in_round(p)) return t;
  if (t.kind == TOK_EOF || t.kind == TOK_RC) return newline_before(p, t);
  if (!p->at.newline) return t;
  if (t.kind == TOK_PLUS || t.kind == TOK_MINUS) {
    if (complain_sign_line(p, t)) return line_pass(p), token_next(p);
    p->stmt.patched = true;
    return t;
  }
  return (t.kind == TOK_BAD || token_facts(t.kind) & BEGINS) && !goes_on(p, t) ? newline_before(p, t) : t;
}

/* ---- taking a token -------------------------------------------------------------------------- */

static bool closes(const Parse *p, int kind) {
  int want = kind == TOK_RP ? TOK_LP : kind == TOK_RB ? TOK_LB : TOK_LC;
  return p->open.len && vec_last(p->open).kind == want;
}

/* Whether a bracket after such a token belongs to it. */
static bool heads_bracket(const Parse *p) {
  int k = p->at.last.kind;
  return k == TOK_ID || k == TOK_DTYPE || k == TOK_REDUCER || k == TOK_COUNT || k == TOK_RP ||
         (k == TOK_RB && p->at.closed != OPEN_REDUCER);
}

static void bracket_open(Parse *p, Token t) {
  Open o = {.at = t.at, .kind = t.kind, .operand = heads_bracket(p) ? p->at.operand : t, .first = p->stmt.first.kind,
      .indent = p->stmt.indent, .assumed = t.kind == TOK_LC && p->src->bytes[t.at] != '{'};
  if (t.kind == TOK_LB && (p->at.reducer == 1 || p->at.reducer == 3)) o.of = OPEN_REDUCER;
  if (t.kind == TOK_LB && p->at.last.kind == TOK_COUNT) o.of = OPEN_COUNT;
  if (t.kind == TOK_LB && o.of == OPEN_PLAIN && !heads_bracket(p)) o.of = OPEN_LIST;
  vec_push(p->arena, p->open, o);
  if (p->open.len > AST_DEPTH && !p->wrong.stop) complain_too_deep(p, t.at, t.end);
}

static void bracket_close(Parse *p, Token t) {
  p->at.shut = vec_pop(p->open);
  p->at.closed = p->at.shut.of;
  p->at.operand = p->at.shut.operand;
  if (p->at.closed == OPEN_PLAIN || p->at.closed == OPEN_LIST) return;
  p->stmt.reach = span_at(p, p->at.shut.at, t.end);
  p->stmt.reducer_word = p->at.shut.operand;
}

static void mind_brackets(Parse *p, Token t) {
  bool opens = t.kind == TOK_LP || t.kind == TOK_LB || t.kind == TOK_LC;
  if (opens) bracket_open(p, t);
  p->at.closed = OPEN_PLAIN;
  if (t.kind == TOK_RP || t.kind == TOK_RB || t.kind == TOK_RC) bracket_close(p, t);
}

/* Remembers what a message may want to show of the current statement. */
static void mind_operands(Parse *p, Token t) {
  switch (t.kind) {
  case TOK_DTYPE: if (p->at.reducer == 2) return; /* fallthrough */
  case TOK_ID: case TOK_INT: case TOK_REAL: case TOK_CONST: case TOK_REDUCER: case TOK_COUNT: p->at.operand = t; return;
  case TOK_WHERE: if (p->open.len) vec_last(p->open).where = t.at + 1; return;
  case TOK_IDIV: p->stmt.slashes = t; return;
  default: return;
  }
}

/* Whether `sum`, `sum:` or `sum:f64` came before. */
static int reducer_said(const Parse *p, int kind) {
  if (kind == TOK_REDUCER) return 1;
  if (kind == TOK_COLON && p->at.reducer == 1) return 2;
  return kind == TOK_DTYPE && p->at.reducer == 2 ? 3 : 0;
}

static void token_take(Parse *p, Token t) {
  if (p->stmt.tokens++ == 0) {
    p->stmt = (ParseStmt){.first = t, .indent = t.at - p->scan.line_start, .tokens = 1};
    Open *o = p->open.len ? &vec_last(p->open) : NULL;
    if (o && !o->filled) o->filled = true, o->deeper = p->stmt.indent > o->indent;
  } else if (p->at.newline && t.kind != TOK_NEWLINE && !in_round(p)) {
    p->stmt.joined = p->at.last;
  }
  if (t.kind == TOK_ASSIGN && !in_round(p)) p->stmt.assigned = true;
  mind_brackets(p, t);
  mind_operands(p, t);
  grammar_take(p->grammar, t);
  p->at.reducer = reducer_said(p, t.kind);
  p->at.before = p->at.last;
  p->at.last = t;
  p->at.last_ends = token_facts(t.kind) & ENDS && p->at.closed != OPEN_REDUCER;
  if (t.kind == TOK_NEWLINE || t.kind == TOK_LC) p->stmt.tokens = 0;
  if (t.kind == TOK_RC) p->wrong.hurt = 0;
  if (p->wrong.too_deep && !p->wrong.stop) complain_too_deep(p, t.at, t.end);
}

/* ---- after a mistake ------------------------------------------------------------------------- */

/* Whether the token, first on its line, begins the next statement: only if it can do nothing else, or the line is
 * indented no further than the broken statement. */
static bool statement_at(const Parse *p, Token t) {
  unsigned facts = token_facts(t.kind);
  return p->at.newline && facts & BEGINS && (facts & HEADS || t.at - p->scan.line_start <= p->stmt.indent);
}

/* Skips tokens from t on to the end of the statement. What is held comes next. */
static void skip_statement(Parse *p, Token t, uint32_t keep) {
  bool must = p->wrong.stuck == t.at + 1; /* twice at one token: get past it */
  p->wrong.stuck = t.at + 1;
  for (uint32_t braces = 0; t.kind != TOK_NEWLINE; t = token_raw(p), must = false) {
    bool stop = t.kind == TOK_EOF || (!must && braces == 0 && statement_at(p, t));
    if (t.kind == TOK_RC) stop = stop || (braces == 0 && keep > 0);
    if (stop) {
      p->at.held = t;
      return;
    }
    switch (t.kind) {
    case TOK_SEMI: if (braces == 0) return; break;
    case TOK_LC: braces++; break;
    case TOK_RC: if (braces) braces--; break;
    default: break;
    }
  }
}

static void resync(Parse *p, Token t) {
  uint32_t keep = grammar_resync(p->grammar);
  p->open.len = keep;
  if (!p->stmt.tokens && t.kind != TOK_NEWLINE) p->stmt.indent = t.at - p->scan.line_start;
  p->lists.items.len = p->lists.exprs.len = p->lists.decls.len = 0;
  p->wrong.hurt = keep;
  p->wrong.skipping = true;
  skip_statement(p, t, keep);
  p->wrong.skipping = false;
  p->at.last = (Token){p->at.last.end, p->at.last.end, TOK_NEWLINE};
  p->at.last_ends = false;
  p->at.reducer = 0;
  p->stmt.tokens = 0;
  p->stmt.joined.kind = 0;
}

/* A def's block whose last line was broken has no value to end with. */
static bool close_hurt_block(Parse *p, Token t) {
  if (t.kind != TOK_RC || !p->wrong.hurt || p->wrong.hurt != p->open.len) return false;
  if (!grammar_accepts(p->grammar, TOK_RESYNC)) return false;
  grammar_take(p->grammar, (Token){t.at, t.at, TOK_RESYNC});
  return grammar_accepts(p->grammar, TOK_RC);
}

/* As if the block ended before the current token. */
static bool block_close(Parse *p) {
  Token end = {p->at.last.end, p->at.last.end, TOK_RC};
  if (!grammar_accepts(p->grammar, TOK_RC)) {
    if (!grammar_accepts(p->grammar, TOK_RESYNC)) return false;
    grammar_take(p->grammar, (Token){end.at, end.at, TOK_RESYNC});
    if (!grammar_accepts(p->grammar, TOK_RC)) return false;
  }
  token_take(p, end);
  end.kind = TOK_NEWLINE;
  if (!grammar_accepts(p->grammar, TOK_NEWLINE)) return false;
  token_take(p, end);
  return true;
}

/* Decides what to do about a token that cannot come next. In a statement that was patched, a second impossible token
 * is most likely a consequence of the first mistake. */
static int answer_find(Parse *p, Token t) {
  Diags *all = p->diags;
  if (p->stmt.patched) p->diags = diags_new(p->arena);
  int answer = complain_unexpected(p, t);
  bool quiet = p->diags != all;
  p->diags = all;
  if (answer == TOK_BAD) return answer;
  p->stmt.patched = true;
  return quiet ? complain_unexpected(p, t) : answer;
}

/* Does what the complaint asks for; false if the statement is lost. *taken: the token has been handled. */
static bool answer_follow(Parse *p, Token *t, int answer, bool *taken) {
  switch (answer) {
  case TOK_BAD: return false;
  case ANSWER_LINE:
    line_pass(p);
    *taken = true;
    return true;
  case ANSWER_DROP: *taken = true; return true;
  case ANSWER_CLOSE: return block_close(p);
  default: break;
  }
  if (answer >= ANSWER_INSERT) {
    token_take(p, (Token){t->at, t->at, answer - ANSWER_INSERT});
    *taken = t->kind == TOK_NEWLINE && answer == ANSWER_INSERT + TOK_LC; /* no newline begins a block */
    if (*taken) return true;
  } else
    t->kind = answer;
  return grammar_accepts(p->grammar, t->kind);
}

/* An unterminated string may end on a later line: then the text in between is not read as program. */
static void string_pass(Parse *p) {
  enum { LINES = 3 };
  const char *at = p->scan.at;
  for (int i = 0; i < LINES && (at = strchr(at, '\n')); i++) {
    const char *quote = strpbrk(++at, "\"\n");
    if (!quote || *quote == '\n') continue;
    const char *rest = quote + 1 + strspn(quote + 1, " \t\r");
    if (!*rest || *rest == '\n' || *rest == '#') p->scan.at = quote + 1;
    return;
  }
}

/* Takes the token, or what was meant by it; false if nothing fits. */
static bool token_place(Parse *p, Token t) {
  if (t.kind == TOK_SLIP) {
    t.kind = complain_slip(p, t);
    p->stmt.patched = p->stmt.patched || p->stmt.tokens;
  }
  if (t.kind == TOK_BAD) return false;
  if (t.kind == TOK_STRING && p->wrong.open_string == t.at + 1) {
    string_pass(p);
    if (!grammar_accepts(p->grammar, t.kind)) return false; /* enough was reported */
  }
  if (token_facts(t.kind) & WORD) t.kind = complain_word(p, t);
  if ((t.kind == TOK_RP || t.kind == TOK_RB || t.kind == TOK_RC) && !closes(p, t.kind)) {
    if (!p->stmt.patched) complain_mismatch(p, t);
    return false;
  }
  bool taken = false;
  while (!taken && !grammar_accepts(p->grammar, t.kind) && !close_hurt_block(p, t))
    if (!answer_follow(p, &t, answer_find(p, t), &taken)) return false;
  if (!taken) token_take(p, t);
  return true;
}

static void parse_tokens(Parse *p) {
  while (!p->wrong.stop) {
    Token t = token_next(p);
    bool placed = token_place(p, t);
    if (t.kind == TOK_EOF) return;
    if (!placed && !p->wrong.stop) resync(p, t);
  }
}

/* ---- the rest -------------------------------------------------------------------------------- */

typedef VEC(uint32_t) Places;

static int by_place(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return x < y ? -1 : x > y;
}

static Places complaints_places(const Parse *p) {
  Places v = {0};
  for (uint32_t i = 0; i < p->diags->all.len; i++) {
    Span s = p->diags->all.at[i]->spans.at[0].span;
    if (s.src == p->src) vec_push(p->arena, v, s.at);
  }
  if (v.len) qsort(v.at, v.len, sizeof v.at[0], by_place);
  return v;
}

/* To the end of its line: text there that is no statement may have been meant as a part of it. */
static uint32_t statement_end(const Parse *p, const AstStmt *s) {
  const char *at = p->src->bytes + s->span.end;
  while (*at && !strchr("\n;#", *at)) at++;
  return (uint32_t)(at - p->src->bytes);
}

static void statements_mark(Parse *p, Places v) {
  for (uint32_t i = 0, k = 0; i < p->file->stmts.len; i++) {
    AstStmt *s = p->file->stmts.at[i];
    while (k < v.len && v.at[k] < s->span.at) k++;
    s->broken = k < v.len && v.at[k] < statement_end(p, s);
    if (!s->broken) continue;
    if (s->name.s) vec_push(p->arena, p->file->lost, s->name.s);
    for (uint32_t d = 0; d < s->decls.len; d++) vec_push(p->arena, p->file->lost, s->decls.at[d].name.s);
  }
}

/* The names outside brackets and before a `=`, where there is no sound statement. */
static void names_lost(Parse *p, Places v) {
  AstFile *f = p->file;
  Scanner s = scan_quietly(p);
  scan_start(&s, p->src->bytes, p->src->len);
  bool head = true, name = false;
  for (uint32_t k = 0, depth = 0, n = 0;;) {
    Token t = scan(&s);
    if (s.newline || t.kind == TOK_EOF) f->lost_head = f->lost_head || (head && name); /* a line without a `=` */
    if (s.newline) name = false;
    if (t.kind == TOK_EOF) return;
    while (n < v.len && v.at[n] < t.at) n++;
    while (k < f->stmts.len && (f->stmts.at[k]->span.end <= t.at || f->stmts.at[k]->broken)) k++;
    if (k < f->stmts.len && t.at >= f->stmts.at[k]->span.at) {
      s.at = p->src->bytes + f->stmts.at[k]->span.end;
      t.kind = TOK_SEMI;
    }
    if (s.newline || t.kind == TOK_SEMI || t.kind == TOK_LC || t.kind == TOK_RC) depth = 0, head = true;
    if (t.kind == TOK_ID) name = true;
    f->lost_head = f->lost_head || (depth == 0 && !head && t.kind == TOK_ASSIGN); /* a second name */
    bool here = n < v.len && v.at[n] < t.end && t.kind != TOK_EQ && t.kind != TOK_SLIP;
    f->lost_head = f->lost_head || (here && head); /* what is wrong may be the name */
    if (t.kind == TOK_USE || t.kind == TOK_ASSERT) f->lost_all = true; /* others may rely on an assert */
    if (t.kind == TOK_LP || t.kind == TOK_LB) depth++;
    if ((t.kind == TOK_RP || t.kind == TOK_RB) && depth) depth--;
    if (depth == 0 && (t.kind == TOK_ASSIGN || t.kind == TOK_COMMA)) head = t.kind == TOK_COMMA;
    if (depth == 0 && head && t.kind == TOK_BAD) f->lost_all = true; /* a part of a name, perhaps */
    if (depth == 0 && head && t.kind == TOK_ID)
      vec_push(p->arena, f->lost, str_of(p->strings, p->src->bytes + t.at, t.end - t.at));
  }
}

static void losses(Parse *p) {
  p->file->lost_all = p->wrong.stop || p->diags->errors >= p->diags->limit;
  if (p->file->lost_all) return;
  Places v = complaints_places(p);
  statements_mark(p, v);
  names_lost(p, v);
}

static void unclaimed_big(Parse *p) {
  for (uint32_t i = 0; i < p->lists.big.len; i++) {
    Diag *g = diag_add(p->diags, D_E004, p->lists.big.at[i]->span,
                       "9223372036854775808 is too large for a 64-bit integer");
    diag_hint(
        p->diags, g,
        "integers go up to 9223372036854775807; only with a `-` directly before it is 2^63 one");
  }
}

/* Proceeds as if `name =` came before the text, if nothing does. */
static void left_assume(Parse *p) {
  token_take(p, (Token){0, 0, TOK_ID});
  token_take(p, (Token){0, 0, TOK_ASSIGN});
}

static AstFile *parse(Arena *a, Strings *t, Source *src, bool expression, Diags *d) {
  Parse *p = NEW(a, Parse);
  uint32_t errors = d->errors;
  p->arena = a;
  p->strings = t;
  p->src = src;
  p->diags = d;
  p->file = NEW(a, AstFile);
  p->file->src = src;
  p->wrong.misnamed = map_new(a);
  p->at.held.kind = TOK_BAD;
  scan_start(&p->scan, src->bytes, src->len);
  p->scan.env = p;
  p->scan.fault = on_fault;
  p->scan.comment = on_comment;
  p->grammar = grammar_new(p);
  if (src->len > PROGRAM_BYTES)
    diag_add(d, D_E097, (Span){src, 0, 1}, "a program of %u bytes; the most that is read is %d",
             src->len, PROGRAM_BYTES);
  else if (!complain_no_program(p)) {
    if (expression) left_assume(p);
    parse_tokens(p);
  }
  unclaimed_big(p);
  p->file->broken = d->errors != errors;
  if (p->file->broken) losses(p);
  return p->file;
}

AstFile *parse_file(Arena *a, Strings *t, Source *src, Diags *d) {
  return parse(a, t, src, false, d);
}

AstFile *parse_expression(Arena *a, Strings *t, Source *src, Str name, Diags *d) {
  AstFile *f = parse(a, t, src, true, d);
  if (!f->stmts.len) return f;
  AstStmt *s = f->stmts.at[0];
  s->name = (AstName){name, s->e->span};
  s->open = true;
  return f;
}
