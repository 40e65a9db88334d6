/* tests/rule/random_term.h - random programs that a rule's pattern matches: relations of a few keys and small odd
 * extents, placed anyhow on a small mesh, with parts where they may be. What comes out may still be wrong (parts that
 * are joined): the test looks. */
#ifndef EIN_TEST_RANDOM_TERM_H
#define EIN_TEST_RANDOM_TERM_H

#include "sites.h"

#include "expr/prove/prove.h"

typedef struct Gen {
  Algebra *p;
  uint64_t seed;
  uint32_t names;
  const Rule *rule;
  DType dtype;               /* of inputs */
  bool tables;               /* inputs with a dimension for each key are wanted, most of them whole */
  bool broken;               /* concats of relations with holes are wanted */
  AlgNode *last_aggregate;   /* parts of it may be wanted: by the same reducer then */
} Gen;

static uint32_t random_below(Gen *g, uint32_t n) {
  g->seed ^= g->seed << 13, g->seed ^= g->seed >> 7, g->seed ^= g->seed << 17;
  return n ? (uint32_t)((g->seed * 0x9e3779b97f4a7c15u >> 33) % n) : 0;
}

static bool chance(Gen *g, uint32_t percent) {
  return random_below(g, 100) < percent;
}

static Str name_new(Gen *g, const char *stem) {
  return strings_printf(g->p->strings, "%s%u", stem, g->names++);
}

static const Expr *lab(Gen *g, int64_t k) { return expr_label(g->p->exprs, k); }
static const Expr *num(Gen *g, int64_t v) { return expr_int(g->p->exprs, DT_I64, v); }

static Placement place_random(Gen *g, uint32_t n_key, uint32_t all) {
  Placement x;
  for (uint32_t a = 0; a < MESH_AXES; a++)
    x.on[a] = (int8_t)(n_key && a < g->p->mesh.n && !chance(g, all) ? (int)random_below(g, n_key) : PLACE_ALL);
  return x;
}

static AlgNode *moved(Gen *g, AlgNode *of, uint32_t all) {
  Placement x = place_random(g, of->type.n_key, all);
  for (uint32_t a = 0; a < g->p->mesh.n; a++)
    if (of->at.on[a] == PLACE_PART && chance(g, 30)) x.on[a] = PLACE_PART;
  return alg_move(g->p, g->p->top, of, &x);
}

/* ---- relations ----------------------------------------------------------------------------------------------- */

static AlgNode *input_random(Gen *g, uint32_t n_key) {
  int64_t frontier[S_KEYS];
  Str key[S_KEYS];
  RelDim dim[S_RANK];
  bool used[S_KEYS] = {false};
  bool table = g->tables && chance(g, 75);
  uint32_t rank = table ? n_key = 1 + random_below(g, 2), n_key + random_below(g, 2) : random_below(g, 3),
           first = random_below(g, 2);
  for (uint32_t k = 0; k < n_key; k++) frontier[k] = 1 + random_below(g, 4), key[k] = name_new(g, "k");
  for (uint32_t d = 0; d < rank; d++) {
    uint32_t k = random_below(g, n_key + 1);
    int64_t extent = 1 + random_below(g, 7);
    if (table && d < n_key) k = (d + first) % n_key, extent = frontier[k] + random_below(g, 4);
    bool cut = k < n_key && !used[k] && frontier[k] <= extent;
    dim[d] = cut ? rel_cut(g->p->exprs, extent, lab(g, k), frontier[k]) : rel_whole(g->p->exprs, extent);
    if (cut) used[k] = true;
  }
  Relation t = {.dtype = g->dtype,
      .n_key = n_key,
      .frontier = arena_copy(g->p->arena, frontier, sizeof frontier),
      .key = arena_copy(g->p->arena, key, sizeof key),
      .rank = rank,
      .dim = arena_copy(g->p->arena, dim, sizeof dim)};
  Placement at = place_random(g, n_key, 0);
  return alg_input(g->p, name_new(g, "X"), &t, &at);
}

static bool key_shapes(const AlgNode *n, uint32_t key) {
  for (uint32_t d = 0; d < n->type.rank; d++)
    if ((n->type.dim[d].low->labels | n->type.dim[d].high->labels) >> key & 1) return true;
  return false;
}

static const Reducer reducers[] = {RED_SUM, RED_SUM, RED_PROD, RED_MAX, RED_MIN};

/* Keys that no box hangs on may go; the others stay, in any order. */
static uint32_t group_random(Gen *g, const AlgNode *of, bool shaping, uint32_t *group) {
  uint32_t n = 0;
  for (uint32_t k = 0; k < of->type.n_key; k++)
    if ((!shaping && key_shapes(of, k)) || chance(g, 55)) group[n++] = k;
  for (uint32_t k = 0; k + 1 < n && chance(g, 60); k++) {
    uint32_t i = k + random_below(g, n - k), x = group[k];
    group[k] = group[i], group[i] = x;
  }
  return n;
}

static AlgNode *reduced_random(Gen *g, AlgNode *of) {
  uint32_t group[S_KEYS], n = group_random(g, of, false, group);
  const AlgNode *by = alg_in_parts(g->p, of) ? pending_of(of) : NULL;
  Reducer r = by ? by->reducer : reducers[random_below(g, COUNT(reducers))];
  if (!by && g->last_aggregate && chance(g, 70)) r = g->last_aggregate->reducer;
  return g->last_aggregate = alg_aggregate(g->p, g->p->top, of, n, group, r, NULL);
}

/* Blocks are laid together along keys that cut a dimension each, or have one value. */
static AlgNode *concat_random(Gen *g, AlgNode *of) {
  uint32_t group[S_KEYS], n = 0;
  RelDim dim[S_RANK];
  bool goes[S_KEYS] = {false};
  const Expr **to = NEW_ARRAY(g->p->arena, const Expr *, S_KEYS);
  for (uint32_t d = 0; d < of->type.rank; d++) {
    uint32_t k;
    int64_t extent;
    dim[d] = of->type.dim[d];
    if (!rel_is_cut(g->p->exprs, &of->type, d, &k, &extent) || goes[k] || chance(g, 25)) continue;
    bool once = true; /* a key that cuts several dimensions makes no box */
    for (uint32_t i = 0; i < of->type.rank; i++)
      once = once && (i == d || !((of->type.dim[i].low->labels | of->type.dim[i].high->labels) >> k & 1));
    if (!once) continue;
    goes[k] = true;
    dim[d] = rel_whole(g->p->exprs, extent);
  }
  for (uint32_t k = of->type.n_key; k-- > 0;)
    if (!goes[k]) to[k] = lab(g, n), group[n++] = k;
  for (uint32_t d = 0; d < of->type.rank; d++) {
    dim[d].low = expr_normal(g->p->exprs, expr_relabel(g->p->exprs, dim[d].low, of->type.n_key, to));
    dim[d].high = expr_normal(g->p->exprs, expr_relabel(g->p->exprs, dim[d].high, of->type.n_key, to));
  }
  return alg_concat(g->p, g->p->top, of, n, group, dim);
}

static const Expr *keep_random(Gen *g, const AlgNode *of);

static AlgNode *relation_random(Gen *g) {
  AlgNode *n = input_random(g, 1 + random_below(g, 3));
  if (chance(g, 30)) n = moved(g, n, 40);
  if (chance(g, g->tables ? 5 : 30)) n = reduced_random(g, n);
  if (chance(g, 30)) n = moved(g, n, 40);
  if (chance(g, g->broken && !g->tables ? 70 : 10)) n = alg_filter(g->p, g->p->top, n, keep_random(g, n));
  return n;
}

/* ---- predicates, maps ------------------------------------------------------------------------------------------ */

static const Expr *keep_random(Gen *g, const AlgNode *of) {
  Exprs *e = g->p->exprs;
  uint32_t n = of->type.n_key;
  if (!n) return expr_op2(e, OP_LE, num(g, 0), num(g, random_below(g, 2)));
  const Expr *a = lab(g, random_below(g, n));
  if (chance(g, 30)) a = expr_op2(e, OP_ADD, a, lab(g, random_below(g, n)));
  if (chance(g, 30)) a = expr_op2(e, OP_MOD, a, num(g, 2));
  const Expr *b = expr_op2(e, chance(g, 50) ? OP_LE : OP_NE, a, num(g, random_below(g, 3)));
  return chance(g, 40) ? expr_and(e, b, keep_random(g, of)) : b;
}

static void fns_random(Gen *g, AlgNode *n) {
  bool concat = n->kind == ALG_AGGREGATE && n->reducer == RED_NONE;
  AlgFn *fn = NEW_ARRAY(g->p->arena, AlgFn, 2);
  uint8_t *merge = NEW_ARRAY(g->p->arena, uint8_t, 2);
  DType to = chance(g, 60) ? DT_I32 : chance(g, 50) ? DT_I16 : DT_I64;
  int64_t extent;
  fn[0] = (AlgFn){.kind = FN_CAST, .to = to};
  merge[0] = 2;
  if (!concat && n->type.rank == 2 && rel_is_whole(&n->type.dim[1], &extent) && chance(g, 60))
    fn[0] = (AlgFn){.kind = FN_MERGE, .n = 1, .merge = merge};
  bool alone = n->kind == ALG_MAP && !n->n_piece && !n->rekey && n->type.n_key && n->type.rank;
  if (alone && chance(g, 15))
    fn[0] = (AlgFn){.kind = FN_SHIFT,
        .n = random_below(g, n->type.rank),
        .by = 1 + random_below(g, 9),
        .key = random_below(g, n->type.n_key)};
  n->type = alg_transform(g->p, &(AlgRegion){0}, n, 1, fn)->type;
  n->fn = fn;
  n->n_fn = 1;
}

/* Where a rekey's result is: keys that are cut must be there as they were; else it is moved away before. */
static AlgNode *permute_random(Gen *g, AlgNode *of) {
  uint32_t n = 0, old = of->type.n_key, from[S_KEYS];
  int64_t frontier[S_KEYS];
  Str name[S_KEYS];
  RelDim dim[S_RANK];
  const Expr *key[S_KEYS], **to = NEW_ARRAY(g->p->arena, const Expr *, S_KEYS);
  for (uint32_t k = 0; k < old; k++) {
    bool cut = false;
    for (uint32_t a = 0; a < g->p->mesh.n; a++) cut = cut || of->at.on[a] == (int)k;
    if (of->type.frontier[k] > 1 || cut || chance(g, 50)) from[n++] = k;
    else to[k] = num(g, 0);
  }
  for (uint32_t k = 0; k < n; k++) {
    uint32_t i = k + random_below(g, n - k), x = from[k];
    from[k] = from[i], from[i] = x;
    key[k] = lab(g, from[k]), frontier[k] = of->type.frontier[from[k]], name[k] = name_new(g, "r"),
    to[from[k]] = lab(g, k);
  }
  for (uint32_t d = 0; d < of->type.rank; d++) {
    dim[d].low = expr_normal(g->p->exprs, expr_relabel(g->p->exprs, of->type.dim[d].low, old, to));
    dim[d].high = expr_normal(g->p->exprs, expr_relabel(g->p->exprs, of->type.dim[d].high, old, to));
  }
  return alg_rekey(g->p, g->p->top, of, n, key, frontier, name, dim);
}

/* Two keys that nothing cuts become one. */
static AlgNode *merge_random(Gen *g, AlgNode *of) {
  uint32_t old = of->type.n_key, n = 0;
  int64_t frontier[S_KEYS], f;
  Str name[S_KEYS];
  RelDim dim[S_RANK];
  const Expr *key[S_KEYS], **to = NEW_ARRAY(g->p->arena, const Expr *, S_KEYS);
  bool cut = old < 2;
  for (uint32_t a = 0; a < g->p->mesh.n; a++) cut = cut || of->at.on[a] == (int)old - 1 || of->at.on[a] == (int)old - 2;
  if (cut) return permute_random(g, of);
  for (; n + 2 < old; n++) key[n] = to[n] = lab(g, n), frontier[n] = of->type.frontier[n], name[n] = name_new(g, "r");
  f = of->type.frontier[n + 1];
  key[n] = expr_op2(g->p->exprs, OP_ADD, expr_op2(g->p->exprs, OP_MUL, lab(g, n), num(g, f)), lab(g, n + 1));
  frontier[n] = of->type.frontier[n] * f, name[n] = name_new(g, "r");
  to[n] = expr_op2(g->p->exprs, OP_IDIV, lab(g, n), num(g, f));
  to[n + 1] = expr_op2(g->p->exprs, OP_MOD, lab(g, n), num(g, f));
  for (uint32_t d = 0; d < of->type.rank; d++) {
    dim[d].low = expr_relabel(g->p->exprs, of->type.dim[d].low, old, to);
    dim[d].high = expr_relabel(g->p->exprs, of->type.dim[d].high, old, to);
  }
  return alg_rekey(g->p, g->p->top, of, n + 1, key, frontier, name, dim);
}

/* Pieces cut by a new key: even ones of a whole dimension, perhaps with a halo, or two halves of a block that is cut
 * already. */
static AlgNode *tile_random(Gen *g, AlgNode *of) {
  Exprs *e = g->p->exprs;
  int64_t frontier = 1 + random_below(g, 3), extent;
  Str key = name_new(g, "t");
  RelDim piece[S_RANK];
  uint32_t cut = random_below(g, of->type.rank + 1);
  for (uint32_t d = 0; d < of->type.rank; d++) {
    piece[d] = of->type.dim[d];
    if (d != cut) continue;
    if (rel_is_whole(&piece[d], &extent)) { /* may leave a piece without elements */
      piece[d] = rel_cut(e, extent, lab(g, of->type.n_key), frontier);
      if (!chance(g, 40)) continue;
      piece[d].low = expr_op2(e, OP_MAX, num(g, 0), expr_op2(e, OP_SUB, piece[d].low, num(g, 1)));
      piece[d].high = expr_op2(e, OP_MIN, num(g, extent), expr_op2(e, OP_ADD, piece[d].high, num(g, 1)));
    } else {
      const Expr *size = expr_op2(e, OP_SUB, piece[d].high, piece[d].low), *low = piece[d].low, *f = num(g, frontier),
                 *t = lab(g, of->type.n_key);
      piece[d].low = expr_normal(e, expr_op2(e, OP_ADD, low, expr_op2(e, OP_IDIV, expr_op2(e, OP_MUL, size, t), f)));
      t = expr_op2(e, OP_ADD, t, num(g, 1));
      piece[d].high = expr_normal(e, expr_op2(e, OP_ADD, low, expr_op2(e, OP_IDIV, expr_op2(e, OP_MUL, size, t), f)));
      /* beyond the block there is nothing */
      if (chance(g, 30)) piece[d].high = expr_op2(e, OP_ADD, piece[d].high, num(g, 1));
    }
  }
  AlgNode *x = alg_tile(g->p, g->p->top, of, 1, &frontier, &key, piece);
  x->type.holes = true;
  return x;
}

static AlgNode *map_random(Gen *g, AlgNode *of) {
  uint32_t what = random_below(g, 100);
  bool parts = alg_in_parts(g->p, of);
  AlgNode *x;
  if (what < 35 && of->type.n_key < 5) x = tile_random(g, of);
  else if (what < 55) x = permute_random(g, of);
  else if (what < 65) x = merge_random(g, of);
  else x = alg_transform(g->p, g->p->top, of, 0, NULL);
  if (!parts && (what >= 65 || chance(g, 30))) fns_random(g, x);
  if (!x->piece && !x->rekey && !x->n_fn) return tile_random(g, of);
  return x;
}

/* ---- joins --------------------------------------------------------------------------------------------------------
 */

typedef struct Joint {       /* a join that is being made */
  uint32_t n, n_key, n_label;
  AlgNode *of[3];
  int32_t on[3][S_KEYS];
  int64_t frontier[S_KEYS];
  Str key[S_KEYS];
  RelDim range[2 * S_RANK];
  uint32_t label_of[3][S_RANK];
  bool wanted[3];
} Joint;

/* Keys with equal frontiers may be one. */
static void keys_agree(Gen *g, Joint *j, uint32_t i) {
  const Relation *t = &j->of[i]->type;
  for (uint32_t k = 0; k < t->n_key; k++) {
    uint32_t to = random_below(g, j->n_key + 1);
    bool taken = to >= j->n_key || j->frontier[to] != t->frontier[k] || chance(g, 15);
    for (uint32_t b = 0; b < k; b++) taken = taken || j->on[i][b] == (int32_t)to;
    for (uint32_t b = 0; taken && b < j->n_key; b++) {
      bool free = j->frontier[b] == t->frontier[k] && chance(g, 70);
      for (uint32_t c = 0; c < k; c++) free = free && j->on[i][c] != (int32_t)b;
      if (free) { to = b, taken = false; break; }
    }
    if (taken) to = j->n_key++, j->frontier[to] = t->frontier[k], j->key[to] = name_new(g, "j");
    j->on[i][k] = (int32_t)to;
  }
}

/* A label for each dimension; dimensions over one box may share it. */
static void labels_agree(Gen *g, Joint *j, uint32_t i) {
  const Relation *t = &j->of[i]->type;
  const Expr **to = NEW_ARRAY(g->p->arena, const Expr *, S_KEYS);
  for (uint32_t k = 0; k < t->n_key; k++) to[k] = lab(g, j->on[i][k]);
  for (uint32_t d = 0; d < t->rank; d++) {
    RelDim r = {expr_normal(g->p->exprs, expr_relabel(g->p->exprs, t->dim[d].low, t->n_key, to)),
                expr_normal(g->p->exprs, expr_relabel(g->p->exprs, t->dim[d].high, t->n_key, to))};
    uint32_t l = 0;
    while (l < j->n_label && (j->range[l].low != r.low || j->range[l].high != r.high || chance(g, 20))) l++;
    if (l == j->n_label) j->range[j->n_label++] = r;
    j->label_of[i][d] = l;
  }
}

/* What never comes to be read, though no one can tell by the expression. */
static const Expr *unread(Gen *g, const Expr *read) {
  const Expr *never = expr_op2(g->p->exprs, OP_LT, lab(g, 0), num(g, 0));
  return expr_select(g->p->exprs, never, read, expr_int(g->p->exprs, (DType)read->dtype, 5));
}

static const EinSum *sum_random(Gen *g, Joint *j, Str *name) {
  EinSum *s = NEW(g->p->arena, EinSum);
  uint32_t to[2 * S_RANK], n = 0;
  RelDim range[2 * S_RANK];
  bool reduced[2 * S_RANK];
  for (uint32_t l = 0; l < j->n_label; l++) reduced[l] = chance(g, 30);
  for (int red = 0; red < 2; red++)
    for (uint32_t l = 0; l < j->n_label; l++)
      if (reduced[l] == (red == 1)) *(red ? &s->n_red : &s->n_out) += 1, range[n] = j->range[l], to[l] = n++;
  memcpy(j->range, range, sizeof range);
  for (uint32_t i = 0; i < j->n; i++) {
    const Expr *index[S_RANK];
    for (uint32_t d = 0; d < j->of[i]->type.rank; d++) index[d] = lab(g, to[j->label_of[i][d]]);
    int64_t extent; /* the second at what the first has there */
    bool gathers =
        i == 1 && strstr(g->rule->name, "gather") && g->dtype == DT_I64 && j->of[1]->type.rank && chance(g, 60);
    bool astray =
        i == 1 && strstr(g->rule->conditions, "readable") && g->dtype == DT_I64 && j->of[1]->type.rank && chance(g, 10);
    if ((gathers || astray) && rel_is_whole(&j->of[1]->type.dim[0], &extent))
      index[0] = expr_op2(g->p->exprs, OP_MOD, s->body, num(g, extent + astray));
    const Expr *read = expr_read(g->p->exprs, j->of[0]->type.dtype, i, j->of[i]->type.rank, index);
    if (j->of[i]->type.holes && !j->wanted[i] && n && chance(g, 80)) read = unread(g, read);
    s->body = i ? expr_op2(g->p->exprs, chance(g, 60) ? OP_MUL : chance(g, 60) ? OP_SUB : OP_MAX, s->body, read) : read;
  }
  for (uint32_t l = 0; l < n; l++) name[l] = name_new(g, "l");
  s->n_slot = j->n;
  s->acc = s->dtype = j->of[0]->type.dtype;
  s->reducer = s->n_red ? (chance(g, 80) ? RED_SUM : RED_MAX) : RED_NONE;
  return s;
}

/* Operands come to where the result is to be, some are everywhere. */
static AlgNode *join_random(Gen *g, uint32_t n, AlgNode *const *of, bool move, bool stay) {
  Joint j = {.n = n};
  Str label[2 * S_RANK];
  AlgOperand operand[3];
  for (uint32_t i = 0; i < n; i++) {
    j.of[i] = of[i];
    if (of[i]->type.dtype != of[0]->type.dtype) return NULL;
    j.wanted[i] = chance(g, of[i]->type.holes ? 70 : 10);
    keys_agree(g, &j, i);
    labels_agree(g, &j, i);
  }
  if (j.n_key > 6 || j.n_label > 6) return NULL;
  const EinSum *s = sum_random(g, &j, label);
  Placement at = place_random(g, j.n_key, 20);
  for (uint32_t a = 0; stay && a < g->p->mesh.n; a++)
    at.on[a] = of[0]->at.on[a] < 0 ? PLACE_ALL : (int8_t)j.on[0][of[0]->at.on[a]];
  for (uint32_t i = 0; i < n; i++) {
    operand[i] = (AlgOperand){.node = of[i], .on = j.on[i], .wanted = j.wanted[i]};
    Placement want;
    operand_place(g->p, &operand[i], of[i]->type.n_key, &at, &want);
    for (uint32_t a = chance(g, 30) ? g->p->mesh.n : 0; a-- > 0 && chance(g, 60);) want.on[a] = PLACE_ALL;
    AlgNode *from =
        of[i]->kind == ALG_MOVE && strstr(g->rule->name, "gather") ? of[i]->operand[0].node : of[i]; /* moved once */
    if (move || !placement_equal(&g->p->mesh, &want, &of[i]->at))
      operand[i].node = alg_move(g->p, g->p->top, from, &want);
  }
  AlgNode probe = {.n_operand = n, .operand = operand, .at = at};
  return alg_join_meets(g->p, &probe)
      ? alg_join(g->p, g->p->top, n, operand, s, label, j.range, j.n_key, j.frontier, j.key, &at)
      : NULL;
}

/* ---- patterns
 * --------------------------------------------------------------------------------------------------------- */

static AlgNode *term_random(Gen *g, const RuleTerm *t);

static AlgNode *join_term(Gen *g, const RuleTerm *t) {
  const RuleTerm *const *arg = t->arg + t->n_attr;
  uint32_t n = arg[0]->each ? 1 + random_below(g, 3) : t->n - t->n_attr;
  AlgNode *of[3];
  bool move = arg[0]->kind == TERM_NODE && arg[0]->op == ALG_MOVE; /* of move?(y, R)... */
  for (uint32_t i = 0; i < n; i++)
    if (!(of[i] = term_random(g, move ? arg[0]->arg[1] : arg[arg[0]->each ? 0 : i]))) return NULL;
  AlgNode *x = join_random(g, n, of, move, false);
  bool tail = strstr(g->rule->result, "tail(j)") != NULL;
  if (x && (tail || chance(g, 10))) fns_random(g, x);
  return x;
}

static AlgNode *aggregate_term(Gen *g, const RuleTerm *t) {
  AlgNode *of = term_random(g, t->arg[2]);
  if (!of) return NULL;
  bool halo = (strstr(g->rule->name, "halo") || strstr(g->rule->name, "gather")) != 0;
  AlgNode *x = chance(g, halo || g->broken ? 90 : 25) ? concat_random(g, of) : reduced_random(g, of);
  if (!alg_in_parts(g->p, x) && chance(g, strstr(g->rule->result, "tail(o)") ? 100 : 12)) fns_random(g, x);
  return x;
}

static AlgNode *move_term(Gen *g, const RuleTerm *t) {
  AlgNode *of = term_random(g, t->arg[1]);
  if (!of || (t->maybe && chance(g, 50))) return of;
  return moved(g, of, 35);
}

static AlgNode *term_random(Gen *g, const RuleTerm *t) {
  AlgNode *of;
  if (t->kind == TERM_VAR) return relation_random(g);
  switch ((int)t->op) {
    case ALG_JOIN: return join_term(g, t);
    case ALG_AGGREGATE: return aggregate_term(g, t);
    case ALG_MOVE: return move_term(g, t);
    case ALG_MAP: return (of = term_random(g, t->arg[1])) ? map_random(g, of) : NULL;
    default:
      if (!(of = term_random(g, t->arg[1])) || (t->maybe && chance(g, 40))) return of;
      return alg_filter(g->p, g->p->top, of, keep_random(g, of));
  }
}

static Algebra *program_random(Arena *a, uint64_t seed) {
  static const uint32_t meshes[][3] = {{0}, {1, 2}, {1, 3}, {1, 4}, {2, 2, 2}, {1, 6}, {2, 2, 3}, {2, 3, 2}, {1, 1}};
  const uint32_t *mesh = meshes[seed % COUNT(meshes)];
  Algebra *p = algebra_new(a, strings_new(a), exprs_new(a));
  p->placed = true;
  p->mesh.n = mesh[0];
  for (uint32_t k = 0; k < mesh[0]; k++) p->mesh.size[k] = mesh[k + 1];
  return p;
}

#endif
