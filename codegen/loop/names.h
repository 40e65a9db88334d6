/* codegen/loop/names.h - the language's names as C identifiers: `s'` is s_p, λ is lambda, 名 is u540d. The same name
 * gives the same text everywhere; names that collide in one scope get a number, in the order of the requests. */
#ifndef EIN_NAMES_H
#define EIN_NAMES_H

#include "base/base.h"

/* An identifier of C99 and C++ that is no keyword of either, no common macro or function of the C library, and no
 * name of the runtime (ein_, EIN_). Accepts any bytes; an empty name gives x. Different names may give the same
 * identifier. */
Str c_name(Strings *t, const char *name, size_t len);

/* A scope returns each name only once. */
typedef struct CScope { Strings *strings; Map taken; } CScope;
CScope c_scope(Arena *a, Strings *t);
void c_scope_take(CScope *s, Str used);       /* already in use: never returned */
bool c_scope_has(const CScope *s, Str used);
/* c_name(name), with _2, _3, ... appended if necessary. If name is NULL or empty, `otherwise` replaces it. */
Str c_scope_name(CScope *s, Str name, const char *otherwise);

/* A file's name without folder and suffix, as a prefix for symbols: "my-net.ein" gives my_net. The name of a system
 * header gets a _: "math.ein" gives math_. */
Str c_prefix(Strings *t, const char *path);
/* Whether a prefix that a user chose is a valid identifier. */
bool c_identifier(const char *s);

/* Appends s as a C string literal with quotes: any bytes, no trigraphs, nothing that could extend an escape. */
void c_string(Buf *b, const char *s, size_t len);

#endif
