/* graph/grad/grad.h - the gradient of a scalar, as equations.
 *
 * In: a graph under construction, a vertex of rank 0 (the loss) and a tensor on which it depends. Out: vertices,
 * appended to the graph, that compute the derivative of the loss with respect to each element of the tensor. They are
 * ordinary vertices, so they are simplified, ordered, planned, and differentiated again. Reverse mode: from the loss
 * down, a vertex's adjoint is the sum of the contributions of the vertices that read it.
 *
 * The reference manual defines the value where a derivative does not exist: the slope of abs at 0 is 0; for max and
 * min, the first operand or element that attains the result gets all of the slope. Adjoints are selections, never
 * products with 0, so no 0 * inf becomes NaN. Nothing flows through indices, predicates, integers, random numbers and
 * what earlier turns left in a state: they are constants. */
#ifndef EIN_GRAD_H
#define EIN_GRAD_H

#include "graph/graph.h"

typedef struct Gradients Gradients; /* what was made so far, by loss and region; the next gradient of the same loss
                                     * reuses it */
enum { GRADIENT_KEEP = 1 << 30 };
/* keep: the bytes that the saved states of one repeat may take; 0: GRADIENT_KEEP. Where those of all turns take more,
 * turns run again. */
Gradients *gradients_new(Arena *a, EinGraph *g, int64_t keep);
/* The most bytes that the states saved for a repeat take though less would do; 0: all take the least. */
double gradients_lower(const Gradients *all);
/* Whether all states of a repeat are saved because its turns, or the sizes of its states, have no value yet. */
bool gradients_unsized(const Gradients *all);

typedef struct GradTrouble {
  const EinNode *at;         /* the vertex that has no derivative */
  const char *why;           /* the reason: "trigamma has no derivative here" */
  const char *hint;          /* what to write instead; NULL: nothing is known */
} GradTrouble;

/* Returns a vertex of by's shape and dtype in region r, where both can be read. If the loss does not depend on `by`,
 * it is 0 and *none is set. Returns NULL and fills *t if there is no derivative. Loss and `by` must be floats. */
EinNode *gradient(Gradients *all, EinRegion *r, EinNode *loss, EinNode *by, bool *none, GradTrouble *t);

/* A vertex with a stated adjoint: vertices in `region`, outside the program, compute its contribution to each
 * operand from its own adjoint, which `above` represents. They may read the program's tensors in the regions around. */
typedef struct GradRule {
  EinNode *result, *above;
  Str name;                  /* whose rule it is, for messages */
  uint32_t n;
  EinNode **by, **adjoint;   /* operand k, a vertex, and its contribution, of the same shape and dtype; adjoint NULL:
                              * none */
  EinRegion *region;
} GradRule;
void gradient_rule(Gradients *all, const GradRule *rule);
void gradient_rules_settle(Gradients *all); /* after all gradients: vertices that existed only for rules are dropped */

#endif
