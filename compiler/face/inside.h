/* face/inside.h - what libein's files share: a session of the driver as a guest, and answers that are held for a caller. */
#ifndef EIN_FACE_INSIDE_H
#define EIN_FACE_INSIDE_H

#include "driver/driver.h"
#include "libein.h"

typedef struct Held {
  ein_answer answer;         /* which is what the caller has */
  Arena *arena;              /* in which it points; NULL: only here */
  ein_complaint sole;
  char why[512];
} Held;

/* In that arena, with copies of what it is given. */
Session *guest_session(Arena *a, const ein_session *s, const ein_file *file, size_t n_files);
const char *const *words_copy(Arena *a, const char *const *word, size_t n);
void answer_fill(Session *s, Leave l, ein_answer *out); /* with all that was heard */
void held_fail(Held *h, Went went);                     /* after a guard, which has left h->why */
ein_answer *answer_none(void);                          /* there is no memory for one */

#endif
