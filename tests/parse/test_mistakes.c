/* What mistakes get: for each, where the complaints stand and words that they say. Whole messages
 * are tests/bad's business. */
#include "parsing.h"

#include <stdlib.h>

typedef struct Mistake {
  const char *text;
  const char *want; /* "E001 line:column words|words; E002 ..." in order of place; words in text,
                       notes or hints */
  const char *tree; /* what is left, or NULL: not looked at */
} Mistake;

static const Mistake mistakes[] = {
    /* = and == */
    {"Z[i] == x[i]\ny = 3", "E019 1:6 write `=`", "equation Z[i] x[i]\nequation y 3\n"},
    {"Z = if x = 3 then 1 else 0", "E019 1:10 write `==`", "equation Z (if (== x 3) 1 0)\n"},
    {"a = sum[i where b[i] = c] d", "E019 1:22 write `==`", "equation a (sum[i where (== b[i] c)] d)\n"},
    {"a = x +\nb = 3\nc = 4", "E019 2:3 goes on from the one above", "equation c 4\n"},
    /* other languages' operators */
    {"a = b && c || !d", "E016 1:7 `and`; E016 1:12 `or`; E016 1:15 `not`", "equation a (or (and b c) (not d))\n"},
    {"a = x ** 2", "E016 1:7 x^2", "equation a (^ x 2)\n"},
    {"a[i] += b[i]", "E016 1:6 there is no accumulate", "equation a[i] b[i]\n"},
    {"a := b <> c", "E016 1:3 `=` defines; E016 1:8 `!=`", "equation a (!= b c)\n"},
    {"a = |x|\nb = 1", "E016 1:5 abs(x)", "equation b 1\n"},
    {"a = b − c", "E016 1:7 write `-`", "equation a (- b c)\n"},
    /* comparisons, not */
    {"a = sum[i where 0 <= i < n] x[i]", "E008 1:24 0 <= i and i < n|the first comparison", NULL},
    {"a = x < y == z", "E008 1:11 x < y and y == z", NULL},
    {"a = b * not c", "E023 1:9 parentheses", NULL},
    {"a = -not c", "E023 1:6 parentheses", NULL},
    /* brackets */
    {"Z[i,k] = sum[j X[i,j] * Y[j,k]\nb = 3", "E006 1:13 perhaps before this", "equation b 3\n"},
    {"a = foo(b, c\nd = 3", "E006 1:8 the next statement begins here", "equation d 3\n"},
    {"a = f(x,\n  output b = 3", "E006 1:6 never closed", "equation output b 3\n"},
    {"a = f(x", "E006 1:6 the file ends", ""},
    {"repeat t < 3 {\n a = 3", "E006 1:14 the file ends", "repeat t 3 {\n  equation a 3\n"},
    {"repeat t < 3 {\n  a = 3\noutput b = 1", "E006 1:14 the next statement begins here",
        "repeat t 3 {\n  equation a 3\nequation output b 1\n"},
    {"def f(x) {\n  a = x\n  a\ninput X[3]", "E006 1:10 the next statement", NULL},
    {"repeat t < 3 {\na = 3\noutput b = 1\n}", "E022 3:1 output x", "repeat t 3 {\n  equation a 3\n"},
    {"Y =\n\n# end\n\n", "E001 1:3 the file ends behind this", ""},
    {"a = (b]\nc = 1", "E006 1:7 opened here", "equation c 1\n"},
    {"a = b }\nc = 1", "E006 1:7 closes nothing", "equation a b\nequation c 1\n"},
    {"a = )\nc = 1", "E006 1:5 closes nothing", "equation c 1\n"},
    {"a = x[i j]", "E001 1:9 commas|[(i j)]", "equation a x[i j]\n"},
    {"a = f(x y) + g(u v)", "E001 1:9 f(a, b); E001 1:18 f(a, b)", "equation a (+ (f x y) (g u v))\n"},
    {"a = A[i][j]", "E001 1:9 A[i,j]", ""},
    {"a = sum[] x", "E001 1:9 sum[k] e", ""},
    {"a = x[]", "E001 1:7 without brackets: `x`", ""},
    {"a = x[1:3]", "E001 1:8 no slices", ""},
    {"a = (x * y)[i]", "E020 1:13 (...)[j = e]", NULL},
    {"a = x[i = 3, j]", "E020 1:14 a substitution|leave `j` out", NULL},
    {"c[i=3] = 4", "E020 1:3 the left of an equation", NULL},
    {"c[0] = 4", "E020 1:3 all elements at once", NULL},
    {"a = sum[2*i] x", "E020 1:9 not a label", NULL},
    {"input X[(i j)]", "E020 1:9 sizes", NULL},
    /* words */
    {"a = x[i, state]", "E017 1:10 cannot name", "equation a x[i state]\n"},
    {"dim pi = 3", "E017 1:5 cannot name", "dim pi=3\n"},
    {"a = x[i, where]", "E017 1:10 cannot name", NULL},
    {"input X[max:3] : i8\nY = sum[max] X[max]\noutput next = Y", "E017 1:9 max_; E017 3:8 next_",
        "input X[max:3] : i8\nequation Y (sum[max] X[max])\nequation output next Y\n"},
    {"Y = sum[max] x[max]; Z = max[j] y[j]", "E017 1:9 cannot name",
        "equation Y (sum[max] x[max])\nequation Z (max[j] y[j])\n"},
    {"input X[inf:4]\nY[inf] = X[inf]", "E017 1:9 inf_", "input X[inf:4]\nequation Y[inf] X[inf]\n"},
    {"a = x[inf] + sum[i, pi] x", "E017 1:21 pi_", "equation a (+ x[inf] (sum[i pi] x))\n"},
    {"dim state N = 3\na = x[then i]", "E017 1:5 leave it out; E017 2:7 leave it out", "dim N=3\nequation a x[i]\n"},
    {"repeat t < 3\n  a = 1\n  next b = 2\n}\nc = 1", "E001 1:13 begins with `{`",
        "repeat t 3 {\n  equation a 1\n  next b 2\nequation c 1\n"},
    {"repeat t < 3 {\n  a = 1\n]\noutput b = 1\noutput c = 1", "E006 1:14 next statement; E006 3:1 closes nothing",
        "repeat t 3 {\n  equation a 1\nequation output b 1\nequation output c 1\n"},
    {"a = b } c", "E006 1:7 closes nothing", "equation a b\n"},
    {"input f32 : f32\na = f32 + f32(1)", "E017 1:7 f32_", "input f32 : f32\nequation a (+ f32 (f32 1))\n"},
    {"input f32 X[i:4]\na = 1", "E017 1:7 `X[i:4] : f32`", "input X[i:4]\nequation a 1\n"},
    {"all[i:3] = i\na = all[1]", "E017 1:1 all_", "equation all[i:3] i\nequation a all[1]\n"},
    {"state = 3\nx = state", "E017 1:1 state_", "equation state 3\nequation x state\n"},
    {"input[i] = 3\na = 1", "E017 1:1 input_", "equation a 1\n"},
    {"e\xCC\x81 = 1\nb = e\xCC\x81 + e\xCC\x81", "E018 1:1 nfc", NULL},
    {"a = sum[where p] x", "E001 1:9 sum[i where p]", ""},
    {"for i in 1 { x = 3 }\ny = 2", "E001 1:5 repeat t < T", "equation y 2\n"},
    {"let x = 3", "E001 1:5 needs no `let`", ""},
    {"return x", "E001 1:8 last line of its block", ""},
    {"a = if b then c elif d then e else f", "E001 1:17 else if", ""},
    {"repeat i in 10 { }", "E001 1:10 repeat t < T", ""},
    {"sum[i] x", "E001 1:1 output y", ""},
    /* something missing */
    {"a = if b then c", "E001 1:16 the line ends too early|else", ""},
    {"a = if b c else d", "E001 1:10 `then c`", "equation a (if b c d)\n"},
    {"a = if b then f(c) 2 * d", "E001 1:20 `else 2`", "equation a (if b (f c) (* 2 d))\n"},
    {"a = if b c then d else e", "E001 1:10 b * c", ""},
    {"a = if b\nc = 1", "E001 1:9 too early|then", "equation c 1\n"},
    {"assert x > 3", "E001 1:13 `assert x > 3, \"...\"`", ""},
    {"assert x > 3 \"text\"", "E001 1:14 `assert x > 3, \"text\"`", "assert \"text\" (> x 3)\n"},
    {"assert(x > 3, \"text\")", "E001 1:13 no function", ""},
    {"monoid m(a, b) = a + b", "E001 1:23 identity 0", ""},
    {"output Z[i]", "E001 1:12 `output Z`", ""},
    {"input X[3] f32", "E001 1:12 : f32", "input X[3] : f32\n"},
    {"dim N = 3 M = 4", "E001 1:11 `3, M`", "dim N=3 M=4\n"},
    {"dim N 4, M", "E001 1:7 `N = 4`", "dim N=4 M\n"},
    {"input X[3] Y[4] : i8", "E001 1:12 `X[3], Y`", "input X[3] Y[4] : i8\n"},
    {"def half x = x / 2", "E001 1:10 `def half(x) = ...`", ""},
    {"def mix[j] a b = a", "E001 1:12 `def mix[j](a, b) = ...`", ""},
    {"Y[i] 2 * x[i]", "E001 1:6 `Y[i] = 2 * x[i]`", ""},
    {"Y[i] * 2", "E001 1:6 `output y = Y[i] * 2`", ""},
    {"Y", "E001 1:2 `output Y`", ""},
    {"a = 3 x", "E001 1:7 3 * x", ""},
    {"a = sum[i] X[i] Y[i, f(2)]", "E001 1:17 `X[i] * Y[i, f(2)]`", ""},
    {"a = f(1)[i=2] (b)", "E001 1:9", ""},
    {"a = (b) sum[i] c[i]", "E001 1:9 `(b) * sum[i] c[i]`", ""},
    {"a = exp X[i]", "E001 1:9 `exp(X[i])`", ""},
    {"monoid m(a, b) = a + b identity 0\ny = m[i] X[i]", "E001 2:10 `m[i](X[i])`", NULL},
    {"y = softmax[j] X[j]", "E001 1:16 `softmax[j] * X[j]`|`softmax[j](X[j])`", ""},
    {"a = +x[i] * 2", "E001 1:5 `x[i]`", "equation a (* x[i] 2)\n"},
    {"a = f(+1, 2 * +b)", "E001 1:7 `1`; E001 1:15 `b`", "equation a (f 1 (* 2 b))\n"},
    {"input X[i:4] // data\na = 1", "E001 1:14 begins with `#`", "input X[i:4]\nequation a 1\n"},
    {"a = 1\n// it is one\nb = 2", "E001 2:1 begins with `#`", "equation b 2\n"},
    {"/* it */\nb = 2", "E001 1:1", "equation b 2\n"},
    {"y = sum[i] x[i] where x[i] > 0\nb = 2", "E001 1:17 `sum[i where x[i] > 0] x[i]`", "equation b 2\n"},
    {"y = sum[i where i > 2] x[i] where x[i] > 0", "E001 1:29 `sum[i where i > 2 and x[i] > 0] x[i]`", ""},
    {"Y[i where i > 0] = X[i]", "E001 1:5 `Y[i] = if i > 0 then X[i] else 0`", ""},
    {"Y[i] = X[i where i > 2] + 1", "E001 1:12 `if i > 2 then X[i] else 0`", ""},
    {"a = sum x", "E001 1:9 sum[k] e", ""},
    {"a = count[i] x[i]", "E001 1:14 takes no expression", ""},
    {"a = x +\noutput b = 3", "E001 2:1 ends with `+`", "equation output b 3\n"},
    {"a = b\n  - c", "E015 2:3 the line above", "equation a (- b c)\n"},
    {"def f(x) {\n y = x\n -y\n}\na = 1", "E015 3:2 (-y)", "equation a 1\n"},
    {"def f(x) {\n y = x\n + y * 2 # so\n}", "E015 3:2 `y * 2`", ""},
    /* blocks */
    {"def f(x) { a = x }", "E001 1:18 has no value", ""},
    {"def f(x) {\n a\n b\n}", "E001 3:2 only the last line|the value ends", NULL},
    {"def f[j](x): x", "E001 1:12 def f(x) = e", ""},
    {"def f(x):\n  y = 2 * x\n  return y\na = 1", "E001 1:9 def f(x) = e", "equation a 1\n"},
    {"state x = 3", "E022 1:1 outside of any `repeat`", ""},
    {"repeat t < 3 {\n  input X[3] : f32\n  y = 3\n  next q = = 3\n  z = 4\n}\nw = 1",
        "E022 2:3 holds; E001 4:12 expression", "repeat t 3 {\n  equation y 3\n  equation z 4\nequation w 1\n"},
    {"def f(x) {\n  dim N = 3\n  x + +\n  }\na = 1", "E022 2:3 def; E001 3:7", "equation a 1\n"},
    {"a = 1;; b = 2", "E001 1:7 one is enough", "equation a 1\nequation b 2\n"},
    {"a = 1; b = ; c = 3\nd = = 4\ne = 5", "E001 1:12 expression; E001 2:5 expression",
        "equation a 1\nequation c 3\nequation e 5\n"},
    /* calls */
    {"a = f(max(), size(3), grad(x), all())",
        "E021 1:7 max[k]; E021 1:14 size(j); E021 1:23 grad(loss; E021 1:32 all[k]", NULL},
    {"a = \"text\"", "E001 1:5 `use`, `assert`", ""},
    {"a = {1, 2}", "E001 1:5 square brackets", ""},
    /* characters and numbers */
    {"a = 12abc + 0x1F", "E004 1:5 12 * abc; E004 1:13 decimal", NULL},
    {"a = 1. + .5", "E004 1:5 1.0; E004 1:10 0.5", NULL},
    {"a = 99999999999999999999", "E004 1:5 too large", NULL},
    {"a = 1 - 9223372036854775808", "E004 1:9 too large", NULL},
    {"a = -9223372036854775808 ^ 2", "E004 1:6 too large", NULL},
    {"a = 1e999", "E004 1:5 f64", NULL},
    {"use \"abc\ndim N = 3", "E005 1:5 close it", "use \"abc\"\ndim N=3\n"},
    {"a = x @ y\nb = 1", "E002 1:7 sum[k] A[i,k]", "equation b 1\n"},
    {"a = x.T\nb = 'x'\nc = Σ'", "E002 1:6 a transpose; E002 2:5 120; E002 3:5 no prime", ""},
    {"a = 1\xff\xfe + 2\n# \xc0\xaf\nb = \"\xed\xa0\x80\"", "E003 1:6 iconv; E003 2:3; E001 3:5; E003 3:6", NULL},
    {"# \xE2\x80\xAE x\nuse \"\xE2\x81\xA6\"\na = \xE2\x80\x8F"
     "1",
        "E014 1:3 an override; E014 2:6 an isolate; E014 3:5 a mark", NULL},
    {"a = 1\rb = 2\rc = 3\n", "E002 1:6 carriage return", "equation a 1\nequation b 2\nequation c 3\n"},
    {"use \xE2\x80\x9Cnn.ein\xE2\x80\x9D", "E002 1:5 `\"nn.ein\"`", ""},
    {"use nn.ein", "E002 1:7 `use nn`|`use \"nn.ein\"`", ""},
    {"a = x @ y @ z.T + 2b\nb = 1", "E002 1:7", "equation b 1\n"},
    {"a = 1\n\xEF\xBB\xBF"
     "b = 2",
        "E002 2:1 U+FEFF", NULL},
    {"e\xCC\x81[i] = 1\nb = \xE2\x84\xAA", "E018 1:1 U+0301|nfc; E018 2:5 U+212A", NULL},
};

static bool says(const Diag *g, const char *word, size_t n) {
  for (uint32_t i = 0; i < g->spans.len + g->hints.len + 1; i++) {
    const char *s = i == 0              ? g->text
                    : i <= g->spans.len ? g->spans.at[i - 1].note
                                        : g->hints.at[i - 1 - g->spans.len];
    if (s && n && memmem(s, strlen(s), word, n)) return true;
  }
  return n == 0;
}

/* One complaint against "E001 1:2 words|words"; says why not. */
static bool fits(Parsed *p, const Diag *g, const char *want, size_t n) {
  uint32_t line, column;
  source_place(p->arena, p->src, g->spans.at[0].span.at, &line, &column);
  const char *head = arena_printf(p->arena, "%s %u:%u", diag_info(g->code)->code, line, column);
  size_t k = strlen(head);
  if (n < k || memcmp(want, head, k) != 0 || (n > k && want[k] != ' ')) {
    printf("#   got %s, want %.*s\n", head, (int)n, want);
    return false;
  }
  for (const char *s = want + k, *end = want + n; s < end;) {
    const char *bar = memchr(s, '|', (size_t)(end - s)), *stop = bar ? bar : end;
    if (*s == ' ') s++;
    if (!says(g, s, (size_t)(stop - s))) {
      printf("#   does not say \"%.*s\"\n", (int)(stop - s), s);
      return false;
    }
    s = stop + 1;
  }
  return true;
}

static int by_place(const void *a, const void *b) {
  const Diag *x = *(Diag *const *)a, *y = *(Diag *const *)b;
  uint32_t i = x->spans.at[0].span.at, j = y->spans.at[0].span.at;
  return i < j ? -1 : i > j;
}

static bool all_fit(Parsed *p, const char *want) {
  Diags *d = p->diags;
  qsort(d->all.at, d->all.len, sizeof d->all.at[0], by_place);
  uint32_t i = 0;
  for (const char *s = want; s && *s; i++) {
    const char *end = strstr(s, "; E");
    size_t n = end ? (size_t)(end - s) : strlen(s);
    if (i >= d->all.len || !fits(p, d->all.at[i], s, n)) return false;
    s = end ? end + 2 : NULL;
  }
  return i == d->all.len;
}

int main(void) {
  for (size_t i = 0; i < COUNT(mistakes); i++) {
    const Mistake *m = &mistakes[i];
    Parsed p = parse_text(m->text, strlen(m->text));
    int head = (int)strcspn(m->text, "\r\n");
    if (!OK(all_fit(&p, m->want), "complaints about: %.*s", head, m->text))
      tap_text("got", complaints_of(&p));
    if (m->tree) OK_STR(tree_of(&p), m->tree, "what is left of: %.*s", head, m->text);
    OK(p.file->broken, "broken");
    arena_free(p.arena);
  }
  return DONE();
}
