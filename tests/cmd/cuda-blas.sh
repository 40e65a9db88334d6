#!/bin/sh
# suite: ci
# Products by cuBLAS, on the stand-ins for it, for NVRTC and for the driver: which equations use it, how their operands lie, that results are right, what
# our own kernels compute instead, and the messages of failures.
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$root/tests/cmd/common"
turn 3
look_alikes
unset EIN_CUBLAS NVIDIA_TF32_OVERRIDE

made() { # TEXT: what the library was called for in the last one, and all is given back
  grep -qF "cuBLAS: $1" report || wrong "wanted of cuBLAS: $1; $(cat report): $line"
  grep -q 'left: 0 pieces of memory, 0 modules, 0 streams, 0 contexts' report && grep -q 'left: 0 handles' report || wrong "not all is given back: $(cat report): $line"
  rm -f report
}
none() { # it is not even opened
  [ ! -e report ] || ! grep -q cuBLAS report || wrong "cuBLAS is there: $(cat report): $line"
  rm -f report
}
cuda() { # CODE WORD...
  code=$1
  shift
  want "$code" "$EIN" "$@" --target=cuda --flags=-O0
}
looked=0
# NAME TEXT WORD...: the program on stdin goes so often to the library, and is right; its products come back from the text of loops
goes() {
  name=$1 text=$2
  shift 2
  cat >"$name.ein"
  looked=$((looked + 1))
  [ "$name" = nn13 ] || mine $looked 2 || return
  cuda 0 verify "$name.ein" "$@"
  made "$text"
  want 0 "$EIN" build "$name.ein" --target=cuda --stop=loop -o "$name.loop"
  want 0 "$EIN" build "$name.loop" --target=cuda --stop=loop -o again.loop
  grep '^  product ' "$name.loop" >had
  grep '^  product ' again.loop >has
  [ -s had ] && cmp -s had has || wrong "$name: products are read as others: $(diff had has)"
}

# All transpositions. The sides are swapped for the library, because it is column-major and we are row-major.
goes ways '4 products, 0 of them of pairs; nn 1, nt 1, tn 1, tt 1' A=randn:seed=1 B=randn:seed=2 U=randn:seed=3 V=randn:seed=4 <<'END'
input A[i:97,k:131], B[k:131,j:101], U[k:131,i:97], V[j:101,k:131] : f32
output NN[i,j] = sum[k] A[i,k] * B[k,j]
output NT[i,j] = sum[k] A[i,k] * V[j,k]
output TN[i,j] = sum[k] U[k,i] * B[k,j]
output TT[i,j] = sum[k] U[k,i] * V[j,k]
END

# Batches: the batch label is first, in the middle, or on no side; two batch labels: a loop of calls if each is large.
goes pairs '5 products, 5 of them of pairs' A=randn:seed=1 B=randn:seed=2 M=randn:seed=3 U=randn:seed=4 W=randn:seed=5 R=randn:seed=6 S=randn:seed=7 <<'END'
input A[b:7,i:65,k:70], B[b:7,k:70,j:66], M[i:65,b:7,k:70], U[b:7,k:70,i:65], W[k:70,j:66] : f32
output first[b,i,j] = sum[k] A[b,i,k] * B[b,k,j]
output middle[i,b,j] = sum[k] M[i,b,k] * B[b,k,j]
output one[b,i,j] = sum[k] U[b,k,i] * W[k,j]
input R[p:2,k:260,b:3,i:320], S[k:260,b:3,j:300] : f32
output two[i,p,b,j] = sum[k] R[p,k,b,i] * S[k,b,j]
END

# All dtypes; halves are summed in f32 and rounded once, or not at all.
for t in f64 f16 bf16; do
  goes "of_$t" '2 products, 0 of them of pairs' A=randn:seed=1 B=randn:seed=2 <<END
input A[i:101,k:121], B[k:121,j:103], V[j:103,k:121] : $t
output C[i,j] = sum[k] A[i,k] * B[k,j]
output D[i,j] = sum[k] A[i,k] * V[j,k]
END
done
goes mixed '1 products, 0 of them of pairs' A=randn:seed=1 B=randn:seed=2 <<'END'
input A[i:101,k:121], B[k:121,j:103] : bf16
output C[i,j] : f32 = sum[k] f32(A[i,k]) * f32(B[k,j])
END

# A constant goes along; maps are launched behind, here one of two; a stage that several read; what is read at the turn, or from an element on.
goes behind '6 products, 0 of them of pairs' A=randn:seed=1 B=randn:seed=2 T=randn:seed=3 X=randn:seed=4 h0=randn:seed=5 <<'END'
input A[i:101,k:121], B[k:121,j:103], T[t:3,i:128,k:128], X[n:230,y:190,x:60], h0[n:96,k:128] : f32
c[j:103] = 0.5 * j
output C[i,j] = -0.3 * sum[k] A[i,k] * B[k,j]
output D[i,j] = max(0, c[j] + sum[k] abs(A[i,k]) * B[k,j])
output E[i,j] = max(0, c[j] + sum[k] B[k,j] * (A[i,k] * 3))
repeat t < 3 {
  state h[n:96,i:128] = h0[n,i]
  next h[n,i] = 0.1 * sum[k] T[t,i,k] * h[n,k]
}
output h
output Q[y:180,z:120] = sum[x:60] X[3,y+5,x] * X[z+100,2,x]
output back[y:180,z:120] = sum[x:60] X[3,y+5,x] * X[z+100,189-y,x]
END

goes nn13 '1 products' A=randn:seed=1 B=randn:seed=2 <<'END'
input A[i:97,k:131], B[k:131,j:101] : f32
output C[i,j] = sum[k] A[i,k] * B[k,j]
END

# Sizes known only at run time: a matrix with one row, or none; empty sums.
cat >open.ein <<'END'
dim N, K, M
input A[i:N,k:K], B[k:K,j:M] : f32
output C[i,j] = sum[k] A[i,k] * B[k,j]
END
open() { # N K M TEXT
  cuda 0 verify open.ein -D N="$1" -D K="$2" -D M="$3" A=randn:seed=1 B=randn:seed=2
  made "$4"
}
open 33 65 19 '1 products'
open 1 7 5 '1 products'
open 9 1 1 '1 products'
open 0 7 5 '0 products'
open 5 0 7 '0 products'

# What our own kernels compute: few points, a vector, a predicate, integers, other reducers, a result whose batch is last.
cat >ours.ein <<'END'
input A[i:97,k:131], B[k:131,j:101], v[k:131], w[i:97] : f32
input P[i:97,k:131], Q[k:131,j:101] : i64
input X[b:20,i:90,k:60], Y[b:20,k:60,j:90] : f32
output C[i,j] = sum[k where k <= i] A[i,k] * B[k,j]
output D[i,j] = max[k] (A[i,k] + B[k,j])
output E[i,j] = sum[k] P[i,k] * Q[k,j]
output F[i] = sum[k] A[i,k] * v[k]
output H[i,j] = sum[k] abs(A[i,k]) * B[k,j]
output I[i,j,b] = sum[k] X[b,i,k] * Y[b,k,j]
END
cuda 0 verify ours.ein A=randn:seed=1 B=randn:seed=2 v=randn:seed=3 P=iota Q=iota X=randn:seed=4 Y=randn:seed=5
none
want 0 "$EIN" build ours.ein --target=cuda --stop=loop
! grep -q cuBLAS out || wrong 'what is no product of a library is told to be one'
cuda 0 verify of_f64.ein --deterministic A=iota B=iota V=iota
none

# Which of the two it is, and how it is asked for.
with() { # SETTING PROGRAM SAYS MADE
  want 0 env "$1" "$EIN" run "$2.ein" -v --target=cuda --flags=-O0 A=randn:seed=1 B=randn:seed=2 ${5:+$5}
  says "$3"
  made "$4"
}
with EIN_CUBLAS=on mixed 'products: by cuBLAS 13.0' '1 products'
want 0 env EIN_CUBLAS=off "$EIN" run mixed.ein -v --target=cuda --flags=-O0 A=randn:seed=1 B=randn:seed=2
says "products: by kernels of ein's own, for EIN_CUBLAS is off"
none
want 0 env EIN_CUBLAS=off "$EIN" verify behind.ein --target=cuda --flags=-O0 A=randn:seed=1 B=randn:seed=2 T=randn:seed=3 X=randn:seed=4 h0=randn:seed=5
none
with NVIDIA_TF32_OVERRIDE=1 nn13 'but for those of f32: NVIDIA_TF32_OVERRIDE is set' '0 products'
with NVIDIA_TF32_OVERRIDE=0 nn13 'products: by cuBLAS 13.0' '1 products'
with NVIDIA_TF32_OVERRIDE=1 of_f64 'by cuBLAS' '2 products' V=randn:seed=3
with EIN_STANDIN=capability=75 of_bf16 'by cuBLAS' '0 products' V=randn:seed=3
with EIN_STANDIN=capability=75 of_f16 'by cuBLAS' '2 products' V=randn:seed=3
with EIN_STANDIN=blas-not=1 of_f64 'by cuBLAS' '2 products' V=randn:seed=3 # one of which it has not
cuda 0 verify mixed.ein --cc="$root/tests/cuda/cc" --flags=-O0 A=randn:seed=1 B=randn:seed=2 # the text for nvcc has our kernels alone
none

# A text whose product is not proved to be in range goes by the launches in its stead, and it is said.
sed 's/^\(  product .*\)B\[k, j\]/\1B[(k + 1), j]/' nn13.loop >far.loop
cuda 0 run far.loop A=randn:seed=1 B=randn:seed=2
says 'kernel C: 1 of'
none

# Consecutive runs.
cuda 0 bench nn13.ein A=randn:seed=1 B=randn:seed=2 --reps 2
shows 'of 2 samples'
grep -q 'cuBLAS: [1-9]' report || wrong "no product in a benchmark: $(cat report)"
rm -f report

# Failures.
fails() { # PLANTED SAYS
  EIN_STANDIN=$1 cuda 4 run mixed.ein A=randn:seed=1 B=randn:seed=2
  says "$2"
  grep -q 'left: 0 pieces of memory, 0 modules, 0 streams, 0 contexts' report && grep -q 'left: 0 handles' report || wrong "not all is given back: $(cat report): $line"
  rm -f report
}
fails blas-begin=1 'cuBLAS: it does not start: CUBLAS_STATUS_NOT_INITIALIZED; EIN_CUBLAS=off does without'
fails blas=1 'cuBLAS: program_k_C: CUBLAS_STATUS_EXECUTION_FAILED'
fails alloc=1 'no memory on the device: the workspace of cuBLAS takes 33554432 bytes there'

# In built programs and libraries.
want 0 "$EIN" build of_f16.ein --target=cuda -o prog --flags=-O1
for setting in on off; do
  EIN_CUBLAS=$setting want 0 ./prog A=ones B=ones V=ones -o C=c_$setting.npy -o D=d_$setting.npy
  [ $setting = off ] || made '2 products'
done
none
cmp -s c_on.npy c_off.npy && cmp -s d_on.npy d_off.npy || wrong 'a program has other answers without cuBLAS'

# If the machine really has no cuBLAS.
mkdir -p alone
cp "$standin/libnvrtc.so.13" "$standin/libcuda.so.1" alone
LD_LIBRARY_PATH=$work/alone
if ! ls /usr/local/cuda/lib64/libcublas.so.1[123] >/dev/null 2>&1 && ! python3 -c 'import ctypes; ctypes.CDLL("libcublas.so.13")' 2>/dev/null; then
  cuda 0 verify pairs.ein A=randn:seed=1 B=randn:seed=2 M=randn:seed=3 U=randn:seed=4 W=randn:seed=5 R=randn:seed=6 S=randn:seed=7
  none
  cuda 0 run mixed.ein -v A=randn:seed=1 B=randn:seed=2
  says "products: by kernels of ein's own, for there is no libcublas"
  LD_LIBRARY_PATH=$work/alone want 0 ./prog A=ones B=ones V=ones -o C=c_alone.npy
  cmp -s c_on.npy c_alone.npy || wrong 'a program has other answers on a machine without cuBLAS'
fi

# Not for integers, whatever their factor.
cat >negated.ein <<'END'
dim N = 64, M = 64, K = 64
input A[i:N,k:K], B[k:K,j:M] : i8
output Y[i,j] = sum[k] A[i,k] * -B[k,j]
END
cuda 0 run negated.ein A=randint:lo=-9:hi=9:seed=1 B=randint:lo=-9:hi=9:seed=2 -o Y=y_cuda.npy
none
want 0 "$EIN" run negated.ein A=randint:lo=-9:hi=9:seed=1 B=randint:lo=-9:hi=9:seed=2 -o Y=y_eval.npy
cmp -s y_cuda.npy y_eval.npy || wrong 'a product of integers has another answer'
finish
