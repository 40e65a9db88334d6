/* expr/sum/count.c - counts the operations of an EinSum. */
#include "expr/einsum.h"

/* Whether an operation computes a value, not an index; each counts once however often its value is used. */
static bool op_counts(const Expr *e) {
  return e->kind == EX_OP && e->n && e->op != OP_CAST && e->op != OP_SELECT;
}

/* body: integers count too, outside indices. */
static void expr_count(Arena *a, const Expr *e, bool body, const Expr **read, SumCount *n) {
  typedef struct Item { const Expr *e; bool index; } Item;
  VEC(Item) todo = {0};
  Map seen = map_new(a), index = map_new(a);
  if (e) vec_push(a, todo, ((Item){e, !body}));
  while (todo.len) {
    Item x = vec_pop(todo);
    Map *done = x.index ? &index : &seen;
    if (map_find(done, x.e)) continue;
    bool other = map_find(x.index ? &seen : &index, x.e) != NULL;
    map_put(done, x.e, &seen);
    if (x.e->kind == EX_READ && read) read[x.e->i] = x.e;
    bool floats = op_counts(x.e) && dtype_is_float((DType)x.e->arg[x.e->n - 1]->dtype);
    bool call = x.e->kind == EX_OP && x.e->op == OP_EXTERN; /* its operations are declared as float operations */
    if (!other && (floats || call)) n->flops += call ? extern_cost(x.e->by) : 1;
    n->integer += op_counts(x.e) && !floats && !call && !x.index && (x.e->has & ~(unsigned)HAS_DIM);
    for (uint32_t i = 0; i < x.e->n; i++) vec_push(a, todo, ((Item){x.e->arg[i], x.index || x.e->kind == EX_READ}));
  }
}

SumCount sum_count(const EinSum *s, const Expr **read) {
  SumCount n = {0, 0}, rest = {0, 0};
  Arena *a = arena_new();
  expr_count(a, s->body, true, read, &n);
  expr_count(a, s->where, false, read, &n);
  expr_count(a, s->domain, false, read, &rest);
  arena_free(a);
  if (s->by && s->by->cost >= 0)
    return dtype_is_float(s->acc) ? (SumCount){.flops = s->by->cost} : (SumCount){.integer = s->by->cost};
  if (s->reducer != RED_NONE) *(dtype_is_float(s->acc) ? &n.flops : &n.integer) += 1;
  return n;
}
