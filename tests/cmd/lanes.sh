#!/bin/sh
# suite: ci
# Lanes step over pairs, triples and 4-bit numbers, whose cases are unrolled along the rest. Results equal eval's to
# the bit, at sizes with and without a remainder of lanes, with each compiler; an index from data is checked ahead of
# the lanes.
. "$(dirname "$0")/common"

program() { # program ROWS COLUMNS WORDS
  cat <<END2
dim N = $1, D = $2, V = $3
input X[n:N,d:2*D], C[n:N,e:D] : f32
input Q[n:N,b:D] : u8
input Z[n:N,d:3*D] : f64
input E[v:V,d:D] : f32
input t[n:N] : i32
output rotary[n,d] = if d%2 == 0 then X[n,d]*C[n,d//2] - X[n,d+1] else X[n,d]*C[n,d//2] + X[n,d-1]
output bits[n,k:2*D] : u8 = if k%2 == 0 then Q[n,k//2] % 16 else Q[n,k//2] // 16
output rolled[n,d:3*D] = if d%3 == 0 then Z[n,d+2] else if d%3 == 1 then Z[n,d-1] else Z[n,d-1]
output halves[d:D,n] = X[n,2*d] + X[n,2*d+1]
output row[n,d] = E[t[n],d] * 2 + 1
output two[n,d] = E[t[n],d] + E[V-1-t[n],d] * C[n,d]
END2
}

for sizes in '3 64 5' '2 37 7' '5 1 3'; do
  program $sizes >x.ein
  want 0 "$EIN" verify x.ein t=const:2 --target=jit
  for cc in gcc clang-19; do
    command -v $cc >/dev/null || continue
    want 0 "$EIN" verify x.ein t=const:2 --target=c --cc=$cc
  done
done

program 4 64 9 >x.ein
want 0 "$EIN" build x.ein --emit=c -o x.c
grep -q '(rotary + n[_0-9]* \* rotary_0)\[(2 \* d' x.c || wrong 'pairs are stored from where their row begins'
want 0 "$EIN" build x.ein --stop=loop -o x.loop
sed -n '/^kernel row /,/^}/p' x.loop | grep -q 'if ((0 <= i64(v[_0-9]*\[\])) and (i64(v[_0-9]*\[\]) < 9)) maybe {' || wrong 'an index is looked at ahead of its lanes'
want 0 "$EIN" run x.loop t=const:8 X=iota C=iota Q=iota Z=iota E=iota
want 1 "$EIN" run x.ein t=const:9 X=iota C=iota Q=iota Z=iota E=iota

# ---- lanes whose elements are some elements apart, where no label lies side by side: sums and maxima of every second
# column are made for many columns together, and not one column after the other
cat >apart.ein <<'END'
dim N = 70
input X[j:90,m:3*N] : f32
output two[i:N] = sum[j] X[j,2*i]
output most[i:N] = max[j] X[j,3*i+1]
output where_most[i:N] = argmax[j] X[j,2*i]
END
want 0 "$EIN" build apart.ein --stop=loop
! grep -q 'one result after the other' out || wrong "lanes that are apart are no lanes: $(grep how out)"
for threads in 1 3; do want 0 "$EIN" verify apart.ein --flags=-O1 --threads $threads; done
for n in 0 1 5; do want 0 "$EIN" verify apart.ein -D N=$n --flags=-O1; done

# Where the reduced label lies side by side, that one is in lanes.
sed 's/X\[j:90,m:3\*N\]/X[m:3*N,j:90]/; s/X\[j,/X[/; s/\]$/,j]/' apart.ein >beside.ein
want 0 "$EIN" build beside.ein --stop=loop
! grep -q 'strips of 70 i' out || wrong "columns are lanes where rows are nearer: $(grep how out)"
finish
