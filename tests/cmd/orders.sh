#!/bin/sh
# suite: ci
# A product whose sizes are not known when it is compiled is made in the order that is cheapest for those of the run.
. "$(dirname "$0")/common"

cat >three.ein <<'END'
dim I, J, K, L
input A[i:I,j:J] : i64 = (3*i + 5*j) % 7 - 3
input B[j:J,k:K] : i64 = (2*j + 3*k) % 5 - 1
input C[k:K,l:L] : i64 = (k*l + k) % 6 - 2
output Y[i,l] = sum[j,k] A[i,j] * B[j,k] * C[k,l]
END
cat >four.ein <<'END'
dim I, J, K, L, M
input A[i:I,j:J] : i64 = (3*i + 5*j) % 7 - 3
input B[j:J,k:K] : i64 = (2*j + 3*k) % 5 - 1
input C[k:K,l:L] : i64 = (k*l + k) % 6 - 2
input D[l:L,m:M] : i64 = (l + 4*m) % 3
output Y[m,i] = sum[j,k,l] A[i,j] * B[j,k] * C[k,l] * D[l,m]
END
cat >loop.ein <<'END'
dim N, R
input U[i:N,r:R] : i64 = (3*i + 5*r) % 7 - 3
input V[r:R,j:N] : i64 = (j*r + r) % 6 - 2
repeat t < 3 {
  state X[i:N,j:N] : i64 = i - j
  next X[i,j] = (t + sum[r,k] U[i,r] * V[r,k] * X[k,j]) % 1009
}
output X
END

# made PROGRAM SIZES PATTERN...: what is made has each of these in its steps, and gives what eval gives.
made() {
  program=$1 sizes=$2
  shift 2
  # shellcheck disable=SC2086
  want 0 "$EIN" run "$program" $sizes --target=c --flags=-O1 --profile
  for what in "$@"; do
    grep -Eq "$what" err || wrong "no step $what with $sizes: $(cat err)"
  done
  # shellcheck disable=SC2086
  want 0 "$EIN" verify "$program" $sizes --flags=-O1
}

made three.ein '-D I=2 -D J=40 -D K=40 -D L=40' 'Y.1.i,k. ='
made three.ein '-D I=40 -D J=40 -D K=40 -D L=2' 'Y.1.j,l. ='
made three.ein '-D I=1 -D J=1 -D K=1 -D L=1'
made three.ein '-D I=4 -D J=0 -D K=3 -D L=5'
made three.ein '-D I=4 -D J=3 -D K=0 -D L=0'
made four.ein '-D I=2 -D J=40 -D K=40 -D L=40 -D M=40' '.i,k. = sum' '.i,l. = sum'
made four.ein '-D I=40 -D J=40 -D K=40 -D L=40 -D M=2' '.(k,m|m,k). = sum' '.(j,m|m,j). = sum'
made loop.ein '-D N=50 -D R=2' '.r,j. = sum'
made loop.ein '-D N=3 -D R=70'

# One order is enough where it is best for all sizes, and where sizes are known.
printf 'dim I, J, K\ninput A[i:I,j:J], B[j:J,k:K], v[k:K] : f32\noutput y[i] = sum[j,k] A[i,j] * B[j,k] * v[k]\n' >vector.ein
want 0 "$EIN" build vector.ein --stop=task
! grep -q '^repeat' out || wrong "several orders: $(cat out)"
sed 's/^dim .*/dim I = 20, J = 30, K = 40, L = 50/' three.ein >known.ein
want 0 "$EIN" build known.ein --stop=task
! grep -q '^repeat' out || wrong "several orders: $(cat out)"
finish
