/* base/guard.h - which arenas were made under a guard; private to arena.c and guard.c. */
#ifndef EIN_GUARD_H
#define EIN_GUARD_H

#include "base.h"

/* in a ring; before NULL: in none */
typedef struct GuardLink { struct GuardLink *before, *after; Arena *arena; } GuardLink;
void guard_link(GuardLink *l, Arena *a);
void guard_unlink(GuardLink *l);

#endif
