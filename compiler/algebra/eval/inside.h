/* algebra/eval/inside.h - inside of the evaluator, for eval*.c alone: eval.c is the door, what is needed and when it goes; algebra/eval/put.c is
 * what must hold of tuples that come out; algebra/eval/join.c, algebra/eval/map.c, algebra/eval/move.c and algebra/eval/fetch.c are the operations, algebra/eval/loop.c repeats. */
#ifndef EIN_ALGEBRA_EVAL_INSIDE_H
#define EIN_ALGEBRA_EVAL_INSIDE_H

#include "eval.h"
#include "kernel.h"
#include "store.h"

enum { EVAL_DEPTH = 200, EVAL_SITES = 1 << 16 };

typedef struct Loop Loop;

typedef struct Held {        /* what is kept for a node */
  Shelf *shelf;              /* NULL: nothing yet, or no longer */
  bool needed, early, done;  /* early: an assert needs it */
  uint32_t at, last;         /* in its region: its position, and that of its last user */
  struct Held *drop, *drops; /* next one with the same last user; the first whose last user this is */
  Kernel *kernel;            /* JOIN */
  const int64_t *whole;      /*   of argmax */
  Fold *fold;                /* AGGREGATE */
  Loop *loop;                /* REPEAT */
} Held;

typedef struct Run {
  AlgRun *out;
  const Algebra *program;
  Arena *arena;              /* dropped at the end */
  Held *held;                /* by node id */
  int64_t sites, max_elements;
  uint32_t *coordinate;      /* of all sites, mesh.n each */
  double *live;              /* by site, in bytes */
  int64_t *turn;             /* by depth */
  const char *error;
  Place place;
} Run;

static inline Held *held_of(Run *r, const AlgNode *n) { return &r->held[n->id]; }
static inline const uint32_t *site_place(const Run *r, int64_t site) { return r->coordinate + site * r->program->mesh.n; }
static inline const AlgNode *operand_of(const AlgNode *n) { return n->operand[0].node; }

/* Keeps the first complaint, behind the node's name; always false, to be returned. */
bool run_fail(Run *r, const AlgNode *n, const char *fmt, ...) EIN_PRINTF(3, 4);
const char *run_name(Run *r, const AlgNode *n);
const char *run_key(Run *r, const AlgNode *n, const int64_t *key); /* of a tuple of n: " at [i = 1, k = 0]" */

/* ---- shelves (eval.c) ---------------------------------------------------------------------------------- */
void shelf_use(Held *h, Shelf *s);              /* one more stands for it */
void held_empty(Run *r, Held *h);

/* ---- tuples that come out (algebra/eval/put.c) ------------------------------------------------------------------- */
/* Room for a block with so many elements. */
bool room_ask(Run *r, const AlgNode *n, uint32_t rank, const int64_t *low, const int64_t *high);
/* What stands behind the operation: casts, places, merges; shifts by the key. */
bool fns_apply(Run *r, const AlgNode *n, Arena *a, const int64_t *key, Block *b);
/* With the key in the frontier, and the box of the node's type at it. The key is copied; the block is not. */
bool tuple_put(Run *r, const AlgNode *n, Shelf *s, int64_t site, const int64_t *key, int64_t part, Block b);
/* The node has come out: sorted; each key once, where it is to be, and none missing. Counts what there is. */
bool shelf_put(Run *r, const AlgNode *n, Shelf *s);
/* Of the sites along the axes where there are parts, the first; what a site's number is above that tells its parts from others'. */
int64_t site_first(const Run *r, const Placement *p, int64_t site);
/* Of tuples that a repeat hands on: whether they are of the node's type. */
bool shelf_fits(Run *r, const AlgNode *n, const Shelf *s);
/* Takes stock of a shelf that a site has from now on. */
void shelf_count(Run *r, Shelf *s);

/* ---- operations -------------------------------------------------------------------------------------------- */
bool join_run(Run *r, const AlgNode *n, Shelf *s);
bool fetch_run(Run *r, const AlgNode *n, Shelf *s);
/* The kernel is there from now on. */
bool join_start(Run *r, const AlgNode *n, Held *h);
/* *missing: there is none and it is wanted, or said to have all; so there is none of the result. */
bool operand_find(Run *r, const AlgNode *n, uint32_t i, int64_t site, const int64_t *key, const Block **out, bool *missing);
/* Of every tuple one copy. */
Tuple *tuples_all(const Shelf *of, uint32_t n_key, Arena *a, uint32_t *count);
bool aggregate_run(Run *r, const AlgNode *n, Shelf *s);
bool map_run(Run *r, const AlgNode *n, Shelf *s);
bool filter_run(Run *r, const AlgNode *n, Shelf *s);
bool move_run(Run *r, const AlgNode *n, Shelf *s);
bool turns_run(Run *r, const AlgNode *n);         /* a repeat, with all its turns */
bool turns_result(Run *r, const AlgNode *n);      /* FINAL, STACK, TURNS */
void turns_drop(Run *r, Loop *l);
bool run_node(Run *r, const AlgNode *n);         /* eval.c */
bool run_nodes(Run *r, const AlgRegion *g, bool early); /* of a region, in order */
/* The element of a relation without keys and rank, which every site has alike. */
bool run_scalar(Run *r, const AlgNode *n, const AlgNode *user, int64_t *out);

#endif
