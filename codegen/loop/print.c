/* codegen/loop/print.c - prints a LoopProgram as text: the TaskGraph, the sites, then each kernel as a block of
 * statements. Loop variables and places are printed by name. docs/languages-inside.md has the grammar. */
#include "text.h"

#include "expr/word.h"

typedef struct Printer {
  Buf *out;
  const LoopKernel *k;       /* the current one, or NULL */
} Printer;

/* ---- expressions -------------------------------------------------------------------------------- */

static void print_name(Buf *out, Str s, const char *otherwise, int64_t number) {
  if (s && s->len)
    word_print(out, s);
  else
    buf_printf(out, "%s%lld", otherwise, (long long)number);
}

static void print_place(const Printer *p, int64_t place) {
  bool known = p->k && place >= 0 && place < (int64_t)p->k->places.len;
  print_name(p->out, known ? p->k->places.at[place].name : NULL, "?place", place);
}

static void print_var(const Printer *p, int64_t var) {
  bool known = p->k && var >= 0 && var < (int64_t)p->k->var.len;
  print_name(p->out, known ? p->k->var.at[var] : NULL, "?loop", var);
}

static void read_text(void *ctx, Buf *out, int64_t place) {
  (void)out; /* it is the printer's own */
  print_place(ctx, place);
}

static Str var_text(void *ctx, int64_t var) {
  const Printer *p = ctx;
  return p->k && var >= 0 && var < (int64_t)p->k->var.len ? p->k->var.at[var] : NULL;
}

/* Prints an expression, or "?". The turns of repeats are printed by depth: @t0 is the outermost's. */
static void print_expr(Printer *p, const Expr *e) {
  ExprNames names = {.ctx = p, .label = var_text, .read = read_text};
  if (e)
    expr_print(p->out, e, &names);
  else
    buf_char(p->out, '?');
}

static void print_exprs(Printer *p, uint32_t n, const Expr *const *e) {
  buf_char(p->out, '[');
  for (uint32_t i = 0; i < n; i++) {
    if (i) buf_str(p->out, ", ");
    print_expr(p, e[i]);
  }
  buf_char(p->out, ']');
}

static void print_with(Printer *p, const char *word, const Expr *e) {
  buf_str(p->out, word);
  print_expr(p, e);
}

/* ---- statements --------------------------------------------------------------------------------- */

static void print_indent(Printer *p, uint32_t level) {
  for (uint32_t i = 0; i < level; i++) buf_str(p->out, "  ");
}

/* `group x = X[i, j]`, `group Y[i, j] = y[0]` */
static void print_group(Printer *p, const LoopStmt *s) {
  buf_str(p->out, "group ");
  print_place(p, s->place);
  if (s->n_at) print_exprs(p, s->n_at, s->at);
  print_with(p, " = ", s->value);
  buf_char(p->out, '\n');
}

static void print_body(Printer *p, const LoopBody *body, uint32_t level);

const char loop_axis[] = "xyz";

/* `for i < hi from lo step 4 thread {`; the defaults are from 0, step 1, in order. */
static void print_for(Printer *p, const LoopStmt *s, uint32_t level) {
  static const char *const binds[] = {
      "", " thread", " vector", " short", " held", " unroll", " roll", " grid ", " block "};
  buf_str(p->out, "for ");
  print_var(p, s->var);
  print_with(p, " < ", s->hi);
  if (!s->lo || !expr_is_int(s->lo, 0)) print_with(p, " from ", s->lo);
  if (s->step != 1) buf_printf(p->out, " step %lld", (long long)s->step);
  buf_str(p->out, binds[s->bind]);
  if (s->bind >= BIND_GRID) buf_char(p->out, loop_axis[s->axis]);
  if (s->beside) buf_printf(p->out, " beside %lld", (long long)s->beside);
  if (s->polled) buf_printf(p->out, " polled %lld", (long long)s->polled);
  buf_str(p->out, " {\n");
  print_body(p, &s->body, level + 1);
  print_indent(p, level);
  buf_str(p->out, "}\n");
}

static void print_if(Printer *p, const LoopStmt *s, uint32_t level) {
  print_with(p, "if ", s->cond);
  buf_str(p->out, s->maybe ? " maybe {\n" : " {\n");
  print_body(p, &s->body, level + 1);
  print_indent(p, level);
  if (s->other.len) {
    buf_str(p->out, "} else {\n");
    print_body(p, &s->other, level + 1);
    print_indent(p, level);
  }
  buf_str(p->out, "}\n");
}

static void print_simple(Printer *p, const LoopStmt *s) {
  if (s->kind != LOOP_STORE) buf_str(p->out, s->kind == LOOP_LET ? "let " : s->kind == LOOP_LEAD ? "lead " : "var ");
  print_place(p, s->place);
  if (s->kind == LOOP_STORE) print_exprs(p, s->n_at, s->at);
  if (s->value || s->kind != LOOP_VAR) print_with(p, " = ", s->value);
  if (s->wide) buf_printf(p->out, " wide %lld", (long long)s->wide);
  if (s->step) buf_printf(p->out, " across %lld", (long long)s->step);
  buf_char(p->out, '\n');
}

/* `index i = (chunk // 8)` */
static void print_index(Printer *p, const LoopStmt *s) {
  buf_str(p->out, "index ");
  print_var(p, s->var);
  print_with(p, " = ", s->lo);
  buf_char(p->out, '\n');
}

/* `lanes f sin` */
static void print_lanes(Printer *p, const LoopStmt *s) {
  buf_str(p->out, "lanes ");
  print_place(p, s->place);
  buf_printf(p->out, " %s\n", (unsigned)s->op < OPS ? op_info[s->op].name : "?");
}

static void print_turn(Printer *p, const LoopStmt *s) {
  buf_str(p->out, "turn ");
  print_place(p, s->place);
  buf_char(p->out, '\n');
}

static void print_fetch(Printer *p, const LoopStmt *s) {
  buf_str(p->out, "fetch ");
  print_place(p, s->place);
  print_exprs(p, s->n_at, s->at);
  buf_str(p->out, s->step ? " second\n" : "\n");
}

/* `stream Y[i, j] = line[0] for 64`, `stream Y[i, 0, 0] = line[0] for 240 over 2` */
static void print_stream(Printer *p, const LoopStmt *s) {
  buf_str(p->out, "stream ");
  print_place(p, s->place);
  print_exprs(p, s->n_at, s->at);
  print_with(p, " = ", s->value);
  print_with(p, " for ", s->hi);
  if (s->step != 1) buf_printf(p->out, " over %lld", (long long)s->step);
  buf_char(p->out, '\n');
}

/* `matrix acc 64 by 32 by 16 of rows[a] steps 40 1 and lanes[b] steps 1 136` */
static void print_matrix(Printer *p, const LoopStmt *s) {
  const LoopMatrix *m = s->matrix;
  buf_str(p->out, "matrix ");
  print_place(p, s->place);
  buf_printf(p->out, " %lld by %lld by %lld", (long long)m->rows, (long long)m->lanes, (long long)m->deep);
  print_with(p, " of ", s->value);
  buf_printf(p->out, " steps %lld %lld", (long long)m->row_step, (long long)m->row_deep);
  print_with(p, " and ", s->other_side);
  buf_printf(p->out, " steps %lld %lld\n", (long long)m->lane_step, (long long)m->lane_deep);
}

static void print_over(Printer *p, const LoopStmt *s) {
  for (uint32_t i = 0; i < s->n_over; i++) {
    buf_str(p->out, i ? ", " : " over ");
    print_var(p, s->over[i].var);
    print_with(p, " < ", s->over[i].extent);
  }
}

/* `call Z[i, j] = my_gemm!(X[i, k], Y[k, j]) over i < 64, j < 64, k < 64` */
static void print_call(Printer *p, const LoopStmt *s) {
  buf_str(p->out, "call ");
  print_place(p, s->place);
  print_exprs(p, s->n_at, s->at);
  print_with(p, " = ", s->value);
  print_over(p, s);
  buf_char(p->out, '\n');
}

/* `product Z[i, j] = (X[i, k] * Y[k, j]) over i < 64, j < 64, k < 64 {`, then the launches after it; `} else {`, then
 * those in its place. */
static void print_product(Printer *p, const LoopStmt *s, uint32_t level) {
  buf_str(p->out, "product ");
  print_place(p, s->place);
  print_exprs(p, s->n_at, s->at);
  print_with(p, " = ", s->value);
  print_over(p, s);
  buf_str(p->out, " {\n");
  print_body(p, &s->body, level + 1);
  print_indent(p, level);
  buf_str(p->out, "} else {\n");
  print_body(p, &s->other, level + 1);
  print_indent(p, level);
  buf_str(p->out, "}\n");
}

static void print_body(Printer *p, const LoopBody *body, uint32_t level) {
  for (uint32_t i = 0; i < body->len; i++) {
    const LoopStmt *s = body->at[i];
    print_indent(p, level);
    if (s->kind == LOOP_FOR)
      print_for(p, s, level);
    else if (s->kind == LOOP_IF)
      print_if(p, s, level);
    else if (s->kind == LOOP_INDEX)
      print_index(p, s);
    else if (s->kind == LOOP_LANES_OF)
      print_lanes(p, s);
    else if (s->kind == LOOP_TURN)
      print_turn(p, s);
    else if (s->kind == LOOP_FETCH)
      print_fetch(p, s);
    else if (s->kind == LOOP_STREAM)
      print_stream(p, s);
    else if (s->kind == LOOP_MATRIX)
      print_matrix(p, s);
    else if (s->kind == LOOP_PRODUCT)
      print_product(p, s, level);
    else if (s->kind == LOOP_CALL)
      print_call(p, s);
    else if (s->kind == LOOP_GROUP)
      print_group(p, s);
    else if (s->kind == LOOP_BARRIER)
      buf_str(p->out, "barrier\n");
    else
      print_simple(p, s);
  }
}

/* ---- kernels ------------------------------------------------------------------------------------ */

static void print_place_line(Printer *p, const LoopPlace *x) {
  static const char *const spaces[] = {"buffer", "register", "stack", "scratch", "shared"};
  buf_printf(p->out, "  %s ", spaces[x->space]);
  word_print(p->out, x->name);
  if (x->space == SPACE_BUFFER) buf_printf(p->out, " = %%%u", x->buffer);
  for (uint32_t k = 0; x->axes && k < x->rank; k++) buf_printf(p->out, "%s%u", k ? " " : " axes ", x->axes[k]);
  buf_printf(p->out, " : %s ", dtype_name(x->dtype));
  print_exprs(p, x->rank, x->dim);
  buf_str(p->out, x->small ? " small" : "");
  buf_str(p->out, x->written ? " written\n" : "\n");
}

static void print_text(Printer *p, const char *word, Str text) {
  buf_printf(p->out, "  %s ", word);
  string_print(p->out, text->s, text->len);
  buf_char(p->out, '\n');
}

static void print_kernel(Printer *p, const LoopKernel *k) {
  buf_str(p->out, "kernel ");
  word_print(p->out, k->name);
  buf_printf(p->out, " step %u", k->task);
  if (k->work) print_with(p, " work ", k->work);
  place_print(p->out, k->from);
  buf_str(p->out, " {\n");
  p->k = k;
  for (uint32_t i = 0; i < k->note.len; i++) print_text(p, "note", k->note.at[i]);
  for (uint32_t i = 0; i < k->how.len; i++) print_text(p, "how", k->how.at[i]);
  if (k->dense) buf_str(p->out, "  dense\n");
  for (uint32_t i = 0; i < k->places.len; i++) print_place_line(p, &k->places.at[i]);
  if (k->var.len) buf_str(p->out, "  loops");
  for (uint32_t i = 0; i < k->var.len; i++) {
    buf_char(p->out, ' ');
    print_var(p, i);
  }
  if (k->var.len) buf_char(p->out, '\n');
  print_body(p, &k->body, 1);
  p->k = NULL;
  buf_str(p->out, "}\n");
}

/* ---- the program -------------------------------------------------------------------------------- */

/* Prints the TaskGraph's own text, indented. */
static void print_tasks(Printer *p, const TaskGraph *t) {
  Buf text = buf_new(p->out->arena);
  task_print(&text, t);
  buf_str(p->out, "tasks {\n");
  for (size_t at = 0, end; at < text.len; at = end) {
    for (end = at; text.s[end++] != '\n';) continue;
    buf_str(p->out, "  ");
    buf_add(p->out, text.s + at, end - at);
  }
  buf_str(p->out, "}\n");
}

void loop_print(Buf *out, const LoopProgram *l) {
  Printer p = {.out = out};
  buf_str(out, "loop 1\n");
  print_tasks(&p, l->tasks);
  for (uint32_t i = 0; i < l->sites.len; i++) {
    const LoopSite *s = &l->sites.at[i];
    buf_printf(out, "site %u %s", i, s->asked ? "asked " : "");
    string_print(out, s->text ? s->text->s : "", s->text ? s->text->len : 0);
    place_print(out, s->place);
    buf_char(out, '\n');
  }
  for (uint32_t i = 0; i < l->kernels.len; i++) print_kernel(&p, l->kernels.at[i]);
}
