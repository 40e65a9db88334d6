#!/bin/sh
# suite: ci
# Every form that can stand in itself, a million deep where the file may be that long: E007, not a full stack.
. "$(dirname "$0")/common"

head='input X[i:4] : f32 = 1\n'
deep() { # N before opening inside closing after
  { printf "$head$2"; long "$1" "$3"; printf '%s' "$4"; long "$1" "$5"; printf "$6"; } >x.ein
  refused 1 "$EIN" check x.ein
  bounded "$EIN" fmt x.ein >out 2>err
  case $? in 0 | 1) ;; *) wrong "fmt: exit code $?: $2 $3" ;; esac
}
n=1000000
for c in '(' '[' '{' ')' ']' '}'; do deep $n '' "$c" '' '' ''; done
deep $n 'output Y = ' '(' 1 ')' '\n'
says "1000 deep"
deep $n 'output Y = ' '(' 1 '' '\n'
deep $n 'output Y = ' '-' 1 '' '\n'
deep $n 'output Y = ' '-(' 1 ')' '\n'
deep $n 'output Y = ' 'not ' true '' '\n'
deep $n 'output Y = ' 'exp(' 1 ')' '\n'
deep $n 'output Y = ' 'f32(' 1 ')' '\n'
deep $n 'output Y = ' 'max(1,' 1 ')' '\n'
deep $n 'output Y = ' 'sum(' 'X[i]' ')' '\n'
deep $n 'output Y = ' 'sum[i] ' 'X[i]' '' '\n'
deep $n 'output Y = ' 'sum[i] (' 'X[i]' ')' '\n'
deep $n 'output Y = ' 'X[' 0 ']' '\n'
deep $n 'output Y = X[i' '= X[i' '' ']' '\n'
deep $n 'output Y[' '(' i ')' '] = 1\n'
deep $n 'output Y = ' 'size(' i ')' '\n'
deep $n 'output Y = ' '2^' 1 '' '\n'
deep $n 'output Y = ' '(2^' 1 ')' '\n'
deep $n 'dim N = ' '(' 3 ')' '\n'
deep $n 'assert ' '(' true ')' '\n'
deep $n 'monoid m(a, b) = ' '(' 'a + b' ')' ' identity 0\n'
deep $n 'def f(x) = ' '(' x ')' '\n'
deep 500000 'output Y = ' 'if true then ' 1 ' else 0' '\n'
deep 500000 'output Y = ' 'if ' true ' then true else false' '\n'
deep 500000 'output Y = ' 'if false then 0 else ' 1 '' '\n'
deep 500000 'output Y = ' '([' '' '' '\n'
deep 300000 'output Y = ' 'sum[i where ' true '] 1' '\n'
deep 300000 'output Y[i] = ' 'softmax[i](' 'X[i]' ')' '\n'
deep 300000 'output Y[i] = ' 'grad(' 'X[i]' ', X[i])' '\n'
deep 300000 '' 'def f(x) { ' 1 ' }' '\n'
{ numbered 100000 'repeat t%d < 2 {\n'; long 100000 '}
'; } >x.ein
refused 1 "$EIN" check x.ein
# Just inside of the bound, and through to the end.
{ printf 'output Y = '; long 900 '('; printf 1; long 900 ')'; printf '\n'; } >x.ein
accepted "$EIN" run --roundtrip x.ein
{ printf "$head"; printf 'output Y[i] = '; long 450 '-('; printf 'X[i]'; long 450 ')'; printf '\n'; } >x.ein
accepted "$EIN" run --roundtrip x.ein
finish
