/* algebra/rules/fns.h - functions of the table in value.c and conditions of the table in cond.c that are defined in
 * other files. */
#ifndef EIN_RULE_FNS_H
#define EIN_RULE_FNS_H

#include "inside.h"

/* A shift stands alone: it is by a key of its operand. */
bool map_shifts(const AlgNode *map);
AlgNode *with_functions(RuleMatch *m, const AlgNode *of, const AlgNode *map);
RuleFn map_compose, map_keys_of, map_functions, map_below, map_across, map_above;
RuleFn join_then, join_narrow, join_at, join_settled, join_kept, join_adding, join_hits, join_asked, join_answered;
RuleFn keep_part, keep_taken, join_wanting, join_loose;
RuleTest test_unbroken_operands, test_wanted, test_readable;
/* The only read of the second operand; NULL: none, or there are several. */
const Expr *join_second_read(RuleMatch *m, const EinSum *s, bool *several);
bool join_holes(const AlgNode *join); /* some wanted operand has holes */

#endif
