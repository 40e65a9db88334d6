/* graph/grad/grad.h - the gradient of a scalar, as equations.
 *
 * In: a graph in the making, a vertex of rank 0 (the loss) and a tensor that it hangs on. Out: vertices that compute the derivative of
 * the loss by each element of that tensor, appended to the graph; they are like any others, so they are simplified, ordered, planned,
 * and differentiated again. Reverse mode: from the loss down, each vertex' adjoint is the sum of what the vertices that read it leave.
 *
 * What stands where a derivative does not exist is said in the reference: the slope of abs at 0 is 0; of max and min, the first operand's
 * or element's that attains it has it all. Adjoints are selections, never products with 0, so no 0 * inf becomes NaN. Data decides
 * nothing here: indices, predicates, integers, random numbers and what earlier turns left in a state are constants. */
#ifndef EIN_GRAD_H
#define EIN_GRAD_H

#include "graph/graph.h"

typedef struct Gradients Gradients; /* what was made so far, by loss and region: the next gradient of that loss goes on from there */
Gradients *gradients_new(Arena *a, EinGraph *g);

typedef struct GradTrouble {
  const EinNode *at;         /* the vertex that has no derivative, and */
  const char *why;           /*   why: "lgamma has no derivative here" */
} GradTrouble;

/* A vertex of by's shape and dtype in region r, where both can be read; or, where the loss does not depend on `by`, one that is 0 and *none.
 * NULL: there is trouble. Loss and `by` are floats. */
EinNode *gradient(Gradients *all, EinRegion *r, EinNode *loss, EinNode *by, bool *none, GradTrouble *t);

/* Of a vertex whose adjoint is stated: vertices apart from the program, `region`, that compute what it leaves to each operand from its own
 * adjoint, for which `above` stands in. They may read what the program has in the regions around. */
typedef struct GradRule {
  EinNode *result, *above;
  Str name;                  /* whose it is, for messages */
  uint32_t n;
  EinNode **by, **adjoint;   /* operand k, a vertex, and what is left to it, of its shape and dtype; adjoint NULL: nothing */
  EinRegion *region;
} GradRule;
void gradient_rule(Gradients *all, const GradRule *rule);
void gradient_rules_settle(Gradients *all); /* once all gradients are there: what was a vertex for the sake of rules alone is none any more */

#endif
