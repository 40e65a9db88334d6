/* tests/harness/command.c - the command that a test is:
 *
 *   NAME --seed S --count N       S, S+1, ..: each is judged
 *   ... --keep-going              does not stop at the first failure
 *   ... --no-shrink               prints failing programs as they are
 *   ... --shrink-for S            makes them small for so many seconds at most
 *   ... --text                    prints the program of a seed
 *   ... --turns K                 where EIN_TURN is a number, only one of K parts of them: the part that this number
 * says
 *
 * and where programs are judged by their C:
 *
 *   ... --runtime DIR             the folder of ein_run.h; must be given
 *   ... --cc "clang-19" --flags "-O3 -march=native"     the C compiler, its flags
 *   ... --batch K                 so many programs to a C file at most
 *   ... --c                       prints the C of a seed
 *
 * For code with AddressSanitizer, either the command is built with it, or LD_PRELOAD names the compiler's libasan. Work
 * is done in children, so that a crash is a failure like others: it is shrunk and printed with its seed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"

enum { ALARM_ONE = 60 };

/* ---- words ---------------------------------------------------------------------------------------- */

bool number_read(const char *s, uint64_t *out) {
  int64_t v;
  if (!s || !int64_read(s, strlen(s), &v) || v < 0) return false;
  *out = (uint64_t)v;
  return true;
}

/* So many words are an option: 0, 1 or 2. */
static int option(Work *w, const char *word, const char *value) {
  const struct { const char *word; bool *flag; uint64_t *number; const char **text;
  } all[] = {{"--seed", NULL, &w->seed, NULL}, {"--count", NULL, &w->count, NULL},
      {"--keep-going", &w->keep_going, NULL, NULL}, {"--no-shrink", &w->no_shrink, NULL, NULL},
      {"--text", &w->text, NULL, NULL}, {"--shrink-for", NULL, &w->shrink_for, NULL},
      {"--turns", NULL, &w->turns, NULL}, {"--c", &w->c, NULL, NULL}, {"--runtime", NULL, NULL, &w->runtime},
      {"--cc", NULL, NULL, &w->cc}, {"--flags", NULL, NULL, &w->flags}, {"--batch", NULL, &w->batch, NULL}};
  size_t common = w->test->graph ? COUNT(all) : 7;
  for (size_t k = 0; k < common; k++) {
    if (strcmp(word, all[k].word) != 0) continue;
    if (all[k].flag) return *all[k].flag = true, 1;
    if (all[k].number) return number_read(value, all[k].number) ? 2 : 0;
    if (value) *all[k].text = value;
    return value ? 2 : 0;
  }
  return w->test->option ? w->test->option(w->own, word, value) : 0;
}

static bool words_read(Work *w) {
  for (int i = 1; i < w->n_word;) {
    int took = option(w, w->word[i], i + 1 < w->n_word ? w->word[i + 1] : NULL);
    if (!took) return false;
    i += took;
  }
  return w->batch && w->turns && (!w->test->graph || w->runtime || w->text || w->c);
}

/* The part whose turn it is, and says which. */
static bool turn_take(Work *w) {
  const char *said = getenv("EIN_TURN");
  uint64_t turn, from;
  if (w->turns == 1 || !said || !*said) return true;
  if (!number_read(said, &turn)) return fprintf(stderr, "EIN_TURN is %s; expected a number\n", said), false;
  turn %= w->turns;
  from = w->count * turn / w->turns;
  w->count = w->count * (turn + 1) / w->turns - from;
  w->seed += from;
  printf("EIN_TURN=%s: part %llu of %llu, which is --seed %llu --count %llu\n", said, (unsigned long long)turn + 1,
      (unsigned long long)w->turns, (unsigned long long)w->seed, (unsigned long long)w->count);
  return true;
}

static int usage(const Test *t) {
  fprintf(stderr,
      "usage: %s --seed S --count N [--turns K] [--keep-going] [--no-shrink] [--shrink-for SECONDS] [--text]%s\n",
      t->name, t->usage);
  if (t->graph) fprintf(stderr, "  --runtime DIR [--cc CC] [--flags FLAGS] [--batch K] [--c]\n");
  return 2;
}

/* ---- what is said ----------------------------------------------------------------------------------- */

static const char *text_of(Work *w, Arena *a, void *program, uint64_t seed) {
  Subject s;
  if (w->test->text) return w->test->text(w, a, program, seed);
  subject_start(&s, w, a, program, seed);
  w->test->graph(&s);
  return s.text;
}

static void kernels_print(Work *w, Arena *a, void *program, uint64_t seed) {
  Subject s;
  if (!w->test->graph || !subject_make(&s, w, a, program, seed)) return;
  const char *end = strstr(s.c.s, "/* ---- sizes ");
  printf("--- C\n%.*s", end ? (int)(end - s.c.s) : (int)s.c.len, s.c.s);
}

/* The words that find it again. */
static void again_print(const Work *w) {
  printf("--- again: --seed %llu --count 1", (unsigned long long)w->at);
  for (int i = 1; i < w->n_word; i++) {
    if (!strcmp(w->word[i], "--seed") || !strcmp(w->word[i], "--count") || !strcmp(w->word[i], "--turns")) i++;
    else if (strcmp(w->word[i], "--keep-going") != 0) printf(strchr(w->word[i], ' ') ? " \"%s\"" : " %s", w->word[i]);
  }
  printf("\n\n");
}

static void report(Work *w) {
  Arena *a = arena_new();
  Judgement v = w->v;
  void *program = w->test->make(w, a, w->at);
  printf("seed %llu: %s (%s)\n%s\n%s", (unsigned long long)w->at, v.what, w->doing, v.detail,
      text_of(w, a, program, w->at));
  if (!w->no_shrink && w->test->shrink && strcmp(v.what, "rejected") != 0) {
    shrink(w, program, w->at, &v);
    printf("--- smaller: %s\n%s\n%s", v.what, v.detail, text_of(w, a, program, w->at));
    if (strncmp(v.what, "crash", 5) != 0) kernels_print(w, a, program, w->at);
  }
  again_print(w);
  fflush(stdout);
  arena_free(a);
}

static void totals(const Work *w, uint64_t failures) {
  const Count *n = &w->n;
  printf("%llu programs, %llu failures", (unsigned long long)w->programs, (unsigned long long)failures);
  if (w->test->totals) {
    w->test->totals(w);
    return;
  }
  const struct { uint64_t n; const char *what; } all[] = {
    {n->runs, "runs"}, {n->elements, "elements"}, {n->exact, "of them exact"}, {n->open, "with open sizes"},
    {n->refused, "plans refused as they must be"}, {n->failed, "trials that fail as they must"},
    {n->wrong, "wrong calls refused"}, {n->skipped, "trials too long for eval"}};
  for (size_t k = 0; k < COUNT(all); k++)
    if (all[k].n) printf("; %llu %s", (unsigned long long)all[k].n, all[k].what);
  printf("\n");
}

static int print_one(Work *w) {
  Arena *a = arena_new();
  void *program = w->test->make(w, a, w->seed);
  if (w->text) fputs(text_of(w, a, program, w->seed), stdout), fflush(stdout);
  Subject s = {0};
  bool ok = !w->test->graph || subject_make(&s, w, a, program, w->seed);
  if (!ok) fprintf(stderr, "%s\n%s\n", s.v.what, s.v.detail);
  if (w->c && ok) fputs(s.c.s, stdout);
  arena_free(a);
  return !ok;
}

/* ---- programs ----------------------------------------------------------------------------------------- */

static void one(Work *w) {
  Arena *a = arena_new();
  doing(w, "running", w->from, ALARM_ONE);
  w->test->judge(w, w->test->make(w, a, w->from), w->from, &w->v);
  w->programs++;
  w->from++;
  arena_free(a);
}

/* In a child: what it loaded and leaked goes with it. */
static void stretch(void *of) {
  Work *w = of;
  if (w->test->graph) batch(w);
  else
    while (!w->v.what[0] && w->from < w->seed + w->count) one(w);
}

/* Beyond what failed. */
static void past(Work *w) {
  if (w->at < w->from) return; /* it was run */
  w->programs++;
  if (!strcmp(w->doing, "running")) w->from = w->at + 1;
  else if (w->n_bad < BAD_MOST) w->bad[w->n_bad++] = w->at;
  else exit(4);
}

static uint64_t all(Work *w) {
  uint64_t failures = 0;
  while (w->from < w->seed + w->count) {
    child_run(stretch, w, &w->v);
    if (!w->v.what[0]) continue;
    report(w);
    failures++;
    past(w);
    if (!w->keep_going) break;
  }
  return failures;
}

static const char *folder_make(Arena *a, const char *name) {
  const char *at = getenv("TMPDIR");
  char *path = arena_printf(a, "%s/ein_%s_XXXXXX", at && *at ? at : "/tmp", name);
  if (mkdtemp(path)) return path;
  perror(path);
  exit(4);
}

int command(const Test *t, void *own, int argc, char **argv) {
  Work *w = shared_new(sizeof *w);
  *w = (Work){.test = t,
      .own = own,
      .n_word = argc,
      .word = argv,
      .seed = 1,
      .count = t->count,
      .batch = t->batch,
      .turns = 1,
      .shrink_for = 120,
      .cc = "cc",
      .flags = "-O1"};
  if (!words_read(w)) return usage(t);
  if (w->text || w->c) return print_one(w);
  if (!turn_take(w)) return 2;
  unsetenv("LD_PRELOAD"); /* which is for this process, not for the C compiler */
  Arena *arena = arena_new();
  w->from = w->seed;
  w->folder = folder_make(arena, t->name);
  uint64_t failures = all(w);
  totals(w, failures);
  if (rmdir(w->folder) != 0) fprintf(stderr, "%s is left: what a child that crashed was working on\n", w->folder);
  arena_free(arena);
  return failures != 0;
}
