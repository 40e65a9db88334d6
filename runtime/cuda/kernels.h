/* SPDX-License-Identifier: MIT-0 */
/*
 * What kernels of a text for CUDA see (EIN_CUDA), and what is handed to them, which who launches them has to know too (EIN_DRIVER).
 */
#ifndef EIN_CUDA_KERNELS_H
#define EIN_CUDA_KERNELS_H

#ifndef EIN_TURNS
#define EIN_TURNS 1
#endif

/* A gathered index that was out of range; one of them, where there are several. */
typedef struct ein_device_fault { int met, site; int64_t index, extent; } ein_device_fault;
typedef struct ein_device {
  int64_t turn[EIN_TURNS];     /* by depth */
  ein_device_fault *fault;
} ein_device;

#if defined(EIN_CUDA)
/* An emulation says these in its own way: a buffer's pointer, an array of a block, a call. */
#ifndef EIN_EMULATED
#define EIN_GLOBAL(type) type *__restrict__
#define EIN_AT_16(type, name) name = (type *)__builtin_assume_aligned(name, 16)
#define EIN_SHARED(type, name, n) __shared__ __align__(16) type name[n]
#endif
/* Neighbours at a multiple of what they are, as one. */
#ifndef EIN_EMULATED
template <int BYTES> struct ein_wide;
template <> struct ein_wide<4> { typedef unsigned type; };
template <> struct ein_wide<8> { typedef uint2 type; };
template <> struct ein_wide<16> { typedef uint4 type; };
#define EIN_WIDE(n, to, to_at, from, from_at)                                               \
  (*(ein_wide<n * sizeof(to[0])>::type *)(void *)&to[to_at] = *(const ein_wide<n * sizeof(to[0])>::type *)(const void *)&from[from_at])
#define EIN_WIDE_ARRAY(type, name, n) __align__(16) type name[n]
#endif
#undef EIN_UNROLL
#undef EIN_ROLL
#if defined(__CUDACC__)
#define EIN_UNROLL _Pragma("unroll")
#define EIN_ROLL _Pragma("unroll 1")
#else
#define EIN_UNROLL
#define EIN_ROLL
#endif

static __device__ int64_t ein_fault(const ein_device *ctx, int site, int64_t index, int64_t extent) {
  if (atomicCAS(&ctx->fault->met, 0, 1) == 0) {
    ctx->fault->site = site;
    ctx->fault->index = index;
    ctx->fault->extent = extent;
  }
  return 0;
}
static __device__ int64_t ein_within_of(const ein_device *ctx, int64_t index, int64_t extent, int site) {
  return (uint64_t)index < (uint64_t)extent ? index : ein_fault(ctx, site, index, extent);
}
#if defined(__CUDACC_RTC__)
#define ein_within(index, extent, site) ein_within_of(ctx, index, extent, (int)(site))
#endif
#endif

#endif
