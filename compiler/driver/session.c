/* driver/session.c - what lives as long as the process: memory, names, the path of the standard library, and the
 * only ways to a terminal. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver.h"
#include "base/utf8.h"

/* ---- starting ------------------------------------------------------------------------------- */

/* A closed standard stream must not become the number of a file that is opened later. */
static void streams_ready(void) {
  for (int fd = 0; fd < 3; fd++)
    if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
      (void)!open("/dev/null", fd == 1 ? O_RDONLY : O_RDWR);
  signal(SIGPIPE, SIG_IGN); /* a reader that leaves is no failure: see session_end */
#ifdef SIGXFSZ
  signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is an error like a full disk */
#endif
}

static bool colour_wanted(void) {
  const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
  return !(no && *no) && !(term && strcmp(term, "dumb") == 0) && isatty(STDERR_FILENO);
}

const char *program_folder(const Session *s) {
  char self[4096];
  if (s->guest) return s->guest->home;
  ssize_t n = readlink("/proc/self/exe", self, sizeof self);
  if (n <= 0 || (size_t)n >= sizeof self) return NULL;
  while (n > 0 && self[n - 1] != '/') n--;
  return arena_printf(s->arena, "%.*s", (int)n, self);
}

const char *plugin_find(const Session *s, const char *folder, const char *name) {
  const char *const folders[] = {folder, "../lib/ein/"}, *self = program_folder(s);
  for (size_t i = 0; self && i < COUNT(folders); i++) {
    const char *at = arena_printf(s->arena, "%s%s%s", self, folders[i], name);
    if (access(at, R_OK) == 0) return at;
  }
  return NULL;
}

/* A build tree may be anywhere: ein.source, which Meson writes next to the program there, names the checkout. */
static const char *checkout_of(Arena *a, const char *self) {
  const char *why;
  Source *src = source_read(a, arena_printf(a, "%sein.source", self), &why);
  return src && *src->bytes ? arena_printf(a, "%.*s", (int)strcspn(src->bytes, "\n"), src->bytes) : NULL;
}

/* Installed, bin/ein has its folders in share/ein; in a build tree they are the checkout's. */
const char *folder_beside(const Session *s, const char *variable, const char *folder, const char *file) {
  Arena *a = s->arena;
  const char *said = getenv(variable), *self = program_folder(s);
  if (said && *said) return said;
  if (!self) return NULL;
  const char *checkout = checkout_of(a, self), *places[] = {checkout, arena_printf(a, "%s../share/ein", self)};
  for (size_t i = checkout ? 0 : 1; i < COUNT(places); i++) {
    const char *at = arena_printf(a, "%s/%s", places[i], folder);
    if (access(arena_printf(a, "%s/%s", at, file), R_OK) == 0) return at;
  }
  return NULL;
}

/* If it is missing, the complaint says where it should be. */
static const char *stdlib_find(const Session *s) {
  const char *found = folder_beside(s, "EIN_STDLIB", "stdlib", "prelude.ein"), *self = program_folder(s);
  return found || !self ? found : arena_printf(s->arena, "%s../share/ein/stdlib", self);
}

Session *session_new(Guest *guest) {
  if (!guest) {
    streams_ready();
    temporary_watch();
  }
  Arena *a = guest ? guest->arena : arena_new();
  Session *s = MAKE(a, Session, .arena = a, .strings = strings_new(a), .exprs = exprs_new(a), .guest = guest);
  if (guest) guest->out = buf_new(a), guest->err = buf_new(a);
  else s->colour = colour_wanted();
  s->front.stdlib = stdlib_find(s);
  session_fresh(s);
  return s;
}

void session_fresh(Session *s) {
  s->diags = diags_new(s->arena);
  s->front = (Front){
      .arena = s->arena, .strings = s->strings, .exprs = s->exprs, .diags = s->diags, .stdlib = s->front.stdlib};
}

/* Why standard output first failed; 0: it has not. */
static int stdout_failed;

static void stdout_write(const char *bytes, size_t len) {
  if (stdout_failed) return;
  if (fwrite(bytes, 1, len, stdout) != len) stdout_failed = errno ? errno : EIO;
}

static void stdout_flush(void) {
  if (!stdout_failed && fflush(stdout) != 0) stdout_failed = errno ? errno : EIO;
}

/* A reader that went away has what it wanted; any other failure loses requested output. Where a thread is at work, what
 * exit would take down and the arena stay. */
Leave session_end(Session *s, Leave code) {
  if (!s->guest) stdout_flush();
  s->capture = false;
  if (!s->guest && stdout_failed && stdout_failed != EPIPE && code != LEAVE_BUG)
    code = fail(s, LEAVE_MACHINE, "cannot write to standard output: %s", strerror(stdout_failed));
  if (s->aside) _exit((int)code);
  arena_free(s->arena);
  return code;
}

/* ---- messages ------------------------------------------------------------------------------- */

enum { TEXT_MOST = 8000 }; /* bytes of one message: words of the command line and names can be long */

static void shown(Buf *b, const char *text) {
  int width;
  for (size_t n = strlen(text); n;) {
    size_t k = 1;
    if (*text == '\n')
      buf_char(b, '\n');
    else
      k = utf8_show(b, text, n, &width);
    text += k;
    n -= k;
  }
}

static void message(Session *s, const Buf *b) {
  if (s->silent) {
    vec_push(s->arena, s->unsaid, b->s);
    return;
  }
  stdout_flush();
  fwrite(b->s, 1, b->len, stderr);
}

void print_aside(Session *s, const Buf *b) {
  if (s->guest) buf_add(&s->guest->err, b->s, b->len);
  else message(s, b);
}

static void speak(Session *s, const char *kind, const char *ink, const char *text) {
  Buf b = buf_new(s->arena);
  if (s->guest) {
    shown(&b, text);
    buf_printf(&s->guest->err, "ein: %s%s%s\n", kind, *kind ? ": " : "", b.s);
    vec_push(s->arena, s->guest->heard, ((Heard){.text = b.s, .error = *kind != 0}));
    return;
  }
  buf_str(&b, "ein: ");
  if (*kind) buf_printf(&b, "%s%s:%s ", s->colour ? ink : "", kind, s->colour ? "\033[0m" : "");
  shown(&b, text);
  buf_char(&b, '\n');
  message(s, &b);
}

static const char *words(Session *s, const char *fmt, va_list ap) {
  char *text = arena_vprintf(s->arena, fmt, ap);
  text_clip(text, TEXT_MOST);
  return text;
}

void say(Session *s, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  speak(s, "", "", words(s, fmt, ap));
  va_end(ap);
}

Leave fail(Session *s, Leave code, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  const char *text = words(s, fmt, ap);
  va_end(ap);
  if (s->capture)
    vec_push(s->arena, s->captured, text);
  else
    speak(s, "error", "\033[1;31m", text);
  return code;
}

void detail(Session *s, const char *fmt, ...) {
  if (!s->verbose || s->silent) return;
  va_list ap;
  va_start(ap, fmt);
  speak(s, "", "", words(s, fmt, ap));
  va_end(ap);
}

void print(Session *s, const Buf *b) {
  if (s->guest) buf_add(&s->guest->out, b->s, b->len);
  else stdout_write(b->s, b->len);
}

bool print_now(Session *s) {
  if (!s->guest) stdout_flush();
  return s->guest || !stdout_failed;
}

/* ---- complaints ----------------------------------------------------------------------------- */

void count_text(Buf *b, uint32_t errors, uint32_t warnings) {
  if (errors) buf_printf(b, "%u error%s", errors, errors == 1 ? "" : "s");
  if (errors && warnings) buf_str(b, ", ");
  if (warnings) buf_printf(b, "%u warning%s", warnings, warnings == 1 ? "" : "s");
}

/* E009 without a place in the text is about a file of the command line, or about the standard library. */
static Leave diags_leave(const Diags *d) {
  if (!d->errors) return LEAVE_OK;
  for (uint32_t i = 0; i < d->all.len; i++)
    if (d->all.at[i]->code == D_E009 && !d->all.at[i]->spans.at[0].span.src) return LEAVE_MACHINE;
  return LEAVE_PROGRAM;
}

void diags_show(Session *s, Diags *d) {
  Buf b = buf_new(s->arena);
  Diag **in_order = s->guest ? diags_sorted(d) : NULL;
  for (uint32_t i = 0; in_order && i < d->all.len; i++)
    vec_push(s->arena, s->guest->heard, ((Heard){.diag = in_order[i], .error = in_order[i]->kind == DIAG_ERROR}));
  diags_text(d, &b, s->colour);
  count_text(&b, d->errors, d->warnings);
  buf_char(&b, '\n');
  if (s->guest) buf_add(&s->guest->err, b.s, b.len);
  else message(s, &b);
}

Leave session_report(Session *s) {
  Diags *d = s->diags;
  Leave l = diags_leave(d);
  session_fresh(s); /* reported complaints are not repeated */
  if (s->capture) {
    for (uint32_t i = 0; i < d->all.len; i++)
      if (d->all.at[i]->kind == DIAG_ERROR) vec_push(s->arena, s->captured, d->all.at[i]->text);
    if (d->errors) s->refused = d;
    return l;
  }
  for (uint32_t i = 0; s->collect && i < d->all.len; i++) {
    d->all.at[i]->order = s->collect->all.len;
    vec_push(s->arena, s->collect->all, d->all.at[i]);
  }
  if (!s->collect && (d->errors || d->warnings)) diags_show(s, d);
  return l;
}
