#!/bin/sh
# suite: ci
# Random programs of many statements of different kinds, reductions that choose by ranges of labels, and contractions: in
# process, and on three sites, they give what the evaluator gives.
. "$(dirname "$0")/common"
XDG_CACHE_HOME=$work/cache
export XDG_CACHE_HOME
unset EIN_TARGET
python3 "$here/../random/mixtures.py" "$EIN" 0 4 jit 3 || wrong "mixtures differ"
python3 "$here/../random/choices.py" "$EIN" 10 12 jit 3,--deterministic || wrong "choices differ"
python3 "$here/../random/contractions.py" "$EIN" 0 9 jit 3 || wrong "contractions differ"
finish
