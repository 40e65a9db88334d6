/* algebra/rules/inside.h - terms, values and matches, shared by the files of this folder.
 *
 * The sort of every term is known when it is read: a variable's letter determines it, and the tables give it for
 * functions and conditions. */
#ifndef EIN_RULE_INSIDE_H
#define EIN_RULE_INSIDE_H

#include "rules.h"

typedef enum { /* sorts, by the letters that the tables use */
  SORT_RELATION = 'R',
  SORT_KEEP = 'p',
  SORT_MAP = 'f',
  SORT_GROUP = 'g',
  SORT_REDUCER = 'o',
  SORT_JOIN = 'j',
  SORT_PLACE = 'x',
  SORT_ALL = '*', /* all operands of a join: R... */
  SORT_TEST = '?'
} RuleSort;

typedef enum { TERM_VAR, TERM_NODE, TERM_CALL, TERM_TEST } RuleTermKind;

enum { RULE_ARGS = 3 };

typedef struct RuleMatch RuleMatch;

/* The value of a filter, map or join is a draft: a node outside the program. Only the fields of its sort count, and
 * operand[0..] says what it was applied to. The node of a group is the grouped relation; that of a reducer is an
 * aggregation. */
typedef struct RuleValue {
  RuleSort sort;
  AlgNode *node;
  const Expr *keep;
  uint32_t n;
  const uint32_t *group;
  Placement at;
  uint32_t slot;             /* of a relation: which operand it is; of `all`: its letter */
} RuleValue;

typedef bool RuleFn(RuleMatch *m, const RuleValue *arg, RuleValue *out); /* false: it has no value */
typedef bool RuleTest(RuleMatch *m, const RuleValue *arg);

typedef struct RuleFnInfo { const char *name, *takes; RuleSort gives; RuleFn *fn; const char *about; } RuleFnInfo;
typedef struct RuleTestInfo { const char *name, *takes; RuleTest *test; const char *about; } RuleTestInfo;
extern const RuleFnInfo rule_fns[];     /* ends with an entry whose name is NULL */
extern const RuleTestInfo rule_tests[];

struct RuleTerm {
  RuleTermKind kind;
  RuleSort sort;
  char letter;               /* VAR */
  bool each;                 /* for each operand of a join */
  bool maybe;                /* NODE: an optional move or filter */
  bool bcast, shuf;          /* NODE: a move of this kind */
  AlgKind op;                /* NODE */
  const RuleFnInfo *fn;      /* CALL */
  const RuleTestInfo *test;  /* TEST */
  uint32_t n;
  const RuleTerm **arg;      /* NODE: its n_attr attributes come first */
  uint32_t n_attr;
};

struct RuleMatch {
  Algebra *p;
  const Rule *rule;
  AlgNode *root;
  const RuleGiven *given;
  Buf *why;
  RuleValue var[128];        /* by letter; sort 0: free */
  AlgNode **each[128];       /* by letter: its value in each operand of the one join */
  uint32_t n_each;
  uint32_t operand;          /* of the join being matched or made */
  bool in_each;
  AlgRegion scratch;         /* builders put nodes here; the result's are taken out */
  VEC(AlgNode *) made;       /* the result's nodes, in order */
};

bool rule_match(RuleMatch *m, const RuleTerm *t, AlgNode *n);
bool rule_value(RuleMatch *m, const RuleTerm *t, RuleValue *out);
bool rule_holds(RuleMatch *m, const RuleTerm *test);
void rule_print(Buf *out, const RuleTerm *t);

/* ---- tools for making values ------------------------------------------------------------------------------- */

AlgNode *rule_draft(RuleMatch *m, const AlgNode *of); /* a copy, with its own operands */
/* The position of an operand's key dimension k in a group, or among the keys of a map; -1: it does not occur
 * unchanged. */
int32_t group_place_of(const RuleValue *group, int64_t key);
/* Converts a placement of the operand to the result's, or back. Returns false if a key that is cut has no
 * counterpart. */
bool place_image(const Algebra *p, const RuleValue *through, const Placement *from, Placement *to);
bool place_lift(const Algebra *p, const RuleValue *through, const Placement *from, Placement *to);
/* Names for new keys; a name that the relation already has gets a tick. */
const Str *names_fresh(RuleMatch *m, const Relation *t, uint32_t n, const Str *key);
/* Replaces the labels of an expression: to[k] for label k; NULL: label k must not occur, else returns NULL. */
const Expr *expr_over(Exprs *p, const Expr *e, uint32_t n, const Expr *const *to);
/* Whether the node's operands may be in parts as they are. */
bool alg_fits(const Algebra *p, const AlgNode *n, Buf *why);
void operand_place(const Algebra *p, const AlgOperand *o, uint32_t n_key, const Placement *of, Placement *out);
int64_t map_keys(const AlgNode *map); /* the number of keys of its operand */

#endif
