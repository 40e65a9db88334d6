/* driver/repl/command.c - commands of the prompt, one per line of commands.def. */
#include <stdlib.h>
#include <string.h>

#include "emit/emit.h"
#include "driver/compile/native.h"
#include "driver/pictures/graph_svg.h"
#include "repl.h"

#define PROMPT(name, operand, help) static Leave do_##name(Prompt *p, const char *operand_);
#define LOOK(name, operand, help) static Leave look_##name(Prompt *p, Query *q);
#include "commands.def"
#undef PROMPT
#undef LOOK

const PromptCommand prompt_commands[] = {
#define PROMPT(name, operand, help) {#name, operand, help, do_##name, NULL},
#define LOOK(name, operand, help) {#name, operand, help, NULL, look_##name},
#include "commands.def"
#undef PROMPT
#undef LOOK
  {NULL, NULL, NULL, NULL, NULL}};

/* ---- help, variables ------------------------------------------------------------------------------ */

static Leave do_help(Prompt *p, const char *what) {
  size_t n = strlen(what);
  const char *bare = *what == ':' ? what + 1 : what;
  if (!n)
    buf_str(p->out,
        "An expression shows its value:            A[i,j] * 2, or sum[i] A[i,j]\n"
        "A statement defines:                      B[i,j] = 2 * A[i,j], or dim N = 4, or def twice(x) = 2 * x\n"
        "A value comes from a file:                A = load(\"a.npy\")\n"
        "To redefine a name, define it again:      what depends on it is recomputed when you ask for it\n\n");
  bool any = false;
  for (const PromptCommand *c = prompt_commands; c->name; c++) {
    if (n && strcmp(c->name, bare) != 0) continue;
    buf_printf(p->out, ":%-6s %-11s %s\n", c->name, c->operand, c->help);
    any = true;
  }
  return any ? LEAVE_OK : fail(p->s, LEAVE_USAGE, "there is no command :%s; :help lists them", bare);
}

static const char *state_of(const Entry *e, uint32_t k) {
  if (e->source) return arena_printf(e->arena, "from %s", e->source);
  if (e->value[k].arena) return "computed";
  return e->has_default || e->kind == STMT_EQUATION || e->kind == STMT_REPEAT ? "not computed yet" : "no value yet";
}

static void var_line(Prompt *p, const Entry *e, uint32_t k) {
  const Kept *v = &e->value[k];
  Query q;
  const char *name = e->name[k], *asked;
  if (v->arena) {
    report_heading(p->out, name, v->axis, &v->array);
    buf_printf(p->out, "  %s\n", state_of(e, k));
    return;
  }
  bool was = p->s->capture;
  uint32_t said = p->s->captured.len;
  p->s->capture = true; /* what no longer fits is reported when it is asked for */
  Leave l = ask_begin(p, &q, name, false, OUTLINE_ANY, &asked);
  const EinOutput *o = l ? NULL : query_output(&q, name);
  if (o) query_heading(&q, p->out, name, o->node);
  else buf_str(p->out, name);
  buf_printf(p->out, "  %s\n", l ? "does not fit what it uses any more" : state_of(e, k));
  query_end(&q);
  p->s->capture = was;
  p->s->captured.len = said;
}

static Leave do_vars(Prompt *p, const char *operand) {
  (void)operand;
  for (uint32_t i = 0; i < p->sheet->n; i++) {
    const Entry *e = p->sheet->at[i];
    if (!entry_is_tensor(e)) buf_printf(p->out, "%s\n", e->text);
    for (uint32_t k = 0; entry_is_tensor(e) && k < e->n_names; k++) var_line(p, e, k);
  }
  return LEAVE_OK;
}

/* ---- about an expression ---------------------------------------------------------------------------- */

static const EinNode *input_node(const Query *q, const char *name) {
  for (uint32_t i = 0; i < q->job.graph->inputs.len; i++)
    if (strcmp(q->job.graph->inputs.at[i]->name->s, name) == 0) return q->job.graph->inputs.at[i];
  return NULL;
}

static Leave say_type(Prompt *p, const char *text, bool shape_only) {
  Query q;
  const char *name;
  EvalArray x;
  Leave l = ask_begin(p, &q, text, true, OUTLINE_ANY, &name);
  const EinNode *n = NULL;
  if (!l && query_output(&q, name)) n = query_output(&q, name)->node;
  if (!l && !n) n = input_node(&q, name);
  if (n && shape_only && job_shape(q.s.arena, &q.job, n, &x)) {
    for (uint32_t k = 0; k < x.rank; k++) buf_printf(p->out, "%s%lld", k ? " " : "", (long long)x.shape[k]);
    buf_char(p->out, '\n');
  } else if (n) {
    query_heading(&q, p->out, strcmp(name, q.name) == 0 ? "" : name, n);
    buf_char(p->out, '\n');
  }
  query_end(&q);
  return l;
}

static Leave do_type(Prompt *p, const char *text) {
  const char *definition = definition_text(p->out->arena, p, text);
  if (definition) return buf_printf(p->out, "%s\n", definition), LEAVE_OK;
  return say_type(p, text, false);
}

static Leave do_shape(Prompt *p, const char *text) {
  return say_type(p, text, true);
}

/* The value of the query, computed if it is unknown; false: it has none. */
static bool value_of(const Prompt *p, const Query *q, const char *name, const char *const **axis, const EvalArray **x) {
  uint32_t which;
  const Entry *e = sheet_find(p->sheet, name, &which);
  if (e && e->value[which].arena) return *axis = e->value[which].axis, *x = &e->value[which].array, true;
  const EinOutput *o = query_output(q, name);
  if (!o) return false;
  *axis = report_axes(q->s.arena, o->node);
  *x = &q->eval.output[o - q->job.graph->outputs.at];
  return true;
}

static Leave do_plot(Prompt *p, const char *text) {
  Query q;
  const char *name, *const *axis;
  const EvalArray *x;
  Leave l = ask_begin(p, &q, text, false, OUTLINE_KNOWN, &name);
  if (!l) l = query_prepare(&q);
  if (!l) l = query_compute(&q);
  if (!l) query_keep(&q);
  if (!l && !value_of(p, &q, name, &axis, &x)) l = fail(&q.s, LEAVE_PROGRAM, "%s has no value yet", name);
  else if (!l) l = prompt_plot(p, strcmp(name, q.name) == 0 ? "" : name, axis, x);
  query_end(&q);
  return l;
}

/* ---- gradients -------------------------------------------------------------------------------------- */

/* Axes that have no label get one. */
static void read_write(Prompt *p, Buf *b, const char *name, const EinNode *n) {
  const char *const *axis = report_axes(b->arena, n);
  buf_str(b, name);
  for (uint32_t k = 0; k < n->rank; k++) {
    char own[] = {(char)('i' + k % 17), 0};
    const char *label = *axis[k] ? axis[k] : own;
    buf_printf(b, "%s%s%s", k ? "," : "[", label, sheet_find(p->sheet, label, NULL) ? "_" : "");
  }
  if (n->rank) buf_char(b, ']');
}

/* Shows the gradient of an expression by one tensor, as the expression that a user would write. */
static Leave grad_show(Prompt *p, const char *text, const char *by) {
  Query q;
  const char *name;
  Buf b = buf_new(p->out->arena);
  Leave l = ask_begin(p, &q, by, true, OUTLINE_ANY, &name);
  const EinOutput *o = l ? NULL : query_output(&q, name);
  const EinNode *n = l ? NULL : o ? o->node : input_node(&q, name);
  if (n && strcmp(name, q.name) != 0) {
    buf_printf(&b, "grad(%s, ", text);
    read_write(p, &b, name, n);
    buf_char(&b, ')');
  }
  else if (!l) l = fail(&q.s, LEAVE_USAGE, "%s is not the name of a tensor", by);
  query_end(&q);
  if (l) return l;
  size_t before = p->out->len;
  buf_printf(p->out, "by %s: ", by);
  l = prompt_pieces(p, b.s, b.len);
  if (l) p->out->len = before;
  return l;
}

/* The inputs and params of floats that an expression reads. */
static Leave grad_operands(Prompt *p, const char *text, Texts *by) {
  Query q;
  const char *name;
  Leave l = ask_begin(p, &q, text, true, WHOLE, &name);
  for (uint32_t i = 0; !l && i < q.needs.len; i++) {
    const Entry *e = q.needs.at[i];
    if (e->kind != STMT_INPUT && e->kind != STMT_PARAM) continue;
    const EinOutput *o = query_output(&q, e->name[0]);
    const EinNode *n = o ? o->node : input_node(&q, e->name[0]);
    if (n && dtype_is_float(n->dtype)) vec_push(p->out->arena, *by, e->name[0]);
  }
  if (!l && !by->len)
    l = fail(&q.s, LEAVE_USAGE, "it reads no input or param of floats: say by what, as in :grad %s by W", text);
  query_end(&q);
  return l;
}

static Leave do_grad(Prompt *p, const char *text) {
  const char *by = NULL;
  Texts operands = {0};
  for (const char *at = text; (at = strstr(at, " by "));) by = at, at += 4;
  const char *of = by ? arena_printf(p->out->arena, "%.*s", (int)(by - text), text) : text;
  if (by) vec_push(p->out->arena, operands, by + 4 + strspn(by + 4, " \t"));
  Leave l = by ? LEAVE_OK : grad_operands(p, of, &operands);
  for (uint32_t i = 0; !l && i < operands.len; i++) l = grad_show(p, of, operands.at[i]);
  return l;
}

/* ---- what would be done ----------------------------------------------------------------------------- */

/* What would be computed for it, if its own value were unknown. */
static Leave look(Prompt *p, const char *text, PromptLook *at) {
  Query q;
  const char *name;
  Leave l = ask_begin(p, &q, text, true, OUTLINE_KNOWN, &name);
  if (!l) l = query_prepare(&q);
  if (!l) l = at(p, &q);
  query_end(&q);
  return l;
}

static Leave look_graph(Prompt *p, Query *q) {
  graph_print(p->out, q->job.graph);
  if (p->svg && !graph_svg(p->svg, q->job.graph)) p->svg->len = 0; /* more boxes than anybody would look at */
  return LEAVE_OK;
}

static Leave look_c(Prompt *p, Query *q) {
  Leave l = job_loops(&q->s, &q->job, q->args);
  if (l) return l;
  EmitOptions o = job_emit(&q->s, &q->job, "program");
  emit_c(p->out, q->job.loops, &o);
  return LEAVE_OK;
}

static Leave look_machine(Prompt *p, Query *q, JitForm form) {
  Compiler c;
  Leave l = compiler_choose(&q->s, q->args, arg_last(q->args, OPT_CC), arg_last(q->args, OPT_FLAGS), &c);
  c.dense = true; /* the arrays of a session are */
  if (!l) l = job_loops(&q->s, &q->job, q->args);
  return l ? l : kernels_show(&q->s, &q->job, &c, form, p->out);
}

static Leave look_ll(Prompt *p, Query *q) {
  return look_machine(p, q, JIT_IR);
}

static Leave look_asm(Prompt *p, Query *q) {
  return look_machine(p, q, JIT_ASSEMBLY);
}

static Leave look_plan(Prompt *p, Query *q) {
  if (arg_has(q->args, OPT_SITES)) return plan_sites_say(&q->s, &q->job, q->args, p->out, p->svg);
  return plan_say(&q->s, &q->job, q->args, p->out);
}

/* ---- how long it takes ------------------------------------------------------------------------------ */

static void seconds_text(Buf *b, double s) {
  if (s < 1e-3) buf_printf(b, "%.3g us", s * 1e6);
  else if (s < 1) buf_printf(b, "%.3g ms", s * 1e3);
  else buf_printf(b, "%.3g s", s);
}

static Leave look_time(Prompt *p, Query *q) {
  Leave l = query_compute(q);
  if (l) return l;
  seconds_text(p->out, q->seconds);
  buf_char(p->out, '\n');
  return LEAVE_OK;
}

static int by_size(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

enum { BENCH_MOST = 1000 };

/* Each run is a separate query, so that its memory is freed with it. The first one warms up. */
static Leave do_bench(Prompt *p, const char *text) {
  double took[BENCH_MOST], begun = seconds_now();
  uint32_t n = 0;
  Leave l = LEAVE_OK;
  for (uint32_t i = 0; !l && n < BENCH_MOST && (n < 3 || seconds_now() - begun < 1); i++) {
    Query q;
    const char *name;
    l = ask_begin(p, &q, text, true, OUTLINE_KNOWN, &name);
    if (!l) l = query_prepare(&q);
    if (!l) l = query_compute(&q);
    if (!l && i) took[n++] = q.seconds;
    query_end(&q);
  }
  if (l) return l;
  qsort(took, n, sizeof *took, by_size);
  buf_str(p->out, "median ");
  seconds_text(p->out, took[n / 2]);
  buf_str(p->out, "  least ");
  seconds_text(p->out, took[0]);
  buf_str(p->out, "  most ");
  seconds_text(p->out, took[n - 1]);
  buf_printf(p->out, "  of %u runs\n", n);
  return LEAVE_OK;
}

/* ---- files ------------------------------------------------------------------------------------------- */

static Leave do_load(Prompt *p, const char *path) {
  return prompt_load(p, path);
}

static Leave do_save(Prompt *p, const char *path) {
  if (!*path) return fail(p->s, LEAVE_USAGE, ":save wants a file: :save x.ein");
  return prompt_save(p, path);
}

static Leave value_write(Query *q, const char *name, const Kept *k, const char *path) {
  const EvalArray *x = &k->array;
  ein_error e = {0};
  ein_status st;
  ein_named_tensor one = {.name = name,
      .tensor = {.data = x->data,
          .device_type = 1,
          .ndim = (int32_t)x->rank,
          .dtype = (ein_dtype)x->dtype,
          .shape = x->shape}};
  const int rank = (int)x->rank;
  if (ein_ends_in(path, ".npy")) st = ein_npy_write(path, (ein_dtype)x->dtype, rank, x->shape, x->data, &e);
  else if (ein_ends_in(path, ".raw")) st = ein_raw_write(path, (ein_dtype)x->dtype, rank, x->shape, x->data, &e);
  else if (ein_ends_in(path, ".safetensors")) st = ein_safetensors_write(path, 1, &one, &e);
  else return fail(&q->s, LEAVE_USAGE, "%s: what kind of file is that? tensors go to .npy, .raw or .safetensors", path);
  return st == EIN_OK ? LEAVE_OK : fail(&q->s, status_leave(st), "%s", e.text);
}

static Leave do_write(Prompt *p, const char *words) {
  size_t n = strcspn(words, " \t");
  const char *path = words + n + strspn(words + n, " \t"), *asked;
  Query q;
  uint32_t which;
  char *name = arena_printf(p->out->arena, "%.*s", (int)n, words);
  Entry *e = sheet_find(p->sheet, name, &which);
  if (!n || !*path) return fail(p->s, LEAVE_USAGE, ":write wants a name and a file: :write Z z.npy");
  if (!e || !entry_is_tensor(e)) return fail(p->s, LEAVE_PROGRAM, "there is no tensor %s", name);
  Leave l = ask_begin(p, &q, name, false, OUTLINE_KNOWN, &asked);
  if (!l && !e->value[which].arena) {
    l = query_prepare(&q);
    if (!l) l = query_compute(&q);
    if (!l) query_keep(&q);
  }
  if (!l && !e->value[which].arena) l = fail(&q.s, LEAVE_PROGRAM, "%s has no value yet", name);
  if (!l) l = value_write(&q, name, &e->value[which], path);
  query_end(&q);
  return l;
}

/* ---- sites -------------------------------------------------------------------------------------------- */

static Leave do_sites(Prompt *p, const char *text) {
  int64_t n = 1;
  Words *given = &p->args.given[OPT_SITES];
  if (!*text) return buf_printf(p->out, "%s\n", given->len ? p->sites : "1"), LEAVE_OK;
  if (!int64_read(text, strlen(text), &n) || n < 1 || n > SITES_HERE)
    return fail(p->s, LEAVE_USAGE, ":sites wants a number from 1 to %d", SITES_HERE);
  snprintf(p->sites, sizeof p->sites, "%lld", (long long)n);
  p->sites_word = p->sites;
  *given = n > 1 ? (Words){&p->sites_word, 1, 1} : (Words){0};
  return LEAVE_OK;
}

static Leave do_deterministic(Prompt *p, const char *text) {
  static const char *word = ""; /* of an option without an argument */
  Words *given = &p->args.given[OPT_DETERMINISTIC];
  bool on = strcmp(text, "on") == 0, was = given->len > 0;
  if (!*text) return buf_printf(p->out, "%s\n", was ? "on" : "off"), LEAVE_OK;
  if (!on && strcmp(text, "off") != 0) return fail(p->s, LEAVE_USAGE, ":deterministic wants on or off");
  const char *target = target_said(p->s, &p->args);
  if (on && target && strcmp(target, "eval") == 0)
    return fail(p->s, LEAVE_USAGE,
        ":deterministic is of what is compiled; the evaluator has one order, and sums otherwise");
  *given = on ? (Words){&word, 1, 1} : (Words){0};
  if (on != was) sheet_forget_all(p->sheet); /* they have other bits */
  return LEAVE_OK;
}

/* ---- the session -------------------------------------------------------------------------------------- */

enum { LINE_MOST = 100 };

static void entry_line(Buf *b, const Entry *e) {
  if (e->source) buf_printf(b, "%s = load(\"%s\")\n", e->name[0], e->source);
  else {
    size_t n = strcspn(e->text, "\n");
    char *line = arena_printf(b->arena, "%.*s", (int)n, e->text);
    text_clip(line, LINE_MOST);
    buf_printf(b, "%s%s\n", line, e->text[n] ? " ..." : "");
  }
}

enum { UNDONE_MOST = 8 };

/* Reports the statements that the next :undo takes back. */
static void undone_tell(Prompt *p) {
  const Sheet *now = p->sheet, *before = now->before;
  Entries gone = {0};
  for (uint32_t i = 0; before && i < now->n; i++) {
    bool stays = false;
    for (uint32_t k = 0; k < before->n && !stays; k++) stays = before->at[k] == now->at[i];
    if (!stays) vec_push(p->out->arena, gone, now->at[i]);
  }
  for (uint32_t i = 0; i < gone.len && i < UNDONE_MOST; i++) {
    buf_str(p->out, "taken back: ");
    entry_line(p->out, gone.at[i]);
  }
  if (gone.len > UNDONE_MOST) buf_printf(p->out, "and %u more\n", gone.len - UNDONE_MOST);
}

static Leave do_undo(Prompt *p, const char *operand) {
  (void)operand;
  if (!p->sheet->before) return fail(p->s, LEAVE_USAGE, "there is nothing to take back");
  if (p->talks) undone_tell(p);
  sheet_forget_apart(p->sheet->before, p->sheet);
  p->sheet = sheet_undo(p->sheet);
  return LEAVE_OK;
}

static Leave do_reset(Prompt *p, const char *operand) {
  (void)operand;
  sheet_end(p->sheet);
  p->sheet = sheet_new();
  return LEAVE_OK;
}

static Leave do_quit(Prompt *p, const char *operand) {
  (void)operand;
  p->over = true;
  return LEAVE_OK;
}

static Leave command_unknown(Prompt *p, const char *name) {
  if (!*name) return fail(p->s, LEAVE_USAGE, "a command follows `:`; :help lists them");
  Nearest near = nearest_to(p->out->arena, name);
  for (const PromptCommand *c = prompt_commands; c->name; c++) nearest_try(&near, c->name);
  if (near.best) return fail(p->s, LEAVE_USAGE, "there is no command :%s; did you mean :%s?", name, near.best);
  return fail(p->s, LEAVE_USAGE, "there is no command :%s; :help lists them", name);
}

Leave prompt_command(Prompt *p, const char *line) {
  line += strspn(line, " \t") + 1;
  line += strspn(line, " \t");
  size_t n = strcspn(line, " \t\r\n");
  const char *name = arena_printf(p->out->arena, "%.*s", (int)n, line), *rest = line + n;
  rest += strspn(rest, " \t");
  size_t m = strlen(rest);
  while (m && strchr(" \t\r\n", rest[m - 1])) m--;
  rest = arena_printf(p->out->arena, "%.*s", (int)m, rest);
  for (const PromptCommand *c = prompt_commands; c->name; c++)
    if (strcmp(c->name, name) == 0) {
      if (*rest && !*c->operand)
        return fail(p->s, LEAVE_USAGE, ":%s takes nothing more, and here is %s", c->name, rest);
      return c->look ? look(p, rest, c->look) : c->run(p, rest);
    }
  return command_unknown(p, name);
}
