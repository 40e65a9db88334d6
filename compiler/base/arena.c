/* base/arena.c - memory by lifetime; and how the process ends after a bug, or without memory.
 *
 * An arena is a chain of blocks whose sizes double from 64 KiB to 16 MiB. A request that is too large for the current
 * block's size class gets a separate block, chained after the current one, which stays in use. Allocated memory is
 * zero. Large blocks come zeroed from the C library, which knows which pages are fresh. Others are zeroed a few KiB
 * ahead of the allocations, because thousands of small arenas come and go, and use little of their blocks. What gets a
 * block of its own begins at a cache line, and from 4 MiB on has large pages where the system gives them. Under
 * AddressSanitizer, free memory is poisoned and a red zone follows every allocation, so it finds overflows inside an
 * arena too. */
#include "guard.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ein_pages.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define EIN_ASAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define EIN_ASAN 1
#endif
#ifdef EIN_ASAN
#include <sanitizer/asan_interface.h>
#define POISON(p, n)   ASAN_POISON_MEMORY_REGION(p, n)
#define UNPOISON(p, n) ASAN_UNPOISON_MEMORY_REGION(p, n)
#define RED_ZONE       16u
#else
#define POISON(p, n)   ((void)(p), (void)(n))
#define UNPOISON(p, n) ((void)(p), (void)(n))
#define RED_ZONE       0u
#endif

enum { ALIGN = 16, LINE = 64 };
enum { FIRST_BLOCK = 64 << 10, LAST_BLOCK = 16 << 20, LARGE_BLOCK = 2 << 20, ZERO_AHEAD = 4 << 10 };

typedef struct Block {
  struct Block *next;
  size_t size; /* bytes after this header */
} Block;
_Static_assert(sizeof(Block) == ALIGN, "the bytes after a block's header are aligned");

struct Arena {
  Block *blocks; /* the first is the current one */
  char *at, *end;
  char *zero;   /* free memory is zero up to here: at <= zero <= end */
  size_t next_size;
  GuardLink link; /* in the list of the guard under which it was made */
};

_Thread_local const char *bug_where;

void bug(const char *fmt, ...) {
  va_list ap, again;
  va_start(ap, fmt);
  va_copy(again, ap);
  guard_vleave(WENT_BUG, fmt, again);
  va_end(again);
  fflush(stdout);
  fprintf(stderr, "ein: internal error%s%s: ", bug_where ? " in " : "", bug_where ? bug_where : "");
  vfprintf(stderr, fmt, ap);
  fputs("\nThis is a mistake in ein, not in your program.\n", stderr);
  va_end(ap);
  exit(3);
}

EIN_NORETURN static void out_of_memory(size_t size) {
  guard_leave(WENT_NO_MEMORY, "out of memory (asked for %zu bytes)", size);
  fprintf(stderr, "ein: out of memory (asked for %zu bytes)\n", size);
  exit(4);
}

static Block *block_new(size_t size, bool zero) {
  Block *b = size > SIZE_MAX - sizeof(Block) ? NULL
      : zero                                 ? calloc(1, sizeof(Block) + size)
                                             : malloc(sizeof(Block) + size);
  if (!b) out_of_memory(size);
  ein_pages_large(b, sizeof(Block) + size);
  b->next = NULL;
  b->size = size;
  POISON(b + 1, size);
  return b;
}

Arena *arena_new(void) {
  Arena *a = calloc(1, sizeof(Arena));
  if (!a) out_of_memory(sizeof(Arena));
  a->next_size = FIRST_BLOCK;
  guard_link(&a->link, a);
  return a;
}

void arena_free(Arena *a) {
  if (!a) return;
  guard_unlink(&a->link);
  for (Block *b = a->blocks, *next; b; b = next) {
    next = b->next;
    UNPOISON(b + 1, b->size);
    free(b);
  }
  free(a);
}

/* A block for one allocation, which begins at a cache line: large ones are mostly tensors. */
static void *block_own(Arena *a, size_t room) {
  Block *b = block_new(room + LINE, true);
  char *p = (char *)(b + 1);
  if (a->blocks) {
    b->next = a->blocks->next;
    a->blocks->next = b;
  } else {
    a->blocks = b;
    a->at = a->zero = a->end = p + b->size;
  }
  return p + (LINE - (uintptr_t)p % LINE) % LINE;
}

static void block_next(Arena *a) {
  bool zero = RED_ZONE || a->next_size >= LARGE_BLOCK; /* poisoned memory cannot be zeroed later */
  Block *b = block_new(a->next_size - sizeof(Block), zero);
  b->next = a->blocks;
  a->blocks = b;
  a->at = (char *)(b + 1);
  a->end = a->at + b->size;
  a->zero = zero ? a->end : a->at;
  if (a->next_size < LAST_BLOCK) a->next_size *= 2;
}

/* Zeroes memory up to `at`, and ZERO_AHEAD bytes more. */
static void zero_ahead(Arena *a) {
  size_t n = (size_t)(a->at - a->zero) + ZERO_AHEAD, left = (size_t)(a->end - a->zero);
  if (n > left) n = left;
  memset(a->zero, 0, n);
  a->zero += n;
}

void *arena_alloc(Arena *a, size_t size) {
  if (size > SIZE_MAX / 2) out_of_memory(size);
  size_t room = (size + (ALIGN - 1) + RED_ZONE) & ~(size_t)(ALIGN - 1);
  void *p;
  if (room > a->next_size / 4 && room > (size_t)(a->end - a->at)) {
    p = block_own(a, room);
  } else {
    if (room > (size_t)(a->end - a->at)) block_next(a);
    p = a->at;
    a->at += room;
    if (a->at > a->zero) zero_ahead(a);
  }
  UNPOISON(p, size);
  return p;
}

size_t arena_array_size(size_t size, size_t n) {
  if (size && n > SIZE_MAX / 2 / size) out_of_memory(SIZE_MAX);
  return size * n;
}

void *arena_copy(Arena *a, const void *p, size_t size) {
  void *q = arena_alloc(a, size);
  if (size) memcpy(q, p, size);
  return q;
}

void *arena_copy_array(Arena *a, const void *p, size_t size, size_t n, size_t room) {
  void *q = arena_alloc(a, arena_array_size(size, room));
  if (n) memcpy(q, p, size * n);
  return q;
}

char *arena_vprintf(Arena *a, const char *fmt, va_list ap) {
  char small[256];
  va_list again;
  va_copy(again, ap);
  int n = vsnprintf(small, sizeof small, fmt, ap);
  BUG_UNLESS(n >= 0);
  char *s = arena_alloc(a, (size_t)n + 1);
  if ((size_t)n < sizeof small) {
    memcpy(s, small, (size_t)n + 1);
  } else {
    vsnprintf(s, (size_t)n + 1, fmt, again);
  }
  va_end(again);
  return s;
}

char *arena_printf(Arena *a, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  char *s = arena_vprintf(a, fmt, ap);
  va_end(ap);
  return s;
}

void *vec_grow(Arena *a, void *at, size_t size, uint32_t len, uint32_t *cap) {
  if (*cap > UINT32_MAX / 2) out_of_memory(SIZE_MAX);
  *cap = *cap ? *cap * 2 : 4;
  void *p = arena_alloc(a, arena_array_size(size, *cap));
  if (len) memcpy(p, at, size * len);
  return p;
}
