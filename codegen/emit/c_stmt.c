/* codegen/emit/c_stmt.c - emits the statements of a kernel's body as C, one after the other. */
#include <string.h>

#include "c_inside.h"

enum { IN_REGISTERS = 2048 }; /* bytes of an array, at most, that may end up in registers */

static void indent(CPrinter *p, int depth) {
  for (int i = 0; i < depth; i++) buf_str(p->out, "  ");
}

/* Prints the number and size of its elements. */
static void held_print(CPrinter *p, const LoopStmt *s) {
  DType t = p->k->places.at[s->body.at[s->body.len - 1]->place].dtype;
  int64_t n = s->hi->i - s->lo->i;
  buf_printf(p->out, "%s(%lld, %d)", n > LOOP_SHORT ? "EIN_HELD_LONG" : "EIN_HELD", (long long)n, (int)dtype_size(t));
}

static void poll_print(CPrinter *p, int depth) {
  indent(p, depth);
  buf_str(p->out, "if (EIN_NEVER(ein_ends(ctx))) return;\n");
  p->f.uses_ctx = true;
}

/* Opens the loop around one that is polled; each of its turns covers `polled` of the inner loop's. The inner loop
 * keeps a known number of turns, so that compilers can vectorise it. */
static void polls_print(CPrinter *p, const LoopStmt *s, int depth) {
  const char *v = c_var(p, s->var);
  indent(p, depth);
  buf_printf(p->out, "for (int64_t ein_%s_ = ", v); /* with the suffix, it clashes with no function */
  c_expr(p, s->lo, true);
  buf_printf(p->out, "; ein_%s_ < ", v);
  c_expr(p, s->hi, true);
  buf_printf(p->out, "; ein_%s_ += %lld) {\n", v, (long long)(s->polled * s->step));
  poll_print(p, depth + 1);
}

/* "int64_t i = 0; i < 9" */
static void range_print(CPrinter *p, const LoopStmt *s, const char *v) {
  bool within = s->polled > 1;
  buf_printf(p->out, "int64_t %s = ", v);
  if (within) buf_printf(p->out, "ein_%s_", v);
  else c_expr(p, s->lo, true);
  buf_printf(p->out, "; %s < ", v);
  if (within) buf_printf(p->out, "ein_min_i64(ein_%s_ + %lld, ", v, (long long)(s->polled * s->step));
  c_expr(p, s->hi, true);
  if (within) buf_char(p->out, ')');
}

static bool over_lanes(const LoopStmt *s) {
  return s->bind == BIND_VECTOR || s->bind == BIND_SHORT || s->bind == BIND_HELD;
}

static void for_print(CPrinter *p, const LoopStmt *s, int depth) {
  uint32_t lane = p->f.lane;
  static const char *const binds[] = {
      NULL, NULL, "EIN_VECTOR", "EIN_SHORT", "", "EIN_UNROLL", "EIN_ROLL", NULL, NULL};
  const char *v = c_var(p, s->var);
  if (s->polled > 1) polls_print(p, s, depth++);
  if (binds[s->bind]) {
    indent(p, depth);
    buf_str(p->out, binds[s->bind]);
    if (s->bind == BIND_HELD) held_print(p, s);
    buf_str(p->out, "\n");
  }
  indent(p, depth);
  buf_str(p->out, "for (");
  range_print(p, s, v);
  if (s->step == 1) buf_printf(p->out, "; %s++) {\n", v);
  else buf_printf(p->out, "; %s += %lld) {\n", v, (long long)s->step);
  if (s->polled == 1) poll_print(p, depth + 1);
  p->f.lane = over_lanes(s) ? s->var + 1 : 0;
  c_body(p, &s->body, depth + 1);
  p->f.lane = lane;
  indent(p, depth);
  buf_str(p->out, "}\n");
  if (s->polled <= 1) return;
  indent(p, depth - 1);
  buf_str(p->out, "}\n");
}

static void index_print(CPrinter *p, const LoopStmt *s, int depth) {
  indent(p, depth);
  buf_printf(p->out, "const int64_t %s = ", c_var(p, s->var));
  c_expr(p, s->lo, true);
  buf_str(p->out, ";\n");
}

static void if_print(CPrinter *p, const LoopStmt *s, int depth) {
  indent(p, depth);
  buf_str(p->out, s->maybe ? "if (EIN_MAYBE(" : "if (");
  c_expr(p, s->cond, false);
  buf_str(p->out, s->maybe ? ")) {\n" : ") {\n");
  c_body(p, &s->body, depth + 1);
  if (s->other.len) {
    indent(p, depth);
    buf_str(p->out, "} else {\n");
    c_body(p, &s->other, depth + 1);
  }
  indent(p, depth);
  buf_str(p->out, "}\n");
}

static void lanes_print(CPrinter *p, const LoopStmt *s, int depth) {
  const LoopPlace *x = &p->k->places.at[s->place];
  p->f.place_used[s->place] = true;
  indent(p, depth);
  buf_printf(p->out, "ein_%s_lanes_%s(%s, %lld);\n", op_info[s->op].name, dtype_name(x->dtype), c_place(p, s->place),
      (long long)x->dim[0]->i);
}

static int array_bits(DType t) { return dtype_is_half(t) ? 32 : 8 * dtype_size(t); }

static int64_t place_count(const LoopPlace *x) {
  int64_t n = 1;
  for (uint32_t k = 0; k < x->rank; k++) n *= x->dim[k]->i;
  return n;
}

static void array_print(CPrinter *p, const LoopStmt *s, int depth) {
  const LoopPlace *x = &p->k->places.at[s->place];
  if (x->space == SPACE_SCRATCH) return; /* declared with the kernel's pointers */
  int64_t n = place_count(x);
  if (s->value && s->value->kind == EX_OP && s->value->op == OP_HIDDEN) {
    indent(p, depth);
    buf_printf(p->out, "EIN_HIDDEN(%s, %s, %lld, ", c_array_type(x), c_place(p, s->place), (long long)n);
    c_expr(p, s->value->arg[0], false);
    buf_str(p->out, ");\n");
    return;
  }
  const char *type = c_array_type(x), *form = x->space == SPACE_STACK ? "EIN_ALIGNED %s %s[%lld];\n" : "%s %s[%lld];\n";
  if (n * array_bits(x->dtype) > 8 * IN_REGISTERS) form = "EIN_ARRAY(%s, %s, %lld);\n";
  if (p->device) form = x->small ? "EIN_WIDE_ARRAY(%s, %s, %lld);\n" : "%s %s[%lld];\n";
  indent(p, depth);
  buf_printf(p->out, form, type, c_place(p, s->place), (long long)(n ? n : 1));
  if (!s->value) return;
  indent(p, depth);
  buf_printf(p->out, "for (int ein_at = 0; ein_at < %lld; ein_at++) %s[ein_at] = ", (long long)n, c_place(p, s->place));
  if (c_is_small(x)) buf_printf(p->out, "ein_f32_to_%s(", dtype_name(x->dtype));
  else if (c_array_type(x) != c_value_type(x->dtype)) buf_printf(p->out, "(%s)", c_array_type(x));
  c_expr(p, s->value, false);
  buf_str(p->out, c_is_small(x) ? ");\n" : ";\n");
}

static void var_print(CPrinter *p, const LoopStmt *s, int depth) {
  const LoopPlace *x = &p->k->places.at[s->place];
  if (x->rank) {
    array_print(p, s, depth);
    return;
  }
  indent(p, depth);
  buf_printf(p->out, "%s%s %s", s->kind == LOOP_LET ? "const " : "", c_value_type(x->dtype), c_place(p, s->place));
  if (s->value) {
    buf_str(p->out, s->step ? " = EIN_ACROSS(" : " = ");
    p->f.guard = x->dtype == DT_BOOL && !p->device; /* it may be the condition of one */
    c_expr(p, s->value, false);
    p->f.guard = false;
    if (s->step) buf_printf(p->out, ", %lld)", (long long)s->step);
  }
  buf_str(p->out, ";\n");
}

static void lead_print(CPrinter *p, const LoopStmt *s, int depth) {
  const Expr *from = s->value;
  uint32_t place = (uint32_t)from->i;
  indent(p, depth);
  buf_printf(p->out, "const int64_t %s = ein_stream_lead(&", c_place(p, s->place));
  c_element(p, place, from->n, from->arg);
  buf_str(p->out, ", ");
  c_stride(p, place, from->n - 1);
  buf_printf(p->out, ", %d);\n", dtype_size((DType)from->dtype));
}

/* Prints an element as a name and an index. */
static void apart_print(CPrinter *p, uint32_t place, uint32_t n, const Expr *const *at) {
  Buf *out = p->out, text = buf_new(p->arena);
  p->out = &text;
  c_element(p, place, n, at);
  p->out = out;
  size_t name = strcspn(text.s, "[");
  buf_str(out, ", ");
  buf_add(out, text.s, name);
  buf_str(out, ", ");
  buf_add(out, text.s + name + 1, text.len - name - 2);
}

/* Of several elements at once: EIN_WIDE by the thread itself, EIN_COPY in the background. */
static void wide_print(CPrinter *p, const LoopStmt *s, const char *how, int depth) {
  indent(p, depth);
  buf_printf(p->out, "%s(%lld", how, (long long)s->wide);
  apart_print(p, s->place, s->n_at, s->at);
  apart_print(p, (uint32_t)s->value->i, s->value->n, s->value->arg);
  buf_str(p->out, ");\n");
}

static void store_print(CPrinter *p, const LoopStmt *s, int depth) {
  const LoopPlace *x = &p->k->places.at[s->place];
  if (s->wide) {
    wide_print(p, s, "EIN_WIDE", depth);
    return;
  }
  indent(p, depth);
  if (x->space != SPACE_BUFFER && !x->rank) buf_str(p->out, c_place(p, s->place));
  else c_element(p, s->place, s->n_at, s->at);
  buf_str(p->out, " = ");
  /* raw: both are small in memory, and the bits are copied. */
  p->f.raw = c_is_small(x) && s->value->kind == EX_READ && c_is_small(&p->k->places.at[s->value->i]);
  bool half = c_is_small(x) && !p->f.raw;
  const char *type =
      c_is_array(x) && !c_is_small(x) && c_array_type(x) != c_value_type(x->dtype) ? c_array_type(x) : NULL;
  if (half) buf_printf(p->out, "ein_f32_to_%s(", dtype_name(x->dtype));
  if (type) buf_printf(p->out, "(%s)(", type);
  if (x->dtype == DT_BOOL && x->space == SPACE_BUFFER) buf_str(p->out, "(uint8_t)(");
  c_expr(p, s->value, false);
  p->f.raw = false;
  if (half || type || (x->dtype == DT_BOOL && x->space == SPACE_BUFFER)) buf_char(p->out, ')');
  buf_str(p->out, ";\n");
}

static void transpose_print(CPrinter *p, const LoopStmt *s, int depth) {
  const LoopPlace *x = &p->k->places.at[s->place];
  int bits = array_bits(x->dtype);
  p->f.place_used[s->place] = true;
  indent(p, depth);
  long long rows = (long long)x->dim[0]->i;
  buf_printf(p->out, "ein_transpose_%d((uint%d_t *)%s, %lld);\n", bits, bits, c_place(p, s->place), rows);
}

static void matrix_side(CPrinter *p, const Expr *e, int64_t step, int64_t deep) {
  p->f.place_used[e->i] = true;
  buf_printf(p->out, ", %s, ", c_place(p, (uint32_t)e->i));
  c_expr(p, e->arg[0], true);
  buf_printf(p->out, ", %lld, %lld", (long long)step, (long long)deep);
}

static void matrix_print(CPrinter *p, const LoopStmt *s, int depth) {
  const LoopMatrix *m = s->matrix;
  p->f.place_used[s->place] = true;
  indent(p, depth);
  bool held = loop_is_held(m);
  buf_printf(p->out, "EIN_MATRIX%s(%s, %s, %lld, %lld, %lld", held ? "_HELD" : "", dtype_name((DType)s->value->dtype),
      c_place(p, s->place), (long long)m->rows, (long long)m->lanes, (long long)m->deep);
  if (held)
    p->f.place_used[s->value->i] = true, buf_printf(p->out, ", %s", c_place(p, (uint32_t)s->value->i));
  else
    matrix_side(p, s->value, m->row_step, m->row_deep);
  matrix_side(p, s->other_side, m->lane_step, m->lane_deep);
  buf_str(p->out, ");\n");
}

static void fetch_print(CPrinter *p, const LoopStmt *s, int depth) {
  indent(p, depth);
  buf_str(p->out, s->step ? "EIN_FETCH_SECOND(&" : "EIN_FETCH(&");
  c_element(p, s->place, s->n_at, s->at);
  buf_str(p->out, ");\n");
}

enum { FEW_LINES = 256 };    /* bytes of an array in which ein_stream would find few whole lines */

/* The axes of a place's buffer if it is an argument, where each axis has a stride; else the place's own. */
typedef struct Axes { uint32_t rank; const Expr *const *dim; bool argument; } Axes;

static Axes axes_of(const CPrinter *p, const LoopPlace *x) {
  const TaskBuffer *b = &p->p->tasks->buffers.at[x->buffer];
  return c_has_strides(p, x) ? (Axes){b->rank, b->dim, true} : (Axes){x->rank, x->dim, false};
}

/* How many of these axes the last n axes of the place cover. */
static uint32_t axes_last(const LoopPlace *x, Axes a, uint32_t n) {
  return n == x->rank || !a.argument ? (a.argument ? a.rank : n) : a.rank - 1 - c_last_axis(x, x->rank - n - 1);
}

static void axis_stride(CPrinter *p, uint32_t place, Axes a, uint32_t axis) {
  if (a.argument) c_buffer_stride(p, place, axis);
  else c_stride(p, place, axis);
}

/* Prints the extents and strides of the last n axes, in named arrays: C++ cannot take the address of a temporary. */
static void stream_axes(CPrinter *p, uint32_t place, Axes a, uint32_t n, int depth) {
  buf_str(p->out, "{\n");
  indent(p, depth + 1);
  buf_str(p->out, "const int64_t ein_extents[] = {");
  for (uint32_t k = a.rank - n; k < a.rank; k++) {
    c_expr(p, a.dim[k], true);
    buf_str(p->out, k + 1 < a.rank ? ", " : "}, ein_steps[] = {");
  }
  for (uint32_t k = a.rank - n; k < a.rank; k++) {
    axis_stride(p, place, a, k);
    buf_str(p->out, k + 1 < a.rank ? ", " : "};\n");
  }
  indent(p, depth + 1);
}

/* Prints the address of the element at which the last n axes begin. */
static void stream_base(CPrinter *p, const LoopStmt *s, uint32_t n) {
  const Expr **at = NEW_ARRAY(p->arena, const Expr *, s->n_at + 1);
  for (uint32_t k = 0; k < s->n_at; k++) at[k] = k + n < s->n_at ? s->at[k] : expr_int(p->p->tasks->exprs, DT_I64, 0);
  buf_char(p->out, '&');
  c_element(p, s->place, s->n_at, at);
}

/* The offset of the first streamed element. */
static const Expr *stream_first(CPrinter *p, const LoopStmt *s) {
  Exprs *x = p->p->tasks->exprs;
  const Expr *first = expr_int(x, DT_I64, 0);
  for (uint32_t k = s->n_at - (uint32_t)s->step; k < s->n_at; k++)
    first = expr_op2(x, OP_ADD, expr_op2(x, OP_MUL, first, p->k->places.at[s->place].dim[k]), s->at[k]);
  return first;
}

/* Whether a tile's registers are streamed in whole lines. */
static bool is_held(const LoopPlace *x, const LoopStmt *s) {
  return x->space == SPACE_REGISTER && s->hi->kind == EX_INT && s->hi->i <= x->dim[0]->i &&
      s->hi->i * dtype_size(x->dtype) % 64 == 0;
}

/* Tests that the last axes are contiguous, which is known if everything is dense. */
static void stream_held(CPrinter *p, const LoopStmt *s, Axes a, uint32_t n, int depth) {
  const LoopPlace *x = &p->k->places.at[s->place];
  buf_str(p->out, "if (");
  for (uint32_t k = a.rank - n; k + 1 < a.rank; k++) {
    axis_stride(p, s->place, a, k);
    buf_str(p->out, " == ");
    c_expr(p, a.dim[k + 1], true);
    buf_str(p->out, " * ");
    axis_stride(p, s->place, a, k + 1);
    buf_str(p->out, " && ");
  }
  axis_stride(p, s->place, a, a.rank - 1);
  buf_str(p->out, " == 1) ein_stream_held(");
  stream_base(p, s, (uint32_t)s->step);
  buf_str(p->out, " + ");
  c_expr(p, stream_first(p, s), false);
  buf_str(p->out, ", &");
  c_element(p, (uint32_t)s->value->i, s->value->n, s->value->arg);
  buf_printf(p->out, ", %lld, %d);\n", (long long)s->hi->i, dtype_size(x->dtype));
  indent(p, depth);
  buf_str(p->out, "else ");
}

static void stream_print(CPrinter *p, const LoopStmt *s, int depth) {
  const LoopPlace *x = &p->k->places.at[s->place], *from = &p->k->places.at[s->value->i];
  bool few = from->space != SPACE_SCRATCH && place_count(from) * dtype_size(x->dtype) <= FEW_LINES,
       held = is_held(from, s);
  Axes axes = axes_of(p, x);
  uint32_t n = axes_last(x, axes, (uint32_t)s->step);
  p->f.place_used[s->value->i] = true;
  indent(p, depth);
  if (held) stream_held(p, s, axes, n, depth);
  if (n > 1) stream_axes(p, s->place, axes, n, depth);
  buf_printf(p->out, "ein_stream%s(", n > 1 ? held ? "_apart" : "_axes" : few ? "_few" : "");
  if (n > 1) {
    stream_base(p, s, (uint32_t)s->step);
    buf_printf(p->out, ", %u, ein_extents, ein_steps, ", n);
    c_expr(p, stream_first(p, s), true);
  } else {
    buf_char(p->out, '&');
    c_element(p, s->place, s->n_at, s->at);
    buf_str(p->out, ", ");
    c_stride(p, s->place, x->rank - 1);
  }
  buf_str(p->out, ", &");
  c_element(p, (uint32_t)s->value->i, s->value->n, s->value->arg);
  buf_str(p->out, ", ");
  c_expr(p, s->hi, true);
  buf_printf(p->out, ", %d);\n", dtype_size(x->dtype));
  if (n > 1) {
    indent(p, depth);
    buf_str(p->out, "}\n");
  }
}

/* Whether elements have another representation in memory than in arrays; these are converted one by one. */
static bool group_differs(CPrinter *p, const LoopPlace *buffer, bool stores) {
  bool truth = c_is_tested(p, buffer);
  return dtype_is_half(buffer->dtype) || (truth && !stores);
}

static void group_element(CPrinter *p, DType t, const char *array, bool stores) {
  if (t == DT_BOOL) buf_str(p->out, "ein_wide[ein_at] != 0");
  else if (stores) buf_printf(p->out, "ein_f32_to_%s(%s[ein_at])", dtype_name(t), array);
  else buf_printf(p->out, "ein_%s_to_f32(ein_wide[ein_at])", dtype_name(t));
}

static void group_changed(CPrinter *p, const char *array, int64_t n, DType t, bool stores, int depth) {
  indent(p, depth);
  buf_str(p->out, "EIN_UNROLL\n");
  indent(p, depth);
  buf_printf(
      p->out, "for (int ein_at = 0; ein_at < %lld; ein_at++) %s[ein_at] = ", (long long)n, stores ? "ein_wide" : array);
  group_element(p, t, array, stores);
  buf_str(p->out, ";\n");
}

static void group_between(CPrinter *p, const LoopStmt *s, const char *array, int64_t n, bool stores, int depth) {
  indent(p, depth);
  if (stores) c_group_store(p, s->place, s->n_at, s->at, array, n);
  else c_group_load(p, array, n, s->value);
}

static void group_print(CPrinter *p, const LoopStmt *s, int depth) {
  bool stores = s->n_at > 0;
  uint32_t array = stores ? (uint32_t)s->value->i : s->place;
  const LoopPlace *buffer = &p->k->places.at[stores ? s->place : s->value->i];
  int64_t n = p->k->places.at[array].dim[0]->i;
  const char *name = c_place(p, array);
  p->f.place_used[array] = true;
  if (!group_differs(p, buffer, stores)) {
    group_between(p, s, name, n, stores, depth);
    return;
  }
  indent(p, depth);
  buf_str(p->out, "{\n");
  indent(p, depth + 1);
  buf_printf(p->out, "%s ein_wide[%lld];\n", c_store_type(buffer->dtype), (long long)n);
  if (stores) group_changed(p, name, n, buffer->dtype, true, depth + 1);
  group_between(p, s, "ein_wide", n, stores, depth + 1);
  if (!stores) group_changed(p, name, n, buffer->dtype, false, depth + 1);
  indent(p, depth);
  buf_str(p->out, "}\n");
}

/* Passes the address of the first element, and the strides of the dimensions that go along labels. */
static void call_side(CPrinter *p, uint32_t place, uint32_t n, const Expr *const *at, uint32_t labels) {
  const LoopPlace *x = &p->k->places.at[place];
  Exprs *e = p->p->tasks->exprs;
  const Expr **zero = NEW_ARRAY(p->arena, const Expr *, labels + 1), **first = NEW_ARRAY(p->arena, const Expr *, n + 1);
  for (uint32_t l = 0; l < labels; l++) zero[l] = expr_int(e, DT_I64, 0);
  for (uint32_t d = 0; d < n; d++) first[d] = expr_relabel(e, at[d], labels, zero);
  buf_printf(p->out, ", (%s%s *)&", x->written ? "" : "const ", emit_extern_type(x->dtype));
  c_element(p, place, n, first);
  for (uint32_t d = 0; d < n; d++) {
    if (along_label(at[d]) < 0) continue;
    buf_str(p->out, ", ");
    c_stride(p, place, d);
  }
}

/* Prints the call. A site's block may lie beyond the end, and is then empty. */
static void call_print(CPrinter *p, const LoopStmt *s, int depth) {
  const Expr *call = s->value;
  indent(p, depth);
  c_called(p, call->by);
  buf_printf(p->out, "ein_extern_%s(", call->by->symbol->s);
  for (uint32_t i = 0; i < s->n_over; i++) {
    const Expr *extent = s->over[i].extent;
    buf_str(p->out, i ? ", " : "");
    if (extent->kind != EX_INT) buf_str(p->out, "ein_max_i64(0, ");
    c_expr(p, extent, true);
    if (extent->kind != EX_INT) buf_char(p->out, ')');
  }
  Buf *out = p->out, sides = buf_new(p->arena);
  p->out = &sides;
  call_side(p, s->place, s->n_at, s->at, s->n_over);
  for (uint32_t i = 0; i < call->n; i++)
    call_side(p, (uint32_t)call->arg[i]->i, call->arg[i]->n, call->arg[i]->arg, s->n_over);
  p->out = out;
  buf_str(p->out, sides.s + (s->n_over ? 0 : 2));
  buf_str(p->out, ");\n");
}

void c_body(CPrinter *p, const LoopBody *b, int depth) {
  vec_each_of(const LoopStmt, s, *b) {
    switch (s->kind) {
    case LOOP_FOR: for_print(p, s, depth); break;
    case LOOP_IF: if_print(p, s, depth); break;
    case LOOP_INDEX: index_print(p, s, depth); break;
    case LOOP_LANES_OF: lanes_print(p, s, depth); break;
    case LOOP_LET:
    case LOOP_VAR: var_print(p, s, depth); break;
    case LOOP_LEAD: lead_print(p, s, depth); break;
    case LOOP_STORE: store_print(p, s, depth); break;
    case LOOP_TRANSPOSE: transpose_print(p, s, depth); break;
    case LOOP_FETCH: fetch_print(p, s, depth); break;
    case LOOP_STREAM: stream_print(p, s, depth); break;
    case LOOP_MATRIX: matrix_print(p, s, depth); break;
    case LOOP_CALL: call_print(p, s, depth); break;
    case LOOP_PRODUCT: break; /* a statement of a device's kernel: cuda.c */
    case LOOP_GROUP: group_print(p, s, depth); break;
    case LOOP_COPY: wide_print(p, s, "EIN_COPY", depth); break;
    case LOOP_COMMIT:
      indent(p, depth);
      buf_str(p->out, "EIN_COPY_COMMIT();\n");
      break;
    case LOOP_AWAIT:
      indent(p, depth);
      buf_printf(p->out, "EIN_COPY_AWAIT(%lld);\n", (long long)s->step);
      break;
    case LOOP_BARRIER:
      indent(p, depth);
      buf_str(p->out, "__syncthreads();\n");
      break;
    }
  }
}
