#!/bin/sh
# suite: ci
# Plans of long chains take time and memory in proportion to their equations.
. "$(dirname "$0")/common"
command -v python3 >/dev/null || exit 77
want 0 python3 "$here/../plan/growth.py" "$EIN"
finish
