/* SPDX-License-Identifier: MIT-0 */
/*
 * Threads for a run: a task for each of 0..n-1, by OpenMP, a pool, the caller's own threads, or one after
 * the other. Which thread does what is decided as it goes; what is computed does not depend on it.
 */
#include "run_inside.h"

#if defined(EIN_PTHREADS)
#include <pthread.h>
#elif defined(_OPENMP)
#include <omp.h>
#endif
#if defined(__unix__) || defined(__APPLE__)
#include <unistd.h>
#endif

/*
 * Less work than this (scalar operations, about) is done by the calling thread alone. Measured with two threads: a
 * region of OpenMP's costs 0.4 to 1 microseconds while its threads still spin, and pays from 4,000 dependent scalar
 * operations or 100,000 in vectors on; waking threads that sleep costs 5 to 50.
 */
#define EIN_WORTH_THREADS 50000.0

static int ein_stopped(const ein_ctx *ctx) {
  return EIN_GET(&ctx->inside->cancel) | EIN_GET(&ctx->inside->faults);
}

EIN_API ein_status ein_settle(ein_ctx *ctx) {
  ein_inside *in = ctx->inside;
  if (EIN_GET(&in->faults)) {
    const ein_site *s = &in->tables->site[in->fault_site];
    ein_where where = ein_where_of(s->file, s->line);
    ein_error_set(&in->error, EIN_ERR_INDEX, "%s: %lld is out of range, its size is %lld%s",
                  s->text ? s->text : "an index", (long long)in->fault_index, (long long)in->fault_extent, where.text);
  }
  if (EIN_GET(&in->cancel)) ein_error_set(&in->error, EIN_ERR_CANCEL, "cancelled");
  return in->error.status;
}

EIN_API int64_t ein_fault(ein_ctx *ctx, int site, int64_t index, int64_t extent) {
  ein_inside *in = ctx->inside;
  if (EIN_TAKE(&in->faults, 1) == 0) {
    in->fault_site = site;
    in->fault_index = index;
    in->fault_extent = extent;
  } else {
    EIN_PUT(&in->faults, 1); /* so that it never wraps */
  }
  return 0;
}

/* ---- one job ---- */

static void ein_job_one(void *env, int64_t i, int worker) {
  ein_job *job = (ein_job *)env;
  if (!ein_stopped(job->ctx)) job->task(job->ctx, i, worker);
}

static void ein_job_share(ein_job *job, int worker) {
  for (;;) {
    uint64_t i = EIN_TAKE(&job->next, job->grab);
    if (i >= job->n) return;
    uint64_t end = job->n - i < job->grab ? job->n : i + job->grab;
    for (; i < end; i++) {
      if (ein_stopped(job->ctx)) return;
      job->task(job->ctx, (int64_t)i, worker);
    }
  }
}

/* ---- who does it ---- */

#if defined(EIN_PTHREADS)

typedef struct ein_member { ein_team *team; pthread_t thread; int worker; } ein_member;

struct ein_team {
  pthread_mutex_t lock;
  pthread_cond_t start, done;
  ein_job *job;
  uint64_t round;              /* how many jobs there were */
  int busy, ending, n;         /* members at work; members */
  ein_member *member;
};

static void *ein_member_run(void *arg) {
  ein_member *m = (ein_member *)arg;
  ein_team *t = m->team;
  uint64_t seen = 0;
  pthread_mutex_lock(&t->lock);
  for (;;) {
    while (t->round == seen && !t->ending) pthread_cond_wait(&t->start, &t->lock);
    if (t->ending) break;
    seen = t->round;
    ein_job *job = t->job;
    pthread_mutex_unlock(&t->lock);
    ein_job_share(job, m->worker);
    pthread_mutex_lock(&t->lock);
    if (--t->busy == 0) pthread_cond_signal(&t->done);
  }
  pthread_mutex_unlock(&t->lock);
  return NULL;
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
  pthread_mutex_lock(&t->lock);
  t->ending = 1;
  pthread_cond_broadcast(&t->start);
  pthread_mutex_unlock(&t->lock);
  for (int k = 0; k < t->n; k++) pthread_join(t->member[k].thread, NULL);
  pthread_cond_destroy(&t->done);
  pthread_cond_destroy(&t->start);
  pthread_mutex_destroy(&t->lock);
}

static void ein_job_do(ein_job *job, ein_inside *in) {
  ein_team *t = in->team;
  pthread_mutex_lock(&t->lock);
  t->job = job;
  t->round++;
  t->busy = t->n;
  pthread_cond_broadcast(&t->start);
  pthread_mutex_unlock(&t->lock);
  ein_job_share(job, 0);
  pthread_mutex_lock(&t->lock);
  while (t->busy) pthread_cond_wait(&t->done, &t->lock);
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
/* Inside of a parallel region of the caller's, his threads are all there shall be. */
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
#if defined(_OPENMP) && !defined(EIN_PTHREADS)
  if (n == 0) n = omp_get_max_threads();
#elif defined(_SC_NPROCESSORS_ONLN)
  if (n == 0) n = sysconf(_SC_NPROCESSORS_ONLN);
#endif
#if !defined(EIN_PTHREADS) && (!defined(_OPENMP) || defined(EIN_ALONE))
  if (!config->parallel) n = 1;
#endif
  return n < 1 ? 1 : n > EIN_MOST_THREADS ? EIN_MOST_THREADS : (int)n;
}

EIN_API ein_status ein_parallel(ein_ctx *ctx, ein_task *task, int64_t n, double work) {
  ein_inside *in = ctx->inside;
  if (ein_settle(ctx) != EIN_OK || n <= 0) return in->error.status;
  ein_job job;
  job.ctx = ctx;
  job.task = task;
  job.n = (uint64_t)n;
  job.next = 0;
  job.grab = job.n / ((uint64_t)in->threads * 32) + 1;
  if (n == 1 || in->threads == 1 || !(work >= EIN_WORTH_THREADS))
    for (int64_t i = 0; i < n; i++) ein_job_one(&job, i, 0);
  else if (in->config.parallel)
    in->config.parallel(in->config.user, in->threads, ein_job_one, &job, n);
  else
    ein_job_do(&job, in);
  return ein_settle(ctx);
}
