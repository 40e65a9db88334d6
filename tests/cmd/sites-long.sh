#!/bin/sh
# suite: long
# Every program of tests/run, the samples and the examples of modules on 1, 2, 3, 4, 5, 7, 8, 13 and 16 sites (SITES_ON: on these), as C: outputs are those of
# the evaluator on one site, and as many bytes are received as the plan says, or fewer where predicates over data leave something out or places are
# asked for. Then under mpirun: a shim between ein and MPI counts as many as the threads did. Those with expectations are one launch a number of processes.
# EIN_TEST_EVERY=15 takes every fifteenth program alone. What is left out is told: sizes or inputs that nobody says, and what ends in an error.
. "$(dirname "$0")/common"
root=$(cd "$here/../.." && pwd)
XDG_CACHE_HOME=$work/cache
export XDG_CACHE_HOME
unset EIN_MACHINE
on=${SITES_ON:-1 2 3 4 5 7 8 13 16}
every=${EIN_TEST_EVERY:-1}

i=0 ran=0 fewer=0 left=0
for f in "$root"/tests/run/*.ein "$root"/samples/*.ein "$root"/stdlib/examples/*.ein; do
  i=$((i + 1))
  [ $((i % every)) = 0 ] || continue
  rm -rf one
  "$EIN" run "$f" --target=eval -o all=one/ >out 2>err || {
    left=$((left + 1))
    echo "left out: $(basename "$f"): $(grep -m 1 error err)"
    continue
  }
  for n in $on; do
    rm -rf many
    "$EIN" run "$f" -n $n --target=c --flags=-O0 -v -o all=many/ >out 2>err || {
      grep -qE 'no value for dim|a plan is of one size|is not given, and has no default' err || wrong "$(basename "$f") on $n sites: $(grep -m 1 error err)"
      continue
    }
    ran=$((ran + 1))
    python3 "$here/same_outputs.py" one many >diff || wrong "$(basename "$f") on $n sites: $(head -1 diff)"
    plan=$(sed -n "s/.*: the plan's sites receive \([0-9]*\) bytes/\1/p" err)
    counted=$(sed -n 's/.*: [0-9]* sites received \([0-9]*\) bytes/\1/p' err)
    [ $n = 1 ] && continue
    : "${counted:=0}"
    [ "$counted" -le "${plan:-0}" ] || wrong "$(basename "$f") on $n sites: received $counted bytes, planned were $plan"
    [ "$counted" = "${plan:-0}" ] || fewer=$((fewer + 1))
    echo "$f $counted" >>moved-$n
  done
done
echo "$ran runs; $fewer moved less than planned; $left programs left out"
[ $ran -ge 1 ] || wrong "nothing ran"

(mpi_ready) || finish
mpi_ready
shim=$(dirname "$EIN")/tests/mpi/mpi_shim.so
under_mpirun() { # WORD...: n processes; lines of what they received, and of what the shim counted
  rm -f count
  EIN_TEST_COUNT=$work/count timeout 1800 mpirun -n $n -x EIN_TEST_COUNT -x LD_PRELOAD="$shim" "$EIN" run --flags=-O0 -v "$@" >out 2>err || {
    wrong "not all programs run on $n processes"
    grep -A2 error err | head -20
  }
  sed -n "s/^ein: \(.*\): $n sites received \([0-9]*\) bytes$/\1 \2/p" err >>received
  [ -e count ] && cat count >>counts
}

for n in $on; do
  [ -s moved-$n ] && [ $n -gt 1 ] || continue
  # shellcheck disable=SC2046
  under_mpirun --expect $(cut -d' ' -f1 moved-$n | xargs grep -l '# expect')
  cut -d' ' -f1 moved-$n | xargs grep -L '# expect' >alone
  while read -r f; do under_mpirun "$f" </dev/null; done <alone
  sort moved-$n >wanted
  sort received | diff wanted - >diff || wrong "on $n processes other bytes are received than by $n threads: $(head -3 diff)"
  [ "$(awk '{n += $2} END {printf "%d", n}' moved-$n)" = "$(awk '{n += $1} END {printf "%d", n}' counts)" ] || wrong "on $n processes the shim counts other bytes"
  rm -f received counts
done
finish
