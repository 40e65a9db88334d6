/* Unit tests of base: arenas, strings, vectors, maps, buffers, numbers, arithmetic, UTF-8, JSON. */
#include <locale.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "../tap.h"
#include "base/base.h"
#include "base/json.h"
#include "base/utf8.h"

static bool all_zero(const char *p, size_t n) {
  while (n--)
    if (*p++) return false;
  return true;
}

/* What others have written to and given back is zero again, in blocks of all sizes. */
static void test_arena_again(void) {
  bool zero = true;
  for (uint32_t turn = 0; turn < 6; turn++) {
    Arena *a = arena_new();
    for (size_t i = 0, n = 1 + turn; i < 3000; i++, n = n * 7 % 9973) {
      char *p = arena_alloc(a, n);
      zero = zero && all_zero(p, n);
      memset(p, 0xFF, n);
    }
    arena_free(a);
  }
  OK(zero, "arena: zeroed, where another was before");
}

static void test_arena(void) {
  Arena *a = arena_new();
  bool aligned = true, zero = true;
  for (size_t i = 0; i < 5000; i++) {
    size_t n = i % 97;
    char *p = arena_alloc(a, n);
    aligned = aligned && (uintptr_t)p % 16 == 0;
    zero = zero && all_zero(p, n);
    memset(p, 0xFF, n);
  }
  OK(aligned, "arena: aligned to 16");
  OK(zero, "arena: zeroed");
  char *small = arena_alloc(a, 16), *big = arena_alloc(a, (size_t)3 << 20), *next = arena_alloc(a, 16);
  OK(all_zero(big, (size_t)3 << 20), "arena: a large piece is zeroed");
  memset(big, 1, (size_t)3 << 20);
  OK(next > small && next - small <= 64, "arena: a large piece does not give up the block");
  OK_STR(arena_printf(a, "%s-%d", "x", 7), "x-7", "arena_printf");
  char *s = arena_printf(a, "%0*d", 1000, 5);
  OK(strlen(s) == 1000 && s[999] == '5', "arena_printf: long text");
  arena_free(a);
  arena_free(NULL);
}

static void test_strings(void) {
  Arena *a = arena_new();
  Strings *t = strings_new(a);
  Str x = str_from(t, "abc"), e = str_of(t, NULL, 0);
  OK(x == str_of(t, "abcd", 3), "strings: equal text, equal pointer");
  OK(x != str_from(t, "abd") && e == str_from(t, "") && e->len == 0, "strings: others, empty");
  OK(str_of(t, "a\0b", 3) != str_of(t, "a\0c", 3), "strings: NUL inside");
  Str many[3000];
  for (int i = 0; i < 3000; i++) many[i] = strings_printf(t, "name%d", i);
  bool same = true;
  for (int i = 0; i < 3000; i++) same = same && many[i] == strings_printf(t, "name%d", i);
  OK(same && x == str_from(t, "abc"), "strings: the table grows");
  OK_STR(many[77]->s, "name77", "strings: NUL ended");
  arena_free(a);
}

static void test_distance(void) {
  char a[64], b[64];
  memset(a, 'x', sizeof a);
  memset(b, 'x', sizeof b);
  b[30] = 'y';
  OK(str_distance("matmul", 6, "matmlu", 6, 9) == 1, "distance: a swap is one");
  OK(str_distance("sum", 3, "sums", 4, 9) == 1, "distance: a letter more");
  OK(str_distance("sum", 3, "mean", 4, 2) == 2, "distance: not above the limit");
  OK(str_distance(a, 60, b, 60, 3) == 1 && str_distance(a, 61, b, 61, 3) == 3, "distance: of up to 60 letters");
}

static void test_vec_map(void) {
  Arena *a = arena_new();
  VEC(int) v = {0};
  for (int i = 0; i < 1000; i++) vec_push(a, v, i);
  OK(v.len == 1000 && v.at[0] == 0 && vec_last(v) == 999, "vec: push");
  int popped = vec_pop(v);
  OK(popped == 999 && v.len == 999, "vec: pop");
  Map m = map_new(a);
  static int key[2000], val[2000];
  OK(map_find(&m, &key[0]) == NULL, "map: empty");
  bool found = true, order = true;
  for (int i = 0; i < 2000; i++) {
    map_put(&m, &key[i], &val[i]);
    for (int k = i < 40 ? 0 : i; k <= i; k++) found = found && map_find(&m, &key[k]) == &val[k];
  }
  for (uint32_t i = 0; i < m.len; i++) order = order && m.at[i].key == &key[i];
  OK(found && order && m.len == 2000, "map: finds all, in insertion order");
  map_put(&m, &key[5], &val[6]);
  OK(map_find(&m, &key[5]) == &val[6] && m.len == 2000, "map: replaces");
  map_put(&m, NULL, &val[1]);
  OK(map_find(&m, NULL) == &val[1] && map_find(&m, &val[0]) == NULL, "map: NULL is a key; absent");
  arena_free(a);
}

static void test_buf(void) {
  Arena *a = arena_new();
  Buf b = buf_new(a);
  OK_STR(b.s, "", "buf: empty and ended");
  for (int i = 0; i < 100; i++) buf_printf(&b, "%d,", i);
  buf_char(&b, 'x');
  buf_str(&b, "yz");
  buf_add(&b, "123", 2);
  OK(b.len == 295 && strlen(b.s) == b.len, "buf: length");
  OK_STR(b.s + 284, "98,99,xyz12", "buf: text");
  buf_add(&b, b.s, b.len);
  OK(b.len == 590 && memcmp(b.s, b.s + 295, 295) == 0, "buf: added to itself");
  arena_free(a);
}

static const char *printed(Arena *a, double x) {
  Buf b = buf_new(a);
  double_print(&b, x);
  return b.s;
}

static uint64_t bits(double x) {
  uint64_t u;
  memcpy(&u, &x, 8);
  return u;
}

static bool reads(const char *s, double want) {
  double x = -77;
  return double_read(s, strlen(s), &x) && (bits(x) == bits(want) || (isnan(x) && isnan(want)));
}

static void test_double(const char *locale) {
  static const struct { double x; const char *s; } print[] = {
    {0, "0.0"}, {-0.0, "-0.0"}, {1, "1.0"}, {-1.5, "-1.5"}, {0.1, "0.1"}, {1e-30, "1e-30"},
    {1e16, "1e16"}, {1e15, "1000000000000000.0"}, {123456.75, "123456.75"}, {1e-4, "0.0001"},
    {1.25e-5, "1.25e-5"}, {5e-324, "5e-324"}, {1.7976931348623157e308, "1.7976931348623157e308"},
    {2.2250738585072014e-308, "2.2250738585072014e-308"}, {1.0 / 3, "0.3333333333333333"},
    {0.1 + 0.2, "0.30000000000000004"}, {100, "100.0"}, {9007199254740993.0, "9007199254740992.0"},
    {(double)INFINITY, "inf"}, {-(double)INFINITY, "-inf"}, {(double)NAN, "nan"},
  };
  Arena *a = arena_new();
  for (size_t i = 0; i < COUNT(print); i++) {
    OK_STR(printed(a, print[i].x), print[i].s, "double_print %s %s", print[i].s, locale);
    OK(reads(print[i].s, print[i].x), "double_read %s %s", print[i].s, locale);
  }
  OK(reads("1", 1) && reads("1.", 1) && reads(".5", 0.5) && reads("+1E3", 1000), "more forms %s", locale);
  static const char *const bad[] = {"", "-", ".", "e5", "1e", "1e+", "1,5", "0x1p3", " 1", "1 ", "--1",
                                    "1.5.", "infinity", "NaN", "1e999", "1_0"};
  for (size_t i = 0; i < COUNT(bad); i++) {
    double x;
    OK(!double_read(bad[i], strlen(bad[i]), &x), "double_read refuses '%s' %s", bad[i], locale);
  }
  bool same = true;
  uint64_t u = 12345;
  for (int i = 0; i < 20000; i++) {
    u = u * 6364136223846793005u + 1442695040888963407u;
    uint64_t w = u ^ (u >> 29);
    if (i % 4 == 0) w &= 0x800fffffffffffffu; /* below the normal range too */
    double x;
    memcpy(&x, &w, 8);
    same = same && reads(printed(a, x), x);
  }
  OK(same, "random doubles come back %s", locale);
  arena_free(a);
}

static void test_int(void) {
  int64_t x = 0;
  OK(int64_read("9223372036854775807", 19, &x) && x == INT64_MAX, "int64_read: largest");
  OK(int64_read("-9223372036854775808", 20, &x) && x == INT64_MIN, "int64_read: smallest");
  OK(!int64_read("9223372036854775808", 19, &x), "int64_read: too large");
  OK(!int64_read("-9223372036854775809", 20, &x), "int64_read: too small");
  OK(!int64_read("", 0, &x) && !int64_read("-", 1, &x) && !int64_read("1x", 2, &x), "int64_read: no");
  OK(int64_read("0012", 4, &x) && x == 12, "int64_read: leading zeros");
  OK(add_ok(INT64_MAX, 0, &x) && !add_ok(INT64_MAX, 1, &x), "add_ok");
  OK(sub_ok(0, INT64_MAX, &x) && !sub_ok(0, INT64_MIN, &x), "sub_ok");
  OK(mul_ok(1 << 30, 1 << 30, &x) && !mul_ok(INT64_MIN, -1, &x), "mul_ok");
  bool law = true;
  for (int64_t p = -9; p <= 9; p++)
    for (int64_t q = -4; q <= 4; q++)
      if (q) {
        int64_t d = floor_div(p, q), m = floor_mod(p, q);
        law = law && d * q + m == p && (m == 0 || (m < 0) == (q < 0)) && llabs(m) < llabs(q);
      }
  OK(law, "floor_div, floor_mod: p = d*q + m, m with q's sign");
  OK(floor_div(7, 0) == 0 && floor_mod(7, 0) == 0, "by zero");
  OK(floor_div(INT64_MIN, -1) == INT64_MIN && floor_mod(INT64_MIN, -1) == 0, "the one that overflows");
}

static size_t decoded(const char *s, uint32_t *c) {
  return utf8_read(s, strlen(s), c);
}

static void test_utf8(void) {
  uint32_t c = 0;
  OK(decoded("a", &c) == 1 && c == 'a', "utf8: ascii");
  OK(decoded("\xCE\xA3", &c) == 2 && c == 0x3A3, "utf8: two bytes");
  OK(decoded("\xE4\xB8\xAD", &c) == 3 && c == 0x4E2D && utf8_width(c) == 2, "utf8: three, wide");
  OK(decoded("\xF0\x9F\x98\x80", &c) == 4 && c == 0x1F600, "utf8: four");
  OK(decoded("\xCC\x81", &c) == 2 && utf8_width(c) == 0, "utf8: combining");
  static const char *const bad[] = {"\x80", "\xC0\x80", "\xC1\xBF", "\xE0\x80\x80", "\xED\xA0\x80",
                                    "\xF0\x80\x80\x80", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xE4\xB8", ""};
  for (size_t i = 0; i < COUNT(bad); i++) OK(decoded(bad[i], &c) == 0, "utf8: refuses %zu", i);
  OK(utf8_hides(0x202E) && utf8_hides(7) && utf8_hides(0x200B) && !utf8_hides('a'), "utf8_hides");
  const char *s = "a\xE4\xB8\xAD\x80";
  OK(utf8_back(s, 0, 5) == 4 && utf8_back(s, 0, 4) == 1 && utf8_back(s, 0, 1) == 0, "utf8_back");
  OK(utf8_back(s, 0, 0) == 0 && utf8_back(s, 2, 4) == 3, "utf8_back: bounds");
}

static void test_json(void) {
  Arena *a = arena_new();
  Buf b = buf_new(a);
  Json j = json_new(&b);
  json_object(&j, NULL);
  json_array(&j, "empty");
  json_end(&j, ']');
  json_array(&j, "xs");
  json_int(&j, NULL, INT64_MIN);
  json_num(&j, NULL, 0.5);
  json_num(&j, NULL, -(double)INFINITY);
  json_bool(&j, NULL, true);
  json_null(&j, NULL);
  json_end(&j, ']');
  json_str(&j, "s", "a\"\\\n\x01\xff</");
  json_end(&j, '}');
  OK_STR(b.s,
         "{\n  \"empty\": [],\n  \"xs\": [\n    -9223372036854775808,\n    0.5,\n    \"-inf\",\n"
         "    true,\n    null\n  ],\n  \"s\": \"a\\\"\\\\\\n\\u0001\xEF\xBF\xBD<\\/\"\n}\n",
         "json: indented");
  b.len = 0;
  j.compact = true;
  json_array(&j, NULL);
  json_object(&j, NULL);
  json_end(&j, '}');
  json_str(&j, NULL, NULL);
  json_end(&j, ']');
  OK_STR(b.s, "[{},null]\n", "json: compact");
  arena_free(a);
}

int main(void) {
  test_arena();
  test_arena_again();
  test_strings();
  test_distance();
  test_vec_map();
  test_buf();
  test_double("in C");
  test_int();
  test_utf8();
  test_json();
  if (setlocale(LC_ALL, "de_DE.UTF-8") || setlocale(LC_ALL, "fr_FR.UTF-8"))
    test_double("with a decimal comma");
  else
    SKIP("no such locale here", "doubles with a decimal comma");
  return DONE();
}
