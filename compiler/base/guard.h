/* base/guard.h - which arenas were made under a guard: between arena.c and guard.c alone. */
#ifndef EIN_GUARD_H
#define EIN_GUARD_H

#include "base.h"

typedef struct GuardLink { struct GuardLink *before, *after; Arena *arena; } GuardLink; /* in a ring; before NULL: in none */
void guard_link(GuardLink *l, Arena *a);
void guard_unlink(GuardLink *l);

#endif
