/* driver/temporary.c - temporary files and folders, and a running C compiler: a signal that ends us removes them.
 *
 * What a signal handler reads must be global; this is all of it. Only the command uses this: as a library, ein
 * installs no handlers. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "driver.h"

enum { KEPT_MOST = 16 };

static const int ending[] = {SIGINT, SIGTERM, SIGHUP};
static const char *volatile kept[KEPT_MOST];
static volatile pid_t child;
static volatile sig_atomic_t watched; /* 0: by nobody here; 2: handlers are installed */

void temporary_watch(void) { watched = 1; }

/* Removes a folder with its contents; of what a handler may do, starting `rm` is the least that suffices. */
static void remove_now(const char *path) {
  if (unlink(path) == 0 || errno == ENOENT) return;
  pid_t rm = fork();
  if (rm == 0) {
    execl("/bin/rm", "rm", "-rf", "--", path, (char *)NULL);
    _exit(127);
  }
  while (rm > 0 && waitpid(rm, NULL, 0) < 0 && errno == EINTR) {}
}

static void end_by(int number) {
  if (child > 0) { /* it may be writing there */
    kill(child, SIGTERM);
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {}
  }
  for (int i = 0; i < KEPT_MOST; i++)
    if (kept[i]) remove_now(kept[i]);
  signal(number, SIG_DFL);
  raise(number);
}

/* A signal that is ignored, as under nohup, stays ignored. */
static void handle_once(void) {
  struct sigaction by = {.sa_handler = end_by}, old;
  if (watched != 1) return;
  watched = 2;
  sigemptyset(&by.sa_mask);
  for (size_t i = 0; i < COUNT(ending); i++) sigaddset(&by.sa_mask, ending[i]);
  for (size_t i = 0; i < COUNT(ending); i++)
    if (sigaction(ending[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL) sigaction(ending[i], &by, NULL);
}

/* Blocks signals while something has been made and is not registered here yet. */
static void hold(sigset_t *was) {
  sigset_t all;
  if (!watched) return;
  sigemptyset(&all);
  for (size_t i = 0; i < COUNT(ending); i++) sigaddset(&all, ending[i]);
  sigprocmask(SIG_BLOCK, &all, was);
}

static void release(const sigset_t *was) {
  if (watched) sigprocmask(SIG_SETMASK, was, NULL);
}

static void keep(const char *path) {
  for (int i = 0; i < KEPT_MOST && watched; i++)
    if (!kept[i]) {
      kept[i] = path;
      return;
    }
}

int temporary_file(char *path) {
  sigset_t was;
  handle_once();
  hold(&was);
  int fd = mkstemp(path), why = errno;
  if (fd >= 0) keep(path);
  release(&was);
  errno = why;
  return fd;
}

bool temporary_folder(char *path) {
  sigset_t was;
  handle_once();
  hold(&was);
  bool ok = mkdtemp(path) != NULL;
  int why = errno;
  if (ok) keep(path);
  release(&was);
  errno = why;
  return ok;
}

void temporary_gone(const char *path) {
  for (int i = 0; i < KEPT_MOST && watched; i++)
    if (kept[i] == path) kept[i] = NULL;
}

void temporary_child(pid_t pid) {
  if (watched) child = pid;
}
