/* base/json_read.c - reads JSON into a tree of values with their places. Strict: refuses whatever RFC 8259 does not
 * allow, and duplicate names in an object. Stops at the first mistake. */
#include <string.h>

#include "json.h"
#include "utf8.h"

enum { DEEP_MOST = 100 };

typedef struct JsonReader {
  Arena *arena;
  Source *src;
  Diags *d;
  uint32_t at;
  int depth;
} JsonReader;

static Span span_from(const JsonReader *r, uint32_t from) {
  return (Span){r->src, from, r->at};
}

/* Complains at the current byte. Returns false. */
static bool wanted(JsonReader *r, const char *what) {
  uint32_t end = r->at < r->src->len ? r->at + 1 : r->at;
  Span here = {r->src, r->at, end};
  if (r->at >= r->src->len) diag_add(r->d, D_E920, here, "%s is expected, and the file ends", what);
  else diag_add(r->d, D_E920, here, "%s is expected here", what);
  return false;
}

/* Returns NUL at the end; no caller expects a NUL. */
static char peek(const JsonReader *r) {
  return r->at < r->src->len ? r->src->bytes[r->at] : '\0';
}

static void blanks(JsonReader *r) {
  while (r->at < r->src->len && strchr(" \t\r\n", r->src->bytes[r->at]) && r->src->bytes[r->at]) r->at++;
}

static bool take(JsonReader *r, char c) {
  blanks(r);
  if (peek(r) != c) return false;
  r->at++;
  return true;
}

/* ---- strings -------------------------------------------------------------------------------- */

static bool hex4(JsonReader *r, uint32_t *out) {
  *out = 0;
  for (int i = 0; i < 4; i++, r->at++) {
    const char *digits = "0123456789abcdefABCDEF", *found = peek(r) ? strchr(digits, peek(r)) : NULL;
    if (!found) return wanted(r, "a hexadecimal digit");
    uint32_t v = (uint32_t)(found - digits);
    *out = *out * 16 + (v < 16 ? v : v - 6);
  }
  return true;
}

static void utf8_add(Buf *b, uint32_t c) {
  if (c < 0x80) {
    buf_char(b, (char)c);
    return;
  }
  int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
  static const unsigned first[] = {0, 0xC0, 0xE0, 0xF0};
  buf_char(b, (char)(first[more] | c >> 6 * more));
  while (more-- > 0) buf_char(b, (char)(0x80 | (c >> 6 * more & 0x3F)));
}

/* Reads after `\u`; a high surrogate must be followed by a low one. */
static bool escape_code(JsonReader *r, Buf *b) {
  uint32_t c, low;
  if (!hex4(r, &c)) return false;
  if (c >= 0xD800 && c < 0xDC00) {
    if (peek(r) != '\\' || r->src->bytes[r->at + 1] != 'u') return wanted(r, "the second half of a surrogate pair");
    r->at += 2;
    if (!hex4(r, &low)) return false;
    if (low < 0xDC00 || low > 0xDFFF) return wanted(r, "the second half of a surrogate pair");
    c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
  } else if (c == 0 || (c >= 0xDC00 && c <= 0xDFFF))
    return wanted(r, "a character");
  utf8_add(b, c);
  return true;
}

static bool escape(JsonReader *r, Buf *b) {
  static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
  char c = peek(r);
  const char *found = c ? strchr(from, c) : NULL;
  if (c != 'u' && !found) return wanted(r, "one of \" \\ / b f n r t u");
  r->at++;
  if (c == 'u') return escape_code(r, b);
  buf_char(b, to[found - from]);
  return true;
}

/* Reads after the opening quote. */
static bool string(JsonReader *r, const char **out) {
  Buf b = buf_new(r->arena);
  for (;;) {
    uint32_t c;
    size_t n = utf8_read(r->src->bytes + r->at, r->src->len - r->at, &c);
    if (!n || c < 0x20) return wanted(r, r->at < r->src->len && !n ? "UTF-8" : "a string's end");
    r->at += (uint32_t)n;
    if (c == '"') break;
    if (c != '\\') buf_add(&b, r->src->bytes + r->at - n, n);
    else if (!escape(r, &b)) return false;
  }
  *out = b.s;
  return true;
}

/* ---- numbers -------------------------------------------------------------------------------- */

static bool digits(JsonReader *r) {
  if (peek(r) < '0' || peek(r) > '9') return wanted(r, "a digit");
  while (peek(r) >= '0' && peek(r) <= '9') r->at++;
  return true;
}

static bool number(JsonReader *r, JsonValue *v) {
  uint32_t from = r->at;
  const char *text = r->src->bytes + from;
  bool whole = true;
  if (peek(r) == '-') r->at++;
  if (peek(r) == '0') r->at++;
  else if (!digits(r)) return false;
  if (peek(r) == '.') {
    whole = false, r->at++;
    if (!digits(r)) return false;
  }
  if (peek(r) == 'e' || peek(r) == 'E') {
    whole = false, r->at++;
    if (peek(r) == '+' || peek(r) == '-') r->at++;
    if (!digits(r)) return false;
  }
  v->kind = JSON_NUMBER;
  v->whole = whole && int64_read(text, r->at - from, &v->integer);
  if (double_read(text, r->at - from, &v->number)) return true;
  diag_add(r->d, D_E920, span_from(r, from), "this number is too large");
  return false;
}

/* ---- values --------------------------------------------------------------------------------- */

static JsonValue *value(JsonReader *r);

static bool member(JsonReader *r, JsonValue *v) {
  JsonMember m = {0};
  blanks(r);
  uint32_t from = r->at;
  if (!take(r, '"')) return wanted(r, "a name in double quotes");
  if (!string(r, &m.name)) return false;
  m.span = span_from(r, from);
  for (uint32_t i = 0; i < v->members.len; i++) {
    if (strcmp(v->members.at[i].name, m.name) != 0) continue;
    Diag *g = diag_add(r->d, D_E920, m.span, "the name %s stands twice", m.name);
    diag_at(r->d, g, v->members.at[i].span, "here first");
    return false;
  }
  if (!take(r, ':')) return wanted(r, "`:`");
  m.value = value(r);
  if (m.value) vec_push(r->arena, v->members, m);
  return m.value != NULL;
}

static bool item(JsonReader *r, JsonValue *v) {
  JsonValue *x = value(r);
  if (x) vec_push(r->arena, v->items, x);
  return x != NULL;
}

/* Reads after the opening bracket. */
static bool list(JsonReader *r, JsonValue *v, char close, bool (*one)(JsonReader *, JsonValue *)) {
  if (take(r, close)) return true;
  if (++r->depth > DEEP_MOST) return wanted(r, "no deeper nesting");
  do
    if (!one(r, v)) return false;
  while (take(r, ','));
  r->depth--;
  return take(r, close) || wanted(r, close == '}' ? "`,` or `}`" : "`,` or `]`");
}

static bool word(JsonReader *r, const char *text) {
  size_t n = strlen(text);
  if (r->src->len - r->at < n || memcmp(r->src->bytes + r->at, text, n) != 0) return false;
  r->at += (uint32_t)n;
  return true;
}

static bool value_read(JsonReader *r, JsonValue *v) {
  static const struct { const char *text; JsonKind kind; } words[] = {
    {"null", JSON_NULL}, {"false", JSON_FALSE}, {"true", JSON_TRUE}};
  char c = peek(r);
  for (size_t k = 0; k < COUNT(words); k++)
    if (word(r, words[k].text)) return v->kind = words[k].kind, true;
  if (c == '-' || (c >= '0' && c <= '9')) return number(r, v);
  if (c == '"') return r->at++, v->kind = JSON_STRING, string(r, &v->text);
  if (c == '{') return r->at++, v->kind = JSON_OBJECT, list(r, v, '}', member);
  if (c == '[') return r->at++, v->kind = JSON_ARRAY, list(r, v, ']', item);
  return wanted(r, "a value");
}

static JsonValue *value(JsonReader *r) {
  JsonValue *v = NEW(r->arena, JsonValue);
  blanks(r);
  uint32_t from = r->at;
  if (!value_read(r, v)) return NULL;
  v->span = span_from(r, from);
  return v;
}

JsonValue *json_read(Arena *a, Source *src, Diags *d) {
  JsonReader r = {.arena = a, .src = src, .d = d};
  JsonValue *v = value(&r);
  blanks(&r);
  if (v && r.at < src->len) return wanted(&r, "the end of the file"), NULL;
  return v;
}

/* ---- looking -------------------------------------------------------------------------------- */

const JsonValue *json_member(const JsonValue *object, const char *name) {
  for (uint32_t i = 0; object && i < object->members.len; i++)
    if (strcmp(object->members.at[i].name, name) == 0) return object->members.at[i].value;
  return NULL;
}

const char *json_kind_name(JsonKind k) {
  static const char *const names[] = {"null", "false", "true", "a number", "a string", "an array", "an object"};
  return names[k];
}
