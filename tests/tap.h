/* tests/tap.h - unit tests that speak the Test Anything Protocol, which meson understands.
 *
 *     int main(void) {
 *       OK(1 + 1 == 2, "sums");
 *       OK_INT(n, 3, "three nodes");
 *       OK_STR(name, "Z", "the name of node %d", i);
 *       return DONE();
 *     }
 *
 * Names are printf formats. A failed check goes on; DONE prints the plan and is the exit code. PLAN(n)
 * at the start is for those who want to be sure that nothing was left out. */
#ifndef EIN_TAP_H
#define EIN_TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static int tap_count, tap_failed, tap_planned;

__attribute__((unused, format(printf, 4, 5))) static bool
tap_ok(bool ok, const char *file, int line, const char *fmt, ...) {
  va_list ap;
  char name[1000]; /* on one line, whatever is in it */
  va_start(ap, fmt);
  vsnprintf(name, sizeof name, fmt, ap);
  va_end(ap);
  for (char *c = name; *c; c++)
    if (*c == '\n' || *c == '\r') *c = ' ';
  printf("%sok %d - %s\n", ok ? "" : "not ", ++tap_count, name);
  if (!ok) {
    tap_failed++;
    printf("# failed at %s:%d\n", file, line);
  }
  fflush(stdout);
  return ok;
}

/* A text as comment lines, which TAP passes over. */
__attribute__((unused)) static void tap_text(const char *title, const char *s) {
  printf("# %s:\n#   ", title);
  for (; s && *s; s++) {
    putchar(*s);
    if (*s == '\n' && s[1]) fputs("#   ", stdout);
  }
  puts(s ? "" : "(null)");
}

__attribute__((unused)) static bool tap_str(bool ok, const char *got, const char *want) {
  if (!ok) tap_text("got", got), tap_text("want", want);
  return ok;
}

__attribute__((unused)) static bool tap_int(bool ok, long long got, long long want) {
  if (!ok) printf("#   got %lld, want %lld\n", got, want);
  return ok;
}

__attribute__((unused)) static int tap_done(void) {
  if (!tap_planned) printf("1..%d\n", tap_count);
  return tap_failed || (tap_planned && tap_planned != tap_count);
}

#define PLAN(n)      ((void)printf("1..%d\n", tap_planned = (n)))
#define OK(c, ...)   tap_ok((c), __FILE__, __LINE__, __VA_ARGS__)
#define OK_INT(got, want, ...)                                                                     \
  tap_int(OK((long long)(got) == (long long)(want), __VA_ARGS__), (got), (want))
#define OK_STR(got, want, ...)                                                                     \
  tap_str(OK(strcmp((got), (want)) == 0, __VA_ARGS__), (got), (want))
#define SKIP(why, name) ((void)printf("ok %d - %s # SKIP %s\n", ++tap_count, (name), (why)))
#define DONE()       tap_done()

/* How often something is tried by chance, or how large it is made: n; under AddressSanitizer, which looks for other
 * faults and takes five times as long, a tenth. */
#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#define TRIES(n) ((n) / 10)
#else
#define TRIES(n) (n)
#endif

#endif
