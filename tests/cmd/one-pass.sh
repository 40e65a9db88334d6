#!/bin/sh
# suite: ci
# Kernels that share rows are one (task/passes/rows.c): the components of a monoid over tuples read their operands in
# one kernel, whatever labels the rows have, and a logsumexp, its gradient and the place of its maximum read each row once.
# Values are eval's.
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$root/tests/cmd/common"

readers() { # NUMBER FILE WORD...: so many kernels read the first input
  number=$1
  shift
  want 0 "$EIN" build "$@" --stop=task
  has=$(awk '/^kernel/ { met = 0 } /^  stage/ && /%0\[/ && !met { met = 1; n++ } END { print n + 0 }' out)
  [ "$has" = "$number" ] || wrong "wanted $number kernels that read it, and there are $has: $(cat out): $line"
}

welford='monoid welford((n, m, s), (k, o, t)) =
    (n + k, m + (o - m) * (k / max(n + k, 1)), s + t + (o - m)^2 * (n * (k / max(n + k, 1))))
    identity (0, 0, 0) where n > 0 or (n == 0 and m == 0 and s == 0)'
best='monoid best((v, at, p), (w, to, q)) =
    (max(v, w), if w > v or (w == v and to < at) then to else at, if w > v or (w == v and to < at) then q else p)
    identity (-inf, 100000000, 0)'

# Rows, their order, several labels, no rows at all; sizes that are no multiples of anything are divided, and each part
# is read in one kernel.
program() { # NAME LABELS REDUCED
  printf '%s\ndim I = 20, J = 4096, K = 2\ninput x[i:I,j:J,k:K] : f64\n' "$welford" >"$1.ein"
  printf 'n%s, m%s, s%s = welford[%s](1, x[i,j,k], 0)\n' "$2" "$2" "$2" "$3" >>"$1.ein"
  printf 'output n\noutput m\noutput v%s = s%s / n%s\n' "$2" "$2" "$2" >>"$1.ein"
}
program rows '[i,k]' j
program transposed '[k,i]' j
program several '[i]' 'k,j'
sed 's/x\[i:I,j:J,k:K\]/x[j:J]/; s/x\[i,j,k\]/x[j]/; s/\[i,k\]//g; s/J = 4096/J = 204800/' rows.ein >whole.ein
for one in rows transposed several whole; do
  readers 1 $one.ein
  want 0 "$EIN" verify $one.ein --flags=-O1
done
sed 's/J = 4096/J = 4000/' rows.ein >ragged.ein
readers 2 ragged.ein
want 0 "$EIN" verify ragged.ein --flags=-O1
for n in 1 2 3; do
  want 0 "$EIN" run ragged.ein --target=c --threads $n x=randn:seed=1 -o all=t$n.safetensors
done
cmp -s t1.safetensors t2.safetensors && cmp -s t1.safetensors t3.safetensors || wrong "other bits on other threads"
want 0 "$EIN" run ragged.ein -n 4 --target=c x=randn:seed=1 -o all=n4.safetensors
cmp -s t1.safetensors n4.safetensors || wrong "other bits on other sites"

# A payload: the best itself is a maximum, which is a kernel of its own.
printf '%s\ninput x[i:20,j:9216] : f32\ninput y[i:20,j:9216] : i64\n' "$best" >best.ein
echo 'v[i], at[i], p[i] = best[j](x[i,j], j, y[i,j])' >>best.ein
echo 'output v, at, p' >>best.ein
readers 2 best.ein
for target in eval c; do
  want 0 "$EIN" run best.ein --target=$target x=randn:seed=1 y=iota -o all=$target.safetensors
done
cmp -s eval.safetensors c.safetensors || wrong "another best in code"

# A logsumexp by hand, with its gradient: the maximum, the sum and the place of the maximum in one kernel.
cat >lse.ein <<'END'
input X[n:200,k:1000], D[n:200] : f32
m[n] = max[k] X[n,k]
output Y[n] = m[n] + log(sum[k] exp(X[n,k] - m[n]))
loss = sum[n] Y[n] * D[n]
output dX[n,k] = grad(loss, X[n,k])
END
readers 1 lse.ein
want 0 "$EIN" verify lse.ein --flags=-O1
want 0 "$EIN" build lse.ein --stop=task --roundtrip

# A sum and a maximum of the same rows; of columns too long for that each is a kernel, and few long rows are split
# for threads.
pair() { # NAME DIMS
  printf 'input X[%s] : f32\noutput a[n] = sum[k] X[n,k]\noutput b[n] = log(max[k] X[n,k])\n' "$2" >"$1.ein"
}
pair pair n:64,k:20000
readers 1 pair.ein
want 0 "$EIN" verify pair.ein --flags=-O1
pair few n:20,k:20000
want 0 "$EIN" build few.ein --stop=loop
grep -q 'for threads' out || wrong "few rows are not split: $(cat out)"
sed 's/n:64,k:20000/k:20000,n:64/; s/X.n,k/X[k,n/g' pair.ein >columns.ein
want 0 "$EIN" build columns.ein --stop=task
[ "$(grep -c '^kernel' out)" -ge 2 ] || wrong "long columns share: $(cat out)"

# What has loops of its own for many rows at once keeps them: columns with a vector, windows, running sums.
cat >vectors.ein <<'END'
input X[k:400,n:300], x[k:400], y[k:400] : f32
output a[n] = 2 * (sum[k] X[k,n] * x[k])
output b[n] = sum[k] X[k,n] * y[k]
END
cat >windows.ein <<'END'
input x[j:3000], h[k:200] : f32
output Y[i:2801] = sum[j] x[j] * (h[j-i] ?? 0)
END
for one in vectors windows; do
  want 0 "$EIN" build $one.ein --stop=task
  awk '/^kernel/ { n = 0 } /= sum:/ && n++ { exit 1 }' out || wrong "two sums in one kernel: $(cat out)"
  want 0 "$EIN" verify $one.ein --flags=-O1
done

# What others read stays stored; a product keeps to itself; other rows are another kernel.
cat >stays.ein <<'END'
input X[n:200,k:300] : f32
e[n,k] = exp(X[n,k] - max[k] X[n,k])
z[n] = sum[k] e[n,k]
output a[n,k] = e[n,k] / z[n]
output b[k] = sum[n] e[n,k]^2 / z[n]
END
want 0 "$EIN" verify stays.ein --flags=-O1

# In a repeat, where a state changes in place.
cat >turns.ein <<'END'
input X[n:50,k:300] : f64
repeat t < 3 {
  state y[n,k] = X[n,k]
  m[n] = max[k] y[n,k]
  e[n,k] = exp(y[n,k] - m[n])
  z[n] = sum[k] e[n,k]
  at[n] = argmax[k] y[n,k]
  next y[n,k] = if k == at[n] then m[n] / z[n] else y[n,k] + e[n,k] / z[n]
}
output y
END
want 0 "$EIN" verify turns.ein --flags=-O1

# Columns of data that choose points, beside data along the rows, are no kernel's rows; alone they are.
for of in "w[n]:2" "X[n,d]:1"; do
  cat >columns.ein <<END
input X[n:4096,d:64], w[n:4096] : f32
m[d] = max[n where X[n,d] > 0] n
output Y[n,d] = ${of%:*} * f32(m[d])
END
  is=$("$EIN" build columns.ein --stop=task 2>/dev/null | grep -c '^kernel')
  [ "$is" = "${of#*:}" ] || wrong "$of: there are $is kernels"
done

# A result that takes groups apart by quotient and remainder shares the rows of what it reads, wherever its label is.
norm() { # NAME RESULT-LABELS READ-LABELS
  cat >"$1.ein" <<EIN
input X[n:24,c:60,s:40] : f64
G[n,g:12,d:5,s] = X[n,5*g+d,s]
m[n,g] = mean[d,s] G[n,g,d,s]
v[n,g] = mean[d,s] (G[n,g,d,s] - m[n,g])^2
Z[n,g,d,s] = (G[n,g,d,s] - m[n,g]) / sqrt(v[n,g] + 0.5)
output Y[$2] = Z[n,c//5,c%5,s]
EIN
}
norm usual n,c:60,s
norm transposed n,s,c:60
for p in usual transposed; do
  readers 1 $p.ein
  want 0 "$EIN" verify $p.ein --flags=-O1
done
# Not if it reads something else by the whole label: that has rows of its own.
cat >whole.ein <<'EIN'
input X[n:24,c:60,s:40] : f64
r[n,c] = sum[s] X[n,c,s]
m[n,g:12] = max[d:5,s] X[n,5*g+d,s]
output Y[n,c,s] = X[n,c,s] / r[n,c] + m[n,c//5]
EIN
want 0 "$EIN" build whole.ein --stop=task
shows 'stage Y[n:24, c:60, s:40]'
want 0 "$EIN" verify whole.ein --flags=-O1
finish
