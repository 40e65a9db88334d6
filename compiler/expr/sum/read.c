/* expr/sum/read.c - reads EinSums and what surrounds them from text; sum/print.c writes it. */
#include "read.h"

#include <string.h>

#include "law.h"

SumReader sum_reader(Arena *a, Exprs *p, Scan c) {
  return (SumReader){.c = c, .arena = a, .exprs = p, .dims = map_new(a), .number = map_new(a), .most = SUM_RANK};
}

/* ---- expressions ----------------------------------------------------------------------------- */

static bool label_number(void *ctx, Str name, int64_t *out) {
  const SumReader *r = ctx;
  for (uint32_t k = 0; r->most <= SUM_RANK && k < r->text.len; k++)
    if (r->text.at[k] == name) return *out = k, true;
  size_t k = (size_t)(uintptr_t)map_find(&r->number, name); /* of this EinSum, or of an earlier one */
  if (!k || k > r->text.len || r->text.at[k - 1] != name) return false;
  *out = (int64_t)k - 1;
  return true;
}

static bool turn_depth(void *ctx, Str name, int64_t *out) {
  const SumReader *r = ctx;
  for (uint32_t k = r->turn.len; k-- > 0;)
    if (r->turn.at[k] == name) return *out = k, true;
  return false;
}

static bool read_of(void *ctx, int64_t number, uint32_t n, const Expr *const *index, DType *dtype, int64_t *slot) {
  SumReader *r = ctx;
  (void)n;
  (void)index;
  return r->read(r->ctx, false, number, dtype, slot);
}

static bool kept_of(void *ctx, int64_t number, uint32_t n, const Expr *const *index, DType *dtype, int64_t *slot) {
  SumReader *r = ctx;
  (void)n;
  (void)index;
  return r->read(r->ctx, true, number, dtype, slot);
}

bool want_expr(SumReader *r, Over over, DType param, const Expr **out) {
  ExprReader x = {.pool = r->exprs,
                  .strings = r->c.strings,
                  .s = r->c.s,
                  .end = r->c.end,
                  .ctx = r,
                  .param = param,
                  .depth = over == OVER_DIMS ? READ_EXTENT_NESTING : READ_NESTING};
  if (over == OVER_ALL || over == OVER_PLACES) {
    x.label = label_number;
    x.turn = turn_depth;
  }
  if (over == OVER_ALL) {
    x.read = read_of;
    x.kept = r->kept ? kept_of : NULL;
  }
  r->why = NULL;
  *out = expr_read_text(&x);
  r->c.s = x.s;
  if (!*out && r->why) return scan_fail(&r->c, D_E905, "%s", r->why);
  if (!*out) return scan_fail(&r->c, D_E904, "%s", x.error ? x.error : "expected an expression here");
  if (over != OVER_PARAMS && ((*out)->has & HAS_PARAM))
    return scan_fail(&r->c, D_E904, "#0 and #1 stand in monoids only");
  return true;
}

bool want_extent(SumReader *r, const Expr **out) {
  if (!want_expr(r, OVER_DIMS, DT_I64, out)) return false;
  if ((*out)->dtype != DT_I64) return scan_fail(&r->c, D_E907, "a size is i64");
  *out = extent_normal(r->exprs, *out);
  return true;
}

/* ---- shapes and labels ----------------------------------------------------------------------- */

bool want_shape(SumReader *r, DType *t) {
  const Expr *e;
  r->bound.len = 0;
  if (!scan_want(&r->c, '[')) return false;
  while (!scan_take(&r->c, ']')) {
    if (r->bound.len && !scan_want(&r->c, ',')) return false;
    if (r->bound.len == SUM_RANK)
      return scan_fail(&r->c, D_E913, "a tensor has at most %d dimensions", SUM_RANK);
    if (!want_extent(r, &e)) return false;
    vec_push(r->arena, r->bound, e);
  }
  return scan_want(&r->c, ':') && scan_want_dtype(&r->c, t);
}

static bool want_name_in_text(SumReader *r, Str *out) {
  const char *at;
  size_t n = scan_word(&r->c, false, &at);
  if (!n) return scan_fail(&r->c, D_E903, "expected a name here");
  *out = str_of(r->c.strings, at, n);
  return true;
}

bool want_alias(SumReader *r, Str *text, Str *name) {
  if (!want_name_in_text(r, text)) return false;
  *name = *text;
  return !scan_take(&r->c, '=') || scan_want_string(&r->c, name);
}

bool want_label(SumReader *r) {
  Str text, name;
  int64_t k;
  const Expr *e;
  if (r->label.len == r->most)
    return scan_fail(&r->c, D_E913, "a vertex has at most %u labels", r->most);
  if (!want_alias(r, &text, &name)) return false;
  if (label_number(r, text, &k))
    return scan_fail(&r->c, D_E911, "label %s stands here twice", text->s);
  if (!scan_want(&r->c, ':') || !want_extent(r, &e)) return false;
  vec_push(r->arena, r->text, text);
  if (r->most > SUM_RANK) map_put(&r->number, text, (void *)(uintptr_t)r->text.len);
  vec_push(r->arena, r->label, name);
  vec_push(r->arena, r->bound, e);
  return true;
}

void sum_read_begin(SumReader *r) {
  r->text.len = r->label.len = r->bound.len = 0;
}

/* ---- reducers -------------------------------------------------------------------------------- */

const Monoid *monoid_of(SumReader *r, Str name, DType t) {
  for (uint32_t i = 0; i < r->monoids.len; i++)
    if (r->monoids.at[i]->name == name && r->monoids.at[i]->dtype == t)
      return r->monoids.at[i];
  return NULL;
}

/* A reducer is a word or a string followed by `:`; but inf:f32 and nan:f32 are numbers. */
bool reducer_follows(SumReader *r) {
  Scan look = r->c;
  const char *at;
  if (scan_is(&look, '"')) return true;
  size_t n = scan_word(&look, true, &at);
  return n && !(n == 3 && (memcmp(at, "inf", 3) == 0 || memcmp(at, "nan", 3) == 0)) &&
         scan_is(&look, ':');
}

bool want_reducer_name(SumReader *r, EinSum *s) {
  Str name;
  bool quoted = scan_is(&r->c, '"');
  const char *at = r->c.s;
  if (!scan_want_name(&r->c, &name) || !scan_want(&r->c, ':') || !scan_want_dtype(&r->c, &s->acc))
    return false;
  if (!quoted && reducer_find(name->s, name->len, &s->reducer) && s->reducer != RED_MONOID)
    return true;
  s->reducer = RED_MONOID;
  s->monoid = monoid_of(r, name, s->acc);
  if (s->monoid) return true;
  r->c.s = at;
  return scan_fail(&r->c, D_E910, "no reducer and no monoid of %s is called %s", dtype_name(s->acc),
                   name->s);
}

/* `sum:f32[a:64, b:3 where p]` */
static bool want_reducer(SumReader *r, EinSum *s) {
  if (!want_reducer_name(r, s)) return false;
  if (!scan_take(&r->c, '[')) return s->reducer == RED_NONE || scan_want(&r->c, '[');
  while (!scan_take(&r->c, ']')) {
    if (scan_take_word(&r->c, "where"))
      return want_expr(r, OVER_ALL, DT_I64, &s->where) && scan_want(&r->c, ']');
    if (s->n_red && !scan_want(&r->c, ',')) return false;
    if (!want_label(r)) return false;
    s->n_red++;
  }
  return true;
}

bool want_sum(SumReader *r, EinSum *s) {
  s->n_out = r->label.len;
  if (!scan_want(&r->c, ':') || !scan_want_dtype(&r->c, &s->dtype) || !scan_want(&r->c, '='))
    return false;
  s->acc = s->dtype;
  if (reducer_follows(r) && !want_reducer(r, s)) return false;
  if (!want_expr(r, OVER_ALL, DT_I64, &s->body)) return false;
  if (scan_take_word(&r->c, "domain") && !want_expr(r, OVER_ALL, DT_I64, &s->domain)) return false;
  return take_by(r, s);
}

bool take_by(SumReader *r, EinSum *s) {
  Str name = NULL;
  if (!scan_take_word(&r->c, "by")) return true;
  const char *at = r->c.s;
  if (!want_name_in_text(r, &name)) return false;
  s->by = extern_find(r->exprs, name);
  if (s->by && s->by->block) return true;
  r->c.s = at;
  return scan_fail(&r->c, D_E910, "no C function of blocks is called %s", name->s);
}

/* ---- lines ----------------------------------------------------------------------------------- */

bool want_dim(SumReader *r, Dims *to) {
  Dim d = {0};
  if (!scan_want_name(&r->c, &d.name)) return false;
  if (map_find(&r->dims, d.name)) return scan_fail(&r->c, D_E911, "dim %s is declared already", d.name->s);
  d.known = scan_take(&r->c, '=');
  if (d.known && !scan_want_int(&r->c, INT64_MIN, INT64_MAX, "a size", &d.value)) return false;
  if (!scan_want_end(&r->c, NULL)) return false;
  map_put(&r->dims, d.name, r);
  vec_push(r->arena, *to, d);
  return true;
}

static bool want_extern_arguments(SumReader *r, Extern *x) {
  if (!scan_want(&r->c, '(')) return false;
  while (!scan_take(&r->c, ')')) {
    if (x->n && !scan_want(&r->c, ',')) return false;
    if (x->n == EXTERN_ARGS) return scan_fail(&r->c, D_E913, "a C function has at most %d arguments", EXTERN_ARGS);
    if (!scan_want_dtype(&r->c, &x->arg[x->n])) return false;
    if (!scan_is(&r->c, ',') && !scan_is(&r->c, ')')) {
      int64_t rank;
      if (!scan_want_int(&r->c, 0, EXTERN_LABELS, "a number of dimensions", &rank)) return false;
      if (x->n && !x->block) return scan_fail(&r->c, D_E903, "state the dimensions of all arguments, or of none");
      x->block = true;
      x->rank[x->n] = (uint8_t)rank;
    } else if (x->block) {
      return scan_fail(&r->c, D_E903, "expected a number of dimensions here");
    }
    x->n++;
  }
  return true;
}

/* `over 2 1`: the number of labels of the result, and of reduced ones */
static bool want_extern_labels(SumReader *r, Extern *x) {
  int64_t out, red;
  if (!x->block) return true;
  if (!scan_want_word(&r->c, "over") || !scan_want_int(&r->c, 0, EXTERN_LABELS, "a number of labels", &out))
    return false;
  if (!scan_want_int(&r->c, 0, EXTERN_LABELS, "a number of labels", &red)) return false;
  x->n_out = (uint32_t)out, x->n_red = (uint32_t)red;
  return true;
}

bool want_extern(SumReader *r) {
  Extern x = {.cost = -1};
  if (extern_count(r->exprs) == READ_MONOIDS)
    return scan_fail(&r->c, D_E913, "there are at most %d C functions", READ_MONOIDS);
  if (!want_name_in_text(r, &x.name)) return false;
  if (extern_find(r->exprs, x.name)) return scan_fail(&r->c, D_E911, "C function %s is declared already", x.name->s);
  if (!want_extern_arguments(r, &x) || !scan_want(&r->c, ':') || !scan_want_dtype(&r->c, &x.dtype) ||
      !want_extern_labels(r, &x) || !scan_want(&r->c, '='))
    return false;
  if (!scan_want_string(&r->c, &x.symbol)) return false;
  if (scan_take_word(&r->c, "from") && !scan_want_string(&r->c, &x.from)) return false;
  if (scan_take_word(&r->c, "cost") && !scan_want_int(&r->c, 0, INT32_MAX, "a cost", &x.cost)) return false;
  if (!scan_want_end(&r->c, &x.place)) return false;
  int part;
  const char *wrong = extern_wrong(&x, &part);
  if (wrong) return scan_fail(&r->c, D_E903, "%s", wrong);
  extern_add(r->exprs, &x);
  return true;
}

bool want_monoid(SumReader *r, Monoids *to) {
  Monoid *m = NEW(r->arena, Monoid);
  if (r->monoids.len == READ_MONOIDS)
    return scan_fail(&r->c, D_E913, "there are at most %d monoids", READ_MONOIDS);
  if (!scan_want_name(&r->c, &m->name) || !scan_want(&r->c, ':') || !scan_want_dtype(&r->c, &m->dtype))
    return false;
  if (monoid_of(r, m->name, m->dtype))
    return scan_fail(&r->c, D_E911, "monoid %s is declared already", m->name->s);
  if (!scan_want(&r->c, '=') || !want_expr(r, OVER_PARAMS, m->dtype, &m->combine)) return false;
  if (!scan_want_word(&r->c, "identity") || !want_expr(r, OVER_PARAMS, m->dtype, &m->identity))
    return false;
  if (!scan_want_end(&r->c, NULL)) return false;
  vec_push(r->arena, r->monoids, m);
  vec_push(r->arena, *to, m);
  return true;
}

bool want_check(SumReader *r, DimChecks *to) {
  DimCheck x = {0};
  if (!want_expr(r, OVER_DIMS, DT_I64, &x.cond)) return false;
  if (scan_is(&r->c, '"') && !scan_want_string(&r->c, &x.text)) return false;
  if (!scan_want_end(&r->c, &x.place)) return false;
  vec_push(r->arena, *to, x);
  return true;
}
