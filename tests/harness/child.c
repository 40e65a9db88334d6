/* tests/harness/child.c - work in processes of their own: what crashes there is a judgement here. And by that, programs
 * made small: a test tries one thing after another, and what no longer fails in the same way is taken back. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "harness.h"

enum { ALARM_TRY = 60 };

bool say(Judgement *v, const char *what, const char *detail) {
  snprintf(v->what, sizeof v->what, "%s", what);
  snprintf(v->detail, sizeof v->detail, "%s", detail ? detail : "");
  return false;
}

void *shared_new(size_t bytes) {
  void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (p != MAP_FAILED) return p;
  perror("memory");
  exit(4);
}

void child_run(void (*work)(void *), void *of, Judgement *v) {
  char crash[40];
  *v = (Judgement){0};
  fflush(stdout), fflush(stderr);
  pid_t child = fork();
  if (child < 0) exit(4);
  if (!child) {
    work(of);
    fflush(stdout);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (!status) return;
  if (WIFSIGNALED(status)) snprintf(crash, sizeof crash, "crash: signal %d", WTERMSIG(status));
  else snprintf(crash, sizeof crash, "crash: exit %d", WEXITSTATUS(status));
  say(v, crash, "");
}

/* What is counted is the child's alone. */
static void try(void *of) {
  Shrink *s = of;
  Work *mine = malloc(sizeof *mine);
  if (!mine || !freopen("/dev/null", "w", stderr)) _exit(4);
  *mine = *s->w;
  alarm(ALARM_TRY);
  mine->test->judge(mine, s->program, s->seed, &s->w->tried);
}

static bool differ(const char *what) { return !strcmp(what, "floats differ") || !strcmp(what, "integers differ"); }

bool still(Shrink *s) {
  const Judgement *v = &s->w->tried;
  if (time(NULL) > s->until) return false;
  child_run(try, s, &s->w->tried);
  if (strcmp(v->what, s->v.what) != 0 && !(differ(v->what) && differ(s->v.what))) return false;
  s->v = *v;
  return s->smaller = true;
}

void shrink(Work *w, void *program, uint64_t seed, Judgement *v) {
  Shrink s = {.w = w, .program = program, .seed = seed, .until = time(NULL) + (int64_t)w->shrink_for};
  child_run(try, &s, &w->tried);
  s.v = w->tried;
  if (!s.v.what[0]) return; /* it does not happen again */
  do {
    s.smaller = false;
    w->test->shrink(&s);
  } while (s.smaller && time(NULL) < s.until);
  *v = s.v;
}
