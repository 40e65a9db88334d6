/* SPDX-License-Identifier: MIT-0 */
/*
 * Products of two tiles in shared memory by a warp, on matrix units: of f16 and bf16 into f32, and of f64. Of f16 and
 * bf16, the first tile may be in registers.
 * LoopMatrix documents which elements each thread holds. A device without such units does the same with
 * multiply-adds.
 */
#ifndef EIN_CUDA_MATRIX_H
#define EIN_CUDA_MATRIX_H

#if defined(EIN_CUDA) && !defined(EIN_EMULATED) && defined(__CUDACC__)

#define EIN_MATRIX(type, acc, rows, lanes, deep, a, a_at, a_step, a_deep, b, b_at, b_step, b_deep) \
  ein_matrix_##type<rows, lanes, deep, a_step, a_deep, b_step, b_deep>(acc, &a[a_at], &b[b_at])
#define EIN_MATRIX_HELD(type, acc, rows, lanes, deep, a, b, b_at, b_step, b_deep) \
  ein_matrix_held_##type<rows, lanes, deep, b_step, b_deep>(acc, a, &b[b_at])

static __device__ __forceinline__ unsigned ein_lane() {
  unsigned lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
}

/* Loads four 8 by 8 matrices of halves; each thread passes the start of a row. ACROSS: transposed. */
template <bool ACROSS> static __device__ __forceinline__ void ein_matrix_load(unsigned (&to)[4], const uint16_t *row) {
#if __CUDA_ARCH__ >= 800
  unsigned at = (unsigned)__cvta_generic_to_shared(row);
  if (ACROSS)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(at)
                 : "memory");
  else
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(at)
                 : "memory");
#endif
}

template <bool BRAIN>
static __device__ __forceinline__ void ein_matrix_mul(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
#if __CUDA_ARCH__ >= 800
  if (BRAIN)
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, "
        "%2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  else
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, "
        "%2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#endif
}

template <bool BRAIN> static __device__ __forceinline__ float ein_matrix_value(uint16_t x) {
  return BRAIN ? ein_bf16_to_f32(x) : ein_f16_to_f32(x);
}

template <bool BRAIN, int ROWS, int LANES, int DEEP, int AS, int AD, int BS, int BD>
static __device__ __forceinline__ void ein_matrix_half(float *acc, const uint16_t *a, const uint16_t *b) {
  const unsigned lane = ein_lane();
#if __CUDA_ARCH__ >= 800
  const unsigned matrix = lane / 8, row = lane % 8;
#pragma unroll
  for (int k = 0; k < DEEP; k += 16) {
    unsigned from_a[ROWS / 16][4], from_b[LANES / 16][4];
#pragma unroll
    for (int i = 0; i < ROWS / 16; i++)
      ein_matrix_load<AD != 1>(from_a[i], AD == 1 ? a + (16 * i + matrix % 2 * 8 + row) * AS + k + matrix / 2 * 8
                                                  : a + (k + matrix / 2 * 8 + row) * AD + 16 * i + matrix % 2 * 8);
#pragma unroll
    for (int j = 0; j < LANES / 16; j++)
      ein_matrix_load<BD != 1>(from_b[j], BD == 1 ? b + (16 * j + matrix / 2 * 8 + row) * BS + k + matrix % 2 * 8
                                                  : b + (k + matrix % 2 * 8 + row) * BD + 16 * j + matrix / 2 * 8);
#pragma unroll
    for (int i = 0; i < ROWS / 16; i++)
#pragma unroll
      for (int j = 0; j < LANES / 8; j++) {
        float *x = acc + 2 * i * (LANES / 4) + 2 * j, *y = x + LANES / 4, c[4] = {x[0], x[1], y[0], y[1]};
        ein_matrix_mul<BRAIN>(c, from_a[i], from_b[j / 2][j % 2 * 2], from_b[j / 2][j % 2 * 2 + 1]);
        x[0] = c[0], x[1] = c[1], y[0] = c[2], y[1] = c[3];
      }
  }
#else
#pragma unroll
  for (int r = 0; r < ROWS / 8; r++)
#pragma unroll
    for (int c = 0; c < LANES / 4; c++) {
      const uint16_t *x = a + (8 * r + lane / 4) * AS, *y = b + (8 * (c / 2) + 2 * (lane % 4) + c % 2) * BS;
      float sum = acc[r * (LANES / 4) + c];
      for (int k = 0; k < DEEP; k++)
        sum = fmaf(ein_matrix_value<BRAIN>(x[k * AD]), ein_matrix_value<BRAIN>(y[k * BD]), sum);
      acc[r * (LANES / 4) + c] = sum;
    }
#endif
}

template <int ROWS, int LANES, int DEEP, int AS, int AD, int BS, int BD>
static __device__ __forceinline__ void ein_matrix_f16(float *acc, const uint16_t *a, const uint16_t *b) {
  ein_matrix_half<false, ROWS, LANES, DEEP, AS, AD, BS, BD>(acc, a, b);
}
template <int ROWS, int LANES, int DEEP, int AS, int AD, int BS, int BD>
static __device__ __forceinline__ void ein_matrix_bf16(float *acc, const uint16_t *a, const uint16_t *b) {
  ein_matrix_half<true, ROWS, LANES, DEEP, AS, AD, BS, BD>(acc, a, b);
}

/* Two neighbours as halves. Floats have been rounded to halves before. */
template <bool BRAIN> static __device__ __forceinline__ unsigned ein_matrix_pair(const uint16_t *x) {
  return x[0] | (unsigned)x[1] << 16;
}
template <bool BRAIN> static __device__ __forceinline__ unsigned ein_matrix_pair(const float *x) {
  unsigned out = 0;
#if __CUDA_ARCH__ >= 800
  if (BRAIN)
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(out) : "f"(x[1]), "f"(x[0]));
  else
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(out) : "f"(x[1]), "f"(x[0]));
#endif
  return out;
}
template <bool BRAIN> static __device__ __forceinline__ float ein_matrix_one(uint16_t x) {
  return ein_matrix_value<BRAIN>(x);
}
template <bool BRAIN> static __device__ __forceinline__ float ein_matrix_one(float x) {
  return x;
}

template <bool BRAIN, int ROWS, int LANES, int DEEP, int BS, int BD, class A>
static __device__ __forceinline__ void ein_matrix_held(float *acc, const A *a, const uint16_t *b) {
  const unsigned lane = ein_lane();
#if __CUDA_ARCH__ >= 800
  const unsigned matrix = lane / 8, row = lane % 8;
#pragma unroll
  for (int k = 0; k < DEEP; k += 16) {
    unsigned from_a[ROWS / 16][4];
#pragma unroll
    for (int i = 0; i < ROWS / 16; i++)
#pragma unroll
      for (int e = 0; e < 4; e++)
        from_a[i][e] = ein_matrix_pair<BRAIN>(a + (2 * i + e % 2) * (DEEP / 4) + k / 4 + e / 2 * 2);
#pragma unroll
    for (int j = 0; j < LANES / 16; j++) {
      unsigned from_b[4];
      ein_matrix_load<BD != 1>(from_b,
          BD == 1 ? b + (16 * j + matrix / 2 * 8 + row) * BS + k + matrix % 2 * 8
                  : b + (k + matrix % 2 * 8 + row) * BD + 16 * j + matrix / 2 * 8);
#pragma unroll
      for (int i = 0; i < ROWS / 16; i++)
#pragma unroll
        for (int half = 0; half < 2; half++) {
          float *x = acc + 2 * i * (LANES / 4) + 4 * j + 2 * half, *y = x + LANES / 4, c[4] = {x[0], x[1], y[0], y[1]};
          ein_matrix_mul<BRAIN>(c, from_a[i], from_b[2 * half], from_b[2 * half + 1]);
          x[0] = c[0], x[1] = c[1], y[0] = c[2], y[1] = c[3];
        }
    }
  }
#else
#pragma unroll 1
  for (unsigned from = 0; from < 4; from++) /* what each of the row's threads holds */
#pragma unroll
    for (int e = 0; e < DEEP / 4; e++) {
      const unsigned k = e / 2 * 8 + 2 * from + e % 2;
      float x[ROWS / 8];
#pragma unroll
      for (int r = 0; r < ROWS / 8; r++)
        x[r] = __shfl_sync(0xffffffffu, ein_matrix_one<BRAIN>(a[r * (DEEP / 4) + e]), lane / 4 * 4 + from);
#pragma unroll
      for (int c = 0; c < LANES / 4; c++) {
        const float y = ein_matrix_value<BRAIN>(b[(8 * (c / 2) + 2 * (lane % 4) + c % 2) * BS + k * BD]);
#pragma unroll
        for (int r = 0; r < ROWS / 8; r++) acc[r * (LANES / 4) + c] = fmaf(x[r], y, acc[r * (LANES / 4) + c]);
      }
      asm volatile("" : : : "memory"); /* else all is loaded first */
    }
#endif
}
template <int ROWS, int LANES, int DEEP, int BS, int BD, class A>
static __device__ __forceinline__ void ein_matrix_held_f16(float *acc, const A *a, const uint16_t *b) {
  ein_matrix_held<false, ROWS, LANES, DEEP, BS, BD>(acc, a, b);
}
template <int ROWS, int LANES, int DEEP, int BS, int BD, class A>
static __device__ __forceinline__ void ein_matrix_held_bf16(float *acc, const A *a, const uint16_t *b) {
  ein_matrix_held<true, ROWS, LANES, DEEP, BS, BD>(acc, a, b);
}

/* 16 rows, 8 lanes; 8 points of the sum, or 4. */
static __device__ __forceinline__ void ein_matrix_add(
    double *x, double *y, const double (&a)[1], const double (&c)[1], const double (&b)[1]) {
#if __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
      : "+d"(x[0]), "+d"(x[1])
      : "d"(a[0]), "d"(b[0]));
  asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
      : "+d"(y[0]), "+d"(y[1])
      : "d"(c[0]), "d"(b[0]));
#endif
}
static __device__ __forceinline__ void ein_matrix_add(
    double *x, double *y, const double (&a)[2], const double (&c)[2], const double (&b)[2]) {
#if __CUDA_ARCH__ >= 900
  asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+d"(x[0]), "+d"(x[1]), "+d"(y[0]), "+d"(y[1])
      : "d"(a[0]), "d"(c[0]), "d"(a[1]), "d"(c[1]), "d"(b[0]), "d"(b[1]));
#else
#pragma unroll
  for (int e = 0; e < 2; e++) {
    const double one[1] = {a[e]}, two[1] = {c[e]}, by[1] = {b[e]};
    ein_matrix_add(x, y, one, two, by);
  }
#endif
}

template <int ROWS, int LANES, int DEEP, int AS, int AD, int BS, int BD>
static __device__ __forceinline__ void ein_matrix_f64(double *acc, const double *a, const double *b) {
  const unsigned lane = ein_lane(), row = lane / 4, deep = lane % 4;
  constexpr int STEP = DEEP % 8 ? 4 : 8;
#pragma unroll
  for (int k = 0; k < DEEP; k += STEP) {
    double from_b[LANES / 8][STEP / 4];
#pragma unroll
    for (int j = 0; j < LANES / 8; j++)
#pragma unroll
      for (int e = 0; e < STEP / 4; e++) from_b[j][e] = b[(8 * j + row) * BS + (k + 4 * e + deep) * BD];
#pragma unroll
    for (int i = 0; i < ROWS / 16; i++) {
      double upper[STEP / 4], lower[STEP / 4];
#pragma unroll
      for (int e = 0; e < STEP / 4; e++) {
        upper[e] = a[(16 * i + row) * AS + (k + 4 * e + deep) * AD];
        lower[e] = a[(16 * i + 8 + row) * AS + (k + 4 * e + deep) * AD];
      }
#pragma unroll
      for (int j = 0; j < LANES / 8; j++) {
        double *x = acc + 2 * i * (LANES / 4) + 2 * j, *y = x + LANES / 4;
        ein_matrix_add(x, y, upper, lower, from_b[j]);
      }
    }
  }
#if __CUDA_ARCH__ < 800
#pragma unroll
  for (int r = 0; r < ROWS / 8; r++)
#pragma unroll
    for (int c = 0; c < LANES / 4; c++)
      for (int k = 0; k < DEEP; k++)
        acc[r * (LANES / 4) + c] = fma(a[(8 * r + row) * AS + k * AD],
            b[(8 * (c / 2) + 2 * deep + c % 2) * BS + k * BD], acc[r * (LANES / 4) + c]);
#endif
}

#endif
#endif
