#!/bin/sh
# A build folder may be anywhere: the program finds its modules and its runtime by ein.source beside it.
. "$(dirname "$0")/common"

mkdir "built, elsewhere"
there="$work/built, elsewhere"
cp "$EIN" "$there/ein"
cp "$(dirname "$EIN")/ein.source" "$there/" || wrong "no ein.source beside ein"
unset EIN_STDLIB
XDG_CACHE_HOME=$work/cache
export XDG_CACHE_HOME
echo 'output Y[i:3] = softmax[i](i * 1.0)' >soft.ein
want 0 "$there/ein" run soft.ein
shows "0.665"
want 0 "$there/ein" run soft.ein --target=c --flags=-O0
shows "0.665"

# without it, and not installed: what is missing is said
rm "$there/ein.source"
want 4 "$there/ein" run soft.ein
says "EIN_STDLIB"
finish
