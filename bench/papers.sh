#!/bin/sh
# Makes anew what docs/papers.md and docs/gallery.md show: the blocks of the one, the pictures of the other; counts the TRA paper's plans (its Tables
# 4, 6 and 9); and each figure that stands in a sentence or a table (papers.py), which plans, pages, and trains subnets. docs/related.md has no figures.
# Prints the commit, the machine, the command of each figure, and the spread of what is random. `git diff docs` then says what has changed in blocks and
# pictures; a line of a page that is no longer so is named, `stale:`, and the exit code is 1.
#     bench/papers.sh [EIN]
set -e
cd "$(dirname "$0")/.."
EIN=${1:-build/ein}
export EIN
began=$(date +%s)
processor=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo 2>/dev/null | head -1)
echo "ein at $(git describe --always --dirty 2>/dev/null || echo 'no commit'), $(date -u +%Y-%m-%d), on $(nproc) processors: ${processor:-$(uname -m)}"
python3 tests/docs.py --bless docs/papers.md
mkdir -p docs/gallery
sed -n 's/^    ein plan \(.* -o docs\/gallery\/.*\.svg\)$/\1/p' docs/gallery.md | while read -r line; do
  # shellcheck disable=SC2086
  "$EIN" plan $line
  echo "\$ ein plan $line"
done
echo '# tests/algebra/papers.py'
python3 tests/algebra/papers.py "$EIN"
stale=0
python3 bench/papers.py "$EIN" || stale=1
echo "$((($(date +%s) - began + 59) / 60)) minutes"
exit $stale
