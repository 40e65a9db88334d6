/* task/inside.h - inside of the door to the TaskGraph. */
#ifndef EIN_TASK_INSIDE_H
#define EIN_TASK_INSIDE_H

#include "task.h"

/* A state that becomes what another one was gets that one's buffer (rotate.c). After task_in_place, before task_fuse. */
void task_rotate(TaskGraph *t);
/* Joins kernels where nothing is lost by it (fuse.c): maps into their readers, maps behind reductions, and operations
 * that go row by row over the same rows. Before lifetimes. */
void task_fuse(TaskGraph *t);
/* Tasks have to do with buffer to[b] in place of b; buffers that nothing uses go, and the others are numbered anew (fuse.c). */
void task_buffers_rename(TaskGraph *t, Tasks *list, const uint32_t *to);
void task_buffers_drop(TaskGraph *t);
/* Integers are computed in types as narrow as their values (narrow.c). After task_fuse. */
void task_narrow(TaskGraph *t);
/* What is read at data on other sites: the places by a kernel, and readers that look whether there is such a place (fetch.c). After task_fuse, before
 * lifetimes. */
void task_fetch(TaskGraph *t);
/* What a site wants beside its own block of a mesh comes alone, and the block is read where it lies (strips.c). After task_fuse, before lifetimes. */
void task_strips(TaskGraph *t);
bool move_brings_neighbours(TaskGraph *t, Task *move); /* whether it would be such a move for readers that are */
/* What a kernel of a mesh makes element by element of a buffer that nobody wants after it lies there (reuse.c). After lifetimes; they are to be found anew. */
void task_reuse(TaskGraph *t);
/* Kernels that reduce by logsumexp become a maximum, a sum and a logarithm (lse.c). Before task_in_place. */
void task_logsumexp(TaskGraph *t);
/* Reductions of a few points around each result, written out term by term (terms.c). Before task_in_place. */
void task_terms(TaskGraph *t);
/* States whose next value can be put where the old one lies (inplace.c). Before task_fuse. */
void task_in_place(TaskGraph *t);
/* The slices of a state that its next value, a map, changes, each as a stage of its own (slice.c): how many; 0: all of it may change. No
 * two store at the same place. */
enum { SLICES_MOST = 4 };
uint32_t stage_slices(TaskGraph *t, const TaskStage *s, uint32_t state, TaskStage *out);
/* Labels in lanes that are looked at by quotient and rest are cut into these (digits.c). After task_fuse, before task_split. */
void task_digits(TaskGraph *t);
/* Long reductions to few outputs go in parts that threads can share (split.c). After task_fuse, before lifetimes. */
void task_split(TaskGraph *t);
/* About how many blocks of rows and lanes threads can be given of a product of two sides (sides.c); 0: it is none, or small. */
double task_side_blocks(TaskGraph *t, const TaskStage *s);
/* Numbers the steps and finds between which of them each work buffer's content is wanted. */
void task_lifetimes(TaskGraph *t);
void task_number(TaskGraph *t);  /* the first half of it, */
void task_lives(TaskGraph *t);   /*   and the second */
/* Moves go on while kernels run, as far as that takes no more memory (overlap.c). After lifetimes. */
void task_overlap(TaskGraph *t, int64_t memory);

/* ---- stage.c: stages taken apart and put together ------------------------------------------------ */
/* A draft's slots renumbered as the law wants them; several equal reads become one slot. */
void stage_canonical(TaskGraph *t, TaskStage *s, EinSum *sum, const TaskSlot *slot, uint32_t n_slot);
/* Output label k of the result is label order[k] of s. */
void stage_reorder(TaskGraph *t, TaskStage *s, const uint32_t *order);
/* The map `from`, whose value is read by s in place of the slots that read `buffer`, is computed there instead. */
void stage_inline(TaskGraph *t, TaskStage *s, uint32_t buffer, const TaskStage *from);
/* Whether the stage stores value k of its labels at k: the buffer's axes are its output labels. */
bool stage_is_plain(const TaskStage *s);
/* The same in another order: axis[k] is then the buffer's axis of output label k. At most 63 labels. */
bool stage_axes(const TaskStage *s, uint32_t *axis);
bool stage_reads(const TaskStage *s, uint32_t buffer);
/* The one stage of a kernel that does nothing but copy a buffer's elements to where they are in another one; NULL: it does more. */
const TaskStage *kernel_copies(const Task *k);
/* Of one shape. A copy may leave out what lies behind its own extents: then there is more in one than the other holds. Of a mesh, both are there at the same
 * sites, and are the same block. */
bool buffers_alike(const TaskBuffer *a, const TaskBuffer *b);
/* Whether all reads of `buffer` by s have one output label of s as their index axis[k] (axis NULL: k), for each k < rank:
 * label[k]. */
bool stage_reads_at_labels(TaskGraph *t, const TaskStage *s, uint32_t buffer, uint32_t rank, const uint32_t *axis, uint32_t *label);
/* What `slot` reads is what an earlier stage of the kernel keeps, which stores label k along axis[k]. */
void stage_read_kept(TaskGraph *t, TaskStage *s, uint32_t slot, uint32_t stage, const uint32_t *axis);
/* Whether buffer is read at an index that data decide, or its values are such an index: then its extents are looked at
 * as it runs, and it must be there as a tensor. */
bool stage_gathers(TaskGraph *t, const TaskStage *s, uint32_t buffer);
/* Whether it reduces a little more, or less, at each value of one of its first n labels than at the one before, of values that do not look at that:
 * sum[t where t <= s] x[t]. Whoever goes along that label takes the new points alone. */
bool stage_runs(const TaskStage *s, uint32_t n);

#endif
