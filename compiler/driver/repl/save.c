/* driver/repl/save.c - a session as a program: its statements, each before what uses it. Values that were loaded stay in their files,
 * which a comment `# run:` names, as ein run --expect and ein verify read it. */
#include <string.h>

#include "repl.h"

static bool is_used(const Sheet *s, const Entry *e) {
  for (uint32_t i = 0; i < s->n; i++)
    for (uint32_t k = 0; k < s->at[i]->n_used; k++)
      for (uint32_t n = 0; n < e->n_names; n++)
        if (s->at[i] != e && strcmp(s->at[i]->used[k].name, e->name[n]) == 0) return true;
  return false;
}

static bool says_output(const Entry *e) {
  return strncmp(e->text, "output", 6) == 0;
}

/* If nothing was said to be an output, what nothing else uses is. */
static void outputs_write(Buf *b, const Sheet *s) {
  bool any = false;
  for (uint32_t i = 0; i < s->n; i++) any |= s->at[i]->output;
  const char *sep = "output ";
  for (uint32_t i = 0; i < s->n; i++) {
    const Entry *e = s->at[i];
    if (any ? !e->output || says_output(e) : e->kind != STMT_EQUATION || is_used(s, e)) continue;
    if (e->kind == STMT_REPEAT) continue;
    buf_printf(b, "%s%s", sep, e->name[0]);
    sep = ", ";
  }
  if (*sep == ',') buf_char(b, '\n');
}

static void runs_write(Buf *b, const Sheet *s) {
  const char *sep = "# run: ";
  for (uint32_t i = 0; i < s->n; i++) {
    if (!s->at[i]->source) continue;
    buf_printf(b, "%s%s=%s", sep, s->at[i]->name[0], s->at[i]->source);
    sep = " ";
  }
  if (*sep == ' ') buf_char(b, '\n');
}

Leave prompt_save(Prompt *p, const char *path) {
  Arena *a = arena_new();
  Buf b = buf_new(a);
  Texts names = {0};
  const char *circle;
  for (uint32_t i = 0; i < p->sheet->n; i++)
    for (uint32_t k = 0; k < p->sheet->at[i]->n_names; k++) vec_push(a, names, p->sheet->at[i]->name[k]);
  Entries all = sheet_needs(a, p->sheet, &names, &circle);
  runs_write(&b, p->sheet);
  for (uint32_t i = 0; i < all.len; i++) buf_printf(&b, "%s\n", use_seen_from(a, all.at[i], uses_folder(a, path)));
  for (uint32_t i = 0; i < p->sheet->n; i++)
    if (p->sheet->at[i]->kind == STMT_LIMITS) buf_printf(&b, "%s\n", p->sheet->at[i]->text);
  outputs_write(&b, p->sheet);
  Leave l = file_write(p->s, path, b.s, b.len);
  arena_free(a);
  return l;
}
