/* front/foreign.h - what to write for words of other languages. Each answers NULL where it does not know the word. */
#ifndef EIN_FOREIGN_H
#define EIN_FOREIGN_H

#include <stddef.h>

const char *foreign_word(const char *s, size_t len);     /* `for`, `let`: a hint, whole */
const char *foreign_function(const char *s, size_t len); /* `matmul`, `maximum`: a hint, whole */
const char *foreign_dtype(const char *s, size_t len);    /* `float32`: a hint, whole */

#endif
