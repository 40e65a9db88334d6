#!/bin/sh
# suite: ci
# Products of several tensors as one equation, planned on many sites, move no more than when they are written in steps, whatever the order: products of
# three and four matrices, of a tensor with matrices along all axes but one (TTMc), with their products by columns (MTTKRP), at order 3 and 5.
. "$(dirname "$0")/common"
turn 1
unset EIN_MACHINE

# moved PROGRAM SITES: bytes that sites receive
moved() {
  "$EIN" plan "$1" -n "$2" --format=json | sed -n 's/.*"bytes": *\([0-9.e+]*\).*/\1/p' | head -1
}

# no_more NAME SITES...: one equation, NAME.ein, beside NAME-1.ein and so on
no_more() {
  name=$1
  shift
  for n; do
    ours=$(moved $name.ein $n)
    for f in $name-*.ein; do
      its=$(moved $f $n)
      awk -v a="$ours" -v b="$its" 'BEGIN {exit !(a != "" && b != "" && a <= b * 1.0001)}' || wrong "$name on $n sites moves $ours bytes, and $f $its"
    done
  done
}

# steps NAME INPUTS EQUATION STEPS...: the equation, and files with other steps that end in it; steps end with `;`
steps() {
  name=$1 inputs=$2
  printf '%s\noutput %s\n' "$inputs" "$3" >$name.ein
  shift 3
  k=0
  for way; do
    k=$((k + 1))
    { echo "$inputs"; echo "$way" | tr ';' '\n' | sed 's/^ *//; $s/^/output /'; } >$name-$k.ein
  done
}

steps mm2 'input A[i:3000,j:3100], B[j:3100,k:200], C[k:200,l:2900] : f64' 'Y[i,l] = sum[j,k] A[i,j] * B[j,k] * C[k,l]' \
  'T[i,k] = sum[j] A[i,j] * B[j,k]; Y[i,l] = sum[k] T[i,k] * C[k,l]' 'T[j,l] = sum[k] B[j,k] * C[k,l]; Y[i,l] = sum[j] A[i,j] * T[j,l]'
steps mm3 'input A[i:2000,j:2200], B[j:2200,k:2100], C[k:2100,l:1900], D[l:1900,m:2000] : f64' 'Y[i,m] = sum[j,k,l] A[i,j] * B[j,k] * C[k,l] * D[l,m]' \
  'T[i,k] = sum[j] A[i,j] * B[j,k]; U[k,m] = sum[l] C[k,l] * D[l,m]; Y[i,m] = sum[k] T[i,k] * U[k,m]' \
  'T[i,k] = sum[j] A[i,j] * B[j,k]; U[i,l] = sum[k] T[i,k] * C[k,l]; Y[i,m] = sum[l] U[i,l] * D[l,m]' \
  'T[k,m] = sum[l] C[k,l] * D[l,m]; U[j,m] = sum[k] B[j,k] * T[k,m]; Y[i,m] = sum[j] A[i,j] * U[j,m]' \
  'T[j,l] = sum[k] B[j,k] * C[k,l]; U[i,l] = sum[j] A[i,j] * T[j,l]; Y[i,m] = sum[l] U[i,l] * D[l,m]'
steps mttkrp3 'input X[i:1724,j:1724,k:1724], B[j:1724,a:42], C[k:1724,a:42] : f32' 'Y[i,a] = sum[j,k] X[i,j,k] * B[j,a] * C[k,a]' \
  'K[j,k,a] = B[j,a] * C[k,a]; Y[i,a] = sum[j,k] X[i,j,k] * K[j,k,a]' 'T[i,j,a] = sum[k] X[i,j,k] * C[k,a]; Y[i,a] = sum[j] T[i,j,a] * B[j,a]'
steps mttkrp5 'input X[i:60,j:62,k:64,l:60,m:62], B[j:62,a:24], C[k:64,a:24], D[l:60,a:24], F[m:62,a:24] : f32' \
  'Y[i,a] = sum[j,k,l,m] X[i,j,k,l,m] * B[j,a] * C[k,a] * D[l,a] * F[m,a]' \
  'P[j,k,a] = B[j,a] * C[k,a]; Q[l,m,a] = D[l,a] * F[m,a]; T[i,j,k,a] = sum[l,m] X[i,j,k,l,m] * Q[l,m,a]; Y[i,a] = sum[j,k] T[i,j,k,a] * P[j,k,a]' \
  'P[j,k,a] = B[j,a] * C[k,a]; Q[j,k,l,a] = P[j,k,a] * D[l,a]; T[i,j,k,l,a] = sum[m] X[i,j,k,l,m] * F[m,a]; Y[i,a] = sum[j,k,l] T[i,j,k,l,a] * Q[j,k,l,a]'
steps ttmc3 'input X[i:800,j:900,k:1000], B[j:900,b:40], C[k:1000,c:50] : f32' 'Y[i,b,c] = sum[j,k] X[i,j,k] * B[j,b] * C[k,c]' \
  'T[i,j,c] = sum[k] X[i,j,k] * C[k,c]; Y[i,b,c] = sum[j] T[i,j,c] * B[j,b]' 'T[i,b,k] = sum[j] X[i,j,k] * B[j,b]; Y[i,b,c] = sum[k] T[i,b,k] * C[k,c]'
steps ttmc5 'input X[i:60,j:62,k:64,l:60,m:62], B[j:62,b:10], C[k:64,c:11], D[l:60,d:12], F[m:62,e:10] : f32' \
  'Y[i,b,c,d,e] = sum[j,k,l,m] X[i,j,k,l,m] * B[j,b] * C[k,c] * D[l,d] * F[m,e]' \
  'T[i,j,k,l,e] = sum[m] X[i,j,k,l,m] * F[m,e]; U[i,j,k,d,e] = sum[l] T[i,j,k,l,e] * D[l,d]; V[i,j,c,d,e] = sum[k] U[i,j,k,d,e] * C[k,c]; Y[i,b,c,d,e] = sum[j] V[i,j,c,d,e] * B[j,b]' \
  'T[i,b,k,l,m] = sum[j] X[i,j,k,l,m] * B[j,b]; U[i,b,c,l,m] = sum[k] T[i,b,k,l,m] * C[k,c]; V[i,b,c,d,m] = sum[l] U[i,b,c,l,m] * D[l,d]; Y[i,b,c,d,e] = sum[m] V[i,b,c,d,m] * F[m,e]'
k=0
for name in mm2 mttkrp5 mm3 mttkrp3 ttmc3 ttmc5; do mine $((k += 1)) 2 && no_more $name ${SITES:-8 64 512}; done
[ "$(moved mttkrp3.ein 8)" = 2606688 ] || wrong "MTTKRP moves $(moved mttkrp3.ein 8) bytes on eight sites"

# Two products in a chain move as much as the best grid of each, as if it cost nothing to go from one layout to the next; or where these layouts
# do not fit, less than with what is between.
! command -v python3 >/dev/null || want 0 python3 "$here/../plan/chains.py" "$EIN" --sites 6,8

# Products that are added are one sum where that moves less: strictly less than the best grid of each, even if it cost nothing to go from one
# layout to the next. grids N I J K: elements that the best grid of one product moves.
grids() {
  awk -v n=$1 -v i=$2 -v j=$3 -v k=$4 'BEGIN { for (a = 1; a <= n; a++) for (b = 1; n % a == 0 && b <= n / a; b++) if (n / a % b == 0) {
    c = n / a / b; m = i * k * (b - 1) + k * j * (a - 1) + i * j * (c - 1); if (best == "" || m < best) best = m }; print best }'
}
added() { # SIZE SITES...: the equation in three spellings
  size=$1
  shift
  given="input A[i:$size,k:$size], B[k:$size,j:$size], C[i:$size,l:$size], D[l:$size,m:$size], E[m:$size,j:$size] : f64"
  printf '%s\nW[l,j] = sum[m] D[l,m] * E[m,j]\noutput Y[i,j] = (sum[k] A[i,k] * B[k,j]) + (sum[l] C[i,l] * W[l,j])\n' "$given" >added-1.ein
  printf '%s\nX[j,i] = sum[n] A[i,n] * B[n,j]\nW[l,j] = sum[m] D[l,m] * E[m,j]\nZ[i,j] = sum[l] W[l,j] * C[i,l]\noutput Y[i,j] = Z[i,j] + X[j,i]\n' "$given" >added-2.ein
  printf '%s\noutput Y[i,j] = (sum[k] A[i,k] * B[k,j]) + (sum[l,m] C[i,l] * D[l,m] * E[m,j])\n' "$given" >added-3.ein
  for n; do
    sum=$(($(grids $n $size $size $size) * 8 * 3))
    for f in added-?.ein; do [ "$(moved $f $n)" -lt $sum ] || wrong "$f of $size on $n sites moves $(moved $f $n) bytes, and three grids $sum"; done
  done
}
added 4000 4 6 8 12 16
added 720 4 8 9
sed 's/f64/i64/' added-1.ein >exact.ein
sed 's/720/20/g' exact.ein >small.ein
given='A=randint:lo=-9:hi=9:seed=1 B=randint:lo=-9:hi=9:seed=2 C=randint:lo=-9:hi=9:seed=3 D=randint:lo=-9:hi=9:seed=4 E=randint:lo=-9:hi=9:seed=5'
want 0 "$EIN" run small.ein $given -o Y=one.npy
for n in 4 8; do
  want 0 "$EIN" run small.ein -n $n $given -o Y=many.npy
  cmp -s one.npy many.npy || wrong "products added under one sum on $n sites give something else"
done
# Read twice, of other sizes, or with a condition they stay: the bytes are those of each.
want 0 "$EIN" plan added-1.ein -n 8 --format=json -o said.json
grep -q 'A\[i,k\] \* B\[k,j\] + C' said.json || wrong "the sums are not one"
(cat added-2.ein && echo 'output X') >shown.ein
want 0 "$EIN" plan shown.ein -n 8 --format=json -o said.json
grep -q '+ C\[' said.json && wrong "a sum that is an output is gone"

# A plan's file says so, and is read back; other orders have other tensors.
want 0 "$EIN" plan mttkrp3.ein -n 8 --roundtrip -o m.plan
grep -q '^orders by moves$' m.plan || wrong "the plan does not say which orders products have"
want 0 "$EIN" plan mttkrp3.ein --plan=m.plan
shows 'received              2.6 MB in all'
sed /orders/d m.plan >other.plan
want 1 "$EIN" plan mttkrp3.ein --plan=other.plan
printf 'plan 1\nsites 4\norders by time\n' >bad.plan
want 1 "$EIN" plan mttkrp3.ein --plan=bad.plan
says moves

# What is computed is the same.
printf '%s\n' 'input X[i:12,j:14,k:16], B[j:14,a:2], C[k:16,a:2] : i64' 'output Y[i,a] = sum[j,k] X[i,j,k] * B[j,a] * C[k,a]' >small.ein
want 0 "$EIN" plan small.ein -n 8 -o small.plan
"$EIN" run small.ein X=iota B=iota C=iota -o Y=Y1.npy || wrong "no answer on one site"
printf 'plan 1\nsites 8\norders by moves\n' >moves.plan
for plan in small moves; do
  "$EIN" run small.ein --plan=$plan.plan X=iota B=iota C=iota -o Y=Y8.npy || wrong "no answer on eight by $plan.plan"
  cmp Y1.npy Y8.npy || wrong "a different result on eight sites with $plan.plan"
done
# Of more factors than the search of orders takes.
for target in eval jit; do want 0 "$EIN" run --expect "$here/network_of_many.ein" --target=$target; done
finish
