/* plan/decomp/planners.h - planners that choose partition vectors by the paper's cost (partition.h).
 *
 * Each chooses for every vertex one of the given vectors: the viable ones that the user's pins allow. */
#ifndef EIN_PLANNERS_H
#define EIN_PLANNERS_H

#include "plan/partition.h"

typedef enum {
#define PLANNER(id, name, what) PLANNER_##id,
#include "planners.def"
  PLANNERS
} Planner;

typedef struct PlannerInfo { const char *name, *what; } PlannerInfo;
extern const PlannerInfo planner_info[PLANNERS];
bool planner_find(const char *name, Planner *out);

typedef struct PartChoice {
  const uint32_t **d;        /* by vertex, by label */
  PartCost cost;
  double bound;              /* a lower bound of the cost of any choice; 0: not computed */
} PartChoice;

/* vectors: by vertex, none empty. budget: additions that a search may do. Returns false and says why if this planner
 * cannot handle the graph. */
bool part_plan(
    Arena *a, const PartGraph *g, const PartVectors *vectors, Planner who, double budget, PartChoice *out, Buf *why);

/* ---- the planners -------------------------------------------------------------------------------------- */
void plan_exact(Arena *a, const PartGraph *g, const PartVectors *vectors, double budget, PartChoice *out);
/* Rules from practice: labels have an order of preference, and each vertex takes the vector that cuts the first of
 * them most. */
void plan_by_hand(Arena *a, const PartGraph *g, const PartVectors *vectors, Planner who, PartChoice *out);
/* By vertex, by label: whether the label has the role that the rule is named for (and is not just its fallback). */
const bool *const *plan_roles(Arena *a, const PartGraph *g, Planner who);

#endif
