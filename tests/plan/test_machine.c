/* tests/plan/test_machine.c - machine files: what is written comes back equal in all fields; each kind of mistake is
 * refused at its line, with the member's name; and caches are found by the time of a read. */
#include "plan/machine.h"
#include "tap.h"

/* A cluster, as a person writes it. */
static const char cluster[] =
    "{\n"
    "  \"format\": \"ein machine 1\",\n"
    "  \"name\": \"four sites of two sockets\",\n"
    "  \"site\": {\"level\": \"node\", \"bytes\": 64000000000},\n"
    "  \"line_bytes\": 64,\n"
    "  \"levels\": [\n"
    "    {\"name\": \"core\", \"parts\": 1,\n"
    "     \"memories\": [\n"
    "       {\"name\": \"L1\", \"bytes\": 32768, \"latency_seconds\": 1e-9, \"read_bytes_per_second\": {\"value\": "
    "2e11, \"median\": 1.9e11, \"worst\": 1e11}},\n"
    "       {\"name\": \"L2\", \"bytes\": 1048576, \"copy_bytes_per_second\": 1e11},\n"
    "       {\"name\": \"memory\"}],\n"
    "     \"operations_per_second\": {\"f32\": {\"multiply_add\": 1e11, \"add_max\": 5e10}, \"f64\": "
    "{\"multiply_add\": 5e10}}},\n"
    "    {\"name\": \"socket\", \"parts\": 8},\n"
    "    {\"name\": \"node\", \"parts\": 2, \"link\": {\"bytes_per_second\": 5e10}},\n"
    "    {\"name\": \"cluster\", \"parts\": 4, \"link\": {\"latency_seconds\": 2e-6, \"bytes_per_second\": 1.25e10}}\n"
    "  ],\n"
    "  \"prices\": {\"parallel_seconds\": 2e-6, \"worth_threads_operations\": 100000}\n"
    "}\n";

static Machine *read_text(Arena *a, const char *text, Diags *d) {
  return machine_read(a, source_new(a, "m.json", text, strlen(text)), d);
}

static void comes_back(void) {
  Arena *a = arena_new();
  Diags *d = diags_new(a);
  Buf text = buf_new(a), again = buf_new(a), why = buf_new(a);
  Machine *m = read_text(a, cluster, d);
  OK(m && machine_check(m, d) && !d->errors, "a cluster");
  OK_INT(m->levels.len, 4, "levels");
  OK(m->site == 2 && m->site_bytes == 64000000000 && m->line_bytes == 64, "the site");
  const MachineMemory *x = machine_memory_find(&m->levels.at[0], "L1");
  OK(x && x->bytes == 32768 && x->latency.value == 1e-9 && x->latency.median == 0, "a figure that is said");
  OK(x && x->read.value == 2e11 && x->read.median == 1.9e11 && x->read.worst == 1e11 && x->copy.value == 0,
      "one that was measured, one that is not known");
  OK(m->levels.at[0].rate[DT_F32][RATE_ADD_MAX].value == 5e10 &&
          m->levels.at[0].rate[DT_F64][RATE_MULTIPLY_ADD].value == 5e10,
      "rates");
  OK(m->levels.at[3].link_latency.value == 2e-6 && m->levels.at[3].link.value == 1.25e10 && m->worth_threads == 100000,
      "a link, prices");
  OK(!machine_memory_find(&m->levels.at[1], "L1"), "no such memory");
  machine_print(&text, m);
  Machine *n = read_text(a, text.s, d);
  OK(n && machine_equal(m, n, &why) && machine_equal(n, m, &why), "read(print(m)) is m %s", why.s);
  machine_print(&again, n);
  OK_STR(again.s, text.s, "its text is equal too");
  arena_free(a);
}

/* Every field counts. */
static void equal_looks(void) {
  Arena *a = arena_new();
  static const struct { const char *from, *to;
  } change[] = {{"four sites", "five sites"}, {"64000000000", "64000000001"},
      {"\"line_bytes\": 64", "\"line_bytes\": 32"}, {"\"level\": \"node\"", "\"level\": \"socket\""},
      {"\"L1\"", "\"l1\""}, {"32768", "16384"}, {"1e-9", "2e-9"}, {"2e11", "3e11"}, {"1.9e11", "1.8e11"},
      {"1e11}", "1.1e11}"}, {"\"copy_bytes_per_second\": 1e11", "\"copy_bytes_per_second\": 2e11"},
      {"\"add_max\": 5e10", "\"add_max\": 6e10"}, {"\"parts\": 8", "\"parts\": 9"}, {"2e-6, \"bytes", "3e-6, \"bytes"},
      {"1.25e10", "1.5e10"}, {"\"parallel_seconds\": 2e-6", "\"wake_seconds\": 2e-6"}, {"100000", "200000"},
      {", \"add_max\": 5e10", ""}};
  for (size_t k = 0; k < COUNT(change); k++) {
    Diags *d = diags_new(a);
    Buf b = buf_new(a), why = buf_new(a);
    const char *at = strstr(cluster, change[k].from);
    buf_add(&b, cluster, (size_t)(at - cluster));
    buf_str(&b, change[k].to);
    buf_str(&b, at + strlen(change[k].from));
    const Machine *m = read_text(a, cluster, d), *n = read_text(a, b.s, d);
    OK(n && !machine_equal(m, n, &why) && why.len, "%s is not %s", change[k].to, change[k].from);
  }
  arena_free(a);
}

/* In `cluster`, with `from` replaced: the first complaint is `want`. */
static void refused(const char *from, const char *to, const char *want) {
  Arena *a = arena_new();
  Diags *d = diags_new(a);
  Buf b = buf_new(a);
  uint32_t line = 0, column = 0;
  const char *at = strstr(cluster, from);
  buf_add(&b, cluster, (size_t)(at - cluster));
  buf_str(&b, to);
  buf_str(&b, at + strlen(from));
  Machine *m = read_text(a, b.s, d);
  bool ok = m && machine_check(m, d);
  const Diag *g = d->errors ? d->all.at[0] : NULL;
  if (g && g->spans.at[0].span.src) source_place(a, g->spans.at[0].span.src, g->spans.at[0].span.at, &line, &column);
  const char *said = g ? arena_printf(a, "%u: %s %s", line, diag_info(g->code)->code, g->text) : "nothing";
  OK_STR(said, want, "%s", to);
  OK(!ok, "it is not taken");
  arena_free(a);
}

static void forms(void) {
  refused("machine 1", "machine 2", "2: E921 format: expected \"ein machine 1\", not \"ein machine 2\"");
  refused("\"format\": \"ein machine 1\",\n", "",
      "1: E921 format: a machine file has a member \"format\": \"ein machine 1\"");
  refused("\"ein machine 1\"", "1", "2: E921 format: a machine file has a member \"format\": \"ein machine 1\"");
  refused("\"line_bytes\": 64,", "\"line_bytes\": 64", "6: E920 `,` or `}` is expected here");
  refused("line_bytes", "line_size", "5: E921 a machine: there is no member \"line_size\"");
  refused("\"line_bytes\": 64", "\"line_bytes\": 64.5", "5: E921 line_bytes: expected a whole number, at least 1");
  refused("\"line_bytes\": 64", "\"line_bytes\": \"64\"", "5: E921 line_bytes: expected a number, not a string");
  refused("\"name\": \"four sites of two sockets\",\n", "", "1: E921 a machine: the member \"name\" is missing");
  refused("\"level\": \"node\", ", "", "4: E921 site: the member \"level\" is missing");
  refused("\"level\": \"node\"", "\"level\": \"rack\"", "4: E921 site: there is no level rack");
  refused("\"parts\": 8", "\"parts\": 0", "13: E921 parts: expected a whole number, at least 1");
  refused(", \"parts\": 8", "", "13: E921 a level: the member \"parts\" is missing");
  refused("{\"name\": \"memory\"}", "\"memory\"", "11: E921 a memory: expected an object, not a string");
  refused("{\"name\": \"memory\"}", "{\"name\": \"\"}", "11: E921 name: this text is empty");
  refused("1e-9", "-1e-9", "9: E921 latency_seconds: expected a positive number");
  refused(
      "1e-9", "true", "9: E921 latency_seconds: expected a number or {\"value\", \"median\", \"worst\"}, not true");
  refused(", \"worst\": 1e11", "", "9: E921 read_bytes_per_second: the member \"worst\" is missing");
  refused("\"f64\"", "\"f63\"", "12: E921 operations_per_second: there is no dtype f63");
  refused("\"add_max\"", "\"max_add\"", "12: E921 f32: there is no member \"max_add\"");
  refused("{\"f32\": {\"multiply_add\": 1e11, \"add_max\": 5e10}, \"f64\": {\"multiply_add\": 5e10}}", "1e11",
          "12: E921 operations_per_second: expected an object, not a number");
  refused("{\"bytes_per_second\": 5e10}", "{\"latency_seconds\": 5e10}",
      "14: E921 link: the member \"bytes_per_second\" is missing");
  refused("\"worth_threads_operations\": 100000", "\"worth_threads_operations\": 0",
          "17: E921 worth_threads_operations: expected a positive number");
  refused("\"levels\": [", "\"levels\": [], \"rest\": [", "6: E921 levels: there is none; the first is the core");
}

static void senses(void) {
  refused("\"parts\": 1", "\"parts\": 2", "7: E922 core: parts: the first level has no parts, so 1 is expected");
  refused("\"socket\"", "\"core\"", "13: E922 core: another level has this name");
  refused("\"L2\"", "\"L1\"", "10: E922 core, L1: another memory of the level has this name");
  refused("1048576", "32768",
      "10: E922 core, L2: it is no larger than the one before it: memories stand from the nearest to the farthest");
  refused("\"median\": 1.9e11", "\"median\": 2.1e11",
      "9: E922 core, L1: read_bytes_per_second: expected value >= median >= worst");
  refused("1e-9", "{\"value\": 1e-9, \"median\": 5e-10, \"worst\": 2e-9}",
          "9: E922 core, L1: latency_seconds: expected value <= median <= worst");
  refused(", \"link\": {\"latency_seconds\": 2e-6, \"bytes_per_second\": 1.25e10}", "",
          "15: E922 cluster: link: sites reach each other by one, and there is none");
  refused("\"level\": \"node\"", "\"level\": \"core\"",
      "13: E922 socket: link: sites reach each other by one, and there is none");
}

static void caches(void) {
  static const int64_t bytes[] = {8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024};
  static const double three[] = {1, 1, 1.1, 1, 4, 4.1, 4, 4.2, 12, 14, 14, 60, 90, 100, 100},
                      noisy[] = {3, 1, 1.1, 1, 9, 4.1, 4, 4.2, 12, 90, 14, 60, 90, 100, 100},
                      none[] = {5, 5, 5.1, 5, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6};
  int64_t out[4];
  OK_INT(machine_caches_guess(COUNT(bytes), bytes, three, 4, out), 3, "three caches");
  OK(out[0] == 24 && out[1] == 96 && out[2] == 256, "as large as they are");
  OK_INT(machine_caches_guess(COUNT(bytes), bytes, noisy, 4, out), 3, "three caches in noise");
  OK(out[0] == 24 && out[1] == 96 && out[2] == 256, "as large as they are");
  OK_INT(machine_caches_guess(COUNT(bytes), bytes, three, 2, out), 2, "no more than there is room for");
  OK_INT(machine_caches_guess(COUNT(bytes), bytes, none, 4, out), 0, "none");
  OK_INT(machine_caches_guess(0, bytes, none, 4, out), 0, "nothing measured");
}

int main(void) {
  comes_back();
  equal_looks();
  forms();
  senses();
  caches();
  return DONE();
}
