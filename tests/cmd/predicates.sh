#!/bin/sh
# suite: ci
# Predicates bound loops and change no result: random ones, in C, in process and on three sites, and the evaluator. They
# must be told from each other: one that is off by one is noticed.
. "$(dirname "$0")/common"
turn 2
XDG_CACHE_HOME=$work/cache
export XDG_CACHE_HOME
unset EIN_TARGET
python3 "$here/../random/predicates.py" "$EIN" 0 3 || wrong "predicates differ"
python3 "$here/../random/predicates.py" "$EIN" 3 8 jit || wrong "predicates differ"
finish
