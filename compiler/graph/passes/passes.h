/* graph/passes/passes.h - passes on an EinGraph before it is planned. Each takes a graph and makes another one.
 *
 * The new graph lies in the given arena and shares the old one's strings and expressions; the old one does not
 * change. Names and places are kept; inputs, outputs, asserts, checks and dims are the same, in the same order. The
 * result is sound (graph_check) and means the same: integers and bools to the bit, floats except for the rounding of
 * graph_contract, graph_separate, graph_nested, graph_powers and graph_added, which alone change the order of float
 * operations. The new graph may find a result where the old one would have stopped with an error in something that no
 * result needs; never the other way round.
 *
 * Each pass is linear in the vertices, up to logarithms. The work on one vertex, on proofs and on contraction orders
 * is bounded. docs/languages-inside.md describes each pass. */
#ifndef EIN_PASSES_H
#define EIN_PASSES_H

#include "graph/graph.h"

typedef struct PassNote {
  const char *pass;          /* its name, as in pass_info */
  const char *what;          /* what was done, in words: "states dropped" */
  uint32_t count;            /* how often, there */
  Place place;               /* of the vertex; several notes of one kind at one place are merged */
} PassNote;
typedef struct PassNotes { Arena *arena; VEC(PassNote) all; } PassNotes;

PassNotes pass_notes(Arena *a);
/* How often this was done, by one pass (NULL: any), of one kind (NULL: any). */
uint32_t pass_count(const PassNotes *n, const char *pass, const char *what);

/* ---- the passes; notes may be NULL ----------------------------------------------------------- */
/* Removes what no output, assert or needed state needs: vertices, states, stacks, whole repeats. Inputs stay. */
EinGraph *graph_dead(Arena *a, const EinGraph *g, PassNotes *notes);
/* Turns the outputs that are known by now (`given` says which) into inputs. Removes what the other outputs and the
 * asserts do not need, including inputs. Uses up g. */
EinGraph *graph_given(Arena *a, EinGraph *g, bool (*given)(void *ctx, Str output), void *ctx);
/* Guards reads of elements that may have no value because of data, so that afterwards only an index can fail. */
EinGraph *graph_values(Arena *a, const EinGraph *g, PassNotes *notes);
/* Merges equal vertices (EinSum, inputs, bounds, merges) of a region and those around it into the first. */
EinGraph *graph_common(Arena *a, const EinGraph *g, PassNotes *notes);
/* Folds constants, applies laws, decides conditions from the extents, replaces labels that an equation fixes. */
EinGraph *graph_simplify(Arena *a, const EinGraph *g, PassNotes *notes);
/* Has sums of products with masks of zeros and ones visit only what the masks select, if that is much less; and
 * simplifies these. */
EinGraph *graph_masks(Arena *a, const EinGraph *g, PassNotes *notes);
/* Splits reductions over one range or another into one reduction per range, and simplifies these. */
EinGraph *graph_either(Arena *a, const EinGraph *g, PassNotes *notes);
/* Makes the parts of a vertex vertices of their own, if they are put together only to be taken apart again. */
EinGraph *graph_parts(Arena *a, const EinGraph *g, PassNotes *notes);
/* Drops labels on which a vertex does not depend, if only vertices read it. */
EinGraph *graph_narrow(Arena *a, const EinGraph *g, PassNotes *notes);
/* Makes only those results of a reduction that are picked from it. */
EinGraph *graph_picked(Arena *a, const EinGraph *g, PassNotes *notes);
/* Gives maps whose axes are groups of labels an axis for each label, if their readers go over whole groups. */
EinGraph *graph_flat(Arena *a, const EinGraph *g, PassNotes *notes);
/* Gives values that nobody sees the order of axes in which maps read them. */
EinGraph *graph_orders(Arena *a, const EinGraph *g, PassNotes *notes);
/* Has the readers of a vertex that copies another tensor, or lists the neighbours of its points, read that tensor, if
 * only vertices read the copy. */
EinGraph *graph_copies(Arena *a, const EinGraph *g, PassNotes *notes);
/* Has readers of a view of a tensor, such as a label taken apart, read that tensor. */
EinGraph *graph_views(Arena *a, const EinGraph *g, PassNotes *notes);
/* Sums over more than the points that data choose go in two steps: a product of each choice of a matrix, and their sum;
 * what belongs to a point, and then the points of a result. */
EinGraph *graph_chosen(Arena *a, const EinGraph *g, PassNotes *notes);
/* Makes the least place of a maximum or minimum an argmax or argmin. */
EinGraph *graph_places(Arena *a, const EinGraph *g, PassNotes *notes);
/* Makes a reduction of a reduction by the same reducer one, also of multiples of sums by numbers. */
EinGraph *graph_nested(Arena *a, const EinGraph *g, PassNotes *notes);
/* Writes out reductions of a few points over the exponents of powers or choices of tensors, and simplifies these. */
EinGraph *graph_powers(Arena *a, const EinGraph *g, PassNotes *notes);
/* Cuts products too wide for the next pass (labels, or factors) into steps of two factors, in a cheap order. */
EinGraph *graph_wide(Arena *a, const EinGraph *g, PassNotes *notes);
/* Returns g; or graph_wide of it if a vertex has more labels than loops would ever finish. For users of the program
 * as written: eval, and plans for many sites. */
EinGraph *graph_stepwise(Arena *a, EinGraph *g);
/* A vertex with more labels than tasks allow, or NULL. */
const EinNode *graph_too_wide(const EinGraph *g);
/* Cuts products under a reducer that distributes over them into steps of two operands, in the cheapest order. */
EinGraph *graph_contract(Arena *a, const EinGraph *g, PassNotes *notes);
/* The same, in orders that are estimated to move least on that many sites. */
EinGraph *graph_contract_on(Arena *a, const EinGraph *g, PassNotes *notes, int64_t sites);
/* Adds products up under one sum, whose parts are then reduced once on many sites: pass_added.c. Only if graphs are to
 * move little. */
EinGraph *graph_added(Arena *a, const EinGraph *g, PassNotes *notes);
/* The same on one site for sums of a few points that read around those of the result. */
EinGraph *graph_added_few(Arena *a, const EinGraph *g, PassNotes *notes);
/* Has maps compute what takes long, such as a root, once for each of the labels on which it depends. */
EinGraph *graph_hoist(Arena *a, const EinGraph *g, PassNotes *notes);
/* Computes functions of an integer that has few values, such as one of (k*n) % N or of i - j, once for each of them. */
EinGraph *graph_tables(Arena *a, const EinGraph *g, PassNotes *notes);
/* Makes points of a vertex that a label does not tell apart once, if only maps read it. */
EinGraph *graph_alike(Arena *a, const EinGraph *g, PassNotes *notes);
/* Has sums over a softmax of scores visit only those that are not -inf, if a look at the operands says that nothing
 * else would be NaN. */
EinGraph *graph_scores(Arena *a, const EinGraph *g, PassNotes *notes);
/* Makes what only one branch of a choice needs only where that branch is taken, if the condition has no labels. */
EinGraph *graph_branches(Arena *a, const EinGraph *g, PassNotes *notes);
/* Divides a reduction by the remainders of a label that its predicate asks for. */
EinGraph *graph_remainders(Arena *a, const EinGraph *g, PassNotes *notes);
/* Adds products of small integers up in 32 bits, if no sum of them can leave those. */
EinGraph *graph_integers(Arena *a, const EinGraph *g, PassNotes *notes);
/* Replaces reductions whose result labels only give a number to compare points with by one that has a label for the
 * number. */
EinGraph *graph_classes(Arena *a, const EinGraph *g, PassNotes *notes);
/* Splits reductions whose predicate separates into conditions on different labels into one reduction per label. */
EinGraph *graph_separate(Arena *a, const EinGraph *g, PassNotes *notes);
/* Counts by place what is counted by its distance from the result, as far as the tensor goes: a running sum. */
EinGraph *graph_lag(Arena *a, const EinGraph *g, PassNotes *notes);
/* Counts bands from their low ends, if all results have equally many points. */
EinGraph *graph_window(Arena *a, const EinGraph *g, PassNotes *notes);
/* Puts the axes of values between products in the order in which they are best made and read. */
EinGraph *graph_axes(Arena *a, const EinGraph *g, PassNotes *notes);
/* For many sites, after the passes: the same for further bands, so that a block's operands are only what it reads. */
EinGraph *graph_bands(Arena *a, const EinGraph *g);

/* After the passes: rewrites float sums so that their order changes no bit, and neither a plan nor a schedule changes
 * them. */
EinGraph *graph_exact(Arena *a, const EinGraph *g, PassNotes *notes);
const EinNode *graph_inexact(const EinGraph *g); /* a vertex that still depends on the order, because its reducer has
                                                  * no such form; NULL: none */

/* Names anonymous vertices by what they compute, and gives vertices with equal names different ones; changes g. For
 * plans, which are kept in files. */
void graph_names(EinGraph *g);

/* ---- the list of passes ------------------------------------------------------------------------- */
typedef struct PassInfo {
  const char *name;
  EinGraph *(*run)(Arena *a, const EinGraph *g, PassNotes *notes);
  bool one_site;             /* it is left out for many sites, whose blocks would be read in other cuts */
} PassInfo;
enum { GRAPH_PASSES = 35 };
extern const PassInfo pass_info[GRAPH_PASSES]; /* in the order in which they run; a name may occur twice */

typedef struct Optimise {
  PassNotes *notes;          /* or NULL */
  void (*after)(void *ctx, const char *pass, const EinGraph *g); /* called with each graph made; may be NULL */
  void *ctx;
  int64_t sites;             /* more than 1: contraction orders that move little on that many sites, and products
                              * under one sum */
  bool cut;                  /* the graph will be cut into blocks for many sites */
  bool device;               /* it will run on a device */
} Optimise;
EinGraph *graph_optimise(Arena *a, const EinGraph *g, const Optimise *how); /* how NULL: no notes */

#endif
