/* driver/plan/map.h - ein plan --map: which strategy with a name wins at how many sites, and at which sizes. */
#ifndef EIN_PLAN_MAP_H
#define EIN_PLAN_MAP_H

#include "driver/driver.h"

Leave plan_map(Session *s, const Args *a);

#endif
