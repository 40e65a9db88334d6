#!/bin/sh
# suite: ci
# mpirun -n 4 ein run, and ein run --np: each process is a site of the plan; answers are those of one process, bytes those of the plan; one
# message and one exit code for all, whichever rank fails.
. "$(dirname "$0")/common"
turn 0
mpi_ready
XDG_CACHE_HOME=$work/cache
export XDG_CACHE_HOME

# ---- answers and bytes
cat >mm.ein <<'END'
input A[i:60,k:50] : f32 = 1.0*((i*7 + k*3) % 11 - 5)
input B[k:50,j:41] : f32 = 1.0*((j*7 + k*3) % 11 - 5)
output C[i,j] = sum[k] A[i,k]*B[k,j]
output S = sum[i,j] C[i,j]
output M[i] : i64 = argmax[k] A[i,k]
END
cat >heat.ein <<'END'
input X[n:240] : f32 = 1.0*(n % 7)
repeat t < 9 {
  state U[n:240] : f32 = X[n]
  next U[n] = if n > 0 and n < 239 then U[n-1] + U[n] + U[n+1] else U[n]
}
output Y[n] = U[n]
END
for p in mm heat; do
  want 0 "$EIN" run $p.ein -o all=one/
  for n in 2 3 4 7; do
    want 0 ein_ranks $n $p.ein -v -o all=many-$n/
    plan=$(sed -n 's/.*: the plan.s sites receive \([0-9]*\) bytes/\1/p' err)
    counted=$(sed -n "s/.*: $n sites received \([0-9]*\) bytes/\1/p" err)
    [ -n "$plan" ] && [ "$plan" = "$counted" ] || wrong "$p on $n ranks: planned $plan bytes, counted $counted"
    [ "$plan" = 0 ] && wrong "$p on $n ranks moves nothing"
    for f in one/*.npy; do cmp -s $f many-$n/${f#one/} || wrong "$p on $n ranks: $f has other bytes"; done
  done
  rm -r one
done
want 0 "$EIN" run --np 3 mm.ein --flags=-O0 --target=mpi
shows 'C[i:60, j:41] : f32'
[ "$(grep -c '^S : f32' out)" = 1 ] || wrong "outputs are not printed once"
want 0 "$EIN" run --np 1 mm.ein
shows 'S : f32'
# A mistake in the program starts no processes, whose launcher would comment on their end.
printf 'input X[i:3]\noutput Y[i] = X[k]\n' >mistaken.ein
want 1 "$EIN" check mistaken.ein
cp err told
want 1 "$EIN" run --np 3 mistaken.ein X=ones
cmp -s err told || wrong "a mistake is reported as $(cat err)"
want 2 "$EIN" run --np 3
says 'which program? ein run --np 4 x.ein'
want 2 "$EIN" run --np 2 - <mm.ein
says '--np: standard input reaches the first process only'
"$EIN" build mm.ein -n 4 --stop=task >mm.task
want 0 ein_ranks 4 mm.task A=ones B=ones
shows 'S : f32 = 123000.0'
want 2 ein_ranks 3 mm.task A=ones B=ones
once 'mm.task is for 4 sites, and mpirun has started 3 processes'
for form in ia tra; do
  want 0 "$EIN" plan mm.ein -n 4 --format=$form -o mm.$form
  want 0 ein_ranks 4 mm.$form A=ones B=ones
  shows 'S : f32 = 123000.0'
done
want 2 ein_ranks 3 mm.ia A=ones B=ones
once 'mm.ia is for 4 sites, and mpirun has started 3 processes'
want 2 ein_ranks 4 mm.ia -n 4 A=ones B=ones
once '-n: mm.ia itself says on how many sites it runs'
printf 'plan 1\nsites 4\nmesh 2\nvertex C axes i\n' >idle.plan
want 0 "$EIN" run mm.ein --plan=idle.plan
want 2 ein_ranks 4 mm.ein --plan=idle.plan
once 'the plan leaves 2 of 4 sites idle, and no process may be: start 2 processes, with a plan that says sites 2'
sed 's/^sites 4/sites 2/' idle.plan >busy.plan
want 0 ein_ranks 2 mm.ein --plan=busy.plan

# ---- more threads than processors, said once
n=$(getconf _NPROCESSORS_ONLN)
want 0 ein_ranks 2 mm.ein --threads "$n"
[ "$n" = 1 ] || once "2 processes with $n threads each on $n processors: they will wait for each other"
OMP_NUM_THREADS=$n want 0 ein_ranks 2 mm.ein
[ "$n" = 1 ] || once "2 processes with $n threads each on $n processors: they will wait for each other"
want 0 ein_ranks 2 mm.ein --threads 1
[ "$n" = 1 ] || silent

# ---- for 13 sites ein plan prefers 12 of them; but 13 processes are 13 sites
want 0 "$EIN" plan "$here/../run/input_default.ein" -n 13
shows '1 site idle'
want 0 "$EIN" build "$here/../run/input_default.ein" -n 13 --stop=task
shows 'mesh 13'
want 0 ein_ranks 13 --expect "$here/../run/input_default.ein"

# ---- what is really sent, by a shim between ein and MPI: the planned bytes; and no program is started once MPI is
shim=$(dirname "$EIN")/tests/mpi/mpi_shim.so
programs=
for p in attention_masks causal_mask convolution cumulative_sum row_argmax_lanes game_of_life until_stop until_at_once packed_convolution \
  argmax_group; do
  programs="$programs $here/../run/$p.ein"
done
for n in 2 3 4 7; do
  # shellcheck disable=SC2086
  want 0 ein_ranks $n -v --expect $programs # compiled now
  planned=$(sed -n 's/.*: the plan.s sites receive \([0-9]*\) bytes/\1/p' err | awk '{n += $1} END {printf "%d", n}')
  [ "$(grep -c 'expectations* met' err)" = 10 ] || wrong "not all of 10 programs ran on $n ranks"
  # shellcheck disable=SC2086
  EIN_TEST_COUNT=$work/count want 0 timeout 60 mpirun -n $n -x EIN_TEST_COUNT -x LD_PRELOAD="$shim" "$EIN" run --flags=-O0 --expect $programs
  counted=$(awk '{n += $1} END {printf "%d", n}' count)
  [ "$planned" -gt 1000 ] && [ "$planned" = "$counted" ] || wrong "on $n ranks $planned bytes are planned, and $counted are sent"
  [ "$(wc -l <count)" = $n ] || wrong "not all ranks counted"
done

# ---- an error of MPI's, at one rank and for a moment: all end, that rank tells what MPI says
for k in 1 3; do
  EIN_TEST_FAIL=$k want 4 timeout 60 mpirun -n 3 -x EIN_TEST_FAIL -x LD_PRELOAD="$shim" "$EIN" run --flags=-O0 mm.ein -o C=fails.npy
  once 'an exchange between sites failed: MPI_Isend: MPI_ERR_OTHER'
  [ ! -e fails.npy ] || wrong "an output of a run in which MPI failed"
done

# ---- what goes wrong, once
cat >pick.ein <<'END'
input T[a:300] : f32 = 1.0*a
input I[n:512] : i64
output Y[n] = T[I[n]]
END
want 0 ein_ranks 4 pick.ein I=zeros
want 1 ein_ranks 4 pick.ein I=iota -o Y=y.npy
once 'index 1 of T, read for Y: ' # sites 2 and 3 have such places; which one is first, nobody knows
grep -qE 'site (2: .*: 300|3: .*: 384) is out of range, its size is 300' err || wrong "$line: $(cat err)"
[ -z "$(ls y.npy* .y.npy* 2>/dev/null)" ] || wrong "an output of a run that failed"
want 2 ein_ranks 4 pick.ein J=iota
once 'has no input J'
want 2 ein_ranks 2 pick.ein I=iota -n 3
once 'is for 3 sites, and mpirun has started 2 processes'
want 2 ein_ranks 2 pick.ein I=iota --target=c
once -- '--target=c runs in one process, and mpirun has started 2'
want 4 ein_ranks 2 pick.ein I=zeros -o Y=nowhere/y.npy
once 'nowhere'
want 4 ein_ranks 2 gone.ein
once 'cannot read gone.ein'
# ---- another program, or other sizes, than the first process has
printf 'dim N = 8\noutput Y[n:N] = n\n' >size.ein
printf 'output Y[n:8] = n + 1\n' >other.ein
want 2 timeout 60 mpirun -n 1 "$EIN" run size.ein : -n 1 "$EIN" run size.ein -D N=12
once 'process 1 has another program than the first process, or other sizes: size.ein, and the first size.ein; give all the same'
mkdir 'an "at @" sign'
cp size.ein 'an "at @" sign/copy.ein'
want 0 timeout 60 mpirun -n 1 "$EIN" run size.ein : -n 1 "$EIN" run 'an "at @" sign/copy.ein'
grep -q '0  1  2  3  4  5  6  7' out || wrong "a copy of the program: $(cat out)"
want 2 timeout 60 mpirun -n 2 "$EIN" run size.ein : -n 1 "$EIN" run other.ein
once 'process 2 has another program than the first process, or other sizes: other.ein, and the first size.ein'
want 2 "$EIN" run --target=mpi pick.ein
says 'ein run --np 4'
want 2 "$EIN" run --np some pick.ein
says 'expected a number of processes'
want 4 "$EIN" run --np 1000000000 pick.ein
says '--np 1000000000: the memory of this machine is enough for '
# ---- without the object by which ein calls MPI: of all processes, or of one
mkdir alone
cp "$EIN" "$EIN.source" alone
want 4 timeout 60 mpirun -n 3 alone/ein run size.ein
once 'a launcher has started 3 processes, but there is no ein_mpi.so beside this ein'
want 4 timeout 60 mpirun -n 1 "$EIN" run size.ein : -n 1 alone/ein run size.ein
once 'a launcher has started 2 processes, but there is no ein_mpi.so beside this ein'
# ---- as srun says it; the rest is PMIx
cat >srun.sh <<'END'
export SLURM_PROCID=$OMPI_COMM_WORLD_RANK SLURM_STEP_NUM_TASKS=$OMPI_COMM_WORLD_SIZE SLURM_STEP_TASKS_PER_NODE='3(x1)'
unset OMPI_COMM_WORLD_RANK OMPI_COMM_WORLD_SIZE OMPI_COMM_WORLD_LOCAL_SIZE
exec "$@"
END
want 0 timeout 60 mpirun -n 3 sh srun.sh "$EIN" run size.ein -v --flags=-O0
once 'size.ein: 3 sites received '
mkdir bin
PATH=$work/bin want 4 "$EIN" run --np 4 pick.ein
says 'there is no mpirun'
PMI_RANK=0 PMI_SIZE=2 want 4 "$EIN" run pick.ein I=zeros --flags=-O0
says "the launcher is another MPI's"

# ---- a rank that is killed takes all along, at once, and leaves no output
cat >long.ein <<'END'
input X[n:4000] : f32 = 1.0*(n % 7)
repeat t < 1000000000 {
  state U[n:4000] : f32 = X[n]
  next U[n] = if n > 0 and n < 3999 then 0.25*U[n-1] + 0.5*U[n] + 0.25*U[n+1] else U[n]
}
output Y[n] = U[n]
END
want 0 "$EIN" build long.ein -n 4 --stop=task # it can be planned
mpi_kill "$EIN" run --flags=-O0 long.ein -o Y=long.npy
[ -z "$(find . -name 'long.npy*' -o -name '.*npy*')" ] || wrong "a rank that was killed leaves an output"

# ---- what mpirun and srun say
unset OMPI_COMM_WORLD_RANK
SLURM_PROCID=0 SLURM_NTASKS=4 want 0 "$EIN" run mm.ein
PMI_RANK=0 PMI_SIZE=1 want 0 "$EIN" run mm.ein
finish
