/* plan/placing/memory.h - the memory of a site: what it holds at each step of a run by a placing.
 *
 * Steps are the vertices in the graph's order, one after the other. At each step a site holds blocks of tensors at
 * home: an input's, stored once, and an output's always, another's until its last reader is done (or, if that reader is
 * in a repeat in which the tensor was not made, until the repeat is done). Copies of an input are there from its first
 * reader to its last. While its repeat runs, a state is stored twice: this
 * turn's value and the next one's. If the next value has the state's home, it is made in place. A stack has a block
 * for each turn. Added to this are, by phases of the step:
 *
 * - operands as fetched, if a site does not already hold all that its kernels need (operands from outside a repeat are
 *   fetched once for all turns and stay while it runs), and the result as made;
 * - the result as made, and what its parts are reduced to;
 * - the reduced result, and the result at home.
 *
 * Equal data is stored once. Every site reserves as much as the largest block needs.
 *
 * What comes in panels takes little: operands that are fetched for one step, parts, or both. All panels of a step are
 * along one label, the one with which it takes least; operands without it come whole, and of a reduced label so do
 * parts. Of a reduced label, panels are combined in the accumulator's dtype, beside a result of another. */
#ifndef EIN_PLACING_MEMORY_H
#define EIN_PLACING_MEMORY_H

#include "placing.h"

typedef enum { PHASE_KERNEL, PHASE_REDUCE, PHASE_HOME, PHASES } Phase;

typedef struct Life {        /* when a tensor is at home */
  uint32_t tensor, from, to; /* first and last step, both included */
  double times;              /* so many blocks */
  bool stack;                /* also those of past turns */
  bool stored;               /* of an input: as it is stored, once; else its copies at home, if there are any */
} Life;

/* Steps; if equal, only while its kernels run. panels: the labels along which it can come in panels, bit l for label l,
 * up to 63. */
typedef struct Fetched { uint32_t from, to; uint64_t panels; } Fetched;

typedef enum { PANELS_NONE, PANELS_OPERANDS, PANELS_PARTS, PANELS_BOTH, PANELS_KINDS } PanelsKind;

enum { PANELS_USUAL = 64 };   /* of a vertex at most, unless a plan states them */

struct Lives {
  PanelsKind panels;         /* what is taken to come in panels, and counts next to nothing */
  int32_t *along;            /* by vertex, for PANELS_BOTH: the label of its panels as prices see them; -1: none */
  VEC(Life) all;
  Fetched **fetched;         /* by vertex, by read */
  int32_t *next_of;          /* by tensor: the state whose next value it is; -1: none */
  uint32_t *n_read;          /* by tensor: how many reads it has; an input's copies for one are as fetched for that */
  uint32_t steps;            /* vertices, and the end */
};

Lives *lives_find(Arena *a, const PlaceGraph *g);

typedef struct SiteMemory { double bytes; uint32_t step; Phase phase; } SiteMemory;

/* The peak of a run. by: NULL, or receives the bytes of each step's phases. */
SiteMemory placing_memory(const PlaceGraph *g, const Lives *l, const Placing *p, double *by);
/* Takes each vertex to be in panels of the label with which it needs least in this plan. */
void panels_choose(const PlaceGraph *g, Lives *l, const Placing *p);
/* Whether prices take the operand to come in panels; what the vertex makes, before it is reduced. */
bool panels_have_read(const Lives *l, uint32_t vertex, uint32_t read);
bool panels_have_made(const PlaceGraph *g, const Lives *l, uint32_t vertex);
/* Bytes of an operand as fetched; 0: each site already has all of it. */
double fetched_bytes(const PlaceGraph *g, const Placing *p, uint32_t vertex, uint32_t read);
/* Bytes of the largest block; of what is stored once of a tensor with that home; whether each site already has all of
 * `to`. */
double placement_bytes(const PlaceTensor *t, const Mesh *m, const Placement *p);
double life_bytes(const PlaceGraph *g, const Life *x, const Mesh *m, const Placement *home); /* once */
double stored_bytes(const PlaceTensor *t, const Mesh *m, const Placement *home);
bool placement_within(const Mesh *m, const Placement *from, const Placement *to);

#endif
