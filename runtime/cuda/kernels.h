/* SPDX-License-Identifier: MIT-0 */
/*
 * What kernels of code for CUDA use (EIN_CUDA), and the data passed to them, which their launcher also needs
 * (EIN_DRIVER).
 */
#ifndef EIN_CUDA_KERNELS_H
#define EIN_CUDA_KERNELS_H

#ifndef EIN_TURNS
#define EIN_TURNS 1
#endif

/* A gathered index that was out of range; if there are several, one of them. */
typedef struct ein_device_fault { int met, site; int64_t index, extent; } ein_device_fault;
typedef struct ein_device {
  int64_t turn[EIN_TURNS];     /* by depth */
  ein_device_fault *fault;
} ein_device;

#if defined(EIN_CUDA)
/* An emulation has its own definitions of these: a buffer's pointer, a shared array, a call. */
#ifndef EIN_EMULATED
#define EIN_GLOBAL(type) type *__restrict__
#define EIN_AT_16(type, name) name = (type *)__builtin_assume_aligned(name, 16)
#define EIN_ENDS(name, n) __builtin_assume(name < n) /* compilers assume 31 bits, and divide in 64 */
#define EIN_SHARED(type, name, n) __shared__ __align__(16) type name[n]
/* The same, from that byte on of what the launch asks for. */
#define EIN_SHARED_AT(type, name, n, at)                             \
  extern __shared__ __align__(16) unsigned char ein_shared_memory[]; \
  type *const name = (type *)(void *)(ein_shared_memory + (at))
#define EIN_ACROSS(value, bit) __shfl_xor_sync(0xffffffffu, value, bit) /* another thread's of the warp */
#endif
/* Copies adjacent, aligned elements as one. */
#ifndef EIN_EMULATED
template <int BYTES> struct ein_wide;
template <> struct ein_wide<4> { typedef unsigned type; };
template <> struct ein_wide<8> { typedef uint2 type; };
template <> struct ein_wide<16> { typedef uint4 type; };
#define EIN_WIDE(n, to, to_at, from, from_at)                 \
  (*(ein_wide<n * sizeof(to[0])>::type *)(void *)&to[to_at] = \
          *(const ein_wide<n * sizeof(to[0])>::type *)(const void *)&from[from_at])
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

/* Accesses adjacent elements, aligned to their total size, at once. In assembler, because compilers forget the
 * alignment and split the access. _LOAD is only for memory that this kernel does not write. */
#ifndef EIN_EMULATED
template <int BYTES> struct ein_piece;
template <> struct ein_piece<16> {
  unsigned a, b, c, d;
  __device__ __forceinline__ void load(size_t from) {
    asm("ld.global.nc.v4.b32 {%0, %1, %2, %3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "l"(from));
  }
  __device__ __forceinline__ void read(size_t from) {
    asm volatile("ld.global.v4.b32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                 : "l"(from)
                 : "memory");
  }
  __device__ __forceinline__ void store(size_t to) {
    asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};" : : "l"(to), "r"(a), "r"(b), "r"(c), "r"(d) : "memory");
  }
};
template <> struct ein_piece<8> {
  unsigned a, b;
  __device__ __forceinline__ void load(size_t from) {
    asm("ld.global.nc.v2.b32 {%0, %1}, [%2];" : "=r"(a), "=r"(b) : "l"(from));
  }
  __device__ __forceinline__ void read(size_t from) {
    asm volatile("ld.global.v2.b32 {%0, %1}, [%2];" : "=r"(a), "=r"(b) : "l"(from) : "memory");
  }
  __device__ __forceinline__ void store(size_t to) {
    asm volatile("st.global.v2.b32 [%0], {%1, %2};" : : "l"(to), "r"(a), "r"(b) : "memory");
  }
};
template <> struct ein_piece<4> {
  unsigned a;
  __device__ __forceinline__ void load(size_t from) { asm("ld.global.nc.b32 %0, [%1];" : "=r"(a) : "l"(from)); }
  __device__ __forceinline__ void read(size_t from) {
    asm volatile("ld.global.b32 %0, [%1];" : "=r"(a) : "l"(from) : "memory");
  }
  __device__ __forceinline__ void store(size_t to) {
    asm volatile("st.global.b32 [%0], %1;" : : "l"(to), "r"(a) : "memory");
  }
};
template <> struct ein_piece<2> {
  unsigned short a;
  __device__ __forceinline__ void load(size_t from) { asm("ld.global.nc.b16 %0, [%1];" : "=h"(a) : "l"(from)); }
  __device__ __forceinline__ void read(size_t from) {
    asm volatile("ld.global.b16 %0, [%1];" : "=h"(a) : "l"(from) : "memory");
  }
  __device__ __forceinline__ void store(size_t to) {
    asm volatile("st.global.b16 [%0], %1;" : : "l"(to), "h"(a) : "memory");
  }
};
template <int N, class T, class A> static __device__ __forceinline__ void ein_wide_load(A *to, const T *from) {
  ein_piece<N * (int)sizeof(T)> piece;
  piece.load(__cvta_generic_to_global(from));
  memcpy(to, &piece, sizeof piece);
}
template <int N, class T, class A> static __device__ __forceinline__ void ein_wide_read(A *to, const T *from) {
  ein_piece<N * (int)sizeof(T)> piece;
  piece.read(__cvta_generic_to_global(from));
  memcpy(to, &piece, sizeof piece);
}
template <int N, class T, class A> static __device__ __forceinline__ void ein_wide_store(T *to, const A *from) {
  ein_piece<N * (int)sizeof(T)> piece;
  memcpy(&piece, from, sizeof piece);
  piece.store(__cvta_generic_to_global(to));
}
#define EIN_WIDE_LOAD(n, to, buffer, at) ein_wide_load<n>(to, &buffer[at])
#define EIN_WIDE_READ(n, to, buffer, at) ein_wide_read<n>(to, &buffer[at])
#define EIN_WIDE_STORE(n, buffer, at, from) ein_wide_store<n>(&buffer[at], from)
#endif
/* Copies adjacent, aligned elements to shared memory in the background; since 8.0 a device does so without registers.
 * An older one copies them at once. */
#ifndef EIN_EMULATED
template <int BYTES> static __device__ __forceinline__ void ein_copy(void *to, const void *from) {
#if __CUDA_ARCH__ >= 800
  const unsigned at = (unsigned)__cvta_generic_to_shared(to);
  const size_t source = __cvta_generic_to_global(from);
  if (BYTES == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" : : "r"(at), "l"(source) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" : : "r"(at), "l"(source), "n"(BYTES) : "memory");
#else
  *(typename ein_wide<BYTES>::type *)to = *(const typename ein_wide<BYTES>::type *)from;
#endif
}
template <int LEFT> static __device__ __forceinline__ void ein_copy_await() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" : : "n"(LEFT) : "memory");
#endif
}
static __device__ __forceinline__ void ein_copy_commit() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" : : : "memory");
#endif
}
#define EIN_COPY(n, to, to_at, from, from_at) ein_copy<n * (int)sizeof(to[0])>(&to[to_at], &from[from_at])
#define EIN_COPY_COMMIT() ein_copy_commit()
#define EIN_COPY_AWAIT(left) ein_copy_await<left>()
#endif
#define EIN_WIDE_ZERO(n, array) memset(array, 0, n * sizeof array[0])

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
