/* task/sites/after.c - when the moves of an Ia begin in its tasks.
 *
 * In an Ia a move may begin as soon as its operand is there. Tasks have an order, and a move that does not overlap
 * others (overlap.c) holds up all that follows. In: an Ia and its tasks. Out: for each move, the node that is made
 * before it begins. For the simulator. */
#include "from_ia.h"

typedef struct After {
  const AlgNode **node;      /* by id */
  int32_t *after;
} After;

static void nodes_find(After *x, const AlgRegion *r) {
  for (uint32_t i = 0; i < r->nodes.len; i++) {
    const AlgNode *n = r->nodes.at[i];
    x->node[n->id] = n;
    if (n->kind == ALG_REPEAT) nodes_find(x, n->body);
  }
}

/* The move whose result, after tiles, sums and concats, is this node. */
static const AlgNode *move_of(const AlgNode *n) {
  while (n->kind == ALG_MAP || n->kind == ALG_AGGREGATE || n->kind == ALG_FILTER) n = n->operand[0].node;
  return alg_moves(n) ? n : NULL;
}

static void list_walk(After *x, const Tasks *list) {
  int32_t before = -1;       /* the node of the last task that holds up what follows */
  for (uint32_t i = 0; i < list->len; i++) {
    const Task *k = list->at[i];
    if (k->kind == TASK_REPEAT) list_walk(x, &k->body);
    if (!k->node) continue;
    const AlgNode *n = x->node[k->node - 1], *move = k->kind == TASK_MOVE ? move_of(n) : NULL;
    if (move && x->after[move->id] < 0 && before >= 0 && x->node[before]->region == move->region)
      x->after[move->id] = before;
    if (!move || k->end == k->step) before = (int32_t)n->id;
  }
}

const int32_t *moves_after(Arena *a, const TaskGraph *t, const Algebra *ia) {
  After x = {NEW_ARRAY(a, const AlgNode *, ia->n_nodes + 1), NEW_ARRAY(a, int32_t, ia->n_nodes + 1)};
  for (uint32_t i = 0; i < ia->n_nodes; i++) x.after[i] = -1;
  nodes_find(&x, ia->top);
  list_walk(&x, &t->tasks);
  return x.after;
}
