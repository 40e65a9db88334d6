/* front/sizes.c - what the shapes of inputs' files say about sizes.
 *
 * In: a program, and the shape of a file. Out: values of dims. An axis of N elements tells N; so does one of 2*N + 1,
 * if N alone has no value. */
#include "front.h"

static const AstDecl *input_find(const Program *p, Str name, const AstStmt **stmt) {
  vec_each_of(const AstStmt, s, p->file->stmts) {
    if (s->kind != STMT_INPUT && s->kind != STMT_PARAM) continue;
    for (uint32_t k = 0; k < s->decls.len; k++)
      if (s->decls.at[k].name.s == name) {
        if (stmt) *stmt = s;
        return &s->decls.at[k];
      }
  }
  return NULL;
}

bool program_input(const Program *p, Str input, uint32_t *rank, Span *span) {
  const AstDecl *d = input_find(p, input, NULL);
  if (!d) return false;
  if (rank) *rank = d->items.len;
  if (span) *span = d->span;
  return true;
}

/* Sizes as far as they are known: Str -> DimValue, or -> &unknown for a declared dim without a value. */
typedef struct Sizes {
  Arena *arena;
  Map known;
} Sizes;
static DimValue unknown;

/* A size that depends on at most one size without a value: times * name + plus. name is NULL if all is known. */
typedef struct Linear {
  Str name;
  int64_t times, plus;
} Linear;

static bool linear_add(Linear x, Linear y, Linear *out) {
  if (x.name && y.name && x.name != y.name) return false;
  out->name = x.name ? x.name : y.name;
  return add_ok(x.times, y.times, &out->times) && add_ok(x.plus, y.plus, &out->plus);
}

static bool linear_times(Linear x, int64_t by, Linear *out) {
  out->name = x.name;
  return mul_ok(x.times, by, &out->times) && mul_ok(x.plus, by, &out->plus);
}

static bool linear_binary(Op op, Linear x, Linear y, Linear *out) {
  Linear minus;
  bool known = !x.name && !y.name;
  *out = (Linear){0};
  switch (op) {
  case OP_ADD: return linear_add(x, y, out);
  case OP_SUB: return linear_times(y, -1, &minus) && linear_add(x, minus, out);
  case OP_MUL: return x.name ? !y.name && linear_times(x, y.plus, out) : linear_times(y, x.plus, out);
  case OP_IDIV: return known && y.plus > 0 && (out->plus = floor_div(x.plus, y.plus), true);
  case OP_MOD: return known && y.plus > 0 && (out->plus = floor_mod(x.plus, y.plus), true);
  default: return false;
  }
}

static bool linear_of(const Sizes *z, const Ast *e, Linear *out);

/* a + b + c + ...: may be as long as a file allows, so a list holds the way back from the first operand. */
static bool linear_of_chain(const Sizes *z, const Ast *e, Linear *out) {
  VEC(const Ast *) above = {0};
  for (; e->kind == AST_BINARY; e = e->a) vec_push(z->arena, above, e);
  bool ok = linear_of(z, e, out);
  while (ok && above.len) {
    Linear y;
    e = vec_pop(above);
    ok = linear_of(z, e->b, &y) && linear_binary((Op)e->op, *out, y, out);
  }
  return ok;
}

static bool linear_of_name(const Sizes *z, Str name, Linear *out) {
  const DimValue *v = map_find(&z->known, name);
  if (!v) return false;
  *out = v == &unknown ? (Linear){name, 1, 0} : (Linear){NULL, 0, v->value};
  return true;
}

static bool linear_of(const Sizes *z, const Ast *e, Linear *out) {
  switch (e->kind) {
  case AST_INT: return *out = (Linear){NULL, 0, e->i}, !e->big;
  case AST_PAREN: return linear_of(z, e->a, out);
  case AST_NEG: return linear_of(z, e->a, out) && linear_times(*out, -1, out);
  case AST_BINARY: return linear_of_chain(z, e, out);
  case AST_NAME: return linear_of_name(z, e->name.s, out);
  default: return false;
  }
}

static bool size_of(const Sizes *z, const Ast *e, int64_t *out) {
  Linear x;
  if (!linear_of(z, e, &x) || x.name) return false;
  *out = x.plus;
  return true;
}

static void sizes_of_file(Sizes *z, const AstFile *file) {
  vec_each_of(const AstStmt, s, file->stmts) {
    for (uint32_t k = 0; s->kind == STMT_DIM && k < s->decls.len; k++) {
      const AstDecl *d = &s->decls.at[k];
      int64_t value;
      if (map_find(&z->known, d->name.s)) continue; /* given, or declared twice */
      DimValue *v = &unknown;
      if (d->e && size_of(z, d->e, &value)) {
        v = MAKE(z->arena, DimValue, d->name.s, value, d->span, NULL);
      }
      map_put(&z->known, d->name.s, v);
    }
  }
}

/* What was put into it before has precedence. */
static void sizes_of_program(Sizes *z, const Program *p) {
  for (uint32_t i = 0; i < p->modules.len; i++) sizes_of_file(z, p->modules.at[i].file);
  sizes_of_file(z, p->file);
}

static Sizes sizes_now(Arena *a, const Program *p, const DimValues *dims) {
  Sizes z = {a, map_new(a)};
  for (uint32_t i = 0; i < dims->len; i++) map_put(&z.known, dims->at[i].name, &dims->at[i]);
  sizes_of_program(&z, p);
  return z;
}

static const Ast *bare(const Ast *e) {
  while (e && e->kind == AST_PAREN) e = e->a;
  return e;
}

/* Whether the size x has that length if its name gets *value. */
static bool solved(const Linear *x, int64_t length, int64_t *value) {
  int64_t rest;
  if (!x->name || !x->times || !sub_ok(length, x->plus, &rest) || rest % x->times != 0) return false;
  *value = rest / x->times;
  return *value >= 0;
}

/* Sizes that are one name come first: what they say is plainer than what N + 1 does. */
static void dims_bind(
    Front *f, const Program *p, const AstDecl *d, const int64_t *shape, const char *const *what, DimValues *dims) {
  Sizes z = sizes_now(f->arena, p, dims);
  for (uint32_t pass = 0; pass < 2; pass++)
    for (uint32_t k = 0; k < d->items.len; k++) {
      const Ast *e = bare(d->items.at[k].e);
      Linear x;
      DimValue v = {.from = d->items.at[k].span, .why = what[k]};
      if (shape[k] < 0 || !e || (!pass && e->kind != AST_NAME) || !linear_of(&z, e, &x)) continue;
      if (!solved(&x, shape[k], &v.value)) continue;
      v.name = x.name;
      vec_push(f->arena, *dims, v);
      map_put(&z.known, v.name, arena_copy(f->arena, &v, sizeof v));
    }
}

void program_bind_some(
    Front *f, const Program *p, Str input, const int64_t *shape, const char *const *what, DimValues *dims) {
  const AstDecl *d = input_find(p, input, NULL);
  if (d) dims_bind(f, p, d, shape, what, dims);
}

void program_sizes(Front *f, const Program *p, Str input, const DimValues *dims, int64_t *shape) {
  const AstDecl *d = input_find(p, input, NULL);
  Sizes z = sizes_now(f->arena, p, dims);
  for (uint32_t k = 0; d && k < d->items.len; k++)
    if (!d->items.at[k].e || !size_of(&z, d->items.at[k].e, &shape[k])) shape[k] = -1;
}

void program_axes(Arena *a, const Program *p, Str input, const DimValues *dims, const Str *open, uint32_t n_open,
    InputAxis *out) {
  const AstDecl *d = input_find(p, input, NULL);
  Sizes z = {a, map_new(a)};
  for (uint32_t i = 0; i < dims->len; i++) map_put(&z.known, dims->at[i].name, &dims->at[i]);
  for (uint32_t i = 0; i < n_open; i++) map_put(&z.known, open[i], &unknown);
  sizes_of_program(&z, p);
  for (uint32_t k = 0; d && k < d->items.len; k++) {
    Linear x;
    if (d->items.at[k].e && linear_of(&z, d->items.at[k].e, &x) && x.name && x.times)
      out[k] = (InputAxis){x.name, x.times, x.plus};
  }
}

const AstStored *program_stored(const Program *p, Str name) {
  const AstStmt *s = NULL;
  if (input_find(p, name, &s)) return s->stored;
  for (uint32_t i = 0; i < p->file->stmts.len; i++) {
    s = p->file->stmts.at[i];
    if (s->kind == STMT_EQUATION && s->output && s->name.s == name) return s->stored;
  }
  return NULL;
}

/* Why the size has this value, if it is a single dim. */
static void size_reason(Front *f, Diag *g, const Sizes *z, const Ast *e) {
  e = bare(e);
  const DimValue *v = e->kind == AST_NAME ? map_find(&z->known, e->name.s) : NULL;
  if (!v || v == &unknown) return;
  if (v->why)
    diag_hint(f->diags, g, "%s is %lld by %s", v->name->s, (long long)v->value, v->why);
  else
    diag_at(f->diags, g, v->from, "%s is %lld", v->name->s, (long long)v->value);
}

static void axis_wrong(Front *f, const Sizes *z, const AstDecl *d, uint32_t k, int64_t length, const char *what) {
  const AstItem *item = &d->items.at[k];
  Linear x;
  linear_of(z, item->e, &x);
  const char *want = x.name ? arena_printf(f->arena, "something else for each %s", x.name->s)
                            : arena_printf(f->arena, "%lld", (long long)x.plus);
  Diag *g = diag_add(f->diags, D_E046, item->span, "axis %u of %s is %lld long, but %s says %s", k + 1, what,
      (long long)length, d->name.s->s, want);
  if (x.name) return;
  diag_note(f->diags, g, "%s", want);
  size_reason(f, g, z, item->e);
}

static bool sizes_agree(
    Front *f, const Program *p, const AstDecl *d, const int64_t *shape, const char *what, const DimValues *dims) {
  Sizes z = sizes_now(f->arena, p, dims);
  bool all = true;
  for (uint32_t k = 0; k < d->items.len; k++) {
    const AstItem *item = &d->items.at[k];
    Linear x;
    int64_t value;
    if (!item->e || !linear_of(&z, item->e, &x)) continue;
    if (x.name ? !x.times || solved(&x, shape[k], &value) : x.plus == shape[k]) continue;
    axis_wrong(f, &z, d, k, shape[k], what);
    all = false;
  }
  return all;
}

bool program_bind(Front *f, const Program *p, Str input, uint32_t rank, const int64_t *shape,
                  const char *what, DimValues *dims) {
  const AstDecl *d = input_find(p, input, NULL);
  if (!d) return true;
  if (d->items.len != rank) {
    diag_add(f->diags, D_E045, d->span, "%s has %u %s, but %s is declared with %u", what, rank,
             rank == 1 ? "axis" : "axes", input->s, d->items.len);
    return false;
  }
  const char **axis = NEW_ARRAY(f->arena, const char *, rank + 1);
  for (uint32_t k = 0; k < rank; k++) axis[k] = arena_printf(f->arena, "axis %u of %s", k + 1, what);
  dims_bind(f, p, d, shape, axis, dims);
  return sizes_agree(f, p, d, shape, what, dims);
}
