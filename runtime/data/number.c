/* SPDX-License-Identifier: MIT-0 */
/*
 * Reads numbers from text; see number.h. A decimal fraction is converted to binary exactly: numerator and
 * denominator as large integers, the quotient bit by bit, then one rounding.
 */
#include "number.h"

#include <math.h>
#include <string.h>

static int is_digit(char c) {
  return c >= '0' && c <= '9';
}

ein_status ein_read_i64(const char *text, size_t length, int64_t *value) {
  size_t at = length > 0 && (text[0] == '-' || text[0] == '+');
  const int negative = at && text[0] == '-';
  if (at == length) return EIN_ERR_FORMAT;
  const uint64_t most = (uint64_t)INT64_MAX + (negative ? 1 : 0);
  uint64_t sum = 0;
  int too_large = 0;
  for (; at < length; at++) {
    if (!is_digit(text[at])) return EIN_ERR_FORMAT;
    uint64_t digit = (uint64_t)(text[at] - '0');
    if (sum > (most - digit) / 10)
      too_large = 1;
    else
      sum = 10 * sum + digit;
  }
  if (too_large) return EIN_ERR_RANGE;
  *value = !negative ? (int64_t)sum : sum == 0 ? 0 : -(int64_t)(sum - 1) - 1;
  return EIN_OK;
}

/* ---- large natural numbers, least significant word first ---- */

enum {
  DIGITS = 780, /* no more are needed to tell the halfway point between two doubles from its
                   neighbours */
  WORDS = 160   /* 5120 bits: 10^(780 + 330) and 64 bits more take 3752 */
};

typedef struct big {
  uint32_t word[WORDS];
  int used; /* higher words are zero; the highest used one is not */
} big;

static void big_multiply_add(big *b, uint32_t factor, uint32_t addend) {
  uint64_t carry = addend;
  for (int i = 0; i < b->used; i++) {
    carry += (uint64_t)b->word[i] * factor;
    b->word[i] = (uint32_t)carry;
    carry >>= 32;
  }
  if (carry && b->used < WORDS) b->word[b->used++] = (uint32_t)carry;
}

static int big_bits(const big *b) {
  int bits = 32 * b->used;
  for (uint32_t top = b->used ? b->word[b->used - 1] : 0; top && !(top >> 31); top <<= 1) bits--;
  return bits;
}

static void big_shift_left(big *b, int bits) {
  for (; bits >= 16; bits -= 16) big_multiply_add(b, 1u << 16, 0);
  big_multiply_add(b, 1u << bits, 0);
}

static int big_less(const big *a, const big *b) {
  if (a->used != b->used) return a->used < b->used;
  for (int i = a->used; i-- > 0;) {
    if (a->word[i] != b->word[i]) return a->word[i] < b->word[i];
  }
  return 0;
}

/* a -= b, for b <= a. */
static void big_subtract(big *a, const big *b) {
  uint64_t borrow = 0;
  for (int i = 0; i < a->used; i++) {
    uint64_t take = (i < b->used ? b->word[i] : 0) + borrow;
    borrow = a->word[i] < take;
    a->word[i] = (uint32_t)(a->word[i] - take);
  }
  while (a->used > 0 && a->word[a->used - 1] == 0) a->used--;
}

/* ---- from decimal to binary ---- */

typedef struct decimal {
  unsigned char digit[DIGITS + 1];
  int count;    /* no leading zero */
  int exponent; /* value = digits as an integer * 10^exponent */
} decimal;

/* Returns the next bit of n / d for n < 2 d, and subtracts it from n. */
static int quotient_bit(big *n, const big *d) {
  if (big_less(n, d)) return 0;
  big_subtract(n, d);
  return 1;
}

static ein_status decimal_to_f64(const decimal *d, double *value) {
  big n = {.used = 0}, m = {.word = {1}, .used = 1};
  for (int i = 0; i < d->count; i++) big_multiply_add(&n, 10, d->digit[i]);
  for (int e = 0; e < d->exponent; e++) big_multiply_add(&n, 10, 0);
  for (int e = 0; e > d->exponent; e--) big_multiply_add(&m, 10, 0);
  int exponent =
      big_bits(&n) - big_bits(&m); /* bring n/m into [1, 2); the value is n/m * 2^exponent */
  big_shift_left(exponent > 0 ? &m : &n, exponent > 0 ? exponent : -exponent);
  if (big_less(&n, &m)) {
    big_shift_left(&n, 1);
    exponent--;
  }
  int bits = exponent >= -1022 ? 53 : 53 - (-1022 - exponent);
  if (bits < 0) {
    *value = 0;
    return EIN_OK;
  }
  uint64_t significand = 0;
  for (int i = 0; i < bits; i++) {
    significand = significand << 1 | (uint64_t)quotient_bit(&n, &m);
    big_shift_left(&n, 1);
  }
  int half = quotient_bit(&n, &m);
  significand += (uint64_t)(half && (n.used > 0 || (significand & 1)));
  *value = ldexp((double)significand, exponent - bits + 1);
  return isinf(*value) ? EIN_ERR_RANGE : EIN_OK;
}

static void decimal_push(decimal *d, char c, int after_point, int *rest) {
  if (d->count == 0 && c == '0') {
    d->exponent -= after_point;
  } else if (d->count < DIGITS) {
    d->digit[d->count++] = (unsigned char)(c - '0');
    d->exponent -= after_point;
  } else {
    *rest |= c != '0';
    d->exponent += !after_point;
  }
}

/* Reads the digits and the point. Returns the place after them, or `length` + 1 if there are no digits. */
static size_t read_digits(const char *text, size_t at, size_t length, decimal *d) {
  int after_point = 0, any = 0, rest = 0;
  for (; at < length; at++) {
    if (text[at] == '.' && !after_point) {
      after_point = 1;
    } else if (is_digit(text[at])) {
      any = 1;
      decimal_push(d, text[at], after_point, &rest);
    } else {
      break;
    }
  }
  if (rest) { /* a nonzero digit was dropped: enough to break a tie */
    d->digit[d->count++] = 1;
    d->exponent--;
  }
  return any ? at : length + 1;
}

static ein_status read_exponent(const char *text, size_t at, size_t length, int *exponent) {
  int64_t e = 0;
  ein_status status = ein_read_i64(text + at, length - at, &e);
  if (status == EIN_ERR_RANGE)
    e = text[at] == '-' ? -10000 : 10000;
  else if (status != EIN_OK)
    return status;
  e = e < -10000 ? -10000 : e > 10000 ? 10000 : e;
  *exponent += (int)e;
  return EIN_OK;
}

static int same_word(const char *text, size_t length, const char *word) {
  return strlen(word) == length && memcmp(text, word, length) == 0;
}

static ein_status read_unsigned(const char *text, size_t length, double *value) {
  if (same_word(text, length, "inf") || same_word(text, length, "nan")) {
    *value = text[0] == 'i' ? (double)INFINITY : (double)NAN;
    return EIN_OK;
  }
  decimal d = {.count = 0};
  if (length > 10000) return EIN_ERR_RANGE;
  size_t at = read_digits(text, 0, length, &d);
  if (at > length) return EIN_ERR_FORMAT;
  if (at < length) {
    if (text[at] != 'e' && text[at] != 'E') return EIN_ERR_FORMAT;
    ein_status status = read_exponent(text, at + 1, length, &d.exponent);
    if (status != EIN_OK) return status;
  }
  *value = 0;
  if (d.count == 0 || d.count + d.exponent < -330) return EIN_OK;
  if (d.count + d.exponent > 310) return EIN_ERR_RANGE;
  return decimal_to_f64(&d, value);
}

ein_status ein_read_f64(const char *text, size_t length, double *value) {
  size_t sign = length > 0 && (text[0] == '-' || text[0] == '+');
  double magnitude = 0;
  ein_status status = read_unsigned(text + sign, length - sign, &magnitude);
  if (status == EIN_OK) *value = sign && text[0] == '-' ? -magnitude : magnitude;
  return status;
}

/* ---- amounts ---- */

static const struct {
  const char *name;
  double bytes;
} units[] = {{"", 1}, {"B", 1}, {"kB", 1e3}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"KiB", 1024},
    {"MiB", 1048576}, {"GiB", 1073741824}, {"TiB", 1099511627776}};

ein_status ein_read_bytes(const char *text, uint64_t *bytes) {
  size_t n = strspn(text, "0123456789.");
  const char *unit = text + n + strspn(text + n, " ");
  double value;
  if (!n || ein_read_f64(text, n, &value) != EIN_OK) return EIN_ERR_FORMAT;
  for (size_t k = 0; k < sizeof units / sizeof *units; k++) {
    if (strcmp(units[k].name, unit) != 0) continue;
    value *= units[k].bytes;
    if (!(value >= 1 && value < 1e18)) return EIN_ERR_RANGE;
    *bytes = (uint64_t)value;
    return EIN_OK;
  }
  return EIN_ERR_FORMAT;
}
