/* plan/place.h - where the parts of a tensor are: sites in a mesh, and placements on it (TRA paper, section 4, with more axes than one).
 *
 * The sites are the points of a mesh of a few axes. A placement says of each axis what moving along it does to a tensor: the next
 * block of a dimension is there (cut), the same is there again (all), or a further part of what is still to be reduced is there
 * (part). Where several axes cut one dimension, the first of them cuts it and the next cut its blocks. So every site
 * holds a box; of a dimension of extent b cut into d, block k is from floor(kb/d) to floor((k+1)b/d).
 *
 * On the way home a tensor can also be at the first place of an axis alone.
 *
 * text: one word an axis, the number of a dimension, `*` (all), `+` (part) or `1st`: "0 * 1 +". */
#ifndef EIN_PLACE_H
#define EIN_PLACE_H

#include "base/base.h"

enum { MESH_AXES = 31 };     /* the prime factors of a number of sites */

typedef struct Mesh { uint32_t n; uint32_t size[MESH_AXES]; } Mesh; /* each at least 1 */

enum { PLACE_ALL = -1, PLACE_PART = -2, PLACE_FIRST = -3 }; /* PLACE_FIRST: only sites at the first place along the axis have it */
typedef struct Placement { int8_t on[MESH_AXES]; } Placement; /* by axis: a dimension, or one of these */

int64_t mesh_sites(const Mesh *m);
/* A mesh with an axis for each prime factor of sites, the largest first. */
Mesh mesh_of_primes(int64_t sites);
/* Where a site is: its place along each axis; the last axis runs fastest. */
void mesh_place(const Mesh *m, int64_t site, uint32_t *at);

void placement_print(Buf *out, const Mesh *m, const Placement *p);
bool placement_equal(const Mesh *m, const Placement *a, const Placement *b);
/* Into how many blocks a dimension is cut. */
uint32_t placement_count(const Mesh *m, const Placement *p, int8_t dimension);
/* How many sites hold the same (parts of it apart). */
int64_t placement_copies(const Mesh *m, const Placement *p);
/* The box that the site at `at` holds: from, to by dimension. Gives its elements. */
int64_t placement_box(const Mesh *m, const Placement *p, uint32_t rank, const int64_t *extent, const uint32_t *at, int64_t *from, int64_t *to);

/* ---- what moves: elements that sites receive, added over sites ------------------------------------------ */

/* From one placement to another, neither with parts: each site gets what it is to hold and does not hold. Exact, by blocks. Only `from` may be
 * at a first place. */
double place_move(const Mesh *m, uint32_t rank, const int64_t *extent, const Placement *from, const Placement *to);
/* The same as a share of the tensor's elements, for extents that the counts divide. */
double place_share(const Mesh *m, const Placement *from, const Placement *to);
/* A placement, whichever axes do it: into how many blocks each dimension is cut, how many parts there are, how many sites hold the same. */
typedef struct PlaceCounts { const double *count; double parts, copies, blocks; } PlaceCounts;
PlaceCounts place_counts(Arena *a, const Mesh *m, uint32_t rank, const Placement *p);
/* For whichever axes have such counts, and in whatever order these cut a dimension, place_share is no less, nor, where `from` has parts of which an
 * element counts `part` (at least 1), what it takes to reduce and to bring them there, by whichever placement between. */
double place_share_least(double part, uint32_t rank, const PlaceCounts *from, const PlaceCounts *to);
/* The parts of `from` are reduced. Where it has them, `to` is cut (or has all) or is at the first place; elsewhere the two
 * are the same. Each site gets of all the sites of its group their parts of what it is to hold, but for what of its own
 * part that is. */
double place_reduce(const Mesh *m, uint32_t rank, const int64_t *extent, const Placement *from, const Placement *to);
double place_reduce_share(const Mesh *m, const Placement *from, const Placement *to); /* as place_share */
/* Where parts made in `made` are reduced on the way to `home`: along each axis that has parts, as home cuts it if there is room (most: by dimension,
 * how many blocks there may be); else a dimension with room that no later axis cuts, so that shares lie within what a site made;
 * else at the first place. */
Placement place_between(const Mesh *m, uint32_t rank, const int64_t *most, const Placement *made, const Placement *home);

/* How many of the places from `from` to below `to` are also between low and high. wrap: place j stands at j % wrap; 0: at j. */
int64_t wrap_shared(int64_t from, int64_t to, int64_t wrap, int64_t low, int64_t high);

#endif
