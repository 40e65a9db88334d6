/* tests/random/programs.c - random valid programs, and what the compiler and its two evaluators make of them.
 *
 *   programs --seed S --count N             S, S+1, ...: each must elaborate, obey the law of the text, and mean the same
 *                                           to both evaluators and in other words
 *   programs --seed S --count N --invalid   spoiled ones: nothing may crash, and what is refused says why
 *   programs --seed S --text                prints one
 *   ... --keep-going                        does not stop at the first failure
 *
 * Work is done in a child, so that a crash is a failure like others: it is shrunk and printed with its seed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "random.h"

typedef struct Shared { /* with the child */
  uint64_t seed;
  bool failed;
  Judgement v;
  Tally tally;
} Shared;

typedef struct Args { uint64_t seed, count; bool invalid, text, keep_going, no_shrink; } Args;

static bool number(const char *s, uint64_t *out) {
  int64_t v;
  if (!s || !int64_read(s, strlen(s), &v) || v < 0) return false;
  *out = (uint64_t)v;
  return true;
}

static bool args_read(Args *a, int n, char **w) {
  for (int i = 1; i < n; i++) {
    if (!strcmp(w[i], "--seed")) { if (++i >= n || !number(w[i], &a->seed)) return false; }
    else if (!strcmp(w[i], "--count")) { if (++i >= n || !number(w[i], &a->count)) return false; }
    else if (!strcmp(w[i], "--invalid")) a->invalid = true;
    else if (!strcmp(w[i], "--text")) a->text = true;
    else if (!strcmp(w[i], "--keep-going")) a->keep_going = true;
    else if (!strcmp(w[i], "--no-shrink")) a->no_shrink = true;
    else return false;
  }
  return true;
}

static const char *text_of(Arena *a, uint64_t seed, bool invalid) {
  const char *text = program_text(a, program_make(a, seed), (Style){0});
  return invalid ? text_spoil(a, text, seed) : text;
}

static void one(Shared *s, bool invalid) {
  Arena *a = arena_new();
  if (invalid) judge_text(text_of(a, s->seed, true), &s->v, &s->tally);
  else judge_make(program_make(a, s->seed), s->seed, &s->v, &s->tally);
  arena_free(a);
}

static void work(Shared *s, const Args *a) {
  for (; s->seed < a->seed + a->count; s->seed++) {
    alarm(60);
    one(s, a->invalid);
    if (!s->v.what[0]) continue;
    s->failed = true;
    return;
  }
}

static void report(const Shared *s, const Args *a) {
  Arena *m = arena_new();
  Judgement v = s->v;
  printf("seed %llu: %s\n%s\n", (unsigned long long)s->seed, v.what, v.detail);
  if (a->invalid) {
    printf("%s", text_of(m, s->seed, true));
  } else {
    Made *made = program_make(m, s->seed);
    if (!a->no_shrink) shrink(made, s->seed, &v);
    printf("--- %s\n%s\n---\n%s\n", v.what, v.detail, program_text(m, made, (Style){0}));
  }
  fflush(stdout);
  arena_free(m);
}

/* Runs a child until it is through or something fails; false: it failed. */
static bool stretch(Shared *s, const Args *a) {
  s->failed = false;
  s->v = (Judgement){0};
  fflush(stdout);
  pid_t child = fork();
  if (child < 0) exit(4);
  if (!child) {
    work(s, a);
    fflush(stdout);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) snprintf(s->v.what, sizeof s->v.what, "crash: signal %d", WTERMSIG(status));
  else if (WEXITSTATUS(status)) snprintf(s->v.what, sizeof s->v.what, "crash: exit %d", WEXITSTATUS(status));
  return !s->failed && !status;
}

static void totals(const Tally *t, const Args *a, uint64_t failures) {
  printf("%llu programs, %llu failures", (unsigned long long)t->programs, (unsigned long long)failures);
  if (a->invalid) printf("; %llu refused\n", (unsigned long long)t->rejected);
  else
    printf("; by the AST evaluator too %llu (%llu elements), refused %llu; %llu unrolled; %llu in other words; %llu with symbolic sizes (%llu not provable, %llu refused)\n",
           (unsigned long long)t->ast, (unsigned long long)t->elements, (unsigned long long)t->refused, (unsigned long long)t->unrolled,
           (unsigned long long)t->variants, (unsigned long long)t->symbolic, (unsigned long long)t->symbolic_open, (unsigned long long)t->symbolic_strict);
}

int main(int argc, char **argv) {
  Args a = {.seed = 1, .count = 1000};
  if (!args_read(&a, argc, argv)) {
    fprintf(stderr, "usage: programs --seed S --count N [--invalid] [--text] [--keep-going] [--no-shrink]\n");
    return 2;
  }
  if (a.text) {
    Arena *m = arena_new();
    fputs(text_of(m, a.seed, a.invalid), stdout);
    arena_free(m);
    return 0;
  }
  Shared *s = mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (s == MAP_FAILED) return 4;
  uint64_t failures = 0;
  for (s->seed = a.seed; s->seed < a.seed + a.count;) {
    if (stretch(s, &a)) continue;
    report(s, &a);
    failures++, s->seed++;
    if (!a.keep_going) break;
  }
  totals(&s->tally, &a, failures);
  return failures != 0;
}
