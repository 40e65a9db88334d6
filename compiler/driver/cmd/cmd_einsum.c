/* driver/cmd/cmd_einsum.c - ein einsum "ij,jk->ik" A=a.npy B=b.npy: turns the equation, in NumPy's form, into a
 * small program, which runs like any other. Operands take their sizes and dtypes from the files; a generator takes
 * the sizes of its labels elsewhere, or -D. What NumPy leaves implicit is made explicit: an ellipsis gets labels, a
 * missing output gets its labels, and an axis of length 1 under a longer label is read at 0. */
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "front/parse/scan.h"
#include "driver/driver.h"

typedef struct Label {
  const char *name;           /* in the program */
  uint32_t c;                 /* in the equation; 0: of the ellipsis */
  int64_t size;
  const char *from;           /* what determined the size; NULL: unknown */
} Label;
typedef VEC(uint32_t) Axes;   /* numbers of labels */

typedef struct Term {         /* the text between commas, or to the right of -> */
  Axes said;
  bool dots;
  uint32_t dots_at;           /* labels before the ellipsis */
  const char *text;
  Axes all;                   /* with those of the ellipsis */
} Term;

typedef struct Operand {
  Term term;
  const char *name, *spec;
  ein_source_info info;
} Operand;

typedef struct Einsum {
  Session *s;
  const Args *args;
  const char *text;
  VEC(Label) label;           /* in order of first use; those of the ellipsis last */
  uint32_t dots;              /* how many those are */
  VEC(Operand) in;
  bool arrow;
  Term out;
  const char *result;         /* the output's name */
  int as;                     /* the dtype of operands, sums and result, as in NumPy; -1: each has its own, as in Ein */
} Einsum;

/* ---- the equation --------------------------------------------------------------------------- */

/* Whether the whole text is one name of the language. */
static bool is_name(const char *text) {
  Scanner s = {0};
  scan_start(&s, text, (uint32_t)strlen(text));
  Token t = scan(&s);
  return t.kind == TOK_ID && t.end == strlen(text);
}

/* The letter at s as a name, `i`, or `π_` if the letter alone means something else; NULL: it is no letter. */
static const char *letter_name(Einsum *e, const char *s, size_t n) {
  const char *alone = arena_printf(e->s->arena, "%.*s", (int)n, s), *with = arena_printf(e->s->arena, "%s_", alone);
  if (*s == '_' || !is_name(with)) return NULL;
  return is_name(alone) ? alone : with;
}

static uint32_t label_get(Einsum *e, uint32_t c, const char *name) {
  for (uint32_t i = 0; i < e->label.len; i++)
    if (e->label.at[i].c == c) return i;
  vec_push(e->s->arena, e->label, ((Label){.name = name, .c = c}));
  return e->label.len - 1;
}

static Leave dots_take(Einsum *e, Term *t, const char **at) {
  size_t n = strspn(*at, ".");
  if (n != 3) return fail(e->s, LEAVE_USAGE, "%s: `%.*s` is no ellipsis, which is `...`", e->text, (int)n, *at);
  if (t->dots) return fail(e->s, LEAVE_USAGE, "%s: a second `...` in one operand", e->text);
  t->dots = true;
  t->dots_at = t->said.len;
  *at += n;
  return LEAVE_OK;
}

static Leave letter_take(Einsum *e, Term *t, const char **at) {
  uint32_t c;
  size_t n = utf8_read(*at, strlen(*at), &c);
  const char *name = n ? letter_name(e, *at, n) : NULL;
  if (!n) return fail(e->s, LEAVE_USAGE, "%s: this is not UTF-8", e->text);
  if (strchr("-=>", **at))
    return fail(e->s, LEAVE_USAGE, "%s: what is right of `%c` is the output? it stands behind one `->`", e->text, **at);
  if (!name) return fail(e->s, LEAVE_USAGE, "%s: a label is one letter, and `%.*s` is none", e->text, (int)n, *at);
  if (t->said.len == GRAPH_RANK)
    return fail(e->s, LEAVE_USAGE, "%s: more than %d labels in one operand", e->text, GRAPH_RANK);
  vec_push(e->s->arena, t->said, label_get(e, c, name));
  *at += n;
  return LEAVE_OK;
}

/* Reads up to a comma, the arrow or the end. */
static Leave term_read(Einsum *e, Term *t, const char **at) {
  const char *from = *at;
  Leave l = LEAVE_OK;
  while (!l && **at && **at != ',' && strncmp(*at, "->", 2) != 0) {
    if (**at == ' ') (*at)++;
    else l = **at == '.' ? dots_take(e, t, at) : letter_take(e, t, at);
  }
  while (*from == ' ') from++;
  t->text = arena_printf(e->s->arena, "%.*s", (int)(*at - from), from);
  return l;
}

static Leave equation_read(Einsum *e) {
  const char *at = e->text;
  Leave l;
  do {
    Operand o = {0};
    l = term_read(e, &o.term, &at);
    vec_push(e->s->arena, e->in, o);
  } while (!l && *at == ',' && at++);
  if (l || !*at) return l;
  e->arrow = true;
  at += 2;
  uint32_t known = e->label.len;
  l = term_read(e, &e->out, &at);
  if (l) return l;
  if (*at) return fail(e->s, LEAVE_USAGE, "%s: one output stands right of ->", e->text);
  if (e->label.len > known)
    return fail(e->s, LEAVE_USAGE, "%s: label %s stands right of -> only", e->text, e->label.at[known].name);
  for (uint32_t i = 0; i < e->out.said.len; i++)
    for (uint32_t k = 0; k < i; k++)
      if (e->out.said.at[i] == e->out.said.at[k])
        return fail(
            e->s, LEAVE_USAGE, "%s: label %s stands twice right of ->", e->text, e->label.at[e->out.said.at[i]].name);
  return LEAVE_OK;
}

/* ---- names: the user's, unless a label has the same ----------------------------------------- */

static Label *label_find(Einsum *e, const char *name) {
  for (uint32_t i = 0; i < e->label.len; i++)
    if (strcmp(e->label.at[i].name, name) == 0) return &e->label.at[i];
  return NULL;
}

static const char *name_free(Einsum *e, const char *name) {
  while (label_find(e, name)) name = arena_printf(e->s->arena, "%s_", name);
  return name;
}

static const char *result_name(Einsum *e) {
  Str name;
  const char *path;
  const char *o = arg_last(e->args, OPT_OUTPUT), *said = "Z";
  if (o && word_split(e->s, o, &name, &path)) said = name->s;
  for (uint32_t i = 0; i < e->in.len; i++)
    if (strcmp(e->in.at[i].name, said) == 0) return "result";
  return name_free(e, said);
}

/* ---- operands ------------------------------------------------------------------------------- */

static void operand_name(Einsum *e, uint32_t k) {
  e->in.at[k].name = k < 25 ? arena_printf(e->s->arena, "%c", (int)('A' + k)) : arena_printf(e->s->arena, "A%u", k);
}

static Leave operand_take(Einsum *e, uint32_t k, const char *word) {
  Operand *o = &e->in.at[k];
  Str name;
  ein_error err = {0};
  o->spec = word;
  operand_name(e, k);
  if (word_split(e->s, word, &name, &o->spec)) o->name = name->s;
  o->name = name_free(e, o->name);
  for (uint32_t i = 0; i < k; i++)
    if (strcmp(e->in.at[i].name, o->name) == 0) return fail(e->s, LEAVE_USAGE, "two operands are called %s", o->name);
  ein_status st = ein_source_probe(o->spec, &o->info, &err);
  return st == EIN_OK ? LEAVE_OK : fail(e->s, status_leave(st), "%s: %s", word, err.text);
}

/* An operand must have as many axes as labels, or more if an ellipsis takes the rest. */
static Leave rank_check(Einsum *e, const Operand *o) {
  uint32_t n = o->term.said.len, have = (uint32_t)o->info.ndim;
  if (!o->info.has_shape || have == n) return LEAVE_OK;
  if (have < n || !o->term.dots)
    return fail(e->s, LEAVE_PROGRAM, "%s has %u ax%s, but its labels are `%s`", o->spec, have, have == 1 ? "is" : "es",
        o->term.text);
  if (have - n > e->dots) e->dots = have - n;
  return LEAVE_OK;
}

static Leave count_check(Einsum *e, uint32_t have, const char *what) {
  if (have == e->in.len) return LEAVE_OK;
  return fail(e->s, LEAVE_USAGE, "%s has %u operand%s, but %u %s%s given", *e->text ? e->text : "''",
      e->in.len, e->in.len == 1 ? "" : "s", have, what, have == 1 ? " is" : "s are");
}

static Leave operands_read(Einsum *e) {
  uint32_t have = e->args->operands.len - 1;
  Leave wrong = count_check(e, have, "source");
  if (wrong) return wrong;
  for (uint32_t k = 0; k < have; k++) {
    Leave l = operand_take(e, k, e->args->operands.at[k + 1]);
    if (!l) l = rank_check(e, &e->in.at[k]);
    if (l) return l;
  }
  return LEAVE_OK;
}

/* ---- implicit parts ------------------------------------------------------------------------- */

/* Replaces the ellipsis by its last n labels. */
static void term_expand(Einsum *e, Term *t, uint32_t n) {
  for (uint32_t i = 0; i <= t->said.len; i++) {
    for (uint32_t k = e->label.len - n; t->dots && i == t->dots_at && k < e->label.len; k++)
      vec_push(e->s->arena, t->all, k);
    if (i < t->said.len) vec_push(e->s->arena, t->all, t->said.at[i]);
  }
}

static uint32_t times_used(const Einsum *e, uint32_t label) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < e->in.len; i++)
    for (uint32_t k = 0; k < e->in.at[i].term.said.len; k++) n += e->in.at[i].term.said.at[k] == label;
  return n;
}

/* Without an arrow: the ellipsis, and the labels that are used once, by code point. */
static void out_infer(Einsum *e) {
  Term *t = &e->out;
  t->dots = true;
  for (uint32_t i = 0; i < e->label.len; i++) {
    if (times_used(e, i) != 1) continue;
    vec_push(e->s->arena, t->said, i);
    for (uint32_t k = t->said.len - 1; k && e->label.at[t->said.at[k - 1]].c > e->label.at[i].c; k--) {
      t->said.at[k] = t->said.at[k - 1];
      t->said.at[k - 1] = i;
    }
  }
}

static Leave terms_expand(Einsum *e) {
  if (!e->arrow) out_infer(e);
  else if (e->dots && !e->out.dots)
    return fail(e->s, LEAVE_USAGE,
        "%s: `...` is %u ax%s here, and the output has none: write `...` there too, or letters for what is summed",
        e->text, e->dots, e->dots == 1 ? "is" : "es");
  for (uint32_t i = 0; i < e->dots; i++)
    vec_push(e->s->arena, e->label, ((Label){.name = arena_printf(e->s->arena, "d%u", i)}));
  vec_each(Operand, o, e->in)
    term_expand(e, &o->term, o->info.has_shape ? (uint32_t)o->info.ndim - o->term.said.len : e->dots);
  term_expand(e, &e->out, e->dots);
  return LEAVE_OK;
}

/* ---- sizes ---------------------------------------------------------------------------------- */

static Leave sizes_differ(Einsum *e, const Label *l, int64_t size, const char *from) {
  return fail(e->s, LEAVE_PROGRAM, "%s%s is %lld by %s, but %lld by %s", l->c ? "label " : "an axis of `...`",
      l->c ? l->name : "", (long long)l->size, l->from, (long long)size, from);
}

/* An axis of length 1 is compatible with every size, but not with another axis of its label in the same operand. */
static Leave axis_size(Einsum *e, const Operand *o, uint32_t k) {
  Label *l = &e->label.at[o->term.all.at[k]];
  int64_t size = o->info.shape[k];
  const char *from = arena_printf(e->s->arena, "dimension %u of %s", k + 1, o->spec);
  for (uint32_t i = 0; i < k; i++)
    if (o->term.all.at[i] == o->term.all.at[k] && o->info.shape[i] != size) {
      Label one = {.name = l->name,
          .c = l->c,
          .size = o->info.shape[i],
          .from = arena_printf(e->s->arena, "dimension %u of %s", i + 1, o->spec)};
      return sizes_differ(e, &one, size, from);
    }
  if (l->from && l->size != size && l->size != 1 && size != 1) return sizes_differ(e, l, size, from);
  if (l->from && size == 1) return LEAVE_OK;
  l->size = size;
  l->from = from;
  return LEAVE_OK;
}

static bool label_generated(const Einsum *e, const Label *l) {
  for (uint32_t i = 0; i < e->in.len; i++)
    for (uint32_t k = 0; k < e->in.at[i].term.all.len; k++)
      if (!e->in.at[i].info.has_shape && &e->label.at[e->in.at[i].term.all.at[k]] == l) return true;
  return false;
}

/* -D i=3, for labels that no file determines. */
static Leave size_said(Einsum *e, const char *word) {
  Str name;
  const char *rest;
  int64_t v;
  if (!word_split(e->s, word, &name, &rest) || !int64_read(rest, strlen(rest), &v) || v < 0)
    return fail(e->s, LEAVE_USAGE, "-D %s: write LABEL=N, with N not negative", word);
  Label *l = label_find(e, name->s);
  if (!l || !l->c) l = label_find(e, arena_printf(e->s->arena, "%s_", name->s));
  if (!l || !l->c) return fail(e->s, LEAVE_USAGE, "-D %s: %s has no label %s", word, e->text, name->s);
  bool stretched = l->from && l->size == 1 && label_generated(e, l);
  if (l->from && l->size != v && !stretched) return sizes_differ(e, l, v, "-D");
  l->size = v;
  l->from = "-D";
  return LEAVE_OK;
}

static Leave sizes_find(Einsum *e) {
  const Words none = {0}, *w = e->args ? &e->args->given[OPT_DIM] : &none;
  for (uint32_t i = 0; i < e->in.len; i++)
    for (uint32_t k = 0; e->in.at[i].info.has_shape && k < e->in.at[i].term.all.len; k++) {
      Leave l = axis_size(e, &e->in.at[i], k);
      if (l) return l;
    }
  for (uint32_t i = 0; i < w->len; i++) {
    Leave l = size_said(e, w->at[i]);
    if (l) return l;
  }
  for (uint32_t i = 0; i < e->label.len; i++) {
    const char *name = e->label.at[i].name;
    if (!e->label.at[i].from) return fail(e->s, LEAVE_USAGE, "how large is label %s? say -D %s=8", name, name);
  }
  return LEAVE_OK;
}

/* ---- the program ---------------------------------------------------------------------------- */

static int64_t axis_length(const Einsum *e, const Operand *o, uint32_t k) {
  return o->info.has_shape ? o->info.shape[k] : e->label.at[o->term.all.at[k]].size;
}

static void declaration(Einsum *e, Buf *b, const Operand *o) {
  const char *dtype = e->args ? arg_last(e->args, OPT_DTYPE) : NULL;
  buf_printf(b, "input %s", o->name);
  for (uint32_t k = 0; k < o->term.all.len; k++)
    buf_printf(b, "%s%lld", k ? "," : "[", (long long)axis_length(e, o, k));
  if (o->term.all.len) buf_char(b, ']');
  buf_printf(b, " : %s\n", o->info.has_dtype ? ein_dtype_name(o->info.dtype) : dtype ? dtype : "f32");
}

static void label_list(const Einsum *e, Buf *b, const Axes *axes) {
  for (uint32_t k = 0; k < axes->len; k++) buf_printf(b, "%s%s", k ? "," : "[", e->label.at[axes->at[k]].name);
  if (axes->len) buf_char(b, ']');
}

/* An axis of length 1 has one place, however long its label is. */
static void operand_read(const Einsum *e, Buf *b, const Operand *o) {
  bool other = e->as >= 0 && o->info.dtype != (ein_dtype)e->as;
  if (other) buf_printf(b, "%s(", ein_dtype_name((ein_dtype)e->as));
  buf_str(b, o->name);
  for (uint32_t k = 0; k < o->term.all.len; k++) {
    const Label *l = &e->label.at[o->term.all.at[k]];
    buf_printf(b, "%s%s", k ? "," : "[", axis_length(e, o, k) == l->size ? l->name : "0");
  }
  if (o->term.all.len) buf_char(b, ']');
  if (other) buf_char(b, ')');
}

/* The labels that are not the output's, in order of first use. */
static Axes reduced(const Einsum *e) {
  Axes r = {0};
  for (uint32_t i = 0; i < e->label.len; i++) {
    bool out = false;
    for (uint32_t k = 0; k < e->out.all.len; k++) out |= e->out.all.at[k] == i;
    if (!out) vec_push(e->s->arena, r, i);
  }
  return r;
}

/* Integer sums are i64 and are converted at the end, which gives the same result as adding in the final dtype. */
static void program_text(Einsum *e, Buf *b) {
  Axes red = reduced(e);
  bool logic = e->as == EIN_BOOL, back = red.len && e->as > EIN_I64 && !logic, alone = e->in.len == 1;
  for (uint32_t i = 0; i < e->in.len; i++) declaration(e, b, &e->in.at[i]);
  buf_printf(b, "output %s", e->result);
  label_list(e, b, &e->out.all);
  buf_str(b, " = ");
  if (back) buf_printf(b, "%s(", ein_dtype_name((ein_dtype)e->as));
  if (red.len) buf_str(b, logic ? "any" : "sum");
  label_list(e, b, &red);
  if (red.len) buf_char(b, ' ');
  if (logic && !alone) buf_char(b, '(');
  for (uint32_t i = 0; i < e->in.len; i++) {
    buf_str(b, !i ? "" : logic ? " and " : " * ");
    operand_read(e, b, &e->in.at[i]);
  }
  if (logic && !alone) buf_char(b, ')');
  if (back) buf_char(b, ')');
  buf_char(b, '\n');
}

/* The arguments as given, except that the output is the only one, whatever its name after -o, and -D is in the
 * program already. */
static Args run_args(const Einsum *e) {
  Args a = *e->args;
  const Words *w = &e->args->given[OPT_OUTPUT];
  a.given[OPT_OUTPUT] = a.given[OPT_DIM] = (Words){0};
  for (uint32_t i = 0; i < w->len; i++) {
    Str name;
    const char *path = w->at[i];
    word_split(e->s, w->at[i], &name, &path);
    const char *word = arena_printf(e->s->arena, "%s=%s", e->result, path);
    vec_push(e->s->arena, a.given[OPT_OUTPUT], word);
  }
  return a;
}

static Leave einsum_run(Einsum *e) {
  Buf text = buf_new(e->s->arena);
  Words inputs = {0};
  e->result = result_name(e);
  program_text(e, &text);
  detail(e->s, "the program is\n%s", text.s);
  for (uint32_t i = 0; i < e->in.len; i++) {
    const char *word = arena_printf(e->s->arena, "%s=%s", e->in.at[i].name, e->in.at[i].spec);
    vec_push(e->s->arena, inputs, word);
  }
  Job j;
  Args a = run_args(e);
  Leave l = job_from_text(e->s, &j, "<einsum>", text.s);
  return l ? l : run_job(e->s, &j, &a, &inputs);
}

Leave cmd_einsum(Session *s, Args *a) {
  if (!a->operands.len)
    return fail(s, LEAVE_USAGE, "which equation? ein einsum \"ij,jk->ik\" A=a.npy B=b.npy");
  Einsum *e = MAKE(s->arena, Einsum, .s = s, .args = a, .text = a->operands.at[0], .as = -1);
  Leave l = equation_read(e);
  if (!l) l = operands_read(e);
  if (!l) l = terms_expand(e);
  if (!l) l = sizes_find(e);
  return l ? l : einsum_run(e);
}

/* ---- for libein --------------------------------------------------------------------------------- */

static Leave operand_given(Einsum *e, uint32_t k, const ein_tensor *t) {
  Operand *o = &e->in.at[k];
  operand_name(e, k);
  o->name = name_free(e, o->name);
  o->spec = arena_printf(e->s->arena, "operand %u", k + 1);
  if (t->ndim < 0 || t->ndim > GRAPH_RANK)
    return fail(e->s, LEAVE_PROGRAM, "%s has %d axes, and %d is the most", o->spec, (int)t->ndim, GRAPH_RANK);
  if ((unsigned)t->dtype >= EIN_DTYPE_COUNT)
    return fail(e->s, LEAVE_USAGE, "%s: %d is no dtype", o->spec, (int)t->dtype);
  o->info = (ein_source_info){.has_dtype = 1, .has_shape = 1, .dtype = t->dtype, .ndim = t->ndim};
  for (int i = 0; i < t->ndim; i++) {
    o->info.shape[i] = t->shape[i];
    if (t->shape[i] < 0)
      return fail(e->s, LEAVE_USAGE, "%s: its axis %d has %lld elements", o->spec, i, (long long)t->shape[i]);
  }
  return rank_check(e, o);
}

Leave einsum_program(Session *s, const char *equation, uint32_t n, const ein_tensor *operand, int dtype, Buf *out) {
  Einsum *e = MAKE(s->arena, Einsum, .s = s, .text = equation, .as = dtype);
  if (dtype >= EIN_DTYPE_COUNT) return fail(s, LEAVE_USAGE, "%d is no dtype", dtype);
  Leave l = equation_read(e);
  if (!l) l = count_check(e, n, "tensor");
  for (uint32_t k = 0; k < n && !l; k++) l = operand_given(e, k, &operand[k]);
  if (!l) l = terms_expand(e);
  if (!l) l = sizes_find(e);
  if (l) return l;
  e->result = name_free(e, "Z");
  program_text(e, out);
  return LEAVE_OK;
}
