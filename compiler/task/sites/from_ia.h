/* task/sites/from_ia.h - the door from the implementation algebra to tasks, for all sites of its mesh in one list. */
#ifndef EIN_TASK_FROM_IA_H
#define EIN_TASK_FROM_IA_H

#include "algebra/algebra.h"
#include "task/task.h"

/* The program is checked, and has a mesh. What no output, assert or loop needs is not done. NULL, with a line in *why: what it does cannot be said
 * in one list: a site has several tuples that make up no box, or things stand in an order that is none of those known. */
TaskGraph *task_from_ia(Arena *a, const Algebra *ia, Buf *why);

#endif
