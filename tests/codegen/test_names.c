/* Unit tests of codegen/names: identifiers out of anything, scopes, prefixes, strings. */
#include <string.h>

#include "expr/expr.h"
#include "loop/names.h"
#include "../tap.h"

static Strings *strings;

static void one(const char *name, const char *want) {
  OK_STR(c_name(strings, name, strlen(name))->s, want, "a name becomes %s", want);
}

static void test_names(void) {
  one("x", "x");
  one("s'", "s_p");
  one("s''", "s_p_p");
  one("softmax.m", "softmax_m");
  one("λ", "lambda");
  one("Σ", "Sigma");
  one("ς", "finalsigma");
  one("dλx", "d_lambda_x");
  one("α_2", "alpha_2");
  one("名", "u540d");
  one("é1", "u00e9_1");
  one("", "x");
  one("_", "x_");
  one("__a", "x__a");
  one("3d", "x3d");
  one("an odd name", "an_odd_name");
  one("a\"b\\\n*/", "a_b_");
  one("\xff\xfe", "ufffd_ufffd");
  one("while", "while_");
  one("class", "class_");
  one("co_await", "co_await_");
  one("NULL", "NULL_");
  one("exp", "exp_");
  one("gamma", "gamma");
  one("ein", "ein_");
  one("ein_run", "ein_run_");
  one("EIN_API", "EIN_API_");
  OK(c_name(strings, "a\0b", 3) == c_name(strings, "a_b", 3), "a NUL inside is a character like others");
}

/* Whatever the text of an operation calls, no tensor is called. */
static void test_operations(void) {
  for (int op = 0; op < OPS; op++) {
    const char *const text[] = {op_info[op].c_f32, op_info[op].c_f64, op_info[op].c_int};
    for (size_t k = 0; k < COUNT(text); k++)
      for (const char *s = text[k]; s && *s;) {
        size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@");
        if (n && !(*s >= '0' && *s <= '9') && strncmp(s, "ein_", 4))
          OK(c_name(strings, s, n)->len != n, "%s calls %.*s, which is no name", op_info[op].name, (int)n, s);
        s += n ? n : 1;
        if (!n && s[-1] == '$') s++;
      }
  }
}

static void in_scope(CScope *s, const char *name, const char *want) {
  Str got = c_scope_name(s, name ? str_from(strings, name) : NULL, "t");
  OK_STR(got->s, want, "%s in a scope", name ? name : "nothing");
}

static void test_scopes(Arena *a) {
  CScope s = c_scope(a, strings);
  c_scope_take(&s, str_from(strings, "ctx_"));
  in_scope(&s, "x'", "x_p");
  in_scope(&s, "x_p", "x_p_2");
  in_scope(&s, "x'", "x_p_3");
  in_scope(&s, "x_p_2", "x_p_2_2");
  in_scope(&s, "ctx", "ctx__2");
  in_scope(&s, NULL, "t");
  in_scope(&s, "", "t_2");
  in_scope(&s, "t", "t_3");
  CScope many = c_scope(a, strings);
  bool different = true;
  Map seen = map_new(a);
  for (int i = 0; i < 2000; i++) {
    Str n = c_scope_name(&many, str_from(strings, i % 3 ? "k" : "k_7"), "t");
    different &= !map_find(&seen, n);
    map_put(&seen, n, &many);
  }
  OK(different, "two thousand names of a scope are two thousand");
}

static void test_prefixes(void) {
  OK_STR(c_prefix(strings, "a/b/my-net.ein")->s, "my_net", "prefix of a path");
  OK_STR(c_prefix(strings, "x.y.ein")->s, "x_y", "the last ending goes");
  OK_STR(c_prefix(strings, ".ein")->s, "ein_", "a name that is an ending");
  OK_STR(c_prefix(strings, "ein.ein")->s, "ein_", "not the runtime's");
  OK_STR(c_prefix(strings, "math.ein")->s, "math_", "a header of C's keeps its name");
  OK_STR(c_prefix(strings, "sem.ein")->s, "sem_", "sem_destroy is POSIX'");
  OK_STR(c_prefix(strings, "maths.ein")->s, "maths", "a name that is no header's stays");
  OK(c_identifier("att_2"), "an identifier");
  const char *const bad[] = {"", "2a", "_a", "a-b", "while", "ein_x", "ein", "λ", "a b", "math", "pthread"};
  for (size_t i = 0; i < COUNT(bad); i++) OK(!c_identifier(bad[i]), "`%s` is no prefix", bad[i]);
}

static void literal(Arena *a, const char *s, size_t n, const char *want) {
  Buf b = buf_new(a);
  c_string(&b, s, n);
  OK_STR(b.s, want, "string literal %s", want);
}

static void test_strings(Arena *a) {
  literal(a, "a\"\\\n", 4, "\"a\\\"\\\\\\n\"");
  literal(a, "\0011", 2, "\"\\0011\"");
  literal(a, "a\0b", 3, "\"a\\000b\"");
  literal(a, "?\?=", 3, "\"?\\077=\"");
  literal(a, "λ", 2, "\"λ\"");
}

int main(void) {
  Arena *a = arena_new();
  strings = strings_new(a);
  test_names();
  test_operations();
  test_scopes(a);
  test_prefixes();
  test_strings(a);
  arena_free(a);
  return DONE();
}
