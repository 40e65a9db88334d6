/* SPDX-License-Identifier: MIT-0 */
/*
 * Threads for a run: calls a task for each of 0..n-1, with OpenMP, a pool, the caller's threads, or one after
 * the other. Work is distributed dynamically; the results do not depend on it.
 */
#include "ein_inside.h"

#if defined(EIN_PTHREADS)
#include <pthread.h>
#elif defined(_OPENMP) && defined(__has_include)
#if __has_include(<omp.h>)
#include <omp.h>
#else /* a compiler that accepts the flag but has no library */
#define EIN_ALONE
#endif
#elif defined(_OPENMP)
#include <omp.h>
#endif
#if defined(__unix__) || defined(__APPLE__)
#include <unistd.h>
#endif
#if defined(__linux__) && defined(_GNU_SOURCE)
#include <sched.h>
#endif

/* The number of processors that this process may use; 0: unknown. */
EIN_API int ein_processors(void) {
#if defined(__linux__) && defined(_GNU_SOURCE)
  cpu_set_t mine;
  if (sched_getaffinity(0, sizeof mine, &mine) == 0) return CPU_COUNT(&mine);
#endif
#if defined(_SC_NPROCESSORS_ONLN)
  return (int)sysconf(_SC_NPROCESSORS_ONLN);
#else
  return 0;
#endif
}

static int ein_stopped(const ein_ctx *ctx) {
  return EIN_GET(&ctx->inside->cancel) | EIN_GET(&ctx->inside->faults);
}

static EIN_FAR ein_status ein_settle_met(ein_ctx *ctx) {
  ein_inside *in = ctx->inside;
  if (EIN_GET(&in->faults)) {
    const ein_site *s = &in->tables->site[in->fault.site];
    ein_where where = ein_where_of(s->file, s->line);
    const char *what = s->text ? s->text : "an index";
    if (s->asked) ein_error_set(&in->error, EIN_ERR_INDEX, "%s: it is out of range%s", what, where.text);
    else
      ein_error_set(&in->error, EIN_ERR_INDEX, "%s: %lld is out of range, its size is %lld%s", what,
          (long long)in->fault.index, (long long)in->fault.extent, where.text);
  }
  if (EIN_GET(&in->cancel)) ein_error_set(&in->error, EIN_ERR_CANCEL, "cancelled");
  return in->error.status;
}

EIN_API ein_status ein_settle(ein_ctx *ctx) {
  return ein_stopped(ctx) ? ein_settle_met(ctx) : ctx->inside->error.status;
}

EIN_API int64_t ein_fault(ein_ctx *ctx, int site, int64_t index, int64_t extent) {
  ein_inside *in = ctx->inside;
  if (EIN_TAKE(&in->faults, 1) == 0) {
    in->fault.site = site;
    in->fault.index = index;
    in->fault.extent = extent;
  } else {
    EIN_PUT(&in->faults, 1); /* so that it never wraps */
  }
  return 0;
}

/* ---- one job ---- */

/* For the caller's threads, where it is unknown which call is the last. */
static void ein_job_one(void *env, int64_t i, int worker) {
  ein_job *job = (ein_job *)env;
  if (!ein_stopped(job->ctx)) job->task(job->ctx, i, worker);
  if (job->streams) ein_stream_end();
}

/* Called by the thread that runs: exchanges under way make progress. */
static void ein_look(const ein_ctx *ctx) {
  const ein_wire *wire = ctx->inside->config.wire;
  if (ctx->inside->among.under_way) wire->look(wire->user);
}

static void ein_job_alone(ein_job *job) {
  for (uint64_t i = 0; i < job->n; i++) {
    if (!ein_stopped(job->ctx)) job->task(job->ctx, (int64_t)i, 0);
    ein_look(job->ctx);
  }
  if (job->streams) ein_stream_end();
}

static void ein_job_share(ein_job *job, int worker) {
  for (;;) {
    uint64_t i = EIN_TAKE(&job->next, job->grab);
    if (i >= job->n) break;
    uint64_t end = job->n - i < job->grab ? job->n : i + job->grab;
    for (; i < end; i++)
      if (!ein_stopped(job->ctx)) job->task(job->ctx, (int64_t)i, worker);
    if (worker == 0) ein_look(job->ctx);
  }
  if (job->streams) ein_stream_end();
}

/* ---- dispatch ---- */

#if defined(EIN_PTHREADS)

typedef struct ein_member { ein_team *team; pthread_t thread; int worker; } ein_member;

struct ein_team {
  pthread_mutex_t lock;
  pthread_cond_t start, done;
  ein_job *job;
  uint64_t round;              /* the number of jobs so far; publishes `job` */
  int busy, n;                 /* busy: members at work */
  int patience;                /* polls before a thread goes to sleep */
  ein_member *member;
};

/*
 * Waking a thread takes 5 to 50 microseconds, so a waiting thread polls for about that long before it sleeps.
 * Not longer: a polling thread keeps others from its processor, perhaps the thread that it waits for. With more
 * threads than processors, none polls.
 */
enum { EIN_PATIENCE = 1000 };

static void ein_look_away(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ __volatile__("yield");
#endif
}

/* Waits for the next job, and makes visible everything that it depends on. NULL: there are no more jobs. */
static ein_job *ein_member_wait(ein_team *t, uint64_t seen) {
  for (int k = 0; k < t->patience && EIN_SEE(&t->round) == seen; k++) ein_look_away();
  if (EIN_SEE(&t->round) == seen) {
    pthread_mutex_lock(&t->lock);
    while (EIN_SEE(&t->round) == seen) pthread_cond_wait(&t->start, &t->lock);
    pthread_mutex_unlock(&t->lock);
  }
  return t->job;
}

static void *ein_member_run(void *arg) {
  ein_member *m = (ein_member *)arg;
  ein_team *t = m->team;
  ein_job *job;
  for (uint64_t seen = 0; (job = ein_member_wait(t, seen)) != NULL; seen++) {
    ein_job_share(job, m->worker);
    if (EIN_LEAVE(&t->busy) > 0) continue;
    pthread_mutex_lock(&t->lock);
    pthread_cond_signal(&t->done);
    pthread_mutex_unlock(&t->lock);
  }
  return NULL;
}

/* Starts the next job. All members have finished the last one. */
static void ein_team_next(ein_team *t, ein_job *job) {
  t->job = job;
  EIN_PUT(&t->busy, t->n);
  pthread_mutex_lock(&t->lock);
  EIN_SHOW(&t->round, t->round + 1);
  pthread_cond_broadcast(&t->start);
  pthread_mutex_unlock(&t->lock);
}

EIN_API size_t ein_team_bytes(int threads) {
  return sizeof(ein_team) + (size_t)threads * sizeof(ein_member);
}

EIN_API void ein_team_start(ein_ctx *ctx, void *memory) {
  ein_inside *in = ctx->inside;
  ein_team *t = (ein_team *)memory;
  if (in->threads < 2 || in->config.parallel) return;
  memset(t, 0, sizeof *t);
  t->member = (ein_member *)(void *)(t + 1);
  t->patience = in->threads <= ein_processors() ? EIN_PATIENCE : 0;
  pthread_mutex_init(&t->lock, NULL);
  pthread_cond_init(&t->start, NULL);
  pthread_cond_init(&t->done, NULL);
  for (int k = 0; k < in->threads - 1; k++) {
    ein_member *m = &t->member[k];
    m->team = t;
    m->worker = k + 1;
    if (pthread_create(&m->thread, NULL, ein_member_run, m) != 0) break;
    t->n++;
  }
  in->threads = t->n + 1;
  in->team = t;
}

EIN_API void ein_team_end(ein_ctx *ctx) {
  ein_team *t = ctx->inside->team;
  if (!t) return;
  ein_team_next(t, NULL);
  for (int k = 0; k < t->n; k++) pthread_join(t->member[k].thread, NULL);
  pthread_cond_destroy(&t->done);
  pthread_cond_destroy(&t->start);
  pthread_mutex_destroy(&t->lock);
}

static void ein_job_do(ein_job *job, ein_inside *in) {
  ein_team *t = in->team;
  ein_team_next(t, job);
  ein_job_share(job, 0);
  for (int k = 0; k < t->patience && EIN_SEE(&t->busy); k++) ein_look_away();
  if (!EIN_SEE(&t->busy)) return;
  pthread_mutex_lock(&t->lock);
  while (EIN_SEE(&t->busy)) pthread_cond_wait(&t->done, &t->lock);
  pthread_mutex_unlock(&t->lock);
}

#else

EIN_API size_t ein_team_bytes(int threads) {
  (void)threads;
  return 0;
}
EIN_API void ein_team_start(ein_ctx *ctx, void *memory) {
  (void)ctx;
  (void)memory;
}
EIN_API void ein_team_end(ein_ctx *ctx) {
  (void)ctx;
}

#if defined(_OPENMP) && !defined(EIN_ALONE)
/* Inside a parallel region of the caller's, only its threads are used. */
static void ein_job_do(ein_job *job, ein_inside *in) {
  if (omp_in_parallel()) {
    ein_job_share(job, 0);
    return;
  }
#pragma omp parallel num_threads(in->threads)
  ein_job_share(job, omp_get_thread_num());
}
#else
static void ein_job_do(ein_job *job, ein_inside *in) {
  (void)in;
  ein_job_share(job, 0);
}
#endif
#endif

EIN_API int ein_team_size(const ein_config *config) {
  long n = config->threads;
#if defined(_OPENMP) && !defined(EIN_PTHREADS) && !defined(EIN_ALONE)
  if (n == 0) n = omp_get_max_threads();
#else
  if (n == 0) n = ein_processors();
#endif
#if !defined(EIN_PTHREADS) && (!defined(_OPENMP) || defined(EIN_ALONE))
  if (!config->parallel) n = 1;
#endif
  return n < 1 ? 1 : n > EIN_MOST_THREADS ? EIN_MOST_THREADS : (int)n;
}

static inline ein_status ein_job_run(ein_ctx *ctx, ein_task *task, int64_t n, double work, int streams) {
  ein_inside *in = ctx->inside;
  if (ein_settle(ctx) != EIN_OK || n <= 0) return in->error.status;
  ein_job job;
  job.ctx = ctx;
  job.task = task;
  job.n = (uint64_t)n;
  job.next = 0;
  job.grab = job.n / ((uint64_t)in->threads * 32) + 1;
  job.streams = streams;
  if (n == 1 || in->threads == 1 || !(work >= in->worth_threads))
    ein_job_alone(&job);
  else if (in->config.parallel)
    in->config.parallel(in->config.user, in->threads, ein_job_one, &job, n);
  else
    ein_job_do(&job, in);
  return ein_settle(ctx);
}

EIN_API ein_status ein_parallel(ein_ctx *ctx, ein_task *task, int64_t n, double work) {
  return ein_job_run(ctx, task, n, work, 0);
}

EIN_API ein_status ein_parallel_streams(ein_ctx *ctx, ein_task *task, int64_t n, double work) {
  return ein_job_run(ctx, task, n, work, 1);
}
