/* driver/plan/why.h - ein plan --why 'Q:h=8': the best plan that has these cuts, and where it loses to the plan.
 *
 * It is looked for as the plan is: on every mesh, with all that pins and a plan's file say, and the limit of memory. What it moves more, and less,
 * is told by edge: a read of a tensor, or bringing one home; by seconds those of operands, results and kernels. */
#ifndef EIN_PLAN_WHY_H
#define EIN_PLAN_WHY_H

#include "sites.h"

typedef enum { EDGE_READ, EDGE_OPERANDS, EDGE_HOME, EDGE_KERNELS } EdgeKind;

typedef struct WhyEdge {
  EdgeKind kind;
  uint32_t tensor;           /* that is read, whose operands they are, which is brought home, or which the kernels make */
  int32_t reader;            /* of a read: the vertex; else -1 */
  double more;               /* than in the plan, in what the plan is to have least of; negative: less */
} WhyEdge;

typedef struct Why {
  const char *pin;           /* as said */
  const char *none;          /* why there is no such plan; NULL: */
  Placing *placing;
  VEC(WhyEdge) edges;        /* those that differ, the largest loss first */
} Why;

Leave whys_find(Sites *p, const Args *a);          /* for each --why, after the plan */
void why_text(const Sites *p, const Why *w, Buf *b); /* "45.0 kB a site, 1.14 times as much; ..." */
void whys_print(const Sites *p, Buf *b);
void whys_json(const Sites *p, Json *j);

#endif
