/* driver/repl/program.c - :load x.ein: adds a program's statements to a separate sheet, which replaces the session's
 * once all of them fit: all or none, and one step for :undo. Then outputs are shown; those whose inputs or sizes
 * have no value yet get a message. */
#include <string.h>

#include "repl.h"

struct Loading {
  Prompt was;                /* as before it, */
  bool **output;             /* with what each of its sheet's entries said of its names */
  Texts outputs;             /* to be shown */
};

static void loading_begin(Prompt *p, const char *path) {
  Arena *a = p->out->arena;
  Loading *l = MAKE(a, Loading, .was = *p, .output = NEW_ARRAY(a, bool *, p->sheet->n + 1));
  for (uint32_t i = 0; i < p->sheet->n; i++) {
    const Entry *e = p->sheet->at[i];
    l->output[i] = arena_copy(a, e->output, (e->n_names + 1) * sizeof *e->output);
  }
  p->sheet = sheet_apart(p->sheet);
  p->file = path;
  p->folder = uses_folder(a, path);
  p->line = 1;
  p->talks = false;
  p->loading = l;
}

/* Entries shared with the previous sheet may have been computed with definitions that were not taken. */
static void sheet_restore(const Loading *l, Sheet *s, Sheet *made) {
  for (uint32_t i = 0; i < s->n; i++) memcpy(s->at[i]->output, l->output[i], s->at[i]->n_names * sizeof *l->output[i]);
  sheet_forget_apart(s, made);
}

static void loading_end(Prompt *p, bool taken) {
  const Loading *l = p->loading;
  Sheet *made = p->sheet;
  p->sheet = l->was.sheet;
  p->file = l->was.file;
  p->folder = l->was.folder;
  p->line = l->was.line;
  p->talks = l->was.talks;
  p->loading = NULL;
  if (!taken) sheet_restore(l, p->sheet, made);
  else if (made->depth) p->sheet = sheet_over(p->sheet, made);
  sheet_end(made);
}

void loading_output(Prompt *p, const char *name) {
  Arena *a = p->out->arena;
  Texts *all = &p->loading->outputs;
  for (uint32_t i = 0; i < all->len; i++)
    if (strcmp(all->at[i], name) == 0) return;
  vec_push(a, *all, arena_printf(a, "%s", name));
}

void loading_drop(Prompt *p) {
  if (p->loading) loading_end(p, false);
}

Leave prompt_load(Prompt *p, const char *path) {
  const char *why;
  if (!*path) return fail(p->s, LEAVE_USAGE, ":load wants a file: :load x.ein");
  if (strcmp(path, "-") == 0)
    return fail(p->s, LEAVE_USAGE,
        "standard input is where the prompt's own lines come from: :load wants a file, as in :load x.ein");
  const Source *src = source_read(p->out->arena, path, &why);
  if (!src) return fail(p->s, LEAVE_MACHINE, "cannot read %s: %s", path, why);
  loading_begin(p, path);
  Leave l = prompt_pieces(p, src->bytes, src->len);
  Texts outputs = p->loading->outputs;
  loading_end(p, l == LEAVE_OK);
  for (uint32_t i = 0; i < outputs.len && !l; i++) l = prompt_output(p, outputs.at[i]);
  return l;
}
