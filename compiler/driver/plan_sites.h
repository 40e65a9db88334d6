/* driver/plan_sites.h - ein plan for many sites: how each tensor is cut, and what that moves. */
#ifndef EIN_PLAN_SITES_H
#define EIN_PLAN_SITES_H

#include "driver.h"

Leave sites_read(Session *s, const Args *a, int64_t *sites); /* -n; 1 where it is not said */
Leave plan_sites(Session *s, Args *a);

#endif
