/* SPDX-License-Identifier: MIT-0 */
/*
 * Boxes of elements that go from one place of a device's memory to another one (ein_far's `boxes`): a thread for each element. A text with moves has a
 * kernel for each size of an element, whose body this is.
 */
#ifndef EIN_CUDA_BOXES_H
#define EIN_CUDA_BOXES_H

enum { EIN_BOXES_THREADS = 256 };
typedef struct ein_boxes_are {
  int64_t count, many;         /* elements of one; boxes */
  int n, listed;               /* dimensions; whether begins[] says where each begins */
  int64_t extent[EIN_MAX_AXES], to_step[EIN_MAX_AXES], from_step[EIN_MAX_AXES];
} ein_boxes_are;

#if defined(EIN_CUDA)
#define EIN_BOXES_BODY(to, from, begins, are)                                               \
  int64_t i = (int64_t)blockIdx.x * EIN_BOXES_THREADS + threadIdx.x, box = i / are.count;   \
  int64_t to_at = 0, from_at = 0;                                                           \
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
