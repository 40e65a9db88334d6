/* algebra/text/read_inside.h - shared by the parts of the reader: read.c reads the program's lines, read_type.c a
 * relation's type, read_node.c the operations. */
#ifndef EIN_ALGEBRA_READ_INSIDE_H
#define EIN_ALGEBRA_READ_INSIDE_H

#include "expr/region/text.h"
#include "expr/sum/law.h"
#include "text.h"

/* The keys of a relation as its line gives them. */
typedef struct Keys {
  VEC(Str) text;             /* their names in expressions */
  VEC(Str) name;
  VEC(int64_t) frontier;
} Keys;

typedef struct AlgReader {
  SumReader x;
  Algebra *g;
  AlgRegion *region;
  RegionReader b;
  Map keys;                  /* node to Keys */
  VEC(AlgOperand) operand;   /* of the current join */
  VEC(RelDim) range;         /* of its labels */
  VEC(AlgFn) fn;             /* of the current line */
} AlgReader;

#define fail(r, ...) scan_fail(&(r)->x.c, __VA_ARGS__)

/* ---- read.c */
/* &k is operand k of the current join */
bool read_operand(void *ctx, bool kept, int64_t k, DType *dtype, int64_t *slot);
bool line_end(AlgReader *r, AlgNode *n);            /* the end of the node's line; appends it to the current region */

/* ---- read_type.c */
Keys *keys_new(AlgReader *r, const Keys *from);
const Keys *keys_of(AlgReader *r, const AlgNode *n);
bool want_key(AlgReader *r, const Keys *k, uint32_t *out);   /* the name of one of them */
bool want_keys(AlgReader *r, Keys *k);                       /* `{s:4, _1="odd name":2}`, appended to k */
bool want_over_keys(AlgReader *r, const Keys *k, const Expr **out);
bool want_range(AlgReader *r, const Keys *k, RelDim *out);   /* `128`, `128/s`, `low..high` */
bool want_ranges(AlgReader *r, const Keys *k, uint32_t *n, RelDim **out);
bool want_relation(AlgReader *r, AlgNode **out);             /* `%3` */
bool want_rest(AlgReader *r, AlgNode *n, const Keys *k);     /* ` : f32 places holes at 0 *` */
AlgNode *want_head(AlgReader *r, AlgKind kind, Keys **k);    /* the node of a line that begins with its id, an
                                                              * optional name, and its keys */
AlgNode *want_typed(AlgReader *r, AlgKind kind);             /* and its type */
bool want_of(AlgReader *r, AlgNode *n);                      /* ` of %3` */
bool want_fns(AlgReader *r, AlgNode *n);                     /* `cast f32, merge [2]` */
bool take_fns(AlgReader *r, AlgNode *n);                     /* ` then ` and functions, or nothing */

/* ---- read_node.c: the rest of a line after its word */
bool line_kernel(RegionReader *b, int kind);
bool line_input(RegionReader *b, int which);
bool line_aggregate(RegionReader *b, int reduces);
bool line_map(RegionReader *b, int which);
bool line_transform(RegionReader *b, int which);
bool line_filter(RegionReader *b, int which);
bool line_move(RegionReader *b, int broadcast);

#endif
