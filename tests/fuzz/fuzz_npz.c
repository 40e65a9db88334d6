/* Any bytes as a .npz archive: an error, or a member that lies inside them and is itself read as
 * .npy. */
#include "data/array.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look_for(const ein_bytes *zip, const char *name) {
  ein_npz_member m;
  ein_array a;
  ein_error err = {0};
  if (ein_npz_find(zip, name, &m, &err) != EIN_OK) {
    if (err.status == EIN_OK || err.text[0] == '\0') abort();
    return;
  }
  if (m.bytes.start > zip->size || m.bytes.size > zip->size - m.bytes.start) abort();
  ein_npz_check(&m, NULL);
  if (ein_npy_header(&m.bytes, &a, NULL) != EIN_OK) return;
  void *dst = malloc((size_t)a.count * 8 + 1);
  if (dst) ein_array_read(&m.bytes, &a, EIN_F64, dst, NULL);
  free(dst);
}

/* Of all that is listed, each lies inside. */
static ein_status listed(
    void *user, const char *name, size_t length, const ein_array *a, const char *other, ein_error *err) {
  const ein_bytes *zip = user;
  (void)err;
  if (!name || other || length > zip->size || a->at > zip->size || (uint64_t)a->bytes > zip->size - a->at) abort();
  return EIN_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  ein_bytes zip;
  ein_error err = {0};
  ein_bytes_from_memory(&zip, "fuzz", data, size);
  look_for(&zip, NULL);
  look_for(&zip, "a");
  if (ein_npz_each(&zip, listed, &zip, &err) != EIN_OK && err.text[0] == '\0') abort();
  return 0;
}
