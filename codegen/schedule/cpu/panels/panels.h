/* codegen/schedule/cpu/panels/panels.h - internals of packed contractions, shared by the files of this folder. */
#ifndef EIN_SCHEDULE_PACK_H
#define EIN_SCHEDULE_PACK_H

#include "schedule/schedule.h"

enum {
  NO_LABEL = -1,
  PACKS_MOST = 8,
  PACK_FEW = 16,             /* with fewer rows, lanes or points of the sum, copies are not used often enough; */
  PACK_FEW_ROWS = 3,         /*   for rows whose number is unknown, of which those beyond a tile go one by one */
  PARTS_MOST = 3,
  PACK_LINE = 64,            /* bytes of a cache line */
  PACK_AHEAD = 288 * 1024,   /* bytes of a panel: it stays in the second-level cache with its source and the next
                              * panel */
  PACK_WIDE = 512,           /* the most rows or lanes of a block */
  ROWS_MOST = 16,
  SQUARE = 16                /* the largest side of the squares in which a panel is transposed */
};

/* A near label that a block does not cover whole. */
typedef struct Part {
  uint32_t label;
  int64_t slots;             /* points of it in a panel */
  const Expr *slot_lo;       /* the first of them in the current block */
  const Expr *slot_n;        /* how many there are */
  const Expr *lo, *hi;       /* the block's own ones; there are others because squares are whole */
} Part;

/* The labels that only one side has: one is in the tile, some are whole in a block, the others are walked over. */
typedef struct Side {
  int64_t tile;              /* label */
  uint32_t n_near, n_far;
  uint32_t *near, *far;
  int64_t unit;              /* points of `tile` in a tile */
  int64_t units;             /* tiles in a block */
  const Expr *lo, *n, *tiles;/* the current block: where it begins, its length, its number of tiles */
  const Expr *at;            /* the number of the current tile */
  uint32_t n_part;           /* of `near`, those not whole in a block; the first for its own sake */
  Part part[PARTS_MOST];     /* the others for longer runs of reads and stores */
  bool shared;               /* all its panels are filled in advance, for all threads (schedule/cpu/panels/share.c) */
  const Expr *block;         /* the current one */
  uint32_t lot;              /* in lots: of the labels that are cut into blocks (PackCut), those before this one have */
  int64_t few;               /*   one part in a lot, this one so many, those behind all; 0: all blocks are one lot */
  const Expr **first;        /* by cut label up to that: its first part in the current lot */
  const Expr *const *in;     /* by cut label: the current block's place in the lot */
  int64_t flat;              /* lanes: tiles also cover this label of `near`, each point with all of `tile`; NO_LABEL:
                              * none */
} Side;

/* All labels of a side; returns how many. */
static inline uint32_t side_labels(const Side *x, uint32_t *label) {
  uint32_t n = 0;
  label[n++] = (uint32_t)x->tile;
  for (uint32_t k = 0; k < x->n_near; k++) label[n++] = x->near[k];
  for (uint32_t k = 0; k < x->n_far; k++) label[n++] = x->far[k];
  return n;
}

typedef struct Pack {
  const Expr *of;            /* part of the body */
  bool lanes;                /* the lanes' side, else the rows' */
  bool across;               /* rows: a tile's are contiguous; lanes: loaded along another label, and transposed: */
  int64_t transposed;        /* this one, reduced or the side's first part; NO_LABEL: none */
  uint32_t n_run, *run;      /* if it is reduced: together with these shorter ones behind it in the source, reduced or
                              * whole in a block */
  uint32_t place, n_red, *red; /* NOWHERE: not packed, read in place; its reduced labels, in order */
  uint32_t *lies;            /* and in their storage order in the source */
  bool comes;                /* the next block's share is prefetched during this block's tiles */
  uint32_t line;             /* while it is filled: its values at one point, computed ahead; NOWHERE: none */
} Pack;

/* A label of which the blocks of a side have a part each, of so many points. */
typedef struct PackCut {
  uint32_t label;
  int64_t step;
} PackCut;

/* Which execution units do a tile's operations (schedule/cpu/panels/units.c). */
typedef struct Units {
  uint32_t ones;             /* hidden ones: adding a row's value times one uses the multiply units; NOWHERE: plain
                              * addition */
  const Expr *apart;         /* a hidden zero: each vector of a row's lanes loads the row's value by itself; NULL: one
                              * load for all */
  bool copies;               /* `ones` are a vector, of which each row has a copy to overwrite */
  uint32_t own[ROWS_MOST];   /* by row, for the current lanes */
  int64_t vector;            /* lanes per vector */
  bool order;                /* the panels hold integers in the order of floats, and are compared as integers */
} Units;

/* How the reduced labels are cut into blocks. Chosen once (schedule/cpu/panels/size.c). */
typedef struct PanelDepth {
  uint32_t *red;             /* the reduced labels, in the order of the sums */
  uint32_t n_outer, *outer;  /* walked over around the panels */
  int64_t cut;               /* the label taken in blocks */
  int64_t deep;              /* points per block */
  uint32_t n_inner, *inner;  /* whole in a block */
  int64_t cut_too;           /* except this one; NO_LABEL: none */
  int64_t deep_too;          /* points of it per block */
} PanelDepth;

/* The current block, and where the loops that are open are in it. */
typedef struct PanelBlock {
  const Expr *lo, *n;        /* points of `cut`: the first, and how many */
  const Expr *too_lo, *too_n;/* of `cut_too` */
  const Expr **at;           /* by label: its position in the block */
  uint32_t kept;             /* the place of its kept results */
  const Expr *round;         /* in rounds: the number of the current one, */
  const Expr *lots;          /*   of its pair of lots, */
  const Expr *deep;          /*   of its block of the reduced labels, */
  const Expr *number;        /*   and of the block among those of its lots */
} PanelBlock;

/* The test of a block's elements while its panels are filled, for which its tiles are made twice: for a block that has
 * odd elements, and for one that has none (schedule/cpu/panels/panels.c). */
typedef struct PanelTest {
  uint32_t odd;              /* a bool: some element of the panels is infinite or NaN; NOWHERE: not needed */
  uint32_t sums;             /* by lane of a tile, 0 if none was odd so far: loops over whole tiles keep it in vectors;
                              * NOWHERE: there are none */
  uint32_t ahead;            /* the same for each panel of a side that is filled ahead */
  bool plain;                /* the current tiles have none, so max and min are plain comparisons */
  bool asks;                 /* the current tiles have some, so each point tests the guard, or zeros are added */
} PanelTest;

/* The block that follows the current one. */
typedef struct PanelNext {
  bool wanted;               /* what it reads for squares is prefetched while the current one is filled */
  const Expr **label;        /* by label: its value, or first value, there; NULL: unchanged, or not needed */
} PanelNext;

/* What becomes of a tile's results: it stores them from registers, unless a field says otherwise. Chosen once
 * (schedule/cpu/panels/size.c, keep.c). */
typedef struct PanelKeep {
  bool sums;                 /* several blocks of reduced labels: a block's sums are kept; */
  bool once;                 /*   but the current tiles have all points, and store their results */
  bool line;                 /* results are kept in rows with all lanes, and stored from there */
  bool by_tile;              /* for one tile of rows at a time */
  int64_t near;              /* for all points of this near label; NO_LABEL: one of each */
  bool held;                 /* a tile's rows are whole cache lines of the result, stored past the cache from
                              * registers */
  bool along;                /* the next tile is the next one along lanes, not rows */
} PanelKeep;

/* A contraction of two sides. It is chosen before loops are made, except for the last three fields, which change from
 * block to block, and for what sides, packs and units have in the current block. */
typedef struct Panel {
  Sched *s;
  const StagePlan *p;
  Env *e;
  bool fitted;               /* tiles and blocks fit this machine; else any machine, because the result's bits depend
                              * on them */
  bool aside;                /* the lanes' label is not the one with unit stride in the result */
  bool thin;                 /* little work per element read */
  Side u, v;                 /* rows, lanes */
  uint32_t n_common, *common;/* output labels that both sides have, or neither */
  uint32_t n_walk, *walk;    /* the labels walked over around the panels, outermost first: pack_walk_choose */
  const Expr *of;            /* the expression that is split: the stage's body, or, if that has a guard, one that is
                              * equal where the panels are finite */
  const Expr *guard;         /* the guarded body, which tests each point; NULL: no guard */
  const Expr *zeros;         /* a range of the reduced label beyond which the rows' side is 0: tiles leave it out if the
                              * lanes' panel is finite; NULL: there is none */
  uint32_t n_pack;
  Pack pack[PACKS_MOST];
  const Expr *body;          /* reads of slots beyond the last are those of the packs */
  PanelDepth depth;
  bool rounds;               /* panels are filled, then tiles computed, for each pair of lots, */
  bool deep_rounds;          /*   and for each block of the reduced labels (schedule/cpu/panels/share.c) */
  PanelKeep keep;
  Units units;
  PanelBlock block;
  PanelTest test;
  PanelNext next;
} Panel;

/* ---- schedule/cpu/panels/side.c: assigns labels and parts of the body to sides ---- */
bool pack_stores_along(const StagePlan *p, int64_t label); /* whether the kernel's result is contiguous along it */
int64_t pack_lanes_label(const StagePlan *p); /* the one with most unit-stride stores of the result */
bool pack_labels(Panel *t, int64_t v); /* with v in lanes; false: there are no two sides */
bool pack_parts(Panel *t);          /* the parts of the body that belong to one side; false: it cannot be split */
bool pack_is_two(const Panel *t);   /* one part per side, of the dtype of the sums */
int pack_moves(const Expr *e, int64_t label); /* along a label: the number of reads in e with unit stride, minus those
                                               * with another stride */
uint32_t pack_axis(const Expr *e, uint32_t label); /* of the first read in e that has the label in an index */
bool pack_is_tame(const Panel *t);  /* floats under max or min that are not NaN if the panels are finite */
/* A read in which two labels of a block move one index: neighbouring rows overlap, and a panel would store the data
 * many times. */
bool pack_overlaps(const Panel *t, const Expr *e);
bool pack_is_tested(const Panel *t, const Expr *e); /* it reads a caller's bool, which may be any byte */
bool pack_is_in_part(const Panel *t, const Expr *e); /* a read: a label of both sides selects the part of an axis that
                                                      * it covers */
void pack_body(Panel *t);           /* the body with its parts replaced by packs that have a place */
bool pack_body_alone(Panel *t);     /* the same if all packs have one; false and no change if there is more in it */

/* ---- schedule/cpu/panels/choose.c ---- */
Panel *pack_choose(Sched *s, const StagePlan *p, Env *e); /* NULL: do not use panels */
/* Whether only extents that are unknown tell if there are enough rows and points of the sum; gives the condition for
 * few of one of them, and the opposite. */
bool pack_few(const Panel *t, const Expr **few, const Expr **enough);
/* The cost of the stage by panels or without, for any machine, in multiply-adds of a vector. */
double pack_cost(Sched *s, const StagePlan *p, Env *e);
/* Whether no cache line of the tensor has more than a few elements that are needed soon, along its reduced labels and
 * this one. */
bool pack_is_far(const Sched *s, const StagePlan *p, const Expr *read, uint32_t own);

/* ---- schedule/cpu/panels/size.c: sizes of tiles and blocks ---- */
void pack_sizes(Panel *t);
/* Whether other sizes of blocks and tiles keep the order of all sums. They do not where a predicate determines where
 * a block begins, or where non-finite values in a block determine which zero a max is. Otherwise blocks keep their
 * size. */
bool pack_fits(const Panel *t);
bool pack_is_gate(const StagePlan *p); /* its predicate has no reduced label: it leaves out results */
void pack_cut(Panel *t);            /* cuts tiles to the machine's registers, if they were not made for them */
double pack_product(const StagePlan *p, uint32_t n, const uint32_t *label);
Part *pack_part(Side *x, int64_t label); /* NULL: the label is whole in a block, or not near */
bool pack_is_part(const Side *x, int64_t label);
int64_t pack_depth(const Panel *t, uint32_t label);         /* points of a reduced label in a block */
double pack_points(const Panel *t);                         /* of all of them together */
int64_t pack_near_size(const Panel *t, const Side *x, uint32_t near); /* points of x->near[near] in a panel */
double pack_near_all(const Panel *t, const Side *x);                  /* of all of them */
double pack_lane_bytes(const Panel *t);                 /* of the lanes' panel, per lane and point of near labels */
int64_t pack_flat_size(const Panel *t, const Side *x);                /* lanes of all points of the label that tiles
                                                                       * also cover */
const Expr *pack_flat(const Panel *t, const Side *x);                 /* and of those in the current block */

/* ---- schedule/cpu/panels/guard.c ---- */
void pack_guard_find(Panel *t);          /* the expression to split, after labels are assigned to sides */
bool pack_guard_is_safe(const Panel *t); /* no panel reads out of range, or there is no guard */
bool pack_guard_fits(const Panel *t);    /* false: a product contains more than its two panels */
void pack_zeros_find(Panel *t);          /* after pack_sizes */
/* The pack is 0 where the condition excludes a point, or its range of zeros does not ask for its elements. */
bool pack_guards(const Panel *t, const Pack *k);
/* Whether the elements of panels are tested while they are filled. */
static inline bool pack_looks(const Panel *t) {
  return pack_is_tame(t) || ((t->guard || t->zeros) && dtype_is_float(t->p->stage->sum->acc));
}

/* ---- schedule/cpu/panels/panels.c ---- */
void pack_make(Panel *t, bool threads); /* their loops */
void pack_side_block(Panel *t, Side *x, const Expr *number); /* the current block, of the tile's label */
void pack_part_block(Panel *t, Part *x, const Expr *number); /* of a part */
void pack_odd_new(Panel *t);             /* what notes odd elements while panels are filled */
const Expr *pack_odd_read(Panel *t);     /* whether there were any */

/* ---- schedule/cpu/panels/share.c ---- */
void pack_share_choose(Panel *t, bool threads);
void pack_walk_choose(Panel *t);         /* then the order of the labels around the panels */
uint32_t pack_cuts(const Side *x, PackCut *cut); /* the labels that are cut into blocks; how many */
const Expr *pack_cut_parts(Panel *t, uint32_t label, int64_t step); /* the number of its parts in a lot */
void pack_round_open(Panel *t);          /* if it goes in rounds: opens their loop */
void pack_round_at(Panel *t);            /* sets the round's lots, and its block of the reduced labels */
LoopBody *pack_round_is(Panel *t, bool last); /* opens `if` the block of the reduced labels is the last one, or the
                                               * first */
void pack_side_at(Panel *t, Side *x, const Expr *const *in); /* the current block, by its place in the lot */
void pack_share_fill(Panel *t);          /* all panels of shared sides */
void pack_share_at(Panel *t, Side *x);   /* the current panel, once all labels of the block are known */
int64_t pack_share_blocks(const Panel *t, const Side *x); /* the number of panels */
int64_t pack_blocks(const Panel *t);     /* the number of blocks of rows and lanes */
bool pack_looks_shared(const Panel *t);  /* the elements that are tested are those of a shared side */
const Expr *pack_share_odd(Panel *t);    /* whether its current panel has odd ones */

/* ---- schedule/cpu/panels/fill.c ---- */
void pack_label_is(Panel *t, uint32_t label, const Expr *value);
void pack_loop_whole(Panel *t, uint32_t label);
void pack_loops_near(Panel *t, Side *x); /* except one that tiles cover */
void pack_loop_near(Panel *t, Side *x, uint32_t label);
const Expr *pack_range(Panel *t, uint32_t label, const Expr **lo); /* a reduced label's points in the block: how many,
                                                                    * and the first */
void pack_loop_red(Panel *t, uint32_t label, LoopBind bind); /* over its points in the block */
bool pack_even(const Panel *t, const Side *x);               /* no tile of the side is partial */
/* Loops over the tiles of a side in the block; x->at is the number of the current one. Returns where it begins. */
const Expr *pack_loop_tiles(Panel *t, Side *x, const char *name);
/* The position of a part in its panel; tile: the tile's number, in: the row or lane within it. Returns the rank. */
uint32_t pack_at(Panel *t, const Pack *k, const Expr *tile, const Expr *in, const Expr **at);
void pack_new(Panel *t, Pack *k);
void pack_fill(Panel *t, Pack *k);

/* ---- schedule/cpu/panels/fetch.c ---- */
bool pack_looks_ahead(const Panel *t); /* prefetches what the next block reads while squares of a block are
                                        * transposed */
/* Prefetches a line of a later square: lane `in` of the block is the current one, and `from` points into the source. */
void pack_fetch_line(Panel *t, const Pack *k, const Side *x, const Expr *in, const Expr *from);
void pack_comes_choose(Panel *t);      /* chooses the parts of the body whose next block is prefetched during tiles */
bool pack_fetches_block(const Panel *t); /* of some part, of this label or of a reduced one */
bool pack_fetches_rows(Panel *t, const FetchRows *f); /* rows that are read in place, for upcoming tiles */
/* Prefetches what the next block reads, if it pays: at the current tile, one of `shares` shares. */
void pack_fetch_block(Panel *t, const Expr *of, int64_t shares);

/* ---- schedule/cpu/panels/ahead.c: prefetches for the next copies ---- */
void pack_ahead_along(Panel *t, const Pack *k); /* around the innermost loop: as much as it covers */
/* That many lanes from `first` on. */
void pack_ahead_across(Panel *t, const Pack *k, const Side *x, const Expr *first, int64_t lanes);

/* ---- schedule/cpu/panels/tile.c ---- */
typedef struct Corners { Reach of[2]; } Corners; /* of a box of rows and lanes */
LoopBody *pack_lanes(Panel *t, const Expr *count, const Expr **l); /* a loop over lanes */
/* Calls f for each existing row of the tile, with the existing lanes. */
typedef void PackDo(Panel *t, uint32_t acc, int64_t r, const Expr *l);
void pack_rows_do(Panel *t, const uint32_t *acc, const Expr *u0, const Expr *v0, PackDo *f);
void pack_tiles(Panel *t);          /* for each tile: reduces, then stores, or adds to the sums */

/* ---- schedule/cpu/panels/units.c ---- */
void pack_units_choose(Panel *t);   /* before panels are made */
void pack_units_open(Panel *t);     /* before tiles are made */
/* The index of a row's value in its panel, for lanes from `lane` on. */
const Expr *pack_units_index(Panel *t, int64_t lane, const Expr *index);
void pack_units_copy(Panel *t, int64_t from, int64_t to); /* before the lanes of a vector, for these rows */
/* The summand of row r at lane l, which is at or after `lane`; packed[k] is pack k's value there. */
const Expr *pack_units_value(
    Panel *t, const Expr *const *packed, int64_t r, int64_t lane, const Expr *l, const Expr *value);
DType pack_units_type(const Panel *t, const Pack *k);          /* of a panel's elements */
const Expr *pack_units_put(Panel *t, const Expr *value);       /* what is stored there */
const Expr *pack_units_get(Panel *t, const Expr *value);       /* what tiles read from it */

/* ---- schedule/cpu/panels/keep.c ---- */
const Expr *pack_lane(Panel *t, const Expr *l); /* the position of the current tile's lane in its whole row */
void pack_tiles_open(Panel *t, const Expr **u0, const Expr **v0); /* loops over the tiles of the block; returns where
                                                                   * each begins */
void pack_sums_new(Panel *t);       /* a block's sums, initially the identity */
/* sums = f(sums, acc), or acc if there is one block; acc NULL: the identity. */
void pack_sums_step(Panel *t, const uint32_t *acc);
void pack_sums_store(Panel *t);
bool pack_may_hold(const Panel *t);  /* the result bypasses the cache, and tiles have all that it needs */
bool pack_line_choose(Panel *t);     /* false: results are stored by tiles, whose lanes are of one label */
void pack_along_choose(Panel *t);    /* the order of a block's tiles */
void pack_held_store(Panel *t, const uint32_t *acc, const Expr *u0, const Expr *v0);
/* Loops over the tiles, and keeps their rows. Returns the body after those that are stored together. */
LoopBody *pack_line_open(Panel *t, const Expr **u0, const Expr **v0);
void pack_line_store(Panel *t);

/* ---- schedule/cpu/panels/joint.c ---- */
bool pack_joint(Panel *t, bool threads); /* lanes over labels of both sides; false: not applicable */

/* ---- schedule/cpu/panels/cross.c ---- */
bool pack_cross(Panel *t, bool threads); /* the result is transposed, not a side; false: not applicable */

#endif
