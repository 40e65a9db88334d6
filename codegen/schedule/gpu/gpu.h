/* codegen/schedule/gpu/gpu.h - inside of the schedules for a device: stages that go together along rows, and a stage's launch in one of eight ways, tried in
 * this order. Each takes it and says true, or touches nothing and says false. */
#ifndef EIN_GPU_H
#define EIN_GPU_H

#include "schedule/schedule.h"

/* What is decided of a launch, as `how` tells it. */
typedef struct Choice {
  int64_t threads;           /* of a block; of tiles TILE_SIDE a side */
  int64_t tile, deep;        /* of tiles: points along lanes (rows: along the other side), and of the sum that are shared at once */
  int64_t rows, each;        /* of whole rows: of a block; points of one that a thread has in registers, 0: it goes through them in a loop */
  int64_t sweeps;            /* of chains: so often are rows gone along */
  int64_t parts;             /* of a sum that is split: for each point */
} Choice;

/* Stages from..to-1 at the same points, the labels of which are to be said in `e`. */
typedef struct Launch {
  uint32_t from, to;
  const TaskStage *first;    /* which may be a sum; the others are maps behind it */
  StagePlan plan;            /* of the first one */
  Env *e;                    /* of the first one */
} Launch;
/* points.c: a thread for each point, which makes its sum in order: that takes all that there is. */
void points_launch(Sched *s, Launch *l);
/* In a thread for each point of these labels from here on; gives the point's number. */
const Expr *threads_open(Sched *s, const StagePlan *p, Env *e);
/* What the stages come to at the point at hand, stored; sum: what the first one's is there, in its accumulator's dtype. NULL: it is made here, in order. */
void launch_finish(Sched *s, const Launch *l, const Expr *sum);

/* library.c: a product that a library of matrices may make. Statements go into its `other` from here on: launches that do all of it where there is no
 * library. Behind these, library_behind makes what is launched behind the library's. */
typedef struct Library {
  Sched *s;
  const Launch *l;
  StagePlan plan;
  const Expr *read[2];       /* of the stage: its sides, */
  double scale;              /*   and what their product is multiplied by */
  const TaskStage *to;       /* the last stage whose result it makes */
  const Expr **label;        /* by number: a variable of its own */
  uint32_t order[PRODUCT_LOOPS], n; /* labels, as its loops follow each other */
  LoopStmt *product;
} Library;
bool library_product(Sched *s, const Launch *l, Library *b);
void library_behind(Library *b);
/* From here on in a thread for each point of the plan's labels, the last of which goes along the threads; each > 1: for so many neighbours along that
 * one, whose extent they divide; the first of them is in the environment. Gives the point's, or the group's, number. */
const Expr *points_spread(Sched *s, const StagePlan *p, Env *e, int64_t each);
bool points_read_from(const Sched *s, uint32_t stage, uint32_t from); /* whether a stage from there on reads it */

/* turn.c: maps of what lies along another label than their result, by squares in shared memory. */
bool turn_launch(Sched *s, Launch *l);

/* wide.c: maps, whose threads take several neighbours each. */
bool wide_launch(Sched *s, Launch *l);

/* chain.c: stages from..*to-1, which go along rows piece by piece: what they have at the points of a row is nowhere as a whole. */
bool chain_launch(Sched *s, uint32_t from, uint32_t *to);

/* whole.c: stages from..*to-1, which go along one row behind each other: a block for each row, or for some. */
bool whole_launch(Sched *s, uint32_t from, uint32_t *to);

/* split.c: parts of a long sum to few points, in a launch, and another one for what these come to. */
bool split_launch(Sched *s, Launch *l);

/* scan.c: running sums, which have one point more at each step along a label of the result. */
bool scan_launch(Sched *s, Launch *l);

/* bins.c: sums over the points that choose an output. */
bool bins_launch(Sched *s, Launch *l);

/* rows.c: a block for each point, of a long sum along which memory is read in its order. */
bool rows_launch(Sched *s, Launch *l);
bool rows_along(const Sched *s, const Launch *l); /* whether it is such a sum */
/* What some points come to, in a register or an element of an array: a value; of argmax and argmin its place too, -1: no point was there. place NOWHERE: the others. */
typedef struct RowsAt { uint32_t value, place, n; const Expr *const *at; } RowsAt;
typedef struct RowsShared { uint32_t part, places; } RowsShared; /* arrays of a block for what its threads come to; places NOWHERE: as above */
RowsAt rows_own(Sched *s, const EinSum *sum); /* registers: of no point yet */
void rows_take(Sched *s, const EinSum *sum, const RowsAt *to, const RowsAt *from); /* these points too */
void rows_store(Sched *s, const RowsAt *to, const RowsAt *from);
const Expr *rows_result(Sched *s, const RowsAt *of);
/* The thread's part of it: of the innermost label every so many-th point that the predicate lets through; of a label that is cut, those from lo up to hi;
 * cut NULL: all. */
typedef struct RowsCut { uint32_t label; const Expr *lo, *hi; } RowsCut;
void part_loops(Sched *s, const Launch *l, const Expr *thread, int64_t threads, const RowsCut *cut); /* loops over its points alone */
RowsAt rows_part(Sched *s, const Launch *l, const Expr *thread, int64_t threads, const RowsCut *cut);
RowsShared rows_shared(Sched *s, const EinSum *sum, int64_t threads); /* between a grid and its blocks */
/* What a block's threads have come to together, for the first of them to read. */
RowsAt rows_together(Sched *s, const EinSum *sum, RowsShared shared, const RowsAt *own, const Expr *thread, int64_t threads);
/* The parts that so many threads have stored from `base` on, combined at `base`, where all of them may read it then. */
void rows_tree(Sched *s, const EinSum *sum, uint32_t part, const Expr *base, const Expr *thread, int64_t threads);
/* tile.c: a block for a tile of points, of a product of two sides. */
bool tile_launch(Sched *s, Launch *l);
bool tile_fits(Sched *s, Launch *l); /* whether it would */

/* ---- sides.c: what a block of TILE_SIDE by TILE_SIDE threads makes of two sides ----------------------------- */
enum { TILE_SIDE = 16, TILE_DEEP = 16 }; /* threads a side; points of the sum that are shared at once */
typedef enum { OF_NONE, OF_ROW, OF_LANE, OF_OTHER } SideOf;

/* The labels along a side of a tile, as one: a point is a number, of which the last label is the lowest digit. */
typedef struct Side {
  uint32_t n, *label;
  const Expr *all;           /* so many points */
  bool exact;                /* that many is */
  int64_t size;              /*   this; else a guess */
} Side;

typedef struct Tiles {
  Sched *s;
  const TaskStage *st;
  StagePlan plan;
  Env *env;
  Side row, lane;            /* of the tile; where there is a predicate, or somebody keeps things along them, of one label */
  uint32_t red;              /* the innermost label of the sum */
  int64_t rows, lanes;       /* a thread's points along each: the tile has TILE_SIDE times as many */
  int64_t row_pack, lane_pack; /* so many of these are neighbours, which it reads from shared memory at once; 1: it has every TILE_SIDE-th */
  bool brought;              /* sides are brought ahead of time (bring.c) */
  bool matrix;               /* products are made by matrix units (LoopMatrix): a warp has half of the rows and a quarter of the lanes */
  int64_t beside;            /* blocks that share a part of the device (loop.h) */
  int64_t part;              /* points of the sum that are shared at once */
  struct Groups *groups;     /* by slot, of what is brought: which elements are the thread's (bring.c) */
  uint32_t *next;            /* by slot: registers for what the thread brings of the next part; NOWHERE: it puts that into shared memory straight away */
  SideOf *of;                /* by slot: whose side it is */
  uint32_t *shared;          /* by slot: its place, */
  int64_t *wide;             /*   and how far it is there from one point of the sum to the next */
  uint32_t x, y;             /* variables of the threads */
  const Expr *thread, *warp_row, *warp_lane; /* its number; where the warp's matrix begins in the tile */
  const Expr *row0, *lane0, *red0; /* where the tile begins, and this part of the sum */
  const Expr *deep, *at_row, *at_lane; /* in the inner loops: the point of the sum, the row and the lane within the tile; */
  const Expr *r, *at;        /*   of the thread's own, the row, and the point; */
  const Expr *row_near, *lane_near; /* so much of at_row and at_lane is within neighbours */
  const Expr *(*other)(void *owner, const Expr *leaf); /* what stands for a read of what the kernel keeps; NULL: where that lies */
  void *owner;
  uint32_t kept_place;       /* matrix: what the kernel keeps, rows by points of the sum, so wide; and where this part of the sum is in that */
  int64_t kept_wide;
  const Expr *kept_at;
} Tiles;

Tiles tiles_of(Sched *s, const TaskStage *st, Env *e, int64_t rows, int64_t lanes);
/* Finds the slots' sides, row and lane being said: whether there is something of the lanes' and (both) of the rows', and nothing of both. */
bool tiles_sides(Tiles *t, bool both);
/* Whether it is a sum that tiles may make: by such a reducer, with a predicate that can be asked at each point. */
bool tiles_take(Tiles *t);
int64_t tiles_bytes(const Tiles *t);
void tiles_shared(Tiles *t);   /* its arrays come to be, between a grid and its blocks */
void tiles_fill(Tiles *t);     /* what is shared of the part of the sum that begins at red0 */
bool tiles_small(const Tiles *t, uint32_t slot); /* halves, which are shared as such */
bool tiles_deep(const Tiles *t, uint32_t slot);  /* in shared memory, points of the sum are next to each other; else points of the side are */
bool tiles_along(const Tiles *t, uint32_t slot); /* its elements are next to each other along the sum */
const Expr *tiles_read(const Tiles *t, uint32_t slot); /* what stands in the slot */
void tiles_warps(Tiles *t);    /* ahead of all that a thread does: which warp it is of */
bool tiles_are_matrix(const Tiles *t); /* matrix units can make it */
void tiles_points(Tiles *t);   /* two loops over the thread's points */
void tiles_labels(Tiles *t);   /* in these, what the tile's labels are */
/* The same points of the part, added to the thread's. */
void tiles_step(Tiles *t, uint32_t acc);
/* All of the sum, a part behind the other. */
void tiles_sum(Tiles *t, uint32_t acc);
/* Its parts, counted through over all of its labels; and some of them. */
const Expr *tiles_parts(const Tiles *t);
void tiles_some(Tiles *t, uint32_t acc, const Expr *from, const Expr *to);
/* The point at hand is one of the result's. */
const Expr *tiles_inside(const Tiles *t); /* NULL: it always is */
Side side_new(const Tiles *t, uint32_t n, const uint32_t *label);
bool side_whole(const Side *x, int64_t n);      /* it is known that so many at a time go into it */
/* What its labels are at a point, and `near` further, below n, of which the point is a multiple. */
void side_say(Tiles *t, const Side *x, const Expr *point, const Expr *near, int64_t n);
bool tiles_whole(const Tiles *t, int64_t n);    /* the same of the sum's innermost label */
const Expr *tiles_nothing(Sched *s, DType t);   /* 0, or false */
/* From where to where the predicate lets the label go, at some point of these. */
void sides_narrow(Env *e, uint32_t n_label, const Expr *cond, uint32_t label, uint32_t n, const Reach *reach, const Expr **lo, const Expr **hi);
const Expr *sides_begin(Sched *s, const Expr *lo); /* where a part of the sum begins in which that is */

/* ---- bring.c: the same, brought ahead of time: while threads work at a part of the sum, what they want of the next one is on its way to their registers ---- */
bool bring_takes(int64_t points); /* so many of a side, along it */
void bring_ready(Tiles *t);    /* the registers come to be, in a thread */
void bring_load(Tiles *t);     /* of the part that begins at red0 */
void bring_put(Tiles *t);      /* into what is shared */

#endif
