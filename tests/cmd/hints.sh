#!/bin/sh
# A hint can be typed and works. Each line has a mistake, the expected part of the message, and the line with the hint
# applied. All lines follow the same declarations, and the corrected line must pass `ein check`.
. "$(dirname "$0")/common"

head='input X[i:3, j:4], A[i:3, j:4], B[j:4, k:2], S[i:3, j:3], x[i:3], y[i:3], W[k:2, j:4], b[k:2] : f32
input n[i:3] : i64'
while IFS='|' read -r wrong hint right; do
  [ -n "$wrong" ] || continue
  printf '%s\n%b\n' "$head" "$wrong" >wrong.ein
  printf '%s\n%b\n' "$head" "$right" >right.ein
  want 1 "$EIN" check wrong.ein
  says "$hint"
  want 0 "$EIN" check right.ein
done <<'LINES'
output z[i] = 2 * N[i]|did you mean `n`?|output z[i] = 2 * n[i]
output z[i] = if x[i] > 0 then True else false|write `true`|output z[i] = if x[i] > 0 then true else false
output z[i] = PI * x[i]|write `pi`|output z[i] = pi * x[i]
output z[i] = Exp(x[i])|did you mean `exp`?|output z[i] = exp(x[i])
output z[i,k] = linear[j](X[i,j], W[k,j], b[k])|write `use nn` above|use nn\noutput z[i,k] = linear[j](X[i,j], W[k,j], b[k])
output z[i,k] = matmul(A, B)|`sum[k] A[i,k] * B[k,j]`|output z[i,j] = sum[k] A[i,k] * B[k,j]
output z[i,k] = matmul[j](A[i,j], B[j,k])|write `use linalg` above|use linalg\noutput z[i,k] = matmul[j](A[i,j], B[j,k])
output z = dot(x[i], y[i])|`sum[i] x[i] * y[i]`|output z = sum[i] x[i] * y[i]
output z = inner(x, y)|`sum[k] x[k] * y[k]`|output z = sum[k] x[k] * y[k]
output z[i,j] = tril(S[i,j])|`if j <= i then S[i,j] else 0`|output z[i,j] = if j <= i then S[i,j] else 0
output z[i,k:4] = one_hot(n[i], 4)|`if n[i] == k then 1 else 0`|output z[i,k:4] = if n[i] == k then 1 else 0
output z[i] = pow(x[i] + 1, 2)|`(x[i] + 1)^2`|output z[i] = (x[i] + 1)^2
output z[i] = clip(x[i], 0, 1)|`clamp(x[i], 0, 1)`|output z[i] = clamp(x[i], 0, 1)
output z[i] = var(X[i,j])|`variance[j](X[i,j])`|output z[i] = variance[j](X[i,j])
output z[i] = isfinite(x[i])|`abs(x[i]) < inf`|output z[i] = abs(x[i]) < inf
output z[i:3] = topk(x[i], 3)|`T[k:3] = sum[i where R[i] == k] x[i]`|R[i] = count[k where x[k] > x[i] or (x[k] == x[i] and k < i)]\noutput T[k:3] = sum[i where R[i] == k] x[i]
output z[i] = sum(X, axis=1)|`sum[j] X[i,j]`|output z[i] = sum[j] X[i,j]
output z[i] = sum(X[i,j], 1)|`sum[j] X[i,j]`|output z[i] = sum[j] X[i,j]
output z[i,j] = softmax(X[i,j], dim=-1)|`softmax[j](X[i,j])`|output z[i,j] = softmax[j](X[i,j])
output z[i,j] = softmax(X[i,j])|`softmax[j](X[i,j])`|output z[i,j] = softmax[j](X[i,j])
output z[i] = clamp(x[i], lo=0, hi=1)|`clamp(x[i], 0, 1)`|output z[i] = clamp(x[i], 0, 1)
f = lambda a: a + 1\noutput z[i] = f(x[i])|`def f(a) = a + 1`|def f(a) = a + 1\noutput z[i] = f(x[i])
f = a -> a + 1\noutput z[i] = f(x[i])|`def f(a) = a + 1`|def f(a) = a + 1\noutput z[i] = f(x[i])
f(a) = a + 1\noutput z[i] = f(x[i])|`def f(a) = a + 1`|def f(a) = a + 1\noutput z[i] = f(x[i])
def f[i](a) = min[i] a, max[i] a\nlo, hi = f[i](x[i])\noutput lo, hi|in parentheses: `(a, b)`|def f[i](a) = (min[i] a, max[i] a)\nlo, hi = f[i](x[i])\noutput lo, hi
def f[i](a) = (min[i] a, max[i] a)\noutput lo = f[i](x[i])|`y1, y2 = f[i](a)`|def f[i](a) = (min[i] a, max[i] a)\ny1, y2 = f[i](x[i])\noutput y1, y2
def f(a[i]) = sum[i] a\noutput z = f(x[i])|`def f[i](a)`|def f[i](a) = sum[i] a\noutput z = f[i](x[i])
output z[i] = 1.5f * x[i]|write `1.5`|output z[i] = 1.5 * x[i]
output z[i] = 1.5d0 * x[i]|`1.5e0`|output z[i] = 1.5e0 * x[i]
output z[i] = 0xff * x[i]|`255`|output z[i] = 255 * x[i]
output z[i] = sum[j’] X[i,j’]|`j'`|output z[i] = sum[j'] X[i,j']
output z[i] = Σ_j X[i,j]|`sum[j] X[i,j]`|output z[i] = sum[j] X[i,j]
output z[i] = ∑_j X[i,j]|`sum[j] X[i,j]`|output z[i] = sum[j] X[i,j]
output z = Σ_ij X[i,j]|`sum[i,j] X[i,j]`|output z = sum[i,j] X[i,j]
output z[i] = SUM[j] X[i,j]|write `sum[j] X[i,j]`|output z[i] = sum[j] X[i,j]
output z[i] = sum(X[i,j] for j in range(4))|write `sum[j] X[i,j]`|output z[i] = sum[j] X[i,j]
output z[i] = x_{i}|`x[i]`|output z[i] = x[i]
output z[i] = x_i|`x[i]`|output z[i] = x[i]
output C[j,i] = A'|`B[j, i] = A[i, j]`|output C[j,i] = A[i, j]
output z[i] = np.exp(x[i])|`exp(...)`|output z[i] = exp(x[i])
output z[i] = 2(x[i] + 1)|`2 * (x[i] + 1)`|output z[i] = 2 * (x[i] + 1)
output z[i] = sin^2(x[i])|`sin(x[i])^2`|output z[i] = sin(x[i])^2
output z[i] = (double)x[i]|`f64(x[i])`|output z[i] = f64(x[i])
float z = 3\noutput y2 = z|`z : f32 = ...`|z : f32 = 3\noutput y2 = z
repeat t < 4 {\n  state s = t\n  next s = s + 1\n}\noutput s|write `0` for it|repeat t < 4 {\n  state s = 0\n  next s = s + 1\n}\noutput s
repeat t < 3 {\n  state s = x[t]\n  next s = s + 1\n}\noutput s|write `0` for it|repeat t < 3 {\n  state s = x[0]\n  next s = s + 1\n}\noutput s
output z = sqdist(x, y)|`sum[k] (x[k] - y[k])^2`|output z = sum[k] (x[k] - y[k])^2
output z = cdist(X, X)|`sqrt(sum[k] (x[i,k] - y[j,k])^2)`|output z[i,l:3] = sqrt(sum[k] (X[i,k] - X[l,k])^2)
output z = det(S)|given as an `input`|input d : f32\noutput z = d
output z = inv(S)|give the inverse as an `input`|input V[i:3,j:3] : f32\noutput z[i,j] = V[i,j]
output z[i] = 50% * x[i]|50 per cent are `0.5`|output z[i] = 0.5 * x[i]
output z[i] = x[i] * 12.5%|12.5 per cent are `0.125`|output z[i] = x[i] * 0.125
dim N = len(x)\noutput z[i:N] = x[i+0]|`dim N`, and then `input X[i:N] : f32`|dim N\ninput u[i:N] : f32\noutput z[i] = u[i]
output z[i] = X[i,*]|by its label, as in `X[i, j]`|output z[i,j] = X[i, j]
output z[j] = X[*,j]|by its label, as in `X[i, j]`|output z[i,j] = X[i, j]
output z[i] = X[i,]|by its label, as in `X[i, j]`|output z[i,j] = X[i, j]
output z = sum_i,j X[i,j]|`sum[i,j] X[i,j]`|output z = sum[i,j] X[i,j]
output z = max_i,j X[i,j] + 1|`max[i,j] X[i,j] + 1`|output z = max[i,j] X[i,j] + 1
output z[i] = x[i] ^^ 2|`x^2`|output z[i] = x[i]^2
output z[i] = exp(x)[i]|`f(x[i])`|output z[i] = exp(x[i])
output z = <x, y>|`sum[k] x[k] * y[k]`|output z = sum[k] x[k] * y[k]
output z = (x[0], 2)|an equation defines one tensor|output z = x[0]\noutput w = 2
output z[i] = merge(y[i], x[i], x[i] > 0)|`if (x[i] > 0) then y[i] else x[i]`|output z[i] = if x[i] > 0 then y[i] else x[i]
output z[i] = if x[i] .gt. 0 then x[i] else 0|write `>`|output z[i] = if x[i] > 0 then x[i] else 0
output z[i] = x[i] > 0 .and. y[i] > 0|write `and`|output z[i] = x[i] > 0 and y[i] > 0
real :: q(3)|`input X[i:8] : f32`|input X2[i:8] : f32
val q = 3\noutput z = q|needs no `val`|q = 3\noutput z = q
using nn\noutput z[i] = x[i]|write `use nn`|use nn\noutput z[i] = x[i]
use "nn"\noutput z[i] = x[i]|write `use nn`|use nn\noutput z[i] = x[i]
output z[i] = maximum(X[i,j], dims=1)|`max[j] X[i,j]`|output z[i] = max[j] X[i,j]
output z[i] = amin(X, axis=1)|`min[j] X[i,j]`|output z[i] = min[j] X[i,j]
output z[i] = 1,000 * x[i]|write `1000`|output z[i] = 1000 * x[i]
output z[i] = 2e3.5 * x[i]|`2 * 10^3.5`|output z[i] = 2 * 10^3.5 * x[i]
output z[i] = x[i] : f64|`z[i] : f64 = ...`|output z[i] : f64 = x[i]
output z[i] = sum[j:] X[i,j]|`j:8`, or `j` alone|output z[i] = sum[j] X[i,j]
output z[i] = if x[i] > 0 and\n  !(y[i] > 0) then 1 else 0|write `not`|output z[i] = if x[i] > 0 and\n  not (y[i] > 0) then 1 else 0
! half of it\noutput z[i] = x[i]|a comment begins with `#`|# half of it\noutput z[i] = x[i]
output z[i] = ∇x[i]|`grad(loss, x[i])`|loss = sum[i] x[i]^2\noutput z[i] = grad(loss, x[i])
output z[i] = x[i]\nend|ends with its line|output z[i] = x[i]
output z[i] = f32 n[i]|`f32(n[i])`|output z[i] = f32(n[i])
repeat t < 3 {\n  state v = 0.0\n  v++\n}\noutput v|`next v = v + 1`|repeat t < 3 {\n  state v = 0.0\n  next v = v + 1\n}\noutput v
-- half of it\noutput z[i] = x[i]|a comment begins with `#`|# half of it\noutput z[i] = x[i]
/* half of it */\noutput z[i] = x[i]|a comment begins with `#`|# half of it\noutput z[i] = x[i]
LINES
finish
