/* codegen/schedule/gpu/chain.h - inside of chains: what is decided of each stage (chain.c), of which chain_loops.c makes a launch.
 *
 * A chain's stages have a value for each row; or *pieces*, values at the points along a row; or rows of a *result*. A block has some rows, and goes
 * along them a piece at a time, in one sweep or several. What stages have at the points of a row is nowhere as a whole: a later sweep makes it again.
 *
 * In a sweep, sums over pieces grow. Where pieces are exp(a - u), and u hangs on the maximum of a that the same sweep finds, sums of them are kept for
 * the maximum so far: when that becomes another, they are multiplied by exp(u before - u now). */
#ifndef EIN_CHAIN_H
#define EIN_CHAIN_H

#include "schedule/gpu/gpu.h"

typedef enum { LINK_ROW, LINK_PIECE, LINK_RESULT } LinkIs;

typedef struct Link {        /* a stage */
  LinkIs is;
  uint32_t sweep;            /* sums: made in this one; pieces: in this one at the earliest; maps of rows: behind so many */
  uint32_t over;             /* its body is exp(a - u), and u hangs on this stage, a maximum that still grows in that sweep; NOWHERE: not so */
  const Expr *a, *u;         /*   these, over the stage's labels and slots */
  uint32_t base;             /* a sum of such, straight from the stage (which may be itself) that is exp(a - u) in that sweep; NOWHERE: it is none */
  bool grows;                /* a maximum over which others are */
  bool wanted;               /* pieces: in the sweep at hand */
  uint32_t own, acc;         /* in registers: its values; what a sum has so far, */
  uint32_t factor, count;    /*   over: by what sums are multiplied; grows: how many points there were */
  Tiles tiles;               /* of a product, and of a result that is a sum */
  Env env;
} Link;

typedef struct Chain {
  Sched *s;
  uint32_t from, to;
  uint32_t n_outer, row;     /* labels of all stages; one of them, of which a block has several points */
  Link *link;                /* by stage */
  const TaskStage *along;    /* a stage of pieces: its label n_outer is the one along rows */
  const TaskStage *result;   /* one of results; NULL: there is none */
  int64_t each, lanes;       /* a thread's rows and points along, of a piece; points of a result's row */
  uint32_t sweeps;
  bool packed;               /* a thread's rows are neighbours, and four of its points along; else it has every TILE_SIDE-th */
  bool matrix;               /* products are made by matrix units: a thread's points are those of LoopMatrix */
  const Expr *warp, *lane;   /*   its warp, and its number in that; */
  const Expr *place;         /* its number among the threads of a row */
  bool rows_whole, along_whole; /* no block, and no piece, goes beyond the end */
  int64_t tile_wide;         /* of the pieces that threads share, from row to row */
  uint32_t part[DTYPES], tile[DTYPES]; /* shared: parts of rows' sums; a stage's piece; where somebody wants it */
  const Expr **outer, *row0, *along0; /* what the outer labels are; where rows and the piece begin */
  uint32_t x, y;             /* the threads */
  const Expr *r, *at, *step; /* at hand: the thread's row, its point; and in sums of results, where this part of the piece begins */
  const Tiles *in;           /*   which of these; NULL: none */
} Chain;

enum { ALONG_EACH = 4 };
bool chain_reads(const Chain *c, uint32_t stage, uint32_t of); /* whether it looks at what that one has */
bool chain_is_sum(const Chain *c, uint32_t stage);
bool chain_is_over(const Chain *c, uint32_t stage, uint32_t sweep);
void chain_shares(const Chain *c, bool *part, bool *tile); /* by dtype: whether parts of rows' sums are shared, and pieces */
void chain_loops(Chain *c);

#endif
