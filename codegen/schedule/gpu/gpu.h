/* codegen/schedule/gpu/gpu.h - inside of the schedules for a device: stages that go together along rows, and a stage's launch in one of three ways, tried in
 * this order. Each takes it and says true, or touches nothing and says false. */
#ifndef EIN_GPU_H
#define EIN_GPU_H

#include "schedule/schedule.h"

/* What is decided of a launch, as `how` tells it. */
typedef struct Choice {
  int64_t threads;           /* of a block; of tiles THREADS_SIDE a side */
  int64_t tile, deep;        /* of tiles: points a side, and of the sum that are shared at once */
  int64_t rows, each;        /* of whole rows: of a block; points of one that a thread has in registers, 0: it goes through them in a loop */
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

/* whole.c: stages from..*to-1, which go along one row behind each other: a block for each row, or for some. */
bool whole_launch(Sched *s, uint32_t from, uint32_t *to);

/* rows.c: a block for each point, of a long sum along which memory is read in its order. */
bool rows_launch(Sched *s, Launch *l);
/* The parts that so many threads have stored from `base` on, combined at `base`, where all of them may read it then. */
void rows_tree(Sched *s, const EinSum *sum, uint32_t part, const Expr *base, const Expr *thread, int64_t threads);
/* tile.c: a block for a tile of points, of a product of two sides. */
bool tile_launch(Sched *s, Launch *l);
bool tile_fits(Sched *s, Launch *l); /* whether it would */

#endif
