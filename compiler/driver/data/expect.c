/* driver/data/expect.c - what a program states about its own outputs, in comments:
 *
 *   # expect: Z = [[1, 2], [3, 4]]        every element (exactly; floats after rounding to the dtype)
 *   # expect: Z ~ [0.333333, 0.5]         within 1e-10 (f64), 1e-5 (f32), 1e-2 (f16, bf16), relative
 *   # expect: Z[0,1] = 2                  one element
 *   # expect: sum(Z) = 12                 also min, max, mean; shape(Z) = [2, 2]
 *   # expect-error: out of range          the run must fail, with a message that contains this text
 *   # run: -D N=4 X=iota                  words for the command line of such a run
 *
 * A value with open brackets continues in the next comment. */
#include <math.h>
#include <string.h>

#include "driver/driver.h"

typedef struct ExpectReader {
  Session *s;
  const char *path;
  Expects *out;
  Span span; /* of the current comment */
  const char *at;
} ExpectReader;

/* "x.ein:12: ", for errors in or near a comment. */
static const char *line_text(Session *s, const char *path, Span span) {
  return arena_printf(s->arena, "%s:%u: ", path, span_line(s->arena, span));
}

/* ---- reading comments ----------------------------------------------------------------------- */

static Leave wrong(ExpectReader *r, const char *what) {
  return fail(r->s, LEAVE_PROGRAM, "%sthis expectation cannot be read: %s",
              line_text(r->s, r->path, r->span), what);
}

static void blanks(ExpectReader *r) {
  r->at += strspn(r->at, " \t\r\n");
}

static bool take(ExpectReader *r, const char *word) {
  blanks(r);
  size_t n = strlen(word);
  if (strncmp(r->at, word, n) != 0) return false;
  r->at += n;
  return true;
}

static bool name_take(ExpectReader *r, Str *out) {
  blanks(r);
  size_t n = 0;
  for (;; n++) {
    unsigned char c = (unsigned char)r->at[n];
    bool letter = c >= 0x80 || c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (!letter && !(n && ((c >= '0' && c <= '9') || c == '\''))) break;
  }
  *out = str_of(r->s->strings, r->at, n);
  r->at += n;
  return n > 0;
}

static bool index_take(ExpectReader *r, Expectation *x) {
  do {
    blanks(r);
    size_t n = strspn(r->at, "0123456789");
    int64_t v;
    if (!int64_read(r->at, n, &v)) return false;
    r->at += n;
    vec_push(r->s->arena, x->index, v);
  } while (take(r, ","));
  return take(r, "]");
}

static const char *const words[] = {[EXPECT_SUM] = "sum",
                                    [EXPECT_MIN] = "min",
                                    [EXPECT_MAX] = "max",
                                    [EXPECT_MEAN] = "mean",
                                    [EXPECT_SHAPE] = "shape"};

/* NAME, NAME[1,2] or sum(NAME) */
static bool subject_take(ExpectReader *r, Expectation *x) {
  if (!name_take(r, &x->name)) return false;
  if (take(r, "[")) {
    x->kind = EXPECT_ELEMENT;
    return index_take(r, x);
  }
  if (!take(r, "(")) return true;
  for (size_t k = EXPECT_SUM; k < COUNT(words); k++)
    if (strcmp(words[k], x->name->s) == 0) {
      x->kind = (ExpectKind)k;
      return name_take(r, &x->name) && take(r, ")");
    }
  return false;
}

static Leave expectation(ExpectReader *r) {
  Expectation x = {.kind = EXPECT_VALUE, .span = r->span};
  if (!subject_take(r, &x)) return wrong(r, "write `expect: Z = ...` or `expect: sum(Z) = ...`");
  x.roughly = take(r, "~");
  if (!x.roughly && !take(r, "=")) return wrong(r, "`=` or `~` is missing");
  blanks(r);
  x.text = r->at;
  x.end = r->at + strlen(r->at);
  if (x.text == x.end) return wrong(r, "the value is missing");
  vec_push(r->s->arena, r->out->all, x);
  return LEAVE_OK;
}

/* Splits words like a shell, but without quotes and everything else that a shell does. */
static void run_words_take(ExpectReader *r) {
  for (blanks(r); *r->at; blanks(r)) {
    size_t n = strcspn(r->at, " \t\r\n");
    vec_push(r->s->arena, r->out->run, arena_printf(r->s->arena, "%.*s", (int)n, r->at));
    r->at += n;
  }
}

/* `# expect y = 3`: meant as an expectation, but not read as one. */
static void nearly_expectation(ExpectReader *r) {
  Expectation x = {0};
  if (!take(r, "expect") && !take(r, "Expect")) return;
  r->at += strncmp(r->at, "ed", 2) == 0 ? 2 : *r->at == 's';
  if (*r->at != ' ' && *r->at != '\t' && *r->at != ':') return;
  (void)take(r, ":");
  blanks(r);
  const char *from = r->at;
  if (subject_take(r, &x) && (take(r, "=") || take(r, "~")))
    say(r->s, "%swarning: this comment is not read as an expectation: write `# expect: %s`",
        line_text(r->s, r->path, r->span), from);
}

/* `# verify: 1e-3`: for ein verify. */
static Leave bound_take(ExpectReader *r) {
  blanks(r);
  if (double_read(r->at, strlen(r->at), &r->out->bound) && r->out->bound >= 0) return LEAVE_OK;
  return fail(
      r->s, LEAVE_PROGRAM, "%sthis bound cannot be read: write `verify: 1e-3`", line_text(r->s, r->path, r->span));
}

static Leave comment(ExpectReader *r, const char *text) {
  r->at = text + strspn(text, "#");
  if (take(r, "expect-error:")) {
    blanks(r);
    r->out->error = r->at;
    r->out->error_span = r->span;
    return LEAVE_OK;
  }
  if (take(r, "expect:")) return expectation(r);
  if (take(r, "verify:")) return bound_take(r);
  if (take(r, "run:")) run_words_take(r);
  else nearly_expectation(r);
  return LEAVE_OK;
}

static int open_brackets(const char *s) {
  int n = 0;
  for (; *s; s++) n += (*s == '[') - (*s == ']');
  return n;
}

static const char *trimmed_text(Arena *a, Span s) {
  size_t n = s.end - s.at;
  const char *p = s.src->bytes + s.at;
  while (n && (p[n - 1] == ' ' || p[n - 1] == '\r' || p[n - 1] == '\t')) n--;
  return arena_printf(a, "%.*s", (int)n, p);
}

Leave expects_read(Session *s, const AstFile *file, const char *path, Expects *out) {
  ExpectReader r = {.s = s, .path = path, .out = out};
  out->bound = -1;
  for (uint32_t i = 0; i < file->comments.len; i++) {
    r.span = file->comments.at[i];
    Buf text = buf_new(s->arena);
    buf_str(&text, trimmed_text(s->arena, r.span));
    bool may_go_on = strstr(text.s, "expect:") != NULL;
    while (may_go_on && open_brackets(text.s) > 0 && i + 1 < file->comments.len) {
      const char *more = trimmed_text(s->arena, file->comments.at[++i]);
      buf_printf(&text, " %s", more + strspn(more, "#"));
    }
    Leave l = comment(&r, text.s);
    if (l) return l;
  }
  if (out->all.len && out->error)
    return fail(s, LEAVE_PROGRAM, "%sa run that must fail has no outputs to expect",
                line_text(s, path, out->error_span));
  return LEAVE_OK;
}

Leave expects_any(Session *s, const char *path, const Expects *x) {
  if (!x->all.len && !x->error)
    return fail(s, LEAVE_USAGE, "%s has no `# expect:` line, so there is nothing to compare with",
                path);
  return LEAVE_OK;
}

/* ---- comparing ------------------------------------------------------------------------------ */

static double tolerance(DType t) {
  switch (t) {
  case DT_F64: return 1e-10;
  case DT_F32: return 1e-5;
  case DT_F16:
  case DT_BF16: return 1e-2;
  default: return 0;
  }
}

/* Whether want and got agree within tol, relative to the larger of want and scale. */
static bool near(double got, double want, double scale, double tol) {
  if (isnan(got) || isnan(want)) return isnan(got) && isnan(want);
  if (isinf(got) || isinf(want)) return got == want;
  double by = fmax(fabs(want), scale);
  return fabs(got - want) <= tol * (by > 0 ? by : 1);
}

bool element_near(const EvalArray *x, int64_t k, double want, double scale) {
  return near(eval_real(x, k), want, scale, tolerance(x->dtype));
}

typedef struct Check {
  Session *s;
  const Expectation *e;
  const char *path;
  const EvalArray *x;
  const char *at;  /* into the value's text */
  double scale;    /* the largest finite number in the value's text */
  uint32_t differ; /* elements that do */
  int64_t next;    /* flat position */
  bool malformed;
  Buf first; /* the message about the first one */
} Check;

static void space(Check *c) {
  c->at += strspn(c->at, " \t");
}

static bool token(Check *c, const char **text, size_t *len) {
  space(c);
  *text = c->at;
  *len = strcspn(c->at, " \t,[]");
  c->at += *len;
  return *len > 0;
}

static bool is_word(const char *s, size_t n, const char *word) {
  return strlen(word) == n && memcmp(s, word, n) == 0;
}

/* A number of the value's text as a Value: i64, f64 or bool. */
static bool number(const char *s, size_t n, Value *v) {
  if (is_word(s, n, "true") || is_word(s, n, "false")) {
    *v = (Value){.dtype = DT_BOOL, .i = *s == 't'};
    return true;
  }
  if (int64_read(s, n, &v->i)) return v->dtype = DT_I64, true;
  return double_read(s, n, &v->f) && (v->dtype = DT_F64, true);
}

static double real_of(Value v) {
  return v.dtype == DT_F64 ? v.f : (double)v.i;
}

static bool value_agrees(const Check *c, DType t, double got, int64_t got_int, Value want) {
  if (!dtype_is_float(t)) {
    if (want.dtype == DT_F64) return want.f == (double)got_int;
    return want.i == got_int;
  }
  if (c->e->roughly) return near(got, real_of(want), c->scale, tolerance(t));
  double w = real_round(t, real_of(want));
  return got == w || (isnan(got) && isnan(w));
}

static bool element_agrees(const Check *c, int64_t k, Value want) {
  if (c->x->has && !c->x->has[k]) return false;
  bool real = dtype_is_float(c->x->dtype);
  return value_agrees(c, c->x->dtype, real ? eval_real(c->x, k) : 0, real ? 0 : eval_int(c->x, k),
                      want);
}

/* Exactly as stored: six digits may hide a difference. */
static void exact_text(Buf *b, const EvalArray *x, int64_t k) {
  if (dtype_is_float(x->dtype) && !(x->has && !x->has[k]))
    double_print(b, eval_real(x, k));
  else
    report_element(b, x, k);
}

static void compare_one(Check *c, int64_t k, const char *text, size_t n) {
  Value want;
  if (!number(text, n, &want)) {
    c->malformed = true;
    return;
  }
  if (element_agrees(c, k, want) || c->differ++) return;
  buf_str(&c->first, c->e->name->s);
  report_place(&c->first, c->x, k);
  buf_str(&c->first, " is ");
  exact_text(&c->first, c->x, k);
  buf_printf(&c->first, ", expected %.*s", (int)n, text);
}

/* Compares the nested lists from dimension d on; false if they have another shape. */
static bool compare_list(Check *c, uint32_t d) {
  const char *text;
  size_t n;
  if (d == c->x->rank) {
    if (c->next >= c->x->count || !token(c, &text, &n)) return false;
    compare_one(c, c->next++, text, n);
    return !c->malformed;
  }
  space(c);
  if (*c->at != '[') return false;
  c->at++;
  for (int64_t i = 0; i < c->x->shape[d]; i++) {
    space(c);
    if (!c->x->count && *c->at == ']') break; /* [] for any shape without elements */
    if (i && *c->at++ != ',') return false;
    if (!compare_list(c, d + 1)) return false;
  }
  space(c);
  return *c->at++ == ']';
}

static double scale_of(const char *s) {
  double most = 0;
  while (*s) {
    Value v;
    size_t n = strcspn(s, " \t,[]");
    if (n && number(s, n, &v) && isfinite(real_of(v))) most = fmax(most, fabs(real_of(v)));
    s += n ? n : 1;
  }
  return most;
}

static Leave report(Check *c, const char *text) {
  return fail(c->s, LEAVE_PROGRAM, "%s%s", line_text(c->s, c->path, c->e->span), text);
}

static Leave compare_value(Check *c) {
  c->scale = scale_of(c->e->text);
  bool fits = compare_list(c, 0);
  space(c);
  Buf b = buf_new(c->s->arena);
  if (!fits || *c->at || c->malformed) {
    buf_printf(&b, "the value expected for %s is not of its shape, [", c->e->name->s);
    for (uint32_t d = 0; d < c->x->rank; d++)
      buf_printf(&b, "%s%lld", d ? ", " : "", (long long)c->x->shape[d]);
    buf_str(&b, c->malformed ? "], or holds what is no number" : "]");
    return report(c, b.s);
  }
  if (!c->differ) return LEAVE_OK;
  buf_str(&b, c->first.s);
  if (c->differ > 1) buf_printf(&b, ", and %u more differ", c->differ - 1);
  return report(c, b.s);
}

static Leave compare_element(Check *c) {
  int64_t k = 0;
  bool fits = c->e->index.len == c->x->rank;
  for (uint32_t d = 0; fits && d < c->x->rank; d++) {
    fits = c->e->index.at[d] < c->x->shape[d];
    k = k * c->x->shape[d] + c->e->index.at[d];
  }
  if (!fits) return report(c, arena_printf(c->s->arena, "%s has no such element", c->e->name->s));
  compare_one(c, k, c->e->text, strlen(c->e->text));
  if (c->malformed) return report(c, arena_printf(c->s->arena, "%s is no number", c->e->text));
  return c->differ ? report(c, c->first.s) : LEAVE_OK;
}

static Leave compare_shape(Check *c) {
  Buf b = buf_new(c->s->arena), want = buf_new(c->s->arena);
  for (const char *t = c->e->text; *t; t++)
    if (*t != ' ') buf_char(&want, *t);
  buf_char(&b, '[');
  for (uint32_t d = 0; d < c->x->rank; d++)
    buf_printf(&b, "%s%lld", d ? "," : "", (long long)c->x->shape[d]);
  buf_char(&b, ']');
  if (strcmp(b.s, want.s) == 0) return LEAVE_OK;
  return report(c, arena_printf(c->s->arena, "the shape of %s is %s, expected %s", c->e->name->s,
                                b.s, want.s));
}

/* sum, min, max, mean: integers exactly (a sum wraps), floats in f64. */
typedef struct Folded {
  DType dtype;
  double f;
  int64_t i;
} Folded;

static Folded fold(const Check *c) {
  const EvalArray *x = c->x;
  bool real = dtype_is_float(x->dtype);
  Folded r = {.dtype = real ? x->dtype : DT_I64};
  for (int64_t k = 0; k < x->count; k++) {
    double f = real ? eval_real(x, k) : 0;
    int64_t i = real ? 0 : eval_int(x, k);
    if (c->e->kind == EXPECT_MIN || c->e->kind == EXPECT_MAX) {
      bool low = c->e->kind == EXPECT_MIN;
      if (k == 0 || isnan(f) || (low ? f < r.f : f > r.f)) r.f = isnan(r.f) ? r.f : f;
      if (k == 0 || (low ? i < r.i : i > r.i)) r.i = i;
      continue;
    }
    r.f += f;
    r.i = (int64_t)((uint64_t)r.i + (uint64_t)i);
  }
  if (c->e->kind == EXPECT_MEAN) {
    r.f = (real ? r.f : (double)r.i) / (double)x->count;
    if (!real) r.dtype = DT_F64;
  }
  return r;
}

static Leave compare_folded(Check *c) {
  Value want;
  Folded got = fold(c);
  if (!number(c->e->text, strlen(c->e->text), &want))
    return report(c, arena_printf(c->s->arena, "%s is no number", c->e->text));
  if (value_agrees(c,
                   c->e->roughly               ? got.dtype
                   : dtype_is_float(got.dtype) ? DT_F64
                                               : DT_I64,
                   got.f, got.i, want))
    return LEAVE_OK;
  Buf b = buf_new(c->s->arena);
  buf_printf(&b, "%s(%s) is ", words[c->e->kind], c->e->name->s);
  if (dtype_is_float(got.dtype))
    double_print(&b, got.f);
  else
    buf_printf(&b, "%lld", (long long)got.i);
  buf_printf(&b, ", expected %s", c->e->text);
  return report(c, b.s);
}

static Leave compare(Check *c) {
  switch (c->e->kind) {
  case EXPECT_VALUE: return compare_value(c);
  case EXPECT_ELEMENT: return compare_element(c);
  case EXPECT_SHAPE: return compare_shape(c);
  default: return compare_folded(c);
  }
}

/* Checks all of them, and returns the code of the first failure. */
Leave expects_check(Session *s, const Expects *x, const char *path, const EinGraph *g,
                    const EvalArray *output) {
  Leave l = LEAVE_OK;
  for (uint32_t i = 0; i < x->all.len; i++) {
    Check c = {.s = s,
               .e = &x->all.at[i],
               .path = path,
               .at = x->all.at[i].text,
               .first = buf_new(s->arena)};
    for (uint32_t k = 0; k < g->outputs.len; k++)
      if (g->outputs.at[k].name == c.e->name) c.x = &output[k];
    Leave one =
        c.x ? compare(&c)
            : report(&c, arena_printf(s->arena, "%s is expected, but is no output", c.e->name->s));
    if (!l) l = one;
  }
  return l;
}
