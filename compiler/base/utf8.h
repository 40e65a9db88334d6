/* base/utf8.h - reads code points from arbitrary bytes, and shows them on a terminal. */
#ifndef EIN_UTF8_H
#define EIN_UTF8_H

#include "base.h"

/* Reads the code point at s and returns its length in bytes; 0 if the n bytes do not begin with well-formed UTF-8
 * (overlong forms, surrogates and the like are not) or n is 0. */
size_t utf8_read(const char *s, size_t n, uint32_t *c);

/* The start of the code point before s[at], not before s[low]; a stray byte counts as one. */
size_t utf8_back(const char *s, size_t low, size_t at);

int utf8_width(uint32_t c);  /* columns on a terminal: 0, 1 or 2 */
bool utf8_hides(uint32_t c); /* a control, bidi or invisible character: never shown as it is */

/* Appends the visible form of the code point (or stray byte) at s, escaped if necessary: `\x1b`, `\u{202e}`, a tab as
 * four blanks. Returns the bytes taken, at least 1; *width: its columns. b may be NULL. */
size_t utf8_show(Buf *b, const char *s, size_t n, int *width);

#endif
