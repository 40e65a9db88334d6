#!/bin/sh
# suite: ci
# Texts that ein prints pass what it asks of texts that it reads: every program of the other tests, in every language.
. "$(dirname "$0")/common"

root=$here/../..
stops=${STOPS:-"graph optimised task"}
n=0
for program in "$root"/tests/run/*.ein "$root"/tests/shape/*.ein "$root"/samples/*.ein "$root"/stdlib/examples/*.ein; do
  for stop in $stops; do
    case $stop in optimised) text=x.graph ;; *) text=x.$stop ;; esac
    "$EIN" build "$program" --stop=$stop -o $text >out 2>&1 || continue
    "$EIN" check $text >out 2>err || {
      wrong "$program, as $stop: $(grep -m 1 error err)"
    }
    n=$((n + 1))
  done
done
[ $n -gt 900 ] || wrong "only $n texts were looked at"
finish
