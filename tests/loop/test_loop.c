/* tests/loop/test_loop.c - Loop: its text comes back equal in all fields, each invariant that is broken is reported,
 * malformed texts are refused with their complaint, and any bytes are read or refused in peace. */
#include <stdlib.h>

#include "schedule/door.h"
#include "text.h"

TEXT_FORM("x.loop", LoopProgram, loop_read, loop_print, loop_equal, loop_check)

/* ---- a text with everything in it --------------------------------------------------------------- */

static const char full[] =
    "loop 1\n"
    "tasks {\n"
    "  taskgraph 1\n"
    "  dim N\n"
    "  buffer %0 input 0 X[$N, 64] : f32\n"
    "  buffer %1 input 1 tok[$N] : i64\n"
    "  buffer %2 output 0 Y[$N] : f32\n"
    "  buffer %3 work n[] : i64 alive 0..4\n"
    "  buffer %4 work y[$N] : f32 alive 1..5\n"
    "  input X = %0\n"
    "  input tok = %1\n"
    "  output Y = %2\n"
    "  kernel 0 n outer 0 {\n"
    "    stage n[] : i64 = 3 to %3[]\n"
    "  }\n"
    "  zero 1 %4\n"
    "  repeat 2..4 t < %3 {\n"
    "    kernel 3 y outer 1 {\n"
    "      stage y[i:$N] : f32 = sum:f32[j:64] (%0[%1[i], j] * f32(@t)) to %4[i]\n"
    "    }\n"
    "  }\n"
    "  kernel 5 Y outer 0 {\n"
    "    stage Y[i:$N] : f32 = %4[i] to %2[i]\n"
    "  }\n"
    "}\n"
    "site 0 \"index 1 of X, read for y\" @\"x.ein\":3:4\n"
    "site 1 \"never\"\n"
    "kernel n step 0 work 1 {\n"
    "  buffer n = %3 : i64 [] written\n"
    "  n[] = 3\n"
    "}\n"
    "kernel y step 3 work ($N * 64) @\"x.ein\":2:1 {\n"
    "  note \"y[i] = sum[j] X[tok[i],j] * f32(t)\"\n"
    "  note \"\"\n"
    "  dense\n"
    "  buffer X = %0 : f32 [$N, 64]\n"
    "  buffer tok = %1 : i64 [$N]\n"
    "  buffer y = %4 : f32 [$N] written\n"
    "  register acc : f32 [8]\n"
    "  register v : i64 []\n"
    "  register s : f32 []\n"
    "  register ones : f32 [8]\n"
    "  register near : i64 []\n"
    "  stack row : f32 [64]\n"
    "  register f : f32 [16]\n"
    "  scratch far : f64 [$N]\n"
    "  loops i j l k u next\n"
    "  for i < $N thread {\n"
    "    let v = within(tok[i], $N, 0)\n"
    "    fetch X[v[], 63]\n"
    "    lead near = y[i]\n"
    "    var acc = 0.0:f32\n"
    "    fetch X[v[], 0] second\n"
    "    var ones = hidden(1.0:f32)\n"
    "    var row\n"
    "    var far\n"
    "    index next = min((i + 1), ($N - 1))\n"
    "    var f = f32(next)\n"
    "    lanes f sin\n"
    "    for j < 64 step 8 roll {\n"
    "      for l < (j + 8) from j vector {\n"
    "        row[l] = (X[v[], l] * f32(@t0))\n"
    "      }\n"
    "      for k < 8 unroll {\n"
    "        acc[k] = (acc[k] + (row[(j + k)] * ones[k]))\n"
    "      }\n"
    "    }\n"
    "    far[i] = f64(unorder(order(acc[0])))\n"
    "    if (v[] < 2) maybe {\n"
    "      var s = acc[1]\n"
    "      for u < 4 from 2 unroll {\n"
    "        s[] = (s[] + acc[u])\n"
    "      }\n"
    "      y[i] = s[]\n"
    "    } else {\n"
    "      y[i] = (f32(far[i]) + f[0])\n"
    "    }\n"
    "    stream y[i] = row[63] for (v[] - i)\n"
    "  }\n"
    "}\n"
    "kernel Y step 5 work $N {\n"
    "  buffer w = %4 : f32 [$N]\n"
    "  buffer Y = %2 : f32 [$N] written\n"
    "  loops i\n"
    "  for i < $N vector polled 3 {\n"
    "    Y[i] = w[i]\n"
    "  }\n"
    "}\n";

static void check_full(void) {
  Arena *a = arena_new();
  text_holds(a, full, "a text with everything in it");
  arena_free(a);
}

/* ---- what the checker reports ------------------------------------------------------------------- */

static const TextBreak breaks[] = {
    {"buffer %3 work n[] : i64 alive 0..4", "buffer %3 work n[] : i64 alive 0..1", "buffer %3 is used at step 2"},
    {"kernel y step 3", "kernel y step 2", "kernel y: there is no kernel in the tasks at step 2"},
    {"kernel y step 3", "kernel y step 0", "kernel y: there is another kernel for step 0"},
    {"kernel n step 0 work 1 {", "kernel n step 0 work 1.5 {", "kernel n: its work is no i64 over dims alone"},
    {"kernel n step 0 work 1 {", "kernel n step 0 {", "kernel n: its work is no i64 over dims alone"},
    {"kernel n step 0 work 1 {", "kernel n step 0 work $M {", "kernel n: dim M is not declared"},
    {"kernel n step 0", "kernel int step 0", "loops: a kernel has a name that is none in C: int"},
    {"kernel n step 0", "kernel n' step 0", "loops: a kernel has a name that is none in C: n'"},
    {"kernel n step 0", "kernel Y step 0", "loops: two things are called Y"},
    {"  loops i\n  for i < $N vector polled 3 {\n    Y[i] = w[i]",
        "  loops for\n  for for < $N vector {\n    Y[for] = w[for]",
        "kernel Y: a loop variable has a name that is none in C: for"},
    {"register s : f32 []", "register 9s : f32 []", NULL},
    {"buffer w = %4", "buffer w = %9", "kernel Y: w is buffer %9, of 5"},
    {"buffer w = %4 : f32 [$N]", "buffer w = %4 : f32 [3]", "kernel Y: w is not like buffer %4"},
    {"buffer w = %4 : f32 [$N]", "buffer w = %4 : f32 [$N]\n  buffer z = %4 : f32 [$N]",
        "kernel Y: two places are buffer %4"},
    {"buffer X = %0 : f32 [$N, 64]", "buffer X = %0 : f32 [$N, 64] written", "kernel y: X is written and an input"},
    {"buffer Y = %2 : f32 [$N] written", "buffer Y = %2 : f32 [$N]", "kernel Y: Y is stored to and not written"},
    {"register acc : f32 [8]", "register acc : f32 [$N]", "kernel y: acc is not of a constant size up to 16384 bytes"},
    {"stack row : f32 [64]", "stack row : f32 [4097]", "kernel y: row is not of a constant size up to 16384 bytes"},
    {"stack row : f32 [64]", "stack row : f32 [4096, 9223372036854775807]", "kernel y: row is not of a constant size"},
    {"register acc : f32 [8]", "register acc : f32 [8, 1]", "kernel y: acc has rank 2 and is a register"},
    {"scratch far : f64 [$N]", "scratch far : f64 [$M]", "kernel y: dim M is not declared"},
    {"for j < 64 step 8", "for j < 64 step 0", "kernel y: a loop's step is 0"},
    {"for j < 64 step 8 roll", "for j < 64 step 8 roll polled 4",
        "kernel y: a loop is polled that is neither in order nor over lanes"},
    {"for i < $N vector polled 3", "for i < $N step 1099511627776 vector polled 3",
        "kernel Y: a loop is polled behind 3 turns of 1099511627776"},
    {"for j < 64 step 8 roll", "for j < 64 step 8 thread", "kernel y: a thread loop stands in a thread loop"},
    {"  for i < $N vector polled 3 {\n    Y[i] = w[i]\n  }\n",
        "  if true {\n    for i < $N thread {\n      Y[i] = w[i]\n    }\n  }\n",
        "kernel Y: a loop inside of a block is bound to threads"},
    {"for j < 64 step 8 roll", "for j < 64 step 8 round", "kernel y: a loop inside of a block goes in rounds"},
    {"  loops i\n  for i < $N vector polled 3 {\n    Y[i] = w[i]\n  }\n",
        "  loops i r\n  for r < $N round {\n    for i < $N thread {\n      Y[i] = w[i]\n    }\n  }\n",
        "kernel Y: a loop goes in rounds, and not from 0 to a constant by 1"},
    {"  loops i\n  for i < $N vector polled 3 {\n    Y[i] = w[i]\n  }\n",
        "  loops i r\n  for r < 3 round {\n    if true {\n      for i < $N thread {\n        Y[i] = w[i]\n      }\n    }\n  }\n",
        "kernel Y: a loop inside of a block is bound to threads"},
    {"for j < 64 step 8", "for j < 64.0 step 8", "kernel y: where a loop ends is f64 and not i64"},
    {"for j < 64 step 8", "for j < k step 8", "kernel y: loop variable k stands outside of its loop"},
    {"for j < 64 step 8", "for i < 64 step 8", "kernel y: two loops have the variable i"},
    {"for k < 8 unroll", "for k < $N unroll", "kernel y: a loop is unrolled and its length is no constant"},
    {"for k < 8 unroll", "for k < 8 from j unroll", "kernel y: a loop is unrolled and its length is no constant"},
    {"acc[u])", "acc[k])", "kernel y: loop variable k stands outside of its loop"},
    {"acc[u])", "acc[u, 0])", "kernel y: acc has rank 1 and is read with 2 indices"},
    {"y[i] = (f32(far[i]) + f[0])", "y[i] = s[]", "kernel y: s is read where it is not there"},
    {"y[i] = (f32(far[i]) + f[0])", "y[i] = far[i]", "kernel y: what is stored is f64 and not f32"},
    {"y[i] = (f32(far[i]) + f[0])", "y[] = f32(far[i])", "kernel y: y has rank 1 and is stored to with 0 indices"},
    {"y[i] = (f32(far[i]) + f[0])", "y[1.5] = f32(far[i])", "kernel y: an index of a store is f64 and not i64"},
    {"fetch X[v[], 63]", "fetch X[v[]]", "kernel y: X has rank 2 and is fetched with 1 indices"},
    {"fetch X[v[], 63]", "fetch X[v[], 1.5]", "kernel y: an index of what is fetched is f64 and not i64"},
    {"fetch X[v[], 63]", "fetch acc[3]", "kernel y: acc is no buffer and is fetched"},
    {"for l < (j + 8) from j vector", "for l < (j + 17) from j short",
        "kernel y: a loop is short and its length is no constant up to 16"},
    {"for l < (j + 8) from j vector", "for l < $N from j short",
        "kernel y: a loop is short and its length is no constant up to 16"},
    {"index next = min", "index next = f64", NULL},
    {"index next = min((i + 1), ($N - 1))", "index next = 1.5", "kernel y: an index is f64 and not i64"},
    {"index next = min((i + 1), ($N - 1))", "index next = next",
        "kernel y: loop variable next stands outside of its loop"},
    {"index next = min((i + 1), ($N - 1))", "index i = 3", "kernel y: two loops have the variable i"},
    {"  for i < $N thread {\n", "  index u = 3\n  for i < $N from u thread {\n",
        "kernel y: loop variable u stands outside of its loop"},
    {"    var s = acc[1]\n", "    var s = acc[u]\n", "kernel y: loop variable u stands outside of its loop"},
    {"lanes f sin", "lanes f floor", "kernel y: f is f32, for whose arrays floor has no function"},
    {"lanes f sin", "lanes f sine", NULL},
    {"lanes f sin", "lanes ones sin", "kernel y: ones is no array of 16 elements, or a multiple up to 64"},
    {"lanes f sin", "lanes X sin", "kernel y: X is no array of 16 elements, or a multiple up to 64"},
    {"lanes f sin", "lanes v sin", "kernel y: v is i64, for whose arrays sin has no function"},
    {"register f : f32 [16]", "register f : f32 [80]",
        "kernel y: f is no array of 16 elements, or a multiple up to 64"},
    {"    var f = f32(next)\n    lanes f sin\n", "    lanes f sin\n    var f = f32(next)\n",
        "kernel y: f goes through a function where it is not there"},
    {"kernel n step 0 work 1 {\n", "kernel n step 0 work 1 {\n  dense\n",
        "kernel n: there is a version for arguments in row-major order, and no argument"},
    {"lead near = y[i]", "lead near", NULL},
    {"lead near = y[i]", "lead near = v[]", "kernel y: what near leads from is no element of a buffer"},
    {"lead near = y[i]", "lead near = (y[i] + 1.0:f32)", "kernel y: what near leads from is no element of a buffer"},
    {"lead near = y[i]", "lead near = y[0.5]", NULL},
    {"register near : i64", "register near : f32", "kernel y: near is f32 and leads to a line"},
    {"lead near = y[i]", "lead near = y[i]\n    near[] = 1", "kernel y: near is stored to and keeps one value"},
    {"stream y[i] = row[63] for (v[] - i)", "stream y[i] = row[63]", NULL},
    {"row[63] for (v[] - i)", "row[63] for (v[] - i) over 2", "kernel y: y has rank 1 and is streamed to over 2 axes"},
    {"row[63] for (v[] - i)", "row[63] for (v[] - i) over 0", "kernel y: y has rank 1 and is streamed to over 0 axes"},
    {"row[63] for (v[] - i)", "row[63] for 1.5", "kernel y: how much is streamed is f64 and not i64"},
    {"stream y[i] = row[63]", "stream acc[i] = row[63]", "kernel y: acc is no buffer and is streamed to"},
    {"stream y[i] = row[63]", "stream X[i, 0] = row[63]", "kernel y: X is streamed to and not written"},
    {"stream y[i] = row[63]", "stream y[] = row[63]", "kernel y: y has rank 1 and is streamed to with 0 indices"},
    {"stream y[i] = row[63]", "stream y[0.5] = row[63]", "kernel y: an index of a stream is f64 and not i64"},
    {"stream y[i] = row[63]", "stream y[i] = far[0]", "kernel y: what is streamed is f64 and not f32"},
    {"stream y[i] = row[63]", "stream y[i] = X[i, 0]",
        "kernel y: what is streamed to y is no array of the kernel's own"},
    {"stream y[i] = row[63]", "stream y[i] = (row[63] + 1.0:f32)",
        "kernel y: what is streamed to y is no array of the kernel's own"},
    {"    var row\n", "", "kernel y: row is read where it is not there"},
    {"y[i] = (f32(far[i]) + f[0])", "s[] = f32(far[i])", "kernel y: s is stored to where it is not there"},
    {"y[i] = (f32(far[i]) + f[0])", "v[] = 3", "kernel y: v is stored to and keeps one value"},
    {"    var row\n", "", "kernel y: row is stored to where it is not there"},
    {"    var row\n", "    var row\n    var row\n", "kernel y: row comes to be twice"},
    {"    var row\n", "    var X\n", "kernel y: X is a buffer and does not come to be"},
    {"    var row\n", "    var row = 1\n", "kernel y: row is i64 and not f32"},
    {"    var row\n", "    let row = 1.0:f32\n", "kernel y: row is no scalar register"},
    {"  for i < $N thread {\n    let v = within(tok[i], $N, 0)\n    fetch X[v[], 63]\n    lead near = y[i]\n"
     "    var acc = 0.0:f32\n",
        "  var acc = 0.0:f32\n  for i < $N thread {\n    let v = within(tok[i], $N, 0)\n    fetch X[v[], 63]\n"
        "    lead near = y[i]\n",
        "kernel y: acc is stored to where it is not there"},
    {"within(tok[i], $N, 0)", "within(tok[i], $N, 0) across 1",
        "kernel y: what is bound to a device, shared, a group, or what threads do together stands in no grid"},
    {"within(tok[i], $N, 0)", "within(tok[i], $N, 2)", "kernel y: `within` says what no site says"},
    {"within(tok[i], $N, 0)", "within(tok[i], $N, i)", "kernel y: `within` says what no site says"},
    {"@t0", "@t1", "kernel y: loop variable of depth 1 in 1 repeats"},
    {"if (v[] < 2)", "if v[]", "kernel y: a condition is i64 and not bool"},
    {"kernel Y step 5 work $N {", "kernel y step 5 work $N {", "loops: two things are called y"},
};

/* What no text can say. */
typedef void Spoil(LoopProgram *p);
static LoopKernel *kernel_y(LoopProgram *p) { return p->kernels.at[1]; }
static LoopStmt *threads(LoopProgram *p) { return kernel_y(p)->body.at[0]; }
static void spoil_missing(LoopProgram *p) { p->kernels.len--; }
static void spoil_narrow(LoopProgram *p) { kernel_y(p)->narrow = p->kernels.at[0]; }
static void spoil_site(LoopProgram *p) { p->sites.at[0].text = NULL; }
static void spoil_note(LoopProgram *p) { kernel_y(p)->note.at[0] = NULL; }
static void spoil_name(LoopProgram *p) { kernel_y(p)->places.at[0].name = NULL; }
static void spoil_same(LoopProgram *p) { kernel_y(p)->places.at[0].name = kernel_y(p)->var.at[0]; }
static void spoil_space(LoopProgram *p) { kernel_y(p)->places.at[0].space = (LoopSpace)9; }
static void spoil_buffer(LoopProgram *p) { kernel_y(p)->places.at[3].buffer = 1; }
static void spoil_var(LoopProgram *p) { threads(p)->var = 77; }
static void spoil_vars(LoopProgram *p) { kernel_y(p)->var.len = 1; }
static void spoil_bind(LoopProgram *p) { threads(p)->bind = (LoopBind)(BIND_BLOCK + 1); }
static void spoil_cond(LoopProgram *p) { threads(p)->cond = expr_bool(p->tasks->exprs, true); }
static void spoil_maybe(LoopProgram *p) { threads(p)->maybe = true; }
static void spoil_op(LoopProgram *p) { threads(p)->op = OP_SIN; }
static void spoil_value(LoopProgram *p) { threads(p)->value = threads(p)->hi; }
static void spoil_let(LoopProgram *p) { threads(p)->body.at[0]->value = NULL; }
static void spoil_step(LoopProgram *p) { threads(p)->body.at[2]->step = 1; }
static void spoil_at(LoopProgram *p) { threads(p)->body.at[0]->n_at = 1; }
static void spoil_place(LoopProgram *p) { threads(p)->body.at[0]->place = 99; }
static void spoil_kind(LoopProgram *p) { threads(p)->body.at[0]->kind = (LoopKind)99; }
static void spoil_hi(LoopProgram *p) { threads(p)->hi = NULL; }
static void spoil_read(LoopProgram *p) {
  threads(p)->hi = expr_read(p->tasks->exprs, DT_I64, 99, 0, NULL);
}
static void spoil_dtype(LoopProgram *p) {
  const Expr *i = expr_label(p->tasks->exprs, 0);
  threads(p)->body.at[0]->value = expr_read(p->tasks->exprs, DT_I64, 2, 1, &i);
}

static const struct { Spoil *spoil; const char *say; } spoils[] = {
    {spoil_missing, "loops: there are 3 kernels in the tasks and 2 in loops"},
    {spoil_narrow, "kernel y: the kernel for narrow registers is not for the same task of a processor"},
    {spoil_site, "loops: site 0 says nothing"},
    {spoil_note, "kernel y: note 0 is missing"},
    {spoil_name, "kernel y: a place has a name that is none in C: (none)"},
    {spoil_same, "kernel y: two things are called i"},
    {spoil_space, "kernel y: X has no space, no dtype or no shape"},
    {spoil_buffer, "kernel y: acc is no buffer and has the number of one"},
    {spoil_var, "kernel y: a loop has variable 77, of 6"},
    {spoil_vars, "kernel y: a loop has variable 1, of 1"},
    {spoil_bind, "kernel y: a loop is bound to nothing"},
    {spoil_cond, "kernel y: a statement has what only an if has"},
    {spoil_maybe, "kernel y: a statement has what only an if has"},
    {spoil_op, "kernel y: a statement has an operation of lanes"},
    {spoil_value, "kernel y: a loop or an if has a place or a value"},
    {spoil_let, "kernel y: v is missing"},
    {spoil_step, "kernel y: a statement has what only a loop has"},
    {spoil_at, "kernel y: a statement has indices and is no store"},
    {spoil_place, "kernel y: place 99, of 11"},
    {spoil_kind, "kernel y: a statement is of no kind"},
    {spoil_hi, "kernel y: where a loop ends is missing"},
    {spoil_read, "kernel y: place 99 is read, of 11"},
    {spoil_dtype, "kernel y: y is f32 and is read as i64"},
};

static void check_spoils(void) {
  for (size_t i = 0; i < COUNT(spoils); i++) {
    Arena *a = arena_new();
    LoopProgram *p = text_well(a, full), *q = text_well(a, full);
    Buf why = buf_new(a);
    if (p) spoils[i].spoil(p);
    OK(p && text_reports(a, p, spoils[i].say), "reported: %s", spoils[i].say);
    bool compare = p && spoils[i].spoil != spoil_at; /* of what is not there */
    OK(!compare || !loop_equal(q, p, &why), "the changed one is not equal: %s", why.s ? why.s : "");
    arena_free(a);
  }
}

/* ---- what the reader refuses -------------------------------------------------------------------- */

static const TextRefused refused[] = {
    {"loop 1", "loop 2", "E901", "expected the line `loop 1` first"},
    {"tasks {", "task {", "E903", "expected `tasks` here"},
    {"  taskgraph 1", "  taskgraph 2", "E901", "expected the line `taskgraph 1` here"},
    {"  }\n}\nsite 0", "  }\nsite 0", "E902", "expected a line that begins with"},
    {"site 1 ", "site 2 ", "E908", "the next site's number is from 1 to 1"},
    {"site 1 \"never\"", "site 1 never", "E903", "expected a string in quotes here"},
    {"kernel n step 0", "kernel n 0", "E903", "expected `step` here"},
    {"kernel n step 0", "narrow n step 0", "E909", "`narrow` does not follow a kernel"},
    {"  n[] = 3", "  narrow m step 0", "E909", "`narrow` does not stand in a kernel"},
    {"  n[] = 3", "  n[] 3", "E903", "expected `=` here"},
    {"  n[] = 3", "  m[] = 3", "E905", "m is none of this kernel's places"},
    {"  n[] = 3", "  let m = 3", "E905", "m is none of this kernel's places"},
    {"  n[] = 3", "  site 3", "E909", "`site` does not stand in a kernel"},
    {"  n[] = 3", "  nothing", "E902", "expected a line that begins with for, let"},
    {"  n[] = 3", "  n[] = (m[] + 3)", "E904", "no such node to read"},
    {"  n[] = 3", "  n[] = %3[]", "E904", "no such node to read"},
    {"  n[] = 3", "  n[] = #0", "E904", "#0 and #1 stand in monoids only"},
    {"  n[] = 3", "  n[] = @t", "E904", "no such loop variable"},
    {"  n[] = 3", "  } else {", "E903", "expected the end of the line here"},
    {"      }\n    }\n    far", "      } else {\n      }\n    }\n    far", "E909", "there is no `if` for this `else`"},
    {"for j < 64", "for q < 64", "E905", "q is none of this kernel's loop variables"},
    {"for j < 64 step 8", "for j < 64 step 99999999999999999999", "E908", "a step is from"},
    {"vector polled 3", "vector polled 0", "E908", "a number of turns is from"},
    {"loops i j l", "loops i j i", "E911", "i stands for something in this kernel already"},
    {"register s : f32 []", "register acc : f32 []", "E911", "acc stands for something in this kernel already"},
    {"register s : f32 []", "register s : f33 []", "E907", "expected a dtype here"},
    {"register s : f32 []", "register s : f32 [1.5]", "E907", "a size is i64"},
    {"for i < $N thread {", "for i < $N threads {", "E903", "expected `{` here"},
    {"    Y[i] = w[i]\n  }\n}\n", "    Y[i] = w[i]\n", "E909", "expected `}` for kernel Y"},
};

/* ---- any bytes ---------------------------------------------------------------------------------- */

static const char small[] =
    "loop 1\ntasks {\ntaskgraph 1\ndim N\nbuffer %0 output 0 Y[$N] : f32\noutput Y = %0\nkernel 0 Y outer 0 {\n"
    "stage Y[i:$N] : f32 = 0.0:f32 to %0[i]\n}\n}\nsite 0 \"a\" @\"f\":1:2\nkernel Y step 0 work $N {\nnote \"b\"\n"
    "buffer Y = %0 : f32 [$N] written\nregister r : f32 [4]\nloops i k\nfor i < $N step 4 thread {\nvar r = 0.0:f32\n"
    "for k < (i + 4) from i unroll {\nif (within(k, $N, 0) < 3) {\nY[k] = r[0]\n} else {\nY[i] = r[(k - i)]\n}\n}\n}\n"
    "}\n";

/* A kernel that sees its result in two ways, in a thread loop each. */
static const char views[] =
    "loop 1\ntasks {\ntaskgraph 1\ndim N\nbuffer %0 output 0 Y[4, 8] : f32\noutput Y = %0\nkernel 0 Y outer 0 {\n"
    "stage Y[i:4, j:8] : f32 = 0.0:f32 to %0[i, j]\n}\n}\nkernel Y step 0 work 32 {\n"
    "buffer Y = %0 : f32 [4, 8] written\nbuffer Z = %0 axes 2 : f32 [32] written\nloops i j k\n"
    "for i < select(($N < 3), 4, 0) thread {\nfor j < 8 vector {\nY[i, j] = 0.0:f32\n}\n}\n"
    "for k < select((3 <= $N), 32, 0) thread {\nZ[k] = 0.0:f32\n}\n}\n";

static const TextBreak views_breaks[] = {
    {"Z[k] = 0.0:f32", "Y[0, 0] = 0.0:f32\nZ[k] = 0.0:f32", "kernel Y: one part uses two places of buffer %0"},
    {"Z[k] = 0.0:f32", "Z[k] = Y[0, 0]", "kernel Y: one part uses two places of buffer %0"},
    {"buffer Z = %0 axes 2", "buffer X = %0 axes 2 : f32 [32]\nbuffer Z = %0 axes 2", "kernel Y: two places are buffer %0"},
};

static void check_views(void) {
  Arena *a = arena_new();
  LoopProgram *p = text_well(a, views);
  OK(p && text_sound(a, p), "a kernel may see a buffer in two ways");
  OK(p && text_back(p), "its text gives it back");
  text_breaks(views, COUNT(views_breaks), views_breaks);
  arena_free(a);
}

/* Nesting that no kernel has. */
static void check_depth(void) {
  Arena *a = arena_new();
  for (uint32_t deep = 1000; deep <= 1001; deep++) {
    Buf b = buf_new(a);
    buf_str(&b, "loop 1\ntasks {\ntaskgraph 1\n}\nkernel k step 0 {\n");
    for (uint32_t i = 0; i < deep; i++) buf_str(&b, "if true {\n");
    for (uint32_t i = 0; i < deep; i++) buf_str(&b, "}\n");
    buf_str(&b, "}\n");
    Diags *d = diags_new(a);
    LoopProgram *p = text_read(a, b.s, b.len, d);
    OK((p != NULL) == (deep == 1000), "%u blocks in one another are %s", deep, deep == 1000 ? "read" : "refused");
    Buf out = buf_new(a);
    if (p) OK(!loop_check(p, &out) && strstr(out.s, "there is no kernel in the tasks at step 0"), "the checker finds it");
  }
  arena_free(a);
}

int main(void) {
  check_full();
  text_breaks(full, COUNT(breaks), breaks);
  check_spoils();
  text_refusals(full, COUNT(refused), refused);
  text_silence(full, "register acc : f32", "register acc : f33");
  text_broken("a small text", small, 10);
  check_views();
  check_depth();
  return DONE();
}
