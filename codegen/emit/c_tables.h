/* codegen/emit/c_tables.h - the declarations, tables and public functions of an emitted C file; and what the header
 * and the manifest say about them.
 *
 * emit_c prints the head (comments, `#define EIN_API static`, #include "ein_run.h"), the kernels, and
 *
 *     enum { PREFIX_n_sizes = 12 };                                     how many sizes `sizes_of` computes
 *     static void PREFIX_sizes_of(ein_plan *p, const int64_t *dim);     dim: those without value, in order
 *     static ein_status PREFIX_body(ein_ctx *ctx);
 *
 * and emit_tables prints the rest. Buffers have the TaskGraph's numbers, steps the Tasks', sites the LoopProgram's.
 * Shapes are consecutive in shape[] of plan and context, at the positions of c_axes. */
#ifndef EIN_C_TABLES_H
#define EIN_C_TABLES_H

#include "emit.h"

/* By buffer, where its shape begins; one more entry at the end: the total number of axes. */
uint32_t *c_axes(Arena *a, const TaskGraph *t);
uint32_t c_turns(const TaskGraph *t); /* the number of turn counters */
/* "PREFIX_name"; NULL, as text, if the table has no rows. */
const char *c_table(Arena *a, const char *prefix, const char *name, uint32_t rows);
/* A table of n integers, of any integer type; what: its type and name. */
#define c_ints(c, what, n, x)                                                                     \
  do {                                                                                            \
    buf_printf((c), "static const %s[] = {", (what));                                             \
    for (size_t at_ = 0; at_ < (size_t)(n); at_++)                                                \
      buf_printf((c), "%s%lld", at_ ? ", " : "", (long long)(x)[at_]);                            \
    buf_str((c), "};\n");                                                                        \
  } while (0)
/* ready: a function's name, or NULL. */
void emit_tables(Buf *c, const LoopProgram *p, const EmitOptions *o, const char *ready);
/* Parts of it: tables of arguments, and of their axes; the header's declarations; checks that structs of views have
 * the layout of arrays of views. */
void c_argument_tables(Buf *c, const TaskGraph *t, const char *prefix);
void c_axes_tables(Buf *c, const TaskGraph *t, const EmitOptions *o);
void c_declared(Buf *c, const LoopProgram *p, const EmitOptions *o);
void c_size_checks(Buf *c, const TaskGraph *t, const char *prefix);

/* ---- for header, manifest and tables ------------------------------------------------------------ */

/* The names of a library's struct members: by number of the dim (NULL if it has a value), input and output. */
typedef struct CMembers { Str *size, *input, *output; } CMembers;
CMembers c_members(Arena *a, const TaskGraph *t);
/* "2*N + 1" as people write it, for comments and the manifest. */
void c_extent_text(Buf *b, const Expr *e);
/* Includes the runtime, and checks that it is the one of this ein. */
void c_runtime(Buf *c, const EmitOptions *o);
void c_comment_text(Buf *b, const char *s); /* escapes what would end a comment */
void c_with_prefix(Buf *b, const char *text, const char *prefix); /* $ stands for the prefix */
/* The types and functions of PREFIX.h, with or without comments for people. For a mesh, those of c_whole.c: whole
 * tensors, no sizes. */
void c_declarations(Buf *b, const LoopProgram *p, const EmitOptions *o, bool comments);

#endif
