/* plan/placing/windows.h - how long windows of a tensor (reach.h) take to arrive, and the memory that they need
 * there.
 *
 * It counts as for plain moves (seconds.h). A part of a level needs the window of all the reader's labels that its
 * sites have together. In each dimension, the longest window of any part counts, and the most that any part lacks. An
 * axis along which all places need the same data is a gather. Along other axes, a site receives a message from each
 * other place that has something it needs: from two neighbours, for a halo. With many sites, a sample of places along
 * each axis stands for all. */
#ifndef EIN_PLAN_WINDOWS_H
#define EIN_PLAN_WINDOWS_H

#include "reach.h"

/* For each home and each cut (from reach_cut), at [home * n_on + on]: seconds, once, if l is not NULL; bytes of a
 * site if some site lacks something at home, else 0. Either array may be NULL. */
void windows_costs(const PlaceGraph *g, const Mesh *m, const Links *l, uint32_t vertex, uint32_t read, uint32_t n_home,
    const Placement *const *home, uint32_t n_on, const Placement *const *on, double *seconds, double *fetched);
/* The same for one read of a placing. */
double windows_seconds(const PlaceGraph *g, const Links *l, const Placing *p, uint32_t vertex, uint32_t read);
double windows_fetched(const PlaceGraph *g, const Placing *p, uint32_t vertex, uint32_t read);

#endif
