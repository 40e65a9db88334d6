/* codegen/loop/names.c - makes C identifiers. In: names as users write them. Out: identifiers that neither C nor C++
 * nor the runtime uses. */
#include "names.h"

#include <string.h>

#include "base/utf8.h"
#include "expr/expr.h"

/* ---- letters -------------------------------------------------------------------------------- */

/* From U+0391 on; the lower-case letters are 32 further and get lower-case names. */
static const char *const greek[] = {
  "Alpha", "Beta", "Gamma", "Delta", "Epsilon", "Zeta", "Eta",   "Theta", "Iota",    "Kappa", "Lambda", "Mu",   "Nu",
  "Xi",    "Omicron", "Pi", "Rho",   "Final",   "Sigma", "Tau",  "Upsilon", "Phi", "Chi",   "Psi",    "Omega",
};

static bool greek_letter(Buf *b, uint32_t c) {
  uint32_t k = c >= 0x3B1 ? c - 0x3B1 : c - 0x391;
  if (c < 0x391 || k >= COUNT(greek) || c == 0x3A2) return false; /* 0x3A2 is no letter; 0x3C2 is the final sigma */
  buf_char(b, (char)(greek[k][0] + (c >= 0x3B1 ? 'a' - 'A' : 0)));
  buf_str(b, c == 0x3C2 ? "inalsigma" : greek[k] + 1);
  return true;
}

static bool plain(uint32_t c) {
  return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Separates spelled letters from what precedes them: dλ is d_lambda. */
static void spelled(Buf *b, uint32_t c) {
  if (b->len && b->s[b->len - 1] != '_') buf_char(b, '_');
  if (!greek_letter(b, c)) buf_printf(b, "u%04x", (unsigned)c);
}

static void letter(Buf *b, uint32_t c, bool *apart) {
  if (*apart && plain(c) && c != '_') buf_char(b, '_');
  *apart = false;
  if (plain(c)) buf_char(b, (char)c);
  else if (c == '\'') buf_str(b, "_p");
  else if (c < 0x80) {
    if (b->len && b->s[b->len - 1] != '_') buf_char(b, '_');
  } else {
    spelled(b, c);
    *apart = true;
  }
}

/* ---- reserved words ------------------------------------------------------------------------- */

/* In byte order. Keywords of C (up to C23) and C++ (up to C++20); macros of C's headers and of compilers; types and
 * functions of C that emitted text may use, and the parameters of its kernels. */
static const char *const taken[] = {
  "BIG_ENDIAN", "BUFSIZ", "BYTE_ORDER", "EDOM", "EILSEQ", "EIN", "EOF", "ERANGE", "EXIT_FAILURE", "EXIT_SUCCESS",
  "FD_SETSIZE", "FILE", "FILENAME_MAX", "FOPEN_MAX", "FP_ILOGB0", "FP_ILOGBNAN", "FP_INFINITE", "FP_NAN", "FP_NORMAL",
  "FP_SUBNORMAL", "FP_ZERO", "F_LOCK", "F_OK", "F_TEST", "F_TLOCK", "F_ULOCK", "HUGE_VAL", "HUGE_VALF", "HUGE_VALL",
  "I", "INFINITY", "INT16_MAX", "INT16_MIN", "INT32_MAX", "INT32_MIN", "INT64_MAX", "INT64_MIN", "INT8_MAX",
  "INT8_MIN", "INTMAX_MAX", "INTMAX_MIN", "INTPTR_MAX", "INTPTR_MIN", "INT_FAST16_MAX", "INT_FAST16_MIN",
  "INT_FAST32_MAX", "INT_FAST32_MIN", "INT_FAST64_MAX", "INT_FAST64_MIN", "INT_FAST8_MAX", "INT_FAST8_MIN",
  "INT_LEAST16_MAX", "INT_LEAST16_MIN", "INT_LEAST32_MAX", "INT_LEAST32_MIN", "INT_LEAST64_MAX", "INT_LEAST64_MIN",
  "INT_LEAST8_MAX", "INT_LEAST8_MIN", "LITTLE_ENDIAN", "L_INCR", "L_SET", "L_XTND", "L_ctermid", "L_tmpnam",
  "MATH_ERREXCEPT", "MATH_ERRNO", "MB_CUR_MAX", "M_1_PI", "M_2_PI", "M_2_SQRTPI", "M_E", "M_LN10", "M_LN2", "M_LOG10E",
  "M_LOG2E", "M_PI", "M_PI_2", "M_PI_4", "M_SQRT1_2", "M_SQRT2", "NAN", "NFDBITS", "NULL", "PDP_ENDIAN", "PTRDIFF_MAX",
  "PTRDIFF_MIN", "P_tmpdir", "RAND_MAX", "R_OK", "SEEK_CUR", "SEEK_END", "SEEK_SET", "SIG_ATOMIC_MAX",
  "SIG_ATOMIC_MIN", "SIZE_MAX", "STDERR_FILENO", "STDIN_FILENO", "STDOUT_FILENO", "TMP_MAX", "UINT16_MAX",
  "UINT32_MAX", "UINT64_MAX", "UINT8_MAX", "UINTMAX_MAX", "UINTPTR_MAX", "UINT_FAST16_MAX", "UINT_FAST32_MAX",
  "UINT_FAST64_MAX", "UINT_FAST8_MAX", "UINT_LEAST16_MAX", "UINT_LEAST32_MAX", "UINT_LEAST64_MAX", "UINT_LEAST8_MAX",
  "WCHAR_MAX", "WCHAR_MIN", "WCONTINUED", "WEXITED", "WINT_MAX", "WINT_MIN", "WNOHANG", "WNOWAIT", "WSTOPPED",
  "WUNTRACED", "W_OK", "X_OK", "abs", "acos", "acosh", "alignas", "aligned_alloc", "alignof", "and", "and_eq", "asin",
  "asinh", "asm", "assert", "atan", "atan2", "atanh", "auto", "bitand", "bitor", "bool", "break", "case", "catch",
  "cbrt", "ceil", "ceilf", "char", "char16_t", "char32_t", "char8_t", "class", "co_await", "co_return", "co_yield",
  "compl", "complex", "concept", "const", "const_cast", "consteval", "constexpr", "constinit", "continue", "copysign",
  "cos", "cosf", "cosh", "ctx", "decltype", "default", "delete", "do", "double", "dynamic_cast", "ein", "else", "enum",
  "erf", "erfc", "errno", "exp", "exp2", "expf", "explicit", "expm1", "export", "extern", "fabs", "fabsf", "false",
  "fdim", "float", "float16_t", "floor", "floorf", "fma", "fmax", "fmaxf", "fmin", "fminf", "fmod", "for", "friend",
  "goto", "hypot", "if", "inf", "inline", "int", "int16_t", "int32_t", "int64_t", "int8_t", "intptr_t", "isfinite",
  "isinf", "isnan", "ldexp", "lgamma", "linux", "llrint", "llround", "log", "log10", "log1p", "log2", "logf", "long",
  "lrint", "lround", "main", "malloc", "math_errhandling", "memchr", "memcmp", "memcpy", "memmove", "memset",
  "mutable", "namespace", "nan", "nearbyint", "new", "noexcept", "noreturn", "not", "not_eq", "nullptr", "operator",
  "or", "or_eq", "pow", "powf", "private", "protected", "ptrdiff_t", "public", "register", "reinterpret_cast",
  "remainder", "requires", "restrict", "return", "rint", "rintf", "round", "roundf", "short", "signbit", "signed",
  "sin", "sinf", "sinh", "size_t", "sizeof", "sqrt", "sqrtf", "static", "static_assert", "static_cast", "stderr",
  "stdin", "stdout", "strlen", "struct", "switch", "tan", "tanh", "template", "tgamma", "this", "thread_local",
  "throw", "true", "trunc", "truncf", "try", "typedef", "typeid", "typename", "typeof", "typeof_unqual", "uint16_t",
  "uint32_t", "uint64_t", "uint8_t", "uintptr_t", "union", "unix", "unsigned", "using", "virtual", "void", "volatile",
  "wchar_t", "while", "worker", "xor", "xor_eq",
};

/* Whether the text of an operation calls it. */
static bool is_called(const char *s) {
  size_t n = strlen(s);
  for (int op = 0; op < OPS && n; op++) {
    const char *const text[] = {op_info[op].c_f64, op_info[op].c_f32};
    for (size_t k = 0; k < COUNT(text); k++)
      for (const char *at = text[k]; at && (at = strchr(at, '(')); at++)
        if ((size_t)(at - text[k]) >= n && memcmp(at - n, s, n) == 0 &&
            (at - n == text[k] || !plain((uint8_t)at[-(ptrdiff_t)n - 1])))
          return true;
  }
  return false;
}

static bool is_taken(const char *s) {
  size_t lo = 0, hi = COUNT(taken);
  while (lo < hi) {
    size_t mid = (lo + hi) / 2;
    int c = strcmp(taken[mid], s);
    if (c == 0) return true;
    if (c < 0) lo = mid + 1;
    else hi = mid;
  }
  return strncmp(s, "ein_", 4) == 0 || strncmp(s, "EIN_", 4) == 0 || is_called(s);
}

/* ---- one name ------------------------------------------------------------------------------- */

static void name_text(Buf *b, const char *s, size_t len) {
  bool apart = false;
  for (size_t at = 0, n; at < len; at += n) {
    uint32_t c;
    n = utf8_read(s + at, len - at, &c);
    if (!n) n = 1, c = 0xFFFD;
    letter(b, c, &apart);
  }
}

Str c_name(Strings *t, const char *name, size_t len) {
  Arena *a = arena_new();
  Buf b = buf_new(a);
  name_text(&b, name, len);
  bool reserved = !b.len || b.s[0] == '_' || (b.s[0] >= '0' && b.s[0] <= '9');
  Str out = strings_printf(t, "%s%s%s", reserved ? "x" : "", b.s, is_taken(b.s) ? "_" : "");
  arena_free(a);
  return out;
}

/* ---- scopes --------------------------------------------------------------------------------- */

CScope c_scope(Arena *a, Strings *t) {
  return (CScope){t, map_new(a)};
}

void c_scope_take(CScope *s, Str used) {
  map_put(&s->taken, used, (void *)(uintptr_t)1);
}

bool c_scope_has(const CScope *s, Str used) {
  return map_find(&s->taken, used) != NULL;
}

/* Keeps the next number to try with each name, so that a thousand uses of one name stay cheap. */
Str c_scope_name(CScope *s, Str name, const char *otherwise) {
  Str base =
      name && name->len ? c_name(s->strings, name->s, name->len) : c_name(s->strings, otherwise, strlen(otherwise));
  uintptr_t next = (uintptr_t)map_find(&s->taken, base);
  Str out = base;
  while (map_find(&s->taken, out)) out = strings_printf(s->strings, "%s_%u", base->s, (unsigned)++next);
  map_put(&s->taken, base, (void *)(next ? next : 1));
  if (out != base) map_put(&s->taken, out, (void *)(uintptr_t)1);
  return out;
}

/* ---- prefixes ------------------------------------------------------------------------------- */

/* In byte order. Headers of C and POSIX, which a model's header of that name would hide; and prefixes of their
 * functions, with which it would clash: sem_destroy, timer_create. */
static const char *const taken_prefix[] = {
    "aio",
    "alloca",
    "assert",
    "byteswap",
    "cnd",
    "complex",
    "ctype",
    "dirent",
    "dlfcn",
    "elf",
    "endian",
    "errno",
    "fcntl",
    "features",
    "fenv",
    "float",
    "fnmatch",
    "getopt",
    "glob",
    "grp",
    "iconv",
    "inttypes",
    "iso646",
    "langinfo",
    "libgen",
    "limits",
    "locale",
    "malloc",
    "math",
    "memory",
    "mqueue",
    "mtx",
    "netdb",
    "omp",
    "poll",
    "pthread",
    "pwd",
    "regex",
    "resolv",
    "sched",
    "sem",
    "semaphore",
    "setjmp",
    "signal",
    "spawn",
    "stdalign",
    "stdarg",
    "stdatomic",
    "stdbit",
    "stdbool",
    "stdckdint",
    "stddef",
    "stdint",
    "stdio",
    "stdlib",
    "stdnoreturn",
    "string",
    "strings",
    "syslog",
    "termios",
    "tgmath",
    "thrd",
    "threads",
    "time",
    "timer",
    "tss",
    "uchar",
    "ucontext",
    "unistd",
    "utime",
    "wchar",
    "wctype",
};

static bool prefix_is_taken(const char *s) {
  for (size_t i = 0; i < COUNT(taken_prefix); i++)
    if (strcmp(taken_prefix[i], s) == 0) return true;
  return false;
}

Str c_prefix(Strings *t, const char *path) {
  const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
  size_t n = dot && dot != name ? (size_t)(dot - name) : strlen(name);
  Str out = c_name(t, name, n);
  return prefix_is_taken(out->s) ? strings_printf(t, "%s_", out->s) : out;
}

bool c_identifier(const char *s) {
  for (const char *c = s; *c; c++)
    if (!plain((unsigned char)*c)) return false;
  return *s && *s != '_' && !(*s >= '0' && *s <= '9') && !is_taken(s) && !prefix_is_taken(s);
}

/* ---- strings -------------------------------------------------------------------------------- */

void c_string(Buf *b, const char *s, size_t len) {
  buf_char(b, '"');
  for (size_t i = 0; i < len; i++) {
    unsigned char c = (unsigned char)s[i];
    if (c == '"' || c == '\\') buf_printf(b, "\\%c", c);
    else if (c == '\n') buf_str(b, "\\n");
    else if (c < 0x20 || c == 0x7F || (c == '?' && i && s[i - 1] == '?')) buf_printf(b, "\\%03o", c);
    else buf_char(b, (char)c);
  }
  buf_char(b, '"');
}
