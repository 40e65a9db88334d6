#!/bin/sh
# Sizes at the edges of 32 and 64 bits and products past them: declared, by -D, from files; and loops without end.
. "$(dirname "$0")/common"

tries() { # SIZE: nothing of it fits, so every use is refused
  v=$1
  prog() { printf "$1\n" >x.ein; shift; refused 1,2,4 "$EIN" run x.ein "$@"; }
  prog "output Y[i:$v, j:$v] : f64 = 1"
  prog "dim N = $v\noutput Y[i:N, j:N] : f64 = 1"
  prog "dim N\noutput Y[i:N, j:N] : f64 = 1" -D "N=$v"
  prog "dim N\ninput X[(N+1)*(N+1)] : f64\noutput Y[i] = X[i]" X=ones -D "N=$v"
  prog "input X[$v, $v] : f64\noutput Y[i,j] = X[i,j]" X=ones
  prog "output Y[i:4] = permutation[i:$v](1)"
}
for v in 2147483647 2147483648 4294967295 4294967296 4611686018427387905 9223372036854775807 9223372036854775808 \
  18446744073709551615 18446744073709551616 99999999999999999999999999; do tries $v; done
for v in -1 0x10 1e9 1.5 '' ' 3' "'3'" '3 4' '$(touch owned)' 99999999999999999999 9223372036854775808 '3=4'; do
  printf 'dim N\noutput Y[i:N] = i\n' >x.ein
  refused 2 "$EIN" run x.ein -D "N=$v"
done
[ ! -e owned ] || wrong "a shell has seen a size"
for v in 9223372036854775808 9223372036854775807+1 2^63 3037000500*3037000500 -1 -9223372036854775807-2; do
  printf 'dim N = %s\noutput Y[i:N] : u8 = 1\n' "$v" >x.ein
  refused 1,4 "$EIN" run x.ein
done
printf 'input X[i:4] : f32 = 1\noutput Y[i:4] = X[9223372036854775807*i + 9223372036854775807] ?? 7\n' >x.ein
accepted "$EIN" run x.ein
for at in 9223372036854775807 -9223372036854775807-1 '-(-9223372036854775807-1)' 4611686018427387904*4; do
  printf 'input X[i:4] : f32 = 1\noutput Y[i:4] = X[i + (%s)] ?? 7\n' "$at" >x.ein
  bounded "$EIN" run x.ein >out 2>err
  case $? in 0) shows "7.0" ;; 1) [ -s err ] || wrong "nothing is said" ;; *) wrong "X[i + ($at)]: $(head -n 1 err)" ;; esac
done
printf 'output A = -9223372036854775807 - 1\noutput B = (-9223372036854775807 - 1) // -1
output C = (-9223372036854775807 - 1) %% -1\noutput D = 4 // 0\noutput E = 4 %% 0\n' >x.ein
accepted "$EIN" run x.ein
shows "A : i64 = -9223372036854775808"
shows "C : i64 = 0"
shows "D : i64 = 0"

# More than the machine has, in one piece or in many
printf 'output Y[i:1000000000000] : u8 = 1\n' >x.ein
refused 4 "$EIN" run x.ein
says "the limit is"
{ awk 'BEGIN { for (k = 0; k < 4000; k++) printf "input X%d[i:400000000000] : f64 = 1\n", k }'
  printf 'output Y = X0[0]\n'; } >x.ein
refused 4 "$EIN" run x.ein

# Loops: what is stacked has a size, and what never ends ends with Ctrl-C
printf 'repeat t < 1000000000000000000 {\n state W = 0\n L[t] = W\n next W = W + 1\n}\noutput Y = L[5]\n' >x.ein
refused 1,4 "$EIN" run x.ein
printf 'repeat t < 1000000000000000000 until W > 10 {\n state W = 0\n next W = W + 1\n}\noutput Y = W\n' >x.ein
accepted "$EIN" run x.ein
shows "= 12"
printf 'repeat t < 1000000000000000000 {\n state W = 0\n next W = W + 1\n}\noutput Y = W\n' >x.ein
accepted "$EIN" check x.ein
if env --default-signal=INT true 2>/dev/null; then
  env --default-signal=INT timeout --preserve-status -s INT 1 "$EIN" run x.ein >out 2>err
  [ $? = 130 ] || wrong "Ctrl-C does not end a loop"
  printf 'output Y[i:3000000000] = sum[j:3000000000] i * j\n' >x.ein
  env --default-signal=INT timeout --preserve-status -s INT 1 "$EIN" run x.ein >out 2>err
  case $? in 130 | 4) ;; *) wrong "Ctrl-C does not end a sum" ;; esac
fi
finish
