/* base/guard.c - returns from a bug or lack of memory to a caller that must go on: a thread of another program. */
#include "guard.h"

#include <setjmp.h>
#include <stdio.h>

typedef struct Guard {
  struct Guard *outer;
  GuardLink arenas; /* the head of a ring; itself no arena */
  sigjmp_buf back; /* with the signal mask */
  char *why;
  size_t room;
} Guard;

static _Thread_local Guard *guard_now; /* NULL: none */

/* ---- the arenas ------------------------------------------------------------------------------ */

void guard_link(GuardLink *l, Arena *a) {
  if (!guard_now) return;
  GuardLink *ring = &guard_now->arenas;
  *l = (GuardLink){ring, ring->after, a};
  ring->after->before = l;
  ring->after = l;
}

void guard_unlink(GuardLink *l) {
  if (!l->before) return;
  l->before->after = l->after;
  l->after->before = l->before;
  *l = (GuardLink){0};
}

/* Frees the arenas, or passes them on to the outer guard. */
static void ring_end(GuardLink *ring, bool freed) {
  while (ring->after != ring) {
    GuardLink *l = ring->after;
    Arena *a = l->arena;
    guard_unlink(l);
    if (freed) arena_free(a);
    else guard_link(l, a);
  }
}

/* ---- going back ------------------------------------------------------------------------------ */

void guard_vleave(Went how, const char *fmt, va_list ap) {
  Guard *g = guard_now;
  if (!g) return;
  int n = how == WENT_BUG && bug_where ? snprintf(g->why, g->room, "in %s: ", bug_where) : 0;
  if (n >= 0 && (size_t)n < g->room) vsnprintf(g->why + n, g->room - (size_t)n, fmt, ap);
  siglongjmp(g->back, (int)how);
}

void guard_leave(Went how, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  guard_vleave(how, fmt, ap);
  va_end(ap);
}

Went guarded(void (*work)(void *env), void *env, bool frees, char *why, size_t room) {
  Guard g = {.outer = guard_now, .why = why, .room = room};
  const char *volatile where = bug_where;
  volatile Went went = WENT_WELL;
  g.arenas.before = g.arenas.after = &g.arenas;
  if (room) *why = 0;
  guard_now = &g;
  switch (sigsetjmp(g.back, 1)) {
  case 0: work(env); break;
  case WENT_BUG: went = WENT_BUG; break;
  default: went = WENT_NO_MEMORY; break;
  }
  guard_now = g.outer;
  bug_where = where;
  ring_end(&g.arenas, frees && went != WENT_WELL);
  return went;
}
