/* codegen/schedule/gpu/wide.h - internals of maps for a device: a thread's work on neighbours along one label
 * (wide.c), also if the block has first collected some of their operands (transpose.c). */
#ifndef EIN_GPU_WIDE_H
#define EIN_GPU_WIDE_H

#include "schedule/gpu/gpu.h"

typedef struct Wide {
  Sched *s;
  const Launch *l;           /* all of its stages are maps; its environment defines the labels of the first neighbour */
  StagePlan plan;            /* of the last stage */
  uint32_t label;            /* along which they are neighbours */
  int64_t each;              /* how many; 1: a single point */
  const Expr *lane;          /* the current one */
  Map arrays;                /* from a read at the first neighbour to its replacement */
  uint32_t **transposed;     /* by stage of the launch and slot: the shared array with it, or NOWHERE; NULL: there are
                              * none */
  const Expr *flat;          /* the first neighbour's position there; the others follow */
} Wide;

Wide wide_of(Sched *s, const Launch *l);
bool wide_is_map(const Wide *w);           /* all of its stages are maps, at all points */
int64_t wide_most(const Wide *w);          /* neighbours along the label, by their bytes */
int64_t wide_points(const Wide *w);        /* of the launch, as far as sizes are known */
bool wide_fits(const Wide *w);             /* that many can be read and stored at once */
bool wide_reads(const Wide *w, uint32_t stage); /* or read by this stage */
bool wide_slot(const Wide *w, uint32_t stage, uint32_t slot); /* it works for this read, wherever the map runs */
bool wide_own(const Wide *w, TaskSlot slot); /* another stage of the launch computes it */
DType wide_dtype(const Sched *s, TaskSlot slot);
const Expr *wide_read(const Wide *w, uint32_t stage, uint32_t slot); /* over the stage's labels; NULL: nothing reads
                                                                      * the slot */
void wide_make(Wide *w);                   /* appends the statements */
/* wide_loaded: loads the stage's operands at the first neighbour, for all neighbours; returns for each slot its
 * replacement at `lane`, or NULL. wide_value: the stage's body with these, in an environment with the labels of the
 * current neighbour. */
const Expr **wide_loaded(Wide *w, Env *first);
const Expr *wide_value(Env *e, const Expr **loaded);
/* Adds the current point of a sum, at each of the neighbours, to an array of as many. */
void wide_take(Wide *w, uint32_t acc);

#endif
