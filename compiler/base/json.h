/* base/json.h - a small JSON writer over a Buf, valid by construction, and a strict reader whose values know their
 * position. */
#ifndef EIN_JSON_H
#define EIN_JSON_H

#include "diag.h"

typedef struct Json { Buf *out; int depth; bool first; bool compact; } Json;
Json json_new(Buf *out);
void json_object(Json *j, const char *key); /* key NULL inside arrays and at the top */
void json_array(Json *j, const char *key);
void json_end(Json *j, char close);         /* '}' or ']' */
void json_str(Json *j, const char *key, const char *s);
void json_strn(Json *j, const char *key, const char *s, size_t n); /* invalid UTF-8 becomes U+FFFD */
void json_name(Json *j, const char *key, Str name);                /* NULL: null */
void json_int(Json *j, const char *key, int64_t x);
void json_num(Json *j, const char *key, double x);                 /* inf and nan as strings */
void json_bool(Json *j, const char *key, bool x);
void json_null(Json *j, const char *key);
bool json_has(Json *j, const char *key, bool is); /* writes null if it is not there; returns whether it is */
/* An array of n integers, of any integer type. */
#define json_ints(j, key, n, x)                                                            \
  do {                                                                                     \
    json_array((j), (key));                                                                \
    for (size_t at_ = 0; at_ < (size_t)(n); at_++) json_int((j), NULL, (int64_t)(x)[at_]); \
    json_end((j), ']');                                                                    \
  } while (0)
/* `json_each(j, "sizes", k, n) json_int(j, NULL, size[k]);` writes an array of n values. json_vec_each has one for the
 * address of each element of a vector; in json_objects and json_vec_objects these are objects. The loops may not be left
 * early. */
#define json_each(j, key, i, n) \
  for (uint32_t i = (json_array((j), (key)), 0); i < (n) || (json_end((j), ']'), false); i++)
#define json_vec_each(j, key, T, x, v) \
  for (T *x = (json_array((j), (key)), (v).at); (x && x < (v).at + (v).len) || (json_end((j), ']'), false); x++)
#define json_objects(j, key, i, n)                                   \
  for (uint32_t i = (json_array((j), (key)), 0);                     \
       i < (n) ? (json_object((j), NULL), true) : (json_end((j), ']'), false); json_end((j), '}'), i++)
#define json_vec_objects(j, key, T, x, v)                            \
  for (T *x = (json_array((j), (key)), (v).at);                      \
       x && x < (v).at + (v).len ? (json_object((j), NULL), true) : (json_end((j), ']'), false); json_end((j), '}'), x++)
void json_raw(Json *j, const char *key, const char *s, size_t n);   /* a value that is already JSON */

/* ---- reading: json_read.c ---------------------------------------------------------------------- */
typedef enum { JSON_NULL, JSON_FALSE, JSON_TRUE, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT } JsonKind;

typedef struct JsonValue JsonValue;
typedef struct JsonMember { const char *name; Span span; JsonValue *value; } JsonMember; /* span: of the name */
struct JsonValue {
  JsonKind kind;
  Span span;
  double number;             /* NUMBER, */
  bool whole;                /* written without point and exponent, and it fits: */
  int64_t integer;
  const char *text;          /* STRING: decoded, NUL-ended; a NUL inside is refused */
  VEC(JsonMember) members;   /* OBJECT: all names differ */
  VEC(JsonValue *) items;    /* ARRAY */
};
/* Reads one value with blanks around it (RFC 8259), nested at most 100 deep. Returns NULL after a complaint (E920). */
JsonValue *json_read(Arena *a, Source *src, Diags *d);
const JsonValue *json_member(const JsonValue *object, const char *name); /* NULL: there is none, or it is not an
                                                                          * object */
const char *json_kind_name(JsonKind k);                                  /* "a number" */

#endif
