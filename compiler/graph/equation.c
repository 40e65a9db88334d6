/* graph/equation.c - a node as the equation that a person would write: names in the place of
 * numbers, and no more parentheses than the language asks for. For people: it is not read back, and
 * what is very long or very deep is cut short with dots. */
#include <string.h>

#include "inside.h"

enum { MOST_TEXT = 4000, MOST_DEPTH = 100 };

/* How tightly things bind, loosest first, as in the language. */
typedef enum {
  P_IF,
  P_OR,
  P_AND,
  P_NOT,
  P_COMPARE,
  P_ADD,
  P_REACH,
  P_MUL,
  P_NEG,
  P_POW,
  P_PRIMARY
} Level;

typedef struct Writer {
  Buf *out;
  size_t most; /* length of out at which to stop */
  int depth;
  bool tight; /* inside of brackets: no blanks */
  const EinNode *n;
  ExprNames names;
} Writer;

static void write_expr(Writer *w, const Expr *e, Level least);

static void write_str(Writer *w, Str s, const char *otherwise, int64_t k) {
  if (s && s->len)
    buf_add(w->out, s->s, s->len);
  else
    buf_printf(w->out, "%s%lld", otherwise, (long long)k);
}

static void write_node(Writer *w, const EinNode *n) {
  if (n)
    write_str(w, n->name, "%", n->id);
  else
    buf_char(w->out, '?');
}

/* ---- expressions ----------------------------------------------------------------------------- */

static Level op_level(const Expr *e) {
  switch ((Op)e->op) {
  case OP_SELECT: return P_IF;
  case OP_OR: return P_OR;
  case OP_AND: return P_AND;
  case OP_NOT: return P_NOT;
  case OP_EQ:
  case OP_NE:
  case OP_LT:
  case OP_LE:
  case OP_GT:
  case OP_GE: return P_COMPARE;
  case OP_ADD:
  case OP_SUB: return P_ADD;
  case OP_MUL:
  case OP_DIV:
  case OP_IDIV:
  case OP_MOD: return P_MUL;
  case OP_NEG: return P_NEG;
  case OP_POW: return P_POW;
  default: return P_PRIMARY;
  }
}

static bool is_negative(const Expr *e) {
  return (e->kind == EX_INT && e->i < 0) || (e->kind == EX_REAL && e->f < 0);
}

static Level level_of(const Expr *e) {
  if (e->kind == EX_OP) return op_level(e);
  return is_negative(e) ? P_NEG : P_PRIMARY;
}

static void write_args(Writer *w, const Expr *e, char open, char close) {
  bool tight = w->tight;
  w->tight |= open == '[';
  buf_char(w->out, open);
  for (uint32_t i = 0; i < e->n; i++) {
    if (i) buf_str(w->out, w->tight ? "," : ", ");
    write_expr(w, e->arg[i], P_IF);
  }
  buf_char(w->out, close);
  w->tight = tight;
}

static void write_read(Writer *w, const Expr *e) {
  const EinSum *s = w->n->kind == EIN_VERTEX ? w->n->sum : NULL;
  write_node(w, s && e->i >= 0 && e->i < s->n_slot ? w->n->input[e->i] : NULL);
  if (e->n) write_args(w, e, '[', ']');
}

/* a + -3 is written a - 3. */
static bool write_minus(Writer *w, const Expr *b) {
  if (!is_negative(b)) return false;
  buf_str(w->out, w->tight ? "-" : " - ");
  if (b->kind == EX_INT)
    buf_printf(w->out, "%llu", (unsigned long long)(0 - (uint64_t)b->i));
  else
    (b->dtype == DT_F64 ? double_print : float_print)(w->out, -b->f);
  return true;
}

static void write_infix(Writer *w, const Expr *e, Level l) {
  bool chains = l != P_COMPARE && l != P_POW; /* a - b - c is (a - b) - c */
  bool blank = l != P_POW && (!w->tight || l < P_ADD || e->op == OP_MOD);
  write_expr(w, e->arg[0], chains ? l : l + 1);
  if (e->op == OP_ADD && write_minus(w, e->arg[1])) return;
  buf_printf(w->out, blank ? " %s " : "%s", op_info[e->op].sign);
  write_expr(w, e->arg[1], l + 1);
}

static void write_if(Writer *w, const Expr *e) {
  static const char *const words[] = {"if ", " then ", " else "};
  for (uint32_t i = 0; i < 3; i++) {
    buf_str(w->out, words[i]);
    write_expr(w, e->arg[i], i == 2 ? P_IF : P_OR);
  }
}

static void write_op(Writer *w, const Expr *e) {
  Level l = op_level(e);
  if (e->op == OP_SELECT) {
    write_if(w, e);
  } else if (e->op == OP_NOT || e->op == OP_NEG) {
    buf_str(w->out, e->op == OP_NOT ? "not " : "-");
    write_expr(w, e->arg[0], e->op == OP_NOT ? l : P_POW);
  } else if (l != P_PRIMARY) {
    write_infix(w, e, l);
  } else {
    buf_str(w->out, e->op == OP_CAST ? dtype_name((DType)e->dtype) : op_info[e->op].name);
    write_args(w, e, '(', ')');
  }
}

static void write_part(Writer *w, const Expr *e) {
  switch ((ExprKind)e->kind) {
  case EX_INT:
    if (e->dtype == DT_BOOL)
      buf_str(w->out, e->i ? "true" : "false");
    else
      buf_printf(w->out, "%lld", (long long)e->i);
    break;
  case EX_REAL: (e->dtype == DT_F64 ? double_print : float_print)(w->out, e->f); break;
  case EX_DIM: write_str(w, e->name, "?", 0); break;
  case EX_LABEL: write_str(w, w->names.label(w->names.ctx, e->i), "l", e->i); break;
  case EX_TURN: write_str(w, w->names.turn(w->names.ctx, e->i), "t", e->i); break;
  case EX_PARAM: buf_char(w->out, e->i ? 'b' : 'a'); break;
  case EX_READ: write_read(w, e); break;
  case EX_OP: write_op(w, e); break;
  }
}

static void write_expr(Writer *w, const Expr *e, Level least) {
  if (!e || w->depth >= MOST_DEPTH || w->out->len >= w->most) {
    buf_str(w->out, "...");
    return;
  }
  bool open = level_of(e) < least;
  w->depth++;
  if (open) buf_char(w->out, '(');
  write_part(w, e);
  if (open) buf_char(w->out, ')');
  w->depth--;
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static void write_shape(Writer *w, const EinNode *n) {
  write_node(w, n);
  if (!n->rank) return;
  w->tight = true;
  for (uint32_t k = 0; k < n->rank; k++) {
    buf_char(w->out, k ? ',' : '[');
    write_expr(w, n->dim[k], P_IF);
  }
  buf_char(w->out, ']');
  w->tight = false;
}

static void write_left(Writer *w, const EinNode *n) {
  write_node(w, n);
  for (uint32_t k = 0, l = 0; k < n->rank; k++) {
    uint32_t m = n->merge[k];
    buf_str(w->out, k ? "," : "[");
    if (m != 1) buf_char(w->out, '(');
    for (uint32_t j = 0; j < m && l < n->sum->n_out; j++, l++) {
      if (j) buf_char(w->out, ' ');
      write_str(w, n->label[l], "l", l);
    }
    if (m != 1) buf_char(w->out, ')');
  }
  buf_str(w->out, n->rank ? "] = " : " = ");
}

/* Whether the reader would expect another accumulator for this result. */
static bool acc_is_said(const EinSum *s) {
  if (s->reducer == RED_ARGMAX || s->reducer == RED_ARGMIN || s->reducer == RED_MONOID)
    return false;
  return s->acc != (reducer_info[s->reducer].keeps_dtype ? s->dtype : dtype_sum(s->dtype));
}

static void write_reducer(Writer *w, const EinNode *n) {
  const EinSum *s = n->sum;
  bool monoid = s->reducer == RED_MONOID && s->monoid;
  buf_str(w->out, monoid ? s->monoid->name->s : reducer_info[s->reducer].name);
  if (acc_is_said(s)) buf_printf(w->out, ":%s", dtype_name(s->acc));
  buf_char(w->out, '[');
  for (uint32_t k = 0; k < s->n_red; k++) {
    if (k) buf_char(w->out, ',');
    write_str(w, n->label[s->n_out + k], "l", s->n_out + k);
  }
  if (s->where) {
    buf_str(w->out, s->n_red ? " where " : "where ");
    write_expr(w, s->where, P_IF);
  }
  buf_str(w->out, monoid ? "](" : "] ");
  write_expr(w, s->body, monoid ? P_IF : P_MUL);
  if (monoid) buf_char(w->out, ')');
}

static void write_vertex(Writer *w, const EinNode *n) {
  write_left(w, n);
  if (n->sum->reducer == RED_NONE)
    write_expr(w, n->sum->body, P_IF);
  else
    write_reducer(w, n);
  if (!n->sum->domain) return;
  buf_str(w->out, ", where ");
  write_expr(w, n->sum->domain, P_IF);
}

static void write_repeat(Writer *w, const EinNode *n) {
  buf_str(w->out, "repeat ");
  write_str(w, n->body->turn, "t", n->body->depth);
  buf_str(w->out, " < ");
  if (n->body->turns)
    write_expr(w, n->body->turns, P_IF);
  else
    write_node(w, n->body->bound);
  if (!n->body->stop) return;
  buf_str(w->out, " until ");
  write_node(w, n->body->stop);
}

static void write_result(Writer *w, const EinNode *n) {
  write_shape(w, n);
  buf_str(w->out, n->kind == EIN_FINAL   ? " = final of "
                  : n->kind == EIN_STACK ? " = stack of "
                                         : " = turns of ");
  write_node(w, n->repeat);
}

void graph_equation(Buf *out, const EinNode *n) {
  Writer w = {.out = out, .most = out->len + MOST_TEXT, .n = n, .names = node_names(n)};
  switch (n->kind) {
  case EIN_VERTEX: write_vertex(&w, n); break;
  case EIN_REPEAT: write_repeat(&w, n); break;
  case EIN_INPUT:
  case EIN_STATE:
    buf_printf(out, "%s ", node_word(n));
    write_shape(&w, n);
    break;
  case EIN_FINAL:
  case EIN_STACK:
  case EIN_TURNS: write_result(&w, n); break;
  }
}
