"""The benchmarks against peers that bench/peers.py runs: row.py says what a row is, libraries.py how each peer is
called, groups/ has the rows."""
