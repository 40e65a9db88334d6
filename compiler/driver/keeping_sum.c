/* driver/keeping_sum.c - checksums of checkpoints (keeping.h). A tensor's is made of its name, dtype, shape and
 * elements; the file's is the sum of its tensors', so their order is free. One element that changes always changes it:
 * each step is a bijection of the state before, and of the element. Elements count as numbers, so the byte order of a
 * machine is not in it. */
#include <string.h>

#include "keeping.h"

enum {
  LANES = 4,                 /* chains of multiplications side by side */
  PIECE = 1 << 16            /* elements read at a time: a multiple of LANES */
};

typedef struct KeptSum { uint64_t lane[LANES]; } KeptSum;

static uint64_t mixed(uint64_t sum, uint64_t word) {
  sum = (sum ^ word) * 0x9E3779B97F4A7C15u;
  return sum ^ sum >> 32;
}

static inline uint64_t word_at(const char *at, size_t size) {
  uint8_t one;
  uint16_t two;
  uint32_t four;
  uint64_t eight;
  switch (size) {
    case 1: return memcpy(&one, at, 1), one;
    case 2: return memcpy(&two, at, 2), two;
    case 4: return memcpy(&four, at, 4), four;
    default: return memcpy(&eight, at, 8), eight;
  }
}

static inline void words_add(KeptSum *sum, const char *at, int64_t n, size_t size) {
  for (int64_t i = 0; i < n; i++)
    sum->lane[i % LANES] = mixed(sum->lane[i % LANES], word_at(at + (size_t)i * size, size));
}

/* A size that is known in each loop. */
static void elements_add(KeptSum *sum, const void *at, int64_t n, size_t size) {
  switch (size) {
    case 1: words_add(sum, at, n, 1); break;
    case 2: words_add(sum, at, n, 2); break;
    case 4: words_add(sum, at, n, 4); break;
    default: words_add(sum, at, n, 8);
  }
}

/* Begins with what is in the header; *count: its elements. */
static KeptSum sum_new(const char *name, ein_dtype t, int ndim, const int64_t *shape, int64_t *count) {
  KeptSum sum = {{(uint64_t)t, (uint64_t)ndim, 0, 0}};
  *count = 1;
  elements_add(&sum, name, (int64_t)strlen(name), 1);
  for (int d = 0; d < ndim; d++) {
    elements_add(&sum, &shape[d], 1, sizeof *shape);
    *count *= shape[d];
  }
  return sum;
}

static uint64_t sum_end(const KeptSum *sum) {
  uint64_t all = 0;
  for (int l = 0; l < LANES; l++) all = mixed(all, sum->lane[l]);
  return all;
}

uint64_t kept_sum(const ein_named_tensor *x) {
  const ein_tensor *t = &x->tensor;
  int64_t count;
  KeptSum sum = sum_new(x->name, t->dtype, t->ndim, t->shape, &count);
  elements_add(&sum, t->data, count, (size_t)dtype_size((DType)t->dtype));
  return sum_end(&sum);
}

ein_status kept_sum_stored(
    const char *path, const char *name, const ein_stored *x, uint64_t *out, ein_error *error) {
  Arena *a = arena_new();
  int64_t count;
  KeptSum sum = sum_new(name, x->dtype, x->ndim, x->shape, &count);
  ein_stored flat = *x;
  flat.ndim = 1, flat.shape[0] = count;
  size_t size = (size_t)dtype_size((DType)x->dtype);
  char *piece = arena_alloc(a, (size_t)(count < PIECE ? count : PIECE) * size + 1);
  ein_status status = EIN_OK;
  for (int64_t lo = 0; lo < count && status == EIN_OK; lo += PIECE) {
    int64_t n = count - lo < PIECE ? count - lo : PIECE;
    status = ein_stored_block(path, &flat, x->dtype, &lo, &n, piece, error);
    if (status == EIN_OK) elements_add(&sum, piece, n, size);
  }
  arena_free(a);
  *out = sum_end(&sum);
  return status;
}
