/* task/check/check.h - the checker's parts among themselves: check.c walks buffers and tasks, stage.c looks at a kernel's stages,
 * move.c at a mesh, its moves and fetches. */
#ifndef EIN_TASK_CHECK_H
#define EIN_TASK_CHECK_H

#include "expr/sum/law.h"
#include "task/sites/site.h"
#include "task/text/text.h"

enum { NONE = -1, NEVER = -2 };

typedef struct Held {        /* of a buffer */
  int32_t written;           /* NONE: it is written; NEVER; else only if this input is not given */
  int32_t stands_for;        /* the input whose default it is, or NONE */
  uint32_t kernel;           /* 1 + the step of the last kernel that stores to it */
  bool said;                 /* that its life is too short */
} Held;

typedef struct Check {
  SumCheck c;
  const TaskGraph *t;
  Arena *arena;
  const TaskBuffer *buffer;  /* the one at hand, or NULL */
  const Task *task;          /* so too */
  const TaskStage *stage;    /* so too */
  VEC(const Task *) open;    /* the repeats around */
  uint32_t step;             /* the next one */
  int32_t unless;            /* what is at hand is done only if this input is not given; NONE */
  Held *held;                /* by buffer */
  int32_t *default_of;       /* by input: the buffer that holds its default, or NONE */
  const void *argument;      /* the input or output at hand: where its line is */
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
void check_while(Check *c, const Tasks *list, uint32_t i); /* what is done while move i goes on */

#endif
