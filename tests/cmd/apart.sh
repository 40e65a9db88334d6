#!/bin/sh
# suite: ci
# What is run or built is compiled without the runtime, which was compiled once, with ein; unless its flags or texts are others. The cache
# is for many at once.
. "$(dirname "$0")/common"
turn 3
XDG_CACHE_HOME=$work/cache
export XDG_CACHE_HOME

cat >one.ein <<'END'
dim N
input A[i:N] : f32
output C[i] = A[i] * 2.0 + f32(i)
output D = sum[i] A[i]
END
run() { want 0 "$EIN" run one.ein --target=c -D N=1000 A=fill "$@"; }
linked() { grep -q ein_rt_apart.so cache/ein/*; }

run --flags=-O1
cp out wanted
apart=no
if linked; then apart=yes; fi
[ $apart = yes ] || [ ! -e "$(dirname "$EIN")/runtime/ein_rt_apart.so" ] || wrong "the runtime was compiled again"

# ---- flags that the runtime has to know of, and other sources: all in one
same() {
  cmp -s out wanted || wrong "$1: other outputs"
  if linked; then wrong "$1: linked with a runtime of other flags or sources"; fi
}
for flags in "-O1 -DEIN_PTHREADS -pthread" "-O1 -fopenmp" "-O1 -fno-openmp -DEIN_WORTH_THREADS=1"; do
  rm -rf cache
  run "--flags=$flags"
  same "$flags"
done
rm -rf cache

# ---- so with programs; and beside an ein of one runtime there may lie another one's, compiled
one() { # TEXT LOG: how many texts the compiler is given
  want 0 "$EIN" build one.ein -o one "$1" --cc="$work/cc.sh"
  want 0 ./one -D N=1000 A=fill
  cmp -s out wanted || wrong "a program, $1: other outputs"
  [ "$(grep -o '[^ ]*\.c\b' log | wc -l)" = "$2" ] || wrong "a program, $1: not $2 texts: $(cat log)"
}
printf '#!/bin/sh\necho "$@" >"%s/log"\nexec %s "$@"\n' "$work" "${CC:-cc}" >cc.sh
chmod +x cc.sh
[ $apart = yes ] && one --flags=-O1 1
one "--flags=-O1 -DEIN_ONE" 2
mkdir -p moved/runtime
cp "$EIN" moved/ein
for f in ein.source runtime/ein_rt_apart.so runtime/ein_program.a; do
  at=$(dirname "$EIN")/$f
  [ -e "$at" ] && sed 's/ein runtime [0-9a-f]*/ein runtime 0123456789abcdef/' "$at" >moved/$f
done
ours=$EIN
EIN=$work/moved/ein
EIN_STDLIB=$here/../../stdlib
export EIN_STDLIB
rm -rf cache
run --flags=-O1
same "another runtime"
one --flags=-O1 2
EIN=$ours

# ---- eight at once, of an empty cache and of one that is spoiled
eight() {
  for i in 1 2 3 4 5 6 7 8; do
    { "$EIN" run one.ein --target=c -D N=1000 A=fill --flags=-O1 >"out$i" 2>"err$i"; echo $? >"code$i"; } &
  done
  wait
  for i in 1 2 3 4 5 6 7 8; do
    [ "$(cat "code$i")" = 0 ] || wrong "$1: process $i ended with $(cat "code$i"): $(cat "err$i")"
    cmp -s "out$i" wanted || wrong "$1: process $i has other outputs"
  done
  [ "$(ls -A cache/ein | wc -l)" = 1 ] || wrong "$1: the cache has more than one file: $(ls -A cache/ein)"
}
rm -rf cache
eight "an empty cache"
entry=$(ls cache/ein/*)
head -c 5000 "$entry" >cut
cat cut >"$entry"
eight "a spoiled cache"
run --flags=-O1
silent
finish
