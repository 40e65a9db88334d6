/* front/parse/mistakes_signs.c - signs of other notations: what NumPy, Julia, MATLAB, LaTeX and C write with `*`,
 * `%`, `^`, `<` and brackets. Each rule recognises one of them by the tokens around it. */
#include "mistakes.h"

#include <string.h>

static bool next_byte_is(const Scene *s, char c) { return s->p->src->bytes[s->t.end] == c; }

/* `A[*,0]`, `A[i,]` */
static const char *whole_axis(const Scene *s) {
  if (s->in != TOK_LB || (s->last.kind != TOK_LB && s->last.kind != TOK_COMMA)) return NULL;
  Scanner ahead = scan_quietly(s->p);
  int next = s->t.kind == TOK_STAR ? scan(&ahead).kind : TOK_BAD;
  bool open = s->t.kind == TOK_RB && s->last.kind == TOK_COMMA;
  return open || next == TOK_COMMA || next == TOK_RB ? "a whole axis is read by its label, as in `X[i, j]`" : NULL;
}

/* `50% * x` */
static const char *per_cent(const Scene *s) {
  const Parse *p = s->p;
  Token number = p->at.before;
  double v;
  size_t n = number.end - number.at;
  if (s->last.kind != TOK_PERCENT || begins_operand(s->t.kind)) return NULL;
  if ((number.kind != TOK_INT && number.kind != TOK_REAL) || !double_read(token_text(p, number), n, &v)) return NULL;
  Buf b = buf_new(p->arena);
  double_print(&b, v / 100);
  return arena_printf(
      p->arena, "`%%` is the remainder of a division; %.*s per cent are `%s`", (int)n, token_text(p, number), b.s);
}

/* `x++`, `x--` */
static const char *steps_on(const Scene *s) {
  const Parse *p = s->p;
  bool plus = s->t.kind == TOK_PLUS;
  if ((!plus && s->t.kind != TOK_MINUS) || !next_byte_is(s, plus ? '+' : '-') || s->last.kind != TOK_ID ||
      p->stmt.assigned || p->stmt.tokens > 1)
    return NULL;
  const char *x = token_text(p, s->last);
  int n = (int)(s->last.end - s->last.at);
  return arena_printf(p->arena, "`=` defines, once; what changes is a state of a `repeat`: `next %.*s = %.*s %c 1`", n,
      x, n, x, plus ? '+' : '-');
}

/* `x ^^ 2` */
static const char *caret_twice(const Scene *s) {
  return s->t.kind == TOK_CARET && s->last.kind == TOK_CARET ? "a power is `x^2`" : NULL;
}

/* `<x, y>` */
static const char *angles(const Scene *s) {
  return s->t.kind == TOK_LT && !ends_operand(s) && s->ok[TOK_INT] ? "an inner product is `sum[k] x[k] * y[k]`" : NULL;
}

/* `(1, 2)` */
static const char *tuple(const Scene *s) {
  if (s->t.kind != TOK_COMMA || s->in != TOK_LP || !ends_operand(s) || !s->ok[TOK_RP]) return NULL;
  return "there are no tuples, but for what a def ends with: data is an `input`, or computed from labels; an "
      "equation defines one tensor";
}

/* `f32 x[i]` */
static const char *cast_bare(const Scene *s) {
  const Parse *p = s->p;
  if (s->last.kind != TOK_DTYPE || !begins_operand(s->t.kind) || !s->ok[TOK_LP] || s->ok[TOK_LB]) return NULL;
  const char *e = source_piece(p, s->t.at, operand_end(p, s->t));
  return arena_printf(p->arena, "a conversion is written like a call: `%.*s(%s)`", (int)(s->last.end - s->last.at),
      token_text(p, s->last), e ? e : "x");
}

/* `f(x)[i]` */
static const char *call_read(const Scene *s) {
  const Parse *p = s->p;
  if (s->t.kind != TOK_LB || s->last.kind != TOK_RP || !s->ok[TOK_STAR] || p->at.operand.kind != TOK_ID) return NULL;
  const char *f = source_piece(p, p->at.operand.at, s->last.end),
             *at = bracket_end(p) ? source_piece(p, s->t.at, bracket_end(p)) : NULL;
  if (f && at && strchr(at, '='))
    return arena_printf(p->arena, "a substitution stands behind parentheses: `(%s)%s`", f, at);
  return "what a call gives has the labels of its arguments, `f(x[i])`; an equation gives it a name, and that is "
      "read at other places";
}

int rule_foreign_sign(const Scene *s) {
  static const char *(*const signs[])(const Scene *) = {
      whole_axis, per_cent, steps_on, caret_twice, angles, tuple, cast_bare, call_read};
  for (size_t i = 0; i < COUNT(signs); i++) {
    const char *hint = signs[i](s);
    if (!hint) continue;
    return scene_refuse(s, "%s", hint);
  }
  return PASS;
}

/* A comment in C's syntax. */
int rule_comment_c(const Scene *s) {
  if (s->t.kind != TOK_SLASH || !next_byte_is(s, '*') || !(s->p->at.newline || s->start) || s->in == TOK_LP ||
      s->in == TOK_LB)
    return PASS;
  Diag *g = scene_say(s, D_E001, "unexpected `/*`, which begins no comment");
  diag_hint(s->p->diags, g, "a comment begins with `#`, on each of its lines");
  return ANSWER_LINE;
}
