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
ls -a lib | grep -q '^\.ein' && wrong "something is left in the folder"
nm lib/libatt.a | grep ' [TDBRC] ' | grep -v ' att_' && wrong "a symbol does not begin with the prefix"
mkdir empty
cd empty || exit 1
unset EIN_RUNTIME

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
  std::printf("%s: %d, wanted %d: %s\n", what, got, st, att_last_error(c));
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
  i.K.shape = square;
  want(c, att_run(c, &i, &o), EIN_ERR_SHAPE, "a wrong shape");
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
fi

# ---- two models in one program; both from their C
cd ..
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
  [ -f lib-build/libatt.a ] || wrong "Meson made no library"
fi
finish
