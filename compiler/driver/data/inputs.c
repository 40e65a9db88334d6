/* driver/data/inputs.c - NAME=SOURCE: finds the input, what the source's header says about sizes, and its values
 * once all sizes are known. */
#include <string.h>

#include "checkpoint.h"
#include "driver/table.h"

_Static_assert((int)DT_F64 == (int)EIN_F64 && (int)DT_BF16 == (int)EIN_BF16 &&
                   (int)DT_I64 == (int)EIN_I64 && (int)DT_U8 == (int)EIN_U8 &&
                   (int)DT_BOOL == (int)EIN_BOOL,
               "the compiler's dtypes stand in the runtime's order");

Leave status_leave(ein_status st) {
  switch (st) {
  case EIN_OK: return LEAVE_OK;
  case EIN_ERR_IO:
  case EIN_ERR_MEMORY: return LEAVE_MACHINE;
  case EIN_ERR_ARG: return LEAVE_USAGE;
  default: return LEAVE_PROGRAM;
  }
}

/* ---- which inputs there are ----------------------------------------------------------------- */

typedef struct Declared {
  Str name;
  bool param;
} Declared;
typedef VEC(Declared) Declareds;

static Declareds inputs_declared(Session *s, const Job *j) {
  Declareds d = {0};
  const AstFile *f = job_file(j);
  for (uint32_t i = 0; !f && i < j->graph->inputs.len; i++) {
    Declared x = {j->graph->inputs.at[i]->name, j->graph->inputs.at[i]->param};
    vec_push(s->arena, d, x);
  }
  for (uint32_t i = 0; f && i < f->stmts.len; i++) {
    const AstStmt *st = f->stmts.at[i];
    if (st->kind != STMT_INPUT && st->kind != STMT_PARAM) continue;
    for (uint32_t k = 0; k < st->decls.len; k++) {
      Declared x = {st->decls.at[k].name.s, st->kind == STMT_PARAM};
      vec_push(s->arena, d, x);
    }
  }
  return d;
}

static Leave input_unknown(Session *s, const Job *j, Str name, const char *spec, const Declareds *d) {
  if (job_has_dim(s, j, name))
    return fail(s, LEAVE_USAGE, "%s is a dim of %s: write -D %s=%s", name->s, j->path, name->s, spec);
  Words all = {0};
  for (uint32_t i = 0; i < d->len; i++) vec_push(s->arena, all, d->at[i].name->s);
  return name_unknown(s, arena_printf(s->arena, "%s has no input", j->path), name->s, &all);
}

/* ---- what their shapes say ------------------------------------------------------------------ */

/* A graph's text has shapes instead of declarations; a dim that is a whole extent of one is bound. */
static Leave graph_bind(Session *s, Job *j, const Given *g) {
  const EinNode *n = graph_input_find(j->graph, g->name);
  if (!n || (int)n->rank != g->info.ndim)
    return fail(s, LEAVE_PROGRAM, "%s has %d axes, but input %s has %u", g->spec, g->info.ndim,
                g->name->s, n ? n->rank : 0);
  for (uint32_t k = 0; k < n->rank; k++) {
    int64_t value;
    if (n->dim[k]->kind != EX_DIM || job_dim(j, n->dim[k]->name, &value)) continue;
    DimValue v = {n->dim[k]->name, g->info.shape[k], {0}, g->spec};
    vec_push(s->arena, j->dims, v);
  }
  return LEAVE_OK;
}

static Leave given_bind(Session *s, Job *j, const Given *g) {
  if (!g->info.has_shape) return LEAVE_OK;
  if (!j->program) return graph_bind(s, j, g);
  if (program_bind(&s->front, j->program, g->name, (uint32_t)g->info.ndim, g->info.shape, g->spec,
                   &j->dims))
    return LEAVE_OK;
  Leave l = session_report(s);
  return l ? l : LEAVE_PROGRAM;
}

/* ---- the words ------------------------------------------------------------------------------ */

static Leave given_add(Session *s, Givens *out, Str name, const char *spec) {
  Given g = {.name = name, .spec = spec};
  ein_error e = {0};
  ein_status st = ein_source_probe(spec, &g.info, &e);
  if (st != EIN_OK) return fail(s, status_leave(st), "%s=%s: %s", name->s, spec, e.text);
  for (uint32_t i = 0; i < out->len; i++)
    if (out->at[i].name == name) { /* words of the command line come after those of `# run:`, and win */
      out->at[i] = g;
      return LEAVE_OK;
    }
  vec_push(s->arena, *out, g);
  return LEAVE_OK;
}

static bool is_program(const char *word) {
  static const char *const ends[] = {".ein", ".graph", ".task", ".loop"};
  size_t n = strlen(word);
  for (size_t i = 0; i < COUNT(ends); i++)
    if (n > strlen(ends[i]) && strcmp(word + n - strlen(ends[i]), ends[i]) == 0) return true;
  return false;
}

/* The first input without a source so far. */
static const char *input_left(const Declareds *d, const Givens *given) {
  for (uint32_t i = 0; i < d->len; i++)
    if (!given_of(given, d->at[i].name)) return d->at[i].name->s;
  return d->len ? d->at[0].name->s : NULL;
}

/* Reports a word that is not NAME=SOURCE: another program, `X:x.npy`, or a file without a name. */
static Leave word_refuse(Session *s, const Job *j, const char *word, const Declareds *d, const Givens *given) {
  const char *name = input_left(d, given), *colon = strchr(word, ':');
  if (strcmp(word, j->path) == 0) return fail(s, LEAVE_USAGE, "%s is given twice, and is one program", word);
  if (is_program(word)) return fail(s, LEAVE_USAGE, "%s: one program at a time, and %s is one", word, j->path);
  for (uint32_t i = 0; colon && i < d->len; i++)
    if (d->at[i].name->len == (size_t)(colon - word) && strncmp(word, d->at[i].name->s, d->at[i].name->len) == 0)
      return fail(s, LEAVE_USAGE, "%s: an input is given as NAME=SOURCE: %s=%s", word, d->at[i].name->s, colon + 1);
  for (uint32_t i = 0; i < d->len; i++)
    if (strcmp(word, d->at[i].name->s) == 0)
      return fail(s, LEAVE_USAGE, "%s: an input is given as one word, NAME=SOURCE: %s=%s.npy, or a generator, %s=randn",
          word, word, word, word);
  if (!name) return fail(s, LEAVE_USAGE, "%s: %s has no inputs", word, j->path);
  return fail(s, LEAVE_USAGE, "%s: an input is given as NAME=SOURCE, as in %s=%s", word, name, word);
}

static Leave word_take(Session *s, const Job *j, const char *word, const Declareds *d,
                       Givens *out) {
  Str name;
  const char *spec;
  if (!word_split(s, word, &name, &spec)) return word_refuse(s, j, word, d, out);
  for (uint32_t i = 0; i < d->len; i++)
    if (d->at[i].name == name) return given_add(s, out, name, spec);
  return input_unknown(s, j, name, spec, d);
}

/* ---- --params: every param that is not given by itself ------------------------------------------ */

static uint32_t param_rank(const Job *j, Str name) {
  uint32_t rank = 0;
  if (!j->program) return graph_input_find(j->graph, name)->rank;
  program_input(j->program, name, &rank, NULL);
  return rank;
}

/* What is known before sizes are: if the name alone determines everything, the shape too. */
static Given param_given(Session *s, Bound *b) {
  int64_t first[EIN_MAX_AXES] = {0};
  const Stored *x = bound_find(s, b, first);
  Given g = {.name = b->param, .spec = bound_source(s->arena, b), .info = {.bytes = -1}, .bound = b};
  if (!x || x->other) return g;
  g.info = (ein_source_info){
      .has_dtype = 1, .has_shape = !b->said, .dtype = x->at.dtype, .ndim = x->at.ndim, .bytes = x->at.bytes};
  memcpy(g.info.shape, x->at.shape, sizeof g.info.shape);
  return g;
}

static Leave params_take(Session *s, const Job *j, const char *path, const Declareds *d, Givens *out) {
  Checkpoint *c = NEW(s->arena, Checkpoint);
  Leave l = checkpoint_open(s, path, c);
  for (uint32_t i = 0; i < d->len && !l; i++) {
    if (!d->at[i].param || given_of(out, d->at[i].name)) continue;
    Given g = param_given(s, bound_new(s, j, c, d->at[i].name, param_rank(j, d->at[i].name)));
    vec_push(s->arena, *out, g);
  }
  return l;
}

/* "x.ein:3:7: ", where the input is declared; "": nowhere. */
static const char *declared_at(Session *s, const Job *j, Str name) {
  Span span;
  uint32_t line, column;
  if (!j->program || !program_input(j->program, name, NULL, &span) || !span.src) return "";
  source_place(s->arena, span.src, span.at, &line, &column);
  return arena_printf(s->arena, "%s:%u:%u: ", span.src->name, line, column);
}

static Leave param_wrong(Session *s, const Job *j, const Given *g, const char *why) {
  return fail(s, LEAVE_PROGRAM, "%sparam %s: %s", declared_at(s, j, g->name), g->name->s, why);
}

/* Missing tensors are reported before sizes are needed. */
static Leave params_sizes(Session *s, Job *j, const Givens *given) {
  VEC(Bound *) all = {0};
  int64_t first[EIN_MAX_AXES] = {0}, sizes[EIN_MAX_AXES];
  for (uint32_t i = 0; i < given->len; i++)
    if (given->at[i].bound) vec_push(s->arena, all, given->at[i].bound);
  Leave l = all.len && j->program ? bound_sizes(s, j, all.at, all.len) : LEAVE_OK;
  if (l) return l;
  vec_each(const Given, g, *given) {
    Buf why = buf_new(s->arena);
    bool none = false; /* of these */
    if (!g->bound || bound_find(s, g->bound, first)) continue;
    if (j->program) program_sizes(&s->front, j->program, g->name, &j->dims, sizes);
    for (uint32_t k = 0; j->program && k < g->bound->rank; k++) none |= sizes[k] == 0 && bound_counts(g->bound, k);
    if (none) continue;
    bound_missing(s, g->bound, bound_name(s, g->bound, first), &why);
    return param_wrong(s, j, g, why.s);
  }
  return LEAVE_OK;
}

Leave given_find(Session *s, Job *j, const Args *a, const Words *words, Givens *out) {
  Declareds d = inputs_declared(s, j);
  for (uint32_t i = 0; i < words->len; i++) {
    Leave l = word_take(s, j, words->at[i], &d, out);
    if (l) return l;
  }
  const char *params = arg_last(a, OPT_PARAMS);
  Leave l = params ? params_take(s, j, params, &d, out) : LEAVE_OK;
  for (uint32_t i = 0; i < out->len && l == LEAVE_OK; i++) l = given_bind(s, j, &out->at[i]);
  return l ? l : params_sizes(s, j, out);
}

/* Integers may be indices of anything, so they are small. */
void given_fill(Session *s, const Job *j, Givens *given) {
  for (uint32_t i = 0; i < j->graph->inputs.len; i++) {
    const EinNode *n = j->graph->inputs.at[i];
    if (n->fallback || given_of(given, n->name)) continue;
    const char *spec = dtype_is_float(n->dtype) ? arena_printf(s->arena, "randn:seed=%u", i + 1)
                       : arena_printf(s->arena, "randint:lo=0:hi=%d:seed=%u", n->dtype == DT_BOOL ? 1 : 3, i + 1);
    Given g = {.name = n->name, .spec = spec, .info = {.bytes = -1}};
    vec_push(s->arena, *given, g);
  }
}

/* ---- values --------------------------------------------------------------------------------- */

/* Requires that every open dim has a value. */
Leave dims_of_job(Session *s, const Job *j, Eval *e) {
  const EinGraph *g = j->graph;
  EvalDim *dim = NEW_ARRAY(s->arena, EvalDim, g->dims.len + 1);
  Buf missing = buf_new(s->arena);
  const char *first = NULL;
  e->n_dim = 0;
  vec_each(const Dim, d, g->dims) {
    if (d->known) continue;
    if (job_dim(j, d->name, &dim[e->n_dim].value)) {
      dim[e->n_dim++].name = d->name;
      continue;
    }
    buf_printf(&missing, "%s%s", first ? ", " : "", d->name->s);
    if (!first) first = d->name->s;
  }
  e->dim = dim;
  if (!first) return LEAVE_OK;
  return fail(s, LEAVE_USAGE,
              "no value for dim %s: give -D %s=64, or an input from a file whose shape tells it",
              missing.s, first);
}

const Given *given_of(const Givens *given, Str name) {
  for (uint32_t k = 0; given && k < given->len; k++)
    if (given->at[k].name == name) return &given->at[k];
  return NULL;
}

ein_status given_block(const Given *g, DType t, uint32_t rank, const int64_t *whole, const int64_t *low,
    const int64_t *shape, void *dst, ein_error *err) {
  if (g->bound) return bound_block(g->bound, t, whole, low, shape, dst, err);
  return ein_source_block(g->spec, (ein_dtype)t, (int)rank, whole, low, shape, dst, err);
}

ein_status given_sound(const Given *g, const int64_t *whole, ein_error *err) {
  return g->bound ? bound_sound(g->bound, whole, err) : ein_source_check(g->spec, err);
}

static int64_t elements_rounded(const Given *g, const EvalArray *x, const int64_t *low, const EvalArray *block) {
  enum { LOOK_MOST = 1 << 24 };
  int64_t n = 0;
  if (block->count > LOOK_MOST) return -1;
  Arena *a = arena_new();
  double *want = arena_alloc(a, (size_t)block->count * sizeof *want + 1),
         *got = arena_alloc(a, (size_t)block->count * sizeof *got + 1);
  ein_status st = given_block(g, DT_F64, x->rank, x->shape, low, block->shape, want, NULL);
  if (st == EIN_OK) st = ein_convert("", (ein_dtype)x->dtype, block->data, EIN_F64, got, block->count, 0, NULL);
  for (int64_t i = 0; st == EIN_OK && i < block->count; i++) n += want[i] < got[i] || want[i] > got[i];
  arena_free(a);
  return st == EIN_OK ? n : -1;
}

/* Whether a number is given for an f32 next to f64 data. */
static bool is_number(const Eval *e, const EinNode *n, const Given *g, const EvalArray *x) {
  return !g->info.has_dtype && x->count == 1 && input_meets_f64(e->arena, e->graph, n);
}

/* A file of wider floats loses digits in a narrower input, and so may a number. */
int64_t given_rounded(
    const Eval *e, const EinNode *n, const Given *g, const EvalArray *x, const int64_t *low, const EvalArray *block) {
  bool file = g->info.has_dtype && dtype_is_float((DType)g->info.dtype) && (DType)g->info.dtype != x->dtype;
  bool narrow = dtype_is_half(x->dtype) ||
      (x->dtype == DT_F32 && (!g->info.has_dtype || g->info.dtype == EIN_F64));
  return narrow && (file || is_number(e, n, g, x)) ? elements_rounded(g, x, low, block) : 0;
}

void given_warn(Session *s, const EinNode *n, const Given *g, const EvalArray *x, int64_t rounded) {
  if (!rounded) return;
  if (!g->info.has_dtype)
    say(s, "warning: input %s is %s, and %s is rounded; declared as f64 it keeps its digits", n->name->s,
        dtype_name(n->dtype), g->spec);
  else if (rounded < 0)
    say(s, "warning: input %s is %s, and %s, which is %s, is rounded", n->name->s, dtype_name(n->dtype), g->spec,
        ein_dtype_name(g->info.dtype));
  else
    say(s,
        "warning: input %s is %s, and %lld of the %lld numbers of %s, which is %s, are rounded; declared as %s it "
        "keeps them",
        n->name->s, dtype_name(n->dtype), (long long)rounded, (long long)x->count, g->spec,
        ein_dtype_name(g->info.dtype), ein_dtype_name(g->info.dtype));
}

/* Whether what is read as a whole fits. *left: the rest of the limit for all inputs; 0: no limit. */
static Leave input_fits(Session *s, const Eval *e, const EinNode *n, int64_t bytes, int64_t *left) {
  if (bytes > e->max_bytes)
    return fail(s, LEAVE_MACHINE, "input %s would take %lld bytes; the limit here is %lld",
                n->name->s, (long long)bytes, (long long)e->max_bytes);
  if (*left > 0 && bytes >= *left)
    return fail(s, LEAVE_MACHINE, "input %s would take %lld bytes; all inputs together may take %lld",
                n->name->s, (long long)bytes, (long long)e->max_live);
  if (*left > 0) *left -= bytes;
  return LEAVE_OK;
}

static Leave input_shape(Session *s, const Job *j, const EinNode *n, EvalArray *x, int64_t *bytes) {
  ein_error err = {0};
  if (!job_shape(s->arena, j, n, x))
    return fail(s, LEAVE_USAGE, "the size of input %s is not known", n->name->s);
  ein_status st = ein_shape_size(n->name->s, (ein_dtype)x->dtype, (int)x->rank, x->shape, &x->count, bytes, &err);
  return st == EIN_OK ? LEAVE_OK : fail(s, status_leave(st), "input %s: %s", n->name->s, err.text);
}

Leave given_values(Session *s, const Eval *e, const EinNode *n, const Given *g, EvalArray *x) {
  ein_error err = {0};
  const int64_t low[EIN_MAX_AXES] = {0};
  x->data = arena_alloc(s->arena, (size_t)(x->count * dtype_size(x->dtype)) + 1);
  ein_status st = given_sound(g, x->shape, &err);
  if (st == EIN_OK) st = given_block(g, x->dtype, x->rank, x->shape, low, x->shape, x->data, &err);
  if (st != EIN_OK) return fail(s, status_leave(st), "input %s: %s", n->name->s, err.text);
  given_warn(s, n, g, x, given_rounded(e, n, g, x, low, x));
  detail(s, "%s is read from %s", n->name->s, g->spec);
  return LEAVE_OK;
}

/* "X[n:N, d:D] : f32", as it was declared. */
static const char *declaration_text(Session *s, const Job *j, const EinNode *n) {
  Span span;
  if (j->program && program_input(j->program, n->name, NULL, &span) && span.src)
    return arena_printf(s->arena, "%.*s : %s", (int)(span.end - span.at), span.src->bytes + span.at,
                        dtype_name(n->dtype));
  return arena_printf(s->arena, "%s : %s, with %u axes", n->name->s, dtype_name(n->dtype), n->rank);
}

static Leave input_missing(Session *s, const Job *j, const EinNode *n) {
  const char *name = n->name->s, *generator = dtype_is_float(n->dtype) ? "randn" : "iota";
  const char *none = job_of_sites(j) ? "is not given: a text for several sites carries no defaults"
                                     : "is not given, and has no default";
  return fail(s, LEAVE_USAGE,
              "%sinput %s %s\n  it is declared as %s\n  give a file, "
              "%s=%s.npy, or a generator, %s=%s",
              place_text(s->arena, NULL, n->place), name, none, declaration_text(s, j, n), name, name, name, generator);
}

/* A param of a checkpoint: its tensors have been found; if the file has the elements in the wanted form, they are
 * not copied. */
static Leave param_find(Session *s, const Job *j, const Given *g, EvalArray *x) {
  Buf why = buf_new(s->arena);
  ein_error err = {0};
  if (!bound_resolve(s, g->bound, x->shape, &why)) return param_wrong(s, j, g, why.s);
  x->data = s->ranks || !x->count ? NULL : (void *)(uintptr_t)bound_map(g->bound, x->dtype, x->shape, &err);
  if (x->data) detail(s, "%s is %s where it lies", g->name->s, g->spec);
  return LEAVE_OK;
}

Leave given_read(Session *s, const Job *j, const Givens *given, Eval *e) {
  const EinGraph *g = j->graph;
  Leave l = dims_of_job(s, j, e);
  int64_t left = e->max_live;
  EvalInput *in = NEW_ARRAY(s->arena, EvalInput, g->inputs.len + 1);
  for (uint32_t i = 0; i < g->inputs.len && l == LEAVE_OK; i++) {
    const EinNode *n = g->inputs.at[i];
    const Given *from = given_of(given, n->name);
    EvalArray *x = &in[e->n_input].array;
    int64_t bytes;
    if (!from) {
      if (!n->fallback) return input_missing(s, j, n);
      detail(s, "%s takes its default", n->name->s);
      continue;
    }
    in[e->n_input++].name = n->name;
    l = input_shape(s, j, n, x, &bytes);
    if (!l && from->bound) l = param_find(s, j, from, x);
    if (x->data) continue;
    if (!l && !s->ranks) l = input_fits(s, e, n, bytes, &left);
    if (!l && !s->ranks) l = given_values(s, e, n, from, x);
  }
  e->input = in;
  return l;
}
