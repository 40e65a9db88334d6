#!/bin/sh
# suite: ci
# Sums that go in parts (compiler/task/passes/split.c): which loops threads share, and the same bits for any number of them.
. "$(dirname "$0")/common"
XDG_CACHE_HOME=$work/cache
export XDG_CACHE_HOME
O=--flags=-O1
FROM="A=uniform:seed=3 B=randn:seed=4 X=randn:seed=5"

cat >parts.ein <<'END_OF_PROGRAM'
dim K
input A[i:64,k:K], B[k:K,j:64] : f32
input X[n:300000] : f32
output C[i,j] = sum[k] A[i,k] * B[k,j]
output most[i,j] = max[k](A[i,k] - B[k,j])
output late[i,j] = sum[k where k > 3*i] B[k,j] * A[i,k]
output length = sum[n] X[n] * X[n]
END_OF_PROGRAM

# same TEXT WORD...: for all numbers of threads
same() {
  for threads in 1 2 3 4; do
    # shellcheck disable=SC2086
    want 0 "$EIN" run "$@" $O --threads $threads $FROM -o all=$threads/
    for f in C most late length; do
      cmp -s $threads/$f.npy 1/$f.npy || wrong "$*: $f is not the same with $threads threads as with one"
    done
  done
}

# The size known or not: two orders of summing, neither of which hangs on threads.
want 0 "$EIN" build parts.ein --stop=loop -o open.loop
for K in 8192 9001 1023 3; do
  want 0 "$EIN" build parts.ein -D K=$K --stop=loop -o known.loop
  same known.loop
  same open.loop -D K=$K
done

# loops NAME LINE...: the kernel's loops for threads, as they stand
loops() {
  name=$1
  shift
  sed -n "/^kernel $name /,/^}/p" known.loop | grep ' thread {$' | sed 's/^ *//' >got
  printf '%s\n' "$@" | cmp -s - got || wrong "kernel $name of K=$K: $(cat got)"
}
K=8192
want 0 "$EIN" build parts.ein -D K=$K --stop=loop -o known.loop
loops C_part 'for i < 8 thread {'
loops most_part 'for i < 8 thread {'
loops late_part 'for i < 8 thread {'
loops length_part 'for part < 6 thread {'
grep -q '^ *stage C.part\[part:8, i:64, j:64\]' known.loop || wrong "C is not in parts of 1024"
grep -q '^ *C_part\[i, ' known.loop || wrong "nothing is stored for a part"
grep -q '^  how "parts of 1024 k for threads"$' known.loop || wrong "the text does not say so"
K=4095 # not long enough
want 0 "$EIN" build parts.ein -D K=$K --stop=loop -o known.loop
grep -q 'C.part' known.loop && wrong "a short sum is in parts"
finish
