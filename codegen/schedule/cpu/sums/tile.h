/* codegen/schedule/cpu/sums/tile.h - internals of contractions in lanes, shared by tiles (tile.c) and strips
 * (strip.c). */
#ifndef EIN_SCHEDULE_TILE_H
#define EIN_SCHEDULE_TILE_H

#include "schedule/schedule.h"

enum { PIECES_MOST = 4, NO_LABEL = -1 };

/* The lanes of a tile, in pieces that are vectors of a size that machines have; otherwise compilers use short vectors
 * and scalars for the rest. The last piece may overlap the one before it, which computes some lanes twice. If it is
 * as wide as the vectors before it, it reuses their registers for values that do not move along the lanes. A shorter
 * one loads everything again, so 12 by 12 sums of 12 take half as long again. */
typedef struct Lanes {
  uint32_t n;
  int64_t at[PIECES_MOST], width[PIECES_MOST];
  const Expr *count;         /* of all */
  bool open;                 /* the number is unknown: there is one piece, of at most that width */
} Lanes;

typedef struct Tile {
  Sched *s;
  const StagePlan *p;
  Env *e;
  int64_t u, v;              /* labels; u may be NO_LABEL */
  int64_t rows, lanes;
  bool twice;                /* results may be stored twice: nothing that is written is read */
  int64_t over;              /* the widest last piece that overlaps only to be as wide as the others; 0: never */
  Lanes cut;                 /* of the current tile */
  bool blocked;              /* the sum is long enough for blocks */
  const Expr *asks;          /* a condition of the body that guards a read along the lanes, and is the same for all
                              * lanes; or NULL */
  const Expr *yes, *no;      /* the body if it holds, or not */
  bool rows_first;           /* the rows' loop is outside the lanes' loop: data of later rows is prefetched at the
                              * first lanes */
  int64_t tiles;             /* at one point of the labels around */
  const Expr *number;        /* the number of the current one; NULL: there are no rows */
} Tile;

bool tile_decides(const StagePlan *p, uint32_t label); /* whether the predicate depends on it */
LoopBody *tile_lanes_open(Tile *t, const Expr *count, const Expr **l); /* a loop over lanes; returns the body around
                                                                        * it */
const Expr *tile_cell(Tile *t, uint32_t place, const Expr *l);
const Expr *tile_let(Sched *s, const Expr *value);     /* a name for it */
/* Combines a with b. A monoid's function may use an argument twice; if both sides of `and` and `or` are available, it
 * needs no branches. */
const Expr *tile_combined(Sched *s, const EinSum *sum, const Expr *a, const Expr *b);
void tile_red_open(Tile *t, uint32_t label, const Expr *lo, const Expr *hi, LoopBind bind);

/* ---- schedule/cpu/sums/strip.c ---- */
void strip_loops(Tile *t, bool threads); /* for outputs without reuse of operands */

#endif
