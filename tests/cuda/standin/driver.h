/* tests/cuda/standin/driver.h - the functions of the CUDA driver that the stand-in has. */
#ifndef EIN_STANDIN_DRIVER_H
#define EIN_STANDIN_DRIVER_H

#include <stddef.h>
#include <stdint.h>

int cuInit(unsigned flags);
int cuDriverGetVersion(int *version);
int cuDeviceGetCount(int *n);
int cuDeviceGet(int *device, int number);
int cuDeviceGetUuid(unsigned char *uuid, int device);
int cuDeviceGetName(char *name, int size, int device);
int cuDeviceGetAttribute(int *value, int attribute, int device);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuDevicePrimaryCtxRelease_v2(int device);
int cuCtxPushCurrent_v2(void *context);
int cuCtxPopCurrent_v2(void **context);
int cuModuleLoadData(void **module, const void *image);
int cuModuleUnload(void *module);
int cuModuleGetFunction(void **function, void *module, const char *name);
int cuFuncSetAttribute(void *function, int attribute, int value);
int cuMemGetInfo_v2(size_t *left, size_t *all);
int cuMemAlloc_v2(uint64_t *at, size_t bytes);
int cuMemFree_v2(uint64_t at);
int cuMemAllocHost_v2(void **at, size_t bytes);
int cuMemFreeHost(void *at);
int cuMemHostRegister_v2(void *at, size_t bytes, unsigned flags);
int cuMemHostUnregister(void *at);
int cuEventCreate(void **event, unsigned flags);
int cuEventDestroy_v2(void *event);
int cuEventQuery(void *event);
int cuEventRecord(void *event, void *stream);
int cuStreamWaitEvent(void *stream, void *event, unsigned flags);
int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, void *stream);
int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, void *stream);
int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void *stream);
int cuMemsetD8Async(uint64_t to, unsigned char byte, size_t bytes, void *stream);
int cuStreamCreate(void **stream, unsigned flags);
int cuStreamDestroy_v2(void *stream);
int cuStreamSynchronize(void *stream);
int cuStreamGetCtx(void *stream, void **context);
int cuPointerGetAttribute(void *value, int attribute, uint64_t at);
int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
    unsigned shared, void *stream, void **parameter, void **extra);
int cuStreamIsCapturing(void *stream, int *status);
int cuStreamBeginCapture_v2(void *stream, int mode);
int cuStreamEndCapture(void *stream, void **graph);
int cuStreamGetCaptureInfo_v2(void *stream, int *status, uint64_t *id, void **graph, void *const **last, size_t *n);
int cuGraphInstantiateWithFlags(void **made, void *graph, unsigned long long flags);
typedef struct KernelNode { void *function; unsigned grid[3], block[3], shared; void **parameter, **extra; } KernelNode;
int cuGraphExecKernelNodeSetParams(void *made, void *node, const KernelNode *what);
int cuGraphLaunch(void *made, void *stream);
int cuGraphExecDestroy(void *made);
int cuGraphDestroy(void *graph);
int cuGetErrorName(int error, const char **name);
int cuGetErrorString(int error, const char **text);

#endif
