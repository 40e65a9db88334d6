/* Any bytes as a .npy file: an error, or an array that lies inside them and can be read. */
#include "data/array.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  ein_bytes b;
  ein_array a;
  ein_error err = {0};
  ein_bytes_from_memory(&b, "fuzz", data, size);
  if (ein_npy_header(&b, &a, &err) != EIN_OK) {
    if (err.status == EIN_OK || err.text[0] == '\0') abort();
    return 0;
  }
  if (a.at + (uint64_t)a.bytes != size || a.count > (int64_t)size) abort();
  for (int d = 0; d < EIN_DTYPE_COUNT; d++) {
    void *dst = malloc((size_t)a.count * ein_dtype_size((ein_dtype)d) + 1);
    if (dst) ein_array_read(&b, &a, (ein_dtype)d, dst, NULL);
    free(dst);
  }
  return 0;
}
