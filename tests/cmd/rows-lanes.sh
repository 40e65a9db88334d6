#!/bin/sh
# suite: ci
# Which way lanes go in kernels whose stages share rows.
. "$(dirname "$0")/common"
turn 1

# Predicates that compare what is kept of a block of rows, as ranks do: across the rows, in tiles; along what is compared, neighbours lie a block
# apart. What puts each point to its place is still one walk.
cat >knn.ein <<'END'
dim N = 200, Q = 100, D = 16, K = 3, C = 4
input X[n:N,d:D], q[m:Q,d:D] : f32
input c[n:N] : i64
d2[m,n] = sum[d] (q[m,d] - X[n,d])^2
rank[m,n] = count[n' where d2[m,n'] < d2[m,n] or (d2[m,n'] == d2[m,n] and n' < n)]
votes[m,k:C] = count[n where rank[m,n] < K and c[n] == k]
output class[m] = argmax[k] votes[m,k]
END
want 0 "$EIN" build knn.ein --stop=loop
shows 'how "all of it for 32 m, then for the next"'
shows 'how "rank: tiles of 8 n by 16 m in lanes"'
shows 'how "votes: one walk over the points, each put to its k"'
want 0 "$EIN" verify knn.ein -D Q=75 -D N=133 --flags=-O1

# Few rows that each read where data say are taken one by one (cmd/grouped has many): lanes go along what lies side by side there. Whether it is there at all is asked once a row.
cat >moe.ein <<'END'
dim N = 16, D = 64, E = 8, H = 128
input X[n:N, d:D], G[d:D, e:E], W1[e:E, d:D, h:H], W2[e:E, h:H, d:D] : f32
g[n,e] = sum[d] X[n,d] * G[d,e]
p[n,e] = softmax[e](g[n,e])
best[n] = argmax[e] g[n,e]
hid[n,h] = relu(sum[d] X[n,d] * W1[best[n],d,h])
output Y[n,d] = p[n,best[n]] * sum[h] hid[n,h] * W2[best[n],h,d]
END
want 0 "$EIN" build moe.ein --stop=loop
shows 'how "all of it for one row, then for the next"'
shows 'how "relu.x: strips of 128 h"'
want 0 "$EIN" verify moe.ein -D N=13 -D H=70 -D D=40 --flags=-O1
# What a block of rows keeps of a product is reduced with lanes across the rows; another operand that lies along its own row is transposed for them.
cat >bilinear.ein <<'END'
dim B = 64, I = 16, J = 80, O = 32
input X[b:B,i:I], W[i:I,j:J,o:O], Z[b:B,j:J] : f32
P[b,j,o] = sum[i] X[b,i] * W[i,j,o]
output Y[b,o] = sum[j] P[b,j,o] * Z[b,j]
END
want 0 "$EIN" build bilinear.ein --stop=loop
shows 'how "all of it for 32 b, then for the next"'
shows 'how "Z: squares of j and b, transposed"'
shows 'how "Y: tiles of 8 o by 32 b in lanes"'
want 0 "$EIN" verify bilinear.ein -D B=75 -D J=33 -D O=21 --threads 2 --flags=-O1
want 0 "$EIN" verify bilinear.ein -D B=1 -D J=5 -D O=40 --flags=-O1
# Scores that a mask replaces are not made, whether the rest of softmax knows of the mask or not.
cat >masked.ein <<'END'
input Q[h:2,s:256,d:20], K[h:2,t:256,d:20], V[h:2,t:256,d:20] : f32
Z[h,s,t] = if t <= s then sum[d] Q[h,s,d] * K[h,t,d] else -inf
output O[h,s,e] = sum[t] softmax[t](Z[h,s,t]) * V[h,t,e]
END
want 0 "$EIN" build masked.ein --stop=loop
grep -qE '^ +if \(t.* <= .* maybe' out || wrong "scores are made that nobody reads: $(cat out)"
want 0 "$EIN" verify masked.ein --threads 2 --flags="-O1 -march=native"
# Exponentials of one branch of a choice, a range of the lanes, are taken for whole arrays of lanes there.
cat >chosen.ein <<'END'
input Q[h:2,s:512,d:20], K[h:2,t:512,d:20], V[h:2,t:512,d:20] : f32
S[h,s,t] = sum[d] Q[h,s,d] * K[h,t,d]
m[h,s] = max[t where t <= s] S[h,s,t]
E[h,s,t] = if t <= s then exp(S[h,s,t] - m[h,s]) else 0
z[h,s] = sum[t] E[h,s,t]
output O[h,s,e] = (sum[t] E[h,s,t] * V[h,t,e]) / z[h,s]
END
want 0 "$EIN" build chosen.ein --stop=loop
grep -qE '^ +lanes f[_0-9]* exp' out || wrong "exponentials one by one: $(cat out)"
want 0 "$EIN" verify chosen.ein --threads 2 --flags="-O1 -march=native"
# A norm is one kernel that stores nothing else, whatever of it has a name. Long columns do not share one: they would be read line by line
# for a single element.
norm() { # norm NAME LABELS: of Y, over the last line's labels
  { echo "input X[$2] : f64"; cat; } >norm-$1.ein
}
norm named n:40,d:300 <<'END'
m[n] = mean[d] X[n,d]
v[n] = mean[d] (X[n,d] - m[n])^2
output Y[n,d] = (X[n,d] - m[n]) / sqrt(v[n] + 1e-5)
END
norm centred n:40,d:300 <<'END'
m[n] = (sum[d] X[n,d]) / 300
c[n,d] = X[n,d] - m[n]
v[n] = (sum[d] c[n,d] * c[n,d]) / 300
r[n] = 1 / sqrt(v[n] + 1e-5)
output Y[n,d] = c[n,d] * r[n]
END
norm split b:5,n:8,d:15,e:20 <<'END'
m[b,n] = mean[d,e] X[b,n,d,e]
v[b,n] = mean[d,e] (X[b,n,d,e] - m[b,n])^2
output Y[b,n,d,e] = (X[b,n,d,e] - m[b,n]) / sqrt(v[b,n] + 1e-5)
END
norm inside n:40,d:300 <<'END'
output Y[n,d] = (X[n,d] - mean[e:300] X[n,e]) / sqrt((mean[e:300] (X[n,e] - mean[f:300] X[n,f])^2) + 1e-5)
END
norm columns d:300,n:40 <<'END'
m[n] = mean[d] X[d,n]
v[n] = mean[d] (X[d,n] - m[n])^2
output Y[d,n] = (X[d,n] - m[n]) / sqrt(v[n] + 1e-5)
END
for one in named centred split inside columns; do
  want 0 "$EIN" build norm-$one.ein --stop=task
  [ "$(grep -c '^kernel' out) $(grep -c '^buffer.* work' out)" = "1 0" ] || wrong "$one: $(cat out)"
  want 0 "$EIN" verify norm-$one.ein --flags=-O1
done
for one in columns inside; do
  sed 's/d:300,n:40/d:9000,n:40/; s/n:40,d:300/e:9000,n:40/; s/e:300/e:9000/g; s/f:300/f:9000/g; s/X.n,e/X[e,n/g; s/X.n,f/X[f,n/g; s/X.n,d/X[d,n/g; s/Y.n,d/Y[d:9000,n/' \
    norm-$one.ein >long-$one.ein
  want 0 "$EIN" build long-$one.ein --stop=task
  [ "$(grep -c "^kernel" out)" -ge 3 ] || wrong "long $one: $(cat out)"
done
# A function of what is kept of a row, or of an element per row, is computed before the row's loop.
cat >once.ein <<'END'
dim N, K
input X[n:N,k:K] : f32
input b[n:N] : f64
m[n] = max[k] X[n,k]
s[n] = sum[k] exp(X[n,k] - m[n])
output Y[n,k] = X[n,k] - m[n] - log(s[n])
output Z[n,k] = if k < 3 then 0 else atan(b[n]) + X[n,k]
output U[n,k] = X[n,k] * cosh(b[n])
END
for sizes in '40 300' '3 20000' '1 5' '5 1'; do
  # shellcheck disable=SC2086
  set -- $sizes
  want 0 "$EIN" build once.ein -D N="$1" -D K="$2" --stop=loop
  for f in log cosh; do
    [ "$2" -lt 300 ] || grep -qE "^ +let v[_0-9]* = $f\(" out || wrong "$f is computed at each element of a row: $(cat out)"
  done
  want 0 "$EIN" verify once.ein -D N="$1" -D K="$2" --threads 2 --flags=-O1
done

# Halves from memory are read row by row, and the lines of a later row ahead; rows that are so long that what they are multiplied with leaves the
# nearest cache are read several at once, as floats are.
for type in bf16 f16 f32; do
  for rows in '3001 700' '300 5000' '2999 512'; do
    # shellcheck disable=SC2086
    set -- $rows
    printf 'input W[v:%s,a:%s] : %s\ninput x[a:%s] : f32\noutput y[v] = sum[a] W[v,a] * x[a]\n' "$1" "$2" $type "$2" >halves.ein
    want 0 "$EIN" build halves.ein --stop=loop
    if [ $type != f32 ] && [ "$2" -le 4096 ]; then
      shows 'how "lanes along a, 1 results at once"'
      shows 'fetch W[min('
    else
      ! grep -q 'fetch W' out || wrong "long rows, or rows of floats, are read ahead: $(cat out)"
    fi
    want 0 "$EIN" verify halves.ein --threads 3 --flags="-O1 -march=native"
  done
done
# The rows of a window are not rows of their own: several at once share what is read.
for sizes in '512 4' '400 5'; do
  # shellcheck disable=SC2086
  set -- $sizes
  printf 'input x[t:%s], w[m:%s] : f32\noutput y[i:%s] = sum[m] x[i+m] * w[m]\n' $((2 * $1 - 1)) "$1" "$1" >window.ein
  want 0 "$EIN" build window.ein --stop=loop
  shows "how \"lanes along m, $2 results at once\""
  want 0 "$EIN" verify window.ein --threads 3 --flags="-O1 -march=native"
done
# The same the other way round, where rows are added to strips of results.
for sizes in '601 1100' '257 4100' '300 640'; do
  # shellcheck disable=SC2086
  set -- $sizes
  printf 'input W[a:%s,v:%s] : bf16\ninput x[a:%s] : f32\noutput y[v] = sum[a] W[a,v] * x[a]\n' "$1" "$2" "$1" >strips.ein
  want 0 "$EIN" build strips.ein --stop=loop
  [ "$(grep -c 'fetch W' out)" = $(($1 * $2 < 524288 ? 0 : 8)) ] || wrong "strips of halves: $(grep -c 'fetch W' out) lines are prefetched at once"
  want 0 "$EIN" verify strips.ein --threads 3 --flags="-O1 -march=native"
done
# Windows that move with the row are short: lanes go across the rows, whatever else of the window all rows share. Longer ones fill lanes themselves.
cat >window.ein <<'END'
dim N = 200, R = 5
input X[y:N,x:N], G[r:R,q:R] : f32
w[y:N,x:N,r,q] = G[r,q] * exp(-(X[y+r-2,x+q-2] ?? 0 - X[y,x])^2)
output Y[y,x] = (sum[r,q] w[y,x,r,q] * (X[y+r-2,x+q-2] ?? 0)) / sum[r,q] w[y,x,r,q]
m[y:N-R,x:N-R] = mean[r:R,q:R] X[y+r,x+q]
output V[y,x] = mean[r:R,q:R] (X[y+r,x+q] - m[y,x])^2
END
want 0 "$EIN" build window.ein --stop=loop
[ "$(grep -c 'how "all of it for [0-9]* x, then for the next"' out)" = 2 ] || wrong "windows: $(grep how out)"
for sizes in '200 5' '61 3' '33 1'; do
  # shellcheck disable=SC2086
  set -- $sizes
  want 0 "$EIN" verify window.ein -D N="$1" -D R="$2" --threads 2 --flags="-O1 -march=native"
done
want 0 "$EIN" build window.ein -D R=20 --stop=loop
! grep -q 'how "all of it for [0-9]* x' out || wrong "long windows: $(grep how out)"

# The same for several experts of a row, of a list or in a rank of their own: what is asked depends on the first labels, and lanes go along the others.
# Where the list names none, the run says so; where `??` stands for it, nothing is summed.
cat >top.ein <<'END'
dim N = 8, D = 64, E = 8, H = 128
input X[n:N, d:D], G[d:D, e:E], W1[e:E, d:D, h:H], W2[e:E, h:H, d:D] : f32
g[n,e] = softmax[e](sum[d] X[n,d] * G[d,e])
first[n] = argmax[e] g[n,e]
second[n] = argmax[e] if e == first[n] then -1 else g[n,e]
at[n,j:2] = if j == 0 then first[n] else second[n]
hid[n,j,h] = relu(sum[d] X[n,d] * W1[at[n,j],d,h])
output Y[n,d] = sum[j] g[n,at[n,j]] * sum[h] hid[n,j,h] * W2[at[n,j],h,d]
END
want 0 "$EIN" build top.ein --stop=loop
shows 'how "relu.x: strips of 128 h"'
shows 'how "strips of 64 d"'
want 0 "$EIN" verify top.ein -D N=7 -D H=70 -D D=40 --flags=-O1
want 0 "$EIN" verify top.ein -D N=9 -D H=1 -D D=3 -D E=2 --flags=-O1
cat >list.ein <<'END'
dim N = 24, D = 48, E = 6, H = 96
input X[n:N, d:D], W[e:E, d:D, h:H], V[e:E, d:D, h:H] : f64
input at[n:N, i:2, j:3] : i64 = (n + i + 2 * j) % (E + 1)
s[n,i,j,h] = (sum[d] X[n,d] * W[at[n,i,j],d,h]) ?? -1
m[n,i,j,h] = (max[d] X[n,d] * V[at[n,i,j],d,h]) ?? 2
output Y[n,h] = sum[i,j] s[n,i,j,h] * m[n,i,j,h]
output Z[n,h] = max[i,j] s[n,i,j,h] * m[n,i,j,h]
END
want 0 "$EIN" build list.ein --stop=loop
shows 'strips of 96 h'
want 0 "$EIN" verify list.ein X=randn V=randn W=randn:seed=2 --flags=-O1
want 0 "$EIN" verify list.ein -D N=7 -D H=33 X=randn V=randn W=randn:seed=2
sed 's/ ?? -1//' list.ein >none.ein
want 1 "$EIN" run none.ein X=randn V=randn W=randn
says "index 6 is outside dimension 1"
want 1 "$EIN" run none.ein X=randn V=randn W=randn --target=c
says "6 is out of range"

# The edges of a node, between two places of a list: the list says where the sum ends and is read once for each result, so lanes go along the rows that are
# added, not along the list.
cat >edges.ein <<'END'
dim N = 200, E = 900, C = 16
input src[e:E] : i64 = (e * e + 3) % N
input ptr[n:N+1] : i64 = n * E // N
input X[n:N,c:C] : f32
output s[n:N,c] = sum[e where ptr[n+0] <= e and e < ptr[n+1]] X[src[e],c]
output m[n:N,c] = max[e where ptr[n+0] <= e and e < ptr[n+1]] X[src[e],c]
output w[n:N,c:C] = sum[e where ptr[n+0] <= e and e < ptr[n+1]] X[src[e],c] * src[e]
END
want 0 "$EIN" build edges.ein --stop=loop
shows 'how "tiles of 16 c in lanes"'
want 0 "$EIN" verify edges.ein --flags=-O1
want 0 "$EIN" verify edges.ein -D C=1 -D N=70 -D E=33 --flags=-O1
want 0 "$EIN" verify edges.ein -D C=37 -D N=9 -D E=1000
finish
