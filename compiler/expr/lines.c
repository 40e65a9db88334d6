/* expr/lines.c - the positions in a text of what was read from it. */
#include "lines.h"

const void *line_key(LineKind kind, uint32_t number) {
  return (const void *)((uintptr_t)number * 8 + kind); /* no object of ours has this address */
}

TextLines *lines_new(Arena *a, Span head) {
  return MAKE(a, TextLines, .arena = a, .head = head, .at = map_new(a));
}

void lines_put(TextLines *t, const void *key, Span at) {
  map_put(&t->at, key, arena_copy(t->arena, &at, sizeof at));
}

Span lines_find(const TextLines *t, uint32_t n, const void *const *key) {
  if (!t) return (Span){0};
  for (uint32_t i = 0; i < n; i++) {
    const Span *s = key[i] ? map_find(&t->at, key[i]) : NULL;
    if (s) return *s;
  }
  return t->head;
}

void json_place(Json *j, Place at) {
  if (!at.file) {
    json_null(j, "place");
    return;
  }
  json_object(j, "place");
  json_strn(j, "file", at.file->s, at.file->len);
  json_int(j, "line", at.line);
  json_int(j, "column", at.column);
  json_end(j, '}');
}
