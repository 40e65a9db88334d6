#!/bin/sh
# suite: long
# A thousand: see mpi-repeats.
REPEATS=1000 exec sh "$(dirname "$0")/mpi-repeats.sh"
