/* driver/plan/why.h - ein plan --why 'Q:h=8': the best plan that has these cuts, and where it loses to the plan.
 *
 * It is searched like the plan: on every mesh, with all pins, the plan file, and the memory limit. The difference is
 * reported by edge: a read of a tensor, or bringing one home; by seconds: operands, results and kernels. */
#ifndef EIN_PLAN_WHY_H
#define EIN_PLAN_WHY_H

#include "sites.h"

typedef enum { EDGE_READ, EDGE_OPERANDS, EDGE_HOME, EDGE_KERNELS } EdgeKind;

typedef struct WhyEdge {
  EdgeKind kind;
  uint32_t tensor;           /* the tensor read, whose operands these are, that is brought home, or that the kernels
                              * make */
  int32_t reader;            /* of a read: the vertex; else -1 */
  double more;               /* compared to the plan, in its cost; negative: less */
} WhyEdge;

typedef struct Why {
  const char *pin;           /* as given */
  const char *none;          /* why there is no such plan; NULL: there is */
  Placing *placing;
  VEC(WhyEdge) edges;        /* the edges that differ, the largest loss first */
} Why;

Leave whys_find(Sites *p, const Args *a);          /* for each --why, after the plan */
void why_text(const Sites *p, const Why *w, Buf *b); /* "45.0 kB a site, 1.14 times as much; ..." */
void whys_print(const Sites *p, Buf *b);
void whys_json(const Sites *p, Json *j);

#endif
