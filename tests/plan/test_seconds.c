/* tests/plan/test_seconds.c - what moves take on links, worked out by hand; which levels sites fill; sample machines;
 * memory of a site. */
#include <math.h>

#include "plan/placing/fit.h"
#include "plan/placing/windows.h"
#include "tap.h"

/* Sites four to a node and two nodes to a rack; times in ns are whole numbers. */
static const char two_levels[] =
    "{\"format\": \"ein machine 1\", \"name\": \"two nodes\", \"site\": {\"level\": \"core\"},\n"
    " \"levels\": [{\"name\": \"core\", \"parts\": 1, \"memories\": [{\"name\": \"memory\", \"bytes\": 1000, "
    "\"read_bytes_per_second\": 1e9}],\n"
    "             \"operations_per_second\": {\"f32\": {\"multiply_add\": 1e9, \"add_max\": 5e8}}},\n"
    "            {\"name\": \"node\", \"parts\": 4, \"link\": {\"latency_seconds\": 1e-6, \"bytes_per_second\": "
    "1e9}},\n"
    "            {\"name\": \"rack\", \"parts\": 2, \"link\": {\"latency_seconds\": 1e-5, \"bytes_per_second\": "
    "1e8}}]}\n";

static Machine *machine_of(Arena *a, const char *text) {
  Diags *d = diags_new(a);
  Machine *m = machine_read(a, source_new(a, "m.json", text, strlen(text)), d);
  OK(m && machine_check(m, d), "the machine");
  return m;
}

static PartGraph *graph_of(Arena *a, const char *text) {
  Diags *d = diags_new(a);
  Buf why = buf_new(a);
  EinGraph *g = graph_read(a, strings_new(a), source_new(a, "x", text, strlen(text)), d);
  if (!g) {
    diags_text(d, &why, false);
    tap_text("the graph", why.s);
  }
  return g ? part_from_graph(a, g, &why) : NULL;
}

static const char product[] =
  "eingraph 1\ninput %0 A[8, 8] : f32\ninput %1 B[8, 8] : f32\n"
  "vertex %2 C[i:8, k:8] : f32 = sum:f32[j:8] (%0[i, j] * %1[j, k])\noutput C = %2\n";

/* "0 * +", by axis. */
static Placement placement_of(const char *text) {
  Placement p = {{0}};
  for (uint32_t a = 0; *text; text += text[1] ? 2 : 1, a++)
    p.on[a] = *text == '*' ? PLACE_ALL : *text == '+' ? PLACE_PART : (int8_t)(*text - '0');
  return p;
}

static int64_t ns(double seconds) {
  return (int64_t)floor(seconds * 1e9 + 0.5);
}

static void moves(void) {
  Arena *a = arena_new();
  Buf why = buf_new(a);
  const Machine *m = machine_of(a, two_levels);
  const Seconds *s = seconds_new(a, graph_of(a, product), m, 8, &why);
  const Mesh mesh = {2, {2, 4}};
  Links l = seconds_links(s, &mesh, 0);
  OK(l.n == 2 && l.link[0].axes == 2 && l.link[1].axes == 1 && l.by[0] == 1 && l.by[1] == 0, "each axis has its level");
  static const int64_t line[] = {64}, square[] = {8, 8}, odd[] = {9, 5};
  static const struct {
    const char *from, *to;
    uint32_t rank;
    const int64_t *extent;
    int64_t want;
    const char *what;
  } move[] = {{"0 0", "* *", 1, line, 5120 + 10000 + 512, "to all: each of four sites gets half of it from outside"},
      {"0 0", "0 *", 1, line, 96 + 1000 + 256, "to all of a node: each has a quarter of 32 elements; four together"},
      {"* 0", "0 *", 1, line, 128 + 1000 + 256, "the other half is in the node, too"},
      {"0 0", "0 0", 1, line, 0, "nothing"},
      {"* *", "0 0", 1, line, 0, "all is there"}, {"0 *", "0 0", 1, line, 0, "half is there too"},
      {"* 0", "* 1", 2, square, 48 + 1000 + 128, "rows to columns: each sends each of three something of its own"},
      {"0 *", "1 *", 2, square, 2560 + 10000 + 256, "between nodes: each site has half of 32 elements"},
      {"* 0", "* 1", 2, odd, 56 + 1000 + 144, "9 by 5 by four: of 9 by 2 there are 2 by 2"},
      {"0 1", "1 0", 2, square, 1280 + 10000 + 64, "both: some site gets all its 8 from the other node, so four may"}};
  for (size_t k = 0; k < COUNT(move); k++) {
    Placement from = placement_of(move[k].from), to = placement_of(move[k].to);
    OK_INT(ns(links_move(&l, move[k].rank, move[k].extent, 4, &from, &to)), move[k].want, "%s to %s: %s", move[k].from,
        move[k].to, move[k].what);
  }
  static const struct { const char *from, *to; int64_t want; const char *what; } red[] = {
    {"+ +", "* *", 10240 + 20000 + 1216, "parts to all: two exchanges; of 8 elements, 7 parts are packed, and 8 added"},
    {"+ +", "0 0", 5120 + 10000 + 1216, "parts to a part of each"},
    {"* +", "* 0", 192 + 1000 + 1152, "parts in a node"},
    {"0 +", "0 *", 192 + 2000 + 576, "parts in a node, to all of it: 32 elements, 1.5 times"},
    {"* *", "* *", 0, "no parts"}};
  for (size_t k = 0; k < COUNT(red); k++) {
    Placement from = placement_of(red[k].from), to = placement_of(red[k].to);
    OK_INT(
        ns(links_reduce(&l, 1, line, 4, &from, &to)), red[k].want, "%s to %s: %s", red[k].from, red[k].to, red[k].what);
  }
  Placement to = placement_of("* 0");
  Placement stored = place_stored(&mesh, 1, line, &to);
  OK(place_inner(stored.on[0]) == 0, "what a later axis cuts is cut along an earlier one inside of its blocks");
  OK_INT(placement_inner(&mesh, &stored, 0), 2, "each into two pieces");
  OK_INT(ns(links_copies(&l, 1, line, 4, &stored, &to)), 1280 + 10000 + 128,
      "each node gets four pieces of 32 bytes, and puts them together");
  static const int64_t short_line[] = {4};
  stored = place_stored(&mesh, 1, short_line, &to);
  OK(stored.on[0] == PLACE_FIRST, "a block of one element has no room: the first node has it");
  OK_INT(ns(links_copies(&l, 1, short_line, 4, &stored, &to)), 160 + 10000, "it sends four blocks of 4 bytes");
  to = placement_of("0 *"), stored = place_stored(&mesh, 1, line, &to);
  OK(stored.on[1] == 0, "along a later one it has");
  OK_INT(ns(links_copies(&l, 1, line, 4, &stored, &to)), 96 + 1000 + 256, "each site sends its share");
  static const int64_t long_line[] = {1 << 24};
  to = placement_of("0 *"), stored = to, stored.on[1] = PLACE_FIRST;
  OK_INT(ns(links_copies(&l, 1, long_line, 4, &stored, &to)), (1 << 25) * 3 / 2 + 2000,
      "much goes in shares: three quarters out of one site, and then three to each");
  to = placement_of("* *"), stored = placement_of("0 *"), stored.on[1] = PLACE_FIRST;
  OK_INT(ns(links_copies(&l, 1, line, 4, &stored, &to)), 5120 + 10000 + 512,
      "half is at the first site of each node, which sends it to the four of the other");
  const Mesh across = {2, {4, 2}};
  l = seconds_links(s, &across, 0);
  OK(l.link[1].axes == 1 && l.link[1].rate == 5e7 && l.by[0] == 1,
      "an axis of two nodes with two sites each leaves them, and shares the link");
  arena_free(a);
}

/* ---- levels ------------------------------------------------------------------------------------------------ */

static void fills(int64_t sites, const char *want) {
  Arena *a = arena_new();
  Buf why = buf_new(a), used = buf_new(a);
  const Machine *m = machine_of(a, two_levels);
  const Seconds *s = seconds_new(a, graph_of(a, product), m, sites, &why);
  for (uint32_t k = 0; s && k < m->levels.len; k++) buf_printf(&used, "%s%lld", k ? " " : "", (long long)s->used[k]);
  OK_STR(s ? used.s : why.s, want, "%lld sites", (long long)sites);
  arena_free(a);
}

static void wants(const char *from, const char *to, const char *want) {
  Arena *a = arena_new();
  Buf b = buf_new(a), why = buf_new(a);
  const char *at = strstr(two_levels, from);
  buf_add(&b, two_levels, (size_t)(at - two_levels));
  buf_str(&b, to);
  buf_str(&b, at + strlen(from));
  OK(!seconds_new(a, graph_of(a, product), machine_of(a, b.s), 8, &why), "something is missing");
  OK_STR(why.s, want, "%s", from);
  arena_free(a);
}

static void kernels(void) {
  Arena *a = arena_new();
  Buf why = buf_new(a);
  const PartGraph *g = graph_of(a, product);
  const Seconds *s = seconds_new(a, g, machine_of(a, two_levels), 8, &why);
  static const uint32_t whole[] = {1, 1, 1}, cut[] = {3, 1, 2};
  OK_INT(ns(seconds_kernels(s, &g->vertices.at[0], 0, whole)), 1024, "512 points, two operations each");
  OK_INT(ns(seconds_kernels(s, &g->vertices.at[0], 0, cut)), 48 + 128 + 96,
      "the largest block, 3 by 8 by 4: operands and result take longer");
  static const uint32_t thin[] = {1, 1, 8};
  OK_INT(ns(seconds_kernels(s, &g->vertices.at[0], 0, thin)), 32 + 32 + 256, "of thin blocks too, operands and result take longer");
  arena_free(a);
}

/* ---- sample machines ------------------------------------------------------------------------------------------ */

static void sample(const char *name, int64_t sites, uint32_t meshes) {
  Arena *a = arena_new();
  Diags *d = diags_new(a);
  Buf text = buf_new(a), why = buf_new(a);
  const char *error;
  const Mesh *mesh;
  Source *src = source_read(a, arena_printf(a, "samples/machines/%s.json", name), &error);
  Machine *m = src ? machine_read(a, src, d) : NULL;
  OK(m && machine_check(m, d), "%s", name);
  if (!m) return;
  machine_print(&text, m);
  Machine *n = machine_read(a, source_new(a, name, text.s, text.len), d);
  OK(n && machine_equal(m, n, &why), "it prints back equal %s", why.s);
  OK(m->made && strstr(m->made, "not measured"), "it says what its figures are");
  OK_INT(machine_sites(m), sites, "its sites");
  const Seconds *s = seconds_new(a, graph_of(a, product), m, sites, &why);
  OK_STR(why.s ? why.s : "", "", "a plan can be made on all of them");
  uint32_t all = seconds_meshes(a, s, false, &mesh), right = 0;
  for (uint32_t k = 0; k < all; k++) {
    Links l = seconds_links(s, &mesh[k], 0);
    bool aligned = mesh_sites(&mesh[k]) == sites;
    for (uint32_t x = 0; x < l.n; x++) aligned &= l.link[x].rate == l.link[x].level->link.value;
    right += aligned;
  }
  OK(all == meshes && right == all, "%u meshes, whose axes each stay in a level", all);
  arena_free(a);
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static const char chain[] =
  "eingraph 1\ninput %0 A[8, 8] : f32\nvertex %1 B[i:8, j:8] : f32 = exp(%0[i, j])\n"
  "vertex %2 C[i:8] : f32 = sum:f32[j:8] %1[i, j]\noutput C = %2\n";

static void memory(const char *a_home, const char *b, const char *b_home, const char *c, const char *c_home,
    int64_t want, uint32_t step, Phase phase) {
  Arena *a = arena_new();
  PlaceGraph *g = place_graph(a, graph_of(a, chain));
  Placing p = {.mesh = {1, {2}}, .label = NEW_ARRAY(a, int8_t *, 2), .home = NEW_ARRAY(a, Placement, 3)};
  Placement labels[2] = {placement_of(b), placement_of(c)};
  p.label[0] = labels[0].on, p.label[1] = labels[1].on;
  p.home[0] = placement_of(b_home), p.home[1] = placement_of(c_home), p.home[2] = placement_of(a_home);
  SiteMemory m = placing_memory(g, lives_find(a, g), &p, NULL);
  OK_INT((int64_t)m.bytes, want, "A home %s; B cut %s, home %s; C cut %s, home %s", a_home, b, b_home, c, c_home);
  OK(m.step == step && m.phase == phase, "at step %u, phase %d", m.step, (int)m.phase);
  arena_free(a);
}

/* ---- windows ------------------------------------------------------------------------------------------------------
 */

static const char three[] =
  "eingraph 1\ninput %0 X[66] : f32\nvertex %1 Y[i:64] : f32 = sum:f32[k:3] %0[(i + k)]\noutput Y = %1\n";
static const char second[] =
    "eingraph 1\ninput %0 X[64] : f32\nvertex %1 Y[i:32] : f32 = exp(%0[(2 * i)])\noutput Y = %1\n";

static void window(
    const char *text, const char *home, const char *cut, int64_t want, int64_t fetched, const char *what) {
  Arena *a = arena_new();
  Buf why = buf_new(a);
  PlaceGraph *g = place_graph(a, graph_of(a, text));
  const Seconds *s = seconds_new(a, g->part, machine_of(a, two_levels), 8, &why);
  Placing p = {.mesh = {2, {2, 4}}, .label = NEW_ARRAY(a, int8_t *, 1), .home = NEW_ARRAY(a, Placement, 2)};
  Placement labels = placement_of(cut);
  Links l = seconds_links(s, &p.mesh, 0);
  p.label[0] = labels.on, p.home[0] = labels, p.home[1] = placement_of(home);
  OK_INT(ns(windows_seconds(g, &l, &p, 0, 0)), want, "home %s, cut %s: %s", home, cut, what);
  OK_INT(ns(placing_received_seconds(g, s, &p, 0)), want, "the plan counts the same");
  OK_INT((int64_t)fetched_bytes(g, &p, 0, 0), fetched, "as fetched");
  arena_free(a);
}

static void windows(void) {
  window(three, "0 0", "0 0", 40 + 10000, 40,
      "a node lacks one element of its 34, and has it of one other; a site two of its ten, of two");
  window(three, "0 0", "0 *", 104 + 10000, 136,
      "a node's sites all want its 34 elements, of which a site has eight: a gather");
  window(three, "0 0", "* *", 33 * 40 + 10000, 264, "all want all of it");
  window(three, "* *", "0 0", 0, 0, "all is there");
  window(second, "0 0", "0 0", 0, 0, "seven elements of the eight that are there");
  window(second, "0 *", "0 0", 0, 0, "seven elements of more that are there");
  window(second, "* 0", "0 *", 124 + 1000, 124,
      "31 of a half, of which some site has nothing, and which two others have: all in a node");
}

/* Of a product of 8 by 8, 256 bytes each, on 8 sites: shares of 32 for each of three. Of the chain on two: a half of A
 * and of C, for B may be kept inside of a kernel. Where blocks differ, what sites have on the average. */
static void least(void) {
  Arena *a = arena_new();
  PlaceGraph *g = place_graph(a, graph_of(a, product));
  OK_INT((int64_t)memory_least(g, 8), 3 * 32, "a product has no less");
  OK_INT((int64_t)memory_least(g, 1), 3 * 256, "a product on one site has no less");
  OK_INT((int64_t)memory_least(g, 5), 3 * 256 / 5, "a product on five sites has no less");
  g = place_graph(a, graph_of(a, chain));
  OK_INT((int64_t)memory_least(g, 2), 128 + 16, "a chain has no less");
  arena_free(a);
}

int main(void) {
  moves();
  fills(8, "1 4 2");
  fills(6, "1 3 2");
  fills(4, "1 4 1");
  fills(1, "1 1 1");
  fills(9, "two nodes has 8 sites, and 9 are needed");
  fills(5, "5 sites do not fill the levels of two nodes evenly: 4 in a node, 2 in a rack");
  wants("\"latency_seconds\": 1e-5, ", "",
      "two nodes does not say how long a message takes in a rack: latency_seconds of its link is needed");
  wants(", \"read_bytes_per_second\": 1e9", "",
      "two nodes does not say how fast a core reads its memory: read_bytes_per_second of one of its memories "
      "is needed");
  wants("\"f32\"", "\"f64\"",
      "two nodes does not say how fast a core computes C in f32: its operations_per_second, f32, multiply_add "
      "is needed");
  kernels();
  sample("laptop", 8, 1);
  sample("cluster_16", 16, 1);
  sample("server_8_gpus", 8, 1);
  sample("sites_1024", 1024, 8);
  sample("sites_65536", 65536, 7);
  memory("0", "0", "0", "0", "0", 128 + 128 + 16, 1, PHASE_KERNEL);
  memory("1", "0", "0", "0", "0", 128 + 128 + 128, 0, PHASE_KERNEL);
  memory("1", "1", "1", "1", "0", 128 + 128 + 32 + 16, 1, PHASE_REDUCE);
  memory("0", "0", "1", "0", "0", 128 + 128 + 128 + 16, 1, PHASE_KERNEL);
  memory("0", "0", "*", "0", "*", 128 + 128 + 256, 0, PHASE_HOME);
  windows();
  least();
  return DONE();
}
