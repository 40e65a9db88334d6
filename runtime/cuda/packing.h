/* SPDX-License-Identifier: MIT-0 */
/*
 * Copies within a device's memory between tensors with different strides, by a kernel that boxes.h describes: a
 * caller's tensors that are not in row-major order, and what moves to other sites.
 */
#ifndef EIN_CUDA_PACKING_H
#define EIN_CUDA_PACKING_H

#include "boxes.h"

/* Drops dimensions of extent 1, and merges dimensions that are contiguous on both sides. */
static void ein_boxes_merge(
    ein_boxes_are *b, int n, const int64_t *extent, const int64_t *to_step, const int64_t *from_step) {
  b->n = 0;
  b->count = 1;
  for (int d = 0; d < n; d++) {
    int last = b->n - 1;
    if (extent[d] == 1) continue;
    b->count *= extent[d];
    if (last >= 0 && b->to_step[last] == extent[d] * to_step[d] && b->from_step[last] == extent[d] * from_step[d]) {
      b->extent[last] *= extent[d];
    } else {
      last = b->n++;
      b->extent[last] = extent[d];
    }
    b->to_step[last] = to_step[d];
    b->from_step[last] = from_step[d];
  }
}

/* Copies the boxes, in that stream. begins: where they begin, if `are` says so; else any device address. */
static int ein_gpu_boxes(ein_ctx *ctx, ein_gpu *g, void *stream, size_t element, void *to, const void *from,
    const void *begins, ein_boxes_are *are) {
  uint64_t word[] = {(uint64_t)(uintptr_t)to, (uint64_t)(uintptr_t)from, (uint64_t)(uintptr_t)begins};
  void *parameter[] = {&word[0], &word[1], &word[2], are};
  const int64_t blocks = (are->count * are->many + EIN_BOXES_THREADS - 1) / EIN_BOXES_THREADS;
  const unsigned grid[] = {(unsigned)blocks, 1, 1}, block[] = {EIN_BOXES_THREADS, 1, 1};
  const int kernel = g->code->boxes[element == 1 ? 0 : element == 2 ? 1 : element == 4 ? 2 : 3];
  if (kernel < 0)
    return ein_error_set(&ctx->inside->error, EIN_ERR_ARG, "this code has no kernel for strides on a device"), 0;
  return ein_cuda_any(ctx, blocks, 1, 1) && ein_gpu_launch_now(ctx, g, stream, kernel, grid, block, parameter);
}

/* Copies a tensor of the caller's to `row`, in row-major order, or from there. */
static int ein_cuda_pack(ein_ctx *ctx, void *stream, int buffer, void *row, int from_caller) {
  const ein_buffer *b = ein_buffer_of(ctx, buffer);
  const int64_t *shape = ctx->shape + b->at, *stride = ctx->stride + b->at;
  int64_t dense[EIN_MAX_AXES];
  const size_t size = ein_dtype_size(b->dtype);
  int64_t first = 0; /* the tensor begins so many elements behind its lowest address */
  ein_boxes_are are;
  memset(&are, 0, sizeof are);
  are.many = 1;
  for (int k = 0; k < b->ndim; k++)
    if (shape[k] > 1 && stride[k] < 0) first -= stride[k] * (shape[k] - 1);
  void *own = (char *)ctx->data[buffer] - first * (int64_t)size;
  *(from_caller ? &are.from_first : &are.to_first) = first;
  ein_row_major(b->ndim, shape, dense);
  ein_boxes_merge(&are, b->ndim, shape, from_caller ? dense : stride, from_caller ? stride : dense);
  return ein_gpu_boxes(ctx, &ein_cuda_of(ctx)->gpu, stream, size, from_caller ? row : own,
      from_caller ? own : row, row, &are);
}

#endif
