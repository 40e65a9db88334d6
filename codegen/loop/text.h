/* codegen/loop/text.h - shared by the texts and the checker of Loop. */
#ifndef EIN_LOOP_TEXT_H
#define EIN_LOOP_TEXT_H

#include "expr/sum/law.h"
#include "loop.h"

extern const char loop_axis[LOOP_AXES + 1]; /* "xyz" */
extern const char *const loop_binds[];      /* by LoopBind; "" for a loop in order */
extern const char *const loop_spaces[];     /* by LoopSpace */

/* ---- how a statement is written: form.c ---------------------------------------------------------------------- */
typedef enum {
  FORM_END,
  FORM_PLACE, FORM_VAR,      /* a name */
  FORM_AT,                   /* indices in brackets */
  FORM_EXPR,                 /* the statement's expression `field` */
  FORM_INT, FORM_WORD,       /* its number `field`; the same, where the word alone stands for `high` */
  FORM_MATRIX,               /* its matrix' number `field` */
  FORM_OP,
  FORM_OVER,                 /* loops, at most `high` */
  FORM_BLOCKS                /* body and other */
} LoopFormKind;
typedef struct LoopPart {
  LoopFormKind kind;
  const char *word;          /* before it, or NULL */
  bool may;                  /* it may be left out, and its word with it */
  size_t field;
  int64_t low, high, usual;  /* a number's range, and what it is if left out */
  const char *what;          /* for complaints */
} LoopPart;
typedef struct LoopForm { LoopKind kind; const char *word; LoopPart part[11]; } LoopForm; /* word: NULL for a store */
const LoopForm *loop_form(uint32_t i); /* NULL at the end */

enum { LOOP_NESTING = 1000 }; /* the deepest nesting of blocks that the text and the checker allow */

/* For a kernel that is otherwise sound: the rules of grids, blocks, shared arrays and barriers (check_device.c). */
void loop_check_device(SumCheck *c, const LoopKernel *k);
/* For a launch with a sound structure, and its threads' statements: no two threads access one element of a shared
 * array, one of them with a store, without a barrier between (shared.c). */
void loop_check_shared(SumCheck *c, const LoopKernel *k, const LoopBody *launch, const LoopBody *threads);
/* Whether it contains a barrier, in any block. */
bool loop_has_barrier(const LoopBody *b);

#endif
