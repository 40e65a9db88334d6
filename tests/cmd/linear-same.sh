#!/bin/sh
# suite: ci
# Restricted loops give the same results: the predicates of linear.sh over numbers, some of them below 0, very large,
# or equal; for few points and for many; slices of states; and messages along edges, which some outputs lack. All are
# integers, so results are compared to the bit.
. "$(dirname "$0")/common"
XDG_CACHE_HOME=$work/cache
export XDG_CACHE_HOME

cat >same.ein <<'END'
dim N
input k[s:N] : i64 = if s % 11 == 4 then 9223372036854775807 else if s % 13 == 5 then -9223372036854775808 else (5 * s) % (3 * N + 2) - 2
input row[z:N] : i64 = if z % 17 == 3 then -9223372036854775808 else if z % 19 == 3 then 9223372036854775807 else (3 * z * z) % (3 * N + 7) - 2
input x[t:N] : i64 = (37 * t) % 23 - 5
input w[t:N] : f32 = if t % 29 == 7 then nan else if t % 31 == 3 then -inf else f32((37 * t) % 23 - 5)
output a[s:N] = (argmax[t where t < s and x[t] > 3] w[t]) ?? -1
output b[s:N] = argmin[t where t >= s] w[t]
output c[s:N] = (argmax[t where t % 100 == k[s]] w[t]) ?? -1
output d[s:N] = (argmin[t where row[t] == k[s]] w[t]) ?? -1
output e[s:N] = (argmax[t where k[s] <= t] w[t]) ?? -1
output f[s:N] = (argmax[t where t - t % 4 == s - s % 4] w[t]) ?? -1
output g[s:N] = (argmin[t where 2 * s <= t and x[t] > 0] w[t]) ?? -1
output h[s:N] = sum[t where k[s] != t and x[t] > 3] x[t]
output i[s:N] = sum[t] if t + 1 == s then 0 else x[t]
output j[s:N] = max[t where t != s // 2] x[t]
output l[s:N] = max[t where row[t] % 100 == k[s] and x[t] > 3] x[t]
output m[s:N] = sum[t where t <= s // 2] x[t]
output n[s:N] = sum[z where row[z] == k[s]] x[z]
output o[s:N] = max[z where k[s] == row[z] and x[z] > 3] x[z]
output p[s:N] = sum[z] if row[z] == k[s] then x[z] else 0
output q[s:N] = sum[z where row[z] // 2 == 3 * s] x[z]
output r[s:N] = sum[z where k[s] < 0 and x[z] > 3] x[z] * x[s]
output t[s:N] = max[z where s % 5 == 1 and row[z] >= k[s]] x[z] - x[s]
output u[s:N] = min[t where t - t % 6 <= s] x[t]
output v[s:N] = sum[t where 5 * (t // 5) == s - 3] x[t]
output y[s:N] = sum[t where 5 * (t // 5) > s - 3] x[t]
output z[s:N] = sum[t where i8(row[t]) == i8(k[s])] x[t]
END
cat >pieces.ein <<'END'
dim N
input lo[t:N] : i64 = if t % 11 == 4 then -9223372036854775808 else (5 * t) % (N + 3) - 2
input hi[t:N] : i64 = if t % 13 == 5 then 9223372036854775807 else (5 * t) % (N + 3) + 3
input x[t:N] : i64 = (37 * t) % 23 - 5
repeat t < N {
  state a[q:N] : i64 = q
  state b[q:N] : i64 = 0
  state c[q:N,h:4] : i64 = 0
  state d[h:2,q:N,u:2] : i64 = 0
  state e[q:N] : i64 = 1
  state f[q:N] : i64 = 3
  next a[q] = if lo[t] <= q and q < hi[t] then (a[q-1] ?? 7) + x[t] else a[q]
  next b[q] = if q < t or q >= t + 3 then b[q] else b[q] + x[q]
  next c[q,h] = if q > lo[t] and hi[t] >= q and h != t then c[q,3-h] + x[q] else c[q,h]
  next d[h,q,u] = d[h,q,u] + (if t <= q and q <= t + 2 and x[q] > 0 then x[t] else 0)
  next e[q] = if q == t or lo[t] <= q and q < hi[t] then e[N-1-q] + f[q] else e[q]
  next f[q] = if f[t] <= q and q < f[t] + 4 then e[q] % 7 else f[q]
}
output a, b, c, d, e, f
END
cat >near.ein <<'END'
dim N
dim W = N % 5
input k[s:N] : i64 = if s % 11 == 4 then 9223372036854775807 else if s % 13 == 5 then s - 9223372036854775807 else (5 * s) % (3 * N + 2) - 2
input w[s:N] : i64 = if s % 7 == 4 then 9223372036854775807 else if s % 5 == 2 then -9223372036854775808 else s % 4 - 1
input x[t:N] : i64 = (37 * t) % 23 - 5
output a[s:N] = sum[t where abs(t - k[s]) <= 5] x[t]
output b[s:N] = max[t where abs(k[s] + 2 - t) < W] x[t] - x[s]
output c[s:N] = sum[t where abs(t - s) <= w[s]] x[t] * x[s]
output d[s:N] = sum[t where (t - s) ^ 2 <= 25] x[t]
output e[s:N] = max[t where (s - t) * (s - t) < W * W] x[t]
output f[s:N] = sum[t where max(t, s) - min(t, s) <= 5] x[t]
output g[s:N] = sum[t:N] if min(t - s, s - t) > -W then x[t] else 0
output h[s:N] = sum[t where abs(2 * t - s) <= 5] x[t] * x[s]
output i[s:N] = sum[t where 2 * t <= s and s < 2 * t + W] x[t]
output j[s:N] = sum[t where 3 * t <= 2 * s] x[t]
output l[s:N] = (argmax[t where t // W == s // W and t <= s] x[t]) ?? -1
output m[s:N] = sum[t where t // W <= s // W] x[t]
output n[s:N] = any[t where t // W == k[s] // W] (x[t] > 9)
output o[s:N] = sum[t where s // W - t // W <= 1 and s // W - t // W >= 0] x[t]
output p[s:N] = sum[t where abs(s // 4 - t // 4) <= 1] x[t]
output q[s:N,r:5] = sum[t:N, u:5 where (t - s) ^ 2 + (u - r) ^ 2 <= W * W] (x[t] + u)
output r[s:N] = count[t:N where abs(t - k[s]) <= w[s]]
output u[s:N] = sum[t where t // w[s] == k[s]] x[t]
output v[s:N] = sum[t where (t - s + 3) // W < 2] x[t]
output y[s:N] = sum[t where W >= abs(k[s] - t)] x[t]
output z[s:N] = max[t where (t - s) ^ 2 <= w[s]] x[t]
END
cat >either.ein <<'END'
dim N
dim W = N % 5
input k[s:N] : i64 = if s % 11 == 4 then 9223372036854775807 else if s % 13 == 5 then s - 9223372036854775807 else (5 * s) % (3 * N + 2) - 2
input y[s:N] : i64 = (5 * s) % 7
input x[t:N] : i64 = (37 * t) % 23 - 5
input w[t:N] : f32 = if t % 29 == 7 then nan else if t % 31 == 3 then -inf else f32((37 * t) % 23 - 5)
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
output m[s:N] = any[t:N] ((t == s + 1 or t == s - 1) and x[t] > 9)
output n[s:N] = all[t where t < s or t > s + W] (x[t] >= 0)
output o[s:N] = sum[t where y[t] == y[s] or t == s] x[t]
output p[s:N] = count[t:N where (t == s or t == k[s]) and x[t] > 3]
output q[s:N] = (argmax[t where t == s + 1 or t == k[s] or t > N] w[t]) ?? -1
output r[s:N] = (argmin[t where abs(t - s) > 3 and t != 8] w[t]) ?? -1
output u[s:N] = sum[t where t < s or t > k[s]] x[t]
output v[s:N] = max[t where s > 0 and (t <= (k[s-1] ?? 0) or t == s) and t != 5] x[t]
END

cat >remainders.ein <<'END'
dim N
dim D = N % 7
dim W = N % 5
input k[s:N] : i64 = if s % 11 == 4 then 9223372036854775807 else if s % 13 == 5 then s - 9223372036854775807 else (5 * s) % (3 * N + 2) - 2
input m[s:N] : i64 = if s % 11 == 2 then 9223372036854775807 else if s % 13 == 8 then -9223372036854775808 else s % 23 - 7
input x[t:N] : i64 = (37 * t) % 23 - 5
input w[t:N] : f32 = if t % 29 == 7 then nan else if t % 31 == 3 then -inf else f32((37 * t) % 23 - 5)
output a[s:N] = sum[t where t % D == s % D] x[t] * x[s]
output b[s:N] = max[t where t % m[s] == k[s] % 9] x[t] * x[s]
output c[s:N] = sum[t where (t - s) % W == 0 and abs(t - s) <= 6 * W] x[t] * x[(t + s) % N]
output d[s:N] = max[t where (t + 3) % D == (s + 5) % D] x[t]
output e[s:N] = (argmax[t where (s - t + k[s]) % D < 2] w[t]) ?? -1
output f[s:N] = sum[t where 3 > (t + k[s]) % 49 and t <= s] x[t]
output g[s:N] = any[t where (t - k[s]) % N >= N - W] (x[t] > 9)
output h[s:N] = sum[t where (t - s + N) % N <= W] x[t] * x[s]
output i[s:N] = max[t where (s - t) % D == W and t // D == k[s] // D] x[t]
output j[s:N] = sum[t where (s - t) % m[s] > m[s] - 3] x[t]
output l[s:N] = sum[t:N, u:4 where (s + t) % D == u] x[t]
output n[s:N] = sum[t where (t - s) % 10 <= k[s]] x[t]
output o[s:N] = sum[t where k[s] <= (t + m[s]) % 8] x[t]
output p[s:N] = sum[t where k[s] == (m[s] - t) % m[s] and t > 2] x[t]
output q[s:N] = sum[t where (t + x[s]) % 12 >= 9 and t % 5 == 1] x[t]
output r[s:N] = sum[t where (t + x[s]) % 12 == m[s] % 12 or t == s] x[t]
END

cat >words.ein <<'END'
dim N
dim W = N % 5
input k[s:N] : i64 = if s % 11 == 4 then 9223372036854775807 else if s % 13 == 5 then s - 9223372036854775807 else (5 * s) % (3 * N + 2) - 2
input x[t:N] : i64 = (37 * t) % 23 - 5
output a[s:N] = sum[t where abs(f32(t - s)) <= 2.5] x[t] * x[s]
output b[s:N] = max[t where 0.5 * abs(f32(t - s)) < 2.5 and f32(t) * 0.5 > 3.5] x[t] - x[s]
output c[s:N] = sum[t where sqrt(f64((t - s) ^ 2)) <= 4.0] x[t] * x[s]
output d[s:N] = sum[t where abs(f32(t - s)) > 2.5] x[t]
output e[s:N] = any[t] (abs(t - k[s]) <= 4 and x[t] > 9)
output f[s:N] = any[t] (x[t] > 9 and abs(t - s) <= 4)
output g[s:N] = all[t] (abs(t - s) > 4 or x[t] > 0)
output h[s:N] = all[t] (t > s + 3 or t < k[s] or t < s or x[t] > 9)
output i[s:N] = sum[t] x[t] * i64(t <= s and s < t + 5)
output j[s:N] = sum[t:N] i64(f32(k[s] - t) < 3.0 and f32(t - k[s]) * 3.0 <= 7.0)
output l[s:N] = sum[t where f16(t - k[s]) >= 2.5 and f32(t - k[s]) / 0.3 < 100.0] x[t]
output m[s:N] = sum[t where min(abs(t - s), N - abs(t - s)) <= W and t != s] x[t] * x[s]
output n[s:N] = sum[t] if (t - s) % N < W then x[t] * x[s] else 0
output o[s:N] = (argmax[t where floor(f64(t - s) / 3.0) == 1.0 or -f32(t) + 2.0 >= 1.5] x[t]) ?? -1
END

cat >diagonals.ein <<'END'
dim N
dim M = N // 2 + 3
input x[t:N] : i64 = (37 * t) % 23 - 5
repeat t < N + M {
  state a[i:N,j:M] : i64 = 0
  state b[i:N,j:M] : i64 = i
  state c[i:N,j:M,h:3] : i64 = i + 2 * j + h
  state d[i:N,j:N] : i64 = i + j
  state e[i:N,j:M] : i64 = 1
  next a[i,j] = if i + j == t then (if i == 0 then x[0] - j else if j == 0 then x[i] else max(a[i-1,j], a[i,j-1], a[i-1,j-1] + x[i])) else a[i,j]
  next b[i,j] = if t == 3 + j - i and x[i] > 0 then (b[i+1,j] ?? 5) - x[i] else if 2 * i + j == t then (b[N-1-i,j] + b[i,j]) % 101 else b[i,j]
  next c[i,j,h] = if j + h == t - 2 * i then c[N-1-i,j,h] + 1 else c[i,j,h]
  next d[i,j] = if i == j then (d[t % N,j] + x[i]) % 1009 else d[i,j]
  next e[i,j] = if 2 * i == 2 * j + t or i - t == -j then e[i,j] + x[i] else e[i,j]
}
output a, b, c, d, e
END
cat >messages.ein <<'END'
dim N
dim M = 3 * N - 2
input from[e:M] : i64 = (7 * e) % (N + 2)
input to[e:M] : i64 = (5 * e * e) % (N + 1)
input x[v:N,f:8] : i64 = (37 * v) % 23 - f
input turn[v:N] : i64 = (3 * v) % (N + 1)
output a[v:N,f] = (sum[e where to[e] == v] x[from[e],f]) ?? -7
output b[v:N,f] = (max[e where to[e] == v and e % 3 < 2] x[from[e],f]) ?? -7
output c[v:N,f] = if v > 2 then sum[e where to[e] == v] x[v-3,f] * e else 0
output d[v:N,u:4] = (sum[e where to[e] == v and e // 2 == u] x[from[e],u + v % 4]) ?? -7
output g[v:N,f] = (sum[e where to[e] == v] x[turn[v],f] * e) ?? -7
output h[u:4,v:N] = if u < M then min[e:M where to[u+0] + e % 3 == v] x[(u + e) % N,e % 8] else u
END

same() { # PROGRAM OUTPUTS: as eval has them, for several sizes
  for n in 1 2 7 40 300; do
    want 0 "$EIN" run $1.ein -D N=$n -o all=eval/
    want 0 "$EIN" run $1.ein -D N=$n --target=c --flags="-O1 -DEIN_ONE_VERSION" -o all=c/
    for name in $2; do
      cmp eval/$name.npy c/$name.npy || wrong "output $name of $1.ein differs for N = $n"
    done
  done
}
same same "a b c d e f g h i j l m n o p q r t u v y z"
same near "a b c d e f g h i j l m n o p q r u v y z"
same either "a b c d e f g h i j l m n o p q r u v"
same remainders "a b c d e f g h i j l n o p q r"
same words "a b c d e f g h i j l m n o"
same pieces "a b c d e f"
same diagonals "a b c d e"
same messages "a b c d g h"
finish
