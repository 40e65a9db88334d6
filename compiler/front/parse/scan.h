/* front/parse/scan.h - the scanner's face (grammar/scan.re is its body): bytes in, one token a call out.
 * It skips blanks and remembers whether a line ended, hands comments on as spans, and reports what no
 * program may hold through `fault`, going on behind it. It keeps no more than its place. */
#ifndef EIN_SCAN_H
#define EIN_SCAN_H

#include "token.h"

typedef enum {
  FAULT_UTF8,     /* bytes that are not UTF-8 */
  FAULT_CHAR,     /* a character that begins no word */
  FAULT_NUL, FAULT_CR, FAULT_BOM,
  FAULT_BIDI,     /* a mark that changes the direction of writing; in comments and strings too */
  FAULT_NUMBER,   /* 12abc, 1., .5 */
  FAULT_STRING,   /* no closing quote on the line */
  FAULT_QUOTES,   /* a string in a typesetter's quotes */
  FAULT_SIGN_PRIME /* a prime after a sign of the papers */
} Fault;

typedef struct Scanner {
  const char *bytes, *at, *end;  /* *end is NUL */
  uint32_t line_start;           /* where the line at hand began */
  bool newline;                  /* a line ended before the token just given */
  void *env;
  void (*fault)(void *env, Fault f, uint32_t at, uint32_t end);
  void (*comment)(void *env, uint32_t at, uint32_t end); /* from '#' to before the newline */
} Scanner;

void scan_start(Scanner *s, const char *bytes, uint32_t len);
Token scan(Scanner *s); /* TOK_EOF at the end, again and again */

#endif
