/* Unit tests of ein_stream.h: what is streamed is there, and nothing beside it, wherever lines begin and end. */
#include <stdbool.h>

#include "../../runtime/ein_stream.h"
#include "../tap.h"

enum { ROOM = 20000, MIDDLE = 6000, MOST = 400 };
static unsigned char from[8 * MOST], got[ROOM], want[ROOM];

/* The number of bytes that differ afterwards. */
static int one(size_t size, size_t off, int64_t step, int64_t n, bool few) {
  int differ = 0;
  memset(got, 7, ROOM);
  memset(want, 7, ROOM);
  for (int64_t k = 0; k < n; k++) memcpy(want + MIDDLE + (int64_t)off + k * step * (int64_t)size, from + (size_t)k * size, size);
  if (few) ein_stream_few(got + MIDDLE + off, step, from, n, size);
  else ein_stream(got + MIDDLE + off, step, from, n, size);
  ein_stream_end();
  for (int k = 0; k < ROOM; k++) differ += got[k] != want[k];
  return differ;
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
  }
  return DONE();
}
