/* tests/task/test_from_ia.c - joins whose operands are wanted, on their way to tasks: where these have holes it is said
 * that this cannot be; else it changes nothing. */
#include "task/sites/from_ia.h"
#include "tap.h"

#define HEAD                                           \
  "ia 1\nmesh 4\n"                                      \
  "input %0 X {i:4} [8/i] : i64 at 0\n"                 \
  "filter %1 {i:4} [8/i] : i64 holes at 0 of %0 keep (i < 4)\n"
#define TAIL "output Y [8] = %2\n"

/* The tasks of a sound program, or why there are none. */
static const char *tasks_of(Arena *a, const char *text, bool *made) {
  Diags *d = diags_new(a);
  Buf out = buf_new(a);
  Algebra *p = algebra_read(a, strings_new(a), source_new(a, "x.ia", text, strlen(text)), d);
  diags_text(d, &out, false);
  bool sound = p && algebra_check(p, &out);
  if (!OK(sound, "it reads, and is sound")) tap_text("complaints", out.s);
  TaskGraph *t = sound ? task_from_ia(a, p, &out) : NULL;
  *made = t;
  if (t) task_print(&out, t);
  return out.s;
}

int main(void) {
  Arena *a = arena_new();
  bool made[3];
  const char *holes =
      tasks_of(a, HEAD "join %2 {i:4} [a:8/i] : i64 at 0 of %1{i} wanted = (&0[a] + 1)\n" TAIL, &made[0]);
  OK(!made[0], "what is wanted has holes");
  OK_STR(holes, "%2 : it is made only where an operand with holes has tuples", "holes are said in the text");
  const char *all = tasks_of(a, HEAD "join %2 {i:4} [a:8/i] : i64 at 0 of %0{i} wanted = (&0[a] + 1)\n" TAIL, &made[1]);
  const char *plain = tasks_of(a, HEAD "join %2 {i:4} [a:8/i] : i64 at 0 of %0{i} = (&0[a] + 1)\n" TAIL, &made[2]);
  OK(made[1] && made[2], "what is wanted is all there");
  OK_STR(all, plain, "it makes no other tasks");
  arena_free(a);
  return DONE();
}
