/* graph/passes/axes/pass_axes.c - gives values between products the order of axes in which they are best made and read.
 *
 * In Z[t,s,h] = sum[d] Q[s,h,d] * K[t,h,d], h is a batch of products: both operands have it. If Z, or maps of it, are
 * only read further within the program, nobody sees in which order their axes lie. Best is that of the operand whose
 * labels no row reduces (m[s,h] = max[t] Z[t,s,h] reduces t), with the other labels behind: Z[s,h,t]. Then rows lie
 * together, each is made from one row of that operand, and all spellings of attention are the same to later passes.
 *
 * Values that are maps of one another, label by label, change together. Without rows or maps a value stays: products
 * read it in any order. None changes if one of them is an input or an output, belongs to a repeat, has merged axes, or
 * is read at anything but labels; nor if all operands have a batch last, for then lanes go along the batch. */
#include "permute.h"

enum { RANK_LEAST = 3 };

typedef struct Axes {
  Rebuild b;
  uint32_t *first;           /* by id: its first axis */
  uint32_t *like;            /* by axis: another one that is the same label; itself: it stands for all of them */
  bool *row;                 /*   of those for which it stands: whether rows are reduced along it; */
  uint32_t *place;           /*   where it belongs, from 1; 0: not known */
  uint32_t *with;            /* by id: another value that changes with it; itself: it stands for all of them */
  bool *fixed, *maps;        /*   of those: whether one cannot change; whether there are several; */
  EinNode **product;         /*   the first batch of products among them; NULL: there is none */
  const EinNode **rows;      /* by id: what reduces rows of another value, of which this is made; NULL: nothing */
  uint32_t **order;          /* by id: the old axis at each new one; NULL: unchanged */
} Axes;

static uint32_t root(uint32_t *of, uint32_t x) {
  while (of[x] != x) x = of[x] = of[of[x]];
  return x;
}

static uint32_t axis_of(Axes *c, const EinNode *n, uint32_t k) { return root(c->like, c->first[n->id] + k); }

static void axes_join(Axes *c, uint32_t x, uint32_t y) {
  x = root(c->like, x), y = root(c->like, y);
  if (x == y) return;
  c->row[x] |= c->row[y];
  c->like[y] = x;
}

static void values_join(Axes *c, uint32_t x, uint32_t y) {
  x = root(c->with, x), y = root(c->with, y);
  if (x == y) return;
  c->fixed[x] |= c->fixed[y];
  c->maps[x] = true;
  if (!c->product[x]) c->product[x] = c->product[y];
  c->with[y] = x;
}

static void fix(Axes *c, const EinNode *n) { c->fixed[root(c->with, n->id)] = true; }

/* ---- what readers want ----------------------------------------------------------------------------------------- */

/* Whether each index is a label of its own. */
static bool is_plain(const Expr *read) {
  for (uint32_t k = 0; k < read->n; k++) {
    if (read->arg[k]->kind != EX_LABEL) return false;
    for (uint32_t j = 0; j < k; j++)
      if (read->arg[j] == read->arg[k]) return false;
  }
  return true;
}

static void read_note(Axes *c, const EinNode *n, const Expr *read) {
  const EinSum *s = n->sum;
  const EinNode *of = n->input[read->i];
  if (!is_plain(read) || s->by) {
    fix(c, of);
    return;
  }
  if (s->n_out + s->n_red != of->rank) return;
  if (s->n_red) {
    c->rows[n->id] = n;
    return;
  }
  values_join(c, of->id, n->id);
  for (uint32_t k = 0; k < read->n && n->rank == s->n_out; k++) /* else its axes are merged, and it is fixed */
    axes_join(c, axis_of(c, of, k), c->first[n->id] + (uint32_t)read->arg[k]->i);
}

static bool reads_with(Axes *c, const EinNode *n, const EinNode *of) {
  for (uint32_t i = 0; i < n->sum->n_slot; i++)
    if (root(c->with, n->input[i]->id) == root(c->with, of->id)) return true;
  return false;
}

/* What reads a value beside what its own rows were reduced to, as softmax does, makes them rows. What is made of such
 * results is one, too. */
static void rows_note(Axes *c, const EinNode *n) {
  for (uint32_t i = 0; i < n->sum->n_slot; i++) {
    const EinNode *of = c->rows[n->input[i]->id];
    if (!of) continue;
    const Expr **read = permute_reads(c->b.arena, of->sum);
    for (uint32_t j = 0; j < of->sum->n_slot; j++) {
      if (!reads_with(c, n, of->input[j])) continue;
      for (uint32_t k = 0; k < read[j]->n; k++)
        if (read[j]->arg[k]->kind == EX_LABEL && read[j]->arg[k]->i >= of->sum->n_out)
          c->row[axis_of(c, of->input[j], k)] = true;
    }
    if (!n->sum->n_red && n->rank < RANK_LEAST) c->rows[n->id] = of;
  }
}

static bool has_label(const Expr *read, uint32_t l) {
  for (uint32_t k = 0; k < read->n; k++)
    if (expr_has_label(read->arg[k], l)) return true;
  return false;
}

static bool is_batch(const EinSum *s, const Expr *const *read, uint32_t l) {
  for (uint32_t i = 0; i < s->n_slot; i++)
    if (!has_label(read[i], l)) return false;
  return true;
}

/* Whether some operand has another label last: else lanes go along the batch. */
static bool is_batch_around(const EinSum *s, const Expr *const *read) {
  for (uint32_t i = 0; i < s->n_slot; i++) {
    const Expr *last = read[i]->n ? read[i]->arg[read[i]->n - 1] : NULL;
    if (!last || last->kind != EX_LABEL || last->i >= s->n_out || !is_batch(s, read, (uint32_t)last->i)) return true;
  }
  return false;
}

/* A sum of products in which all operands have some label is a batch of products. */
static void product_note(Axes *c, EinNode *n, const Expr *const *read) {
  const EinSum *s = n->sum;
  bool any = false;
  uint32_t with = root(c->with, n->id);
  if (s->n_slot < 2 || !s->n_red || c->product[with] || !is_batch_around(s, read)) return;
  for (uint32_t l = 0; l < s->n_out; l++) any |= is_batch(s, read, l);
  if (any) c->product[with] = n;
}

static void vertex_note(Axes *c, EinNode *n) {
  const EinSum *s = n->sum;
  const Expr **read = permute_reads(c->b.arena, s);
  if (s->by || n->rank != s->n_out || n->rank < RANK_LEAST) fix(c, n);
  for (uint32_t i = 0; i < s->n_slot; i++) read_note(c, n, read[i]);
  rows_note(c, n);
  product_note(c, n, read);
}

static void region_note(Axes *c, const EinRegion *r) {
  vec_each_of(EinNode, n, r->nodes) {
    if (n->kind == EIN_VERTEX) vertex_note(c, n);
    else fix(c, n);
    if (n->body) region_note(c, n->body);
  }
}

/* ---- the order --------------------------------------------------------------------------------------------------- */

static bool has_row(Axes *c, const EinNode *n, const Expr *read) {
  for (uint32_t l = 0; l < n->sum->n_out; l++)
    if (c->row[axis_of(c, n, l)] && has_label(read, l)) return true;
  return false;
}

/* The first operand without labels that rows reduce, if there are such labels; else NULL. */
static const Expr *lead_of(Axes *c, const EinNode *product) {
  const Expr **read = permute_reads(c->b.arena, product->sum), *lead = NULL;
  bool rows = false;
  for (uint32_t i = product->sum->n_slot; i-- > 0;) {
    bool row = has_row(c, product, read[i]);
    rows |= row;
    if (!row) lead = read[i];
  }
  return rows ? lead : NULL;
}

/* Its labels come first, in its order, which is known by now. */
static bool places_find(Axes *c, const EinNode *product) {
  const Expr *lead = lead_of(c, product);
  if (!lead) return false;
  const uint32_t *order = c->order[product->input[lead->i]->id];
  for (uint32_t k = 0; k < lead->n; k++) {
    const Expr *at = lead->arg[order ? order[k] : k];
    if (at->kind == EX_LABEL && at->i < product->sum->n_out) c->place[axis_of(c, product, (uint32_t)at->i)] = k + 1;
  }
  return true;
}

/* Of two axes, the one that belongs before the other. */
static bool is_before(Axes *c, const EinNode *n, uint32_t x, uint32_t y) {
  uint32_t a = c->place[axis_of(c, n, x)] - 1, b = c->place[axis_of(c, n, y)] - 1; /* those without one come last */
  return a != b ? a < b : x < y;
}

static void order_find(Axes *c, const EinNode *n) {
  uint32_t with = root(c->with, n->id), *order = NEW_ARRAY(c->b.arena, uint32_t, n->rank + 1);
  bool other = false;
  if (n->kind != EIN_VERTEX || n->rank < RANK_LEAST || c->fixed[with] || !c->maps[with] || !c->product[with]) return;
  if (!places_find(c, c->product[with])) return;
  for (uint32_t k = 0; k < n->rank; k++) {
    uint32_t at = k;
    for (; at > 0 && is_before(c, n, k, order[at - 1]); at--) order[at] = order[at - 1];
    order[at] = k;
  }
  for (uint32_t k = 0; k < n->rank; k++) other |= order[k] != k;
  if (other) c->order[n->id] = order;
}

static void orders_find(Axes *c, const EinRegion *r) {
  for (uint32_t i = 0; i < r->nodes.len; i++) {
    order_find(c, r->nodes.at[i]);
    if (r->nodes.at[i]->body) orders_find(c, r->nodes.at[i]->body);
  }
}

/* ---- the new graph ----------------------------------------------------------------------------------------------- */

static EinNode *vertex_again(void *env, Rebuild *b, EinRegion *r, const EinNode *n) {
  return permute_vertex(b, r, n, ((const Axes *)env)->order);
}

/* Numbers the axes. Returns the number of the next one. */
static uint32_t axes_number(Axes *c, const EinRegion *r, uint32_t axis) {
  vec_each_of(const EinNode, n, r->nodes) {
    c->first[n->id] = axis;
    axis += n->rank;
    if (n->body) axis = axes_number(c, n->body, axis);
  }
  return axis;
}

static void axes_begin(Axes *c, Arena *a, const EinGraph *g) {
  const bool *shown = nodes_shown(a, g);
  c->first = NEW_ARRAY(a, uint32_t, g->n_nodes + 1);
  c->with = NEW_ARRAY(a, uint32_t, g->n_nodes + 1);
  c->fixed = NEW_ARRAY(a, bool, g->n_nodes + 1);
  c->maps = NEW_ARRAY(a, bool, g->n_nodes + 1);
  c->product = NEW_ARRAY(a, EinNode *, g->n_nodes + 1);
  c->rows = NEW_ARRAY(a, const EinNode *, g->n_nodes + 1);
  c->order = NEW_ARRAY(a, uint32_t *, g->n_nodes + 1);
  uint32_t axes = axes_number(c, g->top, 0);
  c->like = NEW_ARRAY(a, uint32_t, axes + 1);
  c->row = NEW_ARRAY(a, bool, axes + 1);
  c->place = NEW_ARRAY(a, uint32_t, axes + 1);
  for (uint32_t k = 0; k < axes; k++) c->like[k] = k;
  for (uint32_t i = 0; i < g->n_nodes; i++) c->with[i] = i, c->fixed[i] = shown[i];
}

EinGraph *graph_axes(Arena *a, const EinGraph *g, PassNotes *notes) {
  static const RebuildRules rules = {.vertex = vertex_again};
  Axes c = {.b = {.arena = a, .pass = "axes", .notes = notes}};
  axes_begin(&c, a, g);
  region_note(&c, g->top);
  orders_find(&c, g->top);
  return rebuild(&c.b, a, g, &rules, &c);
}
