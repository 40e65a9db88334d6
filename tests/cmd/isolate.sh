#!/bin/sh
# suite: ci
# Computing in a process of its own: what ends it takes nothing along. isolate.py has the sessions.
. "$(dirname "$0")/common"
command -v python3 >/dev/null || exit 77
[ -r /proc/self/stat ] || {
  echo "no /proc: not tested"
  exit 77
}
XDG_CACHE_HOME=$work/cache
export XDG_CACHE_HOME

want 0 python3 "$here/isolate.py" "$EIN"
cat out

# A pipe without --json ends at what went wrong, as it does without a worker.
printf 'x = 2\nx * 3\nx[\n' >lines
want 1 "$EIN" repl --isolate <lines
shows "i64 = 6"
finish
