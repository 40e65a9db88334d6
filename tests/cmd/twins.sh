#!/bin/sh
# suite: quick ci
# Kernels that do the same on other buffers are one function: a text does not grow by a layer's kernels with each layer. Answers are as before.
. "$(dirname "$0")/common"

layers() { # layers N
  echo "input X0[s:12,a:20] : f32"
  for l in $(seq 1 "$1"); do
    k=$((l - 1))
    cat <<END
input W$l[b:20,a:20] : f32
input c$l[a:20] : i32
H$l[s,b] = max(sum[a] X$k[s,a] * W$l[b,a], 0.0)
G$l[s,a] = H$l[s,a] + f32(c$l[a])
M$l[s] = max[a] abs(G$l[s,a]) + 1.0
X$l[s,a] = floor(G$l[s,a] * 7.0 / M$l[s])
END
  done
  echo "output Z[s,a] = X$1[s,a]"
}
functions() {
  want 0 "$EIN" build deep$1.ein --emit=c -o deep.c
  grep -c '^static EIN_KERNEL' deep.c
}
for n in 3 4 9; do layers $n >deep$n.ein; done
three=$(functions 3)
for n in 4 9; do
  [ "$(functions $n)" = "$three" ] || wrong "$n layers have $(functions $n) functions, 3 have $three"
done
[ "$(grep -c '^  ctx->bound = deep' deep.c)" -ge 16 ] || wrong "the calls of nine layers do not say what they are bound to"

inputs="X0=fill"
for l in 1 2 3 4 5 6 7 8 9; do inputs="$inputs W$l=randint:lo=-2:hi=2:seed=$l c$l=randint:lo=-5:hi=5:seed=$((l + 20))"; done
inputs=$(echo "$inputs" | sed 's/W\([0-9]\)=randint[^ ]*/W\1=fill:t=\1/g')
want 0 "$EIN" run deep9.ein $inputs --target=eval -o Z=wanted.npy
for t in 1 2; do
  want 0 "$EIN" run deep9.ein $inputs --target=c --flags=-O1 --threads $t -o Z=got.npy
  cmp -s got.npy wanted.npy || wrong "$t threads: other outputs"
done

# ---- what is alike but for one thing is not the same: a type, a size, a constant, which two are one buffer
cat >apart.ein <<'END'
input A[i:7,j:5] : f32
input B[i:7,j:5] : f64
input C[i:8,j:5] : f32
input D[i:7,j:5] : f32
output a[i] = sum[j] A[i,j] * D[i,j]
output b[i] = sum[j] B[i,j] * D[i,j]
output c[i] = sum[j] C[i,j] * C[i,j]
output d[i] = sum[j] A[i,j] * A[i,j]
output e[i] = sum[j] D[i,j] * A[i,j]
output f[i] = 2.0 + (sum[j] D[i,j] * A[i,j])
output g[i] = 3.0 + (sum[j] A[i,j] * D[i,j])
output h[i] = 3.0 + (sum[j] D[i,j] * D[i,j])
END
given="A=fill B=fill:t=1 C=fill:t=2 D=fill:t=3"
want 0 "$EIN" run apart.ein $given --target=eval -o all=wanted/
want 0 "$EIN" run apart.ein $given --target=c --flags=-O1 -o all=got/
diff -r got wanted >diffs || wrong "other outputs: $(cat diffs)"

# ---- kernels that gather: each says which index was out of range, of which tensor
gathers() { # gathers N
  echo "input V0[s:12,a:20] : f32"
  for l in $(seq 1 "$1"); do
    k=$((l - 1))
    cat <<END
input t$l[s:12] : i64
input e$l[v:9,a:20] : f32
input w$l[s:12] : i64
V$l[s,a] = V$k[t$l[s],a] + e$l[w$l[s],a]
m$l[s] = max[a] V$l[t$l[s],a] * 2.0
END
  done
  echo "output Z[s,a] = V$1[s,a] + m$1[s]"
  for l in $(seq 1 "$1"); do echo "output q$l[s] = m$l[s] + 1.0"; done
}
for n in 3 8; do
  gathers $n >gather$n.ein
  want 0 "$EIN" build gather$n.ein --emit=c -o gather$n.c
  [ "$(grep -c '^  ctx->bound = gather' gather$n.c)" -ge $((2 * n - 2)) ] || wrong "of $n layers that gather few kernels are bound to their buffers"
done
[ "$(grep -c '^static EIN_KERNEL' gather3.c)" = "$(grep -c '^static EIN_KERNEL' gather8.c)" ] || wrong "kernels that gather have functions of their own"
given() { # given INDEX: of the fifth layer's second look
  echo V0=fill
  for l in 1 2 3 4 5 6 7 8; do
    echo "t$l=randint:lo=0:hi=11:seed=$l e$l=fill:t=$l"
    [ $l = 5 ] && echo "w5=const:$1" || echo "w$l=randint:lo=0:hi=8:seed=$((l + 30))"
  done
}
want 0 "$EIN" run gather8.ein $(given 3) --target=eval -o all=wanted8/
want 0 "$EIN" run gather8.ein $(given 3) --target=c --flags=-O1 -o all=got8/
diff -r got8 wanted8 >diffs || wrong "other outputs: $(cat diffs)"
"$EIN" run gather8.ein $(given 9) --target=eval -o all=none/ >out 2>err
grep -o 'e5.*' err >wanted.err
"$EIN" run gather8.ein $(given 9) --target=c --flags=-O1 -o all=none/ >out 2>err && wrong "an index out of range is taken"
grep -q 'e5' err || wrong "the message does not name the tensor whose index is out of range: $(cat err)"
! grep -q 'e[1-46-8]' err || wrong "another tensor is said to be read out of range: $(cat err)"

# ---- kernels that fill a parameter's default differ in their seeds alone; a seed of the data, one that does not fit
# into an int, and two seeds where another kernel has one twice are as written
seeds() { # seeds N
  for l in $(seq 1 "$1"); do
    echo "param P$l[i:6,j:20] : f32 = normal[i,j]($l) * 0.02"
    echo "param Q$l[i:6,j:20] : f32 = uniform[i,j]($((l * 7))) - uniform[i,j]($((l * 7 + l % 2)))"
    echo "output p$l[i,j] = P$l[i,j] + Q$l[i,j]"
  done
}
for n in 4 8 9; do seeds $n >seeds$n.ein; done
seeded() { # seeded N
  want 0 "$EIN" build seeds$1.ein --emit=c -o s.c
  grep -c '^EIN_INLINE.*_at(' s.c
}
[ "$(seeded 8)" = "$(seeded 4)" ] || wrong "defaults that differ in a seed are $(seeded 8) functions, not $(seeded 4)"
cat >>seeds9.ein <<'END'
input s : i64
param far[i:6,j:20] : f32 = normal[i,j](9000000000) * 0.02
param low[i:6,j:20] : f32 = normal[i,j](-7) * 0.02
param own[i:6,j:20] : f32 = normal[i,j](s) * 0.02
param mixed[k:50] : i64 = permutation[k:50](3)
param again[k:50] : i64 = permutation[k:50](4)
output total[i,j] = far[i,j] + low[i,j] + own[i,j]
output places[k] = mixed[again[k]]
END
want 0 "$EIN" run seeds9.ein s=12 --target=eval -o all=wanted9/
want 0 "$EIN" run seeds9.ein s=12 --target=c --flags=-O1 -o all=got9/
diff -r got9 wanted9 >diffs || wrong "other outputs: $(cat diffs)"
want 0 "$EIN" run seeds9.ein s=12 --target=jit -o all=jit9/
diff -r jit9 wanted9 >diffs || wrong "in process, other outputs: $(cat diffs)"

finish
