#!/bin/sh
# suite: ci
# Banded matrices on many sites: a site receives only the rows of the other operand that its rows reach. Several
# widths on both sides, 2 to 7 sites, unequal blocks. Results are integers, equal to those of one site; the bytes that
# move are counted.
. "$(dirname "$0")/common"

cat >rows.ein <<'END'
dim N = 1000, L = 5, U = 2
input A[i:N, j:N] : i64 = (7 * i + 5 * j) % 11 - 3
input X[j:N] : i64 = 3 * j % 17 - 5
output Y[i] = sum[j where i - L <= j and j <= i + U] A[i,j] * X[j]
END
cat >columns.ein <<'END'
dim N = 1000, L = 5, U = 2
input A[i:N, j:N] : i64 = (7 * i + 5 * j) % 11 - 3
input X[i:N] : i64 = 3 * i % 17 - 5
output Y[j] = max[i where i - L <= j and j <= i + U] (A[i,j] + X[i])
END
cat >both.ein <<'END'
dim N = 1000, L = 5, U = 2, C = 8
input A[c:C, i:N, j:N] : i64 = (7 * i + 5 * j + c) % 11 - 3
input X[j:N, c:C] : i64 = (3 * j + c) % 17 - 5
T[i,c] = sum[j where i - L <= j and j <= i + U] A[c,i,j] * X[j,c]
output Y[i] = sum[c] T[i,c] * T[i,c]
END

band() { # PROGRAM N L U SITES COLUMNS: what lies beyond the end of each block but the last, and before the start of each but the first
  want 0 "$EIN" run $1.ein -n $5 -v -D N=$2 -D L=$3 -D U=$4 -o Y=many.npy
  moved=$(sed -n 's/.*: [0-9]* sites received \([0-9]*\) bytes/\1/p' err)
  most=$((8 * ($5 - 1) * ($3 + $4) * $6))
  [ "${moved:-0}" -le $most ] || wrong "$1 with N=$2 L=$3 U=$4 on $5 sites: received $moved bytes, a halo is $most"
  [ "$6" != 1 ] || [ "${moved:-0}" = $most ] || wrong "$1 with N=$2 L=$3 U=$4 on $5 sites: received $moved bytes, and a halo is $most"
  want 0 "$EIN" run $1.ein -D N=$2 -D L=$3 -D U=$4 -o Y=one.npy
  cmp -s one.npy many.npy || wrong "$1 with N=$2 L=$3 U=$4 on $5 sites: other answers than on one"
}
for n in 2 3 4 7; do
  band rows 1000 5 2 $n 1
  band rows 205 0 9 $n 1
  band rows 333 11 0 $n 1
  band columns 1000 5 2 $n 1
  band columns 258 3 3 $n 1
  band both 100 4 1 $n 8
done
band rows 60 1 0 4 1
finish
