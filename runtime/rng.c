/* SPDX-License-Identifier: MIT-0 */
/*
 * Random numbers without a state: seed and index in, one value out, so no partitioning of the work can change
 * a value. Philox4x32-10 is that of Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as
 * 1, 2, 3" (2011).
 *
 * The logarithm and the cosine of the normal numbers are computed in fixed point, with integers alone. So
 * there is nothing that fused multiply-add, reordering or another libm could change, whatever the compiler
 * and its flags; the few floating-point operations left (one conversion each, exact scalings, a square root,
 * one product, one rounding to float) are correctly rounded everywhere and cannot be contracted. The
 * same text works in CUDA.
 */
#include "ein_rt.h"

#include <math.h>

/* ctr[3] says what a block is for, so the same seed gives unrelated streams. */
enum { STREAM_UNIFORM = 0, STREAM_NORMAL = 1, STREAM_INTEGER = 2, STREAM_PERMUTATION = 3 };

void ein_philox4x32_10(const uint32_t ctr[4], const uint32_t key[2], uint32_t out[4]) {
    uint32_t c0 = ctr[0], c1 = ctr[1], c2 = ctr[2], c3 = ctr[3];
    uint32_t k0 = key[0], k1 = key[1];
    for (int round = 0; round < 10; round++) {
        uint64_t p0 = (uint64_t)0xD2511F53u * c0;
        uint64_t p1 = (uint64_t)0xCD9E8D57u * c2;
        c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
        c1 = (uint32_t)p1;
        c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
        c3 = (uint32_t)p0;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    out[0] = c0;
    out[1] = c1;
    out[2] = c2;
    out[3] = c3;
}

static void block(int64_t seed, int64_t index, uint32_t stream, uint32_t out[4]) {
    const uint64_t s = (uint64_t)seed, i = (uint64_t)index;
    const uint32_t key[2] = {(uint32_t)s, (uint32_t)(s >> 32)};
    const uint32_t ctr[4] = {(uint32_t)i, (uint32_t)(i >> 32), 0, stream};
    ein_philox4x32_10(ctr, key, out);
}

static uint64_t join(uint32_t high, uint32_t low) {
    return (uint64_t)high << 32 | low;
}

/* The upper 64 bits of a * b. In fixed point with 64 bits after the point: the product, rounded down. */
static uint64_t mul_high(uint64_t a, uint64_t b) {
    uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
    uint64_t cross = a1 * b0 + (a0 * b0 >> 32);
    uint64_t other = a0 * b1 + (uint32_t)cross;
    return a1 * b1 + (cross >> 32) + (other >> 32);
}

float ein_uniform(int64_t seed, int64_t index) {
    uint32_t word[4];
    block(seed, index, STREAM_UNIFORM, word);
    return (float)(word[0] >> 8) * 0x1p-24f;
}

int64_t ein_randint(int64_t seed, int64_t index, int64_t lo, int64_t hi) {
    if (hi <= lo)
        return lo;
    uint32_t word[4];
    block(seed, index, STREAM_INTEGER, word);
    uint64_t span = (uint64_t)hi - (uint64_t)lo + 1; /* 0 stands for 2^64 */
    uint64_t bits = join(word[0], word[1]);
    uint64_t value = (uint64_t)lo + (span ? mul_high(bits, span) : bits);
    return value <= INT64_MAX ? (int64_t)value : -(int64_t)~value - 1;
}

/* ---- log and cosine in fixed point: Qn means n bits after the binary point ---- */

#define ONE_OVER(n) (UINT64_MAX / (n)) /* 1/n in Q64 */

/* atanh(s)/s - 1 = s2/3 + s2^2/5 + ... in Q64, for s2 = s*s in Q64, s below 0.172: below 2^-61 is dropped. */
static uint64_t atanh_tail(uint64_t s2) {
    uint64_t p = ONE_OVER(25);
    p = ONE_OVER(23) + mul_high(s2, p);
    p = ONE_OVER(21) + mul_high(s2, p);
    p = ONE_OVER(19) + mul_high(s2, p);
    p = ONE_OVER(17) + mul_high(s2, p);
    p = ONE_OVER(15) + mul_high(s2, p);
    p = ONE_OVER(13) + mul_high(s2, p);
    p = ONE_OVER(11) + mul_high(s2, p);
    p = ONE_OVER(9) + mul_high(s2, p);
    p = ONE_OVER(7) + mul_high(s2, p);
    p = ONE_OVER(5) + mul_high(s2, p);
    p = ONE_OVER(3) + mul_high(s2, p);
    return mul_high(s2, p);
}

/*
 * |ln m| in Q64 for m in Q63 between sqrt(1/2) and sqrt(2): ln m = 2 atanh((m - 1)/(m + 1)). The
 * reciprocal of m + 1 comes from one 32-bit division and one Newton step, good to about 60 bits.
 */
static uint64_t log_near_one(uint64_t m) {
    const uint64_t one = (uint64_t)1 << 63;
    uint64_t gap = m > one ? m - one : one - m;                   /* Q63 */
    uint64_t d = (m >> 2) + (one >> 2);                           /* m + 1 in Q61, 1.7 to 2.42 */
    uint64_t r = (((uint64_t)1 << 62) / (d >> 31)) << 31;         /* about 1/d, in Q63 */
    uint64_t dr = mul_high(d, r);                                 /* d * r, about 1, in Q60 */
    r = mul_high(r, ((uint64_t)2 << 60) - dr) << 3;               /* r * (2 - d r): Q59, then Q62 */
    uint64_t s = mul_high(gap, r) << 3;                           /* Q61, then Q64; below 0.172 */
    uint64_t s2 = mul_high(s, s);
    return 2 * (s + mul_high(s, atanh_tail(s2)));
}

/* -ln(n / 2^53) in Q58, for n in 1 .. 2^53. */
static uint64_t minus_log(uint64_t n) {
    const uint64_t ln2 = 0x02C5C85FDF473DE7u;      /* Q58 */
    const uint64_t sqrt2 = 0xB504F333F9DE6484u;    /* Q63 */
    int halvings = 53;                             /* n/2^53 = m / 2^halvings, m in Q63 below */
    uint64_t m = (uint64_t)1 << 63;
    while (n < (uint64_t)1 << 32) {
        n <<= 21;
        halvings += 21;
    }
    while (n < (uint64_t)1 << 63) {
        n <<= 1;
        halvings++;
    }
    halvings -= 63;
    m = n;
    if (m > sqrt2) {
        m >>= 1;
        halvings--;
    }
    uint64_t whole = (uint64_t)halvings * ln2;
    uint64_t part = log_near_one(m) >> 6;
    if (m < (uint64_t)1 << 63)
        return whole + part;
    return whole > part ? whole - part : 0;
}
