/* task/sites/site.h - a mesh's graph at one of its sites: which part of a tensor a buffer holds there, what memory that takes, and what moves
 * bring.
 *
 * In: the graph, and where the site stands along each axis. Out: exact numbers; nothing is run, and no list is made for each site. */
#ifndef EIN_TASK_SITE_H
#define EIN_TASK_SITE_H

#include "task/task.h"

/* A dims-only expression at a site; i64 or bool. */
int64_t task_at(const TaskGraph *t, const Expr *e, const uint32_t *at);
/* The expression with numbers for its dims; NULL gives NULL. */
const Expr *task_here(const TaskGraph *t, const Expr *e, const uint32_t *at);
/* Whether the site has it. */
bool task_has(const TaskGraph *t, const TaskBuffer *b, const uint32_t *at);
/* Its shape there; the box of the whole tensor that it holds (low NULL: from 0). Gives its elements, none where the site has it not. */
int64_t task_shape(const TaskGraph *t, const TaskBuffer *b, const uint32_t *at, int64_t *shape);
int64_t task_box(const TaskGraph *t, const TaskBuffer *b, const uint32_t *at, int64_t *low, int64_t *high);
/* One more input, which the first site has all of, and no task reads. */
void task_input_add(TaskGraph *t, Str name, DType dtype, uint32_t rank, const Expr **dim, Place place);
/* The extents of the whole tensor, of which sites have boxes. */
void task_whole(const TaskGraph *t, const TaskBuffer *b, int64_t *extent);

/* The most bytes that are wanted at any step at once: the caller's buffers always, work from its first step to its last; `staged`: and what a move
 * works in, from its step to its end. */
int64_t task_peak(const TaskGraph *t, const uint32_t *at, bool staged);
/* The same, with what moves work in, of the busiest site; and by step, the most that some site has there. Where there are very many sites that
 * all differ, of some of them (peak.c). */
int64_t task_peak_most(const TaskGraph *t);
void task_steps_bytes(const TaskGraph *t, int64_t *most);

/* ---- what moves work in (staged.c) ------------------------------------------------------------------------- */

typedef struct Staging Staging;
typedef VEC(Staging *) Stagings;
/* Of all moves, in the order of the list; on more than 4,096 sites of none. */
Stagings stagings_of(Arena *a, const TaskGraph *t);
/* Which move it is; the bytes that it takes at a site. */
const Task *staging_move(const Staging *x);
int64_t staging_at(Staging *x, const uint32_t *at);

/* ---- slices of a box, as runtime/ein_move.c cuts parts, and what an all-reduce gives each ------------------ */

/* Along which dimension it is cut into n: the first that is long enough, else the longest; -1: it has none. */
int box_cut_along(uint32_t rank, const int64_t *low, const int64_t *high, int64_t n);
/* Makes it slice i of n, as even as can be. Gives whether that has elements. */
bool box_slice(uint32_t rank, int64_t *low, int64_t *high, int64_t i, int64_t n);

/* ---- moves --------------------------------------------------------------------------------------------- */

/* Whether the site at p has something that the site at q may be given in the move: parts that stay parts are each for
 * themselves, and of copies one is as good as another, so q asks that at its own place. */
bool move_asks(const TaskGraph *t, const Task *move, const uint32_t *p, const uint32_t *q);
/* Whether the other task has to do with what the move brings, or changes what it takes: it cannot be done while the move goes on. */
bool move_hinders(const TaskGraph *t, const Task *move, const Task *other);
/* Axes along which parts are combined; all that it spans: bit a for axis a. */
uint32_t move_combines(const TaskGraph *t, const Task *move);
uint32_t move_axes(const TaskGraph *t, const Task *move);
/* What it is, from placements, and from the boxes of all sites where they are few (else placements are believed). */
TaskMove move_kind(const TaskGraph *t, const Task *move);

/* Bytes that a site receives in it once: what it is to have and has not, each part for itself. For an all-reduce those of a reduce-scatter and
 * an all-gather, whose shares are slices along one dimension. */
double move_received(const TaskGraph *t, const Task *move, const uint32_t *at);
/* So in a fetch, at most: what comes if each point asks for a place of its own, where it costs most (expr/prove/asked.h). */
double fetch_received(const TaskGraph *t, const Task *fetch, const uint32_t *at);
/* Over all sites and all that is done; turns that are not known count as one. */
double task_received(const TaskGraph *t);

#endif
