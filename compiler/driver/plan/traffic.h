/* driver/plan/traffic.h - which site receives how much from which other, for pictures of a plan by bytes.
 *
 * The plan says what each site is to have; from whom it comes is said here. What is moved comes from the nearest site that has
 * it: the one whose number differs least, of two the lower. Of parts that are to be reduced, each site of a group gets from each
 * other the parts of its share; where all are to have the result, the shares then go to all. An input's copies are made so too:
 * it is stored once, each site having a share of what it is to have copies of. So the sum over all pairs is what the plan moves.
 *
 * Up to TRAFFIC_SITES sites each stands for itself; up to TRAFFIC_LOOKED so many classes of sites with consecutive numbers; of
 * more there is nothing.
 */
#ifndef EIN_PLAN_TRAFFIC_H
#define EIN_PLAN_TRAFFIC_H

#include "sites.h"

enum { TRAFFIC_SITES = 64, TRAFFIC_LOOKED = 1024 };

typedef struct Traffic {
  uint32_t n;                /* classes; 0: there are too many sites */
  uint32_t each;             /* sites of one; the last may have fewer */
  double *at;                /* bytes that `to` receives from `from`: at[to * n + from] */
  double most;               /* the largest of them */
} Traffic;

Traffic traffic_find(const Sites *p);

#endif
