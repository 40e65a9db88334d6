/* SPDX-License-Identifier: MIT-0 */
/*
 * What a caller of a generated library sees of tensors: element types, status codes, borrowed views, and the
 * settings of a context. It holds only types and inline helpers, so there is nothing to link. Valid C99 and
 * C++.
 */
#ifndef EIN_TENSOR_H
#define EIN_TENSOR_H 4 /* the format's version; it changes where a caller of one version would misread the other */

#if !defined(__CUDACC_RTC__)
#include <stddef.h>
#include <stdint.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define EIN_MAX_AXES 64

/* ---- element types ---- */

typedef enum ein_dtype {
  EIN_F64,
  EIN_F32,
  EIN_F16,
  EIN_BF16,
  EIN_I64,
  EIN_I32,
  EIN_I16,
  EIN_I8,
  EIN_U8,
  EIN_BOOL
} ein_dtype;

#define EIN_DTYPE_COUNT 10

/* ---- what goes wrong ---- */

typedef enum ein_status {
  EIN_OK = 0,
  EIN_ERR_IO,     /* the system refused: no such file, no permission, disk full */
  EIN_ERR_FORMAT, /* a file or a spec is malformed */
  EIN_ERR_SHAPE,  /* the shape is not the expected one, or not a shape */
  EIN_ERR_DTYPE,  /* the element type cannot be converted to the requested one */
  EIN_ERR_MEMORY, /* no memory */
  EIN_ERR_ARG,    /* the caller's argument is invalid */
  EIN_ERR_RANGE,  /* a number does not fit its type */
  EIN_ERR_INDEX,  /* a gathered index is out of range */
  EIN_ERR_ASSERT, /* an assert of the program fails */
  EIN_ERR_PLAN,   /* run before plan, or a workspace too small */
  EIN_ERR_CANCEL  /* the caller cancelled */
} ein_status;

/* Initialise it to {0}. The first error is kept; later ones are dropped. */
typedef struct ein_error {
  ein_status status;
  char text[512];
} ein_error;

/* ---- tensors ---- */

/*
 * A borrowed view. Each field is DLPack's DLTensor field of the same name (`dtype` through
 * ein_dtype_to_dlpack). `strides` are in elements; NULL means C order. The first element is at
 * (char *)data + byte_offset. Device type 1 is the CPU, 2 a device of CUDA, whose number is device_id.
 */
typedef struct ein_tensor {
  void *data;
  int32_t device_type;
  int32_t device_id;
  int32_t ndim;
  ein_dtype dtype;
  const int64_t *shape;
  const int64_t *strides;
  uint64_t byte_offset;
} ein_tensor;

/* ---- between sites ---- */

/* Bytes to send to a peer, or room for bytes to receive from one. */
typedef struct ein_parcel {
  int peer;
  void *data;
  size_t bytes;
} ein_parcel;

/* How the sites of a mesh exchange data: through memory or messages. All sites make the same exchanges in the same
 * order, and need not wait for sites from which they get nothing. At the end of a plan or a run, of any exchanges, and
 * where else all must know, all call agree.
 *
 * A site that cannot go on makes no more exchanges, but calls agree at once. Sites that wait for it, or for one that
 * does, get an error from an exchange, and call agree as well. So all sites learn of it in the same agree; after that
 * no exchange is under way. */
typedef struct ein_wire {
  void *user;
  int site, sites;       /* this site's number, and the number of sites */
  /* A parcel has the size that its receiver expects; at most one parcel goes from one site to another; a site may
   * send to itself. After an error the wire owns the parcels until agree. */
  ein_status (*exchange)(
      void *user, int n_send, const ein_parcel *send, int n_receive, const ein_parcel *receive);
  /* Sends one number to each site and receives one from each: the sizes of what comes next, where only one site
   * knows them. After an error the wire owns them, too. */
  ein_status (*counts)(void *user, const int64_t *send, int64_t *receive);
  /* mine: whether this site can go on. Returns the same to all: the status of the first site that cannot. */
  ein_status (*agree)(void *user, ein_status mine);
  void (*close)(void *user); /* called when the context that owns the wire is destroyed; NULL: the wire is borrowed */
  /* An exchange in two halves, so that sites can compute meanwhile: all call start, and the wire owns the parcels
   * until finish with the same key returns. Several exchanges may be under way at once, each with its own key, and
   * blocking exchanges may come between. look makes progress; it is called now and then. Either all three are given
   * or all are NULL. */
  ein_status (*start)(
      void *user, int key, int n_send, const ein_parcel *send, int n_receive, const ein_parcel *receive);
  ein_status (*finish)(void *user, int key);
  void (*look)(void *user);
  int place;             /* this site's number among those on its machine, from 0; devices are assigned by it, round
                          * robin */
  /* Counts data that this site exchanges with a peer by another way than this wire, from device to device. Called
   * before the exchange that takes their place here, which has a byte for each parcel; that is not included. NULL:
   * nobody counts. */
  void (*beside)(void *user, int peer, size_t sent, size_t received);
  /* Whether another site has failed, without waiting: what it was to send by another way does not come then. NULL: only
   * exchanges tell. */
  int (*failed)(void *user);
  /* What the network's last error at this site says, after an exchange has failed; "" if it has failed elsewhere. NULL:
   * nobody knows. */
  const char *(*why)(void *user);
} ein_wire;

/* What last_error reports at a site that has not failed itself. */
#define EIN_ELSEWHERE "another site has failed"

/* What a site has sent to and received from others. Parcels to itself are not counted. */
typedef struct ein_traffic {
  uint64_t bytes_sent, bytes_received, messages_sent, messages_received;
} ein_traffic;

/* ---- a context's settings ---- */

/* Called once for each i in 0..n-1, by any thread. worker is less than the context's `threads`, and no two
 * calls that run at the same time have the same worker. */
typedef void ein_task(void *env, int64_t i, int worker);

/* An observer of a run's steps. The thread that runs calls `step` when a step begins, with the step's number in
 * the text of tasks (ein build --stop=task). half is 1 if the run now waits for a move that has begun. A step
 * of -1 means that the run has ended without failure. */
typedef struct ein_watch {
  void *user;
  void (*step)(void *user, int step, int half);
} ein_watch;

/* What a context has asked of its device since it was made: kernels and copies launched one by one, graphs
 * built and launched, and bytes from and to the host; how many runs did not fit its memory, and how many of the bytes
 * were for that: what is beyond each input and output once. spilled: the tensors with most of these in the last such
 * run, "W 4096, Q 1024". between: of one of several sites, how moves go from device to device, or why over the host;
 * bytes_between: those that came so, besides bytes_up. */
typedef struct ein_counts {
  uint64_t launches, graphs, graph_launches, bytes_up, bytes_down, runs_spilled, bytes_spilled;
  char spilled[200];
  uint64_t ranges;
  char between[160];
  uint64_t bytes_between;
} ein_counts;

/* All zero, apart from `size`, means the defaults. Fields are only ever added at the end. */
typedef struct ein_config {
  size_t size;         /* sizeof(ein_config), so that a later library knows which fields exist */
  int threads;         /* the most threads; 0: as many as OpenMP would use (or the machine has) */
  /* The caller's allocator. NULL: malloc and free. */
  void *(*alloc)(void *user, size_t bytes, size_t alignment);
  void (*release)(void *user, void *p, size_t bytes);
  /* The caller's threads; it may run the calls in any order. NULL: the runtime's. */
  void (*parallel)(void *user, int threads, ein_task *task, void *env, int64_t n);
  void *user;
  void *workspace;     /* borrowed, 64-byte aligned; NULL: allocated when a run is planned */
  size_t workspace_bytes;
  const ein_wire *wire; /* for a model on several sites; borrowed */
  /* A flag of the caller's, or NULL. While it is not 0, a run that begins does not clear a cancel, so setting
   * it and then cancelling also ends a run that is just beginning. */
  const volatile int *stop;
  /* Called by the thread that runs, with `user`, before the first turn of an outermost repeat and after each of
   * its turns but the last. `ctx` is the context; its internals depend on the runtime's version. A status other
   * than EIN_OK ends the run, and *error says why. With a wire, all sites are at the same turn and must return
   * the same. */
  ein_status (*between)(void *user, void *ctx, ein_error *error);
  /* For a model for CUDA. device is the device's number (0: with a wire, the sites of a machine take its
   * devices in turn; -1: the first device). stream is a stream of the caller's on that device, to which all
   * work is submitted; NULL: the context makes its own. Then workspace is device memory, 256-byte aligned;
   * alloc and release still handle host memory. */
  int device;
  void *stream;
  const ein_watch *watch; /* borrowed; called only by a model whose code reports its steps, as that of ein run --profile
                           * does */
  ein_counts *counts;  /* borrowed; a model for CUDA adds to it; NULL: nothing is counted */
  uint64_t device_memory; /* the most bytes that a model for CUDA takes on its device, beside cuBLAS's; 0: what is free.
                           * A run that takes more keeps tensors on the host, and fetches them when it needs them */
} ein_config;

/* ---- a model as data: for `ein run`, `ein bench` and the program that `ein build -o` makes ---- */

typedef struct ein_argument {
  const char *name;
  ein_dtype dtype;
  int ndim;
  int optional; /* has a default: its view's data may be NULL */
  int param;
} ein_argument;

/* The axes of an argument. Each pointer is NULL or has one entry per axis. */
typedef struct ein_axes {
  const char *const *label; /* an entry is NULL if it is unknown */
  const int *dim;           /* the number of the symbolic size that the axis has; -1: none */
  const int64_t *whole;     /* for several sites: the extents of the whole tensor; each site has a block */
  const int64_t *times, *plus; /* the axis has times * size + plus elements; NULL: the size itself */
} ein_axes;

typedef struct ein_model {
  uint32_t version;          /* of this struct: 1 */
  const char *name, *source; /* the prefix of symbols; the program's file name */
  int n_dims, n_inputs, n_outputs;
  const char *const *dim;    /* the symbolic sizes, in the order of plan's argument */
  const ein_argument *input, *output;
  ein_status (*create)(const ein_config *config, void **ctx);
  void (*destroy)(void *ctx);
  ein_status (*plan)(void *ctx, const int64_t *dims);
  size_t (*workspace)(const void *ctx);                                 /* in bytes; valid after plan */
  ein_status (*shape)(const void *ctx, int output, int argument, int64_t *shape); /* valid after plan */
  ein_status (*run)(void *ctx, const ein_tensor *inputs, const ein_tensor *outputs);
  const char *(*last_error)(const void *ctx);
  void (*cancel)(void *ctx);
  const ein_axes *input_axes, *output_axes; /* one per argument */
  /* Of a plan for several sites; else 0 and NULL. Such a model's sizes are the site's place on the mesh, and
   * its arguments are that site's blocks. */
  int sites;
  const int *mesh;                                                      /* the mesh, row-major: n_dims extents */
  /* for any site */
  ein_status (*block)(const void *ctx, int output, int argument, int site, int64_t *low, int64_t *shape);
  /* For several plans of one program; else NULL. There, run takes whole tensors, at site 0. Collective. */
  ein_status (*run_blocks)(void *ctx, const ein_tensor *inputs, const ein_tensor *outputs);
  ein_status (*collect)(void *ctx, int output, const ein_tensor *block, const ein_tensor *whole); /* whole: at site 0 */
} ein_model;

#ifdef __cplusplus
}
#endif

#elif EIN_TENSOR_H + 0 != 4
#error "these two libraries are by versions of ein whose tensors differ: include their headers in different files"
#endif
