/* driver/cmd/cmd_jupyter.c - ein jupyter install: registers the kernel with Jupyter. The kernel is Python
 * (python/ein_kernel) on top of `ein repl --json`. This process execs Python. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver/driver.h"

/* The kernel runs this same program, and finds its packages where they are. */
static void variables_set(Session *s, const char *folder, const char *self) {
  const char *path = getenv("PYTHONPATH");
  setenv("PYTHONPATH", path && *path ? arena_printf(s->arena, "%s:%s", folder, path) : folder, 1);
  setenv("EIN", arena_printf(s->arena, "%sein", self), 1);
}

Leave cmd_jupyter(Session *s, Args *a) {
  const char *folder = folder_beside(s, "EIN_PYTHON", "python", "ein_kernel/__main__.py"), *self = program_folder(s);
  const char *prefix = arg_last(a, OPT_PREFIX);
  if (a->operands.len != 1 || strcmp(a->operands.at[0], "install") != 0)
    return fail(s, LEAVE_USAGE, "ein jupyter install, with --user or --prefix DIR if you like");
  if (prefix && arg_has(a, OPT_USER)) return fail(s, LEAVE_USAGE, "one of --user and --prefix");
  if (!folder || !self)
    return fail(s, LEAVE_MACHINE, "the kernel is not found; set EIN_PYTHON to the folder that has ein_kernel");
  variables_set(s, folder, self);
  Words w = {0};
  const char *const begin[] = {"python3", "-m", "ein_kernel", "install"};
  for (size_t i = 0; i < COUNT(begin); i++) vec_push(s->arena, w, begin[i]);
  if (arg_has(a, OPT_USER)) vec_push(s->arena, w, "--user");
  if (prefix) {
    vec_push(s->arena, w, "--prefix");
    vec_push(s->arena, w, prefix);
  }
  vec_push(s->arena, w, NULL);
  execvp(w.at[0], (char *const *)(uintptr_t)w.at);
  return fail(s, LEAVE_MACHINE, "cannot run python3: %s", strerror(errno));
}
