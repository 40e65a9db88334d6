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

# ---- a predicate over data leaves points out of argmax in lanes, too: ties, infinities, NaN, rows and lanes without a point
cat >masked.ein <<'END'
dim R, N
input x[r:R,n:N] : f32 = if r % 3 == 1 and (n + r) % 97 == 5 then nan else if r % 3 == 2 then -inf else (3 * n + r) % 11
input i[r:R,n:N] : i64 = if r % 3 == 2 then -9223372036854775808 else (5 * n + r) % 13 - 6
input u[r:R,n:N] : u8 = u8((7 * n + r) % 19 * 15)
input h[r:R,n:N] : f16 = f16(if r % 3 == 1 and n % 50 == 7 then nan else (5 * n + 3 * r) % 17)
input keep[r:R,n:N] : bool = r % 5 != 4 and (n * n + r) % 5 != 1 and (r % 5 != 3 or n + 1 == N)
output xa[r] = (argmax[n where keep[r,n]] x[r,n]) ?? -7
output xb[r] = (argmin[n where keep[r,n]] -x[r,n]) ?? -7
output ia[r] = (argmax[n where keep[r,n]] i[r,n]) ?? -7
output ib[r] = (argmin[n where keep[r,n]] i[r,n]) ?? -7
output ua[r] = (argmax[n where keep[r,n] and u[r,n] < 200] u[r,n]) ?? -7
output hb[r] = (argmin[n where keep[r,n]] h[r,n]) ?? -7
output whole = (argmax[n:N where keep[0,n]] x[0,n]) ?? -7
output ahead[r] = (argmax[n where keep[r,n] and n <= 3 * r] x[r,n]) ?? -7
END
sed 's/^dim.*/dim R = 16, N = 600/' masked.ein >masked_known.ein
want 0 "$EIN" build masked_known.ein --stop=loop
! grep -q 'at\[\] < 0' out || wrong "points are asked one after the other: $(grep how out)"
want 0 "$EIN" verify masked_known.ein --flags="-O1 -march=native"
for sizes in '0 5' '1 1' '3 31' '16 64' '7 1000'; do
  set -- $sizes
  want 0 "$EIN" verify masked.ein -D R=$1 -D N=$2 --target=jit
done
finish
