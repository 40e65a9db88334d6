#!/bin/sh
# suite: quick ci
# Kernels that do the same on other buffers, or for other sizes, are one function: a text does not grow by a layer's
# kernels with each layer. Answers are as before.
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

# ---- kernels that differ in the names of labels and sizes alone are one function, which is told its sizes
cat >one.ein <<'END'
dim I, J
input A[i:I,j:J] : f32
output a[j,i] = floor(A[i,j] / 2.0) + (max[j] A[i,j])
END
cat >two.ein <<'END'
dim I, J, K, L
input A[i:I,j:J] : f32
input B[c:K,d:L] : f32
output a[j,i] = floor(A[i,j] / 2.0) + (max[j] A[i,j])
output b[d,c] = floor(B[c,d] / 2.0) + (max[d] B[c,d])
END
for p in one two; do want 0 "$EIN" build $p.ein --emit=c -o $p.c; done
[ "$(grep -c '^EIN_INLINE.*_at(' two.c)" = "$(grep -c '^EIN_INLINE.*_at(' one.c)" ] || wrong "kernels for other sizes have functions of their own"
for sizes in '-D I=5 -D J=9 -D K=37 -D L=8' '-D I=1 -D J=1 -D K=0 -D L=0' '-D I=70 -D J=33 -D K=3 -D L=40'; do
  # shellcheck disable=SC2086
  want 0 "$EIN" verify two.ein $sizes --flags=-O1
done

# ---- a product is one function, whether its sides are the caller's, with any strides, or our own
chain() { # chain N: of so many matrices
  dims=I rest= labels=i sum= product=
  for n in $(seq 1 "$1"); do
    before=$(printf %s "$dims" | tail -c 1) now=$(printf %s JKLM | cut -c "$n")
    l=$(echo "$before$now" | tr A-Z a-z | sed 's/./&,/')
    rest="$rest
input A$n[${l%,*}:$before,${l#*,}:$now] : f32"
    dims="$dims, $now" product="$product * A$n[$l]"
  done
  sum=$(echo "$dims" | tr A-Z a-z | tr -d ' ' | sed 's/^i,//; s/,.$//')
  printf 'dim %s%s\noutput Z[i,%s] = sum[%s]%s\n' "$dims" "$rest" "${l#*,}" "$sum" "${product# \*}"
}
for n in 3 4; do
  chain $n >chain$n.ein
  want 0 "$EIN" build chain$n.ein --emit=c -o chain$n.c
done
three=$(grep -c '^EIN_INLINE.*_at(' chain3.c) four=$(grep -c '^EIN_INLINE.*_at(' chain4.c)
[ "$four" -le $((three + 6)) ] || wrong "a chain of four has $four functions, of three $three"
want 0 "$EIN" build chain3.ein --lib -o lib/ --flags=-O1
cat >call.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include "chain3.h"
static int64_t n[4];
static float at(int which, int64_t i, int64_t j) { return (float)((which * 5 + 3 * i + 2 * j) % 7 - 3); }
/* Every axis has room between its elements, and the last is not the nearest. */
static ein_tensor strided(int64_t rows, int64_t lanes, int64_t by[2][2]) {
  ein_tensor t = {0};
  by[0][0] = rows, by[0][1] = lanes, by[1][0] = 2, by[1][1] = 2 * rows + 3;
  t.data = calloc((size_t)((rows + 1) * 2 + (lanes + 1) * by[1][1]), sizeof(float));
  t.device_type = 1, t.ndim = 2, t.dtype = EIN_F32, t.shape = by[0], t.strides = by[1];
  return t;
}
static int run(chain3_ctx *ctx) {
  int64_t by[4][2][2], bad = 0;
  chain3_sizes sizes = {n[0], n[1], n[2], n[3]};
  ein_tensor in[4];
  for (int w = 0; w < 4; w++) {
    in[w] = strided(n[w == 3 ? 0 : w], n[w == 3 ? 3 : w + 1], by[w]);
    for (int64_t i = 0; i < by[w][0][0]; i++)
      for (int64_t j = 0; j < by[w][0][1]; j++) ((float *)in[w].data)[i * by[w][1][0] + j * by[w][1][1]] = at(w, i, j);
  }
  chain3_inputs inputs = {in[0], in[1], in[2]};
  chain3_outputs outputs = {in[3]};
  if (chain3_plan(ctx, &sizes) || chain3_run(ctx, &inputs, &outputs)) return puts(chain3_last_error(ctx)), 1;
  for (int64_t i = 0; i < n[0]; i++)
    for (int64_t l = 0; l < n[3]; l++) {
      float sum = 0;
      for (int64_t j = 0; j < n[1]; j++)
        for (int64_t k = 0; k < n[2]; k++) sum += at(0, i, j) * at(1, j, k) * at(2, k, l);
      bad += sum != ((float *)in[3].data)[i * by[3][1][0] + l * by[3][1][1]];
    }
  for (int w = 0; w < 4; w++) free(in[w].data);
  return bad ? printf("%d of %d by %d by %d by %d\n", (int)bad, (int)n[0], (int)n[1], (int)n[2], (int)n[3]), 1 : 0;
}
int main(void) {
  static const int64_t of[][4] = {{2, 40, 40, 40}, {40, 40, 40, 2}, {13, 37, 5, 66}, {1, 1, 1, 1}, {4, 0, 3, 5}};
  chain3_ctx *ctx = NULL;
  int bad = chain3_create(NULL, &ctx);
  for (int i = 0; i < 5; i++) {
    for (int k = 0; k < 4; k++) n[k] = of[i][k];
    bad |= run(ctx);
  }
  chain3_destroy(ctx);
  return bad;
}
END
flags=$(PKG_CONFIG_PATH=lib pkg-config --cflags --libs chain3) || wrong "pkg-config does not take chain3.pc"
want 0 sh -c "${CC:-cc} -std=c99 call.c $flags -o call"
want 0 ./call

finish
