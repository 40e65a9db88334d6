#!/bin/sh
# suite: ci
# Clang in process compiles kernel by kernel: one that was compiled for another turn, another program, other names or another line is not
# compiled again; one that differs is. What is counted is compilations, as -v tells them.
. "$(dirname "$0")/common"
XDG_CACHE_HOME=$work/cache
export XDG_CACHE_HOME
unset EIN_TARGET
[ -e "$(dirname "$EIN")/codegen/jit/ein_jit.so" ] || exit 77

counts() { # WANTED: of each run since then, how many kernels it compiled
  is=$(sed -n 's/.*: \([0-9]*\) compiled now.*/\1/p' err | tr '\n' ' ')
  [ "$is" = "$1 " ] || wrong "compiled are $is and not $1: $(cat err)"
}
kept() { ls cache/ein | grep -c '^kernel-'; }

# The prompt: other turns, lines, labels and names. What is known is an input, so the second turn's loops are others than the first's.
cat >lines <<'END'
A[i:40, j:30] : f32 = i + j
A[1, 2]
A[i, j] * 2
# a line further down


A[i, j] * 2
A[p, q] * 2
longer[p:40, q:30] : f32 = 3 * p - q
longer[0, 0]
longer[row, column] * 2
A[i, j] * 3
B[i:41, j:30] : f32 = i + 1
B[0, 0]
B[i, j] * 2
END
want 0 "$EIN" repl -v <lines
counts "2 1 0 0 2 0 1 1 1"

# The same loops in a program, which is compiled for sizes that it knows; and in one whose sizes are given as it runs.
cat >one.ein <<'END'
input Q[i:40, j:30] : f32 = 1
output R[i, j] = Q[i, j] * 2
END
cat >other.ein <<'END'
# Another program, with a kernel more.
input T[a:40, b:30] : f32 = 1
output U[a, b] = T[a, b] * 2
output s[a] = sum[b] T[a, b] * T[a, b]
END
want 0 "$EIN" run one.ein Q=ones -v
cp out one.out
rm -rf cache
want 0 "$EIN" run one.ein Q=ones -v
counts 2
cmp -s out one.out || wrong "other outputs by other kernels"
before=$(kept)
want 0 "$EIN" run other.ein T=ones -v
counts 1
[ "$(kept)" = $((before + 1)) ] || wrong "$(kept) kernels are kept, $before were"
want 0 "$EIN" run one.ein -v
counts 0
want 0 "$EIN" run one.ein --target=jit --flags="-O1 -march=native" -v
counts 2
printf 'dim N, M\ninput Q[i:N, j:M] : f32 = 1\noutput R[i, j] = Q[i, j] * 2\n' >open.ein
printf '# named\ndim ROWS, COLS\ninput X[r:ROWS, c:COLS] : f32 = 1\noutput Y[r, c] = X[r, c] * 2\n' >named.ein
rm -rf cache
want 0 "$EIN" run open.ein -D N=3 -D M=5 -v
counts 2
want 0 "$EIN" run open.ein -D N=40 -D M=5 -v
counts 0
want 0 "$EIN" run named.ein -D ROWS=4 -D COLS=2 -v
counts 0

# Kernels that are alike are one; a run needs no Clang where all are there.
cat >alike.ein <<'END'
input X[i:8, j:8] : f64
output A[i, j] = sum[k] X[i, k] * X[k, j]
output B[i, j] = sum[k] A[i, k] * A[k, j]
output C[i, j] = sum[k] B[i, k] * B[k, j]
END
want 0 "$EIN" run alike.ein X=iota -v
says "3 kernels, "
cp out alike.out
want 0 "$EIN" run alike.ein X=iota -v
counts 0
cmp -s out alike.out || wrong "what was compiled before answers otherwise"
rm "$XDG_CACHE_HOME"/ein/head-*
want 0 "$EIN" run alike.ein X=iota
cmp -s out alike.out || wrong "without what is parsed ahead it answers otherwise"
[ "$(ls cache/ein | grep -c '^head-')" = 0 ] || wrong "Clang was opened, and nothing was to be compiled"

# What is said of a failure is the program's at hand, not of whoever was compiled first.
printf 'input A[i:4] : i64\ninput E[v:3] : i64\noutput Z[i] = E[A[i]]\n' >first.ein
printf '\n\ninput B[p:4] : i64\ninput F[w:3] : i64\noutput Y[p] = F[B[p]]\n' >second.ein
want 1 "$EIN" run first.ein A=iota E=ones -v
says "of E, read for Z: 3 is out of range, its size is 3 (first.ein:3)"
want 1 "$EIN" run second.ein B=iota F=ones -v
counts 0
says "of F, read for Y: 3 is out of range, its size is 3 (second.ein:5)"
finish
