/* Unit tests of ein_stream.h: what is streamed is there, and nothing beside it, wherever lines begin and end. */
#include <stdbool.h>

#include "ein_stream.h"
#include "../tap.h"

enum { ROOM = 20000, MIDDLE = 6000, MOST = 400 };
static unsigned char from[8 * MOST], got[ROOM], want[ROOM];

/* The number of bytes that differ afterwards. */
static int one(size_t size, size_t off, int64_t step, int64_t n, bool few) {
  int differ = 0;
  memset(got, 7, ROOM);
  memset(want, 7, ROOM);
  for (int64_t k = 0; k < n; k++)
    memcpy(want + MIDDLE + (int64_t)off + k * step * (int64_t)size, from + (size_t)k * size, size);
  if (few) ein_stream_few(got + MIDDLE + off, step, from, n, size);
  else ein_stream(got + MIDDLE + off, step, from, n, size);
  ein_stream_end();
  for (int k = 0; k < ROOM; k++) differ += got[k] != want[k];
  return differ;
}

/* The same over three axes, of which the last two are gone over whole; the last lies so many elements apart, and rows
 * as many more. */
static int axes(size_t size, size_t off, int64_t apart, int64_t more, int64_t first, int64_t n) {
  const int64_t shape[3] = {4, 5, 6}, step[3] = {5 * (6 * apart + more), 6 * apart + more, apart};
  int differ = 0;
  memset(got, 7, ROOM);
  memset(want, 7, ROOM);
  for (int64_t k = 0; k < n; k++) {
    int64_t i = first + k, at = i / 30 * step[0] + i / 6 % 5 * step[1] + i % 6 * step[2];
    memcpy(want + MIDDLE + (int64_t)off + at * (int64_t)size, from + (size_t)k * size, size);
  }
  ein_stream_axes(got + MIDDLE + off, 3, shape, step, first, from, n, size);
  ein_stream_end();
  for (int k = 0; k < ROOM; k++) differ += got[k] != want[k];
  return differ;
}

/* 48 elements that a function has made itself. */
static int tile(size_t size, size_t off) {
  unsigned char made[48 * 8];
  int differ = 0;
  memset(got, 7, ROOM);
  memset(want, 7, ROOM);
  for (size_t k = 0; k < 48 * size; k++) made[k] = from[k] ^ 1, want[MIDDLE + off + k] = made[k];
  ein_stream_held(got + MIDDLE + off, made, 48, size);
  ein_stream_end();
  for (int k = 0; k < ROOM; k++) differ += got[k] != want[k];
  return differ;
}

/* Where the next line begins, and never within an element. */
static int lead(size_t size, size_t off) {
  const char *at = (const char *)(((uintptr_t)got + 63) & ~(uintptr_t)63) + off;
  int64_t n = ein_stream_lead(at, 1, size);
  bool whole = off % size == 0;
  return ein_stream_lead(at, 2, size) != 0 || (whole ? n != (int64_t)((64 - off % 64) % 64 / size) : n != 0);
}

int main(void) {
  for (size_t k = 0; k < sizeof from; k++) from[k] = (unsigned char)(k * 37 + k / 251);
  for (size_t size = 1; size <= 8; size *= 2) {
    int dense = 0, apart = 0, few = 0;
    for (size_t off = 0; off < 130; off += size)
      for (int64_t n = 0; n <= MOST; n += 1 + n / 5) {
        dense += one(size, off, 1, n, false);
        few += one(size, off, 1, n, true);
        for (int64_t step = -2; n < 200 && step <= 3; step += 1 + (step == 0)) apart += one(size, off, step, n, n % 2);
      }
    OK(!dense, "%d bytes an element, next to each other", (int)size);
    OK(!few, "%d bytes an element, of a short array", (int)size);
    OK(!apart, "%d bytes an element, apart and backwards", (int)size);
    int over = 0;
    for (size_t off = 0; off < 130; off += size)
      for (int64_t n = 0; n <= 120; n += 1 + n / 7)
        for (int64_t more = 0; more < 3; more++)
          over += axes(size, off, 1, more, 0, n) + axes(size, off, 2, more, 0, n);
    OK(!over, "%d bytes an element, over three axes", (int)size);
    int amid = 0;
    for (size_t off = 0; off < 65; off += 16 * size)
      for (int64_t first = 0; first < 100; first++)
        for (int64_t more = 0; more < 3; more++)
          amid += axes(size, off, 1, more, first, 20) + axes(size, off, 2, more, first, 20);
    OK(!amid, "%d bytes an element, from amid three axes on", (int)size);
    int held = 0;
    for (size_t off = 0; off < 130; off += size) held += tile(size, off);
    OK(!held, "%d bytes an element, of a tile", (int)size);
    int astray = 0;
    for (size_t off = 0; off < 130; off++) astray += lead(size, off);
    OK(!astray, "%d bytes an element, to where a line begins", (int)size);
  }
  return DONE();
}
