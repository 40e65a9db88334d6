/* driver/runtime_files.c - the runtime's sources, which emitted C includes: where they lie, and which of them a text
 * needs. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "native.h"

const char *const runtime_program[] = {"program.c", "array.c", "bytes.c", "convert.c",  "ein_base.c",    "ein_rng.c", "half.c",
                                       "npy.c",     "npz.c",   "number.c", "out.c",     "raw.c",         "safetensors.c",
                                       "source.c",  NULL};

const char *runtime_find(Session *s) {
  const char *at = folder_beside(s->arena, "EIN_RUNTIME", "runtime", "ein_run.h");
  if (!at) fail(s, LEAVE_MACHINE, "the runtime's sources are not found; set EIN_RUNTIME to the folder of ein_run.h");
  return at;
}

/* When a file was written; 0: it is not there. */
static int64_t written(const char *path) {
  struct stat st;
  return stat(path, &st) == 0 ? (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec : 0;
}

/* In a build tree the sources may have been edited since; and another folder may hold those of another version. */
const char *runtime_object(Session *s, const char *folder, const Words *needed) {
  static const char name[] = "ein_rt_apart.so";
  const char *said = getenv("EIN_RUNTIME"), *self = program_folder(s->arena), *at;
  if ((said && *said) || !self) return NULL;
  at = arena_printf(s->arena, "%s../lib/ein/%s", self, name);
  if (access(at, R_OK) == 0 && !written(arena_printf(s->arena, "%sein.source", self))) return at;
  at = arena_printf(s->arena, "%sruntime/%s", self, name);
  int64_t made = written(at);
  for (uint32_t i = 0; i < needed->len; i++)
    if (written(arena_printf(s->arena, "%s/%s", folder, needed->at[i])) > made) return NULL;
  return made ? at : NULL;
}

Leave runtime_read(Session *s, const char *folder, const char *name, const char **text, size_t *len) {
  const char *why, *path = arena_printf(s->arena, "%s/%s", folder, name);
  Source *src = source_read(s->arena, path, &why);
  if (!src) return fail(s, LEAVE_MACHINE, "cannot read %s: %s", path, why);
  *text = src->bytes;
  *len = src->len;
  return LEAVE_OK;
}

static int by_name(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void include_found(Session *s, Words *all, const char *name, size_t len) {
  const char *one = arena_printf(s->arena, "%.*s", (int)len, name);
  for (uint32_t i = 0; i < all->len; i++)
    if (strcmp(all->at[i], one) == 0) return;
  vec_push(s->arena, *all, one);
}

/* Lines `#include "NAME"`, wherever they stand. */
static void includes_of(Session *s, Words *all, const char *text) {
  for (const char *at = strstr(text, "#include \""); at; at = strstr(at, "#include \"")) {
    at += 10;
    size_t n = strcspn(at, "\"\n");
    if (at[n] == '"') include_found(s, all, at, n);
  }
}

Leave runtime_needed(Session *s, const char *folder, const char *text, Words *out) {
  *out = (Words){0};
  includes_of(s, out, text);
  for (uint32_t i = 0; i < out->len; i++) { /* the list grows as it is walked */
    const char *more = "";
    size_t len;
    Leave l = runtime_read(s, folder, out->at[i], &more, &len);
    if (l) return l;
    includes_of(s, out, more);
  }
  if (out->len) qsort(out->at, out->len, sizeof *out->at, by_name);
  return LEAVE_OK;
}
