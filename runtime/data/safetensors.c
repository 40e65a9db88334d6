/* SPDX-License-Identifier: MIT-0 */
/*
 * Safetensors: a byte source and a tensor's name in, an ein_array out; and several tensors in, a file out. The
 * file is 8 bytes of header length, a JSON header, then the elements. As the format requires, the tensors cover
 * the element bytes without holes, overlaps or a remainder. The header is read into memory and its strings are
 * decoded in place (decoding never makes a string longer).
 */
#include "array.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAFE_HEADER_MAX = 100 * 1000 * 1000 }; /* the format's limit */

typedef struct text {
  char *start;
  size_t length;
} text;

typedef struct slot {
  text name, dtype_text;
  int dtype; /* an ein_dtype, or -1: an unsupported one, so the tensor exists but cannot be read */
  int ndim;
  int64_t shape_at; /* where its shape is written in the header */
  uint64_t begin, end;
} slot;

typedef struct header {
  const char *name; /* the source's */
  char *text;
  size_t at, length;
  slot *slots;
  size_t count, room;
  ein_error *err;
} header;

static ein_status bad(const header *h, const char *what) {
  return ein_error_set(h->err, EIN_ERR_FORMAT, "%s: bad safetensors header: %s at byte %zu",
                       h->name, what, h->at);
}

/* ---- JSON, as far as the header needs it ---- */

static char peek(header *h) {
  while (h->at < h->length && (h->text[h->at] == ' ' || h->text[h->at] == '\t' ||
                               h->text[h->at] == '\n' || h->text[h->at] == '\r'))
    h->at++;
  return h->at < h->length ? h->text[h->at] : '\0';
}

static int take(header *h, char c) {
  if (peek(h) != c) return 0;
  h->at++;
  return 1;
}

/* Four hex digits, or -1. */
static int32_t read_hex4(header *h) {
  int32_t value = 0;
  if (h->length - h->at < 4) return -1;
  for (int i = 0; i < 4; i++) {
    char c = h->text[h->at++];
    int digit = c >= '0' && c <= '9'   ? c - '0'
                : c >= 'a' && c <= 'f' ? c - 'a' + 10
                : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                       : -1;
    if (digit < 0) return -1;
    value = 16 * value + digit;
  }
  return value;
}

static size_t put_utf8(char *to, int32_t c) {
  if (c < 0x80) {
    to[0] = (char)c;
    return 1;
  }
  int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
  static const int lead[4] = {0, 0xC0, 0xE0, 0xF0};
  to[0] = (char)(lead[more] | c >> (6 * more));
  for (int i = 1; i <= more; i++) to[i] = (char)(0x80 | (c >> (6 * (more - i)) & 0x3F));
  return (size_t)more + 1;
}

/* After "\u": one code point, from one or two escapes. Never 0, since names are C strings. */
static int32_t read_code_point(header *h) {
  int32_t c = read_hex4(h);
  if (c >= 0xD800 && c < 0xDC00 && h->length - h->at >= 2 && h->text[h->at] == '\\' &&
      h->text[h->at + 1] == 'u') {
    h->at += 2;
    int32_t low = read_hex4(h);
    return low >= 0xDC00 && low < 0xE000 ? 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00) : -1;
  }
  return c == 0 || (c >= 0xD800 && c < 0xE000) ? -1 : c;
}

/* After the backslash: writes what the escape stands for to `to`. Returns its length; 0 if it is not an escape. */
static size_t read_escape(header *h, char *to) {
  static const char from[] = "\"\\/bfnrt", into[] = "\"\\/\b\f\n\r\t";
  char c = h->at < h->length ? h->text[h->at++] : '\0';
  if (c == 'u') {
    int32_t code = read_code_point(h);
    return code < 0 ? 0 : put_utf8(to, code);
  }
  const char *found = c ? strchr(from, c) : NULL;
  if (!found) return 0;
  *to = into[found - from];
  return 1;
}

/* Returns the length of the well-formed UTF-8 sequence at p, at most `left`; 0 if it is malformed. */
static size_t utf8_length(const unsigned char *p, size_t left) {
  if (p[0] < 0x80) return 1;
  size_t n = p[0] >= 0xC2 && p[0] < 0xE0   ? 2
             : (p[0] & 0xF0) == 0xE0       ? 3
             : p[0] >= 0xF0 && p[0] < 0xF5 ? 4
                                           : 0;
  if (n == 0 || n > left) return 0;
  for (size_t i = 1; i < n; i++) {
    if ((p[i] & 0xC0) != 0x80) return 0;
  }
  int overlong = (p[0] == 0xE0 && p[1] < 0xA0) || (p[0] == 0xF0 && p[1] < 0x90);
  int beyond = (p[0] == 0xED && p[1] >= 0xA0) || (p[0] == 0xF4 && p[1] >= 0x90);
  return overlong || beyond ? 0 : n;
}

static ein_status read_string(header *h, text *out) {
  if (!take(h, '"')) return bad(h, "expected a string");
  out->start = h->text + h->at;
  char *to = out->start;
  while (h->at < h->length && h->text[h->at] != '"') {
    if ((unsigned char)h->text[h->at] < 0x20) return bad(h, "a control character in a string");
    size_t n = 0;
    if (h->text[h->at] == '\\') {
      h->at++;
      n = read_escape(h, to);
    } else {
      n = utf8_length((unsigned char *)h->text + h->at, h->length - h->at);
      memmove(to, h->text + h->at, n);
      h->at += n;
    }
    if (n == 0) return bad(h, "a bad escape or no UTF-8 in a string");
    to += n;
  }
  out->length = (size_t)(to - out->start);
  return take(h, '"') ? EIN_OK : bad(h, "a string without an end");
}

/* A natural number in JSON's syntax, below 2^63. */
static ein_status read_natural(header *h, int64_t *out) {
  char c = peek(h);
  if (c < '0' || c > '9') return bad(h, "expected a natural number");
  size_t from = h->at;
  int64_t value = 0;
  for (; h->at < h->length && (c = h->text[h->at]) >= '0' && c <= '9'; h->at++) {
    if (value > (INT64_MAX - (c - '0')) / 10) return bad(h, "a number past 2^63");
    value = 10 * value + (c - '0');
  }
  if (h->text[from] == '0' && h->at > from + 1) return bad(h, "a number with a leading zero");
  *out = value;
  return EIN_OK;
}

/* [1, 2, 3]: at most `most` numbers. */
static ein_status read_naturals(header *h, int most, int64_t *out, int *count) {
  if (!take(h, '[')) return bad(h, "expected '['");
  *count = 0;
  if (take(h, ']')) return EIN_OK;
  do {
    if (*count == most)
      return bad(h, most == EIN_MAX_AXES ? "more than 64 axes" : "too many numbers");
    ein_status status = read_natural(h, &out[(*count)++]);
    if (status != EIN_OK) return status;
  } while (take(h, ','));
  return take(h, ']') ? EIN_OK : bad(h, "expected ',' or ']'");
}

/* ---- the header ---- */

static int text_is(text t, const char *word) {
  return t.length == strlen(word) && memcmp(t.start, word, t.length) == 0;
}

typedef struct st_dtype {
  char name[5];
  ein_dtype dtype;
} st_dtype;

static const st_dtype st_dtypes[EIN_DTYPE_COUNT] = {
    {"F64", EIN_F64}, {"F32", EIN_F32}, {"F16", EIN_F16}, {"BF16", EIN_BF16}, {"I64", EIN_I64},
    {"I32", EIN_I32}, {"I16", EIN_I16}, {"I8", EIN_I8},   {"U8", EIN_U8},     {"BOOL", EIN_BOOL},
};

static ein_status read_dtype(header *h, slot *s) {
  ein_status status = read_string(h, &s->dtype_text);
  s->dtype = -1;
  for (int i = 0; status == EIN_OK && i < EIN_DTYPE_COUNT; i++) {
    if (text_is(s->dtype_text, st_dtypes[i].name)) s->dtype = (int)st_dtypes[i].dtype;
  }
  return status;
}

/* An entry's key as a bit; 0 if unknown. */
static int entry_key(text key) {
  return text_is(key, "dtype")          ? 1
         : text_is(key, "shape")        ? 2
         : text_is(key, "data_offsets") ? 4
                                        : 0;
}

static ein_status read_field(header *h, int key, slot *s, int64_t shape[EIN_MAX_AXES]) {
  int64_t offsets[2] = {0, 0};
  int count = 0;
  if (key == 1) return read_dtype(h, s);
  if (key == 2) {
    s->shape_at = (int64_t)h->at;
    return read_naturals(h, EIN_MAX_AXES, shape, &s->ndim);
  }
  ein_status status = read_naturals(h, 2, offsets, &count);
  if (status == EIN_OK && (count != 2 || offsets[0] > offsets[1]))
    status = bad(h, "expected two rising offsets");
  s->begin = (uint64_t)offsets[0];
  s->end = (uint64_t)offsets[1];
  return status;
}

static ein_status check_slot(header *h, const slot *s, const int64_t *shape) {
  if (s->dtype < 0) return EIN_OK;
  int64_t bytes;
  ein_status status =
      ein_shape_size(h->name, (ein_dtype)s->dtype, s->ndim, shape, NULL, &bytes, h->err);
  if (status == EIN_OK && (uint64_t)bytes != s->end - s->begin)
    status = bad(h, "a tensor's shape and offsets disagree");
  return status;
}

/* {"dtype": ..., "shape": [...], "data_offsets": [begin, end]} */
static ein_status read_tensor(header *h, slot *s) {
  int64_t shape[EIN_MAX_AXES];
  int seen = 0;
  if (!take(h, '{')) return bad(h, "expected '{'");
  do {
    text key;
    ein_status status = read_string(h, &key);
    if (status != EIN_OK) return status;
    int bit = entry_key(key);
    if (!bit || (seen & bit)) return bad(h, bit ? "a key given twice" : "an unknown key");
    seen |= bit;
    status = take(h, ':') ? read_field(h, bit, s, shape) : bad(h, "expected ':'");
    if (status != EIN_OK) return status;
  } while (take(h, ','));
  if (!take(h, '}')) return bad(h, "expected ',' or '}'");
  return seen == 7 ? check_slot(h, s, shape) : bad(h, "dtype, shape or data_offsets is missing");
}

/* "__metadata__": an object of strings, checked and ignored. */
static ein_status skip_metadata(header *h) {
  text ignored;
  if (!take(h, '{')) return bad(h, "expected '{'");
  if (take(h, '}')) return EIN_OK;
  do {
    ein_status status = read_string(h, &ignored);
    if (status == EIN_OK) status = take(h, ':') ? read_string(h, &ignored) : bad(h, "expected ':'");
    if (status != EIN_OK) return status;
  } while (take(h, ','));
  return take(h, '}') ? EIN_OK : bad(h, "expected ',' or '}'");
}

static ein_status push_slot(header *h, slot s) {
  if (h->count == h->room) {
    size_t room = h->room ? 2 * h->room : 64;
    slot *grown = realloc(h->slots, room * sizeof *grown);
    if (!grown) return ein_error_set(h->err, EIN_ERR_MEMORY, "%s: out of memory", h->name);
    h->slots = grown;
    h->room = room;
  }
  h->slots[h->count++] = s;
  return EIN_OK;
}

static ein_status read_member(header *h, int *metadata) {
  slot s = {.dtype = -1};
  ein_status status = read_string(h, &s.name);
  if (status != EIN_OK) return status;
  if (!take(h, ':')) return bad(h, "expected ':'");
  if (text_is(s.name, "__metadata__"))
    return (*metadata)++ ? bad(h, "metadata given twice") : skip_metadata(h);
  status = read_tensor(h, &s);
  return status == EIN_OK ? push_slot(h, s) : status;
}

static ein_status read_object(header *h) {
  int metadata = 0;
  if (h->length == 0 || h->text[0] != '{') return bad(h, "expected '{'");
  h->at = 1;
  if (!take(h, '}')) {
    do {
      ein_status status = read_member(h, &metadata);
      if (status != EIN_OK) return status;
    } while (take(h, ','));
    if (!take(h, '}')) return bad(h, "expected ',' or '}'");
  }
  return peek(h) == '\0' && h->at == h->length ? EIN_OK : bad(h, "something after the object");
}

/* ---- consistency between tensors ---- */

static int by_name(const void *a, const void *b) {
  const slot *x = a, *y = b;
  size_t shorter = x->name.length < y->name.length ? x->name.length : y->name.length;
  int order = memcmp(x->name.start, y->name.start, shorter);
  return order ? order : (x->name.length > y->name.length) - (x->name.length < y->name.length);
}

static int by_place(const void *a, const void *b) {
  const slot *x = a, *y = b;
  if (x->begin != y->begin) return x->begin < y->begin ? -1 : 1;
  return (x->end > y->end) - (x->end < y->end);
}

static ein_status check_names(header *h) {
  if (h->count > 1) qsort(h->slots, h->count, sizeof *h->slots, by_name);
  for (size_t i = 1; i < h->count; i++) {
    if (by_name(&h->slots[i - 1], &h->slots[i]) == 0)
      return ein_error_set(h->err, EIN_ERR_FORMAT,
                           "%s: bad safetensors header: two tensors called %.*s", h->name,
                           (int)(h->slots[i].name.length < 160 ? h->slots[i].name.length : 160),
                           h->slots[i].name.start);
  }
  return EIN_OK;
}

static ein_status check_places(header *h, uint64_t data_bytes) {
  if (h->count > 1) qsort(h->slots, h->count, sizeof *h->slots, by_place);
  uint64_t end = 0;
  for (size_t i = 0; i < h->count; i++) {
    const slot *s = &h->slots[i];
    if (s->begin != end)
      return ein_error_set(h->err, EIN_ERR_FORMAT, "%s: bad safetensors header: %.*s %s", h->name,
                           (int)(s->name.length < 160 ? s->name.length : 160), s->name.start,
                           s->begin < end ? "overlaps another tensor"
                                          : "has unused bytes before it");
    end = s->end;
  }
  if (end != data_bytes)
    return ein_error_set(
        h->err, EIN_ERR_FORMAT,
        "%s: its safetensors header says %llu bytes of elements; the file holds %llu", h->name,
        (unsigned long long)end, (unsigned long long)data_bytes);
  return EIN_OK;
}

static const slot *find_slot(const header *h, const char *name) {
  if (!name) return h->count == 1 ? h->slots : NULL;
  for (size_t i = 0; i < h->count; i++) {
    if (text_is(h->slots[i].name, name)) return &h->slots[i];
  }
  return NULL;
}

/* Lists up to three tensors' names in the message. */
static ein_status not_found(const header *h, const char *name) {
  char list[3][64] = {"", "", ""};
  for (size_t i = 0; i < 3 && i < h->count; i++)
    snprintf(list[i], sizeof list[i], " %.*s",
             (int)(h->slots[i].name.length < 60 ? h->slots[i].name.length : 60),
             h->slots[i].name.start);
  return ein_error_set(h->err, EIN_ERR_ARG, "%s: %s%s; it holds %zu%s%s%s%s%s", h->name,
                       name ? "it holds no tensor called "
                            : "say which tensor, as .safetensors:name",
                       name ? ein_short_name(name) : "", h->count, h->count ? ":" : "", list[0],
                       list[1], list[2], h->count > 3 ? " ..." : "");
}

static ein_status give_slot(header *h, const char *name, ein_array *out) {
  const slot *s = find_slot(h, name);
  if (!s) return not_found(h, name);
  if (s->dtype < 0)
    return ein_error_set(
        h->err, EIN_ERR_DTYPE,
        "%s: tensor %s has dtype %.*s; F64 F32 F16 BF16 I64 I32 I16 I8 U8 BOOL can be read",
        h->name, name ? ein_short_name(name) : "",
        (int)(s->dtype_text.length < 20 ? s->dtype_text.length : 20), s->dtype_text.start);
  out->dtype = (ein_dtype)s->dtype;
  out->at = 8 + h->length + s->begin;
  h->at = (size_t)s->shape_at;
  ein_status status = read_naturals(h, EIN_MAX_AXES, out->shape, &out->ndim);
  if (status == EIN_OK)
    status = ein_shape_size(h->name, out->dtype, out->ndim, out->shape, &out->count, &out->bytes,
                            h->err);
  return status;
}

static ein_status read_length(const ein_bytes *b, uint64_t *length, ein_error *err) {
  unsigned char p[8];
  if (b->size < 8)
    return ein_error_set(err, EIN_ERR_FORMAT, "%s: no safetensors file: only %llu bytes", b->name,
                         (unsigned long long)b->size);
  ein_status status = ein_bytes_read(b, 0, p, 8, err);
  if (status != EIN_OK) return status;
  *length = ein_le(p, 8);
  if (*length > SAFE_HEADER_MAX || *length > b->size - 8)
    return ein_error_set(
        err, EIN_ERR_FORMAT,
        "%s: no safetensors file: its header claims %llu bytes; the file holds %llu, and %d "
        "are possible",
        b->name, (unsigned long long)*length, (unsigned long long)(b->size - 8), SAFE_HEADER_MAX);
  return EIN_OK;
}

/* Reads and checks the whole header. Call header_end in any case. */
static ein_status header_begin(header *h, const ein_bytes *b, ein_error *err) {
  uint64_t length = 0;
  *h = (header){.name = b->name, .err = err};
  ein_status status = read_length(b, &length, err);
  if (status != EIN_OK) return status;
  h->length = (size_t)length;
  h->text = malloc((size_t)length + 1);
  if (!h->text) return ein_error_set(err, EIN_ERR_MEMORY, "%s: out of memory", b->name);
  status = ein_bytes_read(b, 8, h->text, length, err);
  if (status == EIN_OK) status = read_object(h);
  if (status == EIN_OK) status = check_names(h);
  if (status == EIN_OK) status = check_places(h, b->size - 8 - length);
  return status;
}

static void header_end(header *h) {
  free(h->slots);
  free(h->text);
}

ein_status ein_safetensors_find(const ein_bytes *b, const char *name, ein_array *out,
                                ein_error *err) {
  header h;
  *out = (ein_array){.ndim = 0};
  ein_status status = header_begin(&h, b, err);
  if (status == EIN_OK) status = give_slot(&h, name, out);
  header_end(&h);
  return status;
}

static ein_status list_slot(header *h, const slot *s, ein_array_seen seen, void *user) {
  ein_array a = {.at = 8 + h->length + s->begin, .bytes = (int64_t)(s->end - s->begin)};
  char dtype[20] = "";
  h->at = (size_t)s->shape_at;
  ein_status status = read_naturals(h, EIN_MAX_AXES, a.shape, &a.ndim);
  if (status != EIN_OK) return status;
  if (s->dtype >= 0) a.dtype = (ein_dtype)s->dtype;
  else
    snprintf(dtype, sizeof dtype, "%.*s", (int)(s->dtype_text.length < 16 ? s->dtype_text.length : 16),
             s->dtype_text.start);
  return seen(user, s->name.start, s->name.length, &a, s->dtype < 0 ? dtype : NULL, h->err);
}

ein_status ein_safetensors_each(const ein_bytes *b, ein_array_seen seen, void *user,
                                ein_error *err) {
  header h;
  ein_status status = header_begin(&h, b, err);
  for (size_t i = 0; i < h.count && status == EIN_OK; i++)
    status = list_slot(&h, &h.slots[i], seen, user);
  header_end(&h);
  return status;
}

/* ---- writing ---- */

/* A growing header text; `failed` is set if there is no memory. */
typedef struct writer {
  char *text;
  size_t length, room;
  int failed;
} writer;

static void put(writer *w, const char *bytes, size_t n) {
  if (w->failed) return;
  if (n > w->room - w->length) {
    size_t room = 2 * (w->room + n) + 256;
    char *grown = realloc(w->text, room);
    if (!grown) {
      w->failed = 1;
      return;
    }
    w->text = grown;
    w->room = room;
  }
  memcpy(w->text + w->length, bytes, n);
  w->length += n;
}

static void put_text(writer *w, const char *t) {
  put(w, t, strlen(t));
}

static void put_number(writer *w, int64_t v) {
  char digits[24];
  put(w, digits, (size_t)snprintf(digits, sizeof digits, "%lld", (long long)v));
}

static void put_string(writer *w, const char *s) {
  put(w, "\"", 1);
  for (; *s; s++) {
    char escape[8];
    if (*s == '"' || *s == '\\') put(w, "\\", 1);
    if ((unsigned char)*s < 0x20)
      put(w, escape,
          (size_t)snprintf(escape, sizeof escape, "\\u%04x", (unsigned)(unsigned char)*s));
    else
      put(w, s, 1);
  }
  put(w, "\"", 1);
}

static const char *st_name(ein_dtype dtype) {
  for (int i = 0; i < EIN_DTYPE_COUNT; i++) {
    if (st_dtypes[i].dtype == dtype) return st_dtypes[i].name;
  }
  return "?";
}

static void put_tensor(writer *w, const ein_named_tensor *t, int64_t *offset, int64_t bytes) {
  put_string(w, t->name);
  put_text(w, ":{\"dtype\":\"");
  put_text(w, st_name(t->tensor.dtype));
  put_text(w, "\",\"shape\":[");
  for (int axis = 0; axis < t->tensor.ndim; axis++) {
    if (axis) put(w, ",", 1);
    put_number(w, t->tensor.shape[axis]);
  }
  put_text(w, "],\"data_offsets\":[");
  put_number(w, *offset);
  put(w, ",", 1);
  *offset += bytes;
  put_number(w, *offset);
  put_text(w, "]}");
}

static int in_c_order(const ein_tensor *t) {
  int64_t stride = 1;
  for (int axis = t->ndim; t->strides && axis-- > 0;) {
    if (t->shape[axis] == 0) return 1;
    if (t->shape[axis] != 1 && t->strides[axis] != stride) return 0;
    stride *= t->shape[axis];
  }
  return 1;
}

static int valid_name(const char *name) {
  size_t left = name ? strlen(name) : 0;
  if (left == 0 || strcmp(name, "__metadata__") == 0) return 0;
  for (size_t n; left > 0; left -= n, name += n) {
    n = utf8_length((const unsigned char *)name, left);
    if (n == 0) return 0;
  }
  return 1;
}

static ein_status check_tensors(const char *who, size_t count, const ein_named_tensor *tensors,
                                ein_error *err) {
  int64_t total = 0, bytes;
  for (size_t i = 0; i < count; i++) {
    const ein_tensor *t = &tensors[i].tensor;
    if (!valid_name(tensors[i].name))
      return ein_error_set(err, EIN_ERR_ARG, "%s: tensor %zu has no usable name", who, i);
    for (size_t k = 0; k < i; k++) {
      if (strcmp(tensors[k].name, tensors[i].name) == 0)
        return ein_error_set(err, EIN_ERR_ARG, "%s: two tensors called %s", who,
                             ein_short_name(tensors[i].name));
    }
    ein_status status = ein_shape_size(who, t->dtype, t->ndim, t->shape, NULL, &bytes, err);
    if (status != EIN_OK) return status;
    if (t->device_type != 1 || !in_c_order(t))
      return ein_error_set(err, EIN_ERR_ARG, "%s: tensor %s must be on the CPU and in C order", who,
                           ein_short_name(tensors[i].name));
    if (bytes > INT64_MAX - total)
      return ein_error_set(err, EIN_ERR_SHAPE, "%s: the tensors together pass 2^63 bytes", who);
    total += bytes;
  }
  return EIN_OK;
}

/* Header and elements are both ordered by decreasing element size, then as given. */
static void put_header(writer *w, size_t count, const ein_named_tensor *tensors, uint64_t *at) {
  int64_t offset = 0;
  put(w, "\0\0\0\0\0\0\0\0{", 9);
  for (size_t size = 8; size > 0; size /= 2) {
    for (size_t i = 0; i < count; i++) {
      const ein_tensor *t = &tensors[i].tensor;
      int64_t bytes = 0;
      ein_shape_size("", t->dtype, t->ndim, t->shape, NULL, &bytes, NULL);
      if (ein_dtype_size(t->dtype) != size) continue;
      if (!w->failed && w->text[w->length - 1] != '{') put(w, ",", 1);
      if (at) at[i] = (uint64_t)offset;
      put_tensor(w, &tensors[i], &offset, bytes);
    }
  }
  put(w, "}", 1);
  while (!w->failed && w->length % 8 != 0) put(w, " ", 1);
  if (!w->failed) ein_le_put((unsigned char *)w->text, 8, w->length - 8);
  for (size_t i = 0; at && i < count; i++) at[i] += w->length;
}

static ein_status write_elements(ein_out *out, size_t count, const ein_named_tensor *tensors,
                                 ein_error *err) {
  for (size_t size = 8; size > 0; size /= 2) {
    for (size_t i = 0; i < count; i++) {
      const ein_tensor *t = &tensors[i].tensor;
      if (ein_dtype_size(t->dtype) != size) continue;
      int64_t elements = 0;
      ein_shape_size("", t->dtype, t->ndim, t->shape, &elements, NULL, NULL);
      ein_status status =
          elements == 0 ? EIN_OK
                        : ein_out_elements(out, t->dtype, (const char *)t->data + t->byte_offset,
                                           elements, err);
      if (status != EIN_OK) return status;
    }
  }
  return EIN_OK;
}

ein_status ein_safetensors_head(const char *who, size_t count, const ein_named_tensor *tensors,
                                char **text, size_t *length, uint64_t *at, ein_error *err) {
  writer w = {.length = 0};
  *text = NULL;
  ein_status status = check_tensors(who, count, tensors, err);
  if (status != EIN_OK) return status;
  put_header(&w, count, tensors, at);
  if (w.failed)
    status = ein_error_set(err, EIN_ERR_MEMORY, "%s: out of memory", who);
  else if (w.length - 8 > SAFE_HEADER_MAX)
    status = ein_error_set(err, EIN_ERR_ARG, "%s: the header would pass %d bytes", who, SAFE_HEADER_MAX);
  if (status != EIN_OK) {
    free(w.text);
    return status;
  }
  *text = w.text;
  *length = w.length;
  return EIN_OK;
}

ein_status ein_safetensors_write(const char *path, size_t count, const ein_named_tensor *tensors,
                                 ein_error *err) {
  ein_out out = {.fd = -1};
  char *text;
  size_t length = 0;
  ein_status status =
      ein_safetensors_head(ein_short_name(path), count, tensors, &text, &length, NULL, err);
  if (status == EIN_OK) status = ein_out_open(&out, path, err);
  if (status == EIN_OK) status = ein_out_write(&out, text, length, err);
  if (status == EIN_OK) status = write_elements(&out, count, tensors, err);
  free(text);
  return ein_out_finish(&out, status, err);
}
