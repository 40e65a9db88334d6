/* codegen/schedule/cpu/panels/cross.h - inside of the schedule of contractions whose result is turned: what cross*.c share. */
#ifndef EIN_SCHEDULE_PACK_CROSS_H
#define EIN_SCHEDULE_PACK_CROSS_H

#include "panels.h"

enum {
  CROSS_VECTORS_MOST = 4,    /* of a tile */
  CROSS_LABELS_MOST = 32
};

/* The lanes of a tile: vectors, the last of which may be half as long, or go over some that another has as well. */
typedef struct Shape {
  uint32_t n;
  int64_t at[CROSS_VECTORS_MOST], width[CROSS_VECTORS_MOST];
  int64_t lanes, rows;
} Shape;

typedef struct Cross {
  Panel *t;
  Pack *big, *small;
  uint32_t a, own, other;    /* labels: the result's last one, that of X in tiles, that of the small side in tiles; */
  uint32_t lane, row;        /*   one of the two is in lanes, and the other is not */
  uint32_t n_rest, *rest;    /* the small side's others */
  uint32_t n_group, *group;  /* X's that a block has more than one point of, in the order in which they lie, but for `own` */
  uint32_t n_far, *far;      /*   the others, of which it has one */
  int64_t *slots;            /* of each label: so many points are in a block, */
  const Expr **lo;           /*   and which is the first */
  Shape shape;
  uint32_t panel, kept;
  bool streams;              /* the result goes past the cache: of each lane by runs of */
  uint32_t run;              /*   all points of a, by those of this label (NOWHERE: of none), of which there are */
  int64_t points;            /*   so many */
} Cross;

static inline int64_t cross_size(const Cross *c, uint32_t label) { return c->t->p->size[label]; }
static inline int64_t cross_up(int64_t a, int64_t b) { return (a + b - 1) / b; }
static inline int64_t cross_element(const Cross *c) { return dtype_size(c->t->p->stage->sum->acc); }
bool cross_among(uint32_t n, const uint32_t *label, int64_t one);

/* ---- schedule/cpu/panels/cross_size.c ---- */
bool cross_find(Cross *c); /* labels, parts of the body, and blocks; false: not here */
void cross_shape_choose(Cross *c);
/* As few points as make whole lines of the result, for `line` bytes of each. */
int64_t cross_points_whole(int64_t size, int64_t line, int64_t room);

/* ---- schedule/cpu/panels/cross.c ---- */
uint32_t cross_kept_labels(const Cross *c, uint32_t *label); /* [labels of both sides.., the rows' label, a, the lanes' label] */
const Expr *cross_loop(Cross *c, const char *name, int64_t n, int64_t step, LoopBind bind);
const Expr *cross_loop_whole(Cross *c, const char *name, int64_t n, int64_t unit); /* the last of `unit` begins so early that it is whole */
void cross_label_in(Cross *c, uint32_t label, const Expr *in); /* it is so far in the block */
void cross_label_loop(Cross *c, uint32_t label);
const Expr *cross_read_at(Cross *c, uint32_t place, uint32_t n, const uint32_t *label); /* at where the labels are in the block */

/* ---- schedule/cpu/panels/cross_store.c ---- */
void cross_results_store(Cross *c, bool threads);

#endif
