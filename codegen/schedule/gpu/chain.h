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

/* The choice: what a block, a warp and a thread have of rows and of pieces. chain.c tries several, and the loops are
 * made for one. */
typedef struct ChainShape {
  int64_t rows, piece;       /* rows of a block; points along rows of a piece */
  int64_t each, points, results; /* a thread's rows, points of a row of the piece, and points of a result's row */
  int64_t sharing;           /* threads that share a row */
  int64_t beside;            /* blocks that share a multiprocessor */
  int64_t deep;              /* packed: points of a sum that are shared at once */
  int64_t tile_wide;         /* stride between rows of the pieces that threads share */
  bool packed;               /* a thread's rows are neighbours, and so are its points along, in fours; else it has
                              * every TILE_SIDE-th */
  bool matrix;               /* matrix units compute products: a thread's points are those of LoopMatrix */
  bool held;                 /* and a warp has whole rows: the rows' side of products, and the pieces of results, stay
                              * in registers (chain_held.c) */
  bool edges;                /* held: predicates exclude points of pieces */
  bool direct;               /* held: results are added up without sums for pieces */
  bool rows_whole, along_whole; /* no block, or no piece, extends beyond the end */
} ChainShape;

/* Arrays of a block, by dtype. */
typedef struct ChainShared {
  uint32_t part[DTYPES];     /* parts of rows' sums */
  uint32_t tile[DTYPES];     /* a stage's piece, if another stage needs it */
} ChainShared;

/* What a thread knows of its place in the block. */
typedef struct ChainThread {
  uint32_t x, y;             /* its variables */
  const Expr *place;         /* its number among the threads of a row */
  const Expr *warp, *lane;   /* matrix: its warp, and its number in the warp */
} ChainThread;

/* The current sweep, if the shape is held (chain_held.c). */
typedef struct ChainSweep {
  const Expr *end;           /* where it ends */
  uint32_t product, sums;    /* the stages of its product, and of its result; NOWHERE: there is none */
} ChainSweep;

/* The current place, as the statements that are being added see it. */
typedef struct ChainNow {
  const Expr **outer;        /* the outer labels */
  const Expr *row0, *along0; /* where the block's rows and the piece begin */
  const Expr *r, *at;        /* the thread's row, and its point */
  const Expr *step;          /* in sums of results: where this part of the piece begins */
  const Tiles *in;           /* the tiles whose inner loop this is; NULL: none */
} ChainNow;

typedef struct Chain {
  Sched *s;
  uint32_t from, to;
  uint32_t n_outer, row;     /* labels of all stages; one of them, of which a block has several points */
  Link *link;                /* by stage */
  const TaskStage *along;    /* a stage of pieces: its label n_outer goes along rows */
  const TaskStage *result;   /* a stage of results; NULL: there is none */
  int64_t lanes;             /* points of a result's row, in TILE_SIDE */
  uint32_t sweeps;
  ChainShape shape;
  ChainShared shared;
  ChainThread thread;
  ChainSweep sweep;
  ChainNow now;
} Chain;

enum { ALONG_EACH = 4 };
static inline const TaskStage *stage_at(const Chain *c, uint32_t i) { return &c->s->task->stages.at[i]; }
enum { CHAIN_WARPS = 8 };    /* of a block */
bool chain_reads(const Chain *c, uint32_t stage, uint32_t of); /* whether it depends on the other stage's value */
bool chain_is_sum(const Chain *c, uint32_t stage);
/* Whether it is a sum of the sweep, but no product. */
bool chain_is_in(const Chain *c, uint32_t stage, uint32_t sweep);
bool chain_is_over(const Chain *c, uint32_t stage, uint32_t sweep);
void chain_shares(const Chain *c, bool *part, bool *tile); /* by dtype: whether parts of rows' sums, and pieces, are
                                                            * shared */
/* Whether the threads of a row are of one warp, and combine their parts without shared memory. */
bool chain_in_warp(const Chain *c, const EinSum *sum);
void chain_loops(Chain *c);
Env chain_env(const Chain *c, uint32_t stage);
const Expr *chain_points_open(Chain *c); /* loops over the thread's points of a piece that exist; returns their index
                                          * along rows */
const Expr *chain_rows_open(Chain *c);   /* loops over the thread's rows; returns whether a row exists, NULL: all do */
uint32_t chain_own(Chain *c, Str name, const char *otherwise, DType t, int64_t n, const Expr *value);
uint32_t chain_piece_of(const Chain *c, uint32_t stage); /* the stage of pieces that a result sums; NOWHERE: none */
void chain_piece_shared(Chain *c, uint32_t stage);       /* stores the thread's points of a piece, for the block */

/* chain_held.c: what a sweep does if c->shape.held. */
bool chain_held_fits(const Chain *c); /* whether products and results can be made so */
void chain_held_rows(Chain *c);       /* before all sweeps: reads the rows' side of the product */
void chain_held_begin(Chain *c, uint32_t sweep, const Expr *lo, const Expr *hi); /* before a sweep over lo..hi */
void chain_held_product(Chain *c); /* the piece's product, in the stage's registers */
void chain_held_result(Chain *c);  /* adds the piece's part of the result */

#endif
