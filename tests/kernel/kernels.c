/* tests/kernel/kernels.c - random programs aimed at the schedules, computed by graph_eval and by the C that is emitted for them.
 *
 *   kernels --runtime DIR --seed S --count N    S, S+1, ...: what is exact must be the same, what is rounded near
 *   ... --cc "clang-19" --flags "-O3 -march=native"     the C compiler, its flags
 *   ... --points P          so many points in an equation at most, about
 *   ... --aim NAME          one kind of program alone: contract, blocks, ..
 *   ... --batch K           so many programs to a C file at most
 *   ... --keep-going        does not stop at the first failure
 *   ... --no-shrink         prints failing programs as they are
 *   ... --shrink-for S      makes them small for so many seconds at most
 *   ... --text, --c         prints the program of a seed, or its C
 *
 * For code with AddressSanitizer, either this is built with it, or LD_PRELOAD names the compiler's libasan. Work is done in
 * a child, so that a crash is a failure like others: it is shrunk and printed with its seed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernels.h"

enum { BATCH = 60, BATCH_BYTES = 1500000, MOST_BAD = 4096, ALARM_MAKE = 60, ALARM_COMPILE = 900, ALARM_RUN = 120 };

typedef struct Args {
  uint64_t seed, count, batch, points, shrink_for;
  bool keep_going, no_shrink, text, c;
  How how;
} Args;

typedef struct Shared {      /* with the child */
  uint64_t from;             /* all before are done */
  uint64_t at;               /* at hand */
  const char *doing;
  bool failed;
  Judgement v;
  Count n;
  uint64_t programs;
  uint64_t bad[MOST_BAD]; uint32_t n_bad; /* failed before they could be run: left out */
} Shared;

/* ---- words ---------------------------------------------------------------------------------------- */

static bool number(const char *s, uint64_t *out) {
  int64_t v;
  if (!s || !int64_read(s, strlen(s), &v) || v < 0) return false;
  *out = (uint64_t)v;
  return true;
}

static bool flag(Args *a, const char *w) {
  if (!strcmp(w, "--keep-going")) a->keep_going = true;
  else if (!strcmp(w, "--no-shrink")) a->no_shrink = true;
  else if (!strcmp(w, "--text")) a->text = true;
  else if (!strcmp(w, "--c")) a->c = true;
  else return false;
  return true;
}

static bool option(Args *a, const char *w, const char *value) {
  if (!value) return false;
  if (!strcmp(w, "--seed")) return number(value, &a->seed);
  if (!strcmp(w, "--count")) return number(value, &a->count);
  if (!strcmp(w, "--points")) return number(value, &a->points) && a->points;
  if (!strcmp(w, "--batch")) return number(value, &a->batch) && a->batch;
  if (!strcmp(w, "--shrink-for")) return number(value, &a->shrink_for);
  if (!strcmp(w, "--runtime")) a->how.runtime = value;
  else if (!strcmp(w, "--cc")) a->how.cc = value;
  else if (!strcmp(w, "--flags")) a->how.flags = value;
  else if (!strcmp(w, "--aim")) a->how.aim = value;
  else return false;
  return true;
}

static bool args_read(Args *a, int n, char **w) {
  for (int i = 1; i < n; i++) {
    if (flag(a, w[i])) continue;
    if (!option(a, w[i], i + 1 < n ? w[i + 1] : NULL)) return false;
    i++;
  }
  a->how.points = (double)a->points;
  Arena *m = arena_new();
  bool known = case_make(m, 1, 1000, a->how.aim) != NULL;
  arena_free(m);
  return known && (a->how.runtime || a->text || a->c);
}

/* ---- a batch --------------------------------------------------------------------------------------- */

static bool is_bad(const Shared *s, uint64_t seed) {
  for (uint32_t i = 0; i < s->n_bad; i++)
    if (s->bad[i] == seed) return true;
  return false;
}

static void doing(Shared *s, const char *what, uint64_t seed, unsigned seconds) {
  s->doing = what;
  s->at = seed;
  alarm(seconds);
}

static void fail_at(Shared *s, const Judgement *v) {
  s->v = *v;
  s->failed = true;
}

static Subject *subject_next(Shared *s, const Args *a, Arena *arena, uint64_t seed) {
  Subject *x = NEW(arena, Subject);
  doing(s, "making", seed, ALARM_MAKE);
  if (subject_make(x, arena, case_make(arena, seed, a->how.points, a->how.aim))) return x;
  fail_at(s, &x->v);
  return NULL;
}

/* Each in an arena of its own, which is given back: arrays are large. */
static bool run_one(Shared *s, Subject *x, void *library) {
  Arena *was = x->arena;
  doing(s, "running", x->c->seed, ALARM_RUN);
  x->arena = arena_new();
  bool ok = subject_judge(x, library_model(library, x), &s->n);
  arena_free(x->arena);
  x->arena = was;
  s->programs++;
  s->from = x->c->seed + 1;
  if (!ok) fail_at(s, &x->v);
  return ok;
}

static void batch_run(Shared *s, Subject **x, uint32_t n, void *library) {
  for (uint32_t i = 0; i < n; i++)
    if (!run_one(s, x[i], library)) return;
}

/* One C file is refused: by whom, is found by trying each alone. */
static void batch_apart(Shared *s, const Args *a, Subject **x, uint32_t n) {
  for (uint32_t i = 0; i < n && !s->failed; i++) {
    Buf why = buf_new(x[i]->arena);
    doing(s, "compiling", x[i]->c->seed, ALARM_COMPILE);
    void *library = library_make(&x[i], 1, &a->how, &why);
    if (library) batch_run(s, &x[i], 1, library);
    else if (!say(&x[i]->v, "the C compiler refuses", why.s)) fail_at(s, &x[i]->v);
  }
}

static void batch(Shared *s, const Args *a) {
  Arena *arena = arena_new();
  VEC(Subject *) x = {0};
  size_t bytes = 0;
  uint64_t seed = s->from;
  for (; seed < a->seed + a->count && x.len < a->batch && bytes < BATCH_BYTES; seed++) {
    if (is_bad(s, seed)) continue;
    Subject *one = subject_next(s, a, arena, seed);
    if (!one) return;
    bytes += one->source.len;
    vec_push(arena, x, one);
  }
  if (x.len) {
    Buf why = buf_new(arena);
    doing(s, "compiling", x.at[0]->c->seed, ALARM_COMPILE);
    void *library = library_make(x.at, x.len, &a->how, &why);
    if (library) batch_run(s, x.at, x.len, library);
    else batch_apart(s, a, x.at, x.len);
  }
  if (!s->failed) s->from = seed;
}

/* A child for each batch: what it loaded and leaked goes with it. False: something failed. */
static bool batch_child(Shared *s, const Args *a) {
  s->failed = false;
  s->v = (Judgement){0};
  fflush(stdout);
  pid_t child = fork();
  if (child < 0) exit(4);
  if (!child) {
    batch(s, a);
    fflush(stdout);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) snprintf(s->v.what, sizeof s->v.what, "crash: signal %d", WTERMSIG(status));
  else if (WEXITSTATUS(status)) snprintf(s->v.what, sizeof s->v.what, "crash: exit %d", WEXITSTATUS(status));
  return !s->failed && !status;
}

/* ---- what is said ----------------------------------------------------------------------------------- */

static void report(const Shared *s, const Args *a) {
  Arena *m = arena_new();
  Judgement v = s->v;
  Case *c = case_make(m, s->at, a->how.points, a->how.aim);
  printf("seed %llu (%s): %s (%s)\n%s\n%s", (unsigned long long)s->at, c->aim, v.what, s->doing, v.detail, case_text(m, c));
  fflush(stdout);
  if (!a->no_shrink && strcmp(v.what, "rejected") != 0) {
    shrink(c, &a->how, (unsigned)a->shrink_for, &v);
    printf("--- smaller: %s\n%s\n%s", v.what, v.detail, case_text(m, c));
  }
  printf("--- again: --seed %llu --count 1 --points %llu%s%s --cc \"%s\" --flags \"%s\"\n\n", (unsigned long long)s->at,
         (unsigned long long)a->points, a->how.aim ? " --aim " : "", a->how.aim ? a->how.aim : "", a->how.cc, a->how.flags);
  fflush(stdout);
  arena_free(m);
}

static void past(Shared *s) {
  if (s->at < s->from) return; /* it was run */
  if (!strcmp(s->doing, "running")) s->from = s->at + 1;
  else if (s->n_bad < MOST_BAD) s->bad[s->n_bad++] = s->at, s->programs++;
  else exit(4);
}

static void totals(const Shared *s, uint64_t failures) {
  const Count *n = &s->n;
  printf("%llu programs, %llu failures; %llu runs, %llu elements, %llu of them exact; %llu with open sizes; %llu plans refused as they must be\n",
         (unsigned long long)s->programs, (unsigned long long)failures, (unsigned long long)n->runs, (unsigned long long)n->elements,
         (unsigned long long)n->exact, (unsigned long long)n->open, (unsigned long long)n->refused);
}

static int print_one(const Args *a) {
  Arena *m = arena_new();
  Subject s = {0};
  Case *c = case_make(m, a->seed, a->how.points, a->how.aim);
  if (a->text) printf("# aim: %s\n%s", c->aim, case_text(m, c)), fflush(stdout);
  bool ok = subject_make(&s, m, c);
  if (!ok) fprintf(stderr, "%s\n%s\n", s.v.what, s.v.detail);
  if (a->c && ok) fputs(s.source.s, stdout);
  arena_free(m);
  return !ok;
}

static const char *folder_make(Arena *a) {
  const char *at = getenv("TMPDIR");
  char *path = arena_printf(a, "%s/ein_kernel_XXXXXX", at && *at ? at : "/tmp");
  if (mkdtemp(path)) return path;
  perror(path);
  exit(4);
}

static uint64_t all(Shared *s, const Args *a) {
  uint64_t failures = 0;
  while (s->from < a->seed + a->count) {
    if (batch_child(s, a)) continue;
    report(s, a);
    failures++;
    past(s);
    if (!a->keep_going) break;
  }
  return failures;
}

int main(int argc, char **argv) {
  Arena *arena = arena_new();
  Args a = {.seed = 1, .count = 100, .batch = BATCH, .points = 1000000, .shrink_for = 120, .how = {.cc = "cc", .flags = "-O1"}};
  if (!args_read(&a, argc, argv)) {
    fprintf(stderr, "usage: kernels --runtime DIR --seed S --count N [--points P] [--cc CC] [--flags FLAGS] [--aim NAME]\n"
                    "  [--batch K] [--keep-going] [--no-shrink] [--shrink-for SECONDS] [--text] [--c]\n");
    return 2;
  }
  if (a.text || a.c) return print_one(&a);
  unsetenv("LD_PRELOAD"); /* which is for this process, not for the C compiler */
  Shared *s = mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (s == MAP_FAILED) return 4;
  s->from = a.seed;
  a.how.folder = folder_make(arena);
  uint64_t failures = all(s, &a);
  totals(s, failures);
  if (rmdir(a.how.folder) != 0) fprintf(stderr, "%s is left: what a child that crashed was working on\n", a.how.folder);
  arena_free(arena);
  return failures != 0;
}
