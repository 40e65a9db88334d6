/* base/number.c - numbers as text, independent of the locale, and checked 64-bit arithmetic. */
#include "base.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DIGITS = 17 }; /* enough decimal digits to distinguish any two doubles */

/* ---- printing -------------------------------------------------------------------------------- */

typedef struct Decimal {
  char digit[MAX_DIGITS + 1]; /* no trailing zeros, at least one */
  int n, exp;                 /* value: digit[0] . digit[1..] * 10^exp */
} Decimal;

/* Rounds x, positive and finite, to that many digits. Returns whether they read back as x (as a float if single). The C
 * library prints and reads, both in the same locale; only the digits of its text are used. */
static bool decimal_try(double x, int digits, bool single, Decimal *d) {
  char text[64];
  snprintf(text, sizeof text, "%.*e", digits - 1, x);
  double back = strtod(text, NULL);
  if ((single ? (double)(float)back : back) != x) return false;
  const char *e = strrchr(text, 'e');
  d->n = 0;
  for (const char *p = text; p < e && d->n < MAX_DIGITS; p++)
    if (*p >= '0' && *p <= '9') d->digit[d->n++] = *p;
  while (d->n > 1 && d->digit[d->n - 1] == '0') d->n--;
  d->exp = atoi(e + 1);
  return true;
}

/* 15 digits survive conversion to a normal double and back. So if a shorter text reads back as x, the one with 15
 * digits is that text followed by zeros. This does not hold for subnormal numbers. */
static Decimal decimal_of(double x, bool single) {
  Decimal d = {.n = 0};
  for (int digits = fpclassify(x) == FP_NORMAL && !single ? 15 : 1; digits <= MAX_DIGITS; digits++)
    if (decimal_try(x, digits, single, &d)) break;
  return d;
}

static void zeros(Buf *b, int n) {
  for (; n > 0; n--) buf_char(b, '0');
}

static void number_print(Buf *b, double x, bool single) {
  if (isnan(x)) {
    buf_str(b, "nan");
    return;
  }
  if (signbit(x)) buf_char(b, '-');
  x = fabs(x);
  if (isinf(x) || x == 0) {
    buf_str(b, x == 0 ? "0.0" : "inf");
    return;
  }
  Decimal d = decimal_of(x, single);
  if (d.exp < -4 || d.exp >= 16) {
    buf_char(b, d.digit[0]);
    if (d.n > 1) buf_char(b, '.');
    buf_add(b, d.digit + 1, (size_t)(d.n - 1));
    buf_printf(b, "e%d", d.exp);
  } else if (d.exp < 0) {
    buf_str(b, "0.");
    zeros(b, -d.exp - 1);
    buf_add(b, d.digit, (size_t)d.n);
  } else {
    int whole = d.exp + 1 < d.n ? d.exp + 1 : d.n;
    buf_add(b, d.digit, (size_t)whole);
    zeros(b, d.exp + 1 - d.n);
    buf_char(b, '.');
    buf_add(b, d.digit + whole, (size_t)(d.n - whole));
    if (d.n == whole) buf_char(b, '0');
  }
}

void double_print(Buf *b, double x) { number_print(b, x, false); }

void float_print(Buf *b, double x) { number_print(b, x, (double)(float)x == x); }

/* ---- reading --------------------------------------------------------------------------------- */

static size_t digits_at(const char *s, size_t len, size_t i) {
  size_t n = 0;
  while (i + n < len && s[i + n] >= '0' && s[i + n] <= '9') n++;
  return n;
}

/* Whether all of s is digits [. digits] [e [sign] digits]. *point: the position of the '.', or len. */
static bool decimal_shape(const char *s, size_t len, size_t *point) {
  size_t i = digits_at(s, len, 0), n = i;
  *point = len;
  if (i < len && s[i] == '.') {
    *point = i++;
    size_t f = digits_at(s, len, i);
    i += f;
    n += f;
  }
  if (!n) return false;
  if (i < len && (s[i] == 'e' || s[i] == 'E')) {
    i++;
    if (i < len && (s[i] == '+' || s[i] == '-')) i++;
    size_t e = digits_at(s, len, i);
    if (!e) return false;
    i += e;
  }
  return i == len;
}

static bool decimal_read(const char *s, size_t len, size_t point, double *out) {
  const char *mark = localeconv()->decimal_point;
  size_t marks = strlen(mark), have = point < len ? 1 : 0;
  char small[128], *text = small;
  if (len + marks + 1 > sizeof small && !(text = malloc(len + marks + 1))) return false;
  memcpy(text, s, point);
  if (have) memcpy(text + point, mark, marks);
  size_t at = have ? point + marks : point, rest = len - point - have;
  memcpy(text + at, s + point + have, rest);
  text[at + rest] = 0;
  int kept = errno;
  *out = strtod(text, NULL);
  errno = kept;
  if (text != small) free(text);
  return !isinf(*out);
}

bool double_read(const char *s, size_t len, double *out) {
  bool minus = len && s[0] == '-';
  if (len && (s[0] == '-' || s[0] == '+')) s++, len--;
  size_t point;
  double x;
  if (len == 3 && memcmp(s, "inf", 3) == 0)
    x = (double)INFINITY;
  else if (len == 3 && memcmp(s, "nan", 3) == 0)
    x = (double)NAN;
  else if (!decimal_shape(s, len, &point) || !decimal_read(s, len, point, &x))
    return false;
  *out = minus ? -x : x;
  return true;
}

bool int64_read(const char *s, size_t len, int64_t *out) {
  bool minus = len && s[0] == '-';
  if (len && (s[0] == '-' || s[0] == '+')) s++, len--;
  if (!len || digits_at(s, len, 0) != len) return false;
  int64_t x = 0; /* counts down, since the negative range has one more number */
  for (size_t i = 0; i < len; i++)
    if (!mul_ok(x, 10, &x) || !sub_ok(x, s[i] - '0', &x)) return false;
  if (!minus && !sub_ok(0, x, &x)) return false;
  *out = x;
  return true;
}

/* ---- arithmetic ------------------------------------------------------------------------------ */

bool add_ok(int64_t a, int64_t b, int64_t *out) {
  return !__builtin_add_overflow(a, b, out);
}

bool sub_ok(int64_t a, int64_t b, int64_t *out) {
  return !__builtin_sub_overflow(a, b, out);
}

bool mul_ok(int64_t a, int64_t b, int64_t *out) {
  return !__builtin_mul_overflow(a, b, out);
}

int64_t floor_div(int64_t a, int64_t b) {
  if (b == 0) return 0;
  if (b == -1) return (int64_t)(0 - (uint64_t)a);
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

int64_t floor_mod(int64_t a, int64_t b) {
  if (b == 0 || b == -1) return 0;
  int64_t r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
