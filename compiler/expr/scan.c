/* expr/scan.c - scans the small things on a line of text: words, strings, numbers, ids, places. */
#include "scan.h"

#include <string.h>

const char *scan_line(Scan *c, const char *at) {
  const char *end = c->src->bytes + c->src->len;
  const char *nl = memchr(at, '\n', (size_t)(end - at));
  c->begin = c->s = at;
  c->end = nl ? nl : end;
  c->quiet = false;
  return nl ? nl + 1 : NULL;
}

Span scan_here(const Scan *c) {
  Scan x = *c;
  scan_blanks(&x);
  uint32_t at = (uint32_t)(x.s - c->src->bytes);
  return (Span){c->src, at, x.s < c->end ? at + 1 : at};
}

Span scan_head(const Scan *c) {
  Scan x = *c;
  x.s = x.begin;
  scan_blanks(&x);
  const char *at = x.s, *end = at;
  for (int word = 0; word < 2; word++) {
    scan_blanks(&x);
    while (x.s < x.end && *x.s != ' ' && *x.s != '\t' && *x.s != '\r') end = ++x.s;
  }
  return (Span){c->src, (uint32_t)(at - c->src->bytes), (uint32_t)(end - c->src->bytes)};
}

bool scan_fail(Scan *c, DiagCode code, const char *fmt, ...) {
  if (c->quiet) return false;
  va_list ap;
  va_start(ap, fmt);
  const char *text = arena_vprintf(c->d->arena, fmt, ap);
  va_end(ap);
  diag_add(c->d, code, scan_here(c), "%s", text);
  return false;
}

void scan_blanks(Scan *c) {
  while (c->s < c->end && (*c->s == ' ' || *c->s == '\t' || *c->s == '\r')) c->s++;
}

bool scan_done(Scan *c) {
  scan_blanks(c);
  return c->s == c->end;
}

bool scan_is(Scan *c, char x) {
  scan_blanks(c);
  return c->s < c->end && *c->s == x;
}

bool scan_take(Scan *c, char x) {
  if (!scan_is(c, x)) return false;
  c->s++;
  return true;
}

bool scan_want(Scan *c, char x) {
  return scan_take(c, x) || scan_fail(c, D_E903, "expected `%c` here", x);
}

static bool in_word(char c, bool dots) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '\'' || c == '~' || (c == '.' && dots) || (unsigned char)c >= 0x80;
}

size_t scan_word(Scan *c, bool dots, const char **at) {
  scan_blanks(c);
  *at = c->s;
  if (c->s < c->end && *c->s >= '0' && *c->s <= '9') return 0;
  while (c->s < c->end && in_word(*c->s, dots)) c->s++;
  return (size_t)(c->s - *at);
}

bool scan_take_word(Scan *c, const char *word) {
  const char *at;
  size_t n = scan_word(c, true, &at);
  if (n == strlen(word) && memcmp(at, word, n) == 0) return true;
  c->s = at;
  return false;
}

bool scan_want_word(Scan *c, const char *word) {
  return scan_take_word(c, word) || scan_fail(c, D_E903, "expected `%s` here", word);
}

static int hex(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Returns the character for the one after a backslash, or -1. */
static int escape(Scan *c) {
  if (c->s == c->end) return -1;
  char x = *c->s++;
  if (x == '"' || x == '\\') return x;
  if (x == 'n' || x == 't') return x == 'n' ? '\n' : '\t';
  if (x != 'x' || c->end - c->s < 2 || hex(c->s[0]) < 0 || hex(c->s[1]) < 0) return -1;
  c->s += 2;
  return hex(c->s[-2]) * 16 + hex(c->s[-1]);
}

bool scan_want_string(Scan *c, Str *out) {
  if (!scan_take(c, '"')) return scan_fail(c, D_E903, "expected a string in quotes here");
  Buf b = buf_new(c->d->arena);
  while (c->s < c->end && *c->s != '"') {
    int x = (unsigned char)*c->s++;
    if (x == '\\' && (x = escape(c)) < 0)
      return scan_fail(c, D_E912, "expected \\\" \\\\ \\n \\t or \\x and two digits");
    buf_char(&b, (char)x);
  }
  if (c->s == c->end) return scan_fail(c, D_E912, "the string has no closing quote");
  c->s++;
  *out = str_of(c->strings, b.s, b.len);
  return true;
}

bool scan_want_name(Scan *c, Str *out) {
  if (scan_is(c, '"')) return scan_want_string(c, out);
  const char *at;
  size_t n = scan_word(c, true, &at);
  if (!n) return scan_fail(c, D_E903, "expected a name here");
  *out = str_of(c->strings, at, n);
  return true;
}

bool scan_want_int(Scan *c, int64_t low, int64_t high, const char *what, int64_t *out) {
  scan_blanks(c);
  const char *from = c->s, *p = c->s;
  if (p < c->end && *p == '-') p++;
  while (p < c->end && *p >= '0' && *p <= '9') p++;
  if (p == from) return scan_fail(c, D_E903, "expected %s here", what);
  if (!int64_read(from, (size_t)(p - from), out) || *out < low || *out > high)
    return scan_fail(c, D_E908, "%s is from %lld to %lld", what, (long long)low, (long long)high);
  c->s = p;
  return true;
}

bool scan_want_dtype(Scan *c, DType *out) {
  const char *at;
  size_t n = scan_word(c, false, &at);
  if (n && dtype_find(at, n, out)) return true;
  c->s = at;
  return scan_fail(c, D_E907, "expected a dtype here, like f32");
}

bool scan_want_number(Scan *c, const char *what, uint32_t *out) {
  int64_t k;
  if (!scan_want_int(c, 0, READ_IDS - 1, what, &k)) return false;
  *out = (uint32_t)k;
  return true;
}

bool scan_want_id(Scan *c, uint32_t *out) {
  if (!scan_take(c, '%')) return scan_fail(c, D_E903, "expected a %s here, like %%7", c->noun);
  if (c->s == c->end || *c->s < '0' || *c->s > '9')
    return scan_fail(c, D_E903, "expected the %s's number here", c->noun);
  return scan_want_number(c, arena_printf(c->d->arena, "a %s's number", c->noun), out);
}

bool scan_place(Scan *c, Place *place) {
  int64_t line, column;
  if (!scan_take(c, '@')) return true;
  if (!scan_want_string(c, &place->file)) return false;
  if (!scan_want(c, ':') || !scan_want_int(c, 0, UINT32_MAX, "a line", &line)) return false;
  if (!scan_want(c, ':') || !scan_want_int(c, 0, UINT32_MAX, "a column", &column)) return false;
  place->line = (uint32_t)line;
  place->column = (uint32_t)column;
  return true;
}

bool scan_want_end(Scan *c, Place *place) {
  if (place && !scan_place(c, place)) return false;
  return scan_done(c) || scan_fail(c, D_E903, "expected the end of the line here");
}
