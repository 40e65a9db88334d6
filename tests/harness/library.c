/* tests/harness/library.c - the C of several programs as one shared object. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"

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

/* As `ein build` compiles; threads are the runtime's own pool, unless the flags ask for OpenMP. */
static Words words_of(Arena *a, const Work *w, const char *source, const char *object) {
  const char *const more[] = {"-std=gnu99", "-fno-math-errno", "-fno-trapping-math", "-w", "-fPIC", "-shared",
      "-pthread", "-I", w->runtime, "-o", object, source, "-lm"};
  Words all = {0};
  words_cut(&all, a, w->cc);
  words_cut(&all, a, w->flags);
  if (!strstr(w->flags, "-fopenmp")) words_add(&all, "-DEIN_PTHREADS");
  for (size_t i = 0; i < COUNT(more); i++) words_add(&all, more[i]);
  return all;
}

static void file_start(Buf *why, const char *path) {
  char text[1500];
  FILE *f = fopen(path, "r");
  size_t n = f ? fread(text, 1, sizeof text, f) : 0;
  if (f) fclose(f);
  buf_add(why, text, n);
}

static bool compile(Arena *a, const Work *w, const char *source, const char *object, Buf *why) {
  const char *said = arena_printf(a, "%s.said", source);
  Words words = words_of(a, w, source, object);
  fflush(stdout), fflush(stderr);
  pid_t child = fork();
  if (!child) {
    int fd = open(said, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || dup2(fd, 1) < 0 || dup2(fd, 2) < 0) _exit(4);
    alarm(0);
    execvp(words.at[0], (char *const *)(void *)words.at);
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
  static const char head[] =
      "#define EIN_STATIC\n#include \"ein_run.h\"\n"
      "#define ein_parallel(ctx, task, n, work) (ein_parallel)(ctx, task, n, 1e9 + (double)(work))\n"
      "#define ein_parallel_streams(ctx, task, n, work) (ein_parallel_streams)(ctx, task, n, 1e9 + (double)(work))\n";
  FILE *f = fopen(path, "w");
  if (!f) return false;
  bool ok = fputs(head, f) >= 0;
  for (uint32_t i = 0; i < n; i++) ok = ok && fwrite(s[i]->c.s, 1, s[i]->c.len, f) == s[i]->c.len;
  return fclose(f) == 0 && ok;
}

void *library_make(Subject *const *s, uint32_t n, Buf *why) {
  const Work *w = s[0]->w;
  Arena *a = s[0]->arena;
  const char *source = arena_printf(a, "%s/%s_%d.c", w->folder, s[0]->prefix, (int)getpid());
  const char *object = arena_printf(a, "%s/%s_%d.so", w->folder, s[0]->prefix, (int)getpid());
  void *library = NULL;
  if (!source_write(s, n, source)) buf_printf(why, "%s cannot be written", source);
  else if (compile(a, w, source, object, why) && !(library = dlopen(object, RTLD_NOW | RTLD_LOCAL)))
    buf_str(why, dlerror());
  remove(source);
  remove(object);
  return library;
}

const ein_model *library_model(void *library, const Subject *s) {
  return dlsym(library, arena_printf(s->arena, "%s_model", s->prefix));
}
