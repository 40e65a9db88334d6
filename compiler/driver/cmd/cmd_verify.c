/* driver/cmd/cmd_verify.c - ein verify: runs the same program and inputs by eval and by compiled C, with each
 * requested compiler and set of flags, for one site or by a plan for several. A text past the graph is judged by the
 * evaluator of its language, and loops by that of their tasks. A failure must be the same in all. */
#include <string.h>

#include "driver/compile/native.h"
#include "driver/table.h"

typedef struct Verify {
  Session *s;
  const Args *args;           /* with the words of `# run:` */
  Job *eval, *open;           /* with the given sizes; and what is compiled: with sizes left open where possible, or for
                               * several sites */
  Expects expects;
  EvalStatus status;          /* of eval */
  const char *said;           /* why it failed */
  Eval e;                     /* of eval, with its outputs */
  const EvalArray *other;     /* by eval in the order that the passes chose; NULL: not yet, or it fails */
  bool asked;
  const double **moves;       /* of each output's elements if eval rounds differently; NULL: not yet */
  Buf out;
  bool differ;
} Verify;

/* ---- how a run ended ------------------------------------------------------------------------ */

static EvalStatus status_class(ein_status st) {
  switch (st) {
  case EIN_OK: return EVAL_OK;
  case EIN_ERR_INDEX: return EVAL_RANGE;
  case EIN_ERR_ASSERT: return EVAL_ASSERT;
  case EIN_ERR_MEMORY: return EVAL_MEMORY;
  case EIN_ERR_CANCEL: return EVAL_STOPPED;
  default: return EVAL_SHAPE;
  }
}

static const char *class_text(EvalStatus st) {
  static const char *const text[] = {
      [EVAL_OK] = "succeeds",           [EVAL_MISSING] = "misses an input",   [EVAL_SHAPE] = "finds sizes wrong",
      [EVAL_RANGE] = "finds an index out of range", [EVAL_ASSERT] = "finds an assert broken",
      [EVAL_MEMORY] = "runs out of memory", [EVAL_STOPPED] = "is stopped"};
  return text[st];
}

/* Takes back complaints since `from`: they are printed only where they help. */
static const char *complaint_take(Session *s, uint32_t from) {
  const char *text = s->captured.len > from ? s->captured.at[from] : "";
  s->captured.len = from;
  return text;
}

/* ---- one output ----------------------------------------------------------------------------- */

static void element_text(Buf *b, const EvalArray *x, int64_t k) {
  if (dtype_is_float(x->dtype)) double_print(b, eval_real(x, k));
  else report_element(b, x, k);
}

/* `WORD at 3 of 9: Y[2] is 1.0, by eval 2.0` */
static void apart_text(Buf *b, const char *word, int64_t n, Str name, int64_t at, const EvalArray *got,
    const EvalArray *want) {
  buf_printf(b, "      %s at %lld of %lld: %s", word, (long long)n, (long long)want->count, name->s);
  report_place(b, want, at);
  buf_str(b, " is ");
  element_text(b, got, at);
  buf_str(b, ", by eval ");
  element_text(b, want, at);
}

static void unstable_text(Buf *b, Str name, const Distance *d, const EvalArray *got, const EvalArray *want) {
  apart_text(b, "not judged", d->moved, name, d->first_moved, got, want);
  buf_str(b, "; unstable: eval's value changes as much if each operation is off by a unit in the last place\n");
}

static void wrong_text(Buf *b, Str name, const Distance *d, const EvalArray *got, const EvalArray *want) {
  apart_text(b, "WRONG", d->wrong, name, d->first, got, want);
  if (d->allowed > d->bound * (d->most > 0 ? d->most : 1)) buf_printf(b, "; rounding may come to %.3g", d->allowed);
  else if (d->bound > 0)
    buf_printf(b, "; the bound is %g of the largest magnitude, %.4g", d->bound, d->most > 0 ? d->most : 1);
  buf_char(b, '\n');
}

static bool same_shape(const EvalArray *a, const EvalArray *b) {
  return a->dtype == b->dtype && a->rank == b->rank && a->count == b->count &&
         (!a->rank || memcmp(a->shape, b->shape, a->rank * sizeof *a->shape) == 0);
}

/* The width of the column of names. */
static int name_padding(const Verify *v, Str name) {
  size_t most = 12;
  for (uint32_t i = 0; i < v->e.graph->outputs.len; i++) {
    size_t n = text_columns(v->e.graph->outputs.at[i].name->s);
    if (n > most) most = n;
  }
  return (int)(most - text_columns(name->s));
}

/* The outputs by eval of the graph from which the C was made, or NULL. */
static const EvalArray *other_order(Verify *v) {
  if (v->asked) return v->other;
  v->asked = true;
  Eval e = v->e;
  const char *error;
  Place at;
  e.graph = v->open->best;
  e.output = NULL;
  if (!e.graph || externs_load(v->s, e.graph->exprs, NULL) || dims_of_job(v->s, v->open, &e) ||
      graph_eval(&e, &error, &at) != EVAL_OK)
    return NULL;
  return v->other = e.output;
}

/* Compares relative to its size first, which nearly always passes. A bound that the program gives is the bound. */
static Distance output_distance(Verify *v, uint32_t k, const EvalArray *got, double bound) {
  const EvalArray *want = &v->e.output[k];
  Distance d = distance(got, want, bound, 0, NULL, NULL);
  bool real = dtype_is_float(want->dtype), said = real && v->expects.bound >= 0;
  if (!d.wrong || v->eval->past) return d;
  const EvalArray *other = d.apart ? other_order(v) : NULL;
  double floor = said || !real ? 0 : rounding_floor(v->s->arena, &v->e, v->e.graph->outputs.at[k].node);
  d = distance(got, want, bound, floor, other ? &other[k] : NULL, NULL);
  if (!d.wrong || said) return d;
  if (!v->moves) v->moves = rounding_moves(v->s->arena, &v->e);
  return distance(got, want, bound, floor, other ? &other[k] : NULL, v->moves[k]);
}

static void output_compare(Verify *v, uint32_t k, const EvalArray *got) {
  Str name = v->e.graph->outputs.at[k].name;
  const EvalArray *want = &v->e.output[k];
  buf_printf(&v->out, "    %s%*s %-4s ", name->s, name_padding(v, name), "", dtype_name(want->dtype));
  if (!same_shape(got, want)) {
    buf_str(&v->out, "WRONG: another shape\n");
    v->differ = true;
    return;
  }
  bool real = dtype_is_float(want->dtype), said = v->expects.bound >= 0;
  const EinGraph *g = v->e.graph;
  double bound = !real ? 0 : said ? v->expects.bound : distance_bound(v->s->arena, g, g->outputs.at[k].node);
  Distance d = output_distance(v, k, got, bound);
  if (!real) buf_str(&v->out, d.wrong || d.moved ? "not equal\n" : "equal\n");
  else buf_printf(&v->out, "abs %-9.3g rel %-9.3g ulp %.4g\n", d.abs, d.rel, d.ulp);
  if (d.ordered)
    buf_printf(&v->out, "      %lld of %lld over- or underflow in one order of the sum, and not in the other\n",
        (long long)d.ordered, (long long)want->count);
  if (d.moved) unstable_text(&v->out, name, &d, got, want);
  if (d.wrong) wrong_text(&v->out, name, &d, got, want);
  v->differ |= d.wrong != 0;
}

/* ---- one compiler --------------------------------------------------------------------------- */

/* Whatever is wrong when sizes are bound is a problem of the sizes. */
static Leave run_compiled(Verify *v, Compiler *c, Eval *e, EvalStatus *how) {
  Session *s = v->s;
  Library lib;
  int threads;
  ein_status planned = EIN_OK, ran = EIN_OK;
  Leave l = threads_wanted(s, v->args, &threads);
  threads_sleep(s);
  if (!l) l = library_open(s, v->open, c, threads, &lib);
  if (l) return l;
  l = library_plan(s, &lib, v->open, e, &planned);
  if (!l) l = library_run(s, &lib, e, &ran);
  library_close(&lib);
  *how = planned != EIN_OK && planned != EIN_ERR_MEMORY ? EVAL_SHAPE : status_class(planned ? planned : ran);
  return planned || ran ? LEAVE_OK : l;
}

/* All sites in this process, which says why a run fails, but not in which way. */
static Leave run_sites_compiled(Verify *v, Compiler *c, Eval *e, EvalStatus *how) {
  Session *s = v->s;
  Library lib;
  int threads;
  Leave l = threads_wanted(s, v->args, &threads);
  if (!l && !v->eval->past) l = defaults_of_sites(s, v->args, v->open, true, e);
  threads_sleep(s);
  c->dense = true; /* an Eval's arrays are */
  if (!l) l = library_open(s, v->open, c, threads, &lib);
  if (l) return l;
  l = sites_run(s, &lib, v->open, e, threads);
  library_close(&lib);
  *how = !l ? EVAL_OK : v->status != EVAL_OK ? v->status : EVAL_SHAPE;
  return l == LEAVE_PROGRAM ? LEAVE_OK : l;
}

static Leave compiler_verify(Verify *v, const char *name, const char *flags) {
  Session *s = v->s;
  Compiler c;
  EvalStatus how = EVAL_OK;
  Eval e = v->e;
  uint32_t from = s->captured.len;
  Leave l = compiler_choose(s, v->args, name, flags, &c);
  if (!l) l = (v->open->tasks->mesh.n ? run_sites_compiled : run_compiled)(v, &c, &e, &how);
  const char *why = complaint_take(s, from);
  if (l) {
    s->capture = false;
    return fail(s, l, "%s", why);
  }
  buf_printf(&v->out, "  %s\n", compiler_words(s->arena, &c));
  if (how != v->status) {
    buf_printf(&v->out, "    WRONG: eval %s, but C %s\n", class_text(v->status), class_text(how));
    if (*v->said) buf_printf(&v->out, "      eval: %s\n", v->said);
    if (*why) buf_printf(&v->out, "      C: %s\n", why);
    v->differ = true;
  } else if (how != EVAL_OK)
    buf_printf(&v->out, "    both fail: %s\n", why);
  else
    for (uint32_t k = 0; k < v->e.graph->outputs.len; k++) output_compare(v, k, &e.output[k]);
  return LEAVE_OK;
}

/* ---- everything together -------------------------------------------------------------------- */

static Leave compilers_verify(Verify *v) {
  Words names = commas_of(v->s->arena, arg_last(v->args, OPT_CC)), flags = v->args->given[OPT_FLAGS];
  if (!names.len) vec_push(v->s->arena, names, NULL);
  if (!flags.len) vec_push(v->s->arena, flags, NULL);
  for (uint32_t i = 0; i < names.len; i++)
    for (uint32_t k = 0; k < flags.len; k++) {
      Leave l = compiler_verify(v, names.at[i], flags.at[k]);
      if (l) return l;
    }
  return LEAVE_OK;
}

/* Makes what is compiled. With -n sizes are known, because a plan depends on them. */
static Leave loops_make(Verify *v) {
  Session *s = v->s;
  bool sites = arg_has(v->args, OPT_SITES);
  *v->open = *v->eval;
  Leave l = (sites ? job_graph : job_graph_open)(s, v->open, v->args);
  if (!l && sites) l = job_sites(s, v->open, v->args, LANG_TASK);
  return l ? l : job_loops(s, v->open, v->args);
}

/* Eval's answer, or why there is none: a program that is refused with these sizes has wrong sizes. */
static Leave eval_answer(Verify *v, const Words *inputs) {
  Session *s = v->s;
  Givens given = {0};
  uint32_t from = s->captured.len;
  Leave l = job_dims(s, v->eval, v->args);
  if (!l) l = given_find(s, v->eval, v->args, inputs, &given);
  if (!l) l = loops_make(v);
  if (l) return l;
  l = job_graph(s, v->eval, v->args);
  v->status = EVAL_SHAPE;
  const Job *typed = l ? v->open : v->eval;
  given_fill(s, typed, &given);
  Leave in = run_inputs(s, typed, &given, &v->e);
  if (in) return in;
  bool text = v->eval->past;
  if (text) l = run_text(s, v->eval, &v->e, &v->status);
  if (text && l && v->status != EVAL_RANGE) return l;
  if (!text && !l) patience_eval(s, v->eval, v->e.graph, "; with smaller sizes it is faster (-D)");
  if (!text && !l) run_eval(s, &v->e, &v->status);
  v->said = complaint_take(s, from);
  return LEAVE_OK;
}

static Leave verify(Verify *v, const Words *inputs) {
  Session *s = v->s;
  s->capture = true;
  Leave l = eval_answer(v, inputs);
  if (!l) l = compilers_verify(v);
  if (!l && v->status == EVAL_OK) stated_compare(s, v->eval, &v->e, &v->out);
  s->capture = false;
  if (l && v->expects.error) {
    buf_printf(&v->out, "  refused: %s\n", s->captured.len ? s->captured.at[0] : "");
    l = LEAVE_OK;
  }
  if (l && s->refused) diags_show(s, s->refused);
  for (uint32_t i = 0; l && !s->refused && i < s->captured.len; i++) fail(s, l, "%s", s->captured.at[i]);
  print(s, &v->out);
  return !l && v->differ ? LEAVE_PROGRAM : l;
}

Leave cmd_verify(Session *s, Args *a) {
  if (!program_first(s, a)) return program_missing(s, a, "ein verify x.ein");
  Job eval, open;
  Args all = *a;
  Words inputs = {0};
  Verify v = {.s = s, .eval = &eval, .open = &open, .args = &all, .out = buf_new(s->arena), .expects = {.bound = -1}};
  const char *path = a->operands.at[0];
  Leave l = job_read(s, &eval, a, path);
  const AstFile *file = l ? NULL : job_file(&eval);
  if (!l && file) l = expects_read(s, file, path, &v.expects);
  if (!l) l = comment_words(s, &v.expects, path, a, &all, &inputs);
  if (l) return l;
  buf_printf(&v.out, "%s\n", path);
  return verify(&v, &inputs);
}
