/* codegen/loop/names.h - the language's names as C's: `s'` is s_p, λ is lambda, 名 is u540d. The same name gives the same
 * text everywhere; names that fall together in one scope get a number, in the order in which they are asked for. */
#ifndef EIN_NAMES_H
#define EIN_NAMES_H

#include "base/base.h"

/* An identifier of C99 and C++ that is no keyword of either, no common macro or function of the C library and of no
 * runtime's (ein_, EIN_). Any bytes may come in; nothing gives x. Different names may give the same identifier. */
Str c_name(Strings *t, const char *name, size_t len);

/* A scope: what it gives is given once. */
typedef struct CScope { Strings *strings; Map taken; } CScope;
CScope c_scope(Arena *a, Strings *t);
void c_scope_take(CScope *s, Str used);       /* stands already: given to nobody */
bool c_scope_has(const CScope *s, Str used);
/* c_name(name), or with _2, _3, ... behind it. name NULL or of length 0: `otherwise` is taken in its stead. */
Str c_scope_name(CScope *s, Str name, const char *otherwise);

/* A file's name without its folder and ending, as a prefix for symbols: "my-net.ein" gives my_net.
 * What a header of the system is called gets a _: "math.ein" gives math_. */
Str c_prefix(Strings *t, const char *path);
/* Whether a prefix that a person chose can be taken as it is. */
bool c_identifier(const char *s);

/* Adds s as a C string literal, quotes included: any bytes, no trigraphs, nothing that an escape could swallow. */
void c_string(Buf *b, const char *s, size_t len);

#endif
