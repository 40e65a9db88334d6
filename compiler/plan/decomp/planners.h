/* plan/decomp/planners.h - who chooses partition vectors, by the paper's cost (partition.h).
 *
 * All choose for each vertex one of the vectors given, which are the viable ones, less those that the user's pins rule out. */
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
  double bound;              /* nothing that can be chosen costs less; 0: nobody looked */
} PartChoice;

/* vectors: by vertex, none empty. budget: of additions, for those who search. False: this planner is not for this graph (said in
 * `why`). */
bool part_plan(Arena *a, const PartGraph *g, const PartVectors *vectors, Planner who, double budget, PartChoice *out, Buf *why);

/* ---- each by itself ---------------------------------------------------------------------------------- */
void plan_exact(Arena *a, const PartGraph *g, const PartVectors *vectors, double budget, PartChoice *out);
/* Section 8.4: the longest path of what has no vector yet is planned by itself, and so on; reads between paths are not looked at. */
void plan_linear(Arena *a, const PartGraph *g, const PartVectors *vectors, PartChoice *out);
/* By hand: labels have an order of preference, and each vertex takes the vector that cuts the first of them most. */
void plan_by_hand(Arena *a, const PartGraph *g, const PartVectors *vectors, Planner who, PartChoice *out);
/* By vertex, by label: it stands for what the rule is named for, and is not what comes next where there is none. */
const bool *const *plan_roles(Arena *a, const PartGraph *g, Planner who);

#endif
