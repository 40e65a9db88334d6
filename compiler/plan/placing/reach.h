/* plan/placing/reach.h - what a site wants of a tensor that is not read just by a label each dimension: by `i + k`, `2*i`,
 * `x // 2`, by a label that is shorter than the dimension, by one label twice, or merged from labels that its maker cuts.
 *
 * A block of the reader's labels reaches a window of each dimension: from the least to the largest value of the index there, inside of
 * the tensor. Where no label that is cut moves the index, or data do, all of the dimension is wanted. Dimensions are those of what is read: a stack's
 * turns among them.
 *
 * An index `e % extent` wraps around: there the window is one of the dimension unrolled, of which place j is place j % extent of the tensor, if no
 * window is longer than the dimension; else all is wanted. */
#ifndef EIN_PLAN_REACH_H
#define EIN_PLAN_REACH_H

#include "placing.h"
#include "plan/span.h"

enum { REACH_RANK = 256 };

/* Whether what a read wants is told by its labels alone (placing_wanted); the rest is for others. */
bool reach_is_plain(const PlaceGraph *g, uint32_t vertex, uint32_t read);
/* Whether blocks of labels tell windows of a dimension: data do not move its index, nor what is not told of. */
bool reach_is_told(const PlaceGraph *g, uint32_t vertex, uint32_t read, uint32_t dimension, const Mesh *m, const int8_t *on);
/* What the site at `at` has at home, and what it wants where axes cut the reader's labels so; wrap: by dimension its
 * extent where it is unrolled, or 0. */
void reach_home(const PlaceGraph *g, const Mesh *m, uint32_t vertex, uint32_t read, const Placement *home, const uint32_t *at,
                int64_t *from, int64_t *to);
void reach_wanted(const PlaceGraph *g, const Mesh *m, uint32_t vertex, uint32_t read, const int8_t *on, const uint32_t *at, int64_t *from,
                  int64_t *to, int64_t *wrap);
/* What all sites want together that are at one place along the first so many axes. */
void reach_together(const PlaceGraph *g, const Mesh *m, uint32_t axes, uint32_t vertex, uint32_t read, const int8_t *on, const uint32_t *at,
                    int64_t *from, int64_t *to, int64_t *wrap);
/* Of a read at data, bytes in a run if all of it comes, and if sites ask for its places; of these, what comes to one site,
 * out of the box from..to. */
void reach_ways(const PlaceGraph *g, const Mesh *m, uint32_t vertex, uint32_t read, const Placement *home, const int8_t *on, double *whole,
                double *asked);
double reach_asked(const PlaceGraph *g, const Mesh *m, uint32_t vertex, uint32_t read, const Placement *home, const int8_t *on, const uint32_t *at,
                   int64_t *from, int64_t *to);
/* Bytes that sites receive for it in a run: site by site. At data, if all of it comes or if its places are asked for, whichever are fewer. */
double reach_bytes(const PlaceGraph *g, const Mesh *m, uint32_t vertex, uint32_t read, const Placement *home, const int8_t *on);
/* The same as the TRA paper counts it: all that sites want, where one of them lacks something. */
double reach_elements(const PlaceGraph *g, const Mesh *m, uint32_t vertex, uint32_t read, const Placement *home, const int8_t *on);
/* For each home and each cut, cost[home * n_on + on], in bytes or as the paper counts: the same where these are few enough to look at each
 * site; else windows' share as if blocks lay as they do without them. */
void reach_costs(const PlaceGraph *g, const Mesh *m, uint32_t vertex, uint32_t read, uint32_t n_home, const Placement *const *home, uint32_t n_on,
                 const Placement *const *on, bool paper, double *cost);
/* Axes that cut labels on which nothing hangs here are none: two cuts that are equal then want the same. */
Placement reach_cut(const PlaceGraph *g, const Mesh *m, uint32_t vertex, uint32_t read, const int8_t *on);

#endif
