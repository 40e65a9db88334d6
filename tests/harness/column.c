/* tests/harness/column.c - a program down to C, mostly as `ein build` does it; each language between is checked. */
#include <string.h>

#include "harness.h"

EinGraph *front_read(Front *f, Program *p, Arena *a, const char *name, const char *text) {
  DimValues none = {0};
  *f = (Front){.arena = a, .strings = strings_new(a), .exprs = exprs_new(a), .diags = diags_new(a)};
  p->file = parse_file(a, f->strings, source_new(a, name, text, strlen(text)), f->diags);
  bug_where = "graph_from_ast";
  EinGraph *g = f->diags->errors ? NULL : graph_from_ast(f, p, &none);
  bug_where = NULL;
  return f->diags->errors ? NULL : g;
}

void subject_start(Subject *s, Work *w, Arena *a, void *program, uint64_t seed) {
  const char *prefix = arena_printf(a, "p%llu", (unsigned long long)seed);
  *s = (Subject){.w = w, .arena = a, .program = program, .seed = seed, .prefix = prefix, .c = buf_new(a)};
}

bool subject_read(Subject *s, const char *text) {
  s->text = text;
  s->g = front_read(&s->f, &s->p, s->arena, "random.ein", text);
  return s->g;
}

bool subject_rejected(Subject *s) {
  Buf why = buf_new(s->arena);
  diags_text(s->f.diags, &why, false);
  return say(&s->v, "rejected", why.s);
}

static bool text_holds(Subject *s, LoopProgram *l) {
  Buf b = buf_new(s->arena), why = buf_new(s->arena);
  Diags *d = diags_new(s->arena);
  loop_print(&b, l);
  LoopProgram *again = loop_read(s->arena, s->f.strings, source_new(s->arena, "loops", b.s, b.len), d);
  if (!again || d->errors) return diags_text(d, &why, false), say(&s->v, "the loops' text is not read", why.s);
  if (!loop_equal(l, again, &why)) return say(&s->v, "the loops' text reads as another", why.s);
  return true;
}

static bool lower(Subject *s) {
  Buf why = buf_new(s->arena);
  s->low = s->optimise ? graph_optimise(s->arena, s->g, NULL) : graph_values(s->arena, s->g, NULL);
  if (!graph_check(s->low, &why)) return say(&s->v, "graph_check of what is optimised", why.s);
  TaskGraph *t = task_from_graph(s->arena, s->low, false);
  if (!task_check(t, &why)) return say(&s->v, "task_check", why.s);
  LoopProgram *l = loop_from_task(t, s->target);
  if (!loop_check(l, &why)) return say(&s->v, "loop_check", why.s);
  if (s->seed % 8 == 1 && !text_holds(s, l)) return false;
  emit_c(&s->c, l,
      &(EmitOptions){.prefix = s->prefix,
          .source = "random.ein",
          .version = "0",
          .hash = s->seed,
          .worth_threads = s->seed % 3 ? 0 : 1000});
  return true;
}

bool subject_make(Subject *s, Work *w, Arena *a, void *program, uint64_t seed) {
  subject_start(s, w, a, program, seed);
  if (!w->test->graph(s)) return false;
  bug_where = "a random program";
  bool ok = lower(s);
  bug_where = NULL;
  return ok;
}
