/* expr/scan.h - for the readers only: a cursor over one line of a text, and the small elements of a line. scan_take
 * functions are silent on a mismatch; scan_want functions complain. */
#ifndef EIN_EXPR_SCAN_H
#define EIN_EXPR_SCAN_H

#include "base/diag.h"
#include "einsum.h"

enum {
  READ_IDS = 1 << 24,    /* ids must be below this */
  READ_NESTING = 100000, /* brackets in a scalar expression */
  READ_EXTENT_NESTING = 200,
  READ_MONOIDS = 1000
};

typedef struct Scan {
  Source *src;
  Strings *strings;
  Diags *d;
  const char *begin;   /* of the line */
  const char *s, *end; /* the rest of it */
  bool quiet;          /* this line depends on one with a complaint: say nothing */
  const char *noun;    /* what a % number refers to: "node" */
} Scan;

/* Sets the cursor to the line at `at`. Returns the start of the next one, or NULL. */
const char *scan_line(Scan *c, const char *at);
Span scan_here(const Scan *c); /* the next sign */
Span scan_head(const Scan *c); /* the line's first two words: `join %3` */
bool scan_fail(Scan *c, DiagCode code, const char *fmt, ...) EIN_PRINTF(3, 4); /* always returns false */
void scan_blanks(Scan *c);
bool scan_done(Scan *c);       /* nothing is left */
bool scan_is(Scan *c, char x); /* after blanks, x is next */
bool scan_take(Scan *c, char x);
bool scan_want(Scan *c, char x);
bool scan_take_word(Scan *c, const char *word); /* only the whole word */
bool scan_want_word(Scan *c, const char *word);
size_t scan_word(Scan *c, bool dots,
                 const char **at);      /* length of the word that it passed; 0: there is none */
bool scan_want_name(Scan *c, Str *out); /* a word or a "string" */
bool scan_want_string(Scan *c, Str *out);
bool scan_want_int(Scan *c, int64_t low, int64_t high, const char *what, int64_t *out);
bool scan_want_dtype(Scan *c, DType *out);
bool scan_want_number(Scan *c, const char *what, uint32_t *out); /* 7 */
bool scan_want_id(Scan *c, uint32_t *out);                       /* %7 */
bool scan_want_end(Scan *c, Place *place); /* an optional place, and the end of the line */
bool scan_place(Scan *c, Place *place);    /* the optional place */

#endif
