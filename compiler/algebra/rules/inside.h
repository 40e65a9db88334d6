/* algebra/rules/inside.h - terms, values and matches: what the files of this folder share.
 *
 * Every term has a sort, known when it is read: the letters of variables say theirs, the tables those of functions and conditions. */
#ifndef EIN_RULE_INSIDE_H
#define EIN_RULE_INSIDE_H

#include "rules.h"

typedef enum {               /* sorts, by the letters that the tables use */
  SORT_RELATION = 'R', SORT_KEEP = 'p', SORT_MAP = 'f', SORT_GROUP = 'g', SORT_REDUCER = 'o', SORT_JOIN = 'j', SORT_PLACE = 'x',
  SORT_ALL = '*',            /* all operands of a join: R... */
  SORT_TEST = '?'
} RuleSort;

typedef enum { TERM_VAR, TERM_NODE, TERM_CALL, TERM_TEST } RuleTermKind;

enum { RULE_ARGS = 3 };

typedef struct RuleMatch RuleMatch;

/* A filter's, map's, join's value is a draft: a node that stands nowhere, of which the fields that the sort is about count, and
 * operand[0..] say what it was applied to. A group's node is the relation that is grouped; a reducer's, an aggregation. */
typedef struct RuleValue {
  RuleSort sort;
  AlgNode *node;
  const Expr *keep;
  uint32_t n;
  const uint32_t *group;
  Placement at;
  uint32_t slot;             /* of a relation: which operand it is; of all: its letter */
} RuleValue;

typedef bool RuleFn(RuleMatch *m, const RuleValue *arg, RuleValue *out); /* false: it has no value */
typedef bool RuleTest(RuleMatch *m, const RuleValue *arg);

typedef struct RuleFnInfo { const char *name, *takes; RuleSort gives; RuleFn *fn; const char *about; } RuleFnInfo;
typedef struct RuleTestInfo { const char *name, *takes; RuleTest *test; const char *about; } RuleTestInfo;
extern const RuleFnInfo rule_fns[];     /* ends with a name that is NULL */
extern const RuleTestInfo rule_tests[];

struct RuleTerm {
  RuleTermKind kind;
  RuleSort sort;
  char letter;               /* VAR */
  bool each;                 /* of all operands of a join */
  bool maybe;                /* NODE: a move or a filter that need not be there */
  bool bcast, shuf;          /* NODE: a move of this kind */
  AlgKind op;                /* NODE */
  const RuleFnInfo *fn;      /* CALL */
  const RuleTestInfo *test;  /* TEST */
  uint32_t n;
  const RuleTerm **arg;      /* NODE: first its attributes, `n_attr` of them */
  uint32_t n_attr;
};

struct RuleMatch {
  Algebra *p;
  const Rule *rule;
  AlgNode *root;
  const RuleGiven *given;
  Buf *why;
  RuleValue var[128];        /* by letter; sort 0: free */
  AlgNode **each[128];       /* by letter: what it stands for in each operand of the one join */
  uint32_t n_each;
  uint32_t operand;          /* of the join that is being matched or made */
  bool in_each;
  AlgRegion scratch;         /* builders put nodes here; those of the result are taken out */
  VEC(AlgNode *) made;       /* the result's nodes, in order */
};

bool rule_match(RuleMatch *m, const RuleTerm *t, AlgNode *n);
bool rule_value(RuleMatch *m, const RuleTerm *t, RuleValue *out);
bool rule_holds(RuleMatch *m, const RuleTerm *test);
AlgNode *rule_make(RuleMatch *m, const RuleTerm *t); /* NULL: some function has no value */
void rule_print(Buf *out, const RuleTerm *t);

/* ---- what values are made with ------------------------------------------------------------------------- */

AlgNode *rule_draft(RuleMatch *m, const AlgNode *of); /* a copy, with operands of its own */
/* Where key dimension k of an operand is in a group, or among the keys of a map; -1: it is not there as it was. */
int32_t group_place_of(const RuleValue *group, int64_t key);
int32_t map_place_of(const Algebra *p, const AlgNode *map, int64_t key);
/* A placement of the operand becomes the result's, or the other way: false where a key that is cut has no like. */
bool place_image(const Algebra *p, const RuleValue *through, const Placement *from, Placement *to);
bool place_lift(const Algebra *p, const RuleValue *through, const Placement *from, Placement *to);
/* Names of new keys; what the relation has already gets a tick. */
const Str *names_fresh(RuleMatch *m, const Relation *t, uint32_t n, const Str *key);
bool monoid_elementwise(const AlgNode *aggregate);
bool fns_distribute(const AlgNode *aggregate, DType from, uint32_t n, const AlgFn *fn);
/* Labels of an expression become others: to[k] for label k; NULL: label k must not occur, else NULL comes out. */
const Expr *expr_over(Exprs *p, const Expr *e, uint32_t n, const Expr *const *to);
/* Whether a node may be made of what it is made of, as to parts. */
bool alg_fits(const Algebra *p, const AlgNode *n, Buf *why);
bool placement_whole(const Mesh *m, const Placement *x); /* no parts */
void operand_place(const Algebra *p, const AlgOperand *o, uint32_t n_key, const Placement *of, Placement *out);
int64_t map_keys(const AlgNode *map); /* of what it maps */

#endif
