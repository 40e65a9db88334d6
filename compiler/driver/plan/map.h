/* driver/plan/map.h - ein plan --map: which named strategy wins at which number of sites and which sizes. */
#ifndef EIN_PLAN_MAP_H
#define EIN_PLAN_MAP_H

#include "driver/driver.h"

Leave plan_map(Session *s, const Args *a);

#endif
