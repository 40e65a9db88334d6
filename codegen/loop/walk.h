/* codegen/loop/walk.h - visits all expressions of a kernel's statements in order, those of a block after those of the
 * statement that opens it. */
#ifndef EIN_LOOP_WALK_H
#define EIN_LOOP_WALK_H

#include "loop.h"

/* f gets each expression that is present, and returns its replacement, perhaps the expression itself. */
typedef const Expr *LoopExpr(void *env, const Expr *e);
void loop_exprs(LoopBody *b, LoopExpr *f, void *env);
void loop_stmt_exprs(LoopStmt *s, LoopExpr *f, void *env); /* of the statement itself, not of its blocks */
ExprNodes loop_nodes(Arena *a, const LoopBody *b, unsigned has); /* their nodes, in the same order (expr_nodes) */

/* Which places and variables occur. */
typedef struct LoopUses { Arena *arena; bool *place, *var; ExprNodes nodes; } LoopUses;
LoopUses loop_uses(Arena *a, const LoopKernel *k); /* initially none */
void loop_uses_stmt(LoopUses *u, LoopStmt *s);     /* of a statement's expressions, not of its blocks */

#endif
