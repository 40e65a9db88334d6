/* tests/task/test_overlap.c - moves that go on while kernels run: where they go, what that may cost, and what the
 * checker says of one that is in the way. */
#include "task/inside.h"
#include "task/task.h"
#include "text.h"
#include "sums.h"

TEXT_FORM("x.task", TaskGraph, task_read, task_print, task_equal, task_check)

#define HEAD                                                                                      \
  "taskgraph 1\nmesh 2\ndim at0\n"                                                                \
  "buffer %0 input 0 A[4] : i64 low [(4 * $at0)]\n"                                               \
  "buffer %1 input 1 W[4] : i64 low [(4 * $at0)]\n"                                               \
  "buffer %2 output 0 Y[8] : i64 low [0]\n"
#define NAMES "input A = %0\ninput W = %1\noutput Y = %2\n"
#define KERNEL(STEP, NAME, BODY, TO) \
  "kernel " STEP " " NAME " outer 0 {\n  stage " NAME "[i:8] : i64 = " BODY " to " TO "[i]\n}\n"

/* W is gathered where it is wanted. Beside the 128 bytes of inputs and output two rows of 8 are there at most, or with
 * c three, and 32 more. */
static const char tight[] =
    HEAD
    "buffer %3 work a[8] : i64 low [0] alive 0..1\n"
    "buffer %4 work b[8] : i64 alive 1..3\n"
    "buffer %5 work w[8] : i64 low [0] alive 2..3\n"
    NAMES
    "move 0 all_gather %0 at 0 to %3 at *\n"
    KERNEL("1", "b", "sum:i64[j:100000] (%3[i] + j)", "%4")
    "move 2 all_gather %1 at 0 to %5 at *\n"
    KERNEL("3", "Y", "(%4[i] * %5[i])", "%2");

static const char loose[] =
    HEAD
    "buffer %3 work a[8] : i64 low [0] alive 0..1\n"
    "buffer %4 work b[8] : i64 alive 1..4\n"
    "buffer %5 work w[8] : i64 low [0] alive 2..4\n"
    "buffer %6 work c[40] : i64 alive 3..4\n"
    NAMES
    "move 0 all_gather %0 at 0 to %3 at *\n"
    KERNEL("1", "b", "sum:i64[j:100000] (%3[i] + j)", "%4")
    "move 2 all_gather %1 at 0 to %5 at *\n"
    KERNEL("3", "c", "(%5[i] + 1)", "%6")
    KERNEL("4", "Y", "((%4[i] * %5[i]) + %6[i])", "%2");

/* The second goes up, and the first is awaited once it has begun. */
static const char loose_after[] =
    HEAD
    "buffer %3 work a[8] : i64 low [0] alive 0..2\n"
    "buffer %4 work b[8] : i64 alive 2..4\n"
    "buffer %5 work w[8] : i64 low [0] alive 1..4\n"
    "buffer %6 work c[40] : i64 alive 3..4\n"
    NAMES
    "move 0..1 all_gather %0 at 0 to %3 at *\n"
    "move 1..2 all_gather %1 at 0 to %5 at *\n"
    KERNEL("2", "b", "sum:i64[j:100000] (%3[i] + j)", "%4")
    KERNEL("3", "c", "(%5[i] + 1)", "%6")
    KERNEL("4", "Y", "((%4[i] * %5[i]) + %6[i])", "%2");

/* What is moved would be kept for too long: step 3 is the fullest. */
static const char kept[] =
    "taskgraph 1\nmesh 2\ndim at0\n"
    "buffer %0 output 0 Y[8] : i64 low [0]\n"
    "buffer %1 work s[4] : i64 low [(4 * $at0)] alive 0..1\n"
    "buffer %2 work t[8] : i64 low [0] alive 1..4\n"
    "buffer %3 work d[8] : i64 alive 2..3\n"
    "buffer %4 work e[8] : i64 alive 3..4\n"
    "output Y = %0\n"
    "kernel 0 s outer 0 {\n  stage s[i:4] : i64 = i to %1[i]\n}\n"
    "move 1 all_gather %1 at 0 to %2 at *\n"
    KERNEL("2", "d", "i", "%3")
    KERNEL("3", "e", "(%3[i] + i)", "%4")
    KERNEL("4", "Y", "(%2[i] * %4[i])", "%0");

/* What is made at step 1 moves while step 3 runs, and is kept as long; the repeat cannot be passed, for it changes what
 * moves behind it. */
static const char turns[] =
    "taskgraph 1\nmesh 2\ndim at0\n"
    "buffer %0 output 0 Y[8] : i64 low [0]\n"
    "buffer %1 work n[] : i64 alive 0..2\n"
    "buffer %2 work s[4] : i64 low [(4 * $at0)] alive 1..8\n"
    "buffer %3 work t[8] : i64 low [0] alive 3..5\n"
    "buffer %4 work b[8] : i64 alive 4..6\n"
    "output Y = %0\n"
    "kernel 0 n outer 0 {\n  stage n[] : i64 = 3 to %1[]\n}\n"
    "kernel 1 s outer 0 {\n  stage s[i:4] : i64 = i to %2[i]\n}\n"
    "repeat 2..7 t < %1 {\n"
    "  move 3 all_gather %2 at 0 to %3 at *\n"
    "  kernel 4 b outer 0 {\n    stage b[i:8] : i64 = sum:i64[j:100000] (i * j) to %4[i]\n  }\n"
    "  kernel 5 b outer 0 {\n    stage b[i:8] : i64 = (%3[i] + i) to %4[i]\n  }\n"
    "  kernel 6 s outer 0 {\n    stage s[i:4] : i64 = %4[i] to %2[i]\n  }\n"
    "}\n"
    "move 8 all_gather %2 at 0 to %0 at *\n";

/* ---- where moves go ------------------------------------------------------------------------------------------ */

static void check_made(const char *name, const char *text, const char *want, int64_t peak) {
  Arena *a = arena_new();
  uint32_t first[] = {0};
  Buf b = buf_new(a);
  TaskGraph *t = text_well(a, text);
  if (!OK(t && text_sound(a, t), "%s: sound before", name)) return;
  OK_INT(task_peak(t, first, false), peak, "%s: its peak", name);
  int64_t all = task_peak(t, first, true);
  task_overlap(t, 0);
  OK(text_sound(a, t) && text_back(t), "%s: and after", name);
  OK_INT(task_peak(t, first, false), peak, "%s: which stays", name);
  OK(task_peak(t, first, true) <= all, "%s: with what moves work in too", name);
  task_print(&b, t);
  OK_STR(b.s, want, "%s: where moves go", name);
  arena_free(a);
}

/* A move goes no further up than hides it. */
static void check_far(void) {
  Arena *a = arena_new();
  char *text = text_replaced(a, loose, "kernel 1 b outer 0 {\n",
      "kernel 1 d outer 0 {\n  stage d[i:8] : i64 = i to %7[i]\n}\nkernel 2 b outer 0 {\n");
  text = text_replaced(a, text, "buffer %6", "buffer %6 work c[40] : i64 alive 4..5\nbuffer %7");
  text = text_replaced(a, text, "%7 work c[40] : i64 alive 3..4", "%7 work d[8] : i64 alive 1..1");
  text = text_replaced(a, text, "alive 0..1", "alive 0..2");
  text = text_replaced(a, text, "alive 1..4", "alive 2..5");
  text = text_replaced(a, text, "alive 2..4", "alive 3..5");
  text = text_replaced(a, text, "move 2", "move 3");
  text = text_replaced(a, text, "kernel 4", "kernel 5");
  text = text_replaced(a, text, "kernel 3", "kernel 4");
  TaskGraph *t = text_well(a, text);
  if (!OK(t && text_sound(a, t), "one more small kernel")) return;
  task_overlap(t, 0);
  OK(t->tasks.at[1]->name && strcmp(t->tasks.at[1]->name->s, "d") == 0 && t->tasks.at[2]->kind == TASK_MOVE,
      "it is not passed: one is enough");
  arena_free(a);
}

/* ---- what is in the way ---------------------------------------------------------------------------------------- */

static const TextBreak breaks[] = {
    {"move 1..2", "move 1..3", "move 1: it goes on to step 3, and step 3 has to do with what it moves"},
    {"move 1..2", "move 1..9", "move 1: buffer %5 is used at step 9 and alive from 1 to 4"},
    {"move 1..2", "move 1..0", "move 1: it ends at step 0 and not 1"},
    {"move 1..2", "move 1.2", NULL},
    {"kernel 2 b", "kernel 2..3 b", NULL},
    {"(%3[i] + j)", "(%5[i] + j)", "move 1: it goes on to step 2, and step 2 has to do with what it moves"},
    {"w[8] : i64 low [0] alive 1..4", "w[8] : i64 low [0] alive 1..1",
        "buffer %5 is used at step 2 and alive from 1 to 1"},
};

/* What is moved may be read meanwhile, and not written. */
static void check_source(void) {
  Arena *a = arena_new();
  char *read = text_replaced(a, turns, "move 3 all", "move 3..4 all"),
       *write = text_replaced(a, turns, "move 3 all", "move 3..6 all");
  write = text_replaced(a, write, "alive 3..5", "alive 3..6");
  TaskGraph *t = text_well(a, read), *u = text_well(a, write);
  OK(t && text_sound(a, t), "a move while a kernel runs that has nothing to do with it");
  OK(u && text_reports(a, u, "move 3: it goes on to step 6, and step 6 has to do"),
      "a move while a kernel changes what it takes");
  arena_free(a);
}

int main(void) {
  Arena *a = arena_new();
  check_made("tight", tight, tight, 128 + 128);
  check_made("loose", loose, loose_after, 128 + 192 + 8 * 32);
  char *longer = text_replaced(a, text_replaced(a, kept, "alive 0..1", "alive 0..2"), "move 1", "move 1..2");
  check_made("kept", kept, longer, 64 + 192);
  check_made("turns", turns, text_replaced(a, turns, "move 3 all", "move 3..4 all"), 64 + 32 + 64 + 64);
  check_far();
  text_breaks(loose_after, COUNT(breaks), breaks);
  check_source();
  arena_free(a);
  return DONE();
}
