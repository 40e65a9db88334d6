#!/bin/sh
# suite: ci
# Which products and sums are one operation is said in the loops, so compilers and their flags make no difference of a bit: of programs where they
# would choose otherwise, and of random ones.
. "$(dirname "$0")/common"
turn 2

gcc=$(command -v gcc) || gcc=
clang=$(command -v clang-19 || command -v clang) || clang=
n=0

# bits NAME FLAGS...: NAME.ein by each compiler and flags has the outputs that are in NAME.first, the first that were made
bits() {
  name=$1
  shift
  for flags in "$@"; do
    for cc in $gcc $clang; do
      rm -rf now
      before=$failed
      want 0 "$EIN" run "$name.ein" --target=c --cc="$cc" --flags="$flags" -o all=now/
      [ $failed = $before ] || finish
      [ -d "$name.first" ] || cp -r now "$name.first"
      diff -r "$name.first" now >differ || wrong "$name: $cc $flags makes other bits: $(cat "$name.ein") $(cat differ)"
      n=$((n + 1))
    done
  done
}

has() { echo | ${gcc:-$clang} -march=native -dM -E - | grep -q "$1 1"; } # MACRO: this machine
versions=
has __FMA__ && has __AVX2__ && versions=-O2

# all NAME: with the instruction, where this machine has it; and without. What is compiled for any machine has both.
all() {
  bits "$1" ${versions:+"$versions"} "-O0 -march=native" "-O1 -march=native" "-O3 -march=native" "-O3 -march=native -ffp-contract=fast"
  rm -rf "$1.first"
  bits "$1" "-O0 -DEIN_ONE_VERSION" "-O3 -DEIN_ONE_VERSION" "-O2 -DEIN_ONE_VERSION -ffp-contract=fast"
}

inputs() { # DTYPE
  for x in A B C; do
    s=$((${s:-0} + 1))
    echo "input $x[i:40, j:40] : $1 = $1(normal[i,j]($s))"
  done
}

# Two ways to fuse it; a compiler that looks through the product that both have finds a third.
{ inputs f32; echo 'output Z[i,j] = (B[i,j] - C[i,j] * A[i,j]) * B[i,j] + A[i,j] * C[i,j] * B[i,j]'; } >twice.ein
{ inputs f64; echo 'output Z[i,j] = A[i,j] * B[i,j] - C[i,j] * A[i,j] + (B[i,j] - A[i,j] * A[i,j])'; } >less.ein
{ inputs f32; echo 'output Z[i,k] = sum[j] A[i,j] * B[j,k]'; echo 'output s = sum[i,j] (A[i,j] * C[i,j] - B[i,j] * B[i,j])'; } >sums.ein
{ inputs f32; echo 'output Z[i:38] = sum[j:3] (A[i+j,i+1] * B[j+1,2] + C[i+2,j+1] * C[j+3,i+1])'; echo 'output Y[i,j] = exp(A[i,j]) * B[i,j] + tanh(C[i,j]) * log(abs(A[i,j]))'
  echo 'output X[i,j] = sin(A[i,j]) * B[i,j] ^ 3 + erf(C[i,j]) * abs(A[i,j]) ^ C[i,j]'; } >functions.ein
{ inputs f64; echo 'output Y[i,j] = exp(A[i,j]) * B[i,j] - tanh(C[i,j]) * log(abs(A[i,j])) + sqrt(A[i,j] * A[i,j] + B[i,j] * B[i,j])'
  echo 'output Z[i,j] = sin(A[i,j]) * B[i,j] ^ 3 + erf(C[i,j]) * abs(A[i,j]) ^ C[i,j]'; } >wide.ein
{ inputs f16; echo 'output Y[i,j] = A[i,j] * B[i,j] + C[i,j]'; echo 'output s[i] = sum[j] A[i,j] * B[i,j]'; } >half.ein
k=0
for p in twice less sums functions wide half; do mine $((k += 1)) 2 && all $p; done

# random SEED: an expression of five to twenty operations
random() {
  awk -v seed="$1" 'function e(d,   k) {
    k = int(rand() * 10)
    if (d == 0 || k == 9) return substr("ABC", 1 + int(rand() * 3), 1) (rand() < 0.8 ? "[i,j]" : "[j,i]")
    if (k == 8) return int(1 + rand() * 9) / 4 " * " e(d - 1)
    if (k == 7) return "max(" e(d - 1) ", " e(d - 1) ")"
    return "(" e(d - 1) (k < 3 ? " * " : k < 5 ? " + " : " - ") e(d - 1) ")"
  }
  BEGIN { srand(seed); print "output Z[i,j] = " e(4); print "output y[i] = sum[j] " e(3) }'
}
for seed in 1 2 3 4 5 6; do
  mine $((seed / 2)) 2 || continue
  { inputs $([ $((seed % 2)) = 0 ] && echo f64 || echo f32); random $seed; } >random.ein
  rm -rf random.first
  bits random "-O1 -march=native" "-O3 -march=native -ffp-contract=fast"
done
[ $((n * ${EIN_TURN:+2 * }1)) -ge 30 ] || wrong "only $n were compared"

finish
