#!/bin/sh
# suite: ci
# A library as its users see it: built by pkg-config or Meson from its folder alone, called from C and from C++, with
# strided views, with wrong ones, two in one program.
. "$(dirname "$0")/../cmd/common"
XDG_CACHE_HOME=$work/cache
export XDG_CACHE_HOME
: "${CC:=cc}"
: "${CXX:=c++}"
O=--flags=-O1

cat >att.ein <<'END_OF_PROGRAM'
dim N, D = 4
input Q[s:N, d:D], K[s:N, d:D] : f32
param scale : f32 = 0.5
output E[s, s'] = scale * sum[d] Q[s, d] * K[s', d]
output λ[d] : i64 = sum:i64[s] (if Q[s, d] > 0 then 1 else 0)
END_OF_PROGRAM
want 0 "$EIN" build att.ein --lib -o lib/ $O
want 0 "$EIN" build att.ein --lib -o again/ $O
for f in lib/*; do
  case $f in *.a) continue ;; esac
  cmp -s "$f" "again/${f#lib/}" || wrong "$f has other bytes the second time"
  grep -qF "$work" "$f" && wrong "$f names a folder of this machine"
done
# The runtime beside it is the part that a library for one CPU compiles.
want 0 "$EIN" build att.ein --emit=runtime -o whole.h
[ $((2 * $(wc -l <lib/att-runtime.h))) -lt $(($(wc -l <whole.h) + 500)) ] || wrong "the runtime is not cut"
for flags in "" -DEIN_STATIC "-DEIN_STATIC -march=native -DEIN_PTHREADS"; do
  # shellcheck disable=SC2086
  for f in lib/att-runtime.h whole.h; do $CC -E -P $flags -x c $f >"$(basename $f).i" || wrong "$f is not preprocessed"; done
  cmp -s att-runtime.h.i whole.h.i || wrong "with $flags, the cut runtime is another one"
done
ls -a lib | grep -q '^\.ein' && wrong "something is left in the folder"
nm lib/libatt.a | grep ' [TDBRC] ' | grep -v ' att_' && wrong "a symbol does not begin with the prefix"
mkdir empty
cd empty || exit 1

# ---- the fifteen lines
cat >prog.c <<'END_OF_C'
#include <stdio.h>
#include "att.h"
int main(void) {
  float q[2][4] = {{1, 2, 3, 4}, {5, 6, 7, 8}}, e[2][2];
  int64_t l[4], two[] = {2, 4}, square[] = {2, 2}, four[] = {4};
  ein_tensor in = {q, 1, 0, 2, EIN_F32, two, NULL, 0};
  att_inputs i = {in, in, {0}};
  att_outputs o = {{e, 1, 0, 2, EIN_F32, square, NULL, 0}, {l, 1, 0, 1, EIN_I64, four, NULL, 0}};
  att_sizes n = {2};
  att_ctx *ctx = NULL;
  if (att_create(NULL, &ctx) || att_plan(ctx, &n) || att_run(ctx, &i, &o)) return puts(att_last_error(ctx)), 1;
  printf("%g %g %g %g %d\n", e[0][0], e[0][1], e[1][0], e[1][1], (int)l[0]);
  att_destroy(ctx);
  return 0;
}
END_OF_C
flags=$(PKG_CONFIG_PATH=$work/lib pkg-config --cflags --libs att) || wrong "pkg-config does not take att.pc"
want 0 sh -c "$CC -Wall -Wextra -Wpedantic -Werror -std=c99 prog.c $flags -o prog"
want 0 ./prog
shows "15 35 35 87 2"

# ---- the same as C++, with all that can be wrong
cat >prog.cpp <<'END_OF_CPP'
#include <cstdio>
#include <cstring>
#include "att.h"
static int wrong;
static void want(att_ctx *c, ein_status got, ein_status st, const char *what) {
  if (got == st && (st == EIN_OK || *att_last_error(c))) return;
  std::printf("%s: %d, expected %d: %s\n", what, got, st, att_last_error(c));
  wrong = 1;
}
int main() {
  float q[8] = {1, 2, 3, 4, 5, 6, 7, 8}, k[16], e[4], far_[16], s = 2;
  int64_t l[4], two[] = {2, 4}, square[] = {2, 2}, four[] = {4}, every[] = {8, 2}, back[] = {-4, 1}, down[] = {1, 4};
  for (int i = 0; i < 16; i++) k[i] = i % 2 ? 99.0f : (float)(i / 2 + 1);
  att_inputs i;
  att_outputs o;
  std::memset(&i, 0, sizeof i);
  std::memset(&o, 0, sizeof o);
  i.Q.data = q, i.Q.device_type = 1, i.Q.ndim = 2, i.Q.dtype = EIN_F32, i.Q.shape = two;
  i.K = i.Q;
  o.E.data = e, o.E.device_type = 1, o.E.ndim = 2, o.E.dtype = EIN_F32, o.E.shape = square;
  o.lambda.data = l, o.lambda.device_type = 1, o.lambda.ndim = 1, o.lambda.dtype = EIN_I64, o.lambda.shape = four;
  att_ctx *c = nullptr;
  att_sizes n = {2};
  ein_config config;
  std::memset(&config, 0, sizeof config);
  config.size = sizeof config;
  config.threads = 2;
  want(c, att_create(&config, &c), EIN_OK, "create");
  want(c, att_run(c, &i, &o), EIN_ERR_PLAN, "run before plan");
  want(c, att_again(c), EIN_ERR_PLAN, "again before plan");
  n.N = -1;
  want(c, att_plan(c, &n), EIN_ERR_SHAPE, "a negative size");
  n.N = INT64_MAX / 2;
  want(c, att_plan(c, &n), EIN_ERR_SHAPE, "a size that does not fit");
  n.N = 2;
  want(c, att_plan(c, &n), EIN_OK, "plan");
  /* every second element; from the end; down the columns; a param of the caller's */
  i.K.data = k, i.K.strides = every;
  i.Q.strides = back, i.Q.byte_offset = 16;
  o.E.data = far_, o.E.strides = down;
  i.scale.data = &s, i.scale.device_type = 1, i.scale.dtype = EIN_F32;
  want(c, att_run(c, &i, &o), EIN_OK, "strided");
  if (far_[0] != 140 || far_[4] != 348 || far_[1] != 60 || far_[5] != 140 || l[3] != 2)
    wrong = 1, std::printf("strided: %g %g %g %g\n", far_[0], far_[4], far_[1], far_[5]);
  far_[0] = far_[5] = 0;
  want(c, att_again(c), EIN_OK, "again");
  if (far_[0] != 140 || far_[5] != 140) wrong = 1, std::printf("again: %g %g\n", far_[0], far_[5]);
  i.K.shape = square;
  want(c, att_run(c, &i, &o), EIN_ERR_SHAPE, "a wrong shape");
  want(c, att_again(c), EIN_ERR_PLAN, "again, after views were refused");
  i.K.shape = two;
  i.K.dtype = EIN_F64;
  want(c, att_run(c, &i, &o), EIN_ERR_DTYPE, "a wrong dtype");
  i.K.dtype = EIN_F32, i.K.data = nullptr;
  want(c, att_run(c, &i, &o), EIN_ERR_ARG, "an input that is missing");
  i.K.data = k, o.E.ndim = 1;
  want(c, att_run(c, &i, &o), EIN_ERR_SHAPE, "a wrong rank");
  o.E.ndim = 2;
  want(c, att_run(c, &i, &o), EIN_OK, "right again");
  n.N = 0;
  want(c, att_plan(c, &n), EIN_OK, "nothing");
  att_destroy(c);
  att_destroy(nullptr);
  return wrong;
}
END_OF_CPP
if command -v "$CXX" >/dev/null; then
  want 0 sh -c "$CXX -Wall -Wextra -Wpedantic -Werror prog.cpp $flags -o prog2"
  want 0 ./prog2
  want 0 sh -c "$CXX -Wall -Wextra -Werror -x c++ -I../lib prog.cpp ../lib/att.c -lm -o prog3" # the library as C++, too
  want 0 ./prog3
fi

# ---- all that can be wrong, in words that name the label and the line
cd ..
cat >m.ein <<'END_OF_PROGRAM'
dim N, M
assert N >= 1, "N must be at least 1"
input x[s:N, d:M] : f32
input pick[k:M] : i64
param scale : f32 = 0.5
repeat t < 2 { state W[s:N,s':N] = f32(0.5); next W[s,s'] = scale * W[s',s] } # which has to be in memory
output y[s,d] = x[s,d] * sum[s'] W[s,s']
output big[s,(d d')] = x[s,d] * x[s,d']
output z[s,k] = x[s,pick[k]]
END_OF_PROGRAM
want 0 "$EIN" build m.ein --lib -o wrong/ $O
cat >wrong.c <<'END_OF_C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "m.h"
static int failed;
static void want(m_ctx *c, ein_status got, ein_status st, const char *text) {
  if (got == st && strcmp(m_last_error(c), text) == 0) return;
  printf("%d, expected %d: %s\n  expected %s\n", (int)got, (int)st, m_last_error(c), text);
  failed = 1;
}
static void like(m_ctx *c, ein_status got, ein_status st, const char *part) {
  want(c, got, st, strstr(m_last_error(c), part) ? m_last_error(c) : part);
}
static void *none(void *user, size_t bytes, size_t alignment) {
  if (bytes > (size_t)1 << 40 || (*(int *)user)-- == 0) return NULL;
  return aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}
static void give(void *user, void *p, size_t bytes) { (void)user, (void)bytes, free(p); }
int main(void) {
  m_ctx *c = NULL;
  ein_config config = {0};
  if (m_create(NULL, NULL) != EIN_ERR_ARG || m_create(&config, &c) != EIN_ERR_ARG || c) return puts("create"), 1;
  int left = 100;
  config.size = sizeof config, config.alloc = none;
  if (m_create(&config, &c) != EIN_ERR_ARG) return puts("alloc alone"), 1;
  config.release = give, config.user = &left, config.threads = -1;
  if (m_create(&config, &c) != EIN_ERR_ARG) return puts("threads"), 1;
  config.threads = 2;
  want(NULL, m_plan(NULL, NULL), EIN_ERR_ARG, "there is no context");
  want(NULL, m_run(NULL, NULL, NULL), EIN_ERR_ARG, "there is no context");
  m_cancel(NULL);
  for (int k = 0; k < 8; k++) { /* the k-th piece of memory is not to be had */
    left = k;
    ein_status st = m_create(&config, &c);
    if (st == EIN_OK) st = m_plan(c, &(m_sizes){3, 4});
    if (st != (k < 2 ? EIN_ERR_MEMORY : EIN_OK)) return puts("memory"), 1;
    m_destroy(c);
  }
  left = 100;
  if (m_create(&config, &c)) return 1;
  want(c, m_plan(c, NULL), EIN_ERR_ARG, "the sizes are NULL");
  want(c, m_run(c, NULL, NULL), EIN_ERR_PLAN, "call plan before run");
  want(c, m_plan(c, &(m_sizes){0, 1}), EIN_ERR_ASSERT, "N must be at least 1 (m.ein:2)");
  want(c, m_plan(c, &(m_sizes){-3, 1}), EIN_ERR_SHAPE, "the size N is -3, which is less than 0");
  want(c, m_plan(c, &(m_sizes){INT64_MAX, 2}), EIN_ERR_SHAPE,
       "x would take more than 2^63 bytes: label s has the extent 9223372036854775807 (m.ein:3)");
  like(c, m_plan(c, &(m_sizes){(int64_t)1 << 31, 1}), EIN_ERR_SHAPE, "W would take more than 2^63 bytes: label ");
  want(c, m_plan(c, &(m_sizes){1, (int64_t)1 << 40}), EIN_ERR_SHAPE,
       "the size of dimension 2 of big does not fit 64 bits (m.ein:8)");
  like(c, m_plan(c, &(m_sizes){(int64_t)1 << 30, 1}), EIN_ERR_SHAPE, "64 bits");
  like(c, m_plan(c, &(m_sizes){(int64_t)1 << 22, 1}), EIN_ERR_MEMORY, "no memory: the run needs ");
  want(c, m_plan(c, &(m_sizes){3, 4}), EIN_OK, "");
  float x[12], y[12], big[48], z[12];
  int64_t pick[4] = {0, 3, 1, 2}, nm[] = {3, 4}, mm[] = {4}, nmm[] = {3, 16}, bad[2];
  for (int i = 0; i < 12; i++) x[i] = (float)i;
  const m_inputs in = {.x = {x, 1, 0, 2, EIN_F32, nm, NULL, 0}, .pick = {pick, 1, 0, 1, EIN_I64, mm, NULL, 0}};
  const m_outputs out = {{y, 1, 0, 2, EIN_F32, nm, NULL, 0}, {big, 1, 0, 2, EIN_F32, nmm, NULL, 0}, {z, 1, 0, 2, EIN_F32, nm, NULL, 0}};
  want(c, m_run(c, &in, &out), EIN_OK, "");
  want(c, m_run(c, NULL, &out), EIN_ERR_ARG, "the inputs are NULL");
  want(c, m_run(c, &in, NULL), EIN_ERR_ARG, "the outputs are NULL");
  if (m_model.shape(c, 1, 1, NULL) != EIN_ERR_ARG || m_model.shape(c, 1, 1, bad) || bad[1] != 16) return puts("shape"), 1;
  m_inputs i;
  m_outputs o;
  /* at once, and after a run with other views, with which they are compared */
#define TRY(change, st, text)                                                                        \
  i = in, o = out, (void)(change), want(c, m_run(c, &i, &o), st, text), (void)m_run(c, &in, &out),  \
  want(c, m_run(c, &i, &o), st, text)
  TRY(i.x.data = NULL, EIN_ERR_ARG, "input x: its data is NULL (m.ein:3)");
  TRY(o.y.data = NULL, EIN_ERR_ARG, "output y: its data is NULL (m.ein:7)");
  TRY(o.y.shape = NULL, EIN_ERR_ARG, "output y: its shape is NULL (m.ein:7)");
  TRY(i.x.dtype = EIN_F64, EIN_ERR_DTYPE, "input x: its dtype is f64, but f32 is expected (m.ein:3)");
  TRY(i.x.dtype = (ein_dtype)77, EIN_ERR_DTYPE, "input x: 77 is not a dtype; f32 is expected (m.ein:3)");
  TRY(i.x.ndim = 1 << 30, EIN_ERR_SHAPE, "input x: it has 1073741824 dimensions, but 2 are expected (m.ein:3)");
  TRY(i.x.shape = nmm, EIN_ERR_SHAPE, "input x: label d has the extent 16, but 4 is expected (m.ein:3)");
  TRY(o.big.shape = nm, EIN_ERR_SHAPE, "output big: label (d d') has the extent 4, but 16 is expected (m.ein:8)");
  TRY(i.x.device_type = 2, EIN_ERR_ARG, "input x: it is on a device of type 2, but 1, the CPU, is expected (m.ein:3)");
  TRY(i.x.data = (char *)x + 1, EIN_ERR_ARG, "input x: its data is not aligned to the 4 bytes of f32 (m.ein:3)");
  TRY(i.x.byte_offset = UINT64_MAX - 3, EIN_ERR_ARG, "input x: its strides reach beyond the address space (m.ein:3)");
  TRY(o.y.data = x + 11, EIN_ERR_ARG, "output y: it shares memory with input x (m.ein:7)");
  TRY(o.z.data = y, EIN_ERR_ARG, "output z: it shares memory with output y (m.ein:9)");
  int64_t over[] = {3, 1}, apart[] = {1, 3}, wide[] = {INT64_MAX / 2, 1};
  TRY(o.y.strides = over, EIN_ERR_ARG, "output y: its elements overlap each other: label s has the stride 3 (m.ein:7)");
  TRY(o.y.strides = apart, EIN_OK, "");
  want(c, m_run(c, &i, &o), EIN_OK, ""); /* the same views, whose shape or strides say something else */
  apart[1] = 2;
  want(c, m_run(c, &i, &o), EIN_ERR_ARG, "output y: its elements overlap each other: label d has the stride 2 (m.ein:7)");
  want(c, m_run(c, &in, &out), EIN_OK, "");
  nm[0] = 2;
  want(c, m_run(c, &in, &out), EIN_ERR_SHAPE, "input x: label s has the extent 2, but 3 is expected (m.ein:3)");
  nm[0] = 3, apart[1] = 3;
  TRY(i.x.strides = wide, EIN_ERR_ARG, "input x: its strides reach beyond the address space (m.ein:3)");
  TRY(pick[2] = 4, EIN_ERR_INDEX, "index 2 (label d) of x, read for z: 4 is out of range, its size is 4 (m.ein:9)");
  TRY(pick[2] = INT64_MIN, EIN_ERR_INDEX,
      "index 2 (label d) of x, read for z: -9223372036854775808 is out of range, its size is 4 (m.ein:9)");
  TRY(pick[2] = 1, EIN_OK, "");
  m_destroy(c);
  static double memory[8];
  config.workspace = (void *)(((uintptr_t)memory + 63) / 64 * 64 + 8);
  if (m_create(&config, &c) != EIN_ERR_ARG) return puts("a workspace that is not aligned"), 1;
  config.workspace = (void *)(((uintptr_t)memory + 63) / 64 * 64), config.workspace_bytes = 1;
  if (m_create(&config, &c)) return 1;
  like(c, m_plan(c, &(m_sizes){3, 4}), EIN_ERR_PLAN, "the workspace has 1 bytes, but ");
  want(c, m_run(c, &in, &out), EIN_ERR_PLAN, "call plan before run");
  m_destroy(c);
  return failed;
}
END_OF_C
lone=
$CC -fsanitize=address,undefined -x c /dev/null -shared -o /dev/null 2>/dev/null && lone="-fsanitize=address,undefined -fno-sanitize-recover=all"
want 0 $CC -g -Wall -Wextra -Werror $lone -Iwrong wrong.c wrong/m.c -lm -o wrong/prog
want 0 env ASAN_OPTIONS=allocator_may_return_null=1 wrong/prog

# ---- a name that the C library has; libm.a, which -lm would mean
for n in math base m; do
  printf 'input x[i:3] : f32 = i\noutput y[i] = exp(x[i])\n' >$n.ein
  want 0 "$EIN" build $n.ein --lib -o shared/ $O
done
cat >three.c <<'END_OF_C'
#include <math.h>
#include <stdio.h>
#include "base.h"
#include "m.h"
#include "math_.h"
static float one(const ein_model *m) {
  float y[3] = {0};
  int64_t n[] = {3};
  void *ctx = NULL;
  ein_tensor in = {0}, out = {y, 1, 0, 1, EIN_F32, n, NULL, 0};
  if (m->create(NULL, &ctx) || m->plan(ctx, NULL) || m->run(ctx, &in, &out)) return puts(m->last_error(ctx)), 0;
  m->destroy(ctx);
  return y[2];
}
int main(void) {
  printf("%.4f %.4f %.4f %.4f\n", one(&base_model), one(&m_model), one(&math__model), exp(2.0));
  return 0;
}
END_OF_C
flags=$(PKG_CONFIG_PATH=$work/shared pkg-config --cflags --libs base m math_)
want 0 sh -c "$CC -Wall -Wextra -Werror three.c $flags -o three"
want 0 ./three
shows "7.3891 7.3891 7.3891 7.3891"
cp shared/meson.build before
want 0 "$EIN" build base.ein --lib -o shared/ $O
cmp -s before shared/meson.build || wrong "the same three libraries give another meson.build"
mkdir theirs
echo "project('theirs')" >theirs/meson.build
want 0 "$EIN" build m.ein --lib -o theirs/ $O
says "meson.build is left as it is"
[ "$(cat theirs/meson.build)" = "project('theirs')" ] || wrong "a meson.build that is not ein's is written over"

# ---- a folder with a blank in its name, an archive and a shared library, by pkg-config, by CMake's two ways
printf 'input x[i:3] : f32 = i\noutput y[i] = 2 * x[i]\n' >twice.ein
want 2 "$EIN" build twice.ein --shared -o twice
says "--shared goes with --lib"
cat >use.c <<'END_OF_C'
#include <stdio.h>
#include "twice.h"
int main(void) {
  float y[3] = {0};
  int64_t n[] = {3};
  twice_ctx *ctx = NULL;
  twice_inputs in = {{0}};
  twice_outputs out = {{y, 1, 0, 1, EIN_F32, n, NULL, 0}};
  if (twice_create(NULL, &ctx) || twice_plan(ctx, NULL) || twice_run(ctx, &in, &out)) return 1;
  twice_destroy(ctx);
  return printf("%g\n", y[2]) < 0;
}
END_OF_C
mkdir cmake
cat >cmake/CMakeLists.txt <<'END_OF_CMAKE'
cmake_minimum_required(VERSION 3.12)
project(use C)
find_package(PkgConfig REQUIRED)
pkg_check_modules(TWICE REQUIRED IMPORTED_TARGET twice)
add_executable(by_pc ../use.c)
target_link_libraries(by_pc PkgConfig::TWICE)
find_package(twice REQUIRED CONFIG)
add_executable(by_config ../use.c)
target_link_libraries(by_config twice::twice)
END_OF_CMAKE
uses() { # KIND
  want 0 sh -c "PKG_CONFIG_PATH='$work/with blank' && export PKG_CONFIG_PATH && eval $CC -Wall -Werror use.c \$(pkg-config --cflags --libs twice) -o use"
  want 0 ./use
  shows 4
  command -v cmake >/dev/null || return
  rm -rf cmake/build
  want 0 env PKG_CONFIG_PATH="$work/with blank" cmake -S cmake -B cmake/build -DCMAKE_PREFIX_PATH="$work/with blank" -DCMAKE_BUILD_TYPE=Release
  want 0 cmake --build cmake/build
  for by in by_pc by_config; do
    want 0 cmake/build/$by
    shows 4
  done
}
want 0 "$EIN" build twice.ein --lib -o "with blank/" $O
uses
want 0 "$EIN" build twice.ein --lib --shared -o "with blank/" $O
if command -v cmake >/dev/null; then # a name with a capital, which CMake looks for otherwise
  mkdir capital
  cp twice.ein Twice.ein
  want 0 "$EIN" build Twice.ein --lib -o capital/lib/ $O
  printf 'cmake_minimum_required(VERSION 3.12)\nproject(use C)\nfind_package(Twice REQUIRED CONFIG)\n' >capital/CMakeLists.txt
  want 0 cmake -S capital -B capital/build -DCMAKE_PREFIX_PATH="$work/capital/lib"
fi
[ -f "with blank/libtwice.so" ] && [ ! -e "with blank/libtwice.a" ] || wrong "not one library, a shared one"
nm -D --defined-only "with blank/libtwice.so" | grep ' [TDBRC] ' | grep -v ' twice_' && wrong "a symbol of the shared library does not begin with the prefix"
uses
ldd cmake/build/by_config 2>/dev/null | grep -q libtwice.so || ! command -v cmake >/dev/null || wrong "the shared library is not used"
want 0 "$EIN" build twice.ein --lib -o "with blank/" $O
[ ! -e "with blank/libtwice.so" ] || wrong "an old shared library remains beside a new archive"

# ---- two models in one program; both from their C
want 0 "$EIN" build sum.ein --emit=c -o two/
want 0 "$EIN" build sum.ein --emit=c -o two/ --prefix other
cat >two/main.c <<'END_OF_C'
#include <stdio.h>
#include "other.h"
#include "sum.h"
static int one(const ein_model *m, int64_t n) {
  float x[8] = {1, 2, 3, 4, 5, 6, 7, 8}, y[8], s = 0;
  void *ctx = NULL;
  ein_tensor in = {x, 1, 0, 1, EIN_F32, &n, NULL, 0}, out[2] = {{y, 1, 0, 1, EIN_F32, &n, NULL, 0}, {&s, 1, 0, 0, EIN_F32, NULL, NULL, 0}};
  if (m->create(NULL, &ctx) || m->plan(ctx, &n) || m->run(ctx, &in, out)) return puts(m->last_error(ctx)), 1;
  printf("%s %g %g\n", m->name, y[n - 1], s);
  m->destroy(ctx);
  return 0;
}
int main(void) { return one(&sum_model, 8) + one(&other_model, 3); }
END_OF_C
want 0 sh -c "$CC -fopenmp -Itwo -Ilib two/main.c two/sum.c two/other.c -lm -o two/both || $CC -Itwo -Ilib two/main.c two/sum.c two/other.c -lm -o two/both"
want 0 two/both
shows "sum 16 36"
shows "other 6 6"

# ---- names that C cannot have, or has already
cat >odd.ein <<'END_OF_PROGRAM'
dim p, dim_, ctx, class
input x'[i:p, j:class] : f32 = 1
input x_p[j:class, k:ctx] : f32 = 2
input λ[k:ctx, int:dim_] : f32 = 3
input worker : f32 = 1
input env : f32 = 1
input exp_[env':3] : i64 = 0
output 名[i, int] = worker * env * sum[j, k] x'[i, j] * x_p[j, k] * λ[k, int]
output while_[i] = sum[ein:4] (x'[i, 0] + ein)
output auto = sum[register:3] exp_[register]
END_OF_PROGRAM
want 0 "$EIN" build odd.ein --lib -o odd/ $O
want 0 "$EIN" verify odd.ein -D p=2 -D dim_=3 -D ctx=4 -D class=5 $O
cat >odd.c <<'END_OF_C'
#include "odd.h"
ein_tensor use(odd_inputs i, odd_outputs o, odd_sizes n) {
  return n.p + n.dim_ + n.ctx_ + n.class_ ? i.x_p : n.p ? i.x_p_2 : n.p ? i.lambda : n.p ? o.u540d : o.auto_;
}
END_OF_C
want 0 sh -c "$CC -Wall -Iodd -c odd.c -o odd.o"
if command -v "$CXX" >/dev/null; then want 0 sh -c "$CXX -x c++ -Wall -Iodd -c odd.c -o odd.o"; fi

# ---- Meson builds the folder too
if command -v meson >/dev/null && command -v ninja >/dev/null; then
  want 0 meson setup lib-build lib
  want 0 ninja -C lib-build
  [ -f lib-build/libatt.a ] || wrong "Meson built no library"
  want 0 meson setup shared-build shared
  want 0 ninja -C shared-build
  for n in base m math_; do [ -f shared-build/lib$n.a ] || wrong "Meson built no lib$n.a"; done
fi
finish
