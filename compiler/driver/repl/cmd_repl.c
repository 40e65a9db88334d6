/* driver/repl/cmd_repl.c - ein repl: reads lines and prints the answers; for a person, for a pipe, or as JSON. */
#include <string.h>
#include <unistd.h>

#include "base/utf8.h"
#include "driver/compile/native.h"
#include "line.h"

/* Everything that a query says and answers has its own arena. */
typedef struct Answer { Arena *arena; Session home; Buf out; } Answer;

static void answer_begin(Answer *x, Prompt *p, Session *process) {
  Arena *a = arena_new();
  *x = (Answer){.arena = a, .home = *process, .out = buf_new(a)};
  x->home.arena = a;
  p->s = &x->home;
  p->out = &x->out;
}

static void answer_end(Answer *x, Prompt *p, Session *process) {
  process->without_jit = x->home.without_jit;
  p->s = process;
  p->out = NULL;
  arena_free(x->arena);
}

typedef struct Taking { Prompt *p; const char *text; size_t n; Leave leave; } Taking;

static void take_it(void *env) {
  Taking *t = env;
  t->leave = prompt_take(t->p, t->text, t->n);
}

/* If memory runs out, or there is a bug, the query ends, and the sheet is unchanged: it only gets complete entries.
 * The query's memory is not freed: some of it may be in the sheet. */
static Leave take(Prompt *p, const char *text, size_t n) {
  Taking t = {p, text, n, LEAVE_OK};
  char why[1000];
  Went went = guarded(take_it, &t, false, why, sizeof why);
  if (went == WENT_WELL) return t.leave;
  loading_drop(p);
  interrupt_end(p->s);
  if (went == WENT_NO_MEMORY) return fail(p->s, LEAVE_MACHINE, "%s; what is defined is as it was", why);
  return fail(p->s, LEAVE_BUG,
      "internal error %s\nThis is a mistake in ein, not in your program; what is defined is as it was", why);
}

static Leave query(Prompt *p, Session *process, const char *text, size_t n) {
  Answer x;
  answer_begin(&x, p, process);
  Leave l = take(p, text, n);
  print(process, &x.out);
  if (!print_now(process)) p->over = true; /* nobody reads our output */
  answer_end(&x, p, process);
  return l;
}

/* ---- people and pipes ------------------------------------------------------------------------------ */

/* Reads the lines of one query; false: there are no more. Ctrl-C drops the current input. */
static bool text_read(Lines *lines, bool terminal, uint32_t *n, Buf *text) {
  bool dropped;
  size_t length;
  const char *line = lines_next(lines, "ein> ", &dropped, &length);
  *n = 0;
  if (!line) return false;
  do {
    if (*n) buf_char(text, '\n');
    buf_add(text, line, length);
    (*n)++;
  } while (prompt_open(text->s ? text->s : "") && (line = lines_next(lines, "...> ", &dropped, &length)) && !dropped);
  if (dropped) *text = buf_new(text->arena);
  if (!line && terminal) fputs("\n", stdout); /* Ctrl-D leaves the cursor behind it */
  return true;
}

static Leave lines_take(Prompt *p, Session *process, bool terminal) {
  Lines *lines = lines_open(p, terminal);
  Leave l = LEAVE_OK;
  while (!p->over && (terminal || !l)) {
    Arena *a = arena_new();
    Buf text = buf_new(a);
    uint32_t n;
    if (text_read(lines, terminal, &n, &text)) l = query(p, process, text.s, text.len);
    else if (terminal) p->over = fputs("\n", stdout) != 0;
    else p->over = true;
    p->line += n;
    arena_free(a);
  }
  lines_close(lines);
  return terminal || !l ? LEAVE_OK : l == LEAVE_BUG ? l : LEAVE_PROGRAM; /* any error makes a script fail */
}

/* ---- tools ------------------------------------------------------------------------------------------ */

/* The request of a line: exactly one of the three is set. */
typedef struct Request {
  const char *text, *complete, *whole;
  const char *file;          /* the text's position, if given, */
  int64_t line;              /*   from which line on */
} Request;

static const char *string_of(const JsonValue *v, const char *name) {
  const JsonValue *x = json_member(v, name);
  return x && x->kind == JSON_STRING ? x->text : NULL;
}

static Leave request_read(Session *s, const char *line, size_t n, Request *r) {
  JsonValue *v = json_read(s->arena, source_new(s->arena, "<stdin>", line, n), s->diags);
  if (!v) return (void)session_report(s), LEAVE_USAGE;
  const JsonValue *at = json_member(v, "line");
  *r = (Request){v->kind == JSON_STRING ? v->text : string_of(v, "text"), string_of(v, "complete"),
      string_of(v, "whole"), string_of(v, "file"), 1};
  if (at && (at->kind != JSON_NUMBER || !at->whole || at->integer < 1 || at->integer > PROGRAM_BYTES))
    return fail(s, LEAVE_USAGE, "\"line\" is a number of a line, from 1 on");
  if (at) r->line = at->integer;
  if ((r->text != NULL) + (r->complete != NULL) + (r->whole != NULL) == 1) return LEAVE_OK;
  return fail(
      s, LEAVE_USAGE, "a line is a JSON string, or an object with one string \"text\", \"complete\" or \"whole\"");
}

/* Takes the text, at its place in a file if given. */
static Leave request_take(Prompt *p, const Request *r) {
  const char *file = p->file;
  uint32_t line = p->line;
  if (r->file) p->file = r->file, p->line = (uint32_t)r->line;
  Leave l = take(p, r->text, strlen(r->text));
  p->file = file;
  p->line = line;
  return l;
}

/* The start of words is given in code points. */
static void complete_json(Prompt *p, Json *j, const char *text) {
  size_t from, n = strlen(text);
  Texts words = prompt_completions(p->s->arena, p, text, &from);
  int64_t points = 0;
  for (size_t at = 0; at < from; points++) {
    uint32_t c;
    size_t k = utf8_read(text + at, n - at, &c);
    at += k ? k : 1;
  }
  json_int(j, "from", points);
  json_each(j, "words", i, words.len) json_str(j, NULL, words.at[i]);
}

static void answer_json(Answer *x, Prompt *p, Leave l, const Request *r, const Buf *values) {
  Buf b = buf_new(x->arena), said = buf_new(x->arena);
  Json j = json_new(&b);
  j.compact = true;
  json_object(&j, NULL);
  json_bool(&j, "ok", l == LEAVE_OK);
  if (!l && r->complete) complete_json(p, &j, r->complete);
  if (!l && r->whole) json_bool(&j, "whole", !prompt_open(r->whole));
  if (l || r->text) {
    json_strn(&j, "text", x->out.s, x->out.len);
    json_raw(&j, "values", values->s, values->len);
  }
  if (p->svg->len) json_strn(&j, "svg", p->svg->s, p->svg->len);
  for (uint32_t i = 0; i < x->home.captured.len; i++) buf_printf(&said, "%s%s", i ? "\n" : "", x->home.captured.at[i]);
  if (l) json_str(&j, "error", said.s);
  json_end(&j, '}');
  while (b.len && b.s[b.len - 1] == '\n') b.len--;
  buf_char(&b, '\n');
  print(&x->home, &b);
  if (!print_now(&x->home)) p->over = true;
}

static void query_json(Prompt *p, Session *process, const char *line, size_t n) {
  Answer x;
  Request r = {0};
  answer_begin(&x, p, process);
  Buf values = buf_new(x.arena), svg = buf_new(x.arena);
  Json j = json_new(&values);
  j.compact = true;
  json_array(&j, NULL);
  p->values = &j;
  p->svg = &svg;
  x.home.capture = true;
  session_fresh(&x.home);
  interrupt_clear();
  Leave l = request_read(&x.home, line, n, &r);
  if (!l && r.text) l = request_take(p, &r);
  json_end(&j, ']');
  answer_json(&x, p, l, &r, &values);
  p->values = NULL;
  p->svg = NULL;
  answer_end(&x, p, process);
}

static Leave json_take(Prompt *p, Session *process) {
  Lines *lines = lines_open(p, false);
  bool dropped;
  size_t n;
  for (const char *line; !p->over && (line = lines_next(lines, "", &dropped, &n)); p->line++)
    if (n) query_json(p, process, line, n);
  lines_close(lines);
  return LEAVE_OK;
}

/* ---- the command ------------------------------------------------------------------------------------ */

Leave cmd_repl(Session *s, Args *a) {
  bool json = arg_has(a, OPT_JSON), terminal = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && !json;
  Prompt p = {.s = s,
      .args = *a,
      .sheet = sheet_new(),
      .talks = terminal || json,
      .file = terminal || json ? "<prompt>" : "<stdin>",
      .line = 1,
      .folder = "."};
  if (a->operands.len > 1) return fail(s, LEAVE_USAGE, "one file at most: ein repl x.ein");
  Leave l = LEAVE_OK;
  if (terminal || json) interrupt_watch();
  JitAhead *ahead = p.talks && !arg_has(a, OPT_ISOLATE) ? jit_ahead(s, a) : NULL; /* workers must have no threads */
  if (terminal) fputs("Ein " EIN_VERSION ": type an equation, an expression, or :help\n", stdout);
  bool file = a->operands.len && strcmp(a->operands.at[0], "-") != 0; /* "-": standard input, which is read anyway */
  const char *load = file ? arena_printf(s->arena, ":load %s", a->operands.at[0]) : NULL;
  if (load) l = query(&p, s, load, strlen(load));
  if (json) l = json_take(&p, s);
  else if (!l || terminal) l = lines_take(&p, s, terminal);
  sheet_end(p.sheet);
  jit_ahead_end(s, ahead);
  return l;
}
