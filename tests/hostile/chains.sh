#!/bin/sh
# suite: ci
# Two hundred thousand operands in a row: read, checked and evaluated, or refused, without recursion and in linear time.
. "$(dirname "$0")/common"
turn 2

n=200000 k=0
head='input X[i:4] : f32 = 1
input Q : f32 = 1
input B : bool = true
'
chain() { # CODES command text before, operand, operator, text after
  mine $((k += 1)) 2 || return
  { printf '%s%s%s' "$head" "$3" "$4"; long $((n - 1)) "$5$4"; printf '%s\n' "$6"; } >x.ein
  if [ "$1" = 0 ]; then accepted "$EIN" $2 x.ein; else refused "$1" "$EIN" $2 x.ein; fi
}
for op in + - '*' / // %; do
  chain 0 check 'output Y = ' Q " $op " ''
  chain 0 run 'output Y[i] = ' 'X[i]' " $op " ''
done
chain 0 check 'output Y = ' 1 ' + ' ''
chain 1 check 'output Y = ' 2 ' * ' ''
chain 1 check 'output Y = ' Q '^' ''
chain 0 check 'output Y = ' Q ' ?? ' ''
n=20000
chain 0 check 'output Y[i:4] = ' 'X[i+1]' ' ?? ' ' ?? 0'
chain 1 check 'output Y[i:4] = ' 'X[i+1]' ' ?? ' ''
n=200000
for op in '<' '<=' '>' '>=' == !=; do chain 1 check 'output Y = ' Q " $op " ''; done
for op in and or; do
  chain 0 run 'output Y = ' B " $op " ''
  chain 0 check 'output Y[i] = ' 'X[i] > 0' " $op " ''
  chain 0 check 'output Y = sum[i where ' 'i < 3' " $op " '] X[i]'
done
chain 0 check 'output Y = ' '(sum[j] X[j])' ' + ' ''
chain 0 run 'dim N = ' 1 ' + ' ''
chain 0 check 'dim M
input Z[' 1 ' + ' '] : f32 = 0'
chain 1 check 'output Y = ' 'if B then Q else ' '' '0'
many() { # CODES text before, format, separator after each, text after
  mine $((k += 1)) 2 || return
  { printf '%s%s' "$head" "$2"; numbered "$n" "$3"; printf '%s\n' "$4"; } >x.ein
  if [ "$1" = 0 ]; then accepted "$EIN" check x.ein; else refused "$1" "$EIN" check x.ein; fi
}
many 0 'output Y = sum[i where ' 'i < %d and ' 'true] X[i]'
many 0 'output Y = sum[i where ' 'i != %d or ' 'true] X[i]'
many 0 'output Y = sum[i where ' 'X[i] < %d and ' 'true] X[i]'
many 0 'output Y[i:4] = if ' 'i < %d and ' 'true then X[i+1] ?? 0 else 0'
many 1 'output Y[i] = ' 'if i == %d then X[i] else ' '0'
n=20000
many 0 '' 'output Y%d[i] = 2 * X[i]\n' ''
many 1 '' 'Y%d[i] = Q%d[i]\n' ''
many 1 '' 'Y%d[i,j] = X[j,i]\n' ''
many 1 '' 'Y[i] = X[i]\n# %d\n' ''
many 0 'dim D
dim D0 = D
' 'dim E%d = D0 + D0 - 2*D\n' ''

# A shape from a file against a size of 200,000 operands.
n=200000
echo 'output X[i:4] : f32 = 1' >make.ein
want 0 "$EIN" run make.ein -o four.npy
{ printf 'input X['; long $((n - 1)) '1+'; printf '1] : f32\noutput Y = 1\n'; } >x.ein
refused 1 "$EIN" run x.ein X=four.npy
says "200000"
# Sizes that double, without a value: their coefficients leave 64 bits.
{ printf 'dim D0\n'; awk 'BEGIN { for (k = 1; k < 20000; k++) printf "dim D%d = D%d + D%d\n", k, k - 1, k - 1 }'
  printf 'input T[D19999] : f32\noutput Y[i] = T[i]\n'; } >x.ein
accepted "$EIN" check x.ein
refused 1 "$EIN" run x.ein -D D0=1 T=iota

# Products of one matrix, one after the other, planned for four sites: what one of them takes must not grow with how many read the matrix.
n=3000
{ printf 'input W[i:64,j:64] : f32\ninput x0[i:64] : f32\n'
  awk -v n="$n" 'BEGIN { for (k = 1; k <= n; k++) print (k == n ? "output " : "") "x" k "[i:64] = sum[j] W[i,j] * x" k - 1 "[j]" }'; } >x.ein
accepted "$EIN" plan x.ein -n 4
finish
