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
for how in --text --json --dot --svg; do want 0 "$EIN" graph sum.graph $how; done

# C functions, of scalars and of blocks.
cat >called.ein <<'END'
extern def root(x : f64) : f64 = "cbrt" cost 9
input X[i:4, k:3], Y[k:3] : f64
Z[i] = sum[k] X[i,k] * Y[k] extern "times" from "own.c" cost 2
output R[i] = root(Z[i])
END
want 0 "$EIN" graph called.ein --json
tr -d ' \n' <out >one
for part in '"name":"times","symbol":"times","from":"own.c","arguments":["f64","f64"],"dtype":"f64","ranks":[2,1],"out":1,"red":1,"cost":2}' \
  '"name":"root","symbol":"cbrt","from":null,"arguments":["f64"],"dtype":"f64","cost":9}'; do
  grep -qF "$part" one || wrong "a C function is not told as JSON: $part"
done

# A file's name says its form, unless an option does.
echo 'output Y[i:4] = i' >small.ein
for form in json dot svg; do
  want 0 "$EIN" graph small.ein -o by-name.$form
  want 0 "$EIN" graph small.ein --$form
  cmp -s out by-name.$form || wrong "graph -o by-name.$form is not --$form"
done
for form in json dot svg html tra ia task; do
  want 0 "$EIN" plan small.ein -n 2 -o by-name.$form
  want 0 "$EIN" plan small.ein -n 2 --format=$form
  cmp -s out by-name.$form || wrong "plan -o by-name.$form is not --format=$form"
done
want 0 "$EIN" graph small.ein --text -o by-name.svg
grep -q '^eingraph' by-name.svg || wrong "--text is not heeded"
want 0 "$EIN" plan small.ein -n 2 --format=text -o by-name.svg
grep -q 'on 2 sites' by-name.svg || wrong "--format=text is not heeded"
want 2 "$EIN" graph small.ein -o y.png
says "-o y.png: a picture is written as .svg"

# A picture needs no other program, is well-formed, and shows each box once; what it shows is escaped.
echo 'input α[i:3], X[i:3] : f32
repeat t < 4 {
  state s[i] = X[i]
  next s[i] = if s[i] < α[i] then s[i] * 2 else s[i]
}
output s' >loop.ein
# The pictures of the pages are what their commands draw today (the large ones: bench/papers.sh draws all again).
pages=$here/../../docs
drawn() { # FILE PROGRAM WORD...
  file=$1
  shift
  (cd "$pages/.." && "$EIN" plan "$@" --format=svg) >drawn.svg || wrong "no picture: $*"
  cmp -s drawn.svg "$pages/$file" || wrong "docs/$file is not what ein plan draws: $*"
}
drawn plan.svg samples/02_attention.ein -n 16
drawn gallery/pagerank.svg samples/science/pagerank.ein -n 4 -D N=4096
drawn gallery/classifier_step.svg samples/papers/classifier_step.ein -n 5 -D N=1000 -D D=597540 -D H=1000 -D L=14588
want 0 env PATH=/nowhere "$EIN" graph loop.ein --svg
grep -q '^<svg xmlns' out || wrong "no svg"
for what in 'state s[3]' 'repeat t &lt; 4' 'input α[3]' 's[i] &lt; α[i]'; do shows "$what"; done
[ "$(grep -c 'class="box"' out)" = "$("$EIN" graph loop.ein --dot | grep -c 'n[0-9]* \[label.*shape\|out[0-9]* \[label.*shape')" ] || wrong "other boxes than of --dot"
python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' out || wrong "the svg is not well-formed"
i=0
echo 'input x[i:3] : f32
y0[i] = x[i]' >long.ein
while [ $i -lt 1000 ]; do
  echo "y$((i + 1))[i] = y$i[i] + x[i]"
  i=$((i + 1))
done >>long.ein
echo 'output y1000' >>long.ein
want 2 "$EIN" graph long.ein --svg
says '--dot'
echo 'no graph' >junk.graph
want 1 "$EIN" run junk.graph
want 4 "$EIN" run nowhere.graph
want 2 "$EIN" graph --dot --json sum.ein
finish
