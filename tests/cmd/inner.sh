#!/bin/sh
# suite: ci
# What gcc and clang make of the innermost loops that matter most, for AVX2, AVX-512 and NEON: sums stay in registers, vectors are the
# machine's longest. Counted by bench/inner.py in assembly, so no such processor is needed; compilers that are not there are left out.
. "$(dirname "$0")/common"
turn 1
command -v python3 >/dev/null || exit 77
XDG_CACHE_HOME=$work/cache
export XDG_CACHE_HOME
unset EIN_MACHINE
cat >loops.ein <<'END'
use attention
input A[i:500, k:300], B[k:300, j:400], C[i:500, k:300], D[k:300, j:400] : f32
input R[i:500, m:4000] : f32
input E[i:500, k:300], F[k:300, j:400] : f64
input Q[h:8,s:512,d:64], K[h:8,t:512,d:64], V[h:8,t:512,e:64] : f32
output product[i,j] = sum[k] A[i,k] * B[k,j]
output twice[i,j] = sum[k] E[i,k] * F[k,j]
output difference[i,j] = sum[k] (A[i,k] * D[k,j] - C[i,k] * B[k,j])
output longest[i,j] = max[k] (A[i,k] + B[k,j])
output distance[i,j] = sum[k] abs(A[i,k] - B[k,j])
output total[i] = sum[m] R[i,m]
output attended[h,s,e] = attention[t,d](Q[h,s,d], K[h,t,d], V[h,t,e], 1 / sqrt(64))
END
clang=clang-19
command -v $clang >/dev/null || clang=clang

# held KERNEL LOOPS LEAST MOST: so many of its loops have at least LEAST operations on whole vectors, MOST of them no multiply-adds, and
# nothing on the stack, no scalars, no gathers.
held() {
  n=$(awk -F ' *[|] *' -v kernel="$1" -v bytes="$bytes" -v least="$3" -v most="$4" '
    { name = $3; sub(/_[0-9]+$/, "", name) }
    name == kernel && $8 == bytes && $10 + $11 >= least && $11 <= most && $12 == "" && $15 == "" && $19 == "" { n++ }
    END { print n + 0 }' table)
  [ "$n" -ge "$2" ] || wrong "$machine, $cc: $n loops of $1 keep all in registers, not $2: $(grep "| $1" table)"
}

tried=0
for cc in gcc $clang; do
  for machine in haswell skylake-avx512 neoverse-n1; do
    case $machine in haswell) bytes=32 ;; skylake-avx512) bytes=64 ;; *) bytes=16 ;; esac
    want 0 python3 "$here/../../bench/inner.py" "$EIN" loops.ein --machine $machine --cc $cc --all --mca=
    grep -q 'does not compile for' err && continue
    cp out table
    tried=1
    held product 1 10 0
    held twice 1 10 0
    held distance 1 20 48
    held attended 2 10 0
    [ $machine = neoverse-n1 ] || held longest 1 20 32
    case $machine$cc in neoverse-n1clang*) continue ;; esac # it keeps sums of a row in memory there
    held difference 2 10 0                                  # which is no operation of its own
    held total 1 4 999
  done
done
[ $tried = 1 ] || exit 77
finish
