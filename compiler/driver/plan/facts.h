/* driver/plan/facts.h - a plan for many sites, worked out for people: what each tensor is, where it stays, for how long, and what
 * each read moves. One model, which the text, the page, the picture and the data show.
 *
 * Steps are vertices in the graph's order. By the paper's cost (Sites.by_bytes is false) there are no homes: what stands here of
 * them is empty, and amounts are in elements. */
#ifndef EIN_PLAN_FACTS_H
#define EIN_PLAN_FACTS_H

#include "sites.h"

typedef struct FactTensor {
  const char *name, *equation, *line;
  const char *cut, *home;    /* "h=4 s=2"; "" where there is none */
  int32_t vertex;            /* -1: an input */
  bool param, state, output;
  double flops, integer;     /* operations in a run; */
  double busiest;            /*   of both, those of a site that has a largest block */
  double received, brought;  /* bytes, as in placing.h; elements to kernels and cut anew, and to be reduced */
  double size, at_home;      /* bytes of all of it; of the largest block at home */
  double kept;               /* such blocks at home: more than one for a stack, which has a turn's each */
  double seconds, memory;    /* of its kernels and all that it moves, with a machine; bytes of a site at its step */
  uint32_t first, last;      /* steps at which it is there */
} FactTensor;

typedef struct FactRead {
  uint32_t tensor, vertex, read;
  bool back;                 /* from a turn to the next */
  double moved;
  double whole, asked;       /* at data: as of placing_ways; else both are 0 */
} FactRead;

typedef struct Facts {
  const Sites *p;
  const PlaceGraph *g;
  uint32_t steps;
  VEC(FactTensor) tensors;   /* with the numbers of g's */
  VEC(FactRead) reads;
  double flops, integer, busiest, moved;
  int32_t largest;           /* of the tensors that are neither inputs nor outputs; -1: there is none */
} Facts;

Facts *facts_find(const Sites *p);
/* Of what is read at data, "places of E, 288 B; all of it would be 12.0 kB"; NULL: it is not, or nothing of it moves. */
const char *facts_way(Arena *a, const Facts *f, const FactRead *r);
const char *facts_moved(Arena *a, const Facts *f, double x); /* "12.3 kB"; or "12.3 k" elements */
const char *count_amount(Arena *a, double x);                     /* "12.3 k" */
const char *flops_amount(Arena *a, double flops, double integer); /* "8.9 M, and 155.6 k on integers" */

#endif
