#!/bin/sh
# Rules of thumb go by the roles of labels: in a layer of LLaMA they cut the batch, the positions, the heads, whatever is declared first,
# however inputs have their dimensions, with a rotary embedding or a mask as an input.
. "$(dirname "$0")/common"

cat >layer.ein <<'!'
dim B = 8, S = 64, D = 64, H = 8, E = 8, F = 128
input X[b:B,s:S,d:D] : f32
input co[s:S,e:E//2], si[s:S,e:E//2] : f32
param g1[d:D], g2[d:D] : f32
param WQ[d:D,h:H,r:2,e:E//2], WK[d:D,h:H,r:2,e:E//2] : f32
param WV[d:D,h:H,e:E], WO[h:H,e:E,d:D] : f32
param W1[d:D,f:F], W3[d:D,f:F], W2[f:F,d:D] : f32
N1[b,s,d] = X[b,s,d] * g1[d] / sqrt((mean[d] X[b,s,d]^2) + 1e-5)
Q[b,s,h,r,e] = sum[d] N1[b,s,d] * WQ[d,h,r,e]
K[b,s,h,r,e] = sum[d] N1[b,s,d] * WK[d,h,r,e]
V[b,s,h,e] = sum[d] N1[b,s,d] * WV[d,h,e]
QR[b,s,h,r,e] = co[s,e] * Q[b,s,h,r,e] + (if r == 0 then -si[s,e] else si[s,e]) * Q[b,s,h,1-r,e]
KR[b,s,h,r,e] = co[s,e] * K[b,s,h,r,e] + (if r == 0 then -si[s,e] else si[s,e]) * K[b,s,h,1-r,e]
Z[b,h,s,s'] = sum[r,e] QR[b,s,h,r,e] * KR[b,s',h,r,e]
T[b,h,s,s'] = softmax[s'](if s' <= s then Z[b,h,s,s'] else -inf)
O[b,s,h,e] = sum[s'] T[b,h,s,s'] * V[b,s',h,e]
A[b,s,d] = X[b,s,d] + sum[h,e] O[b,s,h,e] * WO[h,e,d]
N2[b,s,d] = A[b,s,d] * g2[d] / sqrt((mean[d] A[b,s,d]^2) + 1e-5)
G[b,s,f] = sum[d] N2[b,s,d] * W1[d,f]
U[b,s,f] = sum[d] N2[b,s,d] * W3[d,f]
M[b,s,f] = G[b,s,f] / (1 + exp(-G[b,s,f])) * U[b,s,f]
output Y[b,s,d] = A[b,s,d] + sum[f] M[b,s,f] * W2[f,d]
!
# The embedding first; positions before the batch; the model's dimension first; a mask that has heads; other names.
sed '/^input X/d; s/^input co.*/&\ninput X[b:B,s:S,d:D] : f32/' layer.ein >late.ein
sed 's/X\[b:B,s:S,d:D\]/X[s:S,b:B,d:D]/; s/X\[b,s,d\]/X[s,b,d]/g' layer.ein >transposed.ein
sed 's/X\[b:B,s:S,d:D\]/X[d:D,s:S,b:B]/; s/X\[b,s,d\]/X[d,s,b]/g' layer.ein >inside.ein
sed "s/^input X/input mask[b:B,h:H,s:S,t:S] : f32\n&/; s/= sum\[r,e\] QR/= mask[b,h,s,s'] + &/; s/+ = sum/+ sum/" layer.ein >masked.ein
sed "s/\<b\>/s_/g; s/\<s\>/b/g; s/\<s'/b'/g; s/\<s_\>/s/g" layer.ein >named.ein

cut() { # FILE PLANNER TENSOR CUT
  want 0 "$EIN" plan "$1" -n 8 --costs=eindecomp --planner="$2"
  got=$(sed -n "s/^$3  .*  \([^ ]*=8\)  .*/\1/p" out | head -1)
  [ "$got" = "$4" ] || wrong "$1 by $2: $3 is cut $got, expected $4"
}

for f in layer late transposed inside masked; do
  for t in Q KR Z O G Y; do
    cut $f.ein data $t b=8
    cut $f.ein sequence $t s=8
  done
  for rule in megatron attention; do
    for t in Q KR Z O; do cut $f.ein $rule $t h=8; done
  done
  for t in G M; do cut $f.ein megatron $t f=8; done
done
cut named.ein data Q s=8
cut named.ein sequence Q b=8
finish
