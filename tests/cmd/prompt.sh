#!/bin/sh
# suite: ci
# The prompt at a terminal, with libedit and without: prompt.py has the keys.
. "$(dirname "$0")/common"
command -v python3 >/dev/null || exit 77
XDG_CACHE_HOME=$work/cache
export XDG_CACHE_HOME
echo leak:wcsdup >leaks # libedit keeps the names of functions that it was given; Ein calls no wcsdup
export LSAN_OPTIONS="suppressions=$work/leaks:print_suppressions=0"

want 0 "$EIN" doctor
edited=
if grep -q "edited by libedit" out; then edited=--edited; fi

# An ein whose Clang takes ten minutes to open.
mkdir -p slow/codegen/jit
cp "$EIN" slow/ein
echo 'unsigned sleep(unsigned); __attribute__((constructor)) static void late(void) { sleep(600); }' >late.c
# shellcheck disable=SC2086
want 0 ${CC:-cc} -shared -fPIC late.c -o slow/codegen/jit/ein_jit.so
want 0 env EIN_STDLIB="$here/../../stdlib" python3 "$here/prompt.py" "$EIN" "$work/slow/ein" $edited
cat out

# A run that needs more than there is says so before it begins, with the figure; a session goes on.
all=$(awk '/^MemTotal:/ { print $2 }' /proc/meminfo) # more than is free, whoever else frees some, and what a system may yet promise
[ "$all" ] || finish
n=$(awk "BEGIN { print int(sqrt($all * 1024 * 0.995 / 4)) }")
printf 'dim N = %s\ninput X[i:N, k:300] : f32 = 1\nZ[i,j] = sum[k] X[i,k] * sin(X[j,k])\noutput s[i] = sum[j] Z[i,j] * exp(Z[j,i])\n' "$n" >big.ein
export MALLOC_PERTURB_=0 # else all of it is written to
want 4 timeout 60 "$EIN" run big.ein --target=c --flags=-O1
says "GB are free"
printf '%s\n' '"x = 1"' '"Z[i:3000000, j:3000000] : f64 = i * j"' '"Z"' '"sum[i] Z[i,i]"' '"x + 1"' >lines
for target in eval c; do
  want 0 "$EIN" repl --json --target=$target <lines
  grep -q '"error":.*72000000000000 bytes' out || wrong "$target: $(cat out)"
  [ "$(sed -n '$p' out)" = '{"ok":true,"text":"i64 = 2\n","values":[{"name":"","dtype":"i64","shape":[],"labels":[],"data":[2]}]}' ] || wrong "$target: $(cat out)"
done
finish
