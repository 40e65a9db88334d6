/* task/sites/after.c - how tasks do the nodes of an Ia: when moves begin, and what is done in panels.
 *
 * In an Ia a move may begin as soon as its operand is there. Tasks have an order, and a move that does not overlap
 * others (overlap.c) holds up all that follows. In: an Ia and its tasks. Out: for each move, the node that is made
 * before it begins; for what is in panels, this and the messages of each panel. For the simulator. */
#include "from_ia.h"
#include "site.h"

enum { SITES_MOST = 256 };     /* with more, all panels of a move are taken to be alike */

typedef struct After {
  Arena *arena;
  const TaskGraph *t;
  const AlgNode **node;      /* by id */
  AlgTasks *out;
} After;

static void nodes_find(After *x, const AlgRegion *r) {
  vec_each_of(const AlgNode, n, r->nodes) {
    x->node[n->id] = n;
    if (n->kind == ALG_REPEAT) nodes_find(x, n->body);
  }
}

/* The move whose result, after tiles, sums and concats, is this node. */
static const AlgNode *move_of(const AlgNode *n) {
  while (n->kind == ALG_MAP || n->kind == ALG_AGGREGATE || n->kind == ALG_FILTER) n = n->operand[0].node;
  return alg_moves(n) ? n : NULL;
}

static void messages_find(After *x, const Task *k, AlgPanel *p) {
  int64_t sites = mesh_sites(&x->t->mesh);
  VEC(AlgMessage) all = {0};
  uint32_t from[MESH_AXES + 1], to[MESH_AXES + 1];
  for (int64_t r = 0; r < sites && sites <= SITES_MOST; r++) {
    mesh_place(&x->t->mesh, r, to);
    for (int64_t s = 0; s < sites; s++) {
      mesh_place(&x->t->mesh, s, from);
      AlgMessage m = {(uint32_t)s, (uint32_t)r, move_between(x->t, k, from, to)};
      if (m.bytes > 0) vec_push(x->arena, all, m);
    }
  }
  p->n_message = all.len;
  p->message = sites > SITES_MOST ? NULL : all.len ? all.at : NEW_ARRAY(x->arena, AlgMessage, 1);
}

/* The node's panels; or one, for all of it. */
static AlgTasks *panels_of(After *x, const Task *k, const AlgNode *n) {
  AlgTasks *y = &x->out[n->id];
  if (y->panel) return y;
  y->of = (int32_t)k->panel_of - 1;
  y->n = y->of < 0 ? 1 : x->node[y->of]->panels;
  y->panel = NEW_ARRAY(x->arena, AlgPanel, y->n);
  return y;
}

typedef VEC(AlgDone) Dones;

/* Nodes of other regions are done, or wait for all of this one. */
static void after_tell(const After *x, const AlgNode *n, const Dones *done, AlgPanel *p) {
  AlgDone *after = NEW_ARRAY(x->arena, AlgDone, done->len + 1);
  p->n_after = 0;
  for (uint32_t i = 0; i < done->len; i++)
    if (x->node[done->at[i].node]->region == n->region) after[p->n_after++] = done->at[i];
  p->after = after;
}

/* Moves that overlap what follows hold up only what begins after their end. */
static void ended_add(const After *x, const Tasks *list, uint32_t upto, uint32_t last, Dones *done) {
  for (uint32_t i = 0; i < upto; i++) {
    const Task *k = list->at[i];
    if (k->kind == TASK_MOVE && k->node && k->end > k->step && k->end >= last && k->end < list->at[upto]->step)
      vec_push(x->arena, *done, ((AlgDone){k->node - 1, k->panel}));
  }
}

static void list_walk(After *x, const Tasks *list) {
  Dones done = {0};          /* all that is done before waits for one of these, or is one */
  uint32_t last = 0;         /* the step of the last that holds up what follows */
  for (uint32_t i = 0; i < list->len; i++) {
    const Task *k = list->at[i];
    if (k->kind == TASK_REPEAT) list_walk(x, &k->body);
    if (!k->node) continue;
    const AlgNode *n = x->node[k->node - 1], *move = k->kind == TASK_MOVE ? move_of(n) : NULL;
    AlgPanel *p = &panels_of(x, k, move ? move : n)->panel[k->panel_of ? k->panel : 0];
    Dones before = {0};
    for (uint32_t j = 0; j < done.len; j++) vec_push(x->arena, before, done.at[j]);
    ended_add(x, list, i, last, &before);
    if (!p->after) after_tell(x, n, &before, p);
    if (move && k->panel_of) messages_find(x, k, p);
    if (move && k->end > k->step) continue;
    last = k->step;
    done.len = 0;
    vec_push(x->arena, done, ((AlgDone){n->id, k->panel}));
  }
}

const AlgTasks *nodes_in_tasks(Arena *a, const TaskGraph *t, const Algebra *ia) {
  After x = {a, t, NEW_ARRAY(a, const AlgNode *, ia->n_nodes + 1), NEW_ARRAY(a, AlgTasks, ia->n_nodes + 1)};
  for (uint32_t i = 0; i < ia->n_nodes; i++) x.out[i] = (AlgTasks){.of = -1, .n = 1};
  nodes_find(&x, ia->top);
  list_walk(&x, &t->tasks);
  return x.out;
}
