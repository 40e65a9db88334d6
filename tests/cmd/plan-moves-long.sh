#!/bin/sh
# suite: long
# Every program on all those numbers of sites: see plan-moves.
MOVES_SITES="2 4 6 16" exec sh "$(dirname "$0")/plan-moves.sh"
