#!/bin/sh
# suite: ci
# Programs for AArch64, under an emulator: warning-free, the bits of this machine's C, if it multiplies and adds at once too, and near what
# eval says. Skipped without a cross compiler (CROSS_CC) or the emulator (QEMU).
. "$(dirname "$0")/common"
turn 0
XDG_CACHE_HOME=$work/cache
export XDG_CACHE_HOME
unset EIN_MACHINE
: "${CROSS_CC:=aarch64-linux-gnu-gcc}" "${QEMU:=qemu-aarch64}"
for tool in "$CROSS_CC" "$QEMU"; do
  command -v "$tool" >/dev/null || {
    echo "SKIPPED: there is no $tool (Debian: gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user)"
    exit 77
  }
done
echo 'int main(void) { return 0; }' >empty.c
"$CROSS_CC" -static empty.c -o empty && "$QEMU" ./empty || {
  echo "SKIPPED: what $CROSS_CC makes does not run by $QEMU"
  exit 77
}

cat >product.ein <<'END'
input A[i:83, k:90] : f32
input B[k:90, j:101] : f32
output C[i,j] = sum[k] A[i,k] * B[k,j]
output D[j,i] = max[k] (A[i,k] + B[k,j])
output M[i,j] = sum[k where k <= i] A[i,k] * B[k,j]
END
# The rest is one program: with it, the runtime is compiled.
cat >others.ein <<'END'
input A[i:64, k:70] : f64
input B[j:96, k:70] : f64
input T[a:35, b:50] : f32
output C[i,j] = sum[k] A[i,k] * B[j,k]
output U[b,a] = T[a,b]

input I[i:40, k:64] : i32
input J[k:64, j:50] : i32
input P[n:300] : i64
output K[i,j] = sum[k] I[i,k] * J[k,j]
output H[g:20] = sum[n where P[n] == g] P[n] // 3
output R[n] = P[n] % 7 - (P[n] // 5)

input X[n:2, c:8, h:20, w:21] : f32
input W[o:9, c:8, p:3, q:3] : f32
output Y[n,o,h:20,w:21] = sum[c,p,q] (X[n,c,h+p-1,w+q-1] ?? 0) * W[o,c,p,q]

input Z[n:200, k:130] : f32
input V[k:130, d:24] : f32
output S[n,k] = softmax[k](Z[n,k])
output L[n] = log(sum[k] exp(Z[n,k]))
output M[n,d] = tanh(sum[k] S[n,k] * V[k,d])
output N[n] = argmax[k] Z[n,k]

input F[i:33, k:40] : f16
input G[k:40, j:34] : f16
output D[i,j] = sum[k] F[i,k] * G[k,j]
output E[i,k] = F[i,k] + F[i,k] * 0.3
END

# near FILE FILE: the same words, numbers apart by what a hundred roundings of f32 come to
near() {
  paste -d '\n' "$1" "$2" | awk '
    NR % 2 { n = split($0, want); next }
    { m = split($0, got); if (n != m) bad = 1
      for (i = 1; i <= n; i++) if (got[i] != want[i]) {
        d = got[i] - want[i]; if (d < 0) d = -d
        s = want[i] < 0 ? -want[i] : want[i]; if (s < 1) s = 1
        if (got[i] !~ /[0-9]/ || want[i] !~ /[0-9]/ || d > 1e-5 * s) bad = 1
      } }
    END { exit bad || NR == 0 }'
}

flags=-ffp-contract=off
here="-O2 $flags -DEIN_ONE_VERSION" # with fused operations, as all of AArch64 has them
[ "$(uname -m)" = x86_64 ] && here="$here -mfma"
grep -qw fma /proc/cpuinfo || [ "$(uname -m)" != x86_64 ] || here=
for p in product others; do
  level=-O1 # half of what -O2 takes
  [ $p = product ] && level=-O2
  in=
  for v in $(sed -n 's/^input \([A-Z]\)\[.*/\1/p' $p.ein); do
    case $v in
    I | J) kind=randint:lo=-90:hi=90:seed=5 ;;
    P) kind=randint:lo=0:hi=25:seed=2 ;;
    *) kind=randn:seed=3 ;;
    esac
    in="$in $v=$kind"
  done
  want 0 "$EIN" build $p.ein -o $p --cc="$CROSS_CC" --flags="$level $flags -Wall -Wextra -Werror -static" -v
  says "32 registers of 16 bytes"
  want 0 "$EIN" run $p.ein $in --target=eval
  cp out eval
  want 0 "$QEMU" ./$p $in
  near eval out || wrong "$p: it is not what eval says: $(diff eval out | head -5)"
  for t in 1 3; do
    want 0 "$QEMU" ./$p $in --threads $t -o all=$p.$t/
  done
  diff -r $p.1 $p.3 || wrong "$p: other bits with other threads"
  [ -n "$here" ] || continue
  want 0 "$EIN" run $p.ein $in --target=c --flags="$here" -o all=$p.here/
  diff -r $p.here $p.1 || wrong "$p: other bits than on this machine"
done
finish
