/* task/cost.h - what a TaskGraph costs, before anything runs: operations and bytes of every task, bytes of every
 * buffer.
 *
 * In: the tasks, and values of their dims. Out: exact integers, for people and for programs that decide. Only points
 * that predicates keep count, as an upper bound (expr/prove/let_through.h). A loop that may stop early counts as if
 * it did not, a default as if its input were not given. */
#ifndef EIN_TASK_COST_H
#define EIN_TASK_COST_H

#include "task.h"

#define COST_MOST INT64_MAX  /* the largest amount; it also stands for more than that */
enum { COST_UNKNOWN = -1 };  /* turns and times that depend on data */

typedef struct CostDims {
  bool (*dim)(void *ctx, Str name, int64_t *out);
  void *ctx;
} CostDims;

/* flops: operations on floats. Each operation in the body and predicate of a stage counts once per point, except
 * casts and choices; one more adds the value to the reducer; a multiplication and an addition are two. `integer`: the
 * same for integers and bools, without operations that only make indices or predicates. Bytes: each element that a
 * kernel touches counts once, however often it is read; an index that depends on data may reach any element, but no
 * more elements than there are points. */
typedef struct CostSum { int64_t flops, integer, read, written; } CostSum;

typedef struct CostUse { uint32_t buffer; int64_t read, written; } CostUse;

typedef struct TaskCost {
  const Task *task;
  uint32_t depth;            /* the number of repeats around it */
  int64_t times;             /* how often it runs: the product of their turns */
  int64_t turns;             /* REPEAT: the most turns */
  CostSum once;              /* of one execution; REPEAT: all of its turns, or one if they are unknown */
  VEC(CostUse) uses;         /* KERNEL, ZERO: its buffers */
} TaskCost;

typedef struct GraphCost {
  VEC(TaskCost) tasks;       /* all, in the order of the text: a repeat before its body */
  int64_t *const *shape;     /* of each buffer */
  int64_t *bytes;            /* of each buffer */
  CostSum all;               /* of a run, with one turn of each repeat whose turns are unknown */
  bool a_turn;               /* there is such a repeat */
  int64_t inputs, outputs;   /* bytes */
  int32_t largest;           /* the largest work buffer; -1: there is none */
} GraphCost;

typedef struct CostError {
  enum { COST_NO_VALUE, COST_TOO_LARGE, COST_NEGATIVE, COST_CHECK } kind;
  Str dim;                   /* NO_VALUE, NEGATIVE: the dim */
  const TaskBuffer *buffer;  /* NEGATIVE, TOO_LARGE: the buffer */
  uint32_t axis;             /* its axis (from 0) */
  int64_t size;              /* NEGATIVE */
  const DimCheck *check;    /* CHECK: the check that fails */
} CostError;

/* Returns false with *error if no run can be planned with these sizes. */
bool task_cost(Arena *a, const TaskGraph *t, const CostDims *dims, GraphCost *out, CostError *error);

/* The points of a stage where both predicates hold (each may be NULL), of labels with these extents; exactly, unless
 * data decide or the box is very large: then an upper bound; none if the second one is a flag. */
int64_t stage_kept(Arena *a, const TaskStage *s, const int64_t *extent, const Expr *const *predicate);
/* The number of operations on floats in a run that is given all inputs, as the program is written: dims-only. Returns
 * NULL if it depends on data, as in a loop that may stop early. Points that a predicate leaves out count where the
 * stage's extents or predicates are formulas over the sizes. */
const Expr *task_flops(const TaskGraph *t);
/* By step, how often its kernel runs. NULL: that depends on data, or on an outer turn. */
const Expr **task_times(Arena *a, const TaskGraph *t);

/* The value of a dims-only i64 expression. Returns false if it overflows 64 bits on the way, or a dim has no value. */
bool cost_size(Arena *a, const CostDims *dims, const Expr *e, int64_t *out);

#endif
