/* tests/algebra/eval_help.h - programs over relations in few words, and runs of them, for the evaluator's tests. */
#ifndef EIN_EVAL_HELP_H
#define EIN_EVAL_HELP_H

#include "algebra/eval/eval.h"
#include "tap.h"

typedef struct World {       /* a program in the making, and its run */
  Arena *arena;
  Strings *strings;
  Exprs *x;
  Algebra *p;
  AlgRun run;
  VEC(AlgGiven) given;
  const char *why;
  bool ok;
} World;

static World world_new(uint32_t n, const uint32_t *size) {
  World w = {.arena = arena_new()};
  w.strings = strings_new(w.arena);
  w.x = exprs_new(w.arena);
  w.p = algebra_new(w.arena, w.strings, w.x);
  w.p->placed = n > 0;
  w.p->mesh.n = n;
  for (uint32_t a = 0; a < n; a++) w.p->mesh.size[a] = size[a];
  return w;
}

static inline Str name(World *w, const char *s) { return str_from(w->strings, s); }
static inline const Expr *num(World *w, int64_t v) { return expr_int(w->x, DT_I64, v); }
static inline const Expr *var(World *w, int64_t k) { return expr_label(w->x, k); }
static inline const Expr *op2(World *w, Op o, const Expr *a, const Expr *b) { return expr_op2(w->x, o, a, b); }
static inline RelDim whole(World *w, int64_t extent) { return rel_whole(w->x, extent); }
static inline RelDim cut(World *w, int64_t extent, int64_t key, int64_t count) {
  return rel_cut(w->x, extent, var(w, key), count);
}
static inline RelDim span(const Expr *low, const Expr *high) { return (RelDim){low, high}; }

/* By axis, "0 * +" and the like. */
__attribute__((unused)) static Placement at(const char *s) {
  Placement p = {{0}};
  for (uint32_t a = 0; a < MESH_AXES; a++) p.on[a] = PLACE_ALL;
  for (uint32_t a = 0; *s; s++)
    if (*s != ' ')
      p.on[a++] = (int8_t)(*s == '*' ? (int8_t)PLACE_ALL : *s == '+' ? (int8_t)PLACE_PART : (int8_t)(*s - '0'));
  return p;
}

static Str *names_of(World *w, uint32_t n) {
  static const char *const letter[] = {"i", "j", "k", "l", "m", "n"};
  Str *s = NEW_ARRAY(w->arena, Str, n + 1);
  for (uint32_t k = 0; k < n; k++) s[k] = name(w, letter[k]);
  return s;
}

static Relation relation(World *w, DType t, uint32_t n_key, const int64_t *frontier, uint32_t rank, const RelDim *dim) {
  return (Relation){.dtype = t,
      .n_key = n_key,
      .frontier = arena_copy(w->arena, frontier, n_key * sizeof *frontier),
      .key = names_of(w, n_key),
      .rank = rank,
      .dim = arena_copy(w->arena, dim, rank * sizeof *dim)};
}

/* A read of a slot at labels. */
static inline const Expr *get(World *w, DType t, int64_t slot, uint32_t n, const int64_t *label) {
  const Expr *index[8];
  for (uint32_t d = 0; d < n; d++) index[d] = var(w, label[d]);
  return expr_read(w->x, t, slot, n, index);
}

static const EinSum *sum_of(
    World *w, uint32_t n_out, uint32_t n_red, uint32_t n_slot, Reducer r, DType acc, const Expr *body) {
  EinSum *s = NEW(w->arena, EinSum);
  *s = (EinSum){.n_out = n_out, .n_red = n_red, .n_slot = n_slot, .reducer = r, .acc = acc, .dtype = acc, .body = body};
  if (r == RED_ARGMAX || r == RED_ARGMIN) s->dtype = DT_I64;
  return s;
}

static AlgNode *join(World *w, AlgRegion *g, const EinSum *s, const AlgOperand *o, const RelDim *range, uint32_t n_key,
    const int64_t *frontier, const Placement *place) {
  return alg_join(w->p, g ? g : w->p->top, s->n_slot, o, s, names_of(w, s->n_out + s->n_red), range, n_key, frontier,
      names_of(w, n_key), place);
}

static void output(World *w, const char *s, AlgNode *n, uint32_t rank, const int64_t *extent) {
  AlgOutput o = {
      .name = name(w, s), .node = n, .rank = rank, .extent = arena_copy(w->arena, extent, rank * sizeof *extent)};
  vec_push(w->arena, w->p->outputs, o);
}

static void give(World *w, const char *s, DType t, uint32_t rank, const int64_t *shape, const void *data) {
  AlgArray x = {.dtype = t, .rank = rank, .shape = arena_copy(w->arena, shape, rank * sizeof *shape), .count = 1};
  for (uint32_t d = 0; d < rank; d++) x.count *= shape[d];
  x.data = arena_copy(w->arena, data, (size_t)(x.count * dtype_size(t)));
  vec_push(w->arena, w->given, ((AlgGiven){name(w, s), x}));
}

static bool run(World *w) {
  Place place;
  AlgRun r = {.arena = w->arena,
      .program = w->p,
      .input = w->given.at,
      .n_input = w->given.len,
      .max_elements = w->run.max_elements};
  w->run = r;
  w->ok = algebra_eval(&w->run, &w->why, &place);
  if (!w->ok) printf("# %s\n", w->why);
  return w->ok;
}

/* That a run fails, and says so. */
__attribute__((unused)) static void fails(World *w, const char *text, const char *what) {
  bool ok = run(w);
  OK(!ok && strstr(w->why, text), "%s is refused: %s", what, ok ? "it is not" : w->why);
  arena_free(w->arena);
}

__attribute__((unused)) static bool same_i64(const AlgArray *x, int64_t n, const int64_t *want) {
  if (x->dtype != DT_I64 || x->count != n) return false;
  for (int64_t k = 0; k < n; k++)
    if (((const int64_t *)x->data)[k] != want[k]) {
      printf("# element %lld is %lld, want %lld\n", (long long)k, (long long)((const int64_t *)x->data)[k],
          (long long)want[k]);
      return false;
    }
  return true;
}

#define I64S(...) ((const int64_t[]){__VA_ARGS__})
#define ON(...)   ((const int32_t[]){__VA_ARGS__})
#define DIMS(...) ((const RelDim[]){__VA_ARGS__})
#define OPERANDS(...) ((const AlgOperand[]){__VA_ARGS__})

/* A repeat of so many turns, with a state that begins as `in` is: returns the state. */
__attribute__((unused)) static AlgNode *repeat_new(World *w, AlgNode *in, AlgNode *bound, int64_t turns) {
  AlgNode *r = NEW(w->arena, AlgNode), *s = NEW(w->arena, AlgNode);
  AlgRegion *g = NEW(w->arena, AlgRegion), *top = w->p->top;
  *r = (AlgNode){.kind = ALG_REPEAT, .id = w->p->n_nodes++, .region = top, .body = g};
  vec_push(w->arena, top->nodes, r);
  *g = (AlgRegion){.parent = top, .repeat = r, .turn = name(w, "t"), .bound = bound, .turns = turns};
  *s = (AlgNode){.kind = ALG_STATE,
      .id = w->p->n_nodes++,
      .region = g,
      .name = name(w, "x"),
      .type = in->type,
      .at = in->at,
      .repeat = r};
  vec_push(w->arena, g->nodes, s);
  return s;
}

/* What a repeat leaves. */
__attribute__((unused)) static AlgNode *repeat_result(World *w, AlgKind kind, AlgNode *repeat, const AlgNode *like) {
  AlgNode *z = NEW(w->arena, AlgNode);
  *z = (AlgNode){.kind = kind,
      .id = w->p->n_nodes++,
      .region = w->p->top,
      .repeat = repeat,
      .type = like->type,
      .at = like->at};
  vec_push(w->arena, w->p->top->nodes, z);
  return z;
}

#endif
