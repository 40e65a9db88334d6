/* task/sites/site.h - a mesh's graph at one of its sites: which part of a tensor a buffer holds there, the memory
 * that takes, and what moves bring.
 *
 * In: the graph, and the site's place along each axis. Out: exact numbers. Nothing runs, and there is no list per
 * site. */
#ifndef EIN_TASK_SITE_H
#define EIN_TASK_SITE_H

#include "task/task.h"

/* A site of a graph, by its place along each axis, for task_dim: the value of a dim there; false: it has none. */
typedef struct AtSite { const TaskGraph *t; const uint32_t *at; } AtSite;
bool task_dim(void *at_site, Str name, int64_t *out);
/* The value of a dims-only expression at a site; i64 or bool. */
int64_t task_at(const TaskGraph *t, const Expr *e, const uint32_t *at);
/* The expression with numbers for its dims; returns NULL for NULL. */
const Expr *task_here(const TaskGraph *t, const Expr *e, const uint32_t *at);
/* Whether the site has it. */
bool task_has(const TaskGraph *t, const TaskBuffer *b, const uint32_t *at);
/* Its shape at the site; the box of the whole tensor that it holds (low NULL: from 0). Both return the number of
 * elements, 0 if the site does not have it. */
int64_t task_shape(const TaskGraph *t, const TaskBuffer *b, const uint32_t *at, int64_t *shape);
int64_t task_box(const TaskGraph *t, const TaskBuffer *b, const uint32_t *at, int64_t *low, int64_t *high);
/* The bytes of its block in a run. A scalar has its place everywhere. */
int64_t task_bytes(const TaskGraph *t, const TaskBuffer *b, const uint32_t *at);
/* Adds an input that the first site holds whole, and that no task reads. */
void task_input_add(TaskGraph *t, Str name, DType dtype, uint32_t rank, const Expr **dim, Place place);
/* The extents of the whole tensor, of which sites have boxes. */
void task_whole(const TaskGraph *t, const TaskBuffer *b, int64_t *extent);

/* By step, the most bytes that any site needs: the caller's buffers always, work from its first step to its last, a
 * move's working memory from its step to its end. If there are very many different sites, of a sample (peak.c). */
void task_steps_bytes(const TaskGraph *t, int64_t *most);
int64_t task_most(const TaskGraph *t, const Expr *e); /* the largest value of a dims-only expression at any site */

/* ---- working memory of moves (staged.c) ------------------------------------------------------------------------ */

typedef struct Staging Staging;
typedef VEC(Staging *) Stagings;
/* Of all moves, in the order of the list; on more than 4,096 sites of none. */
Stagings stagings_of(Arena *a, const TaskGraph *t);
/* The move; and the bytes that it takes at a site. */
const Task *staging_move(const Staging *x);
int64_t staging_at(Staging *x, const uint32_t *at);
/* Bytes that cross a site's bus for one execution of the move, if the site is a device: to it, and from it. */
typedef struct StagingBus { int64_t in, out; } StagingBus;
StagingBus staging_bus(Arena *a, const Staging *x, const uint32_t *at);

/* ---- slices of a box, as runtime/sites/ein_move.c cuts parts, and as an all-reduce distributes them ---- */

/* The dimension along which it is cut into n: the first that is long enough, else the longest; -1: it has none. */
int box_cut_along(uint32_t rank, const int64_t *low, const int64_t *high, int64_t n);
/* Reduces it to slice i of n, as even as possible. Returns whether that has elements. */
bool box_slice(uint32_t rank, int64_t *low, int64_t *high, int64_t i, int64_t n);

/* ---- moves --------------------------------------------------------------------------------------------- */

/* Whether the site at q may receive something from the site at p in the move. Parts that stay parts are separate, and
 * of equal copies q takes the one at its own place. */
bool move_asks(const TaskGraph *t, const Task *move, const uint32_t *p, const uint32_t *q);
/* Whether the other task uses what the move brings, or changes what it takes: then they cannot overlap. */
bool move_hinders(const TaskGraph *t, const Task *move, const Task *other);
/* Axes along which parts are combined: bit a for axis a. */
uint32_t move_combines(const TaskGraph *t, const Task *move);
/* Whether every site has a share: of an all-reduce it combines one, and of a broadcast of much to several it gets one;
 * then it sends that to the others. */
bool move_shares(const TaskGraph *t, const Task *move);
/* The axes along which sites have shares, or else parts that are combined. */
uint32_t move_share_axes(const TaskGraph *t, const Task *move);
/* Its kind, from placements, and from the boxes of all sites if they are few (else it trusts the placements). */
TaskMove move_kind(const TaskGraph *t, const Task *move);

/* Bytes that a site receives in one execution: what it must have and lacks, each part separately. For an all-reduce,
 * those of a reduce-scatter and an all-gather, whose shares are slices along one dimension. */
double move_received(const TaskGraph *t, const Task *move, const uint32_t *at);
/* The bytes that the site at q receives from the one at p in one execution; of equal copies, q takes its own. */
double move_between(const TaskGraph *t, const Task *move, const uint32_t *p, const uint32_t *q);
/* The same for a fetch, an upper bound: each point requests a different place, where it costs most
 * (expr/prove/asked.h). */
double fetch_received(const TaskGraph *t, const Task *fetch, const uint32_t *at);

#endif
