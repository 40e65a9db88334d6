/* tests/fuzz/fuzz_task.c - any bytes as tasks or as loops: read or refused with a complaint; and what is sound prints
 * and comes back equal. */
#include <string.h>

#include "schedule/door.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static Source *source_of(Arena *a, const char *s, size_t n) {
  return source_new(a, "fuzz.text", s, n);
}

static void task_back(Arena *a, const TaskGraph *t) {
  Buf text = buf_new(a), again = buf_new(a), why = buf_new(a);
  Diags *d = diags_new(a);
  task_print(&text, t);
  TaskGraph *u = task_read(a, strings_new(a), source_of(a, text.s, text.len), d);
  if (!u) diags_text(d, &why, false);
  if (!u || !task_check(u, &why) || !task_equal(t, u, &why)) bug("%s\n%s", why.s, text.s);
  task_print(&again, u);
  BUG_UNLESS(strcmp(text.s, again.s) == 0);
}

static void loop_back(Arena *a, const LoopProgram *p) {
  Buf text = buf_new(a), again = buf_new(a), why = buf_new(a);
  Diags *d = diags_new(a);
  loop_print(&text, p);
  LoopProgram *q = loop_read(a, strings_new(a), source_of(a, text.s, text.len), d);
  if (!q) diags_text(d, &why, false);
  if (!q || !loop_check(q, &why) || !loop_equal(p, q, &why)) bug("%s\n%s", why.s, text.s);
  loop_print(&again, q);
  BUG_UNLESS(strcmp(text.s, again.s) == 0);
}

static void equations(const TaskGraph *t, const Tasks *list, Buf *out) {
  for (uint32_t i = 0; i < list->len; i++) {
    for (uint32_t k = 0; k < list->at[i]->stages.len; k++) task_equation(out, t, list->at[i], k);
    equations(t, &list->at[i]->body, out);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Arena *a = arena_new();
  Diags *d = diags_new(a);
  Buf out = buf_new(a);
  const char *s = (const char *)data;
  if (size > 4 && memcmp(s, "loop", 4) == 0) {
    LoopProgram *p = loop_read(a, strings_new(a), source_of(a, s, size), d);
    BUG_UNLESS((p == NULL) == (d->errors > 0));
    if (p && loop_check(p, &out)) loop_back(a, p);
    if (p) loop_print(&out, p);
  } else {
    TaskGraph *t = task_read(a, strings_new(a), source_of(a, s, size), d);
    BUG_UNLESS((t == NULL) == (d->errors > 0));
    if (t && task_check(t, &out)) task_back(a, t);
    if (t) task_print(&out, t);
    if (t) equations(t, &t->tasks, &out);
  }
  diags_text(d, &out, false);
  arena_free(a);
  return 0;
}
