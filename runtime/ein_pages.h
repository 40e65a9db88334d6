/* SPDX-License-Identifier: MIT-0 */
/*
 * Asks the system for large pages for a large block of memory that nobody has written to yet. Where rows lie far
 * apart, each small page that is visited costs a walk through the page tables: a transpose of 16 MB took 2.4 times
 * as long. It is advice: systems that cannot follow it ignore it.
 */
#ifndef EIN_PAGES_H
#define EIN_PAGES_H

#include <stddef.h>
#include <stdint.h>

#if defined(__linux__) && defined(__GNUC__) && !defined(__cplusplus)
/* Not by <sys/mman.h>, whose macros would be in the way of a program's names. As C++, its exceptions are unknown. */
extern int madvise(void *block, size_t bytes, int advice);
#define EIN_PAGES_LARGE 14 /* MADV_HUGEPAGE */
#endif

#if defined(EIN_PAGES_LARGE)
static inline void ein_pages_large(void *block, size_t bytes) {
  const uintptr_t page = (uintptr_t)2 << 20;
  if (!block || bytes < 2 * page) return;
  uintptr_t from = ((uintptr_t)block + page - 1) / page * page, to = ((uintptr_t)block + bytes) / page * page;
  (void)madvise((void *)from, to - from, EIN_PAGES_LARGE);
}
#else
static inline void ein_pages_large(void *block, size_t bytes) {
  (void)block, (void)bytes;
}
#endif

#endif
