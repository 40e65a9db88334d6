/* plan/network/lot.c - random numbers, the same on every machine. */
#include "inside.h"

double lot_draw(uint64_t *random) {
  *random = *random * 6364136223846793005u + 1442695040888963407u;
  return (double)(*random >> 11) * 0x1p-53;
}

uint32_t lot_below(uint64_t *random, uint32_t n) {
  return (uint32_t)(lot_draw(random) * n);
}

void lot_shuffle(uint64_t *random, uint32_t len, uint32_t *at) {
  for (uint32_t i = len; i > 1; i--) {
    uint32_t j = lot_below(random, i), was = at[i - 1];
    at[i - 1] = at[j];
    at[j] = was;
  }
}
