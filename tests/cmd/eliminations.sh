#!/bin/sh
# suite: ci
# States of which a turn changes parts that depend on other parts: pivots, rows and columns that are read where nothing is stored.
. "$(dirname "$0")/common"

start() { # start NAME: a program of an N x N state U, whose next value stdin gives
  { echo 'dim N = 40'; echo 'input A[i:N,j:N] : f64 = if i == j then N + i else (7*i + 3*j) % 11 - 5'; echo 'repeat k < N {'
    echo '  state U[i:N,j:N] : f64 = A[i,j]'; cat; echo '}'; echo 'output U'; } >"$1.ein"
}
parts() { # parts N TEXT: a turn of the last program takes N kernels and no second U, one of them where TEXT holds
  [ "$(grep -c '^  kernel' out) $(grep -c exchange out)" = "$1 0" ] || wrong "not $1 kernels: $(cat out)"
  shows "domain $2"
}

# What the pivot's row and column say is read below and right of them.
start gauss <<'END'
  next U[i,j] = if i > k and j > k then U[i,j] - U[i,k] / U[k,k] * U[k,j] else U[i,j]
END
want 0 "$EIN" build gauss.ein --stop=task
parts 1 '((i > @k) and (j > @k))'
want 0 "$EIN" verify gauss.ein --threads 2 --flags=-O1
# The column changes after it was read; what one condition says is not said again.
start lu <<'END'
  next U[i,j] = if i > k then (if j == k then U[i,k] / U[k,k] else if j > k then U[i,j] - U[i,k] / U[k,k] * U[k,j] else U[i,j]) else U[i,j]
END
want 0 "$EIN" build lu.ein --stop=task
parts 2 '((i > @k) and (j > @k))'
want 0 "$EIN" verify lu.ein --threads 2 --flags=-O1
# The diagonal changes the column that reads it, so that is computed aside, first, and put there last.
start cholesky <<'END'
  next U[i,j] = if j == k and i >= k then U[i,k] / sqrt(U[k,k]) else if i > k and j > k and j <= i then U[i,j] - U[i,k] * U[j,k] / U[k,k] else U[i,j]
END
want 0 "$EIN" build cholesky.ein --stop=task
parts 3 '((j > @k) and (j <= i))'
want 0 "$EIN" verify cholesky.ein --threads 2 --flags=-O1
for sites in 2 3; do
  want 0 "$EIN" run cholesky.ein --target=eval -o U=one.npy
  want 0 "$EIN" run cholesky.ein -n $sites --target=c --flags=-O1 -o U=many.npy
  python3 - <<'END' || wrong "on $sites sites"
import struct
one, many = (open(f, "rb").read()[128:] for f in ("one.npy", "many.npy"))
assert len(one) == len(many) == 40 * 40 * 8
for (a,), (b,) in zip(struct.iter_unpack("<d", one), struct.iter_unpack("<d", many)):
    assert abs(a - b) <= 1e-12 * max(1, abs(a)), (a, b)
END
done
# A text in which a point reads what another stores is refused.
want 0 "$EIN" build gauss.ein --stop=task -o gauss.task
want 0 "$EIN" run gauss.task
sed 's/\(stage U.*\)%1\[@k, j\]\(.* to %1\)/\1%1[(@k + 1), j]\2/' gauss.task >spoiled.task
cmp -s gauss.task spoiled.task && wrong "the text is the same"
want 1 "$EIN" check spoiled.task
says "buffer %1 is read and stored to in one kernel"
# Not so where it reads what changes: rows that are exchanged, mirrored places, all of the state, or half of it and neighbours.
for next in 'if i > k and j > k then U[i,j] - U[j,i] else U[i,j]' 'if i >= k and j > k then U[i,j] - U[k,j] else U[i,j]' \
  'if i > k then U[i-1,j] else U[i,j]' 'if i > k and j > k then U[i,j] - U[N-1-k,j] else U[i,j]'; do
  echo "  next U[i,j] = $next" | start other
  want 0 "$EIN" build other.ein --stop=task
  grep -q exchange out || wrong "changed where it is: $next"
  want 0 "$EIN" verify other.ein --threads 2 --flags=-O1
done
want 0 python3 "$here/../random/parts.py" "$EIN" 0 12 jit 3
finish
