#!/bin/sh
# suite: ci
# Points that a predicate excludes are not visited: these programs take a moment if each row visits only its own
# points, and minutes if it visits all. Sizes stay open, as when a program is compiled once for all sizes.
. "$(dirname "$0")/common"
turn 2
XDG_CACHE_HOME=$work/cache
export XDG_CACHE_HOME

cat >segments.ein <<'END'
dim R
input p[q:R+1] : i64 = 4 * q
input col[z:4*R] : i64 = (7 * z) % R
input val[z:4*R] : f32 = f32(z % 10)
input x[c:R] : f32 = f32(c % 7)
input X[c:R,f:3] : f32 = f32((c + f) % 5)
output a[r:R] = sum[z where p[r+0] <= z and z < p[r+1]] val[z] * x[col[z]]
output b[r:R] = sum[z where z >= p[r+0] and p[r+1] > z and val[z] > 3] val[z]
output c[r:R,f] = sum[z where p[r+0] <= z and z < p[r+1]] val[z] * X[col[z],f]
output d[r:R] = count[z:4*R where p[r+0] <= z and z <= p[r+1] - 1]
output e[r:R] = max[z where p[r+0] <= z and z < p[r+1]] val[z]
output f[r:R] = logsumexp[z where p[r+0] <= z and z < p[r+1]] val[z]
output g[r:R] = (argmax[z where p[r+0] <= z and z < p[r+1]] val[z]) ?? 0
output h[r:R] = sum[k:4*R where k < p[r+1] - p[r+0]] val[p[r+0]+k]
output i[r:R] = sum[z:4*R] if p[r+0] <= z and z < p[r+1] then val[z] else 0
output j[r:R] = sum[z where not (p[r+0] > z or z + 1 > p[r+1])] val[z]
output l[r:R] = sum[z where z - p[r+0] >= 0 and p[r+1] - z > 0] val[z]
output m[r:R] = max[z where z - p[r+0] >= 0 and z - p[r+0] < 9] val[z]
output n[r:R] = sum[z where 2 * z >= p[r+0] and p[r+1] > 2 * z] val[z]
output k[r:R] = sum[z where p[r+0] < z + 1 and z + 1 <= p[r+1] and col[z] != r] val[z]
END
want 0 timeout 60 "$EIN" run segments.ein -D R=300000 --target=c --threads 1 --flags="-O1 -DEIN_ONE_VERSION" -o all=segments/
silent # nobody warns of hours

# In a loop, too: the turn says which row.
cat >turns.ein <<'END'
dim R
input p[q:R+1] : i64 = 4 * q
input val[z:4*R] : f32 = f32(z % 10)
repeat r < R {
  state y[q:R] : f32 = 0
  next y[q] = if q == r then sum[z where p[r] <= z and z < p[r+1]] val[z] else y[q]
}
output y
END
want 0 timeout 60 "$EIN" run turns.ein -D R=200000 --target=c --threads 1 --flags="-O1 -DEIN_ONE_VERSION" -o all=turns/

# How many points there are between bounds is known without a look at them.
cat >counts.ein <<'END'
dim N
input k[s:N] : i64 = (7 * s) % N
output a[s:N] = count[t:N where 2 * t <= s]
output b[s:N] = count[t:N where t < k[s]]
output c = count[s:N, t:N where t <= s]
output d[s:N] = count[t:N where not (t > k[s])]
output e[s:N] = count[t:N where t % 100 == k[s]]
output f[s:N] = count[t:N where (t + s) % 3 == 0 and t <= s]
output g[s:N] = count[t:N where t != k[s]]
output h[s:N] = count[t:N where k[t] == s + 1]
output i[s:N] = sum[t:N] if N - 1 - k[t] == s then t else 0
END
cat >places.ein <<'END'
dim N
input k[s:N] : i64 = (7 * s) % N
input x[t:N] : f32 = f32(t % 1000)
output a[s:N] = argmax[t where t <= s] x[t]
output b[s:N] = (argmin[t where s == k[t] and t % 5 != 2] x[t]) ?? -1
output c[s:N] = (argmax[t where k[t] == s] x[t]) ?? -1
output d[s:N] = (argmax[t where t < s and x[t] > 3] x[t]) ?? -1
output e[s:N] = argmin[t where t >= s] x[t]
output f[s:N] = (argmax[t where t % 100 == k[s]] x[t]) ?? -1
output g[s:N] = (argmin[t where k[t] == N - k[s]] x[t]) ?? -1
output h[s:N] = (argmax[t where k[s] <= t] x[t]) ?? -1
output i[s:N] = (argmax[t where t // 4 == s // 4] x[t]) ?? -1
END
want 0 timeout 60 "$EIN" run places.ein -D N=400000 --target=c --threads 1 --flags="-O1 -DEIN_ONE_VERSION" -o all=places/
want 0 timeout 60 "$EIN" run counts.ein -D N=1000000 --target=c --threads 1 --flags="-O1 -DEIN_ONE_VERSION" -o all=counts/
silent # nobody warns of hours

# One number says which points are an output's: each is looked at once, not once for each output.
cat >numbers.ein <<'END'
dim N
input k[s:N] : i64 = (7 * s) % N - 3
input x[t:N] : f32 = f32(t % 1000)
input X[t:N,c:3] : f32 = f32((t + c) % 1000)
output a[s:N] = sum[t where t % 100 == k[s]] x[t]
output b[s:N,c] = max[t where (t + s) % 50 == 2 and x[t] > 3] X[t,c]
output c[s:N] = sum[t where t < k[s]] x[t]
output d[s:N] = max[t where k[s] <= t] x[t]
output e[s:N] = sum[t where t != s] x[t]
output f[s:N,c] = max[t where s != t] X[t,c]
output g[s:N] = any[t where t != N - 1 - s] (x[t] > 500)
output h[s:N] = sum[t where k[s] != t and x[t] > 3] x[t]
output i[s:N] = sum[t] if t + 1 == s then 0 else x[t]
output j[s:N] = logsumexp[t where t != s // 2] x[t]
output l[s:N] = logsumexp[t where t <= s] x[t]
output m[s:N] = logsumexp[t where t % 100 == k[s]] x[t]
output n[s:N] = max[t where k[t] % 100 == k[s] and x[t] > 3] x[t]
output o[s:N] = sum[t where t <= s // 2] x[t]
END
# Of data alone nothing says how far their numbers go: most are below how many there are.
cat >lists.ein <<'END'
dim N
input k[s:N] : i64 = (7 * s) % N - 1
input row[z:N] : i64 = (3 * z) % N - 1
input x[z:N] : f32 = f32(z % 1000)
input X[z:N,c:3] : f32 = f32((z + c) % 1000)
output a[s:N] = sum[z where row[z] == k[s]] x[z]
output b[s:N,c] = max[z where k[s] == row[z] and x[z] > 3] X[z,c]
output c[s:N] = count[z:N where row[z] == k[s]]
output d[s:N] = sum[z] if row[z] == k[s] then x[z] else 0
output e[s:N] = sum[z where row[z] // 2 == 3 * s] x[z]
output f[s:N] = sum[z where k[s] < 0 and x[z] > 3] x[z] * x[s]
output g[s:N] = max[z where s % 100000 == 7 and row[z] >= k[s]] x[z] - x[s]
output h[s:N] = sum[t where t - t % 4 == s - s % 4] x[t]
output i[s:N] = max[t where 6 * (t // 6) <= s] x[t]
output j[s:N] = count[t:N where t - t % 4 == s - s % 4 and x[t] > 3]
END
want 0 timeout 60 "$EIN" run numbers.ein -D N=300000 --target=c --threads 1 --flags="-O1 -DEIN_ONE_VERSION" -o all=numbers/
want 0 timeout 60 "$EIN" run lists.ein -D N=300000 --target=c --threads 1 --flags="-O1 -DEIN_ONE_VERSION" -o all=lists/
silent # nobody warns of hours

# What is near, in any words: distances, squares, quotients by a size, factors.
cat >near.ein <<'END'
dim N, W
input k[s:N] : i64 = (7 * s) % N
input w[s:N] : i64 = s % 9
input x[t:N] : f32 = f32(t % 1000)
input X[t:1000,u:N//1000] : f32 = f32((t + u) % 1000)
output a[s:N] = sum[t where abs(t - k[s]) <= 5] x[t]
output b[s:N] = max[t where abs(k[s] + 2 - t) < W] x[t] - x[s]
output c[s:N] = sum[t where abs(t - s) <= w[s]] x[t] * x[s]
output d[s:N] = sum[t where (t - s) ^ 2 <= 25] x[t]
output e[s:N] = max[t where (s - t) * (s - t) < W * W] x[t]
output f[s:N] = sum[t where max(t, s) - min(t, s) <= 5] x[t]
output g[s:N] = sum[t:N] if min(t - s, s - t) > -W then x[t] else 0
output h[s:N] = sum[t where abs(2 * t - s) <= 5] x[t] / (1 + x[s])
output i[s:N] = sum[t where 2 * t <= s and s < 2 * t + W] x[t]
output j[s:N] = sum[t where 3 * t <= 2 * s] x[t]
output l[s:N] = (argmax[t where t // W == s // W and t <= s] x[t]) ?? -1
output m[s:N] = sum[t where t // W <= s // W] x[t]
output n[s:N] = any[t where t // W == k[s] // W] (x[t] > 998)
output o[s:N] = sum[t where s // W - t // W <= 1 and s // W - t // W >= 0] x[t]
output p[s:N] = sum[t where abs(s // 4 - t // 4) <= 1] x[t]
output q[s:1000,r:N//1000] = sum[t:1000, u:N//1000 where (t - s) ^ 2 + (u - r) ^ 2 <= W * W] X[t,u]
output v[s:N] = logsumexp[t where not (abs(t - k[s]) > 3)] x[t]
END
want 0 timeout 60 "$EIN" run near.ein -D N=1000000 -D W=6 --target=c --threads 1 --flags="-O1 -DEIN_ONE_VERSION" -o all=near/
silent # nobody warns of hours

# One range or another, each with points of its own.
cat >either.ein <<'END'
dim N, W
input k[s:N] : i64 = (7 * s) % N
input y[s:N] : i64 = s % 9
input x[t:N] : f32 = f32(t % 1000)
output a[s:N] = sum[t where t == s or t == s + 1] x[t] * x[s]
output b[s:N] = max[t where t == k[s] or t == N - 1 - s or t < 3] x[t]
output c[s:N] = sum[t where t <= s and (t < 4 or s - t < W)] x[t] * x[s]
output d[s:N] = sum[t where not (k[s] <= t and t <= k[s] + 5)] x[t]
output e[s:N] = sum[t where abs(t - k[s]) > 3 and x[t] > 3] x[t]
output f[s:N] = sum[t where t != s and t != s + 1] x[t]
output g[s:N] = sum[t:N] if abs(t - s) == W then x[t] else 0
output h[s:N] = max[t where t // 4 != s // 4] x[t]
output i[s:N] = sum[t where if s > 5 then t == s else t < 3] x[t]
output j[s:N] = argmax[t where t == s or t == k[s] or t > N - 3] x[t]
output l[s:N] = (argmin[t where abs(t - s) > W] x[t]) ?? -1
output n[s:N] = all[t where t < s or t > s + W] (x[t] >= 0)
output o[s:N] = sum[t where y[t] == y[s] or t == s] x[t]
output p[s:N] = count[t:N where (t == s or t == k[s]) and x[t] > 3]
output q[s:N] = logsumexp[t where t < s or t > k[s]] x[t]
END
want 0 timeout 60 "$EIN" run either.ein -D N=1000000 -D W=6 --target=c --threads 1 --flags="-O1 -DEIN_ONE_VERSION" -o all=either/
silent # nobody warns of hours

# Remainders, by a size or by data, of a sum with data, and few of them: windows with a stride or with holes, rings.
cat >remainders.ein <<'END'
dim N, D, W
input k[s:N] : i64 = (7 * s) % N
input m[s:N] : i64 = 100000 + s % 9
input x[t:N] : f32 = f32(t % 1000)
output a[s:N] = sum[t where t % D == s % D] x[t] * x[s]
output b[s:N] = max[t where t % m[s] == k[s] % 9] x[t] * x[s]
output c[s:N] = sum[t where (t - s) % W == 0 and abs(t - s) <= 6 * W] x[t] * x[(t + s) % N]
output d[s:N] = max[t where (t + 3) % D == (s + 5) % D] x[t]
output e[s:N] = (argmax[t where (s - t + k[s]) % D < 2] x[t]) ?? -1
output f[s:N] = sum[t where 3 > (t + k[s]) % 99999 and t <= s] x[t]
output g[s:N] = any[t where (t - k[s]) % N >= N - W] (x[t] > 998)
output h[s:N] = sum[t where (t - s + N) % N <= W] x[t] * x[s]
output i[s:N] = max[t where (s - t) % D == W and t // D == k[s] // D] x[t]
output j[s:N] = logsumexp[t where (s + t) % D == 1] x[t]
output l[s:N] = sum[t:N, u:4 where (s + t) % D == u] x[t]
output n[s:N] = sum[t where t % W == s % W] x[t]
output o[s:N] = (argmax[t where (t + 1) % W == k[s] and x[t] > 3] x[t]) ?? -1
END
want 0 timeout 60 "$EIN" run remainders.ein -D N=1000000 -D W=6 -D D=100003 --target=c --threads 1 --flags="-O1 -DEIN_ONE_VERSION" -o all=remainders/
silent # nobody warns of hours

# The same in other words: floats made of labels, conditions as factors and within any and all, rings by distances.
cat >words.ein <<'END'
dim N, W
input k[s:N] : i64 = (7 * s) % N
input x[t:N] : f32 = f32(t % 1000)
output a[s:N] = sum[t where abs(f32(t - s)) <= 2.5] x[t] * x[s]
output b[s:N] = max[t where 0.5 * abs(f32(t - s)) < 2.5 and f32(t) * 0.5 > 3.5] x[t] - x[s]
output c[s:N] = sum[t where sqrt(f64((t - s) ^ 2)) <= 4.0] x[t] * x[s]
output d[s:N] = sum[t where abs(f32(t - s)) > 2.5] x[t]
output e[s:N] = any[t] (abs(t - k[s]) <= 4 and x[t] > 998)
output f[s:N] = any[t] (x[t] > 998 and abs(t - s) <= 4)
output g[s:N] = all[t] (abs(t - s) > 4 or x[t] > 998)
output h[s:N] = all[t] (t > s + 3 or t < k[s] or t < s or x[t] > 800)
output i[s:N] = sum[t] k[t] * i64(t <= s and s < t + 5)
output j[s:N] = sum[t:N] f32(abs(t - s) <= 4)
output l[s:N] = sum[t:N] f32(abs(t - s) <= 4) * f32(k[t])
output m[s:N] = sum[t where min(abs(t - s), N - abs(t - s)) <= 5 and t != s] x[t] * x[s]
output n[s:N] = sum[t] if (t - s) % N < W then x[t] * x[s] else 0
output o[s:N] = (argmax[t where abs(f32(t - s)) <= 2.5] x[t]) ?? -1
END
want 0 timeout 60 "$EIN" run words.ein -D N=1000000 -D W=6 --target=c --threads 1 --flags="-O1 -DEIN_ONE_VERSION" -o all=words/
silent # nobody warns of hours

# A slice of a state costs what the slice does, whatever its value is made of.
cat >slices.ein <<'END'
dim N
input A[t:N,h:64] : f32 = f32((t + h) % 5)
input W[h:64,g:64] : f32 = f32((h * g) % 3)
input place[t:N] : i64 = (7 * t) % N
repeat t < N {
  state K[u:N,h:64] : f32 = 0
  state L[u:N,h:64] : f32 = 0
  state M[u:N,h:64] : f32 = 0
  state P[u:N,h:64] : f32 = 0
  next K[u,h] = if u == t then sum[g] A[u,g] * W[g,h] else K[u,h]
  next L[u,h] = if u != place[t] then L[u,h] else exp(A[t,h])
  next M[u,h] = if u == t then max[g] (A[u,g] + W[g,h]) else M[u,h]
  next P[u,h] = P[u,h] + (if u == t then A[u,h] else 0) - (if u == place[t] then W[h,3] else 0)
}
output K, L, M, P
END
want 0 timeout 60 "$EIN" run slices.ein -D N=20000 --target=c --threads 1 --flags="-O1 -DEIN_ONE_VERSION" -o all=slices/

# So it does where it is made of other elements of the state, and where several slices are changed at once.
cat >itself.ein <<'END'
dim N
input place[t:N] : i64 = (7 * t) % N
repeat t < N {
  state F[u:N] : i64 = 1
  state G[u:N] : i64 = u
  state A[u:N,h:64] : i64 = u + h
  next F[u] = if u == t then (if t > 0 then F[t-1] else 0) + F[place[t]] else F[u]
  next G[u] = if u == t or u == place[t] then F[N-1-t] else G[u]
  next A[u,h] = if u == t then A[place[t],h] else if u == place[t] then A[t,h] else if u == N-1-t then A[t,63-h] else A[u,h]
}
output F, G, A
END
want 0 timeout 60 "$EIN" run itself.ein -D N=200000 --target=c --threads 1 --flags="-O1 -DEIN_ONE_VERSION" -o all=itself/

# A piece of a state from somewhere to somewhere, as turns or data say, costs what the piece does.
cat >pieces.ein <<'END'
dim N
input lo[t:N] : i64 = (7 * t) % N
input hi[t:N] : i64 = (7 * t) % N + 5
input x[t:N] : f32 = f32(t % 1000)
repeat t < N {
  state A[q:N] : f32 = 0
  state B[q:N] : f32 = 0
  state C[q:N,h:4] : f32 = 0
  state D[h:2,q:N,u:2] : f32 = 0
  state E[q:N] : f32 = 0
  next A[q] = if lo[t] <= q and q < hi[t] then x[t] else A[q]
  next B[q] = if q < t or q >= t + 3 then B[q] else B[q] + x[q]
  next C[q,h] = if q > lo[t] and hi[t] >= q then C[q,3-h] + x[q] else C[q,h]
  next D[h,q,u] = D[h,q,u] + (if t <= q and q <= t + 2 then x[t] else 0)
  next E[q] = if q == t or lo[t] <= q and q < hi[t] then E[N-1-q] + 1 else E[q]
}
output A, B, C, D, E
END
want 0 timeout 60 "$EIN" run pieces.ein -D N=200000 --target=c --threads 1 --flags="-O1 -DEIN_ONE_VERSION" -o all=pieces/

# So does a diagonal, with which tables are filled: each element from its neighbours on the diagonals before.
cat >diagonals.ein <<'END'
dim N
input a[i:N] : i32 = i32((i * i) % 5)
input b[j:N] : i32 = i32((3 * j) % 5)
repeat t < 2 * N - 1 {
  state D[i:N,j:N] : i32 = 0
  state E[i:N,j:N] : i32 = 0
  next D[i,j] = if i + j == t then max(D[i-1,j] ?? 0, D[i,j-1] ?? 0, (D[i-1,j-1] ?? 0) + if a[i] == b[j] then 1 else 0) else D[i,j]
  next E[i,j] = if j - i == t and i < 9 then 1 + E[i,j-1] ?? 0 else E[i,j]
}
output d = D[N-1,N-1]
output e = E[0,N-1]
END
want 0 timeout 60 "$EIN" run diagonals.ein -D N=3000 --target=c --threads 1 --flags="-O1 -DEIN_ONE_VERSION"

# Messages along edges: all are visited once, also where some outputs have no value and take another.
cat >messages.ein <<'END'
dim N
input from[e:4*N] : i64 = (7 * e) % N
input to[e:4*N] : i64 = (5 * e * e) % N
input x[v:N,f:8] : f32 = f32((v + f) % 9)
input half[v:N] : i64 = v // 2
output a[v:N,f] = (mean[e where to[e] == v] x[from[e],f]) ?? 0
output b[v:N,f] = (sum[e where to[e] == v] x[from[e],f]) ?? -1
output c[v:N] = (max[e where to[e] == v and e % 3 < 2] x[from[e],v % 8]) ?? -1
output d[v:N] = if v > 9 then sum[e where to[e] == v] x[half[v],from[e] % 8] else 0
output g[v:N] = (logsumexp[e where to[e] == v] x[from[e],3]) ?? -1
END
want 0 timeout 60 "$EIN" run messages.ein -D N=100000 --target=c --threads 1 --flags="-O1 -DEIN_ONE_VERSION" -o all=messages/
silent # nobody warns of hours
finish
