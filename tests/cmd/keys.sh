#!/bin/sh
# suite: ci
# Tables with keys, as in a database: joins, groups by several keys, distinct counts, n-grams, counts of what is below a
# threshold or holds for two rows. Each is computed by one walk over its points, or as a product, and not by a test of
# each pair; also if sizes are left open, and if there are no points or no results.
. "$(dirname "$0")/common"

cat >keys.ein <<'EIN'
dim N, B, G, M
input key[e:N], item[e:N], w[e:N] : i64
input level[e:N] : u8
input id[c:B], at[c:B] : i64
input start[c:B+1] : i64
input A[i:B,k:N], D[i:B,k:N] : bool
output spent[c] = sum[e where key[e] == id[c]] w[e]
output most[e] = max[c where id[c] == key[e]] at[c]
output seen[g:G,m:M] = any[e where key[e] == g and item[e] == m] (w[e] > 0)
output worth[g:G,m:M] = argmax[e where w[e] > -2 and key[e] == g and item[e] == m] w[e] ?? -1
output follow[g:G,m:M,h:G] = count[e where e < N - 2 and key[e] == g and item[e+1] == m and key[e+2] == h]
output edge[g:G,m:M] = count[e where key[e] == g and (item[e+1] ?? -1) == m]
output upto[b:B] = count[e where key[e] <= b]
output below[b:B] = sum[e where 2 * b + 3 > key[e] and w[e] > 0] w[e]
output above[b:B] = max[e where key[e] > b - 5] w[e]
output least[b:B] = min[e where b - 5 >= key[e]] w[e]
output corner[a:G,b:M] = count[e where key[e] <= a and item[e] > b and w[e] != 2]
output share[i,j:B] = sum[k] (A[i,k] and D[j,k])
output low[c] = count[e where level[e] < at[c]]
output high[c] = sum[e where level[e] > at[c]] w[e]
output dense[c:B,m:M] = sum[e where start[c+0] <= e and e < start[c+1] and item[e] == m] w[e]
output picked[c,m:M] = (max[e where item[e] == m and w[e] < 8 and start[id[c]] <= e and e < start[id[c]+1]] w[e]) ?? -7
output first[c,m:M] = (sum[e where start[id[c]] <= e and e < start[id[c]+1] and item[e] == m] w[e]) ?? -7
output same[i,j:B] = count[k where A[i,k] and D[j,k]]
output apart[i,j:B] = 2 * count[k where A[i,k] and not D[j,k] and D[i,k]]
EIN
sed 's/?? -1$/) ?? -1/; s/= argmax/= (argmax/' keys.ein >k && mv k keys.ein
keys='key=randint:lo=-3:hi=40:seed=1 item=randint:lo=-1:hi=70:seed=2 w=randint:lo=-9:hi=9:seed=3
  level=randint:lo=0:hi=255:seed=4 id=randint:lo=-2:hi=90:seed=5 at=randint:lo=-60:hi=300:seed=6 start=randint:lo=-9:hi=720:seed=9
  A=randint:lo=0:hi=1:seed=7 D=randint:lo=0:hi=1:seed=8'

# N B G M
sizes() {
  # shellcheck disable=SC2086 # words
  want 0 "$EIN" verify keys.ein --flags=-O0 -D "N=$1" -D "B=$2" -D "G=$3" -D "M=$4" $keys
}
sizes 700 90 35 67
sizes 600 0 3 40
sed 's/^dim .*/dim N = 700, B = 90, G = 35, M = 67/' keys.ein >known.ein
# shellcheck disable=SC2086
want 0 "$EIN" verify known.ein --flags=-O1 $keys
sed -i '/?? -7$/d' keys.ein
sizes 0 70 5 1

# Extremes of i64 are beyond all classes.
cat >far.ein <<'EIN'
input v[e:400] : i64 =
  if e == 3 then 9223372036854775807 else if e == 5 then -9223372036854775807 - 1 else 37 * e % 101 - 9
input u[e:400] : i8 = i8(e)
input k[c:200] : i64 = if c == 7 then 9223372036854775807 else if c == 9 then -9223372036854775807 - 1 else 2 * c - 150
output a[b:99] = count[e where v[e] <= b - 7]
output c[b:99] = count[e where v[e] > 3 - b]
output d[c] = count[e where u[e] < k[c]]
output f[c] = count[e where u[e] >= k[c]]
EIN
want 0 "$EIN" verify far.ein --flags=-O0

want 0 "$EIN" build keys.ein --stop=loop
shows 'put to its g and m"'
shows 'for e < min($N, ((bound_2[] - 1) + 1)) from max(0, ((bound[] - 1) + 1)) {'
shows 'put to its g and m and h"'
want 0 "$EIN" plan keys.ein -v -D N=700 -D B=90 -D G=35 -D M=67
shows 'integers: counts made sums of products'
finish
