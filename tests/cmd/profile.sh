#!/bin/sh
# suite: ci
# Where the time of a run goes: --profile, --trace, ein plan --analyze. Steps are those of the text of tasks, each as often as it is done; bytes those of
# the plan; answers and what is printed those of a run that nobody looks at.
. "$(dirname "$0")/common"
command -v python3 >/dev/null || exit 77
XDG_CACHE_HOME=$work/cache
export XDG_CACHE_HOME
unset EIN_TARGET

cat >mm.ein <<'END'
input A[i:60,k:50] : f32 = 1.0*((i*7 + k*3) % 11 - 5)
input B[k:50,j:41] : f32 = 1.0*((j*7 + k*3) % 11 - 5)
output C[i,j] = sum[k] A[i,k]*B[k,j]
output S = sum[i,j] C[i,j]
END
cat >heat.ein <<'END'
input X[n:240] : f32 = 1.0*(n % 7)
repeat t < 9 {
  state U[n:240] : f32 = X[n]
  next U[n] = if n > 0 and n < 239 then U[n-1] + U[n] + U[n+1] else U[n]
}
output Y[n] = U[n]
END

# ---- one site: compiled in process, and by the C compiler
for target in auto c; do
  want 0 "$EIN" run heat.ein --target=$target --flags=-O0
  silent
  cp out plain
  want 0 "$EIN" run heat.ein --target=$target --flags=-O0 --profile --trace=one.json
  cmp -s out plain || wrong "$target: --profile changes what is printed"
  says 'profile of heat.ein: '
  says 'repeat t: between turns'
  says 'next U[n] = if n > 0'
  grep -q received err && wrong "$target: one site has received something"
  want 0 python3 "$here/profile.py" one.json 1 0 steps
  # the turns of the state, and before each of them and behind the last one the repeat's own
  repeats=$("$EIN" build heat.ein --stop=task | sed -n 's/^repeat \([0-9]*\)[.].*/\1/p')
  [ "$(sed -n "s/^step $repeats: //p" out)" = 10 ] || wrong "$target: the repeat is not met ten times"
  [ "$(grep -c ': 9$' out)" = 1 ] || wrong "$target: not one step is done nine times"
done
want 0 "$EIN" run heat.ein --profile --target=c
[ "$(head -1 err | cut -c1-20)" = 'profile of heat.ein:' ] || wrong "there is output before the profile"

# ---- several sites: in this process, and over MPI
sites_look() { # PROGRAM N: the last run's, in err and t.json
  planned=$("$EIN" plan "$1.ein" -n "$2" --format=json | python3 -c 'import json, sys; print(json.load(sys.stdin)["bytes"])')
  want 0 python3 "$here/profile.py" t.json "$2" "$planned"
}
for p in mm heat; do
  for n in 3 4; do
    want 0 "$EIN" run $p.ein -n $n
    cp out plain
    want 0 "$EIN" run $p.ein -n $n --profile --trace=t.json
    cmp -s out plain || wrong "$p on $n sites: --profile changes what is printed"
    says ", $n sites"
    [ "$(sed -n 's/.*received *\([0-9.]* [kM]*B\); predicted \([0-9.]* [kM]*B\)/\1=\2/p' err | awk -F= '$1 == $2' | wc -l)" = 1 ] ||
      wrong "$p on $n sites: what is received is not what is predicted"
    sites_look $p $n
  done
done
# blocks beyond the end, which some sites have: what comes there is predicted too
want 0 "$EIN" run "$here/../run/guarded_reductions.ein" -n 3 --flags=-O0 --profile
says 'received 112 B; predicted 112 B'
if (mpi_ready) >/dev/null; then
  mpi_ready
  for n in 3 4; do
    want 0 timeout 60 mpirun -n $n "$EIN" run heat.ein --profile --trace=t.json
    once ", $n sites"
    sites_look heat $n
  done
fi

# ---- ein plan --analyze
cat >ml.ein <<'END'
input X[b:64,d:32] : f32
input W[d:32,h:48] : f32
output Y[b,h] = max(0, sum[d] X[b,d]*W[d,h])
END
want 0 "$EIN" plan ml.ein --analyze
shows 'peak memory'
shows 'profile of ml.ein: '
silent
want 0 "$EIN" plan ml.ein -n 4 --analyze --trace=t.json
shows 'no plan on such a mesh moves less'
shows ', 4 sites'
sites_look ml 4
want 0 "$EIN" plan W=ones ml.ein X=randn:seed=3 -n 2 --analyze --machine="$here/../../samples/machines/cluster_16.json" -o ml.plan
shows 'predicted by the best figures of'
grep -q '^plan 1' ml.plan || wrong "the plan is not in the file of -o"

want 0 "$EIN" plan "$here/../../samples/relations/product.tra" -n 4 --analyze
shows 'C: reduce-scatter'
shows 'received 768 B; predicted 768 B'

# ---- what it is not for
want 2 "$EIN" run heat.ein --profile --target=eval
says 'is computed by the evaluator'
want 2 "$EIN" run heat.ein --trace=t.json --target=cuda
says 'kernels of a device go on by themselves'
want 2 "$EIN" plan heat.ein --trace=t.json
says 'ein plan --analyze makes one'
want 2 "$EIN" plan heat.ein --analyze --format=json
says '-o says where the plan goes'
want 2 "$EIN" run heat.ein --expect --profile
says 'one of them'
want 4 "$EIN" run heat.ein --trace=nowhere/t.json
says nowhere
want 2 "$EIN" plan mm.ein heat.ein
says 'one program, please'

# ---- a run that fails tells no profile, and writes no timeline
cat >fails.ein <<'END'
input X[n:4] : f32 = 1.0*n
Y[n] = X[n] * 2
assert Y[3] < 1
output Y
END
rm -f t.json
want 1 "$EIN" run fails.ein --profile --trace=t.json
grep -q 'profile of' err && wrong "a run that fails has a profile"
[ -e t.json ] && wrong "a run that fails has a timeline"
finish
