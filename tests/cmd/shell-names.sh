#!/bin/sh
# Names of files are never a shell's, nor a terminal's: they are taken as they are.
. "$(dirname "$0")/common"

name=$(printf 'a $(touch owned) `touch owned`;touch owned|%%s%%n "x" \047y\047 *')
cp mat.ein "$name.ein"
want 0 "$EIN" run "$name.ein" -o "Z=$name.npy"
[ -f "$name.npy" ] || wrong "the file is not written"
echo 'input X[a:4, b:3] : f32
output S = sum[a,b] X[a,b]' >sum2.ein
want 0 "$EIN" run sum2.ein "X=$name.npy"
shows "S : f32 = 192.0"
want 0 "$EIN" graph "$name.ein" --dot -o "$name.dot"
want 0 "$EIN" graph "$name.ein" --svg -o "$name.svg"
grep -q '<svg' "$name.svg" || wrong "no picture"
[ ! -e owned ] || wrong "a shell has seen a file's name"

escape=$(printf 'evil\033[31m\n.ein')
want 4 "$EIN" check "$escape"
! grep -q "$(printf '\033')" err || wrong "an escape reaches the terminal"

cp mat.ein ./-x.ein
want 0 "$EIN" check -- -x.ein
cp mat.ein 'a=b.ein'
want 0 "$EIN" run './a=b.ein'
finish
