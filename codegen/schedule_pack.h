/* codegen/schedule_pack.h - inside of the schedule of packed contractions: what schedule_pack*.c share. */
#ifndef EIN_SCHEDULE_PACK_H
#define EIN_SCHEDULE_PACK_H

#include "schedule.h"

enum {
  NO_LABEL = -1,
  PACKS_MOST = 8,
  ROWS_MOST = 16,
  SQUARE = 16                /* side of the squares by which a panel is turned, at most */
};

/* The labels that one side has alone: one is in the tile, some are whole in a block, the rest is walked over. */
typedef struct Side {
  int64_t tile;              /* label */
  uint32_t n_near, n_far;
  uint32_t *near, *far;
  int64_t unit;              /* so many of `tile` in a tile, */
  int64_t units;             /*   and so many tiles in a block */
  const Expr *lo, *n, *tiles;/* the block at hand: where it begins, how long it is, in how many tiles */
  const Expr *at;            /* the number of the tile at hand */
  int64_t part;              /* the last of `near`, if that is not whole in a block: NO_LABEL: there is none; */
  int64_t slots;             /*   so many points of it are in a panel */
  const Expr *slot_lo;       /*   the first of them in the block at hand, */
  const Expr *slot_n;        /*   how many there are, */
  const Expr *part_lo, *part_hi; /* and which of them are the block's own: others are there as squares are whole */
} Side;

typedef struct Pack {
  const Expr *of;            /* part of the body */
  bool lanes;                /* whose side it is */
  bool across;               /* rows: a tile's lie next to each other; lanes: they are fetched along another label, and turned: */
  int64_t turned;            /*   this one, reduced or the side's `part`; NO_LABEL: none */
  uint32_t place, n_red, *red; /* NOWHERE: it is fetched where it lies; its reduced labels, in order, */
  uint32_t *lies;            /*   and in the order in which they lie in what is read */
} Pack;

typedef struct Panel {
  Sched *s;
  const StagePlan *p;
  Env *e;
  Side u, v;                 /* rows, lanes */
  uint32_t n_common, *common;/* output labels that both sides have, or none */
  uint32_t n_outer, *outer;  /* reduced labels: walked over around the panels, */
  int64_t cut;               /*   taken in blocks of */
  int64_t deep;              /*   so many points, */
  uint32_t n_inner, *inner;  /*   whole in a block */
  const Expr *deep_lo, *deep_n; /* of the label that is cut, in the block at hand */
  const Expr **in_block;     /* of a label: how far it is in the block */
  uint32_t n_pack;
  Pack pack[PACKS_MOST];
  const Expr *body;          /* with reads of slots behind the last for the packs */
  uint32_t odd;              /* a bool that is true if some element of the panels is infinite or NaN; NOWHERE: nobody asks */
  bool plain;                /* there is none, so a comparison is all of max and min */
  bool sums;                 /* several blocks of reduced labels: a block's sums are kept */
  uint32_t sum_place;
} Panel;

/* ---- schedule_pack_size.c: which labels are whose, and how large tiles and blocks are ---- */
bool pack_labels(Panel *t);         /* false: there are no two sides */
bool pack_parts(Panel *t);          /* the parts of the body that belong to one side; false: it cannot be taken apart */
void pack_sizes(Panel *t);
bool pack_is_tame(const Panel *t);  /* floats of which max or min is taken, and which are no NaN where the panels are finite */
bool pack_is_in_part(const Panel *t, const Expr *e); /* a read: a label that both sides have says which part of an axis it goes over */
double pack_product(const StagePlan *p, uint32_t n, const uint32_t *label);
int64_t pack_near_size(const Panel *t, const Side *x, uint32_t near); /* so many points of x->near[near] are in a panel */
double pack_near_all(const Panel *t, const Side *x);                  /*   of all of them */

/* ---- schedule_pack_fill.c ---- */
void pack_label_is(Panel *t, uint32_t label, const Expr *value);
void pack_loop_whole(Panel *t, uint32_t label);
void pack_loops_near(Panel *t, const Side *x);
void pack_loop_red(Panel *t, uint32_t label, LoopBind bind); /* over its points in the block */
bool pack_even(const Panel *t, const Side *x);               /* no tile of the side is cut off */
/* Over the tiles of a side in the block; x->at is the number of the one at hand, and the result where it begins. */
const Expr *pack_loop_tiles(Panel *t, Side *x, const char *name);
/* Where in its panel a part is; tile: the number of the tile, in: which of its rows or lanes. Gives the rank. */
uint32_t pack_at(Panel *t, const Pack *k, const Expr *tile, const Expr *in, const Expr **at);
void pack_new(Panel *t, Pack *k);
void pack_fill(Panel *t, Pack *k);

/* ---- schedule_pack_tile.c ---- */
typedef struct Corners { Reach of[2]; } Corners; /* of a box of rows and lanes */
void pack_sums_new(Panel *t);       /* a block's sums, the identity for now */
void pack_tiles(Panel *t);          /* for each tile: reduce, then store, or add to the sums */
void pack_sums_store(Panel *t);

#endif
