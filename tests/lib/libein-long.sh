#!/bin/sh
# suite: long
# Ten thousand compilations in one process, which then has the memory that it had.
LIBEIN_ASKS=10000 exec sh tests/lib/libein.sh
