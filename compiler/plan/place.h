/* plan/place.h - where the parts of a tensor are: sites in a mesh, and placements on it (TRA paper, section 4, with more axes than one).
 *
 * The sites are the points of a mesh of a few axes. A placement says of each axis what moving along it does to a tensor: the next
 * block of a dimension is there (cut), the same is there again (all), or a further part of what is still to be reduced is there
 * (part). Where several axes cut one dimension, the first of them cuts it and the next cut its blocks. So every site
 * holds a box; of a dimension of extent b cut into d, block k is from floor(kb/d) to floor((k+1)b/d).
 *
 * text: one word an axis, the number of a dimension, `*` (all) or `+` (part): "0 * 1 +". */
#ifndef EIN_PLACE_H
#define EIN_PLACE_H

#include "../base/base.h"

enum { MESH_AXES = 31 };     /* the prime factors of a number of sites */

typedef struct Mesh { uint32_t n; uint32_t size[MESH_AXES]; } Mesh; /* each at least 1 */

enum { PLACE_ALL = -1, PLACE_PART = -2 };
typedef struct Placement { int8_t on[MESH_AXES]; } Placement; /* by axis: a dimension, PLACE_ALL, or PLACE_PART */

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

/* From one placement to another, neither with parts: each site gets what it is to hold and does not hold. Exact, by looking at every
 * site. */
double place_move(const Mesh *m, uint32_t rank, const int64_t *extent, const Placement *from, const Placement *to);
/* The same as a share of the tensor's elements, for extents that the counts divide. */
double place_share(const Mesh *m, const Placement *from, const Placement *to);
/* The parts of `from` are reduced: along each axis where it has parts, `to` is cut or has all; elsewhere the two are the same. */
double place_reduce(const Mesh *m, uint32_t rank, const int64_t *extent, const Placement *from, const Placement *to);

#endif
