#!/bin/sh
# suite: ci
# Moves that go from device to device by NCCL, on the stand-ins (tests/cuda/standin): results and bytes received equal the evaluator's, and the bus has
# less to carry by exactly what NCCL carries. Where NCCL cannot be used, runs say why. When NCCL or a site fails, all sites end, and the next run is good.
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$root/tests/cmd/common"
turn 3
look_alikes
unset LD_LIBRARY_PATH # a C compiler and mpirun do without them
EIN_STANDIN_NCCL=$work/nccl TMPDIR=$work
export EIN_STANDIN_NCCL TMPDIR
on_devices() { LD_LIBRARY_PATH=$standin timeout 120 "$@"; }
on="--target=cuda --flags=-O0" # of the code around the kernels, which takes longest to compile
by_nccl() { EIN_NCCL=on on_devices "$@"; }

given_back() { # what the driver and NCCL gave, and the messages
  grep -v 'left: 0 pieces of memory, 0 modules, 0 streams, 0 contexts' "$EIN_STANDIN_REPORT" >left && wrong "not all is given back: $(cat left): $line"
  if [ -e nccl ]; then grep -v ', 0 are left' nccl >left && wrong "communicators are left: $(cat left): $line"; fi
  [ -z "$(ls -d standin-nccl-* 2>/dev/null)" ] || wrong "messages are left: $(ls standin-nccl-*): $line"
  rm -rf "$EIN_STANDIN_REPORT" nccl standin-nccl-*
}
received() { sed -n 's/.*: [0-9]* sites received \([0-9]*\) bytes/\1/p' "$1"; }
between() { sed -n 's/.*, on its device: moves go from device to device, by NCCL; \([0-9]*\) bytes came so$/\1/p' "$1" | awk '{ n += $1 } END { print NR, n + 0 }'; }
bus() { sed -n 's/.*; \([0-9]*\) bytes went there, \([0-9]*\) came back$/\1 \2/p' "$1" | awk '{ up += $1; down += $2 } END { print up, down }'; }

# Blocks of elements of 1, 2, 4 and 8 bytes, whole and as strips, of which several sites get the same; parts, some of which are sums that many sites need.
cat >moves.ein <<'END'
dim N = 37, K = 60
input A[i:N,k:K] : i32 = i32((3 * i + 5 * k) % 11 - 5)
input B[k:K,j:N] : i32 = i32((7 * k + 2 * j) % 13 - 6)
input H[i:N,j:N] : f16 = f16((i + 2 * j) % 9)
input F[i:N,j:N] : u8 = u8((i * j) % 200)
output P[i,j] = sum[k] A[i,k] * B[k,j]
output T[j,i] = P[i,j] - P[j,i]
output G[j,i] = H[i,j]
output E[j,i] = F[j,i] ^ F[i,j]
output at[j] = argmax[i] P[i,j]
output squares = sum[i,j] P[i,j] * P[i,j]
output Q[i,j] = sum[k] T[i,k] * T[k,j]
END
# Halos in each turn, with wrap-around, that move while kernels run; an end that all sites learn.
cat >turns.ein <<'END'
dim N = 24
input start[i:N,j:N] : i64 = (i * 7 + j * 3) % 10
repeat t < 5 until total > 60000 {
  state X[i:N,j:N] = start[i,j]
  next X[i,j] = X[(i+1) % N,j] + (X[i,j-1] ?? 1) - X[i,j] // 2
  state total : i64 = 0
  next total = sum[i,j] X[i,j]
}
output X
output total
END
# Fetches at places from data, along one label and another.
cat >places.ein <<'END'
dim V = 50, D = 6, S = 41
input E[v:V,d:D] : f64 = f64(v * 10 + d)
input L[d:D,v:V] : f32 = f32(d * 100 + v)
input tok[s:S] : i32 = i32((s * s) % V)
output Y[s,d] = E[tok[s],d]
output Z[s,d] = L[d,tok[s]]
END

compare() { # FILE N: two runs, with NCCL and without, in `on` and `off`
  diff -r $1-eval on/ >told || wrong "$line: other values than the evaluator's"
  "$EIN" run $1.ein -n $2 --target=eval -v >out 2>told
  plan=$(received told) got=$(received on.err) all=$(between on.err)
  [ "$got" = "$plan" ] && [ "$(received off.err)" = "$plan" ] || wrong "$line: received $got bytes, the evaluator $plan"
  [ "${all% *}" = $2 ] && [ "${all#* }" -gt 0 ] || wrong "$line: $all bytes by NCCL: $(cat on.err)"
  [ "${all#* }" = "$(awk '{ n += $3 } END { print n }' nccl)" ] || wrong "$line: NCCL has received other bytes: $(cat nccl), not $all"
  # What comes from another device does not cross the bus, but parts do; what goes to several crosses it once for all.
  # shellcheck disable=SC2046
  set -- "${all#* }" $(bus on.err) $(bus off.err)
  [ $(($4 - $2)) = "$1" ] && [ $(($5 - $3)) -le "$1" ] && [ $(($5 - $3)) -gt 0 ] || wrong "$line: bytes by NCCL, up and down with it, without: $*"
}
k=0
for f in moves turns places; do
  want 0 "$EIN" run $f.ein -o all=$f-eval/
  for n in 2 4; do
    mine $((k += 1)) 3 || continue
    line="$f on $n devices"
    rm -rf on off
    EIN_STANDIN=devices=$n by_nccl "$EIN" run $f.ein $on -n $n -v -o all=on/ >out 2>on.err || wrong "$line: $(grep -m 1 -E 'error|stand-in' on.err)"
    EIN_STANDIN=devices=$n on_devices "$EIN" run $f.ein $on -n $n -v -o all=off/ >out 2>off.err || wrong "$line: $(cat off.err)"
    grep -q 'moves go over the host: EIN_NCCL is off; 0 bytes came so' off.err || wrong "$line: without NCCL: $(cat off.err)"
    compare $f $n
    given_back
  done
done
# An exchange begins when what is sent has been made: a stream that does not wait is reported.
line='without a wait'
# It is only seen if that is not made yet by then.
for try in 1 2 3 4 5 6 7 8; do
  EIN_STANDIN=devices=2,no-wait=2 by_nccl "$EIN" run moves.ein $on -n 2 >out 2>err
  rm -rf nccl "$EIN_STANDIN_REPORT" standin-nccl-*
  grep -q 'stand-in: .* is not ordered after' err && break
done
grep -q 'stand-in: .* is not ordered after' err || wrong "$line: $(cat err)"

# Where NCCL cannot be used, the run is the same, and says so.
says_why() { # DEVICES:WHAT TEXT
  EIN_STANDIN=devices=$1 by_nccl "$EIN" run turns.ein $on -n 3 -v -o all=other/ >out 2>err || wrong "$1: $(cat err)"
  diff -r turns-eval other >told || wrong "$1: other values"
  [ "$(grep -c "moves go over the host: $2; 0 bytes came so" err)" = 3 ] || wrong "$1: $(cat err)"
  line=$1
  given_back
}
says_why 2 'site 2 shares its device with another one'
says_why 3,nccl-begin=2 'site [0-2] cannot start NCCL: unhandled system error'
says_why 3,nccl-id=1 'site 0 cannot start NCCL: unhandled system error'
printf 'input X[i:12] : i64 = i\noutput s = sum[i] X[i]\n' >sum.ein
by_nccl "$EIN" run sum.ein $on -n 1 -v >out 2>err
! grep -q NCCL err || wrong "one site speaks of NCCL: $(cat err)"

# NCCL fails, or a site does: all end, and everything is given back.
at=0
i=0
for what in nccl-group=1 nccl-group=4 nccl-group=9 nccl-lost=2 nccl-lost=7 alloc=4 alloc=6 alloc=8 launch=2 launch=9 launch=17; do
  mine $((at += 1)) 2 || continue
  line="$what"
  EIN_STANDIN=devices=3,$what by_nccl "$EIN" run moves.ein $on -n 3 >out 2>err
  code=$?
  [ $code = 4 ] && grep -qE 'site [0-2]: (no memory|CUDA: |NCCL: .*; EIN_NCCL=off does without)' err || wrong "$line: exit code $code: $(cat err)"
  [ $code = 4 ] && i=$((i + 1))
  given_back
done
enough $i 10 || wrong "only $i runs failed"

# Processes.
mpi_builds
[ "$failed" = 0 ] || finish
for n in 2 4; do
  for f in turns moves; do
    mine $((k += 1)) 3 || continue
    line="$f in $n processes"
    rm -rf on off
    EIN_NCCL=on EIN_STANDIN=devices=4 LD_LIBRARY_PATH=$standin timeout 120 mpirun -n $n "$EIN" run $f.ein $on -v -o all=on/ >out 2>on.err || wrong "$line: $(cat on.err)"
    EIN_STANDIN=devices=4 LD_LIBRARY_PATH=$standin timeout 120 mpirun -n $n "$EIN" run $f.ein $on -v -o all=off/ >out 2>off.err || wrong "$line: $(cat off.err)"
    compare $f $n
    given_back
  done
done
line='two versions of NCCL'
EIN_NCCL=on LD_LIBRARY_PATH=$standin timeout 120 mpirun -n 1 env EIN_STANDIN=devices=2 "$EIN" run turns.ein $on -v -o all=other/ : \
  -n 1 env EIN_STANDIN=devices=2,nccl-version=20000 "$EIN" run turns.ein $on -v -o all=other/ >out 2>err || wrong "$line: $(cat err)"
[ "$(grep -c 'moves go over the host: site 1 has another version of NCCL than site 0; 0' err)" = 2 ] || wrong "$line: $(cat err)"
diff -r turns-eval other >told || wrong "$line: other values"
given_back
line='one process fails'
EIN_NCCL=on LD_LIBRARY_PATH=$standin timeout 120 mpirun -n 1 env EIN_STANDIN=devices=2 "$EIN" run turns.ein $on : \
  -n 1 env EIN_STANDIN=devices=2,nccl-group=3 "$EIN" run turns.ein $on >out 2>err
[ $? = 4 ] && grep -q 'site 1: NCCL: .*: unhandled system error' err || wrong "$line: $(cat err)"
rm -rf nccl "$EIN_STANDIN_REPORT" standin-nccl-*

# A context whose run has failed makes a new communicator for the next one; one without failures keeps it.
cat >again.c <<'END'
#include <mpi.h>
#include <stdio.h>
#include "places_mpi.h"
int main(int n, char **word) {
  static double y[41][6];
  static float z[41][6];
  static int32_t tok[41];
  int64_t shape[] = {41, 6};
  ein_tensor at = {.data = tok, .device_type = 1, .ndim = 1, .dtype = EIN_I32, .shape = shape};
  ein_tensor of_y = {.data = y, .device_type = 1, .ndim = 2, .dtype = EIN_F64, .shape = shape};
  ein_tensor of_z = {.data = z, .device_type = 1, .ndim = 2, .dtype = EIN_F32, .shape = shape};
  const places_inputs in = {.tok = at};
  const places_outputs out = {.Y = of_y, .Z = of_z};
  places_ctx *ctx = NULL;
  int rank, bad = 0;
  MPI_Init(&n, &word);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  ein_status e = places_create_mpi(MPI_COMM_WORLD, NULL, &ctx);
  if (!e) e = places_plan(ctx, NULL);
  for (int run = 0; run < 7 && !e; run++) {
    int fails = run == 2 || run == 3;
    for (int s = 0; s < 41; s++) tok[s] = fails && s == 40 ? 77 : (s * s + run) % 50;
    for (int s = 0; s < 41; s++) y[s][5] = z[s][5] = -1;
    ein_status got = places_run_whole(ctx, &in, &out);
    bad += (got != EIN_OK) != fails;
    for (int s = 0; s < 41 && !fails && !rank; s++) bad += y[s][5] != tok[s] * 10 + 5 || z[s][5] != 500 + tok[s];
  }
  printf("%d wrong, status %d %s\n", bad, (int)e, e ? places_last_error(ctx) : "");
  places_destroy(ctx);
  MPI_Finalize();
  return bad || e;
}
END
line='runs after runs that failed'
want 0 env LD_LIBRARY_PATH="$standin" "$EIN" build places.ein --target=cuda -n 2 --lib -o places/ --flags=-O1
want 0 mpicc -std=c11 -Iplaces again.c places/*.c -o again -ldl -lm -pthread
EIN_NCCL=on EIN_STANDIN=devices=2 LD_LIBRARY_PATH=$standin timeout 120 mpirun -n 2 ./again >out 2>err || wrong "$line: $(cat out err)"
[ "$(grep -c ' exchanges, .* of 3 communicators, 0 are left' nccl)" = 2 ] || wrong "$line: $(cat nccl)"
given_back

# What is declared of NCCL is what its header says.
for h in "${CUDA_HOME:-/usr/local/cuda}/include" /usr/local/include; do
  [ -e "$h/nccl.h" ] && [ -e "$h/cuda_runtime.h" ] || continue
  want 0 cc -std=c11 -D_GNU_SOURCE -I"$h" -I"$root/runtime" -c "$root/tests/cuda/nccl_abi.c" -o abi.o
done
finish
