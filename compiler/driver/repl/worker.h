/* driver/repl/worker.h - runs a query's computation in a separate process (ein repl --isolate). It inherits the
 * session's values without a copy, and sends values and messages back through a pipe. However that process ends,
 * nothing changes here. */
#ifndef EIN_REPL_WORKER_H
#define EIN_REPL_WORKER_H

#include "query.h"

/* Does the work there, and brings t->eval.output, t->seconds and messages back. No thread may have started in this
 * process before. */
Leave worker_compute(Query *q, Leave (*work)(Query *q));

#endif
