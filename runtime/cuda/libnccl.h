/* SPDX-License-Identifier: MIT-0 */
/*
 * The functions of NVIDIA's NCCL that we call, loaded when first needed, so one binary runs on machines with it and
 * without it. They are declared here, so no NVIDIA header is needed; the constants are those of its ABI since 2.7.
 */
#ifndef EIN_CUDA_LIBNCCL_H
#define EIN_CUDA_LIBNCCL_H

#include "libcuda.h"

/* Tells the sites of a communicator apart from all others. */
typedef struct ein_nccl_id { char of[128]; } ein_nccl_id;

/* X(name, symbol, parameters): each returns 0 or an error. Sizes are in elements of the type. */
#define EIN_LIBNCCL(X)                                                                                             \
  X(version, "ncclGetVersion", (int *version))                                                                     \
  X(id, "ncclGetUniqueId", (ein_nccl_id * id))                                                                     \
  X(begin, "ncclCommInitRank", (void **comm, int sites, ein_nccl_id id, int site))                                 \
  X(abort, "ncclCommAbort", (void *comm))                                                                          \
  X(error, "ncclCommGetAsyncError", (void *comm, int *error))                                                      \
  X(group_begin, "ncclGroupStart", (void))                                                                         \
  X(group_end, "ncclGroupEnd", (void))                                                                             \
  X(send, "ncclSend", (const void *from, size_t n, int type, int peer, void *comm, void *stream))                  \
  X(receive, "ncclRecv", (void *to, size_t n, int type, int peer, void *comm, void *stream))

enum {
  EIN_NCCL_UNDER_WAY = 7,      /* no error */
  EIN_NCCL_BYTE = 0            /* a type */
};

typedef struct ein_libnccl {
#define EIN_LIBNCCL_FIELD(name, symbol, parameters) int(*name) parameters;
  EIN_LIBNCCL(EIN_LIBNCCL_FIELD)
#undef EIN_LIBNCCL_FIELD
} ein_libnccl;

static EIN_UNUSED const char *ein_libnccl_word(int error) {
  switch (error) {
  case 1: return "unhandled CUDA error";
  case 2: return "unhandled system error";
  case 3: return "internal error";
  case 4: return "invalid argument";
  case 5: return "invalid usage";
  case 6: return "another site has ended, or the network has failed";
  default: return "an unknown error";
  }
}

/* Loads all functions. Returns 0 and the reason if it is disabled ($EIN_NCCL is off), missing, or too old. */
static EIN_UNUSED int ein_libnccl_open(ein_libnccl *b, const char **why) {
  static const char *const names[] = {"libnccl.so.2"};
  const char *said = getenv("EIN_NCCL");
  void *library, *at;
  *why = "EIN_NCCL is off";
  if (said && strcmp(said, "off") == 0) return 0;
  library = ein_libcuda_beside(names, 1);
  *why = "there is no libnccl";
  if (!library) return 0;
  *why = "the libnccl that was found is older than 2.7";
#define EIN_LIBNCCL_FIND(name, symbol, parameters) \
  at = dlsym(library, symbol);                     \
  if (!at) return 0;                               \
  memcpy(&b->name, &at, sizeof at);
  EIN_LIBNCCL(EIN_LIBNCCL_FIND)
#undef EIN_LIBNCCL_FIND
  *why = NULL;
  return 1;
}

#endif
