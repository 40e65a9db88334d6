#!/bin/sh
# ein plan x.tra -n 4: places a program over relations without homes by its keys. It computes the same as before and,
# if all blocks have equal sizes, moves what the plan predicts.
. "$(dirname "$0")/common"
root=$(cd "$here/../.." && pwd)
unset EIN_MACHINE

bytes() { sed -n 's/^  "bytes": //p' "$1" | tr -d ,; }

placed() { # FILE, "even" or "uneven" BLOCKS, SITES, NAME=VALUE ...
  file=$1 blocks=$2 sites=$3
  shift 3
  rm -rf one
  want 0 "$EIN" run "$file" "$@" -o all=one/
  for n in $sites; do
    rm -rf many
    want 0 "$EIN" plan "$file" -n "$n" --format=ia --roundtrip -o placed.ia
    want 0 "$EIN" run "$file" -n "$n" "$@" -o all=many/
    for out in one/*; do
      cmp -s "$out" "many/${out#one/}" || wrong "$file on $n sites has another ${out#one/}"
    done
    want 0 "$EIN" plan "$file" -n "$n" --format=json -o plan.json
    want 0 "$EIN" plan placed.ia --format=json -o moves.json
    told=$(bytes plan.json) moved=$(bytes moves.json)
    [ "$moved" = "$told" ] || { [ "$blocks" = uneven ] && [ "$moved" -lt "$told" ]; } ||
      wrong "the plan of $file on $n sites says $told bytes, and $moved move"
  done
}

cp "$root/samples/relations/product.tra" .
placed product.tra even '1 2 3 4 6 8 16' A=iota B=iota
for f in square.tra:A=iota powers.tra:A=randint:lo=-1:hi=1:seed=2,W=iota; do
  IFS=,
  set -- ${f#*:}
  unset IFS
  placed "$root/tests/algebra/${f%%:*}" even '2 3 4 6' "$@"
done
# Blocks that overlap, are of several sizes, or are left out: no more moves than is said.
placed "$root/tests/algebra/halo.tra" uneven '2 3 4' X=iota
placed "$root/tests/algebra/diagonal.tra" uneven '2 4' X=iota Y=iota
placed "$root/tests/algebra/recut.tra" uneven '2 3 4 6' B=iota X=iota

# What a plan for so many sites says as relations can be placed on others; argmax has places beside its parts.
cat >whole.ein <<'END_OF_PROGRAM'
input X[i:12,j:6] : f64
input w[j:6] : f64
S[i] = sum[j] X[i,j] * w[j]
P[i] = S[i] - max[r] S[r]
repeat t < 3 { state a[i:12] = P[i]
  next a[i] = a[i] + 2 * a[(i + 1) % 12] }
output S, a
output best = argmax[i] (if i == 7 then 9 else P[i])
output up[i] = sum[j where j <= i] X[i,j] * w[j]
END_OF_PROGRAM
for n in 1 2 4; do
  want 0 "$EIN" plan whole.ein -n $n --format=tra -o whole$n.tra
  placed whole$n.tra uneven '2 3 4' X=randint:lo=-9:hi=9:seed=7 w=iota
done
placed whole2.tra uneven 6 X=randint:lo=-9:hi=9:seed=7 w=iota

# It goes on as what is placed does.
want 0 "$EIN" run product.tra -n 4 A=iota B=iota --target=c --flags=-O0 -o C=c.npy
want 0 "$EIN" run product.tra A=iota B=iota -o C=one.npy
cmp -s c.npy one.npy || wrong "product.tra on 4 sites, as C, is another"
want 0 "$EIN" build product.tra -n 4 --stop=task -o product.task
want 0 "$EIN" check product.task
want 0 "$EIN" plan product.tra -n 4
shows 'join C[i,j] = sum[k] A[i,k] * B[k,j]'
shows 'received              768 B in all'
for format in html svg dot task tra; do
  want 0 "$EIN" plan product.tra -n 4 --format=$format -o product.$format
done
want 0 "$EIN" plan product.tra -n 4 --costs=eindecomp
want 0 "$EIN" plan product.tra -n 4 --costs=seconds --machine "$root/samples/machines/cluster_16.json" --simulate

# Keys are labels: a pin cuts them, and a plan has them.
want 0 "$EIN" plan product.tra -n 4 --pin='C:i=2,j=2' -o product.plan
want 0 grep -q '^vertex C axes i j$' product.plan
want 0 "$EIN" run product.tra --plan=product.plan A=iota B=iota -o C=c.npy
cmp -s c.npy one.npy || wrong "product.tra by a plan's file is another"
want 1 "$EIN" plan product.tra -n 3 --pin=C:i=3
says 'i'
want 1 "$EIN" check product.tra -n 4 --assert 'bytes<=700'
says 'bytes <= 700 B does not hold on 4 sites: 768 B'
want 2 "$EIN" plan product.tra -n 4 --derivation
says "--derivation is of a program's equations"
want 2 "$EIN" plan product.tra -n 4 --certificate c.json
says "--certificate is of a program's equations"
finish
