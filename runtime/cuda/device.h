/* SPDX-License-Identifier: MIT-0 */
/*
 * What code for CUDA needs before everything else (EIN_CUDA): its scalar functions are for the host and the
 * device, and there is no C library to include if NVRTC compiles the kernels at run time.
 */
#ifndef EIN_CUDA_DEVICE_H
#define EIN_CUDA_DEVICE_H

#if defined(__CUDACC_RTC__)
#define EIN_BOTH __device__
#else
#define EIN_BOTH __host__ __device__
#endif
#define EIN_INLINE static inline EIN_BOTH
#define EIN_FMA 1 /* every device has the instruction */

/* Adjacent threads need different results: a branch would take both paths, and would separate independent
 * computations. */
#if defined(__CUDA_ARCH__) && !defined(EIN_EMULATED)
static __device__ __forceinline__ float ein_below_of(float x, float limit, float below, float above) {
  float y;
  asm("{ .reg .pred p; setp.lt.f32 p, %1, %2; selp.f32 %0, %3, %4, p; }"
      : "=f"(y)
      : "f"(x), "f"(limit), "f"(below), "f"(above));
  return y;
}
#define EIN_BELOW(x, limit, below, above) ein_below_of(x, limit, below, above)
#endif

#if defined(__CUDACC_RTC__) && !defined(EIN_EMULATED) /* an emulation has a C library */
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
typedef unsigned long long uintptr_t;
#define INT8_MIN (-128)
#define INT8_MAX 127
#define UINT8_MAX 255
#define INT16_MIN (-32768)
#define INT16_MAX 32767
#define INT32_MIN (-2147483647 - 1)
#define INT32_MAX 2147483647
#define INT64_MIN (-9223372036854775807LL - 1)
#define INT64_MAX 9223372036854775807LL
#define UINT64_MAX 18446744073709551615ULL
#define INT64_C(x) x##LL
#define UINT64_C(x) x##ULL
#define INFINITY __int_as_float(0x7F800000)
#define NAN __int_as_float(0x7FC00000)
#endif

#endif
