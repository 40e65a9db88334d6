/* codegen/schedule/schedule.h - internals of the conversion from tasks to loops, shared by its files. */
#ifndef EIN_SCHEDULE_H
#define EIN_SCHEDULE_H

#include "door.h"
#include "grouping.h"
#include "loop/labels.h"
#include "loop/names.h"

enum { NOWHERE = UINT32_MAX };

/* The elements of a buffer with fewer axes: some consecutive axes are merged into one (schedule/merge.c). In a
 * stage's slots and stores, a number below VIEWS is a buffer; otherwise it is VIEWS plus the number of a view of the
 * kernel. */
enum { VIEWS = 1 << 30 };
typedef struct View {
  TaskBuffer shape;          /* the buffer, with the view's rank and extents */
  const uint32_t *axes;      /* how many of the buffer's axes form each axis of the view */
  uint32_t place;            /* in the kernel, or NOWHERE */
} View;

/* Rows of a kernel that go together (schedule/cpu/rows/): in blocks, from block_task until the kernel is finished; else
 * a few rows, sweep by sweep, while rows_loops runs. */
typedef struct SchedRows {
  int64_t block;             /* rows per block, if the last output label of each stage is blocked; 0: it is not */
  const Expr *block_of;      /* the number of all rows */
  int64_t together;          /* this many are processed together; kept values have them as their first axis */
  const Expr *row;           /* the current one of these; NULL: one row at a time */
} SchedRows;

/* How the kernel's stages follow one another. */
typedef struct SchedFollow {
  bool in_turn;              /* they have separate loops, one after the other, and share only buffers */
  bool goes_on;              /* later stages continue from the value of the current one, stage `from` */
  uint32_t from, then;       /* these are the stages from `then` on */
} SchedFollow;

/* Of a grouped product, whose rows are taken group by group (schedule/cpu/panels/grouped.c). */
typedef struct SchedGrouped {
  uint32_t list, first;      /* places: the rows' numbers, by group; by group, where its rows begin, and then the end */
  uint32_t begin, rows;      /* variables: where the current group begins, and how many rows it has */
  uint32_t of;               /* the stage's labels: of the group, */
  uint32_t row;              /*   and of a row in it, whose extent is that number */
  bool reduced;              /* rows are reduced */
} SchedGrouped;

/* A kernel under construction. */
typedef struct Sched {
  Arena *arena;
  Exprs *x;
  TaskGraph *t;
  LoopProgram *p;
  const LoopTarget *target;
  const Task *task;
  VEC(const Expr *) turns;   /* of the repeats around it: their numbers of turns; NULL if unknown */
  LoopKernel *k;
  CScope names;
  LoopBody *body;            /* statements are appended here */
  Str **labels;              /* of each buffer's axes, NULL if unknown */
  uint32_t *of_buffer;       /* place of each buffer in this kernel, or NOWHERE; `touched` lists the entries to reset */
  VEC(uint32_t) touched;
  VEC(View) views;
  uint32_t *of_stage;        /* place of each kept stage */
  const Expr **value;        /* or its value at the current point, if later stages continue from there */
  uint32_t outer;            /* this many of a stage's labels are bound before its own loops, */
  uint32_t opened;           /*   and this many more around the current ones: stage.c */
  SchedRows rows;
  LoopBody *after;           /* red_loops_where: after the innermost loop */
  LoopBody *outside;         /* the body around the last innermost loop of a map; NULL: there is none */
  uint32_t inner;            /* and that loop's variable */
  Map safe;                  /* reads that are in range everywhere in the kernel, and may be executed unconditionally */
  Map steady;                /* values kept per row that are made before the loops of later sweeps */
  SchedFollow follow;
  const Expr *best;          /* the value at the place that argmax or argmin found, for result_store; NULL: unknown */
  const char *ahead;         /* a prefix for the next how_add; NULL: none */
  const Expr *when;          /* thread loops have turns only if this holds, a condition over dims; NULL: always */
  const SchedGrouped *grouped; /* NULL: all rows go together */
} Sched;

/* ---- schedule/cpu/rows/block.c --------------------------------------------------------------------------- */
/* Returns the kernel with the rows' label cut into blocks, if that pays; else the kernel itself. */
const Task *block_task(Sched *s, const Task *k);
/* Whether an index is the row's own, over all rows. */
bool block_is_index(const Sched *s, const TaskStage *st, const Expr *index);
void block_bound(Sched *s, const Expr *block);

/* ---- schedule/bound.c --------------------------------------------------------------------------- */
/* Extracts the conjuncts of `cond` that bound the label, as where_bounds requires; NULL: none. The others go to
 * *rest. */
const Expr *where_split(Sched *s, const Expr *cond, uint32_t n_label, uint32_t label, const Expr **rest);

/* ---- schedule/mask.c ---------------------------------------------------------------------------- */
/* Returns the kernel with predicates that are not ranges turned into choices, and into separate stages before the
 * others. rows: the label to be blocked. */
const Task *mask_task(Sched *s, const Task *k, uint32_t rows);

/* ---- schedule/merge.c --------------------------------------------------------------------------- */
/* Returns the kernel with labels that are adjacent wherever they occur merged into one, and without those of extent
 * 1. */
const Task *merge_task(Sched *s, const Task *k);
/* The same for a kernel whose labels were moved since; its views stay. */
const Task *merge_more(Sched *s, const Task *k);
/* The memory `index` with axis k + 1 merged into axis k. */
uint32_t view_joined(Sched *s, uint32_t index, uint32_t k);

/* ---- schedule/build.c: places, variables, statements ------------------------------------------- */
/* The buffer of a slot or store, or its view; `id` is the buffer's. */
const TaskBuffer *buffer_seen(const Sched *s, uint32_t memory);
/* The extents of what a slot reads: a buffer, or the values of an earlier stage. */
const Expr *const *slot_dims(const Sched *s, TaskSlot slot);
/* How many of the buffer's axes form each of its axes; NULL: one. */
const uint32_t *buffer_axes(const Sched *s, uint32_t memory);
uint32_t place_of_buffer(Sched *s, uint32_t memory, bool written);
/* Records a decision about the stage's loops, in words; st NULL: about the whole kernel. */
void how_add(Sched *s, const TaskStage *st, const char *fmt, ...) EIN_PRINTF(3, 4);
const char *how_label(const TaskStage *st, int64_t label);
/* A register (rank 0 or a short constant array), or an array wherever it fits. */
uint32_t place_own(Sched *s, Str name, const char *otherwise, DType t, uint32_t rank, const Expr *const *dim);
/* An array that all threads of the kernel share: a work buffer that no stage knows, live only in this step. */
uint32_t place_shared(Sched *s, const char *name, DType t, uint32_t rank, const Expr *const *dim);
/* The same without a place. Returns the buffer's number. */
uint32_t buffer_shared(Sched *s, const char *name, DType t, uint32_t rank, const Expr *const *dim);
uint32_t var_new(Sched *s, Str name, const char *otherwise);
const Expr *var_read(Sched *s, uint32_t var);
const Expr *place_read(Sched *s, uint32_t place, uint32_t n, const Expr *const *at);
const Expr *scalar_read(Sched *s, uint32_t place); /* of rank 0 */

LoopStmt *for_add(Sched *s, uint32_t var, const Expr *lo, const Expr *hi, int64_t step, LoopBind bind);
/* A loop over a variable of its own, which is returned; what follows is in its body. */
const Expr *for_open(
    Sched *s, Str name, const char *otherwise, const Expr *lo, const Expr *hi, int64_t step, LoopBind bind);
LoopStmt *if_add(Sched *s, const Expr *cond);
LoopStmt *index_add(Sched *s, uint32_t var, const Expr *value);
LoopStmt *let_add(Sched *s, uint32_t place, const Expr *value);
const Expr *let_read(Sched *s, const char *name, const Expr *value); /* reads a new register with that value */
LoopStmt *var_add(Sched *s, uint32_t place, const Expr *value);
/* A place of the kernel's own with its var. value NULL: it has none yet. */
uint32_t var_own(Sched *s, Str name, const char *otherwise, DType t, uint32_t rank, const Expr *const *dim,
    const Expr *value);
LoopStmt *store_add(Sched *s, uint32_t place, uint32_t n_at, const Expr *const *at, const Expr *value);
LoopStmt *lead_add(Sched *s, uint32_t place, const Expr *from);
LoopStmt *lanes_add(Sched *s, uint32_t place, Op op);
LoopStmt *transpose_add(Sched *s, uint32_t place);
LoopStmt *matrix_add(Sched *s, uint32_t place, const LoopMatrix *m, const Expr *side, const Expr *other);
LoopStmt *barrier_add(Sched *s);
LoopStmt *copy_later_add(
    Sched *s, uint32_t place, uint32_t n_at, const Expr *const *at, const Expr *from, int64_t wide);
LoopStmt *commit_add(Sched *s);
LoopStmt *await_add(Sched *s, int64_t left);
/* The caller fills in its loops. */
LoopStmt *library_add(Sched *s, uint32_t place, uint32_t n_at, const Expr *const *at, const Expr *value);
/* An array shared by a device's block, declared here. */
uint32_t place_block(Sched *s, const char *name, DType t, int64_t n);
LoopStmt *fetch_add(Sched *s, const Expr *read); /* read: the element to prefetch */
LoopStmt *stream_add(
    Sched *s, uint32_t place, uint32_t n_at, const Expr *const *at, const Expr *from, const Expr *count, uint32_t axes);
/* On a device: wide_load_add loads `count` neighbours from the position of the read into an array of registers, and
 * returns it; wide_store_add stores such an array to a buffer. */
uint32_t wide_load_add(Sched *s, const Expr *first, int64_t count);
void wide_store_add(Sched *s, uint32_t place, uint32_t n_at, const Expr *const *at, uint32_t array);
/* Sends statements to `to`. Returns the previous body, for the caller to restore. */
LoopBody *into(Sched *s, LoopBody *to);

/* i64 arithmetic, with folding. */
const Expr *ex_int(Sched *s, int64_t v);
const Expr *ex_add(Sched *s, const Expr *a, const Expr *b);
const Expr *ex_sub(Sched *s, const Expr *a, const Expr *b);
const Expr *ex_mul(Sched *s, const Expr *a, const Expr *b);
const Expr *ex_div_up(Sched *s, const Expr *a, const Expr *b);
const Expr *ex_min(Sched *s, const Expr *a, const Expr *b);
const Expr *ex_max(Sched *s, const Expr *a, const Expr *b);

/* ---- schedule/expr.c: from a stage's expressions to the kernel's ----------------------------------- */
typedef struct Env {         /* what a stage's labels and reads become */
  Sched *s;
  const TaskStage *stage;
  const Expr **label;        /* by number: its replacement */
  bool *safe;                /* by slot, if computed: every index stays within its axis, for all values of the labels */
  const Expr *held;          /*   for which this holds; NULL: all of them */
  const Expr **packed;       /* replacements for reads of slots after the stage's own */
} Env;
bool ex_reads_kept(const TaskStage *st, const Expr *e); /* something that its own kernel keeps */
const Expr *ex_of(Env *e, const Expr *of);
const Expr **ex_store_at(Env *e, const TaskStage *st); /* the index at which st stores the point */
const Expr *ex_slot(Env *e, const Expr *leaf); /* a read of a slot, whose indices are already the kernel's */
/* The position of a kept value that has *n labels of its own, `own`; updates *n. */
const Expr *const *kept_at(Sched *s, uint32_t *n, const Expr *const *own);
/* Whether everything that the stage reads exists for all values of its labels, regardless of predicates. */
bool ex_safe(Env *e);
bool ex_is_safe(Env *e, const Expr *of); /* the same for the reads in part of its expressions */
/* From now on, this condition of the stage has been tested; NULL: none. */
void env_hold(Env *e, const Expr *cond);
/* The reads in a sum's body, by slot; NULL where there is none. */
const Expr **body_reads(Sched *s, const EinSum *sum);
/* The value of e with common subexpressions computed once: appends LETs to the body, and returns a tree of bounded
 * size. */
const Expr *ex_shared(Sched *s, const Expr *e);
/* Hoists from e its conditions, the reads under them, and tested indices, as far as they do not depend on `var`, the
 * variable of the current loop, which is the last of `around`: compilers do not vectorise them. */
const Expr *ex_ahead(Sched *s, const Expr *e, LoopBody *around, const Expr *var);
/* How e depends on label k. Returns true, and the change per step, if that is a constant. */
static inline bool ex_slope(const Expr *e, int64_t label, int64_t *slope) { return expr_slope(e, label, slope); }
static inline bool ex_has_label(const Expr *e, int64_t label) { return expr_has_label(e, label); }
/* Whether the form of e shows that it is a multiple of n, 2 or more, for all values of the labels; the label `along`
 * counts as one, if it is in no product. */
bool ex_is_multiple(const Expr *e, uint32_t along, int64_t n);

/* ---- schedule/facts.c: what is known of a stage before its loops are made ---------------------------- */
typedef enum { MOVE_NONE, MOVE_UNIT, MOVE_FAR } Move; /* how an access moves along a label: not at all, to the next
                                                       * element, elsewhere */
typedef struct StagePlan {
  const TaskStage *stage;
  uint32_t n_label;
  int64_t *size;             /* by label: its extent, or a guess if that is symbolic */
  bool *exact;               /* whether it is the extent */
  uint32_t n_access;         /* the reads by slot (several slots may be one tensor), then the store */
  Move *move;                /* n_access times n_label */
  bool *ends;                /* by access: only the predicate reads it, once for each result: where its points end */
  double ops;                /* scalar operations per point */
  uint32_t n_order;          /* output labels other than the kernel's outer ones, outermost first */
  uint32_t *order;           /* the last is the one with most unit-stride accesses */
  uint32_t n_red;
  uint32_t *red;             /* reduced labels, outermost first */
  int64_t stored;            /* if later stages continue from this one, the label along which their result is
                              * contiguous; -1: no label, or they do not */
  bool few;                  /* a condition at run time says that sums have at most 2 * TILE_BLOCK points */
} StagePlan;
StagePlan stage_plan(Sched *s, const TaskStage *stage);
static inline Move plan_move(const StagePlan *p, uint32_t access, uint32_t label) {
  return p->move[access * p->n_label + label];
}
double plan_score(const StagePlan *p, uint32_t label); /* its score as the innermost loop */
double plan_bytes(const Sched *s, const StagePlan *p, uint32_t read); /* total bytes that the read touches */
/* Cache sizes. Data that fits the second-level cache is best read as one stream, in order; larger data arrives faster
 * through several streams. */
enum { NEAR_CACHE = 32 << 10, SECOND_CACHE = 1 << 20 };

int64_t vector_lanes(const Sched *s, DType t); /* elements of an accumulator in a vector register, by the target's
                                                * assumption */
int64_t tile_vector(const Sched *s, DType t);  /* the same for the actual machine: only the size of tiles may depend
                                                * on it, and whatever changes no bit */
int64_t tile_vectors(const Sched *s);          /* how many such registers it has */

/* ---- schedule/where.c ---------------------------------------------------------------------------- */
/* Whether all numbers in e are so small that no arithmetic here overflows 64 bits. */
bool has_small_numbers(const Expr *e);
/* Moves the conjuncts of `cond` that bound `label` by labels with a value into lo and hi. Returns the rest, NULL for
 * nothing. */
const Expr *where_narrow(Env *e, const Expr *cond, uint32_t n_label, uint32_t label, const bool *bound, const Expr **lo,
                         const Expr **hi);
/* The same for conjuncts that bound it only by data (start[n] <= z), which are read here. */
const Expr *where_narrow_data(
    Env *e, const Expr *cond, uint32_t n_label, uint32_t label, const bool *bound, const Expr **lo, const Expr **hi);
/* The most points of `label` that satisfy the stage's predicate, whatever the other labels are, as far as is known from
 * the difference of its bounds (33 in a band of j - 16 <= i <= j + 16); at most its size. */
int64_t where_most(Sched *s, const StagePlan *p, uint32_t label);
/* A label from first to last, both included; other labels have a value. */
enum { REACHES_MOST = 3 };
typedef struct Reach { uint32_t label; const Expr *first, *last; } Reach;
/* where_some: a condition without which no point of the box satisfies `cond`; NULL: unknown. where_all: a condition
 * under which all points do. */
const Expr *where_some(Env *e, const Expr *cond, uint32_t n_label, uint32_t n, const Reach *reach);
const Expr *where_all(Env *e, const Expr *cond, uint32_t n_label, uint32_t n, const Reach *reach);
/* For a predicate that is_range, or is_gated, for `label`: its range at some point of the box, or (all) at every
 * one. */
void where_range(Env *e, const Expr *cond, uint32_t n_label, uint32_t label, uint32_t n, const Reach *reach, bool all,
                 const Expr **lo, const Expr **hi);
/* If stages continue from a reduction and use its value only under a condition (if t <= s then .. else 0): opens an
 * `if` for the following statements, true if some point of the box needs the value. */
void wanted_open(Env *e, uint32_t n_label, uint32_t n, const Reach *reach);
/* Whether `cond` only bounds the range of `label`, given all other labels. */
bool where_bounds(const Expr *cond, uint32_t n_label, uint32_t label);
/* Whether `cond` consists of comparisons that are monotonic in each label. */
bool where_is_affine(const StagePlan *p, const Expr *cond);
/* Whether the whole predicate only bounds the range of `label`, given all other labels. */
bool where_is_range(const StagePlan *p, uint32_t label);
/* The same, if other conjuncts are without the label and monotonic in the others: they leave all points or none. */
bool where_is_gated(const StagePlan *p, uint32_t label);
/* The same, if data may bound it too. */
bool where_is_walk(Sched *s, const StagePlan *p, uint32_t label);
/* Whether `cond` gives a lower or an upper bound of the label, independent of the others. */
bool where_is_piece(Sched *s, const StagePlan *p, const Expr *cond, uint32_t label);
/* Whether it says more, and may be tested for each point after its value is computed. */
bool where_is_mask(Sched *s, const StagePlan *p, uint32_t label);

/* The conjuncts of `cond` but for one of them; NULL: there is no other. */
const Expr *where_without(Sched *s, const Expr *cond, const Expr *part);
/* Whether x is known before the label's loop, and may be read there even if the loop has no points. bound: the labels
 * that have a value then. */
bool where_is_ahead(Env *e, const Expr *x, uint32_t n_label, uint32_t label, const bool *bound);

/* ---- schedule/comb.c ----------------------------------------------------------------------------- */
/* The points of a label whose remainder is limited: `length` of them from first + i * by on, between lo and hi. */
typedef struct Comb { const Expr *first, *by, *length, *lo, *hi; } Comb;
/* Whether some conjunct limits a remainder of the label to few, given all other labels. */
bool comb_is(Env *e, const Expr *cond, uint32_t n_label, uint32_t label);
/* Takes such a conjunct out of *cond, unless it must be tested all the same; lo and hi, the label's, become those of i.
 * Returns false if there is none. */
bool comb_take(Env *e, const Expr **cond, uint32_t n_label, uint32_t label, const bool *bound, const Expr **lo,
    const Expr **hi, Comb *r);
/* Opens the loop over i, whose range may be a part of the whole by now, or every step-th of it; lo and hi become the
 * label's again. */
void comb_open(Sched *s, const Comb *r, int64_t step, const Expr **lo, const Expr **hi);

/* ---- schedule/running.c -------------------------------------------------------------------------- */
/* A reduction over one label, r; another label, q, moves one bound of it, always in the same direction. */
typedef struct Running {
  uint32_t q, r;
  const Expr *lo, *hi;       /* bounds of r, over the stage's own labels */
  const Expr *body;          /* the summand, or the identity where conditions beyond bounds do not hold; over the
                              * same */
  const Expr *rest;          /* of argmax and argmin: the conditions on a point beyond bounds; NULL: none */
  bool end_moves;            /* q moves hi; else lo */
  bool backwards;            /* there are more points for smaller q, so q counts down */
} Running;
bool running_find(Sched *s, const StagePlan *p, Running *r);
/* Splits the moving bound into a constant part and a part that moves by one with each q. Returns false if it has no
 * such form. */
bool running_steps(Sched *s, const Running *r, const Expr **still, const Expr **moves);
bool ex_at_most(Sched *s, const Expr *a, const Expr *b); /* a <= b; false if that is unknown */

/* ---- schedule/door.c ------------------------------------------------------------------------------- */
void stages_new(Sched *s); /* the stages of a task have no places and values yet */

/* ---- schedule/pins.c ------------------------------------------------------------------------------- */
/* Finds a conjunct `label == to` of the predicate, whose `to` contains reduced labels or reads, but not the label;
 * *rest: the rest of the predicate (NULL: nothing). Conditions of the rest that come first always have their
 * operands; first: no condition came before. */
bool pin_find(Env *e, const Expr *cond, uint32_t label, bool first, const Expr **to, const Expr **rest);

/* ---- schedule/stage.c ---------------------------------------------------------------------------- */
/* The loops of a stage over all labels that `e` does not define yet; `threads`: the outermost may use threads. */
void stage_loops(Sched *s, const TaskStage *stage, Env *e, bool threads);

/* Stores the stage's value at the current point of e: where it is kept, and to its buffer. */
void value_store(Sched *s, const TaskStage *st, Env *e, const Expr *value);
void result_store(Sched *s, const TaskStage *stage, Env *e, const Expr *value); /* at the current point of e */

/* ---- schedule/gpu/points.c ------------------------------------------------------------------------------- */
/* The current kernel as launches on a device. */
void gpu_loops(Sched *s);

/* ---- schedule/cpu/maps/short.c ---------------------------------------------------------------------------- */
/* A map whose result interleaves a few parts; false if the stage is not of this form. */
bool short_loops(Sched *s, const StagePlan *p, Env *e, bool threads);

/* ---- schedule/cpu/maps/square.c --------------------------------------------------------------------------- */
/* A map in transposed squares; false if the stage is not of this form. */
bool square_loops(Sched *s, const StagePlan *p, Env *e, bool threads);

/* ---- schedule/cpu/maps/stream.c --------------------------------------------------------------------------- */
int64_t stream_cache(const Sched *s); /* bytes of the last-level cache */
/* Whether the stage's result has contiguous rows along the label that are worth streaming. */
bool stream_rows(const StagePlan *p, uint32_t label);
/* Whether the stage's result is so large that it should bypass the cache: a condition over dims, literally true if
 * the sizes are known; NULL: never. */
const Expr *stream_if(Sched *s, const TaskStage *stage);
/* Returns the body for that case; *other: the body for the other case, NULL if there is none. */
LoopBody *stream_when(Sched *s, const Expr *when, LoopBody **other);
/* Streams `count` elements of the stage's result from the current point of e, in row-major order over that many of
 * its last axes, all covered whole but the first. */
const Expr *stream_lead(Sched *s, const TaskStage *st, Env *e); /* how far the point is from the next cache line */
void stream_from(Sched *s, const TaskStage *stage, Env *e, const Expr *from, const Expr *count, uint32_t axes);
/* Streams a row of the stage's result along a label. If it starts at a cache line, it goes line by line, from
 * registers; otherwise in longer pieces, from memory. `make` computes `count` values from lo on, in arrays of `most`
 * elements that are streamed; most NULL: it stores them as usual. */
typedef void (*StreamMake)(void *env, const Expr *lo, const Expr *count, const Expr *most);
typedef struct StreamRow { const TaskStage *stage; Env *e; uint32_t label; StreamMake make; void *env; } StreamRow;
/* most: an upper bound of the number of elements; NULL: unknown. */
void stream_row(Sched *s, const StreamRow *r, const Expr *lo, const Expr *count, const Expr *most);
/* Orders some labels of a map by the layout of what it reads, because loads stall and streams do not. */
void stream_order(Sched *s, const StagePlan *p, uint32_t n, uint32_t *label);
/* A map in pieces of its rows, which are streamed; false if the stage is not of this form. */
bool stream_loops(Sched *s, const StagePlan *p, Env *e, bool threads);

/* ---- schedule/cpu/rows/apart.c ---------------------------------------------------------------------------- */
/* Moves array functions (lanes) in all loops of a kernel into loops of their own. */
void apart_loops(Sched *s, LoopBody *b);

/* Loops to make, outermost first, and their variables afterwards. */
enum { WALK_MOST = 256 };
typedef struct Walk {
  uint32_t n;
  Str name[WALK_MOST];
  const Expr *extent[WALK_MOST], *index[WALK_MOST];
  void (*bounds)(void *env, const Expr **lo, const Expr **hi); /* the range of the outermost; NULL: all of it */
  void *env;
} Walk;
/* Names an index. A name or a number stays as it is. */
const Expr *named(Sched *s, Str name, const char *otherwise, const Expr *value);
void walk_add(Sched *s, Walk *w, Str name, const Expr *extent);
void walk_plain(Sched *s, Walk *w, uint32_t from, LoopBind innermost);
/* f counts through the first n of them, the last fastest. */
void walk_count(Sched *s, Walk *w, uint32_t n, const Expr *f);
/* Cuts the outermost ones together into chunks for threads; `work`: scalar operations inside the innermost. */
void walk_chunks(Sched *s, Walk *w, const Expr *work, LoopBind innermost);
const Expr *walk_number(Sched *s, const Walk *w); /* of the turn, over all of them; the last counts fastest */
/* Their values a turn later, or at the last turn. Those that are not wanted keep their values; wanted NULL: all are. */
void walk_next(Sched *s, const Walk *w, const bool *wanted, const Expr **next);

/* ---- schedule/cpu/sums/tile.c ------------------------------------------------------------------------------ */
/* A contraction as tiles of outputs in registers, with one label in lanes; false if the stage is not of this form.
 * far: along the lanes, no read has unit stride, but all stay nearby. */
bool tile_loops(Sched *s, const StagePlan *p, Env *e, bool threads, bool far);
/* A short sum of what exists only under its predicate, on other labels than that of the lanes, with that as a choice in
 * the body: if p then a else 0. NULL: it would leave out most points, or is none of these. */
const EinSum *tile_guarded(Sched *s, const StagePlan *p, Env *e);
bool tile_in_place(const Sched *s); /* whether some stage of the kernel reads what another stores */

/* ---- schedule/cpu/maps/fetch.c ----------------------------------------------------------------------------- */
/* The number of points of a sum, of n, after which to prefetch: prefetches are spread between points, because the
 * machine tracks only a limited number of lines and would stall on more. It divides n, because gcc compiles a loop of
 * unknown length worse. 0: no divisor is suitable. */
int64_t fetch_points(int64_t n);
/* Consecutive tiles of `rows` values of label u, with lanes along v. The current one begins at u0, and covers of the
 * last reduced label the points from lo to hi, at the current point of the others; NULL: all of them. */
typedef struct FetchRows {
  const StagePlan *p;
  uint32_t u, v;
  int64_t rows;
  const Expr *u0, *when, *lo, *hi;
} FetchRows;
/* Prefetches what later tiles read by rows, if it pays; under the condition `when`, if that is not NULL. */
bool rows_wanted(Sched *s, const FetchRows *f); /* whether there is anything to prefetch */
void rows_fetch(Sched *s, const FetchRows *f, Env *e);
/* Tiles along u and v, `tiles` of them for each point of a label around them all; the current one has the number
 * `tile`. */
typedef struct FetchNext { const StagePlan *p; uint32_t u, v, label; int64_t tiles; const Expr *tile; } FetchNext;
/* Prefetches what is read at the label's next point, each tile its share, if that is little but comes from far. */
bool next_wanted(Sched *s, const FetchNext *f); /* whether there is anything to prefetch */
void next_fetch(Sched *s, const FetchNext *f, Env *e);
/* Prefetches the place of the current tile's results, `lanes` of them from v0 on, and what later stages read there. */
void result_fetch(Sched *s, const FetchRows *f, Env *e, const Expr *v0, int64_t lanes);
/* Whether it reads a large tensor. */
bool read_is_far(Sched *s, const StagePlan *p, const Expr *of);
/* A prefetch of what part of the body reads at the point of e, if it is far (else NULL). */
LoopStmt *read_fetch(Sched *s, const StagePlan *p, const Expr *of, Env *e);

/* ---- schedule/cpu/panels/panels.c ------------------------------------------------------------------------------ */
/* A contraction of two sides by packed panels and register tiles; false if the stage is not of this form, or too
 * small. */
bool pack_loops(Sched *s, const StagePlan *p, Env *e, bool threads);

/* ---- schedule/cpu/panels/guard.c ------------------------------------------------------------------------------- */
/* The sum with its predicate as a choice in the body, which panels take though the predicate is no range of one label:
 * if p then a * b else 0. NULL: it would leave out most points, or is none of these. */
const EinSum *pack_guarded(Sched *s, const StagePlan *p);
/* Whether its predicate leaves not few of the points, as far as sizes tell. */
bool pack_leaves_most(Sched *s, const StagePlan *p);

/* ---- schedule/cpu/panels/batch.c ------------------------------------------------------------------------------- */
/* For a contraction that is strided across the matrices of a batch, or across lanes: returns the kernel with a copy
 * made first in a separate stage, if that pays; stages then run one after the other. Else the kernel itself. *when: a
 * condition over dims for the copies; NULL: none. */
const Task *batch_task(Sched *s, const Task *k, const Expr **when);

/* ---- schedule/cpu/panels/grouped.c ----------------------------------------------------------------------------- */
/* Makes the kernel's loops group by group; false: it is no grouped product, or has no panels. */
bool grouped_make(Sched *s, const Task *k);
void grouped_at(Sched *s, Env *e); /* sets where the current group's rows are */
bool grouped_is_listed(const Sched *s, const Expr *index); /* all data in it are the list's, which is in range */

/* ---- schedule/cpu/sums/dot.c ------------------------------------------------------------------------------- */
/* A contraction with its lanes along a reduced label; false if the stage is not of this form. */
bool dot_loops(Sched *s, const StagePlan *p, Env *e, bool threads);

/* ---- schedule/cpu/sums/scan.c ------------------------------------------------------------------------------ */
/* A reduction over a range that grows along one output label, in one pass; false if the stage is not of this form. */
bool scan_loops(Sched *s, const StagePlan *p, Env *e, bool threads);

/* ---- schedule/cpu/sums/scatter.c --------------------------------------------------------------------------- */
/* A reduction over the points that belong to an output; false if the stage is not of this form. */
bool scatter_loops(Sched *s, const StagePlan *p, Env *e, bool threads);

/* ---- schedule/reduce.c --------------------------------------------------------------------------- */
/* Makes one value of a reducing stage at the output point of `e`: appends statements, and returns the result in the
 * stage's dtype. */
const Expr *reduce_point(Sched *s, const StagePlan *p, Env *e);
/* Loops over all reduced labels, within the ranges that the predicate allows; then a test of its other conditions.
 * part: the innermost label goes in blocks, each with its own accumulator, *part, which the caller adds up in
 * s->after. */
void red_loops_where(Sched *s, const StagePlan *p, Env *e, uint32_t *part);
/* About how many points a result has: all, or those of a segment, if all of them together have each point once. */
const Expr *red_points(Sched *s, const StagePlan *p);
const Expr *red_identity(Sched *s, const EinSum *sum);
const Expr *red_combine(Sched *s, const EinSum *sum, const Expr *a, const Expr *b);
/* A sum of products is added product by product where many accumulators lie side by side: each product then is one
 * fma. Alone, an accumulator would wait for itself. */
typedef struct RedTerm {
  const Expr *value;
  bool less; /* subtracted */
} RedTerm;
/* The products of which a float sum's value is the sum; the value itself, if it is anything else. */
uint32_t red_terms(Sched *s, const EinSum *sum, const Expr *value, const RedTerm **term);
const Expr *red_add(Sched *s, const EinSum *sum, const Expr *have, RedTerm term);
const Expr *red_combine_terms(Sched *s, const EinSum *sum, const Expr *have, const Expr *value); /* all of them */
/* The combining operation; for argmax and argmin, of the values. */
Op red_op(const EinSum *sum);
/* For argmax and argmin: whether v, which comes later, replaces `best`: the first NaN beats everything, the first of
 * equals wins. */
const Expr *red_beats(Sched *s, const EinSum *sum, const Expr *v, const Expr *best);
const Expr *red_beats_lanes(Sched *s, const EinSum *sum, const Expr *v, const Expr *best); /* in fewer operations */
/* The number of the current point among all. */
const Expr *red_position(Sched *s, const StagePlan *p, const Env *e);
/* Whether there are points of these labels; NULL: there are. */
const Expr *red_some(Sched *s, const TaskStage *st, uint32_t n, const uint32_t *label);
enum { LANES_LEAST = 16 };    /* the least extent of a reduced label in lanes */
/* The score of the innermost reduced label for lanes: as plan_score, over the reads only. */
double red_score(const StagePlan *p);

/* ---- schedule/cpu/rows/lanes.c ----------------------------------------------------------------------------- */
/* Stages that go over the same points in one sweep: reductions over them, and maps at them. */
typedef struct SweepPart {
  const StagePlan *p;
  Env *e;
  const Expr *result;        /* of a reduction, in the stage's dtype: after the sweep is made */
  uint32_t acc, at, tot;     /* its lanes; those of the places (argmax, argmin); the total of its blocks */
  bool blocked;              /* it has separate lanes for each block */
  const Expr *when;          /* of a map: when its result is streamed (schedule/cpu/maps/stream.c); NULL: never */
  uint32_t line;             /* the array for its values while it streams */
} SweepPart;

typedef struct SweepFetch { Env *e; const Expr *read; } SweepFetch; /* of a stage, over its labels */

typedef struct Sweep Sweep;
struct Sweep {
  Sched *s;
  uint32_t n;
  SweepPart *part;           /* in order: each may read values of earlier ones at the point */
  uint32_t n_loop;
  const uint32_t *loop;      /* the labels that it loops over, outermost first, in each part */
  const Expr **label;        /* the parts' labels, by number: all environments share this array */
  void (*before)(Sweep *w, uint32_t part); /* at each point, before a reduction; NULL: nothing */
  void (*map)(Sweep *w, uint32_t part);    /* makes a map's value and stores it */
  void (*after)(Sweep *w);                 /* after all parts; NULL: nothing */
  void *env;                 /* of these functions */
  uint32_t row;              /* the label whose next value is the next row, which is prefetched; NOWHERE: none */
  uint32_t n_fetch;
  SweepFetch *fetch;
  int64_t width;             /* lanes */
  int64_t left, end;         /* this many of the innermost label's points, up to its end, wait until the lanes are
                              * folded */
  const Expr *at;            /* position in their lines at which streamed maps put values; NULL: nothing is streamed */
};

/* Finds the reads of a stage whose next row should be prefetched during the current one; `row` is the label of rows.
 * elsewhere: by slot, what another sweep prefetches; NULL: nothing. */
void sweep_fetches(Sweep *w, const StagePlan *p, Env *e, const bool *elsewhere);
/* How many lanes a reduction should have along its innermost label; 0: none. */
int64_t lanes_width(Sched *s, const StagePlan *p);
/* The loops of all parts; after them, the results of reductions are available. Only a single part may have a
 * predicate, which must only bound the innermost label. */
void sweep_loops(Sweep *w);

/* ---- schedule/cpu/rows/rows.c ------------------------------------------------------------------------------ */
/* A kernel of several stages: loops over their shared labels, and in them sweeps over the rest. */
void rows_loops(Sched *s);
/* The approximate number of scalar operations of a stage, over its labels from `from` on. */
const Expr *stage_work(Sched *s, const TaskStage *st, uint32_t from);

#endif
