/* bench/peers/steady.c - how fast the processors are at this moment: those of a virtual machine may share a core for a
 * while, with each other or with strangers. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <time.h>
#if defined(__linux__)
#include <sched.h>
#endif

enum { MOST = 256, TURNS = 100000, BYTES = 64 };

typedef float Lanes __attribute__((vector_size(BYTES)));

typedef struct Probe {
  pthread_t thread;
  int number;              /* of the processor among those that this process may use */
  int64_t turns;
  double seconds;
  float sum;
} Probe;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void stay_on(int number) {
#if defined(__linux__)
  cpu_set_t all, one;
  if (sched_getaffinity(0, sizeof all, &all) != 0) return;
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
    if (CPU_ISSET(cpu, &all) && number-- == 0) CPU_SET(cpu, &one);
  if (CPU_COUNT(&one)) sched_setaffinity(0, sizeof one, &one);
#else
  (void)number;
#endif
}

/* As many multiply-adds as the units take: ten chains of them, none of which waits for another. */
static void *probe_run(void *arg) {
  Probe *p = arg;
  stay_on(p->number);
  Lanes zero = {0}, by = zero + 0.5f, plus = zero + 1.0f;
  Lanes a0 = zero, a1 = by, a2 = plus, a3 = by + 1, a4 = by + 2, a5 = by + 3, a6 = by + 4, a7 = by + 5, a8 = by + 6,
        a9 = by + 7;
  double from = now();
  for (int64_t t = 0; t < p->turns; t++) {
    a0 = a0 * by + plus, a1 = a1 * by + plus, a2 = a2 * by + plus, a3 = a3 * by + plus, a4 = a4 * by + plus;
    a5 = a5 * by + plus, a6 = a6 * by + plus, a7 = a7 * by + plus, a8 = a8 * by + plus, a9 = a9 * by + plus;
  }
  p->seconds = now() - from;
  p->sum = (a0 + a1 + a2 + a3 + a4 + a5 + a6 + a7 + a8 + a9)[0];
  return NULL;
}

/* The seconds of the slowest of so many threads, each on a processor of its own, at the same work at the same time. */
double steady_seconds(int threads) {
  Probe probe[MOST];
  double slowest = 0;
  if (threads > MOST) threads = MOST;
  int started = 0;
  for (; started < threads; started++) {
    probe[started] = (Probe){.number = started, .turns = TURNS};
    if (pthread_create(&probe[started].thread, NULL, probe_run, &probe[started]) != 0) break;
  }
  for (int k = 0; k < started; k++) {
    pthread_join(probe[k].thread, NULL);
    if (probe[k].seconds > slowest) slowest = probe[k].seconds;
  }
  return slowest;
}
