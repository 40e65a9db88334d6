#!/bin/sh
# suite: ci
# What a plan by bytes says that moves, in its certificate, is what the moves of the program in the tensor algebra that comes of it move:
# of samples, library examples and the programs of tests/run, on one of 2, 4, 6 and 16 sites in turn (MOVES_SITES: on these), and the
# samples on all of them; where EIN_TURN is a number, of every other program. None differs. So too elements as the TRA paper counts them,
# which --costs=ia has least, and bytes of plans by the EinDecomp paper's cost.
. "$(dirname "$0")/common"
turn 3
root=$(cd "$here/../.." && pwd)

bytes() { # FILE...: what a plan as JSON says in all
  sed -n 's/^  "bytes": \([0-9]*\),*$/\1/p' "$@"
}

counted() { # FILE: and elements
  sed -n 's/^  "\(bytes\|elements\)": \([0-9]*\),*$/\1 \2/p' "$1" | sort
}

programs=0
turn=0
for file in "$root"/samples/*.ein "$root"/stdlib/examples/*.ein "$root"/tests/run/*.ein; do
  turn=$((turn + 1))
  case $((turn % 4)) in 0) sites=2 ;; 1) sites=16 ;; 2) sites=4 ;; *) sites=6 ;; esac
  case $file in */samples/*) sites="2 4 6 16" ;; esac
  mine $((turn / 4)) 2 || continue
  for n in ${MOVES_SITES:-$sites}; do
    # Some are to be refused, or have sizes that nobody says.
    "$EIN" plan "$file" -n $n --format=ia -o plan.ia --certificate said.json 2>err || continue
    want 0 "$EIN" plan plan.ia --format=json -o moved.json
    programs=$((programs + 1))
    [ -n "$(bytes said.json)" ] || wrong "$file on $n sites: the plan says no bytes"
    [ "$(bytes said.json)" = "$(bytes moved.json)" ] || wrong "$file on $n sites: $(bytes said.json) bytes are said, $(bytes moved.json) move"
  done
done

plans=0
turn=0
for file in "$root"/samples/*.ein "$root"/stdlib/examples/*.ein "$root"/tests/plan/sites_*.ein; do
  turn=$((turn + 1))
  mine $turn 2 || continue
  for how in "ia 4" "ia 6" "eindecomp 6" "eindecomp 16"; do
    cost=${how% *} n=${how#* } both=1
    "$EIN" plan "$file" -n $n --costs=$cost --format=json -o said.json 2>err || continue
    want 0 "$EIN" plan "$file" -n $n --costs=$cost --format=ia -o plan.ia
    want 0 "$EIN" plan plan.ia --format=json -o moved.json
    plans=$((plans + 1))
    if [ $cost = eindecomp ]; then sed -i '/^  "elements"/d' moved.json; else both=2; fi
    [ "$(counted said.json | wc -l)" = $both ] || wrong "$file on $n sites, by $cost: the plan does not say what moves"
    [ "$(counted said.json)" = "$(counted moved.json)" ] || wrong "$file on $n sites, by $cost: $(counted said.json) said, $(counted moved.json) moved"
  done
done
enough $plans 130 || wrong "only $plans plans by the papers' costs were checked"
enough $programs 290 || wrong "only $programs plans were checked"
finish
