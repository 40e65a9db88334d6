#!/bin/sh
# suite: ci
# Compiles every test program and compares it with the evaluator, from the program's folder. VERIFY_FLAGS: options for ein verify; VERIFY_ONLY: a
# pattern of files; VERIFY_THESE: some programs, by their paths without .ein. By default, of sixteen programs two are compiled as by ein run, one by the C
# compiler with -O1, one with -O0, and twelve by Clang in process with -O0, which takes a fifth of the time, since random/emitted and kernel also test C
# at -O1. If EIN_TURN is a number, it selects which is which, and of the fourteen by Clang twelve are skipped.
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$root/tests/cmd/common"
XDG_CACHE_HOME=$work/cache
export XDG_CACHE_HOME

verify() { # WORD...: of $file, whose words are in $args
  # shellcheck disable=SC2086
  "$EIN" verify "$@" $args "${file##*/}" >"$work/out" 2>&1 || wrong "$(grep -v '  equal$\|  abs ' "$work/out")"
  ! grep 'not judged' "$work/out" || wrong "$file is unstable, and tests nothing"
}

checked=0
if [ -n "${VERIFY_THESE:-}" ]; then
  set --
  for name in $VERIFY_THESE; do set -- "$@" "$root/$name.ein"; done
else
  set -- "$root"/tests/run/*.ein "$root"/stdlib/examples/*.ein "$root"/samples/*.ein "$root"/samples/papers/*.ein "$root"/samples/nets/*.ein \
    "$root"/samples/science/*.ein
fi
for file; do
  case $file in *${VERIFY_ONLY:-}*) ;; *) continue ;; esac
  cd "${file%/*}" || exit 1
  args=$(sed -n '1,3s/^# args: //p' "$file")
  if [ -n "${VERIFY_FLAGS:-}" ]; then
    # shellcheck disable=SC2086
    verify $VERIFY_FLAGS
  else
    case $(((checked + ${EIN_TURN:-0}) % 16)) in
      0) verify --target=jit ;;
      3) verify --target=c --flags="-O1 -DEIN_ONE_VERSION" ;;
      6) verify --target=c --flags="-O0 -DEIN_ONE_VERSION -DEIN_WIDE=1" ;;
      8) [ -n "${EIN_TURN:-}" ] || verify --target=jit ;;
      10) verify --target=jit --flags="-O0 -DEIN_ONE_VERSION" ;;
      *) [ -n "${EIN_TURN:-}" ] || verify --target=jit --flags="-O0 -DEIN_ONE_VERSION" ;;
    esac
  fi
  checked=$((checked + 1))
done
cd "$work" || exit 1
[ -n "${VERIFY_ONLY:-}${VERIFY_THESE:-}" ] || [ $checked -ge 240 ] || wrong "only $checked programs"
finish
