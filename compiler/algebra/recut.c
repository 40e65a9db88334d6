/* algebra/recut.c - cuts a relation anew by tile and concat; where cuts agree, by filter and rekey. */
#include "recut.h"

#include "expr/prove/prove.h"

enum { NONE = -1, SEVERAL = -2, TOLD = 65536 };

typedef struct Recut {
  Algebra *p;
  const AlgNode *of;
  const Cuts *want;
  bool *anew;                /* by dimension: it is cut anew */
  int32_t *to;               /* by key of `of`: the corresponding wanted key; NONE: it is dropped */
  int32_t *put;              /* by wanted key: its new key; NONE: it is a key of `of` */
  uint32_t n_put;
  uint32_t n_wrap;           /* keys for laps, behind those */
} Recut;

static bool wraps(const Recut *x, uint32_t d) {
  return x->want->wrap && x->want->wrap[d].laps;
}

/* The only key on which a box depends. */
static int32_t only_key(const RelDim *d, uint32_t n) {
  bool *used = (bool[REL_KEYS]){0};
  int32_t key = NONE;
  expr_labels(d->low, n, used);
  expr_labels(d->high, n, used);
  for (uint32_t k = 0; k < n; k++)
    if (used[k]) key = key == NONE ? (int32_t)k : SEVERAL;
  return key;
}

static bool depends_on(const RelDim *d, uint32_t n, uint32_t key) {
  bool *used = (bool[REL_KEYS]){0};
  expr_labels(d->low, n, used);
  expr_labels(d->high, n, used);
  return used[key];
}

static RelDim renamed(Exprs *p, RelDim d, uint32_t n, const Expr *const *to) {
  return (RelDim){expr_normal(p, expr_relabel(p, d.low, n, to)), expr_normal(p, expr_relabel(p, d.high, n, to))};
}

/* Whether dimension d is already cut as wanted: whole, or by one key. */
static bool as_wanted(Recut *x, uint32_t d) {
  const Relation *t = &x->of->type;
  const RelDim *is = &t->dim[d], *want = &x->want->dim[d];
  int32_t its = only_key(is, t->n_key), theirs = only_key(want, x->want->n_key);
  if (wraps(x, d)) return false;
  if (its == NONE && theirs == NONE) return is->low == want->low && is->high == want->high;
  if (its < 0 || theirs < 0 || t->frontier[its] != x->want->frontier[theirs]) return false;
  const Expr **to = NEW_ARRAY(x->p->arena, const Expr *, t->n_key + 1);
  to[its] = expr_label(x->p->exprs, theirs);
  RelDim same = renamed(x->p->exprs, *is, t->n_key, to);
  if (same.low != want->low || same.high != want->high || (x->to[its] >= 0 && x->to[its] != theirs)) return false;
  x->to[its] = theirs;
  return true;
}

/* Dimensions that share a key with one that is cut anew are cut anew too. */
static void spread(Recut *x) {
  const Relation *t = &x->of->type;
  for (bool more = true; more;) {
    more = false;
    for (uint32_t d = 0; d < t->rank; d++)
      for (uint32_t e = 0; e < t->rank; e++) {
        if (x->anew[d] || !x->anew[e]) continue;
        bool shares = false;
        for (uint32_t k = 0; k < t->n_key; k++)
          shares |= depends_on(&t->dim[d], t->n_key, k) && depends_on(&t->dim[e], t->n_key, k);
        for (uint32_t k = 0; k < x->want->n_key; k++)
          shares |= depends_on(&x->want->dim[d], x->want->n_key, k) && depends_on(&x->want->dim[e], x->want->n_key, k);
        x->anew[d] |= shares;
        more |= shares;
      }
  }
}

/* Returns whether anything is cut anew. */
static bool compare(Recut *x) {
  const Relation *t = &x->of->type;
  bool some = false;
  for (uint32_t k = 0; k < t->n_key; k++) x->to[k] = NONE;
  for (uint32_t d = 0; d < t->rank; d++) some |= x->anew[d] = !as_wanted(x, d);
  spread(x);
  for (uint32_t d = 0; d < t->rank; d++)
    for (uint32_t k = 0; x->anew[d] && k < t->n_key; k++)
      if (depends_on(&t->dim[d], t->n_key, k)) x->to[k] = NONE;
  for (uint32_t w = 0; w < x->want->n_key; w++) {
    x->put[w] = NONE;
    for (uint32_t d = 0; d < t->rank; d++)
      if (x->anew[d] && x->put[w] == NONE && depends_on(&x->want->dim[d], x->want->n_key, w))
        x->put[w] = (int32_t)x->n_put++;
  }
  for (uint32_t k = 0; k < t->n_key; k++) some |= x->to[k] == NONE; /* a key that cuts nothing cannot stay */
  return some;
}

/* ---- moves ------------------------------------------------------------------------------------------------- */

Placement recut_anyhow(const Algebra *p, const Relation *t, uint32_t n_group, const uint32_t *group) {
  int64_t *left = arena_copy(p->arena, t->frontier, t->n_key * sizeof *left);
  Placement at;
  for (uint32_t a = 0; a < MESH_AXES; a++) {
    at.on[a] = PLACE_ALL;
    for (uint32_t k = n_group; a < p->mesh.n && k-- > 0;)
      if (left[group[k]] >= p->mesh.size[a] && group[k] <= INT8_MAX) at.on[a] = (int8_t)group[k];
    if (at.on[a] >= 0) left[at.on[a]] /= p->mesh.size[a];
  }
  return at;
}

AlgNode *recut_move(Algebra *p, AlgRegion *r, AlgNode *of, const Placement *to) {
  return placement_equal(&p->mesh, &of->at, to) ? of : alg_move(p, r, of, to);
}

/* The goal over the current keys: those of `of`, then the new ones. */
static Placement goal_now(const Recut *x, const Placement *goal) {
  Placement at = *goal;
  for (uint32_t a = 0; a < x->p->mesh.n; a++) {
    int8_t w = goal->on[a];
    if (w < 0) continue;
    at.on[a] = PLACE_ALL;
    if (x->put[w] >= 0) at.on[a] = (int8_t)(x->of->type.n_key + (uint32_t)x->put[w]);
    for (uint32_t k = x->of->type.n_key; k-- > 0;)
      if (x->to[k] == w) at.on[a] = (int8_t)k;
  }
  return at;
}

static AlgNode *moved(Recut *x, AlgRegion *r, AlgNode *of, const Placement *goal) {
  if (!x->p->placed || !goal) return of;
  Placement to = goal_now(x, goal);
  return recut_move(x->p, r, of, &to);
}

/* Whether an earlier key is the same wanted key. */
static bool is_twice(const Recut *x, uint32_t key) {
  bool twice = false;
  for (uint32_t k = 0; k < key && x->to[key] >= 0; k++) twice |= x->to[k] == x->to[key];
  return twice;
}

/* Tuples of a join meet by one of two keys that are the same wanted key; no axis cuts the other. */
static AlgNode *cut_once(Recut *x, AlgRegion *r, AlgNode *of) {
  Placement to = of->at;
  for (uint32_t a = 0; a < x->p->mesh.n; a++)
    if (to.on[a] >= 0 && is_twice(x, (uint32_t)to.on[a])) to.on[a] = PLACE_ALL;
  return recut_move(x->p, r, of, &to);
}

/* Gathers tuples that may be apart before they are combined; always a move. */
static AlgNode *gathered(
    Recut *x, AlgRegion *r, AlgNode *of, const Placement *goal, uint32_t n_group, const uint32_t *group) {
  if (!x->p->placed) return of;
  if (goal) return moved(x, r, of, goal);
  uint32_t n = 0, *once = NEW_ARRAY(x->p->arena, uint32_t, n_group + 1);
  for (uint32_t k = 0; k < n_group; k++)
    if (group[k] >= x->of->type.n_key || !is_twice(x, group[k])) once[n++] = group[k];
  Placement to = recut_anyhow(x->p, &of->type, n, once);
  return alg_move(x->p, r, of, &to);
}

/* ---- a diagonal ------------------------------------------------------------------------------------------ */

/* Keeps the tuples whose keys for the same wanted key are equal, then drops the duplicates of the key. */
static AlgNode *diagonal(Recut *x, AlgRegion *r, AlgNode *of, const Placement *goal) {
  Exprs *e = x->p->exprs;
  const Relation *t = &of->type;
  Arena *a = x->p->arena;
  const Expr *keep = NULL, **key = NEW_ARRAY(a, const Expr *, t->n_key + 1),
             **to = NEW_ARRAY(a, const Expr *, t->n_key + 1);
  int64_t *frontier = NEW_ARRAY(a, int64_t, t->n_key + 1);
  Str *name = NEW_ARRAY(a, Str, t->n_key + 1);
  int32_t *wanted = NEW_ARRAY(a, int32_t, t->n_key + 1);
  uint32_t n = 0, *stays = NEW_ARRAY(a, uint32_t, t->n_key + 1);
  for (uint32_t k = 0; k < t->n_key; k++) {
    uint32_t first = 0;
    while (first < n && wanted[first] != x->to[k]) first++;
    to[k] = expr_label(e, first);
    if (first < n) keep = expr_and(e, keep, expr_op2(e, OP_EQ, key[first], expr_label(e, k)));
    else
      key[n] = expr_label(e, k), frontier[n] = t->frontier[k], name[n] = t->key[k], stays[n] = k,
      wanted[n++] = x->to[k];
  }
  if (!keep) return moved(x, r, of, goal);
  RelDim *dim = NEW_ARRAY(a, RelDim, t->rank + 1);
  for (uint32_t d = 0; d < t->rank; d++) dim[d] = renamed(e, t->dim[d], t->n_key, to);
  bool holes = t->holes;
  AlgNode *y = gathered(x, r, alg_filter(x->p, r, of, keep), goal, n, stays);
  y = alg_rekey(x->p, r, y, n, key, frontier, name, dim);
  y->type.holes = holes;
  x->to = wanted;
  return y;
}

/* ---- cutting anew ------------------------------------------------------------------------------------------- */

static bool named(uint32_t n, const Str *key, Str s) {
  for (uint32_t k = 0; k < n; k++)
    if (key[k] == s) return true;
  return false;
}

Str recut_fresh(Algebra *p, const Relation *t, uint32_t n, const Str *others, Str s) {
  while (named(t->n_key, t->key, s) || named(n, others, s)) s = strings_printf(p->strings, "%s'", s->s);
  return s;
}

/* Whether some wanted block is empty. */
static bool some_empty(const Recut *x) {
  const Cuts *w = x->want;
  for (uint32_t d = 0; d < x->of->type.rank; d++) {
    int64_t most[REL_KEYS], key[REL_KEYS] = {0}, extent, low, high;
    double ways = 1;
    if (!x->anew[d] || rel_is_whole(&w->dim[d], &extent)) continue;
    for (uint32_t k = 0; k < w->n_key; k++) {
      most[k] = depends_on(&w->dim[d], w->n_key, k) ? w->frontier[k] : 1;
      ways *= (double)most[k];
    }
    if (ways > (double)TOLD) return true;
    do {
      rel_ranges(1, &w->dim[d], w->n_key, key, &low, &high);
      if (low >= high) return true;
    } while (rel_next_key(w->n_key, most, key));
  }
  return false;
}

/* The part of a dimension in a lap, at its places in the tensor: from 0, if blocks do not state them. */
static RelDim lapped(Exprs *p, RelDim d, uint32_t key, int64_t extent, bool from_first) {
  const Expr *by = expr_op2(p, OP_MUL, expr_label(p, key), expr_int(p, DT_I64, extent)),
             *low = expr_op2(p, OP_SUB, d.low, by);
  if (from_first) low = expr_op2(p, OP_MAX, low, expr_int(p, DT_I64, 0));
  return (RelDim){expr_normal(p, low), expr_normal(p, expr_op2(p, OP_SUB, d.high, by))};
}

/* Each dimension that wraps has a key after the other new ones: pieces are cut from each lap and shifted to it. */
static AlgNode *pieces(Recut *x, AlgRegion *r, AlgNode *of) {
  const Relation *t = &of->type;
  const Cuts *w = x->want;
  Arena *a = x->p->arena;
  int64_t *frontier = NEW_ARRAY(a, int64_t, x->n_put + t->rank + 1);
  Str *key = NEW_ARRAY(a, Str, x->n_put + t->rank + 1);
  RelDim *piece = NEW_ARRAY(a, RelDim, t->rank + 1);
  AlgFn *fn = NEW_ARRAY(a, AlgFn, t->rank + 1);
  const Expr **to = NEW_ARRAY(a, const Expr *, w->n_key + 1);
  for (uint32_t k = 0; k < w->n_key; k++) {
    if (x->put[k] == NONE) continue;
    frontier[x->put[k]] = w->frontier[k];
    key[x->put[k]] = recut_fresh(x->p, t, x->n_put, key, w->key[k]);
    to[k] = expr_label(x->p->exprs, (int64_t)t->n_key + x->put[k]);
  }
  for (uint32_t d = 0; d < t->rank; d++) {
    piece[d] = x->anew[d] ? renamed(x->p->exprs, w->dim[d], w->n_key, to) : t->dim[d];
    if (!wraps(x, d)) continue;
    uint32_t n = x->n_put + x->n_wrap;
    frontier[n] = w->wrap[d].laps;
    key[n] = recut_fresh(x->p, t, n, key, strings_printf(x->p->strings, "lap"));
    fn[x->n_wrap++] = (AlgFn){.kind = FN_SHIFT, .n = d, .by = w->wrap[d].extent, .key = t->n_key + n};
    piece[d] = lapped(x->p->exprs, piece[d], t->n_key + n, w->wrap[d].extent, expr_is_int(t->dim[d].low, 0));
  }
  AlgNode *y = alg_tile(x->p, r, of, x->n_put + x->n_wrap, frontier, key, piece);
  return x->n_wrap ? alg_transform(x->p, r, y, x->n_wrap, fn) : y;
}

/* The keys of `of` that stay, then the new ones. */
static AlgNode *laid(Recut *x, AlgRegion *r, AlgNode *tile, const Placement *goal, const int32_t **on) {
  const Relation *t = &x->of->type;
  Arena *a = x->p->arena;
  uint32_t n = 0, *group = NEW_ARRAY(a, uint32_t, tile->type.n_key + 1);
  int32_t *wanted = NEW_ARRAY(a, int32_t, tile->type.n_key + 1);
  const Expr **to = NEW_ARRAY(a, const Expr *, tile->type.n_key + 1),
             **from = NEW_ARRAY(a, const Expr *, x->want->n_key + 1);
  for (uint32_t k = 0; k < t->n_key; k++)
    if (x->to[k] >= 0) to[k] = expr_label(x->p->exprs, n), wanted[n] = x->to[k], group[n++] = k;
  for (uint32_t k = 0; k < x->want->n_key; k++)
    if (x->put[k] >= 0)
      from[k] = expr_label(x->p->exprs, (int64_t)n + x->put[k]), wanted[n + (uint32_t)x->put[k]] = (int32_t)k;
  for (uint32_t k = 0; k < x->n_put; k++) group[n + k] = t->n_key + k;
  *on = wanted;
  if (n == t->n_key && !x->n_wrap) return moved(x, r, tile, goal);
  tile = gathered(x, r, tile, goal, n + x->n_put, group);
  RelDim *dim = NEW_ARRAY(a, RelDim, t->rank + 1);
  for (uint32_t d = 0; d < t->rank; d++)
    dim[d] = x->anew[d] ? renamed(x->p->exprs, x->want->dim[d], x->want->n_key, from)
                        : renamed(x->p->exprs, t->dim[d], t->n_key, to);
  return alg_concat(x->p, r, tile, n + x->n_put, group, dim);
}

static void recut_start(Recut *x, Algebra *p, const AlgNode *of, const Cuts *want) {
  Arena *a = p->arena;
  *x = (Recut){.p = p, .of = of, .want = want};
  x->anew = NEW_ARRAY(a, bool, of->type.rank + 1);
  x->to = NEW_ARRAY(a, int32_t, of->type.n_key + 1);
  x->put = NEW_ARRAY(a, int32_t, want->n_key + 1);
}

bool recut_lays(Algebra *p, const Relation *t, const Cuts *want) {
  Recut x;
  AlgNode of = {.type = *t};
  recut_start(&x, p, &of, want);
  if (!compare(&x)) return false;
  for (uint32_t k = 0; k < t->n_key; k++)
    if (x.to[k] == NONE) return true;
  return false;
}

AlgNode *recut(Algebra *p, AlgRegion *r, AlgNode *of, const Cuts *want, const Placement *goal, const int32_t **on) {
  Recut x;
  recut_start(&x, p, of, want);
  if (!compare(&x)) {
    AlgNode *y = diagonal(&x, r, of, goal);
    *on = x.to;
    return y;
  }
  if (p->placed && !goal) x.of = of = cut_once(&x, r, of);
  bool kept = of->type.holes || some_empty(&x);
  AlgNode *tile = x.n_put ? pieces(&x, r, of) : of, *y = laid(&x, r, tile, goal, on);
  y->type.holes = kept;
  for (AlgNode *n = y; n != of; n = n->operand[0].node) /* some of the pieces to be concatenated are empty */
    if (n != y || n->kind == ALG_MOVE) n->type.holes = (x.n_put && y->kind == ALG_AGGREGATE) || kept;
  return y;
}

AlgNode *recut_exactly(Algebra *p, AlgRegion *r, AlgNode *of, const Cuts *want, const Placement *goal) {
  const int32_t *on;
  AlgNode *y = recut(p, r, of, want, goal, &on);
  bool same = y->type.n_key == want->n_key;
  for (uint32_t k = 0; same && k < want->n_key; k++) same = on[k] == (int32_t)k && y->type.key[k] == want->key[k];
  if (same) return y;
  const Expr **key = NEW_ARRAY(p->arena, const Expr *, want->n_key + 1);
  for (uint32_t k = 0; k < y->type.n_key; k++) key[on[k]] = expr_label(p->exprs, k);
  bool holes = y->type.holes;
  y = alg_rekey(p, r, y, want->n_key, key, want->frontier, want->key, want->dim);
  y->type.holes = holes;
  return y;
}
