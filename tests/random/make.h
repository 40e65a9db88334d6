/* tests/random/make.h - what the files that make expressions share. */
#ifndef EIN_RANDOM_MAKE_H
#define EIN_RANDOM_MAKE_H

#include "random.h"

/* ---- make_node.c -------------------------------------------------------------------------------- */
Node *with_kids(Node *n, uint32_t count, Node *const *kid);
Node *node_real(Gen *g, double f);
Node *node_truth(Gen *g, bool b);
Node *node_size(Gen *g, Label *l);
Node *node_extent(Gen *g, Extent *e);
Node *node_turn(Gen *g, Turn *t);
Node *node_neg(Gen *g, Node *a);
Node *node_fun(Gen *g, const char *word, Ty t, uint32_t n, Node *const *kid);
Node *node_if(Gen *g, Node *c, Node *a, Node *b);
Node *node_else(Gen *g, Node *a, Node *b);
Node *typed_binary(Gen *g, Op op, Node *a, Node *b);
bool op_compares(Op op);
bool int_fold(Op op, int64_t a, int64_t b, int64_t *out); /* false: it overflows, or is none of these */

/* ---- make.c ------------------------------------------------------------------------------------- */
typedef struct Range { bool known, any; int64_t low, high; } Range;
Label *label_any(Ctx *c);
Label *label_for(Ctx *c, const Extent *e);
Range index_range(Ctx *c, const Node *e);
Node *index_atom(Ctx *c);
Node *index_fun(Gen *g, const char *word, Node *a, Node *b);
Node *index_form(Ctx *c, Extent *e);
Node *read_guard(Ctx *c, const Node *r);
bool of_class(DType t, Want w);
Tensor *tensor_of(Ctx *c, Want w);

/* ---- make_reduce.c, make_call.c: NULL where nothing fits ------------------------------------------ */
bool has_bare(const Node *e, const Label *l);
Node *make_reduce(Ctx *out, Want w, int depth);
Node *make_monoid(Ctx *out, Want w, int depth);
Node *make_call(Ctx *out, Want w, int depth);
Node *make_local(Ctx *c, Want w);
Node *make_subst(Ctx *out, Want w, int depth);

/* ---- make_program.c ------------------------------------------------------------------------------- */
Stmt *stmt_new(Gen *g, StmtType t);
Ctx ctx_of(Gen *g, Stmt *s);
void make_extents(Gen *g, Made *m);
Tensor *tensor_new(Gen *g, Stmt *s, DType t, Num num); /* of the statement's left side */
void left_label(Ctx *c, Stmt *s, Extent *e);
Node *input_spread(Ctx *c, Stmt *s, int64_t mod);      /* small integers, of the labels on the left */
void make_bound(Gen *g, Stmt *s, Extent **size);       /* of a loop; size: where it is one */
void loop_results(Gen *g, Stmt *s);

#endif
