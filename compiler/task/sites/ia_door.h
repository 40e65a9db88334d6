/* task/sites/ia_door.h - internals of from_ia (from_ia.c, ia_chain.c). */
#ifndef EIN_TASK_IA_DOOR_H
#define EIN_TASK_IA_DOOR_H

#include "ia_box.h"

typedef struct IaHeld {      /* the state of a node */
  int32_t buffer;            /* holds what a site has of it; -1: none yet */
  int32_t place;             /* parts of argmax: holds their places; -1: it has none */
  int32_t want;              /* the buffer in which it should be stored if possible; -1: one of its own */
  uint32_t uses;
  const AlgNode *user;       /* the first one met in a forward walk; NULL: a loop or an output */
  IaCopies copies;           /* which of its keys distinguish copies */
  bool needed;
  bool rounded;              /* its kernel also did its user's first function */
} IaHeld;

/* a kernel of one stage, and the list that contains it */
typedef struct IaPanels { Tasks *list; Task *kernel; uint32_t label, n; } IaPanels;

typedef struct IaDoor {
  TaskGraph *t;
  const Algebra *ia;
  Arena *arena;
  IaHeld *held;              /* by node id */
  uint32_t *readers;         /* by node id: how many nodes and ends have it as an operand */
  Tasks *list;               /* tasks are appended here */
  const AlgNode *making;     /* what they make; NULL: inputs and outputs */
  VEC(IaPanels) panels;      /* kernels to be done in panels */
  Buf *why;
  bool failed;
} IaDoor;

bool door_fail(IaDoor *m, const AlgNode *n, const char *why); /* always returns false */
uint32_t door_buffer(IaDoor *m, TaskSpace space, DType t, uint32_t rank, const IaBox *box, Str name, Place place);
uint32_t door_result(IaDoor *m, const AlgNode *n, DType t, const IaBox *box);
Task *door_task(IaDoor *m, TaskKind kind, Place place, Str name);
/* Copies from one buffer what the other's box has of it; wrap: as in a move. */
void door_copy(IaDoor *m, uint32_t from, uint32_t to, const int64_t *wrap, Place place);

/* Splits the kernel into panels of its label, with moves of operands and of the result in panels (panels.c). Before
 * kernels are fused. */
void door_panels(IaDoor *m, const IaPanels *x);

/* Tiles, shifts and rekeys, then an optional move, then an optional aggregation by a reducer, then concats. Elements
 * keep their values; they go from the box that a site has to the one that it must have. */
typedef struct Chain {
  AlgNode *from;             /* the first node */
  const AlgNode *reducing;   /* or NULL */
  int64_t *wrap;             /* as in a move */
} Chain;
Chain chain_of(const IaDoor *m, const AlgNode *n);
bool chain_make(IaDoor *m, const AlgNode *n);

#endif
