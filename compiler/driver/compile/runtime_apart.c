/* driver/compile/runtime_apart.c - finds the runtime that was compiled with us, which is next to us: in a build
 * tree, or installed. */
#include <string.h>
#include <unistd.h>

#include "native.h"
#include "texts.h"

/* It records from which texts it was made. A file from other texts would have other structs. */
static bool is_ours(Session *s, const char *path) {
  const char *why;
  Source *file = access(path, R_OK) == 0 ? source_read(s->arena, path, &why) : NULL;
  return file && memmem(file->bytes, file->len, runtime_mark, strlen(runtime_mark));
}

const char *runtime_apart(Session *s, const char *name) {
  static const char *const folders[] = {"runtime", "../lib/ein"};
  const char *self = program_folder(s);
  for (size_t i = 0; self && i < COUNT(folders); i++) {
    const char *path = arena_printf(s->arena, "%s%s/%s", self, folders[i], name);
    if (is_ours(s, path)) return path;
  }
  return NULL;
}
