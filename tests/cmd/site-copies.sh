#!/bin/sh
# suite: ci
# Sites in one process never compute in each other's memory, also if several have copies of one block of an output. Here four have all of each, and
# two pairs reduce it at the same time; in shared memory, an output in twenty had a part twice, or not at all.
. "$(dirname "$0")/common"

pins=
echo 'input X[i:12] : i64 = i + 1' >copies.ein
i=0
while [ $i -lt 60 ]; do
  echo "output a$i = sum[i] (X[i] + $i)^2" >>copies.ein
  pins="$pins --pin a$i:i=2"
  i=$((i + 1))
done
want 0 "$EIN" run copies.ein
mv out wanted
for turn in 1 2 3 4; do
  # shellcheck disable=SC2086
  want 0 "$EIN" run copies.ein -n 4 --target=c --flags=-O0 $pins
  cmp -s wanted out || wrong "turn $turn: $(diff wanted out | grep '^>' | head -3)"
done
finish
