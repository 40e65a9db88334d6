#!/bin/sh
# suite: ci
# Schedules of gradients: attention's run in tiles, a table's by whole cache lines.
. "$(dirname "$0")/common"

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
finish
