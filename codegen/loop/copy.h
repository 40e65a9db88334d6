/* codegen/loop/copy.h - copies of statements, whose variables and own places have names and numbers of their own. */
#ifndef EIN_LOOP_COPY_H
#define EIN_LOOP_COPY_H

#include "names.h"
#include "walk.h"

typedef struct LoopCopy {
  LoopProgram *p;
  LoopKernel *k;
  Arena *arena;              /* for what the copies don't need */
  CScope names;              /* of the kernel */
} LoopCopy;

LoopCopy loop_copies(LoopProgram *p, LoopKernel *k, Arena *a);
/* own: with numbers of its own; else it must replace the original. change: applied first to each expression, whose
 * numbers are the original's; NULL: none. */
LoopStmt *loop_copy(LoopCopy *c, const LoopStmt *s, bool own, LoopExpr *change, void *env);

#endif
