/* Squares that are transposed where they are: each width of element, each size that kernels have, next to elements that
 * are not to be touched. The vectors are as wide as the compiler's flags say; cmd/same-bits and kernel/ci have those of
 * this machine. */
#include "ein_turn.h"
#include "../tap.h"

enum { MOST = 64 };

#define TURNS(T, turn)                                                                              \
  static void turns_##turn(void) {                                                                  \
    static T a[MOST * MOST + 1];                                                                    \
    for (int n = 8; n <= MOST; n += 8) {                                                            \
      int wrong = 0;                                                                                \
      for (int i = 0; i <= n * n; i++) a[i] = (T)((unsigned)i * 2654435761u >> 3);                            \
      turn(a, n);                                                                                   \
      for (int i = 0; i < n; i++)                                                                   \
        for (int j = 0; j < n; j++) wrong += a[i * n + j] != (T)((unsigned)(j * n + i) * 2654435761u >> 3); \
      wrong += a[n * n] != (T)((unsigned)(n * n) * 2654435761u >> 3);                               \
      OK_INT(wrong, 0, #turn ", %d by %d", n, n);                                                   \
    }                                                                                               \
  }
TURNS(uint8_t, ein_turn_8)
TURNS(uint16_t, ein_turn_16)
TURNS(uint32_t, ein_turn_32)
TURNS(uint64_t, ein_turn_64)

int main(void) {
  turns_ein_turn_8();
  turns_ein_turn_16();
  turns_ein_turn_32();
  turns_ein_turn_64();
  return DONE();
}
