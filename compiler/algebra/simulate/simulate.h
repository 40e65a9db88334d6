/* algebra/simulate/simulate.h - how long a run of an Ia takes on the sites of a machine, without data. Moves overlap
 * kernels, and share links.
 *
 * A site has one queue of kernels, in the program's order. Each begins when its operands are at the site and the
 * previous one is done. A join takes its operations at the site's rate, or the time to read its operands and write
 * its result at the rate of its memory if that is longer; blocks that the next filter drops are not made. A concat or
 * an aggregation of several arrays, and a cast, take the memory's time for what they read and write; parts that were
 * moved are also packed, and added one by one. Tiles, rekeys,
 * filters and merges take none, because they are views.
 *
 * A move runs in groups of sites that exchange data, as the emitted code does (runtime/sites/ein_move.c). A group
 * begins when all sites of the move have its operand, and what tasks make before it (`after`). It waits one latency,
 * of the slowest level that it crosses; then its bytes go over links. A part of a level has a link each way to the
 * other parts of its whole. A message crosses the links of all parts that it leaves and enters. Messages go directly:
 * each site that needs a block gets it from one that has it. Long parts come in rounds, each an exchange; what all
 * get of parts, and much that one site has, goes in shares. Groups that use a link at the same time get equal shares
 * of it, and each is as fast as its slowest share.
 *
 * What is in panels is done panel by panel, as in its tasks: a kernel begins with its first panel's operands, and each
 * panel takes an equal share of its time. Each panel of a move is an exchange, or its rounds are; if only some sites
 * send or receive in a panel, the others' links are idle meanwhile.
 *
 * A repeat begins when everything before it in the queues is done and all sites are there. Up to three turns are
 * simulated; the others count like the last of these. */
#ifndef EIN_ALGEBRA_SIMULATE_H
#define EIN_ALGEBRA_SIMULATE_H

#include "plan/seconds.h"
#include "algebra/algebra.h"

enum { SIM_SITES = 65536, SIM_BLOCKS = 1 << 23 }; /* at most; blocks are those of one tensor */

typedef struct SimStep {     /* of the critical path */
  const AlgNode *node;
  int64_t site, sites;       /* for a move and a repeat: `site` is the first of `sites` */
  uint32_t panel, panels;    /* if it is one of several panels */
  double begin, seconds;
} SimStep;

typedef struct SimLink {
  const MachineLevel *level; /* between its parts; NULL: nothing moved */
  int64_t part;
  bool in;                   /* into the part, not out of it */
  double bytes, seconds;     /* the time of these bytes if nothing else delays them */
} SimLink;

typedef struct Simulated {
  double seconds;
  double idle;               /* fraction of all sites' time in which they compute nothing */
  double waiting;            /* fraction in which they compute nothing and a move is under way */
  double kernels;            /* of the site that computes longest */
  double chain;              /* the longest chain of operations, with all links free */
  double sequence;           /* one operation after the other */
  double received;           /* bytes that sites receive, summed over sites: as in algebra_cost */
  uint32_t n_step;
  const SimStep *step;       /* in order; their times add up to `seconds` */
  SimLink busiest;
  bool turns_cut;            /* some repeat has more turns than were simulated */
  bool turns_differ;         /* and the simulated turns did not take equally long */
  bool turns_unknown;        /* or its number of turns is unknown: one counts */
} Simulated;

/* tasks: by node id, how tasks do it: what moves wait for, which would not wait for themselves, and panels. NULL: moves
 * begin as soon as they can, and all is done at once. Returns NULL and says why, for people, if there are too many
 * sites or blocks, or the machine lacks a figure. The machine must have the sites of the mesh. */
Simulated *simulate(Arena *a, const Algebra *ia, const Seconds *s, const AlgTasks *tasks, Buf *why);

#endif
