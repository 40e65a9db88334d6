/* graph/graph.h - the EinGraph: EinSum vertices in a tree of regions (EinDecomp, sections 3 and 5).
 *
 * A vertex is (bound, EinSum, inputs): the EinSum says what is computed, label by number and operand by slot;
 * bound gives each label its extent; inputs say which tensors stand in the slots. One vertex has at most one
 * reducer. An EinSum is hash-consed within its graph: equal operations are one pointer.
 * A `repeat` is a vertex with a sub-graph (a region), states, a bound, a stop scalar and stacks. */
#ifndef EIN_GRAPH_H
#define EIN_GRAPH_H

#include "base/base.h"
#include "base/diag.h"
#include "expr/einsum.h"
#include "expr/lines.h"

typedef struct EinNode EinNode;
typedef struct EinRegion EinRegion;
typedef struct EinGraph EinGraph;

typedef enum {
  EIN_INPUT,   /* an input or param; fallback: the value where no file is given */
  EIN_VERTEX,
  EIN_REPEAT,  /* not a tensor: rank 0, holds a region */
  EIN_STATE,   /* in a region: the state's value during a turn */
  EIN_FINAL,   /* of a repeat: state `index` after the last turn */
  EIN_STACK,   /* of a repeat: stack `index`, shape [turns, ...] */
  EIN_TURNS    /* of a repeat: the number of turns made, i64 */
} EinKind;

typedef struct EinState { EinNode *node, *init, *next; } EinState; /* node: EIN_STATE; init outside; next inside or outside */
typedef struct EinStack { Str name; EinNode *node; uint32_t axis; } EinStack; /* node: the value of one turn, to be put at
                                                   place t of axis `axis` of the stack */

struct EinNode {
  EinKind kind;
  uint32_t id;               /* unique in the graph; operands have smaller ids (states' next excepted) */
  EinRegion *region;         /* the region it stands in */
  Str name;                  /* the user's, or of its making ("softmax.m"); NULL: anonymous */
  Place place;
  DType dtype;
  uint32_t rank;
  const Expr **dim;          /* shape; dims-only i64 expressions in normal form */

  const EinSum *sum;         /* EIN_VERTEX: the operation, and */
  const Expr **bound;        /*   extent of each label, out then red */
  Str *label;                /*   names of the labels, all different; for people only */
  uint8_t *merge;            /*   dimension k of the shape merges merge[k] >= 1 consecutive output labels, row-major: (h d) */
  EinNode **input;           /*   one a slot */

  bool param;                /* EIN_INPUT */
  EinNode *fallback;         /*   its default, or NULL */

  EinRegion *body;           /* EIN_REPEAT: the sub-graph; and EIN_STATE: NULL */
  EinNode *repeat;           /* FINAL, STACK, TURNS, STATE: whose */
  uint32_t index;            /*   which of its states or stacks */
  void *mark;                /* scratch of whatever pass is running */
};

struct EinRegion {
  EinRegion *parent;         /* NULL: the program itself */
  EinNode *repeat;
  uint32_t depth;            /* of its turn counter: the outermost repeat has 0; the program itself has no counter */
  VEC(EinNode *) nodes;      /* in an order in which they can be computed */
  Str turn;                  /* name of the counter */
  EinNode *bound;            /* rank-0 i64, outside: how many turns at most */
  const Expr *turns;         /* the same as a dims-only expression, where it is one, else NULL */
  EinNode *stop;             /* rank-0 bool, inside; tested at the end of a turn; or NULL */
  VEC(EinState) states;
  VEC(EinStack) stacks;
};

typedef struct EinDim { Str name; bool known; int64_t value; } EinDim;
typedef struct EinOutput { Str name; EinNode *node; } EinOutput;
typedef struct EinAssert { EinNode *node; Str text; Place place; } EinAssert; /* node: rank-0 bool */
typedef struct EinCheck { const Expr *cond; Str text; Place place; } EinCheck; /* over dims; tested once sizes are bound */

struct EinGraph {
  Arena *arena;
  Strings *strings;
  Exprs *exprs;
  VEC(EinDim) dims;          /* in order of declaration; known ones were put in as constants */
  VEC(EinNode *) inputs;     /* EIN_INPUT, in order of declaration */
  VEC(EinOutput) outputs;
  VEC(EinAssert) asserts;
  VEC(EinCheck) checks;
  VEC(const Monoid *) monoids;
  EinRegion *top;
  uint32_t n_nodes;
  const TextLines *lines;    /* of one that was read: where its text has what; no part of it */
  Map sums;                  /* the interning of EinSum; private to graph.c */
};

EinGraph *graph_new(Arena *a, Strings *t, Exprs *p);

enum { /* what the text and the checker allow; elaboration stays below */
  GRAPH_DEPTH = 200,         /* repeats in one another */
  GRAPH_LABELS = 4095,       /* labels of one vertex; */
  GRAPH_OUT = 255,           /*   of its output, and dimensions of a tensor */
  GRAPH_RANK = 63            /* dimensions of a tensor, as elaboration makes them */
};

/* ---- building: each appends to the region and gives the node its id --------------------------
 * Shapes and bounds are put into normal form. An input's fallback, a state's init, a repeat's bound are made
 * before it: they are operands. A state's EinState is pushed right before it is made (node still NULL) or
 * right after: that gives it its index. */
/* The slots of a draft, renumbered as the text and the checker want them: by first occurrence, inner reads
 * before the read that they index, in body, where, domain. Equal reads (one node, one index list) become one
 * slot and what does not occur is dropped; a slot read with several index lists becomes several. Changes
 * s->body, where, domain and n_slot; the inputs, one a slot, are returned. To be called before graph_sum. */
EinNode **graph_canonical_slots(EinGraph *g, EinSum *s, EinNode *const *input);
const EinSum *graph_sum(EinGraph *g, const EinSum *s);             /* interned; s is copied */
const Monoid *graph_monoid(EinGraph *g, const Monoid *m);          /* interned by all fields */
EinNode *graph_input(EinGraph *g, Str name, DType t, uint32_t rank, const Expr *const *dim, bool param);
EinNode *graph_vertex(EinGraph *g, EinRegion *r, const EinSum *s, const Expr *const *bound, const Str *label,
                      uint32_t rank, const uint8_t *merge, EinNode *const *input); /* merge NULL: all ones, rank n_out */
EinNode *graph_repeat(EinGraph *g, EinRegion *r, Str turn);        /* makes the region; states etc. are pushed by the caller */
EinNode *graph_state(EinGraph *g, EinRegion *body, Str name, DType t, uint32_t rank, const Expr *const *dim);
EinNode *graph_result(EinGraph *g, EinRegion *r, EinKind kind, EinNode *repeat, uint32_t index); /* FINAL, STACK, TURNS */

/* ---- text: read(print(g)) equals g in all fields --------------------------------------------- */
void graph_print(Buf *out, const EinGraph *g);
/* NULL with complaints in d (code E9xx, line and what was wanted). The result is not yet checked. */
EinGraph *graph_read(Arena *a, Strings *t, Source *src, Diags *d);
bool graph_equal(const EinGraph *a, const EinGraph *b, Buf *why); /* graphs of different pools may be compared */

/* ---- the checker: every invariant said above and in docs/languages-inside.md; changes nothing.
 * Reports all it finds, a line each, into `out`; true if there is nothing to report. */
bool graph_check(const EinGraph *g, Buf *out);
/* The same of one that was read: first causes alone, where the text has them. */
bool graph_check_text(const EinGraph *g, Diags *d);
/* Of a sound one that was read: no index leads out of its tensor. What ein makes passes. */
bool graph_check_ranges(const EinGraph *g, Diags *d);

/* ---- pictures and data ----------------------------------------------------------------------- */
/* The first vertex in which an f32 input comes together with f64 data; NULL: none. */
const EinNode *input_meets_f64(Arena *a, const EinGraph *g, const EinNode *input);

/* What a picture shows: boxes, a repeat's before those of its body, which end before `end`; arrows from what is read to what reads. */
typedef struct GraphBox { const EinNode *node; const char *text; uint32_t end; } GraphBox; /* node NULL: the name of an output */
typedef struct GraphArrow { uint32_t from, to; const char *label; bool dashed; } GraphArrow; /* dashed: at the end of a turn */
typedef struct GraphPicture { VEC(GraphBox) boxes; VEC(GraphArrow) arrows; } GraphPicture;
GraphPicture *graph_picture(Arena *a, const EinGraph *g);
void graph_dot(Buf *out, const EinGraph *g);
void graph_json(Buf *out, const EinGraph *g);
/* One vertex as an equation that a person reads: "T[h,s,s'] = sum[d] QH[s,h,d] * KH[s',h,d]" */
void graph_equation(Buf *out, const EinNode *n);

#endif
