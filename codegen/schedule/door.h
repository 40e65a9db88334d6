/* codegen/schedule/door.h - TaskGraph to Loop: decides how each kernel runs; nothing else does. */
#ifndef EIN_SCHEDULE_DOOR_H
#define EIN_SCHEDULE_DOOR_H

#include "loop/loop.h"

typedef struct LoopTarget {
  int lanes_bytes;           /* assumed size of a vector register */
  int registers;             /* assumed number of them */
  /* These change no bit of any result; 0: the default. */
  int64_t chunk;             /* scalar operations of a thread's chunk, about */
  int64_t wide;              /* the most rows and lanes of a block of packed panels: a power of two */
  int64_t cache_bytes;       /* of the last-level cache: results of about that size bypass it */
  int vector_bytes, vectors; /* actual size and number of vector registers: tiles of sums are made to fit */
  bool device;               /* grids of blocks of threads (schedule/gpu/), for which nothing above applies */
  bool apart;                /* products and sums are rounded separately: the same value wherever an expression is
                              * computed */
} LoopTarget;
LoopProgram *loop_from_task(TaskGraph *t, const LoopTarget *target);

#endif
