/* front/parse.c - the parser's driver. In comes a source, out goes its AstFile. Between the scanner
 * and the grammar it decides which newlines end a statement (docs/language.md, "Lines"), keeps
 * track of brackets, and after a mistake finds the next statement. One token is read ahead, and
 * only behind a newline; every token is tried on the grammar before the grammar takes it, so a
 * complaint sees all that could have come. */
#include "parse.h"

#include <string.h>

static bool in_round(const Parse *p) { /* newlines mean nothing there */
  return p->open.len && vec_last(p->open).kind != TOK_LC;
}

/* ---- from scanner to tokens ------------------------------------------------------------------ */

static void on_fault(void *env, Fault f, uint32_t at, uint32_t end) {
  complain_fault(env, f, at, end);
}

static void on_comment(void *env, uint32_t at, uint32_t end) {
  Parse *p = env;
  vec_push(p->arena, p->file->comments, span_at(p, at, end));
}

/* The next token as the scanner sees it, or the one held back. */
static Token token_raw(Parse *p) {
  Token t = p->held;
  if (t.kind != TOK_BAD) {
    p->held.kind = TOK_BAD;
    return t;
  }
  t = scan(&p->scan);
  p->newline = p->scan.newline;
  uint32_t at, size;
  if (t.kind == TOK_ID && ident_flaw(p->src->bytes + t.at, t.end - t.at, &at, &size))
    complain_name(p, t, t.at + at, size);
  return t;
}

static Token newline_before(Parse *p, Token t) {
  p->held = t;
  return (Token){p->last.end, p->last.end, TOK_NEWLINE};
}

/* The next token as the grammar shall see it: newlines only where they end a statement. */
static Token token_next(Parse *p) {
  bool behind = p->held.kind != TOK_BAD; /* its newline has been dealt with */
  Token t = token_raw(p);
  if (t.kind == TOK_SEMI) {
    t.kind = TOK_NEWLINE;
    return t;
  }
  if (behind || !p->last_ends || in_round(p)) return t;
  if (t.kind == TOK_EOF || t.kind == TOK_RC) return newline_before(p, t);
  if (!p->newline) return t;
  if (t.kind == TOK_PLUS || t.kind == TOK_MINUS) {
    complain_sign_line(p, t);
    return t;
  }
  return t.kind == TOK_BAD || token_facts(t.kind) & BEGINS ? newline_before(p, t) : t;
}

/* ---- taking a token -------------------------------------------------------------------------- */

static bool closes(const Parse *p, int kind) {
  int want = kind == TOK_RP ? TOK_LP : kind == TOK_RB ? TOK_LB : TOK_LC;
  return p->open.len && vec_last(p->open).kind == want;
}

static void mind_brackets(Parse *p, Token t) {
  p->closed = OPEN_PLAIN;
  if (t.kind == TOK_LP || t.kind == TOK_LB || t.kind == TOK_LC) {
    OpenKind of = t.kind != TOK_LB ? OPEN_PLAIN : p->reducer == 1 || p->reducer == 3 ? OPEN_REDUCER
                : p->last.kind == TOK_COUNT ? OPEN_COUNT : OPEN_PLAIN;
    vec_push(p->arena, p->open, ((Open){t.at, t.kind, of}));
    if (p->open.len > AST_DEPTH && !p->stop) complain_too_deep(p, t.at, t.end);
  } else if (t.kind == TOK_RP || t.kind == TOK_RB || t.kind == TOK_RC) {
    p->closed = vec_pop(p->open).of;
  }
}

/* Has `sum`, `sum:` or `sum:f64` been said? */
static int reducer_said(const Parse *p, int kind) {
  if (kind == TOK_REDUCER) return 1;
  if (kind == TOK_COLON && p->reducer == 1) return 2;
  return kind == TOK_DTYPE && p->reducer == 2 ? 3 : 0;
}

static void token_take(Parse *p, Token t) {
  if (p->stmt_tokens++ == 0) {
    p->stmt_first = t;
    p->stmt_indent = t.at - p->scan.line_start;
    p->joined.kind = 0;
    p->assigned = false;
  } else if (p->newline && t.kind != TOK_NEWLINE && !in_round(p)) {
    p->joined = p->last;
  }
  if (t.kind == TOK_ASSIGN && !in_round(p)) p->assigned = true;
  mind_brackets(p, t);
  grammar_take(p->grammar, t);
  p->reducer = reducer_said(p, t.kind);
  p->before = p->last;
  p->last = t;
  p->last_ends = token_facts(t.kind) & ENDS && p->closed != OPEN_REDUCER;
  if (t.kind == TOK_NEWLINE || t.kind == TOK_LC) p->stmt_tokens = 0;
  if (t.kind == TOK_RC) p->hurt = 0;
  if (p->too_deep && !p->stop) complain_too_deep(p, t.at, t.end);
}

/* ---- after a mistake ------------------------------------------------------------------------- */

/* Does the token, first on its line, begin the next statement? Inside open brackets only if it can
 * do nothing else, or the line is indented no further than the broken statement. */
static bool statement_at(const Parse *p, Token t, uint32_t round) {
  unsigned facts = token_facts(t.kind);
  return p->newline && facts & BEGINS &&
         (round == 0 || facts & HEADS || t.at - p->scan.line_start <= p->stmt_indent);
}

/* Passes over tokens from t on until the statement is over. What is held then comes next. */
static void skip_statement(Parse *p, Token t, uint32_t round, uint32_t keep) {
  bool must = p->stuck == t.at + 1; /* twice at one token: get past it */
  p->stuck = t.at + 1;
  for (uint32_t braces = 0; t.kind != TOK_NEWLINE; t = token_raw(p), must = false) {
    bool stop = t.kind == TOK_EOF || (!must && braces == 0 && statement_at(p, t, round));
    if (t.kind == TOK_RC) stop = stop || (braces == 0 && keep > 0);
    if (stop) {
      p->held = t;
      return;
    }
    switch (t.kind) {
    case TOK_SEMI: if (braces == 0) return; break;
    case TOK_LC: braces++; break;
    case TOK_RC: if (braces) braces--; break;
    case TOK_LP: case TOK_LB: round++; break;
    case TOK_RP: case TOK_RB: if (round) round--; break;
    default: break;
    }
  }
}

static void resync(Parse *p, Token t) {
  uint32_t keep = grammar_resync(p->grammar);
  uint32_t round = p->open.len - keep;
  p->open.len = keep;
  p->items.len = p->exprs.len = p->decls.len = 0;
  p->hurt = keep;
  skip_statement(p, t, round, keep);
  p->last = (Token){p->last.end, p->last.end, TOK_NEWLINE};
  p->last_ends = false;
  p->reducer = 0;
  p->stmt_tokens = 0;
  p->joined.kind = 0;
}

/* A def's block whose last line was broken has no value to end with. */
static bool close_hurt_block(Parse *p, Token t) {
  if (t.kind != TOK_RC || !p->hurt || p->hurt != p->open.len) return false;
  if (!grammar_accepts(p->grammar, TOK_RESYNC)) return false;
  grammar_take(p->grammar, (Token){t.at, t.at, TOK_RESYNC});
  return grammar_accepts(p->grammar, TOK_RC);
}

/* Takes the token, or what was meant by it; false if nothing would do. */
static bool token_place(Parse *p, Token t) {
  if (t.kind == TOK_SLIP) t.kind = complain_slip(p, t);
  if (t.kind == TOK_BAD) return false;
  if ((t.kind == TOK_RP || t.kind == TOK_RB || t.kind == TOK_RC) && !closes(p, t.kind)) {
    complain_mismatch(p, t);
    return false;
  }
  if (!grammar_accepts(p->grammar, t.kind) && !close_hurt_block(p, t)) {
    int kind = complain_unexpected(p, t);
    if (kind == TOK_BAD) return false;
    if (kind == TOK_COMMA)
      token_take(p, (Token){t.at, t.at, TOK_COMMA});
    else
      t.kind = kind;
    if (!grammar_accepts(p->grammar, t.kind)) return false;
  }
  token_take(p, t);
  return true;
}

static void parse_tokens(Parse *p) {
  while (!p->stop) {
    Token t = token_next(p);
    bool placed = token_place(p, t);
    if (t.kind == TOK_EOF) return;
    if (!placed && !p->stop) resync(p, t);
  }
}

static void unclaimed_big(Parse *p) {
  for (uint32_t i = 0; i < p->big.len; i++) {
    Diag *g = diag_add(p->diags, D_E004, p->big.at[i]->span,
                       "9223372036854775808 is too large for a 64-bit integer");
    diag_hint(
        p->diags, g,
        "integers go up to 9223372036854775807; only with a `-` directly before it is 2^63 one");
  }
}

AstFile *parse_file(Arena *a, Strings *t, Source *src, Diags *d) {
  Parse *p = NEW(a, Parse);
  uint32_t errors = d->errors;
  p->arena = a;
  p->strings = t;
  p->src = src;
  p->diags = d;
  p->file = NEW(a, AstFile);
  p->file->src = src;
  p->held.kind = TOK_BAD;
  scan_start(&p->scan, src->bytes, src->len);
  p->scan.env = p;
  p->scan.fault = on_fault;
  p->scan.comment = on_comment;
  p->grammar = grammar_new(p);
  if (src->len > PROGRAM_BYTES)
    diag_add(d, D_E097, (Span){src, 0, 1}, "a program of %u bytes; the most that is read is %d",
             src->len, PROGRAM_BYTES);
  else parse_tokens(p);
  unclaimed_big(p);
  p->file->broken = d->errors != errors;
  return p->file;
}
