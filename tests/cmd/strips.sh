#!/bin/sh
# suite: ci
# A map that reads its neighbours has its own block where it lies, and of others strips alone: plans on 2 to 16 sites, in one direction and in two, compute what
# one site computes, receive what the evaluator's sites receive, and keep no second copy of a block.
. "$(dirname "$0")/common"
root=$(cd "$here/../.." && pwd)
XDG_CACHE_HOME=$work/cache
export XDG_CACHE_HOME

program=$root/tests/run/neighbours_of_blocks.ein
for n in 2 3 4 6 7 9 16; do
  line="on $n sites"
  "$EIN" run "$program" --expect -n $n --target=jit --flags=-O0 -v >out 2>err || wrong "$line: $(grep -m 1 error err)"
  got=$(sed -n 's/.*: [0-9]* sites received \([0-9]*\) bytes/\1/p' err)
  "$EIN" run "$program" --expect -n $n --target=eval -v >out 2>err || wrong "$line: $(grep -m 1 error err)"
  grep -q "$n sites received $got bytes" err || wrong "$line: $got bytes, but $(grep received err)"
  want 0 "$EIN" build "$program" -n $n --stop=task -o x.task
  want 0 "$EIN" check x.task # no index leads out of a strip
done

# Around the ends, however that is written: strips come from the other end, and a state that would be in place has a second buffer.
cat >ring.ein <<'END'
dim N = 24, M = 20, T = 7
input U[i:N,j:M] : u8 = u8((i * 7 + j * 5 + i * j) % 2)
repeat t < T {
  state X[i:N,j:M] = U[i,j]
  n[i:N,j:M] = sum[a:3,b:3] i32(X[(i+a-1) % N,(j+b+M-1) % M])
  next X[i,j] = if n[i,j] == 3 or (n[i,j] == 4 and X[i,j] == 1) then u8(1) else u8(0)
}
repeat t < T {
  state Y[i:N,j:M] = i64(U[i,j])
  next Y[i,j] = (Y[(i+2) % N,j] + 2 * Y[(i+2*N-3) % N,(j+1) % M] - Y[i,(j-1) % M]) % 1009
}
output X
output Y
END
want 0 "$EIN" run ring.ein -o all=one/
for n in 2 3 5 8; do
  rm -rf many
  want 0 "$EIN" run ring.ein -n $n --target=jit --flags=-O0 -o all=many/
  diff -r one many || wrong "on $n sites: other values than on one"
  want 0 "$EIN" build ring.ein -n $n --stop=task -o x.task
  want 0 "$EIN" check x.task
  case $n in 3 | 5) [ "$(grep -c 'move .* exchange .* wrap .* named X' x.task)" = 2 ] || wrong "on $n sites: not two strips come: $(grep 'move' x.task)" ;; esac
done

# Two blocks of a state, and a row of each neighbour; the input and the output are the caller's.
cat >heat.ein <<'END'
dim N = 1024, T = 10
input X0[i:N,j:N] : f32
repeat t < T {
  state X[i:N,j:N] = X0[i,j]
  next X[i,j] = 0.25 * ((X[i-1,j] ?? 0) + (X[i+1,j] ?? 0) + (X[i,j-1] ?? 0) + (X[i,j+1] ?? 0))
}
output X
END
block=$((512 * 1024 * 4))
want 0 "$EIN" check heat.ein -n 2 --assert "memory<=$((4 * block + 3 * 4096))"
want 0 "$EIN" check heat.ein -n 2 --assert "bytes<=$((10 * 2 * 4096))"
block=$((512 * 512 * 4))
want 0 "$EIN" check heat.ein -n 4 --assert "memory<=$((4 * block + 6 * 4096))"

# The residual of a step reads each element once: it has the block in place too, and no more memory than the step. Along rows, the box is kept.
cat >residual.ein <<'END'
dim N = 60, M = 50, T = 4
input X0[i:N,j:M] : i64 = (i * 7 + j * 3) % 11
repeat t < T {
  state X[i:N,j:M] = X0[i,j]
  state left : i64 = 0
  state most : i64 = 0
  next X[i,j] = ((X[i-1,j] ?? 0) + (X[i+2,j] ?? 1) + X[i,(j+1) % M]) % 11
  next left = sum[i,j where (i + j) % 3 != 0] ((X[i-1,j] ?? 2) - 3 * X[i,(j+1) % M] + (X[i+2,j] ?? 5)) * X[i,j]
  next most = argmax[i](max[j] abs(X[i,j] - (X[i+2,j] ?? 4)))
}
output X, left, most
output columns[j] = max[i:N] ((X[i-1,j] ?? 0) - X[i,j])
output rows[i] = max[j:M] ((X[i,j-1] ?? 0) - X[i,j])
END
rm -r one
want 0 "$EIN" run residual.ein -o all=one/
for n in 2 3 5 6; do
  for pin in X.next:i=$n X.next:j=$n; do
    rm -rf many
    want 0 "$EIN" run residual.ein -n $n --pin $pin --target=c --flags="-O3 -march=native" -o all=many/
    diff -r one many || wrong "on $n sites, with $pin: other values than on one"
    want 0 "$EIN" build residual.ein -n $n --pin $pin --stop=task -o x.task
    want 0 "$EIN" check x.task
    grep 'stage left.next' x.task >stage
    case $pin in
    *i=*) grep -qF "select(((i + 2) < $((60 / n)))" stage || wrong "on $n sites: the residual has no block in place: $(cat stage)" ;;
    *) grep -qF 'select(((j + 1) <' stage && wrong "on $n sites: the residual chooses within rows: $(cat stage)" ;;
    esac
  done
done
cat >residual.ein <<'END'
dim N = 1024, T = 10
input X0[i:N,j:N] : f32
repeat t < T {
  state X[i:N,j:N] = X0[i,j]
  state left : f32 = 1
  next X[i,j] = 0.25 * ((X[i-1,j] ?? 0) + (X[i+1,j] ?? 0) + (X[i,j-1] ?? 0) + (X[i,j+1] ?? 0))
  next left = sum[i,j] ((X[i-1,j] ?? 0) + (X[i+1,j] ?? 0) + (X[i,j-1] ?? 0) + (X[i,j+1] ?? 0) - 4 * X[i,j])^2
}
output X, left
END
want 0 "$EIN" check residual.ein -n 2 --assert "memory<=$((4 * 512 * 1024 * 4 + 6 * 4096))"

# Where the block changes before it is read, or a sum reads elements repeatedly, all that is expected comes to lie together, as before.
cat >kept.ein <<'END'
input X[i:400] : i64 = i
input K[p:50] : i64 = p
Y[i:400] = X[i] * 3
output Z[i:351] = sum[p] K[p] * Y[i+p]
END
want 0 "$EIN" build kept.ein -n 2 --stop=task -o -
shows 'move'
grep -q 'select' out && wrong "a sum chooses between a block and its strips"
finish
