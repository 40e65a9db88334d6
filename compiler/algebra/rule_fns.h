/* algebra/rule_fns.h - the functions of the table in rule_value.c that stand in other files. */
#ifndef EIN_RULE_FNS_H
#define EIN_RULE_FNS_H

#include "rule_inside.h"

AlgNode *with_functions(RuleMatch *m, const AlgNode *of, const AlgNode *map);
RuleFn value_bare, value_tail;
RuleFn map_compose, map_keys_of, map_functions, map_below, map_across, map_above;
RuleFn join_then, join_narrow, join_at, join_settled, join_kept, join_adding, join_hits;

#endif
