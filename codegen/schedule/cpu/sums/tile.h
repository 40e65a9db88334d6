/* codegen/schedule/cpu/sums/tile.h - inside of the schedule of contractions in lanes: what tiles (schedule/cpu/sums/tile.c) and strips (schedule/cpu/sums/strip.c) share. */
#ifndef EIN_SCHEDULE_TILE_H
#define EIN_SCHEDULE_TILE_H

#include "schedule/schedule.h"

enum { PIECES_MOST = 4, NO_LABEL = -1 };

/* The lanes of a tile, in pieces that are vectors of a size which machines have: else compilers make short ones and
 * scalars of what is left. The last piece may lie partly over what is before it: that is computed twice. Where it is as wide as
 * the vectors before it, it takes what does not move along the lanes from their registers: a shorter one fetches all anew, so 12
 * by 12 sums of 12 take half as long again. */
typedef struct Lanes {
  uint32_t n;
  int64_t at[PIECES_MOST], width[PIECES_MOST];
  const Expr *count;         /* of all; */
  bool open;                 /*   it is not known: there is one piece, of at most that width */
} Lanes;

typedef struct Tile {
  Sched *s;
  const StagePlan *p;
  Env *e;
  int64_t u, v;              /* labels; u may be NO_LABEL */
  int64_t rows, lanes;
  bool twice;                /* results may be stored twice: nothing that is written is read */
  int64_t over;              /* so wide a last piece is at most only for being as wide as others; 0: it is not */
  Lanes cut;                 /* of the tile at hand */
  bool blocked;              /* the sum is long enough to go in blocks */
  const Expr *asks;          /* a condition of the body on which a read along the lanes hangs, the same for all lanes; or NULL */
  const Expr *yes, *no;      /*   the body where it holds, or does not */
  bool rows_first;           /* the rows' tiles go around those of the lanes: what later rows have is fetched at the first lanes */
  int64_t tiles;             /* at a point of the labels around, */
  const Expr *number;        /*   and that of the one at hand; NULL: there are no rows */
} Tile;

bool tile_decides(const StagePlan *p, uint32_t label); /* whether the predicate looks at it */
LoopBody *tile_lanes_open(Tile *t, const Expr *count, const Expr **l); /* a loop over lanes; gives the body around */
const Expr *tile_cell(Tile *t, uint32_t place, const Expr *l);
const Expr *tile_let(Sched *s, const Expr *value);     /* a name for it */
/* a with b. A monoid's function may use an argument twice; and where both sides of `and` and `or` are there, these are no branches. */
const Expr *tile_combined(Sched *s, const EinSum *sum, const Expr *a, const Expr *b);
void tile_red_open(Tile *t, uint32_t label, const Expr *lo, const Expr *hi, LoopBind bind);

/* ---- schedule/cpu/sums/strip.c ---- */
void strip_loops(Tile *t, bool threads); /* for outputs of which nothing is used twice */

#endif
