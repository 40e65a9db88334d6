#!/bin/sh
# suite: long
# What sentences and tables of docs/papers.md and docs/gallery.md say is what plans count and predict: bench/papers.py makes each figure. The blocks are
# tested with the documentation.
. "$(dirname "$0")/common"
command -v python3 >/dev/null || exit 77
want 0 python3 "$here/../../bench/papers.py" "$EIN" --counted
grep -q '^Megatron' out || wrong "no figures: $(head -3 out)"
finish
