/* algebra/check/check.h - shared by the parts of the checker: check.c walks the program, type.c checks an operation's
 * types and keys, place.c checks where its result is. */
#ifndef EIN_ALGEBRA_CHECK_H
#define EIN_ALGEBRA_CHECK_H

#include "expr/region/law.h"
#include "algebra/keys.h"
#include "algebra/text/text.h"

/* What is known of a relation besides its type. */
typedef struct Info {
  bool well;                 /* its type can be walked; else nothing is reported about what depends on it */
  KeySet keys;
  bool parts;                /* it has parts that are still to be aggregated, along an axis (`+`) */
  bool bag;                  /* several parts at one site, after a move */
  Reducer reducer;           /* by this reducer */
  const Monoid *monoid;
} Info;

typedef struct Check {
  SumCheck c;
  RegionCheck r;
  const Algebra *g;
  Arena *arena;
  const AlgNode *n;          /* the current node; NULL: the program as a whole */
  bool over_keys;            /* the current expression is over keys and may not read */
  Map info;                  /* node to Info */
  uint32_t inputs;           /* met so far */
} Check;

#define fail(check, ...) check_fail(&(check)->c, __VA_ARGS__)

Info *info_of(Check *c, const AlgNode *n); /* of a node met before */
/* `(s 1, h 0)` */
const char *key_text(Check *c, const Relation *r, const int64_t *key);

/* ---- type.c */
bool check_form(Check *c, const AlgNode *n);             /* the type alone */
void check_read(void *ctx, const Expr *e);               /* of a kernel */
void check_operation(Check *c, const AlgNode *n, Info *i); /* JOIN to MOVE, and INPUT; finds the keys */
void check_same_type(void *ctx, const char *what, const void *want, const void *have); /* a law of regions */
void check_output_boxes(Check *c, const AlgOutput *o);

/* ---- read.c: whether kernels of joins read inside blocks; other mistakes in a join are already reported */
void check_reads(Check *c, const AlgNode *n, const KeySet *keys);

/* ---- place.c: placements of an Ia */
bool check_placement(Check *c, const AlgNode *n);        /* alone */
void check_places(Check *c, const AlgNode *n, Info *i);  /* where an operation's result is */
void check_whole(void *ctx, const char *what, const void *node); /* it has no parts; a law of regions */

#endif
