#!/bin/sh
# suite: ci
# Every program that is run as a test, compiled and compared with the evaluator, from the folder it lies in. VERIFY_FLAGS
# are words for ein verify (by default one version of each kernel, every third program by -O1 and the others by -O0, which takes half
# as long: what -O1 makes of C is seen by random/emitted and kernel); VERIFY_ONLY a pattern of files; VERIFY_THESE
# some, by their paths without .ein.
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$root/tests/cmd/common"
XDG_CACHE_HOME=$work/cache
export XDG_CACHE_HOME

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
  level=-O0
  [ $((checked % 3)) = 0 ] && level=-O1
  # shellcheck disable=SC2086
  "$EIN" verify ${VERIFY_FLAGS:-"--flags=$level -DEIN_ONE_VERSION"} $args "${file##*/}" >"$work/out" 2>&1 || {
    wrong "$(grep -v '  equal$\|  abs ' "$work/out")"
  }
  checked=$((checked + 1))
done
cd "$work" || exit 1
[ -n "${VERIFY_ONLY:-}${VERIFY_THESE:-}" ] || [ $checked -ge 240 ] || wrong "only $checked programs"
finish
