#!/bin/sh
# suite: long
# Every program that is run as a test by all versions of each kernel, and two levels: see verify-all.
VERIFY_FLAGS="--flags=-O1 --flags=-O3" exec sh "$(dirname "$0")/verify-all.sh"
