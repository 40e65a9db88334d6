/* task/text/text.h - shared by the texts and the checker of the TaskGraph. */
#ifndef EIN_TASK_TEXT_H
#define EIN_TASK_TEXT_H

#include "task/task.h"

enum {
  TASK_DEPTH = 200,                      /* the deepest nesting of repeats that the text and the checker allow */
  TASK_SITES = 1 << 20                   /* the most sites of a mesh */
};

const char *task_word(const Task *k);    /* "kernel", "repeat", ... */
const char *task_move_word(TaskMove m);  /* "all_gather", ... */
uint32_t task_steps(const Tasks *list);  /* one more than the last step; 0: there is none */
uint64_t task_operand(const TaskSlot *s); /* equal only for equal slots: see sum/law.h */

/* Puts the slots of a stage's draft into canonical order: see sum_canonical_slots. Returns them. */
TaskSlot *task_canonical_slots(Arena *a, Exprs *p, EinSum *s, const TaskSlot *slot);

#endif
