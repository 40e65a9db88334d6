#!/bin/sh
# suite: ci
# The emitted code of every test program is reproducible, contains no path of the machine, and compiles without warnings as C and as C++ with every
# installed compiler: thirty programs at once, because most of the time goes into the runtime. If EIN_TURN is a number, every fourth program.
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$root/tests/cmd/common"

cat >told.ein <<'END_OF_PROGRAM'
# Comparisons that types decide, unused values, names that C has.
input x[i:8] : u8 = i
input w[i:8] : i8 = i
input b[i:8] : bool = i > 3
input f[i:8] : f32 = i
input one[k:1] : f64 = 1
output a[i] = x[i] >= 0
output e[i] = i64(b[i]) < 2
output k[i] = u8(w[i]) < 0
output l[i] = i32(x[i]) >= 0 and i64(x[i]) <= 255
output o[i:3] = if i >= 0 then 1 else 2
output p[i] = f[i] / 0
output q[i] = i64(x[i]) % 0
output r[i:8] = f[x[i]]
output s = sum[k] one[k] * one[k]
output u[k, j:3] = one[k]
output errno[main:2, int:3] = main - int
END_OF_PROGRAM

warnings="-Wall -Wextra -Werror -fsyntax-only -I$root/runtime"
c=
cxx=
for one in gcc clang; do command -v $one >/dev/null && c="$c $one"; done
for one in g++ clang++; do command -v $one >/dev/null && cxx="$cxx $one"; done
command -v clang >/dev/null || { command -v clang-19 >/dev/null && c="$c clang-19" && cxx="$cxx clang++-19"; }
checked=0
k=0
: >all.c

takes_all() {
  for cc in $c; do takes $cc -std=c99 -Wpedantic; done
  for cc in $cxx; do takes $cc -x c++; done
  : >all.c
}

takes() { # COMMAND...
  "$@" $warnings all.c >said 2>&1 || {
    wrong "$1 warns"
    head -5 said
  }
}

for file in "$work/told.ein" "$root"/tests/run/*.ein "$root"/stdlib/examples/*.ein "$root"/samples/*.ein; do
  k=$((k + 1))
  [ $k = 1 ] || mine $k 4 || continue
  args=$(sed -n '1,3s/^# args: //p' "$file")
  one=$(basename "$file" .ein).c
  # shellcheck disable=SC2086
  "$EIN" build "$file" $args --emit=c -o "$one" >said 2>&1 || continue # those that are refused
  # shellcheck disable=SC2086
  "$EIN" build "$file" $args --emit=c -o again.c
  cmp -s "$one" again.c || wrong "$file: other bytes the second time"
  grep -qF "$root" "$one" && wrong "$file: a folder of this machine's is in it"
  cat "$one" >>all.c
  [ $((checked % 30)) = 0 ] && takes_all # the first one is alone
  checked=$((checked + 1))
done
[ ! -s all.c ] || takes_all # there may be none left over
enough $checked 230 4 || wrong "only $checked programs"
finish
