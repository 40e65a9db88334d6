/* plan/seconds.h - how long a plan takes on a machine: its kernels, and moves between sites.
 *
 * The sites fill the machine's levels from the inside out: as many to a node as fit and divide their number, then as
 * many nodes to a rack, and so on. A mesh's last axis runs fastest, so its last axes stay inside the innermost level.
 *
 * A move goes as the emitted code sends it (runtime/sites/ein_move.c). Each site sends directly to each that needs
 * something of it, all at once: one latency, of the slowest level crossed, and the bytes into the part that receives
 * most, over that part's link. A part is a site, a node, or whatever the level consists of; each of its sites receives
 * by itself. The bytes cross all levels at once, so the slowest level counts. What comes in pieces is then read and
 * written once.
 *
 * Parts that are reduced come in rounds, each an exchange. If all sites of a group need the result, each reduces a
 * share and sends it to the others. An input is stored once, evenly cut if a dimension has room for that
 * (place_stored); else the first site along an axis sends it to the others, if it is large in shares.
 *
 * A block counts with the size of the largest. If cuts do not align, some site is assumed to have nothing of what it
 * needs yet. A vertex's kernels take its operations on the points of one block that predicates keep, at the site's
 * rate, or the time to read its operands and write its result at the memory's rate, whichever is longer. Nothing
 * overlaps except for panels (placing/panels.c): a plan takes the sum. */
#ifndef EIN_SECONDS_H
#define EIN_SECONDS_H

#include "machine.h"
#include "partition.h"
#include "place.h"

typedef struct Computing {     /* one point of a vertex */
  double operations;
  DType dtype;                 /* the dtype in which it is computed */
  MachineRate rate;
  double seconds;              /* seconds per point */
} Computing;

typedef struct Seconds {       /* a program on sites of a machine */
  const Machine *machine;
  int64_t sites;
  const int64_t *used;         /* by level: how many parts of one unit are used; 1 up to the sites' level */
  double memory;               /* bytes per second of a site */
  const Computing *computing;  /* by vertex */
} Seconds;

/* How many sites the machine has; INT64_MAX: more than that. */
int64_t machine_sites(const Machine *m);
/* Returns NULL and says why if there are too few sites, their number does not fill levels evenly, or the machine
 * lacks a figure that the program needs. */
Seconds *seconds_new(Arena *a, const PartGraph *g, const Machine *m, int64_t sites, Buf *why);
/* Finds the cost of a point of a sum with this result, whose reads have these dtypes. Returns false if the machine
 * lacks the rate for out->dtype. */
bool seconds_point(
    const Machine *m, const EinSum *s, DType result, uint32_t n, const DType *read, Computing *out);
/* Meshes whose axes each stay in one level. A level has an axis for each prime factor of its used parts; or there are
 * four axes in all (one per level if that is more). Within a level, the largest axis comes first, or all orders are
 * returned. Returns how many. */
uint32_t seconds_meshes(Arena *a, const Seconds *s, bool orders, const Mesh **out);

typedef struct Link {          /* between the parts of a level */
  const MachineLevel *level;
  uint32_t axes;               /* the first `axes` axes of the mesh lead from part to part, the others stay inside
                                * one */
  double latency, rate;        /* of a message; bytes per second into a part */
} Link;

typedef struct Links {         /* of the levels that a mesh crosses, the innermost first */
  const Mesh *mesh;
  uint32_t n;
  Link link[MESH_AXES];
  uint32_t by[MESH_AXES];      /* by axis: the outermost link that it crosses */
  double memory;               /* bytes per second of a site */
  int64_t room;                /* for parts that arrive at once; 0: MOVE_ROOM */
} Links;

/* For any mesh of that many sites. An axis that crosses the end of a part counts as leaving it and shares its link. */
Links seconds_links(const Seconds *s, const Mesh *mesh, int64_t room);

/* Seconds of a move between two placements without parts. size: bytes of an element. */
double links_move(
    const Links *l, uint32_t rank, const int64_t *extent, double size, const Placement *from, const Placement *to);
/* On links alone, of one of n panels of dimension d; then, of all panels, to put together what comes in pieces. A panel
 * lies at as few sites as possible: these send all of it, and the others get all of it. */
double links_panel(const Links *l, uint32_t rank, const int64_t *extent, double size, const Placement *from,
    const Placement *to, int32_t d, uint32_t n);
double links_together(
    const Links *l, uint32_t rank, const int64_t *extent, double size, const Placement *from, const Placement *to);
/* Seconds to reduce the parts of `from` to `to`, as in place_reduce. */
double links_reduce(
    const Links *l, uint32_t rank, const int64_t *extent, double size, const Placement *from, const Placement *to);
/* Seconds to copy data that is stored once, as place_stored says, to all places of `to`. */
double links_copies(const Links *l, uint32_t rank, const int64_t *extent, double size, const Placement *stored,
    const Placement *to);
/* Seconds of an exchange without bytes that crosses these links. */
double links_exchange(const Links *l, const bool *link);
/* Seconds of a fetch by which each site receives so many bytes through these links, from all others alike. */
enum { FETCH_ROUNDS = 3 };   /* how much each asks for, what it asks for, and the answers */
double links_fetch(const Links *l, const bool *link, double bytes);

/* Seconds of a vertex's kernels, once. count: the number of blocks, by label. */
double seconds_kernels(const Seconds *s, const PartVertex *v, uint32_t vertex, const uint32_t *count);

#endif
