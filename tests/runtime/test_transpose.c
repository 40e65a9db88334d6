/* Squares that are transposed where they are: each width of element, each size that kernels have, next to elements that
 * are not to be touched. The vectors are as wide as the compiler's flags say; cmd/same-bits and kernel/ci have those of
 * this machine. */
#include "ein_transpose.h"
#include "../tap.h"

enum { MOST = 64 };

#define TRANSPOSES(T, name)                                                                               \
  static void transposes_##name(void) {                                                                   \
    static T a[MOST * MOST + 1];                                                                          \
    for (int n = 8; n <= MOST; n += 8) {                                                                  \
      int wrong = 0;                                                                                      \
      for (int i = 0; i <= n * n; i++) a[i] = (T)((unsigned)i * 2654435761u >> 3);                        \
      name(a, n);                                                                                         \
      for (int i = 0; i < n; i++)                                                                         \
        for (int j = 0; j < n; j++) wrong += a[i * n + j] != (T)((unsigned)(j * n + i) * 2654435761u >> 3);\
      wrong += a[n * n] != (T)((unsigned)(n * n) * 2654435761u >> 3);                                     \
      OK_INT(wrong, 0, #name ", %d by %d", n, n);                                                         \
    }                                                                                                     \
  }
TRANSPOSES(uint8_t, ein_transpose_8)
TRANSPOSES(uint16_t, ein_transpose_16)
TRANSPOSES(uint32_t, ein_transpose_32)
TRANSPOSES(uint64_t, ein_transpose_64)

int main(void) {
  transposes_ein_transpose_8();
  transposes_ein_transpose_16();
  transposes_ein_transpose_32();
  transposes_ein_transpose_64();
  return DONE();
}
