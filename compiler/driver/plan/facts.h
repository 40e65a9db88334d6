/* driver/plan/facts.h - the facts about a plan for many sites, for people: what each tensor is, where it stays, how
 * long, and what each read moves. The text, the page, the picture and the data all show this model.
 *
 * Steps are vertices in the graph's order. By the paper's cost (SitesAsked.by_bytes is false) there are no homes: their
 * fields are empty, and amounts are in elements. */
#ifndef EIN_PLAN_FACTS_H
#define EIN_PLAN_FACTS_H

#include "sites.h"

typedef struct FactTensor {
  const char *name, *equation, *line;
  const char *cut, *home;    /* "h=4 s=2"; "" if there is none */
  int32_t vertex;            /* -1: an input */
  bool param, state, output;
  double flops, integer;     /* operations per run */
  double point;              /* of both kinds, for each of its points, per run */
  double busiest;            /* of both kinds, at the site that has most of them */
  double received, brought;  /* bytes, as in placing.h; or elements moved to kernels and recut, and to be reduced */
  double size, at_home;      /* bytes of the whole; of the largest block at home */
  double kept;               /* number of such blocks at home: more than one for a stack, one per turn */
  double seconds, memory;    /* of its kernels and all its moves, with a machine; bytes of a site at its step */
  uint32_t first, last;      /* the steps at which it exists */
} FactTensor;

typedef struct FactRead {
  uint32_t tensor, vertex, read;
  bool back;                 /* from a turn to the next */
  double moved;
  double whole, asked;       /* at data: as from placing_ways; else both are 0 */
} FactRead;

typedef struct Facts {
  const Sites *p;
  const PlaceGraph *g;
  uint32_t steps;
  VEC(FactTensor) tensors;   /* numbered as in g */
  VEC(FactRead) reads;
  double flops, integer, busiest, moved; /* busiest: of the site that has most in all */
  int32_t largest;           /* the largest tensor that is neither input nor output; -1: there is none */
} Facts;

Facts *facts_find(const Sites *p);
/* For a read at data, "places of E, 288 B; all of it would be 12.0 kB"; NULL: another read, or nothing moves. */
const char *facts_way(Arena *a, const Facts *f, const FactRead *r);
const char *facts_moved(Arena *a, const Facts *f, double x); /* "12.3 kB"; or "12.3 k" elements */
const char *count_amount(Arena *a, double x);                     /* "12.3 k" */
const char *flops_amount(Arena *a, double flops, double integer); /* "8.9 M, and 155.6 k on integers" */

#endif
