#!/bin/sh
# suite: ci
# ein plan --map: each of its points is what ein plan --against says there. tests/plan/map.py compares them.
. "$(dirname "$0")/common"
command -v python3 >/dev/null || exit 77

want 0 python3 "$here/../plan/map.py" "$EIN" "$here/../../samples"
cat out

cat >half.ein <<'!'
dim B, D = 16
assert B % 4 == 0, "rows go in fours"
input X[b:B,d:D], W[d:D,e:D] : f32
output Z[b,e] = sum[d] X[b,d] * W[d,e]
!
want 0 "$EIN" plan half.ein --map 'n=4, B=2..8'
shows "n=4  no plan             sequence"
shows "no plan: n=4, B=2: this assert fails: rows go in fours"
want 1 "$EIN" plan half.ein --map n=2..4,B=1..2
says "n=2, B=1: this assert fails: rows go in fours"
want 2 "$EIN" plan half.ein --map B=4..8
says "for how many sites? n=1..64 is an axis, and -n 16 one number"
want 2 "$EIN" plan half.ein --map n=1..4 -n 4 -D B=4
says "without -n, please"
want 2 "$EIN" plan half.ein --map n=1..4,B=4,D=1..2
says "two axes at most; -D gives other dims their values"
want 2 "$EIN" plan half.ein --map n=1..4,n=8
says "n stands there twice"
for wrong in n n= n=0..4 n=4..2 n=1..x =1..4 n=1..4,; do
  want 2 "$EIN" plan half.ein -D B=4 --map "$wrong"
  says "expected a name and from where to where, as n=1..1024 or B=8"
done
want 2 "$EIN" plan half.ein --map n=1..4,B=4..8 --format=json
says "--map is written as text or svg, not as json"
want 2 "$EIN" plan half.ein --map n=1..4,B=4..8 --why Z:b=2
says "--why is about one plan, and --map about many"
want 2 "$EIN" plan half.ein --map n=1..4,B=4..8 -o x.plan
says "--map makes many plans, and x.plan would be one"
want 2 "$EIN" plan half.ein --map n=1..4,B=4..8 --against=megatrom
says "did you mean megatron"
want 2 "$EIN" plan half.ein --map n=1..4,E=4..8 -D B=4
finish
