#!/bin/sh
# suite: ci
# ein build: programs, C, the texts on the way, and what is refused.
. "$(dirname "$0")/common"
XDG_CACHE_HOME=$work/cache
export XDG_CACHE_HOME
: "${CC:=cc}"
O=--flags=-O0

# ---- a program
want 0 "$EIN" build sum.ein -o sum $O
silent
want 0 ./sum -D N=4 X=iota
cp out program
want 0 "$EIN" run sum.ein -D N=4 X=iota
cmp -s out program || wrong "the program shows its outputs otherwise than ein run"
want 0 ./sum --help
shows "X              f32 [i:N]"
shows "sizes: N"
want 0 ./sum --version
shows "sum.ein"
want 0 ./sum -DN=3 X=ones -o Y=y.npy -o S=s.safetensors:total
silent
want 0 "$EIN" einsum "i->i" y.npy
shows "2.0  2.0  2.0"
want 0 ./sum X=y.npy -o all=outs/ --threads 2
want 0 cmp outs/Y.npy outs/Y.npy
want 0 ./sum X=y.npy --threads=1 -o Y=/dev/null
shows "S : f32 = 6.0"
want 2 ./sum X=iota
says "no value for size N"
want 2 ./sum -D N=4
says "input X is not given"
want 2 ./sum -D M=4 X=iota
want 2 ./sum -D N=-4 X=iota
want 2 ./sum -D N=4 Z=iota
want 2 ./sum -D N=4 X=iota -o Y=y.txt
want 2 ./sum -D N=4 X=iota -o all=one.npy/ -o Y=one.npy/S.npy
want 2 ./sum --threads 0 -D N=4 X=iota
want 2 ./sum --nothing
want 2 ./sum X=iota X=ones -D N=4
says "X is given twice: iota and ones"
want 2 ./sum -D N=4 -D N=5 X=iota
want 0 ./sum -D N=4 X=iota -o Y=first.npy -o Y=second.npy -o all=third/
silent
cmp first.npy second.npy && cmp second.npy third/Y.npy || wrong "an output is written to only one place"
want 0 env OMP_NUM_THREADS=1,2 ./sum -D N=4 X=iota
if $CC -fsanitize=address,undefined -x c /dev/null -shared -o /dev/null 2>err; then
  want 0 "$EIN" build sum.ein -o clean "--flags=-O0 -g -fsanitize=address,undefined -fno-sanitize-recover=all"
  want 0 ./clean -D N=100000 X=iota -o Y=clean.npy -o S=s.safetensors:total --threads 2
  silent
  want 0 ./clean X=ones -D N=3
  want 0 ./clean --help
  want 2 ./clean X=iota
  # What a kernel keeps is not read beyond its ends, where a condition leaves that out.
  cat >kept.ein <<'END'
input A[a:1, b:32, d:1] : i8
input B[d:1, c:8] : i8
P[a,b,c] = sum[d] A[a,b,d] * B[d,c]
output Y[a:1, b:32, c:8] = P[a,b,c - 1] ?? 0
END
  want 0 "$EIN" build kept.ein -o kept "--flags=-O0 -g -fsanitize=address,undefined -fno-sanitize-recover=all"
  want 0 ./kept A=iota B=iota
fi
want 4 ./sum X=nowhere.npy
want 1 ./sum -D N=4 X=y.npy
says "N is 4 by -D, but 3 by axis 1 of y.npy"
want 4 sh -c './sum -D N=4 X=iota >/dev/full'
want 0 "$EIN" build mat.ein -o mat $O
want 0 ./mat
cp out program
want 0 "$EIN" run mat.ein
cmp -s out program || wrong "a default is another in the program"
want 0 "$EIN" build sum.ein -o sum4 -D N=4 $O
want 0 ./sum4 X=iota
shows "S : f32 = 6.0"
echo 'output B[i:100000] : i64 = i' >big.ein
want 0 "$EIN" build big.ein -o big $O
mkdir full
want 4 sh -c 'ulimit -f 8; ./big -o B=full/b.npy'
says "writing failed: the file is larger than the system allows"
[ -z "$(ls -A full)" ] || wrong "it leaves $(ls -A full)"
echo 'input P[i:3] : i64 = i + 2
input X[i:3] : f32 = i
output Y[i] = X[P[i]]
assert all[i] (Y[i] < 10), "all is small"' >gather.ein
want 0 "$EIN" build gather.ein -o gather $O
want 1 ./gather
says "gather.ein:3"
want 0 ./gather P=iota
want 1 ./gather P=iota X=20
says "all is small"

# ---- C
want 0 "$EIN" build sum.ein --emit=c -o -
cp out one.c
want 0 "$EIN" build sum.ein --emit=c -o again.c
cmp -s one.c again.c || wrong "the same program gives other bytes"
grep -q "$work" one.c && wrong "the C names a folder of this machine"
want 0 "$EIN" build sum.ein --emit=c -o text/ --prefix other
[ -f text/other.c ] && [ -f text/other.h ] || wrong "--emit=c into a folder writes .c and .h"
grep -q other_run text/other.h || wrong "--prefix is not heard"
want 0 "$EIN" build sum.ein --emit=header --prefix other
cmp -s out text/other.h || wrong "--emit=header is another header"
want 0 "$EIN" build sum.ein --emit=manifest
shows '"ein'
want 0 "$EIN" build sum.ein --emit=runtime -o ein_run.h
want 0 ${CC:-cc} -fsyntax-only again.c
want 2 "$EIN" build sum.ein --emit=header -o text/
says "--emit=header is one text"
want 2 "$EIN" build sum.ein --emit=c --prefix 1x
want 2 "$EIN" build sum.ein --emit=c --prefix while
want 2 "$EIN" build sum.ein --emit=fortran
want 2 "$EIN" build sum.ein --emit=c --target=cuda
says "--emit=cuda is the text for a device"
want 2 "$EIN" build sum.ein --emit=c --prefix math
echo 'int mine;' >text/sum.c
want 2 "$EIN" build sum.ein --emit=c -o text/
says "text/sum.c is there, and ein did not write it"
want 2 "$EIN" build sum.ein --lib -o text/ $O
[ "$(cat text/sum.c)" = 'int mine;' ] || wrong "a file of the user's is written over"
want 2 "$EIN" build sum.ein --lib -o sum.ein $O
says "would replace the program"
cp sum.ein there
want 4 "$EIN" build sum.ein --lib -o there $O
says "there is there, and no folder"
cp sum.ein alone.ein
want 2 "$EIN" build alone
says "did you mean alone.ein?"

# ---- texts
for stop in graph task loop; do
  want 0 "$EIN" build sum.ein --stop=$stop -o sum.$stop
  want 0 "$EIN" build sum.$stop --stop=$stop -o -
  cmp -s out sum.$stop || wrong "the text of a reread $stop is another"
  want 0 "$EIN" build sum.ein --stop=$stop --roundtrip -o -
  cmp -s out sum.$stop || wrong "--roundtrip changes the $stop"
  want 0 "$EIN" build sum.$stop --emit=c -o $stop.c
  sed "s/sum\.$stop/sum.ein/" $stop.c | grep -v 'source .*hash' >got.c
  grep -v 'source .*hash' one.c >want.c
  cmp -s got.c want.c || wrong "sum.$stop gives different C from sum.ein"
done
want 2 "$EIN" build sum.task --stop=graph
for stop in tra ia; do
  want 2 "$EIN" build sum.ein --stop=$stop
  says "ein build sum.ein -n 4 --stop=$stop"
  want 0 "$EIN" build sum.ein -D N=8 -n 4 --stop=$stop -o built.$stop
  want 0 "$EIN" plan sum.ein -D N=8 -n 4 --format=$stop -o sum.$stop
  cmp -s sum.$stop built.$stop || wrong "build and plan write other relations"
  want 2 "$EIN" build sum.$stop -o sum
  [ $stop = tra ] && says "sum.tra does not say where its relations are"
  [ $stop = ia ] && says "sum.ia is for 4 sites"
done
want 0 "$EIN" build sum.ein -D N=8 -n 4 --stop=loop --roundtrip -o four.loop
want 2 "$EIN" build sum.ein -D N=8 -n 4 -o sum
says "sum.ein is for 4 sites"
want 2 "$EIN" build four.loop -o sum
says "four.loop is for 4 sites"
want 2 "$EIN" build sum.ein -n 1 --stop=ia
want 2 "$EIN" build sum.ein --stop=plan
says "ein plan sum.ein -n 4 -o x.plan"
want 2 "$EIN" build sum.task --stop=task -D N=4
want 2 "$EIN" build sum.graph --stop=graph -D N=4
echo 'taskgraph 1
nonsense' >junk.task
want 1 "$EIN" build junk.task --stop=loop
echo 'no loop' >junk.loop
want 1 "$EIN" build junk.loop --stop=loop
want 4 "$EIN" build nowhere.task --stop=task

# ---- what is refused
want 2 "$EIN" build sum.ein
says "-o"
want 2 "$EIN" build sum.ein --lib
want 2 "$EIN" build sum.ein -o .
want 2 "$EIN" build sum.ein -o libsum.so
says "-o libsum.so would be a program; ein build sum.ein --lib --shared -o dir/ makes a library"
want 2 "$EIN" build sum.ein -o sum.c
says "-o sum.c would be a program; ein build sum.ein --emit=c -o sum.c writes its text"
want 2 "$EIN" build sum.ein --lib --emit=c -o x
want 4 "$EIN" build sum.ein -o nowhere/sum
want 4 "$EIN" build sum.ein -o sum --cc=no-such-compiler
says "no-such-compiler"
want 4 "$EIN" build sum.ein -o other $O --flags=-no-such-flag
says "the C compiler"
[ -e other ] && wrong "a failed build left something"
ls -a | grep -q '^\.ein-' && wrong "a folder for the build is left"

# ---- running at once
want 0 "$EIN" run sum.ein -D N=4 X=iota --target=c $O --threads 2
cp out c
want 0 "$EIN" run sum.ein -D N=4 X=iota --target=eval
cmp -s out c || wrong "--target=c shows other outputs"
want 0 "$EIN" run sum.ein -D N=5 X=iota --target=c $O -v
says "compiled before"
[ "$(ls cache/ein | grep -c ^program-)" = 1 ] || wrong "one program, one file in the cache"
for f in cache/ein/*; do echo junk >"$f"; done
want 0 "$EIN" run sum.ein -D N=5 X=iota --target=c $O
want 0 "$EIN" run sum.ein -D N=6 X=iota --target=c $O --flags=-O1
[ "$(ls cache/ein | grep -c ^program-)" = 2 ] || wrong "other flags are another file in the cache"
want 0 "$EIN" cache clear
[ "$(ls cache/ein | wc -l)" = 0 ] || wrong "the cache is not empty"
want 2 "$EIN" cache
chmod 777 cache/ein
want 0 "$EIN" run sum.ein -D N=4 X=iota --target=c $O
[ "$(ls cache/ein | wc -l)" = 0 ] || wrong "a folder that others may write is used"
want 1 "$EIN" run gather.ein --target=c $O
says "gather.ein:3"

# ---- an index that makes only a part of an equation fails all the same
printf '%s\n' 'input A[i:3, k:4] : f32' 'input idx[j:2] : i64' 'output Y[j] = if idx[j] >= 0 then 1 + sum[i] A[i, idx[j]] else -1' \
  'output Z[j] = (1 + sum[i] A[i, idx[j]]) ?? 5' >inner.ein
want 1 "$EIN" run inner.ein --target=c $O A=ones idx=4
says "index 2 of A, read for Y: 4 is out of range, its size is 4 (inner.ein:3)"
want 0 "$EIN" run inner.ein --target=c $O A=ones idx=const:-1
shows "-1.0  -1.0"
shows "5.0  5.0"
want 2 "$EIN" run sum.ein X=iota --target=c $O
says "-D N="
want 0 "$EIN" run sum.ein X=y.npy --target=c $O -o Y=z.npy
want 0 "$EIN" einsum "i->i" z.npy
shows "4.0"
finish
