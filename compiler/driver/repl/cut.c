/* driver/repl/cut.c - finds statements of a text, by its tokens: see cut.h. */
#include "cut.h"

#include "front/parse/scan.h"

typedef VEC(Token) Tokens;

typedef struct Cutter {
  Arena *arena;
  const char *text;
  Cut cut;
  Tokens piece;              /* of the current statement */
  VEC(bool) open;            /* its brackets: whether each is a reducer's */
  int said;                  /* how much of `sum:f64` was read */
  bool ends;                 /* it could end after the last token */
  bool faulty;               /* text that is no token: nothing that follows makes it right */
} Cutter;

static const char *token_text(const Cutter *c, Token t) {
  return arena_printf(c->arena, "%.*s", (int)(t.end - t.at), c->text + t.at);
}

/* ---- what a piece is --------------------------------------------------------------------------- */

static bool has_form(const Tokens *v, const int *kind, uint32_t n) {
  for (uint32_t i = 0; i < n && v->len == n; i++)
    if (v->at[i].kind != kind[i]) return false;
  return v->len == n;
}

static bool says_load(const Cutter *c, Token t) {
  return t.kind == TOK_ID && str_distance(c->text + t.at, t.end - t.at, "load", 4, 1) == 0;
}

static bool is_load(const Cutter *c) {
  static const int form[] = {TOK_ID, TOK_ASSIGN, TOK_ID, TOK_LP, TOK_STRING, TOK_RP};
  const Tokens *v = &c->piece;
  return has_form(v, form, COUNT(form)) && says_load(c, v->at[2]);
}

static void load_find(const Cutter *c, Piece *p) {
  const Tokens *v = &c->piece;
  for (uint32_t i = 0; i + 2 < v->len && !p->load_end && !c->faulty; i++) {
    if (!says_load(c, v->at[i]) || v->at[i + 1].kind != TOK_LP || v->at[i + 2].kind != TOK_STRING) continue;
    bool closed = i + 3 < v->len && v->at[i + 3].kind == TOK_RP;
    p->load = v->at[i].at;
    p->load_end = v->at[closed ? i + 3 : i + 2].end;
  }
}

static bool is_statement(const Tokens *v) {
  int depth = 0;
  if (token_facts(v->at[0].kind) & HEADS) return true;
  for (uint32_t i = 0; i < v->len; i++) {
    int k = v->at[i].kind;
    depth += k == TOK_LP || k == TOK_LB || k == TOK_LC;
    depth -= k == TOK_RP || k == TOK_RB || k == TOK_RC;
    if (depth == 0 && k == TOK_ASSIGN) return true;
  }
  return false;
}

static void piece_end(Cutter *c) {
  const Tokens *v = &c->piece;
  if (v->len) {
    Piece p = {.kind = PIECE_EXPRESSION, .at = v->at[0].at, .end = vec_last(*v).end};
    if (is_load(c)) {
      p.kind = PIECE_LOAD;
      p.name = token_text(c, v->at[0]);
      p.source = token_text(c, (Token){v->at[4].at + 1, v->at[4].end - 1, TOK_STRING});
    } else if (v->len == 1 && v->at[0].kind == TOK_ID) {
      p.kind = PIECE_NAME;
      p.name = token_text(c, v->at[0]);
    } else if (is_statement(v))
      p.kind = PIECE_STATEMENT;
    if (p.kind != PIECE_LOAD) load_find(c, &p);
    vec_push(c->arena, c->cut.pieces, p);
  }
  c->piece.len = c->open.len = 0;
  c->said = 0;
  c->ends = false;
}

/* ---- where it ends --------------------------------------------------------------------------- */

static int reducer_said(int said, int kind) {
  if (kind == TOK_REDUCER) return 1;
  if (kind == TOK_COLON && said == 1) return 2;
  return kind == TOK_DTYPE && said == 2 ? 3 : 0;
}

static void token_take(Cutter *c, Token t) {
  bool closes_reducer = false, reducer = t.kind == TOK_LB && (c->said == 1 || c->said == 3);
  if (t.kind == TOK_LP || t.kind == TOK_LB || t.kind == TOK_LC) vec_push(c->arena, c->open, reducer);
  if ((t.kind == TOK_RP || t.kind == TOK_RB || t.kind == TOK_RC) && c->open.len) closes_reducer = vec_pop(c->open);
  c->said = reducer_said(c->said, t.kind);
  c->ends = (token_facts(t.kind) & ENDS && !closes_reducer) || t.kind >= TOKEN_KINDS;
  vec_push(c->arena, c->piece, t);
}

/* A sign at the start of a line is ambiguous: the parser reports this, if it gets both lines. */
static bool begins(Token t) {
  return t.kind != TOK_MINUS && (token_facts(t.kind) & BEGINS || t.kind >= TOKEN_KINDS);
}

static void fault_seen(void *env, Fault f, uint32_t at, uint32_t end) {
  Cutter *c = env;
  (void)f, (void)at, (void)end;
  c->faulty = true;
}

Cut cut_text(Arena *a, const char *text, size_t n) {
  Cutter c = {.arena = a, .text = text};
  Scanner s = {.env = &c, .fault = fault_seen};
  scan_start(&s, text, (uint32_t)n);
  for (;;) {
    Token t = scan(&s);
    if (t.kind == TOK_EOF) break;
    bool line = s.newline && c.ends && !c.open.len && begins(t);
    if (line || (t.kind == TOK_SEMI && !c.open.len)) piece_end(&c);
    if (t.kind != TOK_SEMI || c.open.len) token_take(&c, t);
  }
  c.cut.open = c.piece.len && (c.open.len || !c.ends) && !c.faulty;
  piece_end(&c);
  return c.cut;
}
