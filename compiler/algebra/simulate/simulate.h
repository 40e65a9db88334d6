/* algebra/simulate/simulate.h - how long a run of an Ia takes on the sites of a machine, without data: moves beside kernels, links that are shared.
 *
 * A site has one queue of kernels, in the program's order: each begins when its operands are at the site and the one before it is done. A
 * join takes its operations at the site's rate, or its operands and result at the rate of its memory if that is longer; blocks that a
 * filter behind it drops are not made. A concat or an aggregation of several arrays, and a cast, take memory's time for
 * what they read and write; tiles, rekeys, filters and merges take none, for they are views.
 *
 * A move is done by groups: sites that have to do with each other in it. A group begins when all its sites have its
 * operand, whatever their queues do: it waits one latency for each level that it crosses, then its bytes go over links. A
 * part of a level has a link each way to the others of its whole; a message crosses those of all parts that it leaves and
 * comes into. Messages go directly, not around a ring: each site sends and receives the same bytes so, and waits once.
 * What several sites of a part want of one block comes into it once, to one of them, which sends it on inside: so a
 * collective goes by levels, as in plan/seconds.h. But parts to be reduced each go their way: an Ia has no site that adds
 * for others. Groups that are on a link at a time have equal shares of it, and each goes as fast as the slowest of its
 * shares allows.
 *
 * A repeat begins when all before it in the queues is done and all sites are there. Up to three turns are simulated, and go on as the
 * last of them did. */
#ifndef EIN_ALGEBRA_SIMULATE_H
#define EIN_ALGEBRA_SIMULATE_H

#include "plan/seconds.h"
#include "algebra/algebra.h"

enum { SIM_SITES = 65536, SIM_BLOCKS = 1 << 23 }; /* at most, these of one tensor */

typedef struct SimStep {     /* of the chain on which the time hangs */
  const AlgNode *node;
  int64_t site, sites;       /* there; a move and a repeat: the first of so many */
  double begin, seconds;
} SimStep;

typedef struct SimLink {
  const MachineLevel *level; /* between its parts; NULL: nothing moved */
  int64_t part;
  bool in;                   /* into it, not out of it */
  double bytes, seconds;     /*   which these take if nothing else holds them up */
} SimLink;

typedef struct Simulated {
  double seconds;
  double idle;               /* share of all sites' time in which they compute nothing, */
  double waiting;            /*   and in which they meanwhile have a move under way */
  double kernels;            /* of the site that computes longest */
  double chain;              /* the longest chain of operations, with all links free */
  double sequence;           /* one operation after the other */
  double received;           /* bytes that sites receive, added over sites: as algebra_cost has them */
  uint32_t n_step;
  const SimStep *step;       /* in their order; they add up to all of it */
  SimLink busiest;
  bool turns_cut;            /* some repeat has more turns than were simulated, */
  bool turns_differ;         /*   and those that were did not take equally long, */
  bool turns_unknown;        /*   or nobody knows how many: one */
} Simulated;

/* NULL, with `why` for people: too many sites or blocks, or the machine does not say a figure. The machine's sites are those of the mesh. */
Simulated *simulate(Arena *a, const Algebra *ia, const Seconds *s, Buf *why);

#endif
