/* tests/random/programs.c - random valid programs, and what the compiler and its two evaluators make of them.
 *
 *   programs --seed S --count N             S, S+1, ...: each must elaborate, obey the law of the text, and mean the
 * same to both evaluators, in other words, and by relations on several sites programs --seed S --count N --invalid
 * spoiled ones: nothing may crash, and what is refused says why
 *
 * The command's other words are in ../harness/command.c. */
#include <stdio.h>
#include <string.h>

#include "random.h"

typedef struct Own { bool invalid; } Own;

static bool is_invalid(const Work *w) { return ((const Own *)w->own)->invalid; }

static int option(void *own, const char *word, const char *value) {
  Own *o = own;
  (void)value;
  return strcmp(word, "--invalid") == 0 ? o->invalid = true, 1 : 0;
}

static void *make(Work *w, Arena *a, uint64_t seed) {
  (void)w;
  return program_make(a, seed);
}

static const char *text(Work *w, Arena *a, void *program, uint64_t seed) {
  const char *as_made = program_text(a, program, (Style){0});
  return is_invalid(w) ? text_spoil(a, as_made, seed) : as_made;
}

static void judge(Work *w, void *program, uint64_t seed, Judgement *v) {
  _Static_assert(sizeof(Tally) <= sizeof w->tally, "counts have room");
  const Made *m = program;
  Tally *t = (Tally *)(void *)w->tally;
  if (is_invalid(w)) judge_text(text(w, m->arena, program, seed), v, t);
  else judge_make(m, seed, v, t);
}

static void shrink_once(Shrink *s) {
  if (!is_invalid(s->w)) made_shrink(s, s->program);
}

static void totals(const Work *w) {
  const Tally *t = (const Tally *)(const void *)w->tally;
  if (is_invalid(w)) printf("; %llu refused\n", (unsigned long long)t->rejected);
  else
    printf(
        "; by the AST evaluator too %llu (%llu elements), refused %llu; %llu unrolled; %llu in other words; %llu "
        "with symbolic sizes (%llu not provable, %llu refused); %llu by relations\n",
        (unsigned long long)t->ast, (unsigned long long)t->elements, (unsigned long long)t->refused,
        (unsigned long long)t->unrolled, (unsigned long long)t->variants, (unsigned long long)t->symbolic,
        (unsigned long long)t->symbolic_open, (unsigned long long)t->symbolic_strict, (unsigned long long)t->relations);
}

int main(int argc, char **argv) {
  static const Test test = {.name = "programs",
      .usage = " [--invalid]",
      .count = 1000,
      .batch = 1,
      .option = option,
      .make = make,
      .text = text,
      .shrink = shrink_once,
      .totals = totals,
      .judge = judge};
  Own own = {0};
  return command(&test, &own, argc, argv);
}
