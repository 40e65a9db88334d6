/* graph/graph.h - the EinGraph: EinSum vertices in a tree of regions (EinDecomp, sections 3 and 5).
 *
 * A vertex is (bound, EinSum, inputs). The EinSum says what is computed, with numbers for labels and slots for
 * operands; bound gives each label its extent; inputs are the tensors in the slots. A vertex has at most one reducer.
 * An EinSum is hash-consed within its graph: equal operations are one pointer. A `repeat` is a vertex with a
 * sub-graph (a region), states, a bound, a stop scalar and stacks. */
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
  EIN_INPUT,   /* an input or param; fallback: its value if no file is given */
  EIN_VERTEX,
  EIN_REPEAT,  /* not a tensor: rank 0, holds a region */
  EIN_STATE,   /* in a region: the state's value during a turn */
  EIN_FINAL,   /* of a repeat: state `index` after the last turn */
  EIN_STACK,   /* of a repeat: stack `index`, shape [turns, ...] */
  EIN_TURNS    /* of a repeat: the number of turns made, i64 */
} EinKind;

/* node: EIN_STATE; init outside; next inside or outside */
typedef struct EinState { EinNode *node, *init, *next; } EinState;
typedef struct EinStack { Str name; EinNode *node; uint32_t axis; } EinStack; /* node: the value of one turn, stored
                                                                               * at place t of axis `axis` of the
                                                                               * stack */

struct EinNode {
  EinKind kind;
  uint32_t id;               /* unique in the graph; operands have smaller ids (except states' next) */
  EinRegion *region;         /* the region that contains it */
  Str name;                  /* the user's, or derived from it ("softmax.m"); NULL: anonymous */
  Place place;
  DType dtype;
  uint32_t rank;
  const Expr **dim;          /* shape; dims-only i64 expressions in normal form */

  const EinSum *sum;         /* EIN_VERTEX: the operation */
  const Expr **bound;        /* extent of each label, out then red */
  Str *label;                /* names of the labels, all different; only for people */
  uint8_t *merge;            /*   dimension k of the shape merges merge[k] >= 1 consecutive output labels, row-major:
                              *   (h d) */
  EinNode **input;           /* one per slot */

  bool param;                /* EIN_INPUT */
  EinNode *fallback;         /* its default, or NULL */

  EinRegion *body;           /* EIN_REPEAT: the sub-graph; else NULL */
  EinNode *repeat;           /* FINAL, STACK, TURNS, STATE: the repeat */
  uint32_t index;            /* which of its states or stacks */
  void *mark;                /* scratch for the running pass */
};

struct EinRegion {
  EinRegion *parent;         /* NULL: the program itself */
  EinNode *repeat;
  uint32_t depth;            /* number of its turn counter: 0 for the outermost repeat; the program itself has no
                              * counter */
  VEC(EinNode *) nodes;      /* in an order in which they can be computed */
  Str turn;                  /* name of the counter */
  EinNode *bound;            /* rank-0 i64, outside: the most turns */
  const Expr *turns;         /* the same as a dims-only expression, if it is one, else NULL */
  EinNode *stop;             /* rank-0 bool, inside; tested at the end of a turn; or NULL */
  VEC(EinState) states;
  VEC(EinStack) stacks;
};

typedef struct EinOutput { Str name; EinNode *node; } EinOutput;
typedef struct EinAssert { EinNode *node; Str text; Place place; } EinAssert; /* node: rank-0 bool */

struct EinGraph {
  Arena *arena;
  Strings *strings;
  Exprs *exprs;
  Dims dims;                 /* in order of declaration; known ones are already replaced by constants */
  VEC(EinNode *) inputs;     /* EIN_INPUT, in order of declaration */
  VEC(EinOutput) outputs;
  VEC(EinAssert) asserts;
  DimChecks checks;
  Monoids monoids;
  EinRegion *top;
  uint32_t n_nodes;
  const TextLines *lines;    /* of a graph that was read: positions in its text; not part of the graph */
  Map sums;                  /* interned EinSums; private to graph.c */
};

/* A repeat of at most one turn that a pass made of the branch of a choice: its counter has a name that no user can
 * write. Whether the graph has any other repeat outside of repeats. */
#define GRAPH_ONCE "~once"
bool repeat_is_once(Str turn);
bool graph_repeats(const EinGraph *g);

/* What a repeat itself uses, one after the other: its bound, its states' first and next values, its stacks, and its
 * stop, if it has one. NULL: there are no more. */
EinNode *region_use(const EinRegion *r, uint32_t i);

EinGraph *graph_new(Arena *a, Strings *t, Exprs *p);

enum { /* limits of the text and the checker; elaboration stays below */
  GRAPH_DEPTH = 200,         /* nested repeats */
  GRAPH_LABELS = 4095,       /* labels of one vertex */
  GRAPH_OUT = 255,           /* output labels of one vertex, and dimensions of a tensor */
  GRAPH_RANK = 63            /* dimensions of a tensor made by elaboration */
};

/* ---- building: each function appends to the region and gives the node its id ---------------------
 * Shapes and bounds are put into normal form. An input's fallback, a state's init and a repeat's bound are operands,
 * so they are made first. A state's EinState is pushed just before the state is made (with node NULL) or just after;
 * its position is the state's index. */
/* Renumbers the slots of a draft into canonical order: by first occurrence, inner reads before the read that they
 * index, in body, where, domain. Equal reads (one node, one index list) become one slot, and unused slots are
 * dropped; a slot read with several index lists becomes several. Changes s->body, where, domain and n_slot, and
 * returns the inputs, one per slot. Call it before graph_sum. */
EinNode **graph_canonical_slots(EinGraph *g, EinSum *s, EinNode *const *input);
const EinSum *graph_sum(EinGraph *g, const EinSum *s);             /* interned; s is copied */
const Monoid *graph_monoid(EinGraph *g, const Monoid *m);          /* interned by all fields */
EinNode *graph_input(EinGraph *g, Str name, DType t, uint32_t rank, const Expr *const *dim, bool param);
const EinNode *graph_input_find(const EinGraph *g, Str name);      /* NULL: none */
/* The vertex, or the stack, whose label *axis names axis *axis of n: what a loop computes has the labels of what it
 * begins with, and an optional input those of its default. Sets *axis to that label's axis. */
const EinNode *graph_labelled(const EinNode *n, uint32_t *axis);
const EinOutput *graph_output_find(const EinGraph *g, Str name);
EinNode *graph_vertex(EinGraph *g, EinRegion *r, const EinSum *s, const Expr *const *bound, const Str *label,
                      /* merge NULL: all ones, rank n_out */
                      uint32_t rank, const uint8_t *merge, EinNode *const *input);
EinNode *graph_repeat(EinGraph *g, EinRegion *r, Str turn);        /* makes the region; the caller pushes states,
                                                                    * stacks etc. */
EinNode *graph_state(EinGraph *g, EinRegion *body, Str name, DType t, uint32_t rank, const Expr *const *dim);
/* FINAL, STACK, TURNS */
EinNode *graph_result(EinGraph *g, EinRegion *r, EinKind kind, EinNode *repeat, uint32_t index);

/* ---- text: read(print(g)) equals g in all fields --------------------------------------------- */
void graph_print(Buf *out, const EinGraph *g);
/* Returns NULL with complaints in d (code E9xx: the line and what was expected). The result is not checked yet. */
EinGraph *graph_read(Arena *a, Strings *t, Source *src, Diags *d);
bool graph_equal(const EinGraph *a, const EinGraph *b, Buf *why); /* the graphs may have different pools */

/* ---- the checker: every invariant stated above and in docs/languages-inside.md; changes nothing.
 * Writes a line for each broken invariant to `out`. Returns true if there is none. */
bool graph_check(const EinGraph *g, Buf *out);
/* The same for a graph that was read. Reports only first causes, at their positions in the text. */
bool graph_check_text(const EinGraph *g, Diags *d);
/* For a sound graph that was read: whether every index stays within its tensor. What ein itself makes passes. */
bool graph_check_ranges(const EinGraph *g, Diags *d);

/* The first vertex that combines an f32 input with f64 data; NULL: none. */
const EinNode *input_meets_f64(Arena *a, const EinGraph *g, const EinNode *input);

/* ---- pictures and data ----------------------------------------------------------------------- */
/* The content of a picture: boxes, a repeat's before those of its body, which end before `end`; and arrows from an
 * operand to its reader. */
typedef struct GraphBox { const EinNode *node; const char *text; uint32_t end; } GraphBox; /* node NULL: the name of an
                                                                                            * output */
/* dashed: at the end of a turn */
typedef struct GraphArrow { uint32_t from, to; const char *label; bool dashed; } GraphArrow;
typedef struct GraphPicture { VEC(GraphBox) boxes; VEC(GraphArrow) arrows; } GraphPicture;
GraphPicture *graph_picture(Arena *a, const EinGraph *g);
void graph_dot(Buf *out, const EinGraph *g);
void graph_json(Buf *out, const EinGraph *g);
/* Prints one vertex as an equation for people: "T[h,s,s'] = sum[d] QH[s,h,d] * KH[s',h,d]" */
void graph_equation(Buf *out, const EinNode *n);

#endif
