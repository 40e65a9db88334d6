/* tests/algebra/test_simulate.c - simulated runs: cases worked out by hand, in whole nanoseconds; what holds of any program on any machine. */
#include <math.h>

#include "algebra/cost.h"
#include "algebra/simulate/simulate.h"
#include "tap.h"

/* Sites four to a node and two nodes to a rack. A byte takes a site's memory 1 ns, and so does an operation; a byte into or out of a site 1 ns, of a
 * node 10 ns. A message waits 1 us in a node, 10 us between nodes. */
static const char two_levels[] =
  "{\"format\": \"ein machine 1\", \"name\": \"two nodes\", \"site\": {\"level\": \"core\"},\n"
  " \"levels\": [{\"name\": \"core\", \"parts\": 1, \"memories\": [{\"name\": \"memory\", \"bytes\": 1000, \"read_bytes_per_second\": %s}],\n"
  "             \"operations_per_second\": {\"f32\": {\"multiply_add\": %s}}},\n"
  "            {\"name\": \"node\", \"parts\": 4, \"link\": {\"latency_seconds\": %s, \"bytes_per_second\": %s}},\n"
  "            {\"name\": \"rack\", \"parts\": 2, \"link\": {\"latency_seconds\": %s, \"bytes_per_second\": %s}}]}\n";

static const char *const plain[] = {"1e9", "1e9", "1e-6", "1e9", "1e-5", "1e8"};

static Seconds *seconds_of(Arena *a, const char *const *figure, int64_t sites) {
  Diags *d = diags_new(a);
  Buf why = buf_new(a);
  const char *text = arena_printf(a, two_levels, figure[0], figure[1], figure[2], figure[3], figure[4], figure[5]);
  Machine *m = machine_read(a, source_new(a, "m.json", text, strlen(text)), d);
  const PartGraph nothing = {.arena = a};
  Seconds *s = m && machine_check(m, d) ? seconds_new(a, &nothing, m, sites, &why) : NULL;
  if (!OK(s, "a machine with %d sites", (int)sites)) tap_text("why", why.s);
  return s;
}

static Algebra *program_of(Arena *a, const char *text) {
  Diags *d = diags_new(a);
  Buf why = buf_new(a);
  Algebra *p = algebra_read(a, strings_new(a), source_new(a, "x.ia", text, strlen(text)), d);
  bool ok = p && algebra_check(p, &why);
  diags_text(d, &why, false);
  if (!ok) tap_text(text, why.s);
  return ok ? p : NULL;
}

static const Simulated nothing;

static const Simulated *run_on(Arena *a, const char *text, const char *const *figure) {
  Buf why = buf_new(a);
  Algebra *p = program_of(a, text);
  const Simulated *x = p ? simulate(a, p, seconds_of(a, figure, mesh_sites(&p->mesh)), NULL, &why) : NULL;
  if (!OK(x, "it runs")) tap_text("why", why.s);
  return x ? x : &nothing;
}

static int64_t ns(double seconds) {
  return (int64_t)floor(seconds * 1e9 + 0.5);
}

/* ---- by hand ------------------------------------------------------------------------------------------------ */

#define PRODUCT "join %0 A {} [i:8, j:8] : f32 at * = 1.0:f32\njoin %1 Y {} [i:8, j:8; k:8] : f32 at * of %0{}, %0{} = sum:f32 (&0[i, k] * &1[k, j])\n"
#define HALVES "input %0 A {i:2} [64/i] : f32 at 0\n"
#define QUARTERS "input %0 A {i:4} [64/i] : f32 at 0\n"
#define MANY "input %0 A {i:4} [6400/i] : f32 at 0\n"
#define ASKED(axes, blocks, points) "input %1 w {m:" blocks "} [" points "/m] : i64 at " axes "\n" \
  "fetch %2 {m:" blocks "} [m:" points "/m] : f32 at " axes " of %1{m}, %0 = &1[&0[m]]\n"
#define EIGHTHS "input %0 A {i:8} [64/i] : f32 at 0 0\n"

typedef struct Case { const char *text; int64_t want, chain, sequence, kernels; const char *what; } Case;

static const Case by_hand[] = {
  {"ia 1\nmesh 2\n", 0, 0, 0, 0, "nothing"},
  {"ia 1\nmesh 2\n" PRODUCT, 1280, 1280, 1280, 1280, "two kernels: one writes 256 bytes, one has 512 points of two operations"},
  {"ia 1\nmesh 2\n" HALVES "join %1 Y {i:2} [i:64/i] : f32 at 0 of %0{i} = (&0[i] * &0[i])\n", 256, 256, 256, 256, "one that waits for memory: 128 bytes there and back"},
  {"ia 1\nmesh 2\n" HALVES "broadcast %1 {i:2} [64/i] : f32 at * of %0\n", 1128, 1128, 1128, 0, "two get all: one latency, and 128 bytes each"},
  {"ia 1\nmesh 4\n" QUARTERS "broadcast %1 {i:4} [64/i] : f32 at * of %0\n", 1192, 1192, 1192, 0, "four: one latency, and three times 64"},
  {"ia 1\nmesh 2 4\n" EIGHTHS "broadcast %1 {i:8} [64/i] : f32 at * * of %0\n", 15120, 15120, 15120, 0, "eight: into a node 128 bytes for each of its four"},
  {"ia 1\nmesh 2 4\njoin %0 A {i:4} [i:64/i] : f32 at * 0 = 1.0:f32\nbroadcast %1 {i:4} [64/i] : f32 at * * of %0\n", 1256, 1256, 1256, 64, "in nodes alone, when 64 bytes are written"},
  {"ia 1\nmesh 2 4\njoin %0 A {i:2} [i:64/i] : f32 at 0 * = 1.0:f32\nbroadcast %1 {i:2} [64/i] : f32 at * * of %0\n", 15248, 11408, 15248, 128,
   "between nodes: each of four sites gets 128 bytes from the one in its place, over one link; 128 are written"},
  {"ia 1\nmesh 4\n" MANY "broadcast %1 {i:4} [6400/i] : f32 at * of %0\ninput %2 B {i:4} [6400/i] : f32 at 0\nbroadcast %3 {i:4} [6400/i] : f32 at * of %2\n",
   39400, 20200, 40400, 0, "two at once have half of each link"},
  {"ia 1\nmesh 4\n" MANY "broadcast %1 {i:4} [6400/i] : f32 at * of %0\ninput %2 B {i:4} [12800/i] : f32 at 0\nbroadcast %3 {i:4} [12800/i] : f32 at * of %2\n",
   58600, 39400, 59600, 0, "the longer one goes on alone: 19200 of its 38400 bytes at half, the rest at all of it"},
  {"ia 1\nmesh 2\ninput %0 A {i:1} [6400] : f32 at 0\nbroadcast %1 {i:1} [6400] : f32 at * of %0\n"
   "input %2 B {i:1} [3200] : f32 at 0\nbroadcast %3 {i:1} [3200] : f32 at * of %2\n", 39400, 26600, 40400, 0, "both out of the first site"},
  {"ia 1\nmesh 2\ninput %0 A {i:1} [6400] : f32 at 0\nbroadcast %1 {i:1} [6400] : f32 at * of %0\n"
   "input %2 B {i:2} [0..(6400 * i)] : f32 at 0\nbroadcast %3 {i:2} [0..(6400 * i)] : f32 at * of %2\n", 26600, 26600, 53200, 0,
   "one each way: no link is shared"},
  {"ia 1\nmesh 2\n" HALVES "join %1 Y {i:2} [i:64/i] : f32 at 0 of %0{i} = (&0[i] * &0[i])\n"
   "input %2 B {i:2} [64/i] : f32 at 0\nbroadcast %3 {i:2} [64/i] : f32 at * of %2\n", 1128, 1128, 1384, 256,
   "a move beside a kernel that does not need it"},
  {"ia 1\nmesh 2\ninput %0 A {i:2} [8/i, 8] : f32 at 0\njoin %1 B {} [i:8, j:8] : f32 at * = 1.0:f32\n"
   "join %2 Y {i:2} [i:8/i, j:8; k:8] : f32 at 0 of %0{i}, %1{} = sum:f32 (&0[i, k] * &1[k, j])\nbroadcast %3 {i:2} [8/i, 8] : f32 at * of %2\n",
   1896, 1896, 1896, 768, "a chain: the move waits for the kernel"},
  {"ia 1\nmesh 2\ninput %0 A {k:2} [64] : f32 at 0\ntile %1 {k:2, i:2} [64/i] : f32 holes at 0 of %0 into {i:2} [64/i]\nshuffle %2 {k:2, i:2} [64/i] : f32 holes at 1 of %1\n"
   "aggregate %3 {i:2} [64/i] : f32 at 0 of %2 by {i} sum\n", 2152, 2152, 2152, 1024, "parts: a half of 128 bytes each; one is packed, and two are added: 256, and twice 384"},
  {"ia 1\nmesh 2\n" HALVES "join %1 Y {i:2} [i:64/i] : f32 at 0 of %0{i} = (&0[i] * &0[i])\nfilter %2 Y {i:2} [64/i] : f32 holes at 0 of %1 keep (i < 1)\n",
   256, 256, 256, 256, "a filter: the second site makes nothing"},
  {"ia 1\nmesh 2\n" HALVES "tile %1 {i:2, j:4} [max((16 * j), (32 * i))..min(((16 * j) + 16), ((32 * i) + 32))] : f32 holes at 0 of %0 into {j:4} [64/j]\n"
   "rekey %2 {j:4, i:2} [max((16 * j), (32 * i))..min(((16 * j) + 16), ((32 * i) + 32))] : f32 holes at 1 of %1 to [j, i]\n", 0, 0, 0, 0, "views"},
  {"ia 1\nmesh 2\n" HALVES "broadcast %1 {i:2} [64/i] : f32 at * of %0\nconcat %2 {} [64] : f32 at * of %1 by {}\n", 1640, 1640, 1640, 512,
   "a concat reads 256 bytes and writes them"},
  {"ia 1\nmesh 4\ninput %0 A {f:1} [1048576] : f32 at 0\nbroadcast %1 {f:1} [1048576] : f32 at * of %0\n",
   6291456 + 2000, 6291456 + 2000, 6291456 + 2000, 0, "4 MB that one site has: three quarters out of it in shares, and then three quarters in"},
  {"ia 1\nmesh 4\ninput %0 A {k:4} [64] : f32 at 0\ntile %1 {k:4, f:1} [64] : f32 at 0 of %0 into {f:1} [64]\nshuffle %2 {k:4, f:1} [64] : f32 at 1 of %1\n"
   "aggregate %3 {f:1} [64] : f32 at 0 of %2 by {f} sum\nbroadcast %4 {f:1} [64] : f32 at * of %3\n",
   192 + 1000 + 1152 + 192 + 1000, 192 + 1000 + 1152 + 192 + 1000, 192 + 1000 + 1152 + 192 + 1000, 1152,
   "an all-reduce: parts of 64 bytes from three; of four such, three are packed, and four added; and to three"},
  {"ia 1\nmesh 2\n" QUARTERS "filter %1 {i:4} [64/i] : f32 holes at 0 of %0 keep ((i % 2) < 1)\n"
   "join %2 Y {i:4} [i:64/i] : f32 holes at 0 of %1{i} wanted = (&0[i] * &0[i])\n", 128, 128, 128, 128, "what is wanted is there for one block of a site's two"},
  {"ia 1\nmesh 2\n" QUARTERS "filter %1 {i:4} [64/i] : f32 holes at 0 of %0 keep (1 <= i)\n"
   "join %2 Y {i:4} [i:64/i] : f32 holes at 0 of %1{i} wanted = (&0[i] * &0[i])\nfilter %3 Y {i:4} [64/i] : f32 holes at 0 of %2 keep (i < 3)\n",
   128, 128, 128, 128, "of these, a filter keeps one"},
  {"ia 1\nmesh 2\n" HALVES ASKED("0", "2", "8"), 3048, 3048, 3048, 0, "a fetch: how many, which ones, and at most four elements for each site, of 4 bytes and 8 of the question"},
  {"ia 1\nmesh 4\n" QUARTERS ASKED("0", "4", "8"), 3024, 3024, 3024, 0, "of four: two elements for each, of some of three"},
  {"ia 1\nmesh 2 4\n" EIGHTHS ASKED("0 0", "8", "56"), 31920, 31920, 31920, 0,
   "of eight: of seven elements with 84 bytes, four come from the other node to each of its sites"},
};

static void cases(void) {
  for (size_t k = 0; k < COUNT(by_hand); k++) {
    Arena *a = arena_new();
    const Simulated *x = run_on(a, by_hand[k].text, plain);
    OK_INT(ns(x->seconds), by_hand[k].want, "%s", by_hand[k].what);
    OK_INT(ns(x->chain), by_hand[k].chain, "  its chain");
    OK_INT(ns(x->sequence), by_hand[k].sequence, "  one after the other");
    OK_INT(ns(x->kernels), by_hand[k].kernels, "  of one site's kernels");
    arena_free(a);
  }
}

/* ---- what is told ------------------------------------------------------------------------------------------------ */

static void tells(void) {
  Arena *a = arena_new();
  const Simulated *x = run_on(a, by_hand[15].text, plain);
  OK_INT(llround(1000 * x->idle), 500, "of two sites one does nothing");
  OK_INT(llround(1000 * x->waiting), 0, "no site waits for a move");
  x = run_on(a, by_hand[12].text, plain);
  OK_INT(llround(1128 * x->idle), 1128 - 256, "idle when the kernel is done,");
  OK_INT(llround(1128 * x->waiting), 1128 - 256, "for the move goes on");
  OK(x->n_step == 1 && x->step[0].node->kind == ALG_MOVE && x->step[0].sites == 2, "the time depends on this move alone");
  x = run_on(a, by_hand[13].text, plain);
  OK(x->n_step == 3 && x->step[1].node->kind == ALG_JOIN && ns(x->step[1].seconds) == 512 && ns(x->step[2].begin) == 768, "a chain has three steps");
  OK(x->busiest.level && ns(x->busiest.seconds) == 128 && x->busiest.bytes == 128, "its links carry 128 bytes");
  x = run_on(a, "ia 1\nmesh 2\n" HALVES "join %1 Y {i:2} [i:64/i] : f32 at 0 of %0{i} = (&0[i] * &0[i])\n"
                "input %2 B {i:2} [32/i] : f32 at 0\njoin %3 Z {i:2} [i:32/i] : f32 at 0 of %2{i} = (&0[i] * &0[i])\n", plain);
  OK(x->n_step == 2 && ns(x->step[0].seconds) == 256 && ns(x->step[1].seconds) == 128, "a kernel waits for the one before it in the queue");
  x = run_on(a, by_hand[5].text, plain);
  OK(x->busiest.bytes == 512 && ns(x->busiest.seconds) == 5120 && x->busiest.part < 2, "a node's link is busier than a site's");
  OK_INT((int64_t)x->received, 8 * 224, "each of eight receives 7 x 32 bytes");
  arena_free(a);
}

#define TURN(more) "repeat %2 t < %1 turns " more " {\n state %3 {i:2} [64/i] : f32 at 0 = %0\n broadcast %4 {i:2} [64/i] : f32 at * of %3\n" \
  " join %5 {i:2} [i:64/i] : f32 at 0 of %4{i} = (&0[i] * &0[i])\n next %3 = %5\n}\nfinal %6 {i:2} [64/i] : f32 at 0 = %2.0\n" \
  "broadcast %7 {i:2} [64/i] : f32 at * of %6\n"

static void repeats(void) {
  static const struct { const char *text; int64_t turns; } r[] = {{TURN("0"), 0}, {TURN("1"), 1}, {TURN("2"), 2}, {TURN("3"), 3}, {TURN("1000"), 1000}};
  for (size_t k = 0; k < COUNT(r); k++) {
    Arena *a = arena_new();
    const Simulated *x = run_on(a, arena_printf(a, "%s%s", "ia 1\nmesh 2\n" HALVES "join %1 n {} [] : i64 at * = 3\n", r[k].text), plain);
    OK_INT(ns(x->seconds), 8 + r[k].turns * (1128 + 256) + 1128, "%d turns, a move and a kernel each; i64 that is written, and a move at the end", (int)r[k].turns);
    OK_INT(ns(x->kernels), 8 + r[k].turns * 256, "  its kernels");
    OK_INT((int64_t)x->received, 256 * (r[k].turns + 1), "  its bytes");
    OK(x->turns_cut == (r[k].turns > 3) && !x->turns_differ && !x->turns_unknown, "  and what is said of it");
    arena_free(a);
  }
}

/* Of four nodes, one waits for another, as tasks have it. */
static int64_t after(Arena *a, const Algebra *p, const Seconds *s, uint32_t node, uint32_t other) {
  static AlgTasks tasks[4];
  static AlgPanel panel;
  static AlgDone done;
  Buf why = buf_new(a);
  done = (AlgDone){other, 0};
  panel = (AlgPanel){.n_after = other < 4, .after = &done};
  for (uint32_t i = 0; i < 4; i++) tasks[i] = (AlgTasks){-1, 1, i == node ? &panel : NULL};
  return ns(simulate(a, p, s, tasks, &why)->seconds);
}

/* What tasks make before a move begins. */
static void begins_after(void) {
  Arena *a = arena_new();
  enum { NOTHING = 4 };
  const char *beside = by_hand[12].text; /* a kernel, %1, and a move that does not need it, %3 */
  Algebra *p = program_of(a, beside);
  const Seconds *s = seconds_of(a, plain, 2);
  OK_INT(after(a, p, s, 3, NOTHING), 1128, "a move that tasks begin at once");
  OK_INT(after(a, p, s, 3, 1), 256 + 1128, "a move that begins after a kernel");
  OK_INT(after(a, p, s, 1, 3), 1128 + 256, "a kernel that begins after a move that it does not need");
  p = program_of(a, "ia 1\nmesh 2\n" HALVES "broadcast %1 {i:2} [64/i] : f32 at * of %0\n"
      "join %2 Y {i:2} [i:64/i] : f32 at * of %1{i} = (&0[i] * &0[i])\njoin %3 Z {i:2} [i:64/i] : f32 at 0 of %0{i} = (&0[i] * &0[i])\n");
  OK_INT(after(a, p, s, 1, NOTHING), 1128 + 512 + 256, "kernels go in the program's order,");
  OK_INT(after(a, p, s, 1, 3), 256 + 1128 + 512, "unless a move waits for a later one");
  OK_INT(after(a, p, s, 1, 2), 1128 + 512 + 256, "what would wait for itself does not wait");
  arena_free(a);
}

/* A move of 2 x 128 bytes and a kernel of 512 ns on what it brings, in n panels. Of each, half comes from either site; or as `message` says. */
static int64_t in_panels(Arena *a, uint32_t n, bool ahead, const AlgMessage *message) {
  static const char text[] = "ia 1\nmesh 2\n" HALVES "broadcast %1 {i:2} [64/i] : f32 at * of %0\n"
                             "join %2 Y {i:2} [i:64/i] : f32 at * of %1{i} = (&0[i] * &0[i])\n";
  Buf why = buf_new(a);
  Algebra *p = program_of(a, text);
  AlgTasks tasks[] = {{-1, 1, NULL}, {2, n, NEW_ARRAY(a, AlgPanel, n)}, {2, n, NEW_ARRAY(a, AlgPanel, n)}};
  AlgDone *done = NEW_ARRAY(a, AlgDone, 2 * n);
  for (uint32_t i = 0; i < n; i++) { /* a panel begins when the one before is there, and the kernel on that, or the one before that, is done */
    done[2 * i] = (AlgDone){1, i - 1};
    done[2 * i + 1] = (AlgDone){2, i - 1 - ahead};
    if (message) tasks[1].panel[i].n_message = 1, tasks[1].panel[i].message = &message[i];
    if (i) tasks[1].panel[i].after = done + 2 * i, tasks[1].panel[i].n_after = i > ahead ? 2 : 1;
  }
  const Simulated *x = simulate(a, p, seconds_of(a, plain, 2), tasks, &why);
  OK_INT((int64_t)x->received, 256, "%d panels: as much as at once is received", (int)n);
  OK_INT(ns(x->kernels), 512, "  and kernels take as long");
  OK(x->chain <= x->seconds * (1 + 1e-9) && x->seconds <= x->sequence * (1 + 1e-9), "  between its bounds");
  return ns(x->seconds);
}

static void panels(void) {
  Arena *a = arena_new();
  static const AlgMessage by_turns[] = {{0, 1, 64}, {1, 0, 64}, {0, 1, 64}, {1, 0, 64}};
  OK_INT(in_panels(a, 1, true, NULL), 1128 + 512, "in one panel: a latency, 128 bytes, the kernel");
  OK_INT(in_panels(a, 2, false, NULL), 2 * (1064 + 256), "in two, one after the other");
  OK_INT(in_panels(a, 2, true, NULL), 2 * 1064 + 256, "in two: a half of the kernel hides behind the second");
  OK_INT(in_panels(a, 4, true, NULL), 4 * 1032 + 128, "in four: three quarters");
  OK_INT(in_panels(a, 4, true, by_turns), 4 * 1064 + 128, "if each panel comes from one site, it takes as long as twice as much from both");
  arena_free(a);
}

static void refused(void) {
  Arena *a = arena_new();
  Buf why = buf_new(a);
  static const char text[] = "ia 1\nmesh 2\ninput %0 A {i:2} [64/i] : i64 at 0\njoin %1 Y {i:2} [i:64/i] : i64 at 0 of %0{i} = (&0[i] * &0[i])\n";
  OK(!simulate(a, program_of(a, text), seconds_of(a, plain, 2), NULL, &why), "a rate is missing");
  OK(strstr(why.s, "two nodes does not say how fast a core computes Y in i64"), "the message says what is missing: %s", why.s);
  arena_free(a);
}

/* ---- any program, any machine --------------------------------------------------------------------------------------- */

static uint64_t state = 1;

static uint32_t below(uint32_t n) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(state >> 33) % n;
}

static const char *const where[] = {"0 1", "1 0", "0 0", "1 1", "* 0", "0 *", "* 1", "1 *", "* *"};

static bool copies(const char *from, const char *to) {
  return (to[0] == '*' || to[0] == from[0]) && (to[2] == '*' || to[2] == from[2]);
}

/* Tensors of 8 x 8 blocks on 2 x 4 sites, which are moved, and multiplied where two are at one place. */
static const char *random_program(Arena *a) {
  Buf b = buf_new(a);
  uint32_t n = 4 + below(16), at[24];
  static const int extent[] = {8, 16, 50, 200};
  int x = extent[below(4)], y = extent[below(4)];
  const char *type = arena_printf(a, "{i:8, j:8} [%d/i, %d/j] : f32", x, y);
  buf_str(&b, "ia 1\nmesh 2 4\n");
  for (uint32_t k = 0; k < n; k++) {
    uint32_t of = k ? below(k) : 0, other = of;
    for (uint32_t i = 0; i < k; i++)
      if (at[i] == at[of] && below(2)) other = i;
    at[k] = k < 2 ? below(4) : below(2) ? below(COUNT(where)) : at[of];
    if (k < 2) buf_printf(&b, "input %%%u A%u %s at %s\n", k, k, type, where[at[k]]);
    else if (at[k] != at[of]) buf_printf(&b, "%s %%%u %s at %s of %%%u\n", copies(where[at[of]], where[at[k]]) ? "broadcast" : "shuffle", k, type, where[at[k]], of);
    else {
      buf_printf(&b, "join %%%u {i:8, j:8} [a:%d/i, b:%d/j; c:%u] : f32 at %s of %%%u{i, j}", k, x, y, 1 + below(40), where[at[k]], of);
      if (other == of) buf_str(&b, " = sum:f32 (&0[a, b] * &0[a, b])\n");
      else buf_printf(&b, ", %%%u{i, j} = sum:f32 (&0[a, b] * &1[a, b])\n", other);
    }
  }
  return b.s;
}

static const char *figure(Arena *a, double from) {
  return arena_printf(a, "%.0fe%d", (double)(1 + below(9)), (int)from - (int)below(3));
}

static bool steps_whole(const Simulated *x) {
  double at = 0;
  for (uint32_t i = 0; i < x->n_step; i++) {
    if (fabs(x->step[i].begin - at) > 1e-12 * x->seconds) return false;
    at = x->step[i].begin + x->step[i].seconds;
  }
  return fabs(at - x->seconds) <= 1e-12 * x->seconds;
}

static void at_random(void) {
  uint32_t all = 0, kernels = 0, chain = 0, links = 0, bytes = 0, steps = 0, same = 0, sequence = 0, faster = 0;
  static const double NEAR = 1 + 1e-9;
  double most = 0, worst = 0;
  for (int k = 0; k < 400; k++) {
    Arena *a = arena_new();
    Buf why = buf_new(a);
    const char *text = random_program(a), *f[] = {figure(a, 9), figure(a, 9), figure(a, -6), figure(a, 10), figure(a, -5), figure(a, 9)};
    const char *g[] = {f[0], f[1], f[2], NULL, f[4], f[5]};
    g[3] = arena_printf(a, "%c0%s", f[3][0], strchr(f[3], 'e'));
    g[5] = arena_printf(a, "%c0%s", f[5][0], strchr(f[5], 'e'));
    Algebra *p = program_of(a, text);
    const Seconds *s = seconds_of(a, f, 8);
    const Simulated *x = simulate(a, p, s, NULL, &why), *y = simulate(a, p, s, NULL, &why), *z = simulate(a, p, seconds_of(a, g, 8), NULL, &why);
    all++;
    kernels += x->seconds * NEAR >= x->kernels;
    chain += x->seconds * NEAR >= x->chain;
    links += x->seconds * NEAR >= x->busiest.seconds;
    bytes += x->received == algebra_cost(p).bytes;
    steps += steps_whole(x);
    same += x->seconds == y->seconds && x->waiting == y->waiting && x->n_step == y->n_step;
    sequence += x->seconds <= x->sequence * NEAR;
    faster += z->seconds <= x->seconds * NEAR;
    if (x->sequence > 0 && x->seconds / x->sequence > most) most = x->seconds / x->sequence;
    if (x->seconds > 0 && z->seconds / x->seconds > worst) worst = z->seconds / x->seconds;
    arena_free(a);
  }
  printf("# at most %.4f of the sequence; with ten times the links at most %.4f of the time\n", most, worst);
  OK_INT(kernels, all, "no faster than the kernels of a site");
  OK_INT(chain, all, "no run is shorter than its longest chain");
  OK_INT(links, all, "no run is shorter than what a link carries takes");
  OK_INT(bytes, all, "sites receive what the cost of moves says");
  OK_INT(steps, all, "the steps on which the time hangs add up to it");
  OK_INT(same, all, "twice the same");
  OK_INT(sequence, all, "no slower than one operation after the other");
  OK_INT(faster, all, "no slower on faster links");
}

int main(void) {
  cases();
  tells();
  repeats();
  begins_after();
  panels();
  refused();
  at_random();
  return DONE();
}
