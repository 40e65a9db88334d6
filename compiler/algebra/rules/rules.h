/* algebra/rules/rules.h - the rules for equal programs of the implementation algebra, as data (TRA paper, Tables 1
 * and 2).
 *
 * A rule is a line of rules.def: a pattern, a result, conditions. Two relations are equal if they hold the same keys
 * and arrays, ignoring sites; parts that are still to be aggregated count as their sum. Local operations alone do not
 * guarantee that, so a rule also states conditions on placements. What is in parts stays in parts or is finished,
 * never the other way.
 *
 *   R L        relations: any node; R... all operands of a join, however many
 *   p q        predicates of filters     f h   maps, whole: tile, rekey, functions     g k   which keys an aggregation
 * keeps o u        its reducer, with the functions behind it     j   a join: kernel, ranges, keys, functions     x y d
 * placements
 *
 * The caller supplies what occurs only in the result (d, or h, k and u). `move` matches any move, `bcast` and `shuf`
 * one kind; `move?` and `filter?` are optional. A function in a result that has no value (a placement that cannot be
 * expressed over other keys) is also a condition. */
#ifndef EIN_ALGEBRA_RULES_H
#define EIN_ALGEBRA_RULES_H

#include "algebra/algebra.h"

typedef struct RuleTerm RuleTerm;

enum { RULE_CONDITIONS = 6 };

typedef struct Rule {
  const char *name;          /* "R1-4 below" */
  const char *pattern, *result, *conditions, *about; /* as in rules.def */
  const RuleTerm *from, *to;
  uint32_t n_if;
  const RuleTerm *test[RULE_CONDITIONS];
} Rule;

typedef struct Rules { uint32_t n; const Rule *at; } Rules;

typedef struct RuleGiven {
  const Placement *to;       /* d; NULL: a rule with a d does not apply. The same of the others */
  const AlgNode *pieces;     /* h: a tile of a relation with such keys */
  const AlgNode *laid;       /* k and u: a concat of the pieces, after they were aggregated */
  unsigned unasked;          /* for tests: bit k: do not check condition k */
} RuleGiven;

Rules *alg_rules_new(Arena *a);
const Rule *rule_find(const Rules *r, const char *name); /* NULL: there is none */
/* Prints the rules, their functions and conditions as Markdown tables, for docs/languages-inside.md. */
void rules_print(Buf *out, const Rules *r);

/* Rewrites the node by the rule, in place: its users see the new one. New nodes stand before it with new ids
 * (algebra_sweep renumbers all nodes); its old operands stay as they were. Keys and arrays stay the same. The
 * placement may change, and then its users follow (algebra_reinfer). Returns false, with a line in `why` and nothing
 * changed, if the rule does not match, a condition does not hold, or a user no longer fits. */
bool rule_apply(Algebra *p, const Rule *rule, AlgNode *at, const RuleGiven *given, Buf *why);

/* Updates the placements of all nodes that depend on `changed`, after it got another one. Moves and joins that can
 * keep their placement do. Returns false, and changes nothing, if something is no longer possible: parts that are
 * joined, that are an output or go through a function, keys that no longer meet, or a state that would change its
 * placement. */
bool algebra_reinfer(Algebra *p, AlgNode *changed, const Placement *was, Buf *why);
/* Drops nodes that nobody reads and, with `idle`, moves that move nothing. Renumbers the nodes in order. */
void algebra_sweep(Algebra *p, bool idle);

/* Whether the relation may have several tuples with one key, parts of one sum: it is in parts, or comes from such a
 * relation by moves, filters and maps alone. */
bool alg_in_parts(const Algebra *p, const AlgNode *n);

#endif
