/* expr/text.c - expressions as text and back: read(print(x)) is the same pointer. Neither direction recurses, so a
 * sum of a hundred thousand terms works like any other. */
#include <string.h>

#include "expr.h"

/* ---- printing -------------------------------------------------------------------------------- */

static void print_name(Buf *out, Str s, const char *otherwise, int64_t k) {
  if (s)
    buf_add(out, s->s, s->len);
  else
    buf_printf(out, "%s%lld", otherwise, (long long)k);
}

static void print_dtype(Buf *out, const Expr *e, DType unsaid) {
  if (e->dtype != unsaid) buf_printf(out, ":%s", dtype_name((DType)e->dtype));
}

static void print_leaf(Buf *out, const Expr *e, const ExprNames *names) {
  switch ((ExprKind)e->kind) {
  case EX_INT:
    if (e->dtype == DT_BOOL) {
      buf_str(out, e->i ? "true" : "false");
      break;
    }
    buf_printf(out, "%lld", (long long)e->i);
    print_dtype(out, e, DT_I64);
    break;
  case EX_REAL:
    (e->dtype == DT_F64 ? double_print : float_print)(out, e->f);
    print_dtype(out, e, DT_F64);
    break;
  case EX_DIM:
    buf_char(out, '$');
    buf_add(out, e->name->s, e->name->len);
    break;
  case EX_LABEL: print_name(out, names && names->label ? names->label(names->ctx, e->i) : NULL, "l", e->i); break;
  case EX_TURN:
    buf_char(out, '@');
    print_name(out, names && names->turn ? names->turn(names->ctx, e->i) : NULL, "t", e->i);
    break;
  case EX_PARAM: buf_printf(out, "#%lld", (long long)e->i); break;
  case EX_READ:
  case EX_OP: bug("print_leaf: not a leaf");
  }
}

static const char *infix_sign(const Expr *e) {
  return e->kind == EX_OP && op_info[e->op].arity == 2 ? op_info[e->op].sign : NULL;
}

static void print_open(Buf *out, const Expr *e, const ExprNames *names) {
  if (e->kind == EX_READ && names && names->read) {
    names->read(names->ctx, out, e->i);
    buf_char(out, '[');
  } else if (e->kind == EX_READ) {
    int64_t node = names && names->node ? names->node(names->ctx, e->i) : e->i;
    buf_printf(out, "%%%lld[", (long long)node);
  } else if (infix_sign(e)) {
    buf_char(out, '(');
  } else if (e->op == OP_EXTERN) {
    buf_printf(out, "%s!(", e->by->name->s);
  } else {
    buf_printf(out, "%s(", e->op == OP_CAST ? dtype_name((DType)e->dtype) : op_info[e->op].name);
  }
}

static void print_between(Buf *out, const Expr *e) {
  if (infix_sign(e))
    buf_printf(out, " %s ", infix_sign(e));
  else
    buf_str(out, ", ");
}

typedef struct Printing {
  const Expr *e;
  uint32_t next; /* argument to print */
} Printing;

void expr_print(Buf *out, const Expr *e, const ExprNames *names) {
  VEC(Printing) stack = {0};
  for (;;) {
    if (e->kind == EX_OP || e->kind == EX_READ) {
      print_open(out, e, names);
      vec_push(out->arena, stack, ((Printing){e, 0}));
    } else {
      print_leaf(out, e, names);
    }
    while (stack.len && vec_last(stack).next == vec_last(stack).e->n) {
      buf_char(out, vec_last(stack).e->kind == EX_READ ? ']' : ')');
      stack.len--;
    }
    if (!stack.len) return;
    Printing *top = &vec_last(stack);
    if (top->next) print_between(out, top->e);
    e = top->e->arg[top->next++];
  }
}

/* ---- reading --------------------------------------------------------------------------------- */

enum { MOST_NESTING = 4 << 20 };

typedef enum { OPEN_PAREN, OPEN_CALL, OPEN_EXTERN, OPEN_CAST, OPEN_READ, OPEN_KEPT, OPEN_NAMED } OpenKind;
typedef struct Open { /* an open bracket */
  OpenKind kind;
  Op op;             /* PAREN: OPS until its sign was read */
  DType dtype;       /* CAST */
  uint32_t base;     /* where its arguments begin among the values */
  int64_t node;      /* READ, KEPT */
  Str name;          /* NAMED */
  const Extern *by;  /* EXTERN */
} Open;

typedef struct Reading {
  ExprReader *r;
  Arena *a;
  VEC(Open) open;
  VEC(const Expr *) value;
} Reading;

static const Expr *fail(ExprReader *r, const char *why) {
  if (!r->error) r->error = why;
  return NULL;
}

static void skip_space(ExprReader *r) {
  while (r->s < r->end && (*r->s == ' ' || *r->s == '\t')) r->s++;
}

static bool take(ExprReader *r, char c) {
  skip_space(r);
  if (r->s == r->end || *r->s != c) return false;
  r->s++;
  return true;
}

static bool digit(char c) {
  return c >= '0' && c <= '9';
}

static bool in_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || digit(c) || c == '_' || c == '\'' || c == '~' ||
         (unsigned char)c >= 0x80;
}

/* Takes the word at r->s, which is not empty. */
static size_t take_word(ExprReader *r, const char **word) {
  *word = r->s;
  while (r->s < r->end && in_word(*r->s)) r->s++;
  return (size_t)(r->s - *word);
}

static Str take_name(ExprReader *r) {
  const char *w;
  size_t n = take_word(r, &w);
  return n ? str_of(r->strings, w, n) : NULL;
}

static bool take_int(ExprReader *r, int64_t *out) {
  const char *from = r->s;
  while (r->s < r->end && digit(*r->s)) r->s++;
  return int64_read(from, (size_t)(r->s - from), out);
}

/* The literal's text up to a ':', so that "1e-3" and "-inf" are one token. */
static size_t number_length(const ExprReader *r) {
  const char *p = r->s;
  if (p < r->end && *p == '-') p++;
  for (; p < r->end; p++) {
    bool exponent = (*p == '-' || *p == '+') && p > r->s && (p[-1] == 'e' || p[-1] == 'E');
    if (!in_word(*p) && *p != '.' && !exponent) break;
  }
  return (size_t)(p - r->s);
}

static const Expr *read_number(ExprReader *r) {
  const char *from = r->s, *w;
  size_t len = number_length(r);
  int64_t i = 0;
  double f = 0;
  bool whole = int64_read(from, len, &i);
  if (!whole && !double_read(from, len, &f)) return fail(r, "not a number");
  r->s += len;
  DType t = whole ? DT_I64 : DT_F64;
  if (r->s < r->end && *r->s == ':') {
    r->s++;
    size_t n = take_word(r, &w);
    if (!dtype_find(w, n, &t)) return fail(r, "no such dtype");
  }
  if (dtype_is_float(t)) return expr_real(r->pool, t, whole ? (double)i : f);
  if (!whole || t == DT_BOOL || !dtype_holds(t, i)) return fail(r, "the literal does not fit its dtype");
  return expr_int(r->pool, t, i);
}

static bool word_is(const char *w, size_t n, const char *s) {
  return strlen(s) == n && memcmp(w, s, n) == 0;
}

enum { LABEL_SHOWN = 40 };

static const Expr *read_label(ExprReader *r, const char *w, size_t n) {
  int64_t k;
  if (word_is(w, n, "true") || word_is(w, n, "false")) return expr_bool(r->pool, n == 4);
  if (r->label && r->label(r->ctx, str_of(r->strings, w, n), &k) && k >= 0) return expr_label(r->pool, k);
  r->s = w; /* which is where the complaint should point */
  return fail(r, arena_printf(exprs_arena(r->pool), "no such label: %.*s", n < LABEL_SHOWN ? (int)n : LABEL_SHOWN, w));
}

/* Reads $N @t #0, after the sign. */
static const Expr *read_marked(ExprReader *r, char mark) {
  int64_t k;
  if (mark == '#') {
    if (!take_int(r, &k) || k > 1) return fail(r, "a monoid's arguments are #0 and #1");
    return expr_param(r->pool, r->param, k);
  }
  Str s = take_name(r);
  if (!s) return fail(r, "a name is missing");
  if (mark == '$') return expr_dim(r->pool, s);
  if (!r->turn || !r->turn(r->ctx, s, &k) || k < 0) return fail(r, "no such loop variable");
  return expr_turn(r->pool, k);
}

static bool open_push(Reading *g, Open o) {
  int most = g->r->depth > 0 ? g->r->depth : MOST_NESTING;
  if (g->open.len >= (uint32_t)most) return fail(g->r, "too deeply nested"), false;
  o.base = g->value.len;
  vec_push(g->a, g->open, o);
  return true;
}

static bool is_read(OpenKind k) {
  return k == OPEN_READ || k == OPEN_KEPT || k == OPEN_NAMED;
}

/* word!( calls a C function. */
static const Expr *read_extern(Reading *g, const char *w, size_t n) {
  ExprReader *r = g->r;
  const Extern *x = extern_find(r->pool, str_of(r->strings, w, n));
  r->s++;
  if (!x) return r->s = w, fail(r, "no C function of that name is declared above");
  if (!take(r, '(')) return fail(r, "a C function is called: f!(x)");
  open_push(g, (Open){.kind = OPEN_EXTERN, .by = x});
  return NULL;
}

/* word( opens a call or a cast, word[ a read by name if there are such; any other word is a label. */
static const Expr *read_word(Reading *g) {
  ExprReader *r = g->r;
  const char *w;
  size_t n = take_word(r, &w);
  if (r->named && r->s < r->end && *r->s == '[') {
    r->s++;
    open_push(g, (Open){.kind = OPEN_NAMED, .name = str_of(r->strings, w, n)});
    return NULL;
  }
  if (r->s < r->end && *r->s == '!' && !(r->end - r->s > 1 && r->s[1] == '=')) return read_extern(g, w, n);
  if (r->s == r->end || *r->s != '(')
    return word_is(w, n, "inf") || word_is(w, n, "nan") ? (r->s = w, read_number(r)) : read_label(r, w, n);
  r->s++;
  Open o = {.kind = OPEN_CALL};
  if (dtype_find(w, n, &o.dtype))
    o.kind = OPEN_CAST;
  else if (!op_find(w, n, &o.op) || o.op == OP_CAST || o.op == OP_EXTERN)
    return fail(r, "no such operation");
  open_push(g, o);
  return NULL;
}

/* Reads one leaf. NULL: an error, or a bracket was opened. */
static const Expr *read_operand(Reading *g) {
  ExprReader *r = g->r;
  skip_space(r);
  char c = r->s < r->end ? *r->s : 0;
  if (digit(c) || c == '-') return read_number(r);
  if (in_word(c)) return read_word(g);
  if (c) r->s++;
  if (c == '$' || c == '@' || c == '#') return read_marked(r, c);
  bool kept = c == '&' && r->kept;
  Open o = {.kind = c == '%' ? OPEN_READ : kept ? OPEN_KEPT : OPEN_PAREN, .op = OPS};
  if (c != '%' && c != '(' && !kept) return fail(r, "an expression is missing");
  if (c != '(' && (!take_int(r, &o.node) || !take(r, '[')))
    return fail(r, kept ? "a read is &stage[...]" : "a read is %node[...]");
  open_push(g, o);
  return NULL;
}

/* Takes the longest infix operator. */
static bool read_sign(ExprReader *r, Op *out) {
  size_t best = 0, left = (size_t)(r->end - r->s);
  for (int i = 0; i < OPS; i++) {
    const char *s = op_info[i].arity == 2 ? op_info[i].sign : NULL;
    size_t n = s ? strlen(s) : 0;
    if (n <= best || n > left || memcmp(r->s, s, n) != 0) continue;
    best = n;
    *out = (Op)i;
  }
  r->s += best;
  return best != 0;
}

static bool resolve(ExprReader *r, const Open *o, uint32_t n, const Expr *const *arg, DType *t, int64_t *slot) {
  if (o->kind == OPEN_NAMED) return r->named(r->ctx, o->name, n, arg, t, slot);
  if (o->kind == OPEN_KEPT) return r->kept(r->ctx, o->node, n, arg, t, slot);
  return r->read && r->read(r->ctx, o->node, n, arg, t, slot);
}

static const Expr *op_wrong(ExprReader *r, Op op, uint32_t n, const Expr *const *arg) {
  Buf b = buf_new(exprs_arena(r->pool));
  buf_printf(&b, "the operation does not take such arguments: %s of", op_info[op].name);
  for (uint32_t i = 0; i < n; i++)
    buf_printf(&b, "%s %s", i + 1 == n && i ? " and" : i ? "," : "", dtype_name((DType)arg[i]->dtype));
  return fail(r, b.s);
}

static const Expr *close_open(Reading *g, const Open *o, uint32_t n, const Expr *const *arg) {
  ExprReader *r = g->r;
  DType t;
  int64_t slot;
  switch (o->kind) {
  case OPEN_CAST:
    if (n != 1) return fail(r, "a conversion takes one argument");
    return expr_cast(r->pool, o->dtype, arg[0]);
  case OPEN_EXTERN:
    for (uint32_t i = 0; i < n && i < o->by->n; i++)
      if (arg[i]->dtype != o->by->arg[i]) return fail(r, "a C function's argument is of another dtype");
    return n == o->by->n ? expr_call(r->pool, o->by, arg) : fail(r, "a C function has too many arguments, or too few");
  case OPEN_READ:
  case OPEN_KEPT:
  case OPEN_NAMED:
    for (uint32_t i = 0; i < n; i++)
      if (arg[i]->dtype != DT_I64) return fail(r, "an index is i64");
    if (!resolve(r, o, n, arg, &t, &slot)) return fail(r, "no such node to read");
    return expr_read(r->pool, t, slot, n, arg);
  case OPEN_PAREN:
  case OPEN_CALL: break;
  }
  if (!op_result(o->op, n, arg, &t)) return op_wrong(r, o->op, n, arg);
  return expr_op(r->pool, o->op, n, arg);
}

/* After an argument (or directly after an opening bracket, `have` false): true if another follows; else the
 * innermost bracket was closed and *out is its value (NULL: error). */
static bool read_on(Reading *g, bool have, const Expr **out) {
  ExprReader *r = g->r;
  Open *o = &vec_last(g->open);
  uint32_t n = g->value.len - o->base;
  *out = NULL;
  skip_space(r);
  if (!have && !is_read(o->kind)) return true;
  if (have && o->kind == OPEN_PAREN && o->op == OPS) {
    if (read_sign(r, &o->op)) return true;
    return fail(r, "an operator is missing"), false;
  }
  if (have && o->kind != OPEN_PAREN && take(r, ',')) return true;
  if (!take(r, is_read(o->kind) ? ']' : ')')) {
    if (!have) return true;
    return fail(r, "a bracket is not closed"), false;
  }
  *out = close_open(g, o, n, n ? g->value.at + o->base : NULL);
  g->value.len = o->base;
  g->open.len--;
  return false;
}

const Expr *expr_read_text(ExprReader *r) {
  Reading g = {.r = r, .a = exprs_arena(r->pool)};
  r->error = NULL;
  for (;;) {
    uint32_t before = g.open.len;
    const Expr *e = read_operand(&g);
    if (!e && r->error) return NULL;
    bool more = !e && g.open.len > before && read_on(&g, false, &e);
    while (!more) {
      if (!e || !g.open.len) return e;
      vec_push(g.a, g.value, e);
      more = read_on(&g, true, &e);
    }
  }
}
