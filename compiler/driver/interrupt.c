/* driver/interrupt.c - Ctrl-C in an interactive session: stops the current computation, and nothing else.
 *
 * What a signal handler reads must be global; this is all of it. Only the prompt uses it: elsewhere a signal ends
 * the process. A guest has no handler: its caller cancels from another thread, and the lock keeps contexts alive
 * meanwhile. */
#include <signal.h>

#include "driver/compile/native.h"

static volatile sig_atomic_t met, watched;
static const InterruptRun *volatile running;

/* ein_cancel stores one flag, so it may be called here. */
static void on_signal(int number) {
  (void)number;
  const InterruptRun *r = running;
  met = 1;
  for (int i = 0; r && i < r->n; i++)
    if (r->ctx[i]) r->cancel(r->ctx[i]);
}

void interrupt_watch(void) {
  struct sigaction by = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
  sigemptyset(&by.sa_mask);
  sigaction(SIGINT, &by, NULL);
  watched = 1;
}

bool interrupted(void) {
  return met;
}

const volatile int *stop_flag(const Session *s) {
  if (s->guest) return s->guest->stop ? &s->guest->stop->wanted : NULL;
  return watched ? &met : NULL;
}

bool stop_wanted(const Session *s) {
  const volatile int *flag = stop_flag(s);
  return flag && *flag;
}

void interrupt_clear(void) {
  met = 0;
}

static void guest_runs(GuestStop *g, const InterruptRun *r) {
  pthread_mutex_lock(&g->lock);
  g->running = r;
  pthread_mutex_unlock(&g->lock);
}

void guest_stop(GuestStop *g) {
  pthread_mutex_lock(&g->lock);
  g->wanted = 1;
  for (int i = 0; g->running && i < g->running->n; i++)
    if (g->running->ctx[i]) g->running->cancel(g->running->ctx[i]);
  pthread_mutex_unlock(&g->lock);
}

bool interrupt_begin(const Session *s, const InterruptRun *r) {
  if (s->guest && s->guest->stop) guest_runs(s->guest->stop, r);
  else if (watched) running = r;
  return !stop_wanted(s);
}

void interrupt_end(const Session *s) {
  if (s->guest && s->guest->stop) guest_runs(s->guest->stop, NULL);
  else if (!s->guest) running = NULL;
}
