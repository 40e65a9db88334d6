#!/bin/sh
# suite: ci
# Predicates that compare what a kernel keeps of a block of rows, as ranks do: lanes go across the rows, in tiles, and none goes along what is compared, where
# its neighbours lie a block apart. What puts each point to its place is still one walk.
. "$(dirname "$0")/common"

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
finish
