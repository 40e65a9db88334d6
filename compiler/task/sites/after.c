/* task/sites/after.c - when the moves of an Ia begin in its tasks, and in how many panels they come.
 *
 * In an Ia a move may begin as soon as its operand is there. Tasks have an order, and a move that does not overlap
 * others (overlap.c) holds up all that follows. In: an Ia and its tasks. Out: for each move, the node that is made
 * before it begins; and its panels. For the simulator. */
#include "from_ia.h"
#include "site.h"

enum { SITES_MOST = 256 };     /* with more, all sites are taken to have as much in each panel */

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

/* ---- panels ---------------------------------------------------------------------------------------------------- */

typedef struct Loads { double *in, *out; } Loads; /* bytes by site */

typedef struct MovePanels {
  Loads all, now;            /* of all panels, of this one */
  double in, out;            /* of the site that has most in each panel, summed over panels */
} MovePanels;

static Loads loads_new(Arena *a, int64_t sites) {
  return (Loads){NEW_ARRAY(a, double, sites + 1), NEW_ARRAY(a, double, sites + 1)};
}

static double largest(const double *x, int64_t n) {
  double most = 0;
  for (int64_t i = 0; i < n; i++) most = x[i] > most ? x[i] : most;
  return most;
}

static void panel_add(Arena *a, const TaskGraph *t, const Task *k, MovePanels *x) {
  int64_t sites = mesh_sites(&t->mesh);
  if (sites > SITES_MOST) return;
  if (!x->all.in) x->all = loads_new(a, sites);
  x->now = loads_new(a, sites);
  move_loads(t, k, x->now.in, x->now.out);
  for (int64_t s = 0; s < sites; s++) x->all.in[s] += x->now.in[s], x->all.out[s] += x->now.out[s];
  x->in += largest(x->now.in, sites);
  x->out += largest(x->now.out, sites);
}

static void panels_walk(
    Arena *a, const After *x, const TaskGraph *t, const Tasks *list, MovePanels *by, AlgPanels *out) {
  for (uint32_t i = 0; i < list->len; i++) {
    const Task *k = list->at[i];
    const AlgNode *move = k->kind == TASK_MOVE && k->node ? move_of(x->node[k->node - 1]) : NULL;
    if (k->kind == TASK_REPEAT) panels_walk(a, x, t, &k->body, by, out);
    if (!move) continue;
    out[move->id].n++;
    panel_add(a, t, k, &by[move->id]);
  }
}

static bool has_panels(const AlgRegion *r) {
  bool some = false;
  for (uint32_t i = 0; i < r->nodes.len && !some; i++) {
    const AlgNode *n = r->nodes.at[i];
    some = n->kind == ALG_REPEAT ? has_panels(n->body) : n->panels > 0;
  }
  return some;
}

const AlgPanels *moves_panels(Arena *a, const TaskGraph *t, const Algebra *ia) {
  if (!has_panels(ia->top)) return NULL;
  Arena *work = arena_new();
  After x = {NEW_ARRAY(work, const AlgNode *, ia->n_nodes + 1), NULL};
  MovePanels *by = NEW_ARRAY(work, MovePanels, ia->n_nodes + 1);
  AlgPanels *out = NEW_ARRAY(a, AlgPanels, ia->n_nodes + 1);
  int64_t sites = mesh_sites(&t->mesh);
  nodes_find(&x, ia->top);
  panels_walk(work, &x, t, &t->tasks, by, out);
  for (uint32_t i = 0; i < ia->n_nodes; i++) {
    bool known = by[i].all.in != NULL;
    double in = known ? largest(by[i].all.in, sites) : 0, sent = known ? largest(by[i].all.out, sites) : 0;
    out[i].in = in > 0 ? by[i].in / in : 1;
    out[i].out = sent > 0 ? by[i].out / sent : 1;
  }
  arena_free(work);
  return out;
}
