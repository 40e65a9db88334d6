/* driver/data/transpose.c - transposes a block of elements (transpose.h): in tiles of the two axes along which the
 * source and the destination are contiguous, so that neither side is accessed in long strides. */
#include <string.h>

#include "transpose.h"

void strides_dense(uint32_t rank, const int64_t *shape, int64_t *stride) {
  int64_t n = 1;
  for (uint32_t k = rank; k-- > 0; n *= shape[k]) stride[k] = n;
}

static void element_copy(size_t size, const char *from, char *to) {
  switch (size) {
  case 1: *to = *from; return;
  case 2: memcpy(to, from, 2); return;
  case 4: memcpy(to, from, 4); return;
  default: memcpy(to, from, 8); return;
  }
}

static void tiles_transpose(const Transpose *t, uint32_t a, uint32_t b, const char *src, char *dst) {
  enum { TILE = 32 };
  const int64_t n = t->shape[a], m = a == b ? 1 : t->shape[b];
  for (int64_t i0 = 0; i0 < n; i0 += TILE)
    for (int64_t k0 = 0; k0 < m; k0 += TILE)
      for (int64_t i = i0; i < n && i < i0 + TILE; i++)
        for (int64_t k = k0; k < m && k < k0 + TILE; k++)
          element_copy(t->size, src + (size_t)(i * t->from[a] + k * t->from[b]) * t->size,
              dst + (size_t)(i * t->to[a] + k * t->to[b]) * t->size);
}

/* The axis with the smallest stride, of those longer than 1. */
static uint32_t nearest_axis(const Transpose *t, const int64_t *stride) {
  uint32_t best = 0;
  for (uint32_t k = 1; k < t->n; k++)
    if (t->shape[k] > 1 && (t->shape[best] == 1 || stride[k] < stride[best])) best = k;
  return best;
}

void block_transpose(const Transpose *t, const void *src, void *dst) {
  int64_t at[EIN_MAX_AXES] = {0};
  if (!t->n) {
    element_copy(t->size, src, dst);
    return;
  }
  uint32_t a = nearest_axis(t, t->from), b = nearest_axis(t, t->to);
  for (;;) {
    int64_t from = 0, to = 0;
    uint32_t k;
    for (k = 0; k < t->n; k++) from += at[k] * t->from[k], to += at[k] * t->to[k];
    tiles_transpose(t, a, b, (const char *)src + (size_t)from * t->size, (char *)dst + (size_t)to * t->size);
    for (k = 0; k < t->n; k++) {
      if (k == a || k == b) continue;
      if (++at[k] < t->shape[k]) break;
      at[k] = 0;
    }
    if (k == t->n) return;
  }
}
