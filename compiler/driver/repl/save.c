/* driver/repl/save.c - a session as a program: its statements, each before its users. Loaded values stay in their
 * files, which a comment `# run:` names, as ein run --expect and ein verify read it. Statements that no longer fit,
 * because an operand was redefined, become comments. */
#include <string.h>

#include "repl.h"

/* ---- statements that no longer fit --------------------------------------------------------------- */

static Leave elaborate(Query *q, const Texts *names) {
  Leave l = query_program(q, names, NULL);
  return l ? l : query_graph(q);
}

static bool names_fit(Prompt *p, const Texts *names) {
  Session quiet = *p->s;
  Query q;
  quiet.capture = true;
  query_begin(&q, &quiet, &p->args, p->sheet);
  Leave l = elaborate(&q, names);
  query_end(&q);
  return l == LEAVE_OK;
}

/* If a module cannot be read nothing fits, and no statement is to blame. */
static Entries misfits(Arena *a, Prompt *p, const Entries *all, const Texts *names) {
  Entries out = {0};
  const Texts none = {0};
  if (names_fit(p, names) || !names_fit(p, &none)) return out;
  vec_each_of(Entry, e, *all) {
    Texts own = {e->name, e->n_names, e->n_names};
    if (e->kind == STMT_ASSERT) own = sheet_uses(a, p->sheet, e->used, e->n_used);
    if (e->kind != STMT_USE && !names_fit(p, &own)) vec_push(a, out, e);
  }
  return out;
}

static void misfit_write(Prompt *p, Buf *b, const Entry *e, const char *path) {
  buf_str(b, "# This does not fit what it uses any more:\n# ");
  for (const char *c = e->text; *c; c++) {
    buf_char(b, *c);
    if (*c == '\n') buf_str(b, "# ");
  }
  buf_char(b, '\n');
  const char *what = e->n_names ? e->name[0] : "an assert";
  if (strcmp(path, "-") != 0)
    buf_printf(p->out, "%s does not fit what it uses any more: in %s it is a comment\n", what, path);
}

/* Checks it for anything else: a module may be where a program there does not find it. */
static void saved_check(Prompt *p, const char *path) {
  Session quiet = *p->s;
  Query q;
  if (file_is_device(path) || language_of(path) != LANG_PROGRAM) return;
  quiet.capture = true;
  query_begin(&q, &quiet, &p->args, p->sheet);
  if (job_compile(&q.s, &q.job, &p->args, path))
    buf_printf(p->out, "%s is saved, but is no program that runs: %s\n", path,
        q.s.captured.len ? q.s.captured.at[0] : "ein check says why");
  query_end(&q);
}

/* ---- the program --------------------------------------------------------------------------------- */

/* Whether a statement of the program uses it. */
static bool is_used(const Sheet *s, const Entries *out, const Entry *e, const char *name) {
  for (uint32_t i = 0; i < s->n; i++)
    for (uint32_t k = 0; k < s->at[i]->n_used && !entries_have(out, s->at[i]); k++)
      if (s->at[i] != e && strcmp(s->at[i]->used[k].name, name) == 0) return true;
  return false;
}

static bool says_output(const Entry *e) {
  return strncmp(e->text, "output", 6) == 0;
}

static bool has_output(const Entry *e) {
  for (uint32_t k = 0; k < e->n_names; k++)
    if (e->output[k]) return true;
  return false;
}

/* If no output was stated, what nothing else uses becomes one: for an equation, and for a repeat's results except
 * its counter. */
static bool is_last(const Sheet *s, const Entries *out, const Entry *e, uint32_t k) {
  bool counter = e->kind == STMT_REPEAT && k == 0;
  return (e->kind == STMT_EQUATION || e->kind == STMT_REPEAT) && !counter && *e->name[k] != '_' &&
      !is_used(s, out, e, e->name[k]);
}

static void outputs_write(Buf *b, const Sheet *s, const Entries *out) {
  bool any = false;
  for (uint32_t i = 0; i < s->n; i++) any |= has_output(s->at[i]) && !entries_have(out, s->at[i]);
  const char *sep = "output ";
  for (uint32_t i = 0; i < s->n; i++) {
    const Entry *e = s->at[i];
    if (entries_have(out, e) || says_output(e)) continue;
    for (uint32_t k = 0; k < e->n_names; k++) {
      if (any ? !e->output[k] : !is_last(s, out, e, k)) continue;
      buf_printf(b, "%s%s", sep, e->name[k]);
      sep = ", ";
    }
  }
  if (*sep == ',') buf_char(b, '\n');
}

/* A SOURCE as one word: values are written without blanks. */
static void source_write(Buf *b, const char *source) {
  for (; *source; source++)
    if (*source != ' ' && *source != '\t') buf_char(b, *source);
}

/* The words that give ein run the loaded values; returns whether there are any. */
static bool runs_write(Buf *b, const char *begin, const Sheet *s, const Entries *out) {
  bool any = false;
  for (uint32_t i = 0; i < s->n; i++) {
    if (!s->at[i]->source || entries_have(out, s->at[i])) continue;
    buf_printf(b, "%s %s=", any ? "" : begin, s->at[i]->name[0]);
    if (*s->at[i]->source == '[') source_write(b, s->at[i]->source);
    else buf_str(b, s->at[i]->source);
    any = true;
  }
  if (any) buf_char(b, '\n');
  return any;
}

static void run_tell(Prompt *p, const Entries *out, const char *path) {
  Buf b = buf_new(p->out->arena);
  if (!runs_write(&b, "", p->sheet, out)) buf_char(&b, '\n');
  buf_printf(p->out, "to run it: ein run %s%s", path, b.s);
}

Leave prompt_save(Prompt *p, const char *path) {
  Arena *a = arena_new();
  Buf b = buf_new(a);
  Texts names = {0};
  const char *circle;
  vec_each_of(const Entry, e, ((Entries){p->sheet->at, p->sheet->n, p->sheet->n})) /* a counter comes with its states */
    for (uint32_t k = e->kind == STMT_REPEAT && e->n_names > 1; k < e->n_names; k++) vec_push(a, names, e->name[k]);
  Entries all = sheet_needs(a, p->sheet, &names, WHOLE, &circle), out = misfits(a, p, &all, &names);
  runs_write(&b, "# run:", p->sheet, &out);
  for (uint32_t i = 0; i < all.len; i++)
    if (entries_have(&out, all.at[i])) misfit_write(p, &b, all.at[i], path);
    else buf_printf(&b, "%s\n", use_seen_from(a, all.at[i], uses_folder(a, path)));
  for (uint32_t i = 0; i < p->sheet->n; i++)
    if (p->sheet->at[i]->kind == STMT_LIMITS) buf_printf(&b, "%s\n", p->sheet->at[i]->text);
  outputs_write(&b, p->sheet, &out);
  if (strcmp(path, "-") == 0) return buf_add(p->out, b.s, b.len), arena_free(a), LEAVE_OK; /* as an answer's text */
  Leave l = file_write(p->s, path, b.s, b.len);
  if (l) p->out->len = 0; /* nothing is saved */
  else {
    saved_check(p, path);
    if (p->talks) run_tell(p, &out, path);
  }
  arena_free(a);
  return l;
}
