/* driver/data/bound_write.c - outputs that state the names under which they are written. In: `to "layers.{l}.wq"[(h
 * a), d]` with the value; out: the tensors of a file, one for each number that the name counts, with axes in the
 * file's order. */
#include "checkpoint.h"
#include "transpose.h"

/* The stored tensor's shape, and its elements: in place, or transposed to that order. */
static ein_tensor tensor_of(Session *s, const Bound *b, const EvalArray *x, const int64_t *at) {
  const uint32_t n = b->how->axes.len;
  int64_t *shape = NEW_ARRAY(s->arena, int64_t, n + 1), own[EIN_MAX_AXES], stride[EIN_MAX_AXES], offset = 0, count = 1;
  Transpose copy = {.n = n, .shape = own, .size = (size_t)dtype_size(x->dtype)};
  int axes = 0;
  bool same = true;
  strides_dense(x->rank, x->shape, stride);
  for (uint32_t k = 0; k < x->rank; k++) offset += at[k] * stride[k];
  for (uint32_t k = 0; k < n; k++) {
    const AstStoredAxis *a = &b->how->axes.at[k];
    own[k] = x->shape[a->axis];
    copy.from[k] = stride[a->axis];
    count *= own[k];
    if (a->joined) shape[axes - 1] *= own[k];
    else shape[axes++] = own[k];
  }
  strides_dense(n, own, copy.to);
  for (uint32_t k = 0; k < n; k++) same = same && (own[k] == 1 || copy.from[k] == copy.to[k]);
  char *data = count ? (char *)x->data + (size_t)offset * copy.size : NULL;
  if (count && !same) {
    const char *from = data;
    data = arena_alloc(s->arena, arena_array_size(copy.size, (size_t)count));
    block_transpose(&copy, from, data);
  }
  return (ein_tensor){.data = data, .device_type = 1, .ndim = axes, .dtype = (ein_dtype)x->dtype, .shape = shape};
}

void stored_tensors(Session *s, const AstStored *how, const EvalArray *x, NamedTensors *out) {
  const Bound b = {.rank = x->rank, .how = how, .said = true};
  int64_t at[EIN_MAX_AXES] = {0};
  for (uint32_t k = 0; k < x->rank; k++)
    if (!x->shape[k] && bound_counts(&b, k)) return;
  do {
    ein_named_tensor one = {bound_name(s, &b, at)->s, tensor_of(s, &b, x, at)};
    vec_push(s->arena, *out, one);
  } while (bound_next(&b, x->shape, at));
}
