/* tests/base/test_guard.c - a bug and lack of memory come back to the guard, with what they say; what was made in
 * between is freed, and nothing else is. That it is freed is what LeakSanitizer looks at. */
#include <stdint.h>

#include "base/base.h"
#include "tap.h"

static Arena *kept;

static bool frees = true;

static int tried(void (*work)(void *), void *env, char *why, size_t room) {
  return (int)guarded(work, env, frees, why, room);
}

static void work_well(void *env) {
  Arena *a = arena_new();
  *(int *)env = 7;
  arena_free(a);
  kept = arena_new();
}

static void work_bug(void *env) {
  (void)env;
  arena_alloc(arena_new(), 100000);
  arena_free(arena_new());
  bug_where = "a pass";
  bug("%d is not %d", 1, 2);
}

static void work_memory(void *env) {
  NEW(arena_new(), int);
  arena_alloc(env, SIZE_MAX);
}

static void work_kept(void *env) {
  work_well(&(int){0});
  (void)env;
  bug("after it was made");
}

/* The inner guard ends well; what is left of it goes with the outer one. */
static void work_nested(void *env) {
  char why[40];
  int x = 0, went;
  went = tried(work_well, &x, why, sizeof why);
  OK_INT(went, WENT_WELL, "the inner one goes well");
  went = tried(work_bug, NULL, why, sizeof why);
  OK_INT(went, WENT_BUG, "the next does not");
  arena_free(env); /* made outside */
  bug("after that");
}

int main(void) {
  char why[40], small[4];
  int x = 0, went;
  bug_where = "here";
  went = tried(work_well, &x, why, sizeof why);
  OK_INT(went, WENT_WELL, "it goes well");
  OK_INT(x, 7, "it is done");
  OK_STR(why, "", "without a bug there is no message");
  NEW(kept, int);
  arena_free(kept);
  went = tried(work_bug, NULL, why, sizeof why);
  OK_INT(went, WENT_BUG, "a bug comes back");
  OK_STR(why, "in a pass: 1 is not 2", "the message says where");
  OK_STR(bug_where, "here", "bug_where is restored");
  went = tried(work_bug, NULL, small, sizeof small);
  OK_INT(went, WENT_BUG, "with little room");
  OK_STR(small, "in ", "it says less");
  Arena *a = arena_new();
  went = tried(work_memory, a, why, sizeof why);
  OK_INT(went, WENT_NO_MEMORY, "lack of memory comes back");
  OK(strstr(why, "out of memory") != NULL, "the message says that memory is out");
  NEW(a, int); /* it is as it was */
  went = tried(work_nested, a, why, sizeof why);
  OK_INT(went, WENT_BUG, "a guard in a guard");
  frees = false;
  went = tried(work_kept, NULL, why, sizeof why);
  OK_INT(went, WENT_BUG, "a guard that frees nothing");
  NEW(kept, int);
  arena_free(kept);
  return DONE();
}
