/* tests/harness/chance.c - random numbers, the same for a seed everywhere. */
#include "harness.h"

uint32_t below(Rng *r, uint32_t n) {
  r->state += 0x9E3779B97F4A7C15u;
  uint64_t z = r->state;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  z ^= z >> 31;
  return n ? (uint32_t)(z >> 32) % n : 0;
}

bool chance(Rng *r, uint32_t percent) { return below(r, 100) < percent; }

int64_t integer_wide(Rng *r) {
  static const int64_t odd[] = {INT64_MIN, INT64_MAX, INT32_MIN, INT32_MAX, -128, 127, -32768, 255, -1, 0, 1, 2};
  if (chance(r, 40)) return odd[below(r, COUNT(odd))];
  uint64_t high = (uint64_t)below(r, 1u << 16) << 48, middle = (uint64_t)below(r, 1u << 24) << 24;
  return (int64_t)(high ^ middle ^ below(r, 1u << 24));
}
