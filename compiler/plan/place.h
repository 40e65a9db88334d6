/* plan/place.h - where the parts of a tensor are: sites in a mesh, and placements on it (TRA paper, section 4, with
 * more than one axis).
 *
 * The sites are the points of a mesh with a few axes. For each axis, a placement says what a step along it does to a
 * tensor: it leads to the next block of a dimension (cut), to the same data (all), or to another partial result,
 * still to be reduced (part). If several axes cut one dimension, the first of them cuts it and each later one cuts
 * the blocks. So every site holds a box. If a dimension of extent b is cut into d blocks, block k goes from
 * floor(kb/d) to floor((k+1)b/d).
 *
 * On the way home a tensor can also be only at the first place of an axis.
 *
 * text: one word per axis, the number of a dimension, `*` (all), `+` (part) or `1st`: "0 * 1 +". */
#ifndef EIN_PLACE_H
#define EIN_PLACE_H

#include "base/base.h"

enum { MESH_AXES = 31 };     /* the most prime factors that a number of sites can have */

typedef struct Mesh { uint32_t n; uint32_t size[MESH_AXES]; } Mesh; /* each at least 1 */

/* FIRST: only sites at the first place along the axis hold it. INNER - d, of what is stored once: it cuts the blocks
 * into which home cuts dimension d, though it comes before an axis that does. */
enum { PLACE_ALL = -1, PLACE_PART = -2, PLACE_FIRST = -3, PLACE_INNER = -4 };
typedef struct Placement { int8_t on[MESH_AXES]; } Placement; /* by axis: a dimension, or one of these */

int64_t mesh_sites(const Mesh *m);
bool mesh_equal(const Mesh *a, const Mesh *b);
/* A mesh with an axis for each prime factor of sites, the largest first. */
Mesh mesh_of_primes(int64_t sites);
/* Returns the place of a site along each axis; the last axis runs fastest. */
void mesh_place(const Mesh *m, int64_t site, uint32_t *at);

void placement_print(Buf *out, const Mesh *m, const Placement *p);
bool placement_equal(const Mesh *m, const Placement *a, const Placement *b);
bool placement_whole(const Mesh *m, const Placement *p);  /* no axis has parts */
/* The number of blocks into which a dimension is cut. */
uint32_t placement_count(const Mesh *m, const Placement *p, int8_t dimension);
/* How many sites hold the same data (partial results count as the same). */
int64_t placement_copies(const Mesh *m, const Placement *p);
/* Finds the box that the site at `at` holds: from and to, by dimension. Returns its number of elements. */
int64_t placement_box(const Mesh *m, const Placement *p, uint32_t rank, const int64_t *extent, const uint32_t *at,
    int64_t *from, int64_t *to);

/* ---- moves: elements that sites receive, summed over sites ----------------------------------------------- */

/* Elements moved between two placements without parts: each site receives what it must hold and does not hold yet.
 * Exact, block by block. Only `from` may be at a first place. */
double place_move(const Mesh *m, uint32_t rank, const int64_t *extent, const Placement *from, const Placement *to);
/* The same as a fraction of the tensor's elements, for extents that the counts divide. */
double place_share(const Mesh *m, const Placement *from, const Placement *to);
/* A placement regardless of which axes cut what: the number of blocks by dimension, of parts, and of sites that hold
 * the same data. */
typedef struct PlaceCounts { const double *count; double parts, copies, blocks; } PlaceCounts;
PlaceCounts place_counts(Arena *a, const Mesh *m, uint32_t rank, const Placement *p);
/* A lower bound of place_share over all axes with these counts, in any order. If `from` has parts, it also bounds the
 * cost of reducing them and moving them there, through any placement between. An element of a part counts `part` (at
 * least 1). */
double place_share_least(double part, uint32_t rank, const PlaceCounts *from, const PlaceCounts *to);
/* Elements moved to reduce the parts of `from`. Along axes with parts, `to` is cut, has all, or is at the first
 * place; along other axes the two are equal. Each site receives the other sites' parts of what it must hold. */
double place_reduce(const Mesh *m, uint32_t rank, const int64_t *extent, const Placement *from, const Placement *to);
double place_reduce_share(const Mesh *m, const Placement *from, const Placement *to); /* as place_share */
/* Where the parts of `made` are reduced on the way to `home`. Along each axis with parts, the first possible choice:
 * the dimension that home cuts, if there is room (most: by dimension, the most blocks); a dimension with room that no
 * later axis cuts, so that a share lies within what the site made; the first place. */
Placement place_between(
    const Mesh *m, uint32_t rank, const int64_t *most, const Placement *made, const Placement *home);

/* How a tensor is stored once of which home has copies. Along each axis with copies it is cut further, in the
 * dimension with the most room (most: by dimension, the most blocks) of those that no later axis cuts at home, so
 * that what a site stores is at home there too. If some axis finds none, all of them cut the blocks at home instead
 * (PLACE_INNER), if that leaves fewer at the first place, where one is that still finds none. */
Placement place_stored(const Mesh *m, uint32_t rank, const int64_t *most, const Placement *home);
/* The dimension that an axis cuts inside the blocks at home; -1: none. */
static inline int32_t place_inner(int8_t on) { return on <= PLACE_INNER ? PLACE_INNER - on : -1; }
/* Into how many pieces that cuts each block along the dimension. */
uint32_t placement_inner(const Mesh *m, const Placement *p, uint32_t dimension);

/* ---- how moves go: runtime/sites/ein_move.c ------------------------------------------------------------------- */

/* Bytes of parts that arrive at once, unless a plan has less room for them. Of longer ones: the smallest slice, and
 * that where those of all groups would exceed the room; the most slices per group of parts, unless slices are larger
 * than MOVE_LONG, or those of all groups than the room. */
enum { MOVE_ROOM = 1 << 26, MOVE_SLICE = 1 << 16, MOVE_LEAST = 1 << 12, MOVE_SLICES = 4, MOVE_LONG = 1 << 22 };
/* The room for parts that a plan states; 0: it states none. */
static inline int64_t move_room(int64_t stated) { return stated ? stated : MOVE_ROOM; }
/* Into how many slices a part is divided, one per round. bytes: of a part, what a site combines; groups: of parts;
 * room: the bytes that may arrive at once, or 0. */
double move_slices(double bytes, double groups, int64_t room);
/* Long parts come in rounds. n: how many; longer: how many times as long as all at once, because in the first and last
 * rounds some groups send nothing. */
typedef struct MoveRounds { double n, longer; } MoveRounds;
MoveRounds move_rounds(double bytes, double groups, int64_t room);
/* Whether one site that sends all of so many bytes to the others of so many sites sends each a share, and they exchange
 * these. This needs a second exchange, and is done where it spares that site a megabyte. */
bool move_gives_shares(double bytes, double sites);

/* How many places in from..to-1 also lie in low..high-1. wrap: place j stands at j % wrap; 0: at j. */
int64_t wrap_shared(int64_t from, int64_t to, int64_t wrap, int64_t low, int64_t high);

#endif
