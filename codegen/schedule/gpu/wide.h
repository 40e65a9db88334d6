/* codegen/schedule/gpu/wide.h - inside of maps for a device: what a thread does with neighbours along one label (wide.c), also where some of what they
 * read was brought together by the block (turn.c). */
#ifndef EIN_GPU_WIDE_H
#define EIN_GPU_WIDE_H

#include "schedule/gpu/gpu.h"

typedef struct Wide {
  Sched *s;
  const Launch *l;           /* all of whose stages are maps; its environment says the labels of the first neighbour */
  StagePlan plan;            /* of the last stage */
  uint32_t label;            /* along which they are neighbours */
  int64_t each;              /* so many of them; 1: it is one point */
  const Expr *lane;          /* the one at hand */
  Map arrays;                /* from a read at the first one to what stands for it */
  uint32_t **turned;         /* by stage of the launch and slot: a shared array that has it, or NOWHERE; NULL: there are none; */
  const Expr *flat;          /*   the first neighbour's place there, the others behind it */
} Wide;

Wide wide_of(Sched *s, const Launch *l);
bool wide_is_map(const Wide *w);           /* all of its stages are, at all points */
int64_t wide_most(const Wide *w);          /* neighbours along the label, by their bytes */
int64_t wide_points(const Wide *w);        /* of the launch, as far as sizes are known */
bool wide_fits(const Wide *w);             /* so many can be read and stored at once, */
bool wide_reads(const Wide *w, uint32_t stage); /*   or read by this stage */
bool wide_slot(const Wide *w, uint32_t stage, uint32_t slot); /* of this read alone, and wherever the map is, it can be done */
bool wide_own(const Wide *w, TaskSlot slot); /* it is what another stage of the launch has */
DType wide_dtype(const Sched *s, TaskSlot slot);
const Expr *wide_read(const Wide *w, uint32_t stage, uint32_t slot); /* over the stage's labels; NULL: nothing reads the slot */
void wide_make(Wide *w);                   /* the statements */
/* Those that read what the stage wants at the first neighbour, for all of them; gives what stands for each slot at `lane`, or NULL. With it, the stage's body in
 * an environment that says the labels of the neighbour at hand. */
const Expr **wide_loaded(Wide *w, Env *first);
const Expr *wide_value(Env *e, const Expr **loaded);

#endif
