#!/bin/sh
# suite: ci
# Random programs of many statements of different kinds, reductions that choose by ranges of labels, contractions, and
# states that are updated from rows: in process, and on sites, they give what the evaluator gives.
. "$(dirname "$0")/common"
turn 3
XDG_CACHE_HOME=$work/cache
export XDG_CACHE_HOME
unset EIN_TARGET
python3 "$here/../random/mixtures.py" "$EIN" 0 4 jit 3 || wrong "mixtures differ"
python3 "$here/../random/choices.py" "$EIN" 10 12 jit 3,--deterministic || wrong "choices differ"
python3 "$here/../random/contractions.py" "$EIN" 0 9 jit 3 || wrong "contractions differ"
python3 "$here/../random/updates.py" "$EIN" 16 18 jit 2,--threads=2 || wrong "updates differ"
finish
