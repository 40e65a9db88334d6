/* task/task.h - the TaskGraph: what is done, in which order, in which memory.
 *
 * One list of tasks over buffers. A kernel is a small DAG of EinSums, its *stages*, which share their outer labels.
 * At each point of these labels all stages are computed in turn, and results that only later stages read stay in the
 * kernel. The TaskGraph decides which operations share a kernel, in which buffer each result is, and how long a
 * buffer lives (fuse.c, place.c, lifetime.c). Loop decides how a kernel runs.
 *
 * If there is a *mesh*, every site runs the whole list (plan/place.h), on its own buffers. Sites differ only in
 * numbers: the first dims are a site's places along the axes, and get their values there. A buffer's extents, and
 * kernels, are written over them. Only moves connect sites.
 *
 * text: "taskgraph 1". */
#ifndef EIN_TASK_H
#define EIN_TASK_H

#include "base/base.h"
#include "base/diag.h"
#include "expr/einsum.h"
#include "expr/lines.h"
#include "plan/place.h"

typedef enum { BUF_INPUT, BUF_OUTPUT, BUF_WORK } TaskSpace;

/* A tensor in memory. Inputs and outputs are the caller's views, with any strides; work is dense and row-major. */
typedef struct TaskBuffer {
  uint32_t id;               /* its place in `buffers` */
  TaskSpace space;
  Str name;                  /* for people; NULL: none */
  Place place;
  DType dtype;
  uint32_t rank;
  const Expr **dim;          /* dims-only i64 expressions in normal form */
  const Expr **low;          /* on a mesh: by dimension, where its first element is in the whole tensor; NULL: it is
                              * part of no tensor */
  const Expr *when;          /* on a mesh: bool over the site; if false, the site lacks the buffer, and tasks do not
                              * store to it. NULL: every site has it */
  uint32_t argument;         /* INPUT, OUTPUT: its number in inputs or outputs */
  uint32_t first, last;      /* WORK: the steps between which its content is needed, both included */
} TaskBuffer;

/* What a slot of a stage reads: a buffer, at its dimensions, or (`kept`) the value that an earlier stage of the
 * kernel has just made, at its output labels, of which the outer ones are the reader's own. */
typedef struct TaskSlot { bool kept; uint32_t index; } TaskSlot;

typedef struct TaskStage {
  const EinSum *sum;         /* its first n_outer output labels are the kernel's outer labels */
  Str name;
  Place place;
  const Expr **bound;        /* extent of each label */
  Str *label;                /* names, for people */
  TaskSlot *slot;            /* one per slot */
  int32_t buffer;            /* where the result is stored; -1: nowhere, only later stages read it */
  uint32_t n_at;             /* the buffer's rank */
  const Expr **at;           /* by axis, the position in it: i64, over output labels, turns and dims */
} TaskStage;

typedef enum {
  TASK_KERNEL,
  TASK_REPEAT,
  TASK_ZERO,                 /* sets buffer to 0 */
  TASK_DEFAULT,              /* input `argument`, if not given, gets its value from buffer */
  TASK_ASSERT,               /* buffer, a rank-0 bool, must be true; else the run ends */
  TASK_MOVE,                 /* on a mesh: each site receives what it must have in `buffer` from any site that has it
                              * in `from` */
  TASK_FETCH                 /* on a mesh: a kernel of one stage, whose last slot reads places of the whole tensor
                              * from any site that has them: at the indices in its first slot, and whole along other
                              * dimensions (fetch.c). Elements at places that no site has are without value */
} TaskKind;

/* The kind of a move, along the axes that it spans: sites that agree on all other axes form a group. It is derived
 * (site.h), and in the text for those who write moves for a machine. */
typedef enum {
  MOVE_EXCHANGE,             /* none of the following: each site gets what it needs from a site that has it */
  MOVE_ALL_GATHER,           /* blocks to all */
  MOVE_GATHER,               /* blocks to the one place that needs them */
  MOVE_BROADCAST,            /* what one place has, to all */
  MOVE_SCATTER,              /* what one place has, cut, to all */
  MOVE_ALL_TO_ALL,           /* blocks cut one way to blocks cut another */
  MOVE_REDUCE_SCATTER,       /* parts to blocks */
  MOVE_ALL_REDUCE,           /* parts to all */
  MOVE_REDUCE,               /* parts to one place */
  TASK_MOVES
} TaskMove;

enum { PLACE_SOME = -3 };    /* in a move's placements, besides those of plan/place.h: only some sites along the axis
                              * have it (`when`) */

typedef struct TaskExchange { uint32_t now, next; } TaskExchange; /* the two buffers of a state that are swapped */

typedef struct Task Task;
typedef VEC(Task *) Tasks;

struct Task {
  TaskKind kind;
  uint32_t step;             /* 0, 1, ... in the order of the text; for a repeat, the step at which it begins */
  uint32_t end;              /* REPEAT: the step at which it ends, a step of its own; MOVE: it may overlap the tasks
                              * after it, until the task that ends at this step */
  int32_t unless;            /* done only if this input is not given; -1: always */
  Place place;
  Str name;                  /* KERNEL: of the tensor that it computes; ASSERT: the message; NULL: none */

  uint32_t n_outer;          /* KERNEL, FETCH: labels that all its stages share */
  VEC(TaskStage) stages;     /*   at least one; the last is stored */

  uint32_t buffer;           /* ZERO, DEFAULT, ASSERT; REPEAT: rank-0 i64, the most turns */
  uint32_t argument;         /* DEFAULT: the input */

  uint32_t from;             /* MOVE: the source buffer */
  Placement of, to;          /* by axis, the placement of `from` and of `buffer`: a dimension that it cuts, `*`, `+`,
                              * or PLACE_SOME */
  uint32_t place_from, place_to; /* by argmax and argmin: the buffers of places that belong to these (i64, of the
                                  * whole; INT64_MAX: none); else 0 */
  Reducer reducer;           /* combines parts along the axes where `of` is `+` and `to` is not; RED_NONE: there are
                              * none */
  const Monoid *monoid;
  TaskMove move;
  const int64_t *wrap;       /* by dimension: place j of `buffer` is place j % wrap of `from`, if wrap is not 0. NULL:
                              * all 0 */
  uint32_t node;             /* 1 + the number of the Ia's node that it makes, alone or last; 0: none. Not in the text,
                              * only for after.c */
  uint32_t panel_of, panel;  /* 1 + the number of the Ia's join, if it makes or moves a panel of that; 0: none. And
                              * which. Not in the text, only for after.c */
  const Task *before;        /* for a move of a panel, the move of the panel before; NULL: none. Not in the text, only
                              * for overlap.c */

  Str turn;                  /* REPEAT: its counter's name */
  uint32_t depth;            /* the counter's number */
  Tasks body;
  int32_t stop;              /* rank-0 bool, tested after each turn; -1: none */
  VEC(TaskExchange) exchange; /* after each turn, including the last */
  int32_t turns;             /* rank-0 i64 that gets the number of turns made; -1: none */
};

/* optional: has a default */
typedef struct TaskArgument { Str name; uint32_t buffer; bool param, optional; } TaskArgument;

typedef struct TaskGraph {
  Arena *arena;
  Strings *strings;
  Exprs *exprs;
  Mesh mesh;                 /* no axes: one site */
  int64_t room;              /* bytes of parts that arrive at once in a move; 0: MOVE_ROOM */
  Dims dims;                 /* the site's place along each axis of the mesh; then in order of declaration; dims
                              * without a value are bound when a run is planned */
  VEC(TaskArgument) inputs, outputs;
  VEC(TaskBuffer) buffers;
  Monoids monoids;
  DimChecks checks;
  Tasks tasks;
  uint32_t n_steps;
  const TextLines *lines;    /* of a graph that was read: positions in its text; not part of the graph */
} TaskGraph;

/* Where an update puts rows where data say, and has so many times more rows than points, it touches only those that
 * get something (passes/fuse.c, codegen/schedule/cpu/sums/scatter.c). A number for each row takes at most PUT_ROWS
 * bytes. */
enum { PUT_FEW = 4, PUT_ROWS = 1 << 23 };

/* The value of a dims-only extent; dims without a value get a medium size. For choices only, never for results. */
int64_t task_size_guess(const TaskGraph *t, const Expr *e);
double task_buffer_bytes(const TaskGraph *t, uint32_t buffer); /* the same of a buffer */
/* Whether a stage, or some stage of the task, reads the buffer; whether a stage, an expression of one, or one of stages
 * from..to-1 of a kernel reads what `stage` keeps. */
bool stage_reads(const TaskStage *s, uint32_t buffer);
bool task_reads(const Task *k, uint32_t buffer);
bool stage_reads_stage(const TaskStage *s, uint32_t stage);
bool expr_reads_stage(const TaskStage *s, const Expr *e, uint32_t stage);
bool task_reads_stage(const Task *k, uint32_t stage, uint32_t from, uint32_t to);
/* Whether the reader certainly reads no element of the buffer that the writer stores there; if both are one stage, but
 * for the one that each point stores (apart.c). */
bool stage_reads_apart(
    Arena *arena, Exprs *x, const TaskStage *writer, const TaskStage *reader, uint32_t buffer);

/* Whether the first stage reduces, and all later ones are maps at each of its points that continue from its value. */
bool task_is_continued(const Task *k);

/* The name of the site's place along an axis: at0, at1, ... No size in a mesh's graph may have such a name. */
Str task_axis(const TaskGraph *t, uint32_t axis);

static inline bool task_has_stages(const Task *k) { return k->kind == TASK_KERNEL || k->kind == TASK_FETCH; }
/* The C function that a kernel calls, or NULL. Its kernel has one stage, and its computation cannot be split. */
static inline const Extern *task_call(const Task *k) {
  return k->kind == TASK_KERNEL && k->stages.len == 1 ? k->stages.at[0].sum->by : NULL;
}
/* The buffer of a fetch's table. */
static inline uint32_t task_table(const Task *fetch) {
  const TaskStage *s = &fetch->stages.at[0];
  return s->slot[s->sum->n_slot - 1].index;
}
bool task_fetched(const Tasks *list, uint32_t buffer); /* one of these fetches fills it */
bool task_moves_places(const Task *k);    /* a move by argmax or argmin */

/* Whether the task, or one in it, reads or writes the buffer; whether it writes it. */
bool task_touches(const TaskGraph *t, const Task *k, uint32_t buffer);
bool task_writes(const TaskGraph *t, const Task *k, uint32_t buffer);
/* Whether the kernel may be done on the other side of task x. */
bool task_may_pass(const TaskGraph *t, const Task *kernel, const Task *x);
/* How many tasks of the list, and of the repeats in it, use the buffer. */
uint32_t tasks_touching(const TaskGraph *t, const Tasks *list, uint32_t buffer);

TaskGraph *task_new(Arena *a, Strings *t, Exprs *p);

/* ---- text, as for the EinGraph: read(print(x)) equals x in all fields -------------------------- */
void task_print(Buf *out, const TaskGraph *t);
/* Returns NULL with complaints in d (code E9xx: the line and what was expected). The result is not checked yet. */
TaskGraph *task_read(Arena *a, Strings *t, Source *src, Diags *d);
/* The same for a graph inside another text: reads from the line at *at to the `}` that ends it. Sets *at to the next
 * line; NULL: there is none. */
TaskGraph *task_read_part(Arena *a, Strings *t, Source *src, Diags *d, const char **at);
bool task_equal(const TaskGraph *a, const TaskGraph *b, Buf *why);

/* ---- the checker: changes nothing; writes a line for each broken invariant -------------------------- */
bool task_check(const TaskGraph *t, Buf *out);
/* The same for a graph that was read. Reports only first causes, at their positions in the text. */
bool task_check_text(const TaskGraph *t, Diags *d);
/* For a sound graph that was read: whether every index stays within its buffer. What ein itself makes passes. */
bool task_check_ranges(const TaskGraph *t, Diags *d);
/* The most turns of a repeat, over dims only; NULL: not known without running. */
const Expr *task_turns(const TaskGraph *t, const Task *repeat);
/* The same, over dims and the turn counters of enclosing repeats. */
const Expr *task_turns_within(const TaskGraph *t, const Task *repeat);

/* Calls f for each of the task's fields that is the number of a buffer which it reads or (write) stores to; not for
 * tasks in a repeat, nor for the input of a default. */
typedef void TaskUse(void *env, uint32_t *buffer, bool write);
void task_uses(Task *k, TaskUse *f, void *env);
/* Marks the buffers that tasks store to or read; the others are arrays inside a kernel that all its threads share. */
void task_buffers_used(const Tasks *list, bool *used);
/* Prints one stage as an equation for people: "T[h,s,s'] = sum[d] QH[s,h,d] * KH[s',h,d]" */
void task_equation(Buf *out, const TaskGraph *t, const Task *kernel, uint32_t stage);

#endif
