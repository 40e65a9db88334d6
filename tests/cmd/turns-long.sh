#!/bin/sh
# suite: long
# Ten thousand: see turns.
TURNS=10000 exec sh "$(dirname "$0")/turns.sh"
