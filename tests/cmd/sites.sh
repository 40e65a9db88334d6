#!/bin/sh
# suite: ci
# Runs plans: every program of tests/run on 2, 3, 4 or 7 sites, as C, gives what its comments expect. Its sites receive at most as many bytes as the
# plan predicts: exactly as many unless predicates over data leave something out, or something is fetched; and always as many as in the evaluator.
# Then under mpirun, all programs for a number of sites in one launch, which receive the same. If EIN_TURN is a number, it selects: of every eight
# programs, one is tested as described, one is compiled by Clang in process, which takes half as long, without mpirun, and six are skipped.
. "$(dirname "$0")/common"
root=$(cd "$here/../.." && pwd)
XDG_CACHE_HOME=$work/cache
export XDG_CACHE_HOME
unset EIN_MACHINE

i=0 ran=0 fewer=0
for f in "$root"/tests/run/*.ein; do
  i=$((i + 1))
  case $((i % 4)) in 0) n=2 ;; 1) n=3 ;; 2) n=4 ;; *) n=7 ;; esac
  grep -q 'expect-error' "$f" && continue
  by=c
  if ! mine $((i / 4)) 8; then
    mine $((i / 4 + 1)) 8 || continue
    by=jit
  fi
  "$EIN" run "$f" --expect -n $n --target=$by --flags=-O0 -v >out 2>err
  code=$?
  if [ $code != 0 ]; then
    grep -qE 'no value for dim|a plan is of one size|is not given, and has no default' err && continue
    wrong "$(basename "$f") on $n sites: $(grep -m 1 error err)"
    continue
  fi
  ran=$((ran + 1))
  plan=$(sed -n "s/.*: the plan's sites receive \([0-9]*\) bytes/\1/p" err)
  counted=$(sed -n 's/.*: [0-9]* sites received \([0-9]*\) bytes/\1/p' err)
  [ -z "$counted" ] && [ "$plan" = 0 ] && counted=0
  [ $by = jit ] || echo "$f $counted" >>moved-$n
  [ "$counted" -le "$plan" ] || wrong "$(basename "$f") on $n sites: received $counted bytes, planned were $plan"
  [ "$counted" = "$plan" ] && continue
  fewer=$((fewer + 1))
  "$EIN" run "$f" -n $n --target=eval -v >out 2>err || wrong "$(basename "$f") on $n sites: $(grep -m 1 error err)"
  grep -q ": $n sites received $counted bytes" err || wrong "$(basename "$f"), $n sites received $counted bytes: $(grep ' sites received' err)"
done
[ $((ran ${EIN_TURN:+* 4})) -ge 260 ] || wrong "only $ran programs ran"
[ $fewer -le 12 ] || wrong "$fewer programs moved less than planned"
echo "$ran programs ran; $fewer moved less than planned"

(mpi_ready) || finish
mpi_ready
for n in 2 3 4 7; do
  # shellcheck disable=SC2046
  timeout 300 mpirun -n $n "$EIN" run --expect --flags=-O0 -v $(cut -d' ' -f1 moved-$n) >out 2>err || {
    wrong "on $n ranks not all programs keep what they expect"
    grep -A2 error err | head -20
  }
  sed -n "s/^ein: \(.*\): $n sites received \([0-9]*\) bytes$/\1 \2/p" err >counted
  diff moved-$n counted || wrong "on $n ranks other bytes are received than by $n threads"
done

# An index that is out of range where places are asked for: no site has such a place, so nobody knows more of it than that.
cat >asked.ein <<'END'
input E[v:100] : f64
input w[n:4] : i64
output A[n] = E[w[n]]
END
printf 'output w[n:4] = if n == 2 then 5000 else n*10\n' >w.ein
want 0 "$EIN" run w.ein -o w=w.npy
want 1 "$EIN" run asked.ein -n 4 E=ones w=w.npy --target=c --flags=-O0
says 'site 2: an index of E, read for A: it is out of range (asked.ein:3)'
want 1 "$EIN" run asked.ein -n 4 E=ones w=w.npy --target=eval
says 'asked.ein:3:8: kernel 1 A: at site 2 an index is out of range'
# An index that is read at places which are all known, beside one that is fetched: always in range. This ran without end.
cat >known.ein <<'END'
dim N = 3, M = 20, K = 2
def both[j](x) {
  s = sum[j] x
  (s - x, max[j] x * 2 - x)
}
def twice[j](x) {
  a, b = both[j](x)
  a + 2 * b
}
input I0[j:M] : f32 = f32((j + 1) * 3 % 11 - 2)
input I1[j:N, i:N] : i16 = i16((6 * j + 2 * i + 5) * 7 % 13)
output H1[i:M, c:3] = i32(i64(I0[i]) * i64(I0[i]) % 100 == c)
output X3[q:N] = (max(i64(I1[q // 2, 2 * q] ?? -1), q)) % 10
T4[q:N] = (X3[q] * 2 - i64((H1[(q + 0) % M, 2 * q] ?? 2)))[q = N - 1 - q]
output X5[l:K, k:M, p:4] = i64(I0[k]) % 50
T6[l:K, k:M, p:4] = (twice[p where (i64(I0[k]) < i64(X5[l, k, p]))](X5[l, k, p])) ?? 3
T7 = f64((i64(H1[(3) % M, (i64(X5[i64((T6[(i64(X3[1] ?? -1)) % K, i64(H1[1, 0] ?? 2), 1] ?? 2)), ((i64(I1[N - 1, 1] ?? 0)) // M), 0] ?? 1)) % 3] ?? -1)) % 8)
output H10[i:N, c:M] = f32(((if (i64((T4[N - 1] ?? -1)) != N) then i64(T4[i // 3]) else i64(T7))) % 50 == c)
END
want 0 "$EIN" run known.ein --target=eval
cp out one
want 0 timeout 100 "$EIN" run known.ein -n 3 --target=eval
cmp -s one out || wrong "an index at known places is another on three sites"
# What is too large is told by its name and bytes.
echo 'output y[i:300000, j:10000] = i + j' >large.ein
want 1 "$EIN" run large.ein -n 4 --target=eval
says 'y would take 6000000000 bytes at a site; the limit of the evaluator is 2147483648'
finish
