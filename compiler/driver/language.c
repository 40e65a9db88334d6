/* driver/language.c - the languages between a program and its C: maps file endings to languages, and handles the
 * result of each stage in one place: it is checked, and under --roundtrip replaced by what its text reads back as. */
#include <string.h>

#include "algebra/algebra.h"
#include "driver.h"

/* What all of them have, with the type erased. */
#define LANGUAGE(noun, Type) \
  static void noun##_out(Buf *b, const void *x) { noun##_print(b, x); } \
  static void *noun##_in(Arena *a, Strings *t, Source *src, Diags *d) { return noun##_read(a, t, src, d); } \
  static bool noun##_same(const void *x, const void *y, Buf *why) { return noun##_equal(x, y, why); } \
  static bool noun##_sound(const void *x, Buf *out) { return noun##_check(x, out); }
LANGUAGE(graph, EinGraph)
LANGUAGE(algebra, Algebra)
LANGUAGE(task, TaskGraph)
LANGUAGE(loop, LoopProgram)
#undef LANGUAGE

typedef struct LanguageInfo {
  const char *ending, *what; /* "the tasks" */
  void (*print)(Buf *, const void *);
  void *(*read)(Arena *, Strings *, Source *, Diags *);
  bool (*same)(const void *, const void *, Buf *);
  bool (*sound)(const void *, Buf *);
} LanguageInfo;

#define LANGUAGE(noun) noun##_out, noun##_in, noun##_same, noun##_sound
static const LanguageInfo languages[LANGUAGES] = {
  [LANG_PROGRAM] = {".ein", "the program", NULL, NULL, NULL, NULL},
  [LANG_GRAPH] = {".graph", "the graph", LANGUAGE(graph)},
  [LANG_PLAN] = {".plan", "the plan", NULL, NULL, NULL, NULL},
  [LANG_TRA] = {".tra", "the program over relations", LANGUAGE(algebra)},
  [LANG_IA] = {".ia", "the program over relations", LANGUAGE(algebra)},
  [LANG_TASK] = {".task", "the tasks", LANGUAGE(task)},
  [LANG_LOOP] = {".loop", "the loops", LANGUAGE(loop)},
};
#undef LANGUAGE

Language language_of(const char *path) {
  const char *dot = strrchr(path, '.');
  for (int k = 0; dot && k < LANGUAGES; k++)
    if (strcmp(dot, languages[k].ending) == 0) return (Language)k;
  return LANG_PROGRAM;
}

static void checked(Session *s, Language l, const void *made) {
  Buf why = buf_new(s->arena), text = buf_new(s->arena);
  if (languages[l].sound(made, &why)) return;
  languages[l].print(&text, made);
  bug("%s: not as it should be:\n%s\n%.4000s", languages[l].what, why.s, text.s);
}

static void *reread(Session *s, Language l, const char *path, const void *made) {
  const LanguageInfo *info = &languages[l];
  Buf text = buf_new(s->arena), why = buf_new(s->arena);
  Diags *d = diags_new(s->arena);
  info->print(&text, made);
  void *again = info->read(s->arena, s->strings,
      source_new(s->arena, arena_printf(s->arena, "%s%s", path, info->ending), text.s, text.len), d);
  if (!again || d->errors) {
    diags_text(d, &why, false);
    bug("%s: the text does not read back:\n%s", info->what, why.s);
  }
  if (!info->same(made, again, &why)) bug("%s: the text reads back as another: %s", info->what, why.s);
  checked(s, l, again);
  return again;
}

void *language_made(Session *s, Language l, const char *path, void *made, bool again) {
  checked(s, l, made);
  return again ? reread(s, l, path, made) : made;
}
