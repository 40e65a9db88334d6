#!/bin/sh
# suite: ci
# The samples of LLaMA beside a reference in plain Python, in several sizes, by eval and compiled. llama.py has it.
. "$(dirname "$0")/common"
command -v python3 >/dev/null || exit 77
XDG_CACHE_HOME=$work/cache
export XDG_CACHE_HOME

want 0 python3 "$here/llama.py" "$EIN" "$here/../../samples" eval jit
cat out
finish
