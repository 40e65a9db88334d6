/* base/utf8.h - code points out of bytes that may be anything, and how they look on a terminal. */
#ifndef EIN_UTF8_H
#define EIN_UTF8_H

#include "base.h"

/* The code point at s and how many bytes it takes; 0 where the n bytes there do not begin with
 * well-formed UTF-8 (overlong forms, surrogates and the like included) or n is 0. */
size_t utf8_read(const char *s, size_t n, uint32_t *c);

/* The start of the code point before s[at], not before s[low]; a stray byte counts as one. */
size_t utf8_back(const char *s, size_t low, size_t at);

int utf8_width(uint32_t c);  /* columns on a terminal: 0, 1 or 2 */
bool utf8_hides(uint32_t c); /* a control, a bidi mark, an invisible: never shown as it is */

/* Adds what the code point (or stray byte) at s looks like, escaped if it must be: `\x1b`, `\u{202e}`,
 * a tab as four blanks. Returns the bytes taken, at least 1; *width are its columns. b may be NULL. */
size_t utf8_show(Buf *b, const char *s, size_t n, int *width);

#endif
