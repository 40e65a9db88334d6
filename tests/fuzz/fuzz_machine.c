/* tests/fuzz/fuzz_machine.c - any bytes as a machine file: read or refused with a complaint; and what is sound prints
 * and comes back equal. */
#include <string.h>

#include "plan/machine.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Arena *a = arena_new();
  Diags *d = diags_new(a);
  Buf out = buf_new(a), text = buf_new(a), why = buf_new(a);
  Machine *m = machine_read(a, source_new(a, "fuzz.json", (const char *)data, size), d);
  BUG_UNLESS((m == NULL) == (d->errors > 0));
  bool sound = m && machine_check(m, d);
  diags_text(d, &out, false);
  if (sound) {
    machine_print(&text, m);
    Machine *n = machine_read(a, source_new(a, "again.json", text.s, text.len), d);
    if (!n || !machine_equal(m, n, &why)) bug("%s\n%s", why.s, text.s);
  }
  arena_free(a);
  return 0;
}
