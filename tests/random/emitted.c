/* tests/random/emitted.c - random programs, computed by graph_eval and by the C that is emitted for them.
 *
 *   emitted --runtime DIR --seed S --count N    S, S+1, ...: integers, bools and ends must be the same, floats near
 *   ... --cc "clang-19" --flags "-O3 -march=native"     the C compiler, its flags
 *   ... --batch K           so many programs to a C file at most
 *   ... --optimise yes|no   graph_optimise for all or for none, else for every second
 *   ... --keep-going        does not stop at the first failure
 *   ... --no-shrink         prints failing programs as they are
 *   ... --shrink-for S      makes them small for so many seconds at most
 *   ... --text, --c         prints the program of a seed, or its C
 *
 * For code with AddressSanitizer, either this is built with it, or LD_PRELOAD names the compiler's libasan; and
 * ASAN_OPTIONS has allocator_may_return_null=1, since sizes that are too large for any memory are tried. Work is done
 * in a child, so that a crash is a failure like others: it is shrunk and printed with its seed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "emitted.h"

enum { BATCH = 100, BATCH_BYTES = 800000, MOST_BAD = 4096, ALARM_MAKE = 60, ALARM_COMPILE = 600, ALARM_RUN = 60 };

typedef struct Args {
  uint64_t seed, count, batch, shrink_for;
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
  if (!strcmp(w, "--batch")) return number(value, &a->batch) && a->batch;
  if (!strcmp(w, "--shrink-for")) return number(value, &a->shrink_for);
  if (!strcmp(w, "--runtime")) a->how.runtime = value;
  else if (!strcmp(w, "--cc")) a->how.cc = value;
  else if (!strcmp(w, "--flags")) a->how.flags = value;
  else if (!strcmp(w, "--optimise") && !strcmp(value, "yes")) a->how.optimise = 1;
  else if (!strcmp(w, "--optimise") && !strcmp(value, "no")) a->how.optimise = 0;
  else return false;
  return true;
}

static bool args_read(Args *a, int n, char **w) {
  for (int i = 1; i < n; i++) {
    if (flag(a, w[i])) continue;
    if (!option(a, w[i], i + 1 < n ? w[i + 1] : NULL)) return false;
    i++;
  }
  return a->how.runtime || a->text || a->c;
}

/* ---- one ------------------------------------------------------------------------------------------ */

static void subject_alone(Subject *s, const How *how, Count *n) {
  Buf why = buf_new(s->arena);
  void *library = library_make(&s, 1, how, &why);
  if (!library) say(&s->v, "the C compiler refuses", why.s);
  else if (subject_judge(s, library_model(library, s), n)) s->v.what[0] = 0;
}

/* For shrink.c, which does this in a process of its own. */
void judge_make(const Made *m, uint64_t seed, Judgement *v, Tally *t) {
  const How *how = m->how;
  Arena *a = arena_new();
  Subject s = {0};
  Count n = {0};
  t->programs++;
  if (!how->until || time(NULL) < how->until) {
    if (subject_make(&s, a, m, seed, how)) subject_alone(&s, how, &n);
  }
  *v = s.v;
  arena_free(a);
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
  Made *m = program_make(arena, seed);
  m->how = &a->how;
  if (subject_make(x, arena, m, seed, &a->how)) return x;
  fail_at(s, &x->v);
  return NULL;
}

static void batch_run(Shared *s, Subject **x, uint32_t n, void *library) {
  for (uint32_t i = 0; i < n; i++) {
    doing(s, "running", x[i]->seed, ALARM_RUN);
    bool ok = subject_judge(x[i], library_model(library, x[i]), &s->n);
    s->programs++;
    s->from = x[i]->seed + 1;
    if (!ok) {
      fail_at(s, &x[i]->v);
      return;
    }
  }
}

/* One C file is refused: by whom, is found by trying each alone. */
static void batch_apart(Shared *s, const Args *a, Subject **x, uint32_t n) {
  for (uint32_t i = 0; i < n && !s->failed; i++) {
    Buf why = buf_new(x[i]->arena);
    doing(s, "compiling", x[i]->seed, ALARM_COMPILE);
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
    bytes += one->c.len;
    vec_push(arena, x, one);
  }
  if (x.len) {
    Buf why = buf_new(arena);
    doing(s, "compiling", x.at[0]->seed, ALARM_COMPILE);
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

static void kernels_print(const char *c) {
  const char *end = strstr(c, "/* ---- sizes ");
  printf("--- C\n%.*s", end ? (int)(end - c) : (int)strlen(c), c);
}

static void report(const Shared *s, const Args *a) {
  Arena *m = arena_new();
  Judgement v = s->v;
  printf("seed %llu: %s (%s)\n%s\n", (unsigned long long)s->at, v.what, s->doing, v.detail);
  Made *made = program_make(m, s->at);
  How how = a->how;
  how.until = time(NULL) + (int64_t)a->shrink_for;
  made->how = &how;
  fflush(stdout);
  if (!a->no_shrink) shrink(made, s->at, &v);
  Subject x = {0};
  how.until = 0;
  subject_read(&x, m, made, s->at);
  printf("--- %s\n%s\n---\n%s", v.what, v.detail, x.text);
  if (!a->no_shrink && strncmp(v.what, "crash", 5) != 0 && subject_make(&x, m, made, s->at, &how)) kernels_print(x.c.s);
  printf("--- again: --seed %llu --count 1 --cc \"%s\" --flags \"%s\"\n\n", (unsigned long long)s->at, how.cc, how.flags);
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
  printf("%llu programs, %llu failures; %llu runs, %llu elements; %llu with symbolic sizes; %llu trials that fail as they must; "
         "%llu wrong calls refused; %llu trials too long for eval\n",
         (unsigned long long)s->programs, (unsigned long long)failures, (unsigned long long)n->runs,
         (unsigned long long)n->elements, (unsigned long long)n->symbolic, (unsigned long long)n->failed,
         (unsigned long long)n->refused, (unsigned long long)n->skipped);
}

static int print_one(const Args *a) {
  Arena *m = arena_new();
  Subject s = {0};
  bool ok = subject_make(&s, m, program_make(m, a->seed), a->seed, &a->how);
  if (!ok) fprintf(stderr, "%s\n%s\n", s.v.what, s.v.detail);
  fputs(a->c && ok ? s.c.s : s.text, stdout);
  arena_free(m);
  return !ok;
}

static const char *folder_make(Arena *a) {
  const char *at = getenv("TMPDIR");
  char *path = arena_printf(a, "%s/ein_random_XXXXXX", at && *at ? at : "/tmp");
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
  Args a = {.seed = 1, .count = 100, .batch = BATCH, .shrink_for = 120, .how = {.cc = "cc", .flags = "-O1", .optimise = -1}};
  if (!args_read(&a, argc, argv)) {
    fprintf(stderr, "usage: emitted --runtime DIR --seed S --count N [--cc CC] [--flags FLAGS] [--batch K] [--optimise yes|no]\n"
                    "  [--keep-going] [--no-shrink] [--shrink-for SECONDS] [--text] [--c]\n");
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
