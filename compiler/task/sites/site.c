/* task/sites/site.c - evaluates sizes and amounts at a site. Blocks do not overlap, so what a site receives is
 * counted by intersecting its box with those of others. */
#include "site.h"

#include <string.h>

#include "expr/prove/asked.h"
#include "expr/prove/prove.h"

enum { RANK = 256, SITES_MOST = 256 };

bool task_dim(void *at_site, Str name, int64_t *out) {
  const AtSite *x = at_site;
  for (uint32_t i = 0; i < x->t->dims.len; i++) {
    const Dim *d = &x->t->dims.at[i];
    if (d->name != name) continue;
    *out = i < x->t->mesh.n ? (int64_t)x->at[i] : d->value;
    return i < x->t->mesh.n || d->known;
  }
  return false;
}

int64_t task_at(const TaskGraph *t, const Expr *e, const uint32_t *at) {
  AtSite x = {t, at};
  ExprEnv env = {.dim = task_dim, .ctx = &x};
  Value v;
  if (e->kind == EX_INT) return e->i;
  BUG_UNLESS(expr_value(e, &env, &v));
  return v.i;
}

static const Expr *leaf_at(void *env, Exprs *x, const Expr *leaf) {
  const AtSite *a = env;
  return leaf->kind == EX_DIM ? expr_int(x, DT_I64, task_at(a->t, leaf, a->at)) : leaf;
}

const Expr *task_here(const TaskGraph *t, const Expr *e, const uint32_t *at) {
  AtSite x = {t, at};
  return e ? expr_map(t->exprs, e, leaf_at, &x) : NULL;
}

bool task_has(const TaskGraph *t, const TaskBuffer *b, const uint32_t *at) {
  return !b->when || task_at(t, b->when, at) != 0;
}

int64_t task_shape(const TaskGraph *t, const TaskBuffer *b, const uint32_t *at, int64_t *shape) {
  int64_t n = task_has(t, b, at);
  for (uint32_t d = 0; d < b->rank; d++) {
    shape[d] = task_at(t, b->dim[d], at);
    if (shape[d] < 0) shape[d] = 0;
    if (!mul_ok(n, shape[d], &n)) n = INT64_MAX;
  }
  return n;
}

int64_t task_bytes(const TaskGraph *t, const TaskBuffer *b, const uint32_t *at) {
  int64_t shape[RANK];
  return (b->rank ? task_shape(t, b, at, shape) : 1) * dtype_size(b->dtype);
}

int64_t task_box(const TaskGraph *t, const TaskBuffer *b, const uint32_t *at, int64_t *low, int64_t *high) {
  int64_t n = task_shape(t, b, at, high);
  for (uint32_t d = 0; d < b->rank; d++) {
    low[d] = b->low ? task_at(t, b->low[d], at) : 0;
    high[d] = (int64_t)((uint64_t)high[d] + (uint64_t)low[d]); /* a text may say anything */
  }
  return n;
}

void task_input_add(TaskGraph *t, Str name, DType dtype, uint32_t rank, const Expr **dim, Place place) {
  const Expr *zero = expr_int(t->exprs, DT_I64, 0);
  TaskBuffer b = {.id = t->buffers.len,
      .space = BUF_INPUT,
      .name = name,
      .place = place,
      .dtype = dtype,
      .rank = rank,
      .dim = dim,
      .low = NEW_ARRAY(t->arena, const Expr *, rank + 1),
      .argument = t->inputs.len};
  for (uint32_t d = 0; d < rank; d++) b.low[d] = zero;
  for (uint32_t a = 0; a < t->mesh.n; a++)
    b.when = expr_and(t->exprs, b.when, expr_op2(t->exprs, OP_EQ, expr_dim(t->exprs, task_axis(t, a)), zero));
  vec_push(t->arena, t->buffers, b);
  vec_push(t->arena, t->inputs, ((TaskArgument){name, b.id, false, false}));
}

void task_whole(const TaskGraph *t, const TaskBuffer *b, int64_t *extent) {
  int64_t low[RANK], high[RANK], sites = mesh_sites(&t->mesh);
  uint32_t at[MESH_AXES + 1] = {0};
  for (uint32_t d = 0; d < b->rank; d++) extent[d] = 0;
  for (int64_t s = 0; s < sites; s++) {
    mesh_place(&t->mesh, s, at);
    if (!task_has(t, b, at)) continue;
    task_box(t, b, at, low, high);
    for (uint32_t d = 0; d < b->rank; d++)
      if (high[d] > extent[d]) extent[d] = high[d];
  }
}

/* ---- moves ------------------------------------------------------------------------------------------------ */

bool move_hinders(const TaskGraph *t, const Task *m, const Task *k) {
  if (task_touches(t, k, m->buffer) || task_writes(t, k, m->from)) return true;
  return task_moves_places(m) && (task_touches(t, k, m->place_to) || task_writes(t, k, m->place_from));
}

static bool combines(const Task *k, uint32_t a) { return k->of.on[a] == PLACE_PART && k->to.on[a] != PLACE_PART; }

uint32_t move_combines(const TaskGraph *t, const Task *k) {
  uint32_t axes = 0;
  for (uint32_t a = 0; a < t->mesh.n; a++) axes |= combines(k, a) ? 1u << a : 0;
  return axes;
}

/* The axes that it spans: bit a for axis a. */
static uint32_t move_axes(const TaskGraph *t, const Task *k) {
  uint32_t axes = 0;
  for (uint32_t a = 0; a < t->mesh.n; a++)
    if (k->of.on[a] != k->to.on[a] && k->of.on[a] != PLACE_ALL && t->mesh.size[a] > 1) axes |= 1u << a;
  return axes;
}

bool move_shares(const TaskGraph *t, const Task *k) {
  const TaskBuffer *from = &t->buffers.at[k->from];
  uint32_t axes = move_axes(t, k), at[MESH_AXES + 1] = {0};
  int64_t shape[RANK];
  double sites = 1;
  if (k->move != MOVE_BROADCAST || k->wrap) return k->move == MOVE_ALL_REDUCE;
  for (uint32_t a = 0; a < t->mesh.n; a++) sites *= axes >> a & 1 ? t->mesh.size[a] : 1;
  double bytes = (double)task_shape(t, from, at, shape) * dtype_size(from->dtype);
  return move_gives_shares(bytes, sites);
}

uint32_t move_share_axes(const TaskGraph *t, const Task *k) {
  uint32_t axes = move_combines(t, k);
  for (uint32_t a = 0; a < t->mesh.n && move_shares(t, k); a++)
    axes |= k->of.on[a] == PLACE_SOME && k->to.on[a] == PLACE_ALL ? 1u << a : 0;
  return axes;
}

bool move_asks(const TaskGraph *t, const Task *k, const uint32_t *p, const uint32_t *q) {
  for (uint32_t a = 0; a < t->mesh.n; a++) {
    bool own = k->of.on[a] == PLACE_ALL || (k->of.on[a] == PLACE_PART && !combines(k, a));
    if (own && p[a] != q[a]) return false;
  }
  return task_has(t, &t->buffers.at[k->from], p);
}

static double shared(const TaskGraph *t, const Task *k, const uint32_t *p, const int64_t *low, const int64_t *high) {
  const TaskBuffer *b = &t->buffers.at[k->from];
  int64_t l[RANK], h[RANK];
  double n = 1;
  task_box(t, b, p, l, h);
  for (uint32_t d = 0; d < b->rank; d++)
    n *= (double)wrap_shared(low[d], high[d], k->wrap ? k->wrap[d] : 0, l[d], h[d]);
  return n;
}

/* The elements that the site receives from the others that it asks; `within`: from its group alone. */
static double received(const TaskGraph *t, const Task *k, const uint32_t *q, uint32_t axes) {
  int64_t low[RANK], high[RANK], sites = mesh_sites(&t->mesh);
  uint32_t p[MESH_AXES + 1];
  double n = 0;
  if (!task_has(t, &t->buffers.at[k->buffer], q)) return 0;
  task_box(t, &t->buffers.at[k->buffer], q, low, high);
  for (int64_t s = 0; s < sites; s++) {
    bool same = true, group = true;
    mesh_place(&t->mesh, s, p);
    for (uint32_t a = 0; a < t->mesh.n; a++) {
      same &= p[a] == q[a];
      group &= p[a] == q[a] || axes >> a & 1;
    }
    if (!same && group && move_asks(t, k, p, q)) n += shared(t, k, p, low, high);
  }
  return n;
}

/* ---- kinds ---------------------------------------------------------------------------------------------------- */

static TaskMove kind_along(int8_t of, int8_t to) {
  if (of == PLACE_PART)
    return to == PLACE_ALL ? MOVE_ALL_REDUCE
        : to >= 0          ? MOVE_REDUCE_SCATTER
        : to == PLACE_SOME ? MOVE_REDUCE
                           : MOVE_EXCHANGE;
  if (of == PLACE_SOME) return to == PLACE_ALL ? MOVE_BROADCAST : to >= 0 ? MOVE_SCATTER : MOVE_EXCHANGE;
  if (of >= 0)
    return to == PLACE_ALL ? MOVE_ALL_GATHER
        : to >= 0          ? MOVE_ALL_TO_ALL
        : to == PLACE_SOME ? MOVE_GATHER
                           : MOVE_EXCHANGE;
  return MOVE_EXCHANGE;
}

static bool in_group(const TaskGraph *t, uint32_t axes, const uint32_t *p, const uint32_t *q) {
  bool in = true;
  for (uint32_t a = 0; a < t->mesh.n; a++) in &= p[a] == q[a] || axes >> a & 1;
  return in;
}

/* What the site at q wants from sites outside its group. low, high: the moved boxes, by site. */
static bool wants_outside(
    const TaskGraph *t, const Task *k, uint32_t axes, const uint32_t *q, const int64_t *low, const int64_t *high) {
  const TaskBuffer *to = &t->buffers.at[k->buffer];
  int64_t l[RANK], h[RANK], sites = mesh_sites(&t->mesh);
  uint32_t p[MESH_AXES + 1];
  if (!task_has(t, to, q)) return false;
  task_box(t, to, q, l, h);
  for (int64_t s = 0; s < sites; s++) {
    bool some = true;
    mesh_place(&t->mesh, s, p);
    for (uint32_t d = 0; some && d < to->rank; d++)
      some = wrap_shared(l[d], h[d], k->wrap ? k->wrap[d] : 0, low[s * to->rank + d], high[s * to->rank + d]) > 0;
    if (some && !in_group(t, axes, p, q) && move_asks(t, k, p, q)) return true;
  }
  return false;
}

/* Whether a site receives everything from its group. */
static bool stays_in_groups(const TaskGraph *t, const Task *k, uint32_t axes) {
  const TaskBuffer *from = &t->buffers.at[k->from];
  uint32_t q[MESH_AXES + 1];
  int64_t sites = mesh_sites(&t->mesh);
  bool stays = true;
  if (sites > SITES_MOST) return true;
  Arena *a = arena_new();
  int64_t *low = NEW_ARRAY(a, int64_t, (size_t)sites * from->rank + 1),
          *high = NEW_ARRAY(a, int64_t, (size_t)sites * from->rank + 1);
  for (int64_t s = 0; s < sites; s++) {
    mesh_place(&t->mesh, s, q);
    task_box(t, from, q, low + s * from->rank, high + s * from->rank);
  }
  for (int64_t s = 0; stays && s < sites; s++) {
    mesh_place(&t->mesh, s, q);
    stays = !wants_outside(t, k, axes, q, low, high);
  }
  arena_free(a);
  return stays;
}

TaskMove move_kind(const TaskGraph *t, const Task *k) {
  TaskMove kind = TASK_MOVES;
  uint32_t axes = move_axes(t, k);
  for (uint32_t a = 0; a < t->mesh.n; a++) {
    if (!(axes >> a & 1)) continue;
    TaskMove here = kind_along(k->of.on[a], k->to.on[a]);
    if (kind != TASK_MOVES && here != kind) return MOVE_EXCHANGE;
    kind = here;
  }
  for (uint32_t a = 0; a < t->mesh.n; a++) /* other cuts must stay the same, which the boxes below show */
    if (!(axes >> a & 1) && k->of.on[a] == PLACE_ALL && k->to.on[a] == PLACE_PART) return MOVE_EXCHANGE;
  return kind != TASK_MOVES && stays_in_groups(t, k, axes) ? kind : MOVE_EXCHANGE;
}

/* ---- amounts ---------------------------------------------------------------------------------------------------- */

/* The site's number in its group, and the group's size. */
static int64_t place_in_group(const TaskGraph *t, uint32_t axes, const uint32_t *q, int64_t *count) {
  int64_t n = 0;
  *count = 1;
  for (uint32_t a = 0; a < t->mesh.n; a++)
    if (axes >> a & 1) n = n * t->mesh.size[a] + q[a], *count *= t->mesh.size[a];
  return n;
}

int box_cut_along(uint32_t rank, const int64_t *low, const int64_t *high, int64_t n) {
  int longest = -1;
  for (uint32_t d = 0; d < rank; d++) {
    if (high[d] - low[d] >= n) return (int)d;
    if (longest < 0 || high[d] - low[d] > high[longest] - low[longest]) longest = (int)d;
  }
  return longest;
}

bool box_slice(uint32_t rank, int64_t *low, int64_t *high, int64_t i, int64_t n) {
  int d = box_cut_along(rank, low, high, n);
  if (d < 0) return i == 0;
  int64_t length = high[d] - low[d], first = low[d];
  low[d] = first + length / n * i + length % n * i / n;
  high[d] = first + length / n * (i + 1) + length % n * (i + 1) / n;
  return low[d] < high[d];
}

/* The elements in the share of place i of n. */
static int64_t share_count(const TaskGraph *t, const TaskBuffer *b, const uint32_t *q, int64_t i, int64_t n) {
  int64_t low[RANK], high[RANK], count = task_box(t, b, q, low, high) > 0 || !b->rank;
  count = count && box_slice(b->rank, low, high, i, n);
  for (uint32_t d = 0; d < b->rank; d++) count *= high[d] - low[d];
  return count;
}

double move_received(const TaskGraph *t, const Task *k, const uint32_t *q) {
  const TaskBuffer *to = &t->buffers.at[k->buffer];
  double size = dtype_size(to->dtype) + (task_moves_places(k) ? dtype_size(DT_I64) : 0);
  int64_t shape[RANK], p;
  if (k->move != MOVE_ALL_REDUCE) return size * received(t, k, q, ~0u);
  int64_t n = task_shape(t, to, q, shape), i = place_in_group(t, move_axes(t, k), q, &p),
          share = share_count(t, to, q, i, p);
  return size * ((double)share * (double)(p - 1) + (double)(n - share));
}

double move_between(const TaskGraph *t, const Task *k, const uint32_t *p, const uint32_t *q) {
  const TaskBuffer *to = &t->buffers.at[k->buffer];
  double size = dtype_size(to->dtype) + (task_moves_places(k) ? dtype_size(DT_I64) : 0);
  int64_t low[RANK], high[RANK];
  bool here = true;
  for (uint32_t a = 0; a < t->mesh.n; a++) here &= p[a] == q[a];
  if (here || !task_has(t, to, q) || !move_asks(t, k, p, q)) return 0;
  task_box(t, to, q, low, high);
  return size * shared(t, k, p, low, high);
}

/* Lists the distinct boxes of a buffer; here: whether the site at q has it. Returns their number. */
static uint32_t boxes_find(
    const TaskGraph *t, const TaskBuffer *b, const uint32_t *q, int64_t *low, int64_t *high, bool *here) {
  uint32_t n = 0, p[MESH_AXES + 1];
  for (int64_t s = 0; s < mesh_sites(&t->mesh); s++) {
    uint32_t i = 0;
    bool same = true;
    mesh_place(&t->mesh, s, p);
    for (uint32_t a = 0; a < t->mesh.n; a++) same &= p[a] == q[a];
    int64_t *l = low + (size_t)n * b->rank, *h = high + (size_t)n * b->rank;
    if (!task_has(t, b, p) || (!task_box(t, b, p, l, h) && b->rank)) continue;
    for (size_t size = b->rank * sizeof *low; i < n; i++)
      if (memcmp(low + (size_t)i * b->rank, l, size) == 0 && memcmp(high + (size_t)i * b->rank, h, size) == 0) break;
    here[i] = same || (i < n && here[i]);
    if (i == n) n++;
  }
  return n;
}

/* The stage that stores index `which` of each place; -1: the only index. NULL: none, or not by plain labels. */
static const TaskStage *index_stage(const TaskGraph *t, const Tasks *list, uint32_t buffer, int64_t which) {
  const TaskStage *found = NULL;
  for (uint32_t i = 0; !found && i < list->len; i++) {
    const Task *k = list->at[i];
    if (k->kind == TASK_REPEAT) found = index_stage(t, &k->body, buffer, which);
    for (uint32_t j = 0; !found && j < k->stages.len; j++) {
      const TaskStage *s = &k->stages.at[j];
      const Expr *last = s->n_at ? s->at[s->n_at - 1] : NULL;
      if (s->buffer == (int32_t)buffer && (which < 0 || (last->kind == EX_INT && last->i == which))) found = s;
    }
  }
  return found;
}

/* An index that a fetch reads, as its producer computed it from labels alone: this bounds the number of places. */
static const Expr *index_made(const TaskGraph *t, const Task *k, const Expr *read) {
  if (read->kind != EX_READ) return read;
  uint32_t buffer = k->stages.at[0].slot[read->i].index;
  bool several = read->n && read->arg[read->n - 1]->kind == EX_INT;
  const TaskStage *s = index_stage(t, &t->tasks, buffer, several ? read->arg[read->n - 1]->i : -1);
  if (!s || s->sum->body->has & HAS_READ || s->sum->n_red) return read;
  const Expr **to = NEW_ARRAY(t->arena, const Expr *, s->sum->n_out + 1);
  for (uint32_t d = 0; d + several < s->n_at; d++)
    if (s->at[d]->kind == EX_LABEL) to[s->at[d]->i] = read->arg[d];
  for (uint32_t l = 0; l < s->sum->n_out; l++)
    if (!to[l]) return read;
  return expr_relabel(t->exprs, s->sum->body, s->sum->n_out, to);
}

double fetch_received(const TaskGraph *t, const Task *k, const uint32_t *q) {
  const TaskStage *s = &k->stages.at[0];
  const TaskBuffer *b = &t->buffers.at[task_table(k)];
  const Expr *read = s->sum->body;
  uint32_t labels = s->sum->n_out;
  size_t sites = (size_t)mesh_sites(&t->mesh);
  if (!task_has(t, &t->buffers.at[s->buffer], q)) return 0;
  Arena *a = arena_new();
  int64_t *low = NEW_ARRAY(a, int64_t, labels + 1), *high = NEW_ARRAY(a, int64_t, labels + 1);
  int64_t *from = NEW_ARRAY(a, int64_t, sites * b->rank + 1), *to = NEW_ARRAY(a, int64_t, sites * b->rank + 1);
  bool *here = NEW_ARRAY(a, bool, sites + 1);
  const Expr **index = NEW_ARRAY(a, const Expr *, read->n + 1);
  Asked asked;
  asked_of(a, labels, read->n, read->arg, &asked);
  for (uint32_t d = 0; d < read->n; d++)
    index[d] = expr_normal(t->exprs, task_here(t, index_made(t, k, read->arg[d]), q));
  asked.index = index;
  for (uint32_t l = 0; l < labels; l++) high[l] = task_at(t, s->bound[l], q);
  uint32_t n = boxes_find(t, b, q, from, to, here);
  AskedTable table = asked_table(a, &asked, n, from, to);
  double bytes = asked_most(a, &asked, &table, low, high, here, dtype_size(b->dtype));
  arena_free(a);
  return bytes;
}
