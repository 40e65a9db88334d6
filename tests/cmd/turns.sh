#!/bin/sh
# suite: ci
# A thousand expressions in one session of the prompt, compiled in process where that is built: neither memory nor the time of a turn
# grows. turns.py says what they are.
. "$(dirname "$0")/common"
command -v python3 >/dev/null && [ -r /proc/self/stat ] || exit 77
XDG_CACHE_HOME=$work/cache
export XDG_CACHE_HOME
unset EIN_TARGET
want 0 python3 "$here/turns.py" "$EIN" "${TURNS:-1000}"
finish
