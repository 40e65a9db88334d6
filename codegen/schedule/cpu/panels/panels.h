/* codegen/schedule/cpu/panels/panels.h - inside of the schedule of packed contractions: what the files of this folder share. */
#ifndef EIN_SCHEDULE_PACK_H
#define EIN_SCHEDULE_PACK_H

#include "schedule/schedule.h"

enum {
  NO_LABEL = -1,
  PACKS_MOST = 8,
  PARTS_MOST = 3,
  PACK_LINE = 64,            /* bytes of the machine's */
  PACK_AHEAD = 288 * 1024,   /* bytes of a panel, which stays in the second cache with what it is filled from and what the next one will be */
  PACK_WIDE = 512,           /* rows or lanes of a block, at most */
  ROWS_MOST = 16,
  SQUARE = 16                /* side of the squares by which a panel is turned, at most */
};

/* A near label that is not whole in a block. */
typedef struct Part {
  uint32_t label;
  int64_t slots;             /* so many points of it are in a panel: */
  const Expr *slot_lo;       /*   the first of them in the block at hand, */
  const Expr *slot_n;        /*   how many there are, */
  const Expr *lo, *hi;       /*   and which of them are the block's own: others are there as squares are whole */
  const Expr *number;        /* which block it is */
} Part;

/* The labels that one side has alone: one is in the tile, some are whole in a block, the rest is walked over. */
typedef struct Side {
  int64_t tile;              /* label */
  uint32_t n_near, n_far;
  uint32_t *near, *far;
  int64_t unit;              /* so many of `tile` in a tile, */
  int64_t units;             /*   and so many tiles in a block */
  const Expr *lo, *n, *tiles;/* the block at hand: where it begins, how long it is, in how many tiles */
  const Expr *at;            /* the number of the tile at hand */
  uint32_t n_part;           /* of `near`, those that are not whole in a block, the first for its own sake, */
  Part part[PARTS_MOST];     /*   others for longer runs of what is read and stored */
  const Expr *number;        /* which block it is, of the tile's label */
  bool shared;               /* all its panels are filled ahead, for all threads (schedule/cpu/panels/share.c): */
  const Expr *block;         /*   the one at hand */
  int64_t flat;              /* lanes: tiles go over this one of `near` too, each of whose points has all of `tile`; NO_LABEL: none */
} Side;

typedef struct Pack {
  const Expr *of;            /* part of the body */
  bool lanes;                /* whose side it is */
  bool across;               /* rows: a tile's lie next to each other; lanes: they are fetched along another label, and turned: */
  int64_t turned;            /*   this one, reduced or the side's first part; NO_LABEL: none */
  uint32_t place, n_red, *red; /* NOWHERE: it is fetched where it lies; its reduced labels, in order, */
  uint32_t *lies;            /*   and in the order in which they lie in what is read */
  bool comes;                /* what the next block has of it is fetched while tiles of this one are made */
} Pack;

/* Which units of the machine a tile's operations go to (schedule/cpu/panels/units.c). */
typedef struct Units {
  uint32_t ones;             /* hidden ones: a sum of a row's value times one is made by the units that multiply; NOWHERE: by those that add */
  const Expr *apart;         /* a hidden zero: each vector of a row's lanes loads the row's value for itself; NULL: one load for all. */
  bool copies;               /* `ones` are those of a vector, of which each row has a copy to overwrite: */
  uint32_t own[ROWS_MOST];   /*   by row, for the lanes at hand */
  int64_t vector;            /* lanes of a vector */
  bool order;                /* the panels hold integers in the order of floats, and are compared as such */
} Units;

typedef struct Panel {
  Sched *s;
  const StagePlan *p;
  Env *e;
  Side u, v;                 /* rows, lanes */
  uint32_t n_common, *common;/* output labels that both sides have, or none */
  uint32_t n_outer, *outer;  /* reduced labels: walked over around the panels, */
  int64_t cut;               /*   taken in blocks of */
  int64_t deep;              /*   so many points, */
  uint32_t n_inner, *inner;  /*   whole in a block, */
  int64_t cut_too;           /*   but for this one, of which there are */
  int64_t deep_too;          /*   so many points; NO_LABEL: none */
  const Expr *deep_lo, *deep_n; /* of the label that is cut, in the block at hand, */
  const Expr *too_lo, *too_n;   /*   and of the other one */
  const Expr **in_block;     /* of a label: how far it is in the block */
  bool ahead;                /* what the next block reads for squares is fetched while this one is filled: */
  const Expr **next;         /*   where a label is, or begins, there; NULL: it does not change, or nobody asks */
  uint32_t n_pack;
  Pack pack[PACKS_MOST];
  const Expr *body;          /* with reads of slots behind the last for the packs */
  uint32_t odd;              /* a bool that is true if some element of the panels is infinite or NaN; NOWHERE: nobody asks */
  bool plain;                /* there is none, so a comparison is all of max and min */
  const Expr *of;            /* what is taken apart: the stage's body, or */
  bool asks;                 /*   at the tiles at hand: */
  const Expr *guard;         /*   that is this one, which asks at each point, and `of` the same where the panels are finite; NULL: nobody asks */
  bool thin;                 /* little is done with what is read */
  bool sums;                 /* several blocks of reduced labels: a block's sums are kept */
  uint32_t sum_place;
  bool line;                 /* results are kept in rows with all their lanes, from which they are stored; */
  bool by_tile;              /*   those of one tile of rows at a time; */
  int64_t kept_near;         /*   of all points of this near label; NO_LABEL: of one of each */
  bool held;                 /* a tile's rows are whole lines of the result, which go past the cache from registers */
  bool along;                /* the next tile is the one beside in the row of lanes, and not the one below */
  Units units;
  bool fitted;               /* tiles and blocks are made for the machine; else for any, as what is decided by them is the same everywhere */
  bool aside;                /* the lanes' label is not the one by whose steps the result is stored to the next element */
} Panel;

/* ---- schedule/cpu/panels/side.c: which labels and which parts of the body are whose ---- */
int64_t pack_lanes_label(const StagePlan *p); /* by whose steps the result is stored most often to the next element */
bool pack_labels(Panel *t, int64_t v); /* v in lanes; false: there are no two sides */
bool pack_parts(Panel *t);          /* the parts of the body that belong to one side; false: it cannot be taken apart */
bool pack_is_two(const Panel *t);   /* one part of each side, of the dtype of the sums */
int pack_moves(const Expr *e, int64_t label); /* along a label: reads inside e that step to the next element, less those that step elsewhere */
uint32_t pack_axis(const Expr *e, uint32_t label); /* of the first read inside e that has the label in an index */
bool pack_is_tame(const Panel *t);  /* floats of which max or min is taken, and which are no NaN where the panels are finite */
/* A read, an index of which two labels of a block move: neighbouring rows share what they read, and a panel would hold it many times. */
bool pack_overlaps(const Panel *t, const Expr *e);
bool pack_is_in_part(const Panel *t, const Expr *e); /* a read: a label that both sides have says which part of an axis it goes over */
void pack_body(Panel *t);           /* the body with its parts taken from the packs that have a place */
bool pack_body_alone(Panel *t);     /* the same, all packs having one; false, and nothing is done, if there is more in it */

/* ---- schedule/cpu/panels/choose.c ---- */
Panel *pack_choose(Sched *s, const StagePlan *p, Env *e); /* NULL: no panels */
/* What the stage costs by panels or without, for any machine, in multiply-adds of a vector. */
double pack_cost(Sched *s, const StagePlan *p, Env *e);
/* A tensor of which no line has more than a few elements that are wanted one after the other, as its reduced labels go by and this one. */
bool pack_is_far(const Sched *s, const StagePlan *p, const Expr *read, uint32_t own);

/* ---- schedule/cpu/panels/size.c: how large tiles and blocks are ---- */
void pack_sizes(Panel *t);
/* Whether blocks and tiles of other sizes leave all sums in their order: not where a predicate says where a block begins, and what a block
 * holds that is not finite decides which zero a max is. Then blocks stay what they are, and */
bool pack_fits(const Panel *t);
void pack_cut(Panel *t);            /*   tiles are cut into such as the machine has registers for, if they are not made so */
double pack_product(const StagePlan *p, uint32_t n, const uint32_t *label);
Part *pack_part(Side *x, int64_t label); /* NULL: the label is whole in a block, or not near */
bool pack_is_part(const Side *x, int64_t label);
int64_t pack_depth(const Panel *t, uint32_t label);         /* so many points of a reduced label are in a block, */
double pack_points(const Panel *t);                         /*   and of all of them together */
int64_t pack_near_size(const Panel *t, const Side *x, uint32_t near); /* so many points of x->near[near] are in a panel */
double pack_near_all(const Panel *t, const Side *x);                  /*   of all of them */
double pack_lane_bytes(const Panel *t);                 /* of the lanes' panel, for each lane and each point of near labels */
int64_t pack_flat_size(const Panel *t, const Side *x);                /* lanes of all points of the label that tiles go over too, */
const Expr *pack_flat(const Panel *t, const Side *x);                 /*   and of those in the block at hand */

/* ---- schedule/cpu/panels/guard.c ---- */
void pack_guard_find(Panel *t);          /* what is taken apart, once it is known whose label is whose */
bool pack_guard_fits(const Panel *t);    /* false: there is more in a product than its two panels */
bool pack_guards(const Panel *t, const Pack *k); /* the pack has 0 for what the condition excludes */
/* What the panels hold is looked at while they are filled. */
static inline bool pack_looks(const Panel *t) { return pack_is_tame(t) || (t->guard && dtype_is_float(t->p->stage->sum->acc)); }

/* ---- schedule/cpu/panels/panels.c ---- */
void pack_side_block(Panel *t, Side *x, const Expr *number); /* the block at hand, of the tile's label */
void pack_part_block(Panel *t, Part *x, const Expr *number); /*   of a part */

/* ---- schedule/cpu/panels/share.c ---- */
void pack_share_choose(Panel *t, bool threads);
void pack_share_fill(Panel *t);          /* all panels of sides that are shared */
void pack_share_at(Panel *t, Side *x);   /* the panel at hand, once all labels of the block are */
int64_t pack_share_blocks(const Panel *t, const Side *x); /* how many panels there are */

/* ---- schedule/cpu/panels/fill.c ---- */
void pack_label_is(Panel *t, uint32_t label, const Expr *value);
void pack_loop_whole(Panel *t, uint32_t label);
void pack_loops_near(Panel *t, Side *x); /* but for one that tiles go over */
void pack_loop_near(Panel *t, Side *x, uint32_t label);
const Expr *pack_range(Panel *t, uint32_t label, const Expr **lo); /* a reduced label's points in the block: how many, and from where on */
void pack_loop_red(Panel *t, uint32_t label, LoopBind bind); /* over its points in the block */
bool pack_even(const Panel *t, const Side *x);               /* no tile of the side is cut off */
/* Over the tiles of a side in the block; x->at is the number of the one at hand, and the result where it begins. */
const Expr *pack_loop_tiles(Panel *t, Side *x, const char *name);
/* Where in its panel a part is; tile: the number of the tile, in: which of its rows or lanes. Gives the rank. */
uint32_t pack_at(Panel *t, const Pack *k, const Expr *tile, const Expr *in, const Expr **at);
void pack_new(Panel *t, Pack *k);
void pack_fill(Panel *t, Pack *k);

/* ---- schedule/cpu/panels/fetch.c ---- */
bool pack_looks_ahead(const Panel *t); /* while squares of a block are turned, to what the next one reads */
/* A line of a square that is read later: the one at hand is that of lane `in` of the block, and `from` points into what is turned. */
void pack_fetch_line(Panel *t, const Pack *k, const Side *x, const Expr *in, const Expr *from);
void pack_comes_choose(Panel *t);      /* of which parts of the body the next block's share is fetched by tiles */
bool pack_fetches_block(const Panel *t); /* of some part, of this label or of a reduced one */
bool pack_fetches_rows(Panel *t, const FetchRows *f); /* rows that are read where they lie, for tiles soon to come */
/* What the next block reads, where it is worth it: one of so many shares of what comes on the tile at hand. */
void pack_fetch_block(Panel *t, const Expr *of, int64_t shares);

/* ---- schedule/cpu/panels/ahead.c: what is copied soon is fetched ---- */
void pack_ahead_along(Panel *t, const Pack *k); /* around the innermost loop: as much as it goes along */
void pack_ahead_across(Panel *t, const Pack *k, const Side *x, const Expr *first, int64_t lanes); /* so many lanes from `first` on */

/* ---- schedule/cpu/panels/tile.c ---- */
typedef struct Corners { Reach of[2]; } Corners; /* of a box of rows and lanes */
LoopBody *pack_lanes(Panel *t, const Expr *count, const Expr **l); /* a loop over lanes */
/* f for each row of the tile that is there, and the lanes that are there. */
typedef void PackDo(Panel *t, uint32_t acc, int64_t r, const Expr *l);
void pack_rows_do(Panel *t, const uint32_t *acc, const Expr *u0, const Expr *v0, PackDo *f);
void pack_tiles(Panel *t);          /* for each tile: reduce, then store, or add to the sums */

/* ---- schedule/cpu/panels/units.c ---- */
void pack_units_choose(Panel *t);   /* before panels are made */
void pack_units_open(Panel *t);     /* before tiles are */
/* The index of a row's value in its panel, for lanes from `lane` on. */
const Expr *pack_units_index(Panel *t, int64_t lane, const Expr *index);
void pack_units_copy(Panel *t, int64_t from, int64_t to); /* before the lanes of a vector, for these rows */
/* What row r takes in at lane l, which is `lane` or behind it, where packed[k] is what pack k has there. */
const Expr *pack_units_value(Panel *t, const Expr *const *packed, int64_t r, int64_t lane, const Expr *l, const Expr *value);
DType pack_units_type(const Panel *t, const Pack *k);          /* of a panel's elements, */
const Expr *pack_units_put(Panel *t, const Expr *value);       /*   what is put there, */
const Expr *pack_units_get(Panel *t, const Expr *value);       /*   and what tiles see of it */

/* ---- schedule/cpu/panels/keep.c ---- */
const Expr *pack_lane(Panel *t, const Expr *l); /* a lane of the tile at hand among all of its row */
void pack_tiles_open(Panel *t, const Expr **u0, const Expr **v0); /* for each tile of the block; gives where it begins */
void pack_sums_new(Panel *t);       /* a block's sums, the identity for now */
/* sums = f(sums, acc), or acc where there is one block; acc NULL: the identity. */
void pack_sums_step(Panel *t, const uint32_t *acc);
void pack_sums_store(Panel *t);
bool pack_may_hold(const Panel *t);  /* the result goes past the cache, and tiles have all that makes it up */
bool pack_line_choose(Panel *t);     /* false: results are stored by tiles, whose lanes are those of one label */
void pack_along_choose(Panel *t);    /* in which order a block's tiles are made */
void pack_held_store(Panel *t, const uint32_t *acc, const Expr *u0, const Expr *v0);
/* For each tile, whose rows are kept; gives the place behind those that are stored together. */
LoopBody *pack_line_open(Panel *t, const Expr **u0, const Expr **v0);
void pack_line_store(Panel *t);

/* ---- schedule/cpu/panels/joint.c ---- */
bool pack_joint(Panel *t, bool threads); /* lanes over labels of both sides; false: not here */

/* ---- schedule/cpu/panels/cross.c ---- */
bool pack_cross(Panel *t, bool threads); /* the result is turned, not a side; false: not here */

#endif
