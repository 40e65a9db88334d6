/* codegen/emit/c_inside.h - inside of the C printer. It decides nothing: what it prints stands in the Loop, word for word. */
#ifndef EIN_C_INSIDE_H
#define EIN_C_INSIDE_H

#include "emit.h"
#include "loop/names.h"

typedef struct CSize { const Expr *e; Str name; bool used; } CSize; /* a dims-only expression, computed when a run is planned */

typedef struct CPrinter {
  Buf *out;
  const LoopProgram *p;
  const EmitOptions *o;
  Arena *arena;
  Strings *strings;
  Map size_of;               /* Expr to 1 + its number */
  VEC(CSize) sizes;
  VEC(const Task *) moves, fetches; /* of a mesh, in the order of the text */
  const uint32_t *axes;      /* where each buffer's shape begins */
  CScope functions;          /* names of the file's functions, */
  Map functions_of;          /*   and LoopKernel to a Str for each of its parts */

  const uint32_t *same;      /* for each kernel the one whose functions do it: loop_twins */
  bool *shared;              /* its functions are for others too: ctx->bound says which buffers and sites */
  bool alone;                /* it is for other programs too: ctx->bound says which sizes */

  VEC(const Extern *) called; /* C functions, as they come */

  const LoopKernel *k;       /* the kernel at hand, */
  uint32_t number;           /*   its number, */
  LoopSites sites;           /*   its sites, if its functions are for others too, */
  CScope names;              /*   and the names of the function at hand, */
  Str *var_name, *place_name; /*  those of its variables and places */
  VEC(uint32_t) here;        /*   numbers of the sizes that it uses */
  Str *stride_name;          /* by place and axis, place * 64 + axis: of those that are used */
  bool *place_used;
  bool *var_used;
  bool uses_ctx, uses_worker, uses_dense;
  uint32_t lane;             /* 1 + the variable of the loop over lanes that is being printed; 0: there is none */
  bool raw;                  /* halves are read as the bits that they are */
  bool device;               /* it is for a device: all is in row-major order, and in a body stand the calls of cuda/context.h; */
  bool library;              /*   products may be a library's, */
  bool driver;               /*   the text is C and launches by the driver, by number, */
  VEC(Str) launched;         /*   what these are called, */
  uint32_t boxes;            /*   and which of them, of several sites, is the first that moves boxes */
} CPrinter;

/* ---- c_expr.c ---- */
const char *c_value_type(DType t);   /* of a register */
const char *c_store_type(DType t);   /* in memory */
const char *c_array_type(const LoopPlace *x); /* of an array of the kernel's own */
bool c_is_small(const LoopPlace *x); /* its elements are halves of 2 bytes */
bool c_is_array(const LoopPlace *x);
/* A value; in `index` mode arithmetic on i64 is known not to wrap, and is printed plainly. */
void c_expr(CPrinter *p, const Expr *e, bool index);
void c_element(CPrinter *p, uint32_t place, uint32_t n, const Expr *const *at); /* "X[i*X_0 + j]" */
/* Of a device: neighbours from where the read says into an array of elements as they are in memory; and back. */
void c_group_load(CPrinter *p, const char *to, int64_t count, const Expr *read);
void c_group_store(CPrinter *p, uint32_t place, uint32_t n, const Expr *const *at, const char *from, int64_t count);
/* The stride of an axis of the place's buffer, an argument; and the last of those that one of the place's own is. */
void c_buffer_stride(CPrinter *p, uint32_t place, uint32_t axis);
uint32_t c_last_axis(const LoopPlace *x, uint32_t axis);
void c_stride(CPrinter *p, uint32_t place, uint32_t axis);
/* A dims-only expression with checked arithmetic, for sizes_of; dims by name. */
void c_checked(CPrinter *p, Buf *out, const Expr *e);
void c_file(Buf *b, Str file); /* a file's name as a literal, without its folder: the same bytes wherever it lies */
Str c_size(CPrinter *p, const Expr *e); /* the name of a dims-only expression in this kernel */
/* A function of the kernel; chunk: the parameter that no thread loop names. */
void c_kernel_begin(CPrinter *p, const LoopKernel *k, const char *chunk);
static inline const char *c_var(const CPrinter *p, uint32_t var) { return p->var_name[var]->s; }
static inline const char *c_place(const CPrinter *p, uint32_t place) { return p->place_name[place]->s; }

void c_called(CPrinter *p, const Extern *x);
void c_externs(CPrinter *p, Buf *c); /* declares those that were called */

/* ---- c_kernel.c ---- */
void c_body(CPrinter *p, const LoopBody *b, int depth); /* statements */
void c_note(CPrinter *p, const LoopKernel *k);          /* the kernel's equations, as a comment */
/* The kernel's functions. How they are called is c_call's: a call for each. */
void c_kernel(CPrinter *p, uint32_t number);
void c_call(CPrinter *p, uint32_t number, const char *indent);
uint32_t c_parts(const LoopKernel *k); /* how many functions it has: one, or one for each statement, of which some are shared by threads */
bool c_streams(const LoopBody *b);
void c_parts_table(CPrinter *p);     /* of the kernel at hand: EMIT_PARTS */
/* The number of a site at which an index is looked at. */
const char *c_site(CPrinter *p, int64_t site);
/* The buffers and sites of kernels whose functions are those of several. */
void c_bound_tables(CPrinter *p);
const Expr *c_scratch(CPrinter *p, const LoopKernel *k); /* bytes of a worker's own memory */

/* ---- cuda.c: the same for a device ---- */
void c_device_kernel(CPrinter *p, uint32_t number);
void c_device_call(CPrinter *p, uint32_t number, const char *indent);

/* ---- c_sites.c ---- */
void c_sites(CPrinter *p);           /* nothing where there is one site */
uint32_t c_move_number(const CPrinter *p, const Task *move); /* of a fetch among fetches */

/* ---- c.c ---- */
uint32_t c_size_number(CPrinter *p, const Expr *e);
CPrinter c_printer(Buf *c, const LoopProgram *lp, const EmitOptions *o); /* at the beginning of a file */
void c_file_head(Buf *c, const EmitOptions *o, const char *more); /* more: lines ahead of the runtime */
void c_host(CPrinter *p);            /* behind the kernels: sizes, what kernels are bound to, the run */

#endif
