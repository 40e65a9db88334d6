/* tests/kernel/kernels.c - random programs aimed at the schedules, computed by graph_eval and by the C that is emitted
 * for them: what is exact must be the same, what is rounded near. The command's words are in ../harness/command.c, but
 *
 *   ... --points P          so many points in an equation at most, about
 *   ... --aim NAME          one kind of program alone: contract, blocks, .. */
#include <string.h>

#include "kernels.h"

typedef struct Own { uint64_t points; const char *aim; } Own; /* aim NULL: all, by their weights */

static int option(void *own, const char *word, const char *value) {
  Own *o = own;
  if (!strcmp(word, "--points")) return number_read(value, &o->points) && o->points ? 2 : 0;
  if (strcmp(word, "--aim") != 0 || !value) return 0;
  Arena *a = arena_new();
  bool known = case_make(a, 1, 1000, value) != NULL;
  arena_free(a);
  o->aim = value;
  return known ? 2 : 0;
}

static void *make(Work *w, Arena *a, uint64_t seed) {
  const Own *o = w->own;
  return case_make(a, seed, (double)o->points, o->aim);
}

static const char *text(Work *w, Arena *a, void *program, uint64_t seed) {
  (void)w, (void)seed;
  return case_text(a, program);
}

static bool graph(Subject *s) {
  static const LoopTarget targets[] = {{64, 32, 0, 0, 0, 0, 0, false, false, false, false},
      {64, 32, 0, 0, 8192, 16, 32, false, false, false, false},
      {64, 32, 4096, 16, 16, 32, 16, false, false, false, false},
      {32, 16, 0, 0, 0, 0, 0, false, false, false, false}, {16, 32, 0, 1024, 65536, 0, 0, false, false, false, false}};
  static const LoopTarget streams[] = {{64, 32, 0, 0, 1024, 0, 0, false, false, false, false},
      {64, 32, 0, 0, 1024, 64, 32, false, false, false, false},
      {64, 32, 0, 0, 1024, 32, 16, false, false, false, false},
      {64, 32, 0, 0, 1024, 16, 32, false, false, false, false}};
  const Case *c = s->program;
  s->optimise = s->seed % 5;
  bool past = !strcmp(c->aim, "lines") || !strcmp(c->aim, "runs");
  s->target = !past ? &targets[s->seed / 5 % COUNT(targets)] : &streams[s->seed / 5 % COUNT(streams)];
  return subject_read(s, case_text(s->arena, s->program)) || subject_rejected(s);
}

int main(int argc, char **argv) {
  static const Test test = {.name = "kernels",
      .usage = " [--points P] [--aim NAME]",
      .count = 100,
      .batch = 60,
      .option = option,
      .make = make,
      .text = text,
      .shrink = case_shrink,
      .judge = by_c,
      .graph = graph,
      .trials = case_trials,
      .input = case_input,
      .integer = case_integer,
      .real = case_real,
      .answer = case_answer,
      .allowed = case_allowed};
  Own own = {.points = 1000000};
  return command(&test, &own, argc, argv);
}
