#!/bin/sh
# suite: ci
# Masks of zeros and ones become predicates, and hide no NaN and no infinity: random ones, by the evaluator on the graph
# after the passes, in process and on three sites, and by the evaluator on the program as written.
. "$(dirname "$0")/common"
turn 3
XDG_CACHE_HOME=$work/cache
export XDG_CACHE_HOME
unset EIN_TARGET
python3 "$here/../random/masks.py" "$EIN" 0 40 optimised || wrong "masks differ"
python3 "$here/../random/masks.py" "$EIN" 40 41 jit 3 || wrong "masks differ"
python3 "$here/../random/masks.py" "$EIN" 41 42 jit,--deterministic || wrong "masks differ"
finish
