/* driver/data/outputs.c - -o: which output goes to which file. Outputs in the same .safetensors file are written
 * together. All errors that can be found before the computation are reported before it. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "checkpoint.h"

/* "w.safetensors:layer0" has a key; otherwise the key is the output's name. A device gets the bare elements, unless
 * its name says more. */
static bool target_path(Session *s, Target *t, const char *path) {
  const char *member = strstr(path, ".safetensors:");
  t->path = path;
  t->key = t->name->s;
  if (member) {
    t->path = arena_printf(s->arena, "%.*s", (int)(member - path) + 12, path);
    t->key = member + 13;
  }
  if (ein_ends_in(t->path, ".npy") || ein_ends_in(t->path, ".raw") || ein_ends_in(t->path, ".bin") ||
      ein_ends_in(t->path, ".safetensors") || file_is_device(t->path))
    return true;
  fail(s, LEAVE_USAGE, "-o %s: what kind of file is that? outputs go to .npy, .raw or .safetensors",
       path);
  return false;
}

static Leave target_add(Session *s, Targets *out, Str name, const char *path) {
  Target t = {.name = name};
  if (!target_path(s, &t, path)) return LEAVE_USAGE;
  vec_each(const Target, o, *out) {
    if (strcmp(o->path, t.path) == 0 && !file_is_device(t.path) &&
        (!ein_ends_in(t.path, ".safetensors") || strcmp(o->key, t.key) == 0))
      return fail(s, LEAVE_USAGE, "-o: %s and %s would go to the same place, %s", o->name->s, t.name->s,
                  path);
  }
  if (!file_writable(s, t.path)) return LEAVE_MACHINE;
  vec_push(s->arena, *out, t);
  return LEAVE_OK;
}

/* all=DIR/: each as DIR/NAME.npy; all=FILE.safetensors: each under its name; all=/dev/null: each there. */
static Leave targets_all(Session *s, const EinGraph *g, Targets *out, const char *path) {
  bool one = ein_ends_in(path, ".safetensors") || file_is_device(path);
  size_t n = strlen(path);
  while (n > 1 && path[n - 1] == '/') n--;
  const char *folder = arena_printf(s->arena, "%.*s", (int)n, path);
  int stem = (int)n - 4;
  if (!one && ein_takes_no_all(path))
    return fail(s, LEAVE_USAGE, "-o all=%s: all outputs go to a folder, all=%.*s/, or into one file, "
        "all=%.*s.safetensors", path, stem, path, stem, path);
  if (!one && mkdir(folder, 0777) != 0 && errno != EEXIST)
    return fail(s, LEAVE_MACHINE, "cannot make the folder %s: %s", folder, strerror(errno));
  for (uint32_t i = 0; i < g->outputs.len; i++) {
    Str name = g->outputs.at[i].name;
    Leave l = target_add(s, out, name, one ? path : arena_printf(s->arena, "%s/%s.npy", folder, name->s));
    if (l) return l;
  }
  return LEAVE_OK;
}

static Leave word_take(Session *s, const EinGraph *g, Targets *out, const char *word) {
  Str name;
  const char *path;
  if (!word_split(s, word, &name, &path)) {
    if (g->outputs.len == 1) return target_add(s, out, g->outputs.at[0].name, word);
    return fail(s, LEAVE_USAGE, "-o %s: which output? say -o NAME=%s%s%s", word, word,
        ein_ends_in(word, ".safetensors") ? ", or for all in this file -o all=" : "",
        ein_ends_in(word, ".safetensors") ? word : "");
  }
  if (graph_output_find(g, name)) return target_add(s, out, name, path);
  if (strcmp(name->s, "all") == 0) return targets_all(s, g, out, path);
  Words all = {0};
  for (uint32_t i = 0; i < g->outputs.len; i++) vec_push(s->arena, all, g->outputs.at[i].name->s);
  return name_unknown(s, "-o: the program has no output", name->s, &all);
}

Leave targets_find(Session *s, const EinGraph *g, const Args *a, Targets *out) {
  for (uint32_t i = 0; i < a->given[OPT_OUTPUT].len; i++) {
    Leave l = word_take(s, g, out, a->given[OPT_OUTPUT].at[i]);
    if (l) return l;
  }
  return LEAVE_OK;
}

/* In a file of several tensors an output has the names that the program states for it, unless the command line has
 * one. */
void targets_stored(const Job *j, Targets *t) {
  vec_each(Target, x, *t)
    if (j->program && x->key == x->name->s && ein_ends_in(x->path, ".safetensors"))
      x->stored = program_stored(j->program, x->name);
}

bool targets_have(const Targets *t, Str name) {
  for (uint32_t i = 0; i < t->len; i++)
    if (t->at[i].name == name) return true;
  return false;
}

/* ---- writing -------------------------------------------------------------------------------- */

static Leave wrote(Session *s, ein_status st, const ein_error *e, const char *what,
                   const char *path) {
  if (st != EIN_OK) return fail(s, status_leave(st), "output %s: %s", what, e->text);
  detail(s, "%s is written to %s", what, path);
  return LEAVE_OK;
}

static Leave write_one(Session *s, const Eval *e, const Target *t) {
  const EvalArray *x = eval_output_find(e, t->name);
  ein_error err = {0};
  ein_status st =
      ein_ends_in(t->path, ".npy")
          ? ein_npy_write(t->path, (ein_dtype)x->dtype, (int)x->rank, x->shape, x->data, &err)
          : ein_raw_write(t->path, (ein_dtype)x->dtype, (int)x->rank, x->shape, x->data, &err);
  return wrote(s, st, &err, t->name->s, t->path);
}

static void stored_add(Session *s, const AstStored *how, const EvalArray *x, NamedTensors *out) {
  const int64_t *low = NEW_ARRAY(s->arena, int64_t, x->rank + 1);
  const ein_block whole = {
      (ein_dtype)x->dtype, (ein_dtype)x->dtype, (int)x->rank, x->shape, low, x->shape, x->data};
  const uint32_t first = out->len;
  stored_tensors(s, how, x->dtype, x->rank, x->shape, out);
  for (uint32_t i = first; i < out->len; i++) {
    ein_block own = {0};
    if (stored_block(s, how, &whole, i - first, &own)) out->at[i].tensor.data = (void *)(uintptr_t)own.data;
  }
}

/* Writes all outputs for the same .safetensors file as target k, which is the first of them. */
static Leave write_together(Session *s, const Eval *e, const Targets *t, uint32_t k) {
  NamedTensors list = {0};
  for (uint32_t i = k; i < t->len; i++) {
    if (strcmp(t->at[i].path, t->at[k].path) != 0) continue;
    const EvalArray *x = eval_output_find(e, t->at[i].name);
    const ein_named_tensor one = {t->at[i].key,
        {.data = x->data, .device_type = 1, .ndim = (int32_t)x->rank, .dtype = (ein_dtype)x->dtype, .shape = x->shape}};
    if (t->at[i].stored) stored_add(s, t->at[i].stored, x, &list);
    else vec_push(s->arena, list, one);
  }
  ein_error err = {0};
  return wrote(s, ein_safetensors_write(t->at[k].path, list.len, list.at, &err), &err, t->at[k].name->s,
               t->at[k].path);
}

static bool first_to(const Targets *t, uint32_t k) {
  for (uint32_t i = 0; i < k; i++)
    if (strcmp(t->at[i].path, t->at[k].path) == 0) return false;
  return true;
}

Leave targets_write(Session *s, const Eval *e, const Targets *t) {
  for (uint32_t k = 0; k < t->len; k++) {
    Leave l = LEAVE_OK;
    if (s->ranks && !file_is_device(t->at[k].path)) continue; /* all have written their blocks */
    if (!ein_ends_in(t->at[k].path, ".safetensors"))
      l = write_one(s, e, &t->at[k]);
    else if (first_to(t, k))
      l = write_together(s, e, t, k);
    if (l) return l;
  }
  return LEAVE_OK;
}
