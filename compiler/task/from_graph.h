/* task/from_graph.h - the door from the EinGraph to tasks, for one site. (With Plan, Tra and Ia it will be `from_ia`.) */
#ifndef EIN_TASK_FROM_GRAPH_H
#define EIN_TASK_FROM_GRAPH_H

#include "graph/graph.h"
#include "task.h"

/* The graph is checked, and behind graph_values at least: what may have no value is asked for it before it is read. What
 * no output or assert needs is not done. */
TaskGraph *task_from_graph(Arena *a, EinGraph *g);

#endif
