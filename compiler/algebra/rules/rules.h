/* algebra/rules/rules.h - when two programs of the implementation algebra are the same: its rules, as data (TRA paper, Tables 1 and 2).
 *
 * A rule is a line of rules.def: a pattern, a result, conditions. Two relations are the same where they hold the same keys and arrays,
 * sites projected away; parts that are still to be aggregated count as what they add up to. Local operations do not respect that by
 * themselves, so a rule also says what it asks of placements, and what is in parts stays in parts or is finished, never the other way.
 *
 *   R L        relations: any node; R... all operands of a join, however many
 *   p q        predicates of filters     f h   maps, whole: tile, rekey, functions     g k   which keys an aggregation keeps
 *   o u        its reducer, with the functions behind it     j   a join: kernel, ranges, keys, functions     x y d   placements
 *
 * What stands in the result alone (d) is given by who applies the rule. `move` is any, `bcast` and `shuf` are one kind of it; `move?` and
 * `filter?` are there or not. A function in a result that has no value (a placement that cannot be said over other keys) is a condition too. */
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
  const Placement *to;       /* d; NULL: a rule that has one does not apply */
  unsigned unasked;          /* for tests: bit k: condition k is not asked */
} RuleGiven;

Rules *alg_rules_new(Arena *a);
const Rule *rule_find(const Rules *r, const char *name); /* NULL: none such */
/* The rules, their functions and conditions as tables in Markdown: docs/languages-inside.md has them. */
void rules_print(Buf *out, const Rules *r);

/* Rewrites the node by the rule, in place: its users see the new one. New nodes stand before it with ids of their own (algebra_sweep
 * numbers all anew); what it was made of stays as it was. Keys and arrays stay; where it is may change, and then its users follow
 * (algebra_reinfer). False with a line in `why` and nothing changed: no match, a condition does not hold, or a user no longer fits. */
bool rule_apply(Algebra *p, const Rule *rule, AlgNode *at, const RuleGiven *given, Buf *why);

/* Where nodes are, after `changed` got another placement: that of all that is made of it. Moves and joins that can stay where they are do.
 * False, and nothing changed, where something could not be any more: parts that are joined, that are given out or that go through a
 * function, keys that no longer meet, a state that would wander. */
bool algebra_reinfer(Algebra *p, AlgNode *changed, const Placement *was, Buf *why);
/* Nodes that nobody reads go, and moves that move nothing; ids are given anew, in order. */
void algebra_sweep(Algebra *p);

/* The relation may have several tuples with one key, parts of what they add up to: it is in parts, or comes from what is by moves, filters
 * and maps alone. */
bool alg_in_parts(const Algebra *p, const AlgNode *n);

#endif
