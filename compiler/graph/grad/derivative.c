/* graph/grad/derivative.c - reads the derivatives of ops.def when they are needed. They are written as a user would
 * write them: numbers, a b c for the arguments and r for the result, + - * / ^, functions by name, `if c then x else
 * y` with comparisons, `and`, `or`, isnan. */
#include <string.h>

#include "inside.h"

typedef struct Text {
  Exprs *p;
  DType t;
  const char *s;
  const Expr *arg[3], *r;
} Text;

static const Expr *read_value(Text *x);

static bool take(Text *x, const char *word) {
  size_t n = strlen(word);
  while (*x->s == ' ') x->s++;
  bool letters = word[0] >= 'a' && word[0] <= 'z';
  if (strncmp(x->s, word, n) != 0 || (letters && ((x->s[n] >= 'a' && x->s[n] <= 'z') || x->s[n] == '('))) return false;
  x->s += n;
  return true;
}

static void want(Text *x, const char *word) {
  if (!take(x, word)) bug("ops.def: a derivative wants `%s` before `%s`", word, x->s);
}

static const Expr *read_number(Text *x) {
  size_t n = strspn(x->s, "0123456789.");
  double v;
  BUG_UNLESS(double_read(x->s, n, &v));
  x->s += n;
  return expr_real(x->p, x->t, v);
}

static const Expr *read_call(Text *x, const char *name, size_t n) {
  Op op;
  if (!op_find(name, n, &op)) bug("ops.def: a derivative calls `%.*s`", (int)n, name);
  want(x, "(");
  const Expr *e = read_value(x);
  want(x, ")");
  return expr_op1(x->p, op, e);
}

static const Expr *read_atom(Text *x) {
  static const double pi = 3.14159265358979323846;
  if (take(x, "(")) {
    const Expr *e = read_value(x);
    want(x, ")");
    return e;
  }
  if (*x->s >= '0' && *x->s <= '9') return read_number(x);
  if (take(x, "pi")) return expr_real(x->p, x->t, pi);
  size_t n = strspn(x->s, "abcdefghijklmnopqrstuvwxyz0123456789");
  const char *name = x->s;
  x->s += n;
  if (*x->s == '(') return read_call(x, name, n);
  BUG_UNLESS(n == 1 && (*name == 'r' || (*name >= 'a' && *name <= 'c')));
  return *name == 'r' ? x->r : x->arg[*name - 'a'];
}

static const Expr *read_power(Text *x) {
  if (take(x, "-")) return expr_op1(x->p, OP_NEG, read_power(x));
  const Expr *e = read_atom(x);
  return take(x, "^") ? expr_op2(x->p, OP_POW, e, read_power(x)) : e;
}

static const Expr *read_product(Text *x) {
  const Expr *e = read_power(x);
  for (;;) {
    if (take(x, "*")) e = expr_op2(x->p, OP_MUL, e, read_power(x));
    else if (take(x, "/")) e = expr_op2(x->p, OP_DIV, e, read_power(x));
    else return e;
  }
}

static const Expr *read_sum(Text *x) {
  const Expr *e = read_product(x);
  for (;;) {
    if (take(x, "+")) e = expr_op2(x->p, OP_ADD, e, read_product(x));
    else if (take(x, "-")) e = expr_op2(x->p, OP_SUB, e, read_product(x));
    else return e;
  }
}

static const Expr *read_test(Text *x) {
  static const struct {
    const char *sign;
    Op op;
  } tests[] = {{"==", OP_EQ}, {"!=", OP_NE}, {"<=", OP_LE}, {">=", OP_GE}, {"<", OP_LT}, {">", OP_GT}};
  const Expr *e = read_sum(x);
  if (e->dtype == DT_BOOL) return e;
  for (size_t i = 0; i < COUNT(tests); i++)
    if (take(x, tests[i].sign)) return expr_op2(x->p, tests[i].op, e, read_sum(x));
  bug("ops.def: a derivative wants a comparison before `%s`", x->s);
}

static const Expr *read_condition(Text *x) {
  const Expr *e = read_test(x);
  for (;;) {
    if (take(x, "and")) e = expr_op2(x->p, OP_AND, e, read_test(x));
    else if (take(x, "or")) e = expr_op2(x->p, OP_OR, e, read_test(x));
    else return e;
  }
}

static const Expr *read_value(Text *x) {
  if (!take(x, "if")) return read_sum(x);
  const Expr *c = read_condition(x);
  want(x, "then");
  const Expr *a = read_value(x);
  want(x, "else");
  return expr_select(x->p, c, a, read_value(x));
}

const Expr *op_derivative(Exprs *p, Op op, uint32_t k, DType t, const Expr *const *arg, const Expr *r) {
  Text x = {.p = p, .t = t, .s = op_info[op].derivative, .r = r};
  if (!x.s) return NULL;
  for (int i = 0; i < op_info[op].arity; i++) x.arg[i] = arg[i];
  for (; k; k--) {
    x.s = strchr(x.s, ';');
    BUG_UNLESS(x.s++);
  }
  const Expr *e = read_value(&x);
  BUG_UNLESS(*x.s == ';' || !*x.s);
  return e;
}
