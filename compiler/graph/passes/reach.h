/* graph/passes/reach.h - internals of the passes: about how many points a reduction has for each result. */
#ifndef EIN_REACH_H
#define EIN_REACH_H

#include "rebuild.h"

/* About how many points the vertex reduces for each of its results: a point if an equation determines it, the width of
 * a band, and 1 for a running reduction, whose result comes from that before it. A condition that no loop can use
 * leaves all points. */
double reach_points(Arena *scratch, Exprs *p, const EinSum *s, const Expr *const *bound);
/* Whether a loop over the label begins or ends where the condition says. */
bool reach_ends(Exprs *p, const EinSum *s, const Expr *const *bound, const Expr *e, uint32_t label);
/* Whether it compares the label with something else, on one side alone. */
bool compares_label(const Expr *e, const Expr *label);

#endif
