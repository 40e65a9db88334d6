/* driver/cmd_einsum.c - ein einsum "ij,jk->ik" A=a.npy B=b.npy: the equation becomes a small
 * program, which runs like any other. Operands take their sizes and dtypes from the files; a
 * generator's sizes are those of its labels elsewhere, or -D. */
#include <string.h>

#include "driver.h"

enum { OPERANDS_MOST = 52, LABELS_MOST = 30 };

typedef struct Operand {
  char label[LABELS_MOST + 1];
  uint32_t rank;
  const char *name, *spec;
  ein_source_info info;
} Operand;

typedef struct Einsum {
  Session *s;
  const Args *args;
  const char *text;
  Operand in[OPERANDS_MOST];
  uint32_t n;
  char out[LABELS_MOST + 1];
  uint32_t n_out;
  const char *result;         /* the output's name */
  int64_t size[128];          /* by label */
  const char *size_from[128]; /* NULL: not known */
} Einsum;

static bool is_label(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* ---- the equation --------------------------------------------------------------------------- */

static Leave labels_take(Einsum *e, const char **at, char *label, uint32_t *n) {
  for (;; (*at)++) {
    if (**at == ' ') continue;
    if (**at == '.')
      return fail(e->s, LEAVE_USAGE,
                  "%s: `...` is not taken: every axis has a label, so write one for each", e->text);
    if (!is_label(**at)) break;
    if (*n == LABELS_MOST)
      return fail(e->s, LEAVE_USAGE, "%s: more than %d labels in one operand", e->text,
                  LABELS_MOST);
    label[(*n)++] = **at;
  }
  return LEAVE_OK;
}

static Leave equation_broken(Einsum *e, char c) {
  if (c) return fail(e->s, LEAVE_USAGE, "%s: a label is one letter, and `%c` is none", e->text, c);
  return fail(e->s, LEAVE_USAGE,
              "%s: there is no `->`. The output's labels are always written, as in \"ij,jk->ik\": "
              "nothing is inferred from the alphabet",
              e->text);
}

static Leave out_check(Einsum *e) {
  for (uint32_t k = 0; k < e->n_out; k++) {
    bool found = false;
    for (uint32_t i = 0; i < e->n; i++) found |= strchr(e->in[i].label, e->out[k]) != NULL;
    if (!found)
      return fail(e->s, LEAVE_USAGE, "%s: label %c stands right of -> only", e->text, e->out[k]);
    if (memchr(e->out, e->out[k], k))
      return fail(e->s, LEAVE_USAGE, "%s: label %c stands twice right of ->", e->text, e->out[k]);
  }
  return LEAVE_OK;
}

static Leave equation_read(Einsum *e) {
  const char *at = e->text;
  for (;;) {
    if (e->n == OPERANDS_MOST)
      return fail(e->s, LEAVE_USAGE, "%s: more than %d operands", e->text, OPERANDS_MOST);
    Operand *o = &e->in[e->n++];
    Leave l = labels_take(e, &at, o->label, &o->rank);
    if (l) return l;
    if (*at != ',') break;
    at++;
  }
  if (at[0] != '-' || at[1] != '>') return equation_broken(e, *at);
  at += 2;
  Leave l = labels_take(e, &at, e->out, &e->n_out);
  if (l) return l;
  if (*at == ',' || *at == '-')
    return fail(e->s, LEAVE_USAGE, "%s: one output stands right of ->", e->text);
  return *at ? equation_broken(e, *at) : out_check(e);
}

/* ---- names: the user's, unless a label is called so ----------------------------------------- */

static bool name_is_label(const Einsum *e, const char *name) {
  if (!name[0] || name[1]) return false;
  for (uint32_t i = 0; i < e->n; i++)
    if (strchr(e->in[i].label, name[0])) return true;
  return false;
}

static const char *name_free(const Einsum *e, const char *name) {
  return name_is_label(e, name) ? arena_printf(e->s->arena, "%s_", name) : name;
}

static const char *result_name(const Einsum *e) {
  Str name;
  const char *path;
  const char *o = arg_last(e->args, OPT_OUTPUT), *said = "Z";
  if (o && word_split(e->s, o, &name, &path)) said = name->s;
  for (uint32_t i = 0; i < e->n; i++)
    if (strcmp(e->in[i].name, said) == 0) return "result";
  return name_free(e, said);
}

/* ---- operands ------------------------------------------------------------------------------- */

static Leave operand_shape(Einsum *e, Operand *o) {
  if ((uint32_t)o->info.ndim != o->rank)
    return fail(e->s, LEAVE_PROGRAM, "%s has %d axes, but its labels are `%s`", o->spec,
                o->info.ndim, o->label);
  for (uint32_t k = 0; k < o->rank; k++) {
    unsigned char c = (unsigned char)o->label[k];
    if (e->size_from[c] && e->size[c] != o->info.shape[k])
      return fail(e->s, LEAVE_PROGRAM, "label %c is %lld by %s, but %lld by %s", c,
                  (long long)e->size[c], e->size_from[c], (long long)o->info.shape[k], o->spec);
    e->size[c] = o->info.shape[k];
    e->size_from[c] = o->spec;
  }
  return LEAVE_OK;
}

static Leave operand_take(Einsum *e, uint32_t k, const char *word) {
  Operand *o = &e->in[k];
  Str name;
  ein_error err = {0};
  o->spec = word;
  o->name = k < 25 ? arena_printf(e->s->arena, "%c", (int)('A' + k))
                   : arena_printf(e->s->arena, "A%u", k);
  if (word_split(e->s, word, &name, &o->spec)) o->name = name->s;
  o->name = name_free(e, o->name);
  for (uint32_t i = 0; i < k; i++)
    if (strcmp(e->in[i].name, o->name) == 0)
      return fail(e->s, LEAVE_USAGE, "two operands are called %s", o->name);
  ein_status st = ein_source_probe(o->spec, &o->info, &err);
  if (st != EIN_OK) return fail(e->s, status_leave(st), "%s: %s", word, err.text);
  return o->info.has_shape ? operand_shape(e, o) : LEAVE_OK;
}

static Leave operands_read(Einsum *e) {
  uint32_t have = e->args->operands.len - 1;
  if (have != e->n)
    return fail(e->s, LEAVE_USAGE, "%s has %u operand%s, but %u source%s given", e->text, e->n,
                e->n == 1 ? "" : "s", have, have == 1 ? " is" : "s are");
  for (uint32_t k = 0; k < e->n; k++) {
    Leave l = operand_take(e, k, e->args->operands.at[k + 1]);
    if (l) return l;
  }
  return LEAVE_OK;
}

/* -D i=3, for labels that no file speaks of. */
static Leave sizes_read(Einsum *e) {
  const Words *w = &e->args->given[OPT_DIM];
  for (uint32_t i = 0; i < w->len; i++) {
    Str name;
    const char *rest;
    int64_t v;
    if (!word_split(e->s, w->at[i], &name, &rest) || name->len != 1 ||
        !int64_read(rest, strlen(rest), &v) || v < 0)
      return fail(e->s, LEAVE_USAGE, "-D %s: write LABEL=N, with N not negative", w->at[i]);
    unsigned char c = (unsigned char)name->s[0];
    if (!name_is_label(e, name->s))
      return fail(e->s, LEAVE_USAGE, "-D %s: %s has no label %c", w->at[i], e->text, c);
    if (e->size_from[c] && e->size[c] != v)
      return fail(e->s, LEAVE_PROGRAM, "label %c is %lld by %s, but %lld by -D", c,
                  (long long)e->size[c], e->size_from[c], (long long)v);
    e->size[c] = v;
    e->size_from[c] = "-D";
  }
  for (uint32_t i = 0; i < e->n; i++)
    for (uint32_t k = 0; k < e->in[i].rank; k++) {
      char c = e->in[i].label[k];
      if (!e->size_from[(unsigned char)c])
        return fail(e->s, LEAVE_USAGE, "how large is label %c? say -D %c=8", c, c);
    }
  return LEAVE_OK;
}

/* ---- the program ---------------------------------------------------------------------------- */

static void label_list(Buf *b, const char *label) {
  if (*label) buf_char(b, '[');
  for (const char *c = label; *c; c++) buf_printf(b, "%s%c", c == label ? "" : ",", *c);
  if (*label) buf_char(b, ']');
}

static void declaration(Einsum *e, Buf *b, const Operand *o) {
  const char *dtype = arg_last(e->args, OPT_DTYPE);
  buf_printf(b, "input %s", o->name);
  for (uint32_t k = 0; k < o->rank; k++)
    buf_printf(b, "%s%lld", k ? "," : "[", (long long)e->size[(unsigned char)o->label[k]]);
  if (o->rank) buf_char(b, ']');
  buf_printf(b, " : %s\n",
             o->info.has_dtype ? ein_dtype_name(o->info.dtype)
             : dtype           ? dtype
                               : "f32");
}

/* Labels of the operands that are not the output's, each once, in order. */
static void reduced(const Einsum *e, char *label) {
  uint32_t n = 0;
  bool seen[128] = {false};
  for (uint32_t i = 0; i < e->n; i++)
    for (const char *c = e->in[i].label; *c; c++) {
      if (!seen[(unsigned char)*c] && !strchr(e->out, *c)) label[n++] = *c;
      seen[(unsigned char)*c] = true;
    }
  label[n] = 0;
}

static void program_text(Einsum *e, Buf *b) {
  char red[128];
  for (uint32_t i = 0; i < e->n; i++) declaration(e, b, &e->in[i]);
  buf_printf(b, "output %s", e->result);
  label_list(b, e->out);
  buf_str(b, " = ");
  reduced(e, red);
  if (*red) buf_str(b, "sum");
  label_list(b, red);
  if (*red) buf_char(b, ' ');
  for (uint32_t i = 0; i < e->n; i++) {
    buf_printf(b, "%s%s", i ? " * " : "", e->in[i].name);
    label_list(b, e->in[i].label);
  }
  buf_char(b, '\n');
}

/* The output is the only one, whatever name -o gave it. */
static Args run_args(const Einsum *e) {
  Args a = {.command = CMD_EINSUM};
  const Words *w = &e->args->given[OPT_OUTPUT];
  for (uint32_t i = 0; i < w->len; i++) {
    Str name;
    const char *path = w->at[i];
    word_split(e->s, w->at[i], &name, &path);
    const char *word = arena_printf(e->s->arena, "%s=%s", e->result, path);
    vec_push(e->s->arena, a.given[OPT_OUTPUT], word);
  }
  if (arg_has(e->args, OPT_ROUNDTRIP)) vec_push(e->s->arena, a.given[OPT_ROUNDTRIP], "");
  return a;
}

static Leave einsum_run(Einsum *e) {
  Buf text = buf_new(e->s->arena);
  Words inputs = {0};
  e->result = result_name(e);
  program_text(e, &text);
  detail(e->s, "the program is\n%s", text.s);
  for (uint32_t i = 0; i < e->n; i++) {
    const char *word = arena_printf(e->s->arena, "%s=%s", e->in[i].name, e->in[i].spec);
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
  Einsum *e = NEW(s->arena, Einsum);
  e->s = s;
  e->args = a;
  e->text = a->operands.at[0];
  Leave l = equation_read(e);
  if (!l) l = operands_read(e);
  if (!l) l = sizes_read(e);
  return l ? l : einsum_run(e);
}
