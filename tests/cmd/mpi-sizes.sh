#!/bin/sh
# suite: ci
# A program over MPI with plans for several sizes: files and -D determine the sizes, and the matching plan is used, with defaults of its sizes. If none
# matches, one process lists the plans.
. "$(dirname "$0")/common"
mpi_builds

cat >x.ein <<'EOF'
dim N, M
input A[i:N,k:M] : f64
input W[k:M] : f64 = normal[k](3) + N
param B[i:(N)] : f64 = 1.0*(max[m:9] (m*N + i))
output C[i,j] = (sum[k] A[i,k] * A[j,k]) + B[i] * B[j]
output most[i] : i64 = argmax[k] A[i,k]
output V[k] = 2*W[k]
EOF
want 0 "$EIN" build x.ein --target=mpi -n 2,3 -D N=24 -D M=9 -D N=12 -D M=30 --flags=-O0 -o prog
k=0
for sizes in 'N=24 M=9' 'N=24 M=30' 'N=12 M=9' 'N=12 M=30'; do
  rows=${sizes% *} columns=${sizes#* }
  want 0 "$EIN" run x.ein -D "$rows" -D "$columns" A=randint:lo=-5:hi=6:seed=1 -o all=one/
  echo "input X[i:${rows#N=},k:${columns#M=}] : f64
output A[i,k] = X[i,k]" >give.ein
  want 0 "$EIN" run give.ein X=randint:lo=-5:hi=6:seed=1 -o a.npy
  for p in 2 3; do
    for given in 'A=a.npy' "A=randint:lo=-5:hi=6:seed=1 -D $rows -D $columns" "A=a.npy -D $rows"; do
      mine $((k += 1)) 5 || continue
      # shellcheck disable=SC2086
      want 0 ranks $p ./prog $given -o all=many/
      for f in one/*.npy; do
        cmp -s "$f" "many/${f#one/}" || wrong "$sizes on $p processes, $given: $f differs"
      done
      rm -r many
    done
  done
done
want 0 ranks 2 ./prog --help
shows 'A              f64 [i:N, k:M]'
shows 'B              f64 [i:N], a param, may be left out'
shows 'sizes: N M'

# ---- errors, each reported once
want 2 ranks 2 ./prog A=iota -D N=24 -D M=10
once 'it is built for these sites: 2 with N = 24, M = 9; 2 with N = 24, M = 30; 2 with N = 12, M = 9; 2 with N = 12, M = 30; 3 with N = 24, M = 9;'
once 'but runs on 2 with N = 24, M = 10'
want 2 ranks 4 ./prog A=a.npy
once 'but runs on 4 with N = 12, M = 30'
want 2 ranks 3 ./prog A=iota -D N=24
once 'no value for size M: give -D M=N, one that the program is built for'
want 1 ranks 3 ./prog A=a.npy -D N=24
once 'N is 24 by -D, but 12 by axis 1 of a.npy'
want 2 ranks 3 ./prog A=a.npy -D K=24
once 'there is no open size K'

# ---- an axis that is no size by itself determines one
cat >rows.ein <<'EOF'
dim B = 1, E, K = 2
input off[p:B+1] : i64
input v[k:K*E - (K + 1)] : f64
output s[b:B] = sum[k where off[b+0] <= k and k < off[b+1]] v[k]
EOF
cat >given.ein <<'EOF'
output off[p:6] : i64 = 2 * p
output v[k:11] : f64 = k
EOF
want 0 "$EIN" run given.ein -o off=off.npy -o v=v.npy
want 0 "$EIN" build rows.ein --target=mpi -n 2 -D B=5 -D B=7 -D E=7 -D E=8 --flags=-O0 -o rows
want 0 ranks 2 ./rows off=off.npy v=v.npy
shows '   1.0   5.0   9.0  13.0  17.0'
want 0 ranks 2 ./rows --help
shows 'i64 [p:B+1]'
shows 'f64 [k:2*E-3]'
want 2 ranks 2 ./rows off=v.npy v=v.npy
once 'but runs on 2 with B = 10, E = 7'
want 1 ranks 2 ./rows off=off.npy v=off.npy
once 'axis 1 of off.npy is 6 long, but input v wants something else for each E'

# ---- with many plans, the message lists as many as fit
more=
for n in 01 02 03 04 05 06 07 08 09 10 11 12 13 14 15 16; do more="$more -D N=10000000$n"; done
# shellcheck disable=SC2086
want 0 "$EIN" build x.ein --target=mpi -n 2 $more -D M=3 --flags=-O0 -o prog
want 2 ranks 2 ./prog A=iota -D N=1000000017
once '2 with N = 1000000003; '
once ' more; but runs on 2 with N = 1000000017'
finish
