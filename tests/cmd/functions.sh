#!/bin/sh
# The functions of a C file have distinct names: kernels in several parts, beside equations with the names of parts.
. "$(dirname "$0")/common"

# once N PROGRAM: PROGRAM is C that compiles, with N functions for threads, no two of one name
once() {
  want 0 "$EIN" build "$2" --emit=c -o all.c
  sed -n 's/^static EIN_KERNEL[A-Z_]*(\([A-Za-z0-9_]*\)) {$/\1/p' all.c | sort >names
  [ "$(wc -l <names)" -ge "$1" ] || wrong "$2: too few functions: $(cat names)"
  [ -z "$(uniq -d names)" ] || wrong "$2: twice: $(uniq -d names)"
  for wide in 0 1; do want 0 ${CC:-cc} -std=gnu99 -w -fsyntax-only -DEIN_WIDE=$wide -I "$here/../../runtime" all.c; done
}

cat >steps.ein <<'END'
input A[a:80, b:80, c:80], B[i:80, a:80], C[j:80, b:80], D[k:32, c:80] : f32
output Y[i,j,k] = sum[a,b,c] A[a,b,c] * B[i,a] * C[j,b] * D[k,c]
END
once 8 steps.ein

cat >named.ein <<'END'
input A[a:64, b:64, c:64], D[k:32, c:64] : f32
output Y_2 = max[a] A[a,0,0]
output Y[b,a,k] = sum[c] A[a,b,c] * D[k,c]
output Y_3 = min[a] A[a,0,0]
output Y_at[a] = A[a,1,1] * 2
output Y_any[a] = A[a,2,2] * 3
output Y_2_at[a] = A[a,3,3] * 4
END
once 14 named.ein
finish
