#!/bin/sh
# suite: ci
# Texts that ein prints pass the checks for texts that it reads: every program of the other tests, in every language.
# In a few loops, indices are not proved and are checked at run time: their number may only fall.
. "$(dirname "$0")/common"

root=$here/../..
stops=${STOPS:-"graph optimised task loop sites"}
n=0 k=0 open=0 list=
for program in "$root"/tests/run/*.ein "$root"/tests/shape/*.ein "$root"/samples/*.ein "$root"/stdlib/examples/*.ein; do
  mine $((k += 1)) 4 || continue
  for stop in $stops; do
    of="--stop=$stop"
    case $stop in optimised) text=x.graph ;; sites) text=x.task of="-n 3 --stop=task" ;; *) text=x.$stop ;; esac
    # shellcheck disable=SC2086
    "$EIN" build "$program" $of -o $text >out 2>&1 || continue
    "$EIN" check $text >out 2>err || {
      wrong "$program, as $stop: $(grep -m 1 error err)"
    }
    [ $stop = loop ] && grep -q 'looked at while it runs' err && open=$((open + 1)) && list="$list $(basename "$program")"
    n=$((n + 1))
  done
done
[ $open -le 16 ] || wrong "loops that are not proved in all: $open of at most 16:$list"
enough $n 1400 4 || wrong "only $n texts were checked"
finish
