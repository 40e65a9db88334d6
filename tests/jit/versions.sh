#!/bin/sh
# versions.sh PLUGIN...: Clang in process of each version, in an ein that is a copy but for the plugin: cmd/jit.sh and cmd/kernels.sh.
# Skipped where there is one version, whose tests those are already.
[ $# -gt 1 ] || {
  echo "LLVM of $# version is here, so there is nothing to compare (./bootstrap --all installs 16 beside 19)"
  exit 77
}
for plugin; do # from any folder
  set -- "$@" "$(realpath "$plugin")"
  shift
done
. "$(dirname "$0")/../cmd/common"
turn 1
chmod 755 "$work"
from=$(dirname "$EIN")
for plugin; do
  cmp -s "$plugin" "$from/codegen/jit/ein_jit.so" && continue # that is what those tests have
  tree=$work/$(basename "$plugin" .so)
  mkdir -p "$tree/codegen/jit" "$tree/runtime"
  cp "$EIN" "$from/ein.source" "$tree/"
  cp "$from"/runtime/*apart.so "$tree/runtime/"
  cp "$plugin" "$tree/codegen/jit/ein_jit.so"
  for t in jit kernels; do
    EIN=$tree/ein sh "$here/../cmd/$t.sh" || wrong "$plugin: cmd/$t"
  done
done
finish
