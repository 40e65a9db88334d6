/* plan/seconds.h - how long a plan takes on a machine: its kernels, and what moves between sites.
 *
 * The sites fill the machine's levels from the inside out: as many to a node as it has room for and their number can be divided
 * by, then as many nodes to a rack, and so on. A mesh's last axis runs fastest, so its last axes stay inside of the innermost level.
 *
 * A move takes, for each level that it crosses, its messages, one after the other: steps x latency; and the bytes that come into the
 * part that receives most, over the link of a part; these go over all levels at once, so that the slowest of them counts. A part is a
 * site, a node, whatever the level is made of: what several sites of a node want, comes into it once. Steps are
 * log2 of the sites where all get, or reduce, the same, for what there is doubles at each step; and as many as there are other sites where
 * each sends each something of its own, which nobody can pass on for another.
 *
 * Blocks are as large as their largest, and where a cut crosses another, some site has nothing yet of what it is to have. A vertex's
 * kernels take its operations on the points of one block that predicates let through, at the site's rate, or its operands and result at the rate of its memory if that is longer.
 * Nothing happens at the same time: a plan takes the sum. */
#ifndef EIN_SECONDS_H
#define EIN_SECONDS_H

#include "machine.h"
#include "partition.h"
#include "place.h"

typedef struct Computing {     /* one point of a vertex */
  double operations;
  DType dtype;                 /* in which, and at which rate of the machine they are computed, */
  MachineRate rate;
  double seconds;              /*   so long */
} Computing;

typedef struct Seconds {       /* a program on sites of a machine */
  const Machine *machine;
  int64_t sites;
  const int64_t *used;         /* by level: so many parts of each one of it are used; 1 up to the sites' level */
  double memory;               /* bytes a second of a site */
  const Computing *computing;  /* by vertex */
} Seconds;

/* How many sites the machine has; INT64_MAX: more than that. */
int64_t machine_sites(const Machine *m);
/* NULL, with `why` for people, where there are too few sites, their number does not fill levels evenly, or the machine does not say a
 * figure that the program needs. */
Seconds *seconds_new(Arena *a, const PartGraph *g, const Machine *m, int64_t sites, Buf *why);
/* A point of a sum with this result, whose reads are of these dtypes. False: the machine does not say how fast that is, in out->dtype. */
bool seconds_point(Arena *a, const Machine *m, const EinSum *s, DType result, uint32_t n, const DType *read, Computing *out);
/* Meshes whose axes each stay in one level: an axis for each prime factor of what is used of it, or four axes in all (one a level
 * if those are more); those of a level the largest first, or in all orders. Gives how many. */
uint32_t seconds_meshes(Arena *a, const Seconds *s, bool orders, const Mesh **out);

typedef struct Link {          /* between the parts of a level */
  const MachineLevel *level;
  uint32_t axes;               /* the first so many axes of the mesh lead from part to part, the others stay inside of one */
  double latency, rate;        /* of a message; bytes a second that come into a part */
} Link;

typedef struct Links {         /* of the levels that a mesh crosses, the innermost first */
  const Mesh *mesh;
  uint32_t n;
  Link link[MESH_AXES];
  uint32_t by[MESH_AXES];      /* by axis: the widest that it crosses */
} Links;

/* Any mesh of so many sites: an axis that crosses the end of a part is taken to leave it, and shares its link. */
Links seconds_links(const Seconds *s, const Mesh *mesh);

/* size: bytes of an element. From one placement to another, neither with parts. */
double links_move(const Links *l, uint32_t rank, const int64_t *extent, double size, const Placement *from, const Placement *to);
/* The parts of `from` are reduced to `to`, as in place_reduce. */
double links_reduce(const Links *l, uint32_t rank, const int64_t *extent, double size, const Placement *from, const Placement *to);
/* What is stored once comes to all places that `to` says, each of its copies having an equal share of it before. */
double links_copies(const Links *l, uint32_t rank, const int64_t *extent, double size, const Placement *to);

/* A vertex's kernels, once; count: into how many blocks each label is cut. */
double seconds_kernels(const Seconds *s, const PartVertex *v, uint32_t vertex, const uint32_t *count);

#endif
