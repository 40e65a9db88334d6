#!/bin/sh
# suite: ci
# Tiles are chosen for the registers of the C compiler's target, which changes no bit; the text of the remaining loops
# is the same on any machine. Skipped if the compiler does not target x86-64 with AVX2.
. "$(dirname "$0")/common"
turn 2
XDG_CACHE_HOME=$work/cache
export XDG_CACHE_HOME
unset EIN_MACHINE
: "${CC:=cc}"
echo 'int main(void) { return !__builtin_cpu_supports("avx2"); }' >has.c
$CC -mavx2 has.c -o has 2>/dev/null && ./has || {
  echo "SKIPPED: no AVX2 here, or $CC does not compile for it"
  exit 77
}

cat >product.ein <<'END'
input A[i:150, k:700] : f32
input B[k:700, j:211] : f32
output C[i,j] = sum[k] A[i,k] * B[k,j]
output D[j,i] = sum[k] (A[i,k] + 1) * B[k,j]
END
cat >double.ein <<'END'
dim M
input A[b:3, i:M, k:90] : f64
input B[b:3, j:120, k:90] : f64
output C[b,i,j] = sum[k] A[b,i,k] * B[b,j,k]
END
cat >semiring.ein <<'END'
input A[i:190, k:90] : f32
input B[k:90, j:150] : f32
output C[i,j] = max[k] (if A[i,k] > 2 then A[i,k] / 0 else A[i,k] + B[k,j])
output D[i,j] = max[k] (if A[i,k] > 3 then A[i,k] / 0 else A[i,k] * 0 * B[k,j])
END
cat >distances.ein <<'END'
input A[i:250, k:300] : f32
input B[k:300, j:310] : f32
output C[i,j] = sum[k] abs(A[i,k] - B[k,j])
output D[i,j] = max[k] abs(A[i,k] - B[k,j])
output E[i,j] = min[k] (A[i,k] + B[k,j])
output F[i,j] = sum[k] (A[i,k] * B[k,j] - (A[i,k] + 1) * abs(B[k,j]))
END
# Where the blocks of a sum begin hangs on the block of rows.
cat >masked.ein <<'END'
input A[i:900, k:1300] : f32
input B[k:1300, j:301] : f32
output C[i,j] = sum[k where k >= i] A[i,k] * B[k,j]
output D[i,j] = sum[k where k <= i] A[i,k] * B[k,j]
END
cat >small.ein <<'END'
input X[n:2, c:8, h:20, w:21] : f32
input W[o:9, c:8, p:3, q:3] : f32
output Y[n,o,h:20,w:21] = sum[c,p,q] (X[n,c,h+p-1,w+q-1] ?? 0) * W[o,c,p,q]
END
cat >near.ein <<'END'
input A[i:40, k:30] : f32
input B[k:30, j:70] : f32
output C[i,j] = sum[k] A[i,k] * B[k,j]
END
# Lanes of 8 points, or of another label: which are better hangs on registers, and whether there are panels does not.
cat >lanes.ein <<'END'
input A[a:48, k:520, b:8] : f32
input B[b:8, k:520, c:40] : f32
output C[a,c,b] = sum[k] A[a,k,b] * B[b,k,c]
output D[b,c] = sum[a:48,k] A[a,k,b] * B[b,k,c]
END
cat >short.ein <<'END'
input A[a:60, k:1400] : f32
input B[k:1400, c:30, d:8] : f32
output C[a,c,d] = sum[k] A[a,k] * B[k,c,d]
output D[c,a,d] = sum[k] A[a,k] * B[k,c,d]
END

# A compiler that says it compiles for Intel's processors with AVX-512, where no sum is made a product: one kind of units does both.
printf '#!/bin/sh\ncase "$*" in *-dM*) printf "#define __AVX512F__ 1\\n#define __AES__ 1\\n"; exit ;; esac\nexec %s "$@"\n' "$CC" >alike
chmod +x alike
want 0 "$EIN" build distances.ein --lib -o alike.lib/ --cc ./alike --flags=-O0
grep -q 'ones' alike.lib/distances.c && wrong "sums are made products where one kind of units does both"
want 0 "$EIN" build distances.ein --lib -o any.lib/ --flags=-O0
grep -q 'ones' any.lib/distances.c || wrong "sums are left to the units that compare"

flags="-O1 -ffp-contract=off -DEIN_ONE_VERSION"
n=0
for p in product double semiring distances masked small near lanes short; do # every other one, as EIN_TURN says
  mine $((n += 1)) 2 || continue
  d=
  in=
  [ $p = double ] && d="-D M=133"
  for v in A B X W; do
    grep -q "^input $v\[" $p.ein && in="$in $v=randn:seed=$(printf %d "'$v")"
  done
  want 0 "$EIN" run $p.ein $d $in --target=c --flags="$flags" --threads 2 -o all=$p.usual/ -v
  grep -q "registers of" err && wrong "$p: any x86-64 is taken for less than it may be"
  want 0 "$EIN" run $p.ein $d $in --target=c --flags="$flags -mavx2" --threads 2 -o all=$p.avx2/ -v
  says "has 16 registers of 32 bytes"
  diff -r $p.usual $p.avx2 || wrong "$p: other bits with tiles for AVX2"
  want 0 "$EIN" run $p.ein $d $in --target=c --cc ./alike --flags="$flags" --threads 2 -o all=$p.alike/
  diff -r $p.usual $p.alike || wrong "$p: other bits where one kind of units adds and multiplies"
  for wide in 0 1; do
    want 0 "$EIN" run $p.ein $d $in --target=c --flags="$flags -DEIN_WIDE=$wide" --threads 2 -o all=$p.wide$wide/
    diff -r $p.usual $p.wide$wide || wrong "$p: other bits with EIN_WIDE=$wide"
  done
done

# What stays is the same everywhere, until a compiler is named for it.
want 0 "$EIN" build product.ein --lib -o usual/ --flags=-O0
want 0 "$EIN" build product.ein --lib -o avx2/ --flags="-O0 -mavx2"
grep -q 'acc_8\[32\]' usual/product.c || wrong "the wide tile is not 8 by 32"
grep -q 'acc_6\[16\]' usual/product.c || wrong "the narrow tile is not 6 by 16"
grep -q 'EIN_KERNEL_WIDE' avx2/product.c && wrong "tiles for AVX-512 are there, and flags say AVX2"
grep -q 'acc_6\[16\]' avx2/product.c || wrong "the tile for AVX2 is not 6 by 16"
grep -q 'acc_7' avx2/product.c && wrong "the tile for AVX2 has more than six rows"
want 0 "$EIN" build product.ein --emit=c -o emitted.c --flags="-O0 -mavx2"
sed 's/"product-runtime.h"/"ein_run.h"/' usual/product.c | cmp - emitted.c || wrong "--emit=c looks at the compiler"

# A compiler is asked once; of what was compiled before no program is started.
printf '#!/bin/sh\necho "$*" >>%s/asked\nexec %s "$@"\n' "$work" "$CC" >asks
chmod +x asks
again() { want 0 "$EIN" run product.ein A=iota B=iota --target=c --cc ./asks --flags="-O1 $1"; }
again -mavx2
grep -q -e -dM asked || wrong "the compiler is not asked"
: >asked
again -mavx2
[ -s asked ] && wrong "the compiler is started again: $(cat asked)"
again -mavx
grep -q -e -dM asked || wrong "with other flags the compiler is not asked"
finish
