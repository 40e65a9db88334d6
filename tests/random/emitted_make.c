/* tests/random/emitted_make.c - a random program down to C, and several of them as one shared object. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../compiler/graph/passes.h"
#include "../../compiler/task/from_graph.h"
#include "emitted.h"

bool say(Judgement *v, const char *what, const char *detail) {
  snprintf(v->what, sizeof v->what, "%s", what);
  snprintf(v->detail, sizeof v->detail, "%s", detail ? detail : "");
  return false;
}

/* ---- down the column ---------------------------------------------------------------------------- */

static bool graph_make(Subject *s, const char *text) {
  Arena *a = s->arena;
  s->text = text;
  s->f = (Front){.arena = a, .strings = strings_new(a), .exprs = exprs_new(a), .diags = diags_new(a)};
  s->p.file = parse_file(a, s->f.strings, source_new(a, "random.ein", text, strlen(text)), s->f.diags);
  DimValues none = {0};
  s->g = s->f.diags->errors ? NULL : graph_from_ast(&s->f, &s->p, &none);
  return s->g && !s->f.diags->errors;
}

/* What random programs never do: to fail as they run. Each of these does so for some of the values that it is given. */
static const char *text_failing(Arena *a, uint64_t seed) {
  static const char input[] = "input zx[zi:4] : i64 = (zi * 3 + %u) %% 6\n";
  const char *head = arena_printf(a, input, (unsigned)(seed % 7));
  if (seed % 10 == 0) return arena_printf(a, "%soutput zy[zi] = zx[zx[zi]]\n", head);
  if (seed % 10 == 5) return arena_printf(a, "%sassert all[zi] (zx[zi] < 5), \"zx is small\"\n", head);
  return "";
}

/* A program of symbolic sizes gets others, which do not fit registers or blocks, or do so just. */
static const char *text_large(Arena *a, const char *text, const EinGraph *g, uint64_t seed) {
  static const int sizes[] = {7, 8, 9, 16, 17, 19, 33, 4, 1};
  for (uint32_t i = 0; i < g->dims.len; i++) {
    const char *line = arena_printf(a, "dim %s\n", g->dims.at[i].name->s), *at = strstr(text, line);
    if (g->dims.at[i].known || !at) continue;
    int head = (int)(at - text) + (int)strlen(line) - 1;
    text = arena_printf(a, "%.*s = %d%s", head, text, sizes[(seed / 4 + i * 5) % COUNT(sizes)], text + head);
  }
  return text;
}

/* With symbolic sizes, with large ones, or as it was made: not all can be proved for all sizes. */
static bool graph_any(Subject *s) {
  const char *more = text_failing(s->arena, s->seed);
  const char *text = arena_printf(s->arena, "%s%s", program_text(s->arena, s->made, (Style){.symbolic = true}), more);
  if (s->seed % 2 == 0 && graph_make(s, text)) {
    s->large = s->seed % 4 == 0 && graph_make(s, text_large(s->arena, text, s->g, s->seed));
    s->open = !s->large;
    if (s->large || graph_make(s, text)) return true;
  }
  s->open = s->large = false;
  if (graph_make(s, arena_printf(s->arena, "%s%s", program_text(s->arena, s->made, (Style){0}), more))) return true;
  Buf why = buf_new(s->arena);
  diags_text(s->f.diags, &why, false);
  return say(&s->v, "rejected", why.s);
}

static bool no_floats(Arena *a, const EinGraph *g) {
  static const char *const words[] = {"f64", "f32", "f16", "inf", "nan"};
  Buf b = buf_new(a);
  graph_print(&b, g);
  for (size_t i = 0; i < COUNT(words); i++)
    if (strstr(b.s, words[i])) return false;
  return true;
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

static bool lower(Subject *s, const How *how) {
  static const LoopTarget targets[] = {{32, 16, 0, 0, 4096, 0, 0}, {64, 32, 4096, 128, 16, 16, 32}, {16, 32, 0, 1024, 0, 0, 0}};
  Buf why = buf_new(s->arena);
  bool optimise = how->optimise < 0 ? s->seed % 4 < 2 : how->optimise > 0;
  s->low = optimise ? graph_optimise(s->arena, s->g, NULL) : s->g;
  if (!graph_check(s->low, &why)) return say(&s->v, "graph_check of what is optimised", why.s);
  TaskGraph *t = task_from_graph(s->arena, s->low);
  if (!task_check(t, &why)) return say(&s->v, "task_check", why.s);
  LoopProgram *l = loop_from_task(t, &targets[s->seed / 4 % COUNT(targets)]);
  if (!loop_check(l, &why)) return say(&s->v, "loop_check", why.s);
  if (s->seed % 8 == 1 && !text_holds(s, l)) return false;
  emit_c(&s->c, l, &(EmitOptions){s->prefix, "random.ein", "0", s->seed, s->seed % 3 ? 0 : 1000});
  return true;
}

bool subject_read(Subject *s, Arena *a, const Made *m, uint64_t seed) {
  const char *prefix = arena_printf(a, "p%llu", (unsigned long long)seed);
  *s = (Subject){.arena = a, .made = m, .seed = seed, .prefix = prefix, .c = buf_new(a)};
  return graph_any(s);
}

bool subject_make(Subject *s, Arena *a, const Made *m, uint64_t seed, const How *how) {
  if (!subject_read(s, a, m, seed)) return false;
  s->whole = no_floats(a, s->g);
  return lower(s, how);
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

/* Threads are the runtime's own pool, unless the flags ask for OpenMP. */
static Words command(Arena *a, const How *how, const char *source, const char *object) {
  const char *const words[] = {"-std=gnu99", "-fno-math-errno", "-fno-trapping-math", "-w", "-fPIC", "-shared", "-pthread",
                               "-I", how->runtime, "-o", object, source, "-lm"};
  Words w = {0};
  words_cut(&w, a, how->cc);
  words_cut(&w, a, how->flags);
  if (!strstr(how->flags, "-fopenmp")) words_add(&w, "-DEIN_PTHREADS");
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
  for (uint32_t i = 0; i < n; i++) ok = ok && fwrite(s[i]->c.s, 1, s[i]->c.len, f) == s[i]->c.len;
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
