/* task/sites/ia_door.h - inside of the door from the implementation algebra (from_ia.c, ia_chain.c). */
#ifndef EIN_TASK_IA_DOOR_H
#define EIN_TASK_IA_DOOR_H

#include "ia_box.h"

typedef struct IaHeld {      /* of a node */
  int32_t buffer;            /* what holds what a site has of it; -1: nothing yet */
  int32_t place;             /* parts of argmax: what holds their places; -1: it has none */
  int32_t want;              /* the buffer that it had best be put into; -1: one of its own */
  uint32_t uses;
  const AlgNode *user;       /* the one met first by a walk from the front; NULL: a loop or an output */
  bool needed;
  bool rounded;              /* its kernel did what its user's first function does */
} IaHeld;

typedef struct IaPanels { Tasks *list; Task *kernel; uint32_t label, n; } IaPanels; /* a kernel of one stage, and where it stands */

typedef struct IaDoor {
  TaskGraph *t;
  const Algebra *ia;
  Arena *arena;
  IaHeld *held;              /* by node id */
  uint32_t *readers;         /* by node id: nodes and ends that have it for an operand */
  Tasks *list;               /* where tasks go */
  VEC(IaPanels) panels;      /* kernels that are to be done in panels */
  Buf *why;
  bool failed;
} IaDoor;

bool door_fail(IaDoor *m, const AlgNode *n, const char *why); /* false, always */
uint32_t door_buffer(IaDoor *m, TaskSpace space, DType t, uint32_t rank, const IaBox *box, Str name, Place place);
uint32_t door_result(IaDoor *m, const AlgNode *n, DType t, const IaBox *box);
Task *door_task(IaDoor *m, TaskKind kind, Place place, Str name);
/* Of a buffer what another's box has of it; wrap: as a move's. */
void door_copy(IaDoor *m, uint32_t from, uint32_t to, const int64_t *wrap, Place place);

/* The kernel in panels of its label, with moves of operands and of the result in panels (panels.c). Before kernels are joined. */
void door_panels(IaDoor *m, const IaPanels *x);

/* Tiles, shifts and rekeys, then perhaps a move, then perhaps an aggregation by a reducer, then concats: elements stay what they are, and go from the
 * box that a site has to the one that it is to have. */
typedef struct Chain {
  AlgNode *from;             /* what it begins with */
  const AlgNode *reducing;   /* or NULL */
  int64_t *wrap;             /* as a move's */
} Chain;
Chain chain_of(const IaDoor *m, const AlgNode *n);
bool chain_make(IaDoor *m, const AlgNode *n);

#endif
