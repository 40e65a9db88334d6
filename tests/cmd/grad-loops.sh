#!/bin/sh
# suite: ci
# Schedules of gradients: attention's run in tiles, a table's by whole cache lines.
. "$(dirname "$0")/common"
turn 1

# The adjoint of the scores is computed only where the mask is true, so it is a product like the scores, and zeros are not summed.
cat >attention.ein <<'END'
use attention
dim S = 256, H = 2, D = 64
input Q[h:H,s:S,d:D], K[h:H,s:S,d:D], V[h:H,s:S,d:D], G[h:H,s:S,d:D] : f32 = 0.1 * normal[h,s,d](1)
O[h,s,e] = causal[s,t,d](Q[h,s,d], K[h,t,d], V[h,t,e], 1 / sqrt(D))
loss = sum[h,s,d] O[h,s,d] * G[h,s,d]
output dQ[h,s,d] = grad(loss, Q[h,s,d])
output dK[h,s,d] = grad(loss, K[h,s,d])
output dV[h,s,d] = grad(loss, V[h,s,d])
END
want 0 "$EIN" build attention.ein --stop=loop
shows 'how "grad.softmax: tiles of '
shows 'note "grad.Q[h,s,d] = sum[t where t <= s] '
shows 'note "grad.K[h,t,d] = sum[s where t <= s] '
want 0 "$EIN" verify attention.ein -D S=75 -D D=24 --flags=-O1

# The derivative of a map inside a sum is computed once per element, not once per point: a product, followed by a map.
cat >within.ein <<'END'
dim S = 256, F = 512, A = 128
input x[s:S,f:F] : f32 = 0.1 * normal[s,f](1)
param W[f:F,a:A] : f32 = 0.1 * normal[f,a](2)
y[s,a] = sum[f] gelu_tanh(x[s,f]) * W[f,a]
loss = sum[s,a] y[s,a]^2
output g[s,f] = grad(loss, x[s,f])
END
want 0 "$EIN" build within.ein --stop=loop
shows 'how "a value kept: tiles of '
want 0 "$EIN" verify within.ein -D S=33 -D F=70 --flags=-O1

# A table's rows are summed where the result lies, however many there are: in f32 a part of a row for each thread.
cat >table.ein <<'END'
dim V = 8192, A = 512, N = 64
input E[v:V,a:A] : f32 = 1
input G[n:N,a:A] : f32 = normal[n,a](1)
input c[n:N] : i64 = (n * n * 37) % V
loss = sum[n,a] E[c[n],a] * G[n,a]
output dE[v,a] = grad(loss, E[v,a])
END
for rows in 100 8192 1000000; do
  want 0 "$EIN" build table.ein --stop=loop -D V=$rows
  shows 'one walk over the points, each put to its '
  shows ', 64 a together, where the result lies'
done
want 0 "$EIN" verify table.ein -D V=20011 -D A=83 --flags=-O1
# So they are if sizes are known only when it runs, for other reducers, and for each point of an outer label.
cat >others.ein <<'END'
dim N, V, A
input c[n:N] : i64 = (n * n * 37) % max(V, 1)
input G[n:N,a:A] : i64 = n * a % 11 - 3
input D[b:3,n:N,a:A] : f64 = (n + a * b) % 5
output most[v:V,a] = max[n where c[n] == v] G[n,a]
output some[b,v:V,a] = sum[n where c[n] == v] D[b,n,a]
END
want 0 "$EIN" build others.ein --stop=loop
[ "$(grep -c 'together, where the result lies' out)" = 2 ] || wrong "sums of rows are not made where the result lies"
# A map behind them is a kernel of its own, also if the sum is written within it, in whatever order its labels stand there.
cat >mapped.ein <<'END'
dim N, V, A
input c[n:N] : i64 = (n * n * 37) % max(V, 1)
input G[n:N,a:A] : i64 = n * a % 11 - 3
input E[v:V,a:A] : i64 = v - a
output inside[v,a] = E[v,a] - 2 * sum[n where c[n] == v] G[n,a]
S[a:A,v:V] = sum[n where c[n] == v] G[n,a]
output before[v,a] = 3 * S[a,v] + E[v,a]
END
for sizes in "" "-D V=1000000 -D N=50 -D A=64" "-D V=100 -D N=5000 -D A=64"; do
  # shellcheck disable=SC2086
  want 0 "$EIN" build mapped.ein --stop=loop $sizes
  [ "$(grep -c 'together, where the result lies' out)" = 1 ] || wrong "rows with a map behind are not summed in place: $sizes"
done
for sizes in "-D N=57 -D V=11 -D A=130" "-D N=3 -D V=50 -D A=17" "-D N=0 -D V=5 -D A=9"; do
  # shellcheck disable=SC2086
  want 0 "$EIN" verify mapped.ein $sizes --flags=-O1
done
for sizes in "-D N=57 -D V=11 -D A=130" "-D N=57 -D V=11 -D A=3" "-D N=0 -D V=5 -D A=9" "-D N=5 -D V=9 -D A=0"; do
  want 0 "$EIN" verify others.ein $sizes --flags=-O1
done
# Sums in another dtype than the result's have an array of their own: strips of 64 lanes, and shorter ones where these do not fit; strips shorter than
# a cache line would read each line repeatedly.
sed -i 's/f32/bf16/' table.ein
want 0 "$EIN" build table.ein --stop=loop
shows 'one walk over the points, each put to its '
shows ', 32 a together'
want 0 "$EIN" build table.ein --stop=loop -D V=65536
shows ', 16 a together'
want 0 "$EIN" build table.ein --stop=loop -D V=1024
shows ', 64 a together'
# Rows of whole pages that a kernel keeps are a line longer, for tiles that go down their columns.
cat >pages.ein <<'END'
use attention
dim S = 512, H = 8, D = 4
input Q[h:H,s:S,d:D], K[h:H,s:S,d:D], V[h:H,s:S,e:D] : f64
O[h,s,e] = causal[s,t,d](Q[h,s,d], K[h,t,d], V[h,t,e], 1 / sqrt(D))
loss = sum[h,s,e] O[h,s,e]^2
output dQ[h,s,d] = grad(loss, Q[h,s,d])
output dK[h,s,d] = grad(loss, K[h,s,d])
END
want 0 "$EIN" build pages.ein --stop=loop
shows ': f64 [512, 520] written'
want 0 "$EIN" verify pages.ein --flags=-O1
want 0 "$EIN" build pages.ein --stop=loop -D S=500
shows ': f64 [500, 500] written'

# An update of a state by such sums touches only the rows of points, to the same bits: what is 0 is left out where x - 0 and x + -0 are x
# for -0 as well. It touches all where that is not so, where most rows have a point, and where a size is unknown. A rate that is not
# known before the run is asked: where it is 0, negative, infinite or NaN, all rows are touched.
cat >update.ein <<'END'
dim V = 300, A = 83, N = 9, T = 3, K = 5, H = 2
input C[t:T,n:N] : i64 = (t * 7 + n * n * 37) % V
input B[t:T,n:N] : i64 = (n + t) % K
input D[t:T,n:N,a:A] : f32 = (n + a * t) % 5 - 2
input E0[v:V,a:A] : f32 = if v % 3 == 0 then -0.0 else v - a
input F0[v:V,k:K,a:A] : f64 = if v % 3 == 0 then -0.0 else v - a
input G0[h:H,v:V,a:A] : f32 = if v % 3 == 0 then -0.0 else v + h
input R[t:T] : f32 = 0.5
input Z[t:T] : f32 = if t == 0 then 0.5 else if t == 1 then 0 else -0.25
input I[t:T] : f32 = if t == 0 then 0.5 else if t == 1 then inf else inf - inf
repeat t < T {
  state E[v:V,a:A] : f32 = E0[v,a]
  state M[v:V,a:A] : f32 = E0[v,a]
  state F[v:V,k:K,a:A] : f64 = F0[v,k,a]
  state G[h:H,v:V,a:A] : f32 = G0[h,v,a]
  state L[v:V,a:A] : f32 = E0[v,a]
  state r : f32 = 0.5
  state O[v:V,a:A] : f32 = E0[v,a]
  state P[v:V,a:A] : f32 = E0[v,a]
  state Q[v:V,a:A] : f32 = E0[v,a]
  state W[v:V,k:K,a:A] : f64 = F0[v,k,a]
  next r = r * 0.5
  next O[v,a] = O[v,a] - 0.5 * r * sum[n where C[t,n] + 2 == v] D[t,n,a]
  next P[v,a] = P[v,a] - Z[t] * (sum[n where C[t,n] + 3 == v] D[t,n,a]) / (1 + t)
  next Q[v,a] = Q[v,a] - I[t] * sum[n where C[t,n] + 4 == v] D[t,n,a]
  next W[v,k,a] = W[v,k,a] - R[t] * sum[n where C[t,n] == v and B[t,n] == k and D[t,n,0] > 0] f64(D[t,n,a])
  next E[v,a] = E[v,a] - 0.5 * sum[n where C[t,n] == v] D[t,n,a]
  next M[v,a] = M[v,a] + 0.5 * sum[n where C[t,n] + 1 == v] D[t,n,a]
  next F[v,k,a] = F[v,k,a] - 2 * sum[n where C[t,n] == v and B[t,n] == k and D[t,n,0] > 0] f64(D[t,n,a]) * F[v,k,a]
  next G[h,v,a] = G[h,v,a] - sum[u:T,n where (C[u,n] + h * 5) % V == v and u <= t] D[u,n,a]
  next L[v,a] = (sum[n where C[t,n] + n * 90 - 40 == v] D[t,n,a]) * -0.25 + L[v,a]
}
output E, M, F, G, L, O, P, W, r
output q[v,a] = if Q[v,a] == Q[v,a] then Q[v,a] else 7 # one NaN may have other bits than another
END
touched() { # STATE WORD...: its kernel leaves the rows of no point alone, if WORD is "few"
  state=$1 few=$2
  shift 2
  want 0 "$EIN" build update.ein --stop=loop "$@"
  sed -n "/note \"next $state\[/,/^ *dense/p" out | grep -q "no others are touched" && met=few || met=all
  [ "$met" = "$few" ] || wrong "next $state touches $met rows: $line"
}
for state in E L O P Q W; do touched $state few; done
touched M all
touched E all -D V=30
want 0 "$EIN" run update.ein -o all=eval/
for flags in -O0 -O3; do
  for threads in 1 2; do
    rm -rf now
    want 0 "$EIN" run update.ein --target=c --flags="$flags" --threads $threads -o all=now/
    diff -r eval now || wrong "$flags, $threads threads: other bits"
  done
done
finish
