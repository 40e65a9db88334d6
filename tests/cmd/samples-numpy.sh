#!/bin/sh
# suite: ci
# Samples in other sizes beside references in NumPy, compiled, on one rank and on four. tests/samples has the references.
. "$(dirname "$0")/common"
XDG_CACHE_HOME=$work/cache
PYTHONDONTWRITEBYTECODE=1
export XDG_CACHE_HOME PYTHONDONTWRITEBYTECODE

for python in python3 /usr/bin/python3; do
  "$python" -c 'import numpy' 2>/dev/null && break
  python=
done
[ -n "$python" ] || {
  echo "no NumPy: not tested"
  exit 77
}
beside() { # RANKS...
  want 0 "$python" "$here/../samples/beside_numpy.py" "$EIN" "$here/../../samples" "$@"
  cat out
}
if (mpi_ready) >/dev/null; then
  mpi_ready
  beside 1 4
else
  echo "no MPI: tested on one rank only"
  beside 1
fi
finish
