/* algebra/equation.c - prints an operation for people; this form is not read back. */
#include "expr/equation.h"
#include "algebra/text/text.h"

static void write_node(Writer *w, const AlgNode *n) {
  if (n)
    write_name(w, n->name, "%", n->id);
  else
    buf_char(w->out, '?');
}

static void write_operand(void *ctx, Buf *out, int64_t slot) {
  const AlgNode *n = ctx;
  Writer w = {.out = out};
  write_node(&w, slot >= 0 && slot < n->n_operand ? n->operand[slot].node : NULL);
}

static Str label_name(void *ctx, int64_t k) {
  const AlgNode *n = ctx;
  return k >= 0 && k < (int64_t)n->sum->n_out + n->sum->n_red ? n->label[k] : NULL;
}

static Str turn_name(void *ctx, int64_t depth) {
  const AlgNode *n = ctx;
  for (const AlgRegion *r = n->region; r && r->parent; r = r->parent)
    if (r->depth == depth) return r->turn;
  return NULL;
}

/* Names the keys under the expressions of maps and filters: the operand's, then new ones. */
static Str key_name(void *ctx, int64_t k) {
  const AlgNode *n = ctx, *of = alg_of(n);
  int64_t old = of ? of->type.n_key : 0;
  if (k < 0 || k >= old + n->n_piece) return NULL;
  return k < old ? of->type.key[k] : n->key[k - old];
}

static void write_keys(Writer *w, const char *before, uint32_t n, const Str *key, const char *after) {
  for (uint32_t k = 0; k < n; k++) {
    buf_str(w->out, k ? "," : before);
    write_name(w, key[k], "k", k);
  }
  if (n) buf_str(w->out, after);
}

static void write_join(Writer *w, const AlgNode *n) {
  write_keys(w, "[", n->sum->n_out, n->label, "]");
  buf_str(w->out, " = ");
  write_right(w, n->sum, n->label);
  bool first = true;
  for (uint32_t i = 0; i < n->n_operand; i++) {
    if (!n->operand[i].wanted) continue;
    buf_str(w->out, first ? ", where there is " : " and ");
    write_node(w, n->operand[i].node);
    first = false;
  }
}

static void write_group(Writer *w, const AlgNode *n) {
  const Relation *of = &alg_of(n)->type;
  buf_str(w->out, " = ");
  if (n->reducer == RED_MONOID && n->monoid)
    buf_printf(w->out, "%s of ", n->monoid->name->s);
  else if (n->reducer != RED_NONE)
    buf_printf(w->out, "%s of ", reducer_info[n->reducer].name);
  write_node(w, alg_of(n));
  for (uint32_t k = 0; k < n->n_group; k++) {
    bool known = n->group[k] < of->n_key;
    buf_str(w->out, k ? "," : " by ");
    write_name(w, known ? of->key[n->group[k]] : NULL, "k", n->group[k]);
  }
}

static void write_fns(Writer *w, const AlgNode *n) {
  for (uint32_t k = 0; k < n->n_fn; k++) {
    const AlgFn *f = &n->fn[k];
    buf_str(w->out, k ? ", " : " then ");
    if (f->kind == FN_CAST)
      buf_str(w->out, dtype_name(f->to));
    else
      buf_str(w->out, f->kind == FN_PLACE ? "place" : f->kind == FN_SHIFT ? "shift" : "merge");
  }
}

static void write_map(Writer *w, const AlgNode *n) {
  buf_str(w->out, " = ");
  write_node(w, alg_of(n));
  if (n->piece) write_keys(w, " into ", n->n_piece, n->key, "");
  if (n->rekey) {
    buf_str(w->out, " to ");
    write_list(w, n->type.n_key, n->rekey);
  }
}

static void write_repeat(Writer *w, const AlgNode *n) {
  write_name(w, n->body->turn, "t", n->body->depth);
  buf_str(w->out, " < ");
  if (n->body->turns >= 0)
    buf_printf(w->out, "%lld", (long long)n->body->turns);
  else
    write_node(w, n->body->bound);
  if (!n->body->stop) return;
  buf_str(w->out, " until ");
  write_node(w, n->body->stop);
}

static void write_rest(Writer *w, const AlgNode *n) {
  if (alg_has_kernel(n)) {
    write_join(w, n);
  } else if (n->kind == ALG_AGGREGATE && alg_of(n)) {
    write_group(w, n);
  } else if (n->kind == ALG_MAP) {
    write_map(w, n);
  } else if (n->kind == ALG_FILTER) {
    buf_str(w->out, " = ");
    write_node(w, alg_of(n));
    buf_str(w->out, " where ");
    write_expr(w, n->keep);
  } else if (n->kind == ALG_MOVE) {
    buf_str(w->out, " = ");
    write_node(w, alg_of(n));
  } else {
    write_keys(w, "{", n->type.n_key, n->type.key, "}");
    if (n->repeat && n->kind != ALG_STATE) {
      buf_str(w->out, " of ");
      write_node(w, n->repeat);
    }
  }
  write_fns(w, n);
}

void alg_equation(Buf *out, const AlgNode *n) {
  ExprNames names = {.ctx = (void *)(uintptr_t)n,
      .label = alg_has_kernel(n) ? label_name : key_name,
      .turn = turn_name,
      .read = write_operand};
  Writer w = equation_writer(out, names);
  buf_printf(out, "%s ", n->kind == ALG_MOVE ? "move" : alg_word(NULL, n));
  if (n->kind == ALG_REPEAT) {
    write_repeat(&w, n);
    return;
  }
  write_node(&w, n);
  write_rest(&w, n);
}
