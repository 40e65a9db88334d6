/* graph/eval/eval.h - the slow reference: evaluates any EinGraph by plain nested loops.
 *
 * It shares no shape or index code with anything else. Every read is bounds-checked and must find a value; reductions
 * go over the reduced labels in row-major order, floats pairwise; each dtype rounds as declared. */
#ifndef EIN_EVAL_H
#define EIN_EVAL_H

#include "graph/graph.h"
#include "ein_rt.h"

typedef struct EvalArray { /* C order, packed */
  DType dtype;
  uint32_t rank;
  int64_t *shape;
  int64_t count;
  void *data;                /* count elements of the dtype's own size (bool: a byte) */
  uint8_t *has;              /* NULL: every element has a value; else one byte an element */
} EvalArray;

typedef struct EvalInput { Str name; EvalArray array; } EvalInput;
typedef struct EvalDim { Str name; int64_t value; } EvalDim;

typedef struct EvalAt {      /* the progress of a run */
  int64_t turn;              /* turns made by the outermost repeat that is running; 0: none */
  bool has; double value;    /* of its state `watch` after these turns, or of that stack in the last one, if it is one
                              * float a turn */
} EvalAt;

/* Between two turns of an outermost repeat, and before its first: the values that are carried from turn to turn, in
 * place; its states, then its stacks. */
typedef struct EvalBetween {
  int64_t most, turn;        /* the most turns; turns made so far, which may be set */
  uint32_t n;
  const EvalInput *kept;     /* name NULL: it has none */
} EvalBetween;

typedef struct Eval {        /* a computation: its inputs and results */
  Arena *arena;
  const EinGraph *graph;
  const EvalDim *dim; uint32_t n_dim;       /* every symbolic dim */
  const EvalInput *input; uint32_t n_input; /* inputs not given take their default */
  EvalArray *output;         /* one for each of graph->outputs, in that order */
  int64_t max_bytes;         /* the largest tensor; 0: 2^34 */
  int64_t max_live;          /* the most memory at one time, including inputs and outputs; 0: no limit */
  bool (*keep_going)(void *ctx); void *ctx; /* polled now and then; may be NULL */
  /* Called with `ctx` after each turn that does not end its repeat, and before the first; may be NULL. If it returns
   * false, with *why, the run ends. */
  bool (*between)(void *ctx, EvalBetween *at, const char **why);
  const char *watch;         /* the name of a state or a stack; NULL: none */
  uint64_t shake;            /* not 0: each float operation that rounds is off by up to a unit in the last place, by
                              * chance from this seed: what moves then depends on how it is rounded */
  EvalAt at;                 /* for keep_going */
} Eval;
const EvalArray *eval_input_find(const Eval *e, Str name); /* NULL: not given */
EvalArray *eval_output_find(const Eval *e, Str name); /* NULL: the graph has none of that name */

typedef enum {
  EVAL_OK, EVAL_MISSING,     /* an input or dim is not given and has no default */
  EVAL_SHAPE,                /* an input's shape or dtype differs from its declaration, a check on dims fails, a size
                              * wraps */
  EVAL_RANGE,                /* a gathered index is out of range, or reads an element that has no value */
  EVAL_ASSERT, EVAL_MEMORY, EVAL_STOPPED
} EvalStatus;

/* On failure *error is a line with the tensor, the label or index, the value, and the position, which is also in
 * *place. */
EvalStatus graph_eval(Eval *e, const char **error, Place *place);

/* The element at a flat position, as a double or an integer (by dtype). */
double eval_real(const EvalArray *a, int64_t k);
int64_t eval_int(const EvalArray *a, int64_t k);

#endif
