#!/bin/sh
# suite: ci
# Texts that ein prints pass the checks for texts that it reads: every program of the other tests, in every language.
# In the loops of a few programs, named here, indices are not proved and are checked at run time: the list may only get shorter.
. "$(dirname "$0")/common"

root=$here/../..
stops=${STOPS:-"graph optimised task loop sites"}
unproved=" argmax_of_many attention_chains attention_masks covered_reduction monoid_tuple_gradient packed_predicates \
product_predicates rectangles results_transposed scan_ends scan_low_end scans_long transposed_open units_of_a_tile \
chain_of_parts empty_is_zero quotients bands chosen "
n=0 k=0
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
    [ $stop = loop ] && grep -q 'looked at while it runs' err && case $unproved in
      *" $(basename "$program" .ein) "*) ;;
      *) wrong "$program has loops that are not proved: $(sed -n 2p err)" ;;
    esac
    n=$((n + 1))
  done
done
enough $n 1400 4 || wrong "only $n texts were checked"
finish
