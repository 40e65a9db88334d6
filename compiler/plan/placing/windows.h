/* plan/placing/windows.h - how long windows of a tensor (reach.h) take to come where they are wanted, and what room they take there.
 *
 * It is counted as plain moves are (seconds.h). A part of a level wants the window of all that its sites have together of the reader's labels; in
 * each dimension the longest that any part wants counts, and the most that any lacks of its own. An axis whose places all want the same is a
 * gather; along another a site has a message of each other place of which it wants something: of two neighbours, for a halo.
 * On many sites some places along each axis stand for all. */
#ifndef EIN_PLAN_WINDOWS_H
#define EIN_PLAN_WINDOWS_H

#include "reach.h"

/* For each home and each cut (as reach_cut gives it), at [home * n_on + on]: seconds, once, where l is not NULL; bytes of a site where some site
 * has not all at home, else 0. Either may be NULL. */
void windows_costs(const PlaceGraph *g, const Mesh *m, const Links *l, uint32_t vertex, uint32_t read, uint32_t n_home, const Placement *const *home,
                   uint32_t n_on, const Placement *const *on, double *seconds, double *fetched);
/* Of one. */
double windows_seconds(const PlaceGraph *g, const Links *l, const Placing *p, uint32_t vertex, uint32_t read);
double windows_fetched(const PlaceGraph *g, const Placing *p, uint32_t vertex, uint32_t read);

#endif
