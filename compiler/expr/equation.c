/* expr/equation.c - see equation.h. */
#include "equation.h"

enum { MOST_TEXT = 4000, MOST_DEPTH = 100 };

/* Precedence levels, loosest first, as in the language. */
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

Writer equation_writer(Buf *out, ExprNames names) {
  return (Writer){.out = out, .most = out->len + MOST_TEXT, .names = names};
}

static void write_at(Writer *w, const Expr *e, Level least);

void write_name(Writer *w, Str s, const char *otherwise, int64_t k) {
  if (s && s->len)
    buf_add(w->out, s->s, s->len);
  else
    buf_printf(w->out, "%s%lld", otherwise, (long long)k);
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
    write_at(w, e->arg[i], P_IF);
  }
  buf_char(w->out, close);
  w->tight = tight;
}

static void write_read(Writer *w, const Expr *e) {
  if (w->names.read)
    w->names.read(w->names.ctx, w->out, e->i);
  else
    buf_char(w->out, '?');
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
  write_at(w, e->arg[0], chains ? l : l + 1);
  if (e->op == OP_ADD && write_minus(w, e->arg[1])) return;
  buf_printf(w->out, blank ? " %s " : "%s", op_info[e->op].sign);
  write_at(w, e->arg[1], l + 1);
}

static void write_if(Writer *w, const Expr *e) {
  static const char *const words[] = {"if ", " then ", " else "};
  for (uint32_t i = 0; i < 3; i++) {
    buf_str(w->out, words[i]);
    write_at(w, e->arg[i], i == 2 ? P_IF : P_OR);
  }
}

static void write_op(Writer *w, const Expr *e) {
  Level l = op_level(e);
  if (e->op == OP_SELECT) {
    write_if(w, e);
  } else if (e->op == OP_NOT || e->op == OP_NEG) {
    buf_str(w->out, e->op == OP_NOT ? "not " : "-");
    write_at(w, e->arg[0], e->op == OP_NOT ? l : P_POW);
  } else if (l != P_PRIMARY) {
    write_infix(w, e, l);
  } else {
    buf_str(w->out,
        e->op == OP_CAST         ? dtype_name((DType)e->dtype)
            : e->op == OP_EXTERN ? e->by->name->s
                                 : op_info[e->op].name);
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
  case EX_DIM: write_name(w, e->name, "?", 0); break;
  case EX_LABEL: write_name(w, w->names.label ? w->names.label(w->names.ctx, e->i) : NULL, "l", e->i); break;
  case EX_TURN: write_name(w, w->names.turn ? w->names.turn(w->names.ctx, e->i) : NULL, "t", e->i); break;
  case EX_PARAM: buf_char(w->out, e->i ? 'b' : 'a'); break;
  case EX_READ: write_read(w, e); break;
  case EX_OP: write_op(w, e); break;
  }
}

static void write_at(Writer *w, const Expr *e, Level least) {
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

void write_expr(Writer *w, const Expr *e) {
  write_at(w, e, P_IF);
}

void write_list(Writer *w, uint32_t n, const Expr *const *e) {
  if (!n) return;
  w->tight = true;
  for (uint32_t k = 0; k < n; k++) {
    buf_char(w->out, k ? ',' : '[');
    write_at(w, e[k], P_IF);
  }
  buf_char(w->out, ']');
  w->tight = false;
}

/* ---- EinSums ----------------------------------------------------------------------------------- */

/* Whether the reader would expect a different accumulator for this result. */
static bool acc_is_said(const EinSum *s) {
  if (reducer_is_arg(s->reducer) || s->reducer == RED_MONOID)
    return false;
  return s->acc != (reducer_accumulates(s->reducer) ? dtype_sum(s->dtype) : s->dtype);
}

static void write_reducer(Writer *w, const EinSum *s, const Str *label) {
  bool monoid = s->reducer == RED_MONOID && s->monoid;
  buf_str(w->out, monoid ? s->monoid->name->s : reducer_info[s->reducer].name);
  if (acc_is_said(s)) buf_printf(w->out, ":%s", dtype_name(s->acc));
  buf_char(w->out, '[');
  for (uint32_t k = 0; k < s->n_red; k++) {
    if (k) buf_char(w->out, ',');
    write_name(w, label ? label[s->n_out + k] : NULL, "l", s->n_out + k);
  }
  if (s->where) {
    buf_str(w->out, s->n_red ? " where " : "where ");
    write_at(w, s->where, P_IF);
  }
  buf_str(w->out, monoid ? "](" : "] ");
  write_at(w, s->body, monoid ? P_IF : P_MUL);
  if (monoid) buf_char(w->out, ')');
}

void write_right(Writer *w, const EinSum *s, const Str *label) {
  if (s->reducer == RED_NONE)
    write_at(w, s->body, P_IF);
  else
    write_reducer(w, s, label);
  if (!s->domain) return;
  buf_str(w->out, ", where ");
  write_at(w, s->domain, P_IF);
}
