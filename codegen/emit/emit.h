/* codegen/emit/emit.h - Loop to target text. Printers, which decide nothing. */
#ifndef EIN_EMIT_H
#define EIN_EMIT_H

#include "loop/labels.h"
#include "loop/loop.h"

typedef struct EmitOptions {
  const char *prefix;        /* every symbol begins with it: a C identifier */
  const char *source;        /* the program's file name, for comments; no folder */
  const char *version;
  uint64_t hash;             /* of the program's text */
  uint64_t runtime;          /* EIN_RUNTIME_IS of the runtime that it is written for; 0: not looked at */
  const char *tensor;        /* the text of ein_tensor.h, which stands in the header; NULL: that includes it */
  const char *beside;        /* the runtime is a file of the library of that prefix, PREFIX-runtime.h; NULL: ein_run.h */
  bool device;               /* it is for a device, CUDA's: what header and manifest say of that */
  bool steps;                /* the run says each of its steps as it begins: ein_watch */
  double worth_threads;      /* kernels of less work (scalar operations, about) have one thread; 0: the runtime's own bound */
  NamedAxesList declared;     /* else labels are those by which a tensor is first read or written */
  const struct EmitDefault *defaults; /* of plans for several sites: for each choice of sizes, one behind the other, for the same inputs; */
  uint32_t n_defaults;       /*   of one choice; */
  uint32_t n_choices;        /*   plans go through them for one number of sites, then for the next; */
  uint32_t n_read;           /*   inputs behind so many are read by defaults alone; */
  uint32_t n_sizes;          /*   sizes that they differ by, */
  const Str *size;           /*   their names, */
  const int64_t *sizes;      /*   and of each plan their values, one plan behind the other */
} EmitOptions;
/* A C function that the program names: `double (erfcx)(double)`; of blocks `void (my_map)(int64_t n0, double *z, int64_t z0, const double *a, int64_t a0)`. */
const char *emit_extern_type(DType t);
void emit_extern_prototype(Buf *c, const Extern *x);

void emit_c(Buf *c, const LoopProgram *p, const EmitOptions *o);      /* prefix.c */
void emit_header(Buf *h, const LoopProgram *p, const EmitOptions *o); /* prefix.h */

/* Of one for a device: prefix.cu, all of it. Or its kernels alone, for NVRTC, and, around what that makes of them, a text in C: prefix.c. */
typedef struct EmitImage {
  const void *at;
  size_t len;
  int arch;                  /* 90, of compute capability 9.0 */
  bool machine;              /* machine code for such devices, sm_90; else PTX, compute_90, from which a driver makes it for those and newer ones */
  const char *by;            /* "NVRTC 13.0", for the comment */
} EmitImage;
void emit_cuda(Buf *c, const LoopProgram *p, const EmitOptions *o);
uint32_t emit_cuda_kernels(Buf *c, const LoopProgram *p, const EmitOptions *o); /* gives how many there are */
void emit_cuda_host(Buf *c, const LoopProgram *p, const EmitOptions *o, const EmitImage *image, uint32_t n_images);

/* ---- one kernel by itself: what is compiled for it, and for whatever does the same in other programs ---- */
#define EMIT_PARTS "ein_parts" /* a table of its functions: ein_task *const [] */
typedef struct EmitPart { const Expr *points; bool streams; } EmitPart; /* threads share so many calls of it; NULL: it is called once */
typedef struct EmitKernel {
  VEC(EmitPart) parts;
  VEC(const Expr *) sizes;   /* dims-only. ctx->bound has a pair for each place, a buffer and its first axis; sites; the numbers of these */
  LoopSites sites;
  const Expr *scratch;       /* bytes of a worker's own memory */
} EmitKernel;
void emit_kernel(Buf *c, const LoopProgram *p, uint32_t number, const EmitOptions *o, EmitKernel *out);

/* Of an input of such plans: a program for one site, which stands in a file of its own, makes what it is if it is not given. Each comes behind those of
 * the inputs that it hangs on. */
typedef struct EmitDefault {
  uint32_t input;
  bool by_block;             /* its sizes are where a block begins, along each dimension, then how long it is */
  const char *prefix;
  uint32_t n_from, *from;    /* its own inputs, by their numbers among those of the plans */
} EmitDefault;

/* ---- for several sites: emit_c of each plan, whose symbols are PREFIX_4_..., or by sizes PREFIX_4_1024_..., and over them ---- */
void emit_whole_c(Buf *c, const LoopProgram *const *plans, uint32_t n, const EmitOptions *o);      /* prefix.c */
void emit_whole_header(Buf *h, const LoopProgram *const *plans, uint32_t n, const EmitOptions *o); /* prefix.h */
void emit_whole_manifest(Buf *json, const LoopProgram *const *plans, uint32_t n, const EmitOptions *o);
LoopProgram *emit_whole_face(Arena *a, const LoopProgram *first, const EmitOptions *o);
/* The prefix of plan i, for so many sites. */
const char *emit_plan_prefix(Arena *a, const EmitOptions *o, uint32_t i, int64_t sites);
/* How such a library comes to a communicator: all of it that knows MPI. wire: the text of the runtime's ein_mpi.c. */
void emit_mpi_c(Buf *c, const EmitOptions *o, const char *wire); /* prefix_mpi.c */
void emit_mpi_header(Buf *h, const EmitOptions *o); /* prefix_mpi.h */
/* For other callers (callers.c); face: emit_whole_face's. A module of Fortran has names that not every prefix is. text: the part of a module of Python
 * that is always the same; library: the shared one's file. */
bool emit_fortran_can(const EmitOptions *o);
void emit_fortran(Buf *out, const LoopProgram *face, const EmitOptions *o); /* prefix_mpi.f90 */
void emit_python(Buf *out, const LoopProgram *face, const EmitOptions *o, const char *library, const char *text); /* prefix.py */

void emit_manifest(Buf *json, const LoopProgram *p, const EmitOptions *o);

#endif
