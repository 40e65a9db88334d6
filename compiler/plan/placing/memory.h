/* plan/placing/memory.h - the memory of a site: what it holds at each step of a run by a placing.
 *
 * Steps are the vertices in the graph's order, one after the other. At each there are the blocks of tensors at home: an input's and an output's
 * always, another's until its last reader is through (where that is in a repeat in which it was not made, until the repeat is). A state lies
 * there twice while its repeat runs, this turn's value and the next one's; where the next value has the state's home, it is made in its place.
 * A stack has a block of each turn. To this come, by phases of the step: operands where a site has not all of what its kernels want, as fetched
 * (what comes into a repeat from outside, once for all turns, is there while it runs), and the result as made; that and
 * what its parts are reduced to; that and the result at home. What is the same is there once.
 *
 * Every site reserves as much: a block counts as large as the largest. */
#ifndef EIN_PLACING_MEMORY_H
#define EIN_PLACING_MEMORY_H

#include "placing.h"

typedef enum { PHASE_KERNEL, PHASE_REDUCE, PHASE_HOME, PHASES } Phase;

typedef struct Life {        /* a tensor is at home: */
  uint32_t tensor, from, to; /* from one step to another, with both */
  double times;              /* so many blocks */
  bool stack;                /*   of turns that are over, too */
} Life;

typedef struct Fetched { uint32_t from, to; } Fetched; /* steps; with one alone, only while its kernels run */

struct Lives {
  VEC(Life) all;
  Fetched **fetched;         /* by vertex, by read */
  int32_t *next_of;          /* by tensor: the state whose next value it is; -1: none */
  uint32_t steps;            /* vertices, and the end */
};

Lives *lives_find(Arena *a, const PlaceGraph *g);

typedef struct SiteMemory { double bytes; uint32_t step; Phase phase; } SiteMemory;

/* The most of a run. by: NULL, or set to the bytes of each step's phases. */
SiteMemory placing_memory(const PlaceGraph *g, const Lives *l, const Placing *p, double *by);
/* Of an operand as fetched; 0: each site has all of it. */
double fetched_bytes(const PlaceGraph *g, const Placing *p, uint32_t vertex, uint32_t read);
/* Bytes of the largest block; whether each site has all of `to` already. */
double placement_bytes(const PlaceTensor *t, const Mesh *m, const Placement *p);
bool placement_within(const Mesh *m, const Placement *from, const Placement *to);

#endif
