/* algebra/algebra.h - programs over tensor relations: the tensor relational algebra, Tra, and the implementation
 * algebra, Ia (TRA paper, sections 3 and 4).
 *
 * Both have one type. A Tra says what is done to which blocks, by the operations join, aggregation, rekey, filter,
 * transform, tile and concat. An Ia is a Tra whose relations also say where they are. It has a mesh of sites, and
 * each relation has a placement on it. Its operations are local to a site, except three that move tuples: broadcast,
 * shuffle and fetch.
 *
 *   join       of any number of relations: for each key of the result, the tuples that agree with it, and a kernel
 *              (an EinSum over a box of its labels) on their arrays. The papers join two relations at a time
 *   aggregate  tuples with equal `group` keys become one: by a reducer, element by element, or (`concat`) side by
 *              side
 *   map        of each tuple: optionally cuts it into pieces, one for each value of new keys (tile); gives it a new
 *              key (rekey); applies a function to the array (transform). An Ia composes them (R1-2); in a Tra each
 *              stands alone
 *   filter     keeps the keys for which a predicate holds
 *   move       Ia: the same tuples at other sites. A broadcast makes copies along some axes; every other move is a
 *              shuffle
 *   fetch      Ia: reads a table, which may be at any site, at data. For each key of the result it makes an array
 *              over labels, whose elements are the table's at indices computed from other operands, which are local.
 *              An element that no site has (an index is out of range, or has no value itself) has no value, which its
 *              reader must handle
 *
 * Placement (plan/place.h): for each axis of the mesh a key dimension, `*` or `+`. If n sites along its axes share a
 * key dimension of frontier f, key k is at site floor(k*n/f): if f is n, each site has one key; if f is less, some
 * sites have none. `*`: the same tuples along the axis. `+`: along the axis there are several tuples with one key,
 * which are partial results that are still to be aggregated (R2-5 makes them).
 *
 * Regions are as in the EinGraph. Nodes are in an order in which they can be computed: operands have smaller ids,
 * except a state's next value.
 *
 * text: "tra 1", "ia 1"; docs/languages-inside.md has the grammar. */
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
  ALG_REPEAT,                /* holds a region; is no relation */
  ALG_STATE,                 /* in a region: the state's value during a turn */
  ALG_FINAL,                 /* of a repeat: state `index` after the last turn */
  ALG_STACK,                 /* of a repeat: stack `index`; a whole dimension for the turns is inserted at its axis */
  ALG_TURNS                  /* of a repeat: the number of turns made */
} AlgKind;

typedef enum { FN_CAST, FN_PLACE, FN_MERGE, FN_SHIFT } AlgFnKind;
/* CAST: converts elements to a dtype. PLACE: takes the position from a part of argmax; if no part exists, that is an
 * error. MERGE: dimension k of the result merges merge[k] dimensions, row-major; all of them are whole except the
 * first that is longer than 1. SHIFT: adds `by` times key dimension `key` of the operand to the places of dimension
 * n; only in a map without pieces and new keys. It lets a block that wraps around be put together. */
typedef struct AlgFn { AlgFnKind kind; DType to; uint32_t n; const uint8_t *merge; int64_t by; uint32_t key; } AlgFn;

typedef struct AlgOperand {
  AlgNode *node;
  const int32_t *on;         /* JOIN: by key dimension of the operand, the result's key dimension that it must
                              * agree with; -1: its frontier is 1. FETCH: the same, but NULL for its table, the
                              * last operand */
  bool wanted;               /* JOIN: if it has no tuple, neither has the result, as in the papers' join */
} AlgOperand;

struct AlgNode {
  AlgKind kind;
  uint32_t id;
  AlgRegion *region;         /* that contains it */
  Str name;                  /* the user's; NULL: none */
  Place place;
  Relation type;
  Placement at;              /* Ia */
  uint32_t n_operand;
  AlgOperand *operand;       /* JOIN, FETCH: one per slot of sum; else one, or none */

  const EinSum *sum;         /* JOIN: the kernel. It makes parts: elements of sum->acc, with places for argmax and
                              * argmin. FETCH: a read of its last slot, the table */
  const Str *label;          /* names of its labels */
  const RelDim *range;       /* ranges of its labels, over the result's keys; those of output labels are the array's
                              * dimensions. An operand that is not wanted and has no tuple with the key (it has holes)
                              * is an array without values */
  uint32_t panels, panel;    /* JOIN of an Ia: 0, or a site computes it in so many panels of label `panel`, one after
                              * the other, and operands and result move in panels too if they can
                              * (task/sites/panels.c). Values stay the same, except for the grouping of a reduction */
  uint32_t n_group;          /* AGGREGATE: the operand's key dimensions that stay, in this order */
  const uint32_t *group;
  Reducer reducer;           /* RED_NONE: concat. Along a dropped key, arrays must abut in at least one dimension */
  const Monoid *monoid;
  uint32_t n_piece;          /* MAP: tile: so many keys are appended to the operand's; arrays are cut to the boxes of
                              * `piece` */
  const int64_t *frontier;   /* frontiers and names of these keys */
  const Str *key;
  const RelDim *piece;       /* by dimension, over the operand's keys and these; pieces without elements are left out,
                              * unless the block has none */
  const Expr **rekey;        /* MAP: the result's keys, over the operand's and the new ones; NULL: these keys */
  uint32_t n_fn;             /* MAP, and what R1-4 and R1-7 append to AGGREGATE and JOIN: functions of the array, in
                              * order */
  const AlgFn *fn;
  const Expr *keep;          /* FILTER: a bool over the keys */

  AlgRegion *body;           /* REPEAT */
  AlgNode *repeat;           /* STATE, FINAL, STACK, TURNS: the repeat */
  uint32_t index;
  void *mark;                /* scratch for the running pass */
};

typedef struct AlgState { AlgNode *node, *init, *next; } AlgState; /* all three have one type, and in an Ia one
                                                                    * placement */
typedef struct AlgStack { Str name; AlgNode *node; uint32_t axis; } AlgStack;

struct AlgRegion {
  AlgRegion *parent;         /* NULL: the program itself */
  AlgNode *repeat;
  uint32_t depth;
  VEC(AlgNode *) nodes;
  Str turn;
  AlgNode *bound;            /* rank 0, no keys, i64: the most turns */
  int64_t turns;             /* the same as a number, if it is known and stacks need it; else -1 */
  AlgNode *stop;             /* rank 0, no keys, bool; NULL: none */
  VEC(AlgState) states;
  VEC(AlgStack) stacks;
};

/* Its blocks make up the whole output. */
typedef struct AlgOutput { Str name; AlgNode *node; uint32_t rank; const int64_t *extent; } AlgOutput;
typedef struct AlgAssert { AlgNode *node; Str text; Place place; } AlgAssert;

typedef struct Algebra {
  Arena *arena;
  Strings *strings;
  Exprs *exprs;
  bool placed;               /* it is an Ia */
  Mesh mesh;
  int64_t room;              /* bytes of parts that arrive at once; 0: MOVE_ROOM */
  int64_t memory;            /* bytes that a site may use; work that overlaps must stay within it; 0: not given. Not
                              * in the text */
  VEC(AlgNode *) inputs;
  VEC(AlgOutput) outputs;
  VEC(AlgAssert) asserts;
  Monoids monoids;
  AlgRegion *top;
  uint32_t n_nodes;
  const TextLines *lines;    /* of a program that was read: positions in its text; not part of the program */
} Algebra;

typedef struct AlgMessage { uint32_t from, to; double bytes; } AlgMessage; /* between sites */

typedef struct AlgDone { uint32_t node, panel; } AlgDone; /* the panel counts if the node is in panels */

typedef struct AlgPanel {    /* a panel of a node, or all of it */
  uint32_t n_after;          /* what tasks have done before it begins, and that holds it up */
  const AlgDone *after;
  uint32_t n_message;
  const AlgMessage *message; /* of a move's panel; NULL: what moves is alike in all panels */
} AlgPanel;

typedef struct AlgTasks {    /* how tasks do a node of an Ia, for the simulator */
  int32_t of;                /* the join whose panels it shares, which may be itself; -1: it is done at once */
  uint32_t n;                /* how many panels, one after the other; 1: it is done at once */
  AlgPanel *panel;           /* n of them; NULL: no task makes it alone, or last */
} AlgTasks;

enum { ALG_KEYS_TOLD = 1 << 20 }; /* the most keys to enumerate; beyond it the checker believes what it cannot prove */

Algebra *algebra_new(Arena *a, Strings *t, Exprs *p);

/* ---- building: the type follows from the operands, and so does the placement if all is local ------------
 * Each function appends to the region and gives the node its id. In an Ia, a dropped key dimension leaves `+` along
 * the axes that cut it. `holes` is inherited; a join inherits it from operands that are wanted. A caller who knows
 * that no holes are left says so in the node's type. A join's result is where `at` says (NULL: where alg_join_place
 * puts it, else a bug()). */
AlgNode *alg_input(Algebra *p, Str name, const Relation *type, const Placement *at);
AlgNode *alg_join(Algebra *p, AlgRegion *r, uint32_t n, const AlgOperand *operand, const EinSum *sum, const Str *label,
    const RelDim *range, uint32_t n_key, const int64_t *frontier, const Str *key, const Placement *at);
AlgNode *alg_aggregate(Algebra *p, AlgRegion *r, AlgNode *of, uint32_t n_group, const uint32_t *group, Reducer reducer,
    const Monoid *monoid);
/* dim: over the keys that stay */
AlgNode *alg_concat(Algebra *p, AlgRegion *r, AlgNode *of, uint32_t n_group, const uint32_t *group, const RelDim *dim);
AlgNode *alg_tile(Algebra *p, AlgRegion *r, AlgNode *of, uint32_t n_piece, const int64_t *frontier, const Str *key,
    const RelDim *piece);
AlgNode *alg_rekey(Algebra *p, AlgRegion *r, AlgNode *of, uint32_t n_key, const Expr *const *key,
    const int64_t *frontier, const Str *name, const RelDim *dim);
AlgNode *alg_transform(Algebra *p, AlgRegion *r, AlgNode *of, uint32_t n, const AlgFn *fn);
AlgNode *alg_filter(Algebra *p, AlgRegion *r, AlgNode *of, const Expr *keep);
AlgNode *alg_move(Algebra *p, AlgRegion *r, AlgNode *of, const Placement *to);
/* read: of the table, by its slot, over the labels. Other slots occur in its indices; operands that do not occur are
 * left out. The table's `on` is ignored. */
AlgNode *alg_fetch(Algebra *p, AlgRegion *r, const AlgOperand *operand, const Expr *read, uint32_t n_label,
    const Str *label, const RelDim *range, uint32_t n_key, const int64_t *frontier, const Str *key,
    const Placement *at);
/* What a repeat itself reads, one after the other: its bound, its states' first and next values, its stacks, and its
 * stop, if it has one. NULL: there are no more. */
AlgNode *alg_region_use(const AlgRegion *r, uint32_t i);
static inline bool alg_has_kernel(const AlgNode *n) { return n->kind == ALG_JOIN || n->kind == ALG_FETCH; }
static inline bool alg_moves(const AlgNode *n) { return n->kind == ALG_MOVE || n->kind == ALG_FETCH; }
static inline bool alg_is_table(const AlgNode *n, uint32_t operand) {
  return n->kind == ALG_FETCH && operand + 1 == n->n_operand;
}
static inline AlgNode *alg_table(const AlgNode *fetch) { return fetch->operand[fetch->n_operand - 1].node; }

/* Whether each site that must have a tuple of the result has its operands. An operand that is cut along an axis must
 * be cut there by the key dimension that cuts the result, and of the axes that cut this dimension in the result it
 * must have the first few, in order. A site makes the tuples that it must have: if all operands are `*`, the result
 * may be cut in any way. A fetch's table may be anywhere. */
bool alg_join_meets(const Algebra *p, const AlgNode *join);
/* Finds the placement that cuts the result where the operands are cut. Returns false if they do not meet there. */
bool alg_join_place(const Algebra *p, const AlgNode *join, Placement *out);
/* Whether a move only makes copies. */
bool alg_is_broadcast(const Algebra *p, const AlgNode *move);
/* Whether the site at `at` must have a tuple with this key. */
bool alg_holds(const Mesh *m, const Placement *p, const Relation *r, const int64_t *key, const uint32_t *at);

/* ---- text: read(print(x)) equals x in all fields except `mark` -------------------------------------------- */
void algebra_print(Buf *out, const Algebra *p);
/* Returns NULL with complaints in d (code E9xx: the line and what was expected). The result is not checked yet. */
Algebra *algebra_read(Arena *a, Strings *t, Source *src, Diags *d);
bool algebra_equal(const Algebra *a, const Algebra *b, Buf *why);
/* Prints one operation for people: "join QH[s,h,d] = sum[a] Q[s,a] * WQ[a,h,d]" */
void alg_equation(Buf *out, const AlgNode *n);

/* ---- the checker: types, uniqueness, continuity, frontier, closedness after rekey and filter; placements --------
 * Changes nothing. Writes a line for each broken invariant. */
bool algebra_check(const Algebra *p, Buf *out);
/* The same for a program that was read. Reports only first causes, at their positions in the text. */
bool algebra_check_text(const Algebra *p, Diags *d);

#endif
