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

/* Of a file of several, each that is listed lies inside. */
static ein_status listed(
    void *user, const char *name, size_t length, const ein_array *a, const char *other, ein_error *err) {
  const ein_bytes *b = user;
  (void)err;
  if (!name || length > b->size || a->at > b->size || (uint64_t)a->bytes > b->size - a->at || (other && !*other))
    abort();
  return EIN_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  ein_bytes b;
  ein_error err = {0};
  ein_bytes_from_memory(&b, "fuzz", data, size);
  look_for(&b, NULL);
  look_for(&b, "x");
  if (ein_safetensors_each(&b, listed, &b, &err) != EIN_OK && err.text[0] == '\0') abort();
  return 0;
}
