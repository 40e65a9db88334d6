/* driver/data/bound.c - finds the tensors of a checkpoint that make up a param. In: its name with labels in braces
 * and the file's axes; out: the tensors, what their names and shapes say about sizes, and what is wrong with them. */
#include <string.h>

#include "checkpoint.h"
#include "driver/table.h"

/* For a param without a stated location: its own name and axes. */
static AstStored *own_name(Arena *a, Str param, uint32_t rank) {
  AstStored *x = NEW(a, AstStored);
  x->text = param;
  vec_push(a, x->name, ((AstNamePart){.text = param}));
  for (uint32_t k = 0; k < rank; k++) vec_push(a, x->axes, ((AstStoredAxis){.axis = k}));
  return x;
}

Bound *bound_new(Session *s, const Job *j, const Checkpoint *c, Str param, uint32_t rank) {
  const AstStored *how = j->program ? program_stored(j->program, param) : NULL;
  return MAKE(s->arena, Bound, c, param, rank, how ? how : own_name(s->arena, param, rank), how != NULL, false, NULL);
}

bool bound_counts(const Bound *b, uint32_t axis) {
  for (uint32_t i = 0; i < b->how->name.len; i++)
    if (!b->how->name.at[i].text && b->how->name.at[i].axis == axis) return true;
  return false;
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

Str bound_name(Session *s, const Bound *b, const int64_t *at) {
  Buf name = buf_new(s->arena);
  vec_each(const AstNamePart, part, b->how->name) {
    if (part->text) buf_str(&name, part->text->s);
    else buf_printf(&name, "%lld", (long long)(at[part->axis] + part->plus));
  }
  return str_of(s->strings, name.s, name.len);
}

Stored *bound_find(Session *s, const Bound *b, const int64_t *at) {
  return map_find(&b->from->by_name, bound_name(s, b, at));
}

/* Takes the number at this point of a name, written without leading zeros; false: there is none, or none that counts
 * something. */
static bool number_take(const char **at, int64_t *out) {
  size_t n = strspn(*at, "0123456789");
  if (!n || (n > 1 && **at == '0') || !int64_read(*at, n, out) || *out == INT64_MAX) return false;
  *at += n;
  return true;
}

/* Whether this is one of the param's names; and if so, its place. */
static bool name_matches(const Bound *b, const char *name, int64_t *at) {
  for (uint32_t k = 0; k < b->rank; k++) at[k] = -1;
  vec_each(const AstNamePart, part, b->how->name) {
    int64_t v;
    if (part->text) {
      if (strncmp(name, part->text->s, part->text->len) != 0) return false;
      name += part->text->len;
      continue;
    }
    if (!number_take(&name, &v) || v < part->plus || (at[part->axis] >= 0 && at[part->axis] != v - part->plus))
      return false;
    at[part->axis] = v - part->plus;
  }
  return !*name;
}

Stored *bound_claim(const Bound *b, bool use) {
  int64_t at[EIN_MAX_AXES];
  Stored *first = NULL;
  for (uint32_t i = b->from->all.len; i-- > 0;) {
    if (!name_matches(b, b->from->all.at[i]->name->s, at)) continue;
    first = b->from->all.at[i];
    first->used |= use;
  }
  return first;
}

/* ---- sizes ------------------------------------------------------------------------------------------------------- */

/* How many tensors there are along the axes that the name counts; `some` is the first one present. */
static void sizes_of_names(const Bound *b, int64_t *shape, const Stored **some) {
  int64_t *at = shape + b->rank;
  *some = NULL;
  for (uint32_t i = 0; i < b->from->all.len; i++) {
    if (!name_matches(b, b->from->all.at[i]->name->s, at)) continue;
    if (!*some) *some = b->from->all.at[i];
    for (uint32_t k = 0; k < b->rank; k++)
      if (at[k] >= 0 && at[k] >= shape[k]) shape[k] = at[k] + 1;
  }
}

/* What a stored axis made of the axes from..to-1 of `how` says: the size of one of them, if that is the only unknown
 * one. Where no size fits, it takes the largest that leaves a rest, which bound_resolve then complains of. */
static void size_of_axis(
    const Bound *b, uint32_t from, uint32_t to, int64_t stored, const int64_t *known, int64_t *shape) {
  int64_t product = 1;
  uint32_t open = 0, which = 0;
  for (uint32_t k = from; k < to; k++) {
    uint32_t axis = b->how->axes.at[k].axis;
    if (known[axis] < 0) open++, which = axis;
    else if (!mul_ok(product, known[axis], &product)) return;
  }
  if (open == 1 && product > 0) shape[which] = stored / product;
}

static uint32_t axis_end(const Bound *b, uint32_t from) {
  for (from++; from < b->how->axes.len && b->how->axes.at[from].joined; from++) continue;
  return from;
}

static Leave shard_is_lacking(Session *s, const Bound *b) {
  return fail(s, LEAVE_PROGRAM,
      "--params %s: it lacks the shard %s, so how many tensors %s there are is not known; give all shards, or an index",
      b->from->path, b->from->lacks, b->how->text->s);
}

/* Binds the sizes of one param. */
static Leave sizes_bind(Session *s, Job *j, const Bound *b) {
  int64_t *shape = NEW_ARRAY(s->arena, int64_t, 2 * b->rank + 2), *known = NEW_ARRAY(s->arena, int64_t, b->rank + 1);
  const char **what = NEW_ARRAY(s->arena, const char *, b->rank + 1);
  const Stored *some;
  for (uint32_t k = 0; k < b->rank; k++) shape[k] = -1;
  sizes_of_names(b, shape, &some);
  if (!some) return LEAVE_OK;
  program_sizes(&s->front, j->program, b->param, &j->dims, known);
  for (uint32_t k = 0; k < b->rank; k++)
    if (shape[k] >= 0 && known[k] < 0 && b->from->lacks) return shard_is_lacking(s, b);
  for (uint32_t k = 0; k < b->rank; k++)
    what[k] = shape[k] < 0 ? arena_printf(s->arena, "the shape of %s in %s", shown(s->arena, some->name->s), some->file)
                           : arena_printf(s->arena, "the number of tensors %s in %s", b->how->text->s, b->from->path);
  int stored = 0;
  for (uint32_t from = 0, to; from < b->how->axes.len && stored < some->at.ndim; from = to, stored++) {
    to = axis_end(b, from);
    size_of_axis(b, from, to, some->at.shape[stored], known, shape);
  }
  program_bind_some(&s->front, j->program, b->param, shape, what, &j->dims);
  return LEAVE_OK;
}

Leave bound_sizes(Session *s, Job *j, Bound *const *b, uint32_t n) {
  Leave l = LEAVE_OK;
  uint32_t before;
  do {
    before = j->dims.len;
    for (uint32_t i = 0; i < n && !l; i++) l = sizes_bind(s, j, b[i]);
  } while (!l && j->dims.len > before);
  return l;
}

const char *bound_source(Arena *a, const Bound *b) {
  return arena_printf(a, "%s:%s", b->from->path, b->how->text->s);
}

/* ---- what is wanted, and what is met ----------------------------------------------------------------------------- */

/* A stored tensor's shape for a param of that shape; "?" for a size of -1. */
static const char *bound_shape(Arena *a, const Bound *b, const int64_t *shape) {
  Buf t = buf_new(a);
  buf_char(&t, '[');
  for (uint32_t k = 0; k < b->how->axes.len; k++) {
    uint32_t axis = b->how->axes.at[k].axis;
    if (k) buf_str(&t, b->how->axes.at[k].joined ? " * " : ", ");
    if (shape[axis] < 0) buf_char(&t, '?');
    else buf_printf(&t, "%lld", (long long)shape[axis]);
  }
  buf_char(&t, ']');
  return t.s;
}

const char *stored_shape(Arena *a, const Stored *x) {
  Buf t = buf_new(a);
  for (int k = 0; k < x->at.ndim; k++) buf_printf(&t, "%s%lld", k ? ", " : "[", (long long)x->at.shape[k]);
  buf_str(&t, x->at.ndim ? "]" : "[]");
  return t.s;
}

static bool shape_fits(const Bound *b, const Stored *x, const int64_t *shape) {
  int stored = 0;
  for (uint32_t from = 0, to; from < b->how->axes.len; from = to, stored++) {
    int64_t product = 1;
    to = axis_end(b, from);
    for (uint32_t k = from; k < to; k++)
      if (!mul_ok(product, shape[b->how->axes.at[k].axis], &product)) return false;
    if (stored >= x->at.ndim || x->at.shape[stored] != product) return false;
  }
  return stored == x->at.ndim;
}

void bound_missing(Session *s, const Bound *b, Str name, Buf *why) {
  Nearest near = nearest_to(s->arena, name->s);
  buf_printf(why, "%s has no tensor called %s", b->from->path, shown(s->arena, name->s));
  for (uint32_t i = 0; i < b->from->all.len; i++) nearest_try(&near, b->from->all.at[i]->name->s);
  if (near.best) buf_printf(why, "; did you mean %s?", shown(s->arena, near.best));
}

static bool piece_fits(Session *s, const Bound *b, const Stored *x, const int64_t *shape, Buf *why) {
  const char *name = shown(s->arena, x->name->s);
  if (x->other)
    buf_printf(why, "%s in %s is of dtype %s, which cannot be read", name, x->file, shown(s->arena, x->other));
  else if (!shape_fits(b, x, shape))
    buf_printf(why, "expected %s of shape %s, found %s in %s", name, bound_shape(s->arena, b, shape),
        stored_shape(s->arena, x), x->file);
  else return true;
  return false;
}

bool bound_next(const Bound *b, const int64_t *shape, int64_t *at) {
  for (uint32_t k = b->rank; k-- > 0;) {
    if (!bound_counts(b, k)) continue;
    if (++at[k] < shape[k]) return true;
    at[k] = 0;
  }
  return false;
}

bool bound_resolve(Session *s, Bound *b, const int64_t *shape, Buf *why) {
  int64_t *at = NEW_ARRAY(s->arena, int64_t, b->rank + 1);
  VEC(Stored *) piece = {0};
  for (uint32_t k = 0; k < b->rank; k++)
    if (!shape[k] && bound_counts(b, k)) return true; /* there are none */
  do {
    Stored *x = bound_find(s, b, at);
    if (!x) {
      b->missing = true;
      bound_missing(s, b, bound_name(s, b, at), why);
      return false;
    }
    x->used = true;
    if (!piece_fits(s, b, x, shape, why)) return false;
    vec_push(s->arena, piece, x);
  } while (bound_next(b, shape, at));
  b->piece = piece.at;
  return true;
}
