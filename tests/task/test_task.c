/* tests/task/test_task.c - the TaskGraph: its text comes back equal in all fields, each invariant that is broken is
 * reported, malformed texts are refused with their complaint, and any bytes are read or refused in peace. */
#include <stdlib.h>

#include "task/task.h"
#include "text.h"

TEXT_FORM("x.task", TaskGraph, task_read, task_print, task_equal, task_check)

/* ---- a text with everything in it --------------------------------------------------------------- */

static const char full[] =
    "taskgraph 1\n"
    "dim S = 128\n"
    "dim N\n"
    "dim Ω\n"
    "monoid lse:f32 = (#0 + log1p(exp((#1 - #0)))) identity -inf:f32\n"
    "buffer %0 input 0 Q[128, $N] : f32 @\"a.ein\":1:2\n"
    "buffer %1 input 1 W[$N] : f32\n"
    "buffer %2 output 0 Y[128] : f32\n"
    "buffer %3 work W.default[$N] : f32 alive 0..9\n"
    "buffer %4 work n[] : i64 alive 2..5\n"
    "buffer %5 work \"odd name\"[3, 128] : f32 alive 3..10\n"
    "buffer %6 work y[128] : f32 alive 4..10\n"
    "buffer %7 work y[128] : f32 alive 4..10\n"
    "buffer %8 work stop[] : bool alive 8..9\n"
    "buffer %9 work [] : i64 alive 9..11\n"
    "buffer %10 work ok[] : bool alive 11..12\n"
    "input Q = %0 param\n"
    "input W = %1 optional\n"
    "output Y = %2\n"
    "check (3 <= $N) \"N is \\x1b[1msmall\" @\"a.ein\":4:5\n"
    "check true\n"
    "kernel 0 W.default outer 1 unless 1 @\"a.ein\":5:1 {\n"
    "  stage W.default[i:$N] : f32 = f32(i) to %3[i] @\"a.ein\":5:9\n"
    "}\n"
    "default 1 input 1 = %3 unless 1 named W @\"a.ein\":5:1\n"
    "kernel 2 \"outer\" outer 0 {\n"
    "  stage n[] : i64 = 3 to %4[]\n"
    "}\n"
    "zero 3 %5 named \"odd name\"\n"
    "kernel 4 outer 1 {\n"
    "  stage [i:128] : f32 = 0.0:f32 to %6[i]\n"
    "}\n"
    "repeat 5..9 t < %4 until %8 turns %9 named loop @\"a.ein\":7:1 {\n"
    "  kernel 6 y outer 1 {\n"
    "    stage m[i:128, j:$N] : f32 = (%0[i, j] * %1[j])\n"
    "    stage s[i:128] : f32 = max:f32[j:$N where (j <= i)] &0[i, j] domain (i < 127)\n"
    "    stage y[i:128] : f32 = exp((%6[i] - (&1[i] * f32(@t)))) to %7[i]\n"
    "  }\n"
    "  kernel 7 L outer 0 {\n"
    "    stage L[i:128] : f32 = %7[i] to %5[@t, i]\n"
    "  }\n"
    "  kernel 8 stop outer 0 {\n"
    "    stage stop[] : bool = any:bool[i:128] (%7[i] > 1.0:f32) to %8[]\n"
    "  }\n"
    "  exchange %6 %7\n"
    "}\n"
    "kernel 10 Y outer 0 {\n"
    "  stage Y[_0=\"i j\":128] : f32 = lse:f32[_1=\"true\":3] (%5[_1, _0] * %6[_0]) to %2[_0]\n"
    "}\n"
    "kernel 11 ok outer 0 {\n"
    "  stage ok[] : bool = (%9[] < 9) to %10[]\n"
    "}\n"
    "assert 12 %10 \"it \\\\ holds\" @\"f\":3:4\n";

static void check_full(void) {
  Arena *a = arena_new();
  TaskGraph *t = text_holds(a, full, "a text with everything in it");
  if (!t) return;
  OK_INT(t->n_steps, 13, "it has 13 steps");
  const Task *r = t->tasks.at[5];
  OK(r->kind == TASK_REPEAT && r->end == 9 && r->stop == 8 && r->turns == 9, "the repeat has its scalars");
  Buf b = buf_new(a);
  for (uint32_t i = 0; i < 3; i++) {
    task_equation(&b, t, r->body.at[0], i);
    buf_char(&b, '\n');
  }
  OK_STR(b.s,
         "m[i,j] = Q[i,j] * W[j]\n"
         "s[i] = max[j where j <= i] m[i,j], where i < 127\n"
         "next y[i] = exp(y[i] - s[i] * f32(t))\n",
         "stages as equations");
  arena_free(a);
}

/* ---- what the checker reports ------------------------------------------------------------------- */

/* A stage may be stored and read by later stages of its kernel too. */
static void check_stored(void) {
  Arena *a = arena_new();
  char *text = text_replaced(a, full, "(%0[i, j] * %1[j])\n", "(%0[i, j] * %1[j]) to %5[0, i]\n");
  TaskGraph *t = text_well(a, text);
  OK(text_sound(a, t), "a stage that is stored may be read as a stage");
  OK(t && text_back(t), "its text gives it back");
  arena_free(a);
}

static const TextBreak breaks[] = {
    {"dim Ω\n", "dim N2 = -3\n", "taskgraph: dim N2 is negative"},
    {"128, $N] : f32 @", "128, $M] : f32 @", "buffer %0 Q: dim M is not declared"},
    {"128, $N] : f32 @", "128, $S] : f32 @", "buffer %0 Q: dim S has a value and still stands as a name"},
    {"Q[128, $N]", "Q[-1, $N]", "buffer %0 Q: an extent is negative"},
    {"output 0 Y[128]", "output 1 Y[128]", "buffer %2 Y: it is argument 1, of 1"},
    {"output 0 Y[128]", "input 0 Y[128]", "taskgraph: output 0 is not in buffer %2"},
    {"output Y = %2", "output Y = %2\noutput Z = %2", "taskgraph: output 1 is not in buffer %2"},
    {"output Y = %2", "output Y = %2 optional", "taskgraph: output 0 is a param or optional"},
    {"input W = %1", "input Q = %1", "taskgraph: two inputs are called Q"},
    {"input W = %1", "input \"\" = %1", "taskgraph: input 1 has no name"},
    {"check true", "check 3", "taskgraph: check 1 is not a bool over dims alone"},
    {"check true", "check (within(1, 2, 3) < 4)", "taskgraph: `within` stands outside of loops"},
    {"(#0 + log1p", "(f32(within(1, 2, 3)) + log1p", "taskgraph: `within` stands outside of loops"},
    {"check true", "check true\nsteps 14", "taskgraph: it has 13 steps and says 14"},
    {"kernel 2 ", "kernel 3 ", "kernel 3 outer: its step is not 2"},
    {"repeat 5..9", "repeat 5..8", "repeat 5 loop: it ends at step 8 and not 9"},
    {"%4 work n[] : i64 alive 2..5", "%4 work n[] : i64 alive 6..5",
        "buffer %4 n: it is alive from 6 to 5, of 13 steps"},
    {"alive 11..12", "alive 11..13", "buffer %10 ok: it is alive from 11 to 13, of 13 steps"},
    {"%4 work n[] : i64 alive 2..5", "%4 work n[] : i64 alive 2..4",
        "repeat 5 loop: buffer %4 is used at step 5 and alive from 2 to 4"},
    {"%3 work W.default[$N] : f32 alive 0..9", "%3 work W.default[$N] : f32 alive 0..6",
        "kernel 6 y, stage 0 m: buffer %3 is used at step 6 and alive from 0 to 6"},
    {"%5 work \"odd name\"[3, 128] : f32 alive 3..10", "%5 work \"odd name\"[3, 128] : f32 alive 3..8",
        "buffer %5 is used at step 7 and alive from 3 to 8"},
    {"stop[] : bool alive 8..9", "stop[] : bool alive 8..10",
        "kernel 8 stop, stage 0 stop: buffer %8 is used at step 8 and alive from 8 to 10"},
    {"%7 work y[128] : f32 alive 4..10", "%7 work y[128] : f32 alive 5..10",
        "repeat 5 loop: %6 and %7 do not live as one"},
    {"%7 work y[128] : f32", "%7 work y[127] : f32", "repeat 5 loop: %6 and %7 are not alike and cannot be exchanged"},
    {"exchange %6 %7", "exchange %6 %6", "repeat 5 loop: %6 and %6 are not alike and cannot be exchanged"},
    {"exchange %6 %7", "exchange %6 %7\nexchange %7 %6", "repeat 5 loop: %7 has been exchanged"},
    {"exchange %6 %7", "exchange %2 %7", "repeat 5 loop: %2 and %7 are not both work"},
    {"to %7[i]\n  }\n  kernel 7", "to %5[0, i]\n  }\n  kernel 7", "buffer %7 is read before it is written"},
    {"  stage [i:128] : f32 = 0.0:f32 to %6[i]", "  stage [i:128] : f32 = 0.0:f32 to %2[i]",
        "repeat 5 loop: buffer %6 is read before it is written"},
    {"to %6[i]", "to %0[i, i]", "kernel 4, stage 0: input %0 is written"},
    {"to %6[i]", "to %3[i]", "kernel 4, stage 0: buffer %3 is written and stands for input 1"},
    {"kernel 2 \"outer\" outer 0 {", "kernel 2 outer 0 unless 1 {",
        "repeat 5 loop: buffer %4 is read always and written unless input 1 is given"},
    {"kernel 2 \"outer\" outer 0 {", "kernel 2 outer 0 unless 0 {", "kernel 2: input 0 is always given"},
    {"kernel 2 \"outer\" outer 0 {", "kernel 2 outer 0 unless 7 {",
        "kernel 2: it is done unless input 7 is given, of 2"},
    {"default 1 input 1 = %3", "default 1 input 0 = %3", "default 1 W: input 0 is not optional"},
    {"default 1 input 1 = %3", "default 1 input 5 = %3", "default 1 W: it is for input 5, of 2"},
    {"default 1 input 1 = %3", "zero 1 %3", "taskgraph: input 1 is optional and has no default"},
    {"default 1 input 1 = %3", "zero 1 %3", "kernel 6 y, stage 0 m: input %1 is read before its default"},
    {"zero 3 %5 named \"odd name\"", "default 3 input 1 = %3", "default 3: input 1 has two defaults"},
    {"%3 work W.default[$N]", "%3 work W.default[3]", "default 1 W: %3 is not like input 1"},
    {"to %2[_0]", "to %5[0, _0]", "taskgraph: output 0 is not written"},
    {"to %2[_0]", "", "kernel 10 Y, stage 0 Y: it is the last and not stored"},
    {"to %2[_0]", "to %2[_0, _0]", "buffer %2 has rank 1 and is stored to with 2 indices"},
    {"to %2[_0]", "to %2[_1]", "kernel 10 Y, stage 0 Y: label number 1, of 1"},
    {"to %2[_0]", "to %2[1.5]", "kernel 10 Y, stage 0 Y: index 0 of where it is put is not i64"},
    {"%2 output 0 Y[128] : f32", "%2 output 0 Y[128] : f64", "kernel 10 Y, stage 0 Y: it is f32 and buffer %2 f64"},
    {"  stage n[] : i64 = 3 to %4[]\n", "", "kernel 2 outer: it has no stages"},
    {"(%9[] < 9)", "(%9[0] < 9)", "kernel 11 ok, stage 0 ok: buffer %9 has rank 0 and is read with 1 indices"},
    {"(%9[] < 9)", "(%10[] == true)", "kernel 11 ok, stage 0 ok: buffer %10 is read before it is written"},
    {"(%9[] < 9)", "(within(%9[], 3, 0) < 9)", "kernel 11 ok, stage 0 ok: `within` stands outside of loops"},
    {"(%9[] < 9)", "(%9[] + 9)", "kernel 11 ok, stage 0 ok: the body is i64 and not bool"},
    {"domain (i < 127)", "domain (j < 127)", "stage 1 s: the domain is over a reduced label, 1"},
    {"&0[i, j]", "&0[j, j]", "kernel 6 y, stage 1 s: &0 is not read at the reader's own label 0"},
    {"&0[i, j]", "&0[i]", "kernel 6 y, stage 1 s: &0 has 2 labels and is read with 1 indices"},
    {"stage s[i:128]", "stage s[i:127]", "kernel 6 y, stage 1 s: outer label 0 has another bound than in stage 0"},
    {"kernel 6 y outer 1", "kernel 6 y outer 2", "kernel 6 y, stage 1 s: it has 1 output labels, and 2 are outer ones"},
    {"max:f32[j:$N", "any:f32[j:$N", "kernel 6 y, stage 1 s: any is over bools"},
    {"stop[] : bool alive", "stop[1] : bool alive", "repeat 5 loop: the stop is not one bool"},
    {"%9 work [] : i64", "%9 work [1] : i64", "repeat 5 loop: the number of turns is not one i64"},
    {"%4 work n[] : i64", "%4 work n[] : i32", "repeat 5 loop: the bound is not one i64"},
    {"assert 12 %10", "assert 12 %9", "assert 12 it \\ holds: it is not one bool"},
};

/* What no text can say. */
typedef void Spoil(TaskGraph *t);
static void spoil_id(TaskGraph *t) { t->buffers.at[4].id = 9; }
static void spoil_space(TaskGraph *t) { t->buffers.at[4].space = (TaskSpace)7; }
static void spoil_dtype(TaskGraph *t) { t->buffers.at[4].dtype = (DType)77; }
static void spoil_life(TaskGraph *t) { t->buffers.at[0].last = 3; }
static void spoil_argument(TaskGraph *t) { t->buffers.at[4].argument = 3; }
static void spoil_normal(TaskGraph *t) {
  const Expr **dim = (const Expr **)(uintptr_t)t->buffers.at[0].dim;
  dim[1] = expr_op2(t->exprs, OP_ADD, expr_int(t->exprs, DT_I64, 1), dim[1]);
}
static void spoil_end(TaskGraph *t) { t->tasks.at[3]->end = 4; }
static void spoil_kind(TaskGraph *t) { t->tasks.at[3]->kind = (TaskKind)9; }
static void spoil_depth(TaskGraph *t) { t->tasks.at[5]->depth = 1; }
static void spoil_turn(TaskGraph *t) { t->tasks.at[5]->turn = NULL; }
static void spoil_stop(TaskGraph *t) { t->tasks.at[3]->stop = 3; }
static void spoil_outer(TaskGraph *t) { t->tasks.at[3]->n_outer = 1; }
static void spoil_buffer(TaskGraph *t) { t->tasks.at[3]->buffer = 99; }
static void spoil_kernel(TaskGraph *t) { t->tasks.at[2]->buffer = 1; }
static void spoil_number(TaskGraph *t) { t->tasks.at[2]->argument = 1; }
static void spoil_stored(TaskGraph *t) { t->tasks.at[2]->stages.at[0].buffer = 99; }
static void spoil_sum(TaskGraph *t) { t->tasks.at[2]->stages.at[0].sum = NULL; }
static void spoil_label(TaskGraph *t) { t->tasks.at[4]->stages.at[0].label[0] = NULL; }
static void spoil_bound(TaskGraph *t) {
  const Expr **bound = (const Expr **)(uintptr_t)t->tasks.at[4]->stages.at[0].bound;
  bound[0] = expr_int(t->exprs, DT_I64, 129);
}
static void spoil_group(TaskGraph *t) {
  TaskStage *s = &t->tasks.at[4]->stages.at[0];
  EinSum *sum = arena_copy(t->arena, s->sum, sizeof *sum);
  const Expr **bound = NEW_ARRAY(t->arena, const Expr *, 2), **at = NEW_ARRAY(t->arena, const Expr *, 1);
  Str *label = NEW_ARRAY(t->arena, Str, 2);
  label[0] = label[1] = s->label[0];
  bound[0] = expr_int(t->exprs, DT_I64, 43);
  bound[1] = expr_int(t->exprs, DT_I64, 3);
  at[0] = expr_op2(
      t->exprs, OP_ADD, expr_op2(t->exprs, OP_MUL, expr_label(t->exprs, 0), bound[1]), expr_label(t->exprs, 1));
  sum->n_out = 2;
  s->sum = sum;
  s->bound = bound;
  s->label = label;
  s->at = at;
}
static void spoil_slot(TaskGraph *t) { t->tasks.at[6]->stages.at[0].slot[0].index = 99; }
static void spoil_order(TaskGraph *t) { t->tasks.at[6]->stages.at[0].slot[0] = (TaskSlot){true, 3}; }
static void spoil_slots(TaskGraph *t) {
  TaskSlot *s = t->tasks.at[6]->stages.at[0].slot;
  s[1] = s[0];
}
static void spoil_unread(TaskGraph *t) {
  TaskStage *s = &t->tasks.at[6]->stages.at[0];
  EinSum *sum = arena_copy(t->arena, s->sum, sizeof *sum);
  TaskSlot *slot = NEW_ARRAY(t->arena, TaskSlot, sum->n_slot + 1);
  for (uint32_t i = 0; i < sum->n_slot; i++) slot[i] = s->slot[i];
  sum->n_slot++;
  s->sum = sum;
  s->slot = slot;
}
static void spoil_number_read(TaskGraph *t) {
  TaskStage *s = &t->tasks.at[7]->stages.at[0];
  EinSum *sum = arena_copy(t->arena, s->sum, sizeof *sum);
  sum->n_slot = 0;
  s->sum = sum;
}
static EinSum *own_sum(TaskGraph *t, TaskStage *s) {
  EinSum *sum = arena_copy(t->arena, s->sum, sizeof *sum);
  s->sum = sum;
  return sum;
}
static void spoil_kept_dtype(TaskGraph *t) { own_sum(t, &t->tasks.at[5]->body.at[0]->stages.at[0])->dtype = DT_F64; }
static void spoil_read_dtype(TaskGraph *t) { t->buffers.at[1].dtype = DT_F64; }
static void spoil_labels(TaskGraph *t) { own_sum(t, &t->tasks.at[6]->stages.at[0])->n_out = 999; }
static void spoil_no_labels(TaskGraph *t) { t->tasks.at[6]->stages.at[0].label = NULL; }
static void spoil_at(TaskGraph *t) {
  TaskStage *s = &t->tasks.at[6]->stages.at[0];
  const Expr **at = NEW_ARRAY(t->arena, const Expr *, 1), *label = expr_label(t->exprs, 0);
  at[0] = expr_cast(t->exprs, DT_I64, expr_read(t->exprs, DT_F32, 1, 1, &label));
  s->at = at;
}
static void spoil_move(TaskGraph *t) { t->tasks.at[2]->reducer = RED_SUM; }
static void spoil_exchange(TaskGraph *t) { t->tasks.at[5]->exchange.at[0].now = 99; }
static void spoil_monoid(TaskGraph *t) { t->monoids.len = 0; }

static const struct { Spoil *spoil; const char *say; } spoils[] = {
    {spoil_id, "buffer %9 n: it stands in place 4"},
    {spoil_space, "buffer %4 n: it has no space or no dtype"},
    {spoil_dtype, "buffer %4 n: it has no space or no dtype"},
    {spoil_life, "buffer %0 Q: it is the caller's and has a life of its own"},
    {spoil_argument, "buffer %4 n: it is no argument and has the number of one"},
    {spoil_normal, "buffer %0 Q: an extent is not in normal form"},
    {spoil_end, "zero 3 odd name: it ends at step 4 and not 3"},
    {spoil_kind, "it has no kind"},
    {spoil_depth, "repeat 5 loop: its depth is 1 and not 0"},
    {spoil_turn, "repeat 5 loop: its loop variable has no name"},
    {spoil_stop, "zero 3 odd name: it has what only a repeat has"},
    {spoil_outer, "zero 3 odd name: it has stages and is no kernel"},
    {spoil_buffer, "zero 3 odd name: it is buffer 99, of 11"},
    {spoil_kernel, "kernel 2 outer: a kernel's buffers are its stages'"},
    {spoil_number, "kernel 2 outer: it has an argument and is no default"},
    {spoil_stored, "kernel 2 outer, stage 0 n: where it is stored is buffer 99, of 11"},
    {spoil_sum, "kernel 2 outer, stage 0 n: its operation is not filled in"},
    {spoil_label, "kernel 4, stage 0: label 0 has no name"},
    {spoil_bound, "kernel 4, stage 0: index 0 of where it is put leads out of buffer %6"},
    {spoil_group, "kernel 4, stage 0: index 0 of where it is put leads out of buffer %6"},
    {spoil_slot, "kernel 10 Y, stage 0 Y: a slot is buffer 99, of 11"},
    {spoil_order, "kernel 10 Y, stage 0 Y: a slot is &3, no stage before it"},
    {spoil_slots, "kernel 10 Y, stage 0 Y: buffer %5 has rank 2 and is read with 1 indices"},
    {spoil_unread, "kernel 10 Y, stage 0 Y: 1 slots are never read"},
    {spoil_number_read, "kernel 11 ok, stage 0 ok: slot 0 is read, of 0"},
    {spoil_kept_dtype, "kernel 6 y, stage 1 s: &0 is f64 and is read as f32"},
    {spoil_read_dtype, "kernel 6 y, stage 0 m: buffer %1 is f64 and is read as f32"},
    {spoil_labels, "labels: too many"},
    {spoil_no_labels, "kernel 10 Y, stage 0 Y: it has no labels"},
    {spoil_at, "kernel 10 Y, stage 0 Y: it reads to find where it is put"},
    {spoil_move, "kernel 2 outer: it has what only a move has"},
    {spoil_exchange, "repeat 5 loop: what is exchanged is buffer 99, of 11"},
    {spoil_monoid, "kernel 10 Y, stage 0 Y: its monoid is not the graph's"},
};

static void check_spoils(void) {
  for (size_t i = 0; i < COUNT(spoils); i++) {
    Arena *a = arena_new();
    TaskGraph *t = text_well(a, full), *u = text_well(a, full);
    Buf why = buf_new(a);
    if (t) spoils[i].spoil(t);
    OK(t && text_reports(a, t, spoils[i].say), "reported: %s", spoils[i].say);
    Spoil *spoil = spoils[i].spoil;
    bool compare = t && spoil != spoil_sum && spoil != spoil_number_read && spoil != spoil_no_labels &&
        spoil != spoil_move; /* cannot be compared, or is of no meaning there */
    OK(!compare || !task_equal(t, u, &why), "the changed one is not equal: %s", why.s ? why.s : "");
    arena_free(a);
  }
}

/* ---- what the reader refuses -------------------------------------------------------------------- */

static const TextRefused refused[] = {
    {"taskgraph 1", "taskgraph 2", "E901", "expected the line `taskgraph 1` first"},
    {"dim N\n", "dimension N\n", "E902", "expected a line that begins with"},
    {"buffer %4", "buffer %5", "E906", "buffers are numbered in order: expected %4"},
    {"buffer %4", "buffer 4", "E903", "expected a buffer here, like %7"},
    {"buffer %4 work", "buffer %4 mine", "E903", "expected `input`, `output` or `work` here"},
    {"alive 2..5", "alive 2.5", "E903", "expected `.` here"},
    {"alive 2..5", "alive 2..99999999999999999999", "E908", "a step is from 0 to 16777215"},
    {"alive 2..5", "", "E903", "expected `alive` here"},
    {"default 1 input 1 = %3", "default 1 input 1 = %33", "E905", "buffer %33 is not defined above this line"},
    {"(%9[] < 9)", "(%99[] < 9)", "E905", "buffer %99 is not defined above this line"},
    {"&1[i]", "&2[i]", "E905", "&2 is no stage above this line"},
    {"&1[i]", "&[i]", "E904", "a read is &stage[...]"},
    {"to %2[_0]", "to %2[%6[_0]]", "E904", "no such node to read"},
    {"to %2[_0]", "to %2[_0", "E903", "expected `,` here"},
    {"kernel 4 outer 1 {", "kernel 4 outer 1", "E903", "expected `{` here"},
    {"kernel 4 outer 1 {", "kernel 4 outer x {", "E903", "expected the number of outer labels here"},
    {"  exchange", "  stage", "E909", "`stage` does not stand in a repeat"},
    {"  stage n[]", "  zero n[]", "E909", "`zero` does not stand in a kernel"},
    {"zero 3", "exchange 3", "E909", "`exchange` does not stand outside of blocks"},
    {"dim Ω", "dim N", "E911", "dim N is declared already"},
    {"stage m[i:128, j:$N]", "stage m[i:128, i:$N]", "E911", "label i stands here twice"},
    {"lse:f32[_1", "lse:f64[_1", "E910", "no reducer and no monoid of f64 is called lse"},
    {"\"it \\\\ holds\"", "\"it \\ holds\"", "E912", "expected \\\""},
    {"check true", "check #0", "E904", "#0 and #1 stand in monoids only"},
    {"[] : i64 = 3 to", "[] : i64 = 3 fro", "E903", "expected the end of the line here"},
};

/* ---- any bytes ---------------------------------------------------------------------------------- */

static const char small[] =
    "taskgraph 1\ndim K\nmonoid g:f32 = #1 identity 0.0:f32\nbuffer %0 input 0 X[4, $K] : f32\n"
    "buffer %1 output 0 Y[4] : f32\nbuffer %2 work n[] : i64 alive 0..3\ninput X = %0 param\noutput Y = %1\n"
    "kernel 0 n outer 0 {\n  stage n[] : i64 = 2 to %2[]\n}\nrepeat 1..3 t < %2 {\n"
    "  kernel 2 Y outer 1 @\"f\":1:2 {\n    stage m[i:4] : f32 = g:f32[j:$K where (j < i)] %0[i, j]\n"
    "    stage Y[i:4] : f32 = (&0[i] * 1.5:f32) to %1[((i + @t) - @t)]\n  }\n}\nassert 4 %2\n";

/* A fetch of rows of a table whose result has no dimension for a row's elements. */
static void check_fetched(void) {
  static const char text[] =
      "taskgraph 1\nmesh 2\ndim at0\nbuffer %0 input 0 E[50, 3] : f64 low [0, (3 * $at0)]\n"
      "buffer %1 input 1 at[20] : i64 low [(20 * $at0)]\nbuffer %2 output 0 Y[20] : f64 low [(20 * $at0)]\n"
      "input E = %0\ninput at = %1\noutput Y = %2\n"
      "fetch 0 Y outer 0 {\n  stage Y[i:20, d:6] : f64 = %0[%1[i], d] to %2[i, d]\n}\n";
  Arena *a = arena_new();
  TaskGraph *t = text_read(a, text, sizeof text - 1, diags_new(a));
  Buf out = buf_new(a);
  OK(t && !task_check(t, &out) && strstr(out.s, "is not one read of its table"), "a fetch without room for rows");
  arena_free(a);
}

/* Nesting and length that no program has. */
static void check_depth(void) {
  Arena *a = arena_new();
  for (uint32_t deep = 200; deep <= 201; deep++) {
    Buf b = buf_new(a);
    buf_str(&b, "taskgraph 1\nbuffer %0 work n[] : i64 alive 0..402\n");
    for (uint32_t i = 0; i < deep; i++) buf_printf(&b, "repeat %u..%u t < %%0 {\n", i, 2 * deep - 1 - i);
    for (uint32_t i = 0; i < deep; i++) buf_str(&b, "}\n");
    Diags *d = diags_new(a);
    TaskGraph *t = text_read(a, b.s, b.len, d);
    OK((t != NULL) == (deep == 200), "%u repeats in one another are %s", deep, deep == 200 ? "read" : "refused");
    Buf out = buf_new(a);
    if (t) OK(!task_check(t, &out) && strstr(out.s, "is read before it is written"), "the checker finds it");
  }
  Buf b = buf_new(a);
  buf_str(&b, "taskgraph 1\nbuffer %0 work n[] : i64 alive 0..0\nkernel 0 outer 0 {\n  stage [] : i64 = ");
  for (uint32_t i = 0; i < 300000; i++) buf_char(&b, '(');
  Diags *d = diags_new(a);
  OK(!text_read(a, b.s, b.len, d) && d->errors, "brackets without end are refused");
  arena_free(a);
}

int main(void) {
  check_full();
  check_stored();
  text_breaks(full, COUNT(breaks), breaks);
  check_spoils();
  text_refusals(full, COUNT(refused), refused);
  text_silence(full, "buffer %6 work y[128] : f32", "buffer %6 work y[128] : f33");
  text_silence(full, "stage m[i:128, j:$N]", "stage m[i:128, j:$N");
  check_fetched();
  text_broken("a small text", small, 5);
  check_depth();
  return DONE();
}
