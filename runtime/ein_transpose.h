/* SPDX-License-Identifier: MIT-0 */
/*
 * Transposes small squares in place, in registers, between a load along one index and a store along another.
 * The square's rows are adjacent; their number is a multiple of 8. It uses the machine's widest vectors.
 * Compilers without shuffles use a plain loop, with the same result.
 */
#ifndef EIN_TRANSPOSE_H
#define EIN_TRANSPOSE_H

#include <stdint.h>
#include <string.h>

#if defined(__GNUC__)
#define EIN_SWAP_INLINE static inline __attribute__((always_inline, unused))
#else
#define EIN_SWAP_INLINE static inline
#endif

#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define EIN_SWAP_SHUFFLES
#endif
#endif

#define EIN_SWAP_PLAIN(name, T)                                                                    \
  EIN_SWAP_INLINE void name(T *a, int n) {                                                         \
    for (int i = 1; i < n; i++)                                                                    \
      for (int j = 0; j < i; j++) {                                                                \
        T x, y; /* copied: the memory may have another type of this size */                        \
        memcpy(&x, a + i * n + j, sizeof(T));                                                      \
        memcpy(&y, a + j * n + i, sizeof(T));                                                      \
        memcpy(a + i * n + j, &y, sizeof(T));                                                      \
        memcpy(a + j * n + i, &x, sizeof(T));                                                      \
      }                                                                                            \
  }

#ifdef EIN_SWAP_SHUFFLES

/* Exchanges of two vectors, for which processors have instructions that overwrite neither. ONES and WIDE weave, in
 * every 16 bytes, elements of 32 and of 64 bits: lower halves and upper halves. LANES and WIDE_LANES take every second
 * 16 bytes: the even ones and the odd ones. The number says how many elements a vector has. */
#define EIN_SWAP_ONES_4(a, b, low, high)                                                           \
  low = __builtin_shufflevector(a, b, 0, 4, 1, 5);                                                 \
  high = __builtin_shufflevector(a, b, 2, 6, 3, 7)
#define EIN_SWAP_ONES_8(a, b, low, high)                                                           \
  low = __builtin_shufflevector(a, b, 0, 8, 1, 9, 4, 12, 5, 13);                                   \
  high = __builtin_shufflevector(a, b, 2, 10, 3, 11, 6, 14, 7, 15)
#define EIN_SWAP_LANES_8(a, b, low, high)                                                          \
  low = __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11);                                   \
  high = __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15)
#define EIN_SWAP_ONES_16(a, b, low, high)                                                          \
  low = __builtin_shufflevector(a, b, 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29);   \
  high = __builtin_shufflevector(a, b, 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31)
#define EIN_SWAP_LANES_16(a, b, low, high)                                                         \
  low = __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27);   \
  high = __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31)
#define EIN_SWAP_WIDE_2(a, b, low, high)                                                           \
  low = __builtin_shufflevector(a, b, 0, 2);                                                       \
  high = __builtin_shufflevector(a, b, 1, 3)
#define EIN_SWAP_WIDE_4(a, b, low, high)                                                           \
  low = __builtin_shufflevector(a, b, 0, 4, 2, 6);                                                 \
  high = __builtin_shufflevector(a, b, 1, 5, 3, 7)
#define EIN_SWAP_WIDE_LANES_4(a, b, low, high)                                                     \
  low = __builtin_shufflevector(a, b, 0, 1, 4, 5);                                                 \
  high = __builtin_shufflevector(a, b, 2, 3, 6, 7)
#define EIN_SWAP_WIDE_8(a, b, low, high)                                                           \
  low = __builtin_shufflevector(a, b, 0, 8, 2, 10, 4, 12, 6, 14);                                  \
  high = __builtin_shufflevector(a, b, 1, 9, 3, 11, 5, 13, 7, 15)
#define EIN_SWAP_WIDE_LANES_8(a, b, low, high)                                                     \
  low = __builtin_shufflevector(a, b, 0, 1, 4, 5, 8, 9, 12, 13);                                   \
  high = __builtin_shufflevector(a, b, 2, 3, 6, 7, 10, 11, 14, 15)

/* The rows of a W by W square are named x0 to x15, and each operation on them is written out: a compiler that
 * must first unroll loops over arrays of rows takes as long for one square as for the rest of the kernel (seen
 * with Clang 19). */
#define EIN_SWAP_ALL_2(DO, x, ...) DO(x##0, 0, __VA_ARGS__) DO(x##1, 1, __VA_ARGS__)
#define EIN_SWAP_ALL_4(DO, x, ...) EIN_SWAP_ALL_2(DO, x, __VA_ARGS__) DO(x##2, 2, __VA_ARGS__) DO(x##3, 3, __VA_ARGS__)
#define EIN_SWAP_ALL_8(DO, x, ...)                                                                 \
  EIN_SWAP_ALL_4(DO, x, __VA_ARGS__)                                                               \
  DO(x##4, 4, __VA_ARGS__) DO(x##5, 5, __VA_ARGS__) DO(x##6, 6, __VA_ARGS__) DO(x##7, 7, __VA_ARGS__)
#define EIN_SWAP_ALL_16(DO, x, ...)                                                                \
  EIN_SWAP_ALL_8(DO, x, __VA_ARGS__)                                                               \
  DO(x##8, 8, __VA_ARGS__) DO(x##9, 9, __VA_ARGS__) DO(x##10, 10, __VA_ARGS__) DO(x##11, 11, __VA_ARGS__) \
  DO(x##12, 12, __VA_ARGS__) DO(x##13, 13, __VA_ARGS__) DO(x##14, 14, __VA_ARGS__) DO(x##15, 15, __VA_ARGS__)

#define EIN_SWAP_ROW(x, i, V) V x;
#define EIN_SWAP_LOAD(x, i, from, n) memcpy(&x, (from) + i * (n), sizeof x);
#define EIN_SWAP_STORE(x, i, to, n) memcpy((to) + i * (n), &x, sizeof x);

#define EIN_SWAP_PAIR(exchange, a, b)                                                              \
  {                                                                                                \
    V low, high;                                                                                   \
    EIN_SWAP_##exchange(a, b, low, high);                                                          \
    a = low, b = high;                                                                             \
  }
/* Four rows of 32-bit elements: within each 16 bytes, a square of four. Pairs of elements are exchanged as 64-bit
 * elements, as compilers do not see by themselves. */
#define EIN_SWAP_QUAD(wide, ones, a, b, c, d)                                                      \
  EIN_SWAP_PAIR(ones, a, b)                                                                        \
  EIN_SWAP_PAIR(ones, c, d)                                                                        \
  {                                                                                                \
    typedef uint64_t V64 __attribute__((vector_size(sizeof(V))));                                  \
    V64 x, y, z, w;                                                                                \
    EIN_SWAP_##wide((V64)a, (V64)c, x, y);                                                         \
    EIN_SWAP_##wide((V64)b, (V64)d, z, w);                                                         \
    a = (V)x, b = (V)y, c = (V)z, d = (V)w;                                                        \
  }
/* Four rows of four times 16 bytes each, as a square of these. */
#define EIN_SWAP_LANES_OF_4(lanes, a, b, c, d)                                                     \
  EIN_SWAP_PAIR(lanes, a, b)                                                                       \
  EIN_SWAP_PAIR(lanes, c, d) EIN_SWAP_PAIR(lanes, a, c) EIN_SWAP_PAIR(lanes, b, d)

#define EIN_SWAP_STAGES_32_4(x) EIN_SWAP_QUAD(WIDE_2, ONES_4, x##0, x##1, x##2, x##3)
#define EIN_SWAP_STAGES_32_8(x)                                                                    \
  EIN_SWAP_QUAD(WIDE_4, ONES_8, x##0, x##1, x##2, x##3)                                            \
  EIN_SWAP_QUAD(WIDE_4, ONES_8, x##4, x##5, x##6, x##7)                                            \
  EIN_SWAP_PAIR(LANES_8, x##0, x##4)                                                               \
  EIN_SWAP_PAIR(LANES_8, x##1, x##5) EIN_SWAP_PAIR(LANES_8, x##2, x##6) EIN_SWAP_PAIR(LANES_8, x##3, x##7)
#define EIN_SWAP_STAGES_32_16(x)                                                                   \
  EIN_SWAP_QUAD(WIDE_8, ONES_16, x##0, x##1, x##2, x##3)                                           \
  EIN_SWAP_QUAD(WIDE_8, ONES_16, x##4, x##5, x##6, x##7)                                           \
  EIN_SWAP_QUAD(WIDE_8, ONES_16, x##8, x##9, x##10, x##11)                                         \
  EIN_SWAP_QUAD(WIDE_8, ONES_16, x##12, x##13, x##14, x##15)                                       \
  EIN_SWAP_LANES_OF_4(LANES_16, x##0, x##4, x##8, x##12)                                           \
  EIN_SWAP_LANES_OF_4(LANES_16, x##1, x##5, x##9, x##13)                                           \
  EIN_SWAP_LANES_OF_4(LANES_16, x##2, x##6, x##10, x##14)                                          \
  EIN_SWAP_LANES_OF_4(LANES_16, x##3, x##7, x##11, x##15)
#define EIN_SWAP_STAGES_64_2(x) EIN_SWAP_PAIR(WIDE_2, x##0, x##1)
#define EIN_SWAP_STAGES_64_4(x)                                                                    \
  EIN_SWAP_PAIR(WIDE_4, x##0, x##1)                                                                \
  EIN_SWAP_PAIR(WIDE_4, x##2, x##3)                                                                \
  EIN_SWAP_PAIR(WIDE_LANES_4, x##0, x##2) EIN_SWAP_PAIR(WIDE_LANES_4, x##1, x##3)
#define EIN_SWAP_STAGES_64_8(x)                                                                    \
  EIN_SWAP_PAIR(WIDE_8, x##0, x##1)                                                                \
  EIN_SWAP_PAIR(WIDE_8, x##2, x##3) EIN_SWAP_PAIR(WIDE_8, x##4, x##5) EIN_SWAP_PAIR(WIDE_8, x##6, x##7) \
  EIN_SWAP_LANES_OF_4(WIDE_LANES_8, x##0, x##2, x##4, x##6)                                        \
  EIN_SWAP_LANES_OF_4(WIDE_LANES_8, x##1, x##3, x##5, x##7)

/* W by W blocks: each block above the diagonal is swapped with its mirror image below. */
#define EIN_SWAP_BLOCKS(name, bits, W)                                                             \
  EIN_SWAP_INLINE void name(uint##bits##_t *a, int n) {                                            \
    typedef uint##bits##_t V __attribute__((vector_size(W * bits / 8)));                           \
    for (int r = 0; r < n; r += W)                                                                 \
      for (int c = 0; c <= r; c += W) {                                                            \
        uint##bits##_t *below = a + r * n + c, *above = a + c * n + r;                             \
        EIN_SWAP_ALL_##W(EIN_SWAP_ROW, x, V)                                                       \
        EIN_SWAP_ALL_##W(EIN_SWAP_LOAD, x, below, n)                                               \
        EIN_SWAP_STAGES_##bits##_##W(x)                                                            \
        if (c < r) {                                                                               \
          EIN_SWAP_ALL_##W(EIN_SWAP_ROW, y, V)                                                     \
          EIN_SWAP_ALL_##W(EIN_SWAP_LOAD, y, above, n)                                             \
          EIN_SWAP_STAGES_##bits##_##W(y)                                                          \
          EIN_SWAP_ALL_##W(EIN_SWAP_STORE, y, below, n)                                            \
        }                                                                                          \
        EIN_SWAP_ALL_##W(EIN_SWAP_STORE, x, above, n)                                              \
      }                                                                                            \
  }

/* A square of one block. */
#define EIN_SWAP_ONE(name, bits, W)                                                                \
  EIN_SWAP_INLINE void name(uint##bits##_t *a) {                                                   \
    typedef uint##bits##_t V __attribute__((vector_size(W * bits / 8)));                           \
    EIN_SWAP_ALL_##W(EIN_SWAP_ROW, x, V)                                                           \
    EIN_SWAP_ALL_##W(EIN_SWAP_LOAD, x, a, W)                                                       \
    EIN_SWAP_STAGES_##bits##_##W(x)                                                                \
    EIN_SWAP_ALL_##W(EIN_SWAP_STORE, x, a, W)                                                      \
  }

#if defined(__AVX512F__)
EIN_SWAP_BLOCKS(ein_transpose_32_by_16, 32, 16)
EIN_SWAP_BLOCKS(ein_transpose_32_by_8, 32, 8)
EIN_SWAP_ONE(ein_transpose_32_one, 32, 16)
/* A macro, so that the compiler knows n before it generates code for the other cases; that saves a third of
 * Clang's time for a square. */
#define ein_transpose_32(a, n)                                                                     \
  ((n) == 16 ? ein_transpose_32_one(a) : (n) % 16 == 0 ? ein_transpose_32_by_16(a, n) : ein_transpose_32_by_8(a, n))
EIN_SWAP_BLOCKS(ein_transpose_64, 64, 8)
#elif defined(__AVX2__)
EIN_SWAP_BLOCKS(ein_transpose_32, 32, 8)
EIN_SWAP_BLOCKS(ein_transpose_64, 64, 4)
#else
EIN_SWAP_BLOCKS(ein_transpose_32, 32, 4)
EIN_SWAP_BLOCKS(ein_transpose_64, 64, 2)
#endif
/* Short elements, W of which make 16 bytes: interleaves each vector of the upper half of the rows with one of
 * the lower half, once per bit of the row number. */
#define EIN_SWAP_LOW_8(a, b) __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11)
#define EIN_SWAP_HIGH_8(a, b) __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15)
#define EIN_SWAP_LOW_16(a, b) __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23)
#define EIN_SWAP_HIGH_16(a, b)                                                                     \
  __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31)
#define EIN_SWAP_WEAVE(W, x, y)                                                                    \
  for (int i = 0; i < W / 2; i++) {                                                                \
    y[2 * i] = EIN_SWAP_LOW_##W(x[i], x[i + W / 2]);                                               \
    y[2 * i + 1] = EIN_SWAP_HIGH_##W(x[i], x[i + W / 2]);                                          \
  }
#define EIN_SWAP_WOVEN_8(x, y) EIN_SWAP_WEAVE(8, x, y) EIN_SWAP_WEAVE(8, y, x) EIN_SWAP_WEAVE(8, x, y)
#define EIN_SWAP_WOVEN_16(x, y)                                                                    \
  EIN_SWAP_WEAVE(16, x, y) EIN_SWAP_WEAVE(16, y, x) EIN_SWAP_WEAVE(16, x, y) EIN_SWAP_WEAVE(16, y, x) \
  for (int i = 0; i < 16; i++) y[i] = x[i];
#define EIN_SWAP_SHORT(name, T, W)                                                                 \
  EIN_SWAP_PLAIN(name##_plain, T)                                                                  \
  EIN_SWAP_INLINE void name(T *a, int n) {                                                         \
    typedef T V __attribute__((vector_size(16)));                                                  \
    if (n % W) {                                                                                   \
      name##_plain(a, n);                                                                          \
      return;                                                                                      \
    }                                                                                              \
    for (int r = 0; r < n; r += W)                                                                 \
      for (int c = 0; c <= r; c += W) {                                                            \
        V x[W], y[W], z[W];                                                                        \
        for (int i = 0; i < W; i++) memcpy(&x[i], a + (r + i) * n + c, 16);                        \
        for (int i = 0; i < W; i++) memcpy(&z[i], a + (c + i) * n + r, 16);                        \
        EIN_SWAP_WOVEN_##W(x, y)                                                                   \
        for (int i = 0; i < W; i++) memcpy(a + (c + i) * n + r, &y[i], 16);                        \
        if (c == r) continue;                                                                      \
        EIN_SWAP_WOVEN_##W(z, y)                                                                   \
        for (int i = 0; i < W; i++) memcpy(a + (r + i) * n + c, &y[i], 16);                        \
      }                                                                                            \
  }
EIN_SWAP_SHORT(ein_transpose_8, uint8_t, 16)
EIN_SWAP_SHORT(ein_transpose_16, uint16_t, 8)
#else
EIN_SWAP_PLAIN(ein_transpose_32, uint32_t)
EIN_SWAP_PLAIN(ein_transpose_64, uint64_t)
EIN_SWAP_PLAIN(ein_transpose_8, uint8_t)
EIN_SWAP_PLAIN(ein_transpose_16, uint16_t)
#endif

#endif
