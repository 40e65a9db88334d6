/* codegen/loop/walk.h - all expressions of a kernel's statements, in their order, those of a block behind those of
 * what opens it. */
#ifndef EIN_LOOP_WALK_H
#define EIN_LOOP_WALK_H

#include "loop.h"

/* f is given each expression that is there, and gives what stands in its stead: itself, perhaps. */
typedef const Expr *LoopExpr(void *env, const Expr *e);
void loop_exprs(LoopBody *b, LoopExpr *f, void *env);
void loop_stmt_exprs(LoopStmt *s, LoopExpr *f, void *env); /* of the statement itself, not of its blocks */

/* Which places and variables occur. */
typedef struct LoopUses { Arena *arena; bool *place, *var; Map seen; } LoopUses;
LoopUses loop_uses(Arena *a, const LoopKernel *k); /* none as yet */
void loop_uses_expr(LoopUses *u, const Expr *e);   /* those of an expression; NULL has none */
void loop_uses_stmt(LoopUses *u, LoopStmt *s);     /* those of a statement's expressions, not of its blocks */

#endif
