#!/bin/sh
# suite: long
# Every program of tests/run, the samples and the examples of modules on 1, 2, 3, 4, 5, 7, 8, 13 and 16 sites (SITES_ON: on these), as C: outputs are those of
# the evaluator on one site, and as many bytes are received as the plan says, or fewer where predicates over data leave something out or places are
# asked for. Then under mpirun, all programs in one launch a number of processes: they keep what they expect, receive as many bytes as the threads did,
# and a shim between ein and MPI counts these. EIN_TEST_EVERY=15 takes every fifteenth program alone, SITES_BY=mpi or SITES_BY=threads one half.
# What is left out is told: sizes or inputs that nobody says, and what ends in an error.
. "$(dirname "$0")/common"
root=$(cd "$here/../.." && pwd)
XDG_CACHE_HOME=$work/cache
export XDG_CACHE_HOME
unset EIN_MACHINE
on=${SITES_ON:-1 2 3 4 5 7 8 13 16}
every=${EIN_TEST_EVERY:-1}
by=${SITES_BY:-threads mpi}
# shellcheck disable=SC2012
programs=$(ls "$root"/tests/run/*.ein "$root"/samples/*.ein "$root"/stdlib/examples/*.ein | awk -v every="$every" 'NR % every == 0')

planned() { # PROGRAM: what the last run says, in err
  sed -n "s|^ein: $1: the plan's sites receive \([0-9]*\) bytes\$|\1|p" err
}

counted() {
  sed -n "s|^ein: $1: [0-9]* sites received \([0-9]*\) bytes\$|\1|p" err
}

# 0 where nothing moves, of which no run tells.
received() { # PROGRAM: of the last run, beside its plan
  plan=$(planned "$1") bytes=$(counted "$1")
  : "${bytes:=0}"
  [ "$bytes" -le "${plan:-0}" ] || wrong "$(basename "$1") on $n sites: received $bytes bytes, planned were $plan"
  [ "$bytes" = "${plan:-0}" ] || fewer=$((fewer + 1))
}

by_threads() {
  ran=0 fewer=0 left=0
  for f in $programs; do
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
      [ $n = 1 ] && continue
      received "$f"
      echo "$f $bytes" >>moved-$n
    done
  done
  echo "$ran runs; $fewer moved less than planned; $left programs left out"
  [ $ran -ge 1 ] || wrong "nothing ran"
}

# N processes run them all. Those whose inputs nobody gives are left out, for nothing runs with them.
launch() { # N PROGRAM...
  n=$1
  shift
  rm -f count
  EIN_TEST_COUNT=$work/count timeout 3600 mpirun -n "$n" -x EIN_TEST_COUNT -x LD_PRELOAD="$shim" "$EIN" run --expect --flags=-O0 -v "$@" >out 2>err && return
  lacks=$(sed -n 's/^ein: error: \(.*\):[0-9]*:[0-9]*: input .* is not given, and has no default$/\1/p' err | head -n 1)
  [ -n "$lacks" ] || return 1
  few=$(printf '%s\n' "$@" | grep -vFx "$lacks")
  # shellcheck disable=SC2086
  launch "$n" $few
}

by_mpi() {
  shim=$(dirname "$EIN")/tests/mpi/mpi_shim.so
  for n in $on; do
    [ $n -gt 1 ] || continue
    few=
    for f in $programs; do
      ! grep -q '# expect-error' "$f" && "$EIN" plan "$f" -n $n >out 2>err && few="$few $f"
    done
    # shellcheck disable=SC2086
    launch $n $few || {
      wrong "not all programs keep what they expect on $n processes"
      grep -A2 error err | head -20
      continue
    }
    ran=0 fewer=0 sum=0
    for f in $few; do
      received "$f"
      ran=$((ran + 1)) sum=$((sum + bytes))
      ! grep -q "^$f " moved-$n 2>/dev/null || grep -qx "$f $bytes" moved-$n || wrong "$(basename "$f") on $n processes: other bytes than by threads"
    done
    [ "$(awk '{n += $1} END {printf "%d", n}' count)" = $sum ] || wrong "on $n processes the shim counts other bytes"
    [ "$(grep -c ": $n sites received" err)" = $ran ] || wrong "not all of $ran programs ran on $n processes"
    echo "$n processes: $ran programs, $sum bytes; $fewer moved less than planned"
    [ $ran -ge 1 ] || wrong "nothing ran on $n processes"
  done
}

case $by in *threads*) by_threads ;; esac
case $by in *mpi*)
  (mpi_ready) || finish
  mpi_ready
  by_mpi
  ;;
esac
finish
