/* driver/data/dims.c - sizes: which ones a program declares, and the values that -D gives them. */
#include <string.h>

#include "driver/driver.h"

typedef VEC(Str) Names;

static void names_of_file(Session *s, const AstFile *f, Names *out) {
  vec_each_of(const AstStmt, st, f->stmts) {
    for (uint32_t k = 0; st->kind == STMT_DIM && k < st->decls.len; k++)
      vec_push(s->arena, *out, st->decls.at[k].name.s);
  }
}

/* The dims that -D may name. For a graph only the open ones: the others are constants already. */
static Names dims_declared(Session *s, const Job *j) {
  Names n = {0};
  for (uint32_t i = 0; j->graph && i < j->graph->dims.len; i++)
    if (!j->graph->dims.at[i].known) vec_push(s->arena, n, j->graph->dims.at[i].name);
  if (!j->program) return n;
  names_of_file(s, j->program->file, &n);
  for (uint32_t i = 0; i < j->program->modules.len; i++)
    if (!j->program->modules.at[i].prelude) names_of_file(s, j->program->modules.at[i].file, &n);
  return n;
}

bool job_has_dim(Session *s, const Job *j, Str name) {
  Names known = dims_declared(s, j);
  for (uint32_t i = 0; i < known.len; i++)
    if (known.at[i] == name) return true;
  return false;
}

static Leave dim_unknown(Session *s, const Job *j, Str name, const Names *known) {
  Words all = {0};
  for (uint32_t i = 0; !j->program && i < j->graph->dims.len; i++)
    if (j->graph->dims.at[i].known && j->graph->dims.at[i].name == name)
      return fail(s, LEAVE_USAGE, "-D %s: the dim is a constant by now, %lld", name->s,
                  (long long)j->graph->dims.at[i].value);
  for (uint32_t i = 0; i < known->len; i++) vec_push(s->arena, all, known->at[i]->s);
  return name_unknown(s, arena_printf(s->arena, "%s has no dim", j->path), name->s, &all);
}

static Leave dim_take(Session *s, Job *j, const char *word, const Names *known) {
  Str name;
  const char *rest;
  int64_t value;
  if (!word_split(s, word, &name, &rest))
    return fail(s, LEAVE_USAGE, "-D wants NAME=N, not %s", word);
  bool found = false;
  for (uint32_t i = 0; i < known->len; i++) found |= known->at[i] == name;
  if (!found) return dim_unknown(s, j, name, known);
  if (!int64_read(rest, strlen(rest), &value))
    return fail(s, LEAVE_USAGE, "-D %s: %s is no 64-bit integer", word, rest);
  if (value < 0) return fail(s, LEAVE_USAGE, "-D %s: a size is not negative", word);
  DimValue v = {name, value, {0}, arena_printf(s->arena, "-D %s", word)};
  for (uint32_t i = 0; i < j->dims.len; i++)
    if (j->dims.at[i].name == name) { /* of `# run:` and the command line, which comes later; words_agree saw to each */
      j->dims.at[i] = v;
      return LEAVE_OK;
    }
  vec_push(s->arena, j->dims, v);
  return LEAVE_OK;
}

Leave job_dims(Session *s, Job *j, const Args *a) {
  const Words *w = &a->given[OPT_DIM];
  if (!w->len) return LEAVE_OK;
  if (!j->program && a->command == CMD_BUILD)
    return fail(s, LEAVE_USAGE,
        "-D %s: %s has the sizes that its text says; those that are open are given when it is run", w->at[0], j->path);
  Names known = dims_declared(s, j);
  for (uint32_t i = 0; i < w->len; i++) {
    Leave l = dim_take(s, j, w->at[i], &known);
    if (l) return l;
  }
  return LEAVE_OK;
}

bool job_dim(const Job *j, Str name, int64_t *out) {
  for (uint32_t i = 0; i < j->dims.len; i++)
    if (j->dims.at[i].name == name) return *out = j->dims.at[i].value, true;
  for (uint32_t i = 0; j->graph && i < j->graph->dims.len; i++)
    if (j->graph->dims.at[i].known && j->graph->dims.at[i].name == name)
      return *out = j->graph->dims.at[i].value, true;
  return false;
}

bool dim_of_job(void *job, Str name, int64_t *out) {
  return job_dim(job, name, out);
}

bool job_shape(Arena *a, const Job *j, const EinNode *n, EvalArray *x) {
  ExprEnv env = {.dim = dim_of_job, .ctx = (void *)(uintptr_t)j};
  *x = (EvalArray){.dtype = n->dtype, .rank = n->rank, .shape = NEW_ARRAY(a, int64_t, n->rank + 1), .count = 1};
  for (uint32_t k = 0; k < n->rank; k++) {
    Value v;
    if (!expr_value(n->dim[k], &env, &v)) return false;
    x->shape[k] = v.i;
  }
  return true;
}
