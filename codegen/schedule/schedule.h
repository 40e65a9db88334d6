/* codegen/schedule/schedule.h - inside of the door from tasks to loops: what its files share. */
#ifndef EIN_SCHEDULE_H
#define EIN_SCHEDULE_H

#include "door.h"
#include "grouping.h"
#include "loop/labels.h"
#include "loop/names.h"

enum { NOWHERE = UINT32_MAX };

/* The same elements as a buffer's, with fewer axes: some that follow each other are one (schedule/merge.c). What a stage's slots and
 * stores say is a buffer's number, or VIEWS and that of a view of the kernel's. */
enum { VIEWS = 1 << 30 };
typedef struct View {
  TaskBuffer shape;          /* the buffer, with the view's rank and extents */
  const uint32_t *axes;      /* so many of the buffer's axes is each of the view's */
  uint32_t place;            /* in the kernel, or NOWHERE */
} View;

/* A kernel under construction. */
typedef struct Sched {
  Arena *arena;
  Exprs *x;
  TaskGraph *t;
  LoopProgram *p;
  const LoopTarget *target;
  const Task *task;
  VEC(const Expr *) turns;   /* of the repeats around it: how many they make; NULL where that is not known */
  LoopKernel *k;
  CScope names;
  LoopBody *body;            /* where statements go */
  Str **labels;              /* of each buffer's axes, NULL where none is known */
  uint32_t *of_buffer;       /* place of each buffer in this kernel, or NOWHERE; `touched` says which to reset */
  VEC(uint32_t) touched;
  VEC(View) views;
  uint32_t *of_stage;        /* place of each kept stage, */
  const Expr **value;        /*   or what it is at the point at hand, where later stages go on from there */
  uint32_t outer;            /* so many of a stage's labels are bound before its own loops */
  int64_t rows;              /* so many rows are taken together, sweep by sweep: what is kept has them as its first axis, */
  const Expr *row;           /*   along which this one is at hand; NULL: one row is taken at a time */
  LoopBody *after;           /* red_loops_where: behind the innermost loop */
  LoopBody *outside;         /* where the innermost loop of a map stands, last so far; NULL: there is none */
  uint32_t inner;            /*   and its variable */
  Map safe;                  /* reads that are in range wherever the kernel is: they may be done without being asked for */
  int64_t block;             /* so many rows are taken together, their label being each stage's last of the output; 0: none */
  const Expr *block_of;      /*   of so many in all */
  bool goes_on;              /* stages behind the one at hand go on from its value: it is stage `from`, */
  uint32_t from, then;       /*   and they are those from `then` on */
  bool in_turn;              /* stages have loops of their own, behind each other, and share buffers alone */
  const char *ahead;         /* words ahead of what how_add tells next; NULL: none */
} Sched;

/* ---- schedule/cpu/rows/block.c --------------------------------------------------------------------------- */
/* The kernel with the label of its rows cut into blocks, where it is one that wants that; else the kernel itself. */
const Task *block_task(Sched *s, const Task *k);
/* Whether an index is the row's own, of all rows. */
bool block_is_index(const Sched *s, const TaskStage *st, const Expr *index);
void block_bound(Sched *s, const Expr *block);

/* ---- schedule/bound.c --------------------------------------------------------------------------- */
/* What `cond` says of the label's bounds, as where_bounds wants it, NULL: nothing; what it says beside that goes to *rest. */
const Expr *where_split(Sched *s, const Expr *cond, uint32_t n_label, uint32_t label, const Expr **rest);

/* ---- schedule/mask.c ---------------------------------------------------------------------------- */
/* The kernel with its predicates that are no range as choices, and as stages of their own ahead of the others; rows: the label of which
 * blocks are to be taken. */
const Task *mask_task(Sched *s, const Task *k, uint32_t rows);

/* ---- schedule/merge.c --------------------------------------------------------------------------- */
/* The kernel with labels that are neighbours wherever they occur as one, and without those of extent 1. */
const Task *merge_task(Sched *s, const Task *k);
/* The same of a kernel whose labels were moved since: its views stay. */
const Task *merge_more(Sched *s, const Task *k);
/* The memory that `index` says with axis k + 1 taken into axis k. */
uint32_t view_joined(Sched *s, uint32_t index, uint32_t k);

/* ---- schedule/build.c: places, variables, statements ------------------------------------------- */
/* What a slot or store says: a buffer as it is, or as the view has it; `id` is the buffer's. */
const TaskBuffer *buffer_seen(const Sched *s, uint32_t memory);
/* So many of the buffer's axes each of its own is; NULL: one. */
const uint32_t *buffer_axes(const Sched *s, uint32_t memory);
uint32_t place_of_buffer(Sched *s, uint32_t memory, bool written);
/* A register (rank 0 or a short constant array), or an array wherever it fits. */
/* What was decided about the stage's loops, in words; st NULL: about the whole kernel. */
void how_add(Sched *s, const TaskStage *st, const char *fmt, ...) EIN_PRINTF(3, 4);
const char *how_label(const TaskStage *st, int64_t label);
uint32_t place_own(Sched *s, Str name, const char *otherwise, DType t, uint32_t rank, const Expr *const *dim);
/* An array that all threads of the kernel share: a work buffer which no stage knows of, wanted in this step alone. */
uint32_t place_shared(Sched *s, const char *name, DType t, uint32_t rank, const Expr *const *dim);
uint32_t buffer_shared(Sched *s, const char *name, DType t, uint32_t rank, const Expr *const *dim); /* the same without a place yet: its number */
uint32_t var_new(Sched *s, Str name, const char *otherwise);
const Expr *var_read(Sched *s, uint32_t var);
const Expr *place_read(Sched *s, uint32_t place, uint32_t n, const Expr *const *at);
const Expr *scalar_read(Sched *s, uint32_t place); /* of rank 0 */

LoopStmt *for_add(Sched *s, uint32_t var, const Expr *lo, const Expr *hi, int64_t step, LoopBind bind);
LoopStmt *if_add(Sched *s, const Expr *cond);
LoopStmt *index_add(Sched *s, uint32_t var, const Expr *value);
LoopStmt *let_add(Sched *s, uint32_t place, const Expr *value);
const Expr *let_read(Sched *s, const char *name, const Expr *value); /* a register with that value, read */
LoopStmt *var_add(Sched *s, uint32_t place, const Expr *value);
LoopStmt *store_add(Sched *s, uint32_t place, uint32_t n_at, const Expr *const *at, const Expr *value);
LoopStmt *lead_add(Sched *s, uint32_t place, const Expr *from);
LoopStmt *lanes_add(Sched *s, uint32_t place, Op op);
LoopStmt *turn_add(Sched *s, uint32_t place);
LoopStmt *matrix_add(Sched *s, uint32_t place, const LoopMatrix *m, const Expr *side, const Expr *other);
LoopStmt *barrier_add(Sched *s);
LoopStmt *library_add(Sched *s, uint32_t place, uint32_t n_at, const Expr *const *at, const Expr *value); /* its loops are to be said */
/* An array of a device's block, which comes to be here. */
uint32_t place_block(Sched *s, const char *name, DType t, int64_t n);
LoopStmt *fetch_add(Sched *s, const Expr *read); /* what would be read */
LoopStmt *stream_add(Sched *s, uint32_t place, uint32_t n_at, const Expr *const *at, const Expr *from, const Expr *count, uint32_t axes);
/* Of a device: so many neighbours from where the read says on, in registers, whose array is given; and from such an array to a buffer. */
uint32_t wide_load_add(Sched *s, const Expr *first, int64_t count);
void wide_store_add(Sched *s, uint32_t place, uint32_t n_at, const Expr *const *at, uint32_t array);
/* Statements go into `to` until the returned body is put back. */
LoopBody *into(Sched *s, LoopBody *to);

/* i64 arithmetic, folded. */
const Expr *ex_int(Sched *s, int64_t v);
const Expr *ex_add(Sched *s, const Expr *a, const Expr *b);
const Expr *ex_sub(Sched *s, const Expr *a, const Expr *b);
const Expr *ex_mul(Sched *s, const Expr *a, const Expr *b);
const Expr *ex_div_up(Sched *s, const Expr *a, const Expr *b);
const Expr *ex_min(Sched *s, const Expr *a, const Expr *b);
const Expr *ex_max(Sched *s, const Expr *a, const Expr *b);

/* ---- schedule/expr.c: from a stage's expressions to the kernel's -------------------------------- */
typedef struct Env {         /* what a stage's labels and reads are here */
  Sched *s;
  const TaskStage *stage;
  const Expr **label;        /* by number: the expression that stands for it */
  bool *safe;                /* by slot, once it is asked for: no index goes further than its axis, whatever its labels are */
  const Expr **packed;       /* what stands for reads of slots behind the stage's own */
} Env;
const Expr *ex_of(Env *e, const Expr *of);
const Expr *ex_slot(Env *e, const Expr *leaf); /* a read of a slot, whose indices are the kernel's already */
/* Where a value is kept that has *n labels of its own: at these, and *n of them. */
const Expr *const *kept_at(Sched *s, uint32_t *n, const Expr *const *own);
/* Whether all that the stage reads is there for any values of its labels, predicates or not. */
bool ex_safe(Env *e);
bool ex_is_safe(Env *e, const Expr *of); /* the same of what a part of its expressions reads */
/* The value of e with what occurs more than once computed once: LETs go to the body, and what is left is a tree
 * of bounded size. */
const Expr *ex_shared(Sched *s, const Expr *e);
/* e with names for its conditions, what is read under them, and indices that are looked at, as far as they are the same for all of
 * `var`, of the loop at hand, which is the last of `around`: they are found ahead of it, for compilers make no lanes of them. */
const Expr *ex_ahead(Sched *s, const Expr *e, LoopBody *around, const Expr *var);
/* How e changes with label k: true, and by how much a step, if that is a constant. */
static inline bool ex_slope(const Expr *e, int64_t label, int64_t *slope) { return expr_slope(e, label, slope); }
static inline bool ex_has_label(const Expr *e, int64_t label) { return expr_has_label(e, label); }
/* Whether it is a multiple of n, 2 or more, as its text says it, whatever labels are; the label `along` counts as one, if it is in no product. */
bool ex_is_multiple(const Expr *e, uint32_t along, int64_t n);

/* ---- schedule/facts.c: what is known of a stage before its loops are made ------------------------- */
typedef enum { MOVE_NONE, MOVE_UNIT, MOVE_FAR } Move; /* how an access moves along a label: not, to the next element, elsewhere */
typedef struct StagePlan {
  const TaskStage *stage;
  uint32_t n_label;
  int64_t *size;             /* of each label: its extent, or a guess where that is symbolic */
  bool *exact;               /* whether it is the extent */
  uint32_t n_access;         /* the reads by slot (several slots may be one tensor), then the store */
  Move *move;                /* n_access times n_label */
  double ops;                /* scalar operations at one point */
  uint32_t n_order;          /* output labels that are not the kernel's outer ones, outermost first; */
  uint32_t *order;           /*   the last is the one whose steps are most often to the next element */
  uint32_t n_red;
  uint32_t *red;             /* reduced labels, outermost first */
} StagePlan;
StagePlan stage_plan(Sched *s, const TaskStage *stage);
static inline Move plan_move(const StagePlan *p, uint32_t access, uint32_t label) { return p->move[access * p->n_label + label]; }
double plan_score(const StagePlan *p, uint32_t label); /* how good it is as the innermost loop */
double plan_bytes(const Sched *s, const StagePlan *p, uint32_t read); /* that it goes over in all */
/* Sizes of caches: what lies in the second one is best gone through in one stream, in its order; what does not fit there
 * comes faster by several. */
enum { NEAR_CACHE = 32 << 10, SECOND_CACHE = 1 << 20 };

int64_t vector_lanes(const Sched *s, DType t); /* elements of an accumulator in a vector register */
int64_t tile_vector(const Sched *s, DType t);  /*   in one that the machine has: nothing may hang on it but the size of tiles, and what changes no bit */
int64_t tile_vectors(const Sched *s);          /* how many of these it has */

/* ---- schedule/where.c ---------------------------------------------------------------------------- */
/* The conjuncts of `cond` that bound `label` by labels which have a value go into lo and hi; gives what is left of it, NULL
 * for nothing. */
const Expr *where_narrow(Env *e, const Expr *cond, uint32_t n_label, uint32_t label, const bool *bound, const Expr **lo,
                         const Expr **hi);
/* The same with those that bound it by data alone (start[n] <= z), which are read here. */
const Expr *where_narrow_data(Env *e, const Expr *cond, uint32_t n_label, uint32_t label, const bool *bound, const Expr **lo,
                              const Expr **hi);
/* Labels from first to last, both included; the others have a value. */
enum { REACHES_MOST = 3 };
typedef struct Reach { uint32_t label; const Expr *first, *last; } Reach;
/* Without it no point of the box is in `cond`; NULL: nothing is known. With it all are. */
const Expr *where_some(Env *e, const Expr *cond, uint32_t n_label, uint32_t n, const Reach *reach);
const Expr *where_all(Env *e, const Expr *cond, uint32_t n_label, uint32_t n, const Reach *reach);
/* Of a predicate that is_range for `label`: from where to where it goes at some point of the box, or (all) at every one. */
void where_range(Env *e, const Expr *cond, uint32_t n_label, uint32_t label, uint32_t n, const Reach *reach, bool all,
                 const Expr **lo, const Expr **hi);
/* Where stages go on from a reduction and look at its value under a condition only (if t <= s then .. else 0): what
 * follows is done if some point of the box is wanted. */
void wanted_open(Env *e, uint32_t n_label, uint32_t n, const Reach *reach);
/* Whether `cond` says no more than from where to where `label` goes, all other labels given. */
bool where_bounds(const Expr *cond, uint32_t n_label, uint32_t label);
/* Whether `cond` is made of comparisons of what only rises, or only falls, with each label. */
bool where_is_affine(const StagePlan *p, const Expr *cond);
/* Whether the whole predicate says no more than from where to where `label` goes, all other labels given. */
bool where_is_range(const StagePlan *p, uint32_t label);
/* The same, where data may bound it too. */
bool where_is_walk(Sched *s, const StagePlan *p, uint32_t label);
/* Whether `cond` says from where, or up to where, the label goes, whatever the others are. */
bool where_is_piece(Sched *s, const StagePlan *p, const Expr *cond, uint32_t label);
/* Whether it says more, and may be asked of each point after that was computed. */
bool where_is_mask(Sched *s, const StagePlan *p, uint32_t label);

/* ---- schedule/running.c -------------------------------------------------------------------------- */
/* A reduction over one label, r, of which another one, q, moves one bound, always the same way. */
typedef struct Running {
  uint32_t q, r;
  const Expr *lo, *hi;       /* bounds of r, over the stage's own labels */
  const Expr *body;          /* what is reduced, the identity where the predicate asks more than bounds and does not hold; over the same */
  const Expr *rest;          /* of argmax and argmin: what is asked of a point beside bounds; NULL: nothing */
  bool end_moves;            /* q moves hi; else lo */
  bool backwards;            /* there are more points for smaller q, so q counts down */
} Running;
bool running_find(Sched *s, const StagePlan *p, Running *r);
/* What of the moving bound stays, and what of it goes by one with each q; false if it is not so. */
bool running_steps(Sched *s, const Running *r, const Expr **still, const Expr **moves);
bool ex_at_most(Sched *s, const Expr *a, const Expr *b); /* a <= b; false where that is not known */

/* ---- schedule/pins.c ------------------------------------------------------------------------------- */
/* A conjunct `label == to` of the predicate, with reduced labels or reads in `to`, but not the label, and what is left of the predicate (NULL: nothing). What is
 * asked for ahead of what stands left of it is there in any case; first: nothing was asked before. */
bool pin_find(Env *e, const Expr *cond, uint32_t label, bool first, const Expr **to, const Expr **rest);

/* ---- schedule/stage.c ---------------------------------------------------------------------------- */
/* The loops of a stage over all labels that `e` does not say yet, `threads` allowed at the outermost. */
void stage_loops(Sched *s, const TaskStage *stage, Env *e, bool threads);

/* Stores what the stage comes to at the point that e says: where it is kept, and to its buffer. */
void value_store(Sched *s, const TaskStage *st, Env *e, const Expr *value);
void result_store(Sched *s, const TaskStage *stage, Env *e, const Expr *value); /* at the point that e says */

/* ---- schedule/gpu/points.c ------------------------------------------------------------------------------- */
/* The kernel at hand as launches of a device. */
void gpu_loops(Sched *s);

/* ---- schedule/cpu/maps/short.c ---------------------------------------------------------------------------- */
/* A map whose result is woven of a few: false if the stage is not such a one. */
bool short_loops(Sched *s, const StagePlan *p, Env *e, bool threads);

/* ---- schedule/cpu/maps/square.c --------------------------------------------------------------------------- */
/* A map by squares that are turned; false if the stage is not such a one. */
bool square_loops(Sched *s, const StagePlan *p, Env *e, bool threads);

/* ---- schedule/cpu/maps/stream.c --------------------------------------------------------------------------- */
int64_t stream_cache(const Sched *s); /* bytes of the last one */
/* Whether the stage's result has rows along the label that are worth streaming, and next to each other. */
bool stream_rows(const StagePlan *p, uint32_t label);
/* Whether the stage's result is so large that it should go past the cache: a condition over dims, literally true where the
 * sizes are known; NULL: never. */
const Expr *stream_if(Sched *s, const TaskStage *stage);
/* Where the statements of that case go; *other: of the other one, NULL where there is none. */
LoopBody *stream_when(Sched *s, const Expr *when, LoopBody **other);
/* `count` elements of the stage's result from the point that `e` says on, in row-major order over so many of its last axes, of which
 * the first alone is not gone over whole. */
void stream_from(Sched *s, const TaskStage *stage, Env *e, const Expr *from, const Expr *count, uint32_t axes);
/* A row of the stage's result along a label, which is streamed: where it begins with a line of the cache, a line after the other, from
 * registers; elsewhere in longer pieces, from memory. `make` makes so many values from lo on, in arrays of `most` elements that
 * are streamed; NULL: stores them as usual. */
typedef void (*StreamMake)(void *env, const Expr *lo, const Expr *count, const Expr *most);
typedef struct StreamRow { const TaskStage *stage; Env *e; uint32_t label; StreamMake make; void *env; } StreamRow;
/* most: how many elements there are at most; NULL: unknown. */
void stream_row(Sched *s, const StreamRow *r, const Expr *lo, const Expr *count, const Expr *most);
/* Some labels of a map, in the order in which what it reads lies in memory, as that is waited for, and streams are not. */
void stream_order(Sched *s, const StagePlan *p, uint32_t n, uint32_t *label);
/* A map in pieces of its rows that are streamed; false if the stage is not such a one. */
bool stream_loops(Sched *s, const StagePlan *p, Env *e, bool threads);

/* ---- schedule/cpu/rows/apart.c ---------------------------------------------------------------------------- */
/* Functions of lanes, in all loops of a kernel, get loops of their own. */
void apart_loops(Sched *s, LoopBody *b);

/* Loops to be made, outermost first, and what their variables are once they are. */
enum { WALK_MOST = 256 };
typedef struct Walk {
  uint32_t n;
  Str name[WALK_MOST];
  const Expr *extent[WALK_MOST], *index[WALK_MOST];
  void (*bounds)(void *env, const Expr **lo, const Expr **hi); /* from where to where the outermost goes; NULL: all of it */
  void *env;
} Walk;
/* A name for an index. What is a name already, or a number, stays. */
const Expr *named(Sched *s, Str name, const char *otherwise, const Expr *value);
void walk_add(Sched *s, Walk *w, Str name, const Expr *extent);
void walk_plain(Sched *s, Walk *w, uint32_t from, LoopBind innermost);
/* f counts through the first n of them, the last fastest. */
void walk_count(Sched *s, Walk *w, uint32_t n, const Expr *f);
/* The outermost together are cut into chunks for threads; `work`: scalar operations inside the innermost. */
void walk_chunks(Sched *s, Walk *w, const Expr *work, LoopBind innermost);
/* What they come to a turn later, or at the last one; those that are not wanted stay as they are; NULL: all are. */
void walk_next(Sched *s, const Walk *w, const bool *wanted, const Expr **next);

/* ---- schedule/cpu/sums/tile.c ------------------------------------------------------------------------------ */
/* A contraction as tiles of outputs in registers, one label in lanes; false if the stage is not such a one. far: no read steps to
 * the next element along the lanes, but all to one nearby. */
bool tile_loops(Sched *s, const StagePlan *p, Env *e, bool threads, bool far);
bool tile_in_place(const Sched *s); /* whether some stage of the kernel reads what one stores */

/* ---- schedule/cpu/maps/fetch.c ----------------------------------------------------------------------------- */
/* What comes soon is fetched between the points of a sum, a little after so many of n: the machine keeps as many lines in mind as it
 * fetches at once, and would wait with all else. They divide n, as gcc makes worse of a loop whose length it does not know; 0: nothing
 * does that is neither few nor many. */
int64_t fetch_points(int64_t n);
/* Tiles of `rows` values of label u, of lanes along v, one after the other: the one that begins at u0 is at hand, and of the last
 * reduced label the points from lo up to hi, at the point at hand of the others; NULL: all of all. */
typedef struct FetchRows { const StagePlan *p; uint32_t u, v; int64_t rows; const Expr *u0, *when, *lo, *hi; } FetchRows;
/* What later ones read by rows is fetched ahead, where it is worth it; `when`, if that is not NULL. */
bool rows_wanted(Sched *s, const FetchRows *f); /* whether that is anything */
void rows_fetch(Sched *s, const FetchRows *f, Env *e);
/* Tiles along u and v, so many for each point of a label around them all: the one at hand has that number. */
typedef struct FetchNext { const StagePlan *p; uint32_t u, v, label; int64_t tiles; const Expr *tile; } FetchNext;
/* What is read at the label's next point is fetched, each tile its share, where that is little but comes from far. */
bool next_wanted(Sched *s, const FetchNext *f); /* whether that is anything */
void next_fetch(Sched *s, const FetchNext *f, Env *e);
/* Where the tile at hand, of so many lanes from v0 on, puts its results, and what stages behind it read there. */
void result_fetch(Sched *s, const FetchRows *f, Env *e, const Expr *v0, int64_t lanes);
/* Of a large tensor. */
bool read_is_far(Sched *s, const StagePlan *p, const Expr *of);
/* What a part of the body reads at the point that e says is wanted soon, if it is far (else NULL). */
LoopStmt *read_fetch(Sched *s, const StagePlan *p, const Expr *of, Env *e);

/* ---- schedule/cpu/panels/panels.c ------------------------------------------------------------------------------ */
/* A contraction of two sides by packed panels and tiles in registers; false if the stage is not such a one, or too small. */
bool pack_loops(Sched *s, const StagePlan *p, Env *e, bool threads);

/* ---- schedule/cpu/panels/batch.c ------------------------------------------------------------------------------- */
/* The kernel with what lies across the matrices of a batch, or across lanes, copied ahead, in a stage of its own, if it is a contraction of such
 * and that is worth it: stages go in turn then. Else the kernel itself. */
const Task *batch_task(Sched *s, const Task *k);

/* ---- schedule/cpu/sums/dot.c ------------------------------------------------------------------------------- */
/* A contraction with its lanes along a reduced label; false if the stage is not such a one. */
bool dot_loops(Sched *s, const StagePlan *p, Env *e, bool threads);

/* ---- schedule/cpu/sums/scan.c ------------------------------------------------------------------------------ */
/* A reduction over more and more points as one output label goes on, in one pass; false if the stage is not such a one. */
bool scan_loops(Sched *s, const StagePlan *p, Env *e, bool threads);

/* ---- schedule/cpu/sums/scatter.c --------------------------------------------------------------------------- */
/* A reduction over the points that belong to an output; false if the stage is not such a one. */
bool scatter_loops(Sched *s, const StagePlan *p, Env *e, bool threads);

/* ---- schedule/reduce.c --------------------------------------------------------------------------- */
/* One value of a reducing stage at the output point that `e` says: statements, and the result of the stage's dtype. */
const Expr *reduce_point(Sched *s, const StagePlan *p, Env *e);
/* Loops over all reduced labels, as far as the predicate lets them go; then what is left of it is asked. part: the innermost
 * goes in blocks, each of which has an accumulator of its own, *part, that is to be added up in s->after. */
void red_loops_where(Sched *s, const StagePlan *p, Env *e, uint32_t *part);
const Expr *red_identity(Sched *s, const EinSum *sum);
const Expr *red_combine(Sched *s, const EinSum *sum, const Expr *a, const Expr *b);
/* The combining operation; of argmax and argmin, that of the values. */
Op red_op(const EinSum *sum);
/* Of argmax and argmin: whether v, which comes later, is to stand for `best`: the first NaN beats all else, the first of equals the others; */
const Expr *red_beats(Sched *s, const EinSum *sum, const Expr *v, const Expr *best);
/*   and the number of the point at hand among all. */
const Expr *red_position(Sched *s, const StagePlan *p, const Env *e);
static inline bool red_is_arg(const EinSum *sum) { return sum->reducer == RED_ARGMAX || sum->reducer == RED_ARGMIN; }
enum { LANES_LEAST = 16 };    /* points of a reduced label, for it to be in lanes */
/* How good the innermost reduced label is for lanes: as plan_score, over the reads alone. */
double red_score(const StagePlan *p);

/* ---- schedule/cpu/rows/lanes.c ----------------------------------------------------------------------------- */
/* Stages that go over the same points in one sweep: reductions over them, and maps at them. */
typedef struct SweepPart {
  const StagePlan *p;
  Env *e;
  const Expr *result;        /* of a reduction, in the stage's dtype: once the sweep is made */
  uint32_t acc, at, tot;     /*   its lanes; those of the places (argmax, argmin); what its blocks come to */
  bool blocked;              /*   it has lanes for each block */
  const Expr *when;          /* of a map: its result is streamed then (schedule/cpu/maps/stream.c); NULL: never */
  uint32_t line;             /*   while it is: where it puts it */
} SweepPart;

typedef struct SweepFetch { Env *e; const Expr *read; } SweepFetch; /* of a stage, over its labels */

typedef struct Sweep Sweep;
struct Sweep {
  Sched *s;
  uint32_t n;
  SweepPart *part;           /* in order: each may read what those before it have at the point */
  uint32_t n_loop;
  const uint32_t *loop;      /* the labels that it goes along, outermost first, in each part */
  const Expr **label;        /* the parts' labels, by number: all environments have this array */
  void (*before)(Sweep *w, uint32_t part); /* at each point, ahead of a reduction; NULL: nothing */
  void (*map)(Sweep *w, uint32_t part);    /*   makes a map's value and puts it where it belongs */
  void (*after)(Sweep *w);                 /*   behind all parts; NULL: nothing */
  void *env;                 /* theirs */
  uint32_t row;              /* label whose next value is the next row, of which something is fetched; NOWHERE: none */
  uint32_t n_fetch;
  SweepFetch *fetch;
  int64_t width;             /* lanes */
  int64_t left, end;         /* so many of the innermost label's points, up to its end, wait until the lanes are folded */
  const Expr *at;            /* maps that are streamed put their values here in their lines; NULL: nothing is streamed */
};

/* Reads of a stage whose next row is worth fetching while this one is at hand, if `row` is the label of rows. */
void sweep_fetches(Sweep *w, const StagePlan *p, Env *e);
/* How many lanes a reduction wants along its innermost label; 0: none. */
int64_t lanes_width(Sched *s, const StagePlan *p);
/* The loops of all parts; results of reductions are there behind them. A predicate is allowed to one that is alone, and
 * says no more than how far the innermost label goes. */
void sweep_loops(Sweep *w);

/* ---- schedule/cpu/rows/rows.c ------------------------------------------------------------------------------ */
/* A kernel of several stages: loops over the labels that they share, and in them sweeps over what is left. */
void rows_loops(Sched *s);
/* About how many scalar operations a stage is, over its labels from `from` on. */
const Expr *stage_work(Sched *s, const TaskStage *st, uint32_t from);

#endif
