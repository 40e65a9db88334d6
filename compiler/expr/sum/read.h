/* expr/sum/read.h - reads what the texts of the graph and of the tasks share: see sum/print.h. Each function
 * complains if it returns false. */
#ifndef EIN_EXPR_SUM_READ_H
#define EIN_EXPR_SUM_READ_H

#include "expr/scan.h"

typedef struct SumReader {
  Scan c;
  Arena *arena;
  Exprs *exprs;
  VEC(Str) turn;               /* names of the loop variables of the open repeats */
  Map dims;                    /* names of dims to themselves */
  Monoids monoids;             /* declared so far */
  /* the current EinSum */
  VEC(Str) text;               /* names of its labels in its expressions */
  Map number;                  /* if there may be many: 1 + the number of the last label with that name */
  VEC(Str) label;
  VEC(const Expr *) bound;     /* in normal form */
  uint32_t most;               /* the most labels: SUM_RANK, unless the caller allows more */
  void *ctx;
  bool (*read)(void *ctx, bool kept, int64_t number, DType *dtype, int64_t *slot); /* %7[...]; kept: &7[...] */
  bool kept;                   /* the text may have reads with & */
  const char *why;             /* set by `read`: what is wrong with it */
} SumReader;

typedef enum { OVER_DIMS, OVER_PARAMS, OVER_PLACES, OVER_ALL } Over; /* PLACES: no reads */

SumReader sum_reader(Arena *a, Exprs *p, Scan c);
bool want_expr(SumReader *r, Over over, DType param, const Expr **out);
bool want_extent(SumReader *r, const Expr **out);      /* in normal form */
bool want_shape(SumReader *r, DType *t);               /* `[128, $K] : f32` into bound */
bool want_alias(SumReader *r, Str *text, Str *name);   /* `s`, or `_0="an odd name"` */

void sum_read_begin(SumReader *r);
bool want_label(SumReader *r);                         /* `s:128`, one more label */
const Monoid *monoid_of(SumReader *r, Str name, DType t); /* the one declared with that name and dtype, or NULL */
bool reducer_follows(SumReader *r);
bool want_reducer_name(SumReader *r, EinSum *s);       /* `sum:f32`: reducer, monoid and acc */
bool want_sum(SumReader *r, EinSum *s);                /* after the output labels: ` : f32 = sum:f32[a:64] body domain
                                                        * d by f` */
bool take_by(SumReader *r, EinSum *s);                 /* ` by f`, or nothing */

bool want_dim(SumReader *r, Dims *to); /* each reads the rest of a line, and adds what it says */
bool want_extern(SumReader *r);                        /* into the pool */
bool want_monoid(SumReader *r, Monoids *to);
bool want_check(SumReader *r, DimChecks *to);

#endif
