/*
 * Random numbers: Philox against Random123's published known answers, the normal numbers'
 * fixed-point logarithm and cosine against libm, statistics that would show a blunder, pinned bits,
 * and permutations that are bijections.
 */
#include "ein_rt.h"
#include "../tap.h"

#include <math.h>
#include <stdlib.h>

/* The same file once more, with the portable product of two 64-bit words. */
#undef __SIZEOF_INT128__
#define ein_philox4x32_10       portable_philox
#define ein_uniform             portable_uniform
#define ein_normal              portable_normal
#define ein_randint             portable_randint
#define ein_permutation         portable_permutation
#define ein_inverse_permutation portable_inverse_permutation
void portable_philox(const uint32_t ctr[4], const uint32_t key[2], uint32_t out[4]);
float portable_uniform(int64_t seed, int64_t index);
float portable_normal(int64_t seed, int64_t index);
int64_t portable_randint(int64_t seed, int64_t index, int64_t lo, int64_t hi);
int64_t portable_permutation(int64_t seed, int64_t h, int64_t H);
int64_t portable_inverse_permutation(int64_t seed, int64_t h, int64_t H);
#include "math/ein_rng.c"
#undef ein_philox4x32_10
#undef ein_uniform
#undef ein_normal
#undef ein_randint
#undef ein_permutation
#undef ein_inverse_permutation

static void test_philox(void) {
  static const uint32_t known[3][10] = {
      {0, 0, 0, 0, 0, 0, 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8},
      {0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0x408f276d,
       0x41c83b0e, 0xa20bc7c6, 0x6d5451fd},
      {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0, 0xd16cfe09,
       0x94fdcceb, 0x5001e420, 0x24126ea1}};
  static const char *names[3] = {"philox: zeros", "philox: ones", "philox: digits of pi"};
  for (int i = 0; i < 3; i++) {
    uint32_t out[4];
    ein_philox4x32_10(known[i], known[i] + 4, out);
    OK(memcmp(out, known[i] + 6, sizeof out) == 0, "%s", names[i]);
  }
  const uint32_t key[2] = {7, 0}, ctr[4] = {0x89abcdefu, 0x01234567u, 0, 0};
  uint32_t out[4];
  ein_philox4x32_10(ctr, key, out);
  OK(ein_uniform(7, 0x0123456789abcdef) == (float)(out[0] >> 8) / 16777216.0f,
     "uniform: counter and key");
}

static void test_uniform(void) {
  double sum = 0, square = 0;
  float low = 1, high = 0;
  int bins[64] = {0};
  const int n = 1 << 20;
  for (int k = 0; k < n; k++) {
    float u = ein_uniform(3, k);
    low = u < low ? u : low;
    high = u > high ? u : high;
    sum += (double)u;
    square += (double)u * (double)u;
    bins[(int)(u * 64)]++;
  }
  double chi = 0, expected = n / 64.0;
  for (int b = 0; b < 64; b++) chi += (bins[b] - expected) * (bins[b] - expected) / expected;
  OK(low >= 0 && high < 1, "uniform: in [0, 1)");
  OK(fabs(sum / n - 0.5) < 0.002 && fabs(square / n - 1.0 / 3) < 0.002, "uniform: moments");
  OK(chi < 120, "uniform: even over 64 bins");
  OK(ein_uniform(1, 0) != ein_uniform(2, 0) && ein_uniform(-1, 5) != ein_uniform(1, 5),
     "uniform: seeds differ");
  OK(ein_uniform(0, INT64_C(1) << 32) != ein_uniform(0, 0),
     "uniform: the upper half of the index counts");
  OK(ein_uniform(INT64_C(1) << 32, 0) != ein_uniform(0, 0),
     "uniform: the upper half of the seed counts");
}

/* The definition with libm, in long double. */
static double normal_by_libm(int64_t seed, int64_t index) {
  const uint32_t key[2] = {(uint32_t)seed, (uint32_t)((uint64_t)seed >> 32)};
  const uint32_t ctr[4] = {(uint32_t)index, (uint32_t)((uint64_t)index >> 32), 0, 1};
  uint32_t w[4];
  ein_philox4x32_10(ctr, key, w);
  long double u = ((long double)((((uint64_t)w[0] << 32) | w[1]) >> 11) + 1) * 0x1p-53L;
  long double t = (long double)(((uint64_t)w[2] << 32) | w[3]) * 0x1p-64L;
  const long double two_pi = 6.283185307179586476925286766559005768L;
  return (double)(sqrtl(-2 * logl(u)) * cosl(two_pi * t));
}

static int compare_doubles(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double sample[200000];

static void test_normal(void) {
  const int n = (int)(sizeof sample / sizeof *sample);
  double m1 = 0, m2 = 0, m3 = 0, m4 = 0, worst = 0;
  for (int k = 0; k < n; k++) {
    double x = (double)ein_normal(11, k), error = fabs(x - normal_by_libm(11, k));
    worst = fmax(worst, error / fmax(fabs(x), 1e-6));
    m1 += x;
    m2 += x * x;
    m3 += x * x * x;
    m4 += x * x * x * x;
    sample[k] = x;
  }
  printf("# normal: worst relative distance from libm %.3g (half a float's ulp is up to %.3g)\n",
         worst, 0x1p-24);
  OK(worst < 0x1.001p-24, "normal: libm's value, rounded to float");
  OK(fabs(m1 / n) < 0.01 && fabs(m2 / n - 1) < 0.015 && fabs(m3 / n) < 0.03 &&
         fabs(m4 / n - 3) < 0.1,
     "normal: four moments");
  qsort(sample, (size_t)n, sizeof *sample, compare_doubles);
  double distance = 0;
  for (int k = 0; k < n; k++) {
    double p = 0.5 * erfc(-sample[k] / sqrt(2.0));
    distance = fmax(distance, fmax(fabs(p - (double)k / n), fabs(p - (double)(k + 1) / n)));
  }
  OK(distance * sqrt(n) < 1.95, "normal: Kolmogorov and Smirnov");
  double with_uniform = 0, with_next = 0;
  for (int k = 0; k < n; k++) {
    with_uniform += (double)ein_normal(5, k) * ((double)ein_uniform(5, k) - 0.5);
    with_next += (double)ein_normal(5, k) * (double)ein_normal(5, k + 1);
  }
  OK(fabs(with_uniform / n) < 0.005 && fabs(with_next / n) < 0.01,
     "normal: unrelated to uniform and to the next");
}

/* The parts that ein_normal is made of, at their ends. */
static void test_parts(void) {
  double worst = 0;
  for (int e = 0; e <= 53; e++) {
    for (int j = -3; j <= 3; j++) {
      int64_t n = ((int64_t)1 << e) + j;
      if (n < 1 || n > (int64_t)1 << 53) continue;
      double want = (double)-logl((long double)n * 0x1p-53L),
             met = (double)ein_rng_minus_log((uint64_t)n) * 0x1p-58;
      worst = fmax(worst, fabs(met - want) - 0x1p-52 * want);
    }
  }
  OK(worst < 0x1p-56, "logarithm: at the powers of two and beside");
  OK(ein_rng_minus_log((uint64_t)1 << 53) == 0, "logarithm of one");
  worst = 0;
  for (uint64_t k = 0; k < 4096; k++) {
    for (int j = -1; j <= 1; j++) {
      uint64_t turn = (k << 52) + (uint64_t)j;
      double want =
          (double)cosl(6.283185307179586476925286766559L * ((long double)turn * 0x1p-64L));
      worst = fmax(worst, fabs(ein_rng_cos_of_turn(turn) - want));
    }
  }
  OK(worst < 0x1p-52, "cosine: all round, at the eighths and beside");
  OK(ein_rng_cos_of_turn(0) == 1 && ein_rng_cos_of_turn((uint64_t)1 << 63) == -1,
     "cosine of nothing and of half a turn");
  double largest = sqrt((double)ein_rng_minus_log(1) * 0x1p-57);
  OK(isfinite(largest) && largest > 8.57 && largest < 8.58,
     "normal: the largest magnitude is finite");
}

static void test_pinned(void) {
  static const float uniforms[4] = {0x1.39d5ep-1f, 0x1.f9b642p-1f, 0x1.a6d804p-1f, 0x1.758e08p-1f};
  static const float normals[4] = {-0x1.ed8476p-1f, 0x1.36deaep+0f, -0x1.45679ep+0f,
                                   -0x1.35598p-2f};
  int good = 1;
  for (int k = 0; k < 4; k++)
    good &= ein_uniform(42, k) == uniforms[k] && ein_normal(42, k) == normals[k];
  OK(good, "the bits of uniform and normal are these");
  static const int64_t entries[8] = {105, 269, 475, 869, 66, 264, 424, 831};
  for (int64_t h = 0; h < 8; h++) good &= ein_permutation(42, h, 1000) == entries[h];
  OK(good, "permutations are the same too");
  for (int64_t k = 0; k < 20000 && good; k++) {
    good &=
        ein_uniform(9, k) == portable_uniform(9, k) && ein_normal(9, k) == portable_normal(9, k);
    good &= ein_randint(9, k, -7, 1000003) == portable_randint(9, k, -7, 1000003);
  }
  OK(good, "the same bits without a 128-bit integer");
  OK(ein_permutation(1, 5, 99) == portable_permutation(1, 5, 99) &&
         ein_inverse_permutation(1, 5, 99) == portable_inverse_permutation(1, 5, 99),
     "for permutations too");
}

static void test_randint(void) {
  int bins[11] = {0}, good = 1;
  for (int k = 0; k < 110000; k++) {
    int64_t v = ein_randint(7, k, -5, 5);
    good &= v >= -5 && v <= 5;
    if (good) bins[v + 5]++;
  }
  for (int b = 0; b < 11; b++) good &= bins[b] > 9600 && bins[b] < 10400;
  OK(good, "randint: both ends, evenly");
  int low = 0, high = 0;
  for (int k = 0; k < 100; k++) {
    int64_t v = ein_randint(1, k, INT64_MIN, INT64_MAX);
    low += v < 0;
    high += v >= 0;
  }
  OK(low > 25 && high > 25, "randint: all of int64");
  OK(ein_randint(1, 1, 4, 4) == 4 && ein_randint(1, 1, 4, 3) == 4, "randint: one value, and none");
}

static int is_bijection(int64_t seed, int64_t H) {
  char seen[301] = {0};
  for (int64_t h = 0; h < H; h++) {
    int64_t p = ein_permutation(seed, h, H);
    if (p < 0 || p >= H || seen[p]++ || ein_inverse_permutation(seed, p, H) != h) return 0;
  }
  return 1;
}

static void test_permutations(void) {
  int good = 1;
  for (int64_t H = 1; H <= 300; H++) good &= is_bijection(H * 31 - 77, H);
  OK(good, "permutation: a bijection with its inverse, for 1 to 300");
  static const int64_t large[] = {1000003,          INT64_C(1) << 31,       (INT64_C(1) << 32) + 1,
                                  INT64_C(1) << 61, (INT64_C(1) << 61) + 1, INT64_C(1) << 62};
  for (size_t i = 0; i < sizeof large / sizeof *large; i++) {
    for (int64_t k = 0; k < 200; k++) {
      int64_t h = large[i] / 200 * k + k, p = ein_permutation(k, h, large[i]);
      good &= p >= 0 && p < large[i] && ein_inverse_permutation(k, p, large[i]) == h;
      good &= ein_permutation(k, ein_inverse_permutation(k, h, large[i]), large[i]) == h;
    }
  }
  OK(good, "permutation: large ones and their inverses");
  OK(ein_permutation(0, -1, 5) == -1 && ein_permutation(0, 5, 5) == -1 &&
         ein_permutation(0, 0, 0) == -1 && ein_permutation(0, 0, (INT64_C(1) << 62) + 1) == -1 &&
         ein_inverse_permutation(0, 9, 5) == -1,
     "permutation: out of range is -1");
  int orders[24] = {0};
  for (int64_t seed = 0; seed < 24000; seed++) {
    int64_t p[4];
    int rank = 0;
    for (int64_t h = 0; h < 4; h++) p[h] = ein_permutation(seed, h, 4);
    for (int i = 0; i < 4; i++) {
      int below = 0;
      for (int j = i + 1; j < 4; j++) below += p[j] < p[i];
      rank = rank * (4 - i) + below;
    }
    orders[rank]++;
  }
  double chi = 0;
  for (int i = 0; i < 24; i++) chi += (orders[i] - 1000.0) * (orders[i] - 1000.0) / 1000.0;
  printf("# permutation: chi square of the orders of four, 23 degrees of freedom: %.1f\n", chi);
  OK(chi < 55, "permutation: all orders of four, evenly");
  int64_t fixed = 0;
  for (int64_t h = 0; h < 100000; h++) fixed += ein_permutation(3, h, 100000) == h;
  OK(fixed < 8, "permutation: few fixed points");
}

int main(void) {
  test_philox();
  test_uniform();
  test_normal();
  test_parts();
  test_pinned();
  test_randint();
  test_permutations();
  return DONE();
}
