/* task/inside.h - internals of the conversion to the TaskGraph: its passes. */
#ifndef EIN_TASK_INSIDE_H
#define EIN_TASK_INSIDE_H

#include "task.h"

bool task_exchanges(const Task *repeat, uint32_t buffer); /* it is in one of the two of a state (task.c) */

/* Gives a state that takes another state's old value that state's buffer (rotate.c). After task_in_place, before
 * task_fuse. */
void task_rotate(TaskGraph *t);
/* Keeps a state in the output that its last value is (results.c). After task_rotate, before task_fuse. One site. */
void task_results(TaskGraph *t);
/* Fuses kernels where that loses nothing (fuse.c): maps into their readers, maps after reductions, and row-by-row
 * operations over the same rows. Before lifetimes. */
void task_fuse(TaskGraph *t);
/* Make tasks use buffer to[b] instead of b; drop unused buffers and renumber the others (fuse.c). */
void task_buffers_rename(TaskGraph *t, Tasks *list, uint32_t *to);
void task_buffers_drop(TaskGraph *t);
/* Of a kernel: makes what is kept only where it is asked for; and whether its rows can be taken in blocks (fuse.c). */
void kernel_keep_asked(TaskGraph *t, Task *k);
bool kernel_has_rows(TaskGraph *t, const Task *k);
/* Whether two reads each have an output label that the other lacks: a matrix product, which has its own loops (fuse.c).
 */
bool stage_is_product(TaskGraph *t, const TaskStage *s);
/* Whether one pass over the points makes all rows of the first n labels, so that a row by itself would visit all points
 * (fuse.c). */
bool stage_is_one_walk(const TaskStage *s, uint32_t n);
bool op_is_heavy(Op op); /* whether an operation takes as long as several additions (fuse.c) */
/* Whether such a row is a long column of what it reads, which cannot be taken with those of other rows (fuse.c). */
bool stage_is_long_column(TaskGraph *t, const TaskStage *s, uint32_t n);
/* Joins kernels over the same rows, where one reads what the other makes (rows.c). After task_fuse. device: transfers
 * go on beside kernels. */
void task_rows(TaskGraph *t, bool device);
/* Makes large values again where they are read, from what little they are made of (again.c). `wide`: kernels may also
 * share few, large rows. After task_fuse. */
void task_again(TaskGraph *t, bool wide);
/* Counts the kernels that use the buffer, in the list and those in it. Returns false if other tasks do (again.c). */
bool task_kernels_count(const TaskGraph *t, const Tasks *list, uint32_t buffer, uint32_t *n);
/* Makes elementwise values again in the products that read them (cheap.c). After task_again. */
void task_cheap(TaskGraph *t);
/* Calls f for each stage of each kernel, in the list and in repeats. */
void task_stages_each(TaskGraph *t, const Tasks *list, void (*f)(TaskGraph *t, TaskStage *s));
/* Copies a tensor together with its border for a map with short rows that reads around each point (pad.c). After
 * task_fuse, which would put the copy into the map. */
void task_pad(TaskGraph *t);
/* Copies a column that a kernel reads for each of many rows, so that it is contiguous (column.c). After task_fuse,
 * which would put the copy into its reader. */
void task_columns(TaskGraph *t);
/* Makes one half of symmetric reductions, and copies it to the other (mirror.c). After task_fuse, before task_split. */
void task_mirror(TaskGraph *t);
/* Computes integers in types as narrow as their values (narrow.c). After task_fuse. */
void task_narrow(TaskGraph *t);
/* Reads at data on other sites (fetch.c): a kernel makes the places, and readers test whether there is such a place.
 * After task_fuse, before lifetimes. */
void task_fetch(TaskGraph *t);
/* On a mesh, moves only what a site needs besides its own block, and reads the block in place (strips.c). After
 * task_fuse, before lifetimes. */
void task_strips(TaskGraph *t);
/* On a mesh, combines parts at all sites that need them, not at one that sends the result to the others
 * (all_reduce.c). Before lifetimes. */
void task_all_reduce(TaskGraph *t);
bool move_brings_neighbours(TaskGraph *t, Task *move); /* whether it is such a move, given suitable readers */
/* Stores the result of an elementwise kernel in an operand's buffer that nobody needs afterwards (reuse.c). After
 * lifetimes, which must then be computed again. */
void task_reuse(TaskGraph *t);
/* Splits kernels that reduce by logsumexp into a maximum, a sum and a logarithm (lse.c). Before task_in_place. */
void task_logsumexp(TaskGraph *t);
/* Makes quotients of exponentials less the logarithm of their sum, in a kernel of rows (quotient.c). After task_rows.
 */
void task_quotients(TaskGraph *t);
/* Computes functions that several stages of a kernel need for a row once (shared.c). After task_quotients. */
void task_shared(TaskGraph *t);
/* Unrolls reductions of a few points around each result, term by term (terms.c). Before task_in_place. */
void task_terms(TaskGraph *t);
/* Finds states whose next value can overwrite the old one (inplace.c). Before task_fuse. */
void task_in_place(TaskGraph *t);
/* Drops copies of a tensor to a state and back (coalesce.c). After task_in_place, on one site. */
void task_coalesce(TaskGraph *t);
/* Finds the slices of a state that its next value, a map, changes, each as its own stage (slice.c). Returns how many;
 * 0: all of it may change. No two slices store to the same place. small, by slice: it is a small part
 * of the state. */
enum { SLICES_MOST = 4 };
uint32_t stage_slices(TaskGraph *t, const TaskStage *s, uint32_t state, TaskStage *out, bool *small);
/* Splits lane labels that are used by quotient and remainder into these two (digits.c). After task_fuse, before
 * task_split. */
void task_digits(TaskGraph *t);
/* The same for results that read what others make by quotient and remainder alone, in any axis. Before task_fuse. */
void task_digits_shown(TaskGraph *t);
/* Splits long reductions to few outputs into parts for several threads (split.c). After task_fuse, before lifetimes.
 * values: parts of argmax and argmin may keep values beside their places. */
void task_split(TaskGraph *t, bool values);
/* Orders tasks so that they take less memory at once (order.c). After task_split, before lifetimes. */
void task_order(TaskGraph *t);
/* About how many blocks of rows and lanes of a product of two sides threads can share (sides.c); 0: it is no such
 * product, or small. */
double task_side_blocks(TaskGraph *t, const TaskStage *s);
/* The bytes of the side that has the rows of such a product, which is nearly always copied into panels. */
double task_rows_bytes(TaskGraph *t, const TaskStage *s);
/* Numbers the steps and finds, for each work buffer, between which steps its content is needed. */
void task_lifetimes(TaskGraph *t);
void task_number(TaskGraph *t);  /* only numbers the steps */
void task_lives(TaskGraph *t);   /* only finds the lifetimes */
/* Lets moves overlap kernels as far as that takes no more memory (overlap.c). After lifetimes. */
void task_overlap(TaskGraph *t, int64_t memory);

/* ---- stage.c: stages taken apart and put together ------------------------------------------------ */
Str task_name_with(TaskGraph *t, Str name, const char *behind); /* NULL for NULL */
/* Renumbers a draft's slots into canonical order, and merges equal reads into one slot. */
void stage_canonical(TaskGraph *t, TaskStage *s, EinSum *sum, const TaskSlot *slot, uint32_t n_slot);
/* Output label k of the result is label order[k] of s. */
void stage_reorder(TaskGraph *t, TaskStage *s, const uint32_t *order);
/* Inlines the map `from` into s, in place of the slots that read `buffer`. */
void stage_inline(TaskGraph *t, TaskStage *s, uint32_t buffer, const TaskStage *from);
/* Whether the stage stores value k of its labels at k: the buffer's axes are its output labels. */
bool stage_is_plain(const TaskStage *s);
/* The same in another order: axis[k] is then the buffer's axis of output label k. At most 63 labels. */
bool stage_axes(const TaskStage *s, uint32_t *axis);
/* Whether e, of the stage's, is a read of the buffer. */
bool stage_read_is(const TaskStage *s, const Expr *e, uint32_t buffer);
/* The points of its labels from..to-1; as task_size_guess, for choices only. */
double stage_points(const TaskGraph *t, const TaskStage *s, uint32_t from, uint32_t to);
/* Returns the only stage of a kernel that only copies a buffer's elements to their positions in another one; NULL: it
 * does more. */
const TaskStage *kernel_copies(const Task *k);
/* Whether they have the same shape. A copy may leave out what lies beyond its own extents, so one may hold more than
 * the other. On a mesh, both must be at the same sites and be the same block. */
bool buffers_alike(const TaskBuffer *a, const TaskBuffer *b);
/* The range of a sum of labels of known extents, and numbers: both included. Returns false for anything else. */
typedef struct StageReach { int64_t low, high; } StageReach;
bool stage_reach(const TaskStage *s, const Expr *e, StageReach *out);
/* Whether all reads of `buffer` by s have one output label of s as their index axis[k] (axis NULL: k), for each k <
 * rank. Sets label[k]. */
bool stage_reads_at_labels(
    TaskGraph *t, const TaskStage *s, uint32_t buffer, uint32_t rank, const uint32_t *axis, uint32_t *label);
/* Makes all reads of the buffer read the value kept by an earlier stage of the kernel, which stores label k along
 * axis[k]. Returns whether there are any. */
bool stage_read_kept(TaskGraph *t, TaskStage *s, uint32_t buffer, uint32_t stage, const uint32_t *axis);
/* Whether buffer is read at an index that depends on data, or its values are such an index: then its extents are
 * needed at run time, and it must exist as a tensor. */
bool stage_gathers(TaskGraph *t, const TaskStage *s, uint32_t buffer);
bool expr_by_chance(const Expr *e); /* whether it has a random number, a permutation, or a C function's value */
/* Whether it reads at an index that depends on data or chance and is checked at run time, or calls a C function. */
bool stage_may_fail(TaskGraph *t, const TaskStage *s);
/* The form of a value of the stage (form.c). Labels below n_outer keep their numbers; the n others that occur are
 * counted in the order in which they do, and label[k] is the stage's number of the k-th. Slots are numbered by what
 * they read. own: how many of them the value has. admits: where the stage's points are; NULL: everywhere. Returns false
 * if the value has no form. */
enum { FORM_LABELS = 62 };
typedef struct StageForm {
  const Expr *value, *admits;
  uint32_t n, own, label[FORM_LABELS];
} StageForm;
bool stage_form(TaskGraph *t, const TaskStage *s, const Expr *e, uint32_t n_outer, StageForm *f);
/* Whether, from one value of one of its first n labels to the next, the reduction only gains or loses a few points,
 * whose values do not depend on that label: sum[t where t <= s] x[t]. A loop along that label then adds only the new
 * points. */
bool stage_runs(const TaskStage *s, uint32_t n);

#endif
