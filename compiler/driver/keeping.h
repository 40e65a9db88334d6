/* driver/keeping.h - checkpoints: --checkpoint writes the values of a program's only outermost repeat between two
 * turns, --resume starts there.
 *
 * Only states and stacks are carried from turn to turn. Everything before the repeat is computed again, and random
 * numbers are functions of seed and place, so a resumed run gives the same bits as an uninterrupted one. In the
 * evaluator the values are those that the program declares. In compiled code they are the buffers that the repeat
 * changes and that live longer than a turn, because passes may have removed or added states.
 *
 * A checkpoint is turn-N.safetensors: these tensors by their names; `ein.turn`, the turns made; `ein.repeat`, which
 * identifies the repeat; `ein.compiled`, 0 if the evaluator made them; and `ein.checksum`, made of all of these (older
 * ones lack the last two). It gets this name once it is complete and on disk; the last two are kept. If there are
 * several processes, each writes its blocks to its own file, turn-N.rank-1-of-4.safetensors. Once all of these are on
 * disk, the first process writes turn-N.safetensors, which has `ein.plan` instead of blocks: the number of processes,
 * and a hash of the plan. Only as many processes with the same plan can resume. With --deterministic any number of
 * processes with any plan can: the file then has `ein.deterministic`, and each block X has its position in
 * `ein.low.X`: 1 (0: X is not there), then where it begins. */
#ifndef EIN_DRIVER_KEEPING_H
#define EIN_DRIVER_KEEPING_H

#include "driver.h"

typedef VEC(ein_named_tensor) KeptTensors;

typedef struct Keeping {
  Session *s;
  const Job *j;
  const char *to;            /* --checkpoint; NULL: writes nothing */
  const char *from;          /* --resume; NULL: starts at turn 0 */
  int64_t every;
  int64_t repeat[2];         /* a hash of the text of the repeat's equations */
  int64_t plan[3];           /* of several processes, once it has begun: how many, and a hash of the tasks' text; else
                              * 0 */
  bool fixed;                /* --deterministic: any number of processes can resume */
  int64_t compiled;          /* 0: the evaluator runs it, whose sums have other bits */
  int64_t began;             /* the turn at which this run began; -1: not yet */
  Leave failed;              /* the result of a failure between two turns; LEAVE_OK: none */
  KeptTensors kept;          /* what is carried from turn to turn */
  VEC(uint32_t) buffer;      /* of compiled code: their buffers */
  VEC(int64_t *) low;        /* 1, or 0 if this process does not have it; then where its block begins */
  VEC(int64_t *) whole;      /* the extents of the whole tensor */
  uint32_t bound;            /* of compiled code: the buffer with the number of turns */
} Keeping;

/* keeping_new returns LEAVE_USAGE if the options conflict, or the program has no repeat for which they work. Without
 * these options it ignores *out. */
bool keeping_wanted(const Args *a);
Leave keeping_new(Session *s, const Job *j, const Args *a, bool compiled, Keeping *out);
/* For ein_config.between, and for Eval.between. */
ein_status keeping_between(void *keeping, void *ctx, ein_error *error);
bool keeping_eval(Keeping *k, EvalBetween *at, const char **why);

/* ---- keeping_files.c
 * ---------------------------------------------------------------------------------------------------- */
/* Makes the folder. It must have no checkpoints of a run that this one does not resume. Removes what a killed run
 * left incomplete. */
Leave kept_folder(const Keeping *k);
Leave kept_any(const Keeping *k); /* there is a checkpoint in k->from */
ein_status kept_write(const Keeping *k, int64_t turn, ein_error *error);
/* Reads the newest complete one into k->kept; reports incomplete ones, and those that have changed since. */
ein_status kept_read(Keeping *k, int64_t most, int64_t *turn, ein_error *error);

/* ---- keeping_sum.c
 * ------------------------------------------------------------------------------------------------------ */
/* A tensor's part of the checksum: in memory, and as stored in a file, which is read in pieces. */
uint64_t kept_sum(const ein_named_tensor *x);
ein_status kept_sum_stored(const char *path, const char *name, const ein_stored *x, uint64_t *out, ein_error *error);

#endif
