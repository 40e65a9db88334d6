/* driver/repl/worker.h - what a turn computes, in a process of its own that ends with it (ein repl --isolate). The session's values are there as they
 * are here, without a copy; what comes back is values and messages, by a pipe. However that process ends, nothing here has changed. */
#ifndef EIN_REPL_WORKER_H
#define EIN_REPL_WORKER_H

#include "turn.h"

/* Does the work there, with what it leaves in t->eval.output, t->seconds and messages here. Before it no thread has begun in this process. */
Leave worker_compute(Turn *t, Leave (*work)(Turn *t));

#endif
