/* What tests/run/extern_source.ein calls. */
#include <stdint.h>

static double square(double x) { return x * x; }

double polynomial(double x, int64_t degree) {
  double y = 0;
  for (int64_t k = degree; k >= 0; k--) y = y * x + (double)k;
  return y;
}

double bits(uint16_t x) { return x; }

double bits_bf16(uint16_t x) { return x; }

float chosen(_Bool first, float a, uint8_t b) { return first ? a : (float)square(b); }
