/* tests/kernel/build.c - a program down to C, and several of them as one shared object. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernels.h"

bool say(Judgement *v, const char *what, const char *detail) {
  snprintf(v->what, sizeof v->what, "%s", what);
  snprintf(v->detail, sizeof v->detail, "%s", detail ? detail : "");
  return false;
}

/* ---- down the column ---------------------------------------------------------------------------- */

static bool graph_make(Subject *s) {
  Arena *a = s->arena;
  DimValues none = {0};
  s->text = case_text(a, s->c);
  s->f = (Front){.arena = a, .strings = strings_new(a), .exprs = exprs_new(a), .diags = diags_new(a)};
  s->p.file = parse_file(a, s->f.strings, source_new(a, "kernel.ein", s->text, strlen(s->text)), s->f.diags);
  s->g = s->f.diags->errors ? NULL : graph_from_ast(&s->f, &s->p, &none);
  if (s->g && !s->f.diags->errors) return true;
  Buf why = buf_new(a);
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

/* Mostly as `ein build` does it. */
static bool lower(Subject *s) {
  static const LoopTarget targets[] = {{64, 32, 0, 0, 0, 0, 0},          {64, 32, 0, 0, 8192, 16, 32},     {64, 32, 4096, 128, 16, 32, 16},
                                       {32, 16, 0, 0, 0, 0, 0}, {16, 32, 0, 1024, 65536, 0, 0}};
  Buf why = buf_new(s->arena);
  EinGraph *low = s->c->seed % 5 ? graph_optimise(s->arena, s->g, NULL) : s->g;
  if (!graph_check(low, &why)) return say(&s->v, "graph_check of what is optimised", why.s);
  TaskGraph *t = task_from_graph(s->arena, low);
  if (!task_check(t, &why)) return say(&s->v, "task_check", why.s);
  LoopProgram *l = loop_from_task(t, &targets[s->c->seed / 5 % COUNT(targets)]);
  if (!loop_check(l, &why)) return say(&s->v, "loop_check", why.s);
  if (s->c->seed % 8 == 1 && !text_holds(s, l)) return false;
  emit_c(&s->source, l, &(EmitOptions){s->prefix, "kernel.ein", "0", s->c->seed, s->c->seed % 3 ? 0 : 1000});
  return true;
}

bool subject_make(Subject *s, Arena *a, const Case *c) {
  const char *prefix = arena_printf(a, "k%llu", (unsigned long long)c->seed);
  *s = (Subject){.arena = a, .c = c, .prefix = prefix, .source = buf_new(a)};
  bug_where = "a kernel's program";
  bool ok = graph_make(s) && lower(s);
  bug_where = NULL;
  return ok;
}

/* ---- the C compiler ----------------------------------------------------------------------------- */

typedef struct Words { const char *at[64]; uint32_t n; } Words;

static void words_add(Words *w, const char *s) {
  if (w->n + 1 < COUNT(w->at)) w->at[w->n++] = s;
}

static void words_cut(Words *w, Arena *a, const char *text) {
  for (text += strspn(text, " "); *text; text += strspn(text, " ")) {
    size_t n = strcspn(text, " ");
    words_add(w, arena_printf(a, "%.*s", (int)n, text));
    text += n;
  }
}

/* As `ein build` compiles; threads are the runtime's own pool. */
static Words command(Arena *a, const How *how, const char *source, const char *object) {
  const char *const words[] = {"-std=gnu99", "-fno-math-errno", "-fno-trapping-math", "-w", "-fPIC", "-shared", "-pthread",
                               "-DEIN_PTHREADS", "-I", how->runtime, "-o", object, source, "-lm"};
  Words w = {0};
  words_cut(&w, a, how->cc);
  words_cut(&w, a, how->flags);
  for (size_t i = 0; i < COUNT(words); i++) words_add(&w, words[i]);
  return w;
}

static void file_start(Buf *why, const char *path) {
  char text[1500];
  FILE *f = fopen(path, "r");
  size_t n = f ? fread(text, 1, sizeof text, f) : 0;
  if (f) fclose(f);
  buf_add(why, text, n);
}

static bool compile(Arena *a, const How *how, const char *source, const char *object, Buf *why) {
  const char *said = arena_printf(a, "%s.said", source);
  Words w = command(a, how, source, object);
  fflush(stdout), fflush(stderr);
  pid_t child = fork();
  if (!child) {
    int fd = open(said, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || dup2(fd, 1) < 0 || dup2(fd, 2) < 0) _exit(4);
    alarm(0);
    execvp(w.at[0], (char *const *)(void *)w.at);
    _exit(127);
  }
  int status = -1;
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {}
  if (status) file_start(why, said);
  remove(said);
  return status == 0;
}

/* The runtime comes in with the first program, and is not looked at again. Small kernels too go to all threads. */
static bool source_write(Subject *const *s, uint32_t n, const char *path) {
  static const char head[] = "#define EIN_STATIC\n#include \"ein_run.h\"\n"
                             "#define ein_parallel(ctx, task, n, work) (ein_parallel)(ctx, task, n, 1e9 + (double)(work))\n";
  FILE *f = fopen(path, "w");
  if (!f) return false;
  bool ok = fputs(head, f) >= 0;
  for (uint32_t i = 0; i < n; i++) ok = ok && fwrite(s[i]->source.s, 1, s[i]->source.len, f) == s[i]->source.len;
  return fclose(f) == 0 && ok;
}

void *library_make(Subject *const *s, uint32_t n, const How *how, Buf *why) {
  Arena *a = s[0]->arena;
  const char *source = arena_printf(a, "%s/%s_%d.c", how->folder, s[0]->prefix, (int)getpid());
  const char *object = arena_printf(a, "%s/%s_%d.so", how->folder, s[0]->prefix, (int)getpid());
  void *library = NULL;
  if (!source_write(s, n, source)) buf_printf(why, "%s cannot be written", source);
  else if (compile(a, how, source, object, why) && !(library = dlopen(object, RTLD_NOW | RTLD_LOCAL)))
    buf_str(why, dlerror());
  remove(source);
  remove(object);
  return library;
}

const ein_model *library_model(void *library, const Subject *s) {
  return dlsym(library, arena_printf(s->arena, "%s_model", s->prefix));
}
