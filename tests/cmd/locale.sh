#!/bin/sh
# No locale changes a number.
. "$(dirname "$0")/common"

echo 'input X[i:3] : f64 = 0.5 + i * 1.25
output Y[i] = X[i] / 3' >frac.ein
want 0 env LC_ALL=C "$EIN" run frac.ein
cp out plain
shows "0.166667"
for l in de_DE.UTF-8 de_DE.utf8 fr_FR.UTF-8 tr_TR.UTF-8; do
  locale -a 2>/dev/null | grep -qix "$(echo "$l" | sed 's/UTF-8/utf-\\?8/')" || continue
  want 0 env LC_ALL=$l "$EIN" run frac.ein
  cmp -s out plain || wrong "another text with LC_ALL=$l"
  want 0 env LC_ALL=$l "$EIN" graph frac.ein --roundtrip
done
finish
