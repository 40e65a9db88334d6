/* base/base.h - the foundation of the compiler: memory by lifetime, interned strings, growable arrays, a hash map,
 * text buffers, and how to stop when something impossible happens. Depends on libc only. No function here prints or
 * exits, except bug(), which is for our own mistakes. */
#ifndef EIN_BASE_H
#define EIN_BASE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define EIN_PRINTF(f, a) __attribute__((format(printf, f, a)))
#define EIN_NORETURN     __attribute__((noreturn))
#else
#define EIN_PRINTF(f, a)
#define EIN_NORETURN
#endif

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* ---- our own mistakes ------------------------------------------------------------------------
 * bug() prints the pass and the message on stderr and ends the process with code 3; under a guard it returns there.
 * No user input may lead here. The driver's column of passes sets `bug_where`. */
EIN_NORETURN void bug(const char *fmt, ...) EIN_PRINTF(1, 2);
extern _Thread_local const char *bug_where; /* NULL: not in a pass */
#define BUG_UNLESS(c) ((c) ? (void)0 : bug("%s:%d: %s", __FILE__, __LINE__, #c))

/* ---- guard: guard.c ----------------------------------------------------------------------------
 * For callers that must not end the process. Runs `work` in this thread. A bug(), or lack of memory, in it returns
 * here, with a line that describes it. With `frees`, arenas that were made meanwhile and not freed are then freed;
 * other resources of `work` (files, malloc memory) leak. Guards may nest. */
typedef enum { WENT_WELL, WENT_BUG, WENT_NO_MEMORY } Went;
Went guarded(void (*work)(void *env), void *env, bool frees, char *why, size_t room);
/* Called by bug() and arenas. They return if there is no guard. */
void guard_leave(Went how, const char *fmt, ...) EIN_PRINTF(2, 3);
void guard_vleave(Went how, const char *fmt, va_list ap) EIN_PRINTF(2, 0);

/* ---- arena -----------------------------------------------------------------------------------
 * Blocks are chained until arena_free; memory is zeroed. Lack of memory returns to the guard; without one it ends the
 * process with code 4. */
typedef struct Arena Arena;
Arena *arena_new(void);
void arena_free(Arena *a);
void *arena_alloc(Arena *a, size_t size); /* zeroed, aligned to 16 */
#define NEW(a, T)         ((T *)arena_alloc((a), sizeof(T)))
#define NEW_ARRAY(a, T, n) ((T *)arena_alloc((a), arena_array_size(sizeof(T), (size_t)(n))))
/* A copy of n elements, with room for more. */
#define COPY_ARRAY(a, T, from, n, room) ((T *)arena_copy_array((a), (from), sizeof(T), (size_t)(n), (size_t)(room)))
#define MAKE(a, T, ...)   ((T *)arena_copy((a), &(T){__VA_ARGS__}, sizeof(T))) /* MAKE(a, Span, .at = 3, .end = 4) */
size_t arena_array_size(size_t size, size_t n); /* size*n, or out of memory on overflow */
void *arena_copy(Arena *a, const void *p, size_t size);
void *arena_copy_array(Arena *a, const void *p, size_t size, size_t n, size_t room);
char *arena_printf(Arena *a, const char *fmt, ...) EIN_PRINTF(2, 3);
char *arena_vprintf(Arena *a, const char *fmt, va_list ap) EIN_PRINTF(2, 0);

/* ---- interned strings ------------------------------------------------------------------------
 * A Str is one pointer; equal text means equal pointer within one Strings table. */
typedef struct StrData { uint32_t len, hash; char s[]; } StrData;
typedef const StrData *Str;
typedef struct Strings Strings;
Strings *strings_new(Arena *a);
Str str_of(Strings *t, const char *s, size_t len);
Str str_from(Strings *t, const char *zs);
bool str_same(Str a, Str b);   /* of any tables; either may be NULL */
static inline char char_lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }
/* The number of edits (insert, delete, replace, swap) between two names, at most `limit`. */
uint32_t str_distance(const char *a, uint32_t n, const char *b, uint32_t m, uint32_t limit);
/* s, with ' behind it as often as needed to be none of these. */
Str str_apart(Strings *t, uint32_t n, const Str *taken, Str s);
Str strings_printf(Strings *t, const char *fmt, ...) EIN_PRINTF(2, 3);

/* ---- growable arrays -------------------------------------------------------------------------
 * VEC(T) v = {0};  vec_push(arena, v, x);  v.at[i], v.len.  Old storage stays in the arena. v is evaluated several
 * times, and x after the array has grown: x must not itself push to v. */
#define VEC(T) struct { T *at; uint32_t len, cap; }
#define vec_push(a, v, x) (vec_room((a), (v)), (void)((v).at[(v).len++] = (x)))
#define vec_room(a, v)                                                                         \
  ((v).len < (v).cap ? (void)0                                                                 \
                     : (void)((v).at = vec_grow((a), (v).at, sizeof((v).at[0]), (v).len, &(v).cap)))
#define vec_pop(v)  ((v).at[--(v).len])
#define vec_last(v) ((v).at[(v).len - 1])
/* `vec_each(const TaskStage, s, k->stages) { ... }` is for the address of each element; vec_each_of is for a vector of
 * pointers, and for each of these. Nothing is pushed to the vector meanwhile. */
#define vec_each(T, x, v) for (T *x = (v).at; x && x < (v).at + (v).len; x++)
#define vec_each_of(T, x, v)                                                                   \
  for (T *const *x##_at = (T *const *)(v).at, *x;                                              \
       x##_at && x##_at < (T *const *)(v).at + (v).len && ((x = *x##_at), true); x##_at++)
void *vec_grow(Arena *a, void *at, size_t size, uint32_t len, uint32_t *cap);
/* Whether x is one of n numbers. */
static inline bool number_among(uint32_t n, const uint32_t *of, int64_t x) {
  for (uint32_t k = 0; k < n; k++)
    if (of[k] == x) return true;
  return false;
}

/* ---- hash map --------------------------------------------------------------------------------
 * Pointer (an interned Str, a node) to pointer. Never shrinks. Iteration is in insertion order, so printed output
 * never depends on an address. A NULL value means absent: a loop over at[0..len) skips it. Up to 8 entries are
 * searched in order, without an index. */
typedef struct Map {
  Arena *arena;
  uint32_t len, cap;      /* entries, and capacity */
  struct MapEntry { const void *key; void *val; } *at; /* in insertion order */
  uint32_t *slot, room;   /* index: entry number + 1, or 0 if free; room is a power of two */
} Map;
Map map_new(Arena *a);
void *map_find(const Map *m, const void *key);
void map_put(Map *m, const void *key, void *val); /* adds or replaces */
/* The same by content: a key is bytes, which are copied. A new entry has the value NULL. */
typedef struct MemoEntry { void *value; const void *key; size_t n; } MemoEntry;
typedef struct MemoSlot { uint32_t hash; MemoEntry *entry; } MemoSlot;
typedef struct Memo { Arena *arena; MemoSlot *slot; uint32_t room, len; } Memo;
Memo memo_new(Arena *a);
MemoEntry *memo_get(Memo *m, const void *key, size_t n);
uint32_t hash_bytes(const void *p, size_t n, uint32_t seed);
uint32_t hash_mix(uint32_t h, uint64_t x);

/* ---- text buffers ---------------------------------------------------------------------------- */
typedef struct Buf { Arena *arena; char *s; size_t len, cap; } Buf; /* s is always NUL-ended */
Buf buf_new(Arena *a);
void buf_add(Buf *b, const char *s, size_t n);
void buf_str(Buf *b, const char *zs);
void buf_char(Buf *b, char c);
void buf_printf(Buf *b, const char *fmt, ...) EIN_PRINTF(2, 3);
void buf_vprintf(Buf *b, const char *fmt, va_list ap) EIN_PRINTF(2, 0);

/* Numbers as text, independent of the locale. double_print writes the shortest text that reads back to the same bits
 * ("1.5", "1e-30", "inf", "nan"), always with a '.', an 'e' or a word in it. double_read accepts what double_print
 * writes and "1", "1.", ".5", "+1E3"; no hexadecimal. It returns false for a number too large for a double; one too
 * small is 0. int64_read takes one sign and digits. */
void double_print(Buf *b, double x);
void float_print(Buf *b, double x); /* the same for a float: the shortest text that reads back to it when rounded to
                                     * float */
bool double_read(const char *s, size_t len, double *out);  /* exact; the whole text must be used */
bool int64_read(const char *s, size_t len, int64_t *out);  /* false if it does not fit */

/* ---- checked 64-bit arithmetic: false on overflow ------------------------------------------------- */
bool add_ok(int64_t a, int64_t b, int64_t *out);
bool sub_ok(int64_t a, int64_t b, int64_t *out);
bool mul_ok(int64_t a, int64_t b, int64_t *out);
int64_t floor_div(int64_t a, int64_t b); /* 0 if b is 0, as the language defines; never traps */
int64_t floor_mod(int64_t a, int64_t b); /* sign of b; 0 if b is 0 */
static inline int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

#endif
