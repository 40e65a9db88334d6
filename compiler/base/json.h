/* base/json.h - a small JSON writer (valid by construction) over a Buf, and no more. */
#ifndef EIN_JSON_H
#define EIN_JSON_H

#include "base.h"

typedef struct Json { Buf *out; int depth; bool first; bool compact; } Json;
Json json_new(Buf *out);
void json_object(Json *j, const char *key); /* key NULL inside arrays and at the top */
void json_array(Json *j, const char *key);
void json_end(Json *j, char close);         /* '}' or ']' */
void json_str(Json *j, const char *key, const char *s);
void json_strn(Json *j, const char *key, const char *s, size_t n); /* invalid UTF-8 becomes U+FFFD */
void json_int(Json *j, const char *key, int64_t x);
void json_num(Json *j, const char *key, double x);                 /* inf and nan as strings */
void json_bool(Json *j, const char *key, bool x);
void json_null(Json *j, const char *key);

#endif
