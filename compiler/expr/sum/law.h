/* expr/sum/law.h - the laws of EinSums and of what stands around them, for the languages that are made of them: when
 * two are equal, which slots are canonical, and what a checker looks at. */
#ifndef EIN_EXPR_SUM_LAW_H
#define EIN_EXPR_SUM_LAW_H

#include "expr/einsum.h"
#include "expr/lines.h"

enum { /* what the texts and checkers allow */
  SUM_LABELS = 4095,         /* labels of one EinSum of a graph */
  SUM_RANK = 255             /* dimensions of one tensor, output labels of one EinSum; from tasks on all of its labels */
};

uint32_t sum_hash(const EinSum *s); /* over all fields but hash */
bool sum_same(const EinSum *a, const EinSum *b); /* of one pool: all fields but hash */
const Expr *extent_normal(Exprs *p, const Expr *e); /* expr_normal with a short way for numbers and dims */

/* ---- slots: sum/slots.c ------------------------------------------------------------------------
 * Reads by (operand, index list), whatever slot they stand with. Two slots have one operand if and only if their
 * tensors are the same: then they have the same number, the caller's. */
typedef struct ReadTable {
  Arena *arena;
  Map chains;           /* hash to the newest of its reads */
  VEC(uint32_t) from;   /* by slot: the number that its first read has */
} ReadTable;
uint32_t read_slot(ReadTable *t, uint64_t operand, const Expr *read); /* finds the slot, or makes it the next one */

/* Slots are numbered by first occurrence, inner reads before the read that they index, in body, where, domain. Equal
 * reads become one slot and what does not occur is dropped; a slot read with several index lists becomes several.
 * Changes s->body, where, domain and n_slot; gives for each new slot the number of the old one. */
const uint32_t *sum_canonical_slots(Arena *a, Exprs *p, EinSum *s, uint64_t (*operand)(void *ctx, uint32_t slot), void *ctx);

/* ---- equality: same.c --------------------------------------------------------------------------
 * The two sides may come of different pools and tables, so names are compared as text and expressions by their
 * structure, each shared part once. Each function is false where the sides differ, having said how in `why`. */
typedef struct ExprPair { const Expr *a, *b; } ExprPair;
typedef struct Same {
  Arena *arena;
  Buf *why;             /* NULL: nobody asks */
  bool same_pool;
  const Expr **to;      /* by id of a's expression: b's, once they are known to be equal */
  uint32_t room;
  VEC(ExprPair) stack;
  void *ctx;
  void (*where)(void *ctx, Buf *out); /* what is at hand, before the complaint; or NULL */
} Same;
bool differ(Same *q, const char *fmt, ...) EIN_PRINTF(2, 3); /* false, always */
bool same_text(Str a, Str b);
bool eq_str(Same *q, const char *what, Str a, Str b);
bool eq_int(Same *q, const char *what, int64_t a, int64_t b);
bool eq_place(Same *q, Place a, Place b);
bool eq_expr(Same *q, const char *what, const Expr *a, const Expr *b);
bool eq_exprs(Same *q, const char *what, uint32_t n, const Expr *const *a, const Expr *const *b);
bool eq_externs(Same *q, const Exprs *a, const Exprs *b); /* those of two pools */
bool eq_monoid(Same *q, const Monoid *a, const Monoid *b);
bool eq_sum(Same *q, const EinSum *a, const EinSum *b);

/* ---- checks: sum/check.c -----------------------------------------------------------------------
 * Each reports what it finds: into `out`, all of it, a line each; or as complaints about a text, first causes alone. */
typedef struct SumCheck {
  Buf *out;
  Diags *d;                            /* a text's complaints, and nothing goes into `out`; or NULL */
  bool ok;
  void *ctx;
  void (*where)(void *ctx, Buf *out);  /* what is at hand: "vertex %3 E"; or nothing; */
  Span (*line)(void *ctx);             /*   of a text: where it stands, */
  bool (*follows)(void *ctx);          /*   and whether what is wrong with it follows from what was said; takes note that something is */
  void (*read)(void *ctx, const Expr *e); /* a read: whether it is a sound one; it may call check_read_slot */
  Arena *arena;
  Exprs *exprs;
  Map dims, monoids, extents;          /* by name; the ones declared; extents found well */
  uint32_t *stamp, room, now;          /* by id of an expression: when it was walked */
  VEC(const Expr *) stack;
  uint32_t labels, level;              /* how many labels there are, and repeats around */
  ReadTable reads;                     /* of the EinSum at hand, as they come */
  DType param;                         /* of the monoid at hand */
} SumCheck;

#define WALK_ALL (~0u)
bool is_name(Str s); /* it is there, and not empty */
SumCheck sum_check_new(Buf *out, Arena *a, Exprs *p, void *ctx, void (*where)(void *ctx, Buf *out));
void check_fail(SumCheck *c, const char *fmt, ...) EIN_PRINTF(2, 3);
const char *check_dtype_name(DType t); /* of any value */
/* Visits each part that was not walked since `now` changed, arguments first, left to right; parts without any of `has`
 * inside are passed by. */
void check_walk(SumCheck *c, const Expr *top, unsigned has, void (*visit)(SumCheck *, const Expr *));
void check_dim(SumCheck *c, uint32_t number, Str name, bool known, int64_t value); /* declares it */
void check_dim_name(SumCheck *c, const Expr *e);  /* a visitor: dims are declared and without value; no `within` */
void check_part(SumCheck *c, const Expr *e);      /* a visitor: labels, turns and reads too */
bool check_extent(SumCheck *c, const char *what, const Expr *e);
void check_condition(SumCheck *c, uint32_t number, const Expr *e); /* of a check, over dims */
void check_monoid(SumCheck *c, const Monoid *m);  /* declares it */
void check_reducer(SumCheck *c, const EinSum *s);
void check_expressions(SumCheck *c, const EinSum *s);
void check_by(SumCheck *c, const EinSum *s, bool moved); /* of one that is sound in all else; moved: as in sum_by_wrong */
void check_read_slot(SumCheck *c, uint64_t operand, const Expr *read); /* its slot is the canonical one */

#endif
