#!/bin/sh
# suite: quick
# ein bench --peers: what is handed on to the benchmark, and what is not.
. "$(dirname "$0")/common"
command -v python3 >/dev/null || { echo 'ok - skipped: no python3'; finish; }

mkdir stub
printf 'import os, sys\nprint(" ".join(os.path.basename(w) for w in sys.argv))\nsys.exit(7)\n' >stub/peers.py
EIN_BENCH=$PWD/stub
export EIN_BENCH
want 7 "$EIN" bench --peers gemm rows --threads 2 --reps 5 --cc clang --machine m.json -o r.json
shows "peers.py ein --threads 2 --rounds 5 --cc clang --machine m.json --json r.json --group gemm rows"
want 7 "$EIN" bench --peers
shows "peers.py ein"
want 2 "$EIN" bench --peers --flags=-O1
says "--flags is for a program, not for --peers"
EIN_BENCH=$PWD/nowhere
want 2 "$EIN" bench --peers # as python3 says it: there is no such file
finish
