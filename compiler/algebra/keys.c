/* algebra/keys.c - sets of keys by number, and the boxes that depend on them. See keys.h. */
#include "keys.h"

#include <stdlib.h>
#include <string.h>

#include "expr/prove/prove.h"

enum { MOST_STEPS = 1 << 23, MOST_PAIRS = 1 << 23, MOST_TERMS = 1000 };

/* ---- sets ------------------------------------------------------------------------------------------------ */

KeySet keys_all(const Relation *of) {
  return (KeySet){.of = of, .known = true, .all = true};
}

KeySet keys_unknown(const Relation *of) {
  return (KeySet){.of = of};
}

bool keys_told(const KeySet *s) {
  return s->known && (!s->all || rel_keys(s->of) <= (double)ALG_KEYS_TOLD);
}

static bool is_numbered(const Relation *r) {
  return rel_keys(r) < 4e18;
}

static void key_of(const Relation *r, int64_t number, int64_t *key) {
  for (uint32_t k = r->n_key; k-- > 0; number /= r->frontier[k]) key[k] = number % r->frontier[k];
}

bool keys_next(const KeySet *s, uint64_t *i, int64_t *key) {
  bool first = *i == 0;
  if (s->all) return (*i)++, first || rel_next_key(s->of->n_key, s->of->frontier, key);
  if (*i >= s->n) return false;
  key_of(s->of, s->at[(*i)++], key);
  return true;
}

typedef struct Numbers { VEC(int64_t) v; } Numbers;

static int by_number(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return x < y ? -1 : x > y;
}

/* Returns the set of these numbers; *twice: a number that occurs more than once, or -1. */
static KeySet keys_of_numbers(const Relation *of, Numbers *n, int64_t *twice) {
  uint32_t kept = 0;
  *twice = -1;
  if (n->v.len) qsort(n->v.at, n->v.len, sizeof(int64_t), by_number);
  for (uint32_t i = 0; i < n->v.len; i++) {
    if (i && n->v.at[i] == n->v.at[i - 1])
      *twice = n->v.at[i];
    else
      n->v.at[kept++] = n->v.at[i];
  }
  return (KeySet){.of = of, .known = true, .all = (double)kept == rel_keys(of), .n = kept, .at = n->v.at};
}

KeySet keys_kept(Arena *a, const KeySet *s, const Expr *keep) {
  int64_t key[REL_KEYS + 1] = {0}, twice;
  Numbers out = {{0}};
  if (!keys_told(s) || !is_numbered(s->of)) return keys_unknown(s->of);
  for (uint64_t i = 0; keys_next(s, &i, key);)
    if (rel_predicate(keep, s->of->n_key, key)) vec_push(a, out.v, rel_key_number(s->of, key));
  return keys_of_numbers(s->of, &out, &twice);
}

bool keys_has(const KeySet *s, const int64_t *key) {
  if (s->all || !s->n) return s->all;
  int64_t number = rel_key_number(s->of, key);
  return bsearch(&number, s->at, s->n, sizeof *s->at, by_number);
}

static bool has_key(const KeySet *s, const int32_t *on, const int64_t *key) {
  int64_t its[REL_KEYS + 1];
  for (uint32_t k = 0; k < s->of->n_key; k++) its[k] = on[k] < 0 ? 0 : key[on[k]];
  return keys_has(s, its);
}

KeySet keys_joined(Arena *a, const Relation *of, uint32_t n, const KeySet *set, const int32_t *const *on) {
  KeySet all = keys_all(of);
  bool whole = true, told = keys_told(&all) && is_numbered(of);
  for (uint32_t i = 0; i < n; i++) whole = whole && set[i].known && set[i].all, told = told && set[i].known;
  if (whole || !told) return whole ? all : keys_unknown(of);
  int64_t key[REL_KEYS + 1] = {0}, twice;
  Numbers out = {{0}};
  for (uint64_t step = 0; keys_next(&all, &step, key);) {
    bool there = true;
    for (uint32_t i = 0; there && i < n; i++) there = has_key(&set[i], on[i], key);
    if (there) vec_push(a, out.v, rel_key_number(of, key));
  }
  return keys_of_numbers(of, &out, &twice);
}

/* ---- pieces ------------------------------------------------------------------------------------------------ */

typedef struct Pieces {
  Arena *a;
  const Relation *block, *of; /* the old keys; the old and the new ones */
  RelTables piece;
  const uint32_t *last;      /* by dimension: on how many leading keys its pieces depend */
  int64_t low[256], high[256]; /* of the current block */
  bool empty;                /*   it has no elements */
  int64_t key[REL_KEYS + 1];
  uint32_t steps;
  Numbers out;
} Pieces;

/* Whether the dimensions that depend on exactly the first n keys are not empty there. */
static bool leaves(const Pieces *p, uint32_t n) {
  for (uint32_t d = 0; d < p->block->rank; d++) {
    if (p->last[d] != n) continue;
    int64_t low, high;
    rel_table_get(&p->piece, d, p->key, &low, &high);
    if ((low > p->low[d] ? low : p->low[d]) >= (high < p->high[d] ? high : p->high[d])) return false;
  }
  return true;
}

/* Enumerates the keys from n on, but prunes values that leave a dimension empty. */
static bool pieces_from(Pieces *p) {
  uint32_t old = p->block->n_key, all = p->of->n_key, n = old;
  if (!p->empty && !leaves(p, n)) return true;
  for (uint32_t k = old; k < all; k++) p->key[k] = -1;
  for (;;) {
    if (n == all) {
      if (p->out.v.len == ALG_KEYS_TOLD) return false;
      vec_push(p->a, p->out.v, rel_key_number(p->of, p->key));
      if (n == old) return true;
      n--;
    }
    while (++p->key[n] == p->of->frontier[n]) {
      p->key[n] = -1;
      if (n == old) return true;
      n--;
    }
    if (++p->steps == MOST_STEPS) return false;
    if (p->empty || leaves(p, n + 1)) n++;
  }
}

/* At least the old keys: what depends on them alone is checked first. */
static uint32_t last_key(Arena *a, const RelDim *d, uint32_t old, uint32_t all) {
  bool *used = NEW_ARRAY(a, bool, all + 1);
  expr_labels(d->low, all, used);
  expr_labels(d->high, all, used);
  uint32_t n = all;
  while (n > old && !used[n - 1]) n--;
  return n;
}

KeySet keys_pieces(Arena *a, const KeySet *s, const Relation *of, uint32_t n_piece, const RelDim *piece) {
  uint32_t rank = s->of->rank, *last = NEW_ARRAY(a, uint32_t, rank + 1);
  if (!keys_told(s) || !is_numbered(of)) return keys_unknown(of);
  for (uint32_t d = 0; d < rank; d++) last[d] = last_key(a, &piece[d], s->of->n_key, s->of->n_key + n_piece);
  Pieces *p = MAKE(a, Pieces, .a = a, .block = s->of, .of = of, .last = last,
      .piece = rel_tables_new(a, rank, piece, of->n_key, of->frontier));
  RelTables block = rel_tables_new(a, rank, s->of->dim, s->of->n_key, s->of->frontier);
  int64_t key[REL_KEYS + 1] = {0}, twice;
  for (uint64_t i = 0; keys_next(s, &i, key);) {
    memcpy(p->key, key, s->of->n_key * sizeof *key);
    rel_tables_get(&block, key, p->low, p->high);
    p->empty = false;
    for (uint32_t d = 0; d < rank; d++) p->empty |= p->low[d] >= p->high[d];
    if (!pieces_from(p)) return keys_unknown(of);
  }
  return keys_of_numbers(of, &p->out, &twice);
}

/* ---- new keys ------------------------------------------------------------------------------------------------ */

/* Adds up the coefficients of labels in a sum; false if it is none. The caller looks for a mixed radix of all
 * labels. */
static bool radix_of(const Expr *e, int64_t factor, uint32_t n, int64_t *coefficient, uint32_t depth) {
  if (depth == MOST_TERMS) return false;
  if (e->kind == EX_INT) return e->i == 0;
  if (e->kind == EX_LABEL) {
    if (e->i >= n || coefficient[e->i]) return false;
    coefficient[e->i] = factor;
    return true;
  }
  if (e->kind != EX_OP || e->n != 2) return false;
  if (e->op == OP_ADD)
    return radix_of(e->arg[0], factor, n, coefficient, depth + 1) &&
        radix_of(e->arg[1], factor, n, coefficient, depth + 1);
  if (e->op != OP_MUL) return false;
  bool left = e->arg[0]->kind == EX_INT;
  int64_t c = e->arg[left ? 0 : 1]->i;
  if (e->arg[left ? 0 : 1]->kind != EX_INT || c <= 0 || !mul_ok(factor, c, &factor)) return false;
  return radix_of(e->arg[left ? 1 : 0], factor, n, coefficient, depth + 1);
}

/* Whether e takes each value from 0 to below `frontier` exactly once as its labels vary. Marks these labels in
 * `used`. */
static bool is_radix(Arena *a, const Expr *e, const Relation *from, int64_t frontier, bool *used) {
  int64_t *c = NEW_ARRAY(a, int64_t, from->n_key + 1), due = 1;
  if (!radix_of(e, 1, from->n_key, c, 0)) return false;
  for (uint32_t left = from->n_key; left-- > 0;) {
    uint32_t k = 0;
    while (k < from->n_key && (c[k] != due || used[k] || from->frontier[k] == 1)) k++;
    if (k == from->n_key) break;
    used[k] = true;
    c[k] = 0;
    if (!mul_ok(due, from->frontier[k], &due)) return false;
  }
  for (uint32_t k = 0; k < from->n_key; k++)
    if (c[k] && from->frontier[k] > 1) return false;
  return due == frontier;
}

/* Whether keys are only permuted or merged, so that no enumeration is needed. */
static bool is_permuted(Arena *a, Exprs *p, const Relation *from, const Relation *of, const Expr *const *to) {
  bool *used = NEW_ARRAY(a, bool, from->n_key + 1);
  for (uint32_t k = 0; k < of->n_key; k++)
    if (!is_radix(a, to[k], from, of->frontier[k], used) &&
        !is_radix(a, expr_normal(p, to[k]), from, of->frontier[k], used))
      return false;
  for (uint32_t k = 0; k < from->n_key; k++)
    if (!used[k] && from->frontier[k] > 1) return false;
  return true;
}

KeySet keys_mapped(Arena *a, Exprs *p, const KeySet *s, const Relation *of, const Expr *const *to, bool once,
    KeysWrong *wrong, int64_t *at) {
  int64_t key[REL_KEYS + 1] = {0}, twice;
  Numbers out = {{0}};
  *wrong = KEYS_WELL;
  if (s->known && s->all && is_permuted(a, p, s->of, of, to)) return keys_all(of);
  if (!keys_told(s) || !is_numbered(of)) return keys_unknown(of);
  for (uint64_t i = 0; keys_next(s, &i, key);) {
    for (uint32_t k = 0; k < of->n_key; k++) {
      at[k] = rel_value(to[k], s->of->n_key, key);
      if (at[k] >= 0 && at[k] < of->frontier[k]) continue;
      *wrong = KEYS_OUTSIDE;
      memcpy(at, key, s->of->n_key * sizeof *key);
      return keys_unknown(of);
    }
    vec_push(a, out.v, rel_key_number(of, at));
  }
  KeySet set = keys_of_numbers(of, &out, &twice);
  if (once && twice >= 0) {
    *wrong = KEYS_TWICE;
    key_of(of, twice, at);
  }
  return set;
}

/* ---- ranges ---------------------------------------------------------------------------------------------------- */

bool ranges_agree(Exprs *p, const KeySet *s, uint32_t n, const RelDim *a, const RelDim *b, uint32_t n_to,
    const Expr *const *to, uint32_t *dim, int64_t *key) {
  for (uint32_t d = 0; d < n; d++) {
    RelDim x = to ? (RelDim){expr_relabel(p, b[d].low, n_to, to), expr_relabel(p, b[d].high, n_to, to)} : b[d];
    if ((expr_same_value(p, a[d].low, x.low) && expr_same_value(p, a[d].high, x.high)) || !keys_told(s)) continue;
    *dim = d;
    memset(key, 0, (s->of->n_key + 1) * sizeof *key);
    for (uint64_t i = 0; keys_next(s, &i, key);)
      if (rel_value(a[d].low, s->of->n_key, key) != rel_value(x.low, s->of->n_key, key) ||
          rel_value(a[d].high, s->of->n_key, key) != rel_value(x.high, s->of->n_key, key))
        return false;
  }
  return true;
}

bool ranges_well(Exprs *p, const KeySet *s, uint32_t n, const RelDim *dim, uint32_t *which, int64_t *key) {
  int64_t extent;
  uint32_t k;
  for (uint32_t d = 0; d < n; d++) {
    Relation r = *s->of;
    r.dim = &dim[d];
    r.rank = 1;
    bool well = rel_is_whole(&dim[d], &extent) ? extent >= 0 : rel_is_cut(p, &r, 0, &k, &extent) && extent >= 0;
    if (well || !keys_told(s)) continue;
    *which = d;
    memset(key, 0, (s->of->n_key + 1) * sizeof *key);
    for (uint64_t i = 0; keys_next(s, &i, key);) {
      int64_t low = rel_value(dim[d].low, s->of->n_key, key);
      if (low < 0 || low > rel_value(dim[d].high, s->of->n_key, key)) return false;
    }
  }
  return true;
}

/* ---- boxes that make up a whole ---------------------------------------------------------------------------------- */

typedef struct Box { const int64_t *low, *high; uint32_t number; } Box;

typedef struct Boxes {
  uint32_t rank;
  const int64_t *low, *high; /* of the whole */
  VEC(Box) box;
} Boxes;

static bool volume_of(uint32_t rank, const int64_t *low, const int64_t *high, int64_t *out) {
  *out = 1;
  for (uint32_t d = 0; d < rank; d++)
    if (low[d] >= high[d]) return *out = 0, true;
  for (uint32_t d = 0; d < rank; d++)
    if (!mul_ok(*out, high[d] - low[d], out)) return false;
  return true;
}

static bool boxes_meet(uint32_t rank, const Box *a, const Box *b) {
  for (uint32_t d = 0; d < rank; d++)
    if (a->high[d] <= b->low[d] || b->high[d] <= a->low[d]) return false;
  return true;
}

static int by_low(const void *a, const void *b) {
  int64_t x = *((const Box *)a)->low, y = *((const Box *)b)->low;
  return x < y ? -1 : x > y;
}

/* Whether none is outside, they are together as large as the whole, and no two overlap. Empty boxes do not count.
 * *at: the wrong box. */
static Filling boxes_fill_whole(Boxes *b, uint32_t *at) {
  int64_t whole, sum = 0, one;
  uint32_t n = 0;
  *at = 0;
  if (!volume_of(b->rank, b->low, b->high, &whole)) return FILL_WELL; /* larger than can be told */
  for (uint32_t i = 0; i < b->box.len; i++) {
    Box x = b->box.at[i];
    bool told = volume_of(b->rank, x.low, x.high, &one), out = !told;
    for (uint32_t d = 0; told && one && d < b->rank; d++) out |= x.low[d] < b->low[d] || x.high[d] > b->high[d];
    if (out) return *at = x.number, FILL_OUTSIDE;
    if (!add_ok(sum, one, &sum)) return FILL_TWICE;
    if (one) b->box.at[n++] = x;
  }
  if (sum < whole) return FILL_GAP;
  if (b->rank) qsort(b->box.at, n, sizeof(Box), by_low);
  uint32_t pairs = 0;
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t j = i + 1; j < n && (!b->rank || b->box.at[j].low[0] < b->box.at[i].high[0]); j++) {
      if (boxes_meet(b->rank, &b->box.at[i], &b->box.at[j])) return *at = b->box.at[j].number, FILL_TWICE;
      if (++pairs == MOST_PAIRS) return sum == whole ? FILL_WELL : FILL_TWICE;
    }
  return sum == whole ? FILL_WELL : FILL_TWICE;
}

typedef struct Fill {
  Arena *a;
  const KeySet *s;
  const RelDim *dim, *whole;
  const bool *group;
  uint32_t rank;
} Fill;

static Box box_at(Arena *a, const Fill *f, const RelDim *dim, const int64_t *key) {
  int64_t *x = NEW_ARRAY(a, int64_t, 2 * f->rank + 1);
  rel_ranges(f->rank, dim, f->s->of->n_key, key, x, x + f->rank);
  return (Box){x, x + f->rank, 0};
}

/* Checks the boxes of the current keys, which agree in their group. */
static Filling group_fill(const Fill *f, uint32_t n, const int64_t *numbers, int64_t *key) {
  Arena *own = arena_new();
  key_of(f->s->of, numbers[0], key);
  Box whole = box_at(own, f, f->whole, key);
  Boxes b = {.rank = f->rank, .low = whole.low, .high = whole.high};
  for (uint32_t i = 0; i < n; i++) {
    key_of(f->s->of, numbers[i], key);
    Box x = box_at(own, f, f->dim, key);
    x.number = i;
    vec_push(own, b.box, x);
  }
  uint32_t at;
  Filling how = boxes_fill_whole(&b, &at);
  key_of(f->s->of, numbers[at], key);
  arena_free(own);
  return how;
}

typedef struct Grouped { int64_t group, number; } Grouped;

static int by_group(const void *a, const void *b) {
  const Grouped *x = a, *y = b;
  if (x->group != y->group) return x->group < y->group ? -1 : 1;
  return x->number < y->number ? -1 : x->number > y->number;
}

static Filling fill_one_by_one(const Fill *f, int64_t *key) {
  const Relation *r = f->s->of;
  VEC(Grouped) all = {0};
  memset(key, 0, (r->n_key + 1) * sizeof *key);
  for (uint64_t i = 0; keys_next(f->s, &i, key);) {
    int64_t g = 0;
    for (uint32_t k = 0; k < r->n_key; k++)
      if (f->group[k]) g = g * r->frontier[k] + key[k];
    vec_push(f->a, all, ((Grouped){g, rel_key_number(r, key)}));
  }
  if (!all.len) return FILL_WELL;
  qsort(all.at, all.len, sizeof(Grouped), by_group);
  int64_t *number = NEW_ARRAY(f->a, int64_t, all.len);
  for (uint32_t i = 0; i < all.len; i++) number[i] = all.at[i].number;
  for (uint32_t i = 0, j; i < all.len; i = j) {
    for (j = i + 1; j < all.len && all.at[j].group == all.at[i].group;) j++;
    Filling how = group_fill(f, j - i, number + i, key);
    if (how != FILL_WELL) return how;
  }
  return FILL_WELL;
}

/* By key of the relation, whether the dimension depends on it. */
static const bool *keys_used(const Fill *f, uint32_t d) {
  uint32_t n = f->s->of->n_key;
  bool *used = NEW_ARRAY(f->a, bool, n + 1);
  expr_labels(f->dim[d].low, n, used);
  expr_labels(f->dim[d].high, n, used);
  expr_labels(f->whole[d].low, n, used);
  expr_labels(f->whole[d].high, n, used);
  return used;
}

/* Whether dimensions can be checked separately: no two depend on the same dropped key, and each dropped key is used. */
static bool is_by_dims(const Fill *f) {
  const Relation *r = f->s->of;
  uint32_t *users = NEW_ARRAY(f->a, uint32_t, r->n_key + 1);
  for (uint32_t d = 0; d < f->rank; d++) {
    const bool *used = keys_used(f, d);
    double n = 1;
    for (uint32_t k = 0; k < r->n_key; k++) {
      users[k] += used[k];
      if (used[k]) n *= (double)r->frontier[k];
    }
    if (n > (double)ALG_KEYS_TOLD) return false;
  }
  for (uint32_t k = 0; k < r->n_key; k++)
    if (!f->group[k] && r->frontier[k] > 1 && users[k] != 1) return false;
  return f->s->known && f->s->all;
}

/* Enumerates the keys on which this dimension depends; the others are 0. */
static Filling fill_dim(const Fill *f, uint32_t d, int64_t *key) {
  const Relation *r = f->s->of;
  const bool *used = keys_used(f, d);
  int64_t *frontier = NEW_ARRAY(f->a, int64_t, r->n_key + 1);
  for (uint32_t k = 0; k < r->n_key; k++) frontier[k] = used[k] ? r->frontier[k] : 1;
  Relation part = {.n_key = r->n_key, .frontier = frontier};
  KeySet s = keys_all(&part);
  Fill one = {.a = f->a, .s = &s, .dim = f->dim + d, .whole = f->whole + d, .group = f->group, .rank = 1};
  return fill_one_by_one(&one, key);
}

Filling boxes_fill(Arena *a, const KeySet *s, const RelDim *dim, const bool *group, const RelDim *whole, int64_t *key) {
  Fill f = {.a = a, .s = s, .dim = dim, .whole = whole, .group = group, .rank = s->of->rank};
  Filling how = FILL_WELL;
  if (!is_numbered(s->of)) return how;
  if (!is_by_dims(&f)) return keys_told(s) ? fill_one_by_one(&f, key) : how;
  for (uint32_t d = 0; how == FILL_WELL && d < f.rank; d++) how = fill_dim(&f, d, key);
  return how;
}
