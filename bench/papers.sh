#!/bin/sh
# Makes anew what docs/papers.md and docs/gallery.md show: the blocks of the one, the pictures of the other; counts the TRA paper's plans (its Tables
# 4, 6 and 9); and trains the nets whose accuracies stand in papers.md, which takes minutes. Then `git diff docs` says what has changed.
#     bench/papers.sh [EIN]
set -e
cd "$(dirname "$0")/.."
EIN=${1:-build/ein}
export EIN
echo "ein at $(git describe --always --dirty 2>/dev/null || echo 'no commit'), on $(uname -m), $(nproc) processors"
python3 tests/docs.py --bless docs/papers.md
mkdir -p docs/gallery
sed -n 's/^    ein plan \(.* -o docs\/gallery\/.*\.svg\)$/\1/p' docs/gallery.md | while read -r line; do
  # shellcheck disable=SC2086
  "$EIN" plan $line
  echo "${line##* }"
done
python3 tests/algebra/papers.py "$EIN"
task="-D D=64 -D H=256 -D C=8 -D B=32 -D M=1000 -D E=2000"
for sites in 2 4 8; do
  for how in "subnets -D J=10 -D R=60" "local_sgd -D J=10 -D R=60" "local_sgd -D J=1 -D R=600"; do
    sizes="$task -D S=$sites ${how#* }"
    # shellcheck disable=SC2086
    echo "$how on $sites: $("$EIN" run "samples/papers/${how%% *}.ein" $sizes --target=c) $("$EIN" plan "samples/papers/${how%% *}.ein" -n $sites $sizes | grep received)"
  done
done
