/* task/from_graph.h - converts the EinGraph to tasks, for one site. (For several sites, see sites/from_ia.h.) */
#ifndef EIN_TASK_FROM_GRAPH_H
#define EIN_TASK_FROM_GRAPH_H

#include "graph/graph.h"
#include "task.h"

/* The graph must be checked and have passed graph_values at least: elements that may have no value are tested before
 * they are read. Work that no output or assert needs is left out. `device`: a device will run it, which wants many rows
 * rather than large ones (passes/again.c). */
TaskGraph *task_from_graph(Arena *a, EinGraph *g, bool device);

#endif
