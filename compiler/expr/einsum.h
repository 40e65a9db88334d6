/* expr/einsum.h - the EinSum: what one operation computes, with numbers for labels and slots for operands (EinDecomp,
 * section 3). The graph's vertices, the stages of kernels and the cells of relations are all EinSums. */
#ifndef EIN_EINSUM_H
#define EIN_EINSUM_H

#include "expr.h"

/* A user's monoid at one dtype. combine is over #0 and #1, identity over nothing. */
typedef struct Monoid {
  Str name;
  DType dtype;
  const Expr *combine, *identity;
} Monoid;
typedef VEC(const Monoid *) Monoids;

/* What a program says of its sizes, in each of the languages made of EinSums. */
typedef struct Dim { Str name; bool known; int64_t value; } Dim;
typedef VEC(Dim) Dims;
typedef struct DimCheck { const Expr *cond; Str text; Place place; } DimCheck; /* over dims; tested once sizes are
                                                                                * bound */
typedef VEC(DimCheck) DimChecks;

/* Z[out] = reduce over red, where `where`, of body; defined where `domain`. Labels are numbered: 0..n_out-1 are the
 * output's, then n_red reduced ones. Reads occur in body, where and domain as EX_READ of a slot 0..n_slot-1. Each
 * slot is one read (one input with one index map), and occurs. */
typedef struct EinSum {
  uint32_t n_out, n_red, n_slot;
  Reducer reducer;           /* RED_NONE if and only if n_red is 0, except that a reducer over no labels has n_red 0
                              * too */
  const Monoid *monoid;      /* RED_MONOID */
  DType acc;                 /* dtype of body and of the accumulation; argmax: of the compared values */
  DType dtype;               /* of the result: acc rounded once; i64 for argmax */
  const Expr *body;
  const Expr *where;         /* over all labels: which points are reduced (others are skipped); NULL: all. NULL for a
                              * map */
  const Expr *domain;        /* over output labels: where it has a value; NULL: everywhere */
  const Extern *by;          /* a C function of blocks that computes it as a whole; it cannot be split. NULL: none */
  uint32_t hash;
} EinSum;

/* Puts in place of the leaves of body, where and domain what f returns for them, in this order; of reads, their slots
 * are then f's. sum_leaves only calls f. sum_relabel replaces labels. See expr_map and expr_relabel. */
void sum_map(Exprs *p, EinSum *s, ExprLeaf *f, void *env);
void sum_leaves(Exprs *p, const EinSum *s, ExprLeaf *f, void *env);
/* The nodes of body, where and domain that have reads (expr_nodes). */
ExprNodes sum_reads(Arena *a, const EinSum *s);
void sum_relabel(Exprs *p, EinSum *s, uint32_t n, const Expr *const *to);
/* What its reducer gives for no points, of the accumulator's dtype; NULL: nothing. */
const Expr *reducer_identity(Exprs *p, const EinSum *s);
const Expr *expr_end(Exprs *p, DType t, bool most); /* the least or the greatest value; of floats, infinity */
static inline bool red_is_arg(const EinSum *s) { return reducer_is_arg(s->reducer); }

/* Of the first n labels, those that a conjunct of the predicate says equal a value that is read at the point (where
 * bin[e] == b): each point goes to one place along them (expr/sum/put.c). */
uint64_t sum_labels_put(const Expr *where, uint32_t n);

/* Whether a product in which data choose one of a few matrices for each row is worth sorting the rows by what they
 * choose (task/grouped.h): side, deep: points of the other side of the product, and of the sum. */
static inline bool grouped_pays(double rows, double groups, double side, double deep) {
  const double rows_each = 4;    /* a group's matrix is then copied once for several rows */
  const double side_least = 16, matrix_least = 8192; /* a smaller matrix stays in the first-level cache */
  return groups > 1 && rows >= rows_each * groups && side >= side_least && deep >= side_least &&
      side * deep >= matrix_least;
}

enum { PANELS_MOST = 256 };
/* Whether it can be done in panels of a label, whose results are combined or lie side by side. Positions tracked by
 * argmax cannot. */
static inline bool sum_panels(const EinSum *s) {
  return !red_is_arg(s) && !s->by;
}

/* What of it a C function of blocks cannot be given, as the end of a sentence "a C function ..."; NULL: nothing.
 * moved: an index may be a label plus an expression over dims and turns, or such an expression alone, as in a site's
 * blocks; else each index is a label. */
const char *sum_by_wrong(Arena *a, const EinSum *s, bool moved);
/* Its type as a C function, as far as the EinSum determines it: all but names, source, cost and place. */
void sum_by_type(Arena *a, const EinSum *s, Extern *x);
/* The label that an index follows by steps of 1, plus an expression over dims and turns; -1: no label, only such an
 * expression; -2: neither. */
int64_t along_label(const Expr *index);

/* Operations per point: on floats, and on integers and bools, without those that only make indices or predicates.
 * Casts and choices do not count, a value used several times counts once, and the reducer takes one. The domain
 * decides where there is a value, and does not count. read: by slot, receives one read of it; may be NULL. */
typedef struct SumCount { int64_t flops, integer; } SumCount;
SumCount sum_count(const EinSum *s, const Expr **read);

#endif
