/* SPDX-License-Identifier: MIT-0 */
/*
 * The functions of the CUDA driver that we call, loaded when first needed, so one binary runs on machines with
 * a driver and without one. They are declared here, so no NVIDIA header is needed; the constants are those of
 * its stable ABI.
 */
#ifndef EIN_CUDA_LIBCUDA_H
#define EIN_CUDA_LIBCUDA_H

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ein_num.h"

/* X(name, symbol, parameters): each returns 0 or an error. Device addresses are 64-bit numbers. */
#define EIN_LIBCUDA(X)                                                                                                \
  X(init, "cuInit", (unsigned flags))                                                                                 \
  X(driver_version, "cuDriverGetVersion", (int *version))                                                             \
  X(device_count, "cuDeviceGetCount", (int *n))                                                                       \
  X(device_get, "cuDeviceGet", (int *device, int number))                                                             \
  X(device_name, "cuDeviceGetName", (char *name, int size, int device))                                               \
  X(device_attribute, "cuDeviceGetAttribute", (int *value, int attribute, int device))                                \
  X(context_retain, "cuDevicePrimaryCtxRetain", (void **context, int device))                                         \
  X(context_release, "cuDevicePrimaryCtxRelease_v2", (int device))                                                    \
  X(context_push, "cuCtxPushCurrent_v2", (void *context))                                                             \
  X(context_pop, "cuCtxPopCurrent_v2", (void **context))                                                              \
  X(module_load, "cuModuleLoadData", (void **module, const void *image))                                              \
  X(module_unload, "cuModuleUnload", (void *module))                                                                  \
  X(module_function, "cuModuleGetFunction", (void **function, void *module, const char *name))                        \
  X(function_set, "cuFuncSetAttribute", (void *function, int attribute, int value))                                   \
  X(memory_info, "cuMemGetInfo_v2", (size_t * left, size_t * all))                                                    \
  X(memory_take, "cuMemAlloc_v2", (uint64_t * at, size_t bytes))                                                      \
  X(memory_drop, "cuMemFree_v2", (uint64_t at))                                                                       \
  X(host_take, "cuMemAllocHost_v2", (void **at, size_t bytes))                                                        \
  X(host_drop, "cuMemFreeHost", (void *at))                                                                           \
  X(host_lock, "cuMemHostRegister_v2", (void *at, size_t bytes, unsigned flags))                                      \
  X(host_unlock, "cuMemHostUnregister", (void *at))                                                                   \
  X(copy_up, "cuMemcpyHtoDAsync_v2", (uint64_t to, const void *from, size_t bytes, void *stream))                     \
  X(copy_down, "cuMemcpyDtoHAsync_v2", (void *to, uint64_t from, size_t bytes, void *stream))                         \
  X(copy_across, "cuMemcpyDtoDAsync_v2", (uint64_t to, uint64_t from, size_t bytes, void *stream))                    \
  X(fill, "cuMemsetD8Async", (uint64_t to, unsigned char byte, size_t bytes, void *stream))                           \
  X(stream_new, "cuStreamCreate", (void **stream, unsigned flags))                                                    \
  X(stream_end, "cuStreamDestroy_v2", (void *stream))                                                                 \
  X(stream_wait, "cuStreamSynchronize", (void *stream))                                                               \
  X(stream_after, "cuStreamWaitEvent", (void *stream, void *event, unsigned flags))                                   \
  X(event_new, "cuEventCreate", (void **event, unsigned flags))                                                       \
  X(event_record, "cuEventRecord", (void *event, void *stream))                                                       \
  X(event_end, "cuEventDestroy_v2", (void *event))                                                                    \
  X(stream_context, "cuStreamGetCtx", (void *stream, void **context))                                                 \
  X(pointer_attribute, "cuPointerGetAttribute", (void *value, int attribute, uint64_t at))                            \
  X(launch, "cuLaunchKernel",                                                                                         \
      (void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, \
          void *stream, void **parameter, void **extra))                                                              \
  X(error_name, "cuGetErrorName", (int error, const char **name))                                                     \
  X(error_text, "cuGetErrorString", (int error, const char **text))

/* Those of CUDA 11.4 and later; without them, we make no graphs. A kernel's node is described by ein_cu_node. */
#define EIN_LIBCUDA_GRAPHS(X)                                                                        \
  X(capturing, "cuStreamIsCapturing", (void *stream, int *status))                                   \
  X(capture_begin, "cuStreamBeginCapture_v2", (void *stream, int mode))                              \
  X(capture_end, "cuStreamEndCapture", (void *stream, void **graph))                                 \
  X(capture_info, "cuStreamGetCaptureInfo_v2",                                                       \
      (void *stream, int *status, uint64_t *id, void **graph, void *const **last, size_t *n))        \
  X(graph_make, "cuGraphInstantiateWithFlags", (void **made, void *graph, unsigned long long flags)) \
  X(graph_set, "cuGraphExecKernelNodeSetParams", (void *made, void *node, const ein_cu_node *what))  \
  X(graph_launch, "cuGraphLaunch", (void *made, void *stream))                                       \
  X(graph_drop, "cuGraphExecDestroy", (void *made))                                                  \
  X(graph_forget, "cuGraphDestroy", (void *graph))

/* For exchanges between devices; all drivers that can run our kernels have them. */
#define EIN_LIBCUDA_PEERS(X)                                          \
  X(device_uuid, "cuDeviceGetUuid", (unsigned char *uuid, int device)) \
  X(event_query, "cuEventQuery", (void *event))

typedef struct ein_cu_node {
  void *function;
  unsigned grid[3], block[3], shared;
  void **parameter, **extra;
} ein_cu_node;

enum {
  EIN_CU_MEMORY = 2,
  EIN_CU_NO_DEVICE = 100,
  EIN_CU_NO_IMAGE = 209,
  EIN_CU_PTX = 218,
  EIN_CU_PTX_VERSION = 222,
  EIN_CU_NOT_READY = 600,
  EIN_CU_LOCKED = 712, /* errors */
  EIN_CU_MAJOR = 75,
  EIN_CU_MINOR = 76,
  EIN_CU_SHARED = 97, /* attributes; the last: bytes of shared memory that a block may ask for */
  EIN_CU_FUNCTION_SHARED = 8, /* of a kernel: the bytes that it may ask for */
  /* pointer attributes */
  EIN_CU_POINTER_TYPE = 2,
  EIN_CU_POINTER_MANAGED = 8,
  EIN_CU_POINTER_DEVICE = 9,
  /* a memory type */
  EIN_CU_ON_DEVICE = 2,
  /* does not synchronize with other streams */
  EIN_CU_OWN_STREAM = 1,
  /* an event that does not measure time */
  EIN_CU_NO_TIMES = 2,
  /* a capture mode: unaffected by other threads' calls */
  EIN_CU_OF_THREAD = 1
};

typedef struct ein_libcuda {
#define EIN_LIBCUDA_FIELD(name, symbol, parameters) int(*name) parameters;
  EIN_LIBCUDA(EIN_LIBCUDA_FIELD)
  EIN_LIBCUDA_PEERS(EIN_LIBCUDA_FIELD)
  EIN_LIBCUDA_GRAPHS(EIN_LIBCUDA_FIELD)
#undef EIN_LIBCUDA_FIELD
  int graphs;                  /* whether it has all of those */
} ein_libcuda;

/* Opens another library of NVIDIA's, the first of n names that there is: on the loader's path, then where toolkits are
 * installed. */
static EIN_UNUSED void *ein_libcuda_beside(const char *const *names, int n) {
  const char *home = getenv("CUDA_HOME");
  for (int folder = 0; folder < 3; folder++)
    for (int i = 0; i < n; i++) {
      char path[4096];
      if (folder == 1 && (!home || !*home)) break;
      int length = snprintf(path, sizeof path, "%s%s%s",
          folder == 0       ? ""
              : folder == 1 ? home
                            : "/usr/local/cuda",
          folder ? "/lib64/" : "", names[i]);
      void *at = length > 0 && length < (int)sizeof path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
      if (at) return at;
    }
  return NULL;
}

/* "out of memory (CUDA_ERROR_OUT_OF_MEMORY)"; for an error that the driver does not know, its number. */
typedef struct ein_cuda_words { char text[160]; } ein_cuda_words;
static EIN_UNUSED ein_cuda_words ein_libcuda_words(const ein_libcuda *cu, int error) {
  ein_cuda_words w;
  const char *text = NULL, *name = NULL;
  if (cu->error_text(error, &text) || !text || cu->error_name(error, &name) || !name)
    snprintf(w.text, sizeof w.text, "error %d", error);
  else snprintf(w.text, sizeof w.text, "%s (%s)", text, name);
  return w;
}

/* Loads all functions, initialises the driver and checks that it has devices. Returns 0 on failure, and sets
 * *error. */
static EIN_UNUSED int ein_libcuda_open(ein_libcuda *cu, ein_error *error) {
  void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL), *at = NULL;
  int n = 0, e;
  if (!driver) {
    ein_error_set(error, EIN_ERR_IO,
        "no CUDA driver: this machine has no libcuda.so.1, which comes with NVIDIA's driver");
    return 0;
  }
#define EIN_LIBCUDA_FIND(name, symbol, parameters)                                                              \
  at = dlsym(driver, symbol);                                                                                   \
  if (!at)                                                                                                      \
    return ein_error_set(                                                                                       \
               error, EIN_ERR_IO, "the CUDA driver is too old: it has no %s, which came with CUDA 11", symbol), \
           0;                                                                                                   \
  memcpy(&cu->name, &at, sizeof at);
  EIN_LIBCUDA(EIN_LIBCUDA_FIND)
  EIN_LIBCUDA_PEERS(EIN_LIBCUDA_FIND)
#undef EIN_LIBCUDA_FIND
  cu->graphs = 1;
#define EIN_LIBCUDA_FIND(name, symbol, parameters) \
  at = dlsym(driver, symbol);                      \
  if (!at) cu->graphs = 0;                         \
  memcpy(&cu->name, &at, sizeof at);
  EIN_LIBCUDA_GRAPHS(EIN_LIBCUDA_FIND)
#undef EIN_LIBCUDA_FIND
  e = cu->init(0);
  if (e && e != EIN_CU_NO_DEVICE)
    return ein_error_set(error, EIN_ERR_IO, "the CUDA driver does not start: %s", ein_libcuda_words(cu, e).text), 0;
  if (e || cu->device_count(&n) || n < 1)
    return ein_error_set(error, EIN_ERR_IO, "no CUDA device: the driver finds none"), 0;
  return 1;
}

#endif
