/* expr/einsum.h - the EinSum: what one operation computes, label by number and operand by slot (EinDecomp, section
 * 3). The graph's vertices, the stages of kernels and the cells of relations are all EinSums. */
#ifndef EIN_EINSUM_H
#define EIN_EINSUM_H

#include "expr.h"

/* A user's monoid at one dtype. combine is over #0 and #1, identity over nothing. */
typedef struct Monoid {
  Str name;
  DType dtype;
  const Expr *combine, *identity;
} Monoid;

/* Z[out] = reduce over red, where `where`, of body; defined where `domain`.
 * Labels are numbered: 0..n_out-1 are the output's, then n_red reduced ones. Reads stand in body, where and
 * domain as EX_READ of a slot 0..n_slot-1; each slot is one read (one input with one index map), and occurs. */
typedef struct EinSum {
  uint32_t n_out, n_red, n_slot;
  Reducer reducer;           /* RED_NONE exactly if n_red is 0, apart from a reducer over no labels: n_red 0 allowed */
  const Monoid *monoid;      /* RED_MONOID */
  DType acc;                 /* dtype of body, and of the accumulation; argmax: of the values compared */
  DType dtype;               /* of the result: acc rounded once, i64 for argmax */
  const Expr *body;
  const Expr *where;         /* over all labels: which points are reduced (skips); NULL: all. NULL for a map */
  const Expr *domain;        /* over output labels: where there is a value; NULL: everywhere */
  const Extern *by;          /* a C function of blocks that makes it, whole: nobody else computes a part of it. NULL: there is none */
  uint32_t hash;
} EinSum;

enum { PANELS_MOST = 256 };
/* Whether it can be done in panels of a label: what each gives is combined, or stands beside the others. Places that are looked for are not. */
static inline bool sum_panels(const EinSum *s) { return s->reducer != RED_ARGMAX && s->reducer != RED_ARGMIN && !s->by; }

/* What of it a C function of blocks cannot be given, as an end of "a C function ..."; NULL: nothing. moved: an index may be a label and what is
 * over dims and turns, or that alone, as in a site's blocks; else each is a label. */
const char *sum_by_wrong(Arena *a, const EinSum *s, bool moved);
/* Its type, as far as the EinSum says it: all but names, source, cost and place. */
void sum_by_type(Arena *a, const EinSum *s, Extern *x);
/* The label that an index goes along by steps of 1, with what is over dims and turns beside it; -1: none, and it is that alone; -2: it is neither. */
int64_t along_label(const Expr *index);

/* Operations that one point of it takes: on floats, and on integers and bools, without those that only make indices or predicates;
 * casts and choices are none, a value used several times is made once, the reducer takes one. The domain decides where there is a
 * value, and is no operation. read: by slot, set to one read of it (NULL: nobody asks). */
typedef struct SumCount { int64_t flops, integer; } SumCount;
SumCount sum_count(Arena *a, const EinSum *s, const Expr **read);

#endif
