/* driver/repl/edit.c - lines from a terminal, edited by libedit: persistent history, completion, pasted text. The
 * only file that uses libedit. Ctrl-C drops the input; elsewhere than at the prompt it is a signal (interrupt.c). */
#include <histedit.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "driver/compile/native.h"
#include "line.h"

enum { HISTORY_MOST = 1000, LISTED_MOST = 60 };

typedef struct Edit {
  Arena *arena;
  Prompt *p;
  EditLine *el;
  History *history;
  const char *file;          /* of the history; NULL: none */
  const char *prompt;
  char *pasted;              /* pasted lines still to be taken, NULL: none */
  char *line;                /* the last one given */
  bool dropped;              /* Ctrl-C */
} Edit;

static Edit *edit_of(EditLine *el) {
  Edit *e = NULL;
  el_get(el, EL_CLIENTDATA, &e);
  return e;
}

static char *prompt_of(EditLine *el) {
  return (char *)(uintptr_t)edit_of(el)->prompt;
}

/* ---- keys ----------------------------------------------------------------------------------------- */

/* Ends the line as if by hand: libedit shows it whole, and goes to the next. */
static unsigned char line_end(EditLine *el) {
  el_push(el, "\n");
  return CC_REFRESH;
}

static unsigned char key_interrupt(EditLine *el, int key) {
  (void)key;
  edit_of(el)->dropped = true;
  el_insertstr(el, "^C");
  return line_end(el);
}

/* Between two prompts a terminal would turn Ctrl-D into an end of file, which at the next prompt is read as 0. So it is
 * no such key to the terminal while it is ours. */
static void key_leave_kept(EditLine *el, bool kept) {
  el_set(el, EL_SETTY, "-x", kept ? "eof=" : "eof=^D", NULL);
}

static unsigned char key_suspend(EditLine *el, int key) {
  (void)key;
  key_leave_kept(el, false);
  el_set(el, EL_PREP_TERM, 0);
  kill(0, SIGTSTP); /* the whole process group, as the terminal would */
  key_leave_kept(el, true);
  el_set(el, EL_PREP_TERM, 1);
  return CC_REDISPLAY;
}

static bool ends_in(const char *s, size_t n, const char *end) {
  size_t m = strlen(end);
  return n >= m && memcmp(s + n - m, end, m) == 0;
}

/* Handles what the terminal sends between ESC[200~ and ESC[201~: its lines are taken one after the other; text after
 * the last one counts as typed. */
static unsigned char key_paste(EditLine *el, int key) {
  static const char end[] = "\033[201~";
  Edit *e = edit_of(el);
  Buf b = buf_new(e->arena);
  wchar_t w;
  (void)key;
  while (!ends_in(b.s, b.len, end) && el_wgetc(el, &w) == 1) {
    char bytes[16];
    int n = wctomb(bytes, w == L'\r' ? L'\n' : w == L'\t' ? L' ' : w);
    if (n > 0) buf_add(&b, bytes, (size_t)n);
  }
  if (b.len >= strlen(end)) b.s[b.len -= strlen(end)] = 0;
  char *first = strchr(b.s, '\n');
  if (first) {
    e->pasted = first + 1;
    *first = 0;
  }
  if (b.len && *b.s && el_insertstr(el, b.s) != 0) return CC_ERROR;
  return first ? line_end(el) : CC_REFRESH;
}

static size_t common_prefix(const Texts *all) {
  size_t n = strlen(all->at[0]);
  for (uint32_t i = 1; i < all->len; i++) {
    size_t k = 0;
    while (k < n && all->at[i][k] == all->at[0][k]) k++;
    n = k;
  }
  while (n && ((unsigned char)all->at[0][n] & 0xC0) == 0x80) n--; /* not within a character */
  return n;
}

static void list_choices(const Texts *all) {
  putchar('\n');
  for (uint32_t i = 0; i < all->len && i < LISTED_MOST; i++) printf("%s%s", i ? "  " : "", all->at[i]);
  puts(all->len > LISTED_MOST ? "  ..." : "");
}

static unsigned char key_complete(EditLine *el, int key) {
  const LineInfo *line = el_line(el);
  Arena *a = arena_new();
  size_t n = (size_t)(line->cursor - line->buffer), from = n;
  const char *text = arena_printf(a, "%.*s", (int)n, line->buffer);
  Texts all = prompt_completions(a, edit_of(el)->p, text, &from);
  unsigned char done = CC_ERROR;
  (void)key;
  if (all.len) {
    size_t whole = common_prefix(&all), had = n - from;
    const char *more = arena_printf(a, "%.*s", (int)(whole - had), all.at[0] + had);
    done = CC_REFRESH;
    if (*more) done = el_insertstr(el, more) == 0 ? CC_REFRESH : CC_ERROR;
    else if (all.len > 1) list_choices(&all), done = CC_REDISPLAY;
  }
  arena_free(a);
  return done;
}

/* ---- history: one line of the file each, so that two sessions mix and lose none -------------------- */

static const char *history_file(Arena *a) {
  const char *said = getenv("EIN_HISTORY"), *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
  if (said) return *said ? said : NULL;
  if (!(state && *state == '/') && !(home && *home == '/')) return NULL;
  const char *folder =
      state && *state == '/' ? arena_printf(a, "%s/ein", state) : arena_printf(a, "%s/.local/state/ein", home);
  return folder_made(a, folder) ? arena_printf(a, "%s/history", folder) : NULL;
}

static void history_read(Edit *e) {
  HistEvent ev;
  const char *why;
  Arena *a = arena_new();
  Source *src = e->file ? source_read(a, e->file, &why) : NULL;
  for (const char *at = src ? src->bytes : ""; *at;) {
    size_t n = strcspn(at, "\n");
    if (n) history(e->history, &ev, H_ENTER, arena_printf(a, "%.*s", (int)n, at));
    at += n + (at[n] == '\n');
  }
  arena_free(a);
}

static void history_add(Edit *e, const char *line) {
  HistEvent ev;
  if (!line[strspn(line, " \t")]) return;
  history(e->history, &ev, H_ENTER, line);
  FILE *f = e->file ? fopen(e->file, "a") : NULL;
  if (!f) return;
  fprintf(f, "%s\n", line);
  fclose(f);
}

/* ---- lines ------------------------------------------------------------------------------------------- */

/* Names have letters of all scripts. Uses no more of a locale than that. */
static void letters_of_all(void) {
  if (!setlocale(LC_CTYPE, "C.UTF-8")) setlocale(LC_CTYPE, "");
}

void *edit_open(Prompt *p) {
  Arena *a = arena_new();
  Edit *e = NEW(a, Edit);
  HistEvent ev;
  letters_of_all();
  *e = (Edit){.arena = a,
      .p = p,
      .el = el_init("ein", stdin, stdout, stderr),
      .history = history_init(),
      .file = history_file(a),
      .prompt = ""};
  if (!e->el || !e->history) return arena_free(a), NULL;
  history(e->history, &ev, H_SETSIZE, HISTORY_MOST);
  history(e->history, &ev, H_SETUNIQUE, 1);
  history_read(e);
  el_set(e->el, EL_CLIENTDATA, e);
  el_set(e->el, EL_PROMPT, prompt_of);
  el_set(e->el, EL_EDITOR, "emacs");
  el_set(e->el, EL_HIST, history, e->history);
  el_set(e->el, EL_ADDFN, "ein-complete", "complete a name", key_complete);
  el_set(e->el, EL_ADDFN, "ein-interrupt", "drop the line", key_interrupt);
  el_set(e->el, EL_ADDFN, "ein-suspend", "give the terminal back to the shell", key_suspend);
  el_set(e->el, EL_ADDFN, "ein-paste", "take pasted text", key_paste);
  el_set(e->el, EL_BIND, "^I", "ein-complete", NULL);
  el_set(e->el, EL_BIND, "^C", "ein-interrupt", NULL);
  el_set(e->el, EL_BIND, "^R", "em-inc-search-prev", NULL);
  el_set(e->el, EL_BIND, "\033[200~", "ein-paste", NULL);
  el_set(e->el, EL_BIND, "^Z", "ein-suspend", NULL);
  el_set(e->el, EL_SETTY, "-d", "-isig", NULL); /* during editing, so that these are keys, not signals */
  key_leave_kept(e->el, true);
  el_source(e->el, NULL);
  fputs("\033[?2004h", stdout);
  return e;
}

static const char *pasted_next(Edit *e) {
  char *line = e->pasted, *end = strchr(line, '\n');
  if (!end) { /* the start of a line that is still being typed */
    el_push(e->el, line);
    e->pasted = NULL;
    return NULL;
  }
  *end = 0;
  e->pasted = end + 1;
  printf("%s%s\n", e->prompt, line);
  return line;
}

const char *edit_next(void *edit, const char *prompt, bool *dropped) {
  Edit *e = edit;
  int n = 0;
  e->prompt = prompt;
  e->dropped = *dropped = false;
  const char *line = e->pasted ? pasted_next(e) : NULL;
  if (!line) {
    fflush(stdout);
    interrupt_clear();
    el_set(e->el, EL_PREP_TERM, 1); /* before the prompt appears, so that what is typed then is read as keys */
    line = el_gets(e->el, &n);
  }
  *dropped = e->dropped;
  if (e->dropped) return e->pasted = NULL, "";
  if (!line) return NULL;
  free(e->line);
  e->line = strndup(line, strcspn(line, "\r\n"));
  if (!e->line) return NULL;
  history_add(e, e->line);
  return e->line;
}

void edit_close(void *edit) {
  Edit *e = edit;
  fputs("\033[?2004l", stdout);
  fflush(stdout);
  history_end(e->history);
  el_end(e->el);
  free(e->line);
  arena_free(e->arena);
}
