#!/bin/sh
# suite: ci
# libein: a caller in C, with the header alone, linked with the shared library and with the archive; their exported symbols; C++.
set -e
: "${EIN:=$(pwd)/build/ein}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
home=$(dirname "$EIN")/
face=$home/compiler/face
root=$(pwd)
cc=${CC:-cc}
export XDG_CACHE_HOME="$work/cache"

mkdir "$work/include"
cp "$root/compiler/face/libein.h" "$root/runtime/ein_tensor.h" "$work/include"
flags="-std=c99 -D_GNU_SOURCE -O1 -Wall -Wextra -Werror -pedantic -I$work/include"
$cc $flags -c tests/lib/libein.c -o "$work/caller.o"
echo '#include "libein.h"' > "$work/face.cpp"
! command -v c++ >/dev/null || c++ -std=c++11 -Wall -Wextra -Werror -pedantic -I"$work/include" -fsyntax-only "$work/face.cpp"

# If the library has a sanitizer, its caller needs it too, from the same compiler.
if nm "$face/libein.so" | grep -qE '__(asan|ubsan|tsan|sanitizer)_'; then
  echo "libein has a sanitizer in it"
  exit 77
fi
$cc "$work/caller.o" -o "$work/shared" -L"$face" -lein -Wl,-rpath,"$face" -pthread
$cc "$work/caller.o" -o "$work/static" "$face/libein.a" -lm -ldl -pthread -fopenmp
"$work/shared" "$home" "${LIBEIN_ASKS:-400}"
"$work/static" "$home" 40

# Only the public functions are exported.
sed -n 's/^EIN_FACE .*[ *]\(ein_[a-z_]*\)(.*/\1/p' compiler/face/libein.h | sort > "$work/declared"
[ -s "$work/declared" ]
nm -D --defined-only "$face/libein.so" | awk '$2 ~ /[TDBRVW]/ { print $3 }' | sort > "$work/so"
nm -g --defined-only "$face/libein.a" | awk '$2 ~ /[TDBRVW]/ { print $3 }' | sort > "$work/a"
diff "$work/declared" "$work/so"
diff "$work/declared" "$work/a"

# The program of docs/libein.md.
sed -n '/^```C$/,/^```$/p' docs/libein.md | sed '/^```/d' > "$work/example.c"
$cc -std=c99 -Wall -Wextra -Werror -I"$work/include" "$work/example.c" -o "$work/example" -L"$face" -lein -Wl,-rpath,"$face"
EIN_STDLIB="$root/stdlib" "$work/example" > "$work/said"
grep -q '^14$' "$work/said" || { cat "$work/said"; exit 1; }
