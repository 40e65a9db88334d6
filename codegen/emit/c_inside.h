/* codegen/emit/c_inside.h - internals of the C printer. It decides nothing: it prints what the Loop says, word for
 * word. */
#ifndef EIN_C_INSIDE_H
#define EIN_C_INSIDE_H

#include "emit.h"
#include "loop/names.h"

/* Dims-only expressions by number, in order of first use: those of the run, computed when it is planned; or those of a
 * kernel whose functions serve several, which finds their numbers in the run in ctx->bound. */
typedef struct CSizes {
  Map of;                    /* Expr to 1 + its number */
  VEC(const Expr *) at;
} CSizes;

/* What c_kernel_begin begins: a function of a kernel, and what it has used so far. */
typedef struct CFunction {
  CScope names;              /* names in it */
  Str *var_name, *place_name; /* of the variables and places */
  VEC(Str) size_name;        /* by number; NULL: it does not use this size */
  VEC(uint32_t) here;        /* numbers of the sizes that it uses */
  Str *stride_name;          /* by place and axis, place * 64 + axis: of those used */
  bool *place_used;
  bool *var_used;
  bool uses_ctx, uses_worker, uses_dense;
  uint32_t lane;             /* 1 + the variable of the lane loop being printed; 0: there is none */
  bool raw;                  /* halves are read as their bits */
  bool guard;                /* the condition of guarded reads is being printed */
  Str nought;                /* the name of a 0 that compilers don't know to be one; NULL: it is not used */
} CFunction;

/* The functions of all kernels. */
typedef struct CFunctions {
  CScope names;              /* of the file's functions */
  Map of;                    /* LoopKernel to a Str for each of its parts */
  const uint32_t *same;      /* by kernel, the one whose functions it uses */
  const bool *shared;        /* by kernel: its functions serve several; ctx->bound gives buffers, numbers and sizes */
  const bool *any;           /* by kernel: they take any buffer as one with strides, since only some kernels have an
                              * argument there */
  CSizes *sizes;             /* of kernel i and of its narrow one, if shared: at 2 * i and 2 * i + 1 */
  bool nameless;             /* no name in the text is the program's */
} CFunctions;

/* What a device launches. */
typedef struct CLaunches {
  bool library;              /* products may use a library */
  bool driver;               /* the text is C, which launches through the driver, by number */
  VEC(Str) names;
  VEC(int64_t) shared;       /* by launch: the bytes that it asks for a block's shared arrays; 0: they are plain */
  EmitRows *rows;            /* what its planner of memory is told (cuda_rows.c); NULL: nothing yet */
  int32_t unless, when;      /* what is printed now is run only if this input is not given, and only if the size with
                              * this number is not 0; -1: always */
  int32_t boxes[4];          /* the launches that move boxes of elements of 1, 2, 4 and 8 bytes; -1: none */
} CLaunches;

typedef struct CPrinter {
  Buf *out;
  const LoopProgram *p;
  const EmitOptions *o;
  Arena *arena;
  Strings *strings;
  CSizes sizes;              /* of the run */
  VEC(const Task *) moves, fetches; /* of a mesh, in the order of the text */
  const uint32_t *axes;      /* where each buffer's shape begins */
  CFunctions functions;
  VEC(const Extern *) called; /* C functions, in order of first call */

  const LoopKernel *k;       /* the current kernel */
  uint32_t number;           /* its number */
  bool narrow;               /* it is the narrow one of that number */
  CSizes *own;               /* the sizes whose numbers its functions use: the run's, or its own if these are shared */
  LoopNumbers numbers;       /* its numbers, if its functions serve several kernels */
  CFunction f;               /* the current function of it */
  bool device;               /* for a device: everything is in row-major order, and bodies call functions of
                              * cuda/context.h */
  CLaunches launch;
} CPrinter;

/* ---- c_expr.c ---- */
const char *c_value_type(DType t);   /* of a register */
const char *c_store_type(DType t);   /* in memory */
const char *c_array_type(const LoopPlace *x); /* of an array of the kernel's own */
bool c_is_small(const LoopPlace *x); /* its elements are 2-byte halves */
bool c_is_array(const LoopPlace *x);
/* Prints a value. With `index`, i64 arithmetic is known not to wrap and is printed plainly. */
void c_expr(CPrinter *p, const Expr *e, bool index);
void c_element(CPrinter *p, uint32_t place, uint32_t n, const Expr *const *at); /* "X[i*X_0 + j]" */
/* On a device: loads neighbours from the position of the read into an array of elements as stored; and stores them. */
void c_group_load(CPrinter *p, const char *to, int64_t count, const Expr *read);
void c_group_store(CPrinter *p, uint32_t place, uint32_t n, const Expr *const *at, const char *from, int64_t count);
/* c_buffer_stride: the stride of an axis of the place's buffer, an argument. c_last_axis: the last buffer axis in an
 * axis of the place. */
void c_buffer_stride(CPrinter *p, uint32_t place, uint32_t axis);
uint32_t c_last_axis(const LoopPlace *x, uint32_t axis);
void c_stride(CPrinter *p, uint32_t place, uint32_t axis);
/* A dims-only expression with checked arithmetic, for sizes_of; dims by name. */
void c_checked(CPrinter *p, Buf *out, const Expr *e);
bool c_is_known(const Expr *e); /* whether the host knows the value: sizes, numbers and turn counters */
void c_known(CPrinter *p, const Expr *e); /* prints it for the run, outside kernels; needs c_is_known */
void c_file(Buf *b, Str file); /* a file's name as a literal, without its folder: the same bytes in every folder */
const char *c_place_fields(Arena *a, Place p); /* that, and the line */
const char *c_text(Arena *a, Str s);      /* a literal, or NULL */
/* Begins a function of the kernel; chunk: the name of a parameter that no thread loop uses. */
void c_kernel_begin(CPrinter *p, const LoopKernel *k, const char *chunk);
static inline const char *c_var(const CPrinter *p, uint32_t var) { return p->f.var_name[var]->s; }
static inline const char *c_place(const CPrinter *p, uint32_t place) { return p->f.place_name[place]->s; }

/* ---- c_extern.c ---- */
void c_called(CPrinter *p, const Extern *x);
void c_externs(CPrinter *p, Buf *c); /* declares the functions that were called */

/* ---- c_stmt.c ---- */
void c_body(CPrinter *p, const LoopBody *b, int depth); /* statements */

/* ---- c_kernel.c ---- */
void c_note(CPrinter *p, const LoopKernel *k);          /* the kernel's equations, as a comment */
/* c_kernel prints the kernel's functions, c_call the calls of them. */
void c_kernel(CPrinter *p, uint32_t number);
void c_call(CPrinter *p, uint32_t number, const char *indent);
/* What becomes one function: an outermost loop that threads share, or all statements up to the next such loop. */
typedef struct CPart {
  LoopBody some;             /* its statements */
  const LoopStmt *thread;    /* the loop; NULL: one thread runs them */
  const LoopStmt *round;     /* the loop in which they stand, whose turn is ctx->round; NULL: none */
} CPart;
typedef VEC(CPart) CParts;
CParts c_parts(Arena *a, const LoopKernel *k); /* in order */
uint32_t c_round(const CParts *parts, uint32_t first); /* how many, from this one on, go in rounds together; 1: it
                                                        * goes in none */
bool c_streams(const LoopBody *b);
bool c_has_strides(const CPrinter *p, const LoopPlace *x); /* whether a caller may determine its strides */
bool c_is_tested(const CPrinter *p, const LoopPlace *x); /* a bool that may be any byte */
void c_parts_table(CPrinter *p);     /* of the current kernel: EMIT_PARTS */
const char *c_number(CPrinter *p, const Expr *e); /* the text of the operation's loop_number */
/* The buffers, numbers and sizes of kernels that share functions. */
void c_bound_tables(CPrinter *p);

/* ---- cuda.c: the same for a device ---- */
void c_device_call(CPrinter *p, uint32_t number, const char *indent);

/* ---- cuda_rows.c: the rows of a run on a device, and calls before them; nothing for other runs ---- */
void c_need_kernel(CPrinter *p, const Task *k, uint32_t number, const char *in);
void c_need(CPrinter *p, const Task *k, uint32_t buffer, bool writes, const char *in); /* all of it, or reads it */
void c_need_move(CPrinter *p, const Task *k, bool second, const char *in);
void c_need_fetch(CPrinter *p, const Task *k, const char *in);
void c_need_default(CPrinter *p, const Task *k);
/* c_repeat_begins returns the row's number, or -1. */
int32_t c_repeat_begins(CPrinter *p, const Task *k);
void c_turn_ends(CPrinter *p, const Task *k, int32_t begin, const char *in);
const char *c_rows(CPrinter *p);     /* prints the table; returns its address */

/* ---- c_alone.c ---- */
/* The kernel without names: variables and places are named by their numbers. */
LoopKernel *c_nameless(const CPrinter *p, const LoopKernel *k);
void c_twins(CPrinter *p);           /* finds the kernels that share functions */

/* ---- c_sites.c ---- */
void c_sites(CPrinter *p);           /* nothing if there is one site */
uint32_t c_move_number(const CPrinter *p, const Task *move); /* of a fetch: among the fetches */

/* ---- c.c ---- */
uint32_t c_size_number(CPrinter *p, const Expr *e); /* in the run */
uint32_t c_sizes_number(Arena *a, CSizes *sizes, const Expr *e);
CPrinter c_printer(Buf *c, const LoopProgram *lp, const EmitOptions *o); /* at the beginning of a file */
void c_file_head(Buf *c, const EmitOptions *o, const char *more); /* more: lines before the runtime */
void c_host(CPrinter *p);            /* after the kernels: sizes, what kernels are bound to, the run */

#endif
