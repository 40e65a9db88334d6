/* driver/plan/page/traffic.h - how much each site receives from each other site, for pictures of a plan by bytes.
 *
 * The plan says what each site needs; this decides from whom it comes. Data comes from the nearest site that has it:
 * the one whose number differs least, the lower of two. To reduce parts, each site of a group gets the parts of its
 * share from every other; if all need the result, the shares then go to all. Copies of an input are made the same
 * way: it is stored once, and each site has a share of what it must have copies of. So the sum over all pairs is what
 * the plan moves.
 *
 * Up to TRAFFIC_SITES sites, each is a class by itself; up to TRAFFIC_LOOKED, there are that many classes of sites
 * with consecutive numbers; above, nothing is computed. */
#ifndef EIN_PLAN_TRAFFIC_H
#define EIN_PLAN_TRAFFIC_H

#include "driver/plan/sites.h"

enum { TRAFFIC_SITES = 64, TRAFFIC_LOOKED = 1024 };

typedef struct Traffic {
  uint32_t n;                /* classes; 0: there are too many sites */
  uint32_t each;             /* sites per class; the last may have fewer */
  double *at;                /* bytes that `to` receives from `from`: at[to * n + from] */
  double most;               /* the largest entry */
} Traffic;

Traffic traffic_find(const Sites *p);

#endif
