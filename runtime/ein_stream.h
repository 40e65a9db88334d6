/* SPDX-License-Identifier: MIT-0 */
/*
 * Stores that bypass the cache, for results so large that no part of them would still be in the cache when it
 * is read. A line of 64 bytes that is written whole need not be read first, and evicts nothing. Only whole
 * lines are streamed; what lies before the first and after the last whole line is stored as usual, and so is
 * everything on machines and with compilers without such stores. Before another thread reads the result, each
 * thread calls ein_stream_end once, after its part of the kernel: it waits for the streamed stores to reach
 * memory.
 */
#ifndef EIN_STREAM_H
#define EIN_STREAM_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__GNUC__)
#define EIN_STREAM_INLINE static inline __attribute__((always_inline, unused))
#define EIN_STREAM_CALL static __attribute__((noinline, unused))
#define EIN_STREAM_V(bytes) typedef float V __attribute__((vector_size(bytes)))
#define EIN_STREAM_KNOWN(n) __builtin_constant_p(n)
#else
#define EIN_STREAM_INLINE static inline
#define EIN_STREAM_CALL static inline
#define EIN_STREAM_KNOWN(n) 0
#endif

#if defined(__has_builtin)
#if __has_builtin(__builtin_nontemporal_store)
#define EIN_STREAM_PIECE 64 /* split where vectors are shorter */
#define EIN_STREAM_PUT(to, v) __builtin_nontemporal_store(v, (V *)(void *)(to))
#endif
#endif
#if !defined(EIN_STREAM_PIECE) && defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__)
#if defined(__AVX512F__)
#define EIN_STREAM_PIECE 64
#define EIN_STREAM_PUT(to, v) __builtin_ia32_movntps512((float *)(void *)(to), v)
#elif defined(__AVX__)
#define EIN_STREAM_PIECE 32
#define EIN_STREAM_PUT(to, v) __builtin_ia32_movntps256((float *)(void *)(to), v)
#else
#define EIN_STREAM_PIECE 16
#define EIN_STREAM_PUT(to, v) __builtin_ia32_movntps((float *)(void *)(to), v)
#endif
#endif

#if defined(__GNUC__) && !defined(__clang__)
#define EIN_STREAM_UNROLL _Pragma("GCC unroll 64")
#else
#define EIN_STREAM_UNROLL
#endif

/* `to` and `bytes` are multiples of 64. */
EIN_STREAM_INLINE void ein_stream_lines(char *to, const char *from, size_t bytes) {
#if defined(EIN_STREAM_PIECE)
  EIN_STREAM_V(EIN_STREAM_PIECE);
  for (size_t at = 0; at < bytes; at += sizeof(V)) {
    V v;
    memcpy(&v, from + at, sizeof v);
    EIN_STREAM_PUT(to + at, v);
  }
#else
  memcpy(to, from, bytes);
#endif
}

/* Stores n adjacent elements of `size` bytes where they are `step` elements apart. For an array of a few lines:
 * it is streamed if it consists of whole lines. */
EIN_STREAM_INLINE void ein_stream_few(void *to, int64_t step, const void *from, int64_t n, size_t size) {
  char *t = (char *)to;
  const char *f = (const char *)from;
  size_t bytes = (size_t)n * size;
  if (step != 1)
    for (int64_t k = 0; k < n; k++) memcpy(t + k * step * (int64_t)size, f + (size_t)k * size, size);
  else if (((uintptr_t)t & 63) == 0 && bytes % 64 == 0)
    ein_stream_lines(t, f, bytes);
  else
    memcpy(t, f, bytes);
}

/* Returns the number of elements before the first whole line; 0 if elements are not adjacent or do not divide a
 * line. */
EIN_STREAM_INLINE int64_t ein_stream_lead(const void *from, int64_t step, size_t size) {
  size_t ahead = (64 - ((uintptr_t)from & 63)) & 63;
  return step == 1 && ahead % size == 0 ? (int64_t)(ahead / size) : 0;
}

/* Stores less than a line. Written out rather than a call to memcpy: a call next to streamed stores waits for
 * them if half lines are stored (seen on a Zen 4: a row of 1 KB took five times as long). */
EIN_STREAM_INLINE void ein_stream_part(char *t, const char *f, size_t bytes) {
  size_t at = 0;
  if (bytes & 32) memcpy(t, f, 32), at = 32;
  if (bytes & 16) memcpy(t + at, f + at, 16), at += 16;
  if (bytes & 8) memcpy(t + at, f + at, 8), at += 8;
  if (bytes & 4) memcpy(t + at, f + at, 4), at += 4;
  if (bytes & 2) memcpy(t + at, f + at, 2), at += 2;
  if (bytes & 1) t[at] = f[at];
}

/* Streams what a tile holds in registers: adjacent elements whose number is a compile-time constant. The tile's
 * address is used nowhere else, so it can stay in registers. */
EIN_STREAM_INLINE void ein_stream_held(void *to, const void *from, int64_t n, size_t size) {
#if defined(EIN_STREAM_PIECE)
  EIN_STREAM_V(EIN_STREAM_PIECE);
  char *t = (char *)to;
  const char *f = (const char *)from;
  size_t bytes = (size_t)n * size, lines = bytes & ~(size_t)63;
  if (((uintptr_t)t & 63) == 0) {
    EIN_STREAM_UNROLL
    for (size_t at = 0; at < lines; at += sizeof(V)) {
      V v;
      memcpy(&v, f + at, sizeof v);
      EIN_STREAM_PUT(t + at, v);
    }
  } else {
    EIN_STREAM_UNROLL
    for (size_t at = 0; at < lines; at += sizeof(V)) {
      V v;
      memcpy(&v, f + at, sizeof v);
      memcpy(t + at, &v, sizeof v);
    }
  }
  if (bytes > lines) memcpy(t + lines, f + lines, bytes - lines);
#else
  memcpy(to, from, (size_t)n * size);
#endif
}

/* Like ein_stream_few for a long array: streams all whole lines. A few whole lines, whose number is a compile-time
 * constant, are streamed without a loop: a transpose of 16 MB took 0.73 of the time (Zen 5). */
EIN_STREAM_INLINE void ein_stream(void *to, int64_t step, const void *from, int64_t n, size_t size) {
  char *t = (char *)to;
  const char *f = (const char *)from;
  size_t bytes = (size_t)n * size, head = (64 - ((uintptr_t)t & 63)) & 63, lines;
  if (step != 1 || bytes < 256) {
    ein_stream_few(to, step, from, n, size);
    return;
  }
  if (EIN_STREAM_KNOWN(bytes) && head == 0 && bytes % 64 == 0 && bytes <= 512) {
    ein_stream_held(to, from, n, size);
    return;
  }
  lines = (bytes - head) & ~(size_t)63;
  ein_stream_part(t, f, head);
  ein_stream_lines(t + head, f + head, lines);
  ein_stream_part(t + head + lines, f + head + lines, bytes - head - lines);
}

/* Like ein_stream, for elements that run over several axes in row-major order, with their `shape` and `step`.
 * All axes but the first are traversed whole. `to` is the origin of the axes; the first element is element
 * `first` in row-major order. */
EIN_STREAM_INLINE void ein_stream_axes(void *to, int axes, const int64_t *shape, const int64_t *step, int64_t first,
    const void *from, int64_t n, size_t size) {
  const int64_t last = shape[axes - 1];
  int dense = 1;
  for (int k = axes - 1; k > 0; k--) dense &= step[k - 1] == step[k] * shape[k];
  if (dense) {
    ein_stream((char *)to + first * step[axes - 1] * (int64_t)size, step[axes - 1], from, n, size);
    return;
  }
  for (int64_t done = 0, here; done < n; done += here) {
    int64_t row = (first + done) / last, in = (first + done) % last, at = in * step[axes - 1];
    here = last - in < n - done ? last - in : n - done;
    for (int k = axes - 1; k-- > 0; row /= k ? shape[k] : 1) at += (k ? row % shape[k] : row) * step[k];
    ein_stream_few(
        (char *)to + at * (int64_t)size, step[axes - 1], (const char *)from + (size_t)done * size, here, size);
  }
}

/* The same, out of line, for a rare case: tiles held in registers whose result has non-adjacent axes. */
EIN_STREAM_CALL void ein_stream_apart(void *to, int axes, const int64_t *shape, const int64_t *step, int64_t first,
    const void *from, int64_t n, size_t size) {
  ein_stream_axes(to, axes, shape, step, first, from, n, size);
}

/* Makes the streamed stores visible to threads that synchronize with this one afterwards. */
EIN_STREAM_INLINE void ein_stream_end(void) {
#if defined(EIN_STREAM_PIECE) && defined(__GNUC__) && (defined(__x86_64__) || defined(__i386__))
#if defined(__SSE__)
  __builtin_ia32_sfence();
#else
  __sync_synchronize();
#endif
#endif
}

#endif
