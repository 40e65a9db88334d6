/* task/apart.c - whether a stage reads only elements of a buffer that another, or the stage itself, does not store. In
 * each turn, an elimination stores below and right of its pivot, and reads the pivot's row and column:
 *
 *     next U[i, j] = if i > t and j > t then U[i, j] - m[i] * U[t, j] else U[i, j]
 */
#include "expr/prove/prove.h"
#include "task/inside.h"

typedef struct Apart {
  Exprs *x;
  Arena *arena;
  const TaskStage *writer, *reader;
  uint32_t buffer, n_reader, n_label;
  const Expr **to;           /* the writer's labels, behind the reader's */
  const Expr **bound;        /* of all labels */
  VEC(const Expr *) hold;    /* which points the two have */
  bool apart;
} Apart;

/* Adds the conjuncts of a condition that no data decide: a slot's number means something to its own stage only. */
static void hold_add(Apart *a, const Expr *e, const Expr *const *to) {
  if (!e) return;
  if (e->kind == EX_OP && e->op == OP_AND) {
    hold_add(a, e->arg[0], to), hold_add(a, e->arg[1], to);
  } else if (!(e->has & HAS_READ)) {
    vec_push(a->arena, a->hold, to ? expr_relabel(a->x, e, a->n_label - a->n_reader, to) : e);
  }
}

/* Whether no point of the reader reads here what one of the writer's points stores. */
static bool read_is_apart(Apart *a, const Expr *read) {
  uint32_t n = a->hold.len;
  for (uint32_t d = 0; d < read->n; d++) {
    const Expr *at = expr_relabel(a->x, a->writer->at[d], a->n_label - a->n_reader, a->to);
    if (!(read->arg[d]->has & HAS_READ)) vec_push(a->arena, a->hold, expr_op2(a->x, OP_EQ, at, read->arg[d]));
  }
  Facts facts = {.label = a->bound, .n_label = a->n_label, .hold = a->hold.at, .n_hold = a->hold.len};
  const Expr *never = expr_op2(a->x, OP_LT, expr_label(a->x, 0), expr_int(a->x, DT_I64, 0));
  bool apart = a->n_label && prove(a->x, &facts, never).verdict == PROVED;
  a->hold.len = n;
  return apart;
}

static const Expr *leaf_apart(void *env, Exprs *x, const Expr *leaf) {
  Apart *a = env;
  (void)x;
  if (!a->apart || !stage_read_is(a->reader, leaf, a->buffer)) return leaf;
  bool own = a->reader == a->writer && leaf->n == a->writer->n_at;
  for (uint32_t d = 0; own && d < leaf->n; d++) own = leaf->arg[d] == a->writer->at[d];
  a->apart = own || (leaf->n == a->writer->n_at && read_is_apart(a, leaf));
  return leaf;
}

bool stage_reads_apart(Arena *arena, Exprs *x, const TaskStage *writer, const TaskStage *reader, uint32_t buffer) {
  const EinSum *w = writer->sum, *r = reader->sum;
  uint32_t n = w->n_out, m = r->n_out + r->n_red;
  Apart a = {.x = x, .arena = arena, .writer = writer, .reader = reader, .buffer = buffer, .n_reader = m,
      .n_label = n + m, .apart = true};
  a.to = NEW_ARRAY(arena, const Expr *, n + 1);
  a.bound = NEW_ARRAY(arena, const Expr *, n + m + 1);
  for (uint32_t k = 0; k < n; k++) a.to[k] = expr_label(x, m + k), a.bound[m + k] = writer->bound[k];
  for (uint32_t k = 0; k < m; k++) a.bound[k] = reader->bound[k];
  hold_add(&a, w->domain, a.to);
  hold_add(&a, r->domain, NULL);
  sum_leaves(x, r, leaf_apart, &a);
  return a.apart;
}
