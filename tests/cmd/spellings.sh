#!/bin/sh
# suite: ci
# Spellings of one computation are made in the same way (bench/families.py times them).
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$root/tests/cmd/common"

kernels() { # NUMBER FILE
  want 0 "$EIN" build "$2" --stop=task
  [ "$(grep -c '^ *kernel ' out)" = "$1" ] || wrong "wanted $1 kernels: $(cat out): $(cat "$2")"
}

# ---- a product and the sum that reads it: apart, if rows would be copied for each point of a label between
bilinear() { # KERNELS ROWS REDUCED LABELS
  printf 'input X[b:%s,i:%s], W[i:%s,j:%s,o:%s], Z[b:%s,j:%s] : f32\n' "$2" "$3" "$3" "$4" "$5" "$2" "$4" >p.ein
  printf 'P[b,j,o] = sum[i] X[b,i] * W[i,j,o]\noutput Y[b,o] = max[j] (P[b,j,o] + Z[b,j])\n' >>p.ein
  kernels "$1" p.ein
}
bilinear 2 64 96 80 32
bilinear 2 48 20 40 24
want 0 "$EIN" verify p.ein --flags=-O0
sed 's/P\[b,j,o\]/P[j,b,o]/g' p.ein >transposed.ein
kernels 2 transposed.ein
want 0 "$EIN" verify transposed.ein --flags=-O0
bilinear 1 64 8 6 40       # few points for each of a long row: little is copied
want 0 "$EIN" verify p.ein --flags=-O0
bilinear 1 8192 64 32 64   # the product leaves the caches
bilinear 2 8192 96 32 64
printf 'input X[b:64,j:20,i:32], W[i:32,o:20], Z[b:64,j:20] : f32\nP[b,j,o] = sum[i] X[b,j,i] * W[i,o]\n' >p.ein
printf 'output Y[b,o] = max[j] (P[b,j,o] + Z[b,j])\n' >>p.ein
kernels 1 p.ein            # each point between has rows of its own
want 0 "$EIN" verify p.ein --flags=-O0

# ---- one half of a symmetric result is made, and copied (task/passes/mirror.c)
half() { # YES-OR-NO PROGRAM
  printf '%s\n' "$2" >p.ein
  want 0 "$EIN" build p.ein --stop=task
  grep -q '^ *kernel .*half' out && made=yes || made=no
  [ $made = "$1" ] || wrong "half: $made: $(cat out)"
  want 0 "$EIN" verify p.ein --flags=-O0
}
for dtype in f32 i32; do
  half yes "input X[n:130,i:65] : $dtype
output Y[i,j:65] = sum[n] X[n,i] * X[n,j]"
done
half yes 'input X[b:2,i:70,n:131], C[b:2,i:70,j:70] : f64
output Y[b,i,j] = 0.5 * C[b,i,j] - 2 * sum[n] X[b,j,n] * X[b,i,n]'
half yes 'input X[i:72,d:128] : f32
output Y[i,j:72] = exp(-0.01 * sum[d] (X[i,d] - X[j,d])^2)'
half yes 'input X[i:72,d:128] : f32
output Y[j:72,i] = max[d] abs(X[j,d] - X[i,d])'
half yes 'input X[i:72,d:128] : f64
output Y[i,j:72] = max[d] (X[i,d] - X[j,d])^4'
half yes 'input X[i:72,d:128] : i32
output Y[i,j:72] = sum[d] (X[i,d] - X[j,d])^4'
half no 'input X[i:72,d:128] : f64
output Y[i,j:72] = max[d] (X[i,d] - X[j,d])^3'
half no 'input X[i:72,d:128] : u8
output Y[i,j:72] = sum[d] i32(abs(X[i,d] - X[j,d]))'
half yes 'input X[i:72,d:128] : i8
output Y[i,j:72] = sum[d] i32(abs(X[i,d] - X[j,d]))'
half yes 'input X[n:128,a:4,h:2,b:17] : f32
output Y[h,a,b,c:4,d:17] = sum[n] X[n,a,h,b] * X[n,c,h,d]'
half yes 'input X[i:66,n:150] : f32
repeat t < 3 {
  state S[i:66,j:66] : f32 = 0
  next S[i,j] = S[j,i] + sum[n] X[i,n] * X[j,n]
}
output S'
half no 'input X[n:130,i:65] : f32
output Y[i,j:65] = sum[n] X[n,i] * (X[n,j] - X[n,i])'
half no 'input X[n:130,i:65], Z[n:130,i:65] : f32
output Y[i,j:65] = sum[n] X[n,i] * Z[n,j]'
half no 'input X[n:130,i:65] : f32
output Y[i,j:65] = sum[n where i + j <= n] X[n,i] * X[n,j]'
half no 'input X[n:30,i:65] : f32
output Y[i,j:65] = sum[n] X[n,i] * X[n,j]'

# ---- a softmax of scores, some of which are -inf: only the others are visited, unless something is not finite
# (graph/passes/masks/pass_scores.c)
scores() { # YES-OR-NO SCORES [DTYPE]: Y, of attention by these scores; Z, the same by hand
  sed "s/: f32/: ${3:-f32}/; s/ f32(/ ${3:-f32}(/" >p.ein <<END
dim H = 2, S = 91, D = 6
input Q[h:H,s:S,d:D], K[h:H,t:S,d:D], V[h:H,t:S,e:D] : f32
A[h,s,t] = sum[d] Q[h,s,d] * K[h,t,d] / 4
M[s:S,t:S] : f32 = if t <= s then 0 else -inf
B[h,s,t] = $2
m[h,s] = max[t] B[h,s,t]
E[h,s,t] = exp(B[h,s,t] - m[h,s])
output Y[h,s,e] = (sum[t] E[h,s,t] * V[h,t,e]) / sum[t] E[h,s,t]
END
  want 0 "$EIN" build p.ein --stop=optimised
  grep -q '~once' out && made=yes || made=no
  [ $made = "$1" ] || wrong "choices: $made: $(cat out)"
  want 0 "$EIN" verify p.ein --flags=-O0
  sed '/^[mE].h/d; s/^output.*/output Y[h,s,e] = sum[t] softmax[t](B[h,s,t]) * V[h,t,e]/' p.ein >softmax.ein
  want 0 "$EIN" build softmax.ein --stop=optimised
  [ "$(grep -c '~once' out)" = "$([ "$1" = yes ] && echo 2 || echo 0)" ] || wrong "softmax: $(cat out)"
}
scores yes 'if t <= s then A[h,s,t] else -inf'
scores yes 'if t > s then -inf else A[h,s,t]' f64
scores yes 'A[h,s,t] + (if t <= s and s - t < 32 then 0.5 else -inf)'
scores yes 'M[s,t] + A[h,s,t] + (if s - t < 32 then 0 else -inf)'
scores yes 'A[h,s,t] + (if t <= s then -0.1 * f32(s - t) else -inf)'
scores no 'A[h,s,t] + (if t < s then 0 else -inf)'                 # a row has none
scores no 'A[h,s,t] + (if t <= s then 0 else -1e30)'               # it is a number
scores no 'A[h,s,t] + (if t <= s + 70 then 0 else -inf)'          # nearly all
scores no 'A[h,s,t] + (if t <= s then 0 else inf)'
scores no 'A[h,s,t] + (if t % 2 == 0 then 0 else -inf)'            # no range
scores no '1 / A[h,s,t] + (if t <= s then 0 else -inf)'            # of unknown size
want 0 "$EIN" build p.ein --stop=task --target=cuda
grep -q '~once' out && wrong "a device would wait"

# What is not finite, or too great to tell, in each operand: eval's NaN.
special() { # WHERE-Q VALUE WHERE-K VALUE WHERE-V VALUE
  cat >p.ein <<END
dim H = 2, S = 96, D = 3
input Q[h:H,s:S,d:D] : f32 = if $1 then $2 else sin(f32(h + 3 * s + 5 * d))
input K[h:H,t:S,d:D] : f32 = if $3 then $4 else sin(f32(h + 7 * t + 2 * d))
input V[h:H,t:S,e:D] : f32 = if $5 then $6 else sin(f32(h + 2 * t + 11 * e))
A[h,s,t] = if t <= s then sum[d] Q[h,s,d] * K[h,t,d] / 4 else -inf
B[h,s,t] = (if t <= s then 0 else -inf) + sum[d] Q[h,s,d] * K[h,t,d] / 4
X[h,s,e] = sum[t] softmax[t](A[h,s,t]) * V[h,t,e]
Y[h,s,e] = sum[t] softmax[t](B[h,s,t]) * V[h,t,e]
output X, Y
output nan_X[h,s] = count[e where isnan(X[h,s,e])]
output nan_Y[h,s] = count[e where isnan(Y[h,s,e])]
END
  for target in eval c; do
    want 0 "$EIN" run p.ein --target=$target --flags=-O0 -o nan_X=$target.1.npy -o nan_Y=$target.2.npy
  done
  cmp -s eval.1.npy c.1.npy && cmp -s eval.2.npy c.2.npy || wrong "other NaN than eval: $*"
  want 0 "$EIN" verify p.ein --flags=-O0
}
never='false 0'
special $never $never 't==90' nan
special $never $never 't==95' inf
special 's==5' inf $never $never
special $never 't==80' nan $never
special $never 't==80' -inf $never
special 's==7' 3e38 't==20' 3e38 $never
special 'd==0' -1e25 't>=0' 1e25 $never
want 0 "$EIN" build p.ein --stop=optimised
[ "$(grep -c '~once' out)" = 4 ] || [ "$(grep -c '~once' out)" = 2 ] || wrong "no choices: $(cat out)"

# ---- a running reduction of what is reversed, reversed
backwards() { # STAGES PROGRAM WORDS...: the words are for verify
  printf '%s\n' "$2" >p.ein
  want 0 "$EIN" build p.ein --stop=task
  [ "$(grep -c '^ *stage ' out)" = "$1" ] || wrong "wanted $1 stages: $(cat out): $2"
  shift 2
  want 0 "$EIN" verify p.ein --flags=-O0 "$@"
}
for dtype in f32 i32; do
  backwards 1 "input X[i:5,t:70] : $dtype
Z[i,t:70] = X[i,69-t]
R[i,s:70] = sum[t where t >= s] Z[i,t]
output Y[i,s:70] = R[i,69-s]"
done
backwards 1 'input X[t:70,i:5] : f32
Z[t:70,i] = X[69-t,i]
R[s:70,i] = max[t where t > s] Z[t,i]
output Y[s:70,i] = R[69-s,i]'
backwards 1 'dim M
input X[s:M] : f64
Z[t:M] = X[M-1-t]
R[t:M] = sum[s where s <= t] Z[s]
output Y[s:M] = R[M-1-s]' -D M=40
backwards 2 'input X[a:4,t:33] : f32
Z[a:4,t:33] = X[3-a,32-t]
R[a,s:33] = sum[t where s - t < 8 and t <= s] Z[a,t]
output Y[a:4,s:33] = R[3-a,32-s]'
backwards 4 'input X[t:33] : f32
Z[t:33] = X[32-t]
R[s:33] = sum[t where t >= s] Z[t]
output Y[s:33] = R[32-s]
output W[s:33] = R[s] + Z[s]'

# ---- a border by a predicate: tiles of the same labels as with `?? 0`, and weights beyond it do not count
border() { # WORDS PREDICATE: of filters over t
  printf 'input X[n:5,t:40,c:32] : f32\ninput F[k:4,c:32] : f32 = if k == 3 then inf else 1\n' >p.ein
  printf 'output Y[n,t:40,c] = sum[k where %s] X[n,t-k,c] * F[k,c]\n' "$2" >>p.ein
  want 0 "$EIN" build p.ein --stop=loop
  shows "$1"
  want 0 "$EIN" verify p.ein --flags=-O1
}
border 'of 8 t by 32 c in lanes' 'k <= t'
border 'of 8 t by 32 c in lanes' '0 <= t - k'

# ---- a running sum by a triangle: one result asks for infinities, and nothing is copied
triangle() { # STAGES PROGRAM: Y is the sum by the mask L, of X with NaN, infinities and what overflows
  printf '%s\n' "$2" >p.ein
  want 0 "$EIN" build p.ein --stop=task
  [ "$(grep -c 'stage Y' out)" = "$1" ] || wrong "wanted $1 stages: $(cat out)"
  grep -q 'stage Y.finite.* (\([&%][0-9]*\[.*\(69\|0\).*\]\) - \1)' out || wrong "asks all: $(cat out)"
  printf 'output none[a,b] = isnan(Y[a,b])\n' >>p.ein
  want 0 "$EIN" verify p.ein --flags=-O0
}
odd='if t == 7 and i == 3 then nan else if t == 30 and i == 5 then inf else if t < 4 and i == 6 then 3e38 else t + i'
for mask in 't <= s' 't < s + 1' 't >= s' 's - t <= 0'; do
  triangle 4 "input X[i:8,t:70] : f32 = $odd
L[s:70,t:70] : f32 = if $mask then 1 else 0
output Y[i,s] = sum[t] L[s,t] * X[i,t]"
  triangle 5 "input X[t:70,i:200] : f32 = $odd
L[s:70,t:70] : f32 = if $mask then 1 else 0
output Y[s,i] = sum[t] L[s,t] * X[t,i]"
done

# ---- a label that is rotated by half, or by parts: reads step through memory
stepwise() { # EQUATION
  printf 'input X[s:6,d:48], C[k:24], D[k:16] : f32\n%s\n' "$1" >p.ein
  want 0 "$EIN" build p.ein --stop=task
  grep -q '% 48' out && wrong "a remainder by the whole: $(cat out)"
  want 0 "$EIN" verify p.ein --flags=-O0
}
stepwise 'output Y[s,d] = X[s,d] * C[d % 24] - X[s,(d + 24) % 48]'
stepwise 'output Y[s,d] = X[s,d] + C[(d + 24) % 24] * X[s,(d + 72) % 48]'
stepwise 'output Y[s,d] = X[s,d] * D[d % 16] + X[s,(d + 16) % 48]'
stepwise 'output Y[s,d] = X[s,d] * D[d % 16] + X[s,(d + 32) % 48]'

# ---- a batch of products by quotients and remainders has a label of its own
batched() { # BODY
  printf 'input W[g:5,a:6,b:7], X[k:35,n:8], V[k:5,b:7] : f32\noutput Y[i:30,n] = sum[b] %s\n' "$1" >p.ein
  want 0 "$EIN" build p.ein --stop=task
  grep -q 'stage Y\[i_0:5, i_1:6, ' out || wrong "no batch: $(cat out)"
  want 0 "$EIN" verify p.ein --flags=-O0
}
batched 'W[i//6,i%6,b] * X[7*(i//6)+b,n]'
batched 'X[b+7*(i//6),n] * (V[i//6,b] * W[i//6,i%6,b])'

# ---- factors of one side of a product are multiplied before it, whatever the parentheses
sides() { # FACTOR NAMED LABELS
  cat >p.ein <<END
input A[i:64,r:32], B[j:96,r:32], C[k:128,r:32] : f32
P[$3] = $2
output Y[i,j,k] = sum[r] $1 * P[$3]
END
  want 0 "$EIN" build p.ein --stop=loop
  grep -q '= fma(\(rows\|lanes\)\[' out || wrong "no panels: $(cat out)"
  grep -q '= fma(.*\] \* ' out && wrong "a factor for each point: $(cat out)"
}
sides 'A[i,r]' 'B[j,r] * C[k,r]' j,k,r
sides 'B[j,r]' 'A[i,r] * C[k,r]' i,k,r
sides 'C[k,r]' 'B[j,r] * A[i,r]' j,i,r
want 0 "$EIN" verify p.ein --flags=-O1
finish
