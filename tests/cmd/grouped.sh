#!/bin/sh
# suite: ci
# Products in which data choose one of a few matrices for each row, and their gradients: rows are sorted by what they choose, unless there
# are few for each matrix, or matrices are small. A choice that does not exist is named as ever.
. "$(dirname "$0")/common"
XDG_CACHE_HOME=$work/cache
export XDG_CACHE_HOME

cat >experts.ein <<'EIN'
use nn
dim T = 60, C = 128, F = 80, E = 5
input x[t:T,c:C] : f64 = (3 * t + c) % 7 - 3
param G[c:C,e:E] : f64 = (c * c + 3 * e) % 11 - 5
param W[e:E,c:C,f:F] : f64 = (e + 2 * c + f) % 5 - 2
g[t] = argmax[e] sum[c] x[t,c] * G[c,e]
output Y[t,f] = relu(sum[c] x[t,c] * W[g[t],c,f])
loss = sum[t,f] Y[t,f]
output D[e,c,f] = grad(loss, W[e,c,f])
output d[t,c] = grad(loss, x[t,c])
EIN

# kernels N FILE [OPTION...]: so many kernels of the program are by groups
kernels() {
  n=$1
  shift
  want 0 "$EIN" build --stop=loop -o - "$@"
  [ "$(grep -c 'rows sorted into' out)" = "$n" ] || wrong "not $n kernels by groups: $*"
}
kernels 6 experts.ein # each with wide and with narrow registers
kernels 0 experts.ein -D T=12
kernels 0 experts.ein -D C=40

want 0 "$EIN" verify experts.ein --target=jit
want 0 "$EIN" verify experts.ein --target=c --flags=-O1 --threads=2

cat >chosen.ein <<'EIN'
dim T = 40, C = 128, F = 80, E = 5
input x[t:T,c:C] : i32 = (3 * t + c) % 7 - 3
input W[e:E,c:C,f:F] : i32 = (e + 2 * c + f) % 5 - 2
input g[t:T] : i32 = t % 6
output Y[t,f] = sum[c] x[t,c] * W[g[t],c,f]
EIN
kernels 2 chosen.ein
want 1 "$EIN" run chosen.ein --target=jit
says 'index 1 of W, read for Y: 5 is out of range, its size is 5 (chosen.ein:5)'
sed -i 's/ % 6/ % 5/' chosen.ein
want 0 "$EIN" verify chosen.ein --target=jit
want 0 "$EIN" run chosen.ein --target=jit -D F=0

want 0 python3 "$here/../random/grouped.py" "$EIN" 1 22
want 0 python3 "$here/../random/grouped.py" "$EIN" 101 104 -n 2 --flags=-O0

# Messages along edges, by a matrix for each relation, and their gradients: a message is summed before it goes to its node.
cat >edges.ein <<'EIN'
dim N = 40, Z = 200, R = 4, C = 96, F = 96
input X[n:N,c:C] : f64 = (7 * n + c) % 9 - 4
input from[z:Z], to[z:Z] : i64 = (z * z + 3) % 40
param W[r:R,c:C,f:F] : f64 = (r + 3 * c + f) % 7 - 3
M[z,f] = sum[c] X[from[z],c] * W[z % 4 + 0 * to[z],c,f]
output H[n:N,f] = sum[z where to[z] == n] M[z,f]
loss = sum[n,f] H[n,f]^2
output D[n,c] = grad(loss, X[n,c])
EIN
want 0 "$EIN" verify edges.ein --target=jit
want 0 "$EIN" build edges.ein --stop=optimised
grep -q 'grad.X.*where.*] %[0-9]*\[z, c\]' out || wrong "a message's terms go to its node one by one: $(cat out)"
want 0 python3 "$here/../random/chosen.py" "$EIN" 41 80
finish
