/* task/sites/site_eval.c - evaluates tasks one after the other, at every site. */
#include "site_eval.h"

#include <string.h>

#include "algebra/eval/kernel.h"
#include "expr/prove/asked.h"
#include "site.h"
#include "task/text/text.h"

enum { RANK = 256 };

typedef struct Made {        /* a stage at a site */
  Kernel *kernel;
  const EinSum *sum;         /* over the site's numbers */
  int64_t *low, *high;       /* of its labels */
  const Expr **at;
} Made;

typedef struct Site {
  uint32_t at[MESH_AXES + 1];
  Block *buffer;             /* by id; data NULL: it is not alive */
  Block *kept;               /* likewise, while it is not alive: for reuse */
  int64_t live;
} Site;

typedef struct Going { const Task *move; void **data, **place; } Going; /* by site: what it brings, not yet visible */

typedef struct Run {
  SiteRun *out;
  const TaskGraph *t;
  Arena *arena, *scratch;
  int64_t sites;
  Site *site;
  Map made;                  /* by stage: a Made per site */
  uint32_t *writers;         /* by buffer: the number of stages that store to it */
  VEC(Going) going;          /* moves that go on */
  int64_t turn[TASK_DEPTH + 1];
  uint32_t depth;
  const char *why;
  Place place;
} Run;

static bool fail(Run *r, const Task *k, const char *fmt, ...) EIN_PRINTF(3, 4);
static bool fail(Run *r, const Task *k, const char *fmt, ...) {
  Buf b = buf_new(r->out->arena);
  if (r->why) return false;
  if (k) buf_printf(&b, "%s %u%s%s: ", task_word(k), k->step, k->name ? " " : "", k->name ? k->name->s : "");
  va_list ap;
  va_start(ap, fmt);
  buf_vprintf(&b, fmt, ap);
  va_end(ap);
  r->why = b.s;
  if (k) r->place = k->place;
  return false;
}

/* ---- buffers and their lives ------------------------------------------------------------------------------ */

static int64_t bytes_of(const Block *b) { return b->count * dtype_size(b->dtype); }

static bool too_large(Run *r, const TaskBuffer *b, const int64_t *shape) {
  double bytes = dtype_size(b->dtype), most = (double)r->out->max_elements * bytes;
  const char *name = b->name ? b->name->s : arena_printf(r->out->arena, "buffer %%%u", b->id);
  for (uint32_t d = 0; d < b->rank; d++) bytes *= (double)shape[d];
  return fail(r, NULL, "%s would take %.0f bytes at a site; the limit of the evaluator is %.0f", name, bytes, most);
}

/* Starts a buffer with all elements undefined. */
static bool buffer_start(Run *r, Site *s, const TaskBuffer *b) {
  int64_t low[RANK] = {0}, high[RANK], count;
  Block *x = &s->buffer[b->id], *kept = &s->kept[b->id];
  if (!task_has(r->t, b, s->at)) return true;
  if (x->data) s->live -= bytes_of(x);
  if (!x->data && kept->data) *x = *kept, kept->data = NULL;
  if (!x->data) {
    task_shape(r->t, b, s->at, high);
    if (!box_count(b->rank, low, high, r->out->max_elements, &count)) return too_large(r, b, high);
    *x = block_make(r->arena, b->dtype, false, b->rank, low, high);
    if (!x->data) x->data = arena_alloc(r->arena, 1);
    block_mask(r->arena, x);
  }
  memset(x->data, 0, (size_t)bytes_of(x));
  memset(x->has, HAS_NONE, (size_t)x->count);
  s->live += bytes_of(x);
  int64_t site = s - r->site;
  if (s->live > r->out->peak[site]) r->out->peak[site] = s->live;
  return true;
}

static bool step_start(Run *r, uint32_t step) {
  vec_each(const TaskBuffer, b, r->t->buffers) {
    for (int64_t s = 0; b->space == BUF_WORK && b->first == step && s < r->sites; s++)
      if (!buffer_start(r, &r->site[s], b)) return false;
  }
  return true;
}

static void hide(Run *r, uint32_t buffer, void **data) {
  for (int64_t s = 0; s < r->sites; s++)
    data[s] = r->site[s].buffer[buffer].data, r->site[s].buffer[buffer].data = NULL;
}

static void show(Run *r, uint32_t buffer, void *const *data) {
  for (int64_t s = 0; s < r->sites; s++) r->site[s].buffer[buffer].data = data[s];
}

/* A move in progress has no result yet. */
static void going_start(Run *r, const Task *k) {
  Going g = {k, NEW_ARRAY(r->arena, void *, r->sites + 1), NULL};
  if (task_moves_places(k)) g.place = NEW_ARRAY(r->arena, void *, r->sites + 1);
  hide(r, k->buffer, g.data);
  if (g.place) hide(r, k->place_to, g.place);
  vec_push(r->arena, r->going, g);
}

static void going_end(Run *r, uint32_t step) {
  uint32_t left = 0;
  vec_each(const Going, g, r->going) {
    if (g->move->end != step) {
      r->going.at[left++] = *g;
      continue;
    }
    show(r, g->move->buffer, g->data);
    if (g->place) show(r, g->move->place_to, g->place);
  }
  r->going.len = left;
}

/* Ends what began after `after`. */
static void step_end(Run *r, uint32_t step, int64_t after) {
  if (after < 0) going_end(r, step);
  for (uint32_t i = 0; i < r->t->buffers.len; i++) {
    const TaskBuffer *b = &r->t->buffers.at[i];
    for (int64_t s = 0; b->space == BUF_WORK && b->last == step && (int64_t)b->first > after && s < r->sites; s++) {
      Site *x = &r->site[s];
      if (!x->buffer[i].data) continue;
      x->live -= bytes_of(&x->buffer[i]);
      x->kept[i] = x->buffer[i];
      x->buffer[i].data = NULL;
    }
  }
}

/* ---- kernels -------------------------------------------------------------------------------------------------- */

static bool stage_make(Run *r, const Task *k, const Site *s, const TaskStage *st, Made *m) {
  EinSum *sum = arena_copy(r->arena, st->sum, sizeof *sum);
  uint32_t labels = sum->n_out + sum->n_red;
  const char *why = NULL;
  sum->body = task_here(r->t, sum->body, s->at);
  sum->where = task_here(r->t, sum->where, s->at);
  sum->domain = task_here(r->t, sum->domain, s->at);
  m->sum = sum;
  m->low = NEW_ARRAY(r->arena, int64_t, labels + 1);
  m->high = NEW_ARRAY(r->arena, int64_t, labels + 1);
  m->at = NEW_ARRAY(r->arena, const Expr *, st->n_at + 1);
  for (uint32_t l = 0; l < labels; l++) m->high[l] = task_at(r->t, st->bound[l], s->at);
  for (uint32_t d = 0; d < st->n_at; d++) m->at[d] = task_here(r->t, st->at[d], s->at);
  m->kernel = kernel_new(r->arena, sum, r->depth, &why);
  return m->kernel || fail(r, k, "%s", why);
}

static Made *stage_at(Run *r, const Task *k, int64_t site, const TaskStage *st) {
  Made *all = map_find(&r->made, st);
  if (!all) {
    all = NEW_ARRAY(r->arena, Made, r->sites);
    map_put(&r->made, (void *)(uintptr_t)st, all);
  }
  return all[site].kernel || stage_make(r, k, &r->site[site], st, &all[site]) ? &all[site] : NULL;
}

/* Where a part of a reduction on one site has no point, its place is -1 (split.c). */
static bool nothing_placed(Run *r, const Task *k, Block *b) {
  for (int64_t i = 0; b->has && i < b->count; i++) {
    if (b->has[i] != HAS_EMPTY) continue;
    if (r->t->mesh.n) return fail(r, k, "it has the place of nothing");
    b->has[i] = HAS_VALUE;
    ((int64_t *)b->place)[i] = -1;
  }
  return true;
}

/* Finishes the stage's result: places, or the accumulator rounded. */
static bool result_finish(Run *r, const Task *k, const EinSum *sum, Block *b) {
  if (b->place && !nothing_placed(r, k, b)) return false;
  if (b->place) {
    b->data = b->place;
    b->place = NULL;
    b->dtype = DT_I64;
  } else if (sum->dtype != sum->acc) {
    void *data = arena_alloc(r->scratch, arena_array_size((size_t)dtype_size(sum->dtype), (size_t)b->count + 1));
    for (int64_t i = 0; i < b->count; i++)
      if (block_has(b, i))
        element_store(data, sum->dtype, i, value_cast(element_load(b->data, b->dtype, i), sum->dtype));
    b->data = data;
    b->dtype = sum->dtype;
  }
  return true;
}

static bool fault(Run *r, const Task *k, const TaskStage *st, int64_t site, const KernelCall *c) {
  Buf b = buf_new(r->out->arena);
  const TaskSlot *slot = &st->slot[c->slot];
  if (!slot->kept && task_fetched(&r->t->tasks, slot->index))
    return fail(r, k, "at site %lld an index is out of range", (long long)site);
  buf_printf(&b, "site %lld reads %c%u[", (long long)site, slot->kept ? '&' : '%', slot->index);
  for (uint32_t d = 0; d < c->rank; d++) buf_printf(&b, "%s%lld", d ? ", " : "", (long long)c->index[d]);
  return fail(r, k, "%s], %s", b.s, c->dim == c->rank ? "which has no value" : "which is outside");
}

static int64_t offset_of(const Block *b, const int64_t *at) {
  int64_t k = 0;
  for (uint32_t d = 0; d < b->rank; d++) {
    if (at[d] < b->low[d] || at[d] >= b->high[d]) return -1;
    k = k * (b->high[d] - b->low[d]) + at[d] - b->low[d];
  }
  return k;
}

/* Stores the defined elements where the stage says; the rest of a buffer that this stage alone fills becomes
 * undefined. */
static bool result_store(Run *r, const Task *k, const TaskStage *st, const Made *m, Site *s, const Block *x) {
  Block *to = &s->buffer[st->buffer];
  int64_t label[RANK] = {0}, at[RANK];
  bool whole = st->n_at == st->sum->n_out && r->writers[st->buffer] == 1;
  if (!to->data) return fail(r, k, "%%%d is not alive", st->buffer);
  for (uint32_t d = 0; d < st->n_at; d++) whole &= st->at[d]->kind == EX_LABEL && st->at[d]->i == d;
  for (int64_t i = 0; i < x->count; i++) {
    ExprEnv env = {.label = label, .n_label = st->sum->n_out, .turn = r->turn, .n_turn = r->depth};
    Value v;
    for (uint32_t d = 0; d < st->n_at; d++) {
      if (!expr_value(m->at[d], &env, &v)) return fail(r, k, "where it is put is no number");
      at[d] = v.i;
    }
    int64_t p = offset_of(to, at);
    if (p < 0 && block_has(x, i)) return fail(r, k, "it stores outside of %%%d", st->buffer);
    if (p >= 0 && (whole || block_has(x, i)))
      to->has[p] = block_has(x, i) ? HAS_VALUE : x->has[i] == HAS_MISSED ? HAS_MISSED : HAS_NONE;
    if (block_has(x, i)) element_store(to->data, to->dtype, p, element_load(x->data, x->dtype, i));
    for (uint32_t l = st->sum->n_out; l-- > 0 && ++label[l] == x->high[l];) label[l] = 0;
  }
  return true;
}

/* A copy, possibly rounded, copies undefined elements too; NULL where the stage is more than a copy. */
static const Expr *copied(const EinSum *s) {
  const Expr *e = s->body;
  if (e->kind == EX_OP && e->op == OP_CAST) e = e->arg[0];
  return e->kind == EX_READ && !(e->n && e->arg[0]->has & HAS_READ) && s->n_slot == 1 && s->reducer == RED_NONE &&
          !s->domain
      ? e
      : NULL;
}

/* Copies the operand's defined elements; false: an index is out of range, or is where a fetch found nothing. */
static bool copy_run(Run *r, const EinSum *s, const Expr *read, const Block *from, Block *to) {
  int64_t label[RANK] = {0}, at[RANK];
  block_mask(r->scratch, to);
  for (int64_t i = 0; i < to->count; i++) {
    ExprEnv env = {.label = label, .n_label = s->n_out, .turn = r->turn, .n_turn = r->depth};
    Value v;
    for (uint32_t d = 0; d < read->n; d++) {
      if (!expr_value(read->arg[d], &env, &v)) return false;
      at[d] = v.i;
    }
    int64_t p = offset_of(from, at);
    if (p < 0 || (from->has && from->has[p] == HAS_MISSED)) return false;
    to->has[i] = block_has(from, p) ? HAS_VALUE : HAS_NONE;
    if (to->has[i])
      element_store(to->data, to->dtype, i, value_cast(element_load(from->data, from->dtype, p), to->dtype));
    for (uint32_t l = s->n_out; l-- > 0 && ++label[l] == to->high[l];) label[l] = 0;
  }
  return true;
}

static bool kernel_at(Run *r, const Task *k, int64_t site) {
  Site *s = &r->site[site];
  Block *made = NEW_ARRAY(r->scratch, Block, k->stages.len);
  if (!task_has(r->t, &r->t->buffers.at[vec_last(k->stages).buffer], s->at)) return true;
  for (uint32_t i = 0; i < k->stages.len; i++) {
    const TaskStage *st = &k->stages.at[i];
    const EinSum *sum = st->sum;
    Made *m = stage_at(r, k, site, st);
    const Block **operand = NEW_ARRAY(r->scratch, const Block *, sum->n_slot + 1);
    if (!m) return false;
    for (uint32_t j = 0; j < sum->n_slot; j++) {
      operand[j] = st->slot[j].kept ? &made[st->slot[j].index] : &s->buffer[st->slot[j].index];
      if (!operand[j]->data) operand[j] = NULL;
    }
    made[i] = block_make(r->scratch, sum->acc, reducer_is_arg(sum->reducer), sum->n_out, m->low, m->high);
    KernelCall c = {.low = m->low,
        .high = m->high,
        .whole = m->high + sum->n_out,
        .turn = r->turn,
        .operand = operand,
        .out = &made[i],
        .arena = r->scratch};
    const Expr *read = copied(m->sum);
    bool copy = read && operand[0];
    if (copy && !copy_run(r, m->sum, read, operand[0], &made[i]))
      return fail(r, k, "site %lld reads outside of what it copies, or what was fetched from where nothing is",
          (long long)site);
    if (!copy && !kernel_run(m->kernel, &c)) return fault(r, k, st, site, &c);
    if (!result_finish(r, k, sum, &made[i])) return false;
    if (!made[i].data) made[i].data = arena_alloc(r->scratch, 1);
  }
  for (uint32_t i = 0; i < k->stages.len; i++)
    if (k->stages.at[i].buffer >= 0 &&
        !result_store(r, k, &k->stages.at[i], stage_at(r, k, site, &k->stages.at[i]), s, &made[i]))
      return false;
  return true;
}

/* ---- moves ------------------------------------------------------------------------------------------------------- */

typedef struct Box { int64_t low[RANK], high[RANK]; } Box;

static void box_of(const Run *r, uint32_t buffer, const Site *s, Box *b) {
  task_box(r->t, &r->t->buffers.at[buffer], s->at, b->low, b->high);
}

/* The offset in p's box of place `at` of the destination; -1: it is outside. */
static int64_t offset_in(const Task *k, uint32_t rank, const Box *own, const int64_t *at) {
  int64_t i = 0;
  for (uint32_t d = 0; d < rank; d++) {
    int64_t wrap = k->wrap ? k->wrap[d] : 0, j = wrap ? floor_mod(at[d], wrap) : at[d];
    if (j < own->low[d] || j >= own->high[d]) return -1;
    i = i * (own->high[d] - own->low[d]) + j - own->low[d];
  }
  return i;
}

/* Copies what p has of the box to where x is empty; returns the number of elements. */
static int64_t take(const Run *r, const Task *k, const Site *p, const Box *box, Block *x, uint8_t *there) {
  const Block *from = &p->buffer[k->from], *place = task_moves_places(k) ? &p->buffer[k->place_from] : NULL;
  Box own;
  int64_t at[RANK], l[RANK], h[RANK], n = 0, most = 1;
  box_of(r, k->from, p, &own);
  for (uint32_t d = 0; d < x->rank; d++) {
    bool wraps = k->wrap && k->wrap[d];
    l[d] = own.low[d] > box->low[d] && !wraps ? own.low[d] : box->low[d];
    h[d] = own.high[d] < box->high[d] && !wraps ? own.high[d] : box->high[d];
    most = h[d] > l[d] ? most : 0;
    at[d] = l[d];
  }
  while (most) {
    int64_t to = 0, i = offset_in(k, x->rank, &own, at);
    for (uint32_t d = 0; d < x->rank; d++) to = to * (box->high[d] - box->low[d]) + at[d] - box->low[d];
    if (i >= 0 && !there[to]) {
      there[to] = 1;
      n++;
      x->has[to] = block_has(from, i) ? HAS_VALUE : HAS_NONE;
      if (block_has(from, i)) element_store(x->data, x->dtype, to, element_load(from->data, from->dtype, i));
      if (place) x->place[to] = element_load(place->data, DT_I64, i).i;
    }
    uint32_t d = x->rank;
    while (d > 0 && ++at[d - 1] == h[d - 1]) at[d - 1] = l[d - 1], d--;
    if (d == 0) break;
  }
  return n;
}

/* The part of the sites whose places along combined axes are p0's. False: nobody has one. */
static void part_find(
    Run *r, const Task *k, uint32_t combined, const Site *p0, const Site *q, const Box *box, Block *x) {
  uint8_t *there = NEW_ARRAY(r->scratch, uint8_t, x->count + 1);
  for (int64_t turn = -1; turn < r->sites; turn++) { /* itself first */
    const Site *p = turn < 0 ? q : &r->site[turn];
    bool asks = move_asks(r->t, k, p->at, q->at) && p->buffer[k->from].data;
    for (uint32_t a = 0; a < r->t->mesh.n; a++) asks &= !(combined >> a & 1) || p->at[a] == p0->at[a];
    if (!asks) continue;
    int64_t n = take(r, k, p, box, x, there);
    if (p != q) r->out->moved += (double)n * (dtype_size(x->dtype) + (x->place ? 8 : 0));
  }
}

/* The better of two parts of argmax, of equals the earlier place; a part without points loses. */
static void element_better(const Fold *f, Block *to, int64_t *place, const Block *x, int64_t i) {
  Value a = element_load(to->data, to->dtype, i), b = element_load(x->data, x->dtype, i);
  bool some = block_has(to, i) && place[i] != INT64_MAX;
  to->has[i] = HAS_VALUE;
  if (block_has(x, i) && x->place[i] == INT64_MAX && !some) place[i] = INT64_MAX;
  if (x->place[i] == INT64_MAX) return;
  if (some && !fold_beats(f, b, a) && (fold_beats(f, a, b) || place[i] <= x->place[i])) return;
  element_store(to->data, to->dtype, i, b);
  place[i] = x->place[i];
}

static bool places_finish(Run *r, const Task *k, const Block *to, Block *place) {
  memcpy(place->has, to->has, (size_t)to->count);
  for (int64_t i = 0; i < to->count; i++)
    if (block_has(to, i) && ((int64_t *)place->data)[i] == INT64_MAX) return fail(r, k, "it has the place of nothing");
  return true;
}

static bool move_at(Run *r, const Task *k, const Fold *f, Site *q) {
  Block *to = &q->buffer[k->buffer], *place = task_moves_places(k) ? &q->buffer[k->place_to] : NULL;
  Box box;
  uint32_t combined = move_combines(r->t, k);
  if (!task_has(r->t, &r->t->buffers.at[k->buffer], q->at)) return true;
  if (!to->data) return fail(r, k, "%%%u is not alive", k->buffer);
  box_of(r, k->buffer, q, &box);
  memset(to->has, HAS_NONE, (size_t)to->count);
  for (int64_t s = 0; s < r->sites; s++) {
    const Site *p0 = &r->site[s];
    bool first = true; /* from those with its places along combined axes */
    for (uint32_t a = 0; a < r->t->mesh.n; a++) first &= combined >> a & 1 || p0->at[a] == 0;
    if (!first) continue;
    Block x = block_make(r->scratch, to->dtype, place != NULL, to->rank, to->low, to->high);
    block_mask(r->scratch, &x);
    memset(x.has, HAS_NONE, (size_t)x.count);
    part_find(r, k, combined, p0, q, &box, &x);
    for (int64_t i = 0; i < x.count; i++) {
      if (!block_has(&x, i)) continue;
      if (place) {
        element_better(f, to, place->data, &x, i);
        continue;
      }
      Value v = element_load(x.data, x.dtype, i);
      if (block_has(to, i)) v = fold_pair(f, element_load(to->data, to->dtype, i), v);
      element_store(to->data, to->dtype, i, v);
      to->has[i] = HAS_VALUE;
    }
  }
  return !place || places_finish(r, k, to, place);
}

/* In an all-reduce a site does not receive all parts of all, but parts of its share, and then the other shares. */
static void shares_count(Run *r, const Task *k, double before) {
  if (k->move != MOVE_ALL_REDUCE) return;
  r->out->moved = before;
  for (int64_t s = 0; s < r->sites; s++) r->out->moved += move_received(r->t, k, r->site[s].at);
}

static bool move_run(Run *r, const Task *k) {
  Fold f = {0};
  double before = r->out->moved;
  if (k->reducer != RED_NONE) f = fold_of(r->scratch, k->reducer, k->monoid, r->t->buffers.at[k->from].dtype);
  for (int64_t s = 0; s < r->sites; s++)
    if (!move_at(r, k, &f, &r->site[s])) return false;
  shares_count(r, k, before);
  return true;
}

/* ---- fetches ----------------------------------------------------------------------------------------------------- */

typedef struct Table {
  Block whole;               /* all that sites have */
  uint32_t n;
  Box *box;                  /* the blocks, each once */
  Asked asked;
} Table;

static bool box_same(uint32_t rank, const Box *a, const Box *b) {
  for (uint32_t d = 0; d < rank; d++)
    if (a->low[d] != b->low[d] || a->high[d] != b->high[d]) return false;
  return true;
}

static bool table_lay(Run *r, const Task *k, Table *t) {
  const TaskBuffer *b = &r->t->buffers.at[task_table(k)];
  int64_t low[RANK] = {0}, high[RANK] = {0}, count;
  t->box = NEW_ARRAY(r->scratch, Box, r->sites);
  for (int64_t s = 0; s < r->sites; s++) {
    Box *x = &t->box[t->n];
    uint32_t i = 0;
    if (!r->site[s].buffer[b->id].data) continue;
    box_of(r, b->id, &r->site[s], x);
    for (uint32_t d = 0; d < b->rank; d++)
      if (x->high[d] > high[d]) high[d] = x->high[d];
    while (i < t->n && !box_same(b->rank, &t->box[i], x)) i++;
    if (i == t->n) t->n++;
  }
  if (!box_count(b->rank, low, high, r->out->max_elements, &count)) return fail(r, k, "its table is too large");
  t->whole = block_make(r->scratch, b->dtype, false, b->rank, low, high);
  t->whole.has = NEW_ARRAY(r->scratch, uint8_t, t->whole.count + 1);
  for (int64_t s = 0; s < r->sites; s++) {
    Block x = r->site[s].buffer[b->id];
    Box own;
    if (!x.data) continue;
    box_of(r, b->id, &r->site[s], &own);
    x.low = own.low, x.high = own.high;
    if (!block_paste(r->scratch, &t->whole, &x, NULL)) return fail(r, k, "its table begins before its first place");
  }
  return true;
}

static bool fetch_at(Run *r, const Task *k, int64_t site, const Table *t) {
  Site *s = &r->site[site];
  const TaskStage *st = &k->stages.at[0];
  const EinSum *sum = st->sum;
  uint32_t table = task_table(k);
  Made *m = stage_at(r, k, site, st);
  const Block **operand = NEW_ARRAY(r->scratch, const Block *, sum->n_slot + 1);
  Box own = {0};
  if (!task_has(r->t, &r->t->buffers.at[st->buffer], s->at)) return true;
  if (!m) return false;
  for (uint32_t j = 0; j < sum->n_slot; j++) {
    operand[j] = j + 1 == sum->n_slot ? &t->whole : &s->buffer[st->slot[j].index];
    if (!operand[j]->data && operand[j]->count) operand[j] = NULL;
  }
  Block out = block_make(r->scratch, sum->acc, false, sum->n_out, m->low, m->high);
  KernelCall c = {.low = m->low, .high = m->high, .turn = r->turn, .operand = operand, .out = &out, .arena = r->scratch,
      .gaps = true, .asked = NEW_ARRAY(r->scratch, uint8_t, t->whole.count + 1), .slot = sum->n_slot - 1};
  if (!kernel_run(m->kernel, &c)) return fault(r, k, st, site, &c);
  if (s->buffer[table].data) box_of(r, table, s, &own);
  for (uint32_t i = 0; i < t->n; i++)
    if (!s->buffer[table].data || !box_same(t->whole.rank, &t->box[i], &own))
      r->out->moved += block_asked(r->scratch, &t->whole, c.asked, t->box[i].low, t->box[i].high, t->asked.place);
  return result_store(r, k, st, m, s, &out);
}

static bool fetch_run(Run *r, const Task *k) {
  const Expr *read = k->stages.at[0].sum->body;
  Table t = {.n = 0};
  bool ok = table_lay(r, k, &t);
  asked_of(r->scratch, k->stages.at[0].sum->n_out, read->n, read->arg, &t.asked);
  for (int64_t s = 0; ok && s < r->sites; s++) ok = fetch_at(r, k, s, &t);
  return ok;
}

/* ---- tasks ------------------------------------------------------------------------------------------------------- */

/* A number that all sites know. */
static bool scalar_of(Run *r, const Task *k, uint32_t buffer, int64_t *out) {
  for (int64_t s = 0; s < r->sites; s++) {
    const Block *b = &r->site[s].buffer[buffer];
    if (!b->data || !block_has(b, 0)) return fail(r, k, "%%%u has no value at site %lld", buffer, (long long)s);
    int64_t v = element_load(b->data, b->dtype, 0).i;
    if (s && v != *out) return fail(r, k, "%%%u is not the same at all sites", buffer);
    *out = v;
  }
  return true;
}

static bool list_run(Run *r, const Tasks *list);

static bool repeat_run(Run *r, const Task *k) {
  int64_t most, stop = 0, turn = 0;
  if (!scalar_of(r, k, k->buffer, &most)) return false;
  step_end(r, k->step, -1);
  for (; turn < most && !stop; turn++) {
    r->turn[r->depth++] = turn;
    bool ok = list_run(r, &k->body);
    r->depth--;
    if (!ok || (k->stop >= 0 && !scalar_of(r, k, (uint32_t)k->stop, &stop))) return false;
    for (uint32_t i = 0; i < k->exchange.len; i++)
      for (int64_t s = 0; s < r->sites; s++) {
        Block *b = r->site[s].buffer, was = b[k->exchange.at[i].now];
        b[k->exchange.at[i].now] = b[k->exchange.at[i].next];
        b[k->exchange.at[i].next] = was;
      }
    step_end(r, k->end, k->step); /* of this turn */
  }
  if (!step_start(r, k->end)) return false;
  for (int64_t s = 0; k->turns >= 0 && s < r->sites; s++) {
    Block *b = &r->site[s].buffer[k->turns];
    element_store(b->data, DT_I64, 0, (Value){.dtype = DT_I64, .i = turn});
    b->has[0] = HAS_VALUE;
  }
  step_end(r, k->end, -1);
  return true;
}

static bool assert_run(Run *r, const Task *k) {
  for (int64_t s = 0; s < r->sites; s++) {
    const Block *b = &r->site[s].buffer[k->buffer];
    if (!task_has(r->t, &r->t->buffers.at[k->buffer], r->site[s].at)) continue;
    if (!b->data || !block_has(b, 0)) return fail(r, k, "it has no value");
    if (!element_load(b->data, b->dtype, 0).i) return fail(r, k, "it does not hold");
  }
  return true;
}

static const AlgArray *given(const Run *r, Str name) {
  for (uint32_t i = 0; i < r->out->n_input; i++)
    if (r->out->input[i].name == name) return &r->out->input[i].array;
  return NULL;
}

static bool is_given(const Run *r, uint32_t argument) { return given(r, r->t->inputs.at[argument].name); }

static bool default_run(Run *r, const Task *k) {
  for (int64_t s = 0; !is_given(r, k->argument) && s < r->sites; s++) {
    const Block *from = &r->site[s].buffer[k->buffer];
    Block *to = &r->site[s].buffer[r->t->inputs.at[k->argument].buffer];
    memcpy(to->data, from->data, (size_t)bytes_of(to));
    memcpy(to->has, from->has, (size_t)to->count);
  }
  return true;
}

static bool task_run(Run *r, const Task *k) {
  switch (k->kind) {
  case TASK_KERNEL:
    for (int64_t s = 0; s < r->sites; s++)
      if (!kernel_at(r, k, s)) return false;
    return true;
  case TASK_REPEAT: return repeat_run(r, k);
  case TASK_ZERO:
    for (int64_t s = 0; s < r->sites; s++) {
      Block *b = &r->site[s].buffer[k->buffer];
      if (!b->data) continue;
      memset(b->data, 0, (size_t)bytes_of(b));
      memset(b->has, HAS_VALUE, (size_t)b->count);
    }
    return true;
  case TASK_DEFAULT: return default_run(r, k);
  case TASK_ASSERT: return assert_run(r, k);
  case TASK_MOVE: return move_run(r, k);
  case TASK_FETCH: return fetch_run(r, k);
  }
  return true;
}

static bool list_run(Run *r, const Tasks *list) {
  vec_each_of(const Task, k, *list) {
    Arena *outer = r->scratch;
    if (k->unless >= 0 && is_given(r, (uint32_t)k->unless)) continue;
    r->scratch = arena_new();
    bool ok = step_start(r, k->step) && task_run(r, k);
    arena_free(r->scratch);
    r->scratch = outer;
    if (!ok) return false;
    if (k->kind == TASK_MOVE && k->end > k->step) going_start(r, k);
    if (k->kind != TASK_REPEAT) step_end(r, k->step, -1);
  }
  return true;
}

/* ---- inputs and outputs ------------------------------------------------------------------------------------------ */

static Block whole_of(Arena *a, const AlgArray *x) {
  int64_t low[RANK] = {0};
  Block b = block_make(a, x->dtype, false, x->rank, low, x->shape);
  b.data = x->data;
  b.has = x->has;
  return b;
}

static bool input_cut(Run *r, const TaskArgument *a, Site *s) {
  const TaskBuffer *b = &r->t->buffers.at[a->buffer];
  const AlgArray *x = given(r, a->name);
  Box box;
  if (!task_has(r->t, b, s->at)) return true;
  bool left = !x && a->optional && !r->t->mesh.n;
  if (!left && (!x || x->dtype != b->dtype || x->rank != b->rank))
    return fail(r, NULL, "%s is not given as it should be", a->name->s);
  if (!buffer_start(r, s, b)) return false;
  if (left) return true;
  box_of(r, b->id, s, &box);
  for (uint32_t d = 0; d < b->rank; d++)
    if (box.high[d] > x->shape[d]) return fail(r, NULL, "%s is smaller than it should be", a->name->s);
  Block whole = whole_of(r->scratch, x), cut = block_cut(r->scratch, &whole, box.low, box.high),
        *to = &s->buffer[b->id];
  for (int64_t i = 0; i < cut.count; i++) {
    to->has[i] = block_has(&cut, i) ? HAS_VALUE : HAS_NONE;
    if (block_has(&cut, i)) element_store(to->data, to->dtype, i, element_load(cut.data, cut.dtype, i));
  }
  return true;
}

/* Where several sites have an element, it must be the same. */
static bool block_gather(Run *r, const TaskArgument *a, Site *s, AlgArray *to, uint8_t *there) {
  const Block *b = &s->buffer[a->buffer];
  Box box;
  int64_t at[RANK], zero[RANK] = {0};
  if (!b->data) return true;
  Block whole = {.dtype = to->dtype, .rank = to->rank, .low = zero, .high = to->shape, .count = to->count};
  box_of(r, a->buffer, s, &box);
  memcpy(at, box.low, sizeof at);
  for (int64_t i = 0; i < b->count; i++) {
    int64_t p = offset_of(&whole, at);
    bool has = block_has(b, i);
    size_t size = (size_t)dtype_size(to->dtype);
    const char *mine = (const char *)b->data + (size_t)i * size;
    char *place = (char *)to->data + (size_t)p * size;
    if (there[p] && ((to->has[p] != 0) != has || (has && memcmp(place, mine, size) != 0)))
      return fail(r, NULL, "sites have different values of %s, element %lld", a->name->s, (long long)p);
    there[p] = 1;
    to->has[p] = has;
    if (has) memcpy(place, mine, size);
    for (uint32_t d = b->rank; d-- > 0 && ++at[d] == box.high[d];) at[d] = box.low[d];
  }
  return true;
}

static bool output_gather(Run *r, const TaskArgument *a, AlgArray *to) {
  const TaskBuffer *b = &r->t->buffers.at[a->buffer];
  bool all = true;
  *to = (AlgArray){
      .dtype = b->dtype, .rank = b->rank, .shape = NEW_ARRAY(r->out->arena, int64_t, b->rank + 1), .count = 1};
  task_whole(r->t, b, to->shape);
  for (uint32_t d = 0; d < b->rank; d++) to->count *= to->shape[d];
  to->data = arena_alloc(r->out->arena, arena_array_size((size_t)dtype_size(b->dtype), (size_t)to->count + 1));
  memset(to->data, 0, (size_t)(to->count * dtype_size(b->dtype)));
  to->has = NEW_ARRAY(r->out->arena, uint8_t, to->count + 1);
  uint8_t *there = NEW_ARRAY(r->scratch, uint8_t, to->count + 1);
  for (int64_t s = 0; s < r->sites; s++)
    if (!block_gather(r, a, &r->site[s], to, there)) return false;
  for (int64_t i = 0; i < to->count; i++) {
    if (!there[i]) return fail(r, NULL, "no site has element %lld of %s", (long long)i, a->name->s);
    all &= to->has[i] != 0;
  }
  if (all) to->has = NULL;
  return true;
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

static bool run(Run *r) {
  const TaskGraph *t = r->t;
  for (int64_t s = 0; s < r->sites; s++) {
    mesh_place(&t->mesh, s, r->site[s].at);
    r->site[s].buffer = NEW_ARRAY(r->arena, Block, t->buffers.len + 1);
    r->site[s].kept = NEW_ARRAY(r->arena, Block, t->buffers.len + 1);
    for (uint32_t i = 0; i < t->inputs.len; i++)
      if (!input_cut(r, &t->inputs.at[i], &r->site[s])) return false;
    for (uint32_t i = 0; i < t->outputs.len; i++)
      if (!buffer_start(r, &r->site[s], &t->buffers.at[t->outputs.at[i].buffer])) return false;
  }
  if (!list_run(r, &t->tasks)) return false;
  for (uint32_t i = 0; i < t->outputs.len; i++)
    if (!output_gather(r, &t->outputs.at[i], &r->out->output[i])) return false;
  return true;
}

static void writers_count(Run *r, const Tasks *list) {
  vec_each_of(const Task, k, *list) {
    for (uint32_t j = 0; j < k->stages.len; j++)
      if (k->stages.at[j].buffer >= 0) r->writers[k->stages.at[j].buffer]++;
    writers_count(r, &k->body);
  }
}

bool site_eval(SiteRun *out, const char **why, Place *place) {
  const TaskGraph *t = out->tasks;
  Run r = {.out = out, .t = t, .arena = arena_new(), .scratch = arena_new(), .sites = mesh_sites(&t->mesh)};
  if (!out->max_elements) out->max_elements = (int64_t)1 << 28;
  out->moved = 0;
  out->output = NEW_ARRAY(out->arena, AlgArray, t->outputs.len + 1);
  out->peak = NEW_ARRAY(out->arena, int64_t, r.sites + 1);
  r.site = NEW_ARRAY(r.arena, Site, r.sites + 1);
  r.made = map_new(r.arena);
  r.writers = NEW_ARRAY(r.arena, uint32_t, t->buffers.len + 1);
  writers_count(&r, &t->tasks);
  bool ok = run(&r);
  *why = r.why;
  *place = r.place;
  arena_free(r.scratch);
  arena_free(r.arena);
  return ok;
}
