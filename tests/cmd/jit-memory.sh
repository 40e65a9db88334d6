#!/bin/sh
# suite: ci
# A prompt that lives long: what Clang parsed, and machine code, of turns that are over is freed, so it is no larger after many turns
# than after some.
. "$(dirname "$0")/common"
XDG_CACHE_HOME=$work/cache
export XDG_CACHE_HOME
unset EIN_TARGET
[ -r /proc/self/status ] && [ -e "$(dirname "$EIN")/codegen/jit/ein_jit.so" ] || exit 77

mkfifo keys
"$EIN" repl --json --target=jit <keys >answers 2>err &
session=$!
exec 3>keys
asked=0
ask() { # N: as many expressions more, of ten kinds; it waits for the answers
  for i in $(seq "$1"); do echo "\"sum[i] exp(A[i,j] * $((i % 10)))\"" >&3; done
  asked=$((asked + $1))
  for i in $(seq 600); do
    [ "$(wc -l <answers)" -ge $asked ] && return
    sleep 0.1
  done
  wrong "no answers in a minute: $(tail -n 1 answers) $(cat err)"
}
kilobytes() { sed -n 's/^VmRSS:[^0-9]*\([0-9]*\).*/\1/p' /proc/$session/status; }

echo '"A[i:9, j:7] : f32 = i - 0.1 * j"' >&3
asked=1
ask 20
before=$(kilobytes)
ask 200
after=$(kilobytes)
exec 3>&-
wait $session || wrong "the session ended with $?"
grep -q '"ok":false' answers && wrong "$(grep -m 1 '"ok":false' answers)"
[ $((after * 100)) -le $((before * 101)) ] || wrong "$before KB after 20 turns, $after KB after 170"
finish
