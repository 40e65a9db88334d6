/* front/parse/scan.h - interface to the scanner (grammar/scan.re implements it): bytes in, one token per call out. It
 * skips blanks and remembers whether a line ended, passes comments on as spans, reports invalid text through `fault`
 * and continues after it. Its only state is its position. */
#ifndef EIN_SCAN_H
#define EIN_SCAN_H

#include "token.h"

typedef enum {
  FAULT_UTF8,     /* bytes that are not UTF-8 */
  FAULT_CHAR,     /* a character that begins no word */
  FAULT_NUL, FAULT_CR, FAULT_BOM,
  FAULT_BIDI,     /* a mark that changes the direction of writing; also in comments and strings */
  FAULT_NUMBER,   /* 12abc, 1., .5 */
  FAULT_STRING,   /* no closing quote on the line */
  FAULT_QUOTES,   /* a string in a typesetter's quotes */
  FAULT_SIGN_PRIME /* a prime after one of the papers' signs */
} Fault;

typedef struct Scanner {
  const char *bytes, *at, *end;  /* *end is NUL */
  uint32_t line_start;           /* where the current line began */
  bool newline;                  /* a line ended before this token */
  void *env;
  void (*fault)(void *env, Fault f, uint32_t at, uint32_t end); /* NULL: nobody asks; */
  void (*comment)(void *env, uint32_t at, uint32_t end); /* from '#' to before the newline */
} Scanner;

void scan_start(Scanner *s, const char *bytes, uint32_t len);
Token scan(Scanner *s); /* TOK_EOF at the end, repeatedly */

#endif
