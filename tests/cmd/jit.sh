#!/bin/sh
# suite: ci
# Clang in process: the bits of the C compiler's, with no other program run; a cache that others have damaged, cannot be written, or is
# used by eight at once; and what happens where it is switched off.
. "$(dirname "$0")/common"
XDG_CACHE_HOME=$work/cache
export XDG_CACHE_HOME

cat >soft.ein <<'END'
dim N
input X[n:N, k:100] : f32 = normal[n, k](1)
output Y[n, k] = softmax[k](X[n, k])
output best[n] = argmax[k] X[n, k]
END
cat >product.ein <<'END'
input A[i:70, j:65] : f32 = normal[i, j](1)
input B[j:65, k:90] : f64 = normal[j, k](2)
output C[i, k] = sum[j] A[i, j] * f32(B[j, k])
output H[i] = f16(sum[k] exp(C[i, k]))
END
cat >gather.ein <<'END'
input A[i:3] : f32
input idx[k:2] : i64
output Z[k] = A[idx[k]]
END
# Every half, NaNs with payloads too: Clang widens them in hardware, gcc by integers.
cat >halves.ein <<'END'
input h[i:512, j:128] : f16
output wide[i, j] = f32(h[i, j])
output transposed[j, i] = 2 * f32(h[i, j])
output total[i] = sum[j] h[i, j]
END
LC_ALL=C awk 'BEGIN { for (k = 0; k < 65536; k++) printf "%c%c", k % 256, int(k / 256) }' >halves.raw
[ "$(wc -c <halves.raw)" = 131072 ] || wrong "awk does not write bytes"

# ---- switched off: it is said once, and the C compiler does it
for p in "soft.ein -D N=77" product.ein mat.ein "halves.ein h=halves.raw"; do
  name=${p%%.ein*}
  want 0 "$EIN" run $p --target=c --flags="-O1 -march=native" -o all="$name.c/"
done
want 0 env EIN_JIT=off "$EIN" run mat.ein --target=jit -o all=mat.off/
says "Clang is not in this ein, or switched off; "
[ "$(wc -l <err)" = 1 ] || wrong "it is said more than once"
diff -r mat.c mat.off || wrong "switched off: other outputs"
want 0 env EIN_JIT=off "$EIN" doctor
shows "Clang in process   not built, or switched off"
want 2 "$EIN" bench mat.ein --target=eval
want 0 "$EIN" doctor
if grep -q "Clang in process *not built" out; then finish; fi

# ---- the same bits, with other flags too; no program is there that could be run
jit() { want 0 env PATH=/nowhere "$EIN" run "$@" --target=jit; }
for p in "soft.ein -D N=77" product.ein mat.ein "halves.ein h=halves.raw"; do
  name=${p%%.ein*}
  for flags in "" "-O1 -march=native" "-O3 -march=native" "-O2 -march=native -DEIN_PTHREADS -pthread"; do
    rm -rf now
    if [ "$flags" ]; then jit $p -o all=now/ --flags="$flags"; else jit $p -o all=now/; fi
    silent
    diff -r "$name.c" now || wrong "$name: other bits than by the C compiler ($flags)"
  done
done
want 1 "$EIN" run gather.ein --target=jit A=ones idx=const:3
says "gather.ein"
want 0 "$EIN" verify product.ein --target=jit
shows "  jit -O2 -march=native"
want 0 "$EIN" bench mat.ein --target=jit --reps 1
want 4 "$EIN" run mat.ein --target=jit --flags=-fno-such-flag
says "Clang did not take what ein wrote"

# ---- it is what runs a program if nothing is said; with no compiler at all the evaluator does, which is told
unset EIN_TARGET
rm -rf cache now
want 0 env PATH=/nowhere "$EIN" run soft.ein -D N=77 -o all=now/
silent
diff -r soft.c now || wrong "without a target: other bits"
ls cache/ein/kernel-*.o >/dev/null || wrong "without a target: not by Clang"
want 0 env EIN_TARGET=c "$EIN" run mat.ein
ls cache/ein/program-*.so >/dev/null || wrong "EIN_TARGET=c: not by the C compiler"
want 0 env EIN_JIT=off PATH=/nowhere "$EIN" run mat.ein -o all=now/
says "no Clang in this ein, and no C compiler: the reference evaluator runs it"
[ "$(wc -l <err)" = 1 ] || wrong "it is said more than once"
want 0 env EIN_JIT=off "$EIN" run mat.ein -o all=now/
silent
labels=
for i in $(seq 300); do labels="$labels,l$i:1"; done
echo "output Z = sum[i:3] sum[${labels#,}] exp(0.5 * f64(i + l1 + l300))" >wide.ein
want 0 "$EIN" run wide.ein
says "301 labels, more than what is compiled may have: the reference evaluator runs it"
cp out now.out
want 0 "$EIN" run wide.ein --target=eval
cmp -s out now.out || wrong "too wide: other outputs"
# ---- so is a plan for several sites
rm -rf cache
want 0 "$EIN" run soft.ein -D N=77 -n 3
[ -n "$(find cache/ein -name '*.so' -o -name '*.o')" ] || wrong "several sites: not compiled"

# ---- what it makes of kernels, to read
cat >lines <<'END'
A[i:70, j:65] : f32 = i - j
B[j:65, k:90] : f32 = 2 * j + k
C[i,k] = sum[j] A[i,j] * B[j,k]
END
for sites in 1 3; do
  (cat lines && echo ":sites $sites" && echo ':asm exp(C[i,k])') >asked
  want 0 env PATH=/nowhere "$EIN" repl <asked
  shows '# kernel C'
  [ "$(uname -m)" != x86_64 ] || grep -qE '^	v?(fmadd|mul[sp]s)' out || wrong "no product in the assembly"
  (cat lines && echo ":sites $sites" && echo ':ll exp(C[i,k])') >asked
  want 0 env PATH=/nowhere "$EIN" repl <asked
  shows '; kernel C'
  shows 'define internal void @'
  shows 'fma'
done
want 1 "$EIN" repl --target=c <asked
says 'it takes Clang in this process, --target=jit; ein doctor tells whether this ein has it'
want 1 "$EIN" repl --target=eval <asked
says '--target=eval is nothing that compiles; c and jit are'

# ---- a session has it opened before anything is asked; not one that computes otherwise, or in workers
if [ -r /proc/self/maps ]; then
  mkfifo keys
  opens() { # WANTED OPTION...: whether it does within so many tenths of a second
    wanted=$1
    shift
    "$EIN" repl --json "$@" <keys >answers 2>err &
    session=$!
    exec 3>keys
    i=0
    while [ $i -lt "$wanted" ] && ! grep -q ein_jit.so /proc/$session/maps; do i=$((i + 1)); sleep 0.1; done
    grep -q ein_jit.so /proc/$session/maps
    found=$?
    exec 3>&-
    wait $session || wrong "repl $*: the session ended with $?"
    return $found
  }
  opens 100 --target=jit || wrong "a session does not open Clang ahead"
  opens 5 --target=jit --isolate && wrong "a session with workers opens Clang"
  opens 5 --target=eval && wrong "a session with the evaluator opens Clang"
  for i in 1 2 3; do want 0 "$EIN" repl --json --target=jit </dev/null; done
fi

# ---- a plugin that cannot be opened is as if it were switched off
dir=$(dirname "$EIN")
if [ -e "$dir/codegen/jit/ein_jit.so" ]; then
  mkdir -p other/codegen/jit other/runtime
  cp "$EIN" "$dir/ein.source" other/
  cp "$dir/runtime/ein_rt_apart.so" other/runtime/ 2>/dev/null
  echo nothing >other/codegen/jit/ein_jit.so
  rm -rf mat.off
  want 0 other/ein run mat.ein --target=jit -o all=mat.off/
  says "its Clang cannot be opened; "
  diff -r mat.c mat.off || wrong "a broken plugin: other outputs"
fi

# ---- the cache
run() { want 0 "$EIN" run mat.ein --target=jit "$@"; }
rm -rf cache
run
cp out wanted
entry=$(ls cache/ein/kernel-* | head -n 1)
size=$(wc -c <"$entry")
cp "$entry" good
run -v
says "0 compiled now"
whole() {
  cmp -s out wanted || wrong "$1: other outputs"
  says "is damaged: compiled anew"
  run
  silent
}
for n in 0 1 64 $((size / 2)) $((size - 1)); do
  head -c "$n" good >"$entry"
  run
  whole "cut to $n bytes"
done
for at in 20 70 $((size / 2)); do
  { head -c "$at" good; printf '\377\001\377'; tail -c +$((at + 4)) good; } >"$entry"
  run
  whole "changed at $at"
done
head=$(ls cache/ein/head-*)
rm "$entry"
head -c 5000 "$head" >cut && cat cut >"$head"
run
whole "what is parsed ahead is cut"

rm -rf cache
full=$(ulimit -f 0 && "$EIN" run mat.ein --target=jit 2>&1)
[ "$full" = "$(cat wanted)" ] || wrong "a full disk: $full"

eight() {
  for i in 1 2 3 4 5 6 7 8; do
    { "$EIN" run mat.ein --target=jit >"out$i" 2>"err$i"; echo $? >"code$i"; } &
  done
  wait
  for i in 1 2 3 4 5 6 7 8; do
    [ "$(cat "code$i")" = 0 ] || wrong "$1: process $i ended with $(cat "code$i"): $(cat "err$i")"
    cmp -s "out$i" wanted || wrong "$1: process $i has other outputs"
  done
}
rm -rf cache
eight "an empty cache"
entry=$(ls cache/ein/kernel-* | head -n 1)
head -c 100 good >"$entry"
eight "a spoiled cache"
run
silent
nobody() { "$@"; }
if [ "$(id -u)" = 0 ]; then
  command -v setpriv >/dev/null && nobody() { setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }
  chmod 755 "$work"
fi
chmod -R a+rX cache
chmod 555 cache/ein
if ! nobody test -w cache/ein && nobody test -x "$EIN"; then
  want 0 nobody "$EIN" run mat.ein --target=jit
  cmp -s out wanted || wrong "a cache that cannot be written: other outputs"
fi
chmod 755 cache/ein
finish
