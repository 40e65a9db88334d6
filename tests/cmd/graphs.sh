#!/bin/sh
# A graph's text goes in where a program does.
. "$(dirname "$0")/common"

want 0 "$EIN" build sum.ein --stop=graph -o sum.graph
want 0 "$EIN" build sum.graph --stop=graph -o -
cmp -s out sum.graph || wrong "the text of a reread graph is another"
want 0 "$EIN" run sum.ein X=iota -D N=4
cp out plain
want 0 "$EIN" run sum.graph X=iota -D N=4
cmp -s out plain || wrong "a graph's text runs otherwise than its program"
want 0 "$EIN" run sum.graph X=iota -D N=4 --roundtrip
want 0 "$EIN" run sum.ein X=iota -D N=4 -o Y=y.npy
want 0 "$EIN" run sum.graph X=y.npy
shows "S : f32 = 12.0"
want 2 "$EIN" run sum.graph X=iota -D M=4
want 2 "$EIN" run sum.graph X=iota
says "dim N"
want 2 "$EIN" run sum.graph -D N=4
says "input X is not given"
for how in --text --json --dot; do want 0 "$EIN" graph sum.graph $how; done
echo 'no graph' >junk.graph
want 1 "$EIN" run junk.graph
want 4 "$EIN" run nowhere.graph
want 2 "$EIN" graph --dot --json sum.ein
finish
