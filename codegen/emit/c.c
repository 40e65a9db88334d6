/* codegen/emit/c.c - emits a LoopProgram as one C file: kernels, then the sizes, then the run as a list of calls, then
 * the tables (c_tables.c). It needs only the runtime, which is one file beside it. */
#include <inttypes.h>

#include "c_inside.h"
#include "c_tables.h"

uint32_t c_sizes_number(Arena *a, CSizes *sizes, const Expr *e) {
  uintptr_t known = (uintptr_t)map_find(&sizes->of, e);
  if (known) return (uint32_t)(known - 1);
  vec_push(a, sizes->at, e);
  map_put(&sizes->of, e, (void *)(uintptr_t)sizes->at.len);
  return sizes->at.len - 1;
}

uint32_t c_size_number(CPrinter *p, const Expr *e) { return c_sizes_number(p->arena, &p->sizes, e); }

/* ---- the run ----------------------------------------------------------------------------------------- */

typedef struct Calls {
  CPrinter *p;
  uint32_t next;             /* the kernel of the next task */
  Tasks begun;               /* moves that have begun and are not awaited yet */
} Calls;

static void list_print(Calls *c, const Tasks *list, int depth);

/* The prefix of the functions that a body calls for tasks other than kernels. */
static const char *calls(const Calls *c) { return c->p->device ? "ein_cuda" : "ein"; }

/* half 1: the step's end is awaited. */
static void step_print(const Calls *c, uint32_t step, int half, const char *in) {
  if (c->p->o->steps) buf_printf(c->p->out, "%sein_step_begins(ctx, %u, %d);\n", in, step, half);
}

static bool has_repeat(const Tasks *list) {
  for (uint32_t i = 0; i < list->len; i++)
    if (list->at[i]->kind == TASK_REPEAT) return true;
  return false;
}

/* The largest number of turns, if the host can compute it instead of waiting for a device; NULL: it must be read. */
static const Expr *turns_known(const Calls *c, const Task *k) {
  const Expr *e = c->p->device ? task_turns_within(c->p->p->tasks, k) : NULL;
  return e && c_is_known(e) ? e : NULL;
}

static void repeat_print(Calls *c, const Task *k, const char *in, int depth) {
  Buf *out = c->p->out;
  uint32_t d = k->depth;
  const Expr *known = turns_known(c, k);
  const char *inner = arena_printf(c->p->arena, "%s  ", in);
  if (!known) c_need(c->p, k, k->buffer, false, in);
  int32_t row = c_repeat_begins(c->p, k);
  buf_printf(out, "%sctx->turn[%u] = 0;\n%sfor (int64_t turns = ", in, d, in);
  if (row >= 0) buf_printf(out, "ein_cuda_repeat(ctx, %d, ", row);
  if (known) c_known(c->p, known);
  else buf_printf(out, "%s_i64(ctx, %u)", calls(c), k->buffer);
  if (row >= 0) buf_char(out, ')');
  buf_printf(out, "; %s < turns;) {\n", d ? arena_printf(c->p->arena, "ctx->turn[%u]", d) : "ein_turns(ctx)");
  buf_printf(out, "%s  if (ein_cancelled(ctx)) return ein_state(ctx);\n", in);
  list_print(c, &k->body, depth + 1);
  step_print(c, k->step, 0, inner);
  if (k->stop >= 0) c_need(c->p, k, (uint32_t)k->stop, false, inner);
  if (k->stop >= 0) buf_printf(out, "%s  const int stop = %s_true(ctx, %d);\n", in, calls(c), k->stop);
  for (uint32_t i = 0; i < k->exchange.len; i++)
    buf_printf(out, "%s  %s_exchange(ctx, %u, %u);\n", in, calls(c), k->exchange.at[i].now, k->exchange.at[i].next);
  buf_printf(out, "%s  ctx->turn[%u]++;\n", in, d);
  if (c->p->device) buf_printf(out, "%s  ein_cuda_turned(ctx, %d);\n", in, has_repeat(&k->body));
  c_turn_ends(c->p, k, row, inner);
  if (k->stop >= 0) buf_printf(out, "%s  if (stop) break;\n", in);
  buf_printf(out, "%s}\n", in);
  if (k->turns >= 0) c_need(c->p, k, (uint32_t)k->turns, true, in);
  if (k->turns >= 0)
    buf_printf(
        out, "%s%s_%s_i64(ctx, %d, ctx->turn[%u]);\n", in, calls(c), known && k->stop < 0 ? "put" : "set", k->turns, d);
}

/* The task's buffer, if sites may lack it; NULL: all have it. */
static const TaskBuffer *somewhere(const CPrinter *p, const Task *k) {
  uint32_t b = k->kind == TASK_KERNEL ? (uint32_t)vec_last(k->stages).buffer : k->buffer;
  const TaskBuffer *x = &p->p->tasks->buffers.at[b];
  return (k->kind == TASK_KERNEL || k->kind == TASK_ASSERT) && x->when ? x : NULL;
}

static void move_print(Calls *c, const Task *k, const char *half, const char *in) {
  buf_printf(c->p->out, "%sif (%s_move%s(ctx, &%s_mesh, %u)) return ein_state(ctx);\n", in, calls(c), half,
      c->p->o->prefix, c_move_number(c->p, k));
}

/* Awaits the moves that last until the task's end, in the order in which they began. */
static void moves_end(Calls *c, const Task *k, const char *in) {
  uint32_t end = k->kind == TASK_REPEAT ? k->end : k->step, n = 0;
  for (uint32_t i = 0; i < c->begun.len; i++) {
    if (c->begun.at[i]->end == end) {
      step_print(c, c->begun.at[i]->step, 1, in);
      c_need_move(c->p, c->begun.at[i], true, in);
      move_print(c, c->begun.at[i], "_finish", in);
    } else c->begun.at[n++] = c->begun.at[i];
  }
  c->begun.len = n;
}

static void move_begin(Calls *c, Task *k, const char *in) {
  c_need_move(c->p, k, false, in);
  move_print(c, k, k->end > k->step ? "_start" : "", in);
  if (k->end > k->step) vec_push(c->p->arena, c->begun, k);
}

static void task_text(Calls *c, Task *k, const char *in, int depth) {
  Buf *out = c->p->out;
  const TaskBuffer *some = somewhere(c->p, k);
  const char *outer = in;
  if (some) {
    c->p->launch.when = (int32_t)c_size_number(c->p, some->when);
    buf_printf(out, "%sif (ctx->size[%d]) {\n", in, c->p->launch.when);
    in = arena_printf(c->p->arena, "%s  ", in);
  }
  step_print(c, k->step, 0, in);
  switch (k->kind) {
  case TASK_KERNEL:
    c_need_kernel(c->p, k, c->next, in);
    (c->p->device ? c_device_call : c_call)(c->p, c->next++, in);
    break;
  case TASK_REPEAT: repeat_print(c, k, in, depth); break;
  case TASK_ZERO:
    c_need(c->p, k, k->buffer, true, in);
    buf_printf(out, "%s%s_zero(ctx, %u);\n", in, calls(c), k->buffer);
    break;
  case TASK_DEFAULT:
    c_need_default(c->p, k);
    buf_printf(
        out, "%s%s_default(ctx, %u, %u);\n", in, calls(c), c->p->p->tasks->inputs.at[k->argument].buffer, k->buffer);
    break;
  case TASK_MOVE: move_begin(c, k, in); break;
  case TASK_FETCH:
    c_need_fetch(c->p, k, in);
    buf_printf(out, "%sif (%s_fetch(ctx, &%s_mesh, %u)) return ein_state(ctx);\n", in, calls(c), c->p->o->prefix,
        c_move_number(c->p, k));
    break;
  case TASK_ASSERT:
    c_need(c->p, k, k->buffer, false, in);
    buf_printf(out, "%sif (!%s_true(ctx, %u)) return ein_failed_assert(ctx, %s, %s);\n", in, calls(c), k->buffer,
        k->name ? c_text(c->p->arena, k->name) : "\"\"", c_place_fields(c->p->arena, k->place));
    break;
  }
  c->p->launch.when = -1;
  if (some) buf_printf(out, "%s}\n", outer);
}

/* Consecutive tasks for one input's default share a condition. */
static void list_print(Calls *c, const Tasks *list, int depth) {
  const char *in = arena_printf(c->p->arena, "%*s", depth * 2, "");
  int32_t open = -1;
  vec_each_of(Task, k, *list) {
    if (open >= 0 && k->unless != open) buf_printf(c->p->out, "%s}\n", in);
    if (k->unless >= 0 && k->unless != open)
      buf_printf(c->p->out, "%sif (!ein_given(ctx, %u)) { /* %s's default */\n", in,
          c->p->p->tasks->inputs.at[k->unless].buffer,
          c_name(c->p->strings, c->p->p->tasks->inputs.at[k->unless].name->s,
              c->p->p->tasks->inputs.at[k->unless].name->len)
              ->s);
    open = k->unless;
    if (depth == 1) c->p->launch.unless = open;
    const char *inner = open >= 0 ? arena_printf(c->p->arena, "%s  ", in) : in;
    task_text(c, k, inner, depth);
    moves_end(c, k, inner);
  }
  if (open >= 0) buf_printf(c->p->out, "%s}\n", in);
}

/* Prints the run. A list for a device is wrapped in what begins and ends a run there, however it ends. */
static void run_print(CPrinter *p) {
  Calls c = {.p = p};
  const char *x = p->o->prefix;
  buf_printf(p->out,
      "/* ---- the run ---------------------------------------------------------------------------- */\n\n"
      "static ein_status %s_%s(ein_ctx *ctx) {\n",
      x, p->device ? "list" : "body");
  list_print(&c, &p->p->tasks->tasks, 1);
  if (p->o->steps) buf_str(p->out, "  ein_step_begins(ctx, -1, 0);\n");
  buf_str(p->out, "  return ein_state(ctx);\n}\n\n");
  if (!p->device) return;
  buf_printf(p->out,
      "static ein_status %s_body(ein_ctx *ctx) { return ein_cuda_finish(ctx, ein_cuda_begin(ctx) ? ein_state(ctx) : "
      "%s_list(ctx)); }\n",
      x, x);
}

static void ready_print(CPrinter *p) {
  const char *x = p->o->prefix, *rows = c_rows(p);
  buf_printf(p->out, "static ein_status %s_ready(ein_ctx *ctx) { return ein_cuda_ready(ctx, %s, %s); }\n\n", x,
             p->launch.driver ? arena_printf(p->arena, "&%s_code", x) : "NULL", rows);
}

/* ---- sizes --------------------------------------------------------------------------------------------- */

static void shapes_print(CPrinter *p, Buf *out) {
  const TaskGraph *t = p->p->tasks;
  const LoopHalf *half = loop_halves(p->arena, p->p);
  for (uint32_t b = 0; b < t->buffers.len; b++) {
    const TaskBuffer *x = &t->buffers.at[b];
    for (uint32_t d = 0; d < x->rank; d++) {
      buf_printf(out, "  p->shape[%u] = ", p->axes[b] + d);
      if (half[b] && !d) buf_printf(out, "%sein_is_wide() ? 0 : ", half[b] == HALF_WIDE ? "!" : "");
      if (x->when) c_checked(p, out, x->when), buf_str(out, " ? ");
      /* A block beyond the end is empty. */
      if (t->mesh.n) buf_str(out, "ein_max_i64(0, ");
      c_checked(p, out, x->dim[d]);
      buf_printf(out, "%s%s;\n", t->mesh.n ? ")" : "", x->when ? " : 0" : "");
      if (x->dim[d]->kind == EX_INT) continue;
      Str what = strings_printf(p->strings, "the size of dimension %u of %s", d + 1, x->name ? x->name->s : "a tensor");
      buf_printf(out, "  ein_plan_size(p, p->shape[%u], %s, %s);\n", p->axes[b] + d, c_text(p->arena, what),
          c_place_fields(p->arena, x->place));
    }
  }
}

static void checks_print(CPrinter *p, Buf *out) {
  const TaskGraph *t = p->p->tasks;
  for (uint32_t i = 0; i < t->checks.len; i++) {
    buf_str(out, "  ein_plan_check(p, ");
    c_checked(p, out, t->checks.at[i].cond);
    Str s = t->checks.at[i].text;
    buf_printf(out, ", %s, %s);\n", s ? c_text(p->arena, s) : "\"\"",
        c_place_fields(p->arena, t->checks.at[i].place));
  }
}

static void scratch_text(CPrinter *p, Buf *out) {
  LoopSizes sizes = loop_scratches(p->p);
  for (uint32_t i = 0; i < sizes.len; i++) {
    buf_str(out, "  p->scratch = ein_max_i64(p->scratch, ");
    c_checked(p, out, sizes.at[i]);
    buf_str(out, ");\n");
  }
}

static void sizes_print(CPrinter *p) {
  Buf *out = p->out;
  buf_printf(out, "/* ---- sizes ------------------------------------------------------------------------------ */\n\n"
                  "enum { %s_n_sizes = %u };\n\nstatic void %s_sizes_of(ein_plan *p, const int64_t *dim) {\n",
             p->o->prefix, p->sizes.at.len, p->o->prefix);
  buf_str(out, "  (void)dim;\n");
  checks_print(p, out);
  shapes_print(p, out);
  for (uint32_t i = 0; i < p->sizes.at.len; i++) {
    buf_printf(out, "  p->size[%u] = ", i);
    c_checked(p, out, p->sizes.at.at[i]);
    buf_str(out, ";\n");
  }
  scratch_text(p, out);
  buf_str(out, "  (void)p;\n}\n\n");
}

/* ---- the file ---------------------------------------------------------------------------------------------- */

void c_runtime(Buf *c, const EmitOptions *o) {
  buf_printf(c, "#include \"%s\"\n", o->beside ? arena_printf(c->arena, "%s-runtime.h", o->beside) : "ein_run.h");
  if (o->runtime)
    buf_printf(c,
               "#if defined(EIN_RUNTIME_IS) && EIN_RUNTIME_IS != 0x%" PRIx64 "u\n"
               "#error \"this file and the runtime are by two builds of ein: take both from the same build\"\n"
               "#endif\n",
               o->runtime);
  buf_char(c, '\n');
}

void c_file_head(Buf *c, const EmitOptions *o, const char *more) {
  buf_printf(c, "/* %s, from ", o->prefix);
  for (const char *s = o->source; *s; s++)
    buf_char(c, (unsigned char)*s < ' ' || (*s == '/' && s > o->source && s[-1] == '*') ? '_' : *s);
  buf_printf(c, " by ein %s. It is yours; SPDX-License-Identifier: MIT-0 */\n", o->version);
  buf_str(c, "#define EIN_STATIC\n");
  buf_str(c, more);
  if (o->worth_threads > 0) {
    buf_str(c, "#define EIN_WORTH_THREADS ");
    double_print(c, o->worth_threads);
    buf_char(c, '\n');
  }
  c_runtime(c, o);
  buf_str(c, "/* ---- kernels ---------------------------------------------------------------------------- */\n\n");
}

CPrinter c_printer(Buf *c, const LoopProgram *lp, const EmitOptions *o) {
  CPrinter p = {.out = c, .p = lp, .o = o, .arena = lp->arena, .strings = lp->tasks->strings,
      .sizes.of = map_new(lp->arena), .axes = c_axes(lp->arena, lp->tasks)};
  p.launch.unless = p.launch.when = -1;
  p.functions.names = c_scope(lp->arena, p.strings);
  p.functions.of = map_new(lp->arena);
  return p;
}

void c_host(CPrinter *p) {
  Buf run = buf_new(p->arena), *c = p->out;
  p->out = &run;
  if (!p->device) c_bound_tables(p);
  run_print(p);
  p->out = c;
  sizes_print(p); /* those above may add some */
  buf_add(c, run.s, run.len);
  if (p->device) ready_print(p);
}

void emit_c(Buf *c, const LoopProgram *lp, const EmitOptions *o) {
  CPrinter p = c_printer(c, lp, o);
  c_file_head(c, o, lp->tasks->mesh.n ? "#define EIN_SITES\n" : "");
  c_twins(&p);
  Buf rest = buf_new(lp->arena);
  p.out = &rest;
  for (uint32_t i = 0; i < lp->kernels.len; i++) c_kernel(&p, i);
  c_sites(&p);
  c_host(&p);
  c_externs(&p, c);
  buf_add(c, rest.s, rest.len);
  emit_tables(c, lp, o, "NULL");
}
