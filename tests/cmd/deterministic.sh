#!/bin/sh
# suite: ci
# --deterministic: the same bits for any number of sites, whatever is summed and however it is cut, with gcc, with Clang, and on devices. The results are
# right, and programs without such a form are refused.
. "$(dirname "$0")/common"
turn 2
unset EIN_TARGET

cat >all.ein <<'E'
dim N = 61
dim M = 47
input A[i:N,k:M] : f32 = (uniform[i,k](1) - 0.5) * 10.0^(f32((i*7+k*3) % 13) - 6)
input B[k:M,j:N] : f32 = uniform[k,j](2) - 0.5
input D[i:N,k:M] : f64 = f64(uniform[i,k](3)) * 3.3 - 1.1
input p[k:M] : i32 = (k * k + 3) % 19
output product[i,j] = sum[k] A[i,k]*B[k,j]
output chain[i,l:N] = sum[k,j] A[i,k]*B[k,j]*product[j,l]
output soft[i,j] = softmax[j](sum[k] B[k,i]*B[k,j])
output double[k,l:M] = sum[i] D[i,k]*D[i,l]
output running[i:N] = sum[j where j <= i] D[j,0]
output short[i:N] = sum[j where j <= i] A[j,0]
output groups[g:19] = sum[k, i where p[k] == g] A[i,k]
output classes[g:5] = sum[i, k where (i*k) % 5 == g] D[i,k]
output lse[i] = logsumexp[k](D[i,k])
output all_of = mean[i,k] A[i,k]
output spread[i] = variance[k](D[i,k])
output far[i] = sum[j,k where j != i] (A[i,k] - A[j,k])^2
output window[i:N] = sum[w:5] (A[i+w-2,3] ?? 0) * B[w+0,2]
output none = sum[i where i > N] A[i,0]
output zero = max[k:M] (if k % 2 == 0 then 0.0 else -0.0)
repeat t < 9 {
  state x[i:M] : f64 = D[i+0,1]
  next x[i] = x[i] - 0.01 * sum[j] double[i,j] * x[j]
}
output x
E
sed 's/ : f32/ : bf16/; s/ : f64/ : f32/' all.ein >half.ein

cat >odd.ein <<'E'
input x[i:4000] : f64 = if i % 7 == 3 then 10.0^(i // 14) else -(10.0^(i // 16))
input y[i:40] : f64 = if i == 5 then inf else f64(i)
input z[i:40] : f32 = if i == 5 then nan else f32(i)
input w[i:3] : f64 = 1e307
input v[i:300] : f64 = 10.0^(-300 - i % 24)
output a = sum[i] x[i]
output b = sum[i] y[i]
output c = sum[i] z[i]
output d[i:40] = sum[j where j <= i] y[j]
output e = sum[i] w[i]
output f = sum[i] v[i]
output g = sum[i] (if i % 2 == 0 then y[i] else -y[i])
output h = logsumexp[i](y[i])
output k = logsumexp[i](-y[i])
output l[j:3] = logsumexp[i:3](800.0 * (i * (j + 1) - 4))
output m = logsumexp[i:3](-inf * (i + 1))
# expect: b = inf
# expect: c = nan
# expect: e ~ 3e307
# expect: g = -inf
# expect: h = inf
# expect: l = [-1600, 0, 1600]
# expect: m = -inf
E

# same NAME N...: NAME.ein has the bits of one site on these numbers of them. The first is compiled as for one, the others with -O0, which
# takes a fifth of the time and makes the same bits for the same machine.
same() {
  name=$1 how=
  shift
  rm -rf one now
  want 0 "$EIN" run "$name.ein" --deterministic -o all=one/
  for n in "$@"; do
    rm -rf now
    want 0 "$EIN" run "$name.ein" --deterministic -n "$n" ${how:+"$how"} -o all=now/
    diff -r one now >differ || wrong "$name: $n sites make other bits: $(cat differ)"
    how="--flags=-O0 -march=native"
  done
}

looked=0
# as_first WHAT FLAGS...: all.ein has the same bits as the first time
as_first() {
  what=$1
  shift
  mine $((looked += 1)) 2 || return
  rm -rf now
  want 0 "$EIN" run all.ein --deterministic -o all=now/ "$@"
  diff -r $but first now >differ || wrong "$what: other bits: $(cat differ)"
}

but=
same all 3 8
cp -r one first
as_first "another plan" -n 12 --planner=sqrt --flags="-O0 -march=native"
as_first "the C compiler" --target=c --flags="-O3 -march=native -DEIN_ONE_VERSION"
standin=$(dirname "$EIN")/tests/cuda/standin # a look-alike of a device, and three of them
if command -v g++ >/dev/null && [ -e "$standin/libcuda.so.1" ]; then
  LD_LIBRARY_PATH=$standin as_first "a device" --target=cuda
  EIN_STANDIN=devices=3 LD_LIBRARY_PATH=$standin as_first "devices" --target=cuda -n 3
fi
but="-x soft.npy -x lse.npy" # functions are made with fma where there is one
as_first "no vectors, no fma" --target=c --flags="-O1 -march=x86-64" --threads=1
but=
same half 4
same odd 7
want 0 "$EIN" run odd.ein --deterministic --expect -n 3
want 0 "$EIN" verify --deterministic --flags="-O1 -DEIN_ONE_VERSION" all.ein
want 0 "$EIN" verify --deterministic --flags="-O1 -DEIN_ONE_VERSION" half.ein

# Defaults that call functions, sum floats, or read other inputs.
cat >given.ein <<'E'
dim N = 64, D = 12
input X[n:N,d:D] : f32 = normal[n,d](1)
input W[n:N,d:D] : f32 = 0.1 * normal[n,d](2) + 0.3
input y[n:N] : f32 = sin(X[n,0])
input z[n:N] : f32 = exp(sum[d] X[n,d] / 3)
input U[n:N,d:D] : f32 = tanh(uniform[n,d](3))
output a[n,d] = y[n] + X[n,d] * W[n,d]
output b[n] = z[n] + 1
output c[n,d] = U[n,d]
E
same given 2 5
given_as() {
  rm -rf now
  want 0 "$EIN" run given.ein --deterministic -o all=now/ "$@"
  diff -r one now >differ || wrong "defaults, $*: other bits: $(cat differ)"
}

# The option is the reason: without it, four sites have other bits.
rm -rf one now
want 0 "$EIN" run all.ein --flags=-O0 -o all=one/
want 0 "$EIN" run all.ein --flags=-O0 -n 4 -o all=now/
diff -r one now >/dev/null && wrong "no output of all.ein depends on the order of sums: the test is void"

# A plan reports its cost with the option and without it.
cat >compare.py <<'E'
import json, sys
usual, fixed = (json.load(open(f)) for f in sys.argv[1:])
told = fixed['usual']
assert 'usual' not in usual
if 'totals' in usual:
    assert all(told[k] == usual['totals'][k] for k in told) and fixed['totals']['flops'] > 2 * told['flops']
else:
    assert told['bytes'] == usual['bytes'] and told.get('seconds') == usual.get('seconds')
    if 'work' in usual:
        assert told['flops'] == usual['work']['flops'] < fixed['work']['flops'] and told['site_operations'] == usual['work']['site_operations']
E
n=0
for how in '' '-n 4' '-n 4 --costs=eindecomp'; do
  mine $((n += 1)) 3 || continue
  # shellcheck disable=SC2086
  want 0 "$EIN" plan all.ein $how --format=json
  mv out usual.json
  # shellcheck disable=SC2086
  want 0 "$EIN" plan all.ein $how --deterministic --format=json
  python3 compare.py usual.json out || wrong "ein plan $how --deterministic compares with something else"
  # shellcheck disable=SC2086
  want 0 "$EIN" plan all.ein $how --deterministic
  shows '  not --deterministic   '
done
want 0 "$EIN" plan all.ein -n 4 --deterministic --format=html
shows 'Its sums have the same bits on any number of sites; without that '

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
if command -v mpirun >/dev/null; then as_first "three processes" --np 3; fi
same given
command -v mpirun >/dev/null && given_as --np 3
if command -v g++ >/dev/null && [ -e "$standin/libcuda.so.1" ]; then
  EIN_STANDIN=devices=3 LD_LIBRARY_PATH=$standin given_as --target=cuda -n 3
fi

# The largest term is looked for at points of which the result has some: x[t % N] has no elements if s has no values.
cat >none.ein <<'E'
dim N, M
input x[t:N] : f32 = f32(3 * t + 1)
input y[t:M] : f32 = f32(t - 2)
output a[s:N] = sum[t:M where t <= s] x[t % N] * y[t]
output b[s:N] = sum[t:M] f32(y[(2 * t - 2 * s) % (N + 1)] ?? -2) * x[t % N]
E
want 0 "$EIN" build none.ein --deterministic --stop=optimised -o none.graph
want 0 "$EIN" check none.graph
for sites in 1 3; do
  for size in 0 3; do
    rm -rf one now
    want 0 "$EIN" run none.ein -n $sites --deterministic --flags=-O0 -D N=$size -D M=4 -o all=now/
    want 0 "$EIN" run none.ein --target=eval -D N=$size -D M=4 -o all=one/
    diff -r one now >out || wrong "none.ein with N=$size differs on $sites sites"
  done
done

echo 'input x[i:9] : f64 = 1 + i
output p = prod[i] x[i]' >prod.ein
want 1 "$EIN" run --deterministic prod.ein
says "prod.ein:2:8: the bits of this prod of floats depend on its order"
want 2 "$EIN" run --deterministic --target=eval all.ein
says "--deterministic is of what is compiled"
finish
