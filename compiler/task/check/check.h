/* task/check/check.h - shared by the parts of the checker: check.c walks buffers and tasks, stage.c checks a kernel's
 * stages, move.c a mesh with its moves and fetches. */
#ifndef EIN_TASK_CHECK_H
#define EIN_TASK_CHECK_H

#include "expr/sum/law.h"
#include "task/sites/site.h"
#include "task/text/text.h"

enum { NONE = -1, NEVER = -2 };

typedef struct Held {        /* the state of a buffer */
  int32_t written;           /* NONE: it is written; NEVER; else it is written only if this input is not given */
  int32_t stands_for;        /* the input for which it is the default, or NONE */
  uint32_t kernel;           /* 1 + the step of the last kernel that stores to it */
  bool said;                 /* its too short life is already reported */
} Held;

typedef struct Check {
  SumCheck c;
  const TaskGraph *t;
  Arena *arena;
  const TaskBuffer *buffer;  /* the current one, or NULL */
  const Task *task;          /* the same */
  const TaskStage *stage;    /* the same */
  VEC(const Task *) open;    /* the repeats around */
  uint32_t step;             /* the next step */
  int32_t unless;            /* the current task is done only if this input is not given; NONE */
  Held *held;                /* by buffer */
  int32_t *default_of;       /* by input: the buffer that holds its default, or NONE */
  const void *argument;      /* the current input or output, for its line */
  const void *wrong;         /* what the last complaint was about */
} Check;

#define fail(check, ...) check_fail(&(check)->c, __VA_ARGS__)

/* ---- check.c */
bool check_buffer_number(Check *c, const char *what, int64_t buffer); /* it is one of the buffers */
void check_buffer_read(Check *c, uint32_t buffer, uint32_t step);
void check_buffer_write(Check *c, uint32_t buffer, uint32_t step);
void check_buffer_alive(Check *c, uint32_t buffer, uint32_t step);

/* ---- stage.c */
void check_slot_read(void *ctx, const Expr *e);
bool check_filled(Check *c, const TaskStage *s);
void check_stage(Check *c, const Task *k, const TaskStage *s);

/* ---- move.c */
bool check_mesh(Check *c);
bool check_site(Check *c, const TaskBuffer *b);
void check_move(Check *c, const Task *k);
void check_fetch(Check *c, const Task *k);
void check_while(Check *c, const Tasks *list, uint32_t i); /* the tasks that overlap move i */

#endif
