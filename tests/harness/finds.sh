#!/bin/sh
# finds.sh COMMAND WORD...: faults that are put into the runtime are found, made small, and said; a command that takes all for
# right would pass every other test. If EIN_TURN is a number, it selects one of the three faults.
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT || exit 4

found() { # WRONG COMMAND...
  wrong=$1 skipped=
  shift
  [ -z "${EIN_TURN:-}" ] || [ $((EIN_TURN % 3 + 1)) = "$wrong" ] || { skipped=1; return; }
  "$@" --seed 1 --count 80 --shrink-for 5 --flags "-O0 -DEIN_STATIC= -DWRONG=$wrong -include $here/wrong.h" >"$work/out" 2>&1
  [ $? = 1 ] || { cat "$work/out"; echo "fault $wrong is not found"; exit 1; }
}
wants() { [ -n "$skipped" ] || grep -q "$1" "$work/out" || { cat "$work/out"; echo "it does not say: $1"; exit 1; }; }

found 1 "$@"
wants '^seed [0-9]*: floats differ (running)'
wants '^--- smaller: floats differ'
wants '^--- again: --seed [0-9]* --count 1 '
found 2 "$@"
wants '^seed [0-9]*: crash: .* (running)'
wants '^--- smaller: crash'
found 3 "$@"
wants '^seed 1: the C compiler refuses (compiling)'
wants 'no C that compiles'
