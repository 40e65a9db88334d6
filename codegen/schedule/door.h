/* codegen/schedule/door.h - TaskGraph to Loop: how each kernel runs is decided here, and nowhere else. */
#ifndef EIN_SCHEDULE_DOOR_H
#define EIN_SCHEDULE_DOOR_H

#include "loop/loop.h"

typedef struct LoopTarget {
  int lanes_bytes;           /* what a vector register is taken to hold */
  int registers;             /* and how many there are */
  /* These change no bit of any answer; 0: the usual. */
  int64_t chunk;             /* scalar operations of a chunk for threads, about */
  int64_t wide;              /* rows and lanes of a block of packed panels, at most: a power of two */
  int64_t cache_bytes;       /* of the last level: results of about as many go past it */
  int vector_bytes, vectors; /* what registers do hold, and how many there are: tiles of sums are made to fit */
  bool device;               /* grids of blocks of threads (schedule/gpu/), of which nothing above says anything */
  bool apart;                /* products and sums are rounded one by one: the same number wherever an expression is computed */
} LoopTarget;
LoopProgram *loop_from_task(TaskGraph *t, const LoopTarget *target);

#endif
