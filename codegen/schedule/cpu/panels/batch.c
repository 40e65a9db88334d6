/* codegen/schedule/cpu/panels/batch.c - contractions of many pairs of matrices at once, where what says which pair it is lies innermost: of
 * each line of memory a pair has an element or a few. In: a kernel. Out: the same, where what lies so is copied ahead with that label, the
 * batch, in front, and a result that lies so is made in such a copy, and copied from there:
 *
 *     Y[a,c,e] = sum[d] A[a,d,e] * B[d,c,e]
 *
 * goes as three steps behind each other, of which threads wait for one before the next begins:
 *
 *     A'[e,a,d] = A[a,d,e],  B'[e,d,c] = B[d,c,e];    Y'[e,a,c] = sum[d] A'[e,a,d] * B'[e,d,c];    Y[a,c,e] = Y'[e,a,c]
 *
 * A copy goes along whole lines, once; panels would take an element of each line, and come back for the next one with the next pair. It is a
 * work buffer of this step alone. Whether there are copies hangs on sizes and not on the machine, as panels and the order of sums may hang on
 * them. */
#include "panels.h"

enum {
  POINTS_LEAST = 1 << 20,    /* of a contraction: in less, threads would wait for each other longer than copies gain */
  POINTS_EACH = 4,           /* on an element that is copied, where panels would be filled from it otherwise; */
  POINTS_IN_PLACE = 32,      /*   where tiles have their lanes along the batch, and read all where it lies */
  SIDE_LEAST = 16,           /* points of each side and of the sum, for panels to gain anything on such tiles */
  COPY_MOST = 32 << 20       /* bytes of a tensor: what is longer would be copied from memory to memory */
};

typedef struct Batch {
  Sched *s;
  const TaskStage *st;
  StagePlan p;
  bool *is;                  /* by label: an output label that all reads with a reduced label have, and its points are several */
  const Expr **read;         /* by slot; */
  bool *turned;              /*   it is copied ahead */
  bool result;               /* is copied from where it is made */
  Task *k;                   /* our own */
} Batch;

/* ---- whether ---------------------------------------------------------------------------------------------------------- */

static const Expr *leaf_note(void *env, Exprs *x, const Expr *leaf) {
  (void)x;
  if (leaf->kind == EX_READ) ((const Expr **)env)[leaf->i] = leaf;
  return leaf;
}

static bool is_reduced(const Batch *b, const Expr *read) {
  for (uint32_t k = 0; k < b->p.n_red; k++)
    if (ex_has_label(read, b->p.red[k])) return true;
  return false;
}

/* false: there is no batch, or no two sides. */
static bool batch_find(Batch *b) {
  const EinSum *sum = b->st->sum;
  uint32_t sides = 0;
  bool any = false;
  for (uint32_t l = 0; l < sum->n_out; l++) b->is[l] = b->p.size[l] > 1;
  for (uint32_t a = 0; a < sum->n_slot; a++) {
    if (!b->read[a] || !is_reduced(b, b->read[a])) continue;
    sides++;
    for (uint32_t l = 0; l < sum->n_out; l++) b->is[l] &= ex_has_label(b->read[a], l);
  }
  for (uint32_t l = 0; l < sum->n_out; l++) any |= b->is[l];
  return any && sides > 1;
}

static double elements(const Batch *b, uint32_t n, const Expr *const *at) {
  double all = 1;
  for (uint32_t k = 0; k < n; k++) all *= (double)b->p.size[at[k]->i];
  return all;
}

/* Whether indices are labels, each once and whole, of which the last is of the batch and not all others are. */
static bool lies_across(const Batch *b, uint32_t index, uint32_t n, const Expr *const *at) {
  const TaskBuffer *x = buffer_seen(b->s, index);
  bool other = false;
  for (uint32_t k = 0; k < n; k++) {
    if (at[k]->kind != EX_LABEL || x->dim[k] != b->st->bound[at[k]->i]) return false;
    for (uint32_t j = 0; j < k; j++)
      if (at[j] == at[k]) return false;
    other |= !b->is[at[k]->i];
  }
  if (!n || !other || !b->is[at[n - 1]->i]) return false;
  return elements(b, n, at) * (double)dtype_size(x->dtype) <= (double)COPY_MOST;
}

static bool is_free(const Batch *b) {
  const EinSum *sum = b->st->sum;
  if (red_is_arg(sum) || sum->reducer == RED_MONOID || sum->reducer == RED_LSE) return false;
  for (uint32_t l = 0; l < b->p.n_label; l++)
    if (!b->p.exact[l] || !b->p.size[l]) return false;
  return b->st->buffer >= 0 && !sum->where && !sum->domain && sum->n_red;
}

/* Whether each side has points enough that are no batch, and the sum too. */
static bool is_deep(const Batch *b) {
  double deep = 1;
  for (uint32_t k = 0; k < b->p.n_red; k++) deep *= (double)b->p.size[b->p.red[k]];
  for (uint32_t a = 0; a < b->st->sum->n_slot; a++) {
    double side = 1;
    if (!b->read[a] || !is_reduced(b, b->read[a])) continue;
    for (uint32_t l = 0; l < b->st->sum->n_out; l++) side *= !b->is[l] && ex_has_label(b->read[a], l) ? (double)b->p.size[l] : 1;
    if (side < (double)SIDE_LEAST) return false;
  }
  return deep >= (double)SIDE_LEAST;
}

/* What is to be copied; false: nothing, or it is not worth it. */
static bool turns_find(Batch *b) {
  const TaskStage *st = b->st;
  double points = 1, copied = 0;
  for (uint32_t l = 0; l < b->p.n_label; l++) points *= (double)b->p.size[l];
  for (uint32_t a = 0; a < st->sum->n_slot; a++) {
    const Expr *x = b->read[a];
    if (!x || st->slot[a].kept || !is_reduced(b, x) || !lies_across(b, st->slot[a].index, x->n, x->arg)) continue;
    b->turned[a] = true, copied += elements(b, x->n, x->arg);
  }
  b->result = lies_across(b, (uint32_t)st->buffer, st->n_at, st->at);
  if (b->result) copied += elements(b, st->n_at, st->at);
  if (copied == 0 || points < (double)POINTS_LEAST || points < copied * (double)POINTS_EACH) return false;
  Env e = {.s = b->s, .stage = st, .label = NEW_ARRAY(b->s->arena, const Expr *, b->p.n_label + 1)};
  return pack_choose(b->s, &b->p, &e) || (points >= copied * (double)POINTS_IN_PLACE && is_deep(b));
}

/* ---- copies ------------------------------------------------------------------------------------------------------------- */

/* A work buffer with the batch in front of what else is at these indices; of[k]: which of its axes index k is. */
static uint32_t copy_new(Batch *b, uint32_t index, uint32_t n, const Expr *const *at, uint32_t *of) {
  Sched *s = b->s;
  const Expr **dim = NEW_ARRAY(s->arena, const Expr *, n + 1);
  uint32_t to = 0, id = s->t->buffers.len;
  for (uint32_t l = 0; l < b->st->sum->n_out; l++)
    for (uint32_t k = 0; k < n; k++)
      if (at[k]->i == (int64_t)l && b->is[l]) dim[to] = b->st->bound[l], of[k] = to++;
  for (uint32_t k = 0; k < n; k++)
    if (!b->is[at[k]->i]) dim[to] = b->st->bound[at[k]->i], of[k] = to++;
  place_shared(s, "turned", buffer_seen(s, index)->dtype, n, dim);
  return id;
}

static const Expr **turned_at(Batch *b, uint32_t n, const Expr *const *at, const uint32_t *of) {
  const Expr **to = NEW_ARRAY(b->s->arena, const Expr *, n + 1);
  for (uint32_t k = 0; k < n; k++) to[of[k]] = at[k];
  return to;
}

/* One more stage: `to` has what `from` has; n labels, at which one of them is read or stored, and the other at its own axes in order. */
static void copy_add(Batch *b, uint32_t to, uint32_t from, uint32_t n, const Expr *const *at, const uint32_t *of, bool ahead) {
  Sched *s = b->s;
  DType t = buffer_seen(s, from)->dtype;
  TaskStage st = {.name = buffer_seen(s, ahead ? from : to)->name, .place = b->st->place, .buffer = (int32_t)to, .n_at = n};
  EinSum *sum = NEW(s->arena, EinSum);
  const Expr **own = NEW_ARRAY(s->arena, const Expr *, n + 1), **other = NEW_ARRAY(s->arena, const Expr *, n + 1);
  st.bound = NEW_ARRAY(s->arena, const Expr *, n + 1), st.label = NEW_ARRAY(s->arena, Str, n + 1);
  st.slot = NEW_ARRAY(s->arena, TaskSlot, 1);
  st.slot[0] = (TaskSlot){false, from};
  for (uint32_t k = 0; k < n; k++) {
    uint32_t axis = ahead ? of[k] : k; /* of what is stored */
    st.bound[axis] = b->st->bound[at[k]->i], st.label[axis] = b->st->label[at[k]->i];
    own[axis] = expr_label(s->x, axis);
    other[ahead ? k : of[k]] = expr_label(s->x, axis);
  }
  *sum = (EinSum){.n_out = n, .n_slot = 1, .reducer = RED_NONE, .acc = t, .dtype = t, .body = expr_read(s->x, t, 0, n, other)};
  st.sum = sum, st.at = own;
  vec_push(s->arena, b->k->stages, st);
}

static const Expr *leaf_turned(void *env, Exprs *x, const Expr *leaf) {
  const Batch *b = env;
  (void)x;
  return leaf->kind == EX_READ && b->turned[leaf->i] ? b->read[leaf->i] : leaf;
}

/* The contraction itself, over copies. */
static void product_add(Batch *b) {
  Sched *s = b->s;
  TaskStage st = *b->st;
  EinSum *sum = arena_copy(s->arena, st.sum, sizeof *sum);
  uint32_t *of = NEW_ARRAY(s->arena, uint32_t, b->p.n_label + 1), to = 0;
  st.slot = arena_copy(s->arena, st.slot, sum->n_slot * sizeof *st.slot);
  for (uint32_t a = 0; a < sum->n_slot; a++) {
    const Expr *x = b->read[a];
    if (!b->turned[a]) continue;
    st.slot[a].index = copy_new(b, st.slot[a].index, x->n, x->arg, of);
    copy_add(b, st.slot[a].index, b->st->slot[a].index, x->n, x->arg, of, true);
    b->read[a] = expr_read(s->x, (DType)x->dtype, a, x->n, turned_at(b, x->n, x->arg, of));
  }
  sum->body = expr_map(s->x, sum->body, leaf_turned, b);
  st.sum = sum;
  if (b->result) {
    to = copy_new(b, (uint32_t)st.buffer, st.n_at, st.at, of);
    st.buffer = (int32_t)to, st.at = turned_at(b, st.n_at, st.at, of);
  }
  vec_push(s->arena, b->k->stages, st);
  if (b->result) copy_add(b, (uint32_t)b->st->buffer, to, st.n_at, b->st->at, of, false);
}

/* ---- all of it ------------------------------------------------------------------------------------------------------------ */

const Task *batch_task(Sched *s, const Task *k) {
  if (k->stages.len != 1 || !k->stages.at[0].sum->n_red) return k;
  Batch b = {.s = s, .st = &k->stages.at[0]};
  const EinSum *sum = b.st->sum;
  b.p = stage_plan(s, b.st);
  b.is = NEW_ARRAY(s->arena, bool, b.p.n_label + 1);
  b.read = NEW_ARRAY(s->arena, const Expr *, sum->n_slot + 1);
  b.turned = NEW_ARRAY(s->arena, bool, sum->n_slot + 1);
  expr_map(s->x, sum->body, leaf_note, (void *)b.read);
  if (!is_free(&b) || !batch_find(&b) || !turns_find(&b)) return k;
  b.k = arena_copy(s->arena, k, sizeof *k);
  b.k->n_outer = 0;
  b.k->stages.at = NULL, b.k->stages.len = b.k->stages.cap = 0;
  s->in_turn = true;
  product_add(&b);
  return b.k;
}
