#!/bin/sh
# suite: long
# Small programs in which one tensor is read along different axes: which axes go together, only cases tell.
. "$(dirname "$0")/common"

cat >doubles.ein <<'!'
input Y[k:32,l:32,c:128,d:128], T[a:128,b:128,i:32,j:32] : f32
X[m,b,e,j] = sum[n,f] Y[m,n,e,f] * T[f,b,j,n]
W[m,n,i,j] = sum[e,f] Y[m,n,e,f] * T[e,f,i,j]
S[a,b,i,j] = sum[m,e] T[a,e,i,m] * X[m,b,e,j]
Q[a,b,i,j] = sum[m,n] T[a,b,m,n] * W[m,n,i,j]
output R[a,b,i,j] = Q[a,b,i,j] + S[a,b,i,j] - S[b,a,i,j] - S[a,b,j,i] + S[b,a,j,i]
!
want 0 "$EIN" plan doubles.ein -n 8
shows "no plan on such a mesh moves less"
finish
