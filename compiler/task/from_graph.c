/* task/from_graph.c - lowers an EinGraph to a TaskGraph: every vertex becomes a kernel of one stage, every tensor a
 * buffer, every repeat a task with a body. Results are computed directly into their destination: an output's buffer,
 * a state's next, a stack's slice. Then fuse.c joins kernels, split.c cuts some, order.c orders them, and
 * lifetime.c numbers the steps. */
#include "from_graph.h"

#include "inside.h"

enum { NONE = -1, SEVERAL = -2 };

typedef struct Results {     /* the results of a repeat that are used */
  bool turns;
  int32_t turns_buffer;
  const EinNode **stack;     /* by number: one of the nodes for it, or NULL */
  int32_t *stack_buffer;
} Results;

typedef struct Own { int32_t input; uint32_t buffer; } Own; /* what is made for one input's default */

typedef struct Held {
  int32_t buffer;            /* holds the node's value; NONE: nothing yet */
  int32_t want;              /* the preferred buffer; NONE: one of its own */
  uint32_t want_at;          /* 1 + the axis of that buffer for the turn; 0: it has none */
  uint32_t uses;
  int32_t unless;            /* only this input's default needs it; SEVERAL: only defaults do; NONE: others do too */
  VEC(Own) own;              /* of a vertex that SEVERAL need: it is made for each of them, so that an input which is
                              * given costs nothing */
  bool needed;
  Results *results;          /* of a repeat */
} Held;

typedef struct Maker {
  TaskGraph *t;
  EinGraph *g;
  Arena *arena;
  Held *held;                /* by node id */
  Tasks *list;               /* where tasks go */
} Maker;

/* ---- what is needed, by how many, and for which default ---------------------------------------- */

static void use(Maker *m, const EinNode *n, int32_t unless) {
  Held *h = &m->held[n->id];
  if (!h->needed) h->unless = unless;
  else if (h->unless != unless) h->unless = h->unless == NONE || unless == NONE ? NONE : SEVERAL;
  h->needed = true;
  h->uses++;
}

static void uses_of_region(Maker *m, const EinRegion *r);

static void uses_of_repeat(Maker *m, const EinNode *n) {
  const EinRegion *r = n->body;
  for (uint32_t i = 0; region_use(r, i); i++) use(m, region_use(r, i), NONE);
  for (uint32_t i = 0; i < r->states.len; i++) use(m, r->states.at[i].node, NONE);
  uses_of_region(m, r);
}

static int32_t input_number(const EinGraph *g, const EinNode *n) {
  for (uint32_t i = 0; i < g->inputs.len; i++)
    if (g->inputs.at[i] == n) return (int32_t)i;
  bug("an input that is none of the graph's");
}

static void use_result(Maker *m, const EinNode *n) {
  Held *h = &m->held[n->repeat->id];
  use(m, n->repeat, NONE);
  if (!h->results) {
    h->results = NEW(m->arena, Results);
    h->results->stack = NEW_ARRAY(m->arena, const EinNode *, n->repeat->body->stacks.len + 1);
    h->results->stack_buffer = NEW_ARRAY(m->arena, int32_t, n->repeat->body->stacks.len + 1);
  }
  if (n->kind == EIN_TURNS) h->results->turns = true;
  if (n->kind == EIN_STACK) h->results->stack[n->index] = n;
}

/* Users come after what they use, so one backward walk sees all of a node's users before the node. */
static void uses_of_region(Maker *m, const EinRegion *r) {
  for (uint32_t i = r->nodes.len; i-- > 0;) {
    const EinNode *n = r->nodes.at[i];
    const Held *h = &m->held[n->id];
    if (n->kind == EIN_INPUT && n->fallback) use(m, n->fallback, input_number(m->g, n));
    if (!h->needed) continue;
    if (n->kind == EIN_VERTEX)
      for (uint32_t s = 0; s < n->sum->n_slot; s++) use(m, n->input[s], h->unless);
    if (n->kind == EIN_REPEAT) uses_of_repeat(m, n);
    if (n->kind == EIN_FINAL || n->kind == EIN_STACK || n->kind == EIN_TURNS) use_result(m, n);
  }
}

/* ---- buffers ------------------------------------------------------------------------------------ */

static uint32_t buffer_new(Maker *m, TaskSpace space, const EinNode *like, Str name) {
  TaskGraph *t = m->t;
  TaskBuffer b = {.id = t->buffers.len, .space = space, .name = name, .place = like->place, .dtype = like->dtype,
      .rank = like->rank, .dim = like->dim};
  vec_push(m->arena, t->buffers, b);
  return b.id;
}

static uint32_t buffer_scalar(Maker *m, DType dtype, Str name, Place place) {
  EinNode like = {.place = place, .dtype = dtype};
  return buffer_new(m, BUF_WORK, &like, name);
}

static uint32_t buffer_of(const Maker *m, const EinNode *n) {
  BUG_UNLESS(m->held[n->id].buffer >= 0);
  return (uint32_t)m->held[n->id].buffer;
}

/* ---- tasks -------------------------------------------------------------------------------------- */

static Task *task_add(Maker *m, TaskKind kind, Place place, Str name, int32_t unless) {
  Task *k = MAKE(m->arena, Task, .kind = kind, .place = place, .name = name, .unless = unless, .stop = NONE,
      .turns = NONE);
  vec_push(m->arena, *m->list, k);
  return k;
}

/* Sets where a vertex's labels store a value in its buffer: a group is one axis, row-major; `turn` is 1 + the axis
 * at which the turn is inserted, or 0. */
static void stage_at(Maker *m, TaskStage *s, const EinNode *n, uint32_t turn, uint32_t depth) {
  Exprs *x = m->t->exprs;
  s->n_at = n->rank + (turn ? 1 : 0);
  s->at = NEW_ARRAY(m->arena, const Expr *, s->n_at + 1);
  uint32_t l = 0, k = 0;
  for (uint32_t d = 0; d <= n->rank; d++) {
    if (turn && d == turn - 1) s->at[k++] = expr_turn(x, depth);
    if (d == n->rank) break;
    const Expr *e = expr_label(x, l++);
    for (uint32_t j = 1; j < n->merge[d]; j++, l++)
      e = expr_op2(x, OP_ADD, expr_op2(x, OP_MUL, e, n->bound[l]), expr_label(x, l));
    s->at[k++] = e;
  }
}

static uint32_t depth_of(const EinNode *n) {
  return n->region->parent ? n->region->depth : 0;
}

static uint32_t vertex_make(Maker *m, const EinNode *n, int32_t unless);

/* The buffer of a node that is read for this input's default; for the program, if it is NONE. */
static uint32_t buffer_for(Maker *m, const EinNode *n, int32_t unless) {
  Held *h = &m->held[n->id];
  if (n->kind != EIN_VERTEX || h->unless != SEVERAL) return buffer_of(m, n);
  vec_each(const Own, o, h->own)
    if (o->input == unless) return o->buffer;
  uint32_t buffer = vertex_make(m, n, unless);
  vec_push(m->arena, h->own, ((Own){unless, buffer}));
  return buffer;
}

static uint32_t vertex_make(Maker *m, const EinNode *n, int32_t unless) {
  Held *h = &m->held[n->id];
  uint32_t *slot = NEW_ARRAY(m->arena, uint32_t, n->sum->n_slot + 1);
  for (uint32_t i = 0; i < n->sum->n_slot; i++) slot[i] = buffer_for(m, n->input[i], unless);
  const EinNode *of = h->unless == SEVERAL ? m->g->inputs.at[unless] : NULL;
  Str name = of && of->fallback == n ? of->name : n->name;
  uint32_t to = h->want >= 0 ? (uint32_t)h->want : buffer_new(m, BUF_WORK, n, name);
  Task *k = task_add(m, TASK_KERNEL, n->place, name, unless);
  TaskStage s = {.sum = n->sum, .name = name, .place = n->place, .bound = n->bound, .label = n->label,
      .buffer = (int32_t)to, .slot = NEW_ARRAY(m->arena, TaskSlot, n->sum->n_slot + 1)};
  for (uint32_t i = 0; i < n->sum->n_slot; i++) s.slot[i].index = slot[i];
  stage_at(m, &s, n, h->want >= 0 ? h->want_at : 0, depth_of(n));
  vec_push(m->arena, k->stages, s);
  return to;
}

/* The user's name of axis k of a tensor. NULL: it has no single label. */
static Str axis_label(const EinNode *n, uint32_t k) {
  n = graph_labelled(n, &k);
  if (n->kind == EIN_STACK) return n->repeat->body->turn;
  if (n->kind != EIN_VERTEX || n->merge[k] != 1) return NULL;
  uint32_t at = 0;
  for (uint32_t d = 0; d < k; d++) at += n->merge[d];
  return n->label[at];
}

/* Makes a kernel that copies a buffer with the node's value into another, or into a turn's slice of it. */
static void copy_make(
    Maker *m, const EinNode *of, uint32_t to, uint32_t turn, uint32_t depth, Place place, int32_t unless) {
  uint32_t from = buffer_of(m, of);
  Exprs *x = m->t->exprs;
  const TaskBuffer *b = &m->t->buffers.at[from];
  uint32_t n = b->rank;
  const Expr **index = NEW_ARRAY(m->arena, const Expr *, n + 1);
  EinNode like = {.rank = n, .merge = NEW_ARRAY(m->arena, uint8_t, n + 1), .bound = b->dim};
  Str *label = NEW_ARRAY(m->arena, Str, n + 1);
  for (uint32_t k = 0; k < n; k++) {
    index[k] = expr_label(x, k);
    like.merge[k] = 1;
    label[k] = axis_label(of, k);
    if (!label[k]) label[k] = strings_printf(m->t->strings, "i%u", k + 1);
  }
  EinSum sum = {.n_out = n, .n_slot = 1, .acc = b->dtype, .dtype = b->dtype};
  sum.body = expr_read(x, b->dtype, 0, n, index);
  TaskStage s = {.sum = graph_sum(m->g, &sum), .name = b->name, .place = place, .bound = b->dim, .label = label};
  s.slot = NEW(m->arena, TaskSlot);
  s.slot->index = from;
  s.buffer = (int32_t)to;
  stage_at(m, &s, &like, turn, depth);
  Task *k = task_add(m, TASK_KERNEL, place, b->name, unless);
  vec_push(m->arena, k->stages, s);
}

/* ---- repeats ------------------------------------------------------------------------------------ */

static void list_make(Maker *m, const EinRegion *r);

/* Makes a vertex of the block that has no preferred buffer yet write directly to `want`. */
static bool claim(Maker *m, const EinRegion *r, const EinNode *n, uint32_t want, uint32_t turn) {
  Held *h = &m->held[n->id];
  if (n->kind != EIN_VERTEX || n->region != r || h->want >= 0 || (turn && h->uses > 1)) return false;
  h->want = (int32_t)want;
  h->want_at = turn;
  return true;
}

typedef struct Later { const EinNode *node; uint32_t to, turn; } Later; /* copies at the end of a turn */
typedef VEC(Later) Laters;

static void states_start(Maker *m, const EinRegion *r, Task *k, Laters *later) {
  vec_each(const EinState, s, r->states) {
    uint32_t now = buffer_new(m, BUF_WORK, s->node, s->node->name);
    copy_make(m, s->init, now, 0, 0, s->node->place, NONE);
    m->held[s->node->id].buffer = (int32_t)now;
    if (s->next == s->node) continue;
    uint32_t next = buffer_new(m, BUF_WORK, s->node, s->node->name);
    if (!claim(m, r, s->next, next, 0)) vec_push(m->arena, *later, ((Later){s->next, next, 0}));
    vec_push(m->arena, k->exchange, ((TaskExchange){now, next}));
  }
}

static void stacks_start(Maker *m, const EinRegion *r, Laters *later) {
  for (uint32_t i = 0; i < r->stacks.len; i++) {
    const EinStack *s = &r->stacks.at[i];
    Results *all = m->held[r->repeat->id].results;
    const EinNode *n = all ? all->stack[i] : NULL;
    if (!n) continue;
    int32_t want = m->held[n->id].want;
    Task *z = task_add(m, TASK_ZERO, n->place, n->name, NONE);
    z->buffer = want >= 0 ? (uint32_t)want : buffer_new(m, BUF_WORK, n, n->name);
    all->stack_buffer[i] = (int32_t)z->buffer;
    if (!claim(m, r, s->node, z->buffer, s->axis + 1))
      vec_push(m->arena, *later, ((Later){s->node, z->buffer, s->axis + 1}));
  }
}

static void repeat_make(Maker *m, const EinNode *n) {
  const EinRegion *r = n->body;
  Task *k = MAKE(m->arena, Task, .kind = TASK_REPEAT, .place = n->place, .name = n->name, .unless = NONE,
      .stop = NONE, .turns = NONE);
  Laters later = {0};
  k->buffer = buffer_of(m, r->bound);
  k->turn = r->turn;
  k->depth = r->depth;
  states_start(m, r, k, &later);
  stacks_start(m, r, &later);
  Tasks *outside = m->list;
  vec_push(m->arena, *outside, k);
  m->list = &k->body;
  list_make(m, r);
  for (uint32_t i = 0; i < later.len; i++)
    copy_make(m, later.at[i].node, later.at[i].to, later.at[i].turn, r->depth, n->place, NONE);
  if (r->stop) k->stop = (int32_t)buffer_of(m, r->stop);
  m->list = outside;
  Results *all = m->held[n->id].results;
  if (all && all->turns) all->turns_buffer = k->turns = (int32_t)buffer_scalar(m, DT_I64, r->turn, n->place);
}

/* ---- nodes -------------------------------------------------------------------------------------- */

static void input_make(Maker *m, const EinNode *n) {
  if (!n->fallback) return;
  int32_t number = input_number(m->g, n);
  uint32_t buffer = buffer_for(m, n->fallback, number);
  Task *k = task_add(m, TASK_DEFAULT, n->place, n->name, number);
  k->buffer = buffer;
  k->argument = (uint32_t)number;
}

static void node_make(Maker *m, EinNode *n) {
  Held *h = &m->held[n->id];
  switch (n->kind) {
  case EIN_INPUT: input_make(m, n); break;
  case EIN_VERTEX:
    if (h->unless != SEVERAL) h->buffer = (int32_t)vertex_make(m, n, h->unless);
    break;
  case EIN_REPEAT: repeat_make(m, n); break;
  case EIN_STATE: break;
  case EIN_FINAL: h->buffer = m->held[n->repeat->body->states.at[n->index].node->id].buffer; break;
  case EIN_STACK: h->buffer = m->held[n->repeat->id].results->stack_buffer[n->index]; break;
  case EIN_TURNS: h->buffer = m->held[n->repeat->id].results->turns_buffer; break;
  }
}

static void list_make(Maker *m, const EinRegion *r) {
  vec_each_of(EinNode, n, r->nodes) {
    if (m->held[n->id].needed) node_make(m, n);
    else if (n->kind == EIN_INPUT) input_make(m, n);
    for (uint32_t k = 0; r == m->g->top && k < m->g->asserts.len; k++) { /* an assert comes as early as possible */
      const EinAssert *a = &m->g->asserts.at[k];
      if (a->node == n) task_add(m, TASK_ASSERT, a->place, a->text, NONE)->buffer = buffer_of(m, n);
    }
  }
}

/* ---- the whole ---------------------------------------------------------------------------------- */

static void head_make(Maker *m) {
  const EinGraph *g = m->g;
  TaskGraph *t = m->t;
  for (uint32_t i = 0; i < g->dims.len; i++) vec_push(m->arena, t->dims, g->dims.at[i]);
  for (uint32_t i = 0; i < g->checks.len; i++) vec_push(m->arena, t->checks, g->checks.at[i]);
  for (uint32_t i = 0; i < g->monoids.len; i++) vec_push(m->arena, t->monoids, g->monoids.at[i]);
  for (uint32_t i = 0; i < g->inputs.len; i++) {
    const EinNode *n = g->inputs.at[i];
    uint32_t b = buffer_new(m, BUF_INPUT, n, n->name);
    t->buffers.at[b].argument = i;
    m->held[n->id].buffer = (int32_t)b;
    vec_push(m->arena, t->inputs, ((TaskArgument){n->name, b, n->param, n->fallback != NULL}));
  }
}

/* An output's first tensor is computed into it; the others are copied at the end. */
static void outputs_make(Maker *m) {
  for (uint32_t i = 0; i < m->g->outputs.len; i++) {
    const EinOutput *o = &m->g->outputs.at[i];
    Held *h = &m->held[o->node->id];
    uint32_t b = buffer_new(m, BUF_OUTPUT, o->node, o->name);
    m->t->buffers.at[b].argument = i;
    vec_push(m->arena, m->t->outputs, ((TaskArgument){o->name, b, false, false}));
    if ((o->node->kind == EIN_VERTEX || o->node->kind == EIN_STACK) && h->want < 0 && h->unless < 0)
      h->want = (int32_t)b;
  }
}

static void outputs_copy(Maker *m) {
  for (uint32_t i = 0; i < m->g->outputs.len; i++) {
    const EinNode *n = m->g->outputs.at[i].node;
    uint32_t to = m->t->outputs.at[i].buffer;
    if (m->held[n->id].buffer != (int32_t)to) copy_make(m, n, to, 0, 0, n->place, NONE);
  }
}

static void needs_mark(Maker *m) {
  const EinGraph *g = m->g;
  for (uint32_t i = 0; i < g->n_nodes; i++) m->held[i] = (Held){.buffer = NONE, .want = NONE, .unless = NONE};
  for (uint32_t i = 0; i < g->outputs.len; i++) use(m, g->outputs.at[i].node, NONE);
  for (uint32_t i = 0; i < g->asserts.len; i++) use(m, g->asserts.at[i].node, NONE);
  uses_of_region(m, g->top);
}

TaskGraph *task_from_graph(Arena *a, EinGraph *g, bool device) {
  Maker m = {.t = task_new(a, g->strings, g->exprs), .g = g, .arena = a, .held = NEW_ARRAY(a, Held, g->n_nodes + 1)};
  m.list = &m.t->tasks;
  needs_mark(&m);
  head_make(&m);
  outputs_make(&m);
  list_make(&m, g->top);
  outputs_copy(&m);
  task_logsumexp(m.t);
  task_terms(m.t);
  task_in_place(m.t);
  task_coalesce(m.t);
  task_rotate(m.t);
  if (!device) task_results(m.t);
  task_digits_shown(m.t);
  task_fuse(m.t);
  task_rows(m.t, device);
  task_quotients(m.t);
  task_shared(m.t);
  task_again(m.t, !device);
  if (!device) task_cheap(m.t), task_pad(m.t), task_columns(m.t), task_mirror(m.t);
  task_narrow(m.t);
  task_digits(m.t);
  task_split(m.t, !device);
  task_order(m.t);
  task_lifetimes(m.t);
  task_reuse(m.t);
  task_lifetimes(m.t);
  return m.t;
}
