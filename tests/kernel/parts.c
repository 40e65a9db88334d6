/* tests/kernel/parts.c - sizes, labels, tensors, and expressions with their dtype and how large and how exact they are.
 */
#include <math.h>
#include <string.h>

#include "kernels.h"

static const char *name_new(Case *c, const char *head) { return arena_printf(c->arena, "%s%u", head, c->names++); }

/* Tensors have names that fall together with what an emitter may add to another's: Y, Y_2, Y_at, Y_any, Y_1, Y_2_2, ..
 */
static const char *name_near(Case *c, const char *head, uint32_t n) {
  static const char *const more[] = {"_2", "_at", "_any", "_1"};
  for (; n; n = (n - 1) / (uint32_t)COUNT(more))
    head = arena_printf(c->arena, "%s%s", head, more[(n - 1) % COUNT(more)]);
  return head;
}

/* ---- sizes and labels ------------------------------------------------------------------------------ */

static const int64_t ladder[] = {0, 1, 2, 3, 7, 8, 13, 16, 17, 31, 32, 33, 40, 53, 64, 67, 100, 130};
static const int64_t deep[] = {1023, 1024, 1025, 1300, 2047, 2049, 2500, 4097, 8193, 9000};

Size *size_new(Case *c, int64_t value) {
  Size *s = NEW(c->arena, Size);
  *s = (Size){.name = name_new(c, "N"), .value = value, .other = value, .open = c->opens && chance(&c->rng, 50)};
  if (s->open) s->other = ladder[below(&c->rng, COUNT(ladder))];
  vec_push(c->arena, c->sizes, s);
  return s;
}

Size *size_any(Case *c) {
  uint32_t from = chance(&c->rng, 2) ? 0 : chance(&c->rng, 15) ? 1 : 4;
  return size_new(c, ladder[from + below(&c->rng, COUNT(ladder) - from)]);
}

Size *size_deep(Case *c) { return size_new(c, deep[below(&c->rng, COUNT(deep))]); }

int64_t size_most(const Size *s) { return s->open && s->other > s->value ? s->other : s->value; }

Lab *lab_new(Case *c, Size *s) {
  static const char letters[] = "abcdefghijklmnopqrstuvwxyz";
  Lab *l = NEW(c->arena, Lab);
  uint32_t k = c->labs.len;
  *l = (Lab){arena_printf(c->arena, k < 26 ? "%c" : "%c%u", letters[k % 26], k / 26), s};
  vec_push(c->arena, c->labs, l);
  return l;
}

static int64_t lower(int64_t v) {
  for (size_t k = COUNT(deep); k-- > 0;)
    if (deep[k] < v) return deep[k];
  for (size_t k = COUNT(ladder); k-- > 0;)
    if (ladder[k] < v) return ladder[k];
  return v > 1 ? v - 1 : 1;
}

static double points(uint32_t n, Lab *const *lab, bool other) {
  double x = 1;
  for (uint32_t k = 0; k < n; k++) x *= (double)(other ? lab[k]->size->other : lab[k]->size->value);
  return x;
}

double labs_points(uint32_t n, Lab *const *lab) { return fmax(points(n, lab, false), points(n, lab, true)); }

static double room(uint32_t n, Lab *const *lab, bool other) {
  double x = 1;
  for (uint32_t k = 0; k < n; k++) x *= fmax((double)(other ? lab[k]->size->other : lab[k]->size->value), 1);
  return x;
}

double labs_room(uint32_t n, Lab *const *lab) { return fmax(room(n, lab, false), room(n, lab, true)); }

/* Large ones give way first. */
void labs_fit(Case *c, uint32_t n, Lab *const *lab, double most) {
  for (int other = 0; other < 2; other++)
    for (uint32_t tries = 0; room(n, lab, other) > most; tries++) {
      Size *s = lab[below(&c->rng, n)]->size;
      int64_t *v = other && s->open ? &s->other : &s->value;
      if (*v > 17 || (tries > 20 * n && *v > 2)) *v = lower(*v);
      if (!s->open) s->other = s->value;
    }
}

void labs_mix(Case *c, uint32_t n, Lab **lab) {
  for (uint32_t k = n; k > 1; k--) {
    uint32_t i = below(&c->rng, k);
    Lab *was = lab[i];
    lab[i] = lab[k - 1], lab[k - 1] = was;
  }
}

bool any_empty(uint32_t n, Lab *const *lab) { return points(n, lab, false) < 1 || points(n, lab, true) < 1; }

int64_t axis_value(const Axis *x, bool other) {
  int64_t a = other ? x->a->other : x->a->value, b = x->b ? other ? x->b->other : x->b->value : 0;
  return a * x->times / x->by + b * x->more + x->plus;
}

static const char *size_text(Arena *a, const Size *s) {
  return s->open ? s->name : arena_printf(a, "%lld", (long long)s->value);
}

const char *axis_text(Arena *a, const Axis *x) {
  Buf b = buf_new(a);
  buf_str(&b, size_text(a, x->a));
  if (x->times != 1) buf_printf(&b, " * %lld", (long long)x->times);
  if (x->by != 1) buf_printf(&b, " // %lld", (long long)x->by);
  if (x->b) buf_printf(&b, " + %s", size_text(a, x->b));
  if (x->b && x->more != 1) buf_printf(&b, " * %lld", (long long)x->more);
  if (x->plus) buf_printf(&b, " + %lld", (long long)x->plus);
  return b.s;
}

/* ---- tensors ------------------------------------------------------------------------------------------ */

double dtype_most(DType t) {
  switch (t) {
    case DT_F64: return 9007199254740992.0;
    case DT_F32: return 16777216;
    case DT_F16: return 2048;
    case DT_BF16: return 256;
    case DT_BOOL: return 1;
    case DT_U8: return 255;
    case DT_I8: return 128;
    case DT_I16: return 32768;
    case DT_I32: return 2147483648.0;
    default: return 9.3e18;
  }
}

double dtype_grain(DType t) {
  static const double grain[DTYPES] = {[DT_F64] = 1e-10, [DT_F32] = 1e-4, [DT_F16] = 1e-2, [DT_BF16] = 4e-2};
  return grain[t];
}

Tensor *input_new(Case *c, DType t, Values v) {
  Tensor *x = NEW(c->arena, Tensor);
  double most = t == DT_BOOL ? 1 : v == SIGNS ? 1 : v == WIDE ? dtype_most(t) : 3;
  *x = (Tensor){
      .name = name_near(c, "X", c->inputs++), .dtype = t, .values = v, .most = most, .exact = true, .input = true};
  vec_push(c->arena, c->tensors, x);
  c->whole &= !dtype_is_float(t);
  return x;
}

Tensor *equation_add(Case *c, uint32_t n, Lab *const *left, Term *value, bool output) {
  Tensor *x = NEW(c->arena, Tensor);
  Equation *q = NEW(c->arena, Equation);
  *x = (Tensor){.name = name_near(c, "Y", c->outputs++),
      .dtype = value->t,
      .rank = n,
      .most = value->most,
      .exact = value->exact || value->once};
  *q = (Equation){.to = x, .n_left = n, .value = value, .output = output};
  q->typed = !value->weak && (dtype_is_float(value->t) || chance(&c->rng, 20));
  for (uint32_t k = 0; k < n; k++) {
    q->left[k] = left[k];
    x->axis[k] = axis_of(left[k]->size);
  }
  vec_push(c->arena, c->tensors, x);
  vec_push(c->arena, c->equations, q);
  return x;
}

/* ---- terms ------------------------------------------------------------------------------------------ */

static Term *term_new(Case *c, TermKind kind, DType t, double most, bool exact) {
  Term *x = NEW(c->arena, Term);
  if (dtype_is_float(t)) {
    exact &= most <= dtype_most(t);
    if (!exact) c->grain = fmax(c->grain, dtype_grain(t));
    c->whole = false;
  } else if (most > dtype_most(t)) {
    most = dtype_most(t);
  }
  *x = (Term){.kind = kind, .t = t, .most = most, .exact = exact};
  return x;
}

Term *term_text(Case *c, const char *text, DType t, double most) {
  Term *x = term_new(c, TERM_TEXT, t, most, floor(most) == most);
  x->text = text;
  x->weak = t == DT_BOOL ? HELD : LITERAL;
  return x;
}

Term *term_int(Case *c, int64_t i) {
  return term_text(c, arena_printf(c->arena, "%lld", (long long)i), DT_I64, fabs((double)i));
}

Term *term_label(Case *c, Lab *l) {
  Term *x = term_new(c, TERM_LABEL, DT_I64, (double)size_most(l->size), true);
  x->lab[0] = l;
  x->weak = INDEX;
  return x;
}

Term *term_read(Case *c, Tensor *t, Term *const *at) {
  Term *x = term_new(c, TERM_READ, t->dtype, t->most, t->exact);
  x->tensor = t;
  x->n = t->rank;
  for (uint32_t k = 0; k < t->rank; k++) x->arg[k] = at[k];
  t->read = true;
  return x;
}

Term *tensor_at(Case *c, Tensor *t, Lab *const *lab) {
  Term *at[AXES_MOST];
  for (uint32_t k = 0; k < t->rank; k++) at[k] = term_label(c, lab[k]);
  return term_read(c, t, at);
}

Term *term_form(Case *c, const char *text, DType t, double most, bool exact, uint32_t n, Term *const *arg) {
  Term *x = term_new(c, TERM_FORM, t, most, exact);
  x->text = text;
  x->n = n;
  for (uint32_t k = 0; k < n; k++) x->arg[k] = arg[k];
  return x;
}

static Term *form1(Case *c, const char *text, DType t, double most, bool exact, Term *a) {
  Term *x = term_form(c, text, t, most, exact, 1, &a);
  x->weak = t == DT_BOOL ? HELD : a->weak;
  return x;
}

static DType dtype_beside(const Term *weak, DType t) {
  if (dtype_is_float(t)) return t;
  return weak->weak == LITERAL && t != DT_BOOL ? t : DT_I64;
}

static DType dtype_meet(const Term *a, const Term *b) {
  if (a->weak && b->weak) return DT_I64;
  return a->weak ? dtype_beside(a, b->t) : b->weak ? dtype_beside(b, a->t) : dtype_join(a->t, b->t);
}

static double most_of(Op op, const Term *a, const Term *b, DType t) {
  bool wraps = dtype_is_int(t) && t != DT_I64;
  double m = 1;
  switch (op) {
    case OP_ADD: m = a->most + b->most; break;
    case OP_SUB: m = t == DT_U8 ? 255 + a->most + b->most : a->most + b->most; break;
    case OP_MUL: m = a->most * b->most; break;
    case OP_IDIV: m = a->most + 1; break;
    case OP_MOD: m = b->most + 1; break;
    case OP_MAX: case OP_MIN: m = fmax(a->most, b->most); break;
    default: break;
  }
  return wraps ? fmax(m, m > dtype_most(t) ? dtype_most(t) : 0) : m;
}

Term *term_op(Case *c, Op op, Term *a, Term *b) {
  const OpInfo *info = &op_info[op];
  Term *arg[2] = {a, b};
  bool named = !info->sign;
  const char *text =
      named ? arena_printf(c->arena, "%s($0, $1)", info->name) : arena_printf(c->arena, "($0 %s $1)", info->sign);
  DType t = dtype_meet(a, b);
  if (info->rule == RULE_COMPARE || info->rule == RULE_LOGIC)
    return term_form(c, text, DT_BOOL, 1, a->exact && b->exact, 2, arg);
  Term *x = term_form(c, text, t, most_of(op, a, b, t), a->exact && b->exact, 2, arg);
  x->weak = a->weak && b->weak ? (a->weak == LITERAL ? b->weak : a->weak) : HELD;
  return x;
}

Term *term_neg(Case *c, Term *a) {
  DType t = a->t == DT_BOOL ? DT_I64 : a->t;
  return form1(c, "(-$0)", t, t == DT_U8 ? 255 : a->most, a->exact, a);
}
Term *term_abs(Case *c, Term *a) { return form1(c, "abs($0)", a->t == DT_BOOL ? DT_I64 : a->t, a->most, a->exact, a); }
Term *term_not(Case *c, Term *a) { return form1(c, "(not $0)", DT_BOOL, 1, a->exact, a); }

Term *term_cast(Case *c, DType t, Term *a) {
  double most = a->most;
  if (!dtype_is_float(t) && most > dtype_most(t)) most = dtype_most(t);
  if (t == DT_U8 && a->t != DT_U8 && a->t != DT_BOOL) most = 255;
  if (t == DT_BOOL) most = 1;
  bool sure = a->exact || dtype_is_float(t); /* a rounded value may go to either of two integers */
  if (!sure) return term_int(c, 1);
  Term *x = form1(c, arena_printf(c->arena, "%s($0)", dtype_name(t)), t, most, a->exact, a);
  x->weak = HELD;
  return x;
}

Term *term_number(Case *c, Term *a) {
  static const DType to[] = {DT_I64, DT_I32, DT_I8, DT_F32, DT_U8};
  return a->t == DT_BOOL ? term_cast(c, to[below(&c->rng, COUNT(to))], a) : a;
}

Term *term_truth(Case *c, Term *a) {
  static const Op ops[] = {OP_GT, OP_LE, OP_NE, OP_EQ};
  if (a->t == DT_BOOL) return a;
  return a->exact ? term_op(c, ops[below(&c->rng, COUNT(ops))], a, term_int(c, below(&c->rng, 2)))
                  : term_text(c, "true", DT_BOOL, 1);
}

Term *term_if(Case *c, Term *cond, Term *a, Term *b) {
  Term *arg[3] = {cond, a, b};
  if ((a->t == DT_BOOL) != (b->t == DT_BOOL)) a = arg[1] = term_truth(c, a), b = arg[2] = term_truth(c, b);
  DType t = a->t == DT_BOOL ? DT_BOOL : dtype_meet(a, b);
  Term *x =
      term_form(c, "(if $0 then $1 else $2)", t, fmax(a->most, b->most), a->exact && b->exact && cond->exact, 3, arg);
  x->weak = a->weak && b->weak ? INDEX : HELD;
  return x;
}

Term *term_else(Case *c, Term *a) {
  return form1(c, a->t == DT_BOOL ? "($0 ?? false)" : "($0 ?? 0)", a->t, a->most, a->exact, a);
}

Term *term_real(Case *c, const char *form, double most, Term *a) {
  DType t = dtype_is_float(a->t) ? a->t : DT_F64;
  return form1(c, form, t, most, false, a);
}

/* ---- reductions ------------------------------------------------------------------------------------------ */

typedef struct Kind { DType t; double most; bool exact, needs; } Kind; /* needs: has no value over nothing */

static Kind sum_kind(const char *name, const Term *body, double n) {
  DType t = dtype_is_float(body->t) ? body->t : DT_I64, acc = dtype_sum(t);
  if (strstr(name, ":f64")) t = acc = DT_F64;
  double most = name[0] == 'p' ? (body->most > 1 ? 1e30 : 1) : body->most * n;
  bool fits = !dtype_is_float(acc) || most <= dtype_most(acc);
  return (Kind){t, most, body->exact && fits, false};
}

static Kind kind_of(const char *name, const Term *body, double n) {
  bool real = body && dtype_is_float(body->t);
  if (!strncmp(name, "sum", 3) || !strncmp(name, "prod", 4)) return sum_kind(name, body, n);
  if (!strcmp(name, "count")) return (Kind){DT_I64, n, true, false};
  if (!strncmp(name, "arg", 3)) return (Kind){DT_I64, n, body->exact, true};
  if (!strcmp(name, "any") || !strcmp(name, "all")) return (Kind){DT_BOOL, 1, body->exact, false};
  if (!strcmp(name, "mean")) return (Kind){real ? body->t : DT_F64, body->most, false, true};
  if (!strcmp(name, "logsumexp")) return (Kind){real ? body->t : DT_F64, body->most + 20, false, false};
  bool whole = !strncmp(name, "max", 3) || !strncmp(name, "min", 3);
  return (Kind){body->t, whole || !strncmp(name, "f", 1) ? body->most : body->most * 2 * (n + 1), body->exact, false};
}

/* Whole numbers have their largest for identity, floats infinity. */
static bool has_limits(const char *name) {
  return !strcmp(name, "max") || !strcmp(name, "min") || !strcmp(name, "fmax") || !strcmp(name, "fmin");
}

Term *term_reduce(Case *c, const char *name, uint32_t n, Lab *const *lab, Term *where, Term *body) {
  Kind k = kind_of(name, body, labs_points(n, lab));
  bool nothing = where || any_empty(n, lab);
  Term *x = term_new(c, TERM_REDUCE, k.t, k.most, k.exact);
  x->once = k.exact;
  if (has_limits(name) && nothing) x->most = dtype_is_float(k.t) ? k.most : dtype_most(k.t);
  x->text = name;
  x->n_lab = n;
  for (uint32_t i = 0; i < n; i++) x->lab[i] = lab[i];
  x->arg[0] = body;
  x->arg[1] = where;
  x->n = 2;
  return k.needs && nothing ? form1(c, "($0 ?? 0)", k.t, x->most, x->exact, x) : x;
}
