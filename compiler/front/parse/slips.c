/* front/parse/slips.c - complaints about characters, names and operators that the language does not have. In:
 * places; out: complaints, and for an operator of another language ours that was meant. */
#include "front/foreign.h"
#include "front/limits.h"
#include "parse.h"

#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool text_is(const Parse *p, Token t, const char *s) {
  size_t n = strlen(s);
  return t.end - t.at == n && memcmp(p->src->bytes + t.at, s, n) == 0;
}

/* ---- files that are no programs --------------------------------------------------------------- */

typedef struct Magic { const char *bytes; uint32_t n; const char *what, *hint; } Magic;

static const char data_hint[] = "data are given to a run: `ein run x.ein X=x.npy`";

static const Magic *magic_find(const Source *src) {
  static const char utf8[] = "programs are UTF-8; `iconv -f utf-16 -t utf-8` converts it";
  static const char graph[] = "`ein run`, `ein check` and `ein graph` read it if its name ends with .graph";
  static const Magic known[] = {
    {"eingraph ", 9, "the text of an EinGraph", graph},
    {"\x93NUMPY", 6, "an array of NumPy", data_hint},
    {"PK\3\4", 4, "a zip archive", NULL},
    {"\x1F\x8B", 2, "compressed by gzip", NULL},
    {"\x7F" "ELF", 4, "machine code", NULL},
    {"\xFF\xFE", 2, "a text in UTF-16", utf8},
    {"\xFE\xFF", 2, "a text in UTF-16", utf8},
  };
  for (size_t i = 0; i < COUNT(known); i++)
    if (src->len >= known[i].n && memcmp(src->bytes, known[i].bytes, known[i].n) == 0) return &known[i];
  return NULL;
}

/* .safetensors: the length of a header, eight bytes, and the header, which is JSON. */
static bool is_tensors(const Source *src) {
  return src->len > 9 && memcmp(src->bytes + 5, "\0\0\0{", 4) == 0;
}

/* More than one in ten of the first bytes is a control character: no editor wrote that. */
static bool is_binary(const Source *src) {
  enum { LOOK = 1000, FEW = 8 };
  uint32_t n = src->len < LOOK ? src->len : LOOK, odd = 0;
  for (uint32_t i = 0; i < n; i++)
    odd += (unsigned char)src->bytes[i] < ' ' && !strchr("\t\n\f\r", src->bytes[i] ? src->bytes[i] : 1);
  return odd > FEW && odd > n / 10;
}

bool complain_no_program(Parse *p) {
  static const Magic other = {"", 0, "binary data", NULL}, tensors = {"", 0, "a file of tensors", data_hint};
  const Magic *m = magic_find(p->src);
  if (!m && is_tensors(p->src)) m = &tensors;
  if (!m && is_binary(p->src)) m = &other;
  if (!m) return false;
  Diag *g = diag_add(p->diags, D_E024, span_at(p, 0, 1), "this file is no program but %s", m->what);
  if (m->hint) diag_hint(p->diags, g, "%s", m->hint);
  return p->wrong.stop = true;
}

/* ---- characters ------------------------------------------------------------------------------ */

typedef struct CharHint { const char *c, *hint; } CharHint;

static const char *char_hint(const char *s, size_t n) {
  static const CharHint known[] = {
      {"'", "a prime stands directly behind its name: `s'`; text is no value, and stands in double quotes"},
      {"\xE2\x80\x9C", "strings are in plain double quotes: \"text\""},
      {"\xE2\x80\x9D", "strings are in plain double quotes: \"text\""},
      {"@", "a product of matrices is `sum[k] A[i,k] * B[k,j]`"},
      {".", "there are no methods or fields; a number has a digit on both sides of its point"},
      {"?", "a choice is `if c then a else b`; a value for where there is none is `x ?? 0`"},
      {"$", "a name is letters, digits and `_`, with primes at its end"},
      {"\\",
       "a statement goes on over lines inside brackets and behind an operator; no sign is needed"},
      {"`", "a name is letters, digits and `_`, with primes at its end"},
      {"~", "`not` negates a condition"},
      {"\xC2\xA0", "this is a no-break space; use a plain one"},
      {"\xE2\x88\x8F", "a product is written `prod[k]`"},
      {"\xE2\x86\x92", "`if c then a else b` chooses; `=` defines"},
      {"\xE2\x88\x9A", "a square root is `sqrt(x)`"},
      {"\xC2\xB2", "a square is `x^2`"},
      {"\xC2\xB3", "a third power is `x^3`"},
      {"\xE2\x81\xBB", "an inverse of a number is `1 / x`"},
      {"\xC3\xB7", "division is `/`"},
      {"\xE2\x80\x93", "write `-`"},
      {"\xE2\x80\x94", "write `-`"},
      {"\xE2\x88\x97", "write `*`"},
      {"\xE2\x80\xA2", "write `*`"},
      {"\xE2\x8A\x99", "`*` multiplies element by element"},
      {"\xE2\x88\x98", "`*` multiplies element by element"},
      {"\xE2\x8A\x97", "an outer product is an equation: `Z[i,j] = x[i] * y[j]`"},
      {"\xE2\x8A\xA4", "a transpose is an equation: `B[j,i] = A[i,j]`"},
      {"\xE2\x80\x96", "a norm is `sqrt(sum[i] x[i]^2)`"},
      {"\xE2\x88\xAB", "an integral is a sum: `sum[i] f[i] * h`"},
      {"\xE2\x88\x87", "a gradient is `grad(loss, x[i])`, of a number with respect to each element"},
      {"\xE2\x88\x82", "a derivative is `grad(loss, x[i])`, of a number with respect to each element"},
      {"\xE2\x88\x80", "an equation is for all its labels already; a condition for all is `all[i] (x[i] > 0)`"},
      {"\xE2\x88\x83", "a condition for some is `any[i] (x[i] > 0)`"},
      {"\xE2\x88\x88", "a label runs over its size, `i:8`; of a tensor's values ask `any[j] (x[i] == y[j])`"},
      {"\xE2\x89\x88", "write `abs(a - b) < 1e-6`"},
      {"\xE2\x89\xA1", "write `==`"},
      {"\xE2\x87\x92", "`if c then a else b` chooses; `=` defines"},
      {"\xE2\x80\xA6", "every label is written, as in `X[i, j]`: none is left out"},
      {"\xE2\x8C\x8A", "write `floor(x)`"},
      {"\xE2\x8C\x88", "write `ceil(x)`"},
  };
  for (size_t i = 0; i < COUNT(known); i++)
    if (strlen(known[i].c) == n && memcmp(known[i].c, s, n) == 0) return known[i].hint;
  return NULL;
}

/* `use nn.ein`: the name is the last token. */
static const char *file_name(const Parse *p, Span at) {
  const char *s = p->src->bytes;
  uint32_t end = at.end;
  Token last = p->at.last;
  if (s[at.at] != '.' || p->stmt.first.kind != TOK_USE || last.kind != TOK_ID || last.end != at.at) return NULL;
  while (end < p->src->len && end - last.at < 60 && (unsigned char)s[end] > ' ' && s[end] != '#') end++;
  const char *name = s + last.at;
  int n = (int)(end - last.at);
  return arena_printf(p->arena, "`use %.*s` reads a file of the standard library, `use \"%.*s\"` one beside this",
                      (int)(at.at - p->at.last.at), name, n, name);
}

/* The length of the word at s; 0: there is none. */
static size_t word_length(const char *s) {
  return strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
}

/* `s` followed by a typographic prime: its form here, with the name before it. */
static const char *prime_hint(const Parse *p, Span at) {
  static const char *const primes[] = {"\xE2\x80\xB2", "\xE2\x80\x99", "\xE2\x80\x98", "\xC2\xB4", "\xE2\x80\xB3"};
  const char *s = p->src->bytes + at.at;
  for (size_t i = 0; i < COUNT(primes); i++) {
    if (strncmp(s, primes[i], strlen(primes[i])) != 0) continue;
    bool named = p->at.last.kind == TOK_ID && p->at.last.end == at.at && p->at.last.end - p->at.last.at < 40;
    return arena_printf(p->arena, "a prime is written `'`: `%.*s%s`", named ? (int)(at.at - p->at.last.at) : 1,
                        named ? p->src->bytes + p->at.last.at : "s", i + 1 == COUNT(primes) ? "''" : "'");
  }
  return NULL;
}

/* `'a'` */
static const char *letter_hint(const Parse *p, Span at) {
  const char *s = p->src->bytes + at.at;
  if (*s != '\'' || s[1] <= ' ' || s[1] > '~' || s[2] != '\'') return NULL;
  return arena_printf(p->arena, "a letter is a number: write `%d`", s[1]);
}

/* `a .gt. b`, `.true.` */
static const char *dotted_hint(const Parse *p, Span at) {
  typedef struct Dotted { const char *word, *ours; } Dotted;
  static const Dotted known[] = {{"gt", ">"}, {"ge", ">="}, {"lt", "<"}, {"le", "<="}, {"eq", "=="}, {"ne", "!="},
    {"and", "and"}, {"or", "or"}, {"not", "not"}, {"true", "true"}, {"false", "false"}};
  const char *s = p->src->bytes + at.at;
  size_t n = *s == '.' ? word_length(s + 1) : 0;
  if (!n || n > 40 || s[1 + n] != '.') return NULL;
  for (size_t i = 0; i < COUNT(known); i++)
    if (strlen(known[i].word) == n && strncasecmp(known[i].word, s + 1, n) == 0)
      return arena_printf(p->arena, "write `%s`", known[i].ours);
  return NULL;
}

/* `np.exp`, `X.sum`, `A.T`, `x .+ y`, `exp.(x)` */
static const char *dot_hint(const Parse *p, Span at) {
  static const char *const modules[] = {"np", "numpy", "math", "cmath", "torch", "jnp", "jax", "tf", "keras", "F", "nn",
                                        "scipy", "sp", "special", "cp", "mx", "random", "linalg", "einops", "xp"};
  const char *s = p->src->bytes, *word = s + at.at + 1, *name = s + p->at.last.at;
  size_t n = word_length(word), m = p->at.last.end - p->at.last.at;
  static const char *const none[FOREIGN_ARGS] = {0};
  bool operator = strchr("+-*/^<>=", *word) && *word;
  if (s[at.at] != '.' || n > 40 || m > 40) return NULL;
  if (operator) return arena_printf(p->arena, "operators work element by element already: `%c`", *word);
  if (p->at.last.end != at.at) return NULL;
  if (*word == '(')
    return arena_printf(p->arena, "functions work element by element already: `%.*s(...)`", (int)m, name);
  if (p->at.last.kind != TOK_ID && p->at.last.kind != TOK_RB) return NULL;
  bool module = false;
  for (size_t i = 0; i < COUNT(modules); i++) module |= strlen(modules[i]) == m && memcmp(modules[i], name, m) == 0;
  const char *constant = foreign_constant(word, n), *ours = foreign_function(word, n);
  Op op;
  Reducer r;
  if (n == 1 && *word == 'T') return "a transpose is an equation: `B[j,i] = A[i,j]`";
  if (module && constant) return constant;
  if (reducer_find(word, n, &r)) return arena_printf(p->arena, "over a label it is `%.*s[j] X[i,j]`", (int)n, word);
  if (ours) return foreign_fill(p->arena, ours, none);
  if (!module && !op_find(word, n, &op)) return NULL;
  return arena_printf(p->arena, "functions stand alone: `%.*s(...)`", (int)n, word);
}

/* `\\frac`, from LaTeX. */
static const char *latex_hint(const Parse *p, Span at) {
  typedef struct Command { const char *word, *hint; } Command;
  static const Command known[] = {
    {"sum", "a sum is `sum[j] X[i,j]`"}, {"prod", "a product is `prod[j] X[i,j]`"}, {"frac", "a quotient is `a / b`"},
    {"cdot", "write `*`"}, {"times", "write `*`"}, {"odot", "write `*`"}, {"sqrt", "a square root is `sqrt(x)`"},
    {"pi", "write `pi`"}, {"infty", "write `inf`"}, {"leq", "write `<=`"}, {"le", "write `<=`"}, {"geq", "write `>=`"},
    {"ge", "write `>=`"}, {"neq", "write `!=`"}, {"ne", "write `!=`"}, {"land", "write `and`"}, {"lor", "write `or`"},
    {"neg", "write `not`"}, {"max", "write `max[j] X[i,j]`"}, {"min", "write `min[j] X[i,j]`"}, {"gets", "write `=`"},
  };
  const char *s = p->src->bytes + at.at;
  size_t n = strspn(s + 1, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
  if (*s != '\\' || !n || n > 40) return NULL;
  for (size_t i = 0; i < COUNT(known); i++)
    if (strlen(known[i].word) == n && memcmp(known[i].word, s + 1, n) == 0) return known[i].hint;
  return arena_printf(p->arena, "commands of LaTeX are not read: write `%.*s`, or the letter itself", (int)n, s + 1);
}

static void bad_char(Parse *p, Span at) {
  const char *s = p->src->bytes + at.at, *hint = char_hint(s, at.end - at.at);
  if (strncmp(s, "...", 3) == 0) at.end = at.at + 3, hint = "every label is written, as in `X[i, j]`: none is left out";
  const char *more[] = {
      file_name(p, at), prime_hint(p, at), latex_hint(p, at), letter_hint(p, at), dotted_hint(p, at)};
  for (size_t i = 0; i < COUNT(more); i++)
    if (more[i]) hint = more[i];
  if (!more[0] && !more[4] && strncmp(s, "...", 3) != 0 && dot_hint(p, at)) hint = dot_hint(p, at);
  uint32_t c = 0;
  utf8_read(s, at.end - at.at, &c);
  Diag *g =
      utf8_hides(c)
          ? diag_add(p->diags, D_E002, at, "no word begins with the character U+%04X", c)
          : diag_add(p->diags, D_E002, at, "no word begins with `%.*s`", (int)(at.end - at.at), s);
  if (hint) diag_hint(p->diags, g, "%s", hint);
}

/* `1_000`, `1_000.5` */
static bool underscored(const char *s, int n) {
  return memchr(s, '_', (size_t)n) && s[n - 1] != '_' && strspn(s, "0123456789_.") >= (size_t)n && s[0] != '_' &&
      s[0] != '.';
}

static const char *without_gaps(const Parse *p, const char *s, int n) {
  Buf b = buf_new(p->arena);
  for (int i = 0; i < n; i++)
    if (s[i] != '_') buf_char(&b, s[i]);
  return b.s;
}

/* `3GB`, `1.5GiB`: the length of the number before a unit of limits.def; 0: there is none. */
static int amount_of(const Parse *p, const char *s, int n) {
  double factor;
  int digits = (int)strspn(s, "0123456789.");
  if (!digits || digits >= n) return 0;
  const char *unit = arena_printf(p->arena, "%.*s", n - digits, s + digits);
  return unit_find(UNIT_BYTES, unit, &factor) || unit_find(UNIT_SECONDS, unit, &factor) ? digits : 0;
}

/* The length of the number at s. */
static int number_length(const char *s, int n) {
  int k = 0;
  while (k < n && s[k] >= '0' && s[k] <= '9') k++;
  if (k + 1 < n && s[k] == '.' && s[k + 1] >= '0' && s[k + 1] <= '9')
    for (k++; k < n && s[k] >= '0' && s[k] <= '9';) k++;
  int e = k;
  if (e < n && (s[e] == 'e' || s[e] == 'E')) e++;
  if (e > k && e < n && (s[e] == '+' || s[e] == '-')) e++;
  if (e == k || e == n || s[e] < '0' || s[e] > '9') return k;
  while (e < n && s[e] >= '0' && s[e] <= '9') e++;
  return e;
}

/* `1.5f`, `10L`, `1d0`, `2.5j`, `0..3`, `0xff`: suffixes of numbers in other languages. */
static const char *glued_hint(const Parse *p, const char *s, int n) {
  typedef struct Suffix { const char *text, *dtype; } Suffix;
  static const Suffix known[] = {{"f", "f32"}, {"F", "f32"}, {"f0", "f32"}, {"f32", "f32"}, {"f64", "f64"},
      {"d", "f64"}, {"D", "f64"}, {"h", "f16"}, {"f16", "f16"}, {"l", "i64"}, {"L", "i64"}, {"ll", "i64"},
      {"LL", "i64"}, {"u", "i64"}, {"U", "i64"}, {"ul", "i64"}, {"UL", "i64"}, {"i64", "i64"},
      {"i32", "i32"}, {"i16", "i16"}, {"i8", "i8"}, {"u8", "u8"}, {"u32", "i64"}, {"u64", "i64"}};
  int k = number_length(s, n), m = n - k;
  const char *rest = s + k;
  bool real = memchr(s, '.', (size_t)k) != NULL;
  char *end = NULL;
  if (k == 1 && *s == '0' && m > 1 && (*rest == 'x' || *rest == 'X')) {
    unsigned long long v = strtoull(s, &end, 16);
    return end == s + n ? arena_printf(p->arena, "numbers are decimal: `%llu`", v) : "numbers are decimal";
  }
  if (k == 1 && *s == '0' && m > 1 && (*rest == 'b' || *rest == 'o')) return "numbers are decimal";
  if (m > 2 && rest[0] == '.' && rest[1] == '.')
    return arena_printf(p->arena, "a label runs from 0 to its size: `i:%.*s`", m - 2, rest + 2);
  if (m > 1 && *rest == '.' && (rest[1] == 'e' || rest[1] == 'E'))
    return arena_printf(p->arena, "a digit follows the point: `%.*s.0%.*s`", k, s, m - 1, rest + 1);
  if (m > 1 && (*rest == 'd' || *rest == 'D') && strspn(rest + 1, "0123456789+-") >= (size_t)(m - 1))
    return arena_printf(p->arena, "a power of ten stands behind `e`: `%.*se%.*s`", k, s, m - 1, rest + 1);
  if (m == 1 && (*rest == 'e' || *rest == 'E'))
    return arena_printf(p->arena, "the power of ten follows the `e`: `%.*se0`", k, s);
  if ((m == 2 && memcmp(rest, "im", 2) == 0) || (m == 1 && (*rest == 'j' || (real && *rest == 'i'))))
    return "there are no complex numbers: take two tensors";
  bool power = (memchr(s, 'e', (size_t)k) || memchr(s, 'E', (size_t)k)) && m > 1 && *rest == '.';
  if (power && strspn(rest + 1, "0123456789") == (size_t)(m - 1)) {
    int e = (int)strcspn(s, "eE");
    return arena_printf(p->arena, "the power of ten is a whole number; others are written `%.*s * 10^%.*s`", e, s,
        n - e - 1, s + e + 1);
  }
  for (size_t i = 0; i < COUNT(known); i++)
    if (k && (int)strlen(known[i].text) == m && memcmp(known[i].text, rest, (size_t)m) == 0)
      return arena_printf(p->arena, "numbers have no suffix: write `%.*s`, or with a dtype `%s(%.*s)`", k, s,
                          real && known[i].dtype[0] == 'i' ? "f64" : known[i].dtype, k, s);
  return NULL;
}

static void bad_number(Parse *p, Span at) {
  const char *s = p->src->bytes + at.at;
  int n = (int)(at.end - at.at < 40 ? at.end - at.at : 40), digits = 0;
  while (digits < n && s[digits] >= '0' && s[digits] <= '9') digits++;
  Diag *g = diag_add(p->diags, D_E004, at, "`%.*s` is not a number", n, s);
  bool dot = digits < n && s[digits] == '.',
       named = !dot && digits && n - digits == 1 && *s != '0' && !strchr("eE", s[digits]);
  int amount = p->stmt.first.kind == TOK_ASSERT ? amount_of(p, s, n) : 0; /* of an assert about a plan */
  const char *glued = amount ? NULL : glued_hint(p, s, n);
  if (glued) diag_hint(p->diags, g, "%s", glued);
  if (glued && !named) return;
  if (underscored(s, n))
    diag_hint(p->diags, g, "digits are written without gaps: `%s`", without_gaps(p, s, n));
  else if (digits == 0)
    diag_hint(p->diags, g, "a digit comes first: `0%.*s`", n, s);
  else if (dot && digits + 1 == n)
    diag_hint(p->diags, g, "a digit follows the point: `%.*s0`", n, s);
  else if (amount > 0)
    diag_hint(p->diags, g, "a unit stands apart: `%.*s %.*s`", amount, s, n - amount, s + amount);
  else if (!dot && at.end - at.at < 40)
    diag_hint(p->diags, g, "a product is written `%.*s * %.*s`", digits, s, n - digits, s + digits);
}

static const char *bidi_name(const char *s) {
  uint32_t c = 0;
  utf8_read(s, 3, &c);
  switch (c) {
  case 0x202A: case 0x202B: return "an embedding";
  case 0x202D: case 0x202E: return "an override";
  case 0x2066: case 0x2067: case 0x2068: return "an isolate";
  case 0x202C: case 0x2069: return "the end of an embedding, override or isolate";
  default: return "a mark";
  }
}

void complain_fault(Parse *p, Fault f, uint32_t at, uint32_t end) {
  Span s = span_at(p, at, end);
  Diag *g;
  switch (f) {
  case FAULT_UTF8:
    g = diag_add(p->diags, D_E003, s, "this is not UTF-8");
    diag_hint(p->diags, g, "programs are UTF-8; `iconv -f latin1 -t utf-8` converts an older file");
    break;
  case FAULT_CHAR: bad_char(p, s); break;
  case FAULT_NUL: diag_add(p->diags, D_E002, s, "a NUL byte: is this a text file?"); break;
  case FAULT_CR:
    g = diag_add(p->diags, D_E002, s, "a carriage return without a line feed");
    diag_hint(p->diags, g, "lines end with LF or CR LF");
    break;
  case FAULT_BOM:
    diag_add(p->diags, D_E002, s, "a byte order mark (U+FEFF), which may only begin the file");
    break;
  case FAULT_BIDI:
    g = diag_add(p->diags, D_E014, s, "%s of the direction of writing is hidden here",
                 bidi_name(p->src->bytes + at));
    diag_hint(p->diags, g, "take it out: with it, the program looks other than it is");
    break;
  case FAULT_NUMBER: bad_number(p, s); break;
  case FAULT_STRING:
    g = diag_add(p->diags, D_E005, span_at(p, at, at + 1), "this string does not end on its line");
    diag_hint(p->diags, g, "close it with `\"`; there are no strings of several lines");
    break;
  case FAULT_QUOTES: {
    const char *text = p->src->bytes + at + 3;
    int n = (int)(end - at - 3), close = text[n - 1] == '"' ? 1 : 3;
    g = diag_add(p->diags, D_E002, s, "strings are in plain double quotes");
    if (n < 60) diag_hint(p->diags, g, "write `\"%.*s\"`", n - close, text);
    break;
  }
  case FAULT_SIGN_PRIME:
    g = diag_add(p->diags, D_E002, s, "`%.*s`: a sign takes no prime", (int)(end - at),
                 p->src->bytes + at);
    diag_hint(p->diags, g, "the signs for sum, pi and inf are never labels");
    break;
  }
}

bool misnamed(Parse *p, Token t, bool add) {
  Str name = str_of(p->strings, p->src->bytes + t.at, t.end - t.at);
  if (map_find(&p->wrong.misnamed, name)) return true;
  if (!add) return false;
  map_put(&p->wrong.misnamed, name, p);
  vec_push(p->arena, p->file->lost, name);
  return false;
}

void complain_name(Parse *p, Token t, uint32_t at, uint32_t size) {
  uint32_t c = 0;
  utf8_read(p->src->bytes + at, size, &c);
  Diag *g = diag_add(p->diags, D_E018, span_at(p, t.at, t.end),
                     "this name is not in Unicode's normal form C (U+%04X)", c);
  diag_hint(p->diags, g,
            "write accented letters as one character: in an editor by typing them anew, for a file "
            "by `uconv -x nfc`");
}

/* ---- operators of other languages ------------------------------------------------------------ */

typedef struct SlipInfo { const char *text; int meant; const char *hint; } SlipInfo;
#define NO_ACCUMULATE                                                                           \
  "`=` defines, once: there is no accumulate; add up with `sum[k] ...`, change over time with " \
  "`repeat`"

static const SlipInfo *slip_find(const Parse *p, Token t) {
  static const SlipInfo slips[] = {
    {"&&", TOK_AND, "write `and`"},
    {"&", TOK_AND, "write `and`; nothing works on bits, and the lowest is `x % 2`"},
    {"\xE2\x88\xA7", TOK_AND, "write `and`"},
    {"||", TOK_OR, "write `or`"},
    {"|", TOK_OR, "write `or`; an absolute value is `abs(x)`"},
    {"\xE2\x88\xA8", TOK_OR, "write `or`"},
    {"!", TOK_NOT, "write `not`"},
    {"\xC2\xAC", TOK_NOT, "write `not`"},
    {"**", TOK_CARET, "a power is `x^2`"},
    {"\xE2\x88\x92", TOK_MINUS, "write `-`"},
    {"<>", TOK_NE, "write `!=`"},
    {"!==", TOK_NE, "write `!=`"},
    {"===", TOK_EQ, "write `==`"},
    {"=>", TOK_GE, "at least is `>=`"},
    {":=", TOK_ASSIGN, "`=` defines"},
    {"->", TOK_BAD, "an equation says it: `Z[i,k] = sum[j] A[i,j] * B[j,k]`"},
    {"+=", TOK_ASSIGN, NO_ACCUMULATE},
  };
  for (size_t i = 0; i < COUNT(slips); i++)
    if (text_is(p, t, slips[i].text)) return &slips[i];
  return &slips[COUNT(slips) - 1];
}

/* `|x|`, `x |> f`, `n!`, `f = x -> e`: what the sign means there. */
static const char *slip_hint(const Parse *p, Token t) {
  const char *s = p->src->bytes + t.end, *line = s + strcspn(s, "\n#"), *bar = memchr(s, '|', (size_t)(line - s));
  bool behind = p->at.last_ends, one = t.end - t.at == 1;
  while (line > s && line[-1] == ' ') line--;
  bool label = one && s[-1] == '|' && p->at.last.kind == TOK_ID && p->open.len && vec_last(p->open).kind == TOK_LB;
  if (label && grammar_accepts(p->grammar, TOK_WHERE))
    return arena_printf(p->arena, "a condition stands behind `where`: `%.*s where p]`",
        (int)(p->at.last.end - vec_last(p->open).operand.at), p->src->bytes + vec_last(p->open).operand.at);
  if (one && s[-1] == '|' && *s == '>') return "a function is called: `exp(x)`";
  if (one && s[-1] == '|' && !behind && bar && bar - s < 40)
    return arena_printf(p->arena, "an absolute value is `abs(%.*s)`", (int)(bar - s), s);
  if (t.end - t.at == 2 && s[-1] == '|' && !behind) return "a norm is the root of a sum, `sqrt(sum[i] x[i]^2)`";
  bool fresh = !p->stmt.tokens || (p->at.newline && behind && !p->open.len);
  if (one && s[-1] == '!' && fresh) return "a comment begins with `#`";
  if (one && s[-1] == '!' && behind) return "a factorial is `exp(lgamma(n + 1))`";
  Token last = p->at.last, first = p->stmt.first;
  bool arrow = t.end - t.at == 2 && s[-2] == '-' && p->stmt.assigned && last.kind == TOK_ID && first.kind == TOK_ID;
  while (s < line && *s == ' ') s++;
  if (arrow && line - s < 60)
    return arena_printf(p->arena, "a function is a def: `def %.*s(%.*s) = %.*s`",
        (int)(first.end - first.at), p->src->bytes + first.at, (int)(last.end - last.at), p->src->bytes + last.at,
        (int)(line - s), s);
  return NULL;
}

int complain_slip(Parse *p, Token t) {
  const SlipInfo *s = slip_find(p, t);
  const char *hint = slip_hint(p, t);
  int n = (int)(t.end - t.at);
  Diag *g = diag_add(p->diags, D_E016, span_at(p, t.at, t.end), "there is no operator `%.*s`", n,
                     p->src->bytes + t.at);
  diag_hint(p->diags, g, "%s", hint ? hint : s->hint);
  if (hint) return TOK_BAD;
  return s->meant != TOK_BAD && grammar_accepts(p->grammar, s->meant) ? s->meant : TOK_BAD;
}
