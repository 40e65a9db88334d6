/* SPDX-License-Identifier: MIT-0 */
/*
 * The functions of NVIDIA's cuBLAS that we call, loaded when first needed, so one binary runs on machines with
 * it and without it. They are declared here, so no NVIDIA header is needed; the constants are those of its ABI
 * since CUDA 11.
 */
#ifndef EIN_CUDA_LIBCUBLAS_H
#define EIN_CUDA_LIBCUBLAS_H

#include "libcuda.h"

/* X(name, symbol, parameters): each returns 0 or an error. Matrices are column-major; the lead is the distance
 * between columns. */
#define EIN_LIBCUBLAS(X)                                                                                           \
  X(property, "cublasGetProperty", (int which, int *value))                                                        \
  X(create, "cublasCreate_v2", (void **handle))                                                                    \
  X(destroy, "cublasDestroy_v2", (void *handle))                                                                   \
  X(set_stream, "cublasSetStream_v2", (void *handle, void *stream))                                                \
  X(set_workspace, "cublasSetWorkspace_v2", (void *handle, void *at, size_t bytes))                                \
  X(set_math, "cublasSetMathMode", (void *handle, unsigned mode))                                                  \
  X(product, "cublasGemmEx",                                                                                       \
      (void *handle, int turn_a, int turn_b, int m, int n, int k, const void *alpha, const void *a, int type_a,    \
          int lead_a, const void *b, int type_b, int lead_b, const void *beta, void *c, int type_c, int lead_c,    \
          int sum, int how))                                                                                       \
  X(products, "cublasGemmStridedBatchedEx",                                                                        \
      (void *handle, int turn_a, int turn_b, int m, int n, int k, const void *alpha, const void *a, int type_a,    \
          int lead_a, long long step_a, const void *b, int type_b, int lead_b, long long step_b, const void *beta, \
          void *c, int type_c, int lead_c, long long step_c, int batch, int sum, int how))

enum {
  EIN_BLAS_NO_MEMORY = 3, EIN_BLAS_NOT_HERE = 8, EIN_BLAS_NOT_SO = 15, /* statuses: no such device, no such product */
  EIN_BLAS_F32 = 0, EIN_BLAS_F64 = 1, EIN_BLAS_F16 = 2, EIN_BLAS_BF16 = 14, /* dtypes */
  EIN_BLAS_BY_F32 = 68, EIN_BLAS_BY_F64 = 70,                          /* the type of sums */
  EIN_BLAS_NO_SHORT_SUMS = 16,                                         /* no tf32; halves are summed in f32 */
  EIN_BLAS_ANY_WAY = -1
};

typedef struct ein_libcublas {
#define EIN_LIBCUBLAS_FIELD(name, symbol, parameters) int(*name) parameters;
  EIN_LIBCUBLAS(EIN_LIBCUBLAS_FIELD)
#undef EIN_LIBCUBLAS_FIELD
} ein_libcublas;

static EIN_UNUSED const char *ein_libcublas_word(int status) {
  switch (status) {
  case 1: return "CUBLAS_STATUS_NOT_INITIALIZED";
  case 3: return "CUBLAS_STATUS_ALLOC_FAILED";
  case 7: return "CUBLAS_STATUS_INVALID_VALUE";
  case 8: return "CUBLAS_STATUS_ARCH_MISMATCH";
  case 11: return "CUBLAS_STATUS_MAPPING_ERROR";
  case 13: return "CUBLAS_STATUS_EXECUTION_FAILED";
  case 14: return "CUBLAS_STATUS_INTERNAL_ERROR";
  case 15: return "CUBLAS_STATUS_NOT_SUPPORTED";
  case 16: return "CUBLAS_STATUS_LICENSE_ERROR";
  default: return "an unknown status";
  }
}

/* Loads all functions. Returns 0 and the reason if it is disabled ($EIN_CUBLAS is off), missing, or too old. */
static EIN_UNUSED int ein_libcublas_open(ein_libcublas *b, const char **why) {
  const char *said = getenv("EIN_CUBLAS");
  static const char *const names[] = {"libcublas.so.13", "libcublas.so.12", "libcublas.so.11"};
  void *library, *at;
  *why = "EIN_CUBLAS is off";
  if (said && strcmp(said, "off") == 0) return 0;
  library = ein_libcuda_beside(names, 3);
  *why = "there is no libcublas";
  if (!library) return 0;
  *why = "the libcublas that was found is older than CUDA 11";
#define EIN_LIBCUBLAS_FIND(name, symbol, parameters) \
  at = dlsym(library, symbol);                       \
  if (!at) return 0;                                 \
  memcpy(&b->name, &at, sizeof at);
  EIN_LIBCUBLAS(EIN_LIBCUBLAS_FIND)
#undef EIN_LIBCUBLAS_FIND
  *why = NULL;
  return 1;
}

/* Whether the environment makes NVIDIA's libraries use tf32 for f32; then we do not use them for products of
 * f32. */
static EIN_UNUSED int ein_libcublas_tf32(void) {
  const char *said = getenv("NVIDIA_TF32_OVERRIDE");
  return said && *said && strcmp(said, "0") != 0;
}

#endif
