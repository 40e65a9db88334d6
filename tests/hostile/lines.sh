#!/bin/sh
# suite: ci
# Files and lines of a hundred megabytes, words and numbers of one: refused or read in bounded time.
. "$(dirname "$0")/common"

bytes=100000000
fill() { head -c $bytes /dev/zero | tr '\0' "$1"; }
whole() { # what stands before, the byte that fills, what stands after
  { printf "$1"; fill "$2"; printf "$3"; } >x.ein
  refused 1 "$EIN" check x.ein
  says "16777216"
  [ "$(wc -c <err)" -lt 2000 ] || wrong "a complaint of $(wc -c <err) bytes"
}
whole '' ' ' ''
whole '# ' x '\noutput Y = 1\n'
whole 'output ' a ' = 1\n'
whole 'output Y = ' 1 '\n'
whole 'output Y = 0.' 3 '\n'
whole '' '$' ''
whole 'assert true, "' x '"\n'
whole 'assert true, "' x ''
whole '' '\n' ''
whole '' ';' ''
refused 1 "$EIN" fmt x.ein
refused 1 "$EIN" run x.ein
fill ' ' | refused 4 "$EIN" check -
says "larger than 16 MiB"
rm x.ein

bytes=1000000
inside() { # CODES before filler after
  { printf "$2"; fill "$3"; printf "$4"; } >x.ein
  refused "$1" "$EIN" run x.ein
  [ "$(wc -c <err)" -lt 4000 ] || wrong "a complaint of $(wc -c <err) bytes"
}
inside 1 'output Y = ' 1 '\n'
says "too large"
inside 1 'output Y = ' 1 '.5\n'
inside 1 'output Y = 1e' 9 '\n'
inside 1 'output Y = a' "'" '\n'
inside 1 '' '$' ''
inside 1 'output Y = 0.' 3 'x\n'
inside 1 'assert true, "' x ''
inside 1 '' ')' ''
inside 1 '' '}' ''
{ printf 'output Y = 0.'; fill 0; printf '1e1000001\n'; } >x.ein
accepted "$EIN" run x.ein
shows "= 1.0"
{ printf 'output Y = '; fill 1; printf 'e-1000000\n'; } >x.ein
accepted "$EIN" run x.ein
shows "0.111111"
{ printf '# '; fill x; printf '\n%s' 'output '; head -c 5000 /dev/zero | tr '\0' b; printf ' = 1\n'; } >x.ein
accepted "$EIN" check x.ein
head -c 5000000 /dev/zero | tr '\0' '\n' >x.ein
accepted "$EIN" check x.ein
finish
