#!/bin/sh
# suite: long
# Ten thousand compilations in one process, which does not grow.
LIBEIN_ASKS=10000 exec sh tests/lib/libein.sh
