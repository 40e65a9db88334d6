/* front/limits.h - limits of plans for many sites: `assert on 16 sites: bytes <= 3 GB, memory <= 24 GB` in a program,
 * and `bytes<=3GB, memory<=24GB` on the command line. limits.def lists the words and units. */
#ifndef EIN_LIMITS_H
#define EIN_LIMITS_H

#include "ast.h"

typedef enum {
#define LIMIT(id, word, unit, what) LIMIT_##id,
#include "limits.def"
  LIMITS
} LimitId;

typedef enum { UNIT_BYTES, UNIT_SECONDS, UNIT_COUNT } LimitUnit;

typedef struct LimitInfo { const char *word; LimitUnit unit; const char *what; } LimitInfo;
extern const LimitInfo limit_info[LIMITS];

typedef struct Limit {
  LimitId id;
  Op op;                     /* any comparison but OP_NE */
  double amount;             /* in bytes, in seconds, or a count */
  Span span;
} Limit;
typedef VEC(Limit) Limits;

/* How much a unit is. Returns false if there is none of this name. */
bool unit_find(LimitUnit unit, const char *word, double *factor);
/* What to write instead of an unknown unit: `said` with the two units that one letter may mean, or an example. */
const char *unit_wanted(Arena *a, LimitUnit unit, const char *word, const char *said);

/* The limits of a statement, or of a source's whole text. Return false with complaints (E114). */
bool limits_of(Arena *a, const AstStmt *s, Diags *d, Limits *out);
bool limits_read(Arena *a, Strings *t, Source *src, Diags *d, Limits *out);

#endif
