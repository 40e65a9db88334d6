/* driver/files.c - writes text files, reads standard input, and runs other programs without a shell. The runtime
 * writes tensors. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "driver.h"

extern char **environ;
enum { STDIN_MOST = PROGRAM_BYTES }; /* a program: the most that standard input may hold */

/* ---- writing -------------------------------------------------------------------------------- */

static bool write_all(int fd, const char *bytes, size_t len) {
  while (len) {
    ssize_t n = write(fd, bytes, len);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    bytes += n;
    len -= (size_t)n;
  }
  return true;
}

const char *folder_of(Arena *a, const char *path) {
  const char *slash = strrchr(path, '/');
  if (!slash) return ".";
  return arena_printf(a, "%.*s", slash == path ? 1 : (int)(slash - path), path);
}

static Leave no_regular_file(Session *s, const char *path) {
  return fail(s, LEAVE_MACHINE, "cannot write %s: it is there, and no regular file", path);
}

bool file_is_device(const char *path) {
  struct stat st;
  return stat(path, &st) == 0 && S_ISCHR(st.st_mode);
}

bool file_same(const char *a, const char *b) {
  struct stat x, y;
  return stat(a, &x) == 0 && stat(b, &y) == 0 && !S_ISCHR(x.st_mode) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* Writes to what is there. */
static bool write_there(const char *path, int flags, const char *bytes, size_t len) {
  int fd = open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC | flags);
  bool ok = fd >= 0 && write_all(fd, bytes, len);
  int why = errno;
  if (fd >= 0 && close(fd) != 0 && ok) ok = false, why = errno;
  errno = why;
  return ok;
}

/* Where links lead to a file that is not there yet; NULL: in a circle, which is said. */
static const char *link_end(Session *s, const char *path) {
  char *end = ein_link_end(path);
  const char *copy = end ? arena_printf(s->arena, "%s", end) : NULL;
  if (!end) fail(s, LEAVE_MACHINE, "cannot write %s: %s", path, strerror(errno));
  free(end);
  return copy;
}

/* Finds the file that a link leads to, and the mode of an existing file, which a replacement keeps. */
static Leave target_find(Session *s, const char **path, mode_t *mode) {
  struct stat st;
  if (stat(*path, &st) != 0) return (*path = link_end(s, *path)) ? LEAVE_OK : LEAVE_MACHINE;
  if (!S_ISREG(st.st_mode)) return no_regular_file(s, *path);
  if (access(*path, W_OK) != 0) return fail(s, LEAVE_MACHINE, "cannot write %s: %s", *path, strerror(errno));
  *mode = st.st_mode & 07777;
  const char *real = path_real(s->arena, *path);
  if (!real) return fail(s, LEAVE_MACHINE, "cannot write %s: %s", *path, strerror(errno));
  *path = real;
  return LEAVE_OK;
}

/* Where a folder takes no new file, the file itself may be written. */
static bool write_new(const char *path, char *temporary, const char *bytes, size_t len, mode_t mode, bool lasts) {
  int fd = temporary_file(temporary), why = errno;
  if (fd < 0) {
    bool closed = why == EACCES || why == EPERM || why == EROFS;
    if (closed && access(path, W_OK) == 0) return write_there(path, O_TRUNC, bytes, len);
    errno = why;
    return false;
  }
  bool ok = write_all(fd, bytes, len) && fchmod(fd, mode) == 0 && (!lasts || fsync(fd) == 0);
  why = errno;
  if (close(fd) != 0 && ok) ok = false, why = errno;
  if (ok && rename(temporary, path) != 0) ok = false, why = errno;
  if (!ok) unlink(temporary);
  temporary_gone(temporary);
  errno = why;
  return ok;
}

Leave file_put(Session *s, const char *path, const char *bytes, size_t len, unsigned how) {
  if (strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0) {
    print(s, &(Buf){.s = (char *)(uintptr_t)bytes, .len = len});
    return LEAVE_OK;
  }
  const char *said = path;
  if (file_is_device(path) && write_there(path, 0, bytes, len)) return LEAVE_OK;
  if (file_is_device(path)) return fail(s, LEAVE_MACHINE, "cannot write %s: %s", path, strerror(errno));
  mode_t mask = umask(0), mode = 0666 & ~mask;
  umask(mask);
  Leave l = target_find(s, &path, &mode);
  if (l) return l;
  if (how & FILE_RUNS) mode |= ((mode & 0444) >> 2) & ~mask;
  char *temporary = arena_printf(s->arena, "%s/.ein-XXXXXX", folder_of(s->arena, path));
  if (write_new(path, temporary, bytes, len, mode, how & FILE_LASTS)) return LEAVE_OK;
  return fail(s, LEAVE_MACHINE, "cannot write %s: %s", said, strerror(errno));
}

Leave file_write(Session *s, const char *path, const char *bytes, size_t len) {
  return file_put(s, path, bytes, len, 0);
}

Leave file_copy(Session *s, const char *from, const char *to, unsigned how) {
  const char *why;
  Source *made = source_read(s->arena, from, &why);
  return made ? file_put(s, to, made->bytes, made->len, how) : fail(s, LEAVE_MACHINE, "cannot read %s: %s", from, why);
}

bool file_writable(Session *s, const char *path) {
  struct stat st;
  bool there = stat(path, &st) == 0, device = there && S_ISCHR(st.st_mode);
  if (there && !device && !S_ISREG(st.st_mode)) return no_regular_file(s, path), false;
  const char *end = there ? path : link_end(s, path);
  if (!end) return false;
  const char *what = there ? path : folder_of(s->arena, end);
  if (access(what, there ? W_OK : W_OK | X_OK) == 0) return true;
  if (there) return fail(s, LEAVE_MACHINE, "cannot write %s: %s", path, strerror(errno)), false;
  fail(s, LEAVE_MACHINE, "cannot write %s: %s: %s", path, what, strerror(errno));
  return false;
}

bool file_begins_ours(Arena *a, const char *path) {
  const char *why;
  Source *src = source_read(a, path, &why);
  if (!src) return access(path, F_OK) != 0;
  const char *line = arena_printf(a, "%.*s", (int)strcspn(src->bytes, "\n"), src->bytes);
  return !*src->bytes || strstr(line, " by ein ");
}

/* ---- reading -------------------------------------------------------------------------------- */

static const GuestFile *guest_file(const Session *s, const char *path) {
  for (size_t i = 0; s->guest && i < s->guest->n_files; i++)
    if (strcmp(s->guest->file[i].name, path) == 0) return &s->guest->file[i];
  return NULL;
}

bool file_stands_in(const Session *s, const char *path) { return guest_file(s, path) != NULL; }

Source *file_read(Session *s, const char *path) {
  const GuestFile *f = guest_file(s, path);
  const char *why;
  Source *src = f ? source_new(s->arena, path, f->text, f->len) : source_read(s->arena, path, &why);
  if (!src) fail(s, LEAVE_MACHINE, "cannot read %s: %s", path, why);
  return src;
}

Source *stdin_read(Session *s) {
  Buf b = buf_new(s->arena);
  char piece[1 << 16];
  if (s->guest) {
    fail(s, LEAVE_USAGE, "a library reads no standard input: the text of - is given as a file of that name");
    return NULL;
  }
  for (;;) {
    ssize_t n = read(STDIN_FILENO, piece, sizeof piece);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      fail(s, LEAVE_MACHINE, "cannot read standard input: %s", strerror(errno));
      return NULL;
    }
    if (n == 0) return source_new(s->arena, "<stdin>", b.s, b.len);
    if (b.len + (size_t)n > STDIN_MOST) {
      fail(s, LEAVE_MACHINE, "standard input is larger than %d MiB, the most that is read of a program",
           STDIN_MOST >> 20);
      return NULL;
    }
    buf_add(&b, piece, (size_t)n);
  }
}

/* ---- programs ------------------------------------------------------------------------------- */

const char *program_on_path(Arena *a, const char *name) {
  const char *path = getenv("PATH");
  if (!path) path = "/usr/local/bin:/usr/bin:/bin";
  for (const char *at = path; at; at = strchr(at, ':')) {
    if (at != path) at++;
    size_t n = strcspn(at, ":");
    const char *full =
        n ? arena_printf(a, "%.*s/%s", (int)n, at, name) : arena_printf(a, "./%s", name);
    struct stat st;
    if (stat(full, &st) == 0 && S_ISREG(st.st_mode) && access(full, X_OK) == 0) return full;
  }
  return NULL;
}

/* The child's end of each pipe becomes its stdin and stdout; all our ends close in it. */
static int child_start(const char *const *argv, int in, int out, bool stderr_too, pid_t *pid) {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attr;
  sigset_t defaults;
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGPIPE);
  posix_spawn_file_actions_init(&files);
  posix_spawnattr_init(&attr);
  posix_spawn_file_actions_adddup2(&files, in, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
  if (stderr_too) posix_spawn_file_actions_adddup2(&files, out, STDERR_FILENO);
  posix_spawnattr_setsigdefault(&attr, &defaults);
  posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGDEF);
  int e = posix_spawn(pid, argv[0], &files, &attr, (char *const *)(uintptr_t)argv, environ);
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attr);
  return e;
}

/* Writes and reads at the same time, so that neither side waits for the other. */
static void converse(int to, int from, const char *in, size_t len, Buf *out) {
  char piece[1 << 14];
  fcntl(to, F_SETFL, O_NONBLOCK);
  for (bool open = true; open;) {
    struct pollfd p[2] = {{from, POLLIN, 0}, {to, POLLOUT, 0}};
    if (poll(p, to >= 0 ? 2 : 1, -1) < 0 && errno != EINTR) break;
    if (to >= 0 && p[1].revents) {
      ssize_t n = len ? write(to, in, len) : 0;
      if (n > 0) in += n, len -= (size_t)n;
      if (!len || (n < 0 && errno != EAGAIN && errno != EINTR)) close(to), to = -1;
    }
    if (p[0].revents) {
      ssize_t n = read(from, piece, sizeof piece);
      if (n > 0) buf_add(out, piece, (size_t)n);
      open = n > 0 || (n < 0 && errno == EINTR);
    }
  }
  if (to >= 0) close(to);
}

static bool run(Arena *a, const char *const *argv, const char *in, size_t len, Buf *out, bool stderr_too,
                const char **why) {
  int to[2], from[2];
  if (pipe2(to, O_CLOEXEC) != 0) return *why = strerror(errno), false;
  if (pipe2(from, O_CLOEXEC) != 0) return close(to[0]), close(to[1]), *why = strerror(errno), false;
  pid_t pid;
  int e = child_start(argv, to[0], from[1], stderr_too, &pid), status = 0;
  close(to[0]);
  close(from[1]);
  if (e) {
    close(to[1]);
    close(from[0]);
    return *why = strerror(e), false;
  }
  temporary_child(pid);
  converse(to[1], from[0], in, len, out);
  close(from[0]);
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {}
  temporary_child(0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return true;
  *why = WIFEXITED(status) ? arena_printf(a, "it failed with code %d", WEXITSTATUS(status))
                           : arena_printf(a, "it was ended by signal %d", WTERMSIG(status));
  return false;
}

bool program_run(Arena *a, const char *const *argv, const char *in, size_t len, Buf *out, const char **why) {
  return run(a, argv, in, len, out, false, why);
}

bool program_ask(Arena *a, const char *const *argv, Buf *out, const char **why) {
  return run(a, argv, "", 0, out, true, why);
}

/* ---- folders -------------------------------------------------------------------------------- */

const char *folder_work(Session *s) {
  const char *t = getenv("TMPDIR");
  char *path = arena_printf(s->arena, "%s/ein-XXXXXX", t && *t == '/' ? t : "/tmp");
  if (temporary_folder(path)) return path;
  fail(s, LEAVE_MACHINE, "cannot make a folder in %s: %s", folder_of(s->arena, path), strerror(errno));
  return NULL;
}

bool folder_made(Arena *a, const char *folder) {
  char *path = arena_printf(a, "%s", folder);
  for (char *at = strchr(path + 1, '/'); at; at = strchr(at + 1, '/')) {
    *at = 0;
    mkdir(path, 0700);
    *at = '/';
  }
  mkdir(path, 0700);
  return access(path, W_OK | X_OK) == 0;
}

Words folder_files(Arena *a, const char *folder) {
  Words w = {0};
  DIR *d = opendir(folder);
  for (struct dirent *e; d && (e = readdir(d));)
    if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
      vec_push(a, w, arena_copy(a, e->d_name, strlen(e->d_name) + 1));
  if (d) closedir(d);
  return w;
}

uint32_t folder_empty(Arena *a, const char *folder) {
  Words w = folder_files(a, folder);
  uint32_t gone = 0;
  for (uint32_t i = 0; i < w.len; i++) gone += unlink(arena_printf(a, "%s/%s", folder, w.at[i])) == 0;
  return gone;
}

void folder_remove(Arena *a, const char *folder) {
  folder_empty(a, folder);
  rmdir(folder);
  temporary_gone(folder);
}
