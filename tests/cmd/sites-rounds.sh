#!/bin/sh
# suite: ci
# Long parts come in rounds, of slices: the bits are those of parts that come at once, and of the evaluator, and so are the bytes that are received.
# Of an all-reduce they are the plan's: each site combines a share.
. "$(dirname "$0")/common"
XDG_CACHE_HOME=$work/cache
export XDG_CACHE_HOME

cat >few.ein <<'END'
# Few results of long sums: what is cut is k, and parts of all results are combined.
dim I = 12, K = 602, J = 10
monoid lse(a, b) = if a == b then a + log(2) else max(a, b) + log1p(exp(-abs(a - b))) identity -inf
input A[i:I,k:K] : f32 = 0.1*((i*7 + k*3) % 11) - 0.37
input B[k:K,j:J] : f32 = 0.1*((j*5 + k*7) % 13) - 0.63
input G[k:K,e:9] : f16 = 0.1*((k*5 + e) % 17) - 0.8
output C[i,j] = sum[k] A[i,k]*B[k,j]
output M[i] : i64 = argmax[k] A[i,k]
output least[j] : i64 = argmin[k] (B[k,j] + 0.001*k)
output P[j] = prod[k] (1 + 0.01*B[k,j])
output L[i] = lse[k](A[i,k])
output H[e,f:9] = sum[k] G[k,e]*G[k,f]
output whole = sum[k,j] B[k,j]
END
# Values with places, and sums of rows that another axis of the mesh cuts; shares are uneven, and there are fewer rows than sites.
cat >all.task <<'END'
taskgraph 1
mesh 2 3
dim at0
dim at1
buffer %0 input 0 X[5, 7] : f32 low [(5 * $at1), (7 * $at0)]
buffer %1 output 0 Y[37] : i64 low [0]
buffer %2 output 1 Q[37] : i64 low [0]
buffer %3 output 2 Z[5, 7] : f32 low [0, (7 * $at0)]
buffer %4 output 3 one[] : i64 low []
buffer %5 work v[37] : i64 low [0] alive 0..2
buffer %6 work p[37] : i64 low [0] alive 1..2
buffer %7 work z[5, 7] : f32 low [0, (7 * $at0)] alive 3..4
buffer %8 work o[] : i64 low [] alive 5..6
input X = %0
output Y = %1
output Q = %2
output Z = %3
output one = %4
kernel 0 v outer 0 {
  stage v[i:37] : i64 = (((i * 31) + (17 * ((3 * $at0) + $at1))) % 53) to %5[i]
}
kernel 1 p outer 0 {
  stage p[i:37] : i64 = (i + (100 * ((3 * $at0) + $at1))) to %6[i]
}
move 2 all_reduce %5 at + + to %1 at * * by argmax:i64 places %6 to %2
kernel 3 z outer 0 {
  stage z[i:5, j:7] : f32 = %0[i, j] to %7[i, j]
}
move 4 all_reduce %7 at 1 + to %3 at 1 * by sum:f32
kernel 5 o outer 0 {
  stage o[] : i64 = ((3 * $at0) + $at1) to %8[]
}
move 6 all_reduce %8 at + + to %4 at * * by sum:i64
END

tried() { # FOLDER WORD...: outputs go there; gives the bytes that were received
  to=$1
  shift
  want 0 "$EIN" run -v "$@" -o all="$to/"
  bytes=$(sed -n 's/.*: [0-9]* sites received \([0-9]*\) bytes/\1/p' err)
}

alike() {
  for f in once/*.npy; do cmp -s "$f" "rounds/${f#once/}" || wrong "$1: ${f#once/} has other bytes when parts come in rounds"; done
}

for n in 2 3 7; do
  tried once few.ein -n $n --target=c --flags=-O0
  once=$bytes
  plan=$(sed -n "s/.*: the plan's sites receive \([0-9]*\) bytes/\1/p" err)
  want 0 "$EIN" plan few.ein -n $n -o few.plan
  echo 'room 1' >>few.plan
  tried rounds few.ein -n $n --plan=few.plan --target=c '--flags=-O0 -DEIN_MOVE_SLICE=16'
  [ "$once" = "$plan" ] && [ "$bytes" = "$plan" ] || wrong "on $n sites $plan bytes are planned, $once received at once, $bytes in rounds"
  alike "$n sites"
  rm -r once rounds
done

tried truth all.task X=randn:seed=3 --target=eval
of_eval=$bytes
tried once all.task X=randn:seed=3 --target=c --flags=-O0
once=$bytes
sed '/^mesh/a room 1' all.task >little.task
tried rounds little.task X=randn:seed=3 --target=c '--flags=-O0 -DEIN_MOVE_SLICE=4'
alike "an all-reduce"
for f in truth/*.npy; do cmp -s "$f" "once/${f#truth/}" || wrong "an all-reduce: ${f#truth/} is not what the evaluator has"; done
whole=$((2 * (6 - 1) * (37 * 16 + 8) + 2 * 2 * (3 - 1) * 5 * 7 * 4)) # twice what all have, less a share
[ "$once" = $whole ] && [ "$bytes" = $whole ] || wrong "all-reduces: $once bytes received at once, $bytes in rounds; expected $whole"
[ "$of_eval" = $whole ] || wrong "all-reduces: the evaluator counts $of_eval bytes; expected $whole"

# Much that one site has goes to all by shares: the sites receive the same bytes as if it sent all to each. Shares are uneven; along one axis of Z's
# mesh there is nothing to share; W is little, and is sent as it is.
cat >much.task <<'END'
taskgraph 1
mesh 2 3
dim at0
dim at1
buffer %0 input 0 X[211, 1201] : f32 low [0, 0] when ((($at0 * 3) + $at1) == 0)
buffer %1 input 1 V[300, 1203] : f64 low [(300 * $at0), 0] when ($at1 == 0)
buffer %2 input 2 U[7] : f32 low [0] when ((($at0 * 3) + $at1) == 0)
buffer %3 output 0 Y[211, 1201] : f32 low [0, 0]
buffer %4 output 1 Z[300, 1203] : f64 low [(300 * $at0), 0]
buffer %5 output 2 W[7] : f32 low [0]
buffer %6 work x[211, 1201] : f32 low [0, 0] alive 0..1
buffer %7 work v[300, 1203] : f64 low [(300 * $at0), 0] alive 2..3
input X = %0
input V = %1
input U = %2
output Y = %3
output Z = %4
output W = %5
move 0 broadcast %0 at ? ? to %6 at * *
kernel 1 Y outer 0 {
  stage Y[i:211, j:1201] : f32 = (%6[i, j] * 2.0:f32) to %3[i, j]
}
move 2 broadcast %1 at 0 ? to %7 at 0 *
kernel 3 Z outer 0 {
  stage Z[i:300, j:1203] : f64 = (%7[i, j] + 1.0:f64) to %4[i, j]
}
move 4 broadcast %2 at ? ? to %5 at * *
END
rm -r truth once
tried truth much.task X=randn:seed=3 V=randn:seed=4 U=randn:seed=5 --target=eval
of_eval=$bytes
tried once much.task X=randn:seed=3 V=randn:seed=4 U=randn:seed=5 --target=c --flags=-O0
for f in truth/*.npy; do cmp -s "$f" "once/${f#truth/}" || wrong "a broadcast: ${f#truth/} is not what the evaluator has"; done
whole=$((5 * 211 * 1201 * 4 + 2 * 2 * 300 * 1203 * 8 + 5 * 7 * 4)) # all but those that have it
[ "$bytes" = $whole ] && [ "$of_eval" = $whole ] || wrong "broadcasts: $bytes bytes received, $of_eval counted; expected $whole"
finish
