/* codegen/schedule/gpu/chain.h - internals of chains: what is decided about each stage (chain.c), from which
 * chain_loops.c makes a launch.
 *
 * A chain's stages have a value for each row; or *pieces*, values at the points along a row; or rows of a *result*. A
 * block has some rows, and goes along them piece by piece, in one or several sweeps. Values at the points of a row
 * are never stored as a whole: a later sweep computes them again.
 *
 * In a sweep, sums over pieces grow. If pieces are exp(a - u), and u depends on the maximum of a that the same sweep
 * computes, their sums are kept relative to the maximum so far. When the maximum changes, they are multiplied by
 * exp(u before - u now). */
#ifndef EIN_CHAIN_H
#define EIN_CHAIN_H

#include "schedule/gpu/gpu.h"

typedef enum { LINK_ROW, LINK_PIECE, LINK_RESULT } LinkIs;

typedef struct Link {        /* a stage */
  LinkIs is;
  uint32_t sweep;            /* sums: the sweep that computes it; pieces: the earliest sweep; maps of rows: the number
                              * of sweeps before it */
  uint32_t over;             /* its body is exp(a - u), and u depends on this stage, a maximum that still grows in
                              * that sweep; NOWHERE: it is not */
  const Expr *a, *u;         /* these, over the stage's labels and slots */
  uint32_t base;             /* a sum of such values, directly from the stage (possibly itself) that is exp(a - u) in
                              * that sweep; NOWHERE: it is not */
  bool grows;                /* a maximum on which such sums depend */
  bool wanted;               /* pieces: needed in the current sweep */
  uint32_t own, acc;         /* in registers: its values; a sum so far */
  uint32_t factor, count;    /* over: the factor of sums; grows: the number of points so far */
  Tiles tiles;               /* of a product, and of a result that is a sum */
  Env env;
} Link;

typedef struct Chain {
  Sched *s;
  uint32_t from, to;
  uint32_t n_outer, row;     /* labels of all stages; one of them, of which a block has several points */
  Link *link;                /* by stage */
  const TaskStage *along;    /* a stage of pieces: its label n_outer goes along rows */
  const TaskStage *result;   /* a stage of results; NULL: there is none */
  int64_t each, lanes;       /* a thread's rows and points along, in a piece; points of a result's row */
  uint32_t sweeps;
  bool packed;               /* a thread's rows are neighbours, and so are its points along, in fours; else it has
                              * every TILE_SIDE-th */
  bool matrix;               /* matrix units compute products: a thread's points are those of LoopMatrix */
  const Expr *warp, *lane;   /* its warp, and its number in the warp */
  const Expr *place;         /* its number among the threads of a row */
  bool rows_whole, along_whole; /* no block, or no piece, extends beyond the end */
  int64_t tile_wide;         /* stride between rows of the pieces that threads share */
  uint32_t part[DTYPES], tile[DTYPES]; /* shared: parts of rows' sums; a stage's piece, if another stage needs it */
  const Expr **outer, *row0, *along0; /* the outer labels; where rows and the piece begin */
  uint32_t x, y;             /* the threads */
  const Expr *r, *at, *step; /* current values: the thread's row, its point; in sums of results, where this part of
                              * the piece begins */
  const Tiles *in;           /* of which of these; NULL: none */
} Chain;

enum { ALONG_EACH = 4 };
static inline const TaskStage *stage_at(const Chain *c, uint32_t i) { return &c->s->task->stages.at[i]; }
bool chain_reads(const Chain *c, uint32_t stage, uint32_t of); /* whether it depends on the other stage's value */
bool chain_is_sum(const Chain *c, uint32_t stage);
bool chain_is_over(const Chain *c, uint32_t stage, uint32_t sweep);
void chain_shares(const Chain *c, bool *part, bool *tile); /* by dtype: whether parts of rows' sums, and pieces, are
                                                            * shared */
void chain_loops(Chain *c);

#endif
