/* expr/word.h - names, strings and places as the texts of the languages inside have them. */
#ifndef EIN_EXPR_WORD_H
#define EIN_EXPR_WORD_H

#include "einsum.h"

bool word_plain(Str s);           /* can stand as it is where a name is wanted */
bool word_label(Str s);           /* so too inside of expressions */
void word_print(Buf *out, Str s); /* as it is, else quoted; NULL as "" */
void string_print(Buf *out, const char *s, size_t n);
void place_print(Buf *out, Place p); /* ` @"file":line:column`, or nothing */

#endif
