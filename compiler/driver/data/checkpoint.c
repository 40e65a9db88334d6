/* driver/data/checkpoint.c - finds the files of --params. In: its argument; out: a Checkpoint: the names and places of
 * its tensors. Each file is read by its format's reader; this file handles several: which belong to a folder or an
 * index, and that each name is in one of them. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "checkpoint.h"
#include "driver/table.h"

typedef struct Listing {
  Session *s;
  Checkpoint *out;
  const char *file;
  const Map *of;   /* for an index: the file of each name; NULL: all names are taken */
  bool twice;      /* a name in two files was reported */
} Listing;

static ein_status tensor_seen(
    void *user, const char *name, size_t length, const ein_stored *at, const char *other, ein_error *err) {
  Listing *l = user;
  Arena *a = l->s->arena;
  Str n = str_of(l->s->strings, name, length);
  const Stored *there = map_find(&l->out->by_name, n);
  if (l->of && map_find(l->of, n) != l->file) return EIN_OK;
  if (there) {
    (void)err;
    l->twice = true;
    if (there->file == l->file)
      fail(l->s, LEAVE_PROGRAM, "--params %s: %s holds two tensors called %s", l->out->path, l->file, shown(a, n->s));
    else
      fail(l->s, LEAVE_PROGRAM, "--params %s: %s is in %s and in %s; name one of them, or an index that tells which",
          l->out->path, shown(a, n->s), there->file, l->file);
    return EIN_ERR_ARG;
  }
  Stored *x = MAKE(a, Stored, .name = n, .file = l->file, .other = other ? arena_printf(a, "%s",
      other) : NULL, .at = *at);
  vec_push(a, l->out->all, x);
  map_put(&l->out->by_name, n, x);
  return EIN_OK;
}

static Leave file_list(Session *s, Checkpoint *c, const char *file, const Map *of) {
  Listing l = {.s = s, .out = c, .file = file, .of = of};
  ein_error err = {0};
  ein_status st = ein_stored_each(file, tensor_seen, &l, &err);
  if (l.twice) return LEAVE_PROGRAM;
  return st == EIN_OK ? LEAVE_OK : fail(s, status_leave(st), "--params %s: %s", c->path, err.text);
}

/* ---- an index: which name is in which file ----------------------------------------------------------------------- */

static Leave index_bad(Session *s, const char *path, const char *what) {
  return fail(s, LEAVE_PROGRAM, "%s: this index cannot be used: %s", path, what);
}

static Leave index_names(Session *s, const char *path, const JsonValue *v, Map *of, Words *files) {
  const JsonValue *map = json_member(v, "weight_map");
  Map seen = map_new(s->arena);
  if (!map || map->kind != JSON_OBJECT)
    return index_bad(s, path, "it has no object `weight_map` that says in which file each tensor is");
  vec_each(const JsonMember, m, map->members) {
    const char *file = m->value->kind == JSON_STRING ? m->value->text : NULL;
    if (!file || !ein_ends_in(file, ".safetensors") || strchr(file, '/'))
      return index_bad(
          s, path, arena_printf(s->arena, "the file of %s is no .safetensors beside it", shown(s->arena, m->name)));
    Str key = str_from(s->strings, file);
    const char *whole = map_find(&seen, key);
    if (!whole) {
      whole = arena_printf(s->arena, "%s/%s", folder_of(s->arena, path), file);
      map_put(&seen, key, (void *)(uintptr_t)whole);
      vec_push(s->arena, *files, whole);
    }
    map_put(of, str_from(s->strings, m->name), (void *)(uintptr_t)whole);
  }
  return LEAVE_OK;
}

static Leave index_open(Session *s, Checkpoint *c, const char *path) {
  const char *why;
  Source *src = source_read(s->arena, path, &why);
  if (!src) return fail(s, LEAVE_MACHINE, "%s: cannot read it: %s", path, why);
  const JsonValue *v = json_read(s->arena, src, s->diags);
  if (!v) return session_report(s);
  Map of = map_new(s->arena);
  Words files = {0};
  Leave l = index_names(s, path, v, &of, &files);
  struct stat st;
  for (uint32_t i = 0; i < files.len && !l; i++) {
    if (stat(files.at[i], &st) != 0)
      l = fail(s, LEAVE_MACHINE, "%s: the index names %s, which is not there", path, files.at[i]);
    if (!l) l = file_list(s, c, files.at[i], &of);
  }
  const JsonValue *map = json_member(v, "weight_map");
  for (uint32_t i = 0; !l && i < map->members.len; i++) {
    Str n = str_from(s->strings, map->members.at[i].name);
    if (!map_find(&c->by_name, n))
      l = index_bad(s, path,
          arena_printf(s->arena, "it says that %s is in %s, and it is not", shown(s->arena, n->s),
              (const char *)map_find(&of, n)));
  }
  return l;
}

/* ---- a folder ---------------------------------------------------------------------------------------------------- */

static int by_text(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static Words files_ending(Session *s, const char *folder, const Words *all, const char *ending) {
  Words w = {0};
  size_t n = strlen(folder);
  for (uint32_t i = 0; i < all->len; i++)
    if (ein_ends_in(all->at[i], ending))
      vec_push(s->arena, w, arena_printf(s->arena, "%s%s%s", folder, folder[n - 1] == '/' ? "" : "/", all->at[i]));
  if (w.len) qsort(w.at, w.len, sizeof *w.at, by_text);
  return w;
}

/* Of "model-00002-of-00003.safetensors": 3, and where the first number begins; 0: the file is not a shard. */
static int64_t shards_of(const char *file, const char **number) {
  const char *at = file + strlen(file) - strlen(".safetensors"), *of;
  int64_t n;
  for (of = at; of > file && of[-1] >= '0' && of[-1] <= '9';) of--;
  if (!int64_read(of, (size_t)(at - of), &n) || of - file < 4 || strncmp(of - 4, "-of-", 4) != 0) return 0;
  for (at = of - 4; at > file && at[-1] >= '0' && at[-1] <= '9';) at--;
  *number = at;
  return at < of - 4 && at > file && at[-1] == '-' ? n : 0;
}

/* The first shard that belongs to one of these files and is none of them; NULL: there is none. */
static const char *shard_lacking(Session *s, const Words *file) {
  Map there = map_new(s->arena);
  const char *number;
  for (uint32_t i = 0; i < file->len; i++)
    map_put(&there, str_from(s->strings, file->at[i]), (void *)(uintptr_t)file->at[i]);
  for (uint32_t i = 0; i < file->len; i++) {
    int64_t n = shards_of(file->at[i], &number);
    for (int64_t k = 1; k <= n; k++) {
      const char *other = arena_printf(s->arena, "%.*s%0*lld%s", (int)(number - file->at[i]), file->at[i],
          (int)(strstr(number, "-of-") - number), (long long)k, strstr(number, "-of-"));
      if (!map_find(&there, str_from(s->strings, other))) return other;
    }
  }
  return NULL;
}

static Leave files_list(Session *s, Checkpoint *c, const Words *file) {
  Leave l = LEAVE_OK;
  for (uint32_t i = 0; i < file->len && !l; i++) l = file_list(s, c, file->at[i], NULL);
  if (!l && file->len && ein_ends_in(file->at[0], ".safetensors")) c->lacks = shard_lacking(s, file);
  return l;
}

static Leave folder_open(Session *s, Checkpoint *c) {
  Words all = folder_files(s->arena, c->path);
  Words index = files_ending(s, c->path, &all, ".safetensors.index.json"),
        file = files_ending(s, c->path, &all, ".safetensors");
  if (index.len > 1)
    return fail(s, LEAVE_USAGE, "--params %s: it has several indices, as %s and %s; name one of them", c->path,
        index.at[0], index.at[1]);
  if (index.len) return index_open(s, c, index.at[0]);
  if (!file.len) file = files_ending(s, c->path, &all, ".npz");
  if (!file.len) return fail(s, LEAVE_USAGE, "--params %s: this folder has no .safetensors or .npz file", c->path);
  return files_list(s, c, &file);
}

Leave checkpoint_open(Session *s, const char *path, Checkpoint *out) {
  struct stat st;
  const Words one = {.at = &path, .len = 1};
  *out = (Checkpoint){.path = path, .by_name = map_new(s->arena)};
  if (stat(path, &st) == 0 && S_ISDIR(st.st_mode)) return folder_open(s, out);
  if (ein_ends_in(path, ".index.json")) return index_open(s, out, path);
  if (ein_ends_in(path, ".safetensors") || ein_ends_in(path, ".npz")) return files_list(s, out, &one);
  return fail(s, LEAVE_USAGE,
      "--params wants a .safetensors or .npz file, a .safetensors.index.json, or a folder with them, not %s", path);
}
