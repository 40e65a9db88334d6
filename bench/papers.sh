#!/bin/sh
# Makes anew what docs/papers.md and docs/gallery.md show: the blocks of the one, the pictures of the other; and counts the TRA paper's plans
# (its Tables 4, 6 and 9). It takes less than a minute, for all of it is planned and nothing runs. Then `git diff docs` says what has changed.
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
