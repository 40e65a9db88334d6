/* tests/cuda/nccl_abi.c - the compiler accepts this if runtime/cuda/libnccl.h declares NCCL's functions and constants
 * as NVIDIA's header does. It is not run. */
#include <nccl.h>

#include "cuda/libnccl.h"

_Static_assert(sizeof(ein_nccl_id) == sizeof(ncclUniqueId) && _Alignof(ein_nccl_id) == _Alignof(ncclUniqueId), "id");
_Static_assert((int)ncclSuccess == 0 && (int)ncclInProgress == EIN_NCCL_UNDER_WAY, "errors");
_Static_assert((int)ncclInt8 == EIN_NCCL_BYTE, "types");
_Static_assert((int)ncclUnhandledCudaError == 1 && (int)ncclSystemError == 2 && (int)ncclInternalError == 3 &&
        (int)ncclInvalidArgument == 4 && (int)ncclInvalidUsage == 5 && (int)ncclRemoteError == 6,
    "the words for errors");

/* With NVIDIA's names for handles and enumerations, which are pointers and ints. */
#define SAME(returned, name, parameters) static returned(*const of_##name) parameters = name;
SAME(ncclResult_t, ncclGetVersion, (int *))
SAME(ncclResult_t, ncclGetUniqueId, (ncclUniqueId *))
SAME(ncclResult_t, ncclCommInitRank, (ncclComm_t *, int, ncclUniqueId, int))
SAME(ncclResult_t, ncclCommAbort, (ncclComm_t))
SAME(ncclResult_t, ncclCommGetAsyncError, (ncclComm_t, ncclResult_t *))
SAME(ncclResult_t, ncclGroupStart, (void))
SAME(ncclResult_t, ncclGroupEnd, (void))
SAME(ncclResult_t, ncclSend, (const void *, size_t, ncclDataType_t, int, ncclComm_t, cudaStream_t))
SAME(ncclResult_t, ncclRecv, (void *, size_t, ncclDataType_t, int, ncclComm_t, cudaStream_t))

int main(void) {
  return of_ncclGetVersion == 0 || of_ncclGetUniqueId == 0 || of_ncclCommInitRank == 0 || of_ncclCommAbort == 0 ||
      of_ncclCommGetAsyncError == 0 || of_ncclGroupStart == 0 || of_ncclGroupEnd == 0 || of_ncclSend == 0 ||
      of_ncclRecv == 0;
}
