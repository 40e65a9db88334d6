#!/bin/sh
# suite: ci
# ein build --target=mpi: one program with a plan for each number of processes; answers are those of one process, to the bit; one message and one
# exit code for all, whichever process fails.
. "$(dirname "$0")/common"
turn 2
mpi_builds

# ---- answers: sums of whole numbers, cut along every label; a tensor that some sites lack; uneven blocks; a loop with a halo
cat >mm.ein <<'END'
input A[i:61,k:50] : f32
input B[k:50,j:41] : f32
param gain : f32
output C[i,j] = gain * sum[k] A[i,k]*B[k,j]
output S = sum[i,j] C[i,j]
output M[i] : i64 = argmax[k] A[i,k]
END
cat >heat.ein <<'END'
input X[n:240] : i64
repeat t < 9 {
  state U[n:240] : i64 = X[n]
  next U[n] = if n > 0 and n < 239 then U[n-1] + U[n] + U[n+1] else U[n]
}
output Y[n] = U[n]
END
inputs_mm='A=randint:lo=-5:hi=6:seed=1 B=randint:lo=-5:hi=6:seed=2 gain=2'
inputs_heat='X=randint:lo=0:hi=9:seed=3'
for p in mm heat; do
  eval "inputs=\$inputs_$p"
  # shellcheck disable=SC2086
  want 0 "$EIN" run $p.ein $inputs -o all=one/
  want 0 "$EIN" build $p.ein --target=mpi -n 2,3,7 --flags=-O1 -o $p
  for n in 2 3 7; do
    # shellcheck disable=SC2086
    want 0 ranks $n ./$p $inputs -o all=many-$n/
    for f in one/*.npy; do
      cmp -s "$f" "many-$n/${f#one/}" || wrong "$p on $n processes: $f differs"
    done
  done
  rm -r one
done

# ---- more threads than processors, said once
n=$(getconf _NPROCESSORS_ONLN)
want 0 ranks 2 ./heat X=iota --threads "$n"
[ "$n" = 1 ] || once "heat: 2 processes with $n threads each on $n processors: they will wait for each other"
want 0 ranks 2 ./heat X=iota --threads 1
[ "$n" = 1 ] || silent

# ---- defaults: each process makes its block, or all of what is more than one equation, and the bits are those of one process
cat >left.ein <<'END'
dim low_0 = 5
input A[i:61,k:50] : f64 = normal[i,k](1) + low_0
input B[k:50,j:41] : f64 = if k > j then uniform[k,j](2) else f64(k - 3*j)
input W[i:61] : f64 = normal[i](3) * max[m:9] (m + i % 4)
input one : f64 = 2.5
input C[i:61,j:41] : f64 = A[i,2] + j
output D[i,j] = A[i,0] * W[i] + B[2,j] + C[i,j] + one
output E[i,k] = A[i,k]
output F[j,k] = B[k,j]
output G[i] = W[i]
END
want 0 "$EIN" build left.ein --target=mpi -n 2,3,7 --flags=-O1 -o left
want 0 "$EIN" run --target=c left.ein -o all=one/
for n in 2 3 7; do
  want 0 ranks $n ./left -o all=left-$n/
  for f in one/*.npy; do
    cmp -s "$f" "left-$n/${f#one/}" || wrong "left on $n processes: $f differs"
  done
done
want 0 "$EIN" run left.ein C=iota A=ones W=const:3 -o G=w.safetensors:W
sed 's/^input W/param W/' left.ein >stored.ein
want 0 "$EIN" build stored.ein --target=mpi -n 3 --flags=-O1 -o stored
want 0 ranks 3 ./stored C=iota A=ones --params=w.safetensors -o all=given/
want 0 "$EIN" run --target=c left.ein C=iota A=ones W=const:3 -o all=one/
cmp -s one/D.npy given/D.npy || wrong "a param is not read from --params"
want 0 "$EIN" run --target=c left.ein C=iota A=ones -o all=one/
want 0 ranks 3 ./left C=iota A=ones -o all=given/
cmp -s one/D.npy given/D.npy || wrong "what is given is not taken"
want 0 ranks 3 ./left --help
shows 'A              f64 [i, k], may be left out'
rm -r one

# ---- defaults that depend on inputs, some of which no equation reads, and on each other: the first process computes them and sends them to all
cat >hang.ein <<'END'
input X[i:61] : f32
input Z[i:61,k:3] : f32
input V[i:61] : f32 = X[i] + i
input W[i:61] : f32 = 2*V[60-i] + (sum[j:61] V[j]) + Z[i,1]
input U[i:3] : f32 = i + 1
input Q : f32 = 2
param T : f32 = sum[i] U[i]*Q
output Y[i] = W[i] + T + sum[k] Z[i,k]
END
want 0 "$EIN" build hang.ein --target=mpi -n 2,3 --flags=-O1 -o hang
k=0
for given in 'X=iota Z=iota' 'X=iota Z=ones V=const:3 Q=7' 'X=ones Z=iota W=ones' 'X=iota Z=ones T=5' 'X=iota Z=ones U=ones'; do
  mine $((k += 1)) 2 || continue
  # shellcheck disable=SC2086
  want 0 "$EIN" run hang.ein $given -o one.npy
  for n in 2 3; do
    # shellcheck disable=SC2086
    want 0 ranks $n ./hang $given -o many.npy
    cmp -s one.npy many.npy || wrong "$given on $n processes: a default that depends on inputs differs"
  done
done
want 0 "$EIN" run hang.ein X=iota Z=iota V=ones -o one.npy
want 0 ranks 3 ./hang Z=iota V=ones -o many.npy
cmp -s one.npy many.npy || wrong "the result depends on an input that no default needs"
want 2 ranks 3 ./hang Z=iota
once 'input X is not given, and the default of V depends on it'

sed 's/^input X.*/dim N\n&/; s/61/N/g; s/60-i/N-1-i/' hang.ein >sized.ein
want 0 "$EIN" build sized.ein --target=mpi -n 2,3 -D N=61 -D N=62 --flags=-O1 -o sized
want 0 "$EIN" run sized.ein X=iota Z=iota -D N=62 -o one.npy
want 0 ranks 2 ./sized X=iota Z=iota -D N=62 -o many.npy
cmp -s one.npy many.npy || wrong "a default of other sizes differs"

# ---- another program, or other sizes, at one process: refused, whatever else it would do
want 2 timeout 60 mpirun -n 1 ./heat X=iota -o Y=y.npy : -n 1 ./left -o D=y.npy
once 'site 1 has another program than site 0, or other sizes: give all the same'
want 2 timeout 60 mpirun -n 2 ./sized X=iota Z=iota -D N=62 -o y.npy : -n 1 ./sized X=iota Z=iota -D N=61 -o y.npy
once 'site 2 has another program than site 0, or other sizes'
[ ! -e y.npy ] || wrong "different programs write an output"
mkdir elsewhere
cp heat.ein elsewhere/same.ein
want 0 "$EIN" build elsewhere/same.ein --target=mpi -n 2,3,7 --flags=-O0 -o elsewhere/heat
want 0 timeout 60 mpirun -n 1 ./heat X=iota -o Y=y.npy : -n 1 elsewhere/heat X=iota -o Y=y.npy

# ---- what is shown is shown once
want 0 ranks 3 ./mm A=randint:lo=0:hi=3:seed=4 B=ones gain=1 -o C=c.npy -o M=m.npy
shows 'S : f32'
[ "$(grep -c 'S : f32' out)" = 1 ] || wrong "more than one process prints"

# ---- what goes wrong, once, with one code
want 2 ranks 4 ./mm A=ones B=ones gain=1
once 'it is built for 2, 3, 7 sites, but runs on 4'
want 2 ./mm A=ones B=ones gain=1
once 'it is built for 2, 3, 7 sites, but runs on 1'
want 2 ranks 3 ./mm A=ones gain=1
once 'input B is not given'
want 4 ranks 3 ./mm A=nowhere.npy B=ones gain=1
once 'nowhere.npy'
want 2 ranks 2 ./mm A=ones B=ones gain=1 --threads=many
once '--threads many'
want 0 ranks 2 ./mm --help
[ "$(grep -c '^usage' out)" = 1 ] || wrong "help is not said once"

cat >pick.ein <<'END'
input T[a:300] : f32
input I[n:8] : i64
output P[n] = T[I[n] + 37*n]
output G[a] = T[a] + 1
END
want 0 "$EIN" build pick.ein --target=mpi -n 4 --flags=-O0 -o pick
want 0 ranks 4 ./pick T=iota I=zeros -o all=picked/
want 0 "$EIN" run pick.ein T=iota I=zeros -o all=pick-one/
cmp picked/P.npy pick-one/P.npy || wrong "what is picked differs"
want 1 ranks 4 ./pick T=iota I=const:60 -o P=bad.npy # one process alone sees an index that is too large
once 'out of range'
[ ! -e bad.npy ] || wrong "an output is there, though the run failed"

# ---- a process that is killed takes all along, and leaves no output
sed 's/t < 9/t < 1000000000/' heat.ein >long.ein
want 0 "$EIN" build long.ein --target=mpi -n 4 --flags=-O0 -o long
mpi_kill ./long X=iota -o Y=long.npy
[ -z "$(find . -name 'long.npy*' -o -name '.*npy*')" ] || wrong "a rank that was killed leaves an output"

# ---- what cannot be built
want 2 "$EIN" build mm.ein --target=mpi -o prog
says 'for one'
want 2 "$EIN" build mm.ein --target=mpi -n 2,2 -o prog
says '2 is there twice'
want 2 "$EIN" build mm.ein --target=mpi -n 2, -o prog
says 'expected a number of sites'
want 2 "$EIN" build mm.ein --target=mpi -n 2 --emit=c -o c/
says '--lib writes the C'
want 2 "$EIN" build mm.ein -n 2 -o prog
says '--target=mpi'
MPICC=no-such-wrapper want 4 "$EIN" build mm.ein --target=mpi -n 2 -o prog
says 'there is no no-such-wrapper'
finish
