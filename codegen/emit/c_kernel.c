/* codegen/emit/c_kernel.c - emits a kernel as C: a function for each part that threads share, or one for the whole. A
 * kernel that uses the caller's views has its body compiled twice: for dense rows, with known strides, and for any
 * strides. */
#include <string.h>

#include "c_inside.h"

enum { IN_REGISTERS = 2048 }; /* bytes of an array, at most, that may end up in registers */

static void indent(CPrinter *p, int depth) {
  for (int i = 0; i < depth; i++) buf_str(p->out, "  ");
}

/* ---- statements ---------------------------------------------------------------------------------------- */

/* Prints the number and size of its elements. */
static void held_print(CPrinter *p, const LoopStmt *s) {
  DType t = p->k->places.at[s->body.at[s->body.len - 1]->place].dtype;
  buf_printf(p->out, "(%lld, %d)", (long long)(s->hi->i - s->lo->i), (int)dtype_size(t));
}

static void poll_print(CPrinter *p, int depth) {
  indent(p, depth);
  buf_str(p->out, "if (ein_ends(ctx)) return;\n");
  p->uses_ctx = true;
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
  uint32_t lane = p->lane;
  static const char *const binds[] = {
      NULL, NULL, "EIN_VECTOR", "EIN_SHORT", "EIN_HELD", "EIN_UNROLL", "EIN_ROLL", NULL, NULL};
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
  p->lane = over_lanes(s) ? s->var + 1 : 0;
  c_body(p, &s->body, depth + 1);
  p->lane = lane;
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
  p->place_used[s->place] = true;
  indent(p, depth);
  buf_printf(p->out, "ein_%s_lanes_%s(%s, %lld);\n", op_info[s->op].name, dtype_name(x->dtype), c_place(p, s->place),
      (long long)x->dim[0]->i);
}

static int array_bits(DType t) { return t == DT_F16 || t == DT_BF16 ? 32 : 8 * dtype_size(t); }

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
    buf_str(p->out, " = ");
    c_expr(p, s->value, false);
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

static void wide_print(CPrinter *p, const LoopStmt *s, int depth) {
  indent(p, depth);
  buf_printf(p->out, "EIN_WIDE(%lld", (long long)s->wide);
  apart_print(p, s->place, s->n_at, s->at);
  apart_print(p, (uint32_t)s->value->i, s->value->n, s->value->arg);
  buf_str(p->out, ");\n");
}

static void store_print(CPrinter *p, const LoopStmt *s, int depth) {
  const LoopPlace *x = &p->k->places.at[s->place];
  if (s->wide) {
    wide_print(p, s, depth);
    return;
  }
  indent(p, depth);
  if (x->space != SPACE_BUFFER && !x->rank) buf_str(p->out, c_place(p, s->place));
  else c_element(p, s->place, s->n_at, s->at);
  buf_str(p->out, " = ");
  /* raw: both are small in memory, and the bits are copied. */
  p->raw = c_is_small(x) && s->value->kind == EX_READ && c_is_small(&p->k->places.at[s->value->i]);
  bool half = c_is_small(x) && !p->raw;
  const char *type =
      c_is_array(x) && !c_is_small(x) && c_array_type(x) != c_value_type(x->dtype) ? c_array_type(x) : NULL;
  if (half) buf_printf(p->out, "ein_f32_to_%s(", dtype_name(x->dtype));
  if (type) buf_printf(p->out, "(%s)(", type);
  if (x->dtype == DT_BOOL && x->space == SPACE_BUFFER) buf_str(p->out, "(uint8_t)(");
  c_expr(p, s->value, false);
  p->raw = false;
  if (half || type || (x->dtype == DT_BOOL && x->space == SPACE_BUFFER)) buf_char(p->out, ')');
  buf_str(p->out, ";\n");
}

static void turn_print(CPrinter *p, const LoopStmt *s, int depth) {
  const LoopPlace *x = &p->k->places.at[s->place];
  int bits = array_bits(x->dtype);
  p->place_used[s->place] = true;
  indent(p, depth);
  buf_printf(p->out, "ein_turn_%d((uint%d_t *)%s, %lld);\n", bits, bits, c_place(p, s->place), (long long)x->dim[0]->i);
}

static void matrix_side(CPrinter *p, const Expr *e, int64_t step, int64_t deep) {
  p->place_used[e->i] = true;
  buf_printf(p->out, ", %s, ", c_place(p, (uint32_t)e->i));
  c_expr(p, e->arg[0], true);
  buf_printf(p->out, ", %lld, %lld", (long long)step, (long long)deep);
}

static void matrix_print(CPrinter *p, const LoopStmt *s, int depth) {
  const LoopMatrix *m = s->matrix;
  p->place_used[s->place] = true;
  indent(p, depth);
  buf_printf(p->out, "EIN_MATRIX(%s, %s, %lld, %lld, %lld", dtype_name((DType)s->value->dtype), c_place(p, s->place),
      (long long)m->rows, (long long)m->lanes, (long long)m->deep);
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
  bool argument = b->space != BUF_WORK;
  return argument ? (Axes){b->rank, b->dim, true} : (Axes){x->rank, x->dim, false};
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
  p->place_used[s->value->i] = true;
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
  /* truth: a caller's bool may be any byte. */
  bool truth = buffer->dtype == DT_BOOL && loop_is_argument(p->p->tasks, buffer);
  return buffer->dtype == DT_F16 || buffer->dtype == DT_BF16 || (truth && !stores);
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
  p->place_used[array] = true;
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
  for (uint32_t i = 0; i < b->len; i++) {
    const LoopStmt *s = b->at[i];
    switch (s->kind) {
    case LOOP_FOR: for_print(p, s, depth); break;
    case LOOP_IF: if_print(p, s, depth); break;
    case LOOP_INDEX: index_print(p, s, depth); break;
    case LOOP_LANES_OF: lanes_print(p, s, depth); break;
    case LOOP_LET:
    case LOOP_VAR: var_print(p, s, depth); break;
    case LOOP_LEAD: lead_print(p, s, depth); break;
    case LOOP_STORE: store_print(p, s, depth); break;
    case LOOP_TURN: turn_print(p, s, depth); break;
    case LOOP_FETCH: fetch_print(p, s, depth); break;
    case LOOP_STREAM: stream_print(p, s, depth); break;
    case LOOP_MATRIX: matrix_print(p, s, depth); break;
    case LOOP_CALL: call_print(p, s, depth); break;
    case LOOP_PRODUCT: break; /* a statement of a device's kernel: cuda.c */
    case LOOP_GROUP: group_print(p, s, depth); break;
    case LOOP_BARRIER:
      indent(p, depth);
      buf_str(p->out, "__syncthreads();\n");
      break;
    }
  }
}

/* ---- functions ------------------------------------------------------------------------------------------ */

static bool is_threaded(const LoopKernel *k) {
  for (uint32_t i = 0; i < k->body.len; i++)
    if (k->body.at[i]->kind == LOOP_FOR && k->body.at[i]->bind == BIND_THREAD) return true;
  return false;
}

uint32_t c_parts(const LoopKernel *k) { return is_threaded(k) ? k->body.len : 1; }

bool c_streams(const LoopBody *b) {
  for (uint32_t i = 0; i < b->len; i++)
    if (b->at[i]->kind == LOOP_STREAM || c_streams(&b->at[i]->body) || c_streams(&b->at[i]->other)) return true;
  return false;
}

/* The number of its buffer, or of that buffer's first axis. In a function that several kernels share it is in
 * ctx->bound, a pair for each place. */
static const char *buffer_text(CPrinter *p, const LoopPlace *x, bool axes) {
  if (!p->shared[p->number]) return arena_printf(p->arena, "%u", axes ? p->axes[x->buffer] : x->buffer);
  return arena_printf(p->arena, "ctx->bound[%u]", (uint32_t)(x - p->k->places.at) * 2 + axes);
}

static const char *axis_text(CPrinter *p, const LoopPlace *x, uint32_t axis) {
  if (!p->shared[p->number]) return arena_printf(p->arena, "%u", p->axes[x->buffer] + axis);
  return axis ? arena_printf(p->arena, "%s + %u", buffer_text(p, x, true), axis) : buffer_text(p, x, true);
}

/* The kernel's sites follow the pairs, in order. */
const char *c_site(CPrinter *p, int64_t site) {
  uint32_t i = 0;
  if (!p->k || !p->shared[p->number]) return arena_printf(p->arena, "%lld", (long long)site);
  while (p->sites.at[i] != site) i++;
  return arena_printf(p->arena, "ctx->bound[%u]", p->k->places.len * 2 + i);
}

static void pointer_print(CPrinter *p, uint32_t place) {
  const LoopPlace *x = &p->k->places.at[place];
  const char *type = c_store_type(x->dtype), *constant = x->written ? "" : "const ";
  buf_printf(p->out, "  %s%s *const EIN_RESTRICT %s = (%s%s *)ctx->data[%s];\n", constant, type, c_place(p, place),
      constant, type, buffer_text(p, x, false));
  p->uses_ctx = true;
}

static void strides_print(CPrinter *p, uint32_t place) {
  const LoopPlace *x = &p->k->places.at[place];
  const TaskBuffer *b = &p->p->tasks->buffers.at[x->buffer];
  Exprs *e = p->p->tasks->exprs;
  for (uint32_t axis = 0; axis < b->rank; axis++) {
    Str name = p->stride_name[place * 64 + axis];
    if (!name) continue;
    const Expr *dense = expr_int(e, DT_I64, 1);
    for (uint32_t k = b->rank; k-- > axis + 1;) dense = expr_op2(e, OP_MUL, b->dim[k], dense);
    buf_printf(p->out, "  const int64_t %s = dense ? ", name->s);
    c_expr(p, dense, true);
    buf_printf(p->out, " : ctx->stride[%s];\n", axis_text(p, x, axis));
    p->uses_dense = p->uses_ctx = true;
  }
}

/* The bytes of a worker's array, rounded up to a cache line. */
static const Expr *scratch_bytes(CPrinter *p, const LoopPlace *x) {
  Exprs *e = p->p->tasks->exprs;
  int64_t size = dtype_size(x->dtype) < 4 && dtype_is_float(x->dtype) ? 4 : dtype_size(x->dtype);
  const Expr *n = expr_int(e, DT_I64, size);
  for (uint32_t k = 0; k < x->rank; k++) n = expr_op2(e, OP_MUL, n, x->dim[k]);
  n = expr_op2(e, OP_IDIV, expr_op2(e, OP_ADD, n, expr_int(e, DT_I64, 63)), expr_int(e, DT_I64, 64));
  return expr_op2(e, OP_MUL, n, expr_int(e, DT_I64, 64));
}

const Expr *c_scratch(CPrinter *p, const LoopKernel *k) {
  const Expr *all = expr_int(p->p->tasks->exprs, DT_I64, 0);
  for (uint32_t i = 0; i < k->places.len; i++)
    if (k->places.at[i].space == SPACE_SCRATCH)
      all = expr_op2(p->p->tasks->exprs, OP_ADD, all, scratch_bytes(p, &k->places.at[i]));
  return all;
}

static void scratch_print(CPrinter *p) {
  const Expr *at = expr_int(p->p->tasks->exprs, DT_I64, 0);
  for (uint32_t i = 0; i < p->k->places.len; i++) {
    const LoopPlace *x = &p->k->places.at[i];
    if (x->space != SPACE_SCRATCH) continue;
    if (p->place_used[i]) {
      const char *type = c_array_type(x);
      buf_printf(p->out,
          "  %s *const EIN_RESTRICT %s = (%s *)ein_own(ctx->scratch + (size_t)worker * ctx->scratch_bytes + ", type,
          c_place(p, i), type);
      c_expr(p, at, true);
      buf_str(p->out, ");\n");
      p->uses_ctx = p->uses_worker = true;
    }
    at = expr_op2(p->p->tasks->exprs, OP_ADD, at, scratch_bytes(p, x));
  }
}

/* The text of a size. In a text that several programs share, sizes follow the sites, in order of use. */
static const char *size_text(CPrinter *p, uint32_t number) {
  if (!p->alone) return arena_printf(p->arena, "ctx->size[%u]", number);
  return arena_printf(p->arena, "ctx->size[ctx->bound[%u]]", p->k->places.len * 2 + p->sites.len + number);
}

/* Prints the pointers, strides and sizes that the statements in `body` use. */
static void head_print(CPrinter *p) {
  Buf *out = p->out, head = buf_new(p->arena);
  p->out = &head;
  for (uint32_t i = 0; i < p->k->places.len; i++)
    if (p->k->places.at[i].space == SPACE_BUFFER && p->place_used[i]) pointer_print(p, i);
  for (uint32_t i = 0; i < p->k->places.len; i++)
    if (loop_is_argument(p->p->tasks, &p->k->places.at[i])) strides_print(p, i);
  scratch_print(p);
  p->out = out;
  for (uint32_t i = 0; i < p->here.len; i++) {
    const CSize *s = &p->sizes.at[p->here.at[i]];
    buf_printf(out, "  const int64_t %s = %s;\n", s->name->s, size_text(p, p->here.at[i]));
    p->uses_ctx = true;
  }
  buf_add(out, head.s, head.len);
}

/* A new function name, unique in the file together with the names that EIN_KERNEL derives from it. */
static Str function_new(CPrinter *p, Str kernel) {
  static const char *const with[] = {"at", "any", "of", "v1", "v3", "v4", "any_of", "any_v1", "any_v3", "any_v4"};
  Str base = strings_printf(p->strings, "%s_k_%s", p->o->prefix, kernel->s), name, all[COUNT(with)];
  bool free;
  do {
    name = c_scope_name(&p->functions, base, "step");
    free = true;
    for (size_t i = 0; i < COUNT(with); i++) {
      all[i] = strings_printf(p->strings, "%s_%s", name->s, with[i]);
      free &= !c_scope_has(&p->functions, all[i]);
    }
  } while (!free);
  for (size_t i = 0; i < COUNT(with); i++) c_scope_take(&p->functions, all[i]);
  return name;
}

/* The names of the current kernel's functions, one per part. */
static const Str *function_names(CPrinter *p) {
  Str *names = map_find(&p->functions_of, p->k);
  if (names) return names;
  uint32_t n = c_parts(p->k);
  names = NEW_ARRAY(p->arena, Str, n);
  for (uint32_t i = 0; i < n; i++) names[i] = function_new(p, p->k->name);
  map_put(&p->functions_of, p->k, names);
  return names;
}

static bool touches_arguments(CPrinter *p) {
  for (uint32_t i = 0; i < p->k->places.len; i++)
    if (loop_is_argument(p->p->tasks, &p->k->places.at[i]) && p->place_used[i] && p->k->places.at[i].rank) return true;
  return false;
}

static void door_open(CPrinter *p, const char *name, const char *more) {
  buf_printf(p->out, "static EIN_KERNEL(%s%s) {\n  ein_ctx *ctx = (ein_ctx *)env;\n", name, more);
}

/* Prints a function's entry points. The version for any strides is a separate function, so that it takes no registers
 * from the dense one. */
static void door_print(CPrinter *p, const char *name) {
  bool touches = touches_arguments(p);
  if (!touches || !p->k->dense) {
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
    const LoopPlace *x = &p->k->places.at[i];
    if (!loop_is_argument(p->p->tasks, x) || !p->place_used[i] || !x->rank) continue;
    buf_printf(p->out, "%sein_dense(ctx, %s)", any ? " && " : "", buffer_text(p, x, false));
    any = true;
  }
  buf_printf(
      p->out, ") %s_at(ctx, chunk, worker, 1 EIN_FUSED);\n  else %s_any(ctx, chunk, worker);\n}\n\n", name, name);
}

/* Prints statements from..to-1 of the kernel as a function; a thread loop's variable is its parameter. */
static void part_print(CPrinter *p, uint32_t part, const LoopBody *all, uint32_t from, uint32_t to) {
  const char *name = function_names(p)[part]->s, *chunk = "chunk";
  Buf *out = p->out, body = buf_new(p->arena);
  const LoopStmt *first = from < to ? all->at[from] : NULL;
  bool thread = first && first->kind == LOOP_FOR && first->bind == BIND_THREAD;
  LoopBody some = {.at = all->at + from, .len = to - from};
  c_kernel_begin(p, p->k, thread ? NULL : chunk);
  p->uses_ctx = p->uses_worker = p->uses_dense = false;
  p->out = &body;
  c_body(p, thread ? &first->body : &some, 1);
  p->out = out;
  Buf head = buf_new(p->arena);
  p->out = &head;
  head_print(p);
  p->out = out;
  if (thread) chunk = c_var(p, first->var);
  buf_printf(out, "EIN_INLINE void %s_at(ein_ctx *ctx, int64_t %s, int worker, int dense EIN_FUSED_PARAMETER) {\n",
      name, chunk);
  if (!p->uses_ctx) buf_str(out, "  (void)ctx;\n");
  if (!thread || !p->var_used[first->var]) buf_printf(out, "  (void)%s;\n", chunk);
  if (!p->uses_worker) buf_str(out, "  (void)worker;\n");
  if (!p->uses_dense) buf_str(out, "  (void)dense;\n");
  buf_add(out, head.s, head.len);
  buf_add(out, body.s, body.len);
  if (!thread && c_streams(&some)) buf_str(out, "  ein_stream_end();\n"); /* threads do so themselves */
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

static void kernel_take(CPrinter *p, uint32_t number) {
  p->number = p->same[number];
  p->k = p->p->kernels.at[p->number];
  if (p->shared[p->number]) p->sites = loop_sites(p->arena, p->k);
}

void c_kernel(CPrinter *p, uint32_t number) {
  const LoopKernel *k = p->p->kernels.at[number];
  if (p->same[number] != number) return;
  kernel_take(p, number);
  if (!p->alone) c_note(p, k);
  if (!is_threaded(k)) {
    part_print(p, 0, &k->body, 0, k->body.len);
    return;
  }
  for (uint32_t i = 0; i < k->body.len; i++) part_print(p, i, &k->body, i, i + 1);
}

/* ---- calls ------------------------------------------------------------------------------------------------ */

/* Prints a rough amount of work, as a double: it only determines the number of threads. */
static void work_text(CPrinter *p, const Expr *e) {
  if (e->kind == EX_INT) buf_printf(p->out, "%lld.0", (long long)e->i);
  else buf_printf(p->out, "(double)ctx->size[%u]", c_size_number(p, e));
}

static const char *bound_name(CPrinter *p, uint32_t number) {
  return arena_printf(p->arena, "%s_bound_%u", p->o->prefix, number);
}

void c_bound_tables(CPrinter *p) {
  bool any = false;
  for (uint32_t i = 0; i < p->p->kernels.len; i++) {
    const LoopKernel *k = p->p->kernels.at[i];
    if (!p->shared[p->same[i]] || !k->places.len) continue;
    if (!any)
      buf_str(p->out,
          "/* ---- kernels that run another one's code: their buffers, each with its first axis; sites ---- */\n\n");
    any = true;
    c_note(p, k);
    buf_printf(p->out, "static const int %s[] = {", bound_name(p, i));
    for (uint32_t x = 0; x < k->places.len; x++) {
      bool is = k->places.at[x].space == SPACE_BUFFER;
      buf_printf(
          p->out, "%s%u, %u", x ? ", " : "", is ? k->places.at[x].buffer : 0, is ? p->axes[k->places.at[x].buffer] : 0);
    }
    LoopSites sites = loop_sites(p->arena, k);
    for (uint32_t x = 0; x < sites.len; x++) buf_printf(p->out, ", %lld", (long long)sites.at[x]);
    buf_str(p->out, "};\n");
  }
  if (any) buf_char(p->out, '\n');
}

void c_parts_table(CPrinter *p) {
  buf_str(p->out, "extern ein_task *const " EMIT_PARTS "[];\nein_task *const " EMIT_PARTS "[] = {");
  for (uint32_t i = 0; i < c_parts(p->k); i++) buf_printf(p->out, "%s%s", i ? ", " : "", function_names(p)[i]->s);
  buf_str(p->out, "};\n");
}

void c_call(CPrinter *p, uint32_t number, const char *before) {
  const LoopKernel *k = p->p->kernels.at[number];
  bool threaded = is_threaded(k);
  kernel_take(p, number);
  if (p->shared[p->number] && k->places.len) buf_printf(p->out, "%sctx->bound = %s;\n", before, bound_name(p, number));
  for (uint32_t i = 0; i < (threaded ? k->body.len : 1); i++) {
    const LoopStmt *s = threaded ? k->body.at[i] : NULL;
    bool thread = s && s->kind == LOOP_FOR && s->bind == BIND_THREAD;
    if (!thread) {
      buf_printf(p->out, "%sif (ein_once(ctx, %s)) return ein_state(ctx);\n", before, function_names(p)[i]->s);
      continue;
    }
    const char *streaming = c_streams(&s->body) ? "_streams" : "";
    buf_printf(p->out, "%sif (ein_parallel%s(ctx, %s, ", before, streaming, function_names(p)[i]->s);
    if (s->hi->kind == EX_INT) buf_printf(p->out, "%lld, ", (long long)s->hi->i);
    else buf_printf(p->out, "ctx->size[%u], ", c_size_number(p, s->hi));
    work_text(p, k->work);
    buf_str(p->out, ")) return ein_state(ctx);\n");
  }
}
