#!/bin/sh
# suite: ci
# Short programs that mean long ones: defs that double, many expansions, groups and ranks without end.
. "$(dirname "$0")/common"
turn 2
MEGABYTES_MOST=${MEGABYTES_MOST:+3000}

head='input X[i:4] : f32 = 1
'
doubling() { # TIMES: each def calls the one before twice
  printf '%sdef d_0(x) = x + 1\n' "$head"
  awk -v n="$1" 'BEGIN { for (k = 1; k <= n; k++) printf "def d_%d(x) = d_%d(d_%d(x))\n", k, k - 1, k - 1 }'
  printf 'output Y[i] = d_%d(X[i])\n' "$1"
}
for n in 30 60 140; do
  doubling $n >x.ein
  refused 1 "$EIN" check x.ein
  says "expanded more than"
done
doubling 300 >x.ein
refused 1 "$EIN" check x.ein
says "150 deep"
doubling 12 >x.ein
accepted "$EIN" run x.ein
shows "4097.0"
printf 'def f(x) = f(x)\noutput Y = f(1)\n' >x.ein
refused 1 "$EIN" check x.ein
printf 'def f(x) = g(x)\ndef g(x) = f(x)\noutput Y = f(1)\n' >x.ein
refused 1 "$EIN" check x.ein

calls() { # CALLS before: f of f of ... of X
  { printf '%s%s\noutput Y[i] = ' "$head" "$2"; long "$1" 'f('; printf 'X[i]'; long "$1" ')'; printf '\n'; } >x.ein
}
calls 900 'def f(x) = x * x + x'
accepted "$EIN" run x.ein
calls 900 'def f(n) = n * n + n'
accepted "$EIN" check x.ein

# One def expanded a thousand times; one with 20,000 equations; 2,000,000 equations are too many for the memory here.
{ printf '%sdef f[j](x) { m = max[j] x; e = exp(x - m); e / (sum[j] e) }\nY0[i] = X[i]\n' "$head"
  awk 'BEGIN { for (k = 1; k <= 1000; k++) printf "Y%d[i] = f[i](Y%d[i])\n", k, k - 1 }'
  printf 'output Z[i] = Y1000[i]\n'; } >x.ein
accepted "$EIN" run x.ein
body() { awk -v n="$1" 'BEGIN { print "def f(x) {\n a0 = x"; for (k = 1; k <= n; k++) printf " a%d = a%d + 1\n", k, k - 1
                                printf " a%d\n}\n", n }'; }
{ printf '%s' "$head"; body 20000; printf 'output Y[i] = f(X[i])\n'; } >x.ein
accepted "$EIN" run x.ein
shows "20001.0"
{ printf '%s' "$head"; body 2000; printf 'Y0[i] = X[i]\n'
  awk 'BEGIN { for (k = 1; k <= 1000; k++) printf "Y%d[i] = f(Y%d[i])\n", k, k - 1 }'
  printf 'output Z[i] = Y1000[i]\n'; } >x.ein
[ -z "$MEGABYTES_MOST" ] || refused 1,4 "$EIN" check x.ein

# Ranks and lists of labels
n=10000
list() { numbered $((n - 1)) "$1"; printf "$2"; }
rank() { # CODES program
  printf '%s\n' "$2" >x.ein
  refused "$1" "$EIN" run x.ein
}
labels=$(list 'a%d:1,' z:1) uses=$(list 'a%d,' z)
rank 1 "output Y[$labels] = 1"
rank 1 "output Y = sum[$labels] 1"
rank 1 "output Y = sum[$uses] 1"
rank 1 "input T[$labels] : f32 = 1
output Y[$uses] = T[$uses]"
rank 1 "input T[$(long $((n - 1)) 1,)1] : f32 = 1
output Y[$uses] = T[$uses]"
rank 1 "output Y[$(long $((n - 1)) a:1,)a:1] = 1"
rank 1 "output Y[($(list 'a%d:1 ' z:1))] = 1"
rank 1 "input X[i:4] : f32 = 1
output Y = sum[$labels] X[($(list 'a%d ' z))]"
n=65
labels=$(list 'a%d:1,' z:1)
rank 1 "output Y[$labels] = 1"
n=71
rank 1 "input X[i:4] : f32 = 1
output Y = sum[$(list 'a%d:2,' z:2)] X[($(list 'a%d ' z))]"
rank 1 'input X[i:4] : f32 = 1
output Y = sum[i, a:65536, b:65536, c:65536, d:65536] X[(a b c d i)]'
n=3000
{ printf 'dim '; list 'D%d,' E; printf '\ninput T['; list 'D%d*' E; printf '] : f32\noutput Y[i] = T[i]\n'; } >x.ein
accepted "$EIN" check x.ein
{ n=20; printf 'dim '; list 'N%d, ' N19; printf '\noutput y[i:'; list '(N%d+1)*' '(N19+1)'; printf '] : f32 = i\n'; } >x.ein
accepted "$EIN" build x.ein --emit=c -o x.c
[ "$(wc -c <x.c)" -lt 1000000 ] || wrong "two lines become $(wc -c <x.c) bytes of C"
cat >x.ein <<'END'
dim M
monoid best((v, at), (w, to)) = (max(v, w), if w > v or (w == v and to < at) then to else at)
    identity (-100000, 100000)
input x[i:M] : i64 = 7 * i % 5
a, c = best[i](x[i], i)
output a, c
END
accepted "$EIN" build x.ein --emit=c -o x.c
[ "$(wc -c <x.c)" -lt 1000000 ] || wrong "a reduction of pairs becomes $(wc -c <x.c) bytes of C"
printf 'dim D\ninput T[(D+1)^1000000] : f32\noutput Y[i] = T[i]\n' >x.ein
accepted "$EIN" check x.ein
finish
