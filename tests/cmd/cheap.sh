#!/bin/sh
# suite: ci
# Elementwise values are made again in the products that read them (task/passes/cheap.c): gelu beside its input, rows that layernorm has normalised. And a
# product is done where little else is alive (task/passes/order.c).
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$root/tests/cmd/common"
turn 1

stored() { # NUMBER FILE: of 256 x 320 and 256 x 288
  want 0 "$EIN" build "$2" --stop=task
  [ "$(grep -cE '^buffer.* work .*\[256, (320|288)\]' out)" = "$1" ] || wrong "wanted $1 stored: $(cat out): $line"
}

cat >step.ein <<'END'
dim S = 256, A = 288, F = 320
input X[s:S,a:A], D[s:S,a:A] : f32
param W1[a:A,f:F], W2[f:F,a:A] : f32
N[s,a] = layernorm[a](X[s,a], 1, 0, 1e-5)
H[s,f] = sum[a] N[s,a] * W1[a,f]
G[s,f] = gelu_tanh(H[s,f])
Y[s,a] = sum[f] G[s,f] * W2[f,a]
loss = sum[s,a] Y[s,a] * D[s,a]
output n1[a,f] = W1[a,f] - 0.1 * grad(loss, W1[a,f])
output n2[f,a] = W2[f,a] - 0.1 * grad(loss, W2[f,a])
output nX[s,a] = X[s,a] - 0.1 * grad(loss, X[s,a])
END

# The centred rows, their adjoint, and H, in which its own lies (task/passes/reuse.c); neither the normalised rows nor gelu of H.
stored 3 step.ein
want 0 "$EIN" build step.ein --stop=task --roundtrip
want 0 "$EIN" verify step.ein
for n in 1 2 3; do
  want 0 "$EIN" run step.ein --target=c --threads $n X=randn:seed=1 D=randn:seed=2 W1=randn:seed=3 W2=randn:seed=4 -o all=t$n.safetensors
done
cmp -s t1.safetensors t2.safetensors && cmp -s t1.safetensors t3.safetensors || wrong "other bits on other threads"

# The gradient of W2 is done before that of H, which is as large as H.
want 0 "$EIN" build step.ein --stop=task
[ "$(grep -nE '^kernel [0-9]+ n2 ' out | cut -d: -f1)" -lt "$(grep -nE '^kernel [0-9]+ grad.H ' out | cut -d: -f1)" ] || wrong "order: $(cat out)"

# A value stays where another kernel reads it. If that kernel has rows of it, it makes them itself.
{ cat step.ein; echo 'output g[f] = sum[s] (G[s,f] - max[s] G[s,f])^2'; } >read.ein
stored 4 read.ein
want 0 "$EIN" verify read.ein
{ cat step.ein; echo 'output g[s] = sum[f] (G[s,f] - max[f] G[s,f])^2'; } >rows.ein
stored 4 rows.ein
want 0 "$EIN" verify rows.ein

# In a repeat, where a state changes.
cat >turns.ein <<'END'
dim S = 256, A = 288, F = 320
input X[s:S,a:A], W1[a:A,f:F], V[f:F,a:A] : f32
repeat n < 2 {
  state W2[f,a] = V[f,a]
  state U[s,a] = X[s,a]
  H[s,f] = sum[a] U[s,a] * W1[a,f]
  Y[s,a] = sum[f] gelu_tanh(H[s,f]) * W2[f,a]
  loss = sum[s,a] Y[s,a]^2
  next W2[f,a] = W2[f,a] - 1e-6 * grad(loss, W2[f,a])
  next U[s,a] = U[s,a] * 0.5 + 1e-6 * Y[s,a]
}
output W2
output U
END
want 0 "$EIN" verify turns.ein
want 0 "$EIN" run step.ein -n 2 --target=c X=randn:seed=1 D=randn:seed=2 W1=randn:seed=3 W2=randn:seed=4 -o all=n2.safetensors
finish
