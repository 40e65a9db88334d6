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
  bool units_alike;          /* what multiplies also adds, and nothing else does: on Intel's cores with AVX-512 */
  bool device;               /* grids of blocks of threads (schedule/gpu/), for which nothing above applies */
  bool apart;                /* products and sums are rounded separately: the same value wherever an expression is
                              * computed */
  bool both;                 /* they are not known: kernels are made for the assumed ones and, where they would be
                              * others, also for NARROW_BYTES and NARROW_VECTORS (LoopKernel.narrow) */
} LoopTarget;
/* The vector registers of AVX2, the most common among those that are not AVX-512's. */
enum { NARROW_BYTES = 32, NARROW_VECTORS = 16 };
bool loop_has_tiles(const Task *k); /* whether the registers may matter for a kernel */
LoopProgram *loop_from_task(TaskGraph *t, const LoopTarget *target);

#endif
