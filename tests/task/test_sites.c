/* tests/task/test_sites.c - the TaskGraph of a mesh: its text, what its checker finds, and what a site has and
 * receives. */
#include "task/inside.h"
#include "task/task.h"
#include "tap.h"
#include "sums.h"

static TaskGraph *read_it(Arena *a, const char *text, Buf *why) {
  Diags *d = diags_new(a);
  TaskGraph *t = task_read(a, strings_new(a), source_new(a, "x.task", text, strlen(text)), d);
  diags_text(d, why, false);
  return t;
}

/* ---- its text ------------------------------------------------------------------------------------------- */

#define HEAD "taskgraph 1\nmesh 2 3\ndim at0\ndim at1\n"

static const char full[] =
    HEAD
    "monoid plus:i64 = (#0 + #1) identity 0\n"
    "buffer %0 input 0 X[8, 5] : i64 low [(8 * $at0), 0]\n"
    "buffer %1 output 0 Y[(((((2 * $at1) + 2) // 3) - ((2 * $at1) // 3)) + 1)] : i64 low [($at1 + ((2 * $at1) // 3))]\n"
    "buffer %2 work S[5] : i64 low [0] alive 0..2\n"
    "buffer %3 work S[5] : i64 low [0] when ($at0 == 0) alive 1..1\n"
    "input X = %0\n"
    "output Y = %1\n"
    "kernel 0 S outer 0 {\n"
    "  stage S[j:5] : i64 = sum:i64[i:8] %0[i, j] to %2[j]\n"
    "}\n"
    "move 1 reduce %2 at + * to %3 at ? * by plus:i64 named S @\"a.ein\":3:1\n"
    "move 2 exchange %2 at + * to %1 at * 0 by sum:i64\n";

static void check_text(void) {
  Arena *a = arena_new();
  Buf text = buf_new(a), why = buf_new(a);
  TaskGraph *t = read_it(a, full, &why), *u;
  if (!OK(t != NULL, "a mesh's graph reads")) tap_text("why", why.s);
  if (!t) return;
  if (!OK(task_check(t, &why), "it is sound")) tap_text("why", why.s);
  task_print(&text, t);
  OK_STR(text.s, full, "it prints as it was written");
  u = read_it(a, text.s, &why);
  OK(u && task_equal(t, u, &why) && task_equal(u, t, &why), "its text gives back an equal one");
  for (uint32_t k = 0; u && k < 6; k++) {
    TaskGraph *v = read_it(a, text.s, &why);
    Task *m = v->tasks.at[1];
    if (k == 0) v->mesh.size[0] = 3;
    if (k == 1) v->buffers.at[0].low[0] = v->buffers.at[0].low[1];
    if (k == 2) v->buffers.at[3].when = NULL;
    if (k == 3) m->to.on[0] = PLACE_ALL;
    if (k == 4) m->reducer = RED_SUM, m->monoid = NULL;
    if (k == 5) m->move = MOVE_EXCHANGE;
    OK(!task_equal(t, v, &why), "change %u of it is seen", k);
  }
  arena_free(a);
}

/* The one of docs/languages-inside.md. */
static void check_seed(void) {
  Arena *a = arena_new();
  Buf text = buf_new(a), out = buf_new(a), why = buf_new(a);
  FILE *f = fopen("tests/fuzz/seeds/fuzz_task/task_mesh", "rb");
  for (int c; f && (c = fgetc(f)) != EOF;) buf_char(&text, (char)c);
  if (f) fclose(f);
  TaskGraph *t = read_it(a, text.s, &why);
  if (!OK(t && task_check(t, &why), "the docs' one is sound")) tap_text("why", why.s);
  if (t) task_print(&out, t);
  OK_STR(out.s, text.s, "it prints as it was written");
  arena_free(a);
}

/* ---- what is not sound ------------------------------------------------------------------------------------- */

typedef struct Broken { const char *was, *is, *why; } Broken;

static const Broken broken[] = {
    {"dim at1\n", "dim at2\n", "dim 1 is not the place along axis 1"},
    {"dim at1\n", "dim at1\ndim N\n", "has no value, though there is a mesh"},
    {"reduce %2 at + *", "reduce %2 at * *", "a reducer stands where parts are combined"},
    {"reduce %2 at + *", "reduce_scatter %2 at + *", "it is no reduce_scatter"},
    {"to %1 at * 0", "to %1 at * *", "is not the same along axis 1"},
    {"to %1 at * 0", "to %1 at * 1", "has no placement along axis 1"},
    {" by plus:i64", "", "a reducer stands where parts are combined"},
    {"Y[(((((2 * $at1) + 2) // 3) - ((2 * $at1) // 3)) + 1)] : i64 low [($at1 + ((2 * $at1) // 3))]", "Y[5] : i64",
        "does not say where it is"},
    {"move 1 reduce %2 at + * to %3", "move 1 reduce %3 at + * to %3", "are not of one tensor"},
    {"by plus:i64 named", "by argmax:i64 places %0 to %3 named", "%0 has not the places of %2"},
    {"when ($at0 == 0)", "when ($at5 == 0)", "dim at5 is not declared"},
};

static const char *replaced(Arena *a, const char *text, const char *was, const char *is) {
  const char *at = strstr(text, was);
  Buf b = buf_new(a);
  if (!at) return "";
  buf_add(&b, text, (size_t)(at - text));
  buf_str(&b, is);
  buf_str(&b, at + strlen(was));
  return b.s;
}

static void check_broken(void) {
  Arena *one = arena_new();
  Buf said = buf_new(one);
  TaskGraph *alone = read_it(one, "taskgraph 1\nbuffer %0 input 0 X[8] : i64 low [0]\ninput X = %0\n", &said);
  OK(alone && !task_check(alone, &said) && strstr(said.s, "there is no mesh"), "one site has no places");
  arena_free(one);
  for (size_t i = 0; i < COUNT(broken); i++) {
    Arena *a = arena_new();
    Buf why = buf_new(a);
    TaskGraph *t = read_it(a, replaced(a, full, broken[i].was, broken[i].is), &why);
    bool ok = t && !task_check(t, &why);
    if (!OK(ok && strstr(why.s, broken[i].why), "seen: %s", broken[i].why)) tap_text("said", why.s);
    arena_free(a);
  }
}

/* What the reader does not take. */
static const Broken refused[] = {
    {"mesh 2 3\n", "mesh 2 3\nmesh 2\n", "`mesh` stands once, behind `taskgraph 1`"},
    {"dim at0\n", "room 4096\nroom 4096\ndim at0\n", "`room` stands once, behind `mesh`"},
    {"move 2 exchange", "move 2 push", "expected what kind of move it is: exchange, all_gather or the like"},
    {"at * 0 by sum:i64", "at * 0 by sum:i32", "expected a reducer of i64"},
};

static void check_refused(void) {
  for (size_t i = 0; i < COUNT(refused); i++) {
    Arena *a = arena_new();
    Buf why = buf_new(a);
    TaskGraph *t = read_it(a, replaced(a, full, refused[i].was, refused[i].is), &why);
    if (!OK(!t && strstr(why.s, refused[i].why), "refused: %s", refused[i].why)) tap_text("said", why.s);
    arena_free(a);
  }
}

/* ---- numbers at a site ----------------------------------------------------------------------------------------- */

static void check_numbers(void) {
  Arena *a = arena_new();
  Buf why = buf_new(a);
  TaskGraph *t = read_it(a, full, &why);
  const uint32_t first[] = {0, 0}, last[] = {1, 2};
  int64_t low[2], high[2];
  OK_INT(task_box(t, &t->buffers.at[0], last, low, high), 40, "elements of an input's block");
  OK(low[0] == 8 && high[0] == 16 && low[1] == 0 && high[1] == 5, "its box");
  OK_INT(task_box(t, &t->buffers.at[1], last, low, high), 2, "a third of 5 at the last site");
  OK(low[0] == 3 && high[0] == 5, "its box");
  OK_INT(task_box(t, &t->buffers.at[1], first, low, high), 1, "at the first site");
  OK(task_has(t, &t->buffers.at[3], first) && !task_has(t, &t->buffers.at[3], last), "a buffer of some sites");
  OK_INT(task_peak(t, first, false), 8 * (40 + 1 + 5 + 5), "the most memory at the first site");
  OK_INT(task_peak(t, last, false), 8 * (40 + 2 + 5), "at the last site");
  OK_INT((int64_t)move_received(t, t->tasks.at[1], first), 40, "a reduction's bytes");
  OK_INT((int64_t)move_received(t, t->tasks.at[1], last), 0, "only one site receives it");
  OK_INT((int64_t)move_received(t, t->tasks.at[2], last), 16, "what is reduced and cut");
  OK_INT((int64_t)task_received(t), 3 * 40 + 8 * 2 * 5, "all that is received");
  arena_free(a);
}

/* ---- around the end ------------------------------------------------------------------------------------------------
 */

/* 8 places in two blocks, each to get five from its third on: one of the other block, and the second, from behind the
 * end, two of the first. */
static void check_wrap(void) {
  static const char text[] = "taskgraph 1\nmesh 2\ndim at0\nbuffer %0 input 0 X[4, 3] : i64 low [(4 * $at0), 0]\n"
                             "buffer %1 output 0 Y[5, 2] : i64 low [((4 * $at0) + 2), 2]\ninput X = %0\noutput Y = %1\n"
                             "move 0 exchange %0 at 0 to %1 at 0 wrap [8, 3]\n";
  Arena *a = arena_new();
  Buf why = buf_new(a), out = buf_new(a);
  TaskGraph *t = read_it(a, text, &why);
  if (!OK(t && task_check(t, &why), "a move that wraps is sound")) tap_text("said", why.s);
  if (!t) return;
  task_print(&out, t);
  OK_STR(out.s, text, "it prints as it was written");
  for (uint32_t s = 0; s < 2; s++)
    OK_INT(
        (int64_t)move_received(t, t->tasks.at[0], &s), 8 * 3 * 2, "site %u gets three places, and of two columns", s);
  TaskGraph *u = read_it(a, replaced(a, text, "[8, 3]", "[8, 0]"), &why),
            *v = read_it(a, replaced(a, text, " wrap [8, 3]", ""), &why);
  why = buf_new(a);
  OK(u && v && !task_equal(t, u, &why) && !task_equal(t, v, &why), "how it wraps is part of it");
  OK_INT((int64_t)move_received(v, v->tasks.at[0], (const uint32_t[]){1}), 0, "without it, the second gets nothing");
  t->tasks.at[0]->wrap = (const int64_t[]){-8, 3};
  OK(!task_check(t, &why) && strstr(why.s, "dimension 0 wraps at -8"), "nothing wraps at less than 0");
  arena_free(a);
}

/* ---- what a move is ---------------------------------------------------------------------------------------------- */

/* Of parts of argmax the places move too. */
static void check_places(void) {
  static const char text[] =
      "taskgraph 1\nmesh 2\ndim at0\nbuffer %0 input 0 X[3] : i64 low [0]\nbuffer %1 input 1 P[3] : i64 low [0]\n"
      "buffer %2 output 0 Y[3] : i64 low [0]\nbuffer %3 output 1 Q[3] : i64 low [0]\n"
      "input X = %0\ninput P = %1\noutput Y = %2\noutput Q = %3\n"
      "move 0 reduce_scatter %0 at + to %2 at * by argmax:i64 places %1 to %3\n";
  static const uint32_t first[] = {0};
  Arena *a = arena_new();
  Buf why = buf_new(a), out = buf_new(a);
  TaskGraph *t = read_it(a, text, &why);
  if (!OK(t != NULL, "a move by argmax reads")) tap_text("why", why.s);
  OK(t && !task_check(t, &why) && strstr(why.s, "it is no reduce_scatter"), "it is no reduce_scatter");
  if (!t) return;
  t->tasks.at[0]->move = MOVE_ALL_REDUCE;
  OK(task_check(t, &why), "it is an all_reduce");
  OK_INT((int64_t)move_received(t, t->tasks.at[0], first), 16 * (1 + 2), "of values and places");
  task_print(&out, t);
  TaskGraph *u = read_it(a, out.s, &why);
  OK(u && task_equal(t, u, &why), "its text gives it back");
  u->tasks.at[0]->place_to = 2;
  OK(!task_equal(t, u, &why), "where places go is part of it");
  arena_free(a);
}

typedef struct Kind { const char *from, *of, *to, *dest, *by; TaskMove kind; int received; } Kind;

/* On 2 sites of 8 x 8 elements of i64; received: by the second. */
static const Kind kinds[] = {
    {"[4, 8] : i64 low [(4 * $at0), 0]", "0", "[8, 8] : i64 low [0, 0]", "*", "", MOVE_ALL_GATHER, 256},
    {"[4, 8] : i64 low [(4 * $at0), 0]", "0", "[8, 4] : i64 low [0, (4 * $at0)]", "1", "", MOVE_ALL_TO_ALL, 128},
    {"[8, 8] : i64 low [0, 0]", "+", "[4, 8] : i64 low [(4 * $at0), 0]", "0", " by sum:i64", MOVE_REDUCE_SCATTER, 256},
    {"[8, 8] : i64 low [0, 0]", "+", "[8, 8] : i64 low [0, 0]", "*", " by max:i64", MOVE_ALL_REDUCE, 512},
    {"[8, 8] : i64 low [0, 0]", "+", "[8, 8] : i64 low [0, 0] when ($at0 == 0)", "?", " by max:i64", MOVE_REDUCE, 0},
    {"[8, 8] : i64 low [0, 0] when ($at0 == 0)", "?", "[8, 8] : i64 low [0, 0]", "*", "", MOVE_BROADCAST, 512},
    {"[8, 8] : i64 low [0, 0] when ($at0 == 0)", "?", "[4, 8] : i64 low [(4 * $at0), 0]", "0", "", MOVE_SCATTER, 256},
    {"[4, 8] : i64 low [(4 * $at0), 0]", "0", "[8, 8] : i64 low [0, 0] when ($at0 == 1)", "?", "", MOVE_GATHER, 256},
    {"[4, 8] : i64 low [(4 * $at0), 0]", "0", "[4, 8] : i64 low [(4 - (4 * $at0)), 0]", "0", "", MOVE_EXCHANGE, 256},
};

static void check_kinds(void) {
  for (size_t i = 0; i < COUNT(kinds); i++) {
    const Kind *k = &kinds[i];
    Arena *a = arena_new();
    Buf why = buf_new(a);
    const uint32_t second[] = {1};
    const char *text = arena_printf(a,
        "taskgraph 1\nmesh 2\ndim at0\nbuffer %%0 input 0 X%s\nbuffer %%1 output 0 Y%s\ninput X = %%0\noutput Y = %%1\n"
        "move 0 exchange %%0 at %s to %%1 at %s%s\n",
        k->from, k->to, k->of, k->dest, k->by);
    TaskGraph *t = read_it(a, text, &why);
    if (!OK(t && task_check(t, &why), "move %zu is sound", i)) tap_text("why", why.s);
    if (t) {
      Task *m = t->tasks.at[0];
      OK_INT(move_kind(t, m), k->kind, "its kind");
      m->move = k->kind;
      OK_INT((int64_t)move_received(t, m, second), k->received, "what the second site receives");
      if (!OK(task_check(t, &why), "it is sound as that kind")) tap_text("why", why.s);
    }
    arena_free(a);
  }
}

/* A broadcast goes by shares where that spares its sender much. */
static void check_shares(void) {
  static const struct { int sites, rows; bool shares; const char *what; } x[] = {
      {2, 4096, false, "to one other: it gets all, one way or the other"},
      {3, 512, false, "to two others 1 MB: 2 MB leave the sender, or 1.3"},
      {3, 4096, true, "to two others 8 MB each"},
      {16, 64, true, "to many 128 kB"},
      {16, 8, false, "to many 16 kB"},
  };
  for (size_t i = 0; i < COUNT(x); i++) {
    Arena *a = arena_new();
    Buf why = buf_new(a);
    const char *text = arena_printf(a,
        "taskgraph 1\nmesh %d\ndim at0\nbuffer %%0 input 0 X[%d, 256] : i64 low [0, 0] when ($at0 == 0)\n"
        "buffer %%1 output 0 Y[%d, 256] : i64 low [0, 0]\ninput X = %%0\noutput Y = %%1\n"
        "move 0 broadcast %%0 at ? to %%1 at *\n",
        x[i].sites, x[i].rows, x[i].rows);
    TaskGraph *t = read_it(a, text, &why);
    if (!OK(t && task_check(t, &why), "a broadcast on %d sites is sound", x[i].sites)) tap_text("why", why.s);
    if (t) OK(move_shares(t, t->tasks.at[0]) == x[i].shares, "%s", x[i].what);
    arena_free(a);
  }
}

/* Parts that go to one place, and then to all. between: what happens in between. */
static TaskGraph *parts_to_all(Arena *a, const char *between, const char *then) {
  Buf why = buf_new(a);
  const char *text = arena_printf(a,
      "taskgraph 1\nmesh 2 2\ndim at0\ndim at1\nbuffer %%0 input 0 X[8] : i64 low [0]\n"
      "buffer %%1 output 0 Y[8] : i64 low [0]\nbuffer %%2 output 1 Z[8] : i64 low [0] when ($at0 == 0)\n"
      "buffer %%3 work one[8] : i64 low [0] when ($at0 == 0) alive 0..2\n"
      "input X = %%0\noutput Y = %%1\noutput Z = %%2\n"
      "move 0 reduce %%0 at + * to %%3 at ? * by sum:i64\n%smove 2 %s\n", between, then);
  TaskGraph *t = read_it(a, text, &why);
  if (!OK(t != NULL, "it reads")) tap_text("why", why.s);
  if (t) task_all_reduce(t);
  return t;
}

#define ZERO "zero 1 %2\n"
#define READ "kernel 1 Z outer 0 {\nstage Z[i:8] : i64 = %3[i] to %2[i]\n}\n"

static void check_all_reduce(void) {
  static const struct { const char *between, *then, *what; uint32_t tasks; } x[] = {
      {ZERO, "broadcast %3 at ? * to %1 at * *", "one place sends all what it combined: they combine it", 2},
      {READ, "broadcast %3 at ? * to %1 at * *", "one place needs it too", 3},
      {"zero 1 %1\n", "broadcast %3 at ? * to %1 at * *", "where it goes is used in between", 3},
  };
  for (size_t i = 0; i < COUNT(x); i++) {
    Arena *a = arena_new();
    TaskGraph *t = parts_to_all(a, x[i].between, x[i].then);
    if (t) OK_INT(t->tasks.len, x[i].tasks, "%s", x[i].what);
    if (t) OK((t->tasks.at[0]->move == MOVE_ALL_REDUCE) == (x[i].tasks == 2), "  so it is that move");
    if (t && x[i].tasks == 2) OK_INT(t->buffers.len, 3, "  and nobody stores what was combined");
    arena_free(a);
  }
}

/* In each turn too. */
static void check_all_reduce_of_turns(void) {
  static const char text[] =
      "taskgraph 1\nmesh 4\ndim at0\nbuffer %0 input 0 X[8] : i64 low [0]\nbuffer %1 output 0 Y[8] : i64 low [0]\n"
      "buffer %2 work n[] : i64 low [] alive 0..1\n"
      "buffer %3 work one[8] : i64 low [0] when ($at0 == 0) alive 2..3\ninput X = %0\noutput Y = %1\n"
      "kernel 0 n outer 0 {\nstage n[] : i64 = 3 to %2[]\n}\nrepeat 1..4 t < %2 {\n"
      "move 2 reduce %0 at + to %3 at ? by sum:i64\nmove 3 broadcast %3 at ? to %1 at *\n}\n";
  Arena *a = arena_new();
  Buf why = buf_new(a);
  TaskGraph *t = read_it(a, text, &why);
  if (!OK(t && task_check(t, &why), "a repeat that reduces is sound")) tap_text("why", why.s);
  if (!t) return;
  task_all_reduce(t);
  const Tasks *body = &t->tasks.at[1]->body;
  OK(body->len == 1 && body->at[0]->move == MOVE_ALL_REDUCE, "in a repeat they combine it as well");
  arena_free(a);
}

/* A copy is made of all there is, so what has a value only in a domain is not computed in it. */
static void check_copy(void) {
  static const char text[] =
      "taskgraph 1\nbuffer %0 input 0 X[4] : i64\nbuffer %1 output 0 Y[4] : i64\nbuffer %2 work A[4] : i64 alive 0..1\n"
      "input X = %0\noutput Y = %1\n"
      "kernel 0 A outer 0 {\nstage A[i:4] : i64 = %0[(i + 1)] domain (i < 3) to %2[i]\n}\n"
      "kernel 1 Y outer 0 {\nstage Y[i:4] : i64 = %2[i] to %1[i]\n}\n";
  Arena *a = arena_new();
  Buf why = buf_new(a), out = buf_new(a);
  TaskGraph *t = read_it(a, text, &why);
  if (!OK(t && task_check(t, &why), "a copy of what has a domain")) tap_text("why", why.s);
  if (!t) return;
  task_fuse(t);
  task_lifetimes(t);
  task_print(&out, t);
  if (!OK(strstr(out.s, "domain (i < 3)"), "keeps it")) tap_text("fused", out.s);
  arena_free(a);
}

int main(void) {
  check_text();
  check_seed();
  check_broken();
  check_refused();
  check_numbers();
  check_wrap();
  check_kinds();
  check_places();
  check_shares();
  check_all_reduce();
  check_all_reduce_of_turns();
  check_copy();
  return DONE();
}
