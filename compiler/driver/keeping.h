/* driver/keeping.h - runs that survive: --checkpoint writes what a program's only outermost repeat has between two turns, --resume begins it there.
 *
 * What goes from turn to turn are states and stacks, and nothing else: all that stands before the repeat is computed again, and random numbers are
 * functions of seed and place. So a run that goes on comes to the bits of one that was never ended. By the evaluator they are what the program
 * declares; compiled, the buffers that the repeat changes and that live longer than a turn, as passes may have dropped a state, or made one.
 *
 * A checkpoint is turn-N.safetensors: these tensors by their names, `ein.turn`, the turns made, and `ein.repeat`, which tells one repeat from
 * another. It has that name once it is whole and on the disk, and two stay. Of several processes each writes its blocks to a file of its own,
 * turn-N.rank-1-of-4.safetensors, and once all of them are on the disk, the first one writes turn-N.safetensors, which has `ein.plan` instead of
 * blocks: how many processes there are, and a hash of the plan. As many processes go on from it, by the same plan. Under --deterministic any number does,
 * by any plan: `ein.deterministic` is there then, and blocks say where they stand, X by `ein.low.X`, 1 (0: X is not there), then where it begins. */
#ifndef EIN_DRIVER_KEEPING_H
#define EIN_DRIVER_KEEPING_H

#include "driver.h"

typedef VEC(ein_named_tensor) KeptTensors;

typedef struct Keeping {
  Session *s;
  const Job *j;
  const char *to;            /* --checkpoint; NULL: nothing is written */
  const char *from;          /* --resume; NULL: it begins at turn 0 */
  int64_t every;
  int64_t repeat[2];         /* the repeat's equations, by a hash of their text */
  int64_t plan[3];           /* of several processes: how many, and the tasks, by a hash of their text, once it has begun; else 0 */
  bool fixed;                /* --deterministic: any number of processes goes on from it */
  int64_t began;             /* the turn at which this run began; -1: it has not begun */
  Leave failed;              /* what a failure between two turns comes to; LEAVE_OK: there was none */
  KeptTensors kept;          /* what goes from turn to turn, and */
  VEC(uint32_t) buffer;      /*   of compiled code the buffers of these, */
  VEC(int64_t *) low;        /*   1, or 0 if it is not at this process, then where its block begins, */
  VEC(int64_t *) whole;      /*   and the extents of all of it */
  uint32_t bound;            /* of compiled code: the buffer that says how many turns there are */
} Keeping;

/* LEAVE_USAGE where the words do not go together, or the program has no repeat that could be kept; without these options *out is not looked at. */
bool keeping_wanted(const Args *a);
Leave keeping_new(Session *s, const Job *j, const Args *a, bool compiled, Keeping *out);
/* For ein_config.between, and for Eval.between. */
ein_status keeping_between(void *keeping, void *ctx, ein_error *error);
bool keeping_eval(Keeping *k, EvalBetween *at, const char **why);

/* ---- keeping_files.c ---------------------------------------------------------------------------------------------------- */
/* The folder is made, and has no checkpoints of a run that this one does not go on from; what a run that was killed was writing is gone. */
Leave kept_folder(const Keeping *k);
Leave kept_any(const Keeping *k); /* there is a checkpoint in k->from */
ein_status kept_write(const Keeping *k, int64_t turn, ein_error *error);
/* The newest that is whole, into k->kept; one that is not is told of. */
ein_status kept_read(Keeping *k, int64_t most, int64_t *turn, ein_error *error);

#endif
