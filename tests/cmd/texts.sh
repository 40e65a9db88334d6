#!/bin/sh
# suite: ci
# The texts of the languages inside, as programs: what is printed runs, and shows the same; what is edited may be wrong.
. "$(dirname "$0")/common"
XDG_CACHE_HOME=$work/cache
export XDG_CACHE_HOME
O=--flags=-O0

cat >turns.ein <<'END_OF_PROGRAM'
dim N
input x[i:N] : f64 = i + 1
param scale : f64 = 2
repeat t < 6 until m > 20 {
  state a[i] = x[i]
  m = max[i] a[i]
  h[t,i] = a[i]
  g[i,t] = m * x[i]
  next a[i] = scale * a[i]
}
output h, g
output pairs[(i j)] = x[i] * x[j]
output n = t
END_OF_PROGRAM
want 0 "$EIN" run turns.ein -D N=3
cp out wanted
shows "h[t:6, i:3] : f64"
shows "pairs[(i j):9] : f64"
shows "0.0   0.0   0.0" # places of turns that were not made, everywhere
want 0 "$EIN" run turns.ein -D N=3 --target=c $O
cmp -s out wanted || wrong "--target=c shows other outputs"
want 0 "$EIN" build turns.ein -o turns $O
want 0 ./turns -D N=3
cmp -s out wanted || wrong "the program shows other outputs"
for stop in optimised task loop; do
  text=turns.$stop
  [ $stop = optimised ] && text=best.graph
  want 0 "$EIN" build turns.ein --stop=$stop -o $text
  want 0 "$EIN" build turns.ein --stop=$stop --roundtrip -o -
  cmp -s out $text || wrong "--roundtrip changes the $stop"
  want 0 "$EIN" run $text -D N=3 $O
  cmp -s out wanted || wrong "$text shows other outputs"
  want 0 "$EIN" run $text -D N=3 $O x=ones -o all=outs/ -o h=h.npy
  want 0 "$EIN" bench $text -D N=3 $O --reps 1 --threads 1
  want 0 "$EIN" plan $text -D N=3
  want 0 "$EIN" check $text
  want 2 "$EIN" run $text $O
  says "no value for dim N"
  want 2 "$EIN" run $text -D N=3 $O X=ones
  says "has no input X"
  want 2 "$EIN" run $text $O N=3
  says "N is a dim of $text: write -D N=3"
  want 2 "$EIN" run $text -D N=3 $O -o H=h.npy
  want 2 "$EIN" build $text -D N=3 -o sized
  says "has the sizes that its text says"
done
want 0 "$EIN" verify best.graph -D N=3 $O
for text in turns.task turns.loop; do
  want 0 "$EIN" run $text -D N=3 --target=eval
  cp out eval
  want 0 "$EIN" run $text -D N=3 --target=c $O
  cmp -s out eval || wrong "eval and C differ: $(cat eval)"
  want 0 "$EIN" verify $text -D N=3 $O
  want 2 "$EIN" graph $text
  want 2 "$EIN" build $text --stop=optimised
  want 2 "$EIN" run $text -D N=3 --expect
done
want 0 "$EIN" build sum.ein --stop=loop -o sum.loop
want 0 "$EIN" run sum.ein -D N=4 X=iota
cp out wanted
want 0 "$EIN" run sum.loop X=iota -D N=4 $O
cmp -s out wanted || wrong "sum.loop shows other outputs"
want 2 "$EIN" run sum.loop -D N=4 $O
says "input X is not given"

# Loops that go wrong are stopped, and it is said before that they may.
sed 's/X\[(i + i_[0-9]*)\])$/X[(i + 100000000000)])/' sum.loop >astray.loop
cmp -s sum.loop astray.loop && wrong "the edit had no effect: the text of a loop has changed"
want 1 "$EIN" run astray.loop X=iota -D N=4 $O
says "astray.loop: not proved to be in range, and looked at while it runs"
says "index 1 of X, in the loops of Y: 100000000000 is out of range, its size is 4"
# A polled loop computes what it did before, whether all of its turns are looked at or each third, and whatever it is called.
cat >polled.ein <<'END_OF_PROGRAM'
input A[i:30, k:65] : f32 = normal[i, k](1)
input B[k:65, ends:50] : f32 = normal[k, ends](2)
output C[i, ends] = sum[k] A[i, k] * B[k, ends]
output s = sum[i, ends] C[i, ends] * C[i, ends]
output S[i, ends] = softmax[ends](C[i, ends])
output m[i] = argmax[ends] C[i, ends]
END_OF_PROGRAM
want 0 "$EIN" build polled.ein --stop=loop -o never.loop
want 0 "$EIN" run never.loop $O
mv out wanted
for n in 1 3; do
  sed -E "s/^( *for .*) \{/\1 polled $n {/; s/(thread|short|held|unroll|roll) polled [0-9]+/\1/" never.loop >polled.loop
  [ "$(grep -c " polled $n {" polled.loop)" -gt 9 ] || wrong "few loops are polled"
  want 0 "$EIN" run polled.loop $O
  cmp -s out wanted || wrong "polled loops show other outputs"
done

finish
