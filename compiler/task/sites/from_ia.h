/* task/sites/from_ia.h - converts the implementation algebra to tasks: one list for all sites of its mesh. */
#ifndef EIN_TASK_FROM_IA_H
#define EIN_TASK_FROM_IA_H

#include "algebra/algebra.h"
#include "task/task.h"

/* The program must be checked and have a mesh. Work that no output, assert or loop needs is left out. Returns NULL
 * with a line in *why if one list cannot express it: a site has several tuples that form no box, or operations come
 * in an unknown order. */
TaskGraph *task_from_ia(Arena *a, const Algebra *ia, Buf *why);

/* By node id: how these tasks of the Ia do it (after.c). */
const AlgTasks *nodes_in_tasks(Arena *a, const TaskGraph *t, const Algebra *ia);

#endif
