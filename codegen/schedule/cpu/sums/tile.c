/* codegen/schedule/cpu/sums/tile.c - contractions. A tile of outputs stays in registers while the reduced labels go
 * by: `rows` points of one label u, times lanes of another, v, along which the reads (or the store) are contiguous. An
 * operand that lacks u or v is loaded once for all of its points. Long float sums go in blocks of TILE_BLOCK points. */
#include "tile.h"

enum {
  ROWS_MOST = 8,
  FEW_ROWS = 5,              /* suffice */
  FEW_VECTORS = 16,          /* registers: with so few, no tile keeps a value of each row */
  NEAREST = 24 * 1024,       /* bytes that stay in the first-level cache, */
  NEAR = 64 * 1024,          /*   or near enough if more is written than read: */
  FEW_POINTS = 16,           /*   for sums of fewer products */
  FEW_OPS = 4,               /* of a point */
  BORDER_POINTS = 16,        /* of a sum, at most, for a border that is tested at each */
  UNROLLED = 192,            /* at most so many vector operations are unrolled, */
  DEEP_UNROLLED = 16,        /*   for at most so many points */
  PART_OPS = 128,            /* vectors of work between prefetches: with less, they cost more than they gain */
  STRIDE_MOST = 8            /* elements between neighbouring lanes */
};

/* ---- choice of labels ---------------------------------------------------------------------------------- */

static bool fits(const StagePlan *p) {
  const EinSum *sum = p->stage->sum;
  if (sum->reducer == RED_NONE || sum->reducer == RED_LSE || (red_is_arg(sum) && sum->where)) return false;
  return p->n_red && p->n_order && !sum->domain;
}

bool tile_decides(const StagePlan *p, uint32_t label) {
  return p->stage->sum->where && ex_has_label(p->stage->sum->where, label);
}

/* How many operands several points of u share: those that depend on v and not on u. */
static double reuse(const StagePlan *p, uint32_t u, uint32_t v) {
  double n = 0;
  for (uint32_t a = 0; a + 1 < p->n_access; a++)
    n += plan_move(p, a, v) != MOVE_NONE && plan_move(p, a, u) == MOVE_NONE ? 1 : 0;
  return p->size[u] < 2 || tile_decides(p, u) ? 0 : n;
}

static int64_t best_u(const StagePlan *p, uint32_t v) {
  int64_t best = NO_LABEL;
  double score = 0;
  for (uint32_t k = 0; k < p->n_order; k++) {
    uint32_t u = p->order[k];
    double r = u == v ? 0 : reuse(p, u, v) + (p->size[u] >= 4 ? 0.5 : 0);
    if (u == v || reuse(p, u, v) == 0 || r < score) continue;
    score = r;
    best = u;
  }
  return best;
}

/* ---- sizes ------------------------------------------------------------------------------------------------ */

static int64_t vector_over(int64_t n) { /* the smallest power of two that is not less */
  int64_t w = 1;
  while (w < n) w *= 2;
  return w;
}

static void piece_add(Lanes *c, int64_t at, int64_t width) {
  BUG_UNLESS(c->n < PIECES_MOST);
  c->at[c->n] = at;
  c->width[c->n++] = width;
}

/* Cuts n lanes into whole vectors, and one more for the rest if it may overlap them; else into ever smaller ones. */
static Lanes lanes_cut(Sched *s, int64_t one, int64_t n, bool twice, int64_t over) {
  Lanes c = {.count = ex_int(s, n)};
  int64_t at = n / one * one, before = at ? one : 0;
  if (at) piece_add(&c, 0, at);
  for (; at < n; before = c.width[c.n - 1]) {
    int64_t rest = n - at, w = vector_over(rest);
    if (twice && w < before && w < over) w = before < over ? before : over;
    if (w == rest || (twice && w <= n)) at = n, piece_add(&c, n - w, w);
    else if (c.n + 1 == PIECES_MOST) piece_add(&c, at, rest), at = n;
    else piece_add(&c, at, w / 2), at += w / 2;
  }
  return c;
}

/* The number of vectors for n lanes in tiles of d. */
static int64_t vectors_of(Sched *s, int64_t one, int64_t n, int64_t d) {
  int64_t whole = n % d / one;
  return n / d * (d / one) + whole + (int64_t)lanes_cut(s, one, n % d, true, 0).n - (whole ? 1 : 0);
}

static int64_t tiles_of(int64_t n, int64_t d) { return (n + d - 1) / d; }

/* Whether rows come one after the other, because registers are few and several vectors use a row's value: beside the
 * sums, only the lanes and one row's value are then live. */
static bool by_rows(const Sched *s, int64_t vectors) {
  return s->target->vector_bytes && s->target->vectors <= FEW_VECTORS && vectors > 1;
}

/* The number of rows whose values stay in registers beside their sums of so many vectors, and one vector. */
static int64_t rows_beside(const Sched *s, int64_t vectors) { return (tile_vectors(s) - 1) / (vectors + 1); }

/* In a block of rows, these are at most so many. */
static int64_t lanes_of(Sched *s, const StagePlan *p, uint32_t v, bool rows) {
  int64_t usual = vector_lanes(s, p->stage->sum->acc), one = rows ? tile_vector(s, p->stage->sum->acc) : usual;
  int64_t want = (rows ? 2 : 4) * one, n = p->size[v], more = one < usual ? 0 : one; /* gcc makes a loop of three */
  if (!p->exact[v]) return s->rows.block && v + 1 == p->stage->sum->n_out && n < want ? n : want;
  if (n <= want + (rows ? more : 0)) return n;
  for (int64_t d = want + (rows ? more : want / 2); d >= 2 * one; d -= one)
    if (n % d == 0) return d;
  int64_t few = vectors_of(s, one, n, want + more), many = vectors_of(s, one, n, want);
  bool fewer = few < many || (few == many && tiles_of(n, want + more) < tiles_of(n, want));
  return fewer ? want + more : want;
}

/* The most lanes that a last piece may have just to be as wide as the others: a machine vector's, if more lanes cost
 * no more. */
static int64_t over_of(const Sched *s, const StagePlan *p, uint32_t v) {
  for (uint32_t a = 0; a + 1 < p->n_access; a++)
    if (plan_move(p, a, v) != MOVE_NONE && plan_move(p, a, v) != MOVE_UNIT) return 0;
  return p->ops <= (double)FEW_OPS ? tile_vector(s, p->stage->sum->acc) : 0;
}

/* The number of rows whose sums stay in registers, with each row's value if several vectors use it. With 4 rows or
 * fewer, gcc loads the lanes' operand again for each row (seen with 12.2), which takes half as long again: so with
 * more registers 4 rows are no tile, even if fewer would be left over. */
static int64_t rows_of(const Sched *s, const StagePlan *p, int64_t u, int64_t lanes) {
  static const int64_t good[] = {6, 8, 7, 5, 4};
  if (u == NO_LABEL) return 1;
  int64_t n = p->size[u], one = tile_vector(s, p->stage->sum->acc), most = (tile_vectors(s) - 6) * one / lanes;
  int64_t vectors = tiles_of(lanes, one);
  if (by_rows(s, vectors)) most = (tile_vectors(s) - 1 - vectors) / vectors;
  if (!by_rows(s, vectors) && vectors > 2 && most > rows_beside(s, vectors)) most = rows_beside(s, vectors);
  if (most > ROWS_MOST) most = ROWS_MOST;
  if (most < 1) most = 1;
  if (p->exact[u] && n <= most) return n;
  for (size_t i = 0; p->exact[u] && i < COUNT(good); i++)
    if (good[i] <= most && (good[i] >= FEW_ROWS || most <= FEW_ROWS) && n % good[i] == 0) return good[i];
  return p->exact[u] ? tiles_of(n, tiles_of(n, most)) : most < 6 ? most : 6;
}

static bool is_long(const StagePlan *p) {
  double points = 1;
  if (p->few) return false;
  for (uint32_t k = 0; k < p->n_red; k++) points *= p->exact[p->red[k]] ? (double)p->size[p->red[k]] : 1e9;
  return dtype_is_float(p->stage->sum->acc) && p->stage->sum->reducer == RED_SUM && points > 2.0 * (double)TILE_BLOCK;
}

/* ---- one tile ------------------------------------------------------------------------------------------- */

typedef struct Cells { uint32_t at[PIECES_MOST][ROWS_MOST]; } Cells; /* by piece and row: an array of lanes */

static Cells cells_new(Tile *t, const char *name) {
  Sched *s = t->s;
  Cells c = {{{0}}};
  for (uint32_t k = 0; k < t->cut.n; k++) {
    const Expr *dim = ex_int(s, t->cut.width[k]);
    for (int64_t r = 0; r < t->rows; r++) {
      c.at[k][r] = var_own(s, NULL, name, t->p->stage->sum->acc, 1, &dim, red_identity(s, t->p->stage->sum));
    }
  }
  return c;
}

LoopBody *tile_lanes_open(Tile *t, const Expr *count, const Expr **l) {
  Sched *s = t->s;
  uint32_t v = var_new(s, NULL, "l");
  *l = var_read(s, v);
  return into(s, &for_add(s, v, ex_int(s, 0), count, 1, BIND_VECTOR)->body);
}

static LoopBody *piece_open(Tile *t, uint32_t k, const Expr **l) {
  return tile_lanes_open(t, t->cut.open ? t->cut.count : ex_int(t->s, t->cut.width[k]), l);
}

const Expr *tile_cell(Tile *t, uint32_t place, const Expr *l) { return place_read(t->s, place, 1, &l); }

static void point_set(Tile *t, const Expr *u0, int64_t row, const Expr *v0, uint32_t piece, const Expr *l) {
  Sched *s = t->s;
  if (t->u != NO_LABEL) t->e->label[t->u] = ex_add(s, u0, ex_int(s, row));
  t->e->label[t->v] = ex_add(s, v0, ex_add(s, l, ex_int(s, t->cut.at[piece])));
}

const Expr *tile_let(Sched *s, const Expr *value) {
  if (value->kind == EX_INT || value->kind == EX_REAL) return value;
  uint32_t v = place_own(s, NULL, "v", (DType)value->dtype, 0, NULL);
  let_add(s, v, value);
  return scalar_read(s, v);
}

const Expr *tile_combined(Sched *s, const EinSum *sum, const Expr *a, const Expr *b) {
  if (sum->acc == DT_BOOL) b = tile_let(s, b);
  if (sum->reducer != RED_MONOID) return red_combine(s, sum, a, b);
  return ex_shared(s, red_combine(s, sum, tile_let(s, a), tile_let(s, b)));
}

/* Adds value(r, l) to row r of a piece. */
static void row_step(Tile *t, Cells c, const Expr *u0, const Expr *v0, const Expr *body, int64_t r, uint32_t k,
    const Expr *l, LoopBody *around) {
  Sched *s = t->s;
  point_set(t, u0, r, v0, k, l);
  const Expr *value = ex_shared(s, ex_ahead(s, ex_of(t->e, body), around, l));
  const EinSum *sum = t->p->stage->sum;
  const Expr *have = tile_cell(t, c.at[k][r], l);
  bool plain = sum->reducer == RED_SUM && sum->acc != DT_BOOL;
  store_add(s, c.at[k][r], 1, &l, plain ? red_combine_terms(s, sum, have, value) : tile_combined(s, sum, have, value));
}

/* Rows `from` up to `to`, exclusive: into[r][l] = into[r][l] combined with value(r, l). */
static void rows_step(Tile *t, Cells c, const Expr *u0, const Expr *v0, const Expr *body, int64_t from, int64_t to) {
  int64_t one = tile_vector(t->s, t->p->stage->sum->acc);
  const Expr *l;
  for (uint32_t k = 0; k < t->cut.n; k++) {
    int64_t together = by_rows(t->s, t->cut.width[k] / one) ? 1 : to - from;
    for (int64_t first = from; first < to; first += together) {
      LoopBody *was = piece_open(t, k, &l);
      for (int64_t r = first; r < first + together; r++) row_step(t, c, u0, v0, body, r, k, l, was);
      into(t->s, was);
    }
  }
}

/* ---- conditions ---------------------------------------------------------------------------------------- */

/* A conditional read prevents vectorisation. If the condition is the same for all lanes, as at the border of an image,
 * it is tested ahead of them. */
typedef struct Asks { Tile *t; Map seen, made; const Expr *found; bool several, guarded; } Asks;

static const Expr *leaf_guarded(void *env, Exprs *x, const Expr *leaf) {
  Asks *a = env;
  (void)x;
  if (leaf->kind == EX_READ && ex_has_label(leaf, a->t->v) && !ex_is_safe(a->t->e, leaf)) a->guarded = true;
  return leaf;
}

static bool lane_is_guarded(Asks *a, const Expr *e) {
  a->guarded = false;
  expr_map(a->t->s->x, e, leaf_guarded, a);
  return a->guarded;
}

static void asks_find(Asks *a, const Expr *e) {
  if (e->kind != EX_OP || map_find(&a->seen, e)) return;
  map_put(&a->seen, e, a);
  if (e->op == OP_SELECT && !ex_has_label(e->arg[0], a->t->v) && where_is_affine(a->t->p, e->arg[0]) &&
      (lane_is_guarded(a, e->arg[1]) || lane_is_guarded(a, e->arg[2]))) {
    a->several |= a->found && a->found != e->arg[0];
    a->found = e->arg[0];
  }
  for (uint32_t k = 0; k < e->n; k++) asks_find(a, e->arg[k]);
}

static const Expr *answer(Asks *a, const Expr *e, bool holds) {
  if (e->kind != EX_OP) return e;
  const Expr *made = map_find(&a->made, e);
  if (made) return made;
  if (e->op == OP_SELECT && e->arg[0] == a->found) {
    made = answer(a, e->arg[holds ? 1 : 2], holds);
  } else {
    const Expr **arg = NEW_ARRAY(a->t->s->arena, const Expr *, e->n + 1);
    for (uint32_t k = 0; k < e->n; k++) arg[k] = answer(a, e->arg[k], holds);
    made = expr_op_like(a->t->s->x, e, arg);
  }
  map_put(&a->made, e, (void *)(uintptr_t)made);
  return made;
}

/* Finds the condition, if there is exactly one, and the body where it holds and where it does not. */
static void asks_of_body(Tile *t) {
  Arena *arena = t->s->arena;
  Asks a = {.t = t, .seen = map_new(arena), .made = map_new(arena)};
  const Expr *body = t->p->stage->sum->body;
  asks_find(&a, body);
  if (!a.found || a.several) return;
  t->asks = a.found;
  t->yes = answer(&a, body, true);
  a.made = map_new(arena);
  t->no = answer(&a, body, false);
}

static const Expr *asks_of_row(Tile *t, const Expr *u0, int64_t row) {
  if (t->u != NO_LABEL) t->e->label[t->u] = ex_add(t->s, u0, ex_int(t->s, row));
  return ex_of(t->e, t->asks);
}

/* Adds a point to all rows. A comparison of affine expressions that holds for the first row and the last holds for
 * those between. */
static void step(Tile *t, Cells c, const Expr *u0, const Expr *v0) {
  Sched *s = t->s;
  if (!t->asks) {
    rows_step(t, c, u0, v0, t->p->stage->sum->body, 0, t->rows);
    return;
  }
  bool one = t->u == NO_LABEL || !ex_has_label(t->asks, t->u) || t->rows == 1;
  const Expr *first = asks_of_row(t, u0, 0),
             *all = one ? first : expr_and(s->x, first, asks_of_row(t, u0, t->rows - 1));
  LoopStmt *st = if_add(s, all);
  LoopBody *was = into(s, &st->body);
  rows_step(t, c, u0, v0, t->yes, 0, t->rows);
  into(s, &st->other);
  if (one) rows_step(t, c, u0, v0, t->no, 0, t->rows);
  for (int64_t r = 0; !one && r < t->rows; r++) {
    LoopStmt *row = if_add(s, asks_of_row(t, u0, r));
    LoopBody *around = into(s, &row->body);
    rows_step(t, c, u0, v0, t->yes, r, r + 1);
    into(s, &row->other);
    rows_step(t, c, u0, v0, t->no, r, r + 1);
    into(s, around);
  }
  into(s, was);
}

static void total_step(Tile *t, Cells tot, Cells acc) {
  Sched *s = t->s;
  const Expr *l;
  for (uint32_t k = 0; k < t->cut.n; k++) {
    LoopBody *was = piece_open(t, k, &l);
    for (int64_t r = 0; r < t->rows; r++)
      store_add(s, tot.at[k][r], 1, &l,
          red_combine(s, t->p->stage->sum, tile_cell(t, tot.at[k][r], l), tile_cell(t, acc.at[k][r], l)));
    into(s, was);
  }
}

void tile_red_open(Tile *t, uint32_t label, const Expr *lo, const Expr *hi, LoopBind bind) {
  Sched *s = t->s;
  t->e->label[label] = for_open(s, t->p->stage->label[label], "r", lo, hi, 1, bind);
}

/* Unrolls a tile that is so small that the loop itself would count. */
static LoopBind innermost_bind(const Tile *t, const Expr *hi) {
  int64_t one = vector_lanes(t->s, t->p->stage->sum->acc), vectors = 0;
  for (uint32_t k = 0; k < t->cut.n; k++) vectors += (t->cut.width[k] + one - 1) / one;
  bool few = hi->kind == EX_INT && hi->i > 1 && hi->i <= DEEP_UNROLLED && t->p->ops <= (double)FEW_OPS;
  return few && vectors * t->rows * hi->i <= UNROLLED ? BIND_UNROLL : BIND_SEQ;
}

static void tile_wanted(Tile *t, const Expr *u0, const Expr *v0) {
  Sched *s = t->s;
  Reach span[2] = {{(uint32_t)t->v, v0, ex_sub(s, ex_add(s, v0, t->cut.count), ex_int(s, 1))}};
  uint32_t n = 1;
  if (t->u != NO_LABEL) span[n++] = (Reach){(uint32_t)t->u, u0, ex_add(s, u0, ex_int(s, t->rows - 1))};
  wanted_open(t->e, t->p->n_label, n, span);
}

/* ---- prefetch -------------------------------------------------------------------------------------------- */

/* Points of the innermost reduced label, in `parts` parts: the current one goes from lo up to hi; NULL: all. */
typedef struct Points { const Expr *lo, *hi, *part; int64_t parts; } Points;

static FetchRows rows_ahead(Tile *t, const Expr *u0, const Expr *v0, Points at) {
  Sched *s = t->s;
  const Expr *first = expr_is_int(v0, 0) ? NULL : expr_op2(s->x, OP_EQ, v0, ex_int(s, 0));
  return (FetchRows){t->p, (uint32_t)t->u, (uint32_t)t->v, t->rows, u0, first, at.lo, at.hi};
}

/* Prefetch of the next point of the innermost label around; without one, it has no label. */
static FetchNext next_ahead(Tile *t, Points at) {
  Sched *s = t->s;
  const StagePlan *p = t->p;
  FetchNext f = {p, (uint32_t)t->u, (uint32_t)t->v, NOWHERE, t->tiles * at.parts, t->number};
  for (uint32_t k = 0; k < p->n_order && p->exact[t->u] && p->exact[t->v]; k++)
    if (p->order[k] != t->v && (int64_t)p->order[k] != t->u) f.label = p->order[k];
  for (uint32_t k = 0; at.lo && k + 1 < p->n_red; k++) {
    f.tiles *= p->size[p->red[k]];
    f.tile = ex_add(s, ex_mul(s, f.tile, p->stage->bound[p->red[k]]), t->e->label[p->red[k]]);
  }
  if (at.lo) f.tile = ex_add(s, ex_mul(s, f.tile, ex_int(s, at.parts)), at.part);
  return f;
}

static bool fetches(Tile *t, const Expr *u0, const Expr *v0) {
  if (t->u == NO_LABEL) return false;
  Points all = {.parts = 1};
  FetchRows rows = rows_ahead(t, u0, v0, all);
  FetchNext next = next_ahead(t, all);
  return (t->rows_first && rows_wanted(t->s, &rows)) || (next.label != NOWHERE && next_wanted(t->s, &next));
}

static void tile_fetch(Tile *t, const Expr *u0, const Expr *v0, Points at) {
  FetchRows rows = rows_ahead(t, u0, v0, at);
  FetchNext next = next_ahead(t, at);
  LoopBody *was = t->s->body;
  if (t->rows_first) rows_fetch(t->s, &rows, t->e);
  into(t->s, was);
  if (next.label != NOWHERE) next_fetch(t->s, &next, t->e);
}

/* Whether all reduced extents are known, and the innermost is long enough to prefetch in parts, each with enough work
 * to hide the loop. */
static bool has_parts(const Tile *t) {
  const StagePlan *p = t->p;
  int64_t work = fetch_points(p->size[p->red[p->n_red - 1]]) * t->rows;
  for (uint32_t k = 0; k < p->n_red; k++)
    if (!p->exact[p->red[k]]) return false;
  return !p->stage->sum->where && !t->blocked && work * t->lanes >= PART_OPS * vector_lanes(t->s, p->stage->sum->acc);
}

/* Opens a loop over parts of n points that prefetches in each; gives the part's bounds. */
static void parts_open(Tile *t, const Expr *u0, const Expr *v0, int64_t n, const Expr **lo, const Expr **hi) {
  Sched *s = t->s;
  int64_t points = fetch_points(n);
  Points at = {.parts = n / points};
  at.part = for_open(s, NULL, "part", ex_int(s, 0), ex_int(s, at.parts), 1, BIND_SEQ);
  at.lo = ex_mul(s, at.part, ex_int(s, points));
  at.hi = ex_add(s, at.lo, ex_int(s, points));
  tile_fetch(t, u0, v0, at);
  *lo = at.lo, *hi = at.hi;
}

static Cells reduce(Tile *t, const Expr *u0, const Expr *v0) {
  Sched *s = t->s;
  const StagePlan *p = t->p;
  uint32_t last = p->red[p->n_red - 1];
  LoopBody *was = s->body;
  bool far = fetches(t, u0, v0), parts = far && has_parts(t);
  if (far && !parts) tile_fetch(t, u0, v0, (Points){.parts = 1});
  into(s, was);
  Cells tot = cells_new(t, "acc"), acc = tot;
  tile_wanted(t, u0, v0);
  if (p->stage->sum->where) { /* it depends on neither u nor v: the bounds are those of the whole tile */
    point_set(t, u0 ? u0 : ex_int(s, 0), 0, v0, 0, ex_int(s, 0));
    red_loops_where(s, p, t->e, NULL);
    step(t, acc, u0, v0);
    into(s, was);
    return tot;
  }
  for (uint32_t k = 0; k + 1 < p->n_red; k++)
    tile_red_open(t, p->red[k], ex_int(s, 0), p->stage->bound[p->red[k]], BIND_SEQ);
  const Expr *lo = ex_int(s, 0), *hi = p->stage->bound[last];
  LoopBody *block = s->body;
  if (parts) parts_open(t, u0, v0, p->size[last], &lo, &hi);
  if (t->blocked) {
    lo = for_open(s, NULL, "block", lo, hi, TILE_BLOCK, BIND_SEQ);
    block = s->body;
    hi = ex_min(s, hi, ex_add(s, lo, ex_int(s, TILE_BLOCK)));
    acc = cells_new(t, "part");
  }
  tile_red_open(t, last, lo, hi, innermost_bind(t, hi));
  step(t, acc, u0, v0);
  into(s, block);
  if (t->blocked) total_step(t, tot, acc);
  into(s, was);
  return tot;
}

static void tile(Tile *t, int64_t rows, const Expr *u0, const Expr *v0) {
  Sched *s = t->s;
  int64_t was_rows = t->rows;
  t->rows = rows;
  Cells acc = reduce(t, u0, v0);
  for (int64_t r = 0; r < rows; r++)
    for (uint32_t k = 0; k < t->cut.n; k++) {
      const Expr *l;
      LoopBody *was = piece_open(t, k, &l);
      point_set(t, u0, r, v0, k, l);
      result_store(s, t->p->stage, t->e, expr_cast(s->x, t->p->stage->sum->dtype, tile_cell(t, acc.at[k][r], l)));
      into(s, was);
    }
  t->rows = was_rows;
}

/* ---- tiles of a block ------------------------------------------------------------------------------------ */

/* Computes all rows from u0 on: in one tile or, if fewer are left and their number is unknown, one by one. */
static void rows_do(Tile *t, const Expr *u0, const Expr *v0) {
  Sched *s = t->s;
  if (t->u == NO_LABEL) {
    tile(t, 1, NULL, v0);
    return;
  }
  const Expr *size = t->p->stage->bound[t->u], *end = ex_add(s, u0, ex_int(s, t->rows));
  int64_t rest = size->kind == EX_INT ? size->i % t->rows : 1;
  if (!rest) {
    tile(t, t->rows, u0, v0);
    return;
  }
  LoopStmt *whole = if_add(s, expr_op2(s->x, OP_LE, end, size));
  LoopBody *was = into(s, &whole->body);
  tile(t, t->rows, u0, v0);
  into(s, &whole->other);
  if (size->kind == EX_INT) {
    tile(t, rest, u0, v0);
  } else {
    const Expr *v = for_open(s, t->p->stage->label[t->u], "u", u0, size, 1, BIND_SEQ);
    tile(t, 1, v, v0);
  }
  into(s, was);
}

static Lanes lanes_open_end(const Tile *t, const Expr *count) {
  return (Lanes){.n = 1, .width = {t->lanes}, .count = count, .open = true};
}

static void lanes_do(Tile *t, const Expr *u0, const Expr *v0) {
  Sched *s = t->s;
  const Expr *size = t->p->stage->bound[t->v], *lanes = ex_int(s, t->lanes);
  int64_t one = vector_lanes(s, t->p->stage->sum->acc), rest = size->kind == EX_INT ? size->i % t->lanes : 1;
  t->cut = lanes_cut(s, one, t->lanes, t->twice, t->over);
  if (!rest) {
    rows_do(t, u0, v0);
    return;
  }
  LoopStmt *whole = if_add(s, expr_op2(s->x, OP_LE, ex_add(s, v0, lanes), size));
  LoopBody *was = into(s, &whole->body);
  rows_do(t, u0, v0);
  into(s, &whole->other);
  t->cut = size->kind == EX_INT ? lanes_cut(s, one, rest, t->twice, t->over) : lanes_open_end(t, ex_sub(s, size, v0));
  rows_do(t, u0, v0);
  into(s, was);
}

/* Whether tiles_walk goes along the label outside of lanes and rows. */
static bool is_outside(const Tile *t, uint32_t label) {
  return label < t->p->stage->sum->n_out && (int64_t)label != t->v && (int64_t)label != t->u;
}

/* Whether operands that depend on the lanes and not on the rows stay in the first-level cache, at one point of the
 * labels that are walked outside of both. Results that are mostly written want long rows even if they are a little
 * larger: 2048 by 2048 sums of 4 products then take a third of the time. */
static bool lanes_are_near(const Tile *t) {
  const StagePlan *p = t->p;
  double points = 1;
  for (uint32_t k = 0; k < p->n_red; k++) points *= (double)p->size[p->red[k]];
  bool rows = points < (double)FEW_POINTS && plan_move(p, p->n_access - 1, (uint32_t)t->v) == MOVE_UNIT;
  for (uint32_t a = 0; a + 1 < p->n_access; a++) {
    double bytes = (double)dtype_size(p->stage->sum->acc);
    if (plan_move(p, a, (uint32_t)t->v) == MOVE_NONE || plan_move(p, a, (uint32_t)t->u) != MOVE_NONE) continue;
    for (uint32_t l = 0; l < p->n_label; l++)
      bytes *= plan_move(p, a, l) == MOVE_NONE || is_outside(t, l) ? 1 : (double)p->size[l];
    if (bytes > (double)(rows ? NEAR : NEAREST)) return false;
  }
  return true;
}

/* Other output labels are outermost, then the lanes' tiles, then the rows', so that operands of v alone are reused
 * soon. If those stay in cache anyway, the rows' tiles come first, and operands of u alone are loaded once. */
static void tiles_walk(Tile *t, bool threads) {
  Sched *s = t->s;
  const StagePlan *p = t->p;
  Walk *w = NEW(s->arena, Walk);
  const Expr *work = ex_int(s, (int64_t)p->ops * t->rows * t->lanes);
  for (uint32_t k = 0; k < p->n_order; k++)
    if (p->order[k] != t->v && (int64_t)p->order[k] != t->u)
      walk_add(s, w, p->stage->label[p->order[k]], p->stage->bound[p->order[k]]);
  uint32_t others = w->n;
  const Expr *tiles = ex_div_up(s, p->stage->bound[t->v], ex_int(s, t->lanes));
  t->rows_first = t->u != NO_LABEL && lanes_are_near(t);
  if (!t->rows_first) walk_add(s, w, NULL, tiles);
  if (t->u != NO_LABEL) walk_add(s, w, NULL, ex_div_up(s, p->stage->bound[t->u], ex_int(s, t->rows)));
  if (t->rows_first) walk_add(s, w, NULL, tiles);
  for (uint32_t k = 0; k < p->n_red; k++) work = ex_mul(s, work, p->stage->bound[p->red[k]]);
  if (threads) walk_chunks(s, w, work, BIND_SEQ);
  else walk_plain(s, w, 0, BIND_SEQ);
  for (uint32_t k = 0, i = 0; k < p->n_order; k++)
    if (p->order[k] != t->v && (int64_t)p->order[k] != t->u) t->e->label[p->order[k]] = w->index[i++];
  const Expr *v0 =
      named(s, p->stage->label[t->v], "v", ex_mul(s, w->index[others + t->rows_first], ex_int(s, t->lanes)));
  const Expr *u0 = NULL;
  if (t->u != NO_LABEL)
    u0 = named(s, p->stage->label[t->u], "u", ex_mul(s, w->index[others + !t->rows_first], ex_int(s, t->rows)));
  if (t->u != NO_LABEL) t->number = ex_add(s, ex_mul(s, w->index[others], w->extent[others + 1]), w->index[others + 1]);
  t->tiles = tiles_of(p->size[t->v], t->lanes) * (t->u == NO_LABEL ? 1 : tiles_of(p->size[t->u], t->rows));
  lanes_do(t, u0, v0);
}

static void how_tiles(const Tile *t) {
  const TaskStage *st = t->p->stage;
  if (t->u == NO_LABEL) how_add(t->s, st, "tiles of %lld %s in lanes", (long long)t->lanes, how_label(st, t->v));
  else
    how_add(t->s, st, "tiles of %lld %s by %lld %s in lanes", (long long)t->rows, how_label(st, t->u),
        (long long)t->lanes, how_label(st, t->v));
}

bool tile_in_place(const Sched *s) {
  for (uint32_t i = 0; i < s->task->stages.len; i++)
    vec_each(const TaskStage, st, s->task->stages) {
      for (uint32_t a = 0; a < st->sum->n_slot; a++)
        if (!st->slot[a].kept && (int64_t)st->slot[a].index == (int64_t)s->task->stages.at[i].buffer) return true;
    }
  return false;
}

/* The stride of a read along the label, in elements; false: unknown. */
static bool stride_of(Sched *s, const StagePlan *p, const Expr *read, uint32_t label, int64_t *stride) {
  TaskSlot slot = p->stage->slot[read->i];
  const Expr *const *dim = slot_dims(s, slot);
  int64_t below = 1, slope, step;
  *stride = 0;
  for (uint32_t k = read->n; k-- > (slot.kept ? s->outer : 0);) {
    if (!ex_slope(read->arg[k], label, &slope) || !mul_ok(slope, below, &step) || !add_ok(*stride, step, stride))
      return false;
    if (dim[k]->kind == EX_INT ? !mul_ok(below, dim[k]->i, &below) : k > 0) return false;
  }
  return true;
}

/* Whether all reads that depend on the label have a small stride along it, so that compilers vectorise them. */
static bool is_near(Sched *s, const StagePlan *p, uint32_t label) {
  const Expr **read = body_reads(s, p->stage->sum);
  int64_t stride;
  bool any = false;
  for (uint32_t a = 0; a + 1 < p->n_access; a++) {
    if (!read[a] || plan_move(p, a, label) == MOVE_NONE) continue;
    if (!stride_of(s, p, read[a], label, &stride) || stride > STRIDE_MOST || stride < -STRIDE_MOST) return false;
    any = true;
  }
  return any;
}

/* Whether v is a good label for lanes; far: even with a small stride. */
static bool lanes_along(Sched *s, const StagePlan *p, uint32_t v, bool far) {
  bool along = false;
  if (p->size[v] < 4) return false;
  if (far) {
    /* reduced: contiguous or nearly so, and good lanes too. */
    bool reduced = is_near(s, p, p->red[p->n_red - 1]);
    return !reduced && !p->stage->sum->where && p->size[v] >= vector_lanes(s, p->stage->sum->acc) && is_near(s, p, v);
  }
  for (uint32_t a = 0; a + 1 < p->n_access; a++) along |= plan_move(p, a, v) == MOVE_UNIT;
  double score = plan_score(p, v);
  return along && (score > red_score(p) || (score >= 1 && p->size[p->red[p->n_red - 1]] < LANES_LEAST));
}

/* A border around short sums, as of a causal filter: rows that share operands may then be those that have it. */
const EinSum *tile_guarded(Sched *s, const StagePlan *p, Env *e) {
  const EinSum *sum = p->stage->sum;
  const Expr *when = sum->where;
  int64_t points = 1;
  if (sum->reducer != RED_SUM || !when || !p->n_order || !where_is_affine(p, when)) return NULL;
  bool by_row = false;
  for (uint32_t k = 0; k + 1 < p->n_order; k++) by_row |= ex_has_label(when, p->order[k]);
  if (!by_row || ex_has_label(when, p->order[p->n_order - 1])) return NULL;
  for (uint32_t k = 0; k < p->n_red; k++)
    if (!mul_ok(points, p->size[p->red[k]], &points)) return NULL;
  if (points > BORDER_POINTS || ex_is_safe(e, sum->body) || !pack_leaves_most(s, p)) return NULL;
  EinSum *made = arena_copy(s->arena, sum, sizeof *sum);
  made->where = NULL;
  made->body = expr_select(s->x, when, sum->body, reducer_identity(s->x, sum));
  return made;
}

bool tile_loops(Sched *s, const StagePlan *p, Env *e, bool threads, bool far) {
  if (!fits(p)) return false;
  uint32_t v = p->order[p->n_order - 1];
  bool arg = red_is_arg(p->stage->sum);
  if (!lanes_along(s, p, v, far)) return false;
  Tile t = {.s = s, .p = p, .e = e, .v = v, .u = arg ? NO_LABEL : best_u(p, v), .twice = !tile_in_place(s)};
  if (tile_decides(p, v) &&
      (t.u != NO_LABEL || p->n_red > 1 || !(where_is_range(p, v) || where_is_range(p, p->red[0])) || !ex_safe(e)))
    return false;
  t.lanes = lanes_of(s, p, v, t.u != NO_LABEL);
  t.over = t.u == NO_LABEL ? 0 : over_of(s, p, v);
  t.rows = rows_of(s, p, t.u, t.lanes);
  t.blocked = is_long(p);
  bool steady = !p->stage->sum->where || tile_decides(p, v) || where_is_range(p, p->red[p->n_red - 1]);
  bool cut = tile_decides(p, v);
  if (arg || (t.u == NO_LABEL && steady && (cut || p->size[v] >= 4 * vector_lanes(s, p->stage->sum->acc)))) {
    strip_loops(&t, threads);
  } else {
    asks_of_body(&t);
    how_tiles(&t);
    tiles_walk(&t, threads);
  }
  return true;
}
