/* front/parse/fmt.c - the formatter: puts a file that parsed in canonical layout. It works on the file's tokens, not
 * on its tree, so that parentheses, numbers and comments stay as written; the tree says where statements begin.
 * Layout:
 *
 *   statements   two blanks of indentation per block; at most one empty line kept; `;` kept on one line
 *   blocks       `{ a; b }` stays on its line if it was on one, else every line of it gets its own
 *   long lines   broken where the source broke them, but after an operator or comma, not
 *                before it; continuation lines are indented by four
 *   blanks       around operators, except around `^`, and in indices (not in substituted expressions, nor
 *                after `where`) around + - * / // %; none after the comma where brackets contain only names
 *                and numbers
 *   comments     on their own lines, or after what they follow, aligned on consecutive lines
 *   signs        in ASCII */
#include "front/ast.h"
#include "scan.h"

#include <string.h>

enum { COMMENT = -1 };

typedef struct Word {
  Token t;            /* or a comment: kind COMMENT */
  uint32_t lines;     /* newlines before it */
  bool semi;          /* a `;` stood before it */
  bool flag; /* `{`: broken over lines; `[`: only names, numbers, colons and commas in it */
} Word;
typedef VEC(Word) Words;

typedef struct Level { int kind; bool reducer, tight, flag; } Level; /* an open bracket */

typedef struct Fmt {
  Arena *arena;
  Buf *out;
  size_t base;               /* the buffer's length before this */
  const char *bytes;
  Words words;
  VEC(uint32_t) starts;      /* where statements begin, in order */
  uint32_t start;            /* the next of them */
  VEC(Level) level;
  uint32_t indent;           /* blocks around */
  Token last;                /* the last token, */
  bool operand;              /*   whether it ends an operand, */
  bool unary;                /*   is a sign before one, */
  bool reducer;              /* or closes a reducer's brackets */
  int said;                  /* how much of `sum:f64` was read */
  bool external;             /* in an `extern def` */
  bool asserts;              /* in an assert, where `:` comes after `sites` */
  bool stated;               /* between `adjoint` and its `=` */
  Words pending;             /* comments to be moved after an operator */
  bool pending_break;
  bool line_empty;
  VEC(size_t) trails;        /* where the code ends on a line with a trailing comment */
} Fmt;

/* ---- reading --------------------------------------------------------------------------------- */

static void on_comment(void *env, uint32_t at, uint32_t end) {
  Fmt *f = env;
  Word w = {.t = {at, end, COMMENT}};
  vec_push(f->arena, f->words, w);
}

static uint32_t newlines(const char *s, uint32_t at, uint32_t end) {
  uint32_t n = 0;
  for (const char *p = s + at; (p = memchr(p, '\n', (size_t)(s + end - p))) != NULL; p++) n++;
  return n;
}

static void read_words(Fmt *f, const Source *src) {
  Scanner s = {.env = f, .comment = on_comment};
  scan_start(&s, src->bytes, src->len);
  bool semi = false;
  for (Token t = scan(&s);; t = scan(&s)) {
    Word w = {.t = t, .semi = semi};
    semi = t.kind == TOK_SEMI;
    vec_push(f->arena, f->words, w);
    if (t.kind == TOK_EOF) break;
  }
  uint32_t end = 0, lines = 0, n = 0;
  for (uint32_t i = 0; i < f->words.len;
       i++) { /* `;` only marks the next token */
    Word w = f->words.at[i];
    w.lines = lines + newlines(src->bytes, end, w.t.at);
    end = w.t.end;
    lines = w.t.kind == TOK_SEMI ? w.lines : 0;
    if (w.t.kind != TOK_SEMI) f->words.at[n++] = w;
  }
  f->words.len = n;
}

static bool is_plain(int kind) {
  return kind == TOK_ID || kind == TOK_INT || kind == TOK_COLON || kind == TOK_COMMA ||
         kind == COMMENT;
}

/* Finds which blocks are broken over lines, and which brackets contain only plain words. */
static void match_brackets(Fmt *f) {
  VEC(uint32_t) open = {0};
  Word *w = f->words.at;
  for (uint32_t i = 0; i < f->words.len; i++) {
    int k = w[i].t.kind;
    bool closes = k == TOK_RP || k == TOK_RB || k == TOK_RC;
    uint32_t top = open.len ? vec_last(open) : 0;
    if (open.len && w[top].t.kind == TOK_LB && !is_plain(k) && k != TOK_RB) w[top].flag = false;
    if (open.len && w[top].t.kind == TOK_LC && w[i].lines) w[top].flag = true;
    if (closes && open.len) {
      bool broken = w[top].t.kind == TOK_LC && w[top].flag;
      open.len--;
      if (open.len && broken && w[vec_last(open)].t.kind == TOK_LC) w[vec_last(open)].flag = true;
    } else if (k == TOK_LP || k == TOK_LB || k == TOK_LC) {
      bool list = i && (w[i - 1].t.kind == TOK_ASSIGN || w[i - 1].t.kind == TOK_COMMA || w[i - 1].t.kind == TOK_LB);
      w[i].flag = (k == TOK_LB && !list) || (k == TOK_LC && i && w[i - 1].t.kind == COMMENT);
      vec_push(f->arena, open, i);
    }
  }
}

static void find_starts(Fmt *f, AstStmt *const *s, uint32_t n);

/* An adjoint begins no line, but statements in its block do. */
static void find_within(Fmt *f, const AstStmt *adjoint) {
  find_starts(f, adjoint->body.at, adjoint->body.len);
  if (adjoint->block) vec_push(f->arena, f->starts, adjoint->e->span.at);
}

static void find_starts(Fmt *f, AstStmt *const *s, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    if (!s[i]->behind) vec_push(f->arena, f->starts, s[i]->span.at);
    find_starts(f, s[i]->body.at, s[i]->body.len);
    if (s[i]->block && s[i]->kind == STMT_DEF) vec_push(f->arena, f->starts, s[i]->e->span.at);
    if (s[i]->adjoint) find_within(f, s[i]->adjoint);
  }
}

/* ---- blanks ---------------------------------------------------------------------------------- */

static bool is_arithmetic(int k) {
  return k == TOK_PLUS || k == TOK_MINUS || k == TOK_STAR || k == TOK_SLASH || k == TOK_IDIV ||
         k == TOK_PERCENT;
}

static bool space_at_operator(const Fmt *f, int k) {
  return k != TOK_CARET && !(is_arithmetic(k) && f->level.len && vec_last(f->level).tight);
}

static bool is_binary(int k) {
  return (token_facts(k) & BINARY) || k == TOK_MINUS;
}

static bool space_before_bracket(const Fmt *f, int k) {
  int last = f->last.kind;
  if (last == TOK_ADJOINT) return false;
  if (last == TOK_RB) return f->reducer; /* sum[k] (a + b), but softmax[j](x) */
  bool tight = last == TOK_ID || last == TOK_REDUCER || last == TOK_COUNT || last == TOK_DTYPE || last == TOK_STRING;
  return !tight && !(last == TOK_RP && k == TOK_LB);
}

static bool space_before(const Fmt *f, Token t) {
  int last = f->last.kind, k = t.kind;
  const Level *in = f->level.len && vec_last(f->level).kind != TOK_LC ? &vec_last(f->level) : NULL;
  if (last == TOK_LP || last == TOK_LB || f->unary) return false;
  if (k == TOK_RP || k == TOK_RB || k == TOK_COMMA) return false;
  if (last == TOK_COLON && f->stated) return true;
  if (k == TOK_COLON || last == TOK_COLON) return (!in || f->external) && !f->said && !(f->asserts && k == TOK_COLON);
  if (last == TOK_COMMA) return !(in && in->kind == TOK_LB && in->flag);
  if (is_binary(k) && f->operand) return space_at_operator(f, k);
  if (is_binary(last)) return space_at_operator(f, last);
  if (k == TOK_LP || k == TOK_LB) return space_before_bracket(f, k);
  return true;
}

/* ---- writing --------------------------------------------------------------------------------- */

static void blanks(Fmt *f, uint32_t n) {
  for (; n > 0; n--) buf_char(f->out, ' ');
}

static void newline(Fmt *f) {
  buf_char(f->out, '\n');
  f->line_empty = true;
}

static void write_comment(Fmt *f, Token t, uint32_t indent) {
  while (t.end > t.at && strchr(" \t\r", f->bytes[t.end - 1])) t.end--;
  if (f->line_empty) blanks(f, indent);
  else vec_push(f->arena, f->trails, f->out->len);
  buf_add(f->out, f->bytes + t.at, t.end - t.at);
  newline(f);
}

static const char *ascii_sign(const char *s, int kind) {
  switch (kind) {
  case TOK_REDUCER: return "sum";
  case TOK_CONST: return *s == '\xE2' ? "inf" : "pi";
  case TOK_ASSIGN: return "=";
  case TOK_STAR: return "*";
  case TOK_LE: return "<=";
  case TOK_GE: return ">=";
  case TOK_NE: return "!=";
  default: return NULL;
  }
}

static void write_token(Fmt *f, Token t) {
  const char *s = f->bytes + t.at, *sign = (unsigned char)*s >= 0x80 ? ascii_sign(s, t.kind) : NULL;
  if (sign)
    buf_str(f->out, sign);
  else
    buf_add(f->out, s, t.end - t.at);
  f->line_empty = false;
}

/* Records what later tokens need to know of this one. */
static void note_token(Fmt *f, Word w) {
  int k = w.t.kind;
  bool binary = f->operand;
  f->reducer = false;
  if (k == TOK_LP || k == TOK_LB || k == TOK_LC) {
    Level l = {.kind = k, .reducer = k == TOK_LB && f->said, .flag = w.flag};
    l.tight = k == TOK_LB || (k == TOK_LP && f->level.len && vec_last(f->level).tight);
    vec_push(f->arena, f->level, l);
  } else if (k == TOK_RP || k == TOK_RB || k == TOK_RC) {
    f->reducer = vec_pop(f->level).reducer;
  } else if (f->level.len && vec_last(f->level).kind == TOK_LB) {
    if (k == TOK_WHERE || k == TOK_ASSIGN) vec_last(f->level).tight = false;
    if (k == TOK_COMMA) vec_last(f->level).tight = true;
  }
  f->unary = k == TOK_MINUS && !binary;
  f->operand = k == TOK_ID || k == TOK_INT || k == TOK_REAL || k == TOK_CONST || k == TOK_RP ||
               (k == TOK_RB && !f->reducer);
  f->asserts |= k == TOK_ASSERT;
  f->external |= k == TOK_EXTERN;
  f->stated = k == TOK_ADJOINT || (f->stated && k != TOK_ASSIGN && k != TOK_LC);
  f->said = k == TOK_REDUCER                 ? 1
            : k == TOK_COLON && f->said == 1 ? 2
            : k == TOK_DTYPE && f->said == 2 ? 3
                                             : 0;
  f->last = w.t;
}

/* ---- between two tokens ---------------------------------------------------------------------- */

/* Writes comments `c` and ends the line before them; the first may be on that line. */
static void write_comments(Fmt *f, const Word *c, uint32_t n, uint32_t indent, bool keep_empty) {
  for (uint32_t i = 0; i < n; i++) {
    if (!f->line_empty && (i || c[i].lines)) newline(f);
    if (keep_empty && c[i].lines > 1 && f->out->len > f->base && f->last.kind != TOK_LC) newline(f);
    if (i) f->last.kind = COMMENT;
    write_comment(f, c[i].t, indent);
    f->last.kind = COMMENT;
  }
  if (!f->line_empty) newline(f);
}

/* Before a statement, a block's end or the file's end. */
static void gap_between(Fmt *f, const Word *c, uint32_t n, Word next) {
  bool end = next.t.kind == TOK_RC || next.t.kind == TOK_EOF;
  bool inside = f->level.len > 0, broken = !inside || vec_last(f->level).flag;
  bool lines = next.lines > 0 || n > 0, first = f->last.kind == TOK_LC;
  if (inside && !broken) {
    buf_str(f->out, first || end ? " " : "; ");
    return;
  }
  if (next.semi && !lines && !end && !first) {
    buf_str(f->out, "; ");
    return;
  }
  if (next.semi && next.t.kind == TOK_MINUS) buf_char(f->out, ';');
  if (f->out->len > f->base || n) write_comments(f, c, n, 2 * f->indent, true);
  bool beginning = f->out->len == f->base || f->last.kind == TOK_LC;
  if (next.lines > 1 && !end && !beginning) newline(f);
  if (!end) blanks(f, 2 * f->indent);
  if (next.t.kind == TOK_RC) blanks(f, 2 * (f->indent - 1));
}

/* Inside a statement that continues over lines. */
static void gap_within(Fmt *f, const Word *c, uint32_t n, Token next) {
  bool closing = next.kind == TOK_RP || next.kind == TOK_RB;
  write_comments(f, c, n, 2 * f->indent + 4, false);
  blanks(f, 2 * f->indent + (closing ? 0 : 4));
}

/* Whether it is better at a line's end than at the beginning of the next. */
static bool ends_line(const Fmt *f, int k) {
  return k == TOK_ASSIGN || k == TOK_COLON || k == TOK_COMMA || k == TOK_LC ||
         (is_binary(k) && f->operand);
}

static void hold_comments(Fmt *f, const Word *c, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) vec_push(f->arena, f->pending, c[i]);
}

static void put(Fmt *f, const Word *c, uint32_t n, Word w) {
  bool starts = f->start < f->starts.len && f->starts.at[f->start] == w.t.at;
  bool behind = w.t.kind == TOK_ADJOINT && f->last.kind == TOK_RC && !n; /* of a block: on its line */
  bool line = (w.lines && !behind) || n || f->pending_break;
  f->start += starts;
  if (f->pending.len) { /* those before the operator, then those after it */
    hold_comments(f, c, n);
    c = f->pending.at;
    n = f->pending.len;
  }
  if (starts || w.t.kind == TOK_RC || w.t.kind == TOK_EOF) {
    gap_between(f, c, n, w);
    if (starts) f->operand = f->unary = f->asserts = f->external = false;
  } else if (line && ends_line(f, w.t.kind)) {
    if (!f->pending.len) hold_comments(f, c, n);
    f->pending_break = true;
    if (space_before(f, w.t)) buf_char(f->out, ' ');
    write_token(f, w.t);
    note_token(f, w);
    f->indent += w.t.kind == TOK_LC;
    return;
  } else if (line) {
    gap_within(f, c, n, w.t);
  } else if (space_before(f, w.t)) {
    buf_char(f->out, ' ');
  }
  f->pending.len = 0;
  f->pending_break = false;
  if (w.t.kind == TOK_EOF) return;
  f->indent -= w.t.kind == TOK_RC;
  write_token(f, w.t);
  note_token(f, w);
  f->indent += w.t.kind == TOK_LC;
}

/* ---- comments in a column -------------------------------------------------------------------- */

/* Code points from the line's beginning to `end`. */
static uint32_t column_of(const Buf *b, size_t end) {
  uint32_t n = 0;
  for (size_t i = end; i > 0 && b->s[i - 1] != '\n'; i--) n += (b->s[i - 1] & 0xC0) != 0x80;
  return n;
}

static bool next_line(const Buf *b, size_t from, size_t to) {
  uint32_t lines = 0;
  for (size_t i = from; i < to; i++) lines += b->s[i] == '\n';
  return lines == 1;
}

/* Trails i..n-1 are on consecutive lines, none too long to share a column. */
static uint32_t run_end(const Fmt *f, uint32_t i) {
  enum { FAR = 72 };
  uint32_t n = i + 1;
  if (column_of(f->out, f->trails.at[i]) > FAR) return n;
  while (n < f->trails.len && next_line(f->out, f->trails.at[n - 1], f->trails.at[n]) &&
      column_of(f->out, f->trails.at[n]) <= FAR)
    n++;
  return n;
}

static void align_comments(Fmt *f, Buf *out) {
  size_t from = 0;
  for (uint32_t i = 0, n; i < f->trails.len; i = n) {
    uint32_t column = 0;
    n = run_end(f, i);
    for (uint32_t k = i; k < n; k++)
      if (column_of(f->out, f->trails.at[k]) > column) column = column_of(f->out, f->trails.at[k]);
    for (uint32_t k = i; k < n; from = f->trails.at[k++]) {
      buf_add(out, f->out->s + from, f->trails.at[k] - from);
      for (uint32_t c = column_of(f->out, f->trails.at[k]); c < column + 2; c++) buf_char(out, ' ');
    }
  }
  buf_add(out, f->out->s + from, f->out->len - from);
}

void fmt_print(Buf *out, const AstFile *file) {
  if (file->broken) return;
  Arena *a = arena_new();
  Buf draft = buf_new(a);
  Fmt f = {.arena = a, .out = &draft, .bytes = file->src->bytes, .line_empty = true};
  f.last.kind = TOK_EOF;
  read_words(&f, file->src);
  match_brackets(&f);
  find_starts(&f, file->stmts.at, file->stmts.len);
  uint32_t from = 0; /* comments since the last token */
  for (uint32_t i = 0; i < f.words.len; i++) {
    if (f.words.at[i].t.kind == COMMENT) continue;
    put(&f, f.words.at + from, i - from, f.words.at[i]);
    from = i + 1;
  }
  align_comments(&f, out);
  arena_free(a);
}
