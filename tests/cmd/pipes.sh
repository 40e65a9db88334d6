#!/bin/sh
# Readers that close early, programs from standard input, and no colour unless the output is a terminal.
. "$(dirname "$0")/common"

awk 'BEGIN { print "input X0[i:4] : f32 = i"
             for (k = 1; k <= 3000; k++) printf "X%d[i] = X%d[i] + 1\n", k, k - 1
             print "output Y[i] = X3000[i]" }' >long.ein
{ "$EIN" graph long.ein 2>err; echo $? >code; } | head -n 1 >out
[ ! -s err ] || wrong "a reader that left is complained about: $(cat err)"
[ "$(cat code)" = 0 ] || wrong "exit code $(cat code) when the reader left"
[ -s out ] || wrong "the pipe had no output"

want 0 "$EIN" run - <mat.ein
shows "Z[j:4, i:3] : f32"
want 0 "$EIN" check - <mat.ein
want 0 "$EIN" graph - <mat.ein
shows "eingraph"
echo 'use "mat.ein"' >use.ein
want 1 "$EIN" check - <use.ein
says "standard library only"

echo 'output Z[i] = Q[i]' >bad.ein
want 1 env TERM=xterm "$EIN" check bad.ein
! grep -q "$(printf '\033')" err || wrong "colour in a file"
want 1 "$EIN" check --color=always bad.ein
grep -q "$(printf '\033')" err || wrong "no colour with --color=always"
want 1 "$EIN" check --diagnostics=json bad.ein
silent
shows '"line": 1'
want 0 "$EIN" check --diagnostics=json mat.ein
shows "[]"
finish
