#!/bin/sh
# suite: ci
# What a process of a library over MPI allocates is the memory of its plan, and a few kB; also under a limit.
. "$(dirname "$0")/common"
mpi_builds
tool=$(dirname "$0")/../mpi/allocated.py
want 0 python3 "$tool" "$EIN" --ranks 3 'product, f16' attention 'step of training'
want 0 python3 "$tool" "$EIN" --ranks 4 'chain of three'
want 0 python3 "$tool" "$EIN" --ranks 2 --memory 0.85 'sums so far'
finish
