/* driver/interrupt.c - Ctrl-C in a session that goes on: what is being computed stops, and nothing else does.
 *
 * What a signal's handler sees must be global; this is all of it. Only the prompt asks for it: elsewhere a signal ends the process. */
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

const volatile int *interrupt_flag(void) {
  return watched ? &met : NULL;
}

void interrupt_clear(void) {
  met = 0;
}

bool interrupt_begin(const InterruptRun *r) {
  if (watched) running = r;
  return !met;
}

void interrupt_end(void) {
  running = NULL;
}
