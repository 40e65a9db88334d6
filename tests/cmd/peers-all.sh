#!/bin/sh
# suite: long
# bench/peers.py: all its rows (peers.sh).
for first in 1 2 3 4 5 6; do
  PEERS_FIRST=$first sh "$(dirname "$0")/peers.sh" || exit 1
done
