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

static void print_body(Printer *p, const LoopBody *body, uint32_t level);

const char loop_axis[] = "xyz";
const char *const loop_binds[] = {"", "thread", "vector", "short", "held", "unroll", "roll", "round", "grid", "block"};
const char *const loop_spaces[] = {"buffer", "register", "stack", "scratch", "shared"};

/* `for i < hi from lo step 4 thread {`; the defaults are from 0, step 1, in order. */
static void print_for(Printer *p, const LoopStmt *s, uint32_t level) {
  buf_str(p->out, "for ");
  print_var(p, s->var);
  print_with(p, " < ", s->hi);
  if (!s->lo || !expr_is_int(s->lo, 0)) print_with(p, " from ", s->lo);
  if (s->step != 1) buf_printf(p->out, " step %lld", (long long)s->step);
  if (*loop_binds[s->bind]) buf_printf(p->out, " %s", loop_binds[s->bind]);
  if (s->bind >= BIND_GRID) buf_printf(p->out, " %c", loop_axis[s->axis]);
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

static void print_over(Printer *p, const LoopStmt *s) {
  for (uint32_t i = 0; i < s->n_over; i++) {
    buf_str(p->out, i ? ", " : " ");
    print_var(p, s->over[i].var);
    print_with(p, " < ", s->over[i].extent);
  }
}

/* The launches after a product; `} else {`, then those in its place. */
static void print_blocks(Printer *p, const LoopStmt *s, uint32_t level) {
  buf_str(p->out, " {\n");
  print_body(p, &s->body, level + 1);
  print_indent(p, level);
  buf_str(p->out, "} else {\n");
  print_body(p, &s->other, level + 1);
  print_indent(p, level);
  buf_char(p->out, '}');
}

static void print_part(Printer *p, const LoopStmt *s, const LoopPart *x, uint32_t level) {
  const char *from = x->kind == FORM_MATRIX ? (const char *)s->matrix : (const char *)s;
  bool number = x->kind == FORM_INT || x->kind == FORM_WORD || x->kind == FORM_MATRIX;
  int64_t n = number ? *(const int64_t *)(const void *)(from + x->field) : 0;
  const Expr *e = x->kind == FORM_EXPR ? *(const Expr *const *)(const void *)(from + x->field) : NULL;
  bool is = x->kind == FORM_EXPR ? e != NULL : x->kind == FORM_AT ? s->n_at : number ? n != x->usual : s->n_over;
  if (x->may && !is) return;
  if (x->word) buf_printf(p->out, " %s", x->word);
  switch (x->kind) {
  case FORM_PLACE: print_place(p, s->place); break;
  case FORM_VAR: print_var(p, s->var); break;
  case FORM_AT: print_exprs(p, s->n_at, s->at); break;
  case FORM_EXPR: print_with(p, " ", e); break;
  case FORM_INT: case FORM_MATRIX: buf_printf(p->out, " %lld", (long long)n); break;
  case FORM_OP: buf_printf(p->out, " %s", (unsigned)s->op < OPS ? op_info[s->op].name : "?"); break;
  case FORM_OVER: print_over(p, s); break;
  case FORM_BLOCKS: print_blocks(p, s, level); break;
  case FORM_WORD: case FORM_END: break;
  }
}

static void print_form(Printer *p, const LoopStmt *s, uint32_t level) {
  uint32_t i = 0;
  while (loop_form(i)->kind != s->kind) i++;
  const LoopForm *f = loop_form(i);
  bool name = f->part[0].kind == FORM_PLACE || f->part[0].kind == FORM_VAR;
  if (f->word) buf_printf(p->out, "%s%s", f->word, name ? " " : "");
  for (const LoopPart *x = f->part; x->kind != FORM_END; x++) print_part(p, s, x, level);
  buf_char(p->out, '\n');
}

static void print_body(Printer *p, const LoopBody *body, uint32_t level) {
  vec_each_of(const LoopStmt, s, *body) {
    print_indent(p, level);
    if (s->kind == LOOP_FOR) print_for(p, s, level);
    else if (s->kind == LOOP_IF) print_if(p, s, level);
    else print_form(p, s, level);
  }
}

/* ---- kernels ------------------------------------------------------------------------------------ */

static void print_place_line(Printer *p, const LoopPlace *x) {
  buf_printf(p->out, "  %s ", loop_spaces[x->space]);
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

static void print_kernel(Printer *p, const char *word, const LoopKernel *k) {
  buf_printf(p->out, "%s ", word);
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
  if (k->narrow) print_kernel(p, "narrow", k->narrow);
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
  for (uint32_t i = 0; i < l->kernels.len; i++) print_kernel(&p, "kernel", l->kernels.at[i]);
}
