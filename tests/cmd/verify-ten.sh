#!/bin/sh
# Ten programs of many kinds, compiled and compared with the evaluator: what cmd/verify-all does with all, in time for the quick suite.
VERIFY_THESE="tests/run/argmax_ties tests/run/covered_reduction tests/run/empty_is_zero tests/run/nested_repeat tests/run/scan_low_end
  samples/02_attention samples/04_domains samples/05_gather_scatter samples/07_monoids samples/08_groups"
export VERIFY_THESE
exec sh "$(dirname "$0")/verify-all.sh"
