/* codegen/schedule/gpu/gpu.h - internals of the schedules for a device: chains of stages along rows, and launches for
 * single stages in one of nine ways, tried in this order. Each schedules the stage and returns true, or changes
 * nothing and returns false. */
#ifndef EIN_GPU_H
#define EIN_GPU_H

#include "schedule/schedule.h"

/* Stages from..to-1 at the same points, whose labels `e` must define. */
typedef struct Launch {
  uint32_t from, to;
  const TaskStage *first;    /* may be a sum; the others are maps after it */
  StagePlan plan;            /* of the first one */
  Env *e;                    /* of the first one */
} Launch;
/* points.c: whether only the first stage reduces. */
bool launch_is_one_sum(const Sched *s, const Launch *l);
/* The walk over the labels of the plan's points; its number of points. */
Walk *points_walk(Sched *s, const StagePlan *p);
const Expr *walk_points(Sched *s, const Walk *w);
/* Sets the walk's labels to those of the point with this number. */
void labels_set(Env *e, Walk *w, const uint32_t *label, const Expr *number);
/* points.c: a thread per point, which computes its sum in order: takes every launch. */
void points_launch(Sched *s, Launch *l);
/* What follows runs in a thread for each point of these labels. Returns the point's number. */
const Expr *threads_open(Sched *s, const StagePlan *p, Env *e);
/* Opens a loop over an axis of the block. Returns the thread's place along it. */
const Expr *axis_open(Sched *s, const char *name, int64_t n, uint8_t axis);
/* Computes and stores the stages' values at the current point. sum: the first one's, in its accumulator's dtype;
 * NULL: computed here, in order. */
void launch_finish(Sched *s, const Launch *l, const Expr *sum);

/* library.c: a product that a matrix library may compute. Statements then go into its `other`: launches that do
 * everything if there is no library. Afterwards, library_behind makes the launches after the library's product. */
typedef struct Library {
  Sched *s;
  const Launch *l;
  StagePlan plan;
  const Expr *read[2];       /* of the stage: its sides */
  double scale;              /* the factor of their product */
  const TaskStage *to;       /* the last stage whose result it computes */
  const Expr **label;        /* by number: a variable of its own */
  uint32_t order[PRODUCT_LOOPS], n; /* labels, in the order of its loops */
  LoopStmt *product;
} Library;
bool library_product(Sched *s, const Launch *l, Library *b);
void library_behind(Library *b);
/* What follows runs in a thread for each point of the plan's labels, the last of which goes along the threads. each >
 * 1: for that many neighbours along the last label, which divide its extent; the environment has the first of them.
 * Returns the number of the point, or of the group. */
const Expr *points_spread(Sched *s, const StagePlan *p, Env *e, int64_t each);
bool points_read_from(const Sched *s, uint32_t stage, uint32_t from); /* whether a stage from `from` on reads it */

/* transpose.c: maps whose operands are contiguous along another label than their result, by squares in shared
 * memory. */
bool transpose_launch(Sched *s, Launch *l);

/* wide.c: maps in which each thread computes several neighbours. */
bool wide_launch(Sched *s, Launch *l);

/* chain.c: stages from..*to-1 along rows, piece by piece: values at the points of a row are never stored as a whole. */
bool chain_launch(Sched *s, uint32_t from, uint32_t *to);

/* whole.c: stages from..*to-1 along one row, one after the other: a block for each row, or for some. */
bool whole_launch(Sched *s, uint32_t from, uint32_t *to);

/* split.c: splits a long sum for few points: one launch for its parts, another one to combine them. */
bool split_launch(Sched *s, Launch *l);

/* scan.c: running sums, which gain one point at each step along a label of the result. */
bool scan_launch(Sched *s, Launch *l);

/* bins.c: sums over the points that select an output. */
bool bins_launch(Sched *s, Launch *l);

/* seek.c: the same with more outputs than bins have, or fewer points. */
bool seek_launch(Sched *s, Launch *l);

/* rows.c: a block for each point of a long sum along which memory is read in order. */
bool rows_launch(Sched *s, Launch *l);
bool rows_along(const Sched *s, const Launch *l); /* whether it is such a sum */
/* The combination of some points, in a register or an element of an array: a value; for argmax and argmin also its
 * place, -1: no point yet. place NOWHERE: other reducers. */
typedef struct RowsAt { uint32_t value, place, n; const Expr *const *at; } RowsAt;
typedef struct RowsShared { uint32_t part, places; } RowsShared; /* a block's arrays for its threads' results; places
                                                                  * NOWHERE: as above */
RowsAt rows_own(Sched *s, const EinSum *sum); /* registers, without points so far */
void rows_take(Sched *s, const EinSum *sum, const RowsAt *to, const RowsAt *from); /* combines *to with *from */
void rows_store(Sched *s, const RowsAt *to, const RowsAt *from);
const Expr *rows_result(Sched *s, const RowsAt *of);
/* The thread's part: every threads-th point of the innermost label that the predicate allows; of a label that is cut,
 * those from lo to hi; cut NULL: all. */
typedef struct RowsCut { uint32_t label; const Expr *lo, *hi; } RowsCut;
/* Only the loops over its points. */
void part_loops(Sched *s, const Launch *l, const Expr *thread, int64_t threads, const RowsCut *cut);
RowsAt rows_part(Sched *s, const Launch *l, const Expr *thread, int64_t threads, const RowsCut *cut);
RowsShared rows_shared(Sched *s, const EinSum *sum, int64_t threads); /* between a grid and its blocks */
/* Combines the results of a block's threads, for the first thread to read. */
RowsAt rows_together(
    Sched *s, const EinSum *sum, RowsShared shared, const RowsAt *own, const Expr *thread, int64_t threads);
/* Combines the parts that `threads` threads have stored from `base` on, at `base`, where all of them may then read
 * it. */
void rows_tree(Sched *s, const EinSum *sum, uint32_t part, const Expr *base, const Expr *thread, int64_t threads);
/* tile.c: a block per tile of points, of a product of two sides. */
bool tile_launch(Sched *s, Launch *l);
bool tile_fits(Sched *s, Launch *l); /* whether it would */

/* ---- sides.c: what a block of TILE_SIDE by TILE_SIDE threads computes from two sides ----------------------------- */
enum { TILE_SIDE = 16, TILE_DEEP = 16 }; /* threads per side; points of the sum that are shared at once */
typedef enum { OF_NONE, OF_ROW, OF_LANE, OF_OTHER } SideOf;

/* The labels along a side of a tile, combined: a point is a number whose lowest digit is the last label. */
typedef struct Side {
  uint32_t n, *label;
  const Expr *all;           /* the number of points */
  bool exact;                /* size is exact */
  int64_t size;              /* that number; else a guess */
} Side;

/* The choice: what a block, a warp and a thread have of the tile and of the sum. */
typedef struct TileShape {
  int64_t rows, lanes;       /* a thread's points along each side; the tile has TILE_SIDE times as many */
  int64_t row_pack, lane_pack; /* how many of these are neighbours, which it reads from shared memory at once; 1: it
                                * has every TILE_SIDE-th */
  int64_t part;              /* points of the sum that are shared at once */
  int64_t beside;            /* blocks that share a multiprocessor (loop.h) */
  bool brought;              /* sides are loaded in advance (bring.c) */
  int64_t ring;              /* the same by copies in the background: the shared arrays have room for so many parts,
                              * one of which threads work on while the next ones come; 0: no copies */
  bool matrix;               /* matrix units compute products (LoopMatrix) */
  int64_t down, across;      /* matrix: warps along rows and along lanes */
} TileShape;

/* By slot: its side, and where that side's elements are. */
typedef struct TileSlots {
  const Expr **read;         /* by the sum's body; NULL: only the predicate reads it */
  SideOf *of;                /* its side */
  uint32_t *shared;          /* its place in shared memory */
  int64_t *wide;             /* its stride there from one point of the sum to the next */
  struct Groups *groups;     /* for sides loaded in advance: the thread's elements (bring.c) */
  uint32_t *next;            /* registers for the next part; NOWHERE: it goes directly to shared memory */
} TileSlots;

/* What a thread knows of its place in the block. */
typedef struct TileThread {
  uint32_t x, y;             /* its variables */
  const Expr *number;        /* y * TILE_SIDE + x */
  const Expr *warp_row, *warp_lane; /* matrix: where the warp's matrix begins in the tile */
} TileThread;

/* What the kernel around the tile keeps, and the tile reads. */
typedef struct TileKept {
  const Expr *(*other)(void *owner, const Expr *leaf); /* replaces a read of a value that the kernel keeps; NULL: read
                                                        * it in place */
  void *owner;
  uint32_t held;             /* matrix: the registers with the side of the rows, or with kept values; NOWHERE: it is
                              * shared */
  uint32_t place;            /* matrix: the kept values, rows by points of the sum; */
  int64_t wide;              /*   their stride from row to row, */
  const Expr *at;            /*   and where this part of the sum is in a row */
} TileKept;

/* The current place, as the statements that are being added see it. */
typedef struct TileNow {
  const Expr *row0, *lane0, *red0; /* where the tile begins, and this part of the sum */
  const Expr *deep, *at_row, *at_lane; /* in the inner loops: the point of the sum, the row and the lane within the
                                        * tile */
  const Expr *row_near, *lane_near; /* the offset of at_row and at_lane within neighbours */
  const Expr *r, *at;        /* of the thread's own: the row and the point */
  const Expr *turn;          /* ring: the part's place in the shared arrays, from 0 */
} TileNow;

typedef struct Tiles {
  Sched *s;
  const TaskStage *st;
  StagePlan plan;
  Env *env;
  Side row, lane;            /* of the tile; of one label each, if there is a predicate, or values are kept along
                              * them */
  uint32_t red;              /* the innermost label of the sum */
  TileShape shape;
  TileSlots slot;
  TileThread thread;
  TileKept kept;
  TileNow now;
} Tiles;

Tiles tiles_of(Sched *s, const TaskStage *st, Env *e, int64_t rows, int64_t lanes);
/* Finds the slots' sides, given row and lane. Returns whether there are slots of the lanes and (both) of the rows,
 * and none of both sides. */
bool tiles_sides(Tiles *t, bool both);
/* Whether tiles can compute the sum: its reducer is suitable, and its predicate can be tested at each point. */
bool tiles_take(Tiles *t);
int64_t tiles_bytes(const Tiles *t);
bool tiles_are_shared(const Tiles *t, uint32_t slot);
int64_t tiles_part(const Tiles *t, uint32_t slot); /* elements of its shared array for one part of the sum */
typedef struct TileGrid { uint32_t block, x, y; } TileGrid; /* variables of a launch: a block, and a thread in it */
TileGrid grid_open(Sched *s, const Expr *blocks, int64_t beside); /* the loop over its blocks */
void grid_threads(Sched *s, const TileGrid *g); /* those over a block's threads, behind what is shared */
void tiles_shared(Tiles *t);   /* declares its arrays, between a grid and its blocks */
void tiles_fill(Tiles *t);     /* fills the shared arrays for the part of the sum that begins at red0 */
bool tiles_small(const Tiles *t, uint32_t slot); /* halves that are shared as halves */
bool tiles_deep(const Tiles *t, uint32_t slot);  /* in shared memory, points of the sum are contiguous; else points of
                                                  * the side are */
bool tiles_along(const Tiles *t, uint32_t slot); /* its elements are contiguous along the sum */
const Expr *tiles_read(const Tiles *t, uint32_t slot); /* the slot's value */
uint32_t tiles_slot(const Tiles *t, SideOf side); /* the first slot of that side; NOWHERE: there is none */
void tiles_warps(Tiles *t);    /* before everything that a thread does: its warp */
bool tiles_are_matrix(const Tiles *t); /* matrix units can compute it */
void tiles_points(Tiles *t);   /* two loops over the thread's points */
void tiles_labels(Tiles *t);   /* inside them: the tile's labels */
/* Whether the predicate, if there is one, holds at all points of this part; NULL: unknown. */
const Expr *tiles_all(Tiles *t);
/* Adds the points of this part to the thread's sums: all of them by matrix units; those that the predicate allows,
 * tested one by one; or as it is best. */
void tiles_matrix(Tiles *t, uint32_t acc);
void tiles_asked(Tiles *t, uint32_t acc);
void tiles_step(Tiles *t, uint32_t acc);
/* The whole sum, part by part. */
void tiles_sum(Tiles *t, uint32_t acc);
/* tiles_parts: the number of its parts over all of its labels. tiles_some: the sum over some of them. */
const Expr *tiles_parts(const Tiles *t);
void tiles_some(Tiles *t, uint32_t acc, const Expr *from, const Expr *to);
/* Whether the current point belongs to the result. */
const Expr *tiles_inside(const Tiles *t); /* NULL: always */
Side side_new(const Tiles *t, uint32_t n, const uint32_t *label);
bool side_whole(const Side *x, int64_t n);      /* n is known to divide the number of its points */
/* Defines its labels at a point, plus `near`, less than n; the point is a multiple of n. */
void side_say(Tiles *t, const Side *x, const Expr *point, const Expr *near, int64_t n);
bool tiles_whole(const Tiles *t, int64_t n);    /* the same for the sum's innermost label */
const Expr *tiles_nothing(Sched *s, DType t);   /* 0, or false */
/* The range that the predicate allows the label at some point of these. */
void sides_narrow(Env *e, uint32_t n_label, const Expr *cond, uint32_t label, uint32_t n, const Reach *reach,
    const Expr **lo, const Expr **hi);
const Expr *sides_begin(Sched *s, const Expr *lo); /* the beginning of the part of the sum that contains lo */

/* ---- bring.c: the same, loaded in advance: while threads work on a part of the sum, their operands for the next one
 * are being loaded into registers, or copied ---- */
bool bring_takes(int64_t points); /* that many of a side, along it */
bool bring_fits(const Tiles *t, uint32_t slot); /* whether the block's threads divide the slot's part evenly */
/* How many elements along the label one load reads. */
int64_t bring_wide(const Tiles *t, uint32_t slot, uint32_t label);
void bring_ready(Tiles *t);    /* declares the registers, in a thread */
void bring_load(Tiles *t);     /* of the part that begins at red0 */
void bring_put(Tiles *t);      /* into shared memory */
bool bring_copies(const Tiles *t); /* whether copies in the background can do it */
void bring_copy(Tiles *t);     /* of the part that begins at red0, to now.turn */

/* Opens an unrolled loop over n. Returns the place in it. */
static inline const Expr *each_open(Sched *s, const char *name, int64_t n) {
  uint32_t v = var_new(s, NULL, name);
  into(s, &for_add(s, v, ex_int(s, 0), ex_int(s, n), 1, BIND_UNROLL)->body);
  return var_read(s, v);
}
/* The same without a loop if n is 1: a variable with one value would hide that each thread stores to its own
 * elements. */
static inline const Expr *unrolled_open(Sched *s, const char *name, int64_t n) {
  return n == 1 ? ex_int(s, 0) : each_open(s, name, n);
}
static inline const Expr *ex_below(Sched *s, const Expr *a, const Expr *b) { return expr_op2(s->x, OP_LT, a, b); }
/* Combines the register with a value. */
static inline void acc_take(Sched *s, const EinSum *sum, uint32_t acc, const Expr *value) {
  store_add(s, acc, 0, NULL, ex_shared(s, red_combine(s, sum, scalar_read(s, acc), value)));
}
static inline int64_t two_power(int64_t n) { /* the least power of two that is n or more */
  int64_t two = 1;
  while (two < n) two *= 2;
  return two;
}
static inline int64_t up(int64_t a, int64_t b) { return (a + b - 1) / b; }
/* a // n and a % n, for n of 1 or more */
static inline const Expr *quotient(Sched *s, const Expr *a, int64_t n) {
  return n == 1 ? a : expr_op2(s->x, OP_IDIV, a, ex_int(s, n));
}
static inline const Expr *rest(Sched *s, const Expr *a, int64_t n) {
  return n == 1 ? ex_int(s, 0) : expr_op2(s->x, OP_MOD, a, ex_int(s, n));
}

#endif
