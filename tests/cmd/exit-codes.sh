#!/bin/sh
# 0 ok, 1 the program is wrong, 2 usage, 4 the machine.
. "$(dirname "$0")/common"

want 0 "$EIN" --version
shows "ein "
want 0 "$EIN" --help
shows "usage: ein"
want 0 "$EIN" help run
shows "--target"
want 0 "$EIN" run --help
want 0 "$EIN" run sum.ein -D N=4 X=iota
silent
want 0 "$EIN" check sum.ein
silent

echo 'output Z[i] = Q[i]' >bad.ein
want 1 "$EIN" check bad.ein
says "bad.ein:1:"
says "1 error"
want 1 "$EIN" run bad.ein
want 1 "$EIN" graph bad.ein
want 1 "$EIN" check sum.ein bad.ein
echo 'input X[i:2] : f32 = 1
assert (sum[i] X[i]) > 5, "too small"
output Y = sum[i] X[i]' >assert.ein
want 1 "$EIN" run assert.ein
says "assert.ein:2:"
says "too small"
echo 'input P[i:3] : i64 = i + 2
input X[i:3] : f32 = i
output Y[i] = X[P[i]]' >gather.ein
want 1 "$EIN" run gather.ein
says "gather.ein:3:"

want 2 "$EIN"
want 2 "$EIN" run
want 2 "$EIN" run sum.ein X=iota
says "-D N="
want 2 "$EIN" run sum.ein -D N=4
says "input X is not given"
says "X[i:N] : f32"
says "X=randn"
want 2 "$EIN" build sum.ein --emit=cuda -o .
says "one text"
want 0 "$EIN" build sum.ein --emit=cuda -o -
shows "__global__"
want 0 "$EIN" build sum.ein --target=cuda --stop=loop -o sum.loop
want 0 "$EIN" build sum.loop --emit=cuda -o -
want 2 "$EIN" build sum.loop --emit=c -o -
says "loops for a device"
want 2 "$EIN" run -D N=4 X=iota -o sum.ein
says "which program? --output takes the word after it, here sum.ein: ein run x.ein"
want 2 "$EIN" verify --cc sum.ein
says "which program? --cc takes the word after it, here sum.ein: ein verify x.ein"
want 2 "$EIN" plan
says "which program? ein plan x.ein"
want 2 "$EIN" run -D N 4 sum.ein X=iota
says "-D wants NAME=N, not N"
want 2 "$EIN" run sum.ein --X=ones
says "run has no option --X; an input is given without dashes: X=ones"
want 2 "$EIN" run sum.ein --verbos
says "did you mean --verbose?"
want 2 "$EIN" check sum.ein --bogus
says "check has no option --bogus; see ein help check"
want 2 "$EIN" run sum.ein X = ones
says "X: an input is given as one word, NAME=SOURCE: X=X.npy"
want 2 "$EIN" build sum.ein --stop=nosuch
says "--stop=nosuch: there is no such language"
want 2 "$EIN" build sum.ein --stop=c
says "--stop=c: what is compiled from is written by --emit=c"
for command in build check graph; do
  want 2 "$EIN" $command sum.ein X=x.npy
  says "X=x.npy: ein $command reads programs and no data; sizes are given by -D NAME=N"
done
cp sum.ein X=1.ein
want 0 "$EIN" check X=1.ein
want 2 "$EIN" build sum.ein --stop=tra
says "ein build sum.ein -n 4 --stop=tra"
want 2 "$EIN" build sum.ein

want 4 "$EIN" run nowhere.ein
says "nowhere.ein"
want 4 "$EIN" run sum.ein X=nowhere.npy
says "nowhere.npy"
finish
