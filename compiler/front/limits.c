/* front/limits.c - limits for plans: words and units, from a statement or from the command line. */
#include "limits.h"

#include <string.h>

const LimitInfo limit_info[LIMITS] = {
#define LIMIT(id, word, unit, what) {word, UNIT_##unit, what},
#include "limits.def"
};

static const struct { LimitUnit unit; const char *word; double factor; } units[] = {
#define UNIT(unit, word, factor) {UNIT_##unit, word, factor},
#include "limits.def"
};

/* ---- units --------------------------------------------------------------------------------------------- */

bool unit_find(LimitUnit unit, const char *word, double *factor) {
  for (size_t k = 0; k < COUNT(units); k++)
    if (units[k].unit == unit && strcmp(units[k].word, word) == 0) return *factor = units[k].factor, true;
  return false;
}

/* Where the unit is a single letter: some read it as a power of 1000, others as one of 1024. */
const char *unit_wanted(Arena *a, LimitUnit unit, const char *word, const char *said) {
  static const char *const wanted[][2] = {
      {"expected bytes, as 24GB or 512MiB", "expected bytes, as 24 GB or 512 MiB"},
      {"expected seconds, as 1.5s or 20ms", "expected seconds, as 1.5 s or 20 ms"},
      {"expected a number without a unit", "expected a number without a unit"}};
  bool apart = *said && said[strlen(said) - 1] == ' ';
  bool letter = unit == UNIT_BYTES && *word && strchr("kKMGT", *word) && !word[1];
  if (!letter) return wanted[unit][apart];
  return arena_printf(
      a, "expected %s%sB, of powers of 1000, or %s%ciB, of 1024", said, word, said, *word == 'k' ? 'K' : *word);
}

/* ---- one limit ------------------------------------------------------------------------------------------ */

static void word_unknown(const AstName *n, Diags *d) {
  Diag *g = diag_add(d, D_E114, n->span, "a plan has no %s", n->s->s);
  uint32_t least = n->s->len < 3 ? 2 : n->s->len / 3 + 1;
  const char *near = NULL;
  for (int k = 0; k < LIMITS; k++) {
    uint32_t far = str_distance(n->s->s, n->s->len, limit_info[k].word, (uint32_t)strlen(limit_info[k].word), least);
    if (far < least) least = far, near = limit_info[k].word;
  }
  if (near) {
    diag_hint(d, g, "did you mean `%s`?", near);
    return;
  }
  for (int k = 0; k < LIMITS; k++) diag_hint(d, g, "`%s`: %s", limit_info[k].word, limit_info[k].what);
}

/* said: the amount as written; unit: "" if there is none. */
static bool limit_add(Arena *a, const AstLimit *x, const char *said, Diags *d, Limits *out) {
  Limit l = {.op = x->op, .amount = x->amount, .span = x->span};
  int k = 0;
  while (k < LIMITS && strcmp(limit_info[k].word, x->what.s->s) != 0) k++;
  if (k == LIMITS) return word_unknown(&x->what, d), false;
  l.id = (LimitId)k;
  double factor;
  const char *unit = x->unit.s ? x->unit.s->s : "";
  if (!unit_find(limit_info[k].unit, unit, &factor)) {
    Diag *g = *unit ? diag_add(d, D_E114, x->unit.span, "%s is not counted in %s", limit_info[k].word, unit)
                    : diag_add(d, D_E114, x->amount_span, "%s has a unit", limit_info[k].word);
    diag_hint(d, g, "%s", unit_wanted(a, limit_info[k].unit, unit, said));
    return false;
  }
  l.amount *= factor;
  vec_push(a, *out, l);
  return true;
}

bool limits_of(Arena *a, const AstStmt *s, Diags *d, Limits *out) {
  bool ok = true;
  for (uint32_t i = 0; i < s->limits.len; i++)
    ok &= limit_add(a, &s->limits.at[i], arena_printf(a, "%s ", span_text(a, s->limits.at[i].amount_span)), d, out);
  return ok;
}

/* ---- the command line ------------------------------------------------------------------------------------- */

static uint32_t skip(const Source *s, uint32_t at, const char *set) {
  return at + (uint32_t)strspn(s->bytes + at, set);
}

static bool text_wrong(Source *src, uint32_t at, const char *wanted, Diags *d) {
  uint32_t end = at < src->len ? at + 1 : at;
  Diag *g = diag_add(d, D_E114, (Span){src, at, end}, "expected %s", wanted);
  diag_hint(d, g, "as in `bytes<=3GB, memory<=24GB`");
  return false;
}

static bool op_read(const Source *src, uint32_t *at, Op *op) {
  static const struct { const char *sign; Op op; } signs[] = {
    {"<=", OP_LE}, {">=", OP_GE}, {"==", OP_EQ}, {"<", OP_LT}, {">", OP_GT}};
  for (size_t k = 0; k < COUNT(signs); k++)
    if (strncmp(src->bytes + *at, signs[k].sign, strlen(signs[k].sign)) == 0) {
      *at += (uint32_t)strlen(signs[k].sign);
      *op = signs[k].op;
      return true;
    }
  return false;
}

static AstName name_read(Strings *t, Source *src, uint32_t *at) {
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
  uint32_t from = *at;
  *at = skip(src, from, letters);
  return (AstName){*at > from ? str_of(t, src->bytes + from, *at - from) : NULL, {src, from, *at}};
}

/* Digits, a point, and an exponent with digits: `3e9`. */
static uint32_t number_end(const Source *src, uint32_t at) {
  uint32_t end = skip(src, at, "0123456789."), e = end;
  if (end == at || (src->bytes[e] != 'e' && src->bytes[e] != 'E')) return end;
  e += src->bytes[e + 1] == '+' || src->bytes[e + 1] == '-' ? 2 : 1;
  uint32_t digits = skip(src, e, "0123456789");
  return digits > e ? digits : end;
}

static bool one_read(Arena *a, Strings *t, Source *src, uint32_t *at, Diags *d, Limits *out) {
  AstLimit x = {0};
  uint32_t from = *at = skip(src, *at, " \t");
  x.what = name_read(t, src, at);
  if (!x.what.s) return text_wrong(src, *at, "what is limited: bytes, memory, time or operations", d);
  *at = skip(src, *at, " \t");
  if (!op_read(src, at, &x.op)) return text_wrong(src, *at, "`<=`, `<`, `>=`, `>` or `==`", d);
  *at = skip(src, *at, " \t");
  x.amount_span = (Span){src, *at, number_end(src, *at)};
  if (!double_read(src->bytes + *at, x.amount_span.end - *at, &x.amount)) return text_wrong(src, *at, "a number", d);
  *at = skip(src, x.amount_span.end, " \t");
  x.unit = name_read(t, src, at);
  x.span = (Span){src, from, x.unit.s ? *at : x.amount_span.end};
  *at = skip(src, *at, " \t");
  return limit_add(a, &x, span_text(a, x.amount_span), d, out);
}

bool limits_read(Arena *a, Strings *t, Source *src, Diags *d, Limits *out) {
  for (uint32_t at = 0;; at++) {
    if (!one_read(a, t, src, &at, d, out)) return false;
    if (at >= src->len) return true;
    if (src->bytes[at] != ',') return text_wrong(src, at, "`,` and a further one, or the end", d);
  }
}
