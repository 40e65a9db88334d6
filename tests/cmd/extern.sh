#!/bin/sh
# suite: ci
# extern def: C functions of scalars, in the evaluator, in compiled code, on several sites, in programs and libraries; and the messages for wrong ones.
. "$(dirname "$0")/common"

mkdir sub
cat >sub/more.c <<'END'
#include <stdint.h>
#include "more.h"
double shifted(double x, int32_t by) { return x + SCALE * by; }
float mine(float a, int64_t k, _Bool minus) { return minus ? -a : a * 10 + (float)k; }
END
echo '#define SCALE 100' >sub/more.h
cat >sub/own.ein <<'END'
extern def shifted(x : f64, by : i32) : f64 = "shifted" from "more.c"
extern def mine(a : f32, k : i64, minus : bool) : f32 = "mine" from "more.c" cost 70
END
cat >prog.ein <<'END'
use "sub/own.ein"
extern def root(x : f64) : f64 = "cbrt"
extern def far(a : f64, b : f64) : f64 = "fdim" from "-lm"
dim N = 12
monoid most(a, b) = far(a, b) + b identity 0
def twice(x) = root(x) + root(x)
input X[i:N] : f64 = (i * i) * (i % 2)
output A[i] = X[i]
output Y[i] = twice(X[i]) + shifted(X[i], 2)
output S = sum[i where i > 2] mine(X[i], i, i % 3 == 0)
output M = most[i](X[i])
output T[i] = if X[i] > 0 then 1 / root(X[i]) else 0
repeat t < 3 {
  state z[i:N] : f64 = X[i]
  next z[i] = root(z[i]) + t
}
output z
output G[i:9] = X[i64(root(f64(i)))] ?? 0
END
want 0 "$EIN" check prog.ein
silent
want 0 "$EIN" run prog.ein --target=eval -o all=eval/
for how in --target=c --target=jit "--target=c -n 3" "--target=jit -n 3" "--target=eval -n 4" "--target=eval --roundtrip" "--target=c --roundtrip"; do
  want 0 "$EIN" run prog.ein $how -o all=other/
  for x in Y M T z G S; do cmp -s eval/$x.npy other/$x.npy || wrong "$x is another with $how"; done
done
want 0 "$EIN" run prog.ein --target=eval
shows "M : f64 = 121.0"
want 0 "$EIN" verify prog.ein
want 0 "$EIN" verify prog.ein --flags=-O0

# texts between the passes give the same values
for text in graph optimised task loop; do
  end=$text
  [ $text = optimised ] && end=graph
  want 0 "$EIN" build prog.ein --stop=$text -o x.$end
  want 0 "$EIN" run x.$end --target=c -o all=other/
  cmp -s eval/Y.npy other/Y.npy || wrong "Y is another from $text"
done
want 0 "$EIN" build prog.ein -n 3 --stop=ia -o x.ia
want 0 "$EIN" run x.ia X=eval/A.npy -o all=other/
cmp -s eval/Y.npy other/Y.npy || wrong "Y is another from ia"
grep -q '^extern mine(f32, i64, bool) : f32 = "mine" from "sub/more.c" cost 70 ' x.graph || wrong "the line of the graph's text"

# a changed source is another function
sed -i 's/100/1000/' sub/more.h
want 0 "$EIN" run prog.ein --target=c -o all=other/
cmp -s eval/Y.npy other/Y.npy && wrong "an old source was kept, by the C compiler"
want 0 "$EIN" run prog.ein --target=jit -o all=jit/
cmp -s jit/Y.npy other/Y.npy || wrong "an old source was kept, by the JIT"

# a cost affects the plan
for cost in 1 1000; do
  echo "extern def f(x : f64) : f64 = \"cbrt\" cost $cost
input X[i:1000] : f64
output Y[i] = f(X[i])" >cost$cost.ein
  want 0 "$EIN" plan cost$cost.ein --format=json
  mv out cost$cost.json
done
cmp -s cost1.json cost1000.json && wrong "the cost of a function counts nowhere"

# programs and libraries
want 0 "$EIN" build prog.ein -o prog --flags=-O0
want 0 ./prog
shows "M : f64 = 121.0"
want 1 "$EIN" build prog.ein --lib -o lib/
says "includes sub/more.h: what goes into a library is one file"
sed -i 's/#include "more.h"/#define SCALE 100/' sub/more.c
want 0 "$EIN" build prog.ein --lib -o lib/ --flags=-O0
grep -q "'prog_extern0_more.c'" lib/meson.build || wrong "the source is missing in meson.build"
nm lib/libprog.a | grep -q ' T shifted' || wrong "the archive lacks the function"
grep -q '"symbol": *"shifted"' lib/prog.json || wrong "the function is missing in the manifest"
want 0 "$EIN" build prog.ein --lib --shared -o shared/ --flags=-O0
echo 'extern def y0(x : f64) : f64 = "y0" from "-lm"
input X[i:3] : f64 = i + 1
output Y[i] = y0(X[i])' >bessel.ein
want 0 "$EIN" build bessel.ein --lib -o lib/ --flags=-O0
grep -q -- '-lbessel.* -lm' lib/bessel.pc || wrong "the library is missing in the pkg-config file"
want 2 "$EIN" build bessel.ein --prefix y0 -o prog
says "--prefix gives another"
(cd sub && ${CC:-cc} -c more.c && ar rcs libmore.a more.o)
for file in more.o libmore.a; do
  echo "extern def shifted(x : f64, by : i32) : f64 = \"shifted\" from \"sub/$file\"
output Y = shifted(2, 3)" >object.ein
  for target in eval c jit; do
    want 0 "$EIN" run object.ein --target=$target
    shows "Y : f64 = 302.0"
  done
  want 0 "$EIN" build object.ein -o object --flags=-O0
  want 0 ./object
  shows "Y : f64 = 302.0"
  want 1 "$EIN" build object.ein --lib -o lib/
  says "not from sub/$file"
done

# messages name places in the program
refused() { # TEXT DECLARATION
  echo "$2
output Y[i:3] = f(i)" >wrong.ein
  want 1 "$EIN" run wrong.ein
  says "$1"
  want 1 "$EIN" run wrong.ein --target=c
  says "$1"
  want 1 "$EIN" build wrong.ein -o wrong
  says "$1"
}
refused "wrong.ein:1:12: libc and libm have no function nobody_has_it" 'extern def f(x : f64) : f64 = "nobody_has_it"'
refused "wrong.ein:1:12: there is no function other in sub/more.c" 'extern def f(x : f64) : f64 = "other" from "sub/more.c"'
refused "wrong.ein:1:12: there is no file sub/none.c" 'extern def f(x : f64) : f64 = "other" from "sub/none.c"'
refused "wrong.ein:1:12: prog.ein is no C source, object" 'extern def f(x : f64) : f64 = "other" from "prog.ein"'
refused "wrong.ein:1:" 'extern def f(x : f64) : f64 = "shifted" from "sub/more.c"'
refused "wrong.ein:1:12: the C function f does not compile as it is declared" 'extern def f(x : f64) : f32 = "erf"'
echo 'double other(double x) { return x +; }' >sub/broken.c
refused "sub/broken.c:1:36" 'extern def f(x : f64) : f64 = "other" from "sub/broken.c"'
want 1 "$EIN" build prog.ein --target=cuda --emit=cuda
says "is a C function, and a device cannot call it"

# at the prompt
printf 'extern def root(x : f64) : f64 = "cbrt"\noutput y = root(27)\n' >session
want 0 "$EIN" repl <session
shows "3.0"
finish
