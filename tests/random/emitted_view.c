/* tests/random/emitted_view.c - arrays as a caller may have them: any order of axes, some backwards, with gaps. */
#include <stdlib.h>
#include <string.h>

#include "emitted.h"

const ein_dtype ein_of_dtype[DTYPES] = {
  [DT_F64] = EIN_F64, [DT_F32] = EIN_F32, [DT_F16] = EIN_F16, [DT_BF16] = EIN_BF16, [DT_I64] = EIN_I64,
  [DT_I32] = EIN_I32, [DT_I16] = EIN_I16, [DT_I8] = EIN_I8,   [DT_U8] = EIN_U8,     [DT_BOOL] = EIN_BOOL,
};

static void strides_dense(View *v, uint32_t rank) {
  int64_t step = 1;
  for (uint32_t k = rank; k-- > 0;) {
    v->stride[k] = step;
    step *= v->shape[k] ? v->shape[k] : 1;
  }
}

static void strides_any(View *v, uint32_t rank, int flat, Rng *r) {
  uint32_t order[EIN_MAX_AXES];
  int64_t step = 1 + below(r, 2);
  for (uint32_t k = 0; k < rank; k++) order[k] = k;
  for (uint32_t k = rank; k > 1; k--) {
    uint32_t i = below(r, k), was = order[i];
    order[i] = order[k - 1], order[k - 1] = was;
  }
  for (uint32_t k = 0; k < rank; k++) {
    uint32_t axis = order[k];
    v->stride[axis] = chance(r, 30) ? -step : step;
    if ((int)axis == flat) v->stride[axis] = 0;
    else step = step * (v->shape[axis] ? v->shape[axis] : 1) + below(r, 3);
  }
}

/* Where elements lie: the first one, and the bytes of all. */
static void reach(View *v, uint32_t rank) {
  int64_t low = 0, high = 0, size = dtype_size(v->dtype);
  v->count = 1;
  for (uint32_t k = 0; k < rank; k++) {
    int64_t far = v->shape[k] ? v->stride[k] * (v->shape[k] - 1) : 0;
    v->count *= v->shape[k];
    if (far < 0) low += far;
    else high += far;
  }
  v->first = v->count ? (size_t)(-low * size) : 0;
  v->bytes = v->count ? (size_t)((high - low + 1) * size) : 0;
}

void view_make(View *v, DType t, uint32_t rank, const int64_t *shape, bool dense, int flat, Rng *r) {
  *v = (View){.dtype = t};
  for (uint32_t k = 0; k < rank; k++) v->shape[k] = shape[k];
  if (dense) strides_dense(v, rank);
  else strides_any(v, rank, flat, r);
  reach(v, rank);
  v->memory = malloc(v->bytes ? v->bytes : 1);
  if (!v->memory) abort();
  memset(v->memory, 0xA5, v->bytes ? v->bytes : 1);
  size_t offset = chance(r, 50) ? v->first : 0;
  v->t = (ein_tensor){.data = v->memory + (v->first - offset), .device_type = 1, .ndim = (int32_t)rank, .dtype = ein_of_dtype[t],
                      .shape = v->shape, .strides = dense && chance(r, 50) ? NULL : v->stride, .byte_offset = offset};
}

void view_drop(View *v) {
  free(v->memory);
  v->memory = NULL;
}

/* ---- element by element ------------------------------------------------------------------------- */

static char *element_at(const View *v, int64_t k) {
  int64_t at = 0;
  for (uint32_t axis = (uint32_t)v->t.ndim; axis-- > 0; k /= v->shape[axis]) at += k % v->shape[axis] * v->stride[axis];
  return v->memory + (int64_t)v->first + at * dtype_size(v->dtype);
}

void view_put(View *v, const EvalArray *x) {
  size_t size = (size_t)dtype_size(v->dtype);
  for (int64_t k = 0; k < v->count; k++) memcpy(element_at(v, k), (const char *)x->data + (size_t)k * size, size);
}

EvalArray view_get(const View *v, Arena *a) {
  size_t size = (size_t)dtype_size(v->dtype);
  EvalArray x = {.dtype = v->dtype, .rank = (uint32_t)v->t.ndim, .count = v->count};
  x.shape = arena_copy(a, v->shape, sizeof v->shape);
  x.data = arena_alloc(a, (size_t)v->count * size + 1);
  for (int64_t k = 0; k < v->count; k++) memcpy((char *)x.data + (size_t)k * size, element_at(v, k), size);
  return x;
}

bool view_gaps_kept(const View *v, Arena *a) {
  size_t size = (size_t)dtype_size(v->dtype);
  char *taken = arena_alloc(a, v->bytes + 1);
  for (int64_t k = 0; k < v->count; k++) memset(taken + (element_at(v, k) - v->memory), 1, size);
  for (size_t i = 0; i < v->bytes; i++)
    if (!taken[i] && (unsigned char)v->memory[i] != 0xA5) return false;
  return true;
}
