/* plan/placing/as_plan.h - conversion between a placing and a Plan. */
#ifndef EIN_PLACING_AS_PLAN_H
#define EIN_PLACING_AS_PLAN_H

#include "placing.h"
#include "plan/plan.h"

/* The whole placing: the mesh, the axes of every vertex, the home of every tensor. A state has idle axes: it lies at
 * its home. */
Plan *plan_of_placing(Arena *a, Strings *t, const PlaceGraph *g, int64_t sites, const Placing *p);
/* Adds the placing's panels to the plan. */
void plan_add_panels(Arena *a, Strings *t, const PlaceGraph *g, const Placing *p, Plan *out);
/* What the plan says about panels, by vertex; NULL: nothing, or there are complaints (E931). */
const PlacePanels *plan_panels(Arena *a, const PlaceGraph *g, const Plan *p, Diags *d);
/* What the plan says about mesh, axes and homes, which a search then keeps. Returns NULL with complaints
 * (E931): an unknown tensor, label or dimension, or one without room for its axes. */
PlaceFixed *plan_fixed(Arena *a, const PlaceGraph *g, const Plan *p, Diags *d);
/* The placing of a complete plan, with its bytes and no bound (0). Returns NULL with complaints as above, or if the
 * plan is incomplete. */
Placing *placing_from_plan(Arena *a, const PlaceGraph *g, const Plan *p, Diags *d);

#endif
