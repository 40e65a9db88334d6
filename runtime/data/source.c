/* SPDX-License-Identifier: MIT-0 */
/*
 * One interface for every kind of input: a source spec in (ein_rt.h lists them), what is known about it or its
 * elements out. A spec is parsed first; then a file goes to its reader, a generator to a loop.
 */
#include "array.h"
#include "list.h"
#include "number.h"
#include "rows.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef enum source_kind {
  SOURCE_NPY,
  SOURCE_NPZ,
  SOURCE_SAFETENSORS,
  SOURCE_RAW,
  SOURCE_ZEROS,
  SOURCE_ONES,
  SOURCE_IOTA,
  SOURCE_CONST,
  SOURCE_UNIFORM,
  SOURCE_RANDN,
  SOURCE_RANDINT,
  SOURCE_FILL,
  SOURCE_LIST
} source_kind;

typedef struct source {
  source_kind kind;
  const char *spec;   /* for messages */
  char *path;         /* of a file; freed by source_end */
  const char *member; /* inside the spec, or NULL */
  int64_t seed, lo, hi, t;
  int const_is_int;
  int64_t const_int;
  double const_float;
  ein_list list;
} source;

/* ---- parsing a spec: generators ---- */

enum { PARAM_SEED = 1, PARAM_LO = 2, PARAM_HI = 4, PARAM_T = 8 };

typedef struct generator {
  const char *name, *as; /* as: its syntax, for messages */
  source_kind kind;
  int params, needed;
} generator;

static const generator generators[] = {
    {"zeros", "zeros", SOURCE_ZEROS, 0, 0},
    {"ones", "ones", SOURCE_ONES, 0, 0},
    {"iota", "iota", SOURCE_IOTA, 0, 0},
    {"const", "const:2.5", SOURCE_CONST, 0, 0},
    {"uniform", "uniform or uniform:seed=7", SOURCE_UNIFORM, PARAM_SEED, 0},
    {"randn", "randn or randn:seed=7", SOURCE_RANDN, PARAM_SEED, 0},
    {"randint", "randint:lo=0:hi=9 or randint:lo=0:hi=9:seed=7", SOURCE_RANDINT, PARAM_SEED | PARAM_LO | PARAM_HI,
        PARAM_LO | PARAM_HI},
    {"fill", "fill or fill:t=3", SOURCE_FILL, PARAM_T, 0},
};

static const generator *generator_find(const char *spec, size_t length) {
  for (size_t i = 0; i < sizeof generators / sizeof *generators; i++) {
    if (strlen(generators[i].name) == length && memcmp(generators[i].name, spec, length) == 0)
      return &generators[i];
  }
  return NULL;
}

static ein_status bad_spec(const source *s, const char *what, ein_error *err) {
  return ein_error_set(err, EIN_ERR_ARG, "source %s: %s", ein_short_name(s->spec), what);
}

static ein_status bad_param(
    const source *s, const generator *g, const char *text, size_t length, const char *what, ein_error *err) {
  return ein_error_set(err, EIN_ERR_ARG, "source %s: `%.*s` is %s; one writes %s", ein_short_name(s->spec),
      (int)(length < 60 ? length : 60), text, what, g->as);
}

static ein_status read_param(source *s, const generator *g, const char *text, size_t length, int *bit, ein_error *err) {
  const struct {
    const char *key;
    int bit;
    int64_t *value;
  } params[] = {{"seed=", PARAM_SEED, &s->seed},
                {"lo=", PARAM_LO, &s->lo},
                {"hi=", PARAM_HI, &s->hi},
                {"t=", PARAM_T, &s->t}};
  for (size_t i = 0; i < sizeof params / sizeof *params; i++) {
    size_t key = strlen(params[i].key);
    if (length < key || memcmp(text, params[i].key, key) != 0) continue;
    *bit = params[i].bit;
    if (ein_read_i64(text + key, length - key, params[i].value) != EIN_OK)
      return bad_param(s, g, text + key, length - key, "no 64-bit integer", err);
    return EIN_OK;
  }
  return bad_param(s, g, text, length, "an unknown parameter", err);
}

static ein_status read_params(source *s, const generator *g, const char *rest, ein_error *err) {
  int seen = 0;
  while (*rest == ':') {
    size_t length = strcspn(++rest, ":");
    int bit = 0;
    ein_status status = read_param(s, g, rest, length, &bit, err);
    if (status != EIN_OK) return status;
    if (!(g->params & bit)) return bad_param(s, g, rest, length, "a parameter that it does not take", err);
    if (seen & bit) return bad_param(s, g, rest, length, "given twice", err);
    seen |= bit;
    rest += length;
  }
  if ((seen & g->needed) != g->needed)
    return bad_spec(s, "lo and hi must be given, as in randint:lo=-5:hi=5", err);
  if (s->kind == SOURCE_RANDINT && s->lo > s->hi) return bad_spec(s, "lo is above hi", err);
  return EIN_OK;
}

/* const:2 is an integer; const:2.0 is not. */
static ein_status read_const(source *s, const char *rest, ein_error *err) {
  size_t length = strlen(rest);
  ein_status status = ein_read_i64(rest, length, &s->const_int);
  s->const_is_int = status == EIN_OK;
  if (status == EIN_ERR_RANGE) return bad_spec(s, "the integer does not fit 64 bits", err);
  if (status != EIN_OK) status = ein_read_f64(rest, length, &s->const_float);
  if (status == EIN_ERR_RANGE) return bad_spec(s, "the number is too large for f64", err);
  return status == EIN_OK ? EIN_OK : bad_spec(s, "the value is no number", err);
}

/* A number alone means const: `dt=0.01`. One that is too large also counts as a number. */
static int is_number(const char *spec) {
  int64_t whole;
  double real;
  size_t length = strlen(spec);
  ein_status status = ein_read_i64(spec, length, &whole);
  if (status != EIN_OK && status != EIN_ERR_RANGE) status = ein_read_f64(spec, length, &real);
  return status == EIN_OK || status == EIN_ERR_RANGE;
}

/* ---- parsing a spec: files ---- */

int ein_ends_in(const char *name, const char *ending) {
  size_t length = strlen(name), n = strlen(ending);
  return length > n && strcmp(name + length - n, ending) == 0;
}

int ein_takes_no_all(const char *name) {
  static const char *const endings[] = {".npy", ".npz", ".raw", ".bin"};
  struct stat st;
  int ends = 0;
  for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) ends |= ein_ends_in(name, endings[i]);
  return ends && (stat(name, &st) != 0 || !S_ISDIR(st.st_mode));
}

/* Finds an extension followed by a member: the first ".npz:" or ".safetensors:". Returns the ':' or NULL. */
static const char *find_member(const char *spec, source_kind *kind) {
  const char *npz = strstr(spec, ".npz:"), *st = strstr(spec, ".safetensors:");
  if (npz && (!st || npz < st)) {
    *kind = SOURCE_NPZ;
    return npz + 4;
  }
  *kind = SOURCE_SAFETENSORS;
  return st ? st + 12 : NULL;
}

static ein_status read_file_spec(source *s, ein_error *err) {
  const char *colon = find_member(s->spec, &s->kind);
  size_t length = colon ? (size_t)(colon - s->spec) : strlen(s->spec);
  if (colon)
    s->member = colon[1] ? colon + 1 : NULL;
  else if (ein_ends_in(s->spec, ".npy"))
    s->kind = SOURCE_NPY;
  else if (ein_ends_in(s->spec, ".npz"))
    s->kind = SOURCE_NPZ;
  else if (ein_ends_in(s->spec, ".safetensors"))
    s->kind = SOURCE_SAFETENSORS;
  else if (ein_ends_in(s->spec, ".raw") || ein_ends_in(s->spec, ".bin"))
    s->kind = SOURCE_RAW;
  else
    return bad_spec(
        s,
        "neither a file (.npy .npz:name .safetensors:name .raw .bin) nor a generator (zeros ones "
        "iota const uniform randn randint fill) nor values (2.5 or [[1,2],[3,4]])",
        err);
  s->path = malloc(length + 1);
  if (!s->path)
    return ein_error_set(err, EIN_ERR_MEMORY, "source %s: out of memory", ein_short_name(s->spec));
  memcpy(s->path, s->spec, length);
  s->path[length] = '\0';
  return EIN_OK;
}

static ein_status source_from_spec(source *s, const char *spec, ein_error *err) {
  *s = (source){.spec = spec};
  if (*spec == '[') {
    s->kind = SOURCE_LIST;
    return ein_list_read(ein_short_name(spec), spec, &s->list, err);
  }
  size_t word = strcspn(spec, ":");
  const generator *g = generator_find(spec, word);
  if (!g && !is_number(spec)) return read_file_spec(s, err);
  s->kind = g ? g->kind : SOURCE_CONST;
  if (!g) return read_const(s, spec, err);
  if (g->kind != SOURCE_CONST) return read_params(s, g, spec + word, err);
  if (!spec[word]) return bad_spec(s, "say the value, as const:2.5", err);
  return read_const(s, spec + word + 1, err);
}

static void source_end(source *s) {
  free(s->path);
  ein_list_end(&s->list);
}

static int is_file(const source *s) {
  return s->kind <= SOURCE_RAW;
}

/* ---- files ---- */

/*
 * Finds an open file's array. `part` is the source of its bytes: the file, or a member of it. A raw file takes
 * the requested dtype and shape.
 */
static ein_status find_array(const source *s, const ein_bytes *file, ein_npz_member *part,
                             ein_dtype want, int ndim, const int64_t *shape, ein_array *out,
                             ein_error *err) {
  *part = (ein_npz_member){.bytes = *file};
  if (s->kind == SOURCE_RAW) return ein_raw_header(file, want, ndim, shape, out, err);
  if (s->kind == SOURCE_SAFETENSORS) return ein_safetensors_find(file, s->member, out, err);
  ein_status status = EIN_OK;
  if (s->kind == SOURCE_NPZ) status = ein_npz_find(file, s->member, part, err);
  if (status == EIN_OK) /* messages about the member use the whole spec */
    part->bytes.name = ein_short_name(s->spec);
  return status == EIN_OK ? ein_npy_header(&part->bytes, out, err) : status;
}

static ein_status probe_file(const source *s, ein_source_info *out, ein_error *err) {
  ein_bytes file;
  ein_npz_member part;
  ein_array array = {.ndim = 0};
  ein_status status = ein_bytes_open(&file, s->path, err);
  if (status != EIN_OK) return status;
  if (s->kind == SOURCE_RAW) {
    out->bytes = (int64_t)file.size;
  } else {
    status = find_array(s, &file, &part, EIN_F64, 0, NULL, &array, err);
    out->has_dtype = out->has_shape = status == EIN_OK;
    out->dtype = array.dtype;
    out->ndim = array.ndim;
    out->bytes = array.bytes;
    memcpy(out->shape, array.shape, sizeof out->shape);
  }
  ein_bytes_close(&file);
  return status;
}

/* What is requested of a source: a block of a tensor. */
typedef struct wanted {
  ein_dtype dtype;
  int ndim;
  const int64_t *whole, *low, *shape;
  void *dst;
  int check; /* also verify the checksum over all of it */
} wanted;

static ein_status read_file(const source *s, const wanted *w, ein_error *err) {
  ein_bytes file;
  ein_npz_member part;
  ein_array array;
  ein_status status = ein_bytes_open(&file, s->path, err);
  if (status != EIN_OK) return status;
  status = find_array(s, &file, &part, w->dtype, w->ndim, w->whole, &array, err);
  part.bytes.name = ein_short_name(s->spec);
  if (status == EIN_OK)
    status = ein_shape_match(part.bytes.name, w->ndim, w->whole, array.ndim, array.shape, err);
  if (status == EIN_OK && w->check && s->kind == SOURCE_NPZ) status = ein_npz_check(&part, err);
  if (status == EIN_OK)
    status = ein_array_block(&part.bytes, &array, w->dtype, w->low, w->shape, w->dst, err);
  ein_bytes_close(&file);
  return status;
}

/* ---- generators ---- */

static int64_t fill_value(int64_t k, int64_t t) {
  int64_t shift = (t % 11 + 11) % 11;
  return (7 * (k % 11) + 3 * shift) % 11 - 5;
}

static int64_t int_value(const source *s, int64_t k) {
  switch (s->kind) {
  case SOURCE_ONES: return 1;
  case SOURCE_IOTA: return k;
  case SOURCE_CONST: return s->const_int;
  case SOURCE_RANDINT: return ein_randint(s->seed, k, s->lo, s->hi);
  case SOURCE_FILL: return fill_value(k, s->t);
  case SOURCE_LIST: return s->list.whole[k];
  default: return 0;
  }
}

static double float_value(const source *s, int64_t k) {
  switch (s->kind) {
  case SOURCE_UNIFORM: return (double)ein_uniform(s->seed, k);
  case SOURCE_RANDN: return (double)ein_normal(s->seed, k);
  case SOURCE_LIST: return s->list.real[k];
  default: return s->const_float;
  }
}

static int makes_floats(const source *s) {
  return s->kind == SOURCE_UNIFORM || s->kind == SOURCE_RANDN ||
         (s->kind == SOURCE_CONST && !s->const_is_int) || (s->kind == SOURCE_LIST && s->list.real);
}

enum { MAKE = 512 }; /* elements generated at a time */

/* Generates n elements from number k on; the block has them at dst, `step` apart. */
static ein_status make_run(const source *s, ein_dtype want, int64_t k, int64_t n, unsigned char *dst,
                           int64_t step, ein_error *err) {
  int64_t ints[MAKE];
  double floats[MAKE];
  const int use_floats = makes_floats(s);
  const size_t size = ein_dtype_size(want);
  const char *who = ein_short_name(s->spec);
  unsigned char room[8 * MAKE], *to = step == 1 ? dst : room;
  for (int64_t i = 0; i < n && use_floats; i++) floats[i] = float_value(s, k + i);
  for (int64_t i = 0; i < n && !use_floats; i++) ints[i] = int_value(s, k + i);
  const void *run = use_floats ? (const void *)floats : (const void *)ints;
  ein_status status = ein_convert(who, use_floats ? EIN_F64 : EIN_I64, run, want, to, n, k, err);
  for (int64_t i = 0; i < n && step != 1 && status == EIN_OK; i++)
    memcpy(dst + (size_t)(i * step) * size, room + (size_t)i * size, size);
  return status;
}

static ein_status generate(const source *s, const wanted *w, ein_error *err) {
  const size_t size = ein_dtype_size(w->dtype);
  const double none = 0;
  unsigned char *dst = w->dst;
  ein_rows r;
  ein_status status = EIN_OK;
  if (makes_floats(s)) /* refuses an integer dtype even if there is no element */
    status = ein_convert(ein_short_name(s->spec), EIN_F64, &none, w->dtype, dst, 0, 0, err);
  ein_rows_begin(&r, w->ndim, w->whole, 0, w->low, w->shape);
  while (status == EIN_OK && ein_rows_next(&r))
    for (int64_t k = 0; k < r.length && status == EIN_OK; k += MAKE)
      status = make_run(s, w->dtype, r.from + k, r.length - k < MAKE ? r.length - k : MAKE,
                        dst + (size_t)(r.to + k * r.step) * size, r.step, err);
  return status;
}

/* ---- the interface ---- */

ein_status ein_source_probe(const char *spec, ein_source_info *out, ein_error *err) {
  source s;
  *out = (ein_source_info){.bytes = -1};
  ein_status status = source_from_spec(&s, spec, err);
  if (status == EIN_OK && is_file(&s)) status = probe_file(&s, out, err);
  if (status == EIN_OK && s.kind == SOURCE_LIST) {
    out->has_shape = 1;
    out->dtype = s.list.real ? EIN_F32 : EIN_I64;
    out->ndim = s.list.ndim;
    memcpy(out->shape, s.list.shape, sizeof out->shape);
  }
  source_end(&s);
  return status;
}

static ein_status source_read(const char *spec, const wanted *w, ein_error *err) {
  source s;
  ein_status status = source_from_spec(&s, spec, err);
  if (status == EIN_OK)
    status = ein_shape_size(ein_short_name(spec), w->dtype, w->ndim, w->whole, NULL, NULL, err);
  if (status == EIN_OK && s.kind == SOURCE_LIST)
    status = ein_shape_match(ein_short_name(spec), w->ndim, w->whole, s.list.ndim, s.list.shape, err);
  for (int d = 0; d < w->ndim && status == EIN_OK; d++)
    if (w->low[d] < 0 || w->shape[d] < 0 || w->low[d] > w->whole[d] - w->shape[d])
      status = ein_error_set(err, EIN_ERR_ARG, "%s: a block goes beyond axis %d", ein_short_name(spec), d);
  if (status == EIN_OK) status = is_file(&s) ? read_file(&s, w, err) : generate(&s, w, err);
  source_end(&s);
  return status;
}

ein_status ein_source_read(const char *spec, ein_dtype want, int ndim, const int64_t *shape,
                           void *dst, ein_error *err) {
  const int64_t low[EIN_MAX_AXES] = {0};
  const wanted w = {want, ndim, shape, low, shape, dst, 1};
  return source_read(spec, &w, err);
}

ein_status ein_source_block(const char *spec, ein_dtype want, int ndim, const int64_t *whole,
                            const int64_t *low, const int64_t *shape, void *dst, ein_error *err) {
  const wanted w = {want, ndim, whole, low, shape, dst, 0};
  return source_read(spec, &w, err);
}

ein_status ein_source_check(const char *spec, ein_error *err) {
  source s;
  ein_bytes file;
  ein_npz_member part;
  ein_status status = source_from_spec(&s, spec, err);
  if (status == EIN_OK && s.kind == SOURCE_NPZ) {
    status = ein_bytes_open(&file, s.path, err);
    if (status == EIN_OK) {
      status = ein_npz_find(&file, s.member, &part, err);
      part.bytes.name = ein_short_name(s.spec);
      if (status == EIN_OK) status = ein_npz_check(&part, err);
      ein_bytes_close(&file);
    }
  }
  source_end(&s);
  return status;
}
