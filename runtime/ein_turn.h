/* SPDX-License-Identifier: MIT-0 */
/*
 * Small squares transposed where they are, in registers: what stands between a fetch along one index and
 * a store along another. The square's rows lie next to each other; 8 divides their number. Done by vectors as wide as the machine
 * has them; a compiler without shuffles takes the plain loop, with the same result.
 */
#ifndef EIN_TURN_H
#define EIN_TURN_H

#include <stdint.h>
#include <string.h>

#if defined(__GNUC__)
#define EIN_TURN_INLINE static inline __attribute__((always_inline, unused))
#else
#define EIN_TURN_INLINE static inline
#endif

#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define EIN_TURN_SHUFFLES
#endif
#endif

#define EIN_TURN_PLAIN(name, T)                                                                    \
  EIN_TURN_INLINE void name(T *a, int n) {                                                         \
    for (int i = 1; i < n; i++)                                                                    \
      for (int j = 0; j < i; j++) {                                                                \
        T x, y; /* copied, as what lies there may be of another type of that size */               \
        memcpy(&x, a + i * n + j, sizeof(T));                                                      \
        memcpy(&y, a + j * n + i, sizeof(T));                                                      \
        memcpy(a + i * n + j, &y, sizeof(T));                                                      \
        memcpy(a + j * n + i, &x, sizeof(T));                                                      \
      }                                                                                            \
  }

#ifdef EIN_TURN_SHUFFLES

/* One exchange: lanes whose number has bit `s` change places with those of the vector s rows below. */
#define EIN_TURN_2_1(a, b, low, high)                                                            \
  low = __builtin_shufflevector(a, b, 0, 2);                                              \
  high = __builtin_shufflevector(a, b, 1, 3)
#define EIN_TURN_4_1(a, b, low, high)                                                            \
  low = __builtin_shufflevector(a, b, 0, 4, 2, 6);                                              \
  high = __builtin_shufflevector(a, b, 1, 5, 3, 7)
#define EIN_TURN_4_2(a, b, low, high)                                                            \
  low = __builtin_shufflevector(a, b, 0, 1, 4, 5);                                              \
  high = __builtin_shufflevector(a, b, 2, 3, 6, 7)
#define EIN_TURN_8_1(a, b, low, high)                                                            \
  low = __builtin_shufflevector(a, b, 0, 8, 2, 10, 4, 12, 6, 14);                                              \
  high = __builtin_shufflevector(a, b, 1, 9, 3, 11, 5, 13, 7, 15)
#define EIN_TURN_8_2(a, b, low, high)                                                            \
  low = __builtin_shufflevector(a, b, 0, 1, 8, 9, 4, 5, 12, 13);                                              \
  high = __builtin_shufflevector(a, b, 2, 3, 10, 11, 6, 7, 14, 15)
#define EIN_TURN_8_4(a, b, low, high)                                                            \
  low = __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11);                                              \
  high = __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15)
#define EIN_TURN_16_1(a, b, low, high)                                                           \
  low = __builtin_shufflevector(a, b, 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30);   \
  high = __builtin_shufflevector(a, b, 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31)
#define EIN_TURN_16_2(a, b, low, high)                                                           \
  low = __builtin_shufflevector(a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29);   \
  high = __builtin_shufflevector(a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31)
#define EIN_TURN_16_4(a, b, low, high)                                                           \
  low = __builtin_shufflevector(a, b, 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27);   \
  high = __builtin_shufflevector(a, b, 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31)
#define EIN_TURN_16_8(a, b, low, high)                                                           \
  low = __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);   \
  high = __builtin_shufflevector(a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31)

#define EIN_TURN_STAGE(W, s, x)                                                                    \
  for (int i = 0; i < W; i++)                                                                      \
    if (!(i & s)) {                                                                                \
      V low, high;                                                                                 \
      EIN_TURN_##W##_##s(x[i], x[i + s], low, high);                                               \
      x[i] = low, x[i + s] = high;                                                                 \
    }
#define EIN_TURN_STAGES_2(x) EIN_TURN_STAGE(2, 1, x)
#define EIN_TURN_STAGES_4(x) EIN_TURN_STAGE(4, 1, x) EIN_TURN_STAGE(4, 2, x)
#define EIN_TURN_STAGES_8(x) EIN_TURN_STAGE(8, 1, x) EIN_TURN_STAGE(8, 2, x) EIN_TURN_STAGE(8, 4, x)
#define EIN_TURN_STAGES_16(x)                                                                      \
  EIN_TURN_STAGE(16, 1, x) EIN_TURN_STAGE(16, 2, x) EIN_TURN_STAGE(16, 4, x) EIN_TURN_STAGE(16, 8, x)

/* W by W elements at a time: what lies above the diagonal changes places with what lies below. */
#define EIN_TURN_BLOCKS(name, T, W)                                                                \
  EIN_TURN_INLINE void name(T *a, int n) {                                                         \
    typedef T V __attribute__((vector_size(W * sizeof(T))));                                       \
    for (int r = 0; r < n; r += W)                                                                 \
      for (int c = 0; c <= r; c += W) {                                                            \
        V x[W], y[W];                                                                              \
        for (int i = 0; i < W; i++) memcpy(&x[i], a + (r + i) * n + c, sizeof(V));                 \
        EIN_TURN_STAGES_##W(x)                                                                     \
        if (c < r) {                                                                               \
          for (int i = 0; i < W; i++) memcpy(&y[i], a + (c + i) * n + r, sizeof(V));               \
          EIN_TURN_STAGES_##W(y)                                                                   \
          for (int i = 0; i < W; i++) memcpy(a + (r + i) * n + c, &y[i], sizeof(V));               \
        }                                                                                          \
        for (int i = 0; i < W; i++) memcpy(a + (c + i) * n + r, &x[i], sizeof(V));                 \
      }                                                                                            \
  }

#if defined(__AVX512F__)
EIN_TURN_BLOCKS(ein_turn_32_by_16, uint32_t, 16)
EIN_TURN_BLOCKS(ein_turn_32_by_8, uint32_t, 8)
EIN_TURN_INLINE void ein_turn_32(uint32_t *a, int n) {
  if (n % 16 == 0) ein_turn_32_by_16(a, n);
  else ein_turn_32_by_8(a, n);
}
EIN_TURN_BLOCKS(ein_turn_64, uint64_t, 8)
#elif defined(__AVX2__)
EIN_TURN_BLOCKS(ein_turn_32, uint32_t, 8)
EIN_TURN_BLOCKS(ein_turn_64, uint64_t, 4)
#else
EIN_TURN_BLOCKS(ein_turn_32, uint32_t, 4)
EIN_TURN_BLOCKS(ein_turn_64, uint64_t, 2)
#endif
/* Short elements, W of which make 16 bytes: vectors are woven with those half of the rows below, once for each bit of a row's number. */
#define EIN_TURN_LOW_8(a, b) __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11)
#define EIN_TURN_HIGH_8(a, b) __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15)
#define EIN_TURN_LOW_16(a, b) __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23)
#define EIN_TURN_HIGH_16(a, b) __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31)
#define EIN_TURN_WEAVE(W, x, y)                                                                    \
  for (int i = 0; i < W / 2; i++) {                                                                \
    y[2 * i] = EIN_TURN_LOW_##W(x[i], x[i + W / 2]);                                               \
    y[2 * i + 1] = EIN_TURN_HIGH_##W(x[i], x[i + W / 2]);                                          \
  }
#define EIN_TURN_WOVEN_8(x, y) EIN_TURN_WEAVE(8, x, y) EIN_TURN_WEAVE(8, y, x) EIN_TURN_WEAVE(8, x, y)
#define EIN_TURN_WOVEN_16(x, y)                                                                    \
  EIN_TURN_WEAVE(16, x, y) EIN_TURN_WEAVE(16, y, x) EIN_TURN_WEAVE(16, x, y) EIN_TURN_WEAVE(16, y, x) \
  for (int i = 0; i < 16; i++) y[i] = x[i];
#define EIN_TURN_SHORT(name, T, W)                                                                 \
  EIN_TURN_PLAIN(name##_plain, T)                                                                  \
  EIN_TURN_INLINE void name(T *a, int n) {                                                         \
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
        EIN_TURN_WOVEN_##W(x, y)                                                                   \
        for (int i = 0; i < W; i++) memcpy(a + (c + i) * n + r, &y[i], 16);                        \
        if (c == r) continue;                                                                      \
        EIN_TURN_WOVEN_##W(z, y)                                                                   \
        for (int i = 0; i < W; i++) memcpy(a + (r + i) * n + c, &y[i], 16);                        \
      }                                                                                            \
  }
EIN_TURN_SHORT(ein_turn_8, uint8_t, 16)
EIN_TURN_SHORT(ein_turn_16, uint16_t, 8)
#else
EIN_TURN_PLAIN(ein_turn_32, uint32_t)
EIN_TURN_PLAIN(ein_turn_64, uint64_t)
EIN_TURN_PLAIN(ein_turn_8, uint8_t)
EIN_TURN_PLAIN(ein_turn_16, uint16_t)
#endif

#endif
