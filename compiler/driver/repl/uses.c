/* driver/repl/uses.c - which file a `use "..."` means: relative to the folder of the program that says so, as for
 * ein run; and how a program elsewhere names the same file. */
#include <string.h>

#include "repl.h"

const char *uses_folder(Arena *a, const char *path) {
  const char *said = folder_of(a, path), *folder = path_real(a, said), *file = path_real(a, path);
  if (!folder || !file || strcmp(folder_of(a, file), folder) == 0) return said;
  return folder_of(a, file);
}

/* The path from a folder to a file, both real paths. */
static const char *path_between(Arena *a, const char *folder, const char *file) {
  const char *from = strcmp(folder, "/") == 0 ? folder : arena_printf(a, "%s/", folder);
  size_t same = 0;
  for (size_t i = 0; from[i] && from[i] == file[i]; i++)
    if (from[i] == '/') same = i + 1;
  Buf b = buf_new(a);
  for (const char *up = from + same; *up; up++)
    if (*up == '/') buf_str(&b, "../");
  buf_str(&b, file + same);
  return b.s;
}

const char *use_seen_from(Arena *a, const Entry *e, const char *folder) {
  if (!e->module || *e->module == '/') return e->text;
  const char *to = path_real(a, folder), *from = path_real(a, e->folder);
  const char *file = from ? path_real(a, arena_printf(a, "%s/%s", from, e->module)) : NULL;
  if (!to || !file || strcmp(to, from) == 0) return e->text;
  return arena_printf(a, "use \"%s\"", path_between(a, to, file));
}
