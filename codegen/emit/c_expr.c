/* codegen/emit/c_expr.c - emits expressions as C. ops.def has the text of each operation. Integers wrap, through the
 * runtime's functions, except in indices and bounds, which are proved not to. */
#include <math.h>
#include <string.h>

#include "expr/prove/in_range.h"
#include "c_inside.h"

const char *c_value_type(DType t) {
  static const char *const of[DTYPES] = {
    [DT_F64] = "double", [DT_F32] = "float", [DT_F16] = "float", [DT_BF16] = "float", [DT_I64] = "int64_t",
    [DT_I32] = "int32_t", [DT_I16] = "int16_t", [DT_I8] = "int8_t", [DT_U8] = "uint8_t", [DT_BOOL] = "int",
  };
  return of[t];
}

const char *c_store_type(DType t) {
  return dtype_is_half(t) ? "uint16_t" : t == DT_BOOL ? "uint8_t" : c_value_type(t);
}

/* The element type of one of the kernel's own arrays: unsigned, like the sums in it. gcc 12 hoists stores out of loops
 * wrongly if accesses to one array mix signed and unsigned (wrong code at -O3, seen with 12.2). */
const char *c_array_type(const LoopPlace *x) {
  if (x->small) return c_store_type(x->dtype);
  switch (x->dtype) {
  case DT_I64: return "uint64_t";
  case DT_I32: return "uint32_t";
  case DT_I16: return "uint16_t";
  case DT_I8: case DT_BOOL: return "uint8_t";
  default: return c_value_type(x->dtype);
  }
}

bool c_is_array(const LoopPlace *x) { return x->space != SPACE_BUFFER && x->rank; }

bool c_is_small(const LoopPlace *x) { return dtype_is_half(x->dtype) && (x->space == SPACE_BUFFER || x->small); }

/* Whether the host knows its value in a run: i64 arithmetic over dims and turns. */
bool c_is_known(const Expr *e) {
  if (e->kind == EX_INT || e->kind == EX_DIM || e->kind == EX_TURN) return e->dtype == DT_I64;
  if (e->kind != EX_OP || e->dtype != DT_I64 || e->has & (HAS_LABEL | HAS_READ | HAS_PARAM)) return false;
  switch ((Op)e->op) {
  case OP_ADD: case OP_SUB: case OP_MUL: case OP_IDIV: case OP_MOD: case OP_MIN: case OP_MAX: case OP_NEG: break;
  default: return false;
  }
  for (uint32_t k = 0; k < e->n; k++)
    if (!c_is_known(e->arg[k])) return false;
  return true;
}

/* Whether `sizes_of` computes it ahead. */
static bool is_size(const Expr *e) { return !(e->has & HAS_TURN) && c_is_known(e); }

/* ---- names ------------------------------------------------------------------------------- */

/* A name of Loop's, unchanged if C allows it; a nameless kernel's are valid and unique. */
static Str own_name(CPrinter *p, Str name, const char *otherwise) {
  return p->functions.nameless ? name : c_scope_name(&p->f.names, name, otherwise);
}

/* Starts a function's scope: first the parameters, then Loop's names; strides and sizes are added as they are used. */
void c_kernel_begin(CPrinter *p, const LoopKernel *k, const char *chunk) {
  const char *const parameters[] = {
      "ctx", "worker", "dense", "threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize", "dim3", chunk};
  p->k = k;
  p->f = (CFunction){
      .names = c_scope(p->arena, p->strings),
      .var_name = NEW_ARRAY(p->arena, Str, k->var.len + 1),
      .place_name = NEW_ARRAY(p->arena, Str, k->places.len + 1),
      .stride_name = NEW_ARRAY(p->arena, Str, (size_t)k->places.len * 64 + 1),
      .place_used = NEW_ARRAY(p->arena, bool, k->places.len + 1),
      .var_used = NEW_ARRAY(p->arena, bool, k->var.len + 1),
  };
  for (size_t i = 0; i < COUNT(parameters); i++)
    if (parameters[i]) c_scope_take(&p->f.names, str_from(p->strings, parameters[i]));
  for (uint32_t i = 0; i < k->var.len; i++) p->f.var_name[i] = own_name(p, k->var.at[i], "i");
  for (uint32_t i = 0; i < k->places.len; i++) p->f.place_name[i] = own_name(p, k->places.at[i].name, "t");
}

/* The name of a dims-only expression in this kernel. */
static Str c_size(CPrinter *p, const Expr *e) {
  uint32_t number = c_sizes_number(p->arena, p->own, e);
  while (p->f.size_name.len <= number) vec_push(p->arena, p->f.size_name, NULL);
  Str *name = &p->f.size_name.at[number];
  if (!*name) {
    *name = p->functions.nameless ? strings_printf(p->strings, "n%u", number)
                                  : c_scope_name(&p->f.names, e->kind == EX_DIM ? e->name : NULL, "n");
    vec_push(p->arena, p->f.here, number);
  }
  return *name;
}

void c_file(Buf *b, Str file) {
  uint32_t at = file->len;
  while (at && file->s[at - 1] != '/') at--;
  c_string(b, file->s + at, file->len - at);
}

const char *c_text(Arena *a, Str s) {
  Buf b = buf_new(a);
  if (s) c_string(&b, s->s, s->len);
  return s ? b.s : "NULL";
}

const char *c_place_fields(Arena *a, Place p) {
  Buf b = buf_new(a);
  if (p.file) c_file(&b, p.file);
  return p.file ? arena_printf(a, "%s, %u", b.s, p.line) : "NULL, 0";
}

/* ---- literals -------------------------------------------------------------------------------------- */

static void c_int(Buf *b, DType t, int64_t v) {
  if (t == DT_I64 && v == INT64_MIN) buf_str(b, "INT64_MIN");
  else if (t == DT_I32 && v == INT32_MIN) buf_str(b, "INT32_MIN");
  else if (t == DT_I64 && (v > INT32_MAX || v < INT32_MIN)) buf_printf(b, "INT64_C(%lld)", (long long)v);
  else buf_printf(b, "%lld", (long long)v);
}

static void c_real(Buf *b, DType t, double v) {
  const char *type = t == DT_F64 ? "double" : "float";
  if (isnan(v)) buf_printf(b, "(%s)NAN", type);
  else if (isinf(v)) buf_printf(b, "%s(%s)INFINITY", v < 0 ? "-" : "", type);
  else if (t == DT_F64) double_print(b, v);
  else float_print(b, v), buf_char(b, 'f');
}

static void literal(CPrinter *p, const Expr *e, bool paren) {
  bool negative = e->kind == EX_INT ? e->i < 0 : signbit(e->f);
  if (paren && negative) buf_char(p->out, '(');
  if (e->kind == EX_INT) c_int(p->out, (DType)e->dtype, e->i);
  else c_real(p->out, (DType)e->dtype, e->f);
  if (paren && negative) buf_char(p->out, ')');
}

/* ---- text of operations ---------------------------------------------------------------------------- */

static bool reads_memory(const CPrinter *p, const Expr *e) {
  if (e->kind == EX_READ) return e->n || p->k->places.at[e->i].space == SPACE_BUFFER;
  for (uint32_t k = 0; k < e->n && e->has & HAS_READ; k++)
    if (reads_memory(p, e->arg[k])) return true;
  return false;
}

/* A caller's bool may be any byte; so may what moves between sites bring. */
bool c_is_tested(const CPrinter *p, const LoopPlace *x) {
  const TaskGraph *t = p->p->tasks;
  return x->dtype == DT_BOOL && x->space == SPACE_BUFFER && (t->mesh.n || loop_is_argument(t, x));
}

/* A bool is 0 or 1. If both sides may be computed, & and | avoid a branch: compilers then use masks. Beside an element
 * that is tested as it is read, gcc would not vectorise bytes, unless it becomes a mask of all bits. What is read is
 * compared by its bits, because gcc does not vectorise comparisons of bytes as such. */
static const char *logic_text(const CPrinter *p, const Expr *e) {
  const Expr *a = e->arg[0], *b = e->n > 1 ? e->arg[1] : NULL;
  bool read = p->k && a->dtype == DT_BOOL && a->kind == EX_READ && (!b || b->kind == EX_READ);
  switch ((Op)e->op) {
  case OP_NOT: return read ? "(int)$0 ^ 1" : NULL;
  case OP_NE: return read ? "(int)$0 ^ (int)$1" : NULL;
  case OP_EQ: return read ? "(int)$0 ^ (int)$1 ^ 1" : NULL;
  case OP_AND:
    if (!p->k || reads_memory(p, b)) return NULL;
    return read && a->n && c_is_tested(p, &p->k->places.at[a->i]) ? "-(int)$0 & (int)$1" : "(int)$0 & (int)$1";
  case OP_OR: return !p->k || reads_memory(p, b) ? NULL : "(int)$0 | (int)$1";
  default: return NULL;
  }
}

/* Whether it is a power with a whole number of factors. Of two, the graph's rules made a product. */
static bool is_whole_power(const Expr *e) {
  const Expr *n = e->op == OP_POW ? e->arg[1] : NULL;
  return n && n->kind == EX_REAL && n->f >= 3 && n->f <= 32 && n->f == floor(n->f);
}

static bool is_two_to(const Expr *e) { return e->op == OP_POW && expr_is_int(e->arg[0], 2); }

static const char *op_text(const Expr *e) {
  const OpInfo *o = &op_info[e->op];
  bool other = o->rule == RULE_COMPARE || o->rule == RULE_TEST || o->rule == RULE_BITS;
  DType t = (DType)(other ? e->arg[0]->dtype : e->dtype);
  const char *s = t == DT_F64 ? o->c_f64 : dtype_is_float(t) ? o->c_f32 : o->c_int;
  if (is_two_to(e)) return "ein_two_to_@($1)";
  if (is_whole_power(e)) return t == DT_F64 ? "ein_power_f64($0, $1)" : "ein_power_f32($0, $1)";
  if (!s) bug("no C text for %s on %s", o->name, dtype_name(t));
  return s;
}

/* Whether it is a call: "$0 + $1" needs parentheses inside another expression; "f($0)" does not. */
static bool is_call(const char *text) {
  const char *end = strchr(text, '(');
  return end &&
      strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@") == (size_t)(end - text) &&
      text[strlen(text) - 1] == ')';
}

/* Whether the "$" in a call's text is a whole argument, as in "f($0, $1)", and not a part of one, as in "floor($0 /
 * $1)". */
static bool stands_alone(const char *at) {
  bool first = at[-2] == '(', later = at[-2] == ' ' && at[-3] == ',';
  return (first || later) && (at[1] == ',' || at[1] == ')');
}

/* Whether it is natural and not 0: a label or a size may be 0, for which C's own division ends the program. */
static bool is_positive(const Expr *e) {
  if (e->kind == EX_INT) return e->i > 0;
  if (e->kind != EX_OP || !expr_is_natural(e)) return false;
  bool a = is_positive(e->arg[0]), b = e->n > 1 && is_positive(e->arg[1]);
  return e->op == OP_MUL || e->op == OP_MIN ? a && b : (e->op == OP_ADD || e->op == OP_MAX) && (a || b);
}

/* The operator for index arithmetic; NULL: as everywhere else. */
static const char *index_sign(const Expr *e, bool index) {
  if (!index || e->kind != EX_OP || e->dtype != DT_I64 || e->has & HAS_READ) return NULL;
  switch ((Op)e->op) {
  case OP_ADD: return " + ";
  case OP_SUB: return " - ";
  case OP_MUL: return " * ";
  case OP_IDIV: return expr_is_natural(e->arg[0]) && is_positive(e->arg[1]) ? " / " : NULL;
  case OP_MOD: return expr_is_natural(e->arg[0]) && is_positive(e->arg[1]) ? " % " : NULL;
  default: return NULL;
  }
}

static bool is_atom(const Expr *e, bool index) {
  if (e->kind != EX_OP) return true;
  if (is_size(e) || e->op == OP_EXTERN) return true;
  if (index_sign(e, index)) return false;
  if (e->op == OP_CAST) return true;
  return dtype_is_half((DType)e->dtype) || is_call(op_text(e));
}

/* Whether it chooses between values of 8 bytes of which one is in memory, by an index: see ein_nought. */
static bool is_guard(const CPrinter *p, const Expr *e) {
  if (e->op != OP_SELECT || p->device || !p->k || dtype_size((DType)e->dtype) != 8) return false;
  return reads_memory(p, e->arg[1]) || reads_memory(p, e->arg[2]);
}

static void argument(CPrinter *p, const Expr *e, bool index, bool call) {
  bool paren = !call && !is_atom(e, index);
  if (p->f.guard && expr_is_int(e, 0) && e->dtype == DT_I64) {
    if (!p->f.nought) p->f.nought = c_scope_name(&p->f.names, NULL, "nought");
    buf_str(p->out, p->f.nought->s);
    return;
  }
  if (e->kind == EX_INT || e->kind == EX_REAL) {
    literal(p, e, !call);
    return;
  }
  if (paren) buf_char(p->out, '(');
  c_expr(p, e, index);
  if (paren) buf_char(p->out, ')');
}

static void template_print(CPrinter *p, const Expr *e, bool index) {
  const char *logic = e->dtype == DT_BOOL ? logic_text(p, e) : NULL, *text = logic ? logic : op_text(e);
  bool call = is_call(text);
  DType of = (DType)(e->n ? e->arg[0]->dtype : e->dtype);
  LoopNumber number;
  int operand = loop_number(e, &number);
  for (const char *s = text; *s; s++) {
    if (*s == '@') buf_str(p->out, dtype_name(of));
    else if (*s != '$') buf_char(p->out, *s);
    else if (*++s - '0' == operand) buf_str(p->out, c_number(p, e));
    else {
      bool was = p->f.guard;
      p->f.guard |= *s == '0' && is_guard(p, e);
      argument(p, e->arg[*s - '0'], index, call && stands_alone(s));
      p->f.guard = was;
    }
  }
}

/* Whether it returns one of its arguments, perhaps negated, so that nothing is rounded. */
static bool is_chosen(const Expr *e) {
  switch ((Op)e->op) {
  case OP_SELECT:
  case OP_MAX:
  case OP_MIN:
  case OP_FMAX:
  case OP_FMIN:
  case OP_NEG:
  case OP_ABS:
  case OP_STOP: return e->kind == EX_OP;
  default: return false;
  }
}

static void rounded(CPrinter *p, const Expr *e, bool index) {
  bool bound = index && e->dtype == DT_I64 && (e->op == OP_MIN || e->op == OP_MAX);
  if (dtype_is_half((DType)e->dtype) && !is_chosen(e)) {
    buf_printf(p->out, "ein_round_%s(", dtype_name((DType)e->dtype));
    template_print(p, e, bound);
    buf_char(p->out, ')');
  } else if (dtype_is_half((DType)e->dtype)) {
    buf_char(p->out, '(');
    template_print(p, e, bound);
    buf_char(p->out, ')');
  } else if (e->kind == EX_OP && op_info[e->op].rule == RULE_TEST) { /* C gives any non-zero; here a bool is 1 */
    buf_char(p->out, '(');
    template_print(p, e, bound);
    buf_str(p->out, " != 0)");
  } else {
    template_print(p, e, bound);
  }
}

/* ---- conversions ------------------------------------------------------------------------------------ */

static void convert_call(CPrinter *p, const char *f, const Expr *x) {
  buf_printf(p->out, "%s(", f);
  c_expr(p, x, false);
  buf_char(p->out, ')');
}

static void convert_cast(CPrinter *p, const char *type, const Expr *x) {
  buf_printf(p->out, "(%s)", type);
  argument(p, x, false, false);
}

/* The function that casts to another type than bool; NULL: C's own cast does. */
static const char *cast_function(const CPrinter *p, DType from, DType to) {
  bool real = dtype_is_float(from);
  if (dtype_is_half(to))
    return arena_printf(p->arena, "ein_%sround_%s", from == DT_F64 ? "f64_" : real ? "" : "i64_", dtype_name(to));
  if (!real || dtype_is_float(to)) return NULL;
  return arena_printf(p->arena, "ein_%s_to_%s", from == DT_F64 ? "f64" : "f32", dtype_name(to));
}

static void cast(CPrinter *p, const Expr *e) {
  const Expr *x = e->arg[0];
  DType from = (DType)x->dtype, to = (DType)e->dtype;
  const char *by = cast_function(p, from, to);
  if (to == DT_BOOL) {
    buf_char(p->out, '(');
    argument(p, x, false, false);
    buf_str(p->out, " != 0)");
  } else if (by) {
    convert_call(p, by, x);
  } else if (to == DT_F32 && dtype_is_half(from)) {
    argument(p, x, false, false);
  } else {
    convert_cast(p, c_value_type(to), x);
  }
}

/* ---- calls of C functions ------------------------------------------------------------------------------- */

static void extern_call(CPrinter *p, const Expr *e) {
  c_called(p, e->by);
  buf_printf(p->out, "ein_extern_%s(", e->by->symbol->s);
  for (uint32_t k = 0; k < e->n; k++) {
    if (k) buf_str(p->out, ", ");
    c_expr(p, e->arg[k], false);
  }
  buf_char(p->out, ')');
}

/* ---- reads ------------------------------------------------------------------------------------------- */

void c_buffer_stride(CPrinter *p, uint32_t place, uint32_t axis) {
  Str *name = &p->f.stride_name[place * 64 + axis];
  if (!*name) *name = own_name(p, strings_printf(p->strings, "%s_%u", c_place(p, place), axis), "stride");
  buf_str(p->out, (*name)->s);
}

uint32_t c_last_axis(const LoopPlace *x, uint32_t axis) {
  uint32_t n = x->axes ? 0 : axis + 1;
  for (uint32_t k = 0; x->axes && k <= axis; k++) n += x->axes[k];
  return n - 1;
}

bool c_has_strides(const CPrinter *p, const LoopPlace *x) {
  if (p->device || x->space != SPACE_BUFFER) return false;
  return loop_is_argument(p->p->tasks, x) || p->functions.any[p->number];
}

/* As a factor: of a difference that is no size with a name of its own, as 2^H - 1, all must be multiplied. */
void c_stride(CPrinter *p, uint32_t place, uint32_t axis) {
  const LoopPlace *x = &p->k->places.at[place];
  const Expr *e = expr_int(p->p->tasks->exprs, DT_I64, 1);
  if (c_has_strides(p, x)) {
    c_buffer_stride(p, place, c_last_axis(x, axis));
    return;
  }
  for (uint32_t k = x->rank; k-- > axis + 1;) e = expr_op2(p->p->tasks->exprs, OP_MUL, x->dim[k], e);
  bool product = is_op(e, OP_MUL) && !is_atom(e, true);
  if (product) c_expr(p, e, true);
  else argument(p, e, true, false);
}

static const Expr *index_inside(const Expr *e) { return e->kind == EX_OP && e->op == OP_WITHIN ? e->arg[0] : e; }

/* The register that the last index of one of our arrays adds; NULL: none. It is added to the array's name, so that the
 * C compiler sees one more pointer, with the same offsets to each element. */
static const Expr *index_base(const CPrinter *p, const LoopPlace *x, uint32_t n, const Expr *const *at) {
  const Expr *last = n ? at[n - 1] : NULL;
  if (!last || p->device || c_has_strides(p, x) || last->kind != EX_OP || last->op != OP_ADD) return NULL;
  const Expr *base = last->arg[1];
  return base->kind == EX_READ && !base->n && p->k->places.at[base->i].space == SPACE_REGISTER ? base : NULL;
}

/* An index over several of an argument's axes, from `first` on: used directly if these are contiguous, else split. */
static void index_apart(CPrinter *p, uint32_t place, const Expr *index, uint32_t first, uint32_t n) {
  const LoopPlace *x = &p->k->places.at[place];
  const TaskBuffer *b = &p->p->tasks->buffers.at[x->buffer];
  Exprs *e = p->p->tasks->exprs;
  const Expr *below = expr_int(e, DT_I64, 1);
  p->f.uses_dense = true;
  buf_str(p->out, "(dense ? ");
  argument(p, index, true, false);
  buf_str(p->out, " * "), c_buffer_stride(p, place, first + n - 1);
  buf_str(p->out, " : ");
  for (uint32_t k = n; k-- > 0;) {
    const Expr *at = k + 1 < n ? expr_op2(e, OP_IDIV, index, below) : index;
    if (k) at = expr_op2(e, OP_MOD, at, b->dim[first + k]);
    argument(p, at, true, false);
    buf_str(p->out, " * "), c_buffer_stride(p, place, first + k);
    if (k) buf_str(p->out, " + ");
    below = expr_op2(e, OP_MUL, below, b->dim[first + k]);
  }
  buf_char(p->out, ')');
}

/* Prints the element's offset in its place; base: without it. */
static void index_flat(CPrinter *p, uint32_t place, uint32_t n, const Expr *const *at, const Expr *base) {
  const LoopPlace *x = &p->k->places.at[place];
  bool any = false;
  for (uint32_t k = 0, axis = 0; k < n; axis += x->axes ? x->axes[k] : 1, k++) {
    const Expr *i = base && k + 1 == n ? at[k]->arg[0] : index_inside(at[k]);
    if (expr_is_int(i, 0)) continue;
    if (any) buf_str(p->out, " + ");
    any = true;
    if (x->axes && x->axes[k] > 1 && c_has_strides(p, x)) {
      index_apart(p, place, i, axis, x->axes[k]);
      continue;
    }
    bool last = k + 1 == n && !c_has_strides(p, x);
    argument(p, i, true, last && n == 1);
    if (!last) buf_str(p->out, " * "), c_stride(p, place, k);
  }
  if (!any) buf_char(p->out, '0');
}

/* ---- lane strides ------------------------------------------------------------------------------------
 *
 * X[64 * i + (2 * l + 1)], with l going over lanes, is printed as (X + 64 * i)[2 * l + 1]. Clang 19 turns a single sum
 * into an `or` if it knows which bits are 0, and then no longer sees that 2 * l and 2 * l + 1 are neighbours, so it
 * gathers each separately. */

static bool has_var(const Expr *e, uint32_t var) {
  if (e->kind == EX_LABEL) return e->i == (int64_t)var;
  for (uint32_t k = 0; k < e->n && e->has & HAS_LABEL; k++)
    if (has_var(e->arg[k], var)) return true;
  return false;
}

/* Whether it has a multiple of the variable. */
static bool has_multiple(const Expr *e, uint32_t var) {
  if (e->kind == EX_OP && e->op == OP_MUL) return has_var(e, var);
  for (uint32_t k = 0; k < e->n && e->has & HAS_LABEL; k++)
    if (has_multiple(e->arg[k], var)) return true;
  return false;
}

/* The part of a sum that is the same for all lanes: its terms over other variables; the others, and numbers, go to
 * *rest. NULL: none. */
static const Expr *fixed_part(Exprs *x, const Expr *e, uint32_t lane, const Expr **rest) {
  *rest = NULL;
  if (e->kind == EX_OP && e->op == OP_ADD) {
    const Expr *more[2], *part[2];
    for (int k = 0; k < 2; k++) part[k] = fixed_part(x, e->arg[k], lane, &more[k]);
    *rest = more[0] && more[1] ? expr_op2(x, OP_ADD, more[0], more[1]) : more[0] ? more[0] : more[1];
    return part[0] && part[1] ? expr_op2(x, OP_ADD, part[0], part[1]) : part[0] ? part[0] : part[1];
  }
  bool fixed = e->has & HAS_LABEL && !has_var(e, lane) && expr_is_natural(e);
  *rest = fixed ? NULL : e;
  return fixed ? e : NULL;
}

/* Splits the indices into what is the same for all lanes, and the rest; false: they need not be split. */
static bool lanes_apart(
    const CPrinter *p, const LoopPlace *x, uint32_t n, const Expr *const *at, const Expr **fixed, const Expr **rest) {
  const Expr *none = expr_int(p->p->tasks->exprs, DT_I64, 0);
  bool steps = false, any = false;
  for (uint32_t k = 0; p->f.lane && !p->device && k < n; k++) steps |= has_multiple(at[k], p->f.lane - 1);
  for (uint32_t k = 0; steps && k < n; k++) {
    const Expr *e = index_inside(at[k]), *part;
    bool whole = x->axes && x->axes[k] > 1; /* its quotient and remainder are taken */
    if (!whole) fixed[k] = fixed_part(p->p->tasks->exprs, e, p->f.lane - 1, &part);
    else if (has_var(e, p->f.lane - 1)) fixed[k] = NULL, part = e;
    else fixed[k] = e, part = NULL;
    any |= fixed[k] != NULL;
    if (!fixed[k]) fixed[k] = none;
    rest[k] = part ? part : none;
  }
  return any;
}

static bool element_apart(CPrinter *p, uint32_t place, uint32_t n, const Expr *const *at) {
  const Expr **fixed = NEW_ARRAY(p->arena, const Expr *, n + 1), **rest = NEW_ARRAY(p->arena, const Expr *, n + 1);
  if (!lanes_apart(p, &p->k->places.at[place], n, at, fixed, rest)) return false;
  buf_printf(p->out, "(%s + ", c_place(p, place));
  index_flat(p, place, n, fixed, NULL);
  buf_str(p->out, ")[");
  index_flat(p, place, n, rest, NULL);
  buf_char(p->out, ']');
  return true;
}

void c_element(CPrinter *p, uint32_t place, uint32_t n, const Expr *const *at) {
  const Expr *base = index_base(p, &p->k->places.at[place], n, at);
  p->f.place_used[place] = true;
  if (!base && element_apart(p, place, n, at)) return;
  buf_printf(p->out, base ? "(%s + " : "%s[", c_place(p, place));
  if (base) {
    c_expr(p, base, true);
    buf_str(p->out, ")[");
  }
  index_flat(p, place, n, at, base);
  buf_char(p->out, ']');
}

/* Prints the tests of indices, before anything is read. */
static void within_print(CPrinter *p, const Expr *read) {
  const char *before = "";
  for (uint32_t k = 0; k < read->n; k++) {
    const Expr *w = read->arg[k];
    if (index_inside(w) == w) continue;
    buf_printf(p->out, "%s(uint64_t)", before);
    argument(p, w->arg[0], false, false);
    buf_str(p->out, " < (uint64_t)");
    argument(p, w->arg[1], true, false);
    before = " && ";
  }
}

/* Prints what reports each index that is out of range. */
static void outside_print(CPrinter *p, const Expr *read) {
  p->f.uses_ctx = true;
  for (uint32_t k = 0; k < read->n; k++) {
    const Expr *w = read->arg[k];
    if (index_inside(w) == w) continue;
    buf_str(p->out, "ein_within(");
    c_expr(p, w->arg[0], false);
    buf_str(p->out, ", ");
    c_expr(p, w->arg[1], true);
    buf_printf(p->out, ", %s); ", c_number(p, w));
  }
}

static bool looks_at_indices(const Expr *read) {
  for (uint32_t k = 0; k < read->n; k++)
    if (index_inside(read->arg[k]) != read->arg[k]) return true;
  return false;
}

void c_group_load(CPrinter *p, const char *to, int64_t count, const Expr *read) {
  bool looks = looks_at_indices(read);
  uint32_t place = (uint32_t)read->i;
  p->f.place_used[place] = true;
  if (looks) {
    buf_str(p->out, "if (");
    within_print(p, read);
    buf_str(p->out, ") ");
  }
  buf_printf(p->out, "EIN_WIDE_%s(%lld, %s, %s, ", p->k->places.at[place].written ? "READ" : "LOAD", (long long)count,
      to, c_place(p, place));
  index_flat(p, place, read->n, read->arg, NULL);
  buf_str(p->out, ");");
  if (looks) {
    buf_str(p->out, " else { ");
    outside_print(p, read);
    buf_printf(p->out, "EIN_WIDE_ZERO(%lld, %s); }", (long long)count, to);
  }
  buf_char(p->out, '\n');
}

void c_group_store(CPrinter *p, uint32_t place, uint32_t n, const Expr *const *at, const char *from, int64_t count) {
  p->f.place_used[place] = true;
  buf_printf(p->out, "EIN_WIDE_STORE(%lld, %s, ", (long long)count, c_place(p, place));
  index_flat(p, place, n, at, NULL);
  buf_printf(p->out, ", %s);\n", from);
}

static void element_value(CPrinter *p, const Expr *e) {
  const LoopPlace *x = &p->k->places.at[e->i];
  bool small = c_is_small(x), half = small && !p->f.raw;
  bool truth = c_is_tested(p, x);
  if (truth) buf_char(p->out, '(');
  if (c_is_array(x) && !small && c_array_type(x) != c_value_type(x->dtype))
    buf_printf(p->out, "(%s)", c_value_type(x->dtype));
  if (half) buf_printf(p->out, "ein_%s_to_f32(", dtype_name(x->dtype));
  c_element(p, (uint32_t)e->i, e->n, e->arg);
  if (half) buf_char(p->out, ')');
  if (truth) buf_str(p->out, " != 0)");
}

/* Gathered indices are tested before they are used. */
static void read(CPrinter *p, const Expr *e) {
  const LoopPlace *x = &p->k->places.at[e->i];
  p->f.place_used[e->i] = true;
  if (x->space != SPACE_BUFFER && !e->n) {
    buf_str(p->out, c_place(p, (uint32_t)e->i));
    return;
  }
  for (uint32_t k = 0; k < e->n; k++) {
    const Expr *w = e->arg[k];
    if (index_inside(w) == w) continue;
    buf_str(p->out, "((uint64_t)");
    argument(p, w->arg[0], false, false);
    buf_str(p->out, " < (uint64_t)");
    argument(p, w->arg[1], true, false);
    buf_str(p->out, " ? ");
  }
  element_value(p, e);
  for (uint32_t k = e->n; k-- > 0;) {
    const Expr *w = e->arg[k];
    if (index_inside(w) == w) continue;
    p->f.uses_ctx = true;
    buf_printf(p->out, " : (%s)ein_fault(ctx, %s, ", c_value_type((DType)e->dtype), c_number(p, w));
    c_expr(p, w->arg[0], false);
    buf_str(p->out, ", ");
    c_expr(p, w->arg[1], true);
    buf_str(p->out, "))");
  }
}

/* ---- entry points ------------------------------------------------------------------------------------- */

void c_expr(CPrinter *p, const Expr *e, bool index) {
  const char *sign = index_sign(e, index);
  if (e->kind == EX_INT || e->kind == EX_REAL) {
    literal(p, e, false);
  } else if (is_size(e)) {
    buf_str(p->out, c_size(p, e)->s);
  } else if (e->kind == EX_LABEL) {
    p->f.var_used[e->i] = true;
    buf_str(p->out, c_var(p, (uint32_t)e->i));
  } else if (e->kind == EX_TURN) {
    p->f.uses_ctx = true;
    buf_printf(p->out, "ctx->turn[%lld]", (long long)e->i);
  } else if (e->kind == EX_READ) {
    read(p, e);
  } else if (sign) {
    argument(p, e->arg[0], true, false);
    buf_str(p->out, sign);
    argument(p, e->arg[1], true, false);
  } else if (e->op == OP_CAST) {
    cast(p, e);
  } else if (e->op == OP_EXTERN) {
    extern_call(p, e);
  } else {
    p->f.uses_ctx |= is_op(e, OP_WITHIN);
    rounded(p, e, index);
  }
}

/* ---- sizes, when a run is planned ----------------------------------------------------------------------- */

static void checked_arguments(CPrinter *p, Buf *out, const Expr *e, const char *before) {
  for (uint32_t k = 0; k < e->n; k++) {
    buf_str(out, k ? ", " : before);
    c_checked(p, out, e->arg[k]);
  }
  buf_char(out, ')');
}

static const char *checked_name(Op op) {
  switch (op) {
  case OP_ADD: return "ein_plan_add(p, ";
  case OP_SUB: return "ein_plan_sub(p, ";
  case OP_MUL: return "ein_plan_mul(p, ";
  case OP_NEG: return "ein_plan_neg(p, ";
  case OP_IDIV: return "ein_idiv_i64(";
  case OP_MOD: return "ein_mod_i64(";
  case OP_MAX: return "ein_max_i64(";
  case OP_MIN: return "ein_min_i64(";
  default: return NULL;
  }
}

static void checked_cast(CPrinter *p, Buf *out, const Expr *e) {
  DType to = (DType)e->dtype;
  const char *by = cast_function(p, (DType)e->arg[0]->dtype, to);
  if (to == DT_BOOL) buf_char(out, '(');
  else if (by) buf_printf(out, "%s(", by);
  else buf_printf(out, "((%s)", c_value_type(to));
  c_checked(p, out, e->arg[0]);
  buf_str(out, to == DT_BOOL ? " != 0)" : ")");
}

/* Expressions that a program's check may have beyond sizes: comparisons, logic, and other operations over dims. */
static void checked_template(CPrinter *p, Buf *out, const Expr *e) {
  if (dtype_is_half((DType)e->dtype)) buf_printf(out, "ein_round_%s", dtype_name((DType)e->dtype));
  buf_char(out, '(');
  for (const char *s = op_text(e); *s; s++) {
    if (*s == '$') c_checked(p, out, e->arg[*++s - '0']);
    else if (*s == '@') buf_str(out, dtype_name((DType)e->arg[0]->dtype));
    else buf_char(out, *s);
  }
  buf_str(out, op_info[e->op].rule == RULE_TEST ? " != 0)" : ")");
}

/* The number of a dim among those without a value. */
static uint32_t open_dim(const TaskGraph *t, Str name) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < t->dims.len; i++) {
    if (t->dims.at[i].name == name) return n;
    n += !t->dims.at[i].known;
  }
  bug("a dim that is none of the program's");
}

void c_checked(CPrinter *p, Buf *out, const Expr *e) {
  const char *name = e->kind == EX_OP && e->dtype == DT_I64 ? checked_name((Op)e->op) : NULL;
  if (e->kind == EX_INT) c_int(out, (DType)e->dtype, e->i);
  else if (e->kind == EX_REAL) c_real(out, (DType)e->dtype, e->f);
  else if (e->kind == EX_DIM) buf_printf(out, "dim[%u]", open_dim(p->p->tasks, e->name));
  else if (name) checked_arguments(p, out, e, name);
  else if (e->op == OP_CAST) checked_cast(p, out, e);
  else checked_template(p, out, e);
}

static void known_template(CPrinter *p, const Expr *e) {
  buf_char(p->out, '(');
  for (const char *s = op_text(e); *s; s++) {
    if (*s == '$') c_known(p, e->arg[*++s - '0']);
    else if (*s == '@') buf_str(p->out, dtype_name(DT_I64));
    else buf_char(p->out, *s);
  }
  buf_char(p->out, ')');
}

void c_known(CPrinter *p, const Expr *e) {
  if (e->kind == EX_INT) c_int(p->out, DT_I64, e->i);
  else if (e->kind == EX_TURN) buf_printf(p->out, "ctx->turn[%lld]", (long long)e->i);
  else if (is_size(e)) buf_printf(p->out, "ctx->size[%u]", c_size_number(p, e));
  else known_template(p, e);
}
