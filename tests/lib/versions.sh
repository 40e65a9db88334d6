#!/bin/sh
# suite: ci
# Libraries from two versions of ein in one program do not see each other's symbols. A file that includes both is refused if their tensors differ, and so is
# a library whose files are from two builds.
. "$(dirname "$0")/../cmd/common"
XDG_CACHE_HOME=$work/cache
export XDG_CACHE_HOME
: "${CC:=cc}"

program() { # NAME FACTOR
  echo "dim N
input x[i:N] : f32
param scale : f32 = $2
output y[i] = scale * x[i]
output s = sum[i] y[i]" >"$1.ein"
  want 0 "$EIN" build "$1.ein" --lib --flags=-O1 -o "$1/"
  [ "$(ls "$1" | grep -c '\.[ch]$')" = 3 ] || wrong "not three texts: $(ls "$1")"
}
program early 2.0
program late 3.0

# ---- late is from a later ein, with different structs of the runtime and of tensors
sed -i -e 's/define EIN_TENSOR_H [0-9]*/define EIN_TENSOR_H 99/' -e 's/EIN_TENSOR_H + 0 != [0-9]*/EIN_TENSOR_H + 0 != 99/' \
  -e 's/^typedef struct ein_tensor {/&\n  int64_t added;/' -e 's/^  size_t size;  .*/&\n  int64_t added;/' \
  -e 's/^struct ein_ctx {/&\n  int64_t added[3];/' late/late.h late/late-runtime.h
grep -q 'added' late/late.h && grep -q 'added\[3\]' late/late-runtime.h || wrong "nothing was changed"
for m in early late; do
  cat >call_$m.c <<END
#include "$m/$m.h"
float ${m}_of(float v) {
  float x[3] = {v, v, v}, y[3], s = -1;
  int64_t shape[] = {3};
  ein_config config = {.size = sizeof config, .threads = 2};
  const ${m}_inputs in = {.x = {.data = x, .device_type = 1, .ndim = 1, .dtype = EIN_F32, .shape = shape}};
  const ${m}_outputs out = {.y = {.data = y, .device_type = 1, .ndim = 1, .dtype = EIN_F32, .shape = shape},
                            .s = {.data = &s, .device_type = 1, .dtype = EIN_F32}};
  ${m}_ctx *ctx = 0;
  if (${m}_create(&config, &ctx) || ${m}_plan(ctx, &(${m}_sizes){3}) || ${m}_run(ctx, &in, &out)) s = -2;
  ${m}_destroy(ctx);
  return s;
}
END
done
cat >main.c <<'END'
#include <stdio.h>
float early_of(float v), late_of(float v);
int main(void) { return printf("%g %g %g\n", early_of(1), late_of(1), early_of(2)) < 0; }
END
c="$CC -Wall -Wextra -Werror -O1"
want 0 $c main.c call_early.c call_late.c early/early.c late/late.c -lm -o both
want 0 ./both
shows "6 9 12"
nm both | grep ' [BDCRT] ' | grep -E ' (ein|EIN)_' && wrong "a symbol of the runtime is seen"

# ---- impossible combinations do not compile
cat call_early.c call_late.c >one.c
want 1 $c -c one.c
says "by versions of ein whose tensors differ"
cp early/early-runtime.h late/late-runtime.h
sed -i 's/EIN_RUNTIME_IS 0x[0-9a-f]*/EIN_RUNTIME_IS 0x1/' late/late-runtime.h
want 1 $c -c late/late.c -o late.o
says "by two builds of ein"
finish
