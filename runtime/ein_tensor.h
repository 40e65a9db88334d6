/* SPDX-License-Identifier: MIT-0 */
/*
 * What a caller of a generated library sees of tensors: element types, status codes, borrowed
 * views, and the settings of a context. Types only, and inline helpers: nothing to link. C99 and
 * C++ clean.
 */
#ifndef EIN_TENSOR_H
#define EIN_TENSOR_H 2 /* the format: another number where a caller of one would misread the other */

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
  EIN_ERR_FORMAT, /* a file or a spec is not written as its format demands */
  EIN_ERR_SHAPE,  /* the shape met is not the shape wanted, or is no shape at all */
  EIN_ERR_DTYPE,  /* the element type met cannot become the one wanted */
  EIN_ERR_MEMORY, /* no memory */
  EIN_ERR_ARG,    /* the caller's argument makes no sense */
  EIN_ERR_RANGE,  /* a number does not fit the type that shall hold it */
  EIN_ERR_INDEX,  /* a gathered index is out of range */
  EIN_ERR_ASSERT, /* the program's own assert does not hold */
  EIN_ERR_PLAN,   /* run before plan, or a workspace that is too small */
  EIN_ERR_CANCEL  /* the caller cancelled */
} ein_status;

/* Start it as {0}. The first error stays; later ones are dropped. */
typedef struct ein_error {
  ein_status status;
  char text[512];
} ein_error;

/* ---- tensors ---- */

/*
 * A borrowed view. Each field is DLPack's DLTensor field of the same name (`dtype` through
 * ein_dtype_to_dlpack). `strides` are in elements; NULL means C order. The first element lies at
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

/* Bytes for a peer, or room for what comes from one. */
typedef struct ein_parcel {
  int peer;
  void *data;
  size_t bytes;
} ein_parcel;

/* How the sites of a mesh reach each other: by memory, by messages. All of them call exchange for each move, in one order, and once more at the
 * end of a plan or a run, without parcels. What is sent has the size that its peer has room for, and at most one parcel goes from one
 * site to another; a site may send to itself. `mine` says whether this site can go on; where one cannot, all get the same error, and that
 * exchange is the last one of the plan or the run. */
typedef struct ein_wire {
  void *user;
  int site, sites;       /* which this is, of how many */
  ein_status (*exchange)(void *user, ein_status mine, int n_send, const ein_parcel *send, int n_receive, const ein_parcel *receive);
  /* A number for each site, and one from each: how large what comes next will be, where a site alone knows. Called by all, as exchange is. */
  ein_status (*counts)(void *user, ein_status mine, const int64_t *send, int64_t *receive);
  void (*close)(void *user); /* by the destroy of the context that has it; NULL: the wire is borrowed */
  /* An exchange in two halves, for sites that compute meanwhile. All call start, and learn whether all can go on; then the parcels are the wire's, until
   * finish with the same key has them there. Several are under way at once, each with a key of its own, and exchanges between. A key of -1: all that
   * are. look lets what is under way get on; it is called now and then. All three or, as NULL, none. */
  ein_status (*start)(void *user, ein_status mine, int key, int n_send, const ein_parcel *send, int n_receive, const ein_parcel *receive);
  ein_status (*finish)(void *user, int key);
  void (*look)(void *user);
  int place;             /* which of the sites on its machine this is, from 0: by it they take the devices there in turn */
} ein_wire;

/* What last_error says at a site that has not failed itself. */
#define EIN_ELSEWHERE "another site has failed"

/* What a site has carried to others and from them; parcels to itself are not counted. */
typedef struct ein_traffic {
  uint64_t bytes_sent, bytes_received, messages_sent, messages_received;
} ein_traffic;

/* ---- a context's settings ---- */

/* Called once for each i in 0..n-1, by any thread; worker is below the context's `threads`, and no
 * two calls that run at the same time have the same one. */
typedef void ein_task(void *env, int64_t i, int worker);

/* Who follows a run step by step: `step` is called by the thread that runs, as each step of it begins, with the number that the step has in the text of tasks
 * (ein build --stop=task). half 1: a move that has begun is waited for now. A step of -1: the run is over, and has not failed. */
typedef struct ein_watch {
  void *user;
  void (*step)(void *user, int step, int half);
} ein_watch;

/* What runs on a device have asked of it, added up, since the context was made: kernels and the like that were launched one by one, graphs that were
 * made, and launched, and bytes from and to the host. */
typedef struct ein_counts { uint64_t launches, graphs, graph_launches, bytes_up, bytes_down; } ein_counts;

/* All zero, apart from `size`, means: the usual. Fields are only ever added at the end. */
typedef struct ein_config {
  size_t size;         /* sizeof(ein_config), so that a later library knows which fields are there */
  int threads;         /* at most so many; 0: as many as OpenMP would take (or the machine has) */
  /* Memory, for a caller who has his own; NULL: malloc and free. */
  void *(*alloc)(void *user, size_t bytes, size_t alignment);
  void (*release)(void *user, void *p, size_t bytes);
  /* Threads, for a caller who has his own; it may run the calls in any order. NULL: the runtime's. */
  void (*parallel)(void *user, int threads, ein_task *task, void *env, int64_t n);
  void *user;
  void *workspace;     /* borrowed, 64-byte aligned; NULL: allocated when a run is planned */
  size_t workspace_bytes;
  const ein_wire *wire; /* of a model for several sites; borrowed */
  /* A flag of the caller's; NULL: there is none. While it is not 0, no run that begins clears a cancel: who sets it, and then cancels, ends a
   * run that is just beginning too. */
  const volatile int *stop;
  /* By the thread that runs, given `user`: before the first turn of a repeat that stands in no other, and after each of its turns that does not end
   * it. `ctx` is the context, whose insides are those of the runtime's version. What it gives, if not EIN_OK, ends the run; *error then says why.
   * With a wire all sites are at the same turn, and give the same. */
  ein_status (*between)(void *user, void *ctx, ein_error *error);
  /* Of a model for CUDA: the number of its device (0: with a wire, the next one for each site of a machine; -1: the first one); and a stream there, the caller's, into which all goes that is asked of the device. NULL: one of the
   * context's own. workspace is memory of the device then, 256-byte aligned; alloc and release are for memory of the host. */
  int device;
  void *stream;
  const ein_watch *watch; /* borrowed; of a model whose text says its steps, as that of ein run --profile does. Others never call it */
  ein_counts *counts;  /* borrowed; of a model for CUDA: to it is added. NULL: nobody asks */
} ein_config;

/* ---- a model as data: what `ein run`, `ein bench` and the program made by `ein build -o` need ---- */

typedef struct ein_argument {
  const char *name;
  ein_dtype dtype;
  int ndim;
  int optional; /* has a default: its view's data may be NULL */
  int param;
} ein_argument;

/* The axes of an argument, each one pointer NULL or one entry an axis. */
typedef struct ein_axes {
  const char *const *label; /* NULL where none is known */
  const int *dim;           /* the symbolic size that the axis has, by number; -1: another one */
  const int64_t *whole;     /* for several sites: the extents of the tensor of which each has a block */
} ein_axes;

typedef struct ein_model {
  uint32_t version;          /* of this struct: 1 */
  const char *name, *source; /* the prefix; the program's file name */
  int n_dims, n_inputs, n_outputs;
  const char *const *dim;    /* the symbolic sizes, in the order of plan's argument */
  const ein_argument *input, *output;
  ein_status (*create)(const ein_config *config, void **ctx);
  void (*destroy)(void *ctx);
  ein_status (*plan)(void *ctx, const int64_t *dims);
  size_t (*workspace)(const void *ctx);                                 /* bytes; after plan */
  ein_status (*shape)(const void *ctx, int output, int argument, int64_t *shape); /* after plan */
  ein_status (*run)(void *ctx, const ein_tensor *inputs, const ein_tensor *outputs);
  const char *(*last_error)(const void *ctx);
  void (*cancel)(void *ctx);
  const ein_axes *input_axes, *output_axes; /* one an argument */
  /* Of a plan for several sites; else 0 and NULL. Its sizes are where a site is on a mesh, its arguments that site's blocks. */
  int sites;
  const int *mesh;                                                      /* n_dims: places along each axis; the last one is next to next */
  ein_status (*block)(const void *ctx, int output, int argument, int site, int64_t *low, int64_t *shape); /* of any site */
  /* Of plans of one program together (run takes whole tensors there, at site 0), else NULL. All sites call them. */
  ein_status (*run_blocks)(void *ctx, const ein_tensor *inputs, const ein_tensor *outputs);
  ein_status (*collect)(void *ctx, int output, const ein_tensor *block, const ein_tensor *whole); /* whole: at site 0 */
} ein_model;

#ifdef __cplusplus
}
#endif

#elif EIN_TENSOR_H + 0 != 2
#error "the headers of two libraries are by versions of ein whose tensors differ: include each in a file of its own"
#endif
