/* driver/progress.h - where a long run stands: after two seconds a line on stderr, if that is a terminal or --progress is said, with the turn of
 * the outermost repeat, how many there will be, a scalar state and the time left; it is gone when the run is over. What computes is not slowed:
 * compiled code is looked at from a thread that sleeps, the evaluator tells it where it asks whether to go on. Of several sites it is the first one. */
#ifndef EIN_DRIVER_PROGRESS_H
#define EIN_DRIVER_PROGRESS_H

#include <pthread.h>

#include "driver.h"

typedef struct Progress {
  Session *s;
  const char *watch;         /* the state's name; NULL: none */
  int64_t most;              /* turns of the program's only repeat outside of others; -1: not known */
  bool until;                /*   it may end before them */
  double begun;              /* seconds on a clock */
  double told;               /*   when a line was last written; 0: none is there */
  bool on, threaded, over;
  const void *ctx;           /* of compiled code */
  int64_t buffer;            /*   where the state is; -1: it has no place of its own */
  DType dtype;
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t end;
} Progress;

/* What is said of the command line: LEAVE_USAGE if --watch names no scalar state. a NULL: nothing is. */
Leave progress_new(Session *s, const Job *j, const Args *a, Progress *out);
/* Around a run of compiled code, in whose context it is looked; after its sizes are bound. */
void progress_begin(Progress *p, const Job *j, const void *ctx);
/* By the evaluator: now and then. */
void progress_eval(Progress *p, const Eval *e);
void progress_end(Progress *p); /* the line goes; harmless where there is none */

#endif
