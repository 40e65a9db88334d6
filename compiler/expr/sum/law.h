/* expr/sum/law.h - the laws of EinSums and their context, for the languages built from them: equality, canonical
 * slots, and checks. */
#ifndef EIN_EXPR_SUM_LAW_H
#define EIN_EXPR_SUM_LAW_H

#include "expr/einsum.h"
#include "expr/lines.h"

enum { /* limits of the texts and checkers */
  SUM_LABELS = 4095,         /* labels of one EinSum of a graph */
  SUM_RANK = 255             /* dimensions of one tensor, output labels of one EinSum; from tasks on, all of its
                              * labels */
};

uint32_t sum_hash(const EinSum *s); /* over all fields but hash */
bool sum_same(const EinSum *a, const EinSum *b); /* of one pool: compares all fields but hash */
const Expr *extent_normal(Exprs *p, const Expr *e); /* expr_normal with a shortcut for numbers and dims */

/* ---- slots: sum/slots.c ------------------------------------------------------------------------
 * Reads by (operand, index list), whatever their slot. The caller numbers operands: two slots get the same number if
 * and only if their tensors are the same. */
typedef struct ReadTable {
  Arena *arena;
  Map chains;           /* hash to the newest of its reads */
  VEC(uint32_t) from;   /* by slot: the number in its first read */
} ReadTable;
uint32_t read_slot(ReadTable *t, uint64_t operand, const Expr *read); /* finds the slot, or adds the next one */

/* Numbers slots by first occurrence, inner reads before the read that they index, in body, where, domain. Equal reads
 * become one slot, and unused slots are dropped; a slot read with several index lists becomes several. Changes
 * s->body, where, domain and n_slot. Returns for each new slot the number of the old one. operand: what a slot reads;
 * NULL: each slot another operand. */
const uint32_t *sum_canonical_slots(
    Arena *a, Exprs *p, EinSum *s, uint64_t (*operand)(void *ctx, uint32_t slot), void *ctx);

/* ---- equality: same.c --------------------------------------------------------------------------
 * The two sides may have different pools and tables, so names are compared as text and expressions by their
 * structure, each shared part once. Each function returns false if the sides differ, and says how in `why`. */
typedef struct ExprPair { const Expr *a, *b; } ExprPair;
typedef struct Same {
  Arena *arena;
  Buf *why;             /* may be NULL */
  bool same_pool;
  const Expr **to;      /* by id of a's expression: b's, if known to be equal */
  uint32_t room;
  VEC(ExprPair) stack;
  void *ctx;
  void (*where)(void *ctx, Buf *out); /* prints the current item, before the complaint; or NULL */
} Same;
bool differ(Same *q, const char *fmt, ...) EIN_PRINTF(2, 3); /* always returns false */
bool eq_str(Same *q, const char *what, Str a, Str b);
bool eq_int(Same *q, const char *what, int64_t a, int64_t b);
bool eq_place(Same *q, Place a, Place b);
bool eq_expr(Same *q, const char *what, const Expr *a, const Expr *b);
bool eq_exprs(Same *q, const char *what, uint32_t n, const Expr *const *a, const Expr *const *b);
bool eq_externs(Same *q, const Exprs *a, const Exprs *b); /* those of two pools */
bool eq_monoid(Same *q, const Monoid *a, const Monoid *b);
bool eq_monoids(Same *q, const Monoids *a, const Monoids *b);
bool eq_dims(Same *q, const Dims *a, const Dims *b);
bool eq_checks(Same *q, const DimChecks *a, const DimChecks *b);
bool eq_sum(Same *q, const EinSum *a, const EinSum *b);

/* ---- checks: sum/check.c -----------------------------------------------------------------------
 * Each check reports what it finds: everything into `out`, a line each; or, for a text, only first causes, as
 * complaints. */
typedef struct SumCheck {
  Buf *out;
  Diags *d;                            /* complaints about a text, and `out` stays empty; or NULL */
  bool ok;
  void *ctx;
  void (*where)(void *ctx, Buf *out);  /* prints the current item: "vertex %3 E"; or nothing */
  Span (*line)(void *ctx);             /* for a text: its position */
  bool (*follows)(void *ctx);          /* for a text: whether its mistake follows from an earlier one; records that it
                                        * has a mistake */
  void (*read)(void *ctx, const Expr *e); /* checks a read; it may call check_read_slot */
  Arena *arena;
  Exprs *exprs;
  Map dims, monoids, extents;          /* by name; those declared; extents found correct */
  uint32_t *stamp, room, now;          /* by id of an expression: when it was walked */
  VEC(const Expr *) stack;
  uint32_t labels, level;              /* the number of labels, and of repeats around */
  ReadTable reads;                     /* of the current EinSum, in order */
  DType param;                         /* of the current monoid */
} SumCheck;

#define WALK_ALL (~0u)
bool is_name(Str s); /* it exists and is not empty */
/* Complains if `what` number i has no name, or that of one before it. */
void check_own_name(SumCheck *c, Map *names, const char *what, uint32_t i, Str name);
SumCheck sum_check_new(Buf *out, Arena *a, Exprs *p, void *ctx, void (*where)(void *ctx, Buf *out));
void check_fail(SumCheck *c, const char *fmt, ...) EIN_PRINTF(2, 3);
const char *check_dtype_name(DType t); /* of any value */
/* Visits each part that was not walked since `now` changed, arguments first, left to right. Skips parts that contain
 * no bit of `has`. */
void check_walk(SumCheck *c, const Expr *top, unsigned has, void (*visit)(SumCheck *, const Expr *));
void check_dims(SumCheck *c, const Dims *dims);   /* declares them */
void check_dim_name(SumCheck *c, const Expr *e);  /* a visitor: dims are declared and without value; no `within` */
void check_part(SumCheck *c, const Expr *e);      /* a visitor: also labels, turns and reads */
bool check_extent(SumCheck *c, const char *what, const Expr *e);
void check_checks(SumCheck *c, const DimChecks *checks);
void check_monoids(SumCheck *c, const Monoids *monoids); /* declares them */
void check_reducer(SumCheck *c, const EinSum *s);
void check_expressions(SumCheck *c, const EinSum *s);
void check_by(SumCheck *c, const EinSum *s, bool moved); /* the rest of s must be sound; moved: as in sum_by_wrong */
void check_read_slot(SumCheck *c, uint64_t operand, const Expr *read); /* its slot is the canonical one */

#endif
