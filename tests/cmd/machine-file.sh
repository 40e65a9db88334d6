#!/bin/sh
# suite: ci
# A machine file changes how a program runs, but no bit of its results; an invalid file is refused.
. "$(dirname "$0")/common"
turn 1
XDG_CACHE_HOME=$work/cache
export XDG_CACHE_HOME

machine() { # NAME L2 WORTH
  cat >"$1.json" <<END
{"format": "ein machine 1", "name": "$1", "site": {"level": "core"},
 "levels": [{"name": "core", "parts": 1, "memories": [{"name": "L1", "bytes": 4096}, {"name": "L2", "bytes": $2}]}],
 "prices": {"worth_threads_operations": $3}}
END
}
machine small 262144 1000
machine large 16777216 3000000

cat >product.ein <<'END'
input A[i:700, k:530] : f32
input B[k:530, j:611] : f32
input b[j:611] : f32
output C[i,j] = tanh(sum[k] A[i,k] * B[k,j] + b[j])
output D[j,i] = sum[k] exp(A[i,k]) * (B[k,j] + 0.1 * b[j])
END
cat >flat.ein <<'END'
input A[i:1500, k:40] : f32
input B[j:1300, k:40] : f32
output C[i,j] = sum[k] A[i,k] * B[j,k]
END
cat >double.ein <<'END'
dim M
input A[b:3, i:M, k:300] : f64
input B[b:3, j:500, k:300] : f64
output C[b,i,j] = sum[k] A[b,i,k] * B[b,j,k]
output R[j] = sum[b,i,k] A[b,i,k] * B[b,j,k]
END
cat >semiring.ein <<'END'
input A[i:600, k:400] : f32
input B[k:400, j:500] : f32
output C[i,j] = max[k] (if A[i,k] > 2 then A[i,k] / 0 else A[i,k] + B[k,j])
output D[i,j] = max[k] (A[i,k] * B[k,j])
END
cat >masked.ein <<'END'
input A[i:900, k:900] : f32
input B[k:900, j:300] : f32
output C[i,j] = sum[k where k >= i] A[i,k] * B[k,j]
output D[i,j] = sum[k where k <= i] A[i,k] * B[k,j]
END
cat >attention.ein <<'END'
input Q[s:500, a:64] : f32
input K[t:500, a:64] : f32
input V[t:500, a:64] : f32
output Y[s,a] = sum[t] softmax[t](0.125 * (sum[b] Q[s,b] * K[t,b])) * V[t,a]
END
cat >rows.ein <<'END'
input X[n:3000, k:700] : f32
input G[n:3000] : i64
output Y[n,k] = softmax[k](X[n,k])
output S = sum[n,k] X[n,k] * X[n,k]
output T[k] = sum[n] X[n,k]
output U[n,k:700] = sum[t where t <= k] X[n,t]
output H[g:50] = sum[n where G[n] == g] X[n,3]
output P[k,n] = X[n,k] + 1
output M[n] = argmax[k] X[n,k]
END
cat >image.ein <<'END'
input X[n:2, c:16, h:60, w:60] : f32
input W[o:40, c:16, p:3, q:3] : f32
output Y[n,o,h:60,w:60] = sum[c,p,q] (X[n,c,h+p-1,w+q-1] ?? 0) * W[o,c,p,q]
END

differ=0
flags="-O2 -march=native -DEIN_ONE_VERSION"
for p in product flat double semiring masked attention rows image; do
  d=
  in=
  [ $p = double ] && d="-D M=333"
  [ $p = rows ] && in="G=randint:lo=0:hi=50:seed=2"
  for v in A B b Q K V X W; do
    grep -q "^input $v\[" $p.ein && in="$in $v=randn:seed=$(printf %d "'$v")"
  done
  for m in none small large; do
    unset EIN_MACHINE
    with="--machine $m.json"
    [ $m = none ] && with=
    want 0 "$EIN" build $p.ein $d --stop=loop $with -o $p.$m.loop
    for t in 1 3; do
      want 0 "$EIN" run $p.ein $d $in --target=c --flags="$flags" --threads $t $with -o all=$p.$m.$t/
      [ $m$t = none1 ] || diff -r $p.none.1 $p.$m.$t >diffs || wrong "$p: other bits with $m and $t threads: $(cat diffs)"
    done
  done
  cmp -s $p.small.loop $p.large.loop || differ=$((differ + 1))
done
[ $differ -ge 5 ] || wrong "two very different machines make the same loops of all but $differ programs"
grep -q "min(128" flat.small.loop || wrong "blocks do not shrink with a small cache"
[ "$(ls product.small.3 rows.large.1 | grep -c npy)" = 9 ] || wrong "outputs are missing"

# Where it is said, what is written, and what is refused.
want 0 "$EIN" build sum.ein --emit=c -o plain.c
grep -q "define.*WORTH" plain.c && wrong "without a machine file the runtime has its own bound"
want 0 "$EIN" build sum.ein --emit=c --machine large.json
shows "#define EIN_WORTH_THREADS 3000000"
want 0 env EIN_MACHINE=small.json "$EIN" build sum.ein --emit=c
shows "#define EIN_WORTH_THREADS 1000"
want 0 env EIN_MACHINE=small.json "$EIN" build sum.ein --emit=c --machine large.json
shows "#define EIN_WORTH_THREADS 3000000"
want 0 env EIN_MACHINE= "$EIN" build sum.ein --emit=c -o again.c
cmp plain.c again.c || wrong "an empty EIN_MACHINE says something"
want 0 "$EIN" build product.small.loop --emit=c --machine large.json
shows "#define EIN_WORTH_THREADS 3000000"
# Caches of the machine at hand are for what is run here, and for no text that stays.
second=$(cat /sys/devices/system/cpu/cpu0/cache/index2/size 2>/dev/null)
for emit in --stop=loop --emit=c; do
  want 0 "$EIN" build product.ein $emit -v
  grep -q "second cache" err && wrong "build $emit looks at this machine"
done
want 0 "$EIN" run product.ein A=randn B=randn b=randn --target=c --flags=-O0 -v -o all=here/
[ "${second%K}" = "$second" ] || says "this machine's second cache has ${second%K} KB"
want 0 "$EIN" run product.ein A=randn B=randn b=randn --target=c --flags=-O0 --machine small.json -v -o all=there/
grep -q "second cache" err && wrong "with a machine file this machine is asked"
want 0 env EIN_MACHINE=nowhere.json "$EIN" check sum.ein
want 4 env EIN_MACHINE=nowhere.json "$EIN" build sum.ein --emit=c
says "cannot read nowhere.json"
sed 's/"parts"/"part"/' small.json >wrong.json
want 1 "$EIN" run mat.ein --target=c --machine wrong.json
says 'wrong.json:2:'
says 'there is no member "part"'
want 2 "$EIN" fmt sum.ein --machine small.json
finish
