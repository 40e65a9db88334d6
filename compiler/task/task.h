/* task/task.h - the TaskGraph: what is done, in which order, in which memory.
 *
 * One list of tasks over buffers. A kernel is a small DAG of EinSums, its *stages*, that share their outer labels:
 * at each point of these, all stages are computed in turn, and what only later stages read is kept in the kernel.
 * Which operations share a kernel, which buffer each result goes to, and how long a buffer lives are decided
 * here (fuse.c, place.c, lifetime.c); how a kernel runs is Loop's business.
 *
 * Where there is a *mesh*, the list is that of each of its sites (plan/place.h): every site does all of it, on buffers of its own. What
 * differs by site are numbers: where a site stands along each axis are the first dims, which get their values there. So a
 * buffer's extents, and kernels, are written over them. Sites meet in moves alone. text: "taskgraph 1". */
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
  const Expr **low;          /* of a mesh: by dimension where in the whole tensor its first element stands; NULL: it is of no tensor */
  const Expr *when;          /* of a mesh: bool over the site; elsewhere it is not there, and what stores to it is not done. NULL: everywhere */
  uint32_t argument;         /* INPUT, OUTPUT: its number in inputs or outputs */
  uint32_t first, last;      /* WORK: the steps between which its content is wanted, both included */
} TaskBuffer;

/* What stands in a slot of a stage: a buffer, read at its dimensions, or (`kept`) the value that an earlier stage of the
 * same kernel has just made, read at its output labels, of which the outer ones are the reader's own. */
typedef struct TaskSlot { bool kept; uint32_t index; } TaskSlot;

typedef struct TaskStage {
  const EinSum *sum;         /* its first n_outer output labels are the kernel's outer labels */
  Str name;
  Place place;
  const Expr **bound;        /* extent of each label */
  Str *label;                /* names, for people */
  TaskSlot *slot;            /* one a slot */
  int32_t buffer;            /* where the result is stored; -1: nowhere, only later stages want it */
  uint32_t n_at;             /* the buffer's rank, and */
  const Expr **at;           /*   where in it: i64, over output labels, turns and dims */
} TaskStage;

typedef enum {
  TASK_KERNEL,
  TASK_REPEAT,
  TASK_ZERO,                 /* buffer becomes 0 */
  TASK_DEFAULT,              /* input `argument`, where it is not given, is what is in buffer */
  TASK_ASSERT,               /* buffer, a rank-0 bool, holds; else the run ends */
  TASK_MOVE,                 /* of a mesh: what a site is to have in buffer comes from wherever it is in `from` */
  TASK_FETCH                 /* of a mesh: a kernel of one stage, whose last slot it reads at places of the whole tensor, from whatever site has them:
                                at the indices in its first slot, and whole along other dimensions (fetch.c). Elements at places that nobody has
                                are without value */
} TaskKind;

/* What a move is, along the axes that it spans: sites that agree on all others make a group. Recognised (site.h), and in the text
 * for whoever writes it for a machine. */
typedef enum {
  MOVE_EXCHANGE,             /* none of those below: each gets what it wants from whoever has it */
  MOVE_ALL_GATHER,           /* blocks to all */
  MOVE_GATHER,               /* blocks to the one place that is to have them */
  MOVE_BROADCAST,            /* what stands at one place to all */
  MOVE_SCATTER,              /* what stands at one place, cut, to all */
  MOVE_ALL_TO_ALL,           /* blocks cut one way to blocks cut another */
  MOVE_REDUCE_SCATTER,       /* parts to blocks */
  MOVE_ALL_REDUCE,           /* parts to all */
  MOVE_REDUCE,               /* parts to one place */
  TASK_MOVES
} TaskMove;

enum { PLACE_SOME = -3 };    /* in a move's placements, beside those of plan/place.h: along that axis only some sites have it (`when`) */

typedef struct TaskExchange { uint32_t now, next; } TaskExchange; /* the two buffers of a state that change places */

typedef struct Task Task;
typedef VEC(Task *) Tasks;

struct Task {
  TaskKind kind;
  uint32_t step;             /* 0, 1, ... in the order of the text: a repeat's is that of its beginning, and */
  uint32_t end;              /*   REPEAT: that of its end, which is a step of its own; MOVE: it may go on while what stands behind it is done, up to
                                  the task that ends at this step */
  int32_t unless;            /* done only if this input is not given; -1: always */
  Place place;
  Str name;                  /* KERNEL: of the tensor that it is for; ASSERT: the text to be said; NULL: none */

  uint32_t n_outer;          /* KERNEL, FETCH: labels that all its stages share */
  VEC(TaskStage) stages;     /*   at least one; the last is stored */

  uint32_t buffer;           /* ZERO, DEFAULT, ASSERT; REPEAT: rank-0 i64, how many turns at most */
  uint32_t argument;         /* DEFAULT: the input */

  uint32_t from;             /* MOVE: the buffer that it comes from; */
  Placement of, to;          /*   by axis what it does to `from` and to `buffer`: cuts that dimension, `*`, `+`, or PLACE_SOME */
  uint32_t place_from, place_to; /* by argmax and argmin: the buffers of places beside these (i64, of the whole; INT64_MAX: of nothing); else 0 */
  Reducer reducer;           /*   how the parts are combined of axes where `of` is `+` and `to` is not; RED_NONE: there are none */
  const Monoid *monoid;
  TaskMove move;
  const int64_t *wrap;       /*   by dimension: place j of `buffer` is place j % wrap of `from`, where that is not 0. NULL: none is so */
  const Task *before;        /*   it brings a panel: what brings the one before. NULL: it does not, or the first. Not in the text, for overlap.c alone */

  Str turn;                  /* REPEAT: its counter's name, */
  uint32_t depth;            /*   number */
  Tasks body;
  int32_t stop;              /*   rank-0 bool, looked at after each turn; -1: none */
  VEC(TaskExchange) exchange; /*  after each turn, the last too */
  int32_t turns;             /*   rank-0 i64 that gets the number of turns made; -1: none */
};

typedef struct TaskArgument { Str name; uint32_t buffer; bool param, optional; } TaskArgument; /* optional: has a default */
typedef struct TaskDim { Str name; bool known; int64_t value; } TaskDim;
typedef struct TaskCheck { const Expr *cond; Str text; Place place; } TaskCheck;

typedef struct TaskGraph {
  Arena *arena;
  Strings *strings;
  Exprs *exprs;
  Mesh mesh;                 /* no axes: one site */
  VEC(TaskDim) dims;         /* the site's place along each axis of the mesh; then in order of declaration; those without value are bound
                                when a run is planned */
  VEC(TaskArgument) inputs, outputs;
  VEC(TaskBuffer) buffers;
  VEC(const Monoid *) monoids;
  VEC(TaskCheck) checks;     /* over dims; tested once sizes are bound */
  Tasks tasks;
  uint32_t n_steps;
  const TextLines *lines;    /* of one that was read: where its text has what; no part of it */
} TaskGraph;

/* A dims-only extent; where dims have no value, what it is with a middling size for each: for choices, never for answers. */
int64_t task_size_guess(const TaskGraph *t, const Expr *e);

/* What the site's place along an axis is called: at0, at1, ... A mesh's graph has no sizes that could be called so. */
Str task_axis(const TaskGraph *t, uint32_t axis);

static inline bool task_has_stages(const Task *k) { return k->kind == TASK_KERNEL || k->kind == TASK_FETCH; }
/* The C function that a kernel calls, in whose stead nobody computes a part of it; NULL: none. It has one stage. */
static inline const Extern *task_call(const Task *k) { return k->kind == TASK_KERNEL && k->stages.len == 1 ? k->stages.at[0].sum->by : NULL; }
/* The buffer that a fetch's table is. */
static inline uint32_t task_table(const Task *fetch) {
  const TaskStage *s = &fetch->stages.at[0];
  return s->slot[s->sum->n_slot - 1].index;
}
bool task_fetched(const Tasks *list, uint32_t buffer); /* a fetch among them brings what is in it */
bool task_moves_places(const Task *k);    /* a move by argmax or argmin */

/* Whether the task, or one in it, reads or writes the buffer; whether it writes it. */
bool task_touches(const TaskGraph *t, const Task *k, uint32_t buffer);
bool task_writes(const TaskGraph *t, const Task *k, uint32_t buffer);

TaskGraph *task_new(Arena *a, Strings *t, Exprs *p);

/* ---- text, as for the EinGraph: read(print(x)) equals x in all fields -------------------------- */
void task_print(Buf *out, const TaskGraph *t);
/* NULL with complaints in d (code E9xx, line and what was wanted). The result is not yet checked. */
TaskGraph *task_read(Arena *a, Strings *t, Source *src, Diags *d);
/* The same for one that stands inside of another text: from the line at *at up to the `}` that ends it. *at then is the
 * line behind that; NULL: there is none. */
TaskGraph *task_read_part(Arena *a, Strings *t, Source *src, Diags *d, const char **at);
bool task_equal(const TaskGraph *a, const TaskGraph *b, Buf *why);

/* ---- the checker: changes nothing; a line for each invariant broken ---------------------------- */
bool task_check(const TaskGraph *t, Buf *out);
/* The same of one that was read: first causes alone, where the text has them. */
bool task_check_text(const TaskGraph *t, Diags *d);
/* Of a sound one that was read: no index leads out of its buffer. What ein makes passes. */
bool task_check_ranges(const TaskGraph *t, Diags *d);
/* How many turns a repeat makes at most, over dims alone; NULL: that is not known without running. */
const Expr *task_turns(const TaskGraph *t, const Task *repeat);

/* One stage as an equation that a person reads: "T[h,s,s'] = sum[d] QH[s,h,d] * KH[s',h,d]" */
/* Buffers that tasks store to or read; others are arrays that a kernel has for itself that all its threads share. */
void task_buffers_used(const Tasks *list, bool *used);
void task_equation(Buf *out, const TaskGraph *t, const Task *kernel, uint32_t stage);

#endif
