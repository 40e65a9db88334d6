#!/bin/sh
# suite: long
# bench/smpi.py: a product's emitted MPI code on a modelled cluster takes what --simulate predicts. Wants SimGrid.
. "$(dirname "$0")/common"
command -v python3 >/dev/null || { echo 'ok - skipped: no python3'; finish; }
command -v smpirun >/dev/null || { echo 'ok - skipped: no SimGrid'; finish; }
mpi_builds

want 0 python3 "$here/../../bench/smpi.py" "$EIN" product
shows "2 of 2 within 15 %"
finish
