#!/bin/sh
# Every tensor of a plan has a unique name that says what it computes: a plan file stays valid in a release that
# numbers vertices differently.
. "$(dirname "$0")/common"
root=$(cd "$here/../.." && pwd)
unset EIN_MACHINE

cat >names.ein <<'END_OF_PROGRAM'
input X[i:8,j:8], Y[i:8,j:8] : f64
P[i,j] = softmax[j](X[i,j])
Q[i,j] = softmax[j](Y[i,j])
repeat t < 3 until (sum[i] v[i] * v[i]) > 1e9 {
  state v[i:8] = sum[j] P[i,j]
  next v[i] = 2 + sum[j] Q[i,j] * v[j]
}
output v
output many[i] = max[j] (sum[k] X[i,k] * Y[k,j] + sum[m] P[i,m] * Q[m,j])
END_OF_PROGRAM
for costs in bytes eindecomp; do
  want 0 "$EIN" plan names.ein -n 4 --costs=$costs -o $costs.plan
  for name in softmax.e.1 softmax.e.2 sum.softmax.e.1 sum.softmax.e.2 P Q v.first v.next sum.Q.v sum.v sum.X.Y sum.P.Q many; do
    grep -q "^vertex $name\( \|\$\)" $costs.plan || wrong "no vertex of the plan by $costs is called $name"
  done
  ! grep % $costs.plan || wrong "a vertex of the plan by $costs has a number for a name"
  [ -z "$(sed -n 's/^vertex \([^ ]*\).*/\1/p' $costs.plan | sort | uniq -d)" ] || wrong "two vertices of the plan by $costs have one name"
  want 0 "$EIN" plan names.ein -n 4 --costs=$costs -o out.txt
  want 0 "$EIN" plan names.ein --costs=$costs --plan=$costs.plan --roundtrip -o out.txt
done
want 0 "$EIN" plan names.ein -n 4 --pin=sum.Q.v:i=2,j=2
want 1 "$EIN" plan names.ein -n 4 --pin=softmax.e:i=2
says 'no tensor that is computed is called softmax.e'

# Names hang on the program alone, and not on how many vertices stand before.
printf 'input A[i:64,k:64], B[k:64,j:64], C[i:64,j:64] : f32\noutput Z[i] = max[j] ((sum[k] A[i,k] * B[k,j]) + C[i,j])\n' >one.ein
{ sed 1q one.ein; printf 'output W[i,j] = exp(C[i,j]) * (sum[k] C[i,k] * C[k,j])\n'; sed 1d one.ein; } >two.ein
want 0 "$EIN" plan one.ein -n 4 --pin=sum.A.B:i=4 -o one.plan
grep -v '^\(sites\|mesh\|home\)' one.plan | sed 's/ axes .*//' >some.plan
want 0 "$EIN" plan two.ein -n 4 --pin=sum.A.B:i=4 -o two.plan
for name in $(sed -n 's/^vertex //p' some.plan); do
  grep -q "^vertex $name " two.plan || wrong "the name of $name changes if more precedes it"
done

for f in 02_attention 06_loops 10_convolution; do
  want 0 "$EIN" plan "$root/samples/$f.ein" -n 4 -o sample.plan
  ! grep % sample.plan || wrong "a vertex of $f has a number for a name"
done
finish
