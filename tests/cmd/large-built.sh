#!/bin/sh
# suite: ci
# Random programs with large tensors build to loops whose texts pass the checks: see random/large.py.
. "$(dirname "$0")/common"

python3 "$here/../random/large.py" "$EIN" 0 1000 ${EIN_TURN:+2 $((EIN_TURN % 2))} || wrong "large programs are not built"
finish
