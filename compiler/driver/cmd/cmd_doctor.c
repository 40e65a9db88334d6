/* driver/cmd/cmd_doctor.c - ein doctor: reports what was found on this machine, what it is for, and how to get what
 * is missing. */
#include <glob.h>
#include <string.h>
#include <unistd.h>

#include "driver/ranks/ranks.h"
#include "driver/repl/line.h"

typedef struct Tool {
  const char *what, *names; /* names separated by '|': programs on the PATH, or patterns of files if they contain '/' */
  const char *why, *how;
} Tool;

static const Tool tools[] = {
    {"Graphviz", "dot", "other pictures, of ein graph --dot and ein plan --format=dot", "apt install graphviz"},
    {"C compiler", "cc|gcc|clang", "ein build, ein run --target=c, ein verify, ein bench", "apt install gcc"},
    {"BLAS",
        "/usr/lib/*/libopenblas.so*|/usr/lib/*/openblas*/libopenblas*.so*|/usr/lib/*/libblas.so*|/usr/"
        "lib64/lib*blas*.so*",
        "large matrix products (a later step)", "apt install libopenblas-openmp-dev"},
    {"MPI", "mpirun|mpiexec", "plans in many processes", "apt install openmpi-bin libopenmpi-dev"},
    {"NVRTC", "/usr/local/cuda*/lib64/libnvrtc.so*|/usr/lib/*/libnvrtc.so*|/usr/lib64/libnvrtc.so*",
        "ein run --target=cuda, which compiles kernels with it",
        "NVIDIA's CUDA toolkit, developer.nvidia.com/cuda-downloads"},
    {"cuBLAS", "/usr/local/cuda*/lib64/libcublas.so*|/usr/lib/*/libcublas.so*|/usr/lib64/libcublas.so*",
        "products of matrices on a device, which our own kernels make without it",
        "NVIDIA's CUDA toolkit, developer.nvidia.com/cuda-downloads"},
    {"GPU driver", "/usr/lib/*/libcuda.so*|/usr/lib64/libcuda.so*", "ein run --target=cuda", "NVIDIA's driver"},
};

static const char *pattern_find(Arena *a, const char *pattern) {
  glob_t g = {0};
  const char *first = NULL;
  if (glob(pattern, 0, NULL, &g) == 0 && g.gl_pathc)
    first = arena_copy(a, g.gl_pathv[0], strlen(g.gl_pathv[0]) + 1);
  globfree(&g);
  return first;
}

static const char *tool_find(Arena *a, const char *names) {
  while (*names) {
    size_t n = strcspn(names, "|");
    const char *one = arena_printf(a, "%.*s", (int)n, names);
    const char *found = strchr(one, '/') ? pattern_find(a, one) : program_on_path(a, one);
    if (found) return found;
    names += n + (names[n] == '|');
  }
  return NULL;
}

/* The first line that `program --version` prints; "" if there is none. */
static const char *version_of(Arena *a, const char *program) {
  const char *const argv[] = {program, "--version", NULL}, *why;
  Buf out = buf_new(a);
  if (access(program, X_OK) != 0 || strstr(program, ".so") || strstr(program, "dot"))
    return ""; /* dot speaks on stderr */
  if (!program_run(a, argv, "", 0, &out, &why) || !out.len) return "";
  out.s[strcspn(out.s, "\n")] = 0;
  return arena_printf(a, " (%s)", out.s);
}

static void line(Buf *b, const char *what, const char *found) {
  buf_printf(b, "%-18s %s\n", what, found);
}

static bool stdlib_line(Session *s, Buf *b) {
  const char *at = s->front.stdlib;
  bool ok = at && access(arena_printf(s->arena, "%s/prelude.ein", at), R_OK) == 0;
  if (ok)
    line(b, "standard library", at);
  else
    line(b, "standard library",
         arena_printf(s->arena, "not found in %s\n%19sset EIN_STDLIB to the folder of prelude.ein",
                      at ? at : "any place known", ""));
  return ok;
}

/* Built with ein, if LLVM and Clang were present then. */
static void jit_line(Session *s, Buf *b) {
  const char *at = jit_plugin(s);
  line(b, "Clang in process",
      at ? at
         : arena_printf(s->arena,
               "not built, or switched off by EIN_JIT: what compiles is then the C compiler\n%19s"
               "get it: apt install g++ llvm-19-dev libclang-19-dev libclang-cpp19-dev, then build ein anew",
               ""));
}

static void edit_line(Session *s, Buf *b) {
  line(b, "prompt",
      lines_edited() ? "lines are edited by libedit"
                     : arena_printf(s->arena,
                           "not built with libedit: needed for history, completion and paste\n%19s"
                           "get it: apt install libedit-dev, then build ein anew",
                           ""));
}

/* What ein itself was built with. */
static void mpi_line(Session *s, Buf *b) {
  char library[128];
  const char *why;
  const ein_mpi_door *door = ranks_door(s, &why);
  if (door) door->library(library, sizeof library);
  line(b, "mpirun ein run", door ? library : arena_printf(s->arena, "no: %s", why));
}

Leave cmd_doctor(Session *s, Args *a) {
  Buf b = buf_new(s->arena);
  if (a->operands.len) return fail(s, LEAVE_USAGE, "ein doctor takes no words after it");
  line(&b, "ein", EIN_VERSION);
  bool ok = stdlib_line(s, &b);
  line(&b, "C compiler's cache", cache_folder(s, false) ? cache_folder(s, false) : "none yet");
  line(&b, "cores", arena_printf(s->arena, "%ld", sysconf(_SC_NPROCESSORS_ONLN)));
  jit_line(s, &b);
  edit_line(s, &b);
  for (size_t i = 0; i < COUNT(tools); i++) {
    const Tool *t = &tools[i];
    const char *found = tool_find(s->arena, t->names);
    if (found)
      line(&b, t->what, arena_printf(s->arena, "%s%s", found, version_of(s->arena, found)));
    else
      line(&b, t->what,
           arena_printf(s->arena, "not found: needed for %s\n%19sget it: %s", t->why, "", t->how));
  }
  mpi_line(s, &b);
  print(s, &b);
  return ok ? LEAVE_OK : LEAVE_MACHINE;
}
