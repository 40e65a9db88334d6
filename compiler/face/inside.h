/* face/inside.h - shared by libein's files: a session of the driver as a guest, and answers kept for a caller. */
#ifndef EIN_FACE_INSIDE_H
#define EIN_FACE_INSIDE_H

#include "driver/driver.h"
#include "libein.h"

typedef struct Held {
  ein_answer answer;         /* what the caller has */
  Arena *arena;              /* the answer points into it; NULL: only into this struct */
  ein_complaint sole;
  char why[512];
} Held;

/* Allocates in the arena, with copies of the arguments. */
Session *guest_session(Arena *a, const ein_session *s, const ein_file *file, size_t n_files);
const char *const *words_copy(Arena *a, const char *const *word, size_t n);
void answer_fill(Session *s, Leave l, ein_answer *out); /* with all messages so far */
void held_fail(Held *h, Went went);                     /* after a guard, which has set h->why */
ein_answer *answer_none(void);                          /* for lack of memory */

#endif
