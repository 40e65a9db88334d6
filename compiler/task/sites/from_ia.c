/* task/sites/from_ia.c - lowers Ia to TaskGraph: a site's part of a relation becomes a buffer, a join a kernel, and
 * operations that bring tuples elsewhere a move.
 *
 * A chain of a tile, a move, an aggregation and a concat becomes one move, from box to box (ia_chain.c). A filter
 * decides at which sites the kernel below it runs. Then fuse.c joins kernels, but not across a move. */
#include "from_ia.h"

#include "expr/prove/prove.h"
#include "expr/sum/law.h"
#include "ia_door.h"
#include "task/inside.h"

bool door_fail(IaDoor *m, const AlgNode *n, const char *why) {
  if (!m->failed) buf_printf(m->why, "%%%u %s: %s", n->id, n->name ? n->name->s : "", why);
  m->failed = true;
  return false;
}

/* ---- needed nodes -------------------------------------------------------------------------------------- */

static void use(IaDoor *m, const AlgNode *n, const AlgNode *user) {
  IaHeld *h = &m->held[n->id];
  h->needed = true;
  h->uses++;
  h->user = user;
}

static void uses_of_region(IaDoor *m, const AlgRegion *r);

static void uses_of_repeat(IaDoor *m, const AlgRegion *r) {
  for (uint32_t i = 0; alg_region_use(r, i); i++) use(m, alg_region_use(r, i), NULL);
  for (uint32_t i = 0; i < r->states.len; i++) use(m, r->states.at[i].node, NULL);
  uses_of_region(m, r);
}

static void read_by_region(IaDoor *m, const AlgRegion *r) {
  vec_each_of(const AlgNode, n, r->nodes) {
    for (uint32_t s = 0; s < n->n_operand; s++) m->readers[n->operand[s].node->id]++;
    if (n->kind != ALG_REPEAT) continue;
    for (uint32_t k = 0; alg_region_use(n->body, k); k++) m->readers[alg_region_use(n->body, k)->id]++;
    read_by_region(m, n->body);
  }
}

/* Operands come before their users. */
static void copies_of_region(IaDoor *m, const AlgRegion *r) {
  vec_each_of(const AlgNode, n, r->nodes) {
    m->held[n->id].copies = ia_copies_of(n, n->n_operand ? m->held[n->operand[0].node->id].copies : 0);
    if (n->kind == ALG_REPEAT) copies_of_region(m, n->body);
  }
}

/* Users come after what they use. */
static void uses_of_region(IaDoor *m, const AlgRegion *r) {
  for (uint32_t i = r->nodes.len; i-- > 0;) {
    const AlgNode *n = r->nodes.at[i];
    if (!m->held[n->id].needed) continue;
    if (alg_has_kernel(n))
      for (uint32_t s = 0; s < n->n_operand; s++) use(m, n->operand[s].node, n);
    else if (n->kind == ALG_FILTER || (n->n_fn && n->fn[0].kind != FN_SHIFT)) use(m, n->operand[0].node, n);
    else if (n->kind == ALG_MAP || n->kind == ALG_AGGREGATE || n->kind == ALG_MOVE) use(m, chain_of(m, n).from, n);
    else if (n->kind == ALG_REPEAT) uses_of_repeat(m, n->body);
    else if (n->kind == ALG_FINAL || n->kind == ALG_STACK || n->kind == ALG_TURNS) use(m, n->repeat, n);
  }
}

/* ---- buffers and tasks ------------------------------------------------------------------------------------- */

uint32_t door_buffer(IaDoor *m, TaskSpace space, DType t, uint32_t rank, const IaBox *box, Str name, Place place) {
  TaskBuffer b = {.id = m->t->buffers.len, .space = space, .name = name, .place = place, .dtype = t, .rank = rank,
                  .dim = box->dim, .low = box->low, .when = box->when};
  vec_push(m->arena, m->t->buffers, b);
  return b.id;
}

/* The buffer for the node's value: the one where a user wants it, or one of its own. */
uint32_t door_result(IaDoor *m, const AlgNode *n, DType t, const IaBox *box) {
  IaHeld *h = &m->held[n->id];
  if (h->want < 0) return door_buffer(m, BUF_WORK, t, n->type.rank, box, n->name, n->place);
  return (uint32_t)h->want;
}

Task *door_task(IaDoor *m, TaskKind kind, Place place, Str name) {
  Task *k = MAKE(m->arena, Task, .kind = kind, .place = place, .name = name, .unless = -1, .stop = -1, .turns = -1,
      .node = m->making ? m->making->id + 1 : 0);
  vec_push(m->arena, *m->list, k);
  return k;
}

static bool buffer_of(IaDoor *m, const AlgNode *n, uint32_t *out) {
  IaHeld *h = &m->held[n->id];
  *out = h->buffer < 0 ? 0 : (uint32_t)h->buffer;
  if (h->buffer < 0) return door_fail(m, n, "nothing holds it yet");
  return true;
}

static Str *labels_of(IaDoor *m, uint32_t n) {
  Str *label = NEW_ARRAY(m->arena, Str, n + 1);
  for (uint32_t k = 0; k < n; k++) label[k] = strings_printf(m->t->strings, "i%u", k + 1);
  return label;
}

/* Converts place `at` of b's dimension to a place of a's; wrap: as a move's. */
static const Expr *place_in(Exprs *x, const Expr *at, const Expr *b_low, const Expr *a_low, int64_t wrap) {
  if (!wrap) return expr_op2(x, OP_ADD, at, extent_normal(x, expr_op2(x, OP_SUB, b_low, a_low)));
  return expr_op2(x, OP_SUB, expr_op2(x, OP_MOD, expr_op2(x, OP_ADD, at, b_low), expr_int(x, DT_I64, wrap)), a_low);
}

/* Makes a kernel of one stage that maps one buffer. `turn`: 1 + the axis at which the turn is inserted, or 0; merge:
 * by dimension of `to` how many labels, or NULL; wrap: as a move's. */
static void map_make(IaDoor *m, uint32_t from, uint32_t to, DType cast, uint32_t turn, uint32_t depth,
    const uint8_t *merge, const int64_t *wrap, Place place) {
  Exprs *x = m->t->exprs;
  const TaskBuffer *a = &m->t->buffers.at[from], *b = &m->t->buffers.at[to];
  uint32_t n = a->rank, l = 0;
  const Expr **index = NEW_ARRAY(m->arena, const Expr *, n + 1), **bound = NEW_ARRAY(m->arena, const Expr *, n + 1);
  TaskStage s = {.name = b->name, .place = place, .bound = bound, .label = labels_of(m, n), .buffer = (int32_t)to,
      .n_at = b->rank, .at = NEW_ARRAY(m->arena, const Expr *, b->rank + 1)};
  for (uint32_t d = 0; d < b->rank; d++) {
    if (turn && d == turn - 1) {
      s.at[d] = expr_turn(x, depth);
      continue;
    }
    s.at[d] = expr_int(x, DT_I64, 0);
    for (uint32_t j = merge ? merge[d] : 1; j-- > 0; l++) {
      bound[l] = merge ? a->dim[l] : b->dim[d];
      index[l] = merge ? expr_label(x, l) : place_in(x, expr_label(x, l), b->low[d], a->low[l], wrap ? wrap[d] : 0);
      s.at[d] = expr_op2(x, OP_ADD, expr_op2(x, OP_MUL, s.at[d], bound[l]), expr_label(x, l));
    }
  }
  EinSum sum = {.n_out = n, .acc = cast, .dtype = cast};
  sum.body = expr_cast(x, cast, expr_read(x, a->dtype, 0, n, index));
  TaskSlot slot = {false, from};
  stage_canonical(m->t, &s, &sum, &slot, 1);
  Task *k = door_task(m, TASK_KERNEL, place, b->name);
  vec_push(m->arena, k->stages, s);
}

void door_copy(IaDoor *m, uint32_t from, uint32_t to, const int64_t *wrap, Place place) {
  map_make(m, from, to, m->t->buffers.at[to].dtype, 0, 0, NULL, wrap, place);
}

/* ---- joins ------------------------------------------------------------------------------------------------------ */

typedef struct Local {      /* operand NULL: it is read at places of the whole */
  const Expr *const *low;
  const TaskBuffer *const *operand;
} Local;

/* Converts labels and reads from places of whole tensors to places of blocks. */
static const Expr *leaf_local(void *env, Exprs *x, const Expr *leaf) {
  const Local *l = env;
  if (leaf->kind == EX_LABEL) return expr_op2(x, OP_ADD, leaf, l->low[leaf->i]);
  if (leaf->kind != EX_READ) return leaf;
  const TaskBuffer *b = l->operand[leaf->i];
  if (!b) return leaf;
  const Expr **index = NEW_ARRAY(exprs_arena(x), const Expr *, leaf->n + 1);
  for (uint32_t d = 0; d < leaf->n; d++) {
    bool from_first = expr_is_int(b->low[d], 0);
    index[d] = from_first ? leaf->arg[d] : expr_normal(x, expr_op2(x, OP_SUB, leaf->arg[d], b->low[d]));
  }
  return expr_read(x, (DType)leaf->dtype, leaf->i, leaf->n, index);
}

static const Expr *local(IaDoor *m, const Expr *e, Local *l) {
  return e ? expr_map(m->t->exprs, e, leaf_local, l) : NULL;
}

/* Places of argmax are those of the whole if the site has all reduced points. */
static bool reduces_whole(const AlgNode *n) {
  int64_t extent;
  for (uint32_t l = n->sum->n_out; l < n->sum->n_out + n->sum->n_red; l++)
    if (!rel_is_whole(&n->range[l], &extent)) return false;
  return true;
}

/* If a join's only user casts its result, the kernel does so. */
static DType join_dtype(IaDoor *m, const AlgNode *n) {
  IaHeld *h = &m->held[n->id];
  const AlgNode *u = h->user;
  if (n->type.places) return reduces_whole(n) ? DT_I64 : n->type.dtype;
  bool rounds =
      h->uses == 1 && u && u->kind == ALG_MAP && u->n_fn && u->operand[0].node == n && u->fn[0].kind == FN_CAST;
  h->rounded = rounds && dtype_is_float(n->type.dtype) && dtype_is_float(u->fn[0].to);
  return h->rounded ? u->fn[0].to : n->type.dtype;
}

static bool operands_find(IaDoor *m, const AlgNode *n, TaskSlot *slot, const TaskBuffer **operand) {
  for (uint32_t i = 0; i < n->n_operand; i++) {
    slot[i] = (TaskSlot){0};
    if (!buffer_of(m, n->operand[i].node, &slot[i].index)) return false;
    operand[i] = alg_is_table(n, i) ? NULL : &m->t->buffers.at[slot[i].index];
  }
  return true;
}

static void kernel_put(IaDoor *m, const AlgNode *n, const TaskStage *s) {
  Task *k = door_task(m, n->kind == ALG_FETCH ? TASK_FETCH : TASK_KERNEL, n->place, n->name);
  vec_push(m->arena, k->stages, *s);
}

/* The place in the whole of a point of the block: reduced labels in order, row-major. */
static const Expr *place_whole(IaDoor *m, const AlgNode *n, const Expr *const *low) {
  Exprs *x = m->t->exprs;
  int64_t last[REL_KEYS];
  const Expr *e = expr_int(x, DT_I64, 0);
  for (uint32_t k = 0; k < n->type.n_key; k++) last[k] = n->type.frontier[k] - 1;
  for (uint32_t l = n->sum->n_out; l < n->sum->n_out + n->sum->n_red; l++) {
    const Expr *extent = expr_int(x, DT_I64, rel_value(n->range[l].high, n->type.n_key, last));
    e = expr_op2(x, OP_ADD, expr_op2(x, OP_MUL, e, extent), expr_op2(x, OP_ADD, expr_label(x, l), low[l]));
  }
  return e;
}

/* For a part of argmax: first the best value, then the first place that has it; `where` excludes the worse points. A
 * part without points has the identities, which its place shows. */
static bool argmax_make(IaDoor *m, const AlgNode *n, TaskStage *s, EinSum *sum, const TaskSlot *slot,
    const Expr *const *low, const IaBox *box) {
  Exprs *x = m->t->exprs;
  EinSum best = *sum, first = *sum;
  TaskStage t = *s;
  uint32_t n_slot = n->sum->n_slot;
  best.reducer = n->sum->reducer == RED_ARGMAX ? RED_MAX : RED_MIN;
  best.dtype = sum->acc;
  stage_canonical(m->t, s, &best, slot, n_slot);
  kernel_put(m, n, s);
  const Expr *value = expr_read(x, sum->acc, n_slot, sum->n_out, s->at);
  const Expr *is = expr_op2(x, OP_EQ, sum->body, value);
  if (dtype_is_float(sum->acc))
    is = expr_op2(x, OP_OR, is, expr_op2(x, OP_AND, expr_op1(x, OP_ISNAN, sum->body), expr_op1(x, OP_ISNAN, value)));
  TaskSlot *more = COPY_ARRAY(m->arena, TaskSlot, slot, n_slot, n_slot + 1);
  more[n_slot] = (TaskSlot){false, (uint32_t)s->buffer};
  first.reducer = RED_MIN;
  first.acc = first.dtype = DT_I64;
  first.where = expr_and(x, sum->where, is);
  first.body = place_whole(m, n, low);
  t.buffer = (int32_t)door_buffer(m, BUF_WORK, DT_I64, n->type.rank, box, n->name, n->place);
  stage_canonical(m->t, &t, &first, more, n_slot + 1);
  kernel_put(m, n, &t);
  m->held[n->id].buffer = s->buffer;
  m->held[n->id].place = t.buffer;
  return true;
}

static bool join_make(IaDoor *m, const AlgNode *n) {
  const EinSum *of = n->sum;
  uint32_t labels = of->n_out + of->n_red;
  IaKeys keys = ia_keys(m->t, &n->type, &n->at);
  IaBox box = ia_box(m->t, &n->type, &n->at);
  const Expr **low = NEW_ARRAY(m->arena, const Expr *, labels + 1),
             **bound = NEW_ARRAY(m->arena, const Expr *, labels + 1);
  TaskSlot *slot = NEW_ARRAY(m->arena, TaskSlot, n->n_operand + 1);
  if (n->n_fn) return door_fail(m, n, "functions stand behind a join");
  for (uint32_t i = 0; i < n->n_operand; i++)
    if (n->operand[i].wanted && n->operand[i].node->type.holes)
      return door_fail(m, n, "it is made only where an operand with holes has tuples");
  if (!ia_is_box(&n->type, &keys, &m->t->mesh, &n->at, 0, true))
    return door_fail(m, n, "a site makes several tuples that are no box");
  for (uint32_t l = 0; l < labels; l++) {
    RelDim d = ia_range(m->t, &n->range[l], n->type.n_key, &keys);
    low[l] = d.low;
    bound[l] = extent_normal(m->t->exprs, expr_op2(m->t->exprs, OP_SUB, d.high, d.low));
  }
  DType dtype = join_dtype(m, n);
  uint32_t to = door_result(m, n, dtype, &box); /* before taking pointers to operands */
  Local l = {low, NEW_ARRAY(m->arena, const TaskBuffer *, n->n_operand + 1)};
  if (!operands_find(m, n, slot, (const TaskBuffer **)(uintptr_t)l.operand)) return false;
  EinSum sum = *of;
  sum.dtype = dtype;
  sum.body = local(m, of->body, &l);
  sum.where = local(m, of->where, &l);
  sum.domain = local(m, of->domain, &l);
  TaskStage s = {.name = n->name, .place = n->place, .bound = bound, .label = (Str *)(uintptr_t)n->label,
      .buffer = (int32_t)to, .n_at = of->n_out, .at = NEW_ARRAY(m->arena, const Expr *, of->n_out + 1)};
  for (uint32_t k = 0; k < of->n_out; k++) s.at[k] = expr_label(m->t->exprs, k);
  if (n->type.places && !reduces_whole(n)) return argmax_make(m, n, &s, &sum, slot, low, &box);
  stage_canonical(m->t, &s, &sum, slot, of->n_slot);
  kernel_put(m, n, &s);
  if (n->panels) vec_push(m->arena, m->panels, ((IaPanels){m->list, vec_last(*m->list), n->panel, n->panels}));
  m->held[n->id].buffer = (int32_t)to;
  return true;
}

/* ---- functions and filters ----------------------------------------------------------------------------------- */

static bool functions_make(IaDoor *m, const AlgNode *n) {
  const AlgNode *of = n->operand[0].node;
  uint32_t from;
  IaBox box = ia_box(m->t, &n->type, &n->at);
  if (n->kind != ALG_MAP || n->n_piece || n->rekey) return door_fail(m, n, "functions stand behind another operation");
  if (!buffer_of(m, of, &from)) return false;
  bool rounded = m->held[of->id].rounded;
  for (uint32_t k = 0; k < n->n_fn; k++) {
    const AlgFn *f = &n->fn[k];
    if (f->kind == FN_SHIFT) return door_fail(m, n, "arrays are shifted, and not laid together");
    if (f->kind == FN_PLACE && m->held[of->id].place >= 0) from = (uint32_t)m->held[of->id].place;
    if (f->kind == FN_PLACE || (k == 0 && rounded)) continue; /* the kernel below has done it */
    if (f->kind == FN_MERGE && k + 1 < n->n_fn) return door_fail(m, n, "dimensions are merged before another function");
    const TaskBuffer *a = &m->t->buffers.at[from];
    IaBox same = {a->low, a->dim, a->when};
    DType t = f->kind == FN_CAST ? f->to : a->dtype;
    uint32_t to = door_buffer(m, BUF_WORK, t, f->kind == FN_MERGE ? n->type.rank : a->rank,
        f->kind == FN_MERGE ? &box : &same, n->name, n->place);
    map_make(m, from, to, t, 0, 0, f->kind == FN_MERGE ? f->merge : NULL, NULL, n->place);
    from = to;
  }
  m->held[n->id].buffer = (int32_t)from;
  return true;
}

/* The kernel below does not run where the filter drops everything; what others use too is copied. */
static bool filter_make(IaDoor *m, const AlgNode *n) {
  const AlgNode *of = n->operand[0].node;
  uint32_t from;
  IaKeys keys = ia_keys(m->t, &of->type, &of->at);
  if (keys.several) return door_fail(m, n, "of several tuples at a site some are taken out");
  if (!buffer_of(m, of, &from)) return false;
  const Expr *keep = expr_relabel(m->t->exprs, n->keep, of->type.n_key, keys.low);
  TaskBuffer *b = &m->t->buffers.at[from];
  keep = expr_and(m->t->exprs, b->when, keep);
  if (m->held[of->id].place >= 0) {
    if (m->held[of->id].uses > 1) return door_fail(m, n, "some parts of argmax are taken out, and others want them");
    m->t->buffers.at[m->held[of->id].place].when = keep;
    m->held[n->id].place = m->held[of->id].place;
  }
  if (m->held[of->id].uses == 1 && of->kind == ALG_JOIN) {
    b->when = keep;
  } else {
    IaBox box = {b->low, b->dim, keep};
    uint32_t to = door_buffer(m, BUF_WORK, b->dtype, b->rank, &box, b->name, b->place);
    door_copy(m, from, to, NULL, n->place);
    from = to;
  }
  m->held[n->id].buffer = (int32_t)from;
  return true;
}

/* ---- repeats ----------------------------------------------------------------------------------------------------- */

/* A buffer for the node's block. */
static uint32_t node_buffer(IaDoor *m, TaskSpace space, const AlgNode *n, Str name) {
  IaBox box = ia_box(m->t, &n->type, &n->at);
  return door_buffer(m, space, n->type.dtype, n->type.rank, &box, name, n->place);
}

typedef struct Later { const AlgNode *node; uint32_t to, turn; } Later; /* copies at the end of a turn */
typedef VEC(Later) Laters;

static bool list_make(IaDoor *m, const AlgRegion *r);

static bool states_start(IaDoor *m, const AlgRegion *r, Task *k, Laters *later) {
  vec_each(const AlgState, s, r->states) {
    uint32_t init, now = node_buffer(m, BUF_WORK, s->node, s->node->name);
    if (!buffer_of(m, s->init, &init)) return false;
    door_copy(m, init, now, NULL, s->node->place);
    m->held[s->node->id].buffer = (int32_t)now;
    if (s->next == s->node) continue;
    uint32_t next = node_buffer(m, BUF_WORK, s->node, s->node->name);
    vec_push(m->arena, *later, ((Later){s->next, next, 0}));
    vec_push(m->arena, k->exchange, ((TaskExchange){now, next}));
  }
  return true;
}

static void stacks_start(IaDoor *m, const AlgNode *repeat, Laters *later) {
  vec_each_of(const AlgNode, n, repeat->region->nodes) {
    if (n->kind != ALG_STACK || n->repeat != repeat || !m->held[n->id].needed) continue;
    const AlgStack *s = &repeat->body->stacks.at[n->index];
    Task *z = door_task(m, TASK_ZERO, n->place, n->name);
    z->buffer = node_buffer(m, BUF_WORK, n, n->name);
    m->held[n->id].buffer = (int32_t)z->buffer;
    vec_push(m->arena, *later, ((Later){s->node, z->buffer, s->axis + 1}));
  }
}

static void turns_ask(IaDoor *m, const AlgNode *repeat, Task *k) {
  vec_each_of(const AlgNode, n, repeat->region->nodes) {
    if (n->kind != ALG_TURNS || n->repeat != repeat || !m->held[n->id].needed) continue;
    IaBox box = ia_box(m->t, &n->type, &n->at);
    if (k->turns < 0) k->turns = (int32_t)door_buffer(m, BUF_WORK, DT_I64, 0, &box, repeat->body->turn, n->place);
    m->held[n->id].buffer = k->turns;
  }
}

static bool repeat_make(IaDoor *m, const AlgNode *n) {
  const AlgRegion *r = n->body;
  Task *k = MAKE(m->arena, Task, .kind = TASK_REPEAT, .place = n->place, .name = n->name, .unless = -1, .stop = -1,
      .turns = -1, .turn = r->turn, .depth = r->depth);
  Laters later = {0};
  uint32_t stop = 0;
  if (!buffer_of(m, r->bound, &k->buffer) || !states_start(m, r, k, &later)) return false;
  stacks_start(m, n, &later);
  Tasks *outside = m->list;
  vec_push(m->arena, *outside, k);
  m->list = &k->body;
  bool ok = list_make(m, r);
  for (uint32_t i = 0; ok && i < later.len; i++) {
    uint32_t from;
    ok = buffer_of(m, later.at[i].node, &from);
    if (ok)
      map_make(m, from, later.at[i].to, m->t->buffers.at[from].dtype, later.at[i].turn, r->depth, NULL, NULL, n->place);
  }
  ok = ok && (!r->stop || buffer_of(m, r->stop, &stop));
  if (ok && r->stop) k->stop = (int32_t)stop;
  m->list = outside;
  turns_ask(m, n, k);
  return ok;
}

/* ---- nodes ------------------------------------------------------------------------------------------------------- */

static bool node_make(IaDoor *m, const AlgNode *n) {
  IaHeld *h = &m->held[n->id];
  if (n->n_fn && n->kind != ALG_JOIN) return functions_make(m, n);
  switch (n->kind) {
  case ALG_JOIN: case ALG_FETCH: return join_make(m, n);
  case ALG_FILTER: return filter_make(m, n);
  case ALG_AGGREGATE: case ALG_MAP: case ALG_MOVE: return chain_make(m, n);
  case ALG_REPEAT: return repeat_make(m, n);
  case ALG_FINAL: h->buffer = m->held[n->repeat->body->states.at[n->index].node->id].buffer; return true;
  case ALG_INPUT: case ALG_STATE: case ALG_STACK: case ALG_TURNS: return true;
  }
  return true;
}

static bool list_make(IaDoor *m, const AlgRegion *r) {
  vec_each_of(const AlgNode, n, r->nodes) {
    uint32_t b;
    if (!m->held[n->id].needed) continue;
    m->making = n;
    if (!node_make(m, n)) return false;
    m->making = NULL;
    for (uint32_t k = 0; r == m->ia->top && k < m->ia->asserts.len; k++) { /* an assert comes as early as possible */
      const AlgAssert *a = &m->ia->asserts.at[k];
      if (a->node != n) continue;
      if (!buffer_of(m, n, &b)) return false;
      door_task(m, TASK_ASSERT, a->place, a->text)->buffer = b;
    }
  }
  return true;
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

static bool inputs_make(IaDoor *m) {
  for (uint32_t a = 0; a < m->t->mesh.n; a++) vec_push(m->arena, m->t->dims, ((Dim){task_axis(m->t, a), false, 0}));
  for (uint32_t i = 0; i < m->ia->monoids.len; i++) vec_push(m->arena, m->t->monoids, m->ia->monoids.at[i]);
  for (uint32_t i = 0; i < m->ia->inputs.len; i++) {
    const AlgNode *n = m->ia->inputs.at[i];
    IaKeys keys = ia_keys(m->t, &n->type, &n->at);
    if (!ia_is_box(&n->type, &keys, &m->t->mesh, &n->at, 0, false))
      return door_fail(m, n, "a site has several tuples that are no box");
    uint32_t b = node_buffer(m, BUF_INPUT, n, n->name);
    m->t->buffers.at[b].argument = i;
    m->held[n->id].buffer = (int32_t)b;
    vec_push(m->arena, m->t->inputs, ((TaskArgument){n->name, b, false, false}));
  }
  return true;
}

/* What only one output uses is computed into it; the others are copied at the end. */
static void outputs_make(IaDoor *m) {
  for (uint32_t i = 0; i < m->ia->outputs.len; i++) {
    const AlgOutput *o = &m->ia->outputs.at[i];
    const AlgNode *n = o->node;
    uint32_t b = node_buffer(m, BUF_OUTPUT, n, o->name);
    m->t->buffers.at[b].argument = i;
    vec_push(m->arena, m->t->outputs, ((TaskArgument){o->name, b, false, false}));
    bool moves = n->kind == ALG_MOVE || n->kind == ALG_MAP || n->kind == ALG_AGGREGATE;
    if (m->held[n->id].uses == 1 && !n->type.places && (n->kind == ALG_JOIN || (moves && !n->n_fn)))
      m->held[n->id].want = (int32_t)b;
  }
}

static bool outputs_copy(IaDoor *m) {
  for (uint32_t i = 0; i < m->ia->outputs.len; i++) {
    const AlgNode *n = m->ia->outputs.at[i].node;
    uint32_t to = m->t->outputs.at[i].buffer, from;
    if (!buffer_of(m, n, &from)) return false;
    if (from != to) door_copy(m, from, to, NULL, n->place);
  }
  return true;
}

TaskGraph *task_from_ia(Arena *a, const Algebra *ia, Buf *why) {
  IaDoor m = {.t = task_new(a, ia->strings, ia->exprs), .ia = ia, .arena = a, .why = why};
  BUG_UNLESS(ia->placed);
  m.t->mesh = ia->mesh;
  m.t->room = ia->room;
  m.held = NEW_ARRAY(a, IaHeld, ia->n_nodes + 1);
  m.list = &m.t->tasks;
  for (uint32_t i = 0; i < ia->n_nodes; i++) m.held[i] = (IaHeld){.buffer = -1, .place = -1, .want = -1};
  m.readers = NEW_ARRAY(a, uint32_t, ia->n_nodes + 1);
  read_by_region(&m, ia->top);
  for (uint32_t i = 0; i < ia->outputs.len; i++) m.readers[ia->outputs.at[i].node->id]++;
  for (uint32_t i = 0; i < ia->asserts.len; i++) m.readers[ia->asserts.at[i].node->id]++;
  for (uint32_t i = 0; i < ia->outputs.len; i++) use(&m, ia->outputs.at[i].node, NULL);
  for (uint32_t i = 0; i < ia->asserts.len; i++) use(&m, ia->asserts.at[i].node, NULL);
  copies_of_region(&m, ia->top);
  uses_of_region(&m, ia->top);
  if (!inputs_make(&m)) return NULL;
  outputs_make(&m);
  if (!list_make(&m, ia->top) || !outputs_copy(&m)) return NULL;
  /* one site has all of each */
  for (uint32_t i = 0; !ia->mesh.n && i < m.t->buffers.len; i++) m.t->buffers.at[i].low = NULL;
  for (uint32_t i = 0; i < m.panels.len; i++) door_panels(&m, &m.panels.at[i]);
  task_logsumexp(m.t);
  task_terms(m.t);
  task_in_place(m.t);
  task_rotate(m.t);
  task_fuse(m.t);
  task_rows(m.t, false);
  task_quotients(m.t);
  task_shared(m.t);
  task_narrow(m.t);
  task_fetch(m.t);
  task_digits(m.t);
  if (ia->mesh.n) task_strips(m.t);
  if (ia->mesh.n) task_all_reduce(m.t);
  task_lifetimes(m.t);
  if (ia->mesh.n) task_reuse(m.t);
  task_lifetimes(m.t);
  task_overlap(m.t, ia->memory);
  return m.t;
}
