/* algebra/check/check.h - the checker's parts among themselves: check.c walks the program, type.c looks at what an operation makes of
 * types and keys, place.c at where it is. */
#ifndef EIN_ALGEBRA_CHECK_H
#define EIN_ALGEBRA_CHECK_H

#include "expr/region/law.h"
#include "algebra/keys.h"
#include "algebra/text/text.h"

/* What is known of a relation beside its type. */
typedef struct Info {
  bool well;                 /* its type can be walked; else nothing is said about what hangs on it */
  KeySet keys;
  bool parts;                /* there are parts that are still to be aggregated: along an axis (`+`), */
  bool bag;                  /*   or several at one site, after a move */
  Reducer reducer;           /*   by this */
  const Monoid *monoid;
} Info;

typedef struct Check {
  SumCheck c;
  RegionCheck r;
  const Algebra *g;
  Arena *arena;
  const AlgNode *n;          /* the node at hand; NULL: the program as a whole */
  bool over_keys;            /* the expression at hand is over keys: no reads */
  Map info;                  /* node to its Info */
  uint32_t inputs;           /* met so far */
} Check;

#define fail(check, ...) check_fail(&(check)->c, __VA_ARGS__)

Info *info_of(Check *c, const AlgNode *n); /* of one that was met */
/* `(s 1, h 0)` */
const char *key_text(Check *c, const Relation *r, const int64_t *key);

/* ---- type.c */
bool check_form(Check *c, const AlgNode *n);             /* the type by itself */
void check_read(void *ctx, const Expr *e);               /* of a kernel */
void check_operation(Check *c, const AlgNode *n, Info *i); /* JOIN to MOVE, and INPUT; finds keys */
void check_same_type(Check *c, const char *what, const AlgNode *a, const AlgNode *b);
void check_output_boxes(Check *c, const AlgOutput *o);

/* ---- read.c: kernels of joins read inside of blocks; what else is wrong with a join is said already */
void check_reads(Check *c, const AlgNode *n, const KeySet *keys);

/* ---- place.c: of an Ia */
bool check_placement(Check *c, const AlgNode *n);        /* by itself */
void check_places(Check *c, const AlgNode *n, Info *i);  /* what an operation leaves where */
void check_whole(Check *c, const char *what, const AlgNode *n); /* it has no parts */

#endif
