#!/bin/sh
# suite: ci
# Panels that are filled in rounds, one for each block of the reduced labels, for each pair of lots of rows and lanes, or for both:
# several reduced labels, panels of one side or of both, odd sizes, lots that are not all of one length or are cut along another
# label than that of the tiles, a result that a fused equation reads, one thread and three, in process and as a program, and a loop's
# text read again. A result times a vector is also computed from the factors in the other order; on small integers both are exact.
# What kernels share is no more than so many MB.
. "$(dirname "$0")/common"
XDG_CACHE_HOME=$work/cache
export XDG_CACHE_HOME
unset EIN_MACHINE

cat >plain.ein <<'END'
dim M = 261, N = 530, K = 2801
A[i:M,k:K] = TYPE((i * 7 + k * 5) % 11 - 5)
B[k:K,j:N] = TYPE((k * 3 + j * 13) % 7 - 3)
Y[i:M,j:N] = TYPE((i + j) % 5)
output Z[i,j] = Y[i,j] - 2 * sum[k] A[i,k] * B[k,j]
v[j:N] = TYPE(j % 3)
w[k] = sum[j] B[k,j] * v[j]
assert (sum[i where (sum[j] Z[i,j] * v[j]) != (sum[j] Y[i,j] * v[j]) - 2 * (sum[k] A[i,k] * w[k])] 1) == 0, "the product is wrong"
output sums[i] = sum[j] Z[i,j] * v[j]
END
cat >labels.ein <<'END'
dim B = 3, M = 131, N = 530, H = 3, K = 1100
A[b:B,i:M,h:H,k:K] = TYPE((i * 7 + k * 5 + h) % 11 - 5 + b % 2)
C[k:K,j:N,h:H] = TYPE((k * 3 + j * 13 + h) % 7 - 3)
output Z[i,j,b] = sum[h,k] A[b,i,h,k] * C[k,j,h]
v[j:N] = TYPE(j % 3)
w[k,h] = sum[j] C[k,j,h] * v[j]
assert (sum[i,b where (sum[j] Z[i,j,b] * v[j]) != (sum[h,k] A[b,i,h,k] * w[k,h])] 1) == 0, "the product is wrong"
output sums[i,b] = sum[j] Z[i,j,b] * v[j]
END
cat >one.ein <<'END'
dim M = 1100, N = 130, K = 4000
A[k:K,i:M] = TYPE((i * 7 + k * 5) % 11 - 5)
B[k:K,j:N] = TYPE((k * 3 + j * 13) % 7 - 3)
output Z[i,j] = sum[k] A[k,i] * B[k,j]
v[j:N] = TYPE(j % 3)
w[k] = sum[j] B[k,j] * v[j]
assert (sum[i where (sum[j] Z[i,j] * v[j]) != (sum[k] A[k,i] * w[k])] 1) == 0, "the product is wrong"
output sums[i] = sum[j] Z[i,j] * v[j]
END

cat >lots.ein <<'END'
dim M = 2222, N = 2826, K = 300
A[k:K,i:M] = TYPE((i * 7 + k * 5) % 11 - 5)
B[k:K,j:N] = TYPE((k * 3 + j * 13) % 7 - 3)
Y[i:M,j:N] = TYPE((i + j) % 5)
output Z[i,j] = Y[i,j] - 2 * sum[k] max(A[k,i], -4) * B[k,j]
v[j:N] = TYPE(j % 3)
w[k] = sum[j] B[k,j] * v[j]
assert (sum[i where (sum[j] Z[i,j] * v[j]) != (sum[j] Y[i,j] * v[j]) - 2 * (sum[k] max(A[k,i], -4) * w[k])] 1) == 0, "the product is wrong"
output sums[i] = sum[j] Z[i,j] * v[j]
END
cat >groups.ein <<'END'
dim G = 5, M = 660, N = 2200, K = 300
A[g:G,k:K,i:M] = TYPE((i * 7 + k * 5 + g) % 11 - 5)
B[j:N,k:K] = TYPE((k * 3 + j * 13) % 7 - 3)
output Z[i,g,j] = sum[k] A[g,k,i] * B[j,k]
v[j:N] = TYPE(j % 3)
w[k] = sum[j] B[j,k] * v[j]
assert (sum[g,i where (sum[j] Z[i,g,j] * v[j]) != (sum[k] A[g,k,i] * w[k])] 1) == 0, "the product is wrong"
output sums[g,i] = sum[j] Z[i,g,j] * v[j]
END
cat >square.ein <<'END'
dim M = 1800, N = 1700, K = 1100
A[i:M,k:K] = TYPE((i * 7 + k * 5) % 11 - 5)
B[k:K,j:N] = TYPE((k * 3 + j * 13) % 7 - 3)
output Z[i,j] = sum[k] A[i,k] * B[k,j]
v[j:N] = TYPE(j % 3)
w[k] = sum[j] B[k,j] * v[j]
assert (sum[i where (sum[j] Z[i,j] * v[j]) != (sum[k] A[i,k] * w[k])] 1) == 0, "the product is wrong"
output sums[i] = sum[j] Z[i,j] * v[j]
END
# The bytes of the arrays that kernels share, of the kind of registers that has more.
shared() {
  sed -n 's/^  buffer %[0-9]* work \(lanes\|rows\|sums\)\(_[0-9]*\)*\[\([0-9, ]*\)\] : [a-z]*\([0-9]*\) .*/\1 \4 \3/p' "$1" |
    awk '{ n = $2 / 8; for (k = 3; k <= NF; k++) n *= $k + 0; all[$1] = n > all[$1] ? n : all[$1] }
         END { for (k in all) sum += all[k]; printf "%.0f\n", sum }'
}

check() { # PROGRAM DTYPE MB
  x=$1-$2
  sed "s/TYPE/$2/g" $1.ein >$x.ein
  want 0 "$EIN" build $x.ein --stop=loop
  shows "in rounds"
  cp out $x.loop
  [ "$(shared $x.loop)" -le "$3"000000 ] || wrong "kernels of $x share $(shared $x.loop) bytes"
  [ "$(shared $x.loop)" -gt 0 ] || wrong "kernels of $x share nothing"
  want 0 "$EIN" check $x.loop
  for threads in 1 3; do
    want 0 "$EIN" run $x.ein --target=jit --threads=$threads
    cp out $x.$threads
  done
  cmp -s $x.1 $x.3 || wrong "$x depends on the threads"
}
check plain f32 4
want 0 "$EIN" run plain-f32.ein --target=c --flags="-O1 -march=native" --threads=3
cmp -s plain-f32.1 out || wrong "in process and by the C compiler, results are different"
check labels f64 6
check one i32 5
check lots f32 4
check lots f64 7
check groups f32 4
check square f64 12
check square i32 12
finish
