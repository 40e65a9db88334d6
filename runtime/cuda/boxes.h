/* SPDX-License-Identifier: MIT-0 */
/*
 * Copies boxes of elements within a device's memory (ein_far's `boxes`), with one thread per element. Code with
 * moves has one kernel per element size; this is its body.
 */
#ifndef EIN_CUDA_BOXES_H
#define EIN_CUDA_BOXES_H

enum { EIN_BOXES_THREADS = 256 };
typedef struct ein_boxes_are {
  int64_t count, many;         /* elements per box; boxes */
  int n, listed;               /* dimensions; whether begins[] lists the origins */
  int64_t to_first, from_first; /* where a box that is not listed begins */
  int64_t extent[EIN_MAX_AXES], to_step[EIN_MAX_AXES], from_step[EIN_MAX_AXES];
} ein_boxes_are;

#if defined(EIN_CUDA)
#define EIN_BOXES_BODY(to, from, begins, are)                                               \
  int64_t i = (int64_t)blockIdx.x * EIN_BOXES_THREADS + threadIdx.x, box = i / are.count;   \
  int64_t to_at = are.to_first, from_at = are.from_first;                                   \
  if (box >= are.many) return;                                                              \
  if (are.listed) to_at = begins[2 * box], from_at = begins[2 * box + 1];                   \
  i -= box * are.count;                                                                     \
  for (int d = are.n - 1; d >= 0; d--) {                                                    \
    const int64_t next = i / are.extent[d], at = i - next * are.extent[d];                  \
    to_at += at * are.to_step[d];                                                           \
    from_at += at * are.from_step[d];                                                       \
    i = next;                                                                               \
  }                                                                                         \
  to[to_at] = from[from_at];
#endif

#endif
