#!/bin/sh
# suite: ci
# Random sessions at the prompt: an answer depends on what is defined, and not on what was defined or asked before.
. "$(dirname "$0")/common"
command -v python3 >/dev/null || {
  echo "no python3: not tested"
  exit 77
}
want 0 python3 "$here/../random/sessions.py" "$EIN" 0 25
shows 'answers compared, 0 differ'
finish
