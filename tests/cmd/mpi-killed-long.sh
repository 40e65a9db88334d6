#!/bin/sh
# suite: long
# Five hundred: see mpi-killed.
KILLS=500 exec sh "$(dirname "$0")/mpi-killed.sh"
