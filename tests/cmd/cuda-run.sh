#!/bin/sh
# suite: ci
# ein run --target=cuda, on the stand-ins for NVRTC and the driver (tests/cuda/standin): what is computed, where runs end, and all failures of a driver, a
# device, its memory, or a kernel.
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$root/tests/cmd/common"
turn 0
look_alikes

given_back() { # all that the last one took of the device; and, behind that, TEXT
  grep -q "left: 0 pieces of memory, 0 modules, 0 streams, 0 contexts; done: .*$1" "$EIN_STANDIN_REPORT" ||
    wrong "not all is given back: $(cat "$EIN_STANDIN_REPORT"): $line"
  rm -f "$EIN_STANDIN_REPORT"
}
cuda() { # CODE WORD...
  code=$1
  shift
  want "$code" "$EIN" "$@" --target=cuda
}

# Tiles, rows, points; open sizes, an input from a file, one with a default, a repeat that ends early, an assert, an index from data.
cat >all.ein <<'END'
dim N, M
input X[i:N, k:M] : f32
input first : i64 = 1
input at[j:N] : i64 = (j * 7) % N
P[i, j] = sum[k] X[i, k] * X[j, k]
m[i] = max[k] X[i, k]
e[i, k] = exp(X[i, k] - m[i])
z[i] = sum[k] e[i, k]
output S[i, k] = e[i, k] / z[i]
output G[i, j] = P[at[i], j]
repeat t < N until x > 40 {
  state x = first
  next x = 2 * x
}
output x
assert sum[i] at[i] < 1000000, "there are too many"
END
cuda 0 verify all.ein -D N=35 -D M=70 X=randn:seed=3
given_back '1 loads'
cuda 0 run all.ein -D N=35 -D M=70 X=randn:seed=3 -o G=g.npy -o S=s.npy
given_back '3 allocations' # one is what cuBLAS works in
cuda 0 run all.ein X=s.npy first=3 -v
says 'compiled before'
shows 'x'
given_back
cuda 0 bench all.ein -D N=35 -D M=70 X=randn:seed=3 --reps 2
shows 'of 2 samples'
given_back
cat >out.ein <<'END'
input X[i:5] : i64
input first : i64
output Y[j:3] = X[first + 2 * j]
assert first > 0, "where it begins"
END
cuda 1 run out.ein X=iota first=1 -o Y=y.npy
says 'index 1 of X, read for Y: 5 is out of range, its size is 5 (out.ein:3)'
given_back
[ ! -e y.npy ] || wrong 'there is an output of a run that failed'
cuda 1 run out.ein X=iota first=0
says 'where it begins (out.ein:4)'
given_back
for name in matmul nested_repeat until_stop; do
  cuda 0 run "$root/tests/run/$name.ein" --expect
  given_back
done

# More shared memory than a block has unasked, in launches and in graphs; and on a device that has not so much.
cat >room.ein <<'END'
input X[i:6, k:512] : f32
repeat t < 9 {
  state y[i:6] : f32 = 0
  s[i] = sum[k] (X[i,k] + y[i])
  next y[i] = s[i] / 1024
}
output y
END
"$EIN" build room.ein --target=cuda --stop=loop | sed 's/shared part : f32 \[256\]/shared part : f32 [13000]/' >room.loop
"$EIN" run room.ein --target=eval X=iota >wanted
cuda 0 run room.loop X=iota
cmp -s wanted out || wrong "more shared memory: $(cat out)"
rm -f "$EIN_STANDIN_REPORT"
cuda 0 bench room.loop X=iota --reps 3
given_back '.* graphs: 2 made, 8 launched'
export EIN_STANDIN=shared=51999
cuda 4 run room.loop X=iota
says 'the kernel program_k_s needs 52000 bytes of shared memory for a block, and a block of device 0 has at most 51999'
given_back
unset EIN_STANDIN

# Failures of the machine, after which everything is released.
machine() { # INJECTED WORDS
  EIN_STANDIN=$1 cuda 4 run "$root/tests/run/matmul.ein"
  says "$2"
  given_back
}
machine no-device 'no CUDA device: the driver finds none'
machine begin=999 'the CUDA driver does not start: unknown error (CUDA_ERROR_UNKNOWN)'
machine old 'the CUDA driver is too old for the kernels'
machine load=1 'the kernels are loaded: out of memory (CUDA_ERROR_OUT_OF_MEMORY)'
machine alloc=1 'no memory on the device: the run takes 768 bytes there'
machine memory=1000 'no memory on the device: the run takes at least 1024 bytes there, for Z (matmul.ein:4), and 935 are free'
machine launch=2 'the kernel program_k_Z, or one before it, failed: an illegal memory access was encountered (CUDA_ERROR_ILLEGAL_ADDRESS); this process'
XDG_CACHE_HOME=$work/other machine no-compile 'NVRTC did not take what ein wrote: sm_90'

# If the machine really has no driver.
mkdir -p alone
cp "$standin/libnvrtc.so.13" alone
LD_LIBRARY_PATH=$work/alone
if ! python3 -c 'import ctypes; ctypes.CDLL("libcuda.so.1")' 2>/dev/null; then
  cuda 4 run "$root/tests/run/matmul.ein"
  says 'no CUDA driver: this machine has no libcuda.so.1'
fi
finish
