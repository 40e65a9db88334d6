/* codegen/emit/c_kernel.c - emits a kernel as C: a function for each part that threads share, or one for the whole. A
 * kernel that uses the caller's views has its body compiled twice: for dense rows, with known strides, and for any
 * strides. */
#include "c_inside.h"

/* ---- functions ------------------------------------------------------------------------------------------ */

static bool is_thread(const LoopStmt *s) { return s->kind == LOOP_FOR && s->bind == BIND_THREAD; }

static bool is_round(const LoopStmt *s) { return s->kind == LOOP_FOR && s->bind == BIND_ROUND; }

static void parts_add(Arena *a, CParts *parts, const LoopBody *b, const LoopStmt *round) {
  for (uint32_t i = 0; i < b->len;) {
    if (is_round(b->at[i])) {
      parts_add(a, parts, &b->at[i]->body, b->at[i]);
      i++;
      continue;
    }
    CPart part = {.round = round, .some = {.at = b->at + i, .len = 1}};
    if (is_thread(b->at[i])) part.thread = b->at[i];
    while (!part.thread && i + part.some.len < b->len && !is_thread(part.some.at[part.some.len]) &&
        !is_round(part.some.at[part.some.len]))
      part.some.len++;
    i += part.some.len;
    vec_push(a, *parts, part);
  }
}

CParts c_parts(Arena *a, const LoopKernel *k) {
  CParts parts = {0};
  parts_add(a, &parts, &k->body, NULL);
  if (!parts.len) vec_push(a, parts, (CPart){0}); /* an empty kernel has one too */
  return parts;
}

uint32_t c_round(const CParts *parts, uint32_t first) {
  uint32_t n = 1;
  const LoopStmt *round = parts->at[first].round;
  while (round && first + n < parts->len && parts->at[first + n].round == round) n++;
  return n;
}

bool c_streams(const LoopBody *b) {
  for (uint32_t i = 0; i < b->len; i++)
    if (b->at[i]->kind == LOOP_STREAM || c_streams(&b->at[i]->body) || c_streams(&b->at[i]->other)) return true;
  return false;
}

/* Whether the kernel's functions serve several. */
static bool is_shared(const CPrinter *p) { return p->functions.shared[p->number]; }

/* The number of its buffer, or of that buffer's first axis. In a function that several kernels share it is in
 * ctx->bound, a pair for each place. */
static const char *buffer_text(CPrinter *p, const LoopPlace *x, bool axes) {
  if (!is_shared(p)) return arena_printf(p->arena, "%u", axes ? p->axes[x->buffer] : x->buffer);
  return arena_printf(p->arena, "ctx->bound[%u]", (uint32_t)(x - p->k->places.at) * 2 + axes);
}

static const char *axis_text(CPrinter *p, const LoopPlace *x, uint32_t axis) {
  if (!is_shared(p)) return arena_printf(p->arena, "%u", p->axes[x->buffer] + axis);
  return axis ? arena_printf(p->arena, "%s + %u", buffer_text(p, x, true), axis) : buffer_text(p, x, true);
}

/* The kernel's numbers follow the pairs, in order. */
const char *c_number(CPrinter *p, const Expr *e) {
  uint32_t i = 0;
  LoopNumber x;
  BUG_UNLESS(loop_number(e, &x) >= 0);
  if (!p->k || !is_shared(p)) return arena_printf(p->arena, "%lld", (long long)x.is);
  while (p->numbers.at[i].seed != x.seed || p->numbers.at[i].is != x.is) i++;
  p->f.uses_ctx = true;
  return arena_printf(p->arena, "ctx->bound[%u]", p->k->places.len * 2 + i);
}

static void pointer_print(CPrinter *p, uint32_t place) {
  const LoopPlace *x = &p->k->places.at[place];
  const char *type = c_store_type(x->dtype), *constant = x->written ? "" : "const ";
  buf_printf(p->out, "  %s%s *const EIN_RESTRICT %s = (%s%s *)ctx->data[%s];\n", constant, type, c_place(p, place),
      constant, type, buffer_text(p, x, false));
  p->f.uses_ctx = true;
}

static void strides_print(CPrinter *p, uint32_t place) {
  const LoopPlace *x = &p->k->places.at[place];
  const TaskBuffer *b = &p->p->tasks->buffers.at[x->buffer];
  Exprs *e = p->p->tasks->exprs;
  for (uint32_t axis = 0; axis < b->rank; axis++) {
    Str name = p->f.stride_name[place * 64 + axis];
    if (!name) continue;
    const Expr *dense = expr_int(e, DT_I64, 1);
    for (uint32_t k = b->rank; k-- > axis + 1;) dense = expr_op2(e, OP_MUL, b->dim[k], dense);
    buf_printf(p->out, "  const int64_t %s = dense ? ", name->s);
    c_expr(p, dense, true);
    buf_printf(p->out, " : ctx->stride[%s];\n", axis_text(p, x, axis));
    p->f.uses_dense = p->f.uses_ctx = true;
  }
}

static void scratch_print(CPrinter *p) {
  const Expr *at = expr_int(p->p->tasks->exprs, DT_I64, 0);
  for (uint32_t i = 0; i < p->k->places.len; i++) {
    const LoopPlace *x = &p->k->places.at[i];
    if (x->space != SPACE_SCRATCH) continue;
    if (p->f.place_used[i]) {
      const char *type = c_array_type(x);
      buf_printf(p->out,
          "  %s *const EIN_RESTRICT %s = (%s *)ein_own(ctx->scratch + (size_t)worker * ctx->scratch_bytes + ", type,
          c_place(p, i), type);
      c_expr(p, at, true);
      buf_str(p->out, ");\n");
      p->f.uses_ctx = p->f.uses_worker = true;
    }
    at = expr_op2(p->p->tasks->exprs, OP_ADD, at, loop_scratch_place(p->p->tasks->exprs, x));
  }
}

/* The text of a size. In a function that several kernels share, sizes follow the numbers, in order of use. */
static const char *size_text(CPrinter *p, uint32_t number) {
  if (!is_shared(p)) return arena_printf(p->arena, "ctx->size[%u]", number);
  return arena_printf(p->arena, "ctx->size[ctx->bound[%u]]", p->k->places.len * 2 + p->numbers.len + number);
}

/* Prints the pointers, strides and sizes that the statements in `body` use. */
static void head_print(CPrinter *p) {
  Buf *out = p->out, head = buf_new(p->arena);
  p->out = &head;
  for (uint32_t i = 0; i < p->k->places.len; i++)
    if (p->k->places.at[i].space == SPACE_BUFFER && p->f.place_used[i]) pointer_print(p, i);
  for (uint32_t i = 0; i < p->k->places.len; i++)
    if (c_has_strides(p, &p->k->places.at[i])) strides_print(p, i);
  scratch_print(p);
  p->out = out;
  if (p->f.nought) buf_printf(out, "  const int64_t %s = ein_nought();\n", p->f.nought->s);
  for (uint32_t i = 0; i < p->f.here.len; i++) {
    uint32_t number = p->f.here.at[i];
    buf_printf(out, "  const int64_t %s = %s;\n", p->f.size_name.at[number]->s, size_text(p, number));
    p->f.uses_ctx = true;
  }
  buf_add(out, head.s, head.len);
}

/* A new function name, unique in the file together with the names that EIN_KERNEL derives from it. */
static Str function_new(CPrinter *p, Str kernel) {
  static const char *const with[] = {"at", "any", "of", "v1", "v3", "v4", "any_of", "any_v1", "any_v3", "any_v4"};
  Str base = strings_printf(p->strings, "%s_k_%s", p->o->prefix, kernel->s), name, all[COUNT(with)];
  bool free;
  do {
    name = c_scope_name(&p->functions.names, base, "step");
    free = true;
    for (size_t i = 0; i < COUNT(with); i++) {
      all[i] = strings_printf(p->strings, "%s_%s", name->s, with[i]);
      free &= !c_scope_has(&p->functions.names, all[i]);
    }
  } while (!free);
  for (size_t i = 0; i < COUNT(with); i++) c_scope_take(&p->functions.names, all[i]);
  return name;
}

/* The names of the current kernel's functions, one per part. */
static const Str *function_names(CPrinter *p) {
  Str *names = map_find(&p->functions.of, p->k);
  if (names) return names;
  uint32_t n = c_parts(p->arena, p->k).len;
  names = NEW_ARRAY(p->arena, Str, n);
  for (uint32_t i = 0; i < n; i++) names[i] = function_new(p, p->k->name);
  map_put(&p->functions.of, p->k, names);
  return names;
}

static bool is_touched(const CPrinter *p, uint32_t place) {
  const LoopPlace *x = &p->k->places.at[place];
  return c_has_strides(p, x) && p->f.place_used[place] && x->rank;
}

static bool touches_strides(const CPrinter *p) {
  for (uint32_t i = 0; i < p->k->places.len; i++)
    if (is_touched(p, i)) return true;
  return false;
}

/* Whether there is a version for row-major order too. Kernels without arguments do not say so. */
static bool is_dense(const CPrinter *p) {
  for (uint32_t i = 0; i < p->k->places.len; i++)
    if (loop_is_argument(p->p->tasks, &p->k->places.at[i])) return p->k->dense;
  return true;
}

static void door_open(CPrinter *p, const char *name, const char *more) {
  const char *registers = p->narrow ? "_NARROW" : p->k->narrow ? "_WIDE" : "";
  buf_printf(p->out, "static EIN_KERNEL%s(%s%s) {\n  ein_ctx *ctx = (ein_ctx *)env;\n", registers, name, more);
}

/* Prints a function's entry points. The version for any strides is a separate function, so that it takes no registers
 * from the dense one. */
static void door_print(CPrinter *p, const char *name) {
  bool touches = touches_strides(p);
  if (!touches || !is_dense(p)) {
    door_open(p, name, "");
    buf_printf(p->out, "  %s_at(ctx, chunk, worker, %d EIN_FUSED);\n}\n\n", name, !touches);
    return;
  }
  door_open(p, name, "_any");
  buf_printf(p->out, "  %s_at(ctx, chunk, worker, 0 EIN_FUSED);\n}\n\n", name);
  door_open(p, name, "");
  buf_str(p->out, "  if (");
  bool any = false;
  for (uint32_t i = 0; i < p->k->places.len; i++) {
    if (!is_touched(p, i)) continue;
    buf_printf(p->out, "%sein_dense(ctx, %s)", any ? " && " : "", buffer_text(p, &p->k->places.at[i], false));
    any = true;
  }
  buf_printf(
      p->out, ") %s_at(ctx, chunk, worker, 1 EIN_FUSED);\n  else %s_any(ctx, chunk, worker);\n}\n\n", name, name);
}

/* Prints a part of the kernel as a function; a thread loop's variable is its parameter. */
static void part_print(CPrinter *p, uint32_t number, const CPart *part) {
  const char *name = function_names(p)[number]->s, *chunk = "chunk";
  const LoopStmt *thread = part->thread, *round = part->round;
  Buf *out = p->out, body = buf_new(p->arena);
  c_kernel_begin(p, p->k, thread ? NULL : chunk);
  p->out = &body;
  c_body(p, thread ? &thread->body : &part->some, 1);
  p->out = out;
  Buf head = buf_new(p->arena);
  p->out = &head;
  head_print(p);
  if (round && p->f.var_used[round->var]) {
    buf_printf(&head, "  const int64_t %s = ctx->round;\n", c_var(p, round->var));
    p->f.uses_ctx = true;
  }
  p->out = out;
  if (thread) chunk = c_var(p, thread->var);
  buf_printf(out, "EIN_INLINE void %s_at(ein_ctx *ctx, int64_t %s, int worker, int dense EIN_FUSED_PARAMETER) {\n",
      name, chunk);
  if (!p->f.uses_ctx) buf_str(out, "  (void)ctx;\n");
  if (!thread || !p->f.var_used[thread->var]) buf_printf(out, "  (void)%s;\n", chunk);
  if (!p->f.uses_worker) buf_str(out, "  (void)worker;\n");
  if (!p->f.uses_dense) buf_str(out, "  (void)dense;\n");
  buf_add(out, head.s, head.len);
  buf_add(out, body.s, body.len);
  if (!thread && c_streams(&part->some)) buf_str(out, "  ein_stream_end();\n"); /* threads do so themselves */
  buf_str(out, "}\n\n");
  door_print(p, name);
}

/* Prints text inside a comment, which must not end early whatever a name contains. */
static void comment_text(Buf *b, Str s) {
  for (uint32_t i = 0; i < s->len; i++) {
    char c = s->s[i];
    bool ends = i && s->s[i - 1] == '*' && c == '/';
    bool opens = i && s->s[i - 1] == '/' && c == '*';
    if (ends || opens) buf_char(b, ' ');
    buf_char(b, (unsigned char)c < ' ' ? ' ' : c);
  }
}

/* Prints the kernel's equations, and their place in the source. */
void c_note(CPrinter *p, const LoopKernel *k) {
  buf_str(p->out, "/* ");
  for (uint32_t i = 0; i < k->note.len; i++) {
    if (i) buf_str(p->out, "\n   ");
    comment_text(p->out, k->note.at[i]);
  }
  if (k->from.file) {
    buf_str(p->out, "  (");
    Buf file = buf_new(p->arena);
    c_file(&file, k->from.file);
    comment_text(p->out, str_of(p->strings, file.s + 1, file.len - 2));
    buf_printf(p->out, ":%u)", k->from.line);
  }
  buf_str(p->out, " */\n");
}

static void kernel_take(CPrinter *p, uint32_t number, bool narrow) {
  p->number = p->functions.same[number];
  p->k = p->p->kernels.at[p->number];
  p->narrow = narrow;
  if (narrow) p->k = p->k->narrow;
  p->own = is_shared(p) ? &p->functions.sizes[2 * p->number + narrow] : &p->sizes;
  if (is_shared(p)) p->numbers = loop_numbers(p->arena, p->k);
}

static void parts_print(CPrinter *p, uint32_t number, bool narrow) {
  kernel_take(p, number, narrow);
  CParts parts = c_parts(p->arena, p->k);
  for (uint32_t i = 0; i < parts.len; i++) part_print(p, i, &parts.at[i]);
}

void c_kernel(CPrinter *p, uint32_t number) {
  const LoopKernel *k = p->p->kernels.at[number];
  if (p->functions.same[number] != number) return;
  if (!p->functions.nameless) c_note(p, k);
  if (k->narrow) buf_str(p->out, "#if EIN_WIDE\n");
  parts_print(p, number, false);
  if (!k->narrow) return;
  buf_str(p->out, "#endif\n#if EIN_NARROW\n");
  parts_print(p, number, true);
  buf_str(p->out, "#endif\n\n");
}

/* ---- calls ------------------------------------------------------------------------------------------------ */

/* Prints a rough amount of work, as a double: it only determines the number of threads. */
static void work_text(CPrinter *p, const Expr *e) {
  if (e->kind == EX_INT) buf_printf(p->out, "%lld.0", (long long)e->i);
  else buf_printf(p->out, "(double)ctx->size[%u]", c_size_number(p, e));
}

static const char *bound_name(CPrinter *p, uint32_t number, bool narrow) {
  return arena_printf(p->arena, "%s_bound_%u%s", p->o->prefix, number, narrow ? "_narrow" : "");
}

static void bound_print(CPrinter *p, uint32_t number, bool narrow) {
  const LoopKernel *k = p->p->kernels.at[number];
  const CSizes *sizes = &p->functions.sizes[2 * number + narrow];
  if (narrow) k = k->narrow;
  buf_printf(p->out, "static const int %s[] = {", bound_name(p, number, narrow));
  for (uint32_t x = 0; x < k->places.len; x++) {
    bool is = k->places.at[x].space == SPACE_BUFFER;
    buf_printf(
        p->out, "%s%u, %u", x ? ", " : "", is ? k->places.at[x].buffer : 0, is ? p->axes[k->places.at[x].buffer] : 0);
  }
  LoopNumbers numbers = loop_numbers(p->arena, k);
  for (uint32_t x = 0; x < numbers.len; x++) buf_printf(p->out, ", %lld", (long long)numbers.at[x].is);
  for (uint32_t x = 0; x < sizes->at.len; x++) buf_printf(p->out, ", %u", c_size_number(p, sizes->at.at[x]));
  buf_str(p->out, "};\n");
}

void c_bound_tables(CPrinter *p) {
  bool any = false;
  for (uint32_t i = 0; i < p->p->kernels.len; i++) {
    const LoopKernel *k = p->p->kernels.at[i];
    if (!p->functions.shared[p->functions.same[i]] || !k->places.len) continue;
    if (!any)
      buf_str(p->out,
          "/* ---- kernels that run another one's code: their buffers, each with its first axis; sites, seeds; sizes "
          "---- */\n\n");
    any = true;
    c_note(p, k);
    if (k->narrow) buf_str(p->out, "#if EIN_WIDE\n");
    bound_print(p, i, false);
    if (!k->narrow) continue;
    buf_str(p->out, "#endif\n#if EIN_NARROW\n");
    bound_print(p, i, true);
    buf_str(p->out, "#endif\n");
  }
  if (any) buf_char(p->out, '\n');
}

void c_parts_table(CPrinter *p) {
  buf_str(p->out, "extern ein_task *const " EMIT_PARTS "[];\nein_task *const " EMIT_PARTS "[] = {");
  for (uint32_t i = 0, n = c_parts(p->arena, p->k).len; i < n; i++)
    buf_printf(p->out, "%s%s", i ? ", " : "", function_names(p)[i]->s);
  buf_str(p->out, "};\n");
}

static void part_call(CPrinter *p, const LoopKernel *k, uint32_t number, const CPart *part, const char *before) {
  const LoopStmt *s = part->thread;
  const char *name = function_names(p)[number]->s;
  if (!s) {
    buf_printf(p->out, "%sif (ein_once(ctx, %s)) return ein_state(ctx);\n", before, name);
    return;
  }
  buf_printf(p->out, "%sif (ein_parallel%s(ctx, %s, ", before, c_streams(&s->body) ? "_streams" : "", name);
  if (s->hi->kind == EX_INT) buf_printf(p->out, "%lld, ", (long long)s->hi->i);
  else buf_printf(p->out, "ctx->size[%u], ", c_size_number(p, s->hi));
  work_text(p, k->work);
  buf_str(p->out, ")) return ein_state(ctx);\n");
}

static void call_print(CPrinter *p, uint32_t number, bool narrow, const char *before) {
  const LoopKernel *k = p->p->kernels.at[number];
  if (narrow) k = k->narrow;
  CParts parts = c_parts(p->arena, k);
  kernel_take(p, number, narrow);
  if (is_shared(p) && k->places.len)
    buf_printf(p->out, "%sctx->bound = %s;\n", before, bound_name(p, number, narrow));
  for (uint32_t i = 0, end; i < parts.len; i = end) {
    const LoopStmt *round = parts.at[i].round;
    const char *in = round ? arena_printf(p->arena, "%s  ", before) : before;
    end = i + c_round(&parts, i);
    if (round)
      buf_printf(
          p->out, "%sfor (ctx->round = 0; ctx->round < %lld; ctx->round++) {\n", before, (long long)round->hi->i);
    for (uint32_t n = i; n < end; n++) part_call(p, k, n, &parts.at[n], in);
    if (round) buf_printf(p->out, "%s}\n", before);
  }
}

/* Of a kernel and its narrow one, each calls itself where it is compiled and suits the machine. */
void c_call(CPrinter *p, uint32_t number, const char *before) {
  if (!p->p->kernels.at[number]->narrow) {
    call_print(p, number, false, before);
    return;
  }
  const char *in = arena_printf(p->arena, "%s  ", before);
  for (int narrow = 0; narrow < 2; narrow++) {
    buf_printf(p->out, "#if EIN_%s\n%sif (%sein_is_wide()) {\n", narrow ? "NARROW" : "WIDE", before, narrow ? "!" : "");
    call_print(p, number, narrow, in);
    buf_printf(p->out, "%s}\n#endif\n", before);
  }
}
