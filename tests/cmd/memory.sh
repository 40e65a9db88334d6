#!/bin/sh
# suite: ci
# Programs that once went beyond what is theirs, run where that is seen.
. "$(dirname "$0")/common"
turn 0
: "${CC:=cc}"
$CC -fsanitize=address,undefined -x c /dev/null -shared -o /dev/null 2>err || finish
for name in packed_few_points repeat_copy_narrower nested_repeat_same_start; do
  cp "$here/../run/$name.ein" .
  want 0 "$EIN" build "$name.ein" -o "$name" "--flags=-O0 -g -DEIN_ONE_VERSION -fsanitize=address,undefined -fno-sanitize-recover=all"
  want 0 "./$name" -o all="$name.out/"
  silent
done
finish
