#!/bin/sh
# suite: ci
# ein build --target=cuda: programs and libraries, the devices that they are for, and their messages without a device; on the stand-ins for NVRTC and the
# driver (tests/cuda/standin).
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$root/tests/cmd/common"
turn 1
look_alikes
O=--flags=-O1

given_back() { # all that the last one took of the device
  grep -q "left: 0 pieces of memory, 0 modules, 0 streams, 0 contexts; done: .*$1" report ||
    wrong "not all is given back: $(cat report): $line"
  rm -f report
}

cat >att.ein <<'END'
dim N, D = 4
input Q[s:N, d:D], K[s:N, d:D] : f32
param scale : f32 = 0.5
input at[s:N] : i64 = s
P[s, s'] = softmax[s'](scale * sum[d] Q[s, d] * K[s', d])
output E[s, s'] = P[at[s], s']
assert sum[s] at[s] < 1000000, "there are too many"
END

# A program: the same answer as on the host, from the same files.
want 0 "$EIN" build att.ein --target=cuda -o prog $O
[ ! -e report ] || wrong 'a driver is opened where nothing runs'
want 0 "$EIN" build att.ein -o host $O
run="-D N=40 Q=randn:seed=1 K=randn:seed=2"
want 0 ./host $run -o E=host.npy
want 0 ./prog $run -o E=cuda.npy
given_back '1 loads'
cat >same.ein <<'END'
input A[i:40, j:40], B[i:40, j:40] : f32
output far = max[i, j] abs(A[i, j] - B[i, j])
END
want 0 "$EIN" run same.ein A=host.npy B=cuda.npy -o far=far.npy
want 0 python3 -c "import struct; assert struct.unpack('<f', open('far.npy', 'rb').read()[-4:])[0] < 1e-6"
want 1 ./prog $run at=const:40
says 'index 1 (label s) of P, read for E: 40 is out of range, its size is 40 (att.ein:6)'
given_back
EIN_STANDIN=no-device want 4 ./prog $run
says 'no CUDA device: the driver finds none'
EIN_STANDIN=memory=1000 want 4 ./prog $run
says 'no memory on the device'
rm -f report
if ! LD_LIBRARY_PATH='' python3 -c 'import ctypes; ctypes.CDLL("libcuda.so.1")' 2>/dev/null; then
  LD_LIBRARY_PATH='' want 0 ./prog --help
  LD_LIBRARY_PATH='' want 4 ./prog $run
  says 'no CUDA driver: this machine has no libcuda.so.1'
fi

# Its limit of memory: the one that it is built for has none of its own.
want 0 ./prog --help
shows '--memory BYTES      take at most that much of the device'
want 0 ./host --help
! grep -q memory out || wrong 'a program for the host has a limit for a device'
want 4 ./prog $run --memory 100
least=$(sed -n 's/.*the run takes at least \([0-9]*\) bytes there, for E (att.ein:6), and 100 are allowed$/\1/p' err)
[ -n "$least" ] || wrong "it does not say how much it takes: $(cat err)"
rm -f report
want 0 ./prog $run --memory="$least" -o E=least.npy
cmp -s cuda.npy least.npy || wrong 'a limit changes what is computed'
given_back '1 loads.*; [1-9][0-9][0-9]* events'
want 0 ./prog $run --memory=1MiB -o E=least.npy
given_back '1 loads.*; 2 events'
for memory in 0 -5 4X 5k '1 GB 2' many; do
  want 2 ./prog $run --memory="$memory"
  says "--memory $memory: expected bytes, such as 24GB or 512MiB"
done
want 2 ./host $run --memory=1GB
says '--memory is for programs whose kernels run on a device'

# The devices that a program is for.
EIN_STANDIN=capability=70 want 4 ./prog $run
says 'the kernels were compiled for compute_75, and this device has compute capability 7.0: build for it too, by --arch=sm_70'
cat >units.ein <<'END'
input X[i:64, k:64], Y[k:64, j:64] : bf16
output Z[i,j] = sum[k] X[i,k] * Y[k,j]
END
want 0 "$EIN" build units.ein --target=cuda -o units $O
EIN_STANDIN=capability=70 want 4 ./units X=randn:seed=1 Y=randn:seed=2
says 'the kernels were compiled for compute_75, compute_90, and this device'
EIN_STANDIN=capability=80 want 0 ./units X=randn:seed=1 Y=randn:seed=2
EIN_STANDIN=capability=90 want 0 ./units X=randn:seed=1 Y=randn:seed=2
want 0 "$EIN" build att.ein --target=cuda -o new $O --arch=sm_90,sm_75
want 0 ./new $run
EIN_STANDIN=capability=75 want 0 ./new $run
EIN_STANDIN=capability=80 want 4 ./new $run
says 'compiled for sm_90, sm_75, and this device has compute capability 8.0'
want 2 "$EIN" build att.ein --target=cuda -o new --arch=sm_60
says 'NVRTC 13.0 compiles for 75, 90'
want 2 "$EIN" build att.ein --target=cuda -o new --arch=volta,
says 'volta is no architecture; expected sm_90'
want 2 "$EIN" build att.ein -o new --arch=sm_90
says '--arch goes with --target=cuda'
want 2 "$EIN" build att.ein --target=cuda -n 4 -o new
says 'a plan for many sites is of one size'
rm -f report

# A library, called from C, from its folder alone; its bytes are reproducible. It releases everything on the device, however often it fails.
cat >rows.ein <<'END'
dim N, D = 4
input Q[s:N, d:D] : f32
param scale : f32 = 0.5
input at[s:N] : i64 = s
output E[s, d] = scale * Q[at[s], d]
END
want 0 "$EIN" build rows.ein --target=cuda --lib -o lib/ $O
want 0 "$EIN" build rows.ein --target=cuda --lib -o again/ $O
want 0 cmp lib/rows.c again/rows.c
want 0 grep -q '"target": "cuda"' lib/rows.json
nm lib/librows.a | grep ' [TDBRC] ' | grep -v ' rows_' && wrong 'a symbol does not begin with the prefix'
cat >calls.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include "rows.h"
enum { N = 6, TURNS = 1000 };
static float q[N][8], e[N][4];
static int64_t at[N], n[] = {N}, two[] = {N, 4}, strides[] = {8, 2};
static ein_status run(rows_ctx *ctx, int64_t first) {
  rows_inputs in = {{q, 1, 0, 2, EIN_F32, two, strides, 0}, {0}, {at, 1, 0, 1, EIN_I64, n, NULL, 0}};
  rows_outputs out = {{e, 1, 0, 2, EIN_F32, two, NULL, 0}};
  at[0] = first;
  return rows_run(ctx, &in, &out);
}
/* What a run comes to in a state of the machine, with all that is made for it made anew. */
static void say(const char *state, int64_t first) {
  rows_ctx *ctx = NULL;
  setenv("EIN_STANDIN", state, 1);
  ein_status s = rows_create(NULL, &ctx);
  if (!s) s = rows_plan(ctx, &(rows_sizes){N});
  if (!s) s = run(ctx, first);
  printf("%d %s\n", (int)s, rows_last_error(ctx));
  rows_destroy(ctx);
}
int main(void) {
  int failed = 0;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < 4; j++) q[i][2 * j] = (float)(10 * i + j), at[i] = i;
  say("", 0);
  printf("%g %g\n", (double)e[0][1], (double)e[3][2]);
  say("", -1);
  say("memory=100", 0);
  say("load=1", 0);
  say("no-device", 0);
  setenv("EIN_STANDIN", "", 1);
  rows_ctx *ctx = NULL;
  if (rows_create(NULL, &ctx) || rows_plan(ctx, &(rows_sizes){N})) return 1;
  for (int i = 0; i < TURNS; i++) failed += run(ctx, 99) != EIN_OK;
  printf("%d of %d failed, and then %d\n", failed, TURNS, (int)run(ctx, 0));
  for (int i = failed = 0; i < TURNS; i++) { /* plans that fail between others */
    setenv("EIN_STANDIN", i % 2 ? "memory=100" : "", 1);
    failed += rows_plan(ctx, &(rows_sizes){i % 2 ? 1000 : N}) != EIN_OK;
  }
  printf("%d plans failed\n", failed);
  rows_destroy(ctx);
  return 0;
}
END
want 0 cc -std=c99 -D_GNU_SOURCE -O1 calls.c $(PKG_CONFIG_PATH='' pkg-config --cflags --libs lib/rows.pc) -o calls
want 0 ./calls
given_back '505 allocations, 6 launches, 5 loads; graphs: 1 made, 1000 launched'
cat >wanted <<'END'
0 
0.5 16
8 index 1 of Q, read for E: -1 is out of range, its size is 6 (rows.ein:5)
5 no memory on the device: the run takes 
5 CUDA: the kernels are loaded: out of memory (CUDA_ERROR_OUT_OF_MEMORY)
1 no CUDA device: the driver finds none
1000 of 1000 failed, and then 0
500 plans failed
END
sed -i 's/\(the run takes \).*/\1/' out
cmp -s out wanted || wrong "unexpected calls: $(diff wanted out)"
finish
