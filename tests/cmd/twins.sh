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

finish
