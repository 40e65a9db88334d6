/* codegen/emit/emit.h - Loop to target text. Printers, which decide nothing. */
#ifndef EIN_EMIT_H
#define EIN_EMIT_H

#include "loop/labels.h"
#include "loop/loop.h"

typedef struct EmitOptions {
  const char *prefix;        /* of every symbol: a C identifier */
  const char *source;        /* the program's file name, for comments; no folder */
  const char *version;
  uint64_t hash;             /* of the program's text */
  uint64_t runtime;          /* EIN_RUNTIME_IS of the required runtime; 0: not checked */
  const char *tensor;        /* the text of ein_tensor.h, copied into the header; NULL: the header includes it */
  const char *beside;        /* the runtime is the file PREFIX-runtime.h of the library with that prefix; NULL:
                              * ein_run.h */
  bool device;               /* for a device with CUDA: what header and manifest say about it */
  bool packs;                /* for a device: callers may pass tensors there that are not in row-major order */
  bool steps;                /* the run reports the beginning of each step: ein_watch */
  double worth_threads;      /* kernels of less work (scalar operations, about) use one thread; 0: the runtime's
                              * default */
  NamedAxesList declared;     /* else labels are those by which a tensor is first read or written */
  const struct EmitDefault *defaults; /* of plans for several sites: for each choice of sizes in turn, for the same
                                       * inputs */
  uint32_t n_defaults;       /* of one choice */
  uint32_t n_choices;        /* plans are ordered by number of sites, then by choice */
  uint32_t n_read;           /* inputs from this number on are read only by defaults */
  uint32_t n_sizes;          /* sizes in which the choices differ */
  const Str *size;           /* their names */
  const int64_t *sizes;      /* their values, plan by plan */
} EmitOptions;
/* The prototype of a C function of the program: `double (erfcx)(double)`; of blocks `void (my_map)(int64_t n0, double
 * *z, int64_t z0, const double *a, int64_t a0)`. */
const char *emit_extern_type(DType t);
void emit_extern_prototype(Buf *c, const Extern *x);

void emit_c(Buf *c, const LoopProgram *p, const EmitOptions *o);      /* prefix.c */
void emit_header(Buf *h, const LoopProgram *p, const EmitOptions *o); /* prefix.h */

/* For a device: emit_cuda prints all of prefix.cu. Or emit_cuda_kernels prints only the kernels, for NVRTC, and
 * emit_cuda_host a C text with the compiled images: prefix.c. */
typedef struct EmitImage {
  const void *at;
  size_t len;
  int arch;                  /* 90 is compute capability 9.0 */
  bool machine;              /* machine code for such devices, sm_90; else PTX, compute_90, which a driver compiles
                              * for those and newer ones */
  const char *by;            /* "NVRTC 13.0", for the comment */
} EmitImage;
void emit_cuda(Buf *c, const LoopProgram *p, const EmitOptions *o);
uint32_t emit_cuda_kernels(Buf *c, const LoopProgram *p, const EmitOptions *o); /* returns how many there are */
void emit_cuda_host(Buf *c, const LoopProgram *p, const EmitOptions *o, const EmitImage *image, uint32_t n_images);

/* The rows of a run for a device, in order, as its planner of memory is told (runtime/cuda/spill.h has the same words,
 * in the same order, and says what they mean). For a TURN or UNTIL, `how` of a use is the buffer with which it is
 * exchanged. */
typedef enum { EMIT_STEP, EMIT_REPEAT, EMIT_TURN, EMIT_UNTIL } EmitRowKind;
typedef enum { EMIT_READ, EMIT_PART, EMIT_WHOLE } EmitHow;
typedef struct EmitUse { uint32_t buffer, how; } EmitUse;
typedef struct EmitRow {
  EmitRowKind kind;
  const Task *task;
  uint32_t first, n;         /* its uses; of the default of an input (`from`), first is the input's buffer */
  int32_t pair, unless, when, from;
  const Expr *size;          /* that of `when`: the row is run if it is not 0; NULL: always */
  Str name;
} EmitRow;
typedef struct EmitRows { VEC(EmitRow) rows; VEC(EmitUse) uses; } EmitRows;
const EmitRows *emit_cuda_rows(const LoopProgram *p, const EmitOptions *o); /* NULL: there are none */

/* ---- a single kernel: compiled by itself, and shared with equal kernels of other programs -------------------- */
#define EMIT_PARTS "ein_parts" /* a table of its functions: ein_task *const [] */
typedef struct EmitPart {
  const Expr *points;        /* how many calls of it threads share; NULL: one call */
  bool streams;
  uint32_t together;         /* so many parts, from this one on, are called in order, */
  int64_t rounds;            /*   and that so often; ctx->round counts */
} EmitPart;
typedef struct EmitKernel {
  VEC(EmitPart) parts;
  VEC(const Expr *) sizes;   /* dims-only. ctx->bound has for each place a buffer and its first axis; then these
                              * numbers; then the numbers of these sizes */
  LoopNumbers numbers;
  const Expr *scratch;       /* bytes of a worker's memory */
} EmitKernel;
void emit_kernel(Buf *c, const LoopProgram *p, uint32_t number, const EmitOptions *o, EmitKernel *out);

/* The default of an input of such plans: a program for one site, in its own file, that computes the input if it is
 * not given. Each comes after those of the inputs on which it depends. */
typedef struct EmitDefault {
  uint32_t input;
  bool by_block;             /* its sizes are where a block begins in each dimension, then its lengths */
  const char *prefix;
  uint32_t n_from, *from;    /* its own inputs, by their numbers in the plans */
} EmitDefault;

/* ---- for several sites: emit_c of each plan, with symbols PREFIX_4_..., or by sizes PREFIX_4_1024_..., and
 * functions over them ---- */
void emit_whole_c(Buf *c, const LoopProgram *const *plans, uint32_t n, const EmitOptions *o);      /* prefix.c */
void emit_whole_header(Buf *h, const LoopProgram *const *plans, uint32_t n, const EmitOptions *o); /* prefix.h */
void emit_whole_manifest(Buf *json, const LoopProgram *const *plans, uint32_t n, const EmitOptions *o);
LoopProgram *emit_whole_face(Arena *a, const LoopProgram *first, const EmitOptions *o);
/* The prefix of plan i, for that many sites. */
const char *emit_plan_prefix(Arena *a, const EmitOptions *o, uint32_t i, int64_t sites);
/* How such a library uses a communicator: the only parts that know MPI. wire: the text of the runtime's ein_mpi.c. */
void emit_mpi_c(Buf *c, const EmitOptions *o, const char *wire); /* prefix_mpi.c */
void emit_mpi_header(Buf *h, const EmitOptions *o); /* prefix_mpi.h */
/* For other languages (callers.c); face: from emit_whole_face. emit_fortran_can: not every prefix is a valid name in
 * Fortran. text: the constant part of the Python module; library: the shared library's file. */
bool emit_fortran_can(const EmitOptions *o);
void emit_fortran(Buf *out, const LoopProgram *face, const EmitOptions *o); /* prefix_mpi.f90 */
/* prefix.py */
void emit_python(Buf *out, const LoopProgram *face, const EmitOptions *o, const char *library, const char *text);

void emit_manifest(Buf *json, const LoopProgram *p, const EmitOptions *o);

#endif
