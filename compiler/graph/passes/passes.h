/* graph/passes/passes.h - what is done to an EinGraph before it is planned: each pass takes a graph and makes another one.
 *
 * The new graph lies in the arena given, shares the old one's strings and expressions, and the old one is left as it
 * was. Names and places are kept; inputs, outputs, asserts, checks and dims are the same, in the same order. What comes
 * out is sound (graph_check) and means the same: integers and bools to the bit, floats but for the rounding of
 * graph_contract and graph_separate, which alone change the order of float operations. An answer may be found where the old graph would have
 * stopped with an error in something that no answer needs; never the other way round.
 *
 * Each pass is linear in the vertices, but for logarithms; what is spent on one vertex, on proofs and on orders of contraction,
 * is bounded. docs/languages-inside.md tells what each does. */
#ifndef EIN_PASSES_H
#define EIN_PASSES_H

#include "graph/graph.h"

typedef struct PassNote {
  const char *pass;          /* its name, as in pass_info */
  const char *what;          /* what was done, in words: "states dropped" */
  uint32_t count;            /* so often, there */
  Place place;               /* of the vertex; several of one kind at one place are one note */
} PassNote;
typedef struct PassNotes { Arena *arena; VEC(PassNote) all; } PassNotes;

PassNotes pass_notes(Arena *a);
/* How often was this done: by one pass (NULL: any), of one kind (NULL: any). */
uint32_t pass_count(const PassNotes *n, const char *pass, const char *what);

/* ---- the passes; notes may be NULL ----------------------------------------------------------- */
/* Without what no output, assert or needed state needs: vertices, states, stacks, whole repeats. Inputs stay. */
EinGraph *graph_dead(Arena *a, const EinGraph *g, PassNotes *notes);
/* Of g, whose outputs of which `given` says so are known by now: these are inputs, and no outputs. What the other outputs and
 * the asserts do not need goes, inputs too. g is used up. */
EinGraph *graph_given(Arena *a, EinGraph *g, bool (*given)(void *ctx, Str output), void *ctx);
/* Reads of elements that data leave without a value ask first, so that from here on only an index can fail. */
EinGraph *graph_values(Arena *a, const EinGraph *g, PassNotes *notes);
/* Equal vertices (EinSum, inputs, bounds, merges) of a region and those around it become one: the first. */
EinGraph *graph_common(Arena *a, const EinGraph *g, PassNotes *notes);
/* Constants folded, laws applied, conditions that the extents decide decided, labels that an equation pins replaced. */
EinGraph *graph_simplify(Arena *a, const EinGraph *g, PassNotes *notes);
/* Labels that a vertex does not look at dropped, where only vertices read it. */
EinGraph *graph_narrow(Arena *a, const EinGraph *g, PassNotes *notes);
/* Products too wide for the next pass (labels, or factors) cut into steps of two factors, in an order that costs little. */
EinGraph *graph_wide(Arena *a, const EinGraph *g, PassNotes *notes);
/* g itself; or, where a vertex has more labels than loops would ever get through, what graph_wide makes of it. For those
 * who take a program as it is written: eval, and plans for many sites. */
EinGraph *graph_stepwise(Arena *a, EinGraph *g);
/* A vertex with more labels than tasks take, or NULL. */
const EinNode *graph_too_wide(const EinGraph *g);
/* Products under a reducer that distributes over them cut into steps of two operands, in the order that costs least. */
EinGraph *graph_contract(Arena *a, const EinGraph *g, PassNotes *notes);
/* The same, in orders that are estimated to move least on so many sites. */
EinGraph *graph_contract_on(Arena *a, const EinGraph *g, PassNotes *notes, int64_t sites);
/* Reductions in which the result's labels say one number that points are compared with, made of one that has a label for the number. */
EinGraph *graph_classes(Arena *a, const EinGraph *g, PassNotes *notes);
/* Reductions whose predicate parts into conditions about different labels made one label after another. */
EinGraph *graph_separate(Arena *a, const EinGraph *g, PassNotes *notes);
/* Bands, of which each result has as many points as the next one, counted from their low ends. */
EinGraph *graph_window(Arena *a, const EinGraph *g, PassNotes *notes);
/* For many sites, after the passes: further bands so, which keep a block's operands to what it reads. */
EinGraph *graph_bands(Arena *a, const EinGraph *g);

/* After the passes: float sums whose order changes no bit, so that neither a plan nor a schedule does. What is left in an order is said by */
EinGraph *graph_exact(Arena *a, const EinGraph *g, PassNotes *notes);
const EinNode *graph_inexact(const EinGraph *g); /*   this: a vertex whose reducer has no such form; NULL: there is none */

/* Gives vertices that have no name of their own one by what they compute, and each of several with one name another: in g itself. For plans, which
 * are kept in files. */
void graph_names(EinGraph *g);

/* ---- the column ------------------------------------------------------------------------------ */
typedef struct PassInfo {
  const char *name;
  EinGraph *(*run)(Arena *a, const EinGraph *g, PassNotes *notes);
} PassInfo;
enum { GRAPH_PASSES = 12 };
extern const PassInfo pass_info[GRAPH_PASSES]; /* in the order in which they run; a name may come twice */

typedef struct Optimise {
  PassNotes *notes;          /* or NULL */
  void (*after)(void *ctx, const char *pass, const EinGraph *g); /* called with each graph made; may be NULL */
  void *ctx;
  int64_t sites;             /* more than 1: products in orders that move little on so many */
} Optimise;
EinGraph *graph_optimise(Arena *a, const EinGraph *g, const Optimise *how); /* how NULL: silently */

#endif
