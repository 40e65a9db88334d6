/* tests/task/test_reuse.c - what is made element by element of a buffer that nobody wants after it lies there; and
 * where it does not. */
#include "task/inside.h"
#include "task/task.h"
#include "text.h"
#include "sums.h"

TEXT_FORM("x.task", TaskGraph, task_read, task_print, task_equal, task_check)

#define HEAD                                                                                      \
  "taskgraph 1\nmesh 2\ndim at0\n"                                                                \
  "buffer %0 input 0 A[2, 8] : f32 low [(2 * $at0), 0]\n"                                         \
  "buffer %1 output 0 Y[2] : f32 low [(2 * $at0)]\n"
#define NAMES "input A = %0\noutput Y = %1\n"

/* A softmax whose first steps are done: the exponentials are kept for two sums. */
static const char before[] =
    HEAD
    "buffer %2 work x[2, 8] : f32 low [(2 * $at0), 0] alive 0..1\n"
    "buffer %3 work e[2, 8] : f32 low [(2 * $at0), 0] alive 1..2\n"
    "buffer %4 work s[2] : f32 low [(2 * $at0)] alive 1..2\n"
    "buffer %5 work t[2, 8] : f32 low [(2 * $at0), 0] alive 2..3\n"
    NAMES
    "kernel 0 x outer 0 {\n  stage x[i:2, j:8] : f32 = (%0[i, j] * 2.0:f32) to %2[i, j]\n}\n"
    "kernel 1 s outer 1 {\n  stage e[i:2, j:8] : f32 = exp(%2[i, j]) to %3[i, j]\n"
    "  stage s[i:2] : f32 = sum:f32[j:8] &0[i, j] to %4[i]\n}\n"
    "kernel 2 t outer 0 {\n  stage t[i:2, j:8] : f32 = (%3[i, j] / %4[i]) to %5[i, j]\n}\n"
    "kernel 3 Y outer 0 {\n  stage Y[i:2] : f32 = sum:f32[j:8] (%5[i, j] * f32(j)) to %1[i]\n}\n";

static const char after[] =
    HEAD
    "buffer %2 work x[2, 8] : f32 low [(2 * $at0), 0] alive 0..3\n"
    "buffer %3 work s[2] : f32 low [(2 * $at0)] alive 1..2\n"
    NAMES
    "kernel 0 x outer 0 {\n  stage x[i:2, j:8] : f32 = (%0[i, j] * 2.0:f32) to %2[i, j]\n}\n"
    "kernel 1 s outer 1 {\n  stage e[i:2, j:8] : f32 = exp(%2[i, j]) to %2[i, j]\n"
    "  stage s[i:2] : f32 = sum:f32[j:8] &0[i, j] to %3[i]\n}\n"
    "kernel 2 t outer 0 {\n  stage t[i:2, j:8] : f32 = (%2[i, j] / %3[i]) to %2[i, j]\n}\n"
    "kernel 3 Y outer 0 {\n  stage Y[i:2] : f32 = sum:f32[j:8] (%2[i, j] * f32(j)) to %1[i]\n}\n";

static TaskGraph *made(Arena *a, const char *name, const char *text) {
  TaskGraph *t = text_well(a, text);
  if (!OK(t && text_sound(a, t), "%s: sound before", name)) return NULL;
  task_reuse(t);
  task_lifetimes(t);
  OK(text_sound(a, t) && text_back(t), "%s: and after", name);
  return t;
}

static void check_after(void) {
  Arena *a = arena_new();
  uint32_t first[] = {0};
  Buf b = buf_new(a);
  TaskGraph *t = made(a, "softmax", before);
  if (!t) return;
  task_print(&b, t);
  OK_STR(b.s, after, "softmax: one buffer for scores, exponentials and weights");
  OK_INT(task_peak(t, first, false), 64 + 8 + 64 + 8, "softmax: what a site has at most");
  arena_free(a);
}

/* How many buffers are left of six if `was` is `now`. */
typedef struct Change { const char *name, *was, *now; uint32_t left; } Change;

static const Change changes[] = {
    {"wanted later", "(%5[i, j] * f32(j))", "(%5[i, j] * %2[i, j])", 5},
    {"read elsewhere", "exp(%2[i, j])", "exp(%2[(1 - i), j])", 5},
    {"read twice, elsewhere too", "exp(%2[i, j])", "exp((%2[i, j] + %2[(1 - i), j]))", 5},
    {"read by another stage", "&0[i, j] to", "(&0[i, j] * %2[i, (7 - j)]) to", 5},
    {"of another box", "x[2, 8] : f32 low [(2 * $at0), 0]", "x[2, 8] : f32 low [(2 * $at0), 1]", 5},
    {"of a tensor that is none's", "x[2, 8] : f32 low [(2 * $at0), 0]", "x[2, 8] : f32", 5},
    {"reduced", "stage t[i:2, j:8] : f32 = (%3[i, j] / %4[i])",
        "stage t[i:2, j:8] : f32 = sum:f32[k:3] ((%3[i, j] / %4[i]) * f32(k))", 5},
    {"of two that could do, one", "exp(%2[i, j])", "exp((%2[i, j] + %0[i, j]))", 4},
};

static void check_changes(void) {
  for (size_t i = 0; i < COUNT(changes); i++) {
    const Change *c = &changes[i];
    Arena *a = arena_new();
    char *text = text_replaced(a, before, c->was, c->now);
    if (i == 0) text = text_replaced(a, text, "alive 0..1", "alive 0..3");
    TaskGraph *t = made(a, c->name, text);
    if (t) OK_INT(t->buffers.len, c->left, "%s: so many buffers", c->name);
    arena_free(a);
  }
}

/* What was there before a repeat is there in its next turn too. */
static void check_turns(void) {
  static const char turns[] =
      HEAD
      "buffer %2 work n[] : i64 alive 0..2\n"
      "buffer %3 work x[2, 8] : f32 low [(2 * $at0), 0] alive 1..5\n"
      "buffer %4 work e[2, 8] : f32 low [(2 * $at0), 0] alive 3..4\n"
      NAMES
      "kernel 0 n outer 0 {\n  stage n[] : i64 = 3 to %2[]\n}\n"
      "kernel 1 x outer 0 {\n  stage x[i:2, j:8] : f32 = (%0[i, j] * 2.0:f32) to %3[i, j]\n}\n"
      "repeat 2..5 t < %2 {\n"
      "  kernel 3 e outer 0 {\n    stage e[i:2, j:8] : f32 = exp(%3[i, j]) to %4[i, j]\n  }\n"
      "  kernel 4 Y outer 0 {\n    stage Y[i:2] : f32 = sum:f32[j:8] %4[i, j] to %1[i]\n  }\n"
      "}\n";
  Arena *a = arena_new();
  TaskGraph *t = made(a, "turns", turns);
  if (t) OK_INT(t->buffers.len, 5, "turns: all buffers");
  arena_free(a);
}

/* A sum arrives by a move, and an output is made of it element by element: it arrives in the output. How many buffers
 * are left of five, by what is done after the move. */
#define SUMMED(n, a, s)                                                                       \
  "taskgraph 1\nmesh 2\ndim at0\n"                                                           \
  "buffer %0 input 0 A[2, 8] : f32 low [(2 * $at0), 0]\n"                                     \
  "buffer %1 output 0 Y[2, 8] : f32 low [(2 * $at0), 0]\n"                                    \
  "buffer %2 work n[] : i64 alive 0.." n "\nbuffer %3 work a[4, 8] : f32 low [0, 0] alive 1.." a "\n" \
  "buffer %4 work s[2, 8] : f32 low [(2 * $at0), 0] alive 2.." s "\n" NAMES                     \
  "kernel 0 n outer 0 {\n  stage n[] : i64 = 3 to %2[]\n}\n"                                  \
  "kernel 1 a outer 0 {\n  stage a[i:4, j:8] : f32 = f32(((i + j) + %2[])) to %3[i, j]\n}\n"  \
  "move 2 reduce_scatter %3 at + to %4 at 0 by sum:f32 named s\n"
#define STAGE(name, value, to) "stage " name "[i:2, j:8] : f32 = " value " to " to "[i, j]\n"
#define KERNEL(step, name, value, to) "kernel " step " " name " outer 0 {\n  " STAGE(name, value, to) "}\n"
#define ADDED "(%0[i, j] + %4[i, j])"
#define ABOVE "max(%4[i, j], 0.0:f32)"

static const struct { const char *name, *text; uint32_t left; } outputs[] = {
    {"an output", SUMMED("1", "2", "3") KERNEL("3", "Y", ABOVE, "%1"), 4},
    {"read before", SUMMED("1", "3", "4") KERNEL("3", "Y", ADDED, "%3") KERNEL("4", "Y", ABOVE, "%1"), 4},
    {"read at another place", SUMMED("1", "2", "3") KERNEL("3", "Y", "%4[(1 - i), j]", "%1"), 5},
    {"of an input", SUMMED("1", "2", "3") KERNEL("3", "Y", "%0[i, j]", "%1"), 5},
    {"moved on",
        SUMMED("1", "3", "4") "move 3 all_gather %4 at 0 to %3 at * named a\n" KERNEL("4", "Y", ABOVE, "%1"), 5},
    {"in a repeat",
        SUMMED("3", "2", "5") "repeat 3..5 t < %2 {\n"
        "  kernel 4 Y outer 0 {\n    " STAGE("Y", ABOVE, "%1") "  }\n}\n", 5},
    {"used before", SUMMED("1", "2", "4") KERNEL("3", "Y", "%0[i, j]", "%1") KERNEL("4", "Y", ABOVE, "%1"), 5},
};

static void check_outputs(void) {
  for (size_t i = 0; i < COUNT(outputs); i++) {
    Arena *a = arena_new();
    TaskGraph *t = made(a, outputs[i].name, outputs[i].text);
    if (t) OK_INT(t->buffers.len, outputs[i].left, "%s: so many buffers", outputs[i].name);
    arena_free(a);
  }
}

/* What may not be so is seen by the checker. */
static const TextBreak breaks[] = {
    {"&0[i, j] to %3", "(&0[i, j] * %2[i, (7 - j)]) to %3", "buffer %2 is read and stored to in one kernel"},
    {"exp(%2[i, j])", "exp(%2[(1 - i), j])", "buffer %2 is read and stored to in one kernel"},
};

int main(void) {
  check_after();
  check_changes();
  check_turns();
  check_outputs();
  text_breaks(after, COUNT(breaks), breaks);
  return DONE();
}
