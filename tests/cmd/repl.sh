#!/bin/sh
# The prompt from a pipe: input, answers, and the state after mistakes.
. "$(dirname "$0")/common"

turns() { # CODE LINES [WORDS ...]: the lines, given to ein repl
  code_wanted=$1
  printf '%s\n' "$2" >lines
  shift 2
  want "$code_wanted" "$EIN" repl "$@" <lines
}
answer() { # TEXT: all that the last one answered
  [ "$(cat out)" = "$1" ] || wrong "answered is $(cat out), not $1"
}

# Two values by one equation: both are there, and both are computed again.
turns 0 'def ends[i](x) = (min[i] x, max[i] x)
X[i:3] : i64 = 2 * i
a, b = ends[i](X[i])
a + b
X[i:3] : i64 = 5 - i
b
a' --target=eval
silent
answer 'i64 = 4
b : i64 = 5
a : i64 = 3'

# Labels that are left free, in the order in which they occur; the same value, however it is said.
turns 0 'A[i:2,j:3] : i64 = 3*i + j
A
A[i,j]
A[p,q]
A[q,p]
(A[b,a])
sum[k] A[k,a]
A[a,i] - A[b,i]' --target=eval
silent
answer 'A[i:2, j:3] : i64
  0  1  2
  3  4  5
[i:2, j:3] : i64
  0  1  2
  3  4  5
[p:2, q:3] : i64
  0  1  2
  3  4  5
[q:2, p:3] : i64
  0  1  2
  3  4  5
[b:2, a:3] : i64
  0  1  2
  3  4  5
[a:3] : i64
  3  5  7
[a:2, i:3, b:2] : i64
  a=0:
   0  -3
   0  -3
   0  -3
  a=1:
   3   0
   3   0
   3   0'

# One line is several, several are one.
turns 0 'a = 1; b = a + 1; b
c = (a
  + b) *
  10
def f(x) { y = x * x
  y + 1 }
c; f(c)
# nothing

sum[i:3]
i' --target=eval
answer 'b : i64 = 2
c : i64 = 30
i64 = 901
i64 = 3'

# What is defined anew changes what hangs on it, whatever the order, and nothing else.
turns 0 'dim N = 3
a[i:N] = i
b[i] = a[i] + 1
c[j:2] = j
b; c
dim N = 2
b; c
:vars
def g(x) = 2 * x
d[i] = g(a[i])
d
def g(x) = 3 * x
d
e = 7
a[i:2] = e
d' --target=eval
answer 'b[i:3] : i64
  1  2  3
c[j:2] : i64
  0  1
b[i:2] : i64
  1  2
c[j:2] : i64
  0  1
dim N = 2
a[i:2] : i64  computed
b[i:2] : i64  computed
c[j:2] : i64  computed
d[i:2] : i64
  0  2
d[i:2] : i64
  0  3
d[i:2] : i64
  21  21'
# Known values are not computed again: what needed seconds before is there at once.
turns 0 'big = sum[i:3000, j:3000] (i * j) % 7
big
:graph big + 1'
shows 'input %0 big[] : i64'
grep -q 'vertex.*sum' out && wrong "a known value is computed again"

# What somebody types who is new.
turns 0 'help'
shows ':plot   EXPRESSION'
turns 0 '1 + 1
exit
1 + 2' --target=eval
answer 'i64 = 2'
turns 0 'exit = 3
exit
quit' --target=eval
answer 'exit : i64 = 3'

# A line is told to go on from the one above only where there is one.
turns 1 'x = 1
import numpy'
says "<stdin>:2:8: error[E001]: unexpected \`numpy\`, expected"
grep -q 'the one above' err && wrong "$(cat err)"

# Refused, and all is as it was.
turns 1 'x = 1
y = x + 1
x = y'
says "a name that depends on itself has no value: x, y"
turns 1 'x = 1
x = x + 1'
says "a name that depends on itself has no value: x; give what you make of it another name, such as x'"
turns 1 'A[i:2] = i
A[i] + B[i]'
says "<stdin>:2:8: error[E070]: B is not defined"
# A tensor without its labels is one that is defined.
for e in 'A + 1' 'softmax[k](A)' 'P = softmax[k](A)' 'B[j:2] = sum[k] A * j' 'def f(x) = A * x
f(2)'; do
  turns 1 "A[i:2,k:3] : f32 = i
$e"
  says 'A has 2 dimensions and needs its labels'
  says '= help: write `A[i, k]`'
done
turns 0 'i[n:2] = n
A[i:3] = 2 * i
A
A[i] * i' --target=eval
answer 'A[i:3] : i64
  0  2  4
[i:3] : i64
  0  2  8'
turns 1 '

  1; 2 + nosuch'
says "<stdin>:3:10: error[E070]"
answer 'i64 = 1'
turns 1 '1; import nn'
says 'write `use nn`'
turns 1 'let a = 4'
says '`x = ...` defines'
turns 1 'import = 2
3 + import 4'
says 'is an operator missing, as in `import * 4`?'
turns 1 'a = 4
assert a == 4, "four"
assert a == 5, "five"'
says "five"
turns 1 'assert all[i:3] (i < 3), "all below 3"
assert all[i:4] (i < 3), "of what nothing defines"
1'
says "of what nothing defines"
turns 0 ':undo' --json
printf '%s\n' '"x = 1"' '"y = x"' '"x = y"' '"x = nosuch"' '"y"' '":undo"' '"y"' '":undo"' '"x"' '"x +"' '7' '"1"' >lines
want 0 "$EIN" repl --json --target=eval <lines
[ "$(grep -c '"ok":true' out)" = 6 ] || wrong "$(cat out)"
grep -q '"name":"y","dtype":"i64","shape":\[\],"labels":\[\],"data":\[1\]' out || wrong "y is not reported"

# Gradients by the tensors that are named, or by what an expression reads.
turns 0 'A[i:2,j:3] : f64 = 3*i + j
W[j:3] : f64 = j - 1
L = sum[i,j] (A[i,j] * W[j])^2
:grad L by W
param b : f64 = 2
:grad b * L' --target=eval
silent
answer 'by W: [j:3] : f64
  -18.0    0.0   58.0
by b: f64 = 38.0'
turns 1 'n[i:3] = i
:grad sum[i] n[i]'
says "say by what"
turns 1 'A[i:2] : f32 = i
:grad A by A'
says "E115"
answer ''
turns 1 'A[i:2] : f32 = i
:grad sum[i] A[i] by A[i]'
says "A[i] is not the name of a tensor"

# Files: shapes and sizes from them; what was read stays, whatever happens to the file.
want 0 "$EIN" repl --target=eval <<'END'
m[i:3,j:4] : f32 = 4*i + j
:write m m.npy
l[i:5] : i64 = i
:write l l.npy
END
cat >lines <<'END'
M = load("m.npy")
dim R, C
input X[r:R, c:C] : f64
X = load("m.npy")
Y[r] = sum[c] X[r,c]
Y
M[1,j]
input D[a:2,3] = a + 1
D
:save saved.ein
:save again.ein
END
want 0 "$EIN" repl <lines
answer 'Y[r:3] : f64
   6.0  22.0  38.0
[j:4] : f32
  4.0  5.0  6.0  7.0
D[a:2, axis_2:3] : f32
  1.0  1.0  1.0
  2.0  2.0  2.0'
want 0 "$EIN" run saved.ein M=m.npy X=m.npy
shows 'Y[r:3] : f64
   6.0  22.0  38.0'
want 0 cmp saved.ein again.ein
want 0 "$EIN" verify saved.ein --flags=-O0
# A later loop may have the counter of an earlier one, whose states and stacks stay; the counter is then the later one's. A loop that is
# typed again replaces itself.
turns 0 'dim N = 3
repeat k < N {
  state x = 1
  C[k] = x
  next x = x + x
}
a = k + 100
a
repeat k < N - 1 {
  state z = x
  Y[k] = C[k] + z
  next z = C[k] + z
}
C[i] * 10
Y[i] + x
a
:undo
a
repeat k < N - 1 {
  state z = x
  next z = z + 1
}
repeat k < N + 1 {
  state x = 1
  C[k] = x
  next x = x + 3
}
C
z
k' --target=eval
silent
answer 'a : i64 = 103
[i:3] : i64
  10  20  40
[i:2] : i64
  17  19
a : i64 = 102
a : i64 = 103
C[k:4] : i64
   1   4   7  10
z : i64 = 15
k : i64 = 2'

# One that is typed again and needs a later one with its counter stands behind it. So does one that needs it by a name
# in between: the counter is asked of neither.
turns 0 'y = 1
repeat t < 2 {
  state a = y
  next a = a + 1
}
repeat t < 3 {
  state b = 1
  next b = b * 2
}
y = b
a
repeat t < 4 {
  state a = b
  next a = a + 1
}
a
t
:save behind.ein' --target=eval
silent
answer 'a : i64 = 10
a : i64 = 12
t : i64 = 4'
want 0 "$EIN" run behind.ein
shows 'a : i64 = 12'

# A loop may be typed again although another one with its counter does not fit it any more.
turns 0 'repeat t < 2 {
  state a[i:3] = i
  next a[i] = a[i] + 1
}
repeat t < 2 {
  state b[i:3] = a[i]
  next b[i] = b[i] + 1
}
repeat t < 3 {
  state a = 1
  next a = a + 1
}
a' --target=eval
answer 'a : i64 = 4'

# The lines above a text are counted, not read: a text may stand far down.
echo '{"text": "1 + z", "file": "f", "line": 16777216}' | want 0 "$EIN" repl --json --target=eval
shows 'f:16777216:5: error[E070]: z is not defined'

# A value goes with what it was computed from: a stack whose loop is gone, a size that is a tensor now.
turns 1 'repeat t < 3 {
  state s = 1
  h[t] = s
  next s = s + 1
}
c = sum[i:3] h[i]
c
s = 5
c' --target=eval
answer 'c : i64 = 6'
says 'h is not defined'
for now in 'K[i:3] = 3' 'K = load("[[1, 2], [3, 4]]")'; do
  turns 1 "dim K = 2
c[j:K] = 7
c
$now
c" --target=eval
  answer 'c[j:2] : i64
  7  7'
  says 'so it is no size'
done

# An assert about a size or an input without a value waits for it.
turns 1 'dim K, N
assert K <= N, "more groups than points"
input X[n:N] : f64
assert all[n] (X[n] < 10), "X is small"
X = load("[1, 2, 3]")
dim K = 3
c[k:K] = X[k+0]
c
dim K = 4
c' --target=eval
answer 'c[k:3] : f64
  1.0  2.0  3.0'
says 'more groups than points'
turns 1 'dim N
input X[n:N] : f64
assert all[n] (X[n] < 10), "X is small"
X = load("[1, 20]")
X[n] + 1' --target=eval
says 'X is small'

# What a repeat leaves behind, and each result of a def, is an output by its own name.
loop='repeat t < 3 {
  state x = 1
  L[t] = x
  next x = x + 1
}'
turns 0 "$loop
output L
:save loop.ein"
want 0 "$EIN" run loop.ein
shows 'L[t:3] : i64
  1  2  3'
turns 0 "$loop
z = x + 1
:save loop.ein"
want 0 cat loop.ein
shows 'output L, z'
turns 0 'def both(x) = (x + 1, x + 2)
a, b = both(3)
output b
:save both.ein'
want 0 "$EIN" run both.ein
answer 'b : i64 = 5'
turns 1 'M = load("nosuch.npy")'
says "nosuch.npy"
turns 1 'dim N = 4
input X[n:N]
X = load("l.npy")'
says "error[E046]"
turns 1 'dim N
input X[n:N]
X[n]'
says "has no value yet"
turns 1 'G = load("randn:seed=1")'
says "declare it first"

# Commands.
turns 0 ':help'
for c in help vars type shape plot grad graph plan c time bench sites deterministic load save write undo reset quit; do shows ":$c "; done
turns 0 'abcd = 1
 :vars
: vars' --target=eval
answer 'abcd : i64  not computed yet
abcd : i64  not computed yet'
turns 0 'def f(x) =
  2 * x
:type f
:type relu
use nn
:type linear' --target=eval
answer 'def f(x) =
  2 * x
def relu(x) = max(x, 0)
def linear[k](x, w, b) = b + sum[k] x * w'
turns 1 ':'
says 'a command follows `:`; :help lists them'
turns 1 'a = 1
:vars a'
says ':vars takes nothing more, and here is a'
# What is taken back, and a program that is not taken, leave all values that do not depend on it.
cat >refused.ein <<'END'
a = 7
assert b == 8, "b"
g = nosuch
END
turns 0 'a = 2
b = a + 1
c = 5
def g(x) = 2 * x
y = g(3)
b; c; y
a = 3
b
:undo
:vars
b
def g(x) = 7 + x
y
:undo
:vars
y' --target=eval
answer 'b : i64 = 3
c : i64 = 5
y : i64 = 6
b : i64 = 4
a : i64  not computed yet
b : i64  not computed yet
c : i64  computed
def g(x) = 2 * x
y : i64  computed
b : i64 = 3
y : i64 = 10
a : i64  computed
b : i64  computed
c : i64  computed
def g(x) = 2 * x
y : i64  not computed yet
y : i64 = 6'
printf '%s\n' '"a = 2; b = a + 1; c = 5; b; c"' '":load refused.ein"' '":vars"' '"b"' >lines
want 0 "$EIN" repl --json --target=eval <lines
shows '"a : i64  not computed yet\nb : i64  not computed yet\nc : i64  computed\n"'
shows '"b : i64 = 3\n"'
turns 1 ':hepl'
says "did you mean :help?"
turns 0 'A[i:2,j:3] = i
:type A[i,j] / 2
:shape sum[i] A[i,j]
:time A
:quit
nosuch' --target=eval
grep -q '^\[i:2, j:3\] : f64$' out || wrong "no type"
grep -q '^3$' out || wrong "no shape"
turns 0 'dim N = 4
A[i:N] = i
:undo
:reset
:vars'
answer ''
cat >prog.ein <<'END'
input A[i:2] : i64 = i
output B[i] = 2 * A[i]
END
want 0 "$EIN" repl prog.ein --target=eval <<'END'
A[i] + B[i]
END
answer 'B[i:2] : i64
  0  2
[i:2] : i64
  0  3'
want 2 "$EIN" </dev/null
says "no command given"

# Pictures: a line has the least and the most of what a column is of, shades their mean.
turns 0 'a[i:5] : i64 = i * i
:plot a
s[k:200] : f64 = if k % 100 == 7 then 50 else -50
:plot s
b[r:4, c:3] : f64 = r - c
:plot b
:plot b[r, c] * 0' --target=eval
shows '         16 |    *'
shows '          0 |**'
[ "$(grep -c '^[ 0-9.]* |.*\*' out)" -ge 5 ] || wrong "no line: $(cat out)"
[ "$(sed -n '/^s\[/,/k=0 to 199/p' out | grep -c '\*')" = 12 ] || wrong "a point of 200 is not seen: $(cat out)"
shows '  |==::  |'
shows '  |@@%%**|'
shows '  down r=0 to 3, across c=0 to 2; " .:-=+*#%@" from -2 to 3'
turns 0 'n[i:3] : f64 = 0.0 / 0
:plot n' --target=eval
answer 'n[i:3] : f64
  none of its elements is a finite number'
turns 1 ':plot 3'
says ":plot wants one dimension or two, and here are 0"
turns 1 'input X[i:4]
:plot X'
says "X has no value yet"

# Sites: the same values, by what they send each other.
cat >lines <<'END'
A[i:8, j:8] : i64 = 3 * i + j
:sites 4
:sites
sum[k] A[i,k] * A[k,j]
s = sum[i,j] A[i,j] % 5
s
:sites 1
:sites
sum[k] A[i,k] * A[k,j]
s + 1
END
want 0 "$EIN" repl -v --target=eval <lines
grep -q '4 sites received' err || wrong "no sites: $(cat err)"
[ "$(sed -n '/^\[i:8/,/^  [^a-z]*$/p' out | grep -c '^\[i:8, j:8\] : i64')" = 2 ] || wrong "$(cat out)"
sed -n '/^4$/,/^1$/p' out | grep '^ ' >by4
sed -n '/^1$/,$p' out | grep '^ ' >by1
cmp -s by4 by1 && [ -s by1 ] || wrong "four sites answer otherwise: $(cat out)"
turns 1 ':sites 0'
says ":sites wants a number from 1 to"
printf 'Y[i:3000000, j:4000000] = 1.0 * i\n:sites 4\nY\n' >lines
want 1 "$EIN" repl --target=c <lines
says "output Y would take 96000000000000 bytes; the limit here is "

# And the same bits, where sums have no order.
cat >lines <<'END'
A[i:997] : f32 = (uniform[i](1) - 0.5) * 10.0^(f32((i*7) % 13) - 6)
s = sum[i] A[i]
:deterministic
:deterministic on
:deterministic
s
:sites 4
:write s four.npy
:reset
A[i:997] : f32 = (uniform[i](1) - 0.5) * 10.0^(f32((i*7) % 13) - 6)
s = sum[i] A[i]
:write s again.npy
:sites 1
:deterministic off
:deterministic
:write s off.npy
:deterministic on
:write s one.npy
END
want 0 "$EIN" repl --target=c <lines
[ "$(grep -c '^on$\|^off$' out)" = 3 ] || wrong "$(cat out)"
cmp -s one.npy four.npy && cmp -s one.npy again.npy || wrong "four sites have other bits under :deterministic"
cmp -s one.npy off.npy && wrong "a value is not computed again"
want 0 "$EIN" repl --target=c --deterministic <lines
turns 1 ':deterministic perhaps'
says ':deterministic wants on or off'
turns 1 ':deterministic on' --target=eval
says ':deterministic is of what is compiled'

# A module is seen from the folder of the file that says so, and what is saved names it from where it is saved.
mkdir sub elsewhere
: >ein.root
echo 'def tw(x) = 2*x' >sub/lib.ein
printf 'use "lib.ein"\noutput a = tw(3)\n' >sub/u.ein
ln -s ../sub/u.ein elsewhere/link.ein
for lib in none other; do
  for file in sub/u.ein "$work/sub/u.ein" elsewhere/link.ein; do
    turns 0 ":load $file
:save elsewhere/saved.ein
:save ein-saved.ein"
    answer 'a : i64 = 6'
    for saved in elsewhere/saved.ein ein-saved.ein; do
      want 0 "$EIN" run $saved
      answer 'a : i64 = 6'
    done
    want 0 "$EIN" repl $file </dev/null
    answer 'a : i64 = 6'
  done
  echo 'def tw(x) = 100*x' >lib.ein
done
turns 1 'use "lib.ein"
:load sub/u.ein'
says 'tw'
turns 0 'use "sub/lib.ein"
a = tw(3)
:save sub/k.ein'
want 0 "$EIN" run sub/k.ein
answer 'a : i64 = 6'
turns 1 'use "nosuch.ein"'
says 'cannot read the module nosuch.ein'

# What a program lacks values for is told, and all of it is taken; where one of its statements is a mistake, nothing is.
cat >waits.ein <<'END'
dim N
input X[i:3] : f64
input W[n:N]
output Y[i] = X[i]
assert sum[i] X[i] < 4, "X is small"
z = 1
output V[n] = 2 * W[n]
output u = z + 1
y = z
output z, Y
END
turns 0 'z = 7
:load waits.ein
X = load("iota")
Y
z
:undo
:undo
z'
silent
answer 'Y is not computed yet: X has no value yet: type X = load("X.npy")
V is not computed yet: dim N has no value yet: type dim N = 8, or load an input that has it
u : i64 = 2
z : i64 = 1
Y[i:3] : f64
  0.0  1.0  2.0
z : i64 = 1
z : i64 = 7'
turns 1 ':load waits.ein
X = load("ones")
dim N = 2
W = load("ones")
Y
X = load("const:2")
Y'
says 'X is small'
answer "$(sed 4q out)
Y[i:3] : f64
  1.0  1.0  1.0"
{ echo 'output b'; seq -f 'n%g = a' 150; printf 'a = 1\nb\nc = zz\n'; } >wrong.ein
printf '%s\n' '"a = 5; b = a + 1"' '":load wrong.ein"' '"b"' '"c"' '":undo"' '"a"' '":save -"' >lines
want 0 "$EIN" repl --json <lines
[ "$(grep -o '"ok":[a-z]*\|E070\|wrong.ein:[0-9]*\|b : i64 = [0-9]*' out | tr '\n' ' ')" = \
  '"ok":true "ok":false b : i64 = 2 wrong.ein:154 E070 "ok":true b : i64 = 6 "ok":false E070 "ok":true "ok":true "ok":true ' ] ||
  wrong "$(cat out)"

printf '%s\n' '"a = 5"' '":save -"' >lines
want 0 "$EIN" repl --json <lines
shows '{"ok":true,"text":"a = 5\noutput a\n","values":[]}'
turns 0 'a = 5
:save -'
answer 'a = 5
output a'

# A disk that is full is told, and the session ends.
if [ -w /dev/full ]; then
  printf '1 + 1\n:write nosuch x.npy\n' >lines
  want 4 sh -c '"$0" repl <lines >/dev/full' "$EIN"
  says 'cannot write to standard output: No space left on device'
  grep -q nosuch err && wrong "it continues: $(cat err)"
  printf '"1 + 1"\n' >lines
  want 4 sh -c '"$0" repl --json <lines >/dev/full' "$EIN"
  says 'cannot write to standard output: No space left on device'
fi

# Behind a NUL nothing is read, so it is refused, wherever it comes from.
printf '1+1\n1+1\0 + 40\n' >lines
want 1 "$EIN" repl <lines
says '<stdin>:2:4: error[E002]: a NUL byte'
answer 'i64 = 2'
printf 'a = 1\nb = (\0 2)\n' >nul.ein
want 1 "$EIN" repl nul.ein </dev/null
says 'nul.ein:2:6: error[E002]: a NUL byte'
printf ':quit\0\n' >lines
want 1 "$EIN" repl <lines
printf '"1"\0 2\n\0\n"3"\n' >lines
want 0 "$EIN" repl --json <lines
[ "$(grep -c '"ok":false' out)" = 2 ] && [ "$(wc -l <out)" = 3 ] || wrong "$(cat out)"

# Standard input is what the prompt reads anyway.
turns 0 'a = 6
a' -
silent
answer 'a : i64 = 6'
turns 1 ':load -'
says "standard input is where the prompt's own lines come from"

# A size without a value is told as it is written.
turns 0 'dim N, M
input X[i:N, j:2*N, k:M*M+N-1]
Y[i,j,k] = X[i,j,k]
:type Y
:type Y[i,j,k] * 2
:shape sum[k] Y[i,j,k]
:vars'
silent
answer 'Y[i:N, j:2*N, k:M*M+N-1] : f32
[i:N, j:2*N, k:M*M+N-1] : f32
[i:N, j:2*N] : f32
dim N
dim M
X  no value yet
Y[i:N, j:2*N, k:M*M+N-1] : f32  not computed yet'

# A load that does not stand alone.
for e in 'A[i:4] = load("c.npy")' 'A = load("c.npy") * 2' 'load("c.npy")' 'b = 1; A = load("c.npy" + 1' ':type sum[i] load("c.npy")'; do
  turns 1 "$e"
  says 'error[E001]: a value is loaded by a line of its own'
  says '= help: `NAME = load("file")` stands alone on a line'
  grep -q 'ein run' err && wrong "$(cat err)"
done
turns 1 'a = 1; A[i:4] =
  2 * load("c.npy") * 2'
says '<stdin>:2:7: error[E001]: a value is loaded'
grep -q '^      |       ^^^^^^^^^^^^^$' err || wrong "$(cat err)"

# What does not fit any more is saved as a comment, and all else as a program that checks.
turns 0 'a[i:3] = i
b[i] = a[i]
c[i] =
  b[i] + 1
def f(x) = 2 * x
def g(x) = f(x)
assert sum[i] b[i] == 3, "three"
d = g(4)
a[i:2,j:2] = i
def f(x, y) = x * y
e = f(1, 2)
:save misfits.ein
e'
silent
answer 'b does not fit what it uses any more: in misfits.ein it is a comment
c does not fit what it uses any more: in misfits.ein it is a comment
an assert does not fit what it uses any more: in misfits.ein it is a comment
d does not fit what it uses any more: in misfits.ein it is a comment
e : i64 = 2'
grep -A2 'does not fit' misfits.ein | grep -q '^#   b\[i\] + 1' || wrong "$(cat misfits.ein)"
want 0 "$EIN" check misfits.ein
want 0 "$EIN" run misfits.ein
shows 'a[i:2, j:2]'
mkdir apart
: >apart/ein.root
turns 0 'use "sub/lib.ein"
a = tw(3)
:save apart/k.ein'
shows 'apart/k.ein is saved, but is no program that runs: '
shows '../sub/lib.ein lies outside of the project'

# The C, the plan and the time of an expression; files of all kinds; commands that there are not.
turns 0 'A[i:2,j:3] : f64 = 3*i + j
:c 2 * A[i,j]
:plan 2 * A[i,j]
:bench sum[i,j] A[i,j]
:write A a.npy
:write A a.raw
:write A a.safetensors'
silent
shows 'const ein_model program_model = {'
shows 'it[i,j] = 2.0 * A[i,j]'
grep -Eq '^median .*  least .*  most .*  of [0-9]+ runs$' out || wrong "a time is told otherwise: $(tail -n 1 out)"
for form in npy safetensors; do
  turns 0 "A = load(\"a.$form\")
A[1,2]"
  shows 'f64 = 5.0'
done
[ "$(wc -c <a.raw)" = 48 ] || wrong "six doubles take $(wc -c <a.raw) bytes"
for typed in ':write A a.txt' ':frobnicate' ':' ':plt A'; do
  turns 1 "A[i:2] = i
$typed"
  case $typed in
    *txt) says 'a.txt: what kind of file is that? tensors go to .npy, .raw or .safetensors' ;;
    :f*) says 'there is no command :frobnicate; :help lists them' ;;
    :) says 'a command follows `:`; :help lists them' ;;
    *) says 'there is no command :plt; did you mean :plot?' ;;
  esac
done
finish
