/* codegen/loop/labels.c - names of axes: from the indices of reads and stores, and from the program's declarations. */
#include "labels.h"

typedef struct Reads {
  const TaskGraph *t;
  const TaskStage *s;
  AxisLabels *l;
  Arena *a;
  Map turn;                  /* EX_TURN: its name */
} Reads;

/* "(h d)", if the labels from the first in e on form one row-major axis; else NULL. */
static Str group_label(const Reads *r, const Expr *e) {
  Exprs *p = r->t->exprs;
  const TaskStage *s = r->s;
  uint32_t n = s->sum->n_out, first = 0;
  while (first < n && first < 63 && !(e->labels >> first & 1)) first++;
  if (e->kind != EX_OP || first + 1 >= n || first == 63 || !s->label[first]) return NULL;
  const Expr *all = expr_label(p, first);
  Buf b = buf_new(r->a);
  buf_printf(&b, "(%s", s->label[first]->s);
  for (uint32_t k = first + 1; k < n && s->label[k]; k++) {
    all = expr_op2(p, OP_ADD, expr_op2(p, OP_MUL, all, s->bound[k]), expr_label(p, k));
    buf_printf(&b, " %s", s->label[k]->s);
    if (all == e) return strings_printf(r->t->strings, "%s)", b.s);
  }
  return NULL;
}

static Str index_label(const Reads *r, const Expr *e) {
  if (e->kind == EX_LABEL) return r->s->label[e->i];
  return e->kind == EX_TURN ? map_find(&r->turn, e) : group_label(r, e);
}

/* Names axis k of the buffer after its index, if that is a single label, turn or group. */
static void axis_label(Reads *r, const TaskBuffer *b, uint32_t n, const Expr *const *at) {
  if (n != b->rank) return;
  if (!r->l->of[b->id]) r->l->of[b->id] = NEW_ARRAY(r->a, Str, n + 1);
  Str *label = r->l->of[b->id];
  for (uint32_t k = 0; k < n; k++)
    if (!label[k]) label[k] = index_label(r, at[k]);
}

static const Expr *read_seen(void *env, Exprs *p, const Expr *leaf) {
  (void)p;
  Reads *r = env;
  if (leaf->kind != EX_READ || r->s->slot[leaf->i].kept) return leaf;
  axis_label(r, &r->t->buffers.at[r->s->slot[leaf->i].index], leaf->n, leaf->arg);
  return leaf;
}

static void stage_labels(Reads *r) {
  const EinSum *sum = r->s->sum;
  const Expr *const all[] = {sum->body, sum->where, sum->domain};
  if (r->s->buffer >= 0) axis_label(r, &r->t->buffers.at[r->s->buffer], r->s->n_at, r->s->at);
  for (uint32_t i = 0; i < COUNT(all); i++)
    if (all[i]) expr_map(r->t->exprs, all[i], read_seen, r);
}

static void list_labels(Reads *r, const Tasks *list) {
  vec_each_of(const Task, k, *list) {
    for (uint32_t s = 0; s < k->stages.len; s++) {
      r->s = &k->stages.at[s];
      stage_labels(r);
    }
    if (k->kind == TASK_REPEAT) map_put(&r->turn, expr_turn(r->t->exprs, k->depth), (void *)(uintptr_t)k->turn);
    list_labels(r, &k->body);
  }
}

const NamedAxes *axes_find(const NamedAxesList *all, Str name, bool input, uint32_t rank) {
  for (uint32_t i = 0; all && i < all->len; i++)
    if (all->at[i].name == name && all->at[i].input == input) return all->at[i].rank == rank ? &all->at[i] : NULL;
  return NULL;
}

static void declared_labels(Reads *r, const NamedAxesList *all, const TaskArgument *x, uint32_t n, bool input) {
  for (uint32_t i = 0; i < n; i++) {
    const TaskBuffer *b = &r->t->buffers.at[x[i].buffer];
    const NamedAxes *d = axes_find(all, x[i].name, input, b->rank);
    if (!r->l->of[b->id]) r->l->of[b->id] = NEW_ARRAY(r->a, Str, b->rank + 1);
    for (uint32_t k = 0; d && k < b->rank; k++)
      if (d->label[k]) r->l->of[b->id][k] = d->label[k];
  }
}

AxisLabels axis_labels(Arena *a, const TaskGraph *t, const NamedAxesList *declared) {
  AxisLabels l = {NEW_ARRAY(a, Str *, t->buffers.len + 1)};
  Reads r = {.t = t, .l = &l, .a = a, .turn = map_new(a)};
  list_labels(&r, &t->tasks);
  declared_labels(&r, declared, t->outputs.at, t->outputs.len, false);
  declared_labels(&r, declared, t->inputs.at, t->inputs.len, true);
  return l;
}
