/* driver/data/bound_write.c - outputs that state the names under which they are written. In: `to "layers.{l}.wq"[(h
 * a), d]`; out: the tensors of a file, one for each number that the name counts, and what a block of the output has of
 * one of them, with axes in the file's order. */
#include "checkpoint.h"
#include "transpose.h"

static ein_tensor tensor_of(Session *s, const Bound *b, DType t, const int64_t *whole) {
  const uint32_t n = b->how->axes.len;
  int64_t *shape = NEW_ARRAY(s->arena, int64_t, n + 1);
  int axes = 0;
  vec_each(const AstStoredAxis, a, b->how->axes) {
    if (a->joined) shape[axes - 1] *= whole[a->axis];
    else shape[axes++] = whole[a->axis];
  }
  return (ein_tensor){.device_type = 1, .ndim = axes, .dtype = (ein_dtype)t, .shape = shape};
}

void stored_tensors(
    Session *s, const AstStored *how, DType t, uint32_t rank, const int64_t *whole, NamedTensors *out) {
  const Bound b = {.rank = rank, .how = how, .said = true};
  int64_t at[EIN_MAX_AXES] = {0};
  for (uint32_t k = 0; k < rank; k++)
    if (!whole[k] && bound_counts(&b, k)) return;
  do {
    ein_named_tensor one = {bound_name(s, &b, at)->s, tensor_of(s, &b, t, whole)};
    vec_push(s->arena, *out, one);
  } while (bound_next(&b, whole, at));
}

/* The elements of the block at these numbers, in the file's order: in place, or transposed to it. */
static const void *elements_of(Session *s, const Bound *b, const ein_block *x, const int64_t *at) {
  const uint32_t n = b->how->axes.len;
  int64_t stride[EIN_MAX_AXES], own[EIN_MAX_AXES], offset = 0, count = 1;
  Transpose copy = {.n = n, .shape = own, .size = (size_t)dtype_size((DType)x->dtype)};
  bool same = true;
  strides_dense(b->rank, x->shape, stride);
  for (uint32_t k = 0; k < b->rank; k++)
    if (bound_counts(b, k)) offset += (at[k] - x->low[k]) * stride[k];
  for (uint32_t k = 0; k < n; k++) {
    const uint32_t axis = b->how->axes.at[k].axis;
    own[k] = x->shape[axis];
    copy.from[k] = stride[axis];
    count *= own[k];
  }
  strides_dense(n, own, copy.to);
  for (uint32_t k = 0; k < n; k++) same = same && (own[k] == 1 || copy.from[k] == copy.to[k]);
  const char *from = count ? (const char *)x->data + (size_t)offset * copy.size : NULL;
  if (!count || same) return from;
  void *to = arena_alloc(s->arena, arena_array_size(copy.size, (size_t)count));
  block_transpose(&copy, from, to);
  return to;
}

/* The numbers that the name of tensor `number` has. */
static void numbers_of(const Bound *b, const int64_t *whole, int64_t number, int64_t *at) {
  for (uint32_t k = b->rank; k-- > 0;) {
    at[k] = 0;
    if (!bound_counts(b, k)) continue;
    at[k] = number % whole[k];
    number /= whole[k];
  }
}

bool stored_block(Session *s, const AstStored *how, const ein_block *x, int64_t number, ein_block *out) {
  const Bound b = {.rank = (uint32_t)x->ndim, .how = how, .said = true};
  const uint32_t n = how->axes.len;
  int64_t at[EIN_MAX_AXES], *room = NEW_ARRAY(s->arena, int64_t, 3 * n + 1);
  numbers_of(&b, x->whole, number, at);
  for (uint32_t k = 0; k < b.rank; k++)
    if (bound_counts(&b, k) && (at[k] < x->low[k] || at[k] >= x->low[k] + x->shape[k])) return false;
  for (uint32_t k = 0; k < n; k++) {
    const uint32_t axis = how->axes.at[k].axis;
    room[k] = x->whole[axis], room[n + k] = x->low[axis], room[2 * n + k] = x->shape[axis];
  }
  *out = (ein_block){x->dtype, x->file_dtype, (int)n, room, room + n, room + 2 * n, elements_of(s, &b, x, at)};
  return true;
}
