/* codegen/schedule/cpu/panels/cross.h - internals of contractions with a transposed result, shared by cross*.c. */
#ifndef EIN_SCHEDULE_PACK_CROSS_H
#define EIN_SCHEDULE_PACK_CROSS_H

#include "panels.h"

enum {
  CROSS_VECTORS_MOST = 4,    /* per tile */
  CROSS_LABELS_MOST = 32
};

/* The lanes of a tile: vectors, the last of which may be half as long, or overlap another. */
typedef struct Shape {
  uint32_t n;
  int64_t at[CROSS_VECTORS_MOST], width[CROSS_VECTORS_MOST];
  int64_t lanes, rows;
} Shape;

typedef struct Cross {
  Panel *t;
  Pack *big, *small;
  uint32_t a, own, other;    /* labels: the result's last one, X's in tiles, the small side's in tiles */
  uint32_t lane, row;        /* one of the latter two is in lanes, the other in rows */
  uint32_t n_rest, *rest;    /* the small side's others */
  uint32_t n_group, *group;  /* X's labels of which a block has several points, in storage order, except `own` */
  uint32_t n_far, *far;      /* X's others, of which it has one point */
  int64_t *slots;            /* by label: points per block */
  const Expr **lo;           /* and the first one */
  Shape shape;
  uint32_t panel, kept, point; /* point: a copy of X at the current point; NOWHERE: it is read where it lies */
  bool streams;              /* the result bypasses the cache, in runs along each lane */
  uint32_t run;              /* of all points of a, for each of this label (NOWHERE: none) */
  int64_t points;            /* and this many points of it */
} Cross;

static inline int64_t cross_size(const Cross *c, uint32_t label) { return c->t->p->size[label]; }
static inline int64_t cross_up(int64_t a, int64_t b) { return (a + b - 1) / b; }
static inline int64_t cross_element(const Cross *c) { return dtype_size(c->t->p->stage->sum->acc); }

/* ---- schedule/cpu/panels/cross_size.c ---- */
bool cross_find(Cross *c); /* finds labels, parts of the body, and blocks; false: not applicable */
void cross_shape_choose(Cross *c);
bool cross_copies(const Cross *c); /* the tiles of a point of X read a copy of it */
/* The least number of points that fill whole cache lines of the result, with `line` bytes per point. */
int64_t cross_points_whole(int64_t size, int64_t line, int64_t room);

/* ---- schedule/cpu/panels/cross.c ---- */
uint32_t cross_kept_labels(const Cross *c, uint32_t *label); /* [labels of both sides.., the rows' label, a, the
                                                              * lanes' label] */
const Expr *cross_loop(Cross *c, const char *name, int64_t n, int64_t step, LoopBind bind);
/* The last `unit` begins early enough to be whole. */
const Expr *cross_loop_whole(Cross *c, const char *name, int64_t n, int64_t unit);
void cross_label_in(Cross *c, uint32_t label, const Expr *in); /* its position in the block */
void cross_label_loop(Cross *c, uint32_t label);
/* Reads the place at the labels' positions in the block. */
const Expr *cross_read_at(Cross *c, uint32_t place, uint32_t n, const uint32_t *label);

/* ---- schedule/cpu/panels/cross_store.c ---- */
void cross_results_store(Cross *c, bool threads);

#endif
