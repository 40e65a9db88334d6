#!/bin/sh
# suite: ci
# Texts in which a tile's new key distinguishes copies (it cuts nothing) that go to several sites: C and jit give the same values as the evaluator.
. "$(dirname "$0")/common"
root=$(cd "$here/../.." && pwd)
unset EIN_MACHINE

same() { # FILE NAME=VALUE ...
  rm -rf slow
  want 0 "$EIN" run "$@" -o all=slow/
  for target in c jit; do
    rm -rf fast
    want 0 "$EIN" run "$@" --target=$target -o all=fast/
    for out in slow/*; do
      cmp -s "$out" "fast/${out#slow/}" || wrong "$1 by $target has another ${out#slow/}"
    done
  done
}
same "$root/samples/relations/product_replicated.ia" A=iota B=iota
sed 's/ 8\]/ 9]/; s/8\//9\//g; s/\[8,/[9,/' "$root/samples/relations/product_replicated.ia" >nine.ia
same nine.ia A=iota B=iota

# Four copies at two places: each site has two of them, stored as one array.
cat >runs.ia <<'END_OF_TEXT'
ia 1
mesh 2 2
input %0 A {i:2, k:2} [8/i, 8/k] : f32 at 0 1
input %1 B {k:2, j:4} [8/k, 8/j] : f32 at 0 1
tile %2 A {i:2, k:2, j:4} [8/i, 8/k] : f32 at 0 1 of %0 into {j:4} [8/i, 8/k]
shuffle %3 A {i:2, k:2, j:4} [8/i, 8/k] : f32 at 0 2 of %2
tile %4 B {k:2, j:4, i:2} [8/k, 8/j] : f32 at 0 1 of %1 into {i:2} [8/k, 8/j]
shuffle %5 B {k:2, j:4, i:2} [8/k, 8/j] : f32 at 2 1 of %4
join %6 C {i:2, j:4, k:2} [i:8/i, j:8/j; k:8/k] : f32 at 0 1 of %3{i, k, j}, %5{k, j, i} = sum:f32 (&0[i, k] * &1[k, j])
aggregate %7 C {i:2, j:4} [8/i, 8/j] : f32 at 0 1 of %6 by {i, j} sum
output C [8, 8] = %7
END_OF_TEXT
same runs.ia A=iota B=iota

# A join turns copies into parts; copies that are moved stay copies; the maximum of copies is any one of them.
cat >again.ia <<'END_OF_TEXT'
ia 1
mesh 2 2
input %0 A {i:2, k:2} [8/i, 8/k] : f32 at 0 1
tile %1 A {i:2, k:2, j:2} [8/i, 8/k] : f32 at 0 1 of %0 into {j:2} [8/i, 8/k]
shuffle %2 A {i:2, k:2, j:2} [8/i, 8/k] : f32 at 0 2 of %1
join %3 D {i:2, k:2, j:2} [i:8/i, k:8/k] : f32 at 0 2 of %2{i, k, j} = (&0[i, k] * 2.0:f32)
shuffle %4 D {i:2, k:2, j:2} [8/i, 8/k] : f32 at 0 1 of %3
aggregate %5 E {i:2, k:2} [8/i, 8/k] : f32 at 0 1 of %4 by {i, k} sum
shuffle %6 A {i:2, k:2, j:2} [8/i, 8/k] : f32 at 2 1 of %2
join %7 F {i:2, k:2, j:2} [i:8/i, k:8/k] : f32 at 2 1 of %6{i, k, j} = (&0[i, k] + 1.0:f32)
shuffle %8 F {i:2, k:2, j:2} [8/i, 8/k] : f32 at 0 1 of %7
aggregate %9 F {i:2, k:2} [8/i, 8/k] : f32 at 0 1 of %8 by {i, k} max
output C [8, 8] = %5
output F [8, 8] = %9
END_OF_TEXT
same again.ia A=iota

# A sum of copies would need all of them, but each site makes only one.
cat >twice.ia <<'END_OF_TEXT'
ia 1
mesh 2 2
input %0 A {i:2, k:2} [8/i, 8/k] : f32 at 0 1
tile %1 A {i:2, k:2, j:2} [8/i, 8/k] : f32 at 0 1 of %0 into {j:2} [8/i, 8/k]
shuffle %2 A {i:2, k:2, j:2} [8/i, 8/k] : f32 at 0 2 of %1
shuffle %3 A {i:2, k:2, j:2} [8/i, 8/k] : f32 at 0 1 of %2
aggregate %4 A {i:2, k:2} [8/i, 8/k] : f32 at 0 1 of %3 by {i, k} sum
output C [8, 8] = %4
END_OF_TEXT
want 1 "$EIN" run twice.ia A=iota --target=c
says "twice.ia cannot be one list of tasks yet: %4 A: copies of one array are combined"
sed 's/ sum$/ max/' twice.ia >largest.ia
same largest.ia A=iota
finish
