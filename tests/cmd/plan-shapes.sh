#!/bin/sh
# What is known by a name comes out of the search by the shapes alone: ein plan by bytes.
. "$(dirname "$0")/common"
command -v python3 >/dev/null || exit 77

# cuts SITES FILE TENSOR=WANT...: each tensor is cut as wanted ("b=8"; "-": whole), and no plan on the mesh moves less. Also
# home:TENSOR=WANT, with " xN" behind it for N copies.
cuts() {
  sites=$1
  file=$2
  shift 2
  want 0 "$EIN" plan "$file" -n "$sites" --format=json -o plan.json
  want 0 python3 - plan.json "$@" <<'!'
import json
import math
import sys
plan = json.load(open(sys.argv[1]))
vertices = {v["name"]: v for v in plan["vertices"]}
homes = {t["name"]: t["home"] for t in plan["tensors"]}
assert plan["bound"] >= plan["bytes"] * (1 - 1e-9), (plan["bytes"], plan["bound"])


def text(counts, copies):
    cut = " ".join(f"{n}={c}" for n, c in counts if c > 1) or "-"
    return cut + (f" x{copies}" if copies > 1 else "")


for wanted in sys.argv[2:]:
    name, cut = wanted.split("=", 1)
    if name.startswith("home:"):
        home = homes[name[5:]]
        axes = {d: math.prod(m for m, h in zip(plan["mesh"], home) if h == d) for d in set(home)}
        got = text([(d, c) for d, c in sorted(axes.items()) if d >= 0], axes.get(-1, 1))
    else:
        got = text([(l["name"], l["count"]) for l in vertices[name]["labels"]], 1)
    assert got == cut, f"{name}: {got}, wanted {cut}"
!
}

# A small model and many rows: data parallel. Gradients are reduced and scattered, weights are everywhere.
cat >data.ein <<'!'
dim B = 65536, A = 64, F = 128
input X[b:B, a:A], T[b:B, a:A] : f32
param W[a:A, f:F], V[f:F, a:A] : f32
P[b,f] = sum[a] X[b,a] * W[a,f]
H[b,f] = max(P[b,f], 0)
D[b,a] = (sum[f] H[b,f] * V[f,a]) - T[b,a]
G[f,a] = sum[b] H[b,f] * D[b,a]
output newV[f,a] = V[f,a] - 0.01 * G[f,a]
E[b,f] = if P[b,f] > 0 then sum[a] D[b,a] * V[f,a] else 0
K[a,f] = sum[b] X[b,a] * E[b,f]
output newW[a,f] = W[a,f] - 0.01 * K[a,f]
!
cuts 8 data.ein P=b=8 H=b=8 D=b=8 G=b=8 E=b=8 K=b=8 home:V="- x8"

# A large model and few rows: tensor parallel, hidden features cut in both products, and rows between them (as Megatron with sequence
# parallelism has it).
cat >tensor.ein <<'!'
dim S = 64, A = 4096, F = 16384
input X[s:S, a:A] : f32
param W[a:A, f:F], V[f:F, a:A] : f32
P[s,f] = sum[a] X[s,a] * W[a,f]
H[s,f] = max(P[s,f], 0)
Q[s,a] = sum[f] H[s,f] * V[f,a]
output Y[s,a] = X[s,a] + Q[s,a]
!
cuts 8 tensor.ein P=f=8 H=f=8 Q=f=8 Y=s=8 home:W=1=8 home:V=0=8 home:H=1=8

# One long sequence and a small model: along the sequence, the mixing of places apart: of its scores each site has a block of a grid,
# which moves less than whole rows would.
cat >sequence.ein <<'!'
dim S = 16384, A = 64
input X[s:S, a:A] : f32
param g[a:A], Q[a:A, d:A], K[a:A, d:A], V[a:A, d:A] : f32
N[s,a] = rmsnorm[a](X[s,a], g[a], 1e-5)
q[s,d] = sum[a] N[s,a] * Q[a,d]
k[s,d] = sum[a] N[s,a] * K[a,d]
v[s,d] = sum[a] N[s,a] * V[a,d]
T[s,s'] = softmax[s'](sum[d] q[s,d] * k[s',d])
O[s,d] = sum[s'] T[s,s'] * v[s',d]
output Y[s,d] = O[s,d] + N[s,d]
!
cuts 8 sequence.ein N=s=8 q=s=8 k=s=8 v=s=8 "T=s=4 s'=2" "O=s=4 s'=2" Y=s=8

# Products of matrices: two dimensions on four sites, three on eight; one where one matrix is large.
cat >product.ein <<'!'
dim I = 4096, J = 4096, K = 4096
input A[i:I, j:J], B[j:J, k:K] : f32
output C[i,k] = sum[j] A[i,j] * B[j,k]
!
sed 's/J = 4096/J = 2048/' product.ein >flat.ein
cuts 4 flat.ein "C=i=2 k=2"
cuts 8 product.ein "C=i=2 k=2 j=2"
cuts 64 product.ein "C=i=4 k=4 j=4"
sed 's/I = 4096/I = 1048576/' product.ein >tall.ein
cuts 8 tall.ein C=i=8
sed 's/J = 4096/J = 1048576/' product.ein >long.ein
cuts 8 long.ein C=j=8

# A prime number of sites: one is idle, as a grid of the others moves far less.
cuts 13 product.ein "C=i=3 k=2 j=2"
want 0 "$EIN" plan product.ein -n 13
shows "3 x 2 x 2, 1 site idle"
cuts 13 tall.ein C=i=13

# An operator that is made in a loop of itself lies one way; nothing of it moves but what the product wants.
cat >loop.ein <<'!'
input A[i:1024, j:1024] : f32
repeat t < 100 {
  state x[i:1024] : f32 = 1
  next x[i] = sum[j] A[i,j] * x[j]
}
output x
!
cuts 4 loop.ein "home:x=0=4"

# Layers of a large language model, on many sites: within 10 % of the best, which is said.
cat >layer <<'!'
param WQ_@[a:A,h:H,d:D], WK_@[a:A,h:H,d:D], WV_@[a:A,h:H,d:D], WO_@[h:H,d:D,a:A] : f32
param W1_@[a:A,f:F], W3_@[a:A,f:F], W2_@[f:F,a:A], g_@[a:A], e_@[a:A] : f32
n_@[b,s,a] = rmsnorm[a](x_@[b,s,a], g_@[a], 1e-5)
q_@[b,s,h,d] = rope[d](sum[a] n_@[b,s,a] * WQ_@[a,h,d], s, 10000)
k_@[b,s,h,d] = rope[d](sum[a] n_@[b,s,a] * WK_@[a,h,d], s, 10000)
v_@[b,s,h,d] = sum[a] n_@[b,s,a] * WV_@[a,h,d]
t_@[b,h,s,s'] = softmax[s'](if s' <= s then sum[d] q_@[b,s,h,d] * k_@[b,s',h,d] / sqrt(D) else -inf)
o_@[b,s,h,d] = sum[s'] t_@[b,h,s,s'] * v_@[b,s',h,d]
y_@[b,s,a] = x_@[b,s,a] + sum[h,d] o_@[b,s,h,d] * WO_@[h,d,a]
m_@[b,s,a] = rmsnorm[a](y_@[b,s,a], e_@[a], 1e-5)
w_@[b,s,f] = silu(sum[a] m_@[b,s,a] * W1_@[a,f]) * sum[a] m_@[b,s,a] * W3_@[a,f]
!
{
  echo "use attention"
  echo "dim B = 8, S = 1024, A = 4096, H = 32, D = 128, F = 11008"
  echo "input x_1[b:B,s:S,a:A] : f32"
  for i in 1 2 3 4; do
    sed "s/@/$i/g" layer
    echo "x_$((i + 1))[b,s,a] = y_$i[b,s,a] + sum[f] w_$i[b,s,f] * W2_$i[f,a]"
  done
  echo "output x_5"
} >layers.ein
for sites in 16 1024; do
  want 0 "$EIN" plan layers.ein -n $sites --format=json -o plan.json
  want 0 python3 -c '
import json
p = json.load(open("plan.json"))
assert 0 < p["bound"] <= p["bytes"] <= 1.1 * p["bound"], (p["bytes"], p["bound"])'
done
finish
