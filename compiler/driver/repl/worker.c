/* driver/repl/worker.c - runs a query's computation in a child: see worker.h. The pipe carries an Answer, its text,
 * and for each output an EvalArray, its shape, its elements, and its mask: both ends are the same program, so
 * structs are sent as they are. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "driver/compile/native.h"
#include "worker.h"

typedef struct Answer {      /* the result as a whole */
  Leave leave;
  bool without_jit;
  double seconds;
  size_t text;               /* bytes of captured messages */
} Answer;

typedef struct Work {        /* of one query, at either end */
  Query *query;
  Leave (*work)(Query *q);
  int fd;
  Leave leave;
  bool whole;                /* all of the answer has come */
} Work;

/* ---- in the worker ------------------------------------------------------------------------------- */

/* The child ends with the session; and if memory runs out, the system kills it first. On systems other than Linux a
 * broken pipe ends it. */
static void child_begin(pid_t parent) {
#ifdef __linux__
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (fd < 0) return;
  ssize_t n = write(fd, "1000", 4);
  (void)n; /* a wish */
  close(fd);
#else
  (void)parent;
#endif
}

static void put(int fd, const void *from, size_t n) {
  const char *at = from;
  while (n) {
    ssize_t k = write(fd, at, n);
    if (k < 0 && errno == EINTR) continue;
    if (k <= 0) _exit(1);
    at += k;
    n -= (size_t)k;
  }
}

static void do_work(void *env) {
  Work *w = env;
  w->leave = w->work(w->query);
}

static _Noreturn void child_live(Work *w) {
  Query *q = w->query;
  uint32_t before = q->s.captured.len;
  char why[1000];
  Answer x = {0};
  Went went = guarded(do_work, w, false, why, sizeof why);
  if (went == WENT_NO_MEMORY) w->leave = fail(&q->s, LEAVE_MACHINE, "%s; what is defined is as it was", why);
  if (went == WENT_BUG)
    w->leave = fail(&q->s, LEAVE_BUG,
        "internal error %s\nThis is a mistake in ein, not in your program; what is defined is as it was", why);
  Buf text = buf_new(q->s.arena);
  query_said(q, before, &text);
  x.text = text.len;
  x.leave = w->leave;
  x.without_jit = q->s.without_jit;
  x.seconds = q->seconds;
  put(w->fd, &x, sizeof x);
  put(w->fd, text.s, x.text);
  for (uint32_t i = 0; !x.leave && i < q->job.graph->outputs.len; i++) {
    const EvalArray *a = &q->eval.output[i];
    put(w->fd, a, sizeof *a);
    put(w->fd, a->shape, a->rank * sizeof *a->shape);
    put(w->fd, a->data, (size_t)(a->count * dtype_size(a->dtype)));
    if (a->has) put(w->fd, a->has, (size_t)a->count);
  }
  fflush(stdout);
  fflush(stderr);
  _exit(0); /* unread standard input belongs to the session */
}

/* ---- in the session ------------------------------------------------------------------------------ */

static bool get(int fd, void *to, size_t n) {
  char *at = to;
  while (n) {
    ssize_t k = read(fd, at, n);
    if (k < 0 && errno == EINTR) continue;
    if (k <= 0) return false;
    at += k;
    n -= (size_t)k;
  }
  return true;
}

static bool value_get(Work *w, EvalArray *x) {
  Arena *a = w->query->s.arena;
  if (!get(w->fd, x, sizeof *x)) return false;
  size_t bytes = (size_t)(x->count * dtype_size(x->dtype));
  x->shape = NEW_ARRAY(a, int64_t, x->rank + 1);
  x->data = arena_alloc(a, bytes + 1);
  if (x->has) x->has = arena_alloc(a, (size_t)x->count + 1);
  return get(w->fd, x->shape, x->rank * sizeof *x->shape) && get(w->fd, x->data, bytes) &&
      (!x->has || get(w->fd, x->has, (size_t)x->count));
}

static void answer_get(void *env) {
  Work *w = env;
  Query *q = w->query;
  Answer x;
  if (!get(w->fd, &x, sizeof x)) return;
  char *text = arena_alloc(q->s.arena, x.text + 1);
  if (!get(w->fd, text, x.text)) return;
  text[x.text] = 0;
  if (!x.leave) q->eval.output = NEW_ARRAY(q->s.arena, EvalArray, q->job.graph->outputs.len + 1);
  for (uint32_t i = 0; !x.leave && i < q->job.graph->outputs.len; i++)
    if (!value_get(w, &q->eval.output[i])) return;
  if (x.text) vec_push(q->s.arena, q->s.captured, text);
  q->s.without_jit = x.without_jit;
  q->seconds = x.seconds;
  w->leave = x.leave;
  w->whole = true;
}

/* Called by a signal handler. */
static void child_stop(void *pid) {
  kill(*(const pid_t *)pid, SIGINT);
}

static Leave child_lost(Session *s, int status) {
  if (!WIFSIGNALED(status))
    return fail(s, LEAVE_MACHINE, "the worker left with code %d and no answer; what is defined is as it was",
        WEXITSTATUS(status));
  int number = WTERMSIG(status);
  const char *by = number == SIGKILL ? ", as the system does where memory runs out" : "";
  return fail(s, LEAVE_MACHINE, "the worker was ended by signal %d (%s)%s; what is defined is as it was", number,
      strsignal(number), by);
}

static Leave child_watch(Work *w, pid_t pid) {
  Session *s = &w->query->s;
  void *const of = &pid;
  const InterruptRun run = {child_stop, &of, 1};
  char why[1000];
  int status = 0;
  if (!interrupt_begin(s, &run)) child_stop(&pid);
  Went went = guarded(answer_get, w, false, why, sizeof why);
  interrupt_end(s);
  if (went != WENT_WELL) kill(pid, SIGKILL);
  close(w->fd);
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {}
  if (went == WENT_NO_MEMORY) return fail(s, LEAVE_MACHINE, "%s; what is defined is as it was", why);
  if (went == WENT_BUG) bug("%s", why);
  return w->whole ? w->leave : child_lost(s, status);
}

/* A C compiler that the worker starts must not hold the pipe open when the worker is gone. */
static bool pipe_open(int end[2]) {
  return pipe(end) == 0 && fcntl(end[0], F_SETFD, FD_CLOEXEC) == 0 && fcntl(end[1], F_SETFD, FD_CLOEXEC) == 0;
}

Leave worker_compute(Query *q, Leave (*work)(Query *q)) {
  Work w = {.query = q, .work = work, .leave = LEAVE_OK};
  int end[2];
  fflush(stdout);
  fflush(stderr);
  if (!pipe_open(end)) return fail(&q->s, LEAVE_MACHINE, "cannot start a worker: %s", strerror(errno));
  pid_t parent = getpid(), pid = fork();
  if (pid == 0) {
    child_begin(parent);
    close(end[0]);
    w.fd = end[1];
    child_live(&w);
  }
  int why = errno;
  close(end[1]);
  w.fd = end[0];
  if (pid > 0) return child_watch(&w, pid);
  close(end[0]);
  return fail(&q->s, LEAVE_MACHINE, "cannot start a worker: %s", strerror(why));
}
