"""The benchmarks against peers that bench/peers.py runs: row.py defines a row, libraries.py calls the peers, groups/
has the rows."""
