/* SPDX-License-Identifier: MIT-0 */
/*
 * Random numbers without state: seed and index in, one value out, so no partitioning of the work can change a
 * value. Philox4x32-10 is from Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3"
 * (2011).
 *
 * The logarithm and the cosine of the normal numbers are computed in fixed point, with integers only. So fused
 * multiply-add, reordering or another libm cannot change them, whatever the compiler and its flags. The few
 * remaining floating-point operations (one conversion each, exact scalings, a square root, one product, one
 * rounding to float) are correctly rounded everywhere and cannot be contracted. The same code works in CUDA.
 */
#include "ein_ops.h"

#if !defined(__CUDACC_RTC__)
#include <math.h>
#endif

/* ctr[3] identifies the use of a block, so the same seed gives unrelated streams. 0: uniform numbers. */
enum { EIN_STREAM_NORMAL = 1, EIN_STREAM_INTEGER = 2, EIN_STREAM_PERMUTATION = 3 };

EIN_BOTH EIN_API void ein_philox4x32_10(const uint32_t ctr[4], const uint32_t key[2], uint32_t out[4]) {
  uint32_t c[4] = {ctr[0], ctr[1], ctr[2], ctr[3]};
  ein_philox(c, key[0], key[1]);
  for (int k = 0; k < 4; k++) out[k] = c[k];
}

static EIN_BOTH void ein_rng_block(int64_t seed, int64_t index, uint32_t stream, uint32_t out[4]) {
  const uint64_t s = (uint64_t)seed, i = (uint64_t)index;
  const uint32_t key[2] = {(uint32_t)s, (uint32_t)(s >> 32)};
  const uint32_t ctr[4] = {(uint32_t)i, (uint32_t)(i >> 32), 0, stream};
  ein_philox4x32_10(ctr, key, out);
}

static EIN_BOTH uint64_t ein_rng_join(uint32_t high, uint32_t low) {
  return (uint64_t)high << 32 | low;
}

/* The upper 64 bits of a * b; in fixed point with 64 bits after the point, the product, rounded down. */
static EIN_BOTH uint64_t ein_rng_mul_high(uint64_t a, uint64_t b) {
#ifdef __SIZEOF_INT128__
  __extension__ typedef unsigned __int128 u128;
  return (uint64_t)((u128)a * b >> 64);
#else
  uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
  uint64_t cross = a1 * b0 + (a0 * b0 >> 32);
  uint64_t other = a0 * b1 + (uint32_t)cross;
  return a1 * b1 + (cross >> 32) + (other >> 32);
#endif
}

EIN_BOTH EIN_API float ein_uniform(int64_t seed, int64_t index) {
  return ein_uniform_f32(seed, index);
}

EIN_BOTH EIN_API int64_t ein_randint(int64_t seed, int64_t index, int64_t lo, int64_t hi) {
  if (hi <= lo) return lo;
  uint32_t word[4];
  ein_rng_block(seed, index, EIN_STREAM_INTEGER, word);
  uint64_t span = (uint64_t)hi - (uint64_t)lo + 1; /* 0 stands for 2^64 */
  uint64_t bits = ein_rng_join(word[0], word[1]);
  uint64_t value = (uint64_t)lo + (span ? ein_rng_mul_high(bits, span) : bits);
  return value <= INT64_MAX ? (int64_t)value : -(int64_t)~value - 1;
}

/* ---- log and cosine in fixed point: Qn means n bits after the binary point ---- */

#define EIN_ONE_OVER(n) (UINT64_MAX / (n)) /* 1/n in Q64 */

/*
 * atanh(s)/s - 1 = s2/3 + s2^2/5 + ... in Q64, for s2 = s*s in Q64. While s is below 0.172, the truncated terms
 * sum to less than 2^-61.
 */
static EIN_BOTH uint64_t ein_rng_atanh_tail(uint64_t s2) {
  uint64_t p = EIN_ONE_OVER(25);
  p = EIN_ONE_OVER(23) + ein_rng_mul_high(s2, p);
  p = EIN_ONE_OVER(21) + ein_rng_mul_high(s2, p);
  p = EIN_ONE_OVER(19) + ein_rng_mul_high(s2, p);
  p = EIN_ONE_OVER(17) + ein_rng_mul_high(s2, p);
  p = EIN_ONE_OVER(15) + ein_rng_mul_high(s2, p);
  p = EIN_ONE_OVER(13) + ein_rng_mul_high(s2, p);
  p = EIN_ONE_OVER(11) + ein_rng_mul_high(s2, p);
  p = EIN_ONE_OVER(9) + ein_rng_mul_high(s2, p);
  p = EIN_ONE_OVER(7) + ein_rng_mul_high(s2, p);
  p = EIN_ONE_OVER(5) + ein_rng_mul_high(s2, p);
  p = EIN_ONE_OVER(3) + ein_rng_mul_high(s2, p);
  return ein_rng_mul_high(s2, p);
}

/*
 * |ln m| in Q64 for m in Q63 between sqrt(1/2) and sqrt(2): ln m = 2 atanh((m - 1)/(m + 1)). The
 * reciprocal of m + 1 comes from one 32-bit division and one Newton step, accurate to about 60 bits.
 */
static EIN_BOTH uint64_t ein_rng_log_near_one(uint64_t m) {
  const uint64_t one = (uint64_t)1 << 63;
  uint64_t gap = m > one ? m - one : one - m;           /* Q63 */
  uint64_t d = (m >> 2) + (one >> 2);                   /* m + 1 in Q61, 1.7 to 2.42 */
  uint64_t r = (((uint64_t)1 << 62) / (d >> 31)) << 31; /* about 1/d, in Q63 */
  uint64_t dr = ein_rng_mul_high(d, r);                         /* d * r, about 1, in Q60 */
  r = ein_rng_mul_high(r, ((uint64_t)2 << 60) - dr) << 3;       /* r * (2 - d r): Q59, then Q62 */
  uint64_t s = ein_rng_mul_high(gap, r) << 3;                   /* Q61, then Q64; below 0.172 */
  uint64_t s2 = ein_rng_mul_high(s, s);
  return 2 * (s + ein_rng_mul_high(s, ein_rng_atanh_tail(s2)));
}

/* -ln(n / 2^53) in Q58, for n in 1 .. 2^53. */
static EIN_BOTH uint64_t ein_rng_minus_log(uint64_t n) {
  const uint64_t ln2 = 0x02C5C85FDF473DE7u;   /* Q58 */
  const uint64_t sqrt2 = 0xB504F333F9DE6484u; /* Q63 */
  uint64_t m = n;
  int halvings = -10; /* n / 2^53 is m / 2^halvings, with m read as Q63 */
  for (int step = 32; step > 0; step /= 2) {
    if (m >> (64 - step) == 0) {
      m <<= step;
      halvings += step;
    }
  }
  if (m > sqrt2) {
    m >>= 1;
    halvings--;
  }
  uint64_t whole = (uint64_t)halvings * ln2;
  uint64_t part = ein_rng_log_near_one(m) >> 6;
  if (m < (uint64_t)1 << 63) return whole + part;
  return whole > part ? whole - part : 0;
}

/* cos x in Q63 for x in Q64, at most pi/4. */
static EIN_BOTH uint64_t ein_rng_cos_small(uint64_t x) {
  uint64_t x2 = ein_rng_mul_high(x, x);
  uint64_t p = EIN_ONE_OVER(20922789888000u);       /* 1/16! */
  p = EIN_ONE_OVER(87178291200u) - ein_rng_mul_high(x2, p); /* 1/14! */
  p = EIN_ONE_OVER(479001600u) - ein_rng_mul_high(x2, p);   /* 1/12! */
  p = EIN_ONE_OVER(3628800u) - ein_rng_mul_high(x2, p);     /* 1/10! */
  p = EIN_ONE_OVER(40320u) - ein_rng_mul_high(x2, p);       /* 1/8! */
  p = EIN_ONE_OVER(720u) - ein_rng_mul_high(x2, p);         /* 1/6! */
  p = EIN_ONE_OVER(24u) - ein_rng_mul_high(x2, p);          /* 1/4! */
  p = EIN_ONE_OVER(2u) - ein_rng_mul_high(x2, p);           /* 1/2! */
  return ((uint64_t)1 << 63) - (ein_rng_mul_high(x2, p) >> 1);
}

/* sin x in Q63 for x in Q64, at most pi/4. */
static EIN_BOTH uint64_t ein_rng_sin_small(uint64_t x) {
  uint64_t x2 = ein_rng_mul_high(x, x);
  uint64_t p = EIN_ONE_OVER(355687428096000u);        /* 1/17! */
  p = EIN_ONE_OVER(1307674368000u) - ein_rng_mul_high(x2, p); /* 1/15! */
  p = EIN_ONE_OVER(6227020800u) - ein_rng_mul_high(x2, p);    /* 1/13! */
  p = EIN_ONE_OVER(39916800u) - ein_rng_mul_high(x2, p);      /* 1/11! */
  p = EIN_ONE_OVER(362880u) - ein_rng_mul_high(x2, p);        /* 1/9! */
  p = EIN_ONE_OVER(5040u) - ein_rng_mul_high(x2, p);          /* 1/7! */
  p = EIN_ONE_OVER(120u) - ein_rng_mul_high(x2, p);           /* 1/5! */
  p = EIN_ONE_OVER(6u) - ein_rng_mul_high(x2, p);             /* 1/3! */
  return (x - ein_rng_mul_high(x, ein_rng_mul_high(x2, p))) >> 1;
}

/* cos(2 pi turn / 2^64). In odd eighths of the turn, the angle is measured from the eighth's far end. */
static EIN_BOTH double ein_rng_cos_of_turn(uint64_t turn) {
  const uint64_t quarter_pi = 0xC90FDAA22168C235u; /* pi/4 in Q64 */
  unsigned eighth = (unsigned)(turn >> 61);
  uint64_t along = turn << 3;
  if (eighth & 1) along = ~along;
  uint64_t x = ein_rng_mul_high(along, quarter_pi);
  uint64_t value = (eighth + 1) >> 1 & 1 ? ein_rng_sin_small(x) : ein_rng_cos_small(x);
  double magnitude = (double)value * (1.0 / 9223372036854775808.0);
  return (eighth + 2) >> 2 & 1 ? -magnitude : magnitude;
}

/* Box-Muller, one value of the pair: sqrt(-2 ln u) cos(2 pi t), with u in (0, 1] of 53 bits. */
EIN_BOTH EIN_API float ein_normal(int64_t seed, int64_t index) {
  uint32_t word[4];
  ein_rng_block(seed, index, EIN_STREAM_NORMAL, word);
  uint64_t n = (ein_rng_join(word[0], word[1]) >> 11) + 1;
  double square = (double)ein_rng_minus_log(n) * (1.0 / 144115188075855872.0);
  return (float)(sqrt(square) * ein_rng_cos_of_turn(ein_rng_join(word[2], word[3])));
}

/* ---- permutations ----
 *
 * A Feistel network over the smallest power of two that holds H: the index has a left part of `left`
 * bits and a right part of `right` bits, and the rounds alternately XOR a keyed function of one part
 * into the other. A result outside 0..H-1 goes through the network again (cycle walking); at least
 * half of the values are inside, so two passes suffice on average.
 */

enum { EIN_FEISTEL_ROUNDS = 12 };

typedef struct ein_feistel {
  uint32_t key[2];
  uint64_t H;
  int left, right;
} ein_feistel;

static EIN_BOTH int ein_feistel_start(ein_feistel *f, int64_t seed, int64_t h, int64_t H) {
  if (h < 0 || h >= H || H > (int64_t)1 << 62) return 0;
  int bits = 1;
  while (bits < 62 && (int64_t)1 << bits < H) bits++;
  f->key[0] = (uint32_t)(uint64_t)seed;
  f->key[1] = (uint32_t)((uint64_t)seed >> 32);
  f->H = (uint64_t)H;
  f->left = bits / 2;
  f->right = bits - f->left;
  return 1;
}

static EIN_BOTH uint64_t ein_feistel_round(const ein_feistel *f, int round, uint64_t value) {
  uint64_t left = value >> f->right, right = value & (((uint64_t)1 << f->right) - 1);
  uint64_t from = round & 1 ? left : right; /* at most 31 bits */
  const uint32_t ctr[4] = {(uint32_t)from, (uint32_t)f->H, (uint32_t)(f->H >> 32),
                           EIN_STREAM_PERMUTATION + ((uint32_t)round << 8)};
  uint32_t word[4];
  ein_philox4x32_10(ctr, f->key, word);
  if (round & 1)
    right ^= word[0] & (((uint64_t)1 << f->right) - 1);
  else
    left ^= word[0] & (((uint64_t)1 << f->left) - 1);
  return left << f->right | right;
}

EIN_BOTH EIN_API int64_t ein_permutation(int64_t seed, int64_t h, int64_t H) {
  ein_feistel f;
  if (!ein_feistel_start(&f, seed, h, H)) return -1;
  uint64_t value = (uint64_t)h;
  do {
    for (int round = 0; round < EIN_FEISTEL_ROUNDS; round++) value = ein_feistel_round(&f, round, value);
  } while (value >= f.H);
  return (int64_t)value;
}

EIN_BOTH EIN_API int64_t ein_inverse_permutation(int64_t seed, int64_t h, int64_t H) {
  ein_feistel f;
  if (!ein_feistel_start(&f, seed, h, H)) return -1;
  uint64_t value = (uint64_t)h;
  do {
    for (int round = EIN_FEISTEL_ROUNDS - 1; round >= 0; round--)
      value = ein_feistel_round(&f, round, value);
  } while (value >= f.H);
  return (int64_t)value;
}
