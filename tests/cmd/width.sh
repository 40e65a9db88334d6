#!/bin/sh
# suite: ci
# Kernels are compiled to vectors of 64 bytes wherever the processor has them, whatever compilers prefer for it, and EIN_ANY_WIDTH
# leaves it to them. Looked at in the assembly, so that any x86-64 will do; other machines skip it.
. "$(dirname "$0")/common"
case $(uname -m) in x86_64) ;; *) exit 77 ;; esac
cat >product.ein <<'END'
input A[i:256, k:256] : f32
input B[k:256, j:256] : f32
output C[i,j] = sum[k] A[i,k] * B[k,j]
END
wide() { # COMPILER FLAG...: how many instructions name a register of 64 bytes
  "$@" -std=gnu99 -O3 -fno-math-errno -fno-trapping-math -I"$here/../../runtime" -S "$p.c" -o "$p.s" || wrong "$*: does not compile"
  grep -c '%zmm' "$p.s"
}
tried=0
p=product
want 0 "$EIN" build $p.ein --emit=c -o $p.c
clang=clang-19
command -v $clang >/dev/null || clang=clang
for cc in gcc $clang; do
  $cc -march=icelake-server -E -x c /dev/null >/dev/null 2>&1 || continue
  tried=1
  for cpu in skylake-avx512 x86-64-v4; do
    [ "$(wide $cc -march=$cpu)" -gt 0 ] || wrong "$cc -march=$cpu takes shorter vectors"
  done
  [ "$(wide $cc -march=icelake-server -DEIN_ANY_WIDTH)" = 0 ] || wrong "$cc is not let choose"
  [ "$(wide $cc -march=haswell)" = 0 ] || wrong "$cc -march=haswell has registers that are not there"
done
[ $tried = 1 ] || exit 77
finish
