/* expr/sum/print.h - prints what the texts of the graph and of the tasks share: labels and loop variables by name,
 * EinSums, shapes, dims, monoids, checks. The grammar is in docs/languages-inside.md. */
#ifndef EIN_EXPR_SUM_PRINT_H
#define EIN_EXPR_SUM_PRINT_H

#include "expr/word.h"

/* Names are the user's, or substitutes if those would not read back. */
typedef struct SumPrinter {
  Buf *out;
  Map plain;               /* Str to itself if it can name a label, else to this */
  VEC(Str) turn;           /* names of the loop variables of the open repeats */
  VEC(Str) label;          /* names of the current EinSum's labels */
  const EinSum *sum;       /* the current one, or NULL */
  const Str *name;         /* its labels' names */
  const Expr *const *bound; /* and extents */
  void *ctx;
  void (*read)(void *ctx, Buf *out, int64_t slot); /* prints everything before the `[` of a read */
} SumPrinter;

SumPrinter sum_printer(Buf *out, void *ctx, void (*read)(void *ctx, Buf *out, int64_t slot));

/* Expressions that follow are over this EinSum's labels; NULL: over none. */
void print_sum_of(SumPrinter *p, const EinSum *s, const Str *name, const Expr *const *bound);
void print_names(SumPrinter *p, uint32_t n, const Str *name); /* adds n names to `label` */
void print_alias(SumPrinter *p, Str text, Str name); /* `t`, or `_1="an odd name"` */
void print_expr(SumPrinter *p, const Expr *e);   /* NULL as ? */
void print_exprs(SumPrinter *p, uint32_t n, const Expr *const *e); /* `[a, b]` */
void print_label(SumPrinter *p, uint32_t k);     /* `s:128`, or `_0="an odd name":128` */
void print_monoid_name(SumPrinter *p, Str s);
void print_reducer_name(SumPrinter *p, const EinSum *s); /* `sum:f32` */
void print_sum(SumPrinter *p);                   /* ` : f32 = sum:f32[a:64 where p] body domain d by f` */
void print_by(SumPrinter *p, const EinSum *s);

Str turn_text(SumPrinter *p, Str turn);          /* its name inside the repeat: push it to p->turn */
void print_string(SumPrinter *p, Str text);      /* ` "text"`, or nothing */
void print_indent(SumPrinter *p, uint32_t level);
void print_end(SumPrinter *p, Place place);      /* the place and the end of the line */

void print_dims(SumPrinter *p, const Dims *dims); /* a line each */
void print_externs(SumPrinter *p, const Exprs *x); /* all of a pool's */
void print_monoids(SumPrinter *p, const Monoids *monoids);
void print_checks(SumPrinter *p, const DimChecks *checks);

#endif
