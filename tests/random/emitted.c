/* tests/random/emitted.c - random programs, computed by graph_eval and by the C that is emitted for them: integers,
 * bools and ends must be the same, floats near. The command's words are in ../harness/command.c, but
 *
 *   ... --optimise yes|no   graph_optimise for all or for none, else for every second
 *   ... --loops             programs of loops in loops (make_loops.c)
 *
 * For code with AddressSanitizer, ASAN_OPTIONS has allocator_may_return_null=1, since sizes that are too large for any
 * memory are tried. */
#include <string.h>

#include "emitted.h"

typedef struct Own {
  enum { SOME, ALL, NONE } optimise;
  bool loops;
} Own;

/* ---- a program --------------------------------------------------------------------------------------- */

/* What random programs never do: to fail as they run. Each of these does so for some of the values that it is given. */
static const char *text_failing(Arena *a, uint64_t seed) {
  static const char input[] = "input zx[zi:4] : i64 = (zi * 3 + %u) %% 6\n";
  const char *head = arena_printf(a, input, (unsigned)(seed % 7));
  if (seed % 10 == 0) return arena_printf(a, "%soutput zy[zi] = zx[zx[zi]]\n", head);
  if (seed % 10 == 5) return arena_printf(a, "%sassert all[zi] (zx[zi] < 5), \"zx is small\"\n", head);
  return "";
}

/* A program of symbolic sizes gets others, which do not fit registers or blocks, or do so just. */
static const char *text_large(Arena *a, const char *text, const EinGraph *g, uint64_t seed) {
  static const int sizes[] = {7, 8, 9, 16, 17, 19, 33, 4, 1};
  for (uint32_t i = 0; i < g->dims.len; i++) {
    const char *line = arena_printf(a, "dim %s\n", g->dims.at[i].name->s), *at = strstr(text, line);
    if (g->dims.at[i].known || !at) continue;
    int head = (int)(at - text) + (int)strlen(line) - 1;
    text = arena_printf(a, "%.*s = %d%s", head, text, sizes[(seed / 4 + i * 5) % COUNT(sizes)], text + head);
  }
  return text;
}

static bool no_floats(Arena *a, const EinGraph *g) {
  static const char *const words[] = {"f64", "f32", "f16", "inf", "nan"};
  Buf b = buf_new(a);
  graph_print(&b, g);
  for (size_t i = 0; i < COUNT(words); i++)
    if (strstr(b.s, words[i])) return false;
  return true;
}

/* Of more factors than it was made for, a product of floats overflows, and in some orders meets a zero after that. */
static bool overflows(Arena *a, const EinGraph *g) {
  Buf b = buf_new(a);
  graph_print(&b, g);
  return strstr(b.s, "prod:f") || strstr(b.s, "prod:bf16");
}

/* With symbolic sizes, with large ones, or as it was made: not all can be proved for all sizes. */
static bool read_any(Subject *s) {
  Emitted *e = s->program;
  const char *more = text_failing(s->arena, s->seed);
  const char *text = arena_printf(s->arena, "%s%s", program_text(s->arena, e->made, (Style){.symbolic = true}), more);
  e->large = e->small = false;
  if (s->seed % 2 == 0 && subject_read(s, text)) {
    e->small = overflows(s->arena, s->g);
    e->large = s->seed % 4 == 0 && !e->small && subject_read(s, text_large(s->arena, text, s->g, s->seed));
    if (e->large || subject_read(s, text)) return true;
  }
  return subject_read(s, arena_printf(s->arena, "%s%s", program_text(s->arena, e->made, (Style){0}), more)) ||
      subject_rejected(s);
}

static bool graph(Subject *s) {
  static const LoopTarget targets[] = {{32, 16, 0, 0, 4096, 0, 0, false, false, false, false},
      {64, 32, 4096, 128, 16, 16, 32, false, false, false, false}, {64, 32, 0, 0, 0, 0, 0, false, false, false, true},
      {16, 32, 0, 1024, 0, 0, 0, false, false, false, false}};
  const Own *own = s->w->own;
  Emitted *e = s->program;
  if (!read_any(s)) return false;
  e->whole = no_floats(s->arena, s->g);
  s->optimise = own->optimise == SOME ? s->seed % 4 < 2 : own->optimise == ALL;
  s->target = &targets[s->seed / 4 % COUNT(targets)];
  return true;
}

/* ---- the command -------------------------------------------------------------------------------------- */

static int option(void *own, const char *word, const char *value) {
  Own *o = own;
  if (!strcmp(word, "--loops")) return o->loops = true, 1;
  if (strcmp(word, "--optimise") != 0 || !value) return 0;
  o->optimise = strcmp(value, "yes") == 0 ? ALL : strcmp(value, "no") == 0 ? NONE : SOME;
  return o->optimise == SOME ? 0 : 2;
}

static void *make(Work *w, Arena *a, uint64_t seed) {
  const Own *own = w->own;
  Emitted *e = NEW(a, Emitted);
  e->made = own->loops ? program_make_loops(a, seed) : program_make(a, seed);
  return e;
}

static void shrink_once(Shrink *s) {
  const Emitted *e = s->program;
  made_shrink(s, e->made);
}

int main(int argc, char **argv) {
  static const Test test = {.name = "emitted",
      .usage = " [--optimise yes|no] [--loops]",
      .count = 100,
      .batch = 100,
      .option = option,
      .make = make,
      .shrink = shrink_once,
      .judge = by_c,
      .graph = graph,
      .trials = emitted_trials,
      .input = emitted_input,
      .integer = emitted_integer,
      .real = emitted_real,
      .answer = emitted_answer,
      .allowed = emitted_allowed,
      .other = emitted_other,
      .after = emitted_after,
      .both = true,
      .eval_bytes = 1 << 22,
      .eval_polls = 20000};
  Own own = {0};
  return command(&test, &own, argc, argv);
}
