/* tests/random/judge.c - a program is compiled and run in several ways, and all must say the same. */
#include <math.h>
#include <string.h>

#include "../harness/cuts.h"
#include "algebra/rules/derive.h"
#include "random.h"

typedef struct Run { /* one text, compiled and computed */
  Arena *arena;
  Front f;
  Program p;
  EinGraph *g;
  Eval e;
} Run;

/* ---- one text ---------------------------------------------------------------------------------- */

static bool compile(Run *r, Arena *a, const char *text) {
  *r = (Run){.arena = a};
  r->g = front_read(&r->f, &r->p, a, "random.ein", text);
  return r->g;
}

static bool rejected(Run *r, Judgement *v, const char *which) {
  Buf b = buf_new(r->arena);
  const char *code = "without a word";
  for (uint32_t i = r->f.diags->all.len; i-- > 0;)
    if (r->f.diags->all.at[i]->kind == DIAG_ERROR) code = diag_info(r->f.diags->all.at[i]->code)->code;
  diags_text(r->f.diags, &b, false);
  return say(v, arena_printf(r->arena, "%srejected: %s", which, code), b.s);
}

static bool computed(Run *r, Judgement *v, const char *which, const EvalDim *dim, uint32_t n_dim) {
  const char *error = NULL;
  Place place;
  bug_where = "graph_eval";
  r->e = (Eval){.arena = r->arena, .graph = r->g, .dim = dim, .n_dim = n_dim, .max_bytes = 1 << 22};
  EvalStatus st = graph_eval(&r->e, &error, &place);
  bug_where = NULL;
  return st == EVAL_OK || say(v, arena_printf(r->arena, "%seval fails: status %d", which, (int)st), error);
}

static bool run_text(Run *r, Arena *a, const char *text, Judgement *v, const char *which) {
  if (!compile(r, a, text)) return rejected(r, v, which);
  return computed(r, v, which, NULL, 0);
}

/* ---- the text of the graph --------------------------------------------------------------------- */

static bool same_bits(const EvalArray *a, const EvalArray *b) {
  if (a->dtype != b->dtype || a->rank != b->rank || a->count != b->count) return false;
  for (uint32_t k = 0; k < a->rank; k++)
    if (a->shape[k] != b->shape[k]) return false;
  return !a->count || memcmp(a->data, b->data, (size_t)a->count * (size_t)dtype_size(a->dtype)) == 0;
}

static bool law_holds(Run *r, Judgement *v) {
  Buf text = buf_new(r->arena), why = buf_new(r->arena);
  if (!graph_check(r->g, &why)) return say(v, "graph_check", why.s);
  graph_print(&text, r->g);
  Diags *d = diags_new(r->arena);
  Run again = {.arena = r->arena};
  again.g = graph_read(r->arena, r->f.strings, source_new(r->arena, "printed", text.s, text.len), d);
  if (!again.g || d->errors) return diags_text(d, &why, false), say(v, "the graph's text is not read", why.s);
  if (!graph_equal(r->g, again.g, &why)) return say(v, "the graph's text reads as another", why.s);
  if (!graph_check(again.g, &why)) return say(v, "graph_check of what is read", why.s);
  if (!computed(&again, v, "reread: ", NULL, 0)) return false;
  for (uint32_t i = 0; i < r->g->outputs.len; i++)
    if (!same_bits(&r->e.output[i], &again.e.output[i])) return say(v, "reread differs", r->g->outputs.at[i].name->s);
  return true;
}

/* ---- comparing --------------------------------------------------------------------------------- */

typedef struct Number { bool real; int64_t i; double f; } Number;

static bool near(Number a, Number b, double noise) {
  if (!a.real) return a.i == b.i;
  if (isnan(a.f) || isnan(b.f)) return isnan(a.f) && isnan(b.f);
  return a.f == b.f || fabs(a.f - b.f) <= noise * 16;
}

static Number element(const EvalArray *x, int64_t k) {
  Number n = {.real = dtype_is_float(x->dtype)};
  if (n.real) n.f = eval_real(x, k);
  else n.i = eval_int(x, k);
  return n;
}

static const Tensor *tensor_named(const Made *m, const char *name) {
  for (uint32_t i = 0; i < m->tensors.len; i++)
    if (strcmp(m->tensors.at[i]->name, name) == 0) return m->tensors.at[i];
  return NULL;
}

static double noise_of(const Made *m, const char *name) {
  const Tensor *t = tensor_named(m, name);
  return t && dtype_is_float(t->dtype) ? t->num.noise : 0;
}

static bool differ(Arena *a, Judgement *v, const char *what, const char *name, int64_t k, Number x, Number y) {
  const char *text = x.real
      ? arena_printf(a, "%s, element %lld: %.17g and %.17g", name, (long long)k, x.f, y.f)
      : arena_printf(a, "%s, element %lld: %lld and %lld", name, (long long)k, (long long)x.i, (long long)y.i);
  return say(v, what, text);
}

static bool dtypes_expected(const Made *m, const Run *r, Judgement *v) {
  for (uint32_t i = 0; i < r->g->outputs.len; i++) {
    const char *name = r->g->outputs.at[i].name->s;
    const Tensor *t = tensor_named(m, name);
    if (t && t->dtype != r->e.output[i].dtype)
      return say(v, "another dtype",
          arena_printf(
              r->arena, "%s is %s, expected %s", name, dtype_name(r->e.output[i].dtype), dtype_name(t->dtype)));
  }
  return true;
}

static bool same_answers(const Made *m, const Run *a, const Run *b, Judgement *v, const char *what) {
  for (uint32_t i = 0; i < a->g->outputs.len; i++) {
    const char *name = a->g->outputs.at[i].name->s;
    const EvalArray *x = &a->e.output[i], *y = NULL;
    for (uint32_t k = 0; k < b->g->outputs.len; k++)
      if (strcmp(b->g->outputs.at[k].name->s, name) == 0) y = &b->e.output[k];
    if (!y || x->dtype != y->dtype || x->count != y->count || x->rank != y->rank)
      return say(v, what, arena_printf(a->arena, "%s has another type", name));
    for (int64_t k = 0; k < x->count; k++)
      if (!near(element(x, k), element(y, k), noise_of(m, name)))
        return differ(a->arena, v, what, name, k, element(x, k), element(y, k));
  }
  return true;
}

/* ---- the second opinion ------------------------------------------------------------------------ */

static bool refused(const char *why) {
  static const char *const known[] = {"too much work", "too many points", "nested too deep", "does no"};
  for (size_t i = 0; i < COUNT(known); i++)
    if (strstr(why, known[i])) return true;
  return false;
}

static bool ast_agrees(const Made *m, const Run *r, const Run *of, Judgement *v, Tally *t) {
  AstEval e = {.arena = r->arena, .strings = of->f.strings, .file = of->p.file, .max_points = 1 << 22};
  const char *why = "";
  Span where;
  bug_where = "ast_eval";
  bool ok = ast_eval(&e, &why, &where);
  bug_where = NULL;
  if (!ok && refused(why)) return t->refused++, true;
  if (!ok) {
    uint32_t line = 0, column = 0;
    if (where.src) source_place(r->arena, where.src, where.at, &line, &column);
    const char *word = arena_printf(r->arena, "the AST evaluator fails: %.12s", why);
    return say(v, word, arena_printf(r->arena, "line %u:%u: %s", line, column, why));
  }
  t->ast++;
  for (uint32_t i = 0; i < r->g->outputs.len; i++) {
    const char *name = r->g->outputs.at[i].name->s;
    const EvalArray *x = &r->e.output[i];
    const AstTensor *y = NULL;
    for (uint32_t k = e.tensors.len; k-- > 0 && !y;)
      if (strcmp(e.tensors.at[k]->name->s, name) == 0) y = e.tensors.at[k];
    if (!y) return say(v, "the AST evaluator has no such output", name);
    if (y->dtype != x->dtype || y->rank != x->rank || y->count != x->count)
      return say(v, "the AST evaluator has another type",
          arena_printf(r->arena, "%s: %s and %s", name, dtype_name(x->dtype), dtype_name(y->dtype)));
    for (int64_t k = 0; k < x->count; k++, t->elements++) {
      Number n = {.real = dtype_is_float(y->dtype)};
      if (n.real) n.f = y->at[k].f;
      else n.i = y->at[k].i;
      if (!near(element(x, k), n, noise_of(m, name)))
        return differ(r->arena, v, "the AST evaluator differs", name, k, element(x, k), n);
    }
  }
  return true;
}

static bool loops_agree(const Made *m, const Run *r, Judgement *v, Tally *t) {
  Run flat;
  const char *text = program_text(r->arena, m, (Style){.unroll = true});
  if (!run_text(&flat, r->arena, text, v, "unrolled: ")) return false;
  t->unrolled++;
  return same_answers(m, r, &flat, v, "unrolled differs") && ast_agrees(m, r, &flat, v, t);
}

/* ---- the same in other words ------------------------------------------------------------------- */

static bool symbolic_agrees(const Made *m, const Run *r, Judgement *v, Tally *t) {
  Run open;
  if (!compile(&open, r->arena, program_text(r->arena, m, (Style){.symbolic = true}))) return t->symbolic_open++, true;
  EvalDim dim[16];
  uint32_t n = 0;
  for (uint32_t i = 0; i < open.g->dims.len; i++)
    for (uint32_t k = 0; k < m->extents.len && n < COUNT(dim); k++)
      if (!open.g->dims.at[i].known && strcmp(m->extents.at[k]->text, open.g->dims.at[i].name->s) == 0)
        dim[n++] = (EvalDim){open.g->dims.at[i].name, m->extents.at[k]->value};
  Buf why = buf_new(r->arena);
  if (!graph_check(open.g, &why)) return say(v, "graph_check with symbolic sizes", why.s);
  if (!computed(&open, v, "symbolic: ", dim, n)) {
    if (!strstr(v->what, "status 2")) return false;
    t->symbolic_strict++; /* a check on sizes asks for more than it must where nothing is computed or it is not
                           * linear */
    return true;
  }
  t->symbolic++;
  return same_answers(m, r, &open, v, "symbolic differs");
}

static bool variant_agrees(const Made *m, const Run *r, uint64_t seed, Judgement *v, Tally *t) {
  static const struct { const char *word; Style s; } variants[] = {
    {"with parentheses: ", {.parens = true}},
    {"operands changed over: ", {.swap = true}},
    {"labels renamed: ", {.names = 1, .sizes = true}},
    {"labels named as tensors: ", {.names = 2}},
    {"labels split: ", {.split = true}},
    {"split, swapped, renamed: ", {.split = true, .swap = true, .names = 1, .parens = true}}};
  uint32_t k = (uint32_t)(seed % (COUNT(variants) + 1));
  if (k == COUNT(variants)) return symbolic_agrees(m, r, v, t);
  Run other;
  if (!run_text(&other, r->arena, program_text(r->arena, m, variants[k].s), v, variants[k].word)) return false;
  t->variants++;
  return same_answers(m, r, &other, v, variants[k].word);
}

/* ---- by relations, on several sites ------------------------------------------------------------- */

typedef struct Sited { const Made *m; const Run *r; const AlgGiven *given; Judgement *v; } Sited;

static bool algebra_agrees(const Sited *x, const Algebra *p, const char *what) {
  Run other = *x->r;
  AlgRun run = {.arena = other.arena, .program = p, .input = x->given, .n_input = other.g->inputs.len};
  const char *why = "";
  Place place;
  Buf said = buf_new(other.arena);
  if (!algebra_check(p, &said)) return say(x->v, arena_printf(other.arena, "%s: not sound", what), said.s);
  if (!algebra_eval(&run, &why, &place)) return say(x->v, arena_printf(other.arena, "%s: it fails", what), why);
  other.e.output = NEW_ARRAY(other.arena, EvalArray, other.g->outputs.len + 1);
  for (uint32_t k = 0; k < other.g->outputs.len; k++) other.e.output[k] = eval_array_of(&run.output[k]);
  return same_answers(x->m, x->r, &other, x->v, what);
}

static void rule_applied(void *ctx, const Rule *rule, const AlgNode *at) { (void)ctx, (void)rule, (void)at; }

static bool derived_agrees(const Sited *x, Algebra *p, const Algebra *plan) {
  algebra_derive(p, plan, &(Derivation){alg_rules_new(p->arena), rule_applied, NULL});
  return algebra_agrees(x, p, "by an ia that rules make");
}

static bool relations_agree(const Made *m, const Run *r, uint64_t seed, Judgement *v, Tally *t) {
  static const int64_t counts[] = {2, 3, 4, 5, 6, 8, 9, 12};
  Arena *a = r->arena;
  Rng random = {seed};
  Buf why = buf_new(a);
  AlgGiven *given = NEW_ARRAY(a, AlgGiven, r->g->inputs.len + 1);
  bug_where = "relations";
  const PartGraph *part = part_from_graph(a, r->g, &why);
  if (!part || !inputs_find(a, &r->e, given)) return say(v, "no relations", why.s);
  const PlaceGraph *places = place_graph(a, part);
  int64_t sites = counts[below(&random, COUNT(counts))];
  Cutting c = cutting_of_placing(a, places, placing_chance(a, places, sites, &random)),
          by_counts = cutting_of_counts(places, counts_chance(a, part, sites, &random));
  Algebra *ia = ia_from_graph(a, r->g, &c), *plain = ia_plain_from_graph(a, r->g, &c);
  Sited x = {m, r, given, v};
  bool ok = algebra_agrees(&x, tra_from_graph(a, r->g, &c), "by a tra") &&
      algebra_agrees(&x, ia, "by an ia") &&
      algebra_agrees(&x, plain, "by an ia of Table 1") && derived_agrees(&x, plain, ia) &&
      algebra_agrees(&x, tra_from_graph(a, r->g, &by_counts), "by a tra of counts");
  t->relations += ok;
  bug_where = NULL;
  return ok;
}

void judge_make(const Made *m, uint64_t seed, Judgement *v, Tally *t) {
  Arena *a = arena_new();
  Run r;
  *v = (Judgement){0};
  bool ok = run_text(&r, a, program_text(a, m, (Style){0}), v, "") && dtypes_expected(m, &r, v) && law_holds(&r, v) &&
            (m->loops ? loops_agree(m, &r, v, t) : ast_agrees(m, &r, &r, v, t)) && variant_agrees(m, &r, seed, v, t) &&
            relations_agree(m, &r, seed, v, t);
  if (ok) v->what[0] = 0;
  arena_free(a);
}

/* ---- programs that may be wrong ---------------------------------------------------------------- */

static bool some_time(void *ctx) {
  return ++*(int *)ctx < 200;
}

void judge_text(const char *text, Judgement *v, Tally *t) {
  Arena *a = arena_new();
  Run r;
  *v = (Judgement){0};
  if (!compile(&r, a, text)) {
    Buf b = buf_new(a);
    diags_text(r.f.diags, &b, false);
    diags_json(r.f.diags, &b);
    t->rejected++;
    if (!r.f.diags->errors || !b.len) say(v, "no graph, and no complaint", "");
  } else {
    int polls = 0;
    const char *error = NULL;
    Place place;
    Buf why = buf_new(a);
    EvalDim dim[16];
    r.e = (Eval){.arena = a, .graph = r.g, .dim = dim, .max_bytes = 1 << 20, .keep_going = some_time, .ctx = &polls};
    for (uint32_t i = 0; i < r.g->dims.len; i++)
      if (!r.g->dims.at[i].known && r.e.n_dim < COUNT(dim)) dim[r.e.n_dim++] = (EvalDim){r.g->dims.at[i].name, 2};
    if (!graph_check(r.g, &why)) say(v, "graph_check", why.s);
    else if (graph_eval(&r.e, &error, &place) != EVAL_OK && !error) say(v, "a failure that says nothing", "");
    AstEval e = {.arena = a, .strings = r.f.strings, .file = r.p.file, .max_points = 1 << 18};
    const char *said = NULL;
    Span where;
    if (!v->what[0] && !ast_eval(&e, &said, &where) && !said) say(v, "the AST evaluator says nothing", "");
  }
  arena_free(a);
}

typedef struct Words { uint32_t n, at[2000], len[2000]; } Words;

static bool joins(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '\'' ||
      c == '.';
}

static void words_of(Words *w, const char *s) {
  for (uint32_t i = 0; s[i] && w->n < COUNT(w->at);) {
    uint32_t end = i + 1;
    if (joins(s[i])) while (joins(s[end])) end++;
    if (s[i] != ' ') w->at[w->n] = i, w->len[w->n++] = end - i;
    i = end;
  }
}

static int kind_of(char c) {
  return c >= '0' && c <= '9' ? 1 : joins(c) ? 2 : 0;
}

/* One name or number becomes another of the same program: what still parses, and so gets further. */
static const char *text_touch(Arena *a, const char *text, Rng *r) {
  Words *w = NEW(a, Words);
  words_of(w, text);
  for (int tries = 0; tries < 50 && w->n; tries++) {
    uint32_t i = below(r, w->n), k = below(r, w->n);
    if (!kind_of(text[w->at[i]]) || kind_of(text[w->at[i]]) != kind_of(text[w->at[k]])) continue;
    return arena_printf(
        a, "%.*s%.*s%s", (int)w->at[i], text, (int)w->len[k], text + w->at[k], text + w->at[i] + w->len[i]);
  }
  return text;
}

/* One to three words left out, doubled, changed over or taken from elsewhere; every second time one only. */
const char *text_spoil(Arena *a, const char *text, uint64_t seed) {
  static const char *const odd[] = {"??", "where", "(", ")", "[", "]", ":", "=", "sum[k]", "-", "/",
      "99999999999999999999", "i", "if", "}", "{", "\n", "0", "-1", "true", "size", "9223372036854775807", "0.5", "N0",
      "A1"};
  Rng r = {seed * 77 + 5};
  if (seed % 2) return text_touch(a, text, &r);
  for (uint32_t n = 1 + below(&r, 3); n > 0; n--) {
    Words *w = NEW(a, Words);
    words_of(w, text);
    if (w->n < 2) return text;
    uint32_t i = below(&r, w->n), k = below(&r, w->n);
    const char *from = text + w->at[i], *other = text + w->at[k];
    int head = (int)w->at[i], len = (int)w->len[i], more = (int)w->len[k];
    switch (below(&r, 5)) {
      case 0: text = arena_printf(a, "%.*s%s", head, text, from + len); break;
      case 1: text = arena_printf(a, "%.*s %.*s %s", head, text, len, from, from); break;
      case 2: text = arena_printf(a, "%.*s%.*s%s", head, text, more, other, from + len); break;
      case 3: text = arena_printf(a, "%.*s %.*s %s", head, text, more, other, from); break;
      default:
        text = arena_printf(a, "%.*s %s %s", head, text, odd[below(&r, COUNT(odd))], from + (below(&r, 2) ? len : 0));
        break;
    }
  }
  return text;
}
