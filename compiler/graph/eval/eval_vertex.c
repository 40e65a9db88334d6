/* graph/eval/eval_vertex.c - evaluates one vertex: visits its points in row-major order, and at each computes the
 * scalar expression, or the reduction over the reduced labels, also row-major.
 *
 * Float reductions are pairwise: partial k covers 2^k consecutive points, so the tree depends only on the number of
 * points. The identity is combined with the first point; integers are combined one by one. */
#include <math.h>
#include <string.h>

#include "eval_inside.h"

struct Vertex {
  const EinNode *node;
  const EinSum *sum;
  Code *domain, *where, *body, *combine; /* NULL: not there */
  uint32_t param;            /* register of a monoid's first argument */
  uint32_t n_turn;
  int64_t *extent;           /* of each label */
  Cell identity;
  uint64_t *shake;           /* the run's seed */
  Tensor *tensor;
  Frame frame;
};

/* A reduction in progress. */
typedef struct Gather {
  Cell partial[64];
  uint64_t n;                /* points so far; its bits say which partials are in use */
  int64_t at, best;          /* argmax: position of the current point, and of the best */
} Gather;

/* ---- setting up ------------------------------------------------------------------------------ */

static uint32_t turns_around(const EinNode *n) {
  uint32_t depth = 0;
  for (const EinRegion *g = n->region; g && g->parent; g = g->parent)
    if (g->depth + 1 > depth) depth = g->depth + 1;
  return depth;
}

static Cell identity_of(Reducer red, DType acc) {
  const char *text = reducer_info[red].identity;
  if (text && strstr(text, "inf")) return cell_extreme(acc, *text != '-');
  return cell_cast((Cell){.i = text && (*text == '1' || *text == 't')}, DT_I64, acc);
}

static void vertex_codes(Vertex *v, Builder *b) {
  const EinSum *s = v->sum;
  if (s->domain) v->domain = code_new(b, s->domain, DT_BOOL);
  if (s->where) v->where = code_new(b, s->where, DT_BOOL);
  v->body = code_new(b, s->body, s->acc);
  v->identity = identity_of(s->reducer, s->acc);
  if (s->reducer != RED_MONOID) return;
  BUG_UNLESS(s->monoid && s->monoid->dtype == s->acc);
  v->param = builder_param(b, 0);
  v->combine = code_new(b, s->monoid->combine, s->acc);
  Code *identity = code_new(b, s->monoid->identity, s->acc);
  Frame f = {.reg = b->reg.at};
  code_run(identity, &f);
  v->identity = f.reg[identity->result];
}

static bool vertex_extents(Run *r, Vertex *v) {
  const EinNode *n = v->node;
  uint32_t count = v->sum->n_out + v->sum->n_red;
  v->extent = NEW_ARRAY(r->arena, int64_t, count + 1);
  for (uint32_t k = 0; k < count; k++) {
    Cell x;
    const char *what = arena_printf(r->arena, "the size of label %s of %s", n->label[k]->s, node_name(r, n));
    if (!size_value(r, n->bound[k], n->place, what, &x)) return false;
    if (x.i < 0) return eval_fail(r, EVAL_SHAPE, n->place, "%s is %lld, less than 0", what, (long long)x.i);
    v->extent[k] = x.i;
  }
  return true;
}

/* Checks that the labels make the node's shape. */
static bool vertex_merges(Run *r, const Vertex *v) {
  const EinNode *n = v->node;
  const int64_t *shape = held_of(r, n)->array.shape;
  uint32_t k = 0;
  for (uint32_t d = 0; d < n->rank; d++) {
    int64_t made = 1;
    bool fits = true;
    for (uint32_t end = k + (n->merge ? n->merge[d] : 1); k < end; k++)
      fits = fits && k < v->sum->n_out && mul_ok(made, v->extent[k], &made);
    if (fits && made == shape[d]) continue;
    return eval_fail(r, EVAL_SHAPE, n->place, "dimension %u of %s has size %lld, its labels make %lld", d + 1,
                     node_name(r, n), (long long)shape[d], (long long)made);
  }
  BUG_UNLESS(k == v->sum->n_out);
  return true;
}

static Vertex *vertex_new(Run *r, const EinNode *n) {
  Vertex *v = NEW(r->arena, Vertex);
  Builder b;
  v->node = n;
  v->sum = n->sum;
  v->shake = &r->shake;
  v->n_turn = turns_around(n);
  builder_start(&b, r, n, n->sum->n_out + n->sum->n_red, v->n_turn);
  if (!vertex_extents(r, v) || !vertex_merges(r, v)) return NULL;
  vertex_codes(v, &b);
  v->tensor = NEW_ARRAY(r->arena, Tensor, n->sum->n_slot + 1);
  v->frame = (Frame){.reg = b.reg.at, .tensor = v->tensor};
  return b.failed ? NULL : v;
}

/* Binds the current operand buffers and turn counters. */
static void vertex_bind(Run *r, Vertex *v) {
  for (uint32_t s = 0; s < v->sum->n_slot; s++) {
    const EvalArray *a = &held_of(r, v->node->input[s])->array;
    BUG_UNLESS(a->data);
    v->tensor[s] = (Tensor){a->data, a->has, a->shape};
  }
  uint32_t n_label = v->sum->n_out + v->sum->n_red;
  for (uint32_t d = 0; d < v->n_turn; d++) v->frame.reg[n_label + d].i = r->turn[d];
  for (uint32_t k = 0; k < n_label; k++) v->frame.reg[k].i = 0;
}

/* ---- complaints ------------------------------------------------------------------------------ */

static const char *point_text(Run *r, const Vertex *v, uint32_t n) {
  Buf b = buf_new(r->arena);
  for (uint32_t k = 0; k < n; k++)
    buf_printf(&b, "%s%s = %lld", k ? ", " : ", at ", v->node->label[k]->s, (long long)v->frame.reg[k].i);
  return b.s;
}

/* Reports a failed read; n labels are set. */
static bool read_fail(Run *r, const Vertex *v, const Code *c, uint32_t n) {
  const Inst *in = v->frame.fault;
  const EinNode *from = v->node->input[in->a];
  int64_t *index = NEW_ARRAY(r->arena, int64_t, in->c + 1);
  for (uint32_t d = 0; d < in->c; d++) index[d] = v->frame.reg[c->extra[in->b + d]].i;
  const char *what = shape_text(r, in->c, index), *point = point_text(r, v, n);
  uint32_t d = v->frame.dim;
  if (d == in->c)
    return eval_fail(r, EVAL_RANGE, v->node->place, "%s reads %s%s, which has no value%s", node_name(r, v->node),
                     node_name(r, from), what, point);
  return eval_fail(r, EVAL_RANGE, v->node->place,
                   "%s reads %s%s: index %lld is outside dimension %u, whose size is %lld%s", node_name(r, v->node),
                   node_name(r, from), what, (long long)index[d], d + 1, (long long)v->tensor[in->a].shape[d], point);
}

/* ---- reducing -------------------------------------------------------------------------------- */

/* What a reducer that has no arithmetic here combines by: its operation, as constants are computed. */
static Value combine_value(Reducer red, DType t, Value a, Value b) {
  Op op = reducer_info[red].combine;
  if (op == OPS) bug("eval: %s has no operation", reducer_info[red].name);
  a.dtype = b.dtype = t;
  return op_value(op, t, 2, (Value[]){a, b});
}

static double combine_d(Reducer red, double a, double b) {
  switch (red) {
  case RED_SUM: return a + b;
  case RED_PROD: return a * b;
  case RED_MAX: return max_d(a, b);
  case RED_MIN: return min_d(a, b);
  case RED_FMAX: return fmax(a, b);
  case RED_FMIN: return fmin(a, b);
  case RED_LSE: return lse_d(a, b);
  default: return combine_value(red, DT_F64, (Value){.f = a}, (Value){.f = b}).f;
  }
}

static float combine_s(Reducer red, float a, float b) {
  switch (red) {
  case RED_SUM: return a + b;
  case RED_PROD: return a * b;
  case RED_MAX: return max_s(a, b);
  case RED_MIN: return min_s(a, b);
  case RED_FMAX: return fmaxf(a, b);
  case RED_FMIN: return fminf(a, b);
  case RED_LSE: return lse_s(a, b);
  default: return (float)combine_value(red, DT_F32, (Value){.f = a}, (Value){.f = b}).f;
  }
}

static int64_t combine_i(Reducer red, int64_t a, int64_t b) {
  switch (red) {
  case RED_SUM: return (int64_t)((uint64_t)a + (uint64_t)b);
  case RED_PROD: return (int64_t)((uint64_t)a * (uint64_t)b);
  case RED_MAX: case RED_FMAX: return a > b ? a : b;
  case RED_MIN: case RED_FMIN: return a < b ? a : b;
  case RED_ANY: return a | b;
  case RED_ALL: return a & b;
  default: return combine_value(red, DT_I64, (Value){.i = a}, (Value){.i = b}).i;
  }
}

static Cell combine_monoid(Vertex *v, Cell a, Cell b) {
  v->frame.reg[v->param] = a;
  v->frame.reg[v->param + 1] = b;
  code_run(v->combine, &v->frame);
  return v->frame.reg[v->combine->result];
}

static Cell combine(Vertex *v, Cell a, Cell b) {
  DType t = v->sum->acc;
  Cell x;
  if (v->combine) return combine_monoid(v, a, b);
  switch (class_of(t)) {
  case CL_D: x.f = combine_d(v->sum->reducer, a.f, b.f); break;
  case CL_S: x.s = real_narrow(t, combine_s(v->sum->reducer, a.s, b.s)); break;
  default: return (Cell){.i = int_wrap(t, combine_i(v->sum->reducer, a.i, b.i))};
  }
  return *v->shake && !(reducer_info[v->sum->reducer].laws & LAW_IDEMPOTENT) ? cell_shake(t, x, v->shake) : x;
}

/* Whether x beats the best so far: the first NaN wins over everything else, and the first of equals wins. */
static bool beats(const EinSum *s, Cell x, Cell best) {
  bool most = s->reducer == RED_ARGMAX;
  switch (class_of(s->acc)) {
  case CL_D: return !isnan(best.f) && (isnan(x.f) || (most ? x.f > best.f : x.f < best.f));
  case CL_S: return !isnan(best.s) && (isnan(x.s) || (most ? x.s > best.s : x.s < best.s));
  default: return most ? x.i > best.i : x.i < best.i;
  }
}

static void gather_add(Vertex *v, Gather *g, Cell x) {
  uint64_t n = g->n++;
  if (red_is_arg(v->sum)) {
    if (n && !beats(v->sum, x, g->partial[0])) return;
    g->partial[0] = x;
    g->best = g->at;
  } else if (class_of(v->sum->acc) == CL_I) {
    g->partial[0] = combine(v, n ? g->partial[0] : v->identity, x);
  } else {
    if (!n) x = combine(v, v->identity, x);
    uint32_t k = 0;
    for (; n & 1; n >>= 1) x = combine(v, g->partial[k++], x);
    g->partial[k] = x;
  }
}

static bool gather_end(Run *r, Vertex *v, Gather *g, Cell *out) {
  if (red_is_arg(v->sum)) {
    out->i = g->best;
    return g->n || eval_fail(r, EVAL_RANGE, v->node->place, "%s of %s over nothing has no value%s",
                             reducer_info[v->sum->reducer].name, node_name(r, v->node),
                             point_text(r, v, v->sum->n_out));
  }
  Cell x = v->identity;
  bool any = false;
  if (class_of(v->sum->acc) == CL_I) {
    if (g->n) x = g->partial[0];
  } else {
    for (uint32_t k = 0; k < 64 && g->n >> k; k++) {
      if (!(g->n >> k & 1)) continue;
      x = any ? combine(v, g->partial[k], x) : g->partial[k];
      any = true;
    }
  }
  *out = cell_cast(x, v->sum->acc, v->sum->dtype);
  return true;
}

/* ---- the points ------------------------------------------------------------------------------ */

/* Steps to the next point of labels from..to-1, the last fastest; false after the last point, with all at 0 again. */
static inline bool next_point(Vertex *v, uint32_t from, uint32_t to) {
  while (to-- > from) {
    if (++v->frame.reg[to].i < v->extent[to]) return true;
    v->frame.reg[to].i = 0;
  }
  return false;
}

static bool no_points(const Vertex *v, uint32_t from, uint32_t to) {
  while (to-- > from)
    if (v->extent[to] == 0) return true;
  return false;
}

static bool vertex_reduce(Run *r, Vertex *v, Cell *out) {
  uint32_t from = v->sum->n_out, to = from + v->sum->n_red;
  Cell *reg = v->frame.reg;
  Gather g;
  g.n = 0;
  g.at = 0;
  g.best = 0;
  if (no_points(v, from, to)) return gather_end(r, v, &g, out);
  do {
    if (!eval_tick(r)) return false;
    if (v->where && !code_run(v->where, &v->frame)) return read_fail(r, v, v->where, to);
    if (!v->where || reg[v->where->result].i) {
      if (!code_run(v->body, &v->frame)) return read_fail(r, v, v->body, to);
      gather_add(v, &g, reg[v->body->result]);
    }
    g.at++;
  } while (next_point(v, from, to));
  return gather_end(r, v, &g, out);
}

static bool vertex_value(Run *r, Vertex *v, Cell *out) {
  if (v->sum->reducer != RED_NONE) return vertex_reduce(r, v, out);
  if (!code_run(v->body, &v->frame)) return read_fail(r, v, v->body, v->sum->n_out);
  *out = cell_cast(v->frame.reg[v->body->result], v->sum->acc, v->sum->dtype);
  return true;
}

static bool vertex_points(Run *r, Vertex *v, Held *h) {
  bool whole = true;
  int64_t k = 0;
  if (no_points(v, 0, v->sum->n_out)) return true;
  do {
    Cell x = {0};
    bool has = true;
    if (!eval_tick(r)) return false;
    if (v->domain) {
      if (!code_run(v->domain, &v->frame)) return read_fail(r, v, v->domain, v->sum->n_out);
      has = v->frame.reg[v->domain->result].i != 0;
      h->mask[k] = has;
      whole &= has;
    }
    if (has && !vertex_value(r, v, &x)) return false;
    cell_store(h->data, h->array.dtype, k++, x);
  } while (next_point(v, 0, v->sum->n_out));
  h->array.has = whole ? NULL : h->mask;
  return true;
}

bool vertex_run(Run *r, const EinNode *n) {
  Held *h = held_of(r, n);
  BUG_UNLESS(n->dtype == n->sum->dtype);
  if (!size_of_node(r, n)) return false;
  if (!h->vertex) h->vertex = vertex_new(r, n);
  if (!h->vertex || !held_room(r, n, h)) return false;
  if (n->sum->domain && !held_mask(r, n, h)) return false;
  vertex_bind(r, h->vertex);
  return vertex_points(r, h->vertex, h);
}
