/* task/sites/ia_chain.c - turns a chain of operations that brings tuples to other sites, or to other blocks, into
 * one move from box to box; where each site has all that it wants, into a copy, or nothing at all. */
#include "ia_door.h"
#include "site.h"

enum { SITES_MOST = 4096 };  /* with more sites, none is examined: it is a move */

/* Whether a map shifts arrays around the end of a dimension. */
static bool shifts(const AlgNode *n) {
  return n->kind == ALG_MAP && n->n_fn && n->fn[0].kind == FN_SHIFT;
}

/* How far a backward walk has come: the parts of a chain come in this order. */
typedef enum { AT_TILES, AT_MOVE, AT_REDUCER, AT_CONCATS } Phase;

static bool steps_back(const AlgNode *n, Phase *phase) {
  Phase here = AT_CONCATS;
  switch (n->kind) {
  case ALG_AGGREGATE:
    here = n->reducer == RED_NONE ? AT_CONCATS : AT_REDUCER;
    if (here == AT_REDUCER && *phase == AT_REDUCER) return false;
    break;
  case ALG_MOVE:
    here = AT_MOVE;
    if (*phase == AT_MOVE) return false;
    break;
  case ALG_MAP: here = n->n_piece || shifts(n) ? AT_TILES : *phase; break;
  case ALG_INPUT:
  case ALG_JOIN:
  case ALG_FETCH:
  case ALG_FILTER:
  case ALG_REPEAT:
  case ALG_STATE:
  case ALG_FINAL:
  case ALG_STACK:
  case ALG_TURNS: return false;
  }
  if (here > *phase) return false;
  *phase = here;
  return true;
}

/* Where several users read it, it is computed once, if possible. */
static bool ends_at(const IaDoor *x, const AlgNode *m) {
  IaKeys keys = ia_keys(x->t, &m->type, &m->at);
  return (m->n_fn && !shifts(m)) ||
      (x->readers[m->id] > 1 && !m->n_piece &&
          ia_is_box(&m->type, &keys, &x->t->mesh, &m->at, x->held[m->id].copies, false));
}

Chain chain_of(const IaDoor *x, const AlgNode *n) {
  Chain c = {0};
  Phase phase = AT_CONCATS;
  const AlgNode *m = n;
  while ((m == n || !ends_at(x, m)) && steps_back(m, &phase)) {
    if (shifts(m) && !c.wrap) c.wrap = NEW_ARRAY(x->arena, int64_t, m->type.rank + 1);
    for (uint32_t k = 0; shifts(m) && k < m->n_fn; k++) c.wrap[m->fn[k].n] = m->fn[k].by;
    if (m->kind == ALG_AGGREGATE && m->reducer != RED_NONE) c.reducing = m;
    c.from = m->operand[0].node;
    m = c.from;
  }
  return c;
}

/* ---- whether anything moves ---------------------------------------------------------------------------------- */

static bool is_within(const TaskGraph *t, const Task *k, const uint32_t *at) {
  int64_t low[2][256], high[2][256];
  const TaskBuffer *to = &t->buffers.at[k->buffer], *from = &t->buffers.at[k->from];
  if (task_box(t, to, at, low[0], high[0]) == 0) return true;
  bool within = task_has(t, from, at);
  task_box(t, from, at, low[1], high[1]);
  for (uint32_t d = 0; d < to->rank; d++)
    within &=
        wrap_shared(low[0][d], high[0][d], k->wrap ? k->wrap[d] : 0, low[1][d], high[1][d]) == high[0][d] - low[0][d];
  return within;
}

/* Whether each site already has all that it wants. */
static bool is_local(const TaskGraph *t, const Task *k) {
  int64_t sites = mesh_sites(&t->mesh);
  uint32_t at[MESH_AXES + 1], combined = move_combines(t, k);
  for (uint32_t a = 0; a < t->mesh.n; a++)
    if (combined >> a & 1 && t->mesh.size[a] > 1) return false;
  for (int64_t s = 0; s < sites; s++) {
    mesh_place(&t->mesh, s, at);
    if (sites > SITES_MOST || !is_within(t, k, at)) return false;
  }
  return true;
}

static bool is_same(const TaskBuffer *a, const TaskBuffer *b) {
  bool same = a->when == b->when && b->space == BUF_WORK;
  for (uint32_t d = 0; d < a->rank; d++) same &= a->low[d] == b->low[d] && a->dim[d] == b->dim[d];
  return same;
}

/* ---- the move ---------------------------------------------------------------------------------------------------- */

/* Whether it combines copies with a reducer that is not idempotent. A site holds only one of the copies, which is
 * enough only if combining a value with itself changes nothing. */
static bool combines_copies(const IaDoor *m, const AlgNode *n) {
  const AlgNode *of = n->operand[0].node;
  if (reducer_info[n->reducer].laws & LAW_IDEMPOTENT) return false;
  for (uint32_t k = 0; k < of->type.n_key; k++) {
    bool goes = of->type.frontier[k] > 1 && ia_copies(m->held[of->id].copies, k);
    for (uint32_t g = 0; goes && g < n->n_group; g++) goes = n->group[g] != k;
    if (goes) return true;
  }
  return false;
}

static bool combine_find(IaDoor *m, const AlgNode *n, const Chain *c, Task *k) {
  if (c->reducing && combines_copies(m, c->reducing)) return door_fail(m, n, "copies of one array are combined");
  for (uint32_t a = 0; a < m->t->mesh.n; a++)
    if (k->to.on[a] == PLACE_PART && k->of.on[a] != PLACE_PART)
      return door_fail(m, n, "parts go to places along another axis");
  if (!move_combines(m->t, k)) return true;
  if (!c->reducing) return door_fail(m, n, "parts are brought together that are not aggregated");
  k->reducer = c->reducing->reducer;
  k->monoid = c->reducing->monoid;
  return true;
}

/* Becomes a copy where each site has all that it wants. */
static void chain_end(IaDoor *m, const AlgNode *n, Task *draft) {
  if (is_local(m->t, draft)) {
    door_copy(m, draft->from, draft->buffer, draft->wrap, n->place);
    return;
  }
  draft->move = move_kind(m->t, draft);
  draft->node = n->id + 1;
  *door_task(m, TASK_MOVE, n->place, n->name) = *draft;
}

/* Moves parts of argmax together with their places. */
static bool places_make(IaDoor *m, const AlgNode *n, const Chain *c, Task *draft, const IaBox *box) {
  uint32_t from = (uint32_t)m->held[c->from->id].place,
           to = door_buffer(m, BUF_WORK, DT_I64, n->type.rank, box, n->name, n->place);
  m->held[n->id].place = (int32_t)to;
  if (task_moves_places(draft)) draft->place_from = from, draft->place_to = to;
  chain_end(m, n, draft);
  if (task_moves_places(draft)) return true;
  draft->from = from; /* nothing is combined, so they move by themselves */
  draft->buffer = to;
  chain_end(m, n, draft);
  return true;
}

bool chain_make(IaDoor *m, const AlgNode *n) {
  Chain c = chain_of(m, n);
  IaKeys keys = ia_keys(m->t, &n->type, &n->at);
  IaBox box = ia_box(m->t, &n->type, &n->at);
  int32_t from = m->held[c.from->id].buffer;
  if (from < 0) return door_fail(m, n, "nothing holds what it is made of");
  if (!ia_is_box(&n->type, &keys, &m->t->mesh, &n->at, m->held[n->id].copies, false))
    return door_fail(m, n, "a site has several tuples that are no box");
  DType t = m->t->buffers.at[from].dtype;
  Task draft = {.kind = TASK_MOVE, .place = n->place, .name = n->name, .unless = -1, .stop = -1, .turns = -1,
      .from = (uint32_t)from, .wrap = c.wrap,
      .of = ia_placement(m->t, &c.from->type, &c.from->at, m->held[c.from->id].copies)};
  draft.to = ia_placement(m->t, &n->type, &n->at, m->held[n->id].copies);
  uint32_t n_before = m->t->buffers.len;
  draft.buffer = door_result(m, n, t, &box);
  m->held[n->id].buffer = (int32_t)draft.buffer;
  if (!combine_find(m, n, &c, &draft)) return false;
  if (m->held[c.from->id].place >= 0) return places_make(m, n, &c, &draft, &box);
  if (m->held[n->id].want < 0 && !c.wrap && is_local(m->t, &draft) &&
      is_same(&m->t->buffers.at[draft.buffer], &m->t->buffers.at[from])) {
    m->t->buffers.len = n_before; /* it is there as it is wanted */
    m->held[n->id].buffer = from;
    return true;
  }
  chain_end(m, n, &draft);
  return true;
}
