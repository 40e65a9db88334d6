/* plan/placing/as_plan.h - a placing as a Plan, and what a Plan says of one. */
#ifndef EIN_PLACING_AS_PLAN_H
#define EIN_PLACING_AS_PLAN_H

#include "placing.h"
#include "plan/plan.h"

/* All of it: the mesh, the axes of every vertex, the home of every tensor. A state has idle axes: it lies where its home is. */
Plan *plan_of_placing(Arena *a, Strings *t, const PlaceGraph *g, int64_t sites, const Placing *p);
/* What is done in panels, as lines of the plan. */
void plan_add_panels(Arena *a, Strings *t, const PlaceGraph *g, const Placing *p, Plan *out);
/* What the plan says of panels, by vertex; NULL: nothing, or there are complaints (E931). */
const PlacePanels *plan_panels(Arena *a, const PlaceGraph *g, const Plan *p, Diags *d);
/* What the plan says of mesh, axes and homes, for placing_search to keep to the letter. NULL with complaints (E931): a tensor, label or
 * dimension that is not there, or that has no room for its axes. */
PlaceFixed *plan_fixed(Arena *a, const PlaceGraph *g, const Plan *p, Diags *d);
/* The placing of a plan that says all of it, with its bytes and no bound (0); NULL with complaints: as above, or something is not
 * said. */
Placing *placing_from_plan(Arena *a, const PlaceGraph *g, const Plan *p, Diags *d);

#endif
