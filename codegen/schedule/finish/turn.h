/* codegen/schedule/finish/turn.h - where a comparison turns along a loop, and what follows where its value is known. */
#ifndef EIN_FINISH_TURN_H
#define EIN_FINISH_TURN_H

#include "loop/loop.h"

typedef struct Along {
  Exprs *x;
  uint32_t var;              /* v, */
  const Expr *lo, *hi;       /*   from lo to below hi */
  bool (*is_fixed)(const void *env, const Expr *e); /* whether e is the same for all v */
  const void *env;
} Along;

typedef struct Turn {
  const Expr *at;
  bool below;                /* it holds for v < at; else for v >= at */
  bool equal;                /* it holds except for v = at; at may be beyond the loop */
} Turn;

/* The slope of e in v, if e is v or -v plus what is fixed: 1, -1; 0: neither. */
int along_slope(const Along *a, const Expr *e);
/* Where e, or if not `truth` its opposite, holds; false: that is not known here. */
bool turn_find(const Along *a, const Expr *e, bool truth, Turn *t);

/* Substitutes comparisons or conditions whose values are known, and folds what follows: a LoopExpr. */
typedef struct Known { Exprs *x; const Map *is; } Known; /* by expression: its value */
const Expr *with_known(void *known, const Expr *e);
/* Substitutes registers by their values: a LoopExpr. */
typedef struct Named { Exprs *x; const Expr **is; } Named; /* by place; NULL: stays */
const Expr *with_named(void *named, const Expr *e);
bool reads_memory(const Expr *e); /* an element of a buffer or an array */
/* Whether e is -infinity, less or more something: -infinity or NaN. */
bool is_lowest(const Expr *e);

#endif
