/* plan/placing/reach.h - what a site needs of a tensor if its index is not just one label per dimension: `i + k`,
 * `2*i`, `x // 2`, a label that is shorter than the dimension, one label twice, or merged labels that the maker cuts
 * separately.
 *
 * A block of the reader's labels needs a window of each dimension: from the least to the largest value of the index
 * in the block, clipped to the tensor. If no label that is cut moves the index, or data do, it needs the whole
 * dimension. Dimensions are those of the tensor that is read, including a stack's turns.
 *
 * An index `e % extent` wraps around. Its window lies in the unrolled dimension, where place j is place j % extent of
 * the tensor, if no window is longer than the dimension; else the whole dimension is needed. */
#ifndef EIN_PLAN_REACH_H
#define EIN_PLAN_REACH_H

#include "placing.h"
#include "plan/span.h"

enum { REACH_RANK = 256 };

/* Whether labels alone say what a read needs (placing_wanted); the other functions here handle the rest. */
bool reach_is_plain(const PlaceGraph *g, uint32_t vertex, uint32_t read);
/* Whether blocks of labels determine windows of a dimension: its index depends neither on data nor on anything
 * unknown. */
bool reach_is_told(
    const PlaceGraph *g, uint32_t vertex, uint32_t read, uint32_t dimension, const Mesh *m, const int8_t *on);
/* What a read brings of a dimension besides what its index needs. */
PartWide reach_wide(const PartRead *r, uint32_t dimension);
/* What the site at `at` has at home, and what it needs if axes cut the reader's labels as in `on`. wrap: by
 * dimension, its extent if it is unrolled, or 0. */
void reach_home(const PlaceGraph *g, const Mesh *m, uint32_t vertex, uint32_t read, const Placement *home,
    const uint32_t *at, int64_t *from, int64_t *to);
void reach_wanted(const PlaceGraph *g, const Mesh *m, uint32_t vertex, uint32_t read, const int8_t *on,
    const uint32_t *at, int64_t *from, int64_t *to, int64_t *wrap);
/* What all sites that share a place along the first `axes` axes need together. */
void reach_together(const PlaceGraph *g, const Mesh *m, uint32_t axes, uint32_t vertex, uint32_t read, const int8_t *on,
    const uint32_t *at, int64_t *from, int64_t *to, int64_t *wrap);
/* For a read at data. reach_ways: bytes per run if the whole table moves, and if sites request places. reach_asked:
 * the requested bytes that one site receives from the box from..to. */
void reach_ways(const PlaceGraph *g, const Mesh *m, uint32_t vertex, uint32_t read, const Placement *home,
    const int8_t *on, double *whole, double *asked);
double reach_asked(const PlaceGraph *g, const Mesh *m, uint32_t vertex, uint32_t read, const Placement *home,
    const int8_t *on, const uint32_t *at, int64_t *from, int64_t *to);
/* Bytes that sites receive for the read per run, site by site. At data, the smaller of the whole table and the
 * requested places. */
double reach_bytes(
    const PlaceGraph *g, const Mesh *m, uint32_t vertex, uint32_t read, const Placement *home, const int8_t *on);
/* The same as the TRA paper counts it: all that sites need, if one of them lacks something. */
double reach_elements(
    const PlaceGraph *g, const Mesh *m, uint32_t vertex, uint32_t read, const Placement *home, const int8_t *on);
/* For each home and each cut, cost[home * n_on + on], in bytes or as the paper counts. Looks at each site if homes
 * and cuts are few; otherwise it takes the windows' share as if blocks lay as they do without windows. */
void reach_costs(const PlaceGraph *g, const Mesh *m, uint32_t vertex, uint32_t read, uint32_t n_home,
    const Placement *const *home, uint32_t n_on, const Placement *const *on, bool paper, double *cost);
/* The same for both ways of a read at data, as in reach_ways. */
void reach_costs_ways(const PlaceGraph *g, const Mesh *m, uint32_t vertex, uint32_t read, uint32_t n_home,
    const Placement *const *home, uint32_t n_on, const Placement *const *on, double *whole, double *asked);
/* A lower bound of reach_costs for any axes with the counts of these, in any order. */
void reach_costs_least(const PlaceGraph *g, const Mesh *m, uint32_t vertex, uint32_t read, uint32_t n_home,
    const PlaceCounts *home, uint32_t n_on, const Placement *const *on, bool paper, double *cost);
/* Drops axes that cut labels on which the read does not depend: two equal cuts then need the same data. */
Placement reach_cut(const PlaceGraph *g, const Mesh *m, uint32_t vertex, uint32_t read, const int8_t *on);

#endif
