/* driver/progress.h - shows the progress of a long run: after two seconds a line on stderr, if that is a terminal or
 * --progress is given, with the turn of the outermost repeat, the number of turns, a scalar state or what a stack of
 * scalars got last, and the time left.
 * The line disappears when the run ends. The computation is not slowed: a sleeping thread looks at compiled code, and
 * the evaluator reports when it polls for interrupts. With several sites, it shows the first one. */
#ifndef EIN_DRIVER_PROGRESS_H
#define EIN_DRIVER_PROGRESS_H

#include <pthread.h>

#include "driver.h"

typedef struct Progress {
  Session *s;
  const char *watch;         /* the name of a state or a stack; NULL: none */
  bool asked;                /* by --watch */
  int64_t most;              /* turns of the program's only outermost repeat; -1: unknown */
  bool until;                /* it may end earlier */
  double begun;              /* in seconds of a clock */
  double told;               /* when a line was last written; 0: no line is shown */
  bool on, threaded, over;
  const void *ctx;           /* of compiled code */
  int64_t buffer;            /* its buffer; -1: it has none of its own */
  bool stack;                /* with an element for each turn */
  DType dtype;
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t end;
} Progress;

/* From the command line: LEAVE_USAGE if --watch names none of these. a NULL: no options. */
Leave progress_new(Session *s, const Job *j, const Args *a, Progress *out);
/* Called around a run of compiled code, whose context it reads; after its sizes are bound. */
void progress_begin(Progress *p, const Job *j, const void *ctx);
/* Called by the evaluator now and then. */
void progress_eval(Progress *p, const Eval *e);
void progress_end(Progress *p); /* removes the line, if there is one */

#endif
