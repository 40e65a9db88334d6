/* driver/repl/cmd_repl.c - ein repl: lines in, turns taken, answers out; to a person, to a pipe, or as JSON. */
#include <string.h>
#include <unistd.h>

#include "driver/compile/native.h"
#include "line.h"

/* Whatever a turn says and answers lies in an arena of its own. */
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

typedef struct Taking { Prompt *p; const char *text; Leave leave; } Taking;

static void take_it(void *env) {
  Taking *t = env;
  t->leave = prompt_take(t->p, t->text);
}

/* Where memory runs out, or we are wrong, the turn ends, and the sheet is as it was: it gets nothing but what is whole. What the turn had taken
 * stays lost: some of it may be in the sheet. */
static Leave take(Prompt *p, const char *text) {
  Taking t = {p, text, LEAVE_OK};
  char why[1000];
  Went went = guarded(take_it, &t, false, why, sizeof why);
  if (went == WENT_WELL) return t.leave;
  interrupt_end(p->s);
  if (went == WENT_NO_MEMORY) return fail(p->s, LEAVE_MACHINE, "%s; what is defined is as it was", why);
  return fail(p->s, LEAVE_BUG, "internal error %s\nThis is a mistake in ein, not in your program; what is defined is as it was", why);
}

static Leave turn(Prompt *p, Session *process, const char *text) {
  Answer x;
  answer_begin(&x, p, process);
  Leave l = take(p, text);
  print(process, &x.out);
  fflush(stdout);
  answer_end(&x, p, process);
  return l;
}

/* ---- people, and pipes ----------------------------------------------------------------------------- */

/* The lines of one turn; false: there are no more. Ctrl-C drops what was typed so far. */
static bool text_read(Lines *lines, uint32_t *n, Buf *text) {
  bool dropped;
  const char *line = lines_next(lines, "ein> ", &dropped);
  *n = 0;
  if (!line) return false;
  do {
    if (*n) buf_char(text, '\n');
    buf_str(text, line);
    (*n)++;
  } while (prompt_open(text->s ? text->s : "") && (line = lines_next(lines, "...> ", &dropped)) && !dropped);
  if (dropped) *text = buf_new(text->arena);
  return true;
}

static Leave lines_take(Prompt *p, Session *process, bool terminal) {
  Lines *lines = lines_open(p, terminal);
  Leave l = LEAVE_OK;
  while (!p->over && (terminal || !l)) {
    Arena *a = arena_new();
    Buf text = buf_new(a);
    uint32_t n;
    if (text_read(lines, &n, &text)) l = turn(p, process, text.s ? text.s : "");
    else if (terminal) p->over = fputs("\n", stdout) != 0;
    else p->over = true;
    p->line += n;
    arena_free(a);
  }
  lines_close(lines);
  return terminal || !l ? LEAVE_OK : l == LEAVE_BUG ? l : LEAVE_PROGRAM; /* whatever is wrong with a script, it is wrong */
}

/* ---- tools ------------------------------------------------------------------------------------------ */

/* A string, or an object with a string `text`; NULL after a complaint. */
static const char *line_json(Session *s, const char *line) {
  JsonValue *v = json_read(s->arena, source_new(s->arena, "<stdin>", line, strlen(line)), s->diags);
  const JsonValue *text = v && v->kind == JSON_OBJECT ? json_member(v, "text") : v;
  if (v && (!text || text->kind != JSON_STRING)) fail(s, LEAVE_USAGE, "a line is a JSON string, or an object with a string \"text\"");
  else if (!v) (void)session_report(s);
  return text && text->kind == JSON_STRING ? text->text : NULL;
}

static void answer_json(Answer *x, Leave l, const Buf *values) {
  Buf b = buf_new(x->arena), said = buf_new(x->arena);
  Json j = json_new(&b);
  j.compact = true;
  json_object(&j, NULL);
  json_bool(&j, "ok", l == LEAVE_OK);
  json_strn(&j, "text", x->out.s ? x->out.s : "", x->out.len);
  json_raw(&j, "values", values->s, values->len);
  for (uint32_t i = 0; i < x->home.captured.len; i++) buf_printf(&said, "%s%s", i ? "\n" : "", x->home.captured.at[i]);
  if (l) json_str(&j, "error", said.s ? said.s : "");
  json_end(&j, '}');
  while (b.len && b.s[b.len - 1] == '\n') b.len--;
  buf_char(&b, '\n');
  print(&x->home, &b);
  fflush(stdout);
}

static void turn_json(Prompt *p, Session *process, const char *line) {
  Answer x;
  answer_begin(&x, p, process);
  Buf values = buf_new(x.arena);
  Json j = json_new(&values);
  j.compact = true;
  json_array(&j, NULL);
  p->values = &j;
  x.home.capture = true;
  session_fresh(&x.home);
  interrupt_clear();
  const char *text = line_json(&x.home, line);
  Leave l = text ? take(p, text) : LEAVE_USAGE;
  json_end(&j, ']');
  answer_json(&x, l, &values);
  p->values = NULL;
  answer_end(&x, p, process);
}

static Leave json_take(Prompt *p, Session *process) {
  Lines *lines = lines_open(p, false);
  bool dropped;
  for (const char *line; !p->over && (line = lines_next(lines, "", &dropped)); p->line++)
    if (*line) turn_json(p, process, line);
  lines_close(lines);
  return LEAVE_OK;
}

/* ---- the command ------------------------------------------------------------------------------------ */

Leave cmd_repl(Session *s, Args *a) {
  bool json = arg_has(a, OPT_JSON), terminal = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && !json;
  Prompt p = {.s = s, .args = *a, .sheet = sheet_new(), .talks = terminal || json, .file = terminal || json ? "<prompt>" : "<stdin>", .line = 1};
  if (a->operands.len > 1) return fail(s, LEAVE_USAGE, "one file at most: ein repl x.ein");
  Leave l = LEAVE_OK;
  if (terminal || json) interrupt_watch();
  if (terminal) fputs("Ein " EIN_VERSION ": type an equation, an expression, or :help\n", stdout);
  if (a->operands.len) l = turn(&p, s, arena_printf(s->arena, ":load %s", a->operands.at[0]));
  if (json) l = json_take(&p, s);
  else if (!l || terminal) l = lines_take(&p, s, terminal);
  sheet_end(p.sheet);
  return l;
}
