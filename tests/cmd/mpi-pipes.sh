#!/bin/sh
# suite: ci
# Readers that close early, and full disks, with many processes: ein run --np, and a program of ein build
# --target=mpi. A closed reader causes no message and no crash; a failed write is reported once, with code 4.
. "$(dirname "$0")/common"
mpi_builds

awk 'BEGIN { print "input A[i:3000,j:9] : f32 = 1.0*((i*7 + j*3) % 11 - 5)"
             for (k = 0; k < 9; k++) printf "output a_rather_long_name_so_that_more_is_written_%d[i,j,k:30,l:2] = A[i,j]*(k + l) + %d\n", k, k }' >wide.ein
want 0 "$EIN" build wide.ein --target=mpi -n 2 --flags=-O0 -o wide
want 0 "$EIN" run --np 2 wide.ein --flags=-O0
[ "$(wc -l <out)" -gt 60 ] || wrong "only $(wc -l <out) lines are written"
cp out whole

{ timeout 60 "$EIN" run --np 2 wide.ein --flags=-O0 2>err; echo $? >code; } | true
[ "$(cat code)" = 0 ] && [ ! -s err ] || wrong "ein run --np without a reader gives $(cat code): $(head -3 err)"
{ timeout 60 "$EIN" run --np 2 wide.ein --flags=-O0 2>err; echo $? >code; } | cat >piped
[ "$(cat code)" = 0 ] && cmp whole piped || wrong "ein run --np through a pipe gives $(cat code): $(head -3 err)"

timeout 60 mpirun -n 2 sh -c '{ ./wide; echo $? >code.$OMPI_COMM_WORLD_RANK; } | true' 2>err
[ "$(cat code.0 code.1 | tr -d '\n')" = 00 ] && [ ! -s err ] || wrong "a program without a reader gives $(cat code.0 code.1): $(head -3 err)"
[ -e /dev/full ] && {
  want 4 ranks 2 sh -c './wide >/dev/full'
  once 'cannot write to standard output'
}
finish
