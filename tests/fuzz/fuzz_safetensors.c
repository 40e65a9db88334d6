/* Any bytes as a safetensors file: an error, or a tensor that lies inside them and can be read. */
#include "data/array.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look_for(const ein_bytes *b, const char *name) {
  ein_array a;
  ein_error err = {0};
  if (ein_safetensors_find(b, name, &a, &err) != EIN_OK) {
    if (err.status == EIN_OK || err.text[0] == '\0') abort();
    return;
  }
  if (a.at > b->size || (uint64_t)a.bytes > b->size - a.at) abort();
  void *dst = malloc((size_t)a.count * 8 + 1);
  if (dst) ein_array_read(b, &a, EIN_F64, dst, NULL);
  free(dst);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  ein_bytes b;
  ein_bytes_from_memory(&b, "fuzz", data, size);
  look_for(&b, NULL);
  look_for(&b, "x");
  return 0;
}
