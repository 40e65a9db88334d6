/* driver/data/bound_read.c - reads elements of a param from a checkpoint. In: its tensors and a block of it; out:
 * the elements in the program's order. A stored axis that merges several of the program's is read as these,
 * row-major. Reads no more than the block, and the gaps between short rows. */
#include "checkpoint.h"
#include "transpose.h"

/* A stored tensor's axes, separated as in the program. */
typedef struct Unfolded {
  ein_stored at;
  uint32_t axis[EIN_MAX_AXES];
} Unfolded;

/* If the first axis varies fastest, the stored axes are taken in reverse; merged ones keep their order. */
static Unfolded unfolded(const Bound *b, const Stored *x, const int64_t *whole) {
  Unfolded u = {.at = x->at};
  uint32_t n = 0, len = b->how->axes.len;
  for (uint32_t i = 0, end = len; i < len && x->at.fortran; i++) {
    uint32_t from = len - 1 - i;
    if (b->how->axes.at[from].joined) continue;
    for (uint32_t k = from; k < end; k++) u.axis[n++] = b->how->axes.at[k].axis;
    end = from;
  }
  for (uint32_t k = 0; k < len && !x->at.fortran; k++) u.axis[n++] = b->how->axes.at[k].axis;
  u.at.fortran = 0;
  u.at.ndim = (int)n;
  for (uint32_t k = 0; k < n; k++) u.at.shape[k] = whole[u.axis[k]];
  return u;
}

/* ---- a block ----------------------------------------------------------------------------------------------------- */

/* Copies one tensor's part of the block to dst. */
static ein_status piece_block(const Bound *b, const Stored *x, DType t, const int64_t *whole, const int64_t *low,
    const int64_t *shape, char *dst, ein_error *err) {
  const Unfolded u = unfolded(b, x, whole);
  int64_t own_low[EIN_MAX_AXES], own_shape[EIN_MAX_AXES], stride[EIN_MAX_AXES], count = 1;
  Transpose copy = {.n = (uint32_t)u.at.ndim, .shape = own_shape, .size = (size_t)dtype_size(t)};
  bool same = true;
  strides_dense(b->rank, shape, stride);
  for (uint32_t k = 0; k < copy.n; k++)
    own_low[k] = low[u.axis[k]], own_shape[k] = shape[u.axis[k]], count *= own_shape[k];
  strides_dense(copy.n, own_shape, copy.from);
  for (uint32_t k = 0; k < copy.n; k++) {
    copy.to[k] = stride[u.axis[k]];
    same = same && (own_shape[k] == 1 || copy.to[k] == copy.from[k]);
  }
  if (!count) return EIN_OK;
  if (same) return ein_stored_block(x->file, &u.at, (ein_dtype)t, own_low, own_shape, dst, err);
  Arena *work = arena_new();
  char *read = arena_alloc(work, arena_array_size(copy.size, (size_t)count));
  ein_status st = ein_stored_block(x->file, &u.at, (ein_dtype)t, own_low, own_shape, read, err);
  if (st == EIN_OK) block_transpose(&copy, read, dst);
  arena_free(work);
  return st;
}

/* The tensor of the block's place `at`, along the axes that the name counts. */
static const Stored *piece_at(const Bound *b, const int64_t *whole, const int64_t *low, const int64_t *at) {
  int64_t i = 0;
  for (uint32_t k = 0; k < b->rank; k++)
    if (bound_counts(b, k)) i = i * whole[k] + low[k] + at[k];
  return b->piece[i];
}

ein_status bound_block(const Bound *b, DType t, const int64_t *whole, const int64_t *low, const int64_t *shape,
    void *dst, ein_error *err) {
  int64_t at[EIN_MAX_AXES] = {0}, stride[EIN_MAX_AXES];
  strides_dense(b->rank, shape, stride);
  for (uint32_t k = 0; k < b->rank; k++)
    if (!shape[k]) return EIN_OK;
  for (;;) {
    int64_t offset = 0;
    uint32_t k;
    for (k = 0; k < b->rank; k++) offset += at[k] * stride[k];
    ein_status st = piece_block(b, piece_at(b, whole, low, at), t, whole, low, shape,
        (char *)dst + (size_t)offset * (size_t)dtype_size(t), err);
    if (st != EIN_OK) return st;
    for (k = 0; k < b->rank; k++) {
      if (!bound_counts(b, k)) continue;
      if (++at[k] < shape[k]) break;
      at[k] = 0;
    }
    if (k == b->rank) return EIN_OK;
  }
}

static int64_t piece_count(const Bound *b, const int64_t *shape) {
  int64_t n = 1;
  for (uint32_t k = 0; k < b->rank; k++)
    if (bound_counts(b, k)) n *= shape[k];
  return n;
}

ein_status bound_sound(const Bound *b, const int64_t *shape, ein_error *err) {
  int64_t n = piece_count(b, shape);
  for (int64_t i = 0; i < n; i++) {
    const char *file = b->piece[i]->file;
    char spec[4096];
    if (!ein_ends_in(file, ".npz")) continue; /* only these have checksums */
    snprintf(spec, sizeof spec, "%s:%s", file, b->piece[i]->name->s);
    ein_status st = ein_source_check(spec, err);
    if (st != EIN_OK) return st;
  }
  return EIN_OK;
}

const void *bound_map(const Bound *b, DType t, const int64_t *shape, ein_error *err) {
  const void *at = NULL;
  if (piece_count(b, shape) != 1 || b->piece[0]->at.dtype != (ein_dtype)t || ein_ends_in(b->piece[0]->file, ".npz"))
    return NULL;
  for (uint32_t k = 1; k < b->how->axes.len; k++)
    if (b->how->axes.at[k].axis < b->how->axes.at[k - 1].axis) return NULL;
  return ein_stored_map(b->piece[0]->file, &b->piece[0]->at, &at, err) == EIN_OK ? at : NULL;
}
