/* front/foreign.h - suggestions for words of other languages. Each function returns NULL if it does not know the
 * word. */
#ifndef EIN_FOREIGN_H
#define EIN_FOREIGN_H

#include <stddef.h>

#include "base/base.h"

const char *foreign_word(const char *s, size_t len);     /* `for`, `let`: a complete hint */
const char *foreign_constant(const char *s, size_t len); /* `True`, `PI`: a complete hint */
/* `matmul`, `pow`: a hint with placeholders $1 to $3 for the arguments, $4 and $5 for the labels of the first, or $*
 * for the sum of the product of two. */
const char *foreign_function(const char *s, size_t len);
const char *foreign_reducer(const char *s, size_t len); /* `amax`: the reducer meant */
enum { FOREIGN_LABELS = 3, FOREIGN_ARGS = 5 };
const char *foreign_fill(Arena *a, const char *hint, const char *const *arg); /* arg: FOREIGN_ARGS texts; NULL: use a
                                                                               * name of ours */
const char *foreign_dtype(const char *s, size_t len);    /* `float32`: a complete hint */

#endif
