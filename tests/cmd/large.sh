#!/bin/sh
# suite: ci
# Results that are larger than a cache: in which order tiles and squares write them.
. "$(dirname "$0")/common"
turn 1
XDG_CACHE_HOME=$work/cache
export XDG_CACHE_HOME
unset EIN_MACHINE

# Products of few points: tiles beside each other, that are cut off at both ends.
cat >outer.ein <<'END'
input A[i:613, k:17] : f32
input B[k:17, j:411] : f32
output Y[i,j] = sum[k] A[i,k] * B[k,j]
END
cat >wide.ein <<'END'
input A[k:19, i:155] : f64
input B[j:1037, k:19] : f64
output Y[i,j] = sum[k] A[k,i] * B[j,k]
END
cat >open.ein <<'END'
dim M, N
input A[i:M, k:20] : f32
input B[k:20, j:N] : f32
output Y[i,j] = sum[k] tanh(A[i,k]) * B[k,j]
END
for p in outer wide open; do
  sizes=
  [ $p = open ] && sizes="-D M=601 -D N=555"
  want 0 "$EIN" build $p.ein --stop=loop
  [ $p = open ] || shows ", one after the other along j"
  want 0 "$EIN" verify $p.ein $sizes --threads 3 --flags="-O1 -march=native"
done

# Many points, or a small result: tiles below each other find their lanes near.
cat >small.ein <<'END'
input A[i:211, k:24] : f32
input B[k:24, j:413] : f32
output Y[i,j] = sum[k] A[i,k] * B[k,j]
END
cat >deep.ein <<'END'
input A[i:613, k:65] : f32
input B[k:65, j:411] : f32
output Y[i,j] = sum[k] A[i,k] * B[k,j]
END
for p in small deep; do
  want 0 "$EIN" build $p.ein --stop=loop
  grep -q ", one after the other along" out && wrong "$p runs sequentially along its lanes"
done

# What is transposed, and goes past the cache, is written by several lines of a row; squares of short elements have a line each.
moved() { # NAME DTYPE INPUT OUTPUT INPUT'S INDICES
  printf 'input X[%s] : %s\noutput Y[%s] = X[%s]\n' "$3" "$2" "$4" "$5" >"$1.ein"
}
moved words f32 j:2032,i:2007 i,j j,i
moved doubles f64 j:1448,i:1403 i,j j,i
moved bytes i8 j:4032,i:4101 i,j j,i
moved halves i16 j:2848,i:2801 i,j j,i
moved rows f32 i:1024,j:101,k:40 k,j,i i,j,k
moved batch f32 b:7,j:784,i:801 b,i,j b,j,i
moved narrow f32 j:112,i:40009 i,j j,i
moved five i16 j:160,i:50021 i,j j,i
moved reverse f32 i:48,j:33,k:50,l:52 l,k,j,i i,j,k,l
for p in words doubles bytes halves rows batch narrow five reverse; do
  want 0 "$EIN" build $p.ein --stop=loop
  shows "in tiles, the result past the cache by rows of these"
  shows "stream Y["
  want 0 "$EIN" verify $p.ein --threads 3 --flags="-O1 -march=native"
done
printf 'dim M, N\ninput X[a:11,j:M,i:N] : f32\noutput Y[a,i,j] = X[a,j,i]\n' >sizes.ein
want 0 "$EIN" build sizes.ein --stop=loop
shows "lead lead = Y"
for n in "M=832 -D N=917" "M=831 -D N=1000" "M=48 -D N=20001"; do
  want 0 "$EIN" verify sizes.ein -D $n --threads 3 --flags="-O1 -march=native"
done
want 0 "$EIN" build bytes.ein --stop=loop
shows "square : i8 [64, 64]"
want 0 "$EIN" build halves.ein --stop=loop
shows "square : i16 [32, 32]"
moved near i8 j:197,i:131 i,j j,i
moved short i8 j:20,i:300 i,j j,i
for p in near short; do
  want 0 "$EIN" build $p.ein --stop=loop
  case $p in
    near) shows "square : i8 [64, 64]" ;;
    short) shows "square : i8 [16, 16]" ;;
  esac
  for flags in -O1 "-O3 -march=native"; do want 0 "$EIN" verify $p.ein --flags="$flags"; done
done
finish
