/* task/text/text.h - what the texts and the checker of the TaskGraph share. */
#ifndef EIN_TASK_TEXT_H
#define EIN_TASK_TEXT_H

#include "task/task.h"

enum {
  TASK_DEPTH = 200,                      /* repeats in one another: what the text and the checker allow */
  TASK_SITES = 1 << 20                   /* so too of a mesh */
};

const char *task_word(const Task *k);    /* "kernel", "repeat", ... */
const char *task_move_word(TaskMove m);  /* "all_gather", ... */
uint32_t task_steps(const Tasks *list);  /* one more than the last step that is given; 0: there is none */
uint64_t task_operand(const TaskSlot *s); /* equal for equal slots only: see sum/law.h */

/* The slots of a stage's draft in canonical order: see sum_canonical_slots; the slots, one a slot, are returned. */
TaskSlot *task_canonical_slots(Arena *a, Exprs *p, EinSum *s, const TaskSlot *slot);

#endif
