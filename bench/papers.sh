#!/bin/sh
# Makes anew what docs/papers.md and docs/gallery.md show: the blocks of the one, the pictures of the other; counts the TRA paper's plans (its Tables
# 4, 6 and 9); plans what pages, and trains subnets, which takes a minute or two. `git diff docs` then says what has changed in blocks and pictures; a row
# of the tables that papers.md has otherwise is named.
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
stands() { # LINE: of a table of docs/papers.md
  echo "$1"
  grep -qxF "$1" docs/papers.md || echo "  docs/papers.md does not say so"
}
paged() { # MODEL LAYERS A HEADS D F: what inference takes that pages
  model=$1
  shift
  for tokens in 512 1024 2048 4096; do
    python3 samples/papers/llama_prefill.py "$@" $tokens 16 32000 | "$EIN" plan - --target=cuda --memory=40GB | awk -v row="| $model | $tokens |" '
      /^  device memory/ { all = $3 " " $4; how = "fits" }
      /kept on the host/ { all = $(NF - 4) " " $(NF - 3); how = "pages" }
      /^  least device/ { least = $4 " " $5 }
      /^  bus/ { print row, all, "|", least, "|", $2, $3, "|", how, "|" }'
  done
}
{
  paged 7B 32 4096 32 128 11008
  paged 65B 80 8192 64 128 22016
  python3 bench/subnets.py "$EIN"
} | while read -r line; do stands "$line"; done
