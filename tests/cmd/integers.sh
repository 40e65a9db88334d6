#!/bin/sh
# suite: ci
# Integers are made in types as narrow as their values are (task/passes/narrow.c): random programs compute what the evaluator does, to the byte.
. "$(dirname "$0")/common"
XDG_CACHE_HOME=$work/cache
export XDG_CACHE_HOME
unset EIN_TARGET
python3 "$here/../random/integers.py" "$EIN" 0 6 || wrong "integers differ"
finish
