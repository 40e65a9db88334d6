/* algebra/eval/inside.h - internals of the evaluator, for this folder: eval.c is the entry and decides what is needed
 * and how long it is kept; put.c checks tuples that come out; join.c, map.c, move.c and fetch.c are the operations,
 * loop.c repeats. */
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
  struct Held *drop, *drops; /* next node with the same last user; first node whose last user is this one */
  Kernel *kernel;            /* JOIN */
  const int64_t *whole;      /* of argmax */
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
static inline const uint32_t *site_place(const Run *r, int64_t site) {
  return r->coordinate + site * r->program->mesh.n;
}
static inline const AlgNode *operand_of(const AlgNode *n) { return n->operand[0].node; }

/* Keeps the first complaint, after the node's name. Always returns false, so that callers can return it. */
bool run_fail(Run *r, const AlgNode *n, const char *fmt, ...) EIN_PRINTF(3, 4);
const char *run_name(Run *r, const AlgNode *n);
const char *run_key(Run *r, const AlgNode *n, const int64_t *key); /* of a tuple of n: " at [i = 1, k = 0]" */

/* ---- shelves (eval.c) ---------------------------------------------------------------------------------- */
void shelf_use(Held *h, Shelf *s);              /* one more user */
void held_empty(Run *r, Held *h);

/* ---- tuples that come out (put.c) ---------------------------------------------------------------------------- */
/* Checks that a block has no more than the allowed number of elements. */
bool room_ask(Run *r, const AlgNode *n, uint32_t rank, const int64_t *low, const int64_t *high);
/* Applies the node's functions: casts, places, merges; shifts by the key. */
bool fns_apply(Run *r, const AlgNode *n, Arena *a, const int64_t *key, Block *b);
/* Adds a tuple whose key must be within the frontier, and whose box must be that of the node's type. Copies the key,
 * not the block. */
bool tuple_put(Run *r, const AlgNode *n, Shelf *s, int64_t site, const int64_t *key, int64_t part, Block b);
/* Finishes the node: sorts its tuples, and checks that each key is there once, where it must be, and that none is
 * missing. Counts them. */
bool shelf_put(Run *r, const AlgNode *n, Shelf *s);
/* The first of the sites along the axes with parts; the difference to a site's number distinguishes its parts from
 * others'. */
int64_t site_first(const Run *r, const Placement *p, int64_t site);
/* Whether tuples that a repeat passes on are of the node's type. */
bool shelf_fits(Run *r, const AlgNode *n, const Shelf *s);
/* Adds a shelf's bytes to the sites' memory. */
void shelf_count(Run *r, Shelf *s);

/* ---- operations -------------------------------------------------------------------------------------------- */
bool join_run(Run *r, const AlgNode *n, Shelf *s);
bool fetch_run(Run *r, const AlgNode *n, Shelf *s);
/* Makes the node's kernel. */
bool join_start(Run *r, const AlgNode *n, Held *h);
/* *missing: there is none, and it is wanted or its type has no holes; so the result has none. */
bool operand_find(
    Run *r, const AlgNode *n, uint32_t i, int64_t site, const int64_t *key, const Block **out, bool *missing);
/* One copy of every tuple. */
Tuple *tuples_all(const Shelf *of, uint32_t n_key, Arena *a, uint32_t *count);
bool aggregate_run(Run *r, const AlgNode *n, Shelf *s);
bool map_run(Run *r, const AlgNode *n, Shelf *s);
bool filter_run(Run *r, const AlgNode *n, Shelf *s);
bool move_run(Run *r, const AlgNode *n, Shelf *s);
bool turns_run(Run *r, const AlgNode *n);         /* a repeat, with all its turns */
bool turns_result(Run *r, const AlgNode *n);      /* FINAL, STACK, TURNS */
void turns_drop(Run *r, Loop *l);
bool run_nodes(Run *r, const AlgRegion *g, bool early); /* of a region, in order */
/* The element of a relation without keys and of rank 0, which is the same at every site. */
bool run_scalar(Run *r, const AlgNode *n, const AlgNode *user, int64_t *out);

#endif
