/* algebra/algebra.h - programs over tensor relations: the tensor relational algebra, Tra, and the implementation algebra, Ia (TRA
 * paper, sections 3 and 4).
 *
 * Both are one type. A Tra says what is done to which blocks: its operations are join, aggregation, rekey, filter, transform, tile and
 * concat. An Ia is a Tra whose relations also say where they are: it has a mesh of sites, each relation has a placement on it, all operations are
 * local to a site, and three more move tuples: broadcast, shuffle and fetch.
 *
 *   join       of any number of relations: for each key of the result the tuples that agree with it, and a kernel (an EinSum over
 *              a box of its labels) on their arrays. The papers' join is that of two
 *   aggregate  tuples with equal `group` keys become one: by a reducer, element by element, or (`concat`) laid side by side
 *   map        of each tuple: perhaps cut into pieces, one for each value of new keys (tile); a new key (rekey); a function of the array
 *              (transform). Ia composes them (R1-2); in a Tra each stands alone
 *   filter     keeps keys of which a predicate holds
 *   move       Ia: the same tuples at other sites. A broadcast makes copies along some axes; all else is a shuffle
 *   fetch      Ia: of a table that is anywhere, what is read at data: for each key of the result an array over labels, each element the
 *              table's at indices that are made of other operands, which are there. What no site has (an index is out of range, or has no
 *              value itself) is an element without value: whoever reads it meets that
 *
 * Placement (plan/place.h): by axis of the mesh a key dimension, `*` or `+`. A key dimension of frontier f that n sites along its axes share
 * has key k at site floor(k*n/f) of them: where f is n each has one; where f is less some have none. `*`: the same along that axis.
 * `+`: along that axis there are several tuples with
 * one key, parts that are still to be aggregated (R2-5 makes them).
 *
 * Regions are as in the EinGraph. Nodes stand in an order in which they can be computed; operands have smaller ids, a state's next
 * excepted. text: "tra 1", "ia 1"; docs/languages-inside.md has the grammar. */
#ifndef EIN_ALGEBRA_H
#define EIN_ALGEBRA_H

#include "base/diag.h"
#include "expr/lines.h"
#include "plan/place.h"
#include "relation.h"

typedef struct AlgNode AlgNode;
typedef struct AlgRegion AlgRegion;

typedef enum {
  ALG_INPUT,
  ALG_JOIN,
  ALG_AGGREGATE,
  ALG_MAP,
  ALG_FILTER,
  ALG_MOVE,
  ALG_FETCH,
  ALG_REPEAT,                /* holds a region; no relation */
  ALG_STATE,                 /* in a region: what a state is during a turn */
  ALG_FINAL,                 /* of a repeat: state `index` after the last turn */
  ALG_STACK,                 /* of a repeat: stack `index`; a dimension for the turns, which is whole, is put in at its axis */
  ALG_TURNS                  /* of a repeat: the number of turns made */
} AlgKind;

typedef enum { FN_CAST, FN_PLACE, FN_MERGE, FN_SHIFT } AlgFnKind;
/* CAST: elements to a dtype. PLACE: of argmax's parts the place; no part is an error. MERGE: dimension k of the result is merge[k]
 * dimensions, row-major, of which all but the first that is longer than 1 are whole. SHIFT: places of dimension n become larger by `by` times
 * key dimension `key` of the operand; only in a map that has neither pieces nor new keys. So a block that wraps around is laid together. */
typedef struct AlgFn { AlgFnKind kind; DType to; uint32_t n; const uint8_t *merge; int64_t by; uint32_t key; } AlgFn;

typedef struct AlgOperand {
  AlgNode *node;
  const int32_t *on;         /* JOIN: by key dimension of the operand, that of the result that it agrees with; -1: its frontier
                                is 1. FETCH: so too, but for its table, the last one: NULL */
  bool wanted;               /* JOIN: where it has no tuple there is none of the result, as in the papers' join */
} AlgOperand;

struct AlgNode {
  AlgKind kind;
  uint32_t id;
  AlgRegion *region;         /* it stands in */
  Str name;                  /* the user's; NULL: none */
  Place place;
  Relation type;
  Placement at;              /* Ia */
  uint32_t n_operand;
  AlgOperand *operand;       /* JOIN: one a slot of sum; else one, or none */

  const EinSum *sum;         /* JOIN: the kernel. It gives parts: elements of sum->acc, with places for argmax and argmin.
                                FETCH: a read of its last slot, the table */
  const Str *label;          /*   names of its labels, */
  const RelDim *range;       /*   and their ranges, over the result's keys: those of output labels are the array's dimensions. An operand
                                  that is not wanted and has no tuple with the key (it has holes) is an array without values */
  uint32_t panels, panel;    /*   JOIN of an Ia: 0; or a site does it in so many panels of that label, one after the other, and operands and result
                                  move so as far as they can (task/sites/panels.c). Values are the same, but for the grouping of a reduction */
  uint32_t n_group;          /* AGGREGATE: key dimensions of the operand that stay, in this order */
  const uint32_t *group;
  Reducer reducer;           /*   RED_NONE: concat. Along a key that goes, arrays must abut in one dimension at least */
  const Monoid *monoid;
  uint32_t n_piece;          /* MAP: tile: so many keys are put behind the operand's; arrays are cut to the boxes of `piece`, */
  const int64_t *frontier;   /*   their frontiers, and names */
  const Str *key;
  const RelDim *piece;       /*   by dimension, over the operand's keys and these; pieces without elements are none, unless the block has none */
  const Expr **rekey;        /* MAP: the result's keys, over the operand's and the new ones; NULL: these */
  uint32_t n_fn;             /* MAP, and what R1-4 and R1-7 put behind AGGREGATE and JOIN: functions of the array, one after the other */
  const AlgFn *fn;
  const Expr *keep;          /* FILTER: bool, over the keys */

  AlgRegion *body;           /* REPEAT */
  AlgNode *repeat;           /* STATE, FINAL, STACK, TURNS: whose */
  uint32_t index;
  void *mark;                /* scratch of whatever pass is running */
};

typedef struct AlgState { AlgNode *node, *init, *next; } AlgState; /* all three of one type, and in an Ia at one placement */
typedef struct AlgStack { Str name; AlgNode *node; uint32_t axis; } AlgStack;

struct AlgRegion {
  AlgRegion *parent;         /* NULL: the program itself */
  AlgNode *repeat;
  uint32_t depth;
  VEC(AlgNode *) nodes;
  Str turn;
  AlgNode *bound;            /* rank 0, no keys, i64: how many turns at most */
  int64_t turns;             /* the same as a number, where it is known and wanted for stacks; -1 */
  AlgNode *stop;             /* rank 0, no keys, bool; NULL: none */
  VEC(AlgState) states;
  VEC(AlgStack) stacks;
};

typedef struct AlgOutput { Str name; AlgNode *node; uint32_t rank; const int64_t *extent; } AlgOutput; /* its blocks make up all of it */
typedef struct AlgAssert { AlgNode *node; Str text; Place place; } AlgAssert;

typedef struct Algebra {
  Arena *arena;
  Strings *strings;
  Exprs *exprs;
  bool placed;               /* an Ia */
  Mesh mesh;
  int64_t memory;            /* bytes that a site may have, which what goes on meanwhile keeps; 0: not said. Not in the text */
  VEC(AlgNode *) inputs;
  VEC(AlgOutput) outputs;
  VEC(AlgAssert) asserts;
  VEC(const Monoid *) monoids;
  AlgRegion *top;
  uint32_t n_nodes;
  const TextLines *lines;    /* of one that was read: where its text has what; no part of it */
} Algebra;

enum { ALG_KEYS_TOLD = 1 << 20 }; /* keys that are gone through one by one; of more the checker believes what it cannot prove */

Algebra *algebra_new(Arena *a, Strings *t, Exprs *p);

/* ---- building: the type follows from the operands; so does the placement, where all is local ------------------------
 * Each appends to the region and gives the node its id. In an Ia a key dimension that goes leaves `+` along the axes that cut it. `holes` is
 * handed on, by a join from operands that are wanted; who knows that none are left says so in the node's type. A join's result is where
 * `at` says (NULL: as alg_join_place finds, else a bug()). */
AlgNode *alg_input(Algebra *p, Str name, const Relation *type, const Placement *at);
AlgNode *alg_join(Algebra *p, AlgRegion *r, uint32_t n, const AlgOperand *operand, const EinSum *sum, const Str *label, const RelDim *range,
                  uint32_t n_key, const int64_t *frontier, const Str *key, const Placement *at);
AlgNode *alg_aggregate(Algebra *p, AlgRegion *r, AlgNode *of, uint32_t n_group, const uint32_t *group, Reducer reducer, const Monoid *monoid);
/* dim: over the keys that stay */
AlgNode *alg_concat(Algebra *p, AlgRegion *r, AlgNode *of, uint32_t n_group, const uint32_t *group, const RelDim *dim);
AlgNode *alg_tile(Algebra *p, AlgRegion *r, AlgNode *of, uint32_t n_piece, const int64_t *frontier, const Str *key, const RelDim *piece);
AlgNode *alg_rekey(Algebra *p, AlgRegion *r, AlgNode *of, uint32_t n_key, const Expr *const *key, const int64_t *frontier, const Str *name,
                   const RelDim *dim);
AlgNode *alg_transform(Algebra *p, AlgRegion *r, AlgNode *of, uint32_t n, const AlgFn *fn);
AlgNode *alg_filter(Algebra *p, AlgRegion *r, AlgNode *of, const Expr *keep);
AlgNode *alg_move(Algebra *p, AlgRegion *r, AlgNode *of, const Placement *to);
/* read: of the table, by its slot, over the labels; other slots stand in its indices, and those that do not are left out. The table's `on` is not
 * looked at. */
AlgNode *alg_fetch(Algebra *p, AlgRegion *r, const AlgOperand *operand, const Expr *read, uint32_t n_label, const Str *label, const RelDim *range,
                   uint32_t n_key, const int64_t *frontier, const Str *key, const Placement *at);
static inline bool alg_has_kernel(const AlgNode *n) { return n->kind == ALG_JOIN || n->kind == ALG_FETCH; }
static inline bool alg_moves(const AlgNode *n) { return n->kind == ALG_MOVE || n->kind == ALG_FETCH; }
static inline bool alg_is_table(const AlgNode *n, uint32_t operand) { return n->kind == ALG_FETCH && operand + 1 == n->n_operand; }
static inline AlgNode *alg_table(const AlgNode *fetch) { return fetch->operand[fetch->n_operand - 1].node; }

/* Whether each site that is to have a tuple of the result has what it is made of: an operand that is cut along an axis is cut there by the
 * key dimension that the result is cut by, and of the axes that cut this in the result, in order, it has the first few. A site makes
 * those tuples that it is to have: where all operands are `*`, the result may be cut anyhow. A fetch's table may be anywhere. */
bool alg_join_meets(const Algebra *p, const AlgNode *join);
/* The result cut where operands are; false: they do not meet there. */
bool alg_join_place(const Algebra *p, const AlgNode *join, Placement *out);
/* By axis, whether a move makes copies alone. */
bool alg_is_broadcast(const Algebra *p, const AlgNode *move);
/* Whether the site at `at` is one where a tuple with this key is to be. */
bool alg_holds(const Mesh *m, const Placement *p, const Relation *r, const int64_t *key, const uint32_t *at);

/* ---- text: read(print(x)) equals x in all fields; `mark` apart ----------------------------------------------------- */
void algebra_print(Buf *out, const Algebra *p);
/* NULL with complaints in d (code E9xx, line and what was wanted). The result is not yet checked. */
Algebra *algebra_read(Arena *a, Strings *t, Source *src, Diags *d);
bool algebra_equal(const Algebra *a, const Algebra *b, Buf *why);
/* One operation as a person reads it: "join QH[s,h,d] = sum[a] Q[s,a] * WQ[a,h,d]" */
void alg_equation(Buf *out, const AlgNode *n);

/* ---- the checker: types, uniqueness, continuity, frontier, closedness after rekey and filter; placements. Changes nothing; a line for
 * each invariant broken. */
bool algebra_check(const Algebra *p, Buf *out);
/* The same of one that was read: first causes alone, where the text has them. */
bool algebra_check_text(const Algebra *p, Diags *d);

#endif
