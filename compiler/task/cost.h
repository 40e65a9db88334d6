/* task/cost.h - what a TaskGraph costs, before anything runs: operations and bytes of every task, bytes of every buffer.
 *
 * In: the tasks, and values of their dims. Out: exact integers, for people and programs that decide. Of points
 * those count that predicates let through, at most (expr/prove/let_through.h); a loop that may stop early, as if it did not; a default, as if its input were not given. */
#ifndef EIN_TASK_COST_H
#define EIN_TASK_COST_H

#include "task.h"

#define COST_MOST INT64_MAX  /* in an amount: this, or more than that */
enum { COST_UNKNOWN = -1 };  /* turns and times that hang on data */

typedef struct CostDims {
  bool (*dim)(void *ctx, Str name, int64_t *out);
  void *ctx;
} CostDims;

/* Operations on floats: in body and predicate of a stage each one once a point, casts and choices being none, and one
 * that takes the value into the reducer; a multiplication and an addition are two. `integer`: the same on integers and
 * bools, without those that only make indices or predicates. Bytes: each element that a kernel touches once, be it read
 * several times; an index that data decide may reach any, but no more than there are points. */
typedef struct CostSum { int64_t flops, integer, read, written; } CostSum;

typedef struct CostUse { uint32_t buffer; int64_t read, written; } CostUse;

typedef struct TaskCost {
  const Task *task;
  uint32_t depth;            /* repeats around it */
  int64_t times;             /* how often it is done: the turns of those, multiplied */
  int64_t turns;             /* REPEAT: how many, at most */
  CostSum once;              /* done once; REPEAT: all of its turns, or one where they are not known */
  VEC(CostUse) uses;         /* KERNEL, ZERO: its buffers */
} TaskCost;

typedef struct GraphCost {
  VEC(TaskCost) tasks;       /* all, in the order of the text: a repeat before what stands in it */
  int64_t *const *shape;     /* of each buffer, */
  int64_t *bytes;            /*   and its bytes */
  CostSum all;               /* of a run, with one turn of each repeat whose turns are not known */
  bool a_turn;               /* there is one */
  int64_t inputs, outputs;   /* bytes */
  int32_t largest;           /* the work buffer that has most bytes; -1: there is none */
} GraphCost;

typedef struct CostError {
  enum { COST_NO_VALUE, COST_TOO_LARGE, COST_NEGATIVE, COST_CHECK } kind;
  Str dim;                   /* NO_VALUE, NEGATIVE: a dim, or */
  const TaskBuffer *buffer;  /* NEGATIVE, TOO_LARGE: a buffer, */
  uint32_t axis;             /*   there (from 0) */
  int64_t size;              /* NEGATIVE */
  const TaskCheck *check;    /* CHECK: it does not hold */
} CostError;

/* False with *error where no run could be planned with these sizes. */
bool task_cost(Arena *a, const TaskGraph *t, const CostDims *dims, GraphCost *out, CostError *error);

/* How many operations on floats a run makes that is given all inputs, as the program is written: dims-only; NULL where that hangs on
 * data, as in a loop that may stop early. What a predicate leaves out counts too. */
const Expr *task_flops(const TaskGraph *t);
/* By step: how often the kernel of that step is run. NULL: that hangs on data, or on an outer turn. */
const Expr **task_times(Arena *a, const TaskGraph *t);

/* A dims-only i64 expression; false where it does not fit 64 bits on its way, or a dim has no value. */
bool cost_size(Arena *a, const CostDims *dims, const Expr *e, int64_t *out);

#endif
