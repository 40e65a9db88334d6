/* expr/word.h - names, strings and places as the texts of the inner languages write them. */
#ifndef EIN_EXPR_WORD_H
#define EIN_EXPR_WORD_H

#include "einsum.h"

bool word_plain(Str s);           /* it needs no quotes where a name is expected */
bool word_label(Str s);           /* the same inside expressions */
void word_print(Buf *out, Str s); /* unquoted if possible; NULL as "" */
void string_print(Buf *out, const char *s, size_t n);
void place_print(Buf *out, Place p); /* ` @"file":line:column`, or nothing */
void places_omit(Buf *out, const char *text); /* appends a text without what that printed in it */

#endif
