/* task/sites/ia_box.h - internals of from_ia: what a site has of a relation, as expressions over its coordinates. */
#ifndef EIN_TASK_IA_BOX_H
#define EIN_TASK_IA_BOX_H

#include "algebra/algebra.h"
#include "task/task.h"

/* A key dimension of frontier f over n sites: if f is n, the site's number is the key; if f is less, some sites have
 * no key; if it is more, a site has a run of keys. */
typedef struct IaKeys {
  const Expr **low, **high;  /* by key dimension: the first and the last key of the site */
  const Expr *when;          /* bool: it has some; NULL: all sites have */
  bool several;              /* it may have more than one tuple */
} IaKeys;

typedef struct IaBox { const Expr **low, **dim; const Expr *when; } IaBox; /* in normal form */

IaKeys ia_keys(const TaskGraph *t, const Relation *r, const Placement *at);
/* A range over keys, from the first key's low to the last key's high. */
RelDim ia_range(const TaskGraph *t, const RelDim *d, uint32_t n_key, const IaKeys *k);
IaBox ia_box(const TaskGraph *t, const Relation *r, const Placement *at);

/* A key that cuts no dimension distinguishes parts or copies. IaCopies has a bit for each key along which all arrays
 * are equal copies, made by a tile. */
typedef uint64_t IaCopies;
bool ia_copies(IaCopies c, uint32_t key);
/* The copies of a node, given those of its operand. */
IaCopies ia_copies_of(const AlgNode *n, IaCopies operand);

/* By axis: the dimension that it cuts, `*` (copies), `+` (parts), or PLACE_SOME. */
Placement ia_placement(const TaskGraph *t, const Relation *r, const Placement *at, IaCopies copies);
/* Whether what a site has is the box of ia_box: keys that come in runs each cut a dimension, ascending, or distinguish
 * copies. parts: keys that distinguish parts may come in runs too. */
bool ia_is_box(const Relation *r, const IaKeys *k, const Mesh *m, const Placement *at, IaCopies copies, bool parts);

#endif
