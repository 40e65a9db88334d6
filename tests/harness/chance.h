/* tests/harness/chance.h - random numbers, the same for a seed everywhere. */
#ifndef HARNESS_CHANCE_H
#define HARNESS_CHANCE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct Rng { uint64_t state; } Rng;
uint32_t below(Rng *r, uint32_t n); /* 0 to n-1; n 0: 0 */
bool chance(Rng *r, uint32_t percent);
int64_t integer_wide(Rng *r);       /* any, or one at an end of some dtype */

#endif
