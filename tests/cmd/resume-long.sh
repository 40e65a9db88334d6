#!/bin/sh
# suite: long
# As resume.sh, killed a hundred times, and of all programs of tests/run that have a name of loops.
KILLS=100 PROGRAMS=8 exec "$(dirname "$0")/resume.sh"
