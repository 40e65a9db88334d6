/* tests/harness/batch.c - programs by their C, so many to one C file: to compile takes longest. */
#include <unistd.h>

#include "harness.h"

enum { BATCH_BYTES = 1200000, ALARM_MAKE = 60, ALARM_COMPILE = 900, ALARM_RUN = 120 };

void doing(Work *w, const char *what, uint64_t seed, unsigned seconds) {
  w->doing = what;
  w->at = seed;
  alarm(seconds);
}

static bool is_bad(const Work *w, uint64_t seed) {
  for (uint32_t i = 0; i < w->n_bad; i++)
    if (w->bad[i] == seed) return true;
  return false;
}

static Subject *subject_next(Work *w, Arena *arena, uint64_t seed) {
  Subject *x = NEW(arena, Subject);
  doing(w, "making", seed, ALARM_MAKE);
  if (subject_make(x, w, arena, w->test->make(w, arena, seed), seed)) return x;
  w->v = x->v;
  return NULL;
}

/* Each in an arena of its own, which is given back: arrays are large. */
static bool judge_in(Subject *x, void *library, Count *n) {
  Arena *was = x->arena;
  x->arena = arena_new();
  bool ok = subject_judge(x, library_model(library, x), n);
  arena_free(x->arena);
  x->arena = was;
  return ok;
}

static void batch_run(Work *w, Subject **x, uint32_t n, void *library) {
  bool ok = true;
  for (uint32_t i = 0; ok && i < n; i++) {
    doing(w, "running", x[i]->seed, ALARM_RUN);
    ok = judge_in(x[i], library, &w->n);
    w->programs++;
    w->from = x[i]->seed + 1;
    if (!ok) w->v = x[i]->v;
  }
}

/* One C file is refused: by whom, is found by trying each alone. */
static void batch_apart(Work *w, Subject **x, uint32_t n) {
  for (uint32_t i = 0; i < n && !w->v.what[0]; i++) {
    Buf why = buf_new(x[i]->arena);
    doing(w, "compiling", x[i]->seed, ALARM_COMPILE);
    void *library = library_make(&x[i], 1, &why);
    if (library) batch_run(w, &x[i], 1, library);
    else say(&w->v, "the C compiler refuses", why.s);
  }
}

void batch(Work *w) {
  Arena *arena = arena_new();
  VEC(Subject *) x = {0};
  size_t bytes = 0;
  uint64_t seed = w->from;
  for (; seed < w->seed + w->count && x.len < w->batch && bytes < BATCH_BYTES; seed++) {
    if (is_bad(w, seed)) continue;
    Subject *one = subject_next(w, arena, seed);
    if (!one) return;
    bytes += one->c.len;
    vec_push(arena, x, one);
  }
  if (x.len) {
    Buf why = buf_new(arena);
    doing(w, "compiling", x.at[0]->seed, ALARM_COMPILE);
    void *library = library_make(x.at, x.len, &why);
    if (library) batch_run(w, x.at, x.len, library);
    else batch_apart(w, x.at, x.len);
  }
  if (!w->v.what[0]) w->from = seed;
}

void by_c(Work *w, void *program, uint64_t seed, Judgement *v) {
  Arena *a = arena_new();
  Subject *s = NEW(a, Subject);
  Buf why = buf_new(a);
  *v = (Judgement){0};
  if (!subject_make(s, w, a, program, seed)) {
    *v = s->v;
  } else {
    void *library = library_make(&s, 1, &why);
    if (!library) say(v, "the C compiler refuses", why.s);
    else if (!judge_in(s, library, &w->n)) *v = s->v;
  }
  arena_free(a);
}
