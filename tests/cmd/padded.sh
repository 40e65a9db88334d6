#!/bin/sh
# suite: ci
# A map with short rows reads around each point from a copy that has the border, so that nothing is tested (task/passes/pad.c): small convolutions, pools,
# stencils, in several spellings. Where a predicate leaves points out, a weight does not count there, whatever it is.
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$root/tests/cmd/common"

copies() { # COPIES TESTS FILE WORD...: so many copies are made, and the other kernels have so many choices
  made=$1 tests=$2
  shift 2
  want 0 "$EIN" build "$@" --stop=task
  [ "$(grep -c '^kernel.*padded' out)" = "$made" ] || wrong "wanted $made copies: $(cat out): $line"
  [ "$(grep -v padded\\[ out | grep -o 'select(' | wc -l)" -eq "$tests" ] || wrong "wanted $tests choices: $(cat out): $line"
  want 0 "$EIN" verify --target=jit "$@"
}

conv() { # TYPE BODY
  printf 'dim H = 11, W = 13\ninput X[n:2,c:2,y:H,x:W], F[o:3,c:2,r:3,q:3] : %s\noutput Y[n,o,y:H,x:W] = %s\n' "$1" "$2"
}

for type in f32 i32 f64; do
  conv $type 'sum[c,r,q] X[n,c,y+r-1,x+q-1] ?? 0 * F[o,c,r,q]' >zeros.ein
  copies 1 0 zeros.ein
  conv $type 'sum[q,r,c] F[o,c,r,q] * (if 0 <= y+r-1 and y+r <= H and x > 0-q and H > y+r-1 and x+q-1 < W then X[n,c,y+r-1,x+q-1] else 0)' >asked.ein
  copies 1 0 asked.ein
done
conv i32 '(sum[c,q] X[n,c,y-1,x+q-1] ?? 0 * F[o,c,0,q]) + (sum[c,q] X[n,c,y+0,x+q-1] ?? 0 * F[o,c,1,q]) + sum[c,q] X[n,c,y+1,x+q-1] ?? 0 * F[o,c,2,q]' >rows.ein
copies 1 0 rows.ein

# Outside of a predicate, an infinite weight is left out, also where X has zeros: a kernel asks whether there is one, and one makes
# the map again then, which does not count as work. Integers are always finite; a weight along the row keeps its choice, and so does
# one that is not there beyond the border.
conv f32 'sum[c,r,q where 0 <= y+r-1 and y+r-1 < H and 0 <= x+q-1 and x+q-1 < W] X[n,c,y+r-1,x+q-1] * F[o,c,r,q]' >where.ein
want 0 "$EIN" build where.ein --stop=task
grep -q '^kernel.*padded' out || wrong "not padded: $(cat out)"
want 0 "$EIN" verify --target=jit where.ein
want 0 "$EIN" verify --target=jit where.ein X=ones F=const:inf
want 0 "$EIN" build where.ein --stop=task --roundtrip
[ "$(grep -c '^kernel.* Y ' out)" = 2 ] || wrong "not made again: $(cat out)"
grep -q '^kernel.*Y.unlike' out || wrong "not asked: $(cat out)"
want 0 "$EIN" plan where.ein
grep -q '^ *3 .* 0  *0 B  *0 B  3$' out || wrong "what is hardly ever made counts as work: $(cat out)"
for weight in inf -inf 'inf - inf'; do
  for threads in 1 2; do
    sed "s/, F\[o:3,c:2,r:3,q:3\] : f32/ : f32\ninput F[o:3,c:2,r:3,q:3] : f32 = if o == 1 and r == 0 and q == 2 then $weight else o + r - q/" where.ein >odd.ein
    want 0 "$EIN" verify --target=jit --threads $threads odd.ein
  done
done
sed 's/f32/i32/' where.ein >whole.ein
copies 1 0 whole.ein
sed 's/F\[o,c,r,q\]/(F[o,c,r,q] + F[o,c,0,x % 3])/' where.ein >along.ein
want 0 "$EIN" build along.ein --stop=task
grep -q unlike out && wrong "a weight along the row: $(cat out)"
want 0 "$EIN" verify --target=jit along.ein
sed 's/F\[o,c,r,q\]/(F[o,c,r,q] * G[y+r-1])/; s/^output/input G[y:H] : f32\noutput/' where.ein >there.ein
want 0 "$EIN" build there.ein --stop=task
grep -q unlike out && wrong "a weight beyond the border: $(cat out)"
want 0 "$EIN" verify --target=jit there.ein
want 0 "$EIN" verify --target=jit zeros.ein X=ones F=const:inf

# Beyond the border there may be any one number; with a second one, those reads keep their choice.
printf 'input X[y:20,x:30] : i32\noutput Y[y:20,x:30] = max[a:3,b:3] X[y+a-1,x+b-1] ?? -7\n' >seven.ein
copies 1 0 seven.ein
printf 'input X[y:20,x:30] : f32\noutput Y[y:10,x:15] = max[a:3,b:3] X[2*y+a-1,2*x+b-1] ?? -inf\n' >pool.ein
want 0 "$EIN" verify --target=jit pool.ein
printf 'input X[y:20,x:30] : i32\noutput Y[y:20,x:30] = (X[y,x-1] ?? 5) * (X[y,x+1] ?? 6) + (X[y-1,x] ?? 5) * (X[y+1,x] ?? 5)\n' >two.ein
copies 1 1 two.ein

# In a loop, over a state and over what does not change.
cat >steps.ein <<'END2'
dim N = 24
input X[i:N,j:N] : i32
input V[i:N,j:N] : i32
repeat t < 3 {
  state U[i:N,j:N] = X[i,j]
  next U[i,j] = (U[i-1,j] ?? 0 + U[i+1,j] ?? 0 + U[i,j-1] ?? 0 + U[i,j+1] ?? 0) - 3 * U[i,j] + (V[i,j-1] ?? 1 * V[i,j+1] ?? 1)
}
output U
END2
want 0 "$EIN" verify --target=jit steps.ein
want 0 "$EIN" build steps.ein --stop=task --roundtrip
grep -q '^ *kernel.*padded' out || wrong "not padded: $(cat out)"

# Long rows are cut at their borders instead; sizes that are not known stay; few tests are not worth a copy; and gathers are no windows.
sed 's/W = 13/W = 65/' zeros.ein >long.ein
want 0 "$EIN" build long.ein --stop=task
grep -q padded out && wrong "a long row: $(cat out)"
printf 'dim N\ninput X[y:N,x:N] : i32\noutput Y[y:N,x:N] = sum[a:3,b:3] X[y+a-1,x+b-1] ?? 0\n' >open.ein
want 0 "$EIN" build open.ein --stop=task
grep -q padded out && wrong "open sizes: $(cat out)"
printf 'input X[y:20,x:30] : i32\noutput Y[y:20,x:30] = X[y,x] - X[y,x-1] ?? 0\n' >one.ein
copies 0 1 one.ein
# A pool in two steps: a choice around several reads goes if each of them is beyond the border where it does not hold.
pool() { # REDUCER FILL TYPE AXES: along two axes, one after the other
  set -- "$1" "$2" "$3" $4
  printf 'dim H = 11, W = 13\ninput X[n:2,y:H,x:W] : %s\n' "$3"
  printf 'R[n,y:H,x:W] = %s[q:3] X[n,%s] ?? %s\noutput Y[n,y:H,x:W] = %s[r:3] R[n,%s] ?? %s\n' "$1" "$4" "$2" "$1" "$5" "$2"
}
for type in f32 i32; do
  pool max -9 $type 'y,x+q-1 y+r-1,x' >pool.ein
  copies 1 0 pool.ein
  pool max -9 $type 'y+q-1,x y,x+r-1' >pool.ein
  copies 1 0 pool.ein
  pool sum 0 $type 'y+q-1,x y,x+r-1' >pool.ein
  copies 1 0 pool.ein
  pool sum 1 $type 'y+q-1,x y,x+r-1' >pool.ein # where three ones lie beyond the border there is one
  copies 1 3 pool.ein
done

finish
