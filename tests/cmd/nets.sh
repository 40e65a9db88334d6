#!/bin/sh
# suite: ci
# What nets need: with sizes that are not known when they are compiled, attention that pads its keys, gates of one matrix
# that a loop adds to, patches behind a class token, pieces of a window's length; heads of a masked product,
# and colours beside a density.
. "$(dirname "$0")/common"
unset EIN_TARGET

# Scores are made only where the softmax asks for them, by data that they do not read themselves.
cat >padded.ein <<'EIN'
dim B, S, T, D
input q[b:B,s:S,d:D], k[b:B,t:T,d:D], v[b:B,t:T,d:D] : f32
input len[b:B] : i64 = 5 + 20 * b
def attend[t,d](q, k, v) {
  s = (sum[d] q * k) / sqrt(size(d))
  e = exp(s - max[t] s)
  (sum[t] e * v) / sum[t] e
}
o[b,s,e] = attend[t,d where t < len[b]](q[b,s,d], k[b,t,d], v[b,t,e])
output g[b,s,d] = grad(sum[b,s,d] o[b,s,d]^2, q[b,s,d])
EIN
want 0 "$EIN" build padded.ein --stop=loop
want 0 "$EIN" verify padded.ein -D B=3 -D S=11 -D T=50 -D D=19 --flags="-O1 -march=native"

# A row of the state is split as the gates are read, and is read where it is stored.
cat >gates.ein <<'EIN'
dim S, H
input x[s:S,g:2*H,h:H] : f64
repeat t < S {
  state w[g:2*H,h:H] : f64 = 0
  next w[g,h] = w[g,h] + sum[s] x[s,g,h] * x[t,g//H,g%H]
}
output w
EIN
want 0 "$EIN" verify gates.ein -D S=5 -D H=3 --flags="-O1 -march=native"
# Indices by quotients and remainders are proved from what holds where they are read.
cat >patches.ein <<'EIN'
dim G, A, N, D, W, I, S = G*G + 1, J = N*D + I, P = (S + W - 1) // W
assert W > 0, "a window"
input e[i:G,j:G,a:A], f[n:N,d:D], x[i:I], w[p:P,u:W] : f64
output tokens[s:S,a] = if s == 0 then 0 else e[(s-1)//G,(s-1)%G,a]
output flat[j:J] = if j < N*D then f[j//D,j%D] else x[j-N*D]
output pieces[s:S] = w[s//W,s%W]
EIN
want 0 "$EIN" build patches.ein --stop=graph
grep -q 'check.*out of range' out && wrong "an index is tested"
want 0 "$EIN" verify patches.ein -D G=3 -D A=2 -D N=2 -D D=5 -D I=3 -D W=4 --flags=-O0
# Heads in one axis are labels of their own in a product under a predicate, too, which does not mention them.
cat >heads.ein <<'EIN'
dim S = 40, H = 3, D = 32, A = H*D
input p[h:H,s:S,t:S], k[t:S,a:A] : f32
output Y[s,a:A] = sum[t where t <= s] p[a//D,s,t] * k[t,(a//D)*D+a%D]
EIN
want 0 "$EIN" build heads.ein --stop=task
shows 'a_0:3, a_1:32'
want 0 "$EIN" verify heads.ein --flags="-O1 -march=native"
# A row that has more points than one that it reads, under a condition, does not take that one's place.
cat >wider.ein <<'EIN'
dim R = 64, S = 64, G = 128
input x[r:R,s:S,c:3], z[r:R,s:S] : f32
input w[c:4,g:G] : f32
a[r,s,c] = tanh(exp(x[r,s,c]) / (1 + x[r,s,c]^2))
o[r,s,c:4] = (if c == 3 then z[r,s] else 0) + (if c < 3 then a[r,s,c+0] else 0)
h[r,s,g] = sum[c] o[r,s,c] * w[c,g]
output y[r,s,g] = if z[r,s] > 0 then h[r,s,g] else 0
EIN
want 0 "$EIN" build wider.ein --stop=loop
shows 'f32 [3, '
shows 'f32 [4, '
want 0 "$EIN" verify wider.ein --flags="-O1 -march=native"
finish
