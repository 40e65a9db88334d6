/* SPDX-License-Identifier: MIT-0 */
/*
 * NumPy's .npy, versions 1 to 3: reads a header from a byte source into an ein_array, and writes a C-order
 * array to a file. The header is a Python dict literal with three known keys; no other Python syntax is
 * supported.
 */
#include "array.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  PREFIX_1 = 10,     /* magic 6, version 2, length 2 */
  PREFIX_2 = 12,     /* magic 6, version 2, length 4 */
  NPY_HEADER_MAX = 65535 /* 64 extents of 20 digits take 1500 */
};

/* ---- reading the dict ---- */

typedef struct dict {
  const char *name; /* the source's, for messages */
  const char *text;
  size_t at, length;
  ein_error *err;
} dict;

static ein_status dict_bad(const dict *d, const char *what) {
  return ein_error_set(d->err, EIN_ERR_FORMAT, "%s: bad .npy header: %s at byte %zu", d->name, what,
                       d->at);
}

static int is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* The next character that is not a space, or 0 at the end. */
static char dict_peek(dict *d) {
  while (d->at < d->length && is_space(d->text[d->at])) d->at++;
  return d->at < d->length ? d->text[d->at] : '\0';
}

static int dict_take(dict *d, char c) {
  if (dict_peek(d) != c) return 0;
  d->at++;
  return 1;
}

/* A quoted string without escapes; ours have none. */
static ein_status dict_string(dict *d, char out[32]) {
  char quote = dict_peek(d);
  if (quote != '\'' && quote != '"') return dict_bad(d, "expected a string");
  d->at++;
  size_t n = 0;
  for (; d->at < d->length && d->text[d->at] != quote; d->at++) {
    if (n == 31 || d->text[d->at] == '\\')
      return dict_bad(d, "a string too long or with an escape");
    out[n++] = d->text[d->at];
  }
  out[n] = '\0';
  return dict_take(d, quote) ? EIN_OK : dict_bad(d, "a string without an end");
}

static ein_status dict_bool(dict *d, int *out) {
  dict_peek(d);
  const char *rest = d->text + d->at;
  size_t left = d->length - d->at;
  *out = left >= 4 && memcmp(rest, "True", 4) == 0;
  if (!*out && !(left >= 5 && memcmp(rest, "False", 5) == 0))
    return dict_bad(d, "expected True or False");
  d->at += *out ? 4 : 5;
  return EIN_OK;
}

/* A natural number; old writers put an L after it. */
static ein_status dict_extent(dict *d, int64_t *out) {
  char c = dict_peek(d);
  if (c < '0' || c > '9') return dict_bad(d, "expected an extent");
  int64_t value = 0;
  for (; d->at < d->length && (c = d->text[d->at]) >= '0' && c <= '9'; d->at++) {
    if (value > (INT64_MAX - (c - '0')) / 10) return dict_bad(d, "an extent past 2^63");
    value = 10 * value + (c - '0');
  }
  if (d->at < d->length && d->text[d->at] == 'L') d->at++;
  *out = value;
  return EIN_OK;
}

/* (), (3,), (3, 4) or (3, 4,). */
static ein_status dict_shape(dict *d, ein_array *out) {
  if (!dict_take(d, '(')) return dict_bad(d, "expected a tuple");
  int comma = 1;
  for (out->ndim = 0; !dict_take(d, ')'); out->ndim++) {
    if (out->ndim == EIN_MAX_AXES)
      return ein_error_set(d->err, EIN_ERR_SHAPE, "%s: it has more than %d axes", d->name,
                           EIN_MAX_AXES);
    if (!comma) return dict_bad(d, "expected ',' or ')'");
    ein_status status = dict_extent(d, &out->shape[out->ndim]);
    if (status != EIN_OK) return status;
    comma = dict_take(d, ',');
  }
  if (out->ndim == 1 && !comma) return dict_bad(d, "expected a tuple, found a number in parentheses");
  return EIN_OK;
}

typedef struct descr {
  char text[4];
  ein_dtype dtype;
} descr;

static const descr descrs[] = {
    {"f8", EIN_F64}, {"f4", EIN_F32}, {"f2", EIN_F16}, {"i8", EIN_I64},  {"i4", EIN_I32},
    {"i2", EIN_I16}, {"i1", EIN_I8},  {"u1", EIN_U8},  {"b1", EIN_BOOL},
};

/* What to do about another dtype, by its kind. */
static const char *descr_hint(const char *text) {
  switch (text[0] ? text[1] : 0) {
  case 'c': return "a complex tensor: save its .real and its .imag";
  case 'u': return "save it as i8";
  case 'U': case 'S': return "it holds texts, not numbers";
  case 'O': return "it holds objects of Python, not numbers";
  case 'M': case 'm': return "times: save them as i8";
  default: return "bf16: save it as f4";
  }
}

static ein_status dict_descr(dict *d, ein_array *out) {
  if (dict_peek(d) == '[')
    return ein_error_set(d->err, EIN_ERR_DTYPE,
                         "%s: it holds records (a structured dtype), not plain elements", d->name);
  char text[32];
  ein_status status = dict_string(d, text);
  if (status != EIN_OK) return status;
  out->big_endian = text[0] == '>' || (text[0] == '=' && EIN_BIG_ENDIAN);
  for (size_t i = 0; i < sizeof descrs / sizeof *descrs; i++) {
    out->dtype = descrs[i].dtype;
    int order = text[0] == '<' || text[0] == '>' || text[0] == '=' ||
                (text[0] == '|' && ein_dtype_size(out->dtype) == 1);
    if (order && strcmp(text + 1, descrs[i].text) == 0) return EIN_OK;
  }
  return ein_error_set(
      d->err, EIN_ERR_DTYPE,
      "%s: unknown dtype '%s'; f8 f4 f2 i8 i4 i2 i1 u1 b1 can be read (%s)",
      d->name, text, descr_hint(text));
}

static ein_status dict_entry(dict *d, ein_array *out, int *seen) {
  char key[32];
  ein_status status = dict_string(d, key);
  if (status != EIN_OK) return status;
  if (!dict_take(d, ':')) return dict_bad(d, "expected ':'");
  int bit = strcmp(key, "descr") == 0           ? 1
            : strcmp(key, "fortran_order") == 0 ? 2
            : strcmp(key, "shape") == 0         ? 4
                                                : 0;
  if (!bit || (*seen & bit)) return dict_bad(d, bit ? "a key given twice" : "an unknown key");
  *seen |= bit;
  return bit == 1   ? dict_descr(d, out)
         : bit == 2 ? dict_bool(d, &out->fortran)
                    : dict_shape(d, out);
}

static ein_status read_dict(dict *d, ein_array *out) {
  int seen = 0;
  if (!dict_take(d, '{')) return dict_bad(d, "expected '{'");
  for (int comma = 1; !dict_take(d, '}'); comma = dict_take(d, ',')) {
    if (!comma) return dict_bad(d, "expected ',' or '}'");
    ein_status status = dict_entry(d, out, &seen);
    if (status != EIN_OK) return status;
  }
  if (seen != 7) return dict_bad(d, "descr, fortran_order or shape is missing");
  if (dict_peek(d) != '\0' || d->at != d->length) return dict_bad(d, "something after the dict");
  return EIN_OK;
}

/* ---- reading the file ---- */

/* Reads magic, version and length, and so where the dict is. */
static ein_status read_prefix(const ein_bytes *b, uint64_t *at, uint64_t *length, ein_error *err) {
  unsigned char p[PREFIX_2];
  if (b->size < PREFIX_1)
    return ein_error_set(err, EIN_ERR_FORMAT, "%s: no .npy file: only %llu bytes", b->name,
                         (unsigned long long)b->size);
  ein_status status = ein_bytes_read(b, 0, p, PREFIX_1, err);
  if (status != EIN_OK) return status;
  if (memcmp(p, "\x93NUMPY", 6) != 0)
    return ein_error_set(err, EIN_ERR_FORMAT,
                         "%s: no .npy file: it does not begin with NumPy's magic", b->name);
  if (p[6] < 1 || p[6] > 3 || p[7] != 0)
    return ein_error_set(err, EIN_ERR_FORMAT, "%s: .npy version %d.%d is unknown", b->name, p[6],
                         p[7]);
  *at = p[6] == 1 ? PREFIX_1 : PREFIX_2;
  status = ein_bytes_read(b, 0, p, *at, err);
  *length = status == EIN_OK ? ein_le(p + 8, p[6] == 1 ? 2 : 4) : 0;
  if (status == EIN_OK && *length > NPY_HEADER_MAX)
    status = ein_error_set(err, EIN_ERR_FORMAT,
                           "%s: its .npy header claims %llu bytes; at most %d are read", b->name,
                           (unsigned long long)*length, NPY_HEADER_MAX);
  if (status == EIN_OK && *length > b->size - *at)
    status = ein_error_set(err, EIN_ERR_FORMAT,
                           "%s: its .npy header claims %llu bytes, but the file ends before",
                           b->name, (unsigned long long)*length);
  return status;
}

static ein_status check_size(const ein_bytes *b, ein_array *out, ein_error *err) {
  ein_status status =
      ein_shape_size(b->name, out->dtype, out->ndim, out->shape, &out->count, &out->bytes, err);
  if (status != EIN_OK) return status;
  if ((uint64_t)out->bytes != b->size - out->at)
    return ein_error_set(err, EIN_ERR_FORMAT,
                         "%s: its header says %s %s, %lld bytes; the file holds %llu", b->name,
                         ein_dtype_name(out->dtype), ein_shape_print(out->ndim, out->shape).text,
                         (long long)out->bytes, (unsigned long long)(b->size - out->at));
  return EIN_OK;
}

ein_status ein_npy_header(const ein_bytes *b, ein_array *out, ein_error *err) {
  *out = (ein_array){.ndim = 0};
  uint64_t at = 0, length = 0;
  ein_status status = read_prefix(b, &at, &length, err);
  if (status != EIN_OK) return status;
  char *text = malloc((size_t)length + 1);
  if (!text) return ein_error_set(err, EIN_ERR_MEMORY, "%s: out of memory", b->name);
  status = ein_bytes_read(b, at, text, length, err);
  if (status == EIN_OK) {
    dict d = {.name = b->name, .text = text, .length = (size_t)length, .err = err};
    status = read_dict(&d, out);
  }
  free(text);
  out->at = at + length;
  return status == EIN_OK ? check_size(b, out, err) : status;
}

/* ---- writing ---- */

/* Writes magic to newline, padded so that the elements begin at a multiple of 64. Returns the length. */
size_t ein_npy_head(char *to, ein_dtype dtype, int ndim, const int64_t *shape) {
  const size_t room = EIN_NPY_HEAD;
  const char *type = "";
  for (size_t i = 0; i < sizeof descrs / sizeof *descrs; i++) {
    if (descrs[i].dtype == dtype) type = descrs[i].text;
  }
  size_t at = PREFIX_1;
  at += (size_t)snprintf(to + at, room - at, "{'descr': '%c%s', 'fortran_order': False, 'shape': (",
                         ein_dtype_size(dtype) == 1 ? '|' : '<', type);
  for (int axis = 0; axis < ndim; axis++)
    at += (size_t)snprintf(to + at, room - at, axis ? ", %lld" : "%lld", (long long)shape[axis]);
  at += (size_t)snprintf(to + at, room - at, ndim == 1 ? ",), }" : "), }");
  size_t end = (at + 1 + 63) / 64 * 64;
  memset(to + at, ' ', end - at);
  to[end - 1] = '\n';
  memcpy(to, "\x93NUMPY\x01\x00", 8);
  ein_le_put((unsigned char *)to + 8, 2, end - PREFIX_1);
  return end;
}

static ein_status write_bf16(ein_out *out, const void *data, int64_t count, ein_error *err) {
  float chunk[2048];
  const unsigned char *from = data;
  ein_status status = EIN_OK;
  for (int64_t k = 0; k < count && status == EIN_OK; k += 2048) {
    int64_t n = count - k < 2048 ? count - k : 2048;
    status = ein_convert(out->name, EIN_BF16, from + 2 * (size_t)k, EIN_F32, chunk, n, k, err);
    if (status == EIN_OK) status = ein_out_elements(out, EIN_F32, chunk, n, err);
  }
  return status;
}

ein_status ein_npy_write(const char *path, ein_dtype dtype, int ndim, const int64_t *shape,
                         const void *data, ein_error *err) {
  int64_t count;
  ein_status status = ein_shape_size(ein_short_name(path), dtype, ndim, shape, &count, NULL, err);
  if (status != EIN_OK) return status;
  char header[EIN_NPY_HEAD];
  size_t length = ein_npy_head(header, dtype == EIN_BF16 ? EIN_F32 : dtype, ndim, shape);
  ein_out out;
  status = ein_out_open(&out, path, err);
  if (status == EIN_OK) status = ein_out_write(&out, header, length, err);
  if (status == EIN_OK && dtype == EIN_BF16)
    status = write_bf16(&out, data, count, err);
  else if (status == EIN_OK)
    status = ein_out_elements(&out, dtype, data, count, err);
  return ein_out_finish(&out, status, err);
}
