/* codegen/schedule/gpu/gpu.h - inside of the schedules for a device: a stage's launch in one of three ways, tried in this order. Each takes it and says
 * true, or touches nothing and says false. */
#ifndef EIN_GPU_H
#define EIN_GPU_H

#include "schedule/schedule.h"

/* What is decided of a launch, as `how` tells it. */
typedef struct Choice {
  int64_t threads;           /* of a block; of tiles THREADS_SIDE a side */
  int64_t tile, deep;        /* of tiles: points a side, and of the sum that are shared at once */
} Choice;

/* Stages from..to-1 at the same points, the labels of which are to be said in `e`. */
typedef struct Launch {
  uint32_t from, to;
  const TaskStage *first;    /* which may be a sum; the others are maps behind it */
  StagePlan plan;            /* of the first one */
  Env *e;                    /* of the first one */
} Launch;
/* What the stages come to at the point at hand, stored; sum: what the first one's is there, in its accumulator's dtype. NULL: it is made here, in order. */
void launch_finish(Sched *s, const Launch *l, const Expr *sum);

/* rows.c: a block for each point, of a long sum along which memory is read in its order. */
bool rows_launch(Sched *s, Launch *l);
/* tile.c: a block for a tile of points, of a product of two sides. */
bool tile_launch(Sched *s, Launch *l);

#endif
