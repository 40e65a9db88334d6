#!/bin/sh
# suite: ci
# Gradients through a repeat under a limit of memory: the states of some turns are saved, and the turns between run again. Values and
# gradients keep their bits, by eval and compiled, for numbers of turns that stretches divide and others, for turns that `until` ends, and for
# stacks, nested repeats, stated adjoints and arrays that are read by turn; memory is as planned.
. "$(dirname "$0")/common"
turn 3

least() { "$EIN" plan "$@" --memory=1 2>&1 | sed -n 's/.*(\([0-9]*\) bytes) at least.*/\1/p'; }
takes() { "$EIN" plan "$@" --format=json | tr -d ' \n' | sed 's/.*"workspace_bytes":\([0-9]*\).*"input_bytes":\([0-9]*\),"output_bytes":\([0-9]*\).*/\1 \2 \3/' | tr ' ' + | xargs -I{} sh -c 'echo $(({}))'; }

same() { # FILE WHAT: the same graphs, or others: of both, the same outputs by eval, and in code
  few=$(least "$1")
  [ -n "$few" ] || wrong "$1: no least memory"
  want 1 "$EIN" plan "$1" --memory=$((few - 1))
  [ "$(takes "$1" --memory="$few")" -le "$few" ] || wrong "$1 takes $(takes "$1" --memory="$few") of $few bytes"
  want 0 "$EIN" build "$1" --stop=graph -o all.graph
  want 0 "$EIN" build "$1" --stop=graph --memory="$few" -o few.graph
  if [ "$2" = less ]; then
    grep -q 'state .* kept\.' few.graph || wrong "$1: states of all turns are saved"
    [ "$few" -lt "$(takes "$1")" ] || wrong "$1: less is saved, and as much memory is taken"
  else
    cmp -s all.graph few.graph || wrong "$1: another graph, and nothing is to be saved"
  fi
  ! grep -q 'kept\.' all.graph || wrong "$1: without a limit not all is saved"
  for g in all few; do
    want 0 "$EIN" run $g.graph -o all=$g.eval/
  done
  want 0 "$EIN" run "$1" --memory=1TB --target="$with" -o all=all.code/
  want 0 "$EIN" run "$1" --memory="$few" --target="$with" -o all=few.code/
  for how in eval code; do
    diff -r all.$how few.$how >differ || wrong "$1 by $how: $(cat differ)"
    rm -r all.$how few.$how
  done
}

with=c
"$EIN" run --target=jit - </dev/null >out 2>&1 && with=jit

# States of several dtypes, a turn's number as a number, a tensor that each turn reads.
plain() {
  cat >plain.ein <<!
dim T = $1, N = 40
param w[n:N] : f64 = 1.5 + n * 0.01
param v : f32 = 0.75
repeat t < T {
  state x[n:N] = w[n]
  state i = 3
  next x[n] = sin(x[n] * v) * w[n] + 0.1 * f64(t) * v + 0.001 * i
  next i = (i * 5) % 7
}
output loss = sum[n] x[n]^2
output i
output slope[n] = grad(loss, w[n])
output dv = grad(loss, v)
!
}
for turns in 1 7; do plain $turns && same plain.ein as-it-is; done
for turns in 16 23 1000; do plain $turns && same plain.ein less; done

# Turns that end early, at once, at the end of a stretch, and never; the bound is 100, so stretches have 10 turns.
until_() {
  cat >until.ein <<!
dim N = 5
param w[n:N] : f64 = 1.0 + n * 0.001
repeat t < 100 until t + 1 >= $1 {
  state y[n:N] = 0.1 * w[n]
  next y[n] = y[n] + 0.05 * w[n] * cos(y[n])
}
output loss = sum[n] y[n]^2 * w[n]
output slope[n] = grad(loss, w[n])
output turns = t
!
}
for turns in 1 10 11 99 200; do until_ $turns && same until.ein less; done

# Stacks, of which two losses read different turns; arrays read by turn, whose gradients are wanted; places in data.
stacks() {
  cat >stacks.ein <<!
dim T = $1, N = 30
param w[n:N] : f64 = 1.0 + n * 0.1
input X[t:T] : f64 = sin(f64(t) * 0.37)
input p[t:T] : i64 = (t * 7) % N
repeat t < T {
  state y[n:N,m:N] = w[n] + m
  state z = 0.0
  h[n,m] = tanh(0.1 * y[n,m] * w[n] + X[t])
  L[n,t] = h[n,0] * h[p[t],1]
  S[t] = y[0,p[t]] + z
  next y[n,m] = 0.9 * h[n,m] + 0.1 * y[m,n]
  next z = z * 0.5 + sum[n,m] h[n,m]
}
output loss = (sum[n,t] L[n,t]^2) + (sum[t] S[t] * f64(t)) + z^2
other = (sum[n] L[n,T // 2]) + y[1,2]
output slope[n] = grad(loss, w[n])
output dX[t] = grad(loss, X[t])
output more[n] = grad(other, w[n])
!
}
for turns in 25 29; do stacks $turns && same stacks.ein less; done

# A repeat in a repeat: both are gone back through. Stated adjoints.
cat >nested.ein <<'!'
dim T = 40, N = 6
def sig(x) = 1 / (1 + exp(-x)) adjoint(y: dy) = dy * y * (1 - y)
param w[n:N,m:N] : f64 = 0.1 * (n + 1) - 0.05 * m
repeat t < T {
  state y[n:N] = 1.0
  repeat s < 3 until s > 0 and y[0] > 0.5 {
    state q[n:N] = y[n]
    next q[n] = sig(0.3 * f64(t + s) + sum[m] w[n,m] * q[m])
  }
  next y[n] = y[n] * 0.5 + q[n] * w[n,0]
}
loss = sum[n] y[n]^2
output slope[n,m] = grad(loss, w[n,m])
!
same nested.ein less

# Of training, the turns of a step; and what is differentiated twice, where only the last digits may change.
cat >train.ein <<'!'
dim T = 100
param w[n:9] : f64 = 0.4 + 0.1 * n
repeat e < 3 {
  state v[n:9] = w[n]
  repeat t < T {
    state y[n:9] = 0.3
    next y[n] = tanh(y[n] * v[n] + 0.1 * f64(t) + f64(e))
  }
  loss = sum[n] (y[n] - 0.5)^2
  next v[n] = v[n] - 0.1 * grad(loss, v[n])
}
output v
!
same train.ein less
cat >twice.ein <<'!'
dim T = 37, N = 30
param w[n:N] : f64 = 1.0 + n * 0.1
repeat t < T {
  state y[n:N] = w[n]
  next y[n] = 0.5 * sin(y[n]) * w[n] + 0.2 * y[(n + 1) % N]
}
loss = sum[n] y[n]^2
g[n] = grad(loss, w[n])
along = sum[n] g[n] * (0.3 * n - 0.2)
output H[n] = grad(along, w[n])
!
want 0 "$EIN" run twice.ein -o H=H.npy
want 0 "$EIN" build twice.ein --stop=graph --memory="$(least twice.ein)" -o twice.graph
grep -q 'state .* kept\.' twice.graph || wrong 'what is differentiated twice saves all'
want 0 "$EIN" run twice.graph -o H=again.npy
cat >near.ein <<'!'
input a[n:30], b[n:30] : f64
output far = (max[n] abs(a[n] - b[n])) > 1e-13 * max[n] abs(a[n])
!
want 0 "$EIN" run near.ein a=H.npy b=again.npy
shows 'far : bool = false'

# Sites have the limit, too: the plan saves less, and gives the bits that it gives with much memory.
plain 100
much=$("$EIN" plan plain.ein -n 2 --format=json | tr -d ' \n' | sed 's/.*"memory":{"bytes":\([0-9]*\).*/\1/')
for memory in 1TB $((much / 2)); do
  want 0 "$EIN" run plain.ein -n 2 --memory=$memory --target="$with" -o all=$memory.sites/
done
diff -r 1TB.sites $((much / 2)).sites >differ || wrong "on 2 sites: $(cat differ)"
want 0 "$EIN" plan plain.ein -n 2 --memory=$((much / 2))
shows 'kept.x'
want 1 "$EIN" plan plain.ein -n 2 --memory=1

# Without a limit, all is saved up to 1 GiB.
sed 's/N = 40/N = 4000000/' plain.ein >large.ein
want 0 "$EIN" plan large.ein
shows 'kept.x'
sed 's/^dim T = 1000, N = 4000000/dim T, N/' large.ein >open.ein
want 0 "$EIN" plan open.ein -D T=1000 -D N=4000000
shows 'kept.x'
want 0 "$EIN" plan open.ein -D T=1000 -D N=40
! grep -q 'kept.x' out || wrong "states of few bytes are not all saved"

# A limit is of what is compiled, and of one size.
want 2 "$EIN" run plain.ein --memory=1GB --target=eval
says '--memory is for programs that are compiled'
want 2 "$EIN" run plain.ein --memory=much --target="$with"
says '--memory much: expected bytes'
want 1 "$EIN" run plain.ein --memory=100 --target="$with"
says 'at least, and --memory is 100 B'
# Weights that are trained, and the sum of a gradient over turns, are in memory once: in the output. So is a state that another output
# copies, and one that changes in slices. States of two buffers stay where they are.
cat >once.ein <<'END'
dim N = 6, H = 9, T = 5
input X[n:N,h:H] : f64 = n - h
param W[h:H,k:H] : f64 = 0.01 * (h - k)
repeat t < T until steep > 1e9 {
  state w[h:H,k:H] = W[h,k]
  state seen[t':T,h:H] : f64 = 0
  state reversed[h:H] : f64 = h
  state steep : f64 = 0
  repeat u < 3 {
    state x[n:N,h:H] = X[n,h]
    next x[n,h] = tanh(sum[k] x[n,k] * w[k,h])
  }
  loss = sum[n,h] x[n,h]^2
  next w[h,k] = w[h,k] - 0.1 * grad(loss, w[h,k])
  next seen[t',h] = if t' == t then w[h,h] else seen[t',h]
  next reversed[h] = reversed[H-1-h] + w[h,0]
  next steep = loss
}
repeat t < T {
  state z[n:N,h:H] = X[n,h]
  next z[n,h] = tanh(sum[k] z[n,k] * W[k,h])
}
output w, seen, reversed, steep
output same[h,k] = w[h,k]
output dW[h,k] = grad(sum[n,h] z[n,h]^2, W[h,k])
END
want 0 "$EIN" build once.ein --stop=task
! grep -E '^buffer .* work (w|seen|grad\.W)\[' out >twice || wrong "a state is in memory twice: $(cat twice)"
grep -q '^buffer .* work reversed\[' out || wrong "reversed, of two buffers, has no buffer of its own: $(cat out)"
want 0 "$EIN" build once.ein --stop=task --roundtrip
want 0 "$EIN" verify once.ein
for sizes in "-D T=0" "-D T=1" "-D N=1 -D H=1" "-D H=0"; do
  # shellcheck disable=SC2086
  want 0 "$EIN" verify once.ein $sizes --flags=-O0
done
finish
